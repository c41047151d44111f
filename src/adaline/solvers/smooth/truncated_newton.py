"""Truncated Newton: the Newton system solved roughly by conjugate gradients on products, so that no matrix is formed.

Each product with the second derivatives is one pass over the rows; the system is solved to a share of the gradient that
shrinks with the gradient (Dembo, Eisenstat and Steihaug 1982).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from adaline.arrays import Array
from adaline.solvers.smooth.lbfgs import Done, Metric, inner, step_along
from adaline.solvers.smooth.newton import FLAT_CHANGE, DescentResult, GiveUp, never
from adaline.solvers.smooth.problem import Problem

# products with H per step; doubling it takes longer steps, and fewer of them where H is ill-conditioned
MOST_PRODUCTS = 200


def truncated_newton(
    problem: Problem,
    theta: Array,
    metric: Callable[[Array], Metric],
    done: Done,
    max_steps: int = 200,
    give_up: GiveUp = never,
) -> DescentResult:
    """Step down from theta until `done`; the metric of the conjugate gradients is computed again for each step."""
    here = DescentResult(theta, problem.evaluate(theta))
    first = 0.0
    for _ in range(max_steps):
        if (met := done(here.evaluation, math.inf)) or give_up(here):
            return here._replace(converged=met)
        current = metric(here.theta)
        length = math.sqrt(inner(here.evaluation.gradient, current(here.evaluation.gradient)))
        first = first or length
        times = partial(problem.times, here.theta)
        step, _ = newton_step(times, here.evaluation.gradient, current, forcing_share(length, first))
        slope = inner(here.evaluation.gradient, step)
        if done(here.evaluation, -slope):
            return here._replace(converged=True)
        new, share = step_along(problem.evaluate, here.theta, here.evaluation, step, slope)
        if new is None:
            return here._replace(converged=-slope <= FLAT_CHANGE * abs(here.evaluation.value))
        here = here.moved(share * step, new)
    return here


def forcing_share(length: float, first: float) -> float:
    """Return the share of a gradient of this length that a step may leave; `first` is the length of the first one."""
    return min(0.1, math.sqrt(length / first)) if first > 0 else 0.1


def newton_step(times: Callable[[Array], Array], g: Array, metric: Metric, share: float) -> tuple[Array, Array]:
    """Return a step with |H step + g| at most a share of |g|, lengths taken in the metric, and H step + g.

    `times` is the product with H.
    """
    step, left = np.zeros_like(g), g.copy()
    solved = metric(left)
    square = start = inner(left, solved)
    direction = -solved
    for _ in range(MOST_PRODUCTS):
        if square <= share**2 * start:
            break
        product = times(direction)
        curvature = inner(direction, product)
        if curvature <= 0:
            return (step, left) if step.any() else (direction, left + product)
        length = square / curvature
        step = step + length * direction
        left = left + length * product
        solved = metric(left)
        square, before = inner(left, solved), square
        direction = -solved + direction * (square / before)
    return step, left
