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
        (["-t", "body_mass_g", "--by", "shop"], "--by: penguins has no column 'shop'"),
        (["--by", "species"], "say what to predict: --target COLUMN"),
        (["-t", "body_mass_g", "--by", "species", "--errors", "HC3"], "--by does not go with --errors"),
        (["-t", "body_mass_g", "--by", "species", "-o", "a.adaline"], "cannot tell what to write"),
    ],
)
def test_what_groups_do_not_take_is_named(given: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*given) == 2
    assert says in capsys.readouterr().err


def test_groups_read_a_table_as_one_fit_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=40), "shop": list("abcd") * 10, "same": 7})
    rows["x"], rows["y"] = rng.normal(size=(2, 40))
    rows["prose"] = [f"text {i}" for i in range(40)]
    rows.loc[2, "x"] = np.nan
    rows.loc[rows["shop"] == "d", "x"] = np.nan
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    assert main(["fit", str(path), "-t", "y", "--drop", "shop"]) == 0
    alone = capsys.readouterr().err
    assert main(["fit", str(path), "-t", "y", "--by", "shop"]) == 0
    told = capsys.readouterr()
    assert told.err == alone + (
        "note: 3 groups: 3 solved\nnote: 1 group left out: it has no row without missing values\n"
    )
    assert all(f"column '{name}' is left out" in alone for name in ("when", "same", "prose"))
    found = pd.read_csv(io.StringIO(told.out))
    wanted = fit_groups(LinearRegression(), rows.dropna(), target="y", by="shop", features=["x"])
    pd.testing.assert_frame_equal(found, wanted.reset_index(drop=True), check_dtype=False, rtol=1e-14)
    assert main(["fit", str(path), "-t", "y", "--by", "shop", "--missing", "error"]) == 2
    assert "has missing values in column 'x' (11)" in capsys.readouterr().err


def test_groups_of_labels_are_fitted_by_the_classifier_with_errors(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("-t", "sex", "--by", "species", "--features", "body_mass_g")
    assert run(*given) == 0
    told = capsys.readouterr().out
    assert run(*given, "-s", "LogisticRegression") == 0
    assert capsys.readouterr().out == told
