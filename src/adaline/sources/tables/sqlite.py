"""SQLite files, copied into a temporary table of DuckDB, as their columns have no fixed types."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaline.errors import UnreadableTable
from adaline.lazy import pa
from adaline.leftovers import temporary_folder
from adaline.sources.tables.layout import check_names
from adaline.sources.tables.sql import QUERY, chosen_table, quoted, text

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
ROWS = 65536  # of a batch
KINDS = ("integer", "real", "text", "blob")  # of values, each wider than the one before
TYPES = ("BIGINT", "DOUBLE", "VARCHAR", "BLOB")
ARROW = ("int64", "float64", "string", "binary")


def copy_sqlite(connection: Any, name: str, table: str | None) -> TemporaryDirectory[str]:
    """Copy a table (or the result of a query) of a SQLite file into the table `copied`, batch by batch.

    The table lies in a file in the folder returned, and exists as long as that object.
    """
    folder = temporary_folder()
    connection.execute(f"ATTACH {text(folder.name + '/copied.duckdb')} AS scratch")
    connection.execute("USE scratch")
    try:
        with closing(sqlite3.connect(f"{Path(name).absolute().as_uri()}?mode=ro", uri=True)) as database:
            if table is not None and QUERY.match(table):
                query = table
            else:
                listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
                tables = [str(row[0]) for row in database.execute(listed)]
                query = f"SELECT * FROM {quoted(chosen_table(name, tables, table))}"
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute(f"CREATE TEMP VIEW asked AS {query}")  # which one SELECT can be, and nothing else
            database.set_authorizer(_allow)
            cursor = database.execute(query)
            names = [str(column[0]) for column in cursor.description]
            check_names(name, names)
            _fill(connection, names, _kinds(database, names), cursor)
    except BaseException as error:
        connection.execute("USE memory")
        connection.execute("DETACH scratch")
        folder.cleanup()
        if isinstance(error, sqlite3.Error):
            raise UnreadableTable(f"{name}: {error}") from None
        if isinstance(error, UnicodeError):  # of a name, or of a message of SQLite that quotes one
            raise UnreadableTable(f"{name} holds a name or a text that is not UTF-8: is it damaged?") from None
        raise
    return folder


def _allow(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Return whether a statement may do what SQLite asks about: read rows of tables, by functions without effects."""
    harmless = action != sqlite3.SQLITE_FUNCTION or second != "load_extension"
    return sqlite3.SQLITE_OK if action in READING and harmless else sqlite3.SQLITE_DENY


def _fill(connection: Any, names: list[str], kinds: list[int], cursor: sqlite3.Cursor) -> None:
    """Write the rows batch by batch, each column with the type of its kind."""
    listed = ", ".join(f"{quoted(name)} {TYPES[kind]}" for name, kind in zip(names, kinds, strict=True))
    connection.execute(f"CREATE TABLE copied ({listed})")
    while rows := cursor.fetchmany(ROWS):
        arrays = [
            pa.array([_as(value, kind) for value in column], type=getattr(pa, ARROW[kind])())
            for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
        ]
        connection.register("batch", pa.Table.from_arrays(arrays, names=names))
        connection.execute("INSERT INTO copied SELECT * FROM batch")
        connection.unregister("batch")


def _kinds(database: sqlite3.Connection, names: list[str]) -> list[int]:
    """Return the widest kind of value in each column, as an index in KINDS."""
    ranks = " ".join(f"WHEN '{word}' THEN {i}" for i, word in enumerate(KINDS))
    asked = ", ".join(f"max(CASE typeof({quoted(name)}) {ranks} END)" for name in names)
    return [int(kind or 0) for kind in database.execute(f"SELECT {asked} FROM asked").fetchone()]


def _as(value: Any, kind: int) -> Any:
    """Return a value as one of a kind that is at least as wide."""
    if value is None:
        return None
    if kind == 3:
        return value if isinstance(value, bytes) else str(value).encode()
    if kind == 2:
        return str(value)
    return float(value) if kind == 1 else value
