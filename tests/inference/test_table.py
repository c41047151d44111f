"""Models side by side, and coefficients as frames."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier

from adaline import KMeans, LinearRegression, LogisticRegression, RobustRegression, datasets, effects, regression_table
from adaline.errors import InvalidParameter
from adaline.systems import SYSTEMS

DATA = datasets.load("penguins", target="body_mass_g")
X = pd.DataFrame(DATA.X, columns=["a_b", "c|d", "e&<"])


def models() -> list[Any]:
    linear = LinearRegression().fit(X, DATA.y)
    return [
        LinearRegression().fit(X[["e&<"]], DATA.y),
        linear.summary(errors="HC3", X=X, y=DATA.y),
        RobustRegression().fit(X, DATA.y),
        LogisticRegression().fit(X, np.digitize(DATA.y, [3500, 4500])),
    ]


@pytest.mark.parametrize("below", ["std_error", "statistic", "p_value", "interval"])
def test_every_format_has_every_coefficient(below: str) -> None:
    table = regression_table(*models(), stars=True, below=below)
    assert len(table.headings) == 5  # softmax has a column for each class but the first
    text, markdown, latex, html = table.to_text(), table.to_markdown(), table.to_latex(), table.to_html()
    assert text == str(table) == repr(table)
    assert html == table._repr_html_()
    assert "c\\|d" in markdown
    assert "a\\_b" in latex
    assert "e&amp;&lt;" in html
    first = f"{models()[1].to_dict()['coefficients'][0]['estimate']:.4g}"
    for form in (text, latex, html):
        assert f"{first}***" in form
    assert f"{first}\\*\\*\\*" in markdown
    assert len({line.count(" | ") for line in markdown.splitlines() if line.startswith("|")}) == 1
    assert len({line.count("&") - line.count("\\&") for line in latex.splitlines() if line.endswith("\\\\")} - {0}) == 1
    assert "333" in text
    assert table.to_dict()["quality"][0]["rows"] == 333


def test_errors_are_named_where_some_are_not_classical() -> None:
    plain, robust, *_ = models()
    table = regression_table(plain, robust)
    told = [line for line in table.to_text().splitlines() if line.startswith("std errors")]
    assert [line.split()[2:] for line in told] == [["classical", "HC3"]]
    assert table.to_dict()["errors"] == ["classical", "HC3"]
    assert table.to_latex().index("std errors") > table.to_latex().rindex("midrule")
    assert "std errors" not in regression_table(plain).to_text()


def test_frames_have_one_row_a_coefficient() -> None:
    linear, _, robust, softmax = models()
    for model, rows in ((linear, 2), (robust, 4), (softmax, 8)):
        told = model.summary().to_dict()["coefficients"]
        frame = model.summary().to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) == rows
        for name in told[0]:
            assert frame[name].to_list() == [row[name] for row in told]
        assert isinstance(model.summary().to_frame("polars"), pl.DataFrame)
    assert len(regression_table(linear, robust).to_frame("pyarrow")) == 6


def test_a_column_left_out_is_said_to_be() -> None:
    with pytest.warns(UserWarning, match="combination"):
        model = LinearRegression().fit(np.column_stack([DATA.X, DATA.X[:, 0]]), DATA.y)
    assert "left out" in regression_table(model).to_text()
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
    models = (LinearRegression().fit(DATA.X, DATA.y),) if given is None else given
    with pytest.raises(InvalidParameter, match=message):
        regression_table(*models, **options)
    with pytest.raises(InvalidParameter, match="backend must be"):
        LinearRegression().fit(DATA.X, DATA.y).summary().to_frame("sql")


@pytest.mark.parametrize("name", [name for name, kind in SYSTEMS.items() if hasattr(kind, "summary")])
def test_every_system_with_a_summary_is_told_in_one_way(name: str) -> None:
    kind = SYSTEMS[name]
    y = DATA.y / DATA.y.std()
    model = kind().fit(X, np.digitize(y, [4.5, 5.5]) if is_classifier(kind()) else y)
    table = model.summary()
    rows = table.to_dict()["coefficients"]
    assert [row["name"] for row in rows] == table.to_frame()["name"].to_list()
    told = regression_table(model)
    assert {row["name"] for row in told.rows} == {row["name"] for row in rows}
    assert len(effects(model, X).rows) % 3 == 0
    assert {"level", "distribution"} <= set(signature(kind.summary).parameters)
    assert {"hypothesis", "value", "errors", "distribution"} <= set(signature(kind.test).parameters)
