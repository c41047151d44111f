"""Where queries of a table run: a connection of DuckDB that is confined to its files, and tables that it can name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from tempfile import mkdtemp
from typing import Any

from adaline.errors import InvalidParameter
from adaline.leftovers import remove_with
from adaline.locks import cached_property
from adaline.sources.tables.files import check_file_name, escaped_wildcards
from adaline.sources.tables.sql import text
from adaline.sources.threads import threads

SETTINGS: dict[str, Any] = {
    "allow_persistent_secrets": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
"""Of every connection: no extension, no password and no object of Python is found by its name in a query."""
NEEDED = "tables need duckdb and pyarrow: pip install 'adaline-learn[app]'"


class Connection:
    """A connection of DuckDB, made when a query needs it.

    Where `files` are given it reads these alone from the beginning; otherwise `confine` has to be called.
    """

    def __init__(self, files: Sequence[str] | None = None) -> None:
        self.files = files

    @cached_property
    def duckdb(self) -> Any:
        """The connection."""
        out = _connect()
        if self.files is not None:
            confine(out, self.files)
        return out

    def confine(self, files: Sequence[str]) -> None:
        """Let the connection read these files alone from now on."""
        confine(self.duckdb, files)


@dataclass(frozen=True)
class Database:
    """A connection, which tables with the same rows share.

    Parameters
    ----------
    name : the database whose tables queries name.
    tables : tables of Arrow by the names that queries have for them.
    folder : a folder of files of its own, which lasts as long as this.
    """

    connection: Connection
    name: str = "memory"
    tables: Mapping[str, Any] = field(default_factory=dict)
    folder: Any = None

    def cursor(self) -> Any:
        """Return a new connection for one query, so that threads do not wait for each other."""
        cursor = self.connection.duckdb.cursor()
        cursor.execute(f"USE {self.name}")
        for name, table in self.tables.items():
            cursor.register(name, table)
        return cursor

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of the result of a query."""
        return list(self.cursor().execute(sql).fetchall())

    def with_tables(self, tables: Mapping[str, Any]) -> Database:
        """Return the same database with more tables of Arrow."""
        return replace(self, tables={**self.tables, **tables})


def import_readers(name: str) -> None:
    """Import what reads a file, which is done otherwise when it is opened."""
    with suppress(ImportError):  # which opening a table reports
        import duckdb  # noqa: F401
        import pyarrow.compute

        if name.endswith(".parquet"):
            import pyarrow.parquet  # noqa: F401


def check_arrow() -> None:
    """Refuse to open a table where Arrow is missing."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InvalidParameter(NEEDED) from None


def _connect() -> Any:
    check_arrow()
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
