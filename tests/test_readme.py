"""What the README shows is what runs: the Python, the commands, what they print, and the figures of the benchmarks."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import adaline
from tests.cli.command_line import Shell

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_prints_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == TEXT.count("```python") == 1
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(blocks[0][0], "README.md", "exec"), {})
    printed, shown = (text.partition("certificate:")[0] for text in (out.getvalue(), blocks[0][1]))
    assert printed == shown
    assert (tmp_path / "mass.adaline").is_file()


def test_the_commands_print_what_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (saving,) = re.findall(r"^\$ python (.* > penguins\.csv)$", TEXT, re.MULTILINE)
    subprocess.run(f"{shlex.quote(sys.executable)} {saving}", shell=True, check=True)
    steps = re.findall(r"^\$ adaline (.*)\n((?:(?!\$ |```).*\n)*)", TEXT, re.MULTILINE)
    assert [command.split()[0] for command, _ in steps] == ["compare", "fit", "predict", "update"]
    assert [bool(shown) for _, shown in steps] == [False, True, True, True]  # a picture shows what compare writes
    for command, shown in steps:
        printed = Shell(capsys).good(*shlex.split(command)).out
        pattern = re.escape(shown).replace(re.escape("...\n"), r"(?s:.+)")  # a line of dots stands for any lines
        assert not shown or re.fullmatch(pattern, printed)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert len((tmp_path / "predicted.csv").read_text(encoding="utf-8").splitlines()) == 118


def test_update_is_shown_with_rows_that_the_model_has_not_seen() -> None:
    fitted, predicted, updated = (
        re.search(rf'^\$ adaline {name} .*?"(.*?)"', TEXT, re.MULTILINE) for name in ("fit", "predict", "update")
    )
    assert fitted
    assert predicted
    assert updated
    assert predicted[1] == updated[1] != fitted[1]


def test_the_figures_of_each_bullet_are_those_of_one_benchmark() -> None:
    measured = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").replace(",", "").split("\n## ")
    bullets = TEXT.partition("\n## Why adaline\n\n")[2].partition("\n\n![")[0].replace(",", "").split("\n- ")
    assert len(bullets) == 4
    for bullet in bullets:
        figures = set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?: (?:ms|s|GB|MB)\b)?", bullet))
        assert len(figures) >= 3
        wanted = [re.compile(rf"(?<![\d.]){re.escape(one)}(?![\d.])") for one in figures]
        assert any(all(one.search(section) for one in wanted) for section in measured), bullet


def test_the_readme_fits_on_a_few_screens_and_its_links_lead_somewhere() -> None:
    assert len(TEXT.splitlines()) <= 140
    assert f"version {adaline.__version__}." in TEXT
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []
    for command in ("make demo", "make test"):
        assert len(re.findall(rf"^{command} +# .*minutes", TEXT, re.MULTILINE)) == 1
