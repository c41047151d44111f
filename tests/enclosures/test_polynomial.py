"""Enclosures through `basis.Polynomial` are those of exact powers: NIST's certified digits from the raw x."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Ridge, basis
from adaline.enclosures.polynomial import ExactProducts
from tests import nist
from tests.enclosures.exact import contained, eliminated, rational

LEAST_DIGITS = {"Filip": 14.2, "Wampler2": 13.1}  # the exact solution for data whose decimals float64 rounds


def exact(terms: Any, x: Any, t: Any, weight: Any = None, penalty: float = 0.0) -> tuple[Any, Any]:
    """Return the exact rows of a polynomial, and the solution."""
    rows = np.array([[Fraction(1), *(prod(row[j] for j in term) for term in terms)] for row in rational(x)])
    w = rational(np.ones(len(t)) if weight is None else weight)
    a = rows.T @ (rows * w[:, None])
    for j in range(1, len(a)):
        a[j, j] += Fraction(penalty)
    return rows, eliminated(a, rows.T @ (w * rational(t)))


@pytest.mark.parametrize("name", ["Filip", "Wampler1", "Wampler2", "Wampler3", "Wampler4", "Wampler5"])
def test_nist_sets_have_their_certified_digits_from_the_raw_x(name: str) -> None:
    data = nist.read(name)
    x = data.X[:, :1]
    model = LinearRegression(basis=basis.Polynomial(degree=data.X.shape[1])).fit(x, data.y)
    found = model.enclose(x, data.y)
    assert found.width.max() <= 2
    rows, theta = exact(model.basis_.terms_, x, data.y)
    assert contained(*found, theta)
    assert contained(*found.predict(x), rows @ theta)
    for end in found:
        assert nist.digits(end.tolist(), data.coef) > LEAST_DIGITS.get(name, 15.0)


@pytest.mark.parametrize("number", range(12))
def test_solutions_of_exact_products_lie_within_their_bounds(number: int) -> None:
    rng = np.random.default_rng(number)
    n = int(rng.integers(14, 30))
    x = rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-3, 3, 2) + 10.0 ** rng.uniform(-2, 3) * (number % 2)
    x = x.astype(np.float32) if number % 5 == 0 else x
    t, weight = rng.normal(size=n), rng.uniform(0.1, 2, n) if number % 3 else None
    kind = basis.Polynomial(degree=1 + number % 3, interactions=bool(number % 4))
    penalty = 10.0 ** rng.uniform(-6, 3) if number % 3 == 0 else 0.0
    model: Any = Ridge(penalty=penalty, basis=kind) if penalty else LinearRegression(basis=kind)
    model.fit(x, t, sample_weight=weight)
    found = model.enclose(x, t, sample_weight=weight)
    rows, theta = exact(model.basis_.terms_, x, t, weight, penalty)
    assert found.proved
    assert found.width.max() <= 3
    assert contained(*found, theta)
    assert contained(*found.predict(x), rows @ theta)


def test_products_are_exact_or_not_a_number() -> None:
    x = np.array([[1 / 3, -1e5], [1e200, 0.1], [1e-200, 3.0], [0.0, 1e250]])
    kind = basis.Polynomial(degree=3).fit(x)
    with np.errstate(all="ignore"):
        parts = ExactProducts(kind).of(x)
    hi, lo = parts[:, : kind.size], parts[:, kind.size :]
    for i, row in enumerate(rational(x)):
        for k, term in enumerate(kind.terms_):
            value = prod(row[j] for j in term)
            if np.isfinite(hi[i, k]):
                assert abs(Fraction(hi[i, k]) + Fraction(lo[i, k]) - value) <= 12 * abs(value) / 2**106
            else:
                assert i in (1, 2, 3)
    assert np.isfinite(hi[0]).all()
    assert np.isfinite(hi[3, [0, 2, 3]]).all()


def test_rows_beyond_the_range_of_float64_have_no_bounds() -> None:
    x = np.arange(9.0)[:, None]
    found = LinearRegression(basis=basis.Polynomial(2)).fit(x, x[:, 0] ** 2).enclose(x, x[:, 0] ** 2)
    lower, upper = found.predict([[1e300], [2.0]])
    assert (lower[0], upper[0]) == (-np.inf, np.inf)
    assert lower[1] <= 4.0 <= upper[1]
