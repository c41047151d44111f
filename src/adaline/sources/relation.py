"""A table that can be read again and again by DuckDB: files, a query, a database, a frame.

Plain Parquet files are decoded by Arrow instead, a row group a thread, from a map of the file: 60 million rows of 20
columns take 2.7 s on two cores, where DuckDB's own sum of the columns takes 3.7 s, and its stream of batches 5.0 s.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import narwhals.stable.v1 as nw

from adaline.errors import InvalidParameter, UnreadableTable
from adaline.sources import sqlite
from adaline.sources.files import check_header, expanded, file_format
from adaline.sources.sql import QUERY, quoted, text, the_table
from adaline.sources.threads import threads

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?")
WHOLE_SAMPLE = 2**26  # bytes of text up to which all of it is looked at to find the types of its columns
ROW_GROUP_BYTES = 2**25  # of the numbers in a row group, beyond which it is decoded piece by piece

Run = Callable[[], Iterator[Any]]
Runs = Iterator[tuple[int, Run]]


class Relation:
    """Rows and columns behind a name: `title` is what the user gave, `schema` the DuckDB type of each column."""

    def __init__(self, data: Any, table: str | None = None) -> None:
        self.connection = _connect()
        self.files: list[str] = []
        self.parquet = False
        self.database = "memory"
        self.frame: Any = None
        frame = nw.from_native(data, pass_through=True, eager_only=True)
        if isinstance(frame, nw.DataFrame):
            self.title = "the frame"
            self.frame = frame.to_native() if frame.implementation.is_pandas() else frame.to_arrow()
            self.sql = "frame"
        elif isinstance(data, str) and QUERY.match(data):
            self.title = "the query"
            self.sql = f"({data.strip().rstrip(';')})"
        else:
            self._open_files(data, table)
        described = self.rows(f"DESCRIBE SELECT * FROM {self.sql}")
        self.schema: dict[str, str] = {str(name): str(kind) for name, kind, *_ in described}
        self.stamp = self.stamps()

    def rows(self, sql: str) -> list[Any]:
        """Return the result of a query; failures as one line."""
        with _Reporting(self.title):
            return list(self._cursor().execute(sql).fetchall())

    def runs(self, columns: Sequence[str], where: str, size: int) -> Runs:
        """Return all rows in order: runs of Arrow batches of about `size` rows, each with the number of its rows.

        A run is read by one thread; several runs may be read at a time.
        """
        if self.parquet and where == "TRUE":
            return self._row_groups(columns, size)
        return self._stream(columns, where, size)

    def count(self, where: str) -> int:
        """Return the number of rows."""
        return int(self.rows(f"SELECT count(*) FROM {self.sql} WHERE {where}")[0][0])

    def likely_rows(self) -> int | None:
        """Return about how many rows there are, where that can be told without reading them."""
        if self.parquet or not self.files:
            return self.count("TRUE") if self.parquet or self.frame is not None else None
        if any(name.endswith((".gz", ".zst")) for name in self.files):
            return None
        with open(self.files[0], "rb") as file:
            head = file.read(2**20)
        lines = head.count(b"\n")
        return int(self.size() / len(head) * lines) if lines else None

    def size(self) -> int:
        """Return the bytes of the files, compressed text counted eight times; 0 where there are none."""
        return sum(os.path.getsize(name) * (8 if name.endswith((".gz", ".zst")) else 1) for name in self.files)

    def stamps(self) -> list[tuple[int, int]]:
        """Return what shows that a file was changed: sizes and times."""
        return [(found.st_size, found.st_mtime_ns) for found in map(os.stat, self.files)]

    def value(self, column: str) -> str:
        """Return a column as SQL of a type that Arrow can hold: numbers as DOUBLE, texts and enums as VARCHAR."""
        kind, name = self.kind(column), quoted(column)
        wanted = {"text": "VARCHAR", "category": "VARCHAR", "date": "TIMESTAMP", "number": "DOUBLE"}.get(kind)
        if wanted is None or self.schema[column] in (wanted, "FLOAT"):
            return name
        return f"CAST({name} AS {wanted})"

    def kind(self, column: str) -> str:
        """Return "number", "boolean", "date", "category" (declared), "text" or "other"."""
        kind = self.schema[column]
        if re.match(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL)\b", kind) and not kind.endswith("]"):
            return "number"
        if re.match(r"(DATE|TIMESTAMP)", kind) and not kind.endswith("]"):
            return "date"
        if kind.startswith("ENUM("):
            return "category"
        return {"BOOLEAN": "boolean", "VARCHAR": "text", "UUID": "text"}.get(kind, "other")

    def absent(self, column: str) -> str:
        """Return SQL that is true where a value is missing: NULL, or NaN."""
        name = quoted(column)
        nan = f" OR isnan({name})" if self.schema[column] in ("DOUBLE", "FLOAT") else ""
        return f"({name} IS NULL{nan})"

    def _cursor(self) -> Any:
        """Return a connection of its own for one query, so that threads do not wait for each other."""
        cursor = self.connection.cursor()
        cursor.execute(f"USE {self.database}")
        if self.frame is not None:
            cursor.register("frame", self.frame)
        return cursor

    def _stream(self, columns: Sequence[str], where: str, size: int) -> Runs:
        chosen = ", ".join(f"{self.value(name)} AS {quoted(name)}" for name in columns) or "1"
        with _Reporting(self.title):
            reader = self._cursor().sql(f"SELECT {chosen} FROM {self.sql} WHERE {where}").to_arrow_reader(4 * size)
        for batch in _even(_reported(reader, self.title), size):
            yield batch.num_rows, partial(iter, [batch])

    def _row_groups(self, columns: Sequence[str], size: int) -> Runs:
        from pyarrow import parquet

        for name in self.files:
            with _Reporting(name):
                meta = parquet.read_metadata(name)
            for group in range(meta.num_row_groups):
                rows = meta.row_group(group).num_rows
                yield rows, partial(_row_group, name, meta, group, list(columns), size)

    def _open_files(self, data: Any, table: str | None) -> None:
        given = [data] if isinstance(data, str | os.PathLike) else data
        if not isinstance(given, list | tuple) or not given:
            raise InvalidParameter(f"cannot open {type(data).__name__}: give a path, a glob, a query or a frame")
        self.files = [name for one in given for name in expanded(os.fspath(one))]
        self.title = str(given[0]) if len(given) == 1 else f"{len(given)} files"
        kinds = {file_format(name) for name in self.files}
        if len(kinds) > 1:
            raise UnreadableTable(f"{self.title}: files of different kinds ({', '.join(sorted(kinds))}); open one kind")
        kind = kinds.pop()
        listed = "[" + ", ".join(map(text, self.files)) + "]"
        if kind == "parquet":
            self.sql, self.parquet = f"read_parquet({listed})", True
        elif kind == "json":
            self.sql = f"read_json({listed}, maximum_sample_files=32)"
        elif kind in ("duckdb", "sqlite"):
            self._attach(self.files[0], kind, table)
        else:
            for name in self.files:
                check_header(name)
            self.sql = f"read_csv({listed}, {self._dialect()})"

    def _dialect(self) -> str:
        """Return how the first file is written and what its columns hold, found once, as arguments of read_csv."""
        words = "nullstr=[" + ", ".join(map(text, MISSING_WORDS)) + "]"
        sample = "-1" if self.size() <= WHOLE_SAMPLE else "20480"
        first = text(self.files[0])
        found = self.rows(f"SELECT Prompt FROM sniff_csv({first}, header=true, {words}, sample_size={sample})")[0][0]
        dialect = str(found).removeprefix(f"FROM read_csv({first}, ").removesuffix(");")
        return dialect if "nullstr=" in dialect else f"{dialect}, {words}"

    def _attach(self, name: str, kind: str, table: str | None) -> None:
        if kind == "sqlite":
            self._scratch = sqlite.copied(self.connection, name, table)
            self.database, self.sql = "scratch", "copied"
            return
        self.rows(f"ATTACH {text(name)} AS given (READ_ONLY)")
        self.database = "given"
        if table is not None and QUERY.match(table):
            self.sql = f"({table.strip().rstrip(';')})"
            return
        held = [
            str(row[0]) for row in self.rows("SELECT table_name FROM duckdb_tables() WHERE database_name = 'given'")
        ]
        self.sql = quoted(the_table(name, held, table))


def _row_group(name: str, meta: Any, group: int, columns: list[str], size: int) -> Iterator[Any]:
    """Decode one row group, in pieces where it is large; the file is mapped only while that lasts."""
    import pyarrow as pa
    from pyarrow import parquet

    large = 8 * meta.row_group(group).num_rows * len(columns) > ROW_GROUP_BYTES
    with _Reporting(name), pa.memory_map(name) as mapped:
        file = parquet.ParquetFile(mapped, metadata=meta, pre_buffer=False)
        if large:
            yield from file.iter_batches(size, row_groups=[group], columns=columns, use_threads=False)
        else:
            yield file.read_row_group(group, columns=columns, use_threads=False)


def _even(batches: Iterator[Any], size: int) -> Iterator[Any]:
    """Cut and join batches to `size` rows each, so that how DuckDB cuts them changes no bit."""
    import pyarrow as pa

    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        while rows >= size:
            joined = pa.Table.from_batches(held)
            yield joined.slice(0, size)
            held = joined.slice(size).to_batches()
            rows -= size
    if rows:
        yield pa.Table.from_batches(held)


def _connect() -> Any:
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError:
        raise InvalidParameter("tables need duckdb and pyarrow: pip install 'adaline[app]'") from None
    connection = duckdb.connect()
    connection.execute(f"SET threads TO {threads()}")
    return connection


class _Reporting:
    """Turns failures of DuckDB and Arrow into one line that says where and what."""

    def __init__(self, title: str) -> None:
        self.title = title

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        import duckdb
        import pyarrow as pa

        if isinstance(error, duckdb.Error | pa.ArrowException | OSError) and not isinstance(error, UnreadableTable):
            raise UnreadableTable(f"{self.title}: {_one_line(str(error))}") from None


def _reported(batches: Iterator[Any], title: str) -> Iterator[Any]:
    with _Reporting(title):
        yield from batches


def _one_line(message: str) -> str:
    """Return what is wrong and where of DuckDB's pages of advice."""
    lines = [line.strip() for line in message.strip().splitlines() if line.strip()]
    first = lines[0] if lines else "cannot be read"
    where = re.search(r"CSV Error on Line: (\d+)", first)
    if where is None:
        return first
    what = next((line for line in lines[1:] if not line.startswith("Original Line")), "cannot be read")
    if "utf-8" in message:
        what = "not UTF-8 text; convert it first, for example by iconv -f latin1 -t utf-8"
    return f"line {where.group(1)}: {what}"
