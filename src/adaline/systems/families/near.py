"""Fits of the rows without each fold, near the fit of all rows: what cross-validation asks of systems that iterate."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from adaline.sources import Source
from adaline.sources.views import Fold


class NearFits:
    """A system that can start from a model of nearly the same rows."""

    def _fit_near(self, X: Any, y: Any, sample_weight: Any, model: Self) -> Self:
        """Fit as `fit` does, starting from a model of nearly the same rows where that helps."""
        raise NotImplementedError

    def _fit_folds(self, X: Any, y: Any, sample_weight: Any, fold: NDArray[np.int64]) -> tuple[Self, list[Self]]:
        """Return the model of all rows, and for each fold (N,) the one without its rows; rows as `fit` takes them."""
        model = clone(self).fit(X, y, sample_weight)
        return model, [
            clone(self)._fit_near(*without_fold(X, y, sample_weight, fold, k), model) for k in range(fold.max() + 1)
        ]


def without_fold(X: Any, y: Any, sample_weight: Any, fold: NDArray[np.int64], k: int) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights, where those of fold k count nothing; X is not copied."""
    if isinstance(X, Source):
        return Fold(X, k, fold, held_out=False), y, sample_weight
    kept = (fold != k).astype(np.float64)
    return X, y, kept if sample_weight is None else kept * np.asarray(sample_weight)
