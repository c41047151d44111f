"""The machines of a likelihood of classes: one of two classes, K coupled ones, or one for each of several codings.

With penalty="auto" each machine chooses its penalty by cross-validation, along a path of penalties
(`fits/penalty_path.py`). A fit of nearly the same rows, such as those without a fold, is where the machines start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.fits.constants import Constants, constants_beside_offsets, constants_of_classes
from adaline.fits.likelihood import likelihood_of, null_loss
from adaline.fits.linear_machine import MachineOptions, Near, minimise
from adaline.fits.penalty_path import PenaltyPath, cross_validated, has_matrices, held_out_paths
from adaline.fits.separation import Separation
from adaline.input.class_weights import ClassifiedRows
from adaline.input.labels import Labels
from adaline.losses import Logistic, Loss, Offset, Softmax
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.solvers.smooth.problem import Problem, build_problem, column_spread
from adaline.sources.base import InMemory
from adaline.sources.views import Fold, recoded, weights_or_ones
from adaline.sums import Spread


@dataclass(frozen=True)
class ClassOptions:
    """How to fit machines of classes.

    Parameters
    ----------
    penalty : number or "auto", which is chosen by cross-validation with this number of `folds`.
    l1, intercept, tol, solver, firth : as in `MachineOptions`.
    standardize : whether the penalty acts on columns of unit standard deviation.
    """

    penalty: float | Literal["auto"]
    l1: float
    intercept: bool
    tol: float
    solver: str
    firth: bool
    standardize: bool
    folds: int

    def unit(self, spread: Spread) -> Array:
        """Return the size of the columns that the penalty acts on, (D,)."""
        if not self.standardize:
            return np.ones(len(spread.mean))
        return spread.deviation if self.intercept else spread.root

    def problem(self, rows: ClassifiedRows, two: bool) -> tuple[Problem, Constants]:
        """Return the objective over rows without a penalty, and the best constants."""
        loss: Loss = Logistic() if two else Softmax()
        if rows.source.targets.offset:
            loss = Offset(loss)
        outputs = 1 if two else len(rows.counts)
        none = RidgePenalty(0.0, np.ones(len(rows.spread.mean)))
        known = (none, rows.spread, rows.sample, rows.lightest)
        problem = build_problem(rows.source, loss, outputs, self.intercept, *known)
        if rows.source.targets.offset:
            return problem, constants_beside_offsets(problem)
        return problem, constants_of_classes(problem, rows.counts)


class LikelihoodMachine(NamedTuple):
    """A fitted machine, or K coupled ones; the path of penalties where one was chosen."""

    fit: LikelihoodFit
    history: list[float]
    separation: Separation | None
    path: PenaltyPath | None


class MachinesBefore(NamedTuple):
    """The machines of nearly the same rows: labels, fits, separation, and whether columns depend on each other."""

    classes: Labels
    fits: list[LikelihoodFit]
    separation: Separation | None
    dependent: bool

    def suits(self, rows: ClassifiedRows, machines: int) -> bool:
        """Whether they are of the classes and columns of some rows, and so many."""
        return (
            rows.columns is None
            and np.array_equal(self.classes, rows.classes)
            and len(self.fits) == machines
            and self.fits[0].solution.theta.shape[1] == 1 + rows.source.shape.features
        )

    def starts(self, rows: ClassifiedRows, machines: int) -> list[Near | None]:
        """Return where each machine can start; nowhere from dependent columns, separated classes, or other rows."""
        if self.separation is not None or self.dependent or not self.suits(rows, machines):
            return [None] * machines
        return [Near(fit.solution.theta, fit.root, fit.weight, fit.solution.certificate.condition) for fit in self.fits]


def fit_likelihood(
    rows: ClassifiedRows,
    two: bool,
    init: Array | None,
    before: MachinesBefore | None,
    path: PenaltyPath | None,
    options: ClassOptions,
) -> LikelihoodMachine:
    """Return the machine of two classes, or the coupled ones of all; `path` is that of penalty="auto", if known."""
    near, separated = None, None
    if before is not None:
        near = before.starts(rows, 1)[0]
        separated = before.separation if before.suits(rows, 1) else None
        init = init if separated is None else before.fits[0].solution.theta
    return _fit_machine(rows, two, init, near, path, separated, options)


def fit_codings(
    rows: ClassifiedRows,
    codings: Array,
    init: Array | None,
    before: MachinesBefore | None,
    options: ClassOptions,
) -> list[LikelihoodMachine]:
    """Return a machine of two classes for each coding (machines, C) of the classes: 0, 1, or NaN for those left out."""
    near = [None] * len(codings) if before is None else before.starts(rows, len(codings))
    return [
        _fit_machine(
            *(
                _two_classes(rows, targets),
                True,
                None if init is None else init[i : i + 1],
                near[i],
                None,
                None,
                options,
            )
        )
        for i, targets in enumerate(codings)
    ]


def _fit_machine(
    rows: ClassifiedRows,
    two: bool,
    init: Array | None,
    near: Near | None,
    path: PenaltyPath | None,
    separated: Separation | None,
    options: ClassOptions,
) -> LikelihoodMachine:
    """Return one likelihood's machines; `separated` is a plane that separates rows of which these are some."""
    if rows.columns is not None and init is not None:  # a penalty holds the weights of columns of zeros at zero
        init = init[:, np.concatenate([[0], 1 + rows.columns])]
    unit = options.unit(rows.spread)
    problem, constants = options.problem(rows, two)
    if options.penalty == "auto" and path is None:
        path = cross_validated(problem, unit, constants.theta, constants.loss, options.folds)
    if path is not None:
        init = path.start if init is None else init
        near = None if near is None else replace(near, theta=path.start)
    penalty = RidgePenalty(float(options.penalty) if path is None else path.best, unit)
    machine = MachineOptions(
        *(penalty, options.intercept, options.tol, options.solver, init, options.l1, options.firth),
        near=near,
        separated=separated,
    )
    fitted = minimise(problem.penalised_by(penalty), constants, machine)
    return LikelihoodMachine(
        likelihood_of(fitted, machine, null_loss(problem, constants)), fitted.history, fitted.separation, path
    )


def paths_without_folds(
    rows: ClassifiedRows, fold: NDArray[np.int64], options: ClassOptions
) -> tuple[PenaltyPath, list[PenaltyPath]] | None:
    """Return the paths of penalties of all rows and without each fold (N,), from the same passes.

    None where a class has no rows without a fold, or where the rows would have to be read again for each.
    """
    counts, two = _counts_without(rows, fold), len(rows.counts) == 2
    problem, constants = options.problem(rows, two)
    together = has_matrices(problem, len(counts))
    if not (counts > 0).all() or not (together or isinstance(rows.source, InMemory)):
        return None
    spreads = [column_spread(Fold(rows.source, k, fold, held_out=False)) for k in range(len(counts))]
    units = [options.unit(spread) for spread in (rows.spread, *spreads)]
    if together or not isinstance(rows.source, InMemory):
        return held_out_paths(problem, units[0], constants.theta, constants.loss, fold, units[1:])
    each = []
    for k, (one, unit, spread) in enumerate(zip(counts, units[1:], spreads, strict=True)):
        kept = np.flatnonzero(fold != k)
        part = replace(rows, source=rows.source.take_rows(kept), counts=one, spread=spread, sample=None)
        other = fold[kept] - (fold[kept] > k)
        own, null = options.problem(part, two)
        each.append(cross_validated(own, unit, null.theta, null.loss, other))
    return cross_validated(problem, units[0], constants.theta, constants.loss, fold), each


def _counts_without(rows: ClassifiedRows, fold: NDArray[np.int64]) -> Array:
    """Return the weight of the rows of each class without each fold, (folds, C)."""
    folds, classes = int(fold.max()) + 1, len(rows.counts)
    at = fold * classes + rows.source.read_targets()[:, 0].astype(np.int64)
    counts = np.bincount(at, weights_or_ones(rows.source), folds * classes).reshape(folds, classes)
    return np.stack([np.delete(counts, k, axis=0).sum(axis=0) for k in range(folds)])


def _two_classes(rows: ClassifiedRows, targets: Array) -> ClassifiedRows:
    """Return the rows of one machine, class k as target targets[k], 0 or 1; where it is NaN, without weight."""
    taking_part = ~np.isnan(targets)
    source = recoded(rows.source, (targets == 1.0).astype(float)[:, None], taking_part.astype(float))
    counts = np.array([rows.counts[targets == side].sum() for side in (0.0, 1.0)])
    part = replace(rows, source=source, counts=counts, sample=None)
    return part if taking_part.all() else replace(part, spread=column_spread(source), lightest=None)
