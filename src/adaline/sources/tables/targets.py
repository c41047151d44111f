"""Readers of targets: from a frame of a table and the index of its first row to targets, (n, K).

They hold values and no table, so that they travel to where rows are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from adaline.arrays import Array
from adaline.coding import Coding, Column
from adaline.coding.expressions import evaluate
from adaline.errors import InvalidData, MissingValues
from adaline.lazy import nw
from adaline.sources.tables.coding import target_columns
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.sql import quoted

ReadTargets = Callable[["nw.DataFrame[Any]", int], Array]
"""A function from a frame and the index of its first row to its targets, (n, K)."""


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
