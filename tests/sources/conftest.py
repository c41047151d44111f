"""No test leaves its number of threads behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adaline.sources import set_threads


@pytest.fixture(autouse=True)
def same_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ADALINE_THREADS", raising=False)
    yield
    set_threads(None)
