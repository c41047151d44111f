"""X as a matrix, for the few solvers that need products with it: they ask a source for `matrix()`.

A matrix knows neither targets nor weights; `reads` is the count of its source, one more for each product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import AnyArray, Array, host, namespace, to_device_of
from adaline.block import BLOCK_ELEMENTS, block_rows
from adaline.sources.threads import one_blas_thread, run_blocks

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class DualGram(NamedTuple):
    """The dual Gram matrix of weighted centred rows (N, N), scaled columns, and the column means (D,)."""

    gram: Array
    mean: Array


class RowMatrix(ABC):
    """X (N, D)."""

    @abstractmethod
    def matvec(self, v: Array) -> Array:
        """Return X v, (N,)."""

    @abstractmethod
    def rmatvec(self, u: Array) -> Array:
        """Return X' u, (D,)."""

    @abstractmethod
    def spread(self, weight: Array, intercept: bool) -> Array:
        """Return the root mean square of each column, (D,), about its mean if there is an intercept."""

    @abstractmethod
    def dual_gram(self, weight: Array, intercept: bool, scale: Array) -> DualGram:
        """Return (X - mean) diag(scale)^2 (X - mean)' with rows times sqrt(weight), for data with few rows."""


class DenseMatrix(RowMatrix):
    """A dense array in memory; blocks of rows and strips of columns are converted where they are no floats."""

    def __init__(self, x: AnyArray, reads: list[int]) -> None:
        self.x, self.reads = x, reads

    def matvec(self, v: Array) -> Array:
        """Return X v, block by block."""
        self.reads[0] += 1
        size = block_rows(self.x.shape[1])
        found: list[Any] = [np.empty((0, *np.shape(v)[1:]))] * max(-(-self.x.shape[0] // size), 1)

        def work(i: int) -> None:
            found[i] = floats(self.x[i * size : (i + 1) * size]) @ v

        with one_blas_thread():
            run_blocks(len(found), work)
        return np.concatenate(found)

    def rmatvec(self, u: Array) -> Array:
        """Return X' u, by strips of columns."""
        self.reads[0] += 1
        return np.concatenate([floats(self.x[:, strip]).T @ u for strip in self.strips()])

    def spread(self, weight: Array, intercept: bool) -> Array:
        """Return the root mean square of each column, by strips of columns."""
        self.reads[0] += 1
        squares = [weight @ self._centred(strip, weight, intercept)[0] ** 2 for strip in self.strips()]
        return np.asarray(np.sqrt(np.concatenate(squares) / weight.sum()))

    def dual_gram(self, weight: Array, intercept: bool, scale: Array) -> DualGram:
        """Sum the dual Gram matrix over strips of columns, each centred exactly."""
        self.reads[0] += 1
        gram = np.zeros((len(self.x), len(self.x)))
        mean = np.zeros(self.x.shape[1])
        for strip in self.strips():
            x, mean[strip] = self._centred(strip, weight, intercept)
            x *= scale[strip] * np.sqrt(weight)[:, None]
            gram += x @ x.T
        return DualGram(gram, mean)

    def strips(self) -> list[slice]:
        """Return runs of columns, of a block's numbers each."""
        width = max(BLOCK_ELEMENTS // max(len(self.x), 1), 1)
        return [slice(j, j + width) for j in range(0, self.x.shape[1], width)]

    def _centred(self, strip: slice, weight: Array, intercept: bool) -> tuple[Array, Array]:
        x = self.x[:, strip].astype(np.float64)
        with np.errstate(invalid="ignore"):  # the caller refuses infinity
            mean = weight @ x / weight.sum() * intercept
            return x - mean, mean


class SparseMatrix(RowMatrix):
    """A CSR matrix; zeros stay zeros."""

    def __init__(self, x: AnyArray, reads: list[int]) -> None:
        self.x, self.reads = x, reads

    def matvec(self, v: Array) -> Array:
        """Return X v."""
        self.reads[0] += 1
        return np.asarray(self.x @ v)

    def rmatvec(self, u: Array) -> Array:
        """Return X' u."""
        self.reads[0] += 1
        return np.asarray(self.x.T @ u)

    def spread(self, weight: Array, intercept: bool) -> Array:
        """Return the root mean square of each column; about the mean by subtracting its square."""
        self.reads[0] += 1
        total = weight.sum()
        mean = np.asarray(self.x.T @ weight) / total * intercept
        square = np.asarray(self.x.astype(np.float64).power(2).T @ weight) / total
        return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))

    def dual_gram(self, weight: Array, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix: a sparse product, then the centring as a rank-two correction."""
        self.reads[0] += 1
        scaled = self.x.multiply(scale).tocsr()
        gram = (scaled @ scaled.T).toarray()
        mean = np.zeros(self.x.shape[1])
        if intercept:
            mean = np.asarray(self.x.T @ weight) / weight.sum()
            cross = np.asarray(scaled @ (mean * scale))
            gram += (mean * scale) @ (mean * scale) - cross[:, None] - cross
        root = np.sqrt(weight)
        return DualGram(np.asarray(gram * root[:, None] * root), mean)


class DeviceMatrix(RowMatrix):
    """An array on a device; vectors come to the host."""

    def __init__(self, x: AnyArray, reads: list[int]) -> None:
        self.x, self.reads, self.xp = x, reads, namespace(x)

    def matvec(self, v: Array) -> Array:
        """Return X v."""
        self.reads[0] += 1
        return host(self.xp.matmul(self._in_float64(), to_device_of(self.x, v)))

    def rmatvec(self, u: Array) -> Array:
        """Return X' u."""
        self.reads[0] += 1
        return host(self.xp.matmul(self.xp.matrix_transpose(self._in_float64()), to_device_of(self.x, u)))

    def spread(self, weight: Array, intercept: bool) -> Array:
        """Return root mean squares, about the means if there is an intercept."""
        self.reads[0] += 1
        x, _ = self._centred(weight, intercept)
        return np.asarray(np.sqrt(host(self.xp.matmul(to_device_of(x, weight), x * x)) / weight.sum()))

    def dual_gram(self, weight: Array, intercept: bool, scale: Array) -> DualGram:
        """Return the dual Gram matrix of the centred rows."""
        self.reads[0] += 1
        x, mean = self._centred(weight, intercept)
        x = x * to_device_of(x, scale) * to_device_of(x, np.sqrt(weight)[:, None])
        return DualGram(host(self.xp.matmul(x, self.xp.matrix_transpose(x))), mean)

    def _in_float64(self) -> Any:
        return self.xp.astype(self.x, self.xp.float64, copy=False)

    def _centred(self, weight: Array, intercept: bool) -> tuple[Any, Array]:
        """Return the rows minus their means, and the means, zero without an intercept."""
        mean = self.rmatvec(weight) / weight.sum() * intercept
        return self._in_float64() - to_device_of(self.x, mean), mean


def floats(x: AnyArray) -> Any:
    """Return rows as floats whose strides are multiples of their size; a field of a record array is copied."""
    if x.dtype not in FLOATS:
        return x.astype(np.float64)
    return (
        x if x.flags.c_contiguous or not any(stride % x.itemsize for stride in x.strides) else np.ascontiguousarray(x)
    )
