"""The number of folds, and which labels can be distributed over them."""

from __future__ import annotations

import numpy as np

from adaline.arrays import LabelsLike
from adaline.errors import InvalidData
from adaline.wording import counted

FOLDS = 5  # folds of a comparison by default; doubling it takes twice as long, for slightly less pessimistic errors
FEW_ROWS = 20  # rows below which leave-one-out replaces folds: folds of two or three rows vary too much
LEAST_ROWS = 3  # rows on which systems are compared: a training set of one row has no slope


def fold_count(folds: int | None, rows: int) -> int:
    """Return the number of folds that rows are cut into: by default 5, or one a row where there are fewer than 20.

    Folds have two rows or more, or one each (leave-one-out): then errors are pooled over the rows.

    Examples
    --------
    >>> from adaline.selection.folds import fold_count
    >>> fold_count(None, 100), fold_count(None, 12), fold_count(3, 12)
    (5, 12, 3)
    """
    if rows < LEAST_ROWS:
        few = f"{counted(rows)} {'is' if rows == 1 else 'are'}"
        raise InvalidData(f"{few} too few to compare systems: give at least {LEAST_ROWS}")
    if folds is None:
        return rows if rows < FEW_ROWS else FOLDS
    if not (2 <= folds <= rows // 2 or folds == rows):
        some = f"from 2 to {rows // 2}, or {rows}" if rows >= 4 else str(rows)
        raise InvalidData(
            f"{counted(rows)} cannot be cut into {counted(folds, 'fold')} of two rows or more: give folds {some} to "
            "leave out one row at a time"
        )
    return folds


def check_classes(labels: LabelsLike) -> None:
    """Refuse labels of which fewer than two occur twice: folds could not hold one out and learn from another."""
    found, counts = np.unique(labels, return_counts=True)
    if len(found) < 2:
        raise InvalidData(f"y is '{found[0]}' in every row: there is nothing to learn")
    if np.count_nonzero(counts > 1) < 2:
        raise InvalidData(
            f"y has {len(found)} labels in {len(labels)} rows, fewer than two of them twice: cross-validation needs "
            "two classes of two rows or more"
        )
