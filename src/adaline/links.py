"""Links: the functions g with g(mean of t) = z = w'x + w0, by which a family of distributions becomes a linear machine.

    log  ln m         logit  ln(m / (1 - m))      cloglog  ln(-ln(1 - m))      probit  Phi^-1(m)
    power  m^p:       identity p = 1,   sqrt p = 1/2,   inverse p = -1,   inverse_squared p = -2

A link gives powers and logarithms of the mean as functions of z, each with value, first and second derivative, in forms
whose tails neither overflow nor cancel. Arrays are (n, K) of any namespace of the array API.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy

from adaline.activations import ACTIVATIONS
from adaline.arrays import AnyArray, Array, host, is_device, namespace, to_device_of
from adaline.errors import InvalidParameter
from adaline.parameters import NONE, AnyOf, Instance, OneOf
from adaline.twofold import Twofold, exact

__all__ = ["LINKS", "Link", "Power"]

LARGEST_EXPONENT = 700.0  # exponents up to which exp does not overflow
# exp(z) below which differences of cloglog are computed by their series; doubling it leaves the series too short
SMALL_EXP = 0.05
NEAR, SERIES, FRACTION = 4.0, 80, 100  # up to where a series gives the normal distribution, and terms, in double-double
PEAK = (0.3989422804014327, -2.49232720227773e-17)  # 1 / sqrt(2 pi)
FAR_TAIL = 8.0  # distance from which the ratio of Mills is a continued fraction; nearer to zero it takes more terms


class Derivatives(NamedTuple):
    """A function of z, and its first and second derivative, arrays of one shape."""

    value: Any
    slope: Any
    bend: Any


class Further(NamedTuple):
    """The third and the fourth derivative of a function of z, arrays of one shape."""

    third: Any
    fourth: Any


@dataclass(frozen=True)
class Link(ABC):
    """Base of all links; LINKS has those with a name.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.links import LINKS
    >>> LINKS["log"].mean(np.array([[0.0]])), LINKS["sqrt"].output(np.array([9.0]))
    (array([[1.]]), array([3.]))
    """

    name: ClassVar[str]
    range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    """Borders of the outputs that have a mean."""
    twofold: ClassVar[bool] = False
    """Whether slopes are known in double-double, by the last three functions."""

    @abstractmethod
    def mean(self, z: AnyArray) -> AnyArray:
        """Return the mean of output z, NaN outside the range; at a border it is 0 or infinite."""

    @abstractmethod
    def output(self, mean: Array) -> Array:
        """Return the output z of a mean: the link function itself."""

    def power(self, z: AnyArray, a: float) -> Derivatives:
        """Return mean^a / a, the logarithm of the mean for a = 0, with derivatives by z."""
        raise NotImplementedError  # of links for means above zero

    def share(self, z: AnyArray) -> tuple[Derivatives, Derivatives]:
        """Return the logarithms of the mean and of one minus the mean, with derivatives by z."""
        raise NotImplementedError  # of links for means between 0 and 1

    def power_further(self, z: Array, a: float) -> Further:
        """Return the next derivatives of `power`."""
        raise NotImplementedError  # of links for means above zero

    def share_further(self, z: Array) -> tuple[Further, Further]:
        """Return the next derivatives of `share`."""
        raise NotImplementedError  # of links for means between 0 and 1

    def mean_twofold(self, z: Twofold) -> Twofold:
        """Return the mean, in double-double."""
        raise NotImplementedError  # of links that are `twofold`, for means above zero

    def power_slope(self, z: Twofold, a: float) -> Twofold:
        """Return the slope of `power`."""
        raise NotImplementedError

    def share_slopes(self, z: Twofold) -> tuple[Twofold, Twofold]:
        """Return the slopes of `share`."""
        raise NotImplementedError  # of links that are `twofold`, for means between 0 and 1


class Log(Link):
    """z = ln mean."""

    name = "log"
    twofold = True

    def mean(self, z: AnyArray) -> AnyArray:
        return namespace(z).exp(z)

    def output(self, mean: Array) -> Array:
        return np.asarray(np.log(np.maximum(mean, 1e-300)))

    def power(self, z: AnyArray, a: float) -> Derivatives:
        if a == 0:
            return Derivatives(z, z * 0.0 + 1.0, z * 0.0)
        powered = namespace(z).exp(a * z)
        return Derivatives(powered / a, powered, a * powered)

    def share(self, z: AnyArray) -> tuple[Derivatives, Derivatives]:
        xp = namespace(z)
        z = xp.where(z < 0, z, -1.0 + 0.0 * z)
        odds = 1.0 / xp.expm1(-xp.where(z < -LARGEST_EXPONENT, -LARGEST_EXPONENT + 0.0 * z, z))
        rest = xp.where(z < -1, xp.log1p(-xp.exp(z)), xp.log(-xp.expm1(z)))
        return self.power(z, 0.0), Derivatives(rest, -odds, -odds * (1.0 + odds))

    def power_further(self, z: Array, a: float) -> Further:
        if a == 0:
            return Further(np.zeros_like(z), np.zeros_like(z))
        powered = np.exp(a * z)
        return Further(a**2 * powered, a**3 * powered)

    def share_further(self, z: Array) -> tuple[Further, Further]:
        """With odds o = m / (1 - m), o' = o (1 + o)."""
        _, rest = self.share(z)
        odds, slope = -rest.slope, -rest.bend
        bend = slope * (1.0 + 2.0 * odds)
        return self.power_further(z, 0.0), Further(-bend, -bend * (1.0 + 2.0 * odds) - 2.0 * slope**2)

    def mean_twofold(self, z: Twofold) -> Twofold:
        return z.exp()

    def power_slope(self, z: Twofold, a: float) -> Twofold:
        return exact(1.0 + 0.0 * z.hi) if a == 0 else (z * a).exp()

    def share_slopes(self, z: Twofold) -> tuple[Twofold, Twofold]:
        return self.power_slope(z, 0.0), -1.0 / (-z).expm1()


@dataclass(frozen=True)
class Power(Link):
    """z = mean^exponent, for positive means; z is positive too.

    Parameters
    ----------
    exponent : any number but zero (for which take "log"); 1 is the identity, -1 the inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.links import Power
    >>> Power(2.0).mean(np.array([[9.0]]))
    array([[3.]])
    """

    exponent: float = 1.0
    name = "power"
    range = (0.0, np.inf)
    twofold = True

    def __post_init__(self) -> None:
        if not np.isfinite(self.exponent) or self.exponent == 0:
            raise InvalidParameter(f"the exponent of a power link is any number but zero, got {self.exponent!r}")

    def mean(self, z: AnyArray) -> AnyArray:
        if self.exponent == 1:
            return z
        mean = self._positive(z) ** (1.0 / self.exponent)
        mean = namespace(z).where(z < 0, np.nan + 0.0 * mean, mean)
        return namespace(z).where(z == 0, (0.0 if self.exponent > 0 else np.inf) + 0.0 * z, mean)

    def output(self, mean: Array) -> Array:
        return np.asarray(mean if self.exponent == 1 else np.maximum(mean, 1e-300) ** self.exponent)

    def power(self, z: AnyArray, a: float) -> Derivatives:
        q, z = 1.0 / self.exponent, self._positive(z)
        if a == 0:
            return Derivatives(q * namespace(z).log(z), q / z, -q / z**2)
        k = q * a
        return Derivatives(z**k / a, q * z ** (k - 1.0), q * (k - 1.0) * z ** (k - 2.0))

    def share(self, z: AnyArray) -> tuple[Derivatives, Derivatives]:
        xp = namespace(z)
        z = xp.where((z > 0) & (z < 1), z, 0.5 + 0.0 * z)
        m = self.power(z, 1.0)
        rest = 1.0 - m.value
        ratio = m.slope / rest
        return self.power(z, 0.0), Derivatives(xp.log1p(-m.value), -ratio, -m.bend / rest - ratio**2)

    def power_further(self, z: Array, a: float) -> Further:
        q, z = 1.0 / self.exponent, self._positive(z)
        if a == 0:
            return Further(2.0 * q / z**3, -6.0 * q / z**4)
        k = q * a
        third = q * (k - 1.0) * (k - 2.0) * z ** (k - 3.0)
        return Further(third, third * (k - 3.0) / z)

    def share_further(self, z: Array) -> tuple[Further, Further]:
        """With r = m' / (1 - m), r' = m'' / (1 - m) + r^2, and so on."""
        z = np.where((z > 0) & (z < 1), z, 0.5)
        m, more = self.power(z, 1.0), self.power_further(z, 1.0)
        left = 1.0 - m.value
        r, second, third, fourth = (one / left for one in (m.slope, m.bend, *more))
        slope = second + r**2
        bend = third + second * r + 2.0 * r * slope
        last = fourth + third * r + (third + second * r) * r + second * slope + 2.0 * (slope**2 + r * bend)
        return self.power_further(z, 0.0), Further(-bend, -last)

    def mean_twofold(self, z: Twofold) -> Twofold:
        return z if self.exponent == 1 else _powered(z, 1.0 / exact(np.array(self.exponent)))

    def power_slope(self, z: Twofold, a: float) -> Twofold:
        q = 1.0 / exact(np.array(self.exponent))
        return _powered(z, q * a - 1.0) * q

    def share_slopes(self, z: Twofold) -> tuple[Twofold, Twofold]:
        return self.power_slope(z, 0.0), -self.power_slope(z, 1.0) / (1.0 - self.mean_twofold(z))

    @staticmethod
    def _positive(z: AnyArray) -> Any:
        """Return z where it is positive, else 1: losses have some number where there is no mean."""
        return namespace(z).where(z > 0, z, 1.0 + 0.0 * z)


class ShareLink(Link):
    """A link for means between 0 and 1: the mean is a distribution function of z."""

    @abstractmethod
    def quantile(self, share: Array) -> Array:
        """Return z of a mean between 0 and 1."""

    def output(self, mean: Array) -> Array:
        return self.quantile(np.clip(mean, 1e-12, 1 - 1e-12))

    def density(self, z: AnyArray) -> Any:
        """Return the derivative of the mean by z."""
        log = self.share(z)[0]
        return namespace(z).exp(log.value) * log.slope

    def density_slope(self, z: AnyArray) -> Any:
        """Return the second derivative of the mean by z."""
        log = self.share(z)[0]
        return namespace(z).exp(log.value) * (log.slope**2 + log.bend)


class Logit(ShareLink):
    """z = ln(mean / (1 - mean))."""

    name = "logit"
    twofold = True

    def share_slopes(self, z: Twofold) -> tuple[Twofold, Twofold]:
        return 1.0 / (z.exp() + 1.0), -1.0 / ((-z).exp() + 1.0)

    def mean(self, z: AnyArray) -> AnyArray:
        return ACTIVATIONS["logistic"].value(z)

    def quantile(self, share: Array) -> Array:
        return np.asarray(scipy.special.logit(share))

    def share(self, z: AnyArray) -> tuple[Derivatives, Derivatives]:
        g, xp = ACTIVATIONS["logistic"], namespace(z)
        small, bend = xp.log1p(xp.exp(-xp.abs(z))), -g.slope(z)
        zero = 0.0 * z
        return (
            Derivatives(xp.where(z < 0, z, zero) - small, g.value(-z), bend),
            Derivatives(xp.where(z > 0, -z, zero) - small, -g.value(z), bend),
        )

    def share_further(self, z: Array) -> tuple[Further, Further]:
        """With v = m (1 - m): both have the second derivative -v, and v' = v (1 - 2 m)."""
        g = ACTIVATIONS["logistic"]
        v, away = g.slope(z), g.value(-z) - g.value(z)
        both = Further(-v * away, -v * (away**2 - 2.0 * v))
        return both, both


class Probit(ShareLink):
    """z with Phi(z) = mean, the normal distribution."""

    name = "probit"
    twofold = True

    def share_slopes(self, z: Twofold) -> tuple[Twofold, Twofold]:
        return _mills_twofold(z), -_mills_twofold(-z)

    def mean(self, z: AnyArray) -> AnyArray:
        return _on_host(scipy.special.ndtr, z)

    def quantile(self, share: Array) -> Array:
        return np.asarray(scipy.special.ndtri(share))

    def share(self, z: AnyArray) -> tuple[Derivatives, Derivatives]:
        value, slope, bend = (_on_host(f, -z) for f in (scipy.special.log_ndtr, _mills, _mills_slope))
        return (
            Derivatives(*(_on_host(f, z) for f in (scipy.special.log_ndtr, _mills, _mills_slope))),
            Derivatives(value, -slope, bend),
        )

    def share_further(self, z: Array) -> tuple[Further, Further]:
        """With r = phi / Phi: r' = -r (z + r), whose derivatives follow one from the other."""

        def further(z: Array) -> Further:
            r, slope = _mills(z), _mills_slope(z)
            at, along = -slope / r, 1.0 + slope
            bend = -slope * at - r * along
            return Further(bend, -bend * at - 2.0 * slope * along - r * bend)

        yes, no = further(z), further(-z)
        return yes, Further(-no.third, no.fourth)


class Cloglog(ShareLink):
    """z = ln(-ln(1 - mean)): the log of the hazard where whatever happens in time is only told to have happened."""

    name = "cloglog"
    twofold = True

    def share_slopes(self, z: Twofold) -> tuple[Twofold, Twofold]:
        u = z.exp()
        return u / u.expm1(), -u

    def mean(self, z: AnyArray) -> AnyArray:
        xp = namespace(z)
        return -xp.expm1(-xp.exp(self._bounded(z)))

    def quantile(self, share: Array) -> Array:
        return np.asarray(np.log(-np.log1p(-share)))

    def share(self, z: AnyArray) -> tuple[Derivatives, Derivatives]:
        """With u = exp(z): ln(1 - mean) = -u; (ln mean)' = r = u / (exp(u) - 1), (ln mean)'' = r (1 - u - r)."""
        xp = namespace(z)
        z = self._bounded(z)
        u = xp.exp(z)
        safe = xp.where(u < LARGEST_EXPONENT, u, LARGEST_EXPONENT + 0.0 * u)
        safe = xp.where(z < -LARGEST_EXPONENT, 1.0 + 0.0 * u, safe)
        r = xp.where(u < LARGEST_EXPONENT, safe / xp.expm1(safe), 0.0 * u)
        r = xp.where(z < -LARGEST_EXPONENT, 1.0 + 0.0 * u, r)
        series = -safe / 2 - safe**2 / 12 + safe**4 / 720 - safe**6 / 30240
        left = xp.where(u < SMALL_EXP, series, 1.0 - safe - r)
        large = xp.where(u > 1, safe, 1.0 + 0.0 * u)
        value = xp.where(u > 1, xp.log1p(-xp.exp(-large)), xp.where(z < -30, z, xp.log(-xp.expm1(-safe))))
        return Derivatives(value, r, xp.where(z < -LARGEST_EXPONENT, 0.0 * r, r * left)), Derivatives(-u, -u, -u)

    def share_further(self, z: Array) -> tuple[Further, Further]:
        """With u = exp(z), r = (ln m)' and r' = r (1 - u - r), whose derivatives follow one from the other."""
        (_, r, slope), (rest, _, _) = self.share(z)
        at, along = np.where(r > 0, slope / np.where(r > 0, r, 1.0), 0.0), rest - slope
        bend = slope * at + r * along
        fourth = bend * at + 2.0 * slope * along + r * (rest - bend)
        return Further(bend, fourth), Further(rest, rest)

    @staticmethod
    def _bounded(z: AnyArray) -> Any:
        """Return z, or the largest whose exp is a number."""
        return namespace(z).where(z < LARGEST_EXPONENT, z, LARGEST_EXPONENT + 0.0 * z)


LinkName = Literal["log", "logit", "probit", "cloglog", "identity", "sqrt", "inverse", "inverse_squared"]
LINKS: dict[str, Link] = {
    **{link.name: link for link in (Log(), Logit(), Probit(), Cloglog())},
    **{"identity": Power(1.0), "sqrt": Power(0.5), "inverse": Power(-1.0), "inverse_squared": Power(-2.0)},
}
LINK = AnyOf(NONE, OneOf(*LINKS), Instance(Link, "a Link such as links.Power(2.0)"))


def name_of(link: Link) -> str:
    """Return the name under which LINKS has a link, else how it is written."""
    return next((name for name, one in LINKS.items() if one == link), repr(link))


def _mills_twofold(z: Twofold) -> Twofold:
    """Return phi(z) / Phi(z) in double-double.

    Phi is 1/2 + phi (z + z^3 / 3 + z^5 / (3 5) + ...) near zero; beyond NEAR its tail is phi times a continued
    fraction.
    """
    a, near = (-z).where(z.hi < 0, z), np.abs(z.hi) <= NEAR
    phi, square = (z * z * -0.5).exp() * Twofold(*PEAK), (z * z).where(near, 0.0)
    most = float(np.max(square.hi, initial=0.0))
    terms = 8
    while terms < SERIES and math.exp(terms * math.log(max(most, 1e-300)) - _log_odd(terms)) > 2.0**-110:
        terms += 4
    series = exact(np.ones_like(z.hi))
    for k in range(terms, 0, -1):
        series = series * square / (2.0 * k + 1.0) + 1.0
    body = phi * series * a.where(near, 0.0)
    tail, left = 0.5 - body, exact(np.zeros_like(z.hi))
    if not near.all():
        far = a.where(~near, NEAR)
        for k in range(FRACTION, 0, -1):
            left = float(k) / (far + left)
        left = far + left  # phi / tail
        tail = tail.where(near, phi / left)
    small = (phi / tail).where(near, left)
    return small.where(z.hi < 0, phi / (1.0 - tail))


def _log_odd(k: int) -> float:
    """Return the logarithm of 1 x 3 x ... x (2 k + 1)."""
    return math.lgamma(2 * k + 2) - k * math.log(2.0) - math.lgamma(k + 1)


def _powered(z: Twofold, k: Twofold) -> Twofold:
    """Return z^k of positive outputs."""
    if k.lo == 0 and k.hi == 0:
        return exact(1.0 + 0.0 * z.hi)
    if k.lo == 0 and abs(k.hi) == 1:
        return z if k.hi == 1 else 1.0 / z
    return (z.log() * k).exp()


def _on_host(f: Any, z: AnyArray) -> Any:
    """Return f(z) of a SciPy function, in the namespace of z."""
    return to_device_of(z, f(host(z))) if is_device(z) else f(z)


def _mills(z: Array) -> Array:
    """Return phi(z) / Phi(z), the slope of ln Phi."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(2 / np.pi) / scipy.special.erfcx(-z / np.sqrt(2)))


def _mills_slope(z: Array) -> Array:
    """Return the derivative of phi / Phi: -m (z + m), m + z by a continued fraction where it would cancel."""
    m, y = _mills(z), np.maximum(-z, FAR_TAIL)
    rest = np.zeros_like(y)
    for k in range(60, 0, -1):
        rest = k / (y + rest)
    return np.asarray(-m * np.where(z < -FAR_TAIL, rest, z + m))
