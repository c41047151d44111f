"""`adaline fit --by`: one model for each group of rows."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import LinearRegression, datasets, fit_groups
from adaline.cli import main


def run(*arguments: Any) -> int:
    return main(["fit", "penguins", *map(str, arguments)])


def test_coefficients_of_groups_go_to_stdout_or_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = fit_groups(
        LinearRegression(),
        pd.read_csv(datasets.path("penguins")),
        target="body_mass_g",
        by=["species", "sex"],
        features=["bill_length_mm"],
    )
    given = ("-t", "body_mass_g", "--by", "species,sex", "--features", "bill_length_mm")
    assert run(*given) == 0
    told = capsys.readouterr()
    assert told.err == "note: 6 groups: 6 solved\n"
    shown = pd.read_csv(io.StringIO(told.out))
    assert list(shown.columns) == list(wanted.columns)
    np.testing.assert_allclose(shown["estimate"], wanted["estimate"], rtol=1e-15)
    for name, read in (("a.csv", pd.read_csv), ("a.parquet", pd.read_parquet)):
        assert run(*given, "-o", tmp_path / name) == 0
        np.testing.assert_allclose(read(tmp_path / name)["p_value"], wanted["p_value"], rtol=1e-15)
    capsys.readouterr()
    assert run(*given, "--json", "--missing", "drop") == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (first["species"], first["name"], first["status"]) == ("Adelie", "intercept", "solved")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["-t", "body_mass_g", "--by", "shop"], "has no column 'shop'"),
        (["--by", "species"], "--by needs the column to predict"),
        (["-t", "body_mass_g", "--by", "species", "--errors", "HC3"], "--by does not go with --errors"),
        (["-t", "body_mass_g", "--by", "species", "-o", "a.adaline"], "cannot tell what to write"),
    ],
)
def test_what_groups_do_not_take_is_named(given: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*given) == 2
    assert says in capsys.readouterr().err
