"""What every learner is: its parameters, what a fit has learned, and the columns of the input that a fit was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.basis.base import Basis
from adaline.coding import Coding, Column
from adaline.errors import InvalidData, InvalidParameter, InvalidType
from adaline.estimator import BaseEstimator
from adaline.fitted import AnySystem
from adaline.forms import NOT_KEPT
from adaline.input.columns import InputColumns
from adaline.input.fitted_rows import FittedRows
from adaline.lazy import LazyModule
from adaline.results import some
from adaline.sources import Source
from adaline.state import MISSING, NO_SETTINGS, FitSettings, FittedAttribute, FittedState, FittedWith, change_state

T = TypeVar("T")
exporting = LazyModule("adaline.exporting")  # a layer above: a model offers what is built on it


class ColumnAttribute(FittedAttribute[T]):
    """An attribute that reads the record of columns in the state; absent where the record says None."""

    def __init__(self, part: Callable[[InputColumns], T | None]) -> None:
        self.part = part

    def read(self, model: Any) -> Any:
        """Return the part of the record, MISSING where there is none."""
        columns = columns_if_any(model)
        value = None if columns is None else self.part(columns)
        return MISSING if value is None else value

    def __set__(self, model: Any, value: T) -> None:
        raise AttributeError(f"{self.name} of {type(model).__name__} is what fit found in its rows: fit again")


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemState(FittedState):
    """What a fit has learned of rows, the columns that these had, and the settings that the state is read with.

    `chosen_from` is the number of candidates among which `select` chose the model by the same rows, `rows` the rows of
    the last `fit`, None where rows came or went since.
    """

    columns: InputColumns
    fitted_with: FitSettings = NO_SETTINGS
    chosen_from: int = 1
    rows: Annotated[FittedRows | None, NOT_KEPT] = None

    def made_names(self) -> NDArray[np.object_] | None:
        """Return the names of columns that are not in their record, as they grow with the rows; None without such."""
        return None


class NoEnclosures:
    """The method `enclose` of systems that have none."""

    def __get__(self, model: Any, cls: Any) -> Any:
        raise AttributeError(
            f"{cls.__name__!r} has no attribute 'enclose': bounds on exact coefficients are proved by "
            "LinearRegression, Ridge, WienerFilter, LogisticRegression, GeneralizedLinear, LeastSquaresClassifier, "
            "FisherDiscriminant and GaussianClassifier"
        )


class System(BaseEstimator):
    """A learner: its parameters, and what a fit has learned, among it the columns of the input."""

    learns: ClassVar[type[SystemState] | None] = None
    """The class of the value that a fit leaves in `_state`."""
    takes_offset: ClassVar[bool] = False
    """Whether outputs may have a part that is known, a number for each row."""
    takes_instruments: ClassVar[bool] = False
    """Whether a formula may have endogenous columns and instruments."""
    takes_additive: ClassVar[bool] = False
    """Whether a formula may have smooths and random effects."""
    _state: SystemState | None = None
    enclose: Any = NoEnclosures()
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

    def _fit_folds(self, *args: Any, **kwargs: Any) -> Any:
        """Return the fits to all folds of a cross-validation; None where each is a fit of its own."""
        return None

    def _bootstrap_rows(self, *args: Any, **kwargs: Any) -> Any:
        """Return each fit with its rows, for replicates of all at once; None where each is a fit of its own."""
        return None

    def _leave_rows_out(self, *args: Any, **kwargs: Any) -> Any:
        """Return the models without each row; None where these have no closed form."""
        return None

    def _absorb(self, table: Any) -> Source:
        """Return the rows of a table without the effects that it absorbs; most systems absorb none."""
        raise absorbs_nothing(self)

    def _recoded(self, coding: Coding) -> Coding:
        """Return how the system codes columns of a table or frame that would be coded like this."""
        return coding

    def expression(self) -> Any:
        """Return what the fitted model predicts as trees of its raw columns, `adaline.exporting.Prediction`.

        Its fields are the trees: `prediction`, and of classifiers `score` and `probability`. A tree consists of
        columns, constants, arithmetic, comparisons, functions, and choices by levels or intervals, with the coding, the
        basis and the link of the model in it. `print` shows it; `adaline.export` writes it in another language.

        Examples
        --------
        >>> from adaline import LogisticRegression
        >>> model = LogisticRegression(penalty=1.0).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
        >>> found = model.expression()
        >>> print(found)  # doctest: +ELLIPSIS
        t1 = finite(x0 * ...)
        ...
        prediction = if(is_finite(t1), label(t1; 'no', 'yes'), missing)
        score = t1
        probability_no = ...
        >>> found.score[0].name
        'finite'

        References
        ----------
        Lectures S0 to S4: a linear system is a formula.
        """
        return exporting.expression(self)

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
    if (phi is None) != (psi is None) or (phi is not None and not phi.asked_like(psi)):
        raise InvalidData(f"cannot merge models of different bases: {phi} and {psi}")
    if phi is not None and not phi.same(psi):
        raise InvalidData(
            "cannot merge models whose knots or levels differ: they were learned from the rows of each fit. Add the "
            "rows of one model to the other instead, by partial_fit or adaline update; or begin both as copies of one"
        )
