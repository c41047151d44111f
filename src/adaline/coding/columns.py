"""One raw column of a table: its kind, and what was learned from its values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.arrays import Array
from adaline.errors import InvalidData
from adaline.lazy import nw

Codes = NDArray[np.intp]
Level = str | int | float | bool

MOST_LEVELS = 1000  # a text column with more distinct values is prose, not a category, unless it is named as one
FEW_LEVELS = 20  # so is one with more distinct values than this, most of which occur once
ABSENT, UNKNOWN = -1, -2  # codes of a missing value, and of a level that was not there when levels were learned
MISSING_LEVEL = "(missing)"
DAY = 86400.0


@dataclass(frozen=True)
class Column:
    """A raw column as a coding knows it.

    Parameters
    ----------
    name : of the column.
    kind : "number", "boolean", "date" (days since 1970) or "category".
    levels : of a category, the reference first.
    share : how often each level occurred, as a fraction of the rows.
    mean : of the values present, for numbers where missing ones are filled.
    gaps : whether missing values have a column (numbers) or a level (categories) of their own.
    """

    name: str
    kind: str
    levels: tuple[Level, ...] = ()
    share: tuple[float, ...] = ()
    mean: float = math.nan
    gaps: bool = False

    @property
    def is_category(self) -> bool:
        """Whether the column is coded by levels."""
        return self.kind == "category"

    def shown_levels(self) -> list[str]:
        """Return the levels as text, that of missing values last."""
        return [*map(str, self.levels), *([MISSING_LEVEL] if self.gaps else [])]

    def numbers(self, frame: nw.DataFrame[Any]) -> Array:
        """Return the values in a frame as float64, NaN where missing."""
        native = frame.to_native()
        if frame.implementation.is_pyarrow() and str(native.schema.field(self.name).type) == "double":
            return _arrow_numbers(native.column(self.name))  # the common case, without a copy
        series = frame[self.name]
        if self.kind == "date":
            return days(series)
        try:
            return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        except Exception:
            raise InvalidData(
                f"column {self.name!r} holds {series.dtype}, the model was fitted to numbers there"
            ) from None

    def codes(self, frame: nw.DataFrame[Any]) -> Codes:
        """Return the index of each value among the levels, (n,): ABSENT where missing, UNKNOWN for other levels."""
        series = frame[self.name]
        if series.dtype.is_numeric() and all(isinstance(level, int | float) for level in self.levels):
            return _number_codes(self.numbers(frame), self.levels)
        if series.dtype.is_numeric():  # numbers where the levels are texts
            return _text_codes(series.to_list(), self.levels)
        known = {level: i for i, level in enumerate(self.levels)}

        def code(value: Any) -> int:
            return ABSENT if is_missing(value) else known.get(plain(value), UNKNOWN)

        if series.implementation.is_pyarrow():
            return _arrow_codes(series.to_native(), code)
        index = {value: code(value) for value in series.unique().to_list()}
        return np.array([index.get(value, ABSENT) for value in series.to_list()], dtype=np.intp)


def days(series: nw.Series[Any]) -> Array:
    """Return dates and times as days since 1970-01-01, fractions included, NaN where missing."""
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    micro = series.dt.timestamp("us")
    return np.asarray(micro.cast(nw.Float64).to_numpy(), dtype=np.float64) / (DAY * 1e6)


def kind_of(dtype: Any) -> str:
    """Return "number", "boolean", "date", "category" (declared), "text", or "other"."""
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype in (nw.Date, nw.Datetime):
        return "date"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    return "text" if dtype in (nw.String, nw.Object) else "other"


def is_text(distinct: int, rows: int) -> bool:
    """Whether a column with so many distinct texts in so many rows is prose or names, rather than a category."""
    return distinct > MOST_LEVELS or (distinct > FEW_LEVELS and distinct > rows / 2)


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None or NaN."""
    return value is None or value != value


def plain(value: Any) -> Any:
    """Return a level as a Python text, number or boolean, which can be stored."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int | float | bool) else str(value)


def learn_category(name: str, counts: dict[Any, int], order: list[Any] | None = None) -> Column:
    """Return a category from the number of times that each value occurred; levels sorted unless an order is given."""
    by_level = {plain(value): count for value, count in counts.items() if not is_missing(value)}
    present = [plain(level) for level in order] if order is not None else sorted(by_level, key=_rank)
    total = sum(by_level.values()) or 1
    return Column(name, "category", tuple(present), tuple(by_level.get(level, 0) / total for level in present))


def _rank(level: Any) -> tuple[bool, Any]:
    return isinstance(level, str), level


def _text_codes(values: list[Any], levels: tuple[Any, ...]) -> Codes:
    """Return the indices of numbers among levels that are texts, by their decimal form."""
    known = {str(level): i for i, level in enumerate(levels)}
    codes = [ABSENT if is_missing(value) else known.get(str(plain(value)), UNKNOWN) for value in values]
    return np.array(codes, dtype=np.intp)


def _number_codes(values: Array, levels: tuple[Any, ...]) -> Codes:
    """Return the indices of numbers among levels that are numbers, in any order."""
    known = np.asarray(levels, dtype=np.float64)
    if len(values) and np.array_equal(known, known[0] + np.arange(len(known))):  # levels 0, 1, 2, ...
        steps = values - known[0]
        if steps.min() >= 0 and steps.max() < len(known):
            whole: Codes = steps.astype(np.intp)
            if (whole == steps).all():
                return whole
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known[order], values), len(known) - 1)
    codes: Codes = order[at]
    other = known[codes] != values
    if other.any():
        codes[other] = np.where(np.isnan(values[other]), ABSENT, UNKNOWN)
    return codes


def _arrow_numbers(column: Any) -> Array:
    """Return a column of doubles, (n,), without a copy if it is one chunk without missing values."""
    if column.num_chunks == 1 and column.null_count == 0:
        return np.asarray(np.from_dlpack(column.chunk(0)), dtype=np.float64)  # Arrow's own to_numpy imports pandas
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _arrow_codes(column: Any, code: Callable[[Any], int]) -> Codes:
    """Return the code of each value of an Arrow column, (n,), from that of each different value."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    parts = [np.empty(0, dtype=np.intp)]
    for chunk in column.dictionary_encode("encode").chunks:  # a missing value is one of the dictionary's
        codes = np.array([*map(code, chunk.dictionary.to_pylist())], dtype=np.intp)
        parts.append(codes[np.from_dlpack(chunk.indices)])  # Arrow's own to_numpy imports pandas
    return np.concatenate(parts)
