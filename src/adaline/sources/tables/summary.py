"""Summaries of a table: what its coding is learned from, as sums over Arrow tables that merge without rounding.

Counts are whole numbers and means are kept as exact sums, so that a summary has the same bits however the rows are cut
into tables, in whatever order these are merged, and on however many threads or machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Generic, Protocol, Self, TypeVar

from adaline.block import block_rows
from adaline.coding.amounts import NumberSummary, RangeSummary
from adaline.coding.columns import Column
from adaline.coding.levels import LevelSummary, WordSummary
from adaline.lazy import nw, pa
from adaline.sources.tables.batches import Run, batch_table, without_missing
from adaline.sources.tables.relation import Relation
from adaline.sources.threads import tree_sum

T = TypeVar("T")

MOST_WORDS = 2**22  # different words of a column; of more, a summary knows only that they are too many


class ReduceRows(Protocol):
    """How the rows of a table are reduced, in this process or by a cluster: see `reduce_rows`."""

    def __call__(self, names: Sequence[str], function: Callable[[Any], T], merge: Callable[[T, T], T], /) -> T | None:
        """Return function(table) of Arrow tables of these columns that make up all rows, merged; None of no rows.

        `merge` is associative and commutes, and may change and return its first argument. Both can be pickled.
        """
        ...


@dataclass(frozen=True)
class Wanted:
    """What a summary holds, by the names of columns.

    means : columns of numbers, each with its kind ("number", "boolean" or "date"); their ranges too with `ranges`.
    levels : columns whose different values are counted, each with the largest number of them that is kept.
    gaps : columns whose missing values are counted; those above are anyway.
    required : columns that must have a value: other rows are left out.
    words : columns whose words are counted, each with the number of neighbours up to which they make a word.
    """

    means: tuple[tuple[str, str], ...] = ()
    levels: tuple[tuple[str, int], ...] = ()
    gaps: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    words: tuple[tuple[str, int], ...] = ()
    ranges: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns to read, each once."""
        counted = [name for name, _ in (*self.means, *self.levels, *self.words)]
        return list(dict.fromkeys([*counted, *self.gaps, *self.required]))


@dataclass
class TableSummary:
    """What is wanted of the rows of a table, their number first."""

    wanted: Wanted
    rows: int
    means: dict[str, NumberSummary]
    levels: dict[str, LevelSummary]
    gaps: dict[str, int]

    @classmethod
    def zero(cls, wanted: Wanted) -> Self:
        """Return the summary of no rows."""
        return cls(
            wanted,
            0,
            {name: RangeSummary() if wanted.ranges else NumberSummary() for name, _ in wanted.means},
            {
                **{name: LevelSummary(most) for name, most in wanted.levels},
                **{name: WordSummary(MOST_WORDS, ngrams=ngrams) for name, ngrams in wanted.words},
            },
            dict.fromkeys(wanted.gaps, 0),
        )

    def add(self, table: Any) -> None:
        """Take in the rows of an Arrow table that has the columns wanted."""
        table = without_missing(table, self.wanted.required)
        self.rows += table.num_rows
        frame = nw.from_native(table, eager_only=True)
        for name, kind in self.wanted.means:
            self.means[name].add(Column(name, kind).numbers(frame))
        for name, summary in self.levels.items():
            summary.add(table.column(name))
        for name in self.gaps:
            self.gaps[name] += sum(map(_gaps, table.column(name).chunks))

    def merge(self, other: Self) -> None:
        """Take in the summary of other rows."""
        self.rows += other.rows
        for name, mean in self.means.items():
            mean.merge(other.means[name])
        for name, levels in self.levels.items():
            levels.merge(other.levels[name])
        for name in self.gaps:
            self.gaps[name] += other.gaps[name]

    def missing(self, name: str) -> int:
        """Return the number of missing values of a column."""
        if name in self.gaps:
            return self.gaps[name]
        return self.levels[name].missing if name in self.levels else self.means[name].missing


def summarize(reduce: ReduceRows, wanted: Wanted) -> TableSummary:
    """Return the summary of a table, by one pass."""
    return reduce(wanted.columns, partial(_summary_of, wanted), _merged) or TableSummary.zero(wanted)


def reduce_rows(
    relation: Relation, names: Sequence[str], function: Callable[[Any], T], merge: Callable[[T, T], T], /
) -> T | None:
    """Return function(table) of Arrow tables of these columns that make up all rows, merged; None of no rows.

    Threads share the tables.
    """

    def make(run: Run) -> _Partial[T]:
        first, *others = (_Partial(function(batch_table(batch)), merge) for batch in run())
        for other in others:
            first.merge(other)
        return first

    relation.queries += 1
    texts = [name for name in names if relation.kind(name) == "text"]
    runs = iter(run for _, run in relation.runs(names, "TRUE", block_rows(len(names)), texts))
    first = next(runs, None)
    return None if first is None else tree_sum(chain([first], runs), make).value


class _Partial(Generic[T]):
    """What a function gives of some of the rows, to be merged with that of others."""

    def __init__(self, value: T, merge: Callable[[T, T], T]) -> None:
        self.value, self._merge = value, merge

    def merge(self, other: _Partial[T]) -> None:
        """Take in that of other rows."""
        self.value = self._merge(self.value, other.value)


def _summary_of(wanted: Wanted, table: Any) -> TableSummary:
    out = TableSummary.zero(wanted)
    out.add(table)
    return out


def _merged(left: TableSummary, right: TableSummary) -> TableSummary:
    left.merge(right)
    return left


def _gaps(chunk: Any) -> int:
    """Return the number of values of an Arrow array that are missing: NULL, or NaN."""
    nan = pa.compute.sum(pa.compute.is_nan(chunk)).as_py() if pa.types.is_floating(chunk.type) else 0
    return int(chunk.null_count + (nan or 0))
