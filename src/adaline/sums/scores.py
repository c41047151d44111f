"""The scores of a fit, from which robust standard errors are computed.

    r = t - w0 - w'x,   z = A'(1, x),   A A' = (X'X + P)^-1,   h = z'z

    independent rows:  G = sum w r^2 / (1 - h)^power z z'        (White: power 0, 1, 2 for HC0, HC2, HC3)
    rows in groups:    s_g = sum w r z over the rows of group g,   G = sum_g s_g s_g'
                       P_g = sum w z z' over them, where the leverage of groups is asked for

and Cov(w0, w) = A G A'. In the coordinates z the design is orthonormal: neither means nor units nor an ill-conditioned
design cost G its digits. A weight of 2 is the row twice. With `precision` a row is one observation of variance
sigma^2 / w instead: w r^2 becomes (w r)^2, and h becomes w h. HC4 takes another power for each row, at most 4: h over
its mean.

For a likelihood, r is minus the slope of the loss, A A' the inverse of the expected information, and h = W z'z with W
the information of the row. If a row has K coupled outputs, Z = A'(1, x) is (m, K), its score is Z r, and h is the
matrix Z V Z', with V the second derivatives of the loss:

    Z r  becomes  (1 - Z V Z')^(-power/2) Z r

H. White, Econometrica 48 (1980), 817-838; J. G. MacKinnon and H. White, J. Econometrics 29 (1985), 305-325; K.-Y. Liang
and S. L. Zeger, Biometrika 73 (1986), 13-22.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import AnyArray, Array, ThetaLike, as_dense, host, is_device, namespace, to_device_of, weighted
from adaline.block import Block, Shape
from adaline.losses import Loss
from adaline.sums.base import Sum
from adaline.sums.columns import times_power

MILD_EXPONENT = 300
CLASSES_ADD_UP = 1e-8  # sum of the roots of all classes, relative to them, up to which it counts as zero
RUN_ELEMENTS, RUN_ROWS = 2**16, 64  # numbers of a run of rows, which stay in the cache, and its fewest rows


class FittedDesign(NamedTuple):
    """A solved fit as the map from a row to its coordinates z and residuals r.

    mean_hi, mean_lo, exponent: of the columns [x t]; rotation (D, m - 1) takes scaled centred rows to z, whose first
    coordinate is `constant` (1/sqrt(W), or 0 without intercept); slopes (K, D) scaled; offset (K,): what is added to
    the residuals where the intercept is not mean_t - mean'w; power, typical (the mean of h, where each row has a power
    of its own) and precision as above.
    """

    mean_hi: Array
    mean_lo: Array
    exponent: Array
    rotation: Array
    slopes: Array
    offset: Array
    constant: float
    power: float = 0.0
    typical: float | None = None
    precision: bool = False

    def read(self, block: Block) -> RowStatistics:
        """Return the statistics of the rows of a block."""
        return row_statistics(block, self)

    def sum_of_columns(self) -> Array:
        """Return v (m,) with which z'v is the sum of the raw columns of a row, up to a factor; 1 without columns."""
        d = len(self.rotation)
        kept = self.rotation.any(axis=1)
        if not kept.any():
            return np.asarray(np.eye(1, 1 + self.rotation.shape[1])[0])
        top = self.exponent[:d][kept].max()
        units = np.exp2(self.exponent[:d][kept] - top)
        mean = float(np.ldexp(self.mean_hi[:d][kept], -int(top)).sum())
        v = np.linalg.lstsq(self.rotation[kept], units)[0]
        return np.concatenate([[mean / self.constant if self.constant else 0.0], v])

    def spread(self, block: Block, z: AnyArray) -> AnyArray:
        """Return rows (n, 1, m) whose products add up to the leverage of groups; z (n, m) are their coordinates."""
        return z[:, None, :]


class FittedLikelihood(NamedTuple):
    """A fitted likelihood as the map from a row to its coordinates and slopes, in raw units.

    theta (K, 1 + D), intercept first; root (K, 1 + D, m) of the covariance, dispersion included; the loss takes the
    first `targets` targets of a row; power, typical and precision as above; a number of trials is a precision too.
    """

    loss: Loss
    theta: Array
    root: Array
    targets: int = 1
    dispersion: float = 1.0
    power: float = 0.0
    typical: float | None = None
    precision: bool = False

    def read(self, block: Block) -> RowStatistics:
        """Return the statistics of the rows of a block."""
        return likelihood_statistics(block, self)

    def sum_of_columns(self) -> Array:
        """Return v (m,) with which the score of a row times v is the sum of its scores by the raw columns.

        Of classes, whose scores add up to zero, those of the first do not count. Of the constant without columns.
        """
        k, side, m = self.root.shape
        wanted = np.zeros((k, side))
        wanted[:, 1:] = 1.0
        if side == 1 or not self.root[:, 1:].any():
            wanted[:] = 1.0
        if k > 1 and np.abs(self.root.sum(axis=0)).max() <= CLASSES_ADD_UP * np.abs(self.root).max():
            wanted[0] = 0.0
            wanted -= wanted.mean(axis=0)
        root = self.root.reshape(k * side, m)
        length = np.sqrt((root**2).sum(axis=1))
        kept = length > 0
        return np.asarray(np.linalg.lstsq(root[kept] / length[kept, None], wanted.ravel()[kept] / length[kept])[0])

    def spread(self, block: Block, z: AnyArray) -> AnyArray:
        """Return rows (n, K, m) whose products add up to the leverage of groups: V^1/2 Z, of one output W^1/2 z'."""
        outputs, t = self.outputs(block), to_device_of(z, block.t)[:, : self.targets]
        if not self.loss.coupled:
            return z[:, None, :] * namespace(z).sqrt(self.information(outputs, t) / self.dispersion)[:, :, None]
        k, _, m = self.root.shape
        values, vectors = np.linalg.eigh(self.second(host(outputs), host(t)))
        root = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)
        return root @ host(self.coordinates(block)).reshape(-1, k, m)

    def information(self, outputs: AnyArray, t: AnyArray) -> AnyArray:
        """Return the expected second derivative of each row, (n, K)."""
        assert self.loss.linked is not None
        return self.loss.linked.expected(outputs, t)

    def cost(self, outputs: AnyArray, t: AnyArray) -> AnyArray:
        """Return what tells whether rows are those fitted, half the deviance, (n, K)."""
        assert self.loss.linked is not None
        return 0.5 * self.loss.linked.deviance(host(outputs), host(t))

    def outputs(self, block: Block) -> Any:
        """Return w'x + w0 of the rows of a block, (n, K)."""
        x = as_dense(block.x)
        xp = namespace(x)
        theta = to_device_of(x, self.theta.T.copy())
        return xp.matmul(xp.astype(x, xp.float64, copy=False), theta[1:, :]) + theta[:1, :]

    def coordinates(self, block: Block) -> Any:
        """Return Z = A'(1, x) of the rows of a block, one output after another, (n, K m)."""
        x = as_dense(block.x)
        xp = namespace(x)
        k, side, m = self.root.shape
        root = to_device_of(x, self.root.transpose(1, 0, 2).reshape(side, k * m))
        return xp.matmul(xp.astype(x, xp.float64, copy=False), root[1:, :]) + root[:1, :]

    def second(self, outputs: Array, t: Array) -> Array:
        """Return the second derivatives of the loss by coupled outputs (n, K), (n, K, K)."""
        unit = np.eye(outputs.shape[1])
        columns = [self.loss.product(outputs, t, np.broadcast_to(e, outputs.shape)) for e in unit]
        return np.stack(columns, axis=2)


class FittedMEstimate(FittedLikelihood):
    """A fitted M-estimate in the same form: the loss at its scale s, which is the dispersion too.

    The leverage of a row is its part of the second derivatives, as in a step that leaves it out; none where the loss
    bends downwards.
    """

    def information(self, outputs: AnyArray, t: AnyArray) -> AnyArray:
        """Return the second derivative of each row, zero where it is negative."""
        curvature = self.loss.curvature(outputs, t)
        return namespace(curvature).maximum(curvature, 0.0 * curvature)

    def cost(self, outputs: AnyArray, t: AnyArray) -> AnyArray:
        """Return what tells whether rows are those fitted, the loss, (n, K)."""
        return self.loss.value(outputs, t)


class RowStatistics(NamedTuple):
    """Coordinates z (n, m), scaled residuals (n, K), weights, leverages h (n,) and costs (n, K) of rows.

    The score of a row is residual x z; the residual (of coupled outputs z itself) is over (1 - h)^(power/2). Costs are
    squares of residuals, or half the deviance: their sums tell whether rows are those fitted.
    """

    z: Any
    residual: Any
    weight: Any
    leverage: Any
    cost: Any


def likelihood_statistics(block: Block, fit: FittedLikelihood) -> RowStatistics:
    """Return the statistics of the rows of a block at the fit of a likelihood."""
    x = as_dense(block.x)
    xp = namespace(x)
    t = to_device_of(x, block.t)[:, : fit.targets]
    k, _, m = fit.root.shape
    outputs, z = fit.outputs(block), fit.coordinates(block)
    weight = _weights(block, x)
    residual = -fit.loss.slope(outputs, t) / fit.dispersion
    if not fit.loss.coupled:
        leverage = fit.information(outputs, t)[:, 0] / fit.dispersion * xp.vecdot(z, z)
        leverage = weighted(weight if fit.precision else xp.astype(weight > 0, xp.float64), leverage)
        cost = to_device_of(x, fit.cost(outputs, t))
        return RowStatistics(z, _tempered(residual, leverage, fit), weight, leverage, cost)
    score, leverage = _coupled(fit, host(outputs), host(t), host(z).reshape(-1, k, m), host(residual))
    one = xp.ones((block.rows, 1), dtype=xp.float64, device=x.device)
    cost = fit.loss.value(outputs, t)
    leverage = weighted(xp.astype(weight > 0, xp.float64), to_device_of(x, leverage))
    return RowStatistics(to_device_of(x, score), one, weight, leverage, cost)


def _coupled(fit: FittedLikelihood, outputs: Array, t: Array, z: Array, slope: Array) -> tuple[Array, Array]:
    """Return tempered scores (n, m) of coupled outputs, and the largest leverage of each row, (n,); z is (n, K, m)."""
    score = np.einsum("nk,nkm->nm", slope, z)
    if not fit.power or not np.isfinite(score).all():  # rows that are not finite are refused by their cost
        return score, np.zeros(len(score))
    second = fit.second(outputs, t)
    left, size, right = np.linalg.svd(z, full_matrices=False)  # Z V Z' has its part in the span of the rows of z
    spread = left * size[:, None, :]
    values, vectors = np.linalg.eigh(spread.transpose(0, 2, 1) @ second @ spread)
    along = (vectors.transpose(0, 2, 1) @ (right @ score[:, :, None]))[:, :, 0]
    power = _powers(np, values.sum(axis=1, keepdims=True), fit)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = along / np.maximum(1.0 - values, 0.0) ** (power / 2)
    return (along[:, None, :] @ (vectors.transpose(0, 2, 1) @ right))[:, 0], values[:, -1]


def _tempered(residual: AnyArray, leverage: Any, fit: FittedDesign | FittedLikelihood) -> Any:
    """Return residuals (n, K) over (1 - h)^(power/2)."""
    if not fit.power:
        return residual
    xp = namespace(residual)
    rest = 1.0 - leverage
    if fit.typical is not None:
        return residual / (rest ** (_powers(xp, leverage, fit) / 2))[:, None]
    return residual / (xp.sqrt(rest) if fit.power == 1 else rest)[:, None]


def _powers(xp: Any, leverage: Any, fit: FittedDesign | FittedLikelihood) -> Any:
    """Return the power of each row: the same for all, or that of its leverage."""
    if fit.typical is None:
        return fit.power
    return xp.minimum(xp.full_like(leverage, fit.power), leverage / fit.typical)


def _weights(block: Block, x: AnyArray) -> Any:
    xp = namespace(x)
    if block.weight is not None:
        return to_device_of(x, block.weight)
    return xp.ones(block.rows, dtype=xp.float64, device=x.device)


def row_statistics(block: Block, fit: FittedDesign) -> RowStatistics:
    """Return the statistics of the rows of a block at a least-squares fit."""
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
    weight = _weights(block, x)
    leverage = xp.vecdot(z, z) * (weight if fit.precision else xp.astype(weight > 0, xp.float64))
    return RowStatistics(z, _tempered(residual, leverage, fit), weight, leverage, residual * residual)


class Scores(Sum):
    """G (K, m, m) of independent rows, sums (K,) of w cost, and the smallest 1 - h."""

    uses_blas: ClassVar[bool] = True

    def __init__(self, meat: Array, squares: Array, rest: Array) -> None:
        self.meat = meat
        self.squares = squares
        self.rest = rest

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `size` is m, `targets` K where it is not the number of targets."""
        size, targets = int(config.get("size", 1 + shape.features)), int(config.get("targets", shape.targets))
        return cls(np.zeros((targets, size, size)), np.zeros(targets), np.ones(1))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at the fit theta."""
        for run in runs(block):
            z, r, weight, leverage, cost = theta.read(run)
            xp = namespace(z)
            self.rest[:] = np.fmin(self.rest, host(xp.min(1.0 - leverage)))
            size = xp.sqrt(weight) if not theta.precision else weight
            for k in range(len(self.squares)):
                part = z * weighted(size, r[:, k])[:, None]
                self.meat[k] += host(xp.matmul(xp.matrix_transpose(part), part))
            self.squares += host(xp.sum(weighted(weight[:, None], cost), axis=0))

    def merge(self, other: Self) -> None:
        """Add; keep the smaller 1 - h."""
        self.meat += other.meat
        self.squares += other.squares
        self.rest[:] = np.fmin(self.rest, other.rest)


class GroupScores(Sum):
    """Scores (G, K, m) of the groups met, their labels (G,), sorted, and sums (K,) of w cost.

    The last target of a row is the label of its group; those before it are the targets of the fit. `grams` (G, m, m)
    are the P_g, where the sum was made with `most_grams` and they take no more numbers than that; else None.
    """

    uses_blas: ClassVar[bool] = True

    def __init__(self, groups: Array, scores: Array, squares: Array, grams: Array | None, most_grams: int) -> None:
        self.groups = groups
        self.scores = scores
        self.squares = squares
        self.grams = grams
        self.most_grams = most_grams

    @classmethod
    def zero(cls, shape: Shape, **config: Any) -> Self:
        """Return the sums over no rows; `size` is m, `targets` K where it is not the number of targets."""
        size, targets = int(config.get("size", 1 + shape.features)), int(config.get("targets", shape.targets - 1))
        most = int(config.get("most_grams", 0))
        return cls(
            np.empty(0),
            np.empty((0, targets, size)),
            np.zeros(targets),
            np.empty((0, size, size)) if most else None,
            most,
        )

    def meat(self, k: int) -> Array:
        """Return G of target k, (m, m)."""
        s = np.ascontiguousarray(self.scores[:, k])
        return np.asarray(s.T @ s)

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at the fit theta."""
        _, targets, size = self.scores.shape
        scores = np.empty((block.rows, targets * size))
        spread = []
        first = 0
        for run in runs(block):
            z, r, weight, _, cost = theta.read(run)
            xp = namespace(z)
            for k in range(targets):
                scores[first : first + run.rows, k * size : (k + 1) * size] = host(
                    z * weighted(weight, r[:, k])[:, None]
                )
            self.squares += host(xp.sum(weighted(weight[:, None], cost), axis=0))
            first += run.rows
            if self.grams is not None:
                spread.append(host(theta.spread(run, z)) * np.sqrt(host(weight))[:, None, None])
        counted = np.flatnonzero(block.weights() > 0)
        groups, group_index = np.unique(host(block.t)[counted, -1], return_inverse=True)
        shape = (len(groups), len(counted))
        member = scipy.sparse.csc_array((np.ones(len(counted)), group_index, np.arange(len(counted) + 1)), shape)
        grams = None
        if spread and len(groups) * size * size <= self.most_grams:
            grams = _grams(np.concatenate(spread)[counted], group_index, len(groups))
        self._add_scores(groups, (member @ scores[counted]).reshape(len(groups), targets, size), grams)

    def merge(self, other: Self) -> None:
        """Add the scores of equal groups."""
        self._add_scores(other.groups, other.scores, other.grams)
        self.squares += other.squares

    def _add_scores(self, groups: Array, scores: Array, grams: Array | None) -> None:
        both = np.union1d(self.groups, groups)
        if grams is None or len(both) * grams[0:1].size > self.most_grams:
            self.grams = None
        if len(both) > len(self.groups):
            old, self.groups = np.searchsorted(both, self.groups), both
            self.scores = _spread_out(self.scores, old, len(both))
            self.grams = None if self.grams is None else _spread_out(self.grams, old, len(both))
        index: Any = slice(None) if len(groups) == len(both) else np.searchsorted(both, groups)
        self.scores[index] += scores
        if self.grams is not None:
            self.grams[index] += grams


def _grams(rows: Array, group_index: NDArray[np.intp], count: int) -> Array:
    """Return the sums (count, m, m) of products of rows (n, K, m) of the same group; groups of one size go together."""
    _, each, size = rows.shape
    rows = rows[np.argsort(group_index, kind="stable")].reshape(-1, size)
    sizes = np.bincount(group_index, minlength=count) * each
    starts = np.cumsum(sizes) - sizes
    out = np.empty((count, size, size))
    for n in np.unique(sizes):
        same = np.flatnonzero(sizes == n)
        own = rows[starts[same][:, None] + np.arange(n)]
        out[same] = own.transpose(0, 2, 1) @ own
    return out


def _spread_out(values: Array, index: NDArray[np.intp], count: int) -> Array:
    """Return `count` values along the first axis: those given at their index, zeros elsewhere."""
    out = np.zeros((count, *values.shape[1:]))
    out[index] = values
    return out


def runs(block: Block) -> Iterator[Block]:
    """Cut a block on the host into runs of rows that fit into the cache; one on a device is left whole."""
    if block.rows == 0:
        return
    if is_device(block.x):
        yield block.gathered()
    else:
        yield from block.pieces(max(RUN_ELEMENTS, RUN_ROWS * block.shape.features))
