"""Property tests are never timed, and under CI draw the same examples on every run. What `make quick` leaves out.

`make quick` runs what is not marked `slow`. Tests that take more than a second or two carry the mark themselves; of a
law over many objects all but half the square root of their number are marked here, spread evenly over the list, so that
every law of every area is still held against some of its registry.
"""

import math
import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import settings

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but a few of the many cases of one test function as slow."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    for one in cases.values():
        count = max(1, math.isqrt(len(one)) // 2)
        kept = {round(i * (len(one) - 1) / max(count - 1, 1)) for i in range(count)}
        for number, item in enumerate(one):
            if number not in kept:
                item.add_marker(pytest.mark.slow)
