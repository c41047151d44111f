"""What least squares does between its passes, by a kernel and by its reference: the same fit."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Ridge
from adaline.block import Block, Shape
from adaline.kernels import native
from adaline.solvers.least_squares import direct, factor, fit
from adaline.solvers.least_squares.refine import __name__ as refine_name
from adaline.sums import Moments

SWAPS = {
    refine_name: ("put_intercept", "find_gradient", "take_step"),
    factor.__name__: ("equilibrate",),
    direct.__name__: ("raw_solution",),
}


@pytest.mark.every
@pytest.mark.skipif(native is None, reason="without kernels the references run anyway")
@pytest.mark.parametrize(
    "make", [LinearRegression, lambda: LinearRegression(fit_intercept=False), lambda: Ridge(penalty=0.5)]
)
@pytest.mark.parametrize(("columns", "targets"), [(1, 1), (4, 1), (7, 3), (40, 2)])
def test_kernels_and_references_give_the_same_fit(
    make: Any, columns: int, targets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(60, columns)) * np.exp2(rng.integers(-30, 30, columns)) + 1e3 * (np.arange(columns) == 2)
    X[:, -1] = 3.0 if columns == 7 else X[:, -1]
    Y = rng.normal(size=(60, targets)) + 5
    by_kernel = make().fit(X, Y)
    for module, names in SWAPS.items():
        for name in names:
            owner = fit if name == "raw_solution" else __import__(module, fromlist=["_"])
            monkeypatch.setattr(f"{module}.{name}", getattr(owner, f"{name}_reference"))
    monkeypatch.setattr(fit, "digits", fit.digits_reference)
    by_reference = make().fit(X, Y)
    np.testing.assert_allclose(by_kernel.coef_, by_reference.coef_, rtol=1e-14)
    np.testing.assert_allclose(by_kernel.intercept_, by_reference.intercept_, rtol=1e-14)
    found, expected = (asdict(one.certificate_) for one in (by_kernel, by_reference))
    for name, value in expected.items():
        if isinstance(value, float) and name != "seconds":
            assert found[name] == pytest.approx(value, rel=1e-9), name
        elif name != "seconds":
            assert found[name] == value, name


@pytest.mark.skipif(native is None, reason="without kernels the reference runs anyway")
def test_the_residual_of_sums_is_exact_to_its_last_digit() -> None:
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(20, 4)), rng.normal(size=(20, 2))
    moments = Moments.zero(Shape(4, 2))
    moments.add(Block(x, t))
    pull, s = np.array([0.0, 0.5, 1.0, 0.0]), moments.second
    u = np.ascontiguousarray(np.linalg.solve(s[:4, :4] + np.diag(pull), s[:4, 4:]).T)
    found, expected = np.empty((2, *u.shape))
    direct.sums_residual(found, moments.buffer, pull, u)
    direct.sums_residual_reference(expected, moments.buffer, pull, u)
    fractions = np.vectorize(Fraction, otypes=[object])
    exact = fractions(s[4:, :4]) - fractions(u) @ fractions(s[:4, :4]) - fractions(u) * fractions(pull)
    assert 0 < np.abs(exact).max() < 1e-14
    for one in (found, expected):
        np.testing.assert_allclose(one, exact.astype(float), rtol=1e-12)
