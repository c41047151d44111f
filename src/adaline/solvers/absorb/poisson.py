"""Poisson regression with absorbed effects: Newton steps, each least squares on columns without the effects.

    mu = exp(eta),   u = (y - mu) / mu,   weights w mu:    u and x are projected off the dummies, u is regressed on x

(S. Correia, P. Guimaraes and T. Zylkin, Stata Journal 20 (2020), 95-115). At the solution the projected columns, beside
the part of eta that they do not make up as an offset, pose a poisson regression of few columns whose minimum, second
derivatives and scores are those of the whole: any solver and all inference take it from there.

Rows of a level whose targets are all zero have no finite effect: their means are zero whatever the coefficients. They
are left out, until none are left. Rows that several columns separate together are told by means that go to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding import Effect
from adaline.errors import InvalidData
from adaline.solvers.absorb.absorb import describe, opened
from adaline.solvers.absorb.projection import Projection, SortedRows
from adaline.sources.absorbed import AbsorbedSource
from adaline.sources.tables.effects import EffectRows, Levels
from adaline.sources.tables.source import TableSource

STEPS = 100
HALVINGS = 30
ENOUGH = 1e-9  # of a step, in the root mean square of eta
LEAST = 1e-300


def absorb_poisson(table: TableSource, theta: Array | None = None, effects: Sequence[Effect] = ()) -> AbsorbedSource:
    """Return rows without the effects that a table absorbs, whose targets are counts and offsets, (N, 2).

    With theta (1 + D) and effects they are those of a model that was fitted to these rows.
    """
    rows, singletons = opened(table)
    d = table.shape.features
    _refuse_negative(rows.columns[d])
    kept = _not_zero(rows.levels, rows.columns[d], rows.weight)
    separated = int((~kept).sum())
    if separated == rows.n_rows:
        raise InvalidData("the counts are all zero: there is nothing to fit")
    rows = rows.take(np.flatnonzero(kept)) if separated else rows
    x, y = rows.columns[:d], rows.columns[d]
    known = rows.columns[d + 1] if len(rows.columns) > d + 1 else np.zeros(rows.n_rows)
    levels = SortedRows.of(rows.levels)
    if theta is None:
        eta, slopes, converged = _newton(levels, x, y, rows.weight, known)
    else:
        eta, slopes, converged = theta[0] + theta[1:] @ x + known + _effects_of(rows, effects), theta[1:], True
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
        converged=removal.converged and converged,
        iterations=max(removal.iterations, own.iterations),
    )
    offset = eta - own.mean[0] - slopes @ projected
    absorption = describe(rows, _null_deviance(y, known, rows.weight), singletons, separated)
    source = AbsorbedSource(
        replace(rows, columns=projected), absorption, removal, np.ascontiguousarray(np.column_stack([y, offset]))
    )
    source.offset, source.flat = 1, True
    return source


def _newton(levels: SortedRows, x: Array, y: Array, weight: Array | None, known: Array) -> tuple[Array, Array, bool]:
    """Return eta (N,), the slopes (D,), and whether the steps have come to an end."""
    mean = float(np.average(y, weights=weight))
    eta = np.log(0.5 * (y + mean))
    slopes = np.zeros(len(x))
    work = np.array([column - np.average(column, weights=weight) for column in x]).reshape(x.shape)
    mu = np.exp(eta)
    deviance = np.inf
    for turn in range(STEPS):
        omega = _weights(weight, mu)
        u = (y - mu) / mu
        step = eta - known + u if turn == 0 else u
        left = step.copy()
        projection = Projection(levels, omega)
        projection.remove_from(work, centre=False)
        projection.remove_from(left[None], centre=False)
        gram = (work * omega) @ work.T
        scale = np.sqrt(gram.diagonal())
        scale[scale == 0] = 1.0
        moved = (
            slopes
            if not len(x)
            else np.linalg.lstsq(gram / scale[:, None] / scale, (work * omega) @ left / scale)[0] / scale
        )
        step -= left - moved @ work
        size = float(np.sqrt(np.average(step**2, weights=omega)))
        if turn == 0:
            eta, slopes = known + step, moved
        else:
            share, before = 1.0, eta
            for _ in range(HALVINGS):
                eta = before + share * step
                now = _deviance(y, np.exp(eta), weight)
                if now <= deviance * (1 + 1e-12):
                    break
                share *= 0.5
            slopes = slopes + share * moved
            if size <= ENOUGH:
                return eta, slopes, True
        mu = np.maximum(np.exp(eta), LEAST)
        deviance = _deviance(y, mu, weight)
    return eta, slopes, False


def _effects_of(rows: EffectRows, effects: Sequence[Effect]) -> Array:
    """Return the sum of the effects of each row, (N,); refuse rows of levels that have none."""
    out = np.zeros(rows.n_rows)
    for one in rows.levels:
        effect = next(effect for effect in effects if effect.name == one.name)
        values = effect.at(one.values[: len(one.values) - one.gaps])
        out += np.append(values, [effect.missing] * one.gaps)[one.codes]
    if not np.isfinite(out).all():
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


def _not_zero(levels: tuple[Levels, ...], y: Array, weight: Array | None) -> NDArray[np.bool_]:
    """Return which rows, (N,), are left when those of levels whose targets are all zero go, until there are none."""
    counts = y if weight is None else y * (weight > 0)
    kept = np.ones(len(y), dtype=bool)
    while True:
        gone = np.zeros_like(kept)
        for one in levels:
            sums = np.bincount(one.codes[kept], counts[kept], len(one.values))
            gone |= (sums <= 0)[one.codes]
        gone &= kept
        if not gone.any():
            return kept
        kept &= ~gone


def _refuse_negative(y: Array) -> None:
    if (y < 0).any():
        row = int((y < 0).argmax())
        raise InvalidData(f"poisson targets are counts, zero or more, and that of row {row} is {y[row]:g}")
