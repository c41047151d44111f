"""l1 and elastic-net penalties: proximal Newton on a working set of columns, with the duality gap as proof.

    P(theta) = F(theta) + sum_j l1_j |w_j|,   F with its own ridge (S0 5.13, S4: regularisation)
    theta <- theta + s (y - theta),   y = argmin of the quadratic model of F at theta + sum_j l1_j |y_j|

At the minimum |dF/dw_j| <= l1_j where w_j = 0, and dF/dw_j = -l1_j sign(w_j) elsewhere. Few columns of many are not
zero, so steps are taken on a working set; one pass over all columns then proves the gap, or says which columns to add.

Each step is one pass for value and gradient. The matrix of the model is kept as long as steps shrink fast, as it
changes little near the end. K coupled outputs have one matrix of all coefficients where memory allows it, and otherwise
one each; these leave out the second derivatives between outputs, and twice their sum lies above the whole. Where no
matrix fits into memory, the model has the diagonal of the largest possible curvature, times what the steps show to be
needed. If more coefficients of sparse rows move than a matrix can have, or if such rows cannot be narrowed to the
columns that move and have more, truncated Newton steps are taken instead (`orthant_newton`), provided that F is curved
everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.kernels import native
from adaline.solvers import lapack
from adaline.solvers.smooth.duality_gap import Planes
from adaline.solvers.smooth.newton import FLAT_CHANGE, DescentResult, curvature_gap, factor_hessian, line_search
from adaline.solvers.smooth.orthant_newton import least_subgradient, orthant_newton
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.sources.views import total_weight

Indices = NDArray[np.intp]

# the working set
WHOLE_COLUMNS = 128  # columns up to which all are in the working set; doubling it takes steps up to 8 times as long
# coefficients of a quadratic up to which unsettled ones join one by one; doubling it takes 8 times as long
MOST_JOINED = 512
# columns that the working set gains; doubling it takes fewer passes over all columns, and larger steps
LEAST_JOINING = 32
# factor on the steps' tolerance where the gap is not met yet; 10x larger takes more rounds of fewer steps
TOL_TIGHTENING = 0.01
NO_COLUMNS = np.zeros(0, np.intp)

# steps
TOGETHER = PROVEN = 3000  # coefficients whose matrix of second derivatives is formed, for steps and for a proof
MOST_MATRIX_NUMBERS = 2**26  # numbers in all matrices; doubling it takes 1 GiB, for more fits
# share of the residual left by a step up to which its matrix is kept; doubling it forms fewer, for more steps
KEPT_RESIDUAL = 0.2
# steps for which matrices of single outputs are kept; doubling it forms fewer of them, which are out of date
LEAST_KEPT_STEPS = 6
# curvature, relative to the largest possible, that counts as zero along a coefficient; 10x larger lifts more
ZERO_CURVATURE = 1e-8

# the minimum of a quadratic model
NATIVE = hasattr(native, "descend")
MODEL_TOL = 1e-4  # share of the residual to which it is solved; 10x larger takes shorter inner loops, and more steps
SWEEPS = 4  # sweeps before the nonzero coefficients are solved for; doubling it delays solves
MORE_SWEEPS = 30  # the same of up to WHOLE_COLUMNS coefficients, whose sweeps are as cheap as one solve
FEW_ROUNDS = 8  # rounds of sweeps and a solve before unsettled coefficients join one by one; doubling it delays that
MOST_ROUNDS = 200  # rounds in all; doubling it doubles the time before a model is left as it is
# added in turn to the unit diagonal of a matrix until it can be factored; larger makes steps slower
LIFTS = 1e-11, 1e-9, 1e-7, 1e-5
LAST_LIFTS = 0.0, 1e-15, 1e-13, *LIFTS  # the same for the last steps, which are to end at the minimum
LEAST_RESIDUAL = 1e-14  # residual, relative to the first, that cannot be lowered further; 10x larger loses a digit

# the path
ZEROING_PENALTY = 1e300  # penalty under which a coefficient is zero
# gap of the model without penalised columns, relative to its objective; 10x larger starts the path half a digit worse
NULL_GAP = 1e-14
# rounding of a derivative, relative to the sum of slopes; 10x larger lets columns without effect have no path
ROUNDING = 64 * float(np.finfo(np.float64).eps)


def proximal(problem: Problem, l1: Array, theta: Array, wanted: float, max_steps: int = 100) -> DescentResult:
    """Step down from theta until the gap is at most `wanted`.

    Parameters
    ----------
    problem : F, with K outputs and D columns.
    l1 : (D,) penalties of |w_j| in the coordinates of the view: l1 x scale_j for a penalty in raw units.
    theta : (K, 1 + D) where to start.
    wanted : bound on P - min P to be proven.
    max_steps : steps at most.

    Returns
    -------
    Where it ended. `evaluation` has P and its least subgradient, which is zero at the minimum; `history` P after each
        step.
    """
    penalised = Penalised(problem, np.concatenate([[0.0], l1]), Planes(problem))
    here = DescentResult(theta, problem.evaluate(theta))
    if _is_curved(problem) and _has_no_matrix(penalised, here):
        return ended(penalised, orthant_newton(problem, penalised.l1, here, penalised.gap, wanted, max_steps))
    return ended(penalised, solve_penalised(penalised, theta, here.evaluation, wanted, max_steps))


def _has_no_matrix(penalised: Penalised, here: DescentResult) -> bool:
    """Whether more coefficients of sparse rows move than a matrix could be formed of; streamed, all do."""
    problem, many = penalised.problem, 1 + penalised.problem.features
    if not problem.source.streamed:
        steep = least_subgradient(here.theta, here.evaluation.gradient, penalised.l1)
        many = int(((here.theta != 0) | (steep != 0)).any(axis=0).sum())
    return problem.source.sparse and problem.outputs * many**2 > MOST_MATRIX_NUMBERS


def _is_curved(problem: Problem) -> bool:
    """Whether F is convex, and neither straight parts of a loss nor a gain of all coupled outputs lack curvature."""
    loss = problem.loss
    return loss.convex and (problem.penalised or (math.isfinite(loss.concordance) and not loss.coupled))


class PathPoint(NamedTuple):
    """A penalty and the minimum under it."""

    l1: float
    found: DescentResult


def l1_points(
    problem: Problem,
    unit: Array,
    constant: Array,
    wanted: float,
    points: int = 20,
    ratio: float = 1e-3,
    ridge: Callable[[float], Array] | None = None,
) -> list[PathPoint]:
    """Return the minima under falling penalties, each with a gap of at most `wanted`.

    Parameters
    ----------
    problem : F.
    unit : (D,) column j is penalised by l1 unit_j |w_j|, in the coordinates of the view.
    constant : (K,) intercepts to start from.
    wanted : bound on the gap to be proven at each point.
    points : how many penalties, in geometric progression from the largest.
    ratio : smallest penalty over largest.
    ridge : where it changes along the path, the ridge penalties (D,) beside a penalty l1.

    Returns
    -------
    The first point is the minimum without penalised columns. It is the only one, with a penalty of zero, where these
    explain nothing of the target, as of a constant one.
    """
    planes = Planes(problem)
    here = _without(problem, unit, planes, constant)
    pull = np.abs(here.evaluation.gradient[:, 1:]).max(axis=0)[unit > 0]
    slopes = np.abs(problem.evaluate(np.zeros_like(here.theta)).gradient[:, 0]).max()
    slopes += total_weight(problem.source) * np.abs(here.theta[:, 0]).max()
    if pull.max(initial=0.0) <= ROUNDING * slopes:
        return [PathPoint(0.0, here)]
    largest = float((pull / unit[unit > 0]).max(initial=0.0))
    first = Penalised(problem, np.concatenate([[0.0], largest * unit]), planes)
    gap = first.gap(here.theta, here.evaluation)
    here = here._replace(gap=gap, converged=here.converged or gap <= wanted)
    if not here.converged:
        here = solve_penalised(first, here.theta, here.evaluation, wanted, 100)
    start, penalties = PathPoint(largest, here), np.geomspace(largest, largest * ratio, points)[1:]
    return [PathPoint(largest, ended(first, here)), *_along(problem, unit, planes, start, penalties, wanted, ridge)]


def points_at(
    problem: Problem,
    unit: Array,
    constant: Array,
    wanted: float,
    penalties: Array,
    ridge: Callable[[float], Array] | None = None,
) -> list[PathPoint]:
    """Return the minima under given penalties, falling, as `l1_points` does."""
    planes = Planes(problem)
    start = PathPoint(float(penalties[0]), _without(problem, unit, planes, constant))
    return list(_along(problem, unit, planes, start, penalties, wanted, ridge))


def points_near(
    problem: Problem, unit: Array, wanted: float, penalties: Array, thetas: Array, ridge: Callable[[float], Array]
) -> list[PathPoint]:
    """Return the minima under given penalties, each from weights near it, thetas (P, K, 1 + D), as `l1_points` does."""
    planes, out = Planes(problem), []
    for l1, theta in zip(penalties.tolist(), thetas, strict=True):
        planes.problem = under = replace(problem, ridge=ridge(l1))
        penalised = Penalised(under, np.concatenate([[0.0], l1 * unit]), planes)
        here = DescentResult(theta, under.evaluate(theta))
        here = here._replace(gap=penalised.gap(theta, here.evaluation))
        if not here.gap <= wanted:
            here = solve_penalised(penalised, theta, here.evaluation, wanted, 100)
        out.append(PathPoint(l1, ended(penalised, here)))
    return out


def _along(
    problem: Problem,
    unit: Array,
    planes: Planes,
    start: PathPoint,
    penalties: Array,
    wanted: float,
    ridge: Callable[[float], Array] | None,
) -> Iterator[PathPoint]:
    """Yield the minimum under each penalty, from the one before; `start` has F and its gradient.

    Sequential strong rule (Tibshirani et al. 2012): a column whose |dF/dw_j| at the last point lies below
    (2 l1 - last l1) unit_j will most likely stay zero, so it is left out, and considered again in the pass that proves
    the gap.
    """
    last, here = start
    for l1 in penalties.tolist():
        if ridge is not None:
            here, problem = _under(here, problem, ridge(l1))
            planes.problem = problem
        pull = np.abs(here.evaluation.gradient[:, 1:]).max(axis=0)
        strong = np.flatnonzero(pull >= (2 * l1 - last) * unit)
        penalised = Penalised(problem, np.concatenate([[0.0], l1 * unit]), planes)
        here = solve_penalised(penalised, here.theta, here.evaluation, wanted, 100, strong)
        yield PathPoint(l1, ended(penalised, here))
        last = l1


def _under(here: DescentResult, problem: Problem, ridge: Array) -> tuple[DescentResult, Problem]:
    """Return a point and its problem under other ridge penalties, (D,); no read of the rows."""
    change, w = ridge - problem.ridge, here.theta[:, 1:]
    gradient = here.evaluation.gradient.copy()
    gradient[:, 1:] += change * w
    value = here.evaluation.value + 0.5 * float((change * w**2).sum())
    return here._replace(evaluation=Evaluation(value, gradient)), replace(problem, ridge=ridge)


@dataclass(frozen=True)
class Penalised:
    """A problem under l1 penalties (1 + D,), zero for the intercept, and the planes below its loss."""

    problem: Problem
    l1: Array
    planes: Planes

    def gap(self, theta: Array, evaluation: Evaluation) -> float:
        """Return a bound on P - min P: the duality gap, or that of the second derivatives where there is none."""
        found = self.planes.gap(theta, evaluation, self.l1[1:])
        if math.isfinite(found) or self.problem.size > PROVEN:
            return found
        least = least_subgradient(theta, evaluation.gradient, self.l1)
        return curved_gap(self.problem, theta, evaluation._replace(gradient=least))


def curved_gap(problem: Problem, theta: Array, least: Evaluation) -> float:
    """Return the gap that second derivatives prove, given P and its least subgradient; infinity if they prove none."""
    hessian = problem.evaluate(theta, second=True).hessian if problem.size <= PROVEN else None
    return math.inf if hessian is None else curvature_gap(problem, factor_hessian(hessian, problem.ridges), least)


def solve_penalised(
    penalised: Penalised,
    theta: Array,
    evaluation: Evaluation,
    wanted: float,
    max_steps: int,
    start: Indices = NO_COLUMNS,
) -> DescentResult:
    """Step down from theta, where F is known.

    `start` : columns to begin with, beside those that are not zero.
    """
    problem, l1 = penalised.problem, penalised.l1
    columns = _begin(penalised, theta, evaluation, start)
    here = DescentResult(theta, evaluation)
    iterate: Iterate | None = None
    entries: Any = slice(None)  # of theta, that the steps change
    enough, few, last = wanted, None, math.inf
    while len(here.history) < max_steps:
        if iterate is None:
            few = problem.of_columns(columns) if len(columns) < problem.features else None
            entries = slice(None) if few is None else np.concatenate([[0], columns + 1])
            iterate = Iterate(theta[:, entries], Evaluation(evaluation.value, evaluation.gradient[:, entries]))
        iterate.history = []
        step_down(few or problem, l1[entries], iterate, enough, max_steps - len(here.history))
        theta, evaluation = iterate.theta, iterate.evaluation
        if few is not None:
            theta = np.zeros_like(here.theta)
            theta[:, entries] = iterate.theta
            evaluation = problem.evaluate(theta)
        gap = penalised.gap(theta, evaluation)
        here = DescentResult(theta, evaluation, None, here.history + iterate.history, gap, gap <= wanted)
        if here.converged:
            break
        wider = _wider(penalised, theta, evaluation, columns) if few is not None else columns
        if len(wider) > len(columns):
            columns, iterate = wider, None
            continue
        size = float(np.linalg.norm(least_subgradient(theta, evaluation.gradient, l1)))
        if iterate.stuck or not iterate.history or size > 0.5 * last:
            return here._replace(converged=math.isinf(gap) and iterate.promise <= wanted)
        enough, last = TOL_TIGHTENING * min(enough, iterate.promise), size
    return here


def _begin(penalised: Penalised, theta: Array, evaluation: Evaluation, start: Indices) -> Indices:
    """Return the columns to begin with."""
    problem = penalised.problem
    if problem.features <= WHOLE_COLUMNS:
        return np.arange(problem.features)
    nonzero = (theta[:, 1:] != 0).any(axis=0) | (penalised.l1[1:] == 0)
    nonzero[start] = True
    if not nonzero.any():
        nonzero[np.argmax(np.abs(evaluation.gradient[:, 1:]).max(axis=0) / penalised.l1[1:])] = True
    return np.flatnonzero(nonzero) if len(start) else _wider(penalised, theta, evaluation, np.flatnonzero(nonzero))


def _wider(penalised: Penalised, theta: Array, evaluation: Evaluation, columns: Indices) -> Indices:
    """Return the columns and those others that violate their condition most; all columns, once they are most of all."""
    problem = penalised.problem
    violation = np.abs(least_subgradient(theta, evaluation.gradient, penalised.l1)[:, 1:]).max(axis=0)
    violation[columns] = 0.0
    room = max(LEAST_JOINING, len(columns))
    worst = np.argsort(-violation)[: min(room, int((violation > 0).sum()))]
    wider = np.sort(np.concatenate([columns, worst]))
    return np.arange(problem.features) if len(wider) > problem.features // 2 and len(worst) else wider


def ended(penalised: Penalised, here: DescentResult) -> DescentResult:
    """Return where it ended with P and its least subgradient instead of F and its gradient."""
    value = here.evaluation.value + cost(here.theta, penalised.l1)
    subgradient = least_subgradient(here.theta, here.evaluation.gradient, penalised.l1)
    return here._replace(evaluation=Evaluation(value, subgradient))


def _without(problem: Problem, unit: Array, planes: Planes, constant: Array) -> DescentResult:
    """Return the minimum over the intercepts, which start from `constant`, and the columns that have no penalty."""
    theta = np.zeros((problem.outputs, 1 + problem.features))
    theta[:, 0] = constant * problem.intercept
    evaluation = problem.evaluate(theta)
    penalised = Penalised(problem, np.concatenate([[0.0], np.where(unit > 0, ZEROING_PENALTY, 0.0)]), planes)
    return solve_penalised(penalised, theta, evaluation, NULL_GAP * abs(evaluation.value), 100)


@dataclass(frozen=True)
class QuadraticModel:
    """Second derivatives: (1, M, M) of all coefficients, (K, M/K, M/K) of each output alone, or the diagonal only."""

    matrices: Array | None
    size: Array
    """(K, 1 + D): the diagonal, by which residuals are measured; infinite where it is zero."""

    @property
    def whole(self) -> bool:
        """Whether it has all second derivatives, so that steps are Newton's."""
        return self.matrices is not None and len(self.matrices) == 1

    def lowest(self, theta: Array, gradient: Array, l1: Array, boost: float) -> Array:
        """Return the minimum of the model at theta with its matrices times `boost`."""
        if self.matrices is None:
            size = self.size * boost
            aim = theta - gradient / size
            return np.asarray(np.sign(aim) * np.maximum(np.abs(aim) - l1 / size, 0.0))
        parts = len(self.matrices)
        each = zip(
            self.matrices,
            *(part.reshape(parts, -1) for part in (gradient, theta, np.broadcast_to(l1, theta.shape))),
            strict=True,
        )
        tol = MODEL_TOL
        found = [minimise_quadratic(h * boost if boost > 1 else h, g, w, cost.copy(), tol) for h, g, w, cost in each]
        return np.concatenate(found).reshape(theta.shape)


@dataclass
class Iterate:
    """State of the steps: theta, F there, P after each step, and by how much the last model promised to lower P."""

    theta: Array
    evaluation: Evaluation
    history: list[float] = field(default_factory=list)
    promise: float = math.inf
    model: QuadraticModel | None = None
    stuck: bool = False


def step_down(problem: Problem, l1: Array, iterate: Iterate, enough: float, max_steps: int) -> Iterate:
    """Take at most `max_steps` steps, until one promises no more than `enough`; `l1` is (1 + D,), intercept first."""
    boost, age, fresh = 1.0, 0, False
    value = iterate.evaluation.value + cost(iterate.theta, l1)
    for _ in range(max_steps):
        if iterate.model is None:
            iterate.model, age, fresh = quadratic_model(problem, iterate.theta, regular=not l1.any()), 0, True
            if iterate.model is None:
                iterate.stuck = True
                break
        aim = iterate.model.lowest(iterate.theta, iterate.evaluation.gradient, l1, boost)
        step = aim - iterate.theta
        slope = _slope(iterate.theta, aim, iterate.evaluation.gradient, l1)
        iterate.promise = max(-slope, 0.0)
        if not slope < 0:
            if fresh:
                break
            iterate.model = None
            continue
        before = residual(iterate.theta, iterate.evaluation, l1, iterate.model)
        new, share = _search(problem, l1, iterate, value, step, slope)
        if new is None:
            iterate.stuck = fresh
            if fresh:
                break
            iterate.model = None
            continue
        iterate.theta = aim if share == 1 else iterate.theta + share * step
        iterate.evaluation, value = new, new.value + cost(iterate.theta, l1)
        iterate.history.append(value)
        age, fresh = age + 1, False
        if share < 1 and not iterate.model.whole:
            boost *= 2.0
        after = residual(iterate.theta, iterate.evaluation, l1, iterate.model)
        if after > KEPT_RESIDUAL * before and age >= (1 if iterate.model.whole else LEAST_KEPT_STEPS):
            iterate.model = None
        if iterate.promise <= enough:
            break
    return iterate


def quadratic_model(problem: Problem, theta: Array, regular: bool) -> QuadraticModel | None:
    """Return the model at theta; None where it overflows."""
    if problem.outputs * (1 + problem.features) ** 2 > MOST_MATRIX_NUMBERS:
        largest = np.broadcast_to(problem.largest_curvature(), theta.shape)
        return QuadraticModel(None, np.where(largest > 0, largest, np.inf))
    if problem.size <= TOGETHER or problem.outputs == 1:
        hessian = problem.evaluate(theta, second=True, regular=regular).hessian
        matrices = None if hessian is None else hessian[None]
    else:
        matrices = problem.blocks(theta)
    if matrices is None:
        return None
    diagonal = np.concatenate([one.diagonal() for one in matrices]).reshape(theta.shape)
    largest = problem.largest_curvature()
    lift = np.where(diagonal < ZERO_CURVATURE * largest, largest, 0.0)
    if lift.any():
        diagonal = diagonal + lift
        entries = np.arange(matrices.shape[1])
        matrices[:, entries, entries] += lift.reshape(len(matrices), -1)
    return QuadraticModel(matrices, np.where(diagonal > 0, diagonal, np.inf))


def residual(theta: Array, evaluation: Evaluation, l1: Array, model: QuadraticModel) -> float:
    """Return the length of the least subgradient in the metric of the model's diagonal."""
    return math.sqrt(float((least_subgradient(theta, evaluation.gradient, l1) ** 2 / model.size).sum()))


def _slope(theta: Array, aim: Array, gradient: Array, l1: Array) -> float:
    """Return gradient'(aim - theta) + cost(aim) - cost(theta), without cancellation where no weight changes sign."""
    step = aim - theta
    along = (gradient + l1 * np.where(theta != 0, np.sign(theta), np.sign(aim))) * step
    crossed = gradient * step + l1 * (np.abs(aim) - np.abs(theta))
    return float(np.where(theta * aim < 0, crossed, along).sum())


def cost(theta: Array, l1: Array) -> float:
    """Return sum l1_j |w_j|."""
    return float((l1 * np.abs(theta)).sum())


def _search(
    problem: Problem, l1: Array, iterate: Iterate, value: float, step: Array, slope: float
) -> tuple[Evaluation | None, float]:
    def there(share: float) -> Array:
        return iterate.theta + share * step

    return line_search(
        lambda s: problem.evaluate(there(s)), value, slope, FLAT_CHANGE * abs(value), extra=lambda s: cost(there(s), l1)
    )


def minimise_quadratic(hessian: Array, gradient: Array, start: Array, l1: Array, share: float) -> Array:
    """Return the minimum w (M,) of a quadratic with corners, up to a share of the residual at the start.

        q(w) = g'(w - start) + 1/2 (w - start)' H (w - start) + sum_j l1_j |w_j|

    Sweeps of coordinate descent find which weights are zero, and the signs of the others. On those q is smooth, and one
    solve gives its minimum: where the signs stay, that is the answer; otherwise the step ends where the first weight
    becomes zero, and sweeps continue. Nearly dependent columns, for which coordinate descent is slow, cost no more.
    """
    hessian = np.ascontiguousarray(hessian)
    w, g = start.copy(), gradient.copy()
    diagonal = hessian.diagonal()
    alive = diagonal > 0

    def size() -> float:
        return float((least_subgradient(w, g, l1)[alive] ** 2 / diagonal[alive]).sum())

    wanted = max(share, LEAST_RESIDUAL) ** 2 * size()
    last, sweeps = math.inf, SWEEPS if len(w) > WHOLE_COLUMNS else MORE_SWEEPS
    for i in range(MOST_ROUNDS):
        coordinate_descent(hessian, g, w, l1, sweeps, wanted)
        if size() <= wanted:
            break
        if i == FEW_ROUNDS and len(w) <= MOST_JOINED:  # weights leave and return: they are then joined one by one
            solve_active(hessian, g, w, l1)
        else:
            solve_support(hessian, g, w, l1)
        reached = 0.5 * float((gradient + g) @ (w - start)) + float(l1 @ np.abs(w))
        if size() <= wanted or not reached < last:
            break
        last = reached
    return w


def coordinate_descent(hessian: Array, g: Array, w: Array, l1: Array, sweeps: int, enough: float) -> float:
    """Sweep over the coordinates, in place, by the native kernel where it is built."""
    return float((native.descend if NATIVE else coordinate_descent_reference)(hessian, g, w, l1, sweeps, enough))


def coordinate_descent_reference(hessian: Array, g: Array, w: Array, l1: Array, sweeps: int, enough: float) -> float:
    """Sweep over the coordinates, in place: the loop of native/descent.hpp."""
    moved = 0.0
    for _ in range(sweeps):
        moved = 0.0
        for j in np.flatnonzero(hessian.diagonal() > 0):
            h = hessian[j, j]
            a = h * w[j] - g[j]
            new = np.sign(a) * max(abs(a) - l1[j], 0.0) / h + 0.0
            change = new - w[j]
            g += change * hessian[j]
            w[j] = new
            moved += h * change**2
        if moved <= enough:
            break
    return moved


def solve_support(hessian: Array, g: Array, w: Array, l1: Array) -> None:
    """Move, in place, to the minimum over the nonzero weights, or to where the first of them becomes zero."""
    support = np.flatnonzero(((w != 0) | (l1 == 0)) & (hessian.diagonal() > 0))
    if not len(support):
        return
    part = hessian[np.ix_(support, support)]
    step = -solve_definite(part, g[support] + l1[support] * np.sign(w[support]))
    before = w[support]
    crossing = np.flatnonzero((before * (before + step) < 0) & (l1[support] > 0))
    reaches = -before[crossing] / step[crossing]
    share = float(reaches.min(initial=1.0))
    after = before + share * step
    after[crossing[reaches <= share]] = 0.0
    w[support] = after
    g += hessian[:, support] @ (after - before)


def solve_active(hessian: Array, g: Array, w: Array, l1: Array) -> None:
    """Move, in place, to the minimum: solves over the nonzero weights, which others join one by one.

    A step ends where the first weight becomes zero, which then leaves. This is the method of Lawson and Hanson (1974)
    for weights of zero or more, with signs (Osborne, Presnell, Turlach 2000). If columns nearly depend on each other,
    sweeps over coordinates take very long to find which weights are zero.
    """
    alive = hessian.diagonal() > 0
    size = np.sqrt(np.where(alive, hessian.diagonal(), 1.0))
    signs, barred = np.where(alive, np.sign(w), 0.0), ~alive
    free = alive & (l1 == 0)
    largest = np.abs(g / size).max(initial=0.0) + np.abs(size * w).max(initial=0.0) + np.abs(l1 / size).max()
    rounding = LEAST_RESIDUAL * largest
    for _ in range(3 * len(w) + 10):
        whole = 0  # a second solve over the same weights refines the first
        while whole < 2 and len(support := np.flatnonzero(free | (signs != 0))):
            before, sign = w[support], signs[support]
            step = -solve_definite(hessian[np.ix_(support, support)], g[support] + l1[support] * sign, LAST_LIFTS)
            crossing = np.flatnonzero((sign * (before + step) < 0) & ~free[support])
            reaches = before[crossing] / -step[crossing]
            share = float(reaches.min(initial=1.0))
            after = before + share * step
            after[crossing[reaches <= share]] = 0.0
            signs[support[crossing[reaches <= share]]] = 0.0
            w[support] = after
            g += hessian[:, support] @ (after - before)
            whole = 0 if len(crossing) and share < 1 else whole + 1
            barred = barred if share == 0 else ~alive
        pull = np.where(barred | free | (signs != 0), 0.0, np.abs(g) - l1) / size
        joined = int(np.argmax(pull))
        if not pull[joined] > rounding:
            return
        signs[joined] = -np.sign(g[joined])
        barred = barred.copy()
        barred[joined] = True  # until a step is taken


def solve_definite(matrix: Array, right: Array, lifts: tuple[float, ...] = LIFTS) -> Array:
    """Return matrix^-1 right, by Cholesky with a lift added: along null directions the step is far, and l1 decides.

    What rounding leaves below zero takes a larger lift: the step is shorter, and searches along it keep it safe.
    """
    unit = 1.0 / np.sqrt(matrix.diagonal())
    even = matrix * unit[:, None] * unit
    for lift in lifts:
        np.fill_diagonal(even, 1.0 + lift)
        factor, failed = lapack.dpotrf(even, lower=True, clean=False)
        if not failed:
            break
    else:
        return np.asarray(unit * unit * right)  # of the diagonal alone
    return np.asarray(unit * lapack.dpotrs(factor, unit * right, lower=True)[0])
