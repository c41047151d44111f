"""Pieces of SQL: quoted names and texts, queries and the tables they name, and the choice of a table of a database."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from adaline.errors import UnreadableTable

QUERY = re.compile(
    r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|from|values)(?=[\s(\"'*]|--|/\*)", re.IGNORECASE | re.DOTALL
)


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

    A comment at its end does not hide the closing bracket.
    """
    kinds = [statement.type.name for statement in connection.extract_statements(query)]
    if kinds != ["SELECT"]:
        raise UnreadableTable(f"{title}: syntax error: give one SELECT statement, not {' and '.join(kinds) or 'none'}")
    return f"({query.strip().rstrip(';')}\n)"


def names_used(connection: Any, query: str, kind: str) -> set[str]:
    """Return the names that a query uses as "table_name" or "function_name", as DuckDB parses it.

    Files are named like tables.
    """
    return set(_values(json.loads(connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone()[0]), kind))


def _values(parsed: Any, key: str) -> Iterator[str]:
    """Yield the values of a key anywhere in parsed JSON."""
    if isinstance(parsed, dict):
        if key in parsed:
            yield parsed[key]
        parsed = list(parsed.values())
    for part in parsed if isinstance(parsed, list) else []:
        yield from _values(part, key)


def quoted(name: str) -> str:
    """Return a column or table name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"
