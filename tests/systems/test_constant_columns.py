"""A constant column beside an intercept is left out with a note: nothing else changes."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier

from adaline import LMS, Adaline, LogisticRegression, RobustRegression, SigmoidPerceptron
from adaline.arrays import Array
from adaline.systems import SYSTEMS

NO_INTERCEPT = ("WienerFilter", "AdaptiveFilter")
TEXTBOOK = ("Perceptron", "Pocket", "KeslerPerceptron")
"""With a number as rate these take steps in all columns, to the letter."""
AUTO_RATE = {"LMS": LMS, "Adaline": Adaline, "SigmoidPerceptron": SigmoidPerceptron}

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "LinearRegression": [{"rank": "drop"}, {"solver": "qr"}, {"solver": "svd"}, {"solver": "normal"}],
    "Ridge": [{"penalty": 1.0}],
    "RobustRegression": [{"loss": "tukey"}, {"loss": "absolute"}, {"loss": "quantile", "quantile": 0.25}],
    "GeneralizedLinear": [{"loss": "huber"}, {"penalty": 1.0}],
    "GaussianClassifier": [{"covariance": "full"}],
    "LogisticRegression": [{"penalty": 1.0}, {"penalty": "auto"}, {"l1": 1.0}, {"scheme": "one-vs-rest"}],
    "FisherDiscriminant": [{"covariance": "identity"}],
}
PROVEN = [
    pytest.param(cls, settings, id=f"{name}({settings or ''})")
    for name, cls in SYSTEMS.items()
    if name not in (*NO_INTERCEPT, *TEXTBOOK, *AUTO_RATE)
    for settings in ({}, *SETTINGS.get(name, []))
]
every_value = pytest.mark.parametrize("value", [7.0, 0.1, 0.0, -1e9])


def rows() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + np.array([1.0, 2.0, -30.0])
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=90)


def fitted(system: Any, X: Any, y: Array) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return system.fit(X, y)


def check_unchanged(cls: type[Any], settings: dict[str, Any], value: float, place: int, form: Any) -> None:
    X, y = rows()
    if is_classifier(cls(**settings)):
        y = np.digitize(y, np.quantile(y, [0.3, 0.7])).astype(float)
    Z = np.insert(X, place, value, axis=1)
    plain, model = (fitted(cls(**settings), form(columns), y) for columns in (X, Z))
    np.testing.assert_allclose(model.predict(form(Z)), plain.predict(form(X)), rtol=1e-7, atol=1e-9)
    ours, theirs = model.certificate_, plain.certificate_
    assert ours.status is theirs.status
    assert math.isnan(theirs.digits) or ours.digits > theirs.digits - 2
    assert f"column x{place} is constant and left out" in ours.advice
    assert "constant" not in theirs.advice
    if hasattr(model, "coef_"):
        assert not np.atleast_2d(model.coef_)[:, place].any()


@every_value
@pytest.mark.parametrize("place", [0, 3])
@pytest.mark.parametrize(("cls", "settings"), PROVEN)
def test_it_changes_nothing_else(cls: type[Any], settings: dict[str, Any], value: float, place: int) -> None:
    check_unchanged(cls, settings, value, place, np.asarray)


@every_value
@pytest.mark.parametrize("name", ["LinearRegression", "RobustRegression", "GeneralizedLinear", "LogisticRegression"])
def test_it_changes_nothing_else_in_sparse_rows(name: str, value: float) -> None:
    check_unchanged(SYSTEMS[name], {}, value, 1, sparse.csr_array)


@every_value
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", AUTO_RATE)
def test_online_systems_read_it_as_the_intercept(name: str, form: Any, value: float) -> None:
    X, y = rows()
    cls = AUTO_RATE[name]
    y = (y > np.median(y)).astype(float) if is_classifier(cls()) else y
    Z = np.insert(X, 1, value, axis=1)
    plain, model = (fitted(cls(rate="auto"), form(columns), y) for columns in (X, Z))
    assert not np.atleast_2d(model.coef_)[:, 1].any()
    np.testing.assert_allclose(model.predict(form(Z)), plain.predict(form(X)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["LinearRegression", "RobustRegression", "GeneralizedLinear", "Ridge"])
def test_without_an_intercept_it_is_a_column_like_any_other(name: str) -> None:
    X, y = rows()
    settings = {"penalty": 0.0} if name == "Ridge" else {}
    model = fitted(SYSTEMS[name](fit_intercept=False, **settings), np.insert(X, 1, 7.0, axis=1), y + 5.0)
    plain = fitted(SYSTEMS[name](**settings), X, y + 5.0)
    np.testing.assert_allclose(7.0 * model.coef_[1], plain.intercept_, rtol=1e-6)
    assert "constant" not in model.certificate_.advice


def test_several_are_named_together() -> None:
    X, y = rows()
    Z = np.column_stack([X, np.ones((90, 12))])
    for system in (RobustRegression(), SYSTEMS["LinearRegression"]()):
        note = "columns x3, x4, x5, x6, x7, x8, x9, x10, and 4 more are constant and left out"
        model = fitted(system, Z, y)
        assert model.certificate_.advice == note
        assert note in str(model.certificate_)
        assert model.summary().to_dict()["coefficients"][-1]["left_out"] == "constant"


def test_a_sparse_column_that_is_nearly_constant_is_none() -> None:
    """The rounding of sums of squares would hide it."""
    X, y = rows()
    nearly = np.full(90, 1.0)
    nearly[3] = 1.0 + 1e-4
    labels = (y > np.median(y)).astype(int)
    model = fitted(LogisticRegression(), sparse.csr_array(np.column_stack([X, nearly])), labels)
    assert "constant" not in model.certificate_.advice


def test_a_column_that_is_constant_in_each_class_is_no_constant() -> None:
    X, y = rows()
    labels = (y > np.median(y)).astype(float)
    for name in ("FisherDiscriminant", "GaussianClassifier"):
        model = fitted(SYSTEMS[name](), np.column_stack([X, labels]), labels)
        assert "scatter within classes is singular" in model.certificate_.advice
        assert "constant" not in model.certificate_.advice
