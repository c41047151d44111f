"""The decision: complete, quasi or no separation, with a direction theta or an overlap as proof.

    separated:  v . theta > 0 for all contests v,   or an overlap:  sum lambda_i v_i = 0, lambda >= 0, sum lambda = 1

1. Search a direction that wins every contest: that of least squares, then the nearest point of the hull of a working
   set of rows, to which the contests it loses are added, until none is lost (complete) or the hull holds zero: an
   overlap, a convex combination of contests that is zero. Directions are found in floats and checked in integers; where
   floats do not decide, the exact simplex method continues from where they stopped.
2. An overlap spans a space L in which nothing can be won: any direction that loses no contest is orthogonal to L.
   Contests in L are set aside, and the rest is decided among the directions orthogonal to L: won by one
   of them (quasi: exactly zero on L), or with an overlap modulo L, which makes L larger. At most as many rounds as
   there are coordinates; none is left when everything lies in L.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.separation.budget import INTEGER_COST, Undecided
from adaline.separation.contests import ChosenContests, Contests, Mask, Sweep
from adaline.separation.exact import Complement, Whole, complement, eliminate, rounded, spans, whole
from adaline.separation.hull import ZERO_LENGTH, SimplexBasis, alternative, nearest

ALL_AT_ONCE = 2000  # contests up to which all are in the working set; doubling it takes fewer rounds of larger problems
MOST_EXACT_ROWS = 400  # rows of an overlap that integers can handle; doubling it takes more than eight times as long
MOST_FLOAT_ROUNDS = 300  # rounds in floats before the exact simplex method takes over; doubling it slows hard data down
# coordinates beyond which the first separating direction is returned; doubling it takes more rounds, for larger
# margins
MOST_MARGIN_COORDINATES = 500
# rounds spent on a larger margin once all contests are won; doubling it takes three more, for larger margins
MARGIN_ROUNDS = 3


class Overlap(NamedTuple):
    """Contests and positive integers with sum share_i v_i in the space L so far; v in integers, times 2^power."""

    chosen: ChosenContests
    share: Whole
    vectors: Whole
    power: NDArray[np.int64]


@dataclass(frozen=True)
class Decision:
    """theta : the direction that wins all contests outside L, in integers, or None where there are none outside.

    overlap : the first overlap found, None if there is none; span : one whose contests span L.
    """

    theta: Whole | None
    overlap: Overlap | None
    span: Overlap | None


def decide(contests: Contests, start: Array) -> Decision:
    """Return which contests can be won. `start`: a direction to begin with, (K - 1, 1 + columns in use)."""
    first: Overlap | None = None
    span: Overlap | None = None
    room = complement(np.empty((0, contests.dimension), dtype=object), contests.dimension)
    skip: Mask | None = None
    direction = start.ravel()
    while True:
        found = _search(contests, room, skip, direction)
        if not isinstance(found, Overlap):
            return Decision(found, first, span)
        first = found if first is None else first
        span = found if span is None else _sum(span, found)
        if spans(span.vectors):
            return Decision(None, first, span)
        contests.budget.spend(_lifting_work(*span.vectors.shape))
        room = complement(span.vectors, contests.dimension)
        if not room.free:
            return Decision(None, first, span)
        skip = contests.inside(room)
        if skip.all():
            return Decision(None, first, span)
        direction = _orthogonal_part(start.ravel(), span.vectors)


def won(contests: Contests, start: Array) -> Whole | Overlap:
    """Return a direction that wins every contest, or the overlap that proves that there is none."""
    room = complement(np.empty((0, contests.dimension), dtype=object), contests.dimension)
    return _search(contests, room, None, start.ravel())


def _search(contests: Contests, room: Complement, skip: Mask | None, start: Array) -> Whole | Overlap:
    """Return a direction of `room` that wins every contest that is not skipped, or an overlap modulo the rest."""
    whole_space = not room.pivots
    theta = room.lift(whole(start[room.free]))
    count = 16 + 4 * contests.dimension // (contests.k * (contests.k - 1))
    few = contests.source.count_rows() * (contests.k - 1) <= ALL_AT_ONCE
    swept = contests.sweep(theta, ALL_AT_ONCE if few else count, skip)
    best = _Best(contests, whole_space)
    best.offer(theta, swept)
    if best.theta is not None and contests.dimension > MOST_MARGIN_COORDINATES:
        return best.theta
    working = _Working(contests, room, _lowest(swept, ALL_AT_ONCE if few else 4 * count * contests.k))
    rounds = 0
    while True:
        proposed = working.direction()
        if isinstance(proposed, Overlap):
            return proposed
        theta = room.lift(proposed)
        contests.budget.spend(float(contests.source.count_rows()) * contests.dimension)
        swept = contests.sweep(theta, count, skip)
        best.offer(theta, swept)
        rounds += 1
        new = working.add(swept, 8 * contests.dimension + 100)
        if best.theta is not None and (rounds >= MARGIN_ROUNDS or new == 0):
            return best.theta
        working.exact |= new == 0 or rounds >= MOST_FLOAT_ROUNDS


def _orthogonal_part(start: Array, vectors: Whole) -> Array:
    """Return the part of a direction that is orthogonal to some vectors, in floats; a random one where that is zero."""
    q = np.linalg.qr(np.array([rounded(row) for row in vectors]).T)[0]
    out = start - q @ (q.T @ start)
    if np.linalg.norm(out) > 1e-8 * np.linalg.norm(start):
        return out
    return np.random.default_rng(0).standard_normal(len(start))


class _Working:
    """The working set: contests considered so far, and those of which the nearest point is a combination."""

    def __init__(self, contests: Contests, room: Complement, chosen: ChosenContests) -> None:
        self.contests = contests
        self.room = room
        self.chosen = chosen
        self.support: list[int] = []
        self.exact = False  # whether floats did not decide
        self.basis: SimplexBasis | None = None
        self._u: Whole | None = None
        self.floats = self._floats(chosen)

    def direction(self) -> Whole | Overlap:
        """Return a direction of the room that wins all contests of the working set, or an overlap among them."""
        if not self.exact:
            self.support, point = nearest(self.floats, self.support, spend=self.contests.budget.spend)
            size = float(np.sqrt((self.floats**2).sum(axis=1).max()))
            if float(np.linalg.norm(point)) > ZERO_LENGTH * size and (self.floats @ point > 0).all():
                return whole(point)
            overlap = self._overlap(np.array(self.support))
            if overlap is not None:
                return overlap
            self.exact = True
        _refuse_many(self.floats.shape[1])
        if self.basis is None:
            self.basis = SimplexBasis(self.floats.shape[1])
            for i in self.support:
                self.contests.budget.spend(self.basis.work)
                self.basis.take(i, self._whole()[i])
        phi = alternative(self._whole(), self.basis, self.contests.budget.spend)
        if phi is not None:
            return phi
        rows = [(row, share) for row, share in zip(self.basis.rows, self.basis.weights, strict=True) if share > 0]
        chosen = self.chosen.of(np.array([row for row, _ in rows]))
        vectors, power = self.contests.vectors(chosen)
        share = np.empty(len(rows), dtype=object)
        share[:] = [value for _, value in rows]
        return Overlap(chosen, share, vectors, power)

    def add(self, swept: Sweep, most: int) -> int:
        """Add the lowest contests that are not in the set yet; return how many."""
        k = self.contests.k
        new = ~np.isin(swept.lowest.row * k + swept.lowest.rival, self.chosen.row * k + self.chosen.rival)
        order = np.flatnonzero(new)[np.argsort(swept.height[new], kind="stable")[:most]]
        if len(order):
            more = swept.lowest.of(order)
            if self._u is not None:
                self._u = np.concatenate([self._u, self.room.reduce(self.contests.vectors(more)[0])])
            self.floats = np.concatenate([self.floats, self._floats(more)])
            self.chosen = ChosenContests.joined([self.chosen, more])
        return len(order)

    def _overlap(self, support: NDArray[np.intp]) -> Overlap | None:
        """Return the overlap among the contests of the support; None where there is none."""
        _refuse_many(len(support))
        self.contests.budget.spend(_lifting_work(len(support), len(support)))
        chosen = self.chosen.of(support)
        vectors, power = self.contests.vectors(chosen)
        found = eliminate(self.room.reduce(vectors))
        if len(found.rest) != 1:
            return None
        share = found.dependency(0)
        if (share < 0).any():
            return None
        kept = np.flatnonzero(share > 0)
        return Overlap(chosen.of(kept), share[kept], vectors[kept], power[kept])

    def _whole(self) -> Whole:
        if self._u is None:
            self._u = self.room.reduce(self.contests.vectors(self.chosen)[0])
        return self._u

    def _floats(self, chosen: ChosenContests) -> Array:
        """Return contests modulo L in floats; where L is not empty they are computed exactly and scaled."""
        if not self.room.pivots:
            return self.contests.floats(chosen)
        work = float(len(chosen)) * len(self.room.free) * (1 + len(self.room.pivots))
        self.contests.budget.spend(INTEGER_COST * work)
        u = self.room.reduce(self.contests.vectors(chosen)[0])
        floats = np.array([rounded(row) for row in u]).reshape(u.shape)
        return np.asarray(floats / np.sqrt((floats**2).sum(axis=1, keepdims=True)))


class _Best:
    """The direction with the largest margin so far, among those that win every contest."""

    def __init__(self, contests: Contests, whole_space: bool) -> None:
        self.contests = contests
        self.centred = whole_space and contests.k == 2
        self.theta: Whole | None = None
        self.margin = -1.0

    def offer(self, theta: Whole, swept: Sweep) -> None:
        """Consider a direction; with two classes its constant is moved to the middle first."""
        if self.centred:
            floats = rounded(theta)
            above, below = swept.low[1, 0], swept.low[0, 1]
            if np.isfinite(above + below) and above + below > 0 and not abs(above - below) < 0.01 * (above + below):
                floats[0] += (below - above) / 2
                moved = whole(floats)
                again = self.contests.sweep(moved, 1)
                if again.worst > 0:
                    theta, swept = moved, again
        if swept.worst <= 0:
            return
        w = rounded(theta).reshape(self.contests.k - 1, -1)[:, 1:]
        length = float(np.sqrt((w * w).sum()))
        margin = float(swept.low.min()) / length if length > 0 else np.inf
        if margin > self.margin:
            self.theta, self.margin = theta, margin


def _lowest(swept: Sweep, most: int) -> ChosenContests:
    """Return the lowest contests, as many of each class and rival."""
    pair = swept.lowest.own * (int(swept.lowest.rival.max(initial=0)) + 1) + swept.lowest.rival
    kinds = np.unique(pair)
    each = max(most // max(len(kinds), 1), 1)
    chosen = []
    for kind in kinds:
        members = np.flatnonzero(pair == kind)
        chosen.append(members[np.argsort(swept.height[members], kind="stable")[:each]])
    return swept.lowest.of(np.concatenate(chosen))


def _sum(span: Overlap, more: Overlap) -> Overlap:
    """Return one overlap of the contests of both, where `more` is zero modulo the span.

    sum more = -sum c_i v_i over the span, c of any sign; with span times a large number added, all shares are positive.
    """
    rest = (more.share[:, None] * more.vectors).sum(axis=0)
    found = eliminate(np.concatenate([span.vectors, rest[None, :]]))
    c = found.dependency(len(found.rest) - 1)
    scale = c[-1]
    need = max([0, *(int(-value // share) + 1 for value, share in zip(c[:-1], span.share, strict=True))])
    return Overlap(
        ChosenContests.joined([span.chosen, more.chosen]),
        np.concatenate([c[:-1] + need * span.share, scale * more.share]),
        np.concatenate([span.vectors, more.vectors]),
        np.concatenate([span.power, more.power]),
    )


def _lifting_work(rows: int, columns: int) -> float:
    """Return an estimate of the work of p-adic lifting, whose steps are as many as the digits of a determinant."""
    return 5.0 * rows**3 * columns


def _refuse_many(dimension: int) -> None:
    if dimension > MOST_EXACT_ROWS:
        raise Undecided(
            f"no separating plane was found, and a proof that there is none needs exact arithmetic on {dimension} "
            f"rows, beyond the limit of {MOST_EXACT_ROWS}: drop or merge columns"
        )
