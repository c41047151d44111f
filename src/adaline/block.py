"""A block: a run of rows with their targets and weights, the unit in which sources hand data to sums and scans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host, is_device, is_sparse, namespace


class Shape(NamedTuple):
    """Number of feature columns D and of targets K; rows are not part of a shape."""

    features: int
    targets: int


class Columns(list[NDArray[np.float64]]):
    """The columns of a table as separate vectors (n,), which native kernels read without a copy."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self[0]) if self else 0), len(self)

    def packed(self) -> NDArray[np.float64]:
        """Return the columns as one matrix, (n, D), in column-major order."""
        out = np.empty(self.shape[::-1])
        for row, column in zip(out, self, strict=True):
            row[:] = column
        return out.T


DENSE = (np.ndarray, Columns)
"""Types of dense rows on the host, as native kernels take them."""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows `first_row`, `first_row + 1`, ... of a source.

    Parameters
    ----------
    x : (n, D) float32 or float64 of any strides, or CSR, or an array of another array-API namespace, or Columns, which
        are given only to sums that declare it (`Sum.reads_columns`).
    t : (n, K) targets, float64.
    weight : (n,) non-negative frequencies, or None for ones.
    exponent : (D + K,) column scales of the source as powers of two, where the source knows them (CSR), or None.
    first_row : index of the first row in the source.
    chosen : indices (int64) of the rows of x that the block consists of, in the order of t and weight; None for all.
    """

    x: Any
    t: Any
    weight: Any = None
    exponent: Any = None
    first_row: int = 0
    chosen: Any = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int((self.x if self.chosen is None else self.chosen).shape[0])

    def weights(self) -> Array:
        """Return the weights on the host, (n,); ones where the block has none."""
        return np.ones(self.rows) if self.weight is None else host(self.weight)

    def pieces(self, elements: int) -> Iterator[Block]:
        """Cut the block into blocks of about `elements` numbers of x each, for sums that must copy rows."""
        block = self.gathered()
        step = max(elements // max(block.shape.features, 1), 1)
        if block.rows <= step:
            yield block
            return
        for first in range(0, block.rows, step):
            rows = slice(first, min(first + step, block.rows))
            weight = None if block.weight is None else block.weight[rows]
            x = block.x[rows] if is_sparse(block.x) else block.x[rows, :]
            yield Block(x, block.t[rows, :], weight, block.exponent, block.first_row + first)

    def heavy(self) -> Block:
        """Return the rows of positive weight, copied."""
        block = self.gathered()
        if block.weight is None:
            return block
        return block.taken(np.flatnonzero(host(block.weight) > 0))

    def taken(self, rows: NDArray[np.intp]) -> Block:
        """Return the rows with these indices, copied."""
        block = self.gathered()
        x, t = (Block(part, part, chosen=rows.astype(np.int64)).gathered().x for part in (block.x, block.t))
        weight = None if block.weight is None else host(block.weight)[rows]
        return Block(x, t, weight, block.exponent, block.first_row)

    def packed(self) -> Block:
        """Return the block with x as one matrix, where it is Columns."""
        return replace(self, x=self.x.packed()) if isinstance(self.x, Columns) else self

    def gathered(self) -> Block:
        """Return the block with the chosen rows copied into an x of their own, and x as one matrix."""
        if isinstance(self.x, Columns):
            return self.packed().gathered()
        if self.chosen is None:
            return self
        if is_device(self.x):
            xp = namespace(self.x)
            x = xp.take(self.x, xp.asarray(self.chosen, device=self.x.device), axis=0)
        else:
            x = self.x[self.chosen]
        return Block(x, self.t, self.weight, self.exponent, self.first_row)

    @property
    def shape(self) -> Shape:
        """Number of columns of x and of t."""
        return Shape(int(self.x.shape[1]), int(self.t.shape[1]))
