"""Columns of numbers, booleans and dates as they are given, read as what a model was fitted to: in one way, everywhere.

Frames, tables, the rows of the service and those that `adaline predict` writes next to its predictions have values of
the right type, which are taken as they are, or texts and objects, which are read value by value: numbers in the
notation of the fit, dates in it or in ISO 8601, times with a zone in UTC. Words such as "n.a." are missing values. What
cannot be read is a problem of its row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.coding.numerals import Notation, is_word, read_text
from adaline.coding.problems import Mask, shown_level
from adaline.coding.texts import written
from adaline.errors import InvalidData
from adaline.lazy import nw

ARROW_NUMBERS = ("double", "float", "bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32)))
"""Types of Arrow that float64 holds exactly."""
ARROW_TYPES = {"number": "double", "boolean": "bool", "date": "timestamp[us]"}
"""The Arrow type of each kind of column."""
WRONG = {"number": "non-numeric value", "boolean": "invalid boolean", "date": "invalid date"}
"""The problem of a value that is not of the kind of its column."""
PLURAL = {"number": "numbers", "boolean": "booleans", "date": "dates"}
DAY = 86400.0
EPOCH = datetime(1970, 1, 1)
PLAIN_SIGNS = frozenset("0123456789.+-eE\n")
"""Signs of numbers that Python reads as they are written."""


@dataclass(frozen=True)
class ReadColumn:
    """The values of a column.

    Parameters
    ----------
    values : (n,) float64, dates as days since 1970; NaN where a value is missing, or cannot be read.
    wrong : which values cannot be read, (n,), by problems such as "non-numeric value".
    given : the values as texts, where some cannot be read.
    """

    values: Array
    wrong: dict[str, Mask] = field(default_factory=dict)
    given: Sequence[str] = ()

    def refuse_unreadable(self, name: str, kind: str, first_row: int = 0) -> None:
        """Refuse a column some of whose values cannot be read, naming the first of them."""
        if self.wrong:
            row = min(int(rows.argmax()) for rows in self.wrong.values())
            raise InvalidData(
                f"column {name!r} holds {shown_level(self.given[row])} at row {first_row + row}, and the model was "
                f"fitted to {PLURAL[kind]}: correct the value"
            )


def read_column(frame: nw.DataFrame[Any], name: str, kind: str, notation: Notation | None = None) -> ReadColumn:
    """Return a column of numbers, booleans or dates of a frame; texts are read in a notation, or the plain one.

    Examples
    --------
    >>> import narwhals as nw, pyarrow as pa
    >>> from adaline.coding.reading import read_column
    >>> frame = nw.from_native(pa.table({"x": ["1.5", "n.a.", "much"]}), eager_only=True)
    >>> found = read_column(frame, "x", "number")
    >>> found.values.tolist(), found.wrong["non-numeric value"].tolist()
    ([1.5, nan, nan], [False, False, True])
    """
    if frame.implementation.is_pyarrow():
        native = frame.to_native().column(name)
        type_ = str(native.type)
        if kind != "date" and type_ in ARROW_NUMBERS and (kind == "number" or type_ == "bool"):
            return ReadColumn(arrow_numbers(native))  # the common case; of doubles without a copy
        if kind == "date" and type_.startswith(("timestamp[us", "date32")):
            micro = (native if type_[0] == "t" else native.cast(ARROW_TYPES[kind])).cast("int64")
            gaps = _array(micro.is_null().cast("uint8")).astype(bool) if micro.null_count else None
            return ReadColumn(_days_of(_array(micro.fill_null(0)), gaps))
    if kind != "date" and frame.implementation.is_pandas():
        native = frame.to_native()[name]
        if isinstance(native.dtype, np.dtype) and native.dtype.kind in ("b" if kind == "boolean" else "biuf"):
            return ReadColumn(native.to_numpy(dtype=np.float64))  # without the types of narwhals, which take longer
    series = frame[name]
    dtype = series.dtype
    if kind == "date" and dtype in (nw.Date, nw.Datetime):
        return ReadColumn(_days(series))
    if kind != "date" and (dtype == nw.Boolean or dtype.is_numeric()):
        found = ReadColumn(_numbers(series))
        return _truths(found, series) if kind == "boolean" and dtype != nw.Boolean else found
    if kind == "number" and dtype == nw.String and (notation is None or notation.plain):
        numbers = _plain_numbers(series)
        if numbers is not None:
            return ReadColumn(numbers)
    try:
        values = series.to_list()
    except OverflowError:  # times beyond those of Python, as of a text file all of whose values are "inf"
        values = [str(dtype)] * len(series)
    read, wrong = read_values(values, kind, notation)
    given = [*map(written, values)] if wrong else ()
    if kind == "date":
        micro = [0 if when is None else (when - EPOCH) // timedelta(microseconds=1) for when in read]
        gaps = np.array([when is None for when in read], dtype=bool)
        return ReadColumn(_days_of(np.array(micro, dtype=np.int64), gaps), wrong, given)
    return ReadColumn(np.array([math.nan if one is None else one for one in read], dtype=np.float64), wrong, given)


def read_values(
    values: Sequence[Any], kind: str, notation: Notation | None = None
) -> tuple[list[Any], dict[str, Mask]]:
    """Return values as numbers, booleans or naive times of UTC, None where missing or wrong; and which are wrong."""
    try:
        known = {value: read_value(value, kind, notation) for value in set(values)}
    except TypeError:  # lists and the like
        values = [type(value).__name__ if type(value).__hash__ is None else value for value in values]
        known = {value: read_value(value, kind, notation) for value in set(values)}
    wrong: dict[str, Mask] = {}
    for problem in sorted({problem for _, problem in known.values() if problem}):
        wrong[problem] = np.array([known[value][1] == problem for value in values], dtype=bool)
    return [known[value][0] for value in values], wrong


def read_value(value: Any, kind: str, notation: Notation | None = None) -> tuple[Any, str]:
    """Return a value as a number, a boolean or a naive time of UTC, None where there is none; and what is wrong.

    Examples
    --------
    >>> from adaline.coding.reading import read_value
    >>> read_value(1, "boolean"), read_value(2, "boolean"), read_value("2024-12-31T01:00+01:00", "date")
    ((True, ''), (None, 'invalid boolean'), (datetime.datetime(2024, 12, 31, 0, 0), ''))
    """
    if isinstance(value, str):
        return (None, "") if is_word(value) else read_text(value, kind, notation)
    if is_missing(value):
        return None, ""
    if kind == "date":
        if isinstance(value, datetime):
            return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None), ""
        return (datetime(value.year, value.month, value.day), "") if isinstance(value, date) else (None, WRONG[kind])
    if not isinstance(value, int | float | Decimal | np.number | np.bool_):
        return None, WRONG[kind]
    if kind == "boolean":
        return (bool(value), "") if value in (0, 1) else (None, WRONG[kind])
    try:
        return float(value), ""
    except OverflowError:
        return None, WRONG[kind]


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or NA of pandas."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def arrow_numbers(column: Any) -> Array:
    """Return a column of numbers, (n,), NaN where missing; not copied if it is one chunk of doubles without gaps."""
    if str(column.type) != "double":
        column = column.cast("double")
    if column.null_count:
        column = column.fill_null(math.nan)
    return np.asarray(_array(column), dtype=np.float64)


def _array(column: Any) -> NDArray[Any]:
    """Return an Arrow column without gaps as an array; Arrow's own to_numpy imports pandas."""
    return np.from_dlpack(column.chunk(0) if column.num_chunks == 1 else column.combine_chunks())


def _numbers(series: nw.Series[Any]) -> Array:
    """Return numbers or booleans of a frame as float64, NaN where missing."""
    if series.implementation.is_pyarrow() and series.dtype.is_integer():  # of which some are rounded
        return arrow_numbers(series.to_native().cast("double", safe=False))
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _truths(found: ReadColumn, series: nw.Series[Any]) -> ReadColumn:
    """Return numbers that stand for booleans, zeros and ones."""
    wrong = ~((found.values == 0) | (found.values == 1) | np.isnan(found.values))
    if not wrong.any():
        return found
    return ReadColumn(
        np.where(wrong, math.nan, found.values), {WRONG["boolean"]: wrong}, [*map(written, series.to_list())]
    )


def _plain_numbers(series: nw.Series[Any]) -> Array | None:
    """Return texts as numbers where all are plainly written, as most are; None where one by one may read more."""
    try:
        if series.implementation.is_pyarrow():
            return arrow_numbers(series.to_native().cast("double"))
        values = series.to_list()
        return np.array(values, dtype=np.float64) if PLAIN_SIGNS.issuperset("\n".join(values)) else None
    except (TypeError, ValueError):  # also of Arrow
        return None


def _days(series: nw.Series[Any]) -> Array:
    """Return dates and times as days since 1970-01-01, fractions included, NaN where missing."""
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    micro, gaps = series.dt.timestamp("us"), np.asarray(series.is_null().to_numpy(), dtype=bool)
    return _days_of(np.asarray(micro.fill_null(0).to_numpy()).astype(np.int64), gaps)


def _days_of(micro: NDArray[np.int64], gaps: Mask | None) -> Array:
    """Return microseconds since 1970 as days, NaN where there are gaps."""
    seconds = micro // 1_000_000  # floats of integers beyond 2^53, as of the year 9999, would be rounded
    days: Array = (seconds + (micro - seconds * 1_000_000) / 1e6) / DAY
    return days if gaps is None else np.where(gaps, math.nan, days)
