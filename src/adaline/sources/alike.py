"""Whether several files are parts of one table."""

from __future__ import annotations

from typing import Any

from adaline.errors import UnreadableTable
from adaline.sources.text import Layout


def arrow_kind(kind: Any) -> str:
    """Return "numbers", "texts" or the type itself."""
    import pyarrow as pa

    held = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_integer(held) or pa.types.is_floating(held) or pa.types.is_decimal(held):
        return "numbers"
    return "texts" if pa.types.is_string(held) or pa.types.is_large_string(held) else str(held)


def check_layout(first: str, wanted: Layout, name: str, found: Layout) -> None:
    """Refuse text files that are written differently, or whose columns are not those of the first, in its order."""
    if found.names != wanted.names:
        check_columns(first, dict.fromkeys(wanted.names, ""), name, dict.fromkeys(found.names, ""))
        raise UnreadableTable(f"{name} has the columns of {first} in another order: write them in one order")
    if found != wanted:
        raise UnreadableTable(f"{name} is written differently from {first} (separator, blank lines): write them alike")


def check_columns(first: str, wanted: dict[str, str], name: str, found: dict[str, str]) -> None:
    """Refuse files whose columns are not those of the first."""
    for column in wanted:
        if column not in found:
            raise UnreadableTable(f"{name} has no column {column!r}, which {first} has: open files of one kind")
        if wanted[column] != found[column]:
            raise UnreadableTable(
                f"column {column!r} holds {wanted[column]} in {first}, but {found[column]} in {name}: write them alike"
            )
    for column in found:
        if column not in wanted:
            raise UnreadableTable(f"{name} has a column {column!r}, which {first} has not: open files of one kind")
