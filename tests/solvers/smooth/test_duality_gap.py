"""Shares of planes that make a plane level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from adaline.solvers.smooth.duality_gap import nonnegative_shares


@pytest.mark.parametrize("seed", range(40))
def test_shares_are_those_of_nonnegative_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(rng.integers(1, 8), rng.integers(1, 12)))
    if seed % 3 == 0 and len(columns) > 2:
        columns -= columns.mean(axis=0)  # slopes of classes add up to zero
    aim = columns @ rng.random(columns.shape[1]) if seed % 2 else rng.normal(size=len(columns))
    shares = nonnegative_shares(columns, aim)
    assert (shares >= 0).all()
    assert np.linalg.norm(columns @ shares - aim) == pytest.approx(nnls(columns, aim)[1], abs=1e-12)
