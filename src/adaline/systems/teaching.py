"""How the machines of a scheme get to see rows: through its basis, each with the labels 0 and 1 of its classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import InvalidParameter, UnknownLabel
from adaline.sources import ArraySource, Source
from adaline.systems.expanding import basis_of, learn_basis, seen
from adaline.systems.labelled import coded_source
from adaline.systems.labels import Codes, Labels
from adaline.systems.reading import open_given, read_weights, unlabelled_source
from adaline.systems.streaming import CodedRows, ScoredOnSources

Array = NDArray[np.float64]


def open_encoded(
    scheme: Any, source: Source, y: Any, sample_weight: Any, known: Labels | None, *, reset: bool
) -> tuple[Source, Labels]:
    """Return the rows of a source with the places of their labels, and the labels: those known, or those found."""
    given = open_given(scheme, source, y, sample_weight, reset=reset)
    if reset:
        learn_basis(scheme, given)
    found = given.labels(guess=True) if known is None else known
    try:
        encoded = given.encoded(found)
        encoded.target()
    except UnknownLabel:
        if known is not None:
            raise
        found = given.labels()
        encoded = given.encoded(found)
    return seen(scheme, encoded), found


def seen_array(scheme: Any, rows: Any, codes: Codes, sample_weight: Any, *, reset: bool) -> Any:
    """Return rows in memory as the machines see them: an array, or where phi is large a source, if they take one."""
    if reset:
        learn_basis(scheme, unlabelled_source(scheme, rows, sample_weight))
    if basis_of(scheme) is None:
        return rows
    source = seen(scheme, coded_source(scheme, rows, codes, sample_weight))
    if isinstance(source, ArraySource):
        return source.x
    return source if isinstance(scheme._machine(), ScoredOnSources) else source.rows_at(np.arange(source.n_rows))


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
    given = rows.view(CodedRows) if type(rows) is np.ndarray and hasattr(machine, "certificate_") else rows
    if not hasattr(machine, "classes_"):
        return np.zeros(rows.shape[0])
    if hasattr(machine, "decision_function"):
        return np.asarray(machine.decision_function(given), dtype=np.float64)
    if hasattr(machine, "predict_proba"):
        return np.asarray(machine.predict_proba(given)[:, 1] - 0.5)
    raise InvalidParameter(f"{type(machine).__name__} does not tell how sure it is: it has no decision_function")
