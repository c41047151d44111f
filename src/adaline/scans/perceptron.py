"""The sequential perceptron: a correction for each row on the wrong side (S0 section 5.6, S1, S2, S4).

    t = +-1;  where t (w.x) <= 0:  w += eta t x

The progressive loss is the perceptron criterion max(0, -t w.x); `mistakes` counts the corrections. From w = 0 and with
a constant rate the corrections are the same whatever the rate, and on separable rows there are at most R^2/M^2 of them.
With K targets, K perceptrons run side by side.

In C++: `native/rules.hpp` (`Rosenblatt`) is the step, `native/scans.hpp` and `native/quick.hpp` run it over rows.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from adaline.arrays import Array
from adaline.scans.base import Scan
from adaline.scans.tally import RowOutcome


class PerceptronRule(Scan):
    """Rosenblatt's rule for each of K targets +-1.

    Examples
    --------
    >>> from adaline.block import Shape
    >>> scan = PerceptronRule.start(Shape(2, 1))
    >>> for x, t in (([2.0, 1.0], 1.0), ([1.0, 3.0], -1.0)):
    ...     z = scan.learn(np.array(x), t)
    >>> scan.theta, int(scan.tally.mistakes)
    (array([[ 0.,  1., -2.]]), 2)
    """

    rule = "perceptron"
    corrects: ClassVar[bool] = True
    default_rate: ClassVar[float] = 1.0

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Correct the weights that put the row on the wrong side."""
        z = self.theta @ x
        wrong = t * z <= 0
        for k in np.flatnonzero(wrong):
            self.theta[k] += eta * t[k] * x
        count = int(wrong.sum())
        return RowOutcome(z, float(np.maximum(-t * z, 0.0).sum()), 0.0, count, count, float((t * z).min()))
