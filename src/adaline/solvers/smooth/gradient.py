"""Batch gradient descent on any smooth objective: theta <- theta - eta gradient (S0 section 5.3, S2, S4).

`rate` is eta: a number, or (linear machines) a vector (diagonal) or a matrix that acts on (w0, w); None takes steps in
a metric, with the share of each found by trying, twice the last one first, so that the objective never rises. It ends
when the metric's estimate g'Mg of twice the gap is met, or the objective is at most `stop_error`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.losses import Loss
from adaline.results import Status
from adaline.solvers.smooth.lbfgs import Diagonal, Metric, Scaled, SmoothObjective, lbfgs, step_along
from adaline.solvers.smooth.newton import FLAT, DescentResult
from adaline.solvers.smooth.problem import Evaluation
from adaline.sources import Source
from adaline.sums.machine import DifferentiableMachine, MachineObjective, MachinePoint

DIVERGED = 1e6


@dataclass(frozen=True)
class Stop:
    """When a descent ends: gap wanted, objective wanted, steps, and how large the objective is at first sight."""

    wanted: float
    error: float | None
    epochs: int
    scale: float


def gradient_descent(
    problem: SmoothObjective, theta: Array, metric: Metric, rate: Array | None, stop: Stop
) -> tuple[DescentResult, Status]:
    """Step down; where the objective explodes, the best weights so far are returned."""
    here = best = DescentResult(theta, problem.evaluate(theta), None)
    first, share = here.evaluation.value, 1.0
    for _ in range(stop.epochs):
        g = here.evaluation.gradient
        if (stop.error is not None and here.evaluation.value <= stop.error) or _twice_gap(metric, g) <= stop.wanted:
            return _ended(here, Status.SOLVED)
        if rate is None:
            step = -Scaled(metric, share).solve(g)
            slope = float((g * step).sum())
            new, part = step_along(problem, here.theta, here.evaluation, step, slope)
            if new is None:
                solved = -slope <= FLAT * abs(here.evaluation.value) * share
                return _ended(here, Status.SOLVED if solved else Status.NOT_CONVERGED)
            step, share = part * step, 2 * part * share
        else:
            step = -(g @ rate.T if rate.ndim == 2 else rate * g)
            new = problem.evaluate(here.theta + step)
        if not new.value - first <= DIVERGED * stop.scale:
            best.history = here.history
            return _ended(best, Status.DIVERGED)
        here = DescentResult(here.theta + step, new, None, [*here.history, new.value])
        if new.value <= best.evaluation.value:
            best = here
    if here.evaluation.value > first:
        best.history = here.history
        return _ended(best, Status.DIVERGED)
    return _ended(here, Status.NOT_CONVERGED)


def _twice_gap(metric: Metric, g: Array) -> float:
    return float((g * metric.solve(g)).sum())


def _ended(here: DescentResult, status: Status) -> tuple[DescentResult, Status]:
    here.converged = status is Status.SOLVED
    return here, status


# The objective of a machine of the user's own, as L-BFGS and gradient descent see it.
#
# F(W) = sum over rows of weight x loss(G(W, x), t) + penalty/2 sum of W^2 over the weights that are held


@dataclass(frozen=True)
class FunctionProblem:
    """F over the rows of a source; `hold` (like W) is the penalty of each weight."""

    source: Source
    machine: DifferentiableMachine
    loss: Loss
    hold: Array

    def evaluate(self, theta: Array) -> Evaluation:
        """Return F and its gradient; infinite where it overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            point = MachinePoint(self.machine, self.loss, theta)
            sums = self.source.sum(MachineObjective, point, size=theta.size)
            value = sums.value + 0.5 * float((self.hold * theta**2).sum())
            gradient = sums.gradient.reshape(theta.shape) + self.hold * theta
        finite = np.isfinite(value) and np.isfinite(gradient).all()
        return Evaluation(value if finite else np.inf, gradient)


def evenly(problem: FunctionProblem, theta: Array) -> Diagonal:
    """Return the metric whose first step would bring F down to zero if it were a plane."""
    evaluation = problem.evaluate(theta)
    if not np.isfinite(evaluation.value):
        raise InvalidData("the loss is not finite at the machine's first weights: give others as init")
    square = float((evaluation.gradient**2).sum())
    return Diagonal(np.full(theta.shape, square / abs(evaluation.value) if square > 0 and evaluation.value else 1.0))


def quasi_newton_of(problem: FunctionProblem, theta: Array, tol: float, most: int) -> DescentResult:
    """Step down by L-BFGS until the estimate of the gap is at most tol times F at the first weights."""
    metric = evenly(problem, theta)
    first = problem.evaluate(theta)
    wanted = tol * abs(first.value)
    return lbfgs(problem, theta, metric, lambda _, twice: twice <= wanted, most=most, evaluation=first)
