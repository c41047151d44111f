"""Archives and compressed files that DuckDB does not read: bzip2, xz, and ZIP archives of one file."""

from __future__ import annotations

import bz2
import lzma
import shutil
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from adaline.errors import UnreadableTable
from adaline.sources.tables.copies import Copies

PIECE = 2**20  # bytes that are unpacked at a time
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, NotImplementedError)


def unpack(name: str, kind: str, copies: Copies) -> str:
    """Write the only file of an archive, or what is compressed, into a copy and return its path."""
    try:
        if kind == "zip":
            with zipfile.ZipFile(name) as archive:
                member = _only_member(name, archive)
                with archive.open(member) as file:
                    return _copied(file, copies.new(name, _suffix(member)))
        with bz2.open(name) if kind == "bz2" else lzma.open(name) as file:
            return _copied(file, copies.new(name, _suffix(Path(name).stem)))
    except UnreadableTable:
        raise
    except DAMAGED as error:
        raise UnreadableTable(f"cannot unpack {name}: {error}; get the file again, or unpack it first") from None


def _copied(file: IO[bytes] | Any, copy: str) -> str:
    with open(copy, "wb") as out:
        shutil.copyfileobj(file, out, PIECE)
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
