"""Standard errors without equal variances or independent rows, against statsmodels and 60 digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import adaline
from adaline import LinearRegression, Ridge, RobustRegression
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from tests.inference.against import DATA, ROBUST, Rows, exact_sandwich, fitted, generated, given_again, longley

every_data = pytest.mark.parametrize("name", DATA)
every_robust = pytest.mark.parametrize("errors", ROBUST)


def std_errors(summary: Any) -> np.ndarray:
    return np.array([row["std_error"] for row in summary.to_dict()["coefficients"]])


@every_data
@every_robust
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no-intercept"])
def test_summary_is_that_of_statsmodels(name: str, errors: str, intercept: bool) -> None:
    rows = DATA[name]
    theirs = fitted(rows, errors, intercept)
    found = LinearRegression(fit_intercept=intercept).fit(rows.X, rows.y).summary(**given_again(rows, errors)).to_dict()
    interval = theirs.conf_int()
    columns = {"std_error": theirs.bse, "statistic": theirs.tvalues, "p_value": theirs.pvalues}
    for column, values in (columns | {"lower": interval[:, 0], "upper": interval[:, 1]}).items():
        np.testing.assert_allclose([row[column] for row in found["coefficients"]], values, rtol=1e-8, atol=1e-300)
    assert found["errors"] == errors
    assert found["aic"] == pytest.approx(theirs.aic, rel=1e-12)
    many_groups = errors != "cluster" or len(np.unique(rows.groups)) > rows.X.shape[1] + 1
    if many_groups:
        assert found["f_statistic"] == pytest.approx(theirs.fvalue, rel=1e-9)
        assert found["f_p_value"] == pytest.approx(theirs.f_pvalue, rel=1e-6, abs=1e-300)
    else:
        assert np.isnan(found["f_statistic"])


@every_robust
def test_longley_to_twelve_digits(errors: str) -> None:
    rows = longley()
    _, covariance = exact_sandwich(rows, errors)
    found = LinearRegression().fit(rows.X, rows.y).summary(**given_again(rows, errors))
    sought = [float(covariance[j, j] ** 0.5) for j in range(7)]
    np.testing.assert_allclose(std_errors(found), sought, rtol=1e-11)


@every_robust
def test_large_means_cost_nothing(errors: str) -> None:
    rows = generated()
    near = np.round(rows.X * 2.0**20) / 2.0**20  # so that adding 1e9 is exact
    plain, found = (
        std_errors(LinearRegression().fit(X, rows.y).summary(**given_again(Rows(X, rows.y, rows.groups), errors)))
        for X in (near, near + 1e9)
    )
    np.testing.assert_allclose(found[1:], plain[1:], rtol=1e-9)


@every_robust
def test_weights_are_repetitions(errors: str) -> None:
    rows = generated(200)
    weight = np.random.default_rng(3).integers(0, 4, 200)
    again = np.repeat(np.arange(200), weight)
    once = given_again(rows, errors) | {"sample_weight": weight}
    a = LinearRegression().fit(rows.X, rows.y, weight)
    repeated = Rows(rows.X[again], rows.y[again], rows.groups[again])
    b = LinearRegression().fit(repeated.X, repeated.y)
    sought = b.summary(**given_again(repeated, errors)).to_dict()
    for found in (a.summary(**once).to_dict(), a.summary(**given_again(repeated, errors)).to_dict()):
        for mine, theirs in zip(found["coefficients"], sought["coefficients"], strict=True):
            assert mine == {key: v if key == "name" else pytest.approx(v, rel=1e-9) for key, v in theirs.items()}
        assert found["f_p_value"] == pytest.approx(sought["f_p_value"], rel=1e-8)


@every_robust
def test_targets_side_by_side_equal_one_at_a_time(errors: str) -> None:
    rows = generated()
    targets = np.column_stack([rows.y, 1e6 * rows.X[:, 0] - rows.y**2])
    both = LinearRegression().fit(rows.X, targets).summary(**(given_again(rows, errors) | {"y": targets}))
    for k in range(2):
        one = Rows(rows.X, targets[:, k], rows.groups)
        alone = LinearRegression().fit(one.X, one.y).summary(**given_again(one, errors))
        np.testing.assert_allclose(both.parts[k].std_error, alone.parts[0].std_error, rtol=1e-12)


@pytest.mark.parametrize("layout", ["float32", "columns", "csr", "frame"])
@every_robust
def test_every_kind_of_rows(layout: str, errors: str) -> None:
    rows = generated()
    X = rows.X.astype(np.float32).astype(np.float64)
    given: Any = {
        "float32": lambda: X.astype(np.float32),
        "columns": lambda: np.asfortranarray(X),
        "csr": lambda: sparse.csr_array(X),
        "frame": lambda: pd.DataFrame(X, columns=list("abcd")),
    }[layout]()
    plain = LinearRegression().fit(X, rows.y).summary(**given_again(Rows(X, rows.y, rows.groups), errors))
    model = LinearRegression().fit(given, rows.y)
    found = model.summary(**(given_again(rows, errors) | {"X": given}))
    np.testing.assert_allclose(std_errors(found), std_errors(plain), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.usefixtures("blas_threads")
@every_robust
def test_many_blocks_and_any_number_of_threads(errors: str) -> None:
    rows = generated(5000, 100, 4)
    model = LinearRegression().fit(rows.X, rows.y)
    found = []
    try:
        for threads in (1, 3):
            adaline.set_threads(threads)
            found.append(std_errors(model.summary(**given_again(rows, errors))))
    finally:
        adaline.set_threads(None)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], fitted(rows, errors).bse, rtol=1e-9)


def test_groups_of_any_labels() -> None:
    rows = generated()
    model = LinearRegression().fit(rows.X, rows.y)
    sought = std_errors(model.summary(**given_again(rows, "cluster")))
    words = np.array([f"g{g}" for g in rows.groups])
    mixed = [g if g % 2 else (g, "tuple") for g in rows.groups.tolist()]
    objects = np.empty(len(mixed), dtype=object)
    objects[:] = mixed
    for groups in (words, words.tolist(), rows.groups * 1e9, pd.Series(words, dtype="category"), objects):
        found = model.summary(errors="cluster", X=rows.X, y=rows.y, groups=groups)
        np.testing.assert_allclose(std_errors(found), sought, rtol=1e-12)


@pytest.mark.slow
def test_every_row_its_own_group_is_hc1_up_to_the_factor() -> None:
    rows = generated(5000, 100, 5)
    model = LinearRegression().fit(rows.X, rows.y)
    white = std_errors(model.summary(**given_again(rows, "HC0")))
    own = Rows(rows.X, rows.y, np.arange(5000)[::-1])
    found = std_errors(model.summary(**given_again(own, "cluster")))
    np.testing.assert_allclose(found, white * np.sqrt(5000 / 4999 * 4999 / (5000 - 101)), rtol=1e-11)


@pytest.mark.parametrize("errors", ROBUST)
def test_dependent_columns(errors: str) -> None:
    rows = generated(200)
    X = rows.X - rows.X.mean(axis=0)
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.zeros(200)])
    X -= X.mean(axis=0)  # then statsmodels' pseudo-inverse too has the intercept outside the norm
    doubled = Rows(X, rows.y, rows.groups)
    model = LinearRegression().fit(X, rows.y)
    assert model.rank_ == 4
    found = std_errors(model.summary(**given_again(doubled, errors)))
    theirs = fitted(Rows(X[:, :4], rows.y, rows.groups), errors).bse
    np.testing.assert_allclose(found[:5], theirs, rtol=1e-7)
    assert np.isnan(found[5:]).all()


def test_streamed_and_merged_models() -> None:
    rows = generated()
    whole = LinearRegression().fit(rows.X, rows.y)
    stream = LinearRegression()
    for part in (slice(0, 100), slice(100, 400)):
        stream.partial_fit(rows.X[part], rows.y[part])
    for errors in ROBUST:
        again = given_again(rows, errors)
        np.testing.assert_allclose(std_errors(stream.summary(**again)), std_errors(whole.summary(**again)), rtol=1e-9)


def test_an_unfinished_descent_has_the_residuals_of_its_own_predictions() -> None:
    rows = generated()
    with pytest.warns(UserWarning, match="not converged"):
        model = LinearRegression(solver="gradient", epochs=3).fit(rows.X, rows.y)
    np.testing.assert_allclose(model.influence(rows.X, rows.y).residual, rows.y - model.predict(rows.X), rtol=1e-9)


def test_a_penalised_fit_says_what_its_errors_mean() -> None:
    rows = generated()
    model = Ridge(penalty=10.0).fit(rows.X, rows.y)
    a = np.column_stack([np.ones(400), rows.X])
    bread = np.linalg.inv(a.T @ a + np.diag([0.0, 10.0, 10.0, 10.0, 10.0]))
    r = rows.y - model.predict(rows.X)
    h = ((a @ bread) * a).sum(axis=1)
    for errors, share in (("HC0", np.ones(400)), ("HC2", 1 - h), ("HC3", (1 - h) ** 2)):
        sought = np.sqrt(np.diagonal(bread @ (a.T @ (a * (r**2 / share)[:, None])) @ bread))
        found = model.summary(**given_again(rows, errors))
        np.testing.assert_allclose(std_errors(found), sought, rtol=1e-9)
        assert "without its bias" in str(found)
        assert np.isnan(found.parts[0].f_statistic)


def test_ridge_of_several_targets() -> None:
    rows = generated()
    targets = np.column_stack([rows.y, rows.y**2])
    both = Ridge().fit(rows.X, targets).summary(errors="HC3", X=rows.X, y=targets)
    for k in range(2):
        alone = Ridge().fit(rows.X, targets[:, k]).summary(errors="HC3", X=rows.X, y=targets[:, k])
        np.testing.assert_allclose(both.parts[k].std_error, alone.parts[0].std_error, rtol=1e-9)


def test_the_table_says_z_and_which_errors() -> None:
    rows = generated()
    text = str(LinearRegression().fit(rows.X, rows.y).summary(**given_again(rows, "HC3")))
    assert " z " in text
    assert "HC3 standard errors; z, p and intervals by the normal distribution" in text
    assert " t " in str(LinearRegression().fit(rows.X, rows.y).summary())


@every_robust
@pytest.mark.parametrize("power", [[0, 0, 0, 0, 60], [40, -40, 3, 0, 0], [900, -900, 1, 0, -100]], ids=str)
def test_units_change_nothing_but_the_units(errors: str, power: list[int]) -> None:
    rows = generated()
    plain = std_errors(LinearRegression().fit(rows.X, rows.y).summary(**given_again(rows, errors)))
    far = Rows(np.ldexp(rows.X, power[:4]), np.ldexp(rows.y, power[4]), rows.groups)
    found = std_errors(LinearRegression().fit(far.X, far.y).summary(**given_again(far, errors)))
    np.testing.assert_array_equal(found, np.ldexp(plain, power[4] - np.array([0, *power[:4]])))


# What is refused, and how.


@pytest.mark.parametrize("errors", ROBUST)
def test_without_the_rows(errors: str) -> None:
    rows = generated()
    model = LinearRegression().fit(rows.X, rows.y)
    for ask in (model.summary, lambda **again: model.test("x0 = 0", **again)):
        with pytest.raises(SumsMissing, match="keeps only sums; give X and y again"):
            ask(errors=errors)


def test_other_rows() -> None:
    rows = generated()
    model = LinearRegression().fit(rows.X, rows.y)
    with pytest.raises(InvalidData, match="their weight is 399, the model holds 400"):
        model.summary(errors="HC0", X=rows.X[1:], y=rows.y[1:])
    with pytest.raises(InvalidData, match="their weight is 800"):
        model.summary(errors="HC0", X=rows.X, y=rows.y, sample_weight=np.full(400, 2.0))
    for X, y in ((rows.X + 1e-2, rows.y), (rows.X, rows.y[::-1]), (generated(seed=9).X, rows.y)):
        with pytest.raises(InvalidData, match="not the rows that were fitted: their squared residuals"):
            model.summary(errors="HC3", X=X, y=y)
        with pytest.raises(InvalidData, match="not the rows that were fitted"):
            model.summary(errors="cluster", X=X, y=y, groups=rows.groups)
        with pytest.raises(InvalidData, match="not the rows that were fitted"):
            model.influence(X, y)
    order = np.random.default_rng(0).permutation(400)
    model.summary(errors="HC3", X=rows.X[order], y=rows.y[order])


def test_bad_arguments() -> None:
    rows = generated()
    model = LinearRegression().fit(rows.X, rows.y)
    again = {"X": rows.X, "y": rows.y}
    with pytest.raises(InvalidParameter, match="errors must be one of classical, HC0"):
        model.summary(errors="HC5", **again)
    with pytest.raises(InvalidParameter, match="level must be between 0 and 1"):
        model.summary(level=95)
    with pytest.raises(InvalidParameter, match="needs groups"):
        model.summary(errors="cluster", **again)
    with pytest.raises(InvalidParameter, match="groups are for errors='cluster'"):
        model.summary(errors="HC1", groups=rows.groups, **again)
    with pytest.raises(InvalidData, match="one label for each of the 400 rows"):
        model.summary(errors="cluster", groups=rows.groups[:7], **again)
    with pytest.raises(InvalidData, match="at least 2 groups"):
        model.summary(errors="cluster", groups=np.zeros(400), **again)
    for missing in (np.nan, None):
        labels: list[Any] = rows.groups.tolist()
        labels[5] = missing
        with pytest.raises(InvalidData, match="groups has no label at row 5"):
            model.summary(errors="cluster", groups=np.array(labels, dtype=object), **again)
    X = rows.X.copy()
    X[3, 1] = np.nan
    with pytest.raises(InvalidData, match="contains NaN: first at row 3, column 'x1'"):
        model.summary(errors="HC0", X=X, y=rows.y)
    with pytest.raises(InvalidData, match="4 columns and 1 targets, the rows 4 and 2"):
        model.summary(errors="HC0", X=rows.X, y=np.column_stack([rows.y, rows.y]))
    with pytest.raises(ValueError, match="3 features"):
        model.summary(errors="HC0", X=rows.X[:, :3], y=rows.y)


def test_a_row_of_leverage_one() -> None:
    rows = generated(50)
    alone = np.zeros(50)
    alone[17] = 1.0
    X = np.column_stack([rows.X, alone])
    model = LinearRegression().fit(X, rows.y)
    for errors in ("HC2", "HC3"):
        with pytest.raises(InvalidData, match=f"row 17 has leverage 1.*{errors} divides by zero"):
            model.summary(errors=errors, X=X, y=rows.y)
    model.summary(errors="HC1", X=X, y=rows.y)


def test_wide_data_and_no_residuals() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 600)), rng.normal(size=20)
    with pytest.raises(SumsMissing, match="wide data keeps no D x D matrix"):
        LinearRegression().fit(X, y).summary(errors="HC0", X=X, y=y)
    few = X[:, :25]
    with pytest.raises(InvalidData, match="leave no residuals"):
        LinearRegression().fit(few, y).summary(errors="HC0", X=few, y=y)


@pytest.mark.parametrize("errors", ["nid", "iid", "kernel"])
def test_the_summary_of_a_quantile_names_it_and_its_errors(errors: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    found = RobustRegression(loss="quantile", quantile=0.9).fit(X, X[:, 0] + rng.normal(size=80))
    shown = str(found.summary(errors=errors))
    assert shown.startswith("RobustRegression(loss='quantile', quantile=0.9), 80 rows")
    assert f"{errors} standard errors (" in shown
    assert "standard errors;" not in str(RobustRegression(penalty=1.0).fit(X, X[:, 0]).summary())
