"""Enclosures of the minimum of the softmax loss: all coefficients of all classes at once.

Adding the same to the coefficients of all classes changes no probability; a fit takes those whose sums over the classes
are zero. So the last class has minus the sum of the others, phi, and the objective of phi has one minimum where the
classes overlap. With S the second derivatives of a row by its outputs, q'Sq = min_c sum_k p_k (q_k - c)^2, so that

    exp(-s) S <= S' <= exp(s) S      where outputs change by d, and s = max d - min d <= sqrt(2) || d ||

and the theorem of `likelihood.py` holds with L = sqrt(2) max || T'x_i ||. T is the map of the columns that makes rows
nearly orthonormal, for each class, times the inverse Cholesky factor of the second derivatives there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from adaline import twofold
from adaline.arrays import Array
from adaline.block import MIN_BLOCK_ROWS
from adaline.enclosures.least_squares import draw_back
from adaline.enclosures.likelihood import DEPENDENT, FAR, MISSING, MOST_NEWTON_STEPS, NEAR, ROOM
from adaline.enclosures.linear import ROUNDING_MODE, LinearEnclosure, Stepped, narrow, nowhere
from adaline.enclosures.preconditioner import (
    Preconditioner,
    Pulled,
    Pushed,
    RowSizes,
    precondition,
    scaled_penalties,
)
from adaline.enclosures.rounding import (
    OUTWARDS,
    ROUNDING,
    TINY,
    ends,
    gamma,
    length,
    rounds_to_nearest,
    rows_length,
    scaled_outwards,
)
from adaline.penalties import RidgePenalty
from adaline.sources import Source
from adaline.sums import BoundedSoftmax, SoftmaxPoint
from adaline.sums.bounded_score import RUN_ROWS

PROBABILITIES = 2.0**-35  # more than the relative error of products of probabilities in float64


@dataclass(frozen=True)
class StackedPreconditioner:
    """T of the stacked coefficients: those of each class by the map of the columns, after a matrix over all of them.

    Parameters
    ----------
    columns : the map of the columns.
    matrix : (M, M), M = (K - 1)(1 + D).
    defect : alpha.
    """

    columns: Preconditioner
    matrix: Array
    defect: float

    @property
    def constant(self) -> float:
        """That of the columns: zero without an intercept."""
        return self.columns.constant

    def pull(self, hi: Array, lo: Array, error: Array) -> Pulled:
        """Return T'g, (1, M), for g = hi + lo (K - 1, 1 + D)."""
        own = self.columns.pull(hi, lo, error)
        values, size = own.values.reshape(1, -1), np.abs(self.matrix)
        wrong = own.error.reshape(1, -1) @ size + gamma(len(size) + 2) * (np.abs(values) @ size)
        return Pulled(values @ self.matrix, OUTWARDS * wrong + TINY)

    def push(self, y: Array) -> Pushed:
        """Return T y, (n, M)."""
        width = len(self.columns.row_lengths())
        values = y @ self.matrix.T
        wrong = gamma(len(self.matrix) + 2) * (np.abs(y) @ np.abs(self.matrix.T))
        own = self.columns.push(values.reshape(-1, width))
        more = np.outer(rows_length(wrong.reshape(-1, width)), self.columns.row_lengths())
        return Pushed(own.values.reshape(y.shape), OUTWARDS * (own.error + more).reshape(y.shape))

    def row_lengths(self) -> Array:
        """Return upper bounds (M,) on the lengths of the rows of T."""
        classes = len(self.matrix) // len(self.columns.row_lengths())
        return OUTWARDS * np.tile(self.columns.row_lengths(), classes) * length(self.matrix)

    def pulled_lengths(self, v: Array) -> Array:
        """Return upper bounds (n,) on how far an output of rows v moves along T z, over || z ||, of any class."""
        classes = len(self.matrix) // v.shape[1]
        return np.asarray(OUTWARDS * classes * self.columns.pulled_lengths(v) * length(self.matrix))


@np.errstate(all="ignore")
def enclose_softmax(source: Source, intercept: bool, penalty: RidgePenalty, theta: Array) -> LinearEnclosure:
    """Return bounds on the minimum for the rows, whose targets are classes; `theta` (K, 1 + D) is near it."""
    before, d, classes = source.reads[0], source.shape.features, len(theta)
    if not rounds_to_nearest():
        return nowhere(classes, d, ROUNDING_MODE, 0)
    reason, last = MISSING + "Newton's method does not get near one", np.inf
    columns, sizes, _ = precondition(source, intercept, penalty)
    if columns is None:
        return nowhere(classes, d, MISSING + DEPENDENT, source.reads[0] - before)
    powers = np.append(0.0, sizes.exponent[:d]).astype(np.int64)
    hi = np.ldexp(theta[:-1], powers) * np.append(float(intercept), np.ones(d))
    for _ in range(MOST_NEWTON_STEPS):
        total = _summed(source, columns, sizes, hi, np.zeros_like(hi))
        known = _stacked(columns, sizes, penalty, total)
        if known is None:
            reason = MISSING + DEPENDENT
            break
        first = _stepped(known, sizes, penalty, total, hi, np.zeros_like(hi))
        size = float(first.lengths()[0])
        if size > FAR or NEAR < size < last / 2:
            hi, last = hi + known.push(first.pulled.values).values.reshape(hi.shape), size
            continue
        farthest = math.sqrt(2) * total.farthest * length(known.matrix) * math.sqrt(classes)
        radius = ROOM * size
        defect = known.defect + math.expm1(min(radius * farthest, 700.0)) * (1 + known.defect)
        defect = OUTWARDS * defect + TINY
        if not (defect < 1 and size <= radius * (1 - defect)):
            break
        near = replace(known, defect=defect)
        tiled = np.tile(np.append(0.0, sizes.exponent[:d]), classes - 1)
        flat = RowSizes(tiled[1:], np.tile(sizes.columns, classes - 1), np.zeros(0), sizes.rows)
        step = partial(_step, source, near, sizes, penalty)
        start = hi.reshape(1, -1)
        found = narrow(step, source, near, flat, start, first=first, within=radius)
        return _of_all_classes(found, sizes, source.reads[0] - before)
    return nowhere(classes, d, reason, source.reads[0] - before)


def _summed(source: Source, columns: Preconditioner, sizes: RowSizes, hi: Array, lo: Array) -> BoundedSoftmax:
    """Return the sums at hi + lo: one pass."""
    point = SoftmaxPoint(hi, lo, sizes.exponent)
    return source.sum(BoundedSoftmax, (point, columns), classes=len(hi) + 1)


def _step(
    source: Source, known: StackedPreconditioner, sizes: RowSizes, penalty: RidgePenalty, hi: Array, lo: Array
) -> Stepped:
    """Return T'g at hi + lo, (1, M): one pass."""
    hi, lo = (one.reshape(-1, len(sizes.columns)) for one in (hi, lo))
    return _stepped(known, sizes, penalty, _summed(source, known.columns, sizes, hi, lo), hi, lo)


def _stepped(
    known: StackedPreconditioner, sizes: RowSizes, penalty: RidgePenalty, total: BoundedSoftmax, hi: Array, lo: Array
) -> Stepped:
    """Return T'g from the sums."""
    point = SoftmaxPoint(hi, lo, sizes.exponent)
    every = point.all_classes()
    gradient = total.gradient[..., 0].copy(), total.gradient[..., 1].copy()
    run = min(sizes.rows, RUN_ROWS)
    units = 40 * (run / 2 + 16) + run + 400 + 16 * (sizes.rows / MIN_BLOCK_ROWS + 64)
    lost = units * ROUNDING**2 * total.size + draw_back(gradient, penalty, sizes, *every)
    pull = np.append(0.0, scaled_penalties(penalty, sizes.exponent)[0])
    lost[-1] += 2.0**-98 * pull * np.abs(hi).sum(axis=0)
    below = 1 + total.size.max() + np.abs(hi).max(initial=0.0) + sizes.columns.max()
    lost += TINY * (sizes.rows + 1) * (hi.shape[1] + 4) * below**4
    own = twofold.add(gradient[0][:-1], gradient[1][:-1], -gradient[0][-1], -gradient[1][-1])
    lost = lost[:-1] + lost[-1] + 2.0**-100 * (np.abs(gradient[0][:-1]) + np.abs(gradient[0][-1]))
    through = math.sqrt(2 * len(every[0])) * length(known.matrix) * total.wrong
    return Stepped(known.pull(*own, OUTWARDS * lost), np.array([OUTWARDS * through]))


def _stacked(
    columns: Preconditioner, sizes: RowSizes, penalty: RidgePenalty, total: BoundedSoftmax
) -> StackedPreconditioner | None:
    """Return T with its proof, or None where there is none."""
    width = len(sizes.columns)
    classes = len(total.metric) // width + 1
    pushed = columns.push(np.eye(width))
    root = np.sqrt(scaled_penalties(penalty, sizes.exponent)[0])
    drawn, off = (root[:, None] * one.T[1:] for one in pushed)
    both = np.eye(classes - 1) + np.ones((classes - 1, classes - 1))
    second = total.metric + np.kron(both, drawn.T @ drawn)
    lost = (gamma(sizes.rows + 64) + PROBABILITIES) * total.mass + total.skew
    lost += classes * ((2 * length(drawn) + length(off)) * length(off) + gamma(width + 16) * length(drawn) ** 2)
    active = np.flatnonzero(np.tile(np.append(columns.constant > 0, np.ones(width - 1, dtype=bool)), classes - 1))
    second = second[np.ix_(active, active)]
    diagonal = second.diagonal()
    if not (np.isfinite(second).all() and (diagonal > 0).all()):
        return None
    down = 1 / np.sqrt(diagonal)
    factor, info = scipy.linalg.lapack.dpotrf(second * np.outer(down, down), lower=0)
    if info:
        return None
    own = down[:, None] * scipy.linalg.lapack.dtrtri(factor)[0]
    size, m = np.abs(own), len(own)
    defect = length(np.eye(m) - own.T @ second @ own) + length(own) ** 2 * OUTWARDS * lost
    defect += gamma(2 * m + 8) * (length(size.T @ np.abs(second) @ size) + m)
    if not defect < 1:
        return None
    matrix = np.zeros_like(total.metric)
    matrix[np.ix_(active, active)] = own
    return StackedPreconditioner(columns, matrix, float(OUTWARDS * defect + TINY))


def _of_all_classes(found: LinearEnclosure, sizes: RowSizes, passes: int) -> LinearEnclosure:
    """Return the bounds of all classes, (K, 1 + D), from those of all but the last, stacked."""
    if found.found is None or found.known is None:
        return found._replace(passes=passes)
    here, width = found.found, len(sizes.columns)
    hi, lo, rounded = (one.reshape(-1, width) for one in here[:3])
    classes, d = len(hi) + 1, width - 1
    every = SoftmaxPoint(hi, lo, sizes.exponent).all_classes()
    rounded = np.vstack([rounded, OUTWARDS * (rounded.sum(axis=0) + 2.0**-100 * np.abs(hi).sum(axis=0))])
    reach = np.repeat(here.reach, classes)
    lengths = found.known.row_lengths().reshape(-1, width)
    lengths = np.vstack([lengths, OUTWARDS * lengths.sum(axis=0)])
    radius = OUTWARDS * (reach[:, None] * lengths + rounded)
    powers = np.zeros((classes, 1)) - np.append(0.0, sizes.exponent[:d])
    bounds = scaled_outwards(*ends(*every, radius), powers)
    own = RowSizes(sizes.exponent[:d], sizes.columns, np.zeros(0), sizes.rows)
    spread = here._replace(hi=every[0], lo=every[1], rounded=rounded, reach=reach)
    return LinearEnclosure(bounds, "", passes, spread, found.known, own)
