"""Mean, spread and largest magnitude of every column, by which iterative solvers scale the columns.

    weight = sum w,   mean_j,   second_j = sum w (x_j - mean_j)^2,   largest_j = max |x_j| over rows with a weight

Each block is shifted, here by one of its rows, in C++ by the mean of some, with Triton by their medians, and blocks are
merged by Chan's formula, so that means of 1e9 cost no digits.

In C++: `native/spread.hpp`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, ThetaLike, host, is_device, is_sparse, namespace, to_device_of
from adaline.block import Block, Columns, Shape, UnitsApart
from adaline.kernels import call_native, fused_kernels, native
from adaline.sums.base import Sum
from adaline.sums.columns import times_power

# numbers of a block copied at a time on a device; doubling it takes another half gigabyte there
DEVICE_PIECE_NUMBERS = 2**26
MEDIAN_ROWS = 255  # rows by whose medians columns are shifted on a device; doubling it takes longer, for closer medians
# ratio of spread to mean below which a sparse column counts as constant; doubling it treats more columns as constant
LEAST_SPREAD = 2.0**-49


class Spread(Sum):
    """Weight and, for each column (D,) times 2^-exponent, mean, sum of squares about it, largest magnitude.

    Exponents are zero unless columns are so large or so small that their squares would overflow or underflow.
    """

    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True
    reads_units: ClassVar[bool] = True

    def __init__(self, weight: float, first: Array, second: Array, top: Array, exponent: Array) -> None:
        self.weight, self.first, self.second, self.top, self.exponent = weight, first, second, top, exponent

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows, of columns times 2^-exponent."""
        first, second, top, none = np.zeros((4, shape.features))
        return cls(0.0, first, second, top, config.get("exponent", none))

    @property
    def mean(self) -> Array:
        """Means of the columns."""
        return self._raw(self.first)

    @property
    def largest(self) -> Array:
        """Largest magnitudes."""
        return self._raw(self.top)

    @property
    def deviation(self) -> Array:
        """Standard deviations (population)."""
        return self._raw(self._spread())

    @property
    def root(self) -> Array:
        """Root mean squares about zero."""
        return self._raw(np.hypot(self._spread(), self.first))

    @property
    def finite(self) -> bool:
        """Whether all rows were finite."""
        return bool(np.isfinite(self.first).all() and np.isfinite(self.second).all())

    @property
    def extreme(self) -> bool:
        """Whether columns are so large or so small that their squares overflow or underflow."""
        size = self.top[self.top > 0]
        return bool(np.isfinite(size).all() and ((size > 1e140) | (size < 1e-140)).any())

    def of_columns(self, columns: NDArray[np.intp]) -> Spread:
        """Return the statistics of some columns, by their indices."""
        parts = (self.first, self.second, self.top, self.exponent)
        return Spread(self.weight, *(part[columns] for part in parts))

    def _spread(self) -> Array:
        return np.asarray(np.sqrt(self.second / self.weight)) if self.weight > 0 else np.zeros_like(self.second)

    def _raw(self, values: Array) -> Array:
        if not self.exponent.any():
            return values
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(values, self.exponent.astype(np.int64)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in the rows of a block."""
        if block.rows == 0:
            return
        plain = block.chosen is None and not self.exponent.any()
        if native is not None and plain and isinstance(block.x, np.ndarray | Columns):
            first, second, top = sums = np.zeros((3, block.shape.features))
            weight = native.spread_dense(sums, block.x, block.weight)
            self.merge(type(self)(weight, first, second, top, self.exponent))
        elif native is not None and plain and isinstance(block.x, UnitsApart):
            self.merge(type(self)(*_of_units_apart(block.x, block.weights()), self.exponent))
        elif plain and fused_kernels(block.x) is not None:
            self.merge(type(self)(*fused_spread(block), self.exponent))
        elif is_device(block.x):
            for piece in block.pieces(DEVICE_PIECE_NUMBERS):
                self.merge(type(self)(*spread_reference(piece, self.exponent), self.exponent))
        else:
            self.merge(type(self)(*spread_reference(block, self.exponent), self.exponent))

    def merge(self, other: Self) -> None:
        """Merge by Chan's formula."""
        self.top = np.maximum(self.top, other.top)
        if other.weight == 0:
            return
        total = self.weight + other.weight
        d = other.first - self.first
        self.second = self.second + other.second + d**2 * (self.weight * other.weight / total)
        self.first = self.first + d * (other.weight / total)
        self.weight = total


def _constants(
    x: AnyArray, values: Array, counted: NDArray[np.bool_], rows: int, distinct: bool
) -> tuple[NDArray[np.intp], Array]:
    """Return the indices of constant columns of sparse rows, those of positive weight, and their values.

    The sum of squares minus that of the mean does not show them, as it leaves rounding errors. `distinct` : whether the
    columns of a row are, so that entries can be counted.
    """
    indices, columns = x.indices, x.shape[1]
    full = np.bincount(indices[counted], minlength=columns) == rows
    if not full.any() or not distinct:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    among = counted & full[indices]
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    np.minimum.at(low, indices[among], values[among])
    np.maximum.at(high, indices[among], values[among])
    found = np.flatnonzero(full & (low == high))
    return found, low[found]


def _of_units_apart(x: UnitsApart, weight: Array) -> tuple[float, Array, Array, Array]:
    """Return what `spread_reference` does, with sums by the native kernel."""
    total, features, positive = float(weight.sum()), x.shape[1], (weight > 0).astype(np.float64)
    if total == 0:
        zero = np.zeros(features)
        return 0.0, zero, zero.copy(), zero.copy()
    numbers = x.numbers
    mean = _column_sums(x, weight) / total
    with np.errstate(over="ignore", invalid="ignore"):
        square = _column_sums(x.squared(), weight)
        second = np.maximum(square - total * mean**2, total * (LEAST_SPREAD * mean) ** 2)
    counted, rows = np.repeat(weight > 0, np.diff(numbers.indptr)), int(positive.sum())
    constant, value = _constants(numbers, numbers.data, counted, rows, True)
    none = type(numbers)(numbers.shape)
    units = _column_sums(UnitsApart(none, x.units, x.starts), positive)
    alone = np.flatnonzero(np.abs(units) == rows)
    mean[constant], second[constant] = value, 0.0
    mean[alone], second[alone] = np.sign(units[alone]), 0.0
    largest = (_column_sums(UnitsApart(none, x.columns, x.starts), positive) > 0).astype(np.float64)
    np.maximum.at(largest, numbers.indices, np.where(counted, np.abs(numbers.data), 0.0))
    return total, mean, second, largest


def _column_sums(x: UnitsApart, weight: Array) -> Array:
    """Return the weighted sum of each column, (D,)."""
    features = x.shape[1]
    sums = np.zeros(1 + features)
    call_native("gather", sums, x, weight[:, None], None, np.ones(features), np.zeros(features))
    return sums[1:]


def fused_spread(block: Block) -> tuple[float, Array, Array, Array]:
    """Return what `spread_reference` does of rows on a CUDA device, in one read.

    Squares are taken about the medians of some rows, which are numbers of the columns themselves: those of a constant
    column are zero.
    """
    xp = namespace(block.x)
    weight = None if block.weight is None else to_device_of(block.x, block.weight)
    total = float(block.rows) if weight is None else float(xp.sum(weight))
    if total == 0:
        zero = np.zeros(block.shape.features)
        return 0.0, zero, zero.copy(), zero.copy()
    every = max(block.rows // MEDIAN_ROWS, 1)
    rows = block.x[: every * MEDIAN_ROWS : every, :]
    if weight is not None:  # numbers of rows without a weight may be any
        rows = xp.take(block.x, xp.nonzero(weight > 0)[0][::every][:MEDIAN_ROWS], axis=0)
    pilot = xp.astype(xp.sort(rows, axis=0)[rows.shape[0] // 2, :], xp.float64)
    first, second, top = fused_kernels(block.x).spread(block.x, weight, pilot)
    mean = host(pilot) + first / total
    return total, mean, np.maximum(second - first**2 / total, 0.0), top


def spread_reference(block: Block, exponent: Array) -> tuple[float, Array, Array, Array]:
    """Return sum w, mean, sum w (x - mean)^2 and max |x| of a block, in array-API operations; sparse rows stay so."""
    block = block.gathered()
    if is_device(block.x) and block.weight is None:
        return _unweighted(times_power(namespace(block.x).astype(block.x, namespace(block.x).float64), -exponent))
    weight = block.weights()
    total = float(weight.sum())
    if total == 0:
        zero = np.zeros(block.shape.features)
        return 0.0, zero, zero.copy(), zero.copy()
    if is_sparse(block.x):
        return _sparse(block.x, weight, total, exponent)
    xp = namespace(block.x)
    x = times_power(xp.astype(block.x, xp.float64), -exponent)
    w = to_device_of(x, weight[:, None])
    pilot = x[int((weight > 0).argmax()), :]
    mean = pilot + xp.sum(w * (x - pilot), axis=0) / total
    second = xp.sum(w * (x - mean) ** 2, axis=0)
    largest = xp.max(xp.where(w > 0, xp.abs(x), 0.0 * x), axis=0)
    return total, host(mean), host(second), host(largest)


def _unweighted(x: AnyArray) -> tuple[float, Array, Array, Array]:
    """Return number, mean, sum of squares about it, and largest magnitude of rows on a device."""
    xp = namespace(x)
    pilot = x[0, :]
    mean = pilot + xp.sum(x - pilot, axis=0) / x.shape[0]
    parts = (mean, xp.sum((x - mean) ** 2, axis=0), xp.max(xp.abs(x), axis=0))
    return float(x.shape[0]), *(host(part) for part in parts)  # type: ignore[return-value]


def _sparse(x: AnyArray, weight: Array, total: float, exponent: Array) -> tuple[float, Array, Array, Array]:
    indices, columns, weights = x.indices, x.shape[1], np.repeat(weight, np.diff(x.indptr))
    values = x.data.astype(np.float64)
    if exponent.any():
        values = np.ldexp(values, -exponent.astype(np.int64)[indices])
    weighted = values * weights
    mean = np.bincount(indices, weighted, columns) / total
    with np.errstate(over="ignore", invalid="ignore"):  # of a column so large that it will be read again, scaled
        square = np.bincount(indices, weighted * values, columns)
        second = np.maximum(square - total * mean**2, total * (LEAST_SPREAD * mean) ** 2)
    constant, value = _constants(x, values, weights > 0, int(np.count_nonzero(weight)), x.has_canonical_format)
    mean[constant], second[constant] = value, 0.0
    largest = np.zeros(columns)
    np.maximum.at(largest, indices, np.where(weights > 0, np.abs(values), 0.0))
    return total, mean, second, largest
