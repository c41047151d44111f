"""Rows in a basis: blocks of phi(x), evaluated as they are read. Every pass evaluates phi once more.

Sparse rows whose phi is sparse too, less than a quarter of it stored, are evaluated once.

Where phi(x) of all rows takes at most `IN_MEMORY` bytes, it is evaluated once and held in memory as an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, as_dense, host, is_sparse
from adaline.attributes import replaced
from adaline.basis.base import Basis, check_columns_made
from adaline.block import Block, Shape, block_rows
from adaline.scans import Scan, State
from adaline.sources.array import ArraySource, SparseSource, rows_beside
from adaline.sources.base import InMemory, Source, column_name
from adaline.sources.matrix import DualGram, RowMatrix
from adaline.sources.runners import Reader
from adaline.sources.targets import RowTargets
from adaline.sources.views import SameTargets, in_memory

IN_MEMORY = 2**26
"""Bytes of phi(x) up to which it is held in memory as a whole."""
SPARSE = 2**26
"""Numbers of a sparse phi(x) up to which it is held in memory as a whole."""
PIECE, LEAST_ROWS = 2**21, 64
"""Numbers of phi(x) in a block, and its least number of rows."""
STRIP = 2**24
"""Numbers of phi(x) that are evaluated at a time for a dual Gram matrix."""


def expanded(source: Source, basis: Basis) -> Source:
    """Return the same rows as phi(x): held in memory where that is small, else block by block; on the host."""
    source = in_memory(source)
    if not isinstance(source, ArraySource | SparseSource):
        return Expanded(source, basis)
    if isinstance(source, SparseSource) and basis.stored(source.x) <= min(SPARSE, source.n_rows * basis.size / 4):
        given = [column_name(source, j) for j in range(source.shape.features)]
        return rows_beside(source, basis.sparse_of(source.x), tuple(basis.names(given)))
    rows = ExpandedRows(source, basis)
    if 8 * rows.n_rows * rows.shape.features > IN_MEMORY:
        return rows
    rows = replaced(rows, reads=[0])  # to evaluate phi once, on rows in memory, is not counted as a read
    x = np.ascontiguousarray(rows.map(lambda block: np.asarray(block.x)))
    if not np.isfinite(x).all():
        rows.refuse_nonfinite()
    return rows_beside(source, x, rows.columns.names)


def phi(basis: Basis, x: AnyArray) -> Array:
    """Return phi of rows of any kind, (n, M); all columns of a row that is not finite are NaN."""
    rows = host(as_dense(x))
    with np.errstate(all="ignore"):
        out = basis.of(rows)
    if basis.foreign:
        check_columns_made(out, basis.size, basis)
    if not np.isfinite(rows).all():
        out[~np.isfinite(rows).all(axis=1)] = np.nan
    return out


def piece_rows(columns: int) -> int:
    """Return the number of rows of a block of phi with so many columns."""
    return min(block_rows(columns), max(PIECE // max(columns, 1), LEAST_ROWS))


class Expanded(SameTargets):
    """The rows of a source as phi(x), block by block."""

    def __init__(self, base: Source, basis: Basis) -> None:
        super().__init__(base)
        given = [column_name(base, j) for j in range(base.shape.features)]
        self.basis = basis
        names = tuple(basis.names(given))
        self.columns, self.shape = replace(base.columns, names=names), Shape(len(names), base.shape.targets)
        self.sparse = False
        self.step = piece_rows(self.shape.features)

    def matrix(self) -> RowMatrix:
        """Return phi(x)."""
        return PhiMatrix(self)

    def refuse_nonfinite(self) -> None:
        """Raise, naming what is not finite in the rows themselves, else in phi."""
        for block in self.base.blocks():
            x = block.x.data if is_sparse(block.x) else host(block.x)
            if not (np.isfinite(x).all() and np.isfinite(host(block.t)).all()):
                self.base.refuse_nonfinite()
        Source.refuse_nonfinite(self)

    def _with(self, base: Source) -> Source:
        return type(self)(base, self.basis)

    def _read(self, read: Reader) -> Iterator[Block]:
        for block in read():
            for piece in block.pieces(self.step * block.shape.features):
                yield self._transformed(piece)

    def _transformed(self, block: Block) -> Block:
        return Block(phi(self.basis, block.x), block.t, block.weight, first_row=block.first_row)


class PhiMatrix(RowMatrix):
    """phi(x) of the rows of a source, evaluated again for each product."""

    def __init__(self, source: Expanded) -> None:
        self.source = source

    def matvec(self, v: Array) -> Array:
        """Return phi v."""
        return self.source.map(lambda block: np.asarray(block.x @ v))

    def rmatvec(self, u: Array) -> Array:
        """Return phi' u."""
        return self._total(u, lambda x, u: x.T @ u)

    def spread(self, weight: Array, intercept: bool) -> Array:
        """Return the root mean square of each column; phi is evaluated twice."""
        mean = self.rmatvec(weight) / weight.sum() * intercept
        return np.asarray(np.sqrt(self._total(weight, lambda x, w: w @ (x - mean) ** 2) / weight.sum()))

    def dual_gram(self, weight: Array, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix, by pairs of strips of rows."""
        mean = self.rmatvec(weight) / weight.sum() * intercept
        size, n = max(STRIP // max(self.source.shape.features, 1), 1), self.source.n_rows
        strips = [np.arange(first, min(first + size, n)) for first in range(0, n, size)]

        def rows(strip: NDArray[np.intp]) -> Array:
            return np.asarray((self.source.rows_at(strip) - mean) * scale * np.sqrt(weight[strip])[:, None])

        gram = np.zeros((n, n))
        for i, strip in enumerate(strips):
            x = rows(strip)
            for j, other in enumerate(strips[: i + 1]):
                gram[np.ix_(strip, other)] = part = x @ (x if j == i else rows(other)).T
                gram[np.ix_(other, strip)] = part.T
        return DualGram(gram, mean)

    def _total(self, u: Array, function: Callable[[Array, Array], Array]) -> Array:
        """Return the sum of function(x, u) over the rows of all blocks, (M,)."""

        def of_block(block: Block) -> Array:
            return np.asarray(function(block.x, u[block.first_row : block.first_row + block.rows]))[None]

        return np.asarray(self.source.map(of_block).sum(axis=0))


class ExpandedRows(InMemory, Expanded):
    """Rows in memory as phi(x), block by block, readable in any order."""

    base: ArraySource | SparseSource

    def readers(self) -> Iterator[Reader]:
        """Return readers of pieces of phi(x)."""
        return (partial(self._run, first) for first in range(0, self.n_rows, self.step))

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; in another order, phi is evaluated on the rows of each block of it."""
        if order is None:
            super().scan(scan, order, outputs)
            return
        self.reads[0] += 1
        for first in range(0, len(order), self.step):
            rows = order[first : first + self.step]
            scan.run(self._rows(rows), outputs=None if outputs is None else outputs[first : first + len(rows)])
            if scan.status is not State.RUNNING:
                if outputs is not None:
                    outputs[first + len(rows) :] = 0.0
                return

    def take_rows(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of the rows with these indices, in the order given."""
        return expanded(self.base.take_rows(rows), self.basis)

    def retargeted(self, targets: RowTargets) -> Source:
        """Return the same rows with other targets and weights in memory."""
        return self._with(self.base.retargeted(targets))

    def rows_at(self, indices: NDArray[np.intp]) -> Array:
        """Return phi of the rows with these indices."""
        return phi(self.basis, self.base.x[indices])

    def _run(self, first: int) -> tuple[Block]:
        return (self._rows(slice(first, first + self.step), first),)

    def _rows(self, rows: Any, first: int = 0) -> Block:
        t, weight = self.base.targets.of_rows(rows)
        return self._transformed(Block(self.base.x[rows], t, weight, first_row=first))
