"""SQLite files, copied into a temporary table of DuckDB: their columns have no fixed types, so each value is read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adaline.errors import UnreadableTable
from adaline.sources.sql import QUERY, quoted, text, the_table
from adaline.sources.text import check_names

ROWS = 65536


def copied(connection: Any, name: str, table: str | None) -> TemporaryDirectory[str]:
    """Copy a table (or the result of a query) of a SQLite file into the table `copied`, batch by batch.

    It lives in a file in the folder returned, as long as that is held.
    """
    folder = TemporaryDirectory(prefix="adaline-", ignore_cleanup_errors=True)
    connection.execute(f"ATTACH {text(folder.name + '/copied.duckdb')} AS scratch")
    connection.execute("USE scratch")
    try:
        with closing(sqlite3.connect(f"{Path(name).absolute().as_uri()}?mode=ro", uri=True)) as database:
            if table is not None and QUERY.match(table):
                query = table
            else:
                listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
                held = [str(row[0]) for row in database.execute(listed)]
                query = f"SELECT * FROM {quoted(the_table(name, held, table))}"
            cursor = database.execute(query)
            names = [str(column[0]) for column in cursor.description]
            check_names(name, names)
            _fill(connection, names, cursor)
    except BaseException as error:
        connection.execute("USE memory")
        connection.execute("DETACH scratch")
        folder.cleanup()
        if isinstance(error, sqlite3.Error):
            raise UnreadableTable(f"{name}: {error}") from None
        raise
    return folder


def _fill(connection: Any, names: list[str], cursor: sqlite3.Cursor) -> None:
    """Write batches, widening the type of a column when a batch needs it: BIGINT, DOUBLE, VARCHAR."""
    import pyarrow as pa

    ranks = [0] * len(names)
    created = False
    while rows := cursor.fetchmany(ROWS):
        columns = [list(column) for column in zip(*rows, strict=True)]
        found = [max((_rank(value) for value in column), default=0) for column in columns]
        if created and any(new > old for new, old in zip(found, ranks, strict=True)):
            for name, new, old in zip(names, found, ranks, strict=True):
                if new > old:
                    connection.execute(f"ALTER TABLE copied ALTER {quoted(name)} TYPE {TYPES[new]}")
        ranks = [max(new, old) for new, old in zip(found, ranks, strict=True)]
        arrays = [
            pa.array([_as(value, rank) for value in column], type=getattr(pa, ARROW[rank])())
            for column, rank in zip(columns, ranks, strict=True)
        ]
        connection.register("batch", pa.Table.from_arrays(arrays, names=names))
        verb = "INSERT INTO copied" if created else "CREATE TABLE copied AS"
        connection.execute(f"{verb} SELECT * FROM batch")
        connection.unregister("batch")
        created = True
    if not created:
        listed = ", ".join(f"{quoted(name)} BIGINT" for name in names)
        connection.execute(f"CREATE TABLE copied ({listed})")


TYPES = ("BIGINT", "DOUBLE", "VARCHAR", "BLOB")
ARROW = ("int64", "float64", "string", "binary")


def _rank(value: Any) -> int:
    return next((i for i, kind in enumerate((int, float, str)) if value is None or isinstance(value, kind)), 3)


def _as(value: Any, rank: int) -> Any:
    if value is None:
        return None
    if rank == 3:
        return value if isinstance(value, bytes) else str(value).encode()
    if rank == 2:
        return str(value)
    return float(value) if rank == 1 else value
