"""Pictures drawn by another process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adaline import plots
from adaline.comparison import drawing
from adaline.comparison.drawing import Drawing, DrawingProcess

RESIDUALS = Drawing(plots.residuals, (np.array([1.0, 2.0]), np.array([1.5, 1.5])), {})


def test_the_process_draws_what_is_drawn_here() -> None:
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]


def test_the_process_imports_nothing_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "colorsys.py").write_text("open('executed', 'w')")
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]
    assert not (tmp_path / "executed").exists()


def test_what_else_the_process_prints_is_no_part_of_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('Information: 3 licences', flush=True)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]


def test_pictures_are_drawn_here_where_the_process_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "__name__", "no such module")
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]


def test_what_cannot_be_sent_is_drawn_here() -> None:
    own = Drawing(lambda: plots.quantiles([-1.0, 0.0, 1.0]), (), {})
    with DrawingProcess() as process:
        process.start([own])
        assert process.finish()[0].startswith("<svg")
