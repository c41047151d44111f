"""Models in the stores of others: joblib, which pickles, and skops, which names the types that it is to trust."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adaline import (
    AdditiveModel,
    GaussianClassifier,
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    basis,
    open_table,
)

N = 80
FRAME = pd.DataFrame({"a": np.sin(np.arange(N)), "b": np.cos(3.0 * np.arange(N)), "kind": list("xyzw") * (N // 4)})
FRAME["y"] = FRAME["a"] - FRAME["b"] + (FRAME["kind"] == "x") + 0.1 * np.sin(7.0 * np.arange(N))
X, Y = FRAME[["a", "b"]], FRAME["y"]
MODELS: dict[str, tuple[Any, Any]] = {
    "a line": (LinearRegression().fit(X, Y), X),
    "a table": (LinearRegression().fit(open_table(FRAME, formula="y ~ a * kind + bs(b, df=4)")), FRAME),
    "a basis": (LinearRegression(basis=basis.Polynomial(degree=2)).fit(X, Y), X),
    "classes": (LogisticRegression(penalty=1.0).fit(X, FRAME["kind"]), X),
    "machines": (OneVsRest().fit(X, FRAME["kind"]), X),
    "densities": (GaussianClassifier(covariance="full").fit(X, FRAME["kind"]), X),
    "counts": (GeneralizedLinear(loss="poisson").fit(X, np.arange(N) % 5), X),
    "curves": (AdditiveModel(terms=["s(a, k=5)"]).fit(X, Y), X),
    "clusters": (KMeans(3).fit(X), X),
    "a pipeline": (make_pipeline(StandardScaler(), LogisticRegression(penalty=1.0)).fit(X, FRAME["kind"]), X),
}


@pytest.mark.parametrize("name", MODELS)
def test_joblib(name: str, tmp_path: Path) -> None:
    model, rows = MODELS[name]
    joblib.dump(model, tmp_path / "m", compress=1)
    again = joblib.load(tmp_path / "m")
    assert np.asarray(again.predict(rows)).tobytes() == np.asarray(model.predict(rows)).tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_skops(name: str) -> None:
    store = pytest.importorskip("skops.io")
    model, rows = MODELS[name]
    data = store.dumps(model)
    types = store.get_untrusted_types(data=data)
    assert all(one.startswith("adaline.") for one in types), types
    again = store.loads(data, trusted=types)
    assert np.asarray(again.predict(rows)).tobytes() == np.asarray(model.predict(rows)).tobytes()
    if hasattr(model, "summary"):
        assert str(again.summary()) == str(model.summary())
