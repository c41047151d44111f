"""A relation: a table that DuckDB can read repeatedly, from files, a query, a database or a frame in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self
from uuid import uuid4

from adaline.attributes import drop_attributes
from adaline.coding import Coding
from adaline.coding.expressions import lag_of
from adaline.coding.numerals import MISSING_WORDS, PERCENT, PERCENT_SCALE, Notation
from adaline.errors import InvalidParameter, UnreadableTable
from adaline.lazy import nw
from adaline.leftovers import remove_with
from adaline.locks import cached_property
from adaline.sources.tables import sqlite
from adaline.sources.tables.archives import KINDS, unpack
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
from adaline.sources.tables.boxes import is_boxed, write_unboxed
from adaline.sources.tables.copies import Copies
from adaline.sources.tables.encodings import is_utf8, write_utf8
from adaline.sources.tables.failures import Reporting, reported_batches
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import (
    check_compressed,
    check_file_name,
    escaped_wildcards,
    expand_glob,
    file_format,
    is_compressed,
    query_files,
)
from adaline.sources.tables.fixed_width import write_fixed
from adaline.sources.tables.footers import find_footer, find_subtotals
from adaline.sources.tables.frames import as_arrow, as_frame, declared_levels
from adaline.sources.tables.json_columns import write_rows
from adaline.sources.tables.layout import (
    FIXED,
    INDEX,
    INDEX_NAMES,
    SPACES,
    Layout,
    OtherEncoding,
    check_names,
    read_layout,
)
from adaline.sources.tables.notation import describe_conversions, find_dates
from adaline.sources.tables.pipes import Pipe, arrow_as_parquet, is_pipe, open_pipe, pipe_title, spool
from adaline.sources.tables.sparse_files import sparse_suffix
from adaline.sources.tables.spreadsheets import write_sheet
from adaline.sources.tables.sql import QUERY, chosen_table, is_query, names_used, quoted, subquery, text
from adaline.sources.tables.statistics_files import write_statistics_file
from adaline.sources.tables.text import (
    MISFIT,
    MIXED_ENDS,
    SAMPLE,
    UNCLOSED,
    Dialect,
    arrow_kind,
    check_layout,
    check_same_kinds,
    find_dialect,
    find_errors,
    find_repeated_names,
    has_escaped_quotes,
    is_alike,
    is_cut,
    lines_with,
    number_type,
    row_lines,
    text_words,
    with_common_names,
    write_commas,
    write_doubled,
    write_emptied,
    write_like,
    write_line_feeds,
    write_padded,
    write_without_lines,
)
from adaline.sources.threads import threads
from adaline.wording import file_name

FEW_TEXTS = 12  # different ones, up to which numbers with different units are levels of a category
ROWS = 2**15  # of a table that is read to look at its values
WHOLE_SAMPLE = 2**26  # bytes of text up to which the types of columns are found from all rows
SETTINGS: dict[str, Any] = {
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""Of every connection: no extension, no password and no object of Python is found by its name in a query."""
EPOCHS = (315_532_800_000, 4_102_444_800_000)  # milliseconds since 1970 from 1980 to 2100
PANDAS_INDEX = "__index_level_0__"
TIMES_OF_DAY = ("TIME", "TIME WITH TIME ZONE")  # Arrow writes Parquet files with the second, since 18 with the first
NEEDED = "tables need duckdb and pyarrow: pip install 'adaline-learn[app]'"
WHOLE_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(\d+,0\)")
NUMBER = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL)\b")


class Relation:
    """A table: `title` is its name in messages, `sql` what follows FROM, `schema` the DuckDB type of each column.

    `index` is the column that numbers or labels the rows, as programs write it beside the table, or None: no column to
    learn from. `notes` say, in sentences, how a file was understood. `totals` are lines below the table with a cell for
    each column of the file, which are no rows; a class that `keeps_totals` writes them somewhere.
    """

    keeps_totals = False

    def __init__(self, data: Any, options: FileOptions | None = None) -> None:
        self.options = options or FileOptions()
        self.notes: tuple[str, ...] = ()
        self.totals: tuple[tuple[str, ...], ...] = ()
        self.device: Any = None  # that rows are sent to for sums
        self.files: list[str] = []
        self.watched: list[str] = []  # files that may not change: those above, or those that a query names
        self.parquet = False
        self._confined = False  # whether a connection that is made reads the files alone
        self.database = "memory"
        self.frame: Any = None
        self.layout: Layout | None = None
        self.dialect: Dialect | None = None
        self.declared: dict[str, list[Any]] = {}  # levels of the columns that a frame declares as categories
        self.notations: tuple[Notation, ...] = ()  # of dates that a table which is no text file holds as texts
        self._ordered: set[str] = set()  # of these, the ones that have an order
        self.queries = 0  # number of queries that read rows
        self.counted: dict[str, int] = {}  # number of rows that meet a condition, where it is known
        self.groups: dict[str, list[RowGroup]] = {}  # row groups of Parquet files with the rows that meet a condition
        self._decoded = DecodedGroups()
        self._required: dict[str, tuple[str, ...]] = {"TRUE": ()}  # columns of conditions that `present` made
        self._integrity: Future[None] | None = None
        self._registered: dict[str, Any] = {}  # Arrow tables that queries name
        self._filters: tuple[
            tuple[str, str], ...
        ] = ()  # tables, and the conditions by which rows of them were left out
        self._copies = Copies()  # of files that cannot be read as they are, and of pipes
        _check_arrow()
        frame = as_frame(data)
        if frame is not None:
            self.title = self.place = "the frame"
            self.sql, self.frame, self.declared = "frame", as_arrow(frame), declared_levels(frame)
            self._ordered = {name for name in self.declared if nw.is_ordered_categorical(frame[name])}
            confine(self.connection, [])
        elif isinstance(data, str) and is_query(data):
            self.title = self.place = "the query"
            check_file_name(data)
            with Reporting(self.place):
                self.sql = subquery(self.connection, data, self.title)
                self.watched, patterns = query_files(
                    names_used(self.connection, data, "catalog_name", "schema_name", "table_name")
                )
            confine(self.connection, [*self.watched, *patterns])
            check_names(self.title, [str(name) for name, *_ in self.rows(f"DESCRIBE {self.sql}")])
        else:
            self._open_files(data)
        left_out = () if self.layout is None else self.layout.left_out
        self.schema: dict[str, str] = {name: kind for name, kind in self._described().items() if name not in left_out}
        self.index = self._find_index()
        if self.sql.startswith("read_json("):
            self._note_epochs()
        self._note_units()
        self.stamp = self.stamps()

    @cached_property
    def connection(self) -> Any:
        """A connection of DuckDB; for Parquet files one that is made when a query needs it, and reads them alone."""
        out = _connect()
        if self._confined:
            confine(out, self.files)
        return out

    def _described(self) -> dict[str, str]:
        """Return DuckDB's type of each column."""
        if self.parquet:
            with Reporting(self.files[0]):
                plain = plain_types(self.files[0])
            if plain is not None:
                return plain
        return {str(name): str(kind) for name, kind, *_ in self.rows(f"DESCRIBE SELECT * FROM {self.sql}")}

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of the result of a query."""
        self.queries += not sql.startswith("DESCRIBE")
        with self._reporting():
            return list(self._cursor().execute(sql).fetchall())

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
            groups = row_groups(self.files) if where == "TRUE" else self.row_groups("TRUE")
            self.queries += where != "TRUE"
            required = self._required[where]
            self.groups[where] = without_gaps(groups, required) if required else groups
        return self.groups[where]

    @property
    def plain_files(self) -> bool:
        """Whether the table is Parquet files as they were given, or files of text, so that parts of it can be read."""
        if self._copies.given:
            return False
        return self.parquet or (self.dialect is not None and self.sql == self.dialect.sql(self.files))

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
        if self.parquet or not self.files:
            return self.count("TRUE") if self.parquet or self.frame is not None else None
        if any(map(is_compressed, self.files)):
            return None
        with Reporting(self.title), open(self.files[0], "rb") as file:
            head = file.read(2**20)
        lines = head.count(b"\n")
        return int(self.size() / len(head) * lines) if lines else None

    def size(self) -> int:
        """Return the bytes of the files, compressed text counted eight times; 0 where there are none."""
        with Reporting(self.title):
            return sum(os.path.getsize(name) * (8 if is_compressed(name) else 1) for name in self.files)

    def stamps(self) -> list[tuple[int, int]]:
        """Return the size and the time of change of each file."""
        with Reporting(self.title):
            return list(map(file_stamp, self.watched))

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
        if column in self.declared and (NUMBER.match(self.schema[column]) or self.schema[column] == "BOOLEAN"):
            return name
        return f"CAST({name} AS {wanted})"

    def kind(self, column: str) -> str:
        """Return "number", "boolean", "date", "category" (declared), "text" or "other"."""
        kind = self.schema[column]
        if column in self.declared:
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
        two = () if self.dialect is None else self.dialect.mixed.get(column, ())
        if two and self.rows(f"SELECT count(DISTINCT {self.value(column)}) FROM {self.sql}")[0][0] <= FEW_TEXTS:
            return ""
        return f"holds numbers in different units, as {two[0]!r} and {two[1]!r}" if two else ""

    def has_no_levels(self, column: str) -> bool:
        """Whether a column holds what frames write in other ways than tables: lists, structs, bytes, intervals."""
        return self.kind(column) == "other" and self.schema[column] not in TIMES_OF_DAY

    def is_ordered(self, column: str) -> bool:
        """Whether the table declares a column as a category whose levels have an order, as an enum of SQL has."""
        return column in self._ordered or (column not in self.declared and self.kind(column) == "category")

    def with_texts(self, names: Collection[str]) -> Self:
        """Return the same table with some columns of text files read as text, as the model was fitted to them."""
        changed = [name for name in names if self.schema.get(name, "VARCHAR") != "VARCHAR"]
        if not changed or self.dialect is None:
            return self
        other = copy(self)
        other.dialect = self.dialect.with_texts(changed)
        other.sql = other.dialect.sql(self.files)
        other.schema = self.schema | dict.fromkeys(changed, "VARCHAR")
        return other

    def as_fitted(self, coding: Coding) -> Self:
        """Return the same table with its text files read in the notation of those that a model was fitted to.

        Options that the user gave take precedence, and values that do not fit that notation are read as they look.
        """
        options = self.options.as_fitted(coding)
        if self.dialect is None or self.layout is None or self.sql != self.dialect.sql(self.files):
            return self
        same = options.na == self.options.na and not self._differs(options.notations)
        if options == self.options or (same and self._text_words(options) == self.dialect.text_words):
            return self
        return self._reread(options)

    def _text_words(self, options: FileOptions) -> Mapping[str, tuple[str, ...]]:
        """Return the words for missing values in columns of text by other options."""
        assert self.dialect is not None
        return text_words(self.dialect, self.files, self.rows, options)

    def without_texts(self, unreadable: Mapping[str, Collection[str]]) -> Self:
        """Return the same table, which is text files, without the rows in which columns have some texts.

        The other values of these columns decide how they are read: as numbers or dates, if they all are.
        """
        given = tuple((name, tuple(sorted(texts))) for name, texts in unreadable.items() if texts)
        if not given:
            return self
        other = self._reread(replace(self.options, unreadable=given))
        assert other.dialect is not None
        other._filters = (*self._filters, (other.dialect.as_written.sql(self.files), other.dialect.kept))
        return other

    def with_unreadable_texts(self, names: Iterable[str]) -> Self:
        """Return the same text files with columns read as text some of whose values are not of the type of the others.

        Such a value may be in another file than the first, or beyond the rows that types are found from.
        """
        if self.dialect is None or (len(self.files) == 1 and self.size() <= WHOLE_SAMPLE):
            return self
        kinds = dict(zip(self.dialect.layout.names, self.dialect.types, strict=True))
        failed = {one.name: one.failed for one in self.dialect.conversions}
        for name in names:
            if kinds.get(name, "VARCHAR") != "VARCHAR":
                failed[name] = f"{quoted(name)} IS NOT NULL AND TRY_CAST({quoted(name)} AS {kinds[name]}) IS NULL"
        chosen = [name for name in names if name in failed]
        if not chosen:
            return self
        asked = ", ".join(f"bool_or({failed[name]})" for name in chosen)
        table = self.dialect.with_texts(chosen).sql(self.files)
        found = self.rows(f"SELECT {asked} FROM {table}")[0]
        return self.with_texts([name for name, wrong in zip(chosen, found, strict=True) if wrong])

    def with_numbers(self, names: Sequence[str], unreadable: Mapping[str, Collection[str]]) -> Self:
        """Return the same table, which is no text file, without the rows in which columns have some texts, and with the
        texts of some columns as numbers.
        """
        other = self.without_values({name: list(texts) for name, texts in unreadable.items()})
        return other._replaced({name: f"TRY_CAST({self.value(name)} AS DOUBLE)" for name in names}, "DOUBLE")

    def with_dates(self, names: Iterable[str]) -> Self:
        """Return the same table with columns of texts that are all dates read as such; text files are read so anyway.

        They are dates in ISO 8601 or, with a note, in one format, which a coding keeps.
        """
        texts = [name for name in names if self.schema.get(name) == "VARCHAR"]
        found = find_dates(texts, self.sql, self.rows) if texts and self.dialect is None else []
        other = self._replaced({one.name: one.sql for one in found}, "TIMESTAMP")
        local = [one for one in found if one.form]
        other.notations = tuple(Notation(one.form, "", (one.name,)) for one in local)
        other.notes = (*self.notes, *describe_conversions(local))
        return other

    def _replaced(self, columns: Mapping[str, str], kind: str) -> Self:
        """Return the same table with some columns computed by SQL, of a type; a table without them as it is."""
        other = copy(self)
        if columns:
            read = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())
            other.sql, other.parquet = f"(SELECT * REPLACE ({read}) FROM {self.sql})", False
            other.schema = self.schema | dict.fromkeys(columns, kind)
            other.counted, other.groups = {}, {}
        return other

    def _reread(self, options: FileOptions) -> Self:
        """Return the same text files, read by other options."""
        assert self.layout is not None
        other = copy(self)
        other.options = options
        other.dialect = find_dialect(self.files, self.layout, self.rows, self.size() <= WHOLE_SAMPLE, options)
        other.sql = other.dialect.sql(self.files)
        other.counted, other.groups = {}, {}
        other.schema = {name: kind for name, kind in other._described().items() if name in self.schema}
        return other

    def _differs(self, notations: Iterable[Notation]) -> bool:
        """Whether a column that may have decimals, or be a date, was read in another notation."""
        assert self.dialect is not None
        types = dict(zip(self.dialect.layout.names, self.dialect.types, strict=True))
        own = {name: (one.form, one.unit) for one in self.dialect.notations(list(types)) for name in one.columns}
        return any(
            (types.get(name) in ("VARCHAR", "DOUBLE") or (name in types and one.scaled))
            and own.get(name) != (one.form, one.unit)
            for one in notations
            for name in one.columns
        )

    def gap_words(self, names: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the words that are read as missing values in columns of text, the most frequent first, and how often.

        These are the usual words, which might be levels of a category; of large files none are returned.
        """
        if self.dialect is None or not self.has_lines:
            return {}
        table = self.dialect.as_written.sql(self.files)
        usual = [word for word in MISSING_WORDS if word and word in self.dialect.words]
        out: dict[str, dict[str, int]] = {}
        for name in (name for name in names if self.kind(name) == "text"):
            words = ", ".join(map(text, [*usual, *self.dialect.text_words.get(name, ())]))
            if not words:
                continue
            one = quoted(name)
            rows = f"SELECT {one}, count(*) AS n FROM {table} WHERE {one} IN ({words})"
            found = self.rows(f"{rows} GROUP BY 1 ORDER BY n DESC, 1")
            out |= {name: dict(found)} if found else {}
        return out

    def add_lags(self, names: Iterable[str]) -> None:
        """Add the columns that are called as in "lag(x, 2)": column x as it was 2 rows before, missing in the first."""
        lags = {name: lag for name in names if name not in self.schema and (lag := lag_of(name)) is not None}
        lags = {name: lag for name, lag in lags.items() if lag[0] in self.schema}
        if lags:
            made = [f"lag({self.value(of)}, {k}) OVER () AS {quoted(name)}" for name, (of, k) in lags.items()]
            self.schema |= {name: self.schema[of] for name, (of, _) in lags.items()}
            self.sql, self.parquet = f"(SELECT *, {', '.join(made)} FROM {self.sql})", False

    def without_values(self, unwanted: Mapping[str, Sequence[Any]]) -> Self:
        """Return the same table without the rows in which a column has one of some values."""
        import pyarrow as pa

        given = {name: values for name, values in unwanted.items() if values}
        if not given:
            return self
        other = copy(self)
        tables = {f"unwanted_{uuid4().hex}": pa.table({"value": values}) for values in given.values()}
        other._registered = self._registered | tables
        conditions = [
            f"({self.value(name)} IS NULL OR {self.value(name)} NOT IN (SELECT value FROM {table}))"
            for name, table in zip(given, tables, strict=True)
        ]
        where = " AND ".join(conditions)
        other.sql, other.parquet = f"(SELECT * FROM {self.sql} WHERE {where})", False
        other._filters = (*self._filters, (self.sql, where))
        other.counted, other.groups = {}, {}
        return other

    def row_name(self, row: int, where: str = "TRUE") -> str:
        """Return what to call a row that meets a condition: its line in a text file, else its index, counted from 0."""
        if not self.has_lines:
            return f"row {row}"
        index = row
        for table, condition in reversed((*self._filters, *(((self.sql, where),) if where != "TRUE" else ()))):
            numbered = f"(SELECT row_number() OVER () - 1 AS i, ({condition}) AS used FROM {table})"
            found = self.rows(f"SELECT i FROM {numbered} WHERE used ORDER BY i LIMIT 1 OFFSET {index}")
            index = int(found[0][0]) if found else index
        for name, lines in self._row_lines:
            if index < len(lines):
                of = f" of {self._copies.given.get(name, name)}" if len(self.files) > 1 else ""
                return f"line {self._copies.line(name, lines[index])}{of}"
            index -= len(lines)
        return f"row {row}"

    @property
    def has_lines(self) -> bool:
        """Whether rows are named by their lines: the table is text files, and not too large to be parsed for that."""
        return self.layout is not None and self.size() <= WHOLE_SAMPLE

    @cached_property
    def _row_lines(self) -> list[tuple[str, Sequence[int]]]:
        """The text files, and the line in which each row of them begins."""
        assert self.layout is not None
        with self._reporting():
            return [(name, row_lines(name, self.layout)) for name in self.files]

    def lines_with(self, column: str, values: Collection[str], most: int) -> tuple[int, ...]:
        """Return the first lines of a text file that have one of some values in a column; none where that is slow."""
        if self.layout is None or not self.has_lines or len(self.files) > 1:
            return ()
        name = self.files[0]
        return tuple(self._copies.line(name, one) for one in lines_with(name, self.layout, column, values, most))

    def absent(self, column: str) -> str:
        """Return SQL that is true where a value is missing: NULL, or NaN.

        DuckDB takes `isnan` for false in Parquet files, whose statistics leave NaN out (duckdb/duckdb#25521).
        """
        name = quoted(column)
        if self.schema[column] in ("DOUBLE", "FLOAT"):
            return f"({name} IS NULL OR (NOT isfinite({name}) AND NOT isinf({name})))"
        return f"({name} IS NULL)"

    def _cursor(self) -> Any:
        """Return a new connection for one query, so that threads do not wait for each other."""
        cursor = self.connection.cursor()
        cursor.execute(f"USE {self.database}")
        for name, table in self._registered.items():
            cursor.register(name, table)
        if self.frame is not None:
            cursor.register("frame", self.frame)
        return cursor

    def _stream(self, columns: Sequence[str], where: str, size: int, indexed: Sequence[str] = ()) -> Runs:
        for sql in self.queries_of(columns, where, indexed=indexed):
            with self._reporting():
                reader = self._cursor().sql(sql).to_arrow_reader(4 * size)
            for batch in rechunked(reported_batches(reader, self._reporting()), size):
                yield batch.num_rows, partial(iter, [batch])
        self.refuse_damage()

    def arrow_tables(self, columns: Sequence[str]) -> Iterator[Any]:
        """Return all rows of some columns, in order, as Arrow tables."""
        for _, run in self._stream(columns, "TRUE", ROWS):
            yield from map(batch_table, run())

    def refuse_damage(self) -> None:
        """Refuse compressed files of text whose checksums are wrong, which are found meanwhile."""
        if self._integrity is not None:
            with self._reporting():
                self._integrity.result()

    def queries_of(
        self, columns: Sequence[str], where: str, files: Sequence[str] | None = None, indexed: Sequence[str] = ()
    ) -> list[str]:
        """Return queries that read the rows in order: one for each file of text, else one for all.

        The files are those of the table, or the same under other names.
        """
        whole = {name for name in indexed if WHOLE_NUMBER.fullmatch(self.schema[name])}
        values = (quoted(name) if name in whole else self.value(name) for name in columns)
        chosen = ", ".join(f"{value} AS {quoted(name)}" for name, value in zip(columns, values, strict=True)) or "1"
        apart = self.dialect is not None and self.sql == self.dialect.sql(self.files)
        tables = [self.dialect.sql([name]) for name in files or self.files] if apart and self.dialect else [self.sql]
        return [f"SELECT {chosen} FROM {table} WHERE {where}" for table in tables]

    def _reporting(self) -> Reporting:
        return Reporting(self.place, self._explain, self._copies.given)

    def _find_index(self) -> str | None:
        """Return the column that numbers or labels the rows and has no name, or one that programs give it.

        It is the first, or the index that pandas writes at the end of a Parquet file.
        """
        name = PANDAS_INDEX if PANDAS_INDEX in self.schema else next(iter(self.schema), "")
        unnamed = self.layout is not None and self.layout.index == name
        if not (unnamed or INDEX_NAMES.fullmatch(name)) or self.kind(name) not in ("number", "text"):
            return None
        column = quoted(name)
        numbers = self.kind(name) == "number"
        asked = f"bool_and({column} = floor({column})), max({column}) - min({column})" if numbers else "TRUE, NULL"
        rows, different, whole, span = self.rows(
            f"SELECT count(*), count(DISTINCT {column}), {asked} FROM (SELECT {column} FROM {self.sql} LIMIT {SAMPLE})"
        )[0]
        amounts = numbers and not unnamed and name.lower() == INDEX and span != rows - 1  # such as prices of shares
        if not rows or different < rows or not whole or amounts:
            return None
        what = "numbers" if numbers else "labels"
        self.notes = (*self.notes, f"column {name!r} {what} the rows and is not used as a feature")
        return name

    def _open_files(self, data: Any) -> None:
        given = [data] if isinstance(data, str | os.PathLike | Pipe) else data
        if (
            not isinstance(given, list | tuple)
            or not given
            or not all(isinstance(one, str | os.PathLike | Pipe) for one in given)
        ):
            raise InvalidParameter(f"cannot open {type(data).__name__}: give a path, a glob, a query or a frame")
        names = [one if isinstance(one, Pipe) else os.fsdecode(one) for one in given]
        self.title = self.place = f"{len(names)} files" if len(names) > 1 else pipe_title(names[0])
        with Reporting(self.title, given=self._copies.given):
            self._read_files(names)

    def _read_files(self, names: Sequence[str | Pipe]) -> None:
        for name in names:
            if isinstance(name, str) and not is_pipe(name):
                self.files += expand_glob(name)
                continue
            pipe = open_pipe(name) if isinstance(name, str) else name
            self.files.append(spool(pipe, self._copies.new(pipe.title, pipe.suffix)))
        self.watched, self.files = self.files, [self._unpacked(name) for name in self.files]
        if sparse := [name for name in self.files if sparse_suffix(name)]:
            raise UnreadableTable(
                f"{sparse[0]} holds sparse rows, without names of columns: open_table reads it, and adaline fit, "
                "select, predict, score and update; use one of these"
            )
        kinds = {file_format(name) for name in self.files}
        if len(kinds) > 1:
            raise UnreadableTable(f"{self.title}: files of different kinds ({', '.join(sorted(kinds))}); open one kind")
        kind = kinds.pop()
        if kind == "arrow":  # which DuckDB does not read
            self.files = [arrow_as_parquet(name, self._copies.new(name, ".parquet")) for name in self.files]
            kind = "parquet"
        if kind == "text":
            self._open_text()
            return
        if kind == "json":
            self._check_compressed()
            if self.size() <= WHOLE_SAMPLE:
                self.files = [self._in_rows(name) for name in self.files]
        listed = "[" + ", ".join(text(escaped_wildcards(name)) for name in self.files) + "]"
        if kind == "sqlite":
            self._scratch = sqlite.copy_sqlite(self.connection, self._one_database(), self.options.table)
            self.database, self.sql = "scratch", "copied"
        if kind == "parquet":
            self.sql, self.parquet = f"read_parquet({listed}, hive_partitioning=false)", True
            self._confined = True
            for name in self.files:
                check_file_name(name)
            self._check_parquet()
            return
        confine(self.connection, self.files + [f"{name}.wal" for name in self.files if kind == "duckdb"])
        if kind == "json":
            self.sql = self._json(listed)
        elif kind == "duckdb":
            self._attach(self._one_database(), self.options.table)

    def _unpacked(self, name: str) -> str:
        """Return a file, or a copy of what it holds where it is packed, a spreadsheet, or of a statistics program."""
        kind = file_format(name)
        if kind in KINDS:
            return self._unpacked(unpack(name, kind, self._copies))
        if kind == "sheet":
            copy = self._copies.new(name, ".csv")
            self.notes = (*self.notes, *write_sheet(name, self.options.sheet, copy))
            return copy
        if kind == "statistics":
            copy = self._copies.new(name, ".parquet")
            write_statistics_file(name, Path(name).suffix[1:].lower(), self.options.encoding, copy)
            return copy
        return name

    def _open_text(self) -> None:
        """Read the layout and the types of text files; those that are not UTF-8 are converted first."""
        self._confined = True
        if self.options.encoding is not None:
            self._convert()
        self._check_compressed()
        try:
            self._read_text()
        except UnreadableTable as error:
            other = isinstance(error, OtherEncoding) or (self.layout is not None and not all(map(is_utf8, self.files)))
            if other and self.options.encoding is None:
                self._convert()
            elif MIXED_ENDS in str(error) and not self._copies.given:
                self._rewrite(write_line_feeds)
            elif self._pad_short_rows(str(error)):
                pass
            elif UNCLOSED in str(error) and not self._copies.given and any(map(has_escaped_quotes, self.files)):
                self._rewrite(write_doubled)
            else:
                raise
            self._read_text()

    def _read_text(self) -> None:
        if is_boxed(self.files[0]):
            self._rewrite(write_unboxed)
        self.layout = read_layout(self.files[0])
        if self.layout.separator in (SPACES, FIXED):
            first, fixed = self.files[0], self.layout.separator == FIXED
            self._rewrite(partial(write_fixed, like=first) if fixed else write_commas)
            if fixed:
                self.notes = (*self.notes, "read as columns of fixed width")
            self.layout = read_layout(self.files[0])
        self.layout = self._align(self.layout)
        if words := [word for word in self.options.na if is_cut(word, self.layout.separator)]:
            self._rewrite(partial(write_emptied, found=self.layout, words=words))
        below = {name: found for name in self.files if (found := find_footer(name, self.layout)) is not None}
        if below:
            for name, footer in below.items():
                copy = footer.write_without(name, self._copies.new(name, ".csv"))
                self._replace_files([copy if one == name else one for one in self.files])
            texts = read_layout(self.files[0]).texts  # without those of the lines below the table
            self.layout = replace(self.layout, texts=texts)
            self.totals = tuple(total for footer in below.values() for total in footer.totals)
            told = (one.note for one in below.values() if not (self.keeps_totals and one.only_totals))
            self.notes = (*self.notes, *told)
        whole = self.size() <= WHOLE_SAMPLE
        if whole:
            self._leave_out_lines(self.layout)
        self.dialect = find_dialect(self.files, self.layout, self.rows, whole, self.options)
        self.sql = self.dialect.sql(self.files)
        self.notes = (*self.notes, *self.layout.notes, *describe_conversions(self.dialect.conversions))

    def _align(self, wanted: Layout) -> Layout:
        """Replace files that are written differently from the first by copies like it; return the layout of all.

        They may have another order of columns, another separator, and columns that others do not have: those that all
        have are read, with a note about the rest.
        """
        found = {name: wanted if name == self.files[0] else read_layout(name) for name in self.files}
        common = with_common_names(found, wanted)
        every = dict.fromkeys(name for one in found.values() for name in one.names)
        rest = [name for name in every if name not in common.names]
        if rest and all(is_alike(one, common) for one in found.values()):
            lacking = next(name for name, one in found.items() if rest[0] not in one.names)
            shown = ", ".join(map(repr, rest[:5])) + ", ..." * (len(rest) > 5)
            own = f"column{'s' * (len(rest) > 1)} {shown} {'are' if len(rest) > 1 else 'is'} left out"
            missing = self._copies.given.get(lacking, lacking)
            self.notes = (
                *self.notes,
                f"{own}: {missing} has no column {rest[0]!r}; open each file separately to use it",
            )
        other = [name for name, one in found.items() if one.separator != common.separator]
        if other and self.options.decimal is None:
            shown = file_name(self._copies.given.get(other[0], other[0]))
            self.notes = (
                *self.notes,
                f"the values of {shown}{f' and {len(other) - 1:,} more' * (len(other) > 1)} are not separated as those "
                "of the first file, whose decimal separator is used for all; decimal= sets another",
            )
        for name, one in found.items():
            if one != common and is_alike(one, common):
                moved = one.skip + one.header - common.skip - common.header
                copy = write_like(name, one, common, self._copies.new(name, ".csv", moved=moved))
                self._replace_files([copy if other == name else other for other in self.files])
                name, one = copy, read_layout(copy)
            check_layout(self.files[0], common, name, one)
        return common

    def _pad_short_rows(self, error: str) -> bool:
        """Replace a file whose short rows lack values at their ends by a copy that has empty ones; False if not."""
        if self.layout is None or len(self.files) > 1 or self.size() > WHOLE_SAMPLE or not MISFIT.search(error):
            return False
        copy = self._copies.new(self.files[0], ".csv")
        lines = [self._copies.line(copy, one) for one in write_padded(self.files[0], self.layout, copy)]
        if not lines:
            del self._copies.given[copy]
            return False
        self._replace_files([copy])
        have = "has" if len(lines) == 1 else "have"
        self.notes = (*self.notes, f"{_shown_lines(lines)} {have} no values at the end, which are read as missing")
        return True

    def _leave_out_lines(self, found: Layout) -> None:
        """Replace files in which the line of names occurs again, or that have subtotals, by copies without these."""
        for name in list(self.files):
            names = find_repeated_names(name, found)
            totals = [] if self.keeps_totals else find_subtotals(name, found)
            if not names and not totals:
                continue
            lines = sorted([*names, *totals])
            copy = write_without_lines(name, lines, self._copies.new(name, ".csv", without=lines))
            self._replace_files([copy if one == name else one for one in self.files])
            if names:
                verbs = ("repeats", "is") if len(names) == 1 else ("repeat", "are")
                note = f"{_shown_lines(names)} {verbs[0]} the names of the columns and {verbs[1]} left out"
                self.notes = (*self.notes, note)
            if totals:
                verbs = ("is a subtotal", "is") if len(totals) == 1 else ("are subtotals", "are")
                note = f"{_shown_lines(totals)} {verbs[0]} of the rows above and {verbs[1]} left out"
                self.notes = (*self.notes, note)

    def _convert(self) -> None:
        """Replace files by copies in UTF-8."""
        copies = [self._copies.new(name, ".csv") for name in self.files]
        found = {write_utf8(name, self.options.encoding, copy) for name, copy in zip(self.files, copies, strict=True)}
        self._replace_files(copies)
        if self.options.encoding is None:
            self.notes = (
                *self.notes,
                f"the file is decoded as {' and '.join(sorted(found))}; encoding= overrides this",
            )

    def _rewrite(self, write: Callable[[str, str], str]) -> None:
        """Replace all files by copies in plain CSV, as `write(file, copy)` makes and returns them."""
        self._replace_files([write(name, self._copies.new(name, ".csv")) for name in self.files])

    def _replace_files(self, copies: list[str]) -> None:
        """Read copies of the files instead of them, by a connection that reads these alone."""
        self.files, self._integrity = copies, None
        drop_attributes(self, "connection")

    def _check_compressed(self) -> None:
        if compressed := [name for name in self.files if is_compressed(name)]:
            self._integrity = check_compressed(compressed)

    def _in_rows(self, name: str) -> str:
        """Return a JSON file, or a copy in rows where it is one object of columns."""
        copy = self._copies.new(name, ".json")
        note = write_rows(name, copy)
        if note is not None:
            self.notes = (*self.notes, note) if note else self.notes
            return copy
        del self._copies.given[copy]
        return name

    def _json(self, listed: str) -> str:
        """Return SQL that reads JSON files; types are found once; integers not all of which were read are DOUBLE."""
        whole = self.size() <= WHOLE_SAMPLE
        sample = "sample_size=-1" if whole else f"sample_size={SAMPLE}"
        sql = f"read_json({listed}, {sample}, maximum_sample_files=1024, hive_partitioning=false)"
        if whole and len(self.files) <= 1024:
            return sql
        columns = self.rows(f"DESCRIBE SELECT * FROM {sql}")
        types = ", ".join(f"{text(str(name))}: {text(number_type(str(kind), False))}" for name, kind, *_ in columns)
        return f"read_json({listed}, columns={{{types}}}, hive_partitioning=false)"

    def _note_epochs(self) -> None:
        """Note columns of whole numbers that look like dates in milliseconds, as pandas writes them to JSON."""
        whole = [name for name, kind in self.schema.items() if kind == "BIGINT"]
        if not whole:
            return
        first = f"(SELECT {', '.join(map(quoted, whole))} FROM {self.sql} LIMIT {SAMPLE})"
        asked = (f"min({q}), max({q}), bool_and({q} % 1000 = 0)" for q in map(quoted, whole))
        found = self.rows(f"SELECT {', '.join(asked)} FROM {first}")[0]
        for i, name in enumerate(whole):
            low, high, seconds = found[3 * i : 3 * i + 3]
            if seconds and EPOCHS[0] <= low and high <= EPOCHS[1]:
                note = f"column {name!r} is read as numbers, but looks like dates in milliseconds since 1970, as {low}"
                self.notes = (*self.notes, f"{note}; to_json(date_format='iso') writes dates")

    def _note_units(self) -> None:
        """Note columns of numbers without the percent sign or the unit that those of a fit have."""
        here = {} if self.dialect is None else {one.name: one.unit for one in self.dialect.conversions}
        scaled = ((name, one) for one in self.options.notations if one.scaled for name in one.columns)
        for name, one in scaled:
            if name not in self.schema or self.kind(name) != "number" or here.get(name):
                continue
            if self.dialect is None:
                self.notes = (*self.notes, f"numbers with {one.without_unit}: column {name!r}")
            column = f"abs({quoted(name)})"
            most, whole = self.rows(f"SELECT max({column}), bool_and({column} = floor({column})) FROM {self.sql}")[0]
            if one.unit in PERCENT and most is not None and most <= 1 and not whole:
                told = f"column {name!r} holds values between -1 and 1, as {most:g}, and the fit had percentages"
                scale = f"{most:g} stands for {most * PERCENT_SCALE[one.unit]:g}{one.unit}"
                self.notes = (*self.notes, f"{told}: multiply by {PERCENT_SCALE[one.unit]} if {scale}")

    def _check_parquet(self) -> None:
        """Refuse files whose columns differ."""
        from pyarrow import parquet

        first = None
        for name in self.files:
            with Reporting(name):
                schema = parquet.read_schema(name)
            check_names(name, schema.names)
            if first is None:
                first = schema
            elif not schema.equals(first):
                kinds, others = ({field.name: arrow_kind(field.type) for field in one} for one in (first, schema))
                check_same_kinds(self.files[0], kinds, name, others)

    def _explain(self, known: str | None) -> str | None:
        """Return why files could not be read: they are damaged, or what is known, or their first malformed line."""
        if self._integrity is not None and (error := self._integrity.exception()) is not None:
            return str(error)
        if self.layout is not None and (known is None or self.size() <= WHOLE_SAMPLE):
            for name in self.files:
                own = name in self.watched and not is_compressed(name)
                if found := find_errors(name, self.layout, own, partial(self._copies.line, name)):
                    return f"{name}{found}"
        return self._unconverted() or known

    def _unconverted(self) -> str | None:
        """Return which value of a text file does not fit the notation that the first rows of its column have."""
        if self.dialect is None:
            return None
        for one in self.dialect.conversions:
            table = self.dialect.with_texts([one.name]).sql(self.files)
            found = (
                self._cursor().execute(f"SELECT {quoted(one.name)} FROM {table} WHERE {one.failed} LIMIT 1").fetchone()
            )
            if found is not None:
                where = "".join(f" in line {line}" for line in self.lines_with(one.name, found, 1))
                return (
                    f"{self.title}: column {one.name!r} holds {found[0]!r}{where}, not a "
                    f"value like {one.example!r}: name it in na= if it stands for a missing value, or the column in "
                    "categories="
                )
        return None

    def _one_database(self) -> str:
        if len(self.files) > 1:
            raise UnreadableTable(f"{self.title}: open one database at a time")
        return self.files[0]

    def _attach(self, name: str, table: str | None) -> None:
        """Attach a DuckDB file; `place` names the views and macros that the table or query asked for consists of."""
        self.rows(f"ATTACH {text(name)} AS given (READ_ONLY)")
        self.database = "given"
        if table is not None and QUERY.match(table):
            check_file_name(table)
            with Reporting(self.title):
                self.sql = subquery(self.connection, table, self.title)
        else:
            tables = {
                str(name) if schema == "main" else f"{schema}.{name}": f"{quoted(schema)}.{quoted(name)}"
                for schema, name in self.rows(
                    "SELECT table_schema, table_name FROM information_schema.tables "
                    "WHERE table_catalog = 'given' ORDER BY ALL"
                )
            }
            self.sql = tables[chosen_table(name, list(tables), table)]
        for kind, catalog, used_as in (("view", "view", "table"), ("macro", "function", "function")):
            listed = f"SELECT {catalog}_name FROM duckdb_{catalog}s() WHERE database_name = 'given' ORDER BY ALL"
            used = names_used(self.connection, f"SELECT * FROM {self.sql}", f"{used_as}_name")
            known = {word.lower() for word in used}
            self.place += "".join(f", {kind} {word!r}" for (word,) in self.rows(listed) if word.lower() in known)


def _shown_lines(lines: Sequence[int]) -> str:
    """Return some lines, as in "lines 3, 7": the first five, and the number of the others."""
    more = f" and {len(lines) - 5} more" if len(lines) > 5 else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:5]))}{more}"


def import_readers(name: str) -> None:
    """Import what reads a file, which is done otherwise when it is opened."""
    with suppress(ImportError):  # which opening a table reports
        import duckdb  # noqa: F401
        import pyarrow.compute

        if name.endswith(".parquet"):
            import pyarrow.parquet  # noqa: F401


def _check_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InvalidParameter(NEEDED) from None


def _connect() -> Any:
    _check_arrow()
    try:
        import duckdb
    except ImportError:
        raise InvalidParameter(NEEDED) from None
    if tuple(map(int, duckdb.__version__.split(".")[:2])) < (1, 5):
        raise InvalidParameter(
            f"tables need duckdb 1.5 or newer, not {duckdb.__version__}: pip install 'adaline-learn[app]'"
        )
    scratch = mkdtemp(prefix="adaline-")  # one that DuckDB makes could be read by everyone
    connection = duckdb.connect(config=SETTINGS | {"threads": threads(), "temp_directory": scratch})
    remove_with(connection, scratch)
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def read_query(sql: str, files: Sequence[str]) -> Any:
    """Return the result of a query that reads these files alone, as an Arrow table."""
    connection = _connect()
    confine(connection, files)
    return connection.sql(sql).to_arrow_table()


def confine(connection: Any, files: Sequence[str]) -> None:
    """Let a connection read these files alone from now on; neither a query nor a view in a database can change that."""
    for name in files:
        check_file_name(name)
    allowed = ", ".join(map(text, {*files, *map(escaped_wildcards, files)}))
    connection.execute(f"SET allowed_paths = [{allowed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
