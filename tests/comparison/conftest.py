"""Comparisons of these tests are over few penalties; reports have sketches, unless a test is about pictures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.comparison import examples


@pytest.fixture(autouse=True, scope="module")
def few_penalties() -> Iterator[None]:
    with examples.few_penalties():
        yield


@pytest.fixture(autouse=True)
def sketched_unless_drawn(request: pytest.FixtureRequest) -> None:
    """Sketches are the rule; tests that are marked `drawn` have the pictures."""
    if request.node.get_closest_marker("drawn") is None:
        request.getfixturevalue("sketched")
