"""Rows in standardised columns, z = (x - mean) / scale, for rules whose steps depend on the units of the columns.

The rows of a small array are standardised once, others block by block as they are read. Sparse rows are scaled and not
centred, so that zeros stay zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from adaline.arrays import AnyArray, Array, host, is_sparse
from adaline.basis.base import Basis
from adaline.forms import Finite, Positive
from adaline.sources.array import SparseSource, rows_beside
from adaline.sources.base import Source
from adaline.sources.expanded import ExpandedRows, expanded


@dataclass(frozen=True)
class Standard:
    """Centre and scale of each column, (D,) each.

    Where the unit of a column changes by a power of two, both change with it exactly, and z keeps its bits.
    """

    mean: Annotated[Array, Finite("D")]
    scale: Annotated[Array, Positive("D")]

    def rows(self, x: AnyArray) -> Any:
        """Return z of rows x (n, D); of sparse rows only where the means are zero."""
        if is_sparse(x):
            assert not self.mean.any()
            out = x.astype(np.float64)
            out.data = out.data / self.scale[out.indices]
            return out
        z = host(x) - self.mean
        z /= self.scale
        return z

    def raw(self, theta: Array) -> Array:
        """Return weights (K, 1 + D) of the raw columns, intercept first, from those of z."""
        slopes = theta[:, 1:] / self.scale
        return np.column_stack([theta[:, 0] - slopes @ self.mean, slopes])

    def inside(self, theta: Array) -> Array:
        """Return weights (..., 1 + D) of z, intercept first, from those of the raw columns."""
        slopes = theta[..., 1:]
        return np.concatenate([theta[..., :1] + (slopes @ self.mean)[..., None], slopes * self.scale], axis=-1)


def standardized(source: Source, standard: Standard) -> Source:
    """Return the same rows in standardised columns."""
    if isinstance(source, SparseSource):
        return rows_beside(source, standard.rows(source.x), source.columns.names)
    if isinstance(source, ExpandedRows):
        return expanded(source.base, _Standardized(standard, source.basis))
    return expanded(source, _Standardized(standard, None))


class _Standardized(Basis):
    """The columns of another basis, or of the rows themselves, standardised."""

    def __init__(self, standard: Standard, inner: Basis | None) -> None:
        self.standard, self.inner = standard, inner

    def of(self, x: Array) -> Array:
        return np.asarray(self.standard.rows(x if self.inner is None else self.inner.of(x)))

    def names(self, given: list[str]) -> list[str]:
        return given if self.inner is None else self.inner.names(given)
