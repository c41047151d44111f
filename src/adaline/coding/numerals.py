"""Numbers, times and dates as people write them: decimal signs, signs for thousands, units, formats of dates."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adaline.coding.units import BLANK, MEASURE, Unit, unit_key, without_unit

GROUPS = BLANK.replace("\t", "") + "'\u2019"
CURRENCY = (
    "US[$]|A[$]|C[$]|R[$]|[$\u20ac\u00a3\u00a5\u20b9\u20bd]|USD|EUR|Euro|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|"
    "PLN|CZK|HUF|BRL|MXN|ZAR|kr|z\u0142|K\u010d"
)
UNIT = f"%|\u2030|{CURRENCY}"
SIGN = "[-+\u2212]"
PLAIN = "(0|[1-9][0-9]*)"


def _number(group: str, point: str) -> str:
    """Return an expression for all of a text that is a number, given its signs for thousands and for decimals."""
    grouped = f"[1-9][0-9]{{0,2}}([{group}][0-9]{{3}})+"
    body = f"(({grouped}|{PLAIN})([{point}][0-9]+)?|[{point}][0-9]+)"
    amount = f"(({grouped}|{PLAIN})([{point}]([0-9]*|-{{1,2}}))?|[{point}][0-9]+)"  # 12,- is 12
    currency = f"(({CURRENCY})[{BLANK}]*)"
    after = f"([{BLANK}]*({UNIT}))?"
    signed = f"({SIGN}?{currency}?|{currency}{SIGN}){amount}([eE][-+]?[0-9]+)?{after}"
    return rf"{signed}|{currency}?{body}{after}[{BLANK}]*-|\({currency}?{body}{after}\)"


FORMS = {".": _number(GROUPS + ",", "."), ",": _number(GROUPS + ".", ",")}
"""Expressions for numbers, by their decimal sign; RE2 and Python read them alike."""
DECORATION = f"({CURRENCY})|[{BLANK}'\u2019%\u2030()]"
"""What stands beside the digits and their signs."""
NO_CENTS = "[.,]-{1,2}$"
"""What stands for decimals that are zero, as in 12,-."""
PERCENT = {"%": "a percent sign", "\u2030": "a per mille sign"}
PERCENT_SCALE = {"%": 100, "\u2030": 1000}
MERIDIEM = "[ ]?[AaPp][Mm]"
CLOCK = (
    f"[0-9]{{1,3}}:[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?|(0?[1-9]|1[0-2]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?{MERIDIEM}"
)
"""Times of day, and durations; DuckDB has a type for those below 24 hours."""
SECONDS = "%H:%M:%S"  # the form of columns of them, read as seconds
DATE_FORM = (
    "(%[YmdbB][-/. ]%[mdbB][-/. ,]{1,2}%[Yymd]|%Y%m%d|%Y[-/]%m|%[bB][-/ ]%[Yy])([T, ]+%[HI]:%M(:%S([.]%f)?)?( %p)?)?"
)
ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")

MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "?")
"""Words that stand for a missing value in any column."""
WORDS = (
    *dict.fromkeys(word.lower() for word in MISSING_WORDS),
    *("-", "--", "---", "\u2013", "\u2014", ".", "..", "...", ":", "n.a.", "n. a.", "n.a", "nil", "missing"),
    *("k.a.", "k. a.", "keine angabe", "#na", "#div/0!", "#ref!", "#value!", "#name?", "#num!", "#null!"),
    *("#nv", "#wert!", "#bezug!", "#zahl!", "#valeur!", "#nombre!", "#nom?", "#\u00a1valor!", "#\u00a1div/0!"),
)
"""Words, in lower case, that stand for a missing value in a column whose other values are all numbers or dates."""
TEXT_WORDS = tuple(word for word in WORDS if word not in ("", "nil", "missing", ":"))
"""Those that stand for a missing value in a column of text too, whose other values have letters or digits."""


@dataclass(frozen=True)
class Notation:
    """How the files of a fit write the values of some columns.

    Parameters
    ----------
    form : the decimal sign of numbers, "." or ",", or the format of dates, such as "%d.%m.%Y".
    unit : "%", "\u2030", a currency or a unit of measurement such as "kg" where numbers have one, else "".
    columns : the names of the columns.
    """

    form: str
    unit: str
    columns: tuple[str, ...]

    @property
    def known(self) -> bool:
        """Whether it is one that files are read in: the form of numbers, times or dates, and a unit of numbers."""
        if self.form in FORMS:
            return not self.unit or re.fullmatch(f"{UNIT}|{MEASURE}", self.unit) is not None
        return not self.unit and (self.form == SECONDS or re.fullmatch(DATE_FORM, self.form) is not None)

    @property
    def scaled(self) -> bool:
        """Whether numbers in another unit are other amounts; a currency is a sign that may be left out."""
        return self.unit in PERCENT or self.measured

    @property
    def measured(self) -> bool:
        """Whether numbers have a unit of measurement."""
        return bool(self.unit) and re.fullmatch(UNIT, self.unit) is None

    @property
    def without_unit(self) -> str:
        """What is said of numbers that lack the unit, after "numbers with"."""
        blank = " " if self.measured else ""
        return f"no {self.unit}, which those of the fit have (12 is read as 12{blank}{self.unit})"

    @property
    def plain(self) -> bool:
        """Whether it is that of numbers such as 1234.5, which codings do not store."""
        return self.form == "." and not self.unit


def plain_number(value: str) -> float | None:
    """Return the number that a text is, as in 1234.5, 1e3 or inf; None where it is none.

    Examples
    --------
    >>> from adaline.coding.numerals import plain_number
    >>> plain_number(" 1e3 "), plain_number("1_000")
    (1000.0, None)
    """
    try:
        return None if "_" in value else float(value)
    except ValueError:
        return None


def parse_number(value: str, decimal: str = ".") -> float | None:
    """Return the number that a text is, given its decimal sign; None where it is none.

    Examples
    --------
    >>> from adaline.coding.numerals import parse_number
    >>> parse_number("1.234,5 \u20ac", ","), parse_number("(12)"), parse_number("1,5", "."), parse_number("1e3")
    (1234.5, -12.0, None, 1000.0)
    """
    trimmed = value.strip(BLANK).replace("\u2013", "-")
    if re.fullmatch(FORMS[decimal], trimmed) is None:
        return plain_number(value) if decimal == "." else None  # as "inf"
    bare = re.sub(NO_CENTS, "", re.sub(DECORATION, "", trimmed.replace("\u2212", "-")))
    bare = bare.replace("," if decimal == "." else ".", "").replace(",", ".")
    if trimmed.startswith("(") or bare.endswith("-"):
        return -float(bare.strip("-"))
    return float(bare)


def is_word(value: Any) -> bool:
    """Whether a value is a word for a missing value in a column of numbers or dates."""
    return isinstance(value, str) and value.strip(BLANK).lower() in WORDS


def is_text_word(value: str, levels: Collection[Any]) -> bool:
    """Whether a text is a word for a missing value in a column of a model that has these levels, blanks aside."""
    bare = value.strip(BLANK)
    return bare.lower() in TEXT_WORDS and value not in levels and bare not in levels


def unit_in(value: str) -> str:
    """Return the percent sign or currency of a number, "" where it has none."""
    found = re.search(UNIT, value)
    return found.group() if found is not None else ""


def seconds_in(value: str) -> float | None:
    """Return the seconds since midnight, or of a duration, that a text is; None where it is none.

    Examples
    --------
    >>> from adaline.coding.numerals import seconds_in
    >>> seconds_in("08:01"), seconds_in("9:30 PM"), seconds_in("late")
    (28860.0, 77400.0, None)
    """
    trimmed = value.strip(BLANK)
    if re.fullmatch(CLOCK, trimmed) is None:
        return None
    bare = re.sub(MERIDIEM, "", trimmed)
    hours, minutes, seconds = [*map(float, bare.split(":")), 0.0][:3]
    if bare != trimmed:
        hours = hours % 12 + (12 if trimmed[-2] in "pP" else 0)
    return 3600 * hours + 60 * minutes + seconds


def date_in(value: str, form: str = "") -> datetime | None:
    """Return the date or time that a text is, in a format or in that of ISO 8601; None where it is none.

    Examples
    --------
    >>> from adaline.coding.numerals import date_in
    >>> date_in("31/12/2024", "%d/%m/%Y"), date_in("2024-12-31 10:30"), date_in("45000")
    (datetime.datetime(2024, 12, 31, 0, 0), datetime.datetime(2024, 12, 31, 10, 30), None)
    """
    trimmed = value.strip(BLANK)
    if form:
        with suppress(ValueError):
            return datetime.strptime(trimmed, form)
    found = ISO_DATE.match(trimmed)
    if found is None:
        return None
    year, month, day = found.groups()
    try:
        read = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{trimmed[found.end() :]}")
        return read if read.tzinfo is None else read.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def read_text(value: str, kind: str, notation: Notation | None) -> tuple[Any, str]:
    """Return the value of a text in a column of numbers, dates or booleans, and "", or None and what is wrong.

    Only the notation of the fit is read; without one, numbers are as in 1234.5 and dates as in 2024-12-31.

    Examples
    --------
    >>> from adaline.coding.numerals import Notation, read_text
    >>> read_text("12%", "number", Notation(".", "%", ("x",))), read_text("12%", "number", None)
    ((12.0, ''), (None, 'value in another unit'))
    >>> kilograms = Notation(".", "kg", ("x",))
    >>> [read_text(text, "number", kilograms) for text in ("12 kg", "12", "300 g")]
    [(12.0, ''), (12.0, ''), (None, 'value in another unit')]
    """
    read: float | bool | datetime | None
    form = "" if notation is None else notation.form
    if kind == "date":
        read = date_in(value, form)
        return read, "" if read is not None else "invalid date"
    if kind == "boolean":
        read = {"true": True, "false": False}.get(value.strip(BLANK).lower())
        return read, "" if read is not None else "invalid boolean"
    if form == SECONDS:
        read = seconds_in(value)
        return read, "" if read is not None else "invalid time"
    own, decimal = "" if notation is None else notation.unit, form if form in FORMS else "."
    read = parse_number(value, decimal)
    if read is None:
        return _read_measure(value, own, decimal)
    unit = unit_in(value)
    if unit != own and (unit or own in PERCENT):
        return None, "value in another unit"
    if form not in FORMS:
        read = plain_number(value)
    return read, "" if read is not None else "non-numeric value"


def _read_measure(value: str, own: str, decimal: str) -> tuple[float | None, str]:
    """Return what `read_text` does of a text that is no number, unless it has a unit of measurement."""
    bare, unit = without_unit(value)
    read = parse_number(bare, decimal) if unit else None
    if read is not None and own and unit_key(unit) == unit_key(own):
        return read, ""
    return None, "value in another unit" if read is not None and Unit(unit, False).common else "non-numeric value"
