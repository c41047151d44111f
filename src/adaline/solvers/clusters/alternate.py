"""Alternating minimisation, one sum over the rows a step: Lloyd's algorithm for k-means, and EM for mixtures.

    k-means   assign each row to its nearest centre;              centre_k = mean of its rows
    EM        gamma_k = p(k | x), the E step;                     the M step, see `components.py`

k-means: neither step can raise the error, and there are finitely many assignments, so that it ends. A centre that has
lost all rows moves to the row that is farthest from its own centre, which lowers the error too.

EM: neither step can lower the likelihood but for the floor of the covariances. A step that lowers it is undone, and
ends the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.solvers.clusters.components import CovarianceForm, Mixture, m_step
from adaline.sources import Source
from adaline.sums import Centres, Clusters, Components, FarthestRow, MixtureMoments, View

# relative change of a likelihood or of moments that is rounding; 10x larger stops EM slightly earlier
ROUNDING = 2.0**-48


@dataclass(frozen=True)
class Clustering:
    """Centres (K, D) in the view, the error at the centres of each pass, and how Lloyd's algorithm ended."""

    points: Array
    errors: list[float]
    n_iter: int
    converged: bool
    settled: bool
    """Whether the last pass was at these very centres, so that its error is theirs."""


def lloyd(source: Source, start: Array, view: View, tol: float, max_iter: int) -> Clustering:
    """Move the centres to the means of their rows until the squares of their moves add up to at most tol."""
    points, errors = start, []
    for step in range(1, max_iter + 1):
        sums = source.sum(Clusters, Centres(points, view), clusters=len(points))
        errors.append(sums.error)
        occupied = sums.weight > 0
        moved = points.copy()
        moved[occupied] = sums.first[occupied] / sums.weight[occupied, None]
        if not occupied.all():
            moved = _refilled(source, Centres(points, view), moved, np.flatnonzero(~occupied))
        shift = float(((moved - points) ** 2).sum())
        points = moved
        if shift <= tol:
            return Clustering(points, errors, step, True, shift == 0)
    return Clustering(points, errors, max_iter, False, False)


def _refilled(source: Source, centres: Centres, moved: Array, empty: NDArray[np.intp]) -> Array:
    """Return the centres with the empty ones moved to the rows that are farthest from theirs, each to another row."""
    points, view = centres
    for k in empty:
        farthest = source.sum(FarthestRow, Centres(points, view))
        if not farthest.square > 0:
            break
        moved[k] = farthest.x * view.scale + view.offset
        points = np.concatenate([points, moved[k : k + 1]])
    return moved


@dataclass(frozen=True)
class EMResult:
    """A mixture, the weight of all rows, the mean log-likelihood of a row before each step, and how EM ended."""

    mixture: Mixture
    weight: float
    values: list[float]
    n_iter: int
    converged: bool


def expectation_maximisation(
    source: Source,
    total: float,
    start: Mixture,
    kind: CovarianceForm,
    floor: Array,
    tol: float,
    max_iter: int,
    last: float = -np.inf,
) -> EMResult:
    """Alternate E and M steps until the mean log-likelihood changes by less than tol; `last` is that before `start`.

    `total` is the weight of all rows.
    """
    mixture, before, values = start, start, list[float]()
    for step in range(1, max_iter + 1):
        sums = e_step(source, mixture.components, kind)
        value = sums.value / total
        rise = value - (values[-1] if values else last)
        if values and rise < -ROUNDING * (1 + abs(value)):
            return EMResult(before, total, values, step, True)
        values.append(value)
        before, mixture = mixture, m_step(sums, mixture, kind, floor)
        if abs(rise) < tol or _unchanged(before, mixture):
            return EMResult(mixture, total, values, step, True)
    return EMResult(mixture, total, values, max_iter, False)


def _unchanged(a: Mixture, b: Mixture) -> bool:
    """Return whether no mean and no covariance of two mixtures differ by more than rounding; both are of order one."""
    means = np.abs(a.components.means - b.components.means).max()
    return bool(max(means, np.abs(a.covariances - b.covariances).max()) <= ROUNDING)


def e_step(source: Source, components: Components, kind: CovarianceForm) -> MixtureMoments:
    """Return the moments of the rows weighted by p(k | x), for each component k: one pass."""
    sums = source.sum(MixtureMoments, components, components=len(components.means), whole=kind.whole)
    if not sums.finite:
        source.refuse_nonfinite()
    return sums
