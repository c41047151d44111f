"""Damped Newton, which is iteratively reweighted least squares (S2: IRLS; S0 section 5.9).

    theta <- theta - s H^-1 gradient,   s = 1, or less where the whole step would not lower F enough

Each iteration is one pass that returns value, gradient and second derivatives together. It ends when the gap that the
decrement proves is below what was asked for, takes one more step, which squares what is left, and stops where steps no
longer shrink: at the rounding floor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from adaline.arrays import Array
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.sources.threads import one_blas_thread

CUT = 1e-13


@dataclass(frozen=True)
class Curvature:
    """A factored H: H^-1 = root root' with root (M, rank); `smallest` eigenvalue of H at unit diagonal."""

    root: Array
    smallest: float
    largest: float
    null: Array
    """Directions that H does not see, (M, M - rank)."""

    @property
    def rank(self) -> int:
        """Number of directions that H sees."""
        return int(self.root.shape[1])

    @property
    def condition(self) -> float:
        """Square root of the ratio of the eigenvalues: that of the design whose Gram matrix H is."""
        return math.sqrt(self.largest / self.smallest) if self.smallest > 0 else math.inf

    def solve(self, g: Array) -> Array:
        """Return H^-1 g in the shape of g."""
        return np.asarray((self.root @ (self.root.T @ g.ravel())).reshape(g.shape))

    def length(self, g: Array) -> float:
        """Return (g' H^-1 g)^(1/2)."""
        return float(np.linalg.norm(self.root.T @ g.ravel()))

    def covariance(self) -> Array:
        """Return H^-1."""
        return np.asarray(self.root @ self.root.T)


def factor(hessian: Array) -> Curvature:
    """Return H factored; on one thread, as BLAS with several takes seconds for small matrices on a busy machine."""
    with one_blas_thread():
        return _factor(hessian)


def _factor(hessian: Array) -> Curvature:
    diagonal = hessian.diagonal()
    alive = diagonal != 0
    unit = np.where(alive, 1.0 / np.sqrt(np.abs(np.where(alive, diagonal, 1.0))), 0.0)
    even = hessian * unit[:, None] * unit
    places = np.flatnonzero(alive)
    even = even[np.ix_(places, places)]
    m = len(hessian)
    dead = np.eye(m)[:, ~alive]
    if not len(places):
        return Curvature(np.zeros((m, 0)), 1.0, 1.0, dead)
    try:
        lower = linalg.cholesky(even, lower=True, check_finite=False)
        inverse = linalg.lapack.dtrtri(lower, lower=1)[0]
        # the smallest eigenvalue, from the norm of the inverse; within a factor of the size
        small, large = 1.0 / float((inverse**2).sum()), float(np.abs(even).sum(axis=1).max(initial=1.0))
        if small > CUT * large * 10:
            root = np.zeros((m, len(places)))
            root[places] = inverse.T * unit[places, None]
            return Curvature(root, small, large, dead)
    except linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(even)
    size = np.abs(values)
    largest = float(size.max(initial=1.0))
    kept = size > CUT * largest * max(len(places), 1)
    root, null = np.zeros((m, int(kept.sum()))), np.zeros((m, int((~kept).sum())))
    root[places] = vectors[:, kept] / np.sqrt(size[kept]) * unit[places, None]
    null[places] = vectors[:, ~kept] * unit[places, None]
    return Curvature(root, float(size[kept].min(initial=1.0)), largest, np.concatenate([null, dead], axis=1))


def gap(decrement: float, reach: float, concordance: float) -> float:
    """Return a bound on F - min F from the decrement; `reach` bounds the rows in the metric of H."""
    if decrement == 0:
        return 0.0
    if not math.isfinite(concordance):
        return math.inf
    c = concordance * reach
    if c * decrement >= 1:
        return math.inf
    return decrement * (-math.log1p(-c * decrement) / c if c > 0 else decrement)


# How far to go along a step: whole, or shorter until the objective falls enough (Armijo), by parabolas.


ARMIJO = 1e-4
FLAT = 1e-13  # changes of an objective below this share of it are rounding
SHORTEST = 1e-10


def search(
    look: Callable[[float], Evaluation],
    value: float,
    slope: float,
    floor: float = 0.0,
    will_do: Callable[[Evaluation], bool] = lambda new: False,
    more: Callable[[float], float] = lambda share: 0.0,
) -> tuple[Evaluation | None, float]:
    """Return F at the first share of a step that lowers the objective enough, and the share; None where none does.

    `value` and `slope` are those of the objective at the start; it may rise by `floor`, by rounding. `look` tells F at
    a share of the step, `more` what the objective has beside it, `will_do` what is enough otherwise.
    """
    share = 1.0
    while share > SHORTEST:
        new = look(share)
        reached = new.value + more(share)
        if reached <= value + ARMIJO * share * slope + floor or will_do(new):
            return new, share
        fall = reached - value - share * slope
        best = -slope * share * share / (2 * fall) if math.isfinite(fall) and fall > 0 else 0.0
        share = min(max(best, 0.1 * share), 0.5 * share)
    return None, 0.0


FLOOR = 1e-20  # squared decrements below this share of F, which no longer halve, are rounding
SLOW = 0.2  # a whole step that leaves more than this share of the decrement squared is not Newton's pace


@dataclass
class DescentResult:
    """Where a solver ended: weights in the view, F there, its factor, F after each step, and how many were slow."""

    theta: Array
    evaluation: Evaluation
    curvature: Curvature | None
    history: list[float] = field(default_factory=list)
    gap: float = math.inf
    converged: bool = False
    slow: int = 0
    given_up: bool = False


def newton(
    problem: Problem,
    theta: Array,
    wanted: float,
    most: int = 100,
    give_up: Callable[[DescentResult], bool] = lambda _: False,
) -> DescentResult:
    """Step down until the gap is at most `wanted` and once more; `give_up` looks at every iterate."""
    here = DescentResult(theta, problem.evaluate(theta, second=True), None)
    last = math.inf
    for _ in range(most):
        if here.evaluation.hessian is None:
            problem.refuse()
        here.curvature = factor(here.evaluation.hessian)
        decrement = here.curvature.length(here.evaluation.gradient)
        here.gap = gap(decrement, reach(problem, here.curvature), problem.loss.concordance)
        if math.isinf(here.gap) and not math.isfinite(problem.loss.concordance):
            here.gap = decrement**2 if decrement**2 <= FLAT * abs(here.evaluation.value) else math.inf
        met = is_met(problem, here.gap, decrement, wanted)
        floor = decrement**2 <= FLOOR * abs(here.evaluation.value)
        if (here.converged or floor) and decrement >= 0.5 * last:
            here.converged = True
            return here
        if decrement == 0:
            here.converged = problem.steepness(here.evaluation.gradient) <= math.sqrt(FLAT) * problem.spread.weight
            here.gap = here.gap if here.converged else math.inf
            return here
        if here.converged and met and decrement**2 <= 1e-24 * max(abs(here.evaluation.value), 1e-300):
            return here
        here.converged = met
        if give_up(here):
            return here
        step = -here.curvature.solve(here.evaluation.gradient)
        new, share = _search(problem, here, step, -(decrement**2))
        if new is None:
            here.converged = decrement**2 <= max(wanted, FLAT * abs(here.evaluation.value))
            return here
        here.slow = here.slow + 1 if share == 1 and decrement > math.sqrt(SLOW) * last else 0
        here.theta, here.evaluation, last = here.theta + share * step, new, decrement
        here.history.append(new.value)
    return here


def is_met(problem: Problem, bound: float, decrement: float, wanted: float) -> bool:
    """Whether the gap is small enough: proven, or shown by the decrement where a loss allows no proof."""
    if math.isfinite(problem.loss.concordance):
        return bound <= wanted
    return bound <= wanted or decrement**2 <= wanted * 1e-3


def _search(problem: Problem, here: DescentResult, step: Array, slope: float) -> tuple[Evaluation | None, float]:
    value = here.evaluation.value
    return search(lambda s: problem.evaluate(here.theta + s * step, second=True), value, slope, FLAT * abs(value))


def reach(problem: Problem, curvature: Curvature) -> float:
    """Return a bound on the length of any row (1, v) in the metric of H: its length in the view, over H's smallest."""
    view, spread = problem.view, problem.spread
    furthest = np.abs(view.offset) + spread.largest * view.scale
    rows = math.sqrt(problem.intercept + float((furthest**2).sum()))
    return rows * float(np.linalg.norm(curvature.root)) if curvature.rank else math.inf
