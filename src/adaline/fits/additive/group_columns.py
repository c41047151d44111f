"""Columns of a model as the groups of a grouping see them: Z_g'X, or C_g, dense for some columns and sparse for others.

Rows are the G q effects of the grouping. The first p columns are dense; the m others, which are effects of further
groupings, are zero but for the groups that occur together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from adaline.arrays import Array

CROWDED = 0.08  # share of entries that are not zero, above which products of sparse columns are taken as dense
PIECE_NUMBERS = 2**23  # entries of a dense product held at a time; doubling it doubles that memory, 64 MB


@dataclass(frozen=True, eq=False)
class GroupColumns:
    """A matrix of G q rows and p + m columns.

    Parameters
    ----------
    dense : (G, q, p).
    sparse : (G q, m), in compressed rows; None for m = 0.
    """

    dense: Array
    sparse: sp.csr_array | None = None

    @property
    def width(self) -> int:
        """Number of columns, p + m."""
        return int(self.dense.shape[2]) + (0 if self.sparse is None else int(self.sparse.shape[1]))

    def after(self, blocks: Array) -> GroupColumns:
        """Return blocks_g times the rows of each group, blocks (G, q, q)."""
        if self.sparse is None:
            return GroupColumns(np.asarray(blocks @ self.dense))
        groups, q = blocks.shape[:2]
        diagonal = sp.bsr_array(
            (np.ascontiguousarray(blocks), np.arange(groups), np.arange(groups + 1)), shape=(groups * q, groups * q)
        )
        return GroupColumns(np.asarray(blocks @ self.dense), sp.csr_array(diagonal.tocsr() @ self.sparse))

    def times(self, vector: Array) -> Array:
        """Return the matrix times a vector (p + m,), as (G, q)."""
        p = self.dense.shape[2]
        out = self.dense @ vector[:p]
        if self.sparse is not None:
            out = out + (self.sparse @ vector[p:]).reshape(out.shape)
        return np.asarray(out)

    def against(self, values: Array) -> Array:
        """Return the transpose of the matrix times values (G, q), (p + m,)."""
        flat = values.ravel()
        out = self.dense.reshape(len(flat), -1).T @ flat
        return np.asarray(out if self.sparse is None else np.concatenate([out, self.sparse.T @ flat]))

    def gram(self, other: GroupColumns) -> Array:
        """Return the transpose of the matrix times another, (p + m, p + m)."""
        left, right = self._flat(), other._flat()
        if self.sparse is None or other.sparse is None:
            return np.asarray(left.T @ right)
        upper = np.concatenate([left.T @ right, (other.sparse.T @ left).T], axis=1)
        lower = np.concatenate([self.sparse.T @ right, _product(self.sparse, other.sparse)], axis=1)
        return np.concatenate([upper, lower])

    def of_effect(self, k: int) -> GroupColumns:
        """Return the rows of effect k of each group."""
        q = self.dense.shape[1]
        return GroupColumns(self.dense[:, k : k + 1], None if self.sparse is None else self.sparse[k::q])

    def images(self, k: Array) -> Array:
        """Return C_g k C_g' for a symmetric matrix k, (G, q, q)."""
        groups, q, p = self.dense.shape
        if self.sparse is None:
            return np.asarray(np.einsum("gaj,gbj->gab", (self._flat() @ k).reshape(groups, q, p), self.dense))
        out = np.empty((groups, q, q))
        for rows, flat, thin in self._pieces():
            image = (flat @ k[:p] + thin @ k[p:]).reshape(rows.stop - rows.start, q, -1)
            out[rows] = np.einsum("gaj,gbj->gab", image[:, :, :p], self.dense[rows])
            for b in range(q):
                entries = thin[b::q].tocoo()
                for a in range(q):
                    own = image[entries.row, a, p + entries.col] * entries.data
                    out[rows, a, b] += np.bincount(entries.row, own, minlength=len(image))
        return out

    def _pieces(self) -> Iterator[tuple[slice, Array, sp.csr_array]]:
        """Yield groups, and their rows of the dense and the sparse columns."""
        groups, q, p = self.dense.shape
        assert self.sparse is not None
        size = max(PIECE_NUMBERS // (q * self.width), 1)
        for first in range(0, groups, size):
            rows = slice(first, min(first + size, groups))
            yield rows, self.dense[rows].reshape(-1, p), self.sparse[rows.start * q : rows.stop * q]

    def _flat(self) -> Array:
        return self.dense.reshape(-1, self.dense.shape[2])


def _product(left: sp.csr_array, right: sp.csr_array) -> Array:
    """Return left' right, (m, m)."""
    rows, columns = left.shape
    if left.nnz < CROWDED * rows * columns:
        return np.asarray((left.T @ right).toarray())
    out, size = np.zeros((columns, right.shape[1])), max(PIECE_NUMBERS // columns, 1)
    for first in range(0, rows, size):
        piece = slice(first, first + size)
        out += left[piece].toarray().T @ right[piece].toarray()
    return out
