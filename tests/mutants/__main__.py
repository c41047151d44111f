"""python -m tests.mutants --count 520 --kernels 80 --seed 0: which share of small changes of the source and of the
kernels' C++ the tests notice, by folder.

The tests are run once, to find which of them reach each change; then those that do are run on each mutant, one case of
every test first, until one fails, for about --seconds at most. A change that no test reaches survives. `--sites FILE`
takes the mutants of an earlier run, whose file this is, so that two versions of the tests can be compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.mutants import kernels
from tests.mutants.sites import Site, draw

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "adaline"
BUILD = ROOT / "build" / "mutants"
OUTCOMES = ("killed", "timeout", "survived", "not reached")


def main() -> int:
    """Print the table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=520)
    parser.add_argument("--kernels", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sites", type=Path)
    parser.add_argument("--only", help="run the tests on this mutant of the source alone, named as the table names it")
    parser.add_argument("--reached", action="store_true", help="take which tests reach mutants from the last run")
    parser.add_argument("--output", type=Path, default=BUILD / "mutants.json")
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    if given.only:
        return _run_one(given.only, given.tests)
    BUILD.mkdir(parents=True, exist_ok=True)
    given.output.unlink(missing_ok=True)
    if given.sites is None:
        sites = draw(ROOT, PACKAGE, given.count, given.seed) + kernels.draw(ROOT, given.kernels, given.seed)
    else:
        sites = [Site(*one["site"]) for one in json.loads(given.sites.read_text())]
    own = {site: number for number, site in enumerate(sites) if site.path.startswith("native/")}
    mutants: dict[str, Any] = {
        "sites": [[site.path, site.line, site.column, site.change] for site in sites],
        "kernels": str(kernels.build(ROOT, own)) if own else "",
    }
    start = time.monotonic()
    if not given.reached:
        _reach(mutants, given.tests, given.jobs)
    tests, seconds = _reaching()
    reaching = {test for names in tests.values() for test in names}
    print(
        f"tests: {len(seconds):,}, {sum(seconds.values()):,.0f} s of processor time; {len(reaching):,} reach mutants; "
        f"{time.monotonic() - start:,.0f} s by the clock",
        flush=True,
    )
    known = [] if given.sites is None else [one.get("test", "") for one in json.loads(given.sites.read_text())]
    chosen = {
        number: _chosen(tests[number], seconds, given.seconds, known[number] if known else "")
        for number in range(len(sites))
    }
    outcomes = _outcomes(mutants, chosen, seconds, given.tests, given.jobs)
    records = [
        {"site": [site.path, site.line, site.column, site.change], "tests": len(tests[number]), **outcomes[number]}
        for number, site in enumerate(sites)
    ]
    given.output.write_text(json.dumps(records, indent=1))
    print(_table(records))
    for one in records:
        if one["outcome"] in ("survived", "not reached"):
            print(f"{one['outcome']}: {Site(*one['site'])}")
    print(f"{time.monotonic() - start:.0f} s")
    return 0


def _run_one(name: str, tests: list[str]) -> int:
    """Run tests on one mutant, shown as they run; return the status of pytest."""
    place, change = name.split(" ", 1)
    path, line, column = place.split(":")
    plan = BUILD / f"one.{os.getpid()}.json"
    BUILD.mkdir(parents=True, exist_ok=True)
    plan.write_text(json.dumps({"sites": [[path, int(line), int(column), change]], "kernels": "", "active": 0}))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "tests.mutants.plugin",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    try:
        return subprocess.run(
            command, cwd=ROOT, env={**os.environ, "ADALINE_MUTANTS": str(plan)}, check=False
        ).returncode
    finally:
        plan.unlink()


def _reach(mutants: dict[str, Any], tests: list[str], jobs: int) -> None:
    """Run the tests, to find which of them reach each site."""
    plan = BUILD / "reach.json"
    for old in BUILD.glob("reach.*"):
        old.unlink()
    plan.write_text(json.dumps(mutants))
    _pytest(plan, tests, "-n", str(jobs), "--dist", "worksteal").wait()
    if not any(BUILD.glob("reach.*.json")):
        sys.exit(f"no test ran: read {plan.with_suffix('.log')}")


def _reaching() -> tuple[dict[int, list[str]], dict[str, float]]:
    """Return the tests that reach each site, and their seconds."""
    by_site: dict[int, list[str]] = defaultdict(list)
    seconds: dict[str, float] = {}
    for file in BUILD.glob("reach.*.json"):
        found = json.loads(file.read_text())
        seconds.update(found["seconds"])
        for test, reached in found["reached"].items():
            for number in reached:
                by_site[number].append(test)
    return by_site, seconds


def _chosen(tests: list[str], seconds: dict[str, float], most: float, known: str) -> list[str]:
    """Return tests of together `most` seconds, one at least, in the order in which they are likely to fail.

    First the one that failed in an earlier run, then one case of every test function, the quickest first, then others.
    """
    place: dict[str, int] = defaultdict(int)
    order = []
    for test in sorted(tests, key=lambda one: seconds[one]):
        name = test.partition("[")[0]
        order.append((test != known, place[name], seconds[test], test))
        place[name] += 1
    out, total = [], 0.0
    for *_, test in sorted(order):
        total += seconds[test]
        if out and total > most:
            break
        out.append(test)
    return out


def _outcomes(
    mutants: dict[str, Any], chosen: dict[int, list[str]], seconds: dict[str, float], tests: list[str], jobs: int
) -> dict[int, dict[str, Any]]:
    """Return what became of each mutant."""
    out: dict[int, dict[str, Any]] = {number: {"outcome": "not reached"} for number in range(len(mutants["sites"]))}
    reached = [number for number, names in chosen.items() if names]
    running = []
    for job in range(jobs):
        plan = BUILD / f"kill.{job}.json"
        plan.with_suffix(".results").unlink(missing_ok=True)
        own = {number: chosen[number] for number in reached[job::jobs]}
        named = {test for names in own.values() for test in names}
        plan.write_text(json.dumps({**mutants, "tests": own, "seconds": {test: seconds[test] for test in named}}))
        running.append((plan, _pytest(plan, tests, "-p", "no:xdist")))
    for plan, process in running:
        process.wait()
        for line in plan.with_suffix(".results").read_text().splitlines():
            number, outcome, test, took = json.loads(line)
            out[number] = {"outcome": outcome, "test": test, "seconds": round(took, 2)}
    return out


def _pytest(plan: Path, tests: list[str], *options: str) -> subprocess.Popen[bytes]:
    """Start pytest with the plugin; what it prints goes beside the plan."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.mutants.plugin", "-p", "no:cacheprovider"]
    with plan.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            [*command, *options, *tests],
            cwd=ROOT,
            env={**os.environ, "ADALINE_MUTANTS": str(plan), "CI": "1"},
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _table(records: list[dict[str, Any]]) -> str:
    """Return how many mutants of each folder were noticed."""
    folders: dict[str, list[str]] = defaultdict(list)
    for one in records:
        folder, *below = Path(one["site"][0].removeprefix("src/adaline/")).parts
        folders[folder if below else "."].append(one["outcome"])
    lines = [
        f"{'folder':14} {'mutants':>7} {'killed':>7} {'timeout':>7} {'survived':>8} {'not reached':>11} {'share':>7}"
    ]
    for name, outcomes in [*sorted(folders.items()), ("all", [one["outcome"] for one in records])]:
        count = {one: outcomes.count(one) for one in OUTCOMES}
        share = (count["killed"] + count["timeout"]) / len(outcomes)
        lines.append(
            f"{name:14} {len(outcomes):7} {count['killed']:7} {count['timeout']:7} {count['survived']:8} "
            f"{count['not reached']:11} {share:7.1%}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
