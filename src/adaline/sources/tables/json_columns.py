"""JSON files that hold a table as one object, as pandas writes it by `to_json`: copied as lines of JSON, one a row."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from typing import Any

from adaline.errors import UnreadableTable
from adaline.sources.tables.files import open_compressed
from adaline.sources.tables.layout import INDEX, check_names

MOST = 2**27  # bytes of a file that is held in memory
NESTED = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*("(?:[^"\\]|\\.)*"\s*:\s*[{\[]|.*:\s*\[\s*\{)', re.DOTALL)
"""How a file begins that is one object whose first value is an object or a list, or that holds a list of objects."""

Records = list[dict[str, Any]]


def write_rows(name: str, copy: str) -> str | None:
    """Write the rows of a file that is one object as lines of JSON; return a note on how it was read, which may be "".

    None of a file that is no such object.
    """
    try:
        with open_compressed(name) as file:
            if NESTED.match(bytes(file.read(2**16))) is None:
                return None
        with open_compressed(name) as file:
            content = bytes(file.read(MOST + 1))
        document = json.loads(content, object_pairs_hook=_distinct) if len(content) <= MOST else None
    except RepeatedKey as error:
        raise UnreadableTable(f"{name}: an object has two values called {str(error)!r}: rename one of them") from None
    except (ValueError, RecursionError, OSError, EOFError, zlib.error):  # lines of JSON, or what others report
        return None
    if isinstance(document, dict) and isinstance(document.get("columns"), list) and "data" in document:
        check_names(name, list(map(str, document["columns"])))
    found = document_rows(document)
    if found is None:
        return None
    rows, note = found
    with open(copy, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    return note


class RepeatedKey(Exception):
    """An object of JSON has two values of one name."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise RepeatedKey(next(name for name in names if names.count(name) > 1))
    return found


def document_rows(document: Any) -> tuple[Records, str] | None:
    """Return the rows of a table that is one JSON object, and a note on how it was read; None of another document.

    It holds columns by name, each a list or values by row label; rows by label; `columns` and `data`; or one list of
    rows beside other values. Labels that do not count the rows from 0 are a column called index.

    Examples
    --------
    >>> from adaline.sources.tables.json_columns import document_rows
    >>> document_rows({"x": {"0": 1, "1": 2}, "y": {"0": "a", "1": "b"}})
    ([{'x': 1, 'y': 'a'}, {'x': 2, 'y': 'b'}], '')
    >>> document_rows({"columns": ["x", "y"], "data": [[1, "a"]]})
    ([{'x': 1, 'y': 'a'}], '')
    >>> document_rows({"status": "ok", "data": [{"x": 1}, {"x": 2}]})
    ([{'x': 1}, {'x': 2}], "the rows are those in 'data'; 'status' is left out")
    """
    if not isinstance(document, dict) or not document:
        return None
    data = document.get("data")
    if isinstance(data, list) and document.keys() <= {"columns", "index", "data"} and "columns" in document:
        names = document["columns"]
        fits = isinstance(names, list) and all(isinstance(row, list) and len(row) == len(names) for row in data)
        return ([dict(zip(map(str, names), row, strict=True)) for row in data], "") if fits else None
    if isinstance(data, list) and document.keys() == {"schema", "data"}:
        return (data, "") if all(isinstance(row, dict) for row in data) else None
    values = list(document.values())
    lists = [name for name, one in document.items() if _holds_rows(one)]
    if len(lists) == 1:
        left_out = ", ".join(repr(name) for name in document if name != lists[0])
        rest = f"; {left_out} is left out" if left_out else ""
        return document[lists[0]], f"the rows are those in {lists[0]!r}{rest}"
    if all(isinstance(one, list) for one in values) and len({len(one) for one in values}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)], ""
    if not all(isinstance(one, dict) and one.keys() == values[0].keys() for one in values):
        return None
    return _labelled(document, values)


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _labelled(document: dict[str, dict[str, Any]], values: list[dict[str, Any]]) -> tuple[Records, str]:
    """Return the rows of an object of objects, which are its columns unless their values say that they are rows."""
    turned = {label: {name: column[label] for name, column in document.items()} for label in values[0]}
    numbered = [all(map(str.isdecimal, keys)) for keys in (document, values[0])]
    mixed = [any(_is_mixed(one.values()) for one in columns) for columns in (values, turned.values())]
    by_row = numbered[0] if any(numbered) and not all(numbered) else mixed[0] and not mixed[1]
    labels, rows = (list(document), values) if by_row else (list(turned), list(turned.values()))
    note = ""
    if not any(numbered):
        names = "rows" if by_row else "columns"
        note = f"the keys of the object, as {next(iter(document))!r}, are read as names of {names}"
        note += "" if by_row else "; if they name rows, write a list of objects, as to_json(orient='records') does"
    if labels == [*map(str, range(len(labels)))] or any(INDEX in row for row in rows[:1]):
        return rows, note
    return [{INDEX: label, **row} for label, row in zip(labels, rows, strict=True)], note


def _is_mixed(values: Iterable[Any]) -> bool:
    """Whether there are texts and other values, missing ones aside."""
    return len({isinstance(value, str) for value in values if value is not None}) > 1
