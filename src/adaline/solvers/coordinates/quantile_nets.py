"""Quantile regression under an l1 penalty: a linear program over the columns that matter, proven over all of them.

    primal  min over (w0, v)  sum_n weight_n (level r_n^+ + (1 - level) r_n^-) + sum_j c_j |v_j|,   r = t - w0 - z v
    dual    max over e        sum_n weight_n e_n t_n,   level - 1 <= e <= level,  sum weight e = 0,  |z'(weight e)| <= c

|c v| is the loss of two rows, c v and -c v, with a target of zero, so that the penalised program is quantile regression
with 2 D more rows. A column that is zero at the minimum is left out of it; the dual solution says which were not. Any
dual solution is feasible once it is shrunken towards e = 0, and its value then bounds the objective from below.

With more columns than rows, a tiny penalty leaves equations that are singular to rounding. The program's dual solution
then lacks digits; the rows on the plane and the columns in use determine another one. If that proves nothing either,
the penalty falls in steps, to a vertex that is the minimum under all smaller penalties too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adaline.arrays import Array
from adaline.solvers.coordinates.corners import Corners
from adaline.solvers.coordinates.quadratics import Indices
from adaline.solvers.robust.quantile import solve_program
from adaline.sources.threads import one_blas_thread

MOST_ROUNDS = 50  # programs with more and more columns; doubling it matters only for failures
LEAST_JOINING = 32  # columns that join at once; doubling it solves fewer and larger programs
EXCESS_TOL = 1e-9  # share by which rounding lets a dual solution exceed a penalty; 10x larger may miss columns
# penalty, relative to the largest derivative, from which the program has it; 10x larger leaves out more
LEAST_FELT_PENALTY = 1e-10
ROUNDING = 1e-13  # share by which derivatives may exceed a penalty by rounding; 10x larger proves more
PROVEN_GAP = 1e-9  # gap, relative to the objective, at which a path point is proven; 10x larger loses a digit
ON_PLANE = 1e-11  # residual, relative to its terms, that counts as zero; 10x larger puts more rows on the plane
PENALTY_STEP = 0.1  # factor from one penalty to the next; nearer to 1 takes more programs, with better starts
MOST_STEPS = 15  # such penalties; doubling it matters only for failures
# size, relative to the largest coefficient or the targets, that is rounding; 10x larger zeroes more coefficients
ZERO_SIZE = 1e-15


@dataclass
class QuantileLasso:
    """A machine of rows z (n, D), targets t (n,) of size about one, and weights (n,), and where the last penalty led.

    `theta` (1 + D,) are its weights, `e` (n,) the dual solution, `gap` bounds the objective above its minimum.
    """

    z: Array
    t: Array
    weight: Array
    level: float
    intercept: bool
    theta: Array
    e: Array
    gap: float = np.inf

    @one_blas_thread()
    def solve(self, corners: Corners, last: Corners) -> None:
        """Step to the minimum under a penalty, from that under `last`: at once, or by penalties between.

        Without a penalty, many planes may go through all rows. The shortest is the minimum under penalties between.
        """
        start = self.theta, self.e
        self._reach(corners, last)
        best = self.gap, self.objective(corners), self.theta, self.e
        shortest = len(self.theta) <= len(self.t) or bool(corners.c.all())
        (self.theta, self.e), far = start, last
        for _ in range(MOST_STEPS):
            if (shortest and self._enough(best[0], best[1])) or (far.c <= corners.c).all():
                break
            near = Corners(np.maximum(corners.c, PENALTY_STEP * far.c))
            self._reach(near, far)
            solved = self._enough(self.gap, self.objective(near))
            there, far = self.e, near
            self._prove(corners)
            found = self.gap, self.objective(corners), self.theta, self.e
            settled = solved and self._enough(found[0], found[1])
            best = found if settled and not shortest else min(best, found, key=lambda one: one[0])
            shortest = shortest or settled
            self.e = there
        self.gap, _, self.theta, self.e = best

    def _reach(self, corners: Corners, last: Corners) -> None:
        """Solve programs of more and more columns until none is missing."""
        keep = (self.theta[1:] != 0) | corners.over(self.pull(), 2 * corners.c - last.c)
        for _ in range(MOST_ROUNDS):
            self._program(np.flatnonzero(keep), corners.c)
            excess = np.where(keep, 0.0, np.abs(self.pull()) - (1 + EXCESS_TOL) * corners.c)
            worst = np.argsort(-excess)[: min(max(LEAST_JOINING, int(keep.sum())), np.count_nonzero(excess > 0))]
            if not len(worst):
                break
            keep[worst] = True
        self.gap = self._gap(corners)
        if not self._enough(self.gap, self.objective(corners)):
            self._prove(corners)

    def _enough(self, gap: float, objective: float) -> bool:
        """Whether a gap is negligible beside an objective, or rounding of the targets."""
        return gap <= PROVEN_GAP * objective + ZERO_SIZE * float(self.weight @ np.abs(self.t))

    def _prove(self, corners: Corners) -> None:
        """Take the dual solution that rows on the plane and columns in use determine, where its gap is less.

        e is level or level - 1 off the plane; on it, the e nearest to that at hand for which z'(weight e) is c sign(v).
        """
        before, v = self.e, self.theta[1:]
        self.gap = self._gap(corners)
        r = self.t - self.theta[0] - self.z @ v
        on_plane = np.abs(r) <= ON_PLANE * (np.abs(self.t) + abs(self.theta[0]) + np.abs(self.z) @ np.abs(v))
        used = np.flatnonzero(np.abs(v) > ON_PLANE * np.abs(v).max(initial=0.0))
        e = np.where(on_plane, before, self.level - (r < 0))
        rows = np.column_stack([np.full(len(r), float(self.intercept)), self.z[:, used]]) * self.weight[:, None]
        lack = np.concatenate([[0.0], corners.c[used] * np.sign(v[used])]) - e @ rows
        e[on_plane] += np.linalg.lstsq(rows[on_plane].T, lack)[0]
        self.e = np.clip(e, self.level - 1, self.level)
        gap = self._gap(corners)
        if gap < self.gap or self._enough(gap, self.objective(corners)):
            self.gap = gap
        else:
            self.e = before

    def pull(self) -> Array:
        """Return minus the derivative of the loss by each coefficient, (D,), as the dual solution has it."""
        return np.asarray((self.weight * self.e) @ self.z)

    def loss(self, z: Array, t: Array, weight: Array) -> float:
        """Return the sum of the losses of rows."""
        r = t - self.theta[0] - z @ self.theta[1:]
        return float(weight @ np.where(r > 0, self.level * r, (self.level - 1) * r))

    def objective(self, corners: Corners) -> float:
        """Return the losses of its rows and the cost of its coefficients."""
        return self.loss(self.z, self.t, self.weight) + corners.cost(self.theta[1:])

    def _program(self, columns: Indices, c: Array) -> None:
        """Solve for the intercept and some columns, all others zero."""
        free = int(self.intercept)
        felt = np.flatnonzero(c[columns] > LEAST_FELT_PENALTY * self._steepest[columns])
        count = len(felt)
        rows = np.zeros((len(self.t) + 2 * count, free + len(columns)))
        rows[: len(self.t), :free] = self.weight[:, None]
        rows[: len(self.t), free:] = self.z[:, columns] * self.weight[:, None]
        where = np.arange(count)
        rows[len(self.t) + where, free + felt] = c[columns[felt]]
        rows[len(self.t) + count + where, free + felt] = -c[columns[felt]]
        target = np.concatenate([self.weight * self.t, np.zeros(2 * count)])
        start = np.concatenate([self.theta[:free], self.theta[1:][columns]])
        self.theta = np.zeros_like(self.theta)
        if free + len(columns):
            vertex = solve_program(rows, target, self.level, start)
            self.theta[:free] = vertex.theta[:free]
            self.theta[1 + columns] = vertex.theta[free:]
            self.theta[1 + columns[felt[vertex.on_plane[len(self.t) :].reshape(2, count).all(axis=0)]]] = 0.0
            self.theta[1:][np.abs(self.theta[1:]) <= ZERO_SIZE * np.abs(self.theta[1:]).max(initial=0.0)] = 0.0
            d = np.clip(vertex.d[: len(self.t)], 0.0, 1.0)
        else:
            d = np.where(self.t == 0, 1.0 - self.level, self.t > 0)
        room = self.weight * np.minimum(d, 1 - d)
        lack = float(self.weight @ (d - 1 + self.level)) * free
        if abs(lack) < room.sum():  # rounding: rows on the plane make up for it
            d = d - np.minimum(d, 1 - d) * (lack / room.sum())
        self.e = d - 1 + self.level

    def _gap(self, corners: Corners) -> float:
        """Return, up to rounding, the objective above the value of the dual solution, shrunken until it is feasible.

        What is left of sum weight e tilts the plane of e along the intercept, which costs it that times the intercept.
        """
        lack = abs(float(self.weight @ self.e)) * self.intercept
        if lack > EXCESS_TOL * float(self.weight.sum()):
            return np.inf
        tilt, pull, v = lack * abs(float(self.theta[0])), self.pull(), self.theta[1:]
        over = np.maximum(np.abs(pull) - corners.c, 0.0)
        allowed = np.where(corners.c > 0, ROUNDING, EXCESS_TOL) * self._steepest
        if (over <= allowed).all():  # costs that times the weights
            r = self.t - self.theta[0] - self.z @ v
            above = self.objective(corners) - float((self.weight * self.e) @ r) - float(pull @ v)
            return max(above, 0.0) + float(over @ np.abs(v)) + tilt
        share = min(corners.room(pull), 1.0)
        return max(self.objective(corners) - share * float((self.weight * self.e) @ self.t), 0.0) + tilt

    @cached_property
    def _steepest(self) -> Array:
        """The largest derivative of the loss by each coefficient, at most, (D,)."""
        return np.asarray(self.weight @ np.abs(self.z))
