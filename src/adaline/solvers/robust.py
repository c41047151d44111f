"""M-estimates of regression with a scale of their own (S1, robust criteria; Huber 1981).

    theta = argmin sum_n w_n rho(r_n; c s) + 1/2 sum_j ridge_j theta_j^2,   s = scale of the residuals at theta

An iteration is one pass for gradient and second derivatives at the present scale, one for the new residuals. These are
held in memory, so that searching along a step and measuring the scale read no rows. Huber's loss is solved by Newton
steps. Tukey's, which is not convex, by reweighted least squares, which goes downhill from anywhere, until it is near,
then by Newton. The scale follows by secants: near the solution it is a piecewise straight function of itself.

Where more than half of the rows lie on a plane the scale is zero, up to rounding: that plane is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adaline.losses import Huber, Loss, Squared, Tukey
from adaline.solvers.curvature import Curvature, factor
from adaline.solvers.outputs import residuals
from adaline.solvers.problem import At, Problem
from adaline.solvers.scale import Scale

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 64 * EPS  # residuals of this share of the targets are rounding
CLOSE = 1e-2  # a step that moves residuals by less than this share of the scale is near the solution
SHORTEST = 1e-6


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


@dataclass
class Estimated:
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
    at: At
    curvature: Curvature
    moved: Array
    converged: bool = False
    history: list[float] = field(default_factory=list)


def least_squares(problem: Problem) -> tuple[Array, Curvature]:
    """Return the least-squares theta, zero where its sums overflow, and the factored X'X + ridge in the view."""
    zero = np.zeros((1, 1 + problem.features))
    squared = replace(problem, loss=Squared())
    at = squared.at(zero, second=True)
    if at.hessian is None:
        none = problem.source.with_targets(np.zeros((problem.source.n_rows, 1)))
        at = replace(squared, source=none).at(zero, second=True)
    curvature = factor(_matrix(at))
    return -curvature.solve(at.gradient), curvature


def estimate(
    problem: Problem,
    loss: type[Huber] | type[Tukey],
    threshold: float,
    scale: Scale,
    weight: Array,
    theta: Array,
    size: float,
    tol: float,
    most: int,
) -> Estimated:
    """Return the M-estimate that is reached from theta; `size` is the magnitude whose rounding residuals carry."""
    r = residuals(problem, theta)
    s, near, floor = scale(r, weight), loss is Huber, ROUNDING * size
    past: list[tuple[float, float]] = []  # scales, and the scales that they led to
    history: list[float] = []
    met = False
    for _ in range(most):
        if s <= floor:
            return _exact(problem, theta, weight, max(s, floor), history)
        rho: Any = loss(threshold * s)
        at, curvature, share, new, r_new = _step(problem, rho, theta, r, weight, near)
        change = float(np.abs(r_new - r).max(initial=0.0, where=weight > 0))
        theta, r = new, r_new
        history.append(_value(problem, rho, theta, r, weight))
        found = scale(r, weight)
        past.append((s, found))
        still = change <= tol * s + floor and abs(found - s) <= tol * s + floor
        if met and (still or change <= floor):
            moved = -curvature.solve(at.gradient)
            return Estimated(theta, r, s, at, curvature, moved, True, history)
        met = still and share == 1.0
        near = loss is Huber or (change <= CLOSE * s and share == 1.0)
        s = _secant(past) if near else found
    rho = loss(threshold * s)
    at = replace(problem, loss=rho).at(theta, second=True)
    curvature = factor(_matrix(at))
    return Estimated(theta, r, s, at, curvature, -curvature.solve(at.gradient), False, history)


def _step(
    problem: Problem, rho: Loss, theta: Array, r: Array, weight: Array, near: bool
) -> tuple[At, Curvature, float, Array, Array]:
    """Return F at theta, its factor, the share of the step taken, the new theta and its residuals."""
    at = replace(problem, loss=rho if near else Reweighted(rho)).at(theta, second=True)
    curvature = factor(_matrix(at))
    if near and curvature.null.shape[1]:  # rows beyond the threshold have no curvature, but they have weights
        return _step(problem, rho, theta, r, weight, near=False)
    step = -curvature.solve(at.gradient)
    slope = float((at.gradient * step).sum())
    whole = residuals(problem, theta + step)
    here, share = _value(problem, rho, theta, r, weight), 1.0
    while share > SHORTEST:
        new = theta + share * step
        r_new = whole if share == 1.0 else r + share * (whole - r)
        if _value(problem, rho, new, r_new, weight) <= here + 1e-4 * share * slope + 1e-13 * abs(here):
            return at, curvature, share, new, r_new
        share *= 0.5
    if near:
        return _step(problem, rho, theta, r, weight, near=False)
    return at, curvature, 0.0, theta, r


def _value(problem: Problem, rho: Loss, theta: Array, r: Array, weight: Array) -> float:
    """Return F from residuals."""
    rows = float(weight @ rho.value(np.zeros_like(r), r))
    return rows + 0.5 * float((problem.ridge * theta[:, 1:] ** 2).sum())


def _secant(past: list[tuple[float, float]]) -> float:
    """Return the next scale: where the line through the last two would meet itself, if that is near."""
    s, found = past[-1]
    if len(past) < 2 or past[-2][0] == s:
        return found
    rise = (found - past[-2][1]) / (s - past[-2][0])
    if not -2.0 < rise < 0.9:
        return found
    guess = s + (found - s) / (1.0 - rise)
    return guess if 0.5 * min(s, found) <= guess <= 2.0 * max(s, found) else found


def _exact(problem: Problem, theta: Array, weight: Array, floor: float, history: list[float]) -> Estimated:
    """Fit the rows that lie on the plane, and no others."""
    rho = Tukey(100.0 * floor if floor > 0 else 1.0)
    on_plane = replace(problem, loss=Reweighted(rho), ridge=np.zeros_like(problem.ridge))
    for _ in range(2):
        at = on_plane.at(theta, second=True)
        curvature = factor(_matrix(at))
        moved = -curvature.solve(at.gradient)
        theta = theta + moved
    r = residuals(problem, theta)
    history.append(0.0)
    return Estimated(theta, r, 0.0, At(0.0, 0.0 * at.gradient), curvature, 0.0 * moved, True, history)


def _matrix(at: At) -> Array:
    if at.hessian is None:
        raise OverflowError
    return at.hessian


def shortest(problem: Problem, theta: Array, null: Array) -> Array:
    """Return theta in raw units; of those that the rows cannot tell apart, the one with the smallest slopes."""
    out = problem.outside(theta)
    if null.shape[1] == 0:
        return out
    raw = np.concatenate([problem.outside(column[None]) for column in null.T])
    slopes = raw[:, 1:]
    length = np.abs(slopes).max(axis=1, initial=0.0, keepdims=True)
    raw = raw[length[:, 0] > 0] / length[length[:, 0] > 0]
    share = np.linalg.lstsq(raw[:, 1:].T, out[0, 1:])[0]
    return np.asarray(out - share @ raw)
