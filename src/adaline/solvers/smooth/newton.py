"""Damped Newton, which is iteratively reweighted least squares (S2: IRLS; S0 section 5.9).

    theta <- theta - s H^-1 gradient,   s = 1, or less where the whole step would not lower F enough

Each iteration is one pass that returns value, gradient and second derivatives together. When the gap that the decrement
(gradient' H^-1 gradient)^(1/2) proves is below the tolerance, one more step squares the remaining error. Iterations
also stop where steps no longer shrink, at the rounding floor.

The factored H (`Curvature`), the line search and the bound on the gap serve the other solvers of this folder too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.solvers import lapack
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.sources.threads import one_blas_thread

# relative change of an objective that is rounding; 10x larger lets line searches accept small increases
FLAT_CHANGE = 1e-13
# squared decrement, relative to F, that may be rounding; 100x larger may lose a digit of the weights
LEAST_DECREMENT = 1e-20
SLOW_RATIO = 0.2  # ratio of squared decrements from which a whole step is slow; larger suspects separation later
# eigenvalue of H at unit diagonal, relative to the largest, that counts as zero; 10x larger cuts more directions
ZERO_EIGENVALUE = 1e-13
# rounding of eigenvalues, relative to the largest, per coefficient; 10x larger proves fewer gaps
EIGENVALUE_ROUNDING = 1e-15
# penalty along a direction, relative to the largest, that counts as none; 10x larger leaves more unpenalised
ZERO_PENALTY = 1e-14
ARMIJO = 1e-4  # share of the decrease promised by the slope that a step must reach; larger shortens more steps
SHORTEST_STEP = 1e-10  # share of a step at which a line search gives up; 10x larger gives up sooner near rounding


class DescentResult(NamedTuple):
    """Where a solver ended.

    Parameters
    ----------
    theta : (K, 1 + D) weights in the view.
    evaluation : F there.
    curvature : its factored second derivatives, where the solver forms them.
    history : F after each step.
    gap : a bound on F - min F.
    converged : whether the solver met its stopping rule.
    slow : number of last whole steps that were slower than Newton's pace.
    given_up : whether the caller's `give_up` ended it.
    solver : the name of what was run.
    since : length, in the metric of `curvature`, of the steps since that was taken.
    """

    theta: Array
    evaluation: Evaluation
    curvature: Curvature | None = None
    history: list[float] = []  # noqa: RUF012 - lists of a history are added up, never changed
    gap: float = math.inf
    converged: bool = False
    slow: int = 0
    given_up: bool = False
    solver: str = ""
    since: float = 0.0

    def moved(self, step: Array, evaluation: Evaluation, slow: int = 0) -> DescentResult:
        """Return the iterate after a step, with F there."""
        history = [*self.history, evaluation.value]
        return self._replace(theta=self.theta + step, evaluation=evaluation, history=history, slow=slow)

    def after(self, before: DescentResult) -> DescentResult:
        """Return this result with the history of the solver that ran before it in front of its own."""
        return self._replace(history=before.history + self.history)


GiveUp = Callable[[DescentResult], bool]
"""Called with every iterate; True ends the solver there."""


def never(result: DescentResult) -> bool:
    """Return False: a solver runs until its own stopping rule."""
    return False


def newton(
    problem: Problem, theta: Array, wanted: float, max_steps: int = 100, give_up: GiveUp = never
) -> DescentResult:
    """Step down from theta (K, 1 + D) until the gap is at most `wanted`, and once more."""
    here = DescentResult(theta, problem.evaluate(theta, second=True))
    last = math.inf
    for _ in range(max_steps):
        if here.evaluation.hessian is None:
            problem.refuse()
        curvature = factor_hessian(here.evaluation.hessian, problem.ridges)
        value, gradient = here.evaluation.value, here.evaluation.gradient
        decrement = curvature.length(gradient)
        seen = seen_gap(problem, curvature, here.evaluation)
        before, met = here.converged, is_met(problem, seen, decrement, wanted)
        gap = math.inf if curvature.falls_unseen(here.evaluation) else seen
        here = here._replace(curvature=curvature, gap=gap, converged=met)
        floor = decrement**2 <= LEAST_DECREMENT * abs(value)
        if (before or floor) and decrement >= 0.5 * last:
            return here._replace(converged=True)
        if decrement == 0:
            level = problem.steepness(gradient) <= math.sqrt(FLAT_CHANGE) * problem.spread.weight
            return here._replace(converged=level, gap=gap if level else math.inf)
        if (before and met and decrement**2 <= 1e-24 * max(abs(value), 1e-300)) or give_up(here):
            return here
        step, slope = -curvature.solve(gradient), -(decrement**2)
        shorter = problem.shortened(here.theta, step, here.evaluation)
        if shorter is not None:
            step, slope = shorter, float(np.vdot(gradient, shorter))
        new, share = line_search(
            lambda s: problem.evaluate(here.theta + s * step, second=True),  # noqa: B023
            *(value, slope, FLAT_CHANGE * abs(value)),
        )
        if new is None:
            return here._replace(converged=decrement**2 <= max(wanted, FLAT_CHANGE * abs(value)))
        slow = here.slow + 1 if share == 1 and decrement > math.sqrt(SLOW_RATIO) * last else 0
        here = here.moved(share * step, new, slow)
        last = decrement
    return here


def line_search(
    evaluate: Callable[[float], Evaluation],
    value: float,
    slope: float,
    floor: float = 0.0,
    also_enough: Callable[[Evaluation], bool] = lambda new: False,
    extra: Callable[[float], float] = lambda share: 0.0,
) -> tuple[Evaluation | None, float]:
    """Return F at the first share of a step that lowers the objective enough, and the share; None where none does.

    The whole step is tried first, then shorter ones, by parabolas, until Armijo's condition holds.

    Parameters
    ----------
    evaluate : F at a share of the step.
    value, slope : the objective at the start, and its derivative by the share.
    floor : by how much the objective may rise, by rounding.
    also_enough : another condition on F that ends the search.
    extra : what the objective has beside F, at a share of the step.
    """
    share = 1.0
    while share > SHORTEST_STEP:
        new = evaluate(share)
        reached = new.value + extra(share)
        if reached <= value + ARMIJO * share * slope + floor or also_enough(new):
            return new, share
        excess = reached - value - share * slope
        best = -slope * share * share / (2 * excess) if math.isfinite(excess) and excess > 0 else 0.0
        share = min(max(best, 0.1 * share), 0.5 * share)
    return None, 0.0


def is_met(problem: Problem, bound: float, decrement: float, wanted: float) -> bool:
    """Return whether the gap is small enough: proven, or estimated by the decrement where a loss allows no proof."""
    if math.isfinite(problem.loss.concordance):
        return bound <= wanted
    return bound <= wanted or decrement**2 <= wanted * 1e-3


def curvature_gap(problem: Problem, curvature: Curvature, evaluation: Evaluation, stretch: float = 1.0) -> float:
    """Return a bound on F - min F at a point, from F and its factored H; infinity where F falls along a null direction.

    The gradient may be a subgradient; `stretch` is by how much lengths in the metric of H may be too short.
    """
    g = evaluation.gradient
    if curvature.falls_unseen(evaluation):
        return math.inf
    lengths = curvature.length(g) * stretch, row_length_bound(problem, curvature) * stretch
    return gap_bound(*lengths, problem.loss.concordance)


def local_gap(problem: Problem, curvature: Curvature, evaluation: Evaluation) -> float:
    """Return `seen_gap`; infinity where F falls along a null direction of H."""
    return math.inf if curvature.falls_unseen(evaluation) else seen_gap(problem, curvature, evaluation)


def seen_gap(problem: Problem, curvature: Curvature, evaluation: Evaluation) -> float:
    """Return a bound on F - min F along the directions that H knows.

    Where the loss has no such bound it is what H promises, if that is rounding of the value.
    """
    decrement, concordance = curvature.length(evaluation.gradient), problem.loss.concordance
    if math.isfinite(concordance):
        return gap_bound(decrement, row_length_bound(problem, curvature), concordance)
    return decrement**2 if decrement**2 <= FLAT_CHANGE * abs(evaluation.value) else math.inf


def gap_bound(decrement: float, row_length: float, concordance: float) -> float:
    """Return a bound on F - min F from the decrement, given a bound on the length of rows in the metric of H.

    With c = concordance x row length: F - min F <= -decrement ln(1 - c decrement) / c where c decrement < 1.
    """
    if decrement == 0:
        return 0.0
    if not math.isfinite(concordance):
        return math.inf
    c = concordance * row_length
    if c * decrement >= 1:
        return math.inf
    return decrement * (-math.log1p(-c * decrement) / c if c > 0 else decrement)


def row_length_bound(problem: Problem, curvature: Curvature) -> float:
    """Return a bound on the length of any row (1, v) in the metric of H: its length in the view, over H's smallest."""
    return problem.bound_rows(float(np.linalg.norm(curvature.root))) if curvature.rank else math.inf


@dataclass(frozen=True)
class Curvature:
    """A factored matrix H (M, M) of second derivatives: H^-1 = root root'.

    Parameters
    ----------
    root : (M, rank).
    smallest, largest : eigenvalues of H at unit diagonal, or bounds on them.
    null : (M, M - rank) directions along which H is zero.
    """

    root: Array
    smallest: float
    largest: float
    null: Array

    @property
    def rank(self) -> int:
        """Number of directions along which H is not zero."""
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

    def unseen(self, g: Array) -> float:
        """Return the squared length of g along the directions where H is zero, at unit diagonal of H."""
        return float(((g.ravel() @ self.null) ** 2).sum())

    def falls_unseen(self, evaluation: Evaluation) -> bool:
        """Return whether F falls along such directions, beyond rounding."""
        if not self.null.shape[1]:
            return False
        return self.unseen(evaluation.gradient) > LEAST_DECREMENT * abs(evaluation.value)


@one_blas_thread()
def factor_hessian(hessian: Array, ridges: Array | None = None) -> Curvature:
    """Return H (M, M) factored; on one thread, as BLAS with several takes seconds for small matrices on a busy machine.

    By Cholesky where H is positive definite beyond rounding; else by its eigenvectors, negative eigenvalues taken by
    their size, so that steps go down. `ridges` (M,) are what a penalty has put on the diagonal of H: where the rest
    of H is rounding, the curvature is theirs.
    """
    diagonal = hessian.diagonal()
    alive = diagonal != 0
    kept = np.flatnonzero(alive)
    unit = np.zeros(len(diagonal))
    unit[kept] = 1.0 / np.sqrt(np.abs(diagonal[kept]))
    even = hessian * unit[:, None]
    even *= unit
    if len(kept) < len(unit):
        even = even[np.ix_(kept, kept)]
    m = len(hessian)
    dead = np.eye(m)[:, ~alive]
    if not len(kept):
        return Curvature(np.zeros((m, 0)), 1.0, 1.0, dead)
    try:
        lower = lapack.cholesky(even, lower=True)
        inverse = lapack.dtrtri(lower, lower=1)[0]
        # the smallest eigenvalue, from the norm of the inverse; within a factor of the size
        small, large = 1.0 / float((inverse**2).sum()), float(np.abs(even).sum(axis=1).max(initial=1.0))
        if small > ZERO_EIGENVALUE * large * 10:
            root = np.zeros((m, len(kept)))
            root[kept] = inverse.T * unit[kept, None]
            return Curvature(root, small, large, dead)
    except linalg.LinAlgError:
        pass
    if not np.isfinite(even).all():
        raise InvalidData(
            "second derivatives of the objective overflow float64: targets or columns are too large, or too small. "
            "Rescale them."
        )
    values, vectors = np.linalg.eigh(even)
    size = np.abs(values)
    largest = float(size.max(initial=1.0))
    regular = size > ZERO_EIGENVALUE * largest * max(len(kept), 1)
    if ridges is not None and ridges.any() and not regular.all():
        least = EIGENVALUE_ROUNDING * largest * len(kept)
        size[~regular], vectors[:, ~regular] = _penalised_part(
            values[~regular] - least, vectors[:, ~regular], ridges[kept] * unit[kept] ** 2
        )
        regular = size > 0
    root, null = np.zeros((m, int(regular.sum()))), np.zeros((m, int((~regular).sum())))
    root[kept] = vectors[:, regular] / np.sqrt(size[regular]) * unit[kept, None]
    null[kept] = vectors[:, ~regular] * unit[kept, None]
    return Curvature(root, float(size[regular].min(initial=1.0)), largest, np.concatenate([null, dead], axis=1))


def _penalised_part(values: Array, vectors: Array, ridges: Array) -> tuple[Array, Array]:
    """Return eigenvalues (A,) and vectors (M, A) of H among vectors along which it is mostly rounding.

    H there is at least the penalty, which is known exactly, and what the eigenvalues, less rounding, have beyond it.
    """
    penalty = vectors.T @ (ridges[:, None] * vectors)
    most = float(np.linalg.norm(penalty))
    size, turned = np.linalg.eigh(penalty + np.diag(np.maximum(values - most, 0.0)))
    return np.where(size > ZERO_PENALTY * most, size, 0.0), vectors @ turned
