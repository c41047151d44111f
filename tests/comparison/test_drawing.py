"""Pictures drawn by another process, or here where it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from adaline import plots
from adaline.comparison import drawing
from adaline.comparison.drawing import Drawing, DrawingProcess

RESIDUALS = Drawing(plots.residuals, ([1.0, 2.0], [1.5, 1.5]), {})


def test_the_process_draws_what_is_drawn_here_and_imports_nothing_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = RESIDUALS.svg()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "colorsys.py").write_text("open('executed', 'w')")
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(Drawing, "svg", lambda self: "drawn here")
            assert process.finish() == [expected]
    assert not (tmp_path / "executed").exists()


def test_pictures_are_drawn_here_where_the_process_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "__name__", "no such module")
    with DrawingProcess() as process:
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]
    monkeypatch.undo()
    (tmp_path / "sitecustomize.py").write_text("print('Information: 3 licences', flush=True)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with DrawingProcess() as process:  # which prints what is no part of its answer
        process.start([RESIDUALS])
        assert process.finish() == [RESIDUALS.svg()]
    with DrawingProcess() as process:
        process.start([Drawing(lambda: plots.quantiles([-1.0, 0.0, 1.0]), (), {})])  # which cannot be sent
        assert process.finish()[0].startswith("<svg")
