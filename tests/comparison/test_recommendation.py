"""What a recommendation says is true, and the system it names says something worth knowing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adaline import LogisticRegression, WienerFilter
from adaline.comparison import findings as findings_module
from adaline.comparison.compare import Comparison, compare_table
from adaline.comparison.findings import varies_as_counts
from adaline.comparison.recommendation import recommend
from adaline.comparison.result import Result
from adaline.comparison.table import Table
from adaline.results import Certificate, Status
from tests.comparison.examples import bundled, classification, compared, regression
from tests.comparison.reasons import false_claims

TABLES: dict[str, Callable[[], Comparison]] = {
    "longley": lambda: compared(bundled, name="longley"),
    "norris": lambda: compared(bundled, name="norris"),
}
SLOW: dict[str, Callable[[], Comparison]] = {
    "penguins": lambda: compared(bundled, name="penguins"),
    "breast cancer": lambda: compared(bundled, name="breast_cancer"),
    "wine": lambda: compared(bundled, name="wine"),
    "more columns than rows": lambda: compared(regression, n=30, d=40),
    "nothing to learn": lambda: compared(classification, apart=0.0),
}


@pytest.mark.parametrize("name", [*TABLES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_reasons_are_true(name: str) -> None:
    found = {**TABLES, **SLOW}[name]()
    assert false_claims(found.recommendation, found.results, found.baseline) == []


def result(errors: list[float], model: Any = None, status: Status = Status.SOLVED, **known: Any) -> Result:
    model = WienerFilter() if model is None else model
    model.coef_, model.intercept_ = np.ones(3), np.zeros(1)
    proof = Certificate(0, 0, 0, 16, 1, 1, 1, 0, "", status, "")
    e = np.array(errors)
    out = Result(type(model).__name__, {}, e.mean(), 0.01, np.nan, e, 0.0, 0.1, proof, model, None, None, (), "")
    return replace(out, **known)


BASELINE = result([0.5, 0.51, 0.5], second=0.69, probability=np.empty(0))


@pytest.mark.parametrize("part", [1e-12, 5e-4])
def test_errors_that_differ_by_a_hair_are_the_same_though_every_fold_tells_them_apart(part: float) -> None:
    best, same = result([0.1, 0.2, 0.3]), result([value * (1 + part) for value in (0.1, 0.2, 0.3)])
    best.model.coef_ = np.ones(9)
    found = recommend([best, same], BASELINE, "RMSE")
    assert found.result is same
    assert false_claims(found, [best, same], BASELINE) == []


def test_errors_of_rounding_are_the_same() -> None:
    best, plainer = result([1e-17, 1e-17, 2e-17]), result([4e-16, 5e-16, 4e-16])
    best.model.coef_ = np.ones(9)
    found = recommend([best, plainer], BASELINE, "RMSE")
    assert found.result is plainer
    assert found.text == "It fits exactly, up to rounding, as WienerFilter does."
    assert false_claims(found, [best, plainer], BASELINE) == []


def test_probabilities_worse_than_the_shares_of_the_classes_are_not_recommended_where_others_have_better() -> None:
    known: dict[str, Any] = {"second": 0.8, "probability": np.empty(0)}
    overconfident = result([0.1, 0.2, 0.3], LogisticRegression(), **known)
    overconfident.model.separation_ = None
    penalised = result([0.1, 0.2, 0.31], LogisticRegression(penalty=1.0), second=0.5, probability=np.empty(0))
    penalised.model.separation_, penalised.model.penalty_ = None, 1.0
    found = recommend([overconfident, penalised], BASELINE, "error rate")
    assert found.result is penalised
    assert "probabilities are better than the class shares" in found.text
    assert false_claims(found, [overconfident, penalised], BASELINE) == []
    assert recommend([overconfident, replace(penalised, **known)], BASELINE, "error rate").result is overconfident


def test_a_rank_deficient_fit_is_not_called_solved() -> None:
    best = result([0.1, 0.2, 0.3], status=Status.NOT_CONVERGED)
    close = result([0.1, 0.21, 0.3], status=Status.RANK_DEFICIENT)
    found = recommend([best, close], BASELINE, "RMSE")
    assert found.result is close
    assert "solved" not in found.text


def test_a_system_that_hardly_beats_the_mean_is_announced_with_both_errors() -> None:
    base = replace(BASELINE, system="the mean", error=4.38, fold_errors=np.full(3, 4.38))
    ridge = result([4.31, 4.311, 4.309], second=0.03)
    found = recommend([ridge], base, "RMSE")
    assert (found.headline, found.useful) == (
        "WienerFilter hardly beats the mean: RMSE 4.31 against 4.38 (R² 0.03)",
        True,
    )
    assert recommend([replace(ridge, second=0.3)], base, "RMSE").headline == "Use WienerFilter"


def test_a_classifier_that_hardly_beats_the_most_frequent_class_is_announced_unless_its_probabilities_help() -> None:
    base = replace(BASELINE, system="the most frequent class", error=0.05, fold_errors=np.full(3, 0.05), second=0.2)
    close = result([0.0489, 0.049, 0.0491], probability=np.empty(0), second=0.199)
    found = recommend([close], base, "error rate")
    assert found.headline == "WienerFilter hardly beats the most frequent class: error rate 4.90% against 5.00%"
    assert recommend([replace(close, second=0.1)], base, "error rate").headline == "Use WienerFilter"


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


def test_a_count_is_recommended_a_model_of_counts_that_predicts_as_well() -> None:
    names = ["LinearRegression", "GeneralizedLinear"]
    found = compare_table(counts(), systems=names)
    assert found.recommendation.system == "GeneralizedLinear(loss='poisson')"
    assert "is a model of counts" in found.recommendation.text
    assert false_claims(found.recommendation, found.results, found.baseline) == []
    assert recommend(found.results, found.baseline, "RMSE").system == "LinearRegression"
    table = counts()
    ratings = replace(table, y=np.clip(np.round(5 + table.X[:, 0] + 0.3 * table.X[:, 1]), 3, 9))  # vary too little
    found = compare_table(ratings, systems=names)
    assert found.recommendation.system == "LinearRegression"


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


def test_amounts_of_many_decades_are_no_counts() -> None:
    rng = np.random.default_rng(0)
    mean = np.exp(rng.normal(size=200))
    for size, counts in ((3, True), (10**6, False)):
        y = rng.poisson(size * mean) if counts else np.floor(size * mean * np.exp(rng.normal(size=200)))
        poisson = result([0.1, 0.2], settings={"loss": "poisson"}, predicted=size * mean, second=0.5)
        table = Table.of(mean[:, None], y.astype(float))
        assert varies_as_counts(table, [poisson]) is counts
