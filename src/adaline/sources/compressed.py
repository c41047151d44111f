"""Whether compressed files are whole: DuckDB takes a cut zstd file for a short one and looks at no checksum of gzip."""

from __future__ import annotations

import gzip
import mmap
import zlib
from concurrent.futures import Future
from threading import Thread
from typing import Any

from adaline.errors import UnreadableTable

CHUNK = 2**16
ZSTD, SKIPPABLE = 0xFD2FB528, 0x184D2A50


def opened(name: str) -> Any:
    """Open a file for reading its text, decompressed where its name says that it is compressed."""
    if name.lower().endswith(".gz"):
        return gzip.open(name, "rb")
    if name.lower().endswith(".zst"):
        import pyarrow as pa

        return pa.CompressedInputStream(pa.OSFile(name), "zstd")
    return open(name, "rb")


def is_compressed(name: str) -> bool:
    """Whether a file's name says that it is compressed."""
    return name.lower().endswith((".gz", ".zst"))


def checking(names: list[str]) -> Future[None]:
    """Check compressed files on a thread of its own, once, while they are first read; ask the result at the end."""
    found: Future[None] = Future()

    def check() -> None:
        try:
            for name in names:
                (check_gzip if name.lower().endswith(".gz") else check_zstd)(name)
        except Exception as error:
            found.set_exception(error)
        else:
            found.set_result(None)

    Thread(target=check, daemon=True).start()
    return found


def check_gzip(name: str) -> None:
    """Refuse what is cut short or damaged, by the lengths and checksums that gzip files carry."""
    engine: Any = None
    with open(name, "rb") as file:
        while chunk := file.read(CHUNK):
            while chunk:
                if engine is None:
                    chunk = chunk.lstrip(b"\0")  # padding between members
                    if not chunk:
                        break
                    engine = zlib.decompressobj(31)
                try:
                    engine.decompress(chunk)
                except zlib.error as error:
                    raise UnreadableTable(f"{name} is damaged ({error}): get the file again") from None
                if not engine.eof:
                    break
                chunk, engine = engine.unused_data, None
    if engine is not None:
        raise cut(name)


def check_zstd(name: str) -> None:
    """Refuse what is cut short, from the lengths of the blocks alone; damage is found by checksums while reading."""
    with open(name, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = 0
        while at < len(data):
            at = _frame_end(data, at, name)
        if at > len(data):
            raise cut(name)


def _frame_end(data: mmap.mmap, at: int, name: str) -> int:
    """Return where the frame that begins at a place ends (RFC 8878, 3.1)."""
    magic = _number(data, at, 4)
    if magic & 0xFFFFFFF0 == SKIPPABLE:
        return at + 8 + _number(data, at + 4, 4)
    if magic != ZSTD:
        raise UnreadableTable(f"{name} is damaged: no zstd data at byte {at}; get the file again")
    kind = _number(data, at + 4, 1)
    single = kind >> 5 & 1
    at += 5 + (1 - single) + (0, 1, 2, 4)[kind & 3] + (single, 2, 4, 8)[kind >> 6]
    last = 0
    while not last:
        if at + 3 > len(data):
            raise cut(name)
        header = _number(data, at, 3)
        last = header & 1
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
    return at + 4 * (kind >> 2 & 1)


def _number(data: mmap.mmap, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def cut(name: str) -> UnreadableTable:
    """Return what is said of a file whose end is missing."""
    return UnreadableTable(f"{name} is cut short: the end of its compressed data is missing; get the file again")
