"""Measures of error: a loss for each row where there is one, else minus a score of scikit-learn.

regression        (y - prediction)^2, the default; |y - prediction|; mean over targets
classes           1 where the label is wrong, the default; -ln p(label)
without targets   -ln p(x) of systems with densities; the squared distance to the nearest centre of KMeans
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import Array, RowsLike, TargetsLike, WeightsLike, host, host_values
from adaline.errors import InvalidData, InvalidParameter
from adaline.estimator import is_classifier, is_regressor
from adaline.fitted import AnyModel, AnySystem, gives_probabilities
from adaline.input.labels import places
from adaline.lazy import sklearn
from adaline.systems.kmeans import KMeans

SMALLEST = np.finfo(np.float64).eps  # the least probability of a label, so that its logarithm is finite
CRITERIA = ("bic", "aic")


class Measure(ABC):
    """A named error; less is better."""

    name: str


class RowLoss(Measure):
    """A loss of each row, so that any weighted mean over any rows can be taken."""

    @abstractmethod
    def losses(self, model: AnyModel, X: RowsLike, y: TargetsLike) -> Array:
        """Return the loss of each row, (n,); X may be a source."""


class Residuals(RowLoss):
    """A function of y minus the prediction, averaged over the targets."""

    KINDS: ClassVar[dict[str, Callable[[Array], Array]]] = {
        "mean_squared_error": np.square,
        "mean_absolute_error": np.abs,
    }

    def __init__(self, kind: str) -> None:
        self.kind, self.name = kind, kind.replace("_", " ")

    def losses(self, model: AnyModel, X: RowsLike, y: TargetsLike) -> Array:
        target, prediction = (np.asarray(one, dtype=np.float64) for one in (y, host(model.predict(X))))
        target, prediction = (one[:, None] if one.ndim == 1 else one for one in (target, prediction))
        if target.shape != prediction.shape:
            raise InvalidData(f"y has shape {target.shape} and the predictions of {_name(model)} {prediction.shape}")
        return self.of(target - prediction)

    def of(self, residual: Array) -> Array:
        """Return the loss of residuals (n, K), (n,)."""
        with np.errstate(over="ignore"):
            return np.asarray(self.KINDS[self.kind](residual).mean(axis=1))


class ErrorRate(RowLoss):
    """One where the label is wrong."""

    name = "error rate"

    def losses(self, model: AnyModel, X: RowsLike, y: TargetsLike) -> Array:
        return np.asarray(np.asarray(host_values(model.predict(X))) != y, dtype=np.float64)


class LogLoss(RowLoss):
    """Minus the logarithm of the probability of the label; an unknown label has the probability SMALLEST."""

    name = "log loss"

    def losses(self, model: AnyModel, X: RowsLike, y: TargetsLike) -> Array:
        probability, classes = host(model.predict_proba(X)), model.classes_
        index = places(y, classes)
        right = probability[np.arange(len(index)), index] * (classes[index] == y)
        return np.asarray(-np.log(np.clip(right, SMALLEST, 1.0)))


class NegativeLogLikelihood(RowLoss):
    """Minus the log density of the row."""

    name = "minus log likelihood"

    def losses(self, model: AnyModel, X: RowsLike, y: TargetsLike) -> Array:
        return -host(model.score_samples(X))


class Distance(RowLoss):
    """Squared distance to the nearest centre."""

    name = "squared distance"

    def losses(self, model: AnyModel, X: RowsLike, y: TargetsLike) -> Array:
        return np.asarray(host(model.transform(X)).min(axis=1) ** 2)


class InformationCriterion(Measure):
    """A criterion of the fit to all rows: the system's own `bic` or `aic`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def value(self, model: AnyModel, X: RowsLike, sample_weight: WeightsLike) -> float:
        """Return the criterion."""
        return float(getattr(model, self.name)(X, sample_weight=sample_weight))


class Score(Measure):
    """Minus a score of scikit-learn."""

    def __init__(self, name: str, scorer: Callable[..., float]) -> None:
        self.name, self.scorer = name, scorer

    def error(self, model: AnyModel, X: RowsLike, y: TargetsLike) -> float:
        """Return the error over rows; weights play no part."""
        return -float(self.scorer(model, X, y))


def measure_of(system: AnySystem, scoring: Any) -> Measure:
    """Return the measure that `scoring` names for a system; for None, the usual one of its kind."""
    if scoring is None:
        return _usual(system)
    if callable(scoring):
        return Score(f"minus {getattr(scoring, '__name__', 'score')}", scoring)
    if not isinstance(scoring, str):
        raise InvalidParameter(f"scoring must be a name, a function (system, X, y) or None, got {scoring!r}")
    if scoring in CRITERIA:
        if not hasattr(system, scoring):
            raise InvalidParameter(f"{_name(system)} has no {scoring}: leave scoring out, or use GaussianMixture")
        return InformationCriterion(scoring)
    name = scoring.removeprefix("neg_")
    if name in Residuals.KINDS and is_regressor(system):
        return Residuals(name)
    if name == "log_loss" and is_classifier(system):
        if not gives_probabilities(system):
            raise InvalidParameter(f"scoring='log_loss' needs probabilities, and {_name(system)} gives none")
        return LogLoss()
    if name in ("error_rate", "accuracy") and is_classifier(system):
        return ErrorRate()
    known = sklearn.metrics.get_scorer_names()
    if f"neg_{name}" in known:
        return Score(name, sklearn.metrics.get_scorer(f"neg_{name}"))
    if name in known:
        return Score(f"minus {name}", sklearn.metrics.get_scorer(name))
    raise InvalidParameter(f"there is no scoring {scoring!r} for {_name(system)}. There are: {', '.join(known)}")


def one_measure(systems: Sequence[Any], scoring: Any) -> Measure:
    """Return the measure that several systems are judged by; refuse systems of different kinds."""
    found = {measure.name: measure for measure in (measure_of(system, scoring) for system in systems)}
    if len(found) > 1:
        raise InvalidParameter(f"these systems are judged by different errors, {' and '.join(found)}: choose one kind")
    return next(iter(found.values()))


def refuse_no_targets(system: AnySystem, y: TargetsLike) -> None:
    """Refuse rows without targets where the system learns from them."""
    if y is None and (is_classifier(system) or is_regressor(system)):
        raise InvalidData(f"{_name(system)} requires y: the targets whose prediction is judged")


def _usual(system: AnySystem) -> Measure:
    if is_classifier(system):
        return ErrorRate()
    if is_regressor(system):
        return Residuals("mean_squared_error")
    if hasattr(system, "score_samples"):
        return NegativeLogLikelihood()
    if isinstance(system, KMeans):
        return Distance()
    if hasattr(system, "score"):
        return Score("minus score", lambda model, X, y: model.score(X, y))
    raise InvalidParameter(f"{_name(system)} neither predicts nor has a score to be judged by: give scoring")


def _name(system: AnySystem) -> str:
    return type(system).__name__
