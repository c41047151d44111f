"""Parts of a table: what they are made from, and their rows as a source, where they are.

A source over a table on an engine asks `TableParts` for its sums; views of it travel to the parts, where `PartRows`
stands for the table.
"""

from __future__ import annotations

import os
import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from typing import Any, NamedTuple, NoReturn, cast

from adaline.arrays import Array, ThetaLike
from adaline.attributes import replaced
from adaline.block import Block, Shape
from adaline.coding import Coding
from adaline.errors import InvalidParameter, MissingValues
from adaline.lazy import nw, pa
from adaline.sources.base import Leaf, Source
from adaline.sources.columns import RowColumns
from adaline.sources.engine import Engine, Held, PartNumbers, Stretch, numbered_tables, pack, refuse_many, stretches
from adaline.sources.progress import watched
from adaline.sources.runners import Config, R, Reader, RowsToRun, Runner, S, T, Threads, each_block, first_rows
from adaline.sources.tables.batches import PIECE, Cutting, RowGroup, check_stamp, joined_batches, read_row_group
from adaline.sources.tables.coding import describe_gaps
from adaline.sources.tables.database import read_query
from adaline.sources.tables.failures import Reporting
from adaline.sources.tables.labels import check_labels, labels_in
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.targets import ReadTargets, weight_column
from adaline.sources.targets import RowTargets, TargetChange
from adaline.sums import Sum

PARTS = 32  # parts a worker at most, so that a scheduler has few things to do


@dataclass(frozen=True)
class BlockReader:
    """Makes blocks of the rows of a table: coded columns, targets and weights."""

    coding: Coding
    targets: ReadTargets
    weight: str | None

    def block(self, table: Any, first: int) -> Block:
        """Return the rows of an Arrow table as a block, the first of which has index `first`."""
        frame = nw.from_native(table, eager_only=True)
        weight = None if self.weight is None else weight_column(self.weight, frame, first)
        return Block(self.coding.columns_of(frame, first), self.targets(frame, first), weight, first_row=first)


class PartRows(Leaf):
    """The rows of some parts of a table, in the process that holds them: there they stand for a `TableSource`."""

    streamed = costly = True

    def __init__(self, targets: RowTargets, reader: BlockReader, cutting: Cutting) -> None:
        coding = reader.coding
        self.shape, self.sparse = Shape(coding.count, targets.count), coding.sparse
        self.columns = RowColumns(cast("tuple[str, ...]", coding.names), coding)
        self.reader, self.cutting, self.targets, self.reads = reader, cutting, targets, [0]
        self.stretches: Sequence[Stretch] = ()

    def holding(self, stretches: Sequence[Stretch]) -> PartRows:
        """Return the rows of these parts."""
        return replaced(self, stretches=stretches)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows of these parts."""
        return sum(one.table.num_rows for one in self.stretches)

    def with_targets(self, t: Array) -> NoReturn:
        """Refuse: views are made before they travel."""
        raise NotImplementedError("targets are given to a table before it travels")

    def changed(self, change: TargetChange) -> NoReturn:
        """Refuse: views are made before they travel."""
        raise NotImplementedError("targets are given to a table before it travels")

    def leaves(self, readers: Iterator[Reader], zero: Callable[[], Sum]) -> Iterator[tuple[int, Reader]]:
        """Return the readers, each with the index of its leaf in the tree of all parts."""
        each = (range(one.leaf, one.leaf + self.cutting.runs(one.table.num_rows)) for one in self.stretches)
        return zip(chain.from_iterable(each), readers, strict=False)

    def readers(self) -> Iterator[Reader]:
        """Return readers of the blocks of each table."""
        for one in self.stretches:
            rows = one.table.num_rows
            pieces = range(0, rows, self.cutting.step(rows))
            if self.cutting.runs(rows) > 1:
                yield from (partial(self._read, one, [first]) for first in pieces)
            else:
                yield partial(self._read, one, pieces)

    def _read(self, one: Stretch, pieces: Sequence[int]) -> Iterator[Block]:
        step = self.cutting.step(one.table.num_rows)
        for first in pieces:
            yield self.reader.block(one.table.slice(first, step), one.first_row + first)


class Placement(NamedTuple):
    """What an engine holds of a table: the condition of its rows, its columns, and those that are as they were."""

    where: str
    columns: frozenset[str]
    indexed: frozenset[str]

    def serves(self, other: Placement) -> bool:
        """Whether this holds all that another one does, in the same way."""
        return (
            self.where == other.where
            and self.columns >= other.columns
            and self.indexed & other.columns == other.indexed & other.columns
        )


class TableParts(Runner):
    """A table on an engine: its parts, and the sums and maps over them that sources ask for."""

    apart = True
    text = False
    """Whether each table is a file of text, whose blocks are leaves of their own."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.counted: dict[str, int] = {}  # number of rows that meet a condition, where it is known
        self.reduced = 0  # number of times that `reduce` went over the rows
        self._held: dict[Placement, Held] = {}

    def of(self, relation: Relation) -> TableParts:
        """Return the parts of the same table, some of whose columns are read as text."""
        return self

    @abstractmethod
    def place(self, columns: Sequence[str], where: str, required: Sequence[str], indexed: Sequence[str] = ()) -> Held:
        """Return some columns, held by the engine, of the rows that have values in all required ones.

        Those that are `indexed` are held as they are: whole numbers exactly.
        """

    def held(self, columns: Sequence[str], where: str, required: Sequence[str], indexed: Sequence[str] = ()) -> Held:
        """Return the parts with these columns, or more, as they were placed before, or placed now."""
        held = self.found(columns, where, indexed)
        if held is None:
            held = self.place(columns, where, required, indexed)
            new = Placement(where, frozenset(columns), frozenset(indexed))
            self._held = {**{old: one for old, one in self._held.items() if not new.serves(old)}, new: held}
        return held

    def found(self, columns: Sequence[str], where: str, indexed: Sequence[str] = ()) -> Held | None:
        """Return the parts with these columns, or more, where they have been placed."""
        wanted = Placement(where, frozenset(columns), frozenset(indexed))
        return next((held for placed, held in self._held.items() if placed.serves(wanted)), None)

    def reduce(self, columns: Sequence[str], function: Callable[[Any], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Return function(table) of all tables of some columns, merged in order; None of no rows."""
        self.reduced += 1
        held = self.found(columns, "TRUE") or self.place(columns, "TRUE", ())
        return (
            reduce(merge, over_tables(held, partial(_reduced, list(columns), function, merge))) if held.rows else None
        )

    def sum(self, rows: RowsToRun, kind: type[S], theta: ThetaLike, config: Config) -> S:
        """Return the sum over all rows of a source; a read."""
        with self._pass(rows, partial(_forest, kind, theta, config)) as (held, *rest):
            found: S = held.totals(*rest).total()
            return found

    def over(self, rows: R, function: Callable[[R], T]) -> list[T]:
        """Return function(rows) of runs of parts, in order; a read."""
        with self._pass(rows, function) as (held, *rest):
            return list(held.results(*rest))

    def map(self, rows: RowsToRun, function: Callable[[Block], Array]) -> list[Array]:
        """Return function(block) of all blocks, in the order of the rows; refuse what is too much."""
        return self.over(rows, partial(_map, function, rows.count_rows()))

    def each_block(self, rows: RowsToRun, function: Callable[[Block], T], packed: bool) -> list[T]:
        """Return function(block) of all blocks, in the order of the rows."""
        return [value for part in self.over(rows, partial(_each_block, function)) for value in part]

    def peek(self, rows: RowsToRun) -> Block:
        """Return some of the first rows."""
        return next(filter(None, self.over(rows, first_rows)))

    def in_order(self, rows: RowsToRun) -> NoReturn:
        """Refuse rules that take rows one after the other."""
        self.refuse_parts()

    def refuse_parts(self) -> NoReturn:
        """Refuse rules that take rows one after the other."""
        raise InvalidParameter(
            "this rule takes the rows one after the other, and on a cluster they lie in parts: use a system that "
            "sums over all rows, such as LinearRegression or LogisticRegression, or a rule that is averaged over "
            "parts, such as LMS(mixing=1) or Perceptron(mixing=10), or open the table without cluster="
        )

    def column(self, rows: RowsToRun, function: Callable[[Any], Any]) -> Any:
        """Return function(rows), values of the rows of each part, as a column of the engine; None where it has none."""
        with self._pass(rows, function) as (held, work, numbers, _):
            return held.column(work, numbers)

    def beside(self, columns: Mapping[str, Any]) -> TableParts:
        """Return the same rows with more columns, values on the engine; refuse what is not."""
        name = next(iter(columns)).removeprefix("given_")
        raise InvalidParameter(
            f"{name} of rows on a cluster is the name of a column of the table, or an expression such as 'log(days)'; "
            "for data of Dask it may be a series or an array of Dask too"
        )

    def blocks(self, rows: RowsToRun) -> Iterator[Block]:
        """Return the blocks of a source in order, made in this process from one part at a time; a read."""
        with self._pass(rows, None) as (held, _, numbers, done):
            here = pickle.loads(pack(rows))
            for at, tables in zip(numbers, held.tables(), strict=True):
                yield from here.with_leaf(here.leaf.holding(stretches(at, tables))).blocks()
                done(sum(table.num_rows for table in tables))

    @contextmanager
    def _pass(self, rows: RowsToRun, function: Any) -> Iterator[tuple[Any, ...]]:
        """Return the parts, the work, the indices of the parts, and the count of rows that are done."""
        table = rows.leaf.learned()
        held = table.placed()
        numbers = numbered_tables(held.rows, table.of_part().cutting.runs)
        rows.reads[0] += 1
        try:
            with watched(self.title, table.rows.counted[table.where], table.rows.progress) as progress:
                yield held, pack((rows, function)), numbers, progress.add
        except MissingValues:
            raise MissingValues(describe_gaps(self.title, table.count_gaps())) from None


def over_tables(held: Held, function: Callable[[list[Any]], Any]) -> list[Any]:
    """Return function(tables) of the tables of runs of parts, in order."""
    numbers: list[PartNumbers] = [[(0, 0)] * len(part) for part in held.rows]
    return list(held.results(pack((None, partial(_tables, function))), numbers, _nobody))


def _tables(function: Callable[[list[Any]], Any], here: Sequence[Stretch]) -> Any:
    return function([one.table for one in here])


def _reduced(
    columns: list[str], function: Callable[[Any], Any], merge: Callable[[Any, Any], Any], tables: list[Any]
) -> Any:
    return reduce(merge, [function(one.select(columns)) for one in tables])


def _nobody(rows: int) -> None:
    """Tell nobody that rows are done."""


def _forest(kind: type[Sum], theta: ThetaLike, config: dict[str, Any], source: Source) -> Any:
    runner = source.runner
    assert isinstance(runner, Threads)
    return runner.forest(source, kind, theta, config)


def _each_block(function: Callable[[Block], T], source: Source) -> list[T]:
    return each_block(source, function)


def _map(function: Callable[[Block], Array], total: int, source: Source) -> Array:
    """Return function(block) of the blocks of some parts; refuse where those of all rows are too many numbers."""
    out = source.map(function)
    refuse_many(out.size * (total / max(source.leaf.n_rows, 1)), total)
    return out


def count_gaps_of(columns: Sequence[str], tables: list[Any]) -> list[int]:
    """Return the number of missing values of each column of some tables."""
    absent = partial(pa.compute.is_null, nan_is_null=True)
    return [sum(pa.compute.sum(absent(table.column(name))).as_py() or 0 for table in tables) for name in columns]


def labels_of(name: str, tables: list[Any]) -> set[Any]:
    """Return the distinct labels in a column of some tables; too many of them are refused."""
    found: set[Any] = set()
    for table in tables:
        found.update(labels_in(nw.from_native(table, eager_only=True), name))
        check_labels(name, found)
    return found


@dataclass(frozen=True)
class ParquetPart:
    """Row groups of Parquet files: a table of some columns each, of the rows that have values in all required ones.

    Columns that are `indexed` are read as they are.
    """

    groups: tuple[RowGroup, ...]
    columns: tuple[str, ...]
    required: tuple[str, ...]
    indexed: tuple[str, ...] = ()

    def __call__(self) -> list[Any]:
        """Return the tables."""
        read = partial(read_row_group, size=PIECE, columns=self.columns, required=self.required, indexed=self.indexed)
        return [joined_batches(read(one)) for one in self.groups]


@dataclass(frozen=True)
class TextPart:
    """A file of text: one table, by a query that reads it alone."""

    name: str
    stamp: tuple[int, int]
    sql: str

    def __call__(self) -> list[Any]:
        """Return the table."""
        with Reporting(self.name):
            check_stamp(self.name, self.stamp)
            return [read_query(self.sql, [self.name])]


class FileParts(TableParts):
    """Parquet files, or files of text, on an engine: every worker must see them under the same names."""

    def __init__(self, engine: Engine, relation: Relation) -> None:
        super().__init__(relation.title)
        if not relation.plain_files:
            raise InvalidParameter(
                f"{relation.title}: a cluster reads Parquet, CSV and TSV files alone: write the rows to Parquet"
            )
        self.engine, self.relation, self.text = engine, relation, not relation.parquet

    def of(self, relation: Relation) -> TableParts:
        """Return the parts of the same files; refuse columns of earlier rows."""
        if not relation.plain_files:
            raise InvalidParameter("lag() needs the rows before each row, which parts of a table do not have")
        return self if relation is self.relation else FileParts(self.engine, relation)

    def place(self, columns: Sequence[str], where: str, required: Sequence[str], indexed: Sequence[str] = ()) -> Held:
        """Return parts of 2^k row groups, or of one file of text."""
        if self.text:
            names = [os.path.abspath(name) for name in self.relation.opened.files]  # workers run in other folders
            queries = self.relation.queries_of(columns, where, names, indexed)
            named = zip(names, self.relation.stamp, queries, strict=True)
            self.relation.refuse_damage()
            return self.engine.hold([TextPart(*one) for one in named])
        groups = [one._replace(name=os.path.abspath(one.name)) for one in self.relation.row_groups("TRUE")]
        step = 1
        while len(groups) > step * PARTS * self.engine.workers:
            step *= 2
        runs = [tuple(groups[first : first + step]) for first in range(0, len(groups), step)]
        parts = [ParquetPart(run, tuple(columns), tuple(required), tuple(indexed)) for run in runs]
        return self.engine.hold(parts, None if required else [[one.rows for one in run] for run in runs])
