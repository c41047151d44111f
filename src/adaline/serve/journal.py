"""The journal: rows in the order of their acknowledgement, on disk before that, in one SQLite file of a folder.

WAL mode with synchronous=FULL: a commit is on the disk when it returns, and a torn end of the log is a commit that
never returned. Rows are Arrow record batches; their schemas are kept once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

FILE = "journal.sqlite"


@dataclass(frozen=True)
class JournalBatch:
    """Rows that were sent together: `first` is the number of rows before them, `rows` an Arrow record batch."""

    id: int
    key: str | None
    first: int
    rows: Any

    @property
    def end(self) -> int:
        """Number of rows up to the last of these."""
        return self.first + int(self.rows.num_rows)


class Journal:
    """The batches of rows in a folder, made if it is not there.

    Parameters
    ----------
    path : the folder.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        raise NotImplementedError

    @property
    def end(self) -> int:
        """Number of rows that were ever written."""
        raise NotImplementedError

    def append(self, batches: Sequence[tuple[str | None, Any]]) -> list[int]:
        """Write (key, record batch) pairs in one commit, and return their ids; raise JournalFull if there is no room.

        Keys must be new: see `known`.
        """
        raise NotImplementedError

    def known(self, keys: Sequence[str]) -> dict[str, int]:
        """Return those of the keys that were written before, with the number of rows of each."""
        raise NotImplementedError

    def since(self, row: int) -> Iterator[JournalBatch]:
        """Iterate over the batches that have rows from number `row` on, in their order."""
        raise NotImplementedError

    def compact(self, upto: int) -> int:
        """Remove the rows of batches that end at row number `upto` or before; return how many. Keys are kept."""
        raise NotImplementedError

    def export(self, file: str | PathLike[str]) -> int:
        """Write all rows to a .jsonl, .csv or .parquet file; return how many."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""
        raise NotImplementedError
