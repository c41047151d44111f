"""Numbers by lot, fixed by the number of a row: they need no memory, and are the same in every pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def lots(first: int, rows: int, salt: int = 0) -> NDArray[np.uint64]:
    """Return a multiplicative hash of the numbers of rows first, first + 1, ..., well spread over 64 bits."""
    mixed = np.arange(first, first + rows, dtype=np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        mixed += np.uint64(salt) * np.uint64(0x9E3779B97F4A7C15)
        for factor, shift in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def chances(first: int, rows: int, salt: int = 0) -> NDArray[np.float64]:
    """Return a number between 0 and 1 for each row."""
    return (lots(first, rows, salt) >> np.uint64(11)).astype(np.float64) * 2.0**-53
