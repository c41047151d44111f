"""scikit-learn's own checks: of one system of each family for a change, of all at night; and its tools."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.cases import EVERY, Case, cases

FAMILIES = ["LinearRegression", "LogisticRegression", "Perceptron", "OneVsRest", "GaussianClassifier", "KMeans"]
"""One system of each family: by sums, by descent, by rows, of machines, of densities, without targets."""


def checks_of(names: Iterable[str]) -> pytest.MarkDecorator:
    """Parametrize a test by scikit-learn's checks of systems."""
    failures: Any = lambda one: getattr(one, "expected_failures", {})  # noqa: E731
    return parametrize_with_checks([Case(EVERY[name]).make() for name in names], expected_failed_checks=failures)  # type: ignore[no-any-return]


def passes(estimator: Any, check: Any) -> None:
    """Run one check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.every
@checks_of(FAMILIES)
def test_scikit_learns_checks_of_families(estimator: Any, check: Any) -> None:
    passes(estimator, check)


@pytest.mark.night
@checks_of(name for name in EVERY if name not in FAMILIES)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    passes(estimator, check)


@cases(lambda case: case.linear)
def test_it_works_inside_scikit_learns_tools(case: Case) -> None:
    given = case.rows()
    scores = cross_val_score(make_pipeline(StandardScaler(), case.make()), given.X, given.y - given.y.mean(), cv=3)
    assert scores.min() > 0.2
