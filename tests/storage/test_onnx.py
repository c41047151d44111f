"""Round trips through onnxruntime: the graph says what the model says."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pytest

from adaline.errors import AdalineError, InvalidData, InvalidParameter, InvalidType, ModelFileError
from adaline.storage import export_onnx
from adaline.systems import SYSTEMS, GaussianClassifier, LinearRegression, Ridge, WienerFilter
from tests.storage.cases import Case, cases

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

TOLERANCE = {"float64": 1e-10, "float32": 5e-6}
"""Largest difference, as a fraction of the spread of the outputs (of 1 for posteriors)."""


SETTLED = {"AdaptiveFilter": {"rule": "rls"}}  # whose outputs have a small mean, as the target has
QUADRATIC = ("GaussianClassifier", {"covariance": "full"})


def run(path: Path, X: Any, dtype: str) -> dict[str, Any]:
    """Return the outputs by name."""
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    outputs = session.run(None, {"X": np.asarray(X).astype(dtype)})
    return dict(zip([output.name for output in session.get_outputs()], outputs, strict=True))


def wanted(model: Any, X: Any) -> dict[str, Any]:
    """Return what the model itself says."""
    if not hasattr(model, "classes_"):
        return {"prediction": model.predict(X)}
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
    if hasattr(model, "coding_"):  # the graph takes the columns of numbers that the table's become
        rows, given = model.coding_.code(nw.from_native(X)), X
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
        assert clear.mean() > 0.9
        labels = np.asarray(expected["label"]).tolist()
        assert [a for a, sure in zip(found["label"].tolist(), clear, strict=True) if sure] == [
            b for b, sure in zip(labels, clear, strict=True) if sure
        ]
    return out


@pytest.mark.parametrize("fitted", cases())
def test_the_graph_says_what_the_model_says(fitted: Callable[[], Case], tmp_path: Path) -> None:
    case = fitted()
    for dtype, tolerance in TOLERANCE.items():
        if case.model.basis is not None:
            with pytest.raises(InvalidType, match=r"basis of \w+ has no ONNX form yet: .*basis\.transform"):
                export_onnx(case.model, tmp_path / "m.onnx", dtype=dtype)
            continue
        errors = compare(case.model, case.rows[0], tmp_path / "m.onnx", dtype)
        assert max(errors.values()) < tolerance, (dtype, errors)


@pytest.mark.parametrize(("name", "settings"), [*((name, SETTLED.get(name, {})) for name in SYSTEMS), QUADRATIC])
def test_large_means_cost_no_digits_of_float32(name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    """Outputs whose own mean is small, from columns whose means are 1e4 times their spread."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(200, 3)) + np.array([1e4, -2e4, 3e4])).astype(np.float32).astype(np.float64)
    y = (X - X.mean(axis=0)) @ [1.0, -1.0, 0.5] + 0.1 * rng.normal(size=200)
    model = SYSTEMS[name](**settings)
    classifies = hasattr(model, "decision_function")
    if "fit_intercept" in model.get_params():
        model.set_params(fit_intercept=True)
    model.fit(X, np.digitize(y, [-0.5, 0.5]) if classifies else y)
    errors = compare(model, X, tmp_path / "m.onnx", "float32")
    assert max(errors.values()) < 2e-6, errors


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("delay", [-40, -3, 0, 2, 40])
def test_filters_of_short_signals(delay: int, dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, d = rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    model = WienerFilter(taps=(3, 6), delay=delay).fit(x, d)
    export_onnx(model, tmp_path / "m", dtype=dtype)
    for n in (1, 2, 5, 41, 300):
        rows = x[:n].astype(dtype)
        found, expected = run(tmp_path / "m", rows, dtype)["prediction"], model.predict(rows)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, atol=TOLERANCE[dtype])


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    import onnx
    import pandas as pd

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


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    path = tmp_path / "m"
    rows = [[1.0], [2.0], [4.0], [5.0]]
    with pytest.raises(InvalidParameter, match="not fitted"):
        export_onnx(Ridge(), path)
    with pytest.raises(InvalidType, match="not a system"):
        export_onnx(3, path)
    model = LinearRegression().fit(rows, [1.0, 2.0, 2.0, 4.0])
    with pytest.raises(InvalidParameter, match="dtype must be"):
        export_onnx(model, path, dtype="float16")
    with pytest.raises(ModelFileError, match="cannot write"):
        export_onnx(model, tmp_path / "nowhere" / "m")
    huge = LinearRegression().fit(rows, np.array([1.0, 2.0, 2.0, 4.0]) * 1e40)
    with pytest.raises(InvalidData, match="too large for float32"):
        export_onnx(huge, path, dtype="float32")
    mixed = GaussianClassifier().fit(rows, np.array([2**64 - 1, 5, 2**64 - 1, 5], dtype=np.uint64))
    with pytest.raises(InvalidData, match="no form in ONNX"):
        export_onnx(mixed, path)
    assert not list(tmp_path.iterdir())


def test_without_onnx_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 2.0])
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(AdalineError, match=r"pip install adaline-learn\[onnx\]"):
        export_onnx(model, tmp_path / "m")
