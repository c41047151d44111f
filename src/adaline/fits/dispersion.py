"""The most likely dispersion of a family at given means, and the log-likelihood there.

    l(phi) = sum of log densities at mean = t - deviance / (2 phi),   Newton's steps in s = ln phi

One read of the rows gives the log densities at five dispersions, phi exp(i STRIDE), i = -2 .. 2; their differences give
l'(s) and l''(s). Means and dispersion are orthogonal, so the means need not be fitted again. The standard error of phi
is phi (-l'')^(-1/2). For a gamma distribution 1 / phi is the shape, as in R's MASS::gamma.shape.

P. K. Dunn, G. K. Smyth, Generalized Linear Models With Examples in R (2018), 6.8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.losses import Family
from adaline.sources import Source
from adaline.sums import Densities

STRIDE = 0.01  # of ln phi; doubling it multiplies the error of the differences by 16, halving it their rounding by 4
MOST_STEPS = 50  # doubling it matters where the likelihood has no maximum
SETTLED = 1e-9  # step of ln phi that is the last; 10x larger loses a digit
LONGEST_STEP = 2.0
PLACES = STRIDE * np.arange(-2.0, 3.0)
SLOPE = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12 * STRIDE)
BEND = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12 * STRIDE**2)


class LikelyDispersion(NamedTuple):
    """For each deviance the most likely dispersion, its standard error, and the log-likelihood."""

    dispersion: Array
    error: Array
    log_likelihood: Array


def likely_dispersion(
    source: Source, family: Family, deviances: Array, count: float, precision: bool, free: float = 0.0
) -> LikelyDispersion:
    """Return the most likely dispersions for deviances (m,) of `count` observations; `precision` as in `Densities`.

    A deviance of zero has the dispersion 0, and no log-likelihood. `free` are coefficients without a penalty over which
    the likelihood is integrated, which adds ln phi / 2 for each.
    """
    fits = deviances > 0
    found = LikelyDispersion(*np.where(fits, np.nan, [[0.0], [0.0], [np.nan]]))
    if not fits.any():
        return found
    s = np.log(deviances[fits] / (count - free))
    for _ in range(MOST_STEPS):
        phi = np.exp(s[:, None] + PLACES)
        sums = source.sum(Densities, (family, phi.ravel().tolist(), precision), size=phi.size).sums.reshape(phi.shape)
        likely = sums - 0.5 * deviances[fits, None] / phi + 0.5 * free * np.log(phi)
        slope, bend = likely @ SLOPE, likely @ BEND
        step = np.where(bend < 0, -slope / np.where(bend < 0, bend, 1.0), np.sign(slope))
        if not (np.abs(step) > SETTLED).any():
            break
        s = s + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    with np.errstate(invalid="ignore"):
        error = phi[:, 2] / np.sqrt(-bend)
    found.dispersion[fits], found.error[fits], found.log_likelihood[fits] = phi[:, 2], error, likely[:, 2]
    return found
