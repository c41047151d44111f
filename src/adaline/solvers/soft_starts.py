"""Where EM begins: rows belong to the nearest of some first means, and the M step of that is the first mixture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.solvers.alternate import expected, lloyd
from adaline.solvers.components import Kind, Mixture, maximised, mixture
from adaline.solvers.starts import at_random, some_rows, spread_out
from adaline.sources import Source
from adaline.sums import Components, Spread, View

Array = NDArray[np.float64]

STARTS = ("kmeans", "k-means++", "random_from_data", "random")
HARD = 1e4  # spreads of the columns to a standard deviation of densities so narrow that each row has one
K_MEANS_STEPS = 300


class Given(NamedTuple):
    """What the user starts from, in raw units, or None: (K,), (K, D), and (K, D, D) or (K, D)."""

    weights: Array | None
    means: Array | None
    covariances: Array | None


def first_mixtures(
    source: Source,
    spread: Spread,
    view: View,
    kind: Kind,
    components: int,
    floor: Array,
    given: Given,
    how: str,
    starts: int,
    draw: np.random.Generator,
) -> Iterator[Mixture]:
    """Return the mixtures that EM starts from, in the coordinates of the view."""
    means = None if given.means is None else given.means * view.scale + view.offset
    covariances = given.covariances
    if covariances is not None:
        unit = view.scale[:, None] * view.scale if kind.whole else view.scale**2
        covariances = covariances * unit
    if given.weights is not None and means is not None and covariances is not None:
        with np.errstate(divide="ignore"):
            yield mixture(np.log(given.weights), means, covariances, view)
        return
    deviation = np.where(spread.deviation > 0, spread.deviation * view.scale, 1.0)
    rows = None if means is not None else some_rows(source, components, draw)
    for _ in range(starts if rows is not None else 1):
        centres = means
        if rows is not None:
            centres = _centres(source, rows, view, deviation, components, how, draw)
        assert centres is not None
        found = _nearest(source, centres, deviation, view, kind, floor)
        with np.errstate(divide="ignore"):
            weights = found.components.log_weights if given.weights is None else np.log(given.weights)
        yield mixture(
            weights,
            found.components.means if means is None else means,
            found.covariances if covariances is None else covariances,
            view,
        )


def _centres(
    source: Source,
    drawn: tuple[Array, Array],
    view: View,
    deviation: Array,
    components: int,
    how: str,
    draw: np.random.Generator,
) -> Array:
    """Return first means in the view; distances are taken in units of the columns' spreads."""
    rows, weight = drawn
    rows = (rows * view.scale + view.offset) / deviation
    if how == "random_from_data":
        return at_random(rows, weight, components, draw) * deviation
    if how == "random":
        share = weight / weight.sum()
        mean = share @ rows
        about = (rows - mean) * np.sqrt(share)[:, None]
        return (mean + draw.standard_normal((components, len(rows))) @ about) * deviation
    start = spread_out(rows, weight, components, draw)
    if how == "k-means++":
        return start * deviation
    inner = View(view.scale / deviation, view.offset / deviation)
    return lloyd(source, start, inner, 1e-4, K_MEANS_STEPS).points * deviation


def _nearest(source: Source, centres: Array, deviation: Array, view: View, kind: Kind, floor: Array) -> Mixture:
    """Return the mixture of rows that each belong to the nearest centre."""
    k, d = centres.shape
    narrow = np.broadcast_to(HARD / deviation, (k, d))
    factors = np.stack([np.diag(one) for one in narrow]) if kind.whole else np.ascontiguousarray(narrow)
    wide = np.broadcast_to(deviation**2, (k, d))
    covariances = np.stack([np.diag(one) for one in wide]) if kind.whole else wide
    at = Components(np.full(k, -np.log(k)), np.ascontiguousarray(centres), factors, view)
    return maximised(expected(source, at, kind), Mixture(at, covariances), kind, floor)
