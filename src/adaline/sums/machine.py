"""The objective of a machine of the user's own under any loss (S4: learning as function estimation).

y = G(W, x),   value = sum weight loss(y, t),   gradient = sum weight slope . dG/dW
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from adaline.arrays import Array, host, is_sparse
from adaline.block import Block, Shape
from adaline.losses import Loss
from adaline.sums.moments import PIECE
from adaline.sums.totals import Totals


class DifferentiableMachine(Protocol):
    """A function G(W, X) of weights, an array of any shape, and of rows X (n, D), with its derivative by W.

    Functions must not change what they are given: blocks of rows may be taken in several threads.
    """

    def start(self, features: int, outputs: int, rng: np.random.Generator) -> Array:
        """Return the first weights."""

    def value(self, W: Array, X: Array) -> Array:
        """Return the outputs, (n, K)."""

    def gradient(self, W: Array, X: Array, slopes: Array) -> Array:
        """Return the sum over rows of slopes (n, K) times d outputs / dW, in the shape of W."""


class MachinePoint(NamedTuple):
    """Where the sum is taken."""

    machine: DifferentiableMachine
    loss: Loss
    weights: Array


class MachineObjective(Totals):
    """The value and the gradient, as one vector."""

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `size` is the number of weights."""
        return cls(np.zeros(1 + config["size"]))

    @property
    def value(self) -> float:
        """The sum of weight x loss."""
        return float(self.sums[0])

    @property
    def gradient(self) -> Array:
        """Its derivative by the weights, one after the other."""
        return self.sums[1:]

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in a block at a MachinePoint."""
        point: MachinePoint = theta
        for piece in block.pieces(PIECE):
            x, t = dense(piece.x), host(piece.t)
            weight = 1.0 if piece.weight is None else host(piece.weight)[:, None]
            y = point.machine.value(point.weights, x)
            self.sums[0] += float(np.sum(weight * point.loss.value(y, t)))
            slopes = weight * point.loss.slope(y, t)
            self.sums[1:] += np.asarray(point.machine.gradient(point.weights, x, slopes)).ravel()


def dense(x: Any) -> Array:
    """Return rows as a float64 array."""
    return np.asarray(x.toarray(), dtype=np.float64) if is_sparse(x) else host(x)
