"""Numbers and dates in local notation: recognised by column, and converted by SQL when the rows are read.

A column is converted only if all of its values fit one notation: decimal comma or point, signs for thousands, percent,
a currency, a unit of measurement, parentheses or a minus at the end for negative numbers; dates with the day or the
month first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from adaline.coding.numerals import (
    CLOCK,
    DECORATION,
    FORMS,
    GROUPS,
    ISO_DATE,
    MERIDIEM,
    NO_CENTS,
    PERCENT,
    SECONDS,
    TEXT_WORDS,
    UNIT,
    WORDS,
    Notation,
    is_text_word,
)
from adaline.coding.units import BLANK, SUFFIX, Unit, spellings_of, unit_key, without_unit
from adaline.sources.tables.sql import quoted, text

SHAPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\d{4}([-/.])\d{1,2}\1\d{1,2}", ("%Y{0}%m{0}%d",)),
    (r"\d{1,2}([.])\d{1,2}\1\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}([.])\d{1,2}\1\d{2}", ("%d.%m.%y",)),
    (r"\d{1,2}([-/])\d{1,2}\1\d{4}", ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y")),
    (r"\d{1,2}([-/])\d{1,2}\1\d{2}", ("%d{0}%m{0}%y", "%m{0}%d{0}%y")),
    (r"\d{1,2}([- ])[A-Za-z]{3}\1\d{4}", ("%d{0}%b{0}%Y",)),
    (r"\d{1,2}([- ])[A-Za-z]{3}\1\d{2}", ("%d{0}%b{0}%y",)),
    (r"\d{1,2}([- ])[A-Za-z]{4,9}\1\d{4}", ("%d{0}%B{0}%Y",)),
    (r"\d{4}([-/])\d{2}", ("%Y{0}%m",)),
    (r"[A-Za-z]{3}([-/ ])\d{4}", ("%b{0}%Y",)),
    (r"[A-Za-z]{3}(-)\d{2}", ("%b-%y",)),
    (r"[A-Za-z]{4,9}( )\d{4}", ("%B %Y",)),
    (r"[A-Za-z]{3}( )\d{1,2} \d{4}", ("%b %d %Y",)),
    (r"[A-Za-z]{4,9}( )\d{1,2} \d{4}", ("%B %d %Y",)),
    (r"[A-Za-z]{3}( )\d{1,2}, \d{4}", ("%b %d, %Y",)),
    (r"[A-Za-z]{4,9}( )\d{1,2}, \d{4}", ("%B %d, %Y",)),
)
"""Notations of dates: an expression whose group is the separator, and the formats that it may mean."""
CLOCKS = (
    (r"\d{1,2}:\d{2}", "%H:%M"),
    (r"\d{1,2}:\d{2}:\d{2}", "%H:%M:%S"),
    (r"\d{1,2}:\d{2}:\d{2}\.\d{1,6}", "%H:%M:%S.%f"),
    (r"\d{1,2}:\d{2} [AaPp][Mm]", "%I:%M %p"),
    (r"\d{1,2}:\d{2}:\d{2} [AaPp][Mm]", "%I:%M:%S %p"),
)
COMPACT = "%Y%m%d"  # the format of dates that are written as whole numbers
FEWEST_COMPACT = 3  # whole numbers from which a column may be dates: three are dates by chance once in 20,000 columns
GLIMPSE = 2048  # rows that are checked first, as they rule out most columns; doubling it checks wide tables more slowly
EVERY = 2**62  # as a number of rows: all rows
MOST_UNITS = 20  # different words behind numbers that may be units, in a column

Query = Callable[[str], list[Any]]


@dataclass(frozen=True)
class Conversion:
    """How a column of text is read.

    Parameters
    ----------
    name : of the column.
    sql : from its text to a value.
    form, unit : as in Notation.
    notation : what notation that is, in words.
    example : one of the texts.
    doubt : what is ambiguous, as the end of a sentence, or "".
    words : words for missing values that occur.
    """

    name: str
    sql: str
    form: str
    notation: str
    example: str
    doubt: str = ""
    words: tuple[str, ...] = ()
    unit: str = ""

    @property
    def failed(self) -> str:
        """SQL that is true of a text that cannot be converted."""
        column = TextColumn(self.name)
        return f"{quoted(self.name)} IS NOT NULL AND NOT {column.is_word} AND TRY({self.sql}) IS NULL"


@dataclass(frozen=True)
class TextColumn:
    """A column of text in SQL: its texts, without units of these spellings, and whether one is a missing value."""

    name: str
    units: tuple[str, ...] = ()

    @property
    def trimmed(self) -> str:
        out = f"trim(replace({quoted(self.name)}, '\u2013', '-'), {text(BLANK)})"
        if self.units:
            suffix = f"[{BLANK}]*({'|'.join(map(re.escape, self.units))})$"
            return f"regexp_replace({out}, {text(suffix)}, '')"
        return out

    @property
    def is_word(self) -> str:
        return f"(lower({self.trimmed}) IN ({', '.join(map(text, WORDS))}))"

    def fits(self, decimal: str) -> str:
        return f"regexp_full_match({self.trimmed}, {text(FORMS[decimal])})"

    def value(self, sql: str) -> str:
        """Return SQL that is missing where a word says so, and another expression elsewhere."""
        return f"CASE WHEN {self.is_word} THEN NULL ELSE {sql} END"


@dataclass(frozen=True)
class Conversions:
    """How columns of text are read, which of them hold numbers in different units: two texts with such units, and the
    decimal sign of the file.
    """

    columns: list[Conversion]
    mixed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sign: FileSign = field(default_factory=lambda: FileSign())


def find_conversions(
    names: Sequence[str],
    numbers: Sequence[str],
    table: str,
    query: Query,
    rows: int,
    decimal: str | None,
    separator: str,
    known: Mapping[str, Notation],
    plain: Collection[str] = (),
    compact: Collection[str] = (),
) -> Conversions:
    """Return how to read the columns of text that hold numbers or dates in a notation of their own.

    Parameters
    ----------
    names : columns of text.
    numbers : columns that look like plain numbers, which points for thousands do too.
    table : SQL of the table, all of these columns as text.
    query : runs SQL.
    rows : how many rows to look at.
    decimal : the decimal sign of the file, where the user gave it.
    separator : between the values of a line.
    known : how the files of a fit wrote columns, which decides what the table itself leaves open.
    plain : columns among `numbers` that have decimal points beyond doubt.
    compact : columns of whole numbers that may be dates such as 20241231.
    """
    forms = {name: one.form for name, one in known.items()}
    scaled = {name for name, one in known.items() if one.scaled}
    looked = [*names, *(name for name in numbers if name in scaled or (decimal or forms.get(name)) == ",")]
    glimpsed = _look(looked, table, query, min(rows, GLIMPSE))
    likely = {name: formats for name, one in glimpsed.items() if (formats := date_formats(one.example)) and one.count}
    likely |= dict.fromkeys(compact, (COMPACT,))
    numeric = [name for name, one in glimpsed.items() if one.count in (one.points, one.commas)]
    numeric = [name for name in numeric if glimpsed[name].count or forms.get(name) in FORMS]
    seen = _look(numeric, table, query, rows) if numeric else {}
    suffixed = [name for name, one in glimpsed.items() if name not in seen and without_unit(one.example)[1]]
    first = _find_units(suffixed, table, query, min(rows, GLIMPSE))
    likely_units = [name for name, one in first.items() if one.mixed or one.fits(known.get(name))]
    units = _find_units(likely_units, table, query, rows)
    mixed = {name: one.examples for name, one in units.items() if one.mixed}
    measured = {name: one for name, one in units.items() if one.fits(known.get(name))}
    seen |= _look_without_units(measured, table, query, rows)
    unclear = [name for name in numbers if name not in plain and name not in seen]
    more = _look(unclear if decimal is None else (), table, query, min(rows, GLIMPSE))
    more = _look([name for name, one in more.items() if one.commas == one.count > 0], table, query, rows)
    seen |= {name: one for name, one in more.items() if one.commas == one.count and one.has_point}
    sign = FileSign.of(seen.values(), bool(plain), decimal, separator)
    whole = rows >= EVERY
    read = (
        _number_conversion(
            TextColumn(name, measured[name].spellings if name in measured else ()),
            *(look, sign, whole, known.get(name)),
        )
        for name, look in seen.items()
    )
    as_they_are = {name for name in numbers if name not in measured}  # where there is nothing to convert or to note
    found = [one for one in read if one is not None and (one.notation or one.words or one.name not in as_they_are)]
    taken = {one.name for one in found}
    clocks = [name for name, one in glimpsed.items() if re.fullmatch(CLOCK, one.example) and name not in taken]
    found += [one for name in clocks if (one := _time_conversion(name, table, query, rows)) is not None]
    for name, formats in likely.items():
        if name not in taken:
            one = _date_conversion(name, formats, table, query, rows, sign.is_comma, forms.get(name))
            found += [] if one is None else [one]
    rest = {name: two for name, two in mixed.items() if name not in {one.name for one in found}}
    return Conversions(found, rest, sign)


def find_dates(names: Sequence[str], table: str, query: Query) -> list[Conversion]:
    """Return how to read the columns of text that hold dates alone, in ISO 8601 or in one format, of all rows."""
    instants = {name: f"TRY_CAST({TextColumn(name).trimmed} AS TIMESTAMPTZ)" for name in names}
    asked = (
        f"bool_and({quoted(name)} IS NULL OR {TextColumn(name).is_word} OR "
        f"(regexp_matches({TextColumn(name).trimmed}, '^{ISO_DATE.pattern}') AND {instant} IS NOT NULL))"
        for name, instant in instants.items()
    )
    whole = dict(zip(names, query(f"SELECT {', '.join(asked)} FROM {table}")[0], strict=True))
    plain = [name for name in names if whole[name]]
    utc = {name: TextColumn(name).value(f"CAST({instants[name]} AS TIMESTAMP)") for name in plain}
    rest = [name for name in names if name not in plain]
    local = find_conversions(rest, (), table, query, EVERY, None, ",", {}).columns if rest else []
    return [
        *(Conversion(name, utc[name], "", "", "") for name in plain),
        *(one for one in local if one.form not in (*FORMS, SECONDS)),
    ]


def find_text_words(
    names: Sequence[str], table: str, query: Query, levels: Mapping[str, Collection[Any]]
) -> dict[str, tuple[str, ...]]:
    """Return the words for missing values in columns of text, as they are spelled, such as n.a. and k.A.

    The other values of a column must have letters or digits, as "-" is a value beside "+". Where a model has `levels`
    of a column, any such word that is no level is a missing value.
    """
    if not names:
        return {}
    longest = max(map(len, TEXT_WORDS)) + 2
    short = f"strlen(value) <= {4 * longest}"
    word = f"lower(trim(value, {text(BLANK)})) IN ({', '.join(map(text, TEXT_WORDS))})"
    columns = ", ".join(map(quoted, names))
    values = f"SELECT unnest(range({len(names)})) AS i, unnest([{columns}]) AS value FROM {table}"
    each = query(f"SELECT i, list(DISTINCT value) FROM ({values}) WHERE {short} AND {word} GROUP BY i")
    spelled = ((names[i], sorted(words)) for i, words in each)
    found = {name: tuple(one for one in words if is_text_word(one, levels.get(name, ()))) for name, words in spelled}
    out = {name: words for name, words in found.items() if words and name in levels}
    for name in (name for name, words in found.items() if words and name not in levels):
        value = f"SELECT {quoted(name)} AS value FROM {table}"
        named = "regexp_matches(value, '[\\p{L}\\p{N}]')"
        if query(f"SELECT bool_and({named}) FROM ({value}) WHERE NOT ({word})")[0][0]:
            out[name] = found[name]
    return out


@dataclass(frozen=True)
class FileSign:
    """The decimal sign of a file, as far as the file itself shows it.

    A file has one decimal sign, unless the values of a column can only be read with the other.

    Parameters
    ----------
    certain : what the user said, or what values such as 12.5 or 3,25 prove; "" where there are none, or both.
    grouped : whether points seem to separate thousands: a column has 1.234 and 567, and no 1234.
    separator : between the values of a line. Commas between values leave points for decimals, and semicolons are
        written where commas are decimal signs.
    given : what the user said, or "".
    """

    certain: str = ""
    grouped: bool = False
    separator: str = ","
    given: str = ""

    @classmethod
    def of(cls, looks: Iterable[Look], points: bool, given: str | None, separator: str) -> Self:
        """Return the sign of a file, given its columns of numbers, and whether others have decimal points."""
        looks = list(looks)
        shown = {max(".,", key=one.fitting) for one in looks if one.points != one.commas} | ({"."} if points else set())
        grouped = separator != "," and any(one.looks_grouped and one.has_point for one in looks)
        return cls(given or (shown.pop() if len(shown) == 1 else ""), grouped, separator, given or "")

    @property
    def is_comma(self) -> bool:
        """Whether it is a comma, or more likely one than a point."""
        return self.certain == "," or (not self.certain and self.separator == ";")

    def choose(self, has_point: bool, has_comma: bool, known: str = "") -> str:
        """Return the sign of a column whose values may have either; `known` is that of a fit.

        Examples
        --------
        >>> from adaline.sources.tables.notation import FileSign
        >>> FileSign(".").choose(True, False, ","), FileSign("", separator=";").choose(False, True, ".")
        ('.', ',')
        >>> FileSign("", separator="|").choose(True, False, ",")
        ','
        """
        if self.certain:
            return self.certain
        if has_comma and self.separator == ";":
            return ","
        if has_point and self.separator == ",":
            return "."
        if has_point and self.grouped:
            return ","
        return known or ("," if self.separator == ";" and not has_point else ".")


@dataclass(frozen=True)
class Look:
    """What the texts of a column have in common.

    Parameters
    ----------
    count : number of texts that are no words for missing values.
    points, commas : how many of them are numbers with a decimal point, and with a decimal comma.
    example : one of them.
    signed, units : how many have a percent sign or a currency, and which of these there are.
    negative : whether some are negative by parentheses or a minus at the end.
    has_dash : whether some have a dash for decimals, as 12,-.
    has_point, has_comma, has_group : whether some have such a sign.
    has_small : whether some are below 1000, with neither a point nor a comma.
    has_long : whether some have four digits in a row.
    words : words for missing values that occur.
    """

    count: int
    points: int
    commas: int
    example: str
    signed: int
    units: tuple[str, ...]
    negative: bool
    has_dash: bool
    has_point: bool
    has_comma: bool
    has_group: bool
    has_small: bool
    has_long: bool
    words: tuple[str, ...]

    @property
    def unit(self) -> str:
        """The sign that they have: percent, per mille, or a currency, which may stand beside some only; "" for none."""
        return self.units[0] if self.units else ""

    @property
    def looks_grouped(self) -> bool:
        """Whether they look like whole numbers with a sign for thousands: those without it are all below 1000."""
        return self.points == self.commas == self.count and self.has_small and not self.has_long

    def fitting(self, decimal: str) -> int:
        """Return how many are numbers with such a decimal sign."""
        return self.points if decimal == "." else self.commas


def _look(names: Sequence[str], table: str, query: Query, rows: int) -> dict[str, Look]:
    """Return what the texts of each column have in common, by one scan.

    The query is the same for any number of columns, and has each expression once: to plan it takes longer than to run.
    """
    if not names:
        return {}
    columns = ", ".join(map(quoted, names))
    first = f"SELECT {columns} FROM {table} LIMIT {rows}"
    values = f"SELECT unnest(range({len(names)})) AS i, unnest([{columns}]) AS value FROM ({first})"
    trimmed = f"SELECT i, {TextColumn('value').trimmed} AS t FROM ({values})"
    marked = f"SELECT i, t, lower(t) IN ({', '.join(map(text, WORDS))}) AS is_word FROM ({trimmed})"
    parted = f"SELECT i, CASE WHEN is_word THEN t END AS word, CASE WHEN NOT is_word THEN t END AS t FROM ({marked})"
    shown = f"SELECT *, nullif(regexp_extract(t, {text(UNIT)}), '') AS sign FROM ({parted})"
    asked = [
        "count(t)",
        f"count_if(regexp_full_match(t, {text(FORMS['.'])}))",
        f"count_if(regexp_full_match(t, {text(FORMS[','])}))",
        "arg_max(t, length(t))",
        "count(sign)",
        "list(DISTINCT sign)",
        "bool_or(regexp_matches(t, '^[(].*[)]$|[0-9][^.,]*-$'))",
        "bool_or(regexp_matches(t, '[0-9][.,]-'))",
        "bool_or(contains(t, '.'))",
        "bool_or(contains(t, ','))",
        f"bool_or(regexp_matches(t, {text(f'[0-9][{GROUPS}][0-9]')}))",
        "bool_or(regexp_full_match(t, '[^0-9.,]*[0-9]{1,3}[^0-9.,]*'))",
        "bool_or(regexp_matches(t, '[0-9]{4}'))",
        "list(DISTINCT word)",
    ]
    out = {name: Look(0, 0, 0, "", 0, (), False, False, False, False, False, False, False, ()) for name in names}
    for i, *found in query(f"SELECT i, {', '.join(asked)} FROM ({shown}) GROUP BY i"):
        count, points, commas, example, signed, units, *signs, words = found
        known = tuple(sorted(one for one in units or () if one))
        kept = tuple(sorted(one for one in words or () if one is not None))
        negative, dash, point, comma, group, small, long = map(bool, signs)
        seen = (negative, dash, point, comma, group, small, long)
        out[names[i]] = Look(count, points, commas, example or "", signed, known, *seen, kept)
    return out


@dataclass(frozen=True)
class ColumnUnits:
    """The units behind the numbers of a column.

    Parameters
    ----------
    units : with how many values have each.
    bare : number of values without one.
    examples : texts of the first two units.
    fractions : whether some values have decimals, as amounts have, and names such as 12a have not.
    """

    units: dict[Unit, int]
    bare: int
    examples: tuple[str, ...]
    fractions: bool

    @property
    def mixed(self) -> bool:
        """Whether there are different units, beyond doubt."""
        several = len({one.key for one in self.units}) > 1
        certain = self.fractions or any(one.clear for one in self.units)
        return several and certain and all(one.common for one in self.units)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Those that are one unit, the most frequent first."""
        found = sorted(self.units, key=lambda one: -self.units[one])
        return tuple(spellings_of(one.spelling for one in found))

    def fits(self, known: Notation | None) -> bool:
        """Whether the numbers have one unit, that of a fit where one is `known`."""
        keys = {one.key for one in self.units}
        if known is not None:
            return known.measured and keys == {unit_key(known.unit)}
        certain = all(one.clear if self.bare else one.plausible for one in self.units)
        return len(keys) == 1 and certain


def _find_units(names: Sequence[str], table: str, query: Query, rows: int) -> dict[str, ColumnUnits]:
    """Return the units behind the numbers of some columns; none of a column that also holds other texts."""
    out: dict[str, ColumnUnits] = {}
    for name in names:
        column = TextColumn(name)
        cut = f"regexp_extract(t, {text(SUFFIX)}, ['gap', 'unit'])"
        rest = "regexp_full_match(t, '[^0-9]{0,4}[0-9].*')"
        sample = f"SELECT {column.trimmed} AS t FROM {table} WHERE NOT {column.is_word} LIMIT {rows}"
        found = query(
            f"SELECT unit, gap <> '' AS apart, count(*), any_value(t), bool_and({rest}), "
            "bool_or(regexp_matches(t, '[0-9][.,][0-9]')) FROM "
            f"(SELECT t, unnest({cut}) FROM ({sample})) GROUP BY unit, apart ORDER BY 3 DESC, unit, apart "
            f"LIMIT {MOST_UNITS + 1}"
        )
        if len(found) > MOST_UNITS or not all(number for *_, number, _ in found):
            continue
        units = {Unit(unit, apart): count for unit, apart, count, *_ in found if unit}
        shown = {Unit(unit, apart).key: example for unit, apart, _, example, *_ in found if unit}
        bare = sum(count for unit, _, count, *_ in found if not unit)
        out[name] = ColumnUnits(units, bare, tuple(shown.values())[:2], any(one[-1] for one in found))
    return out


def _look_without_units(units: Mapping[str, ColumnUnits], table: str, query: Query, rows: int) -> dict[str, Look]:
    """Return what the numbers of columns have in common, units aside, of those that are all numbers."""
    if not units:
        return {}
    bare = ", ".join(f"{TextColumn(name, one.spellings).trimmed} AS {quoted(name)}" for name, one in units.items())
    looks = _look(list(units), f"(SELECT * REPLACE ({bare}) FROM {table})", query, rows)
    return {
        name: replace(
            look,
            units=units[name].spellings[:1],
            signed=sum(units[name].units.values()),
            example=units[name].examples[0],
        )
        for name, look in looks.items()
        if look.count in (look.points, look.commas) and not look.units
    }


def _number_conversion(
    column: TextColumn, look: Look, sign: FileSign, whole: bool, known: Notation | None
) -> Conversion | None:
    """Return how to read a column of numbers, or None where they fit no single notation.

    `whole` says that all rows were looked at; `known` is the notation of the column in the files of a fit.
    """
    unit, some = look.unit, look.signed < look.count
    if len(look.units) > 1 or (unit in PERCENT and some):  # 5 beside 12% may be 5% or 500%
        return None
    if known is not None and unit in PERCENT and unit != known.unit:  # 12% may be 12 or 0.12
        return None
    if column.units and known is not None:
        unit = known.unit
    fits = [one for one in ".," if look.fitting(one) == look.count and one in (sign.given or ".,")]
    fitted = known.form if known is not None and known.form in FORMS else ""
    if not fits or not (look.count or fitted):
        return None
    decimal = fits[0] if len(fits) == 1 else sign.choose(look.has_point, look.has_comma, fitted)
    parts = []
    other = look.has_comma if decimal == "." else look.has_point
    if look.has_comma and decimal == ",":
        parts.append("a decimal comma")
    doubt = _doubt(look, decimal, sign, fitted) if len(fits) == 2 else ""
    if look.has_point and decimal == "." and doubt:
        parts.append("a decimal point")
    if other:
        parts.append(f"{'commas' if decimal == '.' else 'points'} for thousands")
    if look.has_group:
        parts.append("spaces or apostrophes for thousands")
    if unit in PERCENT:
        parts.append(f"{PERCENT[unit]} (12{unit} is read as 12)")
    elif unit:
        share = f" ({look.signed:,} of {look.count:,} values)" if some else ""
        parts.append(f"the {'unit' if column.units else 'currency'} {unit}{share}")
    elif known is not None and known.scaled and look.count:
        parts.append(known.without_unit)
    if look.negative:
        parts.append("parentheses or a trailing minus for negative numbers")
    if known is not None and unit and unit != known.unit:
        doubt += f"; the model was fitted to {f'values in {known.unit}' if known.unit else 'values without a unit'}"
    sql = _number_sql(column, decimal, look)
    sql = TextColumn(column.name).value(sql) if look.words or not whole else sql
    return Conversion(column.name, sql, decimal, " and ".join(parts), look.example, doubt, look.words, unit)


def _doubt(look: Look, decimal: str, sign: FileSign, fitted: str) -> str:
    """Return what is ambiguous about the decimal sign of a column whose values may have either; "" for nothing.

    `fitted` is the sign of the column in the files of a fit, or "".
    """
    if not (look.has_comma or look.has_point) or sign.given:
        return ""
    thousands = look.has_point if decimal == "," else look.has_comma
    point = look.has_point and decimal == "."
    if sign.certain and not (point and look.looks_grouped) and not (thousands and fitted not in ("", decimal)):
        return ""
    usual = fitted == "." or (not fitted and (look.has_long or sign.separator != ";"))
    if point and not look.looks_grouped and usual:
        return ""
    how = {"": "", decimal: ", as in the fit"}.get(fitted, ", unlike in the fit")
    way = "as points for thousands" if point else "the other way"
    return f"{how}; decimal='{'.' if decimal == ',' else ','}' reads them {way}"


def _number_sql(column: TextColumn, decimal: str, look: Look) -> str:
    """Return SQL from the text of a number to its value; short where the notation is plain, as it is planned again for
    every query.
    """
    trimmed = column.trimmed
    bare = f"replace({trimmed}, '\u2212', '-')"
    if look.has_group or look.unit or look.negative:
        bare = f"regexp_replace({bare}, {text(DECORATION)}, '', 'g')"
    if look.has_dash:
        bare = f"regexp_replace({bare}, {text(NO_CENTS)}, '')"
    thousands = "," if decimal == "." else "."
    bare = f"replace({bare}, '{thousands}', '')" if thousands == "," or look.has_point else bare
    bare = f"replace({bare}, ',', '.')" if decimal == "," else bare
    if look.negative:
        turned = f"starts_with({trimmed}, '(') OR ends_with({bare}, '-')"
        bare = f"CASE WHEN {turned} THEN '-' || trim({bare}, '-') ELSE {bare} END"
    return f"CAST({bare} AS DOUBLE)"


def date_formats(example: str) -> tuple[str, ...]:
    """Return the formats that a date may have, by one example; none where it is no date.

    Examples
    --------
    >>> from adaline.sources.tables.notation import date_formats
    >>> date_formats("31/12/2024 10:30")
    ('%d/%m/%Y %H:%M', '%m/%d/%Y %H:%M')
    """
    for shape, formats in SHAPES:
        found = re.match(shape, example)
        if found is None:
            continue
        rest = example[found.end() :]
        days = tuple(one.format(found.group(1)) for one in formats)
        if not rest:
            return days
        gap = re.match(r"T|,? +", rest)
        clock = rest[gap.end() :] if gap is not None else ""
        for form, time in CLOCKS:
            if gap is not None and re.fullmatch(form, clock):
                return tuple(f"{day}{gap.group()}{time}" for day in days)
    return ()


def _date_conversion(
    name: str, formats: Sequence[str], table: str, query: Query, rows: int, comma: bool, known: str | None
) -> Conversion | None:
    """Return how to read a column of dates, or None where they fit no format; `known` is that of a fit."""
    column = TextColumn(name)
    value = f"CASE WHEN NOT {column.is_word} THEN {column.trimmed} END"
    asked = [f"count(try_strptime({value}, {text(one)}))" for one in formats]
    sample = f"(SELECT {quoted(name)} FROM {table} LIMIT {rows})"
    words = f"list(DISTINCT CASE WHEN {column.is_word} THEN {column.trimmed} END)"
    count, example, found, *fitting = query(
        f"SELECT count({value}), max({value}), {words}, {', '.join(asked)} FROM {sample}"
    )[0]
    fits = [one for one, fit in zip(formats, fitting, strict=True) if fit == count]
    if formats == (COMPACT,) and known != COMPACT and count < FEWEST_COMPACT:
        return None
    if not fits or (fits[0][3:] == "%m" and _are_seasons(value, sample, query)):
        return None
    day_first = comma or not fits[0].startswith("%d/")
    chosen = known if known in fits else fits[0] if len(fits) == 1 or day_first else fits[1]
    kind = "TIMESTAMP" if ":" in chosen else "DATE"
    first = {"%d": "the day first", "%m": "the month first", "%b": "the month first", "%B": "the month first"}
    sql = f"CAST(strptime({column.trimmed}, {text(chosen)}) AS {kind})"
    doubt = "; assumed, as day and month are ambiguous" if len(fits) > 1 else ""
    doubt = ", as in the fit" if doubt and chosen == known else doubt
    there = tuple(sorted(one for one in found or () if one))
    notation = first.get(chosen[:2], "the year first")
    return Conversion(name, column.value(sql), chosen, notation, str(example), doubt, there)


def _are_seasons(value: str, sample: str, query: Query) -> bool:
    """Whether texts such as 2011-12 all name a year and the next one, and so are no months."""
    years = f"(CAST(left({value}, 4) AS INTEGER) + 1) % 100 = CAST(right({value}, 2) AS INTEGER)"
    return bool(query(f"SELECT bool_and({years}) FROM {sample}")[0][0])


def _time_conversion(name: str, table: str, query: Query, rows: int) -> Conversion | None:
    """Return how to read a column of times as seconds, or None where some values are none."""
    column = TextColumn(name)
    value = f"CASE WHEN NOT {column.is_word} THEN {column.trimmed} END"
    words = f"list(DISTINCT CASE WHEN {column.is_word} THEN {column.trimmed} END)"
    fits = f"count_if(regexp_full_match({value}, {text(CLOCK)}))"
    sample = f"(SELECT {quoted(name)} FROM {table} LIMIT {rows})"
    count, example, there, fitting = query(f"SELECT count({value}), max({value}), {words}, {fits} FROM {sample}")[0]
    if fitting < count:
        return None
    bare = f"regexp_replace({column.trimmed}, {text(MERIDIEM)}, '')"
    hours, minutes, seconds = (f"split_part({bare}, ':', {i})" for i in (1, 2, 3))
    half = f"CASE WHEN {column.trimmed} ILIKE '%pm' THEN 12 ELSE 0 END"
    sql = (
        f"3600 * CASE WHEN {bare} = {column.trimmed} THEN CAST({hours} AS DOUBLE) "
        f"ELSE CAST({hours} AS DOUBLE) % 12 + {half} END + 60 * CAST({minutes} AS DOUBLE) + "
        f"CASE WHEN {seconds} = '' THEN 0 ELSE CAST({seconds} AS DOUBLE) END"
    )
    known = tuple(sorted(one for one in there or () if one))
    return Conversion(name, column.value(sql), SECONDS, "hours and minutes, read as seconds", str(example), "", known)


def describe_conversions(conversions: Sequence[Conversion]) -> tuple[str, ...]:
    """Return, in sentences, how columns are read."""
    notes = []
    groups: dict[tuple[str, str], list[Conversion]] = {}
    for one in conversions:
        if one.notation:
            groups.setdefault((one.notation, one.doubt), []).append(one)
    for (notation, doubt), members in groups.items():
        what = "dates" if notation.endswith(" first") else "times" if members[0].form == SECONDS else "numbers"
        shown = re.sub(f"[{BLANK}]", " ", members[0].example)
        notes.append(f"{what} with {notation}, as {shown!r}: {_columns(members)}{doubt}")
    worded: dict[tuple[str, ...], list[Conversion]] = {}
    for one in conversions:
        if words := tuple(filter(None, one.words)):  # blanks are not worth a note
            worded.setdefault(words, []).append(one)
    for words, members in worded.items():
        shown = ", ".join(map(repr, words[:5])) + ", ..." * (len(words) > 5)
        read = "is read as a missing value" if len(words) == 1 else "are read as missing values"
        notes.append(f"{shown} {read}: {_columns(members)}")
    return tuple(notes)


def _columns(members: Sequence[Conversion]) -> str:
    shown = ", ".join(repr(one.name) for one in members[:5]) + ", ..." * (len(members) > 5)
    return f"column{'s' * (len(members) > 1)} {shown}"
