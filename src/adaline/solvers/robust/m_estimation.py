"""M-estimates of regression with a scale of their own (S1, robust criteria; Huber 1981).

    theta = argmin sum_n w_n rho(r_n; c s) + 1/2 sum_j ridge_j theta_j^2,   s = scale of the residuals at theta

An iteration is one pass for gradient and second derivatives at the present scale, one for the new residuals
(`row_residuals.py`). Huber's loss is solved by Newton steps. Tukey's, which is not convex, by reweighted least squares,
which goes downhill from anywhere, until it is near, then by Newton. The scale follows by secants: near the solution it
is a piecewise linear function of itself. The start is that of `trimmed.py`.

Where more than half of the rows lie on a plane the scale is zero, up to rounding: that plane is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from adaline.arrays import AnyArray, Array, namespace
from adaline.errors import InvalidData
from adaline.losses import Huber, Loss, Squared, Tukey
from adaline.solvers import lapack
from adaline.solvers.robust.row_residuals import RowResiduals, residuals_at
from adaline.solvers.robust.scales import Scale
from adaline.solvers.smooth.newton import Curvature, factor_hessian
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.sources.targets import no_target

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

# threshold of the near-median loss, relative to the loss's own; smaller is closer to the median, in more steps
MEDIAN_THRESHOLD = 1e-2
MOST_MEDIAN_STEPS = 50  # steps under that loss; doubling it matters only where they converge slowly
# eigenvalue, relative to the largest, of a direction that rows do not identify; 10x larger drops directions they do
UNIDENTIFIED = 1e-10
DAMPING = 1e-8  # share of the diagonal added for a reweighted step; 100x smaller leaves levels without weight to eigh


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
