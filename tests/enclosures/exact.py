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
    found = eliminated(a[:, :-1], a[:, -1])
    return None if found is None else [*([] if intercept else [Fraction(0)]), *found]


def contained(lower: Any, upper: Any, exact: Any) -> bool:
    """Return whether exact numbers lie within float64 bounds, which may be infinite."""
    ends = zip(np.ravel(lower).tolist(), np.ravel(upper).tolist(), np.ravel(np.array(exact, dtype=object)), strict=True)
    return all(
        (low == -np.inf or Fraction(low) <= value) and (high == np.inf or value <= Fraction(high))
        for low, high, value in ends
    )


def scatter(x: Any, codes: Any, weight: Any = None) -> tuple[Any, list[Fraction], Any]:
    """Return the class means (K, D), the weights of the classes, and the scatter within them, in rational numbers."""
    rows, w = rational(x), rational(np.ones(len(x)) if weight is None else weight)[:, None]
    each = [(rows[codes == k], w[codes == k]) for k in range(int(codes.max()) + 1)]
    totals = [heavy.sum() for _, heavy in each]
    means = np.array([(own * heavy).sum(axis=0) / total for (own, heavy), total in zip(each, totals, strict=True)])
    within = sum((own - mean).T @ ((own - mean) * heavy) for (own, heavy), mean in zip(each, means, strict=True))
    return means, totals, within


def eliminated(a: Any, b: Any) -> Any:
    """Return A^-1 b in rational numbers, None where A is singular."""
    both = np.column_stack([a, b])
    for k in range(len(both)):
        pivot = next((i for i in range(k, len(both)) if both[i, k]), None)
        if pivot is None:
            return None
        both[[k, pivot]] = both[[pivot, k]]
        both[k] = both[k] / both[k, k]
        for i in range(len(both)):
            if i != k and both[i, k]:
                both[i] = both[i] - both[i, k] * both[k]
    return both[:, -1]


def discriminants(x: Any, codes: Any, weight: Any = None) -> list[tuple[Any, Fraction]] | None:
    """Return the exact coefficients u and the constant of each discriminant function; None where S has no inverse.

    With two classes u = N S^-1 (m_1 - m_0), and the constant is -(m_0 + m_1)'u / 2. With more, for each class k,
    u_k = N S^-1 (m_k - m) and -(m_k + m)'u_k / 2, where m is the mean of all rows.
    """
    means, totals, within = scatter(x, codes, weight)
    n, mean = sum(totals), sum(w * m for w, m in zip(totals, means, strict=True)) / sum(totals)
    away = [means[1] - means[0]] if len(means) == 2 else [one - mean for one in means]
    middle = [(means[0] + means[1]) / 2] if len(means) == 2 else [(one + mean) / 2 for one in means]
    found = []
    for a, m in zip(away, middle, strict=True):
        u = eliminated(within, n * a)
        if u is None:
            return None
        found.append((u, -(m @ u)))
    return found
