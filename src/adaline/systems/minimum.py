"""Fitting a linear machine, or K coupled ones, under any loss: start, solver, certificate.

Newton and L-BFGS stop where the gradient in their metric is small. A loss whose curvature can vanish (Huber's beyond
its threshold) hides slopes from Newton there: it starts from least squares where that costs less than constants; what
it stops at is looked at in the metric of the columns alone, and gradient steps go on from it where it is no minimum.

Losses of likelihoods may fall for ever along a direction (counts that are all zero on one side of a plane). Whole
Newton steps then keep gaining at the pace 1/e and move outputs by 1: the weights under a tiny penalty are returned.
Where the targets are classes, `Doubt` asks whether a plane separates them instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData
from adaline.losses import Logistic, Loss, Squared
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Status
from adaline.solvers.curvature import factor
from adaline.solvers.dependence import Dependence, independent
from adaline.solvers.descent import read_rate
from adaline.solvers.fit import certificate
from adaline.solvers.gradient import Stop, descend
from adaline.solvers.newton import Descended
from adaline.solvers.problem import Problem, pose
from adaline.solvers.searching import FLAT
from adaline.solvers.smooth import MATRIX, diagonal, solve
from adaline.sources import Source
from adaline.sums import Spread, View
from adaline.systems.machines import known_digits, shortest
from adaline.systems.separation import PATIENCE, Doubt, Separation, held

Array = NDArray[np.float64]

NOTHING = 1e-26  # share of the loss of no machine at all that is rounding
AT_AN_END = 1e-9  # curvature of a row, on average, below which constants have gone as far as they can
ROUNDS, STEPS = 5, 50  # of Newton and gradient steps in turn
SEPARATED = (
    "a plane has the rows of the classes on its sides, so that weights grow without end and the likelihood has no "
    "maximum: {weights} are returned; give a number as penalty, or use LogisticRegression, whose separation_ is the "
    "plane"
)


@dataclass(frozen=True)
class Order:
    """How a minimum is to be found."""

    solver: str
    tol: float
    intercept: bool
    penalty: RidgePenalty
    init: Array | None
    rate: Any
    epochs: int
    stop_error: float | None

    def of_target(self, k: int) -> Order:
        """Return the order for one of K machines."""
        return self if self.init is None else replace(self, init=self.init[k : k + 1])


@dataclass(frozen=True)
class Minimum:
    """Weights (K, 1 + D) in raw units, their certificate, the objective after each step, and how columns depend."""

    theta: Array
    certificate: Certificate
    history: list[float]
    dependence: Dependence | None = None


class Search:
    """The minimum of one loss over the rows of a source.

    Parameters
    ----------
    constant : (K,) outputs to start from.
    lowest : what the rows cost at least.
    """

    def __init__(
        self, source: Source, loss: Loss, order: Order, spread: Spread, constant: Array, lowest: float
    ) -> None:
        self.order, self.loss, self.lowest = order, loss, lowest
        self.problem = pose(source, loss, len(constant), order.intercept, order.penalty, spread)
        nothing = np.zeros((len(constant), 1 + self.problem.features))
        constants = nothing.copy()
        constants[:, 0] = constant * order.intercept
        zero, null = (self.problem.at(theta).value for theta in (nothing, constants))
        if not math.isfinite(null):
            constants, null = nothing, zero
        if not math.isfinite(null):
            raise InvalidData("the loss is not finite where weights are zero: check its functions and the targets")
        self.constants = constants
        self.scale = max(abs(null - lowest), abs(zero - lowest) if math.isfinite(zero) else 0.0)
        self.wanted = order.tol * abs(null - lowest) + NOTHING * self.scale
        self.unbounded = False
        self.doubt: Doubt | None = None
        labelled = loss.coupled or (isinstance(loss, Logistic) and lowest == 0)
        if labelled and not order.penalty.any():
            self.doubt = Doubt(self.problem, max(len(constant), 2))

    def run(self) -> Minimum:
        """Return the minimum."""
        reads, order, problem = self.problem.source.total_reads(), self.order, self.problem
        if order.solver == "gradient":
            problem, found, status, name = self._descend()
            if self.doubt is not None and status is Status.SOLVED and not self.doubt.give_up(found):
                self.doubt.settle(found.theta, likely=problem.features >= problem.source.n_rows)
        else:
            start = self._first() if order.init is None else self._given(problem.inside(order.init))
            found, name = self._solve(problem, start)
            if self.doubt is not None and math.isinf(found.gap):
                self.doubt.settle(found.theta, likely=problem.features >= problem.source.n_rows)
            if self.unbounded or self._separation is not None:
                problem, before = held(problem), found.history
                found = solve(problem, found.theta * 0.5, self.wanted, order.solver).found
                found.history = before + found.history
            status = Status.SOLVED if found.converged else Status.NOT_CONVERGED
        return self._certified(problem, found, status, name, reads)

    def _given(self, theta: Array) -> Array:
        """Return the start that was given; of a convex loss only if it costs less than constants."""
        if not self.loss.convex:
            return theta
        return theta if self.problem.at(theta).value < self.problem.at(self.constants).value else self.constants

    def _first(self) -> Array:
        """Return weights to start from: constants, or least squares."""
        if math.isfinite(self.loss.concordance) or self.loss.coupled or self.problem.size > MATRIX:
            return self.constants
        near = replace(self.problem, loss=Squared()).at(self.constants, second=True)
        if near.hessian is None:
            return self.constants
        squares = self.constants - factor(near.hessian).solve(near.gradient)
        values = [self.problem.at(theta).value for theta in (self.constants, squares)]
        return squares if values[1] < values[0] else self.constants

    def _solve(self, problem: Problem, start: Array) -> tuple[Descended, str]:
        solved = solve(problem, start, self.wanted, self.order.solver, self._give_up)
        found, name, history = solved.found, solved.solver, solved.found.history
        metric = diagonal(problem)
        for _ in range(ROUNDS):
            if self.unbounded or self._separation is not None or self._is_flat(problem, found):
                break
            near, _ = descend(problem, found.theta, metric, None, Stop(self.wanted, None, STEPS, self.scale))
            found = solve(problem, near.theta, self.wanted, self.order.solver, self._give_up).found
            history = history + near.history + found.history
        found.history = history
        found.converged = found.converged and self._is_flat(problem, found)
        return found, name

    def _is_flat(self, problem: Problem, found: Descended) -> bool:
        """Whether the gradient is small in a metric that cannot be blind to it."""
        g = found.at.gradient
        twice = float((g * diagonal(problem).solve(g)).sum())
        return twice <= 10 * problem.size * (self.wanted + FLAT * abs(found.at.value))

    @property
    def _separation(self) -> Separation | None:
        return None if self.doubt is None else self.doubt.found

    def _give_up(self, here: Descended) -> bool:
        """Whether steps show that there is nothing to converge to."""
        if self.doubt is not None:
            return self.doubt.give_up(here)
        if not math.isfinite(self.loss.concordance) or self.order.penalty.any() or here.slow < PATIENCE:
            return False
        view, spread = self.problem.view, self.problem.spread
        assert here.curvature is not None
        furthest = np.concatenate([[1.0], np.abs(view.offset) + spread.largest * view.scale])
        step = np.abs(here.curvature.solve(here.at.gradient)) @ furthest
        self.unbounded = bool(step.max() > 0.5)
        return self.unbounded

    def _is_at_an_end(self, problem: Problem, found: Descended) -> bool:
        """Whether constants alone fall for ever: no count above zero, or all shares one."""
        h = found.at.hessian
        if h is None or not problem.intercept or problem.outputs > 1 or not 0 < self.loss.concordance < math.inf:
            return False
        return bool(h[0, 0] < AT_AN_END * problem.spread.weight)

    def _descend(self) -> tuple[Problem, Descended, Status, str]:
        """Take the textbook's steps: in raw columns from zero where the rate is a number, in the view otherwise."""
        order, problem = self.order, self.problem
        stop = Stop(self.wanted, order.stop_error, order.epochs, self.scale)
        if isinstance(order.rate, str):
            start = self.constants if order.init is None else problem.inside(order.init)
            found, status = descend(problem, start, diagonal(problem), None, stop)
            return problem, found, status, "batch gradient descent on standardised columns"
        d = problem.features
        raw = replace(
            problem,
            view=View(np.ones(d), np.zeros(d)),
            ridge=order.penalty.scaled(np.zeros(d, dtype=np.int64)),
        )
        start = np.zeros((problem.outputs, 1 + d)) if order.init is None else order.init
        found, status = descend(raw, start, diagonal(raw), read_rate(order.rate, 1 + d), stop)
        return raw, found, status, "batch gradient descent"

    def _certified(self, problem: Problem, found: Descended, status: Status, name: str, reads: int) -> Minimum:
        theta, depends = shortest(problem, found)
        if theta is not found.theta and problem.at(theta).value > found.at.value + FLAT * self.scale:
            theta, depends = (
                found.theta,
                independent(problem.constant),
            )  # curvature that vanishes, not columns that depend
        raw = problem.outside(theta)
        condition = math.nan if found.curvature is None else found.curvature.condition
        if self.unbounded or self._is_at_an_end(problem, found):
            status = Status.NO_MINIMUM
        elif self._separation is not None and status is Status.SOLVED:
            status = self._separation.status
        elif status is Status.SOLVED and len(depends.left_out) and not self.order.penalty.any():
            status = Status.RANK_DEFICIENT
        elif status is Status.SOLVED and condition > 1e8:
            status = Status.ILL_CONDITIONED
        size = math.sqrt(2 * self.scale / problem.spread.weight)
        known = certificate(
            status=status,
            objective=found.at.value,
            gradient=problem.steepness(found.at.gradient),
            gap=found.gap if self.loss.convex else math.inf,
            digits=known_digits(problem, found, raw, size),
            condition=condition,
            rank=depends.rank,
            passes=problem.source.total_reads() - reads,
            solver=name,
        )
        if status in (Status.SEPARATED, Status.QUASI_SEPARATED):
            by_rule = self.order.solver == "gradient"
            weights = "those that the last step reached" if by_rule else "the weights under a tiny penalty"
            known = replace(known, advice=SEPARATED.format(weights=weights))
        return Minimum(raw, known, found.history, depends)
