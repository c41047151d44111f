"""Commands on models: select, table, effects and pipelines give what the functions of the package give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from adaline import (
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    Ridge,
    datasets,
    effects,
    load,
    open_table,
    regression_table,
    save,
    select,
)
from adaline.errors import InvalidData
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


def test_a_basis_is_chosen_by_name(shell: Shell) -> None:
    words = ("select", "norris", "-t", "y", "-s", "LinearRegression", "-p", "basis=Polynomial, radial, none", "--json")
    found = shell.good(*words).json
    assert [row["basis"] for row in found["rows"]] == ["Polynomial()", "Radial()", "None"]


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
    assert re.search(r"^offset +log\(years\)$", shell.good("summary", "m.adaline").out, re.MULTILINE)
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
    monkeypatch.setattr("adaline.cli.effects.MOST_AVERAGED_ROWS", 20)
    some = np.unique(np.linspace(0, 59, 20).astype(int))[1:]
    found = shell.good("effects", "m.adaline", "series.csv", "--json").json["effects"]
    assert estimates(found)["lag(x, 1)"] == pytest.approx(2 * plain.coef_[1] * frame.x[some - 1].mean(), rel=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_predicts_is_shown_and_exported(shell: Shell) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.normal(size=40), "b": rng.normal(size=40), "code": ["01", "02"] * 20})
    frame["a"] = np.where(np.arange(40) % 9 == 4, np.nan, frame["y"] + 0.1 * rng.normal(size=40))
    frame.to_csv("data.csv", index=False)
    parts = [("n", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b"]), ("c", OneHotEncoder(), ["code"])]
    X = frame[["a", "b", "code"]]
    model = make_pipeline(ColumnTransformer(parts), LinearRegression()).fit(X, frame["y"])
    save(model, "m.adaline")
    rows = shell.good("predict", "m.adaline", "data.csv", "--keep", "none").rows
    np.testing.assert_allclose([float(row["prediction"]) for row in rows], model.predict(X), rtol=1e-12)
    rows = shell.good("predict", "m.adaline", "data.csv", "--interval", "prediction").rows
    assert list(rows[0]) == ["y", "b", "code", "a", "prediction", "lower", "upper", "reason"]
    assert rows[0]["code"] == "01"
    shell.good("export", "m.adaline", "m.onnx")
    assert "StandardScaler" in shell.good("summary", "m.adaline").out
    assert shell.good("summary", "m.adaline", "--json").json["columns"] == ["a", "b", "code"]
    assert "pipelines cannot be merged" in shell.bad("merge", "m.adaline", "m.adaline", "-o", "n.adaline")
    assert "fit it again to all rows" in shell.bad("update", "m.adaline", "data.csv", "--target", "y")
    frame[["b"]].to_csv("less.csv", index=False)
    assert "has no column 'a'; the model needs: a, b, code" in shell.bad("predict", "m.adaline", "less.csv")

    labels = np.where(frame["y"] > 0, "up", "down")
    save(make_pipeline(StandardScaler(), LogisticRegression(penalty=1.0)).fit(X[["a", "b"]].fillna(0), labels), "c")
    done = shell.good("predict", "c", "data.csv", "--proba", "--keep", "b")
    assert list(done.rows[0]) == ["b", "prediction", "probability_down", "probability_up", "reason"]
    assert sum(row["prediction"] == "" for row in done.rows) == frame["a"].isna().sum()
    assert "no prediction" in done.err
    save(make_pipeline(StandardScaler()).fit(X[["b"]]), "s")
    assert "ends with StandardScaler, which has no predict" in shell.bad("predict", "s", "data.csv")
    assert "StandardScaler" in shell.good("summary", "s").out
