"""The objective of a machine of the user's own, as L-BFGS and gradient descent see it.

F(W) = sum over rows of weight x loss(G(W, x), t) + penalty/2 sum of W^2 over the weights that are held
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData
from adaline.losses import Loss
from adaline.solvers.newton import Descended
from adaline.solvers.problem import At
from adaline.solvers.quasi import Diagonal, quasi_newton
from adaline.sources import Source
from adaline.sums.machine import DifferentiableMachine, MachineObjective, MachinePoint

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FunctionProblem:
    """F over the rows of a source; `hold` (like W) is the penalty of each weight."""

    source: Source
    machine: DifferentiableMachine
    loss: Loss
    hold: Array

    def at(self, theta: Array) -> At:
        """Return F and its gradient; infinite where it overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            point = MachinePoint(self.machine, self.loss, theta)
            sums = self.source.sum(MachineObjective, point, size=theta.size)
            value = sums.value + 0.5 * float((self.hold * theta**2).sum())
            gradient = sums.gradient.reshape(theta.shape) + self.hold * theta
        finite = np.isfinite(value) and np.isfinite(gradient).all()
        return At(value if finite else np.inf, gradient)


def evenly(problem: FunctionProblem, theta: Array) -> Diagonal:
    """Return the metric whose first step would bring F down to zero if it were a plane."""
    at = problem.at(theta)
    if not np.isfinite(at.value):
        raise InvalidData("the loss is not finite at the machine's first weights: give others as init")
    square = float((at.gradient**2).sum())
    return Diagonal(np.full(theta.shape, square / abs(at.value) if square > 0 and at.value else 1.0))


def quasi_newton_of(problem: FunctionProblem, theta: Array, tol: float, most: int) -> Descended:
    """Step down by L-BFGS until the estimate of the gap is at most tol times F at the first weights."""
    metric = evenly(problem, theta)
    first = problem.at(theta)
    wanted = tol * abs(first.value)
    return quasi_newton(problem, theta, metric, lambda _, twice: twice <= wanted, most=most, at=first)
