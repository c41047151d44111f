"""Softmax regression, online: one step along the gradient of each row's log likelihood (S2, S3).

    p_k = exp(w_k.x) / sum_j exp(w_j.x),   w_k += eta (t_k - p_k) x,   t_k = 1 for the row's class, else 0

The progressive loss is -log p of the row's class. A mistake is a row on which no other class lies below its own.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from adaline.arrays import Array
from adaline.block import Shape
from adaline.scans.base import Scan, as_schedule, first_theta
from adaline.scans.schedules import Schedule
from adaline.scans.tally import RowOutcome


class SoftmaxRule(Scan):
    """The rule for `classes` classes; the one target is the number of the row's class.

    Examples
    --------
    >>> scan = SoftmaxRule.start(Shape(1, 1), classes=2, rate=1.0)
    >>> scan.learn(np.array([2.0]), 1)
    0.0
    >>> scan.theta
    array([[-0.5, -1. ],
           [ 0.5,  1. ]])
    """

    rule = "softmax"
    classes: ClassVar[bool] = True

    @classmethod
    def start(
        cls,
        shape: Shape,
        *,
        classes: int = 2,
        rate: float | Schedule = 0.01,
        intercept: bool = True,
        init: Any = None,
        average: int | None = None,
        **config: Any,
    ) -> Self:
        """Return the scan before its first row."""
        return cls(first_theta(shape, init, classes), as_schedule(rate), intercept, average, **config)

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the textbook's step."""
        i, z = int(t[0]), self.theta @ x
        top = z.max()
        shares = np.exp(z - top)
        total = float(shares.sum())
        e = -shares / total
        e[i] += 1
        for k, w in enumerate(self.theta):
            w += eta * e[k] * x
        margin = float(z[i] - np.delete(z, i).max(initial=-np.inf))
        return RowOutcome(z, float(np.log(total) - (z[i] - top)), 0.0, int(margin <= 0), len(z), margin)
