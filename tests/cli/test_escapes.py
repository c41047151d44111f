"""Names that hold control characters: nothing that is printed lets them reach a terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import adaline
from adaline.cli.exit import check_output
from adaline.cli.predict import text_writer
from adaline.serve.security import read_tokens
from adaline.wording import visible
from tests.cli.command_line import Shell

RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FORGED = re.compile("^forged", re.MULTILINE)  # what follows a line break in the name of a file
RED, TURN, C1 = "\x1b[31mred", "turn\u202eed", "c1\x9b2J"


def frame(n: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    level = np.array([f"a{RED}", f"b{TURN}"])[rng.integers(2, size=n)]
    label = np.array([f"no{C1}", f"yes{RED}"])[(x[:, 0] + rng.normal(size=n) > 0).astype(int)]
    columns = {RED: x[:, 0], TURN: x[:, 1], "level": level, "same\x07": np.ones(n)}
    return pd.DataFrame({**columns, f"y{C1}": x @ [1.0, 2.0] + rng.normal(size=n), "kind": label})


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows\x1b[2J\nforged: line.csv"
    frame().to_csv(path, index=False)
    return path


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_commands_print_no_control_characters(data: Path, more: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    target = f"y{C1}"
    model, report = "m\x1b[0m\nforged.adaline", "r\x1b[0m\nforged.html"
    for words in (
        ["fit", data, "-t", target, "--drop", "kind", "-o", model],
        ["summary", model],
        ["fit", data, "-t", "kind", "-s", "LogisticRegression"],
        ["compare", data, "-t", target, "--systems", "LinearRegression", "-o", report],
        ["select", data, "-t", target, "-s", "Ridge", "-p", "penalty=0.1,1", "-o", model + "2"],
        ["separable", data, "-t", "kind", "--features", f"{RED},{TURN}"],
        ["update", model, data],
        ["predict", model, data, "-o", "p\x1b[0m\nforged.csv"],
    ):
        done = Shell(capfd).good(*words, *more)
        assert not RAW.search(done.out + done.err), words
        assert not FORGED.search(done.out + done.err), words
        assert "\\x1b[" in done.out or "\\u001b[" in done.out, words
    assert not RAW.search(Path(report).read_text(encoding="utf-8"))


def test_messages_of_failures_print_no_control_characters(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["fit", data, "-t", "nothing\x1b[31m"],
        ["fit", data, "-t", "kind", "-s", "syst\x1b[31mem"],
        ["fit", "missing\x1b[31m\nforged.csv", "-t", "y"],
        ["predict", data, data],
        ["serve", data],
        ["summary", "missing\x1b[31m.adaline"],
        ["compare", data, "--tusk\x1b[31m", "y"],
        ["fit", data, "-t", "kind", "--debug", "-s", "syst\x1b[31mem"],
    ):
        done = Shell(capfd)(*words)
        assert done.code == 2
        assert not RAW.search(done.out + done.err), words
        assert not FORGED.search(done.out + done.err), words


def test_what_python_prints_holds_no_control_characters() -> None:
    rows = frame()
    y, x = rows.pop(f"y{C1}"), rows.drop(columns="kind")
    numbers = x.drop(columns="level")
    logistic = adaline.LogisticRegression().fit(numbers, rows["kind"])
    linear = adaline.LinearRegression().fit(x, y)
    found = adaline.compare(x.assign(target=y), "target", systems=["LinearRegression"])
    shown = [linear.summary(), linear.certificate_, linear.test([RED]), logistic.summary(), logistic.test([RED])]
    shown += [adaline.RobustRegression().fit(x, y).summary(), found, *found.findings]
    shown += [adaline.select([adaline.LinearRegression(), adaline.Ridge()], x, y)]
    for one in shown:
        assert not RAW.search(str(one)), str(one)
        if hasattr(one, "_repr_html_"):
            assert not RAW.search(one._repr_html_())
    assert "\\x1b[31mred" in str(linear.summary())
    assert "\\x1b[31mred" in linear.summary()._repr_html_()


def test_predictions_are_data_in_a_file_and_text_in_a_terminal() -> None:
    table, texts = pa.table({RED: ["=1+1", C1]}), []
    for shown in (str, visible):
        file = io.BytesIO()
        text_writer(file, shown=shown)(table)
        texts.append(file.getvalue().decode())
    assert texts[0] == f"{RED}\n=1+1\n{C1}\n"
    assert texts[1] == "\\x1b[31mred\n=1+1\nc1\\x9b2J\n"


def test_errors_have_the_name_of_a_file_on_one_line(data: Path) -> None:
    Path("empty\nforged.csv").touch()
    Path("folder\nforged.adaline").mkdir()
    Path("tokens\nforged").write_text("words\n")
    for read in (
        lambda: adaline.load(data),
        lambda: adaline.load("none\nforged.adaline"),
        lambda: adaline.open_table("none\nforged.csv", target="y"),
        lambda: adaline.open_table("empty\nforged.csv", target="y"),
        lambda: adaline.open_table(str(data), target="none"),
        lambda: check_output(Path("folder\nforged.adaline")),
        lambda: check_output(Path("none\nforged/model.adaline")),
        lambda: read_tokens("tokens\nforged"),
    ):
        with pytest.raises(adaline.AdalineError, match=r"\\nforged"):
            read()
