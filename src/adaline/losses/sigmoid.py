"""The squared error of a sigmoid of the output, that of the sigmoidal perceptron; not convex (S0, 5.29 and 5.30).

e = t - phi(z),   value = e^2 / 2,   slope = -e phi',   curvature = phi'^2 - e phi''
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array
from adaline.losses.base import Loss
from adaline.losses.logistic import Logistic


@dataclass(frozen=True)
class SigmoidSquared(Loss):
    """Half the squared error of the logistic function, t = 0 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import SigmoidSquared
    >>> z, t = np.array([[-2.0], [0.0], [2.0]]), np.ones((3, 1))
    >>> SigmoidSquared().value(z, t).round(3).ravel().tolist()
    [0.388, 0.125, 0.007]
    >>> SigmoidSquared().slope(z, t).round(3).ravel().tolist()
    [-0.092, -0.125, -0.013]
    """

    name: ClassVar[str] = "sigmoid_squared"
    response: ClassVar[str] = "logistic"
    convex: ClassVar[bool] = False
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 0.0771

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return e^2 / 2."""
        return 0.5 * (t - self.mean(z)) ** 2

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -e phi'."""
        p = self.mean(z)
        return (p - t) * p * (1.0 - p)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return phi'^2 - e phi''."""
        p = self.mean(z)
        return p * (1.0 - p) * (p * (1.0 - p) + (p - t) * (1.0 - 2.0 * p))

    def constant(self, mean: Array) -> Array:
        """Return the log odds of the mean."""
        return Logistic().constant(mean)


@dataclass(frozen=True)
class TanhSquared(Loss):
    """Half the squared error of tanh, t = -1 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import TanhSquared
    >>> z, t = np.array([[-2.0], [0.0], [2.0]]), np.ones((3, 1))
    >>> TanhSquared().value(z, t).round(3).ravel().tolist()
    [1.929, 0.5, 0.001]
    >>> TanhSquared().slope(z, t).round(3).ravel().tolist()
    [-0.139, -1.0, -0.003]
    """

    name: ClassVar[str] = "tanh_squared"
    response: ClassVar[str] = "tanh"
    convex: ClassVar[bool] = False
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 1.2325

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return e^2 / 2."""
        return 0.5 * (t - self.mean(z)) ** 2

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -e phi'."""
        y = self.mean(z)
        return (y - t) * (1.0 - y * y)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return phi'^2 - e phi''."""
        y = self.mean(z)
        return (1.0 - y * y) * ((1.0 - y * y) - 2.0 * y * (y - t))

    def constant(self, mean: Array) -> Array:
        """Return artanh of the mean."""
        return np.asarray(np.arctanh(np.clip(mean, -1 + 1e-12, 1 - 1e-12)))
