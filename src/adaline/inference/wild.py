"""The wild cluster bootstrap: p values and intervals of a regression whose rows belong to few groups.

To test R d = x, with d = A^-1 (theta - estimate) in the coordinates of covariance.py, where X'X = 1, targets are drawn
from the fit under this restriction, whose residuals keep their size and get one random factor v_g a group:

    d_r = R'(R R')^-1 x,   s~_g = s_g - P_g d_r                          scores of groups under the restriction
    d* - d_r = sum_g v_g s~_g,   s*_g = v_g s~_g - P_g (d* - d_r)        a draw: its estimate and its scores
    W* = N'(sum_g u_g u_g')^-1 N,   N = R (d* - d_r),   u_g = R s*_g     against W = x'(sum_g R s_g s_g' R')^-1 x

No row is read for a draw: scores s_g and grams P_g of groups are sums over the rows. p is the share of draws whose W*
is at least W. For one coefficient N and u_g are linear in x, so that p is known at every x; the interval has all x from
the estimate to where p falls below 1 - level (Hansen 1999). Errors are CR1, whose factor cancels.

v_g is Webb's: +-1/sqrt(2), +-1, +-sqrt(3/2), with one chance each; with many groups Rademacher's, a random sign. If all
v_g are equal, W* is W: with too few groups p is never small, and intervals are open.

A. C. Cameron, J. B. Gelbach and D. L. Miller, Review of Economics and Statistics 90 (2008), 414-427; D. Roodman, J. G.
MacKinnon, M. O. Nielsen and M. D. Webb, Stata Journal 19 (2019), 4-60 (boottest); J. G. MacKinnon, M. O. Nielsen and M.
D. Webb, J. Econometrics 232 (2023), 272-299; M. D. Webb, Canadian J. of Economics 56 (2023), 839-858 (factors).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.wording import counted

DRAWS = 9999  # of factors; doubled: p varies by 0.7 of as much with the seed, at twice the time
SEED = 0
WEBB_GROUPS = 12  # groups up to which factors are Webb's, as G random signs give only 2^(G - 1) different draws
MOST_GROUPS = 2000  # beyond which clustered errors hardly differ; doubled: twice the memory and time
LOT = 2**21  # numbers of the scores of draws that are held at a time; doubled: twice the memory
TIE = 1e-9  # relative difference of W* from W up to which they are equal; 10x larger counts more draws
OPEN = 1e4  # standard errors from the estimate beyond which an interval counts as open; 10x larger takes ten more tests
STEPS = 60  # halvings that locate the end of an interval; doubling it changes nothing beyond rounding


def webb_factors(groups: int) -> Array:
    """Return draws (B, G) of Webb's factors."""
    values = np.sqrt(np.array([0.5, 1.0, 1.5]))
    chosen = np.random.default_rng(SEED).integers(0, 6, (DRAWS, groups))
    return np.concatenate([values, -values])[chosen]


def rademacher_factors(groups: int) -> Array:
    """Return draws (B, G) of Rademacher's factors."""
    return np.asarray(2.0 * np.random.default_rng(SEED).integers(0, 2, (DRAWS, groups)) - 1.0)


def all_signs(groups: int) -> Array:
    """Return all signs (2^(G - 1), G) whose first is 1: the others have the same W*."""
    numbers = 2 * np.arange(2 ** (groups - 1))[:, None]
    return np.asarray(1.0 - 2.0 * ((numbers >> np.arange(groups)) & 1))


@dataclass(frozen=True)
class WildBootstrap:
    """The groups of a fit as their draws need them.

    Parameters
    ----------
    scores : s_g of one target, (G, m).
    grams : P_g, (G, m, m).
    factors : v (B, G).
    complete : whether these are all draws there are, among them that of the data, so that p is their share.
    """

    scores: Array
    grams: Array
    factors: Array
    complete: bool = False

    @classmethod
    def of(cls, scores: Array, grams: Array) -> WildBootstrap:
        """Return the draws that suit so many groups."""
        groups = len(scores)
        if groups > MOST_GROUPS:
            raise InvalidParameter(
                f"errors='wild' is for up to {MOST_GROUPS:,} groups, and there are {groups:,}: use 'cluster'"
            )
        return cls(scores, grams, webb_factors(groups) if groups <= WEBB_GROUPS else rademacher_factors(groups))

    @cached_property
    def moved(self) -> Array:
        """sum_g v_g s_g of each draw, (m, B)."""
        return np.asarray(self.scores.T @ self.factors.T)

    def chance(self, along: Array, off: Array) -> float:
        """Return p of R d = x, R (q, m) and x (q,)."""
        if len(along) == 1:
            return OneDirection(self, along[0]).chance(float(off[0]))
        return self._share(*self._statistics(along, off))

    def _statistics(self, along: Array, off: Array) -> tuple[Array, float]:
        """Return W* of each draw, NaN where it has none, and W."""
        restricted = along.T @ np.linalg.solve(along @ along.T, off)
        scores = self.scores - self.grams @ restricted
        steps = scores.T @ self.factors.T
        through = along @ self.grams  # (G, q, m)
        own = self.scores @ along.T
        found = np.empty(len(self.factors))
        size = max(LOT // (len(self.scores) * len(along)), 1)
        for first in range(0, len(found), size):
            lot = slice(first, first + size)
            u = self.factors[lot, :, None] * (scores @ along.T) - np.einsum("gqm,mb->bgq", through, steps[:, lot])
            found[lot] = _wald(steps[:, lot].T @ along.T, u)
        return found, float(_wald(off[None], own[None])[0])

    def _share(self, found: Array, statistic: float) -> float:
        """Return the share of draws at least as large; one that has no statistic counts as large."""
        with np.errstate(invalid="ignore"):
            beyond = int((~(found < statistic * (1.0 - TIE))).sum())
        return beyond / len(found) if self.complete else (1 + beyond) / (1 + len(found))

    def describe(self) -> str:
        """Return the line of a table about the bootstrap."""
        kind = "Webb's factors" if len(np.unique(np.abs(self.factors[:1000]))) > 1 else "signs"
        return (
            f"p and intervals by the restricted wild bootstrap of {counted(len(self.scores), 'group')}, "
            f"{len(self.factors):,} draws of {kind}; standard errors are CR1"
        )


@dataclass(frozen=True)
class OneDirection:
    """The draws of one combination r'd of the coefficients; `along` is r (m,)."""

    groups: WildBootstrap
    along: Array

    @cached_property
    def error(self) -> float:
        """The root of sum_g (r's_g)^2, CR1's standard error but for its factor."""
        return float(np.linalg.norm(self.groups.scores @ self.along))

    @cached_property
    def parts(self) -> Array:
        """N0, N1, D0, D1, D2 of each draw, (5, B): W* = (N0 - x N1)^2 / (D0 - 2 x D1 + x^2 D2), in standard errors."""
        groups = self.groups
        r = self.along / self.error
        pull = groups.grams @ (r / (r @ r))  # P_g times the restricted step, (G, m)
        through = groups.grams @ r
        moved, pulled = groups.moved, pull.T @ groups.factors.T
        own, back = groups.scores @ r, pull @ r
        out = np.empty((5, len(groups.factors)))
        out[0], out[1] = r @ moved, r @ pulled
        size = max(LOT // len(own), 1)
        for first in range(0, out.shape[1], size):
            lot = slice(first, first + size)
            v = groups.factors[lot]
            level = v * own - moved[:, lot].T @ through.T
            slope = v * back - pulled[:, lot].T @ through.T
            out[2:, lot] = (level**2).sum(axis=1), (level * slope).sum(axis=1), (slope**2).sum(axis=1)
        return out

    def chance(self, off: float) -> float:
        """Return p of a value so far from the estimate, in units of the coordinates."""
        return self._chance(off / self.error) if self.error > 0 else np.nan

    def statistics(self, x: float) -> Array:
        """Return W* of each draw at a value x standard errors from the estimate, where W is x^2."""
        n0, n1, d0, d1, d2 = self.parts
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((n0 - x * n1) ** 2 / (d0 - 2 * x * d1 + x * x * d2))

    def _chance(self, x: float) -> float:
        return self.groups._share(self.statistics(x), x * x)

    def reach(self, level: float, sign: float) -> float:
        """Return how far the interval reaches, in units of the coordinates; infinite where it is open."""
        if not self.error > 0:
            return np.nan
        inside, outside = 0.0, 1.0
        while self._chance(sign * outside) > 1.0 - level:
            inside, outside = outside, 1.25 * outside
            if outside > OPEN:
                return np.inf
        for _ in range(STEPS):
            middle = 0.5 * (inside + outside)
            if self._chance(sign * middle) > 1.0 - level:
                inside = middle
            else:
                outside = middle
        return inside * self.error


def _wald(off: Array, u: Array) -> Array:
    """Return x'(sum_g u_g u_g')^-1 x for each draw of x (B, q) and u (B, G, q); NaN where the sum is singular."""
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.sqrt((u**2).sum(axis=1))
        u, off = u / length[:, None], off / length
    good = np.isfinite(u).all(axis=(1, 2)) & np.isfinite(off).all(axis=1)
    out = np.full(len(off), np.nan)
    values, vectors = np.linalg.eigh(u[good].transpose(0, 2, 1) @ u[good])
    turned = (vectors.transpose(0, 2, 1) @ off[good, :, None])[:, :, 0]
    regular = values[:, 0] > SINGULAR * values[:, -1]
    with np.errstate(divide="ignore"):
        out[good] = np.where(regular, (turned**2 / values).sum(axis=1), np.nan)
    return out


SINGULAR = 1e-12  # least eigenvalue, relative to the largest, of a matrix that has an inverse; 10x larger: fewer have
