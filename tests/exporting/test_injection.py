"""No name of a column, level or label becomes code: SQL by another parser, ONNX, and model cards."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import pytest

from adaline import KMeans, LogisticRegression, card
from adaline.exporting import export, expression
from adaline.exporting.dialects import SQLDialect
from adaline.exporting.graph import by_dependence
from adaline.exporting.program import WHITE, inputs_of
from tests.exporting.agreement import far
from tests.exporting.servers import has_server, run_onnx
from tests.exporting.test_engines import EVIL, TABLES, of_a_table

TABLE = "zoo.it's\" `; --"
MARKUP = ['"><img src=x onerror=alert(1)>', "</title><script>alert(1)</script>", "[a](javascript:alert(1))", "<b>&amp;"]


@pytest.mark.parametrize("dialect", get_args(SQLDialect))
@pytest.mark.parametrize("name", sorted(TABLES, key="evil names".__ne__))
def test_a_parser_finds_one_select_of_what_the_model_names(name: str, dialect: SQLDialect) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    model, groups = of_a_table(name).model, expression(of_a_table(name).model)
    (found,) = sqlglot.parse(export(model, to="sql", dialect=dialect, table=TABLE, keep=EVIL[:3]), dialect=dialect)
    assert isinstance(found, sqlglot.exp.Select)
    assert not list(found.find_all(sqlglot.exp.Command, sqlglot.exp.DDL, sqlglot.exp.DML, sqlglot.exp.Placeholder))
    assert {one.name for one in found.find_all(sqlglot.exp.Table) if not one.name.startswith("layer")} == {TABLE[4:]}
    columns = {one.name for one in inputs_of(groups)} | set(EVIL[:3])
    read = {one.name for one in found.find_all(sqlglot.exp.Column)}
    assert columns <= read
    assert all(name in columns or re.fullmatch(r"[xt]\d*_\d+", name) for name in read)
    nodes = by_dependence([one for group in groups.outputs.values() for one in group.values()])
    texts = {one for node in nodes if node.name in ("level", "label") for one in node.value if isinstance(one, str)}
    literals = {one.name for one in found.find_all(sqlglot.exp.Literal) if one.is_string}
    known = texts | {WHITE, "inf", "nan", "Infinity", "NaN", "integer", "real", "-Infinity"}
    assert {one for one in literals if one.strip(WHITE)} - known == set()


def test_graphs_of_evil_names_predict_the_same(tmp_path: Path) -> None:
    if not has_server("onnx"):
        pytest.skip("onnxruntime is not installed")
    given = of_a_table("evil names")
    assert not far(run_onnx(given.model, given.rows, tmp_path), given)


class Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.shown = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.shown += data


@pytest.mark.parametrize("make", [lambda: LogisticRegression(penalty=1.0), lambda: KMeans(2)])
def test_cards_show_names_as_they_are(make: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({name: [1.0, 2.0, 3.0, 5.0, 7.0, k] for k, name in enumerate(MARKUP)})
    frame["kind"] = [*MARKUP, *MARKUP[:2]]
    target = () if make().__class__ is KMeans else ([*MARKUP[:2]] * 3,)
    frame = frame.drop(columns="kind") if make().__class__ is KMeans else frame
    page = Tags()
    page.feed(card(make().fit(frame, *target), tmp_path / "card.html"))
    known = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "thead", "tbody", "tr", "th"}
    assert page.tags <= known | {"td", "ul", "li", "pre"}
    assert page.attributes <= {"lang", "charset", "class", "scope", "style"}
    assert all(one in page.shown for one in MARKUP)
