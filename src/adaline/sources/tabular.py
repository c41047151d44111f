"""Whether rows are a table, and the labels that it holds: to ask does not import what tables need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from numpy.typing import NDArray

from adaline.sources.base import Source
from adaline.sources.views import SameTargets

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


def label_order(source: Source) -> list[Any] | None:
    """Return the labels in the order of their categories, those without rows too; None where none is declared."""
    while isinstance(source, SameTargets):
        source = source.base
    return source.labels.column.order() if is_table(source) else None


def target_values(source: Source) -> NDArray[Any]:
    """Return all targets as they were given: (N,) or (N, K), labels of a table as they are in their column."""
    return source.target_values() if is_table(source) else source.read_targets()
