"""Some rows of a source, drawn at random and held in memory: to start from, and to learn a metric on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adaline.arrays import host, is_sparse
from adaline.block import Block
from adaline.sources.array import ArraySource, SparseSource
from adaline.sources.base import InMemory, Source


def draw_rows(source: Source, rows: int, seed: int = 0, *, among: NDArray[np.intp] | None = None) -> Source:
    """Return so many rows of a source, one of each of as many stretches of equal length, in their order; in one pass,
    and where rows lie in memory without one. Stretches are of the rows at the places `among`, ascending, where given.
    """
    count = source.count_rows() if among is None else len(among)
    rows = min(rows, count)
    ends = np.arange(rows + 1) * count // max(rows, 1)
    some = np.random.default_rng(seed).integers(ends[:-1], ends[1:])
    some = some if among is None else among[some]
    if isinstance(source, InMemory):
        return source.picked(some)
    parts = [part for block in source.blocks() if (part := _cut(block, some)).rows]
    t = np.concatenate([host(part.t) for part in parts])
    weight = None if parts[0].weight is None else np.concatenate([host(part.weight) for part in parts])
    if is_sparse(parts[0].x):
        return SparseSource(sparse.vstack([part.x for part in parts]).tocsr(), t, weight, source.names)
    return ArraySource(np.concatenate([_numpy(part.x) for part in parts]), t, weight, source.names)


def _cut(block: Block, some: NDArray[np.int64]) -> Block:
    """Return the rows of a block that are among those drawn."""
    first, last = np.searchsorted(some, [block.first_row, block.first_row + block.rows])
    chosen = some[first:last] - block.first_row
    t = host(block.t)[chosen]
    weight = None if block.weight is None else host(block.weight)[chosen]
    return Block(Block(block.x, block.t, chosen=chosen).gathered().x, t, weight)


def _numpy(x: Any) -> Any:
    return x if isinstance(x, np.ndarray) else host(x)


# Some columns of a source, held in memory: what a solver works on while the other coefficients are zero.


def select_columns(source: Source, columns: NDArray[np.intp]) -> ArraySource | SparseSource | None:
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
