"""A survey of the rows: extremes and moments of each class, the scaling of the columns, and a direction to start from.

The start is least squares on class indicators (S1, S2): w_k = S^-1 N_k (m_k - m), from class moments. Where there are
too many columns for that, it is along the class means; two classes then continue with logistic regression (L-BFGS),
which stops at the first iterate that separates. The start needs not be exact.

Separability is decided in the columns that vary, scaled by powers of two, and shifted if far from zero. Both maps are
exact, so a plane found there is brought back to the raw columns without rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, as_dense, host, is_device, is_sparse, namespace, to_device_of
from adaline.block import Block
from adaline.separation.exact import Whole, rounded
from adaline.sources import Source
from adaline.sums import ClassMoments
from adaline.sums.columns import times_power

# columns up to which the start is least squares; doubling it takes four times the memory for second moments
MOST_LEAST_SQUARES_COLUMNS = 1024
START_STEPS = 500  # L-BFGS steps for a start; doubling it takes twice as long where rows are not separable
ROUNDING = 2.0**-53  # rounding error of a float, relative to it
UNDERFLOW = 2.0**-700  # bound on what underflow removes from a product
EXTREME_EXPONENT = 300  # powers of two beyond which the columns are scaled, not the weights; much larger ones overflow
# mean of a column, in spreads, from which the column is shifted; doubling it makes integers one bit longer
FAR_MEAN = 16.0


@dataclass(frozen=True)
class Survey:
    """Numbers of rows that take part, and smallest and largest value of each column, for each class, (K, D)."""

    source: Source
    rows: NDArray[np.int64]
    low: Array
    high: Array
    moments: ClassMoments | None

    @classmethod
    def of(cls, source: Source, n_classes: int) -> Survey:
        """Return the survey of a source; refuse numbers that are not finite. Two passes, one where columns are many."""
        return cls.of_extremes(source, n_classes).with_moments()

    def with_moments(self) -> Survey:
        """Return the survey with the moments of the classes, where columns are not too many; a pass."""
        few = not self.source.sparse and self.source.shape.features <= MOST_LEAST_SQUARES_COLUMNS
        return replace(self, moments=self.source.sum(ClassMoments, classes=len(self.rows))) if few else self

    @classmethod
    def of_extremes(cls, source: Source, n_classes: int) -> Survey:
        """Return the survey without the moments of the classes, in one pass."""
        d = source.shape.features
        parts = source.map(lambda block: _extremes(block, n_classes)[None])
        rows = parts[..., 0].sum(axis=0).astype(np.int64)
        low, high = parts[..., 1 : 1 + d].min(axis=0), parts[..., 1 + d :].max(axis=0)
        if not (np.isfinite(low[rows > 0]).all() and np.isfinite(high[rows > 0]).all()):
            source.refuse_nonfinite()
        return cls(source, rows, low, high, None)

    def scaling(self, classes: list[int]) -> ExactScaling:
        """Return how to shift and scale the columns for rows of these classes."""
        low, high = self.low[classes].min(axis=0), self.high[classes].max(axis=0)
        if self.moments is None:
            return ExactScaling.of(low, high, low / 2 + high / 2, (high / 2 - low / 2) / 2, self.source.sparse)
        total = ClassMoments([self.moments.parts[k] for k in classes]).total()
        with np.errstate(over="ignore", invalid="ignore"):
            spread = times_power(np.sqrt(np.maximum(np.diagonal(total.second), 0) / total.weight), total.exponent)
        return ExactScaling.of(low, high, total.first_hi, spread, False)

    def start(self, classes: list[int], scaling: ExactScaling) -> Array:
        """Return a direction to start from, (K - 1, 1 + columns in use), weights of the first class taken off."""
        w = self._means(classes, scaling) if self.moments is None else self._least_squares(classes, scaling)
        theta = w[1:] - w[0]
        if not np.isfinite(theta).all() or not theta.any():
            theta = np.ones_like(theta)
        return self._logistic(classes, scaling, theta[0])[None, :] if self.moments is None and len(w) == 2 else theta

    def _least_squares(self, classes: list[int], scaling: ExactScaling) -> Array:
        assert self.moments is not None
        parts = ClassMoments([self.moments.parts[k] for k in classes])
        total = parts.total()
        used = scaling.columns
        down = total.exponent[used] - scaling.exponent
        with np.errstate(over="ignore", invalid="ignore"):
            second = times_power(times_power(total.second[np.ix_(used, used)], down).T, down)
            away = times_power(parts.differences(total)[:, used], down)
            mean = scaling.inside(total.first_hi[used])
        if not (np.isfinite(second).all() and np.isfinite(away).all() and len(used)):
            return np.zeros((len(classes), 1 + len(used)))
        share = parts.weights[:, None]
        second[np.diag_indices(len(used))] += 1e-12 * np.trace(second) + 1e-300
        w = np.linalg.solve(second, (share * away).T).T
        return np.column_stack([share[:, 0] / total.weight - w @ mean, w])

    def _means(self, classes: list[int], scaling: ExactScaling) -> Array:
        codes, x = self.source.read_targets()[:, 0], self.source.matrix()
        power = -scaling.exponent
        means = [x.rmatvec((codes == k) / max(self.rows[k], 1))[scaling.columns] for k in classes]
        c = times_power(np.array(means) - scaling.shift, power)
        return np.column_stack([-0.5 * (c * c).sum(axis=1), c])

    def _logistic(self, classes: list[int], scaling: ExactScaling, start: Array) -> Array:
        codes, x = self.source.read_targets()[:, 0], self.source.matrix()
        t = np.where(codes == classes[1], 1.0, np.where(codes == classes[0], -1.0, 0.0))
        weight = self.source.read_weights()
        if weight is not None:
            t = np.where(weight > 0, t, 0.0)
        part = t != 0
        best = start

        def scores(theta: Array) -> Array:
            w = np.zeros(scaling.features)
            w[scaling.columns] = times_power(theta[1:], -scaling.exponent)
            constant = theta[0] - float(w[scaling.columns] @ scaling.shift)
            return np.asarray(t * (x.matvec(w) + constant))

        def loss(theta: Array) -> tuple[float, Array]:
            height = scores(theta)
            slope = -t * scipy.special.expit(-height)
            back = x.rmatvec(slope)[scaling.columns] - scaling.shift * slope.sum()
            gradient = np.concatenate([[slope.sum()], times_power(back, -scaling.exponent)])
            return float(np.logaddexp(0.0, -height)[part].sum()), gradient

        def separates(xk: Array) -> None:
            nonlocal best
            best = np.array(xk)
            if (scores(best)[part] > 0).all():
                raise StopIteration

        scipy.optimize.minimize(
            loss, 0 * start, method="L-BFGS-B", jac=True, callback=separates, options={"maxiter": START_STEPS}
        )
        return best


@dataclass(frozen=True)
class ExactScaling:
    """The columns c = (x - shift) 2^-exponent in which separability is decided.

    Parameters
    ----------
    features : number of columns that the rows have.
    columns : indices of those in use, which vary.
    shift, exponent : of the columns in use.
    reach : the largest |x - shift| of each.
    """

    features: int
    columns: NDArray[np.intp]
    shift: Array
    exponent: NDArray[np.int64]
    reach: Array

    @classmethod
    def of(cls, low: Array, high: Array, mean: Array, spread: Array, sparse: bool) -> ExactScaling:
        """Return the scaling of columns with these extremes, means and spreads; sparse columns are not shifted."""
        columns = np.flatnonzero(low < high)
        features = len(low)
        low, high, mean, spread = (values[columns] for values in (low, high, mean, spread))
        spread = np.where((spread > 0) & np.isfinite(spread), spread, high / 2 - low / 2)
        exponent = np.frexp(spread)[1].astype(np.int64)
        far = (np.abs(mean) > FAR_MEAN * spread) & (not sparse)
        with np.errstate(over="ignore", invalid="ignore"):
            even = times_power(np.rint(times_power(mean, -exponent)), exponent)  # few digits: x - shift is often exact
            shift = np.where(far, np.where(np.isfinite(even), even, mean), 0.0)
            reach = np.maximum(np.abs(high - shift), np.abs(low - shift))
        return cls(features, columns, shift, exponent, reach)

    def inside(self, x: Array) -> Array:
        """Return the columns c of rows (n, columns in use)."""
        with np.errstate(over="ignore"):
            return np.asarray(times_power(x - self.shift, -self.exponent))

    def weights_inside(self, theta: Array) -> Array:
        """Return weights of (1, c) in floats, from intercept and weights in raw columns, (1 + D,)."""
        w = theta[1 + self.columns]
        return np.concatenate([[theta[0] + w @ self.shift], times_power(w, self.exponent)])

    def used(self, x: AnyArray) -> Any:
        """Return the columns in use."""
        return x if len(self.columns) == self.features else x[:, self.columns]

    def to_raw(self, theta: Whole) -> list[Fraction]:
        """Return intercept and weights in raw columns, from weights of (1, c); exact."""
        out = [Fraction(0)] * (1 + self.features)
        out[0] = Fraction(theta[0])
        for j, value, shift, e in zip(self.columns, theta[1:], self.shift, self.exponent.tolist(), strict=True):
            w = Fraction(value) * _power(-e)
            out[1 + int(j)] = w
            out[0] -= w * Fraction(float(shift))
        return out

    def from_raw(self, plane: list[Fraction]) -> list[Fraction]:
        """Return weights of (1, c) from intercept and weights in raw columns; exact."""
        out = [plane[0]]
        for j, shift, e in zip(self.columns, self.shift, self.exponent.tolist(), strict=True):
            w = plane[1 + int(j)]
            out.append(w * _power(e))
            out[0] += w * Fraction(float(shift))
        return out


class ContestScores:
    """Scores (1, c) . theta of rows for several theta at once, (m, 1 + columns in use), with bounds on their errors."""

    def __init__(self, scaling: ExactScaling, theta: Whole) -> None:
        self.scaling = scaling
        floats = rounded(theta)
        self.constant = floats[:, 0]
        self.present = theta != 0
        self.scaled = bool((np.abs(scaling.exponent) > EXTREME_EXPONENT).any())
        self.shifted = bool(scaling.shift.any())
        self.w = floats[:, 1:] if self.scaled else np.ldexp(floats[:, 1:], -scaling.exponent)
        self.direct = not (self.scaled or self.shifted)
        self.every = self.w
        if self.direct and len(scaling.columns) < scaling.features:
            self.every = np.zeros((len(theta), scaling.features))
            self.every[:, scaling.columns] = self.w
        reach = times_power(scaling.reach, -scaling.exponent) if self.scaled else scaling.reach
        self.share = (self.w.shape[1] + 8) * ROUNDING
        with np.errstate(invalid="ignore", over="ignore"):
            self.limit = (np.abs(self.constant) + np.abs(self.w) @ reach) * self.share * (1 + self.share)
        self.limit = np.where(self.present.any(axis=1), self.limit + UNDERFLOW * self.w.shape[1], 0.0)

    def scores(self, x: AnyArray) -> Array:
        """Return the scores in floats, (n, m), of rows with all columns."""
        with np.errstate(invalid="ignore", over="ignore"):
            if self.direct:
                return np.asarray(x @ self.every.T + self.constant)
            return np.asarray(self._columns(x) @ self.w.T + self.constant)

    def bound(self, x: AnyArray) -> Array:
        """Return bounds on the errors of the scores, (n, m); zero where every term is zero."""
        c = np.abs(self._columns(x))
        with np.errstate(invalid="ignore", over="ignore"):
            size = c @ np.abs(self.w).T + np.abs(self.constant)
            terms = (c != 0).astype(np.float64) @ self.present[:, 1:].T.astype(np.float64) + self.present[:, 0]
            return np.asarray(size * (self.share * (1 + self.share)) + UNDERFLOW * terms)

    def _columns(self, x: AnyArray) -> Array:
        part = self.scaling.used(x)
        c = np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)
        if self.scaled:
            return self.scaling.inside(c)
        return np.asarray(c - self.scaling.shift) if self.shifted else c


def _extremes(block: Block, n_classes: int) -> Array:
    """Return number of rows, smallest and largest value of each column, for each class, (K, 1 + 2 D)."""
    if is_device(block.x):
        return _extremes_on_device(block, n_classes)
    codes = host(block.t)[:, 0].astype(np.int64)
    x = block.x
    none = np.full(x.shape[1], np.inf)
    out = np.tile(np.concatenate([[0.0], none, -none]), (n_classes, 1))
    positive = block.weights() > 0
    for k in range(n_classes):
        rows = np.flatnonzero((codes == k) & positive)
        if not len(rows):
            continue
        part = x[rows]
        found = [np.ravel(as_dense(extreme(axis=0))) for extreme in (part.min, part.max)]
        out[k] = np.concatenate([[len(rows)], *found])
    return out


def _extremes_on_device(block: Block, n_classes: int) -> Array:
    """Return the same of rows on a device, which stay there."""
    block = block.gathered()
    x, xp = block.x, namespace(block.x)
    codes = to_device_of(x, block.t)[:, 0]
    if block.weight is not None:
        codes = xp.where(to_device_of(x, block.weight) > 0, codes, -1.0 + 0.0 * codes)
    none = np.full(x.shape[1], np.inf)
    out = np.tile(np.concatenate([[0.0], none, -none]), (n_classes, 1))
    for k in range(n_classes):
        part = xp.take(x, xp.nonzero(codes == k)[0], axis=0)
        if part.shape[0]:
            ends = host(xp.concat([xp.min(part, axis=0), xp.max(part, axis=0)]))
            out[k] = np.concatenate([[part.shape[0]], ends])
    return out


def _power(e: int) -> Fraction:
    return Fraction(2**e) if e >= 0 else Fraction(1, 2**-e)
