"""Pieces of SQL: quoted names and texts, subqueries, and the choice of a table of a database."""

from __future__ import annotations

import re

from adaline.errors import UnreadableTable

QUERY = re.compile(r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|from)(?=[\s(\"'*]|--|/\*)", re.IGNORECASE | re.DOTALL)


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


def subquery(query: str) -> str:
    """Return a query as a subquery; a comment at its end does not hide the closing bracket."""
    return f"({query.strip().rstrip(';')}\n)"


def quoted(name: str) -> str:
    """Return a column or table name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"
