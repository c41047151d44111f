"""A user-defined loss: three functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array
from adaline.losses.base import Loss

LossFunction = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class CustomLoss(Loss):
    """A loss from its value, slope and curvature, functions of outputs z and targets t, arrays (n, K).

    It can be used wherever a built-in loss can. The curvature may be any number of zero or more that is not much below
    the true one: it affects the steps, not the solution.

    Parameters
    ----------
    of_value, of_slope, of_curvature : functions (z, t) -> array
        The cost, its derivative by z, and the derivative of that.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import CustomLoss
    >>> cosh = CustomLoss(lambda z, t: np.log(np.cosh(z - t)), lambda z, t: np.tanh(z - t),
    ...                   lambda z, t: 1 / np.cosh(z - t) ** 2)
    >>> float(cosh.slope(np.array([[0.0]]), np.array([[0.0]]))[0, 0])
    0.0

    References
    ----------
    Lecture S4: learning as function estimation, any per-sample loss.
    """

    of_value: LossFunction
    of_slope: LossFunction
    of_curvature: LossFunction
    name: ClassVar[str] = "custom"
    convex: ClassVar[bool] = False  # it may be convex, but that is not known

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the cost."""
        return self.of_value(z, t)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return its derivative by z."""
        return self.of_slope(z, t)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the derivative of the slope."""
        return self.of_curvature(z, t)

    def lowest(self, t: Array) -> Array:
        """Return minus infinity, as no bound is known."""
        return np.full_like(t, -np.inf)
