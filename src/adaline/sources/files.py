"""Which files a name stands for, and what kind they are."""

from __future__ import annotations

import os
import re
from glob import glob, has_magic
from pathlib import Path

from adaline import datasets
from adaline.errors import UnreadableTable


def expanded(name: str) -> list[str]:
    """Return the files that a path, a folder, a glob or a bundled data set stands for."""
    if os.path.isfile(name):
        return [name]
    if os.path.isdir(name):
        for pattern in ("**/*.parquet", "**/*.csv", "**/*.csv.gz"):
            found = sorted(glob(os.path.join(escaped(name), pattern), recursive=True))
            found = [path for path in found if os.path.isfile(path)]
            if found:
                return found
        raise UnreadableTable(f"the folder {name} holds no Parquet and no CSV files")
    if has_magic(name):
        found = sorted(path for path in glob(name, recursive=True) if os.path.isfile(path))
        if found:
            return found
        raise UnreadableTable(f"no file matches {name}")
    if name in datasets.names():
        return [str(datasets.path(name))]
    if os.path.exists(name):
        raise UnreadableTable(f"{name} is neither a file nor a folder: copy what it holds into a file first")
    shown = name if len(name) <= 200 else f"{name[:200]}..."
    raise UnreadableTable(f"there is no file {shown}; bundled data sets: {', '.join(datasets.names())}")


def escaped(name: str) -> str:
    """Return a name with nothing left to be expanded, for Python's glob and for DuckDB."""
    return re.sub(r"([*?[])", r"[\1]", name)


def file_format(name: str) -> str:
    """Return what a file is, by what it begins with, then by its name."""
    try:
        with open(name, "rb") as file:
            head = file.read(16)
    except OSError as error:
        raise UnreadableTable(f"cannot read {name}: {error.strerror}") from None
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:15] == b"SQLite format 3":
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
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
    return kinds.get(Path(plain).suffix[1:], "text")
