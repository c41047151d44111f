"""Whether rows are a table: to ask does not import what tables need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from adaline.sources.base import Source

if TYPE_CHECKING:  # tables are slow to import
    from adaline.sources.tables.source import TableSource


def is_table(rows: Any) -> TypeGuard[TableSource]:
    """Whether rows are a table.

    Examples
    --------
    >>> from adaline import open_table
    >>> from adaline.sources.tabular import is_table
    >>> is_table(open_table("penguins", target="body_mass_g")), is_table([[1.0], [2.0]])
    (True, False)
    """
    return isinstance(rows, Source) and rows.tabular
