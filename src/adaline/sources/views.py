"""Sources that look through another one: the same rows, with other targets or weights, block by block."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host, is_device
from adaline.block import Block, Shape
from adaline.row_hashes import row_hashes
from adaline.sources.array import ArraySource
from adaline.sources.base import DualGram, InMemory, Reader, Source


class SourceView(Source):
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

    def dual_gram(self, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix of all rows."""
        return self.base.dual_gram(intercept, scale)

    def refuse_nonfinite(self) -> None:
        """Name what is not finite, or missing."""
        self.base.refuse_nonfinite()

    def _read(self, read: Reader) -> Iterator[Block]:
        for block in read():
            yield self._seen(block)


# Rows whose targets are class numbers, seen through a code: targets and weights by class, block by block.
#
# In memory they become an array once; a streamed table stays streamed.


def in_memory(source: Source) -> Source:
    """Return rows that can be gone over in any order: held tables and device arrays as arrays; streams as they are."""
    if source.streamed or isinstance(source, InMemory):
        return source
    blocks = [block.gathered() for block in source.blocks()]
    t = np.concatenate([host(block.t) for block in blocks])
    weight = None if blocks[0].weight is None else np.concatenate([host(block.weight) for block in blocks])
    rows = [host(block.x) if is_device(block.x) else block.x for block in blocks]
    out = ArraySource(
        np.ascontiguousarray(rows[0] if len(rows) == 1 else np.concatenate(rows)), t, weight, source.names
    )
    out.flat, out.coding, out.reads = source.flat, source.coding, source.reads
    return out


def recoded(source: Source, values: Array, class_weight: Array | None = None) -> Source:
    """Return the same rows with values[k] (C, m) as targets of class k, and weights times class_weight[k] (C,)."""
    if source.streamed:
        return Recoded(source, values, class_weight)
    source = in_memory(source)
    codes = source.read_targets()[:, 0].astype(np.intp)
    out = source.with_targets(np.take(values, codes, axis=0, mode="clip"))
    if class_weight is None:
        return out
    assert isinstance(out, InMemory)
    weight = source.read_weights()
    return out.with_weight(class_weight[codes] if weight is None else weight * class_weight[codes])


def of_class(source: Source, k: int, classes: int) -> Source:
    """Return the rows of class k alone; a stream keeps the others, without weight."""
    nothing = np.zeros((classes, 1))
    if source.streamed:
        return recoded(source, nothing, np.eye(classes)[k])
    source = in_memory(source)
    assert isinstance(source, InMemory)
    rows = source.picked(np.flatnonzero(source.read_targets()[:, 0] == k))
    out = rows.with_targets(np.zeros((rows.n_rows, 1)))
    out.reads = source.reads
    return out


class Recoded(SourceView):
    """A stream of rows under a code."""

    def __init__(self, base: Source, values: Array, class_weight: Array | None = None) -> None:
        super().__init__(base)
        self.values, self.class_weight = values, class_weight
        self.shape = Shape(base.shape.features, values.shape[1])

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights, of their own or of their class."""
        return self.class_weight is not None or self.base.weighted

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        if self.class_weight is None:
            return self.base.read_weights()
        return self.map(lambda block: np.asarray(block.weight))

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.map(lambda block: np.asarray(block.t))

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets; the weights of classes are left behind."""
        return self.base.with_targets(t)

    def _seen(self, block: Block) -> Block:
        codes = np.asarray(block.t)[:, 0].astype(np.intp)
        weight: Any = block.weight
        if self.class_weight is not None:
            weight = self.class_weight[codes] if weight is None else weight * self.class_weight[codes]
        return replace(block, t=self.values[codes], weight=weight)


# The rows of a source that take part in one fold of a cross-validation, or those held out, by weights of zero.
#
# Which fold a row belongs to is a hash of its number: it needs no memory, and is the same for every pass and source.


def fold_of(first: int, rows: int, folds: int) -> NDArray[np.int64]:
    """Return the fold of rows first, first + 1, ..., by hash."""
    return (row_hashes(first, rows) % np.uint64(folds)).astype(np.int64)


class Fold(SourceView):
    """A source whose rows outside fold `number` of `folds`, or with `held` those inside, keep their weight."""

    def __init__(self, base: Source, number: int, folds: int, held: bool) -> None:
        super().__init__(base)
        self.number, self.folds, self.held = number, folds, held

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights: those left out have zero."""
        return True

    def read_weights(self) -> Array:
        """Return all weights, (N,)."""
        base = self.base.read_weights()
        return self._kept(0, self.count_rows()) * (1.0 if base is None else host(base))

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.base.read_targets()

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        return Fold(self.base.with_targets(t), self.number, self.folds, self.held)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the different targets of all rows."""
        return self.base.find_labels(guess)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the place of each target among the classes as target."""
        return Fold(self.base.encoded(classes), self.number, self.folds, self.held)

    def _kept(self, first: int, rows: int) -> Array:
        return np.asarray((fold_of(first, rows, self.folds) == self.number) == self.held, dtype=np.float64)

    def _seen(self, block: Block) -> Block:
        kept = self._kept(block.first_row, block.rows)
        return replace(block, weight=kept if block.weight is None else kept * host(block.weight))
