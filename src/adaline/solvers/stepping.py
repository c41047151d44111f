"""Proximal Newton steps: down an objective with corners, on all columns of a problem.

    P(theta) = F(theta) + sum_j l1_j |w_j|
    theta <- theta + s (y - theta),   y = argmin of the quadratic model of F at theta + sum_j l1_j |y_j|

Each step is one pass for value and gradient. The matrix of the model is kept as long as steps shrink fast, as it
changes little near the end. K coupled outputs have one matrix of all coefficients where that can be held, and otherwise
one each; these leave out how outputs pull at each other, and twice their sum lies above the whole. Where no matrix can
be held, its place is taken by the diagonal of the most curvature there can be, times what the steps show to be needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from adaline.solvers.problem import At, Problem
from adaline.solvers.quadratic import least, minimum
from adaline.solvers.searching import FLAT, search

Array = NDArray[np.float64]

TOGETHER = 3000  # coefficients whose matrix of second derivatives is formed
MOST = 2**26  # numbers in all matrices: 512 MiB
KEEP = 0.2  # a step that leaves at most this share of the residual keeps its matrix
PATIENCE = 6  # steps that matrices of outputs alone are kept for at least
BENT = 1e-8  # share of the most curvature a coefficient can have, below which none was seen: straight parts of a loss
EXACT = 1e-4  # share of the residual to which a model is solved


@dataclass(frozen=True)
class Model:
    """Second derivatives: (1, M, M) of all coefficients, (K, M/K, M/K) of each output alone, or the diagonal only."""

    matrices: Array | None
    size: Array
    """(K, 1 + D): the diagonal, by which residuals are measured; infinite where it is zero."""

    @property
    def whole(self) -> bool:
        """Whether it holds all second derivatives, so that steps are Newton's."""
        return self.matrices is not None and len(self.matrices) == 1

    def lowest(self, theta: Array, gradient: Array, l1: Array, boost: float) -> Array:
        """Return the minimum of the model at theta with its matrices times `boost`."""
        if self.matrices is None:
            size = self.size * boost
            aim = theta - gradient / size
            return np.asarray(np.sign(aim) * np.maximum(np.abs(aim) - l1 / size, 0.0))
        parts = len(self.matrices)
        each = zip(
            self.matrices,
            *(part.reshape(parts, -1) for part in (gradient, theta, np.broadcast_to(l1, theta.shape))),
            strict=True,
        )
        found = [minimum(h * boost if boost > 1 else h, g, w, cost.copy(), EXACT) for h, g, w, cost in each]
        return np.concatenate(found).reshape(theta.shape)


@dataclass
class Place:
    """Where the steps are: theta, F there, P after each step, and how much the last model promised to lower P by."""

    theta: Array
    at: At
    history: list[float] = field(default_factory=list)
    promise: float = math.inf
    model: Model | None = None
    stuck: bool = False


def step_down(problem: Problem, l1: Array, place: Place, enough: float, most: int) -> Place:
    """Take up to `most` steps, until one promises no more than `enough`; `l1` is (1 + D,), zero for the intercept."""
    boost, age, fresh = 1.0, 0, False
    value = place.at.value + cost(place.theta, l1)
    for _ in range(most):
        if place.model is None:
            place.model, age, fresh = model_at(problem, place.theta, held=not l1.any()), 0, True
            if place.model is None:
                place.stuck = True
                break
        aim = place.model.lowest(place.theta, place.at.gradient, l1, boost)
        step = aim - place.theta
        slope = _slope(place.theta, aim, place.at.gradient, l1)
        place.promise = max(-slope, 0.0)
        if not slope < 0:
            if fresh:
                break
            place.model = None
            continue
        before = residual(place.theta, place.at, l1, place.model)
        new, share = _search(problem, l1, place, value, step, slope)
        if new is None:
            place.stuck = fresh
            if fresh:
                break
            place.model = None
            continue
        place.theta = aim if share == 1 else place.theta + share * step
        place.at, value = new, new.value + cost(place.theta, l1)
        place.history.append(value)
        age, fresh = age + 1, False
        if share < 1 and not place.model.whole:
            boost *= 2.0
        after = residual(place.theta, place.at, l1, place.model)
        if after > KEEP * before and age >= (1 if place.model.whole else PATIENCE):
            place.model = None
        if place.promise <= enough:
            break
    return place


def model_at(problem: Problem, theta: Array, held: bool) -> Model | None:
    """Return the model at theta; None where it overflows."""
    if problem.outputs * (1 + problem.features) ** 2 > MOST:
        bend = np.broadcast_to(problem.bend(), theta.shape)
        return Model(None, np.where(bend > 0, bend, np.inf))
    if problem.size <= TOGETHER or problem.outputs == 1:
        hessian = problem.at(theta, second=True, held=held).hessian
        matrices = None if hessian is None else hessian[None]
    else:
        matrices = problem.blocks(theta)
    if matrices is None:
        return None
    diagonal = np.concatenate([one.diagonal() for one in matrices]).reshape(theta.shape)
    lift = np.where(diagonal < BENT * problem.bend(), problem.bend(), 0.0)
    if lift.any():
        diagonal = diagonal + lift
        places = np.arange(matrices.shape[1])
        matrices[:, places, places] += lift.reshape(len(matrices), -1)
    return Model(matrices, np.where(diagonal > 0, diagonal, np.inf))


def residual(theta: Array, at: At, l1: Array, model: Model) -> float:
    """Return the length of the least subgradient in the metric of the model's diagonal."""
    return math.sqrt(float((least(theta, at.gradient, l1) ** 2 / model.size).sum()))


def _slope(theta: Array, aim: Array, gradient: Array, l1: Array) -> float:
    """Return gradient'(aim - theta) + cost(aim) - cost(theta), without cancellation where no weight changes sign."""
    step = aim - theta
    along = (gradient + l1 * np.where(theta != 0, np.sign(theta), np.sign(aim))) * step
    crossed = gradient * step + l1 * (np.abs(aim) - np.abs(theta))
    return float(np.where(theta * aim < 0, crossed, along).sum())


def cost(theta: Array, l1: Array) -> float:
    """Return sum l1_j |w_j|."""
    return float((l1 * np.abs(theta)).sum())


def _search(
    problem: Problem, l1: Array, place: Place, value: float, step: Array, slope: float
) -> tuple[At | None, float]:
    def there(share: float) -> Array:
        return place.theta + share * step

    return search(lambda s: problem.at(there(s)), value, slope, FLAT * abs(value), more=lambda s: cost(there(s), l1))
