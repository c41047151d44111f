"""Rows whose targets are class numbers, seen through a code: targets and weights by class, block by block.

In memory they become an array once; a streamed table stays streamed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, Shape
from adaline.namespaces import host, is_device
from adaline.sources.array import ArraySource
from adaline.sources.base import Held, Source
from adaline.sources.through import Through

Array = NDArray[np.float64]


def in_memory(source: Source) -> Source:
    """Return rows that can be gone over in any order: held tables and device arrays as arrays; streams as they are."""
    if source.streamed or isinstance(source, Held):
        return source
    blocks = [block.gathered() for block in source.blocks()]
    t = np.concatenate([host(block.t) for block in blocks])
    weight = None if blocks[0].weight is None else np.concatenate([host(block.weight) for block in blocks])
    rows = [host(block.x) if is_device(block.x) else block.x for block in blocks]
    out = ArraySource(
        np.ascontiguousarray(rows[0] if len(rows) == 1 else np.concatenate(rows)), t, weight, source.names
    )
    out.flat, out.coding, out.reads = source.flat, source.coding, source.reads
    return out


def recoded(source: Source, values: Array, class_weight: Array | None = None) -> Source:
    """Return the same rows with values[k] (C, m) as targets of class k, and weights times class_weight[k] (C,)."""
    if source.streamed:
        return Recoded(source, values, class_weight)
    source = in_memory(source)
    codes = source.read_targets()[:, 0].astype(np.intp)
    out = source.with_targets(np.take(values, codes, axis=0, mode="clip"))
    if class_weight is None:
        return out
    assert isinstance(out, Held)
    weight = source.read_weights()
    return out.with_weight(class_weight[codes] if weight is None else weight * class_weight[codes])


def of_class(source: Source, k: int, classes: int) -> Source:
    """Return the rows of class k alone; a stream keeps the others, without weight."""
    nothing = np.zeros((classes, 1))
    if source.streamed:
        return recoded(source, nothing, np.eye(classes)[k])
    source = in_memory(source)
    assert isinstance(source, Held)
    rows = source.picked(np.flatnonzero(source.read_targets()[:, 0] == k))
    out = rows.with_targets(np.zeros((rows.n_rows, 1)))
    out.reads = source.reads
    return out


class Recoded(Through):
    """A stream of rows under a code."""

    def __init__(self, base: Source, values: Array, class_weight: Array | None = None) -> None:
        super().__init__(base)
        self.values, self.class_weight = values, class_weight
        self.shape = Shape(base.shape.features, values.shape[1])

    @property
    def weighted(self) -> bool:
        """Whether the rows have weights, of their own or of their class."""
        return self.class_weight is not None or self.base.weighted

    def read_weights(self) -> Array | None:
        """Return all weights, (N,), or None."""
        if self.class_weight is None:
            return self.base.read_weights()
        return self.map(lambda block: np.asarray(block.weight))

    def read_targets(self) -> Array:
        """Return all targets, (N, K)."""
        return self.map(lambda block: np.asarray(block.t))

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets; the weights of classes are left behind."""
        return self.base.with_targets(t)

    def _seen(self, block: Block) -> Block:
        codes = np.asarray(block.t)[:, 0].astype(np.intp)
        weight: Any = block.weight
        if self.class_weight is not None:
            weight = self.class_weight[codes] if weight is None else weight * self.class_weight[codes]
        return replace(block, t=self.values[codes], weight=weight)
