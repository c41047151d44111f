"""Temporary files and folders are removed by whoever ends the process, as long as they are in use."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from adaline import leftovers
from adaline.errors import ModelFileError
from adaline.leftovers import remove_leftovers, remove_with, removing, temporary_folder
from adaline.storage.container import replacing


class Owner:
    pass


def test_what_is_in_use_is_removed_and_nothing_else(tmp_path: Path) -> None:
    before = len(leftovers._removals)
    owner, gone, called = Owner(), Owner(), []
    for name, one in (("own", owner), ("other", gone)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        remove_with(one, str(tmp_path / name))
    del gone, one
    gc.collect()
    assert [one.name for one in tmp_path.iterdir()] == ["own"]
    with removing(lambda: called.append("over")):
        pass
    folder = temporary_folder()
    (Path(folder.name) / "file").touch()
    out = tmp_path / "out"
    out.write_text("kept")
    writer = replacing(out)
    with removing(lambda: called.append("under way")):
        temporary = Path(writer.__enter__())
        temporary.write_text("half")
        remove_leftovers()
    assert not temporary.exists()
    with pytest.raises(ModelFileError):  # which a process that is ended does not come to
        writer.__exit__(None, None, None)
    assert out.read_text() == "kept"
    assert called == ["under way"]
    assert not Path(folder.name).exists()
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    del owner
    gc.collect()
    assert len(leftovers._removals) == before


def test_what_cannot_be_removed_does_not_keep_the_rest() -> None:
    called = []
    with removing(lambda: 1 / 0), removing(lambda: called.append(1)):
        remove_leftovers()
    assert called == [1]
