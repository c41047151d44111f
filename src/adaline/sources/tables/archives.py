"""Archives and compressed files that DuckDB does not read: bzip2, xz, and ZIP archives of one file."""

from __future__ import annotations

import bz2
import lzma
import os
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from adaline.errors import UnreadableTable
from adaline.sources.tables.copies import Copies
from adaline.sources.tables.files import check_unpacked, file_format, is_compressed

KINDS = ("zip", "bz2", "xz")
PIECE = 2**20  # bytes that are unpacked at a time
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, NotImplementedError)


def unpack(name: str, kind: str, copies: Copies) -> str:
    """Write the only file of an archive, or what is compressed, into a copy and return its path."""
    try:
        if kind == "zip":
            with zipfile.ZipFile(name) as archive:
                member = _only_member(name, archive)
                with archive.open(member) as file:
                    return _copied(file, name, copies.new(name, _suffix(member)))
        with bz2.open(name) if kind == "bz2" else lzma.open(name) as file:
            return _copied(file, name, copies.new(name, _suffix(Path(name).stem)))
    except UnreadableTable:
        raise
    except DAMAGED as error:
        raise UnreadableTable(f"cannot unpack {name}: {error}; get the file again, or unpack it first") from None


def _copied(file: IO[bytes] | Any, name: str, copy: str) -> str:
    """Write what a file unpacks to into a copy; refuse another archive, and more than tables unpack to."""
    packed, unpacked = os.path.getsize(name), 0
    with open(copy, "wb") as out:
        while piece := file.read(PIECE):
            unpacked += len(piece)
            check_unpacked(name, packed, unpacked)
            out.write(piece)
    if unpacked and (is_compressed(copy) or file_format(copy) in KINDS):
        raise UnreadableTable(f"{name} holds another archive: unpack it once and name that")
    return copy


def _only_member(name: str, archive: zipfile.ZipFile) -> str:
    found = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith(("__MACOSX", "."))]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(found[:5]) + ", ..." * (len(found) > 5)
    raise UnreadableTable(f"{name} holds {len(found)} files ({shown or 'none'}): unpack it and name one of them")


def _suffix(name: str) -> str:
    """Return the suffix of a file, .csv where it has none."""
    return "".join(Path(name).suffixes[-1:]).lower() or ".csv"
