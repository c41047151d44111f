"""Comparing: the registry decides who takes part, folds are shared, failures stop nobody, the choice is explained."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import cross_val_score

from adaline import AdalineWarning, LinearRegression, Ridge, WienerFilter
from adaline.comparison.compare import Comparison, compare_table, systems_for
from adaline.comparison.recommendation import recommend, with_error
from adaline.comparison.result import Result, row_errors
from adaline.comparison.table import Table
from adaline.errors import InvalidData, InvalidParameter
from adaline.results import Certificate, Status
from adaline.systems import SYSTEMS
from tests.comparison.examples import bundled, classification, compared, labels, numbers, regression


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_registered_system_says_in_which_settings_it_is_compared(name: str) -> None:
    for settings in SYSTEMS[name].compared:
        assert SYSTEMS[name](**settings).get_params().items() >= settings.items()


@pytest.mark.parametrize("make", [regression, classification])
def test_all_systems_that_suit_take_part_and_no_others(make: Any) -> None:
    found = compared(make)
    suits = is_regressor if found.task == "regression" else is_classifier
    special = {"GeneralizedLinear", "OrdinalRegression"}  # for counts and skewed amounts, for labels with an order
    expected = [(n, s) for n, cls in SYSTEMS.items() if n not in special for s in cls.compared if suits(cls(**s))]
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
        found = compare_table(regression())
    by_label = {result.label: result for result in found.results}
    assert by_label["Newcomer"].error == by_label["Ridge"].error
    broken = found.results[-1]
    assert broken.failure == "the disk is full"
    assert broken.warnings == ("I am not well",)
    assert broken.model is None
    assert "Broken(solver='nonsense')" in by_label
    assert "the disk is full" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_all_failing_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        raise ValueError

    monkeypatch.setattr(Ridge, "fit", fit)
    found = compare_table(regression(), systems=["Ridge"])
    assert found.recommended is None
    assert "No system" in found.recommendation.text
    assert found.results[0].failure == "ValueError"


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
    X, y = numbers()
    return compare_table(Table.of(X, y * 2.0**power))


@pytest.mark.parametrize("power", [-250, -100, 100, 150])
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
    one, two = (compare_table(table, seed=3, folds=2).results for _ in range(2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.fold_errors, b.fold_errors)
    other = compare_table(table, seed=4, folds=2, systems=["GaussianClassifier"]).results[0]
    same = next(result for result in one if result.label == "GaussianClassifier")
    assert (other.fold_errors != same.fold_errors).any()


def test_weights_are_repetitions() -> None:
    X, y = numbers(n=60)
    weight = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    found = compare_table(Table.of(X, y, weight=weight), systems=["LinearRegression"]).results[0]
    repeated = LinearRegression().fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    np.testing.assert_allclose(found.model.coef_, repeated.coef_, rtol=1e-10)
    some = ["LinearRegression", "Ridge", "LMS"]
    nothing = compare_table(
        Table.of(np.vstack([X, X[:9] + 1e6]), np.r_[y, y[:9]], weight=np.r_[np.ones(60), np.zeros(9)]), systems=some
    )
    plain = compare_table(Table.of(X, y), systems=some)
    assert nothing.results[0].error == plain.results[0].error


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
def test_the_type_of_the_target_decides_the_task(y: Any, task: str) -> None:
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    found = compare_table(Table.of(X, y), folds=2)
    assert found.task == task
    json.dumps(found.to_dict(), allow_nan=False)
    if y.dtype != object and y.dtype.kind in "fiu" and len(np.unique(y)) == 2:
        other = "regression" if task == "classification" else "classification"
        assert compare_table(Table.of(X, y), folds=2, task=other).task == other


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
    assert not any(result.failure for result in compare_table(Table.of(X, y)).results)
    found = compare_table(Table.of(X, np.where(y > np.median(y), "high", "low")))
    assert found.findings[0].severity == "serious"
    assert found.recommended is not None


def test_progress_is_told() -> None:
    steps: list[tuple[int, int, str]] = []
    compare_table(regression(), folds=3, progress=lambda *step: steps.append(step))
    systems = [cls(**s) for n, cls in SYSTEMS.items() if n != "GeneralizedLinear" for s in cls.compared]
    total = (sum(map(is_regressor, systems)) + 1) * 4
    assert [done for done, _, _ in steps] == list(range(total + 1))
    assert {every for _, every, _ in steps} == {total}
    assert steps[0][2] == "fold 1 of 3: the mean"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((200, 4), np.nan)}, "column x0 is nan in row 0"),
        ({"y": np.r_[np.zeros(199), np.inf]}, "target y is inf in row 199"),
        ({"y": np.ones(200)}, "in every row"),
        ({"y": np.repeat("a", 200)}, "in every row"),
        ({"y": np.array([f"row {i}" for i in range(200)])}, "a different label in each of 200 rows"),
        ({"y": np.ones(9)}, "y has 9 entries"),
        ({"names": ("a",)}, "names has 1 entries"),
        ({"X": np.empty((200, 0)), "names": (), "origin": ()}, "no column"),
        ({"weight": np.r_[-1.0, np.ones(199)]}, "weight of row 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidData, match=message):
        compare_table(replace(regression(), **change))


def test_arguments_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InvalidData, match="cannot be cut into 150 folds of two rows or more: give folds from 2 to 100"):
        compare_table(regression(), folds=150)
    with pytest.raises(InvalidParameter, match=r"'Perceptrom' is not known; there are: LinearRegression"):
        compare_table(regression(), systems=["Perceptrom"])
    with pytest.raises(InvalidParameter, match="does not suit regression"):
        compare_table(regression(), systems=["FisherDiscriminant"])
    with pytest.raises(InvalidParameter, match="task must be"):
        compare_table(regression(), task="guessing")
    with pytest.raises(InvalidData, match="holds labels"):
        compare_table(classification(), task="regression")


def result(name: str, errors: list[float], status: Status = Status.SOLVED, **fitted: Any) -> Result:
    model = WienerFilter()  # it has no summary
    vars(model).update(fitted)
    proof = Certificate(0, 0, 0, 16, 1, 1, 1, 0, "", status, "")
    e = np.array(errors)
    return Result(
        name, {}, e.mean(), e.std(ddof=1) / np.sqrt(len(e)), 0.5, e, 0.0, 0.1, proof, model, None, None, (), ""
    )


def test_the_simplest_of_those_within_one_standard_error_is_recommended() -> None:
    base = result("the mean", [9.0, 9.1, 9.2])
    small, large = {"coef_": np.ones(3), "intercept_": 0.0}, {"coef_": np.ones(30), "intercept_": 0.0}
    best = result("Best", [1.0, 1.2, 1.1], **large)
    close = result("Close", [1.1, 1.1, 1.15], **small)
    far = result("Far", [1.5, 1.7, 1.6], **small)
    found = recommend([best, close, far], base, "RMSE")
    assert found.result is close
    assert (found.headline, found.system, found.useful) == ("Use Close", "Close", True)
    assert "within one standard error" in found.text
    assert "simpler" in found.text
    assert recommend([best, far], base, "RMSE").result is best
    curved = result("Curved", [1.0, 1.2, 1.1])
    assert recommend([curved, best], base, "RMSE").result is best
    loose = replace(close, certificate=replace(close.certificate, status=Status.ILL_CONDITIONED))  # type: ignore[arg-type]
    assert recommend([best, loose], base, "RMSE").result is best
    dependent = replace(close, certificate=replace(close.certificate, status=Status.RANK_DEFICIENT))  # type: ignore[arg-type]
    assert recommend([best, dependent], base, "RMSE").result is dependent
    useless = result("Useless", [9.0, 9.1, 9.3], **small)
    found = recommend([useless], base, "RMSE")
    assert "No system predicts better than the mean" in found.text
    assert (found.headline, found.useful) == ("Nothing beats the mean", False)
    assert str(found) == f"{found.headline}. {found.text}"


def test_errors_are_written_with_the_digits_they_deserve() -> None:
    assert with_error(result("a", [3000.0, 4000.0, 3300.0]), "RMSE") == "3433 ± 296"
    assert with_error(result("a", [0.651, 0.653, 0.652]), "RMSE") == "0.65200 ± 0.00058"
    assert with_error(result("a", [0.01, 0.02, 0.03]), "error rate") == "2.00% ± 0.58%"
    assert with_error(result("a", [0.0, 0.0]), "RMSE") == "0 ± 0"
    assert "e-09" in with_error(result("a", [1e-9, 2e-9]), "RMSE")


def test_constant_columns_do_not_make_an_approximate_system_the_choice() -> None:
    X, y = numbers()
    X = np.column_stack([X, np.full(len(y), 3.0)])
    found = compare_table(Table.of(X, y), systems=["LinearRegression", "Ridge", "LMS"])
    assert found.recommendation.system == "LinearRegression"


def counted(n: int = 300) -> Table:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return Table.of(X, rng.poisson(np.exp(0.8 + X @ [0.6, -0.9])).astype(float), target="visits")


def skewed(n: int = 300) -> Table:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return Table.of(X, rng.gamma(2.0, np.exp(1.0 + X @ [0.7, -0.8])), target="cost")


@pytest.mark.parametrize(("make", "loss"), [(counted, "poisson"), (skewed, "gamma")])
def test_counts_are_compared_with_poisson_and_skewed_amounts_with_gamma(make: Any, loss: str) -> None:
    found = compare_table(make())
    assert found.task == "regression"
    general = [result for result in found.results if result.system == "GeneralizedLinear"]
    assert [result.settings for result in general] == [{"loss": loss}]
    assert not general[0].failure
    assert found.recommended is general[0]
    reasons = [finding for finding in found.findings if f"GeneralizedLinear(loss={loss!r})" in finding.text]
    assert reasons[0].columns == (make().target,)


def test_the_generalized_linear_machine_suits_every_regression() -> None:
    found = compare_table(regression(), systems=["GeneralizedLinear", "LinearRegression"])
    errors = {result.label: result.error for result in found.results}
    assert errors["GeneralizedLinear"] == pytest.approx(errors["LinearRegression"])
    assert {r.system for r in compared(regression).results}.isdisjoint({"GeneralizedLinear"})


def test_perceptrons_are_compared_on_standardised_columns() -> None:
    found = compare_table(bundled("penguins"), systems=["Perceptron", "KeslerPerceptron", "Pocket"])
    assert all(result.settings["standardize"] and result.error < 0.1 for result in found.results)


@pytest.mark.parametrize(
    ("rows", "folds", "message"),
    [
        (1, None, "1 row is too few to compare systems: give at least 3"),
        (2, 2, "2 rows are too few"),
        (3, 2, "cannot be cut into 2 folds of two rows or more: give folds 3 to leave out one row at a time"),
        (10, 1, "into 1 fold of two rows or more: give folds from 2 to 5, or 10 to leave"),
        (10, 20, "into 20 folds of two rows or more: give folds from 2 to 5, or 10 to leave"),
    ],
)
def test_too_few_rows_or_folds_are_refused_with_numbers_that_work(rows: int, folds: int | None, message: str) -> None:
    data = regression()
    with pytest.raises(InvalidData, match=message):
        compare_table(replace(data, X=data.X[:rows], y=data.y[:rows]), folds=folds)


def test_few_rows_are_judged_by_leaving_one_out_with_their_errors_pooled() -> None:
    data = regression()
    x, y = data.X[:12], data.y[:12]
    found = compare_table(replace(data, X=x, y=y), systems=["LinearRegression", "Ridge"])
    assert found.title.endswith("12 rows, leave-one-out")
    one = next(result for result in found.results if result.system == "LinearRegression")
    error = y - [LinearRegression().fit(x[rest], y[rest]).predict(x[[i]])[0] for i, rest in leave_one_out(12)]
    root = np.sqrt(np.mean(error**2))
    assert one.error == pytest.approx(root)
    assert one.std_error == pytest.approx(np.std(error**2, ddof=1) / np.sqrt(12) / (2 * root))  # the delta method
    assert len(one.fold_errors) == 12


def leave_one_out(n: int) -> Iterator[tuple[int, Any]]:
    return ((i, np.delete(np.arange(n), i)) for i in range(n))


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
    table = Table.of(x[:, None], list(labels))
    found = compare_table(table, systems=["GaussianClassifier", "FisherDiscriminant", "LogisticRegression"])
    assert not any(result.failure for result in found.results if result.settings == {})
    alone = sum(labels.count(label) == 1 for label in set(labels))
    most = max(map(labels.count, labels))
    for result in found.results:
        assert result.failure or result.error >= alone / len(labels) - 1e-12
    assert found.baseline.error == pytest.approx(1 - most / len(labels))


def test_robust_fits_are_left_out_where_columns_are_as_many_as_rows() -> None:
    rng = np.random.default_rng(0)
    table = Table.of(rng.normal(size=(20, 20)), rng.normal(size=20))
    found = compare_table(table)
    assert "RobustRegression" not in {result.system for result in found.results}
    assert "left out because there are at least as many columns as rows: RobustRegression" in found.notes
