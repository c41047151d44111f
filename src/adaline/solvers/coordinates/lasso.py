"""The minimum of a quadratic under a ridge penalty and one with corners, by coordinate descent on second moments.

    P(v) = Q(v) + sum_j ridge_j/2 v_j^2 + corners(v)

Sweeps over a working set of coordinates find which are zero, and the signs of the others; where they are slow, as with
nearly dependent columns, one solve over the coefficients that are not zero ends them. The gradient over all columns
then gives the duality gap: ridge penalties are rows added to the data, whose residual r is scaled by s until zero is
optimal under -s z'r, and

    P(v) - min P <= P(v) - (s r'y - s^2/2 r'r),      r'r = total + v'(g - c),   r'y = total - c'v,   z'r = -g

all of which come from the second moments: no row is read. If corners cost nothing, no such s exists, and if they cost
next to nothing, rounding leaves none: in both cases second derivatives bound the gap.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg

from adaline.arrays import Array
from adaline.solvers.coordinates.corners import Corners
from adaline.solvers.coordinates.quadratics import Indices, Quadratics
from adaline.solvers.smooth.proximal_newton import coordinate_descent
from adaline.sources.threads import one_blas_thread

# sweeps between checks of the gap; doubling it halves the checks, and takes up to 10 unneeded sweeps
SWEEPS_A_CHECK = 10
MOST_ROUNDS = 200  # rounds of sweeps and checks; doubling it doubles the time before a machine is given up
# checks of the gap before nonzero coefficients are solved for; doubling it takes 20 more sweeps
CHECKS_BEFORE_SOLVE = 2
# solves after which coefficients join one by one; doubling it takes two more solves where signs still change
SOLVES_BEFORE_JOINING = 2
# solves that do not lower the gradient, after which a machine is stuck; doubling it takes five more before that
MOST_STALLS = 5
# nonzero coefficients that postpone a solve, cubic in them, by a check; doubling it takes fewer sweeps, larger solves
LARGE_SUPPORT = 250
# sweeps per call over machines of few columns; doubling it takes fewer calls, and more unneeded sweeps
SWEEPS_A_CALL = 300
# nonzero coefficients up to which they are finally solved for exactly; doubling it takes 8 times as long
MOST_SOLVED = 2000
# part of a gradient outside the range of G, relative to the target's size, that is rounding; 10x larger solves more
# systems
RANGE_ROUNDING = 1e-11
# rounding of a gradient, relative to the target's size; 10x larger ends stuck machines earlier
GRADIENT_ROUNDING = 64 * math.ulp(1.0)
# factor on the gap aimed at where rounding left more than was wanted; nearer to 1 takes more attempts
GAP_TIGHTENING = 0.1
# smallest share of the wanted gap aimed at; 10x smaller takes another attempt before a gap stays unproven
FINEST_SHARE = 1e-3


class Lasso:
    """Coefficients v (D,) of quadratic m, and g = G v - c there: where the last penalties have led."""

    def __init__(self, quadratics: Quadratics, m: int) -> None:
        self.quadratics, self.m = quadratics, m
        self.c, self.total = quadratics.c[m], float(quadratics.total[m])
        self.diagonal = quadratics.diagonal[m]
        self.v, self.g = np.zeros_like(self.c), -self.c
        self.gap = np.inf
        self.share = float(quadratics.weight[m] / quadratics.weight[0])
        self.matrix = np.zeros((0, 0))
        self.columns = np.zeros(0, np.intp)  # those that steps move, in the order of the matrix

    def wants(self, corners: Corners, last: Corners) -> Indices:
        """Return the columns that the strong rule cannot rule out after the penalty `last`."""
        return np.flatnonzero(corners.over(self.g, 2 * corners.c - last.c) & (self.diagonal > 0))

    def missing(self, corners: Corners) -> Indices:
        """Return the columns whose coefficients should leave zero, and that steps do not move yet."""
        over = corners.over(self.g) & (self.diagonal > 0)
        over[self.columns] = False
        return np.flatnonzero(over)

    def join(self, columns: Indices) -> None:
        """Let steps move these columns too."""
        self.columns, self.matrix = self.quadratics.widened(self.m, self.columns, self.matrix, columns)

    def solve(self, corners: Corners, ridge: Array, wanted: float) -> Array:
        """Step to the minimum over the columns that have joined, to a gap of `wanted` among these.

        Return the change of the coefficients, (D,); g has to be brought up to it.
        """
        columns = self.columns
        where, matrix, own = np.arange(len(columns)), self.matrix, ridge[columns]
        matrix[where, where] = np.where(self.diagonal[columns] > 0, self.diagonal[columns] + own, 0.0)
        few, some, c = self.v[columns], corners.of(columns), self.c[columns]
        gradient = self.g[columns] + own * few
        enough, last, stalls = 0.01 * wanted, np.inf, 0
        patience = CHECKS_BEFORE_SOLVE + np.count_nonzero(few) // LARGE_SUPPORT
        for look in range(MOST_ROUNDS):
            some.lower(matrix, gradient, few, SWEEPS_A_CHECK, enough)
            left = some.subgradient(few, gradient)
            if self._bound(some, gradient, few, c, left) <= wanted:
                break
            if look >= patience:
                with one_blas_thread():
                    (some.settle if look < patience + SOLVES_BEFORE_JOINING else some.end)(matrix, gradient, few)
                left = some.subgradient(few, gradient)
                size = float((left**2 / np.maximum(self.diagonal[columns], 1e-300)).sum())
                stalls += not size < 0.9 * last
                stuck = not size < 0.9 * last and (stalls > MOST_STALLS or size <= GRADIENT_ROUNDING**2 * self.total)
                if self._bound(some, gradient, few, c, left) <= wanted or stuck:
                    break
                last = min(size, last)
            enough *= 0.1
        change: Array = np.zeros_like(self.v)
        change[columns] = few - self.v[columns]
        self.v[columns] = few
        if len(columns) == len(self.v):
            self.g[columns] = gradient - own * few
            change[:] = 0.0
        return np.asarray(change)

    def polish(self, corners: Corners, ridge: Array) -> None:
        """Solve for the coefficients that are not zero, as exactly as the sums allow."""
        support = np.flatnonzero(self.v)
        if type(corners) is not Corners or not 0 < len(support) <= MOST_SOLVED:
            return
        before, gap = (self.v.copy(), self.g.copy()), self.gap
        matrix = self.quadratics.among(self.m, support)
        matrix[np.diag_indices(len(support))] += ridge[support]
        few = self.v[support]
        for _ in range(2):
            gradient = self.g[support] + ridge[support] * few
            corners.of(support).settle(matrix, gradient, few)
            change = np.zeros_like(self.v)
            change[support] = few - self.v[support]
            self.v[support] = few
            self.g = self.g + self.quadratics.apply([self.m], change[None])[0]
        if not self.measure(corners, ridge) <= gap:
            (self.v, self.g), self.gap = before, gap

    def measure(self, corners: Corners, ridge: Array) -> float:
        """Return a bound on P(v) - min P, and keep it."""
        gradient = self.g + ridge * self.v
        self.gap = self._bound(corners, gradient, self.v, self.c, self.subgradient(corners, ridge))
        if math.isinf(self.gap):
            self.gap = self.curved(corners, ridge)
        return self.gap

    def _bound(self, corners: Corners, gradient: Array, v: Array, c: Array, left: Array) -> float:
        """Return the duality gap over some columns, which have subgradients `left`; infinity where there is none."""
        if not corners.c.any():
            return math.inf if left.any() else 0.0
        some = np.flatnonzero(v)
        few, part = v[some], c[some]
        rr, ry = self.total + float(few @ (gradient[some] - part)), self.total - float(part @ few)
        share = min(max(ry / rr, 0.0), corners.room(gradient)) if rr > 0 else 0.0
        return max(0.5 * rr + corners.cost(v) - share * ry + 0.5 * share**2 * rr, 0.0)

    def objective(self, corners: Corners, ridge: Array) -> float:
        """Return P(v)."""
        some = np.flatnonzero(self.v)
        few = self.v[some]
        slopes = self.g[some] + ridge[some] * few - self.c[some]
        return 0.5 * (self.total + float(few @ slopes)) + corners.cost(self.v)

    def subgradient(self, corners: Corners, ridge: Array) -> Array:
        """Return the least subgradient of P, (D,): zero at the minimum."""
        return np.where(self.diagonal > 0, corners.subgradient(self.v, self.g + ridge * self.v), 0.0)

    def curved(self, corners: Corners, ridge: Array) -> float:
        """Return the gap that second derivatives prove; infinity where G is not known, or nothing is proven.

        S has the coefficients that are not at rest at zero, s is their least subgradient, H = G + ridge, z = H_S^-1 s.
        Then u = H z is a subgradient too, as long as it leaves the others inside their corners, and P(v) - min P is at
        most 1/2 u'H^-1 u = 1/2 s'z, whatever the rank of H, as u lies in its range. What s has outside of it, f, moves
        corners alone, by f'(v - minimum), where those of the minimum cost at most P(v).
        """
        gradient, left = self.g + ridge * self.v, self.subgradient(corners, ridge)
        if len(self.quadratics.known) < len(self.v):
            return math.inf
        moving = (self.diagonal > 0) & ((self.v != 0) | (left != 0))
        while moving.any():
            some = np.flatnonzero(moving)
            values, vectors, size = self._spectrum(some, ridge)
            along = vectors.T @ (left[some] / size)
            kept = values > 0
            if np.linalg.norm(along[~kept]) > RANGE_ROUNDING * math.sqrt(self.total):
                return math.inf
            flat = size * np.abs(vectors[:, ~kept] @ along[~kept])
            z = np.zeros_like(self.v)
            z[some] = vectors[:, kept] @ (along[kept] / values[kept]) / size
            there = gradient - self.quadratics.apply([self.m], z[None])[0] - ridge * z
            drawn = (self.diagonal > 0) & ~moving & (corners.subgradient(self.v, there) != 0)
            if not drawn.any():
                least = 0.5 * float((along[kept] ** 2 / values[kept]).sum())
                costs = corners.c[some] > 0
                share = float((flat[costs] / corners.c[some][costs]).max(initial=0.0))
                return least + share * (corners.cost(self.v) + self.objective(corners, ridge))
            moving |= drawn
        return 0.0

    def _spectrum(self, columns: Indices, ridge: Array) -> tuple[Array, Array, Array]:
        """Return values and vectors of G + ridge of columns of unit size, and their sizes; rounding is zero."""
        matrix = self.quadratics.among(self.m, columns)
        matrix[np.diag_indices(len(columns))] += ridge[columns]
        size = np.sqrt(matrix.diagonal())
        values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
        return np.where(values > 8 * len(columns) * math.ulp(1.0), values, 0.0), vectors, size

    def rank(self, ridge: Array) -> int:
        """Return the rank of G + ridge."""
        return int(np.count_nonzero(self._spectrum(np.flatnonzero(self.diagonal > 0), ridge)[0]))


class Together:
    """Machines of few columns as one, whose matrix has theirs along its diagonal: one call sweeps over all of them."""

    def __init__(self, machines: list[Lasso]) -> None:
        self.machines = machines
        self.v, self.g = np.stack([one.v for one in machines]), np.stack([one.g for one in machines])
        for k, one in enumerate(machines):
            one.v, one.g = self.v[k], self.g[k]
        quadratics = machines[0].quadratics
        self.matrix = linalg.block_diag(*(quadratics.among(one.m, quadratics.known) for one in machines))
        self.diagonal = self.matrix.diagonal().copy()
        self.c, self.total = np.stack([one.c for one in machines]), np.array([one.total for one in machines])
        self.share = np.array([[one.share] for one in machines])

    def solve(self, corners: Corners, ridge: Array, wanted: Array) -> list[Lasso]:
        """Step to the minima under l1; return the machines whose gaps are above `wanted`."""
        own, cost = ridge * self.share, corners.c * self.share
        np.fill_diagonal(self.matrix, np.where(self.diagonal > 0, self.diagonal + own.ravel(), 0.0))
        gradient = self.g + own * self.v
        # steps are measured by their squares, and a gap is linear in them
        gaps, enough = wanted, 0.01 * float((wanted**2 / np.maximum(self.total, 1e-300)).min())
        for _ in range(CHECKS_BEFORE_SOLVE):
            coordinate_descent(
                self.matrix, gradient.reshape(-1), self.v.reshape(-1), cost.reshape(-1), SWEEPS_A_CALL, enough
            )
            rr = self.total + (self.v * (gradient - self.c)).sum(axis=1)
            ry = self.total - (self.c * self.v).sum(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(gradient == 0, math.inf, cost / np.abs(gradient)).min(axis=1)
                share = np.where(rr > 0, np.minimum(np.maximum(ry / rr, 0.0), room), 0.0)
            gaps = 0.5 * rr + (cost * np.abs(self.v)).sum(axis=1) - share * ry + 0.5 * share**2 * rr
            if (gaps <= wanted).all():
                break
            enough *= GAP_TIGHTENING
        self.g[:] = gradient - own * self.v
        for one, gap in zip(self.machines, np.maximum(gaps, 0.0).tolist(), strict=True):
            one.gap = gap
        return [one for one in self.machines if not one.gap <= wanted[one.m]]


def solve_all(machines: list[Lasso], corners: Corners, last: Corners, ridge: Array, wanted: Array) -> bool:
    """Step all machines to their minima under a penalty, from those under `last`, to gaps of `wanted`, one for each m.

    A machine that learns from a share of the rows has that share of the penalties, so that these mean the same to it.
    Return False where there is no memory for the rows of G that this needs.
    """
    quadratics = machines[0].quadratics
    own = {machine.m: corners.times(machine.share) for machine in machines}
    joining = [machine.wants(own[machine.m], last.times(machine.share)) for machine in machines]
    aims = {machine.m: float(wanted[machine.m]) for machine in machines}
    left = machines
    for _ in range(MOST_ROUNDS):
        ranking = np.abs(machines[0].g) / np.where(corners.c > 0, corners.c, 1.0)
        if not quadratics.need(np.unique(np.concatenate(joining)), ranking):
            return False
        for machine, new in zip(left, joining, strict=True):
            machine.join(new)
        changes = np.stack([one.solve(own[one.m], ridge * one.share, aims[one.m]) for one in left])
        if changes.any():
            for machine, change in zip(left, quadratics.apply([one.m for one in left], changes), strict=True):
                machine.g = machine.g + change
        again, joining = [], []
        for machine in left:
            if machine.measure(own[machine.m], ridge * machine.share) <= wanted[machine.m]:
                continue
            missing = machine.missing(own[machine.m])
            if not len(missing):
                aims[machine.m] *= GAP_TIGHTENING
                if aims[machine.m] < FINEST_SHARE * wanted[machine.m]:
                    continue
            joining.append(missing)
            again.append(machine)
        if not again:
            break
        left = again
    return True
