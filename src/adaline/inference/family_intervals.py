"""Predictions of a family with intervals: of the mean, and of a new observation.

    mean:         g^-1(z -+ quantile x error of z), the ends of the interval of the output brought to the mean; an end
                  that the link does not take is its border, whose mean is 0 or infinity
    observation:  the quantiles of its distribution, taken over the distribution of z about its estimate

A normal observation with the identity link has Student's t about its mean, as in least squares. For others the
distribution function is averaged over z by Gauss and Hermite's rule, and its quantiles are found by bisection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.inference.classical import Interval, quantile
from adaline.losses import Likelihood
from adaline.solvers.smooth.likelihood import FamilyFit, LikelihoodFit

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
# halvings of an interval, which suffice until its ends are neighbouring floats; doubling it changes nothing
MOST_HALVINGS = 200


class OutputErrors(NamedTuple):
    """Outputs of rows and their standard errors, (n, K)."""

    output: Array
    error: Array


def output_errors(fits: list[LikelihoodFit], x: Array) -> OutputErrors:
    """Return outputs of rows x (n, D) and their errors; NaN where the rows fitted do not determine an output."""
    outputs, errors = [], []
    for fit in fits:
        theta, root = fit.solution.theta[0], fit.known_root("intervals")[0]
        outputs.append(x @ theta[1:] + theta[0])
        error = np.linalg.norm(x @ root[1:] + root[0], axis=1)
        varying = np.where(fit.dependence.constant, 0.0, x)
        error[~fit.dependence.determines(np.column_stack([np.ones(len(x)), varying]))] = np.nan
        errors.append(error)
    return OutputErrors(np.column_stack(outputs), np.column_stack(errors))


def family_interval(
    fits: list[LikelihoodFit],
    loss: Likelihood,
    found: OutputErrors,
    interval: str,
    level: float,
    freedom: float | None = None,
) -> Interval:
    """Return means with intervals, (n, K), "confidence" of the mean or "prediction" of a new observation.

    `freedom`: degrees of freedom of what judges an output; None for those of the fits.
    """
    parts = []
    for fit, z, error in zip(fits, found.output.T, found.error.T, strict=True):
        assert fit.family is not None
        reach = quantile(fit.freedom if freedom is None else freedom, level)
        parts.append(output_interval(fit.family, loss, z, error, interval == "prediction", level, reach))
    return Interval(*(np.column_stack(band) for band in zip(*parts, strict=True)))


def output_interval(
    family: FamilyFit, loss: Likelihood, z: Array, error: Array, prediction: bool, level: float, reach: float | Array
) -> tuple[Array, Array, Array]:
    """Return means and the ends of their intervals, or of those of new observations, of outputs (n,) with errors.

    `reach` is the quantile by which errors are multiplied, one for all or one for each.
    """

    def mean(output: Array) -> Array:
        return np.asarray(loss.mean(output[:, None])[:, 0])

    def end(output: Array) -> Array:
        return mean(np.clip(output, *loss.family.range(loss.link)))

    if not prediction:
        ends = end(z - reach * error), end(z + reach * error)
        return mean(z), np.minimum(*ends), np.maximum(*ends)
    if family.family == "gaussian" and family.link == "identity":
        half = reach * np.sqrt(family.dispersion + error**2)
        return z, z - half, z + half
    function, whole = _distribution(family)
    means = np.stack([end(z + node * error) for node in NODES])

    def below(y: Array) -> Array:
        return np.asarray(WEIGHTS @ function(y, means) / WEIGHTS.sum())

    lower, upper = (_quantile(below, share, mean(z), whole) for share in ((1 - level) / 2, (1 + level) / 2))
    return mean(z), lower, upper


def _distribution(family: FamilyFit) -> tuple[Callable[[Array, Array], Any], bool]:
    """Return the distribution function of y at means, and whether y is a whole number; refuse a family without."""
    phi, name = family.dispersion, family.family
    if name == "gaussian":
        return lambda y, m: scipy.special.ndtr((y - m) / np.sqrt(phi)), False
    if name == "gamma":
        return lambda y, m: np.where(y > 0, scipy.special.gammainc(1 / phi, np.maximum(y, 0.0) / (phi * m)), 0.0), False
    if name == "poisson" and not family.estimated and phi == 1:
        return lambda y, m: np.where(y < 0, 0.0, scipy.special.pdtr(np.maximum(y, 0.0), m)), True
    if name == "negative_binomial" and not family.estimated:
        k = family.shape
        return lambda y, m: np.where(y < 0, 0.0, scipy.special.betainc(k, np.maximum(y, 0.0) + 1, k / (k + m))), True
    raise InvalidParameter(
        "interval='prediction' is for gaussian, gamma, poisson and negative_binomial; counts whose dispersion is "
        f"estimated have no distribution. This is {name}: use interval='confidence', or loss='negative_binomial'"
    )


def _quantile(below: Callable[[Array], Array], share: float, mean: Array, whole: bool) -> Array:
    """Return the least y of each row whose distribution function is at least `share`."""
    width = np.maximum(np.abs(mean), 1.0)
    low, high = mean - width, mean + width
    for _ in range(60):
        low, high = (
            np.where(below(low) >= share, low - (high - low), low),
            np.where(below(high) < share, high + (high - low), high),
        )
        if (below(low) < share).all() and (below(high) >= share).all():
            break
    endless = below(high) < share  # some outputs have an infinite mean
    low, high = (np.floor(low), np.ceil(high)) if whole else (low, high)
    for _ in range(MOST_HALVINGS):
        middle = np.floor(0.5 * (low + high)) if whole else 0.5 * (low + high)
        if ((middle <= low) | (middle >= high) | np.isnan(middle)).all():
            break
        enough = below(middle) >= share
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.asarray(np.where(np.isnan(below(mean)), np.nan, np.where(endless, np.inf, high)))
