"""Any smooth convex loss: proximal Newton steps for one machine at a time, for all rows and without each fold."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from adaline.arrays import Array
from adaline.fits.constants import Constants
from adaline.fits.elastic_net.folds import train_and_test
from adaline.fits.elastic_net.net import LARGEST_PROVEN_GAP, ElasticPath, FittedNet, NetOptions, proven, short_of
from adaline.fits.elastic_net.smooth import SmoothNet, raw_weights
from adaline.fits.linear_machine import MachineOptions, minimise
from adaline.fits.penalty_path import Losses
from adaline.fits.ridge_folds import few_folds
from adaline.penalties import RidgePenalty
from adaline.results import Status
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.proximal_newton import PathPoint, curved_gap, points_at, proximal
from adaline.sources.views import total_weight


def net_at(net: SmoothNet, l1: float, start: Array, path: ElasticPath | None, options: NetOptions) -> FittedNet:
    """Return the net under a penalty, certified; its steps begin at `start` (K, 1 + D), in the view."""
    problem, size, _, _, null, lowest = net
    under = replace(problem, ridge=options.ridges(l1, size))
    found = proximal(under, l1 * size, start, LARGEST_PROVEN_GAP * null)
    enough = partial(proven, above=found.evaluation.value - lowest, null=null, tol=options.tol)
    if not (enough(found.gap) or found.converged):
        found = found._replace(gap=min(found.gap, curved_gap(under, found.theta, found.evaluation)))
    unproven = math.isinf(found.gap) and not math.isfinite(problem.loss.concordance)
    solved = enough(found.gap) or (found.converged and (unproven or math.isfinite(found.gap)))
    proof = certificate(
        status=Status.SOLVED if solved else Status.NOT_CONVERGED,
        objective=found.evaluation.value,
        gradient=problem.steepness(found.evaluation.gradient),
        gap=found.gap,
        rank=int((~problem.constant).sum()),
        solver="proximal Newton" if path is None else "proximal Newton along a path",
        advice=None if solved else short_of(found.gap, found.evaluation.value - lowest),
    )
    return FittedNet(raw_weights(under, found.theta), l1, path, proof, ~problem.constant, problem.spread.mean)


def unpenalised(net: SmoothNet, options: NetOptions) -> FittedNet:
    """Fit a loss without any penalty, as the systems without l1 do: a hyperplane may separate the classes."""
    problem, _, _, none, null, lowest = net
    slope = math.sqrt(2 * null / problem.spread.weight)
    constants = Constants(none, lowest + null, lowest, null, slope, inside=False)
    penalty = RidgePenalty(0.0, np.ones(problem.features))
    fitted = minimise(problem, constants, MachineOptions(penalty, options.intercept, LARGEST_PROVEN_GAP))
    proof = fitted.solution.certificate
    if proof.status.remedies:
        proof = replace(proof, advice=proof.status.advise("give l1 or penalty a number above zero"))
    return FittedNet(fitted.solution.theta, 0.0, None, proof, ~problem.constant, problem.spread.mean)


def validated(net: SmoothNet, points: list[PathPoint], options: NetOptions) -> ElasticPath:
    """Return the path of all rows with the losses of the rows held out, by a machine without each fold."""
    problem, size, wanted = net.problem, net.size, options.tol * net.null
    source, l1s = problem.source, np.array([point.l1 for point in points])

    ridges = partial(options.ridges, size=size)

    def shared(share: float, l1: float) -> Array:
        return ridges(l1) * share

    free = replace(problem, ridge=np.zeros_like(problem.ridge), sample=None, lightest=None)
    each, weights = [], []
    for train, test in train_and_test(source, options.folds):
        share = total_weight(train) / problem.weight
        if not 0 < share < 1:
            continue
        one = replace(free, source=train, weight=total_weight(train))
        found = points_at(one, size * share, net.constant, wanted * share, l1s, partial(shared, share))
        each.append([replace(free, source=test).evaluate(point.found.theta).value for point in found])
        weights.append(problem.weight - one.weight)
    if len(each) < 2:
        raise few_folds("l1='auto'", source.count_rows())
    losses = Losses(np.array(weights))
    for values in np.array(each).T:
        losses.add(values)
    thetas = np.array([raw_weights(replace(problem, ridge=ridges(l1)), found.theta) for l1, found in points])
    gaps = np.array([point.found.gap for point in points])
    return ElasticPath(l1s, thetas, gaps, np.array(losses.values), np.array(losses.errors))
