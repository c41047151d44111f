"""The point of a convex hull that is nearest to zero (Wolfe, 1976), in floats, and Gordan's alternative, exactly.

    minimise ||y||,   y = sum lambda_i z_i,   lambda >= 0,   sum lambda = 1

If y is not zero, z_i . y >= ||y||^2 for every row: y separates with the largest margin there is. If y is zero, lambda
proves that no y separates. In floats both are only candidates, which exact arithmetic checks.

Gordan's alternative: a direction with u_i . phi > 0 for all rows, or weights lambda >= 0 that add up to one with
sum lambda_i u_i = 0. Always exactly one of them exists. It is decided by the dual simplex method with nothing to
minimise. A basis B of columns a_i = (u_i, 1) gives lambda = B^-1 (0, 1). Where some lambda_k is negative, row k of B^-1
is a direction rho = (phi, c) with c < 0: if rho . a_i >= 0 for every row, then u_i . phi >= -c > 0 separates; else a
row with rho . a_i < 0 replaces row k. B^-1 is kept as integers over one determinant (Edmonds), so that a pivot has no
fractions and no rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.arrays import Array
from adaline.separation.budget import INTEGER_COST
from adaline.separation.exact import Whole

# margin, relative to the largest, at which a direction is good enough; nearer to 1 takes more rounds
ENOUGH_MARGIN = 0.9
ZERO_LENGTH = 1e-14  # length, relative to those of the rows, that is rounding; 10x larger guesses overlaps earlier
# rows of a support from which its factor is updated, not computed again; doubling it makes mid-sized supports slower
LEAST_UPDATED_ROWS = 40
MOST_UPDATES = 50  # updates of a factor before it is computed again; doubling it is faster, with more rounding
# pivots per dimension by the largest violation, before those by index, which cannot cycle (Bland); doubling it ends
# cycles later
GREEDY_PIVOTS = 4


def nearest(
    rows: Array,
    start: list[int] | None = None,
    enough: float = ENOUGH_MARGIN,
    spend: Callable[[float], None] = lambda work: None,
) -> tuple[list[int], Array]:
    """Return the nearest point of the hull of rows (n, p), or one with `enough` of the largest margin, and the rows of
    which it is a combination, at most p + 1, before it.

    `start`: its rows before others were added. `spend`: called with the work of each step.

    Cost: n p + s p a step for a support of s rows; steps are several times s.
    """
    squares = (rows * rows).sum(axis=1)
    size = float(np.sqrt(squares.max()))
    first = start or [int(squares.argmin())]
    plane = _Plane(rows, first)
    share, point = _nearest_in_plane(plane, np.full(len(first), 1.0 / len(first)))
    for _ in range(100 * rows.shape[1] + 1000):
        length = float(point @ point)
        spend(rows.size + 4.0 * len(plane.support) * rows.shape[1])
        if length <= (ZERO_LENGTH * size) ** 2:
            break
        heights = rows @ point
        lowest = int(heights.argmin())
        if heights[lowest] > enough * length or lowest in plane.support:
            break
        before = list(plane.support), point
        plane.add(lowest)
        share, point = _nearest_in_plane(plane, np.append(share, 0.0))
        if not float(point @ point) < length * (1 - 1e-13):
            return before
    return list(plane.support), point


def _nearest_in_plane(plane: _Plane, share: Array) -> tuple[Array, Array]:
    """Return shares and point nearest to zero in the plane through the support; rows of negative shares are dropped."""
    while True:
        wanted, point = plane.nearest()
        falling = wanted <= 0
        if not falling.any():
            return wanted, point
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(falling, share / (share - wanted), np.inf)
        reach = np.where(np.isnan(reach), 0.0, reach)
        step = min(float(reach.min()), 1.0)
        share = share + step * (wanted - share)
        gone = falling & (reach <= step)
        share = np.maximum(share[~gone], 0.0)
        plane.drop(np.flatnonzero(gone))
        total = float(share.sum())
        share = share / total if total > 0 else np.full(len(share), 1.0 / len(share))


class _Plane:
    """The plane through some rows: their differences from the first of them, as Q R."""

    def __init__(self, rows: Array, support: list[int]) -> None:
        self.rows = rows
        self.support = list(support)
        self.changes = 0
        self.q: Array = np.empty((0, 0))
        self.r: Array = np.empty((0, 0))
        self._factor()

    def add(self, row: int) -> None:
        """Add a row to the support."""
        self.support.append(row)
        s, p = len(self.support), self.rows.shape[1]
        if self.changes >= MOST_UPDATES or not LEAST_UPDATED_ROWS < s <= p:
            self._factor()
            return
        away = self.rows[row] - self.rows[self.support[0]]
        update: Any = linalg.qr_insert
        self.q, self.r = update(self.q, self.r, away, s - 2, which="col", check_finite=False)
        self.changes += 1

    def drop(self, indices: NDArray[np.intp]) -> None:
        """Remove some rows from the support, by their indices in it."""
        kept = np.delete(np.arange(len(self.support)), indices)
        self.support = [self.support[i] for i in kept]
        if len(indices) > 1 or indices[0] == 0 or not LEAST_UPDATED_ROWS < len(kept) < self.rows.shape[1]:
            self._factor()
            return
        downdate: Any = linalg.qr_delete
        self.q, self.r = downdate(self.q, self.r, int(indices[0]) - 1, which="col", check_finite=False)
        self.changes += 1

    def nearest(self) -> tuple[Array, Array]:
        """Return shares (of any sign) of the point nearest to zero, and the point.

        The point is the part of a corner that is orthogonal to the differences, taken twice: so it is right to all
        digits of its own length, however short it is.
        """
        corner = self.rows[self.support[0]]
        if len(self.support) == 1:
            return np.ones(1), corner
        along = self.q.T @ corner
        diagonal = np.abs(np.diagonal(self.r))
        if len(self.support) - 1 > len(corner) or diagonal.min() <= ZERO_LENGTH * diagonal.max():
            share = np.linalg.lstsq((self.rows[self.support[1:]] - corner).T, -corner, rcond=None)[0]
        else:
            share = np.linalg.solve(self.r, -along)
        point = corner - self.q @ along
        point = point - self.q @ (self.q.T @ point)
        if len(self.support) > len(corner):
            point = np.zeros_like(corner)
        return np.concatenate([[1.0 - share.sum()], share]), point

    def _factor(self) -> None:
        corners = self.rows[self.support]
        self.q, self.r = np.linalg.qr((corners[1:] - corners[0]).T)
        self.changes = 0


class SimplexBasis:
    """The inverse of a basis, table / det with det > 0; slots without a row have a unit vector of weight 0."""

    def __init__(self, dimension: int) -> None:
        self.table: Whole = np.eye(dimension + 1, dtype=np.int64).astype(object)
        self.det = 1
        self.rows = [-1] * (dimension + 1)

    def take(self, row: int, u: Whole, slot: int | None = None) -> bool:
        """Put a row into a slot, or into an empty one; return False where it depends on the rows in the basis."""
        along = self.table[:, :-1] @ u + self.table[:, -1]
        if slot is None:
            empty = [k for k, there in enumerate(self.rows) if there < 0 and along[k] != 0]
            if not empty:
                return False
            slot = empty[0]
        pivot, kept = along[slot], self.table[slot].copy()
        self.table = (self.table * pivot - np.multiply.outer(along, kept)) // self.det
        self.table[slot] = kept
        self.det = pivot
        if pivot < 0:
            self.table, self.det = -self.table, -pivot
        self.rows[slot] = row
        return True

    @property
    def work(self) -> float:
        """The work of taking a row, in products of floats; that of long integers grows with their length."""
        return INTEGER_COST * len(self.rows) ** 2 * math.pow(1.0 + self.det.bit_length() / 64, 1.6)

    @property
    def weights(self) -> Whole:
        """The weights of the rows in the basis, times det."""
        return self.table[:, -1]


def alternative(u: Whole, basis: SimplexBasis, spend: Callable[[float], None]) -> Whole | None:
    """Return a direction phi with u_i . phi > 0 for all rows (n, q), or None where the basis proves there is none.

    The basis may hold rows of u from before; it is changed. Each change is paid for by `spend`.
    """
    greedy = GREEDY_PIVOTS * (u.shape[1] + 1)
    while True:
        weights = basis.weights
        row = np.array(basis.rows)
        wrong = np.flatnonzero(((row < 0) & (weights != 0)) | ((row >= 0) & (weights < 0)))
        if not len(wrong):
            return None
        k = max(wrong, key=lambda i: abs(weights[i])) if greedy > 0 else min(wrong, key=lambda i: basis.rows[i])
        rho = basis.table[k] if weights[k] < 0 else -basis.table[k]
        heights = u @ rho[:-1]
        if (heights > 0).all():
            return np.asarray(rho[:-1])
        entering = int(heights.argmin()) if greedy > 0 else int(np.flatnonzero(heights < -rho[-1])[0])
        spend(basis.work)
        basis.take(entering, u[entering], int(k))
        greedy -= 1
