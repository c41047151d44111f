"""`standardize` of the rules that work in the units of the columns: these play no part, coefficients are in them."""

from __future__ import annotations

import pickle
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from adaline import Perceptron, Status, datasets, open_table
from adaline.basis import Polynomial
from adaline.errors import InvalidData, InvalidParameter
from adaline.systems import SYSTEMS
from adaline.systems.families.online_classifier import OnlineClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RULES = [
    cls for cls in SYSTEMS.values() if issubclass(cls, OnlineClassifier) and "standardize" in signature(cls).parameters
]
rules = pytest.mark.parametrize("rule", RULES)


def penguins() -> tuple[Any, Any]:
    data = datasets.load("penguins", target="species")
    return data.X, data.y


def by_hand(X: Any) -> Any:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_the_perceptron_family_has_it() -> None:
    assert {cls.__name__ for cls in RULES} >= {"Perceptron", "KeslerPerceptron", "Pocket"}
    assert not any(cls().standardize for cls in RULES)


@rules
def test_raw_units_no_longer_ruin_the_answer_and_advice_names_it(rule: Any) -> None:
    X, y = penguins()
    assert rule(epochs=100, standardize=True).fit(X, y).score(X, y) > 0.97
    assert "set standardize=True, or raise epochs" in rule(epochs=2).fit(X, y == "Gentoo").certificate_.advice
    assert "set standardize=True" not in rule(epochs=2, standardize=True).fit(X, y).certificate_.advice


@rules
@pytest.mark.parametrize("intercept", [True, False])
def test_it_is_the_rule_on_standardised_columns_told_in_raw_units(rule: Any, intercept: bool) -> None:
    X, y = penguins()
    Z = by_hand(X) if intercept else X / np.sqrt((X**2).mean(axis=0))
    model = rule(epochs=5, standardize=True, fit_intercept=intercept).fit(X, y)
    plain = rule(epochs=5, fit_intercept=intercept).fit(Z, y)
    assert model.history_ == plain.history_
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(Z), atol=1e-9)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-9)
    if not intercept:
        assert not model.intercept_.any()


@rules
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_powers_of_two_change_no_bit(rule: Any, as_given: Any) -> None:
    X, y = penguins()
    unit = np.exp2([3.0, -40.0, 100.0, -300.0])
    plain = rule(epochs=5, standardize=True).fit(as_given(X), y)
    scaled = rule(epochs=5, standardize=True).fit(as_given(X * unit), y)
    np.testing.assert_array_equal(scaled.decision_function(X * unit), plain.decision_function(X))
    np.testing.assert_array_equal(scaled.coef_ * unit, plain.coef_)
    assert scaled.history_ == plain.history_
    if as_given is np.asarray:
        moved = X + np.array([1e6, 0.0, -1e5, 3.0])
        shifted = rule(epochs=5, standardize=True).fit(moved, y)
        np.testing.assert_array_equal(shifted.predict(moved), plain.predict(X))


@rules
def test_constant_columns_get_no_weight(rule: Any) -> None:
    X, y = penguins()
    constant = np.column_stack([X, np.full(len(y), 1e9), np.zeros(len(y))])
    model = rule(epochs=5, standardize=True).fit(constant, y)
    plain = rule(epochs=5, standardize=True).fit(X, y)
    assert not model.coef_[:, 4:].any()
    np.testing.assert_array_equal(model.predict(constant), plain.predict(X))


@rules
def test_scales_learned_first_are_kept(rule: Any) -> None:
    X, y = penguins()
    mixed = np.random.default_rng(0).permutation(len(y))
    X, y = np.column_stack([X[mixed], np.arange(len(y)) >= 100]), y[mixed]  # the last column is zero at first
    first, rest = slice(0, 100), slice(100, None)
    Z = (X - X[first].mean(axis=0)) / np.where(X[first].any(axis=0), X[first].std(axis=0), 1.0)
    model, plain = rule(standardize=True), rule()
    for rows in (first, rest):
        model.partial_fit(X[rows], y[rows])
        plain.partial_fit(Z[rows], y[rows])
    for x, z, label in zip(X[:9], Z[:9], y[:9], strict=True):
        model.learn_one(x, label)
        plain.learn_one(z, label)
        assert model.predict_one(x) == plain.predict_one(z)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(Z), atol=1e-9)
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[:20] * 1e3, y[:20])
    assert np.isfinite(again.coef_).all()
    with pytest.raises(InvalidParameter, match=r"standardize is False, and .* was begun with True"):
        model.set_params(standardize=False).partial_fit(X, y)
    with pytest.raises(InvalidParameter, match=r"standardize is True, and .* was begun with False"):
        plain.set_params(standardize=True).partial_fit(X, y)
    with pytest.raises(InvalidData, match="sparse rows cannot be centred"):
        again.partial_fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(again.decision_function(sparse.csr_array(X)), again.decision_function(X), atol=1e-6)


@rules
def test_one_row_has_no_scale(rule: Any) -> None:
    with pytest.raises(InvalidData, match="one row is too little: begin with fit or partial_fit"):
        rule(standardize=True).learn_one([1.0, 2.0], True)
    with pytest.raises(InvalidParameter, match="standardize must be True or False"):
        rule(standardize="yes").fit(*penguins())


@rules
def test_first_weights_and_warm_starts_are_in_raw_units(rule: Any) -> None:
    X, y = penguins()
    two = y != "Gentoo"
    X, y = X[two], y[two]
    rows = 2 if rule is SYSTEMS["KeslerPerceptron"] else 1
    init = np.linspace(-1.0, 1.0, 5 * rows).reshape(rows, 5)
    model = rule(standardize=True, init=init, epochs=1).fit(X, y)
    Z, inside = by_hand(X), init * np.r_[1.0, X.std(axis=0)]
    inside[:, 0] += init[:, 1:] @ X.mean(axis=0)
    plain = rule(init=inside, epochs=1).fit(Z, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(Z), rtol=1e-9)
    again = rule(standardize=True, epochs=3).fit(X, y)
    mean, coef = again._standard.mean.copy(), again.coef_.copy()
    again.set_params(warm_start=True).fit(X[:50] * 2, y[:50])
    np.testing.assert_array_equal(again._standard.mean, mean)
    assert not np.array_equal(again.coef_, coef)


@rules
def test_a_basis_held_in_memory_streamed_or_too_large_to_hold_gives_the_same(
    rule: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = penguins()
    pd.DataFrame(X, columns=list("abcd")).assign(kind=y).to_parquet(tmp_path / "rows.parquet")
    settings = {"epochs": 3, "standardize": True, "basis": Polynomial(degree=2)}
    held = rule(**settings).fit(X, y)
    table = rule(**settings).fit(open_table(tmp_path / "rows.parquet", target="kind"))
    np.testing.assert_array_equal(table.predict(pd.DataFrame(X, columns=list("abcd"))), held.predict(X))
    for order in ({}, {"shuffle": True} if "shuffle" in signature(rule).parameters else {}):
        drawn = rule(**settings, **order).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr("adaline.sources.expanded.IN_MEMORY", 0)
            assert np.array_equal(rule(**settings, **order).fit(X, y).predict(X), drawn.predict(X))


def test_margin_and_bound_are_those_of_standardised_columns() -> None:
    X, y = penguins()
    y = y == "Gentoo"
    model = Perceptron(standardize=True).fit(X, y)
    rows = np.column_stack([np.ones(len(y)), by_hand(X)])
    w = model._scan.theta[0]
    assert model.certificate_.status is Status.SOLVED
    assert model.radius_ == pytest.approx(np.linalg.norm(rows, axis=1).max())
    assert model.margin_ == pytest.approx((np.where(y, 1, -1) * (rows @ w)).min() / np.linalg.norm(w))
    assert model.mistakes_ <= model.bound_ < 1e6
