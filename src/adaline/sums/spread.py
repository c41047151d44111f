"""Mean, spread and reach of every column, in one read: iterative solvers bring columns to one scale by them.

    weight = sum w,   mean_j,   second_j = sum w (x_j - mean_j)^2,   largest_j = max |x_j| over rows with a weight

Each block is taken about a pilot row of its own and merged by Chan's formula, so that means of 1e9 cost no digits.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.block import Block, Columns, Shape
from adaline.kernels import native
from adaline.namespaces import beside, host, is_sparse, namespace
from adaline.sums.base import Sum

Array = NDArray[np.float64]


NATIVE = hasattr(native, "spread_dense")


class Spread(Sum):
    """Rows (4, D): mean, second, largest, and the weight in every place of the last; targets are not looked at."""

    reads_columns: ClassVar[bool] = True

    def __init__(self, weight: float, mean: Array, second: Array, largest: Array) -> None:
        self.weight, self.mean, self.second, self.largest = weight, mean, second, largest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(0.0, *np.zeros((3, shape.features)))

    @property
    def deviation(self) -> Array:
        """Standard deviations (population)."""
        return np.asarray(np.sqrt(self.second / self.weight)) if self.weight > 0 else np.zeros_like(self.second)

    @property
    def root(self) -> Array:
        """Root mean squares about zero."""
        return np.asarray(np.hypot(self.deviation, self.mean))

    @property
    def finite(self) -> bool:
        """Whether all rows were."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.second).all())

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in the rows of a block."""
        if block.rows == 0:
            return
        if NATIVE and isinstance(block.x, np.ndarray | Columns) and block.chosen is None:
            mean, second, largest = sums = np.zeros((3, block.shape.features))
            weight = native.spread_dense(sums, block.x, block.weight)
            self.merge(type(self)(weight, mean, second, largest))
        else:
            self.merge(type(self)(*spread_reference(block)))

    def merge(self, other: Self) -> None:
        """Merge by Chan's formula."""
        self.largest = np.maximum(self.largest, other.largest)
        if other.weight == 0:
            return
        total = self.weight + other.weight
        apart = other.mean - self.mean
        self.second = self.second + other.second + apart**2 * (self.weight * other.weight / total)
        self.mean = self.mean + apart * (other.weight / total)
        self.weight = total

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.weight, self.mean, self.second, self.largest)


def spread_reference(block: Block) -> tuple[float, Array, Array, Array]:
    """Return weight, mean, second and largest of one block, in array-API operations; sparse rows stay sparse."""
    block = block.gathered()
    weight = np.ones(block.rows) if block.weight is None else host(block.weight)
    total = float(weight.sum())
    if total == 0:
        zero = np.zeros(block.shape.features)
        return 0.0, zero, zero.copy(), zero.copy()
    if is_sparse(block.x):
        return _sparse(block.x, weight, total)
    xp = namespace(block.x)
    x = xp.astype(block.x, xp.float64)
    w = beside(x, weight[:, None])
    pilot = x[int((weight > 0).argmax()), :]
    mean = pilot + xp.sum(w * (x - pilot), axis=0) / total
    second = xp.sum(w * (x - mean) ** 2, axis=0)
    largest = xp.max(xp.where(w > 0, xp.abs(x), 0.0 * x), axis=0)
    return total, host(mean), host(second), host(largest)


def _sparse(x: Any, weight: Array, total: float) -> tuple[float, Array, Array, Array]:
    x = x.astype(np.float64)
    mean = np.asarray(x.T @ weight) / total
    square = np.asarray(x.power(2).T @ weight)
    largest = np.zeros(x.shape[1])
    heavy = np.repeat(weight > 0, np.diff(x.indptr))
    np.maximum.at(largest, x.indices[heavy], np.abs(x.data[heavy]))
    return total, mean, np.maximum(square - total * mean**2, 0.0), largest
