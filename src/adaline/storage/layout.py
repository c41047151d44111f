"""How an array lies in memory.

The layout decides which routine multiplies an array (BLAS as it is, BLAS transposed, or a plain loop where an axis runs
backwards or has gaps), and so the last bits of the product. A model that is to give the same bits after a round trip
needs its arrays to lie as they did.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Anything = NDArray[Any]


def layout(array: Anything) -> tuple[list[int], bool]:
    """Return the axes from the one with the largest step, from 1 and negative where it runs backwards; gaps between."""
    if array.flags.c_contiguous or 0 in array.strides:
        return list(range(1, array.ndim + 1)), False
    steps = array.strides
    order = sorted(range(array.ndim), key=lambda axis: -abs(steps[axis]))
    return [-axis - 1 if steps[axis] < 0 else axis + 1 for axis in order], abs(steps[order[-1]]) > array.itemsize


def laid_out(array: Anything, axes: list[Any], gaps: bool) -> Anything:
    """Return the same numbers in another layout."""
    if not all(type(axis) is int for axis in axes) or sorted(map(abs, axes)) != list(range(1, array.ndim + 1)):
        raise ValueError("not the axes of a tensor")
    order = [abs(axis) - 1 for axis in axes]
    sizes = [array.shape[axis] for axis in order]
    room = np.empty([*sizes[:-1], sizes[-1] * (2 if gaps else 1)], dtype=array.dtype)
    view = room[..., ::2] if gaps else room
    view = view[tuple(slice(None, None, -1 if axis < 0 else 1) for axis in axes)]
    out = view.transpose(np.argsort(order))
    out[...] = array
    return out
