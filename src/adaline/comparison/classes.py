"""How well classes are distinguished on held-out rows: recall, ranking, and the threshold that costs least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike
from adaline.comparison.result import Result, rms
from adaline.comparison.table import CLASSIFICATION, Table
from adaline.errors import InvalidParameter
from adaline.fitted import AnyModel, gives_decisions
from adaline.selection.cross_validation import fill, fill_means
from adaline.selection.probabilities import count_at_thresholds, wilson


@dataclass(frozen=True)
class Costs:
    """The costs of a false positive and a false negative; correct answers cost nothing.

    Examples
    --------
    >>> from adaline.comparison.classes import Costs
    >>> Costs.of({"fp": 1, "fn": 5})
    Costs(fp=1.0, fn=5.0)
    """

    fp: float
    fn: float

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return costs from {"fp": 1, "fn": 5} or "fp=1,fn=5"."""
        pairs = [part.partition("=")[::2] for part in given.split(",")] if isinstance(given, str) else None
        try:
            known = {str(key).strip(): float(value) for key, value in dict(given if pairs is None else pairs).items()}
        except (TypeError, ValueError):
            known = {}
        if set(known) != {"fp", "fn"} or not all(0 < value < math.inf for value in known.values()):
            raise InvalidParameter(
                f"cost names what a false positive and a false negative cost, two numbers above zero, as fp=1,fn=5; "
                f"got {given!r}"
            )
        return cls(**known)

    def check(self, task: str, y: NDArray[Any]) -> None:
        """Refuse a target that has no two classes."""
        if task != CLASSIFICATION or len(np.unique(y)) != 2:
            raise InvalidParameter(
                "cost is about two classes, a false positive and a false negative: leave it out here"
            )


def positive_class(y: NDArray[Any]) -> Any:
    """Return the class of two that is called positive: the rarer one, or the second in order where they are as many.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.classes import positive_class
    >>> str(positive_class(np.array(["ill", "well", "well"]))), str(positive_class(np.array(["no", "yes"])))
    ('ill', 'yes')
    """
    first, second = np.unique(y)
    return first if 2 * np.count_nonzero(y == first) < len(y) else second


def held_out_scores(result: Result, table: Table) -> Array | None:
    """Return the score (n, K) of each row for each class, by a model not fitted to the row; None where there is none.

    Probabilities where the system gives them. Else decision values, those of each fold scaled to the root mean square
    of those of the model fitted to all rows, as models of different folds need not share a scale.
    """
    if result.probability is not None:
        return result.probability
    labels = table.classes[0]
    if table.fold is None or not result.fold_models or not gives_decisions(result.model):
        return None
    out = np.zeros((len(table.y), len(labels)))
    whole = _size(decisions(result.model, table.X))
    filled = table.filled_columns
    for k, model in enumerate(result.fold_models):
        rows = slice(*np.searchsorted(table.fold, [k, k + 1]))
        value = decisions(model, fill(table.X[rows], filled, fill_means(table.X, table.fold, filled, k)))
        if value.shape[1] != len(labels):
            return None
        out[rows] = value * (whole / _size(value))
    return out if np.isfinite(out).all() else None


def decisions(model: AnyModel, X: RowsLike) -> Array:
    """Return the decision values (n, K) of K classes; two have opposite ones."""
    value = np.asarray(model.decision_function(X), dtype=np.float64)
    return np.column_stack([-value, value]) if value.ndim == 1 else value


def _size(values: Array) -> float:
    """Return the root mean square of values, 1 where they are all zero."""
    return rms(values) or 1.0


class ClassRecall(NamedTuple):
    """How well one class is recognised: recall with its 95% interval (Wilson), precision, and AUC against the rest.

    Precision is NaN where no row was given the class, AUC and average precision where there is no score.
    """

    label: str
    rows: int
    recall: float
    lower: float
    upper: float
    precision: float
    auc: float
    average_precision: float


def recalls(y: NDArray[Any], predicted: NDArray[Any], scores: Array | None, weight: Array | None) -> list[ClassRecall]:
    """Return how well each class is recognised, given labels (n,), held-out labels (n,) and scores (n, K) or None."""
    w = np.ones(len(y)) if weight is None else weight
    out = []
    for k, label in enumerate(np.unique(y)):
        own, called = y == label, predicted == label
        hit, rows = float(w[own & called].sum()), int(np.count_nonzero(own))
        recall = hit / float(w[own].sum())
        lower, upper = wilson(np.array(recall), np.array(rows))
        precision = hit / float(w[called].sum()) if called.any() else math.nan
        counts = None if scores is None else count_at_thresholds(own, scores[:, k], weight)
        areas = (math.nan, math.nan) if counts is None else (counts.auc, counts.average_precision)
        out.append(ClassRecall(str(label), rows, recall, float(lower), float(upper), precision, *areas))
    return out


class Threshold(NamedTuple):
    """The threshold that costs least on rows held out.

    positive : the class called so from the threshold on.
    threshold : of its score: its probability, or the decision value, which is minus that of `decision_function` where
        the positive class comes first in order; infinite: call no row positive.
    cost, default_cost : mean cost of a row there, and of the labels that the system predicts.
    recall, precision : of the positive class there; precision NaN where no row is called positive.
    probability : whether the score is a probability.
    """

    positive: str
    threshold: float
    cost: float
    default_cost: float
    recall: float
    precision: float
    probability: bool

    def __str__(self) -> str:
        what = "probability" if self.probability else f"decision value towards {self.positive}"
        if math.isinf(self.threshold):
            rule = f"Call no row {self.positive}"
        else:
            rule = f"Call a row {self.positive} if its {what} is at least {self.threshold:.3g}"
        precision = "" if math.isnan(self.precision) else f", precision {100 * self.precision:.1f}%"
        return (
            f"{rule}: that costs {self.cost:.4g} per row on held-out rows, against {self.default_cost:.4g} for the "
            f"default labels; recall of {self.positive} {100 * self.recall:.1f}%{precision}. The threshold was chosen "
            "on these rows, so new rows cost a little more."
        )

    @property
    def advice(self) -> str:
        """How to apply the threshold, which a fitted model does not know; "" where no row is called positive."""
        if math.isinf(self.threshold):
            return ""
        default = "A fitted or saved model labels rows by the default threshold, not by this one:"
        if self.probability:
            column = f"probability_{self.positive}"
            return f"{default} compare the column {column} of adaline predict --proba with {self.threshold:.6g}."
        what = f"its decision value towards {self.positive}, by decision_function in Python,"
        return f"{default} compare {what} with {self.threshold:.6g}."


def cheapest_threshold(
    costs: Costs, y: NDArray[Any], predicted: NDArray[Any], scores: Array, weight: Array | None, probability: bool
) -> Threshold:
    """Return the threshold of least cost: fp x alarms + fn x misses, over the rows; midway between two scores.

    Of thresholds that cost the same, the one that calls the fewest rows positive.
    """
    positive = positive_class(y)
    truth = y == positive
    score = scores[:, int(np.flatnonzero(np.unique(y) == positive)[0])]
    w = np.ones(len(y)) if weight is None else weight
    counts = count_at_thresholds(truth, score, weight)
    cost = costs.fp * counts.alarms + costs.fn * (counts.hits[-1] - counts.hits)
    i = int(np.argmin(cost))
    below = counts.threshold[i + 1] if i + 1 < len(counts.threshold) else counts.threshold[i]
    called = predicted == positive
    default = costs.fp * w[called & ~truth].sum() + costs.fn * w[~called & truth].sum()
    found = counts.hits[i] + counts.alarms[i]
    return Threshold(
        positive=str(positive),
        threshold=float((counts.threshold[i] + below) / 2),
        cost=float(cost[i] / w.sum()),
        default_cost=float(default / w.sum()),
        recall=float(counts.hits[i] / counts.hits[-1]),
        precision=float(counts.hits[i] / found) if found > 0 else math.nan,
        probability=probability,
    )
