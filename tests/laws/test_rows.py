"""What rows count for: weights, order and units of rows, the number of threads, over all cases."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline.sources import array
from tests.cases import CASES, EVERY, EXCEPTIONS, Case, assert_same, cases, fitted, reading


def in_order(case: Case) -> bool:
    """Whether a system learns from rows one after the other, in steps as long as their weights."""
    return case.scans or "Filter" in case.name or case.settings.get("solver") == "stochastic"


@cases(lambda case: not in_order(case), law="weights")
def test_whole_weights_are_repeated_rows(case: Case) -> None:
    given = case.rows()
    weight = np.random.default_rng(1).integers(1, 4, size=len(given.X))
    repeated = given[np.repeat(np.arange(len(weight)), weight)]
    assert_same(case.fit(given.with_weight(weight)), case.fit(repeated), given.X)


@cases(law="rows of weight zero")
def test_a_row_of_weight_zero_is_not_there(case: Case) -> None:
    given = case.rows()
    weight = np.ones(len(given.X))
    weight[::5] = 0.0
    assert_same(case.fit(given.with_weight(weight)), case.fit(given[weight > 0]), given.X)


@cases(law="one weight")
def test_one_weight_is_that_of_all_rows(case: Case) -> None:
    given = case.rows()
    assert_same(case.fit(given.with_weight(2.0)), case.fit(given.with_weight(np.full(len(given.X), 2.0))), given.X)


@cases(lambda case: not in_order(case), law="order")
def test_the_order_of_rows_does_not_matter(case: Case) -> None:
    given = case.rows()
    for order in (np.argsort(given.X[:, 0]), np.random.default_rng(2).permutation(len(given.X))):
        assert_same(case.fit(given[order]), fitted(case.name), given.X)


@cases(law="units of columns")
def test_powers_of_two_as_units_change_no_prediction(case: Case) -> None:
    given = case.rows()
    scale = np.exp2([-30.0, 7.0, 0.0, 12.0])
    scaled = case.fit(given.with_rows(lambda X: X * scale))
    found, expected = reading(scaled, given.X * scale), reading(fitted(case.name), given.X)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@cases(lambda case: case.targets == "numbers", law="units of targets")
def test_the_unit_of_the_target_is_that_of_the_predictions(case: Case) -> None:
    given = case.rows()
    expected = fitted(case.name).predict(given.X)
    for unit in (2.0**40, 1e-9):
        found = case.fit(type(given)(given.X, given.y * unit)).predict(given.X)
        np.testing.assert_allclose(found, expected * unit, rtol=1e-7, atol=1e-7 * np.abs(expected).max() * unit)


@pytest.mark.usefixtures("blas_threads")
@cases()
def test_the_number_of_threads_changes_no_bit(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    given = case.rows(n=600)
    monkeypatch.setattr(array, "block_rows", lambda features: 50)
    found = []
    for threads in (1, 3):
        adaline.set_threads(threads)
        model = case.fit(given)
        found.append((reading(model, given.X[:100]), model.certificate_.digits, model.certificate_.objective))
    adaline.set_threads(None)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_system_is_a_case_and_every_exception_one_of_a_case() -> None:
    assert {case.system for case in CASES.values()} == set(EVERY.values())
    for law, exceptions in EXCEPTIONS.items():
        for start in exceptions:
            assert any(name.startswith(start) for name in CASES), (law, start)
