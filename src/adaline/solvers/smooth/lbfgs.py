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
from adaline.solvers.smooth.newton import FLAT, DescentResult, GiveUp, line_search, never
from adaline.solvers.smooth.problem import Evaluation

PAIRS = 40  # last steps and changes of the gradient that correct the metric

Done = Callable[[Evaluation, float], bool]
"""Called with F and an estimate of twice the gap; True ends a solver as converged."""

Pairs = deque[tuple[Array, Array, float]]
"""Steps s, changes y of the gradient along them, and s.y > 0."""


class SmoothObjective(Protocol):
    """A function of an array of any shape, with its gradient."""

    def evaluate(self, theta: Array) -> Evaluation:
        """Return its value and gradient."""


class Metric(Protocol):
    """An approximate inverse of the second derivatives."""

    def solve(self, g: Array) -> Array:
        """Return M g in the shape of g."""


def lbfgs(
    problem: SmoothObjective,
    theta: Array,
    metric: Metric,
    done: Done,
    max_steps: int = 1000,
    evaluation: Evaluation | None = None,
    give_up: GiveUp = never,
) -> DescentResult:
    """Step down from theta until `done`, which is given the estimate g'Mg of twice the gap, or steps are too short.

    `evaluation` is F at theta, where it is known.
    """
    here = DescentResult(theta, problem.evaluate(theta) if evaluation is None else evaluation, None)
    pairs: Pairs = deque(maxlen=PAIRS)
    for _ in range(max_steps):
        g = here.evaluation.gradient
        direction = -inverse_product(metric, pairs, g)
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
        curvature = inner(s, y)
        if curvature > 1e-12 * math.sqrt(inner(s, s) * inner(y, y)):
            pairs.append((s, y, curvature))
        here.theta, here.evaluation = here.theta + s, new
        here.history.append(new.value)
    return here


def step_along(
    problem: SmoothObjective, theta: Array, evaluation: Evaluation, step: Array, slope: float
) -> tuple[Evaluation | None, float]:
    """Return F at the first share of a step that lowers it enough, and the share.

    At the rounding floor a point will do where F is no higher and its slope along the step is smaller.
    """
    level = evaluation.value + FLAT * abs(evaluation.value)
    return line_search(
        lambda s: problem.evaluate(theta + s * step),
        *(evaluation.value, slope),
        also_enough=lambda new: new.value <= level and abs(inner(new.gradient, step)) <= 0.9 * abs(slope),
    )


def inverse_product(metric: Metric, pairs: Pairs, g: Array, rescale: bool = True) -> Array:
    """Return the inverse second derivatives times g by the two loops of L-BFGS (Nocedal 1980).

    With `rescale` the metric is multiplied by the number that makes it right along the last change of the gradient.
    """
    q, shares = g.copy(), []
    for s, y, curvature in reversed(pairs):
        shares.append(inner(s, q) / curvature)
        _add(q, y, -shares[-1])
    q = metric.solve(q)
    if pairs and rescale:
        _, y, curvature = pairs[-1]
        q *= curvature / inner(y, metric.solve(y))
    for (s, y, curvature), share in zip(pairs, reversed(shares), strict=True):
        _add(q, s, share - inner(y, q) / curvature)
    return q


class Diagonal:
    """Inverse of a diagonal (K, 1 + D); coefficients whose entry is zero do not move."""

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
    """A metric whose steps have mean zero over the machines.

    With coupled outputs F does not change when all machines gain the same, which no machine's own matrix shows.
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


def inner(a: Array, b: Array) -> float:
    """Return the sum of a b, without an array in between: wide data have millions of coefficients."""
    return float(np.vdot(a, b))


def _add(to: Array, other: Array, share: float) -> None:
    """Add a share of an array in place; BLAS would work on a copy of an array that is not contiguous."""
    assert to.flags.c_contiguous
    linalg.blas.daxpy(other.ravel(), to.ravel(), a=share)
