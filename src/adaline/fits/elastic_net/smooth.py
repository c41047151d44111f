"""Smooth losses: the problem without penalties, and nets of one output by Newton steps of all machines together."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.fits.constants import best_constants
from adaline.fits.elastic_net.folds import train_and_test
from adaline.fits.elastic_net.net import LARGEST_PROVEN_GAP, FittedNet, NetOptions, proven
from adaline.fits.elastic_net.path import Nets, chosen_net
from adaline.fits.ridge_folds import few_folds
from adaline.input.first_pass import first_pass
from adaline.losses import Loss
from adaline.penalties import RidgePenalty
from adaline.results import Certificate
from adaline.solvers.coordinates.corners import Corners
from adaline.solvers.coordinates.newton_nets import NewtonNets
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.solvers.smooth.proximal_newton import NULL_GAP, ROUNDING, ZEROING_PENALTY
from adaline.sources import Source
from adaline.sources.threads import one_blas_thread
from adaline.sources.views import total_weight
from adaline.sums import Targets


class SmoothNet(NamedTuple):
    """A smooth loss without penalties, the units (D,) that these act in, and the best constants (K,).

    `none` (K, 1 + D) are the weights of the constants, `null` their loss above the lowest that there is, `lowest`.
    """

    problem: Problem
    size: Array
    constant: Array
    none: Array
    null: float
    lowest: float


def smooth_net(source: Source, loss: Loss, intercept: bool, standardize: bool) -> SmoothNet:
    """Read the targets and the columns of rows, and return what steps along a path need."""
    targets, spread, sample = first_pass(source, Targets, loss)
    if not targets.finite:
        source.refuse_nonfinite()
    constant = best_constants(source, loss, targets)
    unit = np.ones_like(spread.mean)
    if standardize:
        unit = spread.deviation if intercept else spread.root
    problem = build_problem(source, loss, len(constant), intercept, RidgePenalty(0.0, unit), spread, sample)
    none = np.zeros((len(constant), 1 + problem.features))
    none[:, 0] = constant * problem.intercept
    lowest = float(targets.lowest.sum())
    null = abs(problem.evaluate(none).value - lowest)
    return SmoothNet(problem, unit * problem.view.scale, constant, none, null, lowest)


def raw_weights(problem: Problem, theta: Array) -> Array:
    """Return weights in raw units; of coupled outputs, the intercepts add up to zero.

    What all outputs gain by a column decides nothing: without a ridge penalty it is what leaves the least absolute
    values, a median, and of several the one nearest to zero.
    """
    out = problem.to_raw(theta)
    if problem.loss.coupled:
        out[:, 0] -= out[:, 0].mean()
        k, order = len(out), np.sort(out[:, 1:], axis=0)
        out[:, 1:] -= np.where(problem.ridge == 0, np.clip(0.0, order[(k - 1) // 2], order[k // 2]), 0.0)
    return out


@one_blas_thread()
def by_newton(source: Source, loss: Loss, options: NetOptions) -> FittedNet | None:
    """Fit a smooth convex loss of one output by Newton steps; None where memory or a bound of the loss is missing."""
    parts = [source]
    if options.l1 is None and options.folds:
        parts = [part for _, part in train_and_test(source, options.folds) if total_weight(part) > 0]
        if len(parts) < 2:
            raise few_folds("l1='auto'", source.count_rows())
    nets = SmoothNets(smooth_net(source, loss, options.intercept, options.standardize), parts)
    return chosen_net(nets, options) if np.isfinite(nets.machines.lowest).all() else None


class SmoothNets(Nets):
    """Nets of a smooth loss of one output, by Newton steps; `parts` are the rows of each fold, or all."""

    solver = "proximal Newton along a path"

    def __init__(self, net: SmoothNet, parts: list[Source]) -> None:
        self.problem, self.size = net.problem, net.size
        self.scale, self.mean = net.problem.view.scale, net.problem.spread.mean
        self.machines = NewtonNets(net.problem, parts, float(net.constant[0]))
        self.null = net.null * self.machines.share
        self.lowest = float(self.machines.lowest[0])
        self.outside = self.machines.weight[0] - self.machines.weight[1:]

    def largest(self, unity: Corners) -> float:
        """Find the best constants; return the smallest penalty under which all coefficients are zero."""
        machines, none = self.machines, Corners(np.full(len(self.size), ZEROING_PENALTY))
        machines.solve(none, none, np.zeros_like(self.size), NULL_GAP * np.abs(machines.value))
        zero = self.problem.evaluate(np.zeros((1, len(self.scale) + 1))).gradient
        slopes = abs(float(zero[0, 0])) + self.problem.weight * abs(float(machines.theta[0, 0]))
        pull = machines.gradient[0, 1:]
        return 1 / unity.room(pull) if np.abs(pull).max(initial=0.0) > ROUNDING * slopes else 0.0

    def solve(self, corners: Corners, last: Corners, ridge: Array, share: float) -> bool:
        """Step all machines to minima under a penalty."""
        return self.machines.solve(corners, last, ridge, share * self.null)

    def finish(self, corners: Corners, last: Corners, ridge: Array) -> bool:
        """Step the machine of all rows to its minimum."""
        machines = self.machines
        machines.alone()
        return machines.solve(corners, last, ridge, LARGEST_PROVEN_GAP * self.null[:1])

    def proof(self, corners: Corners, ridge: Array, tol: float) -> Certificate:
        """Return how good the machine of all rows is; second derivatives bound the gap where l1 is too small to."""
        machines, loss = self.machines, self.problem.loss
        above = self.measure(corners, ridge)[0] - self.lowest
        if not proven(machines.gap[0], above, self.null[0], tol):
            machines.gap[0] = min(machines.gap[0], machines.curved_gap(corners, ridge))
            unproven = math.isinf(machines.gap[0]) and not math.isfinite(loss.concordance)
            self.settled = unproven and machines.promise <= LARGEST_PROVEN_GAP * self.null[0]
        return super().proof(corners, ridge, tol)

    def held_out(self) -> Array:
        """Return the losses of the rows held out."""
        return self.machines.outside[1:]

    def raw(self) -> Array:
        """Return the weights in raw units."""
        return raw_weights(self.problem, self.machines.theta[:1])

    def keep(self) -> Callable[[], None]:
        """Return what brings the machine of all rows back to where it is."""
        return partial(self.machines.put, self.machines.theta[0].copy())

    def gap(self) -> float:
        """Return the gap of the machine of all rows."""
        return float(self.machines.gap[0])

    def measure(self, corners: Corners, ridge: Array) -> tuple[float, float]:
        """Return the objective and its steepest derivative."""
        steep = self.machines.subgradient(corners, ridge)
        return self.machines.objective(corners, ridge), self.problem.steepness(steep[None])
