"""Dependent columns found from the sums and proven on the rows: a pass or two, instead of a triangle.

    x_a = constant_a + sum_j weight_aj x_j   for each column a left out, its residual zero up to rounding

The Gram matrix does not distinguish a dependent column from one whose residual is 1e-8 of its length. So
each column that may be dependent is regressed on the kept ones and refined on the rows, in double-double: its residual
is then known to rounding. Only if every residual is zero the rank is decided; else the triangle must decide.

Where many columns are combinations of few others each, as copies are, their residuals are taken over those few columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adaline import twofold
from adaline.arrays import Array, host, is_sparse
from adaline.block import Block, Shape
from adaline.penalties import no_penalty
from adaline.solvers import lapack
from adaline.solvers.least_squares.dependence import combinations, neat
from adaline.solvers.least_squares.direct import Normal
from adaline.solvers.least_squares.factor import (
    CholeskyFactor,
    ColumnScaling,
    SpectralFactor,
    condition_of,
    cut_relative,
    estimate_condition,
    spectral_factor,
)
from adaline.solvers.least_squares.refine import refine, start_with_intercept
from adaline.sources import Source
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import SourceView
from adaline.sums.moments import PIECE_NUMBERS

MOST_PROVEN_COLUMNS = 16  # dependent columns that are proven on the rows; of more the triangle costs less


def proven_factor(source: Source, normal: Normal, limit: float) -> tuple[SpectralFactor, Array] | None:
    """Return a factor whose rank is decided, and the slopes u (K, D) from the sums; None where that is not proven.

    Parameters
    ----------
    source : the rows.
    normal : the normal equations of their sums, without a penalty, whose factor is singular.
    limit : condition of the kept columns from which the sums are not good enough.
    """
    whole, scaling, moments = normal.factor, normal.factor.scaling, normal.moments
    assert isinstance(whole, SpectralFactor)
    d = scaling.features
    many = whole.varying - whole.rank > MOST_PROVEN_COLUMNS
    with one_blas_thread():
        left_out = whole.dependence.left_out
        entries = np.count_nonzero(whole.dependence.weights, axis=1).max(initial=0) * len(left_out)
        if many and entries > MOST_PROVEN_COLUMNS * d:
            return None
        kept = whole.alive.copy()
        kept[left_out] = False
        if not kept.any() or not _constant(normal):
            return None
        indices = np.flatnonzero(kept)
        c = moments.second[:d, :d] / np.outer(whole.length, whole.length)
        c[indices, indices] = 1.0
        inner = c[np.ix_(indices, indices)]
        r, info = lapack.dpotrf(inner, lower=0, clean=1)
        condition = estimate_condition(inner, r) if info == 0 else np.inf
        contraction = 4 * condition**2 * float(normal.relative.max()) * np.sqrt(d)
        if condition > limit or contraction >= 0.1:
            return None
        triangle = np.eye(d, order="F")
        triangle[np.ix_(indices, indices)] = r
    columns = np.append(np.arange(d), left_out)
    means, exponent = (scaling.mean_hi[columns], scaling.mean_lo[columns]), scaling.exponent[columns]
    targets = ColumnScaling(d, scaling.weight, scaling.intercept, *means, exponent)
    regression = CholeskyFactor(targets, whole.length, kept, condition, len(indices), contraction, True, triangle)
    start = _neat(targets, whole.length, regression.solve(moments.second[left_out, :d]))
    if many:
        slopes, squares = start, _squares(source, regression, left_out, start)
    else:
        found = refine(ColumnsAsTargets(source, left_out), regression, start, no_penalty(d))
        slopes, squares = found.theta[:, 1:], found.squares
    size = whole.length[left_out]
    if not (np.sqrt(squares) <= cut_relative(d) * size).all():
        return None
    with one_blas_thread():
        combined = np.zeros((len(indices), d))
        combined[:, indices] = np.eye(len(indices))
        combined[:, left_out] = (slopes[:, indices] * whole.length[indices] / size[:, None]).T
        alive, rank = np.flatnonzero(whole.alive), len(indices)
        _, s, vt = np.linalg.svd(r @ combined[:, alive], full_matrices=False)
        null = np.zeros((d, len(left_out)))
        null[indices] = combined[:, left_out]
        null[left_out, np.arange(len(left_out))] = -1.0
        v = np.zeros((d, d))
        v[alive, :rank] = vt.T
        v[:, rank : len(alive)] = np.linalg.qr(null)[0]
        v[~whole.alive, len(alive) :] = np.eye(d - len(alive))
        s = np.append(s, np.zeros(d - rank))
        contraction = contraction * (condition_of(s, rank) / condition) ** 2
        factor = spectral_factor(scaling, whole.length, whole.alive, v, s, rank, contraction, decided=True)
    if many:
        factor.dependence = combinations(left_out, _raw(targets, slopes), *factor.units)
    return factor, factor.solve(moments.second[d:, :d])


class ColumnsAsTargets(SourceView):
    """The rows of a source with some of their own columns as targets."""

    def __init__(self, base: Source, chosen: NDArray[np.intp]) -> None:
        super().__init__(base)
        self.chosen = chosen
        self.targets = replace(self.targets, count=len(chosen))
        self.shape = Shape(base.shape.features, len(chosen))

    def _transformed(self, block: Block) -> Block:
        block = block.gathered()
        own = block.x[:, self.chosen]
        own = own.toarray() if is_sparse(own) else host(own)
        return replace(block, t=np.ascontiguousarray(own, dtype=np.float64))


def _squares(source: Source, regression: CholeskyFactor, left_out: NDArray[np.intp], u: Array) -> Array:
    """Return the squares (A,) of what few columns each, with slopes u (A, D), leave of the columns left out.

    In scaled units and double-double; the cost is that of the slopes that are not zero.
    """
    scaling = regression.scaling
    hi, lo, _ = start_with_intercept(regression, u)
    first = np.argsort(u == 0, axis=1, kind="stable")[:, : np.count_nonzero(u, axis=1).max(initial=0)]
    columns = np.unique(np.append(left_out, first))
    place, powers = np.searchsorted(columns, np.column_stack([left_out, first])), scaling.scale[columns]
    slopes = np.take_along_axis(u, first, axis=1)

    def sums(block: Block) -> Array:
        out = np.zeros((1, 2, len(left_out)))
        for piece in block.gathered().pieces(PIECE_NUMBERS):
            x = piece.x[:, columns]
            z = np.ldexp(np.asarray(x.toarray() if is_sparse(x) else host(x), dtype=np.float64), -powers)
            r, rest = twofold.add(z[:, place[:, 0]], 0.0, -hi[:, 0], -lo[:, 0])
            for k in range(slopes.shape[1]):
                r, rest = twofold.add(r, rest, *twofold.two_prod(z[:, place[:, 1 + k]], -slopes[:, k]))
            weight = np.ones(len(z)) if piece.weight is None else host(piece.weight)
            out[0] += weight @ r, weight @ r**2
        return out

    first_moment, second = np.asarray(source.map(sums)).sum(axis=0)
    return np.asarray(np.maximum(second - scaling.intercept * first_moment**2 / scaling.weight, 0.0))


def _constant(normal: Normal) -> bool:
    """Return whether the columns that take no part are constant to the last bit."""
    d = normal.factor.scaling.features
    return not normal.moments.second.diagonal()[:d][~normal.factor.alive].any()


def _neat(scaling: ColumnScaling, length: Array, u: Array) -> Array:
    """Return scaled slopes u (A, D), rounded to fractions of small denominators where these are near in raw units."""
    u = np.where(np.abs(u * length) > 1e-9 * np.abs(u * length).max(axis=1, keepdims=True, initial=0.0), u, 0.0)
    raw = _raw(scaling, u)
    return np.asarray(np.where(np.isfinite(raw), np.ldexp(neat(raw), -_shift(scaling)), u))


def _raw(scaling: ColumnScaling, u: Array) -> Array:
    """Return scaled slopes u (A, D) in raw units."""
    with np.errstate(over="ignore"):
        return np.ldexp(u, _shift(scaling))


def _shift(scaling: ColumnScaling) -> NDArray[np.int64]:
    return np.asarray(np.clip(scaling.target_scale[:, None] - scaling.scale, -1000, 1000))
