"""The sigmoidal perceptron, online: the exact gradient of each row's squared error (S0 section 5.7, 5.25 to 5.30).

    w += eta (t - phi(z)) phi'(z) x,   z = w.x
    tanh:      phi' = 1 - phi^2,        targets +-1
    logistic:  phi' = phi (1 - phi),    targets 0 and 1

The progressive loss is (t - phi)^2/2. A mistake is a row with z on the wrong side of 0, or on it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from adaline.arrays import Array
from adaline.block import Shape
from adaline.parameters import OneOf
from adaline.scans.base import Scan, as_schedule, first_theta
from adaline.scans.schedules import Schedule
from adaline.scans.tally import RowOutcome

ACTIVATIONS = ("tanh", "logistic")


class SigmoidRule(Scan):
    """The rule for each of K targets.

    Examples
    --------
    >>> scan = SigmoidRule.start(Shape(1, 1), rate=1.0, activation="logistic")
    >>> scan.learn(np.array([2.0]), 1.0)
    0.0
    >>> scan.theta
    array([[0.125, 0.25 ]])
    """

    def __init__(
        self,
        theta: Array,
        schedule: Schedule,
        intercept: bool = True,
        average: int | None = None,
        activation: str = "tanh",
    ) -> None:
        super().__init__(theta, schedule, intercept, average)
        self.activation = activation

    @classmethod
    def start(
        cls,
        shape: Shape,
        *,
        rate: float | Schedule = 0.01,
        intercept: bool = True,
        init: Any = None,
        average: int | None = None,
        activation: str = "tanh",
        **config: Any,
    ) -> Self:
        """Return the scan before its first row."""
        OneOf(*ACTIVATIONS).check("activation", activation)
        return cls(first_theta(shape, init), as_schedule(rate), intercept, average, activation, **config)

    @property
    def rule(self) -> str:
        """The activation."""
        return f"sigmoid_{self.activation}"

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the textbook's step."""
        z = self.theta @ x
        if self.activation == "tanh":
            phi, side = np.tanh(z), t
            slope = 1 - phi * phi
        else:
            phi, side = logistic(z), 2 * t - 1
            slope = phi * (1 - phi)
        e = t - phi
        for k, w in enumerate(self.theta):
            w += eta * e[k] * slope[k] * x
        return RowOutcome(z, float(e @ e) / 2, 0.0, int((side * z <= 0).sum()), len(t), float((side * z).min()))


def logistic(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)), which overflows nowhere."""
    small = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, small) / (1 + small))
