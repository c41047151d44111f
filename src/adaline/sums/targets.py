"""What the targets alone say to a loss: their mean, to start from, the least they cost, and whether it takes them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block, Shape
from adaline.sums.base import Sum


class Targets(Sum):
    """Weight, sum of weight t (K,), of weight x lowest(t) (K,), and the largest target; rows without weight are out."""

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
        """What the rows cost at least, (K,); zero where the loss does not know."""
        return np.where(np.isfinite(self.least), self.least, 0.0)

    @property
    def least(self) -> Array:
        """What the rows cost at least, (K,); minus infinity where the loss does not know."""
        return np.split(self.sums[1:], 2)[1]

    @property
    def finite(self) -> bool:
        """Whether all targets are."""
        return bool(np.isfinite(self.mean).all())

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the targets of a block for a loss; refuse those that it is not made for."""
        t = host(block.t)
        weight = np.ones(len(t)) if block.weight is None else host(block.weight)
        heavy = weight > 0
        if not heavy.any():
            return
        total = weight @ np.where(heavy[:, None], t, 0.0)
        lowest = np.zeros_like(total)
        if np.isfinite(total).all():
            seen = np.where(heavy[:, None], t, t[heavy.argmax()])
            theta.check(seen, block.first_row)
            lowest = weight @ theta.lowest(seen)
            self.largest = max(self.largest, float(seen.max()))
        self.sums += np.concatenate([[weight.sum()], total, lowest])

    def merge(self, other: Self) -> None:
        """Add."""
        self.sums = self.sums + other.sums
        self.largest = max(self.largest, other.largest)
