"""The report is one whole file with every name escaped; its numbers are right by hand and by scikit-learn."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, precision_score, recall_score, roc_auc_score

from adaline import KeslerPerceptron, Perceptron, Ridge, plots
from adaline.cli import demo
from adaline.comparison import drawing, report
from adaline.comparison.changes import (
    _all_rows,
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
from adaline.comparison.drawing import Drawing, DrawingProcess
from adaline.comparison.table import Table
from adaline.errors import InvalidParameter
from adaline.inference.jackknife import jackknife
from adaline.inference.strengths import strengths
from adaline.selection.probabilities import count_at_thresholds
from tests.comparison.examples import bundled, classification, labels, numbers, regression

rng = np.random.default_rng(0)
LINEAR, GAUSSIAN = ["LinearRegression", "Ridge", "LMS"], ["GaussianClassifier", "LeastSquaresClassifier"]

VOID = {"meta", "link", "img", "br", "wbr"}


class Balance(HTMLParser):
    """Checks that tags close in order, and keeps what matters."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Balance:
    out = Balance()
    out.feed(page)
    assert out.open == []
    return out


def quadratic() -> Table:
    """Two classes around the same mean: only a covariance for each class tells them apart."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    return Table.of(rng.normal(size=(300, 2)) * np.where(y, 1.0, 6.0)[:, None], y)


def strange() -> Table:
    X, y = numbers(d=60, n=300)
    names = tuple(f"<script>alert({j})</script> & $x$ \x07 \N{SNOWMAN} " + "long" * 30 for j in range(60))
    return Table(
        X, y, names, names, "<b>target</b>", None, 10**6, source="<i>file</i>", command="adaline compare '<x>'"
    )


TABLES: dict[str, tuple[Any, list[str]]] = {
    "regression": (lambda: replace(regression(), command="adaline compare data.csv --target y"), LINEAR),
    "one column": (lambda: bundled("norris"), LINEAR),
    "two classes": (classification, GAUSSIAN),
    "three classes": (lambda: bundled("penguins"), [*GAUSSIAN, "Perceptron"]),
    "two columns": (lambda: bundled("penguins", columns=[0, 1]), GAUSSIAN),
    "quadratic": (quadratic, GAUSSIAN),
    "eight classes": (lambda: classification(classes=8), GAUSSIAN),
    "wide": (lambda: regression(n=20, d=30), LINEAR),
    "strange names": (strange, LINEAR),
    "booleans": (lambda: Table.of(labels()[0], labels()[1] == "a"), GAUSSIAN),
}


@pytest.mark.drawn
@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_reports_are_whole_and_self_contained(name: str) -> None:
    table, systems = TABLES[name]
    found = compare_table(table(), systems=systems)
    page = report.render(found)
    parts = read(page)
    assert found.recommended is not None
    assert found.recommendation.headline in parts.text
    assert (f"Use {found.recommended.label}" in parts.text) == found.recommendation.useful == (name != "wide")
    assert found.recommendation.text in parts.text
    assert found.data.target in parts.text
    headings = "All systems, Coefficients, Residuals and errors, The data, The certificate, How to reproduce"
    for text in (*headings.split(", "), *(result.label for result in found.results)):
        assert text in parts.text
    assert "more classes are not shown" not in parts.text
    images = [attributes for tag, attributes in parts.tags if tag == "img"]
    assert len(images) >= 2
    alts = " ".join(image["alt"] or "" for image in images)
    assert ("Decision regions" in alts) == (name in ("two columns", "quadratic"))
    assert ("fitted line" in alts) == (name == "one column")
    assert ("Confusion" in alts) == (found.task == "classification")
    assert ("probability" in alts) == (found.recommended.probability is not None)
    for image in images:
        assert image["alt"]
        kind, _, data = (image["src"] or "").partition("base64,")
        assert kind == "data:image/svg+xml;"
        ElementTree.fromstring(base64.b64decode(data))
    assert not {tag for tag, _ in parts.tags} & {"script", "b", "i", "iframe"}
    assert not re.search(r'(src|href)="(?!data:)|url\(', page)
    if name == "strange names":
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert "The 25 strongest; 35 more are not shown" in page
        assert "of 1,000,000" in page
    assert not re.search(r"\b(nan|inf)\b", parts.text)


def test_a_failed_comparison_has_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*args: object, **kwargs: object) -> None:
        raise ValueError("out of <luck>")

    monkeypatch.setattr(Ridge, "fit", fit)
    text = read(report.render(compare_table(regression(), systems=["Ridge"]))).text
    assert "No recommendation" in text
    assert "failed: out of <luck>" in text


@pytest.mark.slow
def test_a_report_of_models_that_know_fewer_classes_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for system in (Perceptron, KeslerPerceptron):
        monkeypatch.setattr(system, "compared_visits", 4 * 60)
    X = np.random.default_rng(0).normal(size=(1000, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    y[:2] = "c"
    found = compare_table(Table.of(X, y), systems=["Perceptron", "KeslerPerceptron"])
    assert [one.model.classes_.tolist() for one in found.results] == [["a", "b"]] * 2
    assert "Decision regions" in report.render(found)
    for own in changes(found.results[0], found.data, found.task, steps(found.data)):
        assert {change.side: change.estimate for change in own}["c"] == 0.0


def test_columns_in_which_no_step_can_be_taken_have_none() -> None:
    X = np.column_stack([np.full(5, 0.1), 1e-200 * np.arange(5.0), np.arange(5.0), 1e200 * np.arange(5.0)])
    assert [step.column for step in steps(Table.of(X, np.arange(5.0)))] == [2]


def test_a_report_is_replaced_only_by_a_whole_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, path = compare_table(bundled("longley"), systems=["LinearRegression"]), tmp_path / "report.html"
    path.write_text("before")
    monkeypatch.setattr(report.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        report.write_report(found, path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "before"
    monkeypatch.undo()
    assert report.write_report(found, path) == path
    assert "Employed" in path.read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.night
def test_the_demo_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    demo.main()
    out = capsys.readouterr().out
    assert "LinearRegression" in out
    assert "certificate claims" in out
    assert (tmp_path / "report.html").stat().st_size > 10_000


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
    effect = strengths(logistic.model, found.data.X, found.data.names, logistic.fold_models)[1]
    assert effect.std_error == pytest.approx(logistic.model.summary().to_dict()["coefficients"][1]["std_error"])


def test_a_step_changes_a_linear_prediction_by_its_coefficient() -> None:
    table = bundled("penguins", "body_mass_g")
    found = compare_table(table, systems=["LinearRegression", "LMS"])
    sizes = ["5 mm more bill_length_mm", "1 mm more bill_depth_mm", "10 mm more flipper_length_mm"]
    assert [step.text for step in steps(table)] == sizes
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
    page = text_of(report.render(found))
    assert f"+{10 * slope:.0f} g" in page
    assert f"The runner-up, {next(one.label for one in found.results if one is not found.recommended)}" in page


def test_a_change_of_rounding_is_none() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    table = Table.of(np.column_stack([9.0 * y + rng.normal(size=100), rng.normal(size=100)]), y, names=["far", "no"])
    found = compare_table(table, systems=["GaussianClassifier"], task="classification")
    own = changes(found.results[0], found.data, found.task, steps(found.data))
    assert [(one.estimate, one.lower, one.upper, one.known) for one in own[1]] == [(0.0, 0.0, 0.0, False)] * 2
    assert "e−" not in text_of(report.render(found))


@pytest.mark.parametrize(
    ("task", "change", "shown"),
    [
        ("regression", (185.4, 124.2, 246.0), ("+185 g", "124 to 246")),
        ("regression", (-0.01234, -0.02, 0.001), ("−0.0123 g", "−0.0200 to 0.0010")),
        ("regression", (2e9, 1e9, 3e9), ("+2e+09 g", "1e+09 to 3e+09")),
        ("classification", (0.5, np.nan, np.nan), ("+50.0 points", "")),
    ],
)
def test_changes_are_shown_with_three_digits(task: str, change: tuple[float, ...], shown: tuple[str, str]) -> None:
    found = SimpleNamespace(task=task, data=SimpleNamespace(target="mass (g)"))
    given = SimpleNamespace(**dict(zip(("estimate", "lower", "upper"), change, strict=True)))
    assert report._said(found, given) == shown  # type: ignore[arg-type]


def test_a_condition_of_all_rows_is_one_of_each() -> None:
    for bad in (0, 1, 9_999):
        x = np.ones(10_000)
        assert _all_rows(np.isfinite, x)
        x[bad] = np.nan
        assert not _all_rows(np.isfinite, x)


def test_levels_are_compared_with_the_one_left_out() -> None:
    X = np.column_stack([np.arange(30) % 3 == 1, np.arange(30) % 3 == 2, np.arange(30) % 2]).astype(float)
    column = {"name": "port", "kind": "category", "levels": [["Kiel", 10], ["Hull", 10], ["Oslo", 10]]}
    plain = Table.of(X, np.arange(30.0), names=["port[T.Kiel]", "port[T.Oslo]", "open"])
    table = replace(plain, origin=("port", "port", "open"), columns=[column])
    told = ["port Kiel rather than Hull", "port Oslo rather than Hull", "open 1 rather than 0"]
    assert [step.text for step in steps(table)] == told
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
    table, systems = (regression(), LINEAR[:2]) if kind == "regression" else (classification(classes=3), GAUSSIAN)
    X, names = np.column_stack([table.X, np.ones(len(table.X))]), (*table.names, "one")
    text = text_of(report.render(compare_table(replace(table, X=X, names=names, origin=names), systems=systems)))
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
    shapes = [bar[0].get_marker() for bar in plots.comparison(found).containers]
    assert shapes.count("D") == 1


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


RESIDUALS = Drawing(plots.residuals, ([1.0, 2.0], [1.5, 1.5]), {})


@pytest.mark.drawn
def test_the_process_draws_what_is_drawn_here_and_imports_nothing_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = RESIDUALS.svg()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "colorsys.py").write_text("open('executed', 'w')")
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(Drawing, "svg", lambda self: "drawn here")
            assert process.finish() == [expected]
    assert not (tmp_path / "executed").exists()


@pytest.mark.drawn
def test_pictures_are_drawn_here_where_the_process_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "__name__", "no such module")
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]
    monkeypatch.undo()
    (tmp_path / "sitecustomize.py").write_text("print('Information: 3 licences', flush=True)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with DrawingProcess() as process:  # which prints what is no part of its answer
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]
    with DrawingProcess() as process:
        process.start([Drawing(lambda: plots.quantiles([-1.0, 0.0, 1.0]), (), {})])  # which cannot be sent
        assert process.finish()[0].startswith("<svg")


def test_the_report_says_what_is_proved_of_the_coefficients() -> None:
    said = "It is proved that every coefficient lies between bounds at most"
    found = compare("penguins", target="sex", systems=["LogisticRegression"])
    assert said in report.render(found)
    assert said not in report.render(compare("penguins", target="sex", systems=["Perceptron"]))
