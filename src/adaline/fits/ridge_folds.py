"""The ridge penalty by cross-validation: the error of rows held out, from second moments, or any score of them.

    v(lambda) = E (d + lambda)^-1 E'c,   G = E diag(d) E' of the rows outside a fold

One decomposition a fold serves all penalties. The mean squared error of the rows held out follows from the moments of
the folds; another score takes predictions of these rows, which have to lie in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from adaline.arrays import Array, host
from adaline.errors import InvalidData, SumsMissing
from adaline.solvers.coordinates.quadratics import MomentQuadratics, of_moments
from adaline.sources import Source
from adaline.sources.base import InMemory
from adaline.sources.views import fold_of, in_memory
from adaline.sums import FoldSums, Moments, all_but_one, running

Cells = Callable[[int, int], NDArray[np.int64]]


def part_moments(source: Source, intercept: bool, cells: Cells, parts: int) -> list[Moments]:
    """Return second moments of each part of the rows, in one read; `cells` gives the part of rows first, ...

    `cells` takes the first row and their number, and returns (rows,).
    """
    centred = intercept and not source.sparse
    if parts == 1:
        sums = [source.sum(Moments, centred=centred)]
    else:
        sums = source.sum(FoldSums, cells, of=Moments, centred=centred, folds=parts).parts
    if not all(part.finite for part in sums):
        source.refuse_nonfinite()
    return sums


def without_each(
    parts: list[Moments], source: Source, intercept: bool, why: str
) -> tuple[list[int], Moments, list[Moments]]:
    """Return the folds that have any weight, second moments of all rows, and of those without each fold."""
    present = [k for k, part in enumerate(parts) if part.weight > 0]
    if len(present) < 2:
        raise few_folds(why, source.count_rows())
    parts = [parts[k] for k in present]
    total, others = running(parts)[-1], all_but_one(parts)
    if not total.finite:
        source.refuse_nonfinite()
    if intercept:
        total, others = total.about_mean(), [one.about_mean() for one in others]
    return present, total, others


def few_folds(why: str, rows: int) -> InvalidData:
    """Return what to raise where fewer than two folds have rows."""
    return InvalidData(
        f"{why} needs rows of some weight in at least two folds, and n_samples = {rows}: give the penalty as a number"
    )


class RidgeFolds:
    """Ridge regressions without each fold, under any penalty of columns of unit deviation, or of raw ones.

    Parameters
    ----------
    source : the rows.
    intercept, standardize : whether there is w0, and whether the penalty acts on columns of unit standard deviation.
    folds : their number; rows are in them by their index.
    scoring : None for the mean squared error, a name of scikit-learn's scores, or a function (model, X, y).
    """

    def __init__(self, source: Source, intercept: bool, standardize: bool, folds: int, scoring: Any) -> None:
        self.intercept, self.standardize, self.folds = intercept, standardize, folds
        self.scorer = scoring
        if isinstance(scoring, str):
            from sklearn.metrics import get_scorer  # slow to import, and seldom needed

            self.scorer = get_scorer(scoring)
        self.rows = source
        if self.scorer is not None:
            self.rows = in_memory(source)
            if not isinstance(self.rows, InMemory):
                raise SumsMissing("scoring needs rows in memory: leave it out, or give arrays")
        parts = part_moments(source, intercept, partial(fold_of, folds=folds), folds)
        self.present, self.total, self.others = without_each(parts, source, intercept, "criterion='folds'")

    def errors(self, k: int, penalties: Array) -> Array:
        """Return the mean error of rows held out for target k under each penalty; less is better."""
        quadratics = of_moments(self.total, self.others, k)
        alive = quadratics.scale > 0
        size = np.where(alive, quadratics.deviation if self.standardize else quadratics.scale, 1.0)
        each = []
        for m in range(1, len(quadratics.weight)):
            gram = quadratics.grams[m] / np.outer(size, size)
            values, vectors = np.linalg.eigh(gram)
            values = np.maximum(values, 0.0)
            cross = vectors.T @ (quadratics.c[m] / size)
            v = (vectors @ (cross[:, None] / (values[:, None] + penalties))).T / size
            each.append(self._scores(quadratics, m, k, v) if self.scorer else self._squares(quadratics, m, v))
        weights = quadratics.weight[0] - quadratics.weight[1:]
        if self.scorer:
            return np.asarray(np.mean(each, axis=0))
        return np.asarray(np.sum(each, axis=0) / weights.sum())

    def _squares(self, quadratics: MomentQuadratics, m: int, v: Array) -> Array:
        """Return the sum of squared errors of the rows that quadratic m leaves out, for each row of v."""
        return 2 * quadratics.held_out(m, v, v @ quadratics.grams[m] - quadratics.c[m]) / quadratics.unit**2

    def _scores(self, quadratics: MomentQuadratics, m: int, k: int, v: Array) -> Array:
        """Return minus the score of the rows that quadratic m leaves out, for each row of v."""
        assert self.scorer is not None
        assert isinstance(self.rows, InMemory)
        fold = fold_of(0, self.rows.n_rows, self.folds)
        part: Any = self.rows.take_rows(np.flatnonzero(fold == self.present[m - 1]))
        x, y, weight = part.x, part.read_targets()[:, k], part.read_weights()
        extra = {} if weight is None else {"sample_weight": weight}
        planes = (FoldModel(quadratics.raw(m, one, self.intercept)) for one in v)
        return -np.array([self.scorer(plane, x, y, **extra) for plane in planes])


class FoldModel(RegressorMixin, BaseEstimator):
    """The weights theta (1 + D,), intercept first, as scorers take them."""

    def __init__(self, theta: Any) -> None:
        self.theta = theta
        self.coef_, self.intercept_ = theta[1:], theta[0]

    def fit(self, X: Any, y: Any) -> FoldModel:
        """Return the same: its weights are known."""
        return self

    def predict(self, X: Any) -> Array:
        """Return w'x + w0 of rows (n, D), (n,)."""
        return np.asarray(np.asarray(host(X) @ self.coef_) + self.intercept_)
