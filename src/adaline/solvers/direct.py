"""Least squares and ridge from sums, (5.8) and (5.13): solve, bound the error, refine where the bound asks for it.

    (S + P) w = c,   w0 = mean_t - mean_x'w,   S = X'X and c = X't about the means, P = diag(penalty)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adaline.results import Solution, Status
from adaline.solvers.factor import CholeskyFactor, Factor, SpectralFactor, gram_factor, triangle_factor
from adaline.solvers.fit import Fit, certificate, digits, judge, raw_theta
from adaline.solvers.refine import Refined, refine
from adaline.sources import Source
from adaline.sums import Moments, Triangle
from adaline.sums.moments import ROUNDING

Array = NDArray[np.float64]

SAFETY = 4.0


def solve_gram(moments: Moments, intercept: bool, penalty: Array) -> tuple[Factor, Refined]:
    """Solve from the sums alone, with an a-priori bound on the errors."""
    factor, relative = gram_factor(moments, intercept, penalty)
    d = factor.frame.features
    cross = moments.second[d:, :d]
    total = moments.second.diagonal()[d:]
    u = factor.solve(cross)
    squares = np.maximum(total - (u * cross).sum(axis=1), 0.0)
    if penalty.any():
        squares = np.maximum(squares - u**2 @ np.ldexp(penalty, -2 * factor.frame.scale), 0.0)
    error = _prior_error(factor, relative, u, moments.noise[d:] + 8 * ROUNDING * total)
    size = np.abs(error * factor.length).sum(axis=1)
    theta = _with_intercept(factor, u)
    mean = np.abs(factor.frame.scaled_mean()[0])
    constant = error @ mean + 2 * ROUNDING * (np.abs(u) @ mean)
    gradient = (size / np.sqrt(max(d, 1))) if d else np.zeros(len(u))
    return factor, Refined(theta, np.column_stack([constant, error]), squares, gradient, 0.5 * size**2, 0)


def solve_triangle(source: Source, moments: Moments, intercept: bool, penalty: Array, spectral: bool) -> tuple[Factor, Refined]:
    """Solve from the triangle and refine."""
    triangle = source.sum(Triangle, centred=intercept)
    factor, u, _ = triangle_factor(triangle, moments.shape.features, moments.weight, penalty, spectral)
    out = refine(source, factor, _with_intercept(factor, u), np.ldexp(penalty, -2 * factor.frame.scale))
    return factor, Refined(out.theta, out.error, out.squares, out.gradient, out.gap, out.passes + 1)


def assemble(moments: Moments, factor: Factor, out: Refined, penalty: Array, solver: str) -> Fit:
    """Put a solution back into raw units, with its certificate."""
    frame = factor.frame
    d = frame.features
    theta = raw_theta(frame, out.theta)
    length = np.concatenate([[np.sqrt(frame.weight)], factor.length])
    error = out.error
    if isinstance(factor, SpectralFactor):
        # the directions cut off are known to rounding times condition; so is the projection that removes them
        slack = 16 * ROUNDING * factor.condition * np.abs(out.theta[:, 1:] * factor.raw).max(axis=1, initial=0.0)
        error = error + np.column_stack([0 * slack, slack[:, None] / factor.raw])
        error[:, 0] += error[:, 1:] @ np.abs(frame.scaled_mean()[0])
    found = digits(error, out.theta, length)
    unit = np.exp2(frame.target_scale)
    squares = out.squares * unit**2
    ridge = (theta[:, 1:] ** 2) @ penalty
    status = judge(factor.rank, d, factor.condition, found)
    return Fit(
        solution=Solution(
            theta,
            certificate(
                status=status,
                objective=float(0.5 * (squares + ridge).sum()),
                gradient=float((out.gradient * unit).max() * np.sqrt(frame.weight)),
                gap=float((out.gap * unit**2).sum()),
                digits=found,
                condition=factor.condition,
                rank=factor.rank,
                passes=1 + out.passes,
                solver=solver,
            ),
        ),
        squares=squares,
        total=moments.second.diagonal()[d:] * np.exp2(2 * moments.exponent[d:]),
        factor=factor,
        trace=np.full(len(theta), frame.intercept + _trace(factor, penalty)),
        rows=moments.rows,
        weight=moments.weight,
        penalty=penalty,
    )


def _trace(factor: Factor, penalty: Array) -> float:
    """Return tr((S + P)^-1 S) = rank - tr((S + P)^-1 P)."""
    if not penalty.any():
        return float(factor.rank)
    ridge = np.ldexp(penalty, -2 * factor.frame.scale)
    return float(factor.rank - (factor.inverse_lengths() ** 2) @ ridge)


def _with_intercept(factor: Factor, u: Array) -> Array:
    """Put w0 = mean_t - mean_x'w in front, in scaled coordinates."""
    frame = factor.frame
    mean_t = np.ldexp(frame.mean_hi[frame.features :], -frame.target_scale)
    return np.column_stack([mean_t - u @ frame.scaled_mean()[0], u])


def _prior_error(factor: Factor, relative: Array, u: Array, target_noise: Array) -> Array:
    """Bound the error of u = (S + dS)^-1 (c + dc), the entries of dS and dc taken as independent.

    du = S^-1 (dc - dS u), |dS_ij| <= length_i length_j sqrt(relative_i relative_j): in equilibrated coordinates
    (dS u)_i is about sqrt(relative_i) times the length of sqrt(relative) u.
    """
    grain = np.sqrt(relative)
    push = np.sqrt(((grain * u * factor.length) ** 2).sum(axis=1)) + np.sqrt(target_noise)
    spread = factor.half(np.eye(factor.frame.features) * factor.length)
    inverse = spread @ spread.T  # C^-1
    return SAFETY * push[:, None] * np.sqrt((inverse**2) @ relative) / factor.length


def solve_sums(moments: Moments, intercept: bool, penalty: Array) -> Fit:
    """Solve from sums alone, as streams, merged and thinned models must."""
    factor, out = solve_gram(moments, intercept, penalty)
    return finish(moments, factor, out, penalty, gram_name(factor) + " on sums")


def gram_name(factor: Factor) -> str:
    """Return what the certificate calls a factor of the Gram matrix."""
    return "normal equations (SVD)" if isinstance(factor, SpectralFactor) else "normal equations (Cholesky)"


def finish(moments: Moments, factor: Factor, out: Refined, penalty: Array, solver: str) -> Fit:
    """Assemble a solution from a Gram matrix; claim no digits where directions were cut off that the sums alone cannot
    tell from merely ill-conditioned ones."""
    result = assemble(moments, factor, out, penalty, solver)
    if isinstance(factor, CholeskyFactor) or factor.rank == int(factor.alive.sum()):
        return result
    proof = replace(
        result.solution.certificate, digits=0.0, status=Status.RANK_DEFICIENT, advice=Status.FEW_DIGITS.advice
    )
    return replace(result, solution=Solution(result.solution.theta, proof))
