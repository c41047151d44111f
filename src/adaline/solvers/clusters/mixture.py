"""Fitting a mixture: first means, the first mixture, EM, and the best of several starts.

Rows belong to the nearest of the first means, in units of the columns' spreads; the M step of that is the first
mixture. The columns are seen about their means and in powers of two near their spreads, so that nothing depends on
units but the floor of the variances.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.solvers.clusters.alternate import Climb, climb, expected, lloyd
from adaline.solvers.clusters.components import Kind, Mixture, maximised, mixture
from adaline.solvers.clusters.starts import at_random, some_rows, spread_out, survey, view_of
from adaline.sources import Source
from adaline.sums import Components, View

STARTS = ("kmeans", "k-means++", "random_from_data", "random")
HARD = 1e4  # spreads of the columns to a standard deviation of densities so narrow that each row has one
K_MEANS_STEPS, K_MEANS_TOL = 300, 1e-4


class Given(NamedTuple):
    """What the user starts from, in raw units, or None: (K,), (K, D), and (K, D, D) or (K, D)."""

    weights: Array | None = None
    means: Array | None = None
    covariances: Array | None = None


NOTHING = Given()


@dataclass(frozen=True)
class MixtureOptions:
    """What mixture is wanted, and how long to look for it; floor (a number or (D,)) is added to raw variances."""

    components: int
    kind: Kind
    floor: Any
    tol: float
    max_iter: int
    starts: int = 1
    how: str = "kmeans"
    given: Given = NOTHING
    last: float = -np.inf
    """Mean log-likelihood before the mixture that is given was reached."""


class Ground(NamedTuple):
    """The rows as EM sees them: the view, spreads of the columns in it, and the floor of variances in it, (D,)."""

    source: Source
    view: View
    deviation: Array
    floor: Array


def fit_mixture(source: Source, plan: MixtureOptions, draw: np.random.Generator) -> Climb:
    """Return the mixture of the largest likelihood that the starts lead to."""
    spread = survey(source)
    view = view_of(spread, sparse=False, alike=plan.kind is Kind.SPHERICAL)
    deviation = np.where(spread.deviation > 0, spread.deviation * view.scale, 1.0)
    ground = Ground(source, view, deviation, plan.floor * view.scale**2)
    found = (
        climb(source, first, plan.kind, ground.floor, plan.tol, plan.max_iter, plan.last)
        for first in _first_mixtures(ground, plan, draw)
    )
    return max(found, key=lambda one: one.values[-1])


def _first_mixtures(ground: Ground, plan: MixtureOptions, draw: np.random.Generator) -> Iterator[Mixture]:
    """Return the mixtures that EM starts from: as given, else of the rows nearest to the first means."""
    view, given = ground.view, plan.given
    means = None if given.means is None else given.means * view.scale + view.offset
    covariances = given.covariances
    if covariances is not None:
        covariances = covariances * (view.scale[:, None] * view.scale if plan.kind.whole else view.scale**2)
    rows = None if means is not None else some_rows(ground.source, plan.components, draw)
    for _ in range(1 if rows is None else plan.starts):
        with np.errstate(divide="ignore"):
            log_weights = None if given.weights is None else np.log(given.weights)
        centres = _centres(ground, rows, plan, draw) if means is None else means
        if log_weights is not None and means is not None and covariances is not None:
            yield mixture(log_weights, means, covariances, view)
            continue
        found = _nearest(ground, centres, plan.kind)
        yield mixture(
            found.components.log_weights if log_weights is None else log_weights,
            found.components.means if means is None else means,
            found.covariances if covariances is None else covariances,
            view,
        )


def _centres(ground: Ground, drawn: Any, plan: MixtureOptions, draw: np.random.Generator) -> Array:
    """Return first means in the view; distances are taken in units of the columns' spreads."""
    view, deviation = ground.view, ground.deviation
    rows, weight = drawn
    rows = (rows * view.scale + view.offset) / deviation
    if plan.how == "random_from_data":
        return np.asarray(at_random(rows, weight, plan.components, draw) * deviation)
    if plan.how == "random":
        share = weight / weight.sum()
        mean = share @ rows
        about = (rows - mean) * np.sqrt(share)[:, None]
        return np.asarray((mean + draw.standard_normal((plan.components, len(rows))) @ about) * deviation)
    start = spread_out(rows, weight, plan.components, draw)
    if plan.how == "kmeans":
        inner = View(view.scale / deviation, view.offset / deviation)
        start = lloyd(ground.source, start, inner, K_MEANS_TOL, K_MEANS_STEPS).points
    return np.asarray(start * deviation)


def _nearest(ground: Ground, centres: Array, kind: Kind) -> Mixture:
    """Return the mixture of rows that each belong to the nearest centre."""
    k, d = centres.shape
    narrow, wide = (np.broadcast_to(row, (k, d)) for row in (HARD / ground.deviation, ground.deviation**2))
    if kind.whole:
        narrow, wide = (np.stack([np.diag(row) for row in rows]) for rows in (narrow, wide))
    at = Components(np.full(k, -np.log(k)), np.ascontiguousarray(centres), np.ascontiguousarray(narrow), ground.view)
    return maximised(expected(ground.source, at, kind), Mixture(at, wide), kind, ground.floor)
