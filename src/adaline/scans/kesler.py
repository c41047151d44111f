"""Kesler's construction: K weight vectors learned together by the perceptron rule (S2).

For a row of class i, each other class j in turn, with the weights of the moment:

    where w_j.x >= w_i.x:   w_i += eta x,   w_j -= eta x

It converges where a solution exists: one with w_i.x > w_j.x for all rows and j. `mistakes` counts rows with a
correction, `updates` the corrections; the progressive loss is the sum of max(0, w_j.x - w_i.x) over j, each before its
correction.

In C++: `native/rules.hpp` (`kesler`) is the step, `native/scans.hpp` runs it over rows.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from adaline.arrays import Array
from adaline.scans.base import Scan
from adaline.scans.tally import RowOutcome


class KeslerRule(Scan):
    """The rule for `classes` classes; the one target is the index of the row's class.

    Examples
    --------
    >>> from adaline.block import Shape
    >>> scan = KeslerRule.start(Shape(1, 1), classes=3)
    >>> scan.learn(np.array([2.0]), 1)
    0.0
    >>> scan.theta
    array([[-1., -2.],
           [ 1.,  2.],
           [ 0.,  0.]])
    """

    rule = "kesler"
    classes: ClassVar[bool] = True
    corrects: ClassVar[bool] = True
    default_rate: ClassVar[float] = 1.0

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the corrections for the other classes one after the other."""
        i, w = int(t[0]), self.theta
        z = w @ x
        loss, updates, margin = 0.0, 0, np.inf
        for j in range(len(w)):
            if j == i:
                continue
            lead = float(w[i] @ x - z[j])
            margin = min(margin, lead)
            if lead <= 0:
                loss -= lead
                updates += 1
                w[i] += eta * x
                w[j] -= eta * x
        return RowOutcome(z, loss, 0.0, int(updates > 0), updates, margin)
