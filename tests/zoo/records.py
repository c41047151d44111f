"""The rows of a plain CSV file, counted by Python's csv module, beside those that a comparison used and left out."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

LINES = re.compile(r"lines? (\d+(?: to \d+)?(?:, \d+)*)(?: and (\d+) more)?\b.*left out")


def miscounted(path: Path, found: dict[str, Any]) -> str:
    """Return how the rows of a comparison, as JSON, differ from the records of its file; "" where they agree.

    Only where the file is plain: UTF-8 text whose first line has the names, and whose records all have as many cells.
    """
    records = count_records(path, {*found["features"], *found["left_out"], found["target"]})
    if records is None:
        return ""
    used, dropped, lines = found["total_rows"], found["dropped_rows"], sum(map(_lines_left_out, found["notes"]))
    if records == used + dropped + lines:
        return ""
    return f"{records} records in the file, but {used} rows used, {dropped} dropped and {lines} left out by their lines"


def count_records(path: Path, names: set[str]) -> int | None:
    """Return the number of records below the line of names; None where the file is no plain CSV with these names."""
    if path.suffix not in (".csv", ".tsv", ".txt"):
        return None
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if max(map(len, text.splitlines()), default=0) > csv.field_size_limit():
        return None
    for delimiter in ",;\t|":
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
        if rows and names <= set(rows[0]) and len({len(row) for row in rows}) == 1:
            return len(rows) - 1
    return None


def _lines_left_out(note: str) -> int:
    """Return how many lines a note names as left out: "lines 3, 7 are subtotals ... left out"."""
    found = LINES.match(note)
    if found is None:
        return 0
    first, to, last = found[1].partition(" to ")
    return int(last) - int(first) + 1 if to else len(re.findall(r"\d+", found[1])) + int(found[2] or 0)
