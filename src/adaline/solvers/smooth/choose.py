"""The choice of a solver for a smooth objective, by the number of coefficients M and of rows N.

- **M up to `MOST_MATRIX_SIDE`, few rows**: damped Newton. If a matrix takes far longer than a pass, two Newton steps,
  then L-BFGS in the metric of the last matrix, and one more matrix for the proof.
- **The same M, many rows**: Newton on a sample first. Then Newton on all rows if the N M^2 multiply-adds of a matrix
  are cheap. Else L-BFGS in the metric of the sample's second derivatives, a handful of passes that each leave about a
  tenth of the error; then the matrix of all rows once, for the proof, the standard errors, and a last Newton step.
- **Larger M**: L-BFGS in the metric of each machine's own matrix over the rows with the largest curvature, or of the
  diagonal if D^2 numbers are too many; the metric is updated now and then. If that does not converge, truncated Newton
  takes over, which is best near the minimum of an ill-conditioned objective. One machine of sparse rows of 2^14 columns
  or more from a table: truncated Newton in a metric of two levels.

`tol` bounds gap / (objective of the best constant), whatever the solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from adaline.arrays import Array
from adaline.solvers.smooth.duality_gap import Planes
from adaline.solvers.smooth.lbfgs import Done, Metric, balanced, lbfgs, low_contrasts, of_blocks, of_diagonal
from adaline.solvers.smooth.newton import (
    Curvature,
    DescentResult,
    GiveUp,
    curvature_gap,
    factor_hessian,
    is_met,
    never,
    newton,
    row_length_bound,
)
from adaline.solvers.smooth.problem import Evaluation, Problem
from adaline.solvers.smooth.truncated_newton import truncated_newton
from adaline.solvers.smooth.two_level import two_level_newton
from adaline.sources.array import SparseSource
from adaline.sources.device import empty_on_device
from adaline.sources.sample import draw_rows
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import total_weight
from adaline.sums.sample import LEAST_SPARSE_COLUMNS

SmoothSolver = Literal["auto", "newton", "lbfgs", "newton-cg"]
NEWTON = "Newton (IRLS)"
# coefficients up to which second derivatives are a matrix; doubling it takes 8 times as long to factor it
MOST_MATRIX_SIDE = 3000
# multiply-adds of a matrix that are cheap beside a pass; 10x larger forms matrices of all rows in more steps
CHEAP_MATRIX_WORK = 1e7
# multiply-adds from which L-BFGS replaces most Newton steps; 10x larger, it does so only for larger data
COSTLY_MATRIX_WORK = 1e8
# such Newton steps before the last matrix is kept as a metric; doubling it takes two more matrices, fewer passes
WHOLE_STEPS = 2
# rows of a sample per coefficient; doubling it doubles its cost, for a metric closer by the root of 2
SAMPLE_ROWS_A_COEFFICIENT = 24
LEAST_SAMPLE_ROWS = 4096  # rows of a sample; doubling it doubles the cost of small ones
# ratio of the second sample to the first; doubling it doubles its cost, and saves part of a pass over all rows
SECOND_SAMPLE_RATIO = 6
MOST_SAMPLE_NUMBERS = 1.6e7  # numbers of a sample in memory; doubling it takes 128 MB more
# factor by which a step in a sample's metric lowers the gap; doubling it forms the whole matrix earlier
SAMPLE_STEP_GAIN = 30
MOST_BLOCK_NUMBERS = 4e7  # numbers in the matrices of all machines; doubling it takes 320 MB more, for more fits
BLOCK_ROWS_A_COLUMN = 12  # rows per column that the matrix of a machine is summed over; doubling it takes twice as long
UNPROVEN_SHARE = 1e-3  # share of the wanted gap aimed at near another fit without a proof; 10x larger may miss the gap
MOST_NEAR_STEPS = 8  # steps of such a fit; doubling it tries unlike folds for longer before it refits them
LEAST_GAIN = 1e-3  # relative gain below which truncated Newton replaces the diagonal; 10x larger replaces it earlier
PROVABLE_SHARE = 0.5  # share of the wanted gap aimed at where it is proven afterwards; at 1 the proof may just miss it
FIRST_STEPS, NEXT_STEPS = 10, 40  # steps in one metric, first and later; doubling both keeps outdated metrics longer
MOST_STEPS = 300  # steps in all; doubling it doubles the time before hard fits end as not converged


def minimise_smooth(
    problem: Problem, theta: Array, wanted: float, solver: str = "auto", give_up: GiveUp = never
) -> DescentResult:
    """Return the minimum, with a gap of at most `wanted` proven where that can be done; BLAS runs on one thread.

    `theta` (K, 1 + D) is the start, in the view of the problem; `solver` is a SmoothSolver.
    """
    with one_blas_thread():
        if solver == "newton":
            return newton(problem, theta, wanted, give_up=give_up)._replace(solver=NEWTON)
        if solver == "auto" and problem.size <= MOST_MATRIX_SIDE:
            return _with_matrix(problem, theta, wanted, give_up)
        return _without_matrix(problem, theta, wanted, solver, give_up)


def _with_matrix(problem: Problem, theta: Array, wanted: float, give_up: GiveUp) -> DescentResult:
    most = int(MOST_SAMPLE_NUMBERS / (1 + problem.features))
    rows = min(max(SAMPLE_ROWS_A_COEFFICIENT * problem.size, LEAST_SAMPLE_ROWS), most)
    if 4 * rows > problem.source.n_rows:
        return _few_rows(problem, theta, wanted, give_up)
    small = _matrix_work(problem) <= CHEAP_MATRIX_WORK
    more = 0 if small else min(SECOND_SAMPLE_RATIO * rows, problem.source.n_rows // 8, most)
    sample = problem.drawn(more if more > 2 * rows else rows)
    first = problem.on(draw_rows(sample, rows) if sample.n_rows > rows else sample)
    start = _on_sample(first, theta, wanted * problem.share(first.source), 20)
    share = problem.share(sample)
    if not small and sample.n_rows > rows:
        start = _on_sample(problem.on(sample), start.theta, wanted * share, 2)
    if small and math.isfinite(problem.loss.steepest):
        return newton(problem, start.theta, wanted, give_up=give_up)._replace(solver=NEWTON)
    here = problem.evaluate(start.theta)
    unlike = False
    if not math.isfinite(problem.loss.steepest):
        # rows of a level that the sample lacks can lose more than the other rows gain
        promised = (problem.on(sample).evaluate(theta).value - start.evaluation.value) / share
        unlike = here.value - problem.evaluate(theta).value > max(promised, 0.0)
    if small or unlike:
        return newton(problem, theta if unlike else start.theta, wanted, give_up=give_up)._replace(solver=NEWTON)
    assert start.curvature is not None
    found = _in_metric(problem, start.theta, here, start.curvature, share, wanted)
    if not found.converged and not give_up(found):
        found = newton(problem, found.theta, wanted, give_up=give_up).after(found)
    return found._replace(solver="L-BFGS in the metric of a sample, then Newton")


def _few_rows(problem: Problem, theta: Array, wanted: float, give_up: GiveUp) -> DescentResult:
    """Return the minimum by Newton's steps; where a matrix is much work, L-BFGS in the metric of one replaces most."""
    cheap = _matrix_work(problem) <= COSTLY_MATRIX_WORK or problem.source.streamed
    if cheap or not math.isfinite(problem.loss.concordance):
        return newton(problem, theta, wanted, give_up=give_up)._replace(solver=NEWTON)
    here = newton(problem, theta, wanted, WHOLE_STEPS, give_up)
    if here.converged or give_up(here):
        return here._replace(solver=NEWTON)
    assert here.evaluation.hessian is not None
    metric = factor_hessian(here.evaluation.hessian, problem.ridges)
    here = _in_metric(problem, here.theta, here.evaluation, metric, 1.0, wanted).after(here)
    if not here.converged and not give_up(here):
        here = newton(problem, here.theta, wanted, give_up=give_up).after(here)
    return here._replace(solver="Newton, L-BFGS in its metric, Newton")


def minimise_near(problem: Problem, theta: Array, wanted: float, metric: Curvature | None) -> DescentResult | None:
    """Return the minimum near theta (K, 1 + D), by L-BFGS in a metric; None where that is not reached in a few passes.

    `metric` is about the curvature of the problem, such as that of nearly the same rows; None: that at theta. The gap
    is estimated, not proven, and the last step is not evaluated any more: it leaves a small part of that gap.
    """
    here = problem.evaluate(theta, second=metric is None)
    if not math.isfinite(here.value):
        return None
    if metric is None:
        assert here.hessian is not None
        metric = factor_hessian(here.hessian, problem.ridges)

    def done(_: Evaluation, estimate: float) -> bool:
        return estimate <= UNPROVEN_SHARE * wanted

    with one_blas_thread():
        found = lbfgs(problem.evaluate, theta, metric.solve, done, MOST_NEAR_STEPS, here)
    if not found.converged:
        return None
    theta = found.theta - metric.solve(found.evaluation.gradient)
    solver = "L-BFGS in the metric of nearly the same rows"
    return found._replace(theta=theta, curvature=metric, solver=solver, since=math.inf)  # another fit's curvature


def needs_metric(problem: Problem) -> bool:
    """Return whether the matrix of second derivatives is formed, but not in every step: it takes time that matters."""
    return problem.size <= MOST_MATRIX_SIDE and _matrix_work(problem) > CHEAP_MATRIX_WORK


def _without_matrix(problem: Problem, theta: Array, wanted: float, solver: str, give_up: GiveUp) -> DescentResult:
    if problem.loss.coupled:
        theta = theta - theta.mean(axis=0)

    def of_each(theta: Array) -> Metric:
        coupling, rows = problem.coupling(theta), BLOCK_ROWS_A_COLUMN * (1 + problem.features)
        contrasts = low_contrasts(coupling) if problem.loss.coupled else np.zeros((0, problem.outputs))
        blocks = problem.thinned_blocks(theta, rows, coupling, contrasts)
        metric = of_blocks(blocks, contrasts, empty_on_device(problem.source))
        return balanced(metric) if problem.loss.coupled else metric

    def of_columns(theta: Array) -> Metric:
        metric = of_diagonal(problem.diagonal(theta))
        return balanced(metric) if problem.loss.coupled else metric

    def below(limit: float) -> Done:
        return lambda evaluation, estimate: _estimated_gap(problem, evaluation, estimate) <= limit

    in_blocks = solver != "newton-cg" and _has_blocks(problem)
    in_two_levels, gap = solver != "lbfgs" and _has_two_levels(problem), partial(_estimated_gap, problem)
    provable = wanted * PROVABLE_SHARE if problem.penalised else wanted
    enough = below(provable)
    if in_two_levels:
        found = two_level_newton(problem, theta, gap, provable, give_up)
        name = "truncated Newton in a metric of two levels"
    elif solver == "newton-cg":
        found = truncated_newton(problem, theta, of_columns, enough, give_up=give_up)
        name = "truncated Newton in the metric of the diagonal"
    elif in_blocks:
        found = _refreshed(problem, theta, of_each, NEXT_STEPS, 0.0, enough, give_up)
        name = "L-BFGS in the metric of each machine"
    else:
        found = _refreshed(problem, theta, of_columns, FIRST_STEPS, LEAST_GAIN, enough, give_up)
        name = "L-BFGS in the metric of the diagonal"
    if not found.converged and not found.given_up and not in_two_levels and solver != "newton-cg":
        found = truncated_newton(problem, found.theta, of_columns, enough, give_up=give_up).after(found)
        name += ", then truncated Newton"
    if problem.penalised:
        found = _with_duality_gap(problem, found)
        if found.converged and wanted < found.gap < math.inf:  # the estimate was met, and the proof is not
            closer = wanted * min(0.25, 0.5 * wanted / found.gap)
            if in_two_levels:
                again = two_level_newton(
                    problem, found.theta, partial(_estimated_gap, problem, estimate=math.inf), closer
                )
            elif in_blocks:
                again = _refreshed(problem, found.theta, of_each, NEXT_STEPS, 0.0, below(closer), give_up)
            else:
                again = truncated_newton(problem, found.theta, of_columns, below(closer))
            found = _with_duality_gap(problem, again.after(found))
    return found._replace(solver=name)


def sample_rows(size: int) -> int:
    """Return how many rows a sample has at most, for `size` coefficients."""
    return SECOND_SAMPLE_RATIO * max(SAMPLE_ROWS_A_COEFFICIENT * size, LEAST_SAMPLE_ROWS)


def diagonal_metric(problem: Problem) -> Metric:
    """Return the metric of columns on their own, from their second moments."""
    steepest = problem.loss.steepest if math.isfinite(problem.loss.steepest) else 1.0
    second = problem.spread.weight * (problem.spread.root * problem.view.scale) ** 2
    curvature = np.concatenate([[problem.spread.weight * problem.intercept], second]) * steepest / 2
    return of_diagonal(np.tile(curvature + np.concatenate([[0.0], problem.ridge]), (problem.outputs, 1)))


def _matrix_work(problem: Problem) -> float:
    """Return the multiply-adds of one matrix of second derivatives; that of two coupled machines is symmetric too."""
    return problem.source.n_rows * (problem.size * problem.source.density) ** 2 / (4 if problem.loss.coupled else 2)


def _has_blocks(problem: Problem) -> bool:
    """Return whether each machine's own matrix, and those of contrasts, can be formed and paid for."""
    side, most = 1 + problem.features, 2 * problem.outputs - 1 if problem.loss.coupled else problem.outputs
    rows = max(BLOCK_ROWS_A_COLUMN * side, LEAST_SAMPLE_ROWS)
    return most * side**2 <= MOST_BLOCK_NUMBERS and not problem.source.sparse and rows < problem.source.n_rows


def _has_two_levels(problem: Problem) -> bool:
    """Return whether rows are wide and sparse, of one output, F bends everywhere, and strong convexity proves a gap.

    A CSR matrix in memory is left to L-BFGS in the metric of the diagonal, which takes half of the time on texts.
    """
    source, loss = problem.source, problem.loss
    wide = source.sparse and problem.features >= LEAST_SPARSE_COLUMNS and not isinstance(source, SparseSource)
    return wide and problem.outputs == 1 and loss.convex and math.isfinite(loss.concordance) and problem.penalised


def _on_sample(sample: Problem, theta: Array, wanted: float, max_steps: int) -> DescentResult:
    """Return the minimum on a sample, with a little more ridge for what its rows do not determine."""
    typical = total_weight(sample.source) / sample.source.n_rows
    return newton(replace(sample, ridge=sample.ridge + typical), theta, wanted, max_steps)


def _in_metric(
    problem: Problem, theta: Array, start: Evaluation, sample: Curvature, share: float, wanted: float
) -> DescentResult:
    """Step down by L-BFGS until the estimate of the gap is near enough, then prove it and take one Newton step.

    `start` is F at theta. The metric is the inverse curvature of a sample with this share of the weight. The matrix of
    all rows is formed in the same pass as the gradient, once the next step will be near enough; where the metric is of
    all rows, only then.
    """
    # the proof needs an iterate that is near in the metric: about where c R decrement is 1/2
    provable = problem.loss.concordance * row_length_bound(problem, sample) * math.sqrt(share)
    near_enough = min(wanted, 0.25 / provable**2) if provable > 0 else wanted
    second = False

    def done(_: Evaluation, estimate: float) -> bool:
        nonlocal second
        second = share < 1 and estimate <= SAMPLE_STEP_GAIN * near_enough
        return estimate <= near_enough

    near = lbfgs(lambda w: problem.evaluate(w, second), theta, lambda g: sample.solve(g) * share, done, 12, start)
    here = near.evaluation if near.evaluation.hessian is not None else problem.evaluate(near.theta, second=True)
    assert here.hessian is not None
    curvature = factor_hessian(here.hessian, problem.ridges)
    decrement = curvature.length(here.gradient)
    bound = curvature_gap(problem, curvature, here)
    step = -curvature.solve(here.gradient)
    new = problem.evaluate(near.theta + step)
    history = near.history
    if new.value > here.value + 1e-13 * abs(here.value):
        return DescentResult(near.theta, here, curvature, history, bound, is_met(problem, bound, decrement, wanted))
    # the matrix there is at least exp(-c R |step|) of the one here, and so are lengths in its metric
    far = problem.loss.concordance * row_length_bound(problem, curvature) * decrement
    if far < 200:
        bound = min(bound, curvature_gap(problem, curvature, new, math.exp(far / 2)))
    met = is_met(problem, bound, curvature.length(new.gradient), wanted)
    return DescentResult(near.theta + step, new, curvature, [*history, new.value], bound, met, since=decrement)


def _refreshed(
    problem: Problem,
    theta: Array,
    metric: Callable[[Array], Metric],
    steps: int,
    little: float,
    done: Done,
    give_up: GiveUp,
) -> DescentResult:
    """Step down by L-BFGS in a metric that is updated twice after FIRST_STEPS, then after every `steps` steps.

    It ends where one metric has gained no more than `little` of F.
    """
    here = DescentResult(theta, problem.evaluate(theta))
    while len(here.history) < MOST_STEPS:
        most = FIRST_STEPS if len(here.history) < 2 * FIRST_STEPS else steps
        new = lbfgs(problem.evaluate, here.theta, metric(here.theta), done, most, here.evaluation, give_up)
        gained = here.evaluation.value - new.evaluation.value
        stuck = not new.history or gained <= little * abs(new.evaluation.value)
        new = new.after(here)
        if new.converged or new.given_up or stuck:
            return new
        here = new
    return here


def _with_duality_gap(problem: Problem, found: DescentResult) -> DescentResult:
    gap = Planes(problem, once=True).gap(found.theta, found.evaluation, np.zeros(problem.features))
    return found._replace(gap=gap)


def _estimated_gap(problem: Problem, evaluation: Evaluation, estimate: float = math.inf) -> float:
    """Return an estimate of the gap for stopping: by strong convexity, but for intercepts; else the given estimate."""
    if not problem.penalised or not problem.loss.convex:
        return estimate
    g = evaluation.gradient
    slopes = float((g[:, 1:] ** 2 / problem.ridge).sum()) / 2
    intercepts = float((g[:, 0] ** 2).sum()) / max(problem.spread.weight * 1e-2, 1e-300)
    return slopes + intercepts
