"""Closed forms cross-validated in one read: the sums of every fold, and a model from the sums of all others.

These functions serve every system that is solved from sums; systems that have the same sums share the read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from adaline.errors import AdalineError
from adaline.estimator import clone
from adaline.fitted import AnySystem, sums_folds
from adaline.input.columns import InputColumns
from adaline.input.labels import Labels
from adaline.input.system import System
from adaline.results import Status
from adaline.sources import Source
from adaline.sums import FoldSums, all_but_one, running

Unions = Callable[[list[Any]], list[Any]]
"""From the sums of folds to sums of some of them together, as `all_but_one` and `running`."""
# proven digits from which a fit to sums replaces a fit to the rows; most such fits have more; doubling it reads the
# rows again more often
ENOUGH_DIGITS = 6.0


class FoldedRows(NamedTuple):
    """Rows and the sums of their folds.

    Parameters
    ----------
    source : of all rows, with targets as the sums take them.
    columns : of the systems' input.
    total : the sums of all rows.
    unions : the sums of some folds together: of all but one, for each, or of the first one, two, ...
    seconds : that the read took.
    classes : labels of the classes, None for regressions.
    """

    source: Source
    columns: InputColumns
    total: Any
    unions: list[Any]
    seconds: float
    classes: Labels | None = None


class FoldFits(NamedTuple):
    """A system fitted to all rows, and to some folds together; None for those whose rows are needed."""

    whole: Any
    without: list[Any]


class FromSums(Protocol):
    """A system that is solved from sums."""

    def _fit_sums(self, rows: FoldedRows, sums: Any, source: Source | None) -> Any:
        """Fit to sums, with the rows they came from where they are at hand."""
        ...


def sum_folds(
    source: Source, columns: InputColumns, fold: NDArray[np.intp], unions: Unions, **config: Any
) -> FoldedRows | None:
    """Return the sums of all folds of a source, in one read; None where a number is not finite or a fold is empty."""
    start = perf_counter()
    parts: list[Any] = source.sum(FoldSums, fold, folds=int(fold.max()) + 1, **config).parts
    if not all(part.finite and part.rows for part in parts):
        return None
    return FoldedRows(source, columns, running(parts)[-1], unions(parts), perf_counter() - start)


def once(shared: dict[Any, Any], key: Any, open_folds: Callable[[], FoldedRows | None]) -> FoldedRows | None:
    """Return what is kept under a key, made where there is nothing yet."""
    if key not in shared:
        shared[key] = open_folds()
    found: FoldedRows | None = shared[key]
    return found


def fit_unions(system: FromSums, rows: FoldedRows) -> list[Any]:
    """Return a system fitted to the sums of each union of folds; None where the rows themselves are needed.

    Sums may leave too few digits, and columns that depend on each other are decided on the rows.
    """
    return [_enough(clone(system), rows, sums) for sums in rows.unions]


def fit_folds(system: FromSums, rows: FoldedRows | None) -> FoldFits | None:
    """Return a system fitted to the sums of all folds, with the rows at hand, and to those of each union."""
    if rows is None:
        return None
    whole = clone(system)._fit_sums(rows, rows.total, rows.source)
    proof = whole.certificate_
    whole.certificate_ = replace(proof, passes=proof.passes + 1, seconds=proof.seconds + rows.seconds)
    return FoldFits(whole, fit_unions(system, rows))


def fit_at_once(system: AnySystem, *given: Any) -> FoldFits | None:
    """Return the fits of all folds by a system that makes them at once; None of one that fits in a way of its own."""
    if not fits_as_we_do(system):
        return None
    if sums_folds(system):
        return fit_folds(system, system._sum_folds(*given, all_but_one))
    found: FoldFits | None = system._fit_folds(*given)
    return found


def fits_as_we_do(system: AnySystem) -> bool:
    """Whether `fit` is that of a system of this package, and not of a class derived from one."""
    kind: Any = type(system)
    return isinstance(system, System) and kind.fit.__module__.partition(".")[0] == "adaline"


def _enough(system: FromSums, rows: FoldedRows, sums: Any) -> Any:
    """Return a system fitted to sums; None where these do not do."""
    try:
        model = system._fit_sums(rows, sums, None)
    except AdalineError:  # the fit to the rows says it in its own words
        return None
    proof = model.certificate_
    return model if proof.status is Status.SOLVED and proof.digits >= ENOUGH_DIGITS else None
