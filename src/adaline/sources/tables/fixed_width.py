"""Text files of fixed width: columns are where some line has a character, between positions that are blank in all."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from adaline.errors import UnreadableTable
from adaline.sources.tables.files import open_compressed

# bytes in which columns of fixed width are looked for first, and largest file that is read so; doubling the latter
# takes twice the memory
FIRST_BYTES, MOST_FIXED = 2**16, 2**25
LONGEST = 2**31  # the end of the last column, beyond that of any line
WORD = re.compile(r"\S+")
FEWEST_LINES = 3  # of which one has the names
MOSTLY_FILLED = 0.5  # share of the rows that have a value in every column
UNDERLINE = re.compile(r"[-=+ ]*(--|==)[-=+ ]*")  # a line below the names


def cut_columns(name: str) -> list[list[str]]:
    """Return the cells of every line of a file of fixed width; none of other files.

    Blank lines, and a line of dashes below the names, have no cells.
    """
    if os.path.getsize(name) > MOST_FIXED or len(_find_spans(_lines(name, FIRST_BYTES))) < 2:
        return []
    lines = _lines(name, MOST_FIXED + 1)
    spans = _find_spans(lines) if sum(map(len, lines)) <= MOST_FIXED else []
    cells = _cut(lines, spans)
    rows = [row for row in cells if row]
    if len(spans) < 2 or len(rows) < FEWEST_LINES or not all(rows[0][1:]) or any("  " in cell for cell in rows[0]):
        return []
    counts = (sum(map(bool, column)) for column in zip(*rows[1:], strict=True))
    return cells if all(count >= MOSTLY_FILLED * (len(rows) - 1) for count in counts) else []


def _lines(name: str, most: int) -> list[str]:
    """Return the lines of the first characters of a file, without blanks at their ends."""
    with io.TextIOWrapper(open_compressed(name), encoding="utf-8-sig") as file:
        return [line.rstrip() for line in file.read(most).splitlines()]


def _find_spans(lines: Sequence[str]) -> list[slice]:
    """Return where the columns of lines are; none where lines have tabs."""
    filled = [line for line in lines if line]
    return _named_spans(filled[0], _spans(filled)) if filled and not any("\t" in line for line in filled) else []


def _cut(lines: Sequence[str], spans: Sequence[slice]) -> list[list[str]]:
    return [[line[span].strip() for span in spans] if line and not UNDERLINE.fullmatch(line) else [] for line in lines]


def _spans(lines: Sequence[str]) -> list[slice]:
    """Return the runs of positions at which some line has a character."""
    used = bytearray(max(map(len, lines), default=0))
    for line in set(lines):
        for found in WORD.finditer(line):
            used[found.start() : found.end()] = b"\1" * (found.end() - found.start())
    out, at = list[slice](), 0
    for some, run in groupby(used):
        size = len(list(run))
        out += [slice(at, at + size)] if some else []
        at += size
    return out


def _named_spans(names: str, spans: Sequence[slice]) -> list[slice]:
    """Return the spans, those without a name joined with the one beside them that is one blank apart, if any.

    A first column may have no name: its rows are then labelled.
    """
    out: list[slice] = []
    for span in spans:
        alone = not names[span].strip() or (len(out) > 1 and not names[out[-1]].strip())
        if out and span.start == out[-1].stop + 1 and alone:
            span = slice(out.pop().start, span.stop)
        out.append(span)
    return out


def write_fixed(name: str, copy: str, like: str) -> str:
    """Write a copy of a file with the fixed columns of the file `like` as CSV, line by line, and return its path."""
    lines, own = _lines(name, MOST_FIXED + 1), _find_spans(_lines(like, MOST_FIXED + 1))
    spans = [slice(one.start, after.start) for one, after in pairwise(own)] + [slice(own[-1].start, LONGEST)]
    words = {
        (one.start(), one.end()) for line in set(lines) if not UNDERLINE.fullmatch(line) for one in WORD.finditer(line)
    }
    if not all(any(span.start <= start and end <= span.stop for span in spans) for start, end in words):
        raise UnreadableTable(f"{name} has columns at other positions than {like}: read the files one by one")
    with open(copy, "w", encoding="utf-8", newline="\n") as out:
        csv.writer(out, lineterminator="\n").writerows(_cut(lines, spans))
    return copy
