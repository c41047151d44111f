"""Files in local notation on the command line: what is read, and what one bad value costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from adaline import LinearRegression, load, open_table
from adaline.coding.numerals import Notation, read_text
from adaline.errors import InvalidData
from tests.cli.command_line import Shell, written


def lines(head: str, row: Callable[[int], str], numbers: Sequence[int] = range(12)) -> list[str]:
    """Return a table of a row for each number."""
    return [head, *map(row, numbers)]


PLAIN = lines("x,y", lambda i: f"{i}.5,{2 * i}.25")
LOCAL = lines("x;y", lambda i: f"{i},5;{2 * i},25")
LEVELS = lines("x,g,y", lambda i: f"{i},{'uvw'[i % 3]},{2 * i + i % 5}")
PERCENTS = lines("x,y", lambda i: f"{10 + i}%,{2 * i}")
DATES = lines("d,x,y", lambda i: f"{1 + i % 9}/{13 + i}/2023,{i * i % 7},{2 * i}")
OTHER, WRONG = "value in another unit {!r} of x", "non-numeric value {!r} of x"


TIMES = lines("t,b,y", lambda i: f"{8 + i % 3}:{10 + i},{'true' if i % 2 else 'false'},{i * i % 7}")
ZONES = lines("zone,g,y", lambda i: f"{1 + i % 3},{'ab'[i % 2]},{i % 5}")
KINDS = lines("x,k,y", lambda i: f"{i},{10 + i % 3},{2 * i + i % 3}")
UNITS = (OTHER, WRONG, OTHER, WRONG)
BAD: list[tuple[list[str], str, str, list[str]]] = [
    (LOCAL, "", "x;z|1,5;a|abc;b|2,5;c", ["", WRONG.format("abc"), ""]),
    (LOCAL, "", "x;z|-;a|k.A.;b", ["missing value of x"] * 2),
    (DATES, "--dates d", "d,x|3/14/2023,4|2023-03-14,4|unknown,5", ["", "", "invalid date 'unknown' of d"]),
    (DATES, "--dates d", "d,x|3/14/2023,4|14.3.2023,4|,5", ["", "invalid date '14.3.2023' of d", "missing value of d"]),
    (DATES, "--dates d", "d,x|,4|,4", ["missing value of d"] * 2),
    (DATES, "--dates d", "d,x|45000,4|45000,4", ["invalid date '45000' of d"] * 2),
    (TIMES, "", "t,b|9:30,true|9:30 AM,True|late,true", ["", "", "invalid time 'late' of t"]),
    (TIMES, "", "t,b|9:30,true|,true|9:30,yes", ["", "missing value of t", "invalid boolean 'yes' of b"]),
    (PLAIN, "", 'x|0.5|12%|"1,500"|$5|(5)', ["", *map(str.format, UNITS, ("12%", "1,500", "$5", "(5)"))]),
    (PLAIN, "", "x,z|12%,1|13%,2", [OTHER.format("12%"), OTHER.format("13%")]),
    (PERCENTS, "", "x|12%|0.12|oops", ["", OTHER.format("0.12"), WRONG.format("oops")]),
    (ZONES, "--categories zone", "zone,g|1,a|1, a|x,a", ["", "", "unseen level 'x' of zone"]),
    (ZONES, "--categories zone", "zone,g|2,b|2,b |3,B", ["", "", "unseen level 'B' of g (the fit has 'b')"]),
    (KINDS, "--categories k", "x,k|1,1_0|1_0,11|1,12", ["unseen level '1_0' of k", WRONG.format("1_0"), ""]),
]


@pytest.mark.parametrize(("old", "options", "new", "reasons"), BAD)
@pytest.mark.every
def test_a_bad_value_is_one_empty_prediction(
    old: list[str], options: str, new: str, reasons: list[str], shell: Shell
) -> None:
    """Rows that begin a table and have a prediction are the same, written in two ways."""
    shell.fit(old, *options.split())
    assert shell.reasons(new.split("|")) == reasons
    if reasons[:2] == ["", ""]:
        one, other, *_ = shell.predict(new.split("|")).rows
        assert one["prediction"] == other["prediction"]


def test_a_model_reads_new_files_as_the_one_it_was_fitted_to(shell: Shell) -> None:
    rows = [(1.5 + i * i / 4, "uvw"[i % 3], 3.25 * i) for i in range(12)]
    local = ["Bericht;;", "Größe;Art;Preis", *(f"{x};{g};{y} €".replace(".", ",") for x, g, y in rows)]
    shell.good("fit", written(local, "old.csv", "cp1252"), "-t", "Preis", "-o", "m.adaline")
    wanted = [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "old.csv").rows]
    found = shell.predict(["Art,Größe", *(f"{g},{x}" for x, g, _ in rows)]).rows
    assert [float(row["prediction"]) for row in found] == pytest.approx(wanted, rel=1e-12)
    assert "RMSE" in shell.good("score", "m.adaline", "old.csv", "--decimal", ",").out
    clean = dict(zip(("Größe", "Art", "Preis"), zip(*rows, strict=True), strict=True))
    expected = LinearRegression().fit(open_table({name: list(one) for name, one in clean.items()}, target="Preis"))
    assert load("m.adaline").coef_ == pytest.approx(expected.coef_, rel=1e-9)


def values_read(shell: Shell, column: str, *options: str) -> list[Any]:
    """Return the values of a column of new.csv as `predict` reads them."""
    found = shell.good("predict", "m.adaline", "new.csv", "--json", *options).out.splitlines()
    return [json.loads(line)[column] for line in found]


def test_a_model_remembers_the_notation_of_its_files(shell: Shell) -> None:
    shell.fit(lines("x;y", lambda i: f"{i}.{100 + i},5;{2 * i},25", range(1, 13)))
    done = shell.predict(["x;y", "1.234;7,5", "2.345;9,5"])
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


POINTS = lines("x,y", lambda i: f"{i}.125,{2 * i}.5", range(1, 13))
COMMAS = [line.replace(",", ";").replace(".", ",") for line in POINTS]


@pytest.mark.parametrize(
    ("old", "new", "values", "note"),
    [
        (COMMAS, ["x,z", "1.125,12.5", "2.125,7.5"], [1.125, 2.125], ""),  # z proves that points are decimal
        (COMMAS, ["x,k", "1.125,1", "2.125,2"], [1.125, 2.125], "decimal point, as '1.125': column 'x', unlike in the"),
        (COMMAS, ["x;k", "1.125;1", "2.125;2"], [1125, 2125], "for thousands, as '1.125': column 'x', as in the"),
        (POINTS, ["x;z", "1,125;12,5", "2,125;7,5"], [1.125, 2.125], ""),
        (POINTS, ["x;k", "1,125;1", "2,125;2"], [1.125, 2.125], "decimal comma, as '1,125': column 'x', unlike in the"),
        (POINTS, ["x;z", "1.125;5,5", "2.125;6,5"], [1125, 2125], "thousands, as '1.125': column 'x', unlike in the"),
    ],
)
def test_a_decimal_sign_belongs_to_a_file(
    shell: Shell, old: list[str], new: list[str], values: list[float], note: str
) -> None:
    shell.fit(old)
    done = shell.predict(new)
    assert values_read(shell, "x") == values
    assert f"{note} fit; --decimal" in done.err if note else "fit" not in done.err
    beside = shell.predict([*new, f"abc{new[0][1]}1"])  # a bad value does not change how the others are read
    assert [row["prediction"] for row in beside.rows[:2]] == [row["prediction"] for row in done.rows]


def test_a_model_remembers_words_for_missing_values_and_dates(shell: Shell) -> None:
    rows = lines("x,d,y", lambda i: f"{i},{8 + i:02}/03/2024,{2 * i}")
    shell.fit([*rows, "-999,08/03/2024,4"], "--na", "-999", "--missing", "mean", "--dates", "d")
    done = shell.predict(["x,d,y", "-999,08/03/2024,11", "3,09/03/2024,6"])
    assert values_read(shell, "x") == [None, 3]
    assert values_read(shell, "d") == ["2024-03-08", "2024-03-09"]
    assert float(done.rows[0]["prediction"]) == pytest.approx(4)
    model = load("m.adaline")
    assert model.coding_.na == ("-999",)
    assert model.predict(open_table("new.csv"))[0] == pytest.approx(float(done.rows[0]["prediction"]))
    assert values_read(shell, "x", "--na", "x")[0] == -999


def test_rows_without_a_date_are_left_out_elsewhere(shell: Shell) -> None:
    shell.fit(DATES, "--dates", "d")
    written(["d,x,y", "3/14/2023,4,1", "unknown,5,2", "3/15/2023,1,3"], "new.csv")
    assert "averages over 2 rows" in shell.good("effects", "m.adaline", "new.csv").out
    for words in (["score"], ["update", "-o", "more.adaline"]):
        done = shell.good(*words, "m.adaline", "new.csv")
        assert "note: 1 of 3 rows is left out: invalid date of d in line 3 (1)" in done.err
    written(["d,x,y", "soon,4,1", "unknown,5,2"], "none.csv")
    for command in ("score", "update"):
        told = shell.bad(command, "m.adaline", "none.csv")
        assert "column 'd' holds 'soon' at line 2, and the model was fitted to dates" in told


@pytest.mark.parametrize("bad", ["abc", "12.5"])
def test_one_unreadable_number_costs_its_row_alone(bad: str, shell: Shell) -> None:
    shell.fit(PLAIN)
    new = ["x;y", "1,5;2,25", f"{bad};5,0", "2,5;4,25", "k.A.;5,0", "3,5;oops"]
    for options in ((), ("--decimal", ",")):
        assert shell.reasons(new, *options) == ["", WRONG.format(bad), "", "missing value of x", ""]
        assert float(shell.predict(new, *options).rows[2]["prediction"]) == pytest.approx(4.25)
    wrong = "non-numeric value of x in line 3 (1), non-numeric value of y in line 6 (1)"
    done = shell.good("score", "m.adaline", "new.csv", "--json")
    assert f"note: 3 of 5 rows are left out: missing value of x (1), {wrong}" in done.err
    assert (done.json["rows"], done.json["left_out"]) == (2, 3)
    done = shell.good("update", "m.adaline", "new.csv", "-o", "more.adaline", "--json")
    assert done.json["rows_after"] - done.json["rows_before"] == 2
    assert wrong in done.err
    written(["x;y", "abc;1,5", "2,5;oops"], "none.csv")
    assert "can read no row of none.csv: non-numeric value of x in line 2 (1)" in shell.bad(
        "score", "m.adaline", "none.csv"
    )


@pytest.mark.parametrize("new", [["x,y", "0.5,1", "abc,2"], ["x;y", "0,5;1", "abc;2"]])
def test_plain_numbers_beside_an_unreadable_one_are_not_read_one_by_one(
    new: list[str], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.fit(PLAIN)
    written([*new, *(f"{i}{new[1][1:]}" for i in range(1, 90))], "new.csv")
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
    shell.fit(LEVELS)
    written(["x,g,y", "1,u,2", "abc,u,3", "2,zz,4", "inf,v,5", "3,u,6"], "new.csv")
    assert "first at line 5, column 'x'" in shell.bad("score", "m.adaline", "new.csv")
    written(["x,g,y", "1,u,2", "abc,u,3", "inf,v,5", "3,u,6"], "new.csv")
    assert "first at line 4, column 'x'" in shell.bad("update", "m.adaline", "new.csv", "-o", "more.adaline")


def test_rows_before_others_are_not_left_out_where_a_model_has_lags(shell: Shell) -> None:
    values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
    before = dict(zip(range(12), [0, *values], strict=False))
    written(lines("x,y", lambda i: f"{values[i]},{10 * before[i] + values[i]}"), "old.csv")
    shell.good("fit", "old.csv", "--formula", "y ~ x + lag(x, 1)", "-o", "m.adaline")
    new = ["x,y", "1,1", "2,12", "abc,99", "4,24", "5,45"]  # 24 would follow from 2, two rows before
    assert shell.reasons(new)[2:] == [WRONG.format("abc"), "non-numeric value 'abc' of lag(x, 1)", ""]
    for words in (["score"], ["update", "-o", "more.adaline"]):
        told = shell.bad(*words, "m.adaline", "new.csv")
        assert "non-numeric value of x in line 4 (1); the model has lags" in told


def test_a_table_is_scored_in_its_own_notation_beside_columns_that_are_not_used(shell: Shell) -> None:
    shell.fit(lines("id,x,y", lambda i: f"{i:03},{i}.5,{2 * i}.25"))
    written(lines("id;x;y", lambda i: f"{i:03};{i},5;{2 * i},25"), "new.csv")
    assert shell.good("score", "m.adaline", "new.csv", "--json").json["targets"][0]["rmse"] < 1e-9


def test_a_table_without_the_target_is_refused_by_its_name(shell: Shell) -> None:
    shell.fit(lines("x,price (EUR)", lambda i: f"{i},{2 * i}"), target="price (EUR)")
    written(["x", "1", "2"], "new.csv")
    for command in ("score", "update"):
        assert "new.csv has no column 'price (EUR)'" in shell.bad(command, "m.adaline", "new.csv")


def test_an_empty_column_of_dates_is_filled(shell: Shell) -> None:
    rows = lines("date,y", lambda i: f"2024-01-{1 + i:02},{2 * i}")
    shell.fit([*rows, ",5", ",7"], "--dates", "date", "--missing", "indicator")
    found = shell.predict(["date,y", ",5", ",7"]).rows
    assert [float(row["prediction"]) for row in found] == pytest.approx([6, 6])
    assert shell.good("score", "m.adaline", "new.csv").code == 0


def test_numbers_for_a_model_of_percents_are_noted(shell: Shell) -> None:
    shell.fit(PERCENTS)
    no_percent = "no %, which those of the fit have (12 is read as 12%)"
    for value in ("0.12", "12"):
        assert f"{no_percent}, as '{value}': column 'x'" in shell.predict(["x", value, value]).err
    parquet.write_table(pa.table({"x": [0.12, 0.5]}), "new.parquet")
    done = shell.good("predict", "m.adaline", "new.parquet")
    assert f"{no_percent}: column 'x'" in done.err
    assert "column 'x' holds values between -1 and 1, as 0.5, and the fit had percentages" in done.err
    assert "values between" not in shell.predict(["x", "0.5%", "0.7%"]).err
    for name, rows in (("new.csv", "x 12 oops 0 13"), ("new.jsonl", '{"x":12} {"x":"oops"} {"x":0} {"x":13}')):
        done = shell.good("predict", "m.adaline", written(rows.split(), name))
        assert [bool(row["reason"]) for row in done.rows] == [False, True, False, False]
        assert f"{no_percent}: column 'x'" in done.err
    parquet.write_table(pa.table({"x": [0.0, 0.5]}), "new.parquet")
    assert "if 0.5 stands for 50%" in shell.good("predict", "m.adaline", "new.parquet").err


def test_new_files_are_read_in_the_unit_of_the_fit(shell: Shell) -> None:
    assert "numbers with the unit kg" in shell.fit(lines("x,y", lambda i: f"{10 + i} kg,{2 * i}")).err
    assert load("m.adaline").coding_.notations == (Notation(".", "kg", ("x",)),)
    for values, reasons in (
        (["12kg", "12 KG"], ["", ""]),
        (["12", "12.5"], ["", ""]),
        (["12 g", "13 g"], [OTHER.format("12 g"), OTHER.format("13 g")]),
        (["12 kg", "12 g", "12"], ["", OTHER.format("12 g"), ""]),
    ):
        assert shell.reasons(["x", *values]) == reasons
        noted = "no kg, which those of the fit have (12 is read as 12 kg)" in shell.predict(["x", *values]).err
        assert noted == (values == ["12", "12.5"])


def test_fit_leaves_out_a_constant_column(shell: Shell) -> None:
    shell.fit(lines("x,c,s,y", lambda i: f"{i},7,a,{2 * i}"))
    assert [float(row["prediction"]) for row in shell.predict(["x", "3", "4"]).rows] == [6, 8]
    shell.good("fit", "old.csv", "-t", "y", "--features", "x,c", "-o", "m.adaline")
    assert "no column 'c'" in shell.bad("predict", "m.adaline", "new.csv")


def test_predict_keeps_totals_without_a_prediction(shell: Shell) -> None:
    shell.fit(LEVELS)
    new = [*lines("x,g", lambda i: f"{i},{'uvw'[i % 3]}"), "Total,66"]
    done = shell.predict(new)
    assert len(done.rows) == 13
    assert list(done.rows[-1].values()) == ["Total", "66", "", "total of the table"]
    assert "1 of 13 rows has no prediction: total of the table (1)" in done.err
    assert "left out" not in done.err
    shell.good("predict", "m.adaline", "new.csv", "-o", "new.parquet")
    assert parquet.read_table("new.parquet").num_rows == 13
    assert "total of the table" in shell.bad("predict", "m.adaline", "new.csv", "--strict")
    assert len(shell.predict([*new, "Source: the office"]).rows) == 13


def test_a_total_below_dates_leaves_them_dates(shell: Shell) -> None:
    shell.fit([*DATES, "Total,99,999"], "--dates", "d")
    assert "line 14 below the table: 'Total', left out" in shell.good("score", "m.adaline", "old.csv").err
    assert "column 'd' is left out: it holds dates" in shell.good("fit", "old.csv", "-t", "y").err


def test_rows_of_a_file_are_named_by_their_lines(shell: Shell) -> None:
    good = ["a title", "", *lines("x,z,c,y,w", lambda i: f"{i},{i * i % 7},{'ab'[i % 2]},{2 * i},1", range(20))]
    shell.fit(good, "--drop", "w")

    def changed(**lines: str) -> None:
        rows = list(good)
        for name, text in lines.items():
            rows[int(name[4:]) - 1] = text
        written(rows, "bad.csv")

    changed(line6=",4,a,4,1", line11="inf,0,b,14,1")
    assert "infinity: first at line 11, column 'x' of bad.csv. Drop" in shell.bad("fit", "bad.csv", "-t", "y")
    with pytest.raises(InvalidData, match="infinity: first at line 11, column 'x'"):
        LinearRegression().fit(open_table("bad.csv", target="y", missing="drop"))
    changed(line9="5,4,q,10,-1", line13="9,4,q,-18,1")
    assert "bad.csv, line 9: unseen level 'q' of c" in shell.bad("predict", "m.adaline", "bad.csv", "--strict")
    update = "update", "m.adaline", "bad.csv", "-o", "u.adaline"
    assert "unseen level of c in lines 9, 13 (2)" in shell.bad(*update, "--strict")
    assert "unseen level of c in lines 9, 13 (2)" in shell.good(*update).err
    assert "column 'w' is -1 at line 9" in shell.bad("fit", "bad.csv", "-t", "y", "--weight", "w")
    poisson = "GeneralizedLinear(loss='poisson')"
    assert "the target is -18 at line 13" in shell.bad("fit", "bad.csv", "-t", "y", "--system", poisson)


def test_words_for_missing_values_may_be_levels(shell: Shell) -> None:
    regions = ["NA", "EU", "NA", "None"] * 4
    rows = lines("region,x,y", lambda i: f"{regions[i]},{i if i else 'NA'},{i % 5}", range(16))
    shell.fit(rows, "--na", "")
    assert load("m.adaline").coding_.columns[0].levels == ("EU", "NA", "None")
    assert shell.reasons(rows) == ["missing value of x", *[""] * 15]
    told = shell("fit", "old.csv", "-t", "region").err  # of one class, which is refused
    assert "12 of 16 rows are left out: no value of region; 'NA' (8) and 'None' (4) in 'region'" in told


def test_columns_are_copied_as_they_are_written(shell: Shell) -> None:
    shell.fit(lines("id,x,day,y", lambda i: f"{i:03},{i}.50,{i:02}/02/2024,{2 * i}", range(1, 13)), "--features", "x")
    new = ["id,x,day,y", "007,1.50,31/12/2024,NA", "008,1e0,n.a.,", "009,abc,,2.0"]
    content = Path(written(new, "new.csv")).read_bytes()
    for name in ("new.csv", "-"):
        out = shell.good("predict", "m.adaline", name, stdin=content).out.splitlines()
        assert [line.rsplit(",", 2)[0] for line in out] == new
        assert out[3].endswith(",,non-numeric value 'abc' of x")
    shell.good("predict", "m.adaline", "new.csv", "--keep", "y,id", "-o", "out.tsv")
    kept = [line.split("\t")[:2] for line in Path("out.tsv").read_text().splitlines()]
    assert kept[1:3] == [["NA", "007"], ["", "008"]]


@pytest.mark.parametrize("word", ["x", "yes", "1"])
def test_a_column_that_is_ticked_or_empty_costs_no_rows(shell: Shell, word: str) -> None:
    ticked = [i % 3 == 0 for i in range(12)]
    done = shell.fit(lines("x,tick,y", lambda i: f"{i * i % 7}.5,{word if ticked[i] else ''},{2 * i + 3 * ticked[i]}"))
    assert f"column 'tick' holds '{word}' or nothing and is read as yes or no" in done.err
    assert load("m.adaline").feature_names_in_.tolist() == ["x", f"tick[T.{word}]"]
    assert all(row["prediction"] for row in shell.good("predict", "m.adaline", "old.csv").rows)
    parquet.write_table(pa.table({"x": [1.5], "tick": pa.array([None], pa.string())}), "new.parquet")
    both = [shell.predict(["x,tick", "1.5,"]), shell.good("predict", "m.adaline", "new.parquet")]
    assert both[0].rows[0]["prediction"] == both[1].rows[0]["prediction"] != ""
    for options in ([], ["-t", "y"]):
        assert shell.good("score", "m.adaline", "old.csv", "--json", *options).json["rows"] == 12
    assert "24 rows after" in shell.good("update", "m.adaline", "old.csv").out


def test_blanks_around_texts_are_no_part_of_a_level(shell: Shell) -> None:
    g = ["red ", "red", " blue", "blue", "green", "red\t"]
    written(lines("g,y", lambda i: f"{g[i]},{i}", range(6)), "old.csv")
    parquet.write_table(pa.table({"g": g, "y": range(6)}), "old.parquet")
    for name in ("old.csv", "old.parquet"):
        shell.good("fit", name, "-t", "y", "-o", "m.adaline")
        assert load("m.adaline").feature_names_in_.tolist() == ["g[T.green]", "g[T.red]"]
        done = shell.good("compare", name, "-t", "y", "--systems", "LinearRegression")
        assert "Levels in several spellings" not in done.out


def test_words_for_gaps_are_no_levels(shell: Shell) -> None:
    g = ["a", "b", "n.a.", "-", "k.A.", "a", "b", "b", "a", "b"]
    old = lines("g,rh,y", lambda i: f"{g[i]},{'+-'[i % 3 % 2]},{i}", range(10))
    done = shell.fit(old)
    assert load("m.adaline").feature_names_in_.tolist() == ["g[T.b]", "rh[T.-]"]  # - is a level beside +
    assert "'-' (1) and 'k.A.' (1) and 'n.a.' (1) in 'g' counted as missing, --na '' keeps such words" in done.err
    assert shell.reasons(["g,rh", "n.a.,-"]) == ["missing value of g"]
    first, padded = shell.predict(["g,rh", "a,-", "a, - "]).rows
    assert first["prediction"] == padded["prediction"] != ""
    shell.fit(old, "--na", "")
    assert "g[T.n.a.]" in load("m.adaline").feature_names_in_
    assert shell.reasons(["g,rh", "n.a.,-", "b,+"]) == ["", ""]
    expected = load("m.adaline").predict(pd.DataFrame({"g": ["n.a.", "b"], "rh": ["-", "+"]}))
    assert load("m.adaline").predict(open_table("new.csv")) == pytest.approx(expected)


def test_a_bad_value_costs_its_row_alone_in_any_file(shell: Shell) -> None:
    shell.fit(PLAIN)
    Path("parts").mkdir()
    written(["x,y", "1.5,3"], "parts/1.csv")
    written(["x,y", "abc,4", "2.5,6"], "parts/2.csv")
    rows = [{"x": 1.5, "y": 3}, {"x": "abc", "y": 4}, {"x": 2.5, "y": 6}]
    written(map(json.dumps, rows), "new.jsonl")
    parquet.write_table(pa.table({"x": ["1.5", "abc", "2.5"], "y": [3, 4, 6]}), "new.parquet")
    shown = shell.good("predict", "m.adaline", "new.jsonl").rows
    assert [row["x"] for row in shown] == ["1.5", "abc", "2.5"]  # without the quotes of JSON
    for name in ("parts/*.csv", "new.jsonl", "new.parquet", "-"):
        done = shell.good("predict", "m.adaline", name, "--json", stdin=Path("new.jsonl").read_bytes())
        found = [json.loads(line) for line in done.out.splitlines()]
        assert [one["reason"] for one in found] == [None, WRONG.format("abc"), None]
        if name != "-":
            assert [one["x"] for one in found] == [1.5, None, 2.5]
            assert shell.good("score", "m.adaline", name, "--json").json["rows"] == 2
            assert "14 rows after" in shell.good("update", "m.adaline", name, "-o", "other.adaline").out


def test_a_bad_value_beyond_the_first_rows_costs_its_row_alone(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.fit(PLAIN)
    monkeypatch.setattr("adaline.sources.tables.files.WHOLE_SAMPLE", 1)
    monkeypatch.setattr("adaline.sources.tables.text.SAMPLE", 2048)
    rows = lines("x,y", lambda i: f"{i % 9}.5,1", range(5000))
    assert shell.reasons([*rows, "abc,3", "1.5,4"])[-2:] == [WRONG.format("abc"), ""]
