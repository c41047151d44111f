"""Sums over the rows of each level, and the product that conjugate gradients need: native, beside their references.

codes (Q, N) are the levels of each row, those of all Q columns numbered together from zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.kernels import native

Codes = NDArray[np.int32]


def level_sums_reference(out: Array, codes: Codes, x: Array | None, weight: Array | None) -> None:
    """Add to out (L,) the sum of weight x over the rows of each level; x (N,) and weight (N,) are ones where None."""
    values = weight if x is None else x if weight is None else weight * x
    for column in codes:
        out += np.bincount(column, values, len(out))


def level_subtract_reference(x: Array, codes: Codes, effects: Array) -> None:
    """Subtract from x (N,) the effects (L,) of the levels of each row."""
    x -= effects[codes].sum(axis=0)


def level_cells_reference(cell: Codes, first: Codes, codes: Codes, levels: int) -> int:
    """Set cell (N,) to the number of the different rows of codes, in their order, and first (M,) to a row of each.

    Return how many there are, M.
    """
    _, rows, numbers = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    cell[:] = numbers.ravel()
    first[: len(rows)] = rows
    return len(rows)


def level_product_reference(
    out: Array, v: Array, starts: NDArray[np.int64], cells: Codes, mass: Array, inverse: Array
) -> None:
    """Set out (L,) to D'W (I - P) D v for the cells (Q, M), whose rows have weight mass (M,).

    D v is the sum of the entries of v of a cell, P the mean over the cells starts[g] .. starts[g + 1] of a level g.
    """
    values = v[cells].sum(axis=0)
    group = np.repeat(np.arange(len(inverse)), np.diff(starts))
    mean = np.bincount(group, mass * values, len(inverse)) * inverse
    out[:] = 0.0
    level_sums_reference(out, cells, values - mean[group], mass)


def level_components_reference(codes: Codes, levels: int) -> int:
    """Return in how many parts the graph falls whose nodes are levels and whose edges are rows; codes are (2, N)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    met = np.unique(codes)
    edges = np.searchsorted(met, codes)
    graph = coo_array((np.ones(codes.shape[1]), (edges[0], edges[1])), shape=(len(met), len(met)))
    return int(connected_components(graph, directed=False)[0])


add_sums: Any = level_sums_reference if native is None else native.level_sums
subtract: Any = level_subtract_reference if native is None else native.level_subtract
number_cells: Any = level_cells_reference if native is None else native.level_cells
product: Any = level_product_reference if native is None else native.level_product
components: Any = level_components_reference if native is None else native.level_components


def level_sums(codes: Codes, levels: int, x: Array | None, weight: Array | None) -> Array:
    """Return the sum of weight x over the rows of each level, (L,); of weights alone where x is None."""
    out = np.zeros(levels)
    add_sums(out, codes, x, weight)
    return out
