"""`adaline predict`: a row for every row; those that cannot be predicted have a reason, or are refused by --strict."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from adaline.cli.predict import shown_counts
from tests.cli.command_line import Shell, written

OLD = ["age,carrier,y", "1,AA,1", "2,UA,2.5", "3,AA,3", "4,UA,4.5", "5,DL,5.5", "6,DL,6", "7,AA,7.5", "8,UA,8"]
NEW = ["age,carrier", "1,AA", "2,ZZ", ",UA", ",ZZ", "5,", "inf,UA", "4,DL"]
NO_AGE, UNSEEN = "missing value of age", "unseen level 'ZZ' of carrier"
REASONS = ["", UNSEEN, NO_AGE, f"{NO_AGE}; {UNSEEN}", "missing value of carrier", "no finite value of age", ""]
NOTE = (
    "note: 5 of 7 rows have no prediction: missing value of age (2), unseen level of carrier (2), missing value of "
    "carrier (1), no finite value of age (1); with --strict they are errors"
)


@pytest.fixture(autouse=True)
def model(shell: Shell) -> None:
    shell.fit(OLD)
    written(NEW, "new.csv")


def test_every_row_is_written_in_order_with_the_reason_where_it_has_no_prediction(shell: Shell) -> None:
    assert shell.reasons(NEW) == REASONS
    done = shell.predict(NEW)
    assert list(done.rows[0]) == ["age", "carrier", "prediction", "reason"]
    assert sorted(NOTE.split(", ")) == sorted(done.err.strip().split(", "))
    clean = shell.good("predict", "m.adaline", "old.csv")
    assert done.rows[0]["prediction"] == clean.rows[0]["prediction"]
    text = ["age,carrier", "1,AA", "207a,UA", "3,DL"]
    assert shell.reasons(text) == ["", "non-numeric value '207a' of age", ""]
    assert shell.predict(text).rows[0]["prediction"] == clean.rows[0]["prediction"]


def test_the_schema_depends_on_the_options_alone(shell: Shell) -> None:
    done = shell.good("predict", "m.adaline", "old.csv", "--keep", "none")
    assert list(done.rows[0]) == ["prediction", "reason"]
    assert not done.err
    assert list(shell.good("predict", "m.adaline", "old.csv", "--keep", "none", "--strict").rows[0]) == ["prediction"]


@pytest.mark.parametrize(
    ("lines", "name", "place"),
    [
        (NEW, "new.csv", f"new.csv, line 3: {UNSEEN}"),
        (["age,carrier", "1,AA", ",UA"], "gap.csv", f"gap.csv, line 3: {NO_AGE}"),
        (["age,carrier", "1,AA", "207a,UA"], "text.csv", "line 3: non-numeric value '207a' of age"),
        (["age,carrier", "1,AA", ",UA"], "[fg]*.csv", f"line 3 of gap.csv: {NO_AGE}"),
        (["age,carrier", "1,AA", "2,ZZ"], "-", f"stdin, line 3: {UNSEEN}"),
        (["age,carrier,note", '1,AA,"a', 'b"', "2,ZZ,c"], "-", f"stdin, row 1: {UNSEEN}"),
        (['{"age":1,"carrier":"AA"}', '{"age":1,"carrier":"ZZ"}'], "-", f"stdin, line 2: {UNSEEN}"),
    ],
)
def test_strict_refuses_the_first_row_without_a_prediction(
    lines: list[str], name: str, place: str, shell: Shell
) -> None:
    written(["age,carrier", "1,AA", "2,UA"], "full.csv")
    written(lines, "gap.csv" if name in ("-", "[fg]*.csv") else name)
    given = "\n".join([*lines, ""]).encode()
    assert place in shell.bad("predict", "m.adaline", name, "--strict", "-o", "out.csv", stdin=given)
    assert not Path("out.csv").exists()


def test_reasons_in_files_lines_and_pipes(shell: Shell) -> None:
    asked = ("new.csv", "-o", "out.parquet", "--json", "--interval", "prediction")
    told = shell.good("predict", "m.adaline", *asked).json
    assert (told["rows"], told["predicted"]) == (7, 2)
    assert told["columns"] == ["prediction", "lower", "upper", "reason"]
    assert told["reasons"]["missing value of age"] == 2
    found = pq.read_table("out.parquet").to_pydict()
    assert [reason or "" for reason in found["reason"]] == REASONS
    assert [end is None for end in found["lower"]] == [bool(reason) for reason in REASONS]
    lines = shell.good("predict", "m.adaline", "new.csv", "--json").out.splitlines()
    assert [json.loads(line)["reason"] or "" for line in lines] == REASONS
    given = "\n".join([*NEW, ""]).encode()
    assert [row["reason"] for row in shell.good("predict", "m.adaline", "-", stdin=given).rows] == REASONS


def test_what_a_model_asks_of_its_rows(shell: Shell) -> None:
    """Its policies leave fewer rows without a prediction; absorbed effects, offsets and cuts have reasons."""
    shell.fit(OLD, "--missing", "mean", "--unseen", "other")
    assert shell.reasons(NEW)[:5] == [""] * 5
    shell.fit(OLD, "--missing", "drop")
    assert shell.reasons(NEW) == REASONS
    shell.fit(OLD, "--features", "age", "--absorb", "carrier")
    assert shell.reasons(NEW)[1] == UNSEEN
    shell.fit(OLD, "-s", "GeneralizedLinear", "--set", "loss=poisson", "--features", "carrier", "--offset", "age")
    assert shell.reasons(NEW)[2] == NO_AGE
    shell.good("fit", "old.csv", "--formula", "y ~ cut(age, c(0, 4, 8))", "-o", "m.adaline")
    assert shell.reasons(["age", "3", "99"])[1].startswith("value outside the intervals of cut")
    shell.good("fit", "old.csv", "-t", "carrier", "--features", "age", "-o", "m.adaline")
    rows = shell.predict(NEW, "--proba").rows
    assert [row["probability_AA"] == "" for row in rows] == [False, False, True, True, False, True, False]


def test_the_note_names_few_reasons() -> None:
    assert shown_counts({f"missing value of {name}": 1 for name in "abcdefg"}).endswith("of e (1) and 2 other reasons")
