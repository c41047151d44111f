"""The squared error of a row, halved: (t - z)^2 / 2 (S0, 5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adaline.arrays import AnyArray, Array
from adaline.links import LINKS
from adaline.losses.base import TWOFOLD, Likelihood, Loss
from adaline.losses.families import Tweedie
from adaline.losses.linked import Linked
from adaline.twofold import Twofold


@dataclass(frozen=True)
class Squared(Loss):
    """value (t - z)^2 / 2, slope z - t, curvature 1.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Squared
    >>> z, t = np.array([[-1.0], [0.5], [3.0]]), np.zeros((3, 1))
    >>> Squared().value(z, t).round(3).ravel().tolist()
    [0.5, 0.125, 4.5]
    >>> Squared().slope(z, t).round(3).ravel().tolist()
    [-1.0, 0.5, 3.0]
    """

    name: ClassVar[str] = "squared"
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 1.0
    concordance: ClassVar[float] = 0.0
    slope_rounding: ClassVar[float] = TWOFOLD

    @property
    def linked(self) -> Likelihood:
        """The gaussian family with the identity link."""
        return Linked(Tweedie(0), LINKS["identity"])

    def without_offset(self, t: Array, offset: Array, weight: Array) -> tuple[Array, Array, float]:
        """Return the rows of (t - o - z)^2 / 2."""
        return t - offset, weight, 0.0

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return (t - z)^2 / 2."""
        return 0.5 * (t - z) ** 2

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return z - t."""
        return z - t

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return z - t."""
        return z - t

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 1."""
        return z * 0.0 + 1.0
