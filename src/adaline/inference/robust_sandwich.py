"""Robust errors of an M-estimate: its rows, read again, give the scores in the middle and the second derivatives.

    Cov = H^-1 G H^-1,   H = sum_n w psi'(r/s) x x',   G = sum of products of scores s psi(r/s) x, as in covariance.py

Huber's covariance assumes that the noise is the same for all rows; these errors do not. The scale s counts as known.
Leverages, and those of groups, are parts of H, so HC3 and CR3 are one-step jackknives. R's sandwich gives the same HC0,
HC1 and CR1 for Huber's estimate; for Tukey's it uses |psi'| instead of psi' in H.

P. J. Huber, Robust Statistics (1981), chapter 6; A. Zeileis, J. Statistical Software 16 (2006), 9.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from adaline.arrays import AnyArray, Array
from adaline.errors import InvalidData
from adaline.inference.clusters import CLUSTERED, read_scores
from adaline.inference.covariance import (
    SQUARES_TOLERANCE,
    TOTAL_TOLERANCE,
    WEIGHT_TOLERANCE,
    ErrorOptions,
    refuse_full_leverage,
)
from adaline.inference.lagged import lagged
from adaline.inference.robust import RobustFit, StandardErrors, none, raw_root
from adaline.inference.roots import root_of, small_sample_factor
from adaline.losses import Loss
from adaline.penalties import no_penalty
from adaline.results import Solution
from adaline.solvers.smooth.newton import factor_hessian
from adaline.solvers.smooth.problem import build_problem
from adaline.sources import Source
from adaline.sources.views import total_weight
from adaline.sums import FittedLikelihood, FittedMEstimate, Scores
from adaline.sums.columns import times_power

NOT_A_MINIMUM = "no robust errors: the rows within the threshold do not determine every coefficient"


@dataclass(frozen=True)
class ScaledTarget:
    """A function of all targets (n, K): target k over 2^exponent, (n, 1), so that its squares do not overflow."""

    k: int
    exponent: int

    def __call__(self, t: AnyArray) -> AnyArray:
        """Return the target, (n, 1)."""
        return times_power(t[:, self.k : self.k + 1], np.array(-float(self.exponent)))


def judge_m_estimates(
    fits: Sequence[RobustFit],
    source: Source,
    loss: Callable[[float], Loss],
    options: ErrorOptions,
    intercept: bool,
) -> list[RobustFit]:
    """Return the fits with these errors alone; `loss` of a scale is what was minimised, `source` holds all targets."""
    out = []
    for k, fit in enumerate(fits):
        errors = next(iter(fit.errors.values()))
        if not np.isnan(errors.std_error).all():
            exponent = int(np.frexp(fit.scale)[1])
            own = source.changed(source.targets.mapping(ScaledTarget(k, exponent), 1))
            errors = _sandwich(_scaled(fit, -exponent), own, loss, options, intercept)
            errors = replace(errors, root=np.ldexp(errors.root, exponent))
        out.append(replace(fit, errors={options.errors: errors}))
    return out


def _scaled(fit: RobustFit, exponent: int) -> RobustFit:
    """Return the fit of a target times 2^exponent."""
    proof = fit.solution.certificate
    proof = replace(proof, objective=math.ldexp(proof.objective, 2 * exponent))
    theta = np.ldexp(fit.solution.theta, exponent)
    return replace(fit, solution=Solution(theta, proof), scale=math.ldexp(fit.scale, exponent))


def _sandwich(
    fit: RobustFit, source: Source, loss_of: Callable[[float], Loss], options: ErrorOptions, intercept: bool
) -> StandardErrors:
    """Return the errors of one target from its rows."""
    weight, p = total_weight(source), float(fit.dependence.rank + intercept)
    if abs(weight - fit.weight) > WEIGHT_TOLERANCE * fit.weight:
        raise InvalidData(
            f"these are not the rows that were fitted: their weight is {weight:g}, the model holds {fit.weight:g}. "
            "Give all rows again, with the same sample_weight."
        )
    loss = loss_of(fit.scale)
    problem = build_problem(source, loss, 1, intercept, no_penalty(source.shape.features))
    here = problem.evaluate(problem.from_raw(fit.solution.theta), second=True)
    known = fit.solution.certificate.objective
    if np.isfinite(known) and not abs(here.value - known) <= SQUARES_TOLERANCE * known + TOTAL_TOLERANCE * weight:
        raise InvalidData(
            "these are not the rows that were fitted: they have other residuals under the model. Give the same X and y "
            "again."
        )
    assert here.hessian is not None
    bread = factor_hessian(here.hessian)
    if bread.rank < p + (not intercept):
        return none(problem, NOT_A_MINIMUM)
    root = np.sqrt(fit.scale) * np.nan_to_num(raw_root(problem, bread.root, fit.dependence))
    design: FittedLikelihood = FittedMEstimate(
        loss, fit.dependence.drop(fit.solution.theta), root[None], dispersion=fit.scale
    )
    m = root.shape[1]
    if options.errors in CLUSTERED:
        found, _ = read_scores(source, design, options.errors, options.groups, size=m, targets=1)
        middle, notes = found.root(0, found.factor(fit.weight, p))
        return _errors(fit, root @ middle, [*found.notes(), *notes], found.freedom)
    notes = []
    design = options.tempered(design, p / fit.weight)
    if options.errors == "HAC":
        serial = lagged(source, design, options.lags, 1)
        meat, notes = serial.meat, serial.notes(options.lags)
    else:
        scores = source.sum(Scores, design, size=m, targets=1)
        refuse_full_leverage(source, design, scores, options.errors)
        meat = scores.meat
    return _errors(fit, root @ root_of(meat[0], small_sample_factor(options.errors, fit.weight, p)), notes, np.inf)


def _errors(fit: RobustFit, root: Array, notes: Sequence[str], freedom: float) -> StandardErrors:
    """Return standard errors, NaN where a column is left out."""
    known = next(iter(fit.errors.values()))
    root[np.isnan(known.std_error)] = np.nan
    return StandardErrors(root, tuple(notes), freedom)
