"""The live table: sorted rows that fit a terminal, plain lines elsewhere, and an end that leaves nothing behind."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from adaline import interrupts
from adaline.cli.compare import _live_row
from adaline.cli.output import LiveTable
from adaline.comparison.compare import Comparison, compare_request
from adaline.comparison.ranking import INTERRUPTED
from tests.cli.command_line import Shell, written

COLUMNS = {"system": "system", "error": "RMSE", "seconds": "fit", "certificate": "certificate"}
ROWS: list[dict[str, Any]] = [
    {"system": "LinearRegression", "error": "0.814 ± 0.012", "seconds": "0.1 s", "certificate": "solved", "key": 2},
    {
        "system": "Ridge(" + 60 * "x" + ")",
        "error": "0.810 ± 0.012",
        "seconds": "9 s",
        "certificate": "solved",
        "key": 1,
    },
]


def live_table() -> LiveTable:
    return LiveTable(COLUMNS, order=lambda row: row["key"])


def interrupted() -> None:
    with live_table() as table:
        for row in ROWS:
            table.status("Ridge, fold 1", 0, 2)
            table.add(row)
        raise KeyboardInterrupt


@pytest.mark.parametrize("width", [60, 80, 120])
def test_rows_fit_the_terminal_best_first_and_numbers_are_whole(width: int) -> None:
    table = live_table()
    table.screen = Console(width=width, height=24)
    for row in ROWS:
        table.add(row)
    table.status("fold 1 of 5: Ridge", 1, 4)
    page = Console(width=width, height=24)
    with page.capture() as captured:
        page.print(table._drawn())
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= width
    assert [line.split("(")[0].split()[0] for line in lines[2:4]] == ["Ridge", "LinearRegression"]
    assert all(text in lines[2] for text in ("0.810 ± 0.012", "9 s"))
    assert lines[-1].startswith("1 of 4 · about ")


def test_elsewhere_each_row_is_a_line_of_progress_also_before_an_interrupt(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    out, err = capfd.readouterr()
    assert out == ""
    assert [line[:11] for line in err.splitlines()] == ["done: Linea", "done: Ridge"]


def test_a_terminal_is_as_it_was_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    main, terminal = os.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with open(terminal, "w") as screen:
        monkeypatch.setattr("sys.stderr", screen)
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    written = ""
    with suppress(OSError):  # by which a terminal that is closed ends; it is read in parts, as they come
        while part := os.read(main, 2**16):
            written += part.decode()
    os.close(main)
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")  # the cursor is shown again


def test_a_comparison_that_is_interrupted_shows_what_it_has_and_why_systems_failed(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, rows = [], []

    def interrupted(*given: Any) -> Comparison:
        shown.append(interrupts.current._results.show())  # type: ignore[union-attr]
        found = compare_request(*given)
        given[-1](lambda: replace(found, notes=(f"{INTERRUPTED} the end",)))
        shown.append(interrupts.current._results.show())  # type: ignore[union-attr]
        for change in ({}, {"certificate": None}, {"certificate": None, "failure": "too hard"}):
            rows.append(_live_row(replace(found.results[0], **change), found.measure)["certificate"])
        return replace(found, notes=(f"{INTERRUPTED} the end",))

    monkeypatch.setattr("adaline.cli.compare.compare_request", interrupted)
    lines = ["x,y", *(f"{i},{i + i % 3}" for i in range(30))]
    done = shell(
        "compare", written(lines, "t.csv"), "-t", "y", "--systems", "LinearRegression", "--folds", "2", "--json"
    )
    assert (shown, rows) == ([False, True], ["solved, 16.0 digits", "", "too hard"])
    assert done.out.count('"interrupted": true') == 2  # of the thread that ends the command, and of the command
