"""Labels in a column of a table: the different ones, their order, and their indices among classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from math import isfinite
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding import Column
from adaline.coding.columns import plain_level
from adaline.coding.reading import is_missing
from adaline.coding.texts import ABSENT, UNKNOWN
from adaline.errors import InvalidData, InvalidParameter, MissingValues, UnknownLabel
from adaline.lazy import nw
from adaline.sources.tables.coding import declared_order, missing_message
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.targets import ReadTargets

MOST_LABELS = 1000


TEXTS = ("text", "category")  # kinds of columns that only a classifier can learn


@dataclass(frozen=True)
class LabelColumn:
    """The target of a classifier: a column of a table, and its levels in the order that categories= names, if any."""

    relation: Relation
    name: str
    named: tuple[Any, ...] | None = None

    @classmethod
    def among(cls, relation: Relation, targets: Sequence[str], categories: Iterable[tuple[str, Any]]) -> LabelColumn:
        """Return the only target of a table; refuse several, and expressions."""
        if len(targets) != 1:
            raise InvalidParameter("a classifier needs one target: open the table with target='column'")
        if targets[0] not in relation.schema:
            raise InvalidData(f"a classifier needs a column as target, not the expression {targets[0]!r}")
        return cls(relation, targets[0], dict(categories).get(targets[0]))

    @property
    def are_numbers(self) -> bool:
        """Whether the labels are numbers."""
        return self.relation.kind(self.name) == "number"

    def order(self) -> list[Any] | None:
        """Return the levels as categories= names them, or the table declares them; None elsewhere."""
        return declared_order(self.relation, self.name) if self.named is None else list(self.named)

    def distinct(self, where: str, gaps: bool) -> NDArray[Any]:
        """Return the different labels of the rows that meet a condition, sorted; refuse missing ones unless `gaps`."""
        value, relation = self.relation.value(self.name), self.relation
        rows = relation.rows(f"SELECT DISTINCT {value} FROM {relation.sql} WHERE {where} LIMIT {MOST_LABELS + 1}")
        found = [plain_level(row[0]) for row in rows if not is_missing(row[0])]
        if len(found) < len(rows) and not gaps:
            raise MissingValues(missing_message(relation, [self.name], [self.name]))
        return sorted_labels(self.name, found)


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


def sorted_labels(name: str, labels: Collection[Any]) -> NDArray[Any]:
    """Return different labels, sorted; refuse values that are none."""
    check_labels(name, labels)
    return np.unique(np.array(list(labels))) if labels else np.array([], dtype=object)
