"""Frames in memory: the kinds of their columns, and their coding, learned as that of a table is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from adaline.arrays import DataLike, framed
from adaline.coding.coding import Coding
from adaline.coding.columns import Column, kind_of
from adaline.coding.learn import MOST_KEPT, TEXTS, ColumnPlan, check_coding, learn_column, refusal, refuse_prose
from adaline.coding.levels import LevelSummary
from adaline.coding.reading import is_missing
from adaline.coding.terms import Term, TermFactor, without_repetition
from adaline.errors import InvalidData, InvalidType, MissingValues
from adaline.lazy import nw
from adaline.wording import counted

OBJECTS = ((bool, "boolean"), ((int, float, Decimal, np.number), "number"), (date, "date"))
"""Types of values, and the kind of a column of objects that holds no others, as pandas has them."""


def plain_terms(columns: Iterable[Column]) -> tuple[Term, ...]:
    """Return the terms of a design without a formula: every column once."""
    columns = list(columns)
    terms = [Term((TermFactor(column.name, column.name, column.is_category),)) for column in columns]
    return without_repetition(terms, True, [c.name for c in columns if c.is_category and not c.has_levels])


def collected(data: DataLike) -> Any:
    """Return a lazy frame, such as polars', with its rows in memory; other objects as they are."""
    frame = framed(data)
    return frame.collect().to_native() if isinstance(frame, nw.LazyFrame) else data


def learn_from_frame(frame: nw.DataFrame[Any]) -> Coding | None:
    """Return the coding of a frame that holds categories; None where it holds numbers alone.

    Columns of texts, declared categories and enums become categories; dates, prose and other types are refused.
    """
    kinds = {name: _kind(frame, name, dtype) for name, dtype in frame.schema.items()}
    if all(kind in ("number", "boolean") for kind in kinds.values()):
        return None
    wrong = next((name for name in kinds if not isinstance(name, str)), None)
    if wrong is not None:
        raise InvalidType(f"the frame has a column {wrong!r}: names must be texts, as X.columns.astype(str) makes them")
    columns = tuple(_learn(name, kind, frame[name]) for name, kind in kinds.items())
    coding = Coding(columns, plain_terms(columns))
    check_coding(coding)
    return coding


def _kind(frame: nw.DataFrame[Any], name: str, dtype: Any) -> str:
    """Return the kind of a column as `kind_of` does, by its values where pandas knows none."""
    if dtype != nw.Object:
        return kind_of(dtype)
    present = [value for value in frame[name].to_list() if not is_missing(value)]
    for types, found in OBJECTS:
        if present and all(isinstance(value, types) for value in present):
            return found
    return kind_of(dtype)


def _learn(name: str, kind: str, series: nw.Series[Any]) -> Column:
    plan = ColumnPlan(name, kind, declared=series.cat.get_categories().to_list() if kind == "category" else None)
    if kind in ("number", "boolean"):
        return learn_column(plan, None, None, len(series))
    if kind not in TEXTS:
        raise InvalidData(refusal(name, kind, type(series.dtype).__name__))
    summary = LevelSummary(MOST_KEPT)
    try:
        strange = summary.add_series(series)
    except TypeError:
        kinds = {type(value).__name__ for value in series.to_list() if type(value).__hash__ is None}
        raise InvalidData(refusal(name, "other", min(kinds))) from None
    if summary.missing:
        raise MissingValues(
            f"column {name!r} has {counted(summary.missing, 'missing value')}. Fill them, leave such rows out, or use "
            "open_table(frame, target=..., missing='drop')"
        )
    if strange is not None:
        raise InvalidData(f"column {name!r} holds {strange}: it is neither a number nor a category. Drop it.")
    column = learn_column(plan, summary, None, len(series))
    if kind == "text":
        refuse_prose(name, len(column.levels), len(series))
    return column
