"""The squared losses of all rows and of all rows without each fold, as quadratics in the coefficients.

    Q_m(v) = 1/2 total_m - c_m'v + 1/2 v'G_m v      G_m = sum w z z',  c_m = sum w z t,  both about the means of rows m

z and t are columns and target, shifted and scaled alike for all m; the intercept is solved for. Quadratic 0 is that of
all rows, quadratic k + 1 that without fold k. Sums of second moments have all of G. Of rows in memory with many columns
only those rows of G are formed that a solver asks for, for all quadratics in one product of matrices; where there are
fewer rows than columns, products with the rows take the place of G, and memory stays that of the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, is_sparse
from adaline.solvers.least_squares.factor import varying
from adaline.solvers.smooth.problem import varying_columns
from adaline.sums import Moments, Spread

Indices = NDArray[np.intp]
MOST_PRODUCT_BYTES = 2**31  # size of the rows of G that are formed; doubling it keeps G for wider rows, in 4 GiB
LEAST_BATCH = 64  # rows of G that are formed at once; doubling it takes fewer reads of X, and forms more unneeded rows
MOST_EXPONENT = 1022  # exponent of a scale up to which neither it nor its inverse overflows


@dataclass
class Quadratics(ABC):
    """M quadratics in D coefficients.

    Parameters
    ----------
    c, diagonal, mean : (M, D) sum of z t, diagonal of G, and means of z, zero without an intercept.
    total, weight, target : (M,) sum of t^2 about its mean, sum of the weights, and mean of t.
    scale, offset : (D,) z = x scale - offset. unit, centre : the target is y unit - centre. Both are powers of two.
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
    def among(self, m: int, columns: Indices) -> Array:
        """Return the part of G_m of columns whose rows are known, (A, A)."""

    @abstractmethod
    def apply(self, which: list[int], changes: Array) -> Array:
        """Return G_m times changes (L, D) of coefficients of columns that are known, (L, D), for each m of `which`."""

    def need(self, columns: Indices, ranking: Array) -> bool:
        """Prepare all G among these columns, ahead of others that rank high; return False where memory runs out."""
        return True

    def widened(self, m: int, columns: Indices, matrix: Array, new: Indices) -> tuple[Indices, Array]:
        """Return columns that include new ones, and G_m among them, given both before: all columns that are known."""
        same = len(columns) == len(self.known)
        return (columns, matrix) if same else (self.known, self.among(m, self.known))

    @property
    def deviation(self) -> Array:
        """Standard deviations of z, root mean squares without an intercept, (D,)."""
        return np.asarray(np.sqrt(self.diagonal[0] / self.weight[0]))

    def _joining(self, columns: Indices, ranking: Array) -> Indices:
        """Return those columns that are not known, and others that rank high, to fill a batch."""
        unknown = np.ones(len(self.scale), dtype=bool)
        unknown[self.known] = False
        new = columns[unknown[columns]]
        if not len(new):
            return new
        rest = np.where(unknown & (self.diagonal[0] > 0), ranking, -np.inf)
        rest[new] = -np.inf
        room = max(LEAST_BATCH, len(self.known) // 4) - len(new) if len(new) < LEAST_BATCH else 0
        more = np.argsort(-rest)[:room] if room else new[:0]
        return np.concatenate([new, more[rest[more] > -np.inf]])

    def _place(self) -> Indices:
        """Return the index of each column among those known, (D,), -1 where it is not."""
        place = np.full(len(self.scale), -1, np.intp)
        place[self.known] = np.arange(len(self.known))
        return place

    def raw(self, m: int, v: Array, intercept: bool) -> Array:
        """Return the weights in raw units, intercept first, (1 + D,)."""
        w = np.ldexp(v, np.frexp(self.scale)[1] - np.frexp(self.unit)[1])
        some = np.flatnonzero(v)
        constant = self.centre + self.target[m] - (self.mean[m][some] + self.offset[some]) @ v[some]
        return np.concatenate([[constant / self.unit if intercept else 0.0], w])

    def held_out(self, m: Any, v: Array, g: Array) -> Array:
        """Return the losses (L,) of the rows that quadratic m leaves out, a number or (L,), at its coefficients.

        v and g = G_m v - c_m are (L, D).
        """
        support = np.flatnonzero(v.any(axis=0))
        few = v[:, support]
        everywhere = ((few @ self.among(0, support) - 2 * self.c[0][support]) * few).sum(axis=1) + self.total[0]
        apart = self.target[0] - self.target[m] + ((self.mean[m] - self.mean[0])[..., support] * few).sum(axis=1)
        here = self.total[m] + ((g - self.c[m])[:, support] * few).sum(axis=1)
        return np.asarray(np.maximum(0.5 * (everywhere + self.weight[0] * apart**2 - here), 0.0))


@dataclass
class MomentQuadratics(Quadratics):
    """Quadratics from second moments, (M, D, D)."""

    grams: Array

    def among(self, m: int, columns: Indices) -> Array:
        """Return the part of G_m of some columns."""
        return np.asarray(self.grams[m][np.ix_(columns, columns)])

    def apply(self, which: list[int], changes: Array) -> Array:
        """Return G_m times changes."""
        return np.stack([self.grams[m] @ change for m, change in zip(which, changes, strict=True)])


def of_moments(total: Moments, others: list[Moments], k: int = 0) -> MomentQuadratics:
    """Return the quadratics of target k from the moments of all rows and of those without each fold."""
    d = total.shape.features
    columns = [*range(d), d + k]
    exponent = _bounded(total.exponent[columns])
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
    centre = np.ldexp((total.first_hi + total.first_lo)[columns], -exponent) * total.centred
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


def _bounded(exponent: Any) -> NDArray[np.int64]:
    """Return exponents of scales as integers, of which none is too large or too small."""
    return np.clip(np.asarray(exponent).astype(np.int64), -MOST_EXPONENT, MOST_EXPONENT)


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

    def among(self, m: int, columns: Indices) -> Array:
        """Return the part of G_m of some columns."""
        return np.asarray(self.formed[m][np.ix_(self._place()[columns], columns)])

    def apply(self, which: list[int], changes: Array) -> Array:
        """Return G_m times changes."""
        place, out = self._place(), np.empty_like(changes)
        for row, m, change in zip(out, which, changes, strict=True):
            moved = np.flatnonzero(change)
            row[:] = change[moved] @ self.formed[m][place[moved]]
        return out

    def need(self, columns: Indices, ranking: Array) -> bool:
        """Form the rows of columns that are not known yet, and of others that rank high, to fill a batch."""
        new = self._joining(columns, ranking)
        if not len(new):
            return True
        count = len(self.known)
        if count + len(new) > len(self.scale) // 2:
            new = np.concatenate([new, np.setdiff1d(np.arange(len(self.scale)), [*self.known, *new])])
        room = count + len(new)
        if 8 * len(self.formed) * room * len(self.scale) > MOST_PRODUCT_BYTES:
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


@dataclass
class WideQuadratics(Quadratics):
    """Quadratics of dense rows in memory, fewer than columns: G is formed among few columns, and applied by the rows.

    `rows` (N, D) are z times the roots of the weights, fold by fold, and `held` has those that quadratic m leaves out.
    """

    rows: Array
    held: list[slice]

    def among(self, m: int, columns: Indices) -> Array:
        """Return the part of G_m of some columns."""
        z = np.delete(self.rows[:, columns], self.held[m], axis=0)
        mean = self.mean[m][columns]
        return np.asarray(z.T @ z - self.weight[m] * np.outer(mean, mean))

    def widened(self, m: int, columns: Indices, matrix: Array, new: Indices) -> tuple[Indices, Array]:
        """Return columns and new ones, and G_m among them: a solver keeps to its own few columns."""
        new = np.setdiff1d(new, columns)
        if not len(new):
            return columns, matrix
        both = np.concatenate([columns, new])
        z = np.delete(self.rows[:, both], self.held[m], axis=0)
        beside = z.T @ z[:, len(columns) :]
        beside -= self.weight[m] * np.outer(self.mean[m][both], self.mean[m][new])
        out = np.empty((len(both), len(both)))
        out[: len(columns), : len(columns)] = matrix
        out[:, len(columns) :] = beside
        out[len(columns) :] = beside.T
        return both, out

    def apply(self, which: list[int], changes: Array) -> Array:
        """Return G_m times changes: two products with all rows, those of the fold left out without weight."""
        moved = np.flatnonzero(changes.any(axis=0))
        outputs = self.rows[:, moved] @ changes[:, moved].T
        for k, m in enumerate(which):
            outputs[self.held[m], k] = 0.0
        mean = self.mean[which]
        level = (mean * changes).sum(axis=1) * self.weight[which]
        return np.asarray(outputs.T @ self.rows - level[:, None] * mean)

    def need(self, columns: Indices, ranking: Array) -> bool:
        """Return whether memory allows G among these columns; `ranking` is not used, as nothing is formed ahead."""
        return 8 * len(self.weight) * len(columns) ** 2 <= MOST_PRODUCT_BYTES


def _transposed(z: Array, weight: Array | None) -> Array:
    return z.T if weight is None else (z * weight[:, None]).T


@dataclass
class SparseQuadratics(Quadratics):
    """Quadratics of sparse rows in memory: G is formed among the columns known alone, and applied by sparse products.

    `parts` has the rows of each fold, (n_k, D), by columns, `weights` theirs, `all` all rows in the order of the parts,
    and `blocks` G_m among the columns known.
    """

    parts: list[Any]
    weights: list[Array]
    intercept: bool
    all: Any
    blocks: list[Array]

    def among(self, m: int, columns: Indices) -> Array:
        """Return the part of G_m of some columns."""
        place = self._place()[columns]
        return np.asarray(self.blocks[m][np.ix_(place, place)])

    def apply(self, which: list[int], changes: Array) -> Array:
        """Return G_m times changes: two products with all rows, those of the fold left out without weight."""
        moved = np.flatnonzero(changes.any(axis=0))
        outputs = self.all[:, moved] @ changes[:, moved].T
        first = 0
        for k, weight in enumerate(self.weights):
            here = slice(first, first + len(weight))
            outputs[here] *= weight[:, None] * np.array([m != k + 1 for m in which])
            first += len(weight)
        mean = self.mean[which]
        level = (mean * changes).sum(axis=1) * self.weight[which]
        return np.asarray((self.all.T @ outputs).T - level[:, None] * mean)

    def need(self, columns: Indices, ranking: Array) -> bool:
        """Form G among the columns known and those that join."""
        new = self._joining(columns, ranking)
        if not len(new):
            return True
        known = np.concatenate([self.known, new])
        if 8 * len(self.blocks) * len(known) ** 2 > MOST_PRODUCT_BYTES:
            return False
        products = []
        for z, weight in zip(self.parts, self.weights, strict=True):
            own = z[:, new]
            products.append((own.multiply(weight[:, None]).T.tocsr() @ z[:, known]).toarray())
        every = sum(products[1:], products[0])
        count = len(self.known)
        for m, before in enumerate(self.blocks):
            rows = every - products[m - 1] if m else every.copy()
            mean = self.mean[m]
            rows -= self.weight[m] * np.outer(mean[new], mean[known])
            grown = np.empty((len(known), len(known)))
            grown[:count, :count] = before
            grown[count:] = rows
            grown[:count, count:] = rows[:, :count].T
            self.blocks[m] = grown
        self.known = known
        return True


def of_rows(
    x: AnyArray, t: Array, weight: Array | None, spread: Spread, intercept: bool, fold: NDArray[np.int64] | None
) -> RowQuadratics | SparseQuadratics | WideQuadratics:
    """Return the quadratics of rows x (N, D), dense or sparse, with targets (N,), and of those without each fold.

    Dense columns are shifted by their means, sparse ones are not, and all are scaled to about unit spread.
    """
    thin = is_sparse(x)
    size = spread.deviation if intercept and not thin else spread.root
    alive = varying_columns(spread) if intercept else spread.largest > 0
    exponent = _bounded(np.frexp(np.where(size > 0, size, 1.0))[1])
    scale = np.where(alive, np.ldexp(1.0, -exponent), 0.0)
    every = np.ones(len(t)) if weight is None else weight
    high = int(np.frexp(np.abs(t).max())[1])
    t = np.ldexp(t, -high)
    mean_t = float(every @ t / every.sum()) if intercept else 0.0
    wide = float(np.sqrt(every @ (t - mean_t) ** 2 / every.sum())) or 1.0
    power = int(_bounded(high + np.frexp(wide)[1]))
    unit, centre = float(np.ldexp(1.0, -power)), float(np.ldexp(mean_t, high - power))
    offset = spread.mean * scale * (intercept and not thin)
    groups = [np.arange(len(t))] if fold is None else [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
    parts: list[Any] = []
    for rows in groups:
        if thin:
            parts.append((scipy.sparse.csr_array(x[rows], dtype=np.float64) @ scipy.sparse.diags_array(scale)).tocsc())
        else:
            z = x[rows].astype(np.float64)
            z *= scale
            z -= offset
            parts.append(z)
    own, targets = [every[rows] for rows in groups], [np.ldexp(t[rows] - mean_t, high - power) for rows in groups]
    each = list(zip(own, targets, parts, strict=True))
    sums = np.stack([w @ z for w, _, z in each])
    squares = np.stack([w @ z**2 for w, _, z in each])
    cross = np.stack([(w * y) @ z for w, y, z in each])
    total, first, mass = np.array([(w @ y**2, w @ y, w.sum()) for w, y, _ in each]).T
    takes = np.ones((1, len(groups))) if fold is None else np.vstack([np.ones(len(groups)), 1 - np.eye(len(groups))])
    mass, total = takes @ mass, takes @ total
    mean, target = (takes @ sums) / mass[:, None] * intercept, takes @ first / mass * intercept
    diagonal = takes @ squares - mass[:, None] * mean**2
    made = (
        *(takes @ cross - (mass * target)[:, None] * mean, np.where(alive, np.maximum(diagonal, 0.0), 0.0), mean),
        *(total - mass * target**2, mass, target, scale, offset, unit, centre),
    )
    none = np.zeros(0, np.intp)
    if thin:
        return SparseQuadratics(
            *(*made, none, parts, own, intercept),
            *(scipy.sparse.vstack(parts, "csc"), [np.empty((0, 0)) for _ in takes]),
        )
    if len(t) <= len(scale):
        stacked: Array = np.concatenate(parts)
        if weight is not None:
            stacked *= np.sqrt(np.concatenate(own))[:, None]
        ends = np.cumsum([0, *(len(group) for group in groups)]).tolist()
        held = [slice(0, 0), *(slice(*pair) for pair in pairwise(ends))][: len(takes)]
        return WideQuadratics(*made, np.arange(len(scale)), stacked, held)
    weights = [None if weight is None else w for w in own]
    return RowQuadratics(*made, none, parts, weights, intercept, [np.empty((0, len(scale))) for _ in takes])
