"""Awkward files: each is written by a small function, whose line says what is awkward and what is expected of it.

Most hold the same 60 rows of a known relation, `rows()`: y = 3 + 2 x - z, 5 more for kind b and 4 less for kind c,
and a little noise. A file that is understood therefore has R² above 0.9.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

OK, REFUSED = "ok", "refused"
Columns = dict[str, list[Any]]
Content = str | bytes | Columns | Callable[[], str | bytes]


@dataclass(frozen=True)
class AwkwardFile:
    """An awkward file and what is expected of `adaline compare` on it.

    Parameters
    ----------
    name : of the file.
    what : what is awkward about it.
    content : text, bytes, columns to be written as CSV, or a function that returns such.
    sep : between the cells of columns.
    target : what to predict.
    outcome : "ok", or "refused".
    features : columns that have to be used.
    left_out : columns that must not be used, and are named as left out.
    rows : how many rows are compared on, None where any number will do.
    r2 : the least R² on held-out rows of a regression, None where nothing is known.
    error : the largest error rate of a classification, None for a regression.
    says : a regular expression that the notes and findings, or the refusal, must match.
    final : whether a refusal names no remedy that an option could be: the file itself holds nothing to compare on.
    """

    name: str
    what: str
    content: Content
    sep: str = ","
    target: str = "y"
    outcome: str = OK
    features: tuple[str, ...] = ("x", "z", "kind")
    left_out: tuple[str, ...] = ()
    rows: int | None = None
    r2: float | None = 0.9
    error: float | None = None
    says: str = ""
    final: bool = False

    def write(self, folder: Path) -> Path:
        """Write the file into a folder."""
        path, made = folder / self.name, self.content() if callable(self.content) else self.content
        text = csv(made, self.sep) if isinstance(made, dict) else made
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path


AWKWARD: list[AwkwardFile] = []


def awkward(name: str, what: str, content: Content | None = None, sep: str = ",", **expected: Any) -> Any:
    """Enter a file: its content is given, or made by the function that is decorated; columns are written as CSV."""

    def enter(content: Content) -> Content:
        AWKWARD.append(AwkwardFile(name, what, content, sep, **expected))
        return content

    return enter if content is None else enter(content)


def rows(n: int = 60, seed: int = 0) -> Columns:
    """Return the columns of the known relation."""
    draw = random.Random(seed)
    x = [round(draw.uniform(0, 10), 2) for _ in range(n)]
    z = [round(draw.uniform(0, 10), 2) for _ in range(n)]
    kind = [draw.choice("abc") for _ in range(n)]
    shift = {"a": 0.0, "b": 5.0, "c": -4.0}
    y = [round(3 + 2 * x[i] - z[i] + shift[kind[i]] + draw.gauss(0, 0.1), 3) for i in range(n)]
    return {"x": x, "z": z, "kind": kind, "y": y}


def csv(columns: Columns, sep: str = ",", header: bool = True, end: str = "\n") -> str:
    """Return columns as text; a cell with the separator, a quote or a line end is quoted."""

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"' if re.search(rf'[{re.escape(sep)}"\r\n]', text) else text

    lines = [sep.join(map(cell, columns))] if header else []
    lines += [sep.join(map(cell, row)) for row in zip(*columns.values(), strict=True)]
    return end.join(lines) + end


def replaced(**changed: list[Any]) -> Columns:
    """Return the known relation with columns replaced or added, y last."""
    known = rows()
    y = changed.pop("y", known.pop("y"))
    return {**known, **changed, "y": y}


def each(values: Sequence[Any], how: str | Callable[[Any], Any]) -> list[Any]:
    """Return every value changed, by a format or a function."""
    return [how.format(value) if isinstance(how, str) else how(value) for value in values]


def gaps(values: Sequence[Any], share: float, mark: Any = None, seed: int = 1) -> list[Any]:
    """Return values of which a share is missing."""
    draw = random.Random(seed)
    return [mark if draw.random() < share else value for value in values]


def german(value: float, places: int = 2) -> str:
    """Return a number as 1.234,56."""
    return f"{value:,.{places}f}".translate(str.maketrans(",.", ".,"))


X, Z, KIND, Y = rows().values()
N = len(X)
LARGE = [1000 * value for value in X]  # y = 3 + x / 500 - z ...


def records(columns: Columns) -> str:
    return json.dumps([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])


# As programs export them.


def known_rows() -> list[tuple[float, float, str, float]]:
    return list(zip(X, Z, KIND, Y, strict=True))


@awkward("sap.txt", "a list of SAP: bars, lines of dashes, a title, a minus behind numbers", rows=N)
def sap() -> str:
    def negative_last(value: float) -> str:
        return german(abs(value), 3) + ("-" if value < 0 else " ")

    rule = "-" * 40 + "\n"
    lines = (f"|{x:>6.2f}|{z:>6.2f}|{kind:<4}|" for x, z, kind, _ in known_rows())
    body = "".join(f"{a.replace('.', ',')}{negative_last(y):>10}|\n" for a, y in zip(lines, Y, strict=True))
    head = "18.11.2026          Dynamische Listenausgabe          1\n"
    return f"{head}{rule}|     x|     z|kind|         y|\n{rule}{body}{rule}"


@awkward("psql.txt", "a result of psql: a line of dashes, and the number of rows", rows=N, says="below the table")
def psql() -> str:
    head = "   x   |   z   | kind |   y    \n-------+-------+------+--------\n"
    return head + "".join(f"{x:>6} |{z:>6} | {k:<4} |{y:>7}\n" for x, z, k, y in known_rows()) + "(60 rows)\n\n"


@awkward("mysql.txt", "a result of mysql, in a box", rows=N)
def mysql() -> str:
    rule = "+-------+-------+------+--------+\n"
    body = "".join(f"| {x:>5} | {z:>5} | {k:<4} | {y:>6} |\n" for x, z, k, y in known_rows())
    return f"{rule}| x     | z     | kind | y      |\n{rule}{body}{rule}60 rows in set (0.00 sec)\n"


@awkward("markdown.md", "a table of Markdown", rows=N)
def markdown() -> str:
    body = "".join(f"| {x} | {z} | {kind} | {y} |\n" for x, z, kind, y in known_rows())
    return f"| x | z | kind | y |\n|---|---:|:---|---:|\n{body}"


@awkward("r-print.txt", "what R prints: row labels with blanks, columns of fixed width", rows=N, says="labels the rows")
def r_print() -> str:
    return str(pd.DataFrame(rows(), index=[f"Car no {i}" for i in range(1, N + 1)]).to_string())


@awkward("spss.csv", "a file of SPSS: decimal commas without a zero before them, blanks for missing values", r2=0.9)
def spss() -> str:
    known = replaced(x=each(X, lambda value: value / 10))
    written = {name: each(values, lambda value: f"{value}".replace(".", ",")) for name, values in known.items()}
    written["x"] = [" " if i % 15 == 0 else value.removeprefix("0") for i, value in enumerate(written["x"])]
    return csv(written, sep=";")


@awkward("excel-errors.csv", "errors of a German Excel: #WERT!, #NV, #BEZUG!", says="are read as missing values")
def excel_errors() -> str:
    errors = {4: "#WERT!", 9: "#NV", 12: "#BEZUG!"}
    return csv(replaced(x=[errors.get(i, str(x).replace(".", ",")) for i, x in enumerate(X)]), sep=";")


@awkward("prices.csv", "prices as 12,- €, beside 8,44 €", r2=0.9)
def prices() -> str:
    written = [f"{round(x)},- €" if i % 3 else f"{german(x)} €" for i, x in enumerate(X)]
    return csv(replaced(x=written, z=each(Z, german)), sep=";")


@awkward("qualtrics.csv", "questions and ids in two lines below the names", rows=N, says="lines 2 to 3 describe")
def qualtrics() -> str:
    head, *rest = csv(rows()).splitlines()
    ids = ",".join(f'"{{""ImportId"":""QID{i}""}}"' for i in range(4))
    return "\n".join([head, '"How far, in km?","How long, in min?","Which group?","Result"', ids, *rest]) + "\n"


@awkward("pivot.csv", "a pivot table with subtotals and a grand total", rows=N, says="are subtotals of the rows above")
def pivot() -> str:
    lines = ["kind,x,z,y"]
    for level in "abc":
        own = [(x, z, y) for x, z, kind, y in known_rows() if kind == level]
        lines += [f"{level},{x},{z},{y}" for x, z, y in own]
        lines.append(f"{level} Total," + ",".join(f"{sum(column):.3f}" for column in zip(*own, strict=True)))
    return "\n".join([*lines, f"Grand Total,{sum(X):.2f},{sum(Z):.2f},{sum(Y):.3f}"]) + "\n"


@awkward("forms.csv", "answers of a Google form", target="Score [0-40]", features=("How far, in km?", "Which\n(one)?"))
def forms() -> str:
    names = '"Timestamp","How far, in km?","Age","Which\n(one)?","Score [0-40]"\n'
    stamps = (f"2024/03/{1 + i % 28:02d} {1 + i % 12}:15:30 PM GMT+1" for i in range(N))
    answers = zip(stamps, known_rows(), strict=True)
    return names + "".join(f'"{at}","{x} km","{z}","{kind}","{y}"\n' for at, (x, z, kind, y) in answers)


@awkward("bank.csv", "a bank statement: facts of the account above the table, a separator at the end", target="Betrag")
def bank() -> bytes:
    head = '"Konto:";"DE12 3456";\n"Von:";"01.01.2024";\n"Stand am 31.12.2024:";"4.321,00 EUR";\n\n'
    names = '"Tag";"kind";"x";"z";"Betrag";\n'
    days = (f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024" for i in range(N))
    body = zip(days, known_rows(), strict=True)
    lines = (f'"{day}";"{k}";"{german(x)}";"{german(z)}";"{german(y, 3)}";\n' for day, (x, z, k, y) in body)
    return (head + names + "".join(lines)).encode("cp1252")


@awkward("report.xls", "a page of HTML called .xls", outcome=REFUSED, says="HTML page", final=True)
def html_workbook() -> str:
    cells = "".join(f"<tr><td>{x}</td><td>{y}</td></tr>" for x, _, _, y in known_rows())
    return f"<html><body><table><tr><th>x</th><th>y</th></tr>{cells}</table></body></html>"


# Index columns.


@awkward("index.csv", "an unnamed first column of row numbers, as DataFrame.to_csv writes it", says="row|index|name")
def index() -> str:
    return csv({"": list(range(N)), **rows()})


@awkward("labels.csv", "an unnamed first column of row labels, as R's write.csv writes it", says="row|index|name")
def labels() -> str:
    return csv({"": [f"Mazda {i}" for i in range(N)], **rows()})


@awkward("unnamed-within.csv", "an unnamed column among the others", features=("x", "z"), r2=0.5, says="name")
def unnamed_within() -> str:
    return csv({"x": X, "": KIND, "z": Z, "y": Y})


@awkward("ids.csv", "a column of numbers that count the rows", says="numbers the rows")
def ids() -> str:
    return csv(replaced(id=list(range(1000, 1000 + N))))


@awkward("text-ids.csv", "a text that is another in each row", left_out=("code",))
def text_ids() -> str:
    return csv(replaced(code=[f"K-{i:04d}-{'xyz'[i % 3]}" for i in range(N)]))


@awkward("mixed-ids.csv", "house numbers, of which some have letters: 207a", says="number")
def mixed_ids() -> str:
    return csv(replaced(number=[f"{i}a" if i % 20 == 0 else i for i in range(200, 200 + N)]))


awkward(
    "zeros-ids.csv",
    "codes with leading zeros: they are texts, not numbers",
    replaced(zip=[f"0{1000 + i % 4}" for i in range(N)]),
)


# Encodings, separators, line ends.


awkward("bom.csv", "a byte order mark", csv(rows()).encode("utf-8-sig"))


@awkward("latin1.csv", "names and levels in Latin-1", features=("Größe", "z", "Straße"))
def latin1() -> bytes:
    street = {"a": "Süd", "b": "Höhe", "c": "Weg"}
    return csv({"Größe": X, "z": Z, "Straße": each(KIND, street.get), "y": Y}).encode("latin-1")


@awkward("cp1252.csv", "Windows' code page, with a euro sign in a name", features=("Preis €", "z", "kind"))
def cp1252() -> bytes:
    return csv({"Preis €": X, "z": Z, "kind": KIND, "y": Y}).encode("cp1252")


awkward("utf16.csv", "UTF-16 with tabs, as Excel's Unicode text", csv(rows(), sep="\t").encode("utf-16"))


@awkward("semicolons.csv", "semicolons and decimal commas")
def semicolons() -> str:
    comma = {name: each(values, lambda value: str(value).replace(".", ",")) for name, values in rows().items()}
    return csv(comma, sep=";")


awkward("tabs.csv", "tabs in a file called .csv", rows(), sep="\t")
awkward("pipes.txt", "bars between cells, in a file called .txt", rows(), sep="|")
awkward(
    "blanks.txt",
    "columns aligned by blanks",
    "".join(
        f"{a!s:>8} {b!s:>8} {c!s:>6} {d!s:>9}\n"
        for a, b, c, d in zip(*([name, *values] for name, values in rows().items()), strict=True)
    ),
)


@awkward("fixed-width.txt", "columns of fixed width, with blanks in their values and a line of dashes", rows=N)
def fixed_width() -> str:
    towns = {"a": "New York", "b": "Los Angeles", "c": "Boston"}
    head = f"{'x':>8}  {'kind':<12}{'z':>8}{'y':>10}\n{'-' * 8}  {'-' * 11} {'-' * 8} {'-' * 9}\n"
    return head + "".join(
        f"{x:>8}  {towns[kind]:<12}{z:>8}{y:>10}\n" for x, z, kind, y in zip(*rows().values(), strict=True)
    )


awkward("sep.csv", "Excel's first line sep=;", "sep=;\n" + csv(rows(), sep=";"))


@awkward("crlf-mixed.csv", "two kinds of line ends in one file", rows=N)
def mixed_ends() -> str:
    lines = csv(rows()).splitlines()
    return "".join(line + ("\r\n" if i % 2 else "\n") for i, line in enumerate(lines))


awkward("cr.csv", "line ends of old Macs", csv(rows(), end="\r"), rows=N)
awkward("trailing.csv", "a separator at the end of every line", csv(rows()).replace("\n", ",\n"))
awkward("no-end.csv", "no line end at the end of the file", csv(rows()).rstrip(), rows=N)


@awkward("blank-lines.csv", "blank lines among the rows", rows=N)
def blank_lines() -> str:
    return "\n".join(line + ("\n" if i % 10 == 5 else "") for i, line in enumerate(csv(rows()).splitlines())) + "\n\n"


awkward("comments.csv", "lines of comments at the top", "# measured in May\n# by hand\n" + csv(rows()), rows=N)


@awkward("newlines.csv", "line ends within quotes", rows=N)
def newlines() -> str:
    return csv(replaced(remark=[f"first\nsecond, {'ab'[i % 2]}" for i in range(N)]))


@awkward("single-quotes.csv", "texts and names in single quotes", target="y", features=("x", "z"), r2=0.5)
def single_quotes() -> str:
    return csv({"x": X, "z": Z, "kind": each(KIND, lambda kind: f"'{kind}'"), "y": Y})


awkward(
    "all-quoted.csv",
    "every cell quoted, numbers too",
    "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in csv(rows()).splitlines()),
)
awkward("padded.csv", "blanks around names and cells", csv(rows()).replace(",", " , "))


@awkward(
    "short-rows.csv",
    "rows that lack their last cell, which no other cell can be",
    says="lines 21, 41 have no values at the end",
)
def short_rows() -> str:
    table = csv({"y": Y, "x": X, "z": Z, "kind": KIND}).splitlines()
    return "\n".join(line.rsplit(",", 1)[0] if i in (20, 40) else line for i, line in enumerate(table)) + "\n"


@awkward(
    "ambiguous-rows.csv",
    "rows that end early: which cells they lack is not known",
    outcome=REFUSED,
    says="line 21",
    final=True,
)
def ambiguous_rows() -> str:
    table = csv({"kind": KIND, "y": Y, "x": X, "z": Z}).splitlines()
    return "\n".join(line.rsplit(",", 1)[0] if i in (20, 40) else line for i, line in enumerate(table)) + "\n"


@awkward("long-rows.csv", "a row of too many cells", outcome=REFUSED, says="line 31|row 30", final=True)
def long_rows() -> str:
    return "\n".join(line + (",7,8" if i == 30 else "") for i, line in enumerate(csv(rows()).splitlines())) + "\n"


@awkward("nul.csv", "a NUL byte in a text", outcome=REFUSED, says="line 4: a NUL", final=True)
def nul() -> str:
    return csv(replaced(kind=each(KIND, lambda kind: "b\0b" if kind == "b" else kind)))


awkward("rows.csv.gz", "compressed text", lambda: gzip.compress(csv(rows()).encode()), rows=N)
awkward("rows.csv.zip", "a zip archive of one CSV file", lambda: archive({"rows.csv": csv(rows())}), rows=N)


def archive(files: dict[str, str]) -> bytes:
    """Return a zip archive; its first file is not compressed, as OpenDocument wants it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for i, (name, text) in enumerate(files.items()):
            file.writestr(name, text, zipfile.ZIP_STORED if i == 0 else zipfile.ZIP_DEFLATED)
    return out.getvalue()


# What stands around the table.


awkward("title.csv", "title rows above the header", "Survey of streets,,,\nMay 2026,,,\n,,,\n" + csv(rows()), rows=N)
awkward("title-short.csv", "a title of one cell above the header", "Survey of streets\n\n" + csv(rows()), rows=N)
awkward("totals.csv", "a line of totals below the table", csv(rows()) + f"Total,,,{sum(Y):.1f}\n", says="total|last")
awkward("merged-header.csv", "two header rows, the upper of merged cells", "size,,group,result\n" + csv(rows()), rows=N)


@awkward("units.csv", "a row of units below the header", says="unit|m/s|line 2|row 1")
def units() -> str:
    head, *rest = csv(rows()).splitlines()
    return "\n".join([head, "mm,m/s,,EUR", *rest]) + "\n"


@awkward("repeated-header.csv", "the header once more in the middle, as by cat a.csv b.csv", says="header|line|kind")
def repeated_header() -> str:
    lines = csv(rows()).splitlines()
    return "\n".join([*lines[:30], lines[0], *lines[30:]]) + "\n"


@awkward(
    "no-header.csv",
    "no header: columns are known by their numbers",
    target="column_4",
    features=("column_1", "column_2", "column_3"),
)
def no_header() -> str:
    return csv(rows(), header=False)


awkward(
    "header-only.csv", "a header and no rows", "x,z,kind,y\n", outcome=REFUSED, says="no rows|empty|0 rows", final=True
)
awkward("empty.csv", "an empty file", "", outcome=REFUSED, says="empty|no rows|no columns", final=True)
awkward("one-column.csv", "the target and nothing else", {"y": Y}, outcome=REFUSED, says="column", final=True)


@awkward("not-a-table.csv", "a page of HTML called .csv", outcome=REFUSED, final=True)
def not_a_table() -> str:
    return "<!DOCTYPE html>\n<html><head><title>404</title></head>\n<body><p>Not found</p></body></html>\n"


# Numbers in local notation.


awkward(
    "decimal-comma.csv",
    "decimal commas, quoted, between commas",
    replaced(x=each(X, lambda value: f"{value:.2f}".replace(".", ","))),
)
awkward("thousands.csv", "thousands separated by commas: 1,234.5", replaced(x=each(LARGE, "{:,.1f}")))


@awkward("thousands-de.csv", "1.234,56 between semicolons")
def thousands_german() -> str:
    return csv(replaced(x=each(LARGE, german), y=each(Y, lambda value: german(value, 3)), z=each(Z, german)), sep=";")


@awkward("thousands-space.csv", "thousands separated by spaces that do not break: 1 234,5")
def thousands_space() -> str:
    return csv(replaced(x=each(LARGE, lambda value: f"{value:,.1f}".replace(",", "\u202f").replace(".", ","))), sep=";")


awkward(
    "thousands-swiss.csv",
    "thousands separated by apostrophes: 1'234.5",
    replaced(x=each(LARGE, lambda value: f"{value:,.1f}".replace(",", "'"))),
)
awkward("percent.csv", "percent signs", replaced(x=each(X, lambda value: f"{10 * value:.1f}%")))


@awkward("percent-de.csv", "percent signs after a space, decimal commas")
def percent_german() -> str:
    return csv(replaced(x=each(X, lambda value: f"{10 * value:.1f} %".replace(".", ","))), sep=";")


awkward("dollars.csv", "$1,234.50, negative as -$5.00", replaced(x=each(LARGE, "${:,.2f}")))
awkward("euros.csv", "1.234,50 €", replaced(x=each(LARGE, lambda value: german(value) + " €")), sep=";")


@awkward("parentheses.csv", "negative numbers in parentheses, as accountants write them")
def parentheses() -> str:
    return csv(replaced(x=each(X, lambda value: f"({value - 5:.2f})" if value > 5 else f"{5 - value:.2f}")), sep=";")


awkward(
    "minus.csv",
    "negative numbers with a minus sign that is not a hyphen",
    replaced(x=each(X, lambda value: f"{value - 5:.2f}".replace("-", "\u2212"))),
)
awkward("units-in-cells.csv", "a unit behind every number: 12.5 kg", replaced(x=each(X, "{} kg")), says="the unit kg")


@awkward("units-in-some.csv", "a unit behind most numbers, in several spellings: 12.5kg, 12,5 KG", says="the unit kg")
def units_in_some() -> str:
    units = ("", " kg", "kg", " KG", " kg")
    return csv(replaced(x=[f"{x}{units[i % 5]}".replace(".", ",") for i, x in enumerate(X)]), sep=";")


@awkward("units-mixed.csv", "grams and kilograms in one column", left_out=("weight",), says="different units")
def units_mixed() -> str:
    return csv(replaced(weight=[f"{x} kg" if x > 1 else f"{1000 * x:.0f} g" for x in X]))


awkward(
    "scientific.csv",
    "numbers as 1.2E+03 and .5",
    replaced(x=each(X, "{:.3E}"), z=each(Z, lambda value: f"{value}".removeprefix("0"))),
)


@awkward("huge.csv", "numbers up to 1e300, and down to 1e-300", r2=None)
def huge() -> str:
    return csv(replaced(big=[value * 1e300 / 10 for value in X], small=[value * 1e-300 for value in Z]))


awkward(
    "target-comma.csv", "a target with decimal commas", replaced(y=each(Y, lambda value: str(value).replace(".", ",")))
)


# Missing and infinite values.


@awkward("na-words.csv", "NA, n/a, -, ? and k.A., each in a column of numbers", features=("a", "b", "c", "d", "x"))
def na_words() -> str:
    marks = {"a": "NA", "b": "n/a", "c": "-", "d": "?", "x": "k.A."}
    full = {name: X if name == "x" else rows(seed=ord(name))["x"] for name in marks}
    marked = {name: gaps(full[name], 0.04, mark, ord(name)) for name, mark in marks.items()}
    return csv({**marked, "z": Z, "kind": KIND, "y": Y})


awkward(
    "na-mixed.csv",
    "three spellings of missing in one column",
    replaced(x=[["", "NA", "-"][i % 3] if i % 9 == 0 else value for i, value in enumerate(X)]),
)
awkward("sentinel.csv", "-999 for missing", replaced(x=gaps(X, 0.1, -999)), r2=None, says="-999|outl|leverage|influen")


@awkward("gaps-few.csv", "gaps in one row of fifty", says="left out|missing|gap")
def gaps_few() -> str:
    return csv(replaced(x=[None if i == 7 else value for i, value in enumerate(X)]))


@awkward("gaps-many.csv", "gaps in a third of the rows of a number and of a category", r2=0.3, says="missing|gap|fill")
def gaps_many() -> str:
    return csv(replaced(x=gaps(X, 0.2), kind=gaps(KIND, 0.2, seed=2)))


@awkward("gaps-everywhere.csv", "no row is complete", r2=None, features=("a", "b", "c"), says="missing|gap|fill")
def gaps_everywhere() -> str:
    return csv({name: [None if i % 3 == j else v for i, v in enumerate(X)] for j, name in enumerate("abc")} | {"y": Y})


awkward("empty-column.csv", "a column without a value", replaced(notes=[None] * N), left_out=("notes",))


@awkward("almost-empty.csv", "a column with three values", says="notes|missing|gap|fill")
def almost_empty() -> str:
    return csv(replaced(notes=[1.5 * i if i in (3, 30, 50) else None for i in range(N)]))


awkward("target-gaps.csv", "a target with gaps", replaced(y=gaps(Y, 0.2)), says="without y|left out")


@awkward("infinite.csv", "inf and -inf in a feature", outcome=REFUSED, says="inf")
def infinite() -> str:
    return csv(replaced(x=["inf" if i == 3 else "-inf" if i == 9 else value for i, value in enumerate(X)]))


@awkward("infinite-target.csv", "inf in the target", outcome=REFUSED, says="inf")
def infinite_target() -> str:
    return csv(replaced(y=["inf" if i == 3 else value for i, value in enumerate(Y)]))


# Dates, times, booleans, lists.


DAYS = pd.Timestamp("2020-01-31") + pd.to_timedelta(range(0, 3 * N, 3), unit="D")


def dated(notation: str) -> str:
    return csv(replaced(day=[day.strftime(notation) for day in DAYS]), sep=";")


awkward("dates-iso.csv", "dates as 2020-12-31", dated("%Y-%m-%d"), says="day")
awkward("dates-de.csv", "dates as 31.12.2020", dated("%d.%m.%Y"), says="day")
awkward("dates-us.csv", "dates as 12/31/2020", dated("%m/%d/%Y"), says="day")
awkward("dates-words.csv", "dates as 31 Dec 2020", dated("%d %b %Y"), says="day")
awkward("dates-zone.csv", "times as 2020-12-31T08:30:00Z", dated("%Y-%m-%dT08:30:00Z"), says="day")


@awkward("times.csv", "times of the day as 08:30", says="time")
def times() -> str:
    return csv(replaced(time=[f"{8 + i // 12:02d}:{5 * (i % 12):02d}" for i in range(N)]))


awkward("date-target.csv", "a date as the target", dated("%Y-%m-%d"), target="day", outcome=REFUSED, says="date")


@awkward("booleans.csv", "booleans in six notations", features=("x", "z", "b1", "b2", "b3", "b4", "b5", "b6"), r2=0.9)
def booleans() -> str:
    words = [("true", "false"), ("yes", "no"), ("1", "0"), ("T", "F"), ("ja", "nein"), ("x", "")]
    draw = random.Random(5)
    known = {f"b{j + 1}": [pair[draw.random() < 0.5] for _ in range(N)] for j, pair in enumerate(words)}
    known["b1"] = [str(kind == "b").lower() for kind in KIND]
    return csv(replaced(**known))


@awkward("boolean-target.csv", "ja and nein as the target", target="good", error=0.25)
def boolean_target() -> str:
    return csv({**rows(), "good": ["ja" if y > 8 else "nein" for y in Y]})


awkward("lists.csv", "a column of lists as text", replaced(tags=[f"[{i}, {i + 1}]" for i in range(N)]), says="tags")
awkward("lists.json", "a column of lists", records(replaced(tags=[[i, i + 1] for i in range(N)])), left_out=("tags",))
awkward(
    "nested.json", "nested objects", records(replaced(place=[{"lat": i, "lon": -i} for i in range(N)])), says="place"
)


@awkward("array.json", "one array of objects, some without a key", says="missing|gap|left out")
def json_array() -> str:
    found = json.loads(records(rows()))
    del found[5]["x"]
    return json.dumps(found, indent=1)


awkward(
    "lines.jsonl", "an object a line", "".join(json.dumps(row) + "\n" for row in json.loads(records(rows()))), rows=N
)


# Levels and classes.


@awkward("spellings.csv", "near-duplicate spellings of one level: ja, Ja, JA and nien", r2=None, says="spell|nien|JA")
def spellings() -> str:
    words = {"a": ("ja", "Ja", "JA "), "b": ("nein", "nein", "nien"), "c": ("egal",) * 3}
    return csv(replaced(kind=[words[kind][i % 3] if i % 5 == 0 else words[kind][0] for i, kind in enumerate(KIND)]))


@awkward("rare-level.csv", "a level of one row", rows=N)
def rare_level() -> str:
    return csv(replaced(kind=["rare" if i == 11 else kind for i, kind in enumerate(KIND)]), sep=";")


@awkward("many-levels.csv", "3,000 levels in 6,000 rows", says="user")
def many_levels() -> str:
    many = rows(6000)
    return csv({"user": [f"u{i % 3000}" for i in range(6000)], **many})


@awkward("one-class-row.csv", "a class of one row", target="kind", features=("x", "z", "y"), error=0.35)
def one_class_row() -> str:
    return csv(replaced(kind=["d" if i == 11 else kind for i, kind in enumerate(KIND)]))


@awkward("many-classes.csv", "as many classes as rows", target="name", outcome=REFUSED, says="name")
def many_classes() -> str:
    return csv({**rows(), "name": [f"person {i}" for i in range(N)]})


@awkward("constant-target.csv", "a target of one value", target="same", outcome=REFUSED, says="same")
def constant_target() -> str:
    return csv({**rows(), "same": [4] * N})


@awkward("constants.csv", "a constant number and a constant text", left_out=("one", "word"))
def constants() -> str:
    return csv(replaced(one=[1] * N, word=["same"] * N))


awkward("twins.csv", "a column twice under two names", replaced(x2=X), says="copy|x2|depend|duplicate|same|equal")


@awkward("same-names.csv", "two columns of one name", features=("z", "kind"), says="x")
def same_names() -> str:
    lines = csv(replaced(x2=rows(seed=3)["x"])).splitlines()
    return "\n".join([lines[0].replace("x2", "x"), *lines[1:]]) + "\n"


@awkward(
    "case-names.csv", "names that differ in their case alone: x and X", features=("x", "X_2", "z", "kind"), says="X_2"
)
def case_names() -> str:
    return csv(replaced(X=rows(seed=3)["x"]))


@awkward("target-twin.csv", "the target once more, in other units", says="y_mm|target")
def target_twin() -> str:
    return csv(replaced(y_mm=[round(1000 * y) for y in Y]))


@awkward("duplicate-rows.csv", "a third of the rows twice", says="repeat")
def duplicate_rows() -> str:
    return csv({name: values + values[:20] for name, values in rows().items()})


@awkward("outlier.csv", "a typo: 9999 in a feature", r2=None, says="9999|9,999|influen|leverage|outl")
def outlier() -> str:
    return csv(replaced(x=[9999 if i == 17 else value for i, value in enumerate(X)]))


# Few rows, many columns, long texts.


@awkward("one-row.csv", "one row", outcome=REFUSED, says="1 row|one row|few", final=True)
def one_row() -> str:
    return csv({name: values[:1] for name, values in rows().items()})


@awkward("two-rows.csv", "two rows", outcome=REFUSED, says="2 rows|two rows|few", final=True)
def two_rows() -> str:
    return csv({name: values[:2] for name, values in rows().items()})


awkward("five-rows.csv", "five rows", {"x": X[:5], "y": [2 * x + 1 for x in X[:5]]}, r2=None, features=("x",))
awkward("dozen.csv", "a dozen rows", {name: values[:12] for name, values in rows().items()}, r2=0.5)


@awkward("wide.csv", "5,000 columns and 100 rows", features=("c0", "c4999"), r2=None)
def wide() -> str:
    draw = random.Random(1)
    columns = {f"c{j}": [round(draw.gauss(0, 1), 3) for _ in range(100)] for j in range(5000)}
    return csv({**columns, "y": [round(3 * columns["c0"][i] + draw.gauss(0, 0.1), 3) for i in range(100)]})


@awkward("long-texts.csv", "texts of 20,000 characters", says="text")
def long_texts() -> str:
    return csv(replaced(text=[f"{i} " + "word " * 4000 for i in range(N)]))


@awkward("few-whole-numbers.csv", "a target of grades, 1 to 5", target="grade", r2=0.7)
def grades() -> str:
    return csv({**rows(), "grade": [min(5, max(1, round(1 + (y + 7) / 8))) for y in Y]})


# Names.


@awkward("sql-names.csv", "names like SQL that deletes", features=('x"; DROP TABLE t; --', "z'); --", "kind"))
def sql_names() -> str:
    return csv({'x"; DROP TABLE t; --': X, "z'); --": Z, "kind": KIND, "y": Y})


@awkward("emoji.csv", "names and levels of emoji", features=("📏", "z", "🐾"), target="💰")
def emoji() -> str:
    return csv({"📏": X, "z": Z, "🐾": each(KIND, {"a": "🐱", "b": "🐶", "c": "🐦"}.get), "💰": Y})


@awkward("keywords.csv", "names that are words of SQL", features=("select", "from", "group"), target="order")
def keywords() -> str:
    return csv({"select": X, "from": Z, "group": KIND, "order": Y})


@awkward("odd-names.csv", "names with commas, brackets, dots and line ends", features=("a,b", "c[T.x]", "d.e\nf"))
def odd_names() -> str:
    return csv({"a,b": X, "c[T.x]": Z, "d.e\nf": KIND, "y": Y})


@awkward("number-names.csv", "names that are numbers", features=("2019", "2020", "2021"), target="2022")
def number_names() -> str:
    return csv({"2019": X, "2020": Z, "2021": KIND, "2022": Y})


@awkward("long-name.csv", "a name of 300 characters", features=("x" * 300, "z", "kind"))
def long_name() -> str:
    return csv({"x" * 300: X, "z": Z, "kind": KIND, "y": Y})


# Workbooks, statistical packages, databases' files.


def workbook(sheets: dict[str, pd.DataFrame], **how: Any) -> bytes:
    out = io.BytesIO()
    with pd.ExcelWriter(out, engine="openpyxl") as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, **how)
    return out.getvalue()


awkward(
    "one-sheet.xlsx", "a workbook with the index of pandas", lambda: workbook({"Sheet1": pd.DataFrame(rows())}), rows=N
)


@awkward("sheets.xlsx", "a workbook of two tables: the first is read", rows=N, says="sheet|may")
def sheets() -> bytes:
    return workbook({"april": pd.DataFrame(rows()), "may": pd.DataFrame(rows(40, 2))}, index=False)


@awkward("title.xlsx", "a workbook with title rows and an empty column", rows=N)
def title_sheet() -> bytes:
    return workbook({"data": pd.DataFrame(rows())}, index=False, startrow=3, startcol=1)


@awkward("dates.xlsx", "a workbook with dates, booleans and empty cells", says="day")
def dates_sheet() -> bytes:
    frame = pd.DataFrame(replaced(day=list(DAYS), sunny=[i % 2 == 0 for i in range(N)]))
    frame.loc[4, "x"] = None
    return workbook({"data": frame}, index=False)


@awkward("rows.ods", "an OpenDocument spreadsheet", rows=N)
def ods() -> bytes:
    def cell(value: Any) -> str:
        if isinstance(value, float):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'

    lines = [list(rows()), *zip(*rows().values(), strict=True)]
    body = "".join("<table:table-row>" + "".join(map(cell, line)) + "</table:table-row>" for line in lines)
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    content = (
        f'{head}<office:document-content {spaces} office:version="1.2"><office:body><office:spreadsheet>'
        f'<table:table table:name="data">{body}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'{head}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    )
    return archive({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


@awkward("index.parquet", "Parquet with the index of pandas", rows=N)
def parquet() -> bytes:
    out = io.BytesIO()
    pd.DataFrame(rows(), index=[f"r{i}" for i in range(N)]).to_parquet(out)
    return out.getvalue()


@awkward("types.parquet", "Parquet with categories, dates, decimals and dictionaries", says="day")
def parquet_types() -> bytes:
    frame = pd.DataFrame(replaced(day=list(DAYS)))
    frame["kind"] = frame["kind"].astype("category")
    frame["whole"] = pd.array([i % 7 if i % 9 else None for i in range(N)], dtype="Int64")
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


@awkward("rows.dta", "a file of Stata, with labels of values", rows=N)
def stata() -> bytes:
    out = io.BytesIO()
    frame = pd.DataFrame(rows())
    frame["kind"] = frame["kind"].astype("category")
    frame.to_stata(out, write_index=False)
    return out.getvalue()
