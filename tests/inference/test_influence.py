"""Influence of rows and inflation by columns, against statsmodels and refits without each row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from statsmodels.stats.outliers_influence import variance_inflation_factor

import adaline
from adaline import LinearRegression, Ridge
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from tests.inference.against import DATA, Rows, design, fitted, generated, longley

MEASURES = ("leverage", "residual", "standardized", "studentized", "cooks_distance", "dffits")


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no-intercept"])
def test_influence_is_that_of_statsmodels(name: str, intercept: bool) -> None:
    rows = DATA[name]
    theirs = fitted(rows, intercept=intercept)
    other = theirs.get_influence()
    found = LinearRegression(fit_intercept=intercept).fit(rows.X, rows.y).influence(rows.X, rows.y)
    assert found._fields == MEASURES
    size = np.sqrt(theirs.scale)
    np.testing.assert_allclose(found.leverage, other.hat_matrix_diag, rtol=1e-9)
    np.testing.assert_allclose(found.residual, theirs.resid, rtol=1e-9, atol=1e-11 * size)
    np.testing.assert_allclose(found.standardized, other.resid_studentized_internal, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.studentized, other.resid_studentized_external, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.cooks_distance, other.cooks_distance[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.dffits, other.dffits[0], rtol=1e-9, atol=1e-11)


def test_longley_by_refits_without_each_row() -> None:
    rows = longley()
    model = LinearRegression().fit(rows.X, rows.y)
    found = model.influence(rows.X, rows.y)
    whole = model.predict(rows.X)
    s = model.summary().parts[0].sigma
    for i in range(16):
        left = np.arange(16) != i
        without = LinearRegression().fit(rows.X[left], rows.y[left])
        moved = whole - without.predict(rows.X)
        sigma = without.summary().parts[0].sigma
        assert found.cooks_distance[i] == pytest.approx(moved @ moved / (7 * s**2), rel=1e-7)
        assert found.dffits[i] == pytest.approx(moved[i] / (sigma * np.sqrt(found.leverage[i])), rel=1e-8)


def test_large_means_units_and_several_targets() -> None:
    rows = generated()
    X = np.round(rows.X * 2.0**20) / 2.0**20
    targets = np.column_stack([rows.y, 1e-9 * rows.y**2, rows.X[:, 0] ** 3])
    far = X * np.exp2([0.0, 30.0, -30.0, 0.0]) + [1e9, 0.0, 0.0, -1e6]
    found = LinearRegression().fit(far, targets).influence(far, targets)
    assert found.leverage.shape == (400,)
    for k in range(3):
        alone = LinearRegression().fit(X, targets[:, k]).influence(X, targets[:, k])
        np.testing.assert_allclose(found.leverage, alone.leverage, rtol=1e-9)
        for what in MEASURES[1:]:
            one = getattr(alone, what)
            assert one.shape == (400,)
            np.testing.assert_allclose(getattr(found, what)[:, k], one, rtol=1e-8, atol=1e-9 * np.abs(one).max())


def test_weights_are_repetitions() -> None:
    rows = generated(100)
    weight = np.random.default_rng(0).integers(0, 4, 100)
    again = np.repeat(np.arange(100), weight)
    found = LinearRegression().fit(rows.X, rows.y, weight).influence(rows.X, rows.y, weight)
    sought = LinearRegression().fit(rows.X[again], rows.y[again]).influence(rows.X[again], rows.y[again])
    for what in MEASURES:
        np.testing.assert_allclose(getattr(found, what)[again], getattr(sought, what), rtol=1e-9, atol=1e-12)
    out = weight == 0
    assert (found.leverage[out] == 0).all()
    assert np.isfinite(found.residual).all()
    assert np.isnan(found.studentized[out]).all()


def test_precision_weights_are_least_squares_on_scaled_rows() -> None:
    rows = generated(100)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 100)
    root = np.sqrt(weight)
    scaled = Rows(design(rows.X) * root[:, None], rows.y * root, rows.groups)
    other = fitted(scaled, intercept=False).get_influence()
    found = LinearRegression(weights="precision").fit(rows.X, rows.y, weight).influence(rows.X, rows.y, weight)
    np.testing.assert_allclose(found.leverage, other.hat_matrix_diag, rtol=1e-9)
    np.testing.assert_allclose(found.residual * root, other.resid, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.standardized, other.resid_studentized_internal, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.studentized, other.resid_studentized_external, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.cooks_distance, other.cooks_distance[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.dffits, other.dffits[0], rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("blas_threads")
def test_many_blocks_and_any_layout() -> None:
    rows = generated(5000, 100, 4)
    X = rows.X.astype(np.float32).astype(np.float64)
    model = LinearRegression().fit(X, rows.y)
    sought = model.influence(X, rows.y)
    try:
        adaline.set_threads(3)
        for what, values in zip(MEASURES, model.influence(X, rows.y), strict=True):
            np.testing.assert_array_equal(values, getattr(sought, what))
    finally:
        adaline.set_threads(None)
    for given in (X.astype(np.float32), np.asfortranarray(X), sparse.csr_array(X)):
        found = model.influence(given, rows.y)
        for what in MEASURES:
            np.testing.assert_allclose(getattr(found, what), getattr(sought, what), rtol=1e-8, atol=1e-11)


def test_a_row_of_leverage_one_and_dependent_columns() -> None:
    rows = generated(50)
    alone = np.zeros(50)
    alone[17] = 1.0
    X = np.column_stack([rows.X, alone, rows.X[:, 0] - rows.X[:, 1]])
    found = LinearRegression().fit(X, rows.y).influence(X, rows.y)
    assert found.leverage[17] == pytest.approx(1.0)
    assert abs(found.residual[17]) < 1e-12
    for what in MEASURES[2:]:
        assert np.isnan(getattr(found, what)[17])
        assert np.isfinite(np.delete(getattr(found, what), 17)).all()
    others = np.arange(50) != 17
    sought = LinearRegression().fit(rows.X[others], rows.y[others]).influence(rows.X[others], rows.y[others])
    np.testing.assert_allclose(found.studentized[others], sought.studentized, rtol=1e-8)


def test_no_degrees_of_freedom() -> None:
    rows = generated(6)
    found = LinearRegression().fit(rows.X, rows.y).influence(rows.X, rows.y)
    assert np.isfinite(found.standardized).all()
    assert np.isnan(found.studentized).all()
    found = LinearRegression().fit(rows.X[:5], rows.y[:5]).influence(rows.X[:5], rows.y[:5])
    assert np.isnan(found.standardized).all()


def test_influence_refused() -> None:
    rows = generated(50)
    with pytest.raises(InvalidParameter, match=r"no influence for a penalised fit.*LinearRegression"):
        Ridge().fit(rows.X, rows.y).influence(rows.X, rows.y)
    with pytest.raises(InvalidData, match="requires y"):
        LinearRegression().fit(rows.X, rows.y).influence(rows.X)
    with pytest.raises(InvalidData, match="their weight is 49"):
        LinearRegression().fit(rows.X, rows.y).influence(rows.X[1:], rows.y[1:])
    wide = np.random.default_rng(0).normal(size=(20, 600))
    with pytest.raises(SumsMissing, match="wide data"):
        LinearRegression().fit(wide, rows.y[:20]).influence(wide, rows.y[:20])


# Variance inflation.


@pytest.mark.parametrize("name", DATA)
def test_inflation_is_that_of_statsmodels(name: str) -> None:
    rows = DATA[name]
    full = design(rows.X)
    sought = [variance_inflation_factor(full, j) for j in range(1, full.shape[1])]
    for model in (LinearRegression(), Ridge(), Ridge(penalty=3.0), LinearRegression(solver="svd")):
        np.testing.assert_allclose(model.fit(rows.X, rows.y).variance_inflation(), sought, rtol=1e-9)


@pytest.mark.parametrize("name", DATA)
def test_inflation_without_intercept_is_about_zero(name: str) -> None:
    X = DATA[name].X
    sought = []
    for j in range(X.shape[1]):
        others = np.delete(X, j, axis=1)
        rest = X[:, j] - others @ np.linalg.lstsq(others, X[:, j])[0]
        sought.append(X[:, j] @ X[:, j] / (rest @ rest))
    found = LinearRegression(fit_intercept=False).fit(X, DATA[name].y).variance_inflation()
    np.testing.assert_allclose(found, sought, rtol=1e-9)


def test_inflation_does_not_depend_on_units_or_means() -> None:
    rows = generated()
    X = np.round(rows.X * 2.0**20) / 2.0**20
    sought = LinearRegression().fit(X, rows.y).variance_inflation()
    far = X * [1e6, 2.0**-50, 1.0, 1.0] + [0.0, 0.0, 1e9, 0.0]
    np.testing.assert_allclose(LinearRegression().fit(far, rows.y).variance_inflation(), sought, rtol=1e-9)


def test_inflation_of_dependent_columns_is_infinite() -> None:
    rows = generated()
    X = np.column_stack([rows.X, rows.X[:, 0] - 2 * rows.X[:, 1], np.full(400, 7.0)])
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = LinearRegression().fit(frame, rows.y)
    found = model.variance_inflation()
    assert np.isinf(found[[0, 1, 4, 5]]).all()  # whoever takes part, not only the ones named in aliased_
    sought = LinearRegression().fit(rows.X, rows.y).variance_inflation()
    np.testing.assert_allclose(found[2:4], sought[2:4], rtol=1e-9)
    constant = LinearRegression().fit(X[:, [0, 1, 5]], rows.y).variance_inflation()
    assert np.isinf(constant).tolist() == [False, False, True]


def test_inflation_of_streams() -> None:
    rows = generated()
    stream = LinearRegression().partial_fit(rows.X[:50], rows.y[:50]).partial_fit(rows.X[50:], rows.y[50:])
    sought = LinearRegression().fit(rows.X, rows.y).variance_inflation()
    np.testing.assert_allclose(stream.variance_inflation(), sought, rtol=1e-10)


def test_inflation_of_wide_data() -> None:
    wide = np.random.default_rng(0).normal(size=(20, 600))
    with pytest.raises(SumsMissing, match="wide data"):
        LinearRegression().fit(wide, wide[:, 0]).variance_inflation()
