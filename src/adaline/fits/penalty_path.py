"""`penalty="auto"` of a likelihood: the penalty that predicts held-out rows best, along one path for all folds.

The path runs from a penalty that leaves next to nothing of the weights down to next to no penalty, on standardised
columns, so that units do not matter. A machine for each fold learns from the rows of the others. One pass over the rows
gives the loss and the gradient of every fold at every machine: what a machine has learned from, and what its own fold
costs it. Machines step by Newton's rule with second derivatives by fold, of a point between them, which are taken anew
where steps no longer leave less than a tenth. The step to the next penalty needs no pass, as only the ridge changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.choose import minimise_smooth
from adaline.solvers.smooth.newton import Curvature, factor_hessian
from adaline.solvers.smooth.problem import Problem
from adaline.sources import Source
from adaline.sources.base import InMemory
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import Fold, fold_of, in_memory
from adaline.sums import Objective, Point

DECADES = 8
A_DECADE = 2
WORSE = 3  # penalties in a row beyond the best after which a path ends
ROUGH = 1e-7  # tol of the fits on the path
STEPS = 6  # of the machines of all folds together; then each goes on by itself
SLOW = 0.01  # share of the squared decrement that a step may leave
MATRICES = 2e7  # numbers in the second derivatives of all folds
COPY = 2**30  # bytes of rows in memory that are copied, fold by fold


class PenaltyPath(NamedTuple):
    """Penalties, the mean loss of a held-out row under each, its standard error over the folds, and the best."""

    penalties: Array
    values: Array
    errors: Array
    best: float


class Losses:
    """The losses of held-out rows along a path, (folds,) under each penalty, of folds of these weights (folds,)."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights
        self.values: list[float] = []
        self.errors: list[float] = []

    def add(self, losses: Array) -> None:
        """Take in the losses under the next penalty."""
        share = self.weights / self.weights.sum()
        mean = losses.sum() / self.weights.sum()
        each = losses / np.maximum(self.weights, 1e-300)
        self.values.append(float(mean))
        self.errors.append(float(np.sqrt((share * (each - mean) ** 2).sum() / max(len(losses) - 1, 1))))

    @property
    def ended(self) -> bool:
        """Whether the last few penalties were beyond the best."""
        return bool(self.values) and len(self.values) - 1 - int(np.argmin(self.values)) >= WORSE

    def path(self, penalties: Array) -> PenaltyPath:
        """Return the path of the penalties tried."""
        tried = penalties[: len(self.values)]
        best = float(tried[int(np.argmin(self.values))])
        return PenaltyPath(tried, np.array(self.values), np.array(self.errors), best)


def penalties_of(weight: float) -> Array:
    """Return the penalties of a path, descending, for rows of this weight."""
    return weight * 10.0 ** (1 - np.arange(DECADES * A_DECADE + 1) / A_DECADE)


def cross_validated(
    problem: Problem, unit: Array, start: Array, null: float, folds: int | NDArray[np.int64]
) -> PenaltyPath:
    """Return the path of penalties and the best one; `null` is the loss of the best constants, `start` these."""
    penalties = penalties_of(problem.spread.weight)
    machines = FoldMachines(problem, folds, start, null)
    losses = Losses(machines.weights)
    for penalty in penalties:
        losses.add(machines.solve(_ridge(problem, float(penalty), unit)))
        if losses.ended:
            break
    return losses.path(penalties)


def held_out_paths(
    problem: Problem, unit: Array, start: Array, null: float, fold: NDArray[np.int64], units: list[Array]
) -> tuple[PenaltyPath, list[PenaltyPath]]:
    """Return the path over folds (N,), and for each fold the path that the other rows would have by themselves.

    `units` are the deviations of the columns without each fold. All come from the same passes: without two folds, a
    machine is one Newton step from the one without the first of them.
    """
    machines = FoldMachines(problem, fold, start, null)
    count, weights = machines.count, machines.weights
    grids = [penalties_of(problem.spread.weight), *(penalties_of(weights.sum() - one) for one in weights)]
    losses = [Losses(weights), *(Losses(np.delete(weights, k)) for k in range(count))]
    for i in range(len(grids[0])):
        found = machines.solve(_ridge(problem, float(grids[0][i]), unit))
        if not losses[0].ended:
            losses[0].add(found)
        machines.curve()
        for k in range(count):
            if not losses[1 + k].ended:
                losses[1 + k].add(machines.without_another(k, _ridge(problem, float(grids[1 + k][i]), units[k])))
        if all(one.ended for one in losses):
            break
    every, *each = (one.path(grid) for one, grid in zip(losses, grids, strict=True))
    return every, each


def has_matrices(problem: Problem, folds: int) -> bool:
    """Return whether the second derivatives of every fold are formed; else there are no paths without two folds."""
    return folds * problem.size**2 <= MATRICES


def _ridge(problem: Problem, penalty: float, unit: Array) -> Array:
    """Return the penalties of the coefficients in the view of a problem, (D,)."""
    return problem.penalised_by(RidgePenalty(penalty, unit)).ridge


class FoldMachines:
    """Machines that learn from all folds but their own, along a path of penalties.

    Parameters
    ----------
    problem : the objective over all rows; its ridge does not matter.
    folds : their number, of which rows are in one by their index, or the fold of each row, (N,).
    start : (K, 1 + D) weights to start from, in the view.
    null : the loss of the best constants.
    """

    def __init__(self, problem: Problem, folds: int | NDArray[np.int64], start: Array, null: float) -> None:
        self.free = replace(problem, ridge=np.zeros_like(problem.ridge), sample=None, lightest=None)
        self.rows, self.folds, self.null = problem.source, folds, null
        if self.rows.empty_on_device() is None:
            self.rows = in_memory(self.rows)
        self.count = folds if isinstance(folds, int) else int(folds.max()) + 1
        self.parts = _parts(self.rows, folds, self.count)
        self.weights = np.array([part.total_weight() for part in self.parts])
        self.many = self.parts  # with the target of a row for each machine
        if not problem.loss.coupled:
            repeated = np.tile([[0.0], [1.0]], self.count)
            self.many = [part.recoded(repeated) for part in self.parts]
        self.thetas = np.tile(start, (self.count, 1, 1))
        self.together = has_matrices(problem, self.count)
        if self.together:
            self._take(self.thetas)
            self.curve()

    def solve(self, ridge: Array) -> Array:
        """Move the machines to the minima under a ridge penalty (D,); return the loss of each on its own fold."""
        if self.together:
            before = self.thetas
            with one_blas_thread():
                found = self._step_together(ridge)
            if found is not None:
                return found
            self.thetas = before.copy()
        losses = np.empty(self.count)
        for k, part in enumerate(self.parts):
            trained = Fold(self.rows, k, self.folds, held_out=False)
            weight = float(self.weights.sum() - self.weights[k])
            one = replace(self.free, source=trained, ridge=ridge, weight=weight)
            self.thetas[k] = minimise_smooth(one, self.thetas[k], ROUGH * self.null).theta
            losses[k] = replace(self.free, source=part).evaluate(self.thetas[k]).value
        if self.together:
            self._take(self.thetas)
            self.curve()
        return losses

    def without_another(self, k: int, ridge: Array) -> Array:
        """Return the losses (folds - 1,) of the other folds under machine k, each by one step that leaves it out."""
        out = []
        for j in (j for j in range(self.count) if j != k):
            step = -self._curvature(ridge, (k, j)).solve(self._gradient(k, ridge, (k, j)))
            out.append(self._loss(j, k, step))
        return np.array(out)

    def _loss(self, fold: int, k: int, step: Array) -> float:
        """Return the loss of a fold at machine k after a short step."""
        s = step.ravel()
        return float(self.values[fold, k] + self.slopes[fold, k].ravel() @ s + 0.5 * s @ self.matrices[fold] @ s)

    def _step_together(self, ridge: Array) -> Array | None:
        """Step until the last step hardly changes the losses; None where that is not reached in a few passes."""
        last = np.inf
        metrics = self._metrics(ridge)
        for _ in range(STEPS):
            steps, decrements = self._steps(ridge, metrics)
            own = np.arange(self.count)
            change = np.abs((self.slopes[own, own] * steps).sum(axis=(1, 2)))
            worst = float(decrements.max())
            if worst <= ROUGH * self.null and change.max() <= ROUGH * self.null:
                break
            if last < np.inf and worst > SLOW * last:
                if worst > last:
                    return None
                self.curve()
                metrics = self._metrics(ridge)
                steps, _ = self._steps(ridge, metrics)
            self._take(self.thetas + steps)
            if not np.isfinite(self.values).all():
                return None
            last = worst
        else:
            return None
        return np.array([self._loss(k, k, step) for k, step in enumerate(steps)])

    def _take(self, thetas: Array) -> None:
        """Set the machines, and in one pass the loss (folds, machines) and gradient of every fold at each of them."""
        self.thetas = thetas
        at = [_objectives(part, self.free, thetas) for part in self.many]
        self.rows.reads[0] += isinstance(self.rows, InMemory)
        self.values = np.stack([values for values, _ in at])
        self.slopes = np.stack([slopes for _, slopes in at])

    def curve(self) -> None:
        """Take the second derivatives of every fold anew, amid the machines, (folds, M, M)."""
        middle = self.thetas.mean(axis=0)
        at = [replace(self.free, source=part).evaluate(middle, second=True) for part in self.parts]
        self.rows.reads[0] += isinstance(self.rows, InMemory)
        self.matrices = np.stack([np.asarray(one.hessian) for one in at])

    def _metrics(self, ridge: Array) -> list[Curvature]:
        return [self._curvature(ridge, (k,)) for k in range(self.count)]

    def _curvature(self, ridge: Array, without: tuple[int, ...]) -> Curvature:
        """Return the factored second derivatives of all folds but some."""
        kept = [f for f in range(self.count) if f not in without]
        matrix = self.matrices[kept].sum(axis=0)
        matrix[np.diag_indices(len(matrix))] += np.tile(np.concatenate([[0.0], ridge]), self.free.outputs)
        return factor_hessian(matrix)

    def _steps(self, ridge: Array, metrics: list[Curvature]) -> tuple[Array, Array]:
        """Return the step of each machine, and the squared length of its gradient."""
        steps, squares = np.empty_like(self.thetas), np.empty(self.count)
        for k, metric in enumerate(metrics):
            gradient = self._gradient(k, ridge, (k,))
            steps[k] = -metric.solve(gradient)
            squares[k] = -float((gradient * steps[k]).sum())
        return steps, squares

    def _gradient(self, k: int, ridge: Array, without: tuple[int, ...]) -> Array:
        """Return the gradient at machine k over all folds but some, (K, 1 + D)."""
        kept = [f for f in range(self.count) if f not in without]
        out = np.asarray(self.slopes[kept, k].sum(axis=0))
        out[:, 1:] += ridge * self.thetas[k][:, 1:]
        out[:, 0] *= self.free.intercept
        return out


def _parts(source: Source, folds: int | NDArray[np.int64], count: int) -> list[Source]:
    """Return the rows of each fold: copied where they lie in memory, so that a pass over the folds is one over them."""
    if isinstance(source, InMemory) and 8 * source.n_rows * source.shape.features * source.density <= COPY:
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
