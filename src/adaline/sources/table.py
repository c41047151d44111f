"""Rows of a table: files, queries, databases and frames, coded block by block; memory does not grow with the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, Shape
from adaline.coding import Coding
from adaline.errors import InvalidData, InvalidParameter, MissingValues, UnreadableTable
from adaline.sources.array import ArraySource
from adaline.sources.base import Outer, Reader, Source, block_rows
from adaline.sources.learning import kept, learn, missing_message, target_columns
from adaline.sources.progress import Progress, watched
from adaline.sources.relation import Relation
from adaline.sources.runs import Run, as_table
from adaline.sources.targets import Codebook, ReadTargets, distinct_labels, no_targets, numbers, places, weights
from adaline.sources.wish import Wish

Array = NDArray[np.float64]

KEPT = 2**23  # numbers of a table that are kept in memory, so that it is read once
GUESS = 2**15  # rows of a text file in which labels are looked for first
TEXTS = ("text", "category")


class TableSource(Source):
    """Rows of a table, coded; opened by `open_table`.

    What the targets are depends on who asks: numbers for a regression, places among the classes (`encoded`) for a
    classifier, nothing (`coded_by` without targets) for predictions.
    """

    def __init__(
        self,
        relation: Relation,
        wish: Wish,
        *,
        coding: Coding | None = None,
        read_targets: ReadTargets | None = None,
        n_targets: int | None = None,
        where: str | None = None,
        progress: bool | None = None,
    ) -> None:
        self.relation = relation
        self.wish = wish
        self.progress = progress
        self.reads = [0]
        self._coding = coding
        self._given_where = where
        self._given_targets = read_targets
        self._n_targets = n_targets
        self._blocks: list[Block] | None = None
        self._large = False
        self._encoded: tuple[NDArray[Any], TableSource] | None = None

    def learn_coding(self) -> Coding:
        """Return how the columns of the table become those of X; learned in up to three reads where it is unknown."""
        if self._coding is None:
            before = self.relation.queries
            self._coding = learn(self.relation, self.wish)
            self.reads[0] += self.relation.queries - before
        return self._coding

    @property
    def coding(self) -> Coding:  # type: ignore[override]
        """How the columns of the table become those of X."""
        return self.learn_coding()

    @property
    def targets(self) -> tuple[str, ...]:
        """Names or expressions of the targets."""
        if self.wish.formula is None:
            return self.wish.targets
        return (self.coding.target,) if self.coding.target is not None else ()

    @property
    def has_labels(self) -> bool:
        """Whether the target is a column of texts, so that only a classifier can learn it."""
        names = self.targets
        return len(names) == 1 and names[0] in self.relation.schema and self.relation.kind(names[0]) in TEXTS

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the columns of X."""
        return self.coding.names

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Columns of X, and targets."""
        return Shape(len(self.names), len(self.targets) if self._n_targets is None else self._n_targets)

    @property
    def flat(self) -> bool:  # type: ignore[override]
        """Whether one target was named by itself."""
        return not isinstance(self.wish.target, tuple)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows that take part, known after the first read or `count_rows`."""
        if self.where not in self.relation.counted:
            raise RuntimeError("the rows were not counted yet: use count_rows()")
        return self.relation.counted[self.where]

    def count_rows(self) -> int:
        """Return the number of rows that take part; a read where there was none yet."""
        if self.where not in self.relation.counted:
            self.reads[0] += not self.relation.counts_without_reading(self.where)
        return self.relation.count(self.where)

    @property
    def streamed(self) -> bool:  # type: ignore[override]
        """Whether the table is too large to be held in memory."""
        return self._blocks is None

    @cached_property
    def where(self) -> str:
        """SQL for the rows that take part."""
        if self._given_where is not None:
            return self._given_where
        return kept(self.relation, self.wish, self.targets, self.coding.needed)

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights."""
        return self.wish.weight is not None

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        if self.wish.weight is None:
            return None
        rows = self if self._blocks is not None else self._like(no_targets, 0)
        return rows.map(lambda block: np.asarray(block.weight))

    def __repr__(self) -> str:
        shown = f", target={', '.join(self.targets)}" if self.targets else ""
        return f"TableSource({self.relation.title}, {len(self.relation.schema)} columns{shown})"

    def keep(self) -> TableSource:
        """Hold a small table in memory, which also checks it; a large one is left to be streamed. Returns self."""
        if self._large or self.relation.size() > 8 * KEPT:
            return self
        if self.has_labels and self._given_targets is None:
            self.encoded(self.find_labels())
            return self
        held: list[Block] = []
        size = 0
        for block in self.blocks():
            if not (np.isfinite(block.x).all() and np.isfinite(block.t).all()):
                self.refuse_nonfinite()
            held.append(block)
            size += block.rows * (sum(block.shape) + 1)
            if size > KEPT:
                self._large = True
                return self
        if self.wish.weight is not None and not any(np.any(block.weight) for block in held):
            raise InvalidData(f"all weights in column {self.wish.weight!r} are zero: there is nothing to fit")
        self._blocks = held
        return self

    def _readers(self) -> Iterator[Reader]:
        """Return the blocks in order: from memory, or streamed from the table with a progress line."""
        if self._blocks is not None:
            for block in self._blocks:
                yield partial(iter, [block])
            return
        columns = list(dict.fromkeys([*self.coding.needed, *self._beside()]))
        self._refuse_change()
        runs = self.relation.runs(columns, self.where, block_rows(len(self.names)))
        first = 0
        likely = self.relation.counted.get(self.where) or self.relation.likely_rows()
        with watched(self.relation.title, likely, self.progress) as progress:
            for rows, run in runs:
                yield partial(self._read, run, first, progress)
                first += rows
        if first == 0:
            raise InvalidData(f"{self.relation.title} has no rows{'' if self.where == 'TRUE' else ' without gaps'}")
        self._refuse_change()
        self.relation.counted[self.where] = first

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.map(lambda block: np.asarray(block.t))

    def target_values(self) -> NDArray[Any]:
        """Return the targets as they stand in the table: numbers, or labels."""
        if not self.has_labels:
            return self.read_targets()[:, 0] if self.flat else self.read_targets()
        classes = self.find_labels()
        return np.asarray(classes[self.encoded(classes).read_targets()[:, 0].astype(np.intp)])

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets, held in memory."""
        return self._with(lambda frame, first: t[first : first + len(frame)], lambda b: t[b.first_row :][: b.rows], t)

    def unlabelled(self) -> TableSource:
        """Return the same rows without targets, held in memory where they are few."""
        return self._like(no_targets, 0).keep()

    def with_target(self, k: int) -> Source:
        """Return the same rows with target k alone."""
        return self._derived(lambda t: np.ascontiguousarray(t[:, k : k + 1]), np.empty((0, 1)))

    def recoded(self, values: Array) -> Source:
        """Return the same rows where target k, a class index, becomes values[k]."""
        return self._derived(lambda t: values[t[:, 0].astype(np.intp)], values)

    def find_labels(self, guess: bool = False) -> NDArray[Any]:
        """Return the different values of the target, sorted; refuse fractions and too many of them.

        Large text files cost a pass for that: with `guess` their first rows are looked at.
        """
        if self._encoded is not None:
            return self._encoded[0]
        name = self._label_column()
        table = self.relation.sql
        if guess and not self.relation.parquet and self.relation.size() > 8 * KEPT:
            table = f"(SELECT * FROM {table} LIMIT {GUESS})"
        self.reads[0] += 1
        return distinct_labels(self.relation, name, table, self.where, self.wish.missing != "error")

    @property
    def knows_labels(self) -> bool:
        """Whether the labels were found before."""
        return self._encoded is not None

    def numbered(self) -> tuple[TableSource, Codebook]:
        """Return the same rows with their labels numbered as they are met, and the book that one read of them fills."""
        book = Codebook(self._label_column())
        return self._like(book, 1), book

    def encoded(self, classes: NDArray[Any]) -> TableSource:
        """Return the same rows with the place of each label among the classes as target."""
        if self._encoded is not None and np.array_equal(self._encoded[0], classes):
            return self._encoded[1]
        out = self._like(places(self.targets[0], classes), 1).keep()
        self._encoded = classes, out
        return out

    def refuse_nonfinite(self) -> None:
        """Name what is missing or infinite."""
        columns = [*self._beside(), *self.coding.needed]
        if self.wish.missing == "error" and self.relation.count(" OR ".join(map(self.relation.absent, columns))):
            raise MissingValues(missing_message(self.relation, columns))
        super().refuse_nonfinite()

    def matvec(self, v: Array) -> Array:
        """Return X v."""
        return self._dense.matvec(v)

    def rmatvec(self, u: Array) -> Array:
        """Return X' u."""
        return self._dense.rmatvec(u)

    def spread(self, intercept: bool) -> Array:
        """Return root mean squares of the columns."""
        return self._dense.spread(intercept)

    def outer(self, intercept: bool, scale: Array) -> Outer:
        """Return the dual Gram matrix; only asked for where rows are few."""
        return self._dense.outer(intercept, scale)

    @cached_property
    def _dense(self) -> ArraySource:
        """All rows in memory, for solvers of wide data, which have few of them."""
        blocks = list(self.blocks())
        t = np.concatenate([block.t for block in blocks])
        out = ArraySource(np.concatenate([block.x for block in blocks]), t, self.read_weights(), self.names)
        if not self.streamed:  # else only what comes from the table itself is a read of it
            out.reads = self.reads
        return out

    @cached_property
    def _read_targets(self) -> ReadTargets:
        return numbers(self.relation, self.targets) if self._given_targets is None else self._given_targets

    def _read(self, run: Run, first: int, progress: Progress) -> Iterator[Block]:
        for batch in run():
            frame = nw.from_native(as_table(batch), eager_only=True)
            try:
                yield self._block(frame, first)
            except MissingValues:
                columns = [*self._beside(), *self.coding.needed]
                raise MissingValues(missing_message(self.relation, columns)) from None
            first += len(frame)
            progress.add(len(frame))

    def _block(self, frame: nw.DataFrame[Any], first: int) -> Block:
        name = self.wish.weight
        weight = None if name is None else weights(name, frame, first)
        return Block(self.coding.columns_of(frame, first), self._read_targets(frame, first), weight, first_row=first)

    def _beside(self) -> list[str]:
        """Return the raw columns that the targets and weights are read from."""
        targets = [] if self._n_targets == 0 else self.targets
        names = [name for wanted in targets for name in target_columns(self.relation, wanted)]
        return [*names, *([] if self.wish.weight is None else [self.wish.weight])]

    def _label_column(self) -> str:
        if len(self.targets) != 1:
            raise InvalidParameter("a classifier needs one target: open the table with target='column'")
        if self.targets[0] not in self.relation.schema:
            raise InvalidData(f"a classifier needs a column as target, not the expression {self.targets[0]!r}")
        return self.targets[0]

    def _refuse_change(self) -> None:
        if self.relation.stamps() != self.relation.stamp:
            raise UnreadableTable(f"{self.relation.title} has changed since it was opened: open it again")

    def _like(self, read_targets: ReadTargets, n_targets: int) -> TableSource:
        out = TableSource(
            self.relation,
            self.wish,
            coding=self.coding,
            read_targets=read_targets,
            n_targets=n_targets,
            where=self.where,
            progress=self.progress,
        )
        out.reads, out._large = self.reads, self._large
        return out

    def _derived(self, function: Callable[[Array], Array], like: Array) -> Source:
        return self._with(
            lambda frame, first: function(self._read_targets(frame, first)), lambda b: function(b.t), like
        )

    def _with(self, read_targets: ReadTargets, from_block: Callable[[Block], Array], like: Array) -> Source:
        out = self._like(read_targets, like.shape[1])
        if self._blocks is not None:
            out._blocks = [Block(b.x, from_block(b), b.weight, first_row=b.first_row) for b in self._blocks]
        return out
