"""Intervals of components of variance by their profile likelihood.

V(c) is the criterion, least over all parameters for which a standard deviation or a correlation is c. The interval
holds every c with

    2 (V(c) - V) <= q^2,   V the least of all, q the quantile of the normal distribution.

It is of the criterion that was fitted: the restricted likelihood under "reml", so that it contains the estimate; the
likelihood under "ml", as lme4's `confint` has it. Where V(0) is that near the least, the interval begins at 0, and any
correlation with these effects is as near; other correlations may end at -1 or 1. With m = N - M, or N under "ml", and
the log variance psi of the errors

    V(theta, psi) = V(theta) + 1/2 [m psi + D e^-psi - m (log(D / m) + 1)].

A standard deviation s is that of the coefficient which comes first in its group's order: tau_1 = psi - 2 log s. A
correlation tanh(t) is of the first two: L_21 = -sinh(t) e^((tau_1 - tau_2) / 2). Either way one parameter depends on
the others, which Newton's method of `ratios` finds. D. M. Bates et al., J. Stat. Software 67 (2015), section 5.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.linalg import LinAlgError

from adaline.arrays import Array
from adaline.fits.additive.criteria import Criterion
from adaline.fits.additive.penalties import BlockPenalty, CovariancePenalty
from adaline.fits.additive.ratios import RatioFit, RatioSums, SolvedRatios, first_ratios, solve_ratios

NO_EFFECT = 30.0  # log ratio above that of the start at which a variance is zero: e^-30 is 1e-13
SURE = 15.0  # t of a correlation of 1: 1 - tanh(15) is 2e-13
INSIDE = 8.0  # such a log ratio from which a variance that may be zero is sought; 10 takes two more steps each time
TIGHT = 1 - 1e-12  # correlation that counts as one
FARTHEST = 20.0  # logarithm of a standard deviation over its estimate beyond which an end is infinite
FIRST_STEP, LONGEST_STEP = 0.5, 3.0  # of t; twice as long or short take two more solutions an end
CLOSE = 1e-9  # of the root of the rise at an end; 10x larger loses a digit of the ends
MOST_SOLUTIONS = 60  # an end


@runtime_checkable
class Profiled(RatioSums, Protocol):
    """A problem whose covariances may be taken in another order."""

    def with_penalties(self, penalties: Sequence[BlockPenalty]) -> Profiled:
        """Return the same problem with penalties of the same blocks."""


@runtime_checkable
class SquaresFit(RatioFit, Protocol):
    """A solution of least squares."""

    def squares_derivatives(self) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of D."""


class Component(NamedTuple):
    """What is held: a standard deviation, of errors too, or a correlation, at a place among theta of the problem.

    place : of tau_1 ; of the errors, the end of theta.
    turned : of L_21.
    """

    kind: Literal["sd", "residual", "correlation"]
    place: int
    turned: int = 0


@dataclass(frozen=True)
class HeldProblem:
    """A problem in which a component has the value t: the logarithm of a standard deviation, or atanh of a correlation.

    Its parameters are those w = (theta, psi) of the problem but the one that follows from them; psi is known where
    `log_dispersion` is given.
    """

    problem: Profiled
    component: Component
    t: float
    log_dispersion: float | None

    @property
    def gram(self) -> Array:
        """X'X."""
        return self.problem.gram

    @property
    def rows(self) -> float:
        """N."""
        return self.problem.rows

    @property
    def square(self) -> float:
        """Y'y."""
        return self.problem.square

    @property
    def penalties(self) -> Sequence[BlockPenalty]:
        """All penalties."""
        return self.problem.penalties

    def at(self, theta: Array) -> HeldFit:
        """Return the solution for these parameters."""
        return HeldFit(self, theta)

    def free(self, size: int) -> Array:
        """Return the indices of the parameters among (theta, psi)."""
        gone = [self.dependent(size)] + ([size - 1] if self.log_dispersion is not None else [])
        return np.setdiff1d(np.arange(size), gone)

    def whole(self, part: Array) -> Array:
        """Return (theta, psi)."""
        known = self.log_dispersion is not None
        size = len(part) + 1 + known
        out = np.zeros(size)
        out[self.free(size)] = part
        if self.log_dispersion is not None:
            out[-1] = self.log_dispersion
        at, (kind, place, _) = self.dependent(size), self.component
        if kind == "correlation":
            out[at] = -math.sinh(self.t) * math.exp((out[place] - out[place + 1]) / 2)
        else:
            out[at] = 2 * self.t if kind == "residual" else out[-1] - 2 * self.t
        return out

    def moves(self, whole: Array) -> tuple[Array, Array]:
        """Return the derivatives of (theta, psi) by the parameters, and the second ones of what follows from these."""
        size, (kind, place, _) = len(whole), self.component
        at, free = self.dependent(size), self.free(size)
        slope, curve = np.zeros(size), np.zeros((size, size))
        if kind == "correlation":
            half = np.zeros(size)
            half[place], half[place + 1] = 0.5, -0.5
            slope, curve = whole[at] * half, whole[at] * np.outer(half, half)
        elif kind == "sd":
            slope[-1] = 1.0
        jacobian = np.eye(size)[:, free]
        jacobian[at] = slope[free]
        return jacobian, curve[np.ix_(free, free)]

    def rate(self, whole: Array) -> float:
        """Return the derivative by t of the parameter that follows."""
        if self.component.kind == "correlation":
            place = self.component.place
            return -math.cosh(self.t) * math.exp((whole[place] - whole[place + 1]) / 2)
        return 2.0 if self.component.kind == "residual" else -2.0

    def dependent(self, size: int) -> int:
        """Return the index of the parameter that follows from the others."""
        kind, place, turned = self.component
        return size - 1 if kind == "residual" else turned if kind == "correlation" else place


@dataclass(frozen=True)
class HeldFit:
    """Its solution for one theta."""

    held: HeldProblem
    theta: Array

    @cached_property
    def whole(self) -> Array:
        """Theta of the problem, and psi."""
        return self.held.whole(self.theta)

    @cached_property
    def fit(self) -> RatioFit:
        """The solution of the problem."""
        return self.held.problem.at(self.whole[:-1])

    @property
    def sums(self) -> HeldProblem:
        """The problem, whose next solution is sought from this one."""
        sums = self.fit.sums
        assert isinstance(sums, Profiled)
        return replace(self.held, problem=sums)

    @property
    def squares(self) -> float:
        """What is left of y'y."""
        return self.fit.squares

    def score(self, criterion: Criterion) -> float:
        """Return V."""
        score = self.fit.score(criterion)
        if self.held.log_dispersion is not None or not np.isfinite(score):
            return score
        m, ratio = self._errors(criterion)
        return score + 0.5 * m * (ratio - 1 - math.log(ratio))

    def derivatives(self, criterion: Criterion) -> tuple[Array, Array]:
        """Return the gradient and the Hessian of V."""
        gradient, hessian = self._derivatives(criterion)
        jacobian, curve = self.held.moves(self.whole)
        hessian = jacobian.T @ hessian @ jacobian + gradient[self.held.dependent(len(gradient))] * curve
        return jacobian.T @ gradient, hessian

    def slope(self, criterion: Criterion) -> float:
        """Return dV/dt where all other parameters are solved for."""
        gradient, _ = self._derivatives(criterion)
        return float(gradient[self.held.dependent(len(gradient))]) * self.held.rate(self.whole)

    def dispersion(self, criterion: Criterion) -> float:
        """Return phi."""
        return math.exp(self.whole[-1])

    def used(self) -> Array:
        """Return the degrees of freedom that each part of the penalty leaves; 1 for psi."""
        return np.asarray(np.append(self.fit.used(), 1.0)[self.held.free(len(self.whole))])

    def _errors(self, criterion: Criterion) -> tuple[float, float]:
        """Return m, and D / (m phi)."""
        profiled = self.fit.dispersion(criterion)
        return self.fit.squares / profiled, profiled * math.exp(-self.whole[-1])

    def _derivatives(self, criterion: Criterion) -> tuple[Array, Array]:
        """Return those in theta and psi: with d = log D, ratio = D / (m phi)

        V = score + m/2 (ratio - 1 - log ratio),   ratio_i = ratio d_i,   ratio_psi = -ratio.
        """
        size = len(self.whole)
        first, second = np.zeros(size), np.zeros((size, size))
        first[:-1], second[:-1, :-1] = self.fit.derivatives(criterion)
        if self.held.log_dispersion is not None:
            return first, second
        assert isinstance(self.fit, SquaresFit)
        m, ratio = self._errors(criterion)
        slope, curve = (one / self.fit.squares for one in self.fit.squares_derivatives())
        along = np.append(slope, -1.0)
        first += 0.5 * m * (ratio - 1) * along
        second += 0.5 * m * np.outer(along, along) * ratio
        second[:-1, :-1] += 0.5 * m * (ratio - 1) * (curve - np.outer(slope, slope))
        return first, second


class ProfileInterval(NamedTuple):
    """The ends of an interval; NaN for one that was not found."""

    lower: float
    upper: float

    def times(self, unit: float) -> ProfileInterval:
        """Return it in another unit."""
        return ProfileInterval(self.lower * unit, self.upper * unit)


NOT_FOUND, ANY = ProfileInterval(math.nan, math.nan), ProfileInterval(-1.0, 1.0)


class Profile(NamedTuple):
    """A fit whose components are held: where the criterion is least, phi where it is known, and q."""

    solved: SolvedRatios
    criterion: Criterion
    dispersion: float | None
    reach: float

    def groupings(self) -> list[list[ProfileInterval]]:
        """Return intervals of each grouping's standard deviations, then of its correlations."""
        out = []
        for k, one in enumerate(self.solved.fit.sums.penalties):
            if isinstance(one, CovariancePenalty):
                own = [self._component(k, (i,)) for i in range(one.size)]
                pairs = [(i, j) for j in range(one.size) for i in range(j)]
                free = [own[i].lower == 0 or own[j].lower == 0 for i, j in pairs]
                each = zip(pairs, free, strict=True)
                out.append([*own, *(ANY if of_zero else self._component(k, pair) for pair, of_zero in each)])
        return out

    def errors(self) -> ProfileInterval:
        """Return the interval of the standard deviation of the errors."""
        theta = self.solved.fit.theta
        component = Component("residual", len(theta))
        t = 0.5 * self._log_dispersion()
        path = self._path(component, self._problem(), theta, t)
        lower, upper = path.end(t - FARTHEST), path.end(t + FARTHEST)
        return ProfileInterval(_exp(lower, t - FARTHEST, 0.0), _exp(upper, t + FARTHEST, math.inf))

    def _component(self, which: int, leading: tuple[int, ...]) -> ProfileInterval:
        """Return the interval of a component of a grouping: of the one or two coefficients that lead."""
        problem, theta = self._problem(), self.solved.fit.theta.copy()
        penalties = list(problem.penalties)
        one, at = penalties[which], sum(other.parameters for other in penalties[:which])
        assert isinstance(one, CovariancePenalty)
        own, q = slice(at, at + one.parameters), one.size
        estimate = one.covariance(self.solved.fit.theta[own])
        if q > 1:
            rest = (k for k in range(q) if k not in leading)
            penalties[which] = turned = replace(one, order=(*leading, *rest))
            theta[own] = turned.parameters_of(one.covariance(theta[own]))
            problem = problem.with_penalties(penalties)
        if len(leading) == 1:
            (i,), half = leading, 0.5 * self._log_dispersion()
            zero, begin = half - 0.5 * NO_EFFECT, half - 0.5 * INSIDE
            t = max(half + 0.5 * math.log(estimate[i, i]), zero)
            path = self._path(Component("sd", at), problem, theta, t)
            most = max(t, begin) + FARTHEST
            lower, upper = path.end(zero), path.end(most, begin)
            return ProfileInterval(_exp(lower, zero, 0.0), _exp(upper, most, math.inf))
        i, j = leading
        t = math.atanh(np.clip(estimate[i, j] / math.sqrt(estimate[i, i] * estimate[j, j]), -TIGHT, TIGHT))
        path = self._path(Component("correlation", at, at + q), problem, theta, t)
        lower, upper = path.end(-SURE), path.end(SURE)
        return ProfileInterval(-1.0 if lower == -SURE else math.tanh(lower), 1.0 if upper == SURE else math.tanh(upper))

    def _problem(self) -> Profiled:
        problem = self.solved.fit.sums
        assert isinstance(problem, Profiled)
        return problem

    def _log_dispersion(self) -> float:
        return math.log(self.solved.fit.dispersion(self.criterion))

    def _path(self, component: Component, problem: Profiled, theta: Array, t: float) -> ProfilePath:
        known = None if self.dispersion is None else math.log(self.dispersion)
        whole = np.append(theta, self._log_dispersion())
        most, first, at = np.full(len(whole), math.inf), first_ratios(problem), 0
        for one in problem.penalties:
            own = slice(at, at + (one.size if isinstance(one, CovariancePenalty) else one.parameters))
            most[own], at = first[own] + INSIDE, at + one.parameters
        return ProfilePath(
            HeldProblem(problem, component, t, known), self.criterion, self.solved.score, self.reach, whole, most
        )


class ProfilePath(NamedTuple):
    """The solutions along t of one component, from the estimate that `held` has.

    A solution is sought from the last one, but with no log ratios above `most`: where a variance is nearly zero the
    gradient is too, though the criterion may be less elsewhere. `best` are theta and psi of the fit, `least` its
    criterion.
    """

    held: HeldProblem
    criterion: Criterion
    least: float
    reach: float
    best: Array
    most: Array

    def end(self, edge: float, begin: float | None = None) -> float:
        """Return where the root of the rise is q, between the estimate and an edge, or the edge; NaN if not found.

        Newton's steps in t, as the root is nearly straight, within the t known to lie inside and outside.
        """
        t = self.held.t
        sign = 1.0 if edge > t else -1.0
        inner, outer, whole, last = t, math.inf * sign, self.best, t
        new = t + sign * FIRST_STEP if begin is None else max(t + FIRST_STEP, begin)
        for _ in range(MOST_SOLUTIONS):
            new = sign * min(sign * new, sign * edge)
            try:
                found = self._solved(new, whole, last)
            except (LinAlgError, OverflowError):
                return math.nan
            if found is None:
                return math.nan
            root, slope, whole = found
            last, gap = new, root - self.reach
            if abs(gap) <= CLOSE * self.reach or (gap < 0 and new == edge):
                return new
            inner, outer = (new, outer) if gap < 0 else (inner, new)
            step = -gap / (sign * slope) if sign * slope > 0 else math.inf
            new = last + sign * float(np.clip(step, -LONGEST_STEP, LONGEST_STEP))
            if not min(inner, outer) < new < max(inner, outer):
                new = (inner + outer) / 2
            if abs(new - last) <= 1e-13 * max(abs(last), 1.0):
                return last
        return math.nan

    def _solved(self, t: float, whole: Array, last: float) -> tuple[float, float, Array] | None:
        """Return the root of the rise at t, its slope, and theta and psi there, sought from those at the last t."""
        held, free = replace(self.held, t=t), self.held.free(len(whole))
        most, start = self.most.copy(), whole.copy()
        if held.component.kind == "correlation":  # with the same standard deviations
            most[held.component.place + 1] += 2 * _log_cosh(t)
            start[held.component.place + 1] += 2 * (_log_cosh(t) - _log_cosh(last))
        solved = solve_ratios(held, self.criterion, np.minimum(start, most)[free])
        assert isinstance(solved.fit, HeldFit)
        root = math.sqrt(max(2 * (solved.score - self.least), 0.0))
        return (root, solved.fit.slope(self.criterion) / max(root, 1e-6), solved.fit.whole) if solved.solved else None


def _log_cosh(t: float) -> float:
    return abs(t) + math.log1p(math.exp(-2 * abs(t)))


def _exp(t: float, edge: float, beyond: float) -> float:
    """Return exp(t), and at an edge what lies beyond it."""
    return beyond if t == edge else math.exp(t)
