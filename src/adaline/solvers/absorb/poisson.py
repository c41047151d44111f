"""Poisson regression with absorbed effects: Newton steps, each least squares on columns without the effects.

    mu = exp(eta),   u = (y - mu) / mu,   weights w mu:    u and x are projected off the dummies, u is regressed on x

(S. Correia, P. Guimaraes and T. Zylkin, Stata Journal 20 (2020), 95-115). At the solution, the projected columns with
the rest of eta as an offset are a Poisson regression of few columns, whose minimum, second derivatives and scores are
those of the whole model. Any solver, and all inference, applies to it.

Rows that levels or columns separate from all others (`separation`) have means of zero at the maximum of the likelihood.
They are left out and reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding import Effect
from adaline.errors import InvalidData
from adaline.solvers.absorb.absorb import describe_absorption, opened
from adaline.solvers.absorb.projection import Projection, SortedRows
from adaline.solvers.absorb.separation import ZERO_PART, SeparatedRows, rectified, summed
from adaline.sources.absorbed import AbsorbedSource
from adaline.sources.tables.effects import EffectRows
from adaline.sources.tables.source import TableSource
from adaline.sources.targets import RowTargets

MOST_STEPS = 100  # Newton steps; doubling it doubles the time before a fit is reported as not converged
MOST_HALVINGS = 30  # halvings of a step, after which the shortest is taken; doubling it changes nothing beyond rounding
ETA_TOL = 1e-9  # root mean square change of eta at which Newton steps stop; 10x larger loses a digit
# the same, from which means that still decrease are checked for separation; 10x larger checks them earlier
CHECKED_CHANGE = 1e-4
LEAST_MEAN = 1e-300  # smaller means are raised to this, so that divisions by means do not overflow


class Fitted(NamedTuple):
    """A model that was fitted to the rows: theta (1 + D), its effects, and how many rows it has as separated."""

    theta: Array
    effects: Sequence[Effect]
    separated: int


def absorb_poisson(table: TableSource, frequencies: bool = True, model: Fitted | None = None) -> AbsorbedSource:
    """Return rows without the effects that a table absorbs, whose targets are counts and offsets, (N, 2).

    `frequencies` : whether weights say how many rows a row stands for. With `model` they are those of a model that was
    fitted to these rows.
    """
    whole, singletons = opened(table, frequencies)
    d = table.shape.features
    _refuse_negative(whole.columns[d])
    separation = None if model is None else _known(whole, model.effects)
    if model is None or separation is None or separation.count != model.separated:
        separation, point = _fitted(whole, SeparatedRows.of_levels(whole.levels, whole.columns[d]), d)
        rows = _kept(whole, separation)
        x, y, known = _parts(rows, d)
    else:
        rows = _kept(whole, separation)
        x, y, known = _parts(rows, d)
        theta = model.theta
        point = PoissonPoint(theta[0] + theta[1:] @ x + known + _effects_of(rows, model.effects), theta[1:], True)
    levels = SortedRows.of(rows.levels)
    eta, slopes = point.eta, point.slopes
    rest = eta - known - slopes @ x
    own = Projection(levels, rows.weight).remove_from(rest[None])
    projected = x.copy()
    removal = Projection(levels, _weights(rows.weight, np.exp(eta))).remove_from(projected)
    shift = np.array(
        [np.average(before - after, weights=rows.weight) for before, after in zip(x, projected, strict=True)]
    )
    projected += shift[:, None]  # effects have means of zero over the rows, whatever the means of these
    taken = removal.effects - np.pad(np.ones(levels.sizes[0]), (0, levels.sizes[1])) * shift[:, None]
    target = own.effects[0] + slopes @ taken
    removal = replace(
        removal,
        effects=np.vstack([taken, target]),
        converged=removal.converged and point.converged,
        iterations=max(removal.iterations, own.iterations),
    )
    offset = eta - own.mean[0] - slopes @ projected
    absorption = describe_absorption(rows, _null_deviance(y, known, rows.weight), singletons, separation.count)
    both = np.ascontiguousarray(np.column_stack([y, offset]))
    separated = separation.by_level() if separation.count else ()
    targets = RowTargets(2, both, offset=1)
    return AbsorbedSource(replace(rows, columns=projected), absorption, removal, targets, separated)


def _fitted(whole: EffectRows, separation: SeparatedRows, d: int) -> tuple[SeparatedRows, PoissonPoint]:
    """Return which rows are separated, and the maximum of the likelihood on all others."""
    start, settled = None, CHECKED_CHANGE
    while True:
        rows = _kept(whole, separation)
        x, y, known = _parts(rows, d)
        levels = SortedRows.of(rows.levels)
        point = _newton(levels, x, y, rows.weight, known, start, settled)
        if point.vanishing is None:
            return separation, point
        found = rectified(levels, x, y, point.vanishing)
        start = point
        if found is None and settled == ETA_TOL:
            return separation, point
        if found is None:
            settled = ETA_TOL
            continue
        v, slopes, effects = found
        if np.ptp(slopes @ x) <= ZERO_PART:
            separation = separation.along(_by_level(effects, rows, separation))
        else:
            gone = np.zeros(whole.n_rows, dtype=bool)
            gone[np.flatnonzero(separation.kept)[v < -0.5]] = True
            separation = separation.without(gone)
        start = PoissonPoint(point.eta[v >= -0.5], point.slopes, False)


def _by_level(effects: Array, rows: EffectRows, separation: SeparatedRows) -> list[Array]:
    """Return what rows that are kept have found for their levels, as one array for each column of all levels."""
    out = {}
    ends = np.cumsum([0, *(len(one.values) for one in rows.levels)])
    for one, begin, end in zip(rows.levels, ends[:-1], ends[1:], strict=True):
        out[one.name] = effects[begin:end]
    parts = []
    for one in separation.levels:
        part = np.zeros(len(one.values))
        part[np.unique(one.codes[separation.kept])] = out[one.name]
        parts.append(part)
    return parts


def _kept(whole: EffectRows, separation: SeparatedRows) -> EffectRows:
    """Return the rows that are not separated."""
    if not separation.kept.any():
        raise InvalidData("the counts are all zero: there is nothing to fit")
    return whole.take(np.flatnonzero(separation.kept)) if separation.count else whole


def _parts(rows: EffectRows, d: int) -> tuple[Array, Array, Array]:
    """Return the columns (D, N), counts (N,) and offsets (N,) of rows."""
    offset = rows.columns[d + 1] if len(rows.columns) > d + 1 else np.zeros(rows.n_rows)
    return rows.columns[:d], rows.columns[d], offset


class PoissonPoint(NamedTuple):
    """Where Newton steps stand: eta (N,), slopes (D,), whether they are done, and rows whose means go to zero, (N,)."""

    eta: Array
    slopes: Array
    converged: bool
    vanishing: NDArray[np.bool_] | None = None


def _newton(
    levels: SortedRows,
    x: Array,
    y: Array,
    weight: Array | None,
    known: Array,
    start: PoissonPoint | None = None,
    settled: float = 0.0,
) -> PoissonPoint:
    """Return the maximum of the likelihood, from a start where there is one.

    The steps end early where the rows have settled, to a step of this size on average, but for some of zero counts
    whose means still fall by half and more at every step.
    """
    mean = float(np.average(y, weights=weight))
    eta, slopes = (np.log(0.5 * (y + mean)), np.zeros(len(x))) if start is None else start[:2]
    work = np.empty((len(x) + 1, len(y)))
    for to, column in zip(work, x, strict=False):
        np.subtract(column, np.average(column, weights=weight), out=to)
    columns, left = work[:-1], work[-1]
    mu = np.maximum(np.exp(eta), LEAST_MEAN)
    deviance = np.inf if start is None else _deviance(y, mu, weight)
    for turn in range(MOST_STEPS):
        omega = _weights(weight, mu)
        u = (y - mu) / mu
        first = turn == 0 and start is None
        step = eta - known + u if first else u
        left[:] = step
        Projection(levels, omega).remove_from(work, centre=False)
        gram = (columns * omega) @ columns.T
        scale = np.sqrt(gram.diagonal())
        scale[scale == 0] = 1.0
        moved = (
            slopes
            if not len(x)
            else np.linalg.lstsq(gram / scale[:, None] / scale, (columns * omega) @ left / scale)[0] / scale
        )
        step -= left - moved @ columns
        size = float(np.sqrt(np.average(step**2, weights=omega)))
        if first:
            eta, slopes = known + step, moved
        else:
            share, before = 1.0, eta
            for _ in range(MOST_HALVINGS):
                eta = before + share * step
                now = _deviance(y, np.exp(eta), weight)
                if now <= deviance * (1 + 1e-12):
                    break
                share *= 0.5
            slopes = slopes + share * moved
            vanishing = (y == 0) & (step < -0.5) if size <= settled else None
            if vanishing is not None and vanishing.any():
                return PoissonPoint(eta, slopes, size <= ETA_TOL, vanishing)
            if size <= ETA_TOL:
                return PoissonPoint(eta, slopes, True)
        mu = np.maximum(np.exp(eta), LEAST_MEAN)
        deviance = _deviance(y, mu, weight)
    return PoissonPoint(eta, slopes, False)


def _known(rows: EffectRows, effects: Sequence[Effect]) -> SeparatedRows:
    """Return which rows a model has as separated, by its effects."""
    found = _effects_of(rows, effects)
    return SeparatedRows(rows.levels, np.isfinite(found), tuple(np.zeros(len(one.values)) for one in rows.levels))


def _effects_of(rows: EffectRows, effects: Sequence[Effect]) -> Array:
    """Return the sum of the effects of each row, (N,), -inf where it is separated; refuse levels that have none."""
    known = {effect.name: effect for effect in effects}
    found = [known[one.name].at(one.values[: len(one.values) - one.gaps], one.gaps) for one in rows.levels]
    out, falling = (summed(part, rows.levels) for part in zip(*found, strict=True))
    out[falling < -0.5] = -np.inf
    if np.isnan(out).any():
        raise InvalidData("these are not the rows that were fitted: they have levels that the model does not know")
    return out


def _null_deviance(y: Array, known: Array, weight: Array | None) -> float:
    """Return the deviance of a constant beside known offsets (N,)."""
    mu = np.exp(known)
    return _deviance(y, mu * (np.average(y, weights=weight) / np.average(mu, weights=weight)), weight)


def _deviance(y: Array, mu: Array, weight: Array | None) -> float:
    """Return twice the cost of counts y (N,) above that of means that are the counts."""
    with np.errstate(all="ignore"):
        each = np.where(y > 0, y * np.log(y / mu), 0.0) - (y - mu)
    return 2.0 * float(each.sum() if weight is None else weight @ each)


def _weights(weight: Array | None, mu: Array) -> Array:
    return mu if weight is None else weight * mu


def _refuse_negative(y: Array) -> None:
    if (y < 0).any():
        row = int((y < 0).argmax())
        raise InvalidData(f"poisson targets are counts, zero or more, and that of row {row} is {y[row]:g}")
