"""The exact leave-one-out error of ridge regression, for many penalties in one pass.

    r = t - mean_t - z'(c / (d + lambda)),   h = 1/W + sum_k z_k^2 / (d_k + lambda),   E = sum w (r / (1 - h))^2

z are the coordinates of a centred row along the eigenvectors V of S, d its eigenvalues, c = V'X't. Dividing by 1 - h
gives the residual of the row in the fit without it: without one of its w copies where the weight is w, or with
`precision` without the row as a whole, where h is multiplied by w.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import Array, ThetaLike, host, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.sums.base import Totals
from adaline.sums.columns import weighted_columns
from adaline.sums.moments import PIECE_NUMBERS


class Ridges(NamedTuple):
    """Ridge fits in the eigenbasis of S.

    mean, exponent: of the columns [x t]; rotation (D, r) takes scaled centred rows to z; d (r,) eigenvalues; c (K, r)
    cross moments; penalties (K, L); constant: 1/W, or 0 without intercept; precision: whether a row of weight w is one
    observation.
    """

    mean: Array
    exponent: Array
    rotation: Array
    d: Array
    c: Array
    penalties: Array
    constant: float
    precision: bool = False


class LeaveOneOut(Totals):
    """Sums (K, L) of squared leave-one-out residuals."""

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows, for `penalties` penalties."""
        return cls(np.zeros((shape.targets, int(config.get("penalties", 1)))))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at the fits theta."""
        for piece in block.pieces(PIECE_NUMBERS):
            self.sums += leave_one_out_reference(piece, theta)


def leave_one_out_reference(block: Block, theta: Ridges) -> Array:
    """Return sum w (r / (1 - h))^2 over one block, (K, L), in array-API operations."""
    sums = np.empty(theta.penalties.shape)
    columns, root = weighted_columns(Block(block.x, block.t), theta.mean, theta.exponent)
    xp = namespace(columns)
    features = block.shape.features
    z = xp.matmul(columns[:, :features], to_device_of(columns, theta.rotation))
    weight = root[:, 0] if block.weight is None else to_device_of(columns, block.weight)
    factor = weight[:, None] if theta.precision else 1.0
    for k in range(block.shape.targets):
        shrink = to_device_of(z, 1.0 / (theta.d[:, None] + theta.penalties[k]))
        residual = columns[:, features + k, None] - xp.matmul(z * to_device_of(z, theta.c[k]), shrink)
        rest = 1.0 - factor * (theta.constant + xp.matmul(z * z, shrink))
        sums[k] = host(xp.matmul(weight, (residual / rest) ** 2))
    return sums
