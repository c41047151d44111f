"""Cases that have failed before, and a few of each target; `make fuzz` runs as many as the time allows."""

from __future__ import annotations

import pytest

import tests.fuzz.attacks  # noqa: F401  (fills the registry)
from tests.fuzz.targets import TARGETS, kept_seeds, run_case


@pytest.mark.parametrize(("name", "seed"), kept_seeds(), ids=lambda value: str(value))
def test_what_has_failed_before_works_or_is_refused(name: str, seed: int) -> None:
    assert run_case(name, seed) in ("worked", "refused")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", TARGETS)
def test_random_attacks_work_or_are_refused(name: str, seed: int) -> None:
    assert run_case(name, seed) in ("worked", "refused")
