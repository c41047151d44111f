"""Stochastic gradient descent of linear machines: by a native scan where there is one, by the textbook's loop else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.block import Shape
from adaline.losses import Loss, SigmoidSquared, Softmax, Squared, TanhSquared
from adaline.results import Solution, Status
from adaline.scans import LMS, Scan, Schedule, Sigmoid
from adaline.scans import Softmax as SoftmaxScan
from adaline.solvers.fit import certificate
from adaline.solvers.problem import pose
from adaline.solvers.stochastic import Linear, walk
from adaline.solvers.sweep import Plan, sweep
from adaline.sources import Source
from adaline.sums import Spread
from adaline.systems.linear_machine import FittedMachine, Options
from adaline.systems.rates import WIDE, start_scan

Array = NDArray[np.float64]

RULES: dict[type[Loss], tuple[type[Scan], dict[str, Any]]] = {
    Squared: (LMS, {}),
    SigmoidSquared: (Sigmoid, {"activation": "logistic"}),
    TanhSquared: (Sigmoid, {"activation": "tanh"}),
    Softmax: (SoftmaxScan, {}),
}
"""The scans that take the steps of a loss."""


def walk_rows(
    source: Source, loss: Loss, options: Options, schedule: Any, plan: Plan, spread: Spread, constant: Array
) -> FittedMachine:
    """Return where epochs of single steps lead; `constant` (K,) are outputs to start from where the rate is "auto"."""
    automatic = isinstance(options.rate, str)
    native = type(loss) in RULES and not options.penalty.any() and not (automatic and source.shape.features > WIDE)
    if native:
        theta, history, status = _scanned(source, loss, options, schedule, plan, len(constant))
    else:
        theta, history, status = _walked(source, loss, options, schedule, plan, spread, constant)
    known = certificate(
        status=status,
        objective=history[-1] * spread.weight,
        gradient=math.nan,
        gap=math.inf,
        digits=math.nan,
        condition=math.nan,
        rank=0,
        passes=0,
        solver=f"stochastic gradient descent, {'a scan' if native else 'a loop in Python'}",
    )
    return FittedMachine(Solution(theta, known), history)


def _scanned(
    source: Source, loss: Loss, options: Options, schedule: Any, plan: Plan, outputs: int
) -> tuple[Array, list[float], Status]:
    rule, config = RULES[type(loss)]
    if loss.coupled:
        config = {"classes": outputs, **({"activation": "softmax"} if isinstance(options.rate, str) else {})}
    shape = Shape(source.shape.features, source.shape.targets)
    scan = start_scan(rule, shape, options.rate, schedule, intercept=options.intercept, init=options.init, **config)
    swept = sweep(source, scan, plan)
    return scan.theta.copy(), [tally.mean_loss for tally in swept.tallies], swept.status


def _walked(
    source: Source, loss: Loss, options: Options, schedule: Any, plan: Plan, spread: Spread, constant: Array
) -> tuple[Array, list[float], Status]:
    """Walk in raw columns from zero where the rate is a number, in columns of unit spread otherwise."""
    d = source.shape.features
    problem = pose(source, loss, len(constant), options.intercept, options.penalty, spread)
    first = np.zeros((len(constant), 1 + d)) if options.init is None else options.init
    share = np.concatenate([[0.0], options.penalty.scaled(np.zeros(d, dtype=np.int64))]) / spread.weight
    if not isinstance(options.rate, str):
        machine = Linear(np.ones(d), np.zeros(d), options.intercept)
        walked = walk(source, machine, loss, first, share, Schedule(float(options.rate), schedule), plan)
        return walked.weights, walked.history, walked.status
    if options.init is None:
        first[:, 0] = constant * options.intercept
    else:
        first = problem.inside(first)
    machine = Linear(problem.view.scale, problem.view.offset, options.intercept)
    share[1:] = problem.ridge / spread.weight
    walked = walk(source, machine, loss, first, share, None, plan)
    return problem.outside(walked.weights), walked.history, walked.status
