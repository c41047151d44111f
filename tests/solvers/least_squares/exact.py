"""Least squares and ridge in rational arithmetic: the exact answer for the float64 input, and how many digits of a fit
agree with it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rationals = NDArray[np.object_]

NEGLIGIBLE = 2.0**-70  # a coefficient this small next to the others is zero to working precision, and not counted


def rational(values: Any) -> Rationals:
    """The same numbers as fractions."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(np.asarray(values, dtype=np.float64).astype(object)))


def solve(
    X: Any, y: Any, *, fit_intercept: bool = True, sample_weight: Any = None, penalty: Any = 0.0
) -> list[list[Fraction]]:
    """Solve (X'WX + P) w = X'Wy about the means, for each target; intercept first if there is one, and not penalised.

    `penalty` is a number, or one for each column. Of several solutions this is the one of minimum norm, intercept
    outside the norm.
    """
    x, t = rational(X), rational(y).reshape(len(X), -1)
    weight = rational(np.ones(len(x)) if sample_weight is None else sample_weight)
    mean, mean_t = ((weight @ z) / weight.sum() * int(fit_intercept) for z in (x, t))
    x, t = x - mean, t - mean_t
    weighted = x.T * weight
    gram = weighted @ x
    gram[np.diag_indices(len(gram))] += rational(np.broadcast_to(penalty, len(gram)))
    w, null = eliminate(np.column_stack([gram, weighted @ t]), len(gram))
    if null.size:
        w = w - null @ eliminate(np.column_stack([null.T @ null, null.T @ w]), null.shape[1])[0]
    constant = [mean_t - mean @ w] if fit_intercept else []
    return [list(row) for row in np.vstack([*constant, w]).T]


def eliminate(system: Rationals, p: int) -> tuple[Rationals, Rationals]:
    """Solve a consistent system [A b] of p unknowns: a solution with zeros where it is free, and a basis of the null
    space."""
    pivots: list[int] = []
    for column in range(p):
        below = [i for i in range(len(pivots), p) if system[i, column] != 0]
        if below:
            k = len(pivots)
            system[[k, below[0]]] = system[[below[0], k]]
            system[k] = system[k] / system[k, column]
            for i in range(p):
                if i != k and system[i, column] != 0:
                    system[i] = system[i] - system[i, column] * system[k]
            pivots.append(column)
    free = [j for j in range(p) if j not in pivots]
    solution = np.full((p, system.shape[1] - p), Fraction(0))
    solution[pivots] = system[: len(pivots), p:]
    null = np.full((p, len(free)), Fraction(0))
    null[pivots] = -system[: len(pivots)][:, free]
    null[free] = np.eye(len(free), dtype=int) * Fraction(1)
    return solution, null


def theta(model: Any) -> list[list[float]]:
    """The coefficients of a fit as rows of floats, one for each target, intercept first if there is one."""
    coef = np.atleast_2d(model.coef_)
    constant = np.broadcast_to(model.intercept_, len(coef))
    out = np.column_stack([constant, coef]) if model.fit_intercept else coef
    return [[float(v) for v in row] for row in out]


def digits(found: list[list[float]], exact: list[list[Fraction]], X: Any) -> float:
    """Correct digits of the worst coefficient that is not negligible, from 0 to 16."""
    x = np.asarray(X, dtype=np.float64)
    length = np.sqrt((x**2).sum(axis=0))
    if len(exact[0]) > x.shape[1]:
        spread = np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=0))
        length = np.concatenate([[math.sqrt(len(x))], spread])
    worst = 1e-16
    for row, answer in zip(found, exact, strict=True):
        size = [abs(float(b)) * scale for b, scale in zip(answer, length, strict=True)]
        for a, b, s in zip(row, answer, size, strict=True):
            if s > NEGLIGIBLE * max(size):
                worst = max(worst, float(abs(Fraction(a) - b) / abs(b)) if math.isfinite(a) else math.inf)
    return max(-math.log10(worst), 0.0)
