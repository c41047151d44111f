"""Rows of a table without the effects of the levels of some of its columns, and the fits to them.

Degrees of freedom are the rank of the dummies. With one column that is the number of its levels; with two, the number
of all levels less the components of the graph whose edges are the rows (exact: J. M. Abowd, R. H. Creecy and F.
Kramarz, 2002). With more, it is the exact rank if the columns other than the largest have few levels, else an upper
bound: the number of levels less the most components that a column forms with one before it.

The certificate of a fit bounds the influence of remaining effects in columns (delta_j) and target (delta_y). They lie
in the span of the dummies, to which the exactly projected columns are orthogonal, so that

    |error of w_j| <= s_j (sum_k s_k delta_k) (delta_y + sum_k |w_k| delta_k),      s_j^2 = (S^-1)_jj

to which rounding of the columns adds s_j (rho_y + sum_k |w_k| rho_k + |r| sum_k s_k rho_k).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.results import Certificate, Status, changed
from adaline.solvers.absorb.levels import components
from adaline.solvers.absorb.projection import EPS, MOST_STEPS, Projection, SortedRows
from adaline.solvers.least_squares.fit import Fit, digits, judge
from adaline.sources.absorbed import AbsorbedSource, Absorption, Removal
from adaline.sources.tables.effects import EffectRows, Levels, read_effect_rows
from adaline.sources.tables.source import TableSource
from adaline.sources.targets import RowTargets

# levels of columns but the largest up to which the rank is computed exactly; doubling it takes 8 times the work
MOST_RANKED_LEVELS = 1000
# eigenvalue of the scaled equations that counts as zero; 10x larger counts nearly dependent levels as dependent
ZERO_EIGENVALUE = 1e-9


def absorb(table: TableSource, frequencies: bool = True) -> AbsorbedSource:
    """Return the rows of a table without the effects of the columns that it absorbs, in memory; one read.

    `frequencies` : whether weights say how many rows a row stands for.
    """
    rows, singletons = opened(table, frequencies)
    target = rows.columns[table.shape.features]
    mean = np.average(target, weights=rows.weight)
    total = float(np.average((target - mean) ** 2, weights=rows.weight) * _weight(rows))
    columns = rows.columns[: table.shape.features + 1]
    removal = Projection(SortedRows.of(rows.levels), rows.weight).remove_from(columns, targets=1)
    absorption = describe_absorption(rows, total, singletons)
    return AbsorbedSource(rows, absorption, removal, RowTargets.held(columns[table.shape.features :].T))


def opened(table: TableSource, frequencies: bool = True) -> tuple[EffectRows, int]:
    """Return the rows of a table in memory, and how many were left out as the only ones of their level.

    Those of weight zero are none of them.
    """
    rows = read_effect_rows(table)
    if rows.weight is not None and not rows.weight.all():
        if not rows.weight.any():
            raise InvalidData("all weights are zero: there is nothing to fit")
        rows = rows.take(np.flatnonzero(rows.weight))
    if table.spec.singletons == "keep":
        return rows, 0
    kept = without_singletons(rows.levels, rows.weight if frequencies else None)
    if not kept.any():
        raise InvalidData("every row is the only one of a level: open the table with singletons='keep', or absorb less")
    return (rows, 0) if kept.all() else (rows.take(np.flatnonzero(kept)), int((~kept).sum()))


def without_singletons(levels: Sequence[Levels], frequency: Array | None = None) -> NDArray[np.bool_]:
    """Return which rows, (N,), are left when those that are the only ones of a level go, until there are none.

    One that stands for more than one, by its frequency (N,), is not the only one.
    """
    kept = np.ones(len(levels[0].codes), dtype=bool)
    once = kept if frequency is None else frequency <= 1.0
    while True:
        single = np.zeros_like(kept)
        for one in levels:
            counts = np.bincount(one.codes[kept], minlength=len(one.values))
            single |= counts[one.codes] == 1
        single &= kept & once
        if not single.any():
            return kept
        kept &= ~single


def describe_absorption(rows: EffectRows, total: float, singletons: int = 0, separated: int = 0) -> Absorption:
    """Return the absorption of rows whose target has this sum of squares."""
    rank, exact = rank_of(rows.levels, rows.weight)
    counts = {one.name: len(one.values) for one in rows.levels}
    names = tuple(effect.name for effect in rows.table.coding.effects)
    return Absorption(names, tuple(counts[name] for name in names), rank - 1, exact, total, singletons, separated)


def rank_of(levels: Sequence[Levels], weight: Array | None) -> tuple[int, bool]:
    """Return the rank of the dummies of some columns, and whether it is exact; rows of weight zero do not count."""
    used = slice(None) if weight is None or (weight > 0).all() else np.flatnonzero(weight > 0)
    codes = [one.codes[used] for one in levels]
    counts = [int((np.bincount(own) > 0).sum()) for own in codes]
    if len(levels) == 1:
        return counts[0], True
    sizes = [len(one.values) for one in levels]
    others = sum(sizes) - max(sizes)
    if len(levels) > 2 and others <= MOST_RANKED_LEVELS:
        return _exact_rank(codes, sizes), True
    rank = counts[0]
    for q in range(1, len(codes)):
        parts = [components(np.stack([codes[p], codes[q] + np.int32(sizes[p])]), sizes[p] + sizes[q]) for p in range(q)]
        rank += counts[q] - max(parts)
    return rank, len(levels) == 2


def _exact_rank(codes: list[NDArray[np.int32]], sizes: list[int]) -> int:
    """Return the rank of the dummies of columns: the levels of the largest, and the rank of what is left of others."""
    largest = int(np.argmax(sizes))
    first, rest = codes[largest], [q for q in range(len(codes)) if q != largest]
    ends = np.cumsum([0, *(sizes[q] for q in rest)])
    columns = np.concatenate([codes[q] + end for q, end in zip(rest, ends[:-1], strict=True)])
    rows = np.tile(np.arange(len(first)), len(rest))
    shape = len(first), int(ends[-1])
    others: Any = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    mass = np.bincount(first, minlength=sizes[largest])
    root = 1.0 / np.sqrt(np.maximum(mass, 1))[first]
    means: Any = scipy.sparse.csr_array((root, (first, np.arange(len(first)))), shape=(sizes[largest], len(first)))
    between = means @ others
    matrix = (others.T @ others - between.T @ between).toarray()
    scale = np.sqrt(np.maximum(np.bincount(columns, minlength=shape[1]), 1))
    values = np.linalg.eigvalsh(matrix / scale[:, None] / scale)
    return int((mass > 0).sum()) + int((values > ZERO_EIGENVALUE).sum())


def certified(fit: Fit, source: AbsorbedSource, removal: Removal) -> Fit:
    """Return a fit to rows without effects with the digits that it has as one to all columns and dummies.

    Its parameters are those of both. `removal` is that of the columns of the fit, D regressors and the target.
    """
    factor, d = fit.factor, fit.solution.theta.shape[1] - 1
    proof = fit.solution.certificate
    found, status = proof.digits, proof.status
    if factor is not None:
        theta, alive = fit.solution.theta, factor.alive
        reach = np.where(alive, np.ldexp(factor.inverse_lengths(), -factor.scaling.scale), 0.0)
        size = np.abs(theta[0, 1:])
        left, rounding = removal.left, removal.rounding
        error = (reach @ left[:d]) * (left[d] + size @ left[:d])
        error += rounding[d] + size @ rounding[:d] + np.sqrt(fit.rss[0]) * (reach @ rounding[:d])
        bound = np.concatenate([[0.0], reach * error])
        bound[0] = np.abs(removal.mean[:d]) @ bound[1:] + EPS * (size @ np.abs(removal.mean[:d]))
        lengths = np.ldexp(factor.lengths, np.concatenate([[0], factor.scaling.scale]))
        found = -np.log10(10.0**-proof.digits + 10.0 ** -digits(bound[None], theta, lengths))
        if status in (Status.SOLVED, Status.FEW_DIGITS):
            status = judge(factor, found)
    advice = proof.advice if status is proof.status else status.advice
    known = changed(proof, digits=float(max(found, 0.0)), status=status, advice=advice)
    return fit._replace(
        solution=fit.solution._replace(certificate=beside_effects(known, source)),
        trace=fit.trace + float(source.absorption.freedom),
    )


def beside_effects(proof: Certificate, source: AbsorbedSource) -> Certificate:
    """Return the certificate of a fit with how the effects were absorbed, and whether they were not."""
    removal = source.removal
    steps = "means" if len(source.rows.levels) == 1 else f"{removal.iterations} steps of conjugate gradients"
    proof = changed(proof, solver=f"{proof.solver}; effects absorbed by {steps}")
    if removal.converged:
        return proof
    advice = (
        f"the effects are not separated after {MOST_STEPS:,} steps, their equations have condition "
        f"{removal.condition:.1e}: absorb the column with most levels alone, or leave out levels connected by few "
        "rows"
    )
    return changed(proof, status=Status.NOT_CONVERGED, advice=advice)


def _weight(rows: EffectRows) -> float:
    return float(rows.n_rows if rows.weight is None else rows.weight.sum())
