"""The fit of ordered classes: start from the shares of the classes, solve, and check whether there is a maximum.

The objective is that of `solvers/smooth/ordinal.py`. It has no minimum if thresholds cut some w'x such that every row
lies in the interval of its class or on its end. With u = (thresholds, w) and e_t the unit vector of threshold t, a row
of class t then has (e_t, -x)'u >= 0, below its upper end, and (e_(t-1), -x)'u <= 0, above its lower end: the plane u
through the origin separates these rows. `separability` decides this within a budget, as for a logistic regression.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from adaline.arrays import Array, as_dense, host
from adaline.errors import AdalineError
from adaline.fits.constants import ROUNDING_GAP
from adaline.fits.linear_machine import DEPENDENT
from adaline.fits.separation import MOST_EXPLAINED_NUMBERS, PATIENCE, PROOF_WORK, TINY_PENALTY, Separation
from adaline.penalties import RidgePenalty
from adaline.results import Solution, Status
from adaline.separation.budget import Budget
from adaline.separation.separability import decide_jointly
from adaline.solvers.least_squares.dependence import Dependence, independent
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.choose import MOST_MATRIX_SIDE, minimise_near, minimise_smooth, needs_metric, sample_rows
from adaline.solvers.smooth.lbfgs import Metric, of_diagonal
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.solvers.smooth.newton import FLAT_CHANGE, Curvature, DescentResult, newton
from adaline.solvers.smooth.ordinal import OrdinalProblem, from_machines, to_machines
from adaline.solvers.smooth.truncated_newton import truncated_newton
from adaline.sources import ArraySource
from adaline.sources.threads import one_blas_thread
from adaline.sources.totals import weight_totals

REMEDIES = "give a number as penalty"  # where there is no maximum
ROUNDING = 2.0**-52  # rounding error of an output, relative to its size; 10x larger claims larger gaps
# expected rows of the rarest class below which no sample is taken; doubling it takes Newton steps over all rows more
# often
RAREST_IN_SAMPLE = 10


class FittedOrdinal(NamedTuple):
    """Machines (T, 1 + D), as `to_machines` gives them, with inference; the objective after each step, and the plane
    that separates the classes, where there is one.
    """

    fit: LikelihoodFit
    history: list[float]
    separation: Separation | None


@dataclass(frozen=True)
class OrdinalOptions:
    """How to fit: the penalty, `tol` as for a linear machine, and a fit of nearly the same rows to start from."""

    penalty: RidgePenalty
    tol: float
    near: LikelihoodFit | None = None


def fit_ordinal(problem: OrdinalProblem, counts: Array, options: OrdinalOptions) -> FittedOrdinal:
    """Return the fit of classes whose rows weigh `counts` (K,), all above zero."""
    return _Fitting(problem, counts, options).run()


class _Fitting:
    """One run of `fit_ordinal`, which may find that there is no maximum."""

    def __init__(self, problem: OrdinalProblem, counts: Array, options: OrdinalOptions) -> None:
        self.problem, self.counts, self.options = problem, counts, options
        shares = counts / counts.sum()
        self.null = -float((counts * np.log(shares)).sum())
        self.wanted = (options.tol + ROUNDING_GAP) * self.null
        assert problem.cumulative is not None
        from_below, from_above = np.cumsum(shares)[:-1], np.cumsum(shares[::-1])[::-1][1:]
        inside = np.where(from_below < 0.5, from_below, 1.0 - from_above)
        self.constants = np.concatenate([problem.cumulative.link.quantile(inside), np.zeros(problem.features)])[None, :]
        self.offset = problem.source.targets.offset > 0  # which may put each row into its interval, without a plane
        if self.offset:
            self._begin_beside_offsets()
        self.separation: Separation | None = None
        self.settled = options.penalty.any()

    def run(self) -> FittedOrdinal:
        problem, options = self.problem, self.options
        found = self._near()
        if found is None:
            found = self._solve(problem, self._start())
            if math.isinf(found.gap) and not found.given_up:
                self._settle(found, likely=problem.features >= problem.source.n_rows)
        if self.separation is not None:
            problem = problem.penalised_by(RidgePenalty(TINY_PENALTY, problem.spread.deviation))
            self.settled = True
            found = self._solve(problem, found.theta * 0.5).after(found)
        theta, depends = _shortest(problem, found)
        raw = problem.to_raw(theta)
        machines = to_machines(raw[0], problem.thresholds)
        condition = math.nan if found.curvature is None else found.curvature.condition
        free = not options.penalty.any()
        status = Status.SOLVED if found.converged else Status.NOT_CONVERGED
        if found.converged and self.separation is not None:
            status = self.separation.status
        elif found.converged and len(depends.left_out) and free:
            status = Status.RANK_DEFICIENT
        elif found.converged and (condition > 1e8 or _has_flat_directions(problem, found)):
            status = Status.ILL_CONDITIONED
        proof = certificate(  # how many digits are right is not known
            status=status,
            objective=found.evaluation.value,
            gradient=problem.steepness(found.evaluation.gradient),
            gap=found.gap + _rounding(problem, found, raw[0]),
            condition=condition,
            rank=depends.rank,
            solver=found.solver,
            advice=DEPENDENT if status is Status.RANK_DEFICIENT else status.advise(REMEDIES),
        )
        w = found.theta[0, problem.thresholds :]
        fit = LikelihoodFit(
            Solution(machines, proof),
            None if found.curvature is None else _raw_root(problem, found.curvature),
            0.5 * float((problem.ridge * w**2).sum()) - found.evaluation.value,
            -self.null,
            problem.source.n_rows,
            problem.spread.weight,
            problem.thresholds + depends.rank,
            not free,
            False,
            depends,
            offset=self.offset,
        )
        return FittedOrdinal(fit, found.history, self.separation)

    def _begin_beside_offsets(self) -> None:
        """Take the best thresholds of rows with offsets, without columns, and their loss; read the rows."""
        alone, ends = self.problem.without_columns(), self.problem.thresholds
        found = newton(alone, self.constants[:, :ends], self.wanted)
        self.constants[:, :ends], self.null = found.theta, found.evaluation.value
        self.wanted = (self.options.tol + ROUNDING_GAP) * self.null

    def _near(self) -> DescentResult | None:
        """Return the minimum, started from a fit of nearly the same rows; None without one, or if it does not help."""
        near, problem = self.options.near, self.problem
        if near is None or near.root is None or not needs_metric(problem):
            return None
        columns = problem.from_raw(from_machines(near.root).T) * math.sqrt(near.weight / problem.weight)
        condition = near.solution.certificate.condition
        metric = Curvature(columns.T.copy(), condition**-2, 1.0, np.zeros((problem.size, 0)))
        start = problem.from_raw(from_machines(near.solution.theta)[None, :])
        return minimise_near(problem, start, self.wanted, metric)

    def _start(self) -> Array:
        """Return where to start: near a fit of nearly the same rows if that costs less than constants."""
        if self.options.near is None:
            return self.constants
        given = self.problem.from_raw(from_machines(self.options.near.solution.theta)[None, :])
        return given if self.problem.evaluate(given).value < self.null else self.constants

    def _solve(self, problem: OrdinalProblem, start: Array) -> DescentResult:
        """Return the minimum from a start; by products where there are too many coefficients for a matrix."""
        if problem.size <= MOST_MATRIX_SIDE:
            seen = self.counts.min() * min(1.0, sample_rows(problem.size) / problem.source.n_rows)
            common = seen >= RAREST_IN_SAMPLE * self.counts.sum() / problem.source.n_rows
            solver = "auto" if common and math.isfinite(problem.loss.concordance) else "newton"
            return minimise_smooth(problem, start, self.wanted, solver, self._give_up)

        def metric(theta: Array) -> Metric:
            return of_diagonal(problem.diagonal(theta))

        with one_blas_thread():
            found = truncated_newton(problem, start, metric, lambda _, twice: twice <= self.wanted, 200, self._give_up)
        return found._replace(solver="truncated Newton in the metric of the diagonal")

    def _give_up(self, here: DescentResult) -> bool:
        """Whether the steps show that there is no maximum: every row is in its interval, or steps are slow."""
        if self.settled:
            return False
        if not self.offset and here.evaluation.value < 0.5 * math.log(2) * self._lightest():
            self.settled = True
            self.separation = Separation("complete", self._direction(here.theta))
        elif here.slow >= PATIENCE:
            self._settle(here, likely=True)
        return self.separation is not None

    def _lightest(self) -> float:
        if self.problem.lightest is not None:
            return self.problem.lightest
        lightest = weight_totals(self.problem.source).lightest if self.problem.source.targets.weighted else 1.0
        self.problem = replace(self.problem, lightest=lightest)
        return lightest

    def _settle(self, here: DescentResult, likely: bool) -> None:
        """Decide whether some w'x can be cut into the classes; where that is too large, take theta where likely."""
        if self.settled:
            return
        self.settled = True
        direction = self._direction(here.theta)
        ends = _ends(self.problem)
        if ends is None:
            self.separation = Separation("suspected", direction) if likely else None
            return
        try:
            verdict = decide_jointly(ends, np.arange(2), Budget(PROOF_WORK))
        except AdalineError:
            self.separation = Separation("suspected", direction) if likely else None
            return
        if verdict.kind != "none":
            assert verdict.coef is not None
            assert verdict.intercept is not None
            first = float(verdict.intercept)
            between, slopes = np.split(np.asarray(verdict.coef), [self.problem.thresholds - 1])
            whole = np.concatenate([[first], first + between, slopes])
            direction = to_machines(whole / np.linalg.norm(whole), self.problem.thresholds)
            self.separation = Separation(verdict.kind, direction)

    def _direction(self, theta: Array) -> Array:
        raw = self.problem.to_raw(theta)[0]
        return to_machines(raw / np.linalg.norm(raw), self.problem.thresholds)


def _ends(problem: OrdinalProblem) -> ArraySource | None:
    """Return the ends of the rows' intervals as rows of two classes, upper ones 1; None where there are too many.

    Of threshold k the columns hold what it is above the first, which is the intercept.
    """
    n, side = problem.source.n_rows, problem.size
    if problem.source.streamed or 2 * n * side > MOST_EXPLAINED_NUMBERS:
        return None
    blocks = [block.gathered().heavy() for block in problem.source.blocks()]
    t = np.concatenate([host(block.t)[:, 0] for block in blocks]).astype(np.intp)
    kept = np.flatnonzero(~problem.constant)
    x = np.concatenate([host(as_dense(block.x)) for block in blocks])
    x = np.where(np.isin(np.arange(x.shape[1]), kept), x, 0.0)
    above = np.vstack([np.zeros(problem.thresholds - 1), np.eye(problem.thresholds - 1)])
    upper, lower = np.flatnonzero(t < problem.thresholds), np.flatnonzero(t > 0)
    rows = np.vstack(
        [
            np.column_stack([above[t[upper]], -x[upper]]),
            np.column_stack([above[t[lower] - 1], -x[lower]]),
        ]
    )
    sides = np.repeat([1.0, 0.0], [len(upper), len(lower)])[:, None]
    return ArraySource(rows, sides)


def _raw_root(problem: OrdinalProblem, curvature: Curvature) -> Array:
    """Return a root of the covariance of the machines in raw units, (T, 1 + D, M)."""
    with np.errstate(over="ignore"):
        w = curvature.root[problem.thresholds :]
        moved = curvature.root[: problem.thresholds] - problem.view.offset @ w
        return to_machines(np.concatenate([moved, w * problem.view.scale[:, None]]), problem.thresholds)


def _shortest(problem: OrdinalProblem, found: DescentResult) -> tuple[Array, Dependence]:
    """Return the weights of least norm in raw units among those that predict the same, and why there are several."""
    curvature = found.curvature
    if curvature is None or problem.penalised or not curvature.null.shape[1]:
        return found.theta, independent(problem.constant)
    null, first = curvature.null, problem.thresholds
    raw = problem.to_raw(null.T)[:, first:].T
    share = np.linalg.lstsq(raw, problem.to_raw(found.theta)[0, first:], rcond=None)[0]
    theta = found.theta - (null @ share)[None, :]
    if problem.evaluate(theta).value > found.evaluation.value * (1 + FLAT_CHANGE):
        return found.theta, independent(problem.constant)  # curvature vanishes, columns do not depend
    return theta, problem.dependence(np.concatenate([np.zeros((1, null.shape[1])), null[first:]]))


def _rounding(problem: OrdinalProblem, found: DescentResult, raw: Array) -> float:
    """Return what rounding may add to the objective: of its value, and of weights (M,) in raw units, by the outputs."""
    ends, slopes = np.split(np.abs(raw), [problem.thresholds])
    size = float(ends.max() + slopes @ problem.spread.root)
    return FLAT_CHANGE * abs(found.evaluation.value) + problem.spread.weight * (16 * ROUNDING * size) ** 2


def _has_flat_directions(problem: OrdinalProblem, found: DescentResult) -> bool:
    """Whether curvature is lost in rounding along directions other than constant columns: weights are not settled."""
    return found.curvature is not None and found.curvature.null.shape[1] > int(np.sum(problem.constant))
