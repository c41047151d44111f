"""Conformal intervals and sets: they cover with a probability that holds for any distribution of exchangeable rows.

Of n rows, each with a model that was fitted without it, S_i is the score of row i under its model: how far its target
is from the prediction.

    interval at x:   [ floor((1 - level)(n + 1))-th smallest of m_i(x) - S_i v_i(x),
                       ceil(level (n + 1))-th smallest of m_i(x) + S_i v_i(x) ]
    set at x:        labels c with  #{ i : S_i < s_i(x, c) } < level (n + 1)

m_i is the prediction of the model without row i, v_i its unit (1, or the standard deviation that a family gives its
mean). Models without one row each give jackknife+, models without a fold each CV+. A new row falls outside with
probability at most 2 (1 - level), whatever the distribution and the system, and with about 1 - level in practice;
for CV+ the bound has another 2/K or so. Where a least-squares fit has leverages h_i, the model without row i is

    m_i(x) = m(x) - z(x)'z_i r_i / (1 - h_i),   S_i = |r_i| / (1 - h_i)

A frequency w counts as w rows, of which one is left out; a score of a row of precision w is multiplied by sqrt(w), and
the interval is for a new row of precision 1.

R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, Annals of Statistics 49 (2021), 486-507 (jackknife+, CV+);
Y. Romano, M. Sesia and E. J. Candès, NeurIPS 2020 (CV+ for classes); M. Sadinle, J. Lei and L. Wasserman, JASA 114
(2019), 223-234 (least ambiguous sets, S_i = 1 - probability of the own class).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, host
from adaline.block import Block
from adaline.inference.covariance import FULL_LEVERAGE, check_squares, check_weight, factor_of, lens
from adaline.inference.sample import Sample
from adaline.row_hashes import row_hashes
from adaline.solvers.least_squares.fit import Fit
from adaline.sources import Source
from adaline.sources.runners import each_block
from adaline.sums.scores import runs

# rows that are scored, drawn by a hash where there are more: the coverage then varies by 0.5 percentage points about
# the level; doubling it takes twice the time and memory, and lets it vary by 0.3
MOST_SCORED = 2**11
CHUNK = 2**21  # numbers of a chunk of new rows and models; doubling it takes twice the memory
RANK_ROUNDING = 1e-9  # of ranks, which are products with the level; 1000x larger takes a rank too few


class Scored(NamedTuple):
    """Scores of rows, each under a model that has not seen it: (n,), the number of that model, and weights, (n,)."""

    score: Array
    model: NDArray[np.intp]
    weight: Array


class LeftOut(NamedTuple):
    """The models of least squares without each row: scores, and what each row adds to outputs, (n, m) coordinates."""

    scored: Scored
    pull: Array


def scored_rows(first: int, rows: int, total: int) -> NDArray[np.bool_]:
    """Return which of the rows first, first + 1, ... are scored, about `MOST_SCORED` of the total, (rows,)."""
    if total <= MOST_SCORED:
        return np.ones(rows, dtype=np.bool_)
    return np.asarray(row_hashes(first, rows, salt=1) < np.uint64(2**64 // total * MOST_SCORED))


def without_rows(fit: Fit, source: Source, sample: Sample) -> list[LeftOut]:
    """Return the models without each row of a fit, one entry for each of its targets: one pass over the rows fitted."""
    check_weight(source, fit, sample)
    through, total, targets = lens(fit, sample.precision), source.count_rows(), len(fit.squares)
    units = np.ldexp(np.ones(targets), factor_of(fit).scaling.target_scale)

    def rows(block: Block) -> list[Array]:
        chosen, squares, first = [], np.zeros(targets), block.first_row
        for run in runs(block):
            part = through.read(run)
            residual, weight = host(part.residual), np.asarray(run.weights())
            squares += weight @ residual**2
            own = scored_rows(first, run.rows, total) & (weight > 0)
            first += run.rows
            columns = (weight, host(part.leverage), residual, host(part.z))
            chosen.append(np.column_stack(columns)[own])
        return [squares, *chosen]

    found = each_block(source, rows)
    check_squares(source, fit, np.sum([squares for squares, *_ in found], axis=0))
    each = np.concatenate([part for _, *parts in found for part in parts])
    weight, leverage, residual, z = each[:, 0], each[:, 1], each[:, 2 : 2 + targets], each[:, 2 + targets :]
    precision = (weight if sample.precision else np.ones(len(weight)))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(1.0 - leverage > FULL_LEVERAGE, 1.0 - leverage, np.nan)[:, None]
        without = units * residual / rest
    alone = np.isnan(without)  # whose own prediction the other rows do not determine
    scores = np.where(alone, np.inf, np.sqrt(precision) * np.abs(without))
    pull = np.where(alone, 0.0, precision * without)
    counts, model = np.ones(len(weight)) if sample.precision else weight, np.arange(len(weight))
    return [LeftOut(Scored(scores[:, k], model, counts), z * pull[:, k, None]) for k in range(targets)]


def limits(
    rows: int, centres: Callable[[slice], tuple[Array, Array | float]], scored: Scored, level: float
) -> tuple[Array, Array]:
    """Return the lower and upper ends of intervals, (rows,) each.

    `centres` returns, for a run of new rows, the prediction of the model of each scored row, (rows, n), and its unit,
    alike.
    """
    lower, upper = np.empty(rows), np.empty(rows)
    step = max(CHUNK // max(len(scored.score), 1), 1)
    for first in range(0, rows, step):
        run = slice(first, min(first + step, rows))
        centre, unit = centres(run)
        reach = scored.score * unit
        upper[run] = smallest(centre + reach, scored.weight, level)
        lower[run] = -smallest(reach - centre, scored.weight, level)
    return lower, upper


def smallest(values: Array, weight: Array, level: float) -> Array:
    """Return the ceil(level (n + 1))-th smallest of each row of values (m, n), n the sum of weights; else infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.inference.conformal import smallest
    >>> smallest(np.array([[3.0, 1.0, 2.0, 4.0]]), np.ones(4), 0.6)
    array([3.])
    """
    rank = np.ceil(level * (weight.sum() + 1) - RANK_ROUNDING)
    if rank > weight.sum() + RANK_ROUNDING:
        return np.full(len(values), np.inf)
    if (weight == 1).all():
        at = max(int(rank), 1) - 1
        return np.asarray(np.partition(values, at, axis=1)[:, at])
    order = np.argsort(values, axis=1)
    reached = np.cumsum(weight[order], axis=1) >= rank - RANK_ROUNDING
    return np.asarray(np.take_along_axis(values, np.take_along_axis(order, reached.argmax(1)[:, None], 1), 1)[:, 0])


def conformal_set(scores: list[Array], scored: Scored, level: float) -> NDArray[np.bool_]:
    """Return which labels are in the sets of new rows, (rows, K); `scores` of all labels under each model, alike."""
    below = np.zeros(scores[0].shape)
    for k, own in enumerate(scores):
        mine = scored.model == k
        order = np.argsort(scored.score[mine])
        sums = np.concatenate([[0.0], np.cumsum(scored.weight[mine][order])])
        below += sums[np.searchsorted(scored.score[mine][order], own, side="left")]
    return np.asarray(below < level * (scored.weight.sum() + 1) - RANK_ROUNDING)
