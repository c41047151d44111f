"""Firth's correction of logistic regression: estimates with less bias, finite where classes are separated.

    F*(theta) = -ln L(theta) - 1/2 ln det I(theta),   I = sum weight p (1 - p) (1, x)(1, x)'
    gradient  = sum weight (p - t - h (1/2 - p)) (1, x),   h the leverages

Each iteration is a pass for the score, whose leverages need the factor of I, and a pass for likelihood and I where it
leads to; steps are those of Fisher's scoring, I^-1 gradient, corrected by the pairs (step, change of gradient) seen so
far (L-BFGS in the metric of I), as scoring alone gains a constant factor a step. They are halved until F* falls.

D. Firth, Biometrika 80 (1993), 27-38; G. Heinze and M. Schemper, Statistics in Medicine 21 (2002), 2409-2419.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from adaline.solvers.curvature import Curvature, factor
from adaline.solvers.newton import FLAT, SHORTEST, Descended
from adaline.solvers.problem import At, Problem
from adaline.sums import FirthScore, Prior

Array = NDArray[np.float64]

MEMORY = 10  # pairs that correct the metric
FLOOR = 1e-30  # squared decrements below this share of the weight are rounding


class Pair(NamedTuple):
    """A step, and by how much the gradient changed along it."""

    step: Array
    change: Array


def firth(problem: Problem, theta: Array, tol: float, most: int = 100) -> Descended:
    """Maximise the penalised likelihood of a logistic problem without ridge, from theta (1, 1 + D) in its view.

    Zero is a good start: a maximum of the likelihood itself may be far off, or nowhere. It has converged where the squared decrement gradient' I^-1 gradient is at most `tol`, and goes on from there to the
    rounding floor. `at.value` and the history are F* with I in raw units; no gap is known.
    """
    here, basis = _start(problem, theta)
    pairs: list[Pair] = []
    last, size = math.inf, _size(problem)
    for _ in range(most):
        assert here.curvature is not None
        decrement = here.curvature.length(here.at.gradient)
        here.converged = decrement**2 <= tol
        if decrement**2 <= FLOOR * size or (decrement**2 <= min(tol, FLAT * size) and decrement >= last):
            return here
        last = decrement
        found = _search(problem, here, _step(here, pairs), basis)
        if found is None:
            here.converged = decrement**2 <= max(tol, FLAT * size)
            return here
        pairs.append(Pair((found.theta - here.theta).ravel(), (found.at.gradient - here.at.gradient).ravel()))
        here.theta, here.at, here.curvature = found.theta, found.at, found.curvature
        here.history.append(here.at.value)
    return here


def _step(here: Descended, pairs: list[Pair]) -> Array:
    """Return minus gradient in the metric of I as the pairs correct it (Nocedal's two loops)."""
    assert here.curvature is not None
    pairs = [pair for pair in pairs[-MEMORY:] if pair.step @ pair.change > 0]
    step, shares = -here.at.gradient.ravel(), []
    for s, y in reversed(pairs):
        shares.append(s @ step / (s @ y))
        step = step - shares[-1] * y
    step = here.curvature.solve(step)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        step = step + (share - y @ step / (s @ y)) * s
    return np.asarray(step.reshape(here.theta.shape))


def _start(problem: Problem, theta: Array) -> tuple[Descended, Array]:
    """Return where it starts, and a basis of the directions that the rows tell apart, (1 + D, rank)."""
    at = problem.at(theta, second=True)
    assert at.hessian is not None
    curvature = factor(at.hessian)
    basis = linalg.null_space(curvature.null.T) if curvature.null.shape[1] else np.eye(len(curvature.root))
    value = _penalised(problem, at.value, curvature, basis)
    return Descended(theta, At(value, _score(problem, theta, curvature), at.hessian), curvature), basis


def _penalised(problem: Problem, value: float, curvature: Curvature, basis: Array) -> float:
    """Return F*, with I in raw units; infinite where I lost a direction."""
    if curvature.rank != basis.shape[1]:
        return math.inf
    # basis' I^-1 basis is the inverse of I among the directions told apart
    half = float(np.linalg.slogdet(basis.T @ curvature.root)[1])
    return value + half + float(np.log(problem.view.scale).sum())


def _size(problem: Problem) -> float:
    """Return the size that rounding errors of F* are measured in: it may itself be zero."""
    return 1.0 + problem.spread.weight


def _score(problem: Problem, theta: Array, curvature: Curvature) -> Array:
    root = curvature.root.copy()
    root[0] *= problem.intercept
    gradient = problem.source.sum(FirthScore, Prior(theta, problem.view, root)).gradient.copy()
    gradient[:, 0] *= problem.intercept
    return gradient


def _search(problem: Problem, here: Descended, step: Array, basis: Array) -> Descended | None:
    """Return where the first of the whole step, its half, ... leads that lowers F*, up to rounding."""
    share = 1.0
    while share > SHORTEST:
        theta = here.theta + share * step
        at = problem.at(theta, second=True)
        if at.hessian is not None:
            curvature = factor(at.hessian)
            value = _penalised(problem, at.value, curvature, basis)
            if value <= here.at.value + FLAT * _size(problem):
                return Descended(theta, At(value, _score(problem, theta, curvature), at.hessian), curvature)
        share /= 2
    return None
