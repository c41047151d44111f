"""Moments of mapped rows a = (x 2^-e - m) Q: those of rows that Q makes nearly orthonormal are known well.

    W = sum w,   mean = sum w a / W,   S = sum w (a - mean)(a - mean)'

At a point of a likelihood, rows are also weighted by the curvature there, w = weight curvature(z, t), so that S has the
second derivatives. `margin` bounds the relative error of these weights: outputs are rounded to float64, and
exponentials are assumed to be right to 2^-40. `gradient` (1 + D,) is - sum weight slope (1, x) in float64, without a
bound.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.sums.base import Sum
from adaline.sums.bounded_score import LinkedPoint
from adaline.sums.bounded_slope import row_loss, weighing
from adaline.sums.columns import times_power
from adaline.sums.moments import ROUNDING, Moments

RUN_NUMBERS = 2**18  # numbers of rows that are mapped at a time; eight times as many leave the cache
CURVATURE_ROUNDING = 2.0**-40  # relative error of a curvature beside that of its output


class RowMap(NamedTuple):
    """The map of rows, of columns times 2^-exponent, or None of rows as they are; and the point that weighs them."""

    exponent: Array | None = None
    shift: Array | None = None
    matrix: Array | None = None
    point: LinkedPoint | None = None


class Mapped(Sum):
    """`Moments` of the mapped rows, without targets; theta is a RowMap."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, moments: Moments, gradient: Array, margin: float = 0.0) -> None:
        self.moments, self.gradient, self.margin = moments, gradient, margin

    @classmethod
    def zero(cls, shape: Shape, **config: object) -> Self:
        """Return the moments of no rows; `centred=False` for raw ones."""
        moments = Moments.zero(Shape(shape.features, 0), centred=config.get("centred", True))
        return cls(moments, np.zeros(1 + shape.features))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Map and weigh the rows of a block, and add them."""
        rows, d = block.rows, block.shape.features
        mapped, weight = np.empty((rows, d)), np.ones(rows) if theta.point is not None else block.weight
        at = 0
        for piece in block.pieces(RUN_NUMBERS):
            x, here = host(as_dense(piece.x)), slice(at, at + piece.rows)
            mapped[here] = x if theta.matrix is None else _mapped(x, theta)
            if theta.point is not None:
                weight[here] = self._weights(piece, x, theta.point)
            at += piece.rows
        self.moments.add(Block(mapped, np.empty((rows, 0)), weight, None, block.first_row))

    @np.errstate(all="ignore")
    def _weights(self, block: Block, x: Array, point: LinkedPoint) -> Array:
        """Return the weights of rows times their curvature, and take note of how wrong they may be."""
        t, offset = point.targets(host(block.t))
        own = point.exponent[: x.shape[1]].astype(np.int64)
        w = np.ldexp(point.hi[1:], -own)[:, None]
        z, weight = x @ w + point.hi[0] + offset, block.weights()
        moved = np.abs(x) @ np.abs(w) + abs(point.hi[0]) + np.abs(offset)
        curvature, change = weighing(point.loss, z, t)
        curved, slope = curvature[:, 0], row_loss(point.loss, t).slope(z, t)[:, 0]
        farthest = float(np.where(weight[:, None] > 0, change * moved, 0.0).max(initial=0.0))
        margin = float(np.expm1(2 * (len(w) + 4) * ROUNDING * farthest)) if np.isfinite(farthest) else np.inf
        self.margin = max(self.margin, CURVATURE_ROUNDING, margin)
        low = np.where(weight > 0, weight * slope, 0.0)
        self.gradient -= np.append(low.sum(), np.ldexp(low @ x, -own))
        return np.where(weight > 0, weight * curved, 0.0)

    def merge(self, other: Self) -> None:
        """Take in the moments of other rows."""
        self.moments.merge(other.moments)
        self.gradient += other.gradient
        self.margin = max(self.margin, other.margin)


def _mapped(x: Array, of: Any) -> Array:
    return np.asarray((times_power(x, -of.exponent[: x.shape[1]]) - of.shift) @ of.matrix)
