"""The series of Wright's function that densities of compound poisson amounts are made of.

    W(x) = sum over k >= 1 of x^k / (k! Gamma(a k)),   a > 0,   x > 0

The terms rise to about k = (x / a^a)^(1 / (1 + a)) and fall like a normal density of variance k / (1 + a). Where that
is wide, the sum is the integral, by Poisson's formula, and the trapezoidal rule at half a standard deviation has all
its digits (the error is exp(-8 pi^2)). Many values of x share a Chebyshev polynomial in ln x.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.polynomial import Chebyshev

from adaline.arrays import Array

WIDE, HIGH = 2.0, 400.0  # standard deviation and place of the largest term from which on the sum is an integral
# standard deviations from the largest term up to which terms are summed, to exp(-72) of it; doubling it sums twice as
# many
MOST_DEVIATIONS = 12.0
DEGREES = (24, 32, 48, 64, 96, 128)
# size of the last coefficients of a polynomial, relative to the largest, at which it is accepted; 10x larger loses a
# digit
POLYNOMIAL_ACCURACY = 2.0**-46
CHUNK_VALUES = 2**10  # values of x at a time; doubling it takes twice the memory


def log_wright(a: float, log_x: Array) -> Array:
    """Return ln W, shaped like log_x, an array of any shape.

    Examples
    --------
    >>> from adaline.losses.wright import log_wright
    >>> log_wright(1.0, np.log([2.0])).round(6)  # sqrt(2) I_1(2 sqrt(2)), a Bessel function
    array([1.566461])
    """
    each = np.asarray(log_x, dtype=np.float64).ravel()
    low, high = each.min(initial=np.inf), each.max(initial=-np.inf)
    for degree in DEGREES:
        if len(each) < 4 * degree or not low < high:
            break
        fitted = Chebyshev.interpolate(lambda s: _log_sums(a, s), degree, domain=[low, high])
        if np.abs(fitted.coef[-4:]).max() <= POLYNOMIAL_ACCURACY * np.abs(fitted.coef).max():
            return np.asarray(fitted(each).reshape(np.shape(log_x)))
    parts = [_log_sums(a, each[i : i + CHUNK_VALUES]) for i in range(0, len(each), CHUNK_VALUES)]
    return np.concatenate([*parts, np.empty(0)]).reshape(np.shape(log_x))


def _log_sums(a: float, s: Array) -> Array:
    """Return ln W for ln x = s, (n,); NaN where the largest term is beyond all numbers."""
    top = np.exp((s - a * np.log(a)) / (1 + a))
    sigma = np.sqrt(top / (1 + a))
    wide = ~((sigma <= WIDE) | (top <= HIGH) | (top <= 2 * MOST_DEVIATIONS * np.where(top < np.inf, sigma, 0.0)))
    out = np.empty(len(s))
    places = np.arange(-2 * MOST_DEVIATIONS, 2 * MOST_DEVIATIONS + 1) / 2
    out[wide] = _log_sum(a, s[wide], top[wide, None] + sigma[wide, None] * places) + np.log(sigma[wide] / 2)
    top, sigma = top[~wide], sigma[~wide]
    first = np.maximum(np.floor(top - MOST_DEVIATIONS * sigma) - 20.0, 1.0)
    count = 2 * MOST_DEVIATIONS * sigma.max(initial=0.0) + 100
    out[~wide] = _log_sum(a, s[~wide], first[:, None] + np.arange(np.ceil(count)))
    return out


def _log_sum(a: float, s: Array, k: Array) -> Array:
    """Return the logarithm of the sum of the terms k (n, m) for ln x = s, (n,)."""
    return np.asarray(
        scipy.special.logsumexp(k * s[:, None] - scipy.special.gammaln(k + 1) - scipy.special.gammaln(a * k), axis=1)
    )
