"""`adaline serve`, `adaline learn` and `adaline journal` as commands; processes.py runs some, and kills them."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import LMS, Perceptron, load, open_table, save
from tests.cli.command_line import Shell

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and sockets of Unix")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A shell in a folder with a model, and the rows that come after those it was fitted to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    begun()
    LATER.to_csv("rows.csv", index=False)
    Path("rows.jsonl").write_text("\n".join(lines(LATER)))
    return Shell(capsys)


def _table(count: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=count), "b": rng.choice(["x", "y"], count)})
    return frame.assign(t=2 * frame["a"] + (frame["b"] == "x") + 0.1 * rng.normal(size=count))


TABLE = _table()
LATER = TABLE[100:]


def begun(name: str = "m.adaline") -> Any:
    model = LMS().fit(open_table(TABLE[:100], target="t"))
    save(model, name)
    return model


def lines(frame: pd.DataFrame) -> list[str]:
    return [json.dumps({**row, "other": "left alone"}) for row in frame.to_dict("records")]


# -- adaline serve ---------------------------------------------------------------------------------------------------


@UNIX
def test_a_signal_right_after_the_line_ends_the_service(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    began = []

    def run(server: Any, sockets: Any) -> None:
        signal.raise_signal(signal.SIGTERM)  # before uvicorn takes signals
        began.append(server.should_exit)

    monkeypatch.setattr("uvicorn.Server.run", run)
    done = shell.good("serve", "m.adaline", "--port", "0")
    assert re.fullmatch(r"serving m on http://127\.0\.0\.1:\d+\n", done.out)
    assert began == [True]


@UNIX
def test_workers_are_as_many_as_were_asked_for(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    monkeypatch.setattr("adaline.serve.workers.run_workers", lambda *given: begun.append(given[4]))
    shell.good("serve", "m.adaline", "--port", "0", "--workers", "3")
    assert begun == [3]


@UNIX
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.adaline"], "no such file"),
        (["m.adaline", "--token-file", "nowhere"], "cannot be read"),
        (["m.adaline", "--port", "1", "--host", "203.0.113.1"], "cannot listen"),
        (["m.adaline", "--port", "0", "--tls-key", "m.adaline"], "give --tls-certificate FILE too"),
        (["m.adaline", "--port", "0", "--tls-certificate", "m.adaline"], "m.adaline: no certificate with its key"),
        (["m.adaline", *["--challenger", "m.adaline"] * 2], "two challengers"),
    ],
)
def test_what_cannot_be_served_is_one_line_and_exit_code_2(shell: Shell, arguments: list[str], message: str) -> None:
    assert message in shell.bad("serve", *arguments)


# -- adaline learn ---------------------------------------------------------------------------------------------------


def test_lines_are_learned_as_a_table_is(shell: Shell) -> None:
    told = begun().partial_fit(LATER, LATER["t"])
    for k, rows in enumerate(("rows.jsonl", "rows.csv")):
        done = shell.good("learn", "m.adaline", rows, "--every", 150, "-o", f"{k}.adaline", "--json")
        assert [done.json[name] for name in ("rows_before", "rows_after", "error_rows")] == [100, 400, 300]
        said = [json.loads(line) for line in done.err.splitlines()]
        assert [one["rows_seen"] for one in said] == [150, 300]
        assert {one["measure"] for one in (*said, done.json)} == {"mean squared error"}
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


def test_lines_that_cannot_be_learned_are_left_out_and_named(shell: Shell) -> None:
    wrong = ["nonsense", "[1]", '{"a": "much", "b": "x", "t": 1}', '{"a": 1, "t": 1}', '{"a": 1, "b": "new", "t": 1}']
    Path("rows.jsonl").write_text("\n".join([*lines(LATER[:20]), *wrong, "", *lines(LATER[20:30])]))
    done = shell.good("learn", "m.adaline", "rows.jsonl")
    assert load("m.adaline").rows_seen_ == 130
    for number in (21, 22, 23, 24, 25):
        assert f"note: line {number} is left out: " in done.err
    assert "note: 5 lines left out" in done.err
    assert not re.search(r"\brow \d", done.err)  # of a batch, which the user does not know
    Path("long.csv").write_text(f"a,b,t\n1.0,{'x' * 140_000},1.0\n1.0,x,2.0\n")
    done = shell.good("learn", "m.adaline", "long.csv")
    assert "131 rows after" in done.out
    assert "line 2 is left out: it is not CSV" in done.err
    Path("short.csv").write_text("a,b\n1,x\n")
    Path("rows.xlsx").write_bytes(b"PK\x03\x04\x14\0\0\0\n")
    for words, told in (
        (["short.csv"], "no column 't'"),
        (["nowhere.csv"], "No such file"),
        (["rows.csv", "--journal", "short.csv"], "is a file"),
        (["rows.xlsx"], "rows.xlsx is not text: adaline learn reads JSON lines or CSV"),
    ):
        assert told in shell.bad("learn", "m.adaline", *words)


# -- adaline journal -------------------------------------------------------------------------------------------------


def test_a_journal_goes_on_and_can_be_replayed_exported_and_compacted(shell: Shell) -> None:
    for first in (100, 250):
        TABLE[first : first + 150].to_csv("rows.csv", index=False)
        shell.good("learn", "m.adaline", "rows.csv", "--journal", "j")
        told = begun()  # the model is that of the journal all the same
    told.partial_fit(LATER, LATER["t"])
    for k, more in enumerate(([], ["--model", "m.adaline"])):
        assert "400 rows after" in shell.good("journal", "replay", "j", "-o", f"{k}.adaline", *more).out
        assert np.array_equal(load(f"{k}.adaline").coef_, told.coef_)
    assert "300 rows written" in shell.good("journal", "export", "j", "-o", "rows.parquet").out
    assert np.array_equal(pd.read_parquet("rows.parquet")["t"], LATER["t"])
    assert "0 rows removed" in shell.good("journal", "compact", "j").out
    for words, message in (
        (["export", "nowhere", "-o", "rows.csv"], "there is no journal"),
        (["compact", "nowhere"], "there is no journal"),
        (["export", "j", "-o", "rows.xls"], "cannot tell"),
        (["replay", "j"], "-o"),
        (["compact", "j", "-o", "x.csv"], "-o"),
        (["export", "j", "-o", "x.csv", "--model", "m.adaline"], "--model"),
    ):
        assert message in shell.bad("journal", *words)
