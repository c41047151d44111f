"""Iterative refinement on the raw rows: w += (S + P)^-1 (X'(t - Xw) - P w), the gradient in double-double (5.7).

The factor is a preconditioner: each step multiplies the error by rho, about condition x rounding for a triangle and
condition^2 x rounding for a Gram matrix. Coefficients are kept as hi + lo. The last correction and the observed rho
bound what is left of the error; the certificate's digits come from this bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.arrays import Array
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares.factor import EPS, Factor
from adaline.sources import Source
from adaline.sums import Residual, Theta, twofold
from adaline.sums.moments import ROUNDING

MAX_STEPS = 20
STALLED = 0.5
ENOUGH = ROUNDING / 4
NEGLIGIBLE = 2.0**-70  # a coefficient this small next to the others is zero to working precision
TWOFOLD_ROUNDING = 2.0**-100


@dataclass(frozen=True)
class Refined:
    """Scaled theta (K, 1 + D) with bounds on its errors (K, 1 + D); squares, gradient and gap (K,), in scaled units."""

    theta: Array
    error: Array
    squares: Array
    gradient: Array
    gap: Array
    passes: int


def refine(source: Source, factor: Factor, start: Array, penalty: RidgePenalty) -> Refined:
    """Return the least-squares solution refined from scaled coefficients `start` (K, D); one pass a step."""
    scaling = factor.scaling
    pull = penalty.scaled(scaling.scale)
    mean_hi, mean_lo = scaling.scaled_mean()
    length = factor.length
    hi, lo = start_with_intercept(factor, start)
    before = np.abs(hi[:, 1:] * length).max(axis=1, initial=0.0)
    passes = 0
    while True:
        sums = source.sum(Residual, Theta(hi, lo, scaling.exponent))
        passes += 1
        data, centred = _gradients(sums, hi, lo, mean_hi, mean_lo, pull)
        step = factor.solve(centred)
        constant = sums.gradient[0][:, 0] / scaling.weight if scaling.intercept else np.zeros(len(step))
        size = np.abs(step * length).max(axis=1, initial=0.0)
        rho = np.divide(size, before, out=np.zeros_like(size), where=before > 0)
        rho = np.maximum(rho, factor.contraction)
        good = rho < STALLED
        step, constant = step * good[:, None], constant * good
        left = np.where(good, rho, 1.0) * np.where(good, size, np.maximum(size, before))
        # the means are known to rounding of the spread only, and S^-1 amplifies what is left of sum r through them
        left = left + 4 * EPS * factor.condition**2 * np.abs(constant) * np.sqrt(scaling.weight)
        squares = sums.squares - 2 * (step * data).sum(axis=1) + (step * centred).sum(axis=1)
        squares = np.maximum(squares - step**2 @ pull - scaling.weight * constant**2, 0.0)
        change = np.concatenate([(constant - step @ mean_hi)[:, None], step], axis=1)
        hi, lo = twofold.add(hi, lo, change, 0.0)
        scaled = np.abs(hi[:, 1:]) * length
        wanted = np.where(scaled > NEGLIGIBLE * scaled.max(axis=1, keepdims=True, initial=0.0), scaled, np.inf)
        left_constant = (left[:, None] / length) @ np.abs(mean_hi) + rho * np.abs(constant)
        enough = left_constant <= ENOUGH * np.abs(hi[:, 0])
        enough |= np.abs(hi[:, 0]) * np.sqrt(scaling.weight) <= NEGLIGIBLE * scaled.max(axis=1, initial=0.0)
        done = (enough & (left <= ENOUGH * wanted.min(axis=1, initial=np.inf))) | ~good
        if done.all() or passes == MAX_STEPS:
            break
        before = np.where(good, size, before)
    error = np.zeros_like(hi)
    error[:, 1:] = (left[:, None] + _floor(factor, hi, squares, mean_hi)) * (factor.alive / length)
    error[:, 0] = error[:, 1:] @ np.abs(mean_hi) + rho * np.abs(constant)
    stored = ROUNDING * scaled.sum(axis=1)
    left_gap = 0.5 * (left**2 * scaling.features + stored**2)
    left_gradient = np.abs(centred / length).max(axis=1, initial=0.0) * np.minimum(rho, 1.0)
    return Refined(hi, error, squares, left_gradient, left_gap, passes)


def start_with_intercept(factor: Factor, u: Array) -> tuple[Array, Array]:
    """Return w0 = mean_t - mean_x'u in front of u, as hi and lo, (K, 1 + D)."""
    scaling = factor.scaling
    hi, lo = np.zeros((2, len(u), 1 + scaling.features))
    hi[:, 1:] = u
    if scaling.intercept:
        d = scaling.features
        exponent = -scaling.exponent.astype(np.int64)
        mean_hi, mean_lo = np.ldexp(scaling.mean_hi, exponent), np.ldexp(scaling.mean_lo, exponent)
        p_hi, p_lo = twofold.multiply(mean_hi[:d, None], mean_lo[:d, None], -u.T, 0.0)
        terms_hi = np.concatenate([mean_hi[None, d:], p_hi])
        terms_lo = np.concatenate([mean_lo[None, d:], p_lo])
        hi[:, 0], lo[:, 0] = twofold.sum_rows(terms_hi, terms_lo)
    return hi, lo


def _gradients(
    sums: Residual, hi: Array, lo: Array, mean_hi: Array, mean_lo: Array, penalties: Array
) -> tuple[Array, Array]:
    """Return the centred gradient of the data term, and with the penalty: g1 - mean g0 - P w, in double-double."""
    g_hi, g_lo = sums.gradient
    shift_hi, shift_lo = twofold.multiply(mean_hi, mean_lo, -g_hi[:, :1], -g_lo[:, :1])
    data_hi, data_lo = twofold.add(g_hi[:, 1:], g_lo[:, 1:], shift_hi, shift_lo)
    if not penalties.any():
        return data_hi, data_hi
    pull_hi, pull_lo = twofold.multiply(-penalties, 0.0, hi[:, 1:], lo[:, 1:])
    return data_hi, twofold.add(data_hi, data_lo, pull_hi, pull_lo)[0]


def _floor(factor: Factor, theta: Array, squares: Array, mean: Array) -> Array:
    """Return a bound on the error (K, D) that rounding in double-double leaves, in equilibrated coordinates."""
    scaling = factor.scaling
    reach = factor.inverse_lengths() * factor.length
    raw = np.hypot(np.sqrt(scaling.weight) * np.abs(mean), factor.length)
    mean_t = np.abs(np.ldexp(scaling.mean_hi[scaling.features :], -scaling.target_scale))
    terms = scaling.features * (np.abs(theta[:, 1:]) @ raw)
    terms = terms + np.sqrt(scaling.weight) * (np.abs(theta[:, 0]) + mean_t)  # t and w0 may cancel in the residual
    noise = reach.max(initial=0.0) * np.sqrt(scaling.features * squares) + terms
    return np.asarray(TWOFOLD_ROUNDING * noise[:, None] * reach)
