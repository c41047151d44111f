"""Iterative refinement on the raw rows: w += (S + P)^-1 (X'(t - Xw) - P w), the gradient in double-double (5.7).

The factor is a preconditioner: each step multiplies the error by rho, about condition x rounding for a triangle and
condition^2 x rounding for a Gram matrix. Coefficients are kept as hi + lo. The last correction and the observed rho
bound the remaining error, and the certificate's digits come from this bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

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


@dataclass(eq=False, slots=True)
class Refinement:
    """A solution that is being refined, in scaled units, with all that its steps read and change.

    Parameters
    ----------
    hi, lo : (K, 1 + D) coefficients hi + lo, intercept first.
    error : (K, 1 + D) bounds on their errors.
    data, centred : (K, D) gradient of the data term about the means, and the same with that of the penalties.
    progress : (4, K) size of the last step, sum of squares, and bounds on gradient and gap.
    means : (D + K,) means as hi and lo.
    pull, length, down, reach : (D,) penalties, lengths of the columns, 1/length of those that take part, and the
        lengths of the rows of C^-1/2.
    weight, intercept, contraction, condition : of the rows, and of the factor.
    """

    hi: Array
    lo: Array
    error: Array
    data: Array
    centred: Array
    progress: Array
    means: tuple[Array, Array]
    pull: Array
    length: Array
    down: Array
    reach: Array
    weight: float
    intercept: bool
    contraction: float
    condition: float

    @classmethod
    def begun(cls, factor: Factor, start: Array, penalty: RidgePenalty) -> Self:
        """Return the solution before its first step, from scaled coefficients `start` (K, D)."""
        scaling, length = factor.scaling, factor.length
        hi, lo, size = start_with_intercept(factor, start)
        progress = np.empty((4, len(hi)))
        progress[0] = size
        return cls(
            hi=hi,
            lo=lo,
            error=np.empty(hi.shape),
            data=np.empty(start.shape),
            centred=np.empty(start.shape),
            progress=progress,
            means=scaling.scaled_means,
            pull=penalty.scaled(scaling.exponent),
            length=length,
            down=factor.down,
            reach=factor.inverse_lengths() * length,
            weight=scaling.weight,
            intercept=scaling.intercept,
            contraction=factor.contraction,
            condition=factor.condition,
        )


def refine(source: Source, factor: Factor, start: Array, penalty: RidgePenalty) -> Refined:
    """Return the least-squares solution refined from scaled coefficients `start` (K, D); one pass a step."""
    here = Refinement.begun(factor, start, penalty)
    passes, more = 0, True
    while more and passes < MOST_STEPS:
        sums = source.sum(Residual, Theta(here.hi, here.lo, factor.scaling.exponent)).sums
        passes += 1
        find_gradient(here, sums)
        more = take_step(here, sums, np.ascontiguousarray(factor.solve(here.centred)))
    _, squares, gradient, gap = here.progress
    return Refined(here.hi, here.error, squares, gradient, gap, passes)


def start_with_intercept(factor: Factor, u: Array) -> tuple[Array, Array, Array]:
    """Return w0 = mean_t - mean_x'u in front of u, as hi and lo, (K, 1 + D), and the largest |u| length, (K,)."""
    scaling = factor.scaling
    return put_intercept(scaling.scaled_means, factor.length, np.ascontiguousarray(u), scaling.intercept)


def put_intercept_reference(
    means: tuple[Array, Array], length: Array, u: Array, intercept: bool
) -> tuple[Array, Array, Array]:
    """Return w0 in front of u (K, D) as hi and lo, from scaled means (D + K,) as hi and lo, and the largest |u| length.

    Without an intercept, w0 is zero.
    """
    (mean_hi, mean_lo), (k, d) = means, u.shape
    hi, lo = np.zeros((2, k, 1 + d))
    hi[:, 1:] = u
    if intercept:
        p_hi, p_lo = twofold.multiply(mean_hi[:d, None], mean_lo[:d, None], -u.T, 0.0)
        terms_hi = np.concatenate([mean_hi[None, d:], p_hi])
        terms_lo = np.concatenate([mean_lo[None, d:], p_lo])
        hi[:, 0], lo[:, 0] = twofold.sum_rows(terms_hi, terms_lo)
    return hi, lo, np.abs(u * length).max(axis=1, initial=0.0)


def _put_intercept(means: tuple[Array, Array], length: Array, u: Array, intercept: bool) -> tuple[Array, Array, Array]:
    k, d = u.shape
    hi, lo, size = np.empty((k, 1 + d)), np.empty((k, 1 + d)), np.empty(k)
    native.refine_start(hi, lo, size, *means, length, u, intercept)
    return hi, lo, size


def find_gradient_reference(here: Refinement, sums: Array) -> None:
    """Set `data` to the centred gradient of the data term, g1 - mean g0, and `centred` to that with - P w."""
    d, hi, lo, (mean_hi, mean_lo) = len(here.pull), here.hi, here.lo, here.means
    g_hi, g_lo = sums[:, :-1, 0], sums[:, :-1, 1]
    shift_hi, shift_lo = twofold.multiply(mean_hi[:d], mean_lo[:d], -g_hi[:, :1], -g_lo[:, :1])
    here.data[:], data_lo = twofold.add(g_hi[:, 1:], g_lo[:, 1:], shift_hi, shift_lo)
    pull_hi, pull_lo = twofold.multiply(-here.pull, 0.0, hi[:, 1:], lo[:, 1:])
    penalised = twofold.add(here.data, data_lo, pull_hi, pull_lo)[0]
    here.centred[:] = penalised if here.pull.any() else here.data


def _find_gradient(here: Refinement, sums: Array) -> None:
    native.refine_gradient(sums, here.hi, here.lo, *here.means, here.pull, here.data, here.centred)


def take_step_reference(here: Refinement, sums: Array, step: Array) -> bool:
    """Take a step (K, D) from the sums of the residuals, and bound the remaining errors; return whether to continue."""
    hi, lo, error, progress, length, reach = here.hi, here.lo, here.error, here.progress, here.length, here.reach
    d, root, mean = len(length), np.sqrt(here.weight), here.means[0]
    mean_x, mean_t, before = np.abs(mean[:d]), np.abs(mean[d:]), progress[0].copy()
    constant = sums[:, 0, 0] / here.weight if here.intercept else np.zeros(len(step))
    size = np.abs(step * length).max(axis=1, initial=0.0)
    rho = np.divide(size, before, out=np.zeros_like(size), where=before > 0)
    rho = np.maximum(rho, here.contraction)
    good = rho < SLOW_CONTRACTION
    step, constant = step * good[:, None], constant * good
    left = np.where(good, rho * size, np.maximum(size, before))
    # the means are known to rounding of the spread only, and S^-1 amplifies what is left of sum r through them
    left = left + 4 * EPS * here.condition**2 * np.abs(constant) * root
    # the gradient was rounded to one number, and the triangles were solved in such: C^-1 amplifies that
    slope, farthest = np.abs(here.centred / length).max(axis=1, initial=0.0), reach.max(initial=0.0)
    left = left + (2 * d + 4) * ROUNDING * farthest**2 * np.sqrt(d) * slope
    squares = sums[:, -1, 0] - 2 * (step * here.data).sum(axis=1) + (step * here.centred).sum(axis=1)
    squares = np.maximum(squares - step**2 @ here.pull - here.weight * constant**2, 0.0)
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
    error[:, 1:] = (left[:, None] + TWOFOLD_ROUNDING * noise[:, None] * reach) * here.down
    error[:, 0] = error[:, 1:] @ mean_x + left_of_mean
    progress[0] = np.where(good, size, before)
    progress[1] = squares
    progress[2] = slope * np.minimum(rho, 1.0)
    progress[3] = 0.5 * (left**2 * d + (ROUNDING * scaled.sum(axis=1)) ** 2)
    return not done.all()


def _take_step(here: Refinement, sums: Array, step: Array) -> bool:
    more = native.refine_step(
        *(here.hi, here.lo, step, sums, here.data, here.centred),
        *(here.means[0], here.pull, here.length, here.down, here.reach, here.progress, here.error),
        *(here.weight, here.intercept, here.contraction, here.condition),
    )
    return bool(more)


put_intercept = put_intercept_reference if native is None else _put_intercept
find_gradient = find_gradient_reference if native is None else _find_gradient
take_step: Callable[[Refinement, Array, Array], bool] = take_step_reference if native is None else _take_step
