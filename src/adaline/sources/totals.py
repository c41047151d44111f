"""What is asked of the weights of all rows; and the limit of what is held of streamed rows."""

from __future__ import annotations

import numpy as np

from adaline.block import Block
from adaline.errors import InvalidData
from adaline.sources.base import Source
from adaline.sums import WeightTotals

MOST_ROWS = 2**26
"""Rows of a stream beyond which a method that holds numbers of each row in memory is refused."""


def weight_totals(source: Source) -> WeightTotals:
    """Return the totals of the weights of a source; a read where it is streamed and weighted."""
    if not source.targets.weighted:
        rows = source.count_rows()
        return WeightTotals(float(rows), rows, 0.0, 1.0)
    if source.streamed:
        return source.sum(WeightTotals)
    out, none = WeightTotals.zero(source.shape), np.empty((source.count_rows(), 0))
    out.add(Block(none, none, source.read_weights()))
    return out


def check_held(source: Source, what: str, remedy: str) -> None:
    """Refuse a stream of more than MOST_ROWS rows where something of each row is held in memory."""
    if source.streamed and source.count_rows() > MOST_ROWS:
        raise InvalidData(
            f"{source.count_rows():,} streamed rows: {what} in memory, and is limited to {MOST_ROWS:,} rows. {remedy}"
        )
