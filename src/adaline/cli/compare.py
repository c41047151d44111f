"""`adaline compare`: compares systems on a table, shows the result, and writes the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adaline import storage
from adaline.cli.app import Options
from adaline.cli.exit import MODEL_START, REPORT_START, check_output, note
from adaline.cli.output import print_json, progress, say, show_errors
from adaline.comparison.compare import Comparison, compare_request
from adaline.comparison.findings import SERIOUS, WARNING
from adaline.comparison.open_data import DataRequest
from adaline.errors import InvalidParameter
from adaline.wording import counted

REPORT = Path("report.html")


def run_compare(
    options: Options,
    folds: int,
    seed: int,
    systems: Sequence[str] | None,
    task: str | None,
    *,
    report: Path | None,
    save: Path | None,
    as_json: bool,
    words: str,
    cost: str | None = None,
) -> None:
    """Compare systems on a table; `words` is the command line, which the report repeats."""
    if report is None and not as_json:
        report = REPORT
    check_output(report, replaces=REPORT_START)
    check_output(save, replaces=MODEL_START)
    if report is not None and report == save:
        raise InvalidParameter(f"{save} cannot be both the report and the model: name two files")
    with progress() as show_step:
        request = DataRequest.of(**options, shell=True)
        found = compare_request(
            request, folds=folds, seed=seed, systems=systems, task=task, progress=show_step, cost=cost
        )
        found = replace(found, data=replace(found.data, command=words))
        if report is not None:
            show_step(0, None, "writing the report")
            found.report(report)
    for text in found.notes:
        note(text)
    if save is not None:
        if found.recommended is None:
            raise InvalidParameter(f"nothing to save in {save}: no system could be fitted")
        storage.save(found.fit(), save)
    if as_json:
        written = {"report": None if report is None else str(report), "saved": None if save is None else str(save)}
        print_json({**found.to_dict(), **written})
        return
    _show(found)
    say()
    if report is not None:
        say(f"report: {report}")
    if save is not None and found.source is not None:
        say(f"saved: {save} ({found.recommendation.system}, fitted to all {counted(found.source.count_rows())})")


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
