"""Tukey's biweight: residuals beyond c have slope zero; not convex (S1, robust criteria).

r = t - z,   u = (r / c)^2,   value = c^2/6 (1 - (1 - u)^3) where u <= 1, c^2/6 beyond
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from adaline.arrays import AnyArray, namespace
from adaline.losses.base import Loss


@dataclass(frozen=True)
class Tukey(Loss):
    """The biweight with threshold c.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Tukey
    >>> z, t = np.array([[-1.0], [3.0], [30.0]]), np.zeros((3, 1))
    >>> Tukey().value(z, t).round(3).ravel().tolist()
    [0.478, 2.907, 3.658]
    >>> Tukey().slope(z, t).round(3).ravel().tolist()
    [-0.911, 1.044, 0.0]
    """

    c: float = 4.685
    name: ClassVar[str] = "tukey"
    convex: ClassVar[bool] = False
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 1.0

    @property
    def parameter(self) -> float:
        """C."""
        return self.c

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return c^2/6 (1 - (1 - u)^3), at most c^2/6."""
        return self.c * self.c / 6.0 * (1.0 - self._one_minus_u(z, t) ** 3)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -r (1 - u)^2."""
        return (z - t) * self._one_minus_u(z, t) ** 2

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return (1 - u) (1 - 5 u), zero beyond c."""
        v = self._one_minus_u(z, t)
        return v * (5.0 * v - 4.0)

    def _one_minus_u(self, z: AnyArray, t: AnyArray) -> Any:
        """Return 1 - u where that is positive, else 0."""
        xp = namespace(z)
        v = 1.0 - ((t - z) / self.c) ** 2
        return xp.where(v > 0, v, xp.zeros_like(v))
