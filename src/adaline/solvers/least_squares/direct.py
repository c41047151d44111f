"""Least squares and ridge from sums, (5.8) and (5.13): solve, bound the error, and form the fit with its certificate.

(S + P) w = c,   w0 = mean_t - mean_x'w,   S = X'X and c = X't about the means, P the penalties
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.penalties import RidgePenalty
from adaline.results import Solution, Status
from adaline.solvers.least_squares.factor import Factor, KeptFactor, SpectralFactor, gram_factor
from adaline.solvers.least_squares.fit import Fit, certificate, judge, raw_solution, refuse_overflow
from adaline.solvers.least_squares.refine import Refined, start_with_intercept
from adaline.sums import Moments
from adaline.sums.moments import ROUNDING

LEFT_OUT = "columns that are linear combinations of columns before them are left out (see aliased_)"


class Normal(NamedTuple):
    """The normal equations solved from the sums alone: factor, relative noise of the columns, slopes u (K, D)."""

    moments: Moments
    factor: Factor
    relative: Array
    u: Array

    def bounded(self, penalty: RidgePenalty) -> Refined:
        """Return the solution with an a-priori bound on its errors."""
        factor, u, moments = self.factor, self.u, self.moments
        scaling = factor.scaling
        d = scaling.features
        total = moments.second.diagonal()[d:]
        squares = total - (u * moments.second[d:, :d]).sum(axis=1)
        squares = np.maximum(squares - u**2 @ penalty.scaled(scaling.exponent), 0.0)
        error = factor.prior_error(self.relative, u, moments.noise[d:] + 2 * ROUNDING * total)
        size = np.abs(error * factor.length).sum(axis=1)
        mean = np.abs(scaling.scaled_mean())
        theta = start_with_intercept(factor, u)[0]
        mean_t = np.abs(np.ldexp(scaling.mean_hi[d:], -scaling.target_scale))
        # means are as uncertain as sums of squares: rows taken out again leave their rounding behind
        blur = np.sqrt(ROUNDING * moments.noise / (scaling.weight or 1.0)) * scaling.intercept
        constant = error @ mean + 4 * ROUNDING * (np.abs(u) @ mean + mean_t) + np.abs(u) @ blur[:d] + blur[d:]
        gradient = size / np.sqrt(max(d, 1))
        return Refined(theta, np.column_stack([constant, error]), squares, gradient, 0.5 * size**2, 0)


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
    refuse_overflow(theta)
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

    Coefficients count by what they add to predictions: about the means, at a row as far from them as rows usually are,
    their errors add up to a bound on the error, their sizes to that of what predictions are made of.
    """
    normal = solve_gram(moments, intercept, penalty)
    factor, scaling = normal.factor, normal.factor.scaling
    if not factor.decided or not scaling.weight > 0:
        return 0.0
    out, d = normal.bounded(penalty), scaling.features
    error = _error(factor, out)
    spread = np.sqrt(moments.second.diagonal()[:d] / scaling.weight)
    size = np.abs(out.theta[:, 1:]) @ spread
    wrong = error[:, 1:] @ spread
    if intercept:
        wrong += error[:, 0] - error[:, 1:] @ np.abs(scaling.scaled_mean())
        size += np.abs(np.ldexp(scaling.mean_hi[d:], -scaling.target_scale))
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
    wrong = out.error[:, 0] - out.error[:, 1:] @ mean + 2 * ROUNDING * (theta[:, 0] + theta[:, 1:] @ mean)
    return np.asarray(0.5 * (np.sqrt(2 * out.gap) + np.sqrt(scaling.weight) * np.maximum(wrong, 0.0)) ** 2)


def _trace(factor: Factor, penalty: RidgePenalty) -> float:
    """Return tr((S + P)^-1 S) = rank - tr((S + P)^-1 P)."""
    if not penalty.any():
        return float(factor.rank)
    return float(factor.rank - factor.inverse_lengths() ** 2 @ penalty.scaled(factor.scaling.exponent))


def solve_sums(moments: Moments, intercept: bool, penalty: RidgePenalty, drop: bool = False) -> Fit:
    """Solve from sums alone, as streams, merged and thinned models must; `drop` leaves out later dependent columns."""
    normal = solve_gram(moments, intercept, penalty)
    if drop and isinstance(normal.factor, SpectralFactor):
        kept = normal.factor.kept()
        d = kept.scaling.features
        normal = normal._replace(factor=kept, u=kept.solve(moments.second[d:, :d]))
    return assemble(moments, normal.factor, normal.bounded(penalty), penalty, gram_name(normal.factor) + " on sums")


def gram_name(factor: Factor) -> str:
    """Return the name of the solver in the certificate, by the factor of its Gram matrix."""
    return "normal equations (SVD)" if isinstance(factor, SpectralFactor) else "normal equations (Cholesky)"
