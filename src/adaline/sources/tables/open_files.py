"""Opening a table, whatever it is: a frame, a query, or files of one kind, unpacked and copied where need be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from adaline.errors import InvalidParameter, UnreadableTable
from adaline.lazy import nw, pa
from adaline.sources.tables import sqlite
from adaline.sources.tables.archives import KINDS, unpack
from adaline.sources.tables.copies import Copies
from adaline.sources.tables.database import Connection, Database
from adaline.sources.tables.failures import Reporting
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import (
    are_small,
    check_file_name,
    escaped_wildcards,
    expand_glob,
    file_format,
    query_files,
)
from adaline.sources.tables.frames import as_arrow, as_frame, declared_levels
from adaline.sources.tables.json_columns import write_rows
from adaline.sources.tables.layout import check_names
from adaline.sources.tables.open_text import TextOpening, integrity_of
from adaline.sources.tables.opened import Opened
from adaline.sources.tables.pipes import Pipe, arrow_as_parquet, is_pipe, open_pipe, pipe_title, spool
from adaline.sources.tables.sparse_files import sparse_suffix
from adaline.sources.tables.spreadsheets import write_sheet
from adaline.sources.tables.sql import QUERY, chosen_table, is_query, names_used, quoted, subquery, text
from adaline.sources.tables.statistics_files import write_statistics_file
from adaline.sources.tables.text import SAMPLE, arrow_kind, check_same_kinds, number_type

MOST_SAMPLED_FILES = 1024  # of JSON, from which the types of columns are found


def open_given(data: Any, options: FileOptions, keeps_totals: bool) -> Opened:
    """Return a table as it is opened: a frame, a query, or files by their names."""
    frame = as_frame(data)
    if frame is not None:
        levels, arrow = declared_levels(frame), as_arrow(frame)
        ordered = frozenset(name for name in levels if nw.is_ordered_categorical(frame[name]))
        connection = Connection([])
        database = Database(connection, tables={"frame": arrow})
        return Opened("the frame", "the frame", "frame", database, frame=arrow, declared=levels, ordered=ordered)
    if isinstance(data, str) and is_query(data):
        return _open_query(data)
    given = [data] if isinstance(data, str | os.PathLike | Pipe) else data
    if (
        not isinstance(given, list | tuple)
        or not given
        or not all(isinstance(one, str | os.PathLike | Pipe) for one in given)
    ):
        raise InvalidParameter(f"cannot open {type(data).__name__}: give a path, a glob, a query or a frame")
    names = [one if isinstance(one, Pipe) else os.fsdecode(one) for one in given]
    title, copies = f"{len(names)} files" if len(names) > 1 else pipe_title(names[0]), Copies()
    with Reporting(title, given=copies.given):
        return FileOpening(title, options, copies).open(names, keeps_totals)


def _open_query(sql: str) -> Opened:
    """Return a query on files that it names as tables."""
    title, connection = "the query", Connection()
    check_file_name(sql)
    with Reporting(title):
        table = subquery(connection.duckdb, sql, title)
        files, patterns = query_files(names_used(connection.duckdb, sql, "catalog_name", "schema_name", "table_name"))
    connection.confine([*files, *patterns])
    opened = Opened(title, title, table, Database(connection), watched=files)
    with Reporting(title):
        described = opened.database.rows(f"DESCRIBE {table}")
    check_names(title, [str(name) for name, *_ in described])
    return opened


class FileOpening:
    """Files while they are opened, with notes on how they were understood so far."""

    def __init__(self, title: str, options: FileOptions, copies: Copies) -> None:
        self.title, self.options, self.copies = title, options, copies
        self.notes: tuple[str, ...] = ()

    def open(self, names: Sequence[str | Pipe], keeps_totals: bool) -> Opened:
        """Return files as one table; they must be of one kind."""
        watched: list[str] = []
        for name in names:
            if isinstance(name, str) and not is_pipe(name):
                watched += expand_glob(name)
                continue
            pipe = open_pipe(name) if isinstance(name, str) else name
            watched.append(spool(pipe, self.copies.new(pipe.title, pipe.suffix)))
        files = [self._unpacked(name) for name in watched]
        if sparse := [name for name in files if sparse_suffix(name)]:
            raise UnreadableTable(
                f"{sparse[0]} holds sparse rows, without names of columns: open_table reads it, and adaline fit, "
                "select, predict, score and update; use one of these"
            )
        kinds = {file_format(name) for name in files}
        if len(kinds) > 1:
            raise UnreadableTable(f"{self.title}: files of different kinds ({', '.join(sorted(kinds))}); open one kind")
        kind = kinds.pop()
        if kind == "text":
            return TextOpening(self.title, files, self.options, self.copies, keeps_totals).open(watched, self.notes)
        if kind == "json":
            return self._open_json(files, watched)
        if kind in ("parquet", "arrow"):  # the second is not read by DuckDB
            copied = kind == "arrow"
            read = [arrow_as_parquet(name, self.copies.new(name, ".parquet")) if copied else name for name in files]
            return self._open_parquet(read, watched)
        if len(files) > 1:
            raise UnreadableTable(f"{self.title}: open one database at a time")
        return self._open_sqlite(files[0], watched) if kind == "sqlite" else self._open_duckdb(files[0], watched)

    def _unpacked(self, name: str) -> str:
        """Return a file, or a copy of what it holds where it is packed, a spreadsheet, or of a statistics program."""
        kind = file_format(name)
        if kind in KINDS:
            return self._unpacked(unpack(name, kind, self.copies))
        if kind == "sheet":
            copy = self.copies.new(name, ".csv")
            self.notes = (*self.notes, *write_sheet(name, self.options.sheet, copy))
            return copy
        if kind == "statistics":
            copy = self.copies.new(name, ".parquet")
            write_statistics_file(name, Path(name).suffix[1:].lower(), self.options.encoding, copy)
            return copy
        return name

    def _opened(
        self, sql: str, database: Database, files: Sequence[str], watched: Sequence[str], **known: Any
    ) -> Opened:
        """Return files that SQL reads as one table."""
        place = known.pop("place", self.title)
        notes, copies = self.notes, self.copies
        return Opened(self.title, place, sql, database, files, watched, notes=notes, copies=copies, **known)

    def _open_parquet(self, files: Sequence[str], watched: Sequence[str]) -> Opened:
        """Return Parquet files; refuse those whose columns differ."""
        for name in files:
            check_file_name(name)
        first = None
        for name in files:
            with Reporting(name):
                schema = pa.parquet.read_schema(name)
            check_names(name, schema.names)
            if first is None:
                first = schema
            elif not schema.equals(first):
                kinds, others = ({field.name: arrow_kind(field.type) for field in one} for one in (first, schema))
                check_same_kinds(files[0], kinds, name, others)
        sql = f"read_parquet({_listed(files)}, hive_partitioning=false)"
        return self._opened(sql, Database(Connection(files)), files, watched, parquet=True)

    def _open_json(self, files: Sequence[str], watched: Sequence[str]) -> Opened:
        """Return JSON files; types are found once, and integers not all of which were read are DOUBLE."""
        integrity, small = integrity_of(files), are_small(files)
        if small:
            files = [self._in_rows(name) for name in files]
        database = Database(Connection(files))
        sample = "sample_size=-1" if small else f"sample_size={SAMPLE}"
        limits = f"maximum_sample_files={MOST_SAMPLED_FILES}, hive_partitioning=false"
        sql = f"read_json({_listed(files)}, {sample}, {limits})"
        if not small or len(files) > MOST_SAMPLED_FILES:
            with Reporting(self.title, lambda known: damage_of(integrity) or known, self.copies.given):
                columns = database.rows(f"DESCRIBE SELECT * FROM {sql}")
            types = ", ".join(f"{text(str(name))}: {text(number_type(str(kind), False))}" for name, kind, *_ in columns)
            sql = f"read_json({_listed(files)}, columns={{{types}}}, hive_partitioning=false)"
        return self._opened(sql, database, files, watched, integrity=integrity)

    def _in_rows(self, name: str) -> str:
        """Return a JSON file, or a copy in rows where it is one object of columns."""
        copy = self.copies.new(name, ".json")
        note = write_rows(name, copy)
        if note is not None:
            self.notes = (*self.notes, note) if note else self.notes
            return copy
        del self.copies.given[copy]
        return name

    def _open_sqlite(self, name: str, watched: Sequence[str]) -> Opened:
        """Return a table of a SQLite file, copied."""
        connection = Connection()
        folder = sqlite.copy_sqlite(connection.duckdb, name, self.options.table)
        connection.confine([name])
        return self._opened("copied", Database(connection, "scratch", folder=folder), [name], watched)

    def _open_duckdb(self, name: str, watched: Sequence[str]) -> Opened:
        """Return a table of a DuckDB file; `place` names the views and macros that it or the query consists of."""
        table, connection = self.options.table, Connection()
        connection.confine([name, f"{name}.wal"])
        with Reporting(self.title, given=self.copies.given):
            Database(connection).rows(f"ATTACH {text(name)} AS given (READ_ONLY)")
            database = Database(connection, "given")
            if table is not None and QUERY.match(table):
                check_file_name(table)
                sql = subquery(connection.duckdb, table, self.title)
            else:
                tables = {
                    str(name) if schema == "main" else f"{schema}.{name}": f"{quoted(schema)}.{quoted(name)}"
                    for schema, name in database.rows(
                        "SELECT table_schema, table_name FROM information_schema.tables "
                        "WHERE table_catalog = 'given' ORDER BY ALL"
                    )
                }
                sql = tables[chosen_table(name, list(tables), table)]
            place = self.title
            for kind, catalog, used_as in (("view", "view", "table"), ("macro", "function", "function")):
                listed = f"SELECT {catalog}_name FROM duckdb_{catalog}s() WHERE database_name = 'given' ORDER BY ALL"
                used = names_used(connection.duckdb, f"SELECT * FROM {sql}", f"{used_as}_name")
                known = {word.lower() for word in used}
                place += "".join(f", {kind} {word!r}" for (word,) in database.rows(listed) if word.lower() in known)
        return self._opened(sql, database, [name], watched, place=place)


def damage_of(integrity: Future[None] | None) -> str | None:
    """Return what a check of compressed files has found; waits for its end."""
    error = None if integrity is None else integrity.exception()
    return None if error is None else str(error)


def _listed(files: Sequence[str]) -> str:
    """Return files as a list of SQL."""
    return "[" + ", ".join(text(escaped_wildcards(name)) for name in files) + "]"
