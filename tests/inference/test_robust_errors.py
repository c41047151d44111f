"""Robust and clustered errors of M-estimates, and lags of HAC errors: against R, by laws, and what they refuse."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import (
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    RobustRegression,
    bootstrap,
    datasets,
)
from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.inference.lagged import chosen_lags

FIGURES = pd.read_csv(Path(__file__).parents[1] / "data" / "robust" / "robust.csv", comment="#")
LAGS = pd.read_csv(Path(__file__).parents[1] / "data" / "robust" / "lags.csv", comment="#")
BIRDS = pd.read_csv(Path(datasets.__file__).parent / "penguins.csv").dropna()
X, Y = BIRDS[["bill_length_mm", "flipper_length_mm"]].to_numpy(float), BIRDS["body_mass_g"].to_numpy(float)
GROUPS = (BIRDS["island"] + BIRDS["year"].astype(str)).to_numpy()
ASKED: dict[str, dict[str, Any]] = {
    **{kind: {"errors": kind} for kind in ("HC0", "HC1", "HC3")},
    **{kind: {"errors": kind, "groups": GROUPS} for kind in ("CR1", "cluster")},
    "HAC3": {"errors": "HAC", "lags": 3},
}


def errors(model: RobustRegression, rows: Any, y: Array, **asked: Any) -> Array:
    table = model.summary(X=rows, y=y, **asked).to_dict()
    return np.array([row["std_error"] for row in table["coefficients"]])


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_errors_are_those_of_r(loss: Any) -> None:
    theirs = {what: part.value for what, part in FIGURES[FIGURES.case == loss].groupby("what")}
    model = RobustRegression(loss=loss).fit(X, Y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], theirs["estimate"], rtol=1e-7)
    for what, asked in ASKED.items():
        np.testing.assert_allclose(errors(model, X, Y, **asked), theirs[what], rtol=1e-6, err_msg=what)


@pytest.mark.parametrize("kind", ["HC0", "HC3", "cluster"])
@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_errors_do_not_depend_on_how_rows_are_given(loss: Any, kind: str) -> None:
    groups = {"groups": GROUPS} if kind == "cluster" else {}
    model = RobustRegression(loss=loss).fit(X, Y)
    expected = errors(model, X, Y, errors=kind, **groups)
    np.testing.assert_allclose(errors(model, sparse.csr_array(X), Y, errors=kind, **groups), expected, rtol=1e-7)
    scale = np.array([2.0**40, 2.0**-40])
    moved = RobustRegression(loss=loss).fit(X * scale, 1e100 * Y)
    found = errors(moved, X * scale, 1e100 * Y, errors=kind, **groups) / 1e100 * [1.0, *scale]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    both = RobustRegression(loss=loss).fit(X, np.column_stack([Y, -2.0 * Y]))
    table = both.summary(errors=kind, X=X, y=np.column_stack([Y, -2.0 * Y]), **groups).to_dict()
    ours = [row["std_error"] for row in table["coefficients"]]
    np.testing.assert_allclose(ours, [*expected, *(2.0 * expected)], rtol=1e-6)


def test_weights_are_repeated_rows() -> None:
    times = np.random.default_rng(0).integers(1, 4, len(Y))
    again, repeated = np.repeat(X, times, axis=0), np.repeat(Y, times)
    model = RobustRegression().fit(X, Y, sample_weight=times)
    expected = errors(RobustRegression().fit(again, repeated), again, repeated, errors="HC3")
    np.testing.assert_allclose(errors(model, X, Y, errors="HC3", sample_weight=times), expected, rtol=1e-7)


def test_a_column_that_depends_on_others_changes_no_error() -> None:
    wide = np.column_stack([X, X @ [1.0, 2.0]])
    expected = errors(RobustRegression().fit(X, Y), X, Y, errors="HC1")
    with pytest.warns(match="x2 = "):
        model = RobustRegression().fit(wide, Y)
    np.testing.assert_allclose(errors(model, wide, Y, errors="HC1")[:3], expected, rtol=1e-6)


def test_the_view_shares_errors_among_its_questions() -> None:
    model = RobustRegression().fit(X, Y)
    view = model.with_errors("cluster", X, Y, groups=GROUPS)
    table = view.summary()
    assert "t" in str(table).split("std error")[1][:10]
    assert any("9 groups, which are few" in note for note in table.notes)
    assert "Student's t with 8 degrees of freedom" in str(table)
    row = table.to_dict()["coefficients"][1]
    test = view.test("x0 = 0")
    assert test.freedom == (1, 8.0)
    assert test.p_value == pytest.approx(row["p_value"])
    assert test.statistic == pytest.approx(row["statistic"] ** 2)
    assert view.effects().to_dict()["effects"][0]["std_error"] == pytest.approx(row["std_error"])
    _, lower, upper = view.predict(np.zeros((1, 2)))
    first = table.to_dict()["coefficients"][0]
    np.testing.assert_allclose([lower[0], upper[0]], [first["lower"], first["upper"]])


def test_what_errors_refuse() -> None:
    model = RobustRegression().fit(X, Y)
    with pytest.raises(SumsMissing, match="give X and y again"):
        model.summary(errors="HC3")
    with pytest.raises(InvalidData, match="not the rows that were fitted: they have other residuals"):
        model.summary(errors="HC3", X=X[::-1], y=Y)
    with pytest.raises(InvalidData, match="their weight is 300"):
        model.summary(errors="HC3", X=X[:300], y=Y[:300])
    with pytest.raises(InvalidParameter, match="take no groups"):
        model.summary(groups=GROUPS)
    with pytest.raises(InvalidParameter, match="one of smoothed, nid, iid, kernel for loss='absolute'"):
        RobustRegression(loss="absolute").fit(X, Y).summary(errors="HC3", X=X, y=Y)
    assert "penalty" in RobustRegression(penalty=1.0).fit(X, Y).summary(errors="HC3", X=X, y=Y).notes[0]


SHELLS = pd.read_csv(Path(datasets.__file__).parent / "abalone.csv")
LONGLEY = pd.read_csv(Path(datasets.__file__).parent / "longley.csv")
SERIAL: dict[str, tuple[Any, Any, Any]] = {
    "longley": (LinearRegression(), LONGLEY[["GNP", "Unemployed"]], LONGLEY["Employed"]),
    "penguins": (LinearRegression(), X, Y),
    "through zero": (LinearRegression(fit_intercept=False), X[:, 1:], Y),
    "logistic": (LogisticRegression(), BIRDS[["bill_length_mm", "body_mass_g"]], BIRDS["sex"]),
    "poisson": (GeneralizedLinear("poisson"), SHELLS[["length", "shell_weight"]], SHELLS["rings"]),
}


@pytest.mark.parametrize("case", SERIAL)
def test_lags_are_those_of_r(case: str) -> None:
    theirs = {what: part.value for what, part in LAGS[LAGS.case == case].groupby("what")}
    model, rows, y = SERIAL[case]
    summary = model.fit(rows, y).summary(errors="HAC", X=rows, y=y)
    assert f"HAC of {theirs['lags'].iloc[0]:g} lags (Newey and West), chosen from the rows" in summary.notes
    found = [row["std_error"] for row in summary.to_dict()["coefficients"]]
    np.testing.assert_allclose(found, theirs["HAC"], rtol=1e-8)


@pytest.mark.parametrize("model", [LogisticRegression(), OrdinalRegression(), RobustRegression()], ids=str)
def test_all_models_choose_lags_by_scores_of_raw_columns(model: Any) -> None:
    """The lag is that of sums of scores that are computed here by differences of the likelihood of each row."""
    rows, y = SHELLS[["length", "shell_weight"]].to_numpy()[:400], SHELLS["rings"].to_numpy()[:400]
    y = y if isinstance(model, RobustRegression) else np.digitize(y, [8, 11])
    model.fit(rows, y)
    moved, step = [], 1e-4
    for way in (1, -1):  # all columns gain, and their slopes with them
        if isinstance(model, RobustRegression):
            u = np.abs(y - model.predict(rows) - way * step * rows.sum(axis=1)) / model.scale_
            moved.append(-np.where(u <= 1.345, u**2 / 2, 1.345 * (u - 1.345 / 2)))
        elif isinstance(model, OrdinalRegression):
            slopes = np.ravel(model.coef_)
            shift = step * rows.sum(axis=1)[:, None] * slopes / (slopes @ slopes)
            p = model.predict_proba(rows + way * shift)
            moved.append(np.log(p[np.arange(400), y]))
        else:
            z = rows @ model.coef_.T + model.intercept_
            z[:, 1:] += way * step * rows.sum(axis=1)[:, None]
            moved.append(z[np.arange(400), y] - np.log(np.exp(z).sum(axis=1)))
    wanted = chosen_lags((moved[0] - moved[1]) / (2 * step))
    assert any(f"HAC of {wanted} lag" in note for note in model.summary(errors="HAC", X=rows, y=y).notes)


@pytest.mark.night
def test_clustered_intervals_cover() -> None:
    """95 % intervals by groups cover where a column and the noise vary between 30 groups."""
    rng, covered = np.random.default_rng(0), []
    for _ in range(int(os.environ.get("ADALINE_SAMPLES", "500"))):
        group = np.repeat(np.arange(30), 8)
        x = rng.normal(size=30)[group] + 0.3 * rng.normal(size=240)
        y = x + rng.normal(size=30)[group] + rng.standard_t(3, size=240)
        row = RobustRegression().fit(x[:, None], y).summary(errors="cluster", X=x[:, None], y=y, groups=group)
        covered.append(row.parts[0].lower[1] <= 1.0 <= row.parts[0].upper[1])
    assert 0.92 <= np.mean(covered) <= 0.975


def test_summaries_say_when_intervals_are_short() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 2))
    y = x @ [1.0, 2.0] + rng.normal(size=100)
    for n, few in ((60, True), (100, False)):
        model = LinearRegression().fit(x[:n], y[:n])
        notes = model.summary(errors="HC0", X=x[:n], y=y[:n]).notes
        assert any("use errors='HC3'" in note for note in notes) == few
        assert any("HC3" in note for note in model.summary(errors="HC1", X=x[:n], y=y[:n]).notes) == few
        assert not any("HC3" in note for note in model.summary(errors="HC2", X=x[:n], y=y[:n]).notes)
        drawn = bootstrap(model, x[:n], y[:n], replicates=20, interval="percentile")
        assert any("interval='studentised'" in note for note in drawn.summary().notes) == few
        drawn = bootstrap(model, x[:n], y[:n], replicates=20)
        assert any("interval='studentised'" in note for note in drawn.summary().notes)
        few_rows = LinearRegression().fit(x[:40], y[:40]).summary(errors="HC2", X=x[:40], y=y[:40])
        assert any("HC3" in note for note in few_rows.notes)
        assert "90 % instead of 95 %" in str(model.summary(errors="HAC", X=x[:n], y=y[:n]))
