"""Rows seen through a basis: phi(x) is evaluated block by block, so that the expanded matrix never exists as a whole.

A small one does: up to `KEPT` numbers are held as an array, on which every solver works as on any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.basis import Basis
from adaline.block import Block, Shape
from adaline.namespaces import host, is_device, is_sparse
from adaline.sources.array import ArraySource
from adaline.sources.base import Outer, Reader, Source, block_rows

Array = NDArray[np.float64]

KEPT = 2**23


def expanded(source: Source, basis: Basis) -> Source:
    """Return the same rows with phi(x) as columns."""
    out = Expanded(source, basis)
    if source.streamed or source.n_rows * basis.size > KEPT:
        return out
    held = ArraySource(out.map(lambda block: np.asarray(block.x)), source.target(), source.weight, out.names)
    held.flat, held.reads = source.flat, source.reads
    return held


class Expanded(Source):
    """A stream of rows under a basis."""

    def __init__(self, base: Source, basis: Basis) -> None:
        self.base, self.basis = base, basis
        self.shape = Shape(basis.size, base.shape.targets)
        given = [base.name(j) for j in range(base.shape.features)]
        self.names = tuple(basis.names(given))
        self.reads, self.flat, self.replayable = base.reads, base.flat, base.replayable
        self.streamed = True

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.base.n_rows

    @property
    def weight(self) -> Array | None:  # type: ignore[override]
        """All weights, or None."""
        return None if self.base.weight is None else host(self.base.weight)

    def readers(self) -> Iterator[Reader]:
        """Return the blocks in order, each cut so that what it becomes is no larger than a block is elsewhere."""
        for read in self.base.readers():
            yield partial(self._read, read)

    def target(self) -> Array:
        """Return all targets, (N, K)."""
        return host(self.base.target())

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        return Expanded(self.base.with_targets(t), self.basis)

    def recoded(self, values: Array) -> Source:
        """Return the same rows where target k, a class index, becomes values[k]."""
        return Expanded(self.base.recoded(values), self.basis)

    def labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the different targets, sorted."""
        return self.base.labels(guess)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the place of each target among the classes as target."""
        return Expanded(self.base.encoded(classes), self.basis)

    def matvec(self, v: Array) -> Array:
        """Return phi(X) v."""
        return self.map(lambda block: np.asarray(block.x @ v))

    def rmatvec(self, u: Array) -> Array:
        """Return phi(X)' u."""
        total = np.zeros((self.shape.features, *u.shape[1:]))
        for block in self.blocks():
            total += block.x.T @ u[block.first_row : block.first_row + block.rows]
        return total

    def spread(self, intercept: bool) -> Array:
        """Return root mean squares of the columns of phi."""
        return self._held().spread(intercept)

    def outer(self, intercept: bool, scale: Array) -> Outer:
        """Return the dual Gram matrix; only asked for where rows are few."""
        return self._held().outer(intercept, scale)

    def refuse_nonfinite(self) -> None:
        """Name what is not finite in the columns given, or say that the basis made it so."""
        for block in self.base.blocks():
            x = block.x.data if is_sparse(block.x) else host(block.x)
            if not (np.isfinite(x).all() and np.isfinite(host(block.t)).all()):
                self.base.refuse_nonfinite()
        super().refuse_nonfinite()

    def _held(self) -> ArraySource:
        return ArraySource(self.map(lambda block: np.asarray(block.x)), self.target(), self.weight, self.names)

    def _read(self, read: Reader) -> Iterator[Block]:
        rows = block_rows(self.shape.features)
        for block in read():
            for piece in block.pieces(rows * max(self.base.shape.features, 1)):
                x = piece.x.toarray() if is_sparse(piece.x) else piece.x
                x = host(x) if is_device(x) else np.asarray(x, dtype=np.float64)
                weight = None if piece.weight is None else host(piece.weight)
                with np.errstate(over="ignore", invalid="ignore"):
                    yield Block(self.basis.of(x), host(piece.t), weight, first_row=piece.first_row)
