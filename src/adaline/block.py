"""A block: a run of rows with their targets and weights, the unit in which sources hand data to sums and scans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host, is_device, is_sparse, namespace
from adaline.forms import Size

# numbers of a block; doubling it takes twice the memory per thread, and splits small data among fewer threads
BLOCK_ELEMENTS = 2**20
MIN_BLOCK_ROWS, MAX_BLOCK_ROWS = 1024, 65536


class Shape(NamedTuple):
    """Number of feature columns D and of targets K; rows are not part of a shape."""

    features: Annotated[int, Size("D")]
    targets: Annotated[int, Size("K")]


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


class UnitsApart(NamedTuple):
    """Sparse rows (n, D) whose units, entries of 1 or -1, are stored by their columns alone: a third of CSR's memory.

    Parameters
    ----------
    numbers : CSR (n, D) of the other entries.
    units : int32, j for 1 in column j, and ~j = -1 - j for -1.
    starts : (n + 1,) int32; the units of row i are units[starts[i] : starts[i + 1]].
    """

    numbers: Any
    units: NDArray[np.int32]
    starts: NDArray[np.int32]

    @classmethod
    def of(cls, x: AnyArray) -> UnitsApart:
        """Return the rows of a CSR matrix."""
        one = np.abs(x.data) == 1.0
        before = np.concatenate([np.zeros(1, np.int32), np.cumsum(one, dtype=np.int32)])
        starts, indices = before[x.indptr], x.indices.astype(np.int32, copy=False)
        parts = (x.data[~one].astype(np.float64, copy=False), indices[~one], (x.indptr - starts).astype(np.int32))
        units = indices[one] ^ -(x.data[one] < 0).astype(np.int32)
        return cls(type(x)(parts, shape=x.shape, copy=False), units, starts)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.numbers.shape
        return int(rows), int(columns)

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self.numbers.nnz + len(self.units))

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        numbers = (self.numbers.data, self.numbers.indices, self.numbers.indptr)
        return sum(part.nbytes for part in (*numbers, self.units, self.starts))

    @property
    def columns(self) -> NDArray[np.int32]:
        """The columns of the units."""
        return self.units ^ (self.units >> 31)

    @property
    def signs(self) -> Array:
        """The units themselves, 1 or -1."""
        return np.where(self.units < 0, -1.0, 1.0)

    def packed(self) -> Any:
        """Return the rows as one CSR matrix, the columns of a row in ascending order."""
        units = type(self.numbers)((self.signs, self.columns, self.starts), shape=self.shape, copy=False)
        out = self.numbers + units
        out.sort_indices()
        return out

    def squared(self) -> UnitsApart:
        """Return the rows of the squares of their numbers."""
        x = self.numbers
        squares = type(x)((np.square(x.data), x.indices, x.indptr), shape=x.shape, copy=False)
        return UnitsApart(squares, self.columns, self.starts)

    def taken(self, rows: NDArray[np.intp]) -> UnitsApart:
        """Return the rows with these indices, copied, in the order given."""
        counts = np.diff(self.starts)[rows]
        starts = np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])
        at = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], counts)
        return UnitsApart(self.numbers[rows], self.units[at], starts)


DENSE = (np.ndarray, Columns)
"""Types of dense rows on the host, as native kernels take them."""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows `first_row`, `first_row + 1`, ... of a source.

    Parameters
    ----------
    x : (n, D) float32 or float64 of any strides, or CSR, or an array of another array-API namespace, or Columns or
        UnitsApart, which are given only to sums that declare it (`Sum.reads_columns`, `Sum.reads_units`).
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
        """Return the rows of positive weight, copied where there are others."""
        block = self.gathered()
        if block.weight is None:
            return block
        positive = host(block.weight) > 0
        return block if positive.all() else block.taken(np.flatnonzero(positive))

    def taken(self, rows: NDArray[np.intp]) -> Block:
        """Return the rows with these indices, copied."""
        block = self.gathered()
        x, t = (Block(part, part, chosen=rows.astype(np.int64)).gathered().x for part in (block.x, block.t))
        weight = None if block.weight is None else host(block.weight)[rows]
        return Block(x, t, weight, block.exponent, block.first_row)

    def packed(self) -> Block:
        """Return the block with x as one matrix, where it is Columns or UnitsApart."""
        return replace(self, x=self.x.packed()) if isinstance(self.x, Columns | UnitsApart) else self

    def read_by(self, kind: Any) -> Block:
        """Return the block as a kind of sum takes it: with x as one matrix, unless it reads columns or units apart."""
        declared = kind.reads_units if isinstance(self.x, UnitsApart) else kind.reads_columns
        return self if declared else self.packed()

    def gathered(self) -> Block:
        """Return the block with the chosen rows copied into an x of their own, and x as one matrix."""
        if isinstance(self.x, Columns | UnitsApart):
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


@lru_cache
def block_rows(features: int) -> int:
    """Return the number of rows of a dense block, a power of two: some megabytes, and at least 8 D rows if possible."""
    rows = max(BLOCK_ELEMENTS // max(features, 1), 8 * features, 1)
    return min(max(1 << (rows.bit_length() - 1), MIN_BLOCK_ROWS), MAX_BLOCK_ROWS)
