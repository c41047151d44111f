"""`adaline.compare`: what the command line shows, as an object, on data of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import adaline
from adaline import ElasticNet, LinearRegression, OrdinalRegression, Ridge, compare
from adaline.comparison.changes import steps
from adaline.comparison.report import render
from adaline.errors import InvalidData, InvalidParameter, MissingValues
from tests.comparison.examples import labels, numbers

SYSTEMS = ["LinearRegression", "LMS"]


def columns(n: int = 60) -> dict[str, Any]:
    X, y = numbers(n=n)
    color = np.array(["red", "green", "blue"])[np.arange(n) % 3]
    return {"a": X[:, 0], "b": X[:, 1], "color": color, "y": y + X[:, 0] * 0.0}


def test_it_shows_what_the_command_line_shows(tmp_path: Path) -> None:
    found = compare(columns(), target="y", systems=SYSTEMS)
    assert [row["system"] for row in found.table] == [*(r.label for r in found.results), "the mean"]
    assert list(found.table.to_frame()["error"])[:2] == [result.error for result in found.results]
    assert "certificate" in str(found.table)
    assert "<table>" in found.table._repr_html_()
    advice = found.recommendation
    assert advice.system == "LinearRegression"
    assert advice.model.n_features_in_ == 4
    assert advice.headline == "Use LinearRegression"
    assert advice.text in str(found)
    assert advice.headline in found._repr_html_()
    assert repr(found) == str(found)
    assert all(str(finding) in str(found) for finding in found.findings)
    model = found.fit()
    assert isinstance(model, LinearRegression)
    np.testing.assert_allclose(model.coef_, advice.model.coef_, rtol=1e-9)
    page = found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert advice.headline in page
    assert "data," in page  # the call that opens the rows again names the data
    json.dumps(found.to_dict(), allow_nan=False)


def test_two_whole_numbers_are_two_classes_and_labels_are_labels() -> None:
    X, y = labels(n=80)
    for low, high in ((0, 1), (3, 17), (-1.0, 1.0)):
        given = {"a": X[:, 0], "b": X[:, 1], "y": np.where(y == "a", low, high)}
        found = compare(given, target="y", systems=["GaussianClassifier"], folds=3)
        assert (found.task, found.notes) == ("classification", ())
        assert found.results[0].model.classes_.tolist() == [low, high]
    given["y"] = np.arange(80) % 4
    assert compare(given, target="y", folds=2, systems=["Ridge"]).task == "regression"
    assert compare(given, target="y", folds=2, task="classification", systems=["FisherDiscriminant"]).results
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ElasticNet, "fit", None)  # of all systems it takes longest; one that fails stops nobody
        some = compare(given, target="y", folds=2)
    assert some.task == "regression"
    assert "has only 4 different whole numbers" in some.notes[0]
    assert "task='classification'" in some.notes[0]


@pytest.mark.slow
def test_shares_of_missing_values_are_shares_of_all_rows_and_dropped_rows_are_counted(tmp_path: Path) -> None:
    given = columns(n=500)
    gust = np.where(np.arange(500) % 5 == 0, 1.0 + np.arange(500) / 7, np.nan)  # 400 of 500 are missing
    frame = pd.DataFrame({**given, "gust": gust})
    found = compare(frame, target="y", missing="drop", systems=SYSTEMS)
    assert (len(found.data.y), found.data.dropped) == (100, 400)
    texts = {finding.title: finding.text for finding in found.findings}
    assert "gust (80%)" in texts["Many missing values"]
    assert texts["Rows were left out"].startswith("400 of 500 rows (80%) are left out")
    assert found.to_dict()["dropped_rows"] == 400
    assert "400 of 500 left out" in found.report(tmp_path / "r.html").read_text(encoding="utf-8")
    filled = compare(frame, target="y", missing="mean", systems=SYSTEMS)
    texts = {finding.title: finding.text for finding in filled.findings}
    assert "gust (80%)" in texts["Many missing values"]
    assert "Rows were left out" not in texts


def test_where_nothing_beats_the_constant_the_headline_says_so() -> None:
    rng = np.random.default_rng(0)
    given = {"a": rng.normal(size=90), "kind": np.array(["x", "x", "y"])[rng.integers(0, 3, 90)]}
    found = compare(
        given, target="kind", systems=["GaussianClassifier", "FisherDiscriminant", "LeastSquaresClassifier"]
    )
    assert found.recommendation.headline == "Nothing beats the most frequent class"
    assert not found.recommendation.useful
    assert not any(row["recommended"] for row in found.table)
    page = render(found)
    assert "<strong>Nothing beats the most frequent class</strong>" in page
    assert "<strong>Use " not in page
    assert 'class="chosen"' not in page


@pytest.mark.parametrize(
    ("system", "units"),
    [
        ("LMS", "With 95% intervals, in units of y"),
        ("GeneralizedLinear", "With 95% intervals, in units of y"),
        ("LinearRegression", "of y"),
    ],
)
def test_a_regression_is_captioned_in_units_of_its_target(system: str, units: str) -> None:
    page = render(compare(columns(), target="y", systems=[system]))
    assert units in page
    assert 'class="chosen"' in page
    assert "discriminant" not in page


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (columns(), {}, InvalidParameter, "say what to predict: target='COLUMN'"),
    ({"a": [1.0, 2.0], "y": [1.0]}, {"target": "y"}, InvalidData, "do not make a table"),
    (columns(), {"target": "y", "systems": ["Rigde"]}, InvalidParameter, r"no system 'Rigde'\. Did you mean Ridge\?"),
    (columns(), {"target": "y", "systems": [Ridge()]}, InvalidParameter, "systems are given by name"),
    (columns(), {"target": 2}, InvalidParameter, r"no column 2, and columns are given by name\. There are: a"),
    (
        columns(),
        {"target": "y", "missng": "drop"},
        TypeError,
        r"no option 'missng' for a table; Did you mean 'missing'",
    ),
    (
        {**columns(), "a": np.r_[np.nan, np.ones(59)]},
        {"target": "y", "missing": "error"},
        MissingValues,
        "missing='drop'",
    ),
    (
        "penguins",
        {"target": "body_mass_g", "systems": ["LogisticRegression"], "missing": "drop"},
        InvalidParameter,
        "LogisticRegression predicts labels, but body_mass_g holds numbers",
    ),
]


@pytest.mark.parametrize(("data", "options", "error", "message"), REFUSED)
def test_what_cannot_be_compared_is_refused_in_the_words_of_python(
    data: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        compare(data, **options)


def test_columns_are_left_out_as_asked_or_with_a_note() -> None:
    given = columns()
    assert compare(given, target="y", drop=["a"], systems=["Ridge"]).data.names[0] == "b"
    text = {"a": [f"some prose {i}" for i in range(60)], "b": given["b"], "y": given["y"]}
    found = compare(text, target="y", systems="Ridge")
    assert "column 'a' is left out" in found.notes[0]
    assert f"note: {found.notes[0]}" in str(found)
    assert "note: column &#x27;a&#x27; is left out" in found._repr_html_()


def test_dependent_columns_are_named_once_with_how_they_depend() -> None:
    rng = np.random.default_rng(0)
    hour, minute = rng.integers(24, size=120), rng.integers(60, size=120)
    data = {"hour": hour, "minute": minute, "sched": 100 * hour + minute, "y": hour + rng.normal(size=120)}
    found = compare(data, target="y", systems=["LinearRegression"])
    texts = [finding.text for finding in found.findings if "linear combinations" in finding.text]
    assert len(texts) == 1
    assert "sched = 100 hour + minute" in texts[0]


@pytest.mark.parametrize(("unit", "compared"), [(1, True), (25, False)])
def test_rounded_amounts_are_no_counts(unit: int, compared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ElasticNet, "fit", None)
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 2, 80)
    found = compare({"x": x, "y": unit * rng.poisson(np.exp(1 + x))}, target="y")
    assert ("GeneralizedLinear(loss='poisson')" in {result.label for result in found.results}) is compared


def test_findings_count_the_rows_that_were_given() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = 2 * x + 0.1 * rng.normal(size=80)
    y[60] += 9.0
    x[[3, 10, 70]] = np.nan
    weight = np.ones(80)
    weight[[20, 21]] = 0.0
    for options in ({}, {"weight": "w"}):
        found = compare({"x": x, "y": y, "w": weight}, "y", missing="drop", systems=["Ridge"], **options)
        assert ("2 rows of weight 0 are left out" in found.notes) == bool(options)
        outlying = next(finding for finding in found.findings if finding.title == "Outlying targets")
        assert "row 60 (" in outlying.text


ORDER = ["young", "grown", "old"]
AGES = np.array(ORDER)[np.digitize(columns()["y"], [-1.0, 1.0])]
ORDERED: dict[str, tuple[Any, dict[str, Any]]] = {
    "pandas": (pd.DataFrame({**columns(), "y": pd.Categorical(AGES, ORDER, ordered=True)}), {}),
    "polars": (pl.DataFrame({**columns(), "y": AGES}).with_columns(pl.col("y").cast(pl.Enum(ORDER))), {}),
    "named": ({**columns(), "y": AGES}, {"categories": {"y": ORDER}}),
    "numbers": ({**columns(), "y": np.digitize(columns()["y"], [-1.0, 1.0])}, {"categories": {"y": [0, 1, 2]}}),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_labels_with_an_order_are_regressed_upon_in_it(kind: str) -> None:
    data, options = ORDERED[kind]
    found = compare(data, target="y", folds=3, systems=["OrdinalRegression"], **options)
    model, alone = found.results[0].model, OrdinalRegression().fit(adaline.open_table(data, target="y", **options))
    np.testing.assert_array_equal(model.classes_, alone.classes_)
    np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-6)
    truth = np.searchsorted(np.unique(found.data.y), found.data.y)
    assert found.results[0].probability is not None
    assert found.results[0].error == pytest.approx(
        np.mean(found.results[0].probability.argmax(axis=1) != truth), abs=0.02
    )


def test_labels_without_an_order_are_not_regressed_upon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ElasticNet, "fit", None)  # of all systems it takes longest; one that fails stops nobody
    for values, ordered in ((AGES, True), (AGES, False), (np.where(AGES == "old", "grown", AGES), True)):
        data = pd.DataFrame({**columns(), "y": pd.Categorical(values, ordered=ordered)})
        tried = {result.system for result in compare(data, target="y", folds=2).results}
        assert ("OrdinalRegression" in tried) == (ordered and len(set(values)) > 2)


def test_reports_say_what_columns_do_to_counts_and_ordered_labels() -> None:
    data, options = ORDERED["pandas"]
    page = render(compare(data, target="y", folds=3, systems=["OrdinalRegression"], **options))
    told = OrdinalRegression().fit(adaline.open_table(data, target="y")).summary().to_dict()["coefficients"][0]
    assert f">{told['std_error']:.5g}<" in page
    assert "log odds of a higher class" in page
    counts = {**columns(), "y": np.random.default_rng(0).poisson(np.exp(0.3 * columns()["y"])) ** 2}
    found = compare(counts, target="y", folds=3, systems=["GeneralizedLinear"])
    step = steps(found.data)[0]
    effect = found.results[0].model.summary().to_dict()["coefficients"][1]
    factors = [np.exp(step.size * effect[key]) for key in ("estimate", "lower", "upper")]
    assert "<strong>×{:.3g}</strong> ({:.3g} to {:.3g})".format(*factors) in render(found)
    assert any("times that of Poisson counts" in finding.text for finding in found.findings)
    assert "How the penalty was chosen" in render(compare(columns(), target="y", folds=3, systems=["ElasticNet"]))
    labels = np.digitize(columns()["y"], np.quantile(columns()["y"], [0.3, 0.6])).astype(str)
    found = compare({**columns(), "y": labels}, target="y", folds=3, systems=["ElasticNet"])
    page, coef = render(found), found.results[0].model.coef_
    assert "How the penalty was chosen" in page
    assert "log odds" in page
    assert all(f"{value:.4g}" in page for value in (coef - coef.mean(axis=0))[:, 0])


def test_many_columns_are_described_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"y": i % 7.0, "x": None if i % 20 == 3 else i / 4, "kind": "abc"[i % 3], "on": not i % 4} for i in range(60)
    ]
    data = pa.Table.from_pylist(rows)
    queried = compare(data, target="y", systems=["LinearRegression"]).data.columns
    monkeypatch.setattr("adaline.comparison.table.MOST_QUERIED_COLUMNS", 1)
    assert compare(data, target="y", systems=["LinearRegression"]).data.columns == queried


def test_a_column_of_nearly_numbers_is_in_the_headline_with_its_lines(tmp_path: Path) -> None:
    areas = [f"{50 + 3.5 * i}" for i in range(60)]
    areas[5], areas[20] = "ca. 70", "see note"
    lines = [f"{area},{i % 7},{100 + 7.0 * i}" for i, area in enumerate(areas)]
    (tmp_path / "flats.csv").write_text("\n".join(["area,floor,price", *lines]) + "\n")
    found = compare(str(tmp_path / "flats.csv"), target="price", systems=["LinearRegression"])
    told = "column 'area' is left out: 2 of 60 values are not numbers (lines 7, 22)"
    assert told in found.recommendation.headline
    assert found.findings[0].severity == "serious"
    assert told[1:] in found.findings[0].text
    assert any("'ca. 70', 'see note' (2 such values in lines 7, 22)" in note for note in found.notes)
