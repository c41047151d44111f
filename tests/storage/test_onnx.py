"""Round trips through onnxruntime: the graph says what the model says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline.errors import AdalineError, InvalidData, InvalidParameter, InvalidType, ModelFileError
from adaline.storage import export_onnx
from adaline.systems import SYSTEMS, GaussianClassifier, LinearRegression, Ridge, WienerFilter
from tests.cases import Case
from tests.storage.cases import fitted, pairs
from tests.storage.graphs import run

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

TOLERANCE = {"float64": 1e-10, "float32": 5e-6}
"""Largest difference, as a fraction of the spread of the outputs (of 1 for posteriors)."""
ROWS, TARGET = np.array([[1.0], [2.0], [4.0], [5.0]]), np.array([1.0, 2.0, 2.0, 4.0])


def wanted(model: Any, X: Any) -> dict[str, Any]:
    """Return what the model itself says."""
    if not hasattr(model, "classes_"):
        shares = {"probability": model.predict_proba(X)} if hasattr(model, "predict_proba") else {}
        return {"prediction": model.predict(X), **shares}
    out = {"label": model.predict(X), "score": model.decision_function(X)}
    if hasattr(model, "predict_proba"):
        out["probability"] = model.predict_proba(X)
    if hasattr(model, "directions_"):
        out["projection"] = model.transform(X)
    return out


def error(found: Any, expected: Any, spread: bool = True) -> float:
    """Return the largest difference as a fraction of the spread of the finite numbers; infinite ones must agree.

    What float32 cannot write of a number is no difference.
    """
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    if not finite.any():
        return 0.0
    size = max(float(np.ptp(expected[finite])), 1e-3 * float(np.abs(expected[finite]).max())) if spread else 1.0
    written = np.finfo(found.dtype).eps * np.abs(expected[finite]) if found.dtype == np.float32 else 0.0
    off = np.maximum(np.abs(found[finite] - expected[finite]) - written, 0.0)
    return float(off.max()) / (size or 1.0)


def compare(model: Any, X: Any, path: Path, dtype: str) -> dict[str, float]:
    """Export, run, and return the error of each output; labels must agree but at a tie."""
    export_onnx(model, path, dtype=dtype)
    if hasattr(model, "coding_"):
        rows, given = X, X
    else:
        rows = np.asarray(X).astype(dtype)
        given = type(X)(rows, columns=X.columns) if hasattr(X, "columns") else rows
    found, expected = run(path, rows, dtype), wanted(model, given)
    assert list(found) == list(expected)
    out = {name: error(found[name], expected[name], name != "probability") for name in expected if name != "label"}
    if "label" in expected:
        score = np.asarray(expected["score"])
        best = np.sort(score, axis=1) if score.ndim == 2 else np.abs(score)[:, None]
        lead = best[:, -1] - best[:, -2] if best.shape[1] > 1 else best[:, 0]
        spread = np.ptp(np.append(score[np.isfinite(score)], 0.0))
        clear = ~(lead <= 10 * TOLERANCE[dtype] * spread) if spread else np.ones(len(score), dtype=bool)
        same = np.asarray(found["label"] == np.asarray(expected["label"]))
        assert same[clear].all()
        assert same.mean() > 0.9
    return out


@pairs()
def test_the_graph_says_what_the_model_says(case: Case, kind: str, tmp_path: Path) -> None:
    model, first, _ = fitted(case, kind)
    for dtype, tolerance in TOLERANCE.items():
        errors = compare(model, first.X, tmp_path / "m.onnx", dtype)
        assert max(errors.values()) < tolerance, (dtype, errors)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *((name, {"rule": "rls"} if name == "AdaptiveFilter" else {}) for name in SYSTEMS),
        ("GaussianClassifier", {"covariance": "full"}),
    ],
    ids=str,
)
def test_large_means_cost_no_digits_of_float32(name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    """Outputs whose own mean is small, from columns whose means are 1e4 times their spread."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(200, 3)) + np.array([1e4, -2e4, 3e4])).astype(np.float32).astype(np.float64)
    y = (X - X.mean(axis=0)) @ [1.0, -1.0, 0.5] + 0.1 * rng.normal(size=200)
    model = SYSTEMS[name](**settings)
    if "fit_intercept" in model.get_params():
        model.set_params(fit_intercept=True)
    model.fit(X, np.digitize(y, [-0.5, 0.5]) if hasattr(model, "decision_function") else y)
    errors = compare(model, X, tmp_path / "m.onnx", "float32")
    assert max(errors.values()) < 2e-6, errors


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("delay", [-40, -3, 0, 2, 40])
def test_filters_of_short_signals(delay: int, dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, d = rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    model = WienerFilter(taps=(3, 6), delay=delay).fit(x, d)
    export_onnx(model, tmp_path / "m", dtype=dtype)
    for n in (1, 2, 5, 41, 300):
        rows = x[:n].astype(dtype)
        np.testing.assert_allclose(
            run(tmp_path / "m", rows, dtype)["prediction"], model.predict(rows), atol=TOLERANCE[dtype]
        )


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    X = pd.DataFrame({"a b": [1.0, 2.0, 3.0, 5.0, 4.0], "\u00e4": [0.0, 1.0, 0.0, 2.0, 1.0]})
    model = GaussianClassifier().fit(X, ["x", "y", "x", "y", "x"])
    export_onnx(model, tmp_path / "m")
    graph = onnx.load(tmp_path / "m")
    notes = {prop.key: prop.value for prop in graph.metadata_props}
    assert notes["system"] == "GaussianClassifier"
    assert json.loads(notes["columns"]) == ["a b", "\u00e4"]
    assert json.loads(notes["classes"]) == ["x", "y"]
    assert notes["certificate"] == str(model.certificate_)
    assert graph.producer_name == "adaline"
    assert [len(value.type.tensor_type.shape.dim) for value in graph.graph.output] == [1, 1, 2]


@pytest.mark.parametrize(
    ("make", "dtype", "kind", "message"),
    [
        (Ridge, "float64", InvalidParameter, "not fitted"),
        (lambda: 3, "float64", InvalidType, "not a system"),
        (lambda: LinearRegression().fit(ROWS, TARGET), "float16", InvalidParameter, "dtype must be"),
        (lambda: LinearRegression().fit(ROWS, TARGET * 1e40), "float32", InvalidData, "too large for float32"),
        (
            lambda: GaussianClassifier().fit(ROWS, np.array([2**64 - 1, 5, 2**64 - 1, 5], dtype=np.uint64)),
            "float64",
            InvalidData,
            "no form in ONNX",
        ),
    ],
)
def test_what_cannot_be_exported(make: Any, dtype: str, kind: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=message):
        export_onnx(make(), tmp_path / "m", dtype=dtype)
    assert not list(tmp_path.iterdir())


def test_folders_and_packages_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LinearRegression().fit(ROWS, TARGET)
    with pytest.raises(ModelFileError, match="cannot write"):
        export_onnx(model, tmp_path / "nowhere" / "m")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(AdalineError, match=r"pip install adaline-learn\[onnx\]"):
        export_onnx(model, tmp_path / "m")
