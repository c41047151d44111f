"""The M step of EM, and the four forms of covariances: full, tied, diag and spherical.

    N_k, m_k, S_k : moments of gamma_k about the old mean,   shift_k = m_k / N_k
    pi_k = N_k / N,   mean_k += shift_k,   Sigma_k = S_k / N_k - shift_k shift_k' + floor

tied: one Sigma = sum_k (S_k - N_k shift_k shift_k') / N + floor. diag: the diagonal alone. spherical: its mean.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal, NamedTuple

import numpy as np
from scipy import linalg

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.solvers import lapack
from adaline.sums import Components, MixtureMoments, View

CovarianceType = Literal["full", "tied", "diag", "spherical"]


class CovarianceForm(Enum):
    """Which covariances the components have."""

    FULL = "full"
    TIED = "tied"
    DIAG = "diag"
    SPHERICAL = "spherical"

    @property
    def whole(self) -> bool:
        """Whether they are matrices."""
        return self in (CovarianceForm.FULL, CovarianceForm.TIED)

    def parameters(self, components: int, features: int) -> int:
        """Return the number of free parameters of a mixture with K components of D columns."""
        triangle = features * (features + 1) // 2
        size = {"full": components * triangle, "tied": triangle, "diag": components * features, "spherical": components}
        return size[self.value] + components * features + components - 1


class Mixture(NamedTuple):
    """Components, and their covariances in the same view: (K, D, D), or (K, D) where they are not matrices."""

    components: Components
    covariances: Array


def m_step(sums: MixtureMoments, old: Mixture, kind: CovarianceForm, floor: Array) -> Mixture:
    """Return the mixture of greatest expected likelihood; a component without rows stays as it was.

    `floor` (D,) is added to the variances.
    """
    moments, d = sums.moments, sums.features
    components = old.components
    weight = moments[:, -1, -1] if kind.whole else moments[:, -1]
    occupied = weight > 0
    n = np.where(occupied, weight, 1.0)
    shift = (moments[:, :d, -1] if kind.whole else moments[:, :d]) / n[:, None]
    if kind.whole:
        scatter = moments[:, :d, :d] - n[:, None, None] * shift[:, :, None] * shift[:, None, :]
        if kind is CovarianceForm.TIED:
            covariances = np.broadcast_to(scatter[occupied].sum(axis=0) / weight.sum(), scatter.shape)
        else:
            covariances = scatter / n[:, None, None]
        covariances = covariances + np.diag(floor)
    else:
        covariances = np.maximum(moments[:, d : 2 * d] / n[:, None] - shift**2, 0.0) + floor
        if kind is CovarianceForm.SPHERICAL:
            covariances = np.repeat(covariances.mean(axis=1, keepdims=True), d, axis=1)
    if kind is not CovarianceForm.TIED:
        covariances[~occupied] = old.covariances[~occupied]
    with np.errstate(divide="ignore"):
        log_weights = np.log(weight / weight.sum())
    return make_mixture(log_weights, components.means + shift, covariances, components.view)


def make_mixture(log_weights: Array, means: Array, covariances: Array, view: View) -> Mixture:
    """Return a mixture, with the factors of its covariances."""
    factors = roots(covariances)
    return Mixture(Components(log_weights, np.ascontiguousarray(means), factors, view), covariances)


def in_raw_units(mixture: Mixture) -> Mixture:
    """Return a mixture in raw units."""
    inner, scale = mixture.components, mixture.components.view.scale
    view = View(np.ones_like(scale), np.zeros_like(scale))
    means = (inner.means - inner.view.offset) / scale
    if inner.factors.ndim == 2:
        return Mixture(
            Components(inner.log_weights, means, inner.factors * scale, view), mixture.covariances / scale**2
        )
    components = Components(inner.log_weights, means, inner.factors * scale[:, None], view)
    return Mixture(components, mixture.covariances / np.outer(scale, scale))


def roots(covariances: Array) -> Array:
    """Return P, upper triangular, with P P' = Sigma^-1; or 1 / sqrt of variances."""
    if covariances.ndim == 2:
        if not (covariances > 0).all():
            raise InvalidData(_SINGULAR)
        return np.asarray(1 / np.sqrt(covariances))
    return np.stack([_root(one) for one in covariances])


def _root(covariance: Array) -> Array:
    size = np.sqrt(np.diagonal(covariance))
    if not (size > 0).all():
        raise InvalidData(_SINGULAR)
    try:
        lower = lapack.cholesky(covariance / np.outer(size, size), lower=True)
    except linalg.LinAlgError:
        raise InvalidData(_SINGULAR) from None
    inverse = lapack.dtrtri(lower, lower=1)[0]
    return np.asarray(np.ascontiguousarray(inverse.T) / size[:, None])


_SINGULAR = (
    "a component's covariance became singular: it holds too few different rows, or columns depend on each other. "
    "Fewer components, or a larger reg_covar (it is added to the variances, in squared units of the columns), will help"
)
