"""Tests of the terms of an additive model: that a curve is zero everywhere, that groups do not differ.

The statistic of a smooth f = X beta is f' V^(r-) f, with V^(r-) the pseudo-inverse of the covariance of f truncated to
rank r, the effective degrees of freedom; if r is not a whole number, the last two directions are mixed. Effects of
groups are compared with what the errors alone would give: b' C^-1 b, with C their covariance given the other terms.
Both statistics are distributed as weighted sums of squared normal variables over the variance of the errors.

S. N. Wood, On p-values for smooth components of an extended generalized additive model, Biometrika 100 (2013), 221-228;
A simple test for random effects in regression models, Biometrika 100 (2013), 1005-1010; J. P. Imhof, Computing the
distribution of quadratic forms in normal variables, Biometrika 48 (1961), 419-426.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from adaline.arrays import Array

EPS = 2.0**-52
# step and number of points of the path of integration, in widths of the saddle; doubling the step costs digits
PATH_STEP, PATH_STEPS = 0.04, 1000
SURELY = 1e-9  # chance below which the quick approximation is returned; 10x smaller changes no digit that is shown


class TermTest(NamedTuple):
    """A statistic, its degrees of freedom, and the chance of one as large if the term is zero."""

    statistic: float
    freedom: float
    p_value: float


def smooth_test(beta: Array, covariance: Array, gram: Array, first: Array, rank: float, left: float) -> TermTest:
    """Test that a smooth is zero.

    Parameters
    ----------
    beta, covariance : coefficients and their covariance, (m,) and (m, m).
    gram : X'X of the smooth's columns.
    first : a direction of coefficients, by which mgcv decides a sign, (m,).
    rank : effective degrees of freedom r.
    left : degrees of freedom of the errors, infinite where their variance is known.
    """
    values, vectors = np.linalg.eigh(gram)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    whole = root @ covariance @ root
    spread, ways = np.linalg.eigh((whole + whole.T) / 2)
    spread, ways = spread[::-1], ways[:, ::-1]
    ways = ways * np.where(ways.T @ (root @ first) < 0, -1.0, 1.0)
    found = int((spread > spread[0] * EPS**0.9).sum())
    rank = max(rank, 0.0)  # rounding may leave less
    k = int(rank)
    nu = rank - k
    if found < k + (nu > 0):
        k, nu, rank = found, 0.0, float(found)
    along = ways.T @ (root @ beta)
    if not nu or not k:
        count = max(k, 1)
        statistic = float((along[:count] ** 2 / spread[:count]).sum())
        rank = rank if k else 1.0
        return TermTest(statistic, rank, _tail(rank, statistic, left))
    cross = math.sqrt(nu * (1 - nu) / 2)
    size = spread[k - 1 : k + 1] ** -0.5
    mixed = np.array([[1.0, cross], [cross, nu]]) * np.outer(size, size)
    certain = float((along[: k - 1] ** 2 / spread[: k - 1]).sum())
    ends = along[k - 1 : k + 1]
    statistics = [certain + float(end @ mixed @ end) for end in (ends, ends * [-1.0, 1.0])]
    r = nu + 1
    last = (r + math.sqrt(r * (2 - r))) / 2
    weights = np.array([1.0] * (k - 1) + [last, r - last])
    chances = [tail_against_errors(weights, one, left) for one in statistics]
    return TermTest(statistics[0], rank, min(1.0, sum(chances) / 2))


def effects_test(effects: Array, inverse: Array, sampling: Array, variance: float, left: float) -> TermTest:
    """Test that effects of groups are zero.

    Parameters
    ----------
    effects : (m,).
    inverse : their block of (X'X + P)^-1, (m, m).
    sampling : the covariance of their estimates over repeated errors, divided by the variance of these, (m, m).
    variance, left : of the errors, and its degrees of freedom.
    """
    values, vectors = np.linalg.eigh(inverse)
    root = vectors / np.sqrt(np.maximum(values, values[-1] * EPS))
    statistic = float(np.sum((root.T @ effects) ** 2) / variance)
    weights = np.maximum(np.linalg.eigvalsh(root.T @ sampling @ root), 0.0)
    rank = int((weights > weights.max() * EPS**0.8).sum())
    return TermTest(statistic, float(rank), tail_against_errors(weights, statistic, left))


def tail_against_errors(weights: Array, statistic: float, left: float) -> float:
    """Return P(sum weights_i z_i^2 > statistic s^2), z normal, s^2 chi-squared over its degrees of freedom `left`.

    Infinitely many: s is 1.
    """
    total, squares = float(weights.sum()), float(weights @ weights)
    if not total or not statistic > 0:
        return 1.0
    freedom = total**2 / squares
    rough = _tail(freedom, statistic * freedom / total, left)
    if rough < SURELY:
        return rough
    if math.isinf(left):
        return _tail_of_squares(weights / total, statistic / total)
    k = max(1.0, round(left))
    every, counts = np.append(weights, -statistic / k), np.append(np.ones(len(weights)), k)
    every = every / np.sqrt(counts @ every**2)

    def integrand(u: float) -> float:
        angle = 0.5 * float(counts @ np.arctan(every * u))
        size = 0.25 * float(counts @ np.log1p((every * u) ** 2))
        return math.sin(angle) / u * math.exp(-size)

    found = scipy.integrate.quad(integrand, 0.0, np.inf, limit=500, epsabs=1e-10, epsrel=1e-8)[0]
    return float(min(max(0.5 + found / math.pi, 0.0), 1.0))


def _tail_of_squares(weights: Array, x: float) -> float:
    """Return P(sum weights_i z_i^2 > x) = 1/(2 pi i) int exp(-s x) prod (1 - 2 weights_i s)^(-1/2) ds / s.

    The path crosses the real axis where the integrand is least, between 0 and the first singularity, and is bent away
    to where exp(-s x) vanishes: the trapezoidal rule then has all digits.
    """
    end = 0.5 / float(weights.max())

    def slope(s: float) -> float:
        return float((weights / (1.0 - 2.0 * weights * s)).sum()) - x - 1.0 / s

    s = scipy.optimize.brentq(slope, 1e-12 * end, (1.0 - 1e-12) * end)
    width = 1.0 / math.sqrt(float((2.0 * (weights / (1.0 - 2.0 * weights * s)) ** 2).sum()) + s**-2)
    u = PATH_STEP * np.arange(PATH_STEPS)
    path, along = s + width * (0.25 * u**2 + 1j * u), width * (0.5 * u + 1j)
    logs = -0.5 * np.log(1.0 - 2.0 * weights[:, None] * path).sum(axis=0) - path * x
    parts = (np.exp(logs) * along / path).imag
    return float(min(max(PATH_STEP * (parts.sum() - 0.5 * parts[0]) / math.pi, 0.0), 1.0))


def _tail(freedom: float, statistic: float, left: float) -> float:
    """Return the chance that chi-squared exceeds a statistic, or F that divided by its degrees of freedom."""
    if math.isinf(left):
        return float(scipy.special.gammaincc(freedom / 2, statistic / 2))
    return float(scipy.special.fdtrc(freedom, left, statistic / freedom))
