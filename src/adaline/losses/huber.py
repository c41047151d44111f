"""Huber's loss: squared for small residuals, linear for large ones, so that slopes are at most `delta` (S1).

r = t - z,   value = r^2 / 2 where |r| <= delta, delta |r| - delta^2 / 2 beyond
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, namespace
from adaline.losses.base import TWOFOLD, Loss
from adaline.twofold import Twofold


@dataclass(frozen=True)
class Huber(Loss):
    """r^2 / 2 for |r| up to `delta`, linear beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Huber
    >>> z, t = np.array([[-1.0], [0.5], [3.0]]), np.zeros((3, 1))
    >>> Huber(delta=1.0).value(z, t).round(3).ravel().tolist()
    [0.5, 0.125, 2.5]
    >>> Huber(delta=1.0).slope(z, t).round(3).ravel().tolist()
    [-1.0, 0.5, 1.0]
    """

    delta: float = 1.345
    name: ClassVar[str] = "huber"
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 1.0
    slope_rounding: ClassVar[float] = TWOFOLD

    @property
    def parameter(self) -> float:
        """Delta."""
        return self.delta

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return r^2 / 2 or delta |r| - delta^2 / 2."""
        xp = namespace(z)
        r = xp.abs(t - z)
        return xp.where(r <= self.delta, 0.5 * r * r, self.delta * (r - 0.5 * self.delta))

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -r, clipped to -delta .. delta."""
        xp = namespace(z)
        r = z - t
        return xp.where(xp.abs(r) <= self.delta, r, self.delta * xp.sign(r))

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return -r, clipped to -delta .. delta."""
        r = z - t
        return r.where(np.abs(r.hi) <= self.delta, self.delta * np.sign(r.hi))

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 1 within delta, 0 beyond."""
        xp = namespace(z)
        return xp.astype(xp.abs(t - z) <= self.delta, z.dtype)
