"""The answer to compare with: least squares refined in extended precision.

    theta <- theta + (Z'Z + penalty I)^-1 (Z'(t - X w - b) - penalty w),     Z = X - mean(X)

Residuals and coefficients are kept in `longdouble` (64 bits of mantissa on x86), the matrix in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

Array = np.ndarray[Any, Any]

ROWS = 8192
"""Rows that are converted to extended precision at a time."""


def solve(X: Array, y: Array, *, penalty: float = 0.0, steps: int = 4) -> Array:
    """Coefficients in extended precision, intercept first; made for condition numbers up to about 1e6."""
    rows, features = X.shape
    mean = sum(block.sum(axis=0, dtype=np.float64) for block, _ in _blocks(X, y)) / rows
    gram = np.zeros((features, features))
    for block, _ in _blocks(X, y):
        z = block.astype(np.float64) - mean
        gram += z.T @ z
    scale = np.sqrt(np.diag(gram))
    factor = cho_factor(gram / np.outer(scale, scale) + penalty * np.diag(1 / scale**2))

    theta = np.zeros(1 + features, np.longdouble)
    for _ in range(steps):
        slope = np.zeros(1 + features, np.longdouble)
        for block, t in _blocks(X, y):
            x = block.astype(np.longdouble)
            residual = t - theta[0] - x @ theta[1:]
            slope[0] += residual.sum()
            slope[1:] += residual @ x
        slope[1:] -= mean * slope[0] + penalty * theta[1:]
        change = cho_solve(factor, (slope[1:] / scale).astype(np.float64)) / scale
        theta[1:] += change
        theta[0] += slope[0] / rows - mean @ change
    return theta


def digits(theta: Array, exact: Array) -> float:
    """Correct significant digits of the worst coefficient, 16 at most."""
    error = np.max(np.abs(theta - exact) / np.abs(exact))
    return float(min(16.0, -np.log10(error))) if error > 0 else 16.0


def _blocks(X: Array, y: Array) -> Any:
    return ((X[i : i + ROWS], y[i : i + ROWS]) for i in range(0, len(X), ROWS))
