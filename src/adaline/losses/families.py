"""Families of distributions: the variance of t, and the cost of a row, as functions of the mean m.

    Tweedie(p)  variance m^p:     gaussian 0,  poisson 1,  gamma 2,  inverse gaussian 3
                cost m^(2-p) / (2-p) - t m^(1-p) / (1-p), a logarithm where the exponent is zero
    NegativeBinomial(shape)       variance m + m^2 / shape,   cost (t + shape) ln(1 + m / shape) - t ln m
    Binomial                      variance m (1 - m),   cost -successes ln m - failures ln(1 - m)

The cost is minus the log-likelihood for a dispersion of 1, up to what does not depend on m; the variance of t is the
dispersion times that of the family. A family and a link (`adaline.links`) are a loss: `Linked`.

P. McCullagh, J. A. Nelder, Generalized Linear Models (1989).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from adaline.arrays import AnyArray, Array, namespace, weighted
from adaline.errors import InvalidParameter
from adaline.links import LINKS, Derivatives, Link, Log, Power, name_of
from adaline.losses.wright import log_wright
from adaline.twofold import Twofold, exact

OF_POWERS: dict[float, str] = {0: "gaussian", 1: "poisson", 2: "gamma", 3: "inverse_gaussian"}
LARGE_SHAPE = 16.0  # shape from which Gamma and psi are series of 1 / (c x^a), pairs (a, c); half of it loses digits
GAMMA = ((1, 12.0), (3, -360.0), (5, 1260.0), (7, -1680.0), (9, 1188.0), (11, -360360 / 691))
PSI = ((2, -12.0), (4, 120.0), (6, -252.0), (8, 240.0), (10, -132.0), (12, 32760 / 691))  # after ln x - 1 / (2 x)
PSI_SLOPE = tuple((a + 1, -c / a) for a, c in PSI)
POSITIVE_LINKS = ("log", "identity", "sqrt", "inverse", "inverse_squared")


@dataclass(frozen=True)
class Family(ABC):
    """Base of all families; FAMILIES has them by name.

    Examples
    --------
    >>> from adaline.losses import FAMILIES
    >>> FAMILIES["gamma"].variance(3.0), FAMILIES["gamma"].default_link.name
    (9.0, 'log')
    """

    name: ClassVar[str]
    scaled: ClassVar[bool] = False
    """Whether the dispersion is unknown and estimated."""
    links: ClassVar[tuple[str, ...]] = POSITIVE_LINKS
    parameter: ClassVar[str] = ""
    """The name of a parameter that a fit estimates where it is "auto"."""
    kernels: ClassVar[dict[str, str]] = {}
    """Names of the cost in the native kernels, by the name of the link; they take the parameter of the family."""

    @property
    @abstractmethod
    def default_link(self) -> Link:
        """The link by default."""

    @abstractmethod
    def cost(self, link: Link, z: AnyArray, t: AnyArray) -> Derivatives:
        """Return the cost of output z, (n, K), with its derivatives by z."""

    @abstractmethod
    def slope_twofold(self, link: Link, z: Twofold, t: Array) -> Twofold:
        """Return the slope of the cost in double-double, (n, K), of a link that is `twofold`."""

    @abstractmethod
    def expected(self, link: Link, z: AnyArray, t: AnyArray) -> AnyArray:
        """Return the expected second derivative of the cost, (n, K): Fisher's information of a row."""

    @abstractmethod
    def variance(self, mean: AnyArray) -> AnyArray:
        """Return the variance of t for a dispersion of 1."""

    @abstractmethod
    def deviance(self, mean: AnyArray, t: AnyArray) -> AnyArray:
        """Return twice the cost above that of mean = t, (n, K)."""

    @abstractmethod
    def lowest(self, t: AnyArray) -> AnyArray:
        """Return the cost of mean = t, (n, K)."""

    @abstractmethod
    def saturated(self, t: Array, weight: Array) -> Array:
        """Return weight x log density of each row at mean = t, (n,); where scaled, what `log_likelihood` needs of t."""

    def log_likelihood(self, deviance: float, saturated: float, weight: float) -> float:
        """Return the log-likelihood from the sums over rows; where scaled at the dispersion deviance / weight."""
        return saturated - deviance / 2

    def good(self, t: Array) -> tuple[Any, str]:
        """Return which targets are possible, (n, K), and a description of the possible ones."""
        return t >= 0, "takes counts, zero or more"

    def observed(self, t: Array) -> AnyArray:
        """Return which rows of targets say something, (n,): all but those of no trials."""
        return np.ones(len(t), dtype=bool)

    def range(self, link: Link) -> tuple[float, float]:
        """Return the borders of the outputs whose mean the family can have."""
        return link.range

    def inside(self, link: Link, z: AnyArray) -> Any:
        """Return where z gives a mean that the family can have."""
        low, high = self.range(link)
        return (z > low) & (z < high)

    def typical(self, mean: Array) -> Array:
        """Return the mean that targets of this mean (T,) have as a whole, (K,)."""
        return mean

    def start(self, t: AnyArray, typical: Any) -> Any:
        """Return means to start from, (n, K), inside their range: between the targets and a typical mean (K,)."""
        return 0.5 * (t + typical)

    def pearson(self, mean: AnyArray, t: AnyArray) -> AnyArray:
        """Return the squared residuals over the variance, (n, K)."""
        return (t - mean) ** 2 / self.variance(mean)

    def canonical(self, link: Link) -> bool:
        """Whether observed and expected curvature are the same."""
        return False

    def convex(self, link: Link) -> bool:
        """Whether the cost is known to be convex in z."""
        return isinstance(link, Log)

    def concordance(self, link: Link) -> float:
        """Return `Loss.concordance`."""
        return 1.0 if isinstance(link, Log) else np.inf

    def check_link(self, link: Link) -> None:
        """Refuse a link that does not map the means of the family."""
        own = name_of(link)
        if own not in self.links and not (isinstance(link, Power) and self.links is POSITIVE_LINKS):
            power = " or links.Power(...)" if self.links is POSITIVE_LINKS else ""
            raise InvalidParameter(f"link={own!r} is not for {self.name}: use {', '.join(self.links)}{power}")


@dataclass(frozen=True)
class Tweedie(Family):
    """Variance mean^power: amounts that are zero with a chance of their own for powers between 1 and 2.

    Parameters
    ----------
    power : 0 (gaussian), 1 (poisson), 2 (gamma), 3 (inverse gaussian), any number of 1 or more, or 0; "auto": a fit
        finds the most likely one between 1 and 2.

    Examples
    --------
    >>> from adaline.losses import Tweedie
    >>> Tweedie(power=1.5).variance(4.0)
    8.0
    """

    power: Any = 1.5
    parameter: ClassVar[str] = "power"

    def __post_init__(self) -> None:
        number = isinstance(self.power, int | float | np.number) and not isinstance(self.power, bool)
        if self.power != "auto" and not (number and (1 <= self.power < np.inf or self.power == 0)):
            raise InvalidParameter(f"power must be a number of 1 or more, 0 or 'auto', got {self.power!r}")

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name under which FAMILIES has it."""
        return OF_POWERS.get(self.power, "tweedie")

    @property
    def scaled(self) -> bool:  # type: ignore[override]
        """Whether the dispersion is unknown: for all but counts."""
        return bool(self.power != 1)

    @property
    def default_link(self) -> Link:
        """Identity for gaussian, inverse_squared for inverse gaussian, else log."""
        return LINKS[{"gaussian": "identity", "inverse_gaussian": "inverse_squared"}.get(self.name, "log")]

    def cost(self, link: Link, z: AnyArray, t: AnyArray) -> Derivatives:
        if self.power == 0:
            m = link.power(z, 1.0)
            off = (z if link == Power(1.0) else m.value) - t
            return Derivatives(0.5 * off**2, off * m.slope, m.slope**2 + off * m.bend)
        first, second = (link.power(z, k - self.power) for k in (2.0, 1.0))
        return Derivatives(*(a - weighted(t, b) for a, b in zip(first, second, strict=True)))

    def slope_twofold(self, link: Link, z: Twofold, t: Array) -> Twofold:
        if self.power == 0:
            return (link.mean_twofold(z) - t) * link.power_slope(z, 1.0)
        return link.power_slope(z, 2.0 - self.power) - link.power_slope(z, 1.0 - self.power) * t

    def expected(self, link: Link, z: AnyArray, t: AnyArray) -> AnyArray:
        return link.power(z, 1.0 - self.power / 2).slope ** 2

    def variance(self, mean: AnyArray) -> AnyArray:
        return mean**self.power

    def pearson(self, mean: AnyArray, t: AnyArray) -> AnyArray:
        return ((t - mean) / mean ** (self.power / 2)) ** 2  # squares of large amounts overflow

    def deviance(self, mean: AnyArray, t: AnyArray) -> AnyArray:
        p = self.power
        if p == 0:
            return (t - mean) ** 2
        if p == 1:
            xp = namespace(t)
            some = t > 0
            off = xp.where(some, t - mean, 0.0 * t) / mean
            return 2 * (xp.where(some, t * xp.log1p(off), 0.0 * t) - (t - mean))
        if p == 2:
            off = (t - mean) / mean  # of exact fits its logarithm has no rounding of t / mean
            return 2 * (off - namespace(t).log1p(off))
        if p == 3:
            return (t - mean) ** 2 / (t * mean**2)
        log = np.log(t / mean)  # t (t^a - m^a) / a - (t^b - m^b) / b with a = 1 - p, b = 2 - p, which may be near zero
        first, second = (mean**a * np.expm1(a * log) / a for a in (1 - p, 2 - p))
        return 2 * (weighted(t, first) - second)

    def lowest(self, t: Array) -> Array:
        p = self.power
        if p == 0:
            return np.zeros_like(t)
        if p == 1:
            return np.asarray(t - scipy.special.xlogy(t, t))
        return np.asarray(1.0 + np.log(t) if p == 2 else t ** (2 - p) / ((2 - p) * (p - 1)))

    def saturated(self, t: Array, weight: Array) -> Array:
        if self.power == 1:
            return np.asarray(weight * (scipy.special.xlogy(t, t) - t - scipy.special.gammaln(t + 1)).sum(axis=1))
        if self.power in (2, 3):
            return np.asarray(weight * np.log(t).sum(axis=1))
        return np.zeros(len(t))

    @property
    def compound(self) -> bool:
        """Whether t is a poisson sum of gamma amounts, whose density is the series of `log_density`."""
        return bool(self.power != "auto" and 1 < self.power < 2)

    def log_density(self, t: Array, dispersion: Array) -> Array:
        """Return the log density (n,) of amounts at mean = t, for dispersions (n,); NaN of powers that have none.

        Gaussian, gamma and inverse gaussian: A(phi) - p/2 ln t, A of `_log_factor`. For a power between 1 and 2, of
        t > 0, it is ln(W / t) - t^(2-p) / ((p - 1) (2 - p) phi), W the series of `log_wright`: of so many gamma
        amounts; zero has the mean zero for certain. P. K. Dunn, G. K. Smyth, Statistics and Computing 15 (2005),
        267-280.
        """
        p, some = self.power, t > 0
        if not self.compound:
            return np.asarray(_log_factor(self.power, dispersion) - (0.5 * p * np.log(t) if p else 0.0))
        amount, a = np.where(some, t, 1.0), (2 - p) / (p - 1)
        log_x = a * np.log(amount / (p - 1)) - (1 + a) * np.log(dispersion) - np.log(2 - p)
        whole = log_wright(a, log_x) - np.log(amount) - amount ** (2 - p) / ((p - 1) * (2 - p) * dispersion)
        return np.where(some, whole, 0.0)

    def log_likelihood(self, deviance: float, saturated: float, weight: float) -> float:
        """Of gamma, gaussian and inverse gaussian as R has it; NaN of others, see `compound`."""
        if self.power == 1:
            return saturated - deviance / 2
        return float(weight * _log_factor(self.power, deviance / weight) - 0.5 * self.power * saturated - 0.5 * weight)

    def good(self, t: Array) -> tuple[Any, str]:
        if self.power == 0:
            return np.isfinite(t), "takes numbers"
        if self.power == 1:
            return super().good(t)
        return (t >= 0, "takes amounts, zero or more") if self.power < 2 else (t > 0, "takes amounts above zero")

    def range(self, link: Link) -> tuple[float, float]:
        return (-np.inf, np.inf) if self.power == 0 and link == Power(1.0) else link.range

    def canonical(self, link: Link) -> bool:
        return link == (Log() if self.power == 1 else Power(1.0 - self.power))

    def convex(self, link: Link) -> bool:
        """Whether both terms are, for t of zero or more."""
        p = self.power
        if isinstance(link, Log):
            return bool(1 <= p <= 2)
        if not isinstance(link, Power):
            return False
        q = 1 / link.exponent
        if p == 0:
            return q == 1
        return bool(q * (q * (2 - p) - 1) >= 0 >= q * (q * (1 - p) - 1))

    def concordance(self, link: Link) -> float:
        if isinstance(link, Log) and self.convex(link):
            return float(max(2 - self.power, self.power - 1))
        return np.inf


@dataclass(frozen=True)
class NegativeBinomial(Family):
    """Counts with variance mean + mean^2 / shape: poisson counts whose rates vary like a gamma of this shape.

    Parameters
    ----------
    shape : positive number, theta of R's glm.nb, 1 / alpha of statsmodels; "auto": a fit finds the most likely one.

    Examples
    --------
    >>> from adaline.losses import NegativeBinomial
    >>> NegativeBinomial(shape=2.0).variance(4.0)
    12.0
    """

    shape: Any = "auto"
    name: ClassVar[str] = "negative_binomial"
    parameter: ClassVar[str] = "shape"
    kernels: ClassVar[dict[str, str]] = {"log": "negative_binomial"}

    def __post_init__(self) -> None:
        number = isinstance(self.shape, int | float | np.number) and not isinstance(self.shape, bool)
        if self.shape != "auto" and not (number and 0 < self.shape < np.inf):
            raise InvalidParameter(f"shape must be a positive number or 'auto', got {self.shape!r}")

    @property
    def default_link(self) -> Link:
        """The log, by custom."""
        return Log()

    def cost(self, link: Link, z: AnyArray, t: AnyArray) -> Derivatives:
        """With L = ln m and s = m / (m + shape): slope L' ((t + shape) s - t), since s' = s (1 - s) L'.

        (s L')' is s (L'' + (1 - s) L'^2), or m'' / (m + shape) - (s L')^2, which does not cancel where s is small.
        """
        (m, _, m_bend), (log, slope, bend), n = link.power(z, 1.0), link.power(z, 0.0), t + self.shape
        s, rest = 1.0 / (1.0 + self.shape / m), 1.0 / (1.0 + m / self.shape)
        small, large = m_bend / (m + self.shape) - (s * slope) ** 2, s * (bend + rest * slope**2)
        return Derivatives(
            n * namespace(z).log1p(m / self.shape) - t * log,
            slope * (n * s - t),
            n * namespace(z).where(m < self.shape, small, large) - t * bend,
        )

    def slope_twofold(self, link: Link, z: Twofold, t: Array) -> Twofold:
        m, k = link.mean_twofold(z), float(self.shape)
        s, rest = 1.0 / (1.0 + k / m), 1.0 / (1.0 + m / k)
        return link.power_slope(z, 0.0) * (s * k - rest * t)

    def expected(self, link: Link, z: AnyArray, t: AnyArray) -> AnyArray:
        return link.power(z, 0.5).slope ** 2 / (1.0 + link.power(z, 1.0).value / self.shape)

    def variance(self, mean: AnyArray) -> AnyArray:
        return mean + mean**2 / self.shape

    def deviance(self, mean: AnyArray, t: AnyArray) -> AnyArray:
        """With d = t - m: t ln(1 + shape d / (m (t + shape))) - shape ln(1 + d / (m + shape)), twice."""
        k, d = self.shape, t - mean
        more = k / (t + k) * d / mean  # may be -1 where t is next to nothing
        log = np.where(
            more < -0.5, scipy.special.xlogy(t, t / mean * ((mean + k) / (t + k))), scipy.special.xlog1py(t, more)
        )
        return 2 * (log - k * np.log1p(d / (mean + k)))

    def lowest(self, t: AnyArray) -> AnyArray:
        xp = namespace(t)
        return (t + self.shape) * xp.log1p(t / self.shape) - t * xp.log(xp.where(t > 0, t, 1.0 + 0.0 * t))

    def saturated(self, t: Array, weight: Array) -> Array:
        """That of a Poisson family plus a term of the shape; of a large one by Stirling's series, without k ln k."""
        k = self.shape
        if k < LARGE_SHAPE:
            more = scipy.special.gammaln(t + k) - scipy.special.gammaln(k) + k * np.log(k) - (t + k) * np.log(t + k) + t
        else:
            more = _stirling(t + k) - _stirling(k) - 0.5 * np.log1p(t / k)
        return np.asarray(weight * (more + scipy.special.xlogy(t, t) - t - scipy.special.gammaln(t + 1)).sum(axis=1))

    def shape_score(self, mean: Array, t: Array) -> tuple[Array, Array]:
        """Return the first and second derivative of the log-likelihood by the shape k, (n, K).

        psi(t + k) - psi(k) - ln(1 + m / k) - u, u = (t - m) / (m + k), and its derivative; for a large shape by the
        series of psi, whose first terms cancel: ln(1 + u) - u, and u^2 / (t + k), are what they leave.
        """
        k, u = self.shape, (t - mean) / (mean + self.shape)
        n = t + k
        if k < LARGE_SHAPE:
            psi = _of_counts(lambda t: scipy.special.digamma(t + k) - scipy.special.digamma(k), t)
            slope = _of_counts(lambda t: scipy.special.polygamma(1, t + k) - scipy.special.polygamma(1, k), t)
            return psi - np.log1p(mean / k) - u, slope + mean / (k * (mean + k)) + u / (mean + k)
        first = _log1p_less(u) + t / (2 * k * n) + _series(n, PSI) - _series(k, PSI)
        return first, u**2 / n - t * (k + n) / (2 * k**2 * n**2) + _series(n, PSI_SLOPE) - _series(k, PSI_SLOPE)


@dataclass(frozen=True)
class Binomial(Family):
    """Successes and failures, two columns of t, or their share, one column, whose weight is the number of trials.

    Examples
    --------
    >>> from adaline.losses import Binomial
    >>> Binomial().variance(0.5), Binomial().links
    (0.25, ('logit', 'probit', 'cloglog', 'log', 'identity'))
    """

    name: ClassVar[str] = "binomial"
    links: ClassVar[tuple[str, ...]] = ("logit", "probit", "cloglog", "log", "identity")

    @property
    def default_link(self) -> Link:
        """The logit."""
        return LINKS["logit"]

    def cost(self, link: Link, z: AnyArray, t: AnyArray) -> Derivatives:
        yes, no = counts(z, t)
        return Derivatives(*(-weighted(yes, a) - weighted(no, b) for a, b in zip(*link.share(z), strict=True)))

    def slope_twofold(self, link: Link, z: Twofold, t: Array) -> Twofold:
        yes, no = (exact(t), 1.0 - exact(t)) if t.shape[1] == z.hi.shape[1] else (exact(t[:, :1]), exact(t[:, 1:]))
        one, other = link.share_slopes(z)
        return -(one * yes) - other * no

    def expected(self, link: Link, z: AnyArray, t: AnyArray) -> AnyArray:
        yes, no = counts(z, t)
        one, other = link.share(z)
        return -(yes + no) * one.slope * other.slope

    def variance(self, mean: AnyArray) -> AnyArray:
        return mean * (1.0 - mean)

    def deviance(self, mean: AnyArray, t: AnyArray) -> AnyArray:
        yes, no = counts(mean, t)
        n = yes + no
        with np.errstate(divide="ignore", invalid="ignore"):
            each = (scipy.special.xlogy(k, k / (n * m)) for k, m in ((yes, mean), (no, 1.0 - mean)))
            return 2 * sum(np.where(k > 0, one, 0.0) for one, k in zip(each, (yes, no), strict=True))

    def pearson(self, mean: AnyArray, t: AnyArray) -> AnyArray:
        yes, no = counts(mean, t)
        n = yes + no
        return np.where(n > 0, (yes - n * mean) ** 2 / (np.where(n > 0, n, 1.0) * self.variance(mean)), 0.0)

    def lowest(self, t: Array) -> Array:
        yes, no = (t[:, :1], t[:, 1:]) if t.shape[1] == 2 else (t, 1.0 - t)
        n = yes + no
        return np.asarray(scipy.special.xlogy(n, n) - scipy.special.xlogy(yes, yes) - scipy.special.xlogy(no, no))

    def saturated(self, t: Array, weight: Array) -> Array:
        if t.shape[1] == 2:
            yes, no, times = t[:, 0], t[:, 1], weight
        else:  # the weight is the number of trials
            yes, no, times = weight * t[:, 0], weight * (1.0 - t[:, 0]), np.ones(len(t))
        ways = scipy.special.gammaln(yes + no + 1) - scipy.special.gammaln(yes + 1) - scipy.special.gammaln(no + 1)
        return np.asarray(times * (ways - self.lowest(np.column_stack([yes, no]))[:, 0]))

    def good(self, t: Array) -> tuple[Any, str]:
        if t.shape[1] == 2:
            return t >= 0, "takes numbers of successes and of failures, zero or more, or one column of shares"
        return (t >= 0) & (t <= 1), "takes shares from 0 to 1, or two columns: successes, failures"

    def observed(self, t: Array) -> AnyArray:
        return t.sum(axis=1) > 0 if t.shape[1] == 2 else super().observed(t)

    def range(self, link: Link) -> tuple[float, float]:
        if isinstance(link, Log):
            return -np.inf, 0.0
        return (0.0, 1.0) if isinstance(link, Power) else link.range

    def typical(self, mean: Array) -> Array:
        return mean[:1] / mean.sum() if len(mean) == 2 else mean

    def start(self, t: AnyArray, typical: Any) -> Any:
        yes, no = (t[:, :1], t[:, 1:]) if t.shape[1] == 2 else (t, 1.0 - t)
        return (yes + 0.5) / (yes + no + 1.0)

    def canonical(self, link: Link) -> bool:
        return name_of(link) == "logit"

    def convex(self, link: Link) -> bool:
        """Yes: the logarithms of the mean and of one minus it are concave for all its links."""
        return True

    def concordance(self, link: Link) -> float:
        return 1.0 if name_of(link) == "logit" else np.inf


FAMILIES: dict[str, Family] = {
    **{family.name: family for family in (Tweedie(0), Tweedie(1), Tweedie(2), Tweedie(3), Tweedie(1.5))},
    **{family.name: family for family in (NegativeBinomial(), Binomial())},
}


def counts(z: AnyArray, t: AnyArray) -> tuple[Any, Any]:
    """Return successes and failures, shaped like z (n, K), of shares (n, K) or of counts (n, 2)."""
    return (t, 1.0 - t) if t.shape[1] == z.shape[1] else (t[:, :1], t[:, 1:])


def _log_factor(power: float, dispersion: Any) -> Any:
    """Return A(phi) of a log density A(phi) - power/2 ln t at mean = t; NaN of powers that have none.

    It is -ln(2 pi phi) / 2, and of gamma amounts k ln k - k - ln Gamma(k), k = 1 / phi.
    """
    phi = np.where(dispersion > 0, dispersion, np.nan)
    if power == 2:
        k, large = 1 / phi, np.maximum(1 / phi, LARGE_SHAPE)
        series = 0.5 * np.log(large / (2 * np.pi)) - _stirling(large)
        return np.where(k > LARGE_SHAPE, series, k * np.log(k) - k - scipy.special.gammaln(k))
    return -0.5 * np.log(2 * np.pi * phi) if power in (0, 3) else np.nan * phi


def _of_counts(f: Callable[[Array], Array], t: Array) -> Array:
    """Return f at each t; where these are small whole numbers, f is computed once for each of them."""
    most = t.max(initial=0.0)
    if not (t.min(initial=0.0) >= 0 and most < t.size):
        return f(t)
    counts = t.astype(np.intp)
    return f(np.arange(most + 1.0))[counts] if (counts == t).all() else f(t)


def _series(x: AnyArray, terms: tuple[tuple[int, float], ...]) -> Any:
    """Return the sum of 1 / (c x^a) over terms (a, c)."""
    return sum(x**-a / c for a, c in terms)


def _stirling(x: AnyArray) -> Any:
    """Return ln Gamma(x) - (x - 1/2) ln x + x - ln(2 pi) / 2."""
    return _series(x, GAMMA)


def _log1p_less(u: Array) -> Array:
    """Return ln(1 + u) - u, with r = u / (2 + u) from -u r + 2 (r^3 / 3 + r^5 / 5 + ...) where u is small."""
    r = np.where(np.abs(u) < 0.25, u, 0.0) / (2.0 + u)
    series = sum(r ** (2 * k + 1) / (2 * k + 1) for k in range(1, 10))
    return np.where(np.abs(u) < 0.25, 2.0 * series - u * r, np.log1p(u) - u)
