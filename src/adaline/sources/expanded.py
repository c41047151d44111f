"""Rows seen through a basis: blocks hold phi(x), made as they are read; the whole of phi exists only where it is small.

A pass costs the evaluation of phi once more. What is held instead, below `HELD` bytes, is an array like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host, is_sparse
from adaline.basis.base import Basis
from adaline.block import Block, Shape
from adaline.scans import Scan, State
from adaline.sources.array import ArraySource, SparseSource
from adaline.sources.base import DualGram, InMemory, Reader, Source, block_rows
from adaline.sources.views import SourceView, in_memory

HELD = 2**26
"""Bytes of phi(x) up to which it is held in memory as a whole."""
PIECE, LEAST_ROWS = 2**21, 64
"""Numbers of phi(x) in a block, and the fewest rows."""
STRIP = 2**24
"""Numbers of phi(x) that a dual Gram matrix is made from at a time."""


def expanded(source: Source, basis: Basis) -> Source:
    """Return the same rows as phi(x): held where that is small, else block by block; on the host."""
    source = in_memory(source)
    if not isinstance(source, ArraySource | SparseSource):
        return Expanded(source, basis)
    rows = ExpandedRows(source, basis)
    if 8 * rows.n_rows * rows.shape.features > HELD:
        return rows
    rows.reads = [0]  # what becomes of rows in memory, once, is no read of the fit
    x = np.ascontiguousarray(rows.map(lambda block: np.asarray(block.x)))
    if not np.isfinite(x).all():
        rows.refuse_nonfinite()
    out = ArraySource(x, source.t, source.weight, rows.names)
    out.flat, out.reads = source.flat, source.reads
    return out


def phi(basis: Basis, x: Any) -> Array:
    """Return phi of rows of any kind, (n, M); rows that are not finite are NaN throughout."""
    rows = np.asarray(x.toarray() if is_sparse(x) else host(x), dtype=np.float64)
    with np.errstate(all="ignore"):
        out = basis.of(rows)
    if not np.isfinite(rows).all():
        out[~np.isfinite(rows).all(axis=1)] = np.nan
    return out


def piece_rows(columns: int) -> int:
    """Return how many rows of phi make a block."""
    return min(block_rows(columns), max(PIECE // max(columns, 1), LEAST_ROWS))


class Expanded(SourceView):
    """The rows of a source as phi(x), block by block."""

    def __init__(self, base: Source, basis: Basis) -> None:
        super().__init__(base)
        given = [base.name(j) for j in range(base.shape.features)]
        self.basis = basis
        self.names = tuple(basis.names(given))
        self.shape = Shape(len(self.names), base.shape.targets)
        self.sparse, self.flat = False, base.flat
        self.step = piece_rows(self.shape.features)

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.base.read_targets()

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        return self._with(self.base.with_targets(t))

    def with_target(self, k: int) -> Source:
        """Return the same rows with target k alone."""
        return self._with(self.base.with_target(k))

    def recoded(self, values: Array) -> Source:
        """Return the same rows where target k, a class index, becomes values[k]."""
        return self._with(self.base.recoded(values))

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the different targets, sorted."""
        return self.base.find_labels(guess)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the place of each target among the classes as target."""
        return self._with(self.base.encoded(classes))

    def unlabelled(self) -> Source:
        """Return the same rows without targets."""
        return self._with(self.base.unlabelled())

    def matvec(self, v: Array) -> Array:
        """Return phi v."""
        return self.map(lambda block: np.asarray(block.x @ v))

    def rmatvec(self, u: Array) -> Array:
        """Return phi' u."""
        return self._added(lambda block: block.x.T @ u[block.first_row : block.first_row + block.rows])

    def spread(self, intercept: bool) -> Array:
        """Return root mean squares of the columns: two evaluations of phi."""
        total = self.total_weight()
        mean = self._added(lambda block: _weights(block) @ block.x) / total * intercept
        return np.asarray(np.sqrt(self._added(lambda block: _weights(block) @ (block.x - mean) ** 2) / total))

    def dual_gram(self, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix, by strips of rows against strips of rows."""
        weight = self.read_weights()
        weight = np.ones(self.n_rows) if weight is None else weight
        mean = self.rmatvec(weight) / weight.sum() * intercept
        size = max(STRIP // max(self.shape.features, 1), 1)
        strips = [np.arange(first, min(first + size, self.n_rows)) for first in range(0, self.n_rows, size)]

        def rows(strip: NDArray[np.intp]) -> Array:
            return np.asarray((self.rows_at(strip) - mean) * scale * np.sqrt(weight[strip])[:, None])

        gram = np.zeros((self.n_rows, self.n_rows))
        for i, strip in enumerate(strips):
            x = rows(strip)
            for j, other in enumerate(strips[: i + 1]):
                gram[np.ix_(strip, other)] = part = x @ (x if j == i else rows(other)).T
                gram[np.ix_(other, strip)] = part.T
        return DualGram(gram, mean)

    def refuse_nonfinite(self) -> None:
        """Name what is not finite in the rows themselves, else what the basis made of them."""
        for block in self.base.blocks():
            x = block.x.data if is_sparse(block.x) else host(block.x)
            if not (np.isfinite(x).all() and np.isfinite(host(block.t)).all()):
                self.base.refuse_nonfinite()
        Source.refuse_nonfinite(self)

    def _with(self, base: Source) -> Source:
        return type(self)(base, self.basis)

    def _added(self, part: Callable[[Block], Array]) -> Array:
        """Return the sum of what the blocks give, (M,)."""
        return np.asarray(self.map(lambda block: np.asarray(part(block))[None]).sum(axis=0))

    def _read(self, read: Reader) -> Iterator[Block]:
        for block in read():
            for piece in block.pieces(self.step * block.shape.features):
                yield self._seen(piece)

    def _seen(self, block: Block) -> Block:
        return Block(phi(self.basis, block.x), block.t, block.weight, first_row=block.first_row)


class ExpandedRows(InMemory, Expanded):
    """Rows in memory as phi(x), block by block, in any order."""

    base: ArraySource | SparseSource

    def _readers(self) -> Iterator[Reader]:
        """Return the blocks in order, of a size that suits the columns of phi."""
        return (partial(self._run, first) for first in range(0, self.n_rows, self.step))

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; of an order, the rows of each step's worth are gathered, then phi."""
        if order is None:
            super().scan(scan, order, outputs)
            return
        self.reads[0] += 1
        for first in range(0, len(order), self.step):
            some = order[first : first + self.step]
            scan.run(self._rows(some), outputs=None if outputs is None else outputs[first : first + len(some)])
            if scan.status is not State.RUNNING:
                if outputs is not None:
                    outputs[first + len(some) :] = 0.0
                return

    def picked(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of some rows, in the order given."""
        return expanded(self.base.picked(rows), self.basis)

    def with_weight(self, weight: Array | None) -> Source:
        """Return the same rows with other weights."""
        return self._with(self.base.with_weight(weight))

    def rows_at(self, places: NDArray[np.intp]) -> Array:
        """Return phi of the rows at some places."""
        return phi(self.basis, self.base.x[places])

    def _run(self, first: int) -> tuple[Block]:
        return (self._rows(slice(first, first + self.step), first),)

    def _rows(self, rows: Any, first: int = 0) -> Block:
        weight = None if self.base.weight is None else self.base.weight[rows]
        return self._seen(Block(self.base.x[rows], self.base.t[rows], weight, first_row=first))


def _weights(block: Block) -> Array:
    return np.ones(block.rows) if block.weight is None else np.asarray(block.weight)
