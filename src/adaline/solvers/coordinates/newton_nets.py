"""Nets of a smooth loss: Newton steps of several machines together, by coordinate descent on quadratic models.

    P_m(theta) = sum over the rows of machine m of weight x loss + sum_j ridge_j/2 v_j^2 + corners(v),  theta = (w0, v)

Machine 0 learns from all rows, machine k + 1 from all but those of part k, under that share of the penalties. One pass
gives the loss and gradient of every machine on every part, and so the losses of rows held out too. Second derivatives
are taken on every part at the weights of machine 0, which those of the others are near; each machine gets its own where
steps with these are slow. They are kept while steps shrink fast, from one penalty to the next. The intercept is solved
for within the model. Of many columns, a working set has those that the strong rule cannot rule out.

The duality gap is that of tangent planes, as in `adaline.solvers.smooth.duality_gap`: ridge penalties are rows added to
the data, planes at other intercepts make a plane level in w0, and the lowest costs of the rows make zero optimal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.losses import Loss, Offset
from adaline.solvers.coordinates.corners import Corners
from adaline.solvers.coordinates.quadratics import Indices
from adaline.solvers.smooth.duality_gap import MOST_INTERCEPT_CHANGE
from adaline.solvers.smooth.newton import ARMIJO, FLAT_CHANGE, SHORTEST_STEP, factor_hessian, local_gap
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.solvers.smooth.proximal_newton import (
    LEAST_JOINING,
    MOST_MATRIX_NUMBERS,
    PROVEN,
    WHOLE_COLUMNS,
    ZERO_CURVATURE,
)
from adaline.sources import ArraySource, Source
from adaline.sources.sample import select_columns
from adaline.sources.threads import one_blas_thread
from adaline.sums import Objective, Point, Targets, View
from adaline.sums.objective import rows_in_view

# share of the residual to which a quadratic model is solved; 10x smaller takes more sweeps, for less than the model's
# error
MODEL_TOL = 1e-3
# sweeps over a model before its nonzero coefficients are solved for, as long as one solve; doubling it delays that
MODEL_SWEEPS = 30
MOST_ROUNDS = 100  # rounds of sweeps and solves of a model, and of working sets; doubling it delays giving up
FEW, OPEN = 3, 24  # rounds of a model in which nothing is solved for at once, and such models left open, at most
# promise of a step, relative to the last one's, beyond which all machines get new models, or this machine its own
SLOW, STUCK = 0.01, 0.1
# rows x coefficients^2 up to which each machine has its own second derivatives; doubling it takes longer for these
SMALL_WORK = 2**20
# promise of a step, relative to the objective, that is rounding, as a promise is quadratic in the step; 10x larger
# stops earlier
PROMISE_ROUNDING = 1e-28
# curvature along a step, relative to the model's, from which the model learns from it; 10x larger learns less
LEAST_LEARNED = 1e-3
MOST_STEPS = 100  # Newton steps; a point of a path takes two or three, so doubling it matters only for failures
# first and last share of the largest curvature added to a model whose step failed; a larger first one: shorter steps
LIFT, LIFTED = 1e-4, 1e4


class QuadraticModels(NamedTuple):
    """Quadratic models of machines: second derivatives (M, A, A) of coefficients, the intercept solved for.

    `diagonal` (M, A) is theirs without ridge penalties, `cross` (M, A) and `level` (M,) are those with the intercept.
    """

    matrices: Array
    diagonal: Array
    cross: Array
    level: Array


class NetSteps(NamedTuple):
    """Changes (L, 1 + A) of theta, the coefficients v (L, A) they lead to, and by how much they lower P at least."""

    change: Array
    v: Array
    promise: Array


class HeldRows(NamedTuple):
    """Few rows (1, v) of all parts in the view, (N, 1 + D), with t, offsets and weights (N, 1), and the part (N,)."""

    loss: Loss
    rows: Array
    t: Array
    offset: Array
    weight: Array
    part: Indices

    @classmethod
    def of(cls, problem: Problem, parts: list[Source]) -> HeldRows | None:
        """Return the rows of parts; None where they are not few, or not dense in memory."""
        n, d = problem.source.n_rows, problem.features
        if d > WHOLE_COLUMNS or n * (1 + d) ** 2 > SMALL_WORK or any(type(part) is not ArraySource for part in parts):
            return None
        blocks = [block for part in parts for block in part.blocks()]
        part = np.repeat(np.arange(len(parts)), [one.n_rows for one in parts])
        rows = np.concatenate([rows_in_view(block, problem.view) for block in blocks])
        t, weight = np.concatenate([host(b.t) for b in blocks]), np.concatenate([b.weights() for b in blocks])
        rows[weight == 0] = 0.0  # their outputs are finite then
        loss, known = problem.loss, np.zeros_like(t)
        if isinstance(loss, Offset):
            loss, (t, known) = loss.loss, np.split(t, 2, axis=1)
        return cls(loss, rows, t, known, weight[:, None], part)

    def totals(self, theta: Array, takes: Array) -> tuple[Array, Array, Array]:
        """Return what `NewtonNets._totals` does, for weights theta (L, 1 + D)."""
        z, own = self.rows @ theta.T + self.offset, takes.T[self.part] * self.weight
        t = np.broadcast_to(self.t, z.shape)
        cost = self.loss.value(z, t)
        inside = (own * cost).sum(axis=0)
        outside = (self.weight * cost).sum(axis=0) - inside
        return inside, (own * self.loss.slope(z, t)).T @ self.rows, outside

    def hessians(self, theta: Array, takes: Array) -> Array:
        """Return the second derivatives (L, 1 + D, 1 + D) of machines of weights theta."""
        z = self.rows @ theta.T + self.offset
        curvature = takes.T[self.part] * self.weight * self.loss.curvature(z, np.broadcast_to(self.t, z.shape))
        return np.asarray((self.rows.T * curvature.T[:, None]) @ self.rows)


class NewtonNets:
    """Weights theta (M, 1 + D) of machines in the view, and where the last penalties have led.

    Parameters
    ----------
    problem : the loss over all rows, of one output, without penalties.
    parts : the rows in P parts, for machines without each of them; one part for one machine.
    constant : the output of all machines to start from.

    `value` (M,), `gradient` (M, 1 + D) and `outside` (M,) are the loss of a machine's rows, its gradient, and the loss
    of the rows it leaves out; `gap` (M,) bounds P_m - min P_m, `promise` is what the last steps promised at most.
    """

    def __init__(self, problem: Problem, parts: list[Source], constant: float) -> None:
        self.problem, self.parts = problem, parts
        count = len(parts)
        self.takes = np.ones((1, 1)) if count == 1 else np.vstack([np.ones(count), 1 - np.eye(count)])
        targets = [part.sum(Targets, problem.loss) for part in parts]
        self.lowest = self.takes @ [float(one.least[0]) for one in targets]
        self.weight = self.takes @ [one.weight for one in targets]
        self.share = self.weight / self.weight[0]
        self.theta = np.zeros((len(self.takes), 1 + problem.features))
        self.theta[:, 0] = constant * problem.intercept
        self.gap = np.full(len(self.takes), np.inf)
        self.columns: Indices = np.arange(problem.features)
        self.few: list[Any] = parts
        self.models: Any = None
        self.promise, self.open, self.small = math.inf, 0, False
        self.lift = np.zeros(len(self.takes))  # share of the largest curvature added to each model
        self.tilts: tuple[tuple[Array, Array], ...] = ()
        self.held = HeldRows.of(problem, parts)
        self._read_all()

    def alone(self) -> None:
        """Continue with machine 0 alone."""
        for name in ("takes", "lowest", "weight", "share", "theta", "gap", "value", "gradient", "outside", "lift"):
            setattr(self, name, getattr(self, name)[:1])
        self.models = None
        self.tilts = tuple((constant[:1], slope[:1]) for constant, slope in self.tilts)

    def put(self, theta: Array) -> None:
        """Bring machine 0 to weights (1 + D,)."""
        self.theta[0] = theta
        self._read_all()

    def solve(self, corners: Corners, last: Corners, ridge: Array, wanted: Array) -> bool:
        """Step all machines to their minima under a penalty, from those under `last`, to gaps of `wanted` (M,).

        `ridge` is (D,). Return False where memory does not hold the models of the columns that this needs.
        """
        own = [corners.times(share) for share in self.share.tolist()]
        ridges = ridge * self.share[:, None]
        if not self._work_on(self._strong(own, last, ridges), grow=False):
            return False
        for _ in range(MOST_ROUNDS):
            with one_blas_thread():
                self._descend(corners, ridges, wanted)
            if len(self.columns) == self.problem.features:
                break
            self._read_all()
            self._measure(np.arange(len(own)), corners, ridges, np.arange(self.problem.features))
            violating = self._violating(own, ridges)
            if (self.gap <= wanted).all() or not len(violating):
                break
            if not self._work_on(violating, grow=True):
                return False
        return True

    def subgradient(self, corners: Corners, ridge: Array) -> Array:
        """Return the least subgradient of machine 0, (1 + D,): zero at the minimum."""
        v = self.theta[0, 1:]
        return np.concatenate([self.gradient[0, :1], corners.subgradient(v, self.gradient[0, 1:] + ridge * v)])

    def objective(self, corners: Corners, ridge: Array) -> float:
        """Return the objective of machine 0."""
        v = self.theta[0, 1:]
        return float(self.value[0] + 0.5 * float(ridge @ v**2) + corners.cost(v))

    def curved_gap(self, corners: Corners, ridge: Array) -> float:
        """Return a bound on the objective of machine 0 above its minimum from second derivatives; infinity if none.

        S has the coefficients that are not at rest at zero, s is the least subgradient, and z = H_S^-1 s. Then u = H z
        is a subgradient too, as long as it leaves the others inside their corners, and its length in the metric of H is
        that of s in the metric of H_S. Where there is no room for u, S has all.
        """
        value, _, hessian = self.problem.evaluate(self.theta[:1], second=self.problem.size <= PROVEN)
        if hessian is None:
            return math.inf
        ridges = np.concatenate([[0.0], ridge])
        hessian = hessian + np.diag(ridges)
        v, left, curvature = self.theta[0, 1:], self.subgradient(corners, ridge), factor_hessian(hessian, ridges)
        moving = np.concatenate([[True], (v != 0) | (left[1:] != 0)])
        for some in (moving, np.ones_like(moving)):
            part = factor_hessian(hessian[np.ix_(some, some)], ridges[some])
            u = np.where(some, left, hessian[:, some] @ part.solve(left[some]))
            others = ~some[1:]
            pull = self.gradient[0, 1:] + ridge * v - np.where(others, u[1:], 0.0)
            if not corners.subgradient(v, pull)[others].any():
                return local_gap(self.problem, curvature, Evaluation(value, u[None]))
        return math.inf

    def _read_all(self) -> None:
        """Take the loss of all machines over all columns."""
        self.value, self.gradient, self.outside = self._evaluate(self.parts, self.theta, self.takes)

    def _evaluate(
        self, parts: list[Any], theta: Array, takes: Array, columns: Indices | None = None
    ) -> tuple[Array, Array, Array]:
        """Return what `_totals` does, of weights theta (L, 1 + A)."""
        if self.held is None:
            return self._totals(self._sums(parts, theta, "none", columns), takes)
        self.problem.source.reads[0] += 1
        with np.errstate(over="ignore", invalid="ignore"):
            values, gradient, outside = self.held.totals(theta, takes)
        gradient[:, 0] *= self.problem.intercept
        return values, gradient, outside

    def _sums(
        self, parts: list[Source], theta: Array, second: str = "none", columns: Indices | None = None
    ) -> list[Objective]:
        """Return the sums of machines of weights theta (L, 1 + A) over each part."""
        view = self.problem.view
        if columns is not None and len(columns) < self.problem.features:
            view = View(view.scale[columns], view.offset[columns])
        point = Point(self.problem.loss, theta, view)
        if parts[0].reads is not self.problem.source.reads:
            self.problem.source.reads[0] += 1  # the parts are a copy of its rows
        with np.errstate(over="ignore", invalid="ignore"):
            return [part.sum(Objective, point, outputs=len(theta), second=second) for part in parts]

    def _totals(self, sums: list[Objective], takes: Array) -> tuple[Array, Array, Array]:
        """Return value (L,), gradient (L, 1 + A), and the loss of the rows left out (L,), of machines that take parts.

        `takes` is (L, P).
        """
        values = np.array([one.value for one in sums]).T
        gradient = np.einsum("lp,pld->ld", takes, np.array([one.gradient for one in sums]))
        gradient[:, 0] *= self.problem.intercept
        return (takes * values).sum(axis=1), gradient, ((1 - takes) * values).sum(axis=1)

    def _strong(self, own: list[Corners], last: Corners, ridges: Array) -> Indices:
        """Return the columns that are not zero, or that the strong rule cannot rule out after the penalty `last`."""
        if self.problem.features <= WHOLE_COLUMNS:
            return np.arange(self.problem.features)
        keep = (self.theta[:, 1:] != 0).any(axis=0)
        for m, corners in enumerate(own):
            pull = self.gradient[m, 1:] + ridges[m] * self.theta[m, 1:]
            keep |= corners.over(pull, 2 * corners.c - last.c * self.share[m])
        return np.flatnonzero(keep & ~self.problem.constant)

    def _violating(self, own: list[Corners], ridges: Array) -> Indices:
        """Return the columns outside the working set whose gradients exceed their penalties most."""
        v = self.theta[:, 1:]
        each = [
            one.subgradient(v[m], self.gradient[m, 1:] + ridges[m] * v[m]) / self.share[m] for m, one in enumerate(own)
        ]
        size = np.abs(each).max(axis=0)
        size[self.columns] = 0.0
        size[self.problem.constant] = 0.0
        room = max(LEAST_JOINING, len(self.columns))
        return np.argsort(-size)[: min(room, np.count_nonzero(size))]

    def _work_on(self, columns: Indices, grow: bool) -> bool:
        """Make columns part of the working set; False where memory does not hold their models."""
        d, whole = self.problem.features, len(self.columns) == self.problem.features
        if whole and (d <= WHOLE_COLUMNS or self.models is not None):
            return True
        wider = np.union1d(columns, self.columns) if grow or not whole else columns
        if not whole and len(wider) == len(self.columns):
            return True
        few: list[Any] = [None] if len(wider) > d // 2 else [select_columns(part, wider) for part in self.parts]
        if few[0] is None:
            wider, few = np.arange(d), self.parts
        if len(self.takes) * (1 + len(wider)) ** 2 > MOST_MATRIX_NUMBERS:
            return False
        self.columns, self.few, self.models = wider, few, None
        return True

    def _at(self, numbers: Array, which: Indices, columns: Indices) -> Array:
        """Return rows (M, 1 + D) of some machines for the intercept and some columns; a view where that is all."""
        some = numbers if len(which) == len(numbers) else numbers[which]
        return some if len(columns) == self.problem.features else some[:, np.concatenate([[0], columns + 1])]

    def _descend(self, corners: Corners, ridges: Array, wanted: Array) -> None:
        """Take Newton steps on the working set, until all gaps there are at most `wanted`, or no step is left."""
        columns, entries = self.columns, np.concatenate([[0], self.columns + 1])
        corners, ridges = corners.of(columns), ridges[:, columns]
        self._measure(np.arange(len(ridges)), corners, ridges, columns)
        left = np.flatnonzero(~(self.gap <= wanted))
        self.small = self.problem.source.n_rows * len(entries) ** 2 <= SMALL_WORK
        promised, fresh, self.open = np.full(len(ridges), math.inf), False, 0
        for step in range(MOST_STEPS):
            if not len(left) or self.open > OPEN * len(ridges):
                break
            if self.models is None or (self.small and step == 1):
                fresh = self.small
                self._form(entries, np.arange(len(ridges)) if fresh else left, alone=fresh)
            steps = self._steps(left, corners, ridges, entries)
            slow = left[steps.promise > (STUCK if fresh else SLOW) * promised[left]]
            if len(slow):
                self._form(entries, slow, alone=fresh)
                fresh = True
                steps = self._steps(left, corners, ridges, entries)
            promised[left], self.promise = steps.promise, float(steps.promise.max())
            moved = self._search(left, steps, corners, ridges, entries, promised)
            self._measure(left[moved], corners, ridges, columns)
            far = [
                m
                for m, promise in zip(left[~moved].tolist(), steps.promise[~moved].tolist(), strict=True)
                if self._shorten(m, promise, promised, entries)
            ]
            left = np.array([*left[moved & ~(self.gap[left] <= wanted[left])], *far], np.intp)

    def _shorten(self, m: int, promise: float, promised: Array, entries: Indices) -> bool:
        """Add curvature to the model of a machine whose step led nowhere; False where the step was rounding, or none.

        Straight parts of a loss have a slope without curvature: along them, more columns than rows fall without end.
        """
        if not abs(promise) > FLAT_CHANGE * abs(self.value[m]) or self.lift[m] >= LIFTED:
            return False
        more = max(LIFT, 99 * self.lift[m])
        self.lift[m] += more
        self.models.diagonal[m] += more * self._bounds(entries)[m]
        promised[m] = math.inf  # the model that was lifted serves
        return True

    def _bounds(self, entries: Indices) -> Array:
        """Return the largest curvatures (M, A) by each coefficient, or those of the models where none is known."""
        largest = self.problem.largest_curvature()[entries[1:]]
        return np.asarray(np.maximum(largest * self.share[:, None], self.models.diagonal))

    def _form(self, entries: Indices, left: Indices, alone: bool) -> None:
        """Form the models of all machines at the weights of machine 0, or those of machines `left` at their own."""
        formed = left if alone else np.arange(len(self.takes))
        hessians = self._hessians(formed, entries, left if alone or (self.models is None and len(left) == 1) else None)
        if self.models is None or not alone:
            m, a = len(self.takes), len(entries) - 1
            self.models = QuadraticModels(np.empty((m, a, a)), np.empty((m, a)), np.empty((m, a)), np.ones(m))
        matrices, diagonal, crosses, levels = self.models
        largest = self.problem.largest_curvature()[entries]
        for m, matrix in zip(formed.tolist(), hessians, strict=True):
            most, own = largest * self.share[m], matrix.diagonal()
            straight = own < ZERO_CURVATURE * most
            if straight.any():
                np.fill_diagonal(matrix, np.where(straight, own + most, own))
            cross, level = matrix[0, 1:], float(matrix[0, 0])
            if not self.problem.intercept or not level > 0:
                cross, level = np.zeros_like(cross), 1.0
            np.subtract(matrix[1:, 1:], cross[:, None] * (cross / level), out=matrices[m])
            diagonal[m], crosses[m], levels[m] = np.maximum(matrices[m].diagonal(), 0.0), cross, level
        if self.lift.any():
            diagonal[formed] += (self.lift[:, None] * self._bounds(entries))[formed]

    def _hessians(self, formed: Indices, entries: Indices, at: Indices | None) -> Iterator[Array]:
        """Yield the second derivatives of machines at the weights of machines `at`, or at those of machine 0."""
        theta = np.ascontiguousarray(self.theta[np.zeros(1, np.intp) if at is None else at][:, entries])
        if self.held is not None:
            self.problem.source.reads[0] += 1
            yield from self.held.hessians(np.broadcast_to(theta, (len(formed), len(entries))), self.takes[formed])
            return
        parts = np.stack([one.hessian for one in self._sums(self.few, theta, "alone", self.columns)])  # (P, L, ...)
        for i, m in enumerate(formed.tolist()):
            yield np.tensordot(self.takes[m], parts[:, i if len(theta) == len(formed) else 0], 1)

    def _steps(self, which: Indices, corners: Corners, ridges: Array, entries: Indices) -> NetSteps:
        """Return the steps of some machines to the minima of their models."""
        matrices, diagonal, cross, level = self.models
        where = np.arange(len(entries) - 1)
        matrices[:, where, where] = np.where(diagonal > 0, diagonal + ridges, 0.0)
        cross, level = cross[which], level[which]
        theta, gradient = (self._at(one, which, self.columns) for one in (self.theta, self.gradient))
        v = theta[:, 1:].copy()
        slope = gradient[:, 1:] + ridges[which] * v - cross * (gradient[:, 0] / level)[:, None]
        own = [matrices[m] for m in which.tolist()]
        self.open += minimise_models(own, slope, v, corners, self.share[which])
        change = v - theta[:, 1:]
        along = (cross * change).sum(axis=1)
        constant = -(gradient[:, 0] + along) / level * self.problem.intercept
        curved = np.array([float(one @ matrix @ one) for one, matrix in zip(change, own, strict=True)])
        promise = curved + level * (constant + along / level) ** 2
        return NetSteps(np.column_stack([constant, change]), v, promise)

    def _search(
        self, which: Indices, steps: NetSteps, corners: Corners, ridges: Array, entries: Indices, promised: Array
    ) -> NDArray[np.bool_]:
        """Take a share of each step that lowers the objective; return which have, (L,)."""
        here, slopes = (self._at(one, which, self.columns) for one in (self.theta, self.gradient))
        least = self._values(which, self.value[which], here, corners, ridges)
        shares, moved = np.ones(len(which)), np.zeros(len(which), dtype=bool)
        left = np.flatnonzero(steps.promise > PROMISE_ROUNDING * np.abs(least))
        while len(left):
            machines, share, before = which[left], shares[left], least[left]
            theta = here[left] + share[:, None] * steps.change[left]
            theta[share == 1.0, 1:] = steps.v[left[share == 1.0]]
            values, gradients, outside = self._evaluate(self.few, theta, self.takes[machines], self.columns)
            excess = self._values(machines, values, theta, corners, ridges) - before
            promise = share * steps.promise[left]
            good = excess <= FLAT_CHANGE * np.abs(before) - ARMIJO * promise
            done, taken = machines[good], left[good]
            if not self.small:
                self._learn(done, theta[good] - here[taken], gradients[good] - slopes[taken], ridges)
            whole = np.ix_(done, entries)
            self.theta[whole], self.gradient[whole] = theta[good], gradients[good]
            self.value[done], self.outside[done] = values[good], outside[good]
            self.lift[done] *= np.where(share[good] == 1.0, 0.1, np.where(share[good] > 0.1, 1.0, 10.0))
            moved[taken] = True
            left, share, promise, excess = left[~good], share[~good], promise[~good], excess[~good] + promise[~good]
            with np.errstate(divide="ignore", invalid="ignore"):
                best = np.where((excess > 0) & (excess < math.inf), share * promise / (2 * excess), 0.0)
            shares[left] = np.clip(best, 0.1 * share, 0.5 * share)
            promised[which[left]] = 0.0  # a new model is needed
            left = left[shares[left] > SHORTEST_STEP]
        return moved

    def _learn(self, which: Indices, step: Array, change: Array, ridges: Array) -> None:
        """Make models agree with the change of the gradient along the last steps, as BFGS updates do."""
        matrices, diagonal, cross, level = self.models
        own, seen = step[:, 1:], change[:, 1:] - cross[which] * (change[:, 0] / level[which])[:, None]
        expected = np.array([matrices[m] @ one for m, one in zip(which.tolist(), own, strict=True)]).reshape(own.shape)
        expected -= ridges[which] * own
        along, before = (seen * own).sum(axis=1), (expected * own).sum(axis=1)
        for i in np.flatnonzero((along > LEAST_LEARNED * before) & (before > 0)).tolist():
            pair = np.stack([seen[i], expected[i]])
            scaled = pair * [[1 / along[i]], [-1 / before[i]]]
            matrices[which[i]] += pair.T @ scaled
            diagonal[which[i]] += (pair * scaled).sum(axis=0)

    def _values(self, which: Indices, values: Array, theta: Array, corners: Corners, ridges: Array) -> Array:
        """Return the objectives (L,) of machines whose rows cost `values` (L,) at theta (L, 1 + A)."""
        v = theta[:, 1:]
        return np.asarray(values + 0.5 * (ridges[which] * v**2).sum(axis=1) + corners.costs(v, self.share[which]))

    def _measure(self, which: Indices, corners: Corners, ridges: Array, columns: Indices) -> None:
        """Find bounds on the objectives of machines over some columns above their minima; infinity if none is known."""
        if not len(which):
            return
        theta, slope = (self._at(one, which, columns) for one in (self.theta, self.gradient))
        ridge = ridges[which]
        constant = self.value[which] - (slope * theta).sum(axis=1)
        if slope[:, 0].any() and self.problem.intercept:
            if not self.tilts:
                self.tilts = self._tilted(1.0), self._tilted(-1.0)
            (rising, up), (falling, down) = self.tilts
            other = np.where(slope[:, :1] < 0, *(self._at(one, which, columns) for one in (up, down)))
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.where(slope[:, 0] == 0, 0.0, -slope[:, 0] / other[:, 0])
                constant = (constant + share * np.where(slope[:, 0] < 0, rising[which], falling[which])) / (1 + share)
                slope = (slope + share[:, None] * other) / (1 + share[:, None])
        v = theta[:, 1:]
        pull, square = slope[:, 1:] + ridge * v, 0.5 * (ridge * v**2).sum(axis=1)
        value = self._values(which, self.value[which], theta, corners, ridges)
        if corners.c.any():
            scale = np.minimum(corners.rooms(pull, self.share[which]), 1.0)
            gap = value - scale * (constant - square) - (1 - scale) * self.lowest[which]
        else:
            left = corners.subgradients(v, pull, self.share[which])
            with np.errstate(divide="ignore", invalid="ignore"):
                flat = np.where(left == 0, 0.0, left**2 / ridge).sum(axis=1)
            gap = 0.5 * flat + value - square - constant - (slope[:, 1:] * v).sum(axis=1)
        gap = np.fmin(gap, value - self.lowest[which])  # the only bound if all rows are of one class
        self.gap[which] = np.where(np.isfinite(gap), np.maximum(gap, 0.0), math.inf)

    def _tilted(self, sign: float) -> tuple[Array, Array]:
        """Return planes (M,), (M, 1 + D) below the losses, tangent at intercepts so changed that they rise or fall."""
        step = np.minimum(np.sqrt(2 * np.abs(self.value) / self.weight), 1.0)
        step[step == 0] = 1.0
        constant, slope = np.zeros(len(step)), np.zeros_like(self.theta)
        need = np.arange(len(step))
        while len(need):
            theta = self.theta[need].copy()
            theta[:, 0] += sign * step[need]
            values, gradients, _ = self._evaluate(self.parts, theta, self.takes[need])
            good = np.isfinite(values) & (sign * gradients[:, 0] > np.abs(self.gradient[need, 0]))
            constant[need[good]] = (values - (gradients * theta).sum(axis=1))[good]
            slope[need[good]] = gradients[good]
            step[need] *= 2
            need = need[~good & (step[need] <= MOST_INTERCEPT_CHANGE)]
        return constant, slope


def minimise_models(matrices: list[Array], gradient: Array, v: Array, corners: Corners, shares: Array) -> int:
    """Change v (L, A) to the minima of quadratics, with gradients (L, A), plus shares (L,) of the cost of corners.

    Return how many are left open.
    """
    size = np.array([matrix.diagonal() for matrix in matrices]).reshape(v.shape)
    size[size <= 0] = math.inf

    def left() -> Array:
        return np.asarray((corners.subgradients(v, gradient, shares) ** 2 / size).sum(axis=1))

    own, enough = [corners.times(share) for share in shares.tolist()], MODEL_TOL**2 * left()
    for i, matrix in enumerate(matrices):
        own[i].lower(matrix, gradient[i], v[i], MODEL_SWEEPS, float(enough[i]))
    far = np.flatnonzero(left() > enough).tolist()
    return sum(not _minimise(matrices[i], gradient[i], v[i], own[i], size[i], float(enough[i])) for i in far)


def _minimise(matrix: Array, gradient: Array, v: Array, corners: Corners, size: Array, enough: float) -> bool:
    """Bring a model from where sweeps led to its minimum, by solves and further sweeps.

    False where it is left open: sweeps alone are slow, and a new model at a better point is worth more than many.
    """
    start, slope, last = v.copy(), gradient.copy(), math.inf
    for done in range(1, MOST_ROUNDS + 1):
        swept = v.copy()
        corners.settle(matrix, gradient, v)
        if done >= FEW and np.array_equal(v, swept):
            return False
        reached = 0.5 * float((slope + gradient) @ (v - start)) + corners.cost(v)
        if not reached < last:
            break
        last = reached
        corners.lower(matrix, gradient, v, MODEL_SWEEPS, enough)
        if float((corners.subgradient(v, gradient) ** 2 / size).sum()) <= enough:
            break
    return True
