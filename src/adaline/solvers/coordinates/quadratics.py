"""The squared losses of all rows and of all rows without each fold, as quadratics in the coefficients.

    Q_m(v) = 1/2 total_m - c_m'v + 1/2 v'G_m v      G_m = sum w z z',  c_m = sum w z t,  both about the means of rows m

z and t are columns and target, shifted and scaled alike for all m; the intercept is solved for. Quadratic 0 is that of
all rows, quadratic k + 1 that without fold k. Sums of second moments have all of G; of wide rows in memory only those
rows of G are formed that a solver asks for, for all quadratics in one product of matrices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.solvers.least_squares.factor import varying
from adaline.solvers.smooth.problem import varying as varying_columns
from adaline.sums import Moments, Spread

Indices = NDArray[np.intp]
MOST = 2**31  # bytes of all rows of G that are formed
BATCH = 64  # rows of G that are formed at once, at least


@dataclass
class Quadratics(ABC):
    """M quadratics in D coefficients.

    Parameters
    ----------
    c, diagonal, mean : (M, D) sum of z t, diagonal of G, and means of z, zero without an intercept.
    total, weight, target : (M,) sum of t^2 about its mean, sum of the weights, and mean of t.
    scale, offset : (D,) z = x scale - offset. unit, centre : the target is y unit - centre.
    known : (A,) columns whose rows of G are at hand.
    """

    c: Array
    diagonal: Array
    mean: Array
    total: Array
    weight: Array
    target: Array
    scale: Array
    offset: Array
    unit: float
    centre: float
    known: Indices

    @abstractmethod
    def rows(self, m: int, columns: Indices) -> Array:
        """Return rows of G_m, (A, D)."""

    @abstractmethod
    def all_rows(self, m: int) -> Array:
        """Return the rows of G_m that are known, (A, D), in the order of `known`."""

    def need(self, columns: Indices, ranking: Array) -> bool:
        """Make rows of all G known, and of the columns that rank highest too; False where memory does not allow it."""
        return True

    @property
    def deviation(self) -> Array:
        """Standard deviations of z, root mean squares without an intercept, (D,)."""
        return np.asarray(np.sqrt(self.diagonal[0] / self.weight[0]))

    def raw(self, m: int, v: Array, intercept: bool) -> Array:
        """Return the weights in raw units, intercept first, (1 + D,)."""
        w = v * self.scale / self.unit
        constant = self.centre + self.target[m] - (self.mean[m] + self.offset) @ v
        return np.concatenate([[constant / self.unit if intercept else 0.0], w])

    def held_out(self, m: int, v: Array, g: Array) -> float:
        """Return the loss of the rows that quadratic m leaves out, at its coefficients v, where G_m v - c_m = g."""
        support = np.flatnonzero(v)
        few = v[support]
        everywhere = few @ (self.rows(0, support)[:, support] @ few) - 2 * self.c[0] @ v + self.total[0]
        apart = self.target[0] - self.target[m] + (self.mean[m] - self.mean[0]) @ v
        here = self.total[m] + (g - self.c[m]) @ v
        return max(0.5 * float(everywhere + self.weight[0] * apart**2 - here), 0.0)


@dataclass
class MomentQuadratics(Quadratics):
    """Quadratics from second moments, (M, D, D)."""

    grams: Array

    def rows(self, m: int, columns: Indices) -> Array:
        """Return rows of G_m, (A, D)."""
        return np.asarray(self.grams[m][columns])

    def all_rows(self, m: int) -> Array:
        """Return G_m."""
        return np.asarray(self.grams[m])


def of_moments(total: Moments, others: list[Moments], k: int = 0) -> MomentQuadratics:
    """Return the quadratics of target k from the moments of all rows and of those without each fold."""
    d = total.shape.features
    columns = [*range(d), d + k]
    exponent = total.exponent[columns].astype(np.int64)
    alive = varying(total) if total.centred else total.second.diagonal()[:d] > 0
    seconds, means = [], []
    for one in (total, *others):
        change = one.exponent[columns].astype(np.int64) - exponent
        seconds.append(np.ldexp(one.second[np.ix_(columns, columns)], change[:, None] + change))
        apart = (one.first_hi - total.first_hi) + (one.first_lo - total.first_lo)
        means.append(np.ldexp(apart[columns], -exponent) * total.centred)
    second, mean = np.stack(seconds), np.stack(means)
    second[:, :d][:, ~alive] = 0.0
    second[:, :, :d][:, :, ~alive] = 0.0
    if not second[0, d, d] > 4 * total.noise[d + k]:  # a constant target
        second[:, d] = second[:, :, d] = 0.0
    centre = np.ldexp(total.first_hi + total.first_lo, -total.exponent.astype(np.int64))[columns] * total.centred
    return MomentQuadratics(
        np.ascontiguousarray(second[:, d, :d]),
        np.ascontiguousarray(np.diagonal(second, axis1=1, axis2=2)[:, :d]),
        mean[:, :d] * alive,
        second[:, d, d].copy(),
        np.array([one.weight for one in (total, *others)]),
        mean[:, d],
        np.where(alive, np.ldexp(1.0, -exponent[:d]), 0.0),
        centre[:d] * alive,
        float(np.ldexp(1.0, -exponent[d])),
        float(centre[d]),
        np.arange(d),
        np.ascontiguousarray(second[:, :d, :d]),
    )


@dataclass
class RowQuadratics(Quadratics):
    """Quadratics of dense rows in memory, in parts z (n_k, D) of a fold each; rows of G are formed when asked for.

    `weights` are those of the rows of each part, (n_k,), or None. `formed` has, for each quadratic, the rows of G of
    the columns known, (A, D).
    """

    parts: list[Array]
    weights: list[Array | None]
    intercept: bool
    formed: list[Array]

    def rows(self, m: int, columns: Indices) -> Array:
        """Return rows of G_m, (A, D)."""
        place = np.full(len(self.scale), -1, np.intp)
        place[self.known] = np.arange(len(self.known))
        return np.asarray(self.formed[m][place[columns]])

    def all_rows(self, m: int) -> Array:
        """Return the rows of G_m that are known, (A, D), in the order of `known`."""
        return self.formed[m][: len(self.known)]

    def need(self, columns: Indices, ranking: Array) -> bool:
        """Form the rows of columns that are not known yet, and of others that rank high, to fill a batch."""
        unknown = np.ones(len(self.scale), dtype=bool)
        unknown[self.known] = False
        new = columns[unknown[columns]]
        if not len(new):
            return True
        count = len(self.known)
        wanted = max(BATCH, len(new), count // 4)
        rest = np.where(unknown, ranking, -np.inf)
        rest[new] = -np.inf
        more = np.argsort(-rest)[: max(wanted - len(new), 0)]
        new = np.concatenate([new, more[rest[more] > -np.inf]])
        if count + len(new) > len(self.scale) // 2:
            unknown[new] = False
            new = np.concatenate([new, np.flatnonzero(unknown)])
        room = count + len(new)
        if 8 * len(self.formed) * room * len(self.scale) > MOST:
            return False
        products = [_transposed(z[:, new], weight) @ z for z, weight in zip(self.parts, self.weights, strict=True)]
        every = sum(products[1:], products[0])
        for m, before in enumerate(self.formed):
            rows = every - products[m - 1] if m else every.copy()
            if self.intercept:
                mean = self.mean[m]
                rows -= self.weight[m] * np.outer(mean[new], mean)
            self.formed[m] = np.concatenate([before, rows])
        self.known = np.concatenate([self.known, new])
        return True


def _transposed(z: Array, weight: Array | None) -> Array:
    return z.T if weight is None else (z * weight[:, None]).T


def of_rows(
    x: Array, t: Array, weight: Array | None, spread: Spread, intercept: bool, fold: NDArray[np.int64] | None
) -> RowQuadratics:
    """Return the quadratics of dense rows x (N, D), targets (N,) and weights, and of those without each fold (N,)."""
    size = spread.deviation if intercept else spread.root
    alive = varying_columns(spread) if intercept else spread.largest > 0
    exponent = np.frexp(np.where(size > 0, size, 1.0))[1].astype(np.int64)
    scale = np.where(alive, np.ldexp(1.0, -exponent), 0.0)
    weights = np.ones(len(t)) if weight is None else weight
    mean_t = float(weights @ t / weights.sum()) if intercept else 0.0
    wide = float(np.sqrt(weights @ (t - mean_t) ** 2 / weights.sum())) or 1.0
    unit = float(np.ldexp(1.0, -int(np.frexp(wide)[1])))
    offset = spread.mean * scale * intercept
    groups = [np.arange(len(t))] if fold is None else [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
    parts = []
    for rows in groups:
        z = x[rows].astype(np.float64)
        z *= scale
        z -= offset
        parts.append(z)
    targets = [(t[rows] - mean_t) * unit for rows in groups]
    each = [None if weight is None else weight[rows] for rows in groups]
    own = [np.ones(len(rows)) if w is None else w for rows, w in zip(groups, each, strict=True)]
    sums = np.stack([w @ z for w, z in zip(own, parts, strict=True)])
    squares = np.stack([w @ z**2 for w, z in zip(own, parts, strict=True)])
    cross = np.stack([(w * y) @ z for w, y, z in zip(own, targets, parts, strict=True)])
    total = np.array([w @ y**2 for w, y in zip(own, targets, strict=True)])
    first, mass = (np.array([w @ y for w, y in zip(own, targets, strict=True)]), np.array([w.sum() for w in own]))
    takes = np.ones((1, len(groups))) if fold is None else np.vstack([np.ones(len(groups)), 1 - np.eye(len(groups))])
    mass, total = takes @ mass, takes @ total
    mean, target = (takes @ sums) / mass[:, None] * intercept, takes @ first / mass * intercept
    d = len(scale)
    return RowQuadratics(
        takes @ cross - (mass * target)[:, None] * mean,
        np.maximum(takes @ squares - mass[:, None] * mean**2, 0.0),
        mean,
        total - mass * target**2,
        *(mass, target, scale, offset, unit, mean_t * unit, np.zeros(0, np.intp)),
        *(parts, each, intercept, [np.empty((0, d)) for _ in takes]),
    )
