"""Fitting a differentiable machine of the user's own: by L-BFGS, batch steps, or one step a row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.errors import InvalidParameter
from adaline.losses import Loss
from adaline.parameters import Having
from adaline.results import Certificate, Status
from adaline.scans import Schedule
from adaline.scans.schedules import Decay
from adaline.solvers.epochs.stochastic import stochastic_descent
from adaline.solvers.epochs.sweep import EpochOptions
from adaline.solvers.least_squares.fit import certificate
from adaline.solvers.smooth.gradient import FunctionProblem, Stop, first_metric, gradient_descent, minimise_function
from adaline.sources import Source
from adaline.sums.machine import DifferentiableMachine, dense

METHODS = ("start", "value", "gradient")
MACHINE = Having(*METHODS, what="an object with start(features, outputs, rng), value(W, X) and gradient(W, X, slopes)")
MOST = 10000  # steps of L-BFGS


def first_weights(source: Source, machine: DifferentiableMachine, outputs: int, init: Any, rng: Any) -> Array:
    """Return the weights to start from, tried on a few rows."""
    given = machine.start(source.shape.features, outputs, rng) if init is None else init
    weights = np.array(given, dtype=np.float64)
    x = dense(source.peek().gathered().x[:2])
    y = np.asarray(machine.value(weights, x))
    if y.shape != (len(x), outputs):
        raise InvalidParameter(f"value of the machine is {y.shape} for {len(x)} rows, not ({len(x)}, {outputs})")
    slopes = np.asarray(machine.gradient(weights, x, np.zeros_like(y)))
    if slopes.shape != weights.shape:
        raise InvalidParameter(f"gradient of the machine has shape {slopes.shape}, the weights {weights.shape}")
    return weights


def fit_machine(
    source: Source,
    machine: Any,
    loss: Loss,
    weights: Array,
    penalty: float,
    plan: EpochOptions,
    *,
    solver: str,
    rate: float | str,
    schedule: Decay,
    stop_error: float | None,
) -> tuple[Array, list[float], Certificate]:
    """Return weights, history and certificate; the options are those of `GeneralizedLinear`.

    The penalty acts on all weights, or times what the machine's own `penalised(W)` gives for each.
    """
    which = machine.penalised(weights) if hasattr(machine, "penalised") else 1.0
    hold = penalty * np.broadcast_to(np.asarray(which, dtype=np.float64), weights.shape)
    problem = FunctionProblem(source, machine, loss, hold)
    automatic = isinstance(rate, str)
    gradient = math.nan
    if solver == "stochastic":
        total = source.total_weight()
        steps = None if automatic else Schedule(float(rate), schedule)
        walked = stochastic_descent(source, machine, loss, weights, hold / total, steps, plan)
        weights, history, status = walked.weights, walked.history, walked.status
        objective, name = history[-1] * total, "stochastic gradient descent"
    else:
        if solver == "gradient":
            first = problem.evaluate(weights)
            scale = abs(first.value)
            given = None if automatic else np.asarray(float(rate))
            stop = Stop(plan.tol * scale, stop_error, plan.epochs, scale)
            found, status = gradient_descent(problem.evaluate, weights, first_metric(first), given, stop, first)
            name = "batch gradient descent"
        else:
            found = minimise_function(problem, weights, plan.tol, MOST)
            status = Status.SOLVED if found.converged else Status.NOT_CONVERGED
            name = "L-BFGS"
        weights, history, objective = found.theta, found.history, found.evaluation.value
        gradient = float(np.abs(found.evaluation.gradient).max(initial=0.0))
    known = certificate(
        status=status, objective=objective, gradient=gradient, solver=f"{name} on the machine's own gradient"
    )
    return weights, history, known
