"""What rows count for: weights, order and units of rows, targets and labels, the number of threads, over all cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import adaline
from adaline.sources import array
from tests.cases import CASES, EVERY, EXCEPTIONS, Case, Given, assert_same, cases, fitted, reading

SCALE = np.exp2([-30.0, 7.0, 0.0, 12.0])
HUGE = np.exp2([-997.0, 500.0, 0.0, 990.0])


def in_forms(case: Case, X: Any) -> list[Any]:
    """Return rows as an array and, with zeros, as sparse rows where a case takes them."""
    holes = np.where(np.random.default_rng(3).random(X.shape) < 0.5, X, 0.0)
    return [X, sparse.csr_array(holes)] if case.keeps("sparse rows") else [X]


@cases(lambda case: not case.in_order, law="weights")
def test_whole_weights_are_repeated_rows(case: Case) -> None:
    given = case.rows()
    weight = np.random.default_rng(1).integers(1, 4, size=len(given.X))
    weighted, repeated = case.fit(given.with_weight(weight)), case.fit(given[np.repeat(np.arange(60), weight)])
    assert_same(weighted, repeated, given.X)
    if case.linear and "weights" not in case.settings:
        ours, expected = (model.summary().to_dict() for model in (weighted, repeated))
        assert ours["weight"] == expected["weight"] == weight.sum()
        for key in ("freedom", "sigma", "r_squared", "f_statistic", "aic", "bic", "log_likelihood"):
            assert ours[key] == pytest.approx(expected[key], rel=1e-7), key
        for a, b in zip(ours["coefficients"], expected["coefficients"], strict=True):
            assert a["std_error"] == pytest.approx(b["std_error"], rel=1e-7)


@cases(law="rows of weight zero")
def test_a_row_of_weight_zero_is_not_there(case: Case) -> None:
    given = case.rows()
    weight = np.ones(len(given.X))
    weight[::5] = 0.0
    far = given.with_rows(lambda X: np.where(weight[:, None] > 0, X, 1e6 * X))
    assert_same(case.fit(far.with_weight(weight)), case.fit(given[weight > 0]), given.X)


@cases(law="one weight")
def test_one_weight_is_that_of_all_rows(case: Case) -> None:
    given = case.rows()
    assert_same(case.fit(given.with_weight(2.0)), case.fit(given.with_weight(np.full(len(given.X), 2.0))), given.X)


@cases(lambda case: not case.in_order, law="unit of weights")
def test_weights_times_a_power_of_two_change_nothing(case: Case) -> None:
    given, weight = case.rows(), np.random.default_rng(0).uniform(0.5, 2.0, 60)
    for method in ("fit", *(["partial_fit"] if case.adds and case.keeps("parts") else [])):
        plain, scaled = (
            getattr(case.make(), method)(*given.arguments, sample_weight=weight * unit) for unit in (1.0, 2.0**-60)
        )
        np.testing.assert_allclose(reading(scaled, given.X), reading(plain, given.X), rtol=1e-13, atol=1e-13)
        assert not case.linear or scaled.certificate_.digits == plain.certificate_.digits


@cases(lambda case: not case.in_order, law="order")
def test_the_order_of_rows_does_not_matter(case: Case) -> None:
    given = case.rows()
    for order in (np.argsort(given.X[:, 0]), np.random.default_rng(2).permutation(len(given.X))):
        assert_same(case.fit(given[order]), fitted(case.name), given.X)


@cases(law="units of columns")
def test_powers_of_two_as_units_change_no_prediction(case: Case) -> None:
    """Not a bit of least squares, also of columns whose squares overflow or vanish."""
    given = case.rows()
    for X in in_forms(case, given.X):
        for scale in (SCALE, HUGE) if case.linear and not {"basis", "solver"} & {*case.settings} else (SCALE,):
            plain, scaled = (case.fit(given.with_rows(lambda _, rows=rows: rows)) for rows in (X, X * scale))
            found, expected = reading(scaled, X * scale), reading(plain, X)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
            if case.linear:
                np.testing.assert_array_equal(found, expected)
                assert scaled.certificate_.digits == plain.certificate_.digits
                assert scaled.certificate_.condition == plain.certificate_.condition
    if case.linear and case.adds:
        plain, scaled = (
            case.make().partial_fit(X[:20], given.y[:20]).partial_fit(X[20:], given.y[20:])
            for X in (given.X, given.X * SCALE)
        )
        np.testing.assert_array_equal(scaled.predict(given.X * SCALE), plain.predict(given.X))


@cases(lambda case: case.targets == "numbers", law="units of targets")
def test_the_unit_of_the_target_is_that_of_the_predictions(case: Case) -> None:
    given = case.rows()
    expected = fitted(case.name).predict(given.X)
    for unit in (
        2.0**40,
        1e-9,
        *((1e150, 1e-150, 1e299, 1e-300) if case.linear and "epochs" not in case.settings else ()),
    ):
        model = case.fit(Given(given.X, given.y * unit))
        np.testing.assert_allclose(
            model.predict(given.X) / unit, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max()
        )
        assert not case.linear or model.certificate_.digits > 7


@cases(lambda case: case.targets in ("numbers", "counts"), law="several targets")
def test_several_targets_are_fitted_one_by_one(case: Case) -> None:
    given = case.rows()
    Y = np.column_stack([given.y, given.y[::-1], 0.5 * given.y])
    model, column, flat = case.fit(Given(given.X, Y)), case.fit(Given(given.X, given.y[:, None])), fitted(case.name)
    for k in range(3):
        expected = case.fit(Given(given.X, Y[:, k])).predict(given.X)
        np.testing.assert_allclose(model.predict(given.X)[:, k], expected, rtol=1e-9)
    np.testing.assert_array_equal(column.predict(given.X)[:, 0], flat.predict(given.X))
    for one, shape in ((flat, ()), (column, (1,)), (model, (3,))):
        assert np.shape(one.intercept_) == shape == one.coef_.shape[:-1]
        assert one.coef_.shape[-1] == 4 or {"taps", "basis"} & {*case.settings}
        assert isinstance(one.intercept_, np.ndarray if shape else float)
        assert np.any(one.intercept_) == one.get_params().get("fit_intercept", True)


@cases(lambda case: case.targets == "numbers" and not case.in_order, law="a constant target")
def test_a_constant_target_is_predicted(case: Case) -> None:
    X = case.rows().X
    for value in (3.5, 0.0) if case.make().fit_intercept else (0.0,):
        near = 1e-4 if "Composed" in case.name else 1e-13  # a mean that is an exponential is never zero
        model = case.fit(Given(X, np.full(60, value)))
        np.testing.assert_allclose(model.predict(X), value, rtol=near, atol=near)


@cases(lambda case: case.classifies)
def test_labels_are_what_they_are_called(case: Case) -> None:
    given = case.rows()
    classes, codes = np.unique(given.y, return_inverse=True)
    for labels in (
        np.array([-5, 7, 2**40]),
        np.array([-2.0, 0.0, 5.5]).round(),
        np.array(["", "ä b", "日本"]),
        np.array([1, 2, 250], dtype=np.uint8),
        pd.Categorical(classes, [*classes, "none has it"][: 3 if "Ordinal" in case.name else 4]),
    ):
        model = case.fit(Given(given.X, labels[codes]))
        np.testing.assert_array_equal(model.classes_, np.asarray(labels))
        np.testing.assert_array_equal(reading(model, given.X), reading(fitted(case.name), given.X))
        named = np.asarray(labels)[np.searchsorted(classes, fitted(case.name).predict(given.X))]
        np.testing.assert_array_equal(model.predict(given.X), named)
    two = case.rows(classes=2)
    truth, plain = case.fit(Given(two.X, two.y == "b")), case.fit(two)
    assert truth.classes_.dtype == bool
    np.testing.assert_array_equal(truth.predict(two.X), plain.predict(two.X) == "b")


@pytest.mark.usefixtures("blas_threads")
@cases()
def test_the_number_of_threads_changes_no_bit(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    given = case.rows(n=600)
    monkeypatch.setattr(array, "block_rows", lambda features: 50)
    for X in in_forms(case, given.X):
        found = []
        for threads in (1, 3):
            adaline.set_threads(threads)
            model = case.fit(given.with_rows(lambda _, X=X: X))
            found.append((reading(model, given.X[:100]), model.certificate_.digits, model.certificate_.objective))
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)


def test_every_system_is_a_case_and_every_exception_one_of_a_case() -> None:
    assert {case.system for case in CASES.values()} == set(EVERY.values())
    for law, exceptions in EXCEPTIONS.items():
        for start in exceptions:
            assert any(f"{name}()".startswith(start) for name in CASES), (law, start)
