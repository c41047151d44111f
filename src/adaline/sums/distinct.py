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
from adaline.sums.keyed import joined_totals

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
        weight = None if self.counted or block.weight is None else block.weights()
        for k, columns in enumerate(self.columns):
            self._take(k, *_distinct(x[:, columns], weight))

    def merge(self, other: Self) -> None:
        """Take in the values of other rows."""
        for k, (values, weight) in enumerate(zip(other.values, other.weights, strict=True)):
            self._take(k, values, weight)

    def _take(self, k: int, values: Array, weight: Array) -> None:
        """Take in distinct values in ascending order."""
        if values.shape[1] == 1:
            one, other = self.values[k][:, 0], np.ascontiguousarray(values[:, 0])
            keys, sums = joined_totals(one, self.weights[k][:, None], other, weight[:, None])
            every, totals = keys[:, None], sums[:, 0]
        else:
            every = np.concatenate([self.values[k], values])
            every, totals = _distinct(every, np.concatenate([self.weights[k], weight]))
        if self.whole[k] and len(every) > MOST_LEVELS:
            raise InvalidData(f"more than {MOST_LEVELS:,} groups are too many for one grouping")
        if not self.whole[k] and len(every) > MOST_VALUES:
            kept, pairs = np.append(np.arange(0, len(every) - 1, 2), len(every) - 1), (len(every) - 1) // 2
            joined = totals[kept]
            joined[:pairs] += totals[1 : 2 * pairs : 2]
            every, totals = every[kept], joined
        self.values[k], self.weights[k] = every, totals


def _distinct(x: Array, weight: Array | None) -> tuple[Array, Array]:
    """Return the distinct rows of x (n, columns) in ascending order, and their weights; None counts rows."""
    if x.shape[1] > 1:
        order = np.lexsort(x.T[::-1])
    elif weight is None:  # values alone are sorted three times as fast as places
        order, x = None, np.sort(x, axis=0)
    else:
        order = np.argsort(x[:, 0])
    x = x if order is None else x[order]
    first = np.ones(len(x), dtype=bool)
    first[1:] = (x[1:] != x[:-1]).any(axis=1) if x.shape[1] > 1 else x[1:, 0] != x[:-1, 0]
    starts = np.flatnonzero(first)
    if weight is None:
        return x[first], np.diff(starts, append=len(x)).astype(np.float64)
    if not len(x):
        return x, weight
    return x[first], np.add.reduceat(weight[order], starts)
