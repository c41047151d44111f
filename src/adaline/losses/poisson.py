"""The Poisson loss, for counts with mean exp(z): minus the log-likelihood, up to a constant (S3, link functions).

value = exp(z) - t z,   slope = exp(z) - t,   curvature = exp(z)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, namespace, weighted
from adaline.links import LINKS
from adaline.losses.base import TWOFOLD, Likelihood, Loss, refuse_targets
from adaline.losses.families import Tweedie
from adaline.losses.linked import Linked
from adaline.twofold import Twofold


@dataclass(frozen=True)
class Poisson(Loss):
    """value exp(z) - t z, slope exp(z) - t, curvature exp(z).

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Poisson
    >>> z, t = np.array([[0.0], [1.0]]), np.ones((2, 1))
    >>> Poisson().value(z, t).round(3).ravel().tolist()
    [1.0, 1.718]
    >>> Poisson().slope(z, t).round(3).ravel().tolist()
    [0.0, 1.718]
    """

    name: ClassVar[str] = "poisson"
    response: ClassVar[str] = "exp"
    kernel: ClassVar[str | None] = name
    concordance: ClassVar[float] = 1.0
    slope_rounding: ClassVar[float] = TWOFOLD

    @property
    def linked(self) -> Likelihood:
        """The poisson family with the log link."""
        return Linked(Tweedie(1), LINKS["log"])

    def without_offset(self, t: Array, offset: Array, weight: Array) -> tuple[Array, Array, float]:
        """Return the rows of exp(z + o) - t (z + o) = exp(o) (exp(z) - t exp(-o) z) - t o."""
        size = np.exp(offset)
        return t / size, weighted(weight, size[:, 0]), -float(weighted(weight, (t * offset)[:, 0]).sum())

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return exp(z) - t z."""
        return namespace(z).exp(z) - t * z

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return exp(z) - t."""
        return namespace(z).exp(z) - t

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return exp(z) - t."""
        return z.exp() - t

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return exp(z)."""
        return namespace(z).exp(z)

    def constant(self, mean: Array) -> Array:
        """Return the logarithm of the mean."""
        return np.asarray(np.log(np.maximum(mean, 1e-300)))

    def lowest(self, t: AnyArray) -> AnyArray:
        """Return the cost of z = ln t."""
        xp = namespace(t)
        return t - t * xp.log(xp.where(t > 0, t, 1.0 + 0.0 * t))

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse negative counts."""
        refuse_targets(t, t >= 0, "the Poisson loss takes counts, zero or more", first_row)
