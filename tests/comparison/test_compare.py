"""Comparing: the registry decides who takes part, folds are shared, failures stop nobody."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import LeaveOneOut, cross_val_predict, cross_val_score

from adaline import AdalineWarning, LinearRegression, Ridge
from adaline.comparison.compare import Comparison, compare_table, systems_for
from adaline.comparison.result import row_errors
from adaline.comparison.table import Table
from adaline.errors import AdalineError, InvalidData, InvalidParameter
from adaline.systems import SYSTEMS
from tests.comparison.examples import bundled, classification, compared, labels, numbers, regression


@pytest.mark.parametrize("make", [regression, classification])
def test_all_systems_that_suit_take_part_and_no_others(make: Any) -> None:
    found = compared(make)
    suits = is_regressor if found.task == "regression" else is_classifier
    # for counts and skewed amounts, for labels with an order, for curves and many levels
    special = {"GeneralizedLinear", "OrdinalRegression", "AdditiveModel"}
    expected = [(n, s) for n, cls in SYSTEMS.items() if n not in special for s in cls.compared if suits(cls(**s))]
    assert all(SYSTEMS[name](**settings).get_params().items() >= settings.items() for name, settings in expected)
    assert sorted((r.system, str(r.settings)) for r in found.results) == sorted((n, str(s)) for n, s in expected)
    assert {name for name, _ in expected} == set(systems_for(found.task)) - special
    for result in found.results:
        assert not result.failure
        assert result.certificate is not None
        assert len(result.fold_errors) == 5
        assert result.error == pytest.approx(result.fold_errors.mean())
        assert result.std_error == pytest.approx(result.fold_errors.std(ddof=1) / np.sqrt(5))
        assert result.error < found.baseline.error
    errors = [result.error for result in found.results]
    assert errors == sorted(errors)
    assert found.recommended in found.results


def test_a_system_registered_later_takes_part_and_one_that_fails_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    class Newcomer(Ridge):
        pass

    class Broken(LinearRegression):
        compared: ClassVar[tuple[dict[str, Any], ...]] = ({}, {"solver": "nonsense"})

        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            warnings.warn("I am not well", AdalineWarning, stacklevel=1)
            raise RuntimeError("the disk is full\nand more lines")

    monkeypatch.setitem(SYSTEMS, "Newcomer", Newcomer)
    monkeypatch.setitem(SYSTEMS, "Broken", Broken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare_table(regression(), systems=["Broken", "Ridge", "Newcomer"])
    by_label = {result.label: result for result in found.results}
    assert by_label["Newcomer"].error == by_label["Ridge"].error
    broken = found.results[-1]
    assert (broken.failure, broken.warnings, broken.model) == ("the disk is full", ("I am not well",), None)
    assert "Broken(solver='nonsense')" in by_label
    assert "the disk is full" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    assert "Newcomer" in systems_for("regression")


def test_all_failing_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        raise ValueError

    monkeypatch.setattr(Ridge, "fit", fit)
    found = compare_table(regression(), systems=["Ridge"])
    assert found.recommended is None
    assert "No system" in found.recommendation.text
    assert found.results[0].failure == "ValueError"
    with pytest.raises(InvalidParameter, match="there is none to fit"):
        found.fit()


def test_errors_are_those_of_scikit_learns_cross_validation() -> None:
    table = regression(n=100)
    found = compare_table(table, folds=4, systems=["LinearRegression"])
    order = np.random.default_rng(0).permutation(100)
    cut = [(np.setdiff1d(order, order[k::4]), order[k::4]) for k in range(4)]
    scores = cross_val_score(LinearRegression(), table.X, table.y, cv=cut, scoring="neg_root_mean_squared_error")
    np.testing.assert_allclose(found.results[0].fold_errors, -scores, rtol=1e-12)


@cache
def scaled_by(power: int) -> Comparison:
    """Return the comparison of all systems where the target is multiplied by 2^power."""
    X, y = numbers(n=100)
    return compare_table(Table.of(X, y * 2.0**power))


@pytest.mark.parametrize("power", [-250, 100, 150])
def test_the_size_of_the_target_changes_nothing_but_units(power: int) -> None:
    plain, scaled = scaled_by(0), scaled_by(power)
    for a, b in zip(plain.results, scaled.results, strict=True):
        assert a.label == b.label
        assert b.error / 2.0**power == pytest.approx(a.error, rel=1e-9)
        assert b.second == pytest.approx(a.second, rel=1e-9)
    assert [f.title for f in plain.findings] == [f.title for f in scaled.findings]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_and_another_does_not() -> None:
    table = classification(n=60, classes=3)
    systems = ["GaussianClassifier", "Perceptron", "Pocket", "SigmoidPerceptron"]
    one, two = (compare_table(table, seed=3, folds=2, systems=systems).results for _ in range(2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.fold_errors, b.fold_errors)
    other = compare_table(table, seed=4, folds=2, systems=["GaussianClassifier"]).results[0]
    same = next(result for result in one if result.label == other.label)
    assert (other.fold_errors != same.fold_errors).any()


def test_weights_are_repetitions() -> None:
    X, y = numbers(n=60)
    weight = np.where(np.arange(60) % 3 == 0, 2, 1)
    found = compare_table(Table.of(X, y, weight=weight.astype(float)), systems=["LinearRegression"]).results[0]
    repeated = LinearRegression().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(found.model.coef_, repeated.coef_, rtol=1e-10)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array([0.0, 1.0] * 10), "classification"),
        (np.array([-7.0, 40.0] * 10), "classification"),
        (np.array([0.5, 1.0] * 10), "regression"),
        (np.array([0.0, 1.0, 2.0, 3.0] * 10), "regression"),
        (np.array([0, 1] * 10), "classification"),
        (np.arange(40), "regression"),
        (np.array([True, False] * 10), "classification"),
        (np.array(["a", "b"] * 10), "classification"),
        (np.array(["a", "b"] * 10, dtype=object), "classification"),
    ],
)
@pytest.mark.every
def test_the_type_of_the_target_decides_the_task(y: Any, task: str) -> None:
    table, one = Table.of(np.arange(len(y), dtype=float)[:, None], y), {"regression": "Ridge"}
    found = compare_table(table, folds=2, systems=[one.get(task, "GaussianClassifier")])
    assert found.task == task == table.task()
    json.dumps(found.to_dict(), allow_nan=False)
    if y.dtype.kind in "fiu" and len(np.unique(y)) == 2:
        other = "regression" if task == "classification" else "classification"
        system = one.get(other, "GaussianClassifier")
        assert compare_table(table, folds=2, task=other, systems=[system]).task == other


@pytest.mark.slow
@pytest.mark.parametrize("rare", [1, 2, 3])
def test_classes_rarer_than_folds_are_dealt_with(rare: int) -> None:
    X, y = labels(n=60)
    y = np.concatenate([y, np.repeat("rare", rare)])
    X = np.vstack([X, X[:rare] + 9.0])
    found = compare_table(Table.of(X, y), folds=4)
    assert not any(result.failure for result in found.results)
    assert any("few rows" in finding.title for finding in found.findings)
    gaussian = next(r for r in found.results if r.label == "GaussianClassifier")
    assert np.isfinite(gaussian.second)
    np.testing.assert_allclose(gaussian.probability.sum(axis=1), 1.0)


@pytest.mark.slow
def test_more_columns_than_rows() -> None:
    X, y = numbers(n=20, d=30)
    found = compare_table(Table.of(X, y))
    assert not any(result.failure for result in found.results)
    assert "RobustRegression" not in {result.system for result in found.results}
    assert "left out because there are at least as many columns as rows: RobustRegression" in found.notes
    square = compare_table(Table.of(X[:, :20], y), folds=2)
    assert "RobustRegression" not in {result.system for result in square.results}
    found = compare_table(Table.of(X, np.where(y > np.median(y), "high", "low")))
    assert found.findings[0].severity == "serious"
    assert found.recommended is not None


def test_progress_is_told() -> None:
    steps: list[tuple[int, int, str]] = []
    compare_table(regression(), folds=3, systems=["Ridge", "LMS"], progress=lambda *step: steps.append(step))
    assert [step[:2] for step in steps] == [
        (
            done,
            12,
        )
        for done in range(13)
    ]
    assert steps[0][2] == "fold 1 of 3: the mean"


REGRESSION = regression()


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"X": np.full((200, 4), np.nan)}, {}, "column x0 is nan in row 0"),
        ({"y": np.r_[np.zeros(199), np.inf]}, {}, "target y is inf in row 199"),
        ({"y": np.ones(200)}, {}, "in every row"),
        ({"y": np.repeat("a", 200)}, {}, "in every row"),
        ({"y": np.array([f"row {i}" for i in range(200)])}, {}, "a different label in each of 200 rows"),
        ({"y": np.ones(9)}, {}, "y has 9 entries"),
        ({"names": ("a",)}, {}, "names has 1 entries"),
        ({"X": np.empty((200, 0)), "names": (), "origin": ()}, {}, "no column"),
        ({"weight": np.r_[-1.0, np.ones(199)]}, {}, "weight of row 0"),
        ({}, {"folds": 150}, "cannot be cut into 150 folds of two rows or more: give folds from 2 to 100"),
        ({}, {"systems": ["Perceptrom"]}, r"'Perceptrom' is not known; there are: LinearRegression"),
        ({}, {"systems": ["FisherDiscriminant"]}, "does not suit regression"),
        ({}, {"task": "guessing"}, "task must be"),
        ({"y": np.array(list("abcd") * 50)}, {"task": "regression"}, "holds labels"),
        ({"rows": 1}, {}, "1 row is too few to compare systems: give at least 3"),
        ({"rows": 2}, {"folds": 2}, "2 rows are too few"),
        ({"rows": 3}, {"folds": 2}, "into 2 folds of two rows or more: give folds 3 to leave out one row at a time"),
        ({"rows": 10}, {"folds": 1}, "into 1 fold of two rows or more: give folds from 2 to 5, or 10 to leave"),
        ({"rows": 10}, {"folds": 20}, "into 20 folds of two rows or more: give folds from 2 to 5, or 10 to leave"),
    ],
)
@pytest.mark.every
def test_what_cannot_be_compared_is_refused(change: dict[str, Any], options: dict[str, Any], message: str) -> None:
    if "rows" in change:
        change = {"X": REGRESSION.X[: change["rows"]], "y": REGRESSION.y[: change["rows"]]}
    error: type[AdalineError] = InvalidParameter if {"systems", "task"} & options.keys() else InvalidData
    with pytest.raises(InvalidData if message == "holds labels" else error, match=message):
        compare_table(replace(REGRESSION, **change), **options)


def test_constant_columns_do_not_make_an_approximate_system_the_choice() -> None:
    X, y = numbers()
    X = np.column_stack([X, np.full(len(y), 3.0)])
    found = compare_table(Table.of(X, y), systems=["LinearRegression", "Ridge", "LMS"])
    assert found.recommendation.system == "LinearRegression"


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_counts_are_compared_with_poisson_and_skewed_amounts_with_gamma(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    mean = np.exp(0.9 + X @ [0.6, -0.9])
    table = Table.of(X, rng.poisson(mean).astype(float) if loss == "poisson" else rng.gamma(2.0, mean), target="cost")
    found = compare_table(table)
    assert found.task == "regression"
    general = [result for result in found.results if result.system == "GeneralizedLinear"]
    assert [(result.settings, result.failure) for result in general] == [({"loss": loss}, "")]
    assert found.recommended is general[0]
    reasons = [finding for finding in found.findings if f"GeneralizedLinear(loss={loss!r})" in finding.text]
    assert reasons[0].columns == ("cost",)


def test_the_generalized_linear_machine_suits_every_regression() -> None:
    found = compare_table(regression(), systems=["GeneralizedLinear", "LinearRegression"])
    errors = {result.label: result.error for result in found.results}
    assert errors["GeneralizedLinear"] == pytest.approx(errors["LinearRegression"])


def test_perceptrons_are_compared_on_standardised_columns() -> None:
    found = compare_table(bundled("penguins"), systems=["Perceptron", "KeslerPerceptron", "Pocket"])
    assert all(result.settings["standardize"] and result.error < 0.1 for result in found.results)


def test_few_rows_are_judged_by_leaving_one_out_with_their_errors_pooled() -> None:
    x, y = REGRESSION.X[:12], REGRESSION.y[:12]
    found = compare_table(replace(REGRESSION, X=x, y=y), systems=["LinearRegression", "Ridge"])
    assert found.title.endswith("12 rows, leave-one-out")
    one = next(result for result in found.results if result.system == "LinearRegression")
    error = y - cross_val_predict(LinearRegression(), x, y, cv=LeaveOneOut())
    root = np.sqrt(np.mean(error**2))
    assert one.error == pytest.approx(root)
    assert one.std_error == pytest.approx(np.std(error**2, ddof=1) / np.sqrt(12) / (2 * root))  # the delta method
    assert len(one.fold_errors) == 12


def test_the_errors_of_rows_have_the_pooled_error_as_their_mean() -> None:
    rng = np.random.default_rng(0)
    losses, weight = rng.exponential(size=30), rng.integers(1, 4, 30).astype(float)
    twice = np.repeat(losses, weight.astype(int))
    for square in (True, False):
        whole = np.sqrt(np.mean(twice**2)) if square else np.mean(twice)
        assert row_errors(losses, weight, square).mean() == pytest.approx(whole)
    assert row_errors(np.zeros(3), square=True).tolist() == [0, 0, 0]


@pytest.mark.parametrize("labels", ["aaaaaab", "aabbccd", "aaabbbb"])
def test_classes_of_one_row_are_compared_and_count_as_errors(labels: str) -> None:
    """A row whose class no other row has is never predicted right; all others can be."""
    x = np.arange(len(labels)) + 10.0 * np.array([ord(label) for label in labels])
    systems = ["GaussianClassifier", "FisherDiscriminant", "LogisticRegression"]
    found = compare_table(Table.of(x[:, None], list(labels)), systems=systems)
    assert not any(result.failure for result in found.results if result.settings == {})
    alone = sum(labels.count(label) == 1 for label in set(labels))
    for result in found.results:
        assert result.failure or result.error >= alone / len(labels) - 1e-12
    assert found.baseline.error == pytest.approx(1 - max(map(labels.count, labels)) / len(labels))
