"""Tables that are almost well-formed: CSV, JSON lines, Parquet, SQLite."""

from __future__ import annotations

import io
import json
import sqlite3
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from adaline import LMS, GaussianClassifier, LinearRegression, LogisticRegression, open_table
from tests.fuzz.targets import Random, flipped, one_of, target

CELLS = (
    *("", " ", '"', '""', '"a', 'a"b', "'", "\0", "nan", "NA", "?", "null", "inf", "-inf", "1e999", "-", "+1", "1,5"),
    *("0x10", "1_000", "1e-400", "\u0661", "\uff19", "TRUE", "no", "2020-01-01", "24:00", "=1+1", "\x1b[31m", "\u202e"),
    *("x" * 5000, "9" * 400, "18446744073709551616", "-9223372036854775809", "1;2", "1\t2", "a\nb", "a\rb", "#", "\\"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, "", "1", "nan", 1e308, -1e308, 5e-324, 2**63, 2**64, -(2**63) - 1, 0.1, [], [1], {}, {"a": 1}),
    *("x" * 3000, "\0", "\ud800"),
)
ODD_LINES = ("", "[]", "{}", "1", "{", "null", "{" * 2000, "[" * 2000)


def plain_rows(rng: Random) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows of a table, two numbers, a category and a target, and whether that is a label."""
    n = int(rng.integers(8, 60))
    a, b = rng.normal(size=n).round(3), rng.integers(0, 9, size=n)
    level = rng.choice(["u", "v", "w"], size=n)
    noise = a + b + rng.normal(size=n)
    y = noise.round(3) if rng.random() < 0.6 else np.where(noise > np.median(noise), "yes", "no")
    rows = [
        {"a": float(a[i]), "b": int(b[i]), "c": str(level[i]), "y": y[i].item() if y.dtype.kind == "f" else str(y[i])}
        for i in range(n)
    ]
    return rows, y.dtype.kind != "f"


def fit_table(rng: Random, path: Any, labels: bool, **options: Any) -> None:
    """Open a table, fit a system to it, most of the time one that suits the target, and predict: numbers are finite."""
    missing = one_of(rng, ("error", "drop", "mean", "indicator"))
    source = open_table(path, target="y", missing=missing, progress=False, **options)
    numbers = not labels if rng.random() < 0.9 else labels
    system = one_of(rng, (LinearRegression, LMS) if numbers else (LogisticRegression, GaussianClassifier))
    model = system().fit(source)
    predicted = model.predict(source)
    if system in (LinearRegression, LMS):
        assert np.isfinite(predicted).all(), "predictions that are not finite"


@target
def csv(rng: Random, folder: Path) -> None:
    """Cells, lines and bytes of a CSV file."""
    rows, labels = plain_rows(rng)
    lines = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    for _ in range(int(rng.integers(0, 5))):
        line = one_of(rng, lines[:1] if rng.random() < 0.2 else lines)
        match int(rng.integers(5)):
            case 0 if line:
                del line[int(rng.integers(len(line)))]
            case 1:
                line.append(one_of(rng, CELLS))
            case 2:
                line.clear()
            case _ if line:
                line[int(rng.integers(len(line)))] = one_of(rng, CELLS)
    if rng.random() < 0.1:
        lines[0] = ["a", "a", "c", "y"]
    separator = one_of(rng, (",", ",", ",", ";", "\t", "|", " "))
    end = one_of(rng, ("\n", "\n", "\r\n", "\r"))
    text = end.join(separator.join(line) for line in lines) + one_of(rng, ("", end))
    encoded = one_of(rng, (b"", b"", b"", b"\xef\xbb\xbf")) + text.encode(
        one_of(rng, ("utf-8", "utf-8", "utf-8", "utf-16", "latin-1")), errors="replace"
    )
    path = folder / one_of(rng, ("t.csv", "t.csv", "t.tsv", "100%.csv", "a'b.csv", "\x1b[2J.csv"))
    path.write_bytes(flipped(rng, encoded) if rng.random() < 0.3 else encoded)
    fit_table(rng, path, labels)


@target
def json_lines(rng: Random, folder: Path) -> None:
    """Values, keys and bytes of a file of JSON lines."""
    rows, labels = plain_rows(rng)
    for _ in range(int(rng.integers(0, 5))):
        row = one_of(rng, rows)
        match int(rng.integers(4)):
            case 0:
                row.pop(one_of(rng, "abcy"), None)
            case 1:
                row[one_of(rng, ("d", "A", "", "a.b", "\x1b"))] = one_of(rng, VALUES)
            case _:
                row[one_of(rng, "abcy")] = one_of(rng, VALUES)
    lines = [json.dumps(row) for row in rows]
    if rng.random() < 0.3:
        lines.insert(
            int(rng.integers(len(lines))), one_of(rng, ("", "[]", "{}", "1", "{", "null", "{" * 2000, "[" * 2000))
        )
    data = "\n".join(lines).encode()
    path = folder / one_of(rng, ("t.jsonl", "t.ndjson"))
    path.write_bytes(flipped(rng, data) if rng.random() < 0.3 else data)
    fit_table(rng, path, labels)


@target
def parquet_file(rng: Random, folder: Path) -> None:
    """Types and bytes of a Parquet file."""
    rows, labels = plain_rows(rng)
    n = len(rows)
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in "abcy"}
    odd: dict[str, Any] = {
        "decimal": pa.array([Decimal(i) / 8 for i in range(n)], pa.decimal128(38, 10)),
        "date": pa.array([date(2020, 1, 1) + timedelta(i) for i in range(n)]),
        "list": pa.array([[i] for i in range(n)]),
        "struct": pa.array([{"k": i} for i in range(n)]),
        "null": pa.nulls(n),
        "large": pa.array([2**64 - 1 - i for i in range(n)], pa.uint64()),
        "bytes": pa.array([bytes([i]) for i in range(n)]),
        "coded": pa.array([str(i % 3) for i in range(n)]).dictionary_encode(),
        "half": pa.array(np.arange(n, dtype=np.float16)),
        "nan": pa.array([float("nan")] * n),
        "span": pa.array([timedelta(i) for i in range(n)]),
    }
    if rng.random() < 0.6:
        columns[one_of(rng, ("a", "c", "y", "d"))] = odd[one_of(rng, odd)]
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out, row_group_size=int(rng.integers(1, 30)))
    data = out.getvalue()
    path = folder / "t.parquet"
    path.write_bytes(flipped(rng, data) if rng.random() < 0.5 else data)
    fit_table(rng, path, labels)


@target
def sqlite_file(rng: Random, folder: Path) -> None:
    """Values of mixed types, views, and bytes of an SQLite file."""
    path = folder / one_of(rng, ("t.sqlite", "t.db"))
    rows, labels = plain_rows(rng)
    kinds = one_of(rng, ("a REAL, b INTEGER, c TEXT, y", "a, b, c, y", "a TEXT, b BLOB, c ANY, y REAL"))
    with sqlite3.connect(path) as base:
        base.execute(f"CREATE TABLE t ({kinds})")
        base.executemany("INSERT INTO t VALUES (:a, :b, :c, :y)", rows)
        for _ in range(int(rng.integers(0, 3))):
            value = one_of(rng, (None, "", "x", b"\0\xff", 1e308, 2**62, "nan", "\x1b[0m"))
            row = int(rng.integers(len(rows)))
            base.execute(f"UPDATE t SET {one_of(rng, 'abcy')} = ? WHERE rowid = ?", (value, 1 + row))
        if rng.random() < 0.2:
            base.execute("CREATE VIEW v AS SELECT a, b, y FROM t")
    base.close()
    if rng.random() < 0.5:
        path.write_bytes(flipped(rng, path.read_bytes()))
    fit_table(rng, path, labels, table=one_of(rng, (None, "t", "v", "SELECT * FROM t", "missing")))
