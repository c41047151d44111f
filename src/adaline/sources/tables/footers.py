"""Lines of a file that are not rows of its table: totals, averages and footnotes below it, and subtotals inside it."""

from __future__ import annotations

import csv
import io
import os
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from adaline.coding.numerals import number_in
from adaline.errors import UnreadableTable
from adaline.sources.tables.files import is_compressed, open_compressed
from adaline.sources.tables.layout import Layout, is_value

TAIL = 2**14  # bytes at the end of a file that are looked at
PIECE = 2**20  # bytes that are read at a time
MOST = 20  # lines below a table
MOST_PACKED = 2**23  # bytes of a compressed file that is unpacked to see its end
LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|$)")
TOTAL_WORDS = (
    r"((grand |sub-?)?totals?|sums?|averages?|summe|gesamt(summe)?|insgesamt|durchschnitt|mittelwert|"
    r"total g\u00e9n\u00e9ral|somme|moyenne|totale|suma)"
)
TOTAL = re.compile(rf"{TOTAL_WORDS}\b[:\s]*(of .*)?", re.IGNORECASE)
SUBTOTAL = re.compile(
    rf"(zwischen|teil)?{TOTAL_WORDS}\b(?P<after>.*)|(?P<before>.*)\b{TOTAL_WORDS}[:\s]*", re.IGNORECASE
)
STEMS = (b"total", b"sum", b"som", b"gesamt", b"average", b"durchschnitt", b"mittelwert", b"moyenne")
"""Of all words for totals, in lower case."""
NEARLY_ALL = 0.9  # share of the other rows that have a value where a subtotal has none
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
    if not shown or any(row and shown in row for row in rows[:first]):  # rows may be totals of groups
        return None
    start = size - sum(map(len, lines[first:]))
    line = _lines_before(name, start) + 1
    last = line + len(lines) - first - 1
    where = f"line {line}" if last == line else f"lines {line} to {last}"
    below = [row for row in rows[first:] if row and any(row)]
    totals = tuple(tuple(row) for row in below if len(row) == len(found.names) and sum(map(bool, row)) > 1)
    return Footer(start, f"{where} below the table: {shown[:40]!r}, left out", totals, len(totals) == len(below))


def find_subtotals(name: str, found: Layout) -> list[int]:
    """Return the lines, counted from 1, of totals of groups of rows inside a table.

    The first text of such a row has a word for a total, a cell that is filled in nearly all other rows is empty, and
    its numbers are at least as large as any of the rows above it, back to the subtotal before.
    """
    if not found.header or len(found.names) < 3 or is_compressed(name):
        return []
    content = Path(name).read_bytes()
    separator = found.separator.encode()
    empty = (separator * 2, separator + b"\n", separator + b"\r")
    if not any(one in content for one in empty):
        return []
    lower = content.lower()
    if not any(stem in lower for stem in STEMS):
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
    named = {i: label for i, row in enumerate(rows) if not all(row) and (label := _total_label(row)) is not None}
    others = [row for i, row in enumerate(rows) if i not in named]
    if not named or len(others) < 2 * len(named):
        return []
    filled = [sum(map(bool, column)) >= NEARLY_ALL * len(others) for column in zip(*others, strict=True)]
    out, start = list[int](), 0
    for i, label in named.items():
        above = rows[start:i] or [row for k, row in enumerate(rows[:i]) if k not in named]
        gaps = any(full and not cell for full, cell in zip(filled, rows[i], strict=True))
        of_group = not label or any(f" {cell.lower()} " in f" {label} " for row in above for cell in row if cell)
        if gaps and of_group and _sums_up(rows[i], above):
            out.append(lines[i])
            start = i + 1
    return out


def _total_label(row: list[str]) -> str | None:
    """Return what stands beside the word for a total in the first text of a row, in lower case; None without one."""
    found = SUBTOTAL.fullmatch(next((cell for cell in row if cell and not is_value(cell)), ""))
    return None if found is None else (found["after"] or found["before"] or "").strip(" :").lower()


def _sums_up(total: list[str], above: list[list[str]]) -> bool:
    """Whether all numbers of a row are at least as large as those above; columns with negative numbers are ignored."""
    compared = False
    for i, cell in enumerate(total):
        own = _amount(cell)
        values = [value for row in above if (value := _amount(row[i])) is not None]
        if own is None or not values or min(values) < 0:
            continue
        if own < max(values):
            return False
        compared = True
    return compared


def _amount(cell: str) -> float | None:
    """Return a number in any notation, the larger where a sign may be for decimals or for thousands; None of others."""
    return max((value for sign in ".," if (value := number_in(cell, sign)) is not None), default=None)


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
