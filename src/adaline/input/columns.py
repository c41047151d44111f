"""The columns of a system's input, as a record: how many, their names, their coding, and the basis over them.

What opens rows (`input.open`) returns this record beside the source; it is part of the state that a system learns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from adaline.basis.base import Basis
from adaline.coding import Coding, Column
from adaline.coding.names import NAMED, MadeNames, NumberedNames
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.estimator import BaseEstimator
from adaline.fitted import AnySystem
from adaline.forms import Count, Size
from adaline.results import some
from adaline.sources import Source
from adaline.sources.expanded import expanded
from adaline.state import (
    MISSING,
    NO_SETTINGS,
    FitSettings,
    FittedState,
    FittedWith,
    ShownAttribute,
    change_state,
)

T = TypeVar("T")

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
    """

    count: Annotated[int, Size("F")]  # type: ignore[assignment]  # not the method of tuples
    names: Annotated[tuple[str, ...], Size("F", len)] | None = None
    coding: Coding | None = None
    basis: Basis | None = None
    hashed: bool = False
    first: Count | None = None

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


class ColumnAttribute(ShownAttribute[T]):
    """An attribute that shows a part of the record of columns; absent where the record says None."""

    def __init__(self, part: Callable[[InputColumns], T | None]) -> None:
        self.part = part

    def read(self, model: Any) -> Any:
        """Return the part of the record, MISSING where there is none."""
        columns = columns_if_any(model)
        value = None if columns is None else self.part(columns)
        return MISSING if value is None else value


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemState(FittedState):
    """What a fit has learned of rows, the columns that these had, and the settings that the state is read with.

    `chosen_from` is the number of candidates among which `select` chose the model by the same rows.
    """

    columns: InputColumns
    fitted_with: FitSettings = NO_SETTINGS
    chosen_from: int = 1

    def made_names(self) -> NDArray[np.object_] | None:
        """Return the names of columns that are not in their record, as they grow with the rows; None without such."""
        return None


class System(BaseEstimator):
    """A learner: its parameters, and what a fit has learned, among it the columns of the input."""

    learns: ClassVar[type[SystemState] | None] = None
    takes_offset: ClassVar[bool] = False
    """Whether outputs may have a part that is known, a number for each row."""
    _state: SystemState | None = None
    _fitted_with: FittedWith[Any] = FittedWith(FitSettings)
    n_features_in_ = ColumnAttribute[int](lambda columns: columns.count)
    feature_names_in_ = ColumnAttribute[NDArray[np.object_]](lambda columns: columns.shown_names())
    coding_ = ColumnAttribute[Coding](lambda columns: columns.coding)
    basis_ = ColumnAttribute[Basis](lambda columns: columns.basis)
    _hashed = ColumnAttribute[bool](lambda columns: columns.hashed or None)
    _first_index = ColumnAttribute[int](lambda columns: columns.first)

    def _settings_of_fit(self) -> Any:
        """Return the settings that a fit now is to be read with."""
        return type(self)._fitted_with.kind.of(self)

    def _absorb(self, table: Any) -> Source:
        """Return the rows of a table without the effects that it absorbs; most systems absorb none."""
        raise absorbs_nothing(self)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the model is fitted: what scikit-learn's `check_is_fitted` asks."""
        return columns_if_any(self) is not None


def absorbs_nothing(system: AnySystem) -> InvalidParameter:
    """Return the error for a table whose effects a system cannot absorb."""
    return InvalidParameter(
        f"{type(system).__name__} does not absorb effects: use LinearRegression, Ridge or ElasticNet, or "
        "GeneralizedLinear with loss='poisson', or open the table without absorb="
    )


def columns_if_any(system: AnySystem) -> InputColumns | None:
    """Return the columns that a fit found; None before."""
    state = system._state if isinstance(system, System) else None
    try:
        return None if state is None else state.columns
    except AttributeError:
        refuse_foreign_state(system)
        raise


def refuse_foreign_state(system: AnySystem) -> None:
    """Refuse a system of a user's own class that keeps something of its own where a fit keeps its state."""
    if not isinstance(system._state, SystemState | None):
        raise InvalidType(
            f"{type(system).__name__} has set the attribute _state, where adaline keeps what fit has learned: give "
            "that of the class another name"
        )


def columns_on(system: AnySystem) -> InputColumns:
    """Return the columns of a fitted system."""
    columns = columns_if_any(system)
    if columns is None:
        raise AttributeError(f"{type(system).__name__!r} object has no attribute 'n_features_in_'")
    if columns.names is None and (names := names_on(system)) is not None:
        return columns._replace(names=tuple(map(str, names)))
    return columns


def names_on(system: AnySystem) -> Any:
    """Return the names of a fitted system's columns, (D,), or None.

    A system that learns from dicts makes them when they are asked for: they are not in its record of columns.
    """
    if not isinstance(system, System):
        return getattr(system, "feature_names_in_", None)
    columns = columns_if_any(system)
    if columns is not None and columns.names is not None:
        return columns.shown_names()
    return None if system._state is None else system._state.made_names()


def coding_on(system: AnySystem) -> Coding | None:
    """Return how the columns of a fitted system are made from those of a table or frame; None where they are not."""
    columns = columns_if_any(system)
    return None if columns is None else columns.coding


def set_coding(system: AnySystem, coding: Coding) -> None:
    """Let a fitted system code the columns of tables and frames in another way."""
    change_state(system, columns=columns_on(system)._replace(coding=coding))


def _categories(coding: Coding | None) -> list[Column]:
    return [] if coding is None else [column for column in coding.columns if column.is_category]


def check_same_columns(one: Any, other: Any) -> None:
    """Refuse to merge models whose columns, or bases, are not the same."""
    mine, theirs = columns_on(one), columns_on(other)
    for a, b in zip(_categories(mine.coding), _categories(theirs.coding), strict=False):
        if a.name == b.name and a.levels != b.levels:
            in_words = [some([*map(str, column.levels)]) for column in (a, b)]
            raise InvalidData(
                f"cannot merge models of different levels: column {a.name!r} has {in_words[0]} in one of them and "
                f"{in_words[1]} in the other. Name all levels, in the same order, by categories= of open_table"
            )
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
