"""Sums over the rows of each level, and the product that conjugate gradients need: native, beside their references.

codes (Q, N) are the levels of each row, those of all Q columns numbered together from zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.kernels import native
from adaline.sources.tables.effects import LevelCodes


def level_sums_reference(out: Array, codes: LevelCodes, x: Array | None, weight: Array | None) -> None:
    """Add to out (L,) the sum of weight x over the rows of each level; x (N,) and weight (N,) are ones where None."""
    values = weight if x is None else x if weight is None else weight * x
    for column in codes:
        out += np.bincount(column, values, len(out))


def level_subtract_reference(x: Array, codes: LevelCodes, effects: Array) -> None:
    """Subtract from x (N,) the effects (L,) of the levels of each row."""
    x -= effects[codes].sum(axis=0)


def level_order_reference(order: LevelCodes, starts: NDArray[np.int64], codes: LevelCodes) -> None:
    """Set order (N,) to the rows sorted by their level in codes (1, N), and starts (G + 1,) to where each begins."""
    order[:] = np.argsort(codes[0], kind="stable")
    starts[:] = np.concatenate([[0], np.cumsum(np.bincount(codes[0], minlength=len(starts) - 1))])


def level_product_reference(
    out: Array, v: Array, starts: NDArray[np.int64], cells: LevelCodes, weight: Array | None, inverse: Array
) -> None:
    """Set out (L,) to D'W (I - P) D v for rows sorted by the level g of one column, whose others are cells (Q, N).

    D v is the sum of the entries of v of a row, P the mean over the rows starts[g] .. starts[g + 1] of a level g.
    """
    values = v[cells].sum(axis=0)
    group = np.repeat(np.arange(len(inverse)), np.diff(starts))
    mean = np.bincount(group, values if weight is None else weight * values, len(inverse)) * inverse
    out[:] = 0.0
    level_sums_reference(out, cells, values - mean[group], weight)


def level_components_reference(codes: LevelCodes, levels: int) -> int:
    """Return in how many parts the graph falls whose nodes are levels and whose edges are rows; codes are (2, N)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    met = np.unique(codes)
    edges = np.searchsorted(met, codes)
    graph = coo_array((np.ones(codes.shape[1]), (edges[0], edges[1])), shape=(len(met), len(met)))
    return int(connected_components(graph, directed=False)[0])


add_sums: Any = level_sums_reference if native is None else native.level_sums
subtract: Any = level_subtract_reference if native is None else native.level_subtract
put_order: Any = level_order_reference if native is None else native.level_order
product: Any = level_product_reference if native is None else native.level_product
components: Any = level_components_reference if native is None else native.level_components


def level_sums(codes: LevelCodes, levels: int, x: Array | None, weight: Array | None) -> Array:
    """Return the sum of weight x over the rows of each level, (L,); of weights alone where x is None."""
    out = np.zeros(levels)
    add_sums(out, codes, x, weight)
    return out
