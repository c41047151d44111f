"""The rows that a model was fitted to, which conformal intervals and sets read again.

A state holds the arguments of `fit`, no copies of them. Rows of many numbers are held by weak references, so that a
model does not keep them in memory; they are found again while their owner has them. Pickles and model files have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any
from weakref import ref

from adaline.arrays import RowsLike, is_sparse
from adaline.sources import Source

HELD_NUMBERS = 2**23  # numbers of X that a model holds, 64 MiB; doubling it lets models hold twice the memory


class FittedRows:
    """The arguments of the last `fit`, by name: X, y, sample_weight, offset and exposure, as far as they were given.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.input.fitted_rows import FittedRows
    >>> rows = FittedRows({"X": np.ones((2, 1)), "y": np.ones(2), "sample_weight": None})
    >>> sorted(rows.arguments())
    ['X', 'y']
    """

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        given = {name: value for name, value in arguments.items() if value is not None}
        few = numbers_held(given.get("X")) <= HELD_NUMBERS
        self._held = {name: (lambda value=value: value) if few else _weak(value) for name, value in given.items()}

    def arguments(self) -> dict[str, Any] | None:
        """Return the arguments; None where their owner has them no longer."""
        found = {name: get() for name, get in self._held.items()}
        return None if not found or any(value is None for value in found.values()) else found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def __getstate__(self) -> dict[str, Any]:
        """Return no rows: skops stores this and not what `__reduce__` makes."""
        return {"_held": {}}


def numbers_held(x: RowsLike) -> int:
    """Return how many numbers of rows lie in memory: none of streamed rows, and of rows without a shape."""
    if isinstance(x, Source):
        return 0 if x.streamed or x.costly else x.n_rows * x.shape.features
    if is_sparse(x):
        return int(x.nnz)
    try:
        return prod(map(int, getattr(x, "shape", ())[:2])) if hasattr(x, "shape") else 0
    except (TypeError, ValueError):  # sizes that Dask does not know yet
        return 0


def _weak(value: Any) -> Any:
    """Return a function that returns a value while somebody else holds it; numbers and texts are held."""
    try:
        return ref(value)
    except TypeError:
        return lambda: value
