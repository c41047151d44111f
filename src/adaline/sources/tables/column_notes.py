"""What the columns of a table look like: row numbers, dates in milliseconds, numbers without the unit of the fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from adaline.coding.numerals import PERCENT, PERCENT_SCALE
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.layout import INDEX, INDEX_NAMES, Layout
from adaline.sources.tables.sql import quoted
from adaline.sources.tables.text import SAMPLE, Dialect, Query

EPOCHS = (315_532_800_000, 4_102_444_800_000)  # milliseconds since 1970 from 1980 to 2100
PANDAS_INDEX = "__index_level_0__"

KindOf = Callable[[str], str]
"""From the name of a column to its kind, as `Relation.kind` returns it."""


def find_index(
    schema: Mapping[str, str], kind: KindOf, table: str, query: Query, layout: Layout | None
) -> tuple[str | None, tuple[str, ...]]:
    """Return the column that numbers or labels the rows and has no name, or one that programs give it; and a note.

    It is the first, or the index that pandas writes at the end of a Parquet file.
    """
    name = PANDAS_INDEX if PANDAS_INDEX in schema else next(iter(schema), "")
    unnamed = layout is not None and layout.index == name
    if not (unnamed or INDEX_NAMES.fullmatch(name)) or kind(name) not in ("number", "text"):
        return None, ()
    column = quoted(name)
    numbers = kind(name) == "number"
    asked = f"bool_and({column} = floor({column})), max({column}) - min({column})" if numbers else "TRUE, NULL"
    rows, different, whole, span = query(
        f"SELECT count(*), count(DISTINCT {column}), {asked} FROM (SELECT {column} FROM {table} LIMIT {SAMPLE})"
    )[0]
    amounts = numbers and not unnamed and name.lower() == INDEX and span != rows - 1  # such as prices of shares
    if not rows or different < rows or not whole or amounts:
        return None, ()
    what = "numbers" if numbers else "labels"
    return name, (f"column {name!r} {what} the rows and is not used as a feature",)


def epoch_notes(schema: Mapping[str, str], table: str, query: Query) -> tuple[str, ...]:
    """Return notes on columns of whole numbers that look like dates in milliseconds, as pandas writes them to JSON."""
    whole = [name for name, kind in schema.items() if kind == "BIGINT"]
    if not whole:
        return ()
    first = f"(SELECT {', '.join(map(quoted, whole))} FROM {table} LIMIT {SAMPLE})"
    asked = (f"min({q}), max({q}), bool_and({q} % 1000 = 0)" for q in map(quoted, whole))
    found = query(f"SELECT {', '.join(asked)} FROM {first}")[0]
    notes = []
    for i, name in enumerate(whole):
        low, high, seconds = found[3 * i : 3 * i + 3]
        if seconds and EPOCHS[0] <= low and high <= EPOCHS[1]:
            note = f"column {name!r} is read as numbers, but looks like dates in milliseconds since 1970, as {low}"
            notes.append(f"{note}; to_json(date_format='iso') writes dates")
    return tuple(notes)


def unit_notes(
    schema: Mapping[str, str], kind: KindOf, table: str, query: Query, dialect: Dialect | None, options: FileOptions
) -> tuple[str, ...]:
    """Return notes on columns of numbers without the percent sign or the unit that those of a fit have."""
    here = {} if dialect is None else {one.name: one.unit for one in dialect.conversions}
    scaled = ((name, one) for one in options.notations if one.scaled for name in one.columns)
    notes = []
    for name, one in scaled:
        if name not in schema or kind(name) != "number" or here.get(name):
            continue
        if dialect is None:
            notes.append(f"numbers with {one.without_unit}: column {name!r}")
        column = f"abs({quoted(name)})"
        most, whole = query(f"SELECT max({column}), bool_and({column} = floor({column})) FROM {table}")[0]
        if one.unit in PERCENT and most is not None and most <= 1 and not whole:
            told = f"column {name!r} holds values between -1 and 1, as {most:g}, and the fit had percentages"
            scale = f"{most:g} stands for {most * PERCENT_SCALE[one.unit]:g}{one.unit}"
            notes.append(f"{told}: multiply by {PERCENT_SCALE[one.unit]} if {scale}")
    return tuple(notes)
