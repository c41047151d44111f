"""Penalties with corners: l1 sum_j unit_j |v_j|, the same with v >= 0, and of groups of columns together.

    l1:         sum_j c_j |v_j|                     positive:  sum_j c_j v_j, v >= 0
    groups:     sum_g sqrt(D_g) |c v|_g             of the D_g columns of a group, which enter together (Yuan, Lin 2006)

Each knows its cost, by which factor a gradient may be scaled so that zero is optimal under it, its least subgradient,
and how to lower a quadratic plus itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.solvers.smooth.proximal_newton import (
    coordinate_descent,
    least_subgradient,
    solve_definite,
    solve_support,
)

Indices = NDArray[np.intp]
ROOTS = 60  # steps to the length of a group's coefficients
ROUNDED = 4e-16  # share of that length: a step of less is rounding
FEW = 8  # sweeps over groups before Newton steps
NEWTON = 5  # steps over the groups that are not zero, between sweeps
SHORTEST = 1e-3  # share of such a step
ENOUGH = 1e-14  # of the cost: steps that lower it by less are the last


@dataclass(frozen=True)
class Corners:
    """The l1 penalty: what a coefficient costs, c (D,)."""

    c: Array

    def of(self, columns: Indices) -> Corners:
        """Return the penalty of some columns, all others zero."""
        return type(self)(self.c[columns])

    def times(self, share: float) -> Corners:
        """Return the penalty times a number."""
        return type(self)(self.c * share)

    def cost(self, v: Array) -> float:
        """Return the cost of coefficients (D,)."""
        some = np.flatnonzero(v)
        return float(self.c[some] @ np.abs(v[some]))

    def room(self, gradient: Array) -> float:
        """Return the largest s for which no coefficient would leave zero under the gradient times s."""
        felt = np.abs(gradient) > 0
        return float((self.c[felt] / np.abs(gradient[felt])).min(initial=np.inf))

    def costs(self, v: Array, shares: Array) -> Array:
        """Return the costs (L,) of coefficients (L, D) under shares (L,) of the penalty."""
        return np.asarray(shares * (np.abs(v) @ self.c))

    def rooms(self, gradient: Array, shares: Array) -> Array:
        """Return `room` of gradients (L, D) under shares (L,) of the penalty."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(gradient == 0, np.inf, self.c / np.abs(gradient))
        return np.asarray(shares * ratio.min(axis=1, initial=np.inf))

    def over(self, gradient: Array, c: Array | None = None) -> NDArray[np.bool_]:
        """Return which coefficients may leave zero under a gradient (D,), for costs c or their own."""
        return np.abs(gradient) >= (self.c if c is None else c)

    def subgradient(self, v: Array, gradient: Array) -> Array:
        """Return the least subgradient: zero at the minimum."""
        return least_subgradient(v, gradient, self.c)

    def loose(self, v: Array, gradient: Array) -> NDArray[np.bool_]:
        """Return which coefficients nothing but the quadratic holds, where corners cost nothing: all."""
        return np.ones(len(v), dtype=bool)

    def lower(self, matrix: Array, gradient: Array, v: Array, sweeps: int, enough: float) -> None:
        """Change v, and the gradient with it, towards the minimum of the quadratic plus the cost."""
        coordinate_descent(matrix, gradient, v, self.c, sweeps, enough)

    def settle(self, matrix: Array, gradient: Array, v: Array) -> None:
        """Change both to the minimum over the coefficients that are not zero, or to where the first becomes zero."""
        solve_support(matrix, gradient, v, self.c)


@dataclass(frozen=True)
class PositiveCorners(Corners):
    """The l1 penalty of coefficients that are zero or more."""

    def room(self, gradient: Array) -> float:
        """Return the largest s for which no coefficient would leave zero under the gradient times s."""
        return super().room(np.minimum(gradient, 0.0))

    def rooms(self, gradient: Array, shares: Array) -> Array:
        """Return `room` of gradients."""
        return super().rooms(np.minimum(gradient, 0.0), shares)

    def over(self, gradient: Array, c: Array | None = None) -> NDArray[np.bool_]:
        """Return which coefficients may leave zero under a gradient."""
        return -gradient >= (self.c if c is None else c)

    def subgradient(self, v: Array, gradient: Array) -> Array:
        """Return the least subgradient."""
        return np.where(v > 0, gradient + self.c, np.minimum(gradient + self.c, 0.0))

    def loose(self, v: Array, gradient: Array) -> NDArray[np.bool_]:
        """Return which coefficients the bound at zero does not hold: those above it, or drawn up from it."""
        return (v > 0) | (gradient < 0)

    def lower(self, matrix: Array, gradient: Array, v: Array, sweeps: int, enough: float) -> None:
        """Find the minimum, by solves over the coefficients above zero (Lawson, Hanson 1974)."""
        alive = matrix.diagonal() > 0
        size = np.sqrt(np.where(alive, matrix.diagonal(), 1.0))
        slope = gradient + self.c
        scale = np.abs(slope / size).max(initial=0.0) + np.abs(size * v).max(initial=0.0)
        free = alive & (v > 0)
        joined: int | None = None
        whole = 0  # solves in a row over the same coefficients: a second one refines the first
        for _ in range(3 * len(v) + 10):
            while free.any():
                some = np.flatnonzero(free)
                step = -solve_definite(matrix[np.ix_(some, some)], slope[some])
                before = v[some]
                falling = before + step < 0
                share = float((before[falling] / -step[falling]).min(initial=1.0))
                after = np.maximum(before + share * step, 0.0)
                after[falling & (before <= -share * step * (1 + 1e-12))] = 0.0
                slope += matrix[:, some] @ (after - before)
                v[some] = after
                whole = whole + 1 if share == 1.0 else 0
                if whole == 2:
                    break
                free = free & (v > 0)
            whole = 0
            if joined is not None and v[joined] <= 0:
                break  # it joined by rounding alone
            pull = np.where(alive & ~free, -slope / size, 0.0)
            joined = int(np.argmax(pull))
            if pull[joined] <= 1e-14 * scale:
                break
            free[joined] = True
        gradient[:] = slope - self.c

    def settle(self, matrix: Array, gradient: Array, v: Array) -> None:
        """Find the minimum."""
        self.lower(matrix, gradient, v, 0, 0.0)


@dataclass(frozen=True)
class GroupCorners(Corners):
    """The penalty of groups of columns, each an array of indices; every column is in one of them."""

    groups: tuple[Indices, ...]

    def of(self, columns: Indices) -> Corners:
        """Return the penalty of some columns in another order; only columns that are always zero may be missing."""
        place = np.full(len(self.c), -1, np.intp)
        place[columns] = np.arange(len(columns))
        found = (place[group] for group in self.groups)
        return GroupCorners(self.c[columns], tuple(group[group >= 0] for group in found))

    def times(self, share: float) -> Corners:
        """Return the penalty times a number."""
        return GroupCorners(self.c * share, self.groups)

    @cached_property
    def _members(self) -> tuple[Indices, Indices, Array]:
        """The columns group by group, where each group begins among them, and sqrt(D_g); empty groups are left out."""
        sizes = np.array([len(g) for g in self.groups if len(g)], np.intp)
        return np.concatenate([*self.groups, np.empty(0, np.intp)]), np.cumsum(sizes) - sizes, np.sqrt(sizes)

    def _norms(self, values: Array) -> Array:
        """Return the lengths (L, G) of the groups of vectors (L, D)."""
        order, first, _ = self._members
        return np.asarray(np.sqrt(np.add.reduceat(values[:, order] ** 2, first, axis=1)))

    def cost(self, v: Array) -> float:
        """Return the cost of coefficients (D,)."""
        return float(self.costs(v[None], np.ones(1))[0])

    def _pulls(self, gradient: Array) -> Array:
        """Return |gradient / c| / sqrt(D_g) of each group, (L, G): it may leave zero where that is above 1."""
        return np.asarray(self._norms(gradient / self.c) / self._members[2])

    def room(self, gradient: Array) -> float:
        """Return the largest s for which no coefficient would leave zero under the gradient times s."""
        return float(self.rooms(gradient[None], np.ones(1))[0])

    def costs(self, v: Array, shares: Array) -> Array:
        """Return the costs of coefficients."""
        return np.asarray(shares * (self._norms(self.c * v) @ self._members[2]))

    def rooms(self, gradient: Array, shares: Array) -> Array:
        """Return `room` of gradients."""
        with np.errstate(divide="ignore"):
            return np.asarray(shares * (1 / self._pulls(gradient)).min(axis=1, initial=np.inf))

    def over(self, gradient: Array, c: Array | None = None) -> NDArray[np.bool_]:
        """Return every coefficient: groups are not screened."""
        return np.ones(len(gradient), dtype=bool)

    def subgradient(self, v: Array, gradient: Array) -> Array:
        """Return the least subgradient."""
        order, first, root = self._members
        sizes = np.diff(np.append(first, len(order)))
        length, pull = self._norms((self.c * v)[None])[0], self._pulls(gradient[None])[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            held = np.repeat(np.where(pull > 1, 1 - 1 / pull, 0.0), sizes) * gradient[order]
            free = gradient[order] + np.repeat(root / length, sizes) * self.c[order] ** 2 * v[order]
        out = np.zeros_like(v)
        out[order] = np.where(np.repeat(length > 0, sizes), free, held)
        return out

    def lower(self, matrix: Array, gradient: Array, v: Array, sweeps: int, enough: float) -> None:
        """Sweep over the groups, each to its minimum: (H_g + sqrt(D_g) c^2 / |c v|) v = b, by the root in |c v|."""
        parts = []
        for g in self.groups:
            unit, block = self.c[g], matrix[np.ix_(g, g)]
            values, vectors = np.linalg.eigh(block / np.outer(unit, unit))
            parts.append((g, np.maximum(values, 0.0), vectors.T * unit, vectors.T / unit, matrix[g], block))
        for _ in range(min(sweeps, FEW)):
            moved = 0.0
            for g, values, turned, back, rows, block in parts:
                before = v[g]
                u = turned @ before
                new = _shrunken(values, values * u - back @ gradient[g], math.sqrt(len(g)), math.sqrt(u @ u)) @ back
                change = new - before
                if change.any():
                    gradient += change @ rows
                    moved += float(change @ block @ change)
                    v[g] = new
            if moved <= enough:
                break

    def settle(self, matrix: Array, gradient: Array, v: Array) -> None:
        """Take Newton steps over the groups that are not zero, where the cost is smooth, while they lower it."""
        for _ in range(NEWTON):
            slope, bend = self._smooth(v)
            some = np.flatnonzero(slope.astype(bool) & (matrix.diagonal() > 0))
            if not len(some):
                return
            curved = matrix[np.ix_(some, some)]
            step = -solve_definite(curved + bend[np.ix_(some, some)], (gradient + slope)[some])
            along, square = float(gradient[some] @ step), float(step @ curved @ step)
            share, cost = 1.0, self.cost(v)
            while share > SHORTEST:
                new = v.copy()
                new[some] += share * step
                fall = cost - self.cost(new) - share * along - 0.5 * share**2 * square
                if fall > 0:
                    break
                share *= 0.25
            else:
                return
            gradient += matrix[:, some] @ (new - v)[some]
            v[:] = new
            if fall <= ENOUGH * cost:
                return

    def _smooth(self, v: Array) -> tuple[Array, Array]:
        """Return the gradient (D,) and the second derivatives (D, D) of the cost, zero for groups at zero."""
        slope, bend = np.zeros_like(v), np.zeros((len(v), len(v)))
        for g in self.groups:
            pull = self.c[g] ** 2 * v[g]
            length = math.sqrt(pull @ v[g])
            if length > 0:
                cost = math.sqrt(len(g)) / length
                slope[g] = cost * pull
                bend[np.ix_(g, g)] = cost * (np.diag(self.c[g] ** 2) - np.outer(pull, pull / length**2))
        return slope, bend


def _shrunken(values: Array, b: Array, cost: float, length: float) -> Array:
    """Return the minimum u of 1/2 u' diag(values) u - b'u + cost |u|: u = b / (values + cost/|u|).

    `length` is where the search for |u| begins; zero if nothing is known of it.
    """
    size = math.sqrt(b @ b)
    if size <= cost:
        return np.zeros_like(b)
    low, high = 0.0, (size - cost) / max(float(values.min()), 1e-300)
    if not 0 < length < high:
        length = (size - cost) / float(values.max())
    for _ in range(ROOTS):
        # f(length) = |b / (values length + cost)| - 1 falls; Newton's step on 1/|.|, which is nearly straight
        below = values * length + cost
        part = b / below
        square = part * part
        size = math.sqrt(square.sum())
        low, high = (length, high) if size > 1 else (low, length)
        fall = float(square @ (values / below))
        new = length + (size - 1) * size**2 / fall if fall > 0 else 0.5 * (low + high)
        if abs(new - length) <= ROUNDED * length:
            break
        length = new if low < new < high else 0.5 * (low + high)
    return np.asarray(b * (length / (values * length + cost)))
