"""The fit of a linear machine, or of K coupled ones, under any likelihood or loss.

`minimise` chooses the start and the solver, checks whether there is a minimum at all, and certifies the result.

Newton and L-BFGS stop where the gradient is small in their metric. Where the curvature of a loss vanishes (Huber's
beyond its threshold), that metric does not show slopes. So a fit starts from least squares if that costs less than
constants, and a result without a proof is checked in the metric of the columns alone. If it is no minimum there,
gradient steps continue from it.

The loss of a likelihood may decrease without bound along a direction (counts that are all zero on one side of a plane).
Each whole Newton step then gains 1/e as much as the one before and moves outputs by 1. Such a fit returns the weights
under a tiny penalty. Where the targets are classes, `SeparationCheck` decides whether a plane separates them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.errors import AdalineError
from adaline.fits.constants import Constants
from adaline.fits.separation import PATIENCE, Separation, SeparationCheck, with_tiny_penalty
from adaline.links import name_of
from adaline.losses import Gamma, Loss, Offset, Poisson, Scoring, Squared, Working
from adaline.penalties import RidgePenalty, no_penalty
from adaline.results import Certificate, Solution, Status
from adaline.solvers.least_squares.choose import GRAM_BYTES, is_wide, read_moments, solve_least_squares, solve_wide
from adaline.solvers.least_squares.dependence import Dependence, independent
from adaline.solvers.least_squares.descent import read_rate
from adaline.solvers.least_squares.fit import certificate, digits
from adaline.solvers.least_squares.wide import solve_dual
from adaline.solvers.smooth.choose import (
    MOST_MATRIX_SIDE,
    diagonal_metric,
    minimise_near,
    minimise_smooth,
    needs_metric,
)
from adaline.solvers.smooth.firth import firth
from adaline.solvers.smooth.gradient import Stop, gradient_descent
from adaline.solvers.smooth.near_columns import TurnedProblem, turned
from adaline.solvers.smooth.newton import (
    FLAT_CHANGE,
    ZERO_EIGENVALUE,
    Curvature,
    DescentResult,
    curvature_gap,
    factor_hessian,
    newton,
)
from adaline.solvers.smooth.problem import Problem
from adaline.solvers.smooth.proximal_newton import proximal
from adaline.solvers.smooth.refine import ErrorBounds, RefinedWeights, bounded, refine_minimum
from adaline.sources.runners import each_block
from adaline.sums import Point, View
from adaline.sums.objective import margins

DEPENDENT = (
    "some columns are linear combinations of others: coef_ is the solution of minimum norm, in which they share their "
    "effect; drop columns, or give a penalty"
)
LINK_OUT_OF_RANGE = (
    "means go to the end of the range that link={!r} allows, and the likelihood may have no maximum before it: use a "
    "link that takes every output, such as {}, or start elsewhere by init"
)
# rows x coefficients up to which weights are always refined in double-double; doubling it costs the added fits 10 ms
ALWAYS_REFINED_SIZE = 2**14
# rows x coefficients beyond which weights are never refined; doubling it slows fits with few proven digits by seconds
LARGEST_REFINED_SIZE = 2**21
# digits proven in float64 from which larger fits are not refined; doubling it refines all up to LARGEST_REFINED_SIZE
ENOUGH_DIGITS = 7.0
# mean curvature per row at the best constants below which they grow without bound (all counts are zero); 10x larger
# treats event rates of 1e-8 as zero
VANISHED_CURVATURE = 1e-9
# restarts with gradient steps where the solver stopped on a slope; doubling it may double the passes of such fits
MOST_RESTARTS = 5
RESTART_STEPS = 50  # gradient steps per restart; doubling it doubles the passes of a restart
# gain promised by slow Newton steps, relative to the objective, below which they may mean that there is no minimum;
# 10x larger mistakes outliers, which also slow Newton down, for that
SLOW_GAIN = 1e-6
# difference of two objectives, relative to their scale, up to which they count as equal; 10x larger returns the
# shortest weights although others fit slightly better
EQUAL_COST = 1e-10
# curvature along a direction at the best constants, relative to the columns' own, below which it counts as zero; 10x
# larger reports some likelihoods without a maximum as ill-conditioned
FLAT_DIRECTION = 1e-9
# condition number of the Hessian beyond which nearly dependent columns are replaced by their residuals; 10x larger
# saves reads of some fits and costs them digits
NEAR_DEPENDENCE = 1e4
# output of a single column beyond which its coefficient may be growing without bound; doubling it notices that later
# in wide data
FAR_OUTPUT = 15.0


@dataclass(frozen=True)
class Near:
    """A fit of nearly the same rows, to start from.

    Parameters
    ----------
    theta : (K, 1 + D) weights in raw units.
    root : (K, 1 + D, M) of the inverse of its second derivatives, as `raw_root` gives it, or None.
    weight : sum of the weights of its rows.
    condition : of its second derivatives.
    """

    theta: Array
    root: Array | None = None
    weight: float = 1.0
    condition: float = 1.0

    def metric(self, problem: Problem) -> Curvature | None:
        """Return its curvature in the view of a problem, for the weight of the problem's rows."""
        if self.root is None:
            return None
        k, side, m = self.root.shape
        columns = problem.from_raw(self.root.transpose(0, 2, 1).reshape(k * m, side)).reshape(k, m, side)
        columns *= math.sqrt(self.weight / problem.weight)
        root = columns.transpose(0, 2, 1).reshape(k * side, m)
        return Curvature(root, self.condition**-2, 1.0, np.zeros((k * side, 0)))


@dataclass(frozen=True)
class MachineOptions:
    """How to fit a machine.

    Parameters
    ----------
    penalty, l1 : of the coefficients; l1 acts in the units of the ridge penalty.
    intercept : whether w0 is free.
    tol : bounds the gap as a share of the loss of the best constants above the least loss.
    solver : "auto", "newton", "lbfgs", "newton-cg" or "gradient".
    init : (K, 1 + D) weights to start from, in raw units, or None.
    firth : whether the likelihood is Firth's.
    rate, epochs, stop_error : of solver="gradient".
    near : a fit of nearly the same rows; convex losses with solver="auto" start from it.
    separated : a plane that separates a superset of the rows, proven or suspected; `init` holds its weights.
    """

    penalty: RidgePenalty
    intercept: bool
    tol: float
    solver: str = "auto"
    init: Array | None = None
    l1: float = 0.0
    firth: bool = False
    rate: Any = "auto"
    epochs: int = 0
    stop_error: float | None = None
    near: Near | None = None
    separated: Separation | None = None

    @property
    def fold(self) -> bool:
        """Whether this is the fit of a fold, whose weights are used for predictions alone."""
        return self.near is not None or self.separated is not None

    @property
    def free(self) -> bool:
        """Whether the coefficients are not penalised."""
        return not self.penalty.any() and not self.l1

    def corners(self, view: View) -> Array:
        """Return the l1 penalties of the coefficients in a view, (D,)."""
        return np.asarray(self.l1 * self.penalty.unit * view.scale)


@dataclass(frozen=True)
class FittedMachine:
    """Weights (K, 1 + D) in raw units with their certificate, and the objective after each step.

    `separation` is the plane that separates the classes, if there is one. Unless the machine was fitted by stochastic
    steps, `problem` is the last objective, `found` the point where its solver stopped, in the view, and `dependence`
    says which columns depend on each other.
    """

    solution: Solution
    history: list[float]
    separation: Separation | None = None
    problem: Problem | None = None
    found: DescentResult | None = None
    dependence: Dependence | None = None


def minimise(problem: Problem, constants: Constants, options: MachineOptions, *, refine: bool = True) -> FittedMachine:
    """Return the machine that minimises the objective; without `refine` its weights only lead to the next fit."""
    return _Minimising(problem, constants, options, refine).run()


def _scoring(loss: Loss) -> Loss:
    """Return a likelihood with its expected curvature, any other loss unchanged."""
    return loss if loss.linked is None else Scoring(loss.linked)


class _Minimising:
    """One run of `minimise`, which may find that there is no minimum."""

    def __init__(self, problem: Problem, constants: Constants, options: MachineOptions, refine: bool) -> None:
        self.problem, self.constants, self.options, self.refine = problem, constants, options, refine
        self.loss = problem.loss
        self.wanted = constants.gap(options.tol)
        self.unbounded = self.nearly = False
        loss, known = (self.loss.loss, self.loss.columns) if isinstance(self.loss, Offset) else (self.loss, 0)
        labelled = loss.coupled or (
            loss.of_classes and constants.lowest == 0 and problem.source.shape.targets == 1 + known
        )
        separable = labelled and options.free and not options.firth
        classes = max(problem.outputs, 2)
        self.check = SeparationCheck(problem, classes, options.fold) if separable else None
        if self.check is not None and options.separated is not None:
            self.check.take(options.separated)

    @property
    def separation(self) -> Separation | None:
        """The plane that separates the classes, if one was found."""
        return None if self.check is None else self.check.found

    def run(self) -> FittedMachine:
        """Start, solve, check whether that is a minimum, certify."""
        options, problem = self.options, self.problem
        status = Status.SOLVED
        if options.solver == "gradient":
            problem, found, status, name = self._descend()
            if self.check is not None and status is Status.SOLVED and not self.check.give_up(found):
                self._decide_separation(found)
        elif options.firth:
            found, name = firth(problem, np.zeros_like(self.constants.theta), self.wanted), "Firth's scoring"
        elif options.l1:
            steps = problem if self.loss.convex else replace(problem, loss=_scoring(self.loss))
            found = proximal(steps, options.corners(problem.view), self._start(), self.wanted)
            name = "proximal Newton"
        else:
            near = self._near()
            found = self._solve(self._start()) if near is None else near
            name = found.solver
            found = self._without_near_dependence(found)
            if self.check is not None and near is None and math.isinf(found.gap):
                self._decide_separation(found)
            found = self._judge_flat_directions(found)
            if self.unbounded or self.separation is not None:
                theta, tiny = self._in_original(found).theta, with_tiny_penalty(problem)
                theta = theta if options.separated is not None else 0.5 * theta
                found = minimise_smooth(tiny, theta, self.wanted, options.solver).after(found)
                near = self._minimum_near(problem, problem.from_raw(tiny.to_raw(found.theta)))
                problem, found = (tiny, found) if near is None else (problem, near.after(found))
                name = found.solver
            else:
                problem = self.problem
        if status is Status.SOLVED and not found.converged:
            status = Status.NOT_CONVERGED
        theta, raw, depends = self._shortest_and_raw(problem, found)
        refined = None
        if status in (Status.SOLVED, Status.NOT_CONVERGED):
            refined = self._refined(problem, found, theta, raw, depends)
        if refined is not None:  # a minimum is proven next to where steps ended, were it short of their goal
            raw, status = refined.raw, Status.SOLVED
        rank, decided = self._rank(found, depends)
        if found.curvature is None and rank < depends.rank and self.separation is None and not self.unbounded:
            raw = shortest_weights(problem, found.theta, raw)
        if status is Status.SOLVED and not (self.unbounded or self.separation is not None) and rank < self._varying:
            status = Status.RANK_DEFICIENT if decided else Status.RANK_UNCERTAIN
        proof = self._certificate(problem, found, raw, rank, status, name, refined)
        return FittedMachine(Solution(raw, proof), found.history, self.separation, problem, found, depends)

    def _minimum_near(self, problem: Problem, theta: Array) -> DescentResult | None:
        """Return the minimum of a loss that seemed to have none, if the curvature at theta proves that it exists.

        Offsets that vary widely slow steps down as much as a loss without a minimum does.
        """
        proven = self.separation is not None and self.separation.kind != "suspected"
        if proven or not math.isfinite(self.loss.concordance) or problem.size > MOST_MATRIX_SIDE:
            return None
        here = problem.evaluate(theta, second=True)
        if here.hessian is None:
            return None
        curvature = factor_hessian(here.hessian)
        if curvature.null.any() or not math.isfinite(curvature_gap(problem, curvature, here)):
            return None
        self.unbounded, self.problem = False, problem
        if self.check is not None:
            self.check.found = None
        return self._solve(theta)

    def _without_near_dependence(self, found: DescentResult) -> DescentResult:
        """Return the minimum with nearly dependent columns replaced by their residuals, if there are any."""
        curvature, problem = found.curvature, self.problem
        if not self.options.free or self.unbounded or self.separation is not None or curvature is None:
            return found
        flat = self._flat_and_varying(curvature)
        if curvature.condition <= NEAR_DEPENDENCE and not flat.any():
            return found
        replaced = turned(problem)
        if replaced is None:
            return found
        self.problem = replaced
        again = self._solve(replaced.from_raw(problem.to_raw(found.theta)))
        if not again.converged or self.unbounded or self.separation is not None:
            self.problem = problem
            return found
        self.nearly = bool(flat.any())
        return again.after(found)

    def _in_original(self, found: DescentResult) -> DescentResult:
        """Return a point with its weights in the view of the raw columns."""
        if isinstance(self.problem, TurnedProblem):
            return found._replace(theta=self.problem.in_original(found.theta))
        return found

    def _flat_and_varying(self, curvature: Curvature) -> NDArray[np.bool_]:
        """Return which directions without curvature involve columns that vary."""
        varying = np.concatenate([[self.problem.intercept], ~self.problem.constant])
        return np.asarray((curvature.null[np.tile(varying, self.problem.outputs)] != 0).any(axis=0))

    def _decide_separation(self, found: DescentResult) -> None:
        """Decide whether a plane separates the classes; few rows in general position are separable (S4)."""
        assert self.check is not None
        likely = self.problem.features >= self.problem.source.n_rows or self._decreases_further(found)
        self.check.settle(self._in_original(found).theta, likely=likely)

    def _judge_flat_directions(self, found: DescentResult) -> DescentResult:
        """Return the point found, with curvature along directions where it only seems to be zero.

        Curvature is zero, or seems so, for three reasons: columns depend on each other; they nearly do, and least
        squares finds full rank; or a likelihood decreases without bound along a direction. In the last case shorter
        weights cost more, longer ones do not, and there is no minimum.
        """
        problem, curvature, scale = self.problem, found.curvature, self.constants.scale
        if not self.options.free or self.unbounded or self.separation is not None:
            return found
        if curvature is None:
            self.unbounded = self.check is None and self._decreases_further(found)
            return found
        theta, depends = _shortest(problem, found)
        live = self._flat_and_varying(curvature)
        if theta is found.theta or not (live.any() or depends.constant.sum() > problem.constant.sum()):
            return found
        here = problem.evaluate(found.theta).value
        if problem.evaluate(theta).value > here + EQUAL_COST * scale and self._may_be_unbounded:
            longer = found.theta - theta
            self.unbounded = (
                self.check is None
                and problem.evaluate(found.theta + longer).value <= here
                and self._is_curved_at_constants(longer.ravel())
            )
        if self.unbounded or not len(depends.left_out):
            return found
        if self.design is None or self.design.rank < self._varying:
            return found
        null = curvature.null[:, live]
        self.nearly = True
        least = ZERO_EIGENVALUE * curvature.largest * problem.size  # eigenvalues along these directions are below
        root = np.concatenate([curvature.root, null / math.sqrt(least)], axis=1)
        return found._replace(curvature=Curvature(root, least, curvature.largest, curvature.null[:, ~live]))

    def _is_curved_at_constants(self, way: Array) -> bool:
        """Whether there is curvature along a direction (M,) at the constants, so that its columns are independent."""
        hessian = self.problem.evaluate(self.constants.theta, second=True).hessian
        return hessian is not None and bool(
            way @ hessian @ way > FLAT_DIRECTION * (way**2 @ np.abs(hessian.diagonal()))
        )

    @property
    def _varying(self) -> int:
        """Number of columns that are not constant."""
        return self.problem.features - int(self.problem.constant.sum())

    @cached_property
    def design(self) -> Certificate | None:
        """The certificate of least squares on the same rows, which decides their rank; None if that fails."""
        problem = self.problem.original if isinstance(self.problem, TurnedProblem) else self.problem
        nothing, source = no_penalty(problem.features), problem.source
        try:
            if is_wide(source):
                return solve_wide(source, problem.intercept, nothing).solution.certificate
            moments = read_moments(source, problem.intercept)
            return solve_least_squares(source, moments, problem.intercept, nothing).solution.certificate
        except AdalineError:
            return None

    def _rank(self, found: DescentResult, depends: Dependence) -> tuple[int, bool]:
        """Return the rank of the columns and whether it is decided; least squares decides it where it may be lower."""
        problem = self.problem
        wide = found.curvature is None and problem.features >= problem.source.n_rows
        unbounded = self.unbounded or self.separation is not None
        if not self.options.free or not (wide or unbounded or len(depends.left_out)) or self.design is None:
            return depends.rank, True
        return self.design.rank, self.design.status is not Status.RANK_UNCERTAIN

    @property
    def _may_be_unbounded(self) -> bool:
        """Whether the loss may decrease without bound along a direction."""
        return self.loss.linked is not None or math.isfinite(self.loss.concordance)

    def _decreases_further(self, found: DescentResult) -> bool:
        """Whether coefficients of columns with large outputs can grow at no cost; takes a read if there are any."""
        problem = self.problem
        if (
            found.curvature is not None
            or not math.isinf(found.gap)
            or not self.options.free
            or not self._may_be_unbounded
        ):
            return False
        raw, largest = problem.to_raw(found.theta), problem.spread.largest
        far = np.abs(raw[:, 1:]) * largest > FAR_OUTPUT
        if not far.any():
            return False
        raw[:, 1:] += np.where(far, np.sign(raw[:, 1:]) / np.where(largest > 0, largest, 1.0), 0.0)
        allowed = FLAT_CHANGE * self.constants.scale
        return bool(problem.evaluate(problem.from_raw(raw)).value <= found.evaluation.value + allowed)

    def _near(self) -> DescentResult | None:
        """Return the minimum, started from a fit of nearly the same rows; None without one, or if it does not help."""
        near, problem = self.options.near, self.problem
        if near is None or not self.loss.convex or self.options.solver != "auto" or not needs_metric(problem):
            return None
        found = minimise_near(problem, problem.from_raw(near.theta), self.wanted, near.metric(problem))
        return found if found is not None and self._is_flat(found) else None

    def _start(self) -> Array:
        """Return the start: weights given (if the loss is convex, only if they cost less than constants), else
        constants or least squares.
        """
        problem, theta, other = self.problem, self.constants.theta, self.options.near
        init = other.theta if other is not None and self.loss.convex else self.options.init
        if init is not None:
            given = problem.from_raw(init)
            return (
                given
                if not self.loss.convex or problem.evaluate(given).value < problem.evaluate(theta).value
                else theta
            )
        if math.isfinite(self.loss.concordance) or self.loss.coupled or problem.size > MOST_MATRIX_SIDE:
            return theta
        likelihood = self.loss.linked
        squared = Offset(Squared()) if isinstance(self.loss, Offset) else Squared()
        near = squared if likelihood is None else Working(likelihood, self.constants.mean)
        at = replace(problem, loss=near).evaluate(theta, second=True)
        if at.hessian is None:
            return theta
        squares = theta - factor_hessian(at.hessian).solve(at.gradient)
        return squares if problem.evaluate(squares).value < problem.evaluate(theta).value else theta

    def _solve(self, start: Array) -> DescentResult:
        problem, solver = self.problem, self.options.solver
        if self.loss.linked is not None and not self.loss.convex and problem.size <= MOST_MATRIX_SIDE:
            start = newton(replace(problem, loss=_scoring(self.loss)), start, self.wanted).theta  # near a minimum
        first = found = minimise_smooth(problem, start, self.wanted, solver, self._give_up)
        for _ in range(MOST_RESTARTS):
            if self.unbounded or self.separation is not None or self._is_flat(found):
                break
            stop = Stop(self.wanted, None, RESTART_STEPS, self.constants.scale)
            near, _ = gradient_descent(problem.evaluate, found.theta, diagonal_metric(problem), None, stop)
            again = minimise_smooth(problem, near.theta, self.wanted, solver, self._give_up)
            found = again.after(near.after(found))
        return found._replace(converged=found.converged and self._is_flat(found), solver=first.solver)

    def _is_flat(self, found: DescentResult) -> bool:
        """Whether the gap is proven up to nearly dependent columns, or the gradient is small in all directions."""
        g, curvature = found.evaluation.gradient, found.curvature
        if math.isfinite(self.loss.concordance):
            if found.gap <= self.wanted:
                return True
            noise = ZERO_EIGENVALUE * g.size * abs(found.evaluation.value)
            if curvature is not None and 0 < curvature.unseen(g) <= noise:
                return curvature.length(g) ** 2 <= self.wanted
        twice = float((g * diagonal_metric(self.problem)(g)).sum())
        return twice <= 10 * self.problem.size * (self.wanted + FLAT_CHANGE * abs(found.evaluation.value))

    def _give_up(self, here: DescentResult) -> bool:
        """Whether the steps show that there is no minimum."""
        if self.check is not None:
            return self.check.give_up(self._in_original(here))
        if here.slow < PATIENCE or not self.options.free or here.curvature is None:
            return False
        if here.curvature.length(here.evaluation.gradient) ** 2 > SLOW_GAIN * self.constants.scale:
            return False
        if not self._may_be_unbounded:
            return False
        view, spread = self.problem.view, self.problem.spread
        furthest = np.concatenate([[1.0], np.abs(view.offset) + spread.largest * view.scale])
        step = np.abs(here.curvature.solve(here.evaluation.gradient)) @ furthest
        self.unbounded = bool(step.max() > (0.5 if math.isfinite(self.loss.concordance) else 0.1))
        return self.unbounded

    def _descend(self) -> tuple[Problem, DescentResult, Status, str]:
        """Take gradient steps: from zero in raw columns if the rate is a number, in the view otherwise."""
        options, problem = self.options, self.problem
        stop = Stop(self.wanted, options.stop_error, options.epochs, self.constants.scale)
        if isinstance(options.rate, str):
            start = self.constants.theta if options.init is None else problem.from_raw(options.init)
            found, status = gradient_descent(problem.evaluate, start, diagonal_metric(problem), None, stop)
            return problem, found, status, "batch gradient descent on standardised columns"
        d = problem.features
        raw = replace(problem, view=View(np.ones(d), np.zeros(d)), ridge=options.penalty.scaled(np.zeros(d)))
        start = np.zeros((problem.outputs, 1 + d)) if options.init is None else options.init
        rate = read_rate(options.rate, 1 + d)
        found, status = gradient_descent(raw.evaluate, start, diagonal_metric(raw), rate, stop)
        return raw, found, status, "batch gradient descent"

    def _refined(
        self, problem: Problem, found: DescentResult, theta: Array, raw: Array, depends: Dependence
    ) -> RefinedWeights | None:
        """Return the weights refined on the raw rows, with their error bounds; None if they are not refined.

        Larger fits are not refined if ENOUGH_DIGITS are proven already, nor if they are fits of folds.
        """
        options = self.options
        apart = options.firth or options.l1 or options.solver == "gradient" or self.loss.corners or not self.refine
        numbers = problem.size * problem.source.n_rows
        if apart or len(depends.left_out) or numbers > LARGEST_REFINED_SIZE:
            return None
        matters = numbers > ALWAYS_REFINED_SIZE or problem.source.costly
        if matters and (options.fold or self._claims(problem, found, raw, None)[0] >= ENOUGH_DIGITS):
            return None
        original = problem.original if isinstance(problem, TurnedProblem) else problem
        start = problem.to_scaled(theta)
        return refine_minimum(original, start.hi, start.lo, ~original.constant)

    def _shortest_and_raw(self, problem: Problem, found: DescentResult) -> tuple[Array, Array, Dependence]:
        """Return the shortest weights with the same predictions, in the view and in raw units, and the dependence."""
        theta, depends = _shortest(problem, found)
        allowed = EQUAL_COST if math.isfinite(self.loss.concordance) else FLAT_CHANGE
        if theta is not found.theta and (
            problem.evaluate(theta).value > problem.evaluate(found.theta).value + allowed * self.constants.scale
        ):
            theta, depends = found.theta, independent(problem.constant)  # curvature vanishes, columns do not depend
        if not self.loss.coupled or self.options.solver == "gradient":
            return theta, problem.to_raw(theta), depends
        shared = theta.mean(axis=0)  # what all machines have in common decides nothing
        shared[1:] *= self.options.free
        theta = theta - shared
        raw = problem.to_raw(theta)
        raw[:, 0] -= raw[:, 0].mean()
        return theta, raw, depends

    def _certificate(
        self,
        problem: Problem,
        found: DescentResult,
        raw: Array,
        rank: int,
        status: Status,
        solver: str,
        refined: RefinedWeights | None,
    ) -> Certificate:
        condition = math.nan if found.curvature is None else found.curvature.condition
        if isinstance(problem, TurnedProblem):
            condition *= problem.condition
        if self.unbounded or self._grows_without_columns(problem, found):
            status = Status.NO_MINIMUM
        elif status is Status.SOLVED:
            if self.separation is not None:
                status = self.separation.status
            elif condition > 1e8 or self.nearly:
                status = Status.ILL_CONDITIONED
        claimed, gap = math.nan, math.inf
        if status not in (Status.NO_MINIMUM, Status.NOT_CONVERGED, Status.RANK_DEFICIENT, Status.RANK_UNCERTAIN):
            claimed, gap = self._claims(problem, found, raw, refined)
        return certificate(
            status=status,
            objective=found.evaluation.value if refined is None else refined.value,
            gradient=problem.steepness(found.evaluation.gradient) if refined is None else refined.steepness,
            gap=gap,
            digits=claimed,
            condition=condition,
            rank=rank,
            solver=solver,
            advice=DEPENDENT if status is Status.RANK_DEFICIENT else self._advice(status),
        )

    def _claims(
        self, problem: Problem, found: DescentResult, raw: Array, refined: RefinedWeights | None
    ) -> tuple[float, float]:
        """Return the proven number of correct digits of the coefficients in raw units, and the proven gap."""
        options = self.options
        if options.l1 or options.firth:
            return math.nan, found.gap if self.loss.convex else math.inf
        if refined is not None:
            proven = ErrorBounds(refined.error, refined.gap)
        elif isinstance(problem, TurnedProblem) or not found.converged:
            return math.nan, math.inf
        elif found.curvature is None:  # the gap is that of duality, where there is a penalty
            return math.nan, found.gap if self.loss.convex else math.inf
        else:
            proven = bounded(problem, found, self._slope_mass(problem, found), _furthest_offset(problem))
        if not np.isfinite(proven.error).all():
            return math.nan, proven.gap
        length = np.concatenate([[1.0], np.maximum(problem.lengths, np.finfo(float).tiny)])
        return digits(proven.error, raw, length), proven.gap

    def _slope_mass(self, problem: Problem, found: DescentResult) -> Array | None:
        """Return bounds (1 + D,) on sum weight |slope| |v_j|; None for losses without one."""
        loss = self.loss.loss if isinstance(self.loss, Offset) else self.loss
        view, spread = problem.view, problem.spread
        squares = (view.scale * spread.deviation) ** 2 + (view.scale * spread.mean + view.offset) ** 2
        root = np.sqrt(spread.weight * np.concatenate([[1.0], squares]))  # of sum weight v_j^2
        if math.isfinite(loss.steepest) and loss.convex:  # slope^2 is at most 2 steepest (value - lowest)
            above = max(found.evaluation.value - self.constants.lowest, 0.0)
            return np.asarray(math.sqrt(2 * loss.steepest * above) * root)
        if isinstance(loss, Gamma):  # |slope| is at most 1 + curvature
            return np.asarray(math.sqrt(spread.weight) * root)
        if isinstance(loss, Poisson):  # |slope| is at most t + curvature
            largest = np.concatenate([[1.0], np.abs(view.offset) + spread.largest * view.scale])
            return np.asarray(spread.weight * self.constants.mean[0] * largest)
        return None

    def _advice(self, status: Status) -> str | None:
        """Return advice on a fit that did not converge under a link with a limited range of outputs."""
        likelihood = self.loss.linked
        if status is not Status.NOT_CONVERGED or likelihood is None:
            return None
        everywhere = likelihood.family.inside(likelihood.link, np.array([-1e3, 1e3])).all()
        others = "logit, probit or cloglog" if likelihood.family.name == "binomial" else "log"
        return None if everywhere else LINK_OUT_OF_RANGE.format(name_of(likelihood.link), others)

    def _grows_without_columns(self, problem: Problem, found: DescentResult) -> bool:
        """Whether even constants have no minimum: all counts are zero, or all shares are one."""
        h = found.evaluation.hessian
        if self.constants.inside or h is None or not problem.intercept or problem.outputs > 1:
            return False
        return 0 < self.loss.concordance < math.inf and bool(h[0, 0] < VANISHED_CURVATURE * problem.spread.weight)


def shortest_weights(problem: Problem, theta: Array, raw: Array) -> Array:
    """Return the weights of least norm in raw units with the outputs of theta (K, 1 + D), by least squares.

    `raw`, theta in raw units, is returned unchanged where there are too many rows for the dual system.
    """
    source = problem.source
    if source.streamed or 8 * source.n_rows**2 > GRAM_BYTES:
        return raw
    point = Point(problem.loss, theta, problem.view)
    outputs = np.concatenate(each_block(source, lambda block: margins(block, point)))
    return solve_dual(source.with_targets(outputs), problem.intercept, no_penalty(problem.features)).solution.theta


def _furthest_offset(problem: Problem) -> float:
    """Return the largest offset of a row; zero without offsets, infinite for streams, which are not read again."""
    loss, source = problem.loss, problem.source
    if not isinstance(loss, Offset):
        return 0.0
    if source.streamed:
        return math.inf
    return max(each_block(source, lambda block: float(np.abs(host(block.t)[:, -loss.columns :]).max(initial=0.0))))


def _shortest(problem: Problem, found: DescentResult) -> tuple[Array, Dependence]:
    """Return the weights of least norm in raw units with the same predictions, and the dependence of the columns."""
    curvature: Curvature | None = found.curvature
    if curvature is None or problem.penalised or not curvature.null.shape[1]:
        return found.theta, independent(problem.constant)
    k, side = problem.outputs, 1 + problem.features
    null = curvature.null
    raw = np.stack([problem.to_raw(column.reshape(k, side))[:, 1:].ravel() for column in null.T], axis=1)
    share = np.linalg.lstsq(raw, problem.to_raw(found.theta)[:, 1:].ravel(), rcond=None)[0]
    theta = found.theta - (null @ share).reshape(k, side)
    return theta, problem.dependence(null)
