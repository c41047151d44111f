"""`basis=` of every system: it is learned from the first rows, and rows are seen through it wherever they are read.

`n_features_in_` and `feature_names_in_` are those of the rows as given; coefficients belong to the columns of phi.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from adaline.arrays import Array, host, is_sparse
from adaline.basis.base import Basis
from adaline.errors import InvalidData, InvalidParameter
from adaline.sources import Source
from adaline.sources.expanded import expanded, phi
from adaline.sources.sample import draw_rows

SAMPLE = 2**14
"""Rows that a basis learns from, where there are more."""


def learn_basis(system: Any, source: Source) -> None:
    """Learn the basis of a system, if it has one, from the rows of a source that have a weight; keep it as `basis_`."""
    wanted = read_basis(system)
    if wanted is None:
        system.__dict__.pop("basis_", None)
        return
    rows = source.unlabelled()
    if wanted.learns:
        some: Any = np.concatenate(
            [_dense(block.x) for block in draw_rows(rows, SAMPLE, among=_weighed(rows)).blocks()]
        )
    else:
        some = _dense(rows.peek().gathered().x[:2, :])
    if not np.isfinite(some).all():
        rows.refuse_nonfinite()
    system.basis_ = clone(wanted).fit(some)


def begin_basis(system: Any, row: Any) -> None:
    """Learn the basis of a system that begins with one row, which can teach no more than its width."""
    wanted = read_basis(system)
    if wanted is None:
        return
    if wanted.learns:
        raise InvalidData(
            f"{type(wanted).__name__} is learned from rows, and one row is too little: begin with fit or partial_fit"
        )
    system.basis_ = clone(wanted).fit(np.atleast_2d(row))


def read_basis(system: Any) -> Basis | None:
    """Return the basis that a system is asked for."""
    wanted: Basis | None = getattr(system, "basis", None)
    return wanted


def check_basis(system: Any) -> None:
    """Refuse to go on with rows where `basis` is no longer what the system was begun with."""
    kept, wanted = basis_of(system), read_basis(system)
    if kept is None and wanted is None:
        return
    if kept is None or wanted is None or not kept.asked_like(wanted):
        raise InvalidParameter(
            f"basis is {wanted}, and {type(system).__name__} was begun with {kept}: set it back to go on, or fit anew"
        )


def basis_of(system: Any) -> Basis | None:
    """Return the basis that a system has learned, or None."""
    found: Basis | None = system.__dict__.get("basis_")
    return found


def through_basis(system: Any, source: Source) -> Source:
    """Return rows as a fitted system sees them: through its basis, if it has one."""
    basis = basis_of(system)
    return source if basis is None else expanded(source, basis)


def rows_through_basis(system: Any, x: Any) -> Any:
    """Return rows of numbers as a fitted system sees them; phi(x) is dense, and on the host."""
    basis = basis_of(system)
    return x if basis is None else phi(basis, x)


def width_of(system: Any) -> int:
    """Return how many columns a fitted system sees."""
    basis = basis_of(system)
    return int(system.n_features_in_) if basis is None else basis.size


def given_columns(system: Any) -> list[str]:
    """Return the names of the columns as they were given, x0, x1, ... where they have none."""
    names = getattr(system, "feature_names_in_", None)
    return [f"x{j}" for j in range(system.n_features_in_)] if names is None else [str(name) for name in names]


def columns_of(system: Any) -> list[str]:
    """Return the names of the columns that a fitted system sees, one for each coefficient."""
    basis = basis_of(system)
    return given_columns(system) if basis is None else basis.names(given_columns(system))


def check_same_columns(one: Any, other: Any) -> None:
    """Refuse to merge models whose columns, or bases, are not the same."""
    names = [list(getattr(model, "feature_names_in_", ())) for model in (one, other)]
    if all(names) and names[0] != names[1]:
        raise InvalidData(f"cannot merge models of different columns: {names[0]} and {names[1]}")
    mine, theirs = basis_of(one), basis_of(other)
    if (mine is None) != (theirs is None) or (mine is not None and not mine.same(theirs)):
        raise InvalidData(
            f"cannot merge models of different bases: {mine} and {theirs}, or the same learned from different rows. "
            "Bases that learn nothing from rows, such as Polynomial without orthogonal=True, can be merged"
        )


def _weighed(source: Source) -> NDArray[np.intp] | None:
    """Return the places of rows of positive weight; None: of all rows, as where there are none, which fits refuse."""
    weight = source.read_weights()
    places = None if weight is None else np.flatnonzero(host(weight))
    return None if places is None or not len(places) else places


def _dense(x: Any) -> Array:
    return np.asarray(x.toarray() if is_sparse(x) else host(x), dtype=np.float64)
