"""The rows of a source that take part in one fold of a cross-validation, or those held out, by weights of zero.

Which fold a row belongs to is a hash of its number: it needs no memory, and is the same for every pass and source.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.namespaces import host
from adaline.sources.base import Outer, Reader, Source

Array = NDArray[np.float64]


def fold_of(first: int, rows: int, folds: int) -> NDArray[np.int64]:
    """Return the fold of rows first, first + 1, ...: a multiplicative hash of their numbers, well spread."""
    mixed = np.arange(first, first + rows, dtype=np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        for factor, shift in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed ^ (mixed >> np.uint64(31))) % np.uint64(folds)).astype(np.int64)


class Fold(Source):
    """A source whose rows outside fold `number` of `folds`, or with `held` those inside, keep their weight."""

    def __init__(self, base: Source, number: int, folds: int, held: bool) -> None:
        self.base, self.number, self.folds, self.held = base, number, folds, held
        self.shape, self.names, self.coding, self.reads = base.shape, base.names, base.coding, base.reads
        self.sparse, self.streamed, self.parallel, self.replayable = (
            *(base.sparse, base.streamed),
            *(base.parallel, base.replayable),
        )

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows, those without weight among them."""
        return self.base.n_rows

    @property
    def weight(self) -> Array:  # type: ignore[override]
        """All weights."""
        base = self.base.weight
        return self._kept(0, self.n_rows) * (1.0 if base is None else host(base))

    def readers(self) -> Iterator[Reader]:
        """Return the blocks in order."""
        for read in self.base.readers():
            yield partial(self._read, read)

    def target(self) -> Array:
        """Return all targets, (N, K)."""
        return self.base.target()

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        return Fold(self.base.with_targets(t), self.number, self.folds, self.held)

    def matvec(self, v: Array) -> Array:
        """Return X v."""
        return self.base.matvec(v)

    def rmatvec(self, u: Array) -> Array:
        """Return X' u."""
        return self.base.rmatvec(u)

    def spread(self, intercept: bool) -> Array:
        """Return root mean squares of the columns, of all rows."""
        return self.base.spread(intercept)

    def outer(self, intercept: bool, scale: Array) -> Outer:
        """Return the dual Gram matrix of all rows."""
        return self.base.outer(intercept, scale)

    def _kept(self, first: int, rows: int) -> Array:
        return np.asarray((fold_of(first, rows, self.folds) == self.number) == self.held, dtype=np.float64)

    def _read(self, read: Reader) -> Iterator[Block]:
        for block in read():
            kept = self._kept(block.first_row, block.rows)
            yield replace(block, weight=kept if block.weight is None else kept * host(block.weight))
