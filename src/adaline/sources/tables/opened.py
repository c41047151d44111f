"""What has been opened: where the rows of a table are, how SQL reads them, and how that was understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from adaline.sources.tables.copies import Copies
from adaline.sources.tables.database import Database
from adaline.sources.tables.text_files import TextFiles


@dataclass(frozen=True)
class Opened:
    """A table as it was opened.

    Parameters
    ----------
    title : what messages call it; `place`, with the views and macros of a database that a failure may be of.
    sql : what follows FROM; database : where that is run.
    files : the files that are read, copies among them; `watched` are those that may not change, as they were given.
    parquet : whether these are Parquet files.
    text : the files of text.
    frame : a frame in memory, as an Arrow table.
    declared : levels of the columns that a frame declares as categories; `ordered` are those that have an order.
    notes : how a file was understood, in sentences.
    totals : lines below the table with a cell for each column of the file, which are no rows.
    copies : of files that cannot be read as they are, and of pipes.
    integrity : a check of compressed files, which runs while they are first read.
    """

    title: str
    place: str
    sql: str
    database: Database
    files: Sequence[str] = ()
    watched: Sequence[str] = ()
    parquet: bool = False
    text: TextFiles | None = None
    frame: Any = None
    declared: Mapping[str, list[Any]] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    totals: tuple[tuple[str, ...], ...] = ()
    copies: Copies = field(default_factory=Copies)
    integrity: Future[None] | None = None
