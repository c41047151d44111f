"""Penalties with corners: l1 sum_j unit_j |v_j|, the same with v >= 0, and of groups of columns together.

    l1:         sum_j c_j |v_j|                     positive:  sum_j c_j v_j, v >= 0
    groups:     sum_g sqrt(D_g) |c v|_g             of the D_g columns of a group, which enter together (Yuan, Lin 2006)

Each class has methods for its cost, for the factor by which a gradient must be scaled so that zero is optimal, for the
smallest subgradient, and for lowering the sum of a quadratic and the penalty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.attributes import give_attributes, own_attributes
from adaline.solvers.smooth.orthant_newton import least_subgradient
from adaline.solvers.smooth.proximal_newton import (
    coordinate_descent,
    solve_active,
    solve_definite,
    solve_support,
)

Indices = NDArray[np.intp]
FIRST_SWEEPS = 2  # sweeps over groups before Newton steps; doubling it repeats fewer Newton steps, for two more sweeps
# Newton steps over the groups that are not zero, between sweeps; doubling it lets groups become zero later
NEWTON_STEPS = 5
SHORTEST_STEP = 1e-3  # share of a Newton step at which its line search gives up; 10x larger leaves more steps to sweeps
# relative gain of a step below which it is the last; 10x larger loses half a digit of the coefficients
LAST_GAIN = 1e-14


@dataclass(frozen=True)
class Corners:
    """The l1 penalty, with the cost of each coefficient, c (D,)."""

    c: Array

    def of(self, columns: Indices) -> Corners:
        """Return the penalty of some columns, all others zero."""
        return type(self)(self.c[columns])

    def times(self, share: Any) -> Corners:
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

    def subgradients(self, v: Array, gradient: Array, shares: Array) -> Array:
        """Return the least subgradients (L, D) of coefficients (L, D) under shares (L,) of the penalty."""
        return self.times(shares[:, None]).subgradient(v, gradient)

    def lower(self, matrix: Array, gradient: Array, v: Array, sweeps: int, enough: float) -> None:
        """Change v, and the gradient with it, towards the minimum of the quadratic plus the cost."""
        coordinate_descent(matrix, gradient, v, self.c, sweeps, enough)

    def settle(self, matrix: Array, gradient: Array, v: Array) -> None:
        """Change both to the minimum over the coefficients that are not zero, or to where the first becomes zero."""
        solve_support(matrix, gradient, v, self.c)

    def end(self, matrix: Array, gradient: Array, v: Array) -> None:
        """Change both to the minimum, where sweeps and `settle` are slow to find which coefficients are zero."""
        solve_active(matrix, gradient, v, self.c)


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

    end = settle


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

    def times(self, share: Any) -> Corners:
        """Return the penalty times a number."""
        out = GroupCorners(self.c * share, self.groups)
        known = own_attributes(self)
        give_attributes(out, {name: known[name] for name in ("_members", "_pairs") if name in known})
        return out

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

    def subgradients(self, v: Array, gradient: Array, shares: Array) -> Array:
        """Return the least subgradients."""
        each = zip(shares.tolist(), v, gradient, strict=True)
        return np.array([self.times(share).subgradient(*one) for share, *one in each]).reshape(v.shape)

    def lower(self, matrix: Array, gradient: Array, v: Array, sweeps: int, enough: float) -> None:
        """Sweep over the groups, each to its minimum under the largest curvature h of its block.

        w = c v <- a max(1 - sqrt(D_g) / (h |a|), 0),  a = w - gradient / (c h): exact for a group of one column.
        """
        steepest = self._steepest(matrix)
        parts = [(g, self.c[g], math.sqrt(len(g)), matrix[g]) for g in self.groups if len(g)]
        for _ in range(min(sweeps, FIRST_SWEEPS)):
            moved = 0.0
            awake = (self._norms(v[None])[0] > 0) | (self._pulls(gradient[None])[0] > 1)
            for k in np.flatnonzero(awake & (steepest > 0)).tolist():
                g, unit, root, rows = parts[k]
                h, before = steepest[k], v[g]
                a = unit * before - gradient[g] / (unit * h)
                length = math.sqrt(a @ a)
                change = a * (max(1 - root / (h * length), 0.0) if length else 0.0) / unit - before
                if change.any():
                    gradient += change @ rows
                    moved += h * float((unit * change) @ (unit * change))
                    v[g] = before + change
            if moved <= enough:
                break

    def _steepest(self, matrix: Array) -> Array:
        """Return the largest curvature of each group's block by c v, (G,)."""
        order, first, root = self._members
        sizes, out = np.diff(np.append(first, len(order))), np.zeros(len(root))
        for size in np.unique(sizes).tolist():
            g = order[first[sizes == size][:, None] + np.arange(size)]
            blocks = matrix[g[:, :, None], g[:, None, :]] / (self.c[g][:, :, None] * self.c[g][:, None, :])
            out[sizes == size] = np.linalg.eigvalsh(blocks)[:, -1]
        return out

    def settle(self, matrix: Array, gradient: Array, v: Array) -> None:
        """Take Newton steps over the groups that are not zero, where the cost is smooth, while they lower it."""
        for _ in range(NEWTON_STEPS):
            slope, bend = self._smooth(v)
            some = np.flatnonzero(slope.astype(bool) & (matrix.diagonal() > 0))
            if not len(some):
                return
            curved = matrix[np.ix_(some, some)]
            step = -solve_definite(curved + bend[np.ix_(some, some)], (gradient + slope)[some])
            along, square = float(gradient[some] @ step), float(step @ curved @ step)
            share, cost = 1.0, self.cost(v)
            while share > SHORTEST_STEP:
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
            if fall <= LAST_GAIN * cost:
                return

    end = settle

    def _smooth(self, v: Array) -> tuple[Array, Array]:
        """Return the gradient (D,) and the second derivatives (D, D) of the cost, zero for groups at zero."""
        order, first, root = self._members
        sizes = np.diff(np.append(first, len(order)))
        length = self._norms((self.c * v)[None])[0]
        cost = np.divide(root, length, out=np.zeros_like(length), where=length > 0)
        square, steep = self.c[order] ** 2, np.repeat(cost, sizes)
        pull = square * v[order]
        slope, bend = np.zeros_like(v), np.zeros((len(v), len(v)))
        slope[order], bend[order, order] = steep * pull, steep * square
        i, j = self._pairs
        over = np.repeat(cost**3 / root**2, sizes)
        bend[order[i], order[j]] -= over[i] * pull[i] * pull[j]
        return slope, bend

    @cached_property
    def _pairs(self) -> tuple[Indices, Indices]:
        """All pairs of columns of the same group, by their places in the order of `_members`."""
        order, first, _ = self._members
        sizes = np.diff(np.append(first, len(order)))
        each = [f + np.indices((d, d)).reshape(2, -1) for f, d in zip(first.tolist(), sizes.tolist(), strict=True)]
        i, j = np.concatenate([np.empty((2, 0), np.intp), *each], axis=1)
        return i, j
