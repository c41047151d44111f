"""How many rows several candidates get wrong, counted in one pass: what the pocket is filled by (S2).

count_ck = sum of weight over the rows with t_k (w_ck.x) <= 0,   candidates c, outputs k
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, Shape
from adaline.namespaces import host
from adaline.sums.base import Sum
from adaline.sums.wrong import outputs

Array = NDArray[np.float64]


class ErrorCounts(Sum):
    """Weight of the rows on the wrong side, (C, K), for weights theta (C, K, 1 + D)."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, count: Array) -> None:
        self.count = count

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the counts of no rows for so many `candidates`."""
        return cls(np.zeros((int(config.get("candidates", 1)), shape.targets)))

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in a block at the weights theta (C, K, 1 + D)."""
        block = block.heavy()
        if block.rows == 0:
            return
        c, k, columns = theta.shape
        z = outputs(block.x, theta.reshape(c * k, columns)).reshape(block.rows, c, k)
        wrong = (host(block.t)[:, None, :] * z <= 0).reshape(block.rows, c * k)
        weight = np.ones(block.rows) if block.weight is None else host(block.weight)
        self.count += (weight @ wrong).reshape(c, k)

    def merge(self, other: Self) -> None:
        """Add."""
        self.count += other.count

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.count,)
