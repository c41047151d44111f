"""Moments of mapped rows a = (x 2^-e - m) Q: those of rows that Q makes nearly orthonormal are known well.

W = sum w,   mean = sum w a / W,   S = sum w (a - mean)(a - mean)'
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from adaline.arrays import ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.sums.base import Sum
from adaline.sums.columns import times_power
from adaline.sums.moments import Moments

RUN_NUMBERS = 2**18  # numbers of rows that are mapped at a time; eight times as many leave the cache


class Mapped(Sum):
    """`Moments` of the mapped rows, without targets; theta is (e, m, Q), with (D,) or more exponents e."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, moments: Moments) -> None:
        self.moments = moments

    @classmethod
    def zero(cls, shape: Shape, **config: object) -> Self:
        """Return the moments of no rows; `centred=False` for raw ones."""
        return cls(Moments.zero(Shape(shape.features, 0), centred=config.get("centred", True)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Map the rows of a block, and add them."""
        exponent, shift, matrix = theta
        none = np.empty((block.rows, 0))
        mapped = np.empty((block.rows, block.shape.features))
        at = 0
        for piece in block.pieces(RUN_NUMBERS):
            x = times_power(host(as_dense(piece.x)), -exponent[: len(shift)])
            mapped[at : at + piece.rows] = (x - shift) @ matrix
            at += piece.rows
        self.moments.add(Block(mapped, none, block.weight, None, block.first_row))

    def merge(self, other: Self) -> None:
        """Take in the moments of other rows."""
        self.moments.merge(other.moments)
