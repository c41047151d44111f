"""Rows in memory: dense arrays of any strides, and CSR matrices. No copy of X is ever made."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.block import Block, Shape
from adaline.scans import Scan
from adaline.sources.base import BLOCK_ELEMENTS, DualGram, IndexedSource, InMemory, Source, block_rows
from adaline.sums.columns import exponents

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class ArraySource(InMemory, IndexedSource):
    """A dense (N, D) array; float32 and float64 are read as they are, other numbers converted block by block."""

    def __init__(self, x: Any, t: Array, weight: Array | None = None, names: tuple[str, ...] | None = None) -> None:
        self.x = x
        self.t = t
        self.weight = weight
        self.names = names
        self.n_rows = x.shape[0]
        self.shape = Shape(x.shape[1], t.shape[1])
        self.flat = t.shape[1] == 1
        self.reads = [0]
        self.rows_per_block = block_rows(x.shape[1])

    @property
    def n_blocks(self) -> int:
        """Number of blocks, at least one."""
        return max(-(-self.n_rows // self.rows_per_block), 1)

    def block(self, i: int) -> Block:
        """Return a view of the rows of block i."""
        if self.n_rows <= self.rows_per_block:
            return Block(_floats(self.x), self.t, self.weight)
        first = i * self.rows_per_block
        rows = slice(first, first + self.rows_per_block)
        weight = None if self.weight is None else self.weight[rows]
        return Block(_floats(self.x[rows]), self.t[rows], weight, first_row=first)

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; an order of the rows is followed without a copy of them."""
        if order is None and self.x.dtype not in FLOATS:
            super().scan(scan, order, outputs)
            return
        self.reads[0] += 1
        scan.run(Block(_floats(self.x), self.t, self.weight), order, outputs)

    def read_targets(self) -> Array:
        """Return the targets."""
        return self.t

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        other = type(self)(self.x, t, self.weight, self.names)
        other.reads = self.reads
        return other

    def with_weight(self, weight: Array | None) -> Source:
        """Return the same rows with other weights, (N,)."""
        other = type(self)(self.x, self.t, weight, self.names)
        other.reads = self.reads
        return other

    def picked(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of some rows, copied, in the order given."""
        weight = None if self.weight is None else self.weight[rows]
        return type(self)(self.x[rows], self.t[rows], weight, self.names)

    def matvec(self, v: Array) -> Array:
        """Return X v, block by block."""
        return self.map(lambda block: np.asarray(block.x @ v))

    def rmatvec(self, u: Array) -> Array:
        """Return X' u, by strips of columns."""
        self.reads[0] += 1
        return np.concatenate([_floats(self.x[:, strip]).T @ u for strip in self._strips()])

    def dual_gram(self, intercept: bool, scale: Array) -> DualGram:
        """Sum the dual Gram matrix over strips of columns, each centred exactly."""
        self.reads[0] += 1
        gram = np.zeros((self.n_rows, self.n_rows))
        mean = np.zeros(self.shape.features)
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        for strip in self._strips():
            x, mean[strip] = self._centred(strip, weight, intercept)
            x *= scale[strip] * np.sqrt(weight)[:, None]
            gram += x @ x.T
        return DualGram(gram, mean)

    def spread(self, intercept: bool) -> Array:
        """Return root mean squares, by strips of columns."""
        self.reads[0] += 1
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        squares = [weight @ self._centred(strip, weight, intercept)[0] ** 2 for strip in self._strips()]
        return np.asarray(np.sqrt(np.concatenate(squares) / weight.sum()))

    def _centred(self, strip: slice, weight: Array, intercept: bool) -> tuple[Array, Array]:
        x = self.x[:, strip].astype(np.float64)
        with np.errstate(invalid="ignore"):  # infinity is refused by who asked
            mean = weight @ x / weight.sum() * intercept
            return x - mean, mean

    def _strips(self) -> list[slice]:
        width = max(BLOCK_ELEMENTS // max(self.n_rows, 1), 1)
        return [slice(j, j + width) for j in range(0, self.shape.features, width)]


class SparseSource(InMemory, IndexedSource):
    """A CSR matrix; zeros stay zeros: nothing is centred, a rank-one correction does it afterwards."""

    sparse = True

    def __init__(self, x: Any, t: Array, weight: Array | None = None, names: tuple[str, ...] | None = None) -> None:
        self.x = x if x.data.dtype in FLOATS else x.astype(np.float64)
        self.t = t
        self.weight = weight
        self.names = names
        self.n_rows = x.shape[0]
        self.shape = Shape(x.shape[1], t.shape[1])
        self.flat = t.shape[1] == 1
        self.reads = [0]

    @cached_property
    def n_blocks(self) -> int:
        """Few blocks, as each carries a D x D matrix: one for every 64 D^2 multiply-adds."""
        work = float(np.square(np.diff(self.x.indptr), dtype=np.float64).sum())
        return int(min(max(work / (64.0 * max(self.shape.features, 1) ** 2), 1), 256, max(self.n_rows, 1)))

    def block(self, i: int) -> Block:
        """Return the rows of block i; the index arrays are views."""
        if self.n_blocks == 1:
            return Block(self.x, self.t, self.weight, self.exponent)
        first, last = (self.n_rows * j // self.n_blocks for j in (i, i + 1))
        start, stop = self.x.indptr[first], self.x.indptr[last]
        x = type(self.x)(
            (self.x.data[start:stop], self.x.indices[start:stop], self.x.indptr[first : last + 1] - start),
            shape=(last - first, self.shape.features),
            copy=False,
        )
        weight = None if self.weight is None else self.weight[first:last]
        return Block(x, self.t[first:last], weight, self.exponent, first)

    @cached_property
    def exponent(self) -> Array:
        """Column scales, from the largest magnitude in each column."""
        largest = np.zeros(self.shape.features)
        with np.errstate(invalid="ignore"):
            np.maximum.at(largest, self.x.indices, np.abs(self.x.data))
        reach = np.concatenate([largest, np.abs(self.t).max(axis=0, initial=0.0)])
        return exponents(reach, reach)

    def scan(self, scan: Scan, order: NDArray[np.int64] | None = None, outputs: Array | None = None) -> None:
        """Run a scan over all rows, in place; an order of the rows is followed without a copy of them."""
        self.reads[0] += 1
        scan.run(Block(self.x, self.t, self.weight), order, outputs)

    def read_targets(self) -> Array:
        """Return the targets."""
        return self.t

    def with_targets(self, t: Array) -> Source:
        """Return the same rows with other targets."""
        other = type(self)(self.x, t, self.weight, self.names)
        other.reads = self.reads
        return other

    def with_weight(self, weight: Array | None) -> Source:
        """Return the same rows with other weights, (N,)."""
        other = type(self)(self.x, self.t, weight, self.names)
        other.reads = self.reads
        return other

    def picked(self, rows: NDArray[np.intp]) -> Source:
        """Return the source of some rows, copied, in the order given."""
        weight = None if self.weight is None else self.weight[rows]
        return type(self)(self.x[rows], self.t[rows], weight, self.names)

    @property
    def density(self) -> float:
        """The share of the numbers of X that are held."""
        return float(self.x.nnz) / max(self.n_rows * self.shape.features, 1)

    def matvec(self, v: Array) -> Array:
        """Return X v."""
        self.reads[0] += 1
        return np.asarray(self.x @ v)

    def rmatvec(self, u: Array) -> Array:
        """Return X' u."""
        self.reads[0] += 1
        return np.asarray(self.x.T @ u)

    def spread(self, intercept: bool) -> Array:
        """Return root mean squares; about the mean by subtracting its square."""
        self.reads[0] += 1
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        total = weight.sum()
        mean = np.asarray(self.x.T @ weight) / total * intercept
        square = np.asarray(self.x.astype(np.float64).power(2).T @ weight) / total
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))

    def dual_gram(self, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix: a sparse product, then the centring as a rank-two correction."""
        self.reads[0] += 1
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        scaled = self.x.multiply(scale).tocsr()
        gram = (scaled @ scaled.T).toarray()
        mean = np.zeros(self.shape.features)
        if intercept:
            mean = np.asarray(self.x.T @ weight) / weight.sum()
            cross = np.asarray(scaled @ (mean * scale))
            gram += (mean * scale) @ (mean * scale) - cross[:, None] - cross
        root = np.sqrt(weight)
        return DualGram(np.asarray(gram * root[:, None] * root), mean)


def _floats(x: Any) -> Any:
    """Return rows as floats whose strides are whole numbers of floats; a field of a record array is copied."""
    if x.dtype not in FLOATS:
        return x.astype(np.float64)
    return x if not any(stride % x.itemsize for stride in x.strides) else np.ascontiguousarray(x)
