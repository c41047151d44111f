"""The likelihood of a fitted machine, as inference needs it.

A family of distributions has besides a deviance, a dispersion, and the log-likelihood of the null model, which has no
columns. These take one or two reads of the rows. The null model needs a fit of its own where rows have offsets, or
where the shape of a negative binomial is estimated.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.fits.constants import Constants
from adaline.fits.dispersion import likely_dispersion
from adaline.fits.family_parameter import MOST_STEPS, LikelyParameter, LikelyPower, likely_shape, with_parameter
from adaline.fits.linear_machine import FittedMachine, MachineOptions
from adaline.links import name_of
from adaline.losses import (
    Binomial,
    Family,
    Likelihood,
    NegativeBinomial,
    Offset,
    Scoring,
    Tweedie,
)
from adaline.solvers.least_squares.fit import EXACT_RATIO
from adaline.solvers.smooth.choose import (
    MOST_MATRIX_SIDE,
)
from adaline.solvers.smooth.firth import firth_ratios
from adaline.solvers.smooth.likelihood import FamilyFit, LikelihoodFit, raw_root
from adaline.solvers.smooth.newton import (
    FLAT_CHANGE,
    DescentResult,
    factor_hessian,
)
from adaline.solvers.smooth.problem import Problem
from adaline.sums import Densities, FamilyPoint, FamilySums, NullScore

# squared Newton decrement, relative to the objective, at which the null model's fit stops; 100x larger costs it a
# digit
NULL_TOL = 1e-16
# Newton steps of the null model; doubling it matters only with offsets near 1e9, whose null model never converges
MOST_NULL_STEPS = 200
# relative change of the shape of the null model at which its rounds stop; 10x larger loses two digits of a test
NULL_SHAPE_TOL = 1e-8


def likelihood_of(fitted: FittedMachine, options: MachineOptions, null: float) -> LikelihoodFit:
    """Return the likelihood fit that inference needs; `null` is minus the log-likelihood of the best constants."""
    problem, found = fitted.problem, fitted.found
    assert problem is not None
    assert found is not None
    assert fitted.dependence is not None
    w, tol = found.theta[:, 1:], options.tol * max(null, np.finfo(float).tiny)
    if options.firth:
        log_likelihood = -problem.evaluate(found.theta).value
    else:
        penalty = 0.5 * float((problem.ridge * w**2).sum()) + float((options.corners(problem.view) * np.abs(w)).sum())
        log_likelihood = penalty - found.evaluation.value
    return LikelihoodFit(
        fitted.solution,
        None if found.curvature is None else raw_root(problem, found.curvature),
        log_likelihood,
        -null,
        problem.source.n_rows,
        problem.spread.weight,
        max(problem.outputs - 1, 1) * (fitted.solution.certificate.rank + problem.intercept),
        not options.free,
        problem.loss.coupled,
        fitted.dependence,
        options.firth,
        firth_ratios(problem, found, tol, fitted.dependence.kept) if options.firth else None,
        offset=isinstance(problem.loss, Offset),
    )


def null_loss(problem: Problem, constants: Constants) -> float:
    """Return minus the log-likelihood of the best constants of classes; reads the rows if they have offsets."""
    likelihood = problem.loss.linked
    if likelihood is None or not isinstance(problem.loss, Offset):
        return constants.loss
    output = _null_output(problem, likelihood, constants)
    return float(problem.source.sum(NullScore, (likelihood, output)).sums[0])


def likelihood_of_family(
    fitted: FittedMachine,
    options: MachineOptions,
    constants: Constants,
    dispersion: str | float | None = None,
    own: LikelyParameter | None = None,
    precision: bool = False,
) -> LikelihoodFit:
    """Return the likelihood fit of a family that inference needs, in one to three reads.

    `dispersion` is "pearson", "deviance", "ml" or a number; None: 1 where the family has none, "ml" with a power that
    was estimated, else "pearson". `own` is the shape or power that was estimated; `precision`: weights are inverse
    variances, a row is one observation.
    """
    problem, found, depends = fitted.problem, fitted.found, fitted.dependence
    assert problem is not None
    assert found is not None
    assert depends is not None
    likelihood = problem.loss.linked
    assert likelihood is not None
    family, weight = likelihood.family, problem.spread.weight
    columns = problem.source.shape.targets - isinstance(problem.loss, Offset)
    in_trials = isinstance(family, Binomial) and columns == 1 and constants.lowest != 0  # some share is not 0 or 1
    precision = precision or in_trials
    null_output = _null_output(problem, likelihood, constants)
    point = FamilyPoint(likelihood, found.theta, problem.view, null_output, precision)
    deviance, null, pearson, saturated, observations = problem.source.sum(FamilySums, point).sums.tolist()
    deviance, null = max(deviance, 0.0), max(null, 0.0)  # rounding may leave less
    if _is_constant(family, constants, null, weight):
        deviance = null = pearson = 0.0
    parameters = fitted.solution.certificate.rank + problem.intercept
    absorption = problem.source.absorption
    if absorption is not None:  # effects are parameters too, and the model without columns is a constant
        parameters, null = parameters + absorption.freedom, absorption.total
    freedom = observations - parameters
    of_power = own is not None and isinstance(family, Tweedie)
    usual = ("ml" if of_power else "pearson") if family.scaled else 1.0
    dispersion = usual if dispersion is None else dispersion
    estimated = isinstance(dispersion, str)
    phi = (pearson if dispersion == "pearson" else deviance) / freedom if estimated and freedom > 0.5 else math.nan
    phi = phi if isinstance(dispersion, str) else float(dispersion)
    if math.isinf(phi):
        raise InvalidData("the dispersion overflows: some targets are too large beside the others for float64")
    quasi = math.nan if estimated and not family.scaled else 0.0
    likely, null_likely = (family.log_likelihood(one, saturated, weight) + quasi for one in (deviance, null))
    n, phi_error = observations if precision else weight, math.nan
    if dispersion == "ml" and not of_power:
        most = likely_dispersion(problem.source, family, np.array([deviance, null]), n, precision)
        (phi, _), (phi_error, _), (likely, null_likely) = (part.tolist() for part in most)
    elif isinstance(family, Tweedie) and family.scaled and (family.compound or precision) and min(deviance, null) > 0:
        of = (family, (deviance / n, null / n), precision)
        likely, null_likely = problem.source.sum(Densities, of, size=2).sums - n / 2
    if own is not None and isinstance(family, Tweedie):
        likely = own.log_likelihood
        null_likely = LikelyPower(precision, 1, null_output)(problem, found.theta, family.power).log_likelihood
        phi, phi_error = (own.dispersion, own.dispersion_error) if dispersion == "ml" else (phi, phi_error)
    elif own is not None:
        null_likely = _null_of_any_shape(problem, likelihood, constants, null_output) + quasi
    root = None if options.l1 else _information_root(problem, likelihood, found)
    return LikelihoodFit(
        fitted.solution,
        None if root is None else root * math.sqrt(phi),
        float(likely),
        float(null_likely),
        problem.source.n_rows,
        weight,
        parameters,
        not options.free,
        False,
        depends,
        family=FamilyFit(
            family=family.name,
            link=name_of(likelihood.link),
            dispersion=phi,
            estimated=estimated,
            freedom=freedom,
            deviance=deviance,
            null_deviance=null,
            pearson=pearson,
            extra=int(family.scaled) + (own is not None),
            shape=float(family.shape) if isinstance(family, NegativeBinomial) else math.nan,
            shape_error=math.nan if own is None or of_power else own.error,
            precision=precision,
            dispersion_error=phi_error,
            power=float(family.power) if isinstance(family, Tweedie) else math.nan,
            power_error=own.error if own is not None and of_power else math.nan,
        ),
    )


def _is_constant(family: Family, constants: Constants, null: float, weight: float) -> bool:
    """Whether targets are one value up to rounding: the deviance of their mean is what float64 makes of it."""
    mean = family.typical(np.array(constants.mean))[0]
    with np.errstate(all="ignore"):
        return bool(null <= EXACT_RATIO**2 * weight * mean**2 / family.variance(mean))


def _null_output(problem: Problem, likelihood: Likelihood, constants: Constants) -> float:
    """Return the output of the model without columns, NaN where it has no mean; reads the rows if they have offsets."""
    if not problem.intercept:
        offset = isinstance(problem.loss, Offset)
        return 0.0 if offset or likelihood.family.inside(likelihood.link, np.zeros(1)).all() else math.nan
    output = float(problem.loss.constant(np.array(constants.mean))[0])
    if not isinstance(problem.loss, Offset):
        return output
    value, slope, information = problem.source.sum(NullScore, (likelihood, output)).sums.tolist()
    share = 1.0
    for _ in range(MOST_NULL_STEPS):
        if not (math.isfinite(value) and information > 0 and share > NULL_TOL):
            break
        step = -share * slope / information
        if slope * slope <= NULL_TOL * information * abs(value) or output + step == output:
            break
        new = problem.source.sum(NullScore, (likelihood, output + step)).sums.tolist()
        if new[0] <= value + FLAT_CHANGE * abs(value):
            output, (value, slope, information), share = output + step, new, 1.0
        else:
            share /= 2
    return output if math.isfinite(value) else math.nan


def _information_root(problem: Problem, likelihood: Likelihood, found: DescentResult) -> Array | None:
    """Return a root of the inverse expected information in raw units; one read unless it equals the curvature."""
    curvature = found.curvature
    if curvature is None or not likelihood.family.canonical(likelihood.link):
        if problem.size > MOST_MATRIX_SIDE:
            return None
        hessian = replace(problem, loss=Scoring(likelihood)).evaluate(found.theta, second=True).hessian
        curvature = None if hessian is None else factor_hessian(hessian, problem.ridges)
    return None if curvature is None else raw_root(problem, curvature)


def _null_of_any_shape(problem: Problem, likelihood: Likelihood, constants: Constants, output: float) -> float:
    """Return the log-likelihood of a negative binomial without columns, whose shape is the most likely one then.

    `output` is that of the model without columns at the shape of the fit.
    """
    family, theta = likelihood.family, np.zeros((1, 1 + problem.features))
    assert isinstance(family, NegativeBinomial)
    for _ in range(MOST_STEPS):
        theta[0, 0] = output
        shape = likely_shape(problem, theta, float(family.shape)).value
        if abs(shape - family.shape) <= NULL_SHAPE_TOL * shape or not math.isfinite(output):
            break
        family = NegativeBinomial(shape)
        own = replace(problem, loss=with_parameter(problem.loss, shape))
        assert own.loss.linked is not None
        likelihood = own.loss.linked
        output = _null_output(own, likelihood, constants)
    sums = problem.source.sum(FamilySums, FamilyPoint(likelihood, theta, problem.view, output)).sums
    return float(family.log_likelihood(sums[1], sums[3], problem.spread.weight))
