"""Rows on a device: torch, cupy or jax arrays, by the same sums as NumPy's, through the array API.

Blocks are large, as the device is parallel by itself; they run one after the other, and only small sums come back.
Sums that need copies of rows cut a block into pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import Array, host, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.sources.base import DualGram, IndexedSource, Source

DEVICE_BLOCK_ELEMENTS = 2**31


class DeviceSource(IndexedSource):
    """A dense (N, D) array of another namespace; targets (N, K) and weights lie beside it."""

    parallel = False

    def __init__(self, x: Any, t: Any, weight: Any = None, names: tuple[str, ...] | None = None) -> None:
        self.x = x
        self.t = to_device_of(x, t)
        self.weight = weight
        self.names = names
        self.n_rows = int(x.shape[0])
        self.shape = Shape(int(x.shape[1]), int(self.t.shape[1]))
        self.flat = self.shape.targets == 1
        self.reads = [0]
        self.rows_per_block = max(DEVICE_BLOCK_ELEMENTS // max(self.shape.features, 1), 1)

    @property
    def n_blocks(self) -> int:
        """Number of blocks, at least one."""
        return max(-(-self.n_rows // self.rows_per_block), 1)

    def block(self, i: int) -> Block:
        """Return a view of the rows of block i."""
        first = i * self.rows_per_block
        rows = slice(first, min(first + self.rows_per_block, self.n_rows))
        weight = None if self.weight is None else self.weight[rows]
        return Block(self.x[rows, :], self.t[rows, :], weight, first_row=first)

    def empty_on_device(self) -> Any:
        """Return an empty array beside the rows."""
        return to_device_of(self.x, np.zeros(0))

    def read_targets(self) -> Array:
        """Return the targets, on the host."""
        return host(self.t)

    def with_targets(self, t: Any) -> Source:
        """Return the same rows with other targets."""
        other = type(self)(self.x, t, self.weight, self.names)
        other.reads = self.reads
        return other

    def matvec(self, v: Array) -> Array:
        """Return X v."""
        self.reads[0] += 1
        xp = namespace(self.x)
        return host(xp.matmul(xp.astype(self.x, xp.float64, copy=False), to_device_of(self.x, v)))

    def rmatvec(self, u: Array) -> Array:
        """Return X' u."""
        self.reads[0] += 1
        xp = namespace(self.x)
        rows = xp.matrix_transpose(xp.astype(self.x, xp.float64, copy=False))
        return host(xp.matmul(rows, to_device_of(self.x, u)))

    def spread(self, intercept: bool) -> Array:
        """Return root mean squares, about the means if there is an intercept."""
        self.reads[0] += 1
        x, _, weight = self._centred(intercept)
        return np.asarray(np.sqrt(host(namespace(x).matmul(to_device_of(x, weight), x * x)) / weight.sum()))

    def dual_gram(self, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix of the centred rows."""
        self.reads[0] += 1
        x, mean, weight = self._centred(intercept)
        x = x * to_device_of(x, scale) * to_device_of(x, np.sqrt(weight)[:, None])
        xp = namespace(x)
        return DualGram(host(xp.matmul(x, xp.matrix_transpose(x))), mean)

    def _centred(self, intercept: bool) -> tuple[Any, Array, Array]:
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        mean = self.rmatvec(weight) / weight.sum() * intercept
        return namespace(self.x).astype(self.x, namespace(self.x).float64) - to_device_of(self.x, mean), mean, weight
