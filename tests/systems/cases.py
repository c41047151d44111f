"""Systems to hold the laws of regression against: those of the registry, as they come and in the settings listed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adaline.arrays import Array
from adaline.systems import SYSTEMS, LinearSystem

Make = Callable[[], Any]

REGRESSIONS: dict[str, type[Any]] = {name: cls for name, cls in SYSTEMS.items() if issubclass(cls, LinearSystem)}

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "LinearRegression": [{"fit_intercept": False}, {"solver": "qr"}, {"solver": "svd"}, {"solver": "normal"}],
    "Ridge": [{"penalty": 0.5}, {"criterion": "evidence"}, {"criterion": "loo"}, {"fit_intercept": False}],
}
"""Arguments to be tested besides the defaults; a system that is not listed is tested with its defaults."""

OWN_UNITS = [("Ridge", {"penalty": 0.5})]
"""What depends on the units of the columns, on purpose."""

NEEDS_ROWS = [("Ridge", {"criterion": "loo"})]
"""What cannot be solved from sums."""


def systems(without: list[tuple[str, dict[str, Any]]] | None = None) -> list[Any]:
    """Parameters for pytest: functions that make a system."""
    out = []
    for name, cls in REGRESSIONS.items():
        for settings in ({}, *SETTINGS.get(name, [])):
            if (name, settings) not in (without or []):
                shown = ", ".join(f"{key}={value}" for key, value in settings.items())
                out.append(pytest.param(lambda cls=cls, settings=settings: cls(**settings), id=f"{name}({shown})"))
    return out


def data(seed: int = 0, n: int = 60, d: int = 4, targets: int = 0) -> tuple[Array, Array]:
    """Well-conditioned rows with noise; targets 0 is one vector."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    noise = rng.normal(size=(n, targets) if targets else n)
    return X, X @ rng.normal(size=(d, targets) if targets else d) + 1.5 + 0.5 * noise


def theta(model: Any) -> Array:
    """All coefficients in one vector."""
    return np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)])


def assert_same(a: Any, b: Any, X: Any, rtol: float = 1e-12) -> None:
    """Assert that two models predict and are the same, to a relative tolerance."""
    np.testing.assert_allclose(theta(a), theta(b), rtol=rtol, atol=rtol * np.abs(theta(b)).max())
    expected = b.predict(X)
    np.testing.assert_allclose(a.predict(X), expected, rtol=rtol, atol=rtol * np.abs(expected).max())
