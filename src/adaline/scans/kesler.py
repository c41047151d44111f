"""Kesler's construction: K weight vectors learned together by the perceptron rule (S2).

For a row of class i, each rival j in order is rechecked:

    where w_j.x >= w_i.x:   w_i += eta x,   w_j -= eta x

It converges where a solution exists: one with w_i.x > w_j.x for all rows and rivals. `mistakes` counts rows with a
correction, `updates` the corrections; the progressive loss is the sum of max(0, w_j.x - w_i.x) over the rivals, each as
it was rechecked.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from adaline.arrays import Array
from adaline.block import Shape
from adaline.scans.base import Scan, as_schedule, first_theta
from adaline.scans.schedules import Schedule
from adaline.scans.tally import RowOutcome


class KeslerRule(Scan):
    """The rule for `classes` classes; the one target is the number of the row's class.

    Examples
    --------
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

    @classmethod
    def start(
        cls,
        shape: Shape,
        *,
        classes: int = 2,
        rate: float | Schedule = 1.0,
        intercept: bool = True,
        init: Any = None,
        average: int | None = None,
        **config: Any,
    ) -> Self:
        """Return the scan before its first row."""
        return cls(first_theta(shape, init, classes), as_schedule(rate), intercept, average, **config)

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Recheck the rivals one after the other."""
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
