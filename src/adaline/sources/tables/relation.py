"""A relation: a table that DuckDB can read repeatedly, from files, a query, a database or a frame in memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from adaline.coding.numerals import Notation
from adaline.sources.tables.batches import (
    DecodedGroups,
    RowGroup,
    Runs,
    batch_table,
    file_stamp,
    plain_types,
    rechunked,
    row_groups,
    runs_of,
    without_gaps,
)
from adaline.sources.tables.column_notes import epoch_notes, find_index, unit_notes
from adaline.sources.tables.database import check_arrow
from adaline.sources.tables.failures import Reporting, reported_batches
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import bytes_of, is_compressed
from adaline.sources.tables.open_files import damage_of, open_given
from adaline.sources.tables.sql import quoted

FEW_TEXTS = 12  # different ones, up to which numbers with different units are levels of a category
ROWS = 2**15  # of a table that is read to look at its values
TIMES_OF_DAY = ("TIME", "TIME WITH TIME ZONE")  # Arrow writes Parquet files with the second, since 18 with the first
WHOLE_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(\d+,0\)")
NUMBER = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL)\b")


class Relation:
    """A table: `title` is its name in messages, `sql` what follows FROM, `schema` the DuckDB type of each column.

    `opened` is the table as it was opened, of which this has perhaps fewer rows or other columns
    (`sources/tables/altered.py`). `index` is the column that numbers or labels the rows, as programs write it beside
    the table, or None: no column to learn from. `notes` say, in sentences, how a file was understood. A class that
    `keeps_totals` writes the lines of totals below a table somewhere.
    """

    keeps_totals = False

    def __init__(self, data: Any, options: FileOptions | None = None) -> None:
        check_arrow()
        self.options = options or FileOptions()
        self.opened = opened = open_given(data, self.options, self.keeps_totals)
        self.title, self.place, self.sql, self.database = opened.title, opened.place, opened.sql, opened.database
        self.parquet, self.text, self.notes = opened.parquet, opened.text, opened.notes
        self.notations: tuple[Notation, ...] = ()  # of dates that a table which is no text file holds as texts
        self.filters: tuple[tuple[str, str], ...] = ()  # tables, and the conditions by which rows of them were left out
        self.queries = 0  # number of queries that read rows
        self.counted: dict[str, int] = {}  # number of rows that meet a condition, where it is known
        self.groups: dict[str, list[RowGroup]] = {}  # row groups of Parquet files with the rows that meet a condition
        self._decoded = DecodedGroups()
        self._required: dict[str, tuple[str, ...]] = {"TRUE": ()}  # columns of conditions that `present` made
        layout = None if self.text is None else self.text.layout
        left_out = () if layout is None else layout.left_out
        self.schema: dict[str, str] = {name: kind for name, kind in self.described().items() if name not in left_out}
        self.index, found = find_index(self.schema, self.kind, self.sql, self.rows, layout)
        self.notes = (*self.notes, *found)
        if self.sql.startswith("read_json("):
            self.notes = (*self.notes, *epoch_notes(self.schema, self.sql, self.rows))
        dialect = None if self.text is None else self.text.dialect
        self.notes = (*self.notes, *unit_notes(self.schema, self.kind, self.sql, self.rows, dialect, self.options))
        self.stamp = self.stamps()

    def described(self) -> dict[str, str]:
        """Return DuckDB's type of each column."""
        if self.parquet:
            with Reporting(self.opened.files[0]):
                plain = plain_types(self.opened.files[0])
            if plain is not None:
                return plain
        return {str(name): str(kind) for name, kind, *_ in self.rows(f"DESCRIBE SELECT * FROM {self.sql}")}

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of the result of a query."""
        self.queries += not sql.startswith("DESCRIBE")
        with self._reporting():
            return self.database.rows(sql)

    def runs(self, columns: Sequence[str], where: str, size: int, indexed: Sequence[str] = ()) -> Runs:
        """Return the rows that meet a condition, in order: runs of Arrow batches of about `size` rows, each with the
        number of its rows. Each run is read by one thread; several may be read at a time.

        Columns that are `indexed` come as they are: texts perhaps as indices into a dictionary, whole numbers exactly.
        """
        if self.parquet and where in self._required:
            groups = self.row_groups(where)
            return runs_of(groups, columns, self._decoded.begin(groups, columns, self._required[where], indexed), size)
        return self._stream(columns, where, size, indexed)

    def row_groups(self, where: str) -> list[RowGroup]:
        """Return the row groups of Parquet files with rows that meet a condition of `present`; a read unless it is
        TRUE.
        """
        if where not in self.groups:
            groups = row_groups(self.opened.files) if where == "TRUE" else self.row_groups("TRUE")
            self.queries += where != "TRUE"
            required = self._required[where]
            self.groups[where] = without_gaps(groups, required) if required else groups
        return self.groups[where]

    @property
    def plain_files(self) -> bool:
        """Whether the table is Parquet files as they were given, or files of text, so that parts of it can be read."""
        return not self.opened.copies.given and (self.parquet or self.plain_text)

    def present(self, names: Iterable[str]) -> str:
        """Return the SQL condition of the rows in which no value of these columns is missing."""
        names = tuple(dict.fromkeys(names))
        where = " AND ".join(f"NOT {self.absent(name)}" for name in names) or "TRUE"
        self._required[where] = names
        return where

    def required(self, where: str) -> tuple[str, ...]:
        """Return the columns of a condition of `present`."""
        return self._required[where]

    def counts_without_reading(self, where: str) -> bool:
        """Whether the number of rows is in the metadata of the files."""
        return self.parquet and where == "TRUE"

    def count(self, where: str) -> int:
        """Return the number of rows that meet a condition; a read where it is unknown."""
        if where not in self.counted:
            self.counted[where] = (
                sum(one.rows for one in self.row_groups(where))
                if self.parquet and where in self._required
                else int(self.rows(f"SELECT count(*) FROM {self.sql} WHERE {where}")[0][0])
            )
        return self.counted[where]

    def estimated_rows(self) -> int | None:
        """Return about how many rows there are, where that is known without reading them."""
        files = self.opened.files
        if self.parquet or not files:
            return self.count("TRUE") if self.parquet or self.opened.frame is not None else None
        if any(map(is_compressed, files)):
            return None
        with Reporting(self.title), open(files[0], "rb") as file:
            head = file.read(2**20)
        lines = head.count(b"\n")
        return int(self.size() / len(head) * lines) if lines else None

    def size(self) -> int:
        """Return the bytes of the files, compressed text counted eight times; 0 where there are none."""
        with Reporting(self.title):
            return bytes_of(self.opened.files)

    def stamps(self) -> list[tuple[int, int]]:
        """Return the size and the time of change of each file."""
        with Reporting(self.title):
            return list(map(file_stamp, self.opened.watched))

    def value(self, column: str) -> str:
        """Return a column as SQL of a type that Arrow can hold: numbers as DOUBLE, others but dates as VARCHAR.

        Dates and times are not cast where they need not be, as DuckDB would then read texts without their format and
        zone.
        """
        kind, name = self.kind(column), quoted(column)
        if self.schema[column] == "JSON":  # of values of several types; texts without their quotes
            return f"({name} ->> '$')"
        wanted = {"boolean": "BOOLEAN", "date": "TIMESTAMP", "number": "DOUBLE"}.get(kind, "VARCHAR")
        if self.schema[column] in (wanted, "FLOAT", "DATE", "TIMESTAMP WITH TIME ZONE"):
            return name
        if column in self.opened.declared and (NUMBER.match(self.schema[column]) or self.schema[column] == "BOOLEAN"):
            return name
        return f"CAST({name} AS {wanted})"

    def kind(self, column: str) -> str:
        """Return "number", "boolean", "date", "category" (declared), "text" or "other"."""
        kind = self.schema[column]
        if column in self.opened.declared:
            return "category"
        if kind.endswith("]"):
            return "other"
        if NUMBER.match(kind):
            return "number"
        if kind.startswith(("DATE", "TIMESTAMP")):
            return "date"
        if kind.startswith("ENUM("):
            return "category"
        return {"BOOLEAN": "boolean", "VARCHAR": "text", "UUID": "text"}.get(kind, "other")

    def mixed_units(self, column: str) -> str:
        """Return which units the numbers of a column of text have, as the end of a sentence.

        That is "" for other columns, and for those of few texts: packages of 250 g, 500 g and 1 kg are levels.
        """
        two = () if self.text is None else self.text.dialect.mixed.get(column, ())
        if two and self.rows(f"SELECT count(DISTINCT {self.value(column)}) FROM {self.sql}")[0][0] <= FEW_TEXTS:
            return ""
        return f"holds numbers in different units, as {two[0]!r} and {two[1]!r}" if two else ""

    def has_no_levels(self, column: str) -> bool:
        """Whether a column holds what frames write in other ways than tables: lists, structs, bytes, intervals."""
        return self.kind(column) == "other" and self.schema[column] not in TIMES_OF_DAY

    def is_ordered(self, column: str) -> bool:
        """Whether the table declares a column as a category whose levels have an order, as an enum of SQL has."""
        return column in self.opened.ordered or (column not in self.opened.declared and self.kind(column) == "category")

    def row_name(self, row: int, where: str = "TRUE") -> str:
        """Return what to call a row that meets a condition: its line in a text file, else its index, counted from 0."""
        if self.text is None or not self.has_lines:
            return f"row {row}"
        index = row
        for table, condition in reversed((*self.filters, *(((self.sql, where),) if where != "TRUE" else ()))):
            numbered = f"(SELECT row_number() OVER () - 1 AS i, ({condition}) AS used FROM {table})"
            found = self.rows(f"SELECT i FROM {numbered} WHERE used ORDER BY i LIMIT 1 OFFSET {index}")
            index = int(found[0][0]) if found else index
        return self.text.line_name(index) or f"row {row}"

    def absent(self, column: str) -> str:
        """Return SQL that is true where a value is missing: NULL, or NaN.

        DuckDB takes `isnan` for false in Parquet files, whose statistics leave NaN out (duckdb/duckdb#25521).
        """
        name = quoted(column)
        if self.schema[column] in ("DOUBLE", "FLOAT"):
            return f"({name} IS NULL OR (NOT isfinite({name}) AND NOT isinf({name})))"
        return f"({name} IS NULL)"

    def _stream(self, columns: Sequence[str], where: str, size: int, indexed: Sequence[str] = ()) -> Runs:
        for sql in self.queries_of(columns, where, indexed=indexed):
            with self._reporting():
                reader = self.database.cursor().sql(sql).to_arrow_reader(4 * size)
            for batch in rechunked(reported_batches(reader, self._reporting()), size):
                yield batch.num_rows, partial(iter, [batch])
        self.refuse_damage()

    def arrow_tables(self, columns: Sequence[str]) -> Iterator[Any]:
        """Return all rows of some columns, in order, as Arrow tables."""
        for _, run in self._stream(columns, "TRUE", ROWS):
            yield from map(batch_table, run())

    def refuse_damage(self) -> None:
        """Refuse compressed files of text whose checksums are wrong, which are found meanwhile."""
        if self.opened.integrity is not None:
            with self._reporting():
                self.opened.integrity.result()

    @property
    def plain_text(self) -> bool:
        """Whether the table is all rows of files of text, which are read one by one."""
        return self.text is not None and self.sql == self.text.sql

    def queries_of(
        self, columns: Sequence[str], where: str, files: Sequence[str] | None = None, indexed: Sequence[str] = ()
    ) -> list[str]:
        """Return queries that read the rows in order: one for each file of text, else one for all.

        The files are those of the table, or the same under other names.
        """
        whole = {name for name in indexed if WHOLE_NUMBER.fullmatch(self.schema[name])}
        values = (quoted(name) if name in whole else self.value(name) for name in columns)
        chosen = ", ".join(f"{value} AS {quoted(name)}" for name, value in zip(columns, values, strict=True)) or "1"
        tables = [self.sql]
        if self.text is not None and self.plain_text:
            tables = [self.text.dialect.sql([name]) for name in files or self.text.files]
        return [f"SELECT {chosen} FROM {table} WHERE {where}" for table in tables]

    def lines_with(self, column: str, values: Collection[str], most: int) -> tuple[int, ...]:
        """Return the first lines of a text file that have one of some values in a column; none where that is slow."""
        return () if self.text is None else self.text.lines_with(column, values, most)

    @property
    def has_lines(self) -> bool:
        """Whether rows are named by their lines: the table is text files, and not too large to be parsed for that."""
        return self.text is not None and self.text.small

    def _reporting(self) -> Reporting:
        return Reporting(self.place, self._explain, self.opened.copies.given)

    def _explain(self, known: str | None) -> str | None:
        """Return why files could not be read: they are damaged, or what is known, or their first malformed line."""
        if (damage := damage_of(self.opened.integrity)) is not None:
            return damage
        return known if self.text is None else self.text.explain(known, self.database.rows)
