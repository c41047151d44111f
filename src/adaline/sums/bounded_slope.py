"""Slopes of likelihoods in double-double, with proven bounds on their rounding and on how fast curvatures change.

With u = 2^-53 the rounding of the two terms of a slope is at most

    (2^10 + 2^7 |z|) u^2     relatively, of the logit, and of families with the log link

by the operations of `Twofold.exp`: of k ln 2 and z - k ln 2 32 |z| u^2, of its series and five squarings 200 u^2, of
quotients and products 200 u^2. A sum of two numbers of one sign is right to 4 u^2, a product to 8 u^2, a quotient to
20 u^2; the terms of other links are made of such steps (`_probit`, `_cloglog`, `_log_share`, `_power`).

Let c be the curvature of a term, and b a bound on |c' / c|; that of a sum of terms is the largest of them.

    logit, log of the mean       1
    probit                       max(z, 0) + 0.8 of successes, max(-z, 0) + 0.8 of failures
    cloglog                      1 + exp(z) of successes, 1 of failures
    log of a share, z < 0        1 + 2 / |z| of failures; successes have no curvature
    power, z > 0                 |k - 1| / z of a slope in proportion to z^k

Probit: let r = phi / Phi and s = z + r; c = r s, r' = -c, and c' / c = (1 - c) / s - s. From r'' > 0 and 0 < c < 1
(M. R. Sampford, Ann. Math. Statist. 24 (1953), 130-132) c' < 0, so that |c' / c| < s; s' = 1 - c > 0, so that
s <= s(0) < 0.8 where z < 0, and r <= r(0) < 0.8 elsewhere. Cloglog: let v = exp(z), r = v / (exp(v) - 1) and
q = v + r - 1; then c = r q and c' / c = (1 - v - r) + (v - c) / q. The first term lies between -v and 0, as
1 <= v + r and r <= 1; the second between 0 and 1 + v, as c <= q <= v, and as (1 + v) q >= v - c says that
q + q^2 >= 1 - r, which follows from r >= 1 - v/2. Log of a share: the slope is o = 1 / (exp(-z) - 1) <= 1 / |z|, c is
o (1 + o), and c' / c = 1 + 2 o.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.links import LINKS, Cloglog, Log, Logit, Power, Probit
from adaline.losses.base import Loss
from adaline.losses.families import Binomial, NegativeBinomial, Tweedie
from adaline.losses.linked import Linked
from adaline.losses.logistic import Logistic
from adaline.twofold import Twofold, exact

ROUNDING2 = 2.0**-106
MOST_OUTPUT = 500.0  # size of outputs up to which their exponentials are proved; `Twofold.exp` clips at 600
# outputs up to which they are, of successes of probit, whose density is that of 2^-650 there, and of cloglog
MOST_PROBIT, MOST_CLOGLOG = 30.0, 6.2
SAFE = 1.0 + 2.0**-6  # factor that covers rounding of sizes in float64
MOST_LOGARITHM = 300.0  # size of ln z of power links, and of their exponents 400
MOST_EXPONENT = 400.0


class BoundedSlope(NamedTuple):
    """Slopes (n, 1), and bounds of the same shape.

    Parameters
    ----------
    slope : in double-double.
    error : bounds on its rounding, infinite where none is known.
    curvature : upper bounds on the curvatures.
    change : bounds on |d ln curvature / dz|, 1 or more, wherever an output moves by at most 1 / change.
    """

    slope: Twofold
    error: Array
    curvature: Array
    change: Array


def is_enclosed(loss: Any) -> bool:
    """Return whether slopes of a likelihood are known with proven bounds.

    Gaussian is not one: targets may be negative, and so the weights of terms. `Squared` is enclosed without slopes.
    """
    if not isinstance(loss, Linked) or (isinstance(loss.family, Tweedie) and loss.family.power == 0):
        return False
    known = isinstance(loss.link, Log | Logit | Probit | Cloglog | Power)
    return known and isinstance(loss.family, Binomial | Tweedie | NegativeBinomial) and loss.convex


class _Term(NamedTuple):
    """A term of a loss, (n, 1) for rows of weight 1.

    Parameters
    ----------
    slope : in double-double.
    units : bounds on its relative rounding, in units of u^2; infinite where none is known.
    curvature : right to 2^-40.
    change : bounds on |d ln curvature / dz|, wherever z moves by at most 1 / change.
    """

    slope: Twofold
    units: Array
    curvature: Array
    change: Array


def bounded_slope(loss: Linked, z: Twofold, t: Array) -> BoundedSlope:
    """Return the slopes at outputs z (n, 1) of a likelihood that `is_enclosed`."""
    if not _by_exponential(loss):
        weights, terms = _weights(loss, t), _terms(loss, z)
        each = list(zip(weights, terms, strict=True))
        first, second = (one.slope * weight for weight, one in each)
        error = sum(weight.hi * _known(weight.hi, one) * np.abs(one.slope.hi) for weight, one in each)
        known = loss.family.inside(loss.link, z.hi)
        if not isinstance(loss.link, Power):  # whose logarithms are bounded in `_power`
            known &= np.abs(z.hi) < MOST_OUTPUT
        error = np.where(known, SAFE * ROUNDING2 * error, np.inf)
        curvature, change = _curved(each)
        return BoundedSlope(first + second, error, SAFE * curvature, change)
    row = row_loss(loss, t)
    slope, size = row.slope_twofold(z, t), np.abs(z.hi)
    if isinstance(row, Logistic) and ((t == 0) | (t == 1)).all():  # one term is zero, and |slope| is p or 1 - p
        parts = SAFE * np.abs(slope.hi)
        curvature = parts * (1.0 - np.abs(slope.hi) + 2.0**-50)
    else:
        parts, curvature = _sizes(loss, z.hi, t), SAFE * np.abs(row.curvature(z.hi, t))
    error = (2.0**10 + 2.0**7 * size) * ROUNDING2 * parts
    return BoundedSlope(slope, np.where(size < MOST_OUTPUT, error, np.inf), curvature, np.ones_like(z.hi))


def weighing(loss: Linked, z: Array, t: Array) -> tuple[Array, Array]:
    """Return curvatures (n, 1) that are right to 2^-40 where exponentials are, and bounds on how fast they change."""
    if _by_exponential(loss):
        return row_loss(loss, t).curvature(z, t), np.ones_like(z)
    terms = _terms(loss, Twofold(z, np.zeros_like(z)))
    return _curved(list(zip(_weights(loss, t), terms, strict=True)))


def row_loss(loss: Linked, t: Array) -> Loss:
    """Return the loss of rows with these targets, of two classes that of one exponential."""
    logit = isinstance(loss.family, Binomial) and isinstance(loss.link, Logit)
    return Logistic() if logit and t.shape[1] == 1 else loss


def _by_exponential(loss: Linked) -> bool:
    """Whether slopes and curvatures are terms of one exponential of z: |c'| <= c."""
    return isinstance(loss.link, Logit if isinstance(loss.family, Binomial) else Log)


def _sizes(loss: Linked, z: Array, t: Array) -> Array:
    """Return upper bounds (n, 1) on the sum of the sizes of the two terms of a slope."""
    family = loss.family
    if isinstance(family, Binomial):
        p, other = (1.0 / (1.0 + np.exp(-one)) for one in (z, -z))
        yes, no = _weights(loss, t)
        return np.asarray(SAFE * (yes.hi * other + no.hi * p))
    if isinstance(family, NegativeBinomial):
        share = 1.0 / (1.0 + family.shape * np.exp(-z))
        return np.asarray(SAFE * (family.shape * share + (1.0 - share + 2.0**-40) * t))
    assert isinstance(family, Tweedie)
    return np.asarray(SAFE * (np.exp((2.0 - family.power) * z) + np.exp((1.0 - family.power) * z) * t))


def _weights(loss: Linked, t: Array) -> tuple[Twofold, Twofold]:
    """Return the weights (n, 1) of the two terms: successes and failures, or 1 and t."""
    first, last = exact(t[:, :1]), exact(t[:, -1:])
    if not isinstance(loss.family, Binomial):
        return exact(np.ones_like(t)), first
    return first, 1.0 - first if t.shape[1] == 1 else last


def _known(weight: Array, term: _Term) -> Array:
    """Return the units of a term and of what it is multiplied by; none where it has no weight."""
    return np.where(weight > 0, term.units + 64.0, 0.0)


def _curved(each: list[tuple[Twofold, _Term]]) -> tuple[Array, Array]:
    """Return the curvatures of sums of terms, and how fast they change."""
    curvature = sum(np.where(weight.hi > 0, weight.hi * one.curvature, 0.0) for weight, one in each)
    return np.asarray(curvature), np.asarray(np.maximum(*(one.change for _, one in each)))


def _terms(loss: Linked, z: Twofold) -> tuple[_Term, _Term]:
    """Return the two terms of a loss with another link than the one of its exponential."""
    family, link = loss.family, loss.link
    if isinstance(link, Probit):
        return _probit(z), _mirrored(_probit(-z))
    if isinstance(link, Cloglog):
        return _cloglog(z)
    if isinstance(link, Log):
        return _log_share(z)
    assert isinstance(link, Power)
    if isinstance(family, Binomial):  # the identity
        return _minus(_power(link, z, 0.0)), _rest(link, z)
    assert isinstance(family, Tweedie)
    return _power(link, z, 2.0 - family.power), _minus(_power(link, z, 1.0 - family.power))


def _mirrored(term: _Term) -> _Term:
    """Return a term of -z as one of z."""
    return term._replace(slope=-term.slope)


def _minus(term: _Term) -> _Term:
    return term._replace(slope=-term.slope, curvature=-term.curvature)


def _probit(z: Twofold) -> _Term:
    """Return -ln Phi(z).

    With a = |z| the rounding of phi is that of exp(-a^2 / 2), and of its exponent 8 a^2. Up to 4, Phi(-a) is
    1/2 - phi S, S a series of at most 80 steps of 40 u^2 each, whose rest is below 2^-110; what is lost of 1/2 is
    relative to Phi(-a) >= 2 phi / (a + sqrt(a^2 + 4)) (Z. W. Birnbaum, Ann. Math. Statist. 13 (1942), 245-246).
    Beyond, phi / Phi(-a) is a continued fraction of 100 steps of 24 u^2; two in a row differ by less than 2^-101 at 4,
    and by less further out.
    """
    ratio, a = LINKS["probit"].share_slopes(z)[0], np.abs(z.hi)
    half = a**2 / 2
    density = 2.0**10 + 2.0**7 * half + 8 * a**2 + 64
    body = density + 2.0**12 + 32
    tail = np.exp(-np.minimum(half, 8.0)) * 0.79 / (a + np.sqrt(a**2 + 4))
    near = density + 0.5 * (body + 16) / tail + 32
    below = np.where(a <= 4, 2 * near, 2.0**12)
    above = np.where(a <= 4, density + 2 * body + 64, 2 * density + 2.0**13)
    units = np.where(z.hi < MOST_PROBIT, np.where(z.hi < 0, below, above), np.inf)
    return _Term(-ratio, units, (ratio * (z + ratio)).hi, 1.8 + np.maximum(z.hi, 0))


def _cloglog(z: Twofold) -> tuple[_Term, _Term]:
    """Return -ln(1 - exp(-v)) and v = exp(z).

    Where v is below 0.3, exp(v) - 1 is right to 2^9 u^2 by its series, of condition at most 1 + v; elsewhere it is at
    least 0.25 exp(v).
    """
    ratio, other = LINKS["cloglog"].share_slopes(z)
    v = -other.hi
    own = 2.0**10 + 2.0**7 * np.abs(z.hi)
    units = (2 + v) * own + 4 * (2.0**10 + 2.0**7 * v) + 2.0**9 + 64
    left = np.where(v < 2.0**-40, v / 2, (ratio - other - 1.0).hi)
    first = _Term(-ratio, np.where(z.hi < MOST_CLOGLOG, units, np.inf), ratio.hi * left, 1 + 3 * v)
    return first, _Term(-other, own, v, np.ones_like(v))


def _log_share(z: Twofold) -> tuple[_Term, _Term]:
    """Return -z and -ln(1 - exp(z)); what rounds is exp(-z) - 1, as for `_cloglog`."""
    one, other = LINKS["log"].share_slopes(z)
    odds, away = -other.hi, np.maximum(-z.hi, 2.0**-1000)
    known, none = z.hi < 0, np.zeros_like(away)
    first = _Term(-one, none, none, none)
    units = np.where(known, 4 * (2.0**10 + 2.0**7 * away) + 2.0**9 + 64, np.inf)
    return first, _Term(-other, units, np.where(known, odds * (1.0 + odds), 0.0), 2 + 8 / away)


def _power(link: Power, z: Twofold, a: float) -> _Term:
    """Return mean^a / a, of slope q z^k with q = 1 / exponent and k = q a - 1.

    ln z = l + d, l in float64 and d = exp(-l) z - 1 by one step of Newton's method, which is wrong by at most d^2; k is
    right to 32 (|q a| + 1) u^2, and the exponential is that of k ln z.
    """
    slope, q = link.power_slope(z, a), 1.0 / link.exponent
    k, inside = q * a - 1.0, z.hi > 0
    log = np.log(np.where(inside, z.hi, 1.0))
    step = np.abs((exact(-log).exp() * z.where(inside, 1.0) - 1.0).hi)
    size = np.abs(log)
    units = 2.0**11 + 2.0**8 * abs(k) * size + 64 * size * (abs(q * a) + 1)
    units += abs(k) * (2.0**10 + 2.0**7 * size + 2 * step**2 / ROUNDING2)
    units = np.where(inside & (size < MOST_LOGARITHM) & (abs(k) * size < MOST_EXPONENT), units, np.inf)
    curvature = np.where(inside, k * slope.hi / np.where(inside, z.hi, 1.0), 0.0)
    return _Term(slope, units, curvature, 2 * max(1.0, abs(k - 1)) / np.where(inside, z.hi, 2.0**-1000))


def _rest(link: Power, z: Twofold) -> _Term:
    """Return -ln(1 - z), whose 1 - z is lost in rounding near 1."""
    found, left = _power(link, 1.0 - z, 0.0), np.maximum(1.0 - z.hi, 2.0**-1000)
    return found._replace(units=found.units + 8 / left, curvature=-found.curvature)
