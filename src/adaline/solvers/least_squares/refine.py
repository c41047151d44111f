"""Iterative refinement on the raw rows: w += (S + P)^-1 (X'(t - Xw) - P w), the gradient in double-double (5.7).

The factor is a preconditioner: each step multiplies the error by rho, about condition x rounding for a triangle and
condition^2 x rounding for a Gram matrix. Coefficients are kept as hi + lo. The last correction and the observed rho
bound what is left of the error; the certificate's digits come from this bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adaline import twofold
from adaline.arrays import Array
from adaline.kernels import native
from adaline.penalties import RidgePenalty
from adaline.solvers.least_squares.factor import EPS, Factor
from adaline.sources import Source
from adaline.sums import Residual, Theta
from adaline.sums.moments import ROUNDING

MOST_STEPS = 20  # refinement steps; doubling it matters only for fits that converge slowly
SLOW_CONTRACTION = 0.5  # ratio of successive steps from which refinement stops; larger takes more steps for little
LAST_BIT = ROUNDING / 4  # relative error at which refinement stops; 4x larger may leave the last bit wrong
# coefficients this small, relative to the largest, count as zero and do not keep refinement going
NEGLIGIBLE_SIZE = 2.0**-70
TWOFOLD_ROUNDING = 2.0**-100  # rounding of sums in double-double, relative to their terms


class Refined(NamedTuple):
    """Scaled theta (K, 1 + D) with bounds on its errors (K, 1 + D); squares, gradient and gap (K,), in scaled units."""

    theta: Array
    error: Array
    squares: Array
    gradient: Array
    gap: Array
    passes: int


def refine(source: Source, factor: Factor, start: Array, penalty: RidgePenalty) -> Refined:
    """Return the least-squares solution refined from scaled coefficients `start` (K, D); one pass a step."""
    scaling, length = factor.scaling, factor.length
    pull = penalty.scaled(scaling.exponent)
    mean_hi, mean_lo = scaling.scaled_means
    reach = factor.inverse_lengths() * length
    hi, lo, size = start_with_intercept(factor, start)
    data, centred, error = np.empty(start.shape), np.empty(start.shape), np.empty(hi.shape)
    progress = np.empty((4, len(hi)))
    progress[0] = size
    columns = (mean_hi, pull, length, factor.down, reach)
    known = (scaling.weight, scaling.intercept, factor.contraction, factor.condition)
    passes, more = 0, True
    while more and passes < MOST_STEPS:
        sums = source.sum(Residual, Theta(hi, lo, scaling.exponent)).sums
        passes += 1
        find_gradient(sums, hi, lo, mean_hi, mean_lo, pull, data, centred)
        step = np.ascontiguousarray(factor.solve(centred))
        more = take_step(hi, lo, step, sums, data, centred, *columns, progress, error, *known)
    return Refined(hi, error, progress[1], progress[2], progress[3], passes)


def start_with_intercept(factor: Factor, u: Array) -> tuple[Array, Array, Array]:
    """Return w0 = mean_t - mean_x'u in front of u, as hi and lo, (K, 1 + D), and the largest |u| length, (K,)."""
    scaling = factor.scaling
    shape = (len(u), 1 + scaling.features)
    hi, lo, size = np.empty(shape), np.empty(shape), np.empty(len(u))
    put_intercept(hi, lo, size, *scaling.scaled_means, factor.length, np.ascontiguousarray(u), scaling.intercept)
    return hi, lo, size


def put_intercept_reference(
    hi: Array, lo: Array, size: Array, mean_hi: Array, mean_lo: Array, length: Array, u: Array, intercept: bool
) -> None:
    """Set hi and lo (K, 1 + D) to w0 = mean_t - mean_x'u in front of u (K, D), of scaled means (D + K,).

    size (K,) becomes the largest |u| length.
    """
    d = u.shape[1]
    hi[:], lo[:] = 0.0, 0.0
    hi[:, 1:] = u
    size[:] = np.abs(u * length).max(axis=1, initial=0.0)
    if intercept:
        p_hi, p_lo = twofold.multiply(mean_hi[:d, None], mean_lo[:d, None], -u.T, 0.0)
        terms_hi = np.concatenate([mean_hi[None, d:], p_hi])
        terms_lo = np.concatenate([mean_lo[None, d:], p_lo])
        hi[:, 0], lo[:, 0] = twofold.sum_rows(terms_hi, terms_lo)


def find_gradient_reference(
    sums: Array, hi: Array, lo: Array, mean_hi: Array, mean_lo: Array, pull: Array, data: Array, centred: Array
) -> None:
    """Set data (K, D) to the centred gradient of the data term, g1 - mean g0, and centred to that with - P w."""
    d = len(pull)
    g_hi, g_lo = sums[:, :-1, 0], sums[:, :-1, 1]
    shift_hi, shift_lo = twofold.multiply(mean_hi[:d], mean_lo[:d], -g_hi[:, :1], -g_lo[:, :1])
    data[:], data_lo = twofold.add(g_hi[:, 1:], g_lo[:, 1:], shift_hi, shift_lo)
    pull_hi, pull_lo = twofold.multiply(-pull, 0.0, hi[:, 1:], lo[:, 1:])
    centred[:] = twofold.add(data, data_lo, pull_hi, pull_lo)[0] if pull.any() else data


def take_step_reference(
    hi: Array,
    lo: Array,
    step: Array,
    sums: Array,
    data: Array,
    centred: Array,
    mean: Array,
    pull: Array,
    length: Array,
    down: Array,
    reach: Array,
    progress: Array,
    error: Array,
    weight: float,
    intercept: bool,
    contraction: float,
    condition: float,
) -> bool:
    """Take a step (K, D) into hi and lo, and bound the errors that are left, (K, 1 + D); return whether to continue.

    Parameters
    ----------
    sums, data, centred : of the residuals at hi + lo.
    mean : (D + K,) scaled means; pull, length, down, reach : (D,), down is 1/length of columns that take part, and
        reach the lengths of the rows of C^-1/2.
    progress : (4, K), set: the size of the step before, sum of squares, and what is left of gradient and gap.
    """
    d, root = len(length), np.sqrt(weight)
    mean_x, mean_t, before = np.abs(mean[:d]), np.abs(mean[d:]), progress[0].copy()
    constant = sums[:, 0, 0] / weight if intercept else np.zeros(len(step))
    size = np.abs(step * length).max(axis=1, initial=0.0)
    rho = np.divide(size, before, out=np.zeros_like(size), where=before > 0)
    rho = np.maximum(rho, contraction)
    good = rho < SLOW_CONTRACTION
    step, constant = step * good[:, None], constant * good
    left = np.where(good, rho * size, np.maximum(size, before))
    # the means are known to rounding of the spread only, and S^-1 amplifies what is left of sum r through them
    left = left + 4 * EPS * condition**2 * np.abs(constant) * root
    # the gradient was rounded to one number, and the triangles were solved in such: C^-1 amplifies that
    slope, farthest = np.abs(centred / length).max(axis=1, initial=0.0), reach.max(initial=0.0)
    left = left + (2 * d + 4) * ROUNDING * farthest**2 * np.sqrt(d) * slope
    squares = sums[:, -1, 0] - 2 * (step * data).sum(axis=1) + (step * centred).sum(axis=1)
    squares = np.maximum(squares - step**2 @ pull - weight * constant**2, 0.0)
    change = np.concatenate([(constant - step @ mean[:d])[:, None], step], axis=1)
    hi[:], lo[:] = twofold.add(hi, lo, change, 0.0)
    scaled = np.abs(hi[:, 1:]) * length
    largest = scaled.max(axis=1, initial=0.0)
    wanted = np.where(scaled > NEGLIGIBLE_SIZE * largest[:, None], scaled, np.inf).min(axis=1, initial=np.inf)
    left_of_mean = rho * np.abs(constant)
    enough = left * (mean_x / length).sum() + left_of_mean <= LAST_BIT * np.abs(hi[:, 0])
    enough |= np.abs(hi[:, 0]) * root <= NEGLIGIBLE_SIZE * largest
    done = (enough & (left <= LAST_BIT * wanted)) | ~good
    # what rounding in double-double leaves; t and w0 may cancel in the residual
    terms = d * (np.abs(hi[:, 1:]) @ np.hypot(root * mean_x, length)) + root * (np.abs(hi[:, 0]) + mean_t)
    noise = farthest * np.sqrt(d * squares) + terms
    error[:, 1:] = (left[:, None] + TWOFOLD_ROUNDING * noise[:, None] * reach) * down
    error[:, 0] = error[:, 1:] @ mean_x + left_of_mean
    progress[0] = np.where(good, size, before)
    progress[1] = squares
    progress[2] = slope * np.minimum(rho, 1.0)
    progress[3] = 0.5 * (left**2 * d + (ROUNDING * scaled.sum(axis=1)) ** 2)
    return not done.all()


put_intercept: Any = put_intercept_reference if native is None else native.refine_start
find_gradient: Any = find_gradient_reference if native is None else native.refine_gradient
take_step: Any = take_step_reference if native is None else native.refine_step
