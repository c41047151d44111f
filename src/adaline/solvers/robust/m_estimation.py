"""M-estimates of regression with a scale of their own (S1, robust criteria; Huber 1981).

    theta = argmin sum_n w_n rho(r_n; c s) + 1/2 sum_j ridge_j theta_j^2,   s = scale of the residuals at theta

An iteration is one pass for gradient and second derivatives at the present scale, one for the new residuals. These are
kept in memory, 8 bytes a row, so that the line search and the scale read no rows. Huber's loss is solved by Newton
steps. Tukey's, which is not convex, by reweighted least squares, which goes downhill from anywhere, until it is near,
then by Newton. The scale follows by secants: near the solution it is a piecewise linear function of itself.

Where more than half of the rows lie on a plane the scale is zero, up to rounding: that plane is the answer.

Scales, both right for normal errors; a weight of 2 is the residual twice, W the sum of the weights, p the number of
coefficients:

    mad:    s = median |r_n| / Phi^-1(3/4),   Phi^-1(3/4) = 0.67448975...
    huber:  s with  sum_n w_n min((r_n/s)^2, d^2) = 2 (W - p) h,   d = 2.5,
            h = d^2 + (1 - d^2) Phi(d) - 1/2 - d phi(d)

The start (`trimmed`) is least trimmed squares on a sample: the sum of the h smallest squared residuals, h just over
half of the rows, which the other rows do not influence. Many planes through as many random rows as there are
coefficients; the best by the median of their residuals are improved by steps that fit the h rows nearest to them, each
of which lowers the sum (Rousseeuw and Van Driessen 2006). Of many rows, the M-estimate of a larger sample comes next.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import linalg

from adaline.arrays import Array, host, is_device
from adaline.block import Block
from adaline.errors import InvalidData
from adaline.losses import Huber, Loss, Squared, Tukey
from adaline.solvers.smooth.newton import Curvature, factor_hessian
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.sums.objective import gather, rows_in_view, view_products

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 64 * EPS  # residuals of this share of the targets are rounding
CLOSE = 1e-2  # a step that moves residuals by less than this share of the scale is near the solution
SHORTEST = 1e-6

QUARTER = float(scipy.special.ndtri(0.75))
D = 2.5
H = D**2 + (1 - D**2) * float(scipy.special.ndtr(D)) - 0.5 - D * math.exp(-0.5 * D * D) / math.sqrt(2 * math.pi)

PLANES, KEPT, STEPS = 500, 25, 50  # of least trimmed squares: drawn, improved, and steps of each
WELL = 1e-3  # ratio of the diagonal of a factor that costs normal equations no digits that matter
NUMBERS = 2**21  # in all the planes' equations together
ROWS, ROWS_A_COLUMN = 2000, 40  # of the sample

NEAR = 64.0  # means of this many spreads cost two digits of rounding at most

Scale = Callable[[Array, Array], float]
"""From residuals (N,) and weights (N,) to their scale."""


@dataclass(frozen=True)
class MEstimate:
    """Where an M-estimate ended.

    Parameters
    ----------
    theta : (1, 1 + D) in the view.
    r : (N,) residuals.
    scale : s, zero for an exact fit.
    at, curvature : F there with its second derivatives, factored.
    moved : what the last step would still change in theta, (1, 1 + D).
    converged : whether steps and scale came to rest.
    history : F after each iteration, at its scale.
    """

    theta: Array
    r: Array
    scale: float
    evaluation: Evaluation
    curvature: Curvature
    moved: Array
    converged: bool
    history: list[float]


def m_estimate(
    problem: Problem,
    loss: type[Huber] | type[Tukey],
    threshold: float,
    scale: Scale,
    weight: Array,
    theta: Array,
    size: float,
    tol: float,
    max_steps: int,
) -> MEstimate:
    """Return the M-estimate that is reached from theta; `size` is the magnitude whose rounding residuals carry."""
    r = residuals(problem, theta)
    s, near, floor = scale(r, weight), loss is Huber, ROUNDING * size
    past: list[tuple[float, float]] = []  # scales, and the scales of the residuals after the step
    history: list[float] = []
    met, curvature = False, None
    for _ in range(max_steps):
        if s <= floor:
            return _exact(problem, theta, weight, max(s, floor), history)
        rho: Any = loss(threshold * s)
        evaluation, curvature, share, new, r_new = _step(problem, rho, theta, r, weight, near, curvature)
        change = float(np.abs(r_new - r).max(initial=0.0, where=weight > 0))
        theta, r = new, r_new
        history.append(_value(problem, rho, theta, r, weight))
        found = scale(r, weight)
        past.append((s, found))
        still = change <= tol * s + floor and abs(found - s) <= tol * s + floor
        if met and (still or change <= floor):
            moved = -curvature.solve(evaluation.gradient)
            return MEstimate(theta, r, s, evaluation, curvature, moved, True, history)
        met = still and share == 1.0
        close = change <= CLOSE * s and share == 1.0
        curvature = curvature if near and close else None
        near = loss is Huber or close
        s = _secant(past) if near else found
    rho = loss(threshold * s)
    evaluation = replace(problem, loss=rho).evaluate(theta, second=True)
    curvature = factor_hessian(_matrix(evaluation))
    return MEstimate(theta, r, s, evaluation, curvature, -curvature.solve(evaluation.gradient), False, history)


def least_squares(problem: Problem) -> tuple[Array, Curvature]:
    """Return the least-squares theta (1, 1 + D), zero where its sums overflow, and the factored X'X + ridge."""
    zero = np.zeros((1, 1 + problem.features))
    squared = replace(problem, loss=Squared())
    evaluation = squared.evaluate(zero, second=True)
    if evaluation.hessian is None:
        none = problem.source.with_targets(np.zeros((problem.source.n_rows, 1)))
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


def median(values: Array, weight: Array) -> float:
    """Return the median of values that count `weight` times; the mean of both where it falls between two."""
    positive = weight > 0
    if (weight == weight[0]).all() or np.ptp(weight[positive]) == 0:
        return float(np.median(values[positive]))
    order = np.argsort(values, kind="stable")
    order = order[weight[order] > 0]
    below = np.cumsum(weight[order])
    half = 0.5 * below[-1]
    first = int(np.searchsorted(below, half * (1 - 1e-14)))
    second = first + 1 if below[first] <= half * (1 + 1e-14) else first
    return float(0.5 * (values[order[first]] + values[order[min(second, len(order) - 1)]]))


def mad(r: Array, weight: Array) -> float:
    """Return the median of |r| over the upper quartile of the standard normal distribution, 0.67449."""
    return median(np.abs(r), weight) / QUARTER


def huber_scale(parameters: int) -> Scale:
    """Return the scale of Huber's proposal 2 for a number of coefficients."""

    def scale(r: Array, weight: Array) -> float:
        order = np.argsort(np.abs(r), kind="stable")
        size, w = np.abs(r)[order], weight[order]
        largest = size[-1]
        if largest == 0:
            return 0.0
        inside, squares = np.cumsum(w), np.cumsum(w * (size / largest) ** 2)
        room = 2 * (inside[-1] - parameters) * H - D**2 * (inside[-1] - inside)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = largest * np.sqrt(squares / room)
        beyond = np.append(size[1:], np.inf)
        fits = np.flatnonzero((room > 0) & (size <= D * s) & (D * s <= beyond))
        return float(s[fits[0]]) if len(fits) else 0.0

    return scale


def trimmed(problem: Problem, weight: Array, rng: np.random.Generator) -> Array:
    """Return theta (1, 1 + D) in the view of least trimmed squares on a sample of the rows."""
    p = 1 + problem.features
    sample = _sample(problem, weight, max(ROWS, ROWS_A_COLUMN * p), rng)
    rows, t = sample[:, :-1], sample[:, -1]
    rows[:, 0] = problem.intercept
    n = len(rows)
    h = min(n, (n + p + 1) // 2)
    count = min(PLANES, max(NUMBERS // p**2, KEPT))
    draws = rng.random((count, n)).argpartition(min(p, n) - 1, axis=1)[:, : min(p, n)]
    planes = (np.linalg.pinv(rows[draws]) @ t[draws][:, :, None])[:, :, 0]
    ones = np.ones(n)
    size = np.array([mad(t - rows @ plane, ones) for plane in planes])
    found = [_improve(rows, t, planes[i], h) for i in np.argsort(size, kind="stable")[:KEPT]]
    return min(found, key=lambda pair: pair[0])[1][None]


def residuals(problem: Problem, theta: Array) -> Array:
    """Return t - w'x - w0 of every row, (N,), for theta (1, 1 + D) in the view.

    Outputs are taken in the view, where columns lie about zero, unless the means are small enough not to cost digits.
    """
    slopes = (theta[0, 1:] * problem.view.scale)[:, None]
    constant = float(theta[0, 0] + theta[0, 1:] @ problem.view.offset)
    straight = float(np.abs(problem.view.offset).max(initial=0.0)) <= NEAR and bool(np.isfinite(slopes).all())

    def of(block: Block) -> Array:
        if straight and not is_device(block.x):
            return np.asarray(block.t[:, 0] - (block.x @ slopes)[:, 0] - constant)
        return host(block.t)[:, 0] - view_products(block, problem.view, theta.T.copy())[:, 0]

    return problem.source.map(of)


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

    def value(self, z: Any, t: Any) -> Any:
        """Return the value of the loss."""
        return self.base.value(z, t)

    def slope(self, z: Any, t: Any) -> Any:
        """Return its slope."""
        return self.base.slope(z, t)

    def curvature(self, z: Any, t: Any) -> Any:
        """Return the weight of the row."""
        away = z - t + 1e-150 * (z == t)
        return self.base.slope(away, 0.0 * t) / away


def _step(
    problem: Problem, rho: Loss, theta: Array, r: Array, weight: Array, near: bool, known: Curvature | None = None
) -> tuple[Evaluation, Curvature, float, Array, Array]:
    """Return F at theta, its factor, the share of the step taken, the new theta and its residuals.

    `known` is the factor of a point so close that it need not be taken anew.
    """
    evaluation = replace(problem, loss=rho if near else Reweighted(rho)).evaluate(theta, second=known is None)
    curvature = factor_hessian(_matrix(evaluation)) if known is None else known
    if near and curvature.null.shape[1]:  # rows beyond the threshold have no curvature, but they have weights
        return _step(problem, rho, theta, r, weight, near=False)
    step = -curvature.solve(evaluation.gradient)
    slope = float((evaluation.gradient * step).sum())
    whole = residuals(problem, theta + step)
    here, share = _value(problem, rho, theta, r, weight), 1.0
    while share > SHORTEST:
        new = theta + share * step
        r_new = whole if share == 1.0 else r + share * (whole - r)
        if _value(problem, rho, new, r_new, weight) <= here + 1e-4 * share * slope + 1e-13 * abs(here):
            return evaluation, curvature, share, new, r_new
        share *= 0.5
    if near:
        return _step(problem, rho, theta, r, weight, near=False)
    return evaluation, curvature, 0.0, theta, r


def _value(problem: Problem, rho: Loss, theta: Array, r: Array, weight: Array) -> float:
    """Return F from residuals."""
    rows = float(weight @ rho.value(np.zeros_like(r), r))
    return rows + 0.5 * float((problem.ridge * theta[:, 1:] ** 2).sum())


def _secant(past: list[tuple[float, float]]) -> float:
    """Return the next scale: the fixed point of the line through the last two pairs, if that is near."""
    s, found = past[-1]
    if len(past) < 2 or past[-2][0] == s:
        return found
    rise = (found - past[-2][1]) / (s - past[-2][0])
    if not -2.0 < rise < 0.9:
        return found
    guess = s + (found - s) / (1.0 - rise)
    return guess if 0.5 * min(s, found) <= guess <= 2.0 * max(s, found) else found


def _exact(problem: Problem, theta: Array, weight: Array, floor: float, history: list[float]) -> MEstimate:
    """Return the fit of the rows that lie on the plane, and no others."""
    rho = Tukey(100.0 * floor if floor > 0 else 1.0)
    on_plane = replace(problem, loss=Reweighted(rho), ridge=np.zeros_like(problem.ridge))
    for _ in range(2):
        evaluation = on_plane.evaluate(theta, second=True)
        curvature = factor_hessian(_matrix(evaluation))
        moved = -curvature.solve(evaluation.gradient)
        theta = theta + moved
    r = residuals(problem, theta)
    history.append(0.0)
    return MEstimate(theta, r, 0.0, Evaluation(0.0, 0.0 * evaluation.gradient), curvature, 0.0 * moved, True, history)


def _matrix(evaluation: Evaluation) -> Array:
    if evaluation.hessian is None:
        raise InvalidData(
            "the squares of the residuals overflow float64: rescale the targets, the weights or the columns"
        )
    return evaluation.hessian


def _improve(rows: Array, t: Array, theta: Array, h: int) -> tuple[float, Array]:
    """Return the sum of the h smallest squares and the plane, after fits to the h nearest rows until it is lowest."""
    best, r = np.inf, t - rows @ theta
    for _ in range(STEPS):
        near = np.argpartition(np.abs(r), h - 1)[:h]
        new = _fitted(rows[near], t[near])
        r = t - rows @ new
        squares = np.partition(r**2, h - 1)[:h].sum()
        if not squares < best:
            break
        best, theta = float(squares), np.asarray(new, dtype=np.float64)
    return best, theta


def _fitted(rows: Array, t: Array) -> Array:
    """Return the plane (P,) of least squares, by normal equations where these are well conditioned."""
    lower, failed = linalg.lapack.dpotrf(rows.T @ rows, lower=1)
    size = lower.diagonal()
    if not failed and size.min() > WELL * size.max():
        return np.asarray(linalg.lapack.dpotrs(lower, rows.T @ t, lower=1)[0])
    return np.asarray(linalg.lstsq(rows, t, lapack_driver="gelsy", check_finite=False)[0])


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
