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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, as_dense
from adaline.errors import InvalidData, InvalidParameter
from adaline.fits.linear_machine import Constants, MachineOptions, best_constants, minimise
from adaline.fits.penalty_path import Losses
from adaline.fits.ridge_folds import few_folds, part_moments, without_each
from adaline.fits.stacked_nets import FoldNet, stacked_paths
from adaline.input.first_pass import first_pass
from adaline.losses import Absolute, Loss, Quantile, Squared
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Status
from adaline.solvers.coordinates.corners import Corners, GroupCorners, PositiveCorners
from adaline.solvers.coordinates.lasso import Lasso, Together, solve_all
from adaline.solvers.coordinates.newton_nets import NewtonNets
from adaline.solvers.coordinates.quadratics import Quadratics, of_moments, of_rows
from adaline.solvers.coordinates.quantile_nets import QuantileLasso
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.problem import Problem, build_problem, column_spread
from adaline.solvers.smooth.proximal_newton import (
    EXACT_PATH,
    NO_WEIGHT,
    ROUNDING,
    PathPoint,
    curved_gap,
    l1_points,
    points_at,
    points_near,
    proximal,
)
from adaline.sources import ArraySource, Source
from adaline.sources.array import SparseSource
from adaline.sources.base import InMemory
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import Fold, fold_of
from adaline.sums import Moments, Targets, all_but_one, running
from adaline.sums.objective import dense_in_view

MOMENTS, MOST_MOMENTS = 512, 1500  # columns whose second moments are all formed: of dense rows in memory, of others
TOGETHER = 256  # coefficients of all machines that are swept over together
COPY = 2**31  # bytes of rows in memory that are copied, fold by fold
FINAL = 1e-12  # share of the loss of the best constants to which the model returned is solved
CLOSE = 1e-3  # share of the objective above its lowest: a gap above it is no proof, however small the objective is
EXACT = 64 * math.ulp(1.0)  # share of the loss of the best constants that is rounding
STEP = 0.5  # of l1, from one penalty to the next, on the way to one that is not reached at once
LARGEST = np.finfo(np.float64).max / 8  # penalty; twice it is finite


@dataclass(frozen=True)
class NetOptions:
    """What a net is penalised by, and how its path is laid out.

    Parameters
    ----------
    l1 : a number, or None for the one that predicts rows held out best.
    penalty : ridge penalties, a number or one a column (D,).
    mix : None, or the share of l1 in l1 + ridge penalty, which then follows l1 along the path.
    folds, points, ratio, rule : of the path; with no folds nothing is chosen, and the last point is the net.
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

    def corners(self, c: Array, alive: NDArray[np.bool_]) -> Corners:
        """Return the penalty with corners that costs c (D,) a coefficient; columns not alive are in no group."""
        if self.positive:
            return PositiveCorners(c)
        if self.groups is None or not c.any():
            return Corners(c)
        groups = (group[alive[group]] for group in self.groups)
        return GroupCorners(c, tuple(group for group in groups if len(group)))

    def ridge(self, l1: float) -> Array:
        """Return the ridge penalties beside l1, a number or (D,)."""
        return self.penalty if self.mix is None else np.asarray(l1 * (1 - self.mix) / self.mix)


@dataclass(frozen=True)
class ElasticPath:
    """P points, the largest l1 first: (P,) penalties, gaps, and mean losses of rows held out with their errors.

    `theta` (P, K, 1 + D) has the weights in raw units, intercept first. Without folds there are no losses of rows held
    out, and a certificate for each point.
    """

    l1: Array
    theta: Array
    gaps: Array
    values: Array
    errors: Array
    certificates: tuple[Certificate, ...] = ()

    def in_units(self, unit: float) -> ElasticPath:
        """Return the path of targets times `unit` in the targets' own units; its weights are in these already."""
        gaps, values, errors = (part / unit / unit for part in (self.gaps, self.values, self.errors))
        return ElasticPath(self.l1 / unit, self.theta, gaps, values, errors, self.certificates)

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


def proven(gap: float, above: float, null: float, tol: float) -> bool:
    """Return whether a gap is small beside the loss of the best constants and the objective, both above the lowest."""
    return gap <= max(tol, FINAL) * null and gap <= max(max(tol, CLOSE) * above, EXACT * null)


def short_of(gap: float, above: float) -> str:
    """Return what to do about a gap that proves too little, beside the objective above its lowest."""
    told = f" (the gap is {gap / above:.1g} of the objective)" if math.isfinite(gap) and above > 0 else ""
    return f"raise tol, or give a penalty beside l1{told}"


def refuse_rough(loss: Loss) -> None:
    """Refuse a loss that is not convex, or that has corners."""
    if not loss.convex:
        raise InvalidParameter(
            f"loss={loss.name!r} is not convex, so that no minimum could be proven: use 'huber', or RobustRegression"
        )
    if loss.corners:
        raise InvalidParameter(
            f"loss={loss.name!r} is convex, but has corners, and the steps of a path need curvature: use 'huber', or "
            "RobustRegression, which has it without l1"
        )


def fit_nets(source: Source, loss: Loss, options: NetOptions) -> list[FittedNet]:
    """Return the net of each target, or the one of coupled outputs."""
    if isinstance(loss, Squared):
        found = squared_nets(source, options)
        if found is not None:
            return found
    if loss.coupled and (options.positive or options.groups is not None):
        raise InvalidParameter(
            f"positive=True and groups are for losses of one output, and {loss.name!r} has one for each class, whose "
            "signs mean nothing alone: use loss='logistic' with two labels"
        )
    if loss.coupled:
        return [_by_steps(source, loss, options)]
    each = [source] if source.shape.targets == 1 else [source.with_target(k) for k in range(source.shape.targets)]
    return [_of_one(one, loss, options) for one in each]


def _of_one(source: Source, loss: Loss, options: NetOptions) -> FittedNet:
    """Return the net of one output."""
    if isinstance(loss, Quantile | Absolute):
        if source.streamed or 8 * source.n_rows * (1 + source.shape.features) > COPY:
            raise InvalidParameter(
                f"loss={loss.name!r} is a linear program over rows in memory, as dense numbers of at most "
                f"{COPY >> 20} MiB: use loss='huber', or RobustRegression, which has it without l1"
            )
        return _required(_net(QuantileNets(source, loss, options), options))
    plain = not options.positive and options.groups is None
    squared = isinstance(loss, Squared)  # products of its columns were too many for memory
    found = None if (squared and not plain) or (plain and options.l1 == 0) else _by_newton(source, loss, options)
    if found is None and not plain:
        raise InvalidParameter(
            "positive=True and groups need products of columns that fit into memory: "
            f"at most {MOST_MOMENTS} columns, or rows in memory of at most {COPY >> 20} MiB"
        )
    return found or _by_steps(source, loss, options)


def squared_nets(source: Source, options: NetOptions) -> list[FittedNet] | None:
    """Return the net of each target under the squared loss, from products of columns; None where there is no memory."""
    by_moments = _by_moments(source, options)
    return _by_rows(source, options) if by_moments is None else next(by_moments)


def fit_folds(source: Source, options: NetOptions, fold: NDArray[np.intp]) -> Iterator[list[FittedNet]] | None:
    """Return the nets of squared losses for all rows, then without each fold (N,); None where they need more reads.

    Moments of the rows of every fold and every part that the penalty is chosen by are taken in one read.
    """
    return _by_moments(source, options, fold)


def _by_moments(
    source: Source, options: NetOptions, fold: NDArray[np.intp] | None = None
) -> Iterator[list[FittedNet]] | None:
    """Fit squared losses from second moments, in one read, as `fit_folds`; None where there are too many columns."""
    dense = isinstance(source, InMemory) and not source.sparse
    if source.shape.features > (MOMENTS if dense else MOST_MOMENTS):
        return None
    inner = options.folds if options.l1 is None and options.folds else 1
    outer = 1 if fold is None else int(fold.max()) + 1

    def cells(first: int, rows: int) -> NDArray[np.int64]:
        own = fold_of(first, rows, inner)
        return own if fold is None else own + inner * fold[first : first + rows]

    sums = part_moments(source, options.intercept, cells, inner * outer)
    each = [sums[j::inner] for j in range(inner)]
    if outer == 1:
        return iter([_of_moments(sums, source, options)])
    rows = [[running(one)[-1] for one in each], *zip(*map(all_but_one, each), strict=True)]
    return (_of_moments(list(parts), source, options) for parts in rows)


@one_blas_thread()
def _of_moments(parts: list[Moments], source: Source, options: NetOptions) -> list[FittedNet]:
    """Return the net of each target from the moments of the parts that the penalty is chosen by, or of all rows."""
    if options.l1 is None and options.folds:
        _, total, others = without_each(parts, source, options.intercept, "l1='auto'")
    else:
        total, others = running(parts)[-1], []
        total = total.about_mean() if options.intercept else total
    nets = (SquaredNets(of_moments(total, others, k), options) for k in range(source.shape.targets))
    return [_required(_net(one, options)) for one in nets]


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
    if options.l1 is None and options.folds:
        fold = _numbered(fold_of(0, source.n_rows, options.folds), weight)
    found = []
    for t in targets.T:
        quadratics = of_rows(source.x, t, weight, spread, options.intercept, fold)
        net = _net(SquaredNets(quadratics, options), options)
        if net is None:
            return None
        found.append(net)
    return found


def _numbered(fold: NDArray[np.int64], weight: Array | None) -> NDArray[np.int64]:
    """Return the folds (N,) that have any weight, numbered 0, 1, ..."""
    mass = np.bincount(fold, weight)
    if (mass > 0).sum() < 2:
        raise few_folds("l1='auto'", len(fold))
    number = np.cumsum(mass > 0) - 1
    return np.asarray(np.maximum(number, 0)[fold])


def _required(net: FittedNet | None) -> FittedNet:
    assert net is not None  # what it needs is in memory
    return net


class Nets(ABC):
    """The machine of all rows, and those without each fold, which go down a path of penalties together.

    Until the end penalties and losses are those of targets times `unit`: in raw units they may overflow. `scale` (D,)
    is zero for columns that do not vary, `size` (D,) the units that penalties act in, `null` (M,) the losses of the
    best constants, `outside` (M - 1,) the weights of the rows held out, `mean` (D,) that of the columns.
    """

    solver: ClassVar[str]
    unit: float = 1.0
    lowest: float = 0.0  # bound of the loss
    settled: bool = False  # whether no step is left, where a loss allows no proof of a gap
    scale: Array
    size: Array
    null: Array
    outside: Array
    mean: Array

    @abstractmethod
    def largest(self, unity: Corners) -> float:
        """Return the least penalty that leaves no coefficient; zero where the columns explain nothing."""

    @abstractmethod
    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Step all machines to minima under a penalty, from those under `last`, to gaps of a share of the losses.

        False where there is no memory for it.
        """

    @abstractmethod
    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Bring the machine of all rows as near to its minimum as numbers allow; False as in `solve`."""

    @abstractmethod
    def held_out(self) -> Array:
        """Return the losses of the rows held out, (M - 1,)."""

    @abstractmethod
    def raw(self) -> Array:
        """Return the weights of the machine of all rows in raw units, (1, 1 + D)."""

    @abstractmethod
    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""

    @abstractmethod
    def gap(self) -> float:
        """Return the gap of the machine of all rows."""

    @abstractmethod
    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective of the machine of all rows, and its steepest derivative for columns of unit spread."""

    def proof(self, corners: Corners, ridge: Array, tol: float) -> Certificate:
        """Return how good the machine of all rows is."""
        objective, steepest = self.measure(corners, ridge)
        solved = self.settled or proven(self.gap(), objective - self.lowest, self.null[0], tol)
        return certificate(
            status=Status.SOLVED if solved else Status.NOT_CONVERGED,
            objective=objective / self.unit / self.unit,
            gradient=steepest / self.unit,
            gap=self.gap() / self.unit / self.unit,
            rank=int((self.scale > 0).sum()),
            solver=self.solver,
            advice=None if solved else short_of(self.gap(), objective - self.lowest),
        )


class SquaredNets(Nets):
    """Nets of the squared loss, from its quadratics."""

    solver = "coordinate descent on second moments"

    def __init__(self, quadratics: Quadratics, options: NetOptions) -> None:
        alive = quadratics.scale > 0
        self.quadratics, self.scale, self.unit = quadratics, quadratics.scale, quadratics.unit
        self.size = np.where(alive, quadratics.deviation if options.standardize else quadratics.scale, 1.0)
        self.intercept = options.intercept
        self.null, self.outside = quadratics.total, quadratics.weight[0] - quadratics.weight[1:]
        self.mean = np.divide(quadratics.offset, quadratics.scale, out=np.zeros(len(alive)), where=alive)
        self.machines = [Lasso(quadratics, m) for m in range(len(quadratics.weight))]
        self.whole = self.machines[0]
        self.together: Together | None = None

    def largest(self, unity: Corners) -> float:
        """Return the least penalty that leaves no coefficient."""
        found = 1 / unity.room(-self.whole.c)
        d = len(self.scale)
        if type(unity) is Corners and len(self.machines) * d <= TOGETHER and len(self.quadratics.known) == d and found:
            self.together = Together(self.machines)
        return found

    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Step all machines to minima under a penalty."""
        wanted = 0.5 * share * self.null
        left = self.machines if self.together is None else self.together.solve(corners, ridge, wanted)
        return not left or solve_all(left, corners, last, ridge, wanted)

    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Solve for the coefficients of the machine of all rows; by way of larger penalties where it stops short."""
        share = float(corners.c.max(initial=0.0) / last.c.max(initial=1e-300))
        if not self._reach(corners, last, ridge):
            return False
        if self._enough(corners, ridge, 0.0) or not 0 < share < STEP:
            return True
        stopped, back = self.whole.objective(corners, ridge), self.keep()
        self.whole.v, self.whole.g = np.zeros_like(self.whole.c), -self.whole.c
        for part in np.geomspace(1.0, share, math.ceil(math.log(share, STEP)) + 1)[1:-1].tolist():
            here = last.times(part)
            last, before = here, last
            if not self._reach(here, before, ridge):
                return False
        if not self._reach(corners, last, ridge):
            return False
        if not self.whole.objective(corners, ridge) <= stopped:
            back()
        return True

    def _reach(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Step the machine of all rows to its minimum from that under `last`; False where memory is short."""
        if not solve_all([self.whole], corners, last, ridge, FINAL * self.null):
            return False
        self.whole.polish(corners, ridge)
        return True

    def _enough(self, corners: Corners, ridge: Array, tol: float) -> bool:
        """Return whether the gap is proven small, by second derivatives too where l1 is too small to."""
        whole, null = self.whole, self.null[0]
        objective = whole.objective(corners, ridge)
        if not proven(whole.gap, objective, null, tol):
            whole.gap = min(whole.gap, whole.curved(corners, ridge))
        return proven(whole.gap, objective, null, tol)

    def proof(self, corners: Corners, ridge: Array, tol: float) -> Certificate:
        """Return how good the machine of all rows is."""
        self._enough(corners, ridge, tol)
        return super().proof(corners, ridge, tol)

    def held_out(self) -> Array:
        """Return the losses of the rows held out."""
        v, g = (np.stack([getattr(one, name) for one in self.machines[1:]]) for name in "vg")
        return self.quadratics.held_out(np.arange(1, len(self.machines)), v, g)

    def raw(self) -> Array:
        """Return the weights in raw units."""
        return self.quadratics.raw(0, self.whole.v, self.intercept)[None]

    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""
        return partial(self.whole.__dict__.update, v=self.whole.v.copy(), g=self.whole.g.copy(), gap=self.whole.gap)

    def gap(self) -> float:
        """Return the gap of the machine of all rows."""
        return self.whole.gap

    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective and its steepest derivative."""
        alive = self.scale > 0
        deviation = np.where(alive, self.quadratics.deviation, 1.0)
        steep = np.where(alive, self.whole.subgradient(corners, ridge), 0.0) / deviation
        return self.whole.objective(corners, ridge), float(np.abs(steep).max(initial=0.0))


class SmoothNets(Nets):
    """Nets of a smooth loss of one output, by Newton steps; `parts` are the rows of each fold, or all."""

    solver = "proximal Newton along a path"

    def __init__(self, net: SmoothNet, parts: list[Source]) -> None:
        self.problem, self.size = net.problem, net.size
        self.scale, self.mean = net.problem.view.scale, net.problem.spread.mean
        self.machines = NewtonNets(net.problem, parts, float(net.constant[0]))
        self.null = net.null * self.machines.share
        self.lowest = float(self.machines.lowest[0])
        self.outside = self.machines.weight[0] - self.machines.weight[1:]

    def largest(self, unity: Corners) -> float:
        """Return the least penalty that leaves no coefficient; first find the best constants."""
        machines, none = self.machines, Corners(np.full(len(self.size), NO_WEIGHT))
        machines.solve(none, none, np.zeros_like(self.size), EXACT_PATH * np.abs(machines.value))
        zero = self.problem.evaluate(np.zeros((1, len(self.scale) + 1))).gradient
        slopes = abs(float(zero[0, 0])) + self.problem.weight * abs(float(machines.theta[0, 0]))
        pull = machines.gradient[0, 1:]
        return 1 / unity.room(pull) if np.abs(pull).max(initial=0.0) > ROUNDING * slopes else 0.0

    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Step all machines to minima under a penalty."""
        return self.machines.solve(corners, last, ridge, share * self.null)

    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Step the machine of all rows to its minimum."""
        machines = self.machines
        machines.alone()
        return machines.solve(corners, last, ridge, FINAL * self.null[:1])

    def proof(self, corners: Corners, ridge: Array, tol: float) -> Certificate:
        """Return how good the machine of all rows is; second derivatives bound the gap where l1 is too small to."""
        machines, loss = self.machines, self.problem.loss
        above = self.measure(corners, ridge)[0] - self.lowest
        if not proven(machines.gap[0], above, self.null[0], tol):
            machines.gap[0] = min(machines.gap[0], machines.curved_gap(corners, ridge))
            unproven = math.isinf(machines.gap[0]) and not math.isfinite(loss.concordance)
            self.settled = unproven and machines.promise <= FINAL * self.null[0]
        return super().proof(corners, ridge, tol)

    def held_out(self) -> Array:
        """Return the losses of the rows held out."""
        return self.machines.outside[1:]

    def raw(self) -> Array:
        """Return the weights in raw units."""
        return raw_weights(self.problem, self.machines.theta[:1])

    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""
        return partial(self.machines.put, self.machines.theta[0].copy())

    def gap(self) -> float:
        """Return the gap of the machine of all rows."""
        return float(self.machines.gap[0])

    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective and its steepest derivative."""
        steep = self.machines.subgradient(corners, ridge)
        return self.machines.objective(corners, ridge), self.problem.steepness(steep[None])


class QuantileNets(Nets):
    """Nets of the quantile loss, by linear programs; fold (N,) is the fold of each row, or None."""

    solver = "interior point steps of a linear program"

    def __init__(self, source: Source, loss: Quantile | Absolute, options: NetOptions) -> None:
        spread = column_spread(source)
        unit = np.ones_like(spread.mean)
        if options.standardize:
            unit = spread.deviation if options.intercept else spread.root
        problem = build_problem(source, loss, 1, options.intercept, RidgePenalty(0.0, unit), spread)
        self.problem, self.scale, self.mean = problem, problem.view.scale, spread.mean
        self.size = unit * self.scale
        t, given = source.read_targets()[:, 0], source.read_weights()
        if not np.isfinite(t).all():
            source.refuse_nonfinite()
        self.z = np.concatenate([dense_in_view(as_dense(block.x), problem.view) for block in source.blocks()])
        high = int(np.frexp(np.abs(t).max())[1])
        self.t, self.high = np.ldexp(t, -high), high
        level = loss.level if isinstance(loss, Quantile) else 0.5
        self.weight = np.ones(len(t)) if given is None else np.asarray(given, dtype=np.float64)
        self.weight = self.weight * (1.0 if isinstance(loss, Quantile) else 2.0)
        self.rows = [self.weight > 0]
        if options.l1 is None and options.folds:
            fold = _numbered(fold_of(0, len(t), options.folds), given)
            self.rows += [(fold != k) & self.rows[0] for k in range(fold.max() + 1)]
        theta = np.zeros(1 + len(self.scale))
        self.machines = [
            QuantileLasso(self.z[k], self.t[k], self.weight[k], level, options.intercept, theta, np.zeros(int(k.sum())))
            for k in self.rows
        ]
        weights = np.array([one.weight.sum() for one in self.machines])
        self.share, self.outside = weights / weights[0], weights[0] - weights[1:]
        self.none = Corners(np.full(len(self.size), NO_WEIGHT))
        for one in self.machines:
            one.solve(self.none, self.none)
        self.null = self._raw(np.array([one.objective(self.none) for one in self.machines]))

    def largest(self, unity: Corners) -> float:
        """Return the least penalty that leaves no coefficient."""
        return 1 / unity.room(self.machines[0].pull()) if self.null[0] > 0 else 0.0

    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Solve the programs of all machines."""
        for machine, part in zip(self.machines, self.share.tolist(), strict=True):
            machine.solve(corners.times(part), last.times(part))
        return True

    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Solve the program of all rows."""
        self.machines[0].solve(corners, last)
        return True

    def held_out(self) -> Array:
        """Return the losses of the rows held out."""
        pairs = zip(self.machines[1:], (self.rows[0] & ~rows for rows in self.rows[1:]), strict=True)
        return self._raw(np.array([one.loss(self.z[k], self.t[k], self.weight[k]) for one, k in pairs]))

    def raw(self) -> Array:
        """Return the weights in raw units."""
        return self.problem.to_raw(self._raw(self.machines[0].theta[None]))

    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""
        return partial(self.machines[0].__dict__.update, theta=self.machines[0].theta, e=self.machines[0].e)

    def gap(self) -> float:
        """Return the gap of the machine of all rows."""
        return float(self._raw(np.array(self.machines[0].gap)))

    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective, and what the dual solution lacks of zero derivatives."""
        one = self.machines[0]
        left = np.concatenate([[float(one.weight @ one.e)], corners.subgradient(one.theta[1:], -one.pull())])
        return float(self._raw(np.array(one.objective(corners)))), self.problem.steepness(left[None])

    def _raw(self, numbers: Array) -> Array:
        """Return losses or weights in the units of the targets."""
        return np.asarray(np.ldexp(numbers, self.high))


def _net(nets: Nets, options: NetOptions) -> FittedNet | None:
    """Return the net under the penalty given, or under the one of the path that rows held out choose.

    None where memory is short. Without folds the last point of the path is the net.
    """
    alive, unit, size = nets.scale > 0, nets.unit, nets.size

    def ridge(l1: float) -> Array:
        return np.broadcast_to(np.minimum(options.ridge(l1 / unit) * size * size, LARGEST), size.shape)

    unity = options.corners(size, alive)
    largest = (1 + 4 * math.ulp(1.0)) * nets.largest(unity)  # no coefficient, whatever the rounding
    if options.l1 is not None:
        l1 = min(options.l1 * unit, LARGEST)
        corners = options.corners(np.minimum(l1 * size, LARGEST), alive)
        if not nets.finish(corners, corners if l1 > largest else unity.times(largest), ridge(l1)):
            return None
        return FittedNet(nets.raw(), options.l1, None, nets.proof(corners, ridge(l1), options.tol), alive, nets.mean)
    if options.mix is not None and not math.isfinite(largest / unit):
        raise InvalidData("the penalties of the path overflow float64: divide the targets by a power of ten")
    losses = Losses(nets.outside)
    l1s = np.geomspace(largest, largest * options.ratio, options.points) if largest else np.zeros(1)
    last, points, proofs = float(l1s[0]), [], []
    for l1 in l1s.tolist():
        corners = options.corners(l1 * size, alive) if largest else Corners(np.full(len(size), NO_WEIGHT))
        if not nets.solve(corners, options.corners(last * size, alive), ridge(l1), options.tol):
            return None
        if len(nets.outside):
            losses.add(nets.held_out())
        else:
            proofs.append(nets.proof(corners, ridge(l1), options.tol))
        points.append((nets.raw(), nets.gap(), nets.keep()))
        last = l1
    thetas, gaps, keeps = zip(*points, strict=True)
    judged = np.array(losses.values), np.array(losses.errors)
    path = ElasticPath(l1s, np.array(thetas), np.array(gaps), *judged, tuple(proofs))
    if not len(nets.outside):
        return FittedNet(nets.raw(), last / unit, path.in_units(unit), proofs[-1], alive, nets.mean)
    best = path.chosen(options.rule)
    keeps[best]()
    corners = options.corners(l1s[best] * size, alive) if largest else Corners(np.full(len(size), NO_WEIGHT))
    if not nets.finish(corners, corners, ridge(float(l1s[best]))):
        return None
    proof = nets.proof(corners, ridge(float(l1s[best])), options.tol)
    return FittedNet(nets.raw(), float(l1s[best]) / unit, path.in_units(unit), proof, alive, nets.mean)


@one_blas_thread()
def _by_newton(source: Source, loss: Loss, options: NetOptions) -> FittedNet | None:
    """Fit a smooth convex loss of one output by Newton steps; None where memory or a bound of the loss is missing."""
    parts = [source]
    if options.l1 is None and options.folds:
        parts = [part for _, part in _folds(source, options.folds) if part.total_weight() > 0]
        if len(parts) < 2:
            raise few_folds("l1='auto'", source.count_rows())
    nets = SmoothNets(smooth_net(source, loss, options.intercept, options.standardize), parts)
    return _net(nets, options) if np.isfinite(nets.machines.lowest).all() else None


@one_blas_thread()
def _by_steps(source: Source, loss: Loss, options: NetOptions) -> FittedNet:
    """Fit any smooth convex loss of one target, or of coupled outputs, by proximal Newton steps of one machine."""
    net = smooth_net(source, loss, options.intercept, options.standardize)
    problem, size, constant, none, null, _ = net

    def ridge(l1: float) -> Array:
        return np.broadcast_to(options.ridge(l1) * size**2, size.shape)

    l1 = options.l1
    if l1 == 0 and not options.ridge(0.0).any():
        return _unpenalised(net, options)
    if l1 is not None:
        return _at(net, l1, none, None, options)
    if loss.coupled and (found := _stacked([(net, np.arange(source.n_rows), np.arange(len(none)))], options)):
        return found[0]
    wanted = options.tol * null
    points = l1_points(problem, size, constant, wanted, options.points, options.ratio, ridge)
    path = _validated(problem, size, constant, wanted, points, ridge, options)
    best = path.chosen(options.rule)
    return _at(net, points[best].l1, points[best].found.theta, path, options)


def _at(net: SmoothNet, l1: float, start: Array, path: ElasticPath | None, options: NetOptions) -> FittedNet:
    """Return the net under a penalty, certified; its steps begin at `start` (K, 1 + D), in the view."""
    problem, size, _, _, null, lowest = net
    under = replace(problem, ridge=np.broadcast_to(options.ridge(l1) * size**2, size.shape))
    found = proximal(under, l1 * size, start, FINAL * null)
    enough = partial(proven, above=found.evaluation.value - lowest, null=null, tol=options.tol)
    if not (enough(found.gap) or found.converged):
        found = found._replace(gap=min(found.gap, curved_gap(under, found.theta, found.evaluation)))
    unproven = math.isinf(found.gap) and not math.isfinite(problem.loss.concordance)
    solved = enough(found.gap) or (found.converged and (unproven or math.isfinite(found.gap)))
    proof = certificate(
        status=Status.SOLVED if solved else Status.NOT_CONVERGED,
        objective=found.evaluation.value,
        gradient=problem.steepness(found.evaluation.gradient),
        gap=found.gap,
        rank=int((~problem.constant).sum()),
        solver="proximal Newton" if path is None else "proximal Newton along a path",
        advice=None if solved else short_of(found.gap, found.evaluation.value - lowest),
    )
    return FittedNet(raw_weights(under, found.theta), l1, path, proof, ~problem.constant, problem.spread.mean)


@one_blas_thread()
def _stacked(
    nets: list[tuple[SmoothNet, NDArray[np.intp], NDArray[np.intp]]], options: NetOptions
) -> list[FittedNet] | None:
    """Return nets of few rows whose paths are found together, each with its rows and outputs among those of the first.

    Gaps along the path are proven for the first net, which is of all rows; the others are NaN. None where rows are
    many.
    """
    each = [FoldNet(net.problem, net.size, net.constant, net.null, rows, outputs) for net, rows, outputs in nets]
    paths = stacked_paths(each, options.folds, options.points, options.ratio, options.tol, options.ridge)
    if paths is None:
        return None
    out = []
    for i, ((net, *_), (l1s, thetas, losses, weights)) in enumerate(zip(nets, paths, strict=True)):
        problem, size = net.problem, net.size

        def ridge(l1: float, size: Array = size) -> Array:
            return np.broadcast_to(options.ridge(l1) * size**2, size.shape)

        gaps = np.full(len(l1s), np.nan)
        if i == 0:
            points = points_near(problem, size, options.tol * net.null, l1s, thetas, ridge)
            thetas, gaps = np.array([p.found.theta for p in points]), np.array([p.found.gap for p in points])
        judged = Losses(weights)
        for values in losses:
            judged.add(values)
        raw = [raw_weights(replace(problem, ridge=ridge(l1)), w) for l1, w in zip(l1s.tolist(), thetas, strict=True)]
        path = ElasticPath(l1s, np.array(raw), gaps, np.array(judged.values), np.array(judged.errors))
        best = path.chosen(options.rule)
        out.append(_at(net, float(l1s[best]), thetas[best], path, options))
    return out


def fit_stacked(
    sources: list[Source],
    rows: list[NDArray[np.intp]],
    outputs: list[NDArray[np.intp]],
    loss: Loss,
    options: NetOptions,
) -> list[FittedNet] | None:
    """Return the nets of a smooth loss of classes, of all rows and of some of them; None where rows are many.

    `rows` and `outputs` are the indices of the rows and classes of each source among those of the first one.
    """
    if options.l1 is not None or options.positive or options.groups is not None:
        return None
    nets = [smooth_net(source, loss, options.intercept, options.standardize) for source in sources]
    return _stacked(list(zip(nets, rows, outputs, strict=True)), options)


def _unpenalised(net: SmoothNet, options: NetOptions) -> FittedNet:
    """Fit a loss that nothing is added to, as the systems without l1 do: classes may be separated by a plane."""
    problem, _, _, none, null, lowest = net
    slope = math.sqrt(2 * null / problem.spread.weight)
    constants = Constants(none, lowest + null, lowest, null, slope, inside=False)
    penalty = RidgePenalty(0.0, np.ones(problem.features))
    fitted = minimise(problem, constants, MachineOptions(penalty, options.intercept, FINAL))
    proof = fitted.solution.certificate
    if proof.status.remedies:
        proof = replace(proof, advice=proof.status.advise("give l1 or penalty a number above zero"))
    return FittedNet(fitted.solution.theta, 0.0, None, proof, ~problem.constant, problem.spread.mean)


class SmoothNet(NamedTuple):
    """A smooth loss without penalties, the units (D,) that these act in, and the best constants (K,).

    `none` (K, 1 + D) are the weights of the constants, `null` their loss above the lowest that there is, `lowest`.
    """

    problem: Problem
    size: Array
    constant: Array
    none: Array
    null: float
    lowest: float


def smooth_net(source: Source, loss: Loss, intercept: bool, standardize: bool) -> SmoothNet:
    """Read the targets and the columns of rows, and return what steps along a path need."""
    targets, spread, sample = first_pass(source, Targets, loss)
    if not targets.finite:
        source.refuse_nonfinite()
    constant = best_constants(source, loss, targets)
    unit = np.ones_like(spread.mean)
    if standardize:
        unit = spread.deviation if intercept else spread.root
    problem = build_problem(source, loss, len(constant), intercept, RidgePenalty(0.0, unit), spread, sample)
    none = np.zeros((len(constant), 1 + problem.features))
    none[:, 0] = constant * problem.intercept
    lowest = float(targets.lowest.sum())
    null = abs(problem.evaluate(none).value - lowest)
    return SmoothNet(problem, unit * problem.view.scale, constant, none, null, lowest)


def raw_weights(problem: Problem, theta: Array) -> Array:
    """Return weights in raw units; of coupled outputs, the intercepts add up to zero.

    What all outputs gain by a column decides nothing: without a ridge penalty it is what leaves the least absolute
    values, a median, and of several the one nearest to zero.
    """
    out = problem.to_raw(theta)
    if problem.loss.coupled:
        out[:, 0] -= out[:, 0].mean()
        k, order = len(out), np.sort(out[:, 1:], axis=0)
        out[:, 1:] -= np.where(problem.ridge == 0, np.clip(0.0, order[(k - 1) // 2], order[k // 2]), 0.0)
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
        raise few_folds("l1='auto'", source.count_rows())
    losses = Losses(np.array(weights))
    for values in np.array(each).T:
        losses.add(values)
    thetas = np.array([raw_weights(replace(problem, ridge=ridge(l1)), found.theta) for l1, found in points])
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
