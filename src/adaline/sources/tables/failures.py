"""Failures of DuckDB and Arrow as errors of one line that say what is wrong and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from tempfile import gettempdir
from typing import Any

from adaline.errors import AdalineError, UnreadableTable
from adaline.sources.tables.layout import NOT_UTF8
from adaline.wording import counted

PIPES = "adaline-pipe-"  # how the names of folders begin that hold what came through a pipe

Explain = Callable[[str | None], str | None]
"""From what is known of a failure, or None, to a better explanation, or None."""


class Reporting:
    """A context that turns failures of DuckDB and Arrow into UnreadableTable with one line.

    `given` are the names of files as the user gave them, by the paths of the copies that are read in their place.
    """

    def __init__(
        self, title: str, explain: Explain = lambda known: known, given: Mapping[str, str] | None = None
    ) -> None:
        self.title = title
        self.explain = explain
        self.given = {} if given is None else given

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, AdalineError) and (shown := self._as_given(str(error))) != str(error):
            raise type(error)(shown) from None
        if isinstance(error, AdalineError) or not (isinstance(error, OSError) or _foreign(kind)):
            return
        if isinstance(error, FileNotFoundError):
            raise UnreadableTable(f"{error.filename or self.title} is not there any more: open it again") from None
        message = self.explain(_one_line(str(error), self.title)) or f"{self.title}: {_first_line(str(error))}"
        raise UnreadableTable(self._as_given(message)) from None

    def _as_given(self, message: str) -> str:
        """Return a message in which copies have the names of what they are copies of, files or pipes."""
        for copy, name in self.given.items():
            message = message.replace(copy, name)
        return re.sub(re.escape(f"{gettempdir()}/{PIPES}") + r"\w+/(\w+)[.\w]*", r"\1", message)


def _foreign(kind: type | None) -> bool:
    """Whether an exception is one of DuckDB or Arrow, without importing them."""
    return any(
        base.__module__.partition(".")[0].strip("_") in ("duckdb", "pyarrow") for base in getattr(kind, "__mro__", ())
    )


def reported_batches(batches: Iterator[Any], reporting: Reporting) -> Iterator[Any]:
    """Yield batches; failures are reported in one line."""
    with reporting:
        yield from batches


def shorten(shown: str, most: int) -> str:
    """Return a text, cut after `most` characters."""
    return shown if len(shown) <= most else shown[:most] + "..."


def _first_line(message: str) -> str:
    lines = [line.strip() for line in message.strip().splitlines() if line.strip()]
    return lines[0][:250] if lines else "cannot be read"


def _one_line(message: str, title: str) -> str | None:
    """Return what is wrong and where, from DuckDB's messages on text files and on files not given; None for others."""
    if outside := re.search(
        r'Cannot access (?:file|directory) "(.*?)(/\*\*/\*\.\w+)?" - file system', message, re.DOTALL
    ):
        return (
            f"{title}: {shorten(outside.group(1), 150)!r} is not there, or was not given: only the files given are "
            "read, which a query names as tables: FROM 'rows.csv'"
        )
    if table := re.search(r"Table with name (.+?) does not exist", message):
        return (
            f"{title}: table {shorten(table.group(1), 150)} does not exist: name a table of the database, or without "
            "one a file: FROM 'rows.csv'"
        )
    where = re.search(r"CSV Error on Line: (\d+)", message)
    if where is None:
        return None
    file = re.search(r"^ *file = (.+)$", message, re.MULTILINE)
    name = file.group(1).strip() if file else title
    if longest := re.search(r"Maximum line size of (\d+) bytes exceeded", message):
        return (
            f"{name} has a line of more than {int(longest.group(1)):,} bytes: is it text? Write long values to Parquet"
        )
    where_text = f"{name}, line {where.group(1)}"
    if "utf-8" in message:
        return f"{where_text}: {NOT_UTF8}"
    if fields := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        has = counted(int(fields.group(2)), "value")
        return f"{where_text} has {has}, but there are {fields.group(1)} columns: correct that line"
    if value := re.search(r'converting column "(.*)"\. Could not convert string "(.*)" to \'(\w+)\'', message):
        what = "a number" if value.group(3) in ("DOUBLE", "BIGINT", "HUGEINT") else value.group(3)
        return f"{where_text}: column {value.group(1)!r} holds {value.group(2)[:40]!r}, not {what} like the others"
    if "quote" in message:
        return f"{where_text}: a quote is not closed, or something follows it: correct that line"
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.startswith("Original Line")]
    return f"{where_text}: {lines[1][:200] if len(lines) > 1 else 'cannot be read'}"
