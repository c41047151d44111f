"""Learning the coding of a frame in memory, and the messages for columns that cannot be coded."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from adaline.arrays import DataLike, framed
from adaline.coding.coding import Coding
from adaline.coding.columns import Column, is_missing, is_text, kind_of, learn_category, plain_levels, texts_of
from adaline.coding.terms import Term, TermFactor, without_repetition
from adaline.errors import InvalidData, InvalidType, MissingValues
from adaline.lazy import nw
from adaline.wording import counted


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
    columns = []
    for name, kind in kinds.items():
        series = frame[name]
        if kind in ("number", "boolean"):
            columns.append(Column(name, kind))
            continue
        if kind not in ("text", "category"):
            raise InvalidData(refusal(name, kind, str(series.dtype)))
        columns.append(_learn(name, kind, series))
    return Coding(tuple(columns), plain_terms(columns))


def _kind(frame: nw.DataFrame[Any], name: str, dtype: Any) -> str:
    """Return the kind of a column as `kind_of` does, by its values where pandas knows none: decimals are numbers."""
    if dtype != nw.Object:
        return kind_of(dtype)
    present = [value for value in frame[name].to_list() if not is_missing(value)]
    for type_, found in ((Decimal, "number"), (date, "date")):
        if present and all(isinstance(value, type_) for value in present):
            return found
    return kind_of(dtype)


def _learn(name: str, kind: str, series: nw.Series[Any]) -> Column:
    counts, absent = _counted_texts(series) or _counted_objects(name, series)
    if absent:
        raise MissingValues(
            f"column {name!r} has {counted(absent, 'missing value')}. Fill them, leave such rows out, or use "
            "open_table(frame, target=..., missing='drop')"
        )
    other = next((v for v in counts if not isinstance(v, str | int | float | bool | np.generic)), None)
    if other is not None:
        raise InvalidData(
            f"column {name!r} holds {type(other).__name__}: it is neither a number nor a category. Drop it."
        )
    if kind == "text" and is_text(len(counts), len(series)):
        raise InvalidData(refusal(name, "text", f"{len(counts):,} different texts"))
    levels = sorted(counts, key=_rank)
    if kind == "category":
        levels = [level for level in series.cat.get_categories().to_list() if level in counts]
    return learn_category(name, plain_levels(levels), np.array([counts[level] for level in levels], dtype=np.int64))


def _rank(level: Any) -> tuple[bool, Any]:
    return isinstance(level, str), level


def _counted_texts(series: nw.Series[Any]) -> tuple[dict[Any, int], int] | None:
    """Return how often each value of a series of texts occurs, and how many are missing; None for other series."""
    if series.dtype != nw.String:
        return None
    texts = texts_of(series)
    there = np.ones(texts.rows, dtype=np.int64) if texts.absent is None else (~texts.absent).astype(np.int64)
    found, counts, _ = texts.distinct(there)
    pairs = zip(found.to_list(), counts.tolist(), strict=True)
    return {text: count for text, count in pairs if count}, texts.rows - int(there.sum())


def _counted_objects(name: str, series: nw.Series[Any]) -> tuple[dict[Any, int], int]:
    """Return how often each value of a series occurs, and how many are missing; refuse lists and the like."""
    counts: dict[Any, int] = {}
    for value in series.to_list():
        if isinstance(value, list | dict | set | np.ndarray):
            raise InvalidData(refusal(name, "other", type(value).__name__))
        counts[value] = counts.get(value, 0) + 1
    return counts, sum(count for value, count in counts.items() if is_missing(value))


def refusal(name: str, kind: str, what: str) -> str:
    """Return a message that says why a column cannot be used, and what to do."""
    if kind == "date":
        return (
            f"could not convert column {name!r} of type {what} to float: dates are not numbers. Name it in dates= "
            "(open_table) to use it as days since 1970, or leave it out"
        )
    if kind == "text":
        return (
            f"column {name!r} holds {what}: text, not a category. Leave it out, or name it in categories= (open_table) "
            "to code every text, in hashed= if they are ids, or in words= to count its words"
        )
    return (
        f"could not convert column {name!r} of type {what} to float: it is neither a column of numbers nor of "
        "categories. Leave it out or turn it into numbers"
    )
