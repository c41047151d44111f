"""The second derivatives of each machine alone, of the rows that bend most: what a metric of many machines can pay for.

    hessian_k = sum weight curvature_k (1, v)(1, v)'

A row counts for machine k with chance weight curvature_k / level_k, at most one, and then for one over its chance: the
sum is right on average, and rows that the machine is sure of, most of them near the minimum, are seldom multiplied out.
Which rows count is fixed by their numbers.
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
    """Where the second derivatives are taken, and the curvature (K,) from which on a row always counts."""

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
        bent = loss.curvature(z, host(block.t))
        if block.weight is not None:
            bent = bent * host(block.weight)[:, None]
        for k, matrix in enumerate(self.sums):
            with np.errstate(over="ignore"):
                chance = np.minimum(bent[:, k] / level[k], 1.0)
            chosen = np.flatnonzero(row_uniforms(block.first_row, block.rows, k) < chance)
            part = Block(block.x, block.t, chosen=chosen).gathered()
            matrix += second_moments(part, bent[chosen, k] / chance[chosen], view)
