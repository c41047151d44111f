"""Sources that look through another one: the same rows, with other targets or weights, block by block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.sources.base import Outer, Reader, Source

Array = NDArray[np.float64]


class Through(Source):
    """The rows of `base`, each block changed as it is read."""

    def __init__(self, base: Source) -> None:
        self.base = base
        self.shape, self.names, self.coding, self.reads = base.shape, base.names, base.coding, base.reads
        self.sparse, self.streamed = base.sparse, base.streamed
        self.parallel, self.replayable, self.flat = base.parallel, base.replayable, base.flat

    @abstractmethod
    def _seen(self, block: Block) -> Block:
        """Return a block of the base as it is seen."""

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.base.n_rows

    def _readers(self) -> Iterator[Reader]:
        """Return the blocks in order."""
        for read in self.base._readers():
            yield partial(self._read, read)

    @property
    def density(self) -> float:
        """The share of the numbers of X that are held."""
        return self.base.density

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return self.base.weighted

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        return self.base.read_weights()

    def count_rows(self) -> int:
        """Return the number of rows."""
        return self.base.count_rows()

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

    def refuse_nonfinite(self) -> None:
        """Name what is not finite, or missing."""
        self.base.refuse_nonfinite()

    def _read(self, read: Reader) -> Iterator[Block]:
        for block in read():
            yield self._seen(block)
