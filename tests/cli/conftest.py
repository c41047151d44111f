"""The command line in process, in an empty folder: its commands are built once for each file of tests."""

from pathlib import Path

import pytest

from tests.cli.command_line import Shell, table


@pytest.fixture(autouse=True, scope="module")
def built_once(quick_typer: None) -> None:
    """Commands are built once."""


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sketched: None) -> Shell:
    """A command line in an empty folder, whose reports have sketches for pictures."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return Shell(capsys)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return table(tmp_path / "data.csv")
