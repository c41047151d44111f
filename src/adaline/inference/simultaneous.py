"""Many comparisons at once: chances and intervals that hold for all of them together.

    none                     each comparison alone
    bonferroni, holm         chances times the number of comparisons; Holm: of those that are not rejected yet
    tukey                    the studentized range of k means: exact for equal variances, cautious for others (Kramer)
    mvt                      the largest |t| of the comparisons, by their own correlations: exact for any

The largest |t| of comparisons whose correlation has the root b (q, r), rows of length one, is R m(u), with a direction
u, uniform on the sphere in r dimensions, and R^2 / r of the F distribution:

    P(max |t| > c) = E_u P(F_(r, freedom) > c^2 / (r m(u)^2)),   m(u) = max |b u|

The chance given u is smooth, so that an average over directions that cover the sphere evenly has three digits or more,
and eight where the comparisons have two dimensions, as those of three means. The range of k normal numbers, by the
largest of them, z, and with the distance w over a common s:

    P(range > w) = k int phi(z) [Phi(z)^(k-1) - (Phi(z) - Phi(z - w))^(k-1)] dz

S. Holm, Scand. J. Statist. 6 (1979), 65-70; J. W. Tukey (1953) and C. Y. Kramer, Biometrics 12 (1956), 307-310;
A. Genz and F. Bretz, Computation of Multivariate Normal and t Probabilities (2009), chapter 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy

from adaline.arrays import Array
from adaline.inference.classical import quantile, tail
from adaline.inference.covariance import lengths

Adjustment = Literal["tukey", "mvt", "holm", "bonferroni", "none"]
# directions on a sphere of 3 dimensions or more; 4x as many change a chance of 0.01 by less than 1e-5
DIRECTIONS = 2**15
PIECE = 64  # comparisons evaluated along all directions at a time; doubling it takes twice the memory
ANGLES = 2**12  # directions on half a circle, for two dimensions; they give eight digits
RANK = 1e-10  # singular value, relative to the largest, that counts as zero; 10x larger drops more directions
STEPS = 64  # fixed-point steps to the generalised golden ratio; doubling it changes nothing beyond rounding
RANGE_NODES, SPREAD_NODES = 192, 96
NEGLIGIBLE_TAIL = 1e-18  # of the distribution of the spread


def adjusted_chances(statistic: Array, root: Array, freedom: float, method: Adjustment, means: int) -> Array:
    """Return the adjusted two-sided chances of statistics (q,).

    `root` (q, M) is that of the covariance of the comparisons, `means` the number of means that they are between.
    """
    size = np.abs(statistic)
    p = 2.0 * tail(freedom, size)
    if method == "tukey":
        return np.array([range_tail(math.sqrt(2.0) * t, means, freedom) for t in size])
    if method == "mvt":
        return np.asarray(largest_tail(root, freedom)(size))
    if method == "bonferroni":
        return np.minimum(p * len(p), 1.0)
    if method == "holm":
        order = np.argsort(p)
        found = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
        out = np.empty(len(p))
        out[order] = np.minimum(found, 1.0)
        return out
    return p


def joint_reach(root: Array, freedom: float, method: Adjustment, means: int, level: float) -> float:
    """Return how many standard errors the intervals of comparisons reach; those of Holm are Bonferroni's."""
    if method == "tukey":
        return _root_of(lambda q: range_tail(q, means, freedom), 1.0 - level) / math.sqrt(2.0)
    if method == "mvt":
        chance = largest_tail(root, freedom)
        return _root_of(lambda c: float(chance(np.array([c]))[0]), 1.0 - level)
    return quantile(freedom, level if method == "none" else 1.0 - (1.0 - level) / len(root))


def largest_tail(root: Array, freedom: float) -> Callable[[Array], Array]:
    """Return the function from c (m,) to P(max |t| > c), (m,), of comparisons with this root of their covariance."""
    u, s, _ = np.linalg.svd(root / lengths(root)[:, None], full_matrices=False)
    rank = int((s > RANK * s[0]).sum())
    around = directions(rank)
    largest = np.zeros(around.shape[1])
    for first in range(0, len(u), PIECE):
        np.maximum(largest, np.abs((u[first : first + PIECE, :rank] * s[:rank]) @ around).max(axis=0), out=largest)

    def chance(c: Array) -> Array:
        squares = [(one / largest) ** 2 for one in c]
        if math.isinf(freedom):
            return np.array([scipy.special.chdtrc(rank, one).mean() for one in squares])
        return np.array([scipy.special.fdtrc(rank, freedom, one / rank).mean() for one in squares])

    return chance


@lru_cache(maxsize=8)
def directions(rank: int) -> Array:
    """Return directions spread evenly over the sphere in so many dimensions, (rank, N), one of each two opposite.

    With three or more they are those of normal numbers made of a Kronecker sequence, whose steps are powers of the
    generalised golden ratio: ratio^(rank + 1) = ratio + 1.
    """
    if rank == 1:
        return np.ones((1, 1))
    if rank == 2:
        angle = (np.arange(ANGLES) + 0.5) * (np.pi / ANGLES)
        return np.stack([np.cos(angle), np.sin(angle)])
    ratio = 1.0
    for _ in range(STEPS):
        ratio = (1.0 + ratio) ** (1.0 / (rank + 1))
    place = (0.5 + np.arange(1, DIRECTIONS + 1) * ratio ** -np.arange(1.0, rank + 1)[:, None]) % 1.0
    normal = scipy.special.ndtri((1.0 - np.abs(2.0 * place - 1.0)).clip(1e-12, 1.0 - 1e-12))
    return np.asarray(normal / np.linalg.norm(normal, axis=0))


@lru_cache(maxsize=2)
def legendre(count: int) -> tuple[Array, Array]:
    """Return nodes and weights of Gauss and Legendre's rule on (-1, 1)."""
    node, weight = np.polynomial.legendre.leggauss(count)
    return np.asarray(node), np.asarray(weight)


def range_tail(q: float, count: int, freedom: float) -> float:
    """Return P(range > q) of `count` normal numbers, over an independent estimate of their spread.

    Examples
    --------
    >>> from adaline.inference.simultaneous import range_tail
    >>> round(range_tail(3.4, 3, 48.0), 6)
    0.051677
    """
    if math.isnan(q) or not freedom > 0:
        return math.nan
    if math.isinf(q):
        return 0.0
    if math.isinf(freedom):
        return float(_range_tails(np.array([q]), count)[0])
    node, weight = legendre(SPREAD_NODES)
    half = freedom / 2
    low = np.log(max(scipy.special.gammaincinv(half, NEGLIGIBLE_TAIL), 1e-300))
    high = np.log(scipy.special.gammainccinv(half, NEGLIGIBLE_TAIL))
    x = low + (high - low) * (node + 1) / 2
    density = np.exp(half * x - np.exp(x) - scipy.special.gammaln(half)) * weight * (high - low) / 2
    spread = np.exp((x - np.log(half)) / 2)
    return min(float(density @ _range_tails(q * spread, count)), 1.0)


def _range_tails(w: Array, count: int) -> Array:
    """Return P(range > w) of `count` standard normal numbers, (m,)."""
    node, weight = legendre(RANGE_NODES)
    reach = np.maximum(9.0, w / 2 + 9.0)[:, None]
    half = (reach + 9.0) / 2
    z = half * node + (reach - 9.0) / 2
    whole = scipy.special.ndtr(z)
    rest = scipy.special.ndtr(z - w[:, None]) / np.maximum(whole, np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore"):
        lost = -np.expm1((count - 1) * np.log1p(-np.minimum(rest, 1.0)))
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return np.asarray(np.minimum(count * ((density * whole ** (count - 1) * lost * half) @ weight), 1.0))


def _root_of(chance: Callable[[float], float], wanted: float) -> float:
    """Return where a falling chance is `wanted`, by bisection and secants."""
    high = 2.0
    while chance(high) > wanted:
        high *= 2.0
        if high > 1e8:
            return math.inf
    return float(scipy.optimize.brentq(lambda c: chance(c) - wanted, 0.0, high, xtol=1e-12))
