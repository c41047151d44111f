"""The Gamma loss, for positive amounts with mean exp(z) and a spread in proportion to it (S3, link functions).

Minus the log-likelihood, up to the shape parameter and a constant:

value = z + t exp(-z),   slope = 1 - t exp(-z),   curvature = t exp(-z)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, namespace
from adaline.links import LINKS
from adaline.losses.base import TWOFOLD, Likelihood, Loss, refuse_targets
from adaline.losses.families import Tweedie
from adaline.losses.linked import Linked
from adaline.twofold import Twofold


@dataclass(frozen=True)
class Gamma(Loss):
    """value z + t exp(-z), slope 1 - t exp(-z), curvature t exp(-z).

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Gamma
    >>> z, t = np.array([[0.0], [1.0]]), np.ones((2, 1))
    >>> Gamma().value(z, t).round(3).ravel().tolist()
    [1.0, 1.368]
    >>> Gamma().slope(z, t).round(3).ravel().tolist()
    [0.0, 0.632]
    """

    name: ClassVar[str] = "gamma"
    response: ClassVar[str] = "exp"
    kernel: ClassVar[str | None] = name
    concordance: ClassVar[float] = 1.0
    slope_rounding: ClassVar[float] = TWOFOLD

    @property
    def linked(self) -> Likelihood:
        """The gamma family with the log link."""
        return Linked(Tweedie(2), LINKS["log"])

    def without_offset(self, t: Array, offset: Array, weight: Array) -> tuple[Array, Array, float]:
        """Return the rows of z + o + t exp(-z - o)."""
        return t * np.exp(-offset), weight, float(weight @ offset[:, 0])

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return z + t exp(-z)."""
        return z + t * namespace(z).exp(-z)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return 1 - t exp(-z)."""
        return 1.0 - t * namespace(z).exp(-z)

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return 1 - t exp(-z)."""
        return 1.0 - (-z).exp() * t

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return t exp(-z)."""
        return t * namespace(z).exp(-z)

    def constant(self, mean: Array) -> Array:
        """Return the logarithm of the mean."""
        return np.asarray(np.log(np.maximum(mean, 1e-300)))

    def lowest(self, t: AnyArray) -> AnyArray:
        """Return the cost of z = ln t."""
        return 1.0 + namespace(t).log(t)

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse amounts that are not positive."""
        refuse_targets(t, t > 0, "the Gamma loss takes amounts above zero", first_row)
