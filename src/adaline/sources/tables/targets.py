"""Readers of targets: from a frame of a table and the index of its first row to targets, (n, K).

They hold values and no table, so that they travel to where rows are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from hashlib import blake2b
from math import isfinite
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding import Coding, Column
from adaline.coding.columns import plain_level
from adaline.coding.expressions import evaluate
from adaline.coding.reading import is_missing
from adaline.coding.texts import ABSENT, UNKNOWN
from adaline.errors import InvalidData, MissingValues, UnknownLabel
from adaline.lazy import nw
from adaline.sources.tables.coding import missing_message, target_columns
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.sql import quoted

ReadTargets = Callable[["nw.DataFrame[Any]", int], Array]
"""A function from a frame and the index of its first row to its targets, (n, K)."""

MOST_LABELS = 1000


class Codebook:
    """A reader of labels that need not be known beforehand: each has a code, which is the same wherever it is met.

    Calling it returns the codes of the labels of a frame, (n, 1); several threads may do so. `codes` are those of the
    labels that were met in this process.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.codes: dict[Any, float] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Codebook, (self.name,)

    def __call__(self, frame: nw.DataFrame[Any], first: int) -> Array:
        """Return the code of the label of each row, (n, 1)."""
        found = labels_in(frame, self.name)
        with self._lock:
            for label in found:
                if label not in self.codes:
                    self.codes[label] = code_of(label)
            check_labels(self.name, self.codes)
            codes = np.array([self.codes[label] for label in found])
        levels = np.array([*found, None], dtype=object)[:-1]
        return codes[_label_indices(label_column(self.name, levels), frame, first)[:, 0].astype(np.intp)][:, None]

    def labels(self) -> dict[float, Any]:
        """Return the labels that were met, by their codes."""
        with self._lock:
            return {code: label for label, code in self.codes.items()}


def code_of(label: Any) -> float:
    """Return a whole number below 2^52 that stands for a label; two labels have the same once in 10^10 tables."""
    return float(int.from_bytes(blake2b(repr(label).encode(), digest_size=8).digest(), "big") >> 12)


def labels_in(frame: nw.DataFrame[Any], name: str) -> list[Any]:
    """Return the distinct values of a column of labels, without missing ones."""
    return [plain_level(value) for value in frame[name].unique().to_list() if not is_missing(value)]


def no_targets(frame: nw.DataFrame[Any], first: int) -> Array:
    """Return no targets, (n, 0), for rows to predict."""
    return np.empty((len(frame), 0))


def given_targets(t: Array) -> ReadTargets:
    """Return a reader of targets (N, K) that were made before."""
    return partial(_given, t)


def _given(t: Array, frame: nw.DataFrame[Any], first: int) -> Array:
    return t[first : first + len(frame)]


def beside_offset(read: ReadTargets, coding: Coding) -> ReadTargets:
    """Return a reader of targets with the offset as their last column."""
    return partial(_beside_offset, read, coding)


def _beside_offset(read: ReadTargets, coding: Coding, frame: nw.DataFrame[Any], first: int) -> Array:
    offset = coding.read_offset(frame, first)
    assert offset is not None
    return np.column_stack([read(frame, first), offset])


def columns_as_targets(texts: Sequence[str]) -> ReadTargets:
    """Return a reader of columns, or expressions of them, as numbers; NaN where they are missing."""
    return partial(_columns, [Coding((), (), offset=text) for text in texts])


def _columns(codings: list[Coding], frame: nw.DataFrame[Any], first: int) -> Array:
    columns: list[Any] = [coding.read_offset(frame) for coding in codings]
    return np.column_stack(columns) if columns else no_targets(frame, first)


def number_targets(relation: Relation, targets: Sequence[str]) -> ReadTargets:
    """Return a reader of targets, columns or expressions, as numbers; refuse columns that hold none."""
    columns = [(target, target_columns(relation, target)) for target in targets]
    for name in (name for _, names in columns for name in names):
        _check_number(relation, name)
    return partial(_numbers, columns)


def _numbers(columns: list[tuple[str, list[str]]], frame: nw.DataFrame[Any], first: int) -> Array:
    out = np.empty((len(frame), len(columns)))
    for k, (target, names) in enumerate(columns):
        values = {name: _number_column(name, frame) for name in names}
        out[:, k] = values[target] if target in values else evaluate(target, values)
    return out


def _number_column(name: str, frame: nw.DataFrame[Any]) -> Array:
    """Return one column of a target as numbers, (n,); refuse missing values."""
    values = Column(name, "number").numbers(frame)
    if np.isnan(values).any():
        raise MissingValues(f"the target {name!r} has missing values")
    return values


def _check_number(relation: Relation, name: str) -> None:
    """Refuse a column of a target that does not hold numbers."""
    if relation.kind(name) in ("other", "date"):
        raise InvalidData(
            f"the target {name!r} holds {relation.schema[name]}, neither numbers nor texts. Turn it into numbers for a "
            f"regression or texts for a classifier, by a query: SELECT CAST({quoted(name)} AS VARCHAR) AS ..."
        )
    if relation.kind(name) not in ("number", "boolean"):
        raise InvalidData(
            f"the target {name!r} holds texts, not numbers. A regression needs numbers as targets; "
            "use a classifier, such as LogisticRegression"
        )


def label_indices(name: str, classes: NDArray[Any]) -> ReadTargets:
    """Return a reader of labels as their indices among the classes."""
    return partial(_label_indices, label_column(name, classes))


def label_column(name: str, classes: NDArray[Any]) -> Column:
    """Return a column of labels as a category."""
    return Column(name, "category", tuple(plain_level(label) for label in classes))


def _label_indices(column: Column, frame: nw.DataFrame[Any], first: int) -> Array:
    codes = column.codes(frame, exact=True)
    if (codes == ABSENT).any():
        raise MissingValues(f"the target {column.name!r} is missing at row {first + int((codes == ABSENT).argmax())}")
    if (codes == UNKNOWN).any():
        label = frame[column.name].to_list()[int((codes == UNKNOWN).argmax())]
        raise UnknownLabel(f"label '{label}' is not among the classes {list(column.levels)}")
    return codes.astype(np.float64)[:, None]


def number_indices(classes: NDArray[Any], labels: Array) -> Array:
    """Return the indices of labels that are numbers among the classes, in whatever order these are."""
    order = np.argsort(classes, kind="stable")
    found = order[np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)]
    unknown = classes[found] != labels
    if unknown.any():
        raise UnknownLabel(f"label '{plain_level(labels[unknown][0])}' is not among the classes {classes.tolist()}")
    return found.astype(np.float64)


def check_labels(name: str, labels: Collection[Any]) -> None:
    """Refuse values that are no labels: fractions and infinity, or too many distinct values."""
    amount = next((label for label in labels if isinstance(label, float)), None)
    if amount is not None or len(labels) > MOST_LABELS:
        found = f"more than {MOST_LABELS:,} different values"
        if amount is not None:
            found = f"fractions, such as {amount:.6g}" if isfinite(amount) else f"the value {amount:g}"
        remedy = "use a regression, such as LinearRegression, or cut it into classes"
        if any(isinstance(label, str) for label in labels):
            remedy = "choose another target, or merge its values into fewer classes"
        raise InvalidData(f"Unknown label type: the target {name!r} has {found}, so it is no label; {remedy}")


def weight_column(name: str, frame: nw.DataFrame[Any], first: int) -> Array:
    """Return a column of weights, (n,); refuse negative and missing ones."""
    out = Column(name, "number").numbers(frame)
    good = np.isfinite(out) & (out >= 0)
    if not good.all():
        row = int((~good).argmax())
        raise InvalidData(
            f"the weight in column {name!r} is {out[row]:g} at row {first + row}: weights are numbers of zero or more"
        )
    return out


def distinct_labels(relation: Relation, name: str, where: str, gaps: bool) -> NDArray[Any]:
    """Return the distinct values of a column of labels, sorted; refuse missing ones unless `gaps`."""
    asked = f"SELECT DISTINCT {relation.value(name)} FROM {relation.sql} WHERE {where} LIMIT {MOST_LABELS + 1}"
    rows = relation.rows(asked)
    found = [plain_level(row[0]) for row in rows if not is_missing(row[0])]
    if len(found) < len(rows) and not gaps:
        raise MissingValues(missing_message(relation, [name], [name]))
    return sorted_labels(name, found)


def sorted_labels(name: str, labels: Collection[Any]) -> NDArray[Any]:
    """Return different labels, sorted; refuse values that are none."""
    check_labels(name, labels)
    return np.unique(np.array(list(labels))) if labels else np.array([], dtype=object)
