"""Factors of the penalised, centred second moments: what direct solvers, refinement and inference share.

    S + P = L C L,   L = diag(length), C with unit diagonal (equilibrated)

P the penalties. C = R'R by Cholesky or from the triangle, or
C = V diag(s^2) V' where it is numerically singular. A factor answers two
questions: `solve(g)` = (S + P)^-1 g, and `half(b)`, whose squared row norms are b'(S + P)^-1 b (standard errors,
leverages). All vectors are in scaled coordinates: column j times 2^-exponent[j].

Columns that do not vary about their mean are dead: they take no part and their coefficients are zero. Where directions
are cut off, the solution is the one of minimum norm in raw units, with the intercept outside the norm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from adaline.solvers.dependence import Dependence, dependence, independent
from adaline.sources.threads import one_blas_thread
from adaline.sums.moments import ROUNDING

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

EPS = 2 * ROUNDING
ROUNDED = 4 * EPS  # spread over mean that rounding alone can give a column
CLEAN, CLEAN_CONDITION = 256 * EPS, 1e3


@dataclass(frozen=True)
class Frame:
    """Where the columns [x t] sit: total weight, means as hi + lo (zero without intercept), exponents; D features."""

    features: int
    weight: float
    intercept: bool
    mean_hi: Array
    mean_lo: Array
    exponent: Array

    @property
    def scale(self) -> NDArray[np.int64]:
        """Exponents of the features, as whole numbers."""
        return self.exponent[: self.features].astype(np.int64)

    @property
    def target_scale(self) -> NDArray[np.int64]:
        """Exponents of the targets, as whole numbers."""
        return self.exponent[self.features :].astype(np.int64)

    def scaled_mean(self) -> tuple[Array, Array]:
        """Return the means of the features in scaled coordinates, hi and lo."""
        d = self.features
        return np.ldexp(self.mean_hi[:d], -self.scale), np.ldexp(self.mean_lo[:d], -self.scale)


class Factor(ABC):
    """A factored S + P."""

    contraction = 0.0
    """A-priori bound on what one step of refinement leaves of the error."""

    decided = True
    """Whether the rank is beyond doubt: no direction was cut off that the input's own rounding could have made."""

    def __init__(self, frame: Frame, length: Array, alive: Mask, condition: float, rank: int) -> None:
        self.frame = frame
        self.length = length
        self.alive = alive
        self.condition = condition
        self.rank = rank

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
        """Return the columns that are constant or linear combinations of those before them."""
        return sorted(map(int, (*np.flatnonzero(self.dependence.constant), *self.dependence.left_out)))

    @abstractmethod
    def log_determinant(self) -> float:
        """Return ln |S + P| in raw units, of the directions kept."""

    def outside(self, b: Array) -> Array:
        """Return the share of each row b, (m,), that the data say nothing about: here that of the dead columns."""
        return _share(b / self.length, b * ~self.alive)

    def basis(self) -> Array:
        """Return A, (D, rank), with A A' = (S + P)^-1: b A is `half(b)` without the zeros of dead columns."""
        a = self.half(np.eye(self.frame.features))
        return a[:, a.any(axis=0)] if a.shape[1] > self.rank else a

    def inverse_lengths(self) -> Array:
        """Return sqrt of the diagonal of (S + P)^-1."""
        return np.asarray(np.linalg.norm(self.half(np.eye(self.frame.features)), axis=1))


class CholeskyFactor(Factor):
    """C = R'R, all living columns independent."""

    def __init__(self, frame: Frame, length: Array, alive: Mask, r: Array, condition: float) -> None:
        super().__init__(frame, length, alive, condition, int(alive.sum()))
        self.r = np.asfortranarray(r)

    @cached_property
    def root(self) -> Array:
        """R^-1; formed, since triangular solves of small systems cost milliseconds in a threaded BLAS."""
        return np.asarray(lapack.dtrtri(self.r)[0])

    def half(self, b: Array) -> Array:
        """Return R^-T L^-1 b."""
        return np.asarray((b * (self.alive / self.length)) @ self.root)

    def inverse_lengths(self) -> Array:
        """Return the row norms of L^-1 R^-1."""
        return np.asarray(np.sqrt((self.root**2).sum(axis=1)) * (self.alive / self.length))

    def solve(self, g: Array) -> Array:
        """Return L^-1 R^-1 R^-T L^-1 g."""
        down = self.alive / self.length
        return np.asarray(lapack.dpotrs(self.r, (g * down).T)[0].T) * down

    def log_determinant(self) -> float:
        """Return twice the log of the diagonals of R, L and the scale."""
        diagonal = np.log(np.abs(self.r.diagonal()) * self.length) + self.frame.scale * np.log(2.0)
        return float(2 * diagonal[self.alive].sum())


class SpectralFactor(Factor):
    """C = V diag(s^2) V' with the smallest s cut off; solutions have minimum norm in raw units."""

    def __init__(self, frame: Frame, length: Array, alive: Mask, v: Array, s: Array, rank: int) -> None:
        condition = float(s[0] / s[rank - 1]) if rank else 1.0
        super().__init__(frame, length, alive, condition, rank)
        self.v, self.s = v[:, :rank], s[:rank]
        scale = frame.scale - frame.scale.min(initial=0)
        self.raw = np.exp2(-np.minimum(scale, 500.0))
        outside = v[:, rank:]
        if condition < CLEAN_CONDITION:  # columns that no dependence touches must not be touched by its rounding
            outside = outside * (np.linalg.norm(outside, axis=1) > CLEAN)[:, None]
        self.reach = self.raw / length * (alive & (np.abs(outside).max(axis=1, initial=0.0) > 0))
        null = outside * (self.raw / length)[:, None]
        size = np.linalg.norm(null, axis=0)
        self.null = np.linalg.qr(null / np.where(size > 0, size, 1.0))[0]
        self.size = float(size.min(initial=np.inf))

    def half(self, b: Array) -> Array:
        """Return diag(1/s) V' L^-1 applied to the part of b that the rows span."""
        b = b / self.raw
        b = (b - (b @ self.null) @ self.null.T) * self.raw
        return np.asarray((b / self.length) @ self.v / self.s)

    def solve(self, g: Array) -> Array:
        """Return the minimum-norm solution of (S + P) u = g."""
        return self.project(((g / self.length) @ self.v / self.s**2) @ self.v.T / self.length)

    def doubt(self, u: Array) -> Array:
        """Bound the error (K, D) of a projected solution: null vectors are known to rounding times condition."""
        blur = 16 * ROUNDING * self.condition * self.reach / self.size
        w = np.abs(u) * self.raw
        shadow = np.linalg.norm(self.null, axis=1)
        out = w.max(axis=1, keepdims=True) * blur * np.sqrt(len(blur)) + (w @ blur)[:, None] * shadow
        return np.asarray(out * self.alive / self.raw)

    def project(self, u: Array) -> Array:
        """Return the solution of minimum norm in raw units among those that differ from u by what was cut off."""
        w = u * self.raw
        return np.asarray((w - (w @ self.null) @ self.null.T) / self.raw)

    def log_determinant(self) -> float:
        """Return the sum of the log eigenvalues kept, the columns' own scales included."""
        scales = np.log(self.length) + self.frame.scale * np.log(2.0)
        return float(2 * (np.log(self.s).sum() + scales[self.alive].sum()))

    def outside(self, b: Array) -> Array:
        """Return the share of what was cut off, on columns of equal length."""
        b = b / self.length
        return _share(b, b - (b @ self.v) @ self.v.T)

    @cached_property
    def dependence(self) -> Dependence:
        """The combinations among the columns that vary."""
        places = np.flatnonzero(self.alive)
        null = np.zeros((self.frame.features, len(places) - self.rank))
        mean = self.frame.mean_hi[: self.frame.features] if self.frame.intercept else None
        with np.errstate(over="ignore"):
            size = np.where(self.alive, np.ldexp(self.length, self.frame.scale), 0.0)
        with one_blas_thread():
            null[places] = np.linalg.qr(self.v[places], mode="complete")[0][:, self.rank :]
            return dependence(null, size, mean)

    def kept(self) -> KeptFactor:
        """Return the factor of the columns that are left where dependent ones are left out."""
        return KeptFactor(self)


class KeptFactor(CholeskyFactor):
    """C = R'R of the columns that a singular factor leaves: those that are no combination of columns before them."""

    def __init__(self, whole: SpectralFactor) -> None:
        self.whole = whole
        kept = whole.alive.copy()
        kept[whole.dependence.left_out] = False
        places = np.flatnonzero(kept)
        r = np.eye(whole.frame.features)
        triangle = np.linalg.qr(whole.s[:, None] * whole.v[places].T)[1]
        r[np.ix_(places, places)] = triangle * np.where(triangle.diagonal() < 0, -1.0, 1.0)[:, None]
        condition = float(np.linalg.cond(triangle)) if len(places) else 1.0
        super().__init__(whole.frame, whole.length, kept, r, condition)
        self.contraction = whole.contraction * max(condition / whole.condition, 1.0) ** 2
        self.decided = whole.decided

    @property
    def varying(self) -> int:
        """Number of columns that vary, those left out included."""
        return self.whole.varying

    @property
    def dependence(self) -> Dependence:
        """The combinations among all columns."""
        return self.whole.dependence

    def outside(self, b: Array) -> Array:
        """Return the share of each row that the data say nothing about, in all columns."""
        return self.whole.outside(b)


def _share(whole: Array, part: Array) -> Array:
    """Return the length of rows of `part` over that of rows of `whole`."""
    size = np.linalg.norm(whole, axis=1)
    return np.asarray(np.linalg.norm(part, axis=1) / np.where(size > 0, size, 1.0))
