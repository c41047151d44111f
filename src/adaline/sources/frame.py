"""Frames in memory, pandas, polars or Arrow, as Arrow tables that DuckDB reads where they lie."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import narwhals.stable.v1 as nw

from adaline.coding.frames import collected
from adaline.errors import InvalidData, UnreadableTable
from adaline.sources.text import check_names


def as_frame(data: Any) -> nw.DataFrame[Any] | None:
    """Return a frame behind one face; None for other things."""
    data = collected(data)
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if isinstance(names, Iterable) and not isinstance(names, str) and not callable(names):
        _check_names([str(name) for name in names])
    frame = nw.from_native(data, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def as_arrow(frame: nw.DataFrame[Any]) -> Any:
    """Return a frame as an Arrow table; refuse columns that Arrow cannot hold, by name."""
    import pyarrow as pa

    try:
        if frame.implementation.is_pandas():
            table = pa.Table.from_pandas(frame.to_native(), preserve_index=False)
        else:
            table = frame.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InvalidData(f"the frame: {_why(error)}") from None
    for i, field in enumerate(table.schema):
        if str(getattr(field.type, "extension_name", "")).startswith("pandas."):
            raise InvalidData(
                f"the frame: column {field.name!r} holds {field.type}: turn it into numbers or dates first"
            )
        if pa.types.is_float16(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
    return table


def declared_levels(frame: nw.DataFrame[Any]) -> dict[str, list[Any]]:
    """Return the columns of a frame that are declared to be categories, and their levels in order."""
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
    """Return which column Arrow could not take, and why."""
    said = " ".join(str(part) for part in error.args)
    column = re.search(r"Conversion failed for column (.+) with type (.+)", said)
    if column is None:
        return " ".join(said.split())[:200]
    return (
        f"column {column.group(1)!r} ({column.group(2)}) holds different things, or what is neither number nor text: "
        "turn it into one type first"
    )
