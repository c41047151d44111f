"""Discriminants from class moments: w_k = Sigma^-1 (mean_k - mean), Sigma = S_within / N (5.34)-(5.41).

Everything is taken about the overall mean, so that a large mean costs no digits of the intercepts. Where the within
scatter is singular its pseudo-inverse is taken, and the certificate says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from adaline.arrays import Array
from adaline.penalties import no_penalty
from adaline.results import Certificate
from adaline.solvers.least_squares.direct import gram_name
from adaline.solvers.least_squares.factor import Factor, gram_factor, varying
from adaline.solvers.least_squares.fit import certificate, digits, judge
from adaline.sums import ClassMoments, Moments


@dataclass(frozen=True)
class Discriminant:
    """A solved discriminant, in scaled units.

    Parameters
    ----------
    within, factor : the scatter within classes, N Sigma, and its factor.
    away : (K, D) mean_k - mean. slopes : (K, D) Sigma^-1 (mean_k - mean).
    certificate : how far the slopes are right.
    """

    within: Moments
    factor: Factor
    away: Array
    slopes: Array
    certificate: Certificate

    def raw(self, u: Array) -> Array:
        """Return slopes in raw units."""
        return np.asarray(np.ldexp(u, -self.factor.scaling.scale))

    @property
    def mean(self) -> Array:
        """The overall mean, (D,)."""
        return self.factor.scaling.mean_hi


def shrunk(moments: Moments, shrinkage: float) -> Moments:
    """Return the scatter moved towards its own diagonal."""
    out = moments.copy()
    diagonal = out.second.diagonal().copy()
    out.second[:] *= 1.0 - shrinkage
    out.second[np.diag_indices(len(diagonal))] = diagonal
    return out


def discriminant(within: Moments, sums: ClassMoments) -> Discriminant:
    """Solve for Sigma^-1 (mean_k - mean), Sigma = within / N."""
    factor, relative = gram_factor(within, True, no_penalty(sums.features))
    away = sums.differences(within)
    u = factor.solve(away) * within.weight
    error = np.outer(*factor.prior_error(relative * within.excess, u, np.zeros(len(u)))) * factor.down
    found = digits(np.pad(error, ((0, 0), (1, 0))), np.pad(u, ((0, 0), (1, 0))), np.append(1.0, factor.length))
    found = found if factor.decided else 0.0
    columns = int(varying(sums.total().about_mean()).sum())
    proof = certificate(
        status=judge(factor, found, columns),
        digits=found,
        condition=factor.condition,
        rank=factor.rank,
        passes=1,
        solver=gram_name(factor) + " on class moments",
    )
    if factor.rank < columns:
        advice = (
            "the scatter within classes is singular, its pseudo-inverse was taken: use fewer columns, or "
            "GaussianClassifier with shrinkage"
        )
        proof = replace(proof, advice=advice)
    return Discriminant(within, factor, away, u, proof)
