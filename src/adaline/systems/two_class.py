"""One two-class machine of a scheme, of adaline or scikit-learn: taught, and asked how sure it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter
from adaline.systems.labels import Codes
from adaline.systems.reading import read_weights
from adaline.systems.streaming import CodedRows

Array = NDArray[np.float64]


def teach(machine: Any, verb: str, rows: Any, values: Array, codes: Codes, sample_weight: Any) -> None:
    """Let a machine learn from the rows of its classes, as 0 and 1."""
    side = values[codes]
    kept = ~np.isnan(side)
    if not kept.any():
        return
    more: dict[str, Any] = {"classes": np.array([0, 1])} if verb == "partial_fit" else {}
    if sample_weight is not None:
        more["sample_weight"] = read_weights(sample_weight, rows.shape[0])[kept]
    getattr(machine, verb)(rows if kept.all() else rows[kept], side[kept].astype(np.int64), **more)


def decision(machine: Any, rows: Any) -> Array:
    """Return a machine's decision values, (n,); zero before its first row."""
    if not hasattr(machine, "classes_"):
        return np.zeros(rows.shape[0])
    given = _given(machine, rows)
    if hasattr(machine, "decision_function"):
        return np.asarray(machine.decision_function(given), dtype=np.float64)
    if hasattr(machine, "predict_proba"):
        return np.asarray(machine.predict_proba(given)[:, 1] - 0.5)
    raise InvalidParameter(f"{type(machine).__name__} does not tell how sure it is: it has no decision_function")


def probability(machine: Any, rows: Any) -> Array:
    """Return a machine's probability of its class 1, (n,); even odds before its first row."""
    if not hasattr(machine, "classes_"):
        return np.full(rows.shape[0], 0.5)
    return np.asarray(machine.predict_proba(_given(machine, rows))[:, 1], dtype=np.float64)


def _given(machine: Any, rows: Any) -> Any:
    """Return rows as a machine takes them: those of adaline need not be read again."""
    return rows.view(CodedRows) if type(rows) is np.ndarray and hasattr(machine, "certificate_") else rows
