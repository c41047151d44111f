"""The sigmoidal perceptron, online: the exact gradient of each row's squared error (S0 section 5.7, 5.25 to 5.30).

    w += eta (t - phi(z)) phi'(z) x,   z = w.x
    tanh:      phi' = 1 - phi^2,        targets +-1
    logistic:  phi' = phi (1 - phi),    targets 0 and 1

The progressive loss is (t - phi)^2/2. A mistake is a row with z on the wrong side of 0, or on it.

In C++: `native/rules.hpp` (`Tanh`, `Logistic`) is the step, `native/scans.hpp` and `native/quick.hpp` run it over rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.parameters import OneOf
from adaline.scans.base import Scan
from adaline.scans.schedules import Schedule
from adaline.scans.tally import RowOutcome

ACTIVATIONS = ("tanh", "logistic")


class SigmoidRule(Scan):
    """The rule for each of K targets.

    Examples
    --------
    >>> from adaline.block import Shape
    >>> scan = SigmoidRule.start(Shape(1, 1), rate=1.0, activation="logistic")
    >>> scan.learn(np.array([2.0]), 1.0)
    0.0
    >>> scan.theta
    array([[0.125, 0.25 ]])
    """

    activation: str

    def __init__(self, theta: Array, schedule: Schedule, intercept: bool = True, activation: str = "tanh") -> None:
        OneOf(*ACTIVATIONS).check("activation", activation)
        super().__init__(theta, schedule, intercept)
        self.activation = activation

    @property
    def rule(self) -> str:
        """The activation."""
        return f"sigmoid_{self.activation}"

    @property
    def settings(self) -> dict[str, Any]:
        """The intercept, and the activation."""
        return {**super().settings, "activation": self.activation}

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the textbook's step."""
        z = self.theta @ x
        phi, slope, sign = sigmoid_values(self.activation, z, t)
        e = t - phi
        for k, w in enumerate(self.theta):
            w += eta * e[k] * slope[k] * x
        return RowOutcome.of_squares(z, e, sign * z)


def sigmoid_values(activation: str, z: Array, t: Array) -> tuple[Array, Array, Array]:
    """Return phi(z), phi'(z), and the targets as -1 and 1, (K,) each."""
    if activation == "tanh":
        phi = np.tanh(z)
        return phi, 1 - phi * phi, t
    phi = logistic_value(z)
    return phi, phi * (1 - phi), 2 * t - 1


def logistic_value(z: Array) -> Array:
    """Return 1 / (1 + exp(-z)), in exp(-|z|), which cannot overflow."""
    small = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, small) / (1 + small))
