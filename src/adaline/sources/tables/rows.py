"""The rows of a table, whatever its columns mean: read from files or by a query here, or held by an engine in parts.

A condition says which rows are used. Reads are counted, also those of queries, and one that has begun can be continued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from adaline.attributes import replaced
from adaline.block import block_rows
from adaline.errors import InvalidData, UnreadableTable
from adaline.sources.engine import Held
from adaline.sources.runners import HERE, Runner
from adaline.sources.tables.batches import Run, Runs, batch_table
from adaline.sources.tables.parts import TableParts
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.summary import ReduceRows, reduce_rows


class ReadRequest(NamedTuple):
    """What is read of a table: columns of the rows that meet a condition, in blocks of `size` rows.

    Columns that are `indexed` come as they are: texts perhaps as indices into a dictionary, whole numbers exactly.
    """

    columns: tuple[str, ...]
    where: str
    indexed: tuple[str, ...]
    size: int


class TableRows:
    """The rows of a table in this process, or on an engine.

    Parameters
    ----------
    relation : the table.
    parts : the table on an engine, where it is on one.
    progress : whether a line shows how far a read is; None where it takes long.
    here : who computes sums of rows that are read here: this process, or a device.
    reads : how often the rows were read, by all that share the list; None: they were not.
    """

    def __init__(
        self,
        relation: Relation,
        parts: TableParts | None = None,
        progress: bool | None = None,
        here: Runner = HERE,
        reads: list[int] | None = None,
    ) -> None:
        self.relation, self.parts, self.progress, self.here = relation, parts, progress, here
        self.reads = [0] if reads is None else reads
        self._begun: list[tuple[ReadRequest, Runs]] = []  # a read that the next one of the same continues

    @property
    def counted(self) -> dict[str, int]:
        """The number of rows that meet a condition, where it is known."""
        return self.relation.counted if self.parts is None else self.parts.counted

    @property
    def on_engine(self) -> bool:
        """Whether the rows are on an engine, even where this process holds them too."""
        return self.parts is not None

    def of(self, relation: Relation) -> TableRows:
        """Return the rows of the same table, read in another way; reads count together."""
        parts = None if self.parts is None else self.parts.of(relation)
        return TableRows(relation, parts, self.progress, self.here, self.reads)

    def altered(self, relation: Relation) -> TableRows:
        """Return the same rows, whose reads count together, with other columns."""
        if relation is self.relation:
            return self
        return replaced(self, relation=relation, parts=None if self.parts is None else self.parts.of(relation))

    def beside(self, columns: Mapping[str, Any]) -> TableRows:
        """Return the same rows with more columns, values on the engine, where there are such."""
        return replaced(self, parts=self.parts.beside(columns)) if columns and self.parts is not None else self

    def reduce(self) -> ReduceRows:
        """Return how all rows are reduced: in this process, or where the parts are."""
        return partial(reduce_rows, self.relation) if self.parts is None else self.parts.reduce

    def passes(self) -> int:
        """Return how many queries there were, and passes over the parts."""
        return self.relation.queries + (0 if self.parts is None else self.parts.reduced)

    def runs(self, request: ReadRequest) -> Runs:
        """Return the rows, in order: of a read that has begun, or of a new one."""
        self.refuse_change()
        with suppress(IndexError):
            begun, runs = self._begun.pop()
            if begun == request:
                self.reads[0] -= 1  # it was counted when it began
                return runs
        before = self.relation.queries
        runs = self.relation.runs(request.columns, request.where, request.size, request.indexed)
        self.reads[0] += self.relation.queries - before  # where rows without gaps are counted first
        return runs

    def begin(self, request: ReadRequest, enough: Callable[[list[Any]], bool]) -> list[tuple[int, Run]]:
        """Begin a read, or take one that has begun; return its first runs, up to one whose tables are `enough`.

        They are what the next read of the same begins with.
        """
        looked: list[tuple[int, Run]] = []
        self.reads[0] += 1
        runs = self.runs(request)
        for rows, run in runs:
            tables = [batch_table(batch) for batch in run()]
            looked.append((rows, partial(iter, tables)))
            if enough(tables):
                break
        self._begun.append((request, chain(looked, runs)))
        return looked

    def forget_begun(self) -> None:
        """Let go of what was begun, whose first rows are held in memory."""
        self._begun.clear()

    def tables(self, columns: Sequence[str], where: str) -> Iterator[Any]:
        """Return some columns, in order, as Arrow tables."""
        if self.parts is not None:
            held = self.parts.held(columns, where, self.relation.required(where))
            return (table.select(list(columns)) for tables in held.tables() for table in tables)
        runs = self.relation.runs(columns, where, block_rows(len(columns)))
        return (batch_table(batch) for _, run in runs for batch in run())

    def placed(self, request: ReadRequest) -> Held:
        """Return the parts as the engine holds them, and count their rows."""
        assert self.parts is not None
        self.refuse_change()
        held = self.parts.held(request.columns, request.where, self.relation.required(request.where), request.indexed)
        self.set_count(request.where, sum(map(sum, held.rows)))
        return held

    def set_count(self, where: str, rows: int) -> None:
        """Keep the number of rows that meet a condition; refuse a table without any."""
        self.counted[where] = rows
        if not rows:
            raise InvalidData(f"{self.relation.title} has no rows{'' if where == 'TRUE' else ' without gaps'}")

    def refuse_change(self) -> None:
        """Refuse files that are others than when they were opened."""
        if self.relation.stamps() != self.relation.stamp:
            raise UnreadableTable(f"{self.relation.title} has changed since it was opened: open it again")
