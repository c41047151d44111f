"""Least trimmed squares on a sample of rows: a start that up to half of the rows cannot lead astray.

    minimise over theta the sum of the h smallest squared residuals,   h just over half of the rows

Many planes through as many random rows as there are coefficients; the best by the median of their residuals are
improved by steps that fit the h rows nearest to them, each of which lowers the sum (Rousseeuw and Van Driessen 2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaline.solvers.outputs import gather
from adaline.solvers.problem import Problem
from adaline.solvers.scale import mad

Array = NDArray[np.float64]

PLANES, KEPT, STEPS = 500, 25, 50
NUMBERS = 2**21  # in all the planes' equations together
ROWS, ROWS_A_COLUMN = 2000, 40  # of the sample


def trimmed(problem: Problem, weight: Array, rng: np.random.Generator) -> Array:
    """Return theta (1, 1 + D) in the view."""
    p = 1 + problem.features
    sample = _sample(problem, weight, max(ROWS, ROWS_A_COLUMN * p), rng)
    rows, t = sample[:, :-1], sample[:, -1]
    rows[:, 0] = problem.intercept
    n = len(rows)
    h = min(n, (n + p + 1) // 2)
    count = min(PLANES, max(NUMBERS // p**2, KEPT))
    draws = rng.random((count, n)).argpartition(min(p, n) - 1, axis=1)[:, : min(p, n)]
    planes = (np.linalg.pinv(rows[draws]) @ t[draws][:, :, None])[:, :, 0]
    ones = np.ones(n)
    size = np.array([mad(t - rows @ plane, ones) for plane in planes])
    found = [_improve(rows, t, planes[i], h) for i in np.argsort(size, kind="stable")[:KEPT]]
    return min(found, key=lambda pair: pair[0])[1][None]


def _improve(rows: Array, t: Array, theta: Array, h: int) -> tuple[float, Array]:
    """Fit the h nearest rows again and again; return the sum of their squares and the plane."""
    best = np.inf
    for _ in range(STEPS):
        near = np.argpartition(np.abs(t - rows @ theta), h - 1)[:h]
        new = np.linalg.lstsq(rows[near], t[near])[0]
        squares = np.partition((t - rows @ new) ** 2, h - 1)[:h].sum()
        if not squares < best:
            break
        best, theta = float(squares), np.asarray(new, dtype=np.float64)
    return best, theta


def _sample(problem: Problem, weight: Array, most: int, rng: np.random.Generator) -> Array:
    """Return rows (1, v, t); each as often as it counts where weights are not all one."""
    there = weight > 0
    if (weight[there] == weight[there][0]).all():
        if there.sum() > most:
            there[rng.choice(np.flatnonzero(there), there.sum() - most, replace=False)] = False
        return gather(problem, there)
    drawn = np.sort(rng.choice(len(weight), most, p=weight / weight.sum()))
    taken = np.zeros(len(weight), dtype=bool)
    taken[drawn] = True
    return gather(problem, taken)[np.searchsorted(np.flatnonzero(taken), drawn)]
