"""Intervals contain the truth as often as they say; `make coverage` draws more."""

from __future__ import annotations

import numpy as np
import pytest

from tests.coverage.cases import CASES, Case, chosen, coverage

FEW = 60  # data sets a kind; the share of intervals then varies by 0.03


def test_coverage_counts_intervals_that_contain_the_truth() -> None:
    def draw(rng: np.random.Generator) -> tuple[float, float, float]:
        return 0.0, 0.9, rng.uniform()

    share, error = coverage(Case("any", "any", draw), 400)
    assert share == pytest.approx(0.9, abs=0.06)
    assert error == pytest.approx(0.015, abs=0.004)


@pytest.mark.night
@pytest.mark.parametrize("one", CASES, ids=lambda one: f"{one.interval}, {one.design}".replace(" ", "-"))
def test_intervals_cover_or_say_why_not(one: Case) -> None:
    share, error = coverage(one, min(FEW, one.draws), seed=1)
    if not one.note:
        assert 0.92 - 4 * max(error, 0.01) <= share <= 1.0


@pytest.mark.night
def test_intervals_of_the_mean_hold_after_a_choice_that_is_repeated_or_made_by_other_rows() -> None:
    """Those of the model chosen do not; on the same data sets."""
    shares = []
    for i in range(60):
        each = [chosen(np.random.default_rng(i), how) for how in ("given", "repeated", "split")]
        shares.append([np.mean((lower <= truth) & (truth <= upper)) for lower, upper, truth in each])
    given, repeated, split = np.mean(shares, axis=0)
    assert given < 0.91
    assert repeated > 0.92
    assert split > 0.91
