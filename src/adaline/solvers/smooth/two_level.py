"""Truncated Newton on wide sparse rows, in a metric of two levels.

Ids and words have a column for each level, and most columns have entries in few rows: there the matrix of second
derivatives H is nearly diagonal. Conjugate gradients need many products because of a few directions: columns that most
rows have, and sums of many rare columns, which together are nearly constant. The metric is

    M g = diag(H)^-1 g over the rare columns + B (B'HB)^-1 B'g

B has the intercept, the columns of largest curvature, and, for each of several ranges of the others, the combination
that compensates a change of the intercept: v_j = H_j0 / H_jj (Nicolaides 1987). B'HB is summed over a sample of rows.

Strong convexity proves the gap. It counts a slope g_j as g_j^2 / (2 ridge_j), although the curvature of F along a
column that most rows have is far larger. Steps in the space of B alone, one pass each, make those slopes small.

References
----------
R. A. Nicolaides, Deflation of conjugate gradients with applications to boundary value problems, SIAM J. Numer. Anal. 24
(1987), 355-365.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array, weighted
from adaline.block import Block
from adaline.solvers import lapack
from adaline.solvers.smooth.lbfgs import inner, step_along
from adaline.solvers.smooth.newton import FLAT_CHANGE, DescentResult, GiveUp, never
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.solvers.smooth.truncated_newton import newton_step
from adaline.sources.held import CompactRows
from adaline.sums import Point, View
from adaline.sums.objective import margins, row_weights, second_moments

HEAD, RANGES = 512, 128  # columns of largest curvature in B, and combinations of the others; doubling: 8 times the work
SAMPLE, LEAST_SAMPLE = 64, 4096  # rows over which B'HB is summed, per column, and at least; doubling: a closer metric
# share of the gradient that the conjugate gradients of a step leave; 10x smaller takes more products per step
STEP_RESIDUAL = 0.15
# share of a diagonal added to it, so that rounding leaves a matrix definite; larger makes steps shorter
DIAGONAL_LIFT = 1e-12
MOST_STEPS, HEAD_STEPS = 100, 4  # Newton steps, and steps in the space of B after each, at most

Gap = Callable[[Evaluation], float]
"""Called with F; about the gap that can be proven there."""


@dataclass(frozen=True)
class CoarseSpace:
    """The space of B, and the sample of the rows that its matrix is summed over.

    Parameters
    ----------
    head : (D,) which columns are themselves columns of B.
    group : (D,) the column of B that each column takes part in, intercept not counted.
    answer : (D,) how much a rare column makes up for the intercept, for each unit of its curvature.
    size : number of columns of B, intercept not counted.
    sample : some of the rows.
    """

    head: NDArray[np.bool_]
    group: NDArray[np.intp]
    answer: Array
    size: int
    sample: list[Block]

    @classmethod
    def of(cls, problem: Problem) -> CoarseSpace:
        """Return the space of a problem; columns are chosen by their second moments, without a pass."""
        spread, (scale, offset) = problem.spread, problem.view
        mean = spread.mean * scale + offset
        square = (spread.deviation * scale) ** 2 + mean**2
        head = np.zeros(problem.features, dtype=np.bool_)
        head[np.argsort(-square / problem.ridge, kind="stable")[:HEAD]] = True
        order = np.arange(problem.features)
        if isinstance(problem.source, CompactRows):
            order = np.argsort(problem.source.chosen)  # side by side as they were coded: levels of one column
        before = np.cumsum(np.where(head, 0.0, square)[order])
        group = np.empty(problem.features, dtype=np.intp)
        group[order] = int(head.sum()) + np.minimum(before / (before[-1] or 1.0) * RANGES, RANGES - 1).astype(np.intp)
        group[head] = np.arange(int(head.sum()))
        answer = np.divide(mean, square, out=np.zeros_like(mean), where=square > 0)
        size = int(head.sum()) + RANGES
        rows = problem.drawn(max(min(SAMPLE * size, problem.source.n_rows // 4), LEAST_SAMPLE))
        return cls(head, group, answer, size, list(rows.blocks()))

    def metric(self, problem: Problem, theta: Array, diagonal: Array) -> TwoLevelMetric:
        """Return the metric at theta, where H has this diagonal (1, 1 + D)."""
        own, ridge = diagonal[0, 1:], problem.ridge
        share = np.where(self.head, 1.0, (own - ridge) * self.answer / own)
        scale, offset = problem.view
        view = View(np.ones(self.size), np.bincount(self.group, share * offset, self.size).astype(np.float64))
        matrix, weight = np.zeros((1 + self.size, 1 + self.size)), 0.0
        for block in self.sample:
            z = margins(block, Point(problem.loss, theta, problem.view))
            curvature = weighted(row_weights(block, z), problem.loss.curvature(z, block.t))
            matrix += second_moments(self._combined(block, share * scale), curvature[:, 0], view)
            weight += float(block.weights().sum())
        matrix *= problem.weight / weight
        diagonals = np.arange(1, 1 + self.size)
        matrix[diagonals, diagonals] += np.bincount(self.group, share**2 * ridge, self.size)
        if not problem.intercept:
            matrix[0, :] = matrix[:, 0] = 0.0
        whole = matrix.diagonal()
        matrix[np.arange(1 + self.size), np.arange(1 + self.size)] += np.where(whole > 0, DIAGONAL_LIFT * whole, 1.0)
        factor = lapack.cholesky(matrix), False
        return TwoLevelMetric(np.where(self.head, 0.0, 1.0 / own), self.group, share, factor)

    def _combined(self, block: Block, share: Array) -> Block:
        """Return rows in the columns of B."""
        x = block.x
        parts = (x.data * share[x.indices], self.group[x.indices], x.indptr)
        combined = scipy.sparse.csr_array(parts, shape=(block.rows, self.size))
        combined.sum_duplicates()
        return replace(block, x=combined)


@dataclass(frozen=True)
class TwoLevelMetric:
    """About the inverse of H; see the module.

    Parameters
    ----------
    inverse : (D,) of the diagonal of H, zero for columns of B.
    group, share : (D,) the column of B that each column takes part in, and how much.
    factor : of B'HB, as SciPy's `cho_factor` gives it.
    """

    inverse: Array
    group: NDArray[np.intp]
    share: Array
    factor: Any

    def __call__(self, g: Array) -> Array:
        """Return M g, (1, 1 + D)."""
        out = self.coarse(g)
        out[0, 1:] += self.inverse * g[0, 1:]
        return out

    def coarse(self, g: Array) -> Array:
        """Return B (B'HB)^-1 B'g, (1, 1 + D)."""
        combined = np.bincount(self.group, self.share * g[0, 1:], len(self.factor[0]) - 1)
        solved = scipy.linalg.cho_solve(self.factor, np.concatenate([g[0, :1], combined]), check_finite=False)
        return np.concatenate([solved[:1], self.share * solved[1:][self.group]])[None]


def two_level_newton(problem: Problem, theta: Array, gap: Gap, enough: float, give_up: GiveUp = never) -> DescentResult:
    """Step down from theta until the gap is `enough`; one output, a convex loss, penalties on all columns."""
    space = CoarseSpace.of(problem)
    here = DescentResult(theta, problem.evaluate(theta))
    for _ in range(MOST_STEPS):
        if (met := gap(here.evaluation) <= enough) or give_up(here):
            return here._replace(converged=met)
        times, diagonal = problem.second_derivatives(here.theta)
        metric = space.metric(problem, here.theta, diagonal)
        step, left = newton_step(times, here.evaluation.gradient, metric, STEP_RESIDUAL)
        del times  # it has a number for each row
        step -= metric.coarse(left)
        slope = inner(here.evaluation.gradient, step)
        new, share = step_along(problem.evaluate, here.theta, here.evaluation, step, slope)
        if new is None:
            return here._replace(converged=-slope <= FLAT_CHANGE * abs(here.evaluation.value))
        here = _levelled(problem, here.moved(share * step, new), space.head, metric, gap, enough)
    return here


def _levelled(
    problem: Problem, here: DescentResult, head: NDArray[np.bool_], metric: TwoLevelMetric, gap: Gap, enough: float
) -> DescentResult:
    """Return the point after steps in the space of B, while slopes along its columns alone hinder a proof."""
    for _ in range(HEAD_STEPS):
        g = here.evaluation.gradient
        rare = float((g[0, 1:] ** 2 / problem.ridge)[~head].sum()) / 2
        if rare > enough / 2 or gap(here.evaluation) <= enough:
            return here
        step = -metric.coarse(g)
        new = problem.evaluate(here.theta + step)
        highest = here.evaluation.value + FLAT_CHANGE * abs(here.evaluation.value)
        if new.value > highest or gap(new) > gap(here.evaluation):
            return here
        here = here.moved(step, new)
    return here
