"""The exact solution of least squares for float64 rows, in rational numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np


def rational(values: Any) -> Any:
    """Return an array of the rational numbers that these floats are."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(values, dtype=float))


def solve(x: Any, t: Any, weight: Any = None, penalty: Any = 0.0, intercept: bool = True) -> list[Fraction] | None:
    """Return w0 and w of one target, None where they are not unique; `penalty` is a number or (D,), rational or not."""
    rows, target = rational(x), rational(t)
    ones = rational(np.ones((len(rows), 1)))
    rows = np.hstack([ones, rows]) if intercept else rows
    weighted = rows if weight is None else rows * rational(weight)[:, None]
    a = np.column_stack([weighted.T @ rows, weighted.T @ target])
    for j, one in enumerate(np.broadcast_to(penalty, rows.shape[1] - intercept)):
        a[intercept + j, intercept + j] += Fraction(one)
    for k in range(len(a)):
        pivot = next((i for i in range(k, len(a)) if a[i, k]), None)
        if pivot is None:
            return None
        a[[k, pivot]] = a[[pivot, k]]
        a[k] = a[k] / a[k, k]
        for i in range(len(a)):
            if i != k and a[i, k]:
                a[i] = a[i] - a[i, k] * a[k]
    return [*([] if intercept else [Fraction(0)]), *a[:, -1]]


def contained(lower: Any, upper: Any, exact: Any) -> bool:
    """Return whether exact numbers lie within float64 bounds, which may be infinite."""
    ends = zip(np.ravel(lower).tolist(), np.ravel(upper).tolist(), np.ravel(np.array(exact, dtype=object)), strict=True)
    return all(
        (low == -np.inf or Fraction(low) <= value) and (high == np.inf or value <= Fraction(high))
        for low, high, value in ends
    )
