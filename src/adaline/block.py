"""A run of rows, the unit in which sources hand data to sums and scans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


def is_sparse(x: Any) -> bool:
    """Whether x is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(x))


class Shape(NamedTuple):
    """Number of feature columns D and of targets K; rows are not part of a shape."""

    features: int
    targets: int


@dataclass(frozen=True, slots=True)
class Block:
    """Rows `first_row`, `first_row + 1`, ... of a source.

    Parameters
    ----------
    x : (n, D) float32 or float64 of any strides, or CSR, or an array of another array-API namespace.
    t : (n, K) targets, float64.
    weight : (n,) non-negative frequencies, or None for ones.
    exponent : (D + K,) column scales of the source as powers of two, where the source knows them (CSR), or None.
    first_row : index of the first row in the source.
    chosen : indices (int64) of the rows of x that are meant, in the order of t and weight; None for all.
    """

    x: Any
    t: Any
    weight: Any = None
    exponent: Any = None
    first_row: int = 0
    chosen: Any = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.x.shape[0] if self.chosen is None else len(self.chosen))

    def gathered(self) -> Block:
        """Return the block with the chosen rows copied out, for code that does not know of chosen rows."""
        if self.chosen is None:
            return self
        if is_sparse(self.x) or isinstance(self.x, np.ndarray):
            x = self.x[self.chosen]
        else:
            xp = self.x.__array_namespace__()
            x = xp.take(self.x, xp.asarray(self.chosen), axis=0)
        return Block(x, self.t, self.weight, self.exponent, self.first_row)

    @property
    def shape(self) -> Shape:
        """Columns of x and of t."""
        return Shape(int(self.x.shape[1]), int(self.t.shape[1]))
