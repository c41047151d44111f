"""Encodings of text files: which one a file has, and copies of files in UTF-8, which is what DuckDB reads."""

from __future__ import annotations

import codecs
import zlib
from pathlib import Path
from typing import Any

from adaline.errors import UnreadableTable
from adaline.sources.tables.files import open_compressed

PIECE = 2**20  # bytes that are converted at a time
WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Encodings by the byte order mark that a file begins with, the longer ones first."""
WESTERN = "cp1252"  # of text that is not UTF-8: what Windows writes; it extends printable latin-1
UNDEFINED = "latin-1"  # of bytes that cp1252 leaves undefined


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of text in units of two or four bytes, from its mark or its NUL bytes; None for others."""
    for mark, encoding in WIDE.items():
        if head.startswith(mark):
            return encoding
    if len(head) >= 4 and b"\0" in head:
        even, odd = (head[i:1024:2].count(0) / len(head[i:1024:2]) for i in (0, 1))
        if max(even, odd) > 0.8 and min(even, odd) < 0.1:
            return "utf-16-le" if odd > even else "utf-16-be"
    return None


def is_utf8(name: str) -> bool:
    """Whether all of a file is UTF-8, or damaged, which others report; reads all of it."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with open_compressed(name) as file:
            while piece := bytes(file.read(PIECE)):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    except (OSError, EOFError, zlib.error):
        return True
    return True


def write_utf8(name: str, encoding: str | None, copy: str) -> str:
    """Write a copy of a text file in UTF-8 and return the encoding that it was in: the one given, or the one found."""
    if encoding is not None:
        tried = [encoding]
    else:
        with open_compressed(name) as file:
            wide = wide_encoding(bytes(file.read(1024)))
        tried = [WESTERN, UNDEFINED] if wide is None else [wide]
    for one in tried:
        try:
            _convert(name, one, copy)
        except UnicodeDecodeError as error:
            failed = error
        else:
            return one
    shown = f"encoding={encoding!r}" if encoding is not None else f"it looks like {tried[0]}"
    raise UnreadableTable(f"{name}: {shown}, but it cannot be decoded ({failed.reason}): give another encoding=")


def _convert(name: str, encoding: str, copy: str) -> None:
    decoder: Any = codecs.getincrementaldecoder(encoding)()
    with open_compressed(name) as file, Path(copy).open("wb") as out:
        while piece := bytes(file.read(PIECE)):
            out.write(decoder.decode(piece).encode())
        out.write(decoder.decode(b"", final=True).encode())
