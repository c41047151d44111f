"""Lectures re-played, questions answered: every example asserts what it claims, and its figure can be read."""

from __future__ import annotations

import importlib
import io
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

EXAMPLES = Path(__file__).parents[2] / "examples"
LECTURES, TASKS = sorted(EXAMPLES.glob("s[0-9]_*.py")), sorted(EXAMPLES.glob("task_*.py"))


@pytest.mark.parametrize("script", [*LECTURES, *TASKS], ids=lambda script: script.stem)
@pytest.mark.filterwarnings("error", "ignore:.*deprecated:DeprecationWarning:(matplotlib|pyparsing)")  # their own
def test_example(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(script.stem)
    figure = module.main()
    assert isinstance(figure, Figure)
    answers = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Answer: ")]
    assert [line.endswith(".") for line in answers] == [True] * (script in TASKS), (
        "a question has one answer, a sentence"
    )
    panels = {ax.get_subplotspec(): ax for ax in reversed(figure.axes) if ax.get_label() != "<colorbar>"}
    assert panels
    for ax in panels.values():  # of two axes on one panel, a scale on either side, the first
        assert ax.get_title() + ax.get_title("left"), "the title states the finding"
        assert ax.get_xlabel()
        assert ax.get_ylabel()
    image = io.BytesIO()
    figure.savefig(image, format="png")
    assert image.getvalue().startswith(b"\x89PNG")


def test_form() -> None:
    """A claim or a question in a line, equations or a CSV file, assertions that can fail, a picture when it is run."""
    assert LECTURES
    assert len(TASKS) >= 10
    for script in (*LECTURES, *TASKS):
        text = script.read_text(encoding="utf-8")
        line, _, prose = (importlib.import_module(script.stem).__doc__ or "").partition("\n\n")
        assert "\n" not in line, script
        assert "    assert " in text, script
        assert "    show(main, __doc__, __file__)\n" in text, script
        if script in LECTURES:
            assert line.endswith("."), "the claim is one sentence"
            assert re.search(r"\bS[0-4]\b", prose), "which lecture says so"
            assert prose.count("$$") >= 2, "its equation"
        else:
            assert line.endswith("?"), script
            assert len(prose.split()) > 20, script
            assert "CSV = datasets.path(" in text or ".csv" in text


def test_run_by_hand_it_says_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    show = importlib.import_module("drawing").show
    show(lambda: Figure(), "Rain is wet.\n\nMore about it.", "/somewhere/s9_rain.py")
    assert capsys.readouterr().out == "Rain is wet. See s9_rain.png\n"
    assert (tmp_path / "s9_rain.png").exists()
