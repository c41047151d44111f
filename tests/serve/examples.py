"""Models that can keep learning, a table, and rows for them as clients send them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

from adaline import LMS, OneVsOne, OneVsRest, OnlineLogistic, open_table
from adaline.estimator import clone, is_regressor
from adaline.serve import Learner, Receipt
from adaline.serve.requests import ARROW, CSV, JSON
from adaline.storage.container import read
from adaline.systems import SYSTEMS

SETTINGS: dict[str, dict[str, Any]] = {
    "AdaptiveFilter": {"taps": 2},
    "WienerFilter": {"taps": 2},
    "Perceptron": {"epochs": 1},
}
MADE = {name: system(**SETTINGS.get(name, {})) for name, system in SYSTEMS.items()}
MODELS: dict[str, Any] = {
    **{name: model for name, model in MADE.items() if hasattr(model, "partial_fit")},
    "OneVsRest of LMS": OneVsRest(LMS()),
    "OneVsOne of OnlineLogistic": OneVsOne(OnlineLogistic()),
}
FIRST, COLUMNS, ROWS = 40, 3, 200


def rows_for(model: Any, count: int = 300, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return rows and targets, or labels of three classes, that a model is to learn."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(FIRST + count, COLUMNS))
    t = x @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=len(x))
    return x, t if is_regressor(model) else np.array(["low", "mid", "top"])[np.digitize(t, [-1.0, 1.0])]


def listed(x: Any, y: Any) -> list[list[Any]]:
    """Return rows as a client sends them: lists, the target last."""
    return [[*row, target] for row, target in zip(x.tolist(), y.tolist(), strict=True)]


def begun(name: str = "LMS", count: int = 300) -> tuple[Any, Any, Any]:
    """Return a model that was fitted to some rows, and rows and targets that come after them."""
    model = clone(MODELS[name])
    x, y = rows_for(model, count)
    return model.fit(x[:FIRST], y[:FIRST]), x[FIRST:], y[FIRST:]


def send(learner: Learner, x: Any, y: Any, key: str | None = None) -> Receipt:
    """Send rows, and return what is answered to them."""
    return learner.submit(listed(x, y), key).result(10)


def raises(error: Exception) -> Callable[..., Any]:
    """Return a function that fails."""

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


def bits(path: Any) -> dict[str, bytes]:
    """Return all arrays of a model file, but for its certificate's seconds."""
    return {name: array.tobytes() for name, array in read(path)[1].items()}


def _table() -> pa.Table:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, ROWS)) * [[1.0], [100.0]]
    kind = np.array(["low", "mid", "high"])[rng.integers(0, 3, ROWS)]
    y = 2.0 * a - 0.01 * b + (kind == "high") + rng.normal(size=ROWS)
    return pa.table({"a": a, "b": b, "kind": kind, "y": y, "sign": np.where(y > 0, "plus", "minus")})


TABLE = _table()
NUMBERS = TABLE.select(["a", "b", "kind"])
GOOD = {"a": 1.0, "b": 2.0, "kind": "low"}
FITTED: dict[str, Any] = {}


def fitted(system: Any, target: str = "y", **options: Any) -> Any:
    """Return a model of the table, which is fitted once."""
    key = f"{system!r} {target} {options}"
    if key not in FITTED:
        FITTED[key] = system.fit(open_table(TABLE, target=target, features=["a", "b", "kind"], **options))
    return deepcopy(FITTED[key])


def learn_rows(count: int, first: int = 0) -> list[dict[str, Any]]:
    """Return rows of the table with their target."""
    return list(TABLE.select(["a", "b", "kind", "y"]).slice(first, count).to_pylist())


def as_json(rows: pa.Table) -> bytes:
    """Return rows as the body of a request in JSON."""
    return json.dumps({"rows": rows.to_pylist()}).encode()


def as_csv(rows: pa.Table) -> bytes:
    """Return rows as the body of a request in CSV."""
    out = io.BytesIO()
    csv.write_csv(rows, out)
    return out.getvalue()


def as_arrow(rows: pa.Table, **options: Any) -> bytes:
    """Return rows as the body of a request in Arrow's stream."""
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, rows.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(rows)
    return bytes(out.getvalue())


WRITE: dict[str, Callable[[pa.Table], bytes]] = {JSON: as_json, CSV: as_csv, ARROW: as_arrow}
"""What writes a body, by its kind."""
