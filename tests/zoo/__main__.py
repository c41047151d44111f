"""Try `adaline compare` on public tables and on awkward files: python -m tests.zoo.

python -m tests.zoo 'wooldridge/*' 'awkward/na*'     those whose names match
python -m tests.zoo --sample 40 --page               40 of all, and a page about them
python -m tests.zoo --accept                         keep the outcomes as those that are expected from now on
"""

from __future__ import annotations

import argparse
import fnmatch
import random
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.zoo.tables import PACKAGES, public_tables

sys.path.append(str(PACKAGES))  # for what writes workbooks; before pandas is asked to

from tests.zoo.awkward import AWKWARD
from tests.zoo.outcomes import read_outcomes, write_outcomes
from tests.zoo.run import FAILED, REFUSED, Outcome, run_awkward, run_public, warm_up

PAGE = Path(__file__).parents[2] / "docs" / "zoo.md"
FOLDER = re.compile(r"[^\s']*/zoo-\w+/")  # where awkward files are written
BANDS = (1, 2, 5, 15, 40)  # seconds, as the page shows them: so that it changes little from run to run


def main() -> int:
    """Read the arguments, run, and report."""
    given = _arguments()
    chosen = _chosen(given.patterns, given.sample, given.seed)
    whole = not given.patterns and given.sample is None
    expected = read_outcomes()
    outcomes: list[Outcome] = []
    if given.warm:
        warm_up()
    for outcome in _run_all(chosen, given.jobs):
        outcomes.append(_compared(outcome, expected, given.accept))
        print(_line(outcomes[-1]), flush=True)
    what = f"Seconds, {'without start-up' if given.warm else 'start-up included'}"
    if given.warm or given.jobs > 1:  # wall time says nothing
        outcomes = [replace(one, seconds=one.processor) for one in outcomes]
        what = f"Processor {what[0].lower()}{what[1:]}"
    print(_summary(outcomes, what))
    if given.accept:
        known = {(one.table, one.target): one.outcome for one in outcomes if one.outcome != FAILED}
        write_outcomes(known if whole else expected | known)
    if outcomes and (whole or given.page):
        PAGE.write_text(_page(outcomes, 0 if whole else len(_chosen([], None, 0)), what), encoding="utf-8")
    return 1 if any(one.outcome == FAILED for one in outcomes) else 0


def _run_all(chosen: list[tuple[str, Callable[[], Iterable[Outcome]]]], jobs: int) -> Iterator[Outcome]:
    if jobs == 1:
        for one in chosen:
            yield from _guarded(*one)
        return
    with ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(lambda one: list(_guarded(*one)), chosen):
            yield from found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description="Try adaline compare on many tables.")
    parser.add_argument("patterns", nargs="*", help="names of tables, such as 'vega/*'; all by default")
    parser.add_argument("--sample", type=int, help="how many tables, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; times count only for one")
    parser.add_argument(
        "--warm", action="store_true", help="without the start-up: quicker, and the times are of the processor"
    )
    parser.add_argument("--page", action="store_true", help="write docs/zoo.md also where not all tables are run")
    parser.add_argument("--accept", action="store_true", help="write the outcomes as those that are expected")
    return parser.parse_args()


def _chosen(patterns: list[str], sample: int | None, seed: int) -> list[tuple[str, Callable[[], Iterable[Outcome]]]]:
    """Return names and functions that run them."""
    names: list[tuple[str, Callable[[], Iterable[Outcome]]]] = [
        *((f"awkward/{file.name}", partial(_one, file)) for file in AWKWARD),
        *((table.title, partial(run_public, table)) for table in public_tables()),
    ]
    if patterns:
        names = [one for one in names if any(fnmatch.fnmatch(one[0], pattern) for pattern in patterns)]
    return names if sample is None else random.Random(seed).sample(names, min(sample, len(names)))


def _one(file: object) -> list[Outcome]:
    return [run_awkward(file)]  # type: ignore[arg-type]


def _guarded(name: str, run: Callable[[], Iterable[Outcome]]) -> Iterable[Outcome]:
    """Run; a table that cannot be prepared is a failure of the zoo itself."""
    try:
        yield from run()
    except Exception as error:
        yield Outcome(name, "", FAILED, f"the zoo cannot prepare it: {type(error).__name__}: {error}")


def _compared(found: Outcome, expected: dict[tuple[str, str], str], accept: bool) -> Outcome:
    """Return an outcome; one that was another before is a failure, until it is accepted."""
    before = expected.get((found.table, found.target))
    if accept or found.outcome == FAILED or before in (None, found.outcome):
        return found
    return replace(found, outcome=FAILED, text=f"was {before}, is {found.outcome} ({found.text})")


def _line(one: Outcome) -> str:
    value = "" if one.value is None else f"{one.measure} {one.value:.3g}, "
    took = f"{one.seconds:.1f} s, {one.processor:.1f} s of the processor, {one.memory / 2**20:.0f} MiB"
    line = f"{one.outcome:8}{one.table} -> {one.target!r}: {one.text} ({value}{took})"
    return f"{line}\n        {one.command}" if one.outcome == FAILED else line


def _summary(outcomes: list[Outcome], what: str) -> str:
    """Return counts and times, failures first."""
    failures = [one for one in outcomes if one.outcome == FAILED]
    slowest = sorted(outcomes, key=lambda one: -one.seconds)[:10]
    return "\n".join(
        [
            *(["", f"Failures: {len(failures)}", *map(_line, failures)] if failures else []),
            "",
            "Slowest:",
            *(f"{one.seconds:6.1f} s  {one.table} -> {one.target!r}" for one in slowest),
            "",
            _counts(outcomes),
            _times(outcomes, what),
        ]
    )


def _counts(outcomes: list[Outcome]) -> str:
    tables = len({one.table for one in outcomes})
    refused, failed = (sum(one.outcome == what for one in outcomes) for what in (REFUSED, FAILED))
    return (
        f"{len(outcomes)} runs on {tables} tables: {len(outcomes) - refused - failed} ok, {refused} refused with a "
        f"remedy that works, {failed} failed."
    )


def _times(outcomes: list[Outcome], what: str) -> str:
    seconds = sorted(one.seconds for one in outcomes)
    if not seconds:
        return ""
    at = {share: seconds[min(len(seconds) - 1, int(share * len(seconds)))] for share in (0.9, 0.99)}
    return (
        f"{what}: median {statistics.median(seconds):.1f}, 90 of 100 within {at[0.9]:.1f}, "
        f"99 of 100 within {at[0.99]:.1f}, slowest {seconds[-1]:.1f}."
    )


def _page(outcomes: list[Outcome], every: int, what: str) -> str:
    """Return the page of the documentation: a line a run; `every` is the number of tables that a sample is of."""
    tables = len({one.table for one in outcomes})
    part = f" These are {tables} of {every} tables and files, drawn at random." if tables < every else ""
    awkward = {file.name: file.what for file in AWKWARD}
    slowest = sorted(outcomes, key=lambda one: -one.seconds)[:10]
    ordered = sorted(outcomes, key=lambda one: (one.table, one.target))
    public = [one for one in ordered if not one.table.startswith("awkward/")]
    files = [(one, awkward[one.table.removeprefix("awkward/")]) for one in ordered if one.table.startswith("awkward/")]
    return "\n".join(
        [
            "# The zoo",
            "",
            "Written by `make zoo`: `adaline compare` with its defaults on public tables that pip installs, each as",
            "it comes and with two targets, and on awkward files. A run succeeds, or is refused with a remedy that is",
            "then followed and works. A column that is neither used nor named in a note, a warning of a library, more",
            "than 120 s or 3 GiB are failures.",
            "",
            _counts(outcomes) + " " + _times(outcomes, what) + part,
            "",
            "Slowest: " + ", ".join(f"{_cell(one.table)} ({one.seconds:.0f} s)" for one in slowest) + ".",
            "",
            "## Awkward files",
            "",
            "| file | what is awkward | target | outcome | R² or error rate | s |",
            "|---|---|---|---|--:|--:|",
            *(f"| {_cell(one.table.removeprefix('awkward/'))} | {_cell(text)} | {_row(one)}" for one, text in files),
            "",
            "## Public tables",
            "",
            "| table | target | outcome | R² or error rate | s |",
            "|---|---|---|--:|--:|",
            *(f"| {_cell(one.table)} | {_row(one)}" for one in public),
            "",
        ]
    )


def _row(one: Outcome) -> str:
    band = next((f"≤ {most}" for most in BANDS if one.seconds <= most), f"> {BANDS[-1]}")
    value = "" if one.value is None else f"{'R² ' if one.measure == 'R²' else ''}{one.value:.2g}"
    value = value if one.measure != "error rate" or one.value is None else f"{100 * one.value:.2g} %"
    text = one.text if one.outcome != REFUSED else f"refused: {one.text}"
    text = f"**failed**: {text}" if one.outcome == FAILED else text
    return f"{_cell(one.target)} | {_cell(text)} | {value} | {band} |"


def _cell(text: str) -> str:
    shown = FOLDER.sub("", " ".join(text.split()))
    shown = shown if len(shown) <= 160 else shown[:159] + "…"
    return shown.translate({ord(sign): f"\\{sign}" for sign in "|*_<>[]`"})


if __name__ == "__main__":
    sys.exit(main())
