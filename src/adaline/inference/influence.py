"""The influence of single rows on a fit (one pass), and the dependence among columns (no pass).

    h = z'z                                    leverage
    r / (s sqrt(1 - h))                        internally studentised ("standardised") residual
    t = that, with s taken without the row     externally studentised residual
    Cook's D = standardised^2 h / (1 - h) / p  how far all predictions move without the row
    DFFITS = t sqrt(h / (1 - h))               how far the row's own prediction moves
    r / (1 - h)                                residual of the row in the fit to all others (also with a penalty)
    DFBETAS = A z r / (1 - h) / (s A_j)        how far coefficients move, in standard errors, s taken without the row

For a likelihood h = W z'z, with W Fisher's information of the row. Residuals are Pearson's, (t - mean) / sd, or those
of the deviance, sign(t - mean) (2 (loss - least loss))^(1/2). As in R, Cook's distance uses Pearson's and the others
the deviance's: they are those of one step of a refit, not of the refit itself. If means fall as outputs rise (link
"inverse"), DFBETAS have the sign of the step; R's have the opposite sign.

Of three or more classes a row has K coupled outputs, Z = A'(1, x) is (m, K), and its leverage the trace of Z V Z', V
the second derivatives of its loss. A Newton step without the row moves coefficients by A s, s = (1 - Z V Z')^-1 Z r:

    Cook's D = s's / p,   DFBETAS = A s / A_j,   deviance = (-2 ln P(own class))^(1/2)

R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982); D. A. Belsley, E. Kuh and R. E. Welsch,
Regression Diagnostics (1980); D. A. Williams, Applied Statistics 36 (1987), 181-191; E. Lesaffre and A. Albert, Applied
Statistics 38 (1989), 425-440, for classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from adaline.arrays import Array, host, weighted
from adaline.block import Block
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.covariance import (
    FULL_LEVERAGE,
    check_squares,
    check_weight,
    coordinates,
    factor_of,
    lengths,
    lens,
)
from adaline.inference.likelihood import check_maximum
from adaline.inference.sample import Sample
from adaline.inference.sandwich import check_rows_cost, check_rows_weight, count_observations, fitted_rows
from adaline.losses import Loss, Offset
from adaline.solvers.least_squares.factor import Factor
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources import Source
from adaline.sources.views import weights_or_ones
from adaline.sums.scores import runs

UNIT_DISPERSION = ("binomial", "poisson")  # losses whose studentised residuals R leaves as they are
# share of a column outside the span of the rows beyond which it takes part in a dependence; 10x larger reports fewer
# columns
IN_DEPENDENCE = 1e-6


class Influence(NamedTuple):
    """Arrays (n,), or (n, K) with several targets (leverage is (n,) either way).

    Rows of leverage 1, whose residual is zero whatever their target, and rows of weight zero have NaN where a measure
    does not exist; so has every row of a fit that is exact to rounding, except for its leverage and its residual.
    """

    leverage: Array
    residual: Array
    standardized: Array
    studentized: Array
    cooks_distance: Array
    dffits: Array


class CoefficientInfluence(NamedTuple):
    """The same, and what each row does to coefficients: `dfbetas`, (n, 1 + D), intercept first, or (n, K, 1 + D)."""

    leverage: Array
    residual: Array
    standardized: Array
    studentized: Array
    cooks_distance: Array
    dffits: Array
    dfbetas: Array


class LikelihoodInfluence(NamedTuple):
    """Arrays (n,); `dfbetas` is (n, 1 + D), intercept first.

    residual : target less its mean. pearson, deviance : the residuals of that name. standardized : the deviance's over
    (dispersion (1 - h))^(1/2). studentized : of both, as if the row had been left out. The others as for `Influence`.
    """

    leverage: Array
    residual: Array
    pearson: Array
    deviance: Array
    standardized: Array
    studentized: Array
    cooks_distance: Array
    dffits: Array
    dfbetas: Array


class ClassInfluence(NamedTuple):
    """Of three or more classes, arrays (n,), of which `residual`, 1 for the own class and 0 for others less their
    probabilities, and `pearson`, that over (p (1 - p))^(1/2), are (n, K), and `dfbetas` (n, coefficients).

    Measures are those of one Newton step without the row, NaN for rows of leverage 1.
    """

    leverage: Array
    residual: Array
    pearson: Array
    deviance: Array
    cooks_distance: Array
    dfbetas: Array


def class_influence(fit: LikelihoodFit, loss: Loss, source: Source, coefficients: Array) -> ClassInfluence:
    """Return the measures of all rows of coupled outputs, in one pass over the rows given again.

    `coefficients` (q, K, 1 + D) are the combinations of the machines' coefficients that DFBETAS are about.
    """
    _check_influence(fit, source)
    design = fitted_rows(fit, loss, source)._replace(power=2.0)
    k, _, m = design.root.shape
    width = 4 + m + loss.mean(np.zeros((1, k))).shape[1]

    def rows(block: Block) -> Array:
        parts = []
        for run in runs(block):
            step, _, _, largest, cost = (host(part) for part in design.read(run))
            outputs, t = host(design.outputs(run)), host(run.t)[:, : design.targets]
            z, second = host(design.coordinates(run)).reshape(-1, k, m), design.second(outputs, t)
            trace = np.einsum("nkm,nkl,nlm->n", z, second, z)[:, None]
            mean = loss.predicted(outputs, t) if isinstance(loss, Offset) else loss.mean(outputs)
            parts.append(np.concatenate([trace, largest[:, None], cost, t[:, :1], step, mean], axis=1))
        return np.concatenate(parts or [np.empty((0, width))])

    found = source.map(rows)
    leverage, largest, cost, t = found[:, :4].T
    weight, p = weights_or_ones(source), found[:, 4 + m :]
    check_rows_cost(fit, source, np.atleast_1d(weighted(weight, cost).sum()))
    step = np.where(((1.0 - largest > FULL_LEVERAGE) & (weight > 0))[:, None], found[:, 4 : 4 + m], np.nan)
    residual = (np.arange(p.shape[1]) == t[:, None]) - p
    along = np.einsum("qkd,kdm->qm", coefficients, design.root)
    return ClassInfluence(
        np.where(weight > 0, leverage, 0.0),
        residual,
        residual / np.sqrt(p * (1.0 - p)),
        np.sqrt(2.0 * cost),
        (step**2).sum(axis=1) / fit.parameters,
        step @ (along / lengths(along)[:, None]).T,
    )


def _check_influence(fit: LikelihoodFit, source: Source) -> None:
    """Refuse a fit that is no maximum of the likelihood, and rows that are not those fitted."""
    check_maximum(fit, "measures of influence")
    if fit.penalised or fit.firth:
        raise InvalidParameter(
            "influence is that of rows on a maximum of the likelihood: use penalty=0, l1=0 and firth=False"
        )
    check_rows_weight(fit, source)


def likelihood_influence(fit: LikelihoodFit, loss: Loss, source: Source) -> LikelihoodInfluence:
    """Return the measures of all rows of one machine's likelihood, in one pass over the rows given again."""
    _check_influence(fit, source)
    linked = loss.linked
    assert linked is not None
    design = fitted_rows(fit, loss, source)
    dispersion, m = design.dispersion, design.root.shape[2]

    def rows(block: Block) -> Array:
        parts = []
        for run in runs(block):
            z, slope, _, leverage, cost = (host(part) for part in design.read(run))
            outputs, t = host(design.outputs(run)), host(run.t)[:, : design.targets]
            each = (leverage[:, None], slope, linked.expected(outputs, t), cost, linked.predicted(outputs, t), z)
            parts.append(np.concatenate(each, axis=1))
        return np.concatenate(parts or [np.empty((0, 5 + m))])

    leverage, slope, information, cost, mean = (found := source.map(rows))[:, :5].T
    weight, t = weights_or_ones(source), source.read_targets()[:, : design.targets - source.targets.offset]
    check_rows_cost(fit, source, np.atleast_1d(weighted(weight, cost).sum()))
    trials, own = (np.sqrt(weight), np.ones_like(weight)) if design.precision else (np.ones_like(weight), weight)
    heavy = (weight > 0) & linked.family.observed(t)
    t = np.where(heavy[:, None], t, np.nan) if t.shape[1] == 2 else t  # rows without trials have no measures
    residual = (t[:, 0] / t.sum(axis=1) if t.shape[1] == 2 else t[:, 0]) - mean
    rising = np.sign(slope) * np.sign(residual)  # whether means rise with outputs
    pearson = trials * dispersion * slope * rising / np.sqrt(information)
    deviance = trials * np.sign(residual) * np.sqrt(2 * np.maximum(cost, 0.0))
    rest = np.where((1.0 - leverage > FULL_LEVERAGE) & heavy, 1.0 - leverage, np.nan)
    freedom = count_observations(fit) - fit.parameters - 1.0
    left = own[heavy] @ deviance[heavy] ** 2 - deviance**2 / rest
    sigma = np.sqrt(np.maximum(left, 0.0) / (freedom if freedom > 0 else np.nan))
    likely = np.sign(deviance) * np.sqrt(deviance**2 + leverage * pearson**2 / rest)
    pull = rising * trials * np.sqrt(information / dispersion) * deviance / (rest * sigma)
    known = linked.family.name in UNIT_DISPERSION and np.isinf(fit.freedom)
    return LikelihoodInfluence(
        leverage,
        residual,
        pearson,
        deviance,
        deviance / np.sqrt(dispersion * rest),
        likely if known else likely / sigma,
        (pearson / rest) ** 2 * leverage / (dispersion * fit.parameters),
        deviance * np.sqrt(leverage) / (sigma * rest),
        (found[:, 5:] @ design.root[0].T) * pull[:, None] / lengths(design.root[0]),
    )


def influence(
    fits: Sequence[Fit], sources: Sequence[Source], sample: Sample, flat: bool, dfbetas: bool = False
) -> Influence | CoefficientInfluence:
    """Return the measures of all rows, targets side by side, or, where `flat`, vectors of the only one."""
    if any(fit.penalty.any() for fit in fits):
        raise InvalidParameter(
            "no influence for a penalised fit: leave-one-out formulas of its variance do not hold. Use "
            "LinearRegression, or penalty=0."
        )
    parts = [_influence(fit, source, sample, dfbetas) for fit, source in zip(fits, sources, strict=True)]
    kind = type(parts[0])
    if flat:
        return kind(*(v[:, 0] if v.ndim > 1 else v for v in parts[0]))
    columns = [np.concatenate(values, axis=1) for values in zip(*(part[1:] for part in parts), strict=True)]
    return kind(parts[0].leverage, *columns)


class LeaveOneOutResult(NamedTuple):
    """Residuals (n, K) of all rows in the fit, and of each row in the fit to all others; weights (n,)."""

    residual: Array
    left_out: Array
    weight: Array


def left_out_residuals(fit: Fit, source: Source, sample: Sample) -> LeaveOneOutResult:
    """Return the exact leave-one-out residuals of a fit, penalised or not: r / (1 - h), without a refit.

    A row of weight w is w copies, of which one is left out; a precision belongs to the row as a whole.
    """
    leverage, residual, weight = _diagnostics(fit, source, sample)
    rest = 1.0 - leverage
    if (full := (rest <= FULL_LEVERAGE) & (weight > 0)).any():
        raise InvalidData(
            f"row {int(full.argmax())} has leverage 1: the other rows do not determine its prediction, so it has no "
            "leave-one-out error"
        )
    return LeaveOneOutResult(residual, residual / rest[:, None], weight)


def inflation(factor: Factor) -> Array:
    """Return VIF_j = S_jj (S^-1)_jj = 1 / (1 - R^2 of column j on the others), (D,); infinite where that R^2 is 1."""
    d = factor.scaling.features
    dependent = ~factor.alive | (factor.untestable(np.eye(d)) > IN_DEPENDENCE)
    return np.where(dependent, np.inf, (factor.length * factor.inverse_lengths()) ** 2)


def _influence(fit: Fit, source: Source, sample: Sample, dfbetas: bool) -> Influence | CoefficientInfluence:
    """Return the measures of all rows, (n, K), of one fit, block by block."""
    leverage, residual, weight = _diagnostics(fit, source, sample)
    p, freedom = fit.trace, sample.n - fit.trace
    rest = np.where((1.0 - leverage > FULL_LEVERAGE) & (weight > 0), 1.0 - leverage, np.nan)[:, None]
    root = np.sqrt(weight)[:, None] if sample.precision else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        known = (freedom > 0.5) & ~fit.exact
        sigma = fit.unit * np.sqrt(np.where(known, fit.squares / freedom, np.nan))
        standardized = root * residual / (sigma * np.sqrt(rest))
        without = np.where(freedom > 1.5, freedom - 1.0, np.nan)
        studentized = standardized * np.sqrt(without / np.maximum(freedom - standardized**2, 0.0))
        odds = leverage[:, None] / rest
    found = (leverage, residual, standardized, studentized, standardized**2 * odds / p, studentized * np.sqrt(odds))
    if not dfbetas:
        return Influence(*found)
    along = coordinates(fit, np.eye(fit.solution.theta.shape[1]))  # A z / A_j, times r / (s (1 - h))
    along[1:][~factor_of(fit).alive] = np.nan
    through = lens(fit, sample.precision)
    z = source.map(lambda block: np.concatenate([host(through.read(run).z) for run in runs(block)]))
    share = (z @ (along / lengths(along)[:, None]).T) * root
    return CoefficientInfluence(*found, (studentized / np.sqrt(rest))[:, :, None] * share[:, None, :])


def _diagnostics(fit: Fit, source: Source, sample: Sample) -> tuple[Array, Array, Array]:
    """Return leverages (n,), residuals (n, K) in raw units and weights (n,) of the rows that were fitted."""
    check_weight(source, fit, sample)
    through = lens(fit, sample.precision)
    targets = len(fit.squares)

    def rows(block: Block) -> Array:
        each = (through.read(run) for run in runs(block))  # one at a time: their rotated rows are dense
        parts = [np.column_stack([host(part.leverage), host(part.residual)]) for part in each]
        return np.concatenate(parts or [np.empty((0, 1 + targets))])

    found = source.map(rows)
    given = source.read_weights()
    weight = np.ones(len(found)) if given is None else host(given)
    check_squares(source, fit, weight @ found[:, 1:] ** 2)
    return found[:, 0], np.ldexp(found[:, 1:], factor_of(fit).scaling.target_scale), weight
