"""The elastic net: the fit of a loss under l1 and ridge penalties, along a path of l1 that is cross-validated.

    sum over rows of weight x loss + sum_j penalty_j/2 (unit_j w_j)^2 + l1 sum_j unit_j |w_j|

A machine for all rows and one for each fold, which learns from the other rows, go down the same path, each from its
minimum at the penalty before. A machine that learns from a share of the rows has that share of the penalties, which is
the same penalty of a mean over rows, as glmnet and scikit-learn take it.

Squared losses are solved from second moments: one read of the rows, or of wide rows in memory the products of the
columns that matter, gives those of all machines, their gaps and the losses of the rows held out. Other losses, and
columns too many for that, take proximal Newton steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.fits.linear_machine import best_constants
from adaline.fits.penalty_path import Losses
from adaline.input.first_pass import first_pass
from adaline.losses import Loss, Squared
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Status
from adaline.solvers.coordinates.corners import Corners, GroupCorners, PositiveCorners
from adaline.solvers.coordinates.lasso import Lasso, solve_all
from adaline.solvers.coordinates.quadratics import Quadratics, of_moments, of_rows
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.problem import Problem, build_problem, column_spread
from adaline.solvers.smooth.proximal_newton import PathPoint, l1_points, points_at, proximal
from adaline.sources import ArraySource, Source
from adaline.sources.array import SparseSource
from adaline.sources.base import InMemory
from adaline.sources.views import Fold, fold_of
from adaline.sums import FoldSums, Moments, Targets, all_but_one, running

MOMENTS, MOST_MOMENTS = 512, 1500  # columns whose second moments are all formed: of dense rows in memory, of others
COPY = 2**31  # bytes of rows in memory that are copied, fold by fold
FINAL = 1e-12  # share of the loss of the best constants to which the model returned is solved
LARGEST = np.finfo(np.float64).max / 8  # penalty; twice it is finite
FEW_ROWS = "l1='auto' needs rows of some weight in at least two folds, and n_samples = {rows}: give l1 as a number"


@dataclass(frozen=True)
class NetOptions:
    """What a net is penalised by, and how its path is laid out.

    Parameters
    ----------
    l1 : a number, or None for the one that predicts rows held out best.
    penalty : ridge penalties, a number or one a column (D,).
    mix : None, or the share of l1 in l1 + ridge penalty, which then follows l1 along the path.
    folds, points, ratio, rule : of the path.
    standardize : whether penalties act on columns of unit standard deviation.
    intercept : whether w0 is free.
    tol : bounds the gaps of the path as a share of the loss of the best constants.
    positive : whether coefficients are zero or more.
    groups : indices of the columns that enter together; every column is in one group.
    """

    l1: float | None
    penalty: Array
    mix: float | None
    folds: int
    points: int
    ratio: float
    rule: str
    standardize: bool
    intercept: bool
    tol: float
    positive: bool = False
    groups: tuple[NDArray[np.intp], ...] | None = None

    def corners(self, c: Array) -> Corners:
        """Return the penalty with corners that costs c (D,) a coefficient."""
        if self.positive:
            return PositiveCorners(c)
        return Corners(c) if self.groups is None or not c.any() else GroupCorners(c, self.groups)

    def ridge(self, l1: float) -> Array:
        """Return the ridge penalties beside l1, a number or (D,)."""
        return self.penalty if self.mix is None else np.asarray(l1 * (1 - self.mix) / self.mix)


@dataclass(frozen=True)
class ElasticPath:
    """P points, the largest l1 first: (P,) penalties, gaps, and mean losses of rows held out with their errors.

    `theta` (P, K, 1 + D) has the weights in raw units, intercept first.
    """

    l1: Array
    theta: Array
    gaps: Array
    values: Array
    errors: Array

    def in_units(self, unit: float) -> ElasticPath:
        """Return the path of targets times `unit` in the targets' own units; its weights are in these already."""
        gaps, values, errors = (part / unit / unit for part in (self.gaps, self.values, self.errors))
        return ElasticPath(self.l1 / unit, self.theta, gaps, values, errors)

    def chosen(self, rule: str) -> int:
        """Return the index of the least loss, or of the largest l1 whose loss is within a standard error of it."""
        best = int(np.argmin(self.values))
        if rule == "best":
            return best
        return int(np.argmax(self.values <= self.values[best] + self.errors[best]))


@dataclass(frozen=True)
class FittedNet:
    """Weights (K, 1 + D) in raw units, the penalty l1, the path where there is one, and the columns (D,).

    `varying` says which columns vary, `mean` what they are on average.
    """

    theta: Array
    l1: float
    path: ElasticPath | None
    certificate: Certificate
    varying: NDArray[np.bool_]
    mean: Array


def fit_nets(source: Source, loss: Loss, options: NetOptions) -> list[FittedNet]:
    """Return the net of each target, or the one of coupled outputs."""
    if isinstance(loss, Squared):
        found = _by_moments(source, options) or _by_rows(source, options)
        if found is not None:
            return found
    if options.positive or options.groups is not None:
        raise InvalidParameter(
            "positive=True and groups need columns few enough for their second moments, or dense rows in memory"
        )
    if loss.coupled or source.shape.targets == 1:
        return [_by_steps(source, loss, options)]
    return [_by_steps(source.with_target(k), loss, options) for k in range(source.shape.targets)]


def _by_moments(source: Source, options: NetOptions) -> list[FittedNet] | None:
    """Fit squared losses from the second moments of every fold, in one read; None where there are too many columns."""
    dense = isinstance(source, InMemory) and not source.sparse
    if source.shape.features > (MOMENTS if dense else MOST_MOMENTS):
        return None
    centred = options.intercept and not source.sparse
    if options.l1 is None:
        parts = source.sum(
            FoldSums,
            lambda first, rows: fold_of(first, rows, options.folds),
            **{"of": Moments, "centred": centred, "folds": options.folds},
        ).parts
        parts = [part for part in parts if part.weight > 0]
        if len(parts) < 2:
            if not all(part.finite for part in parts):
                source.refuse_nonfinite()
            raise InvalidData(FEW_ROWS.format(rows=source.count_rows()))
        total, others = running(parts)[-1], all_but_one(parts)
    else:
        total, others = source.sum(Moments, centred=centred), []
    if not total.finite:
        source.refuse_nonfinite()
    if options.intercept:
        total, others = total.about_mean(), [one.about_mean() for one in others]
    return [_required(of_moments(total, others, k), options) for k in range(source.shape.targets)]


def _by_rows(source: Source, options: NetOptions) -> list[FittedNet] | None:
    """Fit squared losses from products of columns of rows in memory; None where that takes too much memory."""
    in_memory = type(source) is ArraySource or isinstance(source, SparseSource)
    if not in_memory or 8 * source.n_rows * source.shape.features * source.density > COPY:
        return None
    assert isinstance(source, ArraySource | SparseSource)
    spread = column_spread(source)
    targets = source.read_targets()
    if not np.isfinite(targets).all():
        source.refuse_nonfinite()
    fold = None
    weight = source.read_weights()
    if options.l1 is None:
        fold = _numbered(fold_of(0, source.n_rows, options.folds), weight)
    found = []
    for t in targets.T:
        net = _net(of_rows(source.x, t, weight, spread, options.intercept, fold), options)
        if net is None:
            return None
        found.append(net)
    return found


def _numbered(fold: NDArray[np.int64], weight: Array | None) -> NDArray[np.int64]:
    """Return the folds (N,) that have any weight, numbered 0, 1, ..."""
    mass = np.bincount(fold, weight)
    if (mass > 0).sum() < 2:
        raise InvalidData(FEW_ROWS.format(rows=len(fold)))
    number = np.cumsum(mass > 0) - 1
    return np.asarray(np.maximum(number, 0)[fold])


def _required(quadratics: Quadratics, options: NetOptions) -> FittedNet:
    net = _net(quadratics, options)
    assert net is not None
    return net


def _net(quadratics: Quadratics, options: NetOptions) -> FittedNet | None:
    """Return the net of quadratics: all rows, then without each fold; None where memory is short."""
    alive, d = quadratics.scale > 0, len(quadratics.scale)
    size = np.where(alive, quadratics.deviation if options.standardize else quadratics.scale, 1.0)
    unit = quadratics.unit  # until the end penalties and losses are those of y times it: in raw units they may overflow

    def ridge(l1: float) -> Array:
        return np.broadcast_to(np.minimum(options.ridge(l1 / unit) * size * size, LARGEST), (d,))

    def raw(machine: Lasso) -> Array:
        return quadratics.raw(machine.m, machine.v, options.intercept)[None]

    machines = [Lasso(quadratics, m) for m in range(len(quadratics.weight))]
    whole, held_out = machines[0], machines[1:]
    wanted = 0.5 * options.tol * quadratics.total
    unity = options.corners(size)
    largest = (1 + 4 * math.ulp(1.0)) / unity.room(-whole.c)  # no coefficient, whatever the rounding
    path = None
    if options.l1 is None:
        if options.mix is not None and not math.isfinite(largest / unit):
            raise InvalidData("the penalties of the path overflow float64: divide the targets by a power of ten")
        losses = Losses(quadratics.weight[0] - quadratics.weight[1:])
        l1s = np.geomspace(largest, largest * options.ratio, options.points) if largest else np.zeros(1)
        last, points = l1s[0], []
        for value in l1s.tolist():
            corners, before = (options.corners(l1 * size) for l1 in (value, last))
            if not solve_all(machines, corners, before, ridge(value), wanted):
                return None
            losses.add(np.array([quadratics.held_out(one.m, one.v, one.g) for one in held_out]))
            points.append((raw(whole), whole.gap, whole.v.copy(), whole.g.copy()))
            last = value
        thetas, gaps, v, g = zip(*points, strict=True)
        path = ElasticPath(l1s, np.array(thetas), np.array(gaps), np.array(losses.values), np.array(losses.errors))
        best = path.chosen(options.rule)
        l1, whole.v, whole.g = float(l1s[best]), v[best], g[best]
        path = path.in_units(unit)
    else:
        l1 = min(options.l1 * unit, LARGEST)
    wanted = np.maximum(FINAL * quadratics.total, math.ulp(1.0) * quadratics.total)
    corners = options.corners(np.minimum(l1 * size, LARGEST))
    if not solve_all([whole], corners, corners if l1 > largest or path else unity.times(largest), ridge(l1), wanted):
        return None
    whole.polish(corners, ridge(l1))
    solved = whole.gap <= max(options.tol, FINAL) * quadratics.total[0]
    steep = np.where(alive, whole.subgradient(corners, ridge(l1)), 0.0) / np.where(alive, quadratics.deviation, 1.0)
    proof = certificate(
        status=Status.SOLVED if solved else Status.NOT_CONVERGED,
        objective=whole.objective(corners, ridge(l1)) / unit / unit,
        gradient=float(np.abs(steep).max(initial=0.0)) / unit,
        gap=whole.gap / unit / unit,
        rank=int(alive.sum()),
        solver="coordinate descent on second moments",
        advice=None if solved else "raise tol, or give a penalty beside l1",
    )
    mean = np.divide(quadratics.offset, quadratics.scale, out=np.zeros(d), where=alive)
    used = l1 / unit if options.l1 is None else options.l1
    return FittedNet(raw(whole), used, path, proof, alive, mean)


def _by_steps(source: Source, loss: Loss, options: NetOptions) -> FittedNet:
    """Fit any smooth convex loss of one target, or of coupled outputs, by proximal Newton steps."""
    targets, spread, sample = first_pass(source, Targets, loss)
    if not targets.finite:
        source.refuse_nonfinite()
    constant = best_constants(source, loss, targets)
    unit = np.ones_like(spread.mean)
    if options.standardize:
        unit = spread.deviation if options.intercept else spread.root
    problem = build_problem(source, loss, len(constant), options.intercept, RidgePenalty(0.0, unit), spread, sample)
    size = unit * problem.view.scale
    none = np.zeros((len(constant), 1 + problem.features))
    none[:, 0] = constant * problem.intercept
    null = abs(problem.evaluate(none).value - float(targets.lowest.sum()))

    def ridge(l1: float) -> Array:
        return np.broadcast_to(options.ridge(l1) * size**2, size.shape)

    path, l1, start = None, options.l1, none
    if l1 is None:
        wanted = options.tol * null
        points = l1_points(problem, size, constant, wanted, options.points, options.ratio, ridge)
        path = _validated(problem, size, constant, wanted, points, ridge, options)
        best = path.chosen(options.rule)
        l1, start = points[best].l1, points[best].found.theta
    under = replace(problem, ridge=np.asarray(ridge(l1)))
    found = proximal(under, l1 * size, start, FINAL * null)
    solved = found.gap <= max(options.tol, FINAL) * null or found.converged
    proof = certificate(
        status=Status.SOLVED if solved else Status.NOT_CONVERGED,
        objective=found.evaluation.value,
        gradient=problem.steepness(found.evaluation.gradient),
        gap=found.gap,
        rank=int((~problem.constant).sum()),
        solver="proximal Newton" if path is None else "proximal Newton along a path",
        advice=None if solved else "raise tol, or give a penalty beside l1",
    )
    return FittedNet(_raw(problem, found.theta), l1, path, proof, ~problem.constant, spread.mean)


def _raw(problem: Problem, theta: Array) -> Array:
    """Return weights in raw units; the intercepts of coupled outputs add up to zero."""
    out = problem.to_raw(theta)
    out[:, 0] -= out[:, 0].mean() * problem.loss.coupled
    return out


def _validated(
    problem: Problem,
    size: Array,
    constant: Array,
    wanted: float,
    points: list[PathPoint],
    ridge: Callable[[float], Array],
    options: NetOptions,
) -> ElasticPath:
    """Return the path of all rows with the losses of the rows held out, by a machine without each fold."""
    source, l1s = problem.source, np.array([point.l1 for point in points])
    free = replace(problem, ridge=np.zeros_like(problem.ridge), sample=None, lightest=None)
    each, weights = [], []
    for train, test in _folds(source, options.folds):
        share = train.total_weight() / problem.weight
        if not 0 < share < 1:
            continue
        one = replace(free, source=train, weight=train.total_weight())
        found = points_at(one, size * share, constant, wanted * share, l1s, partial(_shared, ridge, share))
        each.append([replace(free, source=test).evaluate(point.found.theta).value for point in found])
        weights.append(problem.weight - one.weight)
    if len(each) < 2:
        raise InvalidData(FEW_ROWS.format(rows=source.count_rows()))
    losses = Losses(np.array(weights))
    for values in np.array(each).T:
        losses.add(values)
    thetas = np.array([_raw(problem, point.found.theta) for point in points])
    gaps = np.array([point.found.gap for point in points])
    return ElasticPath(l1s, thetas, gaps, np.array(losses.values), np.array(losses.errors))


def _shared(ridge: Callable[[float], Array], share: float, l1: float) -> Array:
    """Return the ridge penalties beside l1 of a machine that learns from a share of the rows."""
    return ridge(l1) * share


def _folds(source: Source, folds: int) -> list[tuple[Source, Source]]:
    """Return the rows to learn from and those held out, of each fold."""
    if isinstance(source, InMemory) and 8 * source.n_rows * source.shape.features * source.density <= COPY:
        fold = fold_of(0, source.n_rows, folds)
        rows = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]
        return [(source.take_rows(train), source.take_rows(test)) for train, test in rows if len(train) and len(test)]
    return [(Fold(source, k, folds, held_out=False), Fold(source, k, folds, held_out=True)) for k in range(folds)]
