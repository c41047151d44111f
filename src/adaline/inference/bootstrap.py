"""The bootstrap: coefficients of replicates with random weights, and the intervals that they give.

    theta_b = theta + A d_b,   (M_b + P) d_b = g_b - g_0        least squares and ridge, P = 1 - M_0 the penalty

in the coordinates of covariance.py, where all rows together have M_0 + P = 1. A replicate is the exact fit to the rows
with its weights (`sums/replicates.py`), and digits are lost only as far as the replicate is worse conditioned than the
fit. A replicate whose rows leave a coefficient open is left out, and counted.

B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993); A. C. Davison and D. V. Hinkley, Bootstrap
Methods and their Application (1997).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.inference.covariance import check_squares, check_weight, coordinates, factor_of, lens
from adaline.inference.sample import Sample
from adaline.solvers import lapack
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sums.replicates import ReplicateMoments, ReplicatePoint, Replicates, unpacked

MOST_SUMS = 2**24  # numbers of the sums of one pass, 128 MiB a thread; doubled: half the passes where these are many
OPEN = 1e-10  # least pivot of M_b + P, beside 1, below which a replicate leaves a coefficient open; 10x larger: more do


class Replicated(NamedTuple):
    """Coefficients of a fit and of its replicates.

    Parameters
    ----------
    estimate : (q,) all targets one after the other, intercept first.
    replicates : (B, q), NaN where a replicate leaves a coefficient open.
    passes : over the rows.
    """

    estimate: Array
    replicates: Array
    passes: int


def replicate_regression(fit: Fit, source: Source, sample: Sample, drawn: Replicates, wild: bool = False) -> Replicated:
    """Return the coefficients of least squares or ridge under the weights of replicates; rows are those fitted."""
    fit = fit.without_dependent()
    check_weight(source, fit, sample)
    design, targets = lens(fit, sample.precision), len(fit.squares)
    a = coordinates(fit, np.eye(fit.solution.theta.shape[1]))
    m, own = a.shape[1], slice(0 if factor_of(fit).scaling.intercept else 1, None)  # the constant's coordinate is zero
    lots = _lots(drawn, m * (m + 1) // 2 + targets * (m + 1))
    out = np.empty((drawn.count, targets, len(a)))
    for lot in lots:
        point = ReplicatePoint(design, lot, wild)
        sums = source.sum(ReplicateMoments, point, count=lot.count, size=m, targets=targets).sums
        check_squares(source, fit, sums[0, -targets:])
        pairs = m * (m + 1) // 2
        moments, scores = unpacked(sums[:, :pairs], m), sums[:, pairs:-targets].reshape(-1, targets, m)
        penalty = np.eye(m) - moments[0] if fit.penalty.any() else np.zeros((m, m))
        if wild:
            moments[1:] = moments[0]
            scores[1:] += scores[0]
        right = scores[1:] - (scores[0] if fit.penalty.any() else 0.0)
        steps = _solved((moments[1:] + penalty)[:, own, own], right[:, :, own])
        scale = factor_of(fit).scaling.target_scale[:, None]
        out[lot.first - drawn.first :][: lot.count] = fit.solution.theta + np.ldexp(steps @ a[:, own].T, scale)
    return Replicated(fit.solution.theta.ravel(), out.reshape(drawn.count, -1), len(lots))


def _lots(drawn: Replicates, numbers: int) -> list[Replicates]:
    """Return the replicates in lots, the sums of which fit into memory, each of so many numbers."""
    most = max(MOST_SUMS // numbers, 1)
    end = drawn.first + drawn.count
    return [drawn._replace(first=k, count=min(most, end - k)) for k in range(drawn.first, end, most)]


def _solved(matrices: Array, right: Array) -> Array:
    """Return the solutions of positive definite systems (B, m, m) for right sides (B, K, m); NaN where they are not."""
    out = np.full_like(right, np.nan)
    for i, (matrix, sides) in enumerate(zip(matrices, right, strict=True)):
        factor, fault = lapack.dpotrf(matrix)
        if not fault and factor.diagonal().min() > np.sqrt(OPEN):
            out[i] = lapack.dpotrs(factor, sides.T)[0].T
    return out
