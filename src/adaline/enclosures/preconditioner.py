"""A matrix T with a proof that || I - T'(X'WX + P)T || <= alpha < 1, where X = [1 x] and P has the penalties.

Then X'WX + P is not singular, and the solution is unique. T is a product of affine maps of the rows,

    a = (v - m) Q,   v = x 2^-e,

whose numbers m and Q are exact by definition. The last map comes from Cholesky factors of moments in float64 with a
proven bound. If the condition is too large for that, the rows are first mapped by the triangle of their QR
decomposition: the moments of nearly orthonormal rows are known well, so the condition enters only once, through the
rounding of the map, and is not squared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy

from adaline import twofold
from adaline.arrays import Array
from adaline.enclosures.rounding import OUTWARDS, ROUNDING, TINY, UNDERFLOW, gamma, length, rows_length
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares.choose import read_moments
from adaline.solvers.least_squares.factor import CholeskyFactor, triangle_factor
from adaline.sources import Source
from adaline.sources.threads import one_blas_thread
from adaline.sums import LinkedPoint, Mapped, Moments, RowMap, Triangle

# || I - T'(X'WX + P)T || up to which the moments of the rows suffice; 30x larger may take one more pass to refine
SMALL_DEFECT = 2.0**-10


class Stage(NamedTuple):
    """The map a = (v - m) Q of rows: m (D,) and Q (D, D)."""

    shift: Array
    matrix: Array


class Pulled(NamedTuple):
    """T'g for each target, (K, 1 + D), and bounds on its errors."""

    values: Array
    error: Array


class Pushed(NamedTuple):
    """T y for each target, (K, 1 + D), and bounds on its rounding errors."""

    values: Array
    error: Array


@dataclass(frozen=True)
class RowSizes:
    """Upper bounds on what rows are made of, scaled by 2^-exponent.

    Parameters
    ----------
    exponent : (D + K,) powers of two of the columns and the targets.
    columns : (1 + D,) root sums of weighted squares of the ones and the columns, about zero.
    targets : (K,) those of the targets.
    rows : number of rows.
    """

    exponent: Array
    columns: Array
    targets: Array
    rows: int

    @property
    def targets_exponent(self) -> Array:
        """The powers of two of the outputs, (K,): of one output that is not scaled, zero."""
        own = self.exponent[len(self.columns) - 1 :]
        return own if len(own) else np.zeros(1)


@dataclass(frozen=True)
class Preconditioner:
    """T, and the proof.

    Parameters
    ----------
    stages : the maps, one after the other; their last columns are the slopes of T.
    constant : the first entry of T, 1/sqrt(W), or 0 without an intercept.
    defect : alpha.
    """

    stages: tuple[Stage, ...]
    constant: float
    defect: float

    def pull(self, hi: Array, lo: Array, error: Array) -> Pulled:
        """Return T'g, for g = hi + lo (K, 1 + D), of which `error` bounds the errors."""
        begun, *others = self.stages
        first = hi[:, 0]
        away = twofold.multiply(first[:, None], lo[:, :1], -begun.shift, np.zeros_like(begun.shift))
        rest = twofold.add(hi[:, 1:], lo[:, 1:], *away)[0]
        wrong = error[:, 1:] + np.abs(begun.shift) * error[:, :1]
        wrong += 2 * ROUNDING * np.abs(rest) + 32 * ROUNDING**2 * (np.abs(hi[:, 1:]) + np.abs(away[0])) + TINY
        values, wrong = _through(rest, wrong, begun.matrix)
        for stage in others:
            moved = values - first[:, None] * stage.shift
            wrong += np.abs(stage.shift) * error[:, :1]
            wrong += 8 * ROUNDING * (np.abs(values) + np.abs(first[:, None] * stage.shift)) + TINY
            values, wrong = _through(moved, wrong, stage.matrix)
        start = self.constant * first
        own = self.constant * error[:, 0] + 4 * ROUNDING * np.abs(start) + TINY * bool(self.constant)
        return Pulled(np.column_stack([start, values]), OUTWARDS * np.column_stack([own, wrong]))

    def push(self, y: Array) -> Pushed:
        """Return T y."""
        values, wrong = y[:, 1:], np.zeros_like(y[:, 1:])
        first, lost = self.constant * y[:, 0], 2 * ROUNDING * np.abs(self.constant * y[:, 0])
        for stage in reversed(self.stages):
            values, wrong = _through(values, wrong, stage.matrix.T)
            first = first - values @ stage.shift
            lost = lost + wrong @ np.abs(stage.shift)
            lost += gamma(len(stage.shift) + 4) * (np.abs(first) + np.abs(values) @ np.abs(stage.shift))
        if not self.constant:
            first, lost = np.zeros_like(first), np.zeros_like(lost)
        return Pushed(np.column_stack([first, values]), OUTWARDS * np.column_stack([lost + TINY, wrong + TINY]))

    def row_lengths(self) -> Array:
        """Return upper bounds (1 + D,) on the lengths of the rows of T."""
        size = len(self.stages[0].shift)
        rows, bound = np.eye(size), np.eye(size)
        first, share = np.zeros(size), np.zeros(size)
        for stage in self.stages:
            rows, bound = rows @ stage.matrix, bound @ np.abs(stage.matrix)
            first = (first - stage.shift) @ stage.matrix
            share = (share + np.abs(stage.shift)) @ np.abs(stage.matrix)
        lost = gamma(len(self.stages) * (size + 4))
        slopes = rows_length(rows) + lost * rows_length(bound)
        if not self.constant:
            return np.append(0.0, OUTWARDS * slopes + TINY)
        start = np.hypot(self.constant, length(first) + lost * length(share))
        return np.asarray(OUTWARDS * np.append(start, slopes) + TINY)

    def pulled_lengths(self, v: Array) -> Array:
        """Return upper bounds (n,) on the lengths of T'v of rows v (n, 1 + D), scaled, the constant first."""
        rows, wrong = self.mapped(v)
        return np.asarray(OUTWARDS * (rows_length(rows) + wrong) + TINY)

    def mapped(self, v: Array) -> tuple[Array, Array]:
        """Return T'v of rows v (n, 1 + D), scaled, the constant first, and bounds (n,) on the lengths of its errors."""
        ones, values, wrong = np.abs(v[:, 0]), v[:, 1:], np.zeros(len(v))
        for stage in self.stages:
            size = np.abs(values) @ rows_length(stage.matrix) + ones * float(
                np.abs(stage.shift) @ rows_length(stage.matrix)
            )
            wrong = wrong * length(stage.matrix) + gamma(len(stage.shift) + 6) * size
            values = (values - stage.shift * v[:, :1]) @ stage.matrix
        start = self.constant * v[:, 0]
        return np.column_stack([start, values]), np.asarray(OUTWARDS * (wrong + 2 * ROUNDING * np.abs(start)) + TINY)


def _through(values: Array, wrong: Array, matrix: Array) -> tuple[Array, Array]:
    """Return values (K, D) times a matrix, and bounds on the errors of the products."""
    size = np.abs(matrix)
    return values @ matrix, wrong @ size + gamma(len(matrix) + 2) * (np.abs(values) @ size) + TINY


class _Bounded(NamedTuple):
    """Moments of rows as far as they are known: |S - second| <= error error', |mean - shift| sqrt(W) <= away."""

    second: Array
    error: Array
    shift: Array
    away: Array

    @classmethod
    def of(cls, moments: Moments, weighted: bool) -> _Bounded:
        """Return the moments of all columns, scaled, with their bounds."""
        diagonal, weight = moments.second.diagonal(), moments.weight
        lost = 4 * moments.rows * ROUNDING if weighted else 0.0  # what rounding does to sums of weights
        square = np.maximum(moments.bound, ROUNDING * diagonal)
        underflow = moments.rows * UNDERFLOW
        error = OUTWARDS * np.sqrt(square + lost * diagonal + underflow)
        if not moments.centred:
            none = np.zeros(moments.columns)
            return cls(moments.second, error, none, none)
        powers = -moments.exponent.astype(np.int64)
        units = max(moments.excess, 1.0) * 8
        away = np.sqrt(units * ROUNDING * square) + lost * np.sqrt(diagonal)
        away += np.sqrt(weight) * np.abs(np.ldexp(moments.first_lo, powers))
        away += np.sqrt(underflow)
        return cls(moments.second, error, np.ldexp(moments.first_hi, powers), OUTWARDS * away)

    def columns(self, d: int) -> _Bounded:
        """Return those of the first d columns."""
        return _Bounded(self.second[:d, :d], self.error[:d], self.shift[:d], self.away[:d])

    def spread(self) -> Array:
        """Return upper bounds on the root sums of squares about the shift."""
        return np.asarray(OUTWARDS * (np.sqrt(self.second.diagonal() + self.error**2) + self.away))


class _Penalties(NamedTuple):
    """Penalties of mapped coefficients (D, D), and e (D,) with |error_ij| <= e_i e_j."""

    matrix: Array
    error: Array

    @classmethod
    def of(cls, scaled: Array, matrix: Array) -> _Penalties:
        """Return Q'PQ of penalties P (D,) that are off by a few units."""
        root = np.sqrt(scaled @ matrix**2)
        lost = gamma(len(scaled) + 8)
        return cls((matrix.T * scaled) @ matrix, OUTWARDS * np.sqrt(lost) * root + TINY)


def scaled_penalties(penalty: RidgePenalty, exponent: Array) -> tuple[Array, Array]:
    """Return the penalties (D,) of the coefficients of columns times 2^-exponent, as hi and lo."""
    unit = np.ldexp(penalty.unit, -exponent[: len(penalty.unit)].astype(np.int64))
    square = twofold.two_prod(unit, unit)
    return twofold.multiply(*square, np.full(len(unit), float(penalty.value)), np.zeros(len(unit)))


@np.errstate(all="ignore")
def precondition(
    source: Source, intercept: bool, penalty: RidgePenalty, point: LinkedPoint | None = None
) -> tuple[Preconditioner | None, RowSizes, Array]:
    """Return T with its proof, or None where none was found, and the sizes of the rows; one to three passes.

    At a point of a likelihood rows are weighted by the curvature there, and -gradient (1 + D,), raw, is returned too.
    """
    if point is None:
        design = Mapped(read_moments(source, intercept), np.zeros(1 + source.shape.features))
    else:
        design = source.sum(Mapped, RowMap(point=point), centred=intercept)
    moments, d = design.moments, source.shape.features
    known = _Bounded.of(moments, _weighted(source, point))
    spread = known.spread()
    root = np.sqrt(moments.weight) * (1 + 4 * moments.rows * ROUNDING)
    whole = OUTWARDS * (spread + root * np.abs(known.shift))
    sizes = RowSizes(moments.exponent, np.append(root, whole[:d]), whole[d:], moments.rows)
    if not (moments.finite and moments.weight > 0):
        return None, sizes, design.gradient
    problem = _Problem(moments, intercept, _weighted(source, point), design.margin)
    pull = scaled_penalties(penalty, moments.exponent)[0]
    with one_blas_thread():
        first = _proved(problem, known.columns(d), _Penalties.of(pull, np.eye(d)), np.zeros(d), ())
    if (first is not None and first.defect <= SMALL_DEFECT) or d == 0:
        return first, sizes, design.gradient
    second = _by_triangle(source, problem, penalty, spread[:d], point)
    found = [one for one in (first, second) if one is not None]
    return min(found, key=lambda one: one.defect, default=None), sizes, design.gradient


def _weighted(source: Source, point: LinkedPoint | None) -> bool:
    return source.targets.weighted or point is not None


class _Problem(NamedTuple):
    """Moments of the rows, and what is known of their weights; `margin` bounds the relative error of these."""

    moments: Moments
    intercept: bool
    weighted: bool
    margin: float


def _by_triangle(
    source: Source, problem: _Problem, penalty: RidgePenalty, spread: Array, point: LinkedPoint | None
) -> Preconditioner | None:
    """Return T by way of rows that are mapped by their triangle; two passes."""
    moments, intercept = problem.moments, problem.intercept
    triangle = source.sum(Triangle, centred=intercept)
    d = moments.shape.features
    try:
        factor = triangle_factor(triangle, d, moments.weight, penalty, False)[0]
    except np.linalg.LinAlgError:  # a penalty overflows in the units of the columns
        return None
    if not isinstance(factor, CholeskyFactor) or not factor.alive.all():
        return None
    change = (factor.scaling.scale - moments.exponent[:d]).astype(np.int64)
    shift = np.ldexp(factor.scaling.scaled_mean(), change) if intercept else np.zeros(d)
    matrix = np.ldexp(factor.half_scaled(np.ones(d)), -change[:, None])
    if not (np.isfinite(shift).all() and np.isfinite(matrix).all()):
        return None
    mapped = source.sum(Mapped, RowMap(moments.exponent, shift, matrix, point), centred=intercept)
    known = _Bounded.of(mapped.moments, problem.weighted)
    powers = mapped.moments.exponent.astype(np.int64)
    second = np.ldexp(known.second, powers[:, None] + powers)
    known = _Bounded(second, *(np.ldexp(one, powers) for one in known[1:]))
    about = OUTWARDS * (spread + np.sqrt(moments.weight) * np.abs(shift - moments_mean(moments)[:d]) * intercept)
    rounded = OUTWARDS * gamma(d + 3) * (about @ np.abs(matrix)) + TINY
    pull = scaled_penalties(penalty, moments.exponent)[0]
    with one_blas_thread():
        return _proved(problem, known, _Penalties.of(pull, matrix), rounded, (Stage(shift, matrix),))


def moments_mean(moments: Moments) -> Array:
    """Return the means of the columns, scaled."""
    return np.ldexp(moments.first_hi, -moments.exponent.astype(np.int64))


def _proved(
    problem: _Problem, known: _Bounded, penalties: _Penalties, rounded: Array, before: tuple[Stage, ...]
) -> Preconditioner | None:
    """Return T whose last stage is the inverse Cholesky factor of the moments; None where that proves nothing.

    `rounded` (D,) bounds the root sums of squares of what rounding did to the rows that the moments are of.
    """
    d = len(known.second)
    second = known.second + penalties.matrix
    diagonal = second.diagonal()
    if not (np.isfinite(second).all() and (diagonal > 0).all()):
        return None
    down = 1 / np.sqrt(diagonal)
    factor, info = scipy.linalg.lapack.dpotrf(second * np.outer(down, down), lower=0)
    if info:
        return None
    matrix = down[:, None] * scipy.linalg.lapack.dtrtri(factor)[0]
    size = np.abs(matrix)
    near = matrix.T @ second @ matrix
    far = partial(np.matmul, size.T)
    defect = length(np.eye(d) - near) + gamma(2 * d + 8) * (length(far(np.abs(second)) @ size) + d)
    defect += length(far(known.error)) ** 2 + length(far(penalties.error)) ** 2
    constant = 0.0
    if problem.intercept:
        constant = 1 / float(np.sqrt(problem.moments.weight))
        away = length(far(known.away))
        defect += 8 * ROUNDING + 4 * problem.moments.rows * ROUNDING * problem.weighted + (1 + away) * away
    defect = OUTWARDS * (defect + problem.margin * (1 + defect))
    wrong = length(far(rounded))
    defect = float(OUTWARDS * (defect + 2 * np.sqrt(1 + defect) * wrong + wrong**2) + TINY)
    if not defect < 1:
        return None
    return Preconditioner((*before, Stage(known.shift, matrix)), constant, defect)
