"""Tables that come through a pipe, standard input or a named one: told by their content, kept in a private file."""

from __future__ import annotations

import io
import json
import os
import re
import select
import shutil
import stat
import sys
import time
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import UnreadableTable
from adaline.lazy import pa
from adaline.leftovers import temporary_folder
from adaline.sources.tables.batches import rechunked
from adaline.sources.tables.boxes import is_boxed
from adaline.sources.tables.failures import PIPES, Reporting
from adaline.sources.tables.files import ARROW_STREAM, told_format
from adaline.sources.tables.layout import FIXED, SPACES, OtherEncoding, is_value, parsed_rows, read_layout
from adaline.wording import file_name

STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
TRIES = 20  # to find the writer of a named pipe, a hundredth of a second apart
ROWS = 2**17  # of a row group
LINE = "line"  # key of the metadata of a table that holds the line of its first row
LONGEST = 2**26  # bytes of a row that comes through a pipe
PIECE = 2**22  # bytes of rows that are read together as they come
HEAD = 2**16  # bytes from which the format is recognised
OBJECTS = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*\{)')  # how JSON begins
LIBSVM = re.compile(rb"\s*[-+]?[\d.]+(e[-+]?\d+)?[ \t]+(qid:\d+[ \t]+)?\d+:[-+]?[\d.]", re.IGNORECASE)  # 1 3:0.5
VW = re.compile(rb"\s*[-+]?[\d.]+([ \t]+[\d.]+){0,2}[ \t]+('[^ \t|]*)?\|")  # 1 |a x, 1 2.0 'tag|a x
PLAIN = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|\d{4}-\d\d-\d\d([ T][\d:.]+(Z|[-+]\d\d:?\d\d)?)?")
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class Pipe:
    """An open pipe: its name in messages, its first bytes, and the file that the bytes after them are read from."""

    title: str
    head: bytes
    rest: Any

    @property
    def suffix(self) -> str:
        """How the name of a file must end that holds this; formats that their first bytes tell need no name."""
        return suffix_of(self.head)


def is_pipe(name: str) -> bool:
    """Whether a name stands for standard input, or for a named pipe."""
    try:
        return name in STDIN or stat.S_ISFIFO(os.stat(name).st_mode)
    except (OSError, ValueError):
        return False


def pipe_title(name: str | Pipe) -> str:
    """Return what a file or pipe is called in messages: stdin for all names of standard input."""
    return name.title if isinstance(name, Pipe) else "stdin" if name in STDIN else file_name(name)


def open_pipe(name: str) -> Pipe:
    """Open a pipe and read its first bytes: a line of text, or HEAD bytes; refuse a terminal, and what is empty."""
    advice = "pipe a table into the command, as in 'cat rows.csv | adaline fit - --target y', or name a file"
    head = b""
    if name not in STDIN:
        title, (file, head) = name, _open_named(name)
    elif sys.stdin is None or sys.stdin.closed:
        raise UnreadableTable(f"stdin is closed: {advice}")
    elif sys.stdin.isatty():
        raise UnreadableTable(f"stdin is a terminal, not a table: {advice}")
    else:
        title, file = "stdin", sys.stdin.buffer
    while len(head) < HEAD and (len(head) < 16 or not re.search(rb"[\n\0]", head)) and (more := file.read1(HEAD)):
        head += more
    if not head.strip():
        raise UnreadableTable(f"{title} is empty: {advice}")
    return Pipe(title, head, file)


def _open_named(name: str) -> tuple[Any, bytes]:
    """Open a named pipe and return it with what it holds; refuse one that nobody writes into, as it may never end."""
    pipe = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    head = b""
    for _ in range(TRIES):
        try:
            head = os.read(pipe, HEAD)
        except BlockingIOError:  # there is a writer
            break
        if head:
            break
        time.sleep(0.01)
    else:
        os.close(pipe)
        raise UnreadableTable(
            f"{name} is a pipe that nobody writes into: start the writer first, or copy what it holds into a file"
        )
    os.set_blocking(pipe, True)
    return os.fdopen(pipe, "rb"), head


def suffix_of(head: bytes) -> str:
    """Return how the name of a file must end that begins with these bytes: .csv, .json, .libsvm or .vw, and .gz or .zst
    after it.
    """
    if head.startswith(GZIP):
        with suppress(zlib.error):
            return suffix_of(zlib.decompressobj(31).decompress(head, HEAD)) + ".gz"
    if head.startswith(ZSTD):
        inner = b""
        with suppress(OSError), pa.CompressedInputStream(pa.BufferReader(head), "zstd") as file:
            inner = bytes(file.read(64))
        return suffix_of(inner) + ".zst"
    known = ((OBJECTS, ".json"), (LIBSVM, ".libsvm"), (VW, ".vw"))
    return next((suffix for begins, suffix in known if begins.match(head)), ".csv")


def spool(pipe: Pipe, path: str) -> str:
    """Write all that comes through a pipe into a file, and return its path."""
    try:
        with open(path, "wb") as file:
            file.write(pipe.head)
            shutil.copyfileobj(pipe.rest, file, 2**20)
    except OSError as error:
        raise UnreadableTable(
            f"cannot keep {pipe.title} in {os.path.dirname(path)}: {error.strerror}; let TMPDIR name a folder with room"
        ) from None
    return path


def tables_in(pipe: Pipe) -> Iterator[Any] | None:
    """Return what comes through a pipe as Arrow tables, as it comes; None for formats that must be there as a whole.

    Fields of CSV stay texts, without a value where they are empty.
    """
    if pipe.head.startswith(ARROW_STREAM):
        joined = io.BufferedReader(_Joined(pipe))
        return (pa.Table.from_batches([_checked(batch)]) for batch in pa.ipc.open_stream(joined) if batch.num_rows)
    if pipe.suffix == ".csv" and told_format(pipe.head) is None:
        return _text_tables(pipe) if _is_plain(pipe.head) else None
    with suppress(ValueError):
        if pipe.suffix == ".json" and isinstance(json.loads(pipe.head.splitlines()[0]), dict):
            return _json_tables(pipe)
    return None


def _is_plain(head: bytes) -> bool:
    """Whether a text begins with the names of columns, and rows of plain numbers and texts, so far as is known."""
    with temporary_folder(PIPES) as folder:
        path = os.path.join(folder, "stdin.csv")
        Path(path).write_bytes(head if b"\n" not in head else head[: head.rindex(b"\n") + 1])
        if is_boxed(path):
            return False
        try:
            found = read_layout(path)
        except OtherEncoding:
            return False
        except UnreadableTable:  # which is said where it is read
            return True
    rows = parsed_rows(head.decode(errors="replace"), found.separator or SPACES, 0).cells[1:]
    return (
        found.header
        and not found.notes
        and found.separator not in (SPACES, FIXED)
        and not any(is_value(cell) and not PLAIN.fullmatch(cell.strip()) for row in rows for cell in row)
    )


def _text_tables(pipe: Pipe) -> Iterator[Any]:
    pieces = _pieces(pipe)
    head = next(pieces)
    with temporary_folder(PIPES) as folder:
        path = os.path.join(folder, "stdin.csv")
        Path(path).write_bytes(head)
        found = read_layout(path)
    parse = pa.csv.ParseOptions(delimiter=found.separator, newlines_in_values=True)
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(found.names, "string"), null_values=[""], strings_can_be_null=True
    )
    body = head.removeprefix(BOM_UTF8).lstrip()
    ends, _ = _line_ends(body)
    body = body[ends[0] if len(ends) else 0 :]
    names = pa.csv.ReadOptions(column_names=found.names)
    line = 1 + head[: len(head) - len(body)].count(b"\n")
    for piece in chain([body], pieces):
        if piece.strip():
            names.block_size = max(len(piece), 1)
            yield _with_line(pa.csv.read_csv(io.BytesIO(piece), names, parse, convert), piece, line)
        line += piece.count(b"\n")


def _mixed_rows(piece: bytes) -> Any:
    """Return lines of JSON as an Arrow table in which columns of texts and numbers are texts; None of other lines."""
    try:
        rows = [json.loads(line) for line in piece.splitlines() if line.strip()]
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
        for name, values in columns.items():
            if any(isinstance(value, str) for value in values):
                plain = (value if value is None or isinstance(value, str) else json.dumps(value) for value in values)
                columns[name] = list(plain)
        return pa.table(columns)
    except (ValueError, AttributeError, TypeError, pa.ArrowInvalid):
        return None


def _json_tables(pipe: Pipe) -> Iterator[Any]:
    line = 1
    for piece in _pieces(pipe, quotes=False):
        options = pa.json.ReadOptions(block_size=len(piece))
        if piece.strip():
            try:
                table = pa.json.read_json(io.BytesIO(piece), options)
            except pa.ArrowInvalid:
                table = _mixed_rows(piece)
                if table is None:
                    raise
            yield _with_line(table, piece, line)
        line += piece.count(b"\n")


def _with_line(table: Any, piece: bytes, line: int) -> Any:
    """Return an Arrow table with the line of its first row in the metadata, where each row is a line of its own."""
    lines = piece.rstrip(b"\r\n").count(b"\n") + 1
    return table.replace_schema_metadata({LINE: str(line)} if lines == len(table) else None)


def line_of(table: Any) -> int | None:
    """Return the line of the first row of an Arrow table that came through a pipe; None where it is not known."""
    known = (table.schema.metadata or {}).get(LINE.encode())
    return None if known is None else int(known)


def _pieces(pipe: Pipe, quotes: bool = True) -> Iterator[bytes]:
    """Yield what comes through a pipe in pieces of whole lines, of at most about PIECE bytes, without waiting for more.

    The first piece has two lines at least, if there are. With `quotes`, an end of line between them ends no line.
    """
    waiting, least = bytearray(pipe.head), 2
    seen, inside = 0, False  # how much was searched for ends, and whether that is within quotes
    while True:
        while len(waiting) < seen + PIECE and _is_ready(pipe.rest) and (more := pipe.rest.read1(HEAD)):
            waiting += more
        ends, inside = _line_ends(bytes(waiting[seen:]), inside, quotes)
        end, seen = seen + int(ends[-1]) if len(ends) else 0, len(waiting)
        if end and waiting[:end].strip().count(b"\n") + 1 >= least:
            yield bytes(waiting[:end])
            del waiting[:end]
            seen, least = len(waiting), 1
        elif len(waiting) > LONGEST:
            raise UnreadableTable(f"{pipe.title} has a row of more than {LONGEST} bytes: is a quote never closed?")
        more = pipe.rest.read1(HEAD)
        if not more:
            break
        waiting += more
    if waiting:
        yield bytes(waiting)


def _line_ends(text: bytes, inside: bool = False, quotes: bool = True) -> tuple[NDArray[np.intp], bool]:
    """Return where the lines of a text end that are whole, and whether it ends within quotes, if it begins so or not.

    With `quotes`, an end of line between them ends no line.
    """
    letters = np.frombuffer(text, np.uint8)
    quoted = np.logical_xor.accumulate((letters == ord('"')) & quotes) ^ inside
    return np.flatnonzero((letters == ord("\n")) & ~quoted) + 1, bool(quoted[-1:].any() if len(quoted) else inside)


def _is_ready(file: Any) -> bool:
    """Whether more can be read from a pipe within a moment."""
    try:
        return bool(select.select([file], [], [], 0.01)[0])
    except (OSError, ValueError):
        return False


class _Joined(io.RawIOBase):
    """A pipe as a file that begins with its first bytes."""

    def __init__(self, pipe: Pipe) -> None:
        self.head, self.rest = pipe.head, pipe.rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self.head[: len(buffer)] or self.rest.read1(len(buffer))
        self.head = self.head[len(found) :]
        buffer[: len(found)] = found
        return len(found)


def _checked(batch: Any) -> Any:
    """Return a batch whose offsets and sizes, which are what its writer says, contradict nothing."""
    batch.validate(full=True)
    return batch


def arrow_as_parquet(name: str, path: str) -> str:
    """Write an Arrow stream or file as a Parquet file, batch by batch, and return its path."""
    with Reporting(name), pa.OSFile(name) as file:
        streamed = file.read(4) == ARROW_STREAM
        file.seek(0)
        stored = pa.ipc.open_stream(file) if streamed else pa.ipc.open_file(file)
        batches = stored if streamed else map(stored.get_batch, range(stored.num_record_batches))
        with pa.parquet.ParquetWriter(path, stored.schema) as writer:
            for rows in rechunked(map(_checked, batches), ROWS):
                writer.write_table(rows)
    return path
