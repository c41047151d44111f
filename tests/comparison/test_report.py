"""The report: one whole file, every name escaped, whatever was compared."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from adaline import KeslerPerceptron, Perceptron, Ridge
from adaline.cli import demo
from adaline.comparison import report
from adaline.comparison.changes import changes, steps
from adaline.comparison.compare import compare_table
from adaline.comparison.table import Table
from tests.comparison.examples import bundled, classification, compared, labels, numbers, regression

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


TABLES = {
    "regression": lambda: compare_table(replace(regression(), command="adaline compare data.csv --target y")),
    "one column": lambda: compared(bundled, name="norris"),
    "two classes": lambda: compared(classification),
    "three classes": lambda: compared(bundled, name="penguins"),
    "two columns": lambda: compare_table(bundled("penguins", columns=[0, 1])),
    "quadratic": lambda: compare_table(quadratic()),
    "eight classes": lambda: compared(classification, classes=8),
    "wide": lambda: compared(regression, n=20, d=30),
    "strange names": lambda: compare_table(strange(), systems=["LinearRegression", "Ridge", "LMS"]),
    "booleans": lambda: compare_table(Table.of(labels()[0], labels()[1] == "a")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_reports_are_whole_and_self_contained(name: str) -> None:
    found = TABLES[name]()
    page = report.render(found)
    parts = read(page)
    assert found.recommended is not None
    assert found.recommendation.headline in parts.text
    assert (f"Use {found.recommended.label}" in parts.text) == found.recommendation.useful == (name != "wide")
    assert found.recommendation.text in parts.text
    assert found.data.target in parts.text
    for heading in (
        "All systems",
        "Coefficients",
        "Residuals and errors",
        "The data",
        "The certificate",
        "How to reproduce",
    ):
        assert heading in parts.text
    for result in found.results:
        assert result.label in parts.text
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


@pytest.mark.slow
def test_the_demo_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    demo.main()
    out = capsys.readouterr().out
    assert "LinearRegression" in out
    assert "certificate claims" in out
    assert (tmp_path / "report.html").stat().st_size > 10_000
