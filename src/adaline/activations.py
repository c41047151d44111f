"""Activations: the functions g of an output z = w'x + w0, with their first and second derivatives (S2, S3).

    identity  z                 tanh      tanh z               logistic  1 / (1 + exp(-z))
    exp       exp z             softplus  ln(1 + exp z)        softmax   exp z_k / sum_j exp z_j
    sign      -1, 0 or 1        step      1 where z > 0, else 0

Arrays are (n, K) of any namespace of the array API. Sign and step have no slope: machines with them learn from mistakes
(the perceptron), not by gradients. The outputs of softmax depend on each other; its derivatives here are those of each
output by its own z.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from adaline.arrays import AnyArray, Array, namespace

# least distance of a start from the ends of a sigmoid, where its slope vanishes; 10x smaller starts with slower steps
LEAST_EDGE = 1e-3


@dataclass(frozen=True)
class Activation(ABC):
    """Base of all activations; one of each final class is in ACTIVATIONS under its name.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.activations import ACTIVATIONS
    >>> g = ACTIVATIONS["logistic"]
    >>> float(g.value(np.array([[0.0]]))[0, 0]), float(g.slope(np.array([[0.0]]))[0, 0])
    (0.5, 0.25)
    """

    name: ClassVar[str]
    flat: ClassVar[bool] = False
    """Whether the derivative is zero wherever it exists."""
    coupled: ClassVar[bool] = False
    """Whether an output depends on all z of its row."""

    @abstractmethod
    def value(self, z: AnyArray) -> AnyArray:
        """Return g(z)."""

    @abstractmethod
    def slope(self, z: AnyArray) -> AnyArray:
        """Return g'(z)."""

    @abstractmethod
    def bend(self, z: AnyArray) -> AnyArray:
        """Return g''(z)."""

    def inverse(self, y: Array) -> Array:
        """Return z with g(z) = y, or near y where there is none, as an output to start from."""
        return np.zeros_like(y)


class Identity(Activation):
    """z."""

    name = "identity"

    def value(self, z: AnyArray) -> AnyArray:
        return z

    def slope(self, z: AnyArray) -> AnyArray:
        return z * 0.0 + 1.0

    def bend(self, z: AnyArray) -> AnyArray:
        return z * 0.0

    def inverse(self, y: Array) -> Array:
        return y


class Tanh(Activation):
    """tanh z."""

    name = "tanh"

    def value(self, z: AnyArray) -> AnyArray:
        return namespace(z).tanh(z)

    def slope(self, z: AnyArray) -> AnyArray:
        """Return 1 - y^2."""
        y = self.value(z)
        return 1.0 - y * y

    def bend(self, z: AnyArray) -> AnyArray:
        """Return -2 y (1 - y^2)."""
        y = self.value(z)
        return -2.0 * y * (1.0 - y * y)

    def inverse(self, y: Array) -> Array:
        return np.asarray(np.arctanh(np.clip(y, LEAST_EDGE - 1.0, 1.0 - LEAST_EDGE)))


class LogisticActivation(Activation):
    """1 / (1 + exp(-z)), in exp(-|z|), which cannot overflow."""

    name = "logistic"

    def value(self, z: AnyArray) -> AnyArray:
        xp = namespace(z)
        small = xp.exp(-xp.abs(z))
        return xp.where(z > 0, 1.0 + 0.0 * small, small) / (1.0 + small)

    def slope(self, z: AnyArray) -> AnyArray:
        """Return p (1 - p)."""
        xp = namespace(z)
        small = xp.exp(-xp.abs(z))
        return small / (1.0 + small) ** 2

    def bend(self, z: AnyArray) -> AnyArray:
        """Return p (1 - p) (1 - 2 p)."""
        return self.slope(z) * (1.0 - 2.0 * self.value(z))

    def inverse(self, y: Array) -> Array:
        inside = np.clip(y, LEAST_EDGE, 1.0 - LEAST_EDGE)
        return np.asarray(np.log(inside / (1.0 - inside)))


class Exp(Activation):
    """exp z."""

    name = "exp"

    def value(self, z: AnyArray) -> AnyArray:
        return namespace(z).exp(z)

    def slope(self, z: AnyArray) -> AnyArray:
        return self.value(z)

    def bend(self, z: AnyArray) -> AnyArray:
        return self.value(z)

    def inverse(self, y: Array) -> Array:
        """Return ln y, 0 where y is not positive."""
        return np.asarray(np.log(np.where(y > 0, y, 1.0)))


class Softplus(Activation):
    """ln(1 + exp z): a smooth max(0, z)."""

    name = "softplus"

    def value(self, z: AnyArray) -> AnyArray:
        xp = namespace(z)
        return xp.where(z > 0, z, 0.0 * z) + xp.log1p(xp.exp(-xp.abs(z)))

    def slope(self, z: AnyArray) -> AnyArray:
        """Return 1 / (1 + exp(-z))."""
        return LogisticActivation().value(z)

    def bend(self, z: AnyArray) -> AnyArray:
        """Return its derivative."""
        return LogisticActivation().slope(z)

    def inverse(self, y: Array) -> Array:
        """Return ln(exp y - 1), 0 where y is not positive."""
        good = np.where(y > 0, y, np.log(2.0))
        return np.asarray(good + np.log(-np.expm1(-good)))


class SoftmaxActivation(Activation):
    """exp z_k / sum_j exp z_j: K positive numbers with sum one."""

    name = "softmax"
    coupled = True

    def value(self, z: AnyArray) -> AnyArray:
        xp = namespace(z)
        small = xp.exp(z - xp.max(z, axis=1, keepdims=True))
        return small / xp.sum(small, axis=1, keepdims=True)

    def slope(self, z: AnyArray) -> AnyArray:
        """Return p (1 - p)."""
        p = self.value(z)
        return p * (1.0 - p)

    def bend(self, z: AnyArray) -> AnyArray:
        """Return p (1 - p) (1 - 2 p)."""
        p = self.value(z)
        return p * (1.0 - p) * (1.0 - 2.0 * p)


class Flat(Activation):
    """An activation whose derivatives are zero."""

    flat = True

    def slope(self, z: AnyArray) -> AnyArray:
        return z * 0.0

    def bend(self, z: AnyArray) -> AnyArray:
        return z * 0.0


class Sign(Flat):
    """-1, 0 or 1."""

    name = "sign"

    def value(self, z: AnyArray) -> AnyArray:
        return namespace(z).sign(z)


class Step(Flat):
    """1 where z > 0, else 0."""

    name = "step"

    def value(self, z: AnyArray) -> AnyArray:
        return namespace(z).astype(z > 0, z.dtype)


ActivationName = Literal["identity", "sign", "step", "tanh", "logistic", "exp", "softplus", "softmax"]
ACTIVATIONS: dict[str, Activation] = {
    one.name: one
    for one in (Identity(), Sign(), Step(), Tanh(), LogisticActivation(), Exp(), Softplus(), SoftmaxActivation())
}
