"""The effect of another policy for missing values: the recommended system under both, on the same complete rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.comparison.findings import NOTE, Finding
from adaline.comparison.result import Result, SystemTrial, row_errors
from adaline.comparison.table import CLASSIFICATION, Table
from adaline.errors import AdalineError
from adaline.fitted import AnySystem
from adaline.selection.cross_validation import ArrayRows
from adaline.wording import amount

# seconds that the fits under the other policy may take, judged by the first fits; doubling it makes compare slower
MOST_SECONDS = 2.0
MOST_READ_NUMBERS = 2**22  # numbers of X that are read again; doubling it takes 32 MiB more
LEAST_ROWS = 10  # complete rows on which errors are compared; on fewer they are mostly noise


class Policies(NamedTuple):
    """Losses of complete rows, held out, of a system that learns from complete rows alone or from all rows, filled."""

    dropped: Array
    filled: Array


def compare_policies(
    table: Table, task: str, chosen: Result, system: AnySystem, read_filled: Callable[[], Table] | None
) -> list[Finding]:
    """Return a finding of what the other policy for missing values changes; none where that is not cheap to know.

    Parameters
    ----------
    table : the rows compared on, in folds.
    task : "regression" or "classification".
    chosen : how the recommended system did.
    system : this system, not fitted.
    read_filled : returns all rows with a target, gaps filled and marked, where `table` has the complete ones alone.
    """
    cost = chosen.seconds * (len(chosen.fold_errors) + 1)
    plain = table.weight is None and table.offset is None and len(table.y) >= table.total_rows
    if not (table.filled or read_filled) or not plain or chosen.budget or cost > MOST_SECONDS:
        return []
    try:
        known = _dropping_rows(table, task, chosen, system) if read_filled is None else None
        if read_filled is not None and table.X.size <= MOST_READ_NUMBERS:
            known = _filling_gaps(table, task, chosen, system, read_filled())
    except AdalineError:  # rows that the other policy leaves cannot be compared on
        return []
    return [] if known is None else [_finding(table, task, chosen, known, fills=read_filled is None)]


def _dropping_rows(table: Table, task: str, chosen: Result, system: AnySystem) -> Policies | None:
    """Return the losses where `table` is filled: the system is fitted again to the complete rows."""
    complete = table.complete
    if np.count_nonzero(complete) < LEAST_ROWS or table.fold is None:
        return None
    folds, fold = np.unique(table.fold[complete], return_inverse=True)
    fewer = replace(table, X=table.X[complete], y=table.y[complete], coded=None, fold=fold, filled=()).varying()
    predicted = _held_out(fewer, task, chosen, system) if len(folds) > 1 else None
    if predicted is None:
        return None
    return Policies(_losses(task, fewer.y, predicted), _losses(task, fewer.y, _of(chosen)[complete]))


def _filling_gaps(table: Table, task: str, chosen: Result, system: AnySystem, filled: Table) -> Policies | None:
    """Return the losses where `table` has the complete rows: the system is fitted again to all rows, filled.

    A complete row stays in its fold; the others are dealt to the folds by their numbers.
    """
    assert table.fold is not None
    own, every = (_indices(one) for one in (table, filled))
    fold = np.full(max(own.max(), every.max()) + 1, -1)
    fold[own] = table.fold
    fold = np.where(fold[every] >= 0, fold[every], every % (table.fold[-1] + 1))
    order = np.argsort(fold, kind="stable")
    filled = filled.in_folds(order, filled.X[order], fold[order])
    predicted = _held_out(filled, task, chosen, system)
    if predicted is None or len(own) < LEAST_ROWS:
        return None
    place = np.empty(every.max() + 1, dtype=np.intp)
    place[_indices(filled)] = np.arange(len(order))
    return Policies(_losses(task, table.y, _of(chosen)), _losses(task, table.y, predicted[place[own]]))


def _held_out(table: Table, task: str, chosen: Result, system: AnySystem) -> NDArray[Any] | None:
    """Return the predictions of a system for held-out rows, (n,); None if it fails."""
    classes, y = table.classes if task == CLASSIFICATION else (None, table.y)
    rows = ArrayRows(table.X, y, None, classes is not None, None, table.filled_columns)
    assert table.fold is not None
    rows.fold = table.fold
    return SystemTrial(chosen.system, chosen.settings, system, rows, classes).run(None, lambda text: None).predicted


def _finding(table: Table, task: str, chosen: Result, known: Policies, fills: bool) -> Finding:
    measure = "error rate" if task == CLASSIFICATION else "RMSE"
    each = [row_errors(losses, square=task != CLASSIFICATION) for losses in known]
    dropped, filled = (amount(float(one.mean()), measure) for one in each)
    apart = each[0] - each[1]
    error = float(apart.std(ddof=1)) / np.sqrt(len(apart))
    if abs(apart.mean()) <= error:
        verdict = "The difference is within one standard error"
    else:
        better = "filling gaps" if apart.mean() > 0 else "leaving rows with gaps out"
        verdict = f"On complete rows {better} predicts better"
    filling, dropping = f"{filled} with gaps filled and marked", f"{dropped} without the rows that have gaps"
    first, second = (filling, dropping) if fills else (dropping, filling)
    other = "drop" if fills else "indicator"
    return Finding(
        NOTE,
        "Another policy for gaps",
        f"On the {len(apart):,} complete rows, held out, {chosen.label} has {measure} {first}, as here, and {second} "
        f"(missing={other!r}). {verdict}.",
    )


def _indices(table: Table) -> NDArray[np.intp]:
    return np.arange(len(table.y)) if table.indices is None else table.indices


def _of(chosen: Result) -> NDArray[Any]:
    assert chosen.predicted is not None
    return chosen.predicted


def _losses(task: str, y: NDArray[Any], predicted: NDArray[Any]) -> Array:
    """Return the size of each error, or 1 for a wrong label."""
    wrong = y != predicted if task == CLASSIFICATION else np.abs(y - predicted)
    return np.asarray(wrong, dtype=np.float64)
