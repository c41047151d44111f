"""Stochastic gradient descent of linear machines: by a native scan where there is one, by the textbook's loop else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.block import Shape
from adaline.errors import AdalineWarning, InvalidParameter, warn
from adaline.fits.linear_machine import FittedMachine, Options
from adaline.losses import Loss, SigmoidSquared, Softmax, Squared, TanhSquared
from adaline.results import Solution, Status
from adaline.scans import AdaptiveRule, LMSRule, Scan, Schedule, SigmoidRule, Tally
from adaline.scans import SoftmaxRule as SoftmaxScan
from adaline.solvers.epochs.stochastic import Linear, stochastic_descent
from adaline.solvers.epochs.sweep import EpochOptions, sweep
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.problem import build_problem
from adaline.sources import Source
from adaline.sums import Spread

WIDE = 2**14
"""Columns beyond which "auto" touches only the entries of a sparse row, and not scales of all columns with each row."""


def start_scan(rule: type[Scan], shape: Shape, rate: Any, schedule: Any, **config: Any) -> Scan:
    """Return a rule's scan before its first row."""
    if not isinstance(rate, str):
        return rule.start(shape, rate=Schedule(rate, schedule), **config)
    if shape.features <= WIDE:
        return AdaptiveRule.start(shape, **config)
    if rule is LMSRule:
        return LMSRule.start(shape, rate=Schedule(1.0, "power", tau=1e4), variant="normalized", **config)
    raise InvalidParameter(
        f"rate='auto' goes over the scales of all columns with each row, too slow for {shape.features} of them: give a "
        "number as rate, or use mode='batch'"
    )


def warn_of_bound(system: Any, tally: Tally) -> None:
    """Warn where a constant rate is above 2 / Trace[Rxx] (5.20)."""
    if isinstance(system.rate, str) or system.schedule != "constant" or not system.rate > tally.bound:
        return
    warn(
        f"rate={system.rate:g} is above about {tally.bound:.3g}, the bound 2/Trace[Rxx] of (5.20) on these rows: "
        f"{type(system).__name__} may diverge. Lower it, or use rate='auto'.",
        AdalineWarning,
    )


RULES: dict[type[Loss], tuple[type[Scan], dict[str, Any]]] = {
    Squared: (LMSRule, {}),
    SigmoidSquared: (SigmoidRule, {"activation": "logistic"}),
    TanhSquared: (SigmoidRule, {"activation": "tanh"}),
    Softmax: (SoftmaxScan, {}),
}
"""The scans that take the steps of a loss."""


def walk_rows(
    source: Source, loss: Loss, options: Options, schedule: Any, plan: EpochOptions, spread: Spread, constant: Array
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
    source: Source, loss: Loss, options: Options, schedule: Any, plan: EpochOptions, outputs: int
) -> tuple[Array, list[float], Status]:
    rule, config = RULES[type(loss)]
    if loss.coupled:
        config = {"classes": outputs, **({"activation": "softmax"} if isinstance(options.rate, str) else {})}
    shape = Shape(source.shape.features, source.shape.targets)
    scan = start_scan(rule, shape, options.rate, schedule, intercept=options.intercept, init=options.init, **config)
    swept = sweep(source, scan, plan)
    return scan.theta.copy(), [tally.mean_loss for tally in swept.tallies], swept.status


def _walked(
    source: Source, loss: Loss, options: Options, schedule: Any, plan: EpochOptions, spread: Spread, constant: Array
) -> tuple[Array, list[float], Status]:
    """Walk in raw columns from zero where the rate is a number, in columns of unit spread otherwise."""
    d = source.shape.features
    problem = build_problem(source, loss, len(constant), options.intercept, options.penalty, spread)
    first = np.zeros((len(constant), 1 + d)) if options.init is None else options.init
    share = np.concatenate([[0.0], options.penalty.scaled(np.zeros(d, dtype=np.int64))]) / spread.weight
    if not isinstance(options.rate, str):
        machine = Linear(np.ones(d), np.zeros(d), options.intercept)
        walked = stochastic_descent(source, machine, loss, first, share, Schedule(float(options.rate), schedule), plan)
        return walked.weights, walked.history, walked.status
    if options.init is None:
        first[:, 0] = constant * options.intercept
    else:
        first = problem.from_raw(first)
    machine = Linear(problem.view.scale, problem.view.offset, options.intercept)
    share[1:] = problem.ridge / spread.weight
    walked = stochastic_descent(source, machine, loss, first, share, None, plan)
    return problem.to_raw(walked.weights), walked.history, walked.status
