"""`adaline serve` as a command: its end, and what it cannot serve; processes.py runs and kills it."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import LMS, storage
from adaline.cli import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and sockets of Unix")
ROWS = np.random.default_rng(0).normal(size=(40, 3))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    storage.save(LMS().fit(ROWS[:10, :2], ROWS[:10, 2]), tmp_path / "mass.adaline")
    return tmp_path


def test_a_signal_right_after_the_line_ends_the_service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = []

    def run(server: Any, sockets: Any) -> None:
        signal.raise_signal(signal.SIGTERM)  # before uvicorn takes signals
        began.append(server.should_exit)

    monkeypatch.setattr("uvicorn.Server.run", run)
    assert main(["serve", str(folder / "mass.adaline"), "--port", "0"]) == 0
    assert began == [True]


def test_workers_are_as_many_as_were_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    monkeypatch.setattr("adaline.serve.workers.run_workers", lambda *given: begun.append(given[4]))
    assert main(["serve", str(folder / "mass.adaline"), "--port", "0", "--workers", "3"]) == 0
    assert begun == [3]


def test_what_cannot_be_served_is_one_line_and_exit_code_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = str(folder / "mass.adaline")
    for arguments, message in (
        ([str(folder / "nowhere.adaline")], "no such file"),
        ([model, "--token-file", str(folder / "nowhere")], "cannot be read"),
        ([model, "--port", "1", "--host", "203.0.113.1"], "cannot listen"),
        ([model, "--port", "0", "--tls-key", model], "give --tls-certificate FILE too"),
        ([model, "--port", "0", "--tls-certificate", model], "mass.adaline: no certificate with its key"),
        ([model, "--challenger", model, "--challenger", model], "two challengers"),
    ):
        assert main(["serve", *arguments]) == 2
        assert message in capsys.readouterr().err
