"""Rows of a block that take part in a question about some classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block
from adaline.namespaces import host, is_device, is_sparse

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class ClassRows:
    """Rows of a block that take part: all their columns, their numbers and the places of their classes."""

    x: Any
    number: Index
    own: Index

    @classmethod
    def of_block(cls, block: Block, place: Index) -> ClassRows:
        """Return the rows of a block whose class has a place, and which weigh something."""
        x = host(block.x) if is_device(block.x) else block.x
        own = place[host(block.t)[:, 0].astype(np.int64)]
        part = own >= 0
        if block.weight is not None:
            part &= host(block.weight) > 0
        rows = cls(x, block.first_row + np.arange(block.rows, dtype=np.int64), own)
        return rows if part.all() else rows.of(np.flatnonzero(part))

    def of(self, places: Any) -> ClassRows:
        """Return some of them."""
        return ClassRows(self.x[places], self.number[places], self.own[places])


def dense(x: Any) -> Array:
    """Return rows as a dense array."""
    return np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64)
