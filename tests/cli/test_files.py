"""Files in local notation on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from adaline import LinearRegression, load, open_table
from tests.cli.command_line import Shell
from tests.sources.tables.test_reading import G, X, Y, rows, written


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def test_a_model_reads_new_files_as_the_one_it_was_fitted_to(shell: Shell) -> None:
    lines = ["Bericht;;", "Gr\u00f6\u00dfe;Art;Preis", *rows("{x};{g};{y} \u20ac")]
    written([line.replace(".", ",") for line in lines], "old.csv", "cp1252")
    shell.good("fit", "old.csv", "-t", "Preis", "-o", "m.adaline")
    wanted = [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "old.csv").rows]
    written(["Art,Gr\u00f6\u00dfe", *rows("{g},{x}")], "new.csv")
    found = [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "new.csv").rows]
    assert found == pytest.approx(wanted, rel=1e-12)
    assert "RMSE" in shell.good("score", "m.adaline", "old.csv", "--decimal", ",").out
    expected = load("m.adaline").coef_
    clean = {"Gr\u00f6\u00dfe": X, "Art": G, "Preis": Y}
    assert LinearRegression().fit(open_table(clean, target="Preis")).coef_ == pytest.approx(expected, rel=1e-9)
