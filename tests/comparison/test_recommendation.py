"""What a recommendation says is true, and the system it names says something worth knowing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adaline import LogisticRegression, WienerFilter
from adaline.comparison import findings as findings_module
from adaline.comparison.compare import compare_table
from adaline.comparison.findings import varies_as_counts
from adaline.comparison.recommendation import _errors_given, recommend, with_error
from adaline.comparison.result import Result
from adaline.comparison.table import Table
from adaline.results import Certificate, Status
from tests.comparison.examples import bundled, classification, compared, regression
from tests.comparison.reasons import false_claims


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (bundled, {"name": "longley"}),
        (bundled, {"name": "norris"}),
        (bundled, {"name": "penguins"}),
        (regression, {"n": 20, "d": 30}),
        (classification, {"apart": 0.0}),
        pytest.param(bundled, {"name": "breast_cancer"}, marks=pytest.mark.night),
        pytest.param(bundled, {"name": "wine"}, marks=pytest.mark.night),
    ],
)
def test_reasons_are_true(make: Any, settings: dict[str, Any]) -> None:
    found = compared(make, **settings)
    assert false_claims(found.recommendation, found.results, found.baseline) == []


def result(errors: list[float], weights: int = 4, status: Status = Status.SOLVED, **known: Any) -> Result:
    """Return how a system did that has so many weights, or none, and no summary."""
    model = known.pop("model", None) or WienerFilter(taps=max(weights - 1, 1))
    if weights and not hasattr(model, "coef_"):
        model.fit(np.eye(9)[:, : 1 if isinstance(model, WienerFilter) else weights - 1], np.arange(9) % 2)
    proof = Certificate(0, 0, 0, 16, 1, 1, 1, 0, "", status, "")
    e, name = np.array(errors), known.pop("name", type(model).__name__)
    spread = e.std(ddof=1) / np.sqrt(len(e))
    out = Result(name, {}, e.mean(), spread, np.nan, e, 0.0, 0.1, proof, model, None, None, (), "")
    return replace(out, **known)


BASELINE = result([0.5, 0.51, 0.5], second=0.69, probability=np.empty(0), name="the mean")


@pytest.mark.parametrize(
    ("best", "other", "chosen", "text"),
    [  # weights and errors of the best and of another system; whether the other is recommended, and why
        ((9, [1.0, 1.2, 1.1]), (4, [1.1, 1.1, 1.15]), True, "within one standard error"),
        ((9, [1.0, 1.2, 1.1]), (4, [1.5, 1.7, 1.6]), False, ""),
        ((4, [1.0, 1.2, 1.1]), (9, [1.1, 1.1, 1.15]), False, ""),
        ((0, [1.0, 1.2, 1.1]), (9, [1.0, 1.2, 1.1]), True, "are linear"),
        ((9, [1.0, 1.2, 1.1]), (0, [1.0, 1.2, 1.1]), False, ""),
        ((9, [0.1, 0.2, 0.3]), (4, [0.1 + 1e-13, 0.2 + 2e-13, 0.3 + 3e-13]), True, ""),
        ((9, [0.1, 0.2, 0.3]), (4, [0.10005, 0.2001, 0.30015]), True, "about the same error"),
        ((9, [1e-17, 1e-17, 2e-17]), (4, [4e-16, 5e-16, 4e-16]), True, "It fits exactly, up to rounding, as Best does"),
    ],
)
def test_the_simplest_of_those_within_one_standard_error_is_recommended(
    best: Any, other: Any, chosen: bool, text: str
) -> None:
    both = [result(errors, weights, name=name) for name, (weights, errors) in (("Best", best), ("Other", other))]
    base = result([9.0, 9.1, 9.2], name="the mean")
    found = recommend(both, base, "RMSE")
    assert (found.headline, found.system, found.useful) == (f"Use {found.system}", ("Best", "Other")[chosen], True)
    assert found.result is both[chosen]
    assert text in found.text
    assert false_claims(found, both, base) == []


def test_rounding_is_relative_to_the_baseline() -> None:
    both = [result([1e-7, 1e-7, 2e-7], 9), result([4e-6, 5e-6, 4e-6], 4)]
    for base, chosen in ((9e6, 1), (9.0, 0)):
        assert recommend(both, result([base, 1.1 * base, base]), "RMSE").result is both[chosen]


@pytest.mark.parametrize(
    ("best", "other", "chosen"),
    [
        (Status.SOLVED, Status.ILL_CONDITIONED, False),
        (Status.SOLVED, Status.RANK_DEFICIENT, True),
        (Status.NOT_CONVERGED, Status.RANK_DEFICIENT, True),
    ],
)
def test_a_system_is_recommended_for_its_certificate(best: Status, other: Status, chosen: bool) -> None:
    both = [result([1.0, 1.2, 1.1], 9, best), result([1.1, 1.1, 1.15], 4, other)]
    found = recommend(both, result([9.0, 9.1, 9.2]), "RMSE")
    assert found.result is both[chosen]
    assert "solved" not in found.text


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_tests_are_given_where_there_is_no_penalty_and_of_identified_coefficients(penalty: float) -> None:
    whole, dependent = (result([1.0, 1.2], status=status) for status in (Status.SOLVED, Status.RANK_DEFICIENT))
    whole.model.penalty_ = dependent.model.penalty_ = penalty
    one, some = ("", "") if penalty else (" and a test", " and tests")
    for every in (whole, replace(whole, certificate=None)):
        assert _errors_given(every) == f"a standard error{one} for every coefficient"
    assert _errors_given(dependent) == f"standard errors{some} for the identified coefficients"


def test_what_does_not_beat_the_mean_is_not_recommended() -> None:
    useless = result([9.0, 9.1, 9.3])
    found = recommend([useless], result([9.0, 9.1, 9.2], name="the mean"), "RMSE")
    assert "No system predicts better than the mean" in found.text
    assert (found.headline, found.useful) == ("Nothing beats the mean", False)
    assert str(found) == f"{found.headline}. {found.text}"


@pytest.mark.parametrize(
    ("errors", "measure", "shown"),
    [
        ([3000.0, 4000.0, 3300.0], "RMSE", "3433 ± 296"),
        ([0.651, 0.653, 0.652], "RMSE", "0.65200 ± 0.00058"),
        ([0.01, 0.02, 0.03], "error rate", "2.00% ± 0.58%"),
        ([0.0, 0.0], "RMSE", "0 ± 0"),
        ([1e-9, 2e-9], "RMSE", "1.5e-09 ± 5e-10"),
    ],
)
def test_errors_are_written_with_the_digits_they_deserve(errors: list[float], measure: str, shown: str) -> None:
    assert with_error(result(errors), measure) == shown


def test_probabilities_worse_than_the_shares_of_the_classes_are_not_recommended_where_others_have_better() -> None:
    known: dict[str, Any] = {"second": 0.8, "probability": np.empty(0)}
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    models = LogisticRegression().fit(x, y), LogisticRegression(penalty=1.0).fit(x, y)
    assert [(model.separation_, model.penalty_) for model in models] == [(None, 0.0), (None, 1.0)]
    overconfident = result([0.1, 0.2, 0.3], model=models[0], **known)
    penalised = result([0.1, 0.2, 0.31], model=models[1], second=0.5, probability=np.empty(0))
    found = recommend([overconfident, penalised], BASELINE, "error rate")
    assert found.result is penalised
    assert "probabilities are better than the class shares" in found.text
    assert false_claims(found, [overconfident, penalised], BASELINE) == []
    assert recommend([overconfident, replace(penalised, **known)], BASELINE, "error rate").result is overconfident


def test_a_system_that_hardly_beats_the_baseline_is_announced_with_both_errors() -> None:
    base = replace(BASELINE, error=4.38, fold_errors=np.full(3, 4.38))
    ridge = result([4.31, 4.311, 4.309], second=0.03)
    found = recommend([ridge], base, "RMSE")
    hardly = "WienerFilter hardly beats the mean: RMSE 4.31 against 4.38 (R² 0.03)"
    assert (found.headline, found.useful) == (hardly, True)
    assert recommend([replace(ridge, second=0.3)], base, "RMSE").headline == "Use WienerFilter"
    base = replace(BASELINE, system="the most frequent class", error=0.05, fold_errors=np.full(3, 0.05), second=0.2)
    close = result([0.0489, 0.049, 0.0491], probability=np.empty(0), second=0.199)
    found = recommend([close], base, "error rate")
    assert found.headline == "WienerFilter hardly beats the most frequent class: error rate 4.90% against 5.00%"
    assert recommend([replace(close, second=0.1)], base, "error rate").headline == "Use WienerFilter"


def test_a_fit_that_converged_is_preferred_to_one_of_about_the_same_error_that_did_not() -> None:
    best = result([0.10, 0.20, 0.30], status=Status.NOT_CONVERGED)
    near = result([0.10, 0.21, 0.32])  # 1.7 standard errors of the difference
    far = result([0.12, 0.22, 0.32])
    found = recommend([best, far, near], BASELINE, "RMSE")
    assert found.result is near
    assert "is within two standard errors of the best" in found.text
    assert "certified as solved" in found.text
    assert false_claims(found, [best, far, near], BASELINE) == []
    assert recommend([best, far], BASELINE, "RMSE").result is best


def counts(n: int = 200) -> Table:
    """Counts that least squares predicts about as well."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 2))
    return Table.of(X, rng.poisson(3.0 + 0.8 * np.tanh(X[:, 0])).astype(float), target="goals")


def test_the_spread_of_counts_is_not_decided_by_one_mean_near_zero() -> None:
    table = counts()
    mean = np.full(len(table.y), table.y.mean())
    mean[0] = 1e-90
    poisson = result([1.0, 1.1, 1.2], second=0.1, predicted=mean, settings={"loss": "poisson"})
    assert varies_as_counts(table, [poisson])
    assert findings_module._dispersion(table, [poisson]) < 2


def test_amounts_of_many_decades_are_no_counts() -> None:
    rng = np.random.default_rng(0)
    mean = np.exp(rng.normal(size=200))
    for size, counts in ((3, True), (10**6, False)):
        y = rng.poisson(size * mean) if counts else np.floor(size * mean * np.exp(rng.normal(size=200)))
        poisson = result([0.1, 0.2], settings={"loss": "poisson"}, predicted=size * mean, second=0.5)
        assert varies_as_counts(Table.of(mean[:, None], y.astype(float)), [poisson]) is counts


def test_a_count_is_recommended_a_model_of_counts_that_predicts_as_well() -> None:
    names, table = ["LinearRegression", "GeneralizedLinear"], counts()
    found = compare_table(table, systems=names)
    assert found.recommendation.system == "GeneralizedLinear(loss='poisson')"
    assert "is a model of counts" in found.recommendation.text
    assert false_claims(found.recommendation, found.results, found.baseline) == []
    assert recommend(found.results, found.baseline, "RMSE").system == "LinearRegression"
    ratings = replace(table, y=np.clip(np.round(5 + table.X[:, 0] + 0.3 * table.X[:, 1]), 3, 9))  # vary too little
    assert compare_table(ratings, systems=names).recommendation.system == "LinearRegression"
