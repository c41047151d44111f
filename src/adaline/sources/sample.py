"""Parts of a source in memory: rows drawn at random, and some of the columns."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import is_sparse
from adaline.block import Block
from adaline.sources.array import ArraySource, SparseSource, rows_beside, source_of
from adaline.sources.base import InMemory, Source
from adaline.sources.device import DeviceSource
from adaline.sources.held import CompactRows
from adaline.sources.runners import HERE, each_block
from adaline.sums import RowSample


def draw_rows(source: Source, rows: int, seed: int = 0, *, among: NDArray[np.intp] | None = None) -> Source:
    """Return a stratified sample of `rows` rows, in their order: one from each of `rows` runs of equal length.

    It takes one pass, or none where rows lie in memory. `among`, ascending indices, restricts the sample to those rows.
    Of a stream it is the sample of those that have a weight with the smallest hashes of their indices.
    """
    if source.streamed and among is None:
        return sampled(source.sum(RowSample, most=rows, salt=seed), source)
    count = source.count_rows() if among is None else len(among)
    rows = min(rows, count)
    ends = np.arange(rows + 1) * count // max(rows, 1)
    indices = np.random.default_rng(seed).integers(ends[:-1], ends[1:])
    indices = indices if among is None else among[indices]
    if isinstance(source, InMemory | DeviceSource):
        return source.take_rows(indices)
    found = each_block(source, partial(_taken, indices))
    return source_of([block for block in found if block is not None], source.columns.names)


def sampled(some: RowSample, source: Source) -> ArraySource | SparseSource:
    """Return a sample of the rows of a source as a source."""
    kind = SparseSource if is_sparse(some.x) else ArraySource
    return kind(some.x, some.t, some.weight if source.targets.weighted else None, source.columns.names)


def _taken(indices: NDArray[np.intp], block: Block) -> Block | None:
    """Return those of the rows with these indices, ascending, that are in a block; None where there are none."""
    first, last = np.searchsorted(indices, [block.first_row, block.first_row + block.rows])
    return block.taken(indices[first:last] - block.first_row) if first < last else None


def select_columns(source: Source, columns: NDArray[np.intp]) -> Source | None:
    """Return some columns of a source, in the order given; None where its rows do not lie in memory."""
    if isinstance(source, CompactRows):
        return source.take_columns(columns)
    if isinstance(source, SparseSource):
        exponent = np.concatenate([source.exponent[columns], source.exponent[source.shape.features :]])
        return rows_beside(source, source.x[:, columns], exponent=exponent)
    if type(source) is ArraySource and source.runner is HERE:
        return rows_beside(source, np.take(source.x, columns, axis=1))
    return None
