"""Models side by side, coefficients as frames, effects of coefficients, and whether probabilities hold."""

from __future__ import annotations

from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier

from adaline import (
    GaussianClassifier,
    GeneralizedLinear,
    KMeans,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    RobustRegression,
    datasets,
    effects,
    regression_table,
)
from adaline.basis import Polynomial
from adaline.errors import InvalidParameter
from adaline.inference.strengths import strengths, strongest
from adaline.selection.probabilities import reliability
from adaline.systems import SYSTEMS
from tests.comparison.examples import labels
from tests.plots.drawn import LINEAR, NAMES, X, Y

DATA = datasets.load("penguins", target="body_mass_g")
BIRDS = pd.DataFrame(DATA.X, columns=["a_b", "c|d", "e&<"])


@cache
def models() -> list[Any]:
    linear = LinearRegression().fit(BIRDS, DATA.y)
    return [
        LinearRegression().fit(BIRDS[["e&<"]], DATA.y),
        linear.summary(errors="HC3", X=BIRDS, y=DATA.y),
        RobustRegression().fit(BIRDS, DATA.y),
        LogisticRegression().fit(BIRDS, np.digitize(DATA.y, [3500, 4500])),
    ]


@pytest.mark.parametrize("below", ["std_error", "statistic", "p_value", "interval"])
def test_every_format_has_every_coefficient(below: str) -> None:
    table = regression_table(*models(), stars=True, below=below)
    assert len(table.headings) == 5  # softmax has a column for each class but the first
    text, markdown, latex, html = table.to_text(), table.to_markdown(), table.to_latex(), table.to_html()
    assert text == str(table) == repr(table)
    assert html == table._repr_html_()
    first = f"{models()[1].to_dict()['coefficients'][0]['estimate']:.4g}"
    for form, name, stars in ((text, "c|d", "***"), (latex, "a\\_b", "***"), (html, "e&amp;&lt;", "***")):
        assert name in form
        assert f"{first}{stars}" in form
    assert "c\\|d" in markdown
    assert f"{first}\\*\\*\\*" in markdown
    assert len({line.count(" | ") for line in markdown.splitlines() if line.startswith("|")}) == 1
    assert len({line.count("&") - line.count("\\&") for line in latex.splitlines() if line.endswith("\\\\")} - {0}) == 1
    assert "333" in text
    assert table.to_dict()["quality"][0]["rows"] == 333


def test_errors_are_named_where_some_are_not_classical() -> None:
    plain, robust, *_ = models()
    table = regression_table(plain, robust)
    told = [line.split()[2:] for line in table.to_text().splitlines() if line.startswith("std errors")]
    assert told == [["classical", "HC3"]]
    assert table.to_dict()["errors"] == ["classical", "HC3"]
    assert table.to_latex().index("std errors") > table.to_latex().rindex("midrule")
    assert "std errors" not in regression_table(plain).to_text()


def test_frames_have_one_row_a_coefficient() -> None:
    linear, _, robust, softmax = models()
    for model, rows in ((linear, 2), (robust, 4), (softmax, 8)):
        told, frame = model.summary().to_dict()["coefficients"], model.summary().to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) == rows
        assert all(frame[name].to_list() == [row[name] for row in told] for name in told[0])
        assert isinstance(model.summary().to_frame("polars"), pl.DataFrame)
    assert len(regression_table(linear, robust).to_frame("pyarrow")) == 6
    with pytest.warns(UserWarning, match="combination"):
        model = LinearRegression().fit(np.column_stack([DATA.X, DATA.X[:, 0]]), DATA.y)
    assert "left out" in regression_table(model).to_text()
    last = next(line for line in str(model.summary()).splitlines() if line.split()[:1] == ["x3"])
    assert last.split() == ["x3", "left", "out", *["-"] * 5]
    assert len(model.summary().to_frame("polars")) == 5


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((), {}, "at least one"),
        ((KMeans(n_clusters=2).fit(DATA.X),), {}, "have a summary"),
        (("linear",), {}, "have a summary"),
        (None, {"names": ["a", "b"]}, "one heading for each of 1"),
        (None, {"names": "a"}, "one heading for each of 1"),
        (None, {"below": "stars"}, "below must be one of"),
        (None, {"digits": 0}, "digits must be"),
        (None, {"stars": "yes"}, "stars must be"),
    ],
)
def test_bad_arguments(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        regression_table(*(models()[:1] if given is None else given), **options)
    with pytest.raises(InvalidParameter, match="backend must be"):
        models()[0].summary().to_frame("sql")


@pytest.mark.parametrize("name", [name for name, kind in SYSTEMS.items() if hasattr(kind, "summary")])
def test_every_system_with_a_summary_is_told_in_one_way(name: str) -> None:
    kind, y = SYSTEMS[name], DATA.y / DATA.y.std()
    model = kind().fit(BIRDS, np.digitize(y, [4.5, 5.5]) if is_classifier(kind()) else y)
    table = model.summary()
    names = [row["name"] for row in table.to_dict()["coefficients"]]
    assert names == table.to_frame()["name"].to_list()
    assert {row["name"] for row in regression_table(model).rows} == set(names)
    assert len(effects(model, BIRDS).rows) % 3 == 0
    assert {"level", "distribution"} <= set(signature(kind.summary).parameters)
    assert {"hypothesis", "value", "errors", "distribution"} <= set(signature(kind.test).parameters)


# Strengths: coefficients times the spread of their columns.


def test_strengths_depend_on_no_units_and_are_those_of_the_columns_of_a_basis() -> None:
    scale, phi = np.array([1e3, 1e-3, 1.0, 7.0]), Polynomial(degree=2)
    columns, names = phi.fit_transform(X), phi.get_feature_names_out(NAMES).tolist()
    for kind, y in ((LinearRegression, Y), (LeastSquaresClassifier, np.where(Y > Y.mean(), "p", "q"))):
        one, two = (strengths(kind().fit(x, y), x, NAMES) for x in (X, X * scale))
        np.testing.assert_allclose([e.strength for e in one], [e.strength for e in two], rtol=1e-9)
    for kind, y in ((LinearRegression, Y), (GaussianClassifier, np.median(Y) < Y)):
        assert strengths(kind(basis=phi).fit(X, y), X, NAMES) == strengths(kind().fit(columns, y), columns, names)


def test_strengths_are_those_of_the_summary_and_sum_to_zero_over_classes() -> None:
    rows = LINEAR.summary().to_dict()["coefficients"]
    assert [e.upper for e in strengths(LINEAR, X, NAMES)] == [row["upper"] for row in rows]
    three, kinds = labels(classes=3)
    by_class = strengths(GaussianClassifier().fit(three, kinds), three, NAMES[:3])
    assert len(by_class) == 9
    assert abs(sum(e.estimate for e in by_class if e.name == "a")) < 1e-12
    assert strengths(GaussianClassifier(covariance="full").fit(three, kinds), three, NAMES) == []
    names, left = strongest(by_class, 2)
    assert (len(names), left) == (2, 1)
    for y in (kinds, kinds == kinds[0]):  # thresholds of ordered classes are none
        model = OrdinalRegression(penalty=1.0).fit(three, y)
        slopes = [(row["name"], row["estimate"], row["std_error"]) for row in model.summary().to_dict()["coefficients"]]
        found = [(e.name, e.estimate, e.std_error) for e in strengths(model, three, [row[0] for row in slopes[:3]])]
        assert found == slopes[:3]


def test_a_column_may_be_called_intercept() -> None:
    for has in (False, True):
        model = LinearRegression(fit_intercept=has).fit(pd.DataFrame({"intercept": X[:, 0]}), Y)
        found = strengths(model, X[:, :1], ["intercept"])
        assert [e.spread > 0 for e in found] == [False, True][1 - has :]


def test_true_probabilities_are_found_reliable_and_wrong_ones_are_not() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20_000)
    happened = rng.uniform(size=20_000) < p
    true, bold = reliability(p, happened), reliability(np.where(p > 0.5, 0.99, 0.01), happened)
    assert ((true.lower <= true.probability) & (true.probability <= true.upper)).sum() >= 8
    assert not ((bold.lower <= bold.probability) & (bold.probability <= bold.upper)).any()


@pytest.mark.parametrize(
    ("loss", "link", "word"),
    [
        ("poisson", "log", "rate"),
        ("negative_binomial", "log", "rate"),
        ("gamma", "log", "mean"),
        ("binomial", "logit", "odds"),
        ("binomial", "log", "risk"),
        ("binomial", "probit", None),
        ("poisson", "sqrt", None),
    ],
)
def test_coefficients_under_a_log_or_logit_are_ratios_too(loss: Any, link: Any, word: str | None) -> None:
    rows = pd.read_csv(Path(__file__).parents[1] / "data" / "glm" / "rows.csv")
    y = {"gamma": rows.amount, "binomial": rows[["yes", "no"]]}.get(loss, rows["count"])
    table = GeneralizedLinear(loss, link=link).fit(rows[["x1", "x2"]], y).summary()
    for row in table.to_dict()["coefficients"]:
        ratios = {name: value for name, value in row.items() if name.startswith(f"{word}_")}
        ends = {f"{word}_ratio": "estimate", f"{word}_lower": "lower", f"{word}_upper": "upper"} if word else {}
        assert ratios == {name: pytest.approx(np.exp(row[of])) for name, of in ends.items()}
    assert (f"{word} ratio" in str(table)) == (word is not None)
    assert (f"{word}_ratio" in table.to_frame()) == (word is not None)
    assert ("ratio" in table._repr_html_()) == (word is not None)
