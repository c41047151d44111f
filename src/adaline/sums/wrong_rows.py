"""The rows on the wrong side: the step of the batch perceptron, its criterion, and counts of errors (S1, S2).

    M_k = {n : t_nk (w_k.x_n) <= 0}
    steps_k     = sum over M_k of weight t x           minus the gradient of the criterion
    criterion_k = sum over M_k of -weight t (w_k.x)    0 where no row is wrong
    count_k     = sum over M_k of weight

x includes the ones column, so steps are (K, 1 + D), intercept first. `missed` is the weight of the rows with a wrong
predicted label: with one output those of M, with several those whose first largest output is not that of their class.

Of Kesler's construction, a row of class i is wrong for each rival class j that lies above it or beside it:

    criterion = sum of weight (w_j.x - w_i.x) over rows and rivals j with w_j.x >= w_i.x,  count = that of weight alone
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from adaline.arrays import AnyArray, Array, ThetaLike, host, is_device, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.sums.base import Sum, Totals
from adaline.sums.outputs import outputs, outputs_by_machine


class WrongRows(Sum):
    """Sums (K, 1 + D) of weight t x over wrong rows, with criterion and count (K,), and the weight of missed rows."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, steps: Array, criterion: Array, count: Array, missed: Array) -> None:
        self.steps, self.criterion, self.count, self.missed = steps, criterion, count, missed

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        k = shape.targets
        return cls(np.zeros((k, 1 + shape.features)), np.zeros(k), np.zeros(k), np.zeros(1))

    @property
    def finite(self) -> bool:
        """Whether all rows were finite: the criterion of one that is not is NaN."""
        return bool(np.isfinite(self.criterion).all() and np.isfinite(self.steps).all())

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at the weights theta (K, 1 + D)."""
        block = block.heavy()
        if block.rows == 0:
            return
        t, z, weight = host(block.t), outputs(block.x, theta), block.weights()
        wrong = t * z <= 0
        self.count += weight @ wrong
        self.criterion += weight @ np.maximum(-t * z, 0.0)
        self.steps += _sum_of_rows(block.x, np.where(wrong, t, 0.0) * weight[:, None])
        missed = wrong[:, 0] if t.shape[1] == 1 else t[np.arange(len(t)), z.argmax(axis=1)] <= 0
        self.missed += weight @ missed

    def merge(self, other: Self) -> None:
        """Add."""
        self.steps += other.steps
        self.criterion += other.criterion
        self.count += other.count
        self.missed += other.missed


class ErrorCounts(Totals):
    """Weight of the rows on the wrong side, (C, K), of C candidates for the weights, counted in one pass (S2, pocket).

    count_ck = sum of weight over the rows with t_k (w_ck'x) <= 0,   candidates c, outputs k
    """

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the counts of no rows for `candidates` candidates."""
        return cls(np.zeros((int(config.get("candidates", 1)), shape.targets)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at the weights theta (C, K, 1 + D)."""
        block = block.heavy()
        if block.rows == 0:
            return
        c, k, columns = theta.shape
        z = outputs_by_machine(block.x, theta.reshape(c * k, columns)).reshape(c, k, block.rows)
        z *= host(block.t).T
        wrong = z <= 0
        self.sums += np.count_nonzero(wrong, axis=2) if block.weight is None else wrong @ block.weights()


class WrongRivals(Totals):
    """Criterion and count (2,) of the rivals that are not below the class of a row, which the target has the index of.

    Both are sums over the rivals of all rows: a row of K classes has K - 1 of them (S2, Kesler).
    """

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows."""
        return cls(np.zeros(2))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at the weights theta (K, 1 + D)."""
        block = block.heavy()
        if block.rows == 0:
            return
        own = host(block.t)[:, :1].astype(np.intp)
        z, weight = outputs(block.x, theta), block.weights()
        lead = np.take_along_axis(z, own, axis=1) - z
        wrong = lead <= 0
        np.put_along_axis(wrong, own, False, axis=1)
        self.sums += weight @ np.maximum(-lead, 0.0).sum(axis=1), weight @ wrong.sum(axis=1)


def _sum_of_rows(x: AnyArray, g: Array) -> Array:
    """Return sum g x over rows, g (n, K), the ones column first, (K, 1 + D)."""
    with np.errstate(over="ignore", invalid="ignore"):
        if is_device(x):
            xp = namespace(x)
            slopes = host(xp.matmul(to_device_of(x, g.T.copy()), xp.astype(x, xp.float64, copy=False)))
        else:
            slopes = np.asarray((x.T @ g).T)
    return np.column_stack([g.sum(axis=0), slopes])
