"""Fits of the rows without each fold, near the fit of all rows: what cross-validation asks of systems that iterate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import RowsLike, TargetsLike, WeightsLike
from adaline.estimator import clone
from adaline.sources import Source
from adaline.sources.views import Fold
from adaline.systems.families.folds import FoldFits

FoldFilling = Callable[[int, Any], Any]  # of a fold and of rows


class NearFits:
    """A system that can start from a model of nearly the same rows."""

    @abstractmethod
    def _fit_near(self, X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, model: Self) -> Self | None:
        """Fit as `fit` does, starting from a model of nearly the same rows where that helps; None where it misleads."""

    basis: Any

    def _fit_folds(
        self,
        X: RowsLike,
        y: TargetsLike,
        sample_weight: WeightsLike,
        fold: NDArray[np.intp],
        shared: dict[Any, Any],
        filled_for: FoldFilling | None = None,
    ) -> FoldFits | None:
        """Return fits to all rows and to all but those of each fold (N,); None where a basis learns from the rows.

        `filled_for` fills the gaps of X as they are for a fold.
        """
        if self.basis is not None:
            return None
        model = clone(self).fit(X, y, sample_weight)
        own = (X if filled_for is None else filled_for(k, X) for k in range(fold.max() + 1))
        rows = (without_fold(x, y, sample_weight, fold, k) for k, x in enumerate(own))
        return FoldFits(model, [clone(self)._fit_near(*one, model) for one in rows])


def without_fold(
    X: RowsLike, y: TargetsLike, sample_weight: WeightsLike, fold: NDArray[np.int64], k: int
) -> tuple[Any, Any, Any]:
    """Return rows, targets and weights, where those of fold k count nothing; X is not copied."""
    if isinstance(X, Source):
        return Fold(X, k, fold, held_out=False), y, sample_weight
    kept = (fold != k).astype(np.float64)
    return X, y, kept if sample_weight is None else kept * np.asarray(sample_weight)
