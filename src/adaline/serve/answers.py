"""Answers about rows: the predictions of a model, written as JSON, CSV or an Arrow stream."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from csv import writer
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from adaline.errors import AdalineError
from adaline.fitted import AnyModel, gives_probabilities
from adaline.serve.requests import ARROW, CSV, JSON, PredictRequest, Refused
from adaline.wording import plain

ENCODER = msgspec.json.Encoder()
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # of Arrow: a message without a head


@dataclass(frozen=True)
class Answer:
    """Predictions of rows, with limits and probabilities where they were asked for.

    Parameters
    ----------
    predictions : (n,), numbers or labels, or (n, K) of K targets.
    bands : "lower" and "upper", as the predictions.
    probabilities : labels to (n,).
    """

    predictions: NDArray[Any]
    bands: dict[str, NDArray[Any]] = field(default_factory=dict)
    probabilities: dict[str, NDArray[Any]] = field(default_factory=dict)

    def written(self, kind: str) -> bytes:
        """Return the answer as a body of a kind."""
        return WRITERS[kind](self)


def answer(model: AnyModel, x: Any, request: PredictRequest) -> Answer:
    """Return the answers of a model about coded rows; refuse what the model cannot answer."""
    try:
        if request.interval is not None:
            _check_interval(model)
            found = model.predict(x, interval=request.interval, level=request.level)
            predictions, lower, upper = map(np.asarray, found)
            bands = {"lower": lower, "upper": upper}
        else:
            predictions, bands = np.asarray(model.predict(x)), {}
        probabilities = _probabilities(model, x) if request.probabilities else {}
    except (AdalineError, ValueError, OverflowError, FloatingPointError) as error:
        raise error if isinstance(error, Refused) else Refused(422, str(error)) from None
    return Answer(predictions, bands, probabilities)


def _check_interval(model: AnyModel) -> None:
    if "interval" not in _arguments(type(model).predict):
        raise Refused(422, f"{type(model).__name__} gives no intervals")


@lru_cache(maxsize=64)
def _arguments(predict: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(predict).parameters)


def _probabilities(model: AnyModel, x: Any) -> dict[str, NDArray[Any]]:
    if not gives_probabilities(model):
        raise Refused(422, f"{type(model).__name__} gives no probabilities")
    shares = np.asarray(model.predict_proba(x))
    return {str(label): shares[:, k] for k, label in enumerate(model.classes_.tolist())}


def _json(found: Answer) -> bytes:
    out: dict[str, Any] = {"predictions": found.predictions.tolist()}
    out |= {name: values.tolist() for name, values in found.bands.items()}
    if found.probabilities:
        labels = list(found.probabilities)
        shares = zip(*(values.tolist() for values in found.probabilities.values()), strict=True)
        out["probabilities"] = [dict(zip(labels, row, strict=True)) for row in shares]
    try:
        return ENCODER.encode(out)
    except (TypeError, ValueError):  # labels of other types
        return ENCODER.encode(plain(out))


def _table(found: Answer) -> Any:
    columns = {"prediction": found.predictions, **found.bands}
    columns |= {f"probability_{label}": values for label, values in found.probabilities.items()}
    out: dict[str, Any] = {}
    for name, values in columns.items():
        if values.ndim == 1:
            out[name] = pa.array(values.tolist() if values.dtype.kind == "O" else values)
        else:
            out |= {f"{name}_{k}": pa.array(column) for k, column in enumerate(values.T)}
    return pa.record_batch(out)


def _csv(found: Answer) -> bytes:
    table = _table(found)
    head = io.StringIO()
    writer(head, lineterminator="\n").writerow(table.schema.names)
    out = io.BytesIO(head.getvalue().encode())
    out.seek(0, io.SEEK_END)
    csv.write_csv(table, out, csv.WriteOptions(include_header=False, quoting_style="needed"))
    return out.getvalue()


def _arrow(found: Answer) -> bytes:
    batch = _table(found)
    return b"".join((batch.schema.serialize(), batch.serialize(), END_OF_STREAM))


WRITERS: dict[str, Callable[[Answer], bytes]] = {JSON: _json, CSV: _csv, ARROW: _arrow}
