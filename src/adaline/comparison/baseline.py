"""The baseline of a comparison: the best constant prediction."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, RowsLike
from adaline.estimator import BaseEstimator


class MeanTarget(BaseEstimator):
    """Predicts the mean of the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.baseline import MeanTarget
    >>> MeanTarget().fit(np.zeros((2, 0)), np.array([1.0, 3.0])).predict(np.zeros((1, 0)))
    array([2.])
    """

    def fit(self, X: RowsLike, y: Array, sample_weight: Array | None = None) -> Self:
        """Learn the mean of y, (n,)."""
        self.mean_ = float(np.average(y, weights=sample_weight))
        return self

    def predict(self, X: RowsLike) -> Array:
        """Return the mean for each row, (n,)."""
        return np.full(X.shape[0], self.mean_)


class MostFrequentClass(BaseEstimator):
    """Predicts the most frequent class, with the shares of the classes as probabilities; y holds indices of classes.

    Parameters
    ----------
    counts : (K,) sizes of the classes, where they are known; None: those of the rows fitted to. Under leave-one-out
        they are those of all rows: of two classes of equal size, the one that a row is left out of is always the rarer.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.comparison.baseline import MostFrequentClass
    >>> MostFrequentClass().fit(np.zeros((3, 0)), np.array([0, 2, 2])).predict(np.zeros((1, 0)))
    array([2])
    """

    def __init__(self, counts: Any = None) -> None:
        self.counts = counts

    def fit(self, X: RowsLike, y: NDArray[np.intp], sample_weight: Array | None = None) -> Self:
        """Count the classes in y, (n,)."""
        counts = np.bincount(y, sample_weight) if self.counts is None else np.asarray(self.counts)
        self.classes_ = np.flatnonzero(counts)
        self.share_ = counts[self.classes_] / counts.sum()
        return self

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """Return the most frequent class for each row, (n,)."""
        return np.full(X.shape[0], self.classes_[self.share_.argmax()])

    def predict_proba(self, X: RowsLike) -> Array:
        """Return the shares of the classes for each row, (n, K)."""
        return np.tile(self.share_, (X.shape[0], 1))
