"""Warnings: each is raised by data made to deserve it, and none by clean data."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import adaline
from adaline.comparison import findings as findings_module
from adaline.comparison.compare import compare_table
from adaline.comparison.findings import Finding
from adaline.comparison.spellings import same_levels
from adaline.comparison.suspects import merge_spellings, repeated_rows
from adaline.comparison.table import Table, _skew
from tests.comparison.examples import bundled, classification, compared, labels, numbers, regression


def by_title(table: Table, *systems: str) -> dict[str, Finding]:
    """Return what is told of a table. Most of it rests on the rows alone: without names one system is compared."""
    one = ["LinearRegression" if table.y.dtype.kind == "f" else "GaussianClassifier"]
    return {finding.title: finding for finding in compare_table(table, systems=list(systems) or one).findings}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.night) for seed in (2, 3, 4))])
def test_clean_data_raise_no_alarm(seed: int) -> None:
    settings = {"seed": seed} if seed else {}
    assert compared(regression, **settings).findings == []
    assert compared(classification, **settings, **({"classes": 3} if seed % 2 else {})).findings == []


def categories(seed: int = 0, n: int = 400, levels: int = 8) -> Table:
    """A category whose reference level is rare: its dummies are correlated by coding alone."""
    rng = np.random.default_rng(seed)
    level = rng.choice(levels, n, p=[0.01, *[0.99 / (levels - 1)] * (levels - 1)])
    X = np.column_stack([rng.normal(size=n), *[(level == k).astype(float) for k in range(1, levels)]])
    names = ("x", *[f"c[T.{k}]" for k in range(1, levels)])
    return Table(X, X @ rng.normal(size=levels) + rng.normal(size=n), names, ("x", *["c"] * (levels - 1)), "y")


def test_coding_of_a_category_is_no_collinearity() -> None:
    assert by_title(categories()) == {}


def with_column(column: Any, seed: int = 0) -> Table:
    X, y = numbers(seed=seed)
    return Table.of(np.column_stack([X, column(X, y)]), y, names=["a", "b", "c", "d", "extra"])


@pytest.mark.parametrize(
    ("title", "column"),
    [
        ("Constant columns", lambda X, y: np.full(len(y), 7.0)),
        ("Columns that repeat others", lambda X, y: X[:, 0] / X[:, 0].std() - 2 * X[:, 1] / X[:, 1].std()),
        ("Collinear columns", lambda X, y: X[:, 0] + 0.01 * X[:, 0].std() * np.sin(np.arange(len(y)))),
        ("Values far from all others", lambda X, y: np.r_[9999.0, np.cos(np.arange(len(y) - 1.0))]),
        ("A column that gives the target away", lambda X, y: 3 * y - 1 + 1e-3 * np.sin(np.arange(len(y)))),
    ],
)
def test_columns_that_deserve_a_warning_get_it(title: str, column: Any) -> None:
    found = by_title(with_column(column))
    assert title in found
    assert "extra" in found[title].columns
    assert "extra" in found[title].text


def test_a_single_column_may_determine_the_target() -> None:
    assert "A column that gives the target away" not in by_title(bundled("norris"))


@pytest.mark.slow
def test_labels_given_away_by_a_number_and_by_a_category() -> None:
    X, y = labels(classes=3)
    code = np.searchsorted(["a", "b", "c"], y).astype(float)
    noise = 0.3 * np.sin(np.arange(len(y)))
    assert "A column that gives the target away" in by_title(Table.of(np.column_stack([X, code + noise]), y))
    dummies = np.column_stack([code == 1, code == 2]).astype(float)
    table = Table(np.column_stack([X, dummies]), y, ("a", "b", "c", "k1", "k2"), ("a", "b", "c", "k", "k"), "y")
    assert by_title(table)["A column that gives the target away"].columns == ("k",)


@pytest.mark.slow
def test_separable_classes_are_told_and_overlapping_ones_are_not() -> None:
    title = "Classes are linearly separable"
    assert title in by_title(classification(apart=9.0, classes=3))
    proved = by_title(bundled("breast_cancer"))[title].text
    seen = by_title(bundled("breast_cancer"), "LogisticRegression")[title].text
    assert "a separating hyperplane was found" in proved
    assert "LogisticRegression makes no error" in seen
    X, y = labels(apart=9.0)
    y[[0, 1]] = y[[1, 0]]
    assert title not in by_title(Table.of(X, y))
    X = np.column_stack([np.arange(30.0), np.random.default_rng(0).normal(size=30)])
    assert "separates classes a, c from" in by_title(Table.of(X, np.repeat(["a", "b", "c"], 10)))[title].text


def test_the_skewness_is_that_of_scipy() -> None:
    y = np.random.default_rng(0).exponential(1e200, size=50)
    assert _skew(y) == pytest.approx(stats.skew(y / 1e200), rel=1e-10)
    assert _skew(np.ones(5)) == 0


def test_outliers_are_told_by_row() -> None:
    X, y = numbers()
    y[17] += 50.0
    found = by_title(Table.of(X, y))
    assert "row 17" in found["Outlying targets"].text
    X[5, 0], y[5] = X[:, 0].mean() + 60 * X[:, 0].std(), y[5] - 100
    assert "Row 5" in by_title(Table.of(X, y))["A few rows decide the result"].text


def test_an_exact_fit_is_one_finding_and_names_no_rows() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3)).round(3)
    found = compare_table(Table.of(X, X @ [2.0, 3.0, 0.0] + 1), systems=["LinearRegression", "RobustRegression"])
    assert [one.title for one in found.findings] == ["The target is computed from the columns"]
    assert found.recommendation.system == "LinearRegression"


@pytest.mark.slow
def test_few_rows_missing_values_samples_and_skew() -> None:
    few = "Few rows for so many columns"
    found = [compare_table(regression(n=40, d=8), systems=[name]).findings for name in ("LinearRegression", "Ridge")]
    plain, penalised = ({one.title: one for one in own}[few] for own in found)
    assert (plain.severity, penalised.severity) == ("warning", "note")
    assert "use a penalised system such as Ridge" in plain.text
    assert penalised.text.endswith("mostly noise. Ridge has a penalty.")
    assert "No more rows than columns" in by_title(regression(n=20, d=30))
    X, y = numbers()
    assert "The target is skewed" in by_title(Table.of(X, np.exp(y)))
    column = {"name": "x0", "role": "feature", "kind": "number", "missing": 90, "levels": [], "note": ""}
    column |= dict.fromkeys(("distinct", "low", "mean", "high"))
    table = replace(regression(), columns=[column, column | {"name": "gone", "role": "left out"}], total_rows=200)
    assert by_title(table)["Many missing values"].columns == ("x0",)
    assert set(by_title(replace(regression(), total_rows=10_000))) == {"Not all rows were compared"}


def test_unequal_classes() -> None:
    X, y = labels()
    kept = (y == "a") | (np.arange(len(y)) < 11)
    assert "Classes of very unequal size" in by_title(Table.of(X[kept], y[kept]))


def test_rows_without_weight_are_no_sample() -> None:
    X, y = numbers()
    weight = np.where(np.arange(len(y)) < 7, 0.0, 1.0)
    found = compare_table(Table.of(X, y, weight=weight), systems=["LinearRegression"])
    assert "Not all rows were compared" not in [finding.title for finding in found.findings]


SUMS = ("LinearRegression", "Ridge")


def spoiled(row: int, **values: float) -> Table:
    """Clean rows but for one value."""
    X, y = numbers(noise=0.3)
    X[row, 0], y[row] = values.get("x", X[row, 0]), values.get("y", y[row])
    return Table.of(X, y, names=["area", "b", "c", "d"], target="price")


@pytest.mark.parametrize(("name", "value"), [("x", 1e6), ("y", 5e4)])
def test_one_wrong_value_that_destroys_the_fit_stands_in_the_headline(name: str, value: float) -> None:
    found = compare_table(spoiled(37, **{name: value}), systems=SUMS)
    column = "area" if name == "x" else "price"
    start, _, end = found.recommendation.headline.partition(f"; without row 37 ({column} = {value:g}) ")
    assert start == "Nothing beats the mean"
    assert end.startswith("LinearRegression has R² 0.9")
    worst = found.findings[0]
    assert (worst.severity, worst.title) == ("serious", "A few rows decide the result")
    assert ": with it, nothing beats the mean (RMSE" in worst.text
    assert "without it, LinearRegression has RMSE 0." in worst.text
    assert str(found.recommendation).startswith(found.recommendation.headline)


def test_a_code_for_missing_in_many_rows_stands_in_the_headline() -> None:
    X, y = numbers(n=200, d=2, noise=0.3)
    X[:15, 1] = 99_999_999.0
    found = compare_table(Table.of(X, y), systems=SUMS)
    assert "without the 15 rows where x1 is 1e+08" in found.recommendation.headline


def test_heavy_tails_are_no_wrong_rows() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = X.sum(axis=1) + rng.standard_t(2.5, size=300)
    found = compare_table(Table.of(X, y), systems=SUMS)
    assert "Outlying targets" in {one.title for one in found.findings}
    assert "without" not in found.recommendation.headline


def test_repeated_rows_are_left_out_on_trial() -> None:
    X, y = numbers(n=60, d=25, noise=3.0)
    X, y = np.tile(X, (4, 1)), np.tile(y, 4)
    found = compare_table(Table.of(X, y), systems=SUMS)
    one = {finding.title: finding for finding in found.findings}["Repeated rows"]
    assert one.severity == "serious"
    assert "180 of 240 rows (75%) repeat another row in every column" in one.text
    assert "; without the repeated rows " in found.recommendation.headline
    few = compare_table(Table.of(np.r_[X[:60], X[:1]], np.r_[y[:60], y[:1]]), systems=SUMS)
    assert "1 of 61 rows (2%) repeats" in str(few)


@pytest.mark.parametrize("levels", [2, 6])
def test_rows_of_few_values_repeat_naturally(levels: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(levels, size=(400, 3)).astype(float)
    table = Table.of(X, (X.sum(axis=1) + rng.integers(40, size=400)).astype(float))
    assert not len(repeated_rows(table, "regression"))
    assert not len(repeated_rows(Table.of(X, X[:, 0] > 0), "classification"))


def opened(**columns: Any) -> dict[str, Finding]:
    X, y = numbers(n=60)
    frame = pd.DataFrame({"a": X[:, 0], "y": y, **columns})
    return {one.title: one for one in adaline.compare(frame, target="y", systems=["LinearRegression"]).findings}


def test_spellings_constant_texts_and_copies_of_columns_are_found() -> None:
    answer = np.array(["ja", "nein"] * 30)
    answer[[0, 2, 1]] = ["Ja", "JA ", "nien"]
    found = opened(answer=answer, again=np.char.add("is ", answer), country=["DE"] * 60, b=numbers(n=60)[0][:, 0])
    text = found["Levels in several spellings"].text
    assert "answer ('ja', 'Ja', 'JA')" in text or "answer ('ja', 'JA', 'Ja')" in text
    assert "'nien' for 'nein' in answer" in text
    assert "country holds the same value in every row" in found["Constant columns"].text
    assert "again repeats answer, b repeats a." in found["Columns that repeat others"].text


def test_spellings_that_change_the_conclusion_stand_in_the_headline() -> None:
    X, y = labels(n=120, apart=4.0)
    answer = np.where(y == "a", "yes", "no").astype(object)
    answer[::4] = np.char.upper(answer[::4].astype(str))
    answer[1::4] = np.char.add(answer[1::4].astype(str), " ")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "answer": answer})
    found = adaline.compare(frame, target="answer", systems=["LeastSquaresClassifier"])
    assert re.search(r"; with spellings merged its error rate is \d\.\d\d%$", found.recommendation.headline)
    worst = found.findings[0]
    assert (worst.severity, worst.title) == ("serious", "Levels in several spellings")
    assert re.search(r"As they are, LeastSquaresClassifier has error rate \d\d.*; merged, ", worst.text)


def test_spellings_are_merged_whether_or_not_one_is_the_reference_level() -> None:
    column = {"name": "c", "role": "feature", "same": same_levels({"aa": 9, "bb": 9, "AA ": 2, "bb ": 2, "BB.": 1})}
    X = np.eye(6)[[0, 1, 2, 3, 4, 5, 1, 2]][:, :5]  # the last level is the reference
    names = ("x", "c[T.bb]", "c[T.AA ]", "c[T.bb ]", "c[T.BB.]")
    table = Table(X, np.arange(8.0), names, ("x", "c", "c", "c", "c"), "y", columns=[column])
    merged = merge_spellings(table, "regression")
    assert merged is not None
    assert merged.names == ("x", "c[T.bb]")
    np.testing.assert_array_equal(merged.X[:, 1], X[:, [1, 3, 4]].sum(axis=1))


def test_rows_are_called_by_their_line_in_a_file(tmp_path: Path) -> None:
    X, y = numbers(n=60, noise=0.3)
    X[7, 0] = 1e6
    frame = pd.DataFrame({"area": X[:, 0], "b": X[:, 1], "note": ["x"] * 60, "y": y})
    frame.to_csv(tmp_path / "plain.csv", index=False)
    frame.loc[3, "note"] = "two\nlines"
    frame.to_csv(tmp_path / "quoted.csv", index=False)
    for name, line in (("plain.csv", 9), ("quoted.csv", 10)):
        found = adaline.compare(str(tmp_path / name), target="y", systems=SUMS)
        assert f"without line {line} (area = 1e+06)" in found.recommendation.headline


def rare_level(n: int = 44_000) -> Table:
    """Rows of a category, one level of which is in none of the rows that are screened."""
    rng = np.random.default_rng(0)
    level = rng.integers(3, size=n)
    level[7] = 3  # of 44,000 rows every third is screened
    X = np.column_stack([rng.normal(size=n), *(level == k for k in (1, 2, 3))]).astype(np.float64)
    table = Table.of(X, X[:, 0] + level, names=["x", "c[1]", "c[2]", "c[3]"], target="y")
    return replace(table, origin=("x", "c", "c", "c"), fold=None)


@pytest.mark.filterwarnings("error")
def test_a_level_that_no_screened_row_has_is_no_failure() -> None:
    table = rare_level()
    assert [one.title for one in findings_module._leaking(table, "regression")] == []
    sold = replace(table, y=10.0 * (table.X[:, 3] > 0))
    assert [one.columns for one in findings_module._leaking(sold, "regression")] == [("c",)]
    huge = replace(table, X=table.X * 1e307, y=table.y * 1e307)
    assert [one.title for one in findings_module._leaking(huge, "regression")] == []


def test_a_check_that_fails_is_named_and_the_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def _far_values(*_: Any) -> Any:
        yield Finding("note", "One", "before it fails")
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(findings_module, "_far_values", _far_values)
    found = by_title(regression(), "LinearRegression")
    assert "'far values' failed: SVD did not converge" in found["A check could not be made"].text


def test_a_table_of_five_rows_has_no_handful_of_wrong_ones() -> None:
    X = np.array([[8.44], [7.58], [4.21], [2.59], [5.11]])
    found = compare_table(Table.of(X, 2 * X[:, 0] + 1), systems=["LinearRegression"])
    assert "without" not in found.recommendation.headline


@pytest.mark.parametrize("missing", ["mean", "indicator"])
def test_dates_beside_filled_gaps_are_not_far(missing: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    days = pd.date_range("2020-01-01", periods=200).astype(str)
    gone = 49 * np.arange(200) % 100 < 49  # so many that the quartiles of all rows are next to the mean
    y = np.arange(200) * 0.02 + rng.standard_normal(200)
    pd.DataFrame({"day": np.where(gone, "", days), "y": y}).to_csv(tmp_path / "t.csv", index=False)
    opened = adaline.compare(
        str(tmp_path / "t.csv"), target="y", dates=["day"], missing=missing, systems=["LinearRegression"]
    )
    assert "Values far from all others" not in [finding.title for finding in opened.findings]


@pytest.mark.parametrize(
    "levels",
    [
        {"ja": 190, "Ja": 9, "JA ": 2},
        {"New York": 50, "new york": 50, "New-York": 1, " New  York": 2},
        {"St. Louis": 4, "St Louis": 4},
        {"Müller": 3, "mu\u0308ller": 3},  # composed and decomposed
        {"A ": 1, "A": 1},
    ],
)
def test_case_space_and_punctuation_make_no_new_level(levels: dict[str, int]) -> None:
    assert [(set(one.spellings), one.certain) for one in same_levels(levels)] == [(set(levels), True)]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("nein", "nien"), ("married", "maried"), ("Bavaria", "Bavoria"), ("Kiel", "Kieel"), ("New York", "New Yrok")],
)
def test_a_rare_level_one_edit_from_a_frequent_one_is_probably_mistyped(right: str, wrong: str) -> None:
    assert same_levels({right: 40, wrong: 2, "other": 30}) == [((right, wrong), False)]
    assert same_levels({right: 40, wrong: 30}) == []


@pytest.mark.parametrize(
    "levels",
    [
        {"male": 99, "female": 1},
        {"A1": 90, "A2": 1, "A10": 3, "Room 12": 80, "Room 13": 1},
        {"car": 90, "cat": 2, "bar": 1},
        {"Type II": 90, "Type III": 2, "Type I": 3},
        {"Iran": 90, "Iraq": 2, "Niger": 50, "Nigeria": 3, "Gambia": 40, "Zambia": 2},
        {"INLAND": 900, "ISLAND": 5, "NEAR BAY": 90},
        {"typical": 90, "atypical": 2},
        {"Eric": 40, "Erica": 2, "Martin": 30, "Martina": 1},
        {"A+": 30, "A": 30, "A-": 30, "B+": 1},
        {"<10": 30, ">10": 2, "10": 5, "1.0": 3},
        {"a": 20, "A": 20, "m": 1, "M": 40},
        {"north": 90, "south": 2, "east": 40, "west": 3},
    ],
)
def test_levels_that_look_alike_raise_no_alarm(levels: dict[str, int]) -> None:
    assert same_levels(levels) == []
