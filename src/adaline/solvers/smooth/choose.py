"""Which solver a smooth objective gets, by the number of coefficients M and of rows N; and what it can prove.

- Few rows: damped Newton. Many: Newton on a sample first.
- From there, where the N M^2 multiply-adds of a matrix take no time that matters, Newton on all rows. Else L-BFGS on
  all rows in the metric of the sample's second derivatives, a handful of passes, each leaving about a tenth of the
  error; then the matrix of all rows once, for the proof, the standard errors, and one last Newton step.
- Too many coefficients for their matrix: L-BFGS in the metric of each machine's own matrix, of the rows that bend it
  most, where D^2 can be paid for, of the diagonal for wide data; either is taken anew now and then. If
  that does not end, truncated Newton goes on: best near the minimum of what is badly conditioned.

`tol` bounds gap / (objective of the best constant), whatever the solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from adaline.arrays import Array
from adaline.solvers.smooth.duality_gap import Planes
from adaline.solvers.smooth.lbfgs import Balanced, Blocks, Diagonal, Metric, Scaled, lbfgs
from adaline.solvers.smooth.newton import Curvature, DescentResult, factor, gap, is_met, newton, reach
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.solvers.smooth.truncated_newton import truncated_newton
from adaline.sources.sample import draw_rows
from adaline.sources.threads import one_blas_thread

GiveUp = Callable[[DescentResult], bool]

SMOOTH_SOLVERS = ("auto", "newton", "lbfgs", "newton-cg")
MATRIX = 3000  # coefficients whose matrix of second derivatives is formed
BLOCKS = 4e7  # numbers of the matrices of each machine alone
BENDING = 12  # rows of them for each column
LITTLE = 1e-3  # share of F that a metric of the diagonal must gain, or truncated Newton goes on
FIRST_STEPS, NEXT_STEPS, MOST_STEPS = 10, 40, 300  # in one metric, far from the minimum, nearer to it, and in all
SMALL = 1e7  # multiply-adds of a matrix of second derivatives that take no time that matters
SAMPLE = 24  # rows of a sample for each coefficient
LEAST_SAMPLE = 4096
LARGER = 6  # times as many rows in a second sample
HELD = 1.6e7  # numbers of a sample held beside the rows
STEP_GAINS = 30  # what a step in the metric of a sample takes off the gap at least, mostly


@dataclass(frozen=True)
class SmoothResult:
    """Where it ended, and by which solver."""

    found: DescentResult
    solver: str


def minimise_smooth(
    problem: Problem, theta: Array, wanted: float, solver: str = "auto", give_up: GiveUp = lambda _: False
) -> SmoothResult:
    """Return the minimum, with a gap of at most `wanted` proven where that can be done; BLAS is held to one thread."""
    with one_blas_thread():
        return _solve(problem, theta, wanted, solver, give_up)


def _solve(problem: Problem, theta: Array, wanted: float, solver: str, give_up: GiveUp) -> SmoothResult:
    if solver == "newton":
        return SmoothResult(newton(problem, theta, wanted, give_up=give_up), "Newton (IRLS)")
    if solver == "auto" and problem.size <= MATRIX:
        return _by_matrix(problem, theta, wanted, give_up)

    def done(evaluation: Evaluation, estimate: float) -> bool:
        return _proven(problem, evaluation, estimate) <= wanted

    balanced: Callable[[Metric], Metric] = Balanced if problem.loss.coupled else lambda metric: metric
    if problem.loss.coupled:
        theta = theta - theta.mean(axis=0)

    def of_each(theta: Array) -> Metric:
        return balanced(Blocks(problem.thinned_blocks(theta, BENDING * (1 + problem.features))))

    def of_diagonal(theta: Array) -> Metric:
        return balanced(Diagonal(problem.diagonal(theta)))

    if solver == "newton-cg":
        found = truncated_newton(problem, theta, of_diagonal, done, give_up=give_up)
        name = "truncated Newton in the metric of the diagonal"
    elif _has_blocks(problem):
        found = _refreshed(problem, theta, of_each, NEXT_STEPS, 0.0, done, give_up)
        name = "L-BFGS in the metric of each machine"
    else:
        found = _refreshed(problem, theta, of_diagonal, FIRST_STEPS, LITTLE, done, give_up)
        name = "L-BFGS in the metric of the diagonal"
    if not found.converged and not found.given_up and solver != "newton-cg":
        history = found.history
        found = truncated_newton(problem, found.theta, of_diagonal, done, give_up=give_up)
        found.history = history + found.history
        name += ", then truncated Newton"
    if problem.penalised:
        found.gap = _gap(problem, found)
        if found.converged and wanted < found.gap < math.inf:  # what was gone by is not quite what can be proven
            sure = wanted * min(0.25, 0.5 * wanted / found.gap)
            more = truncated_newton(
                problem,
                found.theta,
                of_diagonal,
                lambda evaluation, estimate: _proven(problem, evaluation, estimate) <= sure,
            )
            more.history = found.history + more.history
            more.gap, found = _gap(problem, more), more
    return SmoothResult(found, name)


def _gap(problem: Problem, found: DescentResult) -> float:
    return Planes(problem, once=True).gap(found.theta, found.evaluation, np.zeros(problem.features))


def _matrix_work(problem: Problem) -> float:
    """Return the multiply-adds of one matrix of second derivatives."""
    source = problem.source
    if source.sparse:
        return source.n_rows * (problem.size * source.density) ** 2 / 2
    return source.n_rows * float(problem.size) ** 2 / 2


def sample_rows(size: int) -> int:
    """Return how many rows a sample for so many coefficients has at most."""
    return LARGER * max(SAMPLE * size, LEAST_SAMPLE)


def _by_matrix(problem: Problem, theta: Array, wanted: float, give_up: GiveUp) -> SmoothResult:
    most = int(HELD / (1 + problem.features))
    rows = min(max(SAMPLE * problem.size, LEAST_SAMPLE), most)
    if 4 * rows > problem.source.n_rows:
        return SmoothResult(newton(problem, theta, wanted, give_up=give_up), "Newton (IRLS)")
    small = _matrix_work(problem) <= SMALL
    more = 0 if small else min(LARGER * rows, problem.source.n_rows // 8, most)
    sample = problem.drawn(more if more > 2 * rows else rows)
    first = problem.on(draw_rows(sample, rows) if sample.n_rows > rows else sample)
    start = _on_sample(first, theta, wanted * problem.share(first.source), 20)
    if small:
        return SmoothResult(newton(problem, start.theta, wanted, give_up=give_up), "Newton (IRLS)")
    share = problem.share(sample)
    if sample.n_rows > rows:
        start = _on_sample(problem.on(sample), start.theta, wanted * share, 2)
    assert start.curvature is not None
    # the proof needs an iterate that is near in the metric: about where c R decrement is 1/2
    provable = problem.loss.concordance * reach(problem, start.curvature) * math.sqrt(share)
    near_enough = min(wanted, 0.25 / provable**2) if provable > 0 else wanted
    here = _closer(problem, start.theta, Scaled(start.curvature, share), wanted, near_enough)
    if not here.converged and not give_up(here):
        history = here.history
        here = newton(problem, here.theta, wanted, give_up=give_up)
        here.history = history + here.history
    return SmoothResult(here, "L-BFGS in the metric of a sample, then Newton")


def _on_sample(sample: Problem, theta: Array, wanted: float, most: int) -> DescentResult:
    """Return the minimum on a sample, held a little for what its rows do not show."""
    typical = sample.source.total_weight() / sample.source.n_rows
    return newton(replace(sample, ridge=sample.ridge + typical), theta, wanted, most)


class _Nearing:
    """A problem asked for its matrix in the same pass as for its gradient, once the next step will be near enough."""

    def __init__(self, problem: Problem, near_enough: float) -> None:
        self.problem, self.near_enough, self.second = problem, near_enough, False

    def evaluate(self, theta: Array) -> Evaluation:
        return self.problem.evaluate(theta, self.second)

    def done(self, evaluation: Evaluation, estimate: float) -> bool:
        self.second = estimate <= STEP_GAINS * self.near_enough
        return estimate <= self.near_enough


def _closer(problem: Problem, theta: Array, metric: Metric, wanted: float, near_enough: float) -> DescentResult:
    """Go on in a metric until the estimate of the gap is near enough, then prove it and take the last step."""
    nearing = _Nearing(problem, near_enough)
    near = lbfgs(nearing, theta, metric, nearing.done, most=12)
    evaluation = near.evaluation if near.evaluation.hessian is not None else problem.evaluate(near.theta, second=True)
    assert evaluation.hessian is not None
    curvature = factor(evaluation.hessian)
    decrement = curvature.length(evaluation.gradient)
    bound = _by_curvature(problem, curvature, decrement)
    step = -curvature.solve(evaluation.gradient)
    new = problem.evaluate(near.theta + step)
    history = near.history
    if new.value > evaluation.value + 1e-13 * abs(evaluation.value):
        return DescentResult(
            near.theta, evaluation, curvature, history, bound, is_met(problem, bound, decrement, wanted)
        )
    # the matrix there is at least exp(-c R |step|) of the one here, and so are lengths in its metric
    left, length = curvature.length(new.gradient), reach(problem, curvature)
    far = problem.loss.concordance * length * decrement
    if far < 200:
        stretch = math.exp(far / 2)
        bound = min(bound, gap(left * stretch, length * stretch, problem.loss.concordance))
    met = is_met(problem, bound, left, wanted)
    return DescentResult(near.theta + step, new, curvature, [*history, new.value], bound, met)


def _by_curvature(problem: Problem, curvature: Curvature, decrement: float) -> float:
    return gap(decrement, reach(problem, curvature), problem.loss.concordance)


def _has_blocks(problem: Problem) -> bool:
    """Whether each machine's own matrix can be formed and paid for."""
    side = 1 + problem.features
    rows = max(BENDING * side, LEAST_SAMPLE)
    return problem.outputs * side**2 <= BLOCKS and not problem.source.sparse and rows < problem.source.n_rows


def _refreshed(
    problem: Problem,
    theta: Array,
    metric: Callable[[Array], Metric],
    steps: int,
    little: float,
    done: Callable[[Evaluation, float], bool],
    give_up: GiveUp,
) -> DescentResult:
    """Step down in a metric that is taken anew, first after FIRST_STEPS, then each time after so many steps; until one
    has gained but a little share of F, or nothing.
    """
    here, most = DescentResult(theta, problem.evaluate(theta), None), FIRST_STEPS
    while len(here.history) < MOST_STEPS:
        new = lbfgs(problem, here.theta, metric(here.theta), done, most, here.evaluation, give_up)
        gained = here.evaluation.value - new.evaluation.value
        stuck = not new.history or gained <= little * abs(new.evaluation.value)
        new.history = here.history + new.history
        if new.converged or new.given_up or stuck:
            return new
        here, most = new, steps
    return here


def diagonal_metric(problem: Problem) -> Diagonal:
    """Return the metric of columns on their own, from their second moments."""
    steepest = problem.loss.steepest if math.isfinite(problem.loss.steepest) else 1.0
    second = problem.spread.weight * (problem.spread.root * problem.view.scale) ** 2
    bent = np.concatenate([[problem.spread.weight * problem.intercept], second]) * steepest / 2
    return Diagonal(np.tile(bent + np.concatenate([[0.0], problem.ridge]), (problem.outputs, 1)))


def _proven(problem: Problem, evaluation: Evaluation, estimate: float) -> float:
    """Return about the gap, to stop by: from strong convexity, intercepts apart; the estimate where nothing is held."""
    if not problem.penalised or not problem.loss.convex:
        return estimate
    g = evaluation.gradient
    held = float((g[:, 1:] ** 2 / problem.ridge).sum()) / 2
    free = float((g[:, 0] ** 2).sum()) / max(problem.spread.weight * 1e-2, 1e-300)
    return held + free
