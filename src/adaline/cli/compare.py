"""`adaline compare`: compares systems on a table, shows the result, and writes the report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

from adaline import interrupts, storage
from adaline.cli.exit import MODEL_START, REPORT_START, check_output, note
from adaline.cli.output import LiveTable, print_json, progress, say, show_errors
from adaline.comparison.compare import CompareOptions, Comparison, OnResult, SoFar, compare_request
from adaline.comparison.drawing import DrawingProcess
from adaline.comparison.findings import SERIOUS, WARNING
from adaline.comparison.open_data import DataRequest
from adaline.comparison.ranking import INTERRUPTED, certificate_text, rank
from adaline.comparison.recommendation import with_error
from adaline.comparison.result import Result
from adaline.comparison.table import ReadData
from adaline.errors import InvalidParameter
from adaline.wording import counted, file_name

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
    drawing: DrawingProcess | None = None,
) -> None:
    """Compare systems on a table, which may be `reading` already.

    `words` is the command line, for the report; `drawing` a process that draws its pictures.
    """
    if report is None and not as_json:
        report = REPORT
    check_output(report, (".html", ".htm"), replaces=REPORT_START)
    check_output(save, replaces=MODEL_START)
    if report is not None and report == save:
        raise InvalidParameter(f"{save} cannot be both the report and the model: name two files")
    output = _Output(report, save, as_json, words, drawing)
    importing = Thread(target=_import_report)
    unfinished: list[SoFar] = []

    def show_unfinished() -> bool:
        found = unfinished[-1]() if unfinished else None
        if found is not None:
            display.close()
            output.show_unfinished(found, saves=False)
        return found is not None

    with interrupts.current.showing(show_unfinished) as claim:
        with ExitStack() as display:
            show_step, show_result = display.enter_context(bar_alone() if as_json else live_table())

            def show_and_import(result: Result, measure: str) -> None:
                if show_result is not None:
                    show_result(result, measure)
                if report is not None and importing.ident is None:  # while the other systems are fitted
                    importing.start()

            found = compare_request(request, how, show_step, show_and_import, reading, unfinished.append)
            if not found.interrupted:
                unfinished.append(lambda: replace(found, notes=(*found.notes, f"{INTERRUPTED} the report")))
                if report is not None:
                    show_step(0, 0, "writing the report")
                    if importing.ident is not None:
                        importing.join()
                output.write_report(found)
        claim()
    if found.interrupted:
        output.show_unfinished(found)
    else:
        output.show(found)


@dataclass
class _Output:
    """Where a comparison goes: the report, the model saved, and stdout."""

    report: Path | None
    save: Path | None
    as_json: bool
    words: str
    drawing: DrawingProcess | None = None

    def show(self, found: Comparison) -> None:
        """Show everything, and save the recommended system; the report is written already."""
        for text in found.notes:
            note(text)
        if self.as_json:
            self._save(found)
            self._print_json(found)
            return
        _show(found)
        say()
        self._save(found)
        self._say_files(found)

    def show_unfinished(self, found: Comparison, saves: bool = True) -> None:
        """Show a comparison that was interrupted, then write the report: there may be no time for it."""
        for text in found.notes:
            note(text)
        if self.as_json:
            self.report = self.save = None
            self._print_json(found)
            return
        _show(found)
        say()
        sys.stdout.flush()
        self.write_report(found)
        if saves:
            self._save(found)
        else:
            self.save = None
        self._say_files(found)
        sys.stdout.flush()

    def write_report(self, found: Comparison) -> None:
        """Write the report; where that is interrupted there is none."""
        if self.report is None:
            return
        try:
            from adaline.comparison.report import write_report

            write_report(replace(found, data=replace(found.data, command=self.words)), self.report, self.drawing)
        except KeyboardInterrupt:
            note("interrupted: the report was not written")
            self.report = None

    def _save(self, found: Comparison) -> None:
        if self.save is not None:
            if found.recommended is None:
                raise InvalidParameter(f"nothing to save in {self.save}: no system could be fitted")
            interrupts.current.unharmed = f"{self.save} was not saved"
            storage.save(found.fit(), self.save)

    def _print_json(self, found: Comparison) -> None:
        files = {name: None if path is None else str(path) for name, path in self._files().items()}
        found = replace(found, data=replace(found.data, command=self.words))
        print_json({**found.to_dict(), "interrupted": found.interrupted, **files})

    def _say_files(self, found: Comparison) -> None:
        if self.report is not None:
            say(f"report: {file_name(self.report)}")
        if self.save is not None and found.source is not None:
            rows = counted(found.source.count_rows())
            advice = found.recommendation
            weak = "" if advice.useful else "; it predicts no better than a constant"
            say(f"saved: {file_name(self.save)} ({advice.system}, fitted to all {rows}{weak})")

    def _files(self) -> dict[str, Path | None]:
        return {"report": self.report, "saved": self.save}


def _import_report() -> None:
    """Import what writes a report, and make its page ready."""
    with suppress(ImportError):  # the report says it
        from adaline.comparison.report import template

        template()


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
        if advice := found.threshold.advice:
            say(advice)
    for finding in found.findings:
        say(str(finding), style={SERIOUS: "red", WARNING: "yellow"}.get(finding.severity, ""))
