"""Where k-means and EM begin: rows drawn from a source, spread out or not, and the view that the columns are taken in.

k-means++ (Arthur and Vassilvitskii, 2007): the first centre is a row at random, each further one a row drawn with a
probability that grows with the square of its distance to the centres so far; the best of a few such draws is kept. Of
a large source it is a sample of rows that is drawn from, so that a start costs one pass.
"""

from __future__ import annotations

import numpy as np

from adaline.arrays import Array, host
from adaline.errors import InvalidData
from adaline.sources import Source
from adaline.sums import Spread, View

SAMPLE = 2**14
PER_CENTRE = 64


def survey(source: Source) -> Spread:
    """Return mean and spread of the columns; refuse rows that are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        spread = source.sum(Spread)
    if not spread.finite:
        source.refuse_nonfinite()
    return spread


def view_of(spread: Spread, sparse: bool, alike: bool) -> View:
    """Return the view about the mean, in powers of two near the spread of each column, or near the largest of all.

    Sparse rows are not moved. A constant column goes by its size.
    """
    size = np.where(spread.deviation > 0, spread.deviation, spread.largest)
    size = np.full_like(size, size.max(initial=0.0)) if alike else size
    exponent = np.clip(np.frexp(np.where(size > 0, size, 1.0))[1], -1000, 1000)
    scale = np.ldexp(1.0, -exponent)
    return View(scale, np.zeros_like(scale) if sparse else -spread.mean * scale)


def some_rows(source: Source, clusters: int, draw: np.random.Generator) -> tuple[Array, Array]:
    """Return rows to draw from, and their weights: all of them, or a sample where there are many."""
    given = source.read_weights()
    weight = None if given is None else host(given)
    heavy = np.arange(source.count_rows()) if weight is None else np.flatnonzero(weight > 0)
    if len(heavy) < clusters:
        raise InvalidData(f"n_samples={len(heavy)} is fewer than the {clusters} clusters or components asked for")
    most = max(SAMPLE, PER_CENTRE * clusters)
    if len(heavy) <= most:
        return source.rows_at(heavy), np.ones(len(heavy)) if weight is None else weight[heavy]
    share = None if weight is None else weight[heavy] / weight[heavy].sum()
    places = np.sort(draw.choice(heavy, most, replace=False, p=share))
    return source.rows_at(places), np.ones(most)


def at_random(rows: Array, weight: Array, clusters: int, draw: np.random.Generator) -> Array:
    """Return different rows, drawn by their weights."""
    return rows[draw.choice(len(rows), clusters, replace=False, p=weight / weight.sum())]


def spread_out(rows: Array, weight: Array, clusters: int, draw: np.random.Generator) -> Array:
    """Return rows far from each other, by k-means++ with a few tries for each."""
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
