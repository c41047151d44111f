"""What large coefficients cost. The intercept is never penalised: it is not among the columns that a penalty knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array


@dataclass(frozen=True)
class RidgePenalty:
    """value/2 sum_j (unit_j w_j)^2, the same as rows sqrt(value) diag(unit) under X; `unit` (D,) is in raw units.

    The number is kept apart from the units, so that it is used as it was given and no square of a unit overflows.
    """

    value: float
    unit: Array

    def any(self) -> bool:
        """Whether anything is penalised."""
        return self.value > 0 and bool(self.unit.any())

    @property
    def roots(self) -> Array:
        """Square roots of the penalties of w, (D,)."""
        return np.asarray(np.sqrt(self.value) * self.unit)

    def scaled(self, scale: NDArray[np.int64]) -> Array:
        """Return the penalties of coefficients of columns held times 2^-scale, (D,)."""
        if not self.value:
            return np.zeros_like(self.unit)
        return np.asarray(self.value * np.ldexp(self.unit, -scale) ** 2)


def no_penalty(features: int) -> RidgePenalty:
    """Return the penalty of plain least squares."""
    return RidgePenalty(0.0, np.ones(features))
