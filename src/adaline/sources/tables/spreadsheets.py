"""Spreadsheets of Excel and OpenDocument: a sheet is copied as CSV, and read as a file of text from there.

Row n of the sheet is line n of the copy, so that messages name the rows that the user sees.
"""

from __future__ import annotations

import csv
import os
import re
import zipfile
import zlib
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from adaline.errors import InvalidParameter, UnreadableTable
from adaline.sources.tables.files import MOST_RATIO, check_unpacked

MOST_CELLS = 2**26  # from the first cell of a sheet to its last value, 2 GiB; more only where most of them have values
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"  # of Excel, whose sheets have 2^24 cells at most
BEGIN_SHEET = b"\x81\x01\x00"  # the first record of a sheet in a binary workbook
LAST_CELL_RECORD = 11  # records 1 to 11 are cells, record 0 begins a row
DAMAGED = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, NotImplementedError, IndexError)


def write_sheet(name: str, wanted: str | int | None, copy: str) -> tuple[str, ...]:
    """Write a sheet as CSV: the one wanted, by name or number, or the first that holds a table; return notes."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise UnreadableTable(
            f"{name} is a spreadsheet, which takes python-calamine to read: pip install 'adaline-learn[excel]', or "
            "save the sheet as CSV"
        ) from None
    check_extents(name)
    try:
        with CalamineWorkbook.from_path(name) as book:
            names = list(book.sheet_names)
            if wanted is not None:
                rows = _rows(book, _chosen(name, names, wanted))
                notes: tuple[str, ...] = ()
            else:
                sheets = ((sheet, _rows(book, sheet)) for sheet in names)
                found, rows = next(((s, r) for s, r in sheets if _holds_table(r)), (names[0] if names else "", []))
                others = ", ".join(repr(one) for one in names if one != found)
                notes = (f"sheet {found!r} is read; sheet= names another: {others}",) if others else ()
    except (CalamineError, OSError) as error:
        raise UnreadableTable(f"{name} cannot be read as a spreadsheet: {error}; save the sheet as CSV") from None
    first = min((i for row in rows for i, cell in enumerate(row) if cell), default=0)
    with open(copy, "w", encoding="utf-8", newline="\n") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows(row[first:] if any(row) else [] for row in rows)
    return notes


class Extent(NamedTuple):
    """How far the values of a sheet reach, in rows and columns, and in how many cells they are at least."""

    rows: int
    columns: int
    cells: int


def check_extents(name: str) -> None:
    """Refuse a workbook with a sheet whose last value is far beyond the others: all cells up to it take memory.

    A value in the last cell of an otherwise empty sheet of Excel would take 512 GiB, and end the process.
    """
    try:
        with open(name, "rb") as file:
            if file.read(4) == OLD_WORKBOOK:
                return
        with zipfile.ZipFile(name) as archive:
            parts = archive.infolist()
            check_unpacked(name, os.path.getsize(name), sum(part.file_size for part in parts))
            extents = [_extent(part.filename, archive.read(part)) for part in parts]
    except UnreadableTable:
        raise
    except DAMAGED as error:
        raise UnreadableTable(f"{name} cannot be read as a spreadsheet: {error}; save the sheet as CSV") from None
    for rows, columns, cells in extents:
        if rows * columns > max(MOST_CELLS, MOST_RATIO * cells):
            raise UnreadableTable(
                f"{name}: a sheet has a value in row {rows:,} and one in column {columns:,}, and few others. "
                "Delete those beyond the table, or save the sheet as CSV."
            )


def _extent(part: str, content: bytes) -> Extent:
    """Return how far a part of a workbook reaches, if it is a sheet of Excel or OpenDocument."""
    if part == "content.xml":
        return _open_document_extent(content)
    if content.startswith(BEGIN_SHEET):
        return _binary_extent(content)
    cells = re.findall(rb"""<(?:\w+:)?c\s[^<>]*?\br=["']([A-Za-z]{1,9})(\d{1,9})""", content)
    rows = re.findall(rb"""<(?:\w+:)?row\s[^<>]*?\br=["'](\d{1,9})""", content)
    columns = (_column_number(letters.decode()) for letters in {letters for letters, _ in cells})
    return Extent(max(map(int, [*rows, *(row for _, row in cells)]), default=0), max(columns, default=1), len(cells))


def _column_number(letters: str) -> int:
    """Return the number of a column, that of A being 1."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _binary_extent(content: bytes) -> Extent:
    """Return the extent of a sheet as records: type and size as numbers of 7 bits a byte, then what they are about."""
    at = row = column = cells = 0

    def number() -> int:
        nonlocal at
        found = shift = 0
        while True:
            byte = content[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 28:
                return found

    while at < len(content):
        kind, size = number(), number()
        if kind <= LAST_CELL_RECORD:
            index = 1 + int.from_bytes(content[at : at + 4], "little")
            row, column = (max(row, index), column) if kind == 0 else (row, max(column, index))
            cells += kind > 0
        at += size
    return Extent(row, column, cells)


def _open_document_extent(content: bytes) -> Extent:
    """Return the extent of the largest of the sheets, whose rows and cells may be repeated."""
    sheets = [_repeating_extent(sheet) for sheet in re.split(rb"<table:table\s", content)]
    return max(sheets, key=lambda one: one.rows * one.columns)


def _repeating_extent(sheet: bytes) -> Extent:
    at = row = column = cells = 0
    for text in re.split(rb"<table:table-row\b", sheet)[1:]:
        head, *parts = re.split(rb"<table:(?:covered-)?table-cell\b", text)
        width = last = 0
        for part in parts:
            width += _repeated(part, b"columns")
            if b"office:value" in part or b"<text:" in part:
                last = width
                cells += 1
        at += _repeated(head, b"rows")
        row, column = (at, max(column, last)) if last else (row, column)
    return Extent(row, column, cells)


def _repeated(text: bytes, what: bytes) -> int:
    """Return how often a row or a cell is repeated."""
    found = re.search(rb"""table:number-%b-repeated=["'](\d{1,9})""" % what, text)
    return int(found[1]) if found else 1


def _chosen(name: str, names: list[str], wanted: str | int) -> str:
    """Return the name of the sheet that a name or a number stands for."""
    if wanted in names:
        return str(wanted)
    if str(wanted).isdecimal() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise InvalidParameter(f"sheet: {name} has no sheet {wanted!r}; it has {', '.join(map(repr, names))}")


def _rows(book: Any, sheet: str) -> list[list[str]]:
    """Return the cells of a sheet as texts, rows above the first that is filled included."""
    return [[_text(cell) for cell in row] for row in book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)]


def _holds_table(rows: list[list[str]]) -> bool:
    """Whether rows are a table: two of them at least, of two values each."""
    return sum(sum(map(bool, row)) > 1 for row in rows) > 1


def _text(cell: Any) -> str:
    """Return a cell as text: numbers plainly, dates as in ISO 8601, on one line."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds() / 86400)
    return " ".join(str(cell).split())
