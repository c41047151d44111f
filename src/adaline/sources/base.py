"""A source: where rows come from. Solvers ask it for sums and scans over rows, a few for X as a matrix.

Blocks have a fixed size, whatever the number of threads, so that results do not depend on it. `reads` counts how often
the rows were read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, ThetaLike, as_dense, host, is_sparse
from adaline.attributes import replaced
from adaline.block import Block, Shape
from adaline.errors import InvalidData, InvalidParameter
from adaline.scans import Scan, State
from adaline.sources.columns import UNNAMED, RowColumns, number_columns
from adaline.sources.matrix import RowMatrix
from adaline.sources.runners import HERE, Reader, Runner, S, begin_read
from adaline.sources.targets import (
    RowTargets,
    TargetChange,
    labels_among,
    targets_of_block,
    weights_of_block,
)
from adaline.sources.threads import one_blas_thread
from adaline.sums import Sum

TINY = 1e-150  # squares of less are lost to underflow, those of more than 1 / TINY to overflow


class Place(NamedTuple):
    """How messages name a row, a target, the table that they are of, and what to do about infinity there."""

    row: str
    target: str | None = None
    table: str = ""
    of_infinity: str = ""


class Source(ABC):
    """Rows with targets and weights, cut into blocks."""

    shape: Shape
    n_rows: int
    columns: RowColumns = UNNAMED
    """What the columns of X mean."""
    targets: RowTargets
    tabular: ClassVar[bool] = False
    """Whether the class is `TableSource`."""
    sparse: bool = False
    streamed: bool = False
    """Whether the rows cannot be held in memory as a whole, so that every pass makes their blocks again."""
    costly: bool = False
    """Whether a pass is costly: rows are read from files, or lie on a cluster."""
    parallel: bool = True
    """Whether blocks run on several threads; on a device they run one after the other."""
    most_threads: int | None = None
    """How many threads can share the blocks; None for all."""
    reads: list[int]
    """How often the rows were read: a list of one number, shared by sources of the same rows."""
    runner: Runner = HERE
    """Who computes sums of the rows, and functions of them."""
    absorb: tuple[str, ...] = ()
    """Names of the columns of a table whose effects are to be absorbed before a fit."""
    absorption: Any = None
    """What was absorbed from the rows, where they are those of `Absorbed`."""

    def in_columns(self, count: int, names: Sequence[str] | None, hashed: bool) -> Source:
        """Return the same rows in the D columns of a model, with their (D,) names, where a file leaves that open."""
        return self

    @abstractmethod
    def readers(self) -> Iterator[Reader]:
        """Return functions that each read the next few blocks, in order; threads draw them one by one."""

    @property
    def density(self) -> float:
        """The fraction of the numbers of X that are stored: below one where rows are sparse."""
        return 1.0

    def matrix(self) -> RowMatrix:
        """Return X, for products with it; rows that no solver asks for it have none."""
        raise NotImplementedError

    def read_targets(self) -> Array:
        """Return all targets, (N, K), on the host."""
        t = self.targets.values
        return self.map(targets_of_block) if t is None else host(t)

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), on the host, or None where rows have none."""
        if not self.targets.weighted:
            return None
        weight = self.targets.weight
        return self.map(weights_of_block) if weight is None else host(weight)

    def count_rows(self) -> int:
        """Return the number of rows N; where rows are streamed, this may take a read."""
        return self.n_rows

    @abstractmethod
    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, (N, K), none of which is an offset, and the same weights."""

    @abstractmethod
    def changed(self, change: TargetChange) -> Source:
        """Return the same rows with a change of their targets and weights."""

    def sum(self, kind: type[S], theta: ThetaLike = None, **config: Any) -> S:
        """Return the sum over all rows; blocks are merged in a fixed tree."""
        return self.runner.sum(self, kind, theta, config)

    @property
    @abstractmethod
    def leaf(self) -> Any:
        """The source that the rows come from; of a view that of its base."""

    @abstractmethod
    def with_leaf(self, leaf: Source) -> Source:
        """Return the same view of the rows of another leaf."""

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place: in their order, or in the order given where they lie in memory.

        `outputs` (N, K) receives w.x of each row before its own step. A scan that has ended reads no further.
        """
        if order is not None:
            raise InvalidParameter("these rows are read one after the other and cannot be shuffled: set shuffle=False")
        with closing(self.runner.in_order(self)) as blocks:
            for block in blocks:
                rows = slice(block.first_row, block.first_row + block.rows)
                scan.run(block, outputs=None if outputs is None else outputs[rows])
                if scan.status is not State.RUNNING:
                    return

    def map(self, function: Callable[[Block], Array]) -> Array:
        """Return function(block) of all blocks, concatenated in the order of the rows."""
        return np.concatenate(self.runner.map(self, function))

    def blocks(self) -> Iterator[Block]:
        """Return the blocks in order."""
        return self.runner.blocks(self)

    def peek(self) -> Block:
        """Return the first block, of rows in parts some of its rows; where passes are costly that is a read."""
        return self.runner.peek(self)

    def rows_at(self, indices: NDArray[np.intp]) -> Array:
        """Return the rows with these indices, ascending, as float64 on the host; where rows are streamed, a read."""
        return np.concatenate(self.runner.over(self, partial(_rows_at, indices)))

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the distinct targets, sorted; with `guess` those of some rows, where that saves a pass."""
        return labels_among(self.read_targets()[:, 0], self.targets.labels)

    def encoded(self, classes: NDArray[Any]) -> Source:
        """Return the same rows with the index of each target among the classes as target."""
        if np.dtype(self.targets.labels).kind in "iub" and np.array_equal(classes, np.arange(len(classes))):
            return self
        return self.changed(self.targets.labelling(classes))

    def refuse_nonfinite(self) -> None:
        """Raise, naming the first row and column that is NaN or infinite; called after a sum was not finite."""
        first = next(filter(None, self.runner.over(self, _nonfinite)), None)
        if first is not None:
            what, row, column, value = first
            place = self.leaf.place_of(row, column)
            if what == "y" and column >= self.targets.given:
                coding = self.columns.coding
                known = "" if coding is None else f" {coding.offset}"
                raise InvalidData(f"offset{known} is {value:g} at {place.row}: give finite numbers")
            kind = "NaN" if np.isnan(value) else "infinity"
            name = column_name(self, column) if what == "X" else place.target
            where = place.row + ("" if name is None else f", column {name!r}") + place.table
            advice = place.of_infinity * (kind == "infinity")
            raise InvalidData(f"Input {what} contains {kind}: first at {where}. Drop or fill such rows{advice}.")
        size = np.max(self.runner.over(self, _column_sizes), axis=0)
        tiny = np.flatnonzero((size > 0) & (size < TINY))
        if len(tiny) and size.max() < 1 / TINY:
            raise InvalidData(
                f"The sums over X and y are not finite: the numbers of column "
                f"{column_name(self, int(tiny[0]))!r} are too small to be squared. Rescale that column."
            )
        raise InvalidData(
            "The sums over X and y overflow float64, infinity came out: some numbers are too large to be squared here. "
            "Rescale that column."
        )


class Leaf(Source):
    """A source that reads its rows itself, and not through another one."""

    @property
    def leaf(self) -> Any:
        """The source itself."""
        return self

    def with_leaf(self, leaf: Source) -> Source:
        """Return the other leaf."""
        return leaf

    def leaves(self, readers: Iterator[Reader], zero: Callable[[], Sum]) -> Iterator[tuple[int, Reader]]:
        """Return readers of rows that share a sum, of which `zero` makes an empty one, with its place in the tree."""
        return enumerate(readers)

    def place_of(self, row: int, target: int) -> Place:
        """Return how messages name a row and a target."""
        return Place(f"row {row}")


class InMemory(Source):
    """A source whose rows lie in memory and can be read in any order."""

    @abstractmethod
    def take_rows(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of the rows with these indices, in the order given."""

    @abstractmethod
    def retargeted(self, targets: RowTargets) -> Source:
        """Return the same rows with other targets and weights in memory."""


class IndexedSource(Leaf):
    """A source of rows x (N, D), targets t (N, K) and weights (N,) in memory, whose blocks are indexed."""

    rows_per_block: int

    def __init__(self, x: AnyArray, t: AnyArray, weight: AnyArray = None, names: tuple[str, ...] | None = None) -> None:
        self.x, self.targets, self.columns = x, RowTargets.held(t, weight), number_columns(names)
        self.n_rows = int(x.shape[0])
        self.shape = Shape(int(x.shape[1]), self.targets.count)
        self.reads = [0]

    def retargeted(self, targets: RowTargets) -> IndexedSource:
        """Return the same rows with other targets and weights in memory."""
        return replaced(self, targets=targets, shape=Shape(self.shape.features, targets.count))

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, (N, K), and the same weights."""
        return self.retargeted(RowTargets.held(t, self.targets.weight))

    def changed(self, change: TargetChange) -> Source:
        """Return the same rows with a change of their targets and weights."""
        return self.retargeted(self.targets.changed(change))

    @property
    def n_blocks(self) -> int:
        """Number of blocks, at least one."""
        return max(-(-self.n_rows // self.rows_per_block), 1)

    @abstractmethod
    def block(self, i: int) -> Block:
        """Return block i, without copying rows."""

    def sum(self, kind: type[S], theta: ThetaLike = None, **config: Any) -> S:
        """Return the sum over all rows; one block needs neither a tree nor threads."""
        if self.n_blocks > 1 or self.runner is not HERE:
            return super().sum(kind, theta, **config)
        self.reads[0] += 1
        out = kind.zero(self.shape, **config)
        if kind.uses_blas and self.parallel:
            with one_blas_thread():
                out.add(self.block(0), theta)
        else:
            out.add(self.block(0), theta)
        return out

    def readers(self) -> Iterator[Reader]:
        """Return a reader of each block."""
        return (partial(self._run, i) for i in range(self.n_blocks))

    def _run(self, i: int) -> tuple[Block]:
        return (self.block(i),)

    @property
    def most_threads(self) -> int:  # type: ignore[override]
        """How many threads can share the blocks."""
        return self.n_blocks if self.parallel else 1


def column_name(source: Source, column: int) -> str:
    """Return the name of a feature column, x0, x1, ... where it has none."""
    names = source.columns.names
    return f"x{column}" if names is None else names[column]


def _nonfinite(source: Source) -> tuple[str, int, int, float] | None:
    """Return "X" or "y", row, column and value of the first entry that is not finite; None where all are."""
    for block in source.blocks():
        for what, values in (("X", block.x), ("y", block.t)):
            found = _first_nonfinite(values)
            if found is not None:
                return what, block.first_row + found[0], *found[1:]
    return None


def _column_sizes(source: Source) -> Array:
    """Return the largest absolute number of each column, (D,)."""
    size = np.zeros(source.shape.features)
    for block in source.blocks():
        part = abs(block.x).max(axis=0).toarray()[0] if is_sparse(block.x) else np.abs(host(block.x)).max(axis=0)
        size = np.maximum(size, part)
    return size


def _rows_at(indices: NDArray[np.intp], source: Source) -> Array:
    """Return those of the rows with these indices, ascending, that a source has, as float64 on the host."""
    found = [np.empty((0, source.shape.features))]
    readers = begin_read(source) if source.costly else source.readers()
    for block in (block.packed() for read in readers for block in read()):
        start, stop = np.searchsorted(indices, [block.first_row, block.first_row + block.rows])
        if start < stop:
            chosen = replace(block, chosen=indices[start:stop].astype(np.int64) - block.first_row)
            found.append(host(as_dense(chosen.gathered().x)))
        if stop == len(indices):
            break
    return np.concatenate(found)


def _first_nonfinite(values: Any) -> tuple[int, int, float] | None:
    """Return row, column and value of the first entry that is not finite; sparse rows stay sparse."""
    if is_sparse(values):
        wrong = np.flatnonzero(~np.isfinite(values.data))
        rows = np.searchsorted(values.indptr, wrong, side="right") - 1
        bad, found = np.column_stack([rows, values.indices[wrong]]), values.data[wrong]
    else:
        values = host(values)
        bad = np.argwhere(~np.isfinite(values))
        found = values[tuple(bad.T)]
    if not len(bad):
        return None
    first = np.lexsort(bad.T[::-1])[0]
    return int(bad[first, 0]), int(bad[first, 1]), float(found[first])
