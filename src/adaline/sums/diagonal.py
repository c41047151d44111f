"""The diagonal of the second derivatives of an objective, for data with too many columns for the whole matrix.

diagonal_k = sum weight curvature_k (1, v^2)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from adaline.arrays import Array, host, is_sparse, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.sums.base import Totals
from adaline.sums.moments import PIECE
from adaline.sums.objective import Point, View, gather, margins, row_weights, rows_in_view


class CurvatureDiagonal(Totals):
    """The diagonal (K, 1 + D) at a Point; sparse rows stay sparse where the view has no offset."""

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `outputs` is the number of machines."""
        return cls(np.zeros((config.get("outputs", shape.targets), 1 + shape.features)))

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in a block at a Point."""
        point: Point = theta
        if is_sparse(block.x) and not point.view.offset.any():
            self.sums += _sparse(block.gathered(), point)
            return
        for piece in block.pieces(PIECE):
            rows = rows_in_view(piece, point.view)
            xp = namespace(rows)
            z = xp.matmul(rows, to_device_of(rows, point.theta.T.copy()))
            curvature = row_weights(piece, rows) * point.loss.curvature(z, to_device_of(rows, piece.t))
            self.sums += host(xp.matmul(xp.matrix_transpose(curvature), rows * rows))


def _sparse(block: Block, point: Point) -> Array:
    """Return the diagonal over one block of sparse rows, (K, 1 + D)."""
    x, scale = block.x, point.view.scale
    z = margins(block, point)
    curvature = row_weights(block, z) * point.loss.curvature(z, block.t)
    squares = type(x)((np.square(x.data, dtype=np.float64), x.indices, x.indptr), x.shape)
    return gather(replace(block, x=squares), curvature, View(scale**2, np.zeros_like(scale)))
