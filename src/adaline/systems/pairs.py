"""Which classes each of several machines tells apart, and what pairs of classes say for each (row A17)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sides_of(scheme: str, k: int) -> list[tuple[Array, Array]]:
    """Return target (K, 1) and weight (K,) of each class for each machine, "one-vs-rest" or "one-vs-one"."""
    every = np.arange(k)
    if scheme == "one-vs-rest":
        return [((every == i).astype(float)[:, None], np.ones(k)) for i in range(k)]
    pairs = combinations(range(k), 2)
    return [((every == j).astype(float)[:, None], np.isin(every, (i, j)).astype(float)) for i, j in pairs]


def from_pairs(second: Array, classes: int) -> Array:
    """Return what each class gets from all pairs, (n, K): the second of a pair `second`, the first the rest."""
    out = np.zeros((len(second), classes))
    for column, (i, j) in enumerate(combinations(range(classes), 2)):
        out[:, j] += second[:, column]
        out[:, i] += 1.0 - second[:, column]
    return out
