"""`adaline learn` and `adaline journal`: rows of a file, faults of lines, and the journal offline."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import LMS, Perceptron, load, open_table, save
from tests.cli.command_line import Shell


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return Shell(capsys)


def table(count: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=count), "b": rng.choice(["x", "y"], count)})
    return frame.assign(t=2 * frame["a"] + (frame["b"] == "x") + 0.1 * rng.normal(size=count))


def begun(name: str = "m.adaline") -> Any:
    model = LMS().fit(open_table(table()[:100], target="t"))
    save(model, name)
    return model


def lines(frame: pd.DataFrame) -> list[str]:
    return [json.dumps({**row, "other": "left alone"}) for row in frame.to_dict("records")]


def test_lines_are_learned_as_a_table_is(shell: Shell) -> None:
    told = begun().partial_fit(table()[100:], table()["t"][100:])
    Path("rows.jsonl").write_text("\n".join(lines(table()[100:])))
    table()[100:].to_csv("rows.csv", index=False)
    for k, rows in enumerate(("rows.jsonl", "rows.csv")):
        done = shell.good("learn", "m.adaline", rows, "--every", 150, "-o", f"{k}.adaline", "--json")
        assert (done.json["rows_before"], done.json["rows_after"]) == (100, 400)
        said = [json.loads(line) for line in done.err.splitlines()]
        assert [one["rows_seen"] for one in said] == [150, 300]
        assert {one["measure"] for one in (*said, done.json)} == {"mean squared error"}
        assert done.json["error_rows"] == 300
        assert 0 < said[-1]["progressive_error"] < 0.1
        assert np.array_equal(load(f"{k}.adaline").coef_, told.coef_)
    done = shell.good("learn", "m.adaline", "rows.csv", "--format", "csv")
    assert "LMS: 100 rows before, 400 rows after" in done.out
    assert re.search(r"progressive mean squared error: 0\.\d+ over 300 rows, each predicted before", done.out)
    assert np.array_equal(load("m.adaline").coef_, told.coef_)


def test_the_error_of_classes_is_an_error_rate(shell: Shell) -> None:
    save(Perceptron().fit([[0.0], [1.0]], ["a", "b"]), "m.adaline")
    Path("rows.csv").write_text("x0,y\n0.1,a\n0.9,a\n")
    done = shell.good("learn", "m.adaline", "rows.csv", "--every", 2)
    assert "4 rows seen: progressive error rate 0.5 over 2 rows, 0.5 recently (about the last 1,000 rows)" in done.err
    assert "progressive error rate: 0.5 over 2 rows" in done.out


def test_a_file_that_is_not_text_is_refused(shell: Shell) -> None:
    begun()
    Path("rows.xlsx").write_bytes(b"PK\x03\x04\x14\0\0\0\n")
    assert "rows.xlsx is not text: adaline learn reads JSON lines or CSV" in shell.bad(
        "learn", "m.adaline", "rows.xlsx"
    )


def test_lines_that_cannot_be_learned_are_left_out_and_named(shell: Shell) -> None:
    begun()
    wrong = ["nonsense", "[1]", '{"a": "much", "b": "x", "t": 1}', '{"a": 1, "t": 1}', '{"a": 1, "b": "new", "t": 1}']
    Path("rows.jsonl").write_text("\n".join([*lines(table()[100:120]), *wrong, "", *lines(table()[120:130])]))
    done = shell.good("learn", "m.adaline", "rows.jsonl")
    assert load("m.adaline").rows_seen_ == 130
    for number in (21, 22, 23, 24, 25):
        assert f"note: line {number} is left out: " in done.err
    assert "note: 5 lines left out" in done.err
    assert not re.search(r"\brow \d", done.err)  # of a batch, which the user does not know
    Path("rows.csv").write_text("a,b\n1,x\n")
    assert "no column 't'" in shell.bad("learn", "m.adaline", "rows.csv")
    assert "No such file" in shell.bad("learn", "m.adaline", "nowhere.csv")
    Path("file").write_text("")
    assert "is a file" in shell.bad("learn", "m.adaline", "rows.csv", "--journal", "file")


def test_a_journal_goes_on_and_can_be_replayed_exported_and_compacted(shell: Shell) -> None:
    first = begun()
    for k in (100, 250):
        table()[k : k + 150].to_csv("rows.csv", index=False)
        shell.good("learn", "m.adaline", "rows.csv", "--journal", "j")
        save(first, "m.adaline")  # the model is that of the journal all the same
    told = first.partial_fit(table()[100:], table()["t"][100:])
    for k, more in enumerate(([], ["--model", "m.adaline"])):
        assert "400 rows after" in shell.good("journal", "replay", "j", "-o", f"{k}.adaline", *more).out
        assert np.array_equal(load(f"{k}.adaline").coef_, told.coef_)
    assert "300 rows written" in shell.good("journal", "export", "j", "-o", "rows.parquet").out
    assert np.array_equal(pd.read_parquet("rows.parquet")["t"], table()["t"][100:])
    assert "0 rows removed" in shell.good("journal", "compact", "j").out
    assert "there is no journal" in shell.bad("journal", "export", "nowhere", "-o", "rows.csv")
    assert "there is no journal" in shell.bad("journal", "compact", "nowhere")
    assert "cannot tell" in shell.bad("journal", "export", "j", "-o", "rows.xls")
    assert "-o" in shell.bad("journal", "replay", "j")
    assert "-o" in shell.bad("journal", "compact", "j", "-o", "x.csv")
    assert "--model" in shell.bad("journal", "export", "j", "-o", "x.csv", "--model", "m.adaline")


def test_a_field_that_csv_cannot_hold_is_left_out(shell: Shell) -> None:
    begun()
    Path("rows.csv").write_text(f"a,b,t\n1.0,{'x' * 140_000},1.0\n1.0,x,2.0\n")
    done = shell.good("learn", "m.adaline", "rows.csv")
    assert "101 rows after" in done.out
    assert "line 2 is left out: it is not CSV" in done.err
