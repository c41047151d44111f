"""Dependent columns: proven from few columns each, with the solution of a triangle of all rows, and told in words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Status
from adaline.solvers.least_squares import choose
from adaline.solvers.least_squares.dependence import neat

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


# Combinations in words: fractions where weights are fractions, and no others.


def test_weights_are_fractions_where_they_are_near_one() -> None:
    for value in (1 / 3, 22 / 7, 5 / 9, -100 / 3, 1.8, 0.001):
        assert neat(value * (1 + 1e-11)) == value


def test_no_weight_becomes_a_fraction_by_chance() -> None:
    values = np.random.default_rng(0).uniform(0.1, 1.0, 1000) * 10.0 ** np.arange(-3, 7)[:, None]
    assert np.mean(neat(values) != values) < 0.002


def test_the_smallest_numbers_are_kept() -> None:
    assert [neat(value) for value in (5e-324, -1e-316)] == [5e-324, -1e-316]


def test_many_numbers_give_the_fractions_that_exact_arithmetic_gives() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-5000, 5000, 2000) / rng.integers(1, 1100, 2000) * 10.0 ** rng.integers(-3, 6, 2000)
    values *= 1 + 1e-9 * rng.standard_normal(2000)
    tolerance = np.maximum(1e-9 * np.abs(values), 1e-300)
    most = np.clip(np.sqrt(1e-3 / tolerance), 1, 1000).astype(int)
    nearest = [Fraction(v).limit_denominator(int(d)) for v, d in zip(values.tolist(), most, strict=True)]
    exact = np.array([float(one) for one in nearest])
    assert np.array_equal(neat(values), np.where(np.abs(exact - values) <= tolerance, exact, values))
