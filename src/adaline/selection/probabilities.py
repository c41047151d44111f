"""How well scores rank rows, and whether probabilities hold: hits and alarms at thresholds, shares in bins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData

RELIABILITY_BINS = 10  # bins of predicted probabilities; doubling it gives more points, each of half the rows
LEAST_BIN_ROWS = 5  # rows of a bin from which it is shown; doubling it shows fewer, steadier points


class ThresholdCounts(NamedTuple):
    """Rows called positive at each threshold, from none to all: weights of those that are (hits) and are not (alarms).

    Rows whose score is the threshold or more are called positive; the first threshold is infinite.
    """

    threshold: Array
    hits: Array
    alarms: Array

    @property
    def auc(self) -> float:
        """The area under the ROC curve: the probability that a positive row has the higher score; ties count half."""
        return float(np.trapezoid(self.hits / self.hits[-1], self.alarms / self.alarms[-1]))

    @property
    def average_precision(self) -> float:
        """The mean precision over the steps of the recall."""
        precision = self.hits[1:] / (self.hits[1:] + self.alarms[1:])
        return float((np.diff(self.hits) / self.hits[-1]) @ precision)


def count_at_thresholds(truth: NDArray[np.bool_], score: Array, weight: Array | None = None) -> ThresholdCounts:
    """Return the hits and alarms at every different score, highest first; `truth` (n,) holds both kinds of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.selection.probabilities import count_at_thresholds
    >>> count_at_thresholds(np.array([False, True, True]), np.array([0.2, 0.9, 0.1])).auc
    0.5
    """
    if truth.all() or not truth.any():
        raise InvalidData("a ranking of two kinds of rows needs some of each: all rows are of one kind")
    order = np.argsort(-score)
    w = np.ones(len(score)) if weight is None else weight[order]
    hit, sorted_score = truth[order], score[order]
    last = np.flatnonzero(np.diff(sorted_score, append=-np.inf) != 0)  # of those that share a score
    hits, alarms = (np.r_[0.0, np.cumsum(w * kind)[last]] for kind in (hit, ~hit))
    return ThresholdCounts(np.r_[np.inf, sorted_score[last]], hits, alarms)


class Reliability(NamedTuple):
    """Bins of probabilities: their mean, the share that came true, and its 95% interval."""

    probability: Array
    share: Array
    lower: Array
    upper: Array


def reliability(probability: Array, happened: NDArray[np.bool_], weight: Array | None = None) -> Reliability:
    """Return the shares in ten bins of equal width, those with five rows or more; intervals by Wilson's formula.

    A row of weight w counts as w rows.

    E. B. Wilson, JASA 22 (1927), 209-212.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.selection.probabilities import reliability
    >>> found = reliability(np.repeat([0.25, 0.75], 40), np.tile([True, False, False, False], 20))
    >>> found.share.tolist(), bool(found.upper[1] < 0.75)
    ([0.25, 0.25], True)
    """
    w = np.ones(len(probability)) if weight is None else weight
    bins = _bins(probability)
    n = np.bincount(bins, w, RELIABILITY_BINS)
    known = n >= LEAST_BIN_ROWS
    n = n[known]
    mean = np.bincount(bins, w * probability, RELIABILITY_BINS)[known] / n
    share = np.bincount(bins, w * happened, RELIABILITY_BINS)[known] / n
    return Reliability(mean, share, *wilson(share, n))


def bin_counts(probability: Array) -> NDArray[np.intp]:
    """Return how many probabilities lie in each of ten bins of equal width."""
    return np.bincount(_bins(probability), minlength=RELIABILITY_BINS)


def _bins(probability: Array) -> NDArray[np.intp]:
    return np.minimum((probability * RELIABILITY_BINS).astype(np.intp), RELIABILITY_BINS - 1)


def wilson(share: Array, n: NDArray[Any]) -> tuple[Array, Array]:
    """Return the 95% limits of shares of n rows."""
    z = 1.96
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.minimum(middle - half, share).clip(min=0), np.maximum(middle + half, share).clip(max=1)
