"""Numbers and names as people read them in sentences and tables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def counted(count: float, noun: str = "row", form: str = ",") -> str:
    """Return a number of things in words: "1 row", "1,200 rows", "2 classes"."""
    return f"{count:{form}} {noun}{'' if count == 1 else 'es' if noun.endswith('s') else 's'}"


def part_of(count: float, total: float, verb: str = "are") -> str:
    """Return a part of some rows with its verb: "1 of 80 rows is", "3 of 80 rows have"."""
    return f"{count:,} of {counted(total)} {({'are': 'is', 'have': 'has'})[verb] if count == 1 else verb}"


def number(value: float, digits: int = 6) -> str:
    """Return a number with its significant digits; "-" where there is none."""
    return "-" if math.isnan(value) else f"{value:.{digits}g}"


def four_places(value: float) -> str:
    """Return a number, four digits after the point, or four significant ones of a large one; "-" where there is none.

    Examples
    --------
    >>> from adaline.wording import four_places
    >>> four_places(0.51904), four_places(-1.2117e42), four_places(-1e-9)
    ('0.5190', '-1.212e+42', '0.0000')
    """
    return f"{round(value, 4) + 0.0:.4f}" if abs(value) < 1e4 else number(value, 4)  # without a negative zero


def p_value(value: float) -> str:
    """Return a probability, four digits after the point; "-" where there is none."""
    return "-" if math.isnan(value) else "<0.0001" if value < 1e-4 else f"{value:.4f}"


def amount(error: float, measure: str) -> str:
    """Return an error as people read it: a share of wrong labels in per cent, else at least four digits."""
    if measure == "error rate":
        return percentage(error)
    return f"{error:.0f}" if 1e4 <= error < 1e9 else number(error, 4)


def percentage(share: float) -> str:
    """Return a share in per cent, two digits after the point; "-" where there is none."""
    return "-" if math.isnan(share) else f"{round(100 * share, 2) + 0.0:.2f}%"  # without a negative zero


def plainly(error: object) -> str:
    """Return the first line of an error of another library, types and values without the modules they are from.

    Examples
    --------
    >>> from adaline.wording import plainly
    >>> plainly("could not convert string to float: np.str_('x')")
    "could not convert string to float: 'x'"
    >>> plainly("a real number, not 'datetime.date'"), plainly("too large for dtype('float64').")
    ("a real number, not 'date'", 'too large for float64.')
    """
    text = (str(error).splitlines() or [""])[0].rstrip(":")
    text = re.sub(r"\b(?:np|numpy)\.\w+\(('[^']*'|[^()]*)\)", r"\1", text)
    text = re.sub(r"\bdtype\('?([^')]*)'?\)", r"\1", text)
    return re.sub(r"'(?:\w+\.)+(\w+)'", r"'\1'", text)


def visible(text: str, kept: str = "\n\t") -> str:
    r"""Return text whose control characters are written out, but for those kept, so that no name steers a terminal.

    Those are C0 and C1, DEL, and the marks that turn the direction of writing.

    Examples
    --------
    >>> from adaline.wording import visible
    >>> visible("red \x1b[31m")
    'red \\x1b[31m'
    """
    return CONTROL.sub(lambda found: found[0] if found[0] in kept else repr(found[0])[1:-1], text)


def file_name(name: Any) -> str:
    r"""Return the name of a file on one line: line breaks are written out as other control characters are.

    Examples
    --------
    >>> from adaline.wording import file_name
    >>> print(file_name("rows\nerror: none.csv"))
    rows\nerror: none.csv
    """
    return visible(str(name), "")


def joined(names: Iterable[str], between: str = ",") -> str:
    """Return names as one text that is split at its commas: one with a comma is quoted, as in CSV.

    Examples
    --------
    >>> from adaline.wording import joined
    >>> joined(["x", "a,b"])
    'x,"a,b"'
    """
    quote = '"'
    return between.join(
        quote + name.replace(quote, 2 * quote) + quote if "," in name or name.startswith(quote) else name
        for name in names
    )


def degrees(value: float, digits: int = 6) -> str:
    """Return degrees of freedom, which need not be whole, with some significant digits: "3", "12.5", "1,832"."""
    return f"{value:,.{digits}g}" if value < 10**digits else f"{value:,.0f}"


def wald_words(chi2: float, count: int, freedom: float) -> str:
    """Return a test of so many hypotheses in words: "chi² 5.2 on 2 degrees of freedom", "F 2.6 on 2 and 7 ..."."""
    if math.isinf(freedom):
        return f"chi² {number(chi2)} on {counted(count, 'degree')} of freedom"
    return f"F {number(chi2 / max(count, 1))} on {count} and {degrees(freedom)} degrees of freedom"


def plain(value: Any) -> Any:
    """Return a value for JSON: None for numbers that are not finite, text for values that JSON does not have."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):  # an array or a number of NumPy
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)
