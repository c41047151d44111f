"""ONNX graphs run by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest


def run(path: Path, X: Any, dtype: str, offset: Any = None) -> dict[str, Any]:
    """Return what a graph says of rows, by output; a frame goes in by its columns where these are inputs."""
    ort = pytest.importorskip("onnxruntime")
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given: dict[str, Any] = {}
    for one in session.get_inputs():
        if one.name == "X":
            given["X"] = np.asarray(X).astype(dtype)
        elif one.name == "offset":
            given["offset"] = np.asarray(offset, dtype)[:, None]
        elif one.type == "tensor(string)":
            texts = [v if isinstance(v, str) else "" for v in X[one.name.rstrip("_")]]
            given[one.name] = np.array(texts, object)[:, None]
        else:
            given[one.name] = np.asarray(X[one.name.rstrip("_")], dtype)[:, None]
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, given), strict=True))
