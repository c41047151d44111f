"""Comparisons of these tests are over few penalties."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.comparison import examples


@pytest.fixture(autouse=True, scope="module")
def few_penalties() -> Iterator[None]:
    with examples.few_penalties():
        yield
