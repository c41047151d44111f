"""Factors of the penalised, centred second moments: what direct solvers, refinement and inference share.

    S + P = L C L,   L = diag(length), C with unit diagonal (equilibrated)

with P the penalties. C = R'R, by Cholesky of the Gram matrix or from the triangle (QR), or C = V diag(s^2) V' where it
is numerically singular. A factor has two methods: `solve(g)` = (S + P)^-1 g, and `half(b)`, whose squared row norms are
b'(S + P)^-1 b (standard errors, leverages). All vectors are in scaled coordinates: column j times 2^-exponent[j].

Columns that do not vary about their mean, or by rounding alone, are dead: they take no part and their coefficients are
zero. A direction is cut off where rounding of the sums, or of the raw columns themselves, could have made it; `decided`
says whether that is certain. The solution is then the one of minimum norm in raw units, the intercept left out.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.block import Shape
from adaline.forms import Count, Finite, FiniteNumber, Positive, Size, Truths
from adaline.kernels import native
from adaline.locks import cached_property
from adaline.penalties import RidgePenalty
from adaline.solvers import lapack
from adaline.solvers.least_squares.dependence import Dependence, dependence, echelon, independent
from adaline.sources.threads import one_blas_thread
from adaline.sums import Moments, Triangle
from adaline.sums.moments import ROUNDING

Mask = NDArray[np.bool_]

EPS = 2 * ROUNDING
# spread over mean up to which a column is constant; 10x larger leaves out nearly constant columns
LEAST_SPREAD = 4 * EPS
CLEAN, CLEAN_CONDITION = 256 * EPS, 1e3  # entries of null vectors that are rounding, for good conditions
# powers of two between the units of dependent columns beyond which their null vectors are graded; larger loses digits
MOST_UNIT_RANGE = 13.0
# columns up to which the condition is computed from eigenvalues; doubling it takes 8 times as long
MOST_EIGEN_COLUMNS = 32


@dataclass(eq=False)
class ColumnScaling:
    """How the columns [x t] are scaled: by 2^-exponent, about their means.

    Parameters
    ----------
    features : D, the first columns; targets follow.
    weight : sum of the weights of the rows.
    intercept : whether columns are taken about their means.
    mean_hi, mean_lo : (D + K,) means in raw units as hi + lo; zero without an intercept.
    exponent : (D + K,) powers of two near the spread of each column.
    """

    features: Annotated[int, Size("D")]
    weight: FiniteNumber
    intercept: bool
    mean_hi: Annotated[Array, Finite("Z")]
    mean_lo: Annotated[Array, Finite("Z")]
    exponent: Annotated[Array, Finite("Z")]

    @cached_property
    def powers(self) -> NDArray[np.int64]:
        """Exponents (D + K,) as whole numbers."""
        return self.exponent.astype(np.int64)

    @cached_property
    def scale(self) -> NDArray[np.int64]:
        """Exponents of the features, as whole numbers."""
        return self.powers[: self.features]

    @property
    def target_scale(self) -> NDArray[np.int64]:
        """Exponents of the targets, as whole numbers."""
        return self.powers[self.features :]

    @cached_property
    def scaled_means(self) -> tuple[Array, Array]:
        """The means (D + K,) in scaled coordinates, hi and lo."""
        return np.ldexp(self.mean_hi, -self.powers), np.ldexp(self.mean_lo, -self.powers)

    def scaled_mean(self) -> Array:
        """Return the means of the features in scaled coordinates, (D,)."""
        return self.scaled_means[0][: self.features]


@dataclass(eq=False)
class Factor:
    """A factored S + P.

    Parameters
    ----------
    scaling, length : of the columns; length is (D,).
    alive : (D,) which columns vary.
    condition : square root of the condition of C, which is that of the design.
    rank : number of directions that are not cut off.
    contraction : a-priori bound on the share of the error that one step of refinement leaves.
    decided : whether the rank is certain: no direction was cut off that may be more than rounding of the input.
    """

    scaling: ColumnScaling
    length: Annotated[Array, Positive("D")]
    alive: Annotated[Mask, Truths("D")]
    condition: float
    rank: Count
    contraction: float
    decided: bool

    @cached_property
    def down(self) -> Array:
        """One over the length of each column that varies, (D,); zero of the others."""
        return np.asarray(self.alive / self.length)

    @cached_property
    def lengths(self) -> Array:
        """The lengths of the constant and the columns, (1 + D,)."""
        out = np.empty(1 + len(self.length))
        out[0] = math.sqrt(self.scaling.weight)
        out[1:] = self.length
        return out

    @abstractmethod
    def half(self, b: Array) -> Array:
        """Return rows h, (m, r), with h h' = b (S + P)^-1 b'."""

    @abstractmethod
    def solve(self, g: Array) -> Array:
        """Return rows (S + P)^-1 g, (m, D)."""

    @property
    def varying(self) -> int:
        """Number of columns that vary about their mean: the rank where all of them are independent."""
        return int(self.alive.sum())

    @property
    def dependence(self) -> Dependence:
        """The combinations among the columns: here none."""
        return independent(~self.alive)

    def aliased(self) -> list[int]:
        """Return the indices of columns that are constant or linear combinations of those before them."""
        return sorted(map(int, (*np.flatnonzero(self.dependence.constant), *self.dependence.left_out)))

    @abstractmethod
    def log_determinant(self) -> float:
        """Return ln |S + P| in raw units, of the directions kept."""

    def undetermined(self, b: Array) -> Array:
        """Return the share of each row b, (m,), that the rows do not determine: here that of the dead columns."""
        return _share(b / self.length, b * ~self.alive)

    def untestable(self, b: Array) -> Array:
        """Return the share of each combination b of the coefficients, (m,), that is not a coefficient of this model."""
        return self.undetermined(b)

    def half_scaled(self, scale: Array) -> Array:
        """Return `half` of the unit vectors, each times its scale: row i is `half(scale_i e_i)`."""
        return self.half(np.diag(scale))

    def basis(self) -> Array:
        """Return A, (D, rank), with A A' = (S + P)^-1: b A is `half(b)` without the zeros of dead columns."""
        a = self.half_scaled(np.ones(self.scaling.features))
        return a[:, a.any(axis=0)] if a.shape[1] > self.rank else a

    def inverse_lengths(self) -> Array:
        """Return sqrt of the diagonal of (S + P)^-1."""
        return np.asarray(np.linalg.norm(self.half_scaled(np.ones(self.scaling.features)), axis=1))

    @cached_property
    def inverse(self) -> Array:
        """C^-1, (D, D)."""
        spread = self.half_scaled(self.length)
        return np.asarray(spread @ spread.T)

    def amplified(self, g: Array) -> Array:
        """Return |C^-1| g for rows g (m, D) of numbers that are not negative: how far errors of these sizes reach."""
        return np.asarray(g @ np.abs(self.inverse))

    def prior_error(self, relative: Array, u: Array, target_noise: Array) -> tuple[Array, Array]:
        """Return f (K,) and h (D,): u = (S + dS)^-1 (c + dc), (K, D), is off by at most f_k h_j, columns of length one.

        With |dS_ij| <= g_i g_j and |dc_j| <= g_j g_t, whatever their signs, g = sqrt(relative) and h = |C^-1| g,
        |du| <= h (g'|u| + g_t + g'|du|). That bounds g'|du|, and so f = (g'|u| + g_t) / (1 - 2 g'h), where the 2
        allows for rounding of C^-1 itself. Infinite where nothing is known.
        """
        grain = np.sqrt(relative)
        h = self.amplified(grain) * self.alive
        share = 2 * float(grain @ h)
        f = np.abs(u * self.length) @ grain + np.sqrt(target_noise)
        return (f / (1.0 - share) if share < 1 else np.full(len(u), np.inf)), h


@dataclass(eq=False)
class CholeskyFactor(Factor):
    """C = R'R, all living columns independent; r is in column-major order."""

    r: Annotated[Array, Finite("D D")]

    @cached_property
    def root(self) -> Array:
        """R^-1; formed, since triangular solves of small systems cost milliseconds in a threaded BLAS."""
        return np.asarray(lapack.dtrtri(self.r)[0])

    @cached_property
    def diagonal(self) -> Array | None:
        """The diagonal of R^-1 where there is nothing beside it, else None."""
        numbers, diagonal = np.count_nonzero(self.root), self.root.diagonal()
        return diagonal if numbers <= len(diagonal) and numbers == np.count_nonzero(diagonal) else None

    def half(self, b: Array) -> Array:
        """Return R^-T L^-1 b."""
        if self.diagonal is not None:
            return np.asarray(b * (self.down * self.diagonal))
        return np.asarray((b * self.down) @ self.root)

    def half_scaled(self, scale: Array) -> Array:
        """Return the rows of R^-1 over the lengths of L, each times its scale: D^2 operations."""
        return np.asarray((scale * self.down)[:, None] * self.root)

    @cached_property
    def root_lengths(self) -> Array:
        """The row norms of R^-1, (D,)."""
        out = np.empty(len(self.root))
        put_row_lengths(out, self.root)
        return out

    def inverse_lengths(self) -> Array:
        """Return the row norms of L^-1 R^-1."""
        return self.root_lengths * self.down

    def solve(self, g: Array) -> Array:
        """Return L^-1 R^-1 R^-T L^-1 g."""
        return np.asarray(lapack.dpotrs(self.r, (g * self.down).T, overwrite_b=1)[0].T * self.down)

    def log_determinant(self) -> float:
        """Return twice the log of the diagonals of R, L and the scale."""
        diagonal = np.log(np.abs(self.r.diagonal()) * self.length) + self.scaling.scale * np.log(2.0)
        return float(2 * diagonal[self.alive].sum())


@dataclass(eq=False)
class SpectralFactor(Factor):
    """C = V diag(s^2) V' with the smallest s cut off; solutions have minimum norm in raw units.

    Parameters
    ----------
    v, s : (D, rank) and (rank,), the directions that are kept.
    raw : (D,) powers of two that take scaled coefficients to raw units, up to one power for all.
    reach : (D,) how far rounding along a direction that is cut off moves each coefficient: `raw` over the length of the
        column, over that of the direction; zero for columns in no such direction.
    null : (D, D - rank) orthonormal basis of the directions cut off, in raw units.
    size : length of the shortest direction cut off in raw units, where `reach` is not over a length of its own.
    """

    v: Annotated[Array, Finite("D R")]
    s: Annotated[Array, Positive("R")]
    raw: Annotated[Array, Positive("D")]
    reach: Annotated[Array, Finite("D")]
    null: Annotated[Array, Finite("D .")]
    size: float

    def half(self, b: Array) -> Array:
        """Return diag(1/s) V' L^-1 applied to the part of b that the rows determine."""
        b = b / self.raw
        b = (b - (b @ self.null) @ self.null.T) * self.raw
        return np.asarray((b / self.length) @ self.v / self.s)

    def solve(self, g: Array) -> Array:
        """Return the minimum-norm solution of (S + P) u = g."""
        return self.project(((g / self.length) @ self.v / self.s**2) @ self.v.T / self.length)

    def projection_error(self, u: Array) -> Array:
        """Return a bound on the error (K, D) of a projected solution: that of null vectors is rounding x condition."""
        blur = 16 * ROUNDING * self.condition * self.reach / self.size
        w = np.abs(u) * self.raw
        shadow = np.linalg.norm(self.null, axis=1)
        out = w.max(axis=1, keepdims=True) * blur * np.sqrt(len(blur)) + (w @ blur)[:, None] * shadow
        return np.asarray(out * self.alive / self.raw)

    def project(self, u: Array) -> Array:
        """Return the solution of minimum norm in raw units among those that differ from u along directions cut off."""
        w = u * self.raw
        return np.asarray((w - (w @ self.null) @ self.null.T) / self.raw)

    def log_determinant(self) -> float:
        """Return the sum of the log eigenvalues kept, the columns' own scales included."""
        scales = np.log(self.length) + self.scaling.scale * np.log(2.0)
        return float(2 * (np.log(self.s).sum() + scales[self.alive].sum()))

    def undetermined(self, b: Array) -> Array:
        """Return the share along the directions cut off, for columns of equal length."""
        b = b / self.length
        return _share(b, b - (b @ self.v) @ self.v.T)

    @cached_property
    def dependence(self) -> Dependence:
        """The combinations among the columns that vary."""
        alive = np.flatnonzero(self.alive)
        null = np.zeros((self.scaling.features, len(alive) - self.rank))
        with one_blas_thread():
            null[alive] = np.linalg.qr(self.v[alive], mode="complete")[0][:, self.rank :]
            return dependence(null, *self.units)

    @property
    def units(self) -> tuple[Array, Array | None]:
        """The sizes (D,) of the columns in raw units, zero where they are constant, and their means; None without an
        intercept.
        """
        with np.errstate(over="ignore"):
            size = np.where(self.alive, np.ldexp(self.length, self.scaling.scale), 0.0)
        return size, self.scaling.mean_hi[: self.scaling.features] if self.scaling.intercept else None

    def kept(self) -> KeptFactor:
        """Return the factor without the columns that are combinations of columns before them."""
        kept = self.alive.copy()
        kept[self.dependence.left_out] = False
        indices = np.flatnonzero(kept)
        r = np.eye(self.scaling.features, order="F")
        triangle = np.linalg.qr(self.s[:, None] * self.v[indices].T)[1]
        r[np.ix_(indices, indices)] = triangle * np.where(triangle.diagonal() < 0, -1.0, 1.0)[:, None]
        condition = float(np.linalg.cond(triangle)) if len(indices) else 1.0
        contraction = self.contraction * max(condition / self.condition, 1.0) ** 2
        rank = len(indices)
        return KeptFactor(self.scaling, self.length, kept, condition, rank, contraction, self.decided, r, self)


@dataclass(eq=False)
class KeptFactor(CholeskyFactor):
    """C = R'R of the columns that are no combination of columns before them, from a singular factor of all columns."""

    whole: SpectralFactor

    @property
    def varying(self) -> int:
        """Number of columns that vary, those left out included."""
        return self.whole.varying

    @property
    def dependence(self) -> Dependence:
        """The combinations among all columns."""
        return self.whole.dependence

    def undetermined(self, b: Array) -> Array:
        """Return the share of each row that the rows of the data do not determine, in all columns."""
        return self.whole.undetermined(b)

    def untestable(self, b: Array) -> Array:
        """Return the share that neither the rows determine, nor the model without the columns left out."""
        return np.minimum(self.whole.undetermined(b), super().undetermined(b))


def gram_factor(
    moments: Moments, intercept: bool, penalty: RidgePenalty
) -> tuple[CholeskyFactor | SpectralFactor, Array]:
    """Factor the sums; also return the relative rounding noise of each column's sum of squares."""
    scaling = moments_scaling(moments, intercept)
    d = scaling.features
    pull = penalty.scaled(scaling.exponent)
    lengths, means = np.empty(1 + d), np.empty((2, moments.columns))
    length, down, relative = lengths[1:], np.empty(d), np.empty(d)
    c, alive = np.empty((d, d)), np.empty(d, dtype=np.bool_)
    columns = (lengths, alive, down, relative, means)
    varying, noise = equilibrate(moments.buffer, *moments.shape, intercept, pull, *columns, c)
    scaling.scaled_means = (means[0], means[1])
    constant = varying == d or not (moments.second.diagonal()[:d] + pull)[~alive].any()
    r, info = lapack.dpotrf(c, lower=0, clean=1)
    if info == 0 and d:
        condition = estimate_condition(c, r)
        contraction = 4 * condition**2 * noise * math.sqrt(d)
        if contraction < 0.1:
            factor = CholeskyFactor(scaling, length, alive, condition, varying, contraction, constant, r)
            factor.lengths, factor.down = lengths, down
            return factor, relative
    if varying < d:
        c[~alive, ~alive] = 0.0
    with one_blas_thread():
        values, v = np.linalg.eigh(c)
    values, v = values[::-1], v[:, ::-1]
    cut = 4 * d * noise
    rank = int((values > cut * max(values[0], 0.0)).sum()) if d and values[0] > 0 else 0
    s = np.sqrt(np.maximum(values, 0.0))
    contraction = cut * condition_of(s, rank) ** 2
    return spectral_factor(scaling, length, alive, v, s, rank, contraction, rank == varying and constant), relative


def equilibrate_reference(
    state: Array,
    d: int,
    k: int,
    intercept: bool,
    pull: Array,
    lengths: Array,
    alive: Mask,
    down: Array,
    relative: Array,
    means: Array,
    c: Array,
) -> tuple[int, float]:
    """Scale the columns of moments to unit length: set the correlations c (D, D), the lengths (1 + D), which columns
    vary, one over their lengths and their relative noise, (D,), and the scaled means (2, D + K) as hi and lo.

    Return how many columns vary, and the largest noise.
    """
    moments, length = Moments(Shape(d, k), state), lengths[1:]
    scaling = moments_scaling(moments, intercept)
    gram, noise = moments.second[:d, :d], moments.noise[:d]
    squares = gram.diagonal()
    diagonal = squares + pull
    alive[:] = (diagonal > 4 * noise) & _beyond_rounding(squares, scaling)
    lengths[0], means[:] = math.sqrt(scaling.weight), scaling.scaled_means
    length[:] = np.sqrt(np.where(alive, diagonal, 1.0))
    c[:] = np.where(alive[:, None] & alive, gram / (length[:, None] * length), 0.0)
    np.fill_diagonal(c, 1.0)
    down[:] = alive / length
    relative[:] = np.where(alive, noise / (length * length), 0.0) + 2 * ROUNDING
    return int(alive.sum()), float(relative.max(initial=0.0))


def put_row_lengths_reference(out: Array, root: Array) -> None:
    """Set out (D,) to the norms of the rows of a matrix (D, D) in column-major order."""
    out[:] = np.sqrt(np.einsum("ij,ij->i", root, root))


equilibrate: Any = equilibrate_reference if native is None else native.equilibrate
put_row_lengths: Any = put_row_lengths_reference if native is None else native.row_lengths


def triangle_factor(
    triangle: Triangle, features: int, weight: float, penalty: RidgePenalty, spectral: bool
) -> tuple[CholeskyFactor | SpectralFactor, Array]:
    """Factor the triangle; also return the solution u = L^-1 R^-1 (rotated targets), (K, D)."""
    ones = int(triangle.centred)
    r = triangle.r
    mean_hi, mean_lo = np.zeros(len(triangle.shift)), np.zeros(len(triangle.shift))
    if ones and len(r):
        first = np.ldexp(r[0, 1:] / r[0, 0], triangle.exponent.astype(np.int64))
        mean_hi = triangle.shift + first
        mean_lo = (triangle.shift - mean_hi) + first
    scaling = ColumnScaling(features, weight, triangle.centred, mean_hi, mean_lo, triangle.exponent)
    whole = np.linalg.norm(r[:, ones:], axis=0)
    inner = r[ones:, ones:]
    length = np.linalg.norm(inner[:, :features], axis=0)
    varies = length > _rounded(scaling)
    alive = length > 16 * EPS * whole[:features]
    constant = not length[~alive].any()
    ridge = np.sqrt(penalty.scaled(scaling.exponent))
    alive = (alive | (ridge > 0)) & varies
    length = np.where(alive, np.hypot(length, ridge), 1.0)
    kept = np.flatnonzero(alive)
    a, targets = len(kept), inner.shape[1] - features
    qr = np.zeros((len(inner) + features * bool(ridge.any()), a + targets))
    qr[: len(inner)] = inner[:, np.append(kept, np.arange(features, inner.shape[1]))]
    if ridge.any():
        qr[len(inner) + kept, np.arange(a)] = ridge[kept]
    qr[:, :a] /= length[kept]
    if a < features or ridge.any():  # else it is a triangle already
        qr = lapack.dgeqrf(np.asfortranarray(qr))[0]
    r = np.zeros((a, a + targets))
    r[: len(qr)] = np.triu(qr[:a])
    u, s, vt = np.linalg.svd(r[:, :a])
    tolerance = cut_relative(features)
    raw = np.hypot(whole[kept], np.sqrt(weight) * np.abs(scaling.scaled_mean()[kept])) / length[kept]
    noise = 4 * EPS * np.linalg.norm(raw[:, None] * vt.T, axis=0)  # what rounding of the raw columns can make of s
    largest = s[0] if a else 0.0
    rank = int((s > np.maximum(tolerance * largest, noise)).sum())
    condition = condition_of(s, rank)
    factor: CholeskyFactor | SpectralFactor
    start = np.zeros((targets, features))
    if rank == a and not spectral:
        c_r = np.eye(features, order="F")
        c_r[np.ix_(kept, kept)] = r[:, :a]
        factor = CholeskyFactor(scaling, length, alive, condition, a, 4 * tolerance * condition, constant, c_r)
        start[:, kept] = r[:, a:].T
        start = start @ factor.root.T * (alive / length)
    else:
        v = np.zeros((features, features))
        v[kept, :a] = vt.T
        v[~alive, a:] = np.eye(features - a)
        decided = constant and not (s[rank:] > tolerance * largest).any()
        s_all = np.append(s, np.zeros(features - a))
        factor = spectral_factor(scaling, length, alive, v, s_all, rank, 4 * tolerance * condition, decided)
        start[:, kept] = (r[:, a:].T @ u[:, :rank] / s[:rank]) @ vt[:rank]
        start = factor.project(start / length)
    return factor, start


def condition_of(s: Array, rank: int) -> float:
    """Return the condition of the first `rank` of falling singular values s."""
    return float(s[0] / s[rank - 1]) if rank else 1.0


def spectral_factor(
    scaling: ColumnScaling,
    length: Array,
    alive: Mask,
    v: Array,
    s: Array,
    rank: int,
    contraction: float,
    decided: bool,
) -> SpectralFactor:
    """Return a factor from all directions v (D, D) and their s (D,), falling, of which `rank` are kept."""
    condition = condition_of(s, rank)
    scale = scaling.scale - scaling.scale.min(initial=0)
    raw = np.exp2(-np.minimum(scale, 500.0))
    cut = v[:, rank:]
    if condition < CLEAN_CONDITION:  # rounding of a dependence must not reach columns that are not part of it
        cut = cut * (np.linalg.norm(cut, axis=1) > CLEAN)[:, None]
    unit = raw / length
    part = np.abs(cut).max(axis=1, initial=0.0) > 0
    if part.any() and np.ptp(np.log2(unit[part])) > MOST_UNIT_RANGE:
        null, reach = _graded_basis(cut, unit)
        reach, size = reach * alive, np.ones(1)
    else:
        reach, null = unit * (alive & part), cut * unit[:, None]
        size = np.linalg.norm(null, axis=0)
        null = np.linalg.qr(null / np.where(size > 0, size, 1.0))[0]
    parts = (v[:, :rank], s[:rank], raw, reach, null, float(size.min(initial=np.inf)))
    return SpectralFactor(scaling, length, alive, condition, rank, contraction, decided, *parts)


def _graded_basis(cut: Array, unit: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis (D, A) of directions cut (D, A) times units (D,) of very different size, and how far
    each column's unit reaches into them, (D,).

    Most bases of the directions, in units, are one long direction and rounding errors. So they are combined first such
    that each ends at a column of its own, of large unit, and these rows come first, the largest before others:
    reflections then leave small entries their own digits (Cox and Higham 1998).
    """
    order = np.argsort(unit, kind="stable")
    ends, weights = echelon(cut[order])
    null = -weights.T
    null[ends, np.arange(len(ends))] = 1.0
    null *= unit[order][:, None]
    size = np.linalg.norm(null, axis=0)
    null = (null / size)[:, ::-1]
    rest = np.setdiff1d(np.arange(len(unit)), ends)
    rows = np.concatenate([ends[::-1], rest[np.argsort(-np.abs(null[rest]).max(axis=1), kind="stable")]])
    out, reach = np.empty_like(null), np.empty_like(unit)
    out[order[rows]] = np.linalg.qr(null[rows])[0]
    reach[order] = unit[order] * ((null != 0) / size[::-1]).max(axis=1)
    return out, reach


def varying(moments: Moments) -> Mask:
    """Return which columns (D,) vary about their means, by more than the rounding of numbers and sums."""
    d = moments.shape.features
    squares = moments.second.diagonal()[:d]
    sure = squares > 4 * moments.noise[:d]
    return np.asarray(sure & _beyond_rounding(squares, moments_scaling(moments, intercept=True)))


def _beyond_rounding(squares: Array, scaling: ColumnScaling) -> Mask:
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)) > _rounded(scaling))


def cut_relative(features: int) -> float:
    """Return the share of the longest direction at which a direction of the triangle is rounding."""
    return 2 * (features + 10) * EPS


def _rounded(scaling: ColumnScaling) -> Array:
    """Return the length, in scaled coordinates, that rounding alone can give a column about its mean.

    A column of 0.1 + 0.2 and 0.3 does not vary.
    """
    return np.asarray(LEAST_SPREAD * math.sqrt(scaling.weight) * np.abs(scaling.scaled_mean()))


def moments_scaling(moments: Moments, intercept: bool) -> ColumnScaling:
    """Return the column scaling of moments: centred ones with an intercept, raw ones without."""
    q = moments.columns
    vectors = moments.buffer[3 : 3 + 4 * q].reshape(4, q)
    means = vectors if intercept else np.zeros((2, q))
    hi, lo, exponent = means[0], means[1], vectors[2]  # by index: to unpack an array costs an exception at its end
    return ColumnScaling(moments.shape.features, moments.weight, intercept, hi, lo, exponent)


def estimate_condition(c: Array, r: Array) -> float:
    """Return sqrt of the condition of C = R'R, which is that of the design; large ones by power iteration."""
    if len(c) <= MOST_EIGEN_COLUMNS:
        values = lapack.dsyevd(c, compute_v=0)[0]
        smallest, largest = float(values[0]), float(values[-1])
        return math.sqrt(largest / max(smallest, 1e-300 * largest))
    v = np.cos(np.arange(1.0, len(c) + 1.0))
    w = v.copy()
    largest = smallest = 1.0
    for _ in range(8):
        v = c @ v
        largest = float(np.sqrt(v @ v))
        v /= largest
        w = lapack.dpotrs(r, w)[0]
        smallest = float(np.sqrt(w @ w))
        w /= smallest
    return float(np.sqrt(max(largest * smallest, 1.0)))


def _share(whole: Array, part: Array) -> Array:
    """Return the length of rows of `part` over that of rows of `whole`."""
    size = np.linalg.norm(whole, axis=1)
    return np.asarray(np.linalg.norm(part, axis=1) / np.where(size > 0, size, 1.0))
