"""The same table with fewer rows, or with columns read in another way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4

from adaline.attributes import replaced
from adaline.coding import Coding
from adaline.coding.expressions import lag_of
from adaline.coding.numerals import Notation
from adaline.lazy import pa
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.notation import describe_conversions, find_dates
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.sql import quoted

Table = TypeVar("Table", bound=Relation)


def with_texts(relation: Table, names: Collection[str]) -> Table:
    """Return a table with some columns of text files read as text, as the model was fitted to them."""
    changed = [name for name in names if relation.schema.get(name, "VARCHAR") != "VARCHAR"]
    if not changed or relation.text is None:
        return relation
    files = relation.text.with_texts(changed)
    return replaced(relation, text=files, sql=files.sql, schema=relation.schema | dict.fromkeys(changed, "VARCHAR"))


def with_columns_of(relation: Table, coding: Coding, texts: Collection[str] = ()) -> Table:
    """Return a table with the columns that a model reads: levels that are texts as such, some others too, and lags."""
    return with_lags(with_texts(relation, [*coding.texts, *texts]), coding.needed)


def with_lags(relation: Table, names: Iterable[str]) -> Table:
    """Return a table with the columns that are called as in "lag(x, 2)": column x as it was 2 rows before.

    They are missing in the first rows.
    """
    lags = {name: lag for name in names if name not in relation.schema and (lag := lag_of(name)) is not None}
    lags = {name: lag for name, lag in lags.items() if lag[0] in relation.schema}
    if not lags:
        return relation
    made = [f"lag({relation.value(of)}, {k}) OVER () AS {quoted(name)}" for name, (of, k) in lags.items()]
    return replaced(
        relation,
        sql=f"(SELECT *, {', '.join(made)} FROM {relation.sql})",
        parquet=False,
        schema=relation.schema | {name: relation.schema[of] for name, (of, _) in lags.items()},
        groups={},
    )


def read_as_fitted(relation: Table, coding: Coding) -> Table:
    """Return a table with its text files read in the notation of those that a model was fitted to.

    Options that the user gave take precedence, and values that do not fit that notation are read as they look.
    """
    options = relation.options.as_fitted(coding)
    if relation.text is None or not relation.plain_text or options == relation.options:
        return relation
    same = options.na == relation.options.na
    if same and not relation.text.differs(options, options.notations, relation.rows):
        return relation
    return reread(relation, options)


def reread(relation: Table, options: FileOptions) -> Table:
    """Return a table of text files, read by other options."""
    assert relation.text is not None
    files = relation.text.reread(options, relation.rows)
    other = replaced(relation, options=options, text=files, sql=files.sql, counted={}, groups={})
    kinds = {name: kind for name, kind in other.described().items() if name in relation.schema}
    return replaced(other, schema=kinds)


def without_texts(relation: Table, unreadable: Mapping[str, Collection[str]]) -> Table:
    """Return a table, which is text files, without the rows in which columns have some texts.

    The other values of these columns decide how they are read: as numbers or dates, if they all are.
    """
    given = tuple((name, tuple(sorted(texts))) for name, texts in unreadable.items() if texts)
    if not given:
        return relation
    other = reread(relation, replace(relation.options, unreadable=given))
    assert other.text is not None
    dialect = other.text.dialect
    return replaced(other, filters=(*relation.filters, (dialect.as_written.sql(other.text.files), dialect.kept)))


def with_unreadable_texts(relation: Table, names: Iterable[str]) -> Table:
    """Return a table with columns of text files read as text some of whose values are not of the type of the others."""
    if relation.text is None:
        return relation
    return with_texts(relation, relation.text.find_unreadable(names, relation.rows))


def cast_to_numbers(relation: Table, names: Sequence[str], unreadable: Mapping[str, Collection[str]]) -> Table:
    """Return a table, which is no text file, without the rows in which columns have some texts, and with the texts of
    some columns as numbers.
    """
    other = without_values(relation, {name: list(texts) for name, texts in unreadable.items()})
    return computed(other, {name: f"TRY_CAST({relation.value(name)} AS DOUBLE)" for name in names}, "DOUBLE")


def with_dates(relation: Table, names: Iterable[str]) -> Table:
    """Return a table with columns of texts that are all dates read as such; text files are read so anyway.

    They are dates in ISO 8601 or, with a note, in one format, which a coding keeps.
    """
    texts = [name for name in names if relation.schema.get(name) == "VARCHAR"]
    found = find_dates(texts, relation.sql, relation.rows) if texts and relation.text is None else []
    local = [one for one in found if one.form]
    notations = tuple(Notation(one.form, "", (one.name,)) for one in local)
    notes = (*relation.notes, *describe_conversions(local))
    other = computed(relation, {one.name: one.sql for one in found}, "TIMESTAMP")
    return replaced(other, notations=notations, notes=notes)


def computed(relation: Table, columns: Mapping[str, str], kind: str) -> Table:
    """Return a table with some columns computed by SQL, of a type; a table without them as it is."""
    if not columns:
        return relation
    read = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in columns.items())
    return replaced(
        relation,
        sql=f"(SELECT * REPLACE ({read}) FROM {relation.sql})",
        parquet=False,
        schema=relation.schema | dict.fromkeys(columns, kind),
        counted={},
        groups={},
    )


def without_values(relation: Table, unwanted: Mapping[str, Sequence[Any]]) -> Table:
    """Return a table without the rows in which a column has one of some values."""
    given = {name: values for name, values in unwanted.items() if values}
    if not given:
        return relation
    tables = {f"unwanted_{uuid4().hex}": pa.table({"value": values}) for values in given.values()}
    conditions = [
        f"({relation.value(name)} IS NULL OR {relation.value(name)} NOT IN (SELECT value FROM {table}))"
        for name, table in zip(given, tables, strict=True)
    ]
    where = " AND ".join(conditions)
    return replaced(
        relation,
        database=relation.database.with_tables(tables),
        sql=f"(SELECT * FROM {relation.sql} WHERE {where})",
        parquet=False,
        filters=(*relation.filters, (relation.sql, where)),
        counted={},
        groups={},
    )
