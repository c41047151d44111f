"""Values of text files that cannot be read as what a model was fitted to: numbers, dates or times.

One such value makes its column a column of text. The notation of the column is that of most of its values; rows with
another value have no prediction, and are left out where targets are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from adaline.coding import Coding
from adaline.coding.numerals import FORMS, PERCENT, PLAIN, Notation, is_word, read_text
from adaline.sources.tables.altered import (
    cast_to_numbers,
    with_unreadable_texts,
    without_texts,
    without_values,
)
from adaline.sources.tables.notation import FileSign
from adaline.sources.tables.relation import Relation

Table = TypeVar("Table", bound=Relation)

READ = ("number", "date")  # kinds of columns whose texts are read
SAMPLE = 2048  # different texts of a column from which its notation is found
MOST_LINES = 5  # that a message names


@dataclass(frozen=True)
class ReadableRows(Generic[Table]):
    """The rows of a table whose columns of numbers and dates can be read.

    Parameters
    ----------
    relation : these rows, with those columns as numbers and dates.
    problems : the texts of the other rows by column, each with what is wrong with it; none of a column that has no
        other texts.
    notations : how those columns are written.
    whole : all rows, with those columns as texts where some cannot be read.
    notes : columns without the percent sign of the fit, in sentences.
    """

    relation: Table
    problems: dict[str, dict[str, str]]
    notations: tuple[Notation, ...]
    whole: Table
    notes: tuple[str, ...] = ()

    def applied_to(self, coding: Coding) -> Coding:
        """Return a coding that reads texts as they are written in this table."""
        here = {name for one in self.notations for name in one.columns}
        others = (replace(one, columns=tuple(n for n in one.columns if n not in here)) for one in coding.notations)
        return replace(
            coding, notations=tuple(one for one in (*self.notations, *others) if one.columns and not one.plain)
        )

    def counts(self) -> dict[str, int]:
        """Return how many rows of the whole table have each problem of a column, with their first lines."""
        out: dict[str, int] = {}
        found = {(problem, name) for name, texts in self.problems.items() for problem in texts.values()}
        for problem, name in sorted(found):
            texts = [text for text, one in self.problems[name].items() if one == problem]
            out |= counted_rows(self.whole, problem, name, texts)
        return out


def counted_rows(whole: Relation, problem: str, name: str, values: Sequence[Any]) -> dict[str, int]:
    """Return a problem with some values of a column, with the first lines that have it, and the number of its rows."""
    rows = whole.count("TRUE") - without_values(whole, {name: values}).count("TRUE")
    lines = whole.lines_with(name, {str(value) for value in values}, MOST_LINES)
    more = ", ..." * (rows > len(lines))
    where = f" in line{'s' * (rows > 1)} {', '.join(map(str, lines))}{more}" if lines else ""
    return {f"{problem} of {name}{where}": rows}


def readable_rows(relation: Table, coding: Coding, kinds: Mapping[str, str]) -> ReadableRows[Table]:
    """Return the rows of a table that can be read for a model, given the kinds of columns that it takes.

    Columns that a table does not have, or that it does not hold as texts, are not looked at.
    """
    problems: dict[str, dict[str, str]] = {}
    assumed: list[Notation] = []
    notes: list[str] = []
    numbers: list[str] = []  # columns of texts that are plain numbers, some of them at least
    known = {name: one for one in coding.notations for name in one.columns}
    kinds = {name: kind for name, kind in kinds.items() if name in relation.schema and kind in READ}
    relation = with_unreadable_texts(relation, kinds)
    sign = FileSign() if relation.text is None else relation.text.dialect.sign
    for name, kind in kinds.items():
        if not _holds_texts(relation, name, kind):
            continue
        column = relation.value(name)
        table = f"{relation.sql} WHERE {column} IS NOT NULL"
        rows = relation.rows(f"SELECT DISTINCT {column} AS t FROM {table} ORDER BY hash(t) LIMIT {SAMPLE}")
        some = [value for (value,) in rows if not is_word(value)]
        notation = _notation(name, kind, some, known.get(name), sign)
        if name in known and known[name].unit in PERCENT and (notation is None or not notation.unit):
            notes.append(f"numbers with {known[name].without_unit}: column {name!r}")
        plain = f"CASE WHEN {_is_plain(column, kind, notation)} THEN NULL ELSE {column} END"
        rows = relation.rows(f"SELECT DISTINCT {plain} FROM {table}")  # NULL where there are plain numbers
        found = dict.fromkeys(value for (value,) in rows if not is_word(value))
        read = {value: "" if value is None else read_text(value, kind, notation)[1] for value in found}
        if any(read.values()) and not all(read.values()):
            problems[name] = {value: problem for value, problem in read.items() if problem}
        numbers += [name] if notation is None and not all(read.values()) else []
        assumed.append(notation or Notation(".", "", (name,)))
    if relation.text is None:
        return ReadableRows(
            cast_to_numbers(relation, numbers, problems), problems, tuple(assumed), relation, tuple(notes)
        )
    rest = without_texts(relation, problems)
    here = () if rest.text is None else rest.text.dialect.notations(list(problems))
    told = {name for one in here for name in one.columns}
    notations = (*here, *(one for one in assumed if one.columns[0] not in told))
    return ReadableRows(rest, problems, notations, relation, tuple(notes))


def _holds_texts(relation: Relation, name: str, kind: str) -> bool:
    """Whether a column holds texts where a model takes numbers or dates; in JSON also texts among numbers.

    Of tables that are no text files, only numbers that are written plainly are read.
    """
    if relation.text is not None:
        return relation.kind(name) == "text"
    return kind == "number" and (relation.kind(name) == "text" or relation.schema[name] == "JSON")


def _is_plain(column: str, kind: str, notation: Notation | None) -> str:
    """Return SQL that is true of digits with a decimal sign, which can be read, and are most values of large files."""
    form, unit = (".", "") if notation is None else (notation.form, notation.unit)
    if kind != "number" or form not in FORMS or unit in PERCENT:
        return "FALSE"
    return f"regexp_full_match({column}, '[-+]?{PLAIN}([{form}][0-9]+)?([eE][-+]?[0-9]+)?')"


def _notation(name: str, kind: str, texts: list[str], known: Notation | None, sign: FileSign) -> Notation | None:
    """Return how most texts of a column are written, given the notation of the fit and the decimal sign of the file.

    None is the plain one.
    """
    fitted = Notation(".", "", (name,)) if known is None else replace(known, columns=(name,))
    if kind != "number" or fitted.form not in FORMS:
        return known and fitted
    likely = sign.choose(any("." in one for one in texts), any("," in one for one in texts), fitted.form)
    signs = (sign.given,) if sign.given else dict.fromkeys((likely, *FORMS))
    units = (fitted.unit, "") if fitted.unit in PERCENT else (fitted.unit,)  # 12 is read as 12% where none has a sign
    forms = (replace(fitted, form=one, unit=unit) for unit in units for one in signs)
    tried = [None if one.plain else one for one in forms]
    return max(tried, key=lambda one: sum(not read_text(text, kind, one)[1] for text in texts))
