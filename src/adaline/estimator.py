"""Base classes of systems and bases: alone at first, scikit-learn's subclasses from its import on.

Importing scikit-learn takes four times as long as all that a fit needs. So each class here begins alone, with the few
methods that a fit needs; `join` puts scikit-learn's class of the same name under it, whose code then answers for tags,
metadata routing, `set_output` and the HTML display. It is called

- where a class or a model is made, a model fits, transforms or is unpickled, and scikit-learn is loaded; models made
  before are changed too;
- where something is asked for that scikit-learn has to answer: `__sklearn_tags__`, `score`, `fit_transform`, ...

What is left out: of a model that was made before scikit-learn was loaded, and asked nothing since, `isinstance(model,
sklearn.base.BaseEstimator)` is false.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache, update_wrapper, wraps
from inspect import Parameter, getattr_static, signature
from types import MethodType
from typing import Any, Self, TypeVar, cast

from adaline import errors
from adaline.display import fit_as_html
from adaline.fitted import AnyModel, AnySystem, has_learned
from adaline.locks import Lock

Method = TypeVar("Method", bound=Callable[..., Any])

_LOCK = Lock()


def join() -> None:
    """Import scikit-learn, and make the classes of this module subclasses of its own, if they are not yet.

    Where a class of a user stands in the way, as its bases would have no order, all stay as they were.
    """
    import sklearn.base
    import sklearn.exceptions

    with _LOCK:
        if not _alone():
            return
        owns = (*MIXINS, BaseEstimator)
        joined: dict[type[Any], tuple[type[Any], ...]] = {
            errors.ConvergenceWarning: (errors.AdalineWarning, sklearn.exceptions.ConvergenceWarning),
            errors.NotFittedError: (errors.AdalineError, sklearn.exceptions.NotFittedError),
            **{own: (getattr(sklearn.base, own.__name__),) for own in owns},
        }
        before = {cls: cls.__bases__ for cls in joined}
        try:
            for cls, bases in joined.items():
                cls.__bases__ = bases
        except TypeError:
            for cls, bases in before.items():
                cls.__bases__ = bases
            raise
        for own in owns:
            for name in [name for name, value in vars(own).items() if isinstance(value, Deferred)]:
                delattr(own, name)  # scikit-learn's class has it now
        for cls in _descendants(BaseEstimator):
            above: Any = super(TransformerMixin if issubclass(cls, TransformerMixin) else BaseEstimator, cls)
            above.__init_subclass__()


def join_if_loaded() -> bool:
    """Join where scikit-learn is loaded; return whether it was loaded and not yet joined."""
    if not _alone() or "sklearn.base" not in sys.modules:
        return False
    join()
    return True


def _alone() -> bool:
    return BaseEstimator.__base__ is AloneEstimator


def _descendants(cls: type[Any]) -> list[type[Any]]:
    """Return the subclasses of a class, theirs too, each after its bases."""
    below = set(cls.__subclasses__())
    return sorted(below.union(*map(_descendants, below)), key=lambda one: len(one.__mro__))


class Deferred:
    """A name that scikit-learn's class has: asking for it joins."""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, model: AnyModel, cls: Any = None) -> Any:
        join()
        asked = cls if model is None else model
        above = super(self.owner, asked)
        return getattr(above if hasattr(above, self.name) else asked, self.name)


class Alone:
    """What stands under a class of this module in the place of scikit-learn's."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Refuse at once a class whose bases would have no order after the join."""
        super().__init_subclass__(**options)
        if cls.__module__ == __name__:
            return
        try:
            join_if_loaded()
        except TypeError:
            cls.__bases__ = (Alone,)  # that it stands in the way of no other class
            raise


class AloneEstimator(Alone):
    """What stands under `BaseEstimator` in the place of scikit-learn's."""

    def __repr__(self) -> str:
        from pprint import saferepr

        kind: Any = type(self)
        shown = [(name, saferepr(getattr(self, name)), saferepr(default)) for name, default in _defaults(kind).items()]
        line = f"{kind.__name__}({', '.join(f'{name}={value}' for name, value, default in shown if value != default)})"
        if len(line) <= 80:
            return line
        join()  # scikit-learn's knows how to break lines
        return repr(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not state.keys().isdisjoint(LEFT_BY_SCIKIT_LEARN):
            join()
        join_if_loaded()
        self.__dict__.update(state)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in REQUESTS or _takes_metadata(type(self), name[4:-8])]

    def __sklearn_tags__(self) -> Any:
        join()
        return self.__sklearn_tags__()  # from the beginning, as scikit-learn's mixins stand between


class BaseEstimator(AloneEstimator):
    """Has the arguments of its constructor as parameters."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        kind: Any = cls
        return list(_defaults(kind))

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

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the model is fitted: what scikit-learn's `check_is_fitted` asks."""
        return has_learned(self)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        join()
        above: Any = super()
        diagram = above._repr_html_  # there is none with sklearn.set_config(display="text")
        return lambda: fit_as_html(self) + str(diagram())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        join()
        above: Any = super()
        shown: dict[str, str] = above._repr_mimebundle_(**options)
        if "text/html" in shown:
            shown["text/html"] = fit_as_html(self) + shown["text/html"]
        return shown

    get_metadata_routing = Deferred()
    set_fit_request, set_partial_fit_request, set_score_request = Deferred(), Deferred(), Deferred()
    set_predict_request, set_predict_proba_request = Deferred(), Deferred()
    set_decision_function_request, set_transform_request = Deferred(), Deferred()


class ClassifierMixin(Alone):
    """Predicts labels."""

    score = Deferred()

    @property
    def _estimator_type(self) -> str:
        return "classifier"


class RegressorMixin(Alone):
    """Predicts numbers."""

    score = Deferred()

    @property
    def _estimator_type(self) -> str:
        return "regressor"


class ClusterMixin(Alone):
    """Finds clusters."""

    fit_predict = Deferred()


class DensityMixin(Alone):
    """Estimates a density."""

    score = Deferred()


class TransformerMixin(Alone):
    """Transforms rows."""

    fit_transform, set_output = Deferred(), Deferred()


class ClassNamePrefixFeaturesOutMixin(Alone):
    """Calls the columns that it gives by the name of its class."""

    get_feature_names_out = Deferred()


class MetaEstimatorMixin(Alone):
    """Is made of other estimators."""


class MultiOutputMixin(Alone):
    """Takes several targets."""


REQUESTS = [name for name in vars(BaseEstimator) if name.startswith("set_") and name.endswith("_request")]
LEFT_BY_SCIKIT_LEARN = ("_sklearn_output_config", "_metadata_request")
"""Attributes of a model that `set_output` and the requests for metadata leave."""
MIXINS = tuple(cls for cls in Alone.__subclasses__() if cls is not AloneEstimator)


def _takes_metadata(cls: type[Any], name: str) -> bool:
    """Whether a class has a method of this name that takes more than rows and targets."""
    method = getattr_static(cls, name, None)
    if isinstance(method, Deferred):
        return method.owner is not DensityMixin  # those of the others take weights
    return method is not None and len(signature(getattr(cls, name)).parameters.keys() - {"self", "X", "y"}) > 0


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


def clone(estimator: AnySystem, *, safe: bool = True) -> Any:
    """Return an estimator that is not fitted, of the same parameters; of lists, each; `safe=False` copies all else."""
    if _alone() and isinstance(estimator, BaseEstimator):
        given = estimator.get_params(deep=False)
        return type(estimator)(**{name: clone(value, safe=False) for name, value in given.items()})
    if type(estimator) in (list, tuple):
        return type(estimator)(clone(one, safe=safe) for one in estimator)
    if not safe and not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    import sklearn.base

    return sklearn.base.clone(estimator, safe=safe)


def is_classifier(estimator: AnySystem) -> bool:
    """Whether an estimator predicts labels."""
    return _predicts(estimator, "classifier")


def is_regressor(estimator: AnySystem) -> bool:
    """Whether an estimator predicts numbers."""
    return _predicts(estimator, "regressor")


def _predicts(estimator: AnySystem, kind: str) -> bool:
    if _alone() and isinstance(estimator, BaseEstimator):
        return getattr(estimator, "_estimator_type", None) == kind
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).estimator_type == kind)


def joining(transform: Method) -> Method:
    """Let `transform` of a class join first where scikit-learn is loaded, which wraps its output (`set_output`)."""

    @wraps(transform)
    def joined(self: Any, X: Any) -> Any:
        return self.transform(X) if join_if_loaded() else transform(self, X)

    return cast(Method, joined)


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


join_if_loaded()
