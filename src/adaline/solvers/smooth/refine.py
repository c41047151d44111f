"""Refinement of a likelihood fit on the raw rows: weights hi + lo, with proven bounds on their errors and on the gap.

At weights w near the minimum w* let g be the gradient, in double-double, and H^ = R'R the computed second derivatives.
Everything is measured in the metric of H^. With

    lambda   the length of g, the bound on its rounding included
    tau      the rounding of H^:               (1 - tau) H^ <= H <= (1 + tau) H^       at w
    theta    the change of H in the ball |d| <= 2 lambda about w, relative to H^

and q = tau + theta <= 1/2 the gradient points outwards on the border of the ball, so a minimum w* lies inside, and it
is w - Hm^-1 g with Hm, the mean of H on the way, within q of H^. The step d^ = -H^^-1 g therefore leaves

    |w* - (w + d^)| <= epsilon = q / (1 - q) lambda + rounding of g,      coefficient j: sigma_j epsilon,

sigma_j the length of row j of R^-1 in raw units. Steps are taken until epsilon is below the last bit of the weights, or
shrinks no more. The weights returned are hi; what was rounded off is known, lo, so that

    |w*_j - hi_j| <= |lo_j| + sigma_j epsilon,     F(hi) - F(w*) <= (1 + q) / 2 (|R lo| + epsilon)^2

if the ball contains both. R is a triangle of the rows times roots of their curvature, so tau is about the condition
x rounding, not its square. A loss that is not convex has H itself, and there w* is the minimum next to w.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline import twofold
from adaline.arrays import Array
from adaline.solvers import lapack
from adaline.solvers.smooth.newton import DescentResult, row_length_bound
from adaline.solvers.smooth.problem import Problem, summing_error
from adaline.sources.threads import blas_threads_for, one_blas_thread
from adaline.sums import Ball, CurvatureChange, TwofoldObjective, TwofoldPoint
from adaline.twofold import Twofold

MOST_STEPS = 12  # refinement steps; doubling it takes twice as long for fits that do not converge
EPS = 2.0**-53
BELOW_LAST_BIT = 2.0**-57  # relative error at which refinement stops; 16x larger shows in the last bit
MOST_CONTRACTION = 0.5  # q up to which a minimum is proven; nearer to 1 proves more, with wider bounds
# ratio of successive steps, or errors, at which refinement stops; larger takes more steps for little
SLOW_PROGRESS = 0.5
CRUDE_THETA = 1e-4  # theta from which the lengths of the rows sharpen the bound; 10x larger saves a read
NEGLIGIBLE_SIZE = 2.0**-75  # relative size below which the error of a coefficient does not keep refinement going


class FactoredMetric(NamedTuple):
    """H^ = R'R in the view over the active coefficients: `root` = R^-1, (A, A); tau bounds its relative rounding.

    `raw` (M, A) is the root in scaled raw units, `view` (M, A) in the view, rows of other coefficients zero.
    """

    triangle: Array
    root: Array
    tau: float
    view: Array
    raw: Array


class RefinedWeights(NamedTuple):
    """Weights (K, 1 + D) in raw units, bounds on their errors, a bound on the gap, F there and its largest slope."""

    raw: Array
    error: Array
    gap: float
    value: float
    steepness: float


def refine_minimum(problem: Problem, hi: Array, lo: Array, varying: NDArray[np.bool_]) -> RefinedWeights | None:
    """Return the minimum near weights hi + lo (K, 1 + D), of columns times the scales of the view; None without proof.

    `varying` (D,) are the columns whose coefficients are free; those of the others stay as they are.
    """
    active = np.tile(np.concatenate([[problem.intercept], varying]), problem.outputs)
    with blas_threads_for(len(active)):
        return _refined(problem, hi, lo, active)


def _refined(problem: Problem, hi: Array, lo: Array, active: NDArray[np.bool_]) -> RefinedWeights | None:
    """Return the same, where `active` (K (1 + D)) are the coefficients that are free."""
    best: RefinementStep | None = None
    root = "triangle" if problem.loss.convex else "gram"
    last, left = math.inf, math.inf
    for _ in range(MOST_STEPS):
        point = TwofoldPoint(problem.loss, hi, lo, problem.view)
        sums = problem.source.sum(TwofoldObjective, point, outputs=problem.outputs, root=root)
        gradient = _in_view(problem, sums.gradient, hi, lo)
        known = np.isfinite(gradient).all() and np.isfinite(sums.noise).all()
        metric = _metric(problem, sums, active) if known else None
        if metric is None:
            break
        step = _step(problem, point, sums, gradient, active, metric)
        hi, lo = step.hi, step.lo
        if best is None or step.left < best.left:
            best = step
        if step.done or min(step.length / last, step.left / left if left < math.inf else 1.0) > SLOW_PROGRESS:
            break
        last, left = step.length, step.left
    return None if best is None else best.proven


class RefinementStep(NamedTuple):
    """Weights after a step, its length and the remaining error in the metric, infinite without proof, and the proof."""

    hi: Array
    lo: Array
    length: float
    left: float
    done: bool = False
    proven: RefinedWeights | None = None


def _step(
    problem: Problem,
    point: TwofoldPoint,
    sums: TwofoldObjective,
    gradient: Array,
    active: NDArray[np.bool_],
    metric: FactoredMetric,
) -> RefinementStep:
    """Return a step, with the error bounds after it."""
    shape, scale = point.hi.shape, np.concatenate([[1.0], problem.view.scale])
    along = metric.root.T @ gradient.ravel()[active]
    noise = sums.noise.copy()
    noise[:, 1:] += np.abs(problem.view.offset) * noise[:, :1]
    noise += 2.0**-94 * np.abs(gradient)
    rounding = float(np.linalg.norm(np.abs(metric.root.T) @ noise.ravel()[active]))
    rounding = min(rounding, math.sqrt(sums.energy)) * (1 + metric.tau)
    length = float(np.linalg.norm(along)) * (1 + metric.tau) + rounding
    step = -(metric.raw @ along).reshape(shape)
    hi, lo = twofold.add(point.hi, point.lo, step, 0.0)
    if problem.loss.coupled:
        hi, lo = Twofold(hi, lo) - Twofold(*twofold.sum_rows(hi, lo)) / float(len(hi))
    radius = 2 * length
    q = metric.tau + _change(problem, point, metric, radius)
    if not q <= MOST_CONTRACTION:
        return RefinementStep(hi, lo, length, math.inf)
    epsilon = q / (1 - q) * length + rounding + metric.tau * length
    spread = np.linalg.norm(metric.raw, axis=1).reshape(shape)
    left = spread * epsilon
    error = np.abs(lo) + left
    size = np.abs(hi) * np.concatenate([[1.0], problem.spread.root * problem.view.scale])
    counted = size > NEGLIGIBLE_SIZE * size.max()
    done = bool((left <= BELOW_LAST_BIT * np.abs(hi))[counted].all())
    cut = float(np.linalg.norm(metric.triangle @ _to_view(problem, lo).ravel()[active])) + epsilon
    gap = math.inf
    if problem.loss.convex:
        wide = q if length + cut <= radius else metric.tau + _change(problem, point, metric, length + cut)
        gap = (1 + wide) / 2 * cut**2 * (1 + 1e-10) if wide <= MOST_CONTRACTION else math.inf
    value = sums.value + 0.5 * float((problem.ridge * point.hi[:, 1:] ** 2).sum())
    with np.errstate(over="ignore", under="ignore"):
        raw = hi * scale
        refined = RefinedWeights(raw, error * scale, gap, value, problem.steepness(gradient))
    return RefinementStep(hi, lo, length, epsilon, done, refined)


def _in_view(problem: Problem, gradient: Array, hi: Array, lo: Array) -> Array:
    """Return the gradient by coefficients in the view, (K, 1 + D), penalties included, from that of scaled columns."""
    g_hi, g_lo = gradient[..., 0], gradient[..., 1]
    moved = twofold.multiply(g_hi[:, :1], g_lo[:, :1], problem.view.offset, 0.0 * problem.view.offset)
    pull = twofold.multiply(hi[:, 1:], lo[:, 1:], problem.ridge, 0.0 * problem.ridge)
    out = g_hi.copy()
    out[:, 1:] = twofold.add(*twofold.add(g_hi[:, 1:], g_lo[:, 1:], *moved), *pull)[0]
    out[:, 0] *= problem.intercept
    return np.asarray(out)


def _to_view(problem: Problem, weights: Array) -> Array:
    """Return weights (K, 1 + D) of scaled columns as those of the view."""
    out = weights.copy()
    terms = twofold.two_prod(weights[:, 1:].T, -problem.view.offset[:, None])
    moved = twofold.sum_rows(*terms)[0] if problem.features else 0.0
    out[:, 0] = (out[:, 0] + moved) * problem.intercept
    return out


def _metric(problem: Problem, sums: TwofoldObjective, active: NDArray[np.bool_]) -> FactoredMetric | None:
    """Return the factored second derivatives; None where they are singular to working precision."""
    ridges, size, side = problem.ridges[active], int(active.sum()), 1 + problem.features
    if not np.isfinite(sums.matrix).all() or not size:
        return None
    if sums.root == "triangle":
        rows = [sums.matrix[:, active]]
        if ridges.any():
            rows.append(np.diag(np.sqrt(ridges)))
        if problem.loss.coupled:
            rows.append(_shared(problem, sums.matrix)[:, active])
        stacked = np.concatenate(rows)
        if len(stacked) < size:
            return None
        r = np.asarray(np.linalg.qr(stacked, mode="r"), dtype=np.float64)
        unit = np.linalg.norm(r, axis=0)
        if not (unit > 0).all():
            return None
        inverse, info = lapack.dtrtri(r / unit)
        error = EPS * (32 + 4 * size) * math.sqrt(size) * float(np.linalg.norm(inverse)) if not info else math.inf
        tau = error * (2 + error)
    else:
        h = sums.matrix[:-1][np.ix_(active, active)] + np.diag(ridges)
        terms = sums.matrix[-1][active] + ridges
        if not (terms > 0).all():
            return None
        unit = np.sqrt(terms)
        try:
            upper = np.linalg.cholesky(h / unit / unit[:, None]).T
        except np.linalg.LinAlgError:
            return None
        r = upper * unit
        inverse, info = lapack.dtrtri(upper)
        tau = EPS * (32 + 4 * size) * size * float(np.linalg.norm(inverse)) ** 2 if not info else math.inf
    if not tau < MOST_CONTRACTION:
        return None
    root = inverse / unit[:, None]
    view = np.zeros((len(active), size))
    view[active] = root
    raw = view.reshape(problem.outputs, side, size).copy()
    raw[:, 0] += np.einsum("j,kja->ka", problem.view.offset, raw[:, 1:]) * problem.intercept
    return FactoredMetric(r, root, tau, view, raw.reshape(len(active), size))


def _shared(problem: Problem, triangle: Array) -> Array:
    """Return rows that keep H regular along equal changes of all softmax machines, which do not change predictions."""
    k, side = problem.outputs, 1 + problem.features
    size = np.sqrt((triangle**2).sum(axis=0).reshape(k, side).mean(axis=0) / k)
    return np.asarray(np.tile(np.diag(size), (1, k)))


def _change(problem: Problem, point: TwofoldPoint, metric: FactoredMetric, radius: float) -> float:
    """Return a bound on the relative change of H in the ball of a radius about a point."""
    concordance = problem.loss.concordance
    if math.isfinite(concordance):
        exponent = concordance * radius * problem.bound_rows(float(np.linalg.norm(metric.view)))
        crude = math.expm1(exponent) if exponent < 1 else math.inf
        if crude <= CRUDE_THETA or problem.outputs > 1:
            return crude
    found = problem.source.sum(CurvatureChange, Ball(point, metric.view, radius))
    share = min(found.total, found.share) if problem.loss.convex else found.total
    return share / (1 - metric.tau)


class ErrorBounds(NamedTuple):
    """Bounds (K, 1 + D) on the errors of coefficients in raw units, and on the gap."""

    error: Array
    gap: float


NOTHING_PROVEN = ErrorBounds(np.full((1, 1), math.inf), math.inf)


@one_blas_thread()  # of a small matrix: several threads wait for each other
def bounded(problem: Problem, found: DescentResult, mass: Array | None, furthest: float) -> ErrorBounds:
    """Return the bounds that gradient and second derivatives in float64 prove, without another read of the rows.

    The rounding of the gradient in the view is at most `summing` of the sizes of its terms, and what rounding of the
    outputs does to them: outputs are sums of 1 + D terms, whose lengths in the metric of the curvature are
    |theta_j| H_jj^(1/2). The rest is as in the module's bound, with H at unit diagonal rounded by `summing` too.

    Parameters
    ----------
    mass : (1 + D,) bounds on sum weight |slope| |v_j|; None where none are known.
    furthest : the largest offset of a row.
    """
    curvature, loss, theta = found.curvature, problem.loss, found.theta
    if curvature is None or mass is None or curvature.rank < problem.size or not math.isfinite(loss.concordance):
        return NOTHING_PROVEN
    offset, size, scale = np.abs(problem.view.offset), problem.size, problem.view.scale
    summing = summing_error(problem)
    try:
        columns = np.linalg.norm(np.linalg.inv(curvature.root), axis=0).reshape(theta.shape)  # H_jj^(1/2)
    except np.linalg.LinAlgError:
        return NOTHING_PROVEN
    terms = np.abs(theta) * columns
    terms[:, 1:] += np.abs(theta[:, 1:]) * offset * columns[:, :1]
    outputs = EPS * (4 + problem.features) * (float(terms.sum()) + furthest * float(columns[:, 0].max()))
    noise = (summing * (mass + float(np.linalg.norm(columns[:, 0])) * columns) + outputs * columns).ravel()
    noise += EPS * np.abs(problem.ridges * theta.ravel())
    g = found.evaluation.gradient.ravel()
    along = curvature.root.T @ g
    rounding = float(np.linalg.norm(np.abs(curvature.root.T) @ noise))
    length = float(np.linalg.norm(along)) + rounding
    row = loss.concordance * row_length_bound(problem, curvature)
    exponent = row * (found.since + 2 * length)
    if not exponent < 1:
        return NOTHING_PROVEN
    q = summing * size / curvature.smallest + math.expm1(exponent)
    if not q <= MOST_CONTRACTION:
        return NOTHING_PROVEN
    spread = np.linalg.norm(curvature.root, axis=1)
    each = np.abs(curvature.root @ along) + np.minimum(
        np.abs(curvature.root @ curvature.root.T) @ noise, spread * rounding
    )
    error = (each + spread * (q / (1 - q)) * length).reshape(theta.shape)
    moved = EPS * (2 + problem.features) * (np.abs(theta[:, 0]) + np.abs(theta[:, 1:]) @ offset)  # to raw units
    raw = problem.errors_to_raw(error)
    raw[:, 0] += moved * problem.intercept
    raw[:, 1:] += EPS * np.abs(theta[:, 1:]) * scale
    whole = length / (1 - q) + float((moved * columns[:, 0]).sum())
    if row * whole >= 1:
        return ErrorBounds(raw, math.inf)
    return ErrorBounds(raw, math.exp(row * whole) / 2 * (1 + q) * whole**2 if loss.convex else math.inf)
