"""The bootstrap: coefficients of replicates with random weights, and the intervals that they give.

    theta_b = theta + A d_b,   (M_b + P) d_b = g_b - g_0        least squares and ridge, P = 1 - M_0 the penalty

    likelihoods: Newton's steps, (M_b + P) s = g_b(d_b) - g_0 - P d_b, all replicates in one pass; M_0 + P = phi 1

in the coordinates of covariance.py, where all rows together have M_0 + P = 1. A replicate is the exact fit to the rows
with its weights (`sums/replicates.py`), and digits are lost only as far as the replicate is worse conditioned than the
fit. Steps start at the fit, are halved where the objective rises, and end after one that is shorter than SHORT standard
errors: its square is what is left. A replicate whose rows leave a coefficient open, or whose likelihood has no maximum,
is left out, and counted.

B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap (1993); A. C. Davison and D. V. Hinkley, Bootstrap
Methods and their Application (1997).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array, GroupsLike, host
from adaline.block import Block
from adaline.errors import InvalidParameter
from adaline.inference.clusters import ClusteredScores, read_scores
from adaline.inference.covariance import check_squares, check_weight, coordinates, factor_of, lens
from adaline.inference.likelihood import check_maximum
from adaline.inference.sample import Sample
from adaline.inference.sandwich import check_rows_cost, check_rows_weight, fitted_rows
from adaline.losses import Loss
from adaline.solvers import lapack
from adaline.solvers.least_squares.fit import Fit
from adaline.solvers.smooth.likelihood import LikelihoodFit
from adaline.sources import Source
from adaline.sources.runners import each_block
from adaline.sums import FittedDesign, FittedLikelihood
from adaline.sums.replicates import (
    InfluencePoint,
    Influences,
    ReplicateMoments,
    ReplicateObjective,
    ReplicatePoint,
    Replicates,
    ReplicateSpread,
    ReplicateSteps,
    SpreadPoint,
    unpacked,
)
from adaline.sums.scores import runs

MOST_SUMS = 2**24  # numbers of the sums of one pass, 128 MiB a thread; doubled: half the passes where these are many
MOST_PASSES = 30  # of Newton's method; doubling it waits longer for replicates that have no maximum
# length of a step, in standard errors, below which it is the last; 10x larger ends a pass earlier, with fewer digits
SHORT = 1e-6
# relative rise of an objective that counts as rounding; 10x larger accepts steps that do not help
ROUNDING_OF_COST = 1e-12
# least pivot of M_b + P, relative to 1, below which a replicate does not identify a coefficient; 10x larger rejects
# more
OPEN = 1e-10


@dataclass(frozen=True)
class Replicated:
    """Coefficients of a fit and of its replicates.

    Parameters
    ----------
    estimate : (q,) all targets one after the other, intercept first.
    values : (B, q), NaN where a replicate leaves a coefficient open.
    steps : (B, T, m), d_b of each in the coordinates of the fit.
    passes : over the rows.
    last_step : the longest last step of Newton's method, in standard errors; 0 where the solution is direct.
    """

    estimate: Array
    values: Array
    steps: Array
    passes: int
    last_step: float = 0.0


class RowsOfFit(ABC):
    """A fit of one or more targets with its rows, which its replicates read again.

    Parameters
    ----------
    source : the rows, with the number of the group of each as one more target where there are groups.
    scores : a_g (G, T, m) of groups, see clusters.py; None where rows are drawn.
    labels : numbers of the groups (G,), ascending; None where rows are drawn.
    """

    source: Source
    scores: Array | None
    labels: Array | None
    precision: bool

    @abstractmethod
    def replicate(self, drawn: Replicates, wild: bool = False) -> Replicated:
        """Return the coefficients under the weights of replicates."""

    @property
    @abstractmethod
    def determined(self) -> NDArray[np.bool_]:
        """Which coefficients the rows determine, (q,): neither those left out nor an intercept where there is none."""

    @abstractmethod
    def acceleration(self) -> Array:
        """Return a of each coefficient, (q,): one pass, or none with groups."""

    @abstractmethod
    def errors(self, drawn: Replicates, found: Replicated, wild: bool = False) -> Array:
        """Return the standard errors of the fit and of its replicates, (1 + B, q): one pass a target and lot."""

    def _acceleration(self, design: FittedDesign | FittedLikelihood, along: Array, targets: int) -> Array:
        if self.scores is not None:
            moved = (self.scores @ along.T).reshape(len(self.scores), -1)
            sums = np.stack([(moved**k).sum(axis=0) for k in range(4)])
        else:
            point = InfluencePoint(design._replace(power=2.0), along)
            sums = self.source.sum(Influences, point, size=targets * len(along)).sums
        return acceleration_of(sums)

    def _errors(
        self,
        design: FittedDesign | FittedLikelihood,
        along: Array,
        penalty: Array,
        drawn: Replicates,
        steps: Array,
        target: int,
        wild: bool,
    ) -> Array:
        m = along.shape[1]
        pairs, groups = m * (m + 1) // 2, 0 if self.labels is None else len(self.labels)
        out: list[Array] = []
        for lot in _lots(drawn, pairs + (groups * m or pairs)):
            own = steps[lot.first - drawn.first :][: lot.size]
            at = ReplicateSteps(design, lot, np.concatenate([np.zeros((1, m)), own]), np.ones(1 + lot.size, dtype=bool))
            point = SpreadPoint(at, target, wild)
            sums = self.source.sum(ReplicateSpread, point, count=lot.size, size=m, groups=groups).sums
            matrices = unpacked(sums[:, :pairs], m) + penalty
            meats = sums[:, pairs:]
            if groups:
                counts = np.ones((groups, 1 + lot.size)) if wild else lot.counts()
                each = meats.reshape(-1, groups, m)
                meats = np.einsum("gb,bgi,bgj->bij", counts, each, each, optimize=True)
            else:
                meats = unpacked(meats, m)
            bread = solved(matrices, np.broadcast_to(along, (len(matrices), *along.shape)))
            found = np.sqrt(np.einsum("bqi,bij,bqj->bq", bread, meats, bread, optimize=True))
            out.append(found if not out else found[1:])
        return np.concatenate(out)


@dataclass(frozen=True)
class RegressionRows(RowsOfFit):
    """Least squares or ridge with its rows; `fit` is without dependent columns."""

    fit: Fit
    sample: Sample
    source: Source
    scores: Array | None = None
    labels: Array | None = None

    @property
    def precision(self) -> bool:  # type: ignore[override]
        """Whether weights are precisions."""
        return self.sample.precision

    @property
    def design(self) -> FittedDesign:
        """The fit as its rows are read."""
        return lens(self.fit, self.precision)

    @property
    def along(self) -> Array:
        """A, (1 + D, m), from steps in the coordinates of the fit to those of scaled coefficients."""
        found = coordinates(self.fit, np.eye(self.fit.solution.theta.shape[1]))
        return found if factor_of(self.fit).scaling.intercept else found[:, 1:]

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Which coefficients the rows determine."""
        return np.tile(self.along.any(axis=1), len(self.fit.squares))

    def replicate(self, drawn: Replicates, wild: bool = False) -> Replicated:
        """Return the coefficients under the weights of replicates, or of a wild bootstrap: one pass a lot."""
        fit, targets, a = self.fit, len(self.fit.squares), self.along
        m = 1 + factor_of(fit).rank
        own = slice(m - a.shape[1], None)  # the constant's coordinate is zero where there is no intercept
        pairs = m * (m + 1) // 2
        lots = _lots(drawn, pairs + targets * (m + 1))
        out: list[Array] = []
        for lot in lots:
            point = ReplicatePoint(self.design, lot, wild)
            sums = self.source.sum(ReplicateMoments, point, count=lot.size, size=m, targets=targets).sums
            check_squares(self.source, fit, sums[0, -targets:])
            moments, scores = unpacked(sums[:, :pairs], m), sums[:, pairs:-targets].reshape(-1, targets, m)
            penalty = np.eye(m) - moments[0] if fit.penalty.any() else np.zeros((m, m))
            if wild:
                moments[1:] = moments[0]
                scores[1:] += scores[0]
            right = scores[1:] - (scores[0] if fit.penalty.any() else 0.0)
            out.append(solved((moments[1:] + penalty)[:, own, own], right[:, :, own]))
        steps = np.concatenate(out)
        values = fit.solution.theta + np.ldexp(steps @ a.T, factor_of(fit).scaling.target_scale[:, None])
        return Replicated(fit.solution.theta.ravel(), values.reshape(drawn.size, -1), steps, len(lots))

    def acceleration(self) -> Array:
        """Return a of each coefficient."""
        a = coordinates(self.fit, np.eye(self.fit.solution.theta.shape[1]))
        return self._acceleration(self.design, a, len(self.fit.squares))

    def errors(self, drawn: Replicates, found: Replicated, wild: bool = False) -> Array:
        """Return HC0 errors, or CR0 of groups."""
        a = coordinates(self.fit, np.eye(self.fit.solution.theta.shape[1]))
        m, targets = a.shape[1], len(self.fit.squares)
        penalty = np.zeros((m, m))
        if self.fit.penalty.any():
            point = ReplicatePoint(self.design, drawn._replace(size=0))
            sums = self.source.sum(ReplicateMoments, point, count=0, size=m, targets=targets).sums
            penalty = np.eye(m) - unpacked(sums[:, : m * (m + 1) // 2], m)[0]
        elif not a[:, 0].any():
            penalty[0, 0] = 1.0  # the constant's coordinate, where there is none
        steps = np.zeros((drawn.size, targets, m))
        steps[:, :, m - found.steps.shape[2] :] = found.steps
        out = [self._errors(self.design, a, penalty, drawn, steps[:, k], k, wild) for k in range(targets)]
        scale = factor_of(self.fit).scaling.target_scale[:, None]
        return np.ldexp(np.stack(out, axis=1), scale).reshape(1 + drawn.size, -1)


@dataclass(frozen=True)
class LikelihoodRows(RowsOfFit):
    """A likelihood of one target with its rows."""

    fit: LikelihoodFit
    loss: Loss
    source: Source
    scores: Array | None = None
    labels: Array | None = None

    @property
    def design(self) -> FittedLikelihood:
        """The fit as its rows are read."""
        targets = self.source.shape.targets - (self.labels is not None)
        return fitted_rows(self.fit, self.loss, self.source)._replace(targets=targets)

    @property
    def precision(self) -> bool:  # type: ignore[override]
        """Whether weights are precisions."""
        return self.fit.family is not None and self.fit.family.precision

    @property
    def determined(self) -> NDArray[np.bool_]:
        """Which coefficients the rows determine."""
        return np.asarray(self.design.root.any(axis=2).ravel())

    @np.errstate(all="ignore")  # a replicate without a maximum overflows
    def replicate(self, drawn: Replicates, wild: bool = False) -> Replicated:
        """Return the coefficients under the weights of replicates, by Newton's method for all at once."""
        if wild:
            raise InvalidParameter("the wild bootstrap is for least squares, whose residuals have signs: use 'pairs'")
        design = self.design
        outputs, side, m = design.root.shape
        steps, last, passes = [], 0.0, 0
        for lot in _lots(drawn, m * (m + 1) // 2 + m + 2):
            found, own, longest = _newton(self.fit, design, self.source, lot)
            steps.append(found)
            last, passes = max(last, longest), passes + own
        each = np.concatenate(steps)
        values = (design.theta + np.einsum("kdm,bm->bkd", design.root, each)).reshape(-1, outputs * side)
        return Replicated(design.theta.ravel(), values, each[:, None], passes, last)

    def acceleration(self) -> Array:
        """Return a of each coefficient, by one step of Newton's method without each row."""
        design = self.design
        return self._acceleration(design, design.root.reshape(-1, design.root.shape[2]), 1)

    @np.errstate(all="ignore")
    def errors(self, drawn: Replicates, found: Replicated, wild: bool = False) -> Array:
        """Return HC0 errors, or CR0 of groups, with the observed information of each replicate."""
        design = self.design
        penalty = _penalty(self.fit, design, self.source)
        along = design.root.reshape(-1, design.root.shape[2])
        return self._errors(design, along, penalty, drawn, found.steps[:, 0], 0, wild)


def regression_rows(fit: Fit, source: Source, sample: Sample, groups: GroupsLike = None) -> RegressionRows:
    """Return a fit with its rows, and their groups; refuse others than those fitted."""
    fit = fit.without_dependent()
    check_weight(source, fit, sample)
    rows = RegressionRows(fit, sample, source)
    if groups is None:
        return rows
    found, joined, labels = _grouped(source, rows.design, groups, size=1 + factor_of(fit).rank)
    check_squares(source, fit, found.squares)
    return replace(rows, source=joined, scores=found.scores[0], labels=labels)


def likelihood_rows(fit: LikelihoodFit, loss: Loss, source: Source, groups: GroupsLike = None) -> LikelihoodRows:
    """Return a likelihood with its rows, and their groups; refuse others than those fitted."""
    check_maximum(fit, "bootstrap replicates")
    check_rows_weight(fit, source)
    rows = LikelihoodRows(fit, loss, source)
    if groups is None:
        return rows
    found, joined, labels = _grouped(source, rows.design, groups, size=rows.design.root.shape[2], targets=1)
    check_rows_cost(fit, source, found.squares)
    return replace(rows, source=joined, scores=found.scores[0], labels=labels)


def _grouped(
    source: Source, design: FittedDesign | FittedLikelihood, groups: GroupsLike, **config: int
) -> tuple[ClusteredScores, Source, Array]:
    """Return the scores of groups, the rows with the number of the group of each, and these numbers."""
    found, joined = read_scores(source, design, "cluster", groups, **config)
    if len(joined) > 1:
        raise InvalidParameter("the bootstrap draws groups by one column: give one label for each row, not two")
    return found, joined[0], np.unique(joined[0].read_targets()[:, -1])


def acceleration_of(sums: Array) -> Array:
    """Return sum (L - mean)^3 / (6 [sum (L - mean)^2]^(3/2)) from the sums of L^0 to L^3, (4, q); zero of no spread."""
    count, (first, second, third) = sums[0], sums[1:] / sums[0]
    square = np.maximum(second - first**2, 0.0)
    cube = third - 3 * first * second + 2 * first**3
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(square > 0, count * cube / (6 * (count * square) ** 1.5), 0.0)


def _newton(fit: LikelihoodFit, design: FittedLikelihood, source: Source, lot: Replicates) -> tuple[Array, int, float]:
    """Return d_b of each replicate (B, m), NaN where there is no maximum, the passes, and the longest last step."""
    m = design.root.shape[2]
    at, trial, tried_step = np.zeros((lot.size, m)), np.zeros((lot.size, m)), np.zeros((lot.size, m))
    value, last = np.full(lot.size, np.inf), np.full(lot.size, np.nan)
    penalty, pull = _penalty(fit, design, source), np.zeros(m)
    for passes in range(1, MOST_PASSES + 1):
        active = np.append(passes == 1, np.isnan(last))
        steps = None if passes == 1 else np.concatenate([np.zeros((1, m)), trial])
        point = ReplicateSteps(design, lot, steps, active)
        sums = source.sum(ReplicateObjective, point, count=lot.size, size=m).sums
        if passes == 1:
            check_rows_cost(fit, source, sums[:1, -1])
            pull = sums[0, -m - 2 : -2] if fit.penalised else pull
        own = np.flatnonzero(active[1:])
        moved = trial[own]
        cost = sums[1 + own, -2] + moved @ pull + 0.5 * np.einsum("bm,mj,bj->b", moved, penalty, moved)
        better = cost <= value[own] + ROUNDING_OF_COST * (1.0 + np.abs(cost))
        good = own[better]
        at[good], value[good] = trial[good], cost[better]
        right = sums[1 + good, -m - 2 : -2] - pull - at[good] @ penalty
        tried_step[good] = solved(unpacked(sums[1 + good, : -m - 2], m) + penalty, right[:, None])[:, 0]
        tried_step[own[~better]] /= 4.0
        trial[own] = at[own] + tried_step[own]
        length = np.linalg.norm(tried_step[own], axis=1) / np.sqrt(design.dispersion)
        last[own] = np.where(np.isnan(length), np.inf, np.where(better & (length < SHORT), length, np.nan))
        if not np.isnan(last).any():
            break
    ended = last < SHORT
    trial[~ended] = np.nan
    return trial, passes, float(last[ended].max(initial=0.0))


def _penalty(fit: LikelihoodFit, design: FittedLikelihood, source: Source) -> Array:
    """Return P = phi (1 - Z'VZ), what the expected information of the rows, in one pass, leaves of phi 1.

    Without a penalty that is a direction which no rows determine: one common to all machines of a softmax, or that of
    an intercept where there is none.
    """
    m = design.root.shape[2]
    if not (fit.penalised or design.loss.coupled) and design.root[:, 0].any():
        return np.zeros((m, m))

    def information(block: Block) -> Array:
        out = np.zeros((m, m))
        for run in runs(block):
            spread = host(design.spread(run, design.coordinates(run)))
            out += np.einsum("n,nkm,nkj->mj", run.weights(), spread, spread, optimize=True)
        return out

    rest = np.eye(m) - np.sum(each_block(source, information), axis=0)
    if not fit.penalised:
        values, vectors = np.linalg.eigh(rest)
        free = vectors[:, values > 0.5]
        rest = free @ free.T
    return np.asarray(design.dispersion * rest)


def _lots(drawn: Replicates, numbers: int) -> list[Replicates]:
    """Return the replicates in lots, the sums of which fit into memory, each of so many numbers."""
    most = max(MOST_SUMS // numbers, 1)
    end = drawn.first + drawn.size
    return [drawn._replace(first=k, size=min(most, end - k)) for k in range(drawn.first, end, most)]


def solved(matrices: Array, right: Array) -> Array:
    """Return the solutions of positive definite systems (B, m, m) for right sides (B, K, m); NaN where they are not."""
    out = np.full_like(right, np.nan)
    for i, (matrix, sides) in enumerate(zip(matrices, right, strict=True)):
        factor, fault = lapack.dpotrf(matrix)
        if not fault and factor.diagonal().min() > np.sqrt(OPEN):
            out[i] = lapack.dpotrs(factor, sides.T)[0].T
    return out
