"""Some of the rows of X, as users give it: arrays, frames, sparse matrices and device arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, is_device, is_sparse, namespace
from adaline.coding.frames import collected
from adaline.errors import InvalidData
from adaline.lazy import nw
from adaline.sources.threads import run_blocks

COPIED_ROWS = 2**14  # rows that a thread copies at a time; doubling it splits small copies among fewer threads


def indexable(x: AnyArray) -> Any:
    """Return rows X in a form that `take_rows` takes some of: an array, a frame, or CSR."""
    if is_sparse(x):
        return x.tocsr()
    x = x if is_device(x) else collected(x)
    if is_device(x) or isinstance(nw.from_native(x, pass_through=True, eager_only=True), nw.DataFrame):
        return x
    x = np.asarray(x)
    if x.ndim == 0:
        raise InvalidData(f"Expected 2D array, got {x.item()!r} instead")
    return x


def take_rows(x: AnyArray, indices: NDArray[np.intp]) -> Any:
    """Return the rows of an array or frame with these indices; those of a run of an array are not copied."""
    if is_device(x):
        xp = namespace(x)
        return xp.take(x, xp.asarray(indices, device=x.device), axis=0)
    if isinstance(x, np.ndarray) and len(indices) and (np.diff(indices) == 1).all():
        return x[indices[0] : indices[-1] + 1]
    if isinstance(x, np.ndarray) and x.ndim == 2 and len(indices) > COPIED_ROWS and x.flags.forc:
        return _copied(x, indices)
    frame = nw.from_native(x, pass_through=True, eager_only=True)
    return frame[indices].to_native() if isinstance(frame, nw.DataFrame) else x[indices]


def _copied(x: Array, indices: NDArray[np.intp]) -> Array:
    """Return the rows of an array in the order that it has in memory, by threads."""
    if x.flags.c_contiguous:
        out = np.empty((len(indices), x.shape[1]), dtype=x.dtype)

        def copy_rows(i: int) -> None:
            part = slice(i * COPIED_ROWS, (i + 1) * COPIED_ROWS)
            np.take(x, indices[part], axis=0, out=out[part], mode="clip")

        run_blocks(-(-len(indices) // COPIED_ROWS), copy_rows)
        return out
    by_columns = np.empty((x.shape[1], len(indices)), dtype=x.dtype)  # np.take of x would copy all of it each time
    run_blocks(len(by_columns), lambda j: np.take(x[:, j], indices, out=by_columns[j], mode="clip"))
    return by_columns.T
