"""Dependent and constant columns in inference: what R reads, and what the rows determine whatever the solution."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from adaline import AdalineWarning, LinearRegression, LogisticRegression, RobustRegression
from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.wording import degrees

KEPT = ["hour", "minute", "wind"]
STATISTICS = ("estimate", "std_error", "statistic", "p_value", "lower", "upper")


def flights(n: int = 400, minutes: float = 1.0) -> tuple[pd.DataFrame, Array]:
    """A schedule 100 hour + minute beside its parts, and a constant; `minutes` is the unit of the minutes."""
    rng = np.random.default_rng(0)
    hour, minute, wind = rng.integers(5, 23, n), rng.integers(0, 60, n), rng.normal(size=n)
    X = {"hour": hour, "minute": minute * minutes, "year": 2013.0, "sched": 100 * hour + minute, "wind": wind}
    return pd.DataFrame(X).astype(float), 2.0 * hour - 0.05 * minute + wind + 8 * rng.standard_t(3, size=n)


def rows(table: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in table.to_dict()["coefficients"]}


def check_left_out(found: dict[str, dict[str, Any]]) -> None:
    assert found["sched"]["left_out"] == "sched = 100 hour + minute"
    assert found["year"]["left_out"] == "constant"
    for name in ("sched", "year"):
        assert found[name]["estimate"] == 0.0
        assert all(np.isnan(found[name][key]) for key in STATISTICS[1:])
    assert all("left_out" not in found[name] for name in KEPT)


@pytest.mark.parametrize("rank", ["minimum-norm", "drop"])
def test_the_summary_of_a_regression_is_that_of_the_reduced_design(rank: str) -> None:
    X, y = flights()
    with pytest.warns(AdalineWarning, match="sched = 100 hour \\+ minute"):
        model = LinearRegression(rank=rank).fit(X, y)
    table = model.summary()
    found, theirs = rows(table), sm.OLS(y, sm.add_constant(X[KEPT])).fit()
    check_left_out(found)
    interval = theirs.conf_int().to_numpy()
    expected = (theirs.params, theirs.bse, theirs.tvalues, theirs.pvalues, interval[:, 0], interval[:, 1])
    for key, values in zip(STATISTICS, expected, strict=True):
        np.testing.assert_allclose([found[n][key] for n in ["intercept", *KEPT]], values, rtol=1e-8, atol=1e-12)
    assert model.dependencies_ == ["sched = 100 hour + minute"]
    assert list(model.aliased_) == ["year", "sched"]
    assert list(model.estimable_) == [False, False, False, False, True]
    text = str(table)
    assert text.count("left out") >= 4
    assert "column year is constant" in text
    held = {"minimum-norm": "the solution of minimum norm, in which they share their effect", "drop": "the same"}
    assert f"The table is that of the model without them; coef_ is {held[rank]}" in text
    assert ("coef_ is the solution of minimum norm" in model.certificate_.advice) == (rank == "minimum-norm")


def test_dropped_columns_have_no_coefficient_and_predictions_stay() -> None:
    X, y = flights()
    with pytest.warns(AdalineWarning):
        shared, dropped = (LinearRegression(rank=rank).fit(X, y) for rank in ("minimum-norm", "drop"))
    theirs = sm.OLS(y, sm.add_constant(X[KEPT])).fit()
    np.testing.assert_allclose(dropped.coef_[[0, 1, 4]], theirs.params[1:], rtol=1e-10)
    np.testing.assert_array_equal(dropped.coef_[[2, 3]], 0.0)
    np.testing.assert_allclose(dropped.predict(X), shared.predict(X), rtol=1e-10)
    assert (shared.coef_[[0, 1, 3]] != 0).all()
    assert shared.rank_ == dropped.rank_ == 3
    assert dropped.certificate_.digits > 14
    assert "left out" in dropped.certificate_.advice
    for name in ("confidence", "prediction"):
        for a, b in zip(shared.predict(X, interval=name), dropped.predict(X, interval=name), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8)


@pytest.mark.parametrize("minutes", [1.0, 1 / 60, 60.0])
def test_the_unit_of_a_column_moves_no_other_effect(minutes: float) -> None:
    """Of the minimum-norm solution, hour's share depends on the unit of the minutes."""
    plain, (X, y) = flights(), flights(minutes=minutes)
    with pytest.warns(AdalineWarning):
        found, expected = (rows(LinearRegression().fit(*data).summary()) for data in ((X, y), plain))
    for name, unit in (("hour", 1.0), ("minute", minutes), ("wind", 1.0)):
        assert found[name]["estimate"] * unit == pytest.approx(expected[name]["estimate"], rel=1e-8)
        assert found[name]["std_error"] * unit == pytest.approx(expected[name]["std_error"], rel=1e-8)


@pytest.mark.parametrize("rank", ["minimum-norm", "drop"])
def test_hypotheses_that_no_rows_decide_are_refused(rank: str) -> None:
    X, y = flights()
    with pytest.warns(AdalineWarning):
        model = LinearRegression(rank=rank).fit(X, y)
    undecided = ("sched = 0", "year = 0", *(("hour = 0", "minute = 0") if rank == "minimum-norm" else ()))
    for text in undecided:
        with pytest.raises(InvalidData, match="the rows cannot tell"):
            model.test(text)
    theirs = sm.OLS(y, sm.add_constant(X[KEPT])).fit()
    assert model.test("wind = 0").statistic == pytest.approx(theirs.tvalues["wind"] ** 2, rel=1e-8)
    found = model.test("hour + 100*sched = 0").statistic
    assert found == pytest.approx(theirs.tvalues["hour"] ** 2, rel=1e-8)


@pytest.mark.parametrize("streamed", [False, True])
def test_streams_and_other_columns_first(streamed: bool) -> None:
    X, y = flights()
    X = X[["sched", "wind", "hour", "minute"]]
    model = LinearRegression(rank="drop")
    if streamed:
        model.partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    else:
        with pytest.warns(AdalineWarning):
            model.fit(X, y)
    assert model.dependencies_ == ["minute = sched - 100 hour"]
    theirs = sm.OLS(y, sm.add_constant(X[["sched", "wind", "hour"]])).fit()
    found = rows(model.summary())
    for name in ("sched", "wind", "hour"):
        assert found[name]["std_error"] == pytest.approx(theirs.bse[name], rel=1e-6)
    np.testing.assert_allclose(model.coef_[:3], theirs.params[1:], rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_summary_of_a_likelihood_is_that_of_the_reduced_design(classes: int) -> None:
    X, y = flights()
    labels = np.digitize(y, [28.0] if classes == 2 else [22.0, 34.0])
    with pytest.warns(AdalineWarning, match="sched = 100 hour \\+ minute"):
        model = LogisticRegression().fit(X, labels)
    theirs = (sm.Logit if classes == 2 else sm.MNLogit)(labels, sm.add_constant(X[KEPT])).fit(disp=0, tol=1e-12)
    params, errors = (np.atleast_2d(np.asarray(part).T) for part in (theirs.params, theirs.bse))
    table = model.summary().to_dict()
    for k in range(classes - 1):
        part = [row for row in table["coefficients"] if row.get("target", "1") == str(k + 1)]
        found = {row["name"]: row for row in part}
        check_left_out(found)
        for key, expected in (("estimate", params[k]), ("std_error", errors[k])):
            np.testing.assert_allclose([found[n][key] for n in ["intercept", *KEPT]], expected, rtol=1e-6)
    assert table["parameters"] == 4 * (classes - 1)
    assert model.dependencies_ == ["sched = 100 hour + minute"]
    with pytest.raises(InvalidData, match="the rows cannot tell whether hour = 0"):
        model.test("hour = 0")
    model.test("wind = 0")


@pytest.mark.parametrize("loss", ["huber", "tukey", "absolute"])
def test_the_summary_of_a_robust_fit_is_that_of_the_reduced_design(loss: str) -> None:
    X, y = flights()
    with pytest.warns(AdalineWarning, match="sched = 100 hour \\+ minute"):
        model = RobustRegression(loss=loss).fit(X, y)
    found, expected = (rows(one.summary()) for one in (model, RobustRegression(loss=loss).fit(X[KEPT], y)))
    check_left_out(found)
    for name in ["intercept", *KEPT]:
        for key in STATISTICS:
            assert found[name][key] == pytest.approx(expected[name][key], rel=1e-5, abs=1e-9)


COMBINATIONS: list[tuple[Callable[[Array, Array], Array], str]] = [
    (lambda a, b: a, "c = a"),
    (lambda a, b: -3 * b, "c = -3 b"),
    (lambda a, b: a / 4 + b / 8, "c = 0.25 a + 0.125 b"),
    (lambda a, b: 1 - a - b, "c = 1 - a - b"),
    (lambda a, b: 2 * a + 5, "c = 2 a + 5"),
    (lambda a, b: 1000 * a - b / 128, "c = 1000 a - 0.0078125 b"),
]


@pytest.mark.parametrize(("make", "text"), COMBINATIONS, ids=[text for _, text in COMBINATIONS])
def test_combinations_are_written_out(make: Callable[[Array, Array], Array], text: str) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-50, 50, size=(2, 60)).astype(float)
    X = pd.DataFrame({"a": a, "b": b, "d": rng.normal(size=60), "c": make(a, b)})
    with pytest.warns(AdalineWarning):
        model = LinearRegression().fit(X, rng.normal(size=60))
    assert model.dependencies_ == [text]


def test_long_combinations_are_cut_short() -> None:
    X = np.eye(30)[np.arange(120) % 30]
    with pytest.warns(AdalineWarning, match="more terms"):
        (text,) = LinearRegression().fit(X, np.arange(120.0) ** 1.5).dependencies_
    assert text.startswith("x29 = 1 - x0 - x1")
    assert text.endswith("more terms)")
    assert len(re.findall(r"x\d+", text)) <= 5


def test_of_many_combinations_three_are_named() -> None:
    X = np.random.default_rng(0).normal(size=(60, 20))
    with pytest.warns(AdalineWarning, match="x20 = x0 \\+ 1; x21 = x1 \\+ 1; x22 = x2 \\+ 1; and 17 more"):
        model = LinearRegression().fit(np.hstack([X, X + 1]), X[:, 0] ** 2)
    assert len(model.dependencies_) == 20
    shown = str(model.summary())
    assert "x22 = x2 + 1; and 17 more." in shown
    assert "x23 =" not in shown


def test_full_rank_says_nothing() -> None:
    X, y = flights()
    model = LinearRegression().fit(X[KEPT], y)
    assert model.dependencies_ == []
    assert model.estimable_.all()
    assert model.summary().notes == []


def test_ranks_that_mean_nothing_are_refused() -> None:
    X, y = flights()
    with pytest.raises(InvalidParameter, match="rank must be one of minimum-norm, drop"):
        LinearRegression(rank="all").fit(X, y)
    with pytest.raises(InvalidParameter, match="solver='auto'"):
        LinearRegression(rank="drop", solver="gradient").fit(X, y)


def test_tests_and_inflation_of_a_model_that_drops_columns_are_those_of_the_reduced_design() -> None:
    X, y = flights()
    with pytest.warns(AdalineWarning, match="left out, as combinations of columns before them: sched"):
        dropped = LinearRegression(rank="drop").fit(X, y)
    reduced = LinearRegression().fit(X[KEPT], y)
    for text in ("hour = 0", "hour = 2*minute, wind = 0"):
        assert dropped.test(text).p_value == pytest.approx(reduced.test(text).p_value, rel=1e-8)
    inflation = dict(zip(X.columns, dropped.variance_inflation(), strict=True))
    np.testing.assert_allclose([inflation[name] for name in KEPT], reduced.variance_inflation())
    assert inflation["sched"] == np.inf
    with pytest.raises(InvalidData, match="the rows cannot tell whether sched = 0"):
        dropped.test("sched = 0")
    interval = dropped.predict(X[:5], interval="confidence")
    np.testing.assert_allclose(interval, reduced.predict(X[KEPT][:5], interval="confidence"))


def test_a_summary_says_once_what_was_left_out() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(AdalineWarning):
        shown = str(LinearRegression().fit(np.c_[X, X[:, 0]], X[:, 1] ** 2).summary())
    assert shown.count("combinations of") == 1


@pytest.mark.parametrize(("value", "shown"), [(3.0, "3"), (12.54, "12.5"), (1832.4, "1,832"), (1e7, "10,000,000")])
def test_degrees_of_freedom_are_written_out(value: float, shown: str) -> None:
    assert degrees(value, 3) == shown
