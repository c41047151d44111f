"""Contests, a row of one class against one rival class: Kesler's construction, which decides K classes like two.

A row x of class i is right when w_i . (1, x) > w_j . (1, x) for every rival j. With w_0 = 0 (only differences count)
and theta = (w_1, ..., w_{K-1}) each contest (row, rival) is a vector v, with (1, x) at the weights of i and -(1, x) at
those of j, and is won when v . theta > 0. For two classes v is t (1, x). The (K - 1) N vectors are never built:
v . theta is a difference of two scores.

Signs are exact: that of a float is used where it is larger than a bound on its error,

    |fl(w . x + w0) - (w . x + w0)| <= (D + 8) u (|w0| + |w| . |x|),   u = 2^-53

and integer arithmetic decides the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, as_dense, host, on_host
from adaline.block import Block
from adaline.separation.budget import Budget
from adaline.separation.exact import Complement, Whole, signs, whole, whole_rows
from adaline.separation.survey import ROUNDING, ContestScores, ExactScaling
from adaline.sources import Source
from adaline.sources.runners import each_block

Index = NDArray[np.int64]
Mask = NDArray[np.bool_]
Plane = tuple[tuple[Fraction, ...], ...]
"""Intercept and coefficients of each class but the first."""

EXACT_ROWS = 4096  # rows at a time in integers; doubling it doubles their memory
REDUCED_ROWS = 256  # contests at a time as vectors of integers; doubling it doubles their memory
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class ChosenContests:
    """Some contests (n,): row numbers, own class and rival as indices among the classes, columns in use (n, D)."""

    row: Index
    own: Index
    rival: Index
    x: Array

    def __len__(self) -> int:
        return len(self.row)

    def of(self, indices: Any) -> ChosenContests:
        """Return some of them."""
        return ChosenContests(self.row[indices], self.own[indices], self.rival[indices], self.x[indices])

    @staticmethod
    def joined(parts: list[ChosenContests]) -> ChosenContests:
        """Return all of them, one after the other."""
        row, own, rival = (np.concatenate([getattr(part, name) for part in parts]) for name in ("row", "own", "rival"))
        return ChosenContests(row, own, rival, np.concatenate([part.x for part in parts]))


@dataclass(frozen=True)
class Sweep:
    """The values v . theta of all contests for one direction theta.

    worst : -1, 0 or 1: the sign of the smallest v . theta, exact; 1 where there is no contest.
    lowest, height : the contests with the smallest values, and these; some for each class and rival in each block.
    low : (K, K) the smallest value for each class and rival, in floats.
    count : how many contests there are.
    zeros : (n, 2) rows and rivals of contests with v . theta = 0, if asked for.
    """

    worst: int
    lowest: ChosenContests
    height: Array
    low: Array
    count: int
    zeros: Index


class Contests:
    """The contests of the rows of some classes of a source whose targets are class indices.

    Parameters
    ----------
    source : rows and class indices; rows without weight take no part.
    classes : the classes that take part.
    n_classes : how many there are.
    scaling : how the columns are shifted and scaled.
    budget : how much work may go into a proof; None: unlimited.
    """

    def __init__(
        self, source: Source, classes: list[int], n_classes: int, scaling: ExactScaling, budget: Budget | None = None
    ) -> None:
        self.source = source
        self.budget = budget or Budget()
        self.classes = classes
        self.scaling = scaling
        self.k = len(classes)
        self.class_index = np.full(n_classes, -1, dtype=np.int64)  # among those that take part, -1 for others
        self.class_index[classes] = np.arange(self.k)
        self.width = 1 + len(scaling.columns)
        self.dimension = (self.k - 1) * self.width

    def vectors(self, chosen: ChosenContests) -> tuple[Whole, Index]:
        """Return the vectors v 2^power as integers, (n, dimension), and the powers."""
        rows, power = whole_rows(chosen.x, self.scaling.shift, self.scaling.exponent)
        return self._kesler(rows, chosen, _zeros(len(chosen), self.dimension)), power

    def floats(self, chosen: ChosenContests) -> Array:
        """Return the vectors in floats."""
        rows = np.column_stack([np.ones(len(chosen)), self.scaling.inside(chosen.x)])
        return np.asarray(self._kesler(rows, chosen, np.zeros((len(chosen), self.dimension))))

    def direction(self, plane: Plane) -> Whole:
        """Return the direction theta of a plane given in raw columns, in integers."""
        return whole(value for row in plane for value in self.scaling.from_raw(list(row)))

    def sweep(self, theta: Whole, count: int, skip: Mask | None = None, zeros: bool = False) -> Sweep:
        """Return the values v . theta of all contests, with the `count` lowest of each class and rival in each block.

        One pass. `skip`, (N, K): contests left out. With `zeros` every sign is decided and the contests on the plane
        are listed; otherwise signs are not decided in a block in which some contest is certainly lost.
        """
        weights = theta.reshape(self.k - 1, self.width)
        score = ContestScores(self.scaling, weights)
        limit = float(score.limit[0] if self.k == 2 else 2.0 * score.limit.max()) * (1 + 8 * ROUNDING)

        def judge(rows: ClassRows) -> Sweep:
            height = self._heights(rows, score.scores(rows.x), skip)
            flat: Index = np.empty((0, 2), dtype=np.int64)
            if zeros or not (height < -limit).any():
                with np.errstate(invalid="ignore"):
                    unclear = np.argwhere(~(np.abs(height) > limit))
                if len(unclear):
                    sign = self._exact_signs(rows, unclear, weights, score)
                    height[unclear[:, 0], unclear[:, 1]] = sign * TINY
                    level = unclear[sign == 0]
                    flat = np.column_stack([rows.number[level[:, 0]], self._rivals(rows, level)])
            chosen, found, low = self._lowest(rows, height, count)
            return Sweep(int(np.sign(height.min())), chosen, found, low, int((height < np.inf).sum()), flat)

        parts = self._each(judge)
        return Sweep(
            min(part.worst for part in parts),
            ChosenContests.joined([part.lowest for part in parts]),
            np.concatenate([part.height for part in parts]),
            np.minimum.reduce([part.low for part in parts]),
            sum(part.count for part in parts),
            np.concatenate([part.zeros for part in parts]),
        )

    def inside(self, room: Complement) -> Mask:
        """Return which contests v lie in the space L, given its orthogonal complement `room`. One pass.

        If v lies outside L, v . theta is not zero for a random theta of the complement, almost surely; where it is
        zero, all coordinates of v decide. The mask is (N, K); what is no contest counts as inside.
        """
        out = np.ones((self.source.count_rows(), self.k), dtype=bool)
        drawn = np.random.default_rng(0).integers(-(2**20), 2**20, len(room.free)).astype(object)
        weights = room.lift(drawn).reshape(self.k - 1, self.width)
        score = ContestScores(self.scaling, weights)
        limit = score.limit.max() * 2.0 * (1 + 8 * ROUNDING)

        def judge(rows: ClassRows) -> None:
            height = self._heights(rows, score.scores(rows.x), None)
            at = np.argwhere(height < np.inf)
            out[rows.number[at[:, 0]], self._rivals(rows, at)] = False
            with np.errstate(invalid="ignore"):
                at = np.argwhere(~(np.abs(height) > limit))
            at = at[self._exact_signs(rows, at, weights, score) == 0]
            for first in range(0, len(at), REDUCED_ROWS):
                some = at[first : first + REDUCED_ROWS]
                part = rows.of(some[:, 0])
                chosen = ChosenContests(
                    part.number, part.own, self._rivals(rows, some), dense_rows(self.scaling.used(part.x))
                )
                rest = room.reduce(self.vectors(chosen)[0])
                out[chosen.row, chosen.rival] = (rest == 0).all(axis=1)

        self._each(judge)
        return out

    def _rivals(self, rows: ClassRows, at: Index) -> Index:
        """Return the rivals of contests given by their indices (n, 2) in what `_heights` returns."""
        return np.asarray(1 - rows.own[at[:, 0]] if self.k == 2 else at[:, 1])

    def numbered(self, numbers: Index) -> dict[int, tuple[int, Array]]:
        """Return class index and columns of the rows with these numbers. One pass."""
        wanted = np.unique(numbers)

        def pick(block: Block) -> dict[int, tuple[int, Array]]:
            some = wanted[(wanted >= block.first_row) & (wanted < block.first_row + block.rows)]
            if not len(some):
                return {}
            at = some - block.first_row
            codes = host(block.t)[at, 0].astype(int).tolist()
            return dict(zip(some.tolist(), zip(codes, dense_rows(on_host(block.x)[at]), strict=True), strict=True))

        return {number: row for found in each_block(self.source, pick) for number, row in found.items()}

    def _kesler(self, rows: Any, chosen: ChosenContests, out: Any) -> Any:
        """Fill out (n, dimension) with the vectors v of contests whose rows (1, c) are given, (n, width)."""
        for k in range(1, self.k):
            own_weights = slice((k - 1) * self.width, k * self.width)
            own, rival = chosen.own == k, chosen.rival == k
            out[own, own_weights] = rows[own]
            out[rival, own_weights] = -rows[rival]
        return out

    def _heights(self, rows: ClassRows, scores: Array, skip: Mask | None) -> Array:
        """Return v . theta in floats, (n, 1) for two classes, else (n, K); infinity where there is no contest."""
        if self.k == 2:
            height = np.where(rows.own[:, None] == 1, scores, -scores)
            if skip is not None:
                height[skip[rows.number].all(axis=1)] = np.inf
            return height
        every = np.column_stack([np.zeros(len(scores)), scores])
        height = every[np.arange(len(every)), rows.own][:, None] - every
        height[np.arange(len(every)), rows.own] = np.inf
        if skip is not None:
            height[skip[rows.number]] = np.inf
        return height

    def _exact_signs(self, rows: ClassRows, unclear: Index, weights: Whole, score: ContestScores) -> NDArray[np.int8]:
        """Return the exact signs of some contests: by bounds of their own, then in integers."""
        out = np.zeros(len(unclear), dtype=np.int8)
        for first in range(0, len(unclear), EXACT_ROWS):
            at = unclear[first : first + EXACT_ROWS]
            part = rows.of(at[:, 0])
            every, own = np.arange(len(at)), part.own
            rival = self._rivals(rows, at)
            scores = np.column_stack([np.zeros(len(at)), score.scores(part.x)])
            bounds = np.column_stack([np.zeros(len(at)), score.bound(part.x)])
            height = scores[every, own] - scores[every, rival]
            bound = (bounds[every, own] + bounds[every, rival]) * (1 + 8 * ROUNDING)
            bound += 4 * ROUNDING * np.abs(height) * (self.k > 2)
            with np.errstate(invalid="ignore"):
                left = np.flatnonzero(~((np.abs(height) > bound) | (bound == 0)))
            sign = np.sign(np.where(np.isnan(height), 0.0, height)).astype(np.int8)
            if len(left):
                exact = np.concatenate([_zeros(1, len(left)), weights @ self._whole(part.of(left)).T])
                sign[left] = signs(exact[own[left], np.arange(len(left))] - exact[rival[left], np.arange(len(left))])
            out[first : first + EXACT_ROWS] = sign
        return out

    def _lowest(self, rows: ClassRows, height: Array, count: int) -> tuple[ChosenContests, Array, Array]:
        low = np.full((self.k, self.k), np.inf)
        at = [np.empty((0, 2), dtype=np.int64)]
        found = [np.empty(0)]
        for own in range(self.k):
            members = np.flatnonzero(rows.own == own)
            for rival in range(self.k) if len(members) else ():
                if rival == own:
                    continue
                values = height[members, 0 if self.k == 2 else rival]
                low[own, rival] = values.min()
                some = np.argpartition(values, count)[:count] if count < len(values) else np.arange(len(values))
                some = some[values[some] < np.inf]
                at.append(np.column_stack([members[some], np.full(len(some), rival)]))
                found.append(values[some])
        where = np.concatenate(at)
        part = rows.of(where[:, 0])
        return (
            ChosenContests(part.number, part.own, where[:, 1], dense_rows(self.scaling.used(part.x))),
            np.concatenate(found),
            low,
        )

    def _whole(self, rows: ClassRows) -> Whole:
        return whole_rows(dense_rows(self.scaling.used(rows.x)), self.scaling.shift, self.scaling.exponent)[0]

    def _each(self, judge: Callable[[ClassRows], Any]) -> list[Any]:
        """Call judge with the rows of every block that take part; results in the order of the blocks."""

        def work(block: Block) -> list[Any]:
            rows = ClassRows.of_block(block, self.class_index)
            return [judge(rows)] if len(rows.number) else []

        return [value for found in each_block(self.source, work) for value in found]


def _zeros(*shape: int) -> Whole:
    return np.zeros(shape, dtype=np.int64).astype(object)


@dataclass(frozen=True)
class ClassRows:
    """Rows of a block that take part: all columns, row numbers, and their classes among those that take part."""

    x: Any
    number: Index
    own: Index

    @classmethod
    def of_block(cls, block: Block, class_index: Index) -> ClassRows:
        """Return the rows of a block whose class takes part, and whose weight is positive."""
        own = class_index[host(block.t)[:, 0].astype(np.int64)]
        part = own >= 0
        if block.weight is not None:
            part &= host(block.weight) > 0
        rows = cls(on_host(block.x), block.first_row + np.arange(block.rows, dtype=np.int64), own)
        return rows if part.all() else rows.of(np.flatnonzero(part))

    def of(self, indices: Any) -> ClassRows:
        """Return some of them."""
        return ClassRows(self.x[indices], self.number[indices], self.own[indices])


def dense_rows(x: AnyArray) -> Array:
    """Return rows as a dense array."""
    return np.asarray(as_dense(x), dtype=np.float64)
