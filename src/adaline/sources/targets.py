"""Targets, weights and labels of a table: what is read from a frame beside the columns of X."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from threading import Lock
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from adaline.coding import Column
from adaline.coding.columns import ABSENT, UNKNOWN, is_missing, plain
from adaline.coding.expressions import evaluate
from adaline.errors import InvalidData, MissingValues, UnknownLabel
from adaline.sources.learning import missing_message, target_columns
from adaline.sources.relation import Relation

Array = NDArray[np.float64]
ReadTargets = Callable[[nw.DataFrame[Any], int], Array]
"""From a frame and the number of its first row to its targets, (n, K)."""

MOST_CLASSES = 1000


def no_targets(frame: nw.DataFrame[Any], first: int) -> Array:
    """Return targets for rows that are only to be predicted: none."""
    return np.empty((len(frame), 0))


def numbers(relation: Relation, targets: Sequence[str]) -> ReadTargets:
    """Return what reads targets, columns or expressions, as numbers."""

    def read(frame: nw.DataFrame[Any], first: int) -> Array:
        out = np.empty((len(frame), len(targets)))
        for k, wanted in enumerate(targets):
            columns = {name: number_column(relation, name, frame) for name in target_columns(relation, wanted)}
            out[:, k] = columns[wanted] if wanted in columns else evaluate(wanted, columns)
        return out

    return read


def number_column(relation: Relation, name: str, frame: nw.DataFrame[Any]) -> Array:
    """Return one column of a target as numbers, none of them missing."""
    if relation.kind(name) not in ("number", "boolean"):
        raise InvalidData(
            f"the target {name!r} holds {relation.schema[name]}, not numbers. A regression needs numbers as targets; "
            "use a classifier"
        )
    values = Column(name, "number").numbers(frame)
    if np.isnan(values).any():
        raise MissingValues(f"the target {name!r} has missing values")
    return values


def places(name: str, classes: NDArray[Any]) -> ReadTargets:
    """Return what reads labels as their places among classes."""
    column = Column(name, "category", tuple(plain(label) for label in classes))

    def read(frame: nw.DataFrame[Any], first: int) -> Array:
        codes = column.codes(frame)
        if (codes == ABSENT).any():
            raise MissingValues(f"the target {name!r} is missing at row {first + int((codes == ABSENT).argmax())}")
        if (codes == UNKNOWN).any():
            label = frame[name].to_list()[int((codes == UNKNOWN).argmax())]
            raise UnknownLabel(f"label '{label}' is not among the classes {list(column.levels)}")
        return codes.astype(np.float64)[:, None]

    return read


class Codebook:
    """Labels of a column, numbered in the order in which they are met: what reads them need not know them beforehand.

    Calling it reads the numbers of the labels of a frame, (n, 1), from any thread.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._numbers: dict[Any, int] = {}
        self._lock = Lock()

    def __call__(self, frame: nw.DataFrame[Any], first: int) -> Array:
        """Return the number of each label."""
        found = [plain(value) for value in frame[self.name].unique().to_list() if not is_missing(value)]
        with self._lock:
            for label in found:
                self._numbers.setdefault(label, len(self._numbers))
            check_labels(self.name, self._numbers)
            levels = np.array([*self._numbers, None], dtype=object)[:-1]
        return places(self.name, levels)(frame, first)

    def sorted(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the labels met, sorted, and the place among them of each number."""
        classes = np.unique(np.array(list(self._numbers))) if self._numbers else np.array([], dtype=object)
        return classes, np.searchsorted(classes, np.array(list(self._numbers), dtype=classes.dtype))


def check_labels(name: str, labels: Collection[Any]) -> None:
    """Refuse what are no labels: fractions, and too many different values."""
    if len(labels) > MOST_CLASSES or any(isinstance(label, float) for label in labels):
        raise InvalidData(
            f"Unknown label type: the target {name!r} has fractions, or more than {MOST_CLASSES} different values, so "
            "it is no label; use a regression, or cut it into classes"
        )


def weights(name: str, frame: nw.DataFrame[Any], first: int) -> Array:
    """Return a column of weights, numbers of zero or more."""
    out = Column(name, "number").numbers(frame)
    good = np.isfinite(out) & (out >= 0)
    if not good.all():
        row = int((~good).argmax())
        raise InvalidData(
            f"the weight in column {name!r} is {out[row]:g} at row {first + row}: weights are numbers of zero or more"
        )
    return out


def distinct_labels(relation: Relation, name: str, table: str, where: str, gaps: bool) -> NDArray[Any]:
    """Return the different values of a column of labels, sorted; refuse fractions, too many, unwanted gaps."""
    rows = relation.rows(f"SELECT DISTINCT {relation.value(name)} FROM {table} WHERE {where} LIMIT {MOST_CLASSES + 1}")
    found = [plain(row[0]) for row in rows if not is_missing(row[0])]
    if len(found) < len(rows) and not gaps:
        raise MissingValues(missing_message(relation, [name]))
    check_labels(name, found)
    return np.unique(np.array(found)) if found else np.array([], dtype=object)
