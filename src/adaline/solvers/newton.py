"""Damped Newton, which is iteratively reweighted least squares (S2: IRLS; S0 section 5.9).

    theta <- theta - s H^-1 gradient,   s = 1, or less where the whole step would not lower F enough

Each iteration is one pass that returns value, gradient and second derivatives together. It ends when the gap that the
decrement proves is below what was asked for, takes one more step, which squares what is left, and stops where steps no
longer shrink: at the rounding floor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from adaline.solvers.curvature import Curvature, factor, gap
from adaline.solvers.problem import At, Problem
from adaline.solvers.searching import FLAT, search

Array = NDArray[np.float64]

FLOOR = 1e-20  # squared decrements below this share of F, which no longer halve, are rounding
SLOW = 0.2  # a whole step that leaves more than this share of the decrement squared is not Newton's pace


@dataclass
class Descended:
    """Where a solver ended: weights in the view, F there, its factor, F after each step, and how many were slow."""

    theta: Array
    at: At
    curvature: Curvature | None
    history: list[float] = field(default_factory=list)
    gap: float = math.inf
    converged: bool = False
    slow: int = 0
    given_up: bool = False


def newton(
    problem: Problem,
    theta: Array,
    wanted: float,
    most: int = 100,
    give_up: Callable[[Descended], bool] = lambda _: False,
) -> Descended:
    """Step down until the gap is at most `wanted` and once more; `give_up` looks at every iterate."""
    here = Descended(theta, problem.at(theta, second=True), None)
    last = math.inf
    for _ in range(most):
        if here.at.hessian is None:
            problem.refuse()
        here.curvature = factor(here.at.hessian)
        decrement = here.curvature.length(here.at.gradient)
        here.gap = gap(decrement, reach(problem, here.curvature), problem.loss.concordance)
        if math.isinf(here.gap) and not math.isfinite(problem.loss.concordance):
            here.gap = decrement**2 if decrement**2 <= FLAT * abs(here.at.value) else math.inf
        met = is_met(problem, here.gap, decrement, wanted)
        floor = decrement**2 <= FLOOR * abs(here.at.value)
        if (here.converged or floor) and decrement >= 0.5 * last:
            here.converged = True
            return here
        if decrement == 0:
            here.converged = problem.steepness(here.at.gradient) <= math.sqrt(FLAT) * problem.spread.weight
            here.gap = here.gap if here.converged else math.inf
            return here
        if here.converged and met and decrement**2 <= 1e-24 * max(abs(here.at.value), 1e-300):
            return here
        here.converged = met
        if give_up(here):
            return here
        step = -here.curvature.solve(here.at.gradient)
        new, share = _search(problem, here, step, -(decrement**2))
        if new is None:
            here.converged = decrement**2 <= max(wanted, FLAT * abs(here.at.value))
            return here
        here.slow = here.slow + 1 if share == 1 and decrement > math.sqrt(SLOW) * last else 0
        here.theta, here.at, last = here.theta + share * step, new, decrement
        here.history.append(new.value)
    return here


def is_met(problem: Problem, bound: float, decrement: float, wanted: float) -> bool:
    """Whether the gap is small enough: proven, or shown by the decrement where a loss allows no proof."""
    if math.isfinite(problem.loss.concordance):
        return bound <= wanted
    return bound <= wanted or decrement**2 <= wanted * 1e-3


def _search(problem: Problem, here: Descended, step: Array, slope: float) -> tuple[At | None, float]:
    value = here.at.value
    return search(lambda s: problem.at(here.theta + s * step, second=True), value, slope, FLAT * abs(value))


def reach(problem: Problem, curvature: Curvature) -> float:
    """Return a bound on the length of any row (1, v) in the metric of H: its length in the view, over H's smallest."""
    view, spread = problem.view, problem.spread
    furthest = np.abs(view.offset) + spread.largest * view.scale
    rows = math.sqrt(problem.intercept + float((furthest**2).sum()))
    return rows * float(np.linalg.norm(curvature.root)) if curvature.rank else math.inf
