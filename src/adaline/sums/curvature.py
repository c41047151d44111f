"""Second derivatives of an objective where there are too many coefficients for the whole matrix.

    diagonal_k = sum weight curvature_k (1, v^2)
    hessian_k  = sum weight curvature_k (1, v)(1, v)'      of each machine alone, estimated from a sample of the rows
    hessian_u  = sum weight u'V u (1, v)(1, v)'            of a contrast u of machines, V the row matrix of the loss

A row is sampled for machine k with probability min(weight curvature_k / level_k, 1), and then divided by it: the sum is
unbiased, and rows of small curvature, most of them near the minimum, are seldom used. Which rows are sampled is fixed
by their indices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import Array, ThetaLike, host, is_device, is_sparse, namespace, to_device_of, weighted
from adaline.block import Block, Shape, UnitsApart
from adaline.kernels import native
from adaline.row_hashes import row_uniforms, row_uniforms_beside
from adaline.sums.base import Totals
from adaline.sums.moments import PIECE_NUMBERS
from adaline.sums.objective import (
    Point,
    View,
    device_products,
    gather,
    margins,
    row_weights,
    rows_in_view,
    second_moments,
)

# least ratio of a sum of squares about an offset to that about zero; 10x larger overstates curvature of columns far
# from zero
LEAST_SHARE = 2.0**-40


class CurvatureDiagonal(Totals):
    """The diagonal (K, 1 + D) at a Point; sparse rows stay sparse."""

    uses_blas: ClassVar[bool] = True
    reads_units: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `outputs` is the number of machines."""
        return cls(np.zeros((config.get("outputs", shape.targets), 1 + shape.features)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Point."""
        point: Point = theta
        if not isinstance(block.x, UnitsApart) or native is None or len(point.theta) > 1:
            block = block.gathered() if is_sparse(block.x) else block.packed()
        if is_sparse(block.x) or isinstance(block.x, UnitsApart):
            self.sums += _sparse(block, point)
            return
        for piece in block.pieces(PIECE_NUMBERS):
            rows = rows_in_view(piece, point.view)
            xp = namespace(rows)
            z = xp.matmul(rows, to_device_of(rows, point.theta.T.copy()))
            curvature = weighted(row_weights(piece, rows), point.loss.curvature(z, to_device_of(rows, piece.t)))
            self.sums += host(xp.matmul(xp.matrix_transpose(curvature), rows * rows))


def _sparse(block: Block, point: Point) -> Array:
    """Return the diagonal over one block of sparse rows, (K, 1 + D).

    sum c (x scale + offset)^2 = scale^2 sum c x^2 + 2 scale offset sum c x + offset^2 sum c
    """
    x, scale = block.x, point.view.scale
    constant = point.loss.concordance == 0  # whatever the outputs
    z = np.zeros((block.rows, len(point.theta))) if constant else margins(block, point)
    curvature = weighted(row_weights(block, z), point.loss.curvature(z, block.t))
    if isinstance(x, UnitsApart):
        squares = x.squared()
    else:
        squares = type(x)((np.square(x.data, dtype=np.float64), x.indices, x.indptr), x.shape)
    none, offset = np.zeros_like(scale), point.view.offset
    out = gather(replace(block, x=squares), curvature, View(scale**2, none))
    if offset.any():
        bent = (curvature >= 0).all(axis=0)[:, None]  # not by a loss that is not convex
        least = np.where(bent, LEAST_SHARE * out[:, 1:], -np.inf)
        out[:, 1:] += offset * (2 * gather(block, curvature, View(scale, none))[:, 1:] + offset * out[:, :1])
        np.maximum(out[:, 1:], least, out=out[:, 1:])
    return out


class Thinning(NamedTuple):
    """Where second derivatives are taken, and from which curvature on a row is always sampled.

    Parameters
    ----------
    point : coefficients of K machines.
    level : (K + A,) the curvature from which on a row is always sampled.
    contrasts : (A, K) directions in which machines change together, each with a matrix of its own after the machines'.
    """

    point: Point
    level: Array
    contrasts: Array = np.zeros((0, 0))


class ThinnedCurvature(Totals):
    """The matrices (K + A, 1 + D, 1 + D) at a Thinning."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `outputs` is the number of matrices."""
        side = 1 + shape.features
        return cls(np.zeros((config.get("outputs", shape.targets), side, side)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Thinning."""
        (loss, _, view, _), level, contrasts = theta
        if is_device(block.x):
            self._add_on_device(block.gathered(), theta)
            return
        z = margins(block, theta.point)
        block = block.gathered()
        t = host(block.t)
        together = [loss.product(z, t, u[None]) @ u for u in contrasts]
        curvature = np.column_stack([loss.curvature(z, t), *together])
        if block.weight is not None:
            curvature = weighted(host(block.weight)[:, None], curvature)
        for k, matrix in enumerate(self.sums):
            with np.errstate(over="ignore"):
                probability = np.minimum(curvature[:, k] / level[k], 1.0)
            chosen = np.flatnonzero(row_uniforms(block.first_row, block.rows, k) < probability)
            part = Block(block.x, block.t, chosen=chosen).gathered()
            matrix += second_moments(part, curvature[chosen, k] / probability[chosen], view)

    def _add_on_device(self, block: Block, theta: Thinning) -> None:
        """Take in rows on a device, which stay there."""
        (loss, weights, view, _), level, contrasts = theta
        z = device_products(block, view, weights.T.copy())
        xp, t = namespace(z), to_device_of(z, block.t)
        units = (to_device_of(z, u[None]) for u in contrasts)
        together = [xp.sum(loss.product(z, t, u) * u, axis=1, keepdims=True) for u in units]
        curvature = weighted(row_weights(block, z), xp.concat([loss.curvature(z, t), *together], axis=1))
        for k, matrix in enumerate(self.sums):
            own = curvature[:, k]
            probability = own / float(level[k])
            probability = xp.where(probability < 1.0, probability, xp.ones_like(probability))
            chosen = xp.nonzero(row_uniforms_beside(z, block.first_row, k) < probability)[0]
            part = Block(xp.take(block.x, chosen, axis=0), xp.take(t, chosen, axis=0))
            share = xp.take(own, chosen, axis=0) / xp.take(probability, chosen, axis=0)
            matrix += second_moments(part, share, view)
