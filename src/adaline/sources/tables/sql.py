"""Pieces of SQL: quoted names and texts, queries and the tables they name, and the choice of a table of a database."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from adaline.errors import UnreadableTable

QUERY = re.compile(
    r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|from|values|pivot|unpivot)(?=[\s(\"'*]|--|/\*)",
    re.IGNORECASE | re.DOTALL,
)


def is_query(data: str) -> bool:
    """Whether data that a user names is an SQL query; a file of that name comes first.

    Examples
    --------
    >>> from adaline.sources.tables.sql import is_query
    >>> is_query("FROM 'rows.csv' WHERE x > 1"), is_query("from.csv")
    (True, False)
    """
    return QUERY.match(data) is not None and not os.path.exists(data)


def chosen_table(name: str, tables: list[str], wanted: str | None) -> str:
    """Return the table of database `name` to read: the one asked for, or the only one."""
    if wanted is None and len(tables) == 1:
        return tables[0]
    if wanted in tables:
        return str(wanted)
    problem = "holds several tables" if wanted is None else f"holds no table {wanted!r}"
    raise UnreadableTable(
        f"{name} {problem}: name one by table=, or give a query there ({', '.join(tables) or 'none'})"
    )


def subquery(connection: Any, query: str, title: str) -> str:
    """Return a query as a subquery; refuse all but one SELECT, as DuckDB parses it.

    Semicolons at its end, with comments or without, mean nothing and are cut off. A comment at its end does not hide
    the closing bracket.
    """
    statements = connection.extract_statements(query)
    kinds = [statement.type.name for statement in statements]
    if kinds == ["MULTI"] or not all(statement.query for statement in statements):
        raise UnreadableTable(f"{title}: a PIVOT has to name its columns, as in PIVOT ... ON column IN ('a', 'b')")
    if kinds != ["SELECT"]:
        raise UnreadableTable(f"{title}: syntax error: give one SELECT statement, not {' and '.join(kinds) or 'none'}")
    meaning = _parsed(connection, query)
    ends = (match.start() for match in re.finditer(";", query))
    end = next((end for end in ends if _parsed(connection, query[:end]) == meaning), len(query))
    return f"({query[:end]}\n)"


def names_used(connection: Any, query: str, *keys: str) -> set[str]:
    """Return the names that a query uses as "table_name" or "function_name", or of several keys joined by dots.

    Files are named like tables, of a schema where there is a dot in their name.
    """
    return {
        ".".join(part[key] for key in keys if part[key])
        for part in _parts(_parsed(connection, query))
        if keys[-1] in part
    }


def _parsed(connection: Any, query: str) -> Any:
    """Return a query as DuckDB parses it, places included."""
    return json.loads(connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone()[0])


def _parts(parsed: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects anywhere in parsed JSON."""
    if isinstance(parsed, dict):
        yield parsed
        parsed = list(parsed.values())
    for part in parsed if isinstance(parsed, list) else []:
        yield from _parts(part)


def quoted(name: str) -> str:
    """Return a column or table name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"
