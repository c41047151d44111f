"""Penalties with corners: how they lower a quadratic."""

from __future__ import annotations

import numpy as np

from adaline.solvers.coordinates.corners import GroupCorners


def test_groups_of_dependent_columns_settle_at_the_minimum() -> None:
    """Sweeps alone gain a constant factor each, near 1 where columns of different groups are nearly the same."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 6))
    x[:, 3:] = x[:, :3] + 0.1 * x[:, 3:]
    matrix, c = x.T @ x, -x.T @ (x[:, 0] - x[:, 4] + rng.normal(size=50))
    corners = GroupCorners(np.linspace(5e-4, 15e-4, 6), (np.arange(2), np.array([2]), np.arange(3, 6)))
    v, gradient = np.zeros(6), c.copy()
    for _ in range(4):
        corners.lower(matrix, gradient, v, 3, 0.0)
        corners.settle(matrix, gradient, v)
    np.testing.assert_allclose(gradient, matrix @ v + c, atol=1e-11)
    assert v.any()
    assert np.abs(corners.subgradient(v, gradient)).max() < 1e-9 * np.abs(c).max()
