"""Files of a table: those that a name stands for, their formats, and whether compressed ones are complete."""

from __future__ import annotations

import gzip
import io
import mmap
import os
import re
import zipfile
import zlib
from collections.abc import Iterable
from concurrent.futures import Future
from difflib import get_close_matches
from glob import glob, has_magic
from pathlib import Path
from threading import Thread
from typing import Any

from adaline import datasets
from adaline.errors import UnreadableTable
from adaline.lazy import pa
from adaline.wording import file_name

CHUNK = 2**16
WHOLE_SAMPLE = 2**26  # bytes of text up to which the types of columns are found from all rows
MOST_UNPACKED = 2**30  # bytes that a packed file may always unpack to; doubling it takes twice the space on disk
MOST_RATIO = 250  # unpacked size of larger files, relative to the packed one; tables of zeros reach about that
ARROW_STREAM = b"\xff\xff\xff\xff"
PACKED = {b"BZh": "bz2", b"\xfd7zXZ": "xz", b"\xd0\xcf\x11\xe0": "sheet"}
STATISTICS = ("dta", "sav", "zsav", "por", "sas7bdat", "xpt")
ZSTD, SKIPPABLE = 0xFD2FB528, 0x184D2A50
ZSTD_BLOCK = 2**17  # bytes that a block of zstd unpacks to at most


def expand_glob(name: str) -> list[str]:
    """Return the files that a path, a folder, a glob pattern or the name of a bundled data set stands for."""
    check_file_name(name)
    name = os.path.expanduser(name)
    if os.path.isfile(name):
        return [name]
    if os.path.isdir(name):
        for pattern in ("**/*.parquet", "**/*.csv", "**/*.csv.gz"):
            found = sorted(glob(os.path.join(escaped_wildcards(name), pattern), recursive=True))
            found = [path for path in found if os.path.isfile(path)]
            if found:
                return found
        try:
            os.listdir(name)
        except OSError as error:
            raise _unreadable(name, error) from None
        raise UnreadableTable(
            f"the folder {file_name(name)} holds no Parquet and no CSV files: if others, name them by a glob"
        )
    if has_magic(name):
        found = sorted(path for path in glob(name, recursive=True) if os.path.isfile(path))
        if found:
            return found
        raise UnreadableTable(f"no file matches {file_name(name)}: check the pattern, and that its folders may be read")
    if name in datasets.names():
        return [str(datasets.path(name))]
    if os.path.exists(name):
        raise UnreadableTable(f"{file_name(name)} is neither a file nor a folder: copy what it holds into a file first")
    shown = file_name(name if len(name) <= 200 else f"{name[:200]}...")
    if "://" in name:
        raise UnreadableTable(f"there is no file {shown}: nothing is fetched from addresses, download it first")
    raise UnreadableTable(
        f"there is no file {shown}.{_similar_file(name)} Bundled data sets: {', '.join(datasets.names())}"
    )


def _similar_file(name: str) -> str:
    """Return a sentence with the file of the same folder, or the bundled data set, whose name is most like this one."""
    folder = os.path.dirname(name)
    try:
        there = os.listdir(folder or ".")
    except (OSError, ValueError):
        return "" if os.path.isdir(folder) or not folder else f" There is no folder {file_name(folder[:200])} either."
    if (bundled := datasets.name_in(name)) is not None:
        return f" Did you mean {bundled}?"
    near = get_close_matches(os.path.basename(name)[:200], [*there[:10_000], *datasets.names()], n=1)
    meant = os.path.join(folder, near[0]) if near and near[0] in there else "".join(near)
    return f" Did you mean {file_name(meant)}?" if near else ""


def check_file_name(name: str) -> None:
    """Refuse a file name (or a query) that DuckDB and Arrow cannot take: not UTF-8, or with a NUL byte."""
    if "\0" in name:
        raise UnreadableTable(f"there is no file {ascii(name)[:200]}: no name has a NUL byte")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UnreadableTable(f"cannot read {ascii(name)[:200]}: not UTF-8: rename the file") from None


def query_files(tables: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the files that the tables of a query stand for, and the patterns among their names.

    Databases, pipes and addresses are no tables of a query.
    """
    names = [os.path.expanduser(name) for name in tables if "://" not in name]
    patterns = [name for name in names if has_magic(name) and not os.path.exists(name)]
    found = [path for name in names for path in (glob(name, recursive=True) if name in patterns else [name])]
    return [p for p in found if os.path.isfile(p) and file_format(p) not in ("duckdb", "sqlite")], patterns


def escaped_wildcards(name: str) -> str:
    """Return a name with its wildcards escaped, for Python's glob and for DuckDB."""
    return re.sub(r"([*?[])", r"[\1]", name)


def file_format(name: str) -> str:
    """Return the format of a file by its first bytes, then by its name.

    It is "parquet", "arrow", "sqlite", "duckdb", "json", "text", "sheet" of a spreadsheet, "statistics" of Stata, SPSS
    or SAS, or a way in which another file is packed: "zip", "bz2", "xz".
    """
    try:
        with open(name, "rb") as file:
            head = file.read(16)
    except OSError as error:
        raise _unreadable(name, error) from None
    if not head:
        raise UnreadableTable(f"{file_name(name)} is empty: get the file again, or wait until it is written")
    if told := told_format(head):
        return told
    if head[:4] == b"PK\x03\x04":
        return "sheet" if _is_spreadsheet(name) else "zip"
    if packed := next((kind for magic, kind in PACKED.items() if head.startswith(magic)), None):
        return packed
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    kinds = {
        "parquet": "parquet",
        "pq": "parquet",
        "json": "json",
        "jsonl": "json",
        "ndjson": "json",
        "duckdb": "duckdb",
        "sqlite": "sqlite",
        "sqlite3": "sqlite",
    }
    if Path(name).suffix[1:].lower() in STATISTICS:
        return "statistics"
    return kinds.get(Path(plain).suffix[1:], "text")


def _is_spreadsheet(name: str) -> bool:
    """Whether a ZIP archive is a spreadsheet, of Excel or OpenDocument."""
    try:
        with zipfile.ZipFile(name) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False
    return any(one == "content.xml" or one.startswith("xl/") for one in names)


def told_format(head: bytes) -> str | None:
    """Return the format that the first bytes of a file show, None for text."""
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:4] == ARROW_STREAM or head[:6] == b"ARROW1":
        return "arrow"
    if head[:15] == b"SQLite format 3":
        return "sqlite"
    return "duckdb" if head[8:12] == b"DUCK" else None


def _unreadable(name: str, error: OSError) -> UnreadableTable:
    advice = ": ask for the right to read it" if isinstance(error, PermissionError) else ""
    return UnreadableTable(f"cannot read {file_name(name)}: {error.strerror}{advice}")


def open_compressed(name: str) -> Any:
    """Open a file for reading its text, decompressed where its name says that it is compressed."""
    if name.lower().endswith(".gz"):
        return io.BufferedReader(Unpacked(gzip.open(name, "rb"), name))
    if name.lower().endswith(".zst"):
        return io.BufferedReader(Unpacked(pa.CompressedInputStream(pa.OSFile(name), "zstd"), name))
    return open(name, "rb")


class Unpacked(io.RawIOBase):
    """What a compressed file holds, up to the limit of `check_unpacked`."""

    def __init__(self, file: Any, name: str) -> None:
        self.file, self.name, self.packed, self.done = file, name, os.path.getsize(name), 0

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer and return how many bytes."""
        found = self.file.read(len(buffer))
        buffer[: len(found)] = found
        self.done += len(found)
        check_unpacked(self.name, self.packed, self.done)
        return len(found)

    def close(self) -> None:
        """Close the file."""
        self.file.close()
        super().close()


def check_unpacked(name: str, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to far more than tables do: it may be made to fill the disk, or never to end."""
    if unpacked > MOST_UNPACKED and unpacked > MOST_RATIO * packed:
        raise UnreadableTable(
            f"{name} unpacks to more than {MOST_RATIO} times its size, and {MOST_UNPACKED / 2**30:g} GiB: if you trust "
            "it, unpack it first"
        )


def is_compressed(name: str) -> bool:
    """Whether a file's name says that it is compressed."""
    return name.lower().endswith((".gz", ".zst"))


def bytes_of(names: Iterable[str]) -> int:
    """Return the bytes of files, compressed text counted eight times."""
    return sum(os.path.getsize(name) * (8 if is_compressed(name) else 1) for name in names)


def are_small(names: Iterable[str]) -> bool:
    """Whether files are so small that all their rows are looked at before they are read."""
    return bytes_of(names) <= WHOLE_SAMPLE


def check_compressed(names: list[str]) -> Future[None]:
    """Start to check compressed files on a thread, while they are first read; the result raises what was found.

    DuckDB reads a zstd file that is cut short as a shorter one, and ignores the checksums of gzip.
    """
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
    """Refuse a file that is cut short or damaged, by the lengths and checksums in gzip files."""
    engine: Any = None
    packed, unpacked = os.path.getsize(name), 0
    with open(name, "rb") as file:
        while chunk := file.read(CHUNK):
            while chunk:
                if engine is None:
                    chunk = chunk.lstrip(b"\0")  # padding between members
                    if not chunk:
                        break
                    engine = zlib.decompressobj(31)
                try:
                    unpacked += len(engine.decompress(chunk))
                except zlib.error as error:
                    raise UnreadableTable(f"{file_name(name)} is damaged ({error}): get the file again") from None
                check_unpacked(name, packed, unpacked)
                if not engine.eof:
                    break
                chunk, engine = engine.unused_data, None
    if engine is not None:
        raise cut_short(name)


def check_zstd(name: str) -> None:
    """Refuse a file that is cut short, by the lengths of its blocks, or that unpacks to too much.

    Damage is found by checksums while reading. The file is unpacked here only where its blocks may hold too much.
    """
    with open(name, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at, blocks = 0, 0
        while at < len(data):
            at, more = _frame_end(data, at, name)
            blocks += more
        if at > len(data):
            raise cut_short(name)
        if blocks * ZSTD_BLOCK <= max(MOST_UNPACKED, MOST_RATIO * len(data)):
            return
    with open_compressed(name) as file:
        while file.read(CHUNK):
            pass


def _frame_end(data: mmap.mmap, at: int, name: str) -> tuple[int, int]:
    """Return the offset of the end of the frame that begins at offset `at`, and its blocks (RFC 8878, 3.1)."""
    magic = _number(data, at, 4)
    if magic & 0xFFFFFFF0 == SKIPPABLE:
        return at + 8 + _number(data, at + 4, 4), 0
    if magic != ZSTD:
        raise UnreadableTable(f"{file_name(name)} is damaged: no zstd data at byte {at}; get the file again")
    kind = _number(data, at + 4, 1)
    single = kind >> 5 & 1
    at += 5 + (1 - single) + (0, 1, 2, 4)[kind & 3] + (single, 2, 4, 8)[kind >> 6]
    last, blocks = 0, 0
    while not last:
        if at + 3 > len(data):
            raise cut_short(name)
        header = _number(data, at, 3)
        last, blocks = header & 1, blocks + 1
        at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
    return at + 4 * (kind >> 2 & 1), blocks


def _number(data: mmap.mmap, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def cut_short(name: str) -> UnreadableTable:
    """Return the error for a compressed file whose end is missing."""
    return UnreadableTable(
        f"{file_name(name)} is cut short: the end of its compressed data is missing; get the file again"
    )
