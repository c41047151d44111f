"""The columns of a system's input, as a record: how many, their names, their coding, and the basis over them.

What opens rows (`input.open`) returns this record beside the source; it is part of the state that a system learns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Annotated, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from adaline.basis.base import Basis
from adaline.coding import Coding
from adaline.coding.names import NAMED, MadeNames, NumberedNames
from adaline.forms import Count, Size
from adaline.sources import Source
from adaline.sources.expanded import expanded

SHOWN_NAMES: ContextVar[tuple[str, ...] | None] = ContextVar("names", default=None)
"""The names of columns given without names, while a system is fitted inside another one, which knows them."""


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
    chosen : the indices of the columns that a model works on, where others were given that only its fit needs.
    """

    count: Annotated[int, Size("F")]  # type: ignore[assignment]  # not the method of tuples
    names: Annotated[tuple[str, ...], Size("F", len)] | None = None
    coding: Coding | None = None
    basis: Basis | None = None
    hashed: bool = False
    first: Count | None = None
    chosen: tuple[Count, ...] = ()

    @property
    def width(self) -> int:
        """Number of columns that the system works on: M with a basis, else D."""
        return self.count if self.basis is None else self.basis.size

    def given_names(self) -> list[str]:
        """Return the names of the columns as given, (D,): x0, x1, ... where they have none."""
        if self.names is None and self.coding is not None:
            return cast("list[str]", self.coding.names)  # very many: each is made when it is asked for
        names = SHOWN_NAMES.get() if self.names is None else self.names
        if names and len(names) == self.count:
            return list(names)
        if self.chosen:
            return [f"x{j}" for j in self.chosen]
        made = NumberedNames(self.first or 0, self.count)
        return list(made) if self.count <= NAMED else cast("list[str]", made)

    def coefficient_names(self) -> list[str]:
        """Return the names of the columns that the system works on, one for each coefficient."""
        return self.given_names() if self.basis is None else self.basis.names(self.given_names())

    def shown_names(self) -> NDArray[np.object_] | None:
        """Return the names of the columns as given as an array, (D,); None where they have none."""
        return None if self.names is None else np.asarray(self.names, dtype=object)

    def expand(self, source: Source) -> Source:
        """Return the rows of a source, D columns, as the system works on them: phi(x) with a basis."""
        return source if self.basis is None else expanded(source, self.basis)


def kept_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return names that are kept with a model; None where columns are so many that they are made instead."""
    return None if names is None or isinstance(names, MadeNames) else tuple(names)


def first_index(names: Sequence[str] | None) -> int | None:
    """Return the index of the first column, where they are so many that their names are made of indices; else None."""
    return names.first if isinstance(names, NumberedNames) else None
