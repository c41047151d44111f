"""The distinct values of columns, or of combinations of columns, each with the weight of its rows.

It is not in SUMS: beyond `MOST_VALUES` of a column that may be thinned neighbours are joined, so that memory is
bounded whatever the number of rows, and the values that are left depend on where blocks end.
"""

from __future__ import annotations

from typing import Self, cast

import numpy as np

from adaline.arrays import Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.errors import InvalidData
from adaline.sums.base import Sum

MOST_LEVELS = 2**23  # of a grouping; doubling it takes twice the memory
MOST_VALUES = 2**17  # kept exactly; doubling it takes twice the memory, and moves knots by less than a millionth


class DistinctValues(Sum):
    """Distinct rows of some columns of rows of positive weight, (m, columns) in ascending order, and weights (m,).

    columns : for each of the results, the indices of its columns.
    whole : for each, whether no value may be left out, as of groups; otherwise values are thinned.
    counted : whether every row counts once, whatever its weight.
    """

    def __init__(
        self,
        columns: tuple[tuple[int, ...], ...],
        whole: tuple[bool, ...],
        counted: bool,
        values: list[Array],
        weights: list[Array],
    ) -> None:
        self.columns, self.whole, self.counted = columns, whole, counted
        self.values, self.weights = values, weights

    @classmethod
    def zero(cls, shape: Shape, **config: object) -> Self:
        """Return the values of no rows, of the `columns` given."""
        columns = cast("tuple[tuple[int, ...], ...]", config["columns"])
        whole, counted = cast("tuple[bool, ...]", config["whole"]), cast("bool", config["counted"])
        values, weights = [np.empty((0, len(one))) for one in columns], [np.empty(0)] * len(columns)
        return cls(columns, whole, counted, values, weights)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block; NaN and infinity are values too, which sums refuse later."""
        block = block.heavy()
        x = np.asarray(host(as_dense(block.x)), dtype=np.float64)
        weight = np.ones(len(x)) if self.counted else block.weights()
        for k, columns in enumerate(self.columns):
            self._join(k, x[:, columns], weight)

    def merge(self, other: Self) -> None:
        """Take in the values of other rows."""
        for k, (values, weight) in enumerate(zip(other.values, other.weights, strict=True)):
            self._join(k, values, weight)

    def _join(self, k: int, values: Array, weight: Array) -> None:
        every = np.concatenate([self.values[k], values])
        weights = np.concatenate([self.weights[k], weight])
        order = np.argsort(every[:, 0]) if every.shape[1] == 1 else np.lexsort(every.T[::-1])  # the former is quicker
        every = every[order]
        first = np.ones(len(every), dtype=bool)
        first[1:] = (every[1:] != every[:-1]).any(axis=1)
        starts = np.flatnonzero(first)
        every, totals = every[first], np.add.reduceat(weights[order], starts) if len(starts) else np.empty(0)
        if self.whole[k] and len(every) > MOST_LEVELS:
            raise InvalidData(f"more than {MOST_LEVELS:,} groups are too many for one grouping")
        if not self.whole[k] and len(every) > MOST_VALUES:
            kept = np.append(np.arange(0, len(every) - 1, 2), len(every) - 1)
            every, totals = every[kept], np.add.reduceat(totals, kept)
        self.values[k], self.weights[k] = every, totals
