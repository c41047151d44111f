"""Statistics of the targets for a loss: their mean, the lowest possible cost, and a check that the loss admits them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block, Shape
from adaline.sums.base import Sum


class Targets(Sum):
    """Weight, sum of weight t (K,), of weight lowest(t) (K,), and the largest target, over rows of positive weight."""

    def __init__(self, sums: Array, largest: float) -> None:
        self.sums, self.largest = sums, largest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros(1 + 2 * shape.targets), -np.inf)

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.sums[0])

    @property
    def mean(self) -> Array:
        """Means of the targets."""
        return np.asarray(np.split(self.sums[1:], 2)[0] / self.weight)

    @property
    def lowest(self) -> Array:
        """Lower bound of the cost of the rows, (K,); zero where the loss has none."""
        return np.where(np.isfinite(self.least), self.least, 0.0)

    @property
    def least(self) -> Array:
        """Lower bound of the cost of the rows, (K,); minus infinity where the loss has none."""
        return np.split(self.sums[1:], 2)[1]

    @property
    def finite(self) -> bool:
        """Whether all targets are finite."""
        return bool(np.isfinite(self.mean).all())

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the targets of a block for the loss theta; refuse those that it does not admit."""
        t, weight = host(block.t), block.weights()
        positive = weight > 0
        if not positive.any():
            return
        total = weight @ np.where(positive[:, None], t, 0.0)
        lowest = np.zeros_like(total)
        if np.isfinite(total).all():
            counted = np.where(positive[:, None], t, t[positive.argmax()])
            theta.check(counted, block.first_row)
            lowest = weight @ theta.lowest(counted)
            self.largest = max(self.largest, float(counted.max()))
        self.sums += np.concatenate([[weight.sum()], total, lowest])

    def merge(self, other: Self) -> None:
        """Add; keep the larger target."""
        self.sums = self.sums + other.sums
        self.largest = max(self.largest, other.largest)
