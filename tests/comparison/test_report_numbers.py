"""The numbers of the report: rankings against scikit-learn, thresholds against brute force, jackknife by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, precision_score, recall_score, roc_auc_score

from adaline import plots
from adaline.comparison import report
from adaline.comparison.changes import (
    changes,
    differences,
    products_of_step,
    rows_averaged,
    steps,
    steps_affordable,
    unit_of,
)
from adaline.comparison.classes import Costs, cheapest_threshold, held_out_scores, positive_class, recalls
from adaline.comparison.compare import Comparison, compare, compare_table
from adaline.comparison.table import Table
from adaline.errors import InvalidParameter
from adaline.inference.jackknife import jackknife
from adaline.inference.strengths import strengths
from adaline.selection.probabilities import count_at_thresholds
from tests.comparison.examples import bundled, classification, labels, regression

rng = np.random.default_rng(0)


@cache
def two() -> Comparison:
    X, y = labels(n=300)
    kept = (y == "b") | (np.arange(300) % 3 > 0)  # "a" is rarer
    table = Table.of(X[kept], y[kept], names=["length_mm", "<b>x</b>", "z"], target="kind")
    systems = ["FisherDiscriminant", "LogisticRegression"]
    return replace(compare_table(table, systems=systems), costs=Costs(1.0, 5.0))


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", page.replace("<wbr>", "")))


@pytest.mark.parametrize("weighted", [False, True])
def test_rankings_are_those_of_scikit_learn(weighted: bool) -> None:
    truth, weight = rng.uniform(size=80) < 0.3, rng.uniform(0.5, 2, 80) if weighted else None
    score = np.round(truth + rng.normal(size=80), 1)  # with ties
    counts = count_at_thresholds(truth, score, weight)
    assert counts.auc == pytest.approx(roc_auc_score(truth, score, sample_weight=weight), rel=1e-12)
    expected = average_precision_score(truth, score, sample_weight=weight)
    assert counts.average_precision == pytest.approx(expected, rel=1e-12)
    y, scores = rng.integers(0, 3, 80), rng.normal(size=(80, 3))
    predicted = scores.argmax(axis=1)
    found = recalls(y, predicted, scores, weight)
    for k, row in enumerate(found):
        assert row.auc == pytest.approx(roc_auc_score(y == k, scores[:, k], sample_weight=weight))
        for value, measure in ((row.recall, recall_score), (row.precision, precision_score)):
            assert value == pytest.approx(measure(y == k, predicted == k, sample_weight=weight))
        assert row.lower <= row.recall <= row.upper


def test_scores_of_held_out_rows_decide_as_the_predictions_do() -> None:
    for found in (two(), compare_table(classification(classes=3), systems=["LeastSquaresClassifier"])):
        for result in found.results:
            scores = held_out_scores(replace(result, probability=None), found.data)
            assert scores is not None
            np.testing.assert_array_equal(np.unique(found.data.y)[scores.argmax(axis=1)], result.predicted)


def test_the_threshold_is_the_cheapest_of_all() -> None:
    y = np.where(rng.uniform(size=60) < 0.3, "ill", "well")
    assert positive_class(y) == "ill"
    truth, weight = y == "ill", rng.uniform(0.5, 2, 60)
    score = np.round(np.clip(0.3 * truth + 0.6 * rng.uniform(size=60), 0, 1), 2)
    predicted = np.where(score >= 0.5, "ill", "well")

    def cost_of(called: np.ndarray) -> float:
        return float(np.average(1.0 * (called & ~truth) + 5.0 * (~called & truth), weights=weight))

    found = cheapest_threshold(Costs(1, 5), y, predicted, np.column_stack([score, 1 - score]), weight, True)
    assert found.cost == pytest.approx(min(cost_of(score >= t) for t in [np.inf, *score]))
    assert found.cost == pytest.approx(cost_of(score >= found.threshold))
    assert found.default_cost == pytest.approx(cost_of(score >= 0.5))


def test_costs_are_read_and_refused() -> None:
    assert Costs.of("fp=1, fn=5") == Costs.of({"fn": 5, "fp": 1}) == Costs(1.0, 5.0)
    for bad in ("fp=1", "fp=1,fn=x", {"fp": 1, "fn": -1}, "fp=1,fn=inf", 3, "fp=1,fn=5,tp=0"):
        with pytest.raises(InvalidParameter, match="fp=1,fn=5"):
            Costs.of(bad)
    with pytest.raises(InvalidParameter, match="two classes"):
        compare("longley", target="Employed", cost={"fp": 1, "fn": 5})


def test_the_jackknife_by_hand() -> None:
    without = [np.array([1.0, 5.0]), np.array([2.0, 5.0]), np.array([4.5, 5.0]), np.array([0.5, 5.0])]
    found = jackknife(np.array([2.2, 5.0]), without)
    error = np.sqrt(3 / 4 * sum((one[0] - 2.0) ** 2 for one in without))
    reach = stats.t.ppf(0.975, 3) * error
    expected = (error, 2 * stats.t.sf(2.2 / error, 3), 2.2 - reach, 2.2 + reach)
    np.testing.assert_allclose([part[0] for part in found], expected, rtol=1e-12)
    assert np.isnan([part[1] for part in found]).all()  # folds that agree to the bit say nothing
    assert np.isnan(jackknife(np.array(1.0), []).lower)
    with np.errstate(all="raise", under="ignore"):
        assert np.isnan(jackknife(np.array(1e-180), [np.array(1e-180), np.array(3e-180)]).p_value)


def test_intervals_of_a_discriminant_are_those_of_its_fold_models() -> None:
    found = two()
    result = next(one for one in found.results if one.system == "FisherDiscriminant")
    shown = strengths(result.model, found.data.X, found.data.names, result.fold_models)
    known = jackknife(result.model.coef_, [model.coef_ for model in result.fold_models])
    np.testing.assert_allclose([effect.std_error for effect in shown], np.ravel(known.std_error))
    logistic = next(one for one in found.results if one.system == "LogisticRegression")
    assert strengths(logistic.model, found.data.X, found.data.names, logistic.fold_models)[
        1
    ].std_error == pytest.approx(logistic.model.summary().to_dict()["coefficients"][1]["std_error"])


def test_a_step_changes_a_linear_prediction_by_its_coefficient() -> None:
    table = bundled("penguins", "body_mass_g")
    found = compare_table(table, systems=["LinearRegression", "LMS"])
    assert [step.text for step in steps(table)] == [
        "5 mm more bill_length_mm",
        "1 mm more bill_depth_mm",
        "10 mm more flipper_length_mm",
    ]
    linear = {result.system: changes(result, found.data, found.task, steps(table)) for result in found.results}
    slope = next(one for one in found.results if one.system == "LinearRegression").model.coef_[2]
    assert linear["LinearRegression"][2][0].estimate == pytest.approx(10 * slope)
    assert linear["LMS"][2][0].estimate == pytest.approx(10 * slope, rel=1e-3)  # by predictions, with a jackknife
    assert linear["LMS"][2][0].known
    assert differences(linear["LinearRegression"], linear["LMS"]) == []
    far = [
        [replace(change, estimate=-change.estimate, lower=-change.upper, upper=-change.lower) for change in own]
        for own in linear["LMS"]
    ]
    assert [own.step.column for own, _ in differences(linear["LinearRegression"], far)] == [2]
    assert f"+{10 * slope:.0f} g" in text_of(report.render(found))


def test_a_change_of_rounding_is_none() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    table = Table.of(np.column_stack([9.0 * y + rng.normal(size=100), rng.normal(size=100)]), y, names=["far", "no"])
    found = compare_table(table, systems=["GaussianClassifier"], task="classification")
    own = changes(found.results[0], found.data, found.task, steps(found.data))
    assert [(one.estimate, one.lower, one.upper, one.known) for one in own[1]] == [(0.0, 0.0, 0.0, False)] * 2
    assert "e−" not in text_of(report.render(found))


def test_levels_are_compared_with_the_one_left_out() -> None:
    X = np.column_stack([np.arange(30) % 3 == 1, np.arange(30) % 3 == 2, np.arange(30) % 2]).astype(float)
    column = {"name": "port", "kind": "category", "levels": [["Kiel", 10], ["Hull", 10], ["Oslo", 10]]}
    table = replace(
        Table.of(X, np.arange(30.0), names=["port[T.Kiel]", "port[T.Oslo]", "open"]),
        origin=("port", "port", "open"),
        columns=[column],
    )
    assert [step.text for step in steps(table)] == [
        "port Kiel rather than Hull",
        "port Oslo rather than Hull",
        "open 1 rather than 0",
    ]
    assert [unit_of(name) for name in ("mass (kg)", "height_cm", "max", "team")] == ["kg", "cm", "", ""]


def test_the_page_of_two_classes() -> None:
    found = two()
    best, positive = found.recommended, positive_class(found.data.y)
    assert best is not None
    assert best.predicted is not None
    page = report.render(found)
    text = text_of(page)
    scores = held_out_scores(best, found.data)
    assert scores is not None
    area = roc_auc_score(found.data.y == positive, scores[:, list(np.unique(found.data.y)).index(positive)])
    assert f"The positive class is {positive}, the rarer one" in text
    assert f"AUC {area:.4f}" in text
    assert str(found.threshold) in text
    assert found.threshold is not None
    assert found.threshold.advice in text
    assert f"compare the column probability_{positive} of adaline predict --proba with" in found.threshold.advice
    assert found.threshold.cost <= found.threshold.default_cost
    assert found.to_dict()["threshold"]["positive"] == positive
    assert str(found.threshold) in str(found)
    assert "<b>x</b>" not in page
    for part in ("runner-up", "ROC", "recall", "Left out, and why", "prefers-color-scheme: dark"):
        assert (part in page) == (part != "Left out, and why"), part


@pytest.mark.parametrize("kind", ["regression", "many classes"])
def test_other_pages_lose_nothing(kind: str) -> None:
    table = regression() if kind == "regression" else classification(classes=3)
    table = replace(
        table,
        X=np.column_stack([table.X, np.ones(len(table.X))]),
        names=(*table.names, "one"),
        origin=(*table.origin, "one"),
    )
    systems = (
        ["LinearRegression", "Ridge"] if kind == "regression" else ["LeastSquaresClassifier", "GaussianClassifier"]
    )
    text = text_of(report.render(compare_table(table, systems=systems)))
    assert "1 column left out, the same value in every row: one" in text
    assert ("recall" in text) == (kind != "regression")
    assert "Threshold by costs" not in text
    assert "Positive is" not in text
    assert "The runner-up" in text
    assert not re.search(r"\b(nan|inf)\b", text)


def test_the_axis_is_not_squeezed_by_one_bad_system() -> None:
    found = compare_table(regression(), systems=["LinearRegression", "Ridge", "RobustRegression"])
    last = found.results[-1]
    bad = replace(last, error=1e6 * last.error, fold_errors=1e6 * last.fold_errors)
    ax = plots.comparison(replace(found, results=[*found.results[:-1], bad]))
    assert ax.get_xlim()[1] < 10 * last.error
    assert any(text.get_text().endswith("→") for text in ax.texts)


def test_changes_of_quadratic_systems_with_many_columns_average_fewer_rows() -> None:
    X = np.random.default_rng(0).normal(size=(900, 60))
    table = Table.of(X, (X[:, 0] > 0).astype(int))
    found = compare_table(table, systems=["GaussianClassifier"], folds=2, task="classification")
    results = {result.settings.get("covariance"): result for result in found.results}
    costs = [products_of_step(results[name], found.data, found.task) for name in (None, "full")]
    assert costs[1] == 60 * costs[0]
    assert [steps_affordable(cost, 8, 60) for cost in (costs[0], 100 * costs[1])] == [60, 8]
    averaged = [len(range(900)[rows_averaged(60 * cost, found.data, found.task)]) for cost in costs]
    assert averaged == [900, 113]


def test_the_page_counts_all_columns_that_are_not_shown_and_the_rows_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(300, 20))
    found = compare_table(
        Table.of(X, (X[:, 0] > 0).astype(int)), systems=["GaussianClassifier"], folds=2, task="classification"
    )
    monkeypatch.setattr("adaline.comparison.changes.MOST_PRODUCTS", 2**16)
    assert found.recommended is not None
    shown = report._changes(found, found.recommended)
    assert shown is not None
    assert (len(shown["rows"]), shown["more"], shown["over"]) == (8, 12, "75 of the 300 rows")
