"""The absolute error and the quantile loss, whose best constants are the median and a quantile (S1, robust criteria).

r = t - z,   value = |r|,   or   level r where r > 0, (level - 1) r below
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaline.arrays import AnyArray, namespace
from adaline.losses.base import Loss


@dataclass(frozen=True)
class Absolute(Loss):
    """value |t - z|; no curvature, and a corner at zero.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Absolute
    >>> z, t = np.array([[-1.0], [0.5], [3.0]]), np.zeros((3, 1))
    >>> Absolute().value(z, t).round(3).ravel().tolist()
    [1.0, 0.5, 3.0]
    >>> Absolute().slope(z, t).round(3).ravel().tolist()
    [-1.0, 1.0, 1.0]
    """

    name: ClassVar[str] = "absolute"
    corners: ClassVar[bool] = True
    kernel: ClassVar[str | None] = name

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return |r|."""
        return namespace(z).abs(t - z)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -sign(r)."""
        return namespace(z).sign(z - t)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 0."""
        return z * 0.0


@dataclass(frozen=True)
class Quantile(Loss):
    """value level r above, (level - 1) r below; level=0.5 is half the absolute error.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Quantile
    >>> z, t = np.array([[-1.0], [0.5], [3.0]]), np.zeros((3, 1))
    >>> Quantile(level=0.75).value(z, t).round(3).ravel().tolist()
    [0.75, 0.125, 0.75]
    >>> Quantile(level=0.75).slope(z, t).round(3).ravel().tolist()
    [-0.75, 0.25, 0.25]
    """

    level: float = 0.5
    name: ClassVar[str] = "quantile"
    corners: ClassVar[bool] = True
    kernel: ClassVar[str | None] = name

    @property
    def parameter(self) -> float:
        """Level."""
        return self.level

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return level r or (level - 1) r."""
        r = t - z
        return namespace(z).where(r > 0, self.level * r, (self.level - 1.0) * r)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -level where r > 0, 1 - level where r < 0, half way at zero."""
        xp = namespace(z)
        return 0.5 - self.level - 0.5 * xp.sign(t - z)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 0."""
        return z * 0.0
