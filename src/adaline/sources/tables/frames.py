"""Frames in memory as tables: pandas, polars and Arrow frames, and dictionaries of columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from adaline.arrays import NO_FRAMES, DataLike
from adaline.coding.frames import collected
from adaline.errors import InvalidData, UnreadableTable
from adaline.lazy import nw, pa
from adaline.sources.tables.layout import check_names


def as_frame(data: DataLike) -> nw.DataFrame[Any] | None:
    """Return a pandas, polars or Arrow frame, or a dictionary of columns, as a narwhals frame; None for others."""
    if isinstance(data, NO_FRAMES):
        return None
    data = _frame_of(data) if isinstance(data, Mapping) else collected(data)
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if isinstance(names, Iterable) and not isinstance(names, str) and not callable(names):
        _check_names([str(name) for name in names])
    frame = nw.from_native(data, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _frame_of(columns: Mapping[Any, Any]) -> Any:
    """Return a dictionary of columns as an Arrow table."""
    try:
        return pa.table({str(name): np.asarray(values) for name, values in columns.items()})
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise InvalidData(f"the columns do not make a table, give each name a list of one length: {error}") from None


def as_arrow(frame: nw.DataFrame[Any]) -> Any:
    """Return a frame as an Arrow table; refuse, by name, columns that Arrow cannot represent."""
    try:
        if frame.implementation.is_pandas():
            table = pa.Table.from_pandas(frame.to_native(), preserve_index=False)
        else:
            table = frame.to_arrow()
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end]
        raise InvalidData(f"the frame: a text holds {half!a}, half a character, which UTF-8 does not write") from None
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InvalidData(f"the frame: {_why(error)}") from None
    for i, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        strange = str(getattr(kind, "extension_name", "")).startswith("pandas.") or pa.types.is_decimal256(kind)
        if strange or (kind is not field.type and pa.types.is_nested(kind)):
            raise InvalidData(
                f"the frame: column {field.name!r} holds {kind}: turn it into numbers, dates or texts first"
            )
        if frame.implementation.is_pyarrow() and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            _refuse_not_utf8(field.name, table.column(i))
        if pa.types.is_float16(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
    return table


def _refuse_not_utf8(name: str, column: Any) -> None:
    """Refuse an Arrow column of texts that are none: pandas and polars hold no such."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise InvalidData(
            f"the frame: column {name!r} holds texts that are not UTF-8: decode them as what they are"
        ) from None


def declared_levels(frame: nw.DataFrame[Any]) -> dict[str, list[Any]]:
    """Return the levels, in order, of each column that a frame declares as a category."""
    return {
        name: frame[name].cat.get_categories().to_list()
        for name, kind in frame.schema.items()
        if kind in (nw.Categorical, nw.Enum)
    }


def _check_names(names: list[str]) -> None:
    try:
        check_names("the frame", names)
    except UnreadableTable as error:
        raise InvalidData(str(error)) from None


def _why(error: Exception) -> str:
    """Return which column Arrow could not convert, and why."""
    message = " ".join(str(part) for part in error.args)
    column = re.search(r"Conversion failed for column (.+) with type (.+)", message)
    if column is None:
        return " ".join(message.split())[:200]
    return (
        f"column {column.group(1)!r} ({column.group(2)}) holds different things, or what is neither number nor text: "
        "turn it into one type first"
    )
