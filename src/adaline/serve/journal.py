"""The journal: rows in the order of their acknowledgement, on disk before that, in one SQLite file of a folder.

WAL mode with synchronous=FULL: a commit is on the disk when it returns, and a torn end of the log is a commit that
never returned. Rows are Arrow record batches, each under a checksum; their schemas are kept once. Rows are numbered
from zero, and keep their number when those before them are removed.

SQLite reads a log up to the first frame with a wrong checksum: a flipped bit would silently lose all later commits. So
each batch also has a checksum of itself and of the one before it, a chain. The number, the rows and the chain of the
last batch are kept in a separate file, which is written after each commit and compared when the journal is opened. That
file is not synced each time: after a power failure it may be behind, but never ahead.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from adaline.errors import InvalidParameter, JournalError, JournalFull
from adaline.lazy import pa
from adaline.serve.snapshots import make_folder, sync_folder
from adaline.storage.container import fcntl, replacing
from adaline.wording import counted

FILE, LOCK, COUNT = "journal.sqlite", "journal.lock", "journal.count"
VERSION, UNCHAINED = 4, 3  # the layout, and that before batches were chained
LAYOUT = f"""
CREATE TABLE schemas (id INTEGER PRIMARY KEY, arrow BLOB NOT NULL UNIQUE);
CREATE TABLE batches (id INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, rows INTEGER NOT NULL,
    schema INTEGER NOT NULL REFERENCES schemas, payload BLOB, crc INTEGER NOT NULL, chain INTEGER NOT NULL);
CREATE TABLE keys (key TEXT PRIMARY KEY, rows INTEGER NOT NULL, crc INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE progress (model TEXT PRIMARY KEY, rows INTEGER NOT NULL, error REAL NOT NULL, recent_error REAL NOT NULL,
    loss REAL NOT NULL, recent_loss REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE versions (model TEXT PRIMARY KEY, snapshot INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX first_rows ON batches (first);
PRAGMA user_version = {VERSION};
"""
"""`batches` has the rows, and the number of rows before each batch. `keys` has the keys of batches that have one, with
a checksum of their rows; they are kept when batches are removed. `progress` has the progressive errors and losses of
the models that learn from the rows; `versions` has the snapshot with which a model that replaced another one began."""
PRIVATE_MODE = 0o600  # mode of the files
KEYS_A_QUERY = 500  # keys that one query looks for; SQLite limits the parameters of a query
FULL = "full"  # in the message of SQLite where there is no room


class LastBatch(NamedTuple):
    """The last batch that was written: its id, the number of rows up to its end, and its chain."""

    id: int = 0
    end: int = 0
    chain: int = 0


LAST = "SELECT id, first + rows, {} FROM batches ORDER BY id DESC LIMIT 1"
RECORD = struct.Struct("<8s3QI")  # of the file of the count: a mark, the last batch, and their checksum
MARK = b"adaline1"


class ErrorTotals(NamedTuple):
    """Errors and losses of the rows that a model predicted before it learned them: sums, and means of the last ones."""

    rows: int = 0
    error: float = 0.0
    recent_error: float = 0.0
    loss: float = 0.0
    recent_loss: float = 0.0


@dataclass(frozen=True)
class JournalBatch:
    """Rows that were written together: `first` is the number of rows before them, `rows` an Arrow record batch."""

    id: int
    first: int
    rows: Any

    @property
    def end(self) -> int:
        """Number of rows up to the last of these."""
        return self.first + int(self.rows.num_rows)


class Journal:
    """The batches of rows in a folder.

    Parameters
    ----------
    path : the folder, made if it is not there.
    writes : whether batches are written, by this process alone; others can read meanwhile.
    new : whether a journal that is written is made where there is none.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from adaline.serve import Journal
    >>> with tempfile.TemporaryDirectory() as folder, Journal(folder, writes=True) as journal:
    ...     two, one = pa.record_batch({"a": [1.0, 2.0]}), pa.record_batch({"a": [3.0]})
    ...     ids = journal.append([("order 17", two), (None, one)])
    ...     known = journal.known(["order 17", "order 18"])
    ...     print(journal.end, known["order 17"][0], "order 18" in known, [batch.first for batch in journal.since(2)])
    3 2 False [2]
    """

    def __init__(self, path: str | PathLike[str], writes: bool = False, new: bool = True) -> None:
        self.path = Path(path)
        file = self.path / FILE
        self._lock, self._guard = RLock(), -1
        if not (writes and new) and not file.is_file():
            raise JournalError(f"{self.path}: there is no journal here")
        if writes:
            make_folder(self.path)
            self._guard = _guarded(self.path / LOCK)
            _make_private(file)
        self._last_schema: tuple[Any, int] | None = None
        self._chain = "chain"  # the column, or what stands for it
        self._count: Any = None  # the open file of the count, of one who writes
        try:
            self._refuse_loss(file)
            self._open(file, writes)
        except BaseException:
            self.close()
            raise

    def _open(self, file: Path, writes: bool) -> None:
        mode = "rwc" if writes else "rw"
        self._base = sqlite3.connect(f"{file.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
        self._base.isolation_level = None  # transactions are begun and ended here
        with self._told():
            found = self._base.execute("PRAGMA user_version").fetchone()[0]
            if not found and writes:
                self._base.execute("PRAGMA journal_mode = WAL")
                with self._transaction():
                    for statement in filter(str.strip, LAYOUT.split(";")):
                        self._base.execute(statement)
            elif found == UNCHAINED and writes:
                self._chain_all()
            elif found not in (VERSION, UNCHAINED):
                raise JournalError(f"{file} is no journal of this version of adaline")
            self._base.execute("PRAGMA synchronous = FULL")
            if found == UNCHAINED and not writes:
                self._chain = "NULL"  # read without the chain; the next writer adds it
            self._last = LastBatch(*(self._base.execute(LAST.format(self._chain)).fetchone() or ()))
            if writes:
                self._begin_count()
                sync_folder(self.path)

    def _refuse_loss(self, file: Path) -> None:
        """Refuse a journal that has fewer batches than were counted; its log is left as it is, to be restored."""
        known = _read_count(self.path / COUNT)  # first, as another process may be writing
        if known is None:
            return
        base = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)  # which never writes the log back
        try:
            with self._told():
                version, last, chain = base.execute("PRAGMA user_version").fetchone()[0], LastBatch(), None
                if version == VERSION:
                    last = LastBatch(*(base.execute(LAST.format(self._chain)).fetchone() or ()))
                    chain = base.execute("SELECT chain FROM batches WHERE id = ?", (known.id,)).fetchone()
                elif version:  # that of another layout
                    return
        finally:
            base.close()
        remedy = f"Restore the journal from a copy, or remove {COUNT} to continue without them."
        if last.id < known.id:
            lost = counted(known.end - last.end) if known.end > last.end else "a change of the model"
            raise JournalError(f"{self.path}: damaged, and {lost} that had been acknowledged cannot be read. {remedy}")
        if chain is not None and chain[0] != known.chain:
            raise JournalError(f"{self.path}: the last rows differ from the rows that were acknowledged. {remedy}")

    def _chain_all(self) -> None:
        """Chain the batches of a journal of the version before."""
        with self._transaction():
            self._base.execute("ALTER TABLE batches ADD COLUMN chain INTEGER NOT NULL DEFAULT 0")
            chain = 0
            found = self._base.execute("SELECT id, first, rows, schema, crc FROM batches ORDER BY id").fetchall()
            for id, *entry in found:
                chain = _chained(chain, *entry)
                self._base.execute("UPDATE batches SET chain = ? WHERE id = ?", (chain, id))
            self._base.execute(f"PRAGMA user_version = {VERSION}")

    def _begin_count(self) -> None:
        """Open the file of the count, and bring it to the disk as it is now."""
        path = self.path / COUNT
        _make_private(path)
        self._count = path.open("r+b", buffering=0)
        self._keep_count()
        os.fsync(self._count.fileno())

    def _keep_count(self) -> None:
        """Write down what is in the journal; a file system without room for it leaves it behind."""
        record = RECORD.pack(MARK, *self._last, 0)
        with suppress(OSError):
            self._count.seek(0)
            self._count.write(record[:-4] + crc32(record[:-4]).to_bytes(4, "little"))

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def end(self) -> int:
        """Number of rows that were ever written."""
        return self._last.end

    @property
    def begin(self) -> int:
        """Number of the first row that is still there; `end` where there is none."""
        with self._lock, self._told():
            found = self._base.execute("SELECT min(first) FROM batches WHERE payload IS NOT NULL").fetchone()[0]
        return self._last.end if found is None else int(found)

    def append(
        self,
        batches: Sequence[tuple[str | None, Any]],
        progress: Mapping[str, ErrorTotals] | None = None,
        keys: Mapping[str, tuple[int, int]] | None = None,
        versions: Mapping[str, int] | None = None,
    ) -> list[int]:
        """Write (key, record batch) pairs in one commit, and return their ids; raise JournalFull if there is no room.

        Keys must be new: see `known`; `keys` are further ones, with the number of rows and the checksum of each, where
        a batch has what came under several. `progress` has the errors of models by name, `versions` the snapshots with
        which models begin. Where it raises, nothing was written.
        """
        ids, last, schema = [], self._last, self._last_schema
        with self._lock, self._told(), self._transaction():
            for key, rows in batches:
                count, payload = int(rows.num_rows), rows.serialize()
                if schema is None or not rows.schema.equals(schema[0]):
                    schema = rows.schema, self._schema_id(rows.schema)
                last = self._insert(last, count, schema[1], memoryview(payload))
                if key is not None:
                    self._base.execute("INSERT INTO keys VALUES (?, ?, ?)", (key, count, checksum(rows)))
                ids.append(last.id)
            if not batches and (keys or versions):
                last = self._insert(last, 0, 0, b"")  # which is counted, and holds no rows
            for key, known in (keys or {}).items():
                self._base.execute("INSERT INTO keys VALUES (?, ?, ?)", (key, *known))
            for pair in (versions or {}).items():
                self._base.execute("INSERT OR REPLACE INTO versions VALUES (?, ?)", pair)
            for name, numbers in (progress or {}).items():
                self._base.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?, ?)", (name, *numbers))
        self._last, self._last_schema = last, schema
        self._keep_count()
        return ids

    def _insert(self, last: LastBatch, rows: int, schema: int, payload: Any) -> LastBatch:
        """Write a batch after the last one."""
        entry = last.end, rows, schema, crc32(payload)
        chain = _chained(last.chain, *entry)
        written = self._base.execute(
            "INSERT INTO batches (first, rows, schema, crc, payload, chain) VALUES (?, ?, ?, ?, ?, ?)",
            (*entry, payload, chain),
        )
        return LastBatch(int(written.lastrowid or 0), last.end + rows, chain)

    def check_room(self, size: int) -> None:
        """Write `size` bytes and remove them again; raise JournalFull if there is no room for them."""
        with self._lock, self._told():
            with self._transaction():
                self._base.execute("DROP TABLE IF EXISTS room")
                self._base.execute("CREATE TABLE room (filler BLOB)")
                self._base.execute("INSERT INTO room VALUES (zeroblob(?))", (size,))
            with self._transaction():
                self._base.execute("DROP TABLE room")

    def progress(self, name: str) -> ErrorTotals:
        """Return the errors of a model; zeros where there are none."""
        with self._lock, self._told():
            asked = "SELECT rows, error, recent_error, loss, recent_loss FROM progress WHERE model = ?"
            found = self._base.execute(asked, (name,)).fetchone()
        return ErrorTotals(*(found or ()))

    def begun(self, name: str) -> int:
        """Return the number of the snapshot with which a model took the place of another; 0 where none did."""
        with self._lock, self._told():
            found = self._base.execute("SELECT snapshot FROM versions WHERE model = ?", (name,)).fetchone()
        return int(found[0]) if found else 0

    def known(self, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return those of the keys that were written before, with the number of rows and the checksum of each."""
        out: dict[str, tuple[int, int]] = {}
        with self._lock, self._told():
            for first in range(0, len(keys), KEYS_A_QUERY):
                some = keys[first : first + KEYS_A_QUERY]
                asked = f"SELECT key, rows, crc FROM keys WHERE key IN ({', '.join('?' * len(some))})"
                out.update((key, (rows, crc)) for key, rows, crc in self._base.execute(asked, some))
        return out

    def since(self, row: int) -> Iterator[JournalBatch]:
        """Iterate over the batches that have rows from number `row` on, in their order; refuse damaged ones."""
        if row < self.begin:
            raise JournalError(f"{self.path}: rows before number {self.begin} were removed, and {row} is needed")
        schemas: dict[int, Any] = {}
        with self._lock, self._told():
            asked = "SELECT coalesce(max(id), 0) FROM batches WHERE first <= ? AND rows > 0"
            last = self._base.execute(asked, (row,)).fetchone()[0] - 1
            asked = f"SELECT {self._chain} FROM batches WHERE id = ?"
            before = self._base.execute(asked, (last,)).fetchone()
        chain = before[0] if before else None if last else 0  # None where the batch before was removed
        emptied = False  # whether compaction removed the rows of the last batch
        while True:
            with self._lock, self._told():
                columns = f"id, first, rows, schema, crc, payload, {self._chain}"
                asked = f"SELECT {columns} FROM batches WHERE id > ? ORDER BY id LIMIT ?"
                found = self._base.execute(asked, (last, KEYS_A_QUERY)).fetchall()
            for id, first, rows, schema, crc, payload, own in found:
                if emptied and id > last + 1:  # a later compaction removed the batches in between
                    chain = None
                follows = chain is None or own is None or _chained(chain, first, rows, schema, crc) == own
                last, chain, emptied = id, own, payload is None
                if follows and (first + rows <= row or not rows):
                    continue
                if not follows or crc32(payload) != crc:
                    raise JournalError(
                        f"{self.path}: batch {last} of the journal (rows {first} to {first + rows - 1}) is damaged: "
                        f"{counted(self.end - first)} from there on cannot be read. Restore the journal from a copy."
                    )
                if schema not in schemas:
                    schemas[schema] = self._schema(schema)
                yield JournalBatch(last, first, pa.ipc.read_record_batch(pa.py_buffer(payload), schemas[schema]))
            if len(found) < KEYS_A_QUERY:
                return

    def compact(self, upto: int) -> int:
        """Remove the batches that end at row number `upto` or before, and return how many rows; keys are kept."""
        with self._lock, self._told():
            with self._transaction():
                keep = self._base.execute("SELECT max(id) FROM batches").fetchone()[0]  # tells the number of rows
                there = "FROM batches WHERE first + rows <= ? AND payload IS NOT NULL"
                gone = self._base.execute(f"SELECT coalesce(sum(rows), 0) {there}", (upto,)).fetchone()[0]
                self._base.execute("DELETE FROM batches WHERE first + rows <= ? AND id < ?", (upto, keep))
                self._base.execute("UPDATE batches SET payload = NULL WHERE first + rows <= ?", (upto,))
            self._base.execute("VACUUM")
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(gone)

    def export(self, file: str | PathLike[str]) -> int:
        """Write all rows that are there to a .jsonl, .csv or .parquet file; return how many."""
        write = WRITERS.get(Path(file).suffix.lower())
        if write is None:
            raise InvalidParameter(f"cannot tell what to write from the name {file}: end it in {' or '.join(WRITERS)}")
        with replacing(file) as temporary:
            return write(temporary, (batch.rows for batch in self.since(self.begin)))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if hasattr(self, "_base"):
                self._base.close()
            if self._count is not None:
                self._count.close()
                self._count = None
            if self._guard >= 0:
                os.close(self._guard)
                self._guard = -1

    def _schema_id(self, schema: Any) -> int:
        """Return the id of a schema, which is written if it is new."""
        text = schema.serialize().to_pybytes()
        found = self._base.execute("SELECT id FROM schemas WHERE arrow = ?", (text,)).fetchone()
        if found is None:
            return int(self._base.execute("INSERT INTO schemas (arrow) VALUES (?)", (text,)).lastrowid or 0)
        return int(found[0])

    def _schema(self, id: int) -> Any:
        with self._lock, self._told():
            text = self._base.execute("SELECT arrow FROM schemas WHERE id = ?", (id,)).fetchone()[0]
        return pa.ipc.read_schema(pa.py_buffer(text))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Make the block a transaction: all of it is on the disk at its end, or none."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                with suppress(sqlite3.Error):
                    self._base.execute("ROLLBACK")
            raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise what SQLite refuses as errors of the journal."""
        try:
            yield
        except sqlite3.Error as error:
            if FULL in str(error) or "disk I/O" in str(error):
                raise JournalFull(f"{self.path}: there is no room for more rows ({error})") from None
            raise JournalError(f"{self.path}: the journal cannot be used: {error}") from None


def _chained(before: int, first: int, rows: int, schema: int, crc: int) -> int:
    """Return the checksum of a batch and of the chain before it."""
    return crc32(struct.pack("<5q", before, first, rows, schema, crc))


def _read_count(path: Path) -> LastBatch | None:
    """Return the last batch that was counted; None where there is no count."""
    try:
        record = path.read_bytes()
    except FileNotFoundError:
        return None
    if not record:  # it was being made
        return None
    if len(record) != RECORD.size or crc32(record[:-4]).to_bytes(4, "little") != record[-4:] or record[:8] != MARK:
        raise JournalError(f"{path} is damaged. Remove it: the next start then cannot detect rows that are lost.")
    return LastBatch(*RECORD.unpack(record)[1:4])


def _open_private(path: Path, new: bool = True) -> int:
    """Return an open file that its owner alone may read, made where there is none; refuse links and devices."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | (os.O_CREAT if new else 0)
    try:
        opened = os.open(path, flags, PRIVATE_MODE)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise JournalError(f"{path} cannot be opened: {error.strerror}. Use another folder for the journal.") from None
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode):
        os.close(opened)
        raise JournalError(f"{path} is no regular file. Use another folder for the journal.")
    if os.name == "posix" and found.st_uid == os.geteuid():
        os.fchmod(opened, PRIVATE_MODE)
    return opened


def _make_private(path: Path) -> None:
    """Make a file where there is none, and let its owner alone read it, and what SQLite keeps beside it."""
    os.close(_open_private(path))
    for end in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.close(_open_private(Path(f"{path}{end}"), new=False))


def checksum(rows: Any) -> int:
    """Return a checksum of the values of a record batch, however they lie in memory."""
    found = int(rows.num_rows)
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        plain = pa.types.is_float64(column.type) and not column.null_count
        values = np.from_dlpack(column).tobytes() if plain else repr(column.to_pylist()).encode("utf-8", "replace")
        found = crc32(values, crc32(name.encode(), found))
    return found


def _guarded(path: Path) -> int:
    """Return an open file that this process alone has locked; refuse where another has."""
    held = _open_private(path)
    if fcntl is not None:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(held)
            raise JournalError(f"{path.parent}: another process is writing to this journal") from None
    return held


def _write_json_lines(file: str, batches: Iterator[Any]) -> int:
    import json

    count = 0
    with open(file, "w", encoding="utf-8") as out:
        for batch in batches:
            for row in batch.to_pylist():
                out.write(json.dumps({name: _plain_json(value) for name, value in row.items()}) + "\n")
            count += batch.num_rows
    return count


def _plain_json(value: Any) -> Any:
    """Return a value of a row for JSON: what is missing as null, dates as text."""
    if value != value:
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


def _write_csv(file: str, batches: Iterator[Any]) -> int:
    return _write_tables(batches, lambda schema: pa.csv.CSVWriter(file, schema))


def _write_parquet(file: str, batches: Iterator[Any]) -> int:
    return _write_tables(batches, lambda schema: pa.parquet.ParquetWriter(file, schema))


def _write_tables(batches: Iterator[Any], opened: Callable[[Any], Any]) -> int:
    """Write batches of one schema, joined to larger ones, by a writer of Arrow; return how many rows."""
    count, out, kept = 0, None, []
    for batch in batches:
        if out is None:
            schema = batch.schema
            out = opened(schema)
        if batch.schema != schema:
            out.close()
            raise InvalidParameter("the rows of the journal have different columns over time: export them as .jsonl")
        kept.append(batch)
        if len(kept) == KEYS_A_QUERY:
            out.write_table(pa.Table.from_batches(kept).combine_chunks())
            kept = []
        count += batch.num_rows
    if out is None:
        raise InvalidParameter("the journal has no rows to export")
    if kept:
        out.write_table(pa.Table.from_batches(kept).combine_chunks())
    out.close()
    return count


WRITERS = {".jsonl": _write_json_lines, ".csv": _write_csv, ".parquet": _write_parquet}
"""What writes rows to a file, by its ending."""
