"""`adaline select`: the same choice as the function makes, shown, saved, and refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from adaline import Ridge, datasets, load, select
from tests.cli.command_line import Shell


def test_it_chooses_what_the_function_chooses_and_saves_it(shell: Shell, tmp_path: Path) -> None:
    data = datasets.load("penguins", target="body_mass_g")
    words = ("penguins", "-t", "body_mass_g", "-s", "ridge", "-p", "penalty=0.1,1,10,100000", "--missing", "drop")
    words += ("--features", ",".join(data.feature_names))
    done = shell.good("select", *words, "--json", "-o", "best.adaline")
    found = select(Ridge(), data.X, data.y, penalty=[0.1, 1, 10, 100000])
    assert done.json["method"] == "loo"
    assert done.json["index"] == found.index
    assert [row["error"] for row in done.json["rows"]] == pytest.approx(found.curve.validation, rel=1e-9)
    assert load(tmp_path / "best.adaline").penalty == found.best.penalty
    text = shell.good("select", *words).out
    assert "4 candidates, mean squared error by exact leave-one-out" in text
    assert f"chosen: penalty={found.best.penalty:g}" in text


def test_folds_rules_and_settings(shell: Shell) -> None:
    words = ("select", "penguins", "-t", "species", "--missing", "drop", "-s", "LogisticRegression", "--json")
    more = ("-p", "penalty=0.1,1,10", "--set", "tol=1e-6", "--folds", "4", "--scoring", "log_loss")
    best = shell.good(*words, *more).json
    simple = shell.good(*words, *more, "--rule", "one-standard-error").json
    assert (best["method"], best["measure"]) == ("folds", "log loss")
    assert float(simple["parameters"]["penalty"]) >= float(best["parameters"]["penalty"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what to choose: --parameter"),
        (("-p", "penalty"), "--parameter takes key=value"),
        (("-p", "penalty=,"), "--parameter takes key=value"),
        (("-p", "penalty=1", "-p", "penalty=2"), "--parameter names penalty twice"),
        (("-p", "penalti=1"), "Ridge has no parameter 'penalti'"),
        (("-p", "penalty=-1"), "no candidate could be fitted"),
        (("-p", "penalty=1", "--method", "guess"), "guess"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str, shell: Shell) -> None:
    assert said in shell.bad("select", "longley", "-t", "Employed", "-s", "Ridge", *words)


def test_a_basis_is_chosen_by_name(shell: Shell) -> None:
    words = ("select", "norris", "-t", "y", "-s", "LinearRegression", "-p", "basis=Polynomial, radial, none", "--json")
    found = shell.good(*words).json
    assert [row["basis"] for row in found["rows"]] == ["Polynomial()", "Radial()", "None"]
    assert "no basis 'wave'" in shell.bad(*words[:-2], "basis=wave")
