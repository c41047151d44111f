"""The quadratic with corners: sweeps by the native loop and by the reference, groups, shares, and their minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

from adaline.kernels import native
from adaline.solvers.coordinates.corners import GroupCorners
from adaline.solvers.smooth.duality_gap import nonnegative_shares
from adaline.solvers.smooth.proximal_newton import (
    NATIVE,
    coordinate_descent,
    coordinate_descent_reference,
    least_subgradient,
    minimise_quadratic,
)


def _model(m: int, rows: int) -> Any:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((rows, m))
    l1 = rng.uniform(0.5, 2.0, m) * np.sqrt(rows)
    l1[0] = 0.0
    return a.T @ a, 5 * np.sqrt(rows) * rng.standard_normal(m), rng.standard_normal(m) * (rng.random(m) < 0.5), l1


@pytest.mark.skipif(not NATIVE, reason="needs the native core")
@pytest.mark.parametrize("isa", native.isas() if NATIVE else [])
@pytest.mark.parametrize("m", [1, 3, 8, 21])
def test_native_sweeps_equal_the_reference(isa: str, m: int) -> None:
    before = native.isa()
    hessian, g, w, l1 = _model(m, 40)
    hessian[m // 2] = hessian[:, m // 2] = 0.0  # a column that nothing is known of stays
    one, other = (g.copy(), w.copy()), (g.copy(), w.copy())
    native.use_isa(isa)
    try:
        moved = coordinate_descent(hessian, *one, l1, 3, 0.0)
    finally:
        native.use_isa(before)
    assert moved == pytest.approx(coordinate_descent_reference(hessian, *other, l1, 3, 0.0), rel=1e-10, abs=1e-20)
    np.testing.assert_allclose(one[0], other[0], rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-11, atol=1e-13)
    assert one[1][m // 2] == w[m // 2]


@pytest.mark.parametrize(("m", "rows"), [(1, 5), (12, 50), (30, 31), (30, 10)])
def test_minimum_meets_the_conditions(m: int, rows: int) -> None:
    hessian, g, start, l1 = _model(m, rows)
    if rows < m:
        g = hessian @ g / rows  # within what the matrix sees, or there is no minimum along the free coordinate
    w = minimise_quadratic(hessian, g, start, l1, 1e-12)
    slope = g + hessian @ (w - start)
    assert np.abs(least_subgradient(w, slope, l1)).max() <= 1e-10 * np.abs(g).max()
    assert (w == 0).any() or m == 1


def test_columns_that_are_alike_cost_no_more() -> None:
    rng = np.random.default_rng(1)
    a = rng.standard_normal((60, 1)) + 1e-5 * rng.standard_normal((60, 8))
    hessian, l1, g = a.T @ a, np.full(8, 1e-7), -(a.T @ (a[:, 0] - a[:, 1] + a[:, 2]))
    w = minimise_quadratic(hessian, g, np.zeros(8), l1, 1e-10)
    assert np.abs(least_subgradient(w, g + hessian @ w, l1)).max() <= 1e-9 * np.abs(g).max()


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


@pytest.mark.every
@pytest.mark.parametrize("seed", range(40))
def test_shares_of_planes_are_those_of_nonnegative_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(rng.integers(1, 8), rng.integers(1, 12)))
    if seed % 3 == 0 and len(columns) > 2:
        columns -= columns.mean(axis=0)  # slopes of classes add up to zero
    aim = columns @ rng.random(columns.shape[1]) if seed % 2 else rng.normal(size=len(columns))
    shares = nonnegative_shares(columns, aim)
    assert (shares >= 0).all()
    assert np.linalg.norm(columns @ shares - aim) == pytest.approx(nnls(columns, aim)[1], abs=1e-12)
