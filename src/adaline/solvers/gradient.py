"""Batch gradient descent on any smooth objective: theta <- theta - eta gradient (S0 section 5.3, S2, S4).

`rate` is eta: a number, or (linear machines) a vector (diagonal) or a matrix that acts on (w0, w); None takes steps in
a metric, with the share of each found by trying, twice the last one first, so that the objective never rises. It ends
when the metric's estimate g'Mg of twice the gap is met, or the objective is at most `stop_error`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.results import Status
from adaline.solvers.newton import Descended
from adaline.solvers.quasi import Metric, Scaled, Smooth, step_along
from adaline.solvers.searching import FLAT

Array = NDArray[np.float64]

DIVERGED = 1e6


@dataclass(frozen=True)
class Stop:
    """When a descent ends: gap wanted, objective wanted, steps, and how large the objective is at first sight."""

    wanted: float
    error: float | None
    epochs: int
    scale: float


def descend(problem: Smooth, theta: Array, metric: Metric, rate: Array | None, stop: Stop) -> tuple[Descended, Status]:
    """Step down; where the objective explodes, the best weights so far are returned."""
    here = best = Descended(theta, problem.at(theta), None)
    first, share = here.at.value, 1.0
    for _ in range(stop.epochs):
        g = here.at.gradient
        if (stop.error is not None and here.at.value <= stop.error) or _twice_gap(metric, g) <= stop.wanted:
            return _ended(here, Status.SOLVED)
        if rate is None:
            step = -Scaled(metric, share).solve(g)
            slope = float((g * step).sum())
            new, part = step_along(problem, here.theta, here.at, step, slope)
            if new is None:
                solved = -slope <= FLAT * abs(here.at.value) * share
                return _ended(here, Status.SOLVED if solved else Status.NOT_CONVERGED)
            step, share = part * step, 2 * part * share
        else:
            step = -(g @ rate.T if rate.ndim == 2 else rate * g)
            new = problem.at(here.theta + step)
        if not new.value - first <= DIVERGED * stop.scale:
            best.history = here.history
            return _ended(best, Status.DIVERGED)
        here = Descended(here.theta + step, new, None, [*here.history, new.value])
        if new.value <= best.at.value:
            best = here
    if here.at.value > first:
        best.history = here.history
        return _ended(best, Status.DIVERGED)
    return _ended(here, Status.NOT_CONVERGED)


def _twice_gap(metric: Metric, g: Array) -> float:
    return float((g * metric.solve(g)).sum())


def _ended(here: Descended, status: Status) -> tuple[Descended, Status]:
    here.converged = status is Status.SOLVED
    return here, status
