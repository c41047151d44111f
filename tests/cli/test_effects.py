"""Offsets, links and effects by the command line are those of the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, LinearRegression, effects, load, open_table, save
from adaline.errors import InvalidData
from tests.cli.command_line import Shell


def estimates(rows: list[dict[str, Any]]) -> dict[str, float]:
    return {row["name"]: row["estimate"] for row in rows}


@pytest.fixture
def claims(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.uniform(20, 70, 120), "kind": rng.choice(["a", "b"], 120)})
    frame["years"] = rng.uniform(0.2, 3, 120)
    frame["claims"] = rng.poisson(frame.years * np.exp(-1 + 0.02 * frame.age))
    frame.to_csv(tmp_path / "claims.csv", index=False)
    return frame


def test_offsets_and_effects(claims: pd.DataFrame, shell: Shell) -> None:
    words = ("fit", "claims.csv", "-t", "claims", "-s", "GeneralizedLinear", "--set", "loss=poisson")
    shell.good(*words, "--offset", "log(years)", "-o", "m.adaline")
    X = claims[["age", "kind"]]
    model = GeneralizedLinear(loss="poisson").fit(X, claims.claims, exposure=claims.years)
    expected = model.predict(X, exposure=claims.years)
    found = [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "claims.csv").rows]
    assert found == pytest.approx(expected, rel=1e-9)
    score = shell.good("score", "m.adaline", "claims.csv", "--json").json["targets"][0]
    assert score["mean_deviance"] == pytest.approx(model.deviance_ / 120, rel=1e-9)
    rows = shell.good("effects", "m.adaline", "claims.csv", "--json").json["effects"]
    known = effects(model, X, exposure=claims.years).rows
    for key in ("estimate", "std_error"):
        assert [row[key] for row in rows] == pytest.approx([row[key] for row in known], rel=1e-8)
    shown = shell.good("effects", "m.adaline", "claims.csv", "--columns", "kind", "--at", "mean").out
    assert "b - a" in shown
    assert "age" not in shown
    claims.assign(years=claims.years.where(claims.index > 0)).to_csv("gap.csv", index=False)
    assert shell.good("predict", "m.adaline", "gap.csv").rows[0]["prediction"] == ""
    assert "1 of 120 rows is left out: missing value of log(years)" in shell("effects", "m.adaline", "gap.csv").err
    shell.good(*words, "--link", "sqrt", "-o", "root.adaline")
    assert load("root.adaline").link == "sqrt"
    shell.good("fit", "claims.csv", "-t", "kind", "--features", "age", "-o", "kind.adaline")
    assert "GaussianClassifier" in shell.bad("effects", "kind.adaline", "claims.csv")


def test_effects_of_lags_are_those_of_the_rows_before_in_the_whole_table(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60)})
    frame["y"] = 1 + 2 * frame.x - 3 * frame.x.shift(1, fill_value=0.0) ** 2 + rng.normal(size=60)
    frame.to_csv("series.csv", index=False)
    table = open_table("series.csv", formula="y ~ x + I(lag(x, 1)**2)", missing="drop")
    model = LinearRegression().fit(table)
    save(model, "m.adaline")
    plain = LinearRegression().fit(np.column_stack([frame.x, frame.x.shift(1) ** 2])[1:], frame.y[1:])
    expected = {"x": plain.coef_[0], "lag(x, 1)": 2 * plain.coef_[1] * frame.x[:-1].mean()}
    named = frame.assign(**{"lag(x, 1)": frame.x.shift(1)})[1:]
    for given in (table, named):
        assert estimates(effects(model, given).rows) == pytest.approx(expected, rel=1e-8)
    with pytest.raises(InvalidData, match=r"lag\(x, 1\)"):
        effects(model, frame)
    found = shell.good("effects", "m.adaline", "series.csv", "--json").json["effects"]
    assert estimates(found) == pytest.approx(expected, rel=1e-8)
    monkeypatch.setattr("adaline.cli.effects.MOST", 20)
    some = np.unique(np.linspace(0, 59, 20).astype(int))[1:]
    found = shell.good("effects", "m.adaline", "series.csv", "--json").json["effects"]
    assert estimates(found)["lag(x, 1)"] == pytest.approx(2 * plain.coef_[1] * frame.x[some - 1].mean(), rel=1e-8)
