"""The objective of a user-defined machine under any loss (S4: learning as function estimation).

y = G(W, x),   value = sum weight loss(y, t),   gradient = sum weight slope . dG/dW
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from adaline.arrays import AnyArray, Array, ThetaLike, as_dense, host
from adaline.block import Block, Shape
from adaline.losses import Loss
from adaline.sums.base import Totals
from adaline.sums.moments import PIECE_NUMBERS


class DifferentiableMachine(Protocol):
    """A function G(W, X) of weights W, an array of any shape, and of rows X (n, D), with its derivative by W.

    Its methods must not change their arguments, as several threads may call them at a time.
    """

    def start(self, features: int, outputs: int, rng: np.random.Generator) -> Array:
        """Return the weights to start from."""

    def value(self, W: Array, X: Array) -> Array:
        """Return the outputs, (n, K)."""

    def gradient(self, W: Array, X: Array, slopes: Array) -> Array:
        """Return the sum over rows of slopes (n, K) times d outputs / dW, in the shape of W."""


class MachinePoint(NamedTuple):
    """Where the objective is taken: the machine, the loss and the weights."""

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
        """Its derivative by the weights, as one vector."""
        return self.sums[1:]

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a MachinePoint."""
        point: MachinePoint = theta
        for piece in block.heavy().pieces(PIECE_NUMBERS):
            x, t = dense(piece.x), host(piece.t)
            weight = 1.0 if piece.weight is None else host(piece.weight)[:, None]
            y = point.machine.value(point.weights, x)
            self.sums[0] += float(np.sum(weight * point.loss.value(y, t)))
            slopes = weight * point.loss.slope(y, t)
            self.sums[1:] += np.asarray(point.machine.gradient(point.weights, x, slopes)).ravel()


def dense(x: AnyArray) -> Array:
    """Return rows of any kind as a dense float64 array on the host, (n, D)."""
    return host(as_dense(x))
