"""Numbers as people write them: decimal signs, signs for thousands, currencies."""

from __future__ import annotations

import re
from dataclasses import dataclass

BLANK = " \t\u00a0\u2007\u2009\u202f"
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
    body = f"(({grouped}|{PLAIN})([{point}][0-9]*)?|[{point}][0-9]+)"
    currency = f"(({CURRENCY})[{BLANK}]*)"
    after = f"([{BLANK}]*({UNIT}))?"
    signed = f"({SIGN}?{currency}?|{currency}{SIGN}){body}([eE][-+]?[0-9]+)?{after}"
    return rf"{signed}|{currency}?{body}{after}[{BLANK}]*-|\({currency}?{body}{after}\)"


FORMS = {".": _number(GROUPS + ",", "."), ",": _number(GROUPS + ".", ",")}
"""Expressions for numbers, by their decimal sign; RE2 and Python read them alike."""
DECORATION = f"({CURRENCY})|[{BLANK}'\u2019%\u2030()]"
"""What stands beside the digits and their signs."""


@dataclass(frozen=True)
class Notation:
    """How the files of a fit write the values of some columns.

    Parameters
    ----------
    form : the decimal sign of numbers, "." or ",", or the format of dates, such as "%d.%m.%Y".
    unit : "%", "\u2030" or a currency where numbers have one, else "".
    columns : the names of the columns.
    """

    form: str
    unit: str
    columns: tuple[str, ...]


def number_in(value: str, decimal: str = ".") -> float | None:
    """Return the number that a text is, given its decimal sign; None where it is none.

    Examples
    --------
    >>> from adaline.coding.numerals import number_in
    >>> number_in("1.234,5 \u20ac", ","), number_in("(12)"), number_in("1,5", "."), number_in("1e3")
    (1234.5, -12.0, None, 1000.0)
    """
    trimmed = value.strip(BLANK)
    if re.fullmatch(FORMS[decimal], trimmed) is None:
        try:
            return float(value) if decimal == "." else None  # as "inf"
        except ValueError:
            return None
    bare = re.sub(DECORATION, "", trimmed.replace("\u2212", "-"))
    bare = bare.replace("," if decimal == "." else ".", "").replace(",", ".")
    if trimmed.startswith("(") or trimmed.endswith("-"):
        return -float(bare.strip("-"))
    return float(bare)
