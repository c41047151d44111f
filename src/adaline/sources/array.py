"""Rows in memory: dense arrays of any strides, and CSR matrices. X is not copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, LabelsLike, host, is_sparse, on_host, refuse_masked
from adaline.block import Block, block_rows
from adaline.errors import InvalidData, InvalidType
from adaline.locks import cached_property
from adaline.scans import Scan
from adaline.sources.base import IndexedSource, InMemory, Source
from adaline.sources.matrix import FLOATS, DenseMatrix, RowMatrix, SparseMatrix, floats
from adaline.sources.streamed import BLOCK_BYTES, PageLocks
from adaline.sums.columns import sparse_exponents

WIDEST = 2**13  # columns whose D x D matrix is formed by any sum
NARROW = 2**16  # range of whole numbers that are counted instead of sorted
ENTRIES = 4  # of a block for each of more columns
HEAVIEST = 1e140  # weight of a row, and one over the lightest


class HostRows(InMemory, IndexedSource):
    """What dense and sparse rows in memory have in common."""

    def with_weight(self, weight: Array | None) -> Source:
        """Return the same rows with other weights, (N,)."""
        other = type(self)(self.x, self.t, weight, self.names)
        other.reads = self.reads
        return other

    def take_rows(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of the rows with these indices, copied, in the order given."""
        weight = None if self.weight is None else self.weight[rows]
        return type(self)(self.x[rows], self.t[rows], weight, self.names)


class ArraySource(HostRows):
    """A dense (N, D) array; float32 and float64 are read as they are, other numbers converted block by block."""

    def __init__(
        self, x: AnyArray, t: Array, weight: Array | None = None, names: tuple[str, ...] | None = None
    ) -> None:
        super().__init__(x, t, weight, names)
        self.rows_per_block = block_rows(x.shape[1])

    def block(self, i: int) -> Block:
        """Return a view of the rows of block i."""
        if self.n_rows <= self.rows_per_block:
            return self._only_block
        first = i * self.rows_per_block
        rows = slice(first, first + self.rows_per_block)
        weight = None if self.weight is None else self.weight[rows]
        return Block(floats(self.x[rows]), self.t[rows], weight, first_row=first)

    @cached_property
    def _only_block(self) -> Block:
        return Block(floats(self.x), self.t, self.weight)

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; in another order without a copy of the rows."""
        if order is None and self.x.dtype not in FLOATS:
            super().scan(scan, order, outputs)
            return
        self.reads[0] += 1
        scan.run(Block(floats(self.x), self.t, self.weight), order, outputs)

    def matrix(self) -> RowMatrix:
        """Return X."""
        return DenseMatrix(self.x, self.reads)


class OpenedArray(ArraySource):
    """A dense array (N, D) as `open_table` opens it: its sums are taken on a device where one is named.

    labels : type of the targets as they were given, for those who take them as labels.
    """

    def __init__(
        self,
        x: AnyArray,
        t: Array,
        weight: Array | None = None,
        names: tuple[str, ...] | None = None,
        device: Any = None,
        labels: LabelsLike = np.float64,
    ) -> None:
        super().__init__(x, t, weight, names)
        self.device, self.labels = device, labels
        if device is not None:
            self.rows_per_block = max(BLOCK_BYTES // ((4 if x.dtype == np.float32 else 8) * max(x.shape[1], 1)), 1)
            self.page_locks = PageLocks(x, device)

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, (N, K)."""
        return self._with(t, self.weight)

    def with_weight(self, weight: Array | None) -> Source:
        """Return the same rows with other weights, (N,)."""
        return self._with(self.t, weight)

    def take_rows(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of the rows with these indices, copied, in the order given; it has no device."""
        weight = None if self.weight is None else self.weight[rows]
        return ArraySource(self.x[rows], self.t[rows], weight, self.names)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the distinct targets, sorted, in the type that they were given in; few whole numbers are counted."""
        t = self.t[:, 0]
        low, high = t.min(initial=np.inf), t.max(initial=-np.inf)
        if np.dtype(self.labels).kind in "iub" and high - low < NARROW:
            return np.asarray(np.flatnonzero(np.bincount((t - low).astype(np.intp))) + low).astype(self.labels)
        return np.asarray(super().find_labels(guess).astype(self.labels))

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the index of each target among the classes as target."""
        if np.dtype(self.labels).kind in "iub" and np.array_equal(classes, np.arange(len(classes))):
            return self
        return super().encoded(classes)

    def _with(self, t: Array, weight: Array | None) -> OpenedArray:
        other = OpenedArray(self.x, t, weight, self.names, self.device, self.labels)
        other.reads, other.page_locks = self.reads, self.page_locks
        return other


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
            return Block(self.x, self.t, self.weight)
        first, last = (self.n_rows * j // self.n_blocks for j in (i, i + 1))
        start, stop = self.x.indptr[first], self.x.indptr[last]
        x = type(self.x)(
            (self.x.data[start:stop], self.x.indices[start:stop], self.x.indptr[first : last + 1] - start),
            shape=(last - first, self.shape.features),
            copy=False,
        )
        weight = None if self.weight is None else self.weight[first:last]
        return Block(x, self.t[first:last], weight, first_row=first)

    @cached_property
    def exponent(self) -> Array:
        """Column scales, from the largest magnitude in each column."""
        return sparse_exponents(self.x, self.t)

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; in another order without a copy of the rows."""
        self.reads[0] += 1
        scan.run(Block(self.x, self.t, self.weight), order, outputs)

    @property
    def density(self) -> float:
        """The fraction of the numbers of X that are stored."""
        return float(self.x.nnz) / max(self.n_rows * self.shape.features, 1)

    def matrix(self) -> RowMatrix:
        """Return X."""
        return SparseMatrix(self.x, self.reads)


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
