"""Firth's correction of logistic regression: estimates with less bias, finite where classes are separated.

    F*(theta) = -ln L(theta) - 1/2 ln det I(theta),   I = sum weight p (1 - p) (1, x)(1, x)'
    gradient  = sum weight (p - t - h (1/2 - p)) (1, x),   h the leverages

Each iteration takes a pass for the score, whose leverages need the factor of I, and a pass for the likelihood and I at
the new point. Steps are those of Fisher's scoring, I^-1 gradient, corrected by the previous pairs (step, change of
gradient), which is L-BFGS in the metric of I: scoring alone converges linearly. Steps are halved until F* falls.

D. Firth, Biometrika 80 (1993), 27-38; G. Heinze and M. Schemper, Statistics in Medicine 21 (2002), 2409-2419.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.arrays import Array
from adaline.solvers.smooth.lbfgs import Pairs, inner, inverse_product
from adaline.solvers.smooth.newton import FLAT_CHANGE, SHORTEST_STEP, Curvature, DescentResult, factor_hessian
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.sums import FirthScore, Prior

PAIRS = 10  # pairs that correct the metric; doubling it takes twice their memory, and slightly fewer passes
LEAST_DECREMENT = 1e-30  # squared decrement, relative to the weight, that is rounding; 100x larger loses a digit


def firth(problem: Problem, theta: Array, tol: float, max_steps: int = 100, fixed: Sequence[int] = ()) -> DescentResult:
    """Maximise the penalised likelihood of a logistic problem without ridge, from theta (1, 1 + D) in its view.

    Zero is a good start: a maximum of the likelihood itself may be far off, or nowhere. It has converged where the
    squared decrement gradient' I^-1 gradient is at most `tol`, and continues from there to the rounding floor.
    Coefficients with the indices `fixed` stay as they are, and their columns stay in I. `evaluation.value` and the
    history are F* with I in raw units; no gap is known.
    """
    here = evaluate_firth(problem, theta, fixed)
    assert here.curvature is not None
    basis = _determined(here.curvature)
    pairs: Pairs = deque(maxlen=PAIRS)
    last, size = math.inf, _size(problem)
    for _ in range(max_steps):
        metric = _metric(here, fixed)
        decrement = metric.length(here.evaluation.gradient)
        here = here._replace(converged=decrement**2 <= tol)
        flat = decrement**2 <= min(tol, FLAT_CHANGE * size)
        if decrement**2 <= LEAST_DECREMENT * size or (flat and decrement >= last):
            return here
        last = decrement
        step = -inverse_product(metric.solve, pairs, here.evaluation.gradient, rescale=False)
        found = _search(problem, here, step, basis, fixed)
        if found is None:
            return here._replace(converged=decrement**2 <= max(tol, FLAT_CHANGE * size))
        step, change = found.theta - here.theta, found.evaluation.gradient - here.evaluation.gradient
        if (curvature := inner(step, change)) > 0:
            pairs.append((step, change, curvature))
        here = found._replace(history=[*here.history, found.evaluation.value], converged=here.converged)
    return here


def evaluate_firth(problem: Problem, theta: Array, fixed: Sequence[int] = ()) -> DescentResult:
    """Return theta (1, 1 + D) in the view with F*, its gradient, and I for its second derivatives: two passes.

    Where the likelihood is not finite, neither is F*, and there are no derivatives.
    """
    evaluation = problem.evaluate(theta, second=True)
    if evaluation.hessian is None:
        return DescentResult(theta, evaluation)
    information = factor_hessian(evaluation.hessian)
    value = _penalised(problem, evaluation, information, _determined(information))
    return _with_score(problem, theta, evaluation, information, value, fixed)


def _determined(information: Curvature) -> Array:
    """Return a basis of the directions that the rows determine, (M, rank)."""
    null = information.null
    return np.asarray(linalg.null_space(null.T) if null.shape[1] else np.eye(len(null)))


def firth_ratios(problem: Problem, found: DescentResult, tol: float, kept: NDArray[np.bool_]) -> Array:
    """Return the chi-squared statistics 2 (F* of a model without - F*), (1 + D): of all slopes, then of each slope.

    They are those of penalised likelihood ratios (Heinze and Schemper 2002): a coefficient left out is fixed at zero,
    and its column stays in I. Columns that are not `kept`, (D,), as they depend on others, are fixed at zero in all of
    them and have no statistic: NaN. 1 + D more fits.
    """
    slopes = range(1, 1 + problem.features)
    dependent = [j for j in slopes if not kept[j - 1]]
    without = []
    for fixed in (list(slopes), *([*dependent, j] for j in slopes)):
        if len(fixed) > len(set(fixed)):
            without.append(np.nan)
            continue
        start = found.theta.copy()
        start[:, fixed] = 0.0
        without.append(firth(problem, start, tol, fixed=fixed).evaluation.value)
    return np.maximum(2 * (np.array(without) - found.evaluation.value), 0.0)


def _search(
    problem: Problem, here: DescentResult, step: Array, basis: Array, fixed: Sequence[int]
) -> DescentResult | None:
    """Return where the first of the whole step, its half, ... leads that lowers F*, up to rounding."""
    share = 1.0
    while share > SHORTEST_STEP:
        theta = here.theta + share * step
        evaluation = problem.evaluate(theta, second=True)
        if evaluation.hessian is not None:
            curvature = factor_hessian(evaluation.hessian)
            value = _penalised(problem, evaluation, curvature, basis)
            if value <= here.evaluation.value + FLAT_CHANGE * _size(problem):
                return _with_score(problem, theta, evaluation, curvature, value, fixed)
        share /= 2
    return None


def _penalised(problem: Problem, evaluation: Evaluation, curvature: Curvature, basis: Array) -> float:
    """Return F*, with I in raw units; infinite where I lost a direction."""
    if curvature.rank != basis.shape[1]:
        return math.inf
    # basis' I^-1 basis is the inverse of I among the directions that the rows determine
    half = float(np.linalg.slogdet(basis.T @ curvature.root)[1])
    scale = problem.view.scale
    return evaluation.value + half + float(np.log(scale[scale > 0]).sum())  # a constant column has none


def _with_score(
    problem: Problem, theta: Array, evaluation: Evaluation, curvature: Curvature, value: float, fixed: Sequence[int]
) -> DescentResult:
    """Return the point with F* and its gradient: one pass."""
    root = curvature.root.copy()
    root[0] *= problem.intercept
    gradient = problem.source.sum(FirthScore, Prior(theta, problem.view, root)).gradient.copy()
    gradient[:, 0] *= problem.intercept
    gradient[:, list(fixed)] = 0.0
    return DescentResult(theta, Evaluation(value, gradient, evaluation.hessian), curvature)


def _metric(here: DescentResult, fixed: Sequence[int]) -> Curvature:
    """Return I factored among the coefficients that move."""
    assert here.curvature is not None
    assert here.evaluation.hessian is not None
    if not fixed:
        return here.curvature
    free = here.evaluation.hessian.copy()
    free[fixed, :] = 0.0
    free[:, fixed] = 0.0
    free[fixed, fixed] = 1.0
    return factor_hessian(free)


def _size(problem: Problem) -> float:
    """Return the size that rounding errors of F* are measured in: it may itself be zero."""
    return 1.0 + problem.spread.weight
