"""Tables through pipes: standard input and named pipes, of any format, with the answers of the same rows in a file."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from adaline import LinearRegression, load, open_table
from adaline.cli.predict import PipedTable
from adaline.errors import UnreadableTable
from adaline.sources.tables import pipes
from tests.cli.command_line import ENVIRONMENT, Shell, table, written

FORMATS = ["csv", "tsv", "json lines", "json", "arrow stream", "arrow file", "parquet", "csv.gz", "json lines.gz"]
AB = ("-t", "y", "--features", "a,b")


@pytest.fixture(autouse=True)
def temporary(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, beside data.csv."""
    table(tmp_path / "data.csv", n=30)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def as_bytes(form: str) -> bytes:
    """Return the rows of data.csv in a format."""
    if form.endswith(".gz"):
        return gzip.compress(as_bytes(form.removesuffix(".gz")))
    if form in ("csv", "tsv"):
        return Path("data.csv").read_bytes().replace(b",", b"," if form == "csv" else b"\t")
    rows = csv.read_csv("data.csv")
    if form.startswith("json"):
        text = rows.to_pandas().to_json(orient="records", lines=form == "json lines", date_format="iso")
        return str(text).encode()
    out = io.BytesIO()
    if form == "parquet":
        parquet.write_table(rows, out)
    else:
        with (pa.ipc.new_stream if form == "arrow stream" else pa.ipc.new_file)(out, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=20)
    return out.getvalue()


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Let standard input hold some bytes."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


@pytest.mark.parametrize("form", FORMATS)
def test_standard_input_is_read_as_a_file(form: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ["a", "b", "color"]
    shell.good("fit", "data.csv", "-t", "y", "--features", ",".join(columns), "-o", "m.adaline")
    rows = [row["prediction"] for row in shell.good("predict", "m.adaline", "data.csv").rows]
    name = "/dev/stdin" if form == "tsv" else "-"
    give(monkeypatch, as_bytes(form))
    source = open_table(name, target="y", features=columns)
    assert LinearRegression().fit(source).coef_.tolist() == load("m.adaline").coef_.tolist()
    assert [row["prediction"] for row in shell.good("predict", "m.adaline", name, stdin=as_bytes(form)).rows] == rows


def test_bad_rows_of_standard_input_are_refused(shell: Shell) -> None:
    shell.good("fit", "data.csv", "-t", "y", "--features", "a,b,color", "-o", "m.adaline")
    for content, said in (
        (b"a,b,color\n1,2,red\n2,x,red\n", "stdin, line 3: non-numeric value 'x' of b"),
        (b"a,b,color\n1,2,red\n2,red\n", "Expected 3 columns, got 2"),
        (b"a,b\n1,2\n", "stdin has no column 'color'"),
        (b"a,b,color\n", "stdin has no rows"),
        (b'{"a":1,"b":"x","color":"red"}\n', "stdin, line 1: non-numeric value 'x' of b"),
        (b'{"a":1,"b":2,"color":"red\\""}\n{"a":1,"b":2,"color":"red"}\n', "red"),
        (as_bytes("arrow stream")[:800], "stdin"),
        (as_bytes("csv.gz")[:-100], "stdin is cut short"),
    ):
        assert said in shell.bad("predict", "m.adaline", "-", "--strict", stdin=content)


def test_a_row_that_never_ends_is_refused_and_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def counting(text: Any, kind: Any) -> Any:
        searched.append(len(text))
        return from_buffer(text, kind)

    from_buffer = np.frombuffer
    monkeypatch.setattr(np, "frombuffer", counting)
    monkeypatch.setattr(pipes, "LONGEST", 2**20)
    give(monkeypatch, b'a,b\n1,"2\n' + 2**20 * b"3\n")
    rows = pipes.tables_in(pipes.open_pipe("-"))
    assert rows is not None
    with pytest.raises(UnreadableTable, match="is a quote never closed"):
        list(rows)
    assert sum(searched) < 2**21


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "-", "-t", "y", "--systems", "Ridge", "--folds", "2", "--features", "a,b"],
        ["separable", "-", "-t", "flag", "--features", "b"],
        ["select", "-", "-t", "y", "-s", "Ridge", "--parameter", "penalty=1,2", "--features", "a,b"],
        ["update", "m.adaline", "-"],
    ],
)
def test_every_command_takes_standard_input(words: list[str], shell: Shell, temporary: Path) -> None:
    shell.good("fit", "data.csv", *AB, "-o", "m.adaline")
    shell.good(*words, stdin=as_bytes("csv"))
    said = shell.bad(*words, stdin=b"a,b\n1,2\n1,2,3\n")
    assert "stdin, line 3" in said
    assert "temporary" not in said
    gc.collect()
    assert list(temporary.glob("adaline-pipe*")) == []


def test_a_pipe_without_a_table_says_what_to_do(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "stdin is empty: pipe a table into the command" in shell.bad("fit", "-", "-t", "y", stdin=b"")
    master, slave = os.openpty()
    with open(slave) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert "stdin is a terminal, not a table: pipe" in shell.bad("fit", "-", "-t", "y")
    os.close(master)
    monkeypatch.setattr(sys, "stdin", None)
    assert "stdin is closed: pipe" in shell.bad("fit", "-", "-t", "y")


def test_a_named_pipe_is_kept_for_further_passes(temporary: Path) -> None:
    os.mkfifo("rows")
    sender = Thread(target=lambda: Path("rows").write_bytes(as_bytes("json lines")))
    sender.start()
    source = open_table("rows", target="y", features=["a", "b"])
    sender.join()
    assert [file.stat().st_mode & 0o777 for file in temporary.glob("adaline-pipe*")] == [0o700]
    wanted = LinearRegression().fit(open_table("data.csv", target="y", features=["a", "b"])).coef_
    assert LinearRegression().fit(source).coef_.tolist() == wanted.tolist()


@pytest.mark.parametrize("sent", [pytest.param(None, marks=pytest.mark.night), signal.SIGINT])
def test_what_was_kept_is_removed_at_the_end_and_after_signals(sent: signal.Signals | None, temporary: Path) -> None:
    environment = {**ENVIRONMENT, "TMPDIR": "temporary"}
    words = ["timeout", "60", sys.executable, "-m", "adaline", "fit", "-", *AB]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(as_bytes("csv"))
        if sent is None:
            process.stdin.close()
        else:
            process.stdin.flush()
            while process.poll() is None and not list(temporary.glob("adaline-pipe*/stdin.csv")):
                time.sleep(0.01)
            process.send_signal(sent)
        assert process.wait() == (0 if sent is None else 128 + sent)
    assert list(temporary.iterdir()) == []


def test_types_of_json_that_change_are_those_of_all_rows(shell: Shell) -> None:
    shell.good("fit", "data.csv", *AB, "-o", "m.adaline")
    for first, then in ((1, 2.5), (None, "text"), (1, "text"), (True, 3)):
        rows = [{"a": 1.0, "b": 2.0, "id": first}] * 25_000 + [{"a": 1.0, "b": 2.0, "id": then}]
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        shell.good("predict", "m.adaline", "-", "-o", "out.parquet", stdin=content)
        found = parquet.read_table("out.parquet").column("id")
        assert len(found) == len(rows)
        assert str(found[-1].as_py()).strip('"') == str(then)
    rows = [{"a": 1, "b": 2.0, "id": 1}] * 2500 + [{"a": 1.5, "b": 2.0, "id": 2.5}]
    printed = shell.good("predict", "m.adaline", "-", stdin="".join(json.dumps(row) + "\n" for row in rows).encode())
    assert len(printed.rows) == len(rows)
    assert (printed.rows[0]["a"], printed.rows[-1]["a"], printed.rows[-1]["id"]) == ("1", "1.5", "2.5")


def test_rows_that_came_through_a_pipe_are_not_held() -> None:
    rows = PipedTable("stdin", iter([pa.table({"a": ["1"]})] * 2), None, ("",))
    assert rows.written([]) is None
    assert sum(count for count, _ in rows.runs(["a"], "TRUE", 10)) == 2
    assert not rows.came


def test_a_query_reads_no_pipe(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo("rows")
    give(monkeypatch, as_bytes("csv"))
    for name in ("-", "rows"):
        assert "the query: " in shell.bad("fit", f"SELECT * FROM '{name}'", "-t", "y")
    assert sys.stdin.buffer.tell() == 0


@pytest.mark.slow
def test_rows_are_predicted_as_they_come(shell: Shell) -> None:
    shell.fit(["x,c,y", "1,p,2", "2,q,4", "3,p,5", "4,q,9", "5,p,10", "6,q,11"])
    wanted = [float(row["prediction"]) for row in shell.good("predict", "m.adaline", "old.csv").rows]
    words = ["timeout", "60", sys.executable, "-m", "adaline", "predict", "m.adaline", "-", "--keep", "note"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        found = []
        process.stdin.write("note,c,x\n")
        for i, row in enumerate([f'"two\n{n}",{c},{n}\n' for n, c in zip(range(1, 7), "pqpqpq", strict=True)]):
            process.stdin.write(row)
            process.stdin.flush()
            lines = [process.stdout.readline() for _ in range(3 if i == 0 else 2)][-2:]
            assert lines[0] == '"two\n'
            found.append(float(lines[1].split(",")[1]))
        process.stdin.close()
        assert process.wait() == 0
    assert found == wanted


def test_lags_of_rows_that_come_through_a_pipe(shell: Shell) -> None:
    written(["x,y", *(f"{i * i % 7},{(i - 1) ** 2 % 7 + 1}" for i in range(12))], "rows.csv")
    shell.good("fit", "rows.csv", "--formula", "y ~ lag(x, 1)", "-o", "m.adaline")
    wanted = shell.good("predict", "m.adaline", "rows.csv").rows
    assert shell.good("predict", "m.adaline", "-", stdin=Path("rows.csv").read_bytes()).rows == wanted
    assert sum(row["prediction"] == "" for row in wanted) == 1
