"""Views: sources that read the rows of another one, block by block, with other targets, weights or columns.

In memory, recoded rows become an array once; a streamed table stays streamed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.attributes import replaced
from adaline.block import MAX_BLOCK_ROWS, Block, Shape
from adaline.row_hashes import row_hashes
from adaline.sources.array import source_of
from adaline.sources.base import InMemory, Source
from adaline.sources.columns import RowColumns
from adaline.sources.engine import refuse_many
from adaline.sources.matrix import RowMatrix
from adaline.sources.runners import Reader, Runner
from adaline.sources.targets import RowTargets, TargetChange
from adaline.sums import WeightTotals


class SourceView(Source):
    """The rows of `base`, each block transformed as it is read; products with X are those of the base."""

    def __init__(self, base: Source) -> None:
        self.base = base
        self.shape, self.columns, self.reads = base.shape, base.columns, base.reads
        self.sparse, self.streamed, self.costly = base.sparse, base.streamed, base.costly
        self.parallel, self.targets = base.parallel, base.targets.described()

    @abstractmethod
    def _transformed(self, block: Block) -> Block:
        """Return a block of the base as a block of the view."""

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows."""
        return self.base.n_rows

    @property
    def runner(self) -> Runner:  # type: ignore[override]
        """Who computes."""
        return self.base.runner

    @property
    def leaf(self) -> Any:
        """The source that the rows come from."""
        return self.base.leaf

    def with_leaf(self, leaf: Source) -> Source:
        """Return the same view of the rows of another leaf."""
        return replaced(self, base=self.base.with_leaf(leaf))

    @property
    def density(self) -> float:
        """The fraction of the numbers of X that are stored."""
        return self.base.density

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, and the weights of the view."""
        return GivenTargets(self, t)

    def changed(self, change: TargetChange) -> Source:
        """Return the same rows with a change of their targets and weights."""
        return ChangedTargets(self, change)

    def count_rows(self) -> int:
        """Return the number of rows."""
        return self.base.count_rows()

    def refuse_nonfinite(self) -> None:
        """Raise, naming what is not finite or missing in the base."""
        self.base.refuse_nonfinite()

    def matrix(self) -> RowMatrix:
        """Return X."""
        return self.base.matrix()

    def peek(self) -> Block:
        """Return the first block."""
        if self.runner.apart or not self.costly:
            return super().peek()
        return next(iter(self._read(lambda: [self.base.peek()]))).packed()

    def readers(self) -> Iterator[Reader]:
        """Return readers of the base whose blocks are transformed."""
        for read in self.base.readers():
            yield partial(self._read, read)

    def _read(self, read: Reader) -> Iterator[Block]:
        for block in read():
            yield self._transformed(block)


class SameTargets(SourceView):
    """A view that has the targets of its base, and stays the same view when those are changed."""

    @abstractmethod
    def _with(self, base: Source) -> Source:
        """Return this view of another base."""

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.base.read_targets()

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        return self.base.read_weights()

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        return self._with(self.base.with_targets(t))

    def changed(self, change: TargetChange) -> Source:
        """Return the same rows with a change of their targets and weights."""
        return self._with(self.base.changed(change))

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the distinct targets of all rows, sorted."""
        return self.base.find_labels(guess)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the index of each target among the classes as target."""
        return self._with(self.base.encoded(classes))


class WithoutColumns(SameTargets):
    """The targets and weights of the rows of a source, beside no columns."""

    def __init__(self, base: Source) -> None:
        super().__init__(base)
        self.shape, self.columns = Shape(0, base.shape.targets), RowColumns(())
        self.sparse, self.targets = False, base.targets

    def _with(self, base: Source) -> Source:
        return WithoutColumns(base)

    def _transformed(self, block: Block) -> Block:
        return replace(block, x=np.empty((block.rows, 0)))


class ChangedTargets(SourceView):
    """The rows of a source with a change of their targets, made block by block: no array of all rows is made."""

    def __init__(self, base: Source, change: TargetChange) -> None:
        super().__init__(base)
        self.change, self.targets = change, change.known
        self.shape = Shape(base.shape.features, change.known.count)

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.change.of(self.base.read_targets(), None)[0]

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        weight = self.base.read_weights()
        return np.asarray(self.change.of(self.base.read_targets(), weight)[1]) if self.change.reweighs else weight

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets; those of the base are not read, unless the weights need them."""
        return super().with_targets(t) if self.change.reweighs else self.base.with_targets(t)

    def _transformed(self, block: Block) -> Block:
        t, weight = self.change.of(block.t, block.weight)
        return replace(block, t=t, weight=weight)


class GivenTargets(SourceView):
    """The rows of a source with targets t (N, K) in memory, and the weights of the source."""

    def __init__(self, base: Source, t: Array) -> None:
        super().__init__(base)
        if self.runner.apart:
            refuse_many(t.size, base.count_rows())
        self.t, self.shape = t, Shape(base.shape.features, t.shape[1])
        self.targets = replace(RowTargets.held(t).described(), weighted=base.targets.weighted)

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.t

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        return self.base.read_weights()

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        return GivenTargets(self.base, t)

    def _transformed(self, block: Block) -> Block:
        return replace(block, t=self.t[block.first_row :][: block.rows])


class Fold(SameTargets):
    """The rows of one fold of a cross-validation: all rows, of which some have weight zero.

    Rows outside fold `number` keep their weight, or with `held_out` those inside it. `folds` is the number of folds, of
    which a row is in one by its index, or the fold of each row, (N,).
    """

    def __init__(self, base: Source, number: int, folds: int | NDArray[np.int64], held_out: bool) -> None:
        super().__init__(base)
        self.number, self.folds, self.held_out = number, folds, held_out
        self.targets = replace(self.targets, weighted=True)  # rows outside have weight zero

    def read_weights(self) -> Array:
        """Return all weights, (N,)."""
        base = self.base.read_weights()
        return self._membership(0, self.count_rows()) * (1.0 if base is None else host(base))

    def count_members(self) -> float:
        """Return the number of rows whose weight is not set to zero; this needs no read."""
        rows = self.count_rows()
        ends = [*range(0, rows, MAX_BLOCK_ROWS), rows]
        return sum(float(self._membership(first, last - first).sum()) for first, last in pairwise(ends))

    def _with(self, base: Source) -> Source:
        return Fold(base, self.number, self.folds, self.held_out)

    def _membership(self, first: int, rows: int) -> Array:
        folds = self.folds
        fold = fold_of(first, rows, folds) if isinstance(folds, int) else folds[first : first + rows]
        return np.asarray((fold == self.number) == self.held_out, dtype=np.float64)

    def _transformed(self, block: Block) -> Block:
        member = self._membership(block.first_row, block.rows)
        return replace(block, weight=member if block.weight is None else member * host(block.weight))


def fold_of(first: int, rows: int, folds: int) -> NDArray[np.int64]:
    """Return the fold of each of the rows first, first + 1, ..., (rows,): a hash of the row's index.

    It needs no memory, and is the same for every pass and source.
    """
    return (row_hashes(first, rows) % np.uint64(folds)).astype(np.int64)


def assign_folds(rows: int, folds: int, seed: int, labels: NDArray[Any] | None) -> NDArray[np.intp]:
    """Return the fold of each row, (n,): shuffled rows go to the folds in turn, class by class.

    A class of two rows or more is in every training set, as its rows go to different folds.
    """
    order = np.random.default_rng(seed).permutation(rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(rows, dtype=np.intp)
    fold[order] = np.arange(rows) % folds
    return fold


def in_memory(source: Source) -> Source:
    """Return a source whose rows can be read in any order: small tables and device arrays as arrays, streams as is."""
    if source.streamed or isinstance(source, InMemory):
        return source
    out = source_of([block.gathered() for block in source.blocks()], source.columns.names)
    targets = replace(source.targets, values=out.targets.values, weight=out.targets.weight)
    return replaced(out.retargeted(targets), columns=source.columns, reads=source.reads)


def recoded(source: Source, values: Array, class_weight: Array | None = None) -> Source:
    """Return the same rows with values[k] (C, m) as targets of class k, and weights times class_weight[k] (C,)."""
    rows = source if source.tabular else in_memory(source)  # a table can still read a column of groups
    return rows.changed(source.targets.recoding(values, class_weight))


def of_target(source: Source, k: int) -> Source:
    """Return the same rows with target k alone, beside its offset where they have one."""
    return source.changed(source.targets.choosing(source.targets.columns_of(k), min(source.targets.offset, 1)))


def unlabelled(source: Source, offset: bool = False) -> Source:
    """Return the same rows without targets; with `offset` but for their offset, where they have one."""
    known = source.targets
    kept = known.offset if offset else 0
    return source.changed(known.choosing(range(known.count - kept, known.count), kept))


def weights_or_ones(source: Source) -> Array:
    """Return all weights, (N,); ones where rows have none."""
    weight = source.read_weights()
    return np.ones(source.count_rows()) if weight is None else weight


def total_weight(source: Source) -> float:
    """Return the sum of the weights; that of a fold of rows without weights of their own needs no read."""
    if isinstance(source, Fold) and not source.base.targets.weighted and not source.runner.apart:
        return source.count_members()
    if source.streamed and source.targets.weighted:
        return source.sum(WeightTotals).weight
    weight = source.read_weights()
    return float(source.count_rows()) if weight is None else float(weight.sum())


def of_class(source: Source, k: int, classes: int) -> Source:
    """Return the rows of class k, with targets 0; a stream keeps the other rows, with weight zero."""
    if source.streamed:
        return recoded(source, np.zeros((classes, 1)), np.eye(classes)[k])
    source = in_memory(source)
    assert isinstance(source, InMemory)
    rows = source.take_rows(np.flatnonzero(source.read_targets()[:, 0] == k))
    return replaced(rows.with_targets(np.zeros((rows.n_rows, 1))), reads=source.reads)


def as_shares(source: Source) -> Source:
    """Return rows of successes and failures as rows of shares of successes, weighted by the trials."""
    return in_memory(source).changed(source.targets.sharing())
