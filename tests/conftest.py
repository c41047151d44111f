"""Property tests are never timed, and under CI draw the same examples on every run. Which tests run when.

`make night` runs all. `make test` leaves out what is marked `night`: tests that say so themselves, and of a test of
many cases all but a cover of them (`covering`), unless it is marked `every`. `make quick` leaves out what is marked
`slow` too: tests that say so themselves, of a law over a registry all cases but one, and most other tests.
"""

import gc
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from functools import cache
from typing import Any
from zlib import crc32

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings
from threadpoolctl import threadpool_limits

FEW, ONE_OF = 3, 16  # cases of a test that all run for a change; of those beyond, one of sixteen
LAW, ONE_TEST_OF = (
    16,
    8,
)  # cases from which on a test is quick in one of them; of those with fewer, one of eight is quick

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="module")
def quick_typer() -> Iterator[None]:
    """Commands are built once: typer does it at each call, which takes as long as reading a small table."""
    import typer.main

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", cache(typer.main.get_command))
        yield


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports have the same sketch for each picture: to draw the pictures takes longer than to compare the systems."""
    from adaline.comparison.drawing import Drawing

    monkeypatch.setattr(Drawing, "svg", lambda self: "<svg/>")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    driver = pytest.importorskip("playwright.sync_api")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert chromium, "no Chromium was found: Debian and Ubuntu have it as the package chromium"
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread_a_worker() -> Iterator[None]:
    """Where every core has a worker of its own, BLAS has one thread in each: more would only wait for each other."""
    with threadpool_limits(1 if "PYTEST_XDIST_WORKER" in os.environ else None, "blas"):
        yield


@pytest.fixture
def blas_threads() -> Iterator[None]:
    """BLAS has several threads, as outside of these tests, and `set_threads` is undone: for laws about threads."""
    from adaline import set_threads

    with threadpool_limits(2, "blas"):
        yield
    set_threads(None)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in no module of the tests: they have none."""
    found = yield
    return [one for one in found if not isinstance(one, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search for no garbage while tests are collected: almost all that is made then stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark all but some of the many cases of one test function; leave out some tests unless asked for."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    for name, own in cases.items():
        every = own[0].get_closest_marker("every") is not None
        kept = range(len(own)) if every else covering(name, [_values(item) for item in own])
        quick = [own[number] for number in kept if own[number].get_closest_marker("night") is None]
        quickest = {quick[number].nodeid for number in quick_cases(name, len(quick))}
        for number, item in enumerate(own):
            if number not in kept:
                item.add_marker(pytest.mark.night)
            if item.nodeid not in quickest:
                item.add_marker(pytest.mark.slow)
    unwanted = [mark for mark in ("spark", "browser", "night") if mark not in config.getoption("markexpr")]
    left_out = [
        item for item in items if any(map(item.get_closest_marker, unwanted)) and item.nodeid not in config.args
    ]
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


def _values(item: pytest.Item) -> tuple[str, ...]:
    """Return the name of a case on each axis of a product."""
    return tuple(item.callspec._idlist) if hasattr(item, "callspec") else ()


def pytest_collection_finish() -> None:
    """Leave what was collected out of every search for garbage: it is more than all that a test makes, and stays."""
    gc.collect()
    gc.freeze()


def quick_cases(name: str, cases: int) -> set[int]:
    """Return which cases of a test are quick: one of a law over a registry, and of one other test of eight."""
    drawn = crc32(name.encode())
    return {drawn % cases} if cases >= LAW or (cases and drawn % ONE_TEST_OF == 0) else set()


def covering(name: str, cases: Sequence[tuple[str, ...]]) -> set[int]:
    """Return which cases of a test run for a change: all of a few; of many every value of each axis, and some more.

    Cases are named by their value on each axis. Values that differ in brackets alone, as settings of one system, count
    as one. Beyond that cases are spread evenly, from a place that a hash of the test's name chooses.
    """
    count = FEW + max(len(cases) - FEW, 0) // ONE_OF
    if count >= len(cases):
        return set(range(len(cases)))
    first, seen, kept = crc32(name.encode()) % len(cases), set(), set()
    for number in (*range(first, len(cases)), *range(first)):
        values = {(axis, re.split(r"[({\[ ]", value)[0]) for axis, value in enumerate(cases[number])}
        if (len(cases[number]) > 1 or "(" in cases[number][0]) and not values <= seen:
            kept.add(number)
            seen |= values
    rest = [number for number in range(len(cases)) if number not in kept]
    more = max(count - len(kept), 0)
    return kept | {rest[(first + i * len(rest) // more) % len(rest)] for i in range(more)}
