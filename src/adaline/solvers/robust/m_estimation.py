"""M-estimates of regression with a scale of their own (S1, robust criteria; Huber 1981).

    theta = argmin sum_n w_n rho(r_n; c s) + 1/2 sum_j ridge_j theta_j^2,   s = scale of the residuals at theta

An iteration is one pass for gradient and second derivatives at the present scale, one for the new residuals. Of rows
in memory these are kept, so that the line search and the scale read no rows; of streamed rows their totals are
(`sums/plane.py`), and the scale takes one pass more while it still moves (`scales.py`). Huber's loss is solved by
Newton steps. Tukey's, which is not convex, by reweighted least squares, which goes downhill from anywhere, until it is
near, then by Newton. The scale follows by secants: near the solution it is a piecewise linear function of itself.

Where more than half of the rows lie on a plane the scale is zero, up to rounding: that plane is the answer.

The start (`trimmed`) is least trimmed squares on a sample: the sum of the h smallest squared residuals, h just over
half of the rows, which the other rows do not influence. Many planes through as many random rows as there are
coefficients; the best by the median of their residuals are improved by steps that fit the h rows nearest to them, each
of which lowers the sum: two steps for all of these, the rest for the best of them (Rousseeuw and Van Driessen 2006). Of
many rows, the M-estimate of a larger sample comes next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.arrays import AnyArray, Array, host, namespace, to_device_of
from adaline.block import Block
from adaline.errors import InvalidData
from adaline.losses import Huber, Loss, Squared, Tukey
from adaline.solvers import lapack
from adaline.solvers.robust.scales import RankedScale, Scale, scale_by_passes
from adaline.solvers.smooth.newton import Curvature, factor_hessian
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.sources.targets import no_target
from adaline.sums import JointSum, PlanePoint, Ranks, RegressionPlane, ResidualTotals
from adaline.sums.objective import gather, rows_in_view, view_products
from adaline.sums.ranks import INFINITY_KEY, key_of

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 64 * EPS  # residuals, relative to the targets, that are rounding; 10x larger gives more fits a scale of zero
# change of residuals, in scales, below which steps are near the solution; larger lets Newton overshoot
NEAR_CHANGE = 0.2
# change of residuals, in scales, up to which second derivatives are kept; 10x larger takes more and cheaper steps
KEPT_CHANGE = 1e-2
# slope beyond which secant steps of the scale are damped; doubling it lets longer steps oscillate
STEEPEST_SECANT = -20.0
FAR_CHANGE = 0.5  # change of residuals, in scales, beyond which reweighting replaces Newton; larger may leave a minimum
SHORTEST_STEP = 1e-6  # share of a step at which its line search gives up; 10x larger gives up sooner near rounding

# planes drawn for least trimmed squares; doubling it is right among more outliers, in twice the time
PLANES_DRAWN = 500
# drawn planes that are improved; doubling it takes twice as long, and sometimes finds a better minimum
PLANES_KEPT = 25
LAST_STEPS = 50  # steps that improve a plane to the end; doubling it makes slow starts more exact
FIRST_STEPS = 2  # steps of each plane before the best are chosen; doubling it takes twice as long, for a surer choice
PLANES_IMPROVED = 5  # planes that are improved to the end; doubling it takes twice as long
SLIGHT_GAIN = 1e-3  # relative gain of a trimmed step below which it is the last; 10x larger makes starts less exact
# ratio of the factor's diagonal entries from which normal equations keep enough digits; 10x smaller loses a digit or
# two
LEAST_DIAGONAL_RATIO = 1e-3
# threshold of the near-median loss, relative to the loss's own; smaller is closer to the median, in more steps
MEDIAN_THRESHOLD = 1e-2
MOST_MEDIAN_STEPS = 50  # steps under that loss; doubling it matters only where they converge slowly
# added to a matrix that may be singular, relative to its largest diagonal entry; larger makes steps shorter
DIAGONAL_LIFT = 1e-11
# eigenvalue, relative to the largest, of a direction that rows do not identify; 10x larger drops directions they do
UNIDENTIFIED = 1e-10
DAMPING = 1e-8  # share of the diagonal added for a reweighted step; 100x smaller leaves levels without weight to eigh
# columns^3, summed over the planes drawn; doubling it draws twice as many planes of wide rows
MOST_DRAWING_WORK = 2**24
# rows x columns^2, summed over the planes improved; doubling it improves twice as many of large data
MOST_IMPROVING_WORK = 2**28
# rows of a sample at least, and for each column; doubling both makes the start take twice as long
SAMPLE_ROWS, SAMPLE_ROWS_A_COLUMN = 2000, 20

# width of the window for a scale, in its last changes; doubling it makes cells coarser, and misses rarer
WINDOW_CHANGES = 4.0
LEAST_WINDOW = 1e-9  # the same, relative to the scale, at least; 10x larger makes cells coarser


class RowResiduals(ABC):
    """The residuals of all rows at theta (1, 1 + D) in the view of a problem, as an M-estimate needs them."""

    problem: Problem
    theta: Array

    @abstractmethod
    def moved(self, step: Array, share: float, whole: Any = None) -> Any:
        """Return those at theta + share x step; `whole` are those at theta + step, where they are known."""

    @abstractmethod
    def totals(self, loss: Loss) -> ResidualTotals:
        """Return their totals under a loss."""

    @abstractmethod
    def value(self, loss: Loss) -> float:
        """Return the sum of the losses."""

    @abstractmethod
    def change(self, before: Any, reach: float = np.inf) -> float:
        """Return by how much the residuals of rows that count differ from those before a step at most.

        Rows in memory whose residuals were and are beyond `reach` do not count: they pull at nothing.
        """

    @abstractmethod
    def scale(self, kind: Scale) -> float:
        """Return their scale."""

    def objective(self, loss: Loss) -> float:
        """Return F: the sum of the losses and the penalty."""
        return self.value(loss) + 0.5 * float((self.problem.ridge * self.theta[:, 1:] ** 2).sum())


@dataclass(frozen=True)
class HeldResiduals(RowResiduals):
    """Residuals r (N,) and weights (N,) in memory, on the host or on the device of the rows."""

    problem: Problem
    theta: Array
    r: Any
    weight: Any

    def moved(self, step: Array, share: float, whole: HeldResiduals | None = None) -> HeldResiduals:
        """Return those at theta + share x step, on the way to those at theta + step."""
        theta = self.theta + share * step
        r = residuals_beside(self.problem, theta) if whole is None else self.r + share * (whole.r - self.r)
        return replace(self, theta=theta, r=r)

    def totals(self, loss: Loss) -> ResidualTotals:
        """Return their totals under a loss."""
        counted = self.weight > 0
        return ResidualTotals.of(self.r[counted], self.weight[counted], loss)

    def value(self, loss: Loss) -> float:
        """Return the sum of the losses."""
        return float(self.weight @ loss.value(0.0 * self.r, self.r))

    def change(self, before: HeldResiduals, reach: float = np.inf) -> float:
        """Return the largest difference from the residuals before."""
        xp = namespace(self.r)
        counts = (self.weight > 0) & (xp.minimum(xp.abs(self.r), xp.abs(before.r)) <= reach)
        return float(xp.max(xp.where(counts, xp.abs(self.r - before.r), 0.0 * self.weight)))

    def scale(self, kind: Scale) -> float:
        """Return their scale."""
        return kind.of(self.r, self.weight)


class StreamedResiduals(RowResiduals):
    """Residuals of rows that are read again: a pass for totals, with what the scale needs where it is known nearly.

    `size` is where the size that decides the scale was before, and `spread` how far from there it is looked for.
    """

    def __init__(self, problem: Problem, theta: Array, size: float = 0.0, spread: float = np.inf) -> None:
        self.problem, self.theta, self.size, self.spread = problem, theta, size, spread
        self._before: Array | None = None  # theta before the step that led here
        self._known: tuple[Loss, ResidualTotals] | None = None
        self._ranks: Ranks | None = None

    def moved(self, step: Array, share: float, whole: Any = None) -> StreamedResiduals:
        """Return those at theta + share x step."""
        out = StreamedResiduals(self.problem, self.theta + share * step, self.size, self.spread)
        out._before = self.theta
        return out

    def totals(self, loss: Loss) -> ResidualTotals:
        """Return their totals under a loss: a pass, unless they are those of the last one."""
        if self._known is None or self._known[0] != loss:
            view, before = self.problem.view, self._before
            plane = RegressionPlane(self.theta, view)
            step = None if before is None else RegressionPlane(self.theta - before, view)
            low, high = (min(max(self.size + way * self.spread, 0.0), np.finfo(float).max) for way in (-1, 1))
            known = self.size > 0 and self._ranks is None
            window = (key_of(low), key_of(high) + 1) if known else (INFINITY_KEY, INFINITY_KEY)
            kinds: tuple[Any, ...] = ((ResidualTotals, {}), (Ranks, {"window": window}))
            found, ranks = self.problem.source.sum(JointSum, (PlanePoint(plane, loss, step), plane), kinds=kinds).parts
            assert isinstance(found, ResidualTotals)
            assert isinstance(ranks, Ranks)
            self._known = loss, found
            self._ranks = ranks if window[0] < INFINITY_KEY else self._ranks
        return self._known[1]

    def value(self, loss: Loss) -> float:
        """Return the sum of the losses."""
        return self.totals(loss).value

    def change(self, before: StreamedResiduals, reach: float = np.inf) -> float:
        """Return the largest difference from the residuals before the step that led here."""
        return 0.0 if before is self or self._known is None else float(self._known[1].largest[1])

    def scale(self, kind: Scale) -> float:
        """Return their scale, by passes."""
        if not isinstance(kind, RankedScale):
            return kind.of(np.empty(0), np.empty(0))
        plane = RegressionPlane(self.theta, self.problem.view)
        found = scale_by_passes(self.problem.source, plane, kind, self._ranks)
        before, self.size = self.size, kind.reach * found
        self.spread = (
            max(WINDOW_CHANGES * abs(self.size - before), LEAST_WINDOW * self.size) if before else 0.5 * self.size
        )
        return found


def residuals_at(problem: Problem, theta: Array, weight: AnyArray) -> RowResiduals:
    """Return the residuals at theta; without weights (N,) those of rows that are not held."""
    if weight is None:
        return StreamedResiduals(problem, theta)
    r = residuals_beside(problem, theta)
    return HeldResiduals(problem, theta, r, to_device_of(r, weight))


@dataclass(frozen=True)
class MEstimate:
    """Where an M-estimate ended.

    Parameters
    ----------
    theta : (1, 1 + D) in the view.
    residuals : those at theta.
    scale : s, zero for an exact fit.
    evaluation, curvature : F there with its second derivatives, factored.
    moved : what the last step would still change in theta, (1, 1 + D).
    converged : whether steps and scale came to rest.
    history : F after each iteration, at its scale.
    unique : whether F has curvature along all directions that the rows determine. Where as many rows of a level lie
        above its mean as below, all beyond the threshold, the level may move between them.
    """

    theta: Array
    residuals: RowResiduals
    scale: float
    evaluation: Evaluation
    curvature: Curvature
    moved: Array
    converged: bool
    history: list[float]
    unique: bool = True


@dataclass(frozen=True)
class StepMetric:
    """The factored matrix of a step, and whether F has curvature of its own along all directions."""

    curvature: Curvature
    curved: bool = True


def m_estimate(
    problem: Problem,
    loss: type[Huber] | type[Tukey],
    threshold: float,
    scale: Scale,
    weight: AnyArray,
    theta: Array,
    size: float,
    tol: float,
    max_steps: int,
    null: Array,
) -> MEstimate:
    """Return the M-estimate that is reached from theta; `size` is the magnitude whose rounding residuals carry.

    `weight` (N,) is None where residuals are not to be held in memory. `null` (1 + D, A) spans the directions of theta
    that change no output, as of columns that are sums of others: curvature is zero along them at every theta, and is
    made one, so that a Cholesky factor does.
    """
    here = residuals_at(problem, theta, weight)
    along = np.linalg.qr(null)[0]
    lift = along @ along.T if null.shape[1] else None
    s, near, floor = here.scale(scale), loss is Huber, ROUNDING * size
    if loss is Tukey and s > floor:
        here = _with_left_out(here, Tukey(threshold * s), lift)
        s = here.scale(scale)
    past: list[tuple[float, float]] = []  # scales, and the scales of the residuals after the step
    history: list[float] = []
    met, metric = False, None
    for _ in range(max_steps):
        if s <= floor:
            return _exact(here, max(s, floor), history)
        rho: Any = loss(threshold * s)
        evaluation, metric, share, new = _step(here, rho, near, lift, metric)
        change, here = new.change(here, rho.c if loss is Tukey else np.inf), new
        history.append(here.objective(rho))
        found = here.scale(scale)
        past.append((s, found))
        still = change <= tol * s + floor and abs(found - s) <= tol * s + floor
        if met and (still or change <= floor):
            curvature = metric.curvature
            moved = -curvature.solve(evaluation.gradient)
            return MEstimate(here.theta, here, s, evaluation, curvature, moved, True, history, metric.curved)
        met = still and share == 1.0
        close = change <= NEAR_CHANGE * s and share == 1.0
        metric = metric if near and close and change <= KEPT_CHANGE * s else None
        newton = loss is Huber or close or (near and share == 1.0 and change <= FAR_CHANGE * s)
        past = past if newton == near else []  # how the scale follows itself differs between the two kinds of steps
        near = newton
        s = _secant(past) if near and past else found
    rho = loss(threshold * s)
    evaluation = replace(problem, loss=rho).evaluate(here.theta, second=True)
    curvature = _factored(evaluation, lift)
    return MEstimate(here.theta, here, s, evaluation, curvature, -curvature.solve(evaluation.gradient), False, history)


def least_squares(problem: Problem) -> tuple[Array, Curvature]:
    """Return the least-squares theta (1, 1 + D), zero where its sums overflow, and the factored X'X + ridge."""
    zero = np.zeros((1, 1 + problem.features))
    squared = replace(problem, loss=Squared())
    evaluation = squared.evaluate(zero, second=True)
    if evaluation.hessian is None:
        none = problem.source.changed(problem.source.targets.mapping(no_target, 1))
        evaluation = replace(squared, source=none).evaluate(zero, second=True)
    curvature = factor_hessian(_matrix(evaluation))
    return -curvature.solve(evaluation.gradient), curvature


def shortest_slopes(problem: Problem, theta: Array, null: Array) -> Array:
    """Return theta in raw units; of those with equal outputs, which differ along `null`, the one of smallest slopes."""
    out = problem.to_raw(theta)
    if null.shape[1] == 0:
        return out
    raw = np.concatenate([problem.to_raw(column[None]) for column in null.T])
    slopes = raw[:, 1:]
    length = np.abs(slopes).max(axis=1, initial=0.0, keepdims=True)
    raw = raw[length[:, 0] > 0] / length[length[:, 0] > 0]
    share = np.linalg.lstsq(raw[:, 1:].T, out[0, 1:])[0]
    return np.asarray(out - share @ raw)


def trimmed(problem: Problem, weight: AnyArray, rng: np.random.Generator) -> Array:
    """Return theta (1, 1 + D) in the view of least trimmed squares on a sample of the rows."""
    weight = host(weight)
    sample = _sample(problem, weight, max(SAMPLE_ROWS, SAMPLE_ROWS_A_COLUMN * (1 + problem.features)), rng)
    rows, t = sample[:, :-1], sample[:, -1]
    rows[:, 0] = problem.intercept
    rows, to_view = _orthonormal(rows)
    n, p = rows.shape
    if p == 0:
        return np.zeros((1, 1 + problem.features))
    h = min(n, (n + p + 1) // 2)
    count = min(PLANES_DRAWN, max(MOST_DRAWING_WORK // p**3, PLANES_KEPT))
    draws = rng.random((count, n)).argpartition(min(p, n) - 1, axis=1)[:, : min(p, n)]
    some, across = rows[draws], rows[draws].transpose(0, 2, 1)
    gram = across @ some
    gram += (
        UNIDENTIFIED * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(p)
    )  # a draw may not determine a plane
    planes = np.linalg.solve(gram, across @ t[draws][:, :, None])[:, :, 0]
    size = np.median(np.abs(t - planes @ rows.T), axis=1)
    kept = min(PLANES_KEPT, max(MOST_IMPROVING_WORK // (h * p**2), 2))
    first = [_improve(rows, t, planes[i], h, FIRST_STEPS) for i in np.argsort(size, kind="stable")[:kept]]
    first.sort(key=lambda pair: pair[0])
    found = [
        _improve(rows, t, plane, h, LAST_STEPS) for _, plane in first[: max(kept * PLANES_IMPROVED // PLANES_KEPT, 1)]
    ]
    return np.asarray(to_view @ min(found, key=lambda pair: pair[0])[1])[None]


def residuals(problem: Problem, theta: Array) -> Array:
    """Return t - w'x - w0 of every row, (N,), for theta (1, 1 + D) in the view, on the host."""
    return problem.source.map(RegressionPlane(theta, problem.view).read)


def residuals_beside(problem: Problem, theta: Array) -> Any:
    """Return t - w'x - w0 of every row, (N,), where the rows lie."""
    if problem.source.empty_on_device() is None:
        return residuals(problem, theta)
    parts = problem.source.each_block(RegressionPlane(theta, problem.view).residuals)
    return parts[0] if len(parts) == 1 else namespace(parts[0]).concat(parts)


def row_lengths(problem: Problem, root: Array) -> Array:
    """Return |root'(1, v)| of every row, (N,), for root (1 + D, M) in the view; without an intercept 0 stands for 1."""
    root = root.copy()
    root[0] *= problem.intercept
    return problem.source.map(lambda block: np.linalg.norm(view_products(block, problem.view, root), axis=1))


def gather_rows(problem: Problem, chosen: NDArray[np.bool_]) -> Array:
    """Return the chosen rows as (1, v, t) in the view, (m, 2 + D), in memory."""

    def of(block: Block) -> Array:
        some = block.taken(np.flatnonzero(chosen[block.first_row : block.first_row + block.rows]))
        return np.concatenate([host(rows_in_view(some, problem.view)), host(some.t)], axis=1)

    return problem.source.map(of)


def weighted_total(problem: Problem, chosen: NDArray[np.bool_], weight: Array) -> Array:
    """Return the sum of weight (1, v, t) over the chosen rows, (2 + D,)."""
    share = weight * chosen

    def of(block: Block) -> Array:
        w = share[block.first_row : block.first_row + block.rows]
        return np.concatenate([gather(block, w[:, None], problem.view)[0], w @ host(block.t)])[None]

    return np.asarray(problem.source.map(of).sum(axis=0))


@dataclass(frozen=True)
class Reweighted(Loss):
    """A loss of t - z whose curvature is slope / residual: the steps are those of reweighted least squares."""

    base: Loss
    name: ClassVar[str] = "reweighted"

    def value(self, z: AnyArray, t: AnyArray) -> Any:
        """Return the value of the loss."""
        return self.base.value(z, t)

    def slope(self, z: AnyArray, t: AnyArray) -> Any:
        """Return its slope."""
        return self.base.slope(z, t)

    def curvature(self, z: AnyArray, t: AnyArray) -> Any:
        """Return the weight of the row."""
        away = z - t + 1e-150 * namespace(z).astype(z == t, z.dtype)
        return self.base.slope(away, 0.0 * t) / away


def _with_left_out(here: RowResiduals, rho: Tukey, lift: Array | None) -> RowResiduals:
    """Return the residuals after a median regression along the directions that only rows without weight determine.

    As of a level of a category that the start has not seen: all its rows may lie far out, and one of them much further.
    """
    weighted = replace(here.problem, loss=Reweighted(rho)).evaluate(here.theta, second=True)
    null = np.linalg.qr(_factored(weighted, lift).null)[0]  # long vectors belong to columns that are all but zero
    near_median = replace(here.problem, loss=Reweighted(Huber(MEDIAN_THRESHOLD * rho.c)))
    for _ in range(MOST_MEDIAN_STEPS if null.shape[1] else 0):
        at = near_median.evaluate(here.theta, second=True)
        whole = _matrix(at)
        values, vectors = np.linalg.eigh(null.T @ whole @ null)
        kept = values > UNIDENTIFIED * whole.diagonal().max()
        along = null @ vectors[:, kept]
        step = -along @ ((along.T @ at.gradient.ravel()) / values[kept])
        here, before = here.moved(step.reshape(here.theta.shape), 1.0), here
        if here.change(before) <= MEDIAN_THRESHOLD * rho.c:
            break
    return here


def _step(
    here: RowResiduals, rho: Loss, near: bool, lift: Array | None, known: StepMetric | None = None
) -> tuple[Evaluation, StepMetric, float, RowResiduals]:
    """Return F at theta, the metric of the step, the share of it taken, and the residuals there.

    `known` is the metric at a point so close that it need not be computed again. Rows beyond the threshold have
    weights, but no curvature: a convex loss gets that of the weights where it has none of its own, others take a step
    of reweighted least squares.
    """
    problem = replace(here.problem, loss=rho if near else Reweighted(rho))
    evaluation = problem.evaluate(here.theta, second=known is None)
    metric = known
    if metric is None and (not near or _is_definite(evaluation, lift)):
        metric = StepMetric(_factored(evaluation, lift, 0.0 if near else DAMPING))
    if near and rho.convex and (metric is None or metric.curvature.null.shape[1]):
        reweighted = replace(problem, loss=Reweighted(rho)).evaluate(here.theta, second=True)
        metric = _completed(_lifted(evaluation, lift), _lifted(reweighted, lift))
    if metric is None or (near and metric.curvature.null.shape[1]):
        return _step(here, rho, False, lift)
    step = -metric.curvature.solve(evaluation.gradient)
    slope = float((evaluation.gradient * step).sum())
    whole = here.moved(step, 1.0)
    value, share = evaluation.value, 1.0
    while share > SHORTEST_STEP:
        new = whole if share == 1.0 else here.moved(step, share, whole)
        if new.objective(rho) <= value + 1e-4 * share * slope + 1e-13 * abs(value):
            return evaluation, metric, share, new
        share *= 0.5
    if near:
        return _step(here, rho, False, lift)
    return evaluation, metric, 0.0, here


def _secant(past: list[tuple[float, float]]) -> float:
    """Return the next scale: the fixed point of the line through the last two pairs, if that is near."""
    s, found = past[-1]
    if len(past) < 2 or past[-2][0] == s:
        return found
    rise = (found - past[-2][1]) / (s - past[-2][0])
    if not rise < 0.9:
        return found
    rise = max(rise, STEEPEST_SECANT)
    guess = s + (found - s) / (1.0 - rise)
    return guess if 0.5 * min(s, found) <= guess <= 2.0 * max(s, found) else found


def _exact(here: RowResiduals, floor: float, history: list[float]) -> MEstimate:
    """Return the fit of the rows that lie on the plane, and no others."""
    rho = Tukey(100.0 * floor if floor > 0 else 1.0)
    ridge = np.zeros_like(here.problem.ridge)
    on_plane = replace(here.problem, loss=Reweighted(rho), ridge=ridge)
    for _ in range(2):
        evaluation = on_plane.evaluate(here.theta, second=True)
        curvature = factor_hessian(_matrix(evaluation))
        moved = -curvature.solve(evaluation.gradient)
        here = here.moved(moved, 1.0)
    history.append(0.0)
    none = Evaluation(0.0, 0.0 * evaluation.gradient)
    return MEstimate(here.theta, here, 0.0, none, curvature, 0.0 * moved, True, history)


def _factored(evaluation: Evaluation, lift: Array | None, ridge: float = 0.0) -> Curvature:
    """Return the second derivatives factored, with `lift` (see `_lifted`) and a share `ridge` of their diagonal added.

    The latter changes no step: along directions that only rows without weight determine, the gradient is zero too.
    """
    matrix = _lifted(evaluation, lift)
    return factor_hessian(matrix + np.diag(ridge * matrix.diagonal()) if ridge else matrix)


def _completed(hessian: Array, reweighted: Array) -> StepMetric:
    """Return the metric of a convex loss, with the second derivatives of reweighting where its own are zero.

    If all rows of a level of a category lie beyond the threshold, steps along it are those of reweighted least squares,
    and all others are Newton's. Columns that nearly depend on each other have next to no second derivatives of either
    kind.
    """
    diagonal = reweighted.diagonal()
    unit = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    values, vectors = np.linalg.eigh(hessian * unit[:, None] * unit)
    null = vectors[:, values <= UNIDENTIFIED * values[-1]] / np.where(unit > 0, unit, 1.0)[:, None]
    along = (null.T * unit) * unit
    weights = along @ reweighted @ along.T
    curved = float(np.linalg.norm(weights)) <= UNIDENTIFIED
    return StepMetric(factor_hessian(hessian + null @ weights @ null.T), curved)


def _is_definite(evaluation: Evaluation, lift: Array | None) -> bool:
    """Whether the second derivatives have a Cholesky factor: without one, eigenvectors take ten times as long."""
    return not lapack.dpotrf(_lifted(evaluation, lift), lower=1)[1]


def _lifted(evaluation: Evaluation, lift: Array | None) -> Array:
    """Return the second derivatives, a projection `lift` onto directions along which they are zero added."""
    matrix = _matrix(evaluation)
    if lift is None:
        return matrix
    out = matrix + float(np.mean(matrix.diagonal())) * lift
    unseen = (matrix.diagonal() == 0) & (
        lift.diagonal() <= UNIDENTIFIED
    )  # only rows without weight: rounding of `lift`
    out[unseen] = out[:, unseen] = 0.0
    return np.asarray(out)


def _matrix(evaluation: Evaluation) -> Array:
    if evaluation.hessian is None:
        raise InvalidData(
            "the squares of the residuals overflow float64: rescale the targets, the weights or the columns"
        )
    return evaluation.hessian


def _orthonormal(rows: Array) -> tuple[Array, Array]:
    """Return Q (n, r) of orthonormal columns that span those of the rows (n, P), and C (P, r) with rows C = Q.

    Fits to some of the rows are then ill-conditioned only along directions that those rows hardly determine.
    """
    q, r, order = linalg.qr(rows, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(r.diagonal())
    rank = int((size > UNIDENTIFIED * size[0]).sum())
    back = np.zeros((rows.shape[1], rank))
    back[order[:rank]] = linalg.solve_triangular(r[:rank, :rank], np.eye(rank), check_finite=False)
    return np.ascontiguousarray(q[:, :rank]), back


def _improve(rows: Array, t: Array, theta: Array, h: int, steps: int) -> tuple[float, Array]:
    """Return the sum of the h smallest squares and the plane, refitted to the h nearest rows until it hardly falls."""
    best, r = np.inf, t - rows @ theta
    for _ in range(steps):
        near = np.argpartition(np.abs(r), h - 1)[:h]
        new = _fitted(rows[near], t[near])
        r = t - rows @ new
        squares = np.partition(r**2, h - 1)[:h].sum()
        slight = squares > (1 - SLIGHT_GAIN) * best
        if squares < best:
            best, theta = float(squares), new
        if slight:
            break
    return best, theta


def _fitted(rows: Array, t: Array) -> Array:
    """Return the plane (P,) of least squares by normal equations, zero along directions these rows do not determine.

    Up to rounding: a lift of the diagonal takes the place of eigenvalues, which take ten times as long.
    """
    gram, moment = rows.T @ rows, rows.T @ t
    lower, failed = lapack.dpotrf(gram, lower=1)
    size = lower.diagonal()
    if not failed and size.min() > LEAST_DIAGONAL_RATIO * size.max():
        return np.asarray(lapack.dpotrs(lower, moment, lower=1)[0])
    lifted = gram + DIAGONAL_LIFT * gram.diagonal().max() * np.eye(len(gram))
    return np.asarray(lapack.dpotrs(lapack.dpotrf(lifted, lower=1)[0], moment, lower=1)[0])


def _sample(problem: Problem, weight: Array, most: int, rng: np.random.Generator) -> Array:
    """Return sampled rows (1, v, t); drawn by their weights, with repetition, where these differ."""
    positive = weight > 0
    if (weight[positive] == weight[positive][0]).all():
        if positive.sum() > most:
            positive[rng.choice(np.flatnonzero(positive), positive.sum() - most, replace=False)] = False
        return gather_rows(problem, positive)
    drawn = np.sort(rng.choice(len(weight), most, p=weight / weight.sum()))
    chosen = np.zeros(len(weight), dtype=bool)
    chosen[drawn] = True
    return gather_rows(problem, chosen)[np.searchsorted(np.flatnonzero(chosen), drawn)]
