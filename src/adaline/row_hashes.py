"""Pseudo-random numbers of rows, fixed by the index of a row: they need no memory and are the same in every pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def row_hashes(first: int, rows: int, salt: int = 0) -> NDArray[np.uint64]:
    """Return a 64-bit hash (splitmix64) of each of the rows first, first + 1, ..., (rows,)."""
    mixed = np.arange(first, first + rows, dtype=np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        mixed += np.uint64(salt) * np.uint64(0x9E3779B97F4A7C15)
        for factor, shift in ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def row_uniforms(first: int, rows: int, salt: int = 0) -> NDArray[np.float64]:
    """Return a number between 0 and 1 for each of the rows first, first + 1, ..., (rows,)."""
    return (row_hashes(first, rows, salt) >> np.uint64(11)).astype(np.float64) * 2.0**-53
