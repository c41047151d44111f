"""The ridge penalty by cross-validation: the error of rows held out, from second moments, or any score of them.

    v(lambda) = E (d + lambda)^-1 E'c,   G = E diag(d) E' of the rows outside a fold

One decomposition per fold serves all penalties. The mean squared error of the held-out rows follows from the moments of
the folds; any other score needs predictions of these rows, which must be in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, RowsLike, TargetsLike, ThetaLike, host
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.estimator import BaseEstimator, RegressorMixin
from adaline.fitted import AnyModel
from adaline.lazy import sklearn
from adaline.solvers.coordinates.quadratics import MomentQuadratics, of_moments
from adaline.sources import Source
from adaline.sources.base import InMemory
from adaline.sources.views import assign_folds, fold_of, in_memory
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
    """Return the error for fewer than two folds with rows."""
    return InvalidData(
        f"{why} needs rows of some weight in at least two folds, and n_samples = {rows}: give the penalty as a number"
    )


class RidgeFolds:
    """Ridge regressions without each fold, under any penalty of columns of unit deviation, or of raw ones.

    Parameters
    ----------
    source : the rows.
    intercept, standardize : whether there is w0, and whether the penalty acts on columns of unit standard deviation.
    folds : their number; rows are in them by their index, and where a score judges labels, class by class.
    scoring : None for the mean squared error, a name of scikit-learn's scores, or a function (model, X, y).
    rows, model : the rows to score, where they are not those of `source`, and what makes a model of weights (T, 1 + D),
        and what it has to predict of the targets (n, T) of rows; by default that of a single target.
    """

    def __init__(
        self,
        source: Source,
        intercept: bool,
        standardize: bool,
        folds: int,
        scoring: Any,
        rows: Source | None = None,
        model: Callable[[Array, Array], tuple[Any, Any]] | None = None,
    ) -> None:
        self.intercept, self.standardize, self.folds = intercept, standardize, folds
        self.scoring, self.scorer, self.model = scoring, scoring, model
        if isinstance(scoring, str):
            self.scorer = sklearn.metrics.get_scorer(scoring)
        self.rows = source if rows is None else rows
        if self.scorer is not None:
            self.rows = in_memory(self.rows)
            if not isinstance(self.rows, InMemory):
                raise SumsMissing("scoring needs rows in memory: leave it out, or give arrays")
            self.fold = self._dealt()
        cells = partial(fold_of, folds=folds) if self.scorer is None else lambda first, rows: self.fold[first:][:rows]
        parts = part_moments(source, intercept, cells, folds)
        self.present, self.total, self.others = without_each(parts, source, intercept, "criterion='folds'")

    def errors(self, targets: Sequence[int], penalties: Array) -> Array:
        """Return the mean error of rows held out for some targets together, under each penalty; less is better."""
        every = [of_moments(self.total, self.others, k) for k in targets]
        first = every[0]
        alive = first.scale > 0
        size = np.where(alive, first.deviation if self.standardize else first.scale, 1.0)
        each = []
        for m in range(1, len(first.weight)):
            values, vectors = np.linalg.eigh(first.grams[m] / np.outer(size, size))
            shrunk = np.maximum(values, 0.0)[:, None] + penalties
            planes = [(vectors @ ((vectors.T @ (one.c[m] / size))[:, None] / shrunk)).T / size for one in every]
            if self.scorer:
                theta = [[one.raw(m, w, self.intercept) for w in v] for one, v in zip(every, planes, strict=True)]
                each.append(self._scores(m, np.stack(theta, axis=1), targets))
            else:
                each.append(np.sum([_squares(one, m, v) for one, v in zip(every, planes, strict=True)], axis=0))
        weights = first.weight[0] - first.weight[1:]
        return np.asarray(np.mean(each, axis=0) if self.scorer else np.sum(each, axis=0) / weights.sum())

    def _dealt(self) -> NDArray[np.int64]:
        """Return the fold of each row, (N,)."""
        n, weight = self.rows.count_rows(), self.rows.read_weights()
        if self.model is None:
            return fold_of(0, n, self.folds)
        labels = self.rows.read_targets()[:, 0]
        return assign_folds(n, self.folds, 0, labels if weight is None else np.where(host(weight) > 0, labels, -1))

    def _scores(self, m: int, theta: Array, targets: Sequence[int]) -> Array:
        """Return minus the score of the rows that fold m leaves out, for each of the weights theta (P, T, 1 + D)."""
        assert self.scorer is not None
        assert isinstance(self.rows, InMemory)
        number = self.present[m - 1]
        part: Any = self.rows.take_rows(np.flatnonzero(self.fold == number))
        x, t, weight = part.x, part.read_targets(), part.read_weights()
        extra = {} if weight is None else {"sample_weight": weight}
        found = []
        for one in theta:
            model, y = (FoldModel(one[0]), t[:, targets[0]]) if self.model is None else self.model(one, t)
            found.append(-self._score(model, x, y, extra))
        if not np.isfinite(found).all():
            wrong = -found[int(np.argmin(np.isfinite(found)))]
            raise InvalidParameter(
                f"scoring is {wrong} on fold {number}: use fewer folds, so that each has rows of every kind, or "
                "another scoring"
            )
        return np.array(found)

    def _score(self, model: AnyModel, x: AnyArray, y: TargetsLike, extra: dict[str, Any]) -> float:
        try:
            return float(self.scorer(model, x, y, **extra))
        except (ValueError, TypeError, AttributeError) as error:
            named = f"scoring={self.scoring!r}" if isinstance(self.scoring, str) else "scoring"
            raise InvalidParameter(f"{named} cannot judge this model: {error}") from error


def _squares(quadratics: MomentQuadratics, m: int, v: Array) -> Array:
    """Return the sum of squared errors of the rows that quadratic m leaves out, for each row of v."""
    return 2 * quadratics.held_out(m, v, v @ quadratics.grams[m] - quadratics.c[m]) / quadratics.unit**2


class FoldModel(RegressorMixin, BaseEstimator):
    """The weights theta (1 + D,), intercept first, as scorers take them."""

    def __init__(self, theta: ThetaLike) -> None:
        self.theta = theta
        self.coef_, self.intercept_ = theta[1:], theta[0]

    def fit(self, X: RowsLike, y: TargetsLike) -> FoldModel:
        """Return the same: its weights are known."""
        return self

    def predict(self, X: RowsLike) -> Array:
        """Return w'x + w0 of rows (n, D), (n,)."""
        return np.asarray(np.asarray(host(X) @ self.coef_) + self.intercept_)
