"""Files of pipelines on the command line: tables go in by the names of their columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from adaline.storage import save
from adaline.systems import LinearRegression, LogisticRegression
from tests.cli.command_line import Shell


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
