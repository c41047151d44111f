"""Two steps in turn, each a sum over rows: assign the rows, then move the centres (k-means) or the densities (EM).

k-means. Neither step can raise the error, and there are finitely many assignments, so that it ends. A centre that has
lost all rows moves to the row that is farthest from its own centre, which lowers the error too.

EM. Neither step can lower the likelihood but for the floor of the covariances: a step that lowers it is taken back,
and ends the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.solvers.clusters.components import Kind, Mixture, maximised
from adaline.sources import Source
from adaline.sums import Centres, Clusters, Components, MixtureMoments, View
from adaline.sums.clusters import nearest

ROUNDING = 2.0**-48
"""What rounding may take off a mean log-likelihood, or move means and covariances by."""


@dataclass(frozen=True)
class Clustering:
    """Centres (K, D) in the view, the error at the centres of each pass, and how it ended."""

    points: Array
    errors: list[float]
    n_iter: int
    converged: bool
    settled: bool
    """Whether the last pass was at these very centres, so that its error is theirs."""


def lloyd(source: Source, start: Array, view: View, tol: float, max_iter: int) -> Clustering:
    """Move the centres to the means of their rows until they stop, or move by no more than tol (a sum of squares)."""
    points, errors = start, []
    for step in range(1, max_iter + 1):
        sums = source.sum(Clusters, Centres(points, view), clusters=len(points))
        errors.append(sums.error)
        held = sums.weight > 0
        moved = points.copy()
        moved[held] = sums.first[held] / sums.weight[held, None]
        if not held.all():
            moved = _refilled(source, Centres(points, view), moved, np.flatnonzero(~held))
        shift = float(((moved - points) ** 2).sum())
        points = moved
        if shift <= tol:
            return Clustering(points, errors, step, True, shift == 0)
    return Clustering(points, errors, max_iter, False, False)


def _refilled(source: Source, centres: Centres, moved: Array, empty: NDArray[np.intp]) -> Array:
    """Return the centres with the empty ones at the rows that are farthest from theirs; one row is taken once."""
    given = source.read_weights()
    weight = None if given is None else host(given)
    taken = centres.points
    for k in empty:
        squares = source.map(lambda block: nearest(block, Centres(taken, centres.view))[:, 1])  # noqa: B023
        if weight is not None:
            squares = np.where(weight > 0, squares, 0.0)
        if not squares.max() > 0:
            break
        row = source.rows_at(np.array([squares.argmax()]))[0]
        moved[k] = row * centres.view.scale + centres.view.offset
        taken = np.concatenate([taken, moved[k : k + 1]])
    return moved


@dataclass(frozen=True)
class Climb:
    """A mixture, the mean log-likelihood of a row before each step, and how it ended."""

    mixture: Mixture
    values: list[float]
    n_iter: int
    converged: bool


def climb(
    source: Source, start: Mixture, kind: Kind, floor: Array, tol: float, max_iter: int, last: float = -np.inf
) -> Climb:
    """Alternate E and M steps until the mean log-likelihood rises by less than tol; `last` is that before the start."""
    mixture, before, values = start, start, list[float]()
    total = source.total_weight()
    for step in range(1, max_iter + 1):
        sums = expected(source, mixture.components, kind)
        value = sums.value / total
        rise = value - (values[-1] if values else last)
        if values and rise < -ROUNDING * (1 + abs(value)):
            return Climb(before, values, step, True)
        values.append(value)
        before, mixture = mixture, maximised(sums, mixture, kind, floor)
        if abs(rise) < tol or _still(before, mixture):
            return Climb(mixture, values, step, True)
    return Climb(mixture, values, max_iter, False)


def _still(a: Mixture, b: Mixture) -> bool:
    """Whether a step moved no mean and no covariance by more than rounding, in numbers of order one."""
    means = np.abs(a.components.means - b.components.means).max()
    return bool(max(means, np.abs(a.covariances - b.covariances).max()) <= ROUNDING)


def expected(source: Source, at: Components, kind: Kind) -> MixtureMoments:
    """Return the moments of the softly assigned rows."""
    sums = source.sum(MixtureMoments, at, components=len(at.means), whole=kind.whole)
    if not sums.finite:
        source.refuse_nonfinite()
    return sums
