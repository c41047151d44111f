"""Second moments of the columns z = [x t]: everything that least squares, ridge and Gaussian systems need (5.8).

    W = sum w,   mean = sum w z / W,   S = sum w (z - mean)(z - mean)'

Each block is taken about a shift of its own, the mean of a few of its rows, and partial sums are merged by Chan's
formula

    S = S_a + S_b + (W_a W_b / W) d d',   d = mean_b - mean_a,

so that neither a large mean nor sorted rows cost digits. Column j is scaled by 2^-e_j, which is exact, so that
magnitudes from 1e-300 to 1e300 neither overflow nor vanish. The mean is kept as hi + lo. In raw mode (no intercept, or
many sparse rows, which must stay sparse) nothing is centred: first = sum w z and S = sum w z z', both scaled.

Blocks of few products are summed, and all states merged, in double-double, so that S is rounded once each time.

`noise` says how many digits the sums can give. It is the rounding error of the diagonal of S, added up over blocks and
merges; by Cauchy's inequality the error of an entry S_ij is at most sqrt(noise_i noise_j). For blocks of few products,
sparse rows and merges `noise` is a bound, as the rounding of S is known there. For larger blocks it is the typical
error, 8 units, which decides ranks; `bound` is the proven bound, from the number of additions.

In C++: `native/moments.hpp`, of sparse rows `native/csr.hpp`, and `native/merge.hpp`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy

from adaline import twofold
from adaline.arrays import Array, ThetaLike, all_finite, as_dense, host, is_sparse, namespace, to_device_of
from adaline.block import DENSE, Block, Shape
from adaline.forms import Finite
from adaline.kernels import fused_kernels, native, numbers_of
from adaline.sums.base import Sum
from adaline.sums.columns import exponents, largest_magnitudes, pilot, sparse_exponents, weighted_columns

CENTRED, RAW = (float(mode) for mode in numbers_of("MomentMode", ("centred", "raw")).values())
ROUNDING = 2.0**-53
# typical rounding of a larger block's sum of squares, in units; doubling it treats more columns as dependent
SUM_UNITS = 8
SUM_ROUNDING = SUM_UNITS * ROUNDING
# largest rounding of a product, weights and centring included, in units; doubling it widens bounds a little
ENTRY_UNITS = 16
PANEL_ROWS = 96  # rows of a panel of the native kernel, whose rounding it bounds: both change together
MOST_BLOCK_ROWS = 2**16  # largest number of rows of a block in memory; doubling it widens bounds
MOST_UNITS = PANEL_ROWS + MOST_BLOCK_ROWS // PANEL_ROWS + ENTRY_UNITS  # of its sums, whatever the signs
OUTWARDS = 1 + 2.0**-20  # factor that covers the rounding of the bounds themselves
FEW_PRODUCTS = 2**13  # rows x columns^2 up to which a block is summed in double-double, as in native/moments.hpp
# numbers copied at a time where rows are shifted, scaled or weighted; doubling it doubles that memory, half a gigabyte
PIECE_NUMBERS = 2**26
# exponent up to which a column is scaled by one factor, beyond by two; much larger, one factor overflows
ORDINARY_EXPONENT = 300
BATCH_ROWS, BATCH_COLUMNS = 2**12, 32  # rows in a matrix product on a device, at least, and at least per column


class Moments(Sum):
    """Weighted first and second moments of [x t], in one flat buffer that is stored, sent and merged as a whole.

    buffer : rows, weight, mode, then first_hi, first_lo, exponent and noise (q each), then S (q, q); q = D + K.
    """

    uses_blas: ClassVar[bool] = native is None
    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True
    shape: Shape
    buffer: Annotated[Array, Finite(".")]

    def __init__(self, shape: Shape, buffer: Array) -> None:
        self.shape = shape
        self.buffer = buffer

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the moments of no rows; `centred=False` for raw mode."""
        q = shape.features + shape.targets
        buffer = np.zeros(3 + 4 * q + q * q)
        buffer[2] = CENTRED if config.get("centred", True) else RAW
        return cls(shape, buffer)

    @property
    def columns(self) -> int:
        """Number of columns q = D + K."""
        return self.shape.features + self.shape.targets

    @property
    def rows(self) -> int:
        """Number of rows taken in, of any weight, less those taken out."""
        return int(self.buffer[0])

    @property
    def weight(self) -> float:
        """Sum of the weights, W."""
        return float(self.buffer[1])

    @property
    def centred(self) -> bool:
        """Whether S is about the mean."""
        return bool(self.buffer[2] == CENTRED)

    @property
    def first_hi(self) -> Array:
        """Leading part of the mean (centred) or of the scaled sum (raw)."""
        return self.vector(0)

    @property
    def first_lo(self) -> Array:
        """Trailing part of the mean or of the sum."""
        return self.vector(1)

    @property
    def exponent(self) -> Array:
        """Exponents of the scales: column j is multiplied by 2^-exponent[j]."""
        return self.vector(2)

    @property
    def noise(self) -> Array:
        """Rounding error of the diagonal of S: a bound where all blocks had few products, else its typical size."""
        return self.vector(3)

    @property
    def bound(self) -> Array:
        """Bound on the rounding error of the diagonal of S, whatever the signs of the roundings: noise x `excess`."""
        return self.noise * self.excess

    @property
    def excess(self) -> float:
        """The largest ratio of the rounding error to `noise`: 1 if all blocks had few products.

        A larger block adds up to `PANEL_ROWS` rows one after the other, and then its panels.
        """
        return 1.0 if self.rows * self.columns**2 <= FEW_PRODUCTS else MOST_UNITS / SUM_UNITS

    @property
    def second(self) -> Array:
        """The scaled matrix S, (q, q)."""
        q = self.columns
        return self.buffer[3 + 4 * q :].reshape(q, q)

    @property
    def finite(self) -> bool:
        """Whether every number taken in was finite, which the sums show."""
        return all_finite(self.buffer)

    def vector(self, k: int) -> Array:
        """Return the k-th of first_hi, first_lo, exponent and noise."""
        q = self.columns
        return self.buffer[3 + k * q : 3 + (k + 1) * q]

    def copy(self) -> Self:
        """Return an independent copy."""
        return type(self)(self.shape, self.buffer.copy())

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block: about a shift of its own if centred, about zero if raw."""
        if self.rows == 0:
            self._fill(block)
        else:
            other = type(self).zero(self.shape, centred=self.centred)
            other._fill(block)
            self.merge(other)

    def merge(self, other: Self) -> None:
        """Take in other moments by Chan's formula."""
        if native is not None:
            native.moments_merge(self.buffer, other.buffer, *self.shape)
        else:
            merge_reference(self, other)

    def subtract(self, other: Self, weighted_rows: int | None = None) -> None:
        """Take out rows that were taken in before; `weighted_rows` of them have a weight above zero, or all.

        The number of rows that are left is right where rows are taken out with all their weight. A row stays where part
        of its weight does, which sums do not show: the number is then too small, but never zero while there is weight.
        """
        rows = self.rows
        if native is not None:
            native.moments_subtract(self.buffer, other.buffer, *self.shape)
        else:
            subtract_reference(self, other)
        left = rows - (other.rows if weighted_rows is None else weighted_rows)
        self.buffer[0] = rows if left < 1 and self.weight > 0 else max(left, 0)
        if other.excess > self.excess:  # the few rows that are left were part of a larger block
            self.noise[:] *= other.excess

    def about_mean(self) -> Moments:
        """Return these moments in centred form; raw ones by a rank-one correction, whose rounding enters `noise`."""
        if self.centred:
            return self
        out = self.copy()
        out.buffer[2] = CENTRED
        if self.weight > 0:
            mean = self.first_hi / self.weight
            centre(out, np.zeros(self.columns), self.first_hi, self.first_lo)
            out.noise[:] += SUM_ROUNDING * self.weight * mean**2
        return out

    def about_zero(self) -> Moments:
        """Return these moments in raw form."""
        if not self.centred:
            return self
        out = self.copy()
        out.buffer[2] = RAW
        exponent = -self.exponent.astype(np.int64)
        mean = np.ldexp(self.first_hi, exponent) + np.ldexp(self.first_lo, exponent)
        out.second[:] += self.weight * np.outer(mean, mean)
        out.noise[:] += SUM_ROUNDING * self.weight * mean**2
        out.first_hi[:] = self.weight * mean
        out.first_lo[:] = 0.0
        return out

    def target(self, k: int) -> Moments:
        """Return the moments of the features and target k alone."""
        return self.among(range(self.shape.features), [self.shape.features + k])

    def among(self, features: Iterable[int], targets: Iterable[int]) -> Moments:
        """Return the moments of some of the columns [x t], by their indices, as features and as targets."""
        parts = list(features), list(targets)
        columns = parts[0] + parts[1]
        out = type(self).zero(Shape(len(parts[0]), len(parts[1])))
        out.buffer[:3] = self.buffer[:3]
        for i in range(4):
            out.vector(i)[:] = self.vector(i)[columns]
        out.second[:] = self.second[np.ix_(columns, columns)]
        if self.excess > out.excess:  # with all columns, the blocks had many products
            out.noise[:] *= self.excess
        return out

    def _fill(self, block: Block) -> None:
        if is_sparse(block.x) and self.centred:
            block = replace(block, x=as_dense(block.x), exponent=None)
        if native is not None and isinstance(block.x, DENSE):
            if not self._run(block, None):
                self._refill(block)
            return
        if fill_fused(self, block):
            return
        block = block.gathered()
        if is_sparse(block.x) and block.exponent is None:
            block = replace(block, exponent=sparse_exponents(block.x, block.t))
        if native is not None and is_sparse(block.x):
            x = block.x
            native.moments_csr(
                self.buffer, *self.shape, x.data, x.indices, x.indptr, block.t, block.weight, block.exponent
            )
        else:
            fill_reference(self, block)

    def _run(self, block: Block, exponent: Array | None) -> bool:
        """Add a block, scaled by its pilot rows where no exponents are given; return whether that scale sufficed."""
        found = native.moments_dense(
            self.buffer, *self.shape, block.x, block.t, block.weight, self.centred, exponent, block.chosen
        )
        return bool(found)

    def _refill(self, block: Block) -> None:
        """Run a block again whose pilot rows gave too small a scale; sums of NaN and infinity are left as they are.

        Rows of weight zero are left out, as their numbers may exceed the scale of all others.
        """
        with np.errstate(invalid="ignore"):
            block = block.packed()
            largest = largest_magnitudes(block)
        if not np.isfinite(largest).all():
            return
        rows, mode = self.buffer[0], self.buffer[2]
        self.buffer[:] = 0.0
        self.buffer[2] = mode
        self._run(block.heavy(), exponents(largest, largest))
        self.buffer[0] = rows


def shifted_product(block: Block, shift: Array, exponent: Array) -> Array:
    """Return the weighted [z 1]'[z 1], z = (x - shift, t - shift) scaled."""
    z, root = weighted_columns(block, shift, exponent)
    xp = namespace(z)
    z = xp.concat([z, root], axis=1)
    return host(xp.matmul(xp.matrix_transpose(z), z))


def plain_product(block: Block) -> Array:
    """Return [x t 1]'[x t 1] without a copy of x, for columns that need neither shift nor scale."""
    xp = namespace(block.x)
    x = xp.astype(block.x, xp.float64, copy=False)
    ones = xp.ones((block.rows, 1), dtype=xp.float64, device=x.device)
    rest = xp.concat([to_device_of(x, block.t), ones], axis=1)
    cross = batched_product(x, rest)
    above = xp.concat([batched_product(x, x), cross], axis=1)
    below = xp.concat([xp.matrix_transpose(cross), batched_product(rest, rest)], axis=1)
    return host(xp.concat([above, below], axis=0))


def batched_product(a: Any, b: Any) -> Any:
    """Return a'b by batches of rows, which is faster than one product on a device, and more exact."""
    xp = namespace(a)
    height = max(BATCH_ROWS, BATCH_COLUMNS * a.shape[1])
    whole = a.shape[0] // height * height
    out = xp.matmul(xp.matrix_transpose(a[whole:, :]), b[whole:, :])
    if whole:
        stacks = [xp.reshape(part[:whole, :], (-1, height, part.shape[1])) for part in (a, b)]
        out = out + xp.sum(xp.matmul(xp.matrix_transpose(stacks[0]), stacks[1]), axis=0)
    return out


def sparse_product(block: Block, exponent: Array) -> Array:
    """Return the weighted [z 1]'[z 1] of sparse rows, z scaled and not shifted."""
    d = block.shape.features
    scale = np.exp2(-exponent)
    parts: list[Any] = [
        scipy.sparse.csr_array(block.x.astype(np.float64)) @ scipy.sparse.diags_array(scale[:d]),
        scipy.sparse.csr_array(block.t * scale[d:]),
        scipy.sparse.csr_array(np.ones((block.rows, 1))),
    ]
    z: Any = scipy.sparse.hstack(parts, format="csr")
    weighted = z.copy()
    if block.weight is not None:  # not by a product of matrices, which leaves out rows of weight zero that hold NaN
        weighted.data *= np.repeat(block.weight, np.diff(z.indptr))
    return np.asarray((z.T @ weighted).toarray())


def nothing_of(block: Block) -> Array:
    """Return sum 0 z, (q,): zero, or NaN in columns that are not finite."""
    none = (0.0 * host(block.t)).sum(axis=0)
    if is_sparse(block.x):
        own = np.zeros(block.shape.features)
        np.add.at(own, block.x.indices, 0.0 * block.x.data)
    else:
        own = host(namespace(block.x).sum(0.0 * block.x, axis=0))
    return np.concatenate([own, none])


def fill_reference(moments: Moments, block: Block) -> None:
    """Fill zero moments from one block: W = sum w, sum w z, S = sum w (z - mean)(z - mean)', in array-API operations
    (SciPy for CSR).
    """
    weight = float(block.rows if block.weight is None else host(block.weight).sum())
    if weight == 0:
        moments.buffer[0] = block.rows
        moments.first_hi[:] = nothing_of(block)
        return
    if is_sparse(block.x):
        shift = np.zeros(moments.columns)
        exponent = block.exponent
        product = sparse_product(block, exponent)
    elif block.rows * moments.columns**2 <= FEW_PRODUCTS and fill_few(moments, block):
        return
    else:
        shift, exponent, mild = pilot(block, moments.centred)
        if block.weight is None and mild:
            shift, exponent = np.zeros((2, moments.columns))
            product = plain_product(block)
        elif block.rows * moments.columns > 2 * PIECE_NUMBERS:
            for piece in block.pieces(PIECE_NUMBERS):
                moments.add(piece)
            return
        else:
            product = shifted_product(block, shift, exponent)
    if not np.isfinite(product).all() and not is_sparse(block.x):
        largest = largest_magnitudes(block)
        if np.isfinite(largest).all():
            exponent = exponents(largest, largest)
            product = shifted_product(block.heavy(), shift, exponent)
    # sparse rows are added one by one, raw ones panel by panel: a constant column then rounds in one direction
    in_order = block.rows - 4 if is_sparse(block.x) else 0 if moments.centred else block.rows // PANEL_ROWS // 2
    _settle(moments, (block.rows, weight), shift, exponent, product, in_order)


def fill_few(moments: Moments, block: Block) -> bool:
    """Fill zero moments from a dense block of few products in double-double, S rounded once; False on overflow.

    W = sum w, m = sum w v, S = sum w v v' - m m' / W, v = z - shift, scaled.
    """
    shift, exponent, _ = pilot(block, moments.centred)
    z = np.concatenate([host(as_dense(block.gathered().x)).astype(np.float64), host(block.t)], axis=1)
    scale = exponent.astype(np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        v = [np.ldexp(part, -scale) for part in twofold.two_sum(z, -shift)]
        v = [np.column_stack([part, np.full(len(z), one)]) for part, one in zip(v, (1.0, 0.0), strict=True)]
        w = host(block.weights())[:, None, None]
        weighted = twofold.multiply(v[0][:, :, None], v[1][:, :, None], w, 0.0)
        c = twofold.sum_rows(*twofold.multiply(*weighted, v[0][:, None], v[1][:, None]))
        if not np.isfinite(c[0]).all():
            return False
        weight, m = (c[0][-1, -1], c[1][-1, -1]), (c[0][:-1, -1], c[1][:-1, -1])
        hi, lo = c[0][:-1, :-1], c[1][:-1, :-1]
        moments.buffer[:2] = block.rows, weight[0]
        moments.exponent[:] = exponent
        moments.noise[:] = 4 * (block.rows + 8) * ROUNDING * hi.diagonal()
        if moments.centred:
            d = _quotient(*m, *weight)
            mean = twofold.add(shift, 0.0, np.ldexp(d[0], scale), np.ldexp(d[1], scale))
            moments.first_hi[:], moments.first_lo[:] = mean
            hi, lo = twofold.add(hi, lo, *twofold.multiply(-m[0][:, None], -m[1][:, None], *d))
        else:
            moments.first_hi[:], moments.first_lo[:] = m
    second = np.triu(hi + lo)
    moments.second[:] = second + np.triu(second, 1).T
    error = np.triu(lo - (second - hi))
    moments.noise[:] = rounded_once(moments.second, error + np.triu(error, 1).T) + ROUNDING * moments.noise
    return True


def rounded_once(second: Array, error: Array) -> Array:
    """Return n (q,) with |error_ij| <= sqrt(n_i n_j), for the errors of rounding S to float64, which are known.

    n_i = max_j |error_ij| sqrt(S_ii / S_jj): at most what rounding can do, and at least a quarter of it, as errors of
    double-double itself are not counted.
    """
    square = np.abs(second.diagonal())
    length = np.sqrt(square)
    share = np.divide(np.abs(error), length, out=np.zeros_like(error), where=length > 0).max(axis=1, initial=0.0)
    return np.asarray(np.clip(OUTWARDS * share * length, ROUNDING / 4 * square, ROUNDING * square))


def fill_fused(moments: Moments, block: Block) -> bool:
    """Fill zero moments from rows on a CUDA device in one read, chosen ones where they lie; False where it cannot be.

    W = sum w, sum w z, S = sum w (z - mean)(z - mean)', as `fill_reference` does, by a kernel of `adaline.fused`.
    """
    fused = fused_kernels(block.x)
    few = block.rows * moments.columns**2 <= FEW_PRODUCTS
    if fused is None or few or moments.columns >= fused.WIDEST_PRODUCT:
        return False
    t = to_device_of(block.x, block.t)
    own = None if block.weight is None else to_device_of(block.x, block.weight)
    weight = float(block.rows if own is None else namespace(own).sum(own))
    if weight == 0:
        return False
    shift, exponent, _ = pilot(block, moments.centred)
    if np.abs(exponent).max(initial=0.0) > ORDINARY_EXPONENT:
        return False
    product = fused.moments(block.x, t, own, block.chosen, shift, np.exp2(-exponent))
    if not np.isfinite(product).all():
        return False
    in_order = 0 if moments.centred else block.rows // PANEL_ROWS // 2
    _settle(moments, (block.rows, weight), shift, exponent, product, in_order)
    return True


def _settle(
    moments: Moments, counts: tuple[int, float], shift: Array, exponent: Array, product: Array, in_order: float
) -> None:
    """Fill zero moments from the number and weight of rows, and the product [z 1]'[z 1] about a shift.

    `in_order` is half the number of terms that were added one after the other.
    """
    moments.buffer[:2] = counts
    moments.exponent[:] = exponent
    moments.second[:] = product[:-1, :-1]
    few = counts[0] * moments.columns**2 <= FEW_PRODUCTS  # `excess` allows nothing for these
    units = SUM_UNITS + in_order + (counts[0] + ENTRY_UNITS if few else 0)
    moments.noise[:] = ROUNDING * units * np.diagonal(moments.second)
    if moments.centred:
        centre(moments, shift, product[:-1, -1])
    else:
        moments.first_hi[:] = product[:-1, -1]


def centre(moments: Moments, shift: Array, first: Array, first_lo: Any = 0.0) -> None:
    """Move S from a shift to the mean, given first = sum w (z - shift), scaled, as hi and lo."""
    quotient = _quotient(first, first_lo, moments.weight, 0.0)
    delta = (np.ldexp(part, moments.exponent.astype(np.int64)) for part in quotient)
    moments.first_hi[:], moments.first_lo[:] = twofold.add(shift, 0.0, *delta)
    moments.second[:] -= np.outer(first, first) / moments.weight


def _quotient(a_hi: Any, a_lo: Any, b_hi: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return a / b as hi and lo."""
    first = a_hi / b_hi
    rest = twofold.add(a_hi, a_lo, *twofold.multiply(b_hi, b_lo, -first, 0.0))
    return twofold.two_sum(first, rest[0] / b_hi)


def merge_reference(a: Moments, b: Moments) -> None:
    """Merge b into a by Chan's formula: S = S_a + S_b + (W_a W_b / W) d d', d = mean_b - mean_a."""
    a.buffer[0] += b.buffer[0]
    if b.weight == 0:
        return
    if a.weight == 0:
        a.buffer[1:] = b.buffer[1:]
        return
    _combine(a, _common_scale(a, b), 1.0)


def subtract_reference(a: Moments, b: Moments) -> None:
    """Take b out of a, which contains its rows, by Chan's formula backwards."""
    rows = a.buffer[0]
    a.buffer[0] -= b.buffer[0]
    if b.weight == 0:
        return
    if a.weight - b.weight <= 1e-12 * a.weight:
        a.buffer[1] = 0.0
        a.buffer[3:] = 0.0
        return
    b = _common_scale(a, b)
    before, square = a.second.diagonal().copy(), np.zeros(a.columns)
    counts = a.weight == rows and b.weight == b.rows
    weight = a.weight
    if a.centred:
        d = np.ldexp((b.first_hi - a.first_hi) + (b.first_lo - a.first_lo), -a.exponent.astype(np.int64))
        square = weight * b.weight / (weight - b.weight) * d**2
    _combine(a, b, -1.0)
    # rounded weights, taken out, leave their errors behind in a smaller sum
    uneven = 0.0 if counts else 4 * rows * weight / a.weight
    a.noise[:] += ROUNDING * (uneven * square + 16 * ROUNDING * (before + square))


def _combine(a: Moments, b: Moments, sign: float) -> None:
    """Set a to a + sign b, both of one scale and with a weight, in double-double; S is rounded once."""
    weight = twofold.two_sum(a.weight, sign * b.weight)
    own = twofold.two_sum(a.second, sign * b.second)
    if a.centred:
        scale = a.exponent.astype(np.int64)
        share = _quotient(sign * b.weight, 0.0, *weight)
        d = twofold.add(b.first_hi, b.first_lo, -a.first_hi, -a.first_lo)
        d = np.ldexp(d[0], -scale), np.ldexp(d[1], -scale)
        step = twofold.multiply(*share, *d)
        a.first_hi[:], a.first_lo[:] = twofold.add(
            a.first_hi, a.first_lo, np.ldexp(step[0], scale), np.ldexp(step[1], scale)
        )
        square = twofold.multiply(d[0][:, None], d[1][:, None], *d)
        own = twofold.add(*own, *twofold.multiply(*twofold.multiply(a.weight, 0.0, *share), *square))
    else:
        a.first_hi[:], a.first_lo[:] = twofold.add(a.first_hi, a.first_lo, sign * b.first_hi, sign * b.first_lo)
    a.second[:] = own[0] + own[1]
    a.noise[:] += b.noise
    if sign > 0:
        a.noise[:] += rounded_once(a.second, own[1] - (a.second - own[0]))
    else:  # columns may have no length left
        a.noise[:] += ROUNDING * np.abs(a.second.diagonal())
    a.buffer[1] = weight[0]


def _common_scale(a: Moments, b: Moments) -> Moments:
    """Bring both states to the larger exponents; a in place, b as a copy."""
    b = b.copy()
    only_a, only_b = ((s.second.diagonal() == 0) & (s.first_hi == 0) for s in (b, a))  # a column of zeros has no scale
    exponent = np.where(only_a, a.exponent, np.where(only_b, b.exponent, np.maximum(a.exponent, b.exponent)))
    for state in (a, b):
        change = (state.exponent - exponent).astype(np.int64)
        state.second[:] = np.ldexp(state.second, change[:, None] + change)
        state.noise[:] = np.ldexp(state.noise, 2 * change)
        if not state.centred:
            state.first_hi[:] = np.ldexp(state.first_hi, change)
            state.first_lo[:] = np.ldexp(state.first_lo, change)
        state.exponent[:] = exponent
    return b
