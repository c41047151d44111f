"""Which labels can be dealt to folds."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.errors import InvalidData


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
