"""`penalty="auto"` of a likelihood: the penalty that predicts held-out rows best, along a path of warm starts.

The path runs from a penalty that leaves next to nothing of the weights down to next to no penalty, on standardised
columns, so that units do not matter; each fold starts each penalty from the weights of the one before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from adaline.arrays import Array
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.choose import minimise_smooth
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.sources import Source
from adaline.sources.views import Fold

DECADES = 8
A_DECADE = 2
WORSE = 3  # penalties in a row beyond the best after which a path ends
ROUGH = 1e-7  # tol of the fits on the path


class PenaltyPath(NamedTuple):
    """Penalties, the mean loss of a held-out row under each, its standard error over the folds, and the best."""

    penalties: Array
    values: Array
    errors: Array
    best: float


def cross_validated(
    source: Source, problem: Problem, unit: Array, start: Array, null: float, folds: int
) -> PenaltyPath:
    """Return the path of penalties and the best one."""
    spread = problem.spread
    penalties = spread.weight * 10.0 ** (1 - np.arange(DECADES * A_DECADE + 1) / A_DECADE)
    trained = [Fold(source, i, folds, held_out=False) for i in range(folds)]
    held_out = [Fold(source, i, folds, held_out=True) for i in range(folds)]
    weights = [one.total_weight() for one in held_out]
    thetas = [start.copy() for _ in range(folds)]
    values: list[float] = []
    errors: list[float] = []
    for penalty in penalties:
        losses = np.empty(folds)
        for i in range(folds):
            ridge = RidgePenalty(float(penalty), unit)
            weight = spread.weight - weights[i]
            one = build_problem(
                trained[i], problem.loss, problem.outputs, problem.intercept, ridge, spread, None, None, weight
            )
            thetas[i] = minimise_smooth(one, thetas[i], ROUGH * null).theta
            losses[i] = _loss(one, held_out[i], thetas[i])
        share = np.array(weights) / sum(weights)
        mean = losses.sum() / sum(weights)
        values.append(float(mean))
        each = losses / np.maximum(weights, 1e-300)
        errors.append(float(np.sqrt((share * (each - mean) ** 2).sum() / max(folds - 1, 1))))
        if len(values) - 1 - int(np.argmin(values)) >= WORSE:
            break
    tried = penalties[: len(values)]
    return PenaltyPath(tried, np.array(values), np.array(errors), float(tried[int(np.argmin(values))]))


def _loss(problem: Problem, rows: Source, theta: Array) -> float:
    """Return the summed loss of held-out rows, without the penalty."""
    return replace(problem, source=rows, ridge=np.zeros_like(problem.ridge)).evaluate(theta).value
