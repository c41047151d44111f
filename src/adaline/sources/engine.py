"""An engine holds the parts of a table in other processes, and runs there what this process asks of a source.

A part is a list of Arrow tables that can be made again: some row groups of Parquet files, a text file, a partition of a
data frame. What is sent to the engine is a work: a source with all its views, with its table replaced by the rows of a
part (`tables.parts.PartRows`), and a function of this source. What comes back is the value of the function for the
parts that a worker holds. For a sum this value is a forest, which is merged by leaf index in the same tree as on one
machine, so the total has the same bits wherever it was computed.

An engine has three methods: `Engine.hold`, `Held.results` and `Held.tables`; it may have `Held.totals` too, to merge
forests where they are.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

from adaline.errors import InvalidData, InvalidParameter
from adaline.sources.threads import Forest, at_most

SENT = 2**27  # numbers that one process may send or receive for values of rows; doubling it takes another GiB

MakePart = Callable[[], list[Any]]
"""Makes the Arrow tables of a part, wherever it is called: picklable, and the same bytes make the same tables."""

RowsDone = Callable[[int], None]
"""Receives the number of rows of each run of parts that is done."""


class Stretch(NamedTuple):
    """A table of a part: the index of its first leaf in the tree of sums, that of its first row, and its rows."""

    leaf: int
    first_row: int
    table: Any


PartNumbers = list[tuple[int, int] | None]
"""Indices of the first leaf and the first row of each table of a part; None of a table without rows."""


def numbered_tables(rows: Sequence[Sequence[int]], leaves: Callable[[int], int]) -> list[PartNumbers]:
    """Return the indices of the tables of each part from their numbers of rows, where n rows make leaves(n) leaves."""
    leaf = row = 0
    out: list[PartNumbers] = []
    for part in rows:
        out.append([])
        for n in part:
            out[-1].append((leaf, row) if n else None)
            leaf, row = leaf + (leaves(n) if n else 0), row + n
    return out


def stretches(numbers: PartNumbers, tables: Sequence[Any]) -> list[Stretch]:
    """Return the tables that have rows, with their indices."""
    return [Stretch(*at, one) for at, one in zip(numbers, tables, strict=True) if at is not None]


def pack(given: Any) -> bytes:
    """Return an object as bytes; functions that have no name to be imported by, such as a user's own, by value.

    So are those of a script or a notebook, whose module __main__ is another one on a worker.
    """
    try:
        from cloudpickle import dumps  # which every engine brings
    except ImportError:
        from pickle import dumps
    return bytes(dumps(given))


def run_work(work: bytes, numbers: PartNumbers, tables: Sequence[Any], threads: int | None = None) -> Any:
    """Run a packed work on the tables of some parts, on at most so many threads.

    It is a source and a function of it, or a function of the tables alone.
    """
    source, function = pickle.loads(work)
    here = stretches(numbers, tables)
    if source is not None:
        source = source.with_leaf(source.leaf.holding(here))
    with at_most(threads):
        return function(here if source is None else source)


def merge_forests(forests: Sequence[Forest[Any]]) -> Forest[Any]:
    """Return the first forest with the nodes of all others taken in."""
    first, *others = forests
    for other in others:
        first.take_in(other)
    return first


def part_key(part: MakePart) -> str:
    """Return a name for what a part holds."""
    return blake2b(pack(part), digest_size=16).hexdigest()


def check_version(worker: str, version: str | None) -> None:
    """Refuse a worker that has no adaline (None), or another version of it."""
    from adaline import __version__

    if version != __version__:
        other = "no adaline" if version is None else f"adaline {version}"
        raise InvalidParameter(f"{worker} has {other}, and this process adaline {__version__}: install the same on all")


class Held(ABC):
    """The parts of a table as an engine holds them from pass to pass; `rows` are those of each table of each part."""

    rows: list[list[int]]

    @abstractmethod
    def results(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Iterator[Any]:
        """Return `run_work` of runs of parts, in order, such that every part is in one; numbers are those of each."""

    def totals(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Forest[Any]:
        """Return the forest of all leaves, of a work whose results are forests."""
        return merge_forests(list(self.results(work, numbers, done)))

    def column(self, work: bytes, numbers: Sequence[PartNumbers]) -> Any:
        """Return a work's results for each part, values of its rows, as a column of the engine; None: it has none."""
        return None

    @abstractmethod
    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each part, in order, one part at a time, in this process."""


class Engine(ABC):
    """A cluster, or what stands for one."""

    workers: int = 1
    """How many workers share the parts."""

    @abstractmethod
    def hold(self, parts: Sequence[MakePart], rows: list[list[int]] | None = None) -> Held:
        """Return parts held in the memory of the workers; the rows of their tables are counted unless given."""


class HeldHere(Held):
    """Parts in this process, as those of so many pretended workers."""

    def __init__(self, parts: list[list[Any]], workers: int = 1) -> None:
        self.parts, self.workers = parts, min(workers, len(parts))
        self.rows = [[table.num_rows for table in part] for part in parts]

    def results(self, work: bytes, numbers: Sequence[PartNumbers], done: RowsDone) -> Iterator[Any]:
        """Return the results of each worker in turn, pickled as they would be sent."""
        for run in runs_of_parts(len(self.parts), self.workers):
            tables, at = [one for i in run for one in self.parts[i]], [one for i in run for one in numbers[i]]
            yield pickle.loads(pickle.dumps(run_work(work, at, tables)))
            done(sum(table.num_rows for table in tables))

    def tables(self) -> Iterator[list[Any]]:
        """Return the tables of each part."""
        return iter(self.parts)


class Here(Engine):
    """An engine that is this process: for what is not on a cluster, and for tests to compare clusters with."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def hold(self, parts: Sequence[MakePart], rows: list[list[int]] | None = None) -> Held:
        """Return the tables of the parts, made now."""
        return HeldHere([pickle.loads(pack(part))() for part in parts], self.workers)


def runs_of_parts(parts: int, workers: int) -> list[range]:
    """Return contiguous runs of parts, one for each worker, as equal as can be."""
    ends = [parts * i // max(workers, 1) for i in range(workers + 1)]
    return [range(first, last) for first, last in pairwise(ends) if first < last]


def refuse_many(numbers: float, rows: int) -> None:
    """Refuse more numbers of so many rows than one process is sent, or sends."""
    if numbers > SENT:
        raise InvalidData(
            f"this needs an array with a number or more for each of {rows:,} rows in one process; on a cluster that "
            f"is at most {SENT:,} numbers: take fewer rows, or a system that needs sums alone"
        )
