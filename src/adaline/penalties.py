"""The ridge penalty on the coefficients w (D,); the intercept is not among them and never penalised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.forms import Finite, FiniteNumber


@dataclass(frozen=True)
class RidgePenalty:
    """value/2 sum_j (unit_j w_j)^2, with `unit` (D,) in the raw units of the columns.

    It equals the rows sqrt(value) diag(unit) added below X. Value and units are kept apart, so that the value is used
    as it was given and no square of a unit overflows.
    """

    value: FiniteNumber
    unit: Annotated[Array, Finite("D")]

    def any(self) -> bool:
        """Whether anything is penalised."""
        return self.value > 0 and bool(self.unit.any())

    @property
    def roots(self) -> Array:
        """Square roots of the penalties of w, (D,)."""
        return np.asarray(np.sqrt(self.value) * self.unit)

    def scaled(self, exponent: Array | NDArray[np.int64]) -> Array:
        """Return the penalties of the coefficients of columns times 2^-exponent, (D,); those of targets may follow."""
        if not self.value:
            return np.zeros(len(self.unit))
        powers = exponent[: len(self.unit)].astype(np.int64)
        return np.asarray(self.value * np.ldexp(self.unit, -powers) ** 2)


@lru_cache
def no_penalty(features: int) -> RidgePenalty:
    """Return the penalty of plain least squares, the same object for all fits of as many columns."""
    unit = np.ones(features)
    unit.setflags(write=False)
    return RidgePenalty(0.0, unit)
