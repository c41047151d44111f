"""Sets of rows to ask about separability, and the answer from a linear program in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array


def generated(seed: int, margin: float) -> tuple[Array, NDArray[np.int64]]:
    """Rows of two classes, in units from 1e-6 to 1e6 and with means up to 1e3 spreads.

    A positive margin: on their side of a plane, many at exactly this distance. A negative one: besides, the means of
    some rows of each class lie beyond the plane by so much at one point, and two rows at the same point, far off, keep
    any plane from turning round: not separable.
    """
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 13))
    n = int(rng.integers(2 * d + 8, 30 * d + 60))
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    height = X @ w
    t = np.where(height > 0, 1, -1)
    short = np.maximum(abs(margin) - np.abs(height), 0)
    near = rng.choice(n, n // 2, replace=False)
    short[near] = abs(margin) - np.abs(height[near])
    X += np.outer(t * short, w)
    if margin < 0:
        around = rng.normal(size=(2, d + 1, d))
        around -= around.mean(axis=1, keepdims=True)
        around -= (around @ w)[:, :, None] * w
        middle = rng.normal(size=d)
        middle -= (middle @ w) * w
        X = np.concatenate(
            [X, middle + around[0] + margin * w, middle + around[1] - margin * w, [middle + w, middle - w]]
        )
        t = np.concatenate([t, np.ones(d + 1, dtype=int), -np.ones(d + 1, dtype=int), [1, -1]])
    if seed % 3 == 0:
        X = np.ldexp(X, rng.integers(-20, 21, size=d))
    if seed % 5 == 0:
        X = X + X.std(axis=0) * rng.uniform(-1e3, 1e3, size=d)
    order = rng.permutation(len(X))
    return X[order], t[order]


def kind(X: Any, y: Any) -> str:
    """Complete, quasi or none, by the simplex method with Bland's rule, in fractions.

    Maximise the sum of s_i subject to t_i (w.x_i + w0) >= s_i, 0 <= s_i <= 1: s_i is 1 where row i can be won, else 0.
    """
    t = np.where(np.asarray(y) == np.max(y), 1, -1)
    z = [[Fraction(int(s)) * Fraction(float(v)) for v in (1.0, *row)] for s, row in zip(t, np.asarray(X), strict=True)]
    right = won(z)
    return "complete" if all(right) else "quasi" if any(right) else "none"


def won(z: list[list[Fraction]]) -> list[bool]:
    """Variables: theta = a - b, s, and slacks g = z theta - s >= 0, h = 1 - s >= 0; starts at zero."""
    n, p = len(z), len(z[0])
    columns = 2 * p + n  # those outside the basis at the start; then n slacks g and n slacks h
    rows = []
    for i in range(n):
        rows.append([*(-v for v in z[i]), *z[i], *(Fraction(int(i == j)) for j in range(n)), Fraction(0)])
    for i in range(n):
        rows.append([Fraction(0)] * (2 * p) + [Fraction(int(i == j)) for j in range(n)] + [Fraction(1)])
    cost = [Fraction(0)] * (2 * p) + [Fraction(1)] * n + [Fraction(0)]
    outside, inside = list(range(columns)), list(range(columns, columns + 2 * n))
    while True:
        entering = [j for j in range(columns) if cost[j] > 0]
        if not entering:
            break
        j = min(entering, key=lambda k: outside[k])
        ratios = [(row[-1] / row[j], inside[i], i) for i, row in enumerate(rows) if row[j] > 0]
        i = min(ratios)[2]
        pivot = rows[i][j]
        new = [v / pivot for v in rows[i]]
        new[j] = 1 / pivot
        for k in range(len(rows)):
            if k != i and rows[k][j] != 0:
                f = rows[k][j]
                rows[k] = [a - f * b for a, b in zip(rows[k], new, strict=True)]
                rows[k][j] = -f / pivot
        f = cost[j]
        cost = [a - f * b for a, b in zip(cost, new, strict=True)]
        cost[j] = -f / pivot
        rows[i] = new
        outside[j], inside[i] = inside[i], outside[j]
    value = dict.fromkeys(range(columns + 2 * n), Fraction(0)) | {
        name: row[-1] for name, row in zip(inside, rows, strict=True)
    }
    return [value[2 * p + i] > 0 for i in range(n)]
