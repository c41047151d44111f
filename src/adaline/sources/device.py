"""Rows on a device: torch, cupy or jax arrays, for which the references of the sums run through the array API.

Blocks are large, as a device is itself parallel; they run one after the other, and only the sums are copied to the
host. Sums that need copies of rows cut a block into pieces. Arrays of cupy and jax on a CUDA device are read as torch
tensors, without a copy, where torch is there; results are arrays of the caller's package.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, namespace, on_torch, to_device_of
from adaline.block import Block
from adaline.sources.base import IndexedSource, Source
from adaline.sources.matrix import DeviceMatrix, RowMatrix
from adaline.sources.targets import RowTargets

DEVICE_BLOCK_ELEMENTS = 2**31


class DeviceSource(IndexedSource):
    """A dense (N, D) array of another namespace; targets (N, K) and weights (N,) lie on its device too."""

    parallel = False

    def __init__(self, x: AnyArray, t: AnyArray, weight: AnyArray = None, names: tuple[str, ...] | None = None) -> None:
        self.given = x
        x = on_torch(x)
        super().__init__(x, to_device_of(x, on_torch(t)), None if weight is None else to_device_of(x, weight), names)
        self.rows_per_block = max(DEVICE_BLOCK_ELEMENTS // max(self.shape.features, 1), 1)

    def retargeted(self, targets: RowTargets) -> IndexedSource:
        """Return the same rows with other targets and weights, on the host or on the device."""
        t, weight = to_device_of(self.x, on_torch(targets.values)), targets.weight
        return super().retargeted(
            replace(targets, values=t, weight=None if weight is None else to_device_of(self.x, weight))
        )

    def take_rows(self, rows: NDArray[np.intp]) -> DeviceSource:
        """Return the source of the rows with these indices, copied, in the order given; they stay on the device."""
        xp = namespace(self.x)
        indices = xp.asarray(rows.astype(np.int64), device=self.x.device)
        t, weight = self.targets.values, self.targets.weight
        weight = None if weight is None else xp.take(weight, indices, axis=0)
        x, t = (xp.take(part, indices, axis=0) for part in (self.x, t))
        return type(self)(x, t, weight, self.columns.names)

    def block(self, i: int) -> Block:
        """Return a view of the rows of block i."""
        first = i * self.rows_per_block
        rows = slice(first, min(first + self.rows_per_block, self.n_rows))
        t, weight = self.targets.of_rows(rows)
        return Block(self.x[rows, :], t, weight, first_row=first)

    def matrix(self) -> RowMatrix:
        """Return X."""
        return DeviceMatrix(self.x, self.reads)


def empty_on_device(source: Source) -> Any:
    """Return an empty array of the package that rows on a device were given in, there; None for rows on the host."""
    return to_device_of(source.given, np.zeros(0)) if isinstance(source, DeviceSource) else None
