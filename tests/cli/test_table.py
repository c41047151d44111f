"""`adaline table`: what `regression_table` says of saved models, on stdout, in files, and refused in one line."""

from __future__ import annotations

from pathlib import Path

from adaline import load, regression_table
from tests.cli.command_line import Shell


def test_saved_models_side_by_side(shell: Shell) -> None:
    for name, columns in (("small", "sex"), ("large", "sex,year")):
        shell.good("fit", "penguins", "-t", "body_mass_g", "--features", columns, "-o", f"{name}.adaline")
    files = ("small.adaline", "large.adaline")
    known = regression_table(*map(load, files), names=["small", "large"], stars=True)
    assert shell.good("table", *files, "--stars").out.strip() == known.to_text().strip()
    assert shell.good("table", *files, "--stars", "--format", "latex").out.strip() == known.to_latex().strip()
    assert shell.good("table", *files, "--json").json["models"] == ["small", "large"]
    shell.good("table", *files, "--stars", "-o", "both.md")
    assert Path("both.md").read_text().strip() == known.to_markdown().strip()
    shell.good("fit", "penguins", "-t", "species", "-o", "species.adaline")
    assert "GaussianClassifier" in shell.bad("table", "small.adaline", "species.adaline")
    assert ".tex" in shell.bad("table", *files, "-o", "both.doc")
