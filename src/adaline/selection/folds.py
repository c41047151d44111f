"""How rows are dealt to folds, and which labels can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData


def assign_folds(rows: int, folds: int, seed: int, labels: NDArray[Any] | None) -> NDArray[np.intp]:
    """Return the fold of each row, (n,): shuffled rows go to the folds in turn, class by class.

    A class of two rows or more is in every training set, as its rows go to different folds.
    """
    order = np.random.default_rng(seed).permutation(rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(rows, dtype=np.intp)
    fold[order] = np.arange(rows) % folds
    return fold


def check_classes(labels: Any, name: str = "y", classes: Any = None) -> None:
    """Refuse labels of which fewer than two occur twice: folds could not hold one out and learn from another.

    With `classes` the labels are indices among these.
    """
    found, counts = np.unique(labels, return_counts=True)
    found = found if classes is None else classes[found]
    if len(found) < 2:
        raise InvalidData(f"{name} is '{found[0]}' in every row: there is nothing to learn")
    if np.count_nonzero(counts > 1) < 2:
        raise InvalidData(
            f"{name} has {len(found)} labels in {len(labels)} rows, fewer than two of them twice: cross-validation "
            "needs two classes of two rows or more"
        )
