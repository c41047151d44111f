"""What a recommendation says is true, and the system it names says something worth knowing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adaline import GeneralizedLinear, LogisticRegression
from adaline.comparison.compare import compare_table
from adaline.comparison.recommendation import recommend
from adaline.comparison.result import Result
from adaline.comparison.table import Table
from adaline.results import Certificate, Status
from tests.comparison.examples import bundled, classification, regression
from tests.comparison.reasons import false_claims

TABLES: dict[str, Callable[[], Table]] = {
    "longley": lambda: bundled("longley"),
    "norris": lambda: bundled("norris"),
    "more columns than rows": lambda: regression(n=30, d=40),
}
SLOW: dict[str, Callable[[], Table]] = {
    "penguins": lambda: bundled("penguins"),
    "breast cancer": lambda: bundled("breast_cancer"),
    "wine": lambda: bundled("wine"),
    "nothing to learn": lambda: classification(apart=0.0),
}


@pytest.mark.parametrize("name", [*TABLES, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_reasons_are_true(name: str) -> None:
    found = compare_table({**TABLES, **SLOW}[name]())
    assert false_claims(found.recommendation, found.results, found.baseline) == []


def result(errors: list[float], model: Any = None, status: Status = Status.SOLVED, **known: Any) -> Result:
    model = GeneralizedLinear() if model is None else model
    model.coef_, model.intercept_ = np.ones(3), np.zeros(1)
    proof = Certificate(0, 0, 0, 16, 1, 1, 1, 0, "", status, "")
    e = np.array(errors)
    out = Result(type(model).__name__, {}, e.mean(), 0.01, np.nan, e, 0.0, 0.1, proof, model, None, None, (), "")
    return replace(out, **known)


BASELINE = result([0.5, 0.51, 0.5], second=0.69, probability=np.empty(0))


def test_errors_that_differ_by_rounding_are_the_same() -> None:
    best, same = result([0.1, 0.2, 0.3]), result([0.1, 0.2, 0.3])
    best.model.coef_ = np.ones(9)
    same = replace(same, fold_errors=same.fold_errors * (1 + 1e-12))
    assert recommend([best, same], BASELINE, "RMSE").result is same


def test_systems_with_worse_probabilities_are_not_recommended() -> None:
    losses = np.array([0.1, 0.9, 0.3, 0.7])
    plain = result([0.1, 0.2, 0.3], LogisticRegression(), probability=np.empty(0), second=0.6, log_losses=losses + 0.1)
    penalised = replace(
        plain, model=LogisticRegression(), fold_errors=np.array([0.1, 0.2, 0.31]), log_losses=losses, second=0.5
    )
    penalised.model.coef_, penalised.model.intercept_, penalised.model.penalty_ = np.ones(3), np.zeros(1), 1.0
    found = recommend([plain, penalised], BASELINE, "error rate")
    assert found.result is penalised
    assert "better probabilities (log loss 0.5000 against 0.6000)" in found.text
    close = replace(penalised, log_losses=plain.log_losses + np.array([-0.2, 0.2, -0.2, 0.15]))
    assert recommend([plain, close], BASELINE, "error rate").result is plain


def test_a_rank_deficient_fit_is_not_called_solved() -> None:
    best = result([0.1, 0.2, 0.3], status=Status.NOT_CONVERGED)
    close = result([0.1, 0.21, 0.3], status=Status.RANK_DEFICIENT)
    found = recommend([best, close], BASELINE, "RMSE")
    assert found.result is close
    assert "solved" not in found.text
