"""Rows of counts that the levels separate from all others: at the maximum of the likelihood their means are zero.

A row is separated if some combination v of columns and dummies is zero on all rows with counts, zero or less on all
others, and less than zero on this one: along v the likelihood always rises, as the mean of the row goes to zero, and
its maximum is that of the rows on which v is zero (S. Correia, P. Guimaraes and T. Zylkin, arXiv:1903.01633). Separated
rows are found in three steps, each on the rows that remain.

    levels      all counts of a level are zero
    pairs       two columns of levels: v is one number c for each part of the graph whose edges are rows with counts,
                c = -v of its levels in the first column, v of those in the second. A row of zero that joins the parts
                a and b asks for c_a >= c_b: it is separated if, and only if, no such steps lead back from a to b. The
                strong components of these steps decide, without rounding
    all         columns of numbers, and three and more columns of levels: u = 1 on rows of zero whose means vanish and
                0 on all others is projected onto columns and dummies, rows with counts weighing HEAVY, and its parts
                below zero are cut off, in turns, until nothing is cut off (the iterative rectifier)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.solvers.absorb.levels import components
from adaline.solvers.absorb.projection import Projection, SortedRows
from adaline.sources.absorbed import SeparatedLevels
from adaline.sources.tables.effects import LevelCodes, Levels

HEAVY = 1e8  # weight of a row with counts, where v has to be zero; 10x larger makes v less exact on the other rows
MOST_TURNS = 100  # turns of the rectifier; doubling it finds rows that only many columns together separate more often
ZERO_PART = 1e-6  # part of v, relative to the largest, that counts as zero; 10x larger counts fewer rows as separated


@dataclass(frozen=True)
class SeparatedRows:
    """Rows that are separated, and why.

    Parameters
    ----------
    levels : of all rows.
    kept : (N,) whether a row is not separated.
    directions : for each column of levels (L,) their parts of v: those of a row add up to zero where it is kept, to
        less than -1/2 where levels separate it from rows that have the same levels. Separated columns have none.
    """

    levels: tuple[Levels, ...]
    kept: NDArray[np.bool_]
    directions: tuple[Array, ...]

    @classmethod
    def of_levels(cls, levels: tuple[Levels, ...], y: Array) -> SeparatedRows:
        """Return the rows that levels alone separate, one or two columns at a time; y (N,) are counts."""
        none = tuple(np.zeros(len(one.values)) for one in levels)
        found = cls(levels, np.ones(len(y), dtype=bool), none)
        while True:
            found = replace(found, kept=_without_zero_levels(levels, y, found.kept))
            before = found.kept.sum()
            for first, second in combinations(range(len(levels)), 2):
                found = found._with_pair(first, second, y)
            if found.kept.sum() == before:
                return found

    @property
    def count(self) -> int:
        """Number of rows that are separated."""
        return int((~self.kept).sum())

    def by_level(self) -> tuple[SeparatedLevels, ...]:
        """Return of each column the levels, which of them rows that are kept have, and their directions."""
        found = []
        for one, direction in zip(self.levels, self.directions, strict=True):
            seen = np.zeros(len(one.values), dtype=bool)
            seen[one.codes[self.kept]] = True
            found.append(SeparatedLevels(one.name, one.values, one.gaps, seen, direction))
        return tuple(found)

    def _with_pair(self, first: int, second: int, y: Array) -> SeparatedRows:
        """Return this with the rows that two columns of levels separate."""
        rows = np.flatnonzero(self.kept)
        a, b = (self.levels[q].codes[rows] for q in (first, second))
        size, sizes = len(self.levels[first].values), [len(self.levels[q].values) for q in (first, second)]
        nodes = np.stack([a, b + np.int32(size)])
        counted = y[rows] > 0
        if not len(rows) or components(np.ascontiguousarray(nodes[:, counted]), sum(sizes)) == 1:
            return self
        rank = pair_ranks(nodes, counted, sum(sizes))
        parts = [np.zeros(len(one)) for one in self.directions]
        parts[first], parts[second] = -rank[:size], rank[size:]
        return self.along(parts)

    def along(self, parts: Sequence[Array]) -> SeparatedRows:
        """Return this with the rows that v of these parts (L,) of the levels of each column separates, if it does."""
        v = summed(parts, self.levels)
        gone = self.kept & (v < -0.5)
        if not gone.any():
            return self
        before = summed(self.directions, self.levels)
        falling = before < -0.5
        share = 1.0 if not falling.any() else 1.0 + float(np.abs(v[falling]).max()) / float(-before[falling].max())
        joint = tuple(share * old + new for old, new in zip(self.directions, parts, strict=True))
        return SeparatedRows(self.levels, self.kept & ~gone, joint)

    def without(self, rows: NDArray[np.bool_]) -> SeparatedRows:
        """Return this without some rows (N,) that columns of numbers help to separate."""
        return replace(self, kept=self.kept & ~rows)


def summed(parts: Sequence[Array], levels: Sequence[Levels]) -> Array:
    """Return the sum over columns of the values of a row's levels, (N,)."""
    return sum((part[one.codes] for part, one in zip(parts, levels, strict=True)), np.zeros(len(levels[0].codes)))


def pair_ranks(nodes: LevelCodes, counted: NDArray[np.bool_], size: int) -> Array:
    """Return a number for each of the levels of two columns, numbered together as nodes (2, N), the second's from zero.

    Levels that rows with counts (N,) join have the same; of a row of zeros the first has at least that of the second,
    and more wherever that is possible.
    """
    graph = scipy.sparse.csgraph.connected_components
    joined = _edges(nodes[0][counted], nodes[1][counted], size)
    parts, part = graph(joined, directed=False)
    above, below = part[nodes[0][~counted]], part[nodes[1][~counted]]
    count, strong = graph(_edges(below, above, parts), directed=True, connection="strong")
    above, below = strong[above], strong[below]
    apart = above != below
    steps = np.unique(np.stack([below[apart], above[apart]]), axis=1)
    return _longest(steps, count)[strong[part]]


def _longest(steps: NDArray[np.intp], count: int) -> Array:
    """Return the length of the longest way to each node of a graph without circles, whose edges (2, M) lead upwards."""
    rank, open_steps = np.zeros(count), np.bincount(steps[1], minlength=count)
    begin = np.searchsorted(steps[0], np.arange(count + 1))
    front = np.flatnonzero(open_steps == 0)
    length = 0
    while len(front):
        rank[front] = length
        reached = steps[1][np.concatenate([np.arange(begin[node], begin[node + 1]) for node in front])]
        np.subtract.at(open_steps, reached, 1)
        front, length = np.unique(reached[open_steps[reached] == 0]), length + 1
    return rank


def _edges(start: NDArray[np.int32], end: NDArray[np.int32], size: int) -> scipy.sparse.csr_array:
    return scipy.sparse.coo_array((np.ones(len(start)), (start, end)), shape=(size, size)).tocsr()


def _without_zero_levels(levels: Sequence[Levels], y: Array, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows, (N,), are left when those of levels whose counts are all zero go, until there are none."""
    kept = kept.copy()
    while True:
        gone = np.zeros_like(kept)
        for one in levels:
            sums = np.bincount(one.codes[kept], y[kept], len(one.values))
            gone |= (sums <= 0)[one.codes]
        gone &= kept
        if not gone.any():
            return kept
        kept &= ~gone


def rectified(rows: SortedRows, x: Array, y: Array, vanishing: NDArray[np.bool_]) -> tuple[Array, Array, Array] | None:
    """Return v (N,), its slopes (D,), and its parts of all levels, where columns x (D, N) and levels separate rows.

    It begins with rows of zero whose means vanish, (N,). None where no v is found.
    """
    positive = y > 0
    weight = np.where(positive, HEAVY, 1.0)
    projection, left = Projection(rows, weight), x.copy()
    taken = projection.remove_from(left, centre=False).effects
    scale = np.sqrt(np.einsum("dn,n,dn->d", left, weight, left))
    scale[scale == 0] = 1.0
    left /= scale[:, None]
    gram = (left * weight) @ left.T
    u = vanishing.astype(np.float64)
    for _ in range(MOST_TURNS):
        rest = u.copy()
        effects = projection.remove_from(rest[None], centre=False).effects[0]
        slopes = np.linalg.lstsq(gram, (left * weight) @ rest)[0] if len(x) else np.zeros(0)
        v = u - rest + slopes @ left
        largest = float(v.max(initial=0.0))
        if not largest > ZERO_PART:
            return None
        if np.abs(v[positive]).max() <= ZERO_PART * largest and v.min() >= -ZERO_PART * largest:
            falling = np.where(v > np.sqrt(ZERO_PART) * largest, v, np.inf)
            unit = -2.0 / float(falling.min())
            slopes = unit * slopes / scale
            return unit * v, slopes, unit * effects - slopes @ taken
        u = np.where(positive, 0.0, np.maximum(v, 0.0))
    return None
