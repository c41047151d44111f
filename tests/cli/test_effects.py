"""Offsets, links and effects by the command line are those of the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, effects, load
from tests.cli.command_line import Shell


@pytest.fixture
def claims(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.uniform(20, 70, 120), "kind": rng.choice(["a", "b"], 120)})
    frame["years"] = rng.uniform(0.2, 3, 120)
    frame["claims"] = rng.poisson(frame.years * np.exp(-1 + 0.02 * frame.age))
    frame.to_csv(tmp_path / "claims.csv", index=False)
    return frame


def test_offsets_and_effects(
    claims: pd.DataFrame, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shell = Shell(capsys)
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
    assert "1 of 120 rows left out" in shell("effects", "m.adaline", "gap.csv").err
    shell.good(*words, "--link", "sqrt", "-o", "root.adaline")
    assert load("root.adaline").link == "sqrt"
    shell.good("fit", "claims.csv", "-t", "kind", "--features", "age", "-o", "kind.adaline")
    assert "GaussianClassifier" in shell.bad("effects", "kind.adaline", "claims.csv")
