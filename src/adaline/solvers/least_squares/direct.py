"""Least squares and ridge from sums, (5.8) and (5.13): solve, bound the error, and form the fit with its certificate.

(S + P) w = c,   w0 = mean_t - mean_x'w,   S = X'X and c = X't about the means, P the penalties
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adaline import twofold
from adaline.arrays import Array, all_finite
from adaline.block import Shape
from adaline.kernels import native
from adaline.penalties import RidgePenalty
from adaline.results import Solution, Status
from adaline.solvers.least_squares.factor import CholeskyFactor, Factor, KeptFactor, SpectralFactor, gram_factor
from adaline.solvers.least_squares.fit import Fit, certificate, judge, raw_solution, refuse_overflowing
from adaline.solvers.least_squares.refine import Refined, start_with_intercept
from adaline.sums import Moments
from adaline.sums.moments import ROUNDING, SUM_UNITS

SOLVED_UNITS = 3  # rounding of a solution by a Cholesky factor, in units per column (Higham 2002, theorem 10.4)
# double-double steps on the normal equations of sums; doubling it takes twice as long, as one reaches their rounding
REFINEMENTS = 1
# targets x columns^2 up to which these steps are taken; doubling it takes twice as long for larger fits
MOST_REFINED_WORK = 2**20
OUTWARDS = 1 + 2.0**-20  # factor that covers the rounding of the bounds themselves
LEFT_OUT = "columns that are linear combinations of columns before them are left out (see aliased_)"


class Normal(NamedTuple):
    """The normal equations solved from the sums alone: factor, relative noise of the columns, slopes u (K, D).

    left : (K, D) what is left of c - (S + P) u; None where it is not known, and rounding of the factor is allowed for.
    """

    moments: Moments
    factor: Factor
    relative: Array
    u: Array
    left: Array | None = None

    def bounded(self, penalty: RidgePenalty) -> Refined:
        """Return the solution with an a-priori bound on its errors: that of the sums, of their solution, of weights
        and means, and of rounding u itself.

        S = sum of S_a + S_b + c d d' over merges, c = W_a W_b / W. Sums of weights that are rounded change c, and the
        means along d; by Cauchy's inequality that moves outputs by the residuals' own size times the rounding, at most.
        """
        factor, u, moments = self.factor, self.u, self.moments
        scaling, length, bound = factor.scaling, factor.length, moments.bound
        d = scaling.features
        total = moments.second.diagonal()[d:]
        squares = total - (u * moments.second[d:, :d]).sum(axis=1)
        squares = np.maximum(squares - u**2 @ penalty.scaled(scaling.exponent), 0.0)
        relative = bound[:d] * factor.down**2 + ROUNDING * (SOLVED_UNITS * d + 6 if self.left is None else 0)
        left = None if self.left is None else np.abs(self.left) * factor.down
        rounded = ROUNDING * np.abs(u)
        change, reach = factor.prior_error(relative, u, bound[d:])
        wrong = self._weights_rounding() * np.sqrt(squares + d * ROUNDING * total)
        error = np.outer(change, reach) + rounded * length
        if left is not None:
            error += factor.amplified(left)
        if wrong.any():
            error += np.outer(wrong, factor.inverse_lengths() * length)
        theta = start_with_intercept(factor, u)[0]
        blurred, constant = np.zeros((2, len(u)))
        if scaling.intercept:
            # means are as uncertain as sums of squares: rows taken out again leave their rounding behind
            units = moments.excess * SUM_UNITS if moments.excess > 1 else 1.0
            blur = np.maximum(bound, ROUNDING * moments.second.diagonal())
            blur = np.sqrt(ROUNDING * units * blur / (scaling.weight or 1.0))
            blurred = np.abs(u) @ blur[:d] + blur[d:] + wrong / np.sqrt(scaling.weight or 1.0)
            mean = scaling.scaled_mean()
            along = factor.solve(mean[None])[0]
            away = np.abs(along * length)
            constant = change * (away @ np.sqrt(relative)) + wrong * np.sqrt(max(float(along @ mean), 0.0)) + blurred
            constant += rounded @ np.abs(mean) + ROUNDING * np.abs(theta[:, 0]) + (0.0 if left is None else left @ away)
        size = error.sum(axis=1)
        error = OUTWARDS * np.column_stack([constant, error * factor.down])
        gradient = size / np.sqrt(max(d, 1))
        gap = 0.5 * (size + np.sqrt(scaling.weight) * blurred) ** 2
        return Refined(theta, error, squares, gradient, gap, 0)

    def _weights_rounding(self) -> float:
        """Return what rounding did to sums of weights, relatively, at most; whole numbers are not rounded."""
        counts = self.moments.weight == self.moments.rows
        return 0.0 if counts else 3 * ROUNDING * self.moments.rows

    def refined(self, penalty: RidgePenalty) -> Normal:
        """Return the solution to the last bit of what the sums give, by residuals c - (S + P) u in double-double.

        The solution as it is where that would take long, or numbers are too large for it.
        """
        factor, u, moments = self.factor, self.u, self.moments
        d = factor.scaling.features
        if not isinstance(factor, CholeskyFactor) or u.size * d > MOST_REFINED_WORK:
            return self
        pull, left = penalty.scaled(factor.scaling.exponent), np.empty(u.shape)
        for _ in range(REFINEMENTS):
            sums_residual(left, moments.buffer, pull, np.ascontiguousarray(u))
            u = u + factor.solve(left * factor.alive)
        sums_residual(left, moments.buffer, pull, np.ascontiguousarray(u))
        return self._replace(u=u, left=left * factor.alive) if all_finite(left) else self


@np.errstate(over="ignore", invalid="ignore")
def sums_residual_reference(left: Array, state: Array, pull: Array, u: Array) -> None:
    """Set left (K, D) to c - (S + P) u, computed in double-double, of the state of moments and slopes u (K, D)."""
    k, d = u.shape
    second = Moments(Shape(d, k), state).second
    hi, lo = twofold.two_prod(-u.T[:, :, None], second[:d, None, :d])
    own_hi, own_lo = twofold.two_prod(-u[None], pull)
    c, zero = second[None, d:, :d], np.zeros((1, k, d))
    left[:] = twofold.sum_rows(np.concatenate([hi, own_hi, c]), np.concatenate([lo, own_lo, zero]))[0]


sums_residual: Any = sums_residual_reference if native is None else native.sums_residual


def solve_gram(moments: Moments, intercept: bool, penalty: RidgePenalty) -> Normal:
    """Solve the normal equations from the sums."""
    factor, relative = gram_factor(moments, intercept, penalty)
    d = factor.scaling.features
    return Normal(moments, factor, relative, factor.solve(moments.second[d:, :d]))


def assemble(moments: Moments, factor: Factor, out: Refined, penalty: RidgePenalty, solver: str) -> Fit:
    """Return the fit in raw units, with its certificate, from a solution in scaled units."""
    scaling = factor.scaling
    theta = np.empty(out.theta.shape)
    unit, total, trace = np.empty(len(theta)), np.empty(len(theta)), np.empty(len(theta))
    trace.fill(scaling.intercept + _trace(factor, penalty))
    found, objective, gradient, gap = raw_solution(
        theta,
        unit,
        total,
        moments.buffer,
        out.theta,
        _error(factor, out),
        scaling.exponent,
        factor.lengths,
        penalty.scaled(scaling.exponent),
        out.squares,
        out.gradient,
        _gap(factor, out),
        scaling.weight,
    )
    refuse_overflowing(theta)
    found = found if factor.decided else 0.0
    status = judge(factor, found)
    proof = certificate(
        status=status,
        objective=objective,
        gradient=gradient,
        gap=gap,
        digits=found,
        condition=factor.condition,
        rank=factor.rank,
        passes=1 + out.passes,
        solver=solver,
        advice=LEFT_OUT if isinstance(factor, KeptFactor) and status is Status.RANK_DEFICIENT else None,
    )
    return Fit(
        solution=Solution(theta, proof),
        squares=out.squares,
        total=total,
        unit=unit,
        factor=factor,
        trace=trace,
        rows=moments.rows,
        weight=moments.weight,
        penalty=penalty,
    )


def output_digits(moments: Moments, intercept: bool, penalty: RidgePenalty) -> float:
    """Return the correct digits of predictions by the solution from sums alone, those of the worst target.

    With |f| <= g change the errors of the normal equations, columns of length one, predictions of the rows are off by
    f'C^-1 f <= change^2 g'|C^-1| g, as a sum of squares. That is compared with what predictions are made of: the
    coefficients times the spreads, and the mean. Errors are taken as `noise` has them, as forgetting is refused by it.
    """
    normal = solve_gram(moments, intercept, penalty)
    factor, scaling, u = normal.factor, normal.factor.scaling, normal.u
    if not factor.decided or not scaling.weight > 0:
        return 0.0
    d, root = scaling.features, np.sqrt(scaling.weight)
    change, reach = factor.prior_error(
        normal.relative, u, moments.noise[d:] + 2 * ROUNDING * moments.second.diagonal()[d:]
    )
    wrong = change * np.sqrt(np.sqrt(normal.relative) @ reach) / root
    spread = np.sqrt(moments.second.diagonal()[:d]) / root
    size = np.abs(u) @ spread
    if isinstance(factor, SpectralFactor) and factor.rank < d:
        wrong = wrong + factor.projection_error(u) @ spread
    if intercept:
        blur = np.sqrt(ROUNDING * moments.noise) / root  # of the means
        wrong = wrong + np.abs(u) @ blur[:d] + blur[d:]
        size = size + np.abs(np.ldexp(scaling.mean_hi[d:], -scaling.target_scale))
    share = np.divide(wrong, size, out=np.where(wrong > 0, 1.0, 0.0), where=size > 0)
    return -float(np.log10(min(float(share.max()), 1.0) + ROUNDING))


def _error(factor: Factor, out: Refined) -> Array:
    """Return the bound on the error of a solution (K, 1 + D), with that of directions that were cut off."""
    if not isinstance(factor, SpectralFactor) or factor.rank == factor.scaling.features:
        return out.error
    more = factor.projection_error(out.theta[:, 1:])
    return np.asarray(out.error + np.column_stack([more @ np.abs(factor.scaling.scaled_mean()), more]))


def _gap(factor: Factor, out: Refined) -> Array:
    """Return bounds on the gaps (K,): those of the slopes about the means, and what is wrong with outputs at the means.

    There the intercept and the slopes, rounded, add up; with columns far from zero this is most of the gap.
    """
    scaling = factor.scaling
    if not scaling.intercept:
        return out.gap
    mean, theta = np.abs(scaling.scaled_mean()), np.abs(out.theta)
    wrong = np.maximum(out.error[:, 0] - out.error[:, 1:] @ mean, 0.0)
    wrong += 2 * ROUNDING * (theta[:, 0] + theta[:, 1:] @ mean)
    return np.asarray(0.5 * (np.sqrt(2 * out.gap) + np.sqrt(scaling.weight) * wrong) ** 2)


def _trace(factor: Factor, penalty: RidgePenalty) -> float:
    """Return tr((S + P)^-1 S) = rank - tr((S + P)^-1 P)."""
    if not penalty.any():
        return float(factor.rank)
    return max(float(factor.rank - factor.inverse_lengths() ** 2 @ penalty.scaled(factor.scaling.exponent)), 0.0)


def solve_sums(moments: Moments, intercept: bool, penalty: RidgePenalty, drop: bool = False) -> Fit:
    """Solve from sums alone, as streams, merged and thinned models must; `drop` leaves out later dependent columns."""
    normal = solve_gram(moments, intercept, penalty)
    if drop and isinstance(normal.factor, SpectralFactor):
        kept = normal.factor.kept()
        d = kept.scaling.features
        normal = normal._replace(factor=kept, u=kept.solve(moments.second[d:, :d]))
    normal = normal.refined(penalty)
    return assemble(moments, normal.factor, normal.bounded(penalty), penalty, gram_name(normal.factor) + " on sums")


def gram_name(factor: Factor) -> str:
    """Return the name of the solver in the certificate, by the factor of its Gram matrix."""
    return "normal equations (SVD)" if isinstance(factor, SpectralFactor) else "normal equations (Cholesky)"
