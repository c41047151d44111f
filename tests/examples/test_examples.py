"""The lectures re-played: every example upholds its claim by its own assertions, and its figure can be read."""

from __future__ import annotations

import importlib
import io
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

SCRIPTS = sorted((Path(__file__).parents[2] / "examples").glob("s[0-9]_*.py"))


def test_there_are_examples() -> None:
    assert SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
@pytest.mark.filterwarnings("error", "ignore:.*deprecated:DeprecationWarning:(matplotlib|pyparsing)")  # their own
def test_example(script: Path) -> None:
    module = importlib.import_module(script.stem)
    figure = module.main()
    assert isinstance(figure, Figure)
    panels = {ax.get_subplotspec(): ax for ax in reversed(figure.axes) if ax.get_label() != "<colorbar>"}
    assert panels
    for ax in panels.values():  # of two axes on one panel, a scale on either side, the first
        assert ax.get_title() + ax.get_title("left"), "the title states the finding"
        assert ax.get_xlabel()
        assert ax.get_ylabel()
    image = io.BytesIO()
    figure.savefig(image, format="png")
    assert image.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_form(script: Path) -> None:
    """A claim in a line, its equations, assertions that can fail, and a picture beside the script when run."""
    text = script.read_text(encoding="utf-8")
    claim, _, prose = (importlib.import_module(script.stem).__doc__ or "").partition("\n\n")
    assert claim.endswith("."), "the claim is one sentence"
    assert "\n" not in claim
    assert re.search(r"\bS[0-4]\b", prose), "which lecture says so"
    assert prose.count("$$") >= 2, "its equation"
    assert "    assert " in text
    assert "    show(main, __doc__, __file__)\n" in text


def test_run_by_hand_it_says_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    show = importlib.import_module("drawing").show
    show(lambda: Figure(), "Rain is wet.\n\nMore about it.", "/somewhere/s9_rain.py")
    assert capsys.readouterr().out == "Rain is wet. See s9_rain.png\n"
    assert (tmp_path / "s9_rain.png").exists()
