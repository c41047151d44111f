"""Files as people and programs write them: what is understood, and the notes that say so."""

from __future__ import annotations

import builtins
import bz2
import gzip
import random
import subprocess
import zipfile
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pandas as pd
import pyarrow as pa
import pytest

from adaline import GeneralizedLinear, LinearRegression, compare, open_table
from adaline.coding.numerals import number_in
from adaline.coding.units import unit_key
from adaline.comparison.findings import mistyped_columns
from adaline.comparison.open_data import DataRequest, open_data
from adaline.comparison.table import read_data
from adaline.errors import InvalidData, InvalidParameter, UnreadableTable
from adaline.sources.tables.file_options import FileOptions
from adaline.sources.tables.files import check_compressed
from adaline.sources.tables.relation import Relation
from adaline.sources.tables.spreadsheets import _extent
from adaline.storage import load, save

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


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        ([",x,g,y", *rows("{i},{x},{g},{y}")], "column 'index' numbers the rows and is not used"),
        (["x,g,y,", *rows("{x},{g},{y},")], "column 4 has neither a name nor values: left out"),
        (["Report of 2024,,", "", "x,g,y", *rows()], "lines 1 to 1 above|line 1 above the names"),
        (["# by me", "x,g,y", *rows()], "line 1 above the names of the columns: a comment"),
        (["x,g,y", "m,,s", *rows()], "line 2 holds units, not values (m, s)"),
        (["x,g,y", *rows(), "Total,,165"], "line 14 below the table: 'Total', left out"),
        (["x,g,y", *rows("{x}%,{g},{y}")], "numbers with a percent sign (12% is read as 12), as '10.25%': column 'x'"),
        (["x,g,y", *rows("{x},{g},{y}"), "-,u,3"], "'-' is read as a missing value: column 'x'"),
    ],
)
def test_what_was_understood_is_noted(lines: list[str], note: str) -> None:
    source = open_table(written(lines), target="y", missing="drop")
    assert any(one in " ".join(source.notes) for one in note.split("|")), source.notes
    assert source.names == ("x", "g[T.v]", "g[T.w]")
    assert source.count_rows() == N


def test_lines_that_end_in_two_ways_and_names_that_occur_again() -> None:
    Path("t.csv").write_bytes("\r\n".join(["x,g,y", *rows()[:5]]).encode() + ("\n" + "\n".join(rows()[5:])).encode())
    assert Relation("t.csv").count("TRUE") == N
    joined = Relation(written(["x,g,y", *rows()[:6], "x,g,y", *rows()[6:]]))
    assert (joined.count("TRUE"), joined.schema["x"]) == (N, "DOUBLE")
    assert "line 8 repeats the names of the columns and is left out" in joined.notes


def test_two_rows_of_names_of_which_the_upper_has_merged_cells() -> None:
    found = Relation(written(["size,,result", "x,z,y", *(f"{x},{x},{y}" for x, y in zip(X, Y, strict=True))]))
    assert list(found.schema) == ["x", "z", "y"]
    assert found.notes == ("line 1 groups columns: left out",)


def test_a_column_without_a_name_whose_values_come_late_is_kept() -> None:
    found = Relation(written(["x,,y", *(f"{i},,{i}" for i in range(60)), *(f"{i},{i % 7},{i}" for i in range(60))]))
    assert list(found.schema) == ["x", "column_2", "y"]


GROUPED = [66.447, 851.0, 1.234, 12.0]


@pytest.mark.parametrize(
    ("lines", "values", "note"),
    [
        (["x;y", "66.447;6", "851;2", "1.234;3", "12;4"], [66447, 851, 1234, 12], "points for thousands, as '66.447'"),
        (["x,y", "66.447,6", "851,2", "1.234,3", "12,4"], GROUPED, "decimal=',' reads them as points for thousands"),
        (["x;y", "66.447;6.5", "851;2", "1.234;3", "12;4"], GROUPED, "decimal=',' reads them as points for thousands"),
        (["x;y", "66.447;6", "1851;2", "1.234;3", "12;4"], [66.447, 1851, 1.234, 12], ""),
        (["x;y", '"$5,856";6.5', "$851;2", "$12;3", "$1;4"], [5856, 851, 12, 1], "commas for thousands"),
        (["x;y", '"5,856";6', "851;2", "12;3", "1;4"], [5.856, 851, 12, 1], "a decimal comma"),
        (["x;y", "5.805;846", "1.341;8.385"], [5805, 1341], "thousands, as '5.805': columns 'x', 'y'; decimal='.'"),
        (["x;y", "5.805;1", "1.341;2"], [5.805, 1.341], "a decimal point, as '5.805': column 'x'; decimal=','"),
        (["x;y", "5.805;2,5", "1.341;2,5"], [5805, 1341], "points for thousands, as '5.805': column 'x'"),
    ],
)
def test_three_digits_after_every_sign_may_be_thousands(lines: list[str], values: list[float], note: str) -> None:
    found = Relation(written(lines))
    assert [x for (x,) in found.rows(f"SELECT x FROM {found.sql}")] == values
    assert any(note in one for one in found.notes) if note else not found.notes


@pytest.mark.parametrize("levels", ["poor average good", "partial total", "Search Social_media", "sum mean other"])
@pytest.mark.parametrize("most", [1, 5, 60])
def test_levels_that_are_words_for_totals_stay(levels: str, most: int) -> None:
    rng = random.Random(most)
    for rows in (5, 20, 200):
        lines = [
            f"{rng.choice(levels.split()).replace('_', ' ')},{rng.randint(0, most)},{rng.random():.2f}"
            for _ in range(rows)
        ]
        assert Relation(written(["level,x,y", *lines])).count("TRUE") == rows


def test_values_that_are_missing_describe_no_column() -> None:
    body = [f"B,{i}.5,{i},{i}" for i in range(30)]
    assert Relation(written(["site,lead,zinc,iron", *["A,n.d.,n.d.,n.d."] * 3, *body])).count("TRUE") == 33


def test_drawn_tables_keep_empty_cells_and_values_of_dashes() -> None:
    found = Relation(written([" a  | b   | y ", "----+-----+---", " 1  | 5   | 3", "    | 7   |   ", " 3  | 8   | 6"]))
    assert found.rows(f"SELECT * FROM {found.sql}") == [(1, 5, 3), (None, 7, None), (3, 8, 6)]
    assert Relation(written(["x|y", "1|2", "--|--", "3|4"])).count("TRUE") == 3


def test_files_of_fixed_width_have_the_columns_of_the_first() -> None:
    names = "City       Temp  Rain"
    written([names, "New York   12.5  3", "Boston     10.1  2", "Reno       20.0  1"], "f1.txt")
    written([names, "Los Gatos  15.5  3"], "f2.txt")
    assert Relation("f[12].txt").count("TRUE") == 4
    written([names, "Los Gatos, California  15.5  3"], "f2.txt")
    with pytest.raises(UnreadableTable, match=r"f2\.txt has columns at other positions than .*f1\.txt"):
        Relation("f[12].txt")


@pytest.mark.parametrize("label", ["Subtotal", "{} Total", "Summe {}:"])
def test_subtotals_inside_a_table_are_left_out(label: str) -> None:
    lines = ["g,year,x,y"]
    for group in ("North", "East"):
        lines += [f'{group},{year},{year - 2000},"1,{year}.00"' for year in range(2100, 2105)]
        lines += [f'{label.format(group)},,510,"20,000.00"']
    found = Relation(written(lines))
    assert found.count("TRUE") == 10
    assert "lines 7, 13 are subtotals of the rows above and are left out" in found.notes


@pytest.mark.parametrize(
    ("lines", "left_out"),
    [
        (["g,v", "n,1", "n,2", "Subtotal,3", "s,5", "s,6", "Subtotal,11", "Grand Total,14"], "4, 7, 8 are subtotals"),
        (["g;v;p", "n;1,5;2", "n;2,25;4", "Total n;3,75;3", "s;5;1"], "4 is a subtotal"),
        (["g,v", "n,1", "n,2", "Average,1.5", "s,4"], "4 is a subtotal"),
        (["g,v,w", "n,1.04,7", "n,2.04,8", "n,2.04,9", "Total n,5.13,24", "s,4,1"], "5 is a subtotal"),
        (["g,v", "n,1", "n,3", "Total,6", "s,4", "s,5"], ""),
        (["g,v", "n,1", "Total,1", "s,4", "Total,4", "s,5"], ""),
        (["g,v,w,u", "n,1,1,1", "n,2,2,2", "Total,3,9,9", "s,4,1,1"], ""),
    ],
)
def test_subtotals_are_confirmed_by_their_sums(lines: list[str], left_out: str) -> None:
    found = Relation(written(lines))
    assert (left_out in " ".join(found.notes)) if left_out else not found.notes


@pytest.mark.parametrize("row", ["Total Recall,,99,99", "Total,2001,99,99", "Total,,1,99", "North,,36,36"])
def test_rows_that_only_look_like_subtotals_stay(row: str) -> None:
    found = Relation(written(["g,year,x,y", *(f"a{i},2000,{i},{i}" for i in range(9)), row, "b,2000,5,5"]))
    assert found.count("TRUE") == 11


CITIES = ["City         Temp  Days", "New York     12.5     3", "Los Angeles  20.25   10"]


@pytest.mark.parametrize(
    ("lines", "names", "last"),
    [
        ([*CITIES, "Boston        9.5     2"], ["City", "Temp", "Days"], ("Boston", 9.5, 2)),
        ([*CITIES, "San Diego     9.5     2"], ["City", "Temp", "Days"], ("San Diego", 9.5, 2)),
        ([CITIES[0], "-----------  ----- ----", *CITIES[1:], "Rome" + " " * 18 + "4"], ["City", "Temp", "Days"], None),
        (
            ["               mpg  cyl", "Mazda RX4     21.0    6", "Valiant       18.1    4"],
            ["index", "mpg", "cyl"],
            None,
        ),
        (
            [" id       school  x", "  9  12-15 years  1", " 11   < 12 years  2", " 20    16+ years  4"],
            ["id", "school", "x"],
            (20, "16+ years", 4),
        ),
        ([*CITIES, "Stratford-upon-Avon 9.5 2"], ["City         Temp  Days"], None),
    ],
)
def test_columns_of_fixed_width(lines: list[str], names: list[str], last: Any) -> None:
    found = Relation(written(lines, "t.txt"))
    assert list(found.schema) == names
    if last:
        assert found.rows(f"SELECT * FROM {found.sql}")[-1] == last
        assert "read as columns of fixed width" in found.notes
        assert found.row_name(2) == f"line {len(lines)}"


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
    assert found.rows(f"SELECT x, y FROM {found.sql}") == [(1.5, 2), (2.5, -3)]
    assert found.row_name(1) == f"line {next(i for i, line in enumerate(lines, 1) if '2' in line and '3' in line)}"


def test_bars_and_dashes_in_values_are_no_drawing() -> None:
    found = Relation(written(["x,y", "a|b,1", "--,2", "-----,3"]))
    assert found.rows(f"SELECT x FROM {found.sql}") == [("a|b",), ("--",), ("-----",)]


def test_lines_of_descriptions_below_the_names() -> None:
    found = Relation(written(["a,b,g", "How far?,How long?,Which?", "id 1,id 2,id 3", *("1,2,u", "3,4,v", "5,6,w")]))
    assert found.schema == {"a": "BIGINT", "b": "BIGINT", "g": "VARCHAR"}
    assert found.notes == ("lines 2 to 3 describe the columns (How far?, How long?, Which?) and are left out",)


def test_a_dash_for_decimals_is_no_minus() -> None:
    assert column_of(["12,- \u20ac", "8,44 \u20ac", "5,\u2013 \u20ac"])[1] == [12, 8.44, 5]
    assert column_of(["12,-", "1.008,-", "5-", "-3,-"])[1] == [12, 1008, -5, -3]
    assert number_in("12,-", ",") == number_in("12,\u2013 \u20ac", ",") == number_in("12.--") == 12


def test_blanks_and_errors_of_spreadsheets_are_missing_values() -> None:
    kind, values, notes = column_of(["1,5", " ", "#WERT!", "#NV", ":"])
    assert (kind, values) == ("DOUBLE", [1.5, None, None, None, None])
    assert "'#NV', '#WERT!', ':' are read as missing values: column 'v'" in notes


def test_a_page_of_html_is_refused() -> None:
    with pytest.raises(UnreadableTable, match=r"t\.xls is an HTML page: open it in a spreadsheet program"):
        Relation(written(["<html><table><tr><td>1</td></tr></table></html>"], "t.xls"))


def test_a_dash_is_a_minus_sign() -> None:
    found = Relation(written(["x;y", "\u201343,5;1", "\u22122,5;2", "-1,5;3", "\u2013;4"]))
    assert found.rows(f"SELECT x FROM {found.sql}") == [(-43.5,), (-2.5,), (-1.5,), (None,)]


def test_units_beside_a_column_with_an_error_word() -> None:
    flow = ["OVERRANGE" if i in (3, 40) else f"{i / 4}" for i in range(80)]
    lines = [f"12:00:{i % 60:02},{20 + i / 7:.2f},{1000 + i},{x},{'ab'[i % 2]}" for i, x in enumerate(flow)]
    found = Relation(written(["time,T,p,Flow,valve", "hh:mm:ss,degC,mbar,L/min,-", *lines]))
    assert found.count("TRUE") == 80
    assert found.schema["p"] == "BIGINT"
    assert "line 2 holds units, not values" in found.notes[0]
    failed = Relation(written(["time,T,p,Flow,valve", "12:00:00,ERR,ERR,ERR,a", *lines]))
    assert failed.count("TRUE") == 81


def test_many_columns_of_decimal_commas_are_found_by_one_short_query() -> None:
    queries: list[str] = []

    class Counted(Relation):
        def rows(self, sql: str) -> list[Any]:
            queries.append(sql)
            return super().rows(sql)

    names = [f"c{i}" for i in range(60)]
    found = Counted(written([";".join(names), *(";".join([f"{x}".replace(".", ",")] * 60) for x in X)]))
    assert {*found.schema.values()} == {"DOUBLE"}
    assert max(sql.count("arg_max") for sql in queries) == 1


def test_damaged_archives_are_refused() -> None:
    with zipfile.ZipFile("t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", "\n".join(["x,g,y", *rows()]) * 50)
    content = bytearray(Path("t.zip").read_bytes())
    content[60:80] = bytes(20)
    Path("t.zip").write_bytes(content)
    with pytest.raises(UnreadableTable, match="cannot unpack"):
        Relation("t.zip")


def test_the_index_can_be_named_and_is_kept_in_predictions() -> None:
    name = written([",x,g,y", *rows("{i},{x},{g},{y}")])
    assert open_table(name, target="y", features=["index", "x"]).names == ("index", "x")
    assert open_table(name, formula="y ~ .").names == ("x", "g[T.v]", "g[T.w]")


def test_the_index_of_pandas_in_parquet_is_left_out() -> None:
    frame = pd.DataFrame({"x": X, "g": G, "y": Y}, index=[f"r{i}" for i in range(N)])
    frame.to_parquet("t.parquet")
    frame.to_csv("t.csv")
    assert open_table("t.parquet", target="y").names == open_table("t.csv", target="y").names


def test_words_for_missing_values_are_found_in_every_file() -> None:
    Path("1.csv").write_text("s,y\n" + "a,1\nb,2\n" * 5)
    Path("2.csv").write_text("s,y\n" + "a,1\nn.a.,2\n" * 5)
    assert open_table("*.csv", target="y", missing="drop").names == ("s[T.b]",)


def test_files_with_different_separators_are_noted() -> None:
    Path("1.csv").write_text("x,y\n" + "".join(f"{i},{i % 7}\n" for i in range(1000, 1040)))
    Path("2.csv").write_text("x;y\n" + "".join(f"1.{i};{i % 7}\n" for i in range(100, 140)))
    words = "the values of 2.csv are not separated as those of the first file"
    assert any(words in note and "decimal= sets another" in note for note in Relation("*.csv").notes)
    assert not any(words in note for note in Relation("*.csv", FileOptions.of(decimal=".")).notes)


def test_blanks_around_texts_make_no_more_levels() -> None:
    rows = [f"{' ' * i}{'abc'[i % 3]},{y}" for i, y in enumerate(5 * Y)]
    assert open_table(written(["s,y", *rows]), target="y").names == ("s[T.b]", "s[T.c]")


def test_dates_of_any_year_are_days() -> None:
    dates = ["9999-12-31", "0024-04-03", "1970-01-02"]
    name = written(["d,y", *(f"{dates[i % 3]},{y}" for i, y in enumerate(Y))])
    model = LinearRegression().fit(open_table(name, target="y", dates=["d"]))
    days = [(date.fromisoformat(one) - date(1970, 1, 1)).days for one in dates]
    assert model.coef_ == pytest.approx(LinearRegression().fit([[days[i % 3]] for i in range(N)], Y).coef_)


def test_an_index_of_amounts_is_a_column() -> None:
    name = written(["index,y", *(f"{1000 + i * i},{y}" for i, y in enumerate(Y))])
    assert Relation(name).index is None
    assert Relation(written(["index,y", *(f"{i},{y}" for i, y in enumerate(Y))])).index == "index"


def test_malformed_lines_are_listed_with_their_numbers() -> None:
    name = written(["Title", "", "x,g,y", *rows(), "1,2", "1,2,3", *["1,2,3,4"] * 6])
    with pytest.raises(
        UnreadableTable, match=r"7 lines do not fit its 3 columns: line 16 has 2 values, line 18"
    ) as found:
        Relation(name)
    assert str(found.value).count("line ") == 5


def test_a_value_that_does_not_fit_later_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.sources.tables.relation.WHOLE_SAMPLE", 0)
    monkeypatch.setattr("adaline.sources.tables.text.SAMPLE", 5)
    name = written(["x;y", *(f"{x:.1f};{y}".replace(".", ",") for x, y in zip(X * 5, Y * 5, strict=True)), "high;3"])
    with pytest.raises(UnreadableTable, match=r"column 'x' holds 'high', not a value like '.*na="):
        LinearRegression().fit(open_table(name, target="y"))


def test_numbers_among_which_a_few_are_none_are_levels_or_left_out() -> None:
    few = written(["id,x,y", *(f"{'7a' if i == 3 else i % 3},{X[i]},{Y[i]}" for i in range(N))])
    found = open_data(DataRequest.of(few, target="y", shell=True))
    assert found.spec.features == ("id", "x")
    assert "column 'id' is coded by levels: it holds numbers, but also '7a'" in found.notes[0]
    assert "in line 5" in found.notes[0]
    assert "--na" in found.notes[0]
    many = written(["id,x,y", *(f"{'207a' if i == 3 else i},{i % 7},{i % 5}" for i in range(99))], "many.csv")
    found = open_data(DataRequest.of(many, target="y", shell=True))
    assert found.spec.features == ("x",)
    assert "column 'id' is left out: it holds numbers, but also '207a'" in found.notes[0]


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
    assert relation.count("TRUE") == N
    for sheet in ("More", 3, "3"):
        assert list(Relation(path, FileOptions(sheet=sheet)).schema) == ["a", "y"]
    with pytest.raises(InvalidParameter, match="no sheet 'Nope'; it has 'About', 'Data', 'More'"):
        Relation(path, FileOptions(sheet="Nope"))
    model = LinearRegression().fit(open_table(path, target="y", features=["x", "g"]))
    clean = LinearRegression().fit(open_table({"x": X, "g": G, "y": Y}, target="y"))
    assert model.coef_ == pytest.approx(clean.coef_)


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
    given = builtins.__import__

    def absent(module: str, *more: Any, **named: Any) -> Any:
        if module in ("python_calamine", "pyreadstat"):
            raise ImportError(module)
        return given(module, *more, **named)

    monkeypatch.setattr(builtins, "__import__", absent)
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


def test_compare_takes_the_options_and_gives_the_notes() -> None:
    name = written(["x;g;y", *(line.replace(".", ",") for line in rows("{x};{g};{y}"))])
    found = compare(name, "y", systems=["LinearRegression"], decimal=",", folds=3)
    assert any("decimal comma" in note for note in found.notes)
    assert "decimal=','" in DataRequest.of(name, target="y", decimal=",").call(DataRequest.of(name).spec)


@pytest.mark.parametrize(("options", "message"), [({"decimal": ";"}, "decimal is"), ({"na": 3}, "na is a word")])
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        open_table(written(["x,g,y", *rows()]), target="y", **options)


def test_a_model_is_saved_from_any_file() -> None:
    name = written(["Title", "x;y", *(line.replace(".", ",") for line in rows("{x};{y}"))], encoding="utf-16")
    model = LinearRegression().fit(open_table(name, target="y"))
    save(model, "m.adaline")
    assert load("m.adaline").feature_names_in_.tolist() == ["x"]


def column_of(values: list[str]) -> tuple[str, list[Any], str]:
    """Return the type of a column of these texts, its first values, and the notes."""
    name = written(["v\tz", *(f"{value}\t{i}.5" for i, value in enumerate(values * 5))])
    found = Relation(name)
    first = found.rows(f"SELECT v FROM {found.sql} LIMIT {len(values)}")
    return found.schema["v"], [value for (value,) in first], "; ".join(found.notes)


def test_a_currency_may_stand_beside_some_values_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kind, values, notes = column_of(["$358.19", "86.23", "1,200.50"])
    assert (kind, values) == ("DOUBLE", [358.19, 86.23, 1200.5])
    assert "the currency $ (5 of 15 values)" in notes
    assert column_of(["\u20ac5", "$5", "6"])[0] == "VARCHAR"


@pytest.mark.parametrize("values", [["12%", "5", "6.5%"], ["12%", "5\u2030", "6%"]])
def test_percentages_beside_plain_numbers_are_ambiguous(
    values: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert column_of(values)[0] == "VARCHAR"
    opened = open_data(DataRequest.of("t.csv", target="z", missing="drop"))
    assert "5 beside 12% may mean 5% or 500%" in " ".join(opened.notes)


@pytest.mark.parametrize(
    ("values", "read", "note"),
    [
        (["12 kg", "13.5 kg", "180kg", "5 KG"], [12, 13.5, 180, 5], "numbers with the unit kg, as '180kg': column 'v'"),
        (["1.234,5 cm", "3 cm", "7"], [1234.5, 3, 7], "points for thousands and the unit cm (10 of 15 values)"),
        (["-5 \u00b0C", "12\u00b0C", "-"], [-5, 12, None], "the unit \u00b0C"),
        (["1 room", "2 rooms"], [1, 2], "the unit room"),
        (["8 \u20ac/m\u00b2", "7 \u20ac/m\u00b2"], [8, 7], "the unit \u20ac/m\u00b2"),
    ],
)
def test_numbers_with_a_unit(values: list[str], read: list[Any], note: str) -> None:
    kind, found, notes = column_of(values)
    assert (kind, found) == ("DOUBLE", read)
    assert note in notes


@pytest.mark.parametrize(
    "values",
    [["200", "201a", "202"], ["12x", "13x"], ["12A", "3C", "14F"], ["5th Ave", "6th Ave"], ["7 Elm St", "8 Oak St"]],
)
def test_letters_behind_numbers_may_be_parts_of_names(values: list[str]) -> None:
    assert column_of(values)[0] == "VARCHAR"
    assert not Relation("t.csv").mixed_units("v")


def test_millions_are_numbers_unless_they_stand_beside_thousands() -> None:
    assert column_of(["1.25M", "3M", "0.75M"])[:2] == ("DOUBLE", [1.25, 3.0, 0.75])
    written(["v,z,y", *(f"{i}.5{'M' if i % 3 else 'k'},{i},{i * i}" for i in range(24))])
    opened = open_data(DataRequest.of("t.csv", target="y"))
    assert opened.nearly_numbers == {"v": "is left out: it holds numbers in different units, as '1.5M' and '0.5k'"}


def test_numbers_in_different_units_are_left_out() -> None:
    written(["v,z,y", *(f"{i} {'kg' if i % 3 else 'g'},{i},{i * i}" for i in range(24))])
    opened = open_data(DataRequest.of("t.csv", target="y"))
    note = "column 'v' is left out: it holds numbers in different units, as '1 kg' and '0 g': convert them to one unit"
    assert any(one.startswith(note) for one in opened.notes), opened.notes
    assert opened.nearly_numbers == {"v": "is left out: it holds numbers in different units, as '1 kg' and '0 g'"}
    with pytest.raises(InvalidData, match="the target 'v' holds numbers in different units"):
        open_data(DataRequest.of("t.csv", target="v"))
    assert "v" in (open_data(DataRequest.of("t.csv", target="y", categories=["v"])).spec.features or ())


def test_a_few_sizes_in_different_units_are_levels() -> None:
    written(["size,y", *(f"{('250 g', '500 g', '1 kg')[i % 3]},{i}" for i in range(24))])
    assert open_data(DataRequest.of("t.csv", target="size")).labels
    assert open_data(DataRequest.of("t.csv", target="y")).spec.features == ("size",)


@pytest.mark.parametrize(("one", "other"), [("mPa", "MPa"), ("Mg", "mg"), ("mL", "ML"), ("pA", "Pa"), ("Mb", "MB")])
def test_case_tells_units_apart(one: str, other: str) -> None:
    assert unit_key(one) != unit_key(other)
    assert unit_key("KG") == unit_key("kg")
    assert unit_key("person") == unit_key("Persons")


def test_infinity_is_missing_in_every_spelling() -> None:
    found = Relation(written(["x,y", "1,Inf", "2,-infinity", "3,INF", "4,5"]), FileOptions.of(na=["inf", "-inf"]))
    assert [y for (y,) in found.rows(f"SELECT y FROM {found.sql}")] == [None, None, None, 5]


def test_a_category_of_one_level_where_rows_are_complete_is_named() -> None:
    lines = [f"{i},{'US' if i else 'FR'},{'' if i == 0 else i % 4},{i * i}" for i in range(60)]
    found = compare(written(["x,country,z,y", *lines]), target="y", systems=["LinearRegression"])
    assert "country" in found.to_dict()["left_out"]
    assert any("country holds the same value in every row" in one.text for one in found.findings)


def test_a_number_has_one_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert column_of(["-$-5", "$5", "$6"])[0] == column_of(["-5-", "5-", "6"])[0] == "VARCHAR"
    assert column_of(["-$5", "$-5", "($6)", "5 $-"])[1] == [-5, -5, -6, -5]


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
    found = Relation(written(["x,y,g", *short]))
    assert found.row_name(13) == "line 16"
    found = Relation(written(["x,y,g", *short[:5], "x,y,g", *short[5:]]))  # a copy without a line, and one of that
    assert [found.row_name(i) for i in (4, 5, 13)] == ["line 6", "line 8", "line 17"]
    assert "line 16 has no values at the end, which are read as missing" in found.notes


def test_lines_of_files_are_named_whatever_the_order_of_their_columns() -> None:
    written(["x,g,y", *(f"{i},u,{i}" for i in range(4))], "s.csv")
    written(["a title", "", "y;g;x", "1;u;2", "", "3;v;4"], "t.csv")
    found = Relation(["s.csv", "t.csv"])
    assert [found.row_name(i) for i in (3, 4, 5)] == ["line 5 of s.csv", "line 4 of t.csv", "line 6 of t.csv"]
    assert found.rows(f"SELECT x, g, y FROM {found.sql} WHERE g = 'v'") == [(4, "v", 3)]


def test_findings_name_lines_of_files_whose_rows_have_several(tmp_path: Path) -> None:
    lines = [f'{i},{2 * i + (99 if i == 20 else i % 3)},"a{chr(10)}b"' for i in range(30)]
    written(["x,y,note", *lines])
    opened = read_data(DataRequest.of("t.csv", target="y"), lambda _: "regression", 0, None)
    assert opened.table.row_name(int(opened.table.y.argmax())) == "line 42"


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table", "records"])
def test_a_table_as_one_json_object(orient: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": X, "g": [*G[:-1], None], "y": Y})
    frame.to_json(tmp_path / "t.json", orient=orient)
    found = Relation(str(tmp_path / "t.json"))
    assert {"x": "DOUBLE", "g": "VARCHAR", "y": "DOUBLE"}.items() <= found.schema.items()
    assert [tuple(row) for row in found.rows(f"SELECT x, g, y FROM {found.sql}")] == list(
        zip(X, [*G[:-1], None], Y, strict=True)
    )
    frame.set_index(pd.Index([f"r{i}" for i in range(N)])).to_json(tmp_path / "labelled.json")
    assert Relation(str(tmp_path / "labelled.json")).index == "index"


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
    assert note in "".join(found.notes) if note else not found.notes


@pytest.mark.parametrize(
    "document", ['{"columns": ["x", "x", "y"], "data": [[1, 2, 3]]}', '{"x": [1], "x": [2], "y": [3]}']
)
def test_names_that_occur_twice_in_json_are_refused(document: str) -> None:
    with pytest.raises(UnreadableTable, match=r"two (columns|values) called 'x': rename one"):
        Relation(written([document], "t.json"))


def test_times_are_read_as_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kind, values, notes = column_of(["12:30:05", "26:00:01", "0:05", "-"])
    assert (kind, values) == ("DOUBLE", [45005, 93601, 300, None])
    assert "times with hours and minutes, read as seconds, as '26:00:01': column 'v'" in notes
    assert column_of(["12:30:05", "26:60:01", "x:05"])[0] == "VARCHAR"


def test_times_in_other_files_have_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    from pyarrow import parquet

    parquet.write_table(pa.table({"c": pa.array(range(N), pa.time32("s")), "x": X, "y": Y}), "t.parquet")
    opened = open_data(DataRequest.of("t.parquet", target="y"))
    assert "times of day" in opened.left_out["c"]
    query = opened.left_out["c"].partition(": ")[2].replace("...", "'t.parquet'")
    assert open_data(DataRequest.of(query, target="y")).spec.features == ("c", "x")


def test_quotes_after_a_backslash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f'"runner {i}", "JAM", {x}' for i, x in enumerate(X)]
    lines[7] = '"H. \\"Barney\\" Ewell", "USA", 8.0'
    found = Relation(written(["Name, Country, Time", *lines]))
    names = [name for (name,) in found.rows(f"SELECT Name FROM {found.sql}")]
    assert (len(names), names[7]) == (N, 'H. "Barney" Ewell')
    assert found.schema["Time"] == "DOUBLE"


def test_totals_below_a_compressed_table(tmp_path: Path) -> None:
    text = "\n".join(["x,g,y", *rows(), "Total,,164.5"]) + "\n"
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    found = Relation(str(tmp_path / "t.csv.gz"))
    assert found.count("TRUE") == N
    assert "line 14 below the table: 'Total', left out" in found.notes


@pytest.mark.parametrize("suffix", ["gz", "zip", "bz2", "zst"])
def test_what_unpacks_to_too_much_is_refused(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.sources.tables.files.MOST_UNPACKED", 2**18)
    monkeypatch.setattr("adaline.sources.tables.files.MOST_RATIO", 50)
    text, path = b"x,y\n" + b"0,0\n" * 2**18, tmp_path / f"t.csv.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("t.csv", text)
    else:
        pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": lambda data: pa.compress(data, "zstd", asbytes=True)}
        path.write_bytes(pack[suffix](text))
    refused = r"unpacks to more than 50 times its size.* unpack it first"
    with pytest.raises(UnreadableTable, match=refused):
        open_table(str(path), target="y")
    if suffix in ("gz", "zst"):
        with pytest.raises(UnreadableTable, match=refused):
            check_compressed([str(path)]).result()


def test_an_archive_in_an_archive_is_refused(tmp_path: Path) -> None:
    inner = gzip.compress(("\n".join(["x,g,y", *rows()]) + "\n").encode())
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as file:
        file.writestr("t.csv.gz", inner)
    (tmp_path / "t.csv.bz2").write_bytes(bz2.compress((tmp_path / "t.zip").read_bytes()))
    for name in ("t.zip", "t.csv.bz2"):
        with pytest.raises(UnreadableTable, match=f"{name} holds another archive: unpack it once"):
            Relation(str(tmp_path / name))


def test_rows_without_their_last_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["x,g,y", *(f"{i}.5,a,{2 * i}" for i in range(30))]
    lines[5] = "4.5,b"
    found = Relation(written(lines))
    assert found.rows(f"SELECT x, g, y FROM {found.sql} LIMIT 1 OFFSET 4") == [(4.5, "b", None)]
    assert "line 6 has no values at the end, which are read as missing" in found.notes
    lines[9] = "8.5"  # of x, or of y
    with pytest.raises(UnreadableTable, match=r"line 10 has 1 value.* sed -e 6d -e 10d -- t.csv > corrected.csv"):
        Relation(written(lines))
    subprocess.run("sed -e 6d -e 10d -- t.csv > corrected.csv", shell=True, check=True)
    assert Relation("corrected.csv").count("TRUE") == 28
    Path("cut.csv").write_text("\n".join([*lines[:5], *lines[6:9], *lines[10:], "30.5,a"]))  # perhaps of 30.5,ab,7
    with pytest.raises(UnreadableTable, match="line 30 has 2 values"):
        Relation("cut.csv")


def test_the_command_deletes_all_lines_of_a_malformed_row() -> None:
    lines = ["x,g,y", *rows()[:5], '7,"two', 'lines",3,4', *rows()[5:]]
    with pytest.raises(UnreadableTable, match=r"line 7 has 4 values.* sed -e 7,8d -- -t.csv > corrected.csv") as raised:
        Relation(written(lines, "-t.csv"))
    subprocess.run(str(raised.value).split("out: ")[1], shell=True, check=True)
    assert Relation("corrected.csv").count("TRUE") == N


@pytest.mark.parametrize("form", ["Jan 1 2000", "Jan 1, 2000", "1 Jan 2000", "1-Jan-00", "1.1.2000", "2000/1/1"])
def test_one_list_of_date_formats(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert column_of([form, form.replace("1", "3", 1), form.replace("1", "4", 1)])[0] in ("DATE", "TIMESTAMP")
    frame = {"t": [form] * 30, "x": list(range(30))}
    with pytest.raises(InvalidData, match="'t' holds dates"):
        open_data(DataRequest.of(frame, target="t"))


def test_numbers_beside_an_unnamed_column_of_labels_are_names() -> None:
    found = Relation(written([",142.24,144.78,147.32", *(f"9.{i},{i},0,{i % 3}" for i in range(6))]))
    assert list(found.schema) == ["index", "142.24", "144.78", "147.32"]
    bare = Relation(
        written([",142.24,144.78,147.32", "9.1,1,0,2", ",2,0,1", *(f"9.{i},{i},0,{i % 3}" for i in range(6))])
    )
    assert bare.count("TRUE") == 9


def test_semicolons_separate_values_that_have_commas() -> None:
    names = ["Meier, Hans", "Schulz, Eva", "Braun, Otto, Dr.", "Adam, Ina"]
    found = Relation(written(["name;y", *(f"{names[i % 4]};{i}" for i in range(12))]))
    assert (list(found.schema), found.notes) == (["name", "y"], ())


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["2015-01", "2015-02", "2016-12"], date(2015, 1, 1)),
        (["20230131", "20231201", "20240229"], date(2023, 1, 31)),
        (["Mar 2023", "Apr 2023", "Dec 2024"], date(2023, 3, 1)),
        (["March 2023", "April 2023", "May 2024"], date(2023, 3, 1)),
        (["Mar-23", "Apr-23", "Dec-24"], date(2023, 3, 1)),
    ],
)
def test_months_and_dates_without_signs_are_dates(texts: list[str], first: date) -> None:
    found = Relation(written(["x,d,y", *(f"{i}.5,{one},{i}" for i, one in enumerate(texts))]))
    assert found.kind("d") == "date"
    assert found.rows(f"SELECT d FROM {found.sql} LIMIT 1")[0][0] == first


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["2009-10", "2010-11", "2011-12"], "text"),  # seasons
        (["20230131", "20231301", "20240229"], "number"),
        (["20230131", "20231201"], "number"),
        (["2015-13", "2015-02", "2016-12"], "text"),
    ],
)
def test_what_only_looks_like_dates_is_none(texts: list[str], kind: str) -> None:
    found = Relation(written(["x,d,y", *(f"{i}.5,{one},{i}" for i, one in enumerate(texts))]))
    assert found.kind("d") == kind


def test_a_text_that_differs_in_every_row_is_no_feature() -> None:
    lines = ["id,x,y", *(f"K{(37 * i) % 1009},{i * i % 7},{i}" for i in range(12))]
    found = open_data(DataRequest.of(written(lines), target="y"))
    assert (found.spec.features, list(found.left_out)) == (("x",), ["id"])


@pytest.mark.parametrize("names", [("a.csv", "b.csv"), ("b.csv", "a.csv")])
def test_files_of_a_glob_are_read_by_the_columns_that_all_have(names: tuple[str, str]) -> None:
    written(["x,y", "1,2", "3,4"], names[0])
    written(["y;extra;x", "6;a;5", "8;b;7"], names[1])
    found = Relation("[ab].csv")
    assert sorted(found.rows(f"SELECT x, y FROM {found.sql}")) == [(1, 2), (3, 4), (5, 6), (7, 8)]
    assert "extra" not in found.schema
    assert f"column 'extra' is left out: {names[0]} has no column 'extra'" in found.notes[0]
    written(["y;extra;x", "6;a;5", "8;b"], names[1])
    with pytest.raises(UnreadableTable, match="line 3 has 2 values, but there are 3 columns"):
        Relation("[ab].csv")


def test_advice_on_units_agrees() -> None:
    lines = ["w,x,y", *(f"{i}{' m' if i % 9 == 0 else ''},{i * i % 7},{2 * i + i % 3}" for i in range(40))]
    found = open_data(DataRequest.of(written(lines), target="y"))
    assert "with a unit" in found.left_out["w"]
    assert "write all values in one unit, or without it" in found.left_out["w"]
    lines = ["w,x,y", *(f"{i} {('kg', 'lb')[i % 3 == 0]},{i * i % 7},{2 * i + i % 3}" for i in range(40))]
    text = mistyped_columns(open_data(DataRequest.of(written(lines), target="y")).nearly_numbers).text
    assert "Convert the values to one unit; then compare again" in text
    assert "missing values" not in text
