"""One two-class machine of a scheme, of adaline or scikit-learn: taught, and asked how sure it is.

A regression is fitted to 0 and 1, and decides at 1/2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

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
    named = verb == "partial_fit" and not is_regressor(machine)
    more: dict[str, Any] = {"classes": np.array([0, 1])} if named else {}
    if sample_weight is not None:
        more["sample_weight"] = read_weights(sample_weight, rows.shape[0])[kept]
    getattr(machine, verb)(rows if kept.all() else rows[kept], side[kept].astype(np.int64), **more)


def taught(machine: Any) -> bool:
    """Whether a machine has learned from any row."""
    return hasattr(machine, "n_features_in_" if is_regressor(machine) else "classes_")


def check_machine(machine: Any) -> None:
    """Refuse a system that is neither a classifier that tells how sure it is, nor a regression."""
    sure = hasattr(machine, "decision_function") or hasattr(machine, "predict_proba")
    if not hasattr(machine, "fit") or not (sure or is_regressor(machine)):
        raise InvalidParameter(
            "system must be a classifier for two classes with decision_function or predict_proba, such as "
            f"LogisticRegression(), or a regression, got {machine!r}"
        )


def decision(machine: Any, rows: Any) -> Array:
    """Return a machine's decision values, (n,); zero before its first row."""
    if not taught(machine):
        return np.zeros(rows.shape[0])
    given = _given(machine, rows)
    if is_regressor(machine):
        return np.asarray(machine.predict(given), dtype=np.float64).reshape(rows.shape[0]) - 0.5
    if hasattr(machine, "decision_function"):
        return np.asarray(machine.decision_function(given), dtype=np.float64)
    return np.asarray(machine.predict_proba(given)[:, 1] - 0.5)


def probability(machine: Any, rows: Any) -> Array:
    """Return a machine's probability of its class 1, (n,); even odds before its first row."""
    if not taught(machine):
        return np.full(rows.shape[0], 0.5)
    return np.asarray(machine.predict_proba(_given(machine, rows))[:, 1], dtype=np.float64)


def _given(machine: Any, rows: Any) -> Any:
    """Return rows as a machine takes them: those of adaline need not be read again."""
    return rows.view(CodedRows) if type(rows) is np.ndarray and hasattr(machine, "certificate_") else rows
