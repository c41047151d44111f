"""Data to measure on: columns in their own units, made in place so that nothing is held twice."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def regression(rows: int, features: int, *, seed: int = 0) -> tuple[Array, Array]:
    """Gaussian columns with spreads from 0.01 to 100 and means of a few spreads; coefficients that matter alike."""
    rng = np.random.default_rng(seed)
    spread = 10.0 ** rng.uniform(-2, 2, features)
    mean = spread * rng.uniform(-3, 3, features)
    w = rng.choice([-1.0, 1.0], features) * rng.uniform(0.5, 1.5, features) / spread
    X = np.empty((rows, features))
    rng.standard_normal(out=X)
    X *= spread
    X += mean
    y = X @ w
    y += 1.0
    for start in range(0, rows, 65536):
        part = y[start : start + 65536]
        part += rng.standard_normal(len(part))
    return X, y
