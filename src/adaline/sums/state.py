"""The state of second moments: one flat buffer, laid out as the native kernels have it.

It holds rows, W, mode, then first_hi, first_lo, exponent and noise, q = D + K numbers each, then S, q x q.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.block import Shape
from adaline.kernels import numbers_of

Array = NDArray[np.float64]

CENTRED, RAW = (float(mode) for mode in numbers_of("MomentMode", ("centred", "raw")).values())


class MomentState:
    """A buffer of moments and the names of its parts, so that it can be stored, sent and merged as it is."""

    def __init__(self, shape: Shape, buffer: Array) -> None:
        self.shape = shape
        self.buffer = buffer

    @property
    def columns(self) -> int:
        """Number of columns q = D + K."""
        return self.shape.features + self.shape.targets

    @property
    def rows(self) -> int:
        """Number of rows taken in."""
        return int(self.buffer[0])

    @property
    def weight(self) -> float:
        """Sum of the weights, W."""
        return float(self.buffer[1])

    @property
    def centred(self) -> bool:
        """Whether S is about the mean."""
        return bool(self.buffer[2] == CENTRED)

    @property
    def first_hi(self) -> Array:
        """Leading part of the mean (centred) or of the scaled sum (raw)."""
        return self.vector(0)

    @property
    def first_lo(self) -> Array:
        """Trailing part of the mean or of the sum."""
        return self.vector(1)

    @property
    def exponent(self) -> Array:
        """Scales: column j is held times 2^-exponent[j]."""
        return self.vector(2)

    @property
    def noise(self) -> Array:
        """Bound on the rounding error of the diagonal of S."""
        return self.vector(3)

    @property
    def second(self) -> Array:
        """The scaled matrix S, (q, q)."""
        q = self.columns
        return self.buffer[3 + 4 * q :].reshape(q, q)

    @property
    def finite(self) -> bool:
        """Whether every number taken in was finite: read off the sums, not off the rows."""
        return bool(np.isfinite(self.buffer).all())

    def vector(self, k: int) -> Array:
        """Return the k-th of first_hi, first_lo, exponent and noise."""
        q = self.columns
        return self.buffer[3 + k * q : 3 + (k + 1) * q]

    def copy(self) -> Self:
        """Return an independent copy."""
        return type(self)(self.shape, self.buffer.copy())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.shape, self.buffer)
