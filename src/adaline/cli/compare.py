"""`adaline compare`: compares systems on a table, shows the result, and writes the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from adaline import storage
from adaline.cli.exit import MODEL_START, REPORT_START, check_output, note
from adaline.cli.output import LiveTable, print_json, progress, say, show_errors
from adaline.comparison.compare import CompareOptions, Comparison, OnResult, certificate_text, compare_request, rank
from adaline.comparison.findings import SERIOUS, WARNING
from adaline.comparison.open_data import DataRequest
from adaline.comparison.recommendation import with_error
from adaline.comparison.result import Result
from adaline.comparison.table import ReadData
from adaline.errors import InvalidParameter
from adaline.wording import counted

REPORT = Path("report.html")
HEADINGS = {"system": "system", "error": "error", "seconds": "fit", "certificate": "certificate"}


def run_compare(
    request: DataRequest,
    how: CompareOptions,
    reading: Future[ReadData] | None,
    *,
    report: Path | None,
    save: Path | None,
    as_json: bool,
    words: str,
) -> None:
    """Compare systems on a table, which may be `reading` already; `words`: the command line, for the report."""
    if report is None and not as_json:
        report = REPORT
    check_output(report, replaces=REPORT_START)
    check_output(save, replaces=MODEL_START)
    if report is not None and report == save:
        raise InvalidParameter(f"{save} cannot be both the report and the model: name two files")
    drawing = Thread(target=_import_plots)

    with bar_alone() if as_json else live_table() as (show_step, show_result):

        def show_and_import(result: Result, measure: str) -> None:
            if show_result is not None:
                show_result(result, measure)
            if report is not None and drawing.ident is None:  # while the other systems are fitted
                drawing.start()

        found = compare_request(request, how, show_step, show_and_import, reading)
        found = replace(found, data=replace(found.data, command=words))
        if report is not None:
            show_step(0, 0, "writing the report")
            if drawing.ident is not None:
                drawing.join()
            report = _written(found, report)
    for text in found.notes:
        note(text)
    if save is not None:
        if found.recommended is None:
            raise InvalidParameter(f"nothing to save in {save}: no system could be fitted")
        storage.save(found.fit(), save)
    if as_json:
        written = {"report": None if report is None else str(report), "saved": None if save is None else str(save)}
        print_json({**found.to_dict(), "interrupted": found.interrupted, **written})
        return
    _show(found)
    say()
    if report is not None:
        say(f"report: {report}")
    if save is not None and found.source is not None:
        say(f"saved: {save} ({found.recommendation.system}, fitted to all {counted(found.source.count_rows())})")


def _import_plots() -> None:
    """Import what draws a report, and make ready its page."""
    with suppress(ImportError):  # the report says it
        for name in ("matplotlib.figure", "matplotlib.backends.backend_svg"):
            import_module(name)
        import_module("adaline.comparison.report").template()


def _written(found: Comparison, report: Path) -> Path | None:
    """Write the report and return its path; None where that was interrupted."""
    try:
        return found.report(report)
    except KeyboardInterrupt:
        note("interrupted: the report was not written")
        return None


@contextmanager
def live_table() -> Iterator[tuple[Callable[[int, int, str], None], OnResult]]:
    """Give functions that show what is running, and a line for each system as it finishes, the best on top."""
    with LiveTable(HEADINGS, order=lambda row: row["order"]) as table:
        table.status("reading")
        yield (
            lambda done, total, text: table.status(text, done, total),
            lambda result, measure: table.add(_live_row(result, measure)),
        )


@contextmanager
def bar_alone() -> Iterator[tuple[Callable[[int, int, str], None], None]]:
    """Give a function that shows what is running, where nothing but JSON is wanted."""
    with progress() as show_step:
        yield show_step, None


def _live_row(result: Result, measure: str) -> dict[str, Any]:
    return {
        "system": result.label,
        "error": f"{measure} {with_error(result, measure)}" if not result.failure else "failed",
        "seconds": "" if result.failure else f"{result.seconds:.2g} s",
        "certificate": result.failure or "" if result.certificate is None else certificate_text(result),
        "order": rank(result),
    }


def _show(found: Comparison) -> None:
    table = found.table
    say(table.title, style="bold")
    say()
    show_errors(table, "recommended")
    for line in table.notes:
        say(line, style="yellow")
    say()
    say(str(found.recommendation), style="bold")
    if found.threshold is not None:
        say(str(found.threshold))
    for finding in found.findings:
        say(str(finding), style={SERIOUS: "red", WARNING: "yellow"}.get(finding.severity, ""))
