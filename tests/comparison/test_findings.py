"""Warnings: each is raised by data made to deserve it, and none by clean data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adaline.comparison.compare import compare_table
from adaline.comparison.findings import Finding
from adaline.comparison.table import Table
from tests.comparison.examples import bundled, classification, compared, labels, numbers, regression


def by_title(table: Table, *systems: str) -> dict[str, Finding]:
    """Return what is told of a table. Most of it rests on the rows alone: without names one system is compared."""
    one = ["LinearRegression" if table.y.dtype.kind == "f" else "GaussianClassifier"]
    return {finding.title: finding for finding in compare_table(table, systems=list(systems) or one).findings}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
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
    assert "proved by a plane" in proved
    assert "LogisticRegression makes no error" in seen
    X, y = labels(apart=9.0)
    y[[0, 1]] = y[[1, 0]]
    assert title not in by_title(Table.of(X, y))
    X = np.column_stack([np.arange(30.0), np.random.default_rng(0).normal(size=30)])
    assert "Class a, c can be told" in by_title(Table.of(X, np.repeat(["a", "b", "c"], 10)))[title].text


def test_outliers_are_told_by_row() -> None:
    X, y = numbers()
    y[17] += 50.0
    found = by_title(Table.of(X, y))
    assert "row 17" in found["Outlying targets"].text
    X[5, 0], y[5] = X[:, 0].mean() + 60 * X[:, 0].std(), y[5] - 100
    assert "row 5" in by_title(Table.of(X, y))["Single rows decide the fit"].text


@pytest.mark.slow
def test_few_rows_missing_values_samples_and_skew() -> None:
    assert "Few rows for so many columns" in by_title(regression(n=40, d=8))
    assert "No more rows than columns" in by_title(regression(n=20, d=30))
    X, y = numbers()
    assert "The target is skewed" in by_title(Table.of(X, np.exp(y)))
    column = {"name": "x0", "role": "feature", "kind": "number", "missing": 90, "levels": [], "note": ""}
    column |= dict.fromkeys(("distinct", "low", "mean", "high"))
    table = replace(regression(), columns=[column, column | {"name": "gone", "role": "left out"}], total_rows=200)
    assert by_title(table)["Much is missing"].columns == ("x0",)
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
