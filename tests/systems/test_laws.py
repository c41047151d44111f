"""Laws that every system of the registry obeys, whatever its settings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import adaline
from adaline.sources import array
from adaline.systems import SYSTEMS, UNSUPERVISED
from tests.storage.cases import assert_equal, makes
from tests.systems.cases import NEEDS_ROWS, Make, assert_same, data, systems, theta


@pytest.fixture
def threads(blas_threads: None) -> Any:
    """Sets the number of threads, and back."""
    yield adaline.set_threads
    adaline.set_threads(None)


@parametrize_with_checks(
    [cls() for cls in SYSTEMS.values()], expected_failed_checks=lambda one: getattr(one, "expected_failures", {})
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize("make", makes().values(), ids=makes())
def test_a_fit_keeps_the_arguments_and_forgets_the_fit_before(make: Make) -> None:
    """Every system in every setting: the second fit of a model is the fit of its clone, to the bit in all it holds.

    (That stored and pickled models are the same to the bit is a law of tests/storage, over the same registry.)
    """
    X, y = data()
    model = make()
    if is_classifier(model):
        before, y = np.where(X[:, 0] > X[:, 0].mean(), "right", "left"), np.where(y > np.median(y), 1, 0)
    else:
        before = np.column_stack([y, -y]) if np.ndim(getattr(model, "init", 0)) == 0 else -y
    given = model.get_params()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(pd.DataFrame(X[::-1] + 1.0, columns=list("abcd")), before) is model
        model.fit(X, y).predict(X)
        fresh = clone(model)
        assert all(model.get_params()[key] is value for key, value in given.items())
        assert fresh.get_params().keys() == given.keys()
        assert not [name for name in vars(fresh) if name.endswith("_")]
        fresh.fit(X, y)
    assert_same_state(model, fresh)
    assert model.certificate_.status.advice


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no-intercept"])
@pytest.mark.parametrize(
    "system", [cls for cls in SYSTEMS.values() if is_regressor(cls())], ids=lambda cls: cls.__name__
)
def test_an_intercept_is_a_number_for_a_flat_target_and_one_for_each_of_several(
    system: type[Any], intercept: bool
) -> None:
    X, y = data()
    for targets, shape in ((y, ()), (y[:, None], (1,)), (np.column_stack([y, -y, 2 * y]), (3,))):
        model = system(fit_intercept=intercept).fit(X, targets)
        assert np.shape(model.intercept_) == shape
        assert np.shape(model.coef_) == (*shape, X.shape[1])
        assert isinstance(model.intercept_, np.ndarray if shape else float)
        assert np.any(model.intercept_) == intercept


@pytest.mark.parametrize("system", [c for c in SYSTEMS.values() if hasattr(c, "learn_one")], ids=lambda c: c.__name__)
def test_learning_one_row_returns_the_system(system: type[Any]) -> None:
    X, y = data()
    model = system() if hasattr(system(), "learn_one") else system(solver="online")
    classes = is_classifier(model)
    y = np.where(y > np.median(y), "high", "low") if classes else y
    assert model.learn_one(X[0], y[0], **({"classes": ["high", "low"]} if classes else {})) is model
    assert model.learn_one(X[1], y[1]) is model


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_a_second_fit_may_have_other_columns(system: type[Any]) -> None:
    X, y = data()
    y = np.where(y > np.median(y), "high", "low") if is_classifier(system()) else y
    assert_same_state(system().fit(X[:20, :2], y[:20]).fit(X, y), system().fit(X, y))


def assert_same_state(a: Any, b: Any) -> None:
    """Assert that two models hold the same to the bit, in whatever order it was set."""
    assert vars(a).keys() == vars(b).keys()
    assert_equal(dict(sorted(vars(a).items())), dict(sorted(vars(b).items())), timed=False)


@pytest.mark.parametrize("make", systems())
def test_fit_leaves_its_input_alone(make: Make) -> None:
    X, y = data()
    weight = np.linspace(0.0, 2.0, len(y))
    kept = X.copy(), y.copy(), weight.copy()
    make().fit(X, y, sample_weight=weight).predict(X)
    for given, copy_of_it in zip((X, y, weight), kept, strict=True):
        np.testing.assert_array_equal(given, copy_of_it)


@pytest.mark.parametrize("make", systems())
def test_whole_weights_are_repeated_rows(make: Make) -> None:
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    weighted = make().fit(X, y, sample_weight=weight)
    repeated = make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same(weighted, repeated, X, rtol=1e-8)
    ours, expected = (model.summary().to_dict() for model in (weighted, repeated))
    assert ours["weight"] == expected["weight"] == weight.sum()
    for key in ("freedom", "sigma", "r_squared", "f_statistic", "aic", "bic", "log_likelihood"):
        assert ours[key] == pytest.approx(expected[key], rel=1e-7), key
    for a, b in zip(ours["coefficients"], expected["coefficients"], strict=True):
        assert a["std_error"] == pytest.approx(b["std_error"], rel=1e-7)


@pytest.mark.parametrize("make", systems())
def test_rows_of_weight_zero_are_not_there(make: Make) -> None:
    X, y = data()
    weight = np.ones(len(y))
    weight[::3] = 0.0
    X[0], y[0] = 1e6, -1e6
    weighted = make().fit(X, y, sample_weight=weight)
    dropped = make().fit(X[weight > 0], y[weight > 0])
    assert_same(weighted, dropped, X[1:], rtol=1e-8)
    assert weighted.summary().to_dict()["freedom"] == pytest.approx(dropped.summary().to_dict()["freedom"])


@pytest.mark.parametrize("make", systems())
def test_a_number_as_weight_counts_all_rows(make: Make) -> None:
    X, y = data()
    assert_same(make().fit(X, y, sample_weight=3.0), make().fit(X, y, sample_weight=np.full(len(y), 3.0)), X)


@pytest.mark.parametrize("make", systems())
def test_several_targets_are_fitted_one_by_one(make: Make) -> None:
    X, Y = data(targets=3)
    model = make().fit(X, Y)
    assert model.coef_.shape == (3, 4)
    assert model.predict(X).shape == Y.shape
    for k in range(3):
        one = make().fit(X, Y[:, k])
        np.testing.assert_allclose(model.coef_[k], one.coef_, rtol=1e-9)
        np.testing.assert_allclose(np.broadcast_to(model.intercept_, 3)[k], one.intercept_, rtol=1e-9)
        np.testing.assert_allclose(model.predict(X)[:, k], one.predict(X), rtol=1e-9)


@pytest.mark.parametrize("make", systems())
def test_one_target_as_a_column_keeps_its_shape(make: Make) -> None:
    X, y = data()
    column, flat = make().fit(X, y[:, None]), make().fit(X, y)
    assert column.predict(X).shape == (60, 1)
    assert column.coef_.shape == (1, 4)
    assert flat.predict(X).shape == (60,)
    assert isinstance(flat.intercept_, float)
    np.testing.assert_array_equal(column.predict(X)[:, 0], flat.predict(X))


@pytest.mark.parametrize("make", systems())
def test_the_order_of_rows_does_not_matter(make: Make) -> None:
    """An automatic penalty is known to the square root of rounding."""
    X, y = data(n=3000)
    for order in (np.argsort(X[:, 0]), np.argsort(y), np.random.default_rng(2).permutation(len(y))):
        assert_same(make().fit(X[order], y[order]), make().fit(X, y), X, rtol=1e-8)


@pytest.mark.parametrize("make", systems())
def test_a_file_sorted_by_a_column_of_large_mean_loses_no_digits(make: Make) -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([1e9 + np.sort(rng.normal(size=40_000) * 1e4), rng.normal(size=(40_000, 2))])
    w = np.array([1e-4, -2.0, 3.0])
    y = (X - [1e9, 0, 0]) @ w + rng.normal(size=40_000)
    if not make().fit_intercept:
        pytest.skip("without an intercept nothing is centred")
    order = rng.permutation(len(y))
    a, b = make().fit(X, y), make().fit(X[order], y[order])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9)
    assert a.certificate_.digits > 8


@pytest.mark.parametrize("make", systems())
def test_the_number_of_threads_changes_no_bit(make: Make, threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(4, n=20_000, d=5)
    monkeypatch.setattr(array, "block_rows", lambda features: 1000)
    found = []
    for n in (1, 2, 3, 8):
        threads(n)
        model = make().fit(X, y)
        found.append((theta(model), model.predict(X[:100]), model.certificate_.digits, model.certificate_.objective))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("make", systems(NEEDS_ROWS))
def test_the_number_of_threads_changes_no_bit_of_sparse_fits(make: Make, threads: Any) -> None:
    rng = np.random.default_rng(5)
    X = sparse.random_array((30_000, 20), density=0.3, random_state=rng, format="csr")
    y = X @ np.arange(20.0) + rng.normal(size=30_000)
    found = []
    for n in (1, 2, 3, 8):
        threads(n)
        found.append(theta(make().fit(X, y)))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("make", systems())
def test_edits_of_the_coefficients_are_honoured(make: Make) -> None:
    X, y = data()
    model = make().fit(X, y)
    model.coef_ = np.array([1.0, 0.0, 0.0, 0.0])
    model.intercept_ = 2.0
    np.testing.assert_allclose(model.predict(X), X[:, 0] + 2.0)


@pytest.mark.parametrize("make", systems())
def test_it_works_inside_scikit_learns_tools(make: Make) -> None:
    X, y = data()
    scores = cross_val_score(make_pipeline(StandardScaler(), make()), X, y - y.mean(), cv=3)
    assert scores.min() > 0.4


@pytest.mark.parametrize("make", systems())
def test_the_certificate_speaks(make: Make) -> None:
    X, y = data()
    model = make().fit(X, y)
    proof = model.certificate_
    assert proof.digits > 12
    assert proof.rank == model.rank_ == 4
    assert proof.passes >= 1
    assert proof.seconds > 0
    assert proof.condition >= 1
    assert 0 <= proof.gap < 1e-9 * proof.objective
    assert proof.gradient < 1e-6
    assert proof.solver
    assert proof.solver in str(proof)
    assert list(model.aliased_) == []
    residual = y - model.predict(X)
    assert proof.objective >= 0.5 * residual @ residual * (1 - 1e-9)


@pytest.mark.parametrize("make", systems())
def test_weights_times_a_power_of_two_change_nothing(make: Make) -> None:
    X, y = data()
    model = make()
    if getattr(model, "penalty", None) not in (None, "auto"):
        return  # a number is weighed against the sum over rows
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for verb in ("fit", "partial_fit"):
        if verb == "partial_fit" and getattr(model, "criterion", None) == "loo":
            continue
        plain, scaled = (getattr(make(), verb)(X, y, sample_weight=w) for w in (weight, weight * 2.0**-60))
        if getattr(model, "penalty", None) is None:
            np.testing.assert_array_equal(theta(scaled), theta(plain))
            assert scaled.certificate_.digits == plain.certificate_.digits


def test_passes_are_counted() -> None:
    X, y = data(n=200)
    assert adaline.LinearRegression().fit(X, y).certificate_.passes == 2
    assert adaline.LinearRegression(solver="qr").fit(X, y).certificate_.passes == 3
    assert adaline.Ridge(criterion="loo").fit(X, y).certificate_.passes == 4
    assert adaline.Ridge().fit(X, np.column_stack([y, -y, 2 * y])).certificate_.passes == 4
    assert adaline.LinearRegression().partial_fit(X, y).certificate_.passes == 1


@pytest.mark.parametrize("system", [*SYSTEMS.values(), *UNSUPERVISED.values()], ids=lambda cls: cls.__name__)
def test_whatever_is_called_fit_leaves_a_fitted_model(system: type[Any]) -> None:
    X, y = data()
    targets = np.where(y > np.median(y), "high", "low") if is_classifier(system()) else y
    for name in (name for name in dir(system) if name.startswith("fit_") and callable(getattr(system, name))):
        model = system()
        getattr(model, name)(X, targets)
        model.predict(X)
