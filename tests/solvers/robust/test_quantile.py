"""Quantile regression as a linear program."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import RobustRegression
from adaline.solvers.robust import quantile
from adaline.solvers.robust.quantile import solve_program


@pytest.mark.parametrize("seed", range(4))
def test_targets_most_of_which_are_equal_need_no_simplex_method(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    n, p, level = 10_000, 12, 0.47
    rng = np.random.default_rng(seed)
    a = np.column_stack([np.ones(n), rng.standard_normal((n, p)), rng.exponential(size=n) ** 3])
    t = np.where(rng.uniform(size=n) < 0.02, rng.exponential(size=n), 0.0)
    a, t = np.vstack([a, 3 * a.sum(axis=0)]), np.append(t, t.sum())  # as many rows on one side are added up
    monkeypatch.setattr(quantile, "_simplex", None)
    found = solve_program(a, t, level, 1e-12 * rng.standard_normal(p + 2))
    assert found.on_plane.any()


def test_duals_of_many_ties_satisfy_their_equations() -> None:
    rng = np.random.default_rng(400)
    X = rng.integers(0, 2, (400, 3)).astype(float)
    proof = RobustRegression(loss="absolute").fit(X, rng.integers(0, 2, 400)).certificate_
    assert proof.gap <= 1e-10 * proof.objective
