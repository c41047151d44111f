"""Dependent columns are proven from few columns each, and give the solution that a triangle of all rows gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Status
from adaline.solvers.least_squares import choose

COLUMNS = 40

pytestmark = pytest.mark.filterwarnings("ignore:some columns are linear combinations")


def _rows(mean: float = 100.0, changed: float = 0.0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(mean, 2.0, (300, COLUMNS))
    copies = np.column_stack([x[:, :20], 2.0 * x[:, 20:30] + 1.0, x[:, 30:35] - x[:, 35:]])
    copies[7, 3] += changed
    x = np.column_stack([x, np.ones(300), copies])
    return x, x[:, :5].sum(axis=1) + rng.normal(size=300), rng.integers(1, 3, 300)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_many_columns_that_depend_on_few_need_no_triangle(
    weighted: bool, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, weight = _rows(100.0 if intercept else 0.0)
    given = weight if weighted else None
    by_rows = LinearRegression(solver="svd", fit_intercept=intercept).fit(x, y, given)
    monkeypatch.setattr(choose, "Triangle", None)
    model = LinearRegression(fit_intercept=intercept).fit(x, y, given)
    assert model.certificate_.status is Status.RANK_DEFICIENT
    assert model.certificate_.rank == by_rows.certificate_.rank
    assert list(model.aliased_) == list(by_rows.aliased_)
    np.testing.assert_allclose(model.coef_, by_rows.coef_, rtol=1e-7, atol=1e-9)


def test_columns_that_nearly_depend_are_left_to_the_triangle() -> None:
    x, y, _ = _rows(changed=1e-9)
    model, by_rows = LinearRegression().fit(x, y), LinearRegression(solver="svd").fit(x, y)
    assert model.certificate_.rank == by_rows.certificate_.rank
    assert "triangle" in model.certificate_.solver
