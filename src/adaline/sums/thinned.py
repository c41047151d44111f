"""The second derivatives of each machine, estimated from a random sample of rows: a cheap metric of many machines.

    hessian_k = sum weight curvature_k (1, v)(1, v)'

A row is sampled for machine k with probability min(weight curvature_k / level_k, 1), and then divided by it: the sum is
unbiased, and rows of small curvature, most of them near the minimum, are seldom used. Which rows are sampled is fixed
by their indices.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block, Shape
from adaline.row_hashes import row_uniforms
from adaline.sums.base import Totals
from adaline.sums.objective import Point, margins, second_moments


class Thinning(NamedTuple):
    """Where the second derivatives are taken, and the curvature (K,) from which on a row is always sampled."""

    point: Point
    level: Array


class ThinnedCurvature(Totals):
    """The matrices (K, 1 + D, 1 + D) at a Thinning."""

    uses_blas: ClassVar[bool] = True
    reads_columns: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `outputs` is the number of machines."""
        side = 1 + shape.features
        return cls(np.zeros((config.get("outputs", shape.targets), side, side)))

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in a block at a Thinning."""
        (loss, _, view, _), level = theta
        z = margins(block, theta.point)
        block = block.gathered()
        curvature = loss.curvature(z, host(block.t))
        if block.weight is not None:
            curvature = curvature * host(block.weight)[:, None]
        for k, matrix in enumerate(self.sums):
            with np.errstate(over="ignore"):
                probability = np.minimum(curvature[:, k] / level[k], 1.0)
            chosen = np.flatnonzero(row_uniforms(block.first_row, block.rows, k) < probability)
            part = Block(block.x, block.t, chosen=chosen).gathered()
            matrix += second_moments(part, curvature[chosen, k] / probability[chosen], view)
