"""The score of Firth's penalised likelihood: that of the logistic likelihood, plus that of Jeffreys' prior.

    z = theta_0 + theta'v,   p = 1 / (1 + exp(-z)),   h = p (1 - p) |root'(1, v)|^2,   root root' = H^-1
    gradient = sum weight (p - t - h (1/2 - p)) (1, v)

h is the leverage of a row in the weighted design: the sum of weight h over the rows is the rank of H. A weight of 2 is
the row twice. t is the first target of a row, 0 or 1, or a fraction between; the second, where there is one, is an
offset: a known part of z.

D. Firth, Biometrika 80 (1993), 27-38; G. Heinze and M. Schemper, Statistics in Medicine 21 (2002), 2409-2419.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.arrays import Array, ThetaLike, host, namespace, to_device_of, weighted
from adaline.block import Block, Shape
from adaline.losses import Logistic
from adaline.sums.base import Totals
from adaline.sums.objective import View, row_weights, rows_in_view
from adaline.sums.scores import runs


class Prior(NamedTuple):
    """Where the score is taken: theta (1, 1 + D) in the coordinates of the view, root (1 + D, rank) of H^-1 there."""

    theta: Array
    view: View
    root: Array


class FirthScore(Totals):
    """Gradient (1 + D) of minus the penalised log-likelihood."""

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros(1 + shape.features))

    @property
    def gradient(self) -> Array:
        """The gradient, (1, 1 + D)."""
        return self.sums[None, :]

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a Prior."""
        for run in runs(block):
            self.sums += score_reference(run, theta)


def score_reference(block: Block, prior: Prior) -> Array:
    """Return sum weight (p - t - h (1/2 - p)) (1, v) over one block, (1 + D,), in array-API operations."""
    rows = rows_in_view(block, prior.view)
    xp, loss = namespace(rows), Logistic()
    both = xp.matmul(rows, to_device_of(rows, np.concatenate([prior.theta.T, prior.root], axis=1)))
    z, root_v = both[:, :1], both[:, 1:]
    targets = to_device_of(rows, block.t)
    t, z = targets[:, :1], z + xp.sum(targets[:, 1:], axis=1, keepdims=True)
    leverage = loss.curvature(z, t) * xp.sum(root_v * root_v, axis=1, keepdims=True)
    slope = weighted(row_weights(block, rows), loss.slope(z, t) - leverage * (0.5 - loss.mean(z)))
    return host(xp.matmul(xp.matrix_transpose(slope), rows)).ravel()
