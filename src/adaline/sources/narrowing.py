"""Some columns of a source, held in memory: what a solver works on while the other coefficients are zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.sources.array import ArraySource, SparseSource
from adaline.sources.base import Source


def narrowed(source: Source, columns: NDArray[np.intp]) -> ArraySource | SparseSource | None:
    """Return the columns of a source, in the order given; None where its rows do not lie in memory."""
    few: ArraySource | SparseSource
    if isinstance(source, SparseSource):
        few = sparse = SparseSource(source.x[:, columns], source.t, source.weight)
        sparse.exponent = np.concatenate([source.exponent[columns], source.exponent[source.shape.features :]])
    elif type(source) is ArraySource:
        few = ArraySource(np.take(source.x, columns, axis=1), source.t, source.weight)
    else:
        return None
    few.reads = source.reads
    return few
