"""Stochastic gradient descent of linear machines: by a native scan where there is one, else by a loop in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.block import Shape
from adaline.fits.linear_machine import FittedMachine, MachineOptions
from adaline.fits.online import MOST_SCALED_COLUMNS, scan_certificate, start_scan
from adaline.losses import Loss, SigmoidSquared, Softmax, Squared, TanhSquared
from adaline.results import Solution, Status
from adaline.scans import LMSRule, Scan, Schedule, SigmoidRule, SoftmaxRule
from adaline.solvers.epochs.stochastic import Linear, stochastic_descent
from adaline.solvers.epochs.sweep import EpochOptions, sweep
from adaline.solvers.smooth.problem import build_problem
from adaline.sources import Source
from adaline.sums import Spread

RULES: dict[type[Loss], tuple[type[Scan], dict[str, Any]]] = {
    Squared: (LMSRule, {}),
    SigmoidSquared: (SigmoidRule, {"activation": "logistic"}),
    TanhSquared: (SigmoidRule, {"activation": "tanh"}),
    Softmax: (SoftmaxRule, {}),
}
"""The scan that takes the steps of a loss, and its options."""


def walk_rows(
    source: Source,
    loss: Loss,
    options: MachineOptions,
    schedule: Any,
    epochs: EpochOptions,
    spread: Spread,
    constant: Array,
) -> FittedMachine:
    """Return the machine after epochs of single steps; the rate "auto" starts from the outputs `constant` (K,)."""
    automatic = isinstance(options.rate, str)
    native = (
        type(loss) in RULES
        and not options.penalty.any()
        and not (automatic and source.shape.features > MOST_SCALED_COLUMNS)
    )
    if native:
        theta, history, status = _by_scan(source, loss, options, schedule, epochs, len(constant))
    else:
        theta, history, status = _by_loop(source, loss, options, schedule, epochs, spread, constant)
    solver = f"stochastic gradient descent, {'a scan' if native else 'a loop in Python'}"
    known = scan_certificate(status, history[-1] * spread.weight, solver)
    return FittedMachine(Solution(theta, known), history)


def _by_scan(
    source: Source, loss: Loss, options: MachineOptions, schedule: Any, epochs: EpochOptions, outputs: int
) -> tuple[Array, list[float], Status]:
    """Return theta (K, 1 + D), the mean loss of each epoch and the status, by the scan of the loss."""
    rule, config = RULES[type(loss)]
    if loss.coupled:
        config = {"classes": outputs, **({"activation": "softmax"} if isinstance(options.rate, str) else {})}
    shape = Shape(source.shape.features, source.shape.targets)
    scan = start_scan(rule, shape, options.rate, schedule, intercept=options.intercept, init=options.init, **config)
    swept = sweep(source, scan, epochs)
    return scan.theta.copy(), [tally.mean_loss for tally in swept.tallies], swept.status


def _by_loop(
    source: Source,
    loss: Loss,
    options: MachineOptions,
    schedule: Any,
    epochs: EpochOptions,
    spread: Spread,
    constant: Array,
) -> tuple[Array, list[float], Status]:
    """Return the same by a loop: in raw columns where the rate is a number, else in standardised ones."""
    d = source.shape.features
    problem = build_problem(source, loss, len(constant), options.intercept, options.penalty, spread)
    first = np.zeros((len(constant), 1 + d)) if options.init is None else options.init
    share = np.concatenate([[0.0], options.penalty.scaled(np.zeros(d))]) / spread.weight
    if not isinstance(options.rate, str):
        machine = Linear(np.ones(d), np.zeros(d), options.intercept)
        found = stochastic_descent(source, machine, loss, first, share, Schedule(float(options.rate), schedule), epochs)
        return found.weights, found.history, found.status
    if options.init is None:
        first[:, 0] = constant * options.intercept
    else:
        first = problem.from_raw(first)
    machine = Linear(problem.view.scale, problem.view.offset, options.intercept)
    share[1:] = problem.ridge / spread.weight
    found = stochastic_descent(source, machine, loss, first, share, None, epochs)
    return problem.to_raw(found.weights), found.history, found.status
