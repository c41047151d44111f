"""Inference against statsmodels: standard errors, tests, intervals, criteria; and the table that shows them."""

from __future__ import annotations

import json
import math
import warnings
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from adaline import AdalineWarning, GeneralizedLinear, LinearRegression, Ridge, datasets
from adaline.arrays import Array
from adaline.inference.classical import EXACT_FIT
from tests.systems.cases import REGRESSIONS

COLUMNS = ["name", "estimate", "std_error", "statistic", "p_value", "lower", "upper"]
QUALITY = {
    "r_squared": "rsquared",
    "adjusted_r_squared": "rsquared_adj",
    "f_statistic": "fvalue",
    "f_p_value": "f_pvalue",
    "log_likelihood": "llf",
    "aic": "aic",
    "bic": "bic",
    "freedom": "df_resid",
    "model_freedom": "df_model",
}


def generated(seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4)) * [1.0, 20.0, 0.05, 3.0] + [0.0, 50.0, 1.0, -2.0]
    return X, X @ [1.0, 0.02, 3.0, 0.0] + rng.normal(size=50) + 4.0


def dependent() -> tuple[Array, Array]:
    """A column that is the sum of two others, and one that repeats."""
    X, y = generated(1)
    Z = X / X.std(axis=0)
    return np.column_stack([Z, Z[:, 0] + Z[:, 1], Z[:, 3]]), y


DATA: dict[str, tuple[Array, Array]] = {
    "generated": generated(),
    "longley": (datasets.load("longley").X, datasets.load("longley").y),
    "penguins": (lambda d: (d.X, d.y))(datasets.load("penguins", target="body_mass_g")),
}


def theirs(X: Array, y: Array, fit_intercept: bool, weight: Any = None) -> Any:
    """statsmodels' fit; whole weights as repeated rows."""
    if weight is not None:
        X, y = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    return sm.OLS(y, sm.add_constant(X, has_constant="add") if fit_intercept else X).fit()


def check(summary: dict[str, Any], result: Any, rtol: float = 1e-8, target: str | None = None) -> None:
    """Every number of a summary against statsmodels."""
    rows = [row for row in summary["coefficients"] if target is None or row["target"] == target]
    interval = result.conf_int(alpha=1 - summary["level"])
    for ours, expected in (
        ("estimate", result.params),
        ("std_error", result.bse),
        ("statistic", result.tvalues),
        ("lower", interval[:, 0]),
        ("upper", interval[:, 1]),
    ):
        scale = np.abs(result.params) if ours in ("lower", "upper") else np.zeros(len(result.params))
        difference = np.abs(np.array([row[ours] for row in rows]) - expected)
        assert np.all(difference <= rtol * (np.abs(expected) + scale)), ours
    p = np.array([row["p_value"] for row in rows])
    np.testing.assert_allclose(p, result.pvalues, rtol=1e-6, atol=1e-9)
    quality = summary if target is None else next(q for q in summary["targets"] if q["target"] == target)
    for ours, name in QUALITY.items():
        assert quality[ours] == pytest.approx(getattr(result, name), rel=rtol, abs=1e-12), ours
    assert quality["sigma"] == pytest.approx(math.sqrt(result.scale), rel=rtol)


@pytest.mark.parametrize("level", [0.95, 0.5, 0.999])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", DATA)
def test_everything_agrees_with_statsmodels(name: str, fit_intercept: bool, level: float) -> None:
    X, y = DATA[name]
    summary = LinearRegression(fit_intercept=fit_intercept).fit(X, y).summary(level=level).to_dict()
    check(summary, theirs(X, y, fit_intercept), rtol=1e-6 if name == "longley" else 1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_count_rows(fit_intercept: bool) -> None:
    X, y = DATA["generated"]
    weight = np.random.default_rng(2).integers(0, 4, size=len(y))
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    summary = model.summary().to_dict()
    check(summary, theirs(X, y, fit_intercept, weight))
    assert summary["weight"] == weight.sum()
    assert summary["rows"] == len(y)


def test_weighted_estimates_agree_with_weighted_least_squares() -> None:
    """Frequencies and precisions share estimates; their errors differ by the degrees of freedom alone."""
    X, y = DATA["generated"]
    weight = np.random.default_rng(3).uniform(0.2, 3.0, size=len(y))
    summary = LinearRegression().fit(X, y, sample_weight=weight).summary().to_dict()
    result = sm.WLS(y, sm.add_constant(X), weights=weight).fit()
    found = {key: np.array([row[key] for row in summary["coefficients"]]) for key in ("estimate", "std_error")}
    np.testing.assert_allclose(found["estimate"], result.params, rtol=1e-9)
    ratio = math.sqrt((len(y) - 5) / (weight.sum() - 5))
    np.testing.assert_allclose(found["std_error"], result.bse * ratio, rtol=1e-9)
    assert summary["r_squared"] == pytest.approx(result.rsquared, rel=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("solver", ["auto", "svd", "normal"])
def test_dependent_columns_are_left_out(solver: str, fit_intercept: bool) -> None:
    X, y = dependent()
    with pytest.warns(AdalineWarning, match=r"x4 = x0 \+ x1; x5 = x3"):
        model = LinearRegression(fit_intercept=fit_intercept, solver=solver).fit(X, y)
    assert model.rank_ == 4
    found = model.summary().to_dict()
    left_out = found["coefficients"][-2:]
    assert [row["left_out"] for row in left_out] == ["x4 = x0 + x1", "x5 = x3"]
    assert all(np.isnan(row[c]) for row in left_out for c in ("std_error", "statistic", "p_value", "lower", "upper"))
    found["coefficients"] = found["coefficients"][:-2]
    check(found, theirs(X[:, :4], y, fit_intercept))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_each_target_is_judged_by_itself(fit_intercept: bool) -> None:
    X, y = DATA["generated"]
    Y = np.column_stack([y, np.cos(np.arange(50.0)), X[:, 1] + 0.1 * y])
    summary = LinearRegression(fit_intercept=fit_intercept).fit(X, Y).summary().to_dict()
    assert [part["target"] for part in summary["targets"]] == ["y0", "y1", "y2"]
    for k in range(3):
        check(summary, theirs(X, Y[:, k], fit_intercept), target=f"y{k}")


def test_ridge_penalties_of_several_targets_are_judged_by_themselves() -> None:
    X, y = DATA["generated"]
    Y = np.column_stack([y, np.cos(np.arange(50.0))])
    both = Ridge().fit(X, Y).summary().to_dict()
    for k in range(2):
        one = Ridge().fit(X, Y[:, k]).summary().to_dict()
        mine = [row for row in both["coefficients"] if row["target"] == f"y{k}"]
        for a, b in zip(mine, one["coefficients"], strict=True):
            assert [a[c] for c in COLUMNS[1:]] == pytest.approx([b[c] for c in COLUMNS[1:]], rel=1e-9)
        assert both["targets"][k]["freedom"] == pytest.approx(one["freedom"], rel=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("way", ["fit", "partial_fit", "float32", "sparse"])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_intervals_of_predictions(fit_intercept: bool, way: str, level: float) -> None:
    X, y = DATA["generated"]
    new = generated(7)[0][:20]
    model = LinearRegression(fit_intercept=fit_intercept)
    if way == "partial_fit":
        model.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    else:
        model.fit(X, y)
    rows: Any = new
    if way == "float32":
        rows = new.astype(np.float32)
        new = rows.astype(np.float64)
    elif way == "sparse":
        from scipy import sparse

        rows = sparse.csr_array(new)
    expected = theirs(X, y, fit_intercept).get_prediction(sm.add_constant(new) if fit_intercept else new)
    frame = expected.summary_frame(alpha=1 - level)
    for interval, name in (("confidence", "mean_ci"), ("prediction", "obs_ci")):
        found = model.predict(rows, interval=interval, level=level)
        np.testing.assert_allclose(found.prediction, frame["mean"], rtol=1e-9)
        np.testing.assert_allclose(found.lower, frame[f"{name}_lower"], rtol=1e-8)
        np.testing.assert_allclose(found.upper, frame[f"{name}_upper"], rtol=1e-8)


def test_intervals_of_several_targets() -> None:
    X, y = DATA["generated"]
    Y = np.column_stack([y, np.cos(np.arange(50.0))])
    both = LinearRegression().fit(X, Y).predict(X, interval="prediction")
    assert both.lower.shape == both.upper.shape == both.prediction.shape == (50, 2)
    for k in range(2):
        one = LinearRegression().fit(X, Y[:, k]).predict(X, interval="prediction")
        for a, b in zip(both, one, strict=True):
            np.testing.assert_allclose(a[:, k], b, rtol=1e-10)


def test_intervals_cover_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    inside = {"confidence": 0, "prediction": 0}
    x = np.array([[0.7, -0.3]])
    for _ in range(400):
        X = rng.normal(size=(12, 2))
        y = X @ [1.0, 2.0] + rng.normal(size=12)
        model = LinearRegression().fit(X, y)
        truth = {"confidence": float(x[0] @ [1.0, 2.0]), "prediction": float(x[0] @ [1.0, 2.0] + rng.normal())}
        for interval, value in truth.items():
            found = model.predict(x, interval=interval, level=0.8)
            inside[interval] += bool(found.lower[0] <= value <= found.upper[0])
    assert all(280 < count < 360 for count in inside.values())


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_degrees_of_freedom_leave_no_errors_and_a_note(fit_intercept: bool) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3 + fit_intercept, 3)), rng.normal(size=3 + fit_intercept)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    found = model.summary().to_dict()
    for row in found["coefficients"]:
        assert math.isfinite(row["estimate"])
        assert all(math.isnan(row[key]) for key in ("std_error", "statistic", "p_value", "lower", "upper"))
    assert len(found["coefficients"]) == 3 + fit_intercept
    assert any("no standard errors: there are no more rows than parameters" in note for note in found["notes"])
    assert math.isnan(found["sigma"])
    assert math.isnan(found["f_p_value"])
    assert found["r_squared"] == pytest.approx(1.0)
    band = model.predict(X, interval="confidence")
    assert np.isnan(band.lower).all()
    assert np.isfinite(band.prediction).all()
    assert "-" in str(model.summary())


def test_a_perfect_fit_has_no_error_and_no_complaint() -> None:
    X = np.arange(12.0).reshape(6, 2) ** 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearRegression().fit(X, X @ [1.0, 2.0] + 3.0)
        found = model.summary().to_dict()
        assert "R² 1" in str(model.summary())
    assert found["r_squared"] == pytest.approx(1.0, abs=1e-14)
    assert all(row["std_error"] < 1e-13 for row in found["coefficients"])
    assert math.isnan(found["f_statistic"])  # residuals of rounding are no measure
    assert math.isnan(found["log_likelihood"])
    assert all(math.isnan(row["statistic"]) and math.isnan(row["p_value"]) for row in found["coefficients"])
    assert found["notes"] == [EXACT_FIT]


@pytest.mark.filterwarnings("ignore:left out")
def test_columns_that_take_no_part_in_an_exact_fit_are_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)).round(3)
    y = 1e6 * X[:, 0] - 1e6 * X[:, 2] + 7.3
    for model in (LinearRegression(), GeneralizedLinear(loss="gaussian")):
        found = model.fit(X, y).summary().to_dict()
        assert found["notes"][0].startswith(EXACT_FIT)
        assert all(math.isnan(row["p_value"]) for row in found["coefficients"])
    assert LinearRegression().fit(X, y).summary().notes == [f"{EXACT_FIT}; the coefficient of x1 is zero to rounding"]
    dependent = LinearRegression(rank="drop").fit(np.column_stack([X, X[:, 0] - X[:, 1], np.ones(50)]), y).summary()
    assert dependent.notes[-1] == f"{EXACT_FIT}; the coefficient of x1 is zero to rounding"  # x3 and x4 are left out
    noisy = LinearRegression().fit(X, y + 1e-6 * rng.normal(size=50)).summary()
    assert noisy.notes == []  # 1e-12 of the target is more than rounding
    assert noisy.to_dict()["f_p_value"] < 1e-10


def test_targets_of_one_fit_are_exact_each_on_its_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    found = LinearRegression().fit(X, np.column_stack([rng.normal(size=20), X @ [1.0, 2.0]])).summary()
    assert found.notes == [EXACT_FIT.replace("the fit", "the fit of y1")]
    assert np.isfinite(found.parts[0].p_value).all()


def test_a_constant_target_has_no_r_squared() -> None:
    X, _ = DATA["generated"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = LinearRegression().fit(X, np.full(50, 3.0)).summary().to_dict()
    assert math.isnan(found["r_squared"])
    assert math.isnan(found["coefficients"][0]["statistic"])
    assert found["notes"] == [
        "the target has the same value in every row: there is nothing to explain, and tests are left out"
    ]
    assert found["coefficients"][0]["estimate"] == pytest.approx(3.0)
    assert all(row["estimate"] == pytest.approx(0.0, abs=1e-14) for row in found["coefficients"][1:])


def test_standard_errors_stay_right_in_any_units() -> None:
    X, y = DATA["generated"]
    plain = LinearRegression().fit(X, y).summary().to_dict()
    units = np.array([1e-150, 1e150, 1e9, 1e-9])
    other = LinearRegression().fit(X * units, y).summary().to_dict()
    for a, b, unit in zip(plain["coefficients"][1:], other["coefficients"][1:], units, strict=True):
        assert b["std_error"] * unit == pytest.approx(a["std_error"], rel=1e-10)
        assert b["statistic"] == pytest.approx(a["statistic"], rel=1e-9)
        assert b["p_value"] == pytest.approx(a["p_value"], rel=1e-8)


@pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
def test_the_dictionary_has_the_promised_form_and_is_plain(system: type[Any]) -> None:
    X, y = DATA["generated"]
    found = system().fit(X, y).summary().to_dict()
    assert [list(row) for row in found["coefficients"]] == [COLUMNS] * 5
    assert [row["name"] for row in found["coefficients"]] == ["intercept", "x0", "x1", "x2", "x3"]
    assert {*QUALITY, "sigma", "rows", "weight", "level", "title", "notes", "certificate"} <= set(found)
    assert found["title"] == system.__name__
    assert found["certificate"]["digits"] > 10
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
def test_without_an_intercept_there_is_no_row_for_it(system: type[Any]) -> None:
    X, y = DATA["generated"]
    found = system(fit_intercept=False).fit(X, y).summary().to_dict()
    assert [row["name"] for row in found["coefficients"]] == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize("system", REGRESSIONS.values(), ids=REGRESSIONS)
def test_text_and_html_show_names_numbers_and_certificate(system: type[Any]) -> None:
    import pandas as pd

    X, y = DATA["generated"]
    frame = pd.DataFrame(X, columns=["height", "age<5", "a & b", "mass"])
    model = system().fit(frame, np.column_stack([y, y**2]))
    summary = model.summary(level=0.9)
    text, page = str(summary), summary._repr_html_()
    assert repr(summary) == text
    for name in ("intercept", "height", "age<5", "a & b", "mass", "target y0", "target y1"):
        assert name in text
    for name in ("intercept", "height", "age&lt;5", "a &amp; b", "mass", "target y1"):
        assert name in page
    assert "age<5" not in page
    assert page.count("<tr>") == page.count("</tr>") == 1 + 2 * (1 + 5)
    for shown in (text, page):
        assert system.__name__ in shown
        assert f"{model.coef_[0, 3]:.6g}" in shown
        assert "50 rows" in shown
        assert "5%" in shown
        assert "95%" in shown
        assert "R²" in shown
        assert "certificate: " in shown


def test_text_columns_line_up() -> None:
    X, y = DATA["penguins"]
    lines = str(LinearRegression().fit(X, y).summary()).splitlines()
    table = lines[2:8]
    assert len({len(line) for line in table}) == 1
    assert set(table[1]) == {"-"}


def test_aliased_columns_are_noted() -> None:
    X, y = dependent()
    found = LinearRegression().fit(X, y).summary().to_dict()
    assert any("x4 = x0 + x1; x5 = x3" in note for note in found["notes"])


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 2.0, math.nan])
def test_levels_that_mean_nothing_are_refused(level: float) -> None:
    X, y = DATA["generated"]
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        model.predict(X, interval="confidence", level=level)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        model.summary(level=level)


def test_a_fit_without_residuals_has_no_likelihood() -> None:
    for X, y in (([[1.0]], [2.0]), ([[1.0], [2.0]], [2.0, 5.0]), ([[0.0], [0.0], [0.0]], [0.0, 0.0, 0.0])):
        found = LinearRegression().fit(X, y).summary()
        told = found.to_dict()
        assert np.isnan([told["aic"], told["bic"], told["log_likelihood"]]).all()
        assert "AIC" not in str(found)
        assert ", 1 row\n" in str(found) or len(y) > 1
