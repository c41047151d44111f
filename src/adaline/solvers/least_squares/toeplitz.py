"""Wiener equations whose correlation matrix is Toeplitz, (5.9): Levinson's recursion, D^2 operations instead of D^3.

    (R + P) w = r,   R_ij = r_xx(|i - j|),   P = penalty I

One more Levinson solution, the first column a of the inverse, gives everything else (Gohberg and Semencul):

    (R + P)^-1 = (A A' - B B') / a_0,   A, B lower triangular Toeplitz, from (a_0, a_1, ...) and (0, a_{D-1}, ..., a_1)

so its diagonal is a running sum, and its norm is at most max |a(omega)|^2 / a_0, as that of R is at most the largest
value of the spectrum sum_k r_xx(k) exp(i omega k). Both bounds are tight for long filters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, matmul_toeplitz, solve_toeplitz, solve_triangular, toeplitz

from adaline.arrays import Array
from adaline.locks import cached_property
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares import choose
from adaline.solvers.least_squares.direct import Normal, assemble, solve_sums
from adaline.solvers.least_squares.factor import Factor, moments_scaling
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.least_squares.refine import refine
from adaline.sources import Source
from adaline.sums import Moments
from adaline.sums.moments import ROUNDING

# points of the spectra per coefficient: maxima between them are at most 3 percent higher; doubling it takes twice as
# long
OVERSAMPLING = 8
# contraction of refinement from which the Levinson recursion is not trusted; larger takes more steps per digit
MOST_CONTRACTION = 0.1
NOISE_SHARE = 0.5  # share of the noise of the sums that errors mostly stay below; doubling it claims 0.3 digits less


@dataclass(eq=False)
class ToeplitzFactor(Factor):
    """R + P = length^2 toeplitz(c), c_0 = 1, positive definite.

    a is the first column of the inverse of toeplitz(c), inverse_norm a bound on the norm of that, relative the rounding
    noise of the sums.
    """

    c: Array
    a: Array
    inverse_norm: float
    relative: float

    @cached_property
    def root(self) -> Array:
        """Upper triangle of the dense Cholesky factor; only inference needs it."""
        return np.asarray(cholesky(toeplitz(self.c)))

    def half(self, b: Array) -> Array:
        """Return rows h, (m, D), with h h' = b (R + P)^-1 b'."""
        return np.asarray(solve_triangular(self.root, (b / self.length).T, trans="T").T)

    def inverse_lengths(self) -> Array:
        """Return sqrt of the diagonal of (R + P)^-1, the running sum of (a_i^2 - a_{D-i}^2) / a_0."""
        gained = self.a**2
        gained[1:] -= self.a[:0:-1] ** 2
        diagonal = np.maximum(np.cumsum(gained) / self.a[0], 1.0)  # of a matrix with unit diagonal it is at least one
        return np.asarray(np.sqrt(diagonal) / self.length)

    def solve(self, g: Array) -> Array:
        """Return rows (R + P)^-1 g, by Levinson's recursion and one correction, which makes it backward stable."""
        g = (g / self.length).T
        y = solve_toeplitz(self.c, g)
        y = y + solve_toeplitz(self.c, g - matmul_toeplitz(self.c, y))
        return np.asarray(y.T / self.length)

    def undetermined(self, b: Array) -> Array:
        """Return zero: the rows determine every direction."""
        return np.zeros(len(b))

    def log_determinant(self) -> float:
        """Return ln |R + P| in raw units."""
        diagonal = np.log(self.root.diagonal() * self.length) + self.scaling.scale * np.log(2.0)
        return float(2 * diagonal.sum())

    def prior_error(self, relative: Array, u: Array, target_noise: Array) -> tuple[Array, Array]:
        """Return what errors are mostly below: roundings are taken as independent, and |C^-1 e_i|^2 as
        norm(C^-1) (C^-1)_ii. A bound for any signs, as other factors have it, would be D times as large.
        """
        grain = np.sqrt(self.relative)
        change = grain * np.linalg.norm(u * self.length, axis=1) + np.sqrt(target_noise)
        return NOISE_SHARE * change, grain * np.sqrt(self.inverse_norm) * self.inverse_lengths() * self.length


def toeplitz_factor(moments: Moments, penalty: float) -> ToeplitzFactor | None:
    """Factor sums that are Toeplitz to rounding, without intercept; None where they are too close to singular."""
    d = moments.shape.features
    scale = int(moments.exponent[0])
    r = moments.second[0, :d].copy()
    r[0] += np.ldexp(penalty, -2 * scale)
    noise = float(moments.noise[:d].max())
    if not r[0] > 4 * noise:
        return None
    c = r / r[0]
    try:
        a = solve_toeplitz(c, np.eye(1, d)[0])
    except LinAlgError:
        return None
    if not (np.isfinite(a).all() and a[0] > 0):
        return None
    inverse_norm = float((np.abs(_spectrum(a)) ** 2).max() / a[0])
    condition = float(max(np.sqrt((_spectrum(c).real.max() * 2 - 1.0) * inverse_norm), 1.0))
    relative = noise / float(r[0]) + 2 * ROUNDING
    contraction = 4 * condition**2 * relative * float(np.sqrt(d))
    if contraction >= MOST_CONTRACTION:
        return None
    scaling, length = moments_scaling(moments, intercept=False), np.full(d, float(np.sqrt(r[0])))
    alive = np.ones(d, dtype=np.bool_)
    return ToeplitzFactor(scaling, length, alive, condition, d, contraction, True, c, a, inverse_norm, relative)


def solve_wiener(source: Source | None, moments: Moments, penalty: float) -> Fit:
    """Solve Toeplitz normal equations given the sums, and the rows they came from where these can be read again."""
    ridge = RidgePenalty(penalty, np.ones(moments.shape.features))
    factor = toeplitz_factor(moments, penalty)
    if factor is None or (source is not None and factor.condition > choose.LARGE_CONDITION):
        return (
            solve_sums(moments, False, ridge)
            if source is None
            else choose.solve_least_squares(source, moments, False, ridge)
        )
    d = factor.scaling.features
    u = factor.solve(moments.second[d:, :d])
    out = Normal(moments, factor, np.full(d, factor.relative), u).bounded(ridge)
    how = "Toeplitz equations (Levinson)"
    if source is None:
        how += " on sums"
    elif source.n_rows * d < choose.SMALL_NUMBERS or not choose.promised(moments, factor.lengths, out):
        out = refine(source, factor, u, ridge)
        how += ", refined"
    return assemble(moments, factor, out, ridge, how)


def _spectrum(c: Array) -> NDArray[np.complex128]:
    return np.fft.rfft(c, OVERSAMPLING * len(c))
