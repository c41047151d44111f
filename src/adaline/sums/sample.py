"""A sample of rows that needs no count of them beforehand: those with the smallest lots, a hash of their numbers.

It merges like a sum: the smallest lots of all rows are among the smallest of each part. It is not in SUMS: a sample is
of rows as they are, so that a weight of 2 is not the row twice.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host, is_sparse
from adaline.block import Block, Shape
from adaline.lots import lots
from adaline.sums.base import Sum


class RowSample(Sum):
    """At most `most` rows of positive weight: x (m, D), t (m, K), weights (m,), their numbers among all, their lots."""

    def __init__(
        self, most: int, x: Array, t: Array, weight: Array, row: NDArray[np.int64], lot: NDArray[np.uint64]
    ) -> None:
        self.most, self.x, self.t, self.weight, self.row, self.lot = most, x, t, weight, row, lot

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return a sample of no rows."""
        x, t = np.empty((0, shape.features)), np.empty((0, shape.targets))
        return cls(config["most"], x, t, np.empty(0), np.empty(0, np.int64), np.empty(0, np.uint64))

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the rows of a block that may be among those with the smallest lots."""
        lot = lots(block.first_row, block.rows)
        weight = np.ones(block.rows) if block.weight is None else host(block.weight)
        chosen = np.flatnonzero(weight > 0)
        if len(self.row) == self.most:
            chosen = chosen[lot[chosen] < self.lot.max()]
        chosen = chosen[_smallest(lot[chosen], self.most)]
        x = Block(block.x, block.t, chosen=chosen).gathered().x
        rows = np.asarray(x.toarray() if is_sparse(x) else host(x), dtype=np.float64)
        self.merge(
            type(self)(*(self.most, rows, host(block.t)[chosen], weight[chosen]), block.first_row + chosen, lot[chosen])
        )

    def merge(self, other: Self) -> None:
        """Keep the smallest lots of both, in the order of the rows."""
        row, lot = np.concatenate([self.row, other.row]), np.concatenate([self.lot, other.lot])
        kept = _smallest(lot, self.most)
        kept = kept[np.argsort(row[kept], kind="stable")]
        self.row, self.lot = row[kept], lot[kept]
        self.x, self.t, self.weight = (
            np.concatenate(pair)[kept] for pair in ((self.x, other.x), (self.t, other.t), (self.weight, other.weight))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.most, self.x, self.t, self.weight, self.row, self.lot)


def _smallest(lot: NDArray[np.uint64], most: int) -> NDArray[np.intp]:
    """Return the places of the smallest lots, all where there are no more than `most`."""
    return np.arange(len(lot)) if len(lot) <= most else np.argpartition(lot, most - 1)[:most]
