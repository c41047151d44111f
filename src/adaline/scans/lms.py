"""LMS and its variants: one step against the gradient of each row's squared error (S0 section 5.4).

    e(n) = t(n) - w.x(n),   before the step
    lms          w += eta e x                          the delta rule, Widrow and Hoff
    normalized   w += eta e x / (eps + x.x)            NLMS: 0 < eta < 2 whatever the units of the rows
    leaky        w  = (1 - eta leak) w + eta e x       the penalty leak/2 ||w||^2; the intercept does not leak
    sign-error   w += eta sign(e) x
    sign-data    w += eta e sign(x)
    sign-sign    w += eta sign(e) sign(x)

x includes the ones column where there is an intercept, in x.x too. The progressive loss of a row is e^2/2.

In C++: `native/rules.hpp` (`Lms`) is the step, `native/scans.hpp` and `native/quick.hpp` run it over rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from adaline.arrays import Array
from adaline.forms import FiniteNumber
from adaline.parameters import ZERO_OR_MORE, OneOf
from adaline.scans.base import Scan
from adaline.scans.schedules import Schedule
from adaline.scans.tally import RowOutcome

VARIANTS = ("lms", "normalized", "leaky", "sign-error", "sign-data", "sign-sign")


class LMSRule(Scan):
    """The rule `variant` for each of K targets; eps is that of "normalized", leak that of "leaky".

    Examples
    --------
    >>> from adaline.block import Shape
    >>> scan = LMSRule.start(Shape(1, 1), rate=0.5)
    >>> scan.learn(np.array([1.0]), 2.0)  # the output before the step
    0.0
    >>> scan.theta
    array([[1., 1.]])
    """

    explodes: ClassVar[bool] = True
    variant: str
    eps: FiniteNumber
    leak: FiniteNumber

    def __init__(
        self,
        theta: Array,
        schedule: Schedule,
        intercept: bool = True,
        variant: str = "lms",
        eps: float = 1e-6,
        leak: float = 0.0,
    ) -> None:
        OneOf(*VARIANTS).check("variant", variant)
        ZERO_OR_MORE.check("eps", eps)
        ZERO_OR_MORE.check("leak", leak)
        super().__init__(theta, schedule, intercept)
        self.variant, self.eps, self.leak = variant, eps, leak

    @property
    def rule(self) -> str:
        """The variant."""
        return self.variant.replace("-", "_")

    @property
    def settings(self) -> dict[str, Any]:
        """The intercept, the variant and its numbers."""
        return {**super().settings, "variant": self.variant, "eps": self.eps, "leak": self.leak}

    @property
    def parameters(self) -> tuple[float, ...]:
        """Eps and leak."""
        return self.eps, self.leak

    def step(self, x: Array, t: Array, eta: float, square: float) -> RowOutcome:
        """Take the textbook's step."""
        z = self.theta @ x
        e = t - z
        for k, w in enumerate(self.theta):
            match self.variant:
                case "lms":
                    w += eta * e[k] * x
                case "normalized":
                    length = self.eps + square
                    if length > 0:
                        w += eta * e[k] / length * x
                case "leaky":
                    w[1:] *= 1 - eta * self.leak
                    w += eta * e[k] * x
                case "sign-error":
                    w += eta * np.sign(e[k]) * x
                case "sign-data":
                    w += eta * e[k] * np.sign(x)
                case "sign-sign":
                    w += eta * np.sign(e[k]) * np.sign(x)
        return RowOutcome.of_squares(z, e, t * z, float((e * e).max()))
