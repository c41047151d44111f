"""Sums of bootstrap replicates: the same rows with many random weights, all in one read.

    v_ib = w_i n_ib,   n_ib Poisson with mean 1         a row drawn n_ib times; v_ib Poisson with mean w_i
                                                        where w_i are frequencies of single rows
    M_b = sum v_ib z_i z_i',   g_b = sum v_ib z_i r_i   the moments of replicate b, for least squares; for a likelihood
                                                        its derivatives, at outputs of the replicate's own

n_ib is found from the number of the row, or of its group, that of the replicate, and a seed: blocks, threads, files and
the order of reading give the same replicates, and the first 100 of 1,000 are those of 100. All replicates of a run of
rows are two matrix products, V'P with P the products of pairs of columns. Replicate 0 has the weights of the rows.

A wild bootstrap keeps the rows and gives their residuals random signs: g_b = sum w_i s_ib z_i r_i, M_b = M_0.

J. Hanley and B. MacGibbon, Statistics in Medicine 25 (2006) (Poisson weights); C. F. J. Wu, Annals of Statistics 14
(1986), 1261-1295 (wild).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from adaline.arrays import Array, ThetaLike, host
from adaline.block import Block, Shape
from adaline.row_hashes import mixed_hashes, row_hashes
from adaline.sums.base import Totals
from adaline.sums.scores import FittedLikelihood

LANES = 4  # random numbers of 16 bits in a hash
DRAWS = 2**16
PIECE_NUMBERS = 2**20  # weights or products of a run of rows; doubling it takes twice the memory a thread
# counts in the table of a Poisson distribution beyond mean + 10 sqrt(mean); draws have 16 bits and end far below, at 8
# for mean 1, so doubling it changes nothing
MOST_COUNT = 40
FEW_GROUPS = 12  # below which signs would be too few: six values for each group (Webb)
LEAST_REST = 1e-12  # 1 - h below which a row has no residual that could get a sign; 10x larger leaves more rows alone
WEBB = np.sqrt([0.5, 1.0, 1.5])


class Replicates(NamedTuple):
    """Which replicates, and how their weights are drawn.

    Parameters
    ----------
    first, size : `size` replicates after the first ones; replicate 0 is the rows as they are.
    seed : of the draws.
    groups : numbers (G,), ascending, of the groups of rows, the last target of a row; None where rows are drawn. A
        group is drawn by its place among them.
    precision : whether a weight is a precision, which goes with its row; else it is a number of rows.
    """

    first: int
    size: int
    seed: int
    groups: Array | None = None
    precision: bool = False

    def weights(self, block: Block) -> Array:
        """Return the weights of the rows of a block, (n, 1 + size), those of replicate 0 first."""
        own = np.asarray(block.weights())
        counts = np.empty((block.rows, 1 + self.size))
        counts[:, 0] = own
        if self.groups is not None or self.precision:
            counts[:, 1:] = own[:, None] * ONCE[self.draws(block)]
            return counts
        draws = self.draws(block)
        for weight in np.unique(own):
            rows = own == weight
            counts[rows, 1:] = ONCE[draws[rows]] if weight == 1.0 else poisson(draws[rows], float(weight))
        return counts

    def draws(self, block: Block) -> NDArray[np.uint16]:
        """Return random numbers below 2^16 for each row or its group, and each replicate, (n, size)."""
        if self.groups is None:
            return self.draws_of(block.first_row, block.rows)
        return self.draws_of(0, len(self.groups))[self.places(block)]

    def places(self, block: Block) -> NDArray[np.intp]:
        """Return the place of the group of each row among all groups, (n,)."""
        assert self.groups is not None
        return np.searchsorted(self.groups, host(block.t)[:, -1])

    def signs(self, block: Block) -> Array:
        """Return what residuals of a wild bootstrap are multiplied by, (n, size): mean 0 and variance 1.

        They are signs, or with few groups one of six numbers (Webb).
        """
        draws = self.draws(block)
        signs = np.where(draws & 1, 1.0, -1.0)
        few = self.groups is not None and len(self.groups) < FEW_GROUPS
        return signs * WEBB[(draws >> 1) % len(WEBB)] if few else signs

    def counts(self) -> Array:
        """Return how often each group is drawn, (G, 1 + size); once in replicate 0."""
        assert self.groups is not None
        out = np.ones((len(self.groups), 1 + self.size))
        out[:, 1:] = ONCE[self.draws_of(0, len(self.groups))]
        return out

    def draws_of(self, first: int, rows: int) -> NDArray[np.uint16]:
        """Return random numbers below 2^16 for the rows, or groups, first, first + 1, ... and each replicate."""
        skipped = self.first % LANES
        lanes = np.arange(self.first // LANES, -(-(self.first + self.size) // LANES), dtype=np.uint64)
        starts = row_hashes(first, rows, salt=self.seed)
        hashes = mixed_hashes(starts[:, None] ^ mixed_hashes(lanes, salt=self.seed + 1)[None])
        numbers = hashes.astype("<u8", copy=False).view("<u2")
        return numbers[:, skipped : skipped + self.size]


def poisson(draws: NDArray[np.uint16], mean: float) -> Array:
    """Return Poisson numbers with this mean by inversion of numbers below 2^16."""
    most = int(mean + 10 * np.sqrt(mean) + MOST_COUNT)
    reached = np.rint(DRAWS * scipy.special.pdtr(np.arange(most), mean))
    return np.searchsorted(reached, draws, side="right").astype(np.float64)


ONCE = poisson(np.arange(DRAWS, dtype=np.uint16), 1.0)
"""Poisson numbers with mean 1 of all draws."""


class ReplicatePoint(NamedTuple):
    """A fit as rows are read by it (`FittedDesign`), the replicates, and whether their bootstrap is wild."""

    design: Any
    replicates: Replicates
    wild: bool = False


class ReplicateMoments(Totals):
    """Moments of least squares at a fit, one row a replicate: M_b as `packed_pairs`, g_b (K, m), sum v r^2 (K,)."""

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: int) -> Self:
        """Return the sums over no rows, for `count` replicates, `size` m and `targets` K."""
        m, k = config["size"], config["targets"]
        return cls(np.zeros((1 + config["count"], m * (m + 1) // 2 + k * m + k)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a ReplicatePoint."""
        point: ReplicatePoint = theta
        for run in replicate_runs(block, self.sums.shape):
            found = point.design.read(run)
            z, r = host(found.z), host(found.residual)
            columns = np.concatenate([packed_pairs(z), _products(z, r), r * r], axis=1)
            if point.wild:
                self.sums[0] += run.weights() @ columns
                at = slice(columns.shape[1] - r.shape[1] * (z.shape[1] + 1), -r.shape[1])
                factors = run.weights()[:, None] * wild_factors(run, point.replicates, host(found.leverage))
                self.sums[1:, at] += factors.T @ columns[:, at]
            else:
                self.sums += point.replicates.weights(run).T @ columns


def wild_factors(run: Block, replicates: Replicates, leverage: Array) -> Array:
    """Return what the residuals of rows are multiplied by in a wild bootstrap, (n, size): s / (1 - h), of groups s.

    Of w rows, each with a sign of its own, the signs add up to one of size sqrt(w).
    """
    signs = replicates.signs(run)
    if replicates.groups is not None:
        return signs
    weight, rest = np.asarray(run.weights()), 1.0 - leverage
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where((rest > LEAST_REST) & (weight > 0), 1.0 / rest, 0.0)
        size = size if replicates.precision else np.where(weight > 0, size / np.sqrt(weight), 0.0)
    return np.asarray(size[:, None] * signs)


def _products(z: Array, r: Array) -> Array:
    """Return the scores of rows (n, K m): z times the residual of each target."""
    return np.asarray((r[:, :, None] * z[:, None, :]).reshape(len(z), -1))


class ReplicateSteps(NamedTuple):
    """A likelihood as rows are read by it (`FittedLikelihood`), the replicates, and where each of them is.

    Parameters
    ----------
    design : the fit.
    replicates : which, and how they are drawn.
    steps : (1 + count, m), d_b of each, in the coordinates of the fit; None: all zero.
    active : (1 + count,), which of them are summed.
    """

    design: Any
    replicates: Replicates
    steps: Array | None
    active: NDArray[np.bool_]


class ReplicateObjective(Totals):
    """Objectives of a likelihood, one row a replicate: second derivatives as `packed_pairs`, slope g_b (m,), value.

        g_b = sum v_ib Z_i r_i,   M_b = sum v_ib Z_i V_i Z_i',   outputs z_i + Z_i'd_b

    The last two columns of replicate 0 are its cost, by which rows are recognised, and unused by the others.
    """

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: int) -> Self:
        """Return the sums over no rows, for `count` replicates and `size` m."""
        m = config["size"]
        return cls(np.zeros((1 + config["count"], m * (m + 1) // 2 + m + 2)))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at ReplicateSteps."""
        at: ReplicateSteps = theta
        outputs, _, m = at.design.root.shape
        for run in replicate_runs(block, (self.sums.shape[0] * outputs * outputs, self.sums.shape[1])):
            z = host(at.design.coordinates(run)).reshape(-1, outputs, m)
            slopes, second, value = _derivatives(at, run, z)
            weight = at.replicates.weights(run)[:, at.active]
            found = np.zeros((weight.shape[1], self.sums.shape[1]))
            for k in range(outputs):
                found[:, -m - 2 : -2] += (weight * slopes[:, :, k]).T @ z[:, k]
                for j in range(k + 1):
                    both = packed_pairs(z[:, k]) if j == k else packed_pairs(z[:, k], z[:, j])
                    found[:, : -m - 2] += (weight * second[:, :, k, j]).T @ both
            found[:, -2] = (weight * value).sum(axis=0)
            self.sums[at.active] += found
            self.sums[0, -1] += float(run.weights() @ host(at.design.read(run).cost).sum(axis=1))


def _derivatives(at: ReplicateSteps, run: Block, z: Array) -> tuple[Array, Array, Array]:
    """Return r = -slope (n, B, K), second derivatives (n, B, K, K) and values (n, B) of a run of rows at all steps.

    B is 1 where all steps are zero.
    """
    loss, base, t = at.design.loss, host(at.design.outputs(run)), host(run.t)[:, : at.design.targets]
    outputs = base[:, None, :]
    if at.steps is not None:
        outputs = outputs + np.einsum("nkm,bm->nbk", z, at.steps[at.active], optimize=True)
    n, b, k = outputs.shape
    flat, each = outputs.reshape(-1, k), np.repeat(t, b, axis=0)
    slopes = -loss.slope(flat, each).reshape(n, b, k)
    second = at.design.second(flat, each) if loss.coupled else loss.curvature(flat, each)
    return slopes, second.reshape(n, b, k, k), loss.value(flat, each).sum(axis=1).reshape(n, b)


class InfluencePoint(NamedTuple):
    """A fit with residuals over 1 - h (`FittedDesign`, `FittedLikelihood`), and what takes scores to coefficients."""

    design: Any
    along: Array


class Influences(Totals):
    """Sums (4, T q) of w L^0 to w L^3: L is how far each coefficient moves with a row, L = A z r / (1 - h)."""

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: int) -> Self:
        """Return the sums over no rows, for `size` numbers L."""
        return cls(np.zeros((4, config["size"])))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at an InfluencePoint."""
        for run in replicate_runs(block, self.sums.shape):
            found = theta.design.read(run)
            scores = host(found.residual)[:, :, None] * host(found.z)[:, None, :]
            moved = (scores @ theta.along.T).reshape(run.rows, -1)
            weight = np.asarray(run.weights())
            counts = (weight > 0).astype(np.float64) if theta.design.precision else weight
            moved = moved * weight[:, None] if theta.design.precision else moved
            moved[~np.isfinite(moved)] = 0.0  # of a row that alone determines a coefficient
            self.sums += np.stack([counts @ moved**k for k in range(4)])


class SpreadPoint(NamedTuple):
    """What `ReplicateSpread` is taken at.

    Parameters
    ----------
    at : the fit, the replicates, and where each is; of least squares the design is a `FittedDesign`.
    target : of least squares, which target.
    wild : whether their bootstrap is wild.
    """

    at: ReplicateSteps
    target: int
    wild: bool


class ReplicateSpread(Totals):
    """What standard errors of replicates are made of, one row a replicate: M_b, and the sums of squared scores.

        G_b = sum v_ib s_ib s_ib' as `packed_pairs`; of groups s_gb = sum w_i s_ib over the rows of each, (G m)

    s_ib = Z_i r_ib are the scores of rows at the coefficients of the replicate.
    """

    uses_blas: ClassVar[bool] = True

    @classmethod
    def zero(cls, shape: Shape, **config: int) -> Self:
        """Return the sums over no rows, for `count` replicates, `size` m, and so many `groups`, or none."""
        m, groups = config["size"], config["groups"]
        pairs = m * (m + 1) // 2
        return cls(np.zeros((1 + config["count"], pairs + (groups * m or pairs))))

    def add(self, block: Block, theta: ThetaLike = None) -> None:
        """Take in a block at a SpreadPoint."""
        point: SpreadPoint = theta
        replicates = point.at.replicates
        for run in replicate_runs(block, (self.sums.shape[0] * block.shape.targets, self.sums.shape[1])):
            z, slopes, second = _at_replicates(point, run)
            own = np.asarray(run.weights())[:, None]
            weight = own if point.wild else replicates.weights(run)
            once = own if replicates.precision else 1.0
            _, outputs, m = z.shape
            pairs = m * (m + 1) // 2
            for k in range(outputs):
                for j in range(k + 1):
                    both = packed_pairs(z[:, k]) if j == k else packed_pairs(z[:, k], z[:, j])
                    self.sums[:, :pairs] += (weight * second[:, :, k, j]).T @ both
                    if replicates.groups is None:
                        squares = weight * once * slopes[:, :, k] * slopes[:, :, j]
                        self.sums[:, pairs:] += squares.T @ both
                if replicates.groups is not None:
                    shape, ends = (len(replicates.groups), run.rows), np.arange(run.rows + 1)
                    member = scipy.sparse.csc_array((np.ones(run.rows), replicates.places(run), ends), shape)
                    for i in range(m):
                        summed = member @ (own * z[:, k, i : i + 1] * slopes[:, :, k])
                        self.sums[:, pairs + i :: m] += np.asarray(summed).T


def _at_replicates(point: SpreadPoint, run: Block) -> tuple[Array, Array, Array]:
    """Return Z (n, K, m), residuals (n, B, K) and second derivatives (n, B, K, K) of a run at the replicates."""
    at = point.at
    if isinstance(at.design, FittedLikelihood):
        z = host(at.design.coordinates(run)).reshape(run.rows, -1, at.design.root.shape[2])
        slopes, second, _ = _derivatives(at, run, z)
        return z, slopes, second
    found = at.design.read(run)
    z, r = host(found.z), host(found.residual)[:, point.target, None]
    factors = np.ones((run.rows, len(at.active)))
    if point.wild:
        factors[:, 1:] = wild_factors(run, at.replicates, host(found.leverage))
    slopes = r * factors - z @ at.steps.T  # type: ignore[union-attr]
    return z[:, None], slopes[:, :, None], np.ones((*slopes.shape, 1, 1))


def replicate_runs(block: Block, shape: tuple[int, ...]) -> Iterator[Block]:
    """Cut a block into runs of rows whose weights and products fit into little memory."""
    rows = max(PIECE_NUMBERS // max(shape), 16)
    yield from block.pieces(rows * max(block.shape.features, 1))


def packed_pairs(z: Array, other: Array | None = None) -> Array:
    """Return the products of all pairs of columns of z (n, m), those of the upper triangle row by row.

    With another matrix, those of z other' + other z'.
    """
    i, j = np.triu_indices(z.shape[1])
    return np.asarray(z[:, i] * z[:, j] if other is None else z[:, i] * other[:, j] + other[:, i] * z[:, j])


def unpacked(pairs: Array, m: int) -> Array:
    """Return symmetric matrices (B, m, m) from their upper triangles (B, m (m + 1) / 2)."""
    out = np.empty((len(pairs), m, m))
    i, j = np.triu_indices(m)
    out[:, i, j] = out[:, j, i] = pairs
    return out
