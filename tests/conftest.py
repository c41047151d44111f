"""Property tests are never timed, and under CI draw the same examples on every run. What `make quick` leaves out.

`make quick` runs what is not marked `slow`. Tests that take more than a second or two carry the mark themselves; of a
law over many objects all but half the square root of their number are marked here, so that every law of every area is
still held against some of its registry: one case of a law with 2 to 15, two of one with 16 to 35. They are spread
evenly over the list from a place that a hash of the test's name chooses, so that different laws keep different cases.
"""

import gc
import math
import os
import shutil
from collections import defaultdict
from collections.abc import Generator, Iterator
from functools import cache
from typing import Any
from zlib import crc32

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings
from threadpoolctl import threadpool_limits

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
    """BLAS has several threads, as it has outside of these tests: for the laws about threads."""
    with threadpool_limits(2, "blas"):
        yield


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
    """Mark all but a few of the many cases of one test function as slow; leave out some tests unless asked for."""
    for mark in ("spark", "browser"):
        if mark not in config.getoption("markexpr"):
            items[:] = [item for item in items if item.get_closest_marker(mark) is None]
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    for name, one in cases.items():
        kept = kept_cases(name, len(one))
        for number, item in enumerate(one):
            if number not in kept:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave what was collected out of every search for garbage: it is more than all that a test makes, and stays."""
    gc.collect()
    gc.freeze()


def kept_cases(name: str, cases: int) -> set[int]:
    """Return which cases of a test are quick: half the square root of their number, and at least one."""
    count, first = max(1, math.isqrt(cases) // 2), crc32(name.encode())
    return {(first + i * cases // count) % cases for i in range(count)}
