"""First centres for k-means and EM: rows drawn from a source by k-means++ or at random; and the view of the columns.

k-means++ (Arthur and Vassilvitskii, 2007): the first centre is a row at random, each further one a row drawn with a
probability that grows with the square of its distance to the centres so far; the best of a few such draws is kept. For
a large source the centres are drawn from a sample of its rows, so that a start costs one pass.
"""

from __future__ import annotations

from copy import deepcopy

import numpy as np

from adaline.arrays import Array, host
from adaline.errors import InvalidData
from adaline.sources import Source
from adaline.sums import RowSample, Spread, View

# rows from which centres are drawn, in all or per centre, whichever is more; doubling them takes twice as long
SAMPLE, SAMPLE_PER_CENTRE = 2**14, 64


def cluster_view(spread: Spread, sparse: bool, alike: bool) -> View:
    """Return the view about the mean, in powers of two near the spread of each column, or (`alike`) near the largest.

    Sparse rows are not shifted. A constant column is scaled by its size.
    """
    size = np.where(spread.deviation > 0, spread.deviation, spread.largest)
    size = np.full_like(size, size.max(initial=0.0)) if alike else size
    exponent = np.clip(np.frexp(np.where(size > 0, size, 1.0))[1], -1000, 1000)
    scale = np.ldexp(1.0, -exponent)
    return View(scale, np.zeros_like(scale) if sparse else -spread.mean * scale)


def sample_to_draw_from(source: Source, clusters: int, draw: np.random.Generator) -> tuple[Array, Array]:
    """Return rows to draw from, and their weights: all of them, or a sample where there are many.

    Of a stream that is the sample of the smallest lots that its rows have by their indices.
    """
    most = max(SAMPLE, SAMPLE_PER_CENTRE * clusters)
    if source.streamed:
        salt = int(deepcopy(draw).integers(2**32))  # draws continue as they do from all rows, where the sample is all
        some = source.sum(RowSample, most=most, salt=salt)
        _check_rows(len(some.row), clusters)
        return some.x, some.weight
    given = source.read_weights()
    weight = None if given is None else host(given)
    positive = np.arange(source.count_rows()) if weight is None else np.flatnonzero(weight > 0)
    _check_rows(len(positive), clusters)
    if len(positive) <= most:
        return source.rows_at(positive), np.ones(len(positive)) if weight is None else weight[positive]
    share = None if weight is None else weight[positive] / weight[positive].sum()
    indices = np.sort(draw.choice(positive, most, replace=False, p=share))
    return source.rows_at(indices), np.ones(most)


def _check_rows(rows: int, clusters: int) -> None:
    if rows < clusters:
        raise InvalidData(f"n_samples={rows} is fewer than the {clusters} clusters or components asked for")


def random_rows(rows: Array, weight: Array, clusters: int, draw: np.random.Generator) -> Array:
    """Return `clusters` different rows (K, D), drawn by their weights."""
    return rows[draw.choice(len(rows), clusters, replace=False, p=weight / weight.sum())]


def k_means_plus_plus(rows: Array, weight: Array, clusters: int, draw: np.random.Generator) -> Array:
    """Return `clusters` rows (K, D) far from each other, by k-means++ with a few tries for each."""
    tries = 2 + int(np.log(clusters))
    first = draw.choice(len(rows), p=weight / weight.sum())
    chosen = [first]
    nearest = ((rows - rows[first]) ** 2).sum(axis=1)
    for _ in range(1, clusters):
        mass = np.cumsum(weight * nearest)
        if not mass[-1] > 0:  # fewer different rows than centres
            chosen += [first] * (clusters - len(chosen))
            break
        candidates = np.minimum(np.searchsorted(mass, draw.random(tries) * mass[-1]), len(rows) - 1)
        squares = np.stack([np.minimum(nearest, ((rows - rows[c]) ** 2).sum(axis=1)) for c in candidates])
        best = int((squares @ weight).argmin())
        chosen.append(candidates[best])
        nearest = squares[best]
    return rows[chosen]
