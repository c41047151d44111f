"""What the columns of rows mean: their names, and how they were made from the columns of a table."""

from __future__ import annotations

from dataclasses import dataclass

from adaline.coding import Coding


@dataclass(frozen=True)
class RowColumns:
    """The columns of X (N, D).

    Parameters
    ----------
    names : (D,) their names; None where they have none. Of very many columns each is made when it is asked for.
    coding : how the columns were made from those of a table; None where they were not.
    hashed : whether the columns are those that all names of a file are hashed to.
    """

    names: tuple[str, ...] | None = None
    coding: Coding | None = None
    hashed: bool = False


UNNAMED = RowColumns()
"""Columns of numbers without names."""


def number_columns(names: tuple[str, ...] | None) -> RowColumns:
    """Return columns of numbers with (D,) names, or without."""
    return UNNAMED if names is None else RowColumns(names)
