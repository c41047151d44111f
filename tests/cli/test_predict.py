"""`adaline predict`: a row for every row; those that cannot be predicted have a reason, or are refused by --strict."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from adaline.cli.predict import shown_counts
from tests.cli.command_line import Shell

OLD = "age,carrier,y\n1,AA,1\n2,UA,2.5\n3,AA,3\n4,UA,4.5\n5,DL,5.5\n6,DL,6\n7,AA,7.5\n8,UA,8\n"
NEW = "age,carrier\n1,AA\n2,ZZ\n,UA\n,ZZ\n5,\ninf,UA\n4,DL\n"
REASONS = [
    "",
    "unseen level 'ZZ' of carrier",
    "missing value of age",
    "missing value of age; unseen level 'ZZ' of carrier",
    "missing value of carrier",
    "no finite value of age",
    "",
]
NOTE = (
    "note: 5 of 7 rows have no prediction: missing value of age (2), unseen level of carrier (2), missing value of "
    "carrier (1), no finite value of age (1); with --strict they are errors"
)


@pytest.fixture
def model(shell: Shell) -> str:
    Path("old.csv").write_text(OLD)
    Path("new.csv").write_text(NEW)
    shell.good("fit", "old.csv", "-t", "y", "-o", "m.adaline")
    return "m.adaline"


def test_every_row_is_written_in_order_with_the_reason_where_it_has_no_prediction(shell: Shell, model: str) -> None:
    done = shell.good("predict", model, "new.csv")
    assert list(done.rows[0]) == ["age", "carrier", "prediction", "reason"]
    assert [row["reason"] for row in done.rows] == REASONS
    assert [bool(row["prediction"]) for row in done.rows] == [not reason for reason in REASONS]
    assert sorted(NOTE.split(", ")) == sorted(done.err.strip().split(", "))
    clean = [row["prediction"] for row in shell.good("predict", model, "old.csv").rows]
    assert done.rows[0]["prediction"] == clean[0]


def test_text_in_a_column_of_numbers_is_a_reason(shell: Shell, model: str) -> None:
    Path("text.csv").write_text("age,carrier\n1,AA\n207a,UA\n3,DL\n")
    done = shell.good("predict", model, "text.csv")
    assert [row["reason"] for row in done.rows] == ["", "non-numeric value '207a' of age", ""]
    assert [bool(row["prediction"]) for row in done.rows] == [True, False, True]
    assert done.rows[0]["prediction"] == shell.good("predict", model, "old.csv").rows[0]["prediction"]
    assert "line 3: non-numeric value '207a' of age" in shell.bad("predict", model, "text.csv", "--strict")


def test_the_schema_depends_on_the_options_alone(shell: Shell, model: str) -> None:
    done = shell.good("predict", model, "old.csv", "--keep", "none")
    assert list(done.rows[0]) == ["prediction", "reason"]
    assert not done.err
    assert list(shell.good("predict", model, "old.csv", "--keep", "none", "--strict").rows[0]) == ["prediction"]


def test_strict_refuses_the_first_row_without_a_prediction(shell: Shell, model: str) -> None:
    said = shell.bad("predict", model, "new.csv", "--strict", "-o", "out.csv")
    assert "new.csv, line 3: unseen level 'ZZ' of carrier" in said
    assert not Path("out.csv").exists()
    Path("gap.csv").write_text("age,carrier\n1,AA\n,UA\n")
    assert "gap.csv, line 3: missing value of age" in shell.bad("predict", model, "gap.csv", "--strict")
    Path("full.csv").write_text("age,carrier\n1,AA\n2,UA\n")
    assert "line 3 of gap.csv: missing value of age" in shell.bad("predict", model, "[fg]*.csv", "--strict")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("age,carrier\n1,AA\n2,ZZ\n", "line 3"),
        ('age,carrier,note\n1,AA,"a\nb"\n2,ZZ,c\n', "row 1"),
        ('{"age":1,"carrier":"AA"}\n{"age":1,"carrier":"ZZ"}\n', "line 2"),
    ],
)
def test_strict_names_the_line_of_standard_input(
    shell: Shell, model: str, text: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
    assert f"stdin, {place}: unseen level 'ZZ' of carrier" in shell.bad("predict", model, "-", "--strict")


def test_reasons_in_files_lines_and_pipes(shell: Shell, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = shell.good("predict", model, "new.csv", "-o", "out.parquet", "--json", "--interval", "prediction").json
    assert (told["rows"], told["predicted"]) == (7, 2)
    assert told["columns"] == ["prediction", "lower", "upper", "reason"]
    assert told["reasons"]["missing value of age"] == 2
    written = pq.read_table("out.parquet").to_pydict()
    assert [reason or "" for reason in written["reason"]] == REASONS
    assert [end is None for end in written["lower"]] == [bool(reason) for reason in REASONS]
    lines = [json.loads(line) for line in shell.good("predict", model, "new.csv", "--json").out.splitlines()]
    assert [line["reason"] or "" for line in lines] == REASONS
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(NEW.encode()))))
    assert [row["reason"] for row in shell.good("predict", model, "-").rows] == REASONS


def test_probabilities_are_empty_too(shell: Shell, model: str) -> None:
    shell.good("fit", "old.csv", "-t", "carrier", "--features", "age", "-o", "c.adaline")
    rows = shell.good("predict", "c.adaline", "new.csv", "--proba").rows
    assert [row["probability_AA"] == "" for row in rows] == [False, False, True, True, False, True, False]


def test_policies_of_the_model_leave_fewer_rows_without_a_prediction(shell: Shell, model: str) -> None:
    shell.good("fit", "old.csv", "-t", "y", "--missing", "mean", "--unseen", "other", "-o", "all.adaline")
    assert [row["reason"] for row in shell.good("predict", "all.adaline", "new.csv").rows][:5] == [""] * 5
    shell.good("fit", "old.csv", "-t", "y", "--missing", "drop", "-o", "drop.adaline")
    assert [row["reason"] for row in shell.good("predict", "drop.adaline", "new.csv").rows] == REASONS


def test_absorbed_effects_and_offsets_have_reasons(shell: Shell, model: str) -> None:
    shell.good("fit", "old.csv", "-t", "y", "--features", "age", "--absorb", "carrier", "-o", "a.adaline")
    assert [row["reason"] for row in shell.good("predict", "a.adaline", "new.csv").rows][1] == REASONS[1]
    options = ("-s", "GeneralizedLinear", "--set", "loss=poisson", "--features", "carrier", "--offset", "age")
    shell.good("fit", "old.csv", "-t", "y", *options, "-o", "o.adaline")
    assert shell.good("predict", "o.adaline", "new.csv").rows[2]["reason"] == "missing value of age"


def test_values_outside_the_intervals_of_a_cut(shell: Shell, model: str) -> None:
    shell.good("fit", "old.csv", "--formula", "y ~ cut(age, c(0, 4, 8))", "-o", "k.adaline")
    Path("far.csv").write_text("age\n3\n99\n")
    assert (
        shell.good("predict", "k.adaline", "far.csv").rows[1]["reason"].startswith("value outside the intervals of cut")
    )


def test_the_note_names_few_reasons() -> None:
    assert shown_counts({f"missing value of {name}": 1 for name in "abcdefg"}).endswith("of e (1) and 2 other reasons")
