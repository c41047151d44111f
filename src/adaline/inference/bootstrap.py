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

from typing import NamedTuple

import numpy as np

from adaline.arrays import Array, host
from adaline.block import Block
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
from adaline.sums import FittedLikelihood
from adaline.sums.replicates import (
    ReplicateMoments,
    ReplicateObjective,
    ReplicatePoint,
    Replicates,
    ReplicateSteps,
    unpacked,
)
from adaline.sums.scores import runs

MOST_SUMS = 2**24  # numbers of the sums of one pass, 128 MiB a thread; doubled: half the passes where these are many
MOST_PASSES = 30  # of Newton's method; doubling it waits longer for replicates that have no maximum
SHORT = 1e-6  # a step after which none follows, in standard errors; 10x longer ends a pass earlier, with fewer digits
ROUNDING_OF_COST = 1e-12  # relative, of an objective that counts as no larger; 10x larger takes steps that do not help
OPEN = 1e-10  # least pivot of M_b + P, beside 1, below which a replicate leaves a coefficient open; 10x larger: more do


class Replicated(NamedTuple):
    """Coefficients of a fit and of its replicates.

    Parameters
    ----------
    estimate : (q,) all targets one after the other, intercept first.
    replicates : (B, q), NaN where a replicate leaves a coefficient open.
    passes : over the rows.
    last_step : the longest last step of Newton's method, in standard errors; 0 where the solution is direct.
    """

    estimate: Array
    replicates: Array
    passes: int
    last_step: float = 0.0


def replicate_regression(fit: Fit, source: Source, sample: Sample, drawn: Replicates, wild: bool = False) -> Replicated:
    """Return the coefficients of least squares or ridge under the weights of replicates; rows are those fitted."""
    fit = fit.without_dependent()
    check_weight(source, fit, sample)
    design, targets = lens(fit, sample.precision), len(fit.squares)
    a = coordinates(fit, np.eye(fit.solution.theta.shape[1]))
    m, own = a.shape[1], slice(0 if factor_of(fit).scaling.intercept else 1, None)  # the constant's coordinate is zero
    lots = _lots(drawn, m * (m + 1) // 2 + targets * (m + 1))
    out = np.empty((drawn.count, targets, len(a)))
    for lot in lots:
        point = ReplicatePoint(design, lot, wild)
        sums = source.sum(ReplicateMoments, point, count=lot.count, size=m, targets=targets).sums
        check_squares(source, fit, sums[0, -targets:])
        pairs = m * (m + 1) // 2
        moments, scores = unpacked(sums[:, :pairs], m), sums[:, pairs:-targets].reshape(-1, targets, m)
        penalty = np.eye(m) - moments[0] if fit.penalty.any() else np.zeros((m, m))
        if wild:
            moments[1:] = moments[0]
            scores[1:] += scores[0]
        right = scores[1:] - (scores[0] if fit.penalty.any() else 0.0)
        steps = solved((moments[1:] + penalty)[:, own, own], right[:, :, own])
        scale = factor_of(fit).scaling.target_scale[:, None]
        out[lot.first - drawn.first :][: lot.count] = fit.solution.theta + np.ldexp(steps @ a[:, own].T, scale)
    return Replicated(fit.solution.theta.ravel(), out.reshape(drawn.count, -1), len(lots))


@np.errstate(all="ignore")  # a replicate without a maximum overflows
def replicate_likelihood(fit: LikelihoodFit, loss: Loss, source: Source, drawn: Replicates) -> Replicated:
    """Return the coefficients of a likelihood under the weights of replicates, by Newton's method for all at once."""
    check_maximum(fit, "bootstrap replicates")
    check_rows_weight(fit, source)
    design = fitted_rows(fit, loss, source)
    outputs, side, m = design.root.shape
    found, last, passes = [], 0.0, 0
    for lot in _lots(drawn, m * (m + 1) // 2 + m + 2):
        steps, own, longest = _newton(fit, design, source, lot)
        found.append(design.theta + np.einsum("kdm,bm->bkd", design.root, steps))
        last, passes = max(last, longest), passes + own
    return Replicated(design.theta.ravel(), np.concatenate(found).reshape(-1, outputs * side), passes, last)


def _newton(fit: LikelihoodFit, design: FittedLikelihood, source: Source, lot: Replicates) -> tuple[Array, int, float]:
    """Return d_b of each replicate (B, m), NaN where there is no maximum, the passes, and the longest last step."""
    m = design.root.shape[2]
    at, trial, tried_step = np.zeros((lot.count, m)), np.zeros((lot.count, m)), np.zeros((lot.count, m))
    value, last = np.full(lot.count, np.inf), np.full(lot.count, np.nan)
    penalty, pull = _penalty(fit, design, source), np.zeros(m)
    for passes in range(1, MOST_PASSES + 1):
        active = np.append(passes == 1, np.isnan(last))
        steps = None if passes == 1 else np.concatenate([np.zeros((1, m)), trial])
        point = ReplicateSteps(design, lot, steps, active)
        sums = source.sum(ReplicateObjective, point, count=lot.count, size=m).sums
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
    end = drawn.first + drawn.count
    return [drawn._replace(first=k, count=min(most, end - k)) for k in range(drawn.first, end, most)]


def solved(matrices: Array, right: Array) -> Array:
    """Return the solutions of positive definite systems (B, m, m) for right sides (B, K, m); NaN where they are not."""
    out = np.full_like(right, np.nan)
    for i, (matrix, sides) in enumerate(zip(matrices, right, strict=True)):
        factor, fault = lapack.dpotrf(matrix)
        if not fault and factor.diagonal().min() > np.sqrt(OPEN):
            out[i] = lapack.dpotrs(factor, sides.T)[0].T
    return out
