"""The problem that solvers of likelihoods and losses see: an objective with its value, gradient and second derivatives.

    F(theta) = sum over rows of weight x loss(w'x + w0, t) + 1/2 sum_j ridge_j w_j^2

theta is (K, 1 + D), intercept first, in the coordinates of a view: columns of about unit spread, about their means
where rows are dense. `to_raw` and `from_raw` map coefficients to raw units and back. Without an intercept its entry
stays zero.

With coupled outputs F does not change when all machines gain the same. Steps never do that, and a term is added to the
matrix of second derivatives that keeps it regular in that direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from adaline import twofold
from adaline.arrays import Array, host, weighted
from adaline.block import Block
from adaline.errors import InvalidData, InvalidParameter
from adaline.locks import cached_property
from adaline.losses import Loss, Squared
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares.dependence import LEAST_SQUARED_PIVOT, Dependence, dependence
from adaline.solvers.least_squares.factor import LEAST_SPREAD
from adaline.sources import Source
from adaline.sources.array import SparseSource
from adaline.sources.base import column_name
from adaline.sources.held import CompactRows
from adaline.sources.runners import each_block
from adaline.sources.sample import draw_rows, select_columns
from adaline.sources.targets import RowTargets
from adaline.sources.views import total_weight
from adaline.sums import CurvatureDiagonal, HessianProduct, Objective, Point, Spread, ThinnedCurvature, Thinning, View
from adaline.sums.objective import margins, row_weights
from adaline.sums.sample import LEAST_SPARSE_COLUMNS
from adaline.twofold import Twofold

# vectors up to which a singular value decomposition is cheap; beyond, a Cholesky factor is tried first
FEW_VECTORS = 32
# singular value of common null directions, relative to the largest, that is rounding; 10x larger cuts more directions
ZERO_SINGULAR_VALUE = 1e-6
BLOCK_NUMBERS, LANES = 2.0**20, 8  # of a block of rows, and partial sums that its rows are added up in
# rows by which the curvature of all rows is estimated; doubling it takes twice as long, for a closer estimate
TYPICAL_ROWS = 4096


class Evaluation(NamedTuple):
    """F at a point: value, gradient (K, 1 + D), second derivatives (K (1 + D), K (1 + D)) where asked for."""

    value: float
    gradient: Array
    hessian: Array | None = None


@dataclass(frozen=True)
class Problem:
    """An objective over the rows of a source.

    Parameters
    ----------
    source : where rows come from.
    loss : what a row costs.
    outputs : number of machines K; one unless the loss couples them.
    intercept : whether w0 is free.
    view : the scale and offset of the columns in which theta is taken.
    ridge : (D,) penalties of the coefficients in the view.
    spread : mean, spread and largest value of the columns.
    weight : sum of the weights of the rows.
    sample : some of the rows, where they were drawn beforehand.
    lightest : the smallest positive weight of a row, where it is known.
    """

    source: Source
    loss: Loss
    outputs: int
    intercept: bool
    view: View
    ridge: Array
    spread: Spread
    weight: float
    sample: Source | None = None
    lightest: float | None = None

    @property
    def features(self) -> int:
        """Number of columns D."""
        return len(self.ridge)

    @property
    def size(self) -> int:
        """Number of coefficients, intercepts included."""
        return self.outputs * (1 + self.features)

    @property
    def penalised(self) -> bool:
        """Whether every coefficient has a ridge penalty, and there is one."""
        return bool(len(self.ridge) and (self.ridge > 0).all())

    @cached_property
    def ridges(self) -> Array:
        """The penalties of all coefficients, (M,): zero for intercepts."""
        return np.tile(np.concatenate([[0.0], self.ridge]), self.outputs)

    def evaluate(self, theta: Array, second: bool = False, regular: bool = True) -> Evaluation:
        """Return F at theta; its value is infinite where it overflows.

        Unless `regular`, the second derivatives of coupled outputs are made regular for the intercepts alone: a penalty
        that is not part of F may ask for steps in which all slopes gain the same.
        """
        evaluation, sums = self._summed(theta, "all" if second else "none")
        return evaluation if sums is None or not second else evaluation._replace(hessian=self._matrix(sums, regular))

    def blocks(self, theta: Array) -> Array | None:
        """Return the second derivatives of each machine alone, (K, 1 + D, 1 + D); None where they overflow."""
        _, sums = self._summed(theta, "alone")
        return None if sums is None else self._with_ridge(sums.hessian)

    def thinned_blocks(self, theta: Array, rows: int, coupling: Array, contrasts: Array) -> Array:
        """Return estimated second derivatives of each machine alone, then of each contrast (A, K) of unit length.

        Each matrix, (1 + D, 1 + D), is from about its `rows` rows of most curvature; `coupling` is that at theta.
        """
        total = np.concatenate([coupling.diagonal(), np.einsum("ak,kl,al->a", contrasts, coupling, contrasts)])
        thinning = Thinning(Point(self.loss, theta, self.view), np.maximum(total, 1e-300) / rows, contrasts)
        alike = not theta[:, 1:].any()  # all rows have the same curvature, and the matrices are multiples of one
        sums = self.source.sum(ThinnedCurvature, thinning, outputs=1 if alike else len(total)).sums
        return self._with_ridge(sums * (total / (total[0] or 1.0))[:, None, None] if alike else sums)

    def coupling(self, theta: Array) -> Array:
        """Return an estimate of the second derivatives (K, K) by the margins, added up over a sample of the rows."""
        sample, point = self.drawn(TYPICAL_ROWS), Point(self.loss, theta, self.view)
        out = np.zeros((self.outputs, self.outputs))
        for block in sample.blocks():
            z = margins(block, point)
            out += self.loss.coupling(z, host(block.t), row_weights(block, z))
        return np.asarray(out / (self.share(sample) or 1.0))

    def _with_ridge(self, blocks: Array) -> Array:
        """Return the matrices of each machine with the penalty added."""
        diagonal = np.arange(1 + self.features)
        if not self.intercept:
            blocks[:, 0, :] = blocks[:, :, 0] = 0.0
        blocks[:, diagonal, diagonal] += np.concatenate([[0.0 if self.intercept else 1.0], self.ridge])
        return blocks

    def _summed(self, theta: Array, second: str) -> tuple[Evaluation, Objective | None]:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self.source.sum(
                Objective,
                Point(self.loss, theta, self.view),
                outputs=self.outputs,
                coupled=self.loss.coupled,
                second=second,
            )
            value = float(sums.value.sum()) + 0.5 * float((self.ridge * theta[:, 1:] ** 2).sum())
        gradient = sums.gradient.copy()
        gradient[:, 1:] += self.ridge * theta[:, 1:]
        gradient[:, 0] *= self.intercept
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return Evaluation(np.inf, gradient), None
        return Evaluation(value, gradient), sums

    def diagonal(self, theta: Array) -> Array:
        """Return the diagonal of the second derivatives at theta, (K, 1 + D)."""
        out = self.source.sum(CurvatureDiagonal, Point(self.loss, theta, self.view), outputs=self.outputs).sums
        out[:, 1:] += self.ridge
        out[:, 0] *= self.intercept
        return out

    def times(self, theta: Array, direction: Array) -> Array:
        """Return the second derivatives at theta times a direction, (K, 1 + D)."""
        point = Point(self.loss, theta, self.view, direction)
        out = self.source.sum(HessianProduct, point, outputs=self.outputs).sums
        out[:, 1:] += self.ridge * direction[:, 1:]
        out[:, 0] *= self.intercept
        return out

    def second_derivatives(self, theta: Array) -> tuple[Callable[[Array], Array], Array]:
        """Return the product of the second derivatives at theta with a direction, and their diagonal, (K, 1 + D).

        Of one output of sparse rows in memory the curvature of each row is kept: products are then the gradients of
        1/2 sum curvature (w'x + w0)^2, which take one output of a row less.
        """
        if self.outputs > 1 or not isinstance(self.source, CompactRows | SparseSource):
            return partial(self.times, theta), self.diagonal(theta)
        curvature, point = np.empty(self.source.n_rows), Point(self.loss, theta, self.view)
        each_block(self.source, partial(_put_curvature, curvature, point), packed=False)
        bent = self.source.retargeted(RowTargets.held(np.zeros((self.source.n_rows, 1)), curvature))
        quadratic = replace(self, source=bent, loss=Squared(), sample=None, lightest=None)
        return lambda direction: quadratic.evaluate(direction).gradient, quadratic.diagonal(theta)

    def penalised_by(self, penalty: RidgePenalty) -> Problem:
        """Return the same objective with another penalty."""
        known = (self.source, self.loss, self.outputs, self.intercept, penalty, self.spread, self.sample, self.lightest)
        return build_problem(*known, self.weight)

    def on(self, source: Source) -> Problem:
        """Return the same objective over some of the rows, with its share of the penalty."""
        share = self.share(source)
        return replace(
            self, source=source, ridge=self.ridge * share, weight=self.weight * share, sample=None, lightest=None
        )

    def drawn(self, rows: int) -> Source:
        """Return a sample of `rows` rows: from the sample drawn beforehand where that has enough, else from all."""
        enough = self.sample is not None and self.sample.n_rows >= min(rows, self.source.n_rows)
        return draw_rows(self.sample if self.sample is not None and enough else self.source, rows)

    def share(self, source: Source) -> float:
        """Return the weight of some of the rows over that of all."""
        return total_weight(source) / self.weight

    def refuse(self) -> NoReturn:
        """Raise where F is not finite: name the row that is not, or say that the start is too far off."""
        if not np.isfinite(self.evaluate(np.zeros((self.outputs, 1 + self.features))).value):
            self.source.refuse_nonfinite()
        raise InvalidParameter("init is so far off that the objective is not a number there: start nearer to zero")

    def of_columns(self, columns: NDArray[np.intp]) -> Problem | None:
        """Return the same objective with all other coefficients zero; None where rows do not lie in memory."""
        source = select_columns(self.source, columns)
        if source is None:
            return None
        return replace(
            self,
            source=source,
            view=View(self.view.scale[columns], self.view.offset[columns]),
            ridge=self.ridge[columns],
            spread=self.spread.of_columns(columns),
            sample=None,
        )

    def to_raw(self, theta: Array) -> Array:
        """Return coefficients in raw units."""
        slopes = theta[:, 1:] * self.view.scale
        constant = theta[:, :1] + theta[:, 1:] @ self.view.offset[:, None]
        out = np.concatenate([constant * self.intercept, slopes], axis=1)
        if not np.isfinite(out).all():
            column = int(np.argwhere(~np.isfinite(out))[0, 1]) - 1
            raise InvalidData(
                f"the coefficient of column {column_name(self.source, column)!r} overflows: the column is too small "
                "for float64. Rescale it."
            )
        return np.asarray(out)

    def to_scaled(self, theta: Array) -> Twofold:
        """Return coefficients of raw columns times the scales of the view, (K, 1 + D), in double-double."""
        hi, lo = theta.copy(), np.zeros_like(theta)
        terms = twofold.two_prod(theta[:, 1:].T, self.view.offset[:, None])
        first = np.concatenate([theta[None, :, 0], terms[0]]), np.concatenate([lo[None, :, 0], terms[1]])
        hi[:, 0], lo[:, 0] = (part * self.intercept for part in twofold.sum_rows(*first))
        return Twofold(hi, lo)

    def root_to_raw(self, root: Array) -> Array:
        """Return a root (K, 1 + D, M) of the covariance of coefficients in the view as one in raw units."""
        root[:, 0] += np.einsum("j,kjm->km", self.view.offset, root[:, 1:]) * self.intercept
        with np.errstate(over="ignore"):
            root[:, 1:] *= self.view.scale[:, None]
        return root

    def errors_to_raw(self, error: Array) -> Array:
        """Return bounds (K, 1 + D) on the errors of coefficients in raw units from those in the view."""
        out = error * np.concatenate([[1.0], self.view.scale])
        out[:, 0] = (out[:, 0] + error[:, 1:] @ np.abs(self.view.offset)) * self.intercept
        return np.asarray(out)

    @property
    def lengths(self) -> Array:
        """Root mean squares of the raw columns, (D,)."""
        return self.spread.root

    def from_raw(self, theta: Array) -> Array:
        """Return coefficients in the view from those in raw units."""
        scale = self.view.scale
        slopes = np.divide(theta[:, 1:], scale, out=np.zeros_like(theta[:, 1:]), where=scale > 0)
        constant = theta[:, :1] - slopes @ self.view.offset[:, None]
        return np.asarray(np.concatenate([constant * self.intercept, slopes], axis=1))

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns (D,) are constant, and zero in the view: the intercept takes their part."""
        return np.asarray(self.view.scale == 0)

    def dependence(self, null: Array) -> Dependence:
        """Return the combinations among the columns, given directions (K (1 + D), A) along which no output changes.

        It takes as long as D^3 multiplications: ask once.
        """
        scale = self.view.scale
        slopes = (
            null.reshape(self.outputs, 1 + self.features, -1)[:, 1:].transpose(1, 0, 2) * (scale > 0)[:, None, None]
        )
        basis = slopes.reshape(self.features, slopes.shape[1] * slopes.shape[2])
        if not _clearly_independent(basis):
            basis, size, _ = np.linalg.svd(basis, full_matrices=False)
            basis = basis[:, size > ZERO_SINGULAR_VALUE * size.max(initial=0.0)]
        width = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return dependence(basis, width, self.spread.mean if self.intercept else None, LEAST_SQUARED_PIVOT)

    def largest_curvature(self) -> Array:
        """Return a bound on the second derivative by each coefficient, (1 + D,); zero where the loss has none."""
        if not np.isfinite(self.loss.steepest):
            return np.zeros(1 + self.features)
        view, spread = self.view, self.spread
        squares = (view.scale * spread.deviation) ** 2 + (view.scale * spread.mean + view.offset) ** 2
        second = spread.weight * squares
        return np.concatenate([[spread.weight * self.intercept], second]) * self.loss.steepest

    def steepness(self, gradient: Array) -> float:
        """Return the largest absolute derivative, for columns of unit standard deviation."""
        size = self.view.scale * (self.spread.deviation if self.intercept else self.spread.root)
        with np.errstate(divide="ignore", invalid="ignore"):
            standard = np.where(size > 0, gradient[:, 1:] / size, 0.0)
        return float(max(np.abs(gradient[:, 0]).max(), np.abs(standard).max(initial=0.0)))

    def shortened(self, theta: Array, step: Array, evaluation: Evaluation) -> Array | None:
        """Return a step to take instead of Newton's where that is too long to be trusted; None where it is not."""
        return None

    def bound_rows(self, root: float) -> float:
        """Return a bound on the length of any row (1, v) in a metric, given the norm of a root of its inverse."""
        return self._longest_row * root

    @cached_property
    def _longest_row(self) -> float:
        furthest = np.abs(self.view.offset) + self.spread.largest * self.view.scale
        return math.sqrt(self.intercept + float((furthest**2).sum()))

    def _matrix(self, sums: Objective, regular: bool) -> Array:
        k, side = self.outputs, 1 + self.features
        matrix = sums.hessian.reshape(self.size, self.size) if k == 1 else sums.hessian
        diagonal = np.arange(self.size)
        matrix[diagonal, diagonal] += self.ridges
        if self.loss.coupled:
            typical = matrix[diagonal, diagonal].reshape(k, side).mean(axis=0)
            for j in range(side if regular else 1):
                matrix[j::side, j::side] += typical[j] / k
        if not self.intercept:
            matrix[::side, :] = 0.0
            matrix[:, ::side] = 0.0
            matrix[diagonal[::side], diagonal[::side]] = 1.0
        return matrix


def summing_error(problem: Problem) -> float:
    """Return the rounding of a sum over the rows as a share of the sum of the sizes of its terms.

    Rows of a block are added up in LANES partial sums, whose errors are as likely up as down, and blocks in a tree.
    """
    lane = min(problem.source.n_rows, BLOCK_NUMBERS / (1 + problem.features)) / LANES
    return 2.0**-53 * (32 + math.sqrt(lane))


def _put_curvature(out: Array, point: Point, block: Block) -> None:
    """Put the weighted second derivative of the loss of each row by its only output in its place of (N,)."""
    z = margins(block, point)
    curvature = weighted(row_weights(block, z), point.loss.curvature(z, block.t))
    out[block.first_row : block.first_row + block.rows] = curvature[:, 0]


def _clearly_independent(vectors: Array) -> bool:
    """Whether many vectors, the columns of (D, A), are clearly independent, by a Cholesky factor.

    Of few, the singular value decomposition that would tell it exactly costs nothing.
    """
    d, count = vectors.shape
    if not FEW_VECTORS < count <= d:
        return False
    gram = vectors.T @ vectors
    gram[np.arange(count), np.arange(count)] -= ZERO_SINGULAR_VALUE * gram.diagonal().max()
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def column_spread(source: Source) -> Spread:
    """Return the spread of the columns, in one pass; refuse numbers that are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return check_spread(source.sum(Spread), source)


def check_spread(spread: Spread, source: Source) -> Spread:
    """Return the spread of a source, taken again where columns are extreme; refuse numbers that are not finite."""
    if spread.extreme:
        with np.errstate(over="ignore", invalid="ignore"):
            spread = source.sum(Spread, exponent=np.frexp(spread.top)[1].astype(np.float64))
    if not spread.finite:
        source.refuse_nonfinite()
    return spread


def varying_columns(spread: Spread) -> NDArray[np.bool_]:
    """Return which columns (D,) vary by more than rounding: one of 0.1 + 0.2 and 0.3 does not."""
    return np.asarray(spread.deviation > LEAST_SPREAD * np.abs(spread.mean))


def build_problem(
    source: Source,
    loss: Loss,
    outputs: int,
    intercept: bool,
    penalty: RidgePenalty,
    spread: Spread | None = None,
    sample: Source | None = None,
    lightest: float | None = None,
    weight: float | None = None,
) -> Problem:
    """Return the problem of a source, in the view of its columns; one pass where their spread is not given.

    `weight` is the sum of the weights of the rows, where the spread is of others too.
    """
    spread = column_spread(source) if spread is None else spread
    weight = spread.weight if weight is None else weight
    view, ridge = _view_of(spread, intercept, source.sparse, penalty)
    return Problem(source, loss, outputs, intercept, view, ridge, spread, weight, sample, lightest)


def _view_of(spread: Spread, intercept: bool, sparse: bool, penalty: RidgePenalty) -> tuple[View, Array]:
    """Return the view of columns, and their penalties in it, (D,)."""
    centred: Any = intercept and not sparse
    if (
        intercept and sparse and len(spread.first) >= LEAST_SPARSE_COLUMNS
    ):  # few columns are far from zero, and ids never are
        centred = np.abs(spread.mean) > spread.deviation
    size = np.where(centred, spread.deviation, spread.root)
    size = np.where(size > 0, size, np.where(spread.largest > 0, spread.largest, 1.0))
    exponent = np.clip(np.frexp(size)[1].astype(np.int64), -1022, 1022)  # neither scale nor its inverse may overflow
    scale = np.where(varying_columns(spread) if intercept else spread.largest > 0, np.ldexp(1.0, -exponent), 0.0)
    offset = np.where(centred, -spread.mean * scale, 0.0) if np.any(centred) else np.zeros(len(scale))
    return View(scale, offset), penalty.scaled(exponent)
