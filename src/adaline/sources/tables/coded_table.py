"""A table whose coding is known: which rows and columns are read, and how they become X, targets and weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, block_rows
from adaline.coding import Coding
from adaline.coding.formula import targets_of
from adaline.coding.reading import is_missing
from adaline.errors import InvalidData, MissingValues, with_row
from adaline.lazy import nw
from adaline.locks import cached_property
from adaline.sources.engine import Held
from adaline.sources.progress import ReadingProgress
from adaline.sources.tables.batches import FEW_GROUPS, Cutting, Run, batch_table
from adaline.sources.tables.coding import count_gaps, describe_gaps, learn_coding, rows_filter, target_columns
from adaline.sources.tables.labels import LabelColumn, sorted_labels
from adaline.sources.tables.parts import BlockReader, PartRows, count_gaps_of, labels_of, over_tables
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.rows import ReadRequest, TableRows
from adaline.sources.tables.spec import TableSpec, check_column
from adaline.sources.tables.targets import ReadTargets, beside_offset, number_targets
from adaline.sources.targets import RowTargets

# bytes of first rows that are held while all have the same label; doubling it takes twice the memory, and finds the
# labels of more tables without another read
LOOKED = 2**26


@dataclass(frozen=True, eq=False)
class CodedTable:
    """The rows of a table that are used, and what becomes of their columns.

    Parameters
    ----------
    rows : the rows, here or on an engine.
    spec : the arguments of `open_table`.
    coding : how raw columns become the columns of X.
    where : the SQL condition of the rows that are used.
    targets : what is known of the targets.
    given : a reader of other targets than the columns that the spec names.
    """

    rows: TableRows
    spec: TableSpec
    coding: Coding
    where: str
    targets: RowTargets
    given: ReadTargets | None = None

    @classmethod
    def learned(cls, rows: TableRows, spec: TableSpec) -> Self:
        """Return a table with the coding that its rows teach, in up to three reads."""
        rows.refuse_change()
        before = rows.passes()
        coding = learn_coding(rows.relation, spec, rows.reduce())
        rows.reads[0] += rows.passes() - before
        return cls.of(rows, spec, coding)

    @classmethod
    def of(cls, rows: TableRows, spec: TableSpec, coding: Coding, where: str | None = None) -> Self:
        """Return a table with a coding; without a condition, the rows are used that have all values they need."""
        names = targets_named(spec, coding)
        if where is None:
            where = rows_filter(rows.relation, replace(spec, offset=coding.offset), names, coding.required)
        return cls(rows, spec, coding, where, targets_of_columns(spec, names, coding.known_part))

    def reading(self, read: ReadTargets, targets: RowTargets) -> CodedTable:
        """Return the same rows with targets that are read in another way."""
        return replace(self, given=read, targets=targets)

    @property
    def relation(self) -> Relation:
        """The table itself."""
        return self.rows.relation

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names or expressions of the targets."""
        return targets_named(self.spec, self.coding)

    @cached_property
    def read_targets(self) -> ReadTargets:
        """The reader of the targets; refused where their columns hold no numbers."""
        if self.given is not None:
            return self.given
        targets = number_targets(self.relation, self.target_names)
        return beside_offset(targets, self.coding) if self.targets.offset else targets

    @cached_property
    def reader(self) -> BlockReader:
        """The reader of blocks."""
        return BlockReader(self.coding, self.read_targets, self.spec.weight)

    @property
    def target_columns(self) -> list[str]:
        """The raw columns that the targets are read from."""
        targets = self.target_names if self.targets.count else ()
        return [name for target in targets for name in target_columns(self.relation, target)]

    @property
    def known_columns(self) -> list[str]:
        """The raw columns that targets, offset and weights are read from."""
        offset, weight = self.coding.offset, self.spec.weight
        names = [*self.target_columns, *([] if offset is None else target_columns(self.relation, offset))]
        return names if weight is None else [*names, weight]

    @property
    def columns(self) -> list[str]:
        """The raw columns that X, targets and weights are made from."""
        return list(dict.fromkeys([*self.coding.needed, *self.known_columns]))

    @property
    def request(self) -> ReadRequest:
        """What is read for X, targets and weights."""
        return ReadRequest((*self.columns,), self.where, (*self.coding.raw_texts,), block_rows(self.coding.count))

    @property
    def numbers_of_a_row(self) -> int:
        """How many numbers a row takes in memory, at least."""
        coding, others = self.coding, self.targets.count + 1
        if not coding.sparse:
            return coding.count + others
        return 2 * sum(coding.hashed_width(term.factors) > 0 for term in coding.terms) + others

    def placed(self) -> Held:
        """Return the parts of the table as the engine holds them, with the columns that are read here."""
        return self.rows.placed(self.request)

    def of_part(self) -> PartRows:
        """Return what stands for the table where its parts are."""
        parts, columns = self.rows.parts, self.columns
        assert parts is not None
        held = parts.found(columns, self.where, self.coding.raw_texts)  # unknown to who asks for single rows alone
        few = held is not None and sum(n > 0 for part in held.rows for n in part) <= FEW_GROUPS
        cutting = Cutting(block_rows(self.coding.count), len(columns), parts.text or few, parts.text)
        return PartRows(self.targets, self.reader, cutting)

    def blocks_of(self, run: Run, first: int, progress: ReadingProgress) -> Iterator[Block]:
        """Return the blocks of a run of rows, the first of which has index `first`."""
        for batch in run():
            try:
                yield self.reader.block(batch_table(batch), first)
            except MissingValues:
                raise MissingValues(self.gaps_found(self.count_gaps())) from None
            except InvalidData as error:
                raise with_row(error, partial(self.relation.row_name, where=self.where)) from None
            first += batch.num_rows
            progress.add(batch.num_rows)

    def count_gaps(self) -> dict[str, int]:
        """Return the number of missing values of each column that is read, of all rows."""
        columns = list(dict.fromkeys([*self.known_columns, *self.coding.required]))
        if self.rows.parts is None:
            return count_gaps(self.relation, columns)
        self.rows.reads[0] += 1
        counts = over_tables(self.placed(), partial(count_gaps_of, columns))
        return dict(zip(columns, map(sum, zip(*counts, strict=True)), strict=True))

    def gaps_found(self, gaps: dict[str, int]) -> str:
        """Return what is said of missing values."""
        return describe_gaps(self.relation.title, gaps, self.target_columns)

    def tables(self, names: Sequence[str]) -> Iterator[Any]:
        """Return some raw columns of the rows, in order, as Arrow tables."""
        return self.rows.tables(names, self.where)

    def read_column(self, name: str) -> NDArray[Any]:
        """Return a raw column, (N,), such as groups of rows; refuse gaps."""
        check_column(self.relation, name, "column")
        found = [value for table in self.tables([name]) for value in table.column(0).to_pylist()]
        if any(map(is_missing, found)):
            raise MissingValues(f"column {name!r} has no value in some rows: leave those out, or fill them in")
        return np.asarray(found)

    def read_frame(self) -> nw.DataFrame[Any]:
        """Return the raw columns that X is made from as a frame of Arrow in memory."""
        self.rows.refuse_change()
        return nw.concat([nw.from_native(table, eager_only=True) for table in self.tables(self.coding.needed)])


def distinct_labels(table: CodedTable, labels: LabelColumn) -> NDArray[Any]:
    """Return the different labels of a table, sorted; a read."""
    table.rows.reads[0] += 1
    if table.rows.parts is None:
        return labels.distinct(table.where, table.spec.missing != "error")
    found = over_tables(table.placed(), partial(labels_of, labels.name))
    return sorted_labels(labels.name, set().union(*found))


def first_labels(table: CodedTable, labels: LabelColumn) -> NDArray[Any] | None:
    """Begin a read; return the labels of its first rows, sorted, or None where many rows have the same one."""
    found, size = set[Any](), 0

    def enough(tables: list[Any]) -> bool:
        nonlocal size
        found.update(labels_of(labels.name, tables))
        size += sum(one.nbytes for one in tables)
        return len(found) > 1 or size > LOOKED

    table.rows.begin(table.request, enough)
    if len(found) > 1 or size <= LOOKED:
        return sorted_labels(labels.name, found)
    table.rows.forget_begun()  # which would be held until the labels are known
    return None


def targets_named(spec: TableSpec, coding: Coding) -> tuple[str, ...]:
    """Return names or expressions of the targets, which a formula tells once it is learned."""
    if spec.formula is None:
        return spec.targets
    return targets_of(coding.target) if coding.target is not None else ()


def targets_of_columns(spec: TableSpec, names: Sequence[str], offset: bool) -> RowTargets:
    """Return what is known of targets that are columns of a table, the last one of which may be an offset."""
    flat = not isinstance(spec.target, tuple) and len(names) < 2
    return RowTargets(len(names) + offset, weighted=spec.weight is not None, offset=int(offset), flat=flat)
