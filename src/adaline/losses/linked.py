"""A family with a link: minus the log-likelihood of a row as a function of its output z, the mean of t being g^-1(z).

    value = cost(g^-1(z), t),   infinite where z gives no mean that the family can have

If the link is not canonical, the observed second derivative may be negative. Fisher scoring then uses the expected one
(`Scoring`), and starts from least squares on g of the targets (`Working`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, host, namespace, to_device_of
from adaline.errors import InvalidData, InvalidParameter
from adaline.links import Derivatives, Link, name_of
from adaline.losses.base import TWOFOLD, Likelihood, Loss, refuse_targets
from adaline.losses.families import Binomial, Family
from adaline.twofold import Twofold


@dataclass(frozen=True)
class Linked(Likelihood):
    """The loss of a family of distributions through a link.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.links import LINKS
    >>> from adaline.losses import Linked, Tweedie
    >>> counts = Linked(Tweedie(1), LINKS["identity"])
    >>> z, t = np.array([[1.0], [2.0]]), np.ones((2, 1))
    >>> counts.slope(z, t).ravel().tolist(), counts.convex
    ([0.0, 0.5], True)
    """

    family: Family
    link: Link
    response: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.family, Family) and isinstance(self.link, Link)):
            raise InvalidParameter(f"Linked takes a family and a link, got {self.family!r} and {self.link!r}")
        self.family.check_link(self.link)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the family."""
        return self.family.name

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether it is known to be convex."""
        return self.family.convex(self.link)

    @property
    def concordance(self) -> float:  # type: ignore[override]
        """See `Loss`."""
        return self.family.concordance(self.link)

    @property
    def slope_rounding(self) -> float:  # type: ignore[override]
        """That of double-double, but for links that have no such functions."""
        return TWOFOLD if self.link.twofold else Loss.slope_rounding

    @property
    def of_classes(self) -> bool:  # type: ignore[override]
        """Whether targets of 0 and 1 are two classes."""
        return isinstance(self.family, Binomial)

    def derivatives(self, z: AnyArray, t: AnyArray) -> Derivatives:
        """Return value, slope and curvature."""
        return self.family.cost(self.link, z, t)

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the cost, infinite outside the range of the means."""
        value = self.derivatives(z, t).value
        return namespace(z).where(self.family.inside(self.link, z), value, np.inf + 0.0 * value)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return its derivative."""
        return self.derivatives(z, t).slope

    def slope_twofold(self, z: Twofold, t: Array) -> Twofold:
        """Return the slope at z = hi + lo."""
        return self.family.slope_twofold(self.link, z, t) if self.link.twofold else super().slope_twofold(z, t)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return its observed second derivative."""
        return self.derivatives(z, t).bend

    def mean(self, z: AnyArray) -> AnyArray:
        """Return the mean of t, NaN where z gives none that the family can have."""
        (low, high), mean = self.family.range(self.link), self.link.mean(z)
        return namespace(z).where((z >= low) & (z <= high), mean, np.nan + 0.0 * mean)

    def constant(self, mean: Array) -> Array:
        """Return the output whose mean is that of the targets."""
        typical = self.family.typical(mean)
        if self.family.name == "gaussian" and not (typical > 0).all():
            raise InvalidData(
                f"the mean of the targets is {typical.min():g}, and link={name_of(self.link)!r} gives means above "
                "zero: use link='identity'"
            )
        return self.link.output(typical)

    def lowest(self, t: AnyArray) -> AnyArray:
        """Return the cost of a mean that is t itself."""
        return self.family.lowest(t)

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets that the family does not have."""
        good, what = self.family.good(t)
        refuse_targets(t, good, f"the {self.name} loss {what}", first_row)
        if isinstance(self.family, Binomial) and t.shape[1] > 2:
            raise InvalidData(f"the binomial loss {what}; y has {t.shape[1]} columns")

    def expected(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the expected curvature, (n, K)."""
        return self.family.expected(self.link, z, t)

    def deviance(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return twice the cost above the lowest, (n, K)."""
        return self.family.deviance(self.mean(z), t)

    def pearson(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return squared residuals over the variance, (n, K)."""
        return self.family.pearson(self.mean(z), t)

    def saturated(self, t: Array, weight: Array) -> Array:
        """Return weight x log density at mean = t, (n,), see `Family`."""
        return self.family.saturated(t, weight)

    def first(self, t: AnyArray, mean: Array) -> Any:
        """Return outputs to start from, (n, K), for targets of this mean."""
        return self.link.output(self.family.start(t, self.family.typical(mean)))


@dataclass(frozen=True)
class Scoring(Loss):
    """A likelihood whose curvature is the expected one: never negative, so that Newton's steps are Fisher's.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Gamma, Scoring
    >>> z, t = np.array([[1.0]]), np.array([[9.0]])
    >>> Gamma().curvature(z, t).round(2), Scoring(Gamma().linked).curvature(z, t)
    (array([[3.31]]), array([[1.]]))
    """

    loss: Likelihood
    name: ClassVar[str] = "scoring"
    convex: ClassVar[bool] = False

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the cost."""
        return self.loss.value(z, t)

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return its derivative."""
        return self.loss.slope(z, t)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the expected second derivative."""
        return self.loss.expected(z, t)


@dataclass(frozen=True)
class Working(Loss):
    """Least squares to the outputs that give the targets, weighted by their information: a start for scoring.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses import Poisson, Working
    >>> float(Working(Poisson().linked, (1.0,)).slope(np.array([[0.0]]), np.array([[1.0]]))[0, 0])
    0.0
    """

    loss: Likelihood
    typical: tuple[float, ...]
    name: ClassVar[str] = "working"

    def _asked(self, z: AnyArray, t: AnyArray) -> tuple[Any, Any]:
        own = host(t)
        first = self.loss.first(own, np.array(self.typical))
        return to_device_of(z, first), to_device_of(z, self.loss.expected(first, own))

    def value(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return information / 2 x (z - asked)^2."""
        first, information = self._asked(z, t)
        return 0.5 * information * (z - first) ** 2

    def slope(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return its derivative."""
        first, information = self._asked(z, t)
        return information * (z - first)

    def curvature(self, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the information."""
        return self._asked(z, t)[1]
