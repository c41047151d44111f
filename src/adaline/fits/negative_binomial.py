"""The most likely shape of a negative binomial, estimated together with the weights of its machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from adaline.arrays import Array
from adaline.fits.constants import Constants
from adaline.fits.linear_machine import FittedMachine, MachineOptions, minimise
from adaline.losses import (
    Linked,
    Loss,
    NegativeBinomial,
    Offset,
)
from adaline.results import Status
from adaline.solvers.smooth.likelihood import LARGEST_SHAPE
from adaline.solvers.smooth.problem import Problem
from adaline.sums import FamilyPoint, ShapeScore

SHAPE_NOT_CONVERGED = (
    "the shape of the negative binomial has not settled: give one, as losses.NegativeBinomial(shape=2.0), or use "
    "loss='poisson' with dispersion='pearson'"
)
# rounds of weights and shape of a negative binomial, and steps of the shape per round; doubling it makes shapes that
# do not converge take up to four times as long
MOST_SHAPE_STEPS = 50
SHAPE_TOL = 1e-11  # relative change of the shape at which its steps stop; 10x larger loses a digit of the shape
# rounding error of the derivative by the shape, relative to its terms; 10x larger costs a digit where they cancel
SHAPE_ROUNDING = 2.0**-48


def minimise_shape(
    problem: Problem, constants_of: Callable[[Problem], Constants], options: MachineOptions
) -> tuple[FittedMachine, Constants, float]:
    """Return the machine of a negative binomial of the most likely shape, its constants, and the error of the shape.

    Weights and shape are fitted in turn. They are orthogonal parameters, so that this nearly takes Newton steps in both
    (W. N. Venables, B. D. Ripley, Modern Applied Statistics with S, 7.4).
    """
    shape, fitted, second = 1.0, None, -1.0
    for _ in range(MOST_SHAPE_STEPS):
        own = replace(problem, loss=with_shape(problem.loss, shape))
        constants = constants_of(own)
        near = options if fitted is None else replace(options, init=fitted.solution.theta)
        fitted = minimise(own, constants, near)
        assert fitted.found is not None
        assert fitted.problem is not None
        unbounded = fitted.solution.certificate.status is Status.NO_MINIMUM
        before = shape
        shape, second = likely_shape(fitted.problem, fitted.found.theta, shape, 0 if unbounded else MOST_SHAPE_STEPS)
        if shape == before:
            break
    else:
        assert fitted is not None
        proof = replace(fitted.solution.certificate, status=Status.NOT_CONVERGED, advice=SHAPE_NOT_CONVERGED)
        fitted = replace(fitted, solution=fitted.solution._replace(certificate=proof))
    assert fitted is not None
    return fitted, constants, math.sqrt(-1 / second) if second < 0 else math.inf


def likely_shape(problem: Problem, theta: Array, shape: float, steps: int = MOST_SHAPE_STEPS) -> tuple[float, float]:
    """Return the most likely shape at weights (1, 1 + D) in the view, and the second derivative there."""
    for step_number in count():
        likelihood = with_shape(problem.loss, shape).linked
        assert likelihood is not None
        point = FamilyPoint(likelihood, theta, problem.view, 0.0)
        first, second, size = problem.source.sum(ShapeScore, point).sums.tolist()
        slope, bend = shape * first, shape**2 * second + shape * first  # by the logarithm of the shape
        step = -slope / bend if bend < 0 else math.copysign(1.0, slope)
        settled = abs(step) <= SHAPE_TOL or abs(first) <= SHAPE_ROUNDING * size
        if settled or shape > LARGEST_SHAPE or step_number >= steps:
            break
        shape *= math.exp(min(max(step, -2.0), 2.0))
    return shape, second


def with_shape(loss: Loss, shape: float) -> Loss:
    """Return the loss of a negative binomial, with its offset, of another shape."""
    if isinstance(loss, Offset):
        return Offset(with_shape(loss.loss, shape))
    assert isinstance(loss, Linked)
    return replace(loss, family=NegativeBinomial(shape))
