"""JSON files that hold a table as one object, as pandas writes it by `to_json`: copied as lines of JSON, one a row."""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

from adaline.sources.tables.files import open_compressed
from adaline.sources.tables.layout import INDEX

MOST = 2**27  # bytes of a file that is held in memory
NESTED = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[{\[]')
"""How a file begins whose first value is an object or a list."""


def write_rows(name: str, copy: str) -> bool:
    """Write the rows of a file that is one object of columns as lines of JSON; False where it is another."""
    try:
        with open_compressed(name) as file:
            if NESTED.match(bytes(file.read(2**16))) is None:
                return False
        with open_compressed(name) as file:
            content = bytes(file.read(MOST + 1))
        found = rows_of(json.loads(content)) if len(content) <= MOST else None
    except (ValueError, RecursionError, OSError, EOFError, zlib.error):  # lines of JSON, or what others report
        return False
    if found is None:
        return False
    with open(copy, "w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(row) + "\n" for row in found)
    return True


def rows_of(document: Any) -> list[dict[str, Any]] | None:
    """Return the rows of a table that is one JSON object; None of another document.

    It holds columns by name, each a list or values by row label; rows by label; or `columns` and `data`. Labels that do
    not count the rows from 0 are a column called index.

    Examples
    --------
    >>> from adaline.sources.tables.json_columns import rows_of
    >>> rows_of({"x": {"0": 1, "1": 2}, "y": {"0": "a", "1": "b"}})
    [{'x': 1, 'y': 'a'}, {'x': 2, 'y': 'b'}]
    >>> rows_of({"columns": ["x", "y"], "data": [[1, "a"]]})
    [{'x': 1, 'y': 'a'}]
    """
    if not isinstance(document, dict) or not document:
        return None
    data = document.get("data")
    if isinstance(data, list) and document.keys() <= {"columns", "index", "data"} and "columns" in document:
        names = document["columns"]
        fits = isinstance(names, list) and all(isinstance(row, list) and len(row) == len(names) for row in data)
        return [dict(zip(map(str, names), row, strict=True)) for row in data] if fits else None
    if isinstance(data, list) and document.keys() == {"schema", "data"}:
        return data if all(isinstance(row, dict) for row in data) else None
    values = list(document.values())
    if all(isinstance(one, list) for one in values) and len({len(one) for one in values}) == 1:
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    if not all(isinstance(one, dict) and one.keys() == values[0].keys() for one in values):
        return None
    if all(map(str.isdecimal, document)) and not all(map(str.isdecimal, values[0])):
        labels, rows = list(document), values
    else:
        labels = list(values[0])
        rows = [{name: column[label] for name, column in document.items()} for label in labels]
    if labels == [*map(str, range(len(labels)))] or any(INDEX in row for row in rows[:1]):
        return rows
    return [{INDEX: label, **row} for label, row in zip(labels, rows, strict=True)]
