"""One mixture of Gaussians for each class: Bayes' decision with mixture densities (row A25)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidData
from adaline.namespaces import host, is_sparse
from adaline.results import Certificate, Status
from adaline.solvers.components import Kind, raw
from adaline.solvers.fit import certificate
from adaline.solvers.mixing import Plan, fit_mixture
from adaline.sources import Source
from adaline.sources.recoded import of_class
from adaline.sums import ClassMoments, Components, Moments
from adaline.sums.mixture import log_joint, log_total

Array = NDArray[np.float64]

FLOOR = 1e-6  # of a class's variances, added to those of its components
TOL, MOST_STEPS = 1e-6, 300


class ClassMixtures(NamedTuple):
    """The mixtures of all classes in raw units, their covariances, log-likelihood of the rows, and whether EM ended."""

    components: list[Components]
    covariances: Array
    value: float
    converged: bool

    def certificate(self, log_priors: float, source: Source) -> Certificate:
        """Return what is known of the fit: a local optimum of each class."""
        return certificate(
            status=Status.SOLVED if self.converged else Status.NOT_CONVERGED,
            objective=-(self.value + log_priors),
            gradient=np.nan,
            gap=np.inf,
            digits=np.nan,
            condition=np.nan,
            rank=source.shape.features,
            passes=source.total_reads(),
            solver="EM for each class",
        )


def class_mixtures(
    source: Source, sums: ClassMoments, kind: Kind, components: int, draw: np.random.Generator
) -> ClassMixtures:
    """Fit a mixture to the rows of every class, whose moments tell the floor of its variances."""
    found = []
    overall = _variances(sums.total())
    for k, part in enumerate(sums.parts):
        variance = _variances(part)
        floor = FLOOR * np.where(variance > 0, variance, np.where(overall > 0, overall, 1.0))
        plan = Plan(components, kind, floor, TOL, MOST_STEPS)
        try:
            found.append(fit_mixture(of_class(source, k, len(sums.parts)), plan, draw))
        except InvalidData as error:
            raise InvalidData(f"class {k}: {error}") from None
    mixtures = [raw(one.mixture) for one in found]
    return ClassMixtures(
        [one.components for one in mixtures],
        np.stack([one.covariances for one in mixtures]),
        float(sum(w * one.values[-1] for w, one in zip(sums.weights, found, strict=True))),
        all(one.converged for one in found),
    )


def _variances(part: Moments) -> Array:
    return np.asarray(np.exp2(2 * part.exponent) * part.second.diagonal() / part.weight)


def densities(x: Any, mixtures: list[Components]) -> Array:
    """Return ln p(x | c_k) of rows, (n, K)."""
    x = x.toarray() if is_sparse(x) else host(x)
    return np.concatenate([log_total(log_joint(x, one)) for one in mixtures], axis=1)
