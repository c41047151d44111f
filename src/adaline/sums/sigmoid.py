"""The squared error of sigmoidal outputs and its gradient (S0 section 5.7, 5.29 and 5.30).

    phi = tanh(z) or 1 / (1 + exp(-z)),   z = w.x,   e = t - phi
    E = sum weight e^2 / 2,   -dE/dw = sum weight e phi'(z) x

phi' is 1 - phi^2 for tanh, phi (1 - phi) for the logistic. Targets are +-1 for tanh, 0 and 1 for the logistic.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, Shape
from adaline.namespaces import host
from adaline.sums.base import Sum
from adaline.sums.wrong import outputs, total

Array = NDArray[np.float64]


class SigmoidErrors(Sum):
    """E (K,) and -dE/dw (K, 1 + D) at weights theta."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, downhill: Array, error: Array, activation: str = "tanh") -> None:
        self.downhill, self.error, self.activation = downhill, error, activation

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `activation` is "tanh" or "logistic"."""
        return cls(np.zeros((shape.targets, 1 + shape.features)), np.zeros(shape.targets), **config)

    @property
    def finite(self) -> bool:
        """Whether all rows were."""
        return bool(np.isfinite(self.error).all() and np.isfinite(self.downhill).all())

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in a block at the weights theta (K, 1 + D)."""
        block = block.heavy()
        if block.rows == 0:
            return
        phi, slope = activated(outputs(block.x, theta), self.activation)
        e = host(block.t) - phi
        weight = np.ones(block.rows) if block.weight is None else host(block.weight)
        self.error += weight @ (e * e) / 2
        self.downhill += total(block.x, e * slope * weight[:, None])

    def merge(self, other: Self) -> None:
        """Add."""
        self.error += other.error
        self.downhill += other.downhill

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.downhill, self.error, self.activation)


def activated(z: Array, activation: str) -> tuple[Array, Array]:
    """Return phi(z) and phi'(z); neither overflows."""
    if activation == "tanh":
        phi = np.tanh(z)
        return phi, 1 - phi * phi
    small = np.exp(-np.abs(z))
    phi = np.where(z >= 0, 1.0, small) / (1 + small)
    return phi, small / (1 + small) ** 2
