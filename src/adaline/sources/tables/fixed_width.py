"""Text files of fixed width: columns are where some line has a character, between positions that are blank in all."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from itertools import groupby

from adaline.sources.tables.files import open_compressed

MOST_BYTES = 2**25  # of a file that is read to find its columns
FEWEST_LINES = 3  # of which one has the names
MOSTLY_FILLED = 0.5  # share of the rows that have a value in every column
RULE = re.compile(r"[-=+ ]*(--|==)[-=+ ]*")  # a line below the names


def cut_columns(name: str) -> list[list[str]]:
    """Return the cells of every line of a file of fixed width; none of other files.

    Blank lines, and a line of dashes below the names, have no cells.
    """
    if os.path.getsize(name) > MOST_BYTES:
        return []
    with io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES or "\t" in content:
        return []
    lines = [line.rstrip() for line in content.splitlines()]
    filled = [line for line in lines if line]
    spans = _named_spans(filled[0], _spans(filled)) if filled else []
    cells = [[line[span].strip() for span in spans] if line and not RULE.fullmatch(line) else [] for line in lines]
    rows = [row for row in cells if row]
    if len(spans) < 2 or len(rows) < FEWEST_LINES or not all(rows[0][1:]) or any("  " in cell for cell in rows[0]):
        return []
    counts = (sum(map(bool, column)) for column in zip(*rows[1:], strict=True))
    return cells if all(count >= MOSTLY_FILLED * (len(rows) - 1) for count in counts) else []


def _spans(lines: Sequence[str]) -> list[slice]:
    """Return the runs of positions at which some line has a character."""
    used = bytearray(max(map(len, lines), default=0))
    for line in set(lines):
        for found in re.finditer(r"\S+", line):
            used[found.start() : found.end()] = b"\1" * (found.end() - found.start())
    out, at = list[slice](), 0
    for some, run in groupby(used):
        size = len(list(run))
        out += [slice(at, at + size)] if some else []
        at += size
    return out


def _named_spans(names: str, spans: Sequence[slice]) -> list[slice]:
    """Return the spans, those without a name that are one blank apart from the span to their left joined with it."""
    out: list[slice] = []
    for span in spans:
        if out and span.start == out[-1].stop + 1 and not names[span].strip():
            span = slice(out.pop().start, span.stop)
        out.append(span)
    return out


def write_fixed(name: str, copy: str) -> str:
    """Write a copy of a file of fixed width as CSV, line by line, and return its path."""
    with open(copy, "w", encoding="utf-8", newline="\n") as out:
        csv.writer(out, lineterminator="\n").writerows(cut_columns(name))
    return copy
