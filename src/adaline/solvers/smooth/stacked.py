"""Many machines over the same few rows, stepped together: a Newton step of all of them takes a few calls of NumPy.

    F_m(theta) = sum_i v_mi loss(theta_m (1, x_i), t_i) + 1/2 sum_j ridge_mj w_mj^2 + sum_j l1_mj |w_mj|

Machine m gives row i the weight v_mi, which is zero for rows held out. The machines of all folds of a cross-validation,
and of the folds within each of them, follow their paths of penalties side by side, each starting from its minimum under
the previous penalty. With few rows a call takes as long as a pass, microseconds, so that single machines would spend
most of their time in calls.

A machine stops when a step promises less than the tolerance; the remaining gap is about the square of that promise. It
is not proven: callers prove the gap of the model of all rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.losses import Loss, Softmax
from adaline.solvers.smooth.newton import ARMIJO, FLAT_CHANGE, SHORTEST_STEP
from adaline.solvers.smooth.orthant_newton import least_subgradient
from adaline.solvers.smooth.problem import Problem
from adaline.solvers.smooth.proximal_newton import NATIVE, coordinate_descent, minimise_quadratic
from adaline.sources import ArraySource
from adaline.sources.threads import one_blas_thread
from adaline.sums.objective import rows_in_view

MOST_PRODUCT_NUMBERS = 2**21  # numbers in the products x x' of all rows; doubling it takes 16 MiB more
# multiplications of all second derivatives, beyond which calls are cheap beside them and nothing is gained
MOST_WORK = 2**29
MOST_MATRIX_NUMBERS = 2**23  # numbers in the second derivatives of all machines; doubling it takes 64 MiB more
MOST_STEPS = 60  # steps under one penalty; doubling it matters only for paths that fail
# sweeps over a quadratic model, a call each, before a solve for the nonzero weights: at most, and at least
SWEEPS, LEAST_SWEEPS = 1000 if NATIVE else 30, 30
MOST_SWEPT_PRODUCTS = 2**21  # products of all sweeps over a model of many coefficients, beyond which a solve costs less
# share of the residual to which a quadratic model is solved; smaller takes more sweeps, for less than the model's
# error
MODEL_TOL = 1e-3


class StackedRows(NamedTuple):
    """Few rows (1, v) in the view of a problem, (N, 1 + D), their targets (N, 1) and weights (N,).

    `outer` (N, (1 + D)(2 + D)/2) has the products of their entries, each pair once.
    """

    loss: Loss
    outputs: int
    intercept: bool
    rows: Array
    t: Array
    weight: Array
    outer: Array

    @staticmethod
    def are_few(problem: Problem, machines: int) -> bool:
        """Whether the rows of a problem are dense in memory, and few enough for so many machines to step together."""
        source, loss = problem.source, problem.loss
        if type(source) is not ArraySource or not (isinstance(loss, Softmax) or problem.outputs == 1):
            return False
        n, square = source.n_rows, machines * problem.size**2
        few = n * (1 + problem.features) ** 2 <= MOST_PRODUCT_NUMBERS
        return few and square <= MOST_MATRIX_NUMBERS and n * square <= MOST_WORK

    @classmethod
    def of(cls, problem: Problem, machines: int) -> StackedRows | None:
        """Return the rows of a problem for so many machines; None where they are not few."""
        if not cls.are_few(problem, machines):
            return None
        source = problem.source
        blocks = list(source.blocks())
        rows = np.concatenate([rows_in_view(block, problem.view) for block in blocks])
        t, weight = np.concatenate([host(b.t) for b in blocks]), np.concatenate([b.weights() for b in blocks])
        rows[weight == 0] = 0.0  # their outputs are finite then
        a, b = np.triu_indices(1 + problem.features)
        return cls(problem.loss, problem.outputs, problem.intercept, rows, t, weight, rows[:, a] * rows[:, b])

    def costs(self, theta: Array) -> tuple[Array, Array]:
        """Return the losses (M, N) of rows under machines theta (M, K, 1 + D), and their slopes (K, M, N)."""
        z, t = self._outputs(theta)
        shape = len(theta), len(self.rows)
        return self.loss.value(z, t).reshape(shape), self.loss.slope(z, t).T.reshape(self.outputs, *shape)

    def gradients(self, slopes: Array, weights: Array) -> Array:
        """Return the gradients (M, K, 1 + D) of machines that give the rows these weights (M, N)."""
        out = ((slopes * weights) @ self.rows).transpose(1, 0, 2)
        out[:, :, 0] *= self.intercept
        return np.asarray(out)

    def hessians(self, theta: Array, weights: Array, ridges: Array, regular: bool) -> Array:
        """Return the second derivatives (M, K (1 + D), K (1 + D)) of machines, with ridge penalties (M, D).

        Coupled outputs may all gain the same: a term is added that keeps the matrix regular in that direction, for the
        intercepts alone unless `regular`, as `Problem.evaluate` does.
        """
        (z, t), m, k, side = self._outputs(theta), len(theta), self.outputs, self.rows.shape[1]
        own, other = np.triu_indices(k)
        if self.loss.coupled:
            p = self.loss.mean(z).T.reshape(k, *weights.shape)
            curvature = -(p * weights)[own] * p[other]
            curvature[own == other] += p * weights
        else:
            curvature = (self.loss.curvature(z, t).reshape(weights.shape) * weights)[None]
        sums = (curvature.reshape(-1, len(self.rows)) @ self.outer).reshape(len(own), m, -1)
        a, b = np.triu_indices(side)
        blocks = np.empty((len(own), m, side, side))
        blocks[:, :, a, b] = blocks[:, :, b, a] = sums
        whole = np.empty((m, k, side, k, side))
        whole[:, own, :, other] = whole[:, other, :, own] = blocks
        out = whole.reshape(m, k * side, k * side)
        entries = np.arange(k * side)
        out[:, entries, entries] += np.tile(np.concatenate([np.zeros((m, 1)), ridges], axis=1), k)
        if self.loss.coupled:
            typical = out[:, entries, entries].reshape(m, k, side).mean(axis=1) / k
            for j in range(side if regular else 1):
                out[:, j::side, j::side] += typical[:, j, None, None]
        if not self.intercept:
            out[:, ::side] = out[:, :, ::side] = 0.0
        diagonal = out[:, entries, entries]
        out[:, entries, entries] = np.where(diagonal > 0, diagonal, 1.0)  # constant columns
        return out

    def constants(self, weights: Array) -> Array:
        """Return the best constants of machines that give the rows these weights (M, N), as weights (M, K, 1 + D).

        A class without rows has an intercept so low that it has next to no probability.
        """
        means = (weights @ self._members()) / weights.sum(axis=1)[:, None]
        out = np.zeros((len(means), self.outputs, self.rows.shape[1]))
        out[:, :, 0] = [self.loss.constant(mean) * self.intercept for mean in means]
        return out

    def seen(self, weights: Array) -> NDArray[np.bool_]:
        """Return whether machines that give the rows these weights (M, N) have rows of each output, (M, K)."""
        if not self.loss.coupled:
            return np.ones((len(weights), 1), dtype=bool)
        return np.asarray(weights @ self._members() > 0)

    def _members(self) -> Array:
        """Return the targets, (N, 1), or of coupled outputs whether each row is of each class, (N, K)."""
        return np.eye(self.outputs)[self.t[:, 0].astype(np.intp)] if self.loss.coupled else self.t

    def _outputs(self, theta: Array) -> tuple[Array, Array]:
        """Return the outputs (M N, K) of machines, one output after the other in memory, and the targets (M N, 1)."""
        z = (theta.transpose(1, 0, 2) @ self.rows.T).reshape(self.outputs, -1).T
        return z, np.tile(self.t, (len(theta), 1))


class StackedMachines:
    """Weights theta (M, K, 1 + D) of machines in the view, and where the last penalties have led.

    Parameters
    ----------
    rows : those of all machines.
    inside : (M, N) weights that the machines give the rows they learn from.
    outside : (M, N) those of the rows that each is judged on.

    Machines start from their best constants. Classes that a machine has no rows of keep an intercept that gives them
    next to no probability: their rows would cost it without bound, whatever the penalty, and it is not judged on them.
    `value` (M,) and `gradient` are the loss of a machine's rows and its gradient, `held_out` (M,) the loss of the rows
    it is judged on, `passes` how often the rows were read.
    """

    def __init__(self, rows: StackedRows, inside: Array, outside: Array) -> None:
        self.rows, self.inside, self.seen = rows, inside, rows.seen(inside)
        self.outside = outside * self.seen[:, rows.t[:, 0].astype(np.intp)] if rows.loss.coupled else outside
        self.theta, self.passes = rows.constants(inside), 0
        self.value, self.held_out, self.gradient = *np.empty((2, len(self.theta))), np.empty_like(self.theta)
        self.put(self.theta)

    def put(self, theta: Array) -> None:
        """Set the weights of all machines."""
        self._take(np.arange(len(theta)), theta)

    @one_blas_thread()
    def solve(self, ridges: Array, wanted: Array, l1: Array | None = None) -> NDArray[np.bool_]:
        """Step all machines to their minima under penalties (M, D), until a step promises at most `wanted` (M,).

        Return which have got there, (M,), or as far as rounding allows.
        """
        done, left = np.ones(len(self.theta), dtype=bool), np.arange(len(self.theta))
        for _ in range(MOST_STEPS):
            step, promise = self._newton_steps(left, ridges, l1)
            moved = self._search(left, step, promise, ridges, l1)
            level = np.abs(self._values(left, self.theta[left], self.value[left], ridges, l1))
            done[left] = moved | (promise <= np.maximum(wanted[left], 10 * FLAT_CHANGE * level))
            left = left[moved & (promise > wanted[left])]
            if not len(left):
                return done
        done[left] = False
        return done

    def _newton_steps(self, which: NDArray[np.intp], ridges: Array, l1: Array | None) -> tuple[Array, Array]:
        """Return the steps of machines to the minima of their quadratic models, and by how much they lower F.

        A matrix that is singular promises a step of NaN, which is not taken.
        """
        theta, ridge = self.theta[which], ridges[which]
        gradient = self.gradient[which].copy()
        gradient[:, :, 1:] += ridge[:, None] * theta[:, :, 1:]
        self.passes += 1
        matrices = self.rows.hessians(theta, self.inside[which], ridge, l1 is None)
        fixed = np.repeat(~self.seen[which, :, None], theta.shape[2], axis=2)
        if l1 is None:
            fixed[:, :, 1:] |= (ridge == 0)[:, None]  # constant in the rows of the machine
        if fixed.any():
            gradient[fixed] = 0.0
            _fix(matrices, fixed.reshape(len(which), -1))
        flat = gradient.reshape(len(which), -1)
        if l1 is None:
            step = -_solved(matrices, flat)
            return step.reshape(theta.shape), -(flat * step).sum(axis=1)
        cost = _costs(l1[which], theta.shape)
        aim = _lowest(matrices, flat, theta.reshape(flat.shape), cost).reshape(theta.shape)
        cost = cost.reshape(theta.shape)
        step = aim - theta
        along = (gradient + cost * np.where(theta != 0, np.sign(theta), np.sign(aim))) * step
        crossed = gradient * step + cost * (np.abs(aim) - np.abs(theta))
        return step, -np.where(theta * aim < 0, crossed, along).sum(axis=(1, 2))

    def _search(
        self, which: NDArray[np.intp], step: Array, promise: Array, ridges: Array, l1: Array | None
    ) -> NDArray[np.bool_]:
        """Take a share of each step that lowers F by enough; return which have, (L,)."""
        start = self.theta[which]
        before = self._values(which, start, self.value[which], ridges, l1)
        shares, moved = np.ones(len(which)), np.zeros(len(which), dtype=bool)
        left = np.flatnonzero(promise > 0)  # not NaN
        while len(left):
            share = shares[left]
            machines, theta = which[left], start[left] + share[:, None, None] * step[left]
            value = self._take(machines, theta)
            reached = self._values(machines, theta, value, ridges, l1) - before[left]
            good = reached <= FLAT_CHANGE * np.abs(before[left]) - ARMIJO * share * promise[left]
            moved[left[good]] = True
            left, share, excess = left[~good], share[~good], reached[~good] + (share * promise[left])[~good]
            with np.errstate(divide="ignore", invalid="ignore"):
                best = np.where((excess > 0) & (excess < math.inf), share**2 * promise[left] / (2 * excess), 0.0)
            shares[left] = np.clip(best, 0.1 * share, 0.5 * share)
            left = left[shares[left] > SHORTEST_STEP]
        back = np.flatnonzero(~moved)
        if len(back):
            self._take(which[back], start[back])
        return moved

    def _take(self, which: NDArray[np.intp], theta: Array) -> Array:
        """Set the weights of machines, and what depends on them; return the losses of their rows, (L,)."""
        self.passes += 1
        with np.errstate(over="ignore", invalid="ignore"):
            costs, slopes = self.rows.costs(theta)
            inside = self.inside[which]
            value = (inside * costs).sum(axis=1)
            self.theta[which], self.value[which] = theta, value
            self.held_out[which] = (self.outside[which] * costs).sum(axis=1)
            self.gradient[which] = self.rows.gradients(slopes, inside)
        return np.asarray(np.where(np.isfinite(value), value, math.inf))

    def _values(self, which: NDArray[np.intp], theta: Array, value: Array, ridges: Array, l1: Array | None) -> Array:
        """Return F (L,) of machines whose rows cost `value` (L,)."""
        w = theta[:, :, 1:]
        out = value + 0.5 * (ridges[which, None] * w**2).sum(axis=(1, 2))
        return np.asarray(out if l1 is None else out + (l1[which, None] * np.abs(w)).sum(axis=(1, 2)))


def _fix(matrices: Array, fixed: NDArray[np.bool_]) -> None:
    """Change second derivatives (M, A, A), in place, so that coefficients `fixed` (M, A) stay as they are."""
    matrices[fixed[:, :, None] | fixed[:, None]] = 0.0
    machine, entry = np.nonzero(fixed)
    matrices[machine, entry, entry] = 1.0


def _solved(matrices: Array, right: Array) -> Array:
    """Return the inverse of matrices (M, A, A) times vectors (M, A); NaN where a matrix is singular."""
    try:
        return np.asarray(np.linalg.solve(matrices, right[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        out = np.full(right.shape, np.nan)
        for m in np.flatnonzero(np.linalg.slogdet(matrices)[0] != 0).tolist():
            out[m] = np.linalg.solve(matrices[m], right[m])
        return out


def _costs(l1: Array, shape: tuple[int, ...]) -> Array:
    """Return the penalty of every coefficient of machines, (M, K (1 + D)): zero for intercepts."""
    out = np.zeros(shape)
    out[:, :, 1:] = l1[:, None]
    return out.reshape(shape[0], -1)


def _lowest(matrices: Array, gradient: Array, start: Array, cost: Array) -> Array:
    """Return the minima (M, A) of quadratic models plus the cost of absolute values, each (M, A)."""
    w, g = start.copy(), gradient.copy()
    size = np.diagonal(matrices, axis1=1, axis2=2)
    size = np.where(size > 0, size, math.inf)

    def left() -> Array:
        return np.asarray((least_subgradient(w, g, cost) ** 2 / size).sum(axis=1))

    enough = MODEL_TOL**2 * left()
    sweeps = min(SWEEPS, max(LEAST_SWEEPS, MOST_SWEPT_PRODUCTS // w.shape[1] ** 2))
    for one in zip(matrices, g, w, cost, [sweeps] * len(w), enough.tolist(), strict=True):
        coordinate_descent(*one)
    for m in np.flatnonzero(left() > enough).tolist():
        w[m] = minimise_quadratic(matrices[m], g[m], w[m], cost[m], MODEL_TOL)
    return w
