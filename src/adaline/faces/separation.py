"""Whether a hyperplane tells a class from the others without error: a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

Array = NDArray[np.float64]

MOST_NUMBERS = 500_000  # entries of X up to which the program takes a second at most
MOST_CLASSES = 10
SECONDS = 2.0


def separable_classes(X: Array, y: NDArray[Any]) -> list[str]:
    """Return the classes that a hyperplane separates from all others; nothing where it would take long to know.

    Looks for w, w0 with t_n (w'x_n + w0) >= 1 for every row, t = +1 for the class and -1 for the others, on
    standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.faces.separation import separable_classes
    >>> x = np.arange(12.0)[:, None]
    >>> separable_classes(x, np.repeat(["a", "b", "c"], 4))
    ['a', 'c']
    """
    n, d = X.shape
    labels = np.unique(y)
    if n * d > MOST_NUMBERS or len(labels) > MOST_CLASSES or d + 1 >= n:
        return []
    spread = X.std(axis=0)
    kept = spread > 0
    rows = np.column_stack([np.ones(n), (X[:, kept] - X[:, kept].mean(axis=0)) / spread[kept]])
    if len(labels) == 2:
        return [str(label) for label in labels] if _separates(rows, y == labels[1]) else []
    return [str(label) for label in labels if _separates(rows, y == label)]


def _separates(rows: Array, positive: NDArray[np.bool_]) -> bool:
    t = np.where(positive, 1.0, -1.0)
    found = optimize.linprog(
        np.zeros(rows.shape[1]),
        A_ub=-t[:, None] * rows,
        b_ub=np.full(len(t), -1.0),
        bounds=(None, None),
        method="highs",
        options={"time_limit": SECONDS},
    )
    return found.status == 0 and bool((t * (rows @ np.asarray(found.x)) > 0).all())
