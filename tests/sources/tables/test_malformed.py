"""Malformed and odd tables end in one clear line or in the right fit; none leaves a traceback or a partial output.

CASES has a file, a frame or a query each, and what must come of it: an expression that the error matches, or columns
and a target, whose clean arrays give the same coefficients.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from adaline import GaussianClassifier, LinearRegression, open_table, storage
from adaline.cli import main
from adaline.errors import AdalineError
from adaline.sources.tables.target_labels import holds_labels

LONGEST = 400
A = [1.5, 2.0, 3.25, 4.0, 5.0, 6.5, 7.0, 8.0, 9.75, 10.0, 11.0, 12.0]
B = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
Y = [2.5, 0.75, 9.0, 3.25, 11.0, 21.5, 8.0, 16.0, 16.25, 12.5, 17.0, 23.0]
N = len(Y)
R = range(N)
ROWS = [f"{a},{b},{y}" for a, b, y in zip(A, B, Y, strict=True)]
CLEAN = "\n".join(["a,b,y", *ROWS]) + "\n"
BODY = CLEAN.split("\n", 1)[1]
WORDS = ["u", "v", "w"] * 4
GAPS = ["u", "", "w"] * 4
FIVE = [i % 5 for i in R]
NINE = [i * i % 9 for i in R]
LESS = tuple([column[i] for i in R if i != 3] for column in (A, B, Y))
REST = ([*LESS[:2]], LESS[2])
"""The clean rows but the fourth."""
FILLED = [b if i != 3 else sum(LESS[1]) / 11 for i, b in enumerate(B)]
TABLE = pa.table({"a": A, "b": B, "y": Y})
MISSING = r"missing values in column 'c' \(4\)"

Outcome = str | list[Any] | tuple[Any, Any] | None
"""An expression, or further columns beside the clean ones, or all columns and the target; by default the clean ones."""


@dataclass(frozen=True)
class Case:
    """What to open, what must come of it, and the weights of its rows."""

    data: Any
    outcome: Outcome
    options: dict[str, Any]
    target: Any = "y"
    weights: Sequence[float] | None = None

    @property
    def error(self) -> str | None:
        return self.outcome if isinstance(self.outcome, str) else None

    @property
    def fit(self) -> tuple[Sequence[Sequence[float]], Sequence[Any]]:
        """The columns, and the target."""
        if isinstance(self.outcome, str):
            return [], []
        return self.outcome if isinstance(self.outcome, tuple) else ([A, B, *(self.outcome or ())], Y)

    @property
    def labels(self) -> bool:
        return isinstance(next(iter(self.fit[1]), None), str)


CASES: dict[str, Callable[[Path], Case]] = {}


def case(
    name: str,
    make: Callable[[Path], Any],
    outcome: Outcome = None,
    target: Any = "y",
    weights: Sequence[float] | None = None,
    **options: Any,
) -> None:
    """Register what a function makes in a folder, and opens."""
    assert name not in CASES, name
    CASES[name] = lambda folder: Case(make(folder), outcome, options, target, weights)


def given(name: str, data: Any, outcome: Outcome = None, **more: Any) -> None:
    """Register what is given itself, as frames are."""
    case(name, lambda folder: data, outcome, **more)


def written(name: str, content: str | bytes, outcome: Outcome = None, file: str = "t.csv", **more: Any) -> None:
    """Register a file by its content."""

    def make(folder: Path) -> str:
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(folder / file)

    case(name, make, outcome, **more)


def added(values: Sequence[Any], separator: str = ",") -> str:
    """Return the clean table with another column c."""
    lines = ["a,b,y,c", *(f"{row},{value}" for row, value in zip(ROWS, values, strict=True))]
    return "\n".join(line.replace(",", separator, 3) for line in lines) + "\n"


def dummies(values: Sequence[Any], levels: Sequence[Any]) -> list[list[float]]:
    return [[float(value == level) for value in values] for level in levels]


def replaced(row: int, column: str, value: str) -> str:
    """Return the clean table with one value replaced."""
    lines = CLEAN.splitlines()
    parts = lines[row].split(",")
    parts["aby".index(column)] = value
    lines[row] = ",".join(parts)
    return "\n".join(lines) + "\n"


def named(names: str) -> str:
    """Return the clean table with other names."""
    return names + "\n" + BODY


def days_of(days: Sequence[date]) -> list[float]:
    return [float((day - date(1970, 1, 1)).days) for day in days]


def changed(row: int, line: str) -> str:
    """Return the clean table with other text in place of one row."""
    return CLEAN.replace(ROWS[row], line)


# How text files are cut into rows and values

SEPARATED = {",": "t.csv t.tsv table T.CSV", "\t": "t.tsv t.csv", ";": "t.csv", "|": "t.txt", " ": "t.csv"}
for separator, files in SEPARATED.items():
    for file in files.split():
        written(f"{file} separated by {separator!r}", CLEAN.replace(",", separator), file=file)
written("runs of spaces", CLEAN.replace(",", "   ").replace("\n", "  \n"), file="t.data")
written("row names of write.table", "a b y\n" + "".join(f'"r{i}" {r}\n'.replace(",", " ") for i, r in enumerate(ROWS)))
written("row names of write.table, commas", "a,b,y\n" + "".join(f"r{i},{row}\n" for i, row in enumerate(ROWS)))
written("colons between columns", CLEAN.replace(",", ":"), "no column 'y'")
written("no newline at the end", CLEAN.rstrip())
written("an endless line", CLEAN + "1,2," + "3" * 2_200_000 + "\n", "t.csv has a line of more than 2,000,000 bytes")
written("a blank line in the middle", changed(4, "\n" + ROWS[4]))
written("a line of spaces in the middle", changed(4, "   \n" + ROWS[4]), "t.csv, line 6")
for end in ("\r\n", "\r"):
    written(f"lines that end with {end!r}", CLEAN.replace("\n", end))
for text in (CLEAN.replace("\n", "\r\n", 5), "\r\n".join(CLEAN.rsplit("\n", 3))):
    written(f"lines that end in two ways, first {text[5:7]!r}", text)
for content in ("", "\n", "\n  \n\r\n\n", "\ufeff"):
    written(f"only {content!r}", content, "t.csv is empty")
written("header only", "a,b,y\n", "no rows|has missing|no values")
written("one row", "a,b,y\n1,2,3\n", ([[1.0], [2.0]], [3.0]))
written("two rows", "a,b,y\n1,2,3\n2,2,5\n", ([[1.0, 2.0], [2.0, 2.0]], [3.0, 5.0]))
for text in (CLEAN, named('"a","b","y"'), "\ufeff" + CLEAN):
    written(f"bom, then {text[:3]!r}", "\ufeff" + text)
for encoding in ("utf-16", "utf-16-le"):
    written(encoding, CLEAN.encode(encoding))
written("utf-16-be", b"\xfe\xff" + CLEAN.encode("utf-16-be"))
written("utf 16 cut in a character", CLEAN.encode("utf-16")[:-1], "looks like utf-16.*encoding=")
written("latin 1 in the header", named("a,b,größe").encode("latin-1"), target="größe")
ACUTE = ["ä", "ö"] * 6
written("latin 1 in the data", added(ACUTE).encode("latin-1"), dummies(ACUTE, "ö"))
written("an encoding that is named", added(ACUTE).encode("cp850"), dummies(ACUTE, "ö"), encoding="cp850")
written("an encoding that does not fit", b"a,y\n1,\xff\n", "cannot be decoded", encoding="ascii")
written("an encoding that is unknown", CLEAN, "encoding: 'utf8000' is unknown", encoding="utf8000")
written(
    "latin 1 far from the start",
    (added(["x"] * N) + (ROWS[0] + ",x\n") * 20000).encode() + b"1.5,3,2.5,\xe4\n",
    ([[*A, *[1.5] * 20001], [*B, *[3] * 20001], [0] * (N + 20000) + [1]], [*Y, *[2.5] * 20001]),
)
for row in (0, 5, 11):
    for line, values in ((ROWS[row] + ",7", 4), ("1,2", 2), ("1", 1)):
        written(f"{values} values in row {row}", changed(row, line), f"line {row + 2} has {values} value")
written("too many values everywhere", CLEAN.replace("\n", ",7\n").replace("y,7", "y"), "line 2 has 4 value")
written("too few values everywhere", "a,b,c,y\n" + "\n".join(ROWS), "12 lines do not fit its 4 columns: line 2 has 3")
written("two rows, the first too long", "a,b\n1,2,3\n2,3\n", "line 2 has 3", target="b")
written("separators at the end of lines", CLEAN.replace("\n", ",\n"))
written("a separator at the end of the names", "by me\n" + named("a,b,y,"))
written("separators at the end of rows", CLEAN.replace("\n", ",\n").replace("y,\n", "y\n"))
written("separator at the end of one row", changed(3, ROWS[3] + ","), "line 5 has 4 value")
written("header with other separator", named("a;b;y"), "no column 'y'|line 2 has")
written("rows with other separator", "a,b,y\n" + BODY.replace(",", ";"), "line 2 has 1 value")
written("comment with commas first", "# made, by, me\n" + CLEAN.replace(",", ";"))
written("names in a comment", "# made by me\n# a b y\n" + BODY.replace(",", " "))
SPREADSHEET = "Measurements of 2024,,\n,,\nby me,,\n"
for first in (
    '# a "word\n\n# made, by, me\n',
    "// made by me\n",
    SPREADSHEET,
    "Measurements, of 2024\n",
    ",2023,\n",
    "\n\n",
):
    written(f"{first!r} first", first + CLEAN)
for last in ("\n\n\n", "\x1a", "\nSum,71,\nAverage:,6,\n\n* estimated\n"):
    written(f"{last!r} last", CLEAN + last)
written("comment in the middle", changed(5, "# pause\n" + ROWS[5]), "line 7 has 1 value")
written("names that begin with a hash", named("#a,b,y"))
written("a footnote with a comma", CLEAN + "Source: me, and others\n", "line 14 has 2 values")
written("totals of groups", "c,y\n" + "u,1\nTotal,2\n" * 6, ([[1, 0] * 6], [1, 2] * 6))
written("nul bytes", changed(3, "\0" + ROWS[3]), "line 5: a NUL byte")
FAR = {"1,2": "line 30014 has 2 value", "x,1,2": "'a' holds numbers, but also 'x'", "\0\0,1,2": r"but also '\\x00"}
for line, error in FAR.items():
    written(f"{line!r} far away", CLEAN + (ROWS[0] + "\n") * 30000 + line + "\n", error)
written("nothing but nul bytes", b"\0" * 5000, "NUL byte")
written("random bytes", np.random.default_rng(0).bytes(3000), "NUL byte|not UTF-8|empty")
written("no line of names", BODY, "no column 'y'.* There are: column_1, column_2, column_3")
written("no line of names, named by number", BODY, target="column_3")
written("html", "<html><body>\n<p>Not found, sorry</p></body></html>\n", "no column 'y'|line")
written("a page of prose", "It was the best of times, it was the worst\nof times.\n\nIt was.\n", "line|no column")

# Quotes

written("all quoted", "\n".join(",".join(f'"{v}"' for v in line.split(",")) for line in CLEAN.split()) + "\n")
for row in (0, 5):
    written(
        f"quote never closed in row {row}", changed(row, '"' + ROWS[row]), f"line {row + 2}: a quote|line {row + 2} "
    )
written("quote never closed at the end", changed(11, ROWS[11][:-2] + '"1'), "'y' holds numbers|line 13")
written("quote never closed in the header", named('"a,b,y'), "line 1")
written("text after a quote", changed(2, '"3"x' + ROWS[2][4:]), "line 4: a quote")
for word in ('x"y', '"x ""y"""', r'"x \"y\""', '"x\ny"', '"x,y"'):
    written(f"a value {word!r}", added([word, "z"] * 6), dummies(["", "z"] * 6, "z"))
written("single quotes", named("'a','b','y'"), "Did you mean \"'y'\"|no column 'y'")
written("a field of a million letters", added(["x" * 10**6, *["z"] * 11]), [[0.0] + [1.0] * 11])
written("spaces around numbers", CLEAN.replace(",", " , "))

# Names of columns

ODD = ("a,a,y", "b,B,y", "b ,b,y", ",b,y", 'a,"",y', " a , b , y ", "a,\tb,y", f"{'n' * 5000},{'m' * 5000},y")
PLAIN = ("select", "order", "from", "frame", "copied", "date", "rowid", "1", "a b", "a.b", "a-b", "a'b", "a`b", "a;b")
for names in (
    *ODD,
    'a,"x ""q"" y",y',
    "a,b[T.x]{1},y",
    'a,"x\ny",y',
    "a,%(b)s {b} $b \\b,y",
    'a,"b""; DROP TABLE x; --",y',
):
    written(f"columns {names[:50]!r}", named(names))
for word in PLAIN:
    written(f"a column called {word}", named(f'a,"{word}",y'))
written("two columns of one name, and the new one", named("Y_2,y,y"), target="y_3")
written("a name of spaces", named("a,   ,y"), features=["a", "column_2"])
for word in ("", "Unnamed: 0", "...1", "rownames"):
    numbered = [f"{word},a,b,y", *(f"{i},{row}" for i, row in enumerate(ROWS))]
    written(f"row numbers called [{word}]", "\n".join(numbered))
    written(f"row labels called [{word}]", "\n".join([numbered[0], *(f"r{line}" for line in numbered[1:])]))
written("row numbers, used", "\n".join(numbered), ([R, A], Y), features=["rownames", "a"])
written("rownames that repeat", added(B).replace("a,b,y,c", "rownames,b,y,c"), [B])
written("very long names, wrong target", named(f"{'n' * 5000},b,y"), "no column 'z'", target="z")
for names, target in (("a,b,select", "select"), ('a,b,"it\'s"', "it's"), ("2019,2020,2021", "2021")):
    written(f"target called {target}", named(names), target=target)

# Numbers and what stands among them

for word in ("abc", "1O", "1 2", "1e", "0x"):
    expected = f"column 'b' holds numbers, but also '{word}'.* in line 4.*na="
    written(f"{word} among numbers", replaced(3, "b", word), expected)
for word in ("-", "missing", "n.a.", "#REF!", "#DIV/0!", "--", ".", "k.A.", "k. A.", "\u2013"):
    written(f"{word} among numbers", replaced(3, "b", word), r"missing values in column 'b' \(1\)")
written("a word named in na", replaced(3, "b", "abc"), r"missing values in column 'b' \(1\)", na="abc")
written("dashes among texts", added(["-", "u"] * 6), r"missing values in column 'c' \(6\)")
written("dashes among texts that are levels", added(["-", "u"] * 6), dummies(["-", "u"] * 6, "u"), na="")
for row in (1, 12):
    written(f"a word in row {row}", replaced(row, "a", "x"), "column 'a' holds numbers, but also 'x' .1 such")
written("a word in the target", replaced(6, "y", "high"), "column 'y' holds numbers, but also 'high'")
for word in ("", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null", "None", "?", "<NA>", "#N/A", '""', '"NA"'):
    written(f"missing value [{word}]", replaced(4, "b", word), r"missing values in column 'b' \(1\).*drop")
    written(f"missing value [{word}], left out", replaced(4, "b", word), REST, missing="drop")
written("missing target, left out", replaced(4, "y", ""), REST, missing="mean")
written("missing number, mean", replaced(4, "b", ""), ([A, FILLED], Y), missing="mean")
GONE = [float(i == 3) for i in R]
written("missing number, indicator", replaced(4, "b", ""), ([A, FILLED, GONE], Y), missing="indicator")
for column, word in (("b", "inf"), ("b", "Infinity"), ("y", "-inf"), ("b", "1e400")):
    expected = f"'{column}' holds numbers, but also '{word}'|infinity"
    written(f"{word} in {column}", replaced(3, column, word), expected)
for word in ("1e300", "1e-320"):
    written(word, replaced(3, "b", word), ([A, [float(word) if i == 2 else B[i] for i in R]], Y))
for power in (2**31, 2**53 + 1, 2**63, 2**64, 10**25, 10**40):
    large = [power * (1 + i % 3) for i in R]
    written(f"whole numbers of {power}", added(large), [[float(i) for i in large]])
written("leading zeros", added([f"{i:03d}" for i in FIVE]), "'c' holds numbers as text")
written("plus signs", changed(0, "+" + ROWS[0]))
written("exponents", added([f"{i}e-1" for i in R]), [[i / 10 for i in R]])
written("bare points", added([f".{i % 7}" for i in R]), [[i % 7 / 10 for i in R]])
written("negative zeros", added(["-0", "0", "1"] * 4), [[0, 0, 1] * 4])
reads_hex = duckdb.__version__ < "2"
written("hex", added(map(hex, FIVE)), [FIVE] if reads_hex else "line 2: column 'c' holds '0x0', not a number")
C = [1000 + 37 * i for i in R]
HALVES = [i + 0.5 for i in R]
for name, texts, numbers in (
    ("thousands", [f"{i:,}" for i in C], C),
    ("thousands and decimals", [f"{i:,}.50" for i in C], [i + 0.5 for i in C]),
    ("thousands twice", [f"{i * 1000:,}" for i in C], [i * 1000 for i in C]),
    ("decimal commas", [f"{i},5" for i in R], HALVES),
    ("decimal commas and points", [f"1.{i + 100},5" for i in R], [1100.5 + i for i in R]),
    ("spaces for thousands", [f"{i:,}".replace(",", "\u202f") for i in C], C),
    ("apostrophes for thousands", [f"{i:,}".replace(",", "'") for i in C], C),
    ("percent", [f"{i} %" for i in R], R),
    ("percent and commas", [f"{i},5%" for i in R], HALVES),
    ("dollars", [f"$ {i:,}.50" for i in C], [i + 0.5 for i in C]),
    ("euros", [f"{i},50 \u20ac" for i in R], HALVES),
    ("parentheses", [f"({i})" if i % 2 else f"{i}" for i in R], [-i if i % 2 else i for i in R]),
    ("a minus at the end", [f"{i},5-" if i % 2 else f"{i}" for i in C], [-i - 0.5 if i % 2 else i for i in C]),
    ("a long minus", [f"\u2212{i}" for i in C], [-i for i in C]),
):
    written(f"{name} in quotes", added([f'"{text}"' for text in texts]), [numbers])
written("thousands that are decimals", added([f'"{i:,}"' for i in C]), [[i / 1000 for i in C]], decimal=",")
written("decimal commas, named", CLEAN.replace(",", ";").replace(".", ","), decimal=",")
POINTS = added([f"{i:,}" for i in C], ";").replace(",", "#").replace(".", ",").replace("#", ".")
written("thousands among decimal commas", POINTS, [C])
SIGNS = "'c' holds numbers with different percent signs, or with and without one, as '5%'"
written("a percent sign once", added(["5%", *range(1, N)]), SIGNS)
written("a word among percents", added(["oops", *(f"{i}%" for i in C[1:])]), "'c' holds numbers, but also 'oops'")
written("two currencies", added([("$" if i % 2 else "\u20ac") + str(i) for i in R]), "'c' holds numbers written as")
written("money as target", added([f"${i}" for i in R]), ([A, B, Y], R), target="c")
written("underscores", added([f"{i}_000" for i in R]), "'c' holds numbers")
MANY = range(42)
written("numbers and units", "a,y\n" + "".join(f"{i},{i} kg\n" for i in MANY), ([MANY], MANY))
written("fractions", "a,y\n" + "".join(f"{i},{i}/7\n" for i in MANY), "'y' holds 42 different")
written(
    "whole numbers, then fractions",
    "a,y\n" + "".join(f"{i % 9},{i % 5}\n" for i in range(25000)) + "1.5,3.5\n",
    ([[*(i % 9 for i in range(25000)), 1.5]], [*(i % 5 for i in range(25000)), 3.5]),
)
for yes, no in (("TRUE", "FALSE"), ("true", "false"), ("True", "False"), ("yes", "no"), ("t", "f"), ("1", "0")):
    written(f"booleans {yes}", added([yes, no, no] * 4), [[1, 0, 0] * 4])
written("booleans with a gap", added(["TRUE", "FALSE", "NA"] * 4), MISSING)
TRUTHS = ["TRUE", "FALSE", "2"] * 4  # 2 is the first level
written("booleans and a 2", added(TRUTHS), dummies(TRUTHS, ["FALSE", "TRUE"]))
DAYS = [date(2024, 1 + i % 3, 14 + i) for i in R]
BOTH = [date(2024, 1 + i, 1 + i) for i in R]
written("dates", added(DAYS), "'c' of type DATE.*dates=")
written("dates, day first", added([f"{day:%d/%m/%Y}" for day in DAYS]), "dates=")
for form in ("%Y-%m-%d", "%d/%m/%Y", "%d.%m.%Y", "%m/%d/%Y", "%d-%b-%Y", "%d %B %Y", "%Y/%m/%d", "%d.%m.%y"):
    written(f"dates as {form}", added([day.strftime(form) for day in DAYS]), [days_of(DAYS)], dates=["c"])
written("dates that may be either", added([f"{day:%d/%m/%Y}" for day in BOTH]), [days_of(BOTH)], dates=["c"])
for name, texts, numbers in (
    ("times as %d.%m.%Y %H:%M", [f"{14 + i}.01.2024 {i}:30" for i in R], [19736 + i + (i + 0.5) / 24 for i in R]),
    ("timestamps with zones", [f"2024-01-01T{i:02d}:00:00+02:00" for i in NINE], [19723 + (i - 2) / 24 for i in NINE]),
    ("a wrong date", [*(f"2024-02-{i + 20}" for i in range(N - 1)), "2023-01-01"], None),
    ("dates and a word", [*(f"2024-01-{i + 1:02d}" for i in range(N - 1)), "later"], None),
):
    written(name, added(texts), [numbers] if numbers else "'c'", dates=["c"])
TOLD = r"'c' holds dates, but also 'unknown' \(line 3\): name it in na="
AMERICAN = ["1/13/2023", "unknown", *(f"1/{13 + i % 9}/2023" for i in range(N - 2))]
written("a word among dates", added(AMERICAN), TOLD, dates=["c"])
written("times of day", added([f"10:11:{i * i % 60:02d}" for i in R]), [[36660 + i * i % 60 for i in R]])

# Categories, targets, weights, features

written("category", added(WORDS), dummies(WORDS, "vw"))
written("category with gaps", added(GAPS), r"'c' \(4\)")
written("category with gaps, indicator", added(GAPS), dummies(GAPS, ["w", ""]), missing="indicator")
written("category with gaps, mean", added(GAPS), [[0, 0.5, 1] * 4], missing="mean")
written("category of one level", added(["u"] * N), [])
written("levels that differ in spaces", added(["u", "u ", "v"] * 4), [[0, 0, 1] * 4])
COLLIDE = "collide|missing|twice|same name"
written("levels called missing", added(["(missing)", "", "w"] * 4), COLLIDE, missing="indicator")
written("names that collide with levels", added(WORDS).replace("b,y,c", "c[T.v],y,c"), "c.T.v.")
written("numbers as categories", CLEAN, ([A, *dummies(B, [2, 3, 4, 5, 6, 8, 9])], Y), categories=["b"])
written("categories with unknown levels", added(WORDS), "level 'w', which", categories={"c": ["u", "v"]})
PROSE = "a,c,y\n" + "".join(f"{i},text {i} of {i * 7},{i}\n" for i in MANY)
written("prose", PROSE, "'c' holds 42 different texts")
MIXED = ["u", "1", "w", "v"] * 3
written("mixed words and numbers", added(MIXED), dummies(MIXED, "uvw"))
written("target misspelt", named("a,b,price"), "Did you mean 'price'", target="prize")
for target in ("Y", "y ", ""):
    written(f"target {target!r}", CLEAN, f"no column '{target}'", target=target)
written("target that is nowhere", CLEAN, "no column 'weight'. There are: a, b, y", target="weight")
written("constant target", "a,y\n1,5\n2,5\n3,5\n", ([[1, 2, 3]], [5, 5, 5]))
written("target all missing", "a,y\n1,\n2,\n3,\n", "y")
written("target all missing, drop", "a,y\n1,\n2,\n3,\n", "no rows|no values|'y'", missing="drop")
written("text target, one class", added(["u"] * N), "class", target="c")
written("text target, three classes", added(WORDS), ([A, B, Y], WORDS), target="c")
written("text target, 2000 classes", "a,y\n" + "".join(f"{i},t{i}\n" for i in range(2000)), "too many to be classes")
KEPT = [[value for i, value in enumerate(column) if i % 3 != 1] for column in (A, B, Y)]
written("text target with a gap, drop", added(GAPS), (KEPT, ["u", "w"] * 4), target="c", missing="drop")
written("target among the features", CLEAN, "names 'y', which is the target", features=["a", "y"])
written("a feature named twice", CLEAN, "twice", features=["a", "a"])
written("a feature that is nowhere", CLEAN, "features: .* no column 'aa'", features=["aa"])
written("target and nothing else", "y\n1\n2\n3\n", "no column to learn from")
written("target and weight, nothing else", "w,y\n1,2\n1,3\n", "no column to learn from", weight="w")
written("a feature all missing", added([""] * N), r"missing values in column 'c' \(12\)|'c' has no values")
for policy in ("drop", "mean", "indicator"):
    written(f"a feature all missing, {policy}", added(["NA"] * N), "'c'|no rows", missing=policy)
written("unknown policy", CLEAN, "missing must be one of", missing="zero")
written("weights", added([1, 2, 0] * 4), [], weights=[1, 2, 0] * 4, weight="c")
for name, values, error in (
    ("negative", [1, -2, 1] * 4, "weight in column 'c' is -2 at line 3"),
    ("missing", [1, "", 1] * 4, "'c'"),
    ("zero", [0] * N, "weight"),
    ("text", WORDS, "weights in column 'c' are VARCHAR"),
    ("infinite", ["1e999"] + [1] * 11, "weight in column 'c' is inf"),
):
    written(f"{name} weights", added(values), error, weight="c")
written("weight that is nowhere", CLEAN, "weight: .* no column 'w'", weight="w")
for wide in (100, 2000):
    columns = [[(i * j) % 7 + (i == j) for i in range(3)] for j in range(wide)] + [[0, 1, 2]]
    names = ",".join([*(f"x{i}" for i in range(wide)), "y"]) + "\n"
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    written(f"{wide} columns", names + "\n".join(lines), (columns[:-1], columns[-1]))
written("2000 columns and a short row", names + "1," * 1999 + "1\n", "line 2 has 2,000 values, but there are 2,001")
written("a feature twice", added(B), [B])

# Compressed files

ZIPPED = gzip.compress(CLEAN.encode(), mtime=0)
LONG = gzip.compress((CLEAN + "".join(f"{i % 9},{i % 7},{i * i % 11}\n" for i in range(20000))).encode(), mtime=0)
ZSTD = bytes(pa.compress(CLEAN.encode(), "zstd", asbytes=True))
LONG_ZSTD = bytes(pa.compress(gzip.decompress(LONG), "zstd", asbytes=True))
BZ2 = bz2.compress(CLEAN.encode())


def flipped(data: bytes, at: int) -> bytes:
    out = bytearray(data)
    out[at] ^= 0x55
    return bytes(out)


for name, data, outcome in (
    ("gz", ZIPPED, None),
    ("gz in two members", gzip.compress(CLEAN[:40].encode()) + gzip.compress(CLEAN[40:].encode()), None),
    ("gz with padding", ZIPPED + b"\0" * 100, "t.csv.gz: .*not a GZIP stream"),
    *((f"gz cut after {cut}", ZIPPED[:cut], "cannot read .*t.csv.gz|t.csv.gz is (cut|dam)") for cut in (1, 5, 10, 15)),
    *((f"gz without {cut} bytes", ZIPPED[:-cut], "cannot read .*t.csv.gz|t.csv.gz is (cut|dam)") for cut in (9, 8, 1)),
    *((f"longer gz without {cut} bytes", LONG[:-cut], "t.csv.gz is cut short") for cut in (len(LONG) // 2, 9, 4)),
    ("gz with a wrong byte", flipped(LONG, len(LONG) // 2), "t.csv.gz is (damaged|cut short)"),
    ("gz with a wrong checksum", flipped(ZIPPED, len(ZIPPED) - 6), "damaged|cannot read"),
    ("longer gz with a wrong checksum", flipped(LONG, len(LONG) - 6), "damaged"),
    ("gz with a wrong length", flipped(LONG, len(LONG) - 2), "damaged"),
    ("gz and rubbish", LONG + b"rubbish", "damaged"),
    ("text named gz", CLEAN, "cannot read .*t.csv.gz: .*[Gg]zip"),
    ("gz of gz", gzip.compress(ZIPPED), "compressed twice"),
    ("gz of nothing", gzip.compress(b""), "t.csv.gz is empty"),
    ("empty gz", b"", "t.csv.gz is empty"),
    ("gz of a short row", gzip.compress((CLEAN + "1,2\n").encode()), "line 14 has 2 value"),
):
    written(name, data, outcome, file="t.csv.gz")
written("gz named csv", ZIPPED, "compressed by gzip: let its name end in .gz")
for name, data, outcome in (
    ("zst", ZSTD, None),
    *((f"zst cut after {cut} bytes", ZSTD[:cut], "t.csv.zst is cut short") for cut in (1, 3, 20, len(ZSTD) - 1)),
    *((f"longer zst without {cut} bytes", LONG_ZSTD[:-cut], "cut short") for cut in (len(LONG_ZSTD) // 2, 3)),
    ("text named zst", CLEAN, "t.csv.zst"),
    ("zst and rubbish", ZSTD + b"rubbish", "damaged|cannot read"),
    ("zst of two frames", ZSTD + bytes(pa.compress(b"1,2,3\n", "zstd", asbytes=True)), ([[*A, 1], [*B, 2]], [*Y, 3])),
):
    written(name, data, outcome, file="t.csv.zst")
written("bz2", BZ2, file="t.csv.bz2")
written("bz2 cut", BZ2[:-5], "cannot unpack .*t.csv.bz2", file="t.csv.bz2")
written("xz", lzma.compress(CLEAN.encode()), file="t.csv.xz")
written("xlsx cut", b"PK\x03\x04" + bytes(100), "cannot unpack .*t.xlsx", file="t.xlsx")


def zipped(*names: str) -> bytes:
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as file:
        for name in names:
            file.writestr(name, CLEAN)
    return sink.getvalue()


written("zip", zipped("t.csv"))
written("zip of two files", zipped("t.csv", "u.csv"), r"holds 2 files \(t.csv, u.csv\): unpack it", file="t.zip")

# Names of files


def at(file: str, given: str | None = None, outcome: Outcome = None) -> None:
    def make(folder: Path) -> str:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / "t1.csv").write_text(CLEAN.replace("1", "7"))
        (folder / file).write_text(CLEAN)
        return str(folder / (file if given is None else given))

    case(f"file {file} given as {given or file}", make, outcome)


for file in ("t[1].csv", "t*.csv", "t?.csv", "select.csv", "-t.csv", "a#b.csv", "k=v/t.csv"):
    at(file)
for pattern in ("deep", "deep/*/*.csv", "**/er/t.csv"):
    at("deep/er/t.csv", pattern)
at("deep/t.txt", "deep", "holds no Parquet and no CSV")
at("t.csv", "u*.csv", "no file matches")
at("t.csv", "u.csv", "there is no file")
at("t.csv", "t.csv/x", "there is no file")
for name, data, error in (
    ("very long", "x" * 5000 + ".csv", "there is no file"),
    ("empty", "", "there is no file"),
    ("bytes", b"t.csv", "cannot open bytes"),
    ("empty list", [], "give a path"),
    ("list of numbers", [1, 2], "cannot open list"),
    ("None", None, "cannot open NoneType"),
    ("a series", pd.Series(A), "cannot open Series"),
    ("an array", np.ones((3, 3)), "target of an array is an array of numbers"),
):
    given(f"given: {name}", data, error)

# Several files


def several(name: str, contents: list[Any], outcome: Outcome = None, suffix: str = ".csv", times: int = 2) -> None:
    def make(folder: Path) -> str:
        for i, content in enumerate(contents):
            if isinstance(content, pa.Table):
                parquet.write_table(content, folder / f"{i}{suffix}")
            else:
                (folder / f"{i}{suffix}").write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(folder / f"*{suffix}")

    case(f"several {suffix}, {name}", make, outcome or ([A * times, B * times], Y * times))


several("alike", [CLEAN, CLEAN])
several("other names", [CLEAN, named("a,c,y")], "1.csv has no column 'b', which .*0.csv has")
several("fewer columns", [CLEAN, CLEAN, "a,y\n1,2\n"], "2.csv has no column 'b'.*open each file separately")
several("more columns", [CLEAN, added(WORDS)])
several("another order", [CLEAN, "\n".join(",".join(line.split(",")[::-1]) for line in CLEAN.split("\n"))])
several("other separators", [CLEAN, CLEAN.replace(",", ";")])
several("a title above the second", [CLEAN, "results of 2024\n\n" + CLEAN])
several("spaces in the second", [CLEAN, CLEAN.replace(",", " ")], "1.csv is written differently")
several("short row in another order", [CLEAN, "title\ny,b,a\n1,2,3\n1,2\n"], "1.csv, line 4 has 2 value")
several("one empty", [CLEAN, ""], "1.csv is empty")
several("one header only", [CLEAN, "a,b,y\n"], times=1)
several("words in the second", [CLEAN, replaced(3, "b", "x")], "1.csv, line 4: column 'b' holds 'x', not a number")
several("fractions in the second", [CLEAN.replace(".0", ""), CLEAN])
several("short row in the second", [CLEAN, CLEAN + "1,2\n"], "1.csv, line 14 has 2 value")
several("one with crlf", [CLEAN, CLEAN.replace("\n", "\r\n")])
several("one with bom", [CLEAN, "\ufeff" + CLEAN])
several("one cut", [ZIPPED, ZIPPED[:-5]], "1.csv.gz.*cut short", suffix=".csv.gz")


def list_of_files(folder: Path) -> list[Path]:
    paths = [folder / f"{i}.csv" for i in range(3)]
    for path in paths:
        path.write_text(CLEAN)
    return paths


def files_of_several_kinds(folder: Path) -> str:
    (folder / "t.csv").write_text(CLEAN)
    parquet.write_table(TABLE, folder / "t.parquet")
    return str(folder / "t.*")


case("list of files", list_of_files, ([A * 3, B * 3], Y * 3))
case("files of several kinds", files_of_several_kinds, "files of different kinds")

# Frames, and Parquet files


def in_parquet(name: str, table: pa.Table, outcome: Outcome = None, writing: Any = None, **more: Any) -> None:
    def make(folder: Path) -> str:
        parquet.write_table(table, folder / "t.parquet", **(writing or {}))
        return str(folder / "t.parquet")

    case(f"parquet, {name}", make, outcome, **more)


def arrow(name: str, table: pa.Table | pa.Array | list[Any], outcome: Outcome = None, **more: Any) -> None:
    """Register a table, or the clean one with another column, as it is and as a Parquet file."""
    table = table if isinstance(table, pa.Table) else TABLE.append_column("c", pa.array(table))
    given(f"arrow, {name}", table, outcome, **more)
    in_parquet(name, table, outcome, **more)


def pandas(name: str, c: Any, outcome: Outcome = None, **more: Any) -> None:
    """Register the clean columns and another."""
    given(f"pandas, {name}", pd.DataFrame({"a": A, "b": B, "y": Y, "c": c}), outcome, **more)


def polars(name: str, columns: dict[str, Any], outcome: Outcome = None, **more: Any) -> None:
    given(f"polars, {name}", pl.DataFrame({"a": A, "b": B, "y": Y} | columns), outcome, **more)


PARQUET = io.BytesIO()
parquet.write_table(TABLE, PARQUET)
PARQUET = PARQUET.getvalue()
TRUE = [True, False, False] * 4
ZONED = pa.timestamp("us", "Europe/Bratislava")
in_parquet("many row groups", TABLE, writing={"row_group_size": 5})
LARGE = pa.concat_tables([TABLE] * 3000)
in_parquet("one large row group", LARGE, ([A * 3000, B * 3000], Y * 3000), {"row_group_size": 10**9})
in_parquet("uncompressed version 1", TABLE, writing={"compression": "none", "version": "1.0"})
arrow("clean", TABLE)
arrow("in pieces", pa.concat_tables([TABLE.slice(0, 5), TABLE.slice(5, 7)]))
arrow("no rows", TABLE.slice(0, 0), "no rows")
for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32"):
    arrow(kind, pa.array(FIVE, getattr(pa, kind)()), [FIVE])
arrow("float16", pa.array(np.array(FIVE), pa.float16()), [FIVE])
HUGE = [2**64 - 1 - 2**40 * (i % 3) for i in R]
arrow("huge uint64", pa.array(HUGE, pa.uint64()), [[float(i) for i in HUGE]])
arrow("decimals", pa.array([Decimal(i) / 4 for i in FIVE], pa.decimal128(12, 2)), [[i / 4 for i in FIVE]])
arrow("decimal target", TABLE.set_column(2, "y", pa.array([Decimal(str(v)) for v in Y], pa.decimal128(9, 3))))
arrow("integer target", pa.table({"a": A, "y": B}), ([A], B))
arrow("booleans", TRUE, [[1, 0, 0] * 4])
arrow("boolean target", pa.table({"a": A, "y": TRUE}), ([A], [1, 0, 0] * 4))
arrow("booleans with gaps", [True, None, False] * 4, MISSING)
arrow("gaps", [1.0, None, 2.0] * 4, MISSING)
arrow("gaps and NaN", [1.0, None, np.nan] * 4, r"missing values in column 'c' \(8\)")
arrow("gaps, mean", [1.0, None, np.nan, 2.0] * 3, [[1, 1.5, 1.5, 2] * 3], missing="mean")
arrow("integers with gaps, mean", [1, None, None, 2] * 3, [[1, 1.5, 1.5, 2] * 3], missing="mean")
LATE = pa.table({"a": A, "y": [*Y[:-1], np.nan]})
arrow("NaN in the target", LATE, r"missing values in column 'y' \(1\)")
arrow("NaN in the target, drop", LATE, ([A[:-1]], Y[:-1]), missing="drop")
arrow("NaN, drop", [np.nan, *A[:0:-1]], ([A[1:], B[1:], A[:0:-1]], Y[1:]), missing="drop")
arrow("NaN, indicator", [np.nan, 1.0, 2.0] * 4, [[1.5, 1, 2] * 4, [1, 0, 0] * 4], missing="indicator")
arrow("infinity", [1.0, -np.inf, 2.0] * 4, "infinity: first at row 1, column 'c'")
arrow("a column of nulls", pa.nulls(N), "'c'")
arrow("a column of nulls, mean", pa.nulls(N, pa.float64()), "'c' has no values", missing="mean")
arrow("words", WORDS, dummies(WORDS, "vw"))
arrow("dictionary", pa.array(WORDS).dictionary_encode(), dummies(WORDS, "vw"))
NUMBERED = TABLE.append_column("c", pa.array(FIVE).dictionary_encode())
in_parquet("dictionary of whole numbers", NUMBERED, [FIVE])
given("arrow, dictionary of whole numbers", NUMBERED, dummies(FIVE, range(1, 5)))
arrow("dictionary with gaps", pa.array(["u", None, "w"] * 4).dictionary_encode(), r"'c' \(4\)")
arrow("large strings", pa.array(WORDS, pa.large_string()), dummies(WORDS, "vw"))
arrow("text target", WORDS, ([A, B, Y], WORDS), target="c")
arrow("numbers as text", [str(i) for i in FIVE], "'c' holds numbers as text")
arrow("numbers as text, named", [str(i % 3) for i in R], dummies([i % 3 for i in R], [1, 2]), categories=["c"])
arrow("target of numbers as text", pa.table({"a": A, "y": [str(v) for v in Y]}), "'y' holds numbers as text")
arrow("empty texts", ["", "u", "v"] * 4, dummies(["", "u", "v"] * 4, "uv"))
arrow("nested", [{"p": i} for i in R], "'c' of type STRUCT")
arrow("lists", [[i] for i in R], r"'c' of type BIGINT\[\]")
arrow("bytes", [b"x"] * N, "'c' of type BLOB")
arrow("a nested column that is not used", [{"a": i} for i in R], ([A, B], Y), features=["a", "b"])
arrow("dates", pa.array(R, pa.date32()), "'c' of type DATE.*dates=")
arrow("dates as days", pa.array(NINE, pa.date32()), [NINE], dates=["c"])
for unit, per in (("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)):
    moments = pa.array([i * 21600 * per for i in NINE], pa.timestamp(unit))
    arrow(f"timestamps in {unit}", moments, [[i / 4 for i in NINE]], dates=["c"])
for policy in ("error", "mean"):
    moments = pa.array([i * 21600 * 10**6 for i in NINE], ZONED)
    arrow(f"timestamps with zones, {policy}", moments, [[i / 4 for i in NINE]], dates=["c"], missing=policy)
arrow("durations", pa.array(R, pa.duration("s")), "'c'")
arrow("times", pa.array(R, pa.time32("s")), "'c' of type TIME")
arrow("two columns of one name", TABLE.rename_columns(["a", "a", "y"]), "two columns called 'a'")
arrow("names that differ in capitals", TABLE.rename_columns(["a", "A", "y"]), "differ in capitals")
arrow("an empty name", TABLE.rename_columns(["a", "", "y"]), "column 2 of 3 has no name")
for name in ("b.c", "b\"c'd`", "b\nc"):
    arrow(f"a name {name!r}", TABLE.rename_columns(["a", name, "y"]))
arrow("wrong target", TABLE, "no column 'z'", target="z")
arrow("no features", pa.table({"y": Y}), "no column to learn from")
arrow("no columns", pa.table({}), "column")
for cut in (0, 3, 4, 8, 100, len(PARQUET) - 100, len(PARQUET) - 8, len(PARQUET) - 4, len(PARQUET) - 1):
    written(f"parquet, cut after {cut} bytes", PARQUET[:cut], "t.parquet", file="t.parquet")
written("parquet, wrong magic", b"XXXX" + PARQUET[4:-4] + b"XXXX", "t.parquet", file="t.parquet")
written("parquet, wrong magic at the end", PARQUET[:-4] + b"XXXX", "t.parquet", file="t.parquet")
LENGTH = b"\xff\xff\xff\x7f"
written("parquet, wrong footer length", PARQUET[:-8] + LENGTH + PARQUET[-4:], "t.parquet", file="t.parquet")
written("parquet, damaged pages", PARQUET[:40] + bytes(20) + PARQUET[60:], "t.parquet", file="t.parquet")
written("parquet named csv", PARQUET)
written("csv named parquet", CLEAN, "t.parquet.*", file="t.parquet")
TEXTS = [TABLE, pa.table({"a": A, "b": [str(b) for b in B], "y": Y})]
FLOATS = [TABLE, pa.table({"a": A, "b": [float(b) for b in B], "y": Y})]
SMALL = [TABLE, pa.table({"a": A, "b": pa.array(B, pa.int8()), "y": Y})]
several("alike", [TABLE, TABLE], suffix=".parquet")
several("fewer columns", [TABLE, TABLE.drop(["b"])], "1.parquet has no column 'b'", ".parquet")
several("more columns", [TABLE, TABLE.append_column("c", [WORDS])], "1.parquet has a column 'c'", ".parquet")
several("another order", [TABLE, TABLE.select(["y", "b", "a"])], suffix=".parquet")
several("other whole numbers", SMALL, suffix=".parquet")
several("numerals for numbers", TEXTS, "'b' holds numbers in .* texts in", ".parquet")
several("fractions in the second", FLOATS, suffix=".parquet")
several("one without rows", [TABLE, TABLE.slice(0, 0)], suffix=".parquet", times=1)

given("pandas", TABLE.to_pandas())
given("pandas, an index", TABLE.to_pandas().set_index(pd.Index(range(100, 100 + N), name="y2")))
given("pandas, rows in another order", TABLE.to_pandas().iloc[::-1], ([A[::-1], B[::-1]], Y[::-1]))
given("pandas, two columns of one name", pd.DataFrame(np.ones((3, 3)), columns=["a", "a", "y"]), "called 'a'")
given("pandas, numbers as names", pd.DataFrame(np.column_stack([A, B, Y])), target="2")
TWO = pd.MultiIndex.from_tuples([("a", "b"), ("c", "y")])
given("pandas, names of two levels", pd.DataFrame(np.ones((3, 2)), columns=TWO), "column")
given("pandas, no rows", TABLE.to_pandas().iloc[:0], "no rows")
given("pandas, no columns", pd.DataFrame(), "column")
given("pandas, one row", TABLE.to_pandas().iloc[:1], ([A[:1], B[:1]], Y[:1]))
for types in ({"b": "Int64"}, {"a": "float32"}, {"b": "float16"}):
    given(f"pandas, {types}", TABLE.to_pandas().astype(types))
pandas("Int64 with gaps", pd.array([1, None, 2] * 4, "Int64"), MISSING)
pandas("boolean", pd.array(TRUE, "boolean"), [[1, 0, 0] * 4])
pandas("boolean with gaps", pd.array([True, None, False] * 4, "boolean"), r"'c' \(4\)")
pandas("string", pd.array(WORDS, "string"), dummies(WORDS, "vw"))
pandas("categorical with unused levels", pd.Categorical(WORDS, list("xwuv")), dummies(WORDS, "uv"))
pandas("all None", [None] * N, "'c'")
pandas("complex", np.arange(N) * 1j, "'c'|complex")
pandas("numbers and words", [1, "x", 2.5] * 4, "'c'")
for name, value in (("bytes", b"x"), ("lists", [1]), ("dictionaries", {"p": 1}), ("objects", object())):
    pandas(name, [value] * N, "'c'|frame")
pandas("numbers as objects", pd.Series(FIVE, dtype=object), [FIVE])
pandas("huge numbers as objects", pd.Series([10**30] * N, dtype=object), "'c'|frame|int")
pandas("dates", pd.date_range("2024-01-01", periods=N), "'c' of type TIMESTAMP.*dates=")
MIDNIGHTS = pd.to_datetime(NINE, unit="D")
pandas("dates as days", MIDNIGHTS, [NINE], dates=["c"])
pandas("dates with zones as days", MIDNIGHTS.tz_localize("UTC").tz_convert("Asia/Tokyo"), [NINE], dates=["c"])
pandas("periods", pd.period_range("2024-01", periods=N, freq="M"), "'c'|frame")
pandas("intervals", pd.cut(A, 3), "'c'|frame")
pandas("sparse", pd.arrays.SparseArray([0.0, 1.0, 0.0] * 4), "Sparse.*column c")
pandas("target by number", Y, "no column 2", target=2)
given("a dictionary", {"a": A, "b": B, "y": Y})
polars("clean", {})
given("polars, lazy", pl.LazyFrame({"a": A, "b": B, "y": Y}))
polars("gaps", {"a": [None, *A[1:]]}, r"'a' \(1\)")
polars("categorical", {"c": pl.Series(WORDS, dtype=pl.Categorical)}, dummies(WORDS, "vw"))
polars("enum", {"c": pl.Series(WORDS, dtype=pl.Enum(["x", "w", "u", "v"]))}, dummies(WORDS, "uv"))
polars("objects", {"c": pl.Series([object()] * N, dtype=pl.Object)}, "'c'|frame|[Oo]bject")
given("polars, no rows", pl.DataFrame({"a": [], "y": []}), "no rows|'a'|'y'")

# JSON

LINES = [json.dumps({"a": a, "b": b, "y": y}) for a, b, y in zip(A, B, Y, strict=True)]


def in_json(name: str, content: str | bytes, outcome: Outcome = None, file: str = "t.jsonl", **more: Any) -> None:
    written(f"json, {name}", content, outcome, file=file, **more)


def lines_with(values: Sequence[Any]) -> str:
    rows = zip(LINES, values, strict=True)
    return "\n".join(json.dumps({**json.loads(line), "c": value}) for line, value in rows) + "\n"


in_json("lines", "\n".join(LINES) + "\n")
in_json("an array", "[" + ",\n".join(LINES) + "]", file="t.json")
in_json("blank lines", "\n\n".join(LINES) + "\n\n")
TURNED = [json.dumps(dict(reversed(json.loads(line).items()))) for line in LINES[1:]]
in_json("other order of keys", "\n".join([LINES[0], *TURNED]))
for name, content in (
    ("a bad line", "\n".join([*LINES[:5], '{"a": 1, "b": ', *LINES[5:]])),
    ("cut", "\n".join(LINES)[:-9]),
    ("commas after lines", ",\n".join(LINES) + "\n"),
    ("single quotes", "\n".join(LINES).replace('"', "'")),
    ("csv", CLEAN),
):
    in_json(name, content, "t.jsonl.*JSON")
in_json("a comma too many", "[" + ",\n".join(LINES) + ",]", "t.json.*JSON", file="t.json")
in_json("a missing key", "\n".join([*LINES[:-1], '{"a": 1, "y": 2}']), r"missing values in column 'b' \(1\)")
in_json("a null", lines_with([1, None, 2] * 4), MISSING)
in_json("a late key", "\n".join([*LINES * 2000, '{"a": 1, "b": 2, "y": 3, "c": 4}']), "missing values in column 'c'")
in_json("numbers and words", lines_with([1, 2, 3, 4, 5, "x"] * 2), "'c'")
in_json("numerals", lines_with([str(i) for i in FIVE]), "'c' holds numbers as text")
in_json("nested", lines_with([{"p": 1}] * N), "'c' of type")
in_json(
    "whole numbers, then a fraction",
    "\n".join([*(json.dumps({"a": i % 7, "y": i % 5}) for i in range(25000)), '{"a": 1.75, "y": 0.5}']),
    ([[*(i % 7 for i in range(25000)), 1.75]], [*(i % 5 for i in range(25000)), 0.5]),
)
in_json("huge numbers", lines_with([10**25 * i for i in FIVE]), [[1e25 * i for i in FIVE]])
in_json("a key twice", "\n".join(LINES).replace('"b"', '"a"'), "t.jsonl|'a'")
for content in ("1\n2\n3\n", "[1, 2, 3]\n[4, 5, 6]\n", "\n\n", "{}\n{}\n"):
    in_json(f"only {content!r}", content, "no column 'y'|t.jsonl")
in_json("an empty array", "[]", "no column 'y'|t.json", file="t.json")
in_json("not utf 8", b'{"a": 1, "y": 2, "c": "\xe4"}\n', "t.jsonl")
in_json("gz", gzip.compress("\n".join(LINES).encode()), file="t.jsonl.gz")
in_json("cut gz", gzip.compress("\n".join(LINES).encode())[:-6], "cut short", file="t.jsonl.gz")

# Databases


def in_sqlite(name: str, script: str, outcome: Outcome = None, file: str = "t.db", **more: Any) -> None:
    def make(folder: Path) -> str:
        database = sqlite3.connect(folder / "made")
        if "CREATE TABLE" not in script:
            database.execute("CREATE TABLE t (a, b, y)")
            database.executemany("INSERT INTO t VALUES (?, ?, ?)", zip(A, B, Y, strict=True))
            database.commit()
        database.executescript(script)
        database.close()
        (folder / "made").rename(folder / file)
        return str(folder / file)

    case(f"sqlite, {name}", make, outcome, **more)


in_sqlite("clean", "")
in_sqlite("a question mark in its name", "", file="what?%20#.db")
in_sqlite("an empty table", "CREATE TABLE t (a, y)", "no rows|no values")
in_sqlite("no table", "CREATE TABLE t (a); DROP TABLE t", "holds several tables|none")
in_sqlite("two tables", "CREATE TABLE u (a, y); CREATE TABLE t (a, y)", "holds several tables: name one .*t, u|u, t")
in_sqlite("two tables, one named", "CREATE VIEW u AS SELECT 1 AS y", table="t")
in_sqlite("a table that is not there", "", "holds no table 'u'", table="u")
in_sqlite("a broken view", "CREATE VIEW v AS SELECT * FROM gone", "t.db: no such table", table="v")
in_sqlite("a query", "", table="SELECT a, b, y FROM t")
in_sqlite("two statements", "", "one statement", table="SELECT 1 AS y; SELECT 2 AS y")
in_sqlite("a wrong query", "", "t.db: .*syntax", table="SELECT FROM WHERE")
in_sqlite("two columns of one name", "", "two columns called 'a'", table="SELECT a, a, y FROM t")
in_sqlite("a word among numbers", "UPDATE t SET b = 'x' WHERE a = 4", "'b' holds numbers, but also 'x'")
in_sqlite("a null", "UPDATE t SET b = NULL WHERE a = 4", r"missing values in column 'b' \(1\)")
in_sqlite("a null, drop", "UPDATE t SET b = NULL WHERE a = 4", REST, missing="drop")
in_sqlite("infinity", "UPDATE t SET b = 9e999 WHERE a = 4", "infinity")
MANY_ROWS = "WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 69999) SELECT i, i FROM s"
for name, columns, values, outcome in (
    ("numbers as text", "a TEXT, y", "VALUES (1, 2), (2, 3), (3, 5)", "'a' holds numbers as text"),
    ("target as text", "a, y TEXT", "VALUES (1, 2.5), (2, 3), (3, 5)", "'y' holds numbers as text"),
    ("blobs", "a, c, y", "VALUES (1, x'00ff', 1), (2, x'00fe', 2)", "'c'"),
    ("text that is not utf 8", "a, c, y", "VALUES (1, CAST(x'e4' AS TEXT), 1)", "t.db: .*UTF-8"),
    ("large numbers", "a, y", "VALUES (9223372036854775807, 1), (1, 2), (2, 3)", ([[float(2**63), 1, 2]], [1, 2, 3])),
    ("a word after many numbers", "a, y", f"{MANY_ROWS} UNION ALL SELECT 'x', 1", "'a' holds numbers, but also 'x'"),
):
    in_sqlite(name, f"CREATE TABLE t ({columns}); INSERT INTO t {values};", outcome)
SQLITE = b"SQLite format 3\0"
for name, content in (
    ("cut", SQLITE + bytes(50)),
    ("rubbish", SQLITE + b"\x7f" * 5000),
    ("empty", b""),
    ("text", CLEAN),
):
    written(f"sqlite, {name}", content, "t.sqlite", file="t.sqlite")


def damaged_pages(folder: Path) -> str:
    database = sqlite3.connect(folder / "t.db")
    database.executescript(f"CREATE TABLE t (a, y); INSERT INTO t {MANY_ROWS}")
    database.close()
    data = bytearray((folder / "t.db").read_bytes())
    data[8192:20000] = b"\xff" * (20000 - 8192)
    (folder / "t.db").write_bytes(data)
    return str(folder / "t.db")


case("sqlite, damaged pages", damaged_pages, "t.db: .*malformed")


def in_duckdb(name: str, script: str, outcome: Outcome = None, **more: Any) -> None:
    def make(folder: Path) -> str:
        with duckdb.connect(str(folder / "t.duckdb")) as database:
            database.register("given", TABLE)
            database.execute("CREATE TABLE t AS SELECT * FROM given; " + script)
        return str(folder / "t.duckdb")

    case(f"duckdb, {name}", make, outcome, **more)


in_duckdb("clean", "")
in_duckdb("two tables", "CREATE TABLE u AS SELECT 1 AS y", r"holds several tables: .*\(t, u\)")
in_duckdb("two tables, one named", "CREATE TABLE u AS SELECT 1 AS y", table="t")
in_duckdb("another schema", "CREATE SCHEMA s; CREATE TABLE s.t2 AS FROM t; DROP TABLE t")
in_duckdb("a table that is not there", "", "holds no table 'u'", table="u")
in_duckdb("a query", "", table="FROM t -- all of it")
in_duckdb("a table called with quotes", 'ALTER TABLE t RENAME TO "it\'s ""t"""')
in_duckdb("an empty table", "DELETE FROM t", "no rows")
in_duckdb("intervals", "ALTER TABLE t ADD COLUMN c INTERVAL DEFAULT INTERVAL 1 DAY", "'c' of type INTERVAL")
in_duckdb("hugeint", "ALTER TABLE t ALTER b TYPE HUGEINT")
in_duckdb("decimals", "ALTER TABLE t ALTER y TYPE DECIMAL(18, 4)")
written("duckdb, cut", bytes(8) + b"DUCK" + bytes(100), "t.duckdb", file="t.duckdb")
written("duckdb, empty", b"", "t.duckdb", file="t.duckdb")

# Queries

for query, outcome in (
    ("SELECT * FROM FILE", None),
    ("FROM FILE", None),
    ("  SELECT * FROM FILE ;  \n\n", None),
    ("-- all\n/* of\nit */ SELECT * FROM FILE", None),
    ("SELECT * FROM FILE -- all of it", None),
    ("(SELECT * FROM FILE)", None),
    ("WITH t AS (SELECT * FROM FILE) SELECT * FROM t", None),
    ("SELECT 1 AS y; SELECT 2 AS y", "the query: .*syntax error"),
    ("SELECT FROM WHERE", "the query: .*[Ee]rror"),
    ("SELECT * FROM nowhere", "the query: .*nowhere does not exist"),
    ("SELECT * FROM 'nowhere.csv'", "the query: .*nowhere.csv"),
    ("SELECT a, z AS y FROM FILE", "the query: .*z"),
    ("SELECT * FROM FILE WHERE a < 0", "no rows"),
    ("SELECT a, b FROM FILE", "the query has no column 'y'"),
    ("SELECT a, a, y FROM FILE", "two columns called|'a'"),
    ("SELECT a, b / 0 AS c, y FROM FILE", "'c'|infinity"),
    ("SELECT a, CAST('x' AS DOUBLE) AS b, y FROM FILE", "the query: Conversion Error"),
    ("SELECT a, CAST(if(a > 8, 'x', '1') AS DOUBLE) AS b, y FROM FILE", "the query: Conversion Error"),
    ("WITH x AS (SELECT 1) DELETE FROM t", "the query: .*[Ee]rror"),
    ("SELECT a, fnord(b) AS b, y FROM FILE", "the query: .*fnord"),
):

    def asked(folder: Path, query: str = query) -> str:
        (folder / "t.csv").write_text(CLEAN)
        return query.replace("FILE", f"'{folder}/t.csv'")

    case(f"query {query!r}", asked, outcome)


def check_line(message: str, folder: Path) -> None:
    shown = message.replace(str(folder), ".")
    assert shown.strip() == shown != ""
    assert "\n" not in shown
    assert len(shown) < LONGEST, shown
    for advice in ("LINE 1:", "ignore_errors", "sample_size", "Traceback", "null_padding", "auto_detect"):
        assert advice not in shown


def check_fit(model: Any, columns: Sequence[Any], case: Case) -> None:
    peer = GaussianClassifier() if case.labels else LinearRegression()
    weight = None if case.weights is None else np.asarray(case.weights, dtype=float)
    x = np.array([np.asarray(column, dtype=float) for column in columns]).T
    right = peer.fit(x, np.asarray(case.fit[1]), sample_weight=weight)
    if case.labels:
        assert model.classes_.tolist() == right.classes_.tolist()
    assert np.shape(model.coef_) == np.shape(right.coef_)
    size = max(1.0, float(np.abs(right.coef_).max(initial=0)))
    np.testing.assert_allclose(model.coef_, right.coef_, rtol=1e-10, atol=1e-10 * size)
    np.testing.assert_allclose(model.intercept_, right.intercept_, rtol=1e-9, atol=1e-9 * size)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_one_clear_line_or_the_right_fit(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)

    def fit() -> tuple[Any, int]:
        table = open_table(case.data, target=case.target, progress=False, **case.options)
        model = GaussianClassifier() if holds_labels(table.learned()) else LinearRegression()
        return model.fit(table), table.n_rows

    if case.error is None:
        model, rows = fit()
        assert rows == len(case.fit[1])
        check_fit(model, case.fit[0], case)
        return
    with pytest.raises(AdalineError, match=case.error) as caught:
        fit()
    check_line(str(caught.value), tmp_path)


SHOWN = [
    name
    for name in CASES
    if not name.startswith(("arrow, ", "pandas", "polars", "given: ", "a dictionary", "list of files"))
    and name not in ("2000 columns", "categories with unknown levels")  # these take 6 s, and a dictionary
]


@pytest.mark.usefixtures("quick_typer")
@pytest.mark.parametrize("name", SHOWN)
def test_on_the_command_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES[name](tmp_path)
    output = tmp_path / "out" / "model.adaline"
    output.parent.mkdir()
    output.write_bytes(b"before")
    words = ["fit", "--json", "-t", case.target, "-o", str(output)]
    for option, value in case.options.items():
        words += [f"--{option}", value if isinstance(value, str) else ",".join(value)]
    code = main([*words, "--", case.data])
    said = capsys.readouterr().err.splitlines()
    assert [path.name for path in output.parent.iterdir()] == ["model.adaline"]
    assert not any("Traceback" in line for line in said)
    if code == 0:
        assert case.error is None or said, "a table that the library refuses needs a note at least"
        assert all(line.startswith("note: ") for line in said)
        model = storage.load(output)
        columns = case.fit[0]
        varying = [column for column in columns if len(set(column)) > 1]
        if 0 < len(varying) < len(columns) and "features" not in case.options:  # the command leaves constants out
            assert any("the same value in every row" in line for line in said)
            columns = varying
        if case.error is None and case.labels == hasattr(model, "classes_"):  # a boolean target is a label here
            check_fit(model, columns, case)
        return
    assert code == 2, said
    assert case.error is not None, said
    assert output.read_bytes() == b"before"
    assert said[-1].startswith("adaline: ")
    assert all(line.startswith("note: ") for line in said[:-1])
    check_line(said[-1], tmp_path)


@pytest.mark.parametrize("unseen", ["error", "other"])
def test_levels_that_were_not_there(unseen: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(added(WORDS))
    model = LinearRegression().fit(open_table(tmp_path / "t.csv", target="y", unseen=unseen))
    new = tmp_path / "new.csv"
    new.write_text("b,c,a\n1,u,2\n1,z,2\n")
    if unseen == "other":
        known, other = model.predict(open_table(new))
        shares = float(np.mean(model.coef_[2:]) * 2 / 3)  # each of the three levels has a third of the rows
        np.testing.assert_allclose(other - known, shares, rtol=1e-12)
        return
    with pytest.raises(AdalineError, match=r"column 'c' has the level 'z' at line 3.*unseen='other'") as caught:
        model.predict(open_table(new))
    check_line(str(caught.value), tmp_path)
