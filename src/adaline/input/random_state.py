"""`random_state`: the generator that a system draws its random numbers from."""

from __future__ import annotations

from typing import Any

import numpy as np


def generator(state: Any) -> np.random.Generator:
    """Return a generator for a `random_state`: None, a whole number, or a generator of either kind."""
    if isinstance(state, np.random.RandomState):
        return np.random.default_rng(state.randint(2**31, size=4))
    return np.random.default_rng(state)
