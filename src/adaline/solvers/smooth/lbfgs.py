"""L-BFGS in a metric: for more coefficients than a Newton step can pay for, or more rows than it needs.

    theta <- theta - s M gradient

M is the inverse of an approximate matrix of second derivatives (of a sample of the rows, of each machine alone, or only
a diagonal), corrected by the last few pairs of steps and changes of the gradient (Nocedal 1980). With the matrix of a
good sample each pass leaves a tenth of the error; with a diagonal it is the usual method of wide data.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy import linalg

from adaline.arrays import Array
from adaline.solvers.smooth.newton import FLAT, DescentResult, search
from adaline.solvers.smooth.problem import Evaluation

PAIRS = 40


class SmoothObjective(Protocol):
    """A function of an array of any shape, with its gradient."""

    def evaluate(self, theta: Array) -> Evaluation:
        """Return its value and gradient."""


class Metric(Protocol):
    """An approximate inverse of the second derivatives."""

    def solve(self, g: Array) -> Array:
        """Return M g in the shape of g."""


class Diagonal:
    """Inverse of a diagonal (K, 1 + D); places that are zero stay out."""

    def __init__(self, diagonal: Array) -> None:
        self.inverse = np.where(diagonal > 0, 1.0 / np.where(diagonal > 0, diagonal, 1.0), 0.0)

    def solve(self, g: Array) -> Array:
        """Return g over the diagonal."""
        return np.asarray(g * self.inverse)


class Blocks:
    """The matrix of each machine alone, (K, 1 + D, 1 + D), none of them with negative eigenvalues."""

    def __init__(self, blocks: Array) -> None:
        diagonal = np.einsum("kii->ki", blocks)
        diagonal += np.where(diagonal > 0, 1e-9 * diagonal, 1.0)  # columns that are constant on the sample
        self.factors = [linalg.cho_factor(block, overwrite_a=True, check_finite=False) for block in blocks]

    def solve(self, g: Array) -> Array:
        """Return each machine's own solution."""
        own = zip(self.factors, g, strict=True)
        return np.stack([linalg.cho_solve(factor, part, check_finite=False) for factor, part in own])


class Balanced:
    """A metric without steps in which all machines gain the same: with coupled outputs F has no curvature there, which
    the machines on their own know nothing of.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def solve(self, g: Array) -> Array:
        """Return M g, neither g nor what is returned having a mean over the machines."""
        step = self.metric.solve(g - g.mean(axis=0))
        return np.asarray(step - step.mean(axis=0))


class Scaled:
    """A metric times a factor."""

    def __init__(self, metric: Metric, factor: float) -> None:
        self.metric, self.factor = metric, factor

    def solve(self, g: Array) -> Array:
        """Return factor M g."""
        return self.metric.solve(g) * self.factor


def lbfgs(
    problem: SmoothObjective,
    theta: Array,
    metric: Metric,
    done: Callable[[Evaluation, float], bool],
    most: int = 1000,
    evaluation: Evaluation | None = None,
    give_up: Callable[[DescentResult], bool] = lambda _: False,
) -> DescentResult:
    """Step down until `done`, which sees F and the estimate g'Mg of twice the gap, or until steps are too short.

    `give_up` looks at every iterate.
    """
    here = DescentResult(theta, problem.evaluate(theta) if evaluation is None else evaluation, None)
    pairs: deque[tuple[Array, Array, float]] = deque(maxlen=PAIRS)
    for _ in range(most):
        g = here.evaluation.gradient
        direction = -_corrected(metric, pairs, g)
        slope = inner(g, direction)
        if done(here.evaluation, -slope):
            here.converged = True
            return here
        if give_up(here):
            here.given_up = True
            return here
        if not slope < 0:
            if not pairs:
                return here
            pairs.clear()
            continue
        new, share = step_along(problem, here.theta, here.evaluation, direction, slope)
        if new is None:
            if not pairs:
                here.converged = -slope <= FLAT * abs(here.evaluation.value)
                return here
            pairs.clear()
            continue
        s, y = share * direction, new.gradient - g
        bend = inner(s, y)
        if bend > 1e-12 * math.sqrt(inner(s, s) * inner(y, y)):
            pairs.append((s, y, bend))
        here.theta, here.evaluation = here.theta + s, new
        here.history.append(new.value)
    return here


def _corrected(metric: Metric, pairs: deque[tuple[Array, Array, float]], g: Array) -> Array:
    """Return the inverse second derivatives times g by the two loops of L-BFGS."""
    q, shares = g.copy(), []
    for s, y, bend in reversed(pairs):
        shares.append(inner(s, q) / bend)
        _add(q, y, -shares[-1])
    q = metric.solve(q)
    if pairs:
        _, y, bend = pairs[-1]
        q *= bend / inner(y, metric.solve(y))
    for (s, y, bend), share in zip(pairs, reversed(shares), strict=True):
        _add(q, s, share - inner(y, q) / bend)
    return q


def inner(a: Array, b: Array) -> float:
    """Return the sum of a b, without an array in between: wide data have millions of coefficients."""
    return float(np.vdot(a, b))


def _add(to: Array, what: Array, share: float) -> None:
    """Add a share of an array in place; BLAS would work on a copy of what is not a run of numbers."""
    assert to.flags.c_contiguous
    linalg.blas.daxpy(what.ravel(), to.ravel(), a=share)


def step_along(
    problem: SmoothObjective, theta: Array, evaluation: Evaluation, step: Array, slope: float
) -> tuple[Evaluation | None, float]:
    """Return F at the first share of the step that lowers it enough; at the rounding floor a flatter place will do."""
    level = evaluation.value + FLAT * abs(evaluation.value)
    return search(
        lambda s: problem.evaluate(theta + s * step),
        *(evaluation.value, slope),
        will_do=lambda new: new.value <= level and abs(inner(new.gradient, step)) <= 0.9 * abs(slope),
    )
