"""Truncated Newton: the Newton system solved roughly by conjugate gradients on products, so that no matrix is formed.

Each product with the second derivatives is one pass over the rows; the system is solved to a share of the gradient that
falls as the gradient does (Dembo, Eisenstat and Steihaug 1982).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from adaline.arrays import Array
from adaline.solvers.smooth.lbfgs import Metric, inner, step_along
from adaline.solvers.smooth.newton import FLAT, DescentResult
from adaline.solvers.smooth.problem import Evaluation, Problem

MOST_PRODUCTS = 200


def truncated_newton(
    problem: Problem,
    theta: Array,
    metric: Callable[[Array], Metric],
    done: Callable[[Evaluation, float], bool],
    most: int = 200,
    give_up: Callable[[DescentResult], bool] = lambda _: False,
) -> DescentResult:
    """Step down until `done`, which sees F and the estimate of twice the gap; each step takes the metric anew."""
    here = DescentResult(theta, problem.evaluate(theta), None)
    first = 0.0
    for _ in range(most):
        if done(here.evaluation, math.inf) or give_up(here):
            here.converged = done(here.evaluation, math.inf)
            return here
        now = metric(here.theta)
        first = first or math.sqrt(inner(here.evaluation.gradient, now.solve(here.evaluation.gradient)))
        step = _solve(problem, here, now, first)
        slope = inner(here.evaluation.gradient, step)
        if done(here.evaluation, -slope):
            here.converged = True
            return here
        new, share = step_along(problem, here.theta, here.evaluation, step, slope)
        if new is None:
            here.converged = -slope <= FLAT * abs(here.evaluation.value)
            return here
        here.theta, here.evaluation = here.theta + share * step, new
        here.history.append(new.value)
    return here


def _solve(problem: Problem, here: DescentResult, metric: Metric, first: float) -> Array:
    """Return a step that solves H step = -gradient up to a share of it."""
    g = here.evaluation.gradient
    step, left = np.zeros_like(g), g.copy()
    moved = metric.solve(left)
    square = start = inner(left, moved)
    share = min(0.1, math.sqrt(math.sqrt(start) / first)) if first > 0 else 0.1
    direction = -moved
    for _ in range(MOST_PRODUCTS):
        if square <= share**2 * start:
            break
        bent = problem.times(here.theta, direction)
        bend = inner(direction, bent)
        if bend <= 0:
            return step if step.any() else direction
        length = square / bend
        step = step + length * direction
        left = left + length * bent
        moved = metric.solve(left)
        square, before = inner(left, moved), square
        direction = -moved + direction * (square / before)
    return step
