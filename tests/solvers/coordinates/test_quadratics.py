"""Quadratics of rows in memory: the matrices that the rows give, and no more memory than few columns need."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from adaline import ElasticNet
from adaline.arrays import Array
from adaline.solvers.coordinates.quadratics import WideQuadratics, of_rows
from adaline.solvers.smooth.problem import column_spread
from adaline.sources import ArraySource

FOLD = np.arange(12) % 3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_wide_rows_give_the_matrices_of_their_definition(intercept: bool, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    x, t = rng.normal(2.0, 3.0, (12, 30)), rng.normal(size=12)
    weight = rng.integers(1, 4, 12).astype(float) if weighted else None
    made = of_rows(x, t, weight, column_spread(ArraySource(x, t[:, None], weight)), intercept, FOLD)
    assert isinstance(made, WideQuadratics)
    columns, matrix = made.widened(1, np.array([7, 2]), made.among(1, np.array([7, 2])), np.array([2, 20, 11]))
    assert columns.tolist() == [7, 2, 11, 20]
    for m, found in ((0, made.among(0, columns)), (1, matrix), (3, made.among(3, columns))):
        np.testing.assert_allclose(found, _defined(x, weight, m, made.scale, intercept)[np.ix_(columns, columns)])
    changes = rng.normal(size=(2, 30)) * (rng.random((2, 30)) < 0.3)
    applied = made.apply([0, 2], changes)
    for m, change, found in zip((0, 2), changes, applied, strict=True):
        np.testing.assert_allclose(found, _defined(x, weight, m, made.scale, intercept) @ change, atol=1e-10)


def _defined(x: Array, weight: Array | None, m: int, scale: Array, intercept: bool) -> Array:
    w = np.where(m - 1 == FOLD, 0.0, np.ones(len(x)) if weight is None else weight)
    z = x * scale
    z = z - w @ z / w.sum() * intercept
    return np.asarray(z.T @ (w[:, None] * z))


def test_a_wide_path_takes_no_memory_for_products_of_all_columns() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 1500))
    y = x[:, :3] @ [3.0, 2.0, 1.0] + rng.normal(size=30)
    ElasticNet(points=5).fit(x[:, :600], y)  # what is loaded at first
    tracemalloc.start()
    ElasticNet(points=20).fit(x, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 8 * 1500**2
