"""Models that can go on learning, and rows for them: one of every system with `partial_fit`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline import LMS, LogisticRegression, OneVsOne, OneVsRest
from adaline.estimator import is_regressor
from adaline.storage.container import read
from adaline.systems import SYSTEMS

SETTINGS: dict[str, dict[str, Any]] = {
    "LogisticRegression": {"solver": "online"},
    "AdaptiveFilter": {"taps": 2},
    "WienerFilter": {"taps": 2},
    "Perceptron": {"epochs": 1},
}
MADE = {name: system(**SETTINGS.get(name, {})) for name, system in SYSTEMS.items()}
MODELS: dict[str, Any] = {
    **{name: model for name, model in MADE.items() if hasattr(model, "partial_fit")},
    "OneVsRest of LMS": OneVsRest(LMS()),
    "OneVsOne of LogisticRegression": OneVsOne(LogisticRegression(solver="online")),
}
FIRST, COLUMNS = 40, 3


def rows_for(model: Any, count: int = 300, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return rows and targets, or labels of three classes, that a model is to learn."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(FIRST + count, COLUMNS))
    t = x @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=len(x))
    return x, t if is_regressor(model) else np.array(["low", "mid", "top"])[np.digitize(t, [-1.0, 1.0])]


def listed(x: Any, y: Any) -> list[list[Any]]:
    """Return rows as a client sends them: lists, the target last."""
    return [[*row, target] for row, target in zip(x.tolist(), y.tolist(), strict=True)]


def bits(path: Any) -> dict[str, bytes]:
    """Return all arrays of a model file, but for its certificate's seconds."""
    return {name: array.tobytes() for name, array in read(path)[1].items()}
