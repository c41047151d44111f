"""Files as people and programs write them: what is understood, and the notes that say so."""

from __future__ import annotations

import bz2
import gzip
import io
import random
import re
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from adaline import GeneralizedLinear, LinearRegression, compare, load, open_table, save
from adaline.coding.numerals import Notation, parse_number
from adaline.coding.units import Unit, unit_key
from adaline.comparison.findings import mistyped_columns
from adaline.comparison.open_data import DataRequest, open_data
from adaline.comparison.table import read_data
from adaline.errors import InvalidData, InvalidParameter, UnreadableTable
from adaline.sources.tables.database import Database
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import check_compressed, query_files
from adaline.sources.tables.footers import RunningSums, _is_below
from adaline.sources.tables.notation import ColumnUnits, FileSign
from adaline.sources.tables.pipes import Pipe, _pieces
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spreadsheets import _extent

N = 12
X = [1.5, 2.25, 3.5, 4.0, 5.5, 6.25, 7.5, 8.0, 9.5, 10.25, 11.5, 12.0]
Y = [3.0, 4.5, 8.0, 7.0, 11.5, 12.0, 16.5, 15.0, 19.0, 21.5, 22.0, 25.0]
G = ["u", "v", "w"] * 4


def written(lines: list[str], name: str = "t.csv", encoding: str = "utf-8") -> str:
    Path(name).write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return name


def rows(form: str = "{x},{g},{y}") -> list[str]:
    return [form.format(i=i, x=x, g=g, y=y) for i, (x, g, y) in enumerate(zip(X, G, Y, strict=True))]


def write_xlsx(path: str, sheets: dict[str, list[list[Any]]]) -> str:
    """Write a spreadsheet: None is an empty cell, a date one with the format of a date."""

    def cell(value: Any) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, date):
            return f'<c s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f'<c t="b"><v>{int(value)}</v></c>' if isinstance(value, bool) else f"<c><v>{value}</v></c>"

    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = "http://schemas.openxmlformats.org/package/2006/relationships"
    listed = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets, 1))
    related = "".join(
        f'<Relationship Id="r{i}" Type="{kind}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    styles = f'<styleSheet {main}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        book = f'<Relationship Id="r0" Type="{kind}/officeDocument" Target="xl/workbook.xml"/>'
        file.writestr("_rels/.rels", f'<Relationships xmlns="{links}">{book}</Relationships>')
        file.writestr("xl/workbook.xml", f'<workbook {main} xmlns:r="{kind}"><sheets>{listed}</sheets></workbook>')
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{links}">{related}<Relationship Id="s" Type="{kind}/styles" Target="styles.xml"/>'
            "</Relationships>",
        )
        file.writestr("xl/styles.xml", styles)
        for i, table in enumerate(sheets.values(), 1):
            body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in table)
            file.writestr(f"xl/worksheets/sheet{i}.xml", f"<worksheet {main}><sheetData>{body}</sheetData></worksheet>")
    return path


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def values(found: Relation, names: str) -> list[Any]:
    """Return a column, or rows of several."""
    read = found.rows(f"SELECT {names} FROM {found.sql}")
    return read if "," in names else [value for (value,) in read]


def check_notes(found: Relation, note: str | None) -> None:
    """Assert that something was noted, or with an empty text nothing."""
    if note is not None:
        assert note in "\n".join(found.notes) if note else not found.notes, found.notes


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        ([",x,g,y", *rows("{i},{x},{g},{y}")], "column 'index' numbers the rows and is not used"),
        (["x,g,y,", *rows("{x},{g},{y},")], "column 4 has neither a name nor values: left out"),
        (["Report of 2024,,", "", "x,g,y", *rows()], "line 1 above the names"),
        (["# by me", "x,g,y", *rows()], "line 1 above the names of the columns: a comment"),
        (["x,g,y", "m,,s", *rows()], "line 2 holds units, not values (m, s)"),
        (["x,g,y", *rows(), "Total,,165"], "line 14 below the table: 'Total', left out"),
        (["x,g,y", *rows("{x}%,{g},{y}")], "numbers with a percent sign (12% is read as 12), as '10.25%': column 'x'"),
        (["x,g,y", *rows("{x},{g},{y}"), "-,u,3"], "'-' is read as a missing value: column 'x'"),
    ],
)
def test_what_was_understood_is_noted(lines: list[str], note: str) -> None:
    source = open_table(written(lines), target="y", missing="drop")
    assert note in " ".join(source.notes), source.notes
    assert source.names == ("x", "g[T.v]", "g[T.w]")
    assert source.count_rows() == N
    Path("t.csv.gz").write_bytes(gzip.compress(Path("t.csv").read_bytes()))
    assert Relation("t.csv.gz").notes == Relation("t.csv").notes


GROUPED = [66.447, 851.0, 1.234, 12.0]
POINTS = "decimal=',' reads them as points for thousands"
FLOW = ["OVERRANGE" if i in (3, 40) else f"{i / 4}" for i in range(80)]
LOGGED = [f"12:00:{i % 60:02},{20 + i / 7:.2f},{1000 + i},{x},{'ab'[i % 2]}" for i, x in enumerate(FLOW)]
MBAR = list(range(1000, 1080))
LAST = ["x,g,y", *(f"{i}.5,a,{2 * i}" for i in range(30))]
LAST[5] = "4.5,b"
GROUPS = ["g,v", "n,1", "n,2"]
LATE = [*(f"{i},,{i}" for i in range(60)), *(f"{i},{i % 7},{i}" for i in range(60))]
OHMS = ["site,lead,zinc,iron", *["A,n.d.,n.d.,n.d."] * 3, *(f"B,{i}.5,{i},{i}" for i in range(30))]
NINTHS = [f"9.{i},{i},0,{i % 3}" for i in range(6)]
NAMES = ["Meier, Hans", "Schulz, Eva", "Braun, Otto, Dr.", "Adam, Ina"]
RUNNERS = [f'"runner {i}", "JAM", {x}' for i, x in enumerate(X)]
RUNNER_NAMES = [f"runner {i}" if i != 7 else 'H. "Barney" Ewell' for i in range(N)]
RUNNERS[7] = '"H. \\"Barney\\" Ewell", "USA", 8.0'
READ: dict[str, tuple[list[str] | str, Any, str | None]] = {
    "names again": (["x,g,y", *rows()[:6], "x,g,y", *rows()[6:]], {"x": X}, "line 8 repeats the names of the columns"),
    "names of which the upper have merged cells": (
        ["size,,result", "x,z,y", *(f"{x},{x},{y}" for x, y in zip(X, Y, strict=True))],
        ["x", "z", "y"],
        "line 1 groups columns: left out",
    ),
    "a column without a name whose values come late": (["x,,y", *LATE], ["x", "column_2", "y"], None),
    "points, thousands": ("x;y 66.447;6 851;2 1.234;3 12;4", {"x": [66447, 851, 1234, 12]}, "'66.447'"),
    "points, commas separate": ("x,y 66.447,6 851,2 1.234,3 12,4", {"x": GROUPED}, POINTS),
    "points, decimal": ("x;y 66.447;6.5 851;2 1.234;3 12;4", {"x": GROUPED}, POINTS),
    "points, four digits": ("x;y 66.447;6 1851;2 1.2;3", {"x": [66.447, 1851, 1.2]}, ""),
    "dollars": (["x;y", '"$5,856";6.5', "$851;2", "$12;3", "$1;4"], {"x": [5856, 851, 12, 1]}, "commas for thousands"),
    "commas": (["x;y", '"5,856";6', "851;2", "12;3", "1;4"], {"x": [5.856, 851, 12, 1]}, "a decimal comma"),
    "points in two columns": ("x;y 5.805;846 1.341;8.385", {"x": [5805, 1341]}, "columns 'x', 'y'; decimal='.'"),
    "points in one": ("x;y 5.805;1 1.341;2", {"x": [5.805, 1.341]}, "point, as '5.805': column 'x'; decimal=','"),
    "points beside commas": ("x;y 5.805;2,5 1.341;2,5", {"x": [5805, 1341]}, "points for thousands, as '5.805'"),
    "missing values describe no column": (OHMS, 33, None),
    "empty cells of a drawn table": (
        [" a  | b   | y ", "----+-----+---", " 1  | 5   | 3", "    | 7   |   ", " 3  | 8   | 6"],
        {"a, b, y": [(1, 5, 3), (None, 7, None), (3, 8, 6)]},
        None,
    ),
    "values of dashes": ("x|y 1|2 --|-- 3|4", 3, None),
    "bars and dashes in values": ("x,y a|b,1 --,2 -----,3", {"x": ["a|b", "--", "-----"]}, None),
    "lines of descriptions": (
        ["a,b,g", "How far?,How long?,Which?", "id 1,id 2,id 3", "1,2,u", "3,4,v", "5,6,w"],
        {"a, b, g": [(1, 2, "u"), (3, 4, "v"), (5, 6, "w")]},
        "lines 2 to 3 describe the columns (How far?, How long?, Which?) and are left out",
    ),
    "a dash is a minus sign": ("x;y \u201343,5;1 \u22122,5;2 -1,5;3 \u2013;4", {"x": [-43.5, -2.5, -1.5, None]}, None),
    "units": (
        ["time,T,p,Flow,valve", "hh:mm:ss,degC,mbar,L/min,-", *LOGGED],
        {"p": MBAR},
        "line 2 holds units, not val",
    ),
    "errors are no units": (["time,T,p,Flow,valve", "12:00:00,ERR,ERR,ERR,a", *LOGGED], 81, None),
    "numbers are names": ([",142.24,144.78,147.32", *NINTHS], ["index", "142.24", "144.78", "147.32"], None),
    "numbers beside labels with gaps": ([",142.24,144.78,147.32", "9.1,1,0,2", ",2,0,1", *NINTHS], 9, None),
    "semicolons around commas": (["name;y", *(f"{NAMES[i % 4]};{i}" for i in range(12))], {"y": list(range(12))}, ""),
    "quotes after a backslash": (["Name, Country, Time", *RUNNERS], {"Time": X, "Name": RUNNER_NAMES}, None),
    "no last values": (LAST, {"y": [2 * i if i != 4 else None for i in range(30)]}, "line 6 has no values at the end"),
    "subtotals": ([*GROUPS, "Subtotal,3", "s,5", "s,6", "Subtotal,11", "Grand Total,14"], 4, "4, 7, 8 are subtotals"),
    "subtotals, commas": (["g;v;p", "n;1,5;2", "n;2,25;4", "Total n;3,75;3", "s;5;1"], 3, "4 is a subtotal"),
    "means": ([*GROUPS, "Average,1.5", "s,4"], 3, "4 is a subtotal"),
    "rounded": (["g,v,w", "n,1.04,7", "n,2.04,8", "n,2.04,9", "Total n,5.13,24", "s,4,1"], 4, "5 is a subtotal"),
    "no sums": ("g,v n,1 n,3 Total,6 s,4 s,5", 5, ""),
    "sums of one row": ("g,v n,1 Total,1 s,4 Total,4 s,5", 5, ""),
    "sums of one column of three": ("g,v,w,u n,1,1,1 n,2,2,2 Total,3,9,9 s,4,1,1", 4, ""),
    **{
        f"no subtotal: {row}": (["g,year,x,y", *(f"a{i},2000,{i},{i}" for i in range(9)), row, "b,2000,5,5"], 11, None)
        for row in ("Total Recall,,99,99", "Total,2001,99,99", "Total,,1,99", "North,,36,36")
    },
}
"""Lines, as one text if none has blanks; what is read: number of rows, names or some columns; a note, "" for none."""


@pytest.mark.parametrize("name", READ)
def test_how_lines_are_read(name: str) -> None:
    lines, expected, note = READ[name]
    found = Relation(written(lines.split() if isinstance(lines, str) else lines))
    if isinstance(expected, int):
        assert found.count("TRUE") == expected
    elif isinstance(expected, list):
        assert list(found.schema) == expected
    else:
        assert {names: values(found, names) for names in expected} == expected
    check_notes(found, note)


@pytest.mark.parametrize("levels", ["poor average good", "partial total", "Search Social_media", "sum mean other"])
@pytest.mark.parametrize("most", [1, 5, 60])
def test_levels_that_are_words_for_totals_stay(levels: str, most: int) -> None:
    rng, words = random.Random(most), levels.replace("_", " ").split()
    for count in (5, 20, 200):
        lines = [f"{rng.choice(words)},{rng.randint(0, most)},{rng.random():.2f}" for _ in range(count)]
        assert Relation(written(["level,x,y", *lines])).count("TRUE") == count


@pytest.mark.parametrize("label", ["Subtotal", "{} Total", "Summe {}:"])
def test_subtotals_inside_a_table_are_left_out(label: str) -> None:
    lines = ["g,year,x,y"]
    for group in ("North", "East"):
        lines += [f'{group},{year},{year - 2000},"1,{year}.00"' for year in range(2100, 2105)]
        lines += [f'{label.format(group)},,510,"20,000.00"']
    found = Relation(written(lines))
    assert found.count("TRUE") == 10
    check_notes(found, "lines 7, 13 are subtotals of the rows above and are left out")


CITIES = ["City         Temp  Days", "New York     12.5     3", "Los Angeles  20.25   10"]
SCHOOLS = [" id       school  x", "  9  12-15 years  1", " 11   < 12 years  2", " 20    16+ years  4"]
CARS = ["               mpg  cyl", "Mazda RX4     21.0    6", "Valiant       18.1    4"]


@pytest.mark.parametrize(
    ("lines", "names", "last"),
    [
        ([*CITIES, "Boston        9.5     2"], ["City", "Temp", "Days"], ("Boston", 9.5, 2)),
        ([*CITIES, "San Diego     9.5     2"], ["City", "Temp", "Days"], ("San Diego", 9.5, 2)),
        ([CITIES[0], "-----------  ----- ----", *CITIES[1:], "Rome" + " " * 18 + "4"], ["City", "Temp", "Days"], None),
        (CARS, ["index", "mpg", "cyl"], None),
        (SCHOOLS, ["id", "school", "x"], (20, "16+ years", 4)),
        ([*CITIES, "Stratford-upon-Avon 9.5 2"], ["City         Temp  Days"], None),
    ],
)
def test_columns_of_fixed_width(lines: list[str], names: list[str], last: Any) -> None:
    found = Relation(written(lines, "t.txt"))
    assert list(found.schema) == names
    if last:
        assert found.rows(f"SELECT * FROM {found.sql}")[-1] == last
        check_notes(found, "read as columns of fixed width")
        assert found.row_name(2) == f"line {len(lines)}"


def test_files_of_fixed_width_have_the_columns_of_the_first() -> None:
    names = "City       Temp  Rain"
    written([names, "New York   12.5  3", "Boston     10.1  2", "Reno       20.0  1"], "f1.txt")
    written([names, "Los Gatos  15.5  3"], "f2.txt")
    assert Relation("f[12].txt").count("TRUE") == 4
    written([names, "Los Gatos, California  15.5  3"], "f2.txt")
    with pytest.raises(UnreadableTable, match=r"f2\.txt has columns at other positions than .*f1\.txt"):
        Relation("f[12].txt")


@pytest.mark.parametrize(
    "lines",
    [
        ["List of May", "-----------", "|x  |y  |", "-----------", "|1,5|2,0|", "|2,5|3,0-|", "-----------"],
        [" x   | y ", "-----+-----", " 1.5 | 2", " 2.5 | -3", "(2 rows)"],
        ["+-----+-----+", "| x   | y   |", "+=====+=====+", "| 1.5 | 2   |", "| 2.5 | -3  |", "+-----+-----+"],
        ["| x | y |", "|:--|--:|", "| 1.5 | 2 |", "| 2.5 | -3 |"],
    ],
)
def test_tables_drawn_with_bars_and_dashes(lines: list[str]) -> None:
    found = Relation(written(lines, "t.txt"))
    assert values(found, "x, y") == [(1.5, 2), (2.5, -3)]
    assert found.row_name(1) == f"line {next(i for i, line in enumerate(lines, 1) if '2' in line and '3' in line)}"


def column_of(texts: list[str]) -> Relation:
    """Return a table with a column v of these texts five times, and a column z."""
    return Relation(written(["v\tz", *(f"{text}\t{i}.5" for i, text in enumerate(texts * 5))]))


COLUMNS: list[tuple[list[str], list[Any] | None, str]] = [
    (["12,- \u20ac", "8,44 \u20ac", "5,\u2013 \u20ac"], [12, 8.44, 5], ""),
    (["12,-", "1.008,-", "5-", "-3,-"], [12, 1008, -5, -3], ""),
    (["1,5", " ", "#WERT!", "#NV", ":"], [1.5, *[None] * 4], "'#NV', '#WERT!', ':' are read as missing values"),
    (["$358.19", "86.23", "1,200.50"], [358.19, 86.23, 1200.5], "the currency $ (5 of 15 values)"),
    (["\u20ac5", "$5", "6"], None, ""),
    (["12 kg", "13.5 kg", "180kg", "5 KG"], [12, 13.5, 180, 5], "numbers with the unit kg, as '180kg': column 'v'"),
    (["1.234,5 cm", "3 cm", "7"], [1234.5, 3, 7], "points for thousands and the unit cm (10 of 15 values)"),
    (["-5 \u00b0C", "12\u00b0C", "-"], [-5, 12, None], "the unit \u00b0C"),
    (["1 room", "2 rooms"], [1, 2], "the unit room"),
    (["8 \u20ac/m\u00b2", "7 \u20ac/m\u00b2"], [8, 7], "the unit \u20ac/m\u00b2"),
    *((texts.split("|"), None, "") for texts in ("200|201a|202", "12x|13x", "12A|3C|14F", "5th Ave|6th Ave")),
    (["7 Elm St", "8 Oak St"], None, ""),
    (["1.25M", "3M", "0.75M"], [1.25, 3.0, 0.75], ""),
    (["-$-5", "$5", "$6"], None, ""),
    (["-5-", "5-", "6"], None, ""),
    (["-$5", "$-5", "($6)", "5 $-"], [-5, -5, -6, -5], ""),
    (["12:30:05", "26:00:01", "0:05", "-"], [45005, 93601, 300, None], "times with hours and minutes, read as seconds"),
    (["12:30:05", "26:60:01", "x:05"], None, ""),
    (["12%", "5", "6.5%"], None, "5 beside 12% may mean 5% or 500%"),
    (["12%", "5\u2030", "6%"], None, "5 beside 12% may mean 5% or 500%"),
]
"""Texts, the numbers that they are read as, if any, and a note."""


@pytest.mark.parametrize(("texts", "numbers", "note"), COLUMNS, ids=[" ".join(texts) for texts, *_ in COLUMNS])
def test_numbers_as_people_write_them(texts: list[str], numbers: list[Any] | None, note: str) -> None:
    found = column_of(texts)
    assert found.schema["v"] == ("VARCHAR" if numbers is None else "DOUBLE")
    if numbers is not None:
        assert values(found, "v") == 5 * numbers
        assert note in "; ".join(found.notes)
    elif note:
        assert note in " ".join(open_data(DataRequest.of("t.csv", target="z", missing="drop")).notes)
    else:
        assert not found.mixed_units("v") or "$" in texts[1]


@pytest.mark.parametrize(
    ("row", "below"),
    [
        (["Sum", "5", ""], True),
        (["* estimated", "", ""], True),
        (["by me"], True),
        (["7"], False),
        (["", "* estimated", ""], False),
        (["north", "", ""], False),
        (["* estimated", "5", ""], False),
    ],
)
def test_which_lines_are_below_a_table(row: list[str], below: bool) -> None:
    assert _is_below(row, 3) is below


def test_sums_of_the_rows_since_the_last_total() -> None:
    sums = RunningSums()
    for cell in ("9.0", "8.0", "1.1", "", "1.1"):
        sums.add(cell, ".")
    found = {cell: sums.agrees(cell, ".", 2) for cell in ("2.3", "2.35", "1.1", "1.2", "x")}
    assert found == {
        "2.3": (True, False),
        "2.35": (False, False),
        "1.1": (False, True),
        "1.2": (False, False),
        "x": None,
    }
    assert sums.agrees("2.2", ".", 5) is None


def test_the_last_row_of_one_column_is_no_total() -> None:
    assert Relation(written(["v", "1", "2", "Total"])).count("TRUE") == 3
    assert Relation(written(["v,x", "1,1", "2,2", "Total,3"], "two.csv")).count("TRUE") == 2


def units(*spellings: str, bare: int = 0, apart: bool = True, fractions: bool = False) -> ColumnUnits:
    return ColumnUnits({Unit(one, apart): 5 for one in spellings}, bare, (), fractions)


@pytest.mark.parametrize(
    ("found", "fits", "mixed"),
    [
        (units("kg"), True, False),
        (units("kg", "KG", "kilos"), True, False),
        (units("kg", bare=2), True, False),
        (units("m", bare=2), False, False),
        (units("m"), True, False),
        (units("rooms", "room"), True, False),
        (units("rooms", "room", bare=2), False, False),
        (units("kg", "g"), False, True),
        (units("m", "g"), False, False),
        (units("m", "g", fractions=True), False, True),
        (units("kg", "rooms"), False, False),
        (units("rooms", apart=False), False, False),
        (ColumnUnits({Unit("rooms", True): 5, Unit("room", False): 1}, 0, (), False), False, False),
    ],
    ids=repr,
)
def test_which_numbers_have_one_unit(found: ColumnUnits, fits: bool, mixed: bool) -> None:
    assert (found.fits(None), found.mixed) == (fits, mixed)
    assert found.fits(Notation(".", "kg", ("v",))) == ({one.key for one in found.units} == {"kg"})


class Parts(io.BytesIO):
    """A pipe whose bytes come in parts."""

    def __init__(self, *parts: bytes) -> None:
        super().__init__()
        self.parts = iter(parts)

    def read1(self, size: int | None = -1, /) -> bytes:
        return next(self.parts, b"")


def test_single_letters_are_units_where_some_number_has_decimals() -> None:
    for last, mixed in (("6.5 g", ["v"]), ("6 g", [])):
        assert [*column_of(["5 m", last]).text.dialect.mixed] == mixed  # type: ignore[union-attr]


def test_lines_that_come_through_a_pipe_in_parts_stay_whole() -> None:
    pipe = Pipe("p", b"x,y\n1,2\n3", Parts(b',4\n5,"6', b'\n7"\n8', b",9"))
    assert list(_pieces(pipe)) == [b"x,y\n1,2\n", b"3,4\n", b'5,"6\n7"\n', b"8,9"]


def test_files_of_a_query() -> None:
    Path("folder").mkdir()
    for name, content in (("a.csv", b"x\n1\n"), ("t[1].csv", b"x\n1\n"), ("t.duckdb", bytes(8) + b"DUCK" + bytes(9))):
        Path(name).write_bytes(content)
    given = ["a.csv", "t[1].csv", "*.csv", "[x.csv", "t.duckdb", "https://host/b.csv", "folder", "gone.csv"]
    files, patterns = query_files(given)
    assert (sorted(files), patterns) == (["a.csv", "a.csv", "t[1].csv", "t[1].csv"], ["*.csv", "[x.csv"])


def test_the_sign_of_decimals_of_a_file() -> None:
    assert [FileSign(*of).is_comma for of in ((",",), (".",), ("",), ("", False, ";"))] == [True, False, False, True]
    assert parse_number("-1,5", ",") == -1.5 == -parse_number("1.5")


def test_a_dash_for_decimals_is_no_minus() -> None:
    assert parse_number("12,-", ",") == parse_number("12,\u2013 \u20ac", ",") == parse_number("12.--") == 12


def test_infinity_is_missing_in_every_spelling() -> None:
    found = Relation(written(["x,y", "1,Inf", "2,-infinity", "3,INF", "4,5"]), FileOptions.of(na=["inf", "-inf"]))
    assert values(found, "y") == [None, None, None, 5]


@pytest.mark.parametrize("form", ["Jan 1 2000", "Jan 1, 2000", "1 Jan 2000", "1-Jan-00", "1.1.2000", "2000/1/1"])
def test_one_list_of_date_formats(form: str) -> None:
    found = column_of([form, form.replace("1", "3", 1), form.replace("1", "4", 1)])
    assert found.schema["v"] in ("DATE", "TIMESTAMP")
    with pytest.raises(InvalidData, match="'t' holds dates"):
        open_data(DataRequest.of({"t": [form] * 30, "x": list(range(30))}, target="t"))


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["2015-01", "2015-02", "2016-12"], date(2015, 1, 1)),
        (["20230131", "20231201", "20240229"], date(2023, 1, 31)),
        (["Mar 2023", "Apr 2023", "Dec 2024"], date(2023, 3, 1)),
        (["March 2023", "April 2023", "May 2024"], date(2023, 3, 1)),
        (["Mar-23", "Apr-23", "Dec-24"], date(2023, 3, 1)),
        (["2009-10", "2010-11", "2011-12"], "text"),  # seasons
        (["20230131", "20231301", "20240229"], "number"),
        (["20230131", "20231201"], "number"),
        (["2015-13", "2015-02", "2016-12"], "text"),
    ],
)
def test_months_and_dates_without_signs_are_dates(texts: list[str], first: date | str) -> None:
    found = Relation(written(["x,d,y", *(f"{i}.5,{one},{i}" for i, one in enumerate(texts))]))
    assert found.kind("d") == ("date" if isinstance(first, date) else first)
    if isinstance(first, date):
        assert values(found, "d")[0] == first


def test_dates_of_any_year_are_days() -> None:
    dates = ["9999-12-31", "0024-04-03", "1970-01-02"]
    name = written(["d,y", *(f"{dates[i % 3]},{y}" for i, y in enumerate(Y))])
    model = LinearRegression().fit(open_table(name, target="y", dates=["d"]))
    days = [(date.fromisoformat(one) - date(1970, 1, 1)).days for one in dates]
    assert model.coef_ == pytest.approx(LinearRegression().fit([[days[i % 3]] for i in range(N)], Y).coef_)


def test_many_columns_of_decimal_commas_are_found_by_one_short_query(monkeypatch: pytest.MonkeyPatch) -> None:
    queries, rows = list[str](), Database.rows

    def counted(database: Database, sql: str) -> list[Any]:
        queries.append(sql)
        return rows(database, sql)

    monkeypatch.setattr(Database, "rows", counted)
    names = [f"c{i}" for i in range(60)]
    found = Relation(written([";".join(names), *(";".join([f"{x}".replace(".", ",")] * 60) for x in X)]))
    assert {*found.schema.values()} == {"DOUBLE"}
    assert max(sql.count("arg_max") for sql in queries) == 1


def test_the_index_can_be_named_and_is_kept_in_predictions() -> None:
    name = written([",x,g,y", *rows("{i},{x},{g},{y}")])
    assert open_table(name, target="y", features=["index", "x"]).names == ("index", "x")
    assert open_table(name, formula="y ~ .").names == ("x", "g[T.v]", "g[T.w]")
    frame = pd.DataFrame({"x": X, "g": G, "y": Y}, index=[f"r{i}" for i in range(N)])
    frame.to_parquet("t.parquet")
    frame.to_csv("t.csv")
    assert open_table("t.parquet", target="y").names == open_table("t.csv", target="y").names
    assert Relation(written(["index,y", *(f"{1000 + i * i},{y}" for i, y in enumerate(Y))])).index is None
    assert Relation(written(["index,y", *(f"{i},{y}" for i, y in enumerate(Y))])).index == "index"


def test_words_for_missing_values_are_found_in_every_file() -> None:
    written(["s,y", *["a,1", "b,2"] * 5], "1.csv")
    written(["s,y", *["a,1", "n.a.,2"] * 5], "2.csv")
    assert open_table("*.csv", target="y", missing="drop").names == ("s[T.b]",)


def test_files_with_different_separators_are_noted() -> None:
    written(["x,y", *(f"{i},{i % 7}" for i in range(1000, 1040))], "1.csv")
    written(["x;y", *(f"1.{i};{i % 7}" for i in range(100, 140))], "2.csv")
    words = "the values of 2.csv are not separated as those of the first file"
    assert any(words in note and "decimal= sets another" in note for note in Relation("*.csv").notes)
    assert not any(words in note for note in Relation("*.csv", FileOptions.of(decimal=".")).notes)


@pytest.mark.parametrize("names", [("a.csv", "b.csv"), ("b.csv", "a.csv")])
def test_files_of_a_glob_are_read_by_the_columns_that_all_have(names: tuple[str, str]) -> None:
    written(["x,y", "1,2", "3,4"], names[0])
    written(["y;extra;x", "6;a;5", "8;b;7"], names[1])
    found = Relation("[ab].csv")
    assert sorted(values(found, "x, y")) == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert "extra" not in found.schema
    assert f"column 'extra' is left out: {names[0]} has no column 'extra'" in found.notes[0]
    written(["y;extra;x", "6;a;5", "8;b"], names[1])
    with pytest.raises(UnreadableTable, match="line 3 has 2 values, but there are 3 columns"):
        Relation("[ab].csv")


def test_blanks_around_texts_make_no_more_levels() -> None:
    lines = [f"{' ' * i}{'abc'[i % 3]},{y}" for i, y in enumerate(5 * Y)]
    assert open_table(written(["s,y", *lines]), target="y").names == ("s[T.b]", "s[T.c]")


def test_malformed_lines_are_listed_with_their_numbers() -> None:
    name = written(["Title", "", "x,g,y", *rows(), "1,2", "1,2,3", *["1,2,3,4"] * 6])
    listed = r"7 lines do not fit its 3 columns: line 16 has 2 values, line 18"
    with pytest.raises(UnreadableTable, match=listed) as found:
        Relation(name)
    assert str(found.value).count("line ") == 5


@pytest.mark.parametrize(
    ("lines", "match", "left"),
    [
        ([*LAST[:9], "8.5", *LAST[10:]], r"line 10 has 1 value.* sed -e 6d -e 10d -- -t.csv > corrected.csv", 28),
        (
            ["x,g,y", *rows()[:5], '7,"two', 'lines",3,4', *rows()[5:]],
            r"line 7 has 4 values.* sed -e 7,8d -- -t.csv",
            N,
        ),
    ],
)
def test_the_command_deletes_all_lines_of_malformed_rows(lines: list[str], match: str, left: int) -> None:
    with pytest.raises(UnreadableTable, match=match) as raised:
        Relation(written(lines, "-t.csv"))
    subprocess.run(str(raised.value).split("out: ")[1], shell=True, check=True)
    assert Relation("corrected.csv").count("TRUE") == left


def test_a_cut_file_is_not_read_as_one_without_last_values() -> None:
    Path("cut.csv").write_text("\n".join([*LAST, "30.5,a"]))  # perhaps of 30.5,ab,7
    with pytest.raises(UnreadableTable, match="line 32 has 2 values"):
        Relation("cut.csv")


def test_a_value_that_does_not_fit_later_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.sources.tables.files.WHOLE_SAMPLE", 0)
    monkeypatch.setattr("adaline.sources.tables.text.SAMPLE", 5)
    name = written(["x;y", *(f"{x:.1f};{y}".replace(".", ",") for x, y in zip(X * 5, Y * 5, strict=True)), "high;3"])
    with pytest.raises(UnreadableTable, match=r"column 'x' holds 'high', not a value like '.*na="):
        LinearRegression().fit(open_table(name, target="y"))


@pytest.mark.parametrize(
    ("lines", "features", "how"),
    [
        (
            [f"{'7a' if i == 3 else i % 3},{X[i]},{Y[i]}" for i in range(N)],
            ("id", "x"),
            "coded by levels: .*'7a'.*line 5",
        ),
        (
            [f"{'207a' if i == 3 else i},{i % 7},{i % 5}" for i in range(99)],
            ("x",),
            "left out: .*but also '207a'.*--na",
        ),
    ],
)
def test_numbers_among_which_a_few_are_none_are_levels_or_left_out(
    lines: list[str], features: tuple[str, ...], how: str
) -> None:
    found = open_data(DataRequest.of(written(["id,x,y", *lines]), target="y", shell=True))
    assert found.spec.features == features
    assert re.search(f"column 'id' is {how}", found.notes[0])


def test_numbers_in_different_units_are_left_out() -> None:
    told = "is left out: it holds numbers in different units, as '1.5M' and '0.5k'"
    written(["v,z,y", *(f"{i}.5{'M' if i % 3 else 'k'},{i},{i * i}" for i in range(24))])
    assert open_data(DataRequest.of("t.csv", target="y")).nearly_numbers == {"v": told}
    written(["v,z,y", *(f"{i} {'kg' if i % 3 else 'g'},{i},{i * i}" for i in range(24))])
    opened = open_data(DataRequest.of("t.csv", target="y"))
    told = "is left out: it holds numbers in different units, as '1 kg' and '0 g'"
    assert any(one.startswith(f"column 'v' {told}: convert them to one unit") for one in opened.notes), opened.notes
    assert opened.nearly_numbers == {"v": told}
    with pytest.raises(InvalidData, match="the target 'v' holds numbers in different units"):
        open_data(DataRequest.of("t.csv", target="v"))
    assert "v" in (open_data(DataRequest.of("t.csv", target="y", categories=["v"])).spec.features or ())
    text = mistyped_columns(opened.nearly_numbers).text
    assert "Convert the values to one unit; then compare again" in text
    assert "missing values" not in text
    some = [f"{i}{' m' if i % 9 == 0 else ''},{i * i % 7},{2 * i + i % 3}" for i in range(40)]
    advice = open_data(DataRequest.of(written(["w,x,y", *some]), target="y")).left_out["w"]
    assert "with a unit" in advice
    assert "write all values in one unit, or without it" in advice


def test_a_few_sizes_in_different_units_are_levels() -> None:
    written(["size,y", *(f"{('250 g', '500 g', '1 kg')[i % 3]},{i}" for i in range(24))])
    assert open_data(DataRequest.of("t.csv", target="size")).labels
    assert open_data(DataRequest.of("t.csv", target="y")).spec.features == ("size",)


@pytest.mark.parametrize(("one", "other"), [("mPa", "MPa"), ("Mg", "mg"), ("mL", "ML"), ("pA", "Pa"), ("Mb", "MB")])
def test_case_tells_units_apart(one: str, other: str) -> None:
    assert unit_key(one) != unit_key(other)
    assert unit_key("KG") == unit_key("kg")
    assert unit_key("person") == unit_key("Persons")


def test_columns_without_use_are_named() -> None:
    lines = [f"{i},{'US' if i else 'FR'},{'' if i == 0 else i % 4},{i * i}" for i in range(60)]
    found = compare(written(["x,country,z,y", *lines]), target="y", systems=["LinearRegression"])
    assert "country" in found.to_dict()["left_out"]
    assert any("country holds the same value in every row" in one.text for one in found.findings)
    lines = ["id,x,y", *(f"K{(37 * i) % 1009},{i * i % 7},{i}" for i in range(12))]
    opened = open_data(DataRequest.of(written(lines), target="y"))
    assert (opened.spec.features, list(opened.left_out)) == (("x",), ["id"])


def test_rows_are_named_by_the_lines_of_their_file() -> None:
    lines = ["g,x,y", "n,1,1", "n,2,2", "Total n,3,3", "", '"s,', 't",5,5', "s,-1,6"]
    assert [Relation(written(lines)).row_name(i) for i in range(4)] == ["line 2", "line 3", "line 6", "line 8"]
    options: dict[str, Any] = {"target": "y", "features": ["g"], "weight": "x"}
    with pytest.raises(InvalidData, match="the weight in column 'x' is -1 at line 8"):
        LinearRegression().fit(open_table("t.csv", **options))
    written(["g,x,y", *(f"u,{i},{i}" for i in range(4))], "s.csv")
    with pytest.raises(InvalidData, match=r"is -1 at line 8 of t\.csv"):
        LinearRegression().fit(open_table(["s.csv", "t.csv"], **options))
    with pytest.raises(InvalidData, match=r"offset log\(y - 1\) is -inf at line 2"):
        GeneralizedLinear(loss="poisson").fit(open_table("t.csv", target="y", features=["x"], offset="log(y - 1)"))
    short = [*(f"{i},{i},u" for i in range(12)), "", "4,5", "6,inf,v"]
    assert Relation(written(["x,y,g", *short])).row_name(13) == "line 16"
    found = Relation(written(["x,y,g", *short[:5], "x,y,g", *short[5:]]))  # a copy without a line, and one of that
    assert [found.row_name(i) for i in (4, 5, 13)] == ["line 6", "line 8", "line 17"]
    check_notes(found, "line 16 has no values at the end, which are read as missing")
    written(["a title", "", "y;g;x", "1;u;2", "", "3;v;4"], "t.csv")
    found = Relation(["s.csv", "t.csv"])
    assert [found.row_name(i) for i in (3, 4, 5)] == ["line 5 of s.csv", "line 4 of t.csv", "line 6 of t.csv"]
    assert values(found, "x, g, y")[-1] == (4, "v", 3)


def test_findings_name_lines_of_files_whose_rows_have_several() -> None:
    lines = [f'{i},{2 * i + (99 if i == 20 else i % 3)},"a{chr(10)}b"' for i in range(30)]
    written(["x,y,note", *lines])
    opened = read_data(DataRequest.of("t.csv", target="y"), lambda _: "regression", 0, None)
    assert opened.table.row_name(int(opened.table.y.argmax())) == "line 42"


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table", "records"])
def test_a_table_as_one_json_object(orient: Any) -> None:
    frame = pd.DataFrame({"x": X, "g": [*G[:-1], None], "y": Y})
    frame.to_json("t.json", orient=orient)
    found = Relation("t.json")
    assert {"x": "DOUBLE", "g": "VARCHAR", "y": "DOUBLE"}.items() <= found.schema.items()
    assert values(found, "x, g, y") == list(zip(X, [*G[:-1], None], Y, strict=True))
    frame.set_index(pd.Index([f"r{i}" for i in range(N)])).to_json("labelled.json")
    assert Relation("labelled.json").index == "index"


@pytest.mark.parametrize(
    ("document", "columns", "note"),
    [
        ('{"status": "ok", "data": [{"x": 1}, {"x": 2}]}', ["x"], "the rows are those in 'data'; 'status' is left out"),
        ('{"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 4}}', ["index", "a", "b"], "'a', are read as names of columns"),
        ('{"a": {"x": 1, "g": "u"}, "b": {"x": 3, "g": "v"}}', ["index", "x", "g"], "'a', are read as names of rows"),
        ('[{"x": 1704067200000, "y": 1}]', ["x", "y"], "column 'x' is read as numbers, but looks like dates"),
        ('[{"x": 1704067200001, "y": 1}]', ["x", "y"], ""),
    ],
)
def test_how_a_json_object_was_read_is_noted(document: str, columns: list[str], note: str) -> None:
    found = Relation(written([document], "t.json"))
    assert list(found.schema) == columns
    check_notes(found, note)


def archive(name: str, inner: str, content: bytes) -> str:
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(inner, content)
    return name


TEXT = ("\n".join(["x,g,y", *rows()]) + "\n").encode()
TWICE = r"two (columns|values) called 'x': rename one"


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("t.json", b'{"columns": ["x", "x", "y"], "data": [[1, 2, 3]]}', TWICE),
        ("t.json", b'{"x": [1], "x": [2], "y": [3]}', TWICE),
        ("t.xls", b"<html><table><tr><td>1</td></tr></table></html>", r"t\.xls is an HTML page: open it in a spread"),
        ("t.csv.bz2", bz2.compress(b"PK\x03\x04" + bytes(100)), "t.csv.bz2 holds another archive: unpack it once"),
    ],
)
def test_contents_that_are_refused(name: str, content: bytes, match: str) -> None:
    Path(name).write_bytes(content)
    with pytest.raises(UnreadableTable, match=match):
        Relation(name)


def test_damaged_and_nested_archives_are_refused() -> None:
    with pytest.raises(UnreadableTable, match=r"t\.zip holds another archive: unpack it once"):
        Relation(archive("t.zip", "t.csv.gz", gzip.compress(TEXT)))
    content = bytearray(Path(archive("t.zip", "t.csv", TEXT * 50)).read_bytes())
    content[60:80] = bytes(20)
    Path("t.zip").write_bytes(content)
    with pytest.raises(UnreadableTable, match="cannot unpack"):
        Relation("t.zip")


@pytest.mark.parametrize("suffix", ["gz", "zip", "bz2", "zst"])
def test_what_unpacks_to_too_much_is_refused(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.sources.tables.files.MOST_UNPACKED", 2**18)
    monkeypatch.setattr("adaline.sources.tables.files.MOST_RATIO", 50)
    text, name = b"x,y\n" + b"0,0\n" * 2**18, f"t.csv.{suffix}"
    if suffix == "zip":
        archive(name, "t.csv", text)
    else:
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
        Path(name).write_bytes(pack[suffix](text))
    refused = r"unpacks to more than 50 times its size.* unpack it first"
    with pytest.raises(UnreadableTable, match=refused):
        open_table(name, target="y")
    if suffix in ("gz", "zst"):
        with pytest.raises(UnreadableTable, match=refused):
            check_compressed([name]).result()


TABLE = [[None, "Report"], [], [None, "when", "x", "ok", "g", "y"]]
TABLE += [[None, date(2024, 1, 1 + i), X[i], i % 2 == 0, G[i], Y[i]] for i in range(N)]
TABLE += [[None, "Total", sum(X), None, None, sum(Y)]]


def test_a_sheet_is_read_like_a_text_file() -> None:
    pytest.importorskip("python_calamine")
    path = write_xlsx("t.xlsx", {"About": [["nothing here"]], "Data": TABLE, "More": [["a", "y"], [1, 2], [2, 3]]})
    relation = Relation(path)
    assert relation.notes == (
        "sheet 'Data' is read; sheet= names another: 'About', 'More'",
        "line 16 below the table: 'Total', left out",
        "line 1 above the names of the columns: a title, left out",
    )
    assert relation.schema == {"when": "DATE", "x": "DOUBLE", "ok": "BOOLEAN", "g": "VARCHAR", "y": "DOUBLE"}
    assert values(relation, '"when", x, ok, g, y') == [tuple(row[1:]) for row in TABLE[3:-1]]
    for sheet in ("More", 3, "3"):
        assert list(Relation(path, FileOptions(sheet=sheet)).schema) == ["a", "y"]
    with pytest.raises(InvalidParameter, match="no sheet 'Nope'; it has 'About', 'Data', 'More'"):
        Relation(path, FileOptions(sheet="Nope"))


FAR = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'


def test_a_value_far_beyond_the_table_is_refused() -> None:
    """Reading would take 512 GiB, and end the process."""
    pytest.importorskip("python_calamine")
    with zipfile.ZipFile(write_xlsx("near.xlsx", {"Data": TABLE})) as near, zipfile.ZipFile("far.xlsx", "w") as far:
        for part in near.namelist():
            far.writestr(part, near.read(part).replace(b"</sheetData>", FAR.encode()))
    with pytest.raises(UnreadableTable, match="a sheet has a value in row 1,048,576 and one in column 16,384"):
        Relation("far.xlsx")


def test_how_far_sheets_reach() -> None:
    row, cells = '<table:table-row table:number-rows-repeated="{}">{}</table:table-row>', "<table:table-cell{}{}"
    filled = cells.format(' table:number-columns-repeated="3"', ' office:value-type="float"/>')
    empty = cells.format(' table:number-columns-repeated="16384"', "/>")
    sheet = "".join(row.format(*one) for one in ((2, filled), (100, empty), (5, filled + empty), (10**6, empty)))
    assert _extent("content.xml", f"<table:table >{sheet}</table:table></office:body>".encode()) == (107, 3, 2)
    records = [(0, 6), (2, 9), (0, 1041), (300, 7), (5, 2)]  # a row, a cell, a row, something else, a cell
    packed = b"".join(
        (bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])) + b"\x04" + at.to_bytes(4, "little")
        for kind, at in records
    )
    assert _extent("xl/worksheets/sheet1.bin", b"\x81\x01\x00" + packed) == (1042, 10, 2)
    assert _extent("xl/styles.xml", b"<styleSheet/>") == (0, 1, 0)


def test_extents_of_forged_sheets_are_found_in_linear_time() -> None:
    """Tags without an end took quadratic time, and numbers of many digits raised a ValueError."""
    assert _extent("xl/worksheets/sheet1.xml", b"<c <row " * 200_000) == (0, 1, 0)
    digits = "9" * 5000
    assert _extent("xl/worksheets/sheet1.xml", f'<row r="{digits}"><c r="A{digits}">'.encode()).rows == 999_999_999
    row = f'<table:table-row table:number-rows-repeated="{digits}"><table:table-cell office:value="1"/>'
    assert _extent("content.xml", f"<table:table >{row}".encode()).rows == 999_999_999


@pytest.mark.parametrize(("name", "extra"), [("t.xlsx", "excel"), ("t.dta", "stata")])
def test_a_missing_package_is_named(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_xlsx(name, {"Data": TABLE}) if extra == "excel" else Path(name).write_bytes(b"s\x02\x01\x00")
    for module in ("python_calamine", "pyreadstat"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnreadableTable, match=rf"pip install 'adaline-learn\[{extra}\]'"):
        Relation(name)


def test_files_of_statistics_programs() -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"x": X, "k": [1.0, 2.0, 3.0] * 4, "y": Y})
    labels = {"k": {1.0: "u", 2.0: "v", 3.0: "w"}}
    pyreadstat.write_sav(frame, "t.sav", variable_value_labels=labels)
    pyreadstat.write_dta(frame.assign(k=[1, 2, 3] * 4), "t.dta", variable_value_labels=labels)
    for name in ("t.sav", "t.dta"):
        assert open_table(name, target="y").names == ("x", "k[T.v]", "k[T.w]")
    pyreadstat.write_por(frame.rename(columns=str.upper), "t.por")
    assert open_table("t.por", target="Y", encoding="latin-1").names == ("X", "K")


def test_compare_takes_the_options_and_gives_the_notes() -> None:
    name = written(["x;g;y", *(line.replace(".", ",") for line in rows("{x};{g};{y}"))])
    found = compare(name, "y", systems=["LinearRegression"], decimal=",", folds=3)
    assert any("decimal comma" in note for note in found.notes)
    assert "decimal=','" in DataRequest.of(name, target="y", decimal=",").call(DataRequest.of(name).spec)


@pytest.mark.parametrize(("options", "message"), [({"decimal": ";"}, "decimal is"), ({"na": 3}, "na is a word")])
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        open_table(written(["x,g,y", *rows()]), target="y", **options)


def test_times_in_other_files_have_a_remedy() -> None:
    pa.parquet.write_table(pa.table({"c": pa.array(range(N), pa.time32("s")), "x": X, "y": Y}), "t.parquet")
    opened = open_data(DataRequest.of("t.parquet", target="y"))
    assert "times of day" in opened.left_out["c"]
    query = opened.left_out["c"].partition(": ")[2].replace("...", "'t.parquet'")
    assert open_data(DataRequest.of(query, target="y")).spec.features == ("c", "x")


def test_a_model_is_saved_from_any_file() -> None:
    name = written(["Title", "x;y", *(line.replace(".", ",") for line in rows("{x};{y}"))], encoding="utf-16")
    model = LinearRegression().fit(open_table(name, target="y"))
    save(model, "m.adaline")
    assert load("m.adaline").feature_names_in_.tolist() == ["x"]
