"""The flavour of MLflow: what is logged predicts the same by our loader and by pyfunc, and has a signature."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adaline import KMeans, LinearRegression, LogisticRegression, datasets, open_table

mlflow = pytest.importorskip("mlflow")


def test_a_table_is_scored_by_pyfunc(tmp_path: Path) -> None:
    import adaline.mlflow as flavor

    frame = pd.read_csv(datasets.path("penguins"))[["sex", "flipper_length_mm", "body_mass_g"]].dropna()
    model = LinearRegression().fit(open_table(frame, target="body_mass_g"))
    flavor.save_model(model, tmp_path / "m", metadata={"owner": "zoo"})
    inputs = frame[["sex", "flipper_length_mm"]].astype({"flipper_length_mm": float})
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict(inputs), model.predict(frame))
    np.testing.assert_array_equal(flavor.load_model(tmp_path / "m").coef_, model.coef_)
    schema = loaded.metadata.signature.inputs.to_dict()
    assert [(one["name"], one["type"]) for one in schema] == [("sex", "string"), ("flipper_length_mm", "double")]
    assert loaded.metadata.metadata["owner"] == "zoo"
    with pytest.raises(Exception, match="flipper_length_mm"):
        loaded.predict(inputs[["sex"]])


def test_arrays_labels_pipelines_and_clusters(tmp_path: Path) -> None:
    import adaline.mlflow as flavor

    data = datasets.load("penguins", target="species")
    models = [
        LogisticRegression(penalty=1.0).fit(data.X, data.y),
        make_pipeline(StandardScaler(), LogisticRegression(penalty=1.0)).fit(data.X, data.y),
        KMeans(3).fit(data.X),
        LinearRegression().fit(data.X, data.X[:, :2]),
    ]
    for k, model in enumerate(models):
        flavor.save_model(model, tmp_path / str(k), input_example=np.asarray(data.X[:3], dtype=float))
        loaded = mlflow.pyfunc.load_model(str(tmp_path / str(k)))
        np.testing.assert_array_equal(loaded.predict(data.X), model.predict(data.X))


def test_a_run_logs_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import adaline.mlflow as flavor

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    with mlflow.start_run():
        info = flavor.log_model(model, "line")
    assert flavor.load_model(info.model_uri).predict([[3.0]]) == model.predict([[3.0]])
