"""Awkward files are opened as expected; `make zoo` compares systems on them, and on public tables."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from adaline.comparison.open_data import DataRequest, open_data
from adaline.errors import AdalineError
from tests.zoo.awkward import AWKWARD, OK, AwkwardFile
from tests.zoo.outcomes import read_outcomes

KNOWN = read_outcomes()


def test_names_are_different() -> None:
    assert len({file.name for file in AWKWARD}) == len(AWKWARD) >= 60


FILES = [
    pytest.param(file, id=file.name, marks=[pytest.mark.night] if file.name == "wide.csv" else [])
    for file in AWKWARD
    if (f"awkward/{file.name}", file.target) in KNOWN
]


@pytest.mark.parametrize("file", FILES)
def test_awkward_files_are_opened_or_refused(file: AwkwardFile, tmp_path: Path) -> None:
    if file.name.endswith(".xlsx") and find_spec("openpyxl") is None:
        pytest.skip("openpyxl, which writes workbooks, is not installed")
    path = file.write(tmp_path)
    try:
        opened = open_data(DataRequest.of(str(path), target=file.target, shell=True))
    except AdalineError:
        assert file.outcome != OK
        return
    assert not {*file.features} - {*(opened.spec.features or ())}
    if file.outcome == OK and file.rows is not None:
        assert opened.source.count_rows() == file.rows
