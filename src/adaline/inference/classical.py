"""Classical inference from the same sums as the fit: standard errors, tests, intervals, information criteria.

    sigma^2 = SSE / (N - p),   Cov(w) = sigma^2 (S + P)^-1,   Var(w0) = sigma^2 (1/W + mean'(S + P)^-1 mean)

W is the sum of the weights. N is the same where weights count as frequencies; where they are precisions it is the
number of rows of positive weight, and the log-likelihood gains half the sum of their logarithms. With a penalty, Cov is
the posterior covariance under the prior (5.18) and p the trace of the hat matrix. Robust covariances replace Cov: then
single coefficients are judged by the normal distribution and all slopes together by F on the robust covariance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from adaline.arrays import Array
from adaline.errors import InvalidParameter, SumsMissing
from adaline.inference.covariance import (
    CLASSICAL,
    Covariance,
    ErrorOptions,
    JudgedRegression,
    classical,
    lengths,
    why_no_factor,
)
from adaline.inference.sample import Sample
from adaline.results import made
from adaline.solvers.least_squares.fit import Fit

LOG_2PI = float(np.log(2 * np.pi))
EXACT_FIT = "the fit is exact to rounding: tests and likelihood are left out, as the residuals measure no error"
NO_EXACT_TESTS = "no tests: the fit is exact to rounding, so the residuals measure no error. Read the coefficients."
# share of a row outside the span of the fitted rows from which its prediction is undetermined; 10x larger predicts
# more rows
EXTRAPOLATED = 1e-6


class Interval(NamedTuple):
    """Predictions with lower and upper ends of their intervals, arrays of one shape."""

    prediction: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class CoefficientStatistics:
    """Statistics of coefficients: arrays are (1 + D), intercept first; NaN where they do not exist."""

    estimate: Array
    std_error: Array
    statistic: Array
    p_value: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Inference(CoefficientStatistics):
    """Statistics of one target: of its coefficients, and of the fit."""

    r_squared: float
    within_r_squared: float
    adjusted_r_squared: float
    sigma: float
    freedom: float
    model_freedom: float
    f_statistic: float
    f_freedom: float
    f_p_value: float
    log_likelihood: float
    aic: float
    bic: float


def infer(
    fit: Fit,
    k: int,
    intercept: bool,
    level: float,
    sample: Sample | None = None,
    robust: Covariance | None = None,
    options: ErrorOptions = CLASSICAL,
) -> Inference:
    """Return the statistics of target k; with frequencies where no sample says otherwise."""
    theta = fit.solution.theta[k]
    sample = Sample(fit.weight) if sample is None else sample
    n, p = sample.n, float(fit.trace[k])
    freedom = n - p
    squares, total = float(fit.squares[k]), float(fit.total[k])
    variance = squares / freedom if freedom > 0.5 else math.nan
    sigma = math.sqrt(variance) * float(fit.unit[k])
    error = sigma * unit_errors(fit, intercept) if robust is None else robust.std_errors()
    r_squared = 1.0 - squares / total if total > 0 else math.nan
    absorbed = sample.absorbed
    model = p - intercept - (0 if absorbed is None else absorbed.freedom)
    explained = (total - squares) / model if model > 0 else math.nan
    exact = bool(fit.exact[k])  # residuals of rounding are no measure to judge by
    f, f_freedom = math.nan if exact else explained / variance, freedom
    if robust is not None:
        f, f_freedom = (np.nan if exact or fit.penalty.any() else robust.model_f()), robust.freedom
    elif fit.projected and not exact:
        f = classical(fit, k, sample).model_f()
    within = math.nan
    if absorbed is not None and not total > 0:
        error = np.full_like(error, math.nan)
    if absorbed is not None:
        within, r_squared = r_squared, 1.0 - float(fit.rss[k]) / absorbed.total if absorbed.total > 0 else math.nan
    # otherwise sigma goes to zero, and the likelihood grows without bound; of projected columns there is none
    likely = freedom > 0.5 and not exact and not fit.projected
    spread = math.log(squares / n) + 2 * math.log(fit.unit[k]) if likely else math.nan
    likelihood = -0.5 * n * (LOG_2PI + spread + 1.0)
    likelihood += 0.5 * sample.log_weight
    statistics = judged(theta, error, level, options.freedom(freedom if robust is None else robust.freedom, True))
    chance = float(scipy.special.fdtrc(model, f_freedom, f)) if f_freedom > 0.5 and model > 0 else math.nan
    if robust is not None:
        statistics |= robust.by_draws(level)
        chance = robust.model_chance(float(f), model)
    if exact:
        statistics |= dict.fromkeys(("statistic", "p_value"), np.full_like(theta, math.nan))
    return made(
        Inference,
        **statistics,
        r_squared=r_squared,
        within_r_squared=within,
        adjusted_r_squared=1.0 - (1.0 - r_squared) * (n - intercept) / freedom if freedom > 0.5 else np.nan,
        sigma=sigma,
        freedom=freedom,
        model_freedom=model,
        f_statistic=float(f),
        f_freedom=float(f_freedom),
        f_p_value=chance,
        log_likelihood=float(likelihood),
        aic=float(2 * p - 2 * likelihood),
        bic=float(math.log(n) * p - 2 * likelihood),
    )


@np.errstate(divide="ignore", invalid="ignore")
def judged(estimate: Array, error: Array, level: float, freedom: float = np.inf) -> dict[str, Array]:
    """Return the `CoefficientStatistics` of estimates with these standard errors, by name."""
    statistic = estimate / error
    reach = quantile(freedom, level) * error
    return {
        "estimate": estimate,
        "std_error": error,
        "statistic": statistic,
        "p_value": 2 * tail(freedom, np.abs(statistic)),
        "lower": estimate - reach,
        "upper": estimate + reach,
    }


def quantile(freedom: float, level: float) -> float:
    """Return how many standard errors an interval reaches: Student's t, the normal distribution for infinity."""
    if math.isinf(freedom):
        return float(scipy.special.ndtri(0.5 + level / 2))
    return float(scipy.special.stdtrit(freedom, 0.5 + level / 2)) if freedom > 0.5 else np.nan


def tail(freedom: float, t: Array) -> Array:
    """Return the probability beyond t: Student's, the normal distribution's for infinity."""
    if math.isinf(freedom):
        return np.asarray(scipy.special.ndtr(-t))
    return np.asarray(scipy.special.stdtr(freedom, -t)) if freedom > 0.5 else np.full(len(t), np.nan)


def unit_errors(fit: Fit, intercept: bool) -> Array:
    """Return standard errors for sigma = 1, (1 + D); NaN where the solver kept no factor."""
    out = np.empty(fit.solution.theta.shape[1])
    out[0] = np.nan
    if fit.factor is None:
        out.fill(np.nan)
        return out
    scaling = fit.factor.scaling
    out[1:] = np.where(fit.factor.alive, np.ldexp(fit.factor.inverse_lengths(), -scaling.scale), np.nan)
    if intercept:
        mean = fit.factor.half(scaling.scaled_mean()[None, :])[0]
        out[0] = math.sqrt(1.0 / scaling.weight + float(mean @ mean))
    return out


def leverages(fit: Fit, x: Array) -> Array:
    """Return 1/N + (x - mean)'(S + P)^-1 (x - mean) for each row, or without 1/N where there is no intercept.

    A row that the fitted rows do not span has an infinite one: they say nothing about its prediction.
    """
    assert fit.factor is not None
    scaling = fit.factor.scaling
    d = scaling.features
    rows = np.ldexp((x - scaling.mean_hi[:d]) - scaling.mean_lo[:d], -scaling.scale)
    half = fit.factor.half(rows)
    found = np.asarray(scaling.intercept / scaling.weight + (half**2).sum(axis=1))
    return np.where(fit.factor.undetermined(rows) > EXTRAPOLATED, np.inf, found)


def half_widths(judged: JudgedRegression, x: Array, prediction: bool, level: float) -> Array:
    """Return half the widths of confidence or prediction intervals of all targets at rows x (n, D), (n, K).

    With precision weights, a new observation is one of weight 1. Robust errors have confidence intervals alone.
    """
    for fit in judged.fits:
        if fit.factor is None:
            raise SumsMissing(f"no intervals: {why_no_factor(fit)}")
    options, out = judged.options, []
    if judged.robust is not None:
        refuse_prediction(prediction, options.errors)
        options.refuse_wild("intervals of predictions")
        rows, reach = np.column_stack([np.ones(len(x)), x]), quantile(judged.freedom, level)
        for (fit, _), covariance in zip(by_target(judged.fits), judged.robust, strict=True):
            out.append(reach * np.where(np.isinf(leverages(fit, x)), np.inf, lengths(covariance.along(rows))))
        return np.column_stack(out)
    for fit, k in by_target(judged.fits):
        freedom = judged.sample.n - float(fit.trace[k])
        variance = fit.squares[k] / freedom if freedom > 0.5 else np.nan
        spread = np.sqrt(variance * (leverages(fit, x) + prediction))
        out.append(quantile(options.freedom(freedom, True), level) * fit.unit[k] * spread)
    return np.column_stack(out)


def refuse_prediction(prediction: bool, errors: str, remedy: str = ", or errors='classical'") -> None:
    """Refuse intervals of new observations under errors that assume no distribution of a row."""
    if prediction:
        raise InvalidParameter(
            f"no interval='prediction' with {errors} errors: they leave the distribution of a single row open. Use "
            f"interval='confidence'{remedy}"
        )


def by_target(fits: Sequence[Fit]) -> list[tuple[Fit, int]]:
    """Return each target as its fit and its index among the targets of that fit."""
    return [(fit, k) for fit in fits for k in range(len(fit.squares))]
