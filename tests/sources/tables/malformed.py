"""Malformed and odd tables: each writes its files into a folder and says what must come of them.

Either an error whose one line matches an expression, or the coefficients that clean arrays give, with all rows.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sqlite3
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

A = [1.5, 2.0, 3.25, 4.0, 5.0, 6.5, 7.0, 8.0, 9.75, 10.0, 11.0, 12.0]
B = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
Y = [2.5, 0.75, 9.0, 3.25, 11.0, 21.5, 8.0, 16.0, 16.25, 12.5, 17.0, 23.0]
N = len(Y)
ROWS = [f"{a},{b},{y}" for a, b, y in zip(A, B, Y, strict=True)]
CLEAN = "\n".join(["a,b,y", *ROWS]) + "\n"
WORDS = ["u", "v", "w"] * 4


@dataclass(frozen=True)
class Case:
    """What to open, and what must come of it: `error`, an expression, or the fit to columns `x` and targets `y`."""

    data: Any
    error: str | None = None
    x: Sequence[Sequence[float]] = ()  # columns
    y: Sequence[Any] = ()
    weight: Sequence[float] | None = None
    target: Any = "y"
    options: dict[str, Any] = field(default_factory=dict)
    meanwhile: Callable[[], None] | None = None  # done after opening, before fitting

    @property
    def labels(self) -> bool:
        return bool(len(self.y)) and isinstance(self.y[0], str | bool)


Make = Callable[[Path], Case]
CASES: dict[str, Make] = {}


def case(make: Make) -> Make:
    add(make.__name__.replace("_", " "), make)
    return make


def add(name: str, make: Make) -> None:
    assert name not in CASES, name
    CASES[name] = make


def written(
    name: str, content: str | bytes, error: str | None = None, file: str = "t.csv", fit: Any = None, **more: Any
) -> None:
    """Register a file by its content; a fit is (columns, targets), by default that of the clean table."""
    x, y = fit if fit is not None else ([A, B], Y)

    def make(folder: Path) -> Case:
        path = folder / file
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Case(str(path), error, *(((), ()) if error else (x, y)), **more)

    add(name, make)


def rows_with(column: str, values: Sequence[Any], separator: str = ",") -> str:
    """Return the clean table with another column c."""
    lines = [f"a,b,y,{column}", *(f"{row},{value}" for row, value in zip(ROWS, values, strict=True))]
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


# How text files are cut into rows and values

written("clean csv", CLEAN)
written("tsv", CLEAN.replace(",", "\t"), file="t.tsv")
written("tabs in a csv", CLEAN.replace(",", "\t"))
written("commas in a tsv", CLEAN, file="t.tsv")
written("semicolons", CLEAN.replace(",", ";"))
written("pipes", CLEAN.replace(",", "|"), file="t.txt")
written("no suffix", CLEAN, file="table")
written("suffix in capitals", CLEAN, file="T.CSV")
written("spaces between columns", CLEAN.replace(",", " "))
written("runs of spaces", CLEAN.replace(",", "   ").replace("\n", "  \n"), file="t.data")
written(
    "row names of write.table", "a b y\n" + "".join(f'"r{i}" {row}\n'.replace(",", " ") for i, row in enumerate(ROWS))
)
written("row names of write.table, commas", "a,b,y\n" + "".join(f"r{i},{row}\n" for i, row in enumerate(ROWS)))
written("colons between columns", CLEAN.replace(",", ":"), "no column 'y'")
written("no newline at the end", CLEAN.rstrip())
written("an endless line", CLEAN + "1,2," + "3" * 2_200_000 + "\n", "t.csv has a line of more than 2,000,000 bytes")
written("blank lines at the end", CLEAN + "\n\n\n")
written("blank lines at the start", "\n\n" + CLEAN)
written("a blank line in the middle", CLEAN.replace(ROWS[4], "\n" + ROWS[4]))
written("a line of spaces in the middle", CLEAN.replace(ROWS[4], "   \n" + ROWS[4]), "t.csv, line 6")
written("crlf", CLEAN.replace("\n", "\r\n"))
written("cr", CLEAN.replace("\n", "\r"))
written("crlf and lf", CLEAN.replace("\n", "\r\n", 5))
written("lf and crlf", "\r\n".join(CLEAN.rsplit("\n", 3)))
written("empty file", "", "t.csv is empty")
written("only a newline", "\n", "t.csv is empty")
written("only blank lines", "\n  \n\r\n\n", "t.csv is empty")
written("only a bom", b"\xef\xbb\xbf", "t.csv is empty")
written("header only", "a,b,y\n", "no rows|has missing|no values")
written("header only without newline", "a,b,y", "no rows|no values")
written("one row", "a,b,y\n1,2,3\n", fit=([[1.0], [2.0]], [3.0]))
written("two rows", "a,b,y\n1,2,3\n2,2,5\n", fit=([[1.0, 2.0], [2.0, 2.0]], [3.0, 5.0]))
written("bom", b"\xef\xbb\xbf" + CLEAN.encode())
written("bom before quotes", b"\xef\xbb\xbf" + CLEAN.replace("a,b,y", '"a","b","y"').encode())
written("two boms", b"\xef\xbb\xbf\xef\xbb\xbf" + CLEAN.encode(), target="y")
written("utf 16", CLEAN.encode("utf-16"))
written("utf 16 big endian", b"\xfe\xff" + CLEAN.encode("utf-16-be"))
written("utf 16 without bom", CLEAN.encode("utf-16-le"))
written("utf 16 cut in a character", CLEAN.encode("utf-16")[:-1], "looks like utf-16.*encoding=")
written("latin 1 in the header", CLEAN.replace("y", "größe", 1).encode("latin-1"), target="größe")
ACUTE = ([A, B, dummies(["ä", "ö"] * 6, ["ö"])[0]], Y)
written("latin 1 in the data", rows_with("c", ["ä", "ö"] * 6).encode("latin-1"), fit=ACUTE)
written("latin 1 at the end", rows_with("c", ["x"] * 11 + ["ß"]).encode("latin-1"), fit=([A, B, [0] * 11 + [1]], Y))
written(
    "an encoding that is named",
    rows_with("c", ["ä", "ö"] * 6).encode("cp850"),
    fit=ACUTE,
    options={"encoding": "cp850"},
)
written("an encoding that does not fit", b"a,y\n1,\xff\n", "cannot be decoded", options={"encoding": "ascii"})
written("an encoding that is unknown", CLEAN, "encoding: 'utf8000' is unknown", options={"encoding": "utf8000"})
written(
    "latin 1 far from the start",
    (rows_with("c", ["x"] * N) + (ROWS[0] + ",x\n") * 20000).encode() + b"1.5,3,2.5,\xe4\n",
    fit=([[*A, *[1.5] * 20001], [*B, *[3] * 20001], [0] * (N + 20000) + [1]], [*Y, *[2.5] * 20001]),
)
written("utf 8 names", CLEAN.replace("b", "größe", 1))
written("emoji levels", rows_with("c", ["🙂", "🙁"] * 6), fit=([A, B, dummies(["🙂", "🙁"] * 6, ["🙂"])[0]], Y))
written("too many values at the start", CLEAN.replace(ROWS[0], ROWS[0] + ",7"), "line 2 has 4 value")
written("too many values in the middle", CLEAN.replace(ROWS[5], ROWS[5] + ",7"), "line 7 has 4 value")
written("too many values at the end", CLEAN.replace(ROWS[-1], ROWS[-1] + ",7"), "line 13 has 4 value")
written("too many values everywhere", CLEAN.replace("\n", ",7\n").replace("y,7", "y"), "line 2 has 4 value")
written("too few values at the start", CLEAN.replace(ROWS[0], "1,2"), "line 2 has 2 value")
written("too few values in the middle", CLEAN.replace(ROWS[5], "1"), "line 7 has 1 value")
written("too few values at the end", CLEAN.replace(ROWS[-1], "1,2"), "line 13 has 2 value")
written("cut in the last line", CLEAN[:-8], "line 13 has 1 value")
written(
    "too few values everywhere", "a,b,c,y\n" + "\n".join(ROWS), "12 lines do not fit its 4 columns: line 2 has 3 values"
)
written("two rows, the first too long", "a,b\n1,2,3\n2,3\n", "line 2 has 3", target="b")
written("a short line far away", CLEAN + (ROWS[0] + "\n") * 30000 + "1,2\n", "line 30014 has 2 value")
written("a long line far away", CLEAN + (ROWS[0] + "\n") * 30000 + "1,2,3,4\n", "line 30014 has 4 value")
written("separators at the end of lines", CLEAN.replace("\n", ",\n"))
written("a separator at the end of the names", "by me\n" + CLEAN.replace("y\n", "y,\n"))
written("separators at the end of rows", CLEAN.replace("\n", ",\n").replace("y,\n", "y\n"))
written("separator at the end of one row", CLEAN.replace(ROWS[3], ROWS[3] + ","), "line 5 has 4 value")
written("header with other separator", CLEAN.replace("a,b,y", "a;b;y"), "no column 'y'|line 2 has")
written("rows with other separator", "a,b,y\n" + CLEAN.split("\n", 1)[1].replace(",", ";"), "line 2 has 1 value")
written("comment first", "# made by me\n" + CLEAN)
written("comment with a quote first", '# a "word\n\n# made, by, me\n' + CLEAN)
written("comment with commas first", "# made, by, me\n" + CLEAN.replace(",", ";"))
written("comment first, double slash", "// made by me\n" + CLEAN)
written("names in a comment", "# made by me\n# a b y\n" + CLEAN.split("\n", 1)[1].replace(",", " "))
written("title first", "Measurements of 2024\n" + CLEAN)
written("titles of a spreadsheet first", "Measurements of 2024,,\n,,\nby me,,\n" + CLEAN)
written("title with commas first", "Measurements, of 2024\n" + CLEAN)
written("groups of columns first", ",2023,\n" + CLEAN)
written("names again in the middle", CLEAN.replace(ROWS[5], "a,b,y\n" + ROWS[5]))
written(
    "malformed lines",
    CLEAN + "1,2\n1,2,3,4\n1,2,3\n1\n",
    "3 lines do not fit its 3 columns: line 14 has 2 values, line 15",
)
written("comment in the middle", CLEAN.replace(ROWS[5], "# pause\n" + ROWS[5]), "line 7 has 1 value")
written("names that begin with a hash", CLEAN.replace("a,b,y", "#a,b,y"))
written("units in the second line", CLEAN.replace("y\n", "y\nm,kg,s\n"))
written("total in the last line", CLEAN + "total,,135\n")
written("totals and footnotes", CLEAN + "\nSum,71,\nAverage:,6,\n\n* estimated\n")
written("a footnote with a comma", CLEAN + "Source: me, and others\n", "line 14 has 2 values")
written(
    "totals of groups",
    "c,y\n" + "u,1\nTotal,2\n" * 6,
    fit=([[1, 0] * 6], [1, 2] * 6),
)
written("ctrl z at the end", CLEAN + "\x1a")
written("nul bytes", CLEAN.replace(ROWS[3], "\0" + ROWS[3]), "line 5: a NUL byte")
written("nul bytes far away", CLEAN + (ROWS[0] + "\n") * 20000 + "\0\0\0,1,2\n", r"holds numbers, but also '\\x00")
written("nothing but nul bytes", b"\0" * 5000, "NUL byte")
written("random bytes", np.random.default_rng(0).bytes(3000), "NUL byte|not UTF-8|empty")
written("no line of names", CLEAN.split("\n", 1)[1], "no column 'y'.* There are: column_1, column_2, column_3")
written("no line of names, named by number", CLEAN.split("\n", 1)[1], target="column_3")
written("html", "<html><body>\n<p>Not found, sorry</p></body></html>\n", "no column 'y'|line")
written("a page of prose", "It was the best of times, it was the worst\nof times.\n\nIt was.\n", "line|no column")

# Quotes

written("all quoted", "\n".join(",".join(f'"{v}"' for v in line.split(",")) for line in CLEAN.split()) + "\n")
written("quote never closed at the start", CLEAN.replace(ROWS[0], '"' + ROWS[0]), "line 2: a quote|line 2 ")
written("quote never closed in the middle", CLEAN.replace(ROWS[5], '"' + ROWS[5]), "line 7: a quote|line 7 ")
written("quote never closed at the end", CLEAN.replace(ROWS[-1], ROWS[-1][:-2] + '"1'), "'y' holds numbers|line 13")
written("quote never closed in the header", CLEAN.replace("a,b", '"a,b'), "line 1")
written("text after a quote", CLEAN.replace(ROWS[2], '"3"x' + ROWS[2][4:]), "line 4: a quote")
written("quote in a value", rows_with("c", ['x"y', "z"] * 6), fit=([A, B, dummies(["", "z"] * 6, ["z"])[0]], Y))
written("doubled quotes", rows_with("c", ['"x ""y"""', "z"] * 6), fit=([A, B, dummies(["", "z"] * 6, ["z"])[0]], Y))
written("backslash quotes", rows_with("c", [r'"x \"y\""', "z"] * 6), fit=([A, B, dummies(["", "z"] * 6, ["z"])[0]], Y))
written("line break in a value", rows_with("c", ['"x\ny"', "z"] * 6), fit=([A, B, dummies(["", "z"] * 6, ["z"])[0]], Y))
written("separator in a value", rows_with("c", ['"x,y"', "z"] * 6), fit=([A, B, dummies(["", "z"] * 6, ["z"])[0]], Y))
written("single quotes", CLEAN.replace("a,b,y", "'a','b','y'"), "Did you mean \"'y'\"|no column 'y'")
written("a field of a million letters", rows_with("c", ["x" * 10**6, *["z"] * 11]), fit=([A, B, [0.0] + [1.0] * 11], Y))
written("spaces around numbers", CLEAN.replace(",", " , "))

# Names of columns

written("two columns of one name", CLEAN.replace("a,b,y", "a,a,y"))
written("two columns of one name, and the new one", CLEAN.replace("a,b,y", "Y_2,y,y"), target="y_3")
written("names that differ in capitals", CLEAN.replace("a,b,y", "b,B,y"))
written("names that differ in spaces", CLEAN.replace("a,b,y", "b ,b,y"))
written("an empty name first", CLEAN.replace("a,b,y", ",b,y"))
written("an empty name in quotes", CLEAN.replace("a,b,y", 'a,"",y'))
written("a name of spaces", CLEAN.replace("a,b,y", "a,   ,y"), options={"features": ["a", "column_2"]})
for word in ("", "Unnamed: 0", "...1", "rownames"):
    numbered = [f"{word},a,b,y", *(f"{i},{row}" for i, row in enumerate(ROWS))]
    written(f"row numbers called [{word}]", "\n".join(numbered))
    written(f"row labels called [{word}]", "\n".join([numbered[0], *(f"r{line}" for line in numbered[1:])]))
written("row numbers, used", "\n".join(numbered), fit=([range(N), A], Y), options={"features": ["rownames", "a"]})
written("rownames that repeat", rows_with("c", B).replace("a,b,y,c", "rownames,b,y,c"), fit=([A, B, B], Y))
written("spaces around names", CLEAN.replace("a,b,y", " a , b , y "))
written("tabs around names", CLEAN.replace("a,b,y", "a,\tb,y"))
written("very long names", CLEAN.replace("a,b,y", f"{'n' * 5000},{'m' * 5000},y"))
written("very long names, wrong target", CLEAN.replace("a,b,y", f"{'n' * 5000},b,y"), "no column 'z'", target="z")
for word in (
    "select",
    "order",
    "from",
    "frame",
    "copied",
    "date",
    "rowid",
    "1",
    "a b",
    "a.b",
    "a-b",
    "a'b",
    "a`b",
    "a;b",
):
    written(f"a column called {word}", CLEAN.replace("b", f'"{word}"', 1))
written("a column with a quote", CLEAN.replace("b", '"x ""q"" y"', 1))
written("a column with brackets", CLEAN.replace("b", "b[T.x]{1}", 1))
written("a column with a newline", CLEAN.replace("b", '"x\ny"', 1))
written("a column with percent", CLEAN.replace("b", "%(b)s {b} $b \\b", 1))
written("target called select", CLEAN.replace("y", "select", 1), target="select")
written("target with a quote", CLEAN.replace("y", '"it\'s"', 1), target="it's")
written("years as names", CLEAN.replace("a,b,y", "2019,2020,2021"), target="2021")
written("names that end a statement", CLEAN.replace("b", '"b""; DROP TABLE x; --"', 1))

# Numbers and what stands among them

for word in ("abc", "1O", "1 2", "1e", "0x"):
    written(
        f"{word} among numbers", replaced(3, "b", word), f"column 'b' holds numbers, but also '{word}'.* in line 4.*na="
    )
for word in ("-", "missing", "n.a.", "#REF!", "#DIV/0!", "--", ".", "k.A.", "k. A.", "\u2013"):
    written(f"{word} among numbers", replaced(3, "b", word), r"missing values in column 'b' \(1\)")
written("a word named in na", replaced(3, "b", "abc"), r"missing values in column 'b' \(1\)", options={"na": "abc"})
written("dashes among texts", rows_with("c", ["-", "u"] * 6), r"missing values in column 'c' \(6\)")
written(
    "dashes among texts that are levels",
    rows_with("c", ["-", "u"] * 6),
    options={"na": ""},
    fit=([A, B, dummies(["-", "u"] * 6, "u")[0]], Y),
)
written("a word in the first row", replaced(1, "a", "x"), "column 'a' holds numbers, but also 'x' .1 such")
written("a word in the last row", replaced(12, "a", "x"), "column 'a' holds numbers, but also 'x' .1 such")
written("a word in the 30,000th row", CLEAN + (ROWS[0] + "\n") * 30000 + "x,1,2\n", "'a' holds numbers, but also 'x'")
written("a word in the target", replaced(6, "y", "high"), "column 'y' holds numbers, but also 'high'")
for word in ("", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null", "None", "?", "<NA>", "#N/A", '""', '"NA"'):
    written(f"missing value [{word}]", replaced(4, "b", word), r"missing values in column 'b' \(1\).*drop")
    kept = [i for i in range(N) if i != 3]
    written(
        f"missing value [{word}], left out",
        replaced(4, "b", word),
        fit=([[A[i] for i in kept], [B[i] for i in kept]], [Y[i] for i in kept]),
        options={"missing": "drop"},
    )
written("missing target", replaced(4, "y", "NA"), r"missing values in column 'y' \(1\)")
written(
    "missing target, left out",
    replaced(4, "y", ""),
    fit=([[A[i] for i in kept], [B[i] for i in kept]], [Y[i] for i in kept]),
    options={"missing": "mean"},
)
written(
    "missing number, mean",
    replaced(4, "b", ""),
    fit=([A, [B[i] if i != 3 else sum(B[j] for j in kept) / 11 for i in range(N)]], Y),
    options={"missing": "mean"},
)
written(
    "missing number, indicator",
    replaced(4, "b", ""),
    fit=(
        [A, [B[i] if i != 3 else sum(B[j] for j in kept) / 11 for i in range(N)], [float(i == 3) for i in range(N)]],
        Y,
    ),
    options={"missing": "indicator"},
)
written("inf", replaced(3, "b", "inf"), "'b' holds numbers, but also 'inf'|infinity")
written("Infinity", replaced(3, "b", "Infinity"), "'b' holds numbers, but also 'Infinity'|infinity")
written("-inf in the target", replaced(3, "y", "-inf"), "'y' holds numbers, but also '-inf'|infinity")
written("1e400", replaced(3, "b", "1e400"), "infinity")
written("1e300", replaced(3, "b", "1e300"), fit=([A, [1e300 if i == 2 else B[i] for i in range(N)]], Y))
written("1e-320", replaced(3, "b", "1e-320"), fit=([A, [1e-320 if i == 2 else B[i] for i in range(N)]], Y))
for power in (2**31, 2**53 + 1, 2**63, 2**64, 10**25, 10**40):
    c = [float(power * (1 + i % 3)) for i in range(N)]
    written(f"whole numbers of {power}", rows_with("c", [power * (1 + i % 3) for i in range(N)]), fit=([A, B, c], Y))
written("leading zeros", rows_with("c", [f"{i % 5:03d}" for i in range(N)]), "'c' holds numbers as text")
written("plus signs", CLEAN.replace(ROWS[0], "+" + ROWS[0]))
written("exponents", rows_with("c", [f"{i}e-1" for i in range(N)]), fit=([A, B, [i / 10 for i in range(N)]], Y))
written("bare points", rows_with("c", [f".{i % 7}" for i in range(N)]), fit=([A, B, [i % 7 / 10 for i in range(N)]], Y))
written("negative zeros", rows_with("c", ["-0", "0", "1"] * 4), fit=([A, B, [0, 0, 1] * 4], Y))
HEX = rows_with("c", [hex(i % 5) for i in range(N)])
if duckdb.__version__ < "2":  # which reads such numbers
    written("hex", HEX, fit=([A, B, [i % 5 for i in range(N)]], Y))
else:
    written("hex", HEX, "line 2: column 'c' holds '0x0', not a number")
C = [1000 + 37 * i for i in range(N)]
HALVES = [i + 0.5 for i in range(N)]


def number_notation(name: str, values: Sequence[str], expected: Sequence[float], **more: Any) -> None:
    written(f"{name} in quotes", rows_with("c", [f'"{value}"' for value in values]), fit=([A, B, expected], Y), **more)


number_notation("thousands", [f"{i:,}" for i in C], C)
number_notation("thousands and decimals", [f"{i:,}.50" for i in C], [i + 0.5 for i in C])
number_notation("thousands twice", [f"{i * 1000:,}" for i in C], [i * 1000 for i in C])
number_notation("thousands that are decimals", [f"{i:,}" for i in C], [i / 1000 for i in C], options={"decimal": ","})
number_notation("decimal commas", [f"{i},5" for i in range(N)], HALVES)
number_notation("decimal commas and points", [f"1.{i + 100},5" for i in range(N)], [1100.5 + i for i in range(N)])
number_notation("spaces for thousands", [f"{i:,}".replace(",", "\u202f") for i in C], C)
number_notation("apostrophes for thousands", [f"{i:,}".replace(",", "'") for i in C], C)
number_notation("percent", [f"{i} %" for i in range(N)], range(N))
number_notation("percent and commas", [f"{i},5%" for i in range(N)], HALVES)
number_notation("dollars", [f"$ {i:,}.50" for i in C], [i + 0.5 for i in C])
number_notation("euros", [f"{i},50 \u20ac" for i in range(N)], HALVES)
number_notation(
    "parentheses", [f"({i})" if i % 2 else f"{i}" for i in range(N)], [-i if i % 2 else i for i in range(N)]
)
number_notation(
    "a minus at the end", [f"{i},5-" if i % 2 else f"{i}" for i in C], [-i - 0.5 if i % 2 else i for i in C]
)
number_notation("a long minus", [f"\u2212{i}" for i in C], [-i for i in C])
written("decimal commas", CLEAN.replace(",", ";").replace(".", ","))
written("decimal commas, named", CLEAN.replace(",", ";").replace(".", ","), options={"decimal": ","})
written(
    "thousands among decimal commas",
    rows_with("c", [f"{i:,}" for i in C], ";").replace(",", "#").replace(".", ",").replace("#", "."),
    fit=([A, B, C], Y),
)
written(
    "a percent sign once",
    rows_with("c", ["5%", *range(1, N)]),
    "'c' holds numbers with different percent signs, or with and without one, as '5%'",
)
written(
    "a word among percents", rows_with("c", ["oops", *(f"{i}%" for i in C[1:])]), "'c' holds numbers, but also 'oops'"
)
written(
    "a word among dates",
    rows_with("c", ["1/13/2023", "unknown", *(f"1/{13 + i % 9}/2023" for i in range(N - 2))]),
    "'c' holds dates, but also 'unknown' \\(line 3\\): name it in na=",
    options={"dates": ["c"]},
)
written(
    "two currencies",
    rows_with("c", [("$" if i % 2 else "\u20ac") + str(i) for i in range(N)]),
    "'c' holds numbers written as",
)
written("money as target", rows_with("c", [f"${i}" for i in range(N)]), fit=([A, B, Y], range(N)), target="c")
written("underscores", rows_with("c", [f"{i}_000" for i in range(N)]), "'c' holds numbers")
written(
    "numbers and units",
    "a,c\n" + "".join(f"{i},{i} kg\n" for i in range(42)),
    fit=([range(42)], range(42)),
    target="c",
)
written("fractions", "a,c\n" + "".join(f"{i},{i}/7\n" for i in range(42)), "'c' holds 42 different", target="c")
written(
    "whole numbers, then fractions",
    CLEAN + "".join(f"{i % 9},{i % 7},{i % 5}\n" for i in range(25000)) + "1.5,2.5,3.5\n",
    fit=(
        [[*A, *(i % 9 for i in range(25000)), 1.5], [*B, *(i % 7 for i in range(25000)), 2.5]],
        [*Y, *(i % 5 for i in range(25000)), 3.5],
    ),
)
for yes, no in (("TRUE", "FALSE"), ("true", "false"), ("True", "False"), ("yes", "no"), ("t", "f"), ("1", "0")):
    column = [yes, no, no] * 4
    written(f"booleans {yes}", rows_with("c", column), fit=([A, B, [float(v == yes) for v in column]], Y))
written("booleans with a gap", rows_with("c", ["TRUE", "FALSE", "NA"] * 4), r"missing values in column 'c' \(4\)")
written(
    "booleans and a 2",
    rows_with("c", ["TRUE", "FALSE", "2"] * 4),
    fit=([A, B, *dummies(["TRUE", "FALSE", "2"] * 4, ["FALSE", "TRUE"])], Y),
)  # 2 is the first level
written("dates", rows_with("c", [f"2024-01-{i + 1:02d}" for i in range(N)]), "'c' of type DATE.*dates=")
written(
    "dates as days",
    rows_with("c", [f"2024-01-{1 + i * i % 29:02d}" for i in range(N)]),
    fit=([A, B, [19723.0 + i * i % 29 for i in range(N)]], Y),
    options={"dates": ["c"]},
)
written("dates, day first", rows_with("c", [f"{13 + i}/01/2024" for i in range(N)]), "dates=")
written(
    "dates, day first, as days",
    rows_with("c", [f"{13 + i * i % 11}/01/2024" for i in range(N)]),
    fit=([A, B, [19735.0 + i * i % 11 for i in range(N)]], Y),
    options={"dates": ["c"]},
)
written(
    "dates that may be either",
    rows_with("c", [f"{1 + i:02d}/{1 + i:02d}/2024" for i in range(N)]),
    fit=([A, B, [float((date(2024, 1 + i, 1 + i) - date(1970, 1, 1)).days) for i in range(N)]], Y),
    options={"dates": ["c"]},
)
for form in ("%d.%m.%Y", "%m/%d/%Y", "%d-%b-%Y", "%d %B %Y", "%Y/%m/%d", "%d.%m.%y"):
    days = [date(2024, 1 + i % 3, 14 + i) for i in range(N)]
    written(
        f"dates as {form}",
        rows_with("c", [*(day.strftime(form) for day in days)]),
        fit=([A, B, [float((day - date(1970, 1, 1)).days) for day in days]], Y),
        options={"dates": ["c"]},
    )
written(
    "times as %d.%m.%Y %H:%M",
    rows_with("c", [f"{14 + i}.01.2024 {i}:30" for i in range(N)]),
    fit=([A, B, [19736 + i + (i + 0.5) / 24 for i in range(N)]], Y),
    options={"dates": ["c"]},
)
written(
    "a wrong date",
    rows_with("c", [*(f"2024-02-{i + 20}" for i in range(N - 1)), "2023-01-01"]),
    "'c'",
    options={"dates": ["c"]},
)
written(
    "times of day",
    rows_with("c", [f"10:11:{i * i % 60:02d}" for i in range(N)]),
    fit=([A, B, [36660 + i * i % 60 for i in range(N)]], Y),
)
written(
    "timestamps with zones",
    rows_with("c", [f"2024-01-01T{i * i % 24:02d}:00:00+02:00" for i in range(N)]),
    fit=([A, B, [19723 + (i * i % 24 - 2) / 24 for i in range(N)]], Y),
    options={"dates": ["c"]},
)
written(
    "dates and a word",
    rows_with("c", [*(f"2024-01-{i + 1:02d}" for i in range(N - 1)), "later"]),
    "'c'",
    options={"dates": ["c"]},
)

# Categories, targets, weights, features

written("category", rows_with("c", WORDS), fit=([A, B, *dummies(WORDS, "vw")], Y))
written("category with gaps", rows_with("c", ["u", "", "w"] * 4), r"'c' \(4\)")
written(
    "category with gaps, indicator",
    rows_with("c", ["u", "", "w"] * 4),
    options={"missing": "indicator"},
    fit=([A, B, *dummies(["u", "", "w"] * 4, ["w", ""])], Y),
)
written(
    "category with gaps, mean",
    rows_with("c", ["u", "", "w"] * 4),
    options={"missing": "mean"},
    fit=([A, B, [0, 0.5, 1] * 4], Y),
)
written("category of one level", rows_with("c", ["u"] * N), fit=([A, B], Y))
written(
    "levels that differ in capitals", rows_with("c", ["u", "U"] * 6), fit=([A, B, dummies(["u", "U"] * 6, "u")[0]], Y)
)
written(
    "levels that differ in spaces",
    rows_with("c", ["u", "u ", "v"] * 4),
    fit=([A, B, dummies(["u", "u", "v"] * 4, "v")[0]], Y),
)
written(
    "levels called missing",
    rows_with("c", ["(missing)", "", "w"] * 4),
    "collide|missing|twice|same name",
    options={"missing": "indicator"},
)
written("names that collide with levels", rows_with("c", WORDS).replace("b,y,c", "c[T.v],y,c"), "c.T.v.")
written("numbers as categories", CLEAN, options={"categories": ["b"]}, fit=([A, *dummies(B, [2, 3, 4, 5, 6, 8, 9])], Y))
written(
    "categories with unknown levels",
    rows_with("c", WORDS),
    "level 'w', which",
    options={"categories": {"c": ["u", "v"]}},
)
written(
    "prose",
    rows_with("c", [f"text {i} of {i * 7}" for i in range(N)]) + "".join(f"1,2,3,t{i}\n" for i in range(30)),
    "'c' holds 42 different texts",
)
written(
    "mixed words and numbers",
    rows_with("c", ["u", "1", "w", "v"] * 3),
    fit=([A, B, *dummies(["u", "1", "w", "v"] * 3, "uvw")], Y),
)
written("target misspelt", CLEAN.replace("y", "price", 1), "Did you mean 'price'", target="prize")
written("target in other capitals", CLEAN, "no column 'Y'", target="Y")
written("target with a space", CLEAN, "no column 'y '", target="y ")
written("target that is nowhere", CLEAN, "no column 'weight'. There are: a, b, y", target="weight")
written("target that is empty text", CLEAN, "no column ''", target="")
written("constant target", "a,y\n1,5\n2,5\n3,5\n", fit=([[1, 2, 3]], [5, 5, 5]))
written("target all missing", "a,y\n1,\n2,\n3,\n", "y")
written("target all missing, drop", "a,y\n1,\n2,\n3,\n", "no rows|no values|'y'", options={"missing": "drop"})
written("text target, one class", rows_with("c", ["u"] * N), "class", target="c")
written("text target, three classes", rows_with("c", WORDS), fit=([A, B, Y], WORDS), target="c")
written("text target, 2000 classes", "a,y\n" + "".join(f"{i},t{i}\n" for i in range(2000)), "too many to be classes")
written("text target with a gap", rows_with("c", ["u", "", "w"] * 4), r"'c' \(4\)", target="c")
written(
    "text target with a gap, drop",
    rows_with("c", ["u", "", "w"] * 4),
    target="c",
    options={"missing": "drop"},
    fit=(
        [
            [A[i] for i in range(N) if i % 3 != 1],
            [B[i] for i in range(N) if i % 3 != 1],
            [Y[i] for i in range(N) if i % 3 != 1],
        ],
        ["u", "w"] * 4,
    ),
)
written("target among the features", CLEAN, "names 'y', which is the target", options={"features": ["a", "y"]})
written("a feature named twice", CLEAN, "twice", options={"features": ["a", "a"]})
written("a feature that is nowhere", CLEAN, "features: .* no column 'aa'", options={"features": ["aa"]})
written("target and nothing else", "y\n1\n2\n3\n", "no column to learn from")
written("target and weight, nothing else", "w,y\n1,2\n1,3\n", "no column to learn from", options={"weight": "w"})
written("a feature all missing", rows_with("c", [""] * N), r"missing values in column 'c' \(12\)|'c' has no values")
for policy in ("drop", "mean", "indicator"):
    written(f"a feature all missing, {policy}", rows_with("c", ["NA"] * N), "'c'|no rows", options={"missing": policy})
written("unknown policy", CLEAN, "missing must be one of", options={"missing": "zero"})
written("weights", rows_with("c", [1, 2, 0] * 4), fit=([A, B], Y), weight=[1, 2, 0] * 4, options={"weight": "c"})
written(
    "negative weight", rows_with("c", [1, -2, 1] * 4), "weight in column 'c' is -2 at line 3", options={"weight": "c"}
)
written("missing weight", rows_with("c", [1, "", 1] * 4), "'c'", options={"weight": "c"})
written("all weights zero", rows_with("c", [0] * N), "weight", options={"weight": "c"})
written("text weights", rows_with("c", WORDS), "weights in column 'c' are VARCHAR", options={"weight": "c"})
written("infinite weight", rows_with("c", ["1e999"] + [1] * 11), "weight in column 'c' is inf", options={"weight": "c"})
written("weight that is nowhere", CLEAN, "weight: .* no column 'w'", options={"weight": "w"})
for wide in (100, 2000):
    written(
        f"{wide} columns",
        ",".join([*(f"x{i}" for i in range(wide)), "y"])
        + "\n"
        + "".join(",".join([*(str((i * j) % 7 + (i == j)) for j in range(wide)), str(i)]) + "\n" for i in range(3)),
        fit=([[(i * j) % 7 + (i == j) for i in range(3)] for j in range(wide)], [0, 1, 2]),
    )
written(
    "2000 columns and a short row",
    ",".join([*(f"x{i}" for i in range(2000)), "y"]) + "\n" + "1," * 1999 + "1\n",
    "line 2 has 2,000 values, but there are 2,001",
)
written("a constant feature", rows_with("c", [4] * N), fit=([A, B, [4] * N], Y))
written("a feature twice", rows_with("c", B), fit=([A, B, B], Y))

# Compressed files

ZIPPED = gzip.compress(CLEAN.encode(), mtime=0)
LONG = gzip.compress((CLEAN + "".join(f"{i % 9},{i % 7},{i * i % 11}\n" for i in range(20000))).encode(), mtime=0)
ZSTD = bytes(pa.compress(CLEAN.encode(), "zstd", asbytes=True))
LONG_ZSTD = bytes(pa.compress(gzip.decompress(LONG), "zstd", asbytes=True))


def flipped(data: bytes, at: int) -> bytes:
    out = bytearray(data)
    out[at] ^= 0x55
    return bytes(out)


written("gz", ZIPPED, file="t.csv.gz")
written("gz in two members", gzip.compress(CLEAN[:40].encode()) + gzip.compress(CLEAN[40:].encode()), file="t.csv.gz")
written("gz with padding", ZIPPED + b"\0" * 100, "t.csv.gz: .*not a GZIP stream", file="t.csv.gz")
for cut in (1, 5, 10, 15, len(ZIPPED) // 2, len(ZIPPED) - 9, len(ZIPPED) - 8, len(ZIPPED) - 1):
    written(
        f"gz cut after {cut} bytes",
        ZIPPED[:cut],
        "cannot read .*t.csv.gz|t.csv.gz is (cut short|damaged)",
        file="t.csv.gz",
    )
for cut in (len(LONG) // 2, len(LONG) - 9, len(LONG) - 4):
    written(f"longer gz cut after {cut} bytes", LONG[:cut], "t.csv.gz is cut short", file="t.csv.gz")
written("gz with a wrong byte", flipped(LONG, len(LONG) // 2), "t.csv.gz is (damaged|cut short)", file="t.csv.gz")
written("gz with a wrong checksum", flipped(ZIPPED, len(ZIPPED) - 6), "damaged|cannot read", file="t.csv.gz")
written("longer gz with a wrong checksum", flipped(LONG, len(LONG) - 6), "damaged", file="t.csv.gz")
written("gz with a wrong length", flipped(LONG, len(LONG) - 2), "damaged", file="t.csv.gz")
written("gz and rubbish", LONG + b"rubbish", "damaged", file="t.csv.gz")
written("text named gz", CLEAN, "cannot read .*t.csv.gz: .*[Gg]zip", file="t.csv.gz")
written("gz of gz", gzip.compress(ZIPPED), "compressed twice", file="t.csv.gz")
written("gz of nothing", gzip.compress(b""), "t.csv.gz is empty", file="t.csv.gz")
written("empty gz", b"", "t.csv.gz is empty", file="t.csv.gz")
written("gz named csv", ZIPPED, "compressed by gzip: let its name end in .gz")
written("gz of a short row", gzip.compress((CLEAN + "1,2\n").encode()), "line 14 has 2 value", file="t.csv.gz")
written("zst", ZSTD, file="t.csv.zst")
for cut in (1, 3, 20, len(ZSTD) - 1):
    written(f"zst cut after {cut} bytes", ZSTD[:cut], "t.csv.zst is cut short", file="t.csv.zst")
for cut in (len(LONG_ZSTD) // 2, len(LONG_ZSTD) - 3):
    written(f"longer zst cut after {cut} bytes", LONG_ZSTD[:cut], "cut short", file="t.csv.zst")
written("text named zst", CLEAN, "t.csv.zst", file="t.csv.zst")
written("zst and rubbish", ZSTD + b"rubbish", "damaged|cannot read", file="t.csv.zst")
written(
    "zst of two frames",
    ZSTD + bytes(pa.compress(b"1,2,3\n", "zstd", asbytes=True)),
    file="t.csv.zst",
    fit=([[*A, 1], [*B, 2]], [*Y, 3]),
)
written("bz2", bz2.compress(CLEAN.encode()), file="t.csv.bz2")
written("bz2 cut", bz2.compress(CLEAN.encode())[:-5], "cannot unpack .*t.csv.bz2", file="t.csv.bz2")
written("xz", lzma.compress(CLEAN.encode()), file="t.csv.xz")
written("xlsx cut", b"PK\x03\x04" + bytes(100), "cannot unpack .*t.xlsx", file="t.xlsx")


@case
def zip_archive(folder: Path) -> Case:
    with zipfile.ZipFile(folder / "t.csv", "w") as file:
        file.writestr("t.csv", CLEAN)
    return Case(str(folder / "t.csv"), None, [A, B], Y)


@case
def zip_archive_of_two_files(folder: Path) -> Case:
    with zipfile.ZipFile(folder / "t.zip", "w") as file:
        file.writestr("t.csv", CLEAN)
        file.writestr("u.csv", CLEAN)
    return Case(str(folder / "t.zip"), r"holds 2 files \(t.csv, u.csv\): unpack it")


# Names of files


def named(file: str, error: str | None = None, given: str | None = None) -> None:
    def make(folder: Path) -> Case:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(CLEAN)
        (folder / "t1.csv").write_text(CLEAN.replace("1", "7"))
        return Case(str(folder / (file if given is None else given)), error, [A, B], Y)

    add(f"file {file} given as {given or file}", make)


for file in (
    "o'brien.csv",
    "a b.csv",
    "größe.csv",
    "t[1].csv",
    "t*.csv",
    "t?.csv",
    'say "x".csv',
    "select.csv",
    "-t.csv",
):
    named(file)
named("100%.csv")
named("a#b.csv")
named("k=v/t.csv")
named("deep/er/t.csv", given="deep")
named("deep/er/t.csv", given="deep/*/*.csv")
named("deep/er/t.csv", given="**/er/t.csv")
named("deep/t.txt", "holds no Parquet and no CSV", given="deep")
named("t.csv", "no file matches", given="u*.csv")
named("t.csv", "there is no file", given="u.csv")
named("t.csv", "there is no file", given="t.csv/x")


@case
def device(folder: Path) -> Case:
    return Case("/dev/null", "neither a file nor a folder")


@case
def empty_folder(folder: Path) -> Case:
    (folder / "x").mkdir()
    return Case(str(folder / "x"), "holds no Parquet and no CSV")


@case
def folder_called_csv(folder: Path) -> Case:
    (folder / "x" / "t.csv").mkdir(parents=True)
    return Case(str(folder / "x"), "holds no Parquet and no CSV")


@case
def dangling_link(folder: Path) -> Case:
    (folder / "t.csv").symlink_to(folder / "nowhere.csv")
    return Case(str(folder / "t.csv"), "there is no file")


@case
def empty_name(folder: Path) -> Case:
    return Case("", "there is no file")


@case
def nul_in_the_name(folder: Path) -> Case:
    return Case("t\0.csv", "there is no file")


@case
def very_long_name(folder: Path) -> Case:
    return Case("x" * 5000 + ".csv", "there is no file")


@case
def path_object(folder: Path) -> Case:
    (folder / "t.csv").write_text(CLEAN)
    return Case(folder / "t.csv", None, [A, B], Y)


@case
def list_of_files(folder: Path) -> Case:
    for i in range(3):
        (folder / f"{i}.csv").write_text(CLEAN)
    return Case([folder / f"{i}.csv" for i in range(3)], None, [A * 3, B * 3], Y * 3)


@case
def empty_list(folder: Path) -> Case:
    return Case([], "give a path")


@case
def list_of_numbers(folder: Path) -> Case:
    return Case([1, 2], "cannot open list")


@case
def bytes_as_path(folder: Path) -> Case:
    return Case(b"t.csv", "cannot open bytes")


@case
def no_data(folder: Path) -> Case:
    return Case(None, "cannot open NoneType")


@case
def unreadable(folder: Path) -> Case:
    (folder / "t.csv").write_text(CLEAN)
    (folder / "t.csv").chmod(0)
    if os.geteuid() == 0:  # root may read everything
        return Case(str(folder / "t.csv"), None, [A, B], Y)
    return Case(str(folder / "t.csv"), "cannot read .*Permission denied")


# Several files


def several(name: str, contents: list[str | bytes], error: str | None, suffix: str = ".csv", times: int = 2) -> None:
    def make(folder: Path) -> Case:
        for i, content in enumerate(contents):
            (folder / f"{i}{suffix}").write_bytes(content if isinstance(content, bytes) else content.encode())
        return Case(str(folder / f"*{suffix}"), error, [A * times, B * times], Y * times)

    add(f"several files, {name}", make)


several("alike", [CLEAN, CLEAN], None)
several("other names", [CLEAN, CLEAN.replace("b", "c", 1)], "1.csv has no column 'b', which .*0.csv has")
several("fewer columns", [CLEAN, CLEAN, "a,y\n1,2\n"], "2.csv has no column 'b'.*open each file separately")
several("more columns", [CLEAN, rows_with("c", WORDS)], None)
several("another order", [CLEAN, "\n".join(",".join(line.split(",")[::-1]) for line in CLEAN.split("\n"))], None)
several("other separators", [CLEAN, CLEAN.replace(",", ";")], None)
several("a title above the second", [CLEAN, "results of 2024\n\n" + CLEAN], None)
several("spaces in the second", [CLEAN, CLEAN.replace(",", " ")], "1.csv is written differently")
several("short row in another order", [CLEAN, "title\ny,b,a\n1,2,3\n1,2\n"], "1.csv, line 4 has 2 value")
several("one empty", [CLEAN, ""], "1.csv is empty")
several("one header only", [CLEAN, "a,b,y\n"], None, times=1)
several("words in the second", [CLEAN, replaced(3, "b", "x")], "1.csv, line 4: column 'b' holds 'x', not a number")
several("fractions in the second", [CLEAN.replace(".0", ""), CLEAN], None)
several("short row in the second", [CLEAN, CLEAN + "1,2\n"], "1.csv, line 14 has 2 value")
several("one with crlf", [CLEAN, CLEAN.replace("\n", "\r\n")], None)
several("one with bom", [CLEAN, "\ufeff" + CLEAN], None)
several("one cut gz", [ZIPPED, ZIPPED[:-5]], "1.csv.gz.*cut short", suffix=".csv.gz")


@case
def files_of_several_kinds(folder: Path) -> Case:
    (folder / "t.csv").write_text(CLEAN)
    parquet.write_table(arrow(), folder / "t.parquet")
    return Case(str(folder / "t.*"), "files of different kinds")


# Parquet


def arrow(**more: Any) -> Any:
    return pa.table({"a": A, "b": B, "y": Y, **more})


def in_parquet(name: str, table: Callable[[], Any], error: str | None = None, fit: Any = None, **more: Any) -> None:
    x, y = fit if fit is not None else ([A, B], Y)
    writing = more.pop("writing", {})

    def make(folder: Path) -> Case:
        parquet.write_table(table(), folder / "t.parquet", **writing)
        return Case(str(folder / "t.parquet"), error, *(((), ()) if error else (x, y)), **more)

    add(f"parquet, {name}", make)


def parquet_bytes() -> bytes:
    sink = io.BytesIO()
    parquet.write_table(arrow(), sink)
    return sink.getvalue()


PARQUET = parquet_bytes()
in_parquet("clean", arrow)
in_parquet("many row groups", arrow, writing={"row_group_size": 5})
in_parquet(
    "one large row group",
    lambda: pa.concat_tables([arrow()] * 3000),
    fit=([A * 3000, B * 3000], Y * 3000),
    writing={"row_group_size": 10**9},
)
in_parquet("uncompressed version 1", arrow, writing={"compression": "none", "version": "1.0"})
in_parquet("zstd", arrow, writing={"compression": "zstd"})
in_parquet("no rows", lambda: arrow().slice(0, 0), "no rows")
for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32"):
    in_parquet(
        kind,
        lambda kind=kind: arrow(c=pa.array([i % 5 for i in range(N)], getattr(pa, kind)())),
        fit=([A, B, [i % 5 for i in range(N)]], Y),
    )
in_parquet(
    "float16", lambda: arrow(c=pa.array(np.arange(N) % 5, pa.float16())), fit=([A, B, [i % 5 for i in range(N)]], Y)
)
in_parquet(
    "huge uint64",
    lambda: arrow(c=pa.array([2**64 - 1 - 2**40 * (i % 3) for i in range(N)], pa.uint64())),
    fit=([A, B, [float(2**64 - 1 - 2**40 * (i % 3)) for i in range(N)]], Y),
)
in_parquet(
    "decimals",
    lambda: arrow(c=pa.array([Decimal(i % 5) / 4 for i in range(N)], pa.decimal128(12, 2))),
    fit=([A, B, [i % 5 / 4 for i in range(N)]], Y),
)
in_parquet(
    "long decimals",
    lambda: arrow(c=pa.array([Decimal(i % 5) for i in range(N)], pa.decimal128(38, 2))),
    fit=([A, B, [i % 5 for i in range(N)]], Y),
)
in_parquet(
    "decimal target",
    lambda: arrow().drop(["y"]).append_column("y", pa.array([Decimal(str(v)) for v in Y], pa.decimal128(9, 3))),
)
in_parquet("integer target", lambda: pa.table({"a": A, "y": B}), fit=([A], B))
in_parquet("integer32 target", lambda: pa.table({"a": A, "y": pa.array(B, pa.int32())}), fit=([A], B))
in_parquet("booleans", lambda: arrow(c=[True, False, False] * 4), fit=([A, B, [1, 0, 0] * 4], Y))
in_parquet("boolean target", lambda: pa.table({"a": A, "y": [True, False, False] * 4}), fit=([A], [1, 0, 0] * 4))
in_parquet("booleans with gaps", lambda: arrow(c=[True, None, False] * 4), r"missing values in column 'c' \(4\)")
in_parquet("gaps", lambda: arrow(c=[1.0, None, 2.0] * 4), r"missing values in column 'c' \(4\)")
in_parquet("gaps and NaN", lambda: arrow(c=[1.0, None, np.nan] * 4), r"missing values in column 'c' \(8\)")
in_parquet(
    "gaps, mean",
    lambda: arrow(c=[1.0, None, np.nan, 2.0] * 3),
    fit=([A, B, [1, 1.5, 1.5, 2] * 3], Y),
    options={"missing": "mean"},
)
in_parquet(
    "integers with gaps, mean",
    lambda: arrow(c=[1, None, None, 2] * 3),
    fit=([A, B, [1, 1.5, 1.5, 2] * 3], Y),
    options={"missing": "mean"},
)
in_parquet("integers with gaps", lambda: arrow(c=[1, None, None, 2] * 3), r"missing values in column 'c' \(6\)")
in_parquet(
    "NaN in the target", lambda: pa.table({"a": A, "y": [*Y[:-1], np.nan]}), r"missing values in column 'y' \(1\)"
)
in_parquet(
    "NaN in the target, drop",
    lambda: pa.table({"a": A, "y": [*Y[:-1], np.nan]}),
    fit=([A[:-1]], Y[:-1]),
    options={"missing": "drop"},
)
in_parquet(
    "NaN, drop",
    lambda: arrow(c=[np.nan, *A[:0:-1]]),
    fit=([A[1:], B[1:], A[:0:-1]], Y[1:]),
    options={"missing": "drop"},
)
in_parquet(
    "NaN, indicator",
    lambda: arrow(c=[np.nan, 1.0, 2.0] * 4),
    fit=([A, B, [1.5, 1, 2] * 4, [1, 0, 0] * 4], Y),
    options={"missing": "indicator"},
)
in_parquet("infinity", lambda: arrow(c=[1.0, -np.inf, 2.0] * 4), "infinity: first at row 1, column 'c'")
in_parquet("a column of nulls", lambda: arrow(c=pa.nulls(N)), "'c'")
in_parquet(
    "a column of nulls, mean",
    lambda: arrow(c=pa.nulls(N, pa.float64())),
    "'c' has no values",
    options={"missing": "mean"},
)
in_parquet("words", lambda: arrow(c=WORDS), fit=([A, B, *dummies(WORDS, "vw")], Y))
in_parquet("dictionary", lambda: arrow(c=pa.array(WORDS).dictionary_encode()), fit=([A, B, *dummies(WORDS, "vw")], Y))
in_parquet(
    "dictionary of whole numbers",
    lambda: arrow(c=pa.array([i % 5 for i in range(N)]).dictionary_encode()),
    fit=([A, B, [i % 5 for i in range(N)]], Y),
)
in_parquet("dictionary with gaps", lambda: arrow(c=pa.array(["u", None, "w"] * 4).dictionary_encode()), r"'c' \(4\)")
in_parquet("large strings", lambda: arrow(c=pa.array(WORDS, pa.large_string())), fit=([A, B, *dummies(WORDS, "vw")], Y))
in_parquet("text target", lambda: arrow(c=WORDS), fit=([A, B, Y], WORDS), target="c")
in_parquet("numbers as text", lambda: arrow(c=[str(i % 5) for i in range(N)]), "'c' holds numbers as text")
in_parquet(
    "numbers as text, named",
    lambda: arrow(c=[str(i % 3) for i in range(N)]),
    options={"categories": ["c"]},
    fit=([A, B, *dummies([i % 3 for i in range(N)], [1, 2])], Y),
)
in_parquet(
    "target of numbers as text", lambda: pa.table({"a": A, "y": [str(v) for v in Y]}), "'y' holds numbers as text"
)
in_parquet("empty texts", lambda: arrow(c=["", "u", "v"] * 4), fit=([A, B, *dummies(["", "u", "v"] * 4, "uv")], Y))
in_parquet("nested", lambda: arrow(c=[{"p": i} for i in range(N)]), r"'c' of type STRUCT")
in_parquet("lists", lambda: arrow(c=[[i] for i in range(N)]), r"'c' of type BIGINT\[\]")
in_parquet("bytes", lambda: arrow(c=pa.array([b"x"] * N)), "'c' of type BLOB")
in_parquet(
    "a nested column that is not used", lambda: arrow(c=[{"a": i} for i in range(N)]), options={"features": ["a", "b"]}
)
in_parquet("dates", lambda: arrow(c=pa.array(range(N), pa.date32())), "'c' of type DATE.*dates=")
in_parquet(
    "dates as days",
    lambda: arrow(c=pa.array([i * i % 9 for i in range(N)], pa.date32())),
    options={"dates": ["c"]},
    fit=([A, B, [i * i % 9 for i in range(N)]], Y),
)
for unit, per in (("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)):
    in_parquet(
        f"timestamps in {unit}",
        lambda unit=unit, per=per: arrow(c=pa.array([i * i % 9 * 21600 * per for i in range(N)], pa.timestamp(unit))),
        options={"dates": ["c"]},
        fit=([A, B, [i * i % 9 / 4 for i in range(N)]], Y),
    )
for policy in ("error", "mean"):
    in_parquet(
        f"timestamps with zones, {policy}",
        lambda: arrow(
            c=pa.array([i * i % 9 * 21600 * 10**6 for i in range(N)], pa.timestamp("us", "Europe/Bratislava"))
        ),
        options={"dates": ["c"], "missing": policy},
        fit=([A, B, [i * i % 9 / 4 for i in range(N)]], Y),
    )
in_parquet("durations", lambda: arrow(c=pa.array(range(N), pa.duration("s"))), "'c'")
in_parquet("times", lambda: arrow(c=pa.array(range(N), pa.time32("s"))), "'c' of type TIME")
in_parquet(
    "two columns of one name",
    lambda: pa.Table.from_arrays([pa.array(A), pa.array(B), pa.array(Y)], ["a", "a", "y"]),
    "two columns called 'a'",
)
in_parquet("names that differ in capitals", lambda: pa.table({"a": A, "A": B, "y": Y}), "differ in capitals")
in_parquet("an empty name", lambda: pa.table({"a": A, "": B, "y": Y}), "column 2 of 3 has no name")
in_parquet("a name with a point", lambda: pa.table({"a": A, "b.c": B, "y": Y}))
in_parquet("a name with quotes", lambda: pa.table({"a": A, "b\"c'd`": B, "y": Y}))
in_parquet("a name with a newline", lambda: pa.table({"a": A, "b\nc": B, "y": Y}))
in_parquet("wrong target", arrow, "no column 'z'", target="z")
in_parquet("no features", lambda: pa.table({"y": Y}), "no column to learn from")
in_parquet("no columns", lambda: pa.table({}), "column")
for cut in (0, 3, 4, 8, 100, len(PARQUET) - 100, len(PARQUET) - 8, len(PARQUET) - 4, len(PARQUET) - 1):
    written(f"parquet, cut after {cut} bytes", PARQUET[:cut], "t.parquet", file="t.parquet")
written("parquet, wrong magic", b"XXXX" + PARQUET[4:-4] + b"XXXX", "t.parquet", file="t.parquet")
written("parquet, wrong magic at the end", PARQUET[:-4] + b"XXXX", "t.parquet", file="t.parquet")
written(
    "parquet, wrong footer length", PARQUET[:-8] + b"\xff\xff\xff\x7f" + PARQUET[-4:], "t.parquet", file="t.parquet"
)
written("parquet named csv", PARQUET, file="t.csv")
written("csv named parquet", CLEAN, "t.parquet.*", file="t.parquet")


@case
def parquet_with_damaged_pages(folder: Path) -> Case:
    sink = io.BytesIO()
    parquet.write_table(arrow(), sink, compression="gzip", use_dictionary=False)
    data = bytearray(sink.getvalue())
    data[40:60] = bytes(20)
    (folder / "t.parquet").write_bytes(data)
    return Case(str(folder / "t.parquet"), "t.parquet")


def parquets(name: str, tables: Callable[[], list[Any]], error: str | None, times: int = 2) -> None:
    def make(folder: Path) -> Case:
        for i, table in enumerate(tables()):
            parquet.write_table(table, folder / f"{i}.parquet")
        return Case(str(folder / "*.parquet"), error, [A * times, B * times], Y * times)

    add(f"parquet files, {name}", make)


parquets("alike", lambda: [arrow(), arrow()], None)
parquets("fewer columns", lambda: [arrow(), arrow().drop(["b"])], "1.parquet has no column 'b'")
parquets("more columns", lambda: [arrow(), arrow(c=WORDS)], "1.parquet has a column 'c'")
parquets("another order", lambda: [arrow(), arrow().select(["y", "b", "a"])], None)
parquets("other whole numbers", lambda: [arrow(), pa.table({"a": A, "b": pa.array(B, pa.int8()), "y": Y})], None)
parquets(
    "texts for numbers",
    lambda: [arrow(), pa.table({"a": A, "b": ["x"] * N, "y": Y})],
    "'b' holds numbers in .* texts in",
)
parquets(
    "numerals for numbers",
    lambda: [arrow(), pa.table({"a": A, "b": [str(b) for b in B], "y": Y})],
    "'b' holds numbers in .* texts in",
)
parquets("one without rows", lambda: [arrow(), arrow().slice(0, 0)], None, times=1)
parquets(
    "fractions in the second",
    lambda: [pa.table({"a": A, "b": B, "y": Y}), pa.table({"a": A, "b": [float(b) for b in B], "y": Y})],
    None,
)

# JSON

LINES = [json.dumps({"a": a, "b": b, "y": y}) for a, b, y in zip(A, B, Y, strict=True)]


def in_json(name: str, content: str, error: str | None = None, file: str = "t.jsonl", **more: Any) -> None:
    written(f"json, {name}", content, error, file=file, **more)


def lines_with(values: Sequence[Any]) -> str:
    rows = zip(LINES, values, strict=True)
    return "\n".join(json.dumps({**json.loads(line), "c": value}) for line, value in rows) + "\n"


in_json("lines", "\n".join(LINES) + "\n")
in_json("an array", "[" + ",\n".join(LINES) + "]", file="t.json")
in_json("blank lines", "\n\n".join(LINES) + "\n\n")
in_json(
    "other order of keys",
    "\n".join([LINES[0], *(json.dumps(dict(reversed(json.loads(r).items()))) for r in LINES[1:])]),
)
in_json("a bad line", "\n".join([*LINES[:5], '{"a": 1, "b": ', *LINES[5:]]), "t.jsonl.*[Mm]alformed JSON.*line|t.jsonl")
in_json("cut", "\n".join(LINES)[:-9], "t.jsonl.*JSON")
in_json("commas after lines", ",\n".join(LINES) + "\n", "t.jsonl.*JSON")
in_json("a comma too many", "[" + ",\n".join(LINES) + ",]", "t.json.*JSON", file="t.json")
in_json("single quotes", "\n".join(LINES).replace('"', "'"), "t.jsonl.*JSON")
in_json("a missing key", "\n".join([*LINES[:-1], '{"a": 1, "y": 2}']), r"missing values in column 'b' \(1\)")
in_json("a null", lines_with([1, None, 2] * 4), r"missing values in column 'c' \(4\)")
in_json("a late key", "\n".join([*LINES * 2000, '{"a": 1, "b": 2, "y": 3, "c": 4}']), "missing values in column 'c'")
in_json("numbers and words", lines_with([1, 2, 3, 4, 5, "x"] * 2), "'c'")
in_json("numerals", lines_with([str(i % 5) for i in range(N)]), "'c' holds numbers as text")
in_json("words", lines_with(WORDS), fit=([A, B, *dummies(WORDS, "vw")], Y))
in_json("booleans", lines_with([True, False, False] * 4), fit=([A, B, [1, 0, 0] * 4], Y))
in_json("nested", lines_with([{"p": 1}] * N), "'c' of type")
in_json("arrays", lines_with([[1, 2]] * N), r"'c' of type")
in_json(
    "whole numbers, then a fraction",
    "\n".join([*(json.dumps({"a": i % 7, "y": i % 5}) for i in range(25000)), '{"a": 1.75, "y": 0.5}']),
    fit=([[*(i % 7 for i in range(25000)), 1.75]], [*(i % 5 for i in range(25000)), 0.5]),
)
in_json(
    "huge numbers",
    lines_with([10**25 * (i % 3) for i in range(N)]),
    fit=([A, B, [1e25 * (i % 3) for i in range(N)]], Y),
)
in_json("a key twice", "\n".join(LINES).replace('"b"', '"a"'), "t.jsonl|'a'")
in_json("numbers alone", "1\n2\n3\n", "no column 'y'|t.jsonl")
in_json("arrays alone", "[1, 2, 3]\n[4, 5, 6]\n", "no column 'y'|t.jsonl")
in_json("empty", "", "t.jsonl is empty")
in_json("blank", "\n\n", "no column 'y'|t.jsonl")
in_json("an empty array", "[]", "no column 'y'|t.json", file="t.json")
in_json("empty objects", "{}\n{}\n", "no column 'y'|t.jsonl")
in_json("not utf 8", '{"a": 1, "y": 2, "c": "\udce4"}\n'.encode("utf-8", "surrogateescape"), "t.jsonl")
in_json("gz", gzip.compress("\n".join(LINES).encode()), file="t.jsonl.gz")
in_json("cut gz", gzip.compress("\n".join(LINES).encode())[:-6], "cut short", file="t.jsonl.gz")
in_json("csv", CLEAN, "t.jsonl.*JSON")

# Databases


def in_sqlite(name: str, script: str, error: str | None = None, fit: Any = None, **more: Any) -> None:
    x, y = fit if fit is not None else ([A, B], Y)

    def make(folder: Path) -> Case:
        database = sqlite3.connect(folder / "t.db")
        database.executescript("CREATE TABLE t (a, b, y);" if "CREATE TABLE" not in script else "")
        if "CREATE TABLE" not in script:
            database.executemany("INSERT INTO t VALUES (?, ?, ?)", zip(A, B, Y, strict=True))
        database.executescript(script)
        database.commit()
        database.close()
        return Case(str(folder / "t.db"), error, *(((), ()) if error else (x, y)), **more)

    add(f"sqlite, {name}", make)


kept = [i for i in range(N) if i != 3]
in_sqlite("clean", "")
in_sqlite("an empty table", "CREATE TABLE t (a, y)", "no rows|no values")
in_sqlite("no table", "CREATE TABLE t (a); DROP TABLE t", "holds several tables|none")
in_sqlite("two tables", "CREATE TABLE u (a, y); CREATE TABLE t (a, y)", "holds several tables: name one .*t, u|u, t")
in_sqlite("two tables, one named", "CREATE VIEW u AS SELECT 1 AS y", options={"table": "t"})
in_sqlite("a table that is not there", "", "holds no table 'u'", options={"table": "u"})
in_sqlite("a view", "CREATE VIEW v AS SELECT a, b, y FROM t", options={"table": "v"})
in_sqlite("a broken view", "CREATE VIEW v AS SELECT * FROM gone", "t.db: no such table", options={"table": "v"})
in_sqlite("a query", "", options={"table": "SELECT a, b, y FROM t"})
in_sqlite("a query with a semicolon and a comment", "", options={"table": "SELECT a, b, y FROM t; -- all"})
in_sqlite("two statements", "", "one statement", options={"table": "SELECT 1 AS y; SELECT 2 AS y"})
in_sqlite("a wrong query", "", "t.db: .*syntax", options={"table": "SELECT FROM WHERE"})
in_sqlite("two columns of one name", "", "two columns called 'a'", options={"table": "SELECT a, a, y FROM t"})
in_sqlite("a word among numbers", "UPDATE t SET b = 'x' WHERE a = 4", "'b' holds numbers, but also 'x'")
in_sqlite("a null", "UPDATE t SET b = NULL WHERE a = 4", r"missing values in column 'b' \(1\)")
in_sqlite(
    "a null, drop",
    "UPDATE t SET b = NULL WHERE a = 4",
    options={"missing": "drop"},
    fit=([[A[i] for i in kept], [B[i] for i in kept]], [Y[i] for i in kept]),
)
in_sqlite(
    "numbers as text",
    "CREATE TABLE t (a TEXT, y); INSERT INTO t VALUES (1, 2), (2, 3), (3, 5)",
    "'a' holds numbers as text",
)
in_sqlite(
    "target as text",
    "CREATE TABLE t (a, y TEXT); INSERT INTO t VALUES (1, 2.5), (2, 3), (3, 5)",
    "'y' holds numbers as text",
)
in_sqlite("blobs", "CREATE TABLE t (a, c, y); INSERT INTO t VALUES (1, x'00ff', 1), (2, x'00fe', 2)", "'c'")
in_sqlite(
    "text that is not utf 8",
    "CREATE TABLE t (a, c, y); INSERT INTO t VALUES (1, CAST(x'e4' AS TEXT), 1)",
    "t.db: .*UTF-8",
)
in_sqlite(
    "large numbers",
    "CREATE TABLE t (a, y); INSERT INTO t VALUES (9223372036854775807, 1), (1, 2), (2, 3)",
    fit=([[float(2**63 - 1), 1, 2]], [1, 2, 3]),
)
in_sqlite("infinity", "UPDATE t SET b = 9e999 WHERE a = 4", "infinity")
written("sqlite, cut", b"SQLite format 3\0" + bytes(50), "t.db", file="t.db")
written("sqlite, rubbish after the magic", b"SQLite format 3\0" + b"\x7f" * 5000, "t.db", file="t.db")
written("sqlite, empty", b"", "t.sqlite", file="t.sqlite")
written("sqlite, text", CLEAN, "t.sqlite", file="t.sqlite")


@case
def sqlite_in_a_file_with_a_question_mark(folder: Path) -> Case:
    CASES["sqlite, clean"](folder)
    (folder / "t.db").rename(folder / "what?%20#.db")
    return Case(str(folder / "what?%20#.db"), None, [A, B], Y)


@case
def sqlite_with_damaged_pages(folder: Path) -> Case:
    database = sqlite3.connect(folder / "t.db")
    database.execute("CREATE TABLE t (a, y)")
    database.executemany("INSERT INTO t VALUES (?, ?)", [(i, i) for i in range(5000)])
    database.commit()
    database.close()
    data = bytearray((folder / "t.db").read_bytes())
    data[8192:20000] = b"\xff" * (20000 - 8192)
    (folder / "t.db").write_bytes(data)
    return Case(str(folder / "t.db"), "t.db: .*malformed")


@case
def sqlite_with_a_word_after_many_numbers(folder: Path) -> Case:
    database = sqlite3.connect(folder / "t.db")
    database.execute("CREATE TABLE t (a, y)")
    database.executemany("INSERT INTO t VALUES (?, ?)", [(i, i) for i in range(70000)])
    database.execute("INSERT INTO t VALUES ('x', 1)")
    database.commit()
    database.close()
    return Case(str(folder / "t.db"), "'a' holds numbers, but also 'x'")


def in_duckdb(name: str, script: str, error: str | None = None, **more: Any) -> None:
    def make(folder: Path) -> Case:
        frame = arrow()
        with duckdb.connect(str(folder / "t.duckdb")) as database:
            database.register("given", frame)
            database.execute("CREATE TABLE t AS SELECT * FROM given; " + script)
        return Case(str(folder / "t.duckdb"), error, [A, B], Y, **more)

    add(f"duckdb, {name}", make)


in_duckdb("clean", "")
in_duckdb("two tables", "CREATE TABLE u AS SELECT 1 AS y", r"holds several tables: .*\(t, u\)")
in_duckdb("two tables, one named", "CREATE TABLE u AS SELECT 1 AS y", options={"table": "t"})
in_duckdb("a view", "CREATE VIEW v AS SELECT a, b, y FROM t", options={"table": "v"})
in_duckdb("another schema", "CREATE SCHEMA s; CREATE TABLE s.t2 AS FROM t; DROP TABLE t", None)
in_duckdb("a table that is not there", "", "holds no table 'u'", options={"table": "u"})
in_duckdb("a query", "", options={"table": "FROM t -- all of it"})
in_duckdb("a table called with quotes", 'ALTER TABLE t RENAME TO "it\'s ""t"""')
in_duckdb("an empty table", "DELETE FROM t", "no rows")
in_duckdb("intervals", "ALTER TABLE t ADD COLUMN c INTERVAL DEFAULT INTERVAL 1 DAY", "'c' of type INTERVAL")
in_duckdb("hugeint", "ALTER TABLE t ALTER b TYPE HUGEINT")
in_duckdb("decimals", "ALTER TABLE t ALTER y TYPE DECIMAL(18, 4)")
written("duckdb, cut", bytes(8) + b"DUCK" + bytes(100), "t.duckdb", file="t.duckdb")
written("duckdb, empty", b"", "t.duckdb", file="t.duckdb")

# Queries


def asked(name: str, query: str, error: str | None = None, **more: Any) -> None:
    def make(folder: Path) -> Case:
        (folder / "t.csv").write_text(CLEAN)
        return Case(query.replace("FILE", f"'{folder}/t.csv'"), error, [A, B], Y, **more)

    add(f"query, {name}", make)


asked("clean", "SELECT * FROM FILE")
asked("small letters", "select a, b, y from FILE")
asked("from first", "FROM FILE")
asked("semicolon", "SELECT * FROM FILE;")
asked("semicolon and spaces", "  SELECT * FROM FILE ;  \n\n")
asked("comments first", "-- all\n/* of\nit */ SELECT * FROM FILE")
asked("comment last", "SELECT * FROM FILE -- all of it")
asked("brackets", "(SELECT * FROM FILE)")
asked("with", "WITH t AS (SELECT * FROM FILE) SELECT * FROM t")
asked("two statements", "SELECT 1 AS y; SELECT 2 AS y", "the query: .*syntax error")
asked("not a query", "SELECT FROM WHERE", "the query: .*[Ee]rror")
asked("a bracket too few", "SELECT (1 AS y", "the query: .*[Ee]rror")
asked("missing table", "SELECT * FROM nowhere", "the query: .*nowhere does not exist")
asked("missing file", "SELECT * FROM 'nowhere.csv'", "the query: .*nowhere.csv")
asked("missing column", "SELECT a, z AS y FROM FILE", "the query: .*z")
asked("no rows", "SELECT * FROM FILE WHERE a < 0", "no rows")
asked("wrong target", "SELECT a, b FROM FILE", "the query has no column 'y'")
asked("two columns of one name", "SELECT a, a, y FROM FILE", "two columns called|'a'")
asked("division by zero", "SELECT a, b / 0 AS c, y FROM FILE", "'c'|infinity")
asked("failing cast", "SELECT a, CAST('x' AS DOUBLE) AS b, y FROM FILE", "the query: Conversion Error")
asked(
    "failing cast in a row",
    "SELECT a, CAST(CASE WHEN a > 8 THEN 'x' ELSE '1' END AS DOUBLE) AS b, y FROM FILE",
    "the query: Conversion Error",
)
asked("deletion", "WITH x AS (SELECT 1) DELETE FROM t", "the query: .*[Ee]rror")
asked("unknown function", "SELECT a, fnord(b) AS b, y FROM FILE", "the query: .*fnord")

# Frames


def frame(name: str, make: Callable[[], Any], error: str | None = None, fit: Any = None, **more: Any) -> None:
    x, y = fit if fit is not None else ([A, B], Y)
    add(f"frame, {name}", lambda folder: Case(make(), error, *(((), ()) if error else (x, y)), **more))


def pandas(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": A, "b": B, "y": Y, **more})


frame("pandas", pandas)
frame("polars", lambda: pl.DataFrame({"a": A, "b": B, "y": Y}))
frame("arrow", arrow)
frame("pandas with an index", lambda: pandas().set_index(pd.Index(range(100, 100 + N), name="y2")))
frame("pandas, rows in another order", lambda: pandas().iloc[::-1], fit=([A[::-1], B[::-1]], Y[::-1]))
frame("pandas, every second row", lambda: pandas().iloc[::2], fit=([A[::2], B[::2]], Y[::2]))
frame(
    "pandas, two columns of one name",
    lambda: pd.DataFrame(np.ones((3, 3)), columns=["a", "a", "y"]),
    "two columns called 'a'",
)
frame("pandas, numbers as names", lambda: pd.DataFrame(np.column_stack([A, B, Y])), target="2")
frame(
    "pandas, names of two levels",
    lambda: pd.DataFrame(np.ones((3, 2)), columns=pd.MultiIndex.from_tuples([("a", "b"), ("c", "y")])),
    "column",
)
frame("pandas, no rows", lambda: pandas().iloc[:0], "no rows")
frame("pandas, no columns", lambda: pd.DataFrame(), "column")
frame("pandas, one row", lambda: pandas().iloc[:1], fit=([A[:1], B[:1]], Y[:1]))
frame("pandas, Int64", lambda: pandas().astype({"b": "Int64"}))
frame(
    "pandas, Int64 with gaps",
    lambda: pandas(c=pd.array([1, None, 2] * 4, "Int64")),
    r"missing values in column 'c' \(4\)",
)
frame(
    "pandas, boolean", lambda: pandas(c=pd.array([True, False, False] * 4, "boolean")), fit=([A, B, [1, 0, 0] * 4], Y)
)
frame("pandas, boolean with gaps", lambda: pandas(c=pd.array([True, None, False] * 4, "boolean")), r"'c' \(4\)")
frame("pandas, string", lambda: pandas(c=pd.array(WORDS, "string")), fit=([A, B, *dummies(WORDS, "vw")], Y))
frame("pandas, float32", lambda: pandas().astype({"a": "float32"}))
frame("pandas, float16", lambda: pandas().astype({"b": "float16"}))
frame(
    "pandas, categorical with unused levels",
    lambda: pandas(c=pd.Categorical(WORDS, list("xwuv"))),
    fit=([A, B, *dummies(WORDS, "uv")], Y),
)
frame("pandas, NaN", lambda: pandas(c=[1.0, np.nan, 2.0] * 4), r"missing values in column 'c' \(4\)")
frame(
    "pandas, NaN, mean",
    lambda: pandas(c=[1.0, np.nan, 2.0, 3.0] * 3),
    fit=([A, B, [1, 2, 2, 3] * 3], Y),
    options={"missing": "mean"},
)
frame("pandas, all None", lambda: pandas(c=[None] * N), "'c'")
frame("pandas, all NaN", lambda: pandas(c=[np.nan] * N), r"'c' \(12\)")
frame("pandas, infinity", lambda: pandas(c=[np.inf] * N), "infinity: first at row 0, column 'c'")
frame("pandas, complex", lambda: pandas(c=np.arange(N) * 1j), "'c'|complex")
frame("pandas, numbers and words", lambda: pandas(c=[1, "x", 2.5] * 4), "'c'")
frame("pandas, words and None", lambda: pandas(c=["u", None, "w"] * 4), r"'c' \(4\)")
frame(
    "pandas, decimals",
    lambda: pandas(c=[Decimal(i % 5) / 4 for i in range(N)]),
    fit=([A, B, [i % 5 / 4 for i in range(N)]], Y),
)
frame("pandas, bytes", lambda: pandas(c=[b"x"] * N), "'c'")
frame("pandas, lists", lambda: pandas(c=[[1]] * N), "'c'")
frame("pandas, dictionaries", lambda: pandas(c=[{"p": 1}] * N), "'c'")
frame("pandas, objects", lambda: pandas(c=[object()] * N), "'c'|frame")
frame(
    "pandas, numbers as objects",
    lambda: pandas(c=pd.Series([i % 5 for i in range(N)], dtype=object)),
    fit=([A, B, [i % 5 for i in range(N)]], Y),
)
frame("pandas, huge numbers as objects", lambda: pandas(c=pd.Series([10**30] * N, dtype=object)), "'c'|frame|int")
frame("pandas, dates", lambda: pandas(c=pd.date_range("2024-01-01", periods=N)), "'c' of type TIMESTAMP.*dates=")
frame(
    "pandas, dates as days",
    lambda: pandas(c=pd.to_datetime([i * i % 9 for i in range(N)], unit="D")),
    options={"dates": ["c"]},
    fit=([A, B, [i * i % 9 for i in range(N)]], Y),
)
frame(
    "pandas, dates with zones as days",
    lambda: pandas(
        c=pd.to_datetime([i * i % 9 for i in range(N)], unit="D").tz_localize("UTC").tz_convert("Asia/Tokyo")
    ),
    options={"dates": ["c"]},
    fit=([A, B, [i * i % 9 for i in range(N)]], Y),
)
frame("pandas, periods", lambda: pandas(c=pd.period_range("2024-01", periods=N, freq="M")), "'c'|frame")
frame("pandas, durations", lambda: pandas(c=pd.to_timedelta(range(N), unit="D")), "'c'")
frame("pandas, intervals", lambda: pandas(c=pd.cut(A, 3)), "'c'|frame")
frame("pandas, sparse", lambda: pandas(c=pd.arrays.SparseArray([0.0, 1.0, 0.0] * 4)), "Sparse.*column c")
frame("pandas, text target", lambda: pandas(c=WORDS), fit=([A, B, Y], WORDS), target="c")
frame("pandas, target misspelt", lambda: pandas(price=Y), "Did you mean 'price'", target="prize")
frame("pandas, target by number", pandas, "no column 2", target=2)
frame("a series", lambda: pd.Series(A), "cannot open Series")
frame("an array", lambda: np.ones((3, 3)), "target of an array is an array of numbers")
frame("a dictionary", lambda: {"a": A, "b": B, "y": Y})
frame("polars, lazy", lambda: pl.LazyFrame({"a": A, "b": B, "y": Y}))
frame("polars, gaps", lambda: pl.DataFrame({"a": [1, None, 3], "y": [1.0, 2.0, 3.0]}), r"'a' \(1\)")
frame(
    "polars, categorical",
    lambda: pl.DataFrame({"a": A, "b": B, "y": Y, "c": pl.Series(WORDS, dtype=pl.Categorical)}),
    fit=([A, B, *dummies(WORDS, "vw")], Y),
)
frame(
    "polars, enum",
    lambda: pl.DataFrame({"a": A, "b": B, "y": Y, "c": pl.Series(WORDS, dtype=pl.Enum(["x", "w", "u", "v"]))}),
    fit=([A, B, *dummies(WORDS, "uv")], Y),
)
frame("polars, decimals", lambda: pl.DataFrame({"a": A, "b": B, "y": pl.Series([Decimal(str(v)) for v in Y])}))
frame("polars, lists", lambda: pl.DataFrame({"a": [[1], [2]], "y": [1.0, 2.0]}), "'a'")
frame(
    "polars, objects",
    lambda: pl.DataFrame({"a": pl.Series([object(), object()], dtype=pl.Object), "y": [1.0, 2.0]}),
    "'a'|frame|[Oo]bject",
)
frame("polars, no rows", lambda: pl.DataFrame({"a": [], "y": []}), "no rows|'a'|'y'")
frame(
    "arrow, two columns of one name",
    lambda: pa.Table.from_arrays([pa.array(A), pa.array(B), pa.array(Y)], ["a", "a", "y"]),
    "two columns called 'a'",
)
frame("arrow, dictionary", lambda: arrow(c=pa.array(WORDS).dictionary_encode()), fit=([A, B, *dummies(WORDS, "vw")], Y))
frame(
    "arrow, unsigned",
    lambda: arrow(c=pa.array([i % 5 for i in range(N)], pa.uint64())),
    fit=([A, B, [i % 5 for i in range(N)]], Y),
)
frame("arrow, nulls", lambda: arrow(c=pa.nulls(N)), "'c'")
frame("arrow, in pieces", lambda: pa.concat_tables([arrow().slice(0, 5), arrow().slice(5, 7)]))

# Files that change


def changing(name: str, change: Callable[[Path], None], error: str, suffix: str = ".csv") -> None:
    def make(folder: Path) -> Case:
        path = folder / f"t{suffix}"
        if suffix == ".csv":
            path.write_text(CLEAN)
        else:
            parquet.write_table(arrow(), path)
        return Case(str(path), error, target=None, meanwhile=lambda: change(path))

    add(f"a file that {name}", make)


changing("grows", lambda path: path.write_text(CLEAN + ROWS[0] + "\n"), "has changed since it was opened")
changing("shrinks", lambda path: path.write_text("a,b,y\n1,2,3\n"), "has changed since it was opened")
changing("is touched", lambda path: os.utime(path, (1, 1)), "has changed since it was opened")
changing("disappears", lambda path: path.unlink(), "is not there any more")
changing("becomes a folder", lambda path: (path.unlink(), path.mkdir())[0], "has changed|t.csv")
changing("is emptied", lambda path: path.write_text(""), "has changed since it was opened")
changing("grows, parquet", lambda path: path.write_bytes(PARQUET + b"x"), "has changed", suffix=".parquet")
changing("disappears, parquet", lambda path: path.unlink(), "is not there any more", suffix=".parquet")
