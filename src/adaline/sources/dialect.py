"""How text files are written and what their columns hold, found once and handed to DuckDB, which guesses no more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from adaline.sources.alike import check_layout
from adaline.sources.files import escaped
from adaline.sources.sql import quoted, text
from adaline.sources.text import Layout, layout, seen_words

MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "?")
SAMPLE = 20480  # rows that are looked at to find the types of columns, where not all are
SIGNED = "' *[-+]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)? *'"
BOOLEAN = "lower({}) IN ('true', 'false')"

Query = Callable[[str], list[Any]]


@dataclass(frozen=True)
class Dialect:
    """What `read_csv` is told: the layout of the lines, the DuckDB type of each column, the other options."""

    layout: Layout
    types: tuple[str, ...]
    options: str
    date_format: str = ""

    def sql(self, files: Sequence[str]) -> str:
        """Return the files as a table."""
        listed = ", ".join(text(escaped(name)) for name in files)
        columns = ", ".join(f"{text(n)}: {text(kind)}" for n, kind in zip(self.layout.names, self.types, strict=True))
        return (
            f"read_csv([{listed}], auto_detect=false, hive_partitioning=false, columns={{{columns}}}, {self.options})"
        )

    def with_texts(self, names: Collection[str]) -> Self:
        """Return the same lines with some columns read as text."""
        known = zip(self.layout.names, self.types, strict=True)
        return replace(self, types=tuple("VARCHAR" if name in names else kind for name, kind in known))


def find_dialect(files: Sequence[str], first: Layout, query: Query, whole: bool) -> Dialect:
    """Return how files are written, by the first of them and its layout; all its rows are looked at where `whole`."""
    for name in files[1:]:
        check_layout(files[0], first, name, layout(name))
    words = MISSING_WORDS if whole else seen_words(files[0], MISSING_WORDS)
    options = (
        f"delim={text(first.separator)}, quote='\"', escape='\"', header=true, skip={first.blank}, comment='', "
        f"strict_mode=true, nullstr=[{', '.join(map(text, words))}]"
    )
    names = ", ".join(map(text, first.names))
    found, days, times = query(
        f"SELECT Columns, DateFormat, TimestampFormat FROM sniff_csv({text(escaped(files[0]))}, {options}, "
        f"names=[{names}], sample_size={-1 if whole else SAMPLE})"
    )[0]
    types = tuple(number_type(column["type"], whole) for column in found)
    dialect = Dialect(first, types, options)
    texts = [i for i, kind in enumerate(types) if kind == "VARCHAR"]
    dialect = _settled(dialect, files[0], query, texts, f"regexp_full_match({{}}, {SIGNED})", "DOUBLE", whole)
    words_of_truth = [i for i, column in enumerate(found) if column["type"] == "BOOLEAN"]
    dialect = _settled(dialect, files[0], query, words_of_truth, BOOLEAN, "BOOLEAN", whole)
    for option, form in (("dateformat", days), ("timestampformat", times)):
        if form:
            odd = "" if form.startswith("%Y") else form
            options = f"{dialect.options}, {option}={text(form)}"
            dialect = replace(dialect, options=options, date_format=dialect.date_format + odd)
    return dialect


def number_type(kind: str, whole: bool) -> str:
    """Return the type to read a column as: numbers too long for integers, and those not all looked at, are DOUBLE.

    What DuckDB takes for booleans stays text unless it is true and false: F alone may be a name.
    """
    if kind == "BOOLEAN":
        return "VARCHAR"
    return "DOUBLE" if kind == "BIGNUM" or (kind in ("BIGINT", "HUGEINT") and not whole) else kind


def _settled(
    dialect: Dialect, file: str, query: Query, tried: list[int], condition: str, kind: str, whole: bool
) -> Dialect:
    """Return the dialect where those of the text columns tried all of whose values meet a condition have a type."""
    names, table = dialect.layout.names, dialect.sql([file])
    for limit in (2048, 2**62 if whole else SAMPLE):  # most texts are ruled out by a look at a few
        if not tried:
            return dialect
        asked = ", ".join(f"bool_and({condition.format(quoted(names[i]))})" for i in tried)
        found = query(f"SELECT {asked} FROM (SELECT * FROM {table} LIMIT {limit})")[0]
        tried = [i for i, holds in zip(tried, found, strict=True) if holds]
    return replace(dialect, types=tuple(kind if i in tried else old for i, old in enumerate(dialect.types)))
