"""What the README shows is what runs: every block in order, every command, and what they print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, datasets, plots
from tests.cli.command_line import Shell

README = Path(__file__).parents[1] / "README.md"


def test_the_readme_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    shown = re.search(r"prints\n\n```\n(.*?)```", text, re.DOTALL)
    assert shown is not None
    assert len(blocks) >= 4
    rng = np.random.default_rng(0)
    X, X_other, X_new = (rng.normal(size=(n, 5)) for n in (200, 50, 10))
    y, y_other = X @ np.arange(5.0) + rng.normal(size=200), X_other @ np.arange(5.0) + rng.normal(size=50)
    x = rng.normal(size=2000)
    names: dict[str, Any] = {
        "X": X,
        "y": y,
        "parts": [(X[:120], y[:120]), (X[120:], y[120:])],
        "X_other": X_other,
        "y_other": y_other,
        "X_new": X_new,
        "small": LinearRegression().fit(X[:, :3], y),
        "w": rng.uniform(0.5, 2.0, size=200),
        "counts": rng.poisson(np.exp(0.3 * X[:, 0])),
        "x": x,
        "d": np.convolve(x, [0.5, -0.2, 0.1])[:2000],
    }
    printed = []
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block, "README.md", "exec"), names)
        printed.append(out.getvalue())
    assert printed[0] == "0.8768\n"
    until_certificate = [part.partition("certificate:")[0] for part in (printed[1], shown.group(1))]
    assert until_certificate[0] == until_certificate[1]
    for block, out in zip(blocks[2:], printed[2:], strict=True):
        assert out.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE)


def test_the_commands_print_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = README.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shutil.copy(datasets.path("penguins"), "penguins.csv")
    steps = re.findall(r"^\$ adaline (.*)\n((?:(?!\$ |```).*\n)*)", text, re.MULTILINE)
    assert len(steps) == 4
    for command, shown in steps:
        done = Shell(capsys).good(*shlex.split(command))
        assert without_times(done.out) == without_times(shown)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert len((tmp_path / "predicted.csv").read_text(encoding="utf-8").splitlines()) == 334


def without_times(text: str) -> list[str]:
    """Return the lines of a text but for seconds, and for the last digits that vary from machine to machine."""
    text = re.sub(r"gradient \S+ gap \S+ ", "", re.sub(r"[\d.e-]+ s\b", "s", text))
    return [re.sub(r"\s+", " ", re.sub("─+", "─", line)).strip() for line in text.strip().splitlines()]


def test_the_plots_are_as_many_as_the_readme_says() -> None:
    drawing = [name for name in plots.__all__ if name != "svg" and "ax" in signature(getattr(plots, name)).parameters]
    told = re.search(r"every plot takes ax= and returns it; (\d+) of them", README.read_text(encoding="utf-8"))
    assert told is not None
    assert int(told[1]) == len(drawing)
