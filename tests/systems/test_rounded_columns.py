"""A column that varies by the rounding of its numbers alone is constant: it goes, and only it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from adaline import (
    FisherDiscriminant,
    GaussianClassifier,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
)

RNG = np.random.default_rng(0)
A, G = RNG.normal(size=200), (RNG.random(200) < 0.5).astype(float)
Y = A + G + 0.1 * RNG.normal(size=200)
LABELS = (A + G + RNG.normal(size=200) > 0.5).astype(int)
SHARES = RNG.dirichlet(np.ones(3), 200)
ROUNDED = {"0.1 + 0.2 and 0.3": np.where(G > 0, 0.1 + 0.2, 0.3), "sum of shares": SHARES.sum(axis=1)}

every_column = pytest.mark.parametrize("column", ROUNDED.values(), ids=ROUNDED)


@every_column
@pytest.mark.parametrize(
    "system",
    [LinearRegression(), LinearRegression(solver="qr"), LinearRegression(solver="svd"), Ridge(penalty=1.0), Ridge()],
    ids=str,
)
def test_regressions_do_without_it(system: Any, column: Any) -> None:
    assert column.std() > 0
    without = system.fit(np.c_[A, G], Y).predict(np.c_[A, G])
    model = system.fit(np.c_[A, G, column], Y)
    near = 1e-3 if system.get_params().get("penalty") == "auto" else 1e-9  # the criterion counts what it may use
    np.testing.assert_allclose(model.predict(np.c_[A, G, column]), without, rtol=near, atol=near)
    assert model.coef_[2] == 0
    if isinstance(model, LinearRegression):
        assert (model.rank_, list(model.aliased_)) == (2, ["x2"])


@every_column
@pytest.mark.parametrize(
    "system", [LogisticRegression(), LeastSquaresClassifier(), GaussianClassifier(), FisherDiscriminant()], ids=str
)
def test_classifiers_do_without_it(system: Any, column: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        without = system.fit(np.c_[A, G], LABELS).decision_function(np.c_[A, G])
        model = system.fit(np.c_[A, G, column], LABELS)
    np.testing.assert_allclose(model.decision_function(np.c_[A, G, column]), without, rtol=1e-7, atol=1e-7)


def test_a_mean_far_from_zero_is_not_rounding() -> None:
    far = 1e12 + np.round(A, 3)
    model = LinearRegression().fit(np.c_[far, G], np.round(A, 3) + G)
    assert model.rank_ == 2
    np.testing.assert_allclose(model.coef_, [1.0, 1.0], rtol=1e-3)
