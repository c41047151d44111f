"""A plugin of pytest: imports the package with switches, finds which tests reach them, or which mutants they kill.

The mutants are in the file that ADALINE_MUTANTS names: {"sites": [[path, line, column, change], ...], "tests": ...,
"kernels": the path of a native module that has those of its sources}.
Without "tests" the run is an ordinary one, in which every worker writes which tests reached which mutants, and how long
each took. With "tests", {mutant: [test, ...]}, nothing is run but, for each mutant, a copy of the process that runs its
tests until one fails. With "active", the number of a mutant, the run is an ordinary one of that mutant.
"""

from __future__ import annotations

import builtins
import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from tests.mutants.sites import SWITCH, Site, with_switches

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "adaline"
MEMORY = 6 * 2**30  # bytes of address space that a mutant may take beyond those of the process that it is a copy of
LEAST_SECONDS, SLOWER = 10, 10  # that a test has, and so many times its own: a loop that does not end is noticed
NO_MUTANT = -1

PLAN = Path(os.environ["ADALINE_MUTANTS"])
plan: dict[str, Any] = json.loads(PLAN.read_text())
numbers = {Site(*site): number for number, site in enumerate(plan["sites"])}
reached: set[int] = set()
active: int = plan.get("active", NO_MUTANT)


def reach(number: int) -> bool:
    """Note that a site is reached; the source stays as it is."""
    reached.add(number)
    return False


def switch(number: int) -> bool:
    """Whether a site is the one that is changed."""
    return number == active


class MutantLoader(SourceFileLoader):
    """Compiles a module with its switches; nothing is kept on disk."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module."""
        path = Path(self.get_filename(fullname))
        source = path.read_text()
        name = path.relative_to(ROOT).as_posix()
        own = {site: number for site, number in numbers.items() if site.path == name}
        return compile(with_switches(source, name, own) if own else source, str(path), "exec", dont_inherit=True)


class MutantFinder(importlib.abc.MetaPathFinder):
    """Finds modules of the package where the others do, and has them loaded with switches."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of the package is."""
        if fullname.partition(".")[0] != "adaline":
            return None
        if fullname == "adaline._native" and plan["kernels"]:
            return importlib.util.spec_from_file_location(fullname, plan["kernels"])
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if (
                    spec.origin is not None
                    and Path(spec.origin).is_relative_to(PACKAGE)
                    and spec.origin.endswith(".py")
                ):
                    spec.loader = MutantLoader(fullname, spec.origin)
                return spec
        return None


KERNELS = ctypes.CDLL(plan["kernels"]) if plan["kernels"] else None


def reached_kernels() -> set[int]:
    """Return the sites of the native module that were reached since the last call."""
    if KERNELS is None:
        return set()
    flags = (ctypes.c_char * len(plan["sites"])).in_dll(KERNELS, "adaline_reached")
    out = {number for number, flag in enumerate(flags.raw) if flag}
    ctypes.memset(flags, 0, len(flags))
    return out


setattr(builtins, SWITCH, switch if "tests" in plan or "active" in plan else reach)
sys.meta_path.insert(0, MutantFinder())

found: dict[str, Any] = {"reached": {}, "seconds": {}}


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Note what a test reaches, with what its fixtures do, and how long it takes."""
    if "tests" in plan:
        return (yield)
    reached.clear()
    reached_kernels()
    start = _processor_seconds()
    try:
        return (yield)
    finally:
        found["seconds"][item.nodeid] = _processor_seconds() - start
        if every := reached | reached_kernels():
            found["reached"][item.nodeid] = sorted(every)


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it has started and that have ended."""
    return sum(os.times()[:4])


def pytest_sessionfinish() -> None:
    """Write what the tests of this worker have reached."""
    if "tests" not in plan and found["seconds"]:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        PLAN.with_name(f"{PLAN.stem}.{worker}.json").write_text(json.dumps(found))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests of each mutant in a copy of this process."""
    if "tests" not in plan:
        return None
    items = {item.nodeid: item for item in session.items}
    with PLAN.with_suffix(".results").open("a") as results:
        for name, tests in plan["tests"].items():
            number = int(name)
            outcome = _outcome(number, [items[test] for test in tests if test in items])
            results.write(json.dumps([number, *outcome]) + "\n")
            results.flush()
    return True


def _outcome(number: int, items: list[pytest.Item]) -> tuple[str, str, float]:
    """Return what becomes of a mutant, the test that noticed it, and the seconds that took."""
    start, rest = time.monotonic(), items
    while True:
        outcome, place = _tried(number, rest)
        if outcome == "survived":
            return outcome, "", time.monotonic() - start
        if _passes(rest[place]):
            return outcome, rest[place].nodeid, time.monotonic() - start
        rest = rest[place + 1 :]


@cache
def _passes(item: pytest.Item) -> bool:
    """Whether a test passes in a copy of the process that is no mutant: some cannot, as where threads hold locks."""
    return _tried(NO_MUTANT, [item])[0] == "survived"


def _tried(number: int, items: list[pytest.Item]) -> tuple[str, int]:
    """Return what becomes of a mutant, and the place of the last test that was run on it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reading)
        _run(number, items, writing)
    os.close(writing)
    said, outcome = -1, "killed"  # also where the process itself does not survive
    while True:
        seconds = plan["seconds"].get(items[said].nodeid, 0.0) if said >= 0 else 0.0
        if not select.select([reading], [], [], LEAST_SECONDS + SLOWER * seconds)[0]:
            outcome = "timeout"
            break
        text = os.read(reading, 2**16).decode()
        if not text:
            break
        last = text.split()[-1]
        if last == "survived":
            outcome = last
            break
        said = int(last)
    os.close(reading)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return outcome, max(said, 0)


def _run(number: int, items: list[pytest.Item], writing: int) -> None:
    """Become a mutant and run tests until one fails; the process ends here."""
    global active
    active = number
    if KERNELS is not None:
        ctypes.c_int.in_dll(KERNELS, "adaline_mutant").value = number
    silent = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(silent, descriptor)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    failed: list[str] = []

    class Watch:
        @staticmethod
        def pytest_runtest_logreport(report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    try:
        for place, item in enumerate(items):
            os.write(writing, f"{place}\n".encode())
            if place == 0:
                item.config.pluginmanager.register(Watch())
            following = items[place + 1] if place + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if failed:
                os._exit(1)
        os.write(writing, b"survived\n")
        os._exit(0)
    except BaseException:
        os._exit(2)
