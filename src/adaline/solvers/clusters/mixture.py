"""A fit of a mixture of Gaussians: first means, the first mixture, EM, and the best of several starts.

    maximise  sum over rows of weight ln sum_k pi_k N(x; mean_k, Sigma_k)

Each row is assigned to the nearest of the first means, in units of the columns' spreads; the M step of this assignment
is the first mixture. The columns are taken about their means and in powers of two near their spreads, so that nothing
depends on units but the floor of the variances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.solvers.clusters.alternate import EMResult, e_step, expectation_maximisation, lloyd
from adaline.solvers.clusters.components import CovarianceForm, Mixture, m_step, make_mixture
from adaline.solvers.clusters.starts import cluster_view, k_means_plus_plus, random_rows, sample_to_draw_from
from adaline.solvers.smooth.problem import column_spread
from adaline.sources import Source
from adaline.sums import Components, View

MixtureStart = Literal["kmeans", "k-means++", "random_from_data", "random"]
NARROWNESS = 1e4  # spread of a column over the standard deviation of densities so narrow that each row belongs to one
# log2 of the floor of standard deviations in the view, beyond which columns are scaled down; doubling it overflows
MOST_FLOOR_EXPONENT = 400
K_MEANS_STEPS, K_MEANS_TOL = 300, 1e-4  # of the k-means start of a mixture; a smaller tol takes more passes before EM


class GivenStart(NamedTuple):
    """The user's start, in raw units, or None: (K,), (K, D), and (K, D, D) or (K, D)."""

    weights: Array | None = None
    means: Array | None = None
    covariances: Array | None = None


NOTHING = GivenStart()


@dataclass(frozen=True)
class MixtureOptions:
    """Which mixture to fit, and how; `floor` (a number or (D,)) is added to raw variances."""

    components: int
    kind: CovarianceForm
    floor: Any
    tol: float
    max_iter: int
    starts: int = 1
    how: str = "kmeans"
    given: GivenStart = NOTHING
    last: float = -np.inf
    """Mean log-likelihood before the mixture that is given was reached."""


class ScaledRows(NamedTuple):
    """A source with the view of its columns, their spreads (D,) in it, and the floor of variances (D,) in it."""

    source: Source
    view: View
    deviation: Array
    floor: Array


def fit_mixture(source: Source, options: MixtureOptions, draw: np.random.Generator) -> EMResult:
    """Return the mixture of the largest likelihood that the starts lead to."""
    spread = column_spread(source)
    view = cluster_view(spread, sparse=False, alike=options.kind is CovarianceForm.SPHERICAL)
    root = np.frexp(np.sqrt(options.floor))[1]  # the floor, in the view, must not overflow
    scale = np.minimum(view.scale, np.where(options.floor > 0, np.ldexp(1.0, MOST_FLOOR_EXPONENT - root), np.inf))
    view = View(scale, view.offset * (scale / view.scale))
    deviation = np.where(spread.deviation > 0, spread.deviation * view.scale, 1.0)
    scaled = ScaledRows(source, view, deviation, options.floor * view.scale**2)
    found = (
        expectation_maximisation(
            source, spread.weight, first, options.kind, scaled.floor, options.tol, options.max_iter, options.last
        )
        for first in _first_mixtures(scaled, options, draw)
    )
    return max(found, key=lambda one: one.values[-1])


def _first_mixtures(scaled: ScaledRows, options: MixtureOptions, draw: np.random.Generator) -> Iterator[Mixture]:
    """Return the mixtures that EM starts from: as given, else of the rows nearest to the first means."""
    view, given = scaled.view, options.given
    means = None if given.means is None else given.means * view.scale + view.offset
    covariances = given.covariances
    if covariances is not None:
        covariances = covariances * (view.scale[:, None] * view.scale if options.kind.whole else view.scale**2)
    rows = None if means is not None else sample_to_draw_from(scaled.source, options.components, draw)
    for _ in range(1 if rows is None else options.starts):
        with np.errstate(divide="ignore"):
            log_weights = None if given.weights is None else np.log(given.weights)
        centres = _centres(scaled, rows, options, draw) if means is None else means
        if log_weights is not None and means is not None and covariances is not None:
            yield make_mixture(log_weights, means, covariances, view)
            continue
        found = _nearest(scaled, centres, options.kind)
        yield make_mixture(
            found.components.log_weights if log_weights is None else log_weights,
            found.components.means if means is None else means,
            found.covariances if covariances is None else covariances,
            view,
        )


def _centres(scaled: ScaledRows, drawn: Any, options: MixtureOptions, draw: np.random.Generator) -> Array:
    """Return first means in the view; distances are taken in units of the columns' spreads."""
    view, deviation = scaled.view, scaled.deviation
    rows, weight = drawn
    rows = (rows * view.scale + view.offset) / deviation
    if options.how == "random_from_data":
        return np.asarray(random_rows(rows, weight, options.components, draw) * deviation)
    if options.how == "random":
        share = weight / weight.sum()
        mean = share @ rows
        about = (rows - mean) * np.sqrt(share)[:, None]
        return np.asarray((mean + draw.standard_normal((options.components, len(rows))) @ about) * deviation)
    start = k_means_plus_plus(rows, weight, options.components, draw)
    if options.how == "kmeans":
        inner = View(view.scale / deviation, view.offset / deviation)
        start = lloyd(scaled.source, start, inner, K_MEANS_TOL, K_MEANS_STEPS).points
    return np.asarray(start * deviation)


def _nearest(scaled: ScaledRows, centres: Array, kind: CovarianceForm) -> Mixture:
    """Return the mixture of rows that each belong to the nearest centre."""
    k, d = centres.shape
    narrow, wide = (np.broadcast_to(row, (k, d)) for row in (NARROWNESS / scaled.deviation, scaled.deviation**2))
    if kind.whole:
        narrow, wide = (np.stack([np.diag(row) for row in rows]) for rows in (narrow, wide))
    components = Components(
        np.full(k, -np.log(k)), np.ascontiguousarray(centres), np.ascontiguousarray(narrow), scaled.view
    )
    return m_step(e_step(scaled.source, components, kind), Mixture(components, wide), kind, scaled.floor)
