"""Weights by size, from which medians and other order statistics of all rows are found in a few passes.

A row has a size |u|, such as its absolute residual. Within a window, low <= |u| < high, distinct sizes are kept with
their weights. If there are more than MOST_CELLS, neighbouring sizes share a cell of 2^shift floats, with the smallest
shift that leaves at most MOST_CELLS cells. Each cell, and the sizes below and above the window, have two totals:

    sum w,   sum w u^2

Sizes are represented by the whole numbers that order floats, so that a window anywhere is cut into equal parts. Two
sets of rows together need at least the shift of each, and coarse cells are unions of fine ones: the result does not
depend on how the rows were cut.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, ThetaLike
from adaline.block import Block, Shape
from adaline.sums.base import Sum

# distinct keys, or cells of keys, that are kept; doubling it doubles the memory, and narrows each cell to half
MOST_CELLS = 2**14
LARGEST_SQUARED = 1e150  # larger sizes count as this in sums of squares, which would overflow
INFINITY_KEY = 0x7FF << 52  # the key of infinity, beyond that of any size

Keys = NDArray[np.uint64]


class Ranks(Sum):
    """Totals of the cells of a window, (m, 2), of the sizes below and above it, (2,), and two keys.

    keys : (m,) first key of each cell, ascending; a cell has 2^shift keys.
    ends : the smallest key from `high` on, INFINITY_KEY without one, and the largest of all, 0 without rows.
    """

    def __init__(
        self, low: int, high: int, shift: int, keys: Keys, totals: Array, below: Array, above: Array, ends: Keys
    ) -> None:
        self.low, self.high, self.shift, self.keys, self.totals = low, high, shift, keys, totals
        self.below, self.above, self.ends = below, above, ends

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the totals of no rows; `window` is a pair of keys, all sizes where it is not given."""
        low, high = config.get("window", (0, INFINITY_KEY))
        none = np.empty(0, dtype=np.uint64), np.empty((0, 2))
        return cls(low, high, 0, *none, np.zeros(2), np.zeros(2), np.array([INFINITY_KEY, 0], dtype=np.uint64))

    @property
    def weight(self) -> float:
        """Sum of the weights of all rows."""
        return float(self.cumulative()[-1, 0] + self.above[0])

    @property
    def largest(self) -> float:
        """The largest size."""
        return float(self.ends[1:].view(np.float64)[0])

    def cumulative(self) -> Array:
        """Return the totals below each cell, and below the end of the window, (m + 1, 2)."""
        return np.cumsum(np.concatenate([self.below[None], self.totals]), axis=0)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block; theta has a method `read` from a block to the numbers u of its rows, (n,)."""
        if block.rows == 0:
            return
        weight, size = block.weights(), np.abs(theta.read(block.gathered()))
        if block.weight is not None:
            weight, size = weight[weight > 0], size[weight > 0]
        if not len(size):
            return
        keys = np.ascontiguousarray(size, dtype=np.float64).view(np.uint64)
        totals = np.column_stack([weight, weight * np.minimum(size, LARGEST_SQUARED) ** 2])
        under, over = keys < self.low, keys >= self.high
        inside = ~(under | over)
        ends = np.array([keys[over].min(initial=INFINITY_KEY), keys.max()], dtype=np.uint64)
        cells = _joined(keys[inside], totals[inside])
        self.merge(
            type(self)(self.low, self.high, 0, *cells, totals[under].sum(axis=0), totals[over].sum(axis=0), ends)
        )

    def merge(self, other: Self) -> None:
        """Add the totals of equal cells, which become coarser where there are too many."""
        shift = max(self.shift, other.shift)
        cells = np.concatenate([self.keys, other.keys]), np.concatenate([self.totals, other.totals])
        self.keys, self.totals = self._coarse(*cells, shift)
        self.shift = shift
        if len(self.keys) > MOST_CELLS:
            self.shift = int(-np.partition(-_lengths(self.keys - np.uint64(self.low)), MOST_CELLS - 1)[MOST_CELLS - 1])
            self.keys, self.totals = self._coarse(self.keys, self.totals, self.shift)
        self.below, self.above = self.below + other.below, self.above + other.above
        ends = self.ends, other.ends
        self.ends = np.array([min(a[0] for a in ends), max(a[1] for a in ends)], dtype=np.uint64)

    def _coarse(self, keys: Keys, totals: Array, shift: int) -> tuple[Keys, Array]:
        low, by = np.uint64(self.low), np.uint64(shift)
        return _joined(low + ((keys - low) >> by << by), totals)


def key_of(size: float) -> int:
    """Return the whole number that a size of zero or more has among all sizes."""
    return int(np.float64(size).view(np.uint64))


def size_of(key: int) -> float:
    """Return the size with this whole number."""
    return float(np.uint64(key).view(np.float64))


def _joined(keys: Keys, totals: Array) -> tuple[Keys, Array]:
    """Return the distinct keys, ascending, and the sums of their totals."""
    if not len(keys):
        return keys, totals
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[first], np.add.reduceat(totals[order], first, axis=0)


def _lengths(keys: Keys) -> NDArray[np.int64]:
    """Return how many bits must be cut off neighbouring keys, ascending, before they are equal, (m - 1,)."""
    apart = keys[1:] ^ keys[:-1]
    apart &= ~(apart >> np.uint64(1))  # so that rounding to a float does not reach the next power of two
    return np.frexp(apart.astype(np.float64))[1].astype(np.int64)
