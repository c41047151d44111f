"""What a first look at the rows tells: extremes and moments of each class, and a direction to start from.

The start is least squares on class indicators (S1, S2): w_k = S^-1 N_k (m_k - m), from class moments. Where there are
too many columns for that, it is along the class means; two classes then go on with logistic regression (L-BFGS), which
separates early where it can. Nothing here needs to be exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from adaline.block import Block
from adaline.namespaces import host, is_device, is_sparse
from adaline.proof.frame import Frame
from adaline.sources import Source
from adaline.sums import ClassMoments
from adaline.sums.columns import times_power

Array = NDArray[np.float64]

MOST_COLUMNS = 1024  # for a matrix of second moments
STEPS = 500  # of L-BFGS, at most


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
        """Look at the rows; refuse numbers that are not finite. Two passes, or one where there are many columns."""
        d = source.shape.features
        parts: dict[int, tuple[NDArray[np.int64], Array, Array]] = {}

        def look(block: Block) -> Array:
            parts[block.first_row] = _extremes(block, n_classes)
            return np.empty(0)

        source.map(look)
        rows = np.sum([part[0] for part in parts.values()], axis=0)
        low = np.minimum.reduce([part[1] for part in parts.values()])
        high = np.maximum.reduce([part[2] for part in parts.values()])
        if not (np.isfinite(low[rows > 0]).all() and np.isfinite(high[rows > 0]).all()):
            source.refuse_nonfinite()
        few = not source.sparse and d <= MOST_COLUMNS
        moments = source.sum(ClassMoments, classes=n_classes) if few else None
        return cls(source, rows, low, high, moments)

    def frame(self, classes: list[int]) -> Frame:
        """Return how to shift and scale the columns for rows of these classes."""
        low, high = self.low[classes].min(axis=0), self.high[classes].max(axis=0)
        if self.moments is None:
            return Frame.of(low, high, low / 2 + high / 2, (high / 2 - low / 2) / 2, self.source.sparse)
        total = ClassMoments([self.moments.parts[k] for k in classes]).total()
        with np.errstate(over="ignore", invalid="ignore"):
            spread = times_power(np.sqrt(np.maximum(np.diagonal(total.second), 0) / total.weight), total.exponent)
        return Frame.of(low, high, total.first_hi, spread, False)

    def start(self, classes: list[int], frame: Frame) -> Array:
        """Return a direction to start from, (K - 1, 1 + columns in use), weights of the first class taken off."""
        w = self._means(classes, frame) if self.moments is None else self._least_squares(classes, frame)
        theta = w[1:] - w[0]
        if not np.isfinite(theta).all() or not theta.any():
            theta = np.ones_like(theta)
        return self._logistic(classes, frame, theta[0])[None, :] if self.moments is None and len(w) == 2 else theta

    def _least_squares(self, classes: list[int], frame: Frame) -> Array:
        assert self.moments is not None
        parts = ClassMoments([self.moments.parts[k] for k in classes])
        total = parts.total()
        used = frame.columns
        down = total.exponent[used] - frame.exponent
        with np.errstate(over="ignore", invalid="ignore"):
            second = times_power(times_power(total.second[np.ix_(used, used)], down).T, down)
            away = times_power(parts.differences(total)[:, used], down)
            mean = frame.inside(total.first_hi[used])
        if not (np.isfinite(second).all() and np.isfinite(away).all() and len(used)):
            return np.zeros((len(classes), 1 + len(used)))
        share = parts.weights[:, None]
        second[np.diag_indices(len(used))] += 1e-12 * np.trace(second) + 1e-300
        w = np.linalg.solve(second, (share * away).T).T
        return np.column_stack([share[:, 0] / total.weight - w @ mean, w])

    def _means(self, classes: list[int], frame: Frame) -> Array:
        codes = self.source.read_targets()[:, 0]
        power = -frame.exponent
        means = [self.source.rmatvec((codes == k) / max(self.rows[k], 1))[frame.columns] for k in classes]
        c = times_power(np.array(means) - frame.shift, power)
        return np.column_stack([-0.5 * (c * c).sum(axis=1), c])

    def _logistic(self, classes: list[int], frame: Frame, start: Array) -> Array:
        codes = self.source.read_targets()[:, 0]
        t = np.where(codes == classes[1], 1.0, np.where(codes == classes[0], -1.0, 0.0))
        weight = self.source.read_weights()
        if weight is not None:
            t = np.where(weight > 0, t, 0.0)
        part = t != 0
        best = start

        def scores(theta: Array) -> Array:
            w = np.zeros(frame.features)
            w[frame.columns] = times_power(theta[1:], -frame.exponent)
            constant = theta[0] - float(w[frame.columns] @ frame.shift)
            return np.asarray(t * (self.source.matvec(w) + constant))

        def loss(theta: Array) -> tuple[float, Array]:
            height = scores(theta)
            slope = -t * special.expit(-height)
            back = self.source.rmatvec(slope)[frame.columns] - frame.shift * slope.sum()
            gradient = np.concatenate([[slope.sum()], times_power(back, -frame.exponent)])
            return float(np.logaddexp(0.0, -height)[part].sum()), gradient

        def separates(xk: Array) -> None:
            nonlocal best
            best = np.array(xk)
            if (scores(best)[part] > 0).all():
                raise StopIteration

        optimize.minimize(loss, 0 * start, method="L-BFGS-B", jac=True, callback=separates, options={"maxiter": STEPS})
        return best


def _extremes(block: Block, n_classes: int) -> tuple[NDArray[np.int64], Array, Array]:
    codes = host(block.t)[:, 0].astype(np.int64)
    x = host(block.x) if is_device(block.x) else block.x
    low, high = (np.full((n_classes, x.shape[1]), value) for value in (np.inf, -np.inf))
    count = np.zeros(n_classes, dtype=np.int64)
    weighty = np.ones(len(codes), dtype=bool) if block.weight is None else host(block.weight) > 0
    for k in range(n_classes):
        rows = np.flatnonzero((codes == k) & weighty)
        count[k] = len(rows)
        if not len(rows):
            continue
        part = x[rows]
        for out, take in ((low, "min"), (high, "max")):
            found = getattr(part, take)(axis=0)
            out[k] = found.toarray().ravel() if is_sparse(found) else np.asarray(found).ravel()
    return count, low, high
