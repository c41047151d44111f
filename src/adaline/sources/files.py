"""Which files a name stands for, what kind they are, and what is wrong with text files that would be read amiss."""

from __future__ import annotations

import csv
import gzip
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
            found = sorted(glob(os.path.join(_escaped(name), pattern), recursive=True))
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
    raise UnreadableTable(f"there is no file {name}; bundled data sets: {', '.join(datasets.names())}")


def _escaped(name: str) -> str:
    """Return a folder's name with nothing left to be expanded."""
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


def first_line(name: str) -> str:
    """Return the line of column names, as far as it can be read here."""
    if name.endswith(".zst"):
        return "?"
    try:
        with gzip.open(name, "rb") if name.endswith(".gz") else open(name, "rb") as file:
            line = file.readline(2**20)
    except (OSError, EOFError) as error:
        raise UnreadableTable(f"cannot read {name}: {error}") from None
    return line.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").rstrip("\r\n")


def check_header(name: str) -> None:
    """Refuse what DuckDB reads in a way that nobody means: no header, two columns of one name."""
    line = first_line(name)
    if not line.strip():
        raise UnreadableTable(f"{name} is empty: there is no line with the names of the columns")
    for separator in (",", "\t", ";", "|"):
        names = [word.strip() for word in next(csv.reader([line], delimiter=separator))]
        twice = [word for word in names if word and names.count(word) > 1]
        if len(names) > 1 and twice:
            raise UnreadableTable(f"{name} has two columns called {twice[0]!r}: rename one of them")
