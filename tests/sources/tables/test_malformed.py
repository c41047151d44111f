"""Malformed tables end in one clear line or in the right fit; none in a traceback, none leaves a partial output."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import GaussianClassifier, LinearRegression, open_table, storage
from adaline.cli import main
from adaline.errors import AdalineError
from tests.sources.tables.malformed import CASES, Case

LONGEST = 400


def check_line(message: str, folder: Path) -> None:
    shown = message.replace(str(folder), ".")
    assert shown.strip() == shown != ""
    assert "\n" not in shown
    assert len(shown) < LONGEST, shown
    for advice in ("LINE 1:", "ignore_errors", "sample_size", "Traceback", "null_padding", "auto_detect"):
        assert advice not in shown


def expected(case: Case) -> Any:
    x = np.array([np.asarray(column, dtype=float) for column in case.x]).T
    model = GaussianClassifier() if case.labels else LinearRegression()
    weight = None if case.weight is None else np.asarray(case.weight, dtype=float)
    return model.fit(x, np.asarray(case.y), sample_weight=weight)


def check_fit(model: Any, case: Case) -> None:
    right = expected(case)
    if case.labels:
        assert model.classes_.tolist() == right.classes_.tolist()
    assert np.shape(model.coef_) == np.shape(right.coef_)
    size = max(1.0, float(np.abs(right.coef_).max(initial=0)))
    np.testing.assert_allclose(model.coef_, right.coef_, rtol=1e-10, atol=1e-10 * size)
    np.testing.assert_allclose(model.intercept_, right.intercept_, rtol=1e-9, atol=1e-9 * size)


def fitted(case: Case) -> tuple[Any, int]:
    table = open_table(case.data, target=case.target, progress=False, **case.options)
    if case.meanwhile is not None:
        case.meanwhile()
        list(table.blocks())
    model = GaussianClassifier() if table.has_labels else LinearRegression()
    return model.fit(table), table.n_rows


@pytest.mark.parametrize("name", CASES)
def test_one_clear_line_or_the_right_fit(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.error is None:
            model, rows = fitted(case)
            assert rows == len(case.y)
            check_fit(model, case)
            return
        with pytest.raises(AdalineError) as caught:
            fitted(case)
    check_line(str(caught.value), tmp_path)
    assert re.search(case.error, str(caught.value))


@pytest.mark.usefixtures("quick_typer")
@pytest.mark.parametrize("name", CASES)
def test_on_the_command_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "2000 columns":
        pytest.skip("DuckDB takes 6 s for the 2000 filtered counts of comparison/open_data.py; another case has 100")
    case = CASES[name](tmp_path)
    if not isinstance(case.data, str) or case.meanwhile is not None or isinstance(case.options.get("categories"), dict):
        pytest.skip("frames, files that change and dictionaries cannot be written on a command line")
    output = tmp_path / "out" / "model.adaline"
    output.parent.mkdir()
    output.write_bytes(b"before")
    words = ["fit", "--json", "-t", case.target, "-o", str(output)]
    for option, value in case.options.items():
        words += [f"--{option}", value if isinstance(value, str) else ",".join(value)]
    code = main([*words, "--", case.data])
    said = capsys.readouterr().err.splitlines()
    assert [path.name for path in output.parent.iterdir()] == ["model.adaline"]
    assert not any("Traceback" in line for line in said)
    if code == 0:
        assert case.error is None or said, "a table that the library refuses needs a note at least"
        assert all(line.startswith("note: ") for line in said)
        model = storage.load(output)
        varying = [column for column in case.x if len(set(column)) > 1]
        if 0 < len(varying) < len(case.x) and "features" not in case.options:  # the command leaves constant columns out
            assert any("the same value in every row" in line for line in said)
            case = replace(case, x=tuple(varying))
        if case.error is None and case.labels == hasattr(model, "classes_"):  # a boolean target is a label here
            check_fit(model, case)
        return
    assert code == 2, said
    assert case.error is not None, said
    assert output.read_bytes() == b"before"
    assert said[-1].startswith("adaline: ")
    assert all(line.startswith("note: ") for line in said[:-1])
    check_line(said[-1], tmp_path)


@pytest.mark.parametrize("unseen", ["error", "other"])
def test_levels_that_were_not_there(unseen: str, tmp_path: Path) -> None:
    case = CASES["category"](tmp_path)
    model = LinearRegression().fit(open_table(case.data, target="y", unseen=unseen))
    new = tmp_path / "new.csv"
    new.write_text("b,c,a\n1,u,2\n1,z,2\n")
    if unseen == "other":
        known, other = model.predict(open_table(new))
        shares = float(np.mean(model.coef_[2:]) * 2 / 3)  # each of the three levels has a third of the rows
        np.testing.assert_allclose(other - known, shares, rtol=1e-12)
        return
    with pytest.raises(AdalineError, match=r"column 'c' has the level 'z' at line 3.*unseen='other'") as caught:
        model.predict(open_table(new))
    check_line(str(caught.value), tmp_path)
