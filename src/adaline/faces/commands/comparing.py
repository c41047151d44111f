"""The main job on the command line: compare systems on a table, show who does best, write the report."""

from __future__ import annotations

from pathlib import Path

from adaline import storage
from adaline.errors import InvalidParameter
from adaline.faces.choice import with_error
from adaline.faces.commands.asking import Trials, Wanted
from adaline.faces.commands.choosing import found_system, task_of
from adaline.faces.commands.describing import table_of
from adaline.faces.commands.ending import check_output, note
from adaline.faces.commands.opening import known_as, open_data
from adaline.faces.commands.showing import print_json, progress, say, show
from adaline.faces.compare import Comparison, compare, standing
from adaline.faces.finding import SERIOUS, WARNING
from adaline.faces.table import CLASSIFICATION, REGRESSION
from adaline.faces.trial import Result
from adaline.systems import SYSTEMS

REPORT = Path("report.html")


def run(wanted: Wanted, trials: Trials, report: Path | None, save: Path | None, as_json: bool, command: str) -> None:
    """Compare systems on a table."""
    if report is None and not as_json:
        report = REPORT
        _refuse_foreign(report)
    check_output(report)
    check_output(save)
    names = [found_system(name) for name in trials.systems]
    asked = trials.task or task_of(names)
    opened = open_data(wanted)
    task = asked or (CLASSIFICATION if opened.labels else REGRESSION)
    if asked is None and opened.few:
        note(
            f"{opened.target} has only {opened.few} different whole numbers and is taken for an amount; if they are "
            "classes, say --task classification"
        )
    table = table_of(opened, task, trials.seed, known_as(wanted.data), command, wanted.data, wanted.table)
    with progress() as bar:
        line = bar.add_task("reading", total=None)
        found = compare(
            table,
            folds=trials.folds,
            seed=trials.seed,
            systems=names or None,
            task=task,
            progress=lambda done, total, text: bar.update(line, completed=done, total=total, description=text),
        )
        if report is not None:
            bar.update(line, description="writing the report", total=None)
            _write(found, report)
    best = found.recommended
    if save is not None:
        if best is None:
            raise InvalidParameter(f"nothing to save in {save}: no system could be fitted")
        storage.save(SYSTEMS[best.system](**best.settings).fit(opened.source), save)
    if as_json:
        written = {"report": None if report is None else str(report), "saved": None if save is None else str(save)}
        print_json({**found.to_dict(), **written})
        return
    _show(found)
    say()
    if report is not None:
        say(f"report: {report}")
    if save is not None and best is not None:
        say(f"saved: {save} ({best.label}, fitted to all {opened.source.count_rows():,} rows)")


def _show(found: Comparison) -> None:
    n, d = found.table.X.shape
    columns = f"{len(found.table.groups())} columns" + (f" ({d} coded)" if d != len(found.table.groups()) else "")
    source = f"{found.table.source}: " if found.table.source else ""
    say(f"{source}{found.table.target} from {columns}, {n:,} rows, {found.folds} folds", style="bold")
    say()
    rows = [*found.results, found.baseline]
    chosen = {i: "bold green" for i, result in enumerate(rows) if result is found.recommended}
    head = ["", "system", found.measure, found.second_measure, "fit", "certificate"]
    show(head, [_row(found, result) for result in rows], left=2, styles=chosen, right_end=5)
    for result in rows:
        if result.failure:
            say(f"{result.label} failed: {result.failure}", style="yellow")
    say()
    say(found.reason)
    for finding in found.findings:
        style = {SERIOUS: "red", WARNING: "yellow"}.get(finding.severity, "")
        say(f"{finding.severity}: {finding.title}. {finding.text}", style=style)


def _row(found: Comparison, result: Result) -> list[str]:
    mark = ">" if result is found.recommended else ""
    if result.failure:
        return [mark, result.label, "failed", "", "", ""]
    second = "-" if result.second != result.second else f"{result.second:.4f}"
    proof = "baseline" if result.certificate is None else standing(result.certificate)
    return [mark, result.label, with_error(result, found.measure), second, f"{result.seconds:.2g} s", proof]


def _write(found: Comparison, report: Path) -> None:
    from adaline.faces.report import write_report

    write_report(found, report)


def _refuse_foreign(report: Path) -> None:
    """Refuse to replace a file that nobody named, unless it is such a report."""
    if report.is_file():
        with report.open("rb") as file:
            if b"adaline compare" not in file.read(4096):
                raise InvalidParameter(f"{report} is there and is not a report of adaline: name another by -o")
