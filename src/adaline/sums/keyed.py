"""Sums of the rows of each key: what is kept of groups, and of the distinct values of a column.

Keys ascend, and each has a row of numbers. In C++: `native/keyed.hpp` and `native/smooth_module.cpp`.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.kernels import native

Key = TypeVar("Key", np.float64, np.int64)

KEYS_PER_ROW = 32  # keys for each row up to which those that occur are marked; doubled, marks take as long as sorting


def joined_totals(a: NDArray[Key], of_a: Array, b: NDArray[Key], of_b: Array) -> tuple[NDArray[Key], Array]:
    """Return the union of keys a and b, each ascending and distinct, and the sums of their rows."""
    keys, values = np.empty(len(a) + len(b), dtype=a.dtype), np.empty((len(a) + len(b), of_a.shape[1]))
    run = merge_totals_reference if native is None else native.merge_totals
    size = run(keys, values, a, of_a, b, of_b)
    return keys[:size], values[:size]


def merge_totals_reference(
    keys: NDArray[Key], values: Array, a: NDArray[Key], of_a: Array, b: NDArray[Key], of_b: Array
) -> int:
    """Set the first keys and values to the union and the sums; return how many keys there are."""
    both, places = np.unique(np.concatenate([a, b]), return_inverse=True, equal_nan=False)
    keys[: len(both)] = both
    values[: len(both)] = 0
    for own, place in ((of_a, places[: len(a)]), (of_b, places[len(a) :])):
        values[place] += own
    return len(both)


def add_products(out: Array, codes: NDArray[np.int64], weight: Array, z: Array, y: Array) -> None:
    """Add weight z y' of each row, z (n, q) and y (n, m), to out (K, q m) at its code; below zero it has none."""
    (keyed_products_reference if native is None else native.keyed_products)(out, codes, weight, z, y)


def keyed_products_reference(out: Array, codes: NDArray[np.int64], weight: Array, z: Array, y: Array) -> None:
    """As `add_products`."""
    known = np.flatnonzero(codes >= 0)
    products = (weight[known, None] * z[known])[:, :, None] * y[known, None, :]
    np.add.at(out, codes[known], products.reshape(len(known), out.shape[1]))


def numbered(keys: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the keys that occur, ascending, and the index of each row's key among them; -1 for keys below zero.

    Keys are below `size`.
    """
    if size > KEYS_PER_ROW * len(keys):
        known = keys >= 0
        found, places = np.unique(keys[known], return_inverse=True)
        codes = np.full(len(keys), -1)
        codes[known] = places
        return found, codes
    place = np.full(size + 1, -1)  # that of key -1 is the last
    place[keys] = 0
    place[-1] = -1
    found = np.flatnonzero(place == 0)
    place[found] = np.arange(len(found))
    return found, place[keys]
