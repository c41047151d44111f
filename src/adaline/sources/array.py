"""Rows in memory: dense arrays of any strides, and CSR matrices. X is not copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host, is_sparse, on_host, refuse_masked
from adaline.attributes import replaced
from adaline.block import Block, block_rows
from adaline.errors import InvalidData, InvalidType
from adaline.locks import cached_property
from adaline.scans import Scan
from adaline.sources.base import IndexedSource, InMemory, Source
from adaline.sources.matrix import FLOATS, DenseMatrix, RowMatrix, SparseMatrix, floats
from adaline.sources.runners import HERE, SentToDevice
from adaline.sources.streamed import BLOCK_BYTES, PageLocks
from adaline.sources.targets import TargetChange, taken_targets
from adaline.sums.columns import sparse_exponents

# columns of sparse rows up to which blocks are few enough that each can have a D x D matrix; doubling it takes up to
# four times the memory
WIDEST = 2**13
# stored entries per column and block of wider rows; doubling it halves the blocks, of which there are up to 16
ENTRIES = 4
HEAVIEST = 1e140  # weight of a row, and one over the lightest


class HostRows(IndexedSource, InMemory):
    """What dense and sparse rows in memory have in common."""

    def take_rows(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of the rows with these indices, in the order given; those of a run are not copied."""
        targets = self.targets.changed(TargetChange(partial(taken_targets, rows), self.targets))
        run = len(rows) > 0 and bool((np.diff(rows) == 1).all())
        x = self.x[rows[0] : rows[-1] + 1] if run else self.x[rows]
        return replaced(self, x=x, n_rows=len(rows), targets=targets, reads=[0])


class ArraySource(HostRows):
    """A dense (N, D) array; float32 and float64 are read as they are, other numbers converted block by block.

    Sums are taken on a device where one is named.
    """

    def __init__(
        self,
        x: AnyArray,
        t: Array,
        weight: Array | None = None,
        names: tuple[str, ...] | None = None,
        device: Any = None,
    ) -> None:
        super().__init__(x, t, weight, names)
        self.rows_per_block = block_rows(x.shape[1])
        if device is not None:
            self.runner = SentToDevice(device, PageLocks(x, device))
            self.rows_per_block = max(BLOCK_BYTES // ((4 if x.dtype == np.float32 else 8) * max(x.shape[1], 1)), 1)

    def block(self, i: int) -> Block:
        """Return a view of the rows of block i."""
        if self.n_rows <= self.rows_per_block:
            return self._only_block
        first = i * self.rows_per_block
        rows = slice(first, first + self.rows_per_block)
        t, weight = self.targets.of_rows(rows)
        return Block(floats(self.x[rows]), t, weight, first_row=first)

    @cached_property
    def _only_block(self) -> Block:
        return Block(floats(self.x), self.targets.values, self.targets.weight)

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; in another order without a copy of the rows."""
        if order is None and self.x.dtype not in FLOATS:
            super().scan(scan, order, outputs)
            return
        self.reads[0] += 1
        scan.run(Block(floats(self.x), self.targets.values, self.targets.weight), order, outputs)

    def matrix(self) -> RowMatrix:
        """Return X."""
        return DenseMatrix(self.x, self.reads)

    def take_rows(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of the rows with these indices, in the order given; it has no device."""
        rows_per_block = block_rows(self.shape.features)
        return replaced(super().take_rows(rows), runner=HERE, rows_per_block=rows_per_block)


class SparseSource(HostRows):
    """A CSR matrix; zeros stay zeros: sums are not centred but corrected by a rank-one matrix afterwards."""

    sparse = True

    def __init__(
        self, x: AnyArray, t: Array, weight: Array | None = None, names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(x if x.data.dtype in FLOATS else x.astype(np.float64), t, weight, names)

    @cached_property
    def n_blocks(self) -> int:
        """Few blocks, as each carries a D x D matrix, one for every 64 D^2 multiply-adds, or vectors (D,), if wide."""
        features = max(self.shape.features, 1)
        if features > WIDEST:
            return int(min(max(self.x.nnz / (ENTRIES * features), 1), 16, max(self.n_rows, 1)))
        work = float(np.square(np.diff(self.x.indptr), dtype=np.float64).sum())
        return int(min(max(work / (64.0 * features**2), 1), 256, max(self.n_rows, 1)))

    def block(self, i: int) -> Block:
        """Return the rows of block i with the scales of the columns, as sums take them."""
        return replace(self._rows(i), exponent=self.exponent)

    def blocks(self) -> Iterator[Block]:
        """Return the blocks in order, without scales, which cost a pass of their own."""
        self.reads[0] += 1
        return map(self._rows, range(self.n_blocks))

    def peek(self) -> Block:
        """Return the first block, without scales."""
        return self._rows(0)

    def _rows(self, i: int) -> Block:
        """Return the rows of block i; the index arrays are views."""
        if self.n_blocks == 1:
            return Block(self.x, self.targets.values, self.targets.weight)
        first, last = (self.n_rows * j // self.n_blocks for j in (i, i + 1))
        start, stop = self.x.indptr[first], self.x.indptr[last]
        x = type(self.x)(
            (self.x.data[start:stop], self.x.indices[start:stop], self.x.indptr[first : last + 1] - start),
            shape=(last - first, self.shape.features),
            copy=False,
        )
        t, weight = self.targets.of_rows(slice(first, last))
        return Block(x, t, weight, first_row=first)

    @cached_property
    def exponent(self) -> Array:
        """Column scales, from the largest magnitude in each column."""
        return sparse_exponents(self.x, self.targets.values)

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; in another order without a copy of the rows."""
        self.reads[0] += 1
        scan.run(Block(self.x, self.targets.values, self.targets.weight), order, outputs)

    @property
    def density(self) -> float:
        """The fraction of the numbers of X that are stored."""
        return float(self.x.nnz) / max(self.n_rows * self.shape.features, 1)

    def matrix(self) -> RowMatrix:
        """Return X."""
        return SparseMatrix(self.x, self.reads)


def rows_beside(
    source: IndexedSource, x: AnyArray, names: tuple[str, ...] | None = None, **known: AnyArray
) -> ArraySource | SparseSource:
    """Return rows x (N, D) in memory with the targets and the count of reads of others, which are in memory too."""
    kind = SparseSource if is_sparse(x) else ArraySource
    made = kind(x, source.targets.values, names=names)
    return replaced(made, targets=source.targets, reads=source.reads, **known)


def source_of(blocks: list[Block], names: tuple[str, ...] | None) -> ArraySource | SparseSource:
    """Return the rows of some blocks as one source in memory, copied."""
    t = np.concatenate([host(block.t) for block in blocks])
    weight = None if blocks[0].weight is None else np.concatenate([host(block.weight) for block in blocks])
    x = joined_rows(blocks)
    return SparseSource(x, t, weight, names) if is_sparse(x) else ArraySource(x, t, weight, names)


def joined_rows(blocks: list[Block]) -> Any:
    """Return X of some blocks, copied: (n, D) on the host, or CSR."""
    rows = [on_host(block.x) for block in blocks]
    if is_sparse(rows[0]):
        return scipy.sparse.vstack(rows).tocsr()
    return np.ascontiguousarray(rows[0] if len(rows) == 1 else np.concatenate(rows))


def read_weights(weight: AnyArray, rows: int, name: str = "sample_weight") -> Array:
    """Return weights as (n,) float64, non-negative, not all zero; messages call them by their name."""
    refuse_masked(weight, name)
    try:
        given = np.asarray(on_host(weight))
        out = given.astype(np.float64, casting="same_kind" if given.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError, OverflowError):
        raise InvalidType(f"{name} must be numbers, got {type(weight).__name__}") from None
    if out.ndim == 0:
        out = np.full(rows, float(out))
    if out.ndim != 1:
        raise InvalidData("Sample weights must be 1D array or scalar")
    if out.shape[0] != rows:
        raise InvalidData(f"{name}.shape == {out.shape}, expected {(rows,)}!")
    if not np.isfinite(out).all():
        row = int(np.flatnonzero(~np.isfinite(out))[0])
        kind = "NaN" if np.isnan(out[row]) else "infinity"
        raise InvalidData(f"Input {name} contains {kind}: first at row {row}")
    if (out < 0).any():
        row = int(np.flatnonzero(out < 0)[0])
        raise InvalidData(f"Negative values in {name}: first at row {row}. Weights are frequencies, 0 or more.")
    if not out.any():
        raise InvalidData("All sample weights are zero: there is nothing to fit. Give some row a positive weight.")
    extreme = (out > HEAVIEST) | ((out < 1 / HEAVIEST) & (out > 0))
    if extreme.any():
        row = int(extreme.argmax())
        raise InvalidData(
            f"{name} is {out[row]:g} at row {row}: weights are zero, or from {1 / HEAVIEST:g} to {HEAVIEST:g}, "
            "so that their squares neither overflow nor vanish. Multiply all of them by a number."
        )
    return np.ascontiguousarray(out)
