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
from typing import Any

import numpy as np
from scipy import linalg

from adaline.arrays import Array, host, namespace, on_torch, to_device_of
from adaline.solvers import lapack
from adaline.solvers.smooth.newton import FLAT_CHANGE, DescentResult, GiveUp, line_search, never
from adaline.solvers.smooth.problem import Evaluation

# curvature of a contrast, relative to its machines', up to which it has a matrix of its own; doubling it forms more
# matrices
LOW_CURVATURE = 0.5
PAIRS, LEAST_PAIRS = 40, 8  # last steps that correct the metric, at most and at least; doubling takes twice the memory
MOST_PAIR_NUMBERS = 2**25  # numbers of all pairs; doubling it takes 256 MiB more, and fewer passes of very wide fits

Done = Callable[[Evaluation, float], bool]
"""Called with F and an estimate of twice the gap; True ends a solver as converged."""

Pairs = deque[tuple[Array, Array, float]]
"""Steps s, changes y of the gradient along them, and s.y > 0."""


Evaluate = Callable[[Array], Evaluation]
"""A function of an array of any shape: its value and gradient there."""

Metric = Callable[[Array], Array]
"""An approximate inverse M of the second derivatives: from g to M g, in the shape of g."""


def lbfgs(
    evaluate: Evaluate,
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
    here = DescentResult(theta, evaluate(theta) if evaluation is None else evaluation)
    pairs: Pairs = deque(maxlen=min(max(MOST_PAIR_NUMBERS // (2 * theta.size), LEAST_PAIRS), PAIRS))
    for _ in range(max_steps):
        g = here.evaluation.gradient
        direction = -inverse_product(metric, pairs, g)
        slope = inner(g, direction)
        if done(here.evaluation, -slope):
            return here._replace(converged=True)
        if give_up(here):
            return here._replace(given_up=True)
        if not slope < 0:
            if not pairs:
                return here
            pairs.clear()
            continue
        new, share = step_along(evaluate, here.theta, here.evaluation, direction, slope)
        if new is None:
            if not pairs:
                return here._replace(converged=-slope <= FLAT_CHANGE * abs(here.evaluation.value))
            pairs.clear()
            continue
        s, y = share * direction, new.gradient - g
        curvature = inner(s, y)
        if curvature > 1e-12 * math.sqrt(inner(s, s) * inner(y, y)):
            pairs.append((s, y, curvature))
        here = here.moved(s, new)
    return here


def step_along(
    evaluate: Evaluate, theta: Array, evaluation: Evaluation, step: Array, slope: float
) -> tuple[Evaluation | None, float]:
    """Return F at the first share of a step that lowers it enough, and the share.

    At the rounding floor a point will do where F is no higher and its slope along the step is smaller.
    """
    level = evaluation.value + FLAT_CHANGE * abs(evaluation.value)
    return line_search(
        lambda s: evaluate(theta + s * step),
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
    q = metric(q)
    if pairs and rescale:
        _, y, curvature = pairs[-1]
        q *= curvature / inner(y, metric(y))
    for (s, y, curvature), share in zip(pairs, reversed(shares), strict=True):
        _add(q, s, share - inner(y, q) / curvature)
    return q


def of_diagonal(diagonal: Array) -> Metric:
    """Return the inverse of a diagonal (K, 1 + D); coefficients whose entry is zero do not move."""
    inverse = np.where(diagonal > 0, 1.0 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
    return lambda g: np.asarray(g * inverse)


def of_blocks(blocks: Array, contrasts: Array, like: Any = None) -> Metric:
    """Return the sum of inverses of each machine's own matrix and of those of contrasts (A, K) of machines.

    `blocks` is (K + A, 1 + D, 1 + D), none of them with negative eigenvalues. They are factored on the device of the
    array `like`, on the host where that is None.
    """
    diagonal = np.einsum("kii->ki", blocks)
    diagonal += np.where(diagonal > 0, 1e-9 * diagonal, 1.0)  # columns that are constant on the sample
    if like is not None:
        return _of_device_blocks(to_device_of(on_torch(like), blocks), contrasts)
    factors = [(lapack.cholesky(block), False) for block in blocks]

    def solve(g: Array) -> Array:
        parts = zip(factors, [*g, *(contrasts @ g)], strict=True)
        solved = np.stack([linalg.cho_solve(factor, part, check_finite=False) for factor, part in parts])
        return np.asarray(solved[: len(g)] + contrasts.T @ solved[len(g) :])

    return solve


def _of_device_blocks(blocks: Any, contrasts: Array) -> Metric:
    """Return the metric of matrices on a device, by inverses of their Cholesky factors; gradients are sent there."""
    xp = namespace(blocks)
    root = xp.linalg.inv(xp.linalg.cholesky(blocks))
    transposed = xp.matrix_transpose(root)

    def solve(g: Array) -> Array:
        parts = to_device_of(blocks, np.concatenate([g, contrasts @ g])[:, :, None])
        solved = host(xp.matmul(transposed, xp.matmul(root, parts)))[:, :, 0]
        return np.asarray(solved[: len(g)] + contrasts.T @ solved[len(g) :])

    return solve


def low_contrasts(coupling: Array) -> Array:
    """Return contrasts (A, K) of unit length along which machines, coupled by a matrix (K, K), curve much less.

    If classes are often confused within two groups, but seldom between them, F hardly changes when all machines of a
    group gain the same, and the machines' own matrices do not show it. The generalised eigenvectors of the coupling and
    its diagonal with eigenvalues below LOW_CURVATURE do; the one along which all gain the same is left out.
    """
    own = coupling.diagonal()
    if not (own > 0).all():
        return np.zeros((0, len(own)))
    root = np.sqrt(own)
    values, vectors = np.linalg.eigh(coupling / root / root[:, None] + 2 * np.outer(root, root) / own.sum())
    contrasts = (vectors[:, values < LOW_CURVATURE] / root[:, None]).T
    contrasts -= contrasts.mean(axis=1, keepdims=True)
    return np.asarray(contrasts / np.linalg.norm(contrasts, axis=1, keepdims=True))


def balanced(metric: Metric) -> Metric:
    """Return a metric whose steps have mean zero over the machines.

    With coupled outputs F does not change when all machines gain the same, which no machine's own matrix shows.
    """

    def solve(g: Array) -> Array:
        step = metric(g - g.mean(axis=0))
        return np.asarray(step - step.mean(axis=0))

    return solve


def inner(a: Array, b: Array) -> float:
    """Return the sum of a b, without an array in between: wide data have millions of coefficients."""
    return float(np.vdot(a, b))


def _add(to: Array, other: Array, share: float) -> None:
    """Add a share of an array in place; BLAS would work on a copy of an array that is not contiguous."""
    assert to.flags.c_contiguous
    linalg.blas.daxpy(other.ravel(), to.ravel(), a=share)
