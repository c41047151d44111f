"""The logistic loss: minus the log-likelihood of a row of two classes, t = 0 or 1, or a fraction between (S0, 5.9; S2).

    p = 1 / (1 + exp(-z)),   value = -t ln p - (1 - t) ln(1 - p) = ln(1 + exp(z)) - t z
    slope = p - t,   curvature = p (1 - p)

It is computed in exp(-|z|), which cannot overflow and keeps the digits of small values where t is 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.activations import ACTIVATIONS
from adaline.arrays import AnyArray, Array, namespace
from adaline.links import LINKS
from adaline.losses.base import TWOFOLD, Likelihood, Loss, refuse_targets
from adaline.losses.families import Binomial
from adaline.losses.linked import Linked
from adaline.twofold import Twofold, exact


@dataclass(frozen=True)
class Logistic(Loss):
    """value ln(1 + exp(z)) - t z, slope p - t, curvature p (1 - p).

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Logistic
    >>> z, t = np.array([[-2.0], [0.0], [2.0]]), np.ones((3, 1))
    >>> Logistic().value(z, t).round(3).ravel().tolist()
    [2.127, 0.693, 0.127]
    >>> Logistic().slope(z, t).round(3).ravel().tolist()
    [-0.881, -0.5, -0.119]
    """

    name: ClassVar[str] = "logistic"
    response: ClassVar[str] = "logistic"
    kernel: ClassVar[str | None] = name
    steepest: ClassVar[float] = 0.25
    concordance: ClassVar[float] = 1.0
    of_classes: ClassVar[bool] = True
    slope_rounding: ClassVar[float] = TWOFOLD

    @property
    def linked(self) -> Likelihood:
        """The binomial family with the logit link."""
        return Linked(Binomial(), LINKS["logit"])

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return ln(1 + exp(z)) - t z."""
        xp = namespace(z)
        small = xp.log1p(xp.exp(-xp.abs(z)))
        return xp.where(z > 0, (1.0 - t) * z, -t * z) + small

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return p - t."""
        return self.mean(z) - t

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return (1 - t) p - t (1 - p)."""
        small = (-z).where(z.hi > 0, z).exp()
        one = 1.0 / (small + 1.0)
        rest = small * one
        p, other = one.where(z.hi > 0, rest), rest.where(z.hi > 0, one)
        return (1.0 - exact(t)) * p - other * t

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return p (1 - p)."""
        return ACTIVATIONS["logistic"].slope(z)

    def constant(self, mean: Array) -> Array:
        """Return the log odds of the mean."""
        inside = np.clip(mean, 1e-12, 1 - 1e-12)
        return np.asarray(np.log(inside / (1 - inside)))

    def lowest(self, t: AnyArray) -> AnyArray:
        """Return the cost of p = t, zero where t is 0 or 1."""
        return _entropy(t) + _entropy(1.0 - t)

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets outside 0 .. 1."""
        refuse_targets(t, (t >= 0) & (t <= 1), "the logistic loss takes 0, 1, or a share between", first_row)


def _entropy(t: AnyArray) -> Any:
    """Return -t ln t of shares, zero where t is zero."""
    xp = namespace(t)
    return -t * xp.log(xp.where(t > 0, t, 1.0 + 0.0 * t))
