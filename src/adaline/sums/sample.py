"""A random sample of rows whose number need not be known: those with the smallest hashes of their indices.

It merges like a sum: the smallest hashes of all rows are among the smallest of each part. It is not in SUMS, as a
sample holds rows as they are: a weight of 2 is not the row twice.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, ThetaLike, as_dense, host, is_sparse
from adaline.block import Block, Shape
from adaline.row_hashes import row_hashes
from adaline.sums.base import Sum

# columns from which a sample of sparse rows stays sparse; doubling it takes up to twice the memory
LEAST_SPARSE_COLUMNS = 2**14


class RowSample(Sum):
    """At most `most` rows of positive weight: x (m, D), t (m, K), weight (m,), index in the source (m,), hash (m,).

    x is dense, or CSR where rows are sparse and wide.
    """

    def __init__(
        self,
        most: int,
        salt: int,
        x: AnyArray,
        t: Array,
        weight: Array,
        row: NDArray[np.int64],
        hashes: NDArray[np.uint64],
    ) -> None:
        self.most, self.salt, self.x, self.t, self.weight, self.row, self.hashes = most, salt, x, t, weight, row, hashes

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return a sample of no rows, `most` of which are taken; another `salt` gives another sample."""
        x, t = np.empty((0, shape.features)), np.empty((0, shape.targets))
        return cls(
            config["most"], config.get("salt", 0), x, t, np.empty(0), np.empty(0, np.int64), np.empty(0, np.uint64)
        )

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block that may be among those with the smallest hashes."""
        hashes = row_hashes(block.first_row, block.rows, self.salt)
        weight = block.weights()
        chosen = np.flatnonzero(weight > 0)
        if len(self.row) == self.most:
            chosen = chosen[hashes[chosen] < self.hashes.max()]
        chosen = chosen[_smallest(hashes[chosen], self.most)]
        rows = block.taken(chosen)
        wide = is_sparse(rows.x) and rows.x.shape[1] >= LEAST_SPARSE_COLUMNS
        x, t = rows.x if wide else host(as_dense(rows.x)), host(rows.t)
        self.merge(type(self)(self.most, self.salt, x, t, weight[chosen], block.first_row + chosen, hashes[chosen]))

    def merge(self, other: Self) -> None:
        """Keep the rows with the smallest hashes of both samples, in the order of the rows."""
        row, hashes = np.concatenate([self.row, other.row]), np.concatenate([self.hashes, other.hashes])
        chosen = _smallest(hashes, self.most)
        chosen = chosen[np.argsort(row[chosen], kind="stable")]
        self.row, self.hashes = row[chosen], hashes[chosen]
        self.x, self.t, self.weight = (
            _stacked(*pair)[chosen] for pair in ((self.x, other.x), (self.t, other.t), (self.weight, other.weight))
        )


def _stacked(first: Any, second: Any) -> Any:
    """Return the rows of two arrays, as CSR where one of them is; of none the other."""
    if is_sparse(first) or is_sparse(second):
        return scipy.sparse.vstack([scipy.sparse.csr_array(part) for part in (first, second)]).tocsr()
    return np.concatenate([first, second])


def _smallest(hashes: NDArray[np.uint64], most: int) -> NDArray[np.intp]:
    """Return the indices of the smallest hashes, all where there are no more than `most`."""
    return np.arange(len(hashes)) if len(hashes) <= most else np.argpartition(hashes, most - 1)[:most]
