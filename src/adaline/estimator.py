"""Systems and bases are scikit-learn estimators by protocol: they have the methods that it expects of a model.

Importing scikit-learn takes longer than everything that a fit imports. So nothing here inherits from it, and each
method imports the parts it needs: tags, metadata routing, scores, frames as output, and the HTML diagram. Pipelines,
searches, stacking, calibration and `check_estimator` use only these methods. One thing is missing: `isinstance(model,
sklearn.base.BaseEstimator)` is false. For code that tests it, as `check_estimator` does to choose the checks of
clusterings, a subclass is enough: `class MyRidge(adaline.Ridge, sklearn.base.BaseEstimator)`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, update_wrapper, wraps
from inspect import Parameter, Signature, getattr_static, isclass, isfunction, signature
from pprint import saferepr
from types import MethodType
from typing import Any, Self

from adaline.arrays import AnyArray, LabelsLike, RowsLike, TargetsLike, WeightsLike
from adaline.attributes import give_attributes, own_attributes
from adaline.display import fit_as_html
from adaline.errors import InvalidType
from adaline.fitted import AnyModel, AnySystem, has_learned
from adaline.lazy import sklearn
from adaline.state import MISSING, FittedAttribute, fitted_attributes

REPR_WIDTH = 80  # columns of a line of a printed model
MOST_REPR_CHARACTERS = 700  # characters of a printed model; of longer ones the middle is left out
LEFT_BY_SCIKIT_LEARN = ("_sklearn_output_config", "_metadata_request")
"""Attributes of a model that `set_output` and the requests for metadata leave; a clone has them too."""
ROUTED = (
    *("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score"),
    *("transform", "inverse_transform"),
)
"""Methods to which scikit-learn routes metadata."""
UNROUTED = frozenset(("X", "y", "Y", "Xt", "yt"))
"""Arguments of these methods that are no metadata."""


def _setting(name: str, default: Any) -> Any:
    """Return a setting of `sklearn.set_config`, the default where scikit-learn is not imported."""
    settings = getattr(sys.modules.get("sklearn"), "get_config", None)
    return default if settings is None else settings()[name]


# -- metadata routing ------------------------------------------------------------------------------------------------


def _metadata(cls: type[Any], method: str) -> dict[str, Any]:
    """Return the arguments of a method other than rows and targets, with their default requests."""
    found: dict[str, Any] = {}
    function = getattr(cls, method, None)
    if isfunction(function):
        _, *taken = signature(function).parameters.values()
        named = [one.name for one in taken if one.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
        found = dict.fromkeys(name for name in named if name not in UNROUTED)
    for name in dir(cls):
        if name.endswith(f"__metadata_request__{method}"):  # what a class of a user says of its own
            found |= getattr(cls, name)
    return found


class RequestSetter:
    """The method `set_fit_request`, or of another method: a model has it where that method takes metadata."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name, self.method = name, name.removeprefix("set_").removesuffix("_request")

    def __get__(self, model: AnyModel, cls: Any) -> Any:
        known = _metadata(cls, self.method)
        if not known:
            raise AttributeError(f"{self.method} of {cls.__name__} takes no metadata: there is no {self.name}")

        def request(model: AnyModel, **wanted: Any) -> Any:
            if not _setting("enable_metadata_routing", False):
                raise RuntimeError(f"{self.name} needs sklearn.set_config(enable_metadata_routing=True)")
            if strange := wanted.keys() - known.keys():
                raise TypeError(f"Unexpected args: {strange} in {self.method}. Accepted arguments are: {set(known)}")
            requests = model.get_metadata_routing()
            for name, alias in wanted.items():
                if alias != UNCHANGED:
                    getattr(requests, self.method).add_request(param=name, alias=alias)
            model._metadata_request = requests
            return model

        request.__name__, request.__doc__ = self.name, f"Say which metadata of {self.method} a meta-estimator routes."
        own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        names = [Parameter(name, Parameter.KEYWORD_ONLY, default=UNCHANGED) for name in sorted(known)]
        request.__signature__ = Signature([own, *names])  # type: ignore[attr-defined]
        return request if model is None else MethodType(request, model)


UNCHANGED = "$UNCHANGED$"
"""The value of `sklearn.utils.metadata_routing.UNCHANGED`: a request stays as it is."""


# -- the estimator ---------------------------------------------------------------------------------------------------


def _is_there(model: AnyModel, name: str) -> bool:
    """Whether a model has an attribute of its class now; nothing is computed, and no rows are read, to find out."""
    found = getattr_static(type(model), name, None)
    if isinstance(found, FittedAttribute):
        return found.read(model) is not MISSING
    return hasattr(model, name) if isinstance(found, Available | RequestSetter) else True


class BaseEstimator:
    """Has the arguments of its constructor as parameters."""

    _estimator_type: str | None = None

    @classmethod
    def _get_param_names(cls) -> list[str]:
        kind: Any = cls
        return list(_defaults(kind))

    def _check_together(self) -> None:
        """Refuse parameters that do not go together; each was checked before."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep` also those of parameters that have some, as `name__inner`."""
        out: dict[str, Any] = {}
        for name in self._get_param_names():
            value = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                out |= {f"{name}__{inner}": one for inner, one in value.get_params().items()}
            out[name] = value
        return out

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, also those of parameters, as `name__inner`."""
        known = self.get_params() if params else {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, inside, inner = key.partition("__")
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for {self}: it has {self._get_param_names()}")
            if inside:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
                known[name] = value
        for name, inner_params in nested.items():
            known[name].set_params(**inner_params)
        return self

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted model of the same parameters, for `sklearn.base.clone`."""
        given = {name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()}
        out = type(self)(**given)
        for name, value in given.items():
            if getattr(out, name) is not value:
                raise RuntimeError(f"cannot clone {self}: its constructor changes {name}, or does not set it")
        for name in LEFT_BY_SCIKIT_LEARN:
            if hasattr(self, name):
                setattr(out, name, clone(getattr(self, name), safe=False))
        return out

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the model is fitted: what scikit-learn's `check_is_fitted` asks."""
        return has_learned(self)

    def __sklearn_tags__(self) -> Any:
        """Return the tags of scikit-learn for the abilities of the model; classes change the tags of their base."""
        kind = self._estimator_type
        supervised = kind in ("classifier", "regressor")
        return sklearn.utils.Tags(
            estimator_type=kind,
            target_tags=sklearn.utils.TargetTags(required=supervised, multi_output=kind == "regressor"),
            classifier_tags=sklearn.utils.ClassifierTags() if kind == "classifier" else None,
            regressor_tags=sklearn.utils.RegressorTags() if kind == "regressor" else None,
            transformer_tags=sklearn.utils.TransformerTags() if isinstance(self, TransformerMixin) else None,
        )

    def get_metadata_routing(self) -> Any:
        """Return the metadata that the methods request of a meta-estimator."""
        if hasattr(self, "_metadata_request"):
            return sklearn.utils.metadata_routing.get_routing_for_object(self._metadata_request)
        requests = sklearn.utils.metadata_routing.MetadataRequest(owner=type(self).__name__)
        for method in ROUTED:
            for name, alias in _metadata(type(self), method).items():
                getattr(requests, method).add_request(param=name, alias=alias)
        return requests

    _get_metadata_request = get_metadata_routing  # what a router asks for its own

    set_fit_request, set_partial_fit_request, set_score_request = RequestSetter(), RequestSetter(), RequestSetter()
    set_predict_request, set_predict_proba_request = RequestSetter(), RequestSetter()
    set_predict_log_proba_request, set_decision_function_request = RequestSetter(), RequestSetter()
    set_transform_request, set_inverse_transform_request = RequestSetter(), RequestSetter()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if _is_there(self, name)]

    def __getstate__(self) -> dict[str, Any]:
        return own_attributes(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        kind: Any = type(self)
        if not state.keys().isdisjoint(fitted_attributes(kind)):
            raise InvalidType(
                f"this pickle of {kind.__name__} is of another version of adaline: unpickle it there and save it as a "
                "model file (adaline.save), which later versions read"
            )
        give_attributes(self, state)

    def __repr__(self) -> str:
        kind: Any = type(self)
        defaults, name = _defaults(kind), kind.__name__
        values = [(key, saferepr(getattr(self, key)), saferepr(default)) for key, default in defaults.items()]
        all_of_them = not _setting("print_changed_only", True)
        shown = [f"{key}={value}" for key, value, default in values if value != default or all_of_them]
        margin = " " * (len(name) + 1)
        text = name + "(" + f",\n{margin}".join(_lines(shown, REPR_WIDTH - len(margin) - 1)) + ")"
        half = MOST_REPR_CHARACTERS // 2
        return text if len(text) <= MOST_REPR_CHARACTERS else f"{text[:half]}...{text[-half:]}"

    @property
    def _repr_html_(self) -> Callable[[], str]:
        if _setting("display", "diagram") != "diagram":
            raise AttributeError('there is no diagram with sklearn.set_config(display="text")')
        return lambda: fit_as_html(self) + str(sklearn.utils.estimator_html_repr(self))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        diagram = getattr(self, "_repr_html_", None)
        return {"text/plain": repr(self)} | ({} if diagram is None else {"text/html": diagram()})

    def _get_params_html(self, *args: Any, **given: Any) -> Any:
        """Return the table of parameters for the diagram."""
        return sklearn.base.BaseEstimator._get_params_html(self, *args, **given)

    def _get_fitted_attr_html(self, *args: Any, **given: Any) -> Any:
        """Return the table of fitted attributes, for the diagram of newer versions."""
        return sklearn.base.BaseEstimator._get_fitted_attr_html(self, *args, **given)


def _lines(shown: list[str], width: int) -> Iterator[str]:
    """Yield lines of arguments, each as many as there is room for."""
    line = ""
    for one in shown:
        if line and len(line) + len(one) + 2 > width:
            yield line
            line = one
        else:
            line = f"{line}, {one}" if line else one
    yield line


@cache
def _defaults(cls: type[Any]) -> dict[str, Any]:
    """Return the defaults of the constructor's arguments by name, in the order of the alphabet."""
    if cls.__init__ is object.__init__:
        return {}
    _, *taken = signature(cls.__init__).parameters.values()
    return {
        one.name: one.default
        for one in sorted(taken, key=lambda one: one.name)
        if one.kind is not Parameter.VAR_KEYWORD
    }


# -- what kinds of estimators have in common -------------------------------------------------------------------------


class ClassifierMixin:
    """Predicts labels."""

    _estimator_type: str | None = "classifier"

    def score(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike = None) -> float:
        """Return the share of labels predicted."""
        return float(sklearn.base.ClassifierMixin.score(self, X, y, sample_weight))


class RegressorMixin:
    """Predicts numbers."""

    _estimator_type: str | None = "regressor"

    def score(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike = None) -> float:
        """Return R^2."""
        return float(sklearn.base.RegressorMixin.score(self, X, y, sample_weight))


class ClusterMixin:
    """Finds clusters."""

    _estimator_type: str | None = "clusterer"

    def fit_predict(self: Any, X: RowsLike, y: TargetsLike = None, **given: Any) -> LabelsLike:
        """Fit to rows X, and return the index of the cluster of each."""
        return self.fit(X, **given).labels_


class DensityMixin:
    """Estimates a density."""

    _estimator_type: str | None = "density_estimator"


class TransformerMixin:
    """Transforms rows, into frames where `set_output` or `sklearn.set_config(transform_output=...)` asks for them."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("transform", "fit_transform"):
            method = getattr(cls, name, None)
            if method is not getattr(super(cls, cls), name, None):  # the class defines it
                setattr(cls, name, _framing(method))

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set what `transform` returns: arrays ("default"), or frames ("pandas", "polars")."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def fit_transform(self: Any, X: RowsLike, y: TargetsLike = None, **given: Any) -> AnyArray:
        """Fit to rows X, and transform them."""
        targets = () if y is None else (y,)
        return self.fit(X, *targets, **given).transform(X)


class ClassNamePrefixFeaturesOutMixin:
    """Calls the columns that it returns by the name of its class."""

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of `transform`: kmeans0, kmeans1."""
        return sklearn.base.ClassNamePrefixFeaturesOutMixin.get_feature_names_out(self, input_features)


def _framing(transform: Any) -> Callable[..., Any]:
    """Let `transform` of a class return frames where they are asked for."""

    @wraps(transform)
    def framing(self: Any, X: Any, *args: Any, **given: Any) -> Any:
        found = transform(self, X, *args, **given)
        asked = getattr(self, "_sklearn_output_config", {}).get("transform")
        kind = _setting("transform_output", "default") if asked is None else asked
        return found if kind == "default" else _transformed()(self, found).set_output(transform=kind).transform(X)

    return framing


@cache
def _transformed() -> Any:
    """Return a transformer of scikit-learn's whose output is known: scikit-learn makes a frame of it."""

    class Transformed(sklearn.base.TransformerMixin):  # type: ignore[misc]
        """Transforms the rows that a model was given into what the model found."""

        def __init__(self, model: AnyModel, found: Any) -> None:
            self.model, self.found = model, found

        def get_feature_names_out(self) -> Any:
            return self.model.get_feature_names_out()

        def transform(self, X: Any) -> Any:
            return self.found

    return Transformed


# -- functions -------------------------------------------------------------------------------------------------------


def clone(estimator: AnySystem, *, safe: bool = True) -> Any:
    """Return an estimator that is not fitted, of the same parameters; of lists, each; `safe=False` copies all else."""
    if hasattr(estimator, "__sklearn_clone__") and not isclass(estimator):
        return estimator.__sklearn_clone__()
    if type(estimator) in (list, tuple):
        return type(estimator)(clone(one, safe=safe) for one in estimator)
    if not safe and not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    return sklearn.base.clone(estimator, safe=safe)


def is_classifier(estimator: AnySystem) -> bool:
    """Whether an estimator predicts labels."""
    return _predicts(estimator, "classifier")


def is_regressor(estimator: AnySystem) -> bool:
    """Whether an estimator predicts numbers."""
    return _predicts(estimator, "regressor")


def _predicts(estimator: AnySystem, kind: str) -> bool:
    if isinstance(estimator, BaseEstimator):
        return estimator._estimator_type == kind
    return bool(sklearn.utils.get_tags(estimator).estimator_type == kind)


class Available:
    """A method that a model has only where check(model) is true."""

    def __init__(self, fn: Callable[..., Any], check: Callable[[Any], Any]) -> None:
        self.fn, self.check = fn, check
        update_wrapper(self, fn)  # type: ignore[arg-type]

    def __get__(self, model: AnyModel, cls: Any = None) -> Any:
        if model is None:
            return wraps(self.fn)(lambda model, *args, **given: self.__get__(model)(*args, **given))
        try:
            if self.check(model):
                return MethodType(self.fn, model)
        except Exception as error:
            raise self._absence(model) from error
        raise self._absence(model)

    def _absence(self, model: AnyModel) -> AttributeError:
        return AttributeError(f"This {type(model).__name__!r} has no attribute {self.fn.__name__!r}")


def available_if(check: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Any]:
    """Let models have a method only where check(model) is true."""
    return lambda fn: Available(fn, check)
