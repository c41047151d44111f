"""Spreadsheets of Excel and OpenDocument: a sheet is copied as CSV, and read as a file of text from there.

Row n of the sheet is line n of the copy, so that messages name the rows that the user sees.
"""

from __future__ import annotations

import csv
from datetime import date, datetime, time, timedelta
from typing import Any

from adaline.errors import InvalidParameter, UnreadableTable


def write_sheet(name: str, wanted: str | int | None, copy: str) -> tuple[str, ...]:
    """Write a sheet as CSV: the one wanted, by name or number, or the first that holds a table; return notes."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise UnreadableTable(
            f"{name} is a spreadsheet, which takes python-calamine to read: pip install 'adaline-learn[excel]', or "
            "save the sheet as CSV"
        ) from None
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
