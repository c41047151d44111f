"""The scores of a least-squares fit, from which robust standard errors are computed.

    r = t - w0 - w'x,   z = A'(1, x),   A A' = (X'X + P)^-1,   h = z'z

    independent rows:  G = sum w r^2 / (1 - h)^power z z'        (White: power 0, 1, 2 for HC0, HC2, HC3)
    rows in groups:    s_g = sum w r z over the rows of group g,   G = sum_g s_g s_g'

and Cov(w0, w) = A G A'. In the coordinates z the design is orthonormal: neither means nor units nor an ill-conditioned
design cost G its digits. A weight of 2 is the row twice. With `precision` a row is one observation of variance
sigma^2 / w instead: w r^2 becomes (w r)^2, and h becomes w h.

H. White, Econometrica 48 (1980), 817-838; J. G. MacKinnon and H. White, J. Econometrics 29 (1985), 305-325; K.-Y. Liang
and S. L. Zeger, Biometrika 73 (1986), 13-22.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from adaline.arrays import Array, as_dense, host, is_device, namespace, to_device_of
from adaline.block import Block, Shape
from adaline.sums.base import Sum
from adaline.sums.columns import times_power

MILD_EXPONENT = 300
RUN_ELEMENTS, RUN_ROWS = 2**16, 64  # numbers of a run of rows, which stays in the cache, and the fewest rows of one


class FittedDesign(NamedTuple):
    """A solved fit as the map from a row to its coordinates z and residuals r.

    mean_hi, mean_lo, exponent: of the columns [x t]; rotation (D, m - 1) takes scaled centred rows to z, whose first
    coordinate is `constant` (1/sqrt(W), or 0 without intercept); slopes (K, D) scaled; offset (K,): what is added to
    the residuals where the intercept is not mean_t - mean'w; power and precision as above.
    """

    mean_hi: Array
    mean_lo: Array
    exponent: Array
    rotation: Array
    slopes: Array
    offset: Array
    constant: float
    power: int = 0
    precision: bool = False


class RowStatistics(NamedTuple):
    """Coordinates z (n, m), scaled residuals (n, K), weights (n,) and leverages h (n,) of rows."""

    z: Any
    residual: Any
    weight: Any
    leverage: Any


def row_statistics(block: Block, fit: FittedDesign) -> RowStatistics:
    """Return the coordinates, residuals, weights and leverages of the rows of a block."""
    x = as_dense(block.x)
    xp = namespace(x)
    d, k = len(fit.rotation), len(fit.slopes)
    hi, lo, exponent = (v[: d + k] for v in (fit.mean_hi, fit.mean_lo, fit.exponent))
    lo = times_power(lo, -exponent)
    rows = xp.astype(x, xp.float64, copy=False) - to_device_of(x, hi[:d])
    t = times_power(to_device_of(x, block.t)[:, :k] - to_device_of(x, hi[d:]), -exponent[d:])
    first = np.zeros((d, 1))  # the intercept is a column: z = (constant, rotated row)
    matrix = np.concatenate([first, fit.rotation, fit.slopes.T], axis=1)
    shift = np.concatenate([[fit.constant], -lo[:d] @ matrix[:, 1:]])
    if (np.abs(exponent[:d]) < MILD_EXPONENT).all():
        matrix = matrix * np.exp2(-exponent[:d, None])  # the same bits as scaled rows, without a pass over them
    else:
        rows = times_power(rows, -exponent[:d])
    both = xp.matmul(rows, to_device_of(x, matrix))
    both += to_device_of(x, shift)
    z = both[:, : both.shape[1] - k]
    residual = t - both[:, both.shape[1] - k :] + to_device_of(x, fit.offset - lo[d:])
    weight = xp.ones(block.rows, dtype=xp.float64, device=x.device)
    if block.weight is not None:
        weight = to_device_of(x, block.weight)
    leverage = xp.vecdot(z, z) * (weight if fit.precision else xp.astype(weight > 0, xp.float64))
    return RowStatistics(z, residual, weight, leverage)


class Scores(Sum):
    """G (K, m, m) of independent rows, sums (K,) of w r^2, and the smallest 1 - h."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, meat: Array, squares: Array, rest: Array) -> None:
        self.meat = meat
        self.squares = squares
        self.rest = rest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `size` is m."""
        size = int(config.get("size", 1 + shape.features))
        return cls(np.zeros((shape.targets, size, size)), np.zeros(shape.targets), np.ones(1))

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in a block at the fit theta."""
        for run in runs(block):
            z, r, weight, leverage = row_statistics(run, theta)
            xp = namespace(z)
            rest = 1.0 - leverage
            self.rest[:] = np.fmin(self.rest, host(xp.min(rest)))
            size = xp.sqrt(weight) if not theta.precision else weight
            if theta.power:
                size = size / (xp.sqrt(rest) if theta.power == 1 else rest)
            for k in range(len(self.squares)):
                part = z * (size * r[:, k])[:, None]
                self.meat[k] += host(xp.matmul(xp.matrix_transpose(part), part))
            self.squares += host(xp.matmul(weight, r * r))

    def merge(self, other: Self) -> None:
        """Add; keep the smaller 1 - h."""
        self.meat += other.meat
        self.squares += other.squares
        self.rest[:] = np.fmin(self.rest, other.rest)


class GroupScores(Sum):
    """Scores (G, K, m) of the groups met, their labels (G,), sorted, and sums (K,) of w r^2.

    The last target of a row is the label of its group; the K before it are the targets of the fit.
    """

    uses_blas: ClassVar[bool] = True

    def __init__(self, groups: Array, scores: Array, squares: Array) -> None:
        self.groups = groups
        self.scores = scores
        self.squares = squares

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `size` is m."""
        size = int(config.get("size", 1 + shape.features))
        targets = shape.targets - 1
        return cls(np.empty(0), np.empty((0, targets, size)), np.zeros(targets))

    def meat(self, k: int) -> Array:
        """Return G of target k, (m, m)."""
        s = np.ascontiguousarray(self.scores[:, k])
        return np.asarray(s.T @ s)

    def add(self, block: Block, theta: Any = None) -> None:
        """Take in a block at the fit theta."""
        _, targets, size = self.scores.shape
        scores = np.empty((block.rows, targets * size))
        first = 0
        for run in runs(block):
            z, r, weight, _ = row_statistics(run, theta)
            xp = namespace(z)
            for k in range(targets):
                scores[first : first + run.rows, k * size : (k + 1) * size] = host(z * (weight * r[:, k])[:, None])
            self.squares += host(xp.matmul(weight, r * r))
            first += run.rows
        counted = np.flatnonzero(block.weights() > 0)
        groups, group_index = np.unique(host(block.t)[counted, -1], return_inverse=True)
        shape = (len(groups), len(counted))
        member = sparse.csc_array((np.ones(len(counted)), group_index, np.arange(len(counted) + 1)), shape)
        self._add_scores(groups, (member @ scores[counted]).reshape(len(groups), targets, size))

    def merge(self, other: Self) -> None:
        """Add the scores of equal groups."""
        self._add_scores(other.groups, other.scores)
        self.squares += other.squares

    def _add_scores(self, groups: Array, scores: Array) -> None:
        both = np.union1d(self.groups, groups)
        if len(both) > len(self.groups):
            larger = np.zeros((len(both), *self.scores.shape[1:]))
            larger[np.searchsorted(both, self.groups)] = self.scores
            self.groups, self.scores = both, larger
        self.scores[np.searchsorted(both, groups)] += scores


def runs(block: Block) -> Iterator[Block]:
    """Cut a block on the host into runs of rows that fit into the cache; one on a device is left whole."""
    if block.rows == 0:
        return
    if is_device(block.x):
        yield block.gathered()
    else:
        yield from block.pieces(max(RUN_ELEMENTS, RUN_ROWS * block.shape.features))
