"""Files in local notation on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from adaline import LinearRegression, load, open_table
from adaline.coding.numerals import Notation, read_text
from adaline.errors import InvalidData
from tests.cli.command_line import Shell
from tests.sources.tables.test_reading import G, X, Y, rows, written


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def test_a_model_reads_new_files_as_the_one_it_was_fitted_to(shell: Shell) -> None:
    lines = ["Bericht;;", "Gr\u00f6\u00dfe;Art;Preis", *rows("{x};{g};{y} \u20ac")]
    written([line.replace(".", ",") for line in lines], "old.csv", "cp1252")
    shell.good("fit", "old.csv", "-t", "Preis", "-o", "m.adaline")
    wanted = [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "old.csv").rows]
    written(["Art,Gr\u00f6\u00dfe", *rows("{g},{x}")], "new.csv")
    found = [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "new.csv").rows]
    assert found == pytest.approx(wanted, rel=1e-12)
    assert "RMSE" in shell.good("score", "m.adaline", "old.csv", "--decimal", ",").out
    expected = load("m.adaline").coef_
    clean = {"Gr\u00f6\u00dfe": X, "Art": G, "Preis": Y}
    assert LinearRegression().fit(open_table(clean, target="Preis")).coef_ == pytest.approx(expected, rel=1e-9)


def values_read(shell: Shell, column: str, *options: str) -> list[Any]:
    """Return the values of a column as `predict` reads them."""
    lines = shell.good("predict", "m.adaline", "new.csv", "--json", *options).out.splitlines()
    return [json.loads(line)[column] for line in lines]


def test_a_model_remembers_the_notation_of_its_files(shell: Shell) -> None:
    written(["x;y", *(f"{i}.{100 + i},5;{2 * i},25" for i in range(1, 13))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(["x;y", "1.234;7,5", "2.345;9,5"], "new.csv")
    done = shell.good("predict", "m.adaline", "new.csv")
    assert [row["x"] for row in done.rows] == ["1.234", "2.345"]  # as it is written
    assert values_read(shell, "x") == [1234, 2345]
    assert "points for thousands, as '1.234': column 'x'" in done.err
    assert values_read(shell, "x", "--decimal", ".") == [1.234, 2.345]
    model = load("m.adaline")
    assert model.predict(open_table("new.csv")) == pytest.approx(model.predict(open_table({"x": [1234.0, 2345.0]})))
    assert shell.good("score", "m.adaline", "new.csv", "--json").json["targets"][0]["rmse"] < 8
    assert shell.good("effects", "m.adaline", "new.csv").code == 0
    shell.good("update", "m.adaline", "new.csv")
    assert load("m.adaline").coef_ == pytest.approx(model.partial_fit(open_table("new.csv", target="y")).coef_)


POINTS = ["x,y", *(f"{i}.125,{2 * i}.5" for i in range(1, 13))]
COMMAS = [line.replace(",", ";").replace(".", ",") for line in POINTS]


@pytest.mark.parametrize(
    ("old", "new", "values", "note"),
    [
        (COMMAS, ["x,z", "1.125,12.5", "2.125,7.5"], [1.125, 2.125], ""),  # z proves that points are decimal
        (COMMAS, ["x,k", "1.125,1", "2.125,2"], [1.125, 2.125], "decimal point, as '1.125': column 'x', unlike in the"),
        (
            COMMAS,
            ["x;k", "1.125;1", "2.125;2"],
            [1125, 2125],
            "points for thousands, as '1.125': column 'x', as in the",
        ),
        (POINTS, ["x;z", "1,125;12,5", "2,125;7,5"], [1.125, 2.125], ""),
        (POINTS, ["x;k", "1,125;1", "2,125;2"], [1.125, 2.125], "decimal comma, as '1,125': column 'x', unlike in the"),
        (POINTS, ["x;z", "1.125;5,5", "2.125;6,5"], [1125, 2125], "thousands, as '1.125': column 'x', unlike in the"),
    ],
)
def test_a_decimal_sign_belongs_to_a_file(
    shell: Shell, old: list[str], new: list[str], values: list[float], note: str
) -> None:
    written(old, "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(new, "new.csv")
    assert values_read(shell, "x") == values
    done = shell.good("predict", "m.adaline", "new.csv")
    assert f"{note} fit; --decimal" in done.err if note else "fit" not in done.err
    written([*new, f"abc{new[0][1]}1"], "new.csv")  # a bad value does not change how the others are read
    assert [row["prediction"] for row in shell.good("predict", "m.adaline", "new.csv").rows[:2]] == [
        row["prediction"] for row in done.rows
    ]


def test_a_model_remembers_words_for_missing_values_and_dates(shell: Shell) -> None:
    days = [f"{d:02}/03/2024" for d in range(8, 20)]
    written(["x,d,y", *(f"{i},{day},{2 * i}" for i, day in enumerate(days)), "-999,08/03/2024,4"], "old.csv")
    options = "--na", "-999", "--missing", "mean", "--dates", "d"
    shell.good("fit", "old.csv", "-t", "y", *options, "-o", "m.adaline")
    written(["x,d,y", "-999,08/03/2024,11", "3,09/03/2024,6"], "new.csv")
    done = shell.good("predict", "m.adaline", "new.csv")
    assert values_read(shell, "x") == [None, 3]
    assert values_read(shell, "d") == ["2024-03-08", "2024-03-09"]
    assert float(done.rows[0]["prediction"]) == pytest.approx(4)
    model = load("m.adaline")
    assert model.coding_.na == ("-999",)
    assert model.predict(open_table("new.csv"))[0] == pytest.approx(float(done.rows[0]["prediction"]))
    assert values_read(shell, "x", "--na", "x")[0] == -999


def test_text_among_local_numbers_is_one_empty_prediction(shell: Shell) -> None:
    written(["x;y", *(f"{i},5;{2 * i},25" for i in range(1, 13))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(["x;z", "1,5;a", "abc;b", "2,5;c"], "new.csv")
    found = shell.good("predict", "m.adaline", "new.csv").rows
    assert [row["reason"] for row in found] == ["", "non-numeric value 'abc' of x", ""]
    assert float(found[2]["prediction"]) - float(found[0]["prediction"]) == pytest.approx(2)
    written(["x;z", "-;a", "k.A.;b"], "gaps.csv")
    found = shell.good("predict", "m.adaline", "gaps.csv").rows
    assert [row["reason"] for row in found] == ["missing value of x"] * 2


def test_a_value_that_is_no_date_is_one_empty_prediction(shell: Shell) -> None:
    written(["d,x,y", *(f"{1 + i % 9}/{13 + i}/2023,{i * i % 7},{2 * i}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "--dates", "d", "-o", "m.adaline")
    written(["d,x", "3/14/2023,4", "unknown,5", ",5", "2023-03-14,4", "14.3.2023,4"], "new.csv")
    found = shell.good("predict", "m.adaline", "new.csv").rows
    reasons = ["", "invalid date 'unknown' of d", "missing value of d", "", "invalid date '14.3.2023' of d"]
    assert [row["reason"] for row in found] == reasons
    assert found[0]["prediction"] == found[3]["prediction"] != ""
    assert "averages over 2 rows" in shell.good("effects", "m.adaline", "new.csv").out
    for value, reason in (("", "missing value of d"), ("45000", "invalid date '45000' of d")):
        written(["d,x", f"{value},4", f"{value},4"], "new.csv")
        assert [row["reason"] for row in shell.good("predict", "m.adaline", "new.csv").rows] == [reason] * 2
    written(["d,x,y", "3/14/2023,4,1", "unknown,5,2", "3/15/2023,1,3"], "new.csv")
    for command in ("score", "update"):
        done = shell.good(command, "m.adaline", "new.csv", *(["-o", "more.adaline"] if command == "update" else []))
        assert "note: 1 of 3 rows is left out: invalid date of d in line 3 (1)" in done.err
    written(["d,x,y", "soon,4,1", "unknown,5,2"], "new.csv")
    for command in ("score", "update"):
        assert "column 'd' holds text, and the model was fitted to dates" in shell.bad(command, "m.adaline", "new.csv")


def test_one_unreadable_number_costs_its_row_alone(shell: Shell) -> None:
    written(["x,y", *(f"{i}.5,{2 * i}.25" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    for bad in ("abc", "12.5"):
        written(["x;y", "1,5;2,25", f"{bad};5,0", "2,5;4,25", "k.A.;5,0", "3,5;oops"], "new.csv")
        reasons = ["", f"non-numeric value '{bad}' of x", "", "missing value of x", ""]
        for options in ((), ("--decimal", ",")):
            found = shell.good("predict", "m.adaline", "new.csv", *options).rows
            assert [row["reason"] for row in found] == reasons
            assert float(found[2]["prediction"]) == pytest.approx(4.25)
        told = (
            "note: 3 of 5 rows are left out: missing value of x (1), non-numeric value of x in line 3 (1), non-numeric "
            "value of y in line 6 (1)"
        )
        done = shell.good("score", "m.adaline", "new.csv", "--json")
        assert told in done.err
        assert (done.json["rows"], done.json["left_out"]) == (2, 3)
        done = shell.good("update", "m.adaline", "new.csv", "-o", "more.adaline", "--json")
        assert done.json["rows_after"] - done.json["rows_before"] == 2
        assert "non-numeric value of x in line 3 (1), non-numeric value of y in line 6 (1)" in done.err
    written(["x;y", "abc;1,5", "2,5;oops"], "new.csv")
    assert "can read no row of new.csv: non-numeric value of x in line 2 (1)" in shell.bad(
        "score", "m.adaline", "new.csv"
    )


@pytest.mark.parametrize("lines", [["x,y", "0.5,1", "abc,2"], ["x;y", "0,5;1", "abc;2"]])
def test_plain_numbers_beside_an_unreadable_one_are_not_read_one_by_one(
    lines: list[str], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(["x,y", *(f"{i}.5,{2 * i}.25" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written([*lines, *(f"{i}{lines[1][1:]}" for i in range(1, 90))], "new.csv")
    read: list[str] = []

    def noted(value: str, kind: str, notation: Notation | None) -> tuple[Any, str]:
        read.append(value)
        return read_text(value, kind, notation)

    monkeypatch.setattr("adaline.sources.tables.unreadable.read_text", noted)
    monkeypatch.setattr("adaline.sources.tables.unreadable.SAMPLE", 10)
    done = shell.good("score", "m.adaline", "new.csv", "--json")
    assert (done.json["rows"], done.json["left_out"]) == (90, 1)
    assert len(read) == 2 * 10 + 1  # of two decimal signs, and the one that is no number


def test_lines_are_those_of_the_file_also_beside_rows_left_out(shell: Shell) -> None:
    written(["x,g,y", *(f"{i},{'ab'[i % 2]},{2 * i + i % 3}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(["x,g,y", "1,a,2", "abc,a,3", "2,zz,4", "inf,b,5", "3,a,6"], "new.csv")
    assert "first at line 5, column 'x'" in shell.bad("score", "m.adaline", "new.csv")
    written(["x,g,y", "1,a,2", "abc,a,3", "inf,b,5", "3,a,6"], "new.csv")
    assert "first at line 4, column 'x'" in shell.bad("update", "m.adaline", "new.csv", "-o", "more.adaline")


def test_rows_before_others_are_not_left_out_where_a_model_has_lags(shell: Shell) -> None:
    values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    rows = (f"{x},{10 * before + x}" for before, x in zip([0, *values], values, strict=False))
    written(["x,y", *rows], "old.csv")
    shell.good("fit", "old.csv", "--formula", "y ~ x + lag(x, 1)", "-o", "m.adaline")
    written(["x,y", "1,1", "2,12", "abc,99", "4,24", "5,45"], "new.csv")  # 24 would follow from 2, two rows before
    for command in ("score", "update"):
        told = shell.bad(command, "m.adaline", "new.csv", *(["-o", "more.adaline"] if command == "update" else []))
        assert "non-numeric value of x in line 4 (1); the model has lags" in told
    reasons = [row["reason"] for row in shell.good("predict", "m.adaline", "new.csv").rows]
    assert reasons[2:] == ["non-numeric value 'abc' of x", "non-numeric value 'abc' of lag(x, 1)", ""]


def test_a_table_is_scored_in_its_own_notation_beside_columns_that_are_not_used(shell: Shell) -> None:
    written(["id,x,y", *(f"{i:03},{i}.5,{2 * i}.25" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(["id;x;y", *(f"{i:03};{i},5;{2 * i},25" for i in range(12))], "new.csv")
    assert shell.good("score", "m.adaline", "new.csv", "--json").json["targets"][0]["rmse"] < 1e-9


def test_a_table_without_the_target_is_refused_by_its_name(shell: Shell) -> None:
    written(["x,price (EUR)", *(f"{i},{2 * i}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "price (EUR)", "-o", "m.adaline")
    written(["x", "1", "2"], "new.csv")
    for command in ("score", "update"):
        assert "new.csv has no column 'price (EUR)'" in shell.bad(command, "m.adaline", "new.csv")


def test_an_empty_column_of_dates_is_filled(shell: Shell) -> None:
    written(["date,y", *(f"2024-01-{1 + i:02},{2 * i}" for i in range(12)), ",5", ",7"], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "--dates", "date", "--missing", "indicator", "-o", "m.adaline")
    written(["date,y", ",5", ",7"], "new.csv")
    found = shell.good("predict", "m.adaline", "new.csv").rows
    assert [float(row["prediction"]) for row in found] == pytest.approx([6, 6])
    assert shell.good("score", "m.adaline", "new.csv").code == 0


def test_a_value_that_is_no_time_or_boolean_is_one_empty_prediction(shell: Shell) -> None:
    lines = (f"{8 + i % 3}:{10 + i},{'true' if i % 2 else 'false'},{i * i % 7}" for i in range(12))
    written(["t,b,y", *lines], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(["t,b", "9:30,true", "late,true", ",true", "9:30 AM,True", "9:30,yes"], "new.csv")
    found = shell.good("predict", "m.adaline", "new.csv").rows
    reasons = ["", "invalid time 'late' of t", "missing value of t", "", "invalid boolean 'yes' of b"]
    assert [row["reason"] for row in found] == reasons
    assert found[0]["prediction"] == found[3]["prediction"] != ""


def test_only_the_notation_of_the_fit_is_read_beside_text(shell: Shell) -> None:
    written(["x,y", *(f"0.{10 + i},{2 * i}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(["x", "0.5", "12%", '"1,500"', "$5", "(5)"], "new.csv")
    found = [row["reason"] for row in shell.good("predict", "m.adaline", "new.csv").rows]
    other = "value in another unit {} of x"
    wrong = "non-numeric value {} of x"
    assert found == ["", other.format("'12%'"), wrong.format("'1,500'"), other.format("'$5'"), wrong.format("'(5)'")]
    assert load("m.adaline").coding_.notations == ()
    written(["x,z", "12%,1", "13%,2"], "new.csv")
    found = [row["reason"] for row in shell.good("predict", "m.adaline", "new.csv").rows]
    assert found == [other.format("'12%'"), other.format("'13%'")]


def test_numbers_for_a_model_of_percents_are_noted(shell: Shell) -> None:
    written(["x,y", *(f"{10 + i}%,{2 * i}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    for value in ("0.12", "12"):
        written(["x", value, value], "new.csv")
        done = shell.good("predict", "m.adaline", "new.csv")
        assert f"no %, which those of the fit have (12 is read as 12%), as '{value}': column 'x'" in done.err
    parquet.write_table(pa.table({"x": [0.12, 0.5]}), "new.parquet")
    done = shell.good("predict", "m.adaline", "new.parquet")
    assert "no %, which those of the fit have (12 is read as 12%): column 'x'" in done.err
    assert "column 'x' holds values between -1 and 1, as 0.5, and the fit had percentages" in done.err
    written(["x", "0.5%", "0.7%"], "new.csv")
    assert "values between" not in shell.good("predict", "m.adaline", "new.csv").err
    written(["x", "12%", "0.12", "oops"], "new.csv")
    found = [row["reason"] for row in shell.good("predict", "m.adaline", "new.csv").rows]
    assert found == ["", "value in another unit '0.12' of x", "non-numeric value 'oops' of x"]


@pytest.mark.parametrize("name", ["new.csv", "new.jsonl"])
def test_a_bad_value_among_numbers_for_a_model_of_percents_costs_its_row_alone(shell: Shell, name: str) -> None:
    written(["x,y", *(f"{10 + i}%,{2 * i}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    values = ["12", "oops", "0", "13"]
    rows = ["x", *values] if name.endswith("csv") else [f'{{"x": {json.dumps(one)}}}' for one in (12, "oops", 0, 13)]
    done = shell.good("predict", "m.adaline", written(rows, name))
    assert [bool(row["reason"]) for row in done.rows] == [False, True, False, False]
    assert "no %, which those of the fit have (12 is read as 12%): column 'x'" in done.err
    parquet.write_table(pa.table({"x": [0.0, 0.5]}), "new.parquet")
    assert "if 0.5 stands for 50%" in shell.good("predict", "m.adaline", "new.parquet").err


def test_new_files_are_read_in_the_unit_of_the_fit(shell: Shell) -> None:
    written(["x,y", *(f"{10 + i} kg,{2 * i}" for i in range(12))], "old.csv")
    assert "numbers with the unit kg" in shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline").err
    assert load("m.adaline").coding_.notations == (Notation(".", "kg", ("x",)),)
    other = "value in another unit {} of x"
    for values, reasons in (
        (["12kg", "12 KG"], ["", ""]),
        (["12", "12.5"], ["", ""]),
        (["12 g", "13 g"], [other.format("'12 g'"), other.format("'13 g'")]),
        (["12 kg", "12 g", "12"], ["", other.format("'12 g'"), ""]),
    ):
        written(["x", *values], "new.csv")
        done = shell.good("predict", "m.adaline", "new.csv")
        assert [row["reason"] for row in done.rows] == reasons
        noted = "no kg, which those of the fit have (12 is read as 12 kg)" in done.err
        assert noted == (values == ["12", "12.5"])


def test_fit_leaves_out_a_constant_column(shell: Shell) -> None:
    written(["x,c,s,y", *(f"{i},7,a,{2 * i}" for i in range(12))], "old.csv")
    done = shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    assert "column 'c' is left out: it holds the same value in every row" in done.err
    assert "column 's' is left out: it holds the same value in every row" in done.err
    written(["x", "3", "4"], "new.csv")
    assert [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "new.csv").rows] == [6, 8]
    shell.good("fit", "old.csv", "-t", "y", "--features", "x,c", "-o", "m.adaline")
    assert "no column 'c'" in shell.bad("predict", "m.adaline", "new.csv")


def test_predict_keeps_totals_without_a_prediction(shell: Shell) -> None:
    written(["x,g,y", *rows()], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(["x,g", *rows("{x},{g}"), "Total,81.75"], "new.csv")
    done = shell.good("predict", "m.adaline", "new.csv")
    assert len(done.rows) == 13
    assert list(done.rows[-1].values()) == ["Total", "81.75", "", "total of the table"]
    assert "1 of 13 rows has no prediction: total of the table (1)" in done.err
    assert "left out" not in done.err
    shell.good("predict", "m.adaline", "new.csv", "-o", "new.parquet")
    assert parquet.read_table("new.parquet").num_rows == 13
    assert "total of the table" in shell.bad("predict", "m.adaline", "new.csv", "--strict")
    written(["x,g", *rows("{x},{g}"), "Total,81.75", "Source: the office"], "new.csv")
    assert len(shell.good("predict", "m.adaline", "new.csv").rows) == 13


def test_a_total_below_dates_leaves_them_dates(shell: Shell) -> None:
    lines = [f"{1 + i % 9}/{13 + i}/2023,{i * i % 7},{2 * i}" for i in range(12)]
    written(["d,x,y", *lines, "Total,99,999"], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "--dates", "d", "-o", "m.adaline")
    assert "line 14 below the table: 'Total', left out" in shell.good("score", "m.adaline", "old.csv").err
    assert "column 'd' is left out: it holds dates" in shell.good("fit", "old.csv", "-t", "y").err


def test_rows_of_a_file_are_named_by_their_lines(shell: Shell) -> None:
    lines = ["a title", "", "x,z,c,y,w", *(f"{i},{i * i % 7},{'ab'[i % 2]},{2 * i},1" for i in range(20))]
    written(lines, "good.csv")
    shell.good("fit", "good.csv", "-t", "y", "--drop", "w", "-o", "m.adaline")
    bad = list(lines)
    bad[5], bad[10] = ",4,a,4,1", "inf,0,b,14,1"
    written(bad, "bad.csv")
    assert "infinity: first at line 11, column 'x' of bad.csv. Drop" in shell.bad("fit", "bad.csv", "-t", "y")
    with pytest.raises(InvalidData, match="infinity: first at line 11, column 'x'"):
        LinearRegression().fit(open_table("bad.csv", target="y", missing="drop"))
    bad = list(lines)
    bad[8], bad[12] = "5,4,q,10,-1", "9,4,q,-18,1"
    written(bad, "bad.csv")
    assert "bad.csv, line 9: unseen level 'q' of c" in shell.bad("predict", "m.adaline", "bad.csv", "--strict")
    update = "update", "m.adaline", "bad.csv", "-o", "u.adaline"
    assert "unseen level of c in lines 9, 13 (2)" in shell.bad(*update, "--strict")
    assert "unseen level of c in lines 9, 13 (2)" in shell.good(*update).err
    assert "column 'w' is -1 at line 9" in shell.bad("fit", "bad.csv", "-t", "y", "--weight", "w")
    poisson = "GeneralizedLinear(loss='poisson')"
    assert "the target is -18 at line 13" in shell.bad("fit", "bad.csv", "-t", "y", "--system", poisson)


def test_words_for_missing_values_may_be_levels(shell: Shell) -> None:
    regions = ["NA", "EU", "NA", "None"] * 4
    written(["region,x,y", *(f"{region},{i if i else 'NA'},{i % 5}" for i, region in enumerate(regions))], "t.csv")
    done = shell.good("fit", "t.csv", "-t", "y", "--missing", "indicator")
    assert "'NA' (8) and 'None' (4) in 'region' counted as missing, --na '' keeps such words as levels" in done.err
    done = shell.good("fit", "t.csv", "-t", "y", "--na", "", "-o", "m.adaline")
    assert "15 rows (1 row with gaps left out)" in done.out  # NA stays missing among numbers
    assert load("m.adaline").coding_.columns[0].levels == ("EU", "NA", "None")
    found = shell.good("predict", "m.adaline", "t.csv").rows
    assert [row["reason"] for row in found] == ["missing value of x", *[""] * 15]
    told = shell("fit", "t.csv", "-t", "region").err  # of one class, which is refused
    assert "12 of 16 rows are left out: no value of region; 'NA' (8) and 'None' (4) in 'region'" in told


@pytest.mark.parametrize(("text", "word"), [("1e400", "inf"), ("-1e400", "-inf"), ("1E+999", "+inf")])
def test_numbers_that_overflow_are_infinite(text: str, word: str, shell: Shell) -> None:
    for separator, sign in (",.", ";,"):
        rows = (f"{text if i == 5 else f'{i}{sign}5'}{separator}{i}" for i in range(12))
        written([f"x{separator}y", *rows], "t.csv")
        assert "contains infinity: first at line 7, column 'x'" in shell.bad("fit", "t.csv", "-t", "y")
        assert "11 rows (1 row with gaps left out)" in shell.good("fit", "t.csv", "-t", "y", f"--na={word}").out


def test_columns_are_copied_as_they_are_written(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    written(["id,x,day,y", *(f"{i:03},{i}.50,{i:02}/02/2024,{2 * i}" for i in range(1, 13))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "--features", "x", "-o", "m.adaline")
    lines = ["id,x,day,y", "007,1.50,31/12/2024,NA", "008,1e0,n.a.,", "009,abc,,2.0"]
    content = Path(written(lines, "new.csv")).read_bytes()
    for name in ("new.csv", "-"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))
        out = shell.good("predict", "m.adaline", name).out.splitlines()
        assert [line.rsplit(",", 2)[0] for line in out] == lines
        assert out[3].endswith(",,non-numeric value 'abc' of x")
    shell.good("predict", "m.adaline", "new.csv", "--keep", "y,id", "-o", "out.tsv")
    kept = [line.split("\t")[:2] for line in Path("out.tsv").read_text().splitlines()]
    assert kept[1:3] == [["NA", "007"], ["", "008"]]


def test_a_text_among_numbers_of_json_is_shown_without_its_quotes(shell: Shell) -> None:
    written(["x,y", *(f"{i},{2 * i}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    written(['{"x": 1.5}', '{"x": "abc"}'], "new.json")
    found = shell.good("predict", "m.adaline", "new.json").rows
    assert [(row["x"], row["reason"]) for row in found] == [("1.5", ""), ("abc", "non-numeric value 'abc' of x")]


def test_levels_are_found_whatever_the_blanks_around_them(shell: Shell) -> None:
    rows = (f"{1 + i % 3},{'ab'[i % 2]},{i % 5}" for i in range(12))
    written(["zone,g,y", *rows], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "--categories", "zone", "-o", "m.adaline")
    written(["zone,g", "1,a", "1, a", "2,b ", "x,a", "3,B"], "new.csv")
    found = shell.good("predict", "m.adaline", "new.csv").rows
    reasons = ["", "", "", "unseen level 'x' of zone", "unseen level 'B' of g (the fit has 'b')"]
    assert [row["reason"] for row in found] == reasons
    assert found[0]["prediction"] == found[1]["prediction"] != ""


def test_postal_codes_are_levels_whether_named_or_not(shell: Shell) -> None:
    written(["zip,x,y", *(f"0{1000 + i % 4},{i * i % 7},{i % 5}" for i in range(12))], "t.csv")
    note = "column 'zip' is coded by levels: it holds numbers as text: turn them into numbers if they are amounts\n"
    for options in ((), ("--features", "zip,x")):
        done = shell.good("fit", "t.csv", "-t", "y", *options)
        assert done.err.startswith(f"note: {note}")
        assert "zip[T.01003]" in done.out
    written(["zip,x,y", *(f"0{1000 + i},{i * i % 7},{i % 5}" for i in range(30))], "t.csv")  # one level a row
    remedy = "numbers as text: turn them into numbers if they are amounts, or name it in --categories to code them"
    assert f"column 'zip' is left out: it holds {remedy}" in shell.good("fit", "t.csv", "-t", "y").err
    assert f"column 'zip' holds {remedy}" in shell.bad("fit", "t.csv", "-t", "y", "--features", "zip,x")


def test_a_target_of_one_value_is_no_set_of_classes(shell: Shell) -> None:
    written(["x,y", *(f"{i * i % 7},7" for i in range(12))], "t.csv")
    done = shell.good("fit", "t.csv", "-t", "y")
    assert "the target has the same value in every row" in done.out
    assert "whole numbers" not in done.err


@pytest.mark.parametrize("word", ["x", "yes", "1"])
def test_a_column_that_is_ticked_or_empty_costs_no_rows(shell: Shell, word: str) -> None:
    ticked = [i % 3 == 0 for i in range(12)]
    lines = ["x,tick,y", *(f"{i * i % 7}.5,{word if one else ''},{2 * i + 3 * one}" for i, one in enumerate(ticked))]
    written(lines, "old.csv")
    done = shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    assert f"column 'tick' holds '{word}' or nothing and is read as yes or no" in done.err
    assert load("m.adaline").feature_names_in_.tolist() == ["x", f"tick[T.{word}]"]
    found = shell.good("predict", "m.adaline", "old.csv").rows
    assert all(row["prediction"] for row in found)
    written(["x,tick", "1.5,"], "new.csv")
    parquet.write_table(pa.table({"x": [1.5], "tick": pa.array([None], pa.string())}), "new.parquet")
    both = [shell.good("predict", "m.adaline", name).rows[0]["prediction"] for name in ("new.csv", "new.parquet")]
    assert both[0] == both[1] != ""
    for options in ([], ["-t", "y"]):
        assert shell.good("score", "m.adaline", "old.csv", "--json", *options).json["rows"] == 12
    assert "24 rows after" in shell.good("update", "m.adaline", "old.csv").out


def test_a_text_with_few_gaps_is_no_box_to_tick(shell: Shell) -> None:
    written(["x,g,y", *(f"{i},{'' if i == 7 else 'DE'},{2 * i + i % 2}" for i in range(20))], "old.csv")
    assert "yes or no" not in shell.good("fit", "old.csv", "-t", "y").err


def test_underscores_are_no_part_of_a_number(shell: Shell) -> None:
    written(["x,k,y", *(f"{i},{10 + i % 3},{2 * i + i % 3}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "--categories", "k", "-o", "m.adaline")
    written(["x,k", "1,1_0", "1_0,11", "1,12"], "new.csv")
    found = [row["reason"] for row in shell.good("predict", "m.adaline", "new.csv").rows]
    assert found == ["unseen level '1_0' of k", "non-numeric value '1_0' of x", ""]


def test_blanks_around_texts_are_no_part_of_a_level(shell: Shell) -> None:
    g = ["red ", "red", " blue", "blue", "green", "red\t"]
    written(["g,y", *(f"{one},{i}" for i, one in enumerate(g))], "old.csv")
    parquet.write_table(pa.table({"g": g, "y": range(6)}), "old.parquet")
    for name in ("old.csv", "old.parquet"):
        shell.good("fit", name, "-t", "y", "-o", "m.adaline")
        assert load("m.adaline").feature_names_in_.tolist() == ["g[T.green]", "g[T.red]"]
        assert "Levels in several spellings" not in shell.good("compare", name, "-t", "y").out


def test_words_for_gaps_are_no_levels(shell: Shell) -> None:
    g = ["a", "b", "n.a.", "-", "k.A.", "a", "b", "b", "a", "b"]
    written(["g,rh,y", *(f"{one},{'+-'[i % 3 % 2]},{i}" for i, one in enumerate(g))], "old.csv")
    done = shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    assert load("m.adaline").feature_names_in_.tolist() == ["g[T.b]", "rh[T.-]"]  # - is a level beside +
    assert "'-' (1) and 'k.A.' (1) and 'n.a.' (1) in 'g' counted as missing, --na '' keeps such words" in done.err
    written(["g,rh", "n.a.,-"], "new.csv")
    assert shell.good("predict", "m.adaline", "new.csv").rows[0]["reason"] == "missing value of g"
    written(["g,rh", "a,-", "a, - "], "new.csv")
    first, padded = shell.good("predict", "m.adaline", "new.csv").rows
    assert first["prediction"] == padded["prediction"] != ""
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline", "--na", "")
    assert "g[T.n.a.]" in load("m.adaline").feature_names_in_
    written(["g,rh", "n.a.,-", "b,+"], "new.csv")
    assert all(row["prediction"] for row in shell.good("predict", "m.adaline", "new.csv").rows)
    expected = load("m.adaline").predict(pd.DataFrame({"g": ["n.a.", "b"], "rh": ["-", "+"]}))
    assert load("m.adaline").predict(open_table("new.csv")) == pytest.approx(expected)


@pytest.mark.parametrize("word", ["a,b", 'so "what"'])
def test_words_for_missing_values_may_have_separators_and_quotes(shell: Shell, word: str) -> None:
    cell = '"' + word.replace('"', '""') + '"'
    written(["x,y", *(f"{cell if i == 3 else i},{2 * i + i % 2}" for i in range(12))], "old.csv")
    argument = cell if "," in word else word
    done = shell.good("fit", "old.csv", "-t", "y", "--na", argument)
    assert "11 rows (1 row with gaps left out)" in done.out
    assert open_table("old.csv", target="y", na=word, missing="drop").n_rows == 11


def test_a_bad_value_costs_its_row_alone_in_any_file(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    written(["x,y", *(f"{i}.5,{2 * i + i % 2}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    Path("parts").mkdir()
    written(["x,y", "1.5,3"], "parts/1.csv")
    written(["x,y", "abc,4", "2.5,6"], "parts/2.csv")
    rows = [{"x": 1.5, "y": 3}, {"x": "abc", "y": 4}, {"x": 2.5, "y": 6}]
    written([json.dumps(row) for row in rows], "new.jsonl")
    parquet.write_table(pa.table({"x": ["1.5", "abc", "2.5"], "y": [3, 4, 6]}), "new.parquet")
    for name in ("parts/*.csv", "new.jsonl", "new.parquet", "-"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("new.jsonl").read_bytes())))
        found = shell.good("predict", "m.adaline", name, "--json").out.splitlines()
        reasons = [json.loads(line)["reason"] for line in found]
        assert reasons == [None, "non-numeric value 'abc' of x", None]
        if name != "-":
            assert [json.loads(line)["x"] for line in found] == [1.5, None, 2.5]
            assert shell.good("score", "m.adaline", name, "--json").json["rows"] == 2
            assert "14 rows after" in shell.good("update", "m.adaline", name, "-o", "other.adaline").out


def test_a_bad_value_beyond_the_first_rows_costs_its_row_alone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    written(["x,y", *(f"{i}.5,{2 * i + i % 2}" for i in range(12))], "old.csv")
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    monkeypatch.setattr("adaline.sources.tables.relation.WHOLE_SAMPLE", 1)
    monkeypatch.setattr("adaline.sources.tables.text.SAMPLE", 2048)
    written(["x,y", *(f"{i % 9}.5,1" for i in range(5000)), "abc,3", "1.5,4"], "new.csv")
    found = shell.good("predict", "m.adaline", "new.csv").rows
    assert [row["reason"] for row in found[-2:]] == ["non-numeric value 'abc' of x", ""]
