"""The projection that takes the effects of levels out of a column: conjugate gradients on the effects' equations.

    min over a of sum_n w_n (x_n - sum_q a_q[level of row n in column q])^2,     D'W D a = D'W x

The column with the most levels is eliminated: its effects are means over its levels, whatever the others are. What is
left, S v = D_2'W (I - P_1) x with S = D_2'W (I - P_1) D_2, is solved by conjugate gradients, preconditioned by the
weights M of the levels; with one column there is nothing left. A step costs one pass over the levels of the rows. A
residual rho leaves an error of the projection, a vector D e in the span of the dummies, of

    |D e| <= |rho| / sqrt(lambda),      |rho|^2 = rho'M^-1 rho

lambda is the smallest eigenvalue of S in that metric, computed from the coefficients of the steps (Lanczos). Rounds of
such steps continue on the residual until it is small relative to the projected column.

Two columns whose levels are connected by few rows, such as workers that seldom move between firms, have a tiny lambda.
After STEPS_BEFORE_FACTOR steps M becomes an approximate factor of the graph of levels (`levels.factor`), which is exact
if the graph is a tree or a chain: S^-1 is the block of the second column in the inverse of D'W D, which is the
Laplacian of that graph but for signs.

For S and the graph, rows that share both levels are one row of their total weight. If there are many of them, such as
workers who stay at a firm, steps run over the pairs of levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.solvers.absorb.levels import (
    LevelFactor,
    factor,
    level_sums,
    merge_pairs,
    precondition,
    product,
    put_order,
    subtract,
)
from adaline.sources.absorbed import Removal
from adaline.sources.tables.effects import LevelCodes, Levels
from adaline.sources.threads import one_blas_thread, run_tasks

EPS = float(np.finfo(np.float64).eps)
MOST_STEPS = 10_000  # conjugate gradient steps for a column; doubling it doubles the time before a column is given up
# steps in the metric of weights before the graph of levels is factored; doubling it factors hard graphs later
STEPS_BEFORE_FACTOR = 30
# factor by which a round reduces the residual; 10x larger takes fewer steps per round, and more rounds
REDUCTION = 1e-10
# share of a projected column that dummies may still explain; 10x larger loses a digit of coefficients
PROJECTION_TOL = 1e-9
# rounds per column, each on the residual of the one before; doubling it matters only for columns that do not converge
MOST_ROUNDS = 4
# columns that share a read of the levels, for any number of threads; doubling it takes twice the memory
COLUMNS_A_READ = 2
# remaining length of a column, relative to its own, up to which dummies explain it; 10x larger drops more columns
EXPLAINED = 1e-9
ROUNDING = 1e-14  # the same of a target, whose residuals may be far smaller than its effects
MOST_ROWS = 2**31 - 1  # rows that can be sorted by indices of 32 bits


class Removed(NamedTuple):
    """What is left of one column; see `Removal`. `by_graph` : whether it was found by the factor of the graph."""

    left: float
    length: float
    steps: int
    smallest: float
    by_graph: bool = False


@dataclass
class _Column:
    """A column on its way: x (N,) and its effects (G + L,), both in place, and the length that is nothing.

    rest : (L,) what is left of the equations of the effects, of length `left`; length : of what remains of the column.
    steps, smallest, rounds : of conjugate gradients, the last two in the present metric.
    """

    x: Array
    effects: Array
    least: float
    rest: Array = field(default_factory=partial(np.zeros, 0))
    left: float = 0.0
    length: float = 0.0
    steps: int = 0
    smallest: float = 1.0
    rounds: int = 0
    by_graph: bool = False

    def enough(self) -> float:
        """Return the length of `rest` that is small enough."""
        return float(PROJECTION_TOL * self.length * np.sqrt(self.smallest))


class Gradients(NamedTuple):
    """Values (L,) that conjugate gradients found, their steps, the smallest eigenvalue met, and if they got there."""

    values: Array
    steps: int
    smallest: float
    reached: bool


@dataclass(frozen=True)
class SortedRows:
    """The levels of rows, and those of all columns but the first in the order of the levels of that.

    Parameters
    ----------
    first : (1, N) codes of the column with the most levels, G; rest : (Q - 1, N) those of all others, L in all.
    sizes : G and L. order : (N,) rows sorted by their first level. starts : (G + 1,) where each level begins in it.
    cells : (Q - 1, N) rest in that order.
    """

    first: LevelCodes
    rest: LevelCodes
    sizes: tuple[int, int]
    order: LevelCodes
    starts: NDArray[np.int64]
    cells: LevelCodes

    @classmethod
    def of(cls, levels: tuple[Levels, ...]) -> SortedRows:
        """Return the rows with these levels."""
        groups, *counts = (len(one.values) for one in levels)
        first = levels[0].codes[None, :]
        before = np.cumsum([0, *counts], dtype=np.int32)
        others = [one.codes + count if count else one.codes for one, count in zip(levels[1:], before, strict=False)]
        several = np.stack(others) if len(others) > 1 else np.empty((0, first.shape[1]), dtype=np.int32)
        rest = others[0][None, :] if len(others) == 1 else several
        order, starts = np.empty(len(levels[0].codes), dtype=np.int32), np.zeros(groups + 1, dtype=np.int64)
        if counts and first.shape[1] > MOST_ROWS:
            raise InvalidData(f"effects of several columns are absorbed from at most {MOST_ROWS:,} rows: absorb one")
        if counts:
            put_order(order, starts, first)
        cells = np.take(rest, order, axis=1) if counts else rest
        return cls(first, rest, (groups, sum(counts)), order, starts, cells)


class Projection:
    """The projection off the dummies of all levels, in the metric of weights (N,), None for ones."""

    def __init__(self, rows: SortedRows, weight: Array | None) -> None:
        self.rows, self.weight = rows, weight
        self._first = _inverse(level_sums(rows.first, rows.sizes[0], None, weight))
        self._rest = _inverse(level_sums(rows.rest, rows.sizes[1], None, weight))
        ordered = None if weight is None or not rows.sizes[1] else weight[rows.order]
        pairs = merge_pairs(rows.starts, rows.cells, ordered, rows.sizes[1]) if len(rows.rest) == 1 else None
        self._cells = (rows.starts, rows.cells, ordered) if pairs is None else (pairs[0], pairs[1][None], pairs[2])
        self._factor: LevelFactor | None = None
        self._lock = Lock()

    def remove_from(self, columns: Array, centre: bool = True, targets: int = 0) -> Removal:
        """Take the effects out of columns (M, N) of numbers, in place; with `centre` their means stay in.

        Columns of which nothing but rounding remains become constant; the last ones are `targets`.
        """
        found: dict[int, tuple[Removed, float, float]] = {}
        effects = np.zeros((len(columns), sum(self.rows.sizes)))
        nothing = np.zeros(len(columns), dtype=bool)

        def work(_: int, together: range) -> None:
            mean, before, least = {}, {}, {}
            for i in together:
                x = columns[i]
                mean[i] = float(np.average(x, weights=self.weight)) if centre else 0.0
                x -= mean[i]
                before[i] = self._length(x)
                constant = abs(mean[i]) * self._root_weight()
                least[i] = ROUNDING * (before[i] + constant) if i >= len(columns) - targets else EXPLAINED * before[i]
            given = [_Column(columns[i], effects[i], least[i]) for i in together]
            for i, one in zip(together, self._remove(given), strict=True):
                nothing[i] = one.length <= least[i]
                if nothing[i]:
                    columns[i] = 0.0
                columns[i] += mean[i]
                constant = abs(mean[i]) * self._root_weight()
                found[i] = one, mean[i], EPS * (4 * one.length + before[i] + 2 * constant)

        with one_blas_thread():
            size = len(columns)
            run_tasks([range(i, min(i + COLUMNS_A_READ, size)) for i in range(0, size, COLUMNS_A_READ)], work)
        each = [found[i][0] for i in range(len(found))]
        smallest = [min([one.smallest for one in each if one.by_graph is kind], default=1.0) for kind in (False, True)]
        left = np.array([one.left / np.sqrt(smallest[one.by_graph]) for one in each])
        length = np.array([one.length for one in each])
        return Removal(
            effects,
            np.array([found[i][1] for i in range(len(found))]),
            np.where(nothing, 0.0, left),
            np.array([found[i][2] for i in range(len(found))]),
            length,
            nothing,
            max((one.steps for one in each), default=0),
            1.0 / min(smallest),
            bool((nothing | (left <= PROJECTION_TOL * length)).all()),
        )

    def _remove(self, columns: list[_Column]) -> list[Removed]:
        """Take the effects out of columns, in place, until no more than their `least` length remains of each."""
        active = columns
        while active := [one for one in active if not self._is_done(one)]:
            for by_graph in (False, True):
                alike = [one for one in active if one.by_graph is by_graph]
                for one, found in zip(alike, self._solve(alike, by_graph) if alike else [], strict=True):
                    self._take(one, found)
        return [Removed(one.left, one.length, one.steps, one.smallest, one.by_graph) for one in columns]

    def _is_done(self, one: _Column) -> bool:
        """Subtract the means of the levels of the first column; return whether that is the whole projection."""
        groups, others = self.rows.sizes
        means = level_sums(self.rows.first, groups, one.x, self.weight) * self._first
        subtract(one.x, self.rows.first, means)
        one.effects[:groups] += means
        one.length = self._length(one.x)
        if not others:
            return True
        one.rest = level_sums(self.rows.rest, others, one.x, self.weight)
        one.left = float(np.sqrt(one.rest @ self._metric(one.rest, one.by_graph)))
        near = one.left <= one.enough() and (one.rounds > 0 or not one.by_graph)
        return near or one.length <= one.least or one.rounds == MOST_ROUNDS or one.steps >= MOST_STEPS

    def _take(self, one: _Column, found: Gradients) -> None:
        """Take effects that conjugate gradients have found out of a column; go over to the graph if these are slow."""
        subtract(one.x, self.rows.rest, found.values)
        one.effects[self.rows.sizes[0] :] += found.values
        one.steps, one.smallest, one.rounds = one.steps + found.steps, min(one.smallest, found.smallest), one.rounds + 1
        if self._waits(one) and not found.reached and one.steps < MOST_STEPS:
            one.smallest, one.rounds, one.by_graph = 1.0, 0, True

    def _waits(self, one: _Column) -> bool:
        """Return whether the graph of levels has a metric that is not used yet."""
        return not one.by_graph and len(self.rows.rest) == 1

    def _solve(self, columns: list[_Column], by_graph: bool) -> list[Gradients]:
        """Solve S v = rest of each column by conjugate gradients, side by side.

        Each ends when its residual has shrunk by REDUCTION, or to a tenth of what is enough.
        """
        levels = (*self._cells, self._first)
        most = [min(MOST_STEPS - one.steps, STEPS_BEFORE_FACTOR if self._waits(one) else MOST_STEPS) for one in columns]
        r = np.stack([one.rest for one in columns], axis=1)
        v, z = np.zeros_like(r), self._metric(r, by_graph)
        p, size = z.copy(), np.einsum("lk,lk->k", r, z)
        goal = np.maximum(REDUCTION**2 * size, [(0.1 * one.enough()) ** 2 for one in columns])
        lengths: list[list[float]] = [[] for _ in columns]
        ratios: list[list[float]] = [[] for _ in columns]
        found: list[Gradients | None] = [None] * len(columns)
        going = list(range(len(columns)))
        while True:
            stay = [k for k, i in enumerate(going) if size[k] > goal[k] and len(lengths[i]) < most[i]]
            if len(stay) < len(going):
                for k in {*range(len(going))} - {*stay}:
                    own = lengths[going[k]]
                    smallest = _smallest(np.array(own), np.array(ratios[going[k]]))
                    reached = len(own) < most[going[k]]
                    found[going[k]] = Gradients(v[:, k].copy(), len(own), smallest, reached)
                going = [going[k] for k in stay]
                v, r, p = (np.ascontiguousarray(one[:, stay]) for one in (v, r, p))
                size, goal = size[stay], goal[stay]
            if not going:
                break
            q = np.empty_like(p)
            product(q, p, *levels)
            curvature = np.einsum("lk,lk->k", p, q)
            bent = curvature > 0.0
            goal[~bent] = np.inf
            step = np.divide(size, curvature, out=np.zeros(len(going)), where=bent)
            v += step * p
            r -= step * q
            z = self._metric(r, by_graph)
            size, before = np.einsum("lk,lk->k", r, z), size
            ratio = size / before
            p *= ratio
            p += z
            for k in np.flatnonzero(bent):
                lengths[going[k]].append(float(step[k]))
                ratios[going[k]].append(float(ratio[k]))
        return [one for one in found if one is not None]

    def _metric(self, r: Array, by_graph: bool) -> Array:
        """Return M^-1 r, (L,) or (L, K)."""
        if not by_graph:
            return r * (self._rest if r.ndim == 1 else self._rest[:, None])
        if r.ndim == 2:
            return np.stack([self._metric(column, by_graph) for column in r.T], axis=1)
        whole = np.concatenate([np.zeros(self.rows.sizes[0]), r])
        precondition(whole, *self._graph())
        return whole[self.rows.sizes[0] :]

    def _graph(self) -> LevelFactor:
        """Return the factor of the graph of the levels of two columns."""
        with self._lock:
            if self._factor is None:
                starts, cells, weight = self._cells
                groups = self.rows.sizes[0]
                first = np.repeat(np.arange(groups, dtype=np.int32), np.diff(starts))
                self._factor = factor(np.stack([first, cells[0] + np.int32(groups)]), sum(self.rows.sizes), weight)
            return self._factor

    def _length(self, x: Array) -> float:
        return float(np.sqrt(x @ x if self.weight is None else np.einsum("n,n,n->", self.weight, x, x)))

    def _root_weight(self) -> float:
        return float(np.sqrt(self.rows.first.shape[1] if self.weight is None else self.weight.sum()))


def _smallest(lengths: Array, ratios: Array) -> float:
    """Return the smallest eigenvalue of the tridiagonal matrix of steps of conjugate gradients; 1 of none."""
    if not len(lengths):
        return 1.0
    diagonal = 1.0 / lengths
    diagonal[1:] += ratios[:-1] / lengths[:-1]
    beside = np.sqrt(ratios[:-1]) / lengths[:-1]
    lowest = scipy.linalg.eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(0, 0))
    return min(max(float(lowest[0]), EPS), 1.0)


def _inverse(mass: Array) -> Array:
    """Return 1 / mass, zero where it is zero."""
    return np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
