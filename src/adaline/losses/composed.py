"""A loss of an activated output g(z): the delta rule through g (S2, S3).

    y = g(z),   value = loss(y, t),   slope = loss'(y, t) g'(z)        delta = g'(a) (y - t) for the squared error
    curvature = loss''(y, t) g'(z)^2 + loss'(y, t) g''(z)

It is in general not convex, even where the loss is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaline.activations import Activation
from adaline.arrays import AnyArray, Array
from adaline.losses.base import Loss
from adaline.losses.sigmoid import SigmoidSquared, TanhSquared
from adaline.losses.squared import Squared


@dataclass(frozen=True)
class Composed(Loss):
    """loss(g(z), t), for a loss of single outputs and a g with a slope.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.activations import ACTIVATIONS
    >>> from adaline.losses import Composed, Squared
    >>> delta = Composed(Squared(), ACTIVATIONS["tanh"])
    >>> float(delta.slope(np.array([[0.0]]), np.array([[1.0]]))[0, 0])
    -1.0
    """

    loss: Loss
    activation: Activation
    name: ClassVar[str] = "composed"
    convex: ClassVar[bool] = False

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return loss(g(z), t)."""
        return self.loss.value(self.activation.value(z), t)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return loss' g'."""
        return self.loss.slope(self.activation.value(z), t) * self.activation.slope(z)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return loss'' g'^2 + loss' g''."""
        y = self.activation.value(z)
        return self.loss.curvature(y, t) * self.activation.slope(z) ** 2 + self.loss.slope(y, t) * self.activation.bend(
            z
        )

    def mean(self, z: AnyArray) -> AnyArray:
        """Return g(z)."""
        return self.activation.value(z)

    def constant(self, mean: Array) -> Array:
        """Return z with g(z) near the constant of the loss."""
        return self.activation.inverse(self.loss.constant(mean))

    def lowest(self, t: AnyArray) -> AnyArray:
        """Return the lower bound of the loss."""
        return self.loss.lowest(t)

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets that the loss refuses."""
        self.loss.check(t, first_row)


def compose(loss: Loss, activation: Activation) -> Loss:
    """Return the loss of g(z): a built-in loss where one equals it, else Composed."""
    if activation.name == loss.response == "identity":
        return loss
    built_in = {"logistic": SigmoidSquared, "tanh": TanhSquared}.get(activation.name)
    return built_in() if built_in is not None and type(loss) is Squared else Composed(loss, activation)
