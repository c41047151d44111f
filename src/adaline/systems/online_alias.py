"""`LogisticRegression(solver="online")`, the former name of `OnlineLogistic`, which the next release removes.

Such a model has the attributes of an `OnlineLogistic`. Its methods are functions of this module, which delegate each
call to an `OnlineLogistic` that shares the attributes. To remove it, delete this file, the lines of
`LogisticRegression` that name it, its parameters `epochs` and `average`, and `with_present_name` in `storage/tree.py`
and `storage/model_file.py`; `is_renamed` and `settings_of` can still read files with the former name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adaline.arrays import LabelsLike, RowLike, RowsLike, TargetLike, TargetsLike, WeightsLike
from adaline.construction import check_parameters
from adaline.errors import DeprecatedWarning, InvalidParameter, warn
from adaline.estimator import BaseEstimator, available_if
from adaline.fitted import AnyModel, check_is_fitted
from adaline.input import continuation
from adaline.locks import lock_of
from adaline.systems.families.online_state import OnlineState

if TYPE_CHECKING:
    from adaline.systems.online_logistic import OnlineLogistic

SOLVER = "online"
SHOWN = (
    *("coef_", "intercept_", "certificate_", "history_", "n_iter_", "rows_seen_", "progressive_loss_"),
    "feature_names_in_",
)
"""What `OnlineLogistic` makes of its scan when it is asked for."""
REFUSED = (("penalty", "auto"), ("scheme", "one-vs-one"), ("firth", True), ("standardize", True))
"""Settings of `LogisticRegression` that one step a row cannot have."""


def is_online(model: AnyModel) -> bool:
    """Whether a model, fitted or not, is to learn online."""
    return bool(model.solver == SOLVER)


def has_maximum(model: AnyModel) -> bool:
    """Whether a model has maximised the likelihood; of one that is not fitted, whether it is to."""
    return not (is_online(model) if model._state is None else isinstance(model._state, OnlineState))


def settings_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `OnlineLogistic` among those of `LogisticRegression`; refuse what it cannot do."""
    from adaline.systems.online_logistic import OnlineLogistic

    for name, value in REFUSED:
        if given.get(name) == value:
            raise InvalidParameter(f"solver='online' takes the rows once, and cannot have {name}={value!r}")
    return {name: value for name, value in given.items() if name in OnlineLogistic._get_param_names()}


def is_renamed(parameters: dict[str, Any], state: dict[str, Any]) -> bool:
    """Whether arguments and attributes of `LogisticRegression` are of what is now called `OnlineLogistic`."""
    return "_scan" in state or (parameters.get("solver") == SOLVER and "coef_" not in state)


def with_present_name(model: AnyModel) -> AnyModel:
    """Return the `OnlineLogistic` that a `LogisticRegression` stands for where it learns online, else itself."""
    if not (isinstance(model._state, OnlineState) or (is_online(model) and model._state is None)):
        return model
    settings_of(model.get_params(deep=False))
    return as_online(model)


def as_online(model: AnyModel) -> OnlineLogistic:
    """Return an `OnlineLogistic` of the settings of a model, with what it has learned online: both share it."""
    from adaline.systems.online_logistic import OnlineLogistic

    own = OnlineLogistic._get_param_names()
    online = OnlineLogistic(**{name: value for name, value in model.get_params(deep=False).items() if name in own})
    online._state = model._state if isinstance(model._state, OnlineState) else None
    return online


def fitted_online(model: AnyModel, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike) -> bool:
    """Fit a model whose solver is "online", and return whether it is; another solver begins with its weights alone."""
    if is_online(model):
        _hand_over(model, "fit", X, y, sample_weight)
        return True
    return False


def _hand_over(model: AnyModel, verb: str, *rows: Any) -> None:
    """Let `OnlineLogistic` learn, and keep what it has learned; say at the first time that this is deprecated."""
    begun = isinstance(model._state, OnlineState)
    if not begun or model._state.scan.settings_may_differ:
        check_parameters(model)
        settings_of(model.get_params(deep=False))
    if not begun:  # before it learns: where warnings are errors, nothing has been learned
        warn(
            "solver='online' of LogisticRegression is deprecated, and the next release removes it: use OnlineLogistic, "
            "which learns the same numbers",
            DeprecatedWarning,
        )
    online = as_online(model)
    getattr(online, verb)(*rows)
    model._state = online._state


# -- methods of LogisticRegression -------------------------------------------------------------------------------------


@available_if(is_online)
@continuation
def partial_fit(
    self: Any, X: RowsLike, y: TargetsLike = None, classes: LabelsLike = None, sample_weight: WeightsLike = None
) -> Any:
    """Deprecated: see `OnlineLogistic.partial_fit`."""
    _hand_over(self, "partial_fit", X, y, classes, sample_weight)
    return self


@available_if(is_online)
def learn_one(self: Any, x: RowLike, y: TargetLike, classes: LabelsLike = None) -> Any:
    """Deprecated: see `OnlineLogistic.learn_one`."""
    try:
        if self.class_weight is None and self._state.scan._native.take(x, y):  # at once, from the second row on
            return self
    except AttributeError:  # there is no scan, or no native one yet
        pass
    with lock_of(self):
        _hand_over(self, "learn_one", x, y, classes)
    return self


@available_if(lambda model: not has_maximum(model))
def predict_one(self: Any, x: RowLike) -> TargetLike:
    """Deprecated: see `OnlineLogistic.predict_one`."""
    check_is_fitted(self)
    return as_online(self).predict_one(x)


def set_params(self: Any, **params: Any) -> Any:
    """Set parameters by name, also those of parameters, as `name__inner`."""
    BaseEstimator.set_params(self, **params)
    if isinstance(self._state, OnlineState):
        self._state.scan.doubt_settings()
    return self


def shown_attribute(self: Any, name: str) -> Any:
    """Return an attribute that `OnlineLogistic` makes of its scan."""
    if isinstance(self._state, OnlineState) and name in SHOWN:
        return getattr(as_online(self), name)
    return object.__getattribute__(self, name)  # which says what is missing


def copied_state(self: Any) -> dict[str, Any]:
    """Return the attributes of a copy."""
    with lock_of(self):
        attributes = BaseEstimator.__getstate__(self)
        if not isinstance(self._state, OnlineState):
            return attributes
        return attributes | {"_state": as_online(self).__getstate__()["_state"]}
