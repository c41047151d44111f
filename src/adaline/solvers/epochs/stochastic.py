"""Stochastic gradient descent for any machine and any loss: one step a row (S4; S0 section 5.4).

    W <- W - eta_t weight slope(G(W, x), t) . dG/dW - eta_t penalty_share W

The textbook's loop in Python, for what has no native scan: tens of microseconds a row. `rate="auto"` starts at the
loss of a row above its least, over the squared length of its gradient, both on average over a sample (for the squared
error 1 / (2 E|x|^2), half of what (5.20) allows), and falls as 1 / (1 + t/N)^(3/4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from adaline.arrays import Array, host, is_sparse
from adaline.block import Block
from adaline.losses import Loss
from adaline.results import Status
from adaline.scans import Schedule
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.sources import ArraySource, Source, SparseSource
from adaline.sources.progress import watched
from adaline.sources.sample import draw_rows
from adaline.sums.machine import DifferentiableMachine, dense

SAMPLE_ROWS = 256  # rows that determine the first rate; doubling it takes twice as long, for a steadier rate
EXPLODED_LOSS = 1e8  # mean loss, relative to the first, from which steps have diverged; 10x larger reports it later


@dataclass(frozen=True)
class Linear:
    """The linear machine W (K, 1 + D) on the columns v = x scale + offset."""

    scale: Array
    offset: Array
    intercept: bool

    def start(self, features: int, outputs: int, rng: np.random.Generator) -> Array:
        """Return zeros."""
        return np.zeros((outputs, 1 + features))

    def value(self, W: Array, X: Array) -> Array:
        """Return z = w'v + w0."""
        return (X * self.scale + self.offset) @ W[:, 1:].T + W[:, 0]

    def gradient(self, W: Array, X: Array, slopes: Array) -> Array:
        """Return the sum of slope (1, v)."""
        constant = slopes.sum(axis=0)[:, None] * self.intercept
        return np.concatenate([constant, slopes.T @ (X * self.scale + self.offset)], axis=1)


@dataclass(frozen=True)
class StochasticResult:
    """Weights after the last step, mean loss of each epoch (each row's before its own step), and how it ended."""

    weights: Array
    history: list[float]
    status: Status


def stochastic_descent(
    source: Source,
    machine: DifferentiableMachine,
    loss: Loss,
    weights: Array,
    penalty: Array,
    schedule: Schedule | None,
    options: EpochOptions,
) -> StochasticResult:
    """Take one step a row for epochs, from `weights` of any shape; no schedule means the rate "auto".

    `penalty` (like the weights) is that of each weight for one row. Where the steps diverge, the weights before the
    last epoch are returned.
    """
    history: list[float] = []
    step, rows = 0, source.count_rows()
    with np.errstate(over="ignore", invalid="ignore"), watched(options.title, rows * options.epochs, None) as progress:
        first, square = _first_losses(source, machine, loss, weights)
        if schedule is None:
            rate = (first or 1.0) / square if 0 < square < math.inf and first < math.inf else 1.0
            schedule = Schedule(rate, "power", tau=float(rows))
        for _ in range(options.epochs):
            kept, cost, total = weights, 0.0, 0.0
            for x, t, weight in _visits(source, options.draw):
                step += 1
                eta = schedule.at(step)
                y = machine.value(weights, x)
                cost += weight * float(loss.value(y, t).sum())
                total += weight
                slopes = (eta * weight) * loss.slope(y, t)
                weights = weights - machine.gradient(weights, x, slopes) - (eta * penalty) * weights
            history.append(cost / total)
            if not (np.isfinite(weights).all() and history[-1] <= EXPLODED_LOSS * max(first, np.finfo(float).tiny)):
                return StochasticResult(kept, history, Status.DIVERGED)
            progress.add(rows)
            if len(history) > 1 and abs(history[-2] - history[-1]) <= options.tol * abs(history[-2]):
                return StochasticResult(weights, history, Status.SOLVED)
    return StochasticResult(weights, history, Status.NOT_CONVERGED)


def _first_losses(source: Source, machine: DifferentiableMachine, loss: Loss, weights: Array) -> tuple[float, float]:
    """Return the loss of a row above its least, and the squared length of its gradient, on average over a sample."""
    cost, square, total = 0.0, 0.0, 0.0
    for x, t, weight in _visits(draw_rows(source, SAMPLE_ROWS), None):
        y = machine.value(weights, x)
        lowest = float(loss.lowest(t).sum())
        cost += weight * (float(loss.value(y, t).sum()) - (lowest if math.isfinite(lowest) else 0.0))
        square += weight * float((machine.gradient(weights, x, loss.slope(y, t)) ** 2).sum())
        total += weight
    return (abs(cost) / total, square / total) if total else (1.0, 1.0)


def _visits(source: Source, draw: np.random.Generator | None) -> Iterator[tuple[Array, Array, float]]:
    """Return rows (1, D) of positive weight, targets (1, K) and weights, in their order or in a permutation drawn."""
    for block in _blocks(source):
        t = host(block.t)
        weight = None if block.weight is None else host(block.weight)
        rows = block.x if is_sparse(block.x) else dense(block.x)
        for i in range(block.rows) if draw is None else draw.permutation(block.rows):
            one = 1.0 if weight is None else float(weight[i])
            if one > 0:
                yield dense(rows[[i]]) if is_sparse(rows) else rows[i : i + 1], t[i : i + 1], one


def _blocks(source: Source) -> Iterator[Block]:
    """Return all rows as one block where they are in memory, so that a permutation is of all of them."""
    if isinstance(source, ArraySource | SparseSource):
        source.reads[0] += 1
        return iter([Block(source.x, source.targets.values, source.targets.weight)])
    source.runner.refuse_parts()
    return source.blocks()
