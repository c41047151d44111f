"""The loss of an ordered answer: minus the log-likelihood of a class that thresholds cut out of a line.

    P(y <= k) = g(threshold_k - z),   P(y = k) = g(a) - g(b),   a = threshold_k - z,   b = threshold_(k-1) - z
    value = -ln(g(a) - g(b)),   a = infinity for the last class, b = -infinity for the first

z = w'x, and t is the index of a row's class. The value is convex in z and the thresholds together where g is
log-concave: the logistic, normal and complementary log-log functions are. All terms are written without a difference
of nearly equal numbers, so that they keep their digits in both tails and for thresholds that nearly meet. With
m = 1 / (exp(a - b) - 1), which depends on the class alone:

    logit     value = ln(1 + exp(-a)) + ln(1 + exp(b)) - ln(1 - exp(b - a))
    probit    the derivatives by a and b are those of a truncated normal variable: density at its ends, and its mean
    cloglog   value = exp(b) - ln(1 - exp(-d)),   d = exp(a) - exp(b)

P. McCullagh, Regression models for ordinal data, J. R. Statist. Soc. B 42 (1980), 109-142.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, host
from adaline.links import LINKS, ShareLink
from adaline.losses.base import Loss, refuse_targets

NODES, SHARES = np.polynomial.legendre.leggauss(7)
# (a - b) (|a| + a - b) up to which the normal density is integrated; doubling it costs the quadrature digits
NARROW_INTERVAL = 0.25
FAR_TAIL = -8.0  # where the normal tail becomes a continued fraction; nearer to zero it takes more fractions
TAIL_FRACTIONS = 40  # fractions of it; doubling it takes twice as long, for digits that float64 does not hold
# exponents below which x / (exp(x) - 1) is differentiated by its series; larger, the series is too short
SMALL_EXPONENT = 0.1
SERIES = (-1 / 2, 1 / 6, 0.0, -1 / 180, 0.0, 1 / 5040, 0.0, -1 / 151200, 0.0, 1 / 4790016)
LARGEST_EXPONENT = 700.0  # exponents up to which exp does not overflow


class IntervalTerms(NamedTuple):
    """The value of -ln(g(a) - g(b)) and its derivatives, each (n,).

    `upper`, `lower` are those by a and b; `across` the mixed second one, zero or less; `at_upper` and `at_lower` those
    by a and by b of upper + lower, zero or more, which are zero at an end that is infinite. The second derivative by a
    is at_upper - across, that by b at_lower - across, and that by z their sum at_upper + at_lower.
    """

    value: Array
    upper: Array
    lower: Array
    at_upper: Array
    at_lower: Array
    across: Array


class CumulativeLink(ABC):
    """Intervals of a distribution function g; final classes are in CUMULATIVE_LINKS, by the name of g in LINKS."""

    name: ClassVar[str]
    concordance: ClassVar[float] = np.inf
    """As that of a loss, where thresholds stay: c with |d curvature / dz| <= c curvature."""

    @property
    def link(self) -> ShareLink:
        """The link whose mean is g, the distribution function."""
        found = LINKS[self.name]
        assert isinstance(found, ShareLink)
        return found

    @abstractmethod
    def terms(self, a: Array, b: Array, widths: Array, t: NDArray[np.intp]) -> IntervalTerms:
        """Return the terms of intervals from b to a, (n,); widths[t] = a - b > 0 without rounding."""


class LogitIntervals(CumulativeLink):
    """g(z) = 1 / (1 + exp(-z)): proportional odds."""

    name: ClassVar[str] = "logit"
    concordance: ClassVar[float] = 1.0

    def terms(self, a: Array, b: Array, widths: Array, t: NDArray[np.intp]) -> IntervalTerms:
        """Return the terms, in exp(-|a|) and exp(-|b|), which cannot overflow."""
        with np.errstate(over="ignore"):
            m = 1.0 / np.expm1(widths)
        small_a, small_b = np.exp(-np.abs(a)), np.exp(-np.abs(b))
        value = np.maximum(-a, 0.0) + np.log1p(small_a) + np.maximum(b, 0.0) + np.log1p(small_b)
        over_a, over_b = 1.0 / (1.0 + small_a), 1.0 / (1.0 + small_b)
        upper = -(np.where(a > 0, small_a, 1.0) * over_a + m[t])
        lower = np.where(b > 0, 1.0, small_b) * over_b + m[t]
        at_upper, at_lower = small_a * over_a * over_a, small_b * over_b * over_b
        return IntervalTerms(value - _log_less(widths)[t], upper, lower, at_upper, at_lower, (-m * (1.0 + m))[t])


class ProbitIntervals(CumulativeLink):
    """g is the distribution function of a standard normal variable."""

    name: ClassVar[str] = "probit"

    def terms(self, a: Array, b: Array, widths: Array, t: NDArray[np.intp]) -> IntervalTerms:
        """Return the terms; intervals above zero are turned about it, so that their ends are nearer on the upper side.

        With X normal between b and a, and its densities p_a, p_b there, the derivatives are -p_a and p_b, and those of
        their sum p_a (a - E X) and p_b (E X - b).
        """
        width, turned = widths[t], a + b > 0
        top, bottom = np.where(turned, -b, a), np.where(turned, -a, b)
        value, at_top, at_bottom, room_above, room_below = (np.empty_like(a) for _ in range(5))
        narrow = width * (np.abs(top) + width) <= NARROW_INTERVAL
        tail = ~narrow & (top <= 0)
        for kind, rows in ((_narrow, narrow), (_tail, tail), (_around_zero, ~(narrow | tail))):
            if rows.any():
                parts = kind(top[rows], bottom[rows], width[rows])
                for out, part in zip((value, at_top, at_bottom, room_above, room_below), parts, strict=True):
                    out[rows] = part
        p_a, p_b = np.where(turned, at_bottom, at_top), np.where(turned, at_top, at_bottom)
        above, under = np.where(turned, room_below, room_above), np.where(turned, room_above, room_below)
        with np.errstate(invalid="ignore"):
            at_upper = np.where(p_a > 0, p_a * np.maximum(above, 0.0), 0.0)
            at_lower = np.where(p_b > 0, p_b * np.maximum(under, 0.0), 0.0)
        return IntervalTerms(value, -p_a, p_b, at_upper, at_lower, -p_a * p_b)


class CloglogIntervals(CumulativeLink):
    """g(z) = 1 - exp(-exp(z)), of which the hazards are proportional."""

    name: ClassVar[str] = "cloglog"

    def terms(self, a: Array, b: Array, widths: Array, t: NDArray[np.intp]) -> IntervalTerms:
        """Return the terms, by q(d) = d / (exp(d) - 1) and its derivative, from -1/2 at zero to zero."""
        ends = np.isneginf(b)
        with np.errstate(over="ignore", invalid="ignore"):
            low, m = np.exp(b), (1.0 / np.expm1(widths))[t]
            d = np.exp(a) * -np.expm1(-widths)[t]
            log_d = a + _log_less(widths)[t]  # far down the line d underflows
            log_small = log_d + np.log(scipy.special.exprel(-np.minimum(d, SMALL_EXPONENT)))
            log_p = np.where(d < SMALL_EXPONENT, log_small, _log_less(d))
            q = np.where(d < LARGEST_EXPONENT, 1.0 / scipy.special.exprel(np.minimum(d, LARGEST_EXPONENT)), 0.0)
            slope = _ratio_slope(d)
            upper, lower = -(1.0 + m) * q, m * q + low
            at_upper = -(1.0 + m) * np.where(d < LARGEST_EXPONENT, slope * d, 0.0)
            at_lower = low * (1.0 + slope)
            across = -(1.0 + m) * (m * q - slope * low)
        lower, at_lower, across = (np.where(ends, 0.0, part) for part in (lower, at_lower, across))
        return IntervalTerms(low - log_p, upper, lower, at_upper, at_lower, across)


CumulativeLinkName = Literal["logit", "probit", "cloglog"]
CUMULATIVE_LINKS: dict[str, CumulativeLink] = {
    link.name: link for link in (LogitIntervals(), ProbitIntervals(), CloglogIntervals())
}


@dataclass(frozen=True)
class Ordinal(Loss):
    """The loss of z = w'x and class t for given thresholds (K - 1,), which ascend.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.losses.ordinal import CUMULATIVE_LINKS, Ordinal
    >>> loss = Ordinal(CUMULATIVE_LINKS["logit"], np.array([-1.0, 1.0]))
    >>> loss.value(np.zeros((3, 1)), np.array([[0.0], [1.0], [2.0]])).round(3).ravel().tolist()
    [1.313, 0.772, 1.313]
    """

    cumulative: CumulativeLink
    thresholds: Array

    name: ClassVar[str] = "ordinal"

    @property
    def concordance(self) -> float:  # type: ignore[override]
        """That of the link."""
        return self.cumulative.concordance

    def terms(self, z: Array, t: NDArray[np.intp]) -> IntervalTerms:
        """Return the terms of rows of output z (n,) and class t (n,), a whole number."""
        ends = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        return self.cumulative.terms(ends[t + 1] - z, ends[t] - z, np.diff(ends), t)

    def value(self, z: AnyArray, t: AnyArray) -> Array:
        """Return -ln P(y = t), (n, 1)."""
        return self._of(z, t).value[:, None]

    def slope(self, z: AnyArray, t: AnyArray) -> Array:
        """Return its derivative by z, (n, 1)."""
        found = self._of(z, t)
        return -(found.upper + found.lower)[:, None]

    def curvature(self, z: AnyArray, t: AnyArray) -> Array:
        """Return its second derivative by z, (n, 1)."""
        found = self._of(z, t)
        return (found.at_upper + found.at_lower)[:, None]

    def check(self, t: Array, first_row: int = 0) -> None:
        """Refuse targets that are no class indices."""
        good = (t >= 0) & (t <= len(self.thresholds)) & (t == np.floor(t))
        refuse_targets(t, good, "the ordinal loss takes class indices, 0, 1, ...", first_row)

    def log_probabilities(self, z: Array) -> Array:
        """Return ln P(y = k) of all classes for outputs z (n,), (n, K); minus infinity where thresholds meet."""
        classes = len(self.thresholds) + 1
        out = np.full((len(z), classes), -np.inf)
        ends = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        for k in np.flatnonzero(ends[1:] > ends[:-1]):
            out[:, k] = -self.terms(z, np.full(len(z), k)).value
        return out

    def _of(self, z: AnyArray, t: AnyArray) -> IntervalTerms:
        return self.terms(host(z)[:, 0], host(t)[:, 0].astype(np.intp))


@dataclass(frozen=True)
class OrdinalOutputs(Loss):
    """The same as a loss of K - 1 outputs, z_k = w'x - threshold_k: coupled, so that scores of rows are Z' slope.

    The slope of a row is zero but for the ends of its class, and its matrix of second derivatives is 2 x 2 there.
    """

    inner: Ordinal

    name: ClassVar[str] = "ordinal outputs"
    coupled: ClassVar[bool] = True

    def value(self, z: AnyArray, t: AnyArray) -> Array:
        """Return -ln P(y = t), (n, 1)."""
        return self._of(z, t)[0].value[:, None]

    def slope(self, z: AnyArray, t: AnyArray) -> Array:
        """Return its derivatives by the outputs, (n, K - 1)."""
        found, upper, lower = self._of(z, t)
        return np.asarray(-(upper * found.upper[:, None] + lower * found.lower[:, None]))

    def curvature(self, z: AnyArray, t: AnyArray) -> Array:
        """Return its second derivatives by each output, (n, K - 1)."""
        found, upper, lower = self._of(z, t)
        return np.asarray(
            upper * (found.at_upper - found.across)[:, None] + lower * (found.at_lower - found.across)[:, None]
        )

    def product(self, z: AnyArray, t: AnyArray, q: Any) -> Array:
        """Return its matrix of second derivatives times q, (n, K - 1)."""
        found, upper, lower = self._of(z, t)
        at_upper, at_lower = ((end * q).sum(axis=1) * found.across for end in (upper, lower))
        return np.asarray(self.curvature(z, t) * q + upper * at_lower[:, None] + lower * at_upper[:, None])

    def mean(self, z: AnyArray) -> Array:
        """Return the probabilities of the classes, (n, K)."""
        return np.asarray(np.exp(self.inner.log_probabilities(host(z)[:, 0] + self.inner.thresholds[0])))

    def _of(self, z: AnyArray, t: AnyArray) -> tuple[IntervalTerms, Array, Array]:
        """Return the terms of rows, and which output is the upper and the lower end of their class, (n, K - 1)."""
        own = host(t)[:, 0].astype(np.intp)
        places = np.arange(len(self.inner.thresholds))
        ends = ((own - below)[:, None] == places for below in (0, 1))
        upper, lower = (end.astype(np.float64) for end in ends)
        return self.inner.terms(host(z)[:, 0] + self.inner.thresholds[0], own), upper, lower


def _narrow(a: Array, b: Array, width: Array) -> tuple[Array, ...]:
    """Return value, densities at a and b, a - E X and E X - b of a normal X, by Gauss's rule over the interval."""
    down = 0.5 * width[:, None] * (1.0 - NODES)  # from a
    density = 0.5 * width[:, None] * SHARES * np.exp(down * (2 * a[:, None] - down) / 2)
    total = density.sum(axis=1)
    above, under = ((density * part).sum(axis=1) / total for part in (down, width[:, None] - down))
    value = a * a / 2 + 0.5 * np.log(2 * np.pi) - np.log(total)
    return value, 1.0 / total, np.exp(width * (a + b) / 2) / total, above, under


def _tail(a: Array, b: Array, width: Array) -> tuple[Array, ...]:
    """Return the same for a <= 0: by R(x) = g(x) / g'(x), whose derivative is 1 + x R(x), and E = g'(b) / g'(a)."""
    ends = np.isneginf(b)
    near, slope = _mills(a)
    beyond, beyond_slope = _mills(np.where(ends, FAR_TAIL, b))
    wide = np.where(ends, 0.0, width)
    fallen = np.where(ends, 0.0, np.exp(np.where(ends, 0.0, width * (a + b) / 2)))
    total = near - beyond * fallen
    above = (slope - fallen * (beyond_slope + wide * beyond)) / total
    under = (fallen * beyond_slope - slope + wide * near) / total
    value = a * a / 2 + 0.5 * np.log(2 * np.pi) - np.log(total)
    return value, 1.0 / total, fallen / total, above, under


def _around_zero(a: Array, b: Array, width: Array) -> tuple[Array, ...]:
    """Return the same for an interval about zero, which is not narrow."""
    outside = scipy.special.ndtr(-a) + scipy.special.ndtr(b)
    p_a, p_b = (np.exp(-x * x / 2) / np.sqrt(2 * np.pi) / (1.0 - outside) for x in (a, b))
    mean = p_b - p_a
    return -np.log1p(-outside), p_a, p_b, a - mean, mean - b


def _mills(x: Array) -> tuple[Array, Array]:
    """Return R(x) = g(x) / g'(x) of the normal distribution and its derivative 1 + x R(x), for x <= 0."""
    ratio = np.sqrt(np.pi / 2) * scipy.special.erfcx(-x / np.sqrt(2))
    slope = 1.0 + x * ratio
    far = x < FAR_TAIL
    if far.any():  # 1/R = y + 1/(y + 2/(y + 3/(y + ...))), y = -x
        y = -x[far]
        left = y
        for k in range(TAIL_FRACTIONS, 1, -1):
            left = y + k / left
        ratio[far] = 1.0 / (y + 1.0 / left)
        slope[far] = ratio[far] / left
    return ratio, slope


def _log_less(x: Array) -> Array:
    """Return ln(1 - exp(-x)), for x >= 0."""
    with np.errstate(divide="ignore"):
        return np.where(x < 0.7, np.log(-np.expm1(-np.minimum(x, 0.7))), np.log1p(-np.exp(-x)))


def _ratio_slope(d: Array) -> Array:
    """Return the derivative of d / (exp(d) - 1), for d >= 0."""
    small = d < SMALL_EXPONENT
    series = np.polynomial.polynomial.polyval(np.where(small, d, 0.0), SERIES)
    x = np.clip(d, SMALL_EXPONENT, LARGEST_EXPONENT)
    q = 1.0 / np.expm1(x)
    return np.where(small, series, np.where(d < LARGEST_EXPONENT, q * (1.0 - x * (1.0 + q)), 0.0))
