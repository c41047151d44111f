"""Intervals from bootstrap replicates: percentiles, BCa, and bootstrap t.

    percentile    [t(alpha), t(1 - alpha)]                                               alpha = (1 - level) / 2
    bca           the same at  Phi(z0 + (z0 + z) / (1 - a (z0 + z))),   z = Phi^-1(alpha), Phi^-1(1 - alpha)
                  z0 = Phi^-1(share of replicates below the estimate),   a = sum L^3 / (6 (sum L^2)^(3/2))
    studentised   [T - se u(1 - alpha), T - se u(alpha)],   u of replicates (t_b - T) / se_b

t(p) is the (B + 1) p-th smallest replicate, between two of them by a straight line on the scale of normal quantiles, as
in R's package boot. L is the jackknife's influence of a row, or of a group.

B. Efron, JASA 82 (1987), 171-185 (BCa); T. J. DiCiccio and B. Efron, Statistical Science 11 (1996), 189-228.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy

from adaline.arrays import Array

BootstrapInterval = Literal["bca", "percentile", "studentised"]


def percentile_ends(replicates: Array, level: float) -> Array:
    """Return the ends (2, q) of percentile intervals; replicates are (B, q).

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.inference.bootstrap_intervals import percentile_ends
    >>> percentile_ends(np.arange(1.0, 20.0)[:, None], 0.9).ravel()
    array([ 1., 19.])
    """
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    return order_statistics(replicates, np.repeat(shares[:, None], replicates.shape[1], axis=1))


def bca_ends(replicates: Array, estimate: Array, acceleration: Array, level: float) -> Array:
    """Return the ends (2, q) of bias-corrected and accelerated intervals."""
    z = scipy.special.ndtri([(1 - level) / 2, (1 + level) / 2])[:, None]
    z0 = scipy.special.ndtri((replicates < estimate).mean(axis=0))
    with np.errstate(invalid="ignore"):
        return order_statistics(replicates, scipy.special.ndtr(z0 + (z0 + z) / (1 - acceleration * (z0 + z))))


def studentised_ends(replicates: Array, errors: Array, estimate: Array, error: Array, level: float) -> Array:
    """Return the ends (2, q) of bootstrap-t intervals, by the standard errors (B, q) and (q,)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(estimate - error * percentile_ends((replicates - estimate) / errors, level)[::-1])


def order_statistics(values: Array, shares: Array) -> Array:
    """Return quantiles of each column of values (B, q) at its own shares (m, q); NaN where a share is."""
    ascending, count = np.sort(values, axis=0), len(values)
    rank = (count + 1) * shares
    # a rank that is whole but for the rounding of the share is whole
    rank = np.where(np.abs(rank - np.rint(rank)) < 1e-9 * count, np.rint(rank), rank)
    known = np.isfinite(rank)
    below = np.clip(np.where(known, np.floor(rank), 1), 1, count).astype(np.intp)
    above = np.minimum(below + 1, count)
    low, high, own = (scipy.special.ndtri(part / (count + 1)) for part in (below, above, np.clip(rank, below, above)))
    with np.errstate(invalid="ignore"):
        part = np.where(high > low, (own - low) / (high - low), 0.0)
    first, second = (np.take_along_axis(ascending, k - 1, axis=0) for k in (below, above))
    return np.where(known, first + part * (second - first), np.nan)
