"""The columns of a system's input, as a record: how many, their names, their coding, and the basis over them.

What opens rows (`input.open`) returns this record beside the source; `set_columns` puts it on a system.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, cast

import numpy as np

from adaline.basis.base import Basis
from adaline.coding import Coding
from adaline.coding.names import NAMED, MadeNames, NumberedNames
from adaline.errors import InvalidData
from adaline.fitted import AnySystem
from adaline.sources import Source
from adaline.sources.expanded import expanded

SHOWN_NAMES: ContextVar[tuple[str, ...] | None] = ContextVar("names", default=None)
"""The names of columns given without names, while a system is fitted inside another one, which knows them."""
OF_COLUMNS = ("feature_names_in_", "coding_", "basis_", "_hashed", "_first_index")
"""Attributes that hold a record of columns, beside `n_features_in_`."""


class InputColumns(NamedTuple):
    """The columns that a system takes, D as they are given, and M where it works on phi(x) instead of x.

    Parameters
    ----------
    count : D, the number of columns as given; of a table or frame, once they are coded.
    names : (D,) names of these columns; None where they have none.
    coding : how they are made from the raw columns of a table or frame; None where they are numbers as given.
    basis : phi, as learned, with M columns; None where the system works on the columns as given.
    hashed : whether the columns are those that all names of a file are hashed to.
    first : the index of the first column, where they are those of a file of indices, and too many to keep their names.
    """

    count: int  # type: ignore[assignment]  # not the method of tuples
    names: tuple[str, ...] | None = None
    coding: Coding | None = None
    basis: Basis | None = None
    hashed: bool = False
    first: int | None = None

    @property
    def width(self) -> int:
        """Number of columns that the system works on: M with a basis, else D."""
        return self.count if self.basis is None else self.basis.size

    def given_names(self) -> list[str]:
        """Return the names of the columns as given, (D,): x0, x1, ... where they have none."""
        if self.names is None and self.coding is not None:
            return cast(list[str], self.coding.names)  # very many: each is made when it is asked for
        names = SHOWN_NAMES.get() if self.names is None else self.names
        if names and len(names) == self.count:
            return list(names)
        made = NumberedNames(self.first or 0, self.count)
        return list(made) if self.count <= NAMED else cast(list[str], made)

    def coefficient_names(self) -> list[str]:
        """Return the names of the columns that the system works on, one for each coefficient."""
        return self.given_names() if self.basis is None else self.basis.names(self.given_names())

    def expand(self, source: Source) -> Source:
        """Return the rows of a source, D columns, as the system works on them: phi(x) with a basis."""
        return source if self.basis is None else expanded(source, self.basis)


def kept_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names that are kept with a model; None where columns are so many that they are made instead."""
    return None if names is None or isinstance(names, MadeNames) else tuple(names)


def first_index(names: Sequence[str] | None) -> int | None:
    """Return the index of the first column, where they are so many that their names are made of indices; else None."""
    return names.first if isinstance(names, NumberedNames) else None


def names_on(system: AnySystem) -> Any:
    """Return the names of a fitted system's columns, (D,), or None.

    A system that learns from dicts makes them when they are asked for: they are not among its attributes.
    """
    return getattr(system, "feature_names_in_", None)


def columns_on(system: AnySystem) -> InputColumns:
    """Return the columns that `set_columns` has put on a system."""
    known = system.__dict__
    names = names_on(system)
    return InputColumns(
        int(system.n_features_in_),
        None if names is None else tuple(map(str, names)),
        known.get("coding_"),
        known.get("basis_"),
        known.get("_hashed", False),
        known.get("_first_index"),
    )


def set_columns(system: AnySystem, columns: InputColumns) -> None:
    """Set `n_features_in_`, and the other attributes that hold a record of columns, where there are such."""
    count, names, coding, basis, hashed, first = columns
    system.n_features_in_ = count
    shown = None if names is None else np.asarray(names, dtype=object)
    for attribute, value in zip(OF_COLUMNS, (shown, coding, basis, hashed or None, first), strict=True):
        if value is not None:
            setattr(system, attribute, value)
        elif attribute in system.__dict__:
            del system.__dict__[attribute]


def check_same_columns(one: Any, other: Any) -> None:
    """Refuse to merge models whose columns, or bases, are not the same."""
    mine, theirs = columns_on(one), columns_on(other)
    if mine.names and theirs.names and mine.names != theirs.names:
        raise InvalidData(f"cannot merge models of different columns: {list(mine.names)} and {list(theirs.names)}")
    if None not in (mine.first, theirs.first) and mine.first != theirs.first:
        raise InvalidData(f"cannot merge models of different columns: from x{mine.first} and from x{theirs.first} on")
    phi, psi = mine.basis, theirs.basis
    if (phi is None) != (psi is None) or (phi is not None and not phi.same(psi)):
        raise InvalidData(
            f"cannot merge models of different bases: {phi} and {psi}, or the same learned from different rows. "
            "Bases that learn nothing from rows, such as Polynomial without orthogonal=True, can be merged"
        )
