"""`basis=` of every system: phi is learned from the first rows, and rows are read through it from then on.

`n_features_in_` and `feature_names_in_` are those of the rows as given; coefficients belong to the columns of phi.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host, is_sparse
from adaline.basis.base import Basis
from adaline.errors import InvalidData, InvalidParameter
from adaline.estimator import clone
from adaline.fitted import AnySystem
from adaline.input.system import columns_if_any, columns_on
from adaline.sources import Source
from adaline.sources.expanded import phi
from adaline.sources.sample import draw_rows
from adaline.sources.views import unlabelled
from adaline.sums import RowSample

SAMPLE = 2**14
"""Rows that a basis learns from, where there are more."""


def learn_basis(system: AnySystem, source: Source) -> Basis | None:
    """Return the `basis` of a system as learned from the rows of a source that have a weight; None where it has none.

    A basis that needs only the number of columns takes them from the first rows.
    """
    wanted = wanted_basis(system)
    if wanted is None:
        return None
    rows = unlabelled(source) if source.shape.targets else source
    some: Any = rows.sum(RowSample, most=SAMPLE).x if wanted.learns and rows.streamed else ()
    if wanted.learns and not len(some):  # rows in memory, or none that has a weight
        some = np.concatenate(
            [_dense(block.x) for block in draw_rows(rows, SAMPLE, among=_rows_with_weight(rows)).blocks()]
        )
    elif not wanted.learns:
        some = _dense(rows.peek().gathered().x[:2, :])
    if not np.isfinite(some).all():
        rows.refuse_nonfinite()
    learned: Basis = clone(wanted).fit(some)
    return learned


def basis_of_row(system: AnySystem, row: Any) -> Basis | None:
    """Return the `basis` of a system that begins with one row (D,), from which only the width can be learned."""
    wanted = wanted_basis(system)
    if wanted is None:
        return None
    if wanted.learns:
        raise InvalidData(
            f"{type(wanted).__name__} is learned from rows, and one row is too little: begin with fit or partial_fit"
        )
    learned: Basis = clone(wanted).fit(np.atleast_2d(row))
    return learned


def wanted_basis(system: AnySystem) -> Basis | None:
    """Return the parameter `basis` of a system, not learned; None also where it has no such parameter."""
    wanted: Basis | None = getattr(system, "basis", None)
    return wanted


def check_basis(system: AnySystem) -> None:
    """Refuse to continue with rows where the parameter `basis` has changed since the system began."""
    learned, wanted = basis_of(system), wanted_basis(system)
    if learned is None and wanted is None:
        return
    if learned is None or wanted is None or not learned.asked_like(wanted):
        raise InvalidParameter(
            f"basis is {wanted}, and {type(system).__name__} was begun with {learned}: restore it to continue, or refit"
        )


def basis_of(system: AnySystem) -> Basis | None:
    """Return the basis that a system has learned, or None."""
    columns = columns_if_any(system)
    return None if columns is None else columns.basis


def rows_through_basis(system: AnySystem, x: AnyArray) -> Any:
    """Return rows x (n, D) as a fitted system works on them: phi(x), (n, M), dense and on the host, or x itself."""
    basis = basis_of(system)
    return x if basis is None else phi(basis, x)


def width_of(system: AnySystem) -> int:
    """Return the number of columns that a fitted system works on."""
    return columns_on(system).width


def given_columns(system: AnySystem) -> list[str]:
    """Return the names of a fitted system's columns as given, (D,): x0, x1, ... where they have none."""
    return columns_on(system).given_names()


def columns_of(system: AnySystem) -> list[str]:
    """Return the names of the columns that a fitted system works on, one for each coefficient."""
    return columns_on(system).coefficient_names()


def _rows_with_weight(source: Source) -> NDArray[np.intp] | None:
    """Return the indices of rows of positive weight; None for all rows, also where no row has any: fits refuse that."""
    weight = source.read_weights()
    indices = None if weight is None else np.flatnonzero(host(weight))
    return None if indices is None or not len(indices) else indices


def _dense(x: AnyArray) -> Array:
    return np.asarray(x.toarray() if is_sparse(x) else host(x), dtype=np.float64)
