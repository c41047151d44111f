"""What the levels of tests leave out: `make test` of many cases, `make quick` of several."""

from __future__ import annotations

from itertools import product

from tests.conftest import FEW, LAW, ONE_OF, covering, quick_cases


def test_a_cover_has_every_value_of_each_axis_and_is_small() -> None:
    axes = ["abcdefghij", "xyz", "pq"]
    cases = list(product(*axes))
    kept = covering("a law", cases)
    for axis, values in enumerate(axes):
        assert {cases[number][axis] for number in kept} == set(values)
    assert FEW < len(kept) < len(cases) / 3
    assert covering("a law", cases) == kept != covering("another law", cases)


def test_settings_of_one_system_are_one_value_and_few_cases_all_run() -> None:
    cases = [(f"{system}({setting})",) for system in "abcdefgh" for setting in range(9)]
    assert {cases[number][0][0] for number in covering("a law", cases)} == set("abcdefgh")
    assert covering("a law", cases[:FEW]) == set(range(FEW))


def test_a_quick_run_keeps_a_case_of_every_law_and_some_other_tests() -> None:
    assert all(len(quick_cases(f"law {number}", LAW)) == 1 for number in range(50))
    few = [quick_cases(f"test {number}", 3) for number in range(1000)]
    assert 60 < sum(map(len, few)) < 240
    assert set().union(*few) == {0, 1, 2}
    assert quick_cases("test", 0) == set()


def test_of_many_cases_on_one_axis_few_run() -> None:
    cases = [(str(number),) for number in range(FEW + 2 * ONE_OF)]
    assert len(covering("a law", cases)) == FEW + 2
