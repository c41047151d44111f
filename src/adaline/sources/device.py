"""Rows on a device: torch, cupy or jax arrays, for which the references of the sums run through the array API.

Blocks are large, as a device is itself parallel; they run one after the other, and only the sums are copied to the
host. Sums that need copies of rows cut a block into pieces. Arrays of cupy and jax on a CUDA device are read as torch
tensors, without a copy, where torch is there; results are arrays of the caller's package.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host, namespace, on_torch, to_device_of
from adaline.block import Block
from adaline.sources.base import DualGram, IndexedSource

DEVICE_BLOCK_ELEMENTS = 2**31


class DeviceSource(IndexedSource):
    """A dense (N, D) array of another namespace; targets (N, K) and weights (N,) lie on its device too."""

    parallel = False

    def __init__(self, x: AnyArray, t: AnyArray, weight: AnyArray = None, names: tuple[str, ...] | None = None) -> None:
        self.given = x
        x = on_torch(x)
        super().__init__(x, to_device_of(x, on_torch(t)), None if weight is None else to_device_of(x, weight), names)
        self.rows_per_block = max(DEVICE_BLOCK_ELEMENTS // max(self.shape.features, 1), 1)

    def with_targets(self, t: AnyArray) -> DeviceSource:
        """Return the same rows with other targets, (N, K), on the host or on the device."""
        other = type(self)(self.given, t, self.weight, self.names)
        other.reads, other.rows_per_block = self.reads, self.rows_per_block
        return other

    def take_rows(self, rows: NDArray[np.intp]) -> DeviceSource:
        """Return the source of the rows with these indices, copied, in the order given; they stay on the device."""
        xp = namespace(self.x)
        indices = xp.asarray(rows.astype(np.int64), device=self.x.device)
        weight = None if self.weight is None else xp.take(self.weight, indices, axis=0)
        x, t = (xp.take(part, indices, axis=0) for part in (self.x, self.t))
        return type(self)(x, t, weight, self.names)

    def read_weights(self) -> Array | None:
        """Return the weights on the host, (N,), or None."""
        return None if self.weight is None else host(self.weight)

    def block(self, i: int) -> Block:
        """Return a view of the rows of block i."""
        first = i * self.rows_per_block
        rows = slice(first, min(first + self.rows_per_block, self.n_rows))
        weight = None if self.weight is None else self.weight[rows]
        return Block(self.x[rows, :], self.t[rows, :], weight, first_row=first)

    def empty_on_device(self) -> Any:
        """Return an empty array of the package that the rows were given in, on their device."""
        return to_device_of(self.given, np.zeros(0))

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
        """Return the rows minus their means, the means (zero without an intercept) and the weights."""
        weight = self.read_all_weights()
        mean = self.rmatvec(weight) / weight.sum() * intercept
        return namespace(self.x).astype(self.x, namespace(self.x).float64) - to_device_of(self.x, mean), mean, weight
