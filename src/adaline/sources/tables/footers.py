"""Lines of a file that are not rows of its table: totals, averages and footnotes below it, and subtotals inside it."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from adaline.coding.numerals import parse_number
from adaline.errors import UnreadableTable
from adaline.sources.tables.files import is_compressed, open_compressed
from adaline.sources.tables.layout import Layout, is_value

TAIL = 2**14  # bytes at the end of a file that are looked at
PIECE = 2**20  # bytes that are read at a time
MOST = 20  # lines below a table
MOST_PACKED = 2**23  # bytes of a compressed file that is unpacked to see its end
LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|$)")
TOTAL_WORDS = (
    r"((grand |sub-?|sub |sous-)?totals?|sums?|averages?|summe|gesamt(summe|ergebnis)?|insgesamt|durchschnitt|"
    r"mittelwert|total g\u00e9n\u00e9ral|somme|moyenne|totale|suma)"
)
TOTAL = re.compile(rf"{TOTAL_WORDS}\b[:\s]*(of .*)?", re.IGNORECASE)
MORE_WORDS = rf"({TOTAL_WORDS}|means?|ergebnis|media)"  # which are other things too, unless sums confirm them
SUBTOTAL = re.compile(rf"(zwischen|teil)?{MORE_WORDS}\b.*|.*\b{MORE_WORDS}[:\s]*", re.IGNORECASE)
AVERAGE = re.compile("average|mean|durchschnitt|mittelwert|moyenne|media", re.IGNORECASE)
STEMS = (
    b"total",
    b"sum",
    b"som",
    b"gesamt",
    b"ergebnis",
    b"average",
    b"mean",
    b"durchs",
    b"mittel",
    b"moyen",
    b"media",
)
"""Of all words for totals, in lower case."""
# share of rows that may be subtotals: a third if every two rows have one, and somewhat more with grand totals
MOST_TOTALS = 0.45
SURELY_EXACT = 1000  # totals of whole numbers below this must be exact, larger ones may be sums of rounded numbers
# bytes up to which a file without empty cells is searched for subtotals; doubling it takes twice as long for such files
MOST_SUMMED = 2**22
FOOTNOTE = re.compile(
    r"(sources?|notes?|quellen?|stand|anmerkung(en)?|hinweis|remarks?)\b\s*:|[*\u00b9\u00b2\u00b3\u00a9\u2020]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Footer:
    """Lines below a table that are not rows.

    Parameters
    ----------
    start : the byte at which they begin.
    note : what they are, in a sentence.
    totals : the cells of those that have one in each column.
    only_totals : whether there are no others.
    """

    start: int
    note: str
    totals: tuple[tuple[str, ...], ...] = ()
    only_totals: bool = False

    def write_without(self, name: str, copy: str) -> str:
        """Write a copy of a file without it, not compressed, and return its path."""
        left = self.start
        with open_compressed(name) as file, open(copy, "wb") as out:
            while left and (piece := file.read(min(PIECE, left))):
                out.write(piece)
                left -= len(piece)
        return copy


def find_footer(name: str, found: Layout) -> Footer | None:
    """Return the lines at the end of a text file that are no rows of its table, or None."""
    if len(found.names) < 2 or (is_compressed(name) and os.path.getsize(name) > MOST_PACKED):
        return None
    size, tail = _tail(name)
    lines = [line for line in LINE.findall(tail) if line][1 if size > TAIL else found.skip + 1 :]
    rows = [_cells(line, found.separator) for line in lines]
    first = len(lines)
    for i in range(len(lines) - 1, max(len(lines) - MOST, 0) - 1, -1):
        row = rows[i]
        if row is None or (any(row) and not _is_below(row, len(found.names))):
            break
        first = i if any(row) else first
    shown = next((cell for cell in rows[first] or () if cell), "") if first < len(lines) else ""
    above = next((row for row in reversed(rows[:first]) if row is None or any(row)), None)
    if above is None or len(above) < len(found.names):  # all is malformed
        return None
    starts = [next(cell for cell in row if cell) for row in rows[first:] if row and any(row)]
    if not shown or len(set(starts)) < len(starts) or any(row and shown in row for row in rows[:first]):
        return None  # rows may be totals of groups, or "sum" the level of a category
    start = size - sum(map(len, lines[first:]))
    line = _lines_before(name, start) + 1
    last = line + len(lines) - first - 1
    where = f"line {line}" if last == line else f"lines {line} to {last}"
    below = [row for row in rows[first:] if row and any(row)]
    totals = tuple(tuple(row) for row in below if len(row) == len(found.names) and sum(map(bool, row)) > 1)
    return Footer(start, f"{where} below the table: {shown[:40]!r}, left out", totals, len(totals) == len(below))


def find_subtotals(name: str, found: Layout) -> list[int]:
    """Return the lines, counted from 1, of totals of groups of rows inside a table.

    The first text of such a row has a word for a total, or for an average, and its numbers are the sums, or the means,
    of the rows above it, back to another total or to the first row. They are totals only where this holds for every
    row with such a text, and these are a minority: "average" may be a level of a category.
    """
    if not found.header or len(found.names) < 2 or is_compressed(name):
        return []
    content = Path(name).read_bytes()
    if not _may_have_totals(content, found):
        return []
    reader = csv.reader(io.StringIO(content.decode(errors="replace"), newline=""), delimiter=found.separator)
    rows, lines, before = list[list[str]](), list[int](), 0
    try:
        for row in reader:
            if len(row) == len(found.names) and before > found.skip and any(row) and reader.line_num == before + 1:
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
            before = reader.line_num
    except csv.Error:
        return []
    labels = {i: label for i, row in enumerate(rows) if SUBTOTAL.fullmatch(label := _first_text(row))}
    few = 0 < len(labels) <= MOST_TOTALS * len(rows)
    totals = (_confirmed(rows, labels, sign) for sign in ".,") if few else iter(())
    return [lines[i] for i in next((one for one in totals if one), [])]


def _may_have_totals(content: bytes, found: Layout) -> bool:
    """Whether a file may have subtotals: words for them, and columns of text or empty cells."""
    separator = found.separator.encode()
    if len(content) > MOST_SUMMED or not found.texts:
        empty = (separator * 2, separator + b"\n", separator + b"\r")
        if not any(one in content for one in empty):
            return False
    lower = content.lower()
    return any(stem in lower for stem in STEMS)


def _first_text(row: Sequence[str]) -> str:
    return next((cell for cell in row if cell and not is_value(cell)), "")


class TotalMatch(NamedTuple):
    """Whether a number is the sum of some others, and whether it is their mean, up to rounding."""

    sum: bool
    mean: bool


@dataclass
class RunningSums:
    """Sums of a column of numbers after each row of a table, its totals left out.

    Parameters
    ----------
    sums : after each row, 0 at first.
    counts : how many numbers are in each sum.
    places : most decimal places of a number.
    """

    sums: list[float] = field(default_factory=lambda: [0.0])
    counts: list[int] = field(default_factory=lambda: [0])
    places: int = 0

    def add(self, cell: str, sign: str) -> None:
        """Add the cell of a row."""
        value = parse_number(cell, sign)
        self.sums.append(self.sums[-1] + (0.0 if value is None else value))
        self.counts.append(self.counts[-1] + (value is not None))
        if value is not None:
            self.places = max(self.places, decimal_places(cell, sign))

    def agrees(self, cell: str, sign: str, first: int) -> TotalMatch | None:
        """Return whether a cell holds the sum or the mean of the rows from `first` on; None where there are none."""
        count, found, total = (
            self.counts[-1] - self.counts[first],
            self.sums[-1] - self.sums[first],
            parse_number(cell, sign),
        )
        if total is None or not count or not found:
            return None
        exact = not self.places and abs(found) < SURELY_EXACT
        rounding = 10.0**-self.places * (0.6 + 0.5 * math.sqrt(count)) + 1e-9 * abs(self.sums[-1])
        half = 0.501 * 10.0 ** -decimal_places(cell, sign)
        return TotalMatch(abs(total - found) <= (0.5 if exact else rounding), abs(total - found / count) <= half)


def decimal_places(cell: str, sign: str) -> int:
    """Return how many digits a number has after its decimal sign."""
    return len(re.sub(r"\D", "", cell.rpartition(sign)[2])) if sign in cell else 0


def _confirmed(rows: Sequence[Sequence[str]], labels: Mapping[int, str], sign: str) -> list[int]:
    """Return the rows that are labelled like totals if all of them are, given the decimal sign, and one is of several
    rows; else none.
    """
    columns = [RunningSums() for _ in rows[0]]
    starts, found, clear = [0], list[int](), False
    used = 0  # rows that are no totals
    for i, row in enumerate(rows):
        first = _group_start(row, labels[i], columns, starts, sign) if i in labels and used else None
        if first is None:
            used += 1
            for column, cell in zip(columns, row, strict=True):
                column.add(cell, sign)
            continue
        found.append(i)
        clear = clear or used - first > 1
        starts = [one for one in starts if one <= first] + [used]
    return found if clear and len(found) == len(labels) else []


def _group_start(
    row: Sequence[str], label: str, columns: Sequence[RunningSums], starts: Sequence[int], sign: str
) -> int | None:
    """Return the first of the rows that a row is the total of; None where it is none."""
    kind = "mean" if AVERAGE.search(label) else "sum"
    for first in reversed(starts):
        agree = [column.agrees(cell, sign, first) for column, cell in zip(columns, row, strict=True)]
        compared = [one for one in agree if one is not None]
        if all(any(one) for one in compared) and any(getattr(one, kind) for one in compared):
            return first
    return None


def _tail(name: str) -> tuple[int, bytes]:
    """Return the size of a file, unpacked, and its last bytes."""
    with open_compressed(name) as file:
        if not is_compressed(name):
            size = os.path.getsize(name)
            file.seek(max(0, size - TAIL))
            return size, file.read()
        size, tail = 0, b""
        try:
            while piece := file.read(PIECE):
                size, tail = size + len(piece), (tail + piece)[-TAIL:]
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, UnreadableTable):
                raise
            return 0, b""  # damaged, which others report
        return size, tail


def _lines_before(name: str, start: int) -> int:
    """Return how many lines end before a byte of a file."""
    count, left = Counter[bytes](), start
    with open_compressed(name) as file:
        while piece := file.read(min(PIECE, left)):
            count.update({b"\n": piece.count(b"\n"), b"\r": piece.count(b"\r")})
            left -= len(piece)
    return count[b"\n"] or count[b"\r"]


def _cells(line: bytes, separator: str) -> list[str] | None:
    """Return the values of a line; None where it may be a part of a row."""
    text = line.decode(errors="replace")
    if text.count('"') % 2:
        return None
    return [cell.strip() for cell in next(csv.reader([text.strip("\r\n")], delimiter=separator), [])]


def _is_below(row: list[str], columns: int) -> bool:
    """Whether a line at the end is no row: a total, or one text that is not in a column of the table."""
    filled = [cell for cell in row if cell]
    if TOTAL.fullmatch(filled[0]) and filled[0] in row[:2]:
        return True
    alone = len(filled) == 1 and bool(row[0]) and not is_value(row[0])
    return alone and (len(row) == 1 or FOOTNOTE.match(row[0]) is not None)
