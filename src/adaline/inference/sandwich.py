"""Robust errors of a likelihood fit: the root of its covariance with the scores of the rows in the middle.

    Cov = A G A',   A A' = inverse information,   G = the sum of products of scores, as in covariance.py

The fit returned differs from the one given in its root alone, so that tables, tests, intervals and effects take it as
they take any other. The rows have to be given again; they are recognised by their weight and their log-likelihood.

P. J. Huber, Proc. 5th Berkeley Symposium (1967), 221-233; A. Zeileis, J. Statistical Software 16 (2006), 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.clusters import CLUSTERED, nested_freedom, read_scores
from adaline.inference.covariance import (
    SQUARES_TOLERANCE,
    TOTAL_TOLERANCE,
    WEIGHT_TOLERANCE,
    ErrorOptions,
    lengths,
    refuse_full_leverage,
)
from adaline.inference.lagged import lagged
from adaline.inference.likelihood import check_maximum
from adaline.inference.roots import root_of, root_of_difference, small_sample_factor
from adaline.losses import Loss
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources import Source
from adaline.sources.views import total_weight
from adaline.sums import FittedLikelihood, Scores


def fitted_rows(fit: LikelihoodFit, loss: Loss, source: Source) -> FittedLikelihood:
    """Return a fit in the form in which sums over its rows take it."""
    kept = fit.without_dependent()
    root = kept.known_root("standard errors").copy()
    root[:, 1:][:, ~fit.dependence.kept] = 0.0
    dispersion = 1.0 if fit.family is None else fit.family.dispersion
    precision = fit.family is not None and fit.family.precision
    return FittedLikelihood(
        loss, kept.solution.theta, root, source.shape.targets, dispersion=dispersion, precision=precision
    )


def count_observations(fit: LikelihoodFit) -> float:
    """Return how many observations the rows stand for: their weight, or, of precisions and trials, their number."""
    return fit.weight if fit.family is None else fit.family.freedom + fit.parameters


@dataclass(frozen=True)
class JudgedLikelihoods:
    """The fits of likelihoods with their standard errors, computed in one read of the rows.

    Parameters
    ----------
    given, fits : the fits, one for each target, as they were found and with the root of these errors.
    freedom : degrees of freedom of what judges coefficients, infinity for the normal distribution.
    options : which standard errors.
    notes : lines about these errors.
    """

    given: Sequence[LikelihoodFit]
    fits: Sequence[LikelihoodFit]
    freedom: float
    options: ErrorOptions
    notes: tuple[str, ...] = ()

    def describe(self) -> list[str]:
        """Return the lines that a table says about robust errors; none about classical ones."""
        if self.options.errors == "classical":
            return []
        return [self.options.describe(self.freedom), *self.notes]

    def at_all_columns(self) -> list[LikelihoodFit]:
        """Return the fits with their own coefficients and these errors, which are those of all predictions."""
        return [replace(own, root=fit.root) for own, fit in zip(self.given, self.fits, strict=True)]


def judge_likelihood(
    fit: LikelihoodFit, loss: Loss, source: Source | None, options: ErrorOptions
) -> tuple[LikelihoodFit, float, list[str]]:
    """Return a fit with the root of its covariance under these errors, degrees of freedom, and lines about them.

    Classical errors are those it has.
    """
    if options.errors == "classical":
        return fit, count_observations(fit) - fit.parameters, []
    assert source is not None
    options.refuse_wild("likelihoods, whose residuals have no signs")
    check_maximum(fit, f"{options.errors} errors")
    options.refuse_absorbed(source)
    if fit.penalised or fit.firth:
        raise InvalidParameter(
            f"errors={options.errors!r} are those of a maximum of the likelihood: use penalty=0 and firth=False"
        )
    design, n, p = fitted_rows(fit, loss, source), count_observations(fit), float(fit.parameters)
    check_rows_weight(fit, source)
    if n - p <= 0.5:
        raise InvalidData(f"no robust errors: {n:g} observations leave nothing to {p:g} parameters")
    m = design.root.shape[2]
    if options.errors in CLUSTERED:
        found, joined = read_scores(source, design, options.errors, options.groups, size=m, targets=1)
        check_rows_cost(fit, source, found.squares)
        scale = found.factor(n, p - (nested_freedom(source, joined[:2]) if found.kind == "CR1" else 0.0))
        if len(found.groups) == 1:
            root, notes = found.root(0, scale)
            return replace(fit.without_dependent(), root=design.root @ root), found.freedom, [*found.notes(), *notes]
        kept, raw = fit.without_dependent(), design.root.reshape(-1, m)
        long = np.maximum(lengths(raw), np.finfo(np.float64).tiny)[:, None]
        own, notes = root_of_difference(raw / long @ found.meat(0) @ (raw / long).T, scale, constants=len(design.root))
        root = (long * own).reshape(*design.root.shape[:2], -1)
        return replace(kept, root=root), found.freedom, [*found.notes(), *notes]
    notes = []
    design = options.tempered(design, p / n)
    if options.errors == "HAC":
        serial = lagged(source, design, options.lags, 1)
        meat, cost, notes = serial.meat, serial.squares, serial.notes(options.lags)
    else:
        scores = source.sum(Scores, design, size=m, targets=1)
        refuse_full_leverage(source, design, scores, options.errors)
        meat, cost = scores.meat, scores.squares
        notes = options.few_rows(n, p)
    check_rows_cost(fit, source, cost)
    root = design.root @ root_of(meat[0], small_sample_factor(options.errors, n, p))
    return replace(fit.without_dependent(), root=root), n - p, notes


def judge_likelihoods(
    fits: Sequence[LikelihoodFit], losses: Sequence[Loss], sources: Sequence[Source] | None, options: ErrorOptions
) -> JudgedLikelihoods:
    """Return the fits of all targets with these errors; robust ones read the rows of each."""
    rows: Sequence[Source | None] = [None] * len(fits) if sources is None else sources
    found = [judge_likelihood(fit, loss, own, options) for fit, loss, own in zip(fits, losses, rows, strict=True)]
    estimated = fits[0].family is not None and fits[0].family.estimated
    notes = tuple(dict.fromkeys(note for *_, own in found for note in own))
    return JudgedLikelihoods(fits, [fit for fit, *_ in found], options.freedom(found[0][1], estimated), options, notes)


def check_rows_weight(fit: LikelihoodFit, source: Source) -> None:
    """Refuse rows whose weight is not that of the rows fitted."""
    weight = total_weight(source)
    if abs(weight - fit.weight) > WEIGHT_TOLERANCE * fit.weight:
        raise InvalidData(
            f"these are not the rows that were fitted: their weight is {weight:g}, the model holds {fit.weight:g}. "
            "Give all rows again, with the same sample_weight."
        )


def check_rows_cost(fit: LikelihoodFit, source: Source, cost: Array) -> None:
    """Refuse rows that are not finite, or whose half deviance (1,) at the solution is not that of the fit."""
    if not np.isfinite(cost).all():
        source.refuse_nonfinite()
    known, null = -fit.log_likelihood, -fit.null
    if fit.family is not None:
        known, null = 0.5 * fit.family.deviance, 0.5 * fit.family.null_deviance
    null = abs(null) if np.isfinite(null) else known
    if not abs(float(cost.sum()) - known) <= SQUARES_TOLERANCE * known + TOTAL_TOLERANCE * null:
        raise InvalidData(
            "these are not the rows that were fitted: they have another likelihood under the model. Give the same X "
            "and y again."
        )
