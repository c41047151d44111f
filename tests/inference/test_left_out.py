"""Dependent and constant columns in inference: what R reads, and what the rows determine whatever the solution."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from adaline import AdalineWarning, LinearRegression, LogisticRegression, RobustRegression
from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter
from adaline.inference.summary import STATISTICS
from adaline.wording import degrees

KEPT = ["hour", "minute", "wind"]
both_ranks = pytest.mark.parametrize("rank", ["minimum-norm", "drop"])


def flights(n: int = 400) -> tuple[pd.DataFrame, Array]:
    """A schedule 100 hour + minute beside its parts, and a constant."""
    rng = np.random.default_rng(0)
    hour, minute, wind = rng.integers(5, 23, n), rng.integers(0, 60, n), rng.normal(size=n)
    X = {"hour": hour, "minute": minute, "year": 2013.0, "sched": 100 * hour + minute, "wind": wind}
    return pd.DataFrame(X).astype(float), 2.0 * hour - 0.05 * minute + wind + 8 * rng.standard_t(3, size=n)


X, Y = flights()
REDUCED = sm.OLS(Y, sm.add_constant(X[KEPT])).fit()


@cache
def model(rank: str) -> LinearRegression:
    with pytest.warns(AdalineWarning, match="sched = 100 hour \\+ minute" if rank == "minimum-norm" else "left out"):
        return LinearRegression(rank=rank).fit(X, Y)


def rows(table: Any) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in table.to_dict()["coefficients"]}


def check_left_out(found: dict[str, dict[str, Any]]) -> None:
    assert {name: row["left_out"] for name, row in found.items() if "left_out" in row} == {
        "sched": "sched = 100 hour + minute",
        "year": "constant",
    }
    for name in ("sched", "year"):
        assert found[name]["estimate"] == 0.0
        assert all(np.isnan(found[name][key]) for key in STATISTICS[1:])


@both_ranks
def test_the_summary_of_a_regression_is_that_of_the_reduced_design(rank: str) -> None:
    table = model(rank).summary()
    found, ends = rows(table), REDUCED.conf_int().to_numpy()
    check_left_out(found)
    expected = (REDUCED.params, REDUCED.bse, REDUCED.tvalues, REDUCED.pvalues, ends[:, 0], ends[:, 1])
    for key, values in zip(STATISTICS, expected, strict=True):
        np.testing.assert_allclose([found[n][key] for n in ["intercept", *KEPT]], values, rtol=1e-8, atol=1e-12)
    assert model(rank).dependencies_ == ["sched = 100 hour + minute"]
    assert list(model(rank).aliased_) == ["year", "sched"]
    assert list(model(rank).estimable_) == [False, False, False, False, True]
    assert model(rank).rank_ == 3
    text = str(table)
    assert text.count("left out") >= 4
    assert text.count("combinations of") == 1
    assert "column year is constant" in text
    held = {"minimum-norm": "the solution of minimum norm, in which they share their effect", "drop": "the same"}
    assert f"The table is that of the model without them; coef_ is {held[rank]}" in text
    assert ("coef_ is the solution of minimum norm" in model(rank).certificate_.advice) == (rank == "minimum-norm")


def test_dropped_columns_have_no_coefficient_and_predictions_stay() -> None:
    shared, dropped = model("minimum-norm"), model("drop")
    np.testing.assert_allclose(dropped.coef_[[0, 1, 4]], REDUCED.params[1:], rtol=1e-10)
    np.testing.assert_array_equal(dropped.coef_[[2, 3]], 0.0)
    np.testing.assert_allclose(dropped.predict(X), shared.predict(X), rtol=1e-10)
    assert (shared.coef_[[0, 1, 3]] != 0).all()
    assert dropped.certificate_.digits > 14
    assert "left out" in dropped.certificate_.advice
    reduced = LinearRegression().fit(X[KEPT], Y)
    for name in ("confidence", "prediction"):
        expected = reduced.predict(X[KEPT], interval=name)
        for one in (shared, dropped):
            np.testing.assert_allclose(one.predict(X, interval=name), expected, rtol=1e-8)
    inflation = dict(zip(X.columns, dropped.variance_inflation(), strict=True))
    np.testing.assert_allclose([inflation[name] for name in KEPT], reduced.variance_inflation())
    assert inflation["sched"] == np.inf
    assert dropped.test("hour = 2*minute, wind = 0").p_value == pytest.approx(
        reduced.test("hour = 2*minute, wind = 0").p_value, rel=1e-8
    )
    assert reduced.dependencies_ == reduced.summary().notes == []
    assert reduced.estimable_.all()


@both_ranks
def test_hypotheses_that_no_rows_decide_are_refused(rank: str) -> None:
    for text in (
        "sched = 0",
        "year = 0",
        "intercept = 0",
        *(("hour = 0", "minute = 0") if rank == "minimum-norm" else ()),
    ):
        with pytest.raises(InvalidData, match=f"the rows cannot tell whether {text}"):
            model(rank).test(text)
    for text, name in (("wind = 0", "wind"), ("hour + 100*sched = 0", "hour"), ("intercept + 2013*year = 0", "const")):
        assert model(rank).test(text).statistic == pytest.approx(REDUCED.tvalues[name] ** 2, rel=1e-8)


@pytest.mark.parametrize("streamed", [False, True])
def test_streams_and_other_columns_first(streamed: bool) -> None:
    turned, first = X[["sched", "wind", "hour", "minute"]], slice(0, 150)
    if streamed:
        found = LinearRegression(rank="drop").partial_fit(turned[first], Y[first]).partial_fit(turned[150:], Y[150:])
    else:
        with pytest.warns(AdalineWarning):
            found = LinearRegression(rank="drop").fit(turned, Y)
    assert found.dependencies_ == ["minute = sched - 100 hour"]
    theirs = sm.OLS(Y, sm.add_constant(X[["sched", "wind", "hour"]])).fit()
    np.testing.assert_allclose(found.summary().parts[0].std_error[:4], theirs.bse, rtol=1e-6)
    np.testing.assert_allclose(found.coef_[:3], theirs.params[1:], rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_summary_of_a_likelihood_is_that_of_the_reduced_design(classes: int) -> None:
    labels = np.digitize(Y, [28.0] if classes == 2 else [22.0, 34.0])
    with pytest.warns(AdalineWarning, match="sched = 100 hour \\+ minute"):
        found = LogisticRegression().fit(X, labels)
    theirs = (sm.Logit if classes == 2 else sm.MNLogit)(labels, sm.add_constant(X[KEPT])).fit(disp=0, tol=1e-12)
    params, errors = (np.atleast_2d(np.asarray(part).T) for part in (theirs.params, theirs.bse))
    table = found.summary().to_dict()
    for k in range(classes - 1):
        part = {row["name"]: row for row in table["coefficients"] if row.get("target", "1") == str(k + 1)}
        check_left_out(part)
        for key, expected in (("estimate", params[k]), ("std_error", errors[k])):
            np.testing.assert_allclose([part[n][key] for n in ["intercept", *KEPT]], expected, rtol=1e-6)
    assert table["parameters"] == 4 * (classes - 1)
    assert found.dependencies_ == ["sched = 100 hour + minute"]
    with pytest.raises(InvalidData, match="the rows cannot tell whether hour = 0"):
        found.test("hour = 0")
    found.test("wind = 0")


@pytest.mark.parametrize("loss", ["huber", "tukey", "absolute"])
def test_the_summary_of_a_robust_fit_is_that_of_the_reduced_design(loss: str) -> None:
    with pytest.warns(AdalineWarning, match="sched = 100 hour \\+ minute"):
        found = rows(RobustRegression(loss=loss).fit(X, Y).summary())
    check_left_out(found)
    expected = rows(RobustRegression(loss=loss).fit(X[KEPT], Y).summary())
    for name, values in expected.items():
        assert [found[name][key] for key in STATISTICS] == pytest.approx([*values.values()][1:], rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "make"),
    [
        ("c = a", lambda a, b: a),
        ("c = -3 b", lambda a, b: -3 * b),
        ("c = 0.25 a + 0.125 b", lambda a, b: a / 4 + b / 8),
        ("c = 1 - a - b", lambda a, b: 1 - a - b),
        ("c = 2 a + 5", lambda a, b: 2 * a + 5),
        ("c = 1000 a - 0.0078125 b", lambda a, b: 1000 * a - b / 128),
    ],
)
def test_combinations_are_written_out(text: str, make: Callable[[Array, Array], Array]) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(-50, 50, size=(2, 60)).astype(float)
    table = pd.DataFrame({"a": a, "b": b, "d": rng.normal(size=60), "c": make(a, b)})
    with pytest.warns(AdalineWarning):
        assert LinearRegression().fit(table, rng.normal(size=60)).dependencies_ == [text]


def test_long_combinations_are_cut_short_and_of_many_three_are_named() -> None:
    with pytest.warns(AdalineWarning, match="more terms"):
        (text,) = LinearRegression().fit(np.eye(30)[np.arange(120) % 30], np.arange(120.0) ** 1.5).dependencies_
    assert text.startswith("x29 = 1 - x0 - x1")
    assert text.endswith("more terms)")
    assert len(re.findall(r"x\d+", text)) <= 5
    twice = np.random.default_rng(0).normal(size=(60, 20))
    with pytest.warns(AdalineWarning, match="x20 = x0 \\+ 1; x21 = x1 \\+ 1; x22 = x2 \\+ 1; and 17 more"):
        found = LinearRegression().fit(np.hstack([twice, twice + 1]), twice[:, 0] ** 2)
    assert len(found.dependencies_) == 20
    assert "x22 = x2 + 1; and 17 more." in str(found.summary())
    assert "x23 =" not in str(found.summary())


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"rank": "all"}, "rank must be one of minimum-norm, drop"), ({"rank": "drop", "solver": "gradient"}, "'auto'")],
)
def test_ranks_that_mean_nothing_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        LinearRegression(**settings).fit(X, Y)


@pytest.mark.parametrize(("value", "shown"), [(3.0, "3"), (12.54, "12.5"), (1832.4, "1,832"), (1e7, "10,000,000")])
def test_degrees_of_freedom_are_written_out(value: float, shown: str) -> None:
    assert degrees(value, 3) == shown
