"""A comparison that takes seconds: budgets, results as they are found, an interrupt, labels as they were given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import adaline
from adaline import (
    LMS,
    ElasticNet,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    RobustRegression,
    SigmoidPerceptron,
)
from adaline.arrays import is_sparse
from adaline.comparison import table as reading
from adaline.comparison.budget import FitBudget, budget_of, takes_too_long
from adaline.comparison.compare import OnResult, compare_table
from adaline.comparison.ranking import rank, sections
from adaline.comparison.recommendation import recommend
from adaline.comparison.report import render
from adaline.comparison.result import Result
from adaline.comparison.table import Table
from adaline.selection.cross_validation import ArrayRows
from tests.comparison.examples import classification, numbers, regression


@pytest.mark.parametrize(
    ("system", "rows", "columns", "allowed"),
    [
        (LMS(), 1_000_000, 58, FitBudget(1, 72_315)),
        (LMS(), 100_000, 20, FitBudget(2, None)),
        (LMS(), 10_000, 20, None),
        (Perceptron(epochs=100), 100, 5, None),
        (RobustRegression(), 1_000_000, 58, FitBudget(None, 72_315)),
        (RobustRegression(), 50_000, 58, None),
        (RobustRegression(), 300_000, 289, FitBudget(None, 2_057)),
        (RobustRegression(loss="tukey"), 14_018, 105, FitBudget(None, 5_666)),
        (SigmoidPerceptron(), 1_000_000, 58, FitBudget(None, 289_262)),
        (ElasticNet(), 1_000_000, 58, None),
        (ElasticNet(), 4_000, 1_000, FitBudget(None, 1_048)),
        (ElasticNet(loss="logistic"), 1_000_000, 58, FitBudget(None, 1_129)),
    ],
)
@pytest.mark.every
def test_budgets_count_numbers(system: Any, rows: int, columns: int, allowed: FitBudget | None) -> None:
    assert budget_of(system, rows, columns) == allowed


ROBUST, NET = RobustRegression(), ElasticNet(loss="logistic")


@pytest.mark.parametrize(
    ("system", "rows", "columns", "classes", "long"),
    [
        (NET, 437, 29, 16, True),
        (NET, 437, 29, 3, False),
        (NET, 437, 29, 2, False),
        (LogisticRegression(penalty="auto"), 437, 29, 10, True),
        (LogisticRegression(), 437, 29, 10, False),
        (LogisticRegression(), 437, 29, 16, True),
        (ROBUST, 10_000, 400, 0, True),
        (ROBUST, 10_000, 289, 0, False),
        (ROBUST, 500, 350, 0, False),
        (RobustRegression(loss="tukey"), 500, 350, 0, True),
        (NET, 1801, 233, 2, True),
        (NET, 1801, 128, 2, False),
        (ElasticNet(), 1801, 233, 0, False),
    ],
)
@pytest.mark.every
def test_fits_of_many_classes_or_columns_take_too_long(
    system: Any, rows: int, columns: int, classes: int, long: bool
) -> None:
    assert takes_too_long(system, rows, columns, classes) == long


def test_systems_that_take_too_long_are_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ElasticNet, "compared_work", 1)
    monkeypatch.setattr(LogisticRegression, "compared_work", 1)
    rng = np.random.default_rng(0)
    table = Table.of(rng.normal(size=(60, 2)), np.arange(60) % 3, names=["a", "b"], target="kind")
    found = compare_table(table)
    assert not {"ElasticNet", "LogisticRegression"} & {one.system for one in found.results}
    assert "because 3 classes by 2 columns take too long: ElasticNet(" in found.notes[0]
    asked = compare_table(table, systems=["LogisticRegression"])
    assert [one.system for one in asked.results] == ["LogisticRegression"] * 2


def test_budgets_in_words() -> None:
    shown = {(1, 289_262): "after 1 epoch of 289,262 rows", (3, None): "after 3 epochs", (None, 5): "fitted to 5 rows"}
    assert {limits: str(FitBudget(*limits)) for limits in shown} == shown


def test_a_system_is_held_to_its_budget_unless_the_comparison_is_thorough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LMS, "compared_visits", 4 * 100)
    monkeypatch.setattr(RobustRegression, "compared_numbers", 4 * 120)
    names = ["LMS", "RobustRegression", "LinearRegression"]
    found = {one.label: one for one in compare_table(regression(), systems=names).results}
    assert found["LMS"].budget == "after 1 epoch of 100 rows"
    assert found["LMS"].model.n_iter_ == 1
    assert found["RobustRegression"].budget == "fitted to 120 rows"
    assert found["LinearRegression"].budget == ""
    lines = str(compare_table(regression(), systems=names))
    assert "after 1 epoch of 100 rows" in lines
    assert "fitted to 120 rows" in lines
    assert not any(one.budget for one in compare_table(regression(), systems=names, thorough=True).results)


def test_systems_fitted_to_a_sample_stand_under_a_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LinearRegression, "compared_numbers", 4 * 150, raising=False)
    monkeypatch.setattr(RobustRegression, "compared", ({},))
    found = compare_table(regression(), systems=["LinearRegression", "Ridge", "RobustRegression"])
    assert found.results[-1].label == "LinearRegression"
    assert found.results[-1].error < found.results[-2].error  # though its error is lower
    assert {row["judged_rows"] for row in found.table} == {200}
    lines = [line.strip("> ") for line in str(found.table).splitlines()]
    heading = lines.index("fitted to a sample, judged on the same rows:")
    assert lines[heading + 1].startswith("LinearRegression")
    assert lines[heading + 1].endswith("fitted to 150 rows")
    assert lines[heading + 2] == "baseline:"
    assert "Fitted to a sample, judged on the same rows</th>" in render(found)
    assert [one["sampled"] for one in found.to_dict()["results"]] == [False, False, True]


def test_systems_judged_on_other_rows_stand_apart_and_are_not_recommended() -> None:
    found = compare_table(regression(), systems=["LinearRegression", "Ridge"])
    apart = replace(found.results[0], error=0.1, fold_errors=np.full(5, 0.1), judged_rows=50)
    results = sorted([apart, found.results[1]], key=rank)
    assert sections(results, 200) == {1: "judged on 50 of 200 rows"}
    assert recommend(results, found.baseline, "RMSE").result is found.results[1]


def test_a_sample_is_spread_over_folds_and_classes() -> None:
    y = np.arange(1000) % 10
    cut = ArrayRows(np.arange(2000.0).reshape(1000, 2), y, np.arange(1.0, 1001.0), True).split(5, 0)
    some = cut.sampled(100)
    np.testing.assert_array_equal(np.bincount(some.fold), 20)
    np.testing.assert_array_equal(np.bincount(some.y), 10)
    np.testing.assert_array_equal(some.x[:, 0] / 2 + 1, some.weight)
    assert cut.sampled(100) is some


def watched(stop: int, seen: list[str]) -> OnResult:
    def on_result(result: Result, measure: str) -> None:
        seen.append(f"{result.label}: {measure}")
        if len(seen) == stop:
            raise KeyboardInterrupt

    return on_result


def test_results_come_as_they_are_found_and_an_interrupt_leaves_them() -> None:
    seen: list[str] = []
    found = compare_table(regression(), on_result=watched(2, seen))
    assert seen == ["LinearRegression: RMSE", "Ridge: RMSE"]
    assert {one.label for one in found.results} == {"LinearRegression", "Ridge"}
    assert found.notes == ("interrupted before ElasticNet, RobustRegression, LMS",)
    assert found.recommendation.system == "LinearRegression"


def test_an_interrupt_before_the_first_result_ends_the_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    progress: Callable[..., None] = stopped
    with pytest.raises(KeyboardInterrupt):
        compare_table(regression(), progress=progress)


def test_models_of_a_comparison_know_the_labels_and_the_rows_their_folds() -> None:
    table = classification(classes=3)
    found = compare_table(table, systems=["LogisticRegression", "Perceptron", "GaussianClassifier"])
    assert found.data.fold is not None
    assert (np.diff(found.data.fold) >= 0).all()
    np.testing.assert_array_equal(table.X[found.data.indices], found.data.X)
    np.testing.assert_array_equal(table.y[found.data.indices], found.data.y)
    for one in found.results:
        assert one.predicted is not None
        for k, model in enumerate(one.fold_models):
            assert list(model.classes_) == ["a", "b", "c"]
            held_out = found.data.fold == k
            np.testing.assert_array_equal(model.predict(found.data.X[held_out]), one.predicted[held_out])
        assert set(one.model.predict(table.X)) <= {"a", "b", "c"}


def test_no_row_with_a_weight_of_zero_is_learned_from() -> None:
    X, y = numbers()
    weight = np.ones(len(y))
    weight[::3] = 0.0
    kept = weight > 0
    names = ["LinearRegression", "RobustRegression"]
    mine = compare_table(Table.of(X, y, weight=weight), systems=names)
    theirs = compare_table(Table.of(X[kept], y[kept], weight=weight[kept]), systems=names)
    assert [one.error for one in mine.results] == [one.error for one in theirs.results]


@pytest.mark.parametrize("classes", [False, True])
def test_systems_that_are_sums_learn_from_all_rows_where_the_others_have_a_sample(
    classes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = numbers()
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    target = np.where(y > np.median(y), "high", "low") if classes else y
    held = max(X.shape[1], 2 * reading.KEPT_PROBABILITIES if classes else 0)  # numbers a row: of X, or probabilities
    monkeypatch.setattr(reading, "MOST_NUMBERS", held * 60)
    found = adaline.compare(pd.DataFrame(columns | {"y": target}), target="y")
    assert found.data.X.shape == (60, X.shape[1])
    results = {one.label: one for one in found.results}
    for name in ("LeastSquaresClassifier", "GaussianClassifier") if classes else ("LinearRegression", "Ridge"):
        model = results[name].model
        np.testing.assert_allclose(model.coef_, clone(model).fit(X, target).coef_, rtol=1e-9)
        assert results[name].budget == ""
        assert len(results[name].fold_models) == 5
    told = [one.budget for one in found.results if one.system in ("LMS", "RobustRegression", "LogisticRegression")]
    assert told == ["fitted to 60 rows"] * len(told)
    assert found.data.stream is not None
    _, fold = found.data.stream
    kept = fold != 2
    first = results["LeastSquaresClassifier" if classes else "LinearRegression"]
    refitted = clone(first.model).fit(X[kept], target[kept])
    np.testing.assert_allclose(first.fold_models[2].coef_, refitted.coef_, rtol=1e-9)
    assert any("fitted to all rows" in finding.text for finding in found.findings)


def test_rows_of_many_levels_are_held_sparse_and_compared_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    n, far = 200, np.full(200, 2e9)
    far[::2] += 1
    place = [f"p{i:02}" for i in rng.integers(30, size=n)]
    x = rng.normal(size=n).round(3)
    again = [text.upper() for text in place]  # columns that depend on others
    data = {"place": place, "again": again, "x": x, "y": x + rng.normal(size=n).round(3)}
    systems = ["LinearRegression", "Ridge", "RobustRegression"]
    dense = adaline.compare(data, "y", systems=systems)
    monkeypatch.setattr(reading, "LEAST_SPARSE_NUMBERS", 1)
    sparse = adaline.compare(data, "y", systems=systems)
    assert not is_sparse(dense.data.X)
    assert is_sparse(sparse.data.X)
    for one in dense.results:
        other = next(found for found in sparse.results if found.label == one.label)
        # The medians of levels with an even number of rows are intervals: the gap, 1e-15, leaves a point of them open.
        rtol = 1e-6 if "absolute" in one.label else 1e-8
        np.testing.assert_allclose(other.fold_errors, one.fold_errors, rtol=rtol)
    assert [str(one) for one in sparse.findings] == [str(one) for one in dense.findings]
    assert sparse.recommendation.headline == dense.recommendation.headline
    assert not is_sparse(adaline.compare({**data, "far": far}, "y", systems=["Ridge"]).data.X)  # sums would lose digits
