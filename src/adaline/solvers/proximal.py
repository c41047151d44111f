"""l1 and elastic-net penalties: proximal Newton on the columns that matter, with the duality gap as proof.

    P(theta) = F(theta) + sum_j l1_j |w_j|,   F with its own ridge (S0 5.13, S4: regularisation)

At the minimum |dF/dw_j| <= l1_j where w_j = 0, and dF/dw_j = -l1_j sign(w_j) elsewhere. Few columns of many are not
zero, so steps are taken on a working set; one pass over all columns then proves the gap, or says which columns to add.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adaline.solvers.curvature import factor
from adaline.solvers.curvature import gap as gap_of
from adaline.solvers.newton import Descended, reach
from adaline.solvers.planes import Planes
from adaline.solvers.problem import At, Problem
from adaline.solvers.quadratic import least
from adaline.solvers.stepping import TOGETHER, Place, cost, step_down

Array = NDArray[np.float64]
Columns = NDArray[np.intp]

WHOLE = 128  # up to so many columns are not worth choosing from
FIRST = 32  # columns that a working set gains at least
TIGHTER = 0.01
NO_COLUMNS = np.zeros(0, np.intp)


@dataclass(frozen=True)
class Penalised:
    """A problem under l1 penalties, (1 + D,) with zero for the intercept, and what is known below it."""

    problem: Problem
    l1: Array
    planes: Planes

    def value(self, theta: Array, at: At) -> float:
        """Return P."""
        return at.value + cost(theta, self.l1)

    def violations(self, theta: Array, at: At) -> Array:
        """Return the least subgradient of each column, the largest over the outputs, (D,)."""
        return np.asarray(np.abs(least(theta, at.gradient, self.l1)[:, 1:]).max(axis=0))

    def gap(self, theta: Array, at: At) -> float:
        """Return a bound on P - min P: the duality gap, or that of the second derivatives where there is none."""
        found = self.planes.gap(theta, at, self.l1[1:])
        if math.isfinite(found) or self.problem.size > TOGETHER:
            return found
        hessian = self.problem.at(theta, second=True).hessian
        if hessian is None:
            return math.inf
        curvature = factor(hessian)
        length = curvature.length(least(theta, at.gradient, self.l1))
        return gap_of(length, reach(self.problem, curvature), self.problem.loss.concordance)


def proximal(problem: Problem, l1: Array, theta: Array, wanted: float, most: int = 100) -> Descended:
    """Step down from theta until the gap is at most `wanted`.

    Parameters
    ----------
    problem : F, with K outputs and D columns.
    l1 : (D,) penalties of |w_j| in the coordinates of the view: l1 x scale_j for a penalty in raw units.
    theta : (K, 1 + D) where to start.
    wanted : bound on P - min P to be proven.
    most : steps at most.

    Returns
    -------
    Where it ended. `at` holds P and its least subgradient, which is zero at the minimum; `history` P after each step.
    """
    penalised = Penalised(problem, np.concatenate([[0.0], l1]), Planes(problem))
    return ended(penalised, solve(penalised, theta, problem.at(theta), wanted, most))


def ended(penalised: Penalised, here: Descended) -> Descended:
    """Return where it ended with P and its least subgradient instead of F and its gradient."""
    at = At(penalised.value(here.theta, here.at), least(here.theta, here.at.gradient, penalised.l1))
    return replace(here, at=at)


def solve(
    penalised: Penalised,
    theta: Array,
    at: At,
    wanted: float,
    most: int,
    start: Columns = NO_COLUMNS,
) -> Descended:
    """Step down from theta, where F is known.

    `start` are columns to begin with, beside those that are not zero.
    """
    problem, l1 = penalised.problem, penalised.l1
    columns = _begin(penalised, theta, at, start)
    here = Descended(theta, at, None)
    place: Place | None = None
    enough, few, last = wanted, None, math.inf
    while len(here.history) < most:
        if place is None:
            few = problem.of_columns(columns) if len(columns) < problem.features else None
            place = Place(*_cut(theta, at, columns, few))
        inside = problem if few is None else few
        weights = l1 if few is None else l1[np.concatenate([[0], columns + 1])]
        place.history = []
        step_down(inside, weights, place, enough, most - len(here.history))
        theta, at = _whole(problem, theta, place, columns, few)
        here.history += place.history
        here.theta, here.at, here.gap = theta, at, penalised.gap(theta, at)
        here.converged = here.gap <= wanted
        if here.converged:
            break
        wider = _wider(penalised, theta, at, columns) if few is not None else columns
        if len(wider) > len(columns):
            columns, place = wider, None
            continue
        size = float(np.linalg.norm(least(theta, at.gradient, l1)))
        if place.stuck or not place.history or size > 0.5 * last:
            here.converged = math.isinf(here.gap) and place.promise <= wanted
            break
        enough, last = TIGHTER * min(enough, place.promise), size
    return here


def _begin(penalised: Penalised, theta: Array, at: At, start: Columns) -> Columns:
    """Return the columns to begin with."""
    problem = penalised.problem
    if problem.features <= WHOLE:
        return np.arange(problem.features)
    nonzero = (theta[:, 1:] != 0).any(axis=0) | (penalised.l1[1:] == 0)
    nonzero[start] = True
    if not nonzero.any():
        nonzero[np.argmax(np.abs(at.gradient[:, 1:]).max(axis=0) / penalised.l1[1:])] = True
    return np.flatnonzero(nonzero) if len(start) else _wider(penalised, theta, at, np.flatnonzero(nonzero))


def _wider(penalised: Penalised, theta: Array, at: At, columns: Columns) -> Columns:
    """Return the columns with those outside that violate most; all, once they are most of all."""
    problem = penalised.problem
    beyond = penalised.violations(theta, at)
    beyond[columns] = 0.0
    room = max(FIRST, len(columns))
    worst = np.argsort(-beyond)[: min(room, int((beyond > 0).sum()))]
    wider = np.sort(np.concatenate([columns, worst]))
    return np.arange(problem.features) if len(wider) > problem.features // 2 and len(worst) else wider


def _cut(theta: Array, at: At, columns: Columns, few: Problem | None) -> tuple[Array, At]:
    """Return theta and F there as the problem of few columns knows them."""
    if few is None:
        return theta, at
    places = np.concatenate([[0], columns + 1])
    return theta[:, places], At(at.value, at.gradient[:, places])


def _whole(problem: Problem, theta: Array, place: Place, columns: Columns, few: Problem | None) -> tuple[Array, At]:
    """Return theta with all columns, and F there."""
    if few is None:
        return place.theta, place.at
    theta = np.zeros_like(theta)
    theta[:, np.concatenate([[0], columns + 1])] = place.theta
    return theta, problem.at(theta)
