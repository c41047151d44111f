"""The gradient X'(t - Xw) on the raw rows in double-double arithmetic, for iterative refinement (5.7).

    r = t - w0 - x'w,   g = (sum w r, sum w x r),   E = sum w r^2

Every product and sum carries its rounding error along, so g has about 30 correct digits even where t - Xw cancels.
Columns are scaled by powers of two, theta accordingly: theta_j here is w_j 2^(e_j - e_t).

In C++: `native/residual.hpp`.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline import twofold
from adaline.arrays import Array, ThetaLike, as_dense, host, is_device, is_sparse, namespace, to_device_of
from adaline.block import DENSE, Block, Shape
from adaline.kernels import call_native, fused_kernels, native
from adaline.sums.base import Sum
from adaline.sums.columns import times_power
from adaline.sums.moments import PIECE_NUMBERS
from adaline.sums.objective import weights_on_device


class Theta(NamedTuple):
    """Scaled coefficients hi + lo, (K, 1 + D) with the intercept first, and the exponents (D + K) of the scale."""

    hi: Array
    lo: Array
    exponent: Array


class Residual(Sum):
    """Sums (K, D + 2, 2) of w r, w x_j r and w r^2 as pairs hi, lo."""

    reads_columns: ClassVar[bool] = True
    has_device_kernel: ClassVar[bool] = True

    def __init__(self, sums: Array, most_rows: int | None = None) -> None:
        self.sums = sums
        self.most_rows = most_rows

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; with `most_rows`, so many are added at a time, on the host."""
        return cls(np.zeros((shape.targets, shape.features + 2, 2)), config.get("most_rows"))

    @property
    def gradient(self) -> tuple[Array, Array]:
        """X'(t - Xw) as hi, lo, (K, 1 + D)."""
        return self.sums[:, :-1, 0], self.sums[:, :-1, 1]

    @property
    def squares(self) -> Array:
        """Sum of squared residuals of each target, (K,), scaled."""
        return self.sums[:, -1, 0]

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at the coefficients theta."""
        if self.most_rows is not None:
            for piece in block.pieces(self.most_rows * max(block.shape.features, 1)):
                part = type(self)(np.zeros_like(self.sums))
                part.add(dense_on_host(piece), theta)
                self.merge(part)
            return
        if native is not None and (isinstance(block.x, DENSE) or is_sparse(block.x)):
            call_native("residual", self.sums, block.x, block.t, block.weight, *theta)
            return
        fused = fused_kernels(block.x)
        if fused is not None and block.chosen is None:
            t, weight = to_device_of(block.x, block.t), weights_on_device(block.x, block.weight)
            self.merge(type(self)(fused.residual(block.x, t, weight, *theta)))
        else:
            for piece in block.pieces(PIECE_NUMBERS):
                self.merge(type(self)(residual_reference(piece, theta)))

    def merge(self, other: Self) -> None:
        """Add in double-double."""
        a, b = self.sums, other.sums
        a[..., 0], a[..., 1] = twofold.add(a[..., 0], a[..., 1], b[..., 0], b[..., 1])


def dense_on_host(block: Block) -> Block:
    """Return the same rows as a dense block on the host."""
    x, weight = as_dense(block.x), block.weight
    return Block(host(x) if is_device(x) else x, host(block.t), None if weight is None else host(weight))


def residual_reference(block: Block, theta: Theta) -> Array:
    """Return sum w r, sum w x r and sum w r^2 of a block, r = t - w0 - x'w, (K, D + 2, 2), in array-API operations."""
    x = as_dense(block.x)
    xp = namespace(x)
    rows, shape = block.rows, block.shape
    out = np.zeros((shape.targets, shape.features + 2, 2))
    if rows == 0:
        return out
    ones = xp.ones((rows, 1), dtype=xp.float64, device=x.device)
    columns = xp.concat([ones, xp.astype(x, xp.float64)], axis=1)
    scale = np.concatenate([[0.0], theta.exponent[: shape.features]])
    columns = times_power(columns, -scale)
    for k in range(shape.targets):
        hi = times_power(to_device_of(x, block.t)[:, k], -theta.exponent[shape.features + k])
        lo = hi * 0.0
        for j in range(1 + shape.features):
            p_hi, p_lo = twofold.multiply(
                columns[:, j], lo * 0.0, to_device_of(x, -theta.hi[k, j]), to_device_of(x, -theta.lo[k, j])
            )
            hi, lo = twofold.add(hi, lo, p_hi, p_lo)
        w_hi, w_lo = hi, lo
        if block.weight is not None:
            w_hi, w_lo = twofold.multiply(hi, lo, to_device_of(x, block.weight), lo * 0.0)
        g_hi, g_lo = twofold.multiply(w_hi[:, None], w_lo[:, None], columns, columns * 0.0)
        e_hi, e_lo = twofold.multiply(w_hi, w_lo, hi, lo)
        for at, (part_hi, part_lo) in ((slice(0, -1), (g_hi, g_lo)), (-1, (e_hi, e_lo))):
            total_hi, total_lo = twofold.sum_rows(part_hi, part_lo)
            out[k, at, 0], out[k, at, 1] = host(total_hi), host(total_lo)
    return out
