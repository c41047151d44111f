"""Softmax regression, online: one step along the gradient of each row's log likelihood (S2, S3).

    p_k = exp(w_k.x) / sum_j exp(w_j.x),   w_k += eta (t_k - p_k) x,   t_k = 1 for the row's class, else 0

The progressive loss is -log p of the row's class. A mistake is a row with an output as large as that of its class.

In C++: `native/rules.hpp` (`softmax`) is the step, `native/scans.hpp` runs it over rows.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from adaline.arrays import Array
from adaline.scans.base import Scan
from adaline.scans.tally import RowOutcome


class SoftmaxRule(Scan):
    """The rule for `classes` classes; the one target is the index of the row's class.

    Examples
    --------
    >>> from adaline.block import Shape
    >>> scan = SoftmaxRule.start(Shape(1, 1), classes=2, rate=1.0)
    >>> scan.learn(np.array([2.0]), 1)
    0.0
    >>> scan.theta
    array([[-0.5, -1. ],
           [ 0.5,  1. ]])
    """

    rule = "softmax"
    classes: ClassVar[bool] = True

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the textbook's step."""
        i, z = int(t[0]), self.theta @ x
        p = np.exp(z - z.max())
        e = -p / float(p.sum())
        e[i] += 1
        for k, w in enumerate(self.theta):
            w += eta * e[k] * x
        return softmax_outcome(z, i)


def softmax_outcome(z: Array, i: int) -> RowOutcome:
    """Return the outcome of a row of class i with outputs z (K,): its loss is -log p_i."""
    top = z.max()
    loss = float(np.log(np.exp(z - top).sum()) - (z[i] - top))
    margin = float(z[i] - np.delete(z, i).max(initial=-np.inf))
    return RowOutcome(z, loss, 0.0, int(margin <= 0), len(z), margin)
