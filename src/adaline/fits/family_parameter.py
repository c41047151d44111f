"""The most likely parameter of a family, estimated together with the weights of its machine.

The parameter is the shape of a negative binomial, or the power of Tweedie's family together with its dispersion:

    l(p, s) = sum of log densities at mean = t - deviance / (2 phi),   s = ln phi

Power and dispersion are found by Newton's steps, with derivatives from differences of l at nine points. Means are
orthogonal to these parameters, so fitting weights and parameter in turn is nearly a Newton step in both (W. N.
Venables, B. D. Ripley, Modern Applied Statistics with S, 7.4; P. K. Dunn, G. K. Smyth, Generalized Linear Models With
Examples in R, 12.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.fits.constants import Constants
from adaline.fits.linear_machine import FittedMachine, MachineOptions, minimise
from adaline.losses import Linked, Loss, Offset
from adaline.results import Status
from adaline.solvers.smooth.likelihood import LARGEST_SHAPE
from adaline.solvers.smooth.problem import Problem
from adaline.sums import Densities, FamilyPoint, FamilySums, ShapeScore

NOT_SETTLED = (
    "the {parameter} of the family has not settled: give one, as losses.NegativeBinomial(shape=2.0) or "
    "losses.Tweedie(power=1.5)"
)
# rounds of weights and parameter, and steps of the parameter per round; doubling it makes parameters that do not
# converge take up to four times as long
MOST_STEPS = 50
SHAPE_TOL = 1e-11  # relative change of the shape at which its steps stop; 10x larger loses a digit of the shape
# rounding error of the derivative by the shape, relative to its terms; 10x larger costs a digit where they cancel
SHAPE_ROUNDING = 2.0**-48
FIRST = {"shape": 1.0, "power": 1.5}
LEAST_POWER, MOST_POWER = 1.02, 1.98  # nearer to 1 the density has peaks at multiples of the dispersion
POWER_STRIDE = 5e-4  # of power and ln phi; doubling it quadruples the error of the differences, to 1e-6 of the power
POWER_TOL = 1e-8  # step of power and ln phi that is the last; 10x larger loses a digit of the power
LONGEST_STEP = 0.2


class LikelyParameter(NamedTuple):
    """The most likely parameter and its standard error; of a power also those of the dispersion, and ln L there."""

    value: float
    error: float
    dispersion: float = math.nan
    dispersion_error: float = math.nan
    log_likelihood: float = math.nan


Likeliest = Callable[[Problem, Array, float, int], LikelyParameter]
"""From a problem, weights in its view, a parameter to start from and the most steps."""


def minimise_parameter(
    problem: Problem, constants_of: Callable[[Problem], Constants], options: MachineOptions, likeliest: Likeliest
) -> tuple[FittedMachine, Constants, LikelyParameter]:
    """Return the machine of a family of the most likely parameter, its constants, and the parameter.

    Weights and parameter are fitted in turn; the weights of the last parameter are refined.
    """
    assert problem.loss.linked is not None
    parameter = problem.loss.linked.family.parameter
    value, near = FIRST[parameter], options
    for _ in range(MOST_STEPS):
        own = replace(problem, loss=with_parameter(problem.loss, value))
        constants = constants_of(own)
        fitted = minimise(own, constants, near, refine=False)
        near = replace(near, init=fitted.solution.theta)
        assert fitted.found is not None
        assert fitted.problem is not None
        unbounded = fitted.solution.certificate.status is Status.NO_MINIMUM
        found = likeliest(fitted.problem, fitted.found.theta, value, 0 if unbounded else MOST_STEPS)
        value, before = found.value, value
        if value == before:
            return minimise(own, constants, near), constants, found
    advice = NOT_SETTLED.format(parameter=parameter)
    proof = replace(fitted.solution.certificate, status=Status.NOT_CONVERGED, advice=advice)
    return replace(fitted, solution=fitted.solution._replace(certificate=proof)), constants, found


def likely_shape(problem: Problem, theta: Array, shape: float, steps: int = MOST_STEPS) -> LikelyParameter:
    """Return the most likely shape at weights (1, 1 + D) in the view."""
    for step_number in count():
        likelihood = with_parameter(problem.loss, shape).linked
        assert likelihood is not None
        point = FamilyPoint(likelihood, theta, problem.view, 0.0)
        first, second, size = problem.source.sum(ShapeScore, point).sums.tolist()
        slope, bend = shape * first, shape**2 * second + shape * first  # by the logarithm of the shape
        step = -slope / bend if bend < 0 else math.copysign(1.0, slope)
        settled = abs(step) <= SHAPE_TOL or abs(first) <= SHAPE_ROUNDING * size
        if settled or shape > LARGEST_SHAPE or step_number >= steps:
            break
        shape *= math.exp(min(max(step, -2.0), 2.0))
    return LikelyParameter(shape, math.sqrt(-1 / second) if second < 0 else math.inf)


@dataclass(frozen=True)
class LikelyPower:
    """The function that finds the most likely power of `observations`; `precision` as in `Densities`.

    `deviance` is the position of a deviance in `FamilySums`: 0 of the weights, 1 of the model without columns, whose
    output is `null`.
    """

    precision: bool
    deviance: int = 0
    null: float = 0.0

    def __call__(self, problem: Problem, theta: Array, power: float, steps: int = MOST_STEPS) -> LikelyParameter:
        """Return the most likely power and dispersion at weights (1, 1 + D) in the view."""
        s, first = math.nan, power
        for step_number in count():
            grid, phi = self._grid(problem, theta, power, s)
            if not np.isfinite(grid).all():  # an exact fit, or no means
                return LikelyParameter(power, math.nan)
            s, h = float(np.log(phi[1])), POWER_STRIDE
            slope = np.array([grid[2, 1] - grid[0, 1], grid[1, 2] - grid[1, 0]]) / (2 * h)
            cross = (grid[2, 2] - grid[2, 0] - grid[0, 2] + grid[0, 0]) / 4
            bend = np.array([[grid[2, 1] + grid[0, 1], cross], [cross, grid[1, 2] + grid[1, 0]]]) / h**2
            bend -= 2 * grid[1, 1] / h**2 * np.eye(2)
            values, vectors = np.linalg.eigh(-bend)
            step = vectors @ (vectors.T @ slope / np.maximum(np.abs(values), 1e-12 * np.abs(values).max()))
            step *= min(1.0, LONGEST_STEP / np.abs(step).max())
            step[0] = min(max(power + step[0], LEAST_POWER), MOST_POWER) - power
            if np.abs(step).max() <= POWER_TOL or step_number >= steps:
                break
            power, s = power + step[0], s + step[1]
        power = first if abs(power - first) <= POWER_TOL else power
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.sqrt(vectors**2 @ (1 / values)) if LEAST_POWER < power < MOST_POWER else np.full(2, np.nan)
        return LikelyParameter(power, float(errors[0]), float(phi[1]), float(phi[1] * errors[1]), float(grid[1, 1]))

    def _grid(self, problem: Problem, theta: Array, power: float, s: float) -> tuple[Array, Array]:
        """Return ln L at three powers and three dispersions, (3, 3), and the dispersions; NaN s: the mean deviance."""
        out, places = np.empty((3, 3)), POWER_STRIDE * np.arange(-1.0, 2.0)
        for i, own in enumerate(power + places):
            likelihood = with_parameter(problem.loss, float(own)).linked
            assert likelihood is not None
            point = FamilyPoint(likelihood, theta, problem.view, self.null, self.precision)
            sums = problem.source.sum(FamilySums, point).sums
            with np.errstate(divide="ignore", invalid="ignore"):
                s = float(np.log(sums[self.deviance] / sums[4])) if math.isnan(s) else s
            phi = np.exp(s + places)
            of = likelihood.family, phi.tolist(), self.precision
            out[i] = problem.source.sum(Densities, of, size=3).sums - 0.5 * sums[self.deviance] / phi
        return out, phi


def own_parameter(loss: Loss) -> str:
    """Return the name of the parameter of a loss's family that is to be estimated; "" of none."""
    family = None if loss.linked is None else loss.linked.family
    name = "" if family is None else family.parameter
    return name if name and getattr(family, name) == "auto" else ""


def with_parameter(loss: Loss, value: float) -> Loss:
    """Return the loss of a family, with its offset, of another value of its parameter."""
    if isinstance(loss, Offset):
        return Offset(with_parameter(loss.loss, value))
    assert isinstance(loss, Linked)
    return replace(loss, family=replace(loss.family, **{loss.family.parameter: float(value)}))
