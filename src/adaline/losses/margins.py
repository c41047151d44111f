"""Losses of the margin m = t z of classes t = +-1: the perceptron criterion and the squared hinge (S0, 5.6; S2).

perceptron = max(0, -m),   squared hinge = max(0, 1 - m)^2 / 2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, namespace
from adaline.losses.base import TWOFOLD, Loss, refuse_targets
from adaline.twofold import Twofold


@dataclass(frozen=True)
class PerceptronCriterion(Loss):
    """value max(0, -t z); zero for every separating hyperplane, and for w = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import PerceptronCriterion
    >>> z, t = np.array([[-2.0], [1.0], [2.0]]), np.ones((3, 1))
    >>> PerceptronCriterion().value(z, t).round(3).ravel().tolist()
    [2.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "perceptron"
    corners: ClassVar[bool] = True
    kernel: ClassVar[str | None] = name

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return max(0, -t z)."""
        xp = namespace(z)
        return xp.where(t * z <= 0, -t * z, 0.0 * z)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -t on wrong rows, those with t z = 0 among them."""
        xp = namespace(z)
        return xp.where(t * z <= 0, -t + 0.0 * z, 0.0 * z)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 0."""
        return z * 0.0

    def constant(self, mean: Array) -> Array:
        """Return 0."""
        return np.zeros_like(mean)

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets other than -1 and 1."""
        refuse_targets(t, namespace(t).abs(t) == 1, "the perceptron criterion takes -1 and 1", first_row)


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """value max(0, 1 - t z)^2 / 2: rows beyond the margin 1 have no loss.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import SquaredHinge
    >>> z, t = np.array([[-2.0], [0.0], [2.0]]), np.ones((3, 1))
    >>> SquaredHinge().value(z, t).round(3).ravel().tolist()
    [4.5, 0.5, 0.0]
    """

    name: ClassVar[str] = "squared_hinge"
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 1.0
    slope_rounding: ClassVar[float] = TWOFOLD

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return max(0, 1 - t z)^2 / 2."""
        return 0.5 * self._shortfall(z, t) ** 2

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return -t max(0, 1 - t z)."""
        return -t * self._shortfall(z, t)

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return t (t z - 1) within the margin, as t is 1 or -1."""
        return (z - t).where(t * z.hi < 1.0, 0.0)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 1 within the margin, 0 beyond."""
        xp = namespace(z)
        return xp.astype(t * z < 1.0, z.dtype)

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets other than -1 and 1."""
        refuse_targets(t, namespace(t).abs(t) == 1, "the squared hinge takes -1 and 1", first_row)

    def _shortfall(self, z: AnyArray, t: AnyArray) -> Any:
        """Return max(0, 1 - t z)."""
        xp = namespace(z)
        return xp.where(t * z < 1.0, 1.0 - t * z, 0.0 * z)
