"""Sums over rows by which Laplace's approximation moves with its parameters: third and fourth derivatives of the cost.

    with h = v'K v and c_a = v'd_a, v = (1, columns) of a row:
    leverage = sum weight cost''' h v,   spread = sum weight cost'''' h v v',   moved_a = sum weight cost''' c_a v v'

K is the inverse of the matrix of second derivatives, d_a is how the coefficients move with parameter a: `likelihood`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self, cast

import numpy as np

from adaline.arrays import Array, ThetaLike, host
from adaline.block import Block, Shape
from adaline.losses import Likelihood
from adaline.losses.further import further_derivatives
from adaline.sums import View
from adaline.sums.base import Totals
from adaline.sums.moments import PIECE_NUMBERS
from adaline.sums.objective import rows_in_view


class LaplacePoint(NamedTuple):
    """Where the sums are taken: coefficients (1 + D,) in a view, K (1 + D, 1 + D), and the moves d (1 + D, A)."""

    loss: Likelihood
    coefficients: Array
    view: View
    inverse: Array
    moves: Array


class LaplaceSums(Totals):
    """Leverage (1 + D,), spread (1 + D, 1 + D) and moved (A, 1 + D, 1 + D) at a LaplacePoint."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, side: int, sums: Array) -> None:
        self.side, self.sums = side, sums

    @classmethod
    def zero(cls, shape: Shape, **config: object) -> Self:
        """Return the sums over no rows, of `moves` directions."""
        side = 1 + shape.features
        return cls(side, np.zeros(side * (1 + side + side * cast("int", config["moves"]))))

    @property
    def leverage(self) -> Array:
        """Sum of weight cost''' h v."""
        return self.sums[: self.side]

    @property
    def spread(self) -> Array:
        """Sum of weight cost'''' h v v'."""
        return self.sums[self.side : self.side * (1 + self.side)].reshape(self.side, self.side)

    @property
    def moved(self) -> Array:
        """Sum of weight cost''' c_a v v'."""
        return self.sums[self.side * (1 + self.side) :].reshape(-1, self.side, self.side)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a LaplacePoint."""
        point: LaplacePoint = theta
        for piece in block.heavy().pieces(PIECE_NUMBERS):
            rows = np.asarray(host(rows_in_view(piece, point.view)))
            z = (rows @ point.coefficients)[:, None]
            third, fourth = (piece.weights() * one[:, 0] for one in further_derivatives(point.loss, z, host(piece.t)))
            h = ((rows @ point.inverse) * rows).sum(axis=1)
            self.leverage[:] += (third * h) @ rows
            self.spread[:] += rows.T @ (rows * (fourth * h)[:, None])
            for total, along in zip(self.moved, (rows @ point.moves).T, strict=True):
                total += rows.T @ (rows * (third * along)[:, None])
