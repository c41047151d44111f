"""Machines of a user's own, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class TwoLayers:
    """y = v0 + v'tanh(U (1, x)): W is (hidden, 1 + D + 1) plus the constant in a last row."""

    hidden: int = 4

    def start(self, features: int, outputs: int, rng: np.random.Generator) -> Any:
        """Return random weights."""
        assert outputs == 1
        return rng.normal(size=(self.hidden + 1, features + 2))

    def value(self, W: Any, X: Any) -> Any:
        """Return y."""
        hidden = np.tanh(X @ W[:-1, 1:-1].T + W[:-1, 0])
        return (hidden @ W[:-1, -1] + W[-1, 0])[:, None]

    def gradient(self, W: Any, X: Any, slopes: Any) -> Any:
        """Return the sum of slopes times dy/dW: the delta rule through two layers."""
        hidden = np.tanh(X @ W[:-1, 1:-1].T + W[:-1, 0])
        delta = slopes * W[:-1, -1] * (1 - hidden**2)
        out = np.zeros_like(W)
        out[:-1, 0], out[:-1, 1:-1] = delta.sum(axis=0), delta.T @ X
        out[:-1, -1], out[-1, 0] = hidden.T @ slopes[:, 0], slopes.sum()
        return out


@dataclass(frozen=True)
class Plane:
    """The linear machine, written by a user; the constant is not penalised."""

    def start(self, features: int, outputs: int, rng: np.random.Generator) -> Any:
        """Return zeros."""
        return np.zeros((outputs, 1 + features))

    def value(self, W: Any, X: Any) -> Any:
        """Return w'x + w0."""
        return X @ W[:, 1:].T + W[:, 0]

    def gradient(self, W: Any, X: Any, slopes: Any) -> Any:
        """Return the sum of slopes (1, x)."""
        return np.column_stack([slopes.sum(axis=0), slopes.T @ X])

    def penalised(self, W: Any) -> Any:
        """Return 0 for the constants, 1 for the rest."""
        return np.arange(W.shape[1]) > 0
