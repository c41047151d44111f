"""Words of SQL."""

from __future__ import annotations

import re

from adaline.errors import UnreadableTable

QUERY = re.compile(r"(\s|\(|--[^\n]*\n|/\*.*?\*/)*(select|with|from)(?=[\s(\"'*]|--|/\*)", re.IGNORECASE | re.DOTALL)


def chosen_table(name: str, held: list[str], wanted: str | None) -> str:
    """Return the table meant among those that a database holds."""
    if wanted is None and len(held) == 1:
        return held[0]
    if wanted in held:
        return str(wanted)
    problem = "holds several tables" if wanted is None else f"holds no table {wanted!r}"
    raise UnreadableTable(f"{name} {problem}: name one by table=, or give a query there ({', '.join(held) or 'none'})")


def subquery(query: str) -> str:
    """Return a query as a table; a comment at its end does not swallow the bracket."""
    return f"({query.strip().rstrip(';')}\n)"


def quoted(name: str) -> str:
    """Return a name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Return a text as SQL."""
    return "'" + value.replace("'", "''") + "'"
