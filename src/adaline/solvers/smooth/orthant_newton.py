"""l1 penalties on more columns than any matrix has: truncated Newton steps within orthants.

    P(theta) = F(theta) + sum_j l1_j |w_j|

In the orthant of the signs of w, and of minus the least subgradient where w is zero, P is smooth. A step solves the
Newton system of the coefficients that are free there, by conjugate gradients on products: no matrix, and no pass for
single columns. What would leave the orthant becomes zero.

References
----------
G. Andrew, J. Gao, Scalable training of l1-regularized log-linear models, ICML 2007, 33-40; R. Byrd, G. Chin, J.
Nocedal, F. Oztoprak, A family of second-order methods for convex l1-regularized optimization, Math. Program. 159
(2016), 435-467.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.solvers.smooth.lbfgs import inner, of_diagonal
from adaline.solvers.smooth.newton import FLAT_CHANGE, DescentResult
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.solvers.smooth.truncated_newton import forcing_share, newton_step

ARMIJO = 1e-4  # share of the decrease promised by the slope that a step must reach; larger shortens more steps
MOST_HALVINGS = 40  # halvings of a step before it is given up; more do not change an output beyond rounding


def orthant_newton(
    problem: Problem,
    l1: Array,
    here: DescentResult,
    gap: Callable[[Array, Evaluation], float],
    wanted: float,
    max_steps: int,
) -> DescentResult:
    """Step down from a point, where F is known, until the gap of P is at most `wanted`.

    `l1` is (1 + D,), zero for the intercept; `history` has P after each step.
    """
    first = 0.0
    for _ in range(max_steps):
        theta, evaluation = here.theta, here.evaluation
        found = gap(theta, evaluation)
        here = here._replace(gap=found, converged=found <= wanted)
        if here.converged:
            return here
        steep = least_subgradient(theta, evaluation.gradient, l1)
        free = (theta != 0) | (steep != 0)
        metric = of_diagonal(np.where(free, problem.diagonal(theta), 0.0))
        length = math.sqrt(inner(steep, metric(steep)))
        first = first or length
        times = partial(_free_product, problem, theta, free)
        step, _ = newton_step(times, steep, metric, forcing_share(length, first))
        new = _search(problem, l1, here, steep, step)
        if new is None:
            return here
        here = new._replace(history=[*here.history, *new.history])
    return here


def _free_product(problem: Problem, theta: Array, free: NDArray[np.bool_], direction: Array) -> Array:
    """Return the second derivatives at theta times a direction, zero where a coefficient is not free."""
    return np.where(free, problem.times(theta, direction), 0.0)


def least_subgradient(w: Array, g: Array, l1: Array) -> Array:
    """Return the least subgradient of smooth + sum l1 |w| where the smooth part has gradient g: zero at the minimum."""
    return np.where(w != 0, g + l1 * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - l1, 0.0))


def _search(problem: Problem, l1: Array, here: DescentResult, steep: Array, step: Array) -> DescentResult | None:
    """Return the first of ever shorter steps that lowers P enough, cut at the orthant; None where none does."""
    theta = here.theta
    value = here.evaluation.value + float((l1 * np.abs(theta)).sum())
    signs, share = np.where(theta != 0, np.sign(theta), -np.sign(steep)), 1.0
    for _ in range(MOST_HALVINGS):
        aim = theta + share * step
        aim[(aim * signs < 0) & (l1 > 0)] = 0.0
        promised = inner(steep, aim - theta)
        new = problem.evaluate(aim)
        reached = new.value + float((l1 * np.abs(aim)).sum())
        if promised < 0 and reached <= value + ARMIJO * promised + FLAT_CHANGE * abs(value):
            return DescentResult(aim, new, history=[reached])
        share /= 2
    return None
