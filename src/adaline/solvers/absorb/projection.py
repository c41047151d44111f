"""The projection that takes the effects of levels out of a column: conjugate gradients on the effects' equations.

    min over a of sum_n w_n (x_n - sum_q a_q[level of row n in column q])^2,     D'W D a = D'W x

The column with the most levels is eliminated: its effects are means over its levels, whatever the others are. What is
left, S v = D_2'W (I - P_1) x with S = D_2'W (I - P_1) D_2, is solved by conjugate gradients, preconditioned by the
weights of the levels; with one column there is nothing left. A step costs one pass over the levels of the rows. A
residual rho leaves an error of the projection, a vector D e in the span of the dummies, of

    |D e| <= |rho| / sqrt(lambda),      |rho|^2 = sum over levels of rho^2 / weight

lambda is the smallest eigenvalue of S in that metric, taken from the coefficients of the steps (Lanczos). Rounds of the
whole, each on what the one before has left, go on until that is small against what remains of the column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.solvers.absorb.levels import level_sums, product, put_order, subtract
from adaline.sources.absorbed import Removal
from adaline.sources.tables.effects import LevelCodes, Levels
from adaline.sources.threads import one_blas_thread, run_tasks

EPS = float(np.finfo(np.float64).eps)
STEPS = 10_000  # of conjugate gradients for a column, at most
REDUCTION = 1e-10  # of the residual, in one round
ENOUGH = 1e-9  # of what remains of a column, that dummies may still explain
ROUNDS = 4
NOTHING = 1e-9  # of the length of a column: what remains of one that the dummies explain
ROUNDING = 1e-14  # the same of a target, whose residuals may be that much smaller than its effects
MOST_ROWS = 2**31 - 1  # that are sorted, by numbers of 32 bits


class Removed(NamedTuple):
    """What was taken out of one column; see `Removal`."""

    effects: Array
    left: float
    length: float
    steps: int
    smallest: float


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
        self._sorted = None if weight is None or not rows.sizes[1] else weight[rows.order]

    def remove_from(self, columns: Array, centre: bool = True, targets: int = 0) -> Removal:
        """Take the effects out of columns (M, N) of numbers, in place; with `centre` their means stay in.

        Columns of which nothing but rounding remains become constant; the last ones are `targets`.
        """
        found: dict[int, tuple[Removed, float, float]] = {}
        nothing = np.zeros(len(columns), dtype=bool)

        def work(i: int, x: Array) -> None:
            mean = float(np.average(x, weights=self.weight)) if centre else 0.0
            x -= mean
            constant = abs(mean) * self._root_weight()
            before = self._length(x)
            least = ROUNDING * (before + constant) if i >= len(columns) - targets else NOTHING * before
            one = self._remove(x, least)
            nothing[i] = one.length <= least
            if nothing[i]:
                x[:] = 0.0
            x += mean
            found[i] = one, mean, EPS * (4 * one.length + before + 2 * constant)

        with one_blas_thread():
            run_tasks(columns, work)
        each = [found[i][0] for i in range(len(found))]
        smallest = min((one.smallest for one in each), default=1.0)
        left = np.array([one.left for one in each]) / np.sqrt(smallest)
        length = np.array([one.length for one in each])
        return Removal(
            np.array([one.effects for one in each]).reshape(len(each), sum(self.rows.sizes)),
            np.array([found[i][1] for i in range(len(found))]),
            np.where(nothing, 0.0, left),
            np.array([found[i][2] for i in range(len(found))]),
            length,
            nothing,
            max((one.steps for one in each), default=0),
            1.0 / smallest,
            bool((nothing | (left <= ENOUGH * length)).all()),
        )

    def _remove(self, x: Array, least: float) -> Removed:
        """Take the effects out of a column (N,), in place, until no more than a length of `least` remains of it."""
        groups, others = self.rows.sizes
        effects = np.zeros(groups + others)
        steps, smallest = 0, 1.0
        for turn in range(ROUNDS):
            means = level_sums(self.rows.first, groups, x, self.weight) * self._first
            subtract(x, self.rows.first, means)
            effects[:groups] += means
            length = self._length(x)
            if not others:
                return Removed(effects, 0.0, length, 0, 1.0)
            rest = level_sums(self.rows.rest, others, x, self.weight)
            left = float(np.sqrt(rest @ (rest * self._rest)))
            done = left <= ENOUGH * length * np.sqrt(smallest) or length <= least
            if done or turn == ROUNDS - 1 or steps >= STEPS:
                break
            enough = 0.1 * ENOUGH * length * np.sqrt(smallest)
            found, taken, lowest = self._solve(rest, STEPS - steps, enough)
            steps, smallest = steps + taken, min(smallest, lowest)
            subtract(x, self.rows.rest, found)
            effects[groups:] += found
        return Removed(effects, left, length, steps, smallest)

    def _solve(self, b: Array, most: int, enough: float) -> tuple[Array, int, float]:
        """Return v of S v = b, (L,), by conjugate gradients, their number, and the smallest eigenvalue they met.

        They end when the residual has shrunk by REDUCTION, or to `enough`.
        """
        rest = (self.rows.starts, self.rows.cells, self._sorted, self._first)
        v, r, z = np.zeros_like(b), b.copy(), b * self._rest
        p, q = z.copy(), np.empty_like(b)
        size = float(r @ z)
        goal = max(REDUCTION**2 * size, enough**2)
        lengths: list[float] = []
        ratios: list[float] = []
        while size > goal and len(lengths) < most:
            product(q, p, *rest)
            curvature = float(p @ q)
            if not curvature > 0.0:
                break
            lengths.append(size / curvature)
            v += lengths[-1] * p
            r -= lengths[-1] * q
            np.multiply(r, self._rest, out=z)
            size, before = float(r @ z), size
            ratios.append(size / before)
            p *= ratios[-1]
            p += z
        return v, len(lengths), _smallest(np.array(lengths), np.array(ratios))

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
