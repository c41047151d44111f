"""`penalty="auto"` of a likelihood: the penalty that predicts held-out rows best, along one path for all folds.

The path runs from a penalty under which the weights nearly vanish to a negligible one, on standardised columns, so that
units do not matter. One machine per fold learns from the rows of the other folds. One pass over the rows gives the loss
and the gradient of every fold for every machine: the objective that the machine minimises, and its loss on the held-out
fold. Machines take L-BFGS steps in the metric of the folds' second derivatives at a point between them. If that is slow
(a category in a single fold sets the machines apart), each gets a metric of its own. The step to the next penalty needs
no pass, as only the ridge changes.

A machine without two folds starts from the machine without the first of them, and uses its metric. With many rows it is
estimated by one Newton step, and a final pass checks that estimate.

With few rows all machines take their own Newton steps together (`adaline.solvers.smooth.stacked`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.choose import minimise_smooth
from adaline.solvers.smooth.lbfgs import Metric, Pairs, inner, inverse_product
from adaline.solvers.smooth.newton import ARMIJO, FLAT_CHANGE, Curvature, factor_hessian
from adaline.solvers.smooth.problem import Problem
from adaline.solvers.smooth.stacked import StackedMachines, StackedRows
from adaline.sources import Source
from adaline.sources.base import InMemory
from adaline.sources.device import empty_on_device
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import Fold, fold_of, in_memory, total_weight
from adaline.sums import Objective, Point

# powers of ten between the largest and the smallest penalty; doubling it fits up to 16 more penalties, all near zero
DECADES = 8
PENALTIES_PER_DECADE = 2  # doubling it doubles the fits, and finds the best penalty to a factor of 1.8 instead of 3.2
# penalties in a row worse than the best, after which a path ends; doubling it costs up to three more fits
WORSE_PENALTIES = 3
ROUGH, FINE = (
    1e-7,
    1e-9,
)  # promised gain, relative to the constants' loss, at which fits end; 10x larger: fewer steps
MOST_STEPS = 60  # steps that the machines take together; doubling it lets machines that step alone start later
MOST_TRIALS = 10  # lengths of a step that they try together, before each continues alone
# steps for one penalty after which second derivatives are updated; doubling it leaves them out of date for longer
FEW_STEPS = 3
# steps for one penalty after which a machine gets its own second derivatives; doubling it takes more slow steps
STEPS_PER_MATRIX = 8
# numbers in the second derivatives of all folds; doubling it takes 160 MB more, for more fits
MOST_MATRIX_NUMBERS = 2e7
# size of rows that are copied fold by fold, for faster passes; doubling it takes up to 2 GiB beside the rows
MOST_COPIED_BYTES = 2**30
# products per pass up to which machines without two folds are fitted, not estimated; doubling it takes twice the time
MOST_PAIRED_WORK = 4e8
# relative error of an estimated loss up to which it is accepted; 10x larger accepts losses that may rank penalties
# wrongly
ONE_STEP_ERROR = 1e-5
# relative difference of the last two losses below which the next fit is FINE; 10x larger takes more steps
NEAR_TIE = 1e-5


class PenaltyPath(NamedTuple):
    """Penalties, the mean loss of a held-out row under each, its standard error over the folds, and the best.

    `start` (K, 1 + D) are about the weights under the best penalty, in raw units.
    """

    penalties: Array
    values: Array
    errors: Array
    best: float
    start: Array


class Losses:
    """The losses of held-out rows along a path, (folds,) under each penalty, of folds of these weights (folds,)."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights
        self.values: list[float] = []
        self.errors: list[float] = []
        self.start = np.zeros((0, 1))

    def add(self, losses: Array, thetas: Array | None = None) -> None:
        """Take in the losses under the next penalty, and of the best the mean of its machines (folds, K, 1 + D)."""
        share = self.weights / self.weights.sum()
        mean = losses.sum() / self.weights.sum()
        each = np.divide(losses, self.weights, out=np.full(len(losses), mean), where=self.weights > 0)
        if thetas is not None and mean < min(self.values, default=np.inf):
            self.start = thetas.mean(axis=0)
        self.values.append(float(mean))
        self.errors.append(float(np.sqrt((share * (each - mean) ** 2).sum() / max(len(losses) - 1, 1))))

    @property
    def ended(self) -> bool:
        """Whether the last few penalties were beyond the best."""
        return bool(self.values) and len(self.values) - 1 - int(np.argmin(self.values)) >= WORSE_PENALTIES

    @property
    def rough(self) -> float:
        """The accuracy of the fit under the next penalty: finer where the losses are about level."""
        last = self.values[-2:]
        return FINE if len(last) > 1 and abs(last[1] - last[0]) <= NEAR_TIE * last[1] else ROUGH

    def path(self, penalties: Array, problem: Problem) -> PenaltyPath:
        """Return the path of the penalties tried; refuse one on which no loss is finite."""
        if not np.isfinite(self.values).any():
            raise InvalidData(
                "penalty='auto' judges penalties on held-out rows, and here their loss is not finite: a class may have "
                "rows in one fold alone. Give the penalty as a number, or more rows of each class."
            )
        tried = penalties[: len(self.values)]
        best = float(tried[int(np.argmin(self.values))])
        return PenaltyPath(tried, np.array(self.values), np.array(self.errors), best, problem.to_raw(self.start))


def penalties_of(weight: float) -> Array:
    """Return the penalties of a path, descending, for rows of this weight."""
    return weight * 10.0 ** (1 - np.arange(DECADES * PENALTIES_PER_DECADE + 1) / PENALTIES_PER_DECADE)


def cross_validated(
    problem: Problem, unit: Array, start: Array, null: float, folds: int | NDArray[np.int64]
) -> PenaltyPath:
    """Return the path of penalties and the best one; `null` is the loss of the best constants, `start` these."""
    penalties = penalties_of(problem.spread.weight)
    rows = FoldRows(problem, folds, null)
    machines = FoldMachines(rows, [(k,) for k in range(rows.count)], start)
    losses = Losses(machines.judged)
    for penalty in penalties:
        ridges = np.tile(_ridge(problem, float(penalty), unit), (rows.count, 1))
        losses.add(machines.solve(ridges, losses.rough), machines.thetas)
        if losses.ended:
            break
    return losses.path(penalties, problem)


def held_out_paths(
    problem: Problem, unit: Array, start: Array, null: float, fold: NDArray[np.int64], units: list[Array]
) -> tuple[PenaltyPath, list[PenaltyPath]]:
    """Return the path over folds (N,), and for each fold the path that the other rows alone would have.

    `units` are the deviations of the columns without each fold. All come from the same passes.
    """
    rows = FoldRows(problem, fold, null)
    every = np.array([unit, *units])
    if not isinstance(rows.source, InMemory) or rows.source.n_rows * problem.size * rows.count**2 > MOST_PAIRED_WORK:
        estimated = _held_out_paths(problem, rows, start, every, fitted=False)
        if estimated is not None:
            return estimated
    found = _held_out_paths(problem, rows, start, every, fitted=True)
    assert found is not None
    return found


def _held_out_paths(
    problem: Problem, rows: FoldRows, start: Array, units: Array, fitted: bool
) -> tuple[PenaltyPath, list[PenaltyPath]] | None:
    """Return the paths, of machines without two folds that are fitted or estimated; None where that is too rough."""
    count, weights = rows.count, rows.weights
    two = [(k, j) for k in range(count) for j in range(count) if j != k]
    stacked = fitted and rows.are_few(len(two))
    machines = FoldMachines(rows, [(k,) for k in range(count)], start, stacked=stacked)
    pairs = FoldMachines(rows, two, start, machines, stacked) if fitted else None
    first = np.array(two)[:, 0]
    totals = np.array([weights.sum(), *(weights.sum() - weights)])
    grids = [penalties_of(total) for total in totals]
    others = np.array([weights[j] for _, j in two]) if pairs is None else pairs.judged
    losses = [Losses(machines.judged), *(Losses(others[first == k]) for k in range(count))]
    for i in range(len(grids[0])):
        before = machines.thetas
        whole, *ridges = (_ridge(problem, float(grid[i]), unit) for grid, unit in zip(grids, units, strict=True))
        found = machines.solve(np.tile(whole, (count, 1)), losses[0].rough)
        if not losses[0].ended:
            losses[0].add(found, machines.thetas)
        if pairs is not None:
            each = pairs.solve(np.array(ridges)[first], losses[0].rough, (machines.thetas - before)[first])
        else:
            machines.curve()
            each = np.array([machines.without_another(k, j, ridges[k]).loss for k, j in two])
        for k in range(count):
            if not losses[1 + k].ended:
                losses[1 + k].add(each[first == k], machines.thetas[k : k + 1])
        if all(one.ended for one in losses):
            break
    if pairs is None and not machines.are_close(ridges):
        return None
    every, *each_without = (one.path(grid, problem) for one, grid in zip(losses, grids, strict=True))
    return every, each_without


def has_matrices(problem: Problem, folds: int) -> bool:
    """Return whether the second derivatives of every fold are formed; else there are no paths without two folds."""
    return folds * problem.size**2 <= MOST_MATRIX_NUMBERS


def _ridge(problem: Problem, penalty: float, unit: Array) -> Array:
    """Return the penalties of the coefficients in the view of a problem, (D,)."""
    return problem.penalised_by(RidgePenalty(penalty, unit)).ridge


class FoldRows:
    """The rows of a problem by folds.

    Parameters
    ----------
    problem : the objective over all rows; its ridge does not matter.
    folds : their number, of which rows are in one by their index, or the fold of each row, (N,).
    null : the loss of the best constants.
    """

    def __init__(self, problem: Problem, folds: int | NDArray[np.int64], null: float) -> None:
        self.free = replace(problem, ridge=np.zeros_like(problem.ridge), sample=None, lightest=None)
        self.source, self.folds, self.null = problem.source, folds, null
        if empty_on_device(self.source) is None:
            self.source = in_memory(self.source)
        self.count = folds if isinstance(folds, int) else int(folds.max()) + 1
        self.parts = _parts(self.source, folds, self.count)
        self.weights = np.array([total_weight(part) for part in self.parts])
        self.together = has_matrices(problem, self.count)

    def without(self, left_out: Sequence[int]) -> Source:
        """Return the rows of the other folds."""
        source = self.source
        for fold in left_out:
            source = Fold(source, fold, self.folds, held_out=False)
        return source

    def are_few(self, machines: int) -> bool:
        """Whether so many machines may step together."""
        return StackedRows.are_few(replace(self.free, source=self.source), machines)

    def stacked(self, without: Sequence[tuple[int, ...]]) -> StackedMachines | None:
        """Return machines without some folds, each judged on the last of these, where rows are few; else None."""
        found = StackedRows.of(replace(self.free, source=self.source), len(without))
        if found is None:
            return None
        fold = fold_of(0, self.source.n_rows, self.folds) if isinstance(self.folds, int) else self.folds
        learned = ~np.stack([np.isin(fold, one) for one in without])
        judged = fold == np.array([one[-1:] for one in without])
        return StackedMachines(found, learned * found.weight, judged * found.weight)

    def with_targets_of(self, machines: int) -> list[Source]:
        """Return the folds, with the target of a row for each machine where these are not coupled."""
        if self.free.loss.coupled:
            return self.parts
        repeated = np.tile([[0.0], [1.0]], machines)
        return [part.changed(part.targets.recoding(repeated)) for part in self.parts]

    def second(self, fold: int, theta: Array) -> Array:
        """Return the second derivatives of a fold, (M, M)."""
        return np.asarray(replace(self.free, source=self.parts[fold]).evaluate(theta, second=True).hessian)

    def count_read(self) -> None:
        """Count a pass over copies of the rows."""
        self.source.reads[0] += isinstance(self.source, InMemory)


class NextStep(NamedTuple):
    """Without another fold: the step to the minimum, what that fold costs there, and the factored matrix."""

    step: Array
    loss: float
    curvature: Curvature


class FoldMachines:
    """Machines that each learn from all folds but some, along a path of penalties.

    Parameters
    ----------
    rows : by folds.
    without : the folds that each machine leaves out; the last of them is the one whose loss is asked for.
    start : (K, 1 + D) weights to start from, in the view.
    beside : machines without the first of these folds, whose metric serves.
    stacked : whether they may step together, where rows are few; then they have no losses of other folds.

    `judged` (machines,) are the weights of the rows that each machine is judged on.
    """

    def __init__(
        self,
        rows: FoldRows,
        without: Sequence[tuple[int, ...]],
        start: Array,
        beside: FoldMachines | None = None,
        stacked: bool = True,
    ) -> None:
        self.rows, self.without, self.beside = rows, without, beside
        self.kept = np.array([[float(f not in one) for f in range(rows.count)] for one in without])
        self.held = (np.array([one[-1] for one in without]), np.arange(len(without)))
        self.own: dict[int, Array] = {}
        self.metrics: list[Metric] = []
        self.steps = 0
        self.thetas = np.tile(start, (len(without), 1, 1))
        self.judged = rows.weights[self.held[0]]
        self.stack = rows.stacked(without) if stacked else None
        if self.stack is not None:
            self.thetas, self.judged = self.stack.theta.copy(), self.stack.outside.sum(axis=1)
        elif rows.together:
            self.parts = rows.with_targets_of(len(without))
            self.values = np.zeros((rows.count, len(without)))
            self.slopes = np.zeros((rows.count, *self.thetas.shape))
            self._take(self.thetas)
            if beside is None:
                self.curve()

    def solve(self, ridges: Array, rough: float, moved: Array | float = 0.0) -> Array:
        """Move the machines to the minima under ridge penalties (machines, D); return the loss of each on its fold.

        The next step would change these by a share `rough` of the loss of the best constants; `moved` is about how far
        they have to go.
        """
        if self.stack is not None:
            return self._solve_stacked(self.stack, ridges, rough)
        left = np.ones(len(self.without), dtype=bool)
        steps = np.zeros_like(self.thetas)
        before = self.thetas
        if self.rows.together:
            with one_blas_thread():
                if np.any(moved):
                    self._take(self.thetas + moved)
                done, found = self._descend(ridges, rough)
            left = ~done
            steps[done] = found[done]
        if left.any():
            self.thetas = self.thetas.copy()
            for m in np.flatnonzero(left).tolist():
                self.thetas[m] = self._alone(m, ridges[m], before[m], rough)
            if not self.rows.together:
                each = zip(self.held[0], self.thetas, strict=True)
                parts, free = self.rows.parts, self.rows.free
                return np.array([replace(free, source=parts[k]).evaluate(theta).value for k, theta in each])
            self._take(self.thetas)
        return np.asarray(self.values[self.held] + (self.slopes[self.held] * steps).sum(axis=(1, 2)))

    def _solve_stacked(self, stack: StackedMachines, ridges: Array, rough: float) -> Array:
        """Do what `solve` does, by Newton steps of all machines together."""
        passes = stack.passes
        done = stack.solve(ridges, np.full(len(ridges), rough * self.rows.null))
        if not done.all():
            theta = stack.theta.copy()
            for m in np.flatnonzero(~done).tolist():
                theta[m] = self._alone(m, ridges[m], theta[m], rough)
            stack.put(theta)
        self.rows.source.reads[0] += stack.passes - passes
        self.thetas = stack.theta.copy()
        return stack.held_out.copy()

    def _alone(self, m: int, ridge: Array, theta: Array, rough: float) -> Array:
        """Return the weights of machine m under a ridge penalty, by steps of its own from theta."""
        weight = float(self.kept[m] @ self.rows.weights)
        one = replace(self.rows.free, source=self.rows.without(self.without[m]), ridge=ridge, weight=weight)
        return minimise_smooth(one, theta, rough * self.rows.null).theta

    def curve(self) -> None:
        """Compute the second derivatives of every fold again, among the machines, (folds, M, M)."""
        middle = self.thetas.mean(axis=0)
        self.matrices = np.stack([self.rows.second(fold, middle) for fold in range(self.rows.count)])
        self.steps = 0  # since then
        self.rows.count_read()

    def without_another(self, k: int, j: int, ridge: Array) -> NextStep:
        """Return what machine k would be without fold j too, by one Newton step."""
        kept = self.kept[k].copy()
        kept[j] = 0.0
        curvature = self._factored(np.tensordot(kept, self.matrices, 1), ridge)
        step = -curvature.solve(self._gradient(k, kept, ridge))
        s = step.ravel()
        loss = self.values[j, k] + self.slopes[j, k].ravel() @ s + 0.5 * s @ self.matrices[j] @ s
        return NextStep(step, float(loss), curvature)

    def are_close(self, ridges: list[Array]) -> bool:
        """Return whether another step would hardly change the losses without another fold: the next one of each."""
        count = len(self.without)
        two = [(k, (k + 1) % count) for k in range(count)]
        near = [self.without_another(k, j, ridges[k]) for k, j in two]
        there = FoldMachines(self.rows, two, self.thetas[0], beside=self, stacked=False)
        there._take(self.thetas + np.stack([one.step for one in near]))
        for m, (k, j) in enumerate(two):
            step = near[m].curvature.solve(there._gradient(m, there.kept[m], ridges[k]))
            if not abs(inner(there.slopes[j, m], step)) <= ONE_STEP_ERROR * there.values[j, m]:
                return False
        return True

    def _descend(self, ridges: Array, rough: float) -> tuple[NDArray[np.bool_], Array]:
        """Step until the next step hardly changes the losses; return which machines got there, and their next steps."""
        count = len(self.without)
        if self.beside is None and self.steps > FEW_STEPS and not self.own:
            self.curve()
        self.metrics = [self._metric(m, ridge) for m, ridge in enumerate(ridges)]
        pairs: list[Pairs] = [deque(maxlen=MOST_STEPS) for _ in range(count)]
        gradients = self._gradients(ridges)
        done = np.zeros(count, dtype=bool)
        for self.steps in range(MOST_STEPS):
            if (
                self.steps
                and self.steps % STEPS_PER_MATRIX == 0
                and count * self.rows.free.size**2 <= MOST_MATRIX_NUMBERS
            ):
                for m in np.flatnonzero(~done).tolist():
                    folds = np.flatnonzero(self.kept[m]).tolist()
                    self.own[m] = np.sum([self.rows.second(fold, self.thetas[m]) for fold in folds], axis=0)
                    self.metrics[m] = self._metric(m, ridges[m])
                    pairs[m].clear()
            each = zip(self.metrics, pairs, gradients, strict=True)
            steps = -np.stack([inverse_product(metric, past, g) for metric, past, g in each])
            slopes = (gradients * steps).sum(axis=(1, 2))
            change = np.abs((self.slopes[self.held] * steps).sum(axis=(1, 2)))
            slow = max(
                2 * self.steps / STEPS_PER_MATRIX, 1.0
            )  # of slow machines the next step is a small part of what is left
            done = np.maximum(-slopes, change) <= rough * self.rows.null / slow**3
            if done.all():
                break
            before = self.thetas
            if not self._advance(ridges, steps, slopes, ~done):
                break
            last, gradients = gradients, self._gradients(ridges)
            for past, s, y in zip(pairs, self.thetas - before, gradients - last, strict=True):
                if (curvature := inner(s, y)) > 1e-12 * np.sqrt(inner(s, s) * inner(y, y)):
                    past.append((s, y, curvature))
        return done, steps

    def _advance(self, ridges: Array, steps: Array, slopes: Array, moving: NDArray[np.bool_]) -> bool:
        """Move machines by shares of their steps that lower their objectives; return whether these were found."""
        start, level, shares = self.thetas, self._levels(ridges), np.ones(len(steps))
        for _ in range(MOST_TRIALS):
            self._take(start + (moving * shares)[:, None, None] * steps, moving)
            reached = self._levels(ridges)
            high = moving & ~(reached <= level + ARMIJO * shares * slopes + FLAT_CHANGE * np.abs(level))
            if not high.any():
                return True
            with np.errstate(all="ignore"):
                best = -slopes * shares**2 / (2 * (reached - level - shares * slopes))
            shares = np.where(high, np.clip(np.nan_to_num(best), 0.1 * shares, 0.5 * shares), shares)
        return False

    def _take(self, thetas: Array, moving: NDArray[np.bool_] | None = None) -> None:
        """Set the machines, and in one pass the loss (folds, machines) and gradient of every fold at each of them.

        Of coupled machines those are evaluated that are `moving`, and at folds that matter to them.
        """
        self.thetas = thetas
        for fold, part in enumerate(self.parts):
            which: Any = slice(None)
            if self.rows.free.loss.coupled:
                which = (self.kept[:, fold] > 0) | (self.held[0] == fold)
                which &= True if moving is None else moving
            if thetas[which].size:
                self.values[fold, which], self.slopes[fold, which] = _objectives(part, self.rows.free, thetas[which])
        self.rows.count_read()

    def _levels(self, ridges: Array) -> Array:
        """Return the objective of each machine, (machines,)."""
        costs = (self.kept.T * self.values).sum(axis=0)
        return np.asarray(costs + 0.5 * (ridges[:, None] * self.thetas[:, :, 1:] ** 2).sum(axis=(1, 2)))

    def _metric(self, m: int, ridge: Array) -> Metric:
        """Return the inverse of about the second derivatives of a machine."""
        if m in self.own:
            return self._factored(self.own[m], ridge).solve
        if self.beside is None:
            return self._factored(np.tensordot(self.kept[m], self.matrices, 1), ridge).solve
        first = self.without[m][0]
        metric = self.beside.metrics[first]
        more = float(self.beside.kept[first] @ self.rows.weights / (self.kept[m] @ self.rows.weights))
        return lambda g: metric(g) * more

    def _factored(self, matrix: Array, ridge: Array) -> Curvature:
        """Return second derivatives with those of a ridge penalty, factored."""
        out = matrix.copy()
        out[np.diag_indices(len(out))] += np.tile(np.concatenate([[0.0], ridge]), self.rows.free.outputs)
        return factor_hessian(out)

    def _gradients(self, ridges: Array) -> Array:
        """Return the gradient of each machine, (machines, K, 1 + D)."""
        return np.stack([self._gradient(m, self.kept[m], ridge) for m, ridge in enumerate(ridges)])

    def _gradient(self, m: int, kept: Array, ridge: Array) -> Array:
        """Return the gradient at machine m over the folds that are kept (folds,), (K, 1 + D)."""
        out = np.tensordot(kept, self.slopes[:, m], 1)
        out[:, 1:] += ridge * self.thetas[m][:, 1:]
        out[:, 0] *= self.rows.free.intercept
        return np.asarray(out)


def _parts(source: Source, folds: int | NDArray[np.int64], count: int) -> list[Source]:
    """Return the rows of each fold: copied where they lie in memory, so that a pass over the folds is one over them."""
    if isinstance(source, InMemory) and 8 * source.n_rows * source.shape.features * source.density <= MOST_COPIED_BYTES:
        fold = fold_of(0, source.n_rows, folds) if isinstance(folds, int) else folds
        return [source.take_rows(np.flatnonzero(fold == k)) for k in range(count)]
    return [Fold(source, k, folds, held_out=True) for k in range(count)]


def _objectives(part: Source, problem: Problem, thetas: Array) -> tuple[Array, Array]:
    """Return the loss (machines,) of rows and its gradient (machines, K, 1 + D) at machines (machines, K, 1 + D)."""
    loss, view = problem.loss, problem.view
    with np.errstate(over="ignore", invalid="ignore"):
        if not loss.coupled:
            sums: Any = part.sum(Objective, Point(loss, thetas[:, 0], view), outputs=len(thetas))
            return sums.value, sums.gradient[:, None]
        known = {"outputs": problem.outputs, "coupled": True}
        each = [part.sum(Objective, Point(loss, theta, view), **known) for theta in thetas]
    return np.array([one.value[0] for one in each]), np.stack([one.gradient for one in each])
