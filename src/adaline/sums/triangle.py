"""The triangle R of a QR decomposition, built block by block; it keeps twice the digits of the Gram matrix.

    [1, z - shift] = Q R,   z = [x t]        (without intercept: z = Q R)

With the ones column first, R below its first row is the Cholesky factor of the centred S, but S is never formed, so
the condition number enters once, not squared. Two triangles are merged by stacking them and taking R again; a change of
shift changes the first row alone: z - s_a = (z - s_b) + (s_b - s_a) 1.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import lapack

from adaline.arrays import Array, ThetaLike, as_dense, host, namespace
from adaline.block import Block, Shape
from adaline.sums.base import Sum
from adaline.sums.columns import exponents, largest_magnitudes, pilot, weighted_columns
from adaline.sums.moments import PIECE_NUMBERS


class Triangle(Sum):
    """R of the weighted, scaled columns [1, x, t], with its shift and scale."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, centred: bool, rows: int, shift: Array, exponent: Array, r: Array) -> None:
        self.centred = centred
        self.rows = rows
        self.shift = shift
        self.exponent = exponent
        self.r = r

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the triangle of no rows; `centred=False` leaves out the ones column."""
        q = shape.features + shape.targets
        centred = bool(config.get("centred", True))
        return cls(centred, 0, np.zeros(q), np.zeros(q), np.zeros((0, q + centred)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block: its own triangle is merged."""
        for piece in block.pieces(PIECE_NUMBERS):
            self._add(piece)

    def _add(self, block: Block) -> None:
        if block.rows == 0 or (block.weight is not None and not host(block.weight).any()):
            self.rows += block.rows
            return
        block = Block(as_dense(block.x), block.t, block.weight)
        shift, exponent, _ = pilot(block, self.centred)
        r = block_triangle(block, shift, exponent, self.centred)
        if not np.isfinite(r).all():  # the pilot rows gave too small a scale, or a number is not finite
            largest = largest_magnitudes(block)
            if np.isfinite(largest).all():
                exponent = exponents(largest, largest)
                r = block_triangle(block, shift, exponent, self.centred)
        self.merge(type(self)(self.centred, block.rows, shift, exponent, r))

    def merge(self, other: Self) -> None:
        """Stack the two triangles in a common shift and scale, and take R of them."""
        self.rows += other.rows
        if other.r.shape[0] == 0:
            return
        if self.r.shape[0] == 0:
            self.shift, self.exponent, self.r = other.shift, other.exponent, other.r
            return
        exponent = np.maximum(self.exponent, other.exponent)
        ones = int(self.centred)
        stacked = []
        for part in (self, other):
            r = part.r.copy()
            r[:, ones:] = np.ldexp(r[:, ones:], (part.exponent - exponent).astype(np.int64))
            stacked.append(r)
        if self.centred:
            change = np.ldexp(other.shift - self.shift, -exponent.astype(np.int64))
            stacked[1][:, 1:] += stacked[1][:, :1] * change
        self.exponent = exponent
        self.r = reduce(np.concatenate(stacked))


def block_triangle(block: Block, shift: Array, exponent: Array, centred: bool) -> Array:
    """Return R of one dense block, (1 + D + K, 1 + D + K), in the array-API namespace of its rows."""
    z, root = weighted_columns(block, shift, exponent)
    xp = namespace(z)
    if centred:
        z = xp.concat([root, z], axis=1)
    if isinstance(z, np.ndarray):
        return reduce(z)
    return host(xp.linalg.qr(z, mode="reduced")[1])


def reduce(z: Array) -> Array:
    """Return the upper triangle R with R'R = z'z, at most square."""
    if not np.isfinite(z).all():
        return np.full((1, z.shape[1]), np.nan)
    qr, _, _, info = lapack.dgeqrf(np.asfortranarray(z), overwrite_a=1)
    assert info == 0
    return np.ascontiguousarray(np.triu(qr[: z.shape[1]]))
