"""Pseudo-random numbers of rows, fixed by the index of a row: they need no memory and are the same in every pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, namespace

MIXED = ((0xBF58476D1CE4E5B9, 30), (0x94D049BB133111EB, 27))  # factors and shifts of splitmix64
STRIDE = 0x9E3779B97F4A7C15


def row_hashes(first: int, rows: int, salt: int = 0) -> NDArray[np.uint64]:
    """Return a 64-bit hash (splitmix64) of each of the rows first, first + 1, ..., (rows,)."""
    return mixed_hashes(np.arange(first, first + rows, dtype=np.uint64), salt)


def mixed_hashes(numbers: NDArray[np.uint64], salt: int = 0) -> NDArray[np.uint64]:
    """Return a 64-bit hash (splitmix64) of each of some whole numbers, in their shape."""
    mixed = numbers + np.uint64(1)
    mixed += np.uint64(salt * STRIDE % 2**64)
    for factor, shift in MIXED:
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def row_uniforms(first: int, rows: int, salt: int = 0) -> NDArray[np.float64]:
    """Return a number between 0 and 1 for each of the rows first, first + 1, ..., (rows,)."""
    return (row_hashes(first, rows, salt) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def row_uniforms_beside(x: AnyArray, first: int, salt: int = 0) -> Any:
    """Return `row_uniforms` of as many rows as x has, in the namespace and on the device of x, (rows,).

    Whole numbers are signed there; their products and sums wrap around to the same bits.
    """
    xp = namespace(x)
    mixed = xp.arange(first + 1, first + 1 + x.shape[0], dtype=xp.int64, device=x.device)
    mixed = mixed + _signed(salt * STRIDE)
    for factor, shift in MIXED:
        mixed = (mixed ^ _shifted(mixed, shift)) * _signed(factor)
    mixed = mixed ^ _shifted(mixed, 31)
    return xp.astype(_shifted(mixed, 11), xp.float64) * 2.0**-53


def _signed(number: int) -> int:
    """Return a whole number modulo 2^64 as a signed one."""
    return (number + 2**63) % 2**64 - 2**63


def _shifted(mixed: Any, by: int) -> Any:
    """Return whole numbers shifted to the right, zeros from the left."""
    return (mixed >> by) & (2 ** (64 - by) - 1)
