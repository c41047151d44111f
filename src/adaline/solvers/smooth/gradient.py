"""Batch gradient descent on any smooth objective: theta <- theta - eta gradient (S0 section 5.3, S2, S4).

`rate` is eta: a number, or (linear machines) a vector (diagonal) or a matrix that acts on (w0, w); None takes steps in
a metric, with the share of each found by a line search from twice the last one, so that the objective never rises. It
ends when the metric's estimate g'Mg of twice the gap is met, or the objective is at most `stop_error`.

`FunctionProblem` is the objective of a machine G that the user wrote, minimised by these steps or by L-BFGS:

    F(W) = sum over rows of weight x loss(G(W, x), t) + 1/2 sum of penalty x W^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.losses import Loss
from adaline.results import Status
from adaline.solvers.smooth.lbfgs import Evaluate, Metric, lbfgs, of_diagonal, step_along
from adaline.solvers.smooth.newton import FLAT_CHANGE, DescentResult
from adaline.solvers.smooth.problem import Evaluation
from adaline.sources import Source
from adaline.sums.machine import DifferentiableMachine, MachineObjective, MachinePoint

DIVERGED = 1e6  # objective, relative to its scale, from which steps have diverged; 10x larger reports it later


@dataclass(frozen=True)
class Stop:
    """When a descent ends: gap wanted, objective wanted, steps at most, and the size of the objective at the start."""

    wanted: float
    error: float | None
    epochs: int
    scale: float


def gradient_descent(
    evaluate: Evaluate,
    theta: Array,
    metric: Metric,
    rate: Array | None,
    stop: Stop,
    evaluation: Evaluation | None = None,
) -> tuple[DescentResult, Status]:
    """Step down from theta; where the objective diverges, the best weights so far are returned.

    `evaluation` is F at theta, where it is known.
    """
    here = best = DescentResult(theta, evaluate(theta) if evaluation is None else evaluation)
    first, share = here.evaluation.value, 1.0
    for _ in range(stop.epochs):
        g = here.evaluation.gradient
        if (stop.error is not None and here.evaluation.value <= stop.error) or float(
            (g * metric(g)).sum()
        ) <= stop.wanted:
            return _ended(here, Status.SOLVED)
        if rate is None:
            step = -(metric(g) * share)
            slope = float((g * step).sum())
            new, part = step_along(evaluate, here.theta, here.evaluation, step, slope)
            if new is None:
                solved = -slope <= FLAT_CHANGE * abs(here.evaluation.value) * share
                return _ended(here, Status.SOLVED if solved else Status.NOT_CONVERGED)
            step, share = part * step, 2 * part * share
        else:
            step = -(g @ rate.T if rate.ndim == 2 else rate * g)
            new = evaluate(here.theta + step)
        if not new.value - first <= DIVERGED * stop.scale:
            return _ended(best._replace(history=here.history), Status.DIVERGED)
        here = here.moved(step, new)
        if new.value <= best.evaluation.value:
            best = here
    if here.evaluation.value > first:
        return _ended(best._replace(history=here.history), Status.DIVERGED)
    return _ended(here, Status.NOT_CONVERGED)


def _ended(here: DescentResult, status: Status) -> tuple[DescentResult, Status]:
    return here._replace(converged=status is Status.SOLVED), status


@dataclass(frozen=True)
class FunctionProblem:
    """F over the rows of a source; `penalty` (like W) is that of each weight."""

    source: Source
    machine: DifferentiableMachine
    loss: Loss
    penalty: Array

    def evaluate(self, theta: Array) -> Evaluation:
        """Return F and its gradient; infinite where it overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            point = MachinePoint(self.machine, self.loss, theta)
            sums = self.source.sum(MachineObjective, point, size=theta.size)
            value = sums.value + 0.5 * float((self.penalty * theta**2).sum())
            gradient = sums.gradient.reshape(theta.shape) + self.penalty * theta
        finite = np.isfinite(value) and np.isfinite(gradient).all()
        return Evaluation(value if finite else np.inf, gradient)


def first_metric(evaluation: Evaluation) -> Metric:
    """Return the metric, the same number for each weight, whose first step would bring F to zero if F were a plane."""
    if not np.isfinite(evaluation.value):
        raise InvalidData("the loss is not finite at the machine's first weights: give others as init")
    square = float((evaluation.gradient**2).sum())
    return of_diagonal(
        np.full(evaluation.gradient.shape, square / abs(evaluation.value) if square > 0 and evaluation.value else 1.0)
    )


def minimise_function(problem: FunctionProblem, theta: Array, tol: float, max_steps: int) -> DescentResult:
    """Step down by L-BFGS until the estimate of the gap is at most tol times F at the first weights."""
    first = problem.evaluate(theta)
    wanted = tol * abs(first.value)
    return lbfgs(problem.evaluate, theta, first_metric(first), lambda _, twice: twice <= wanted, max_steps, first)
