"""More columns than rows: the dual system and LSMR find the minimum norm, and ridge the same as in the primal."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline import LinearRegression, Ridge, Status
from adaline.arrays import Array
from adaline.errors import InvalidParameter, SumsMissing
from adaline.solvers.least_squares import choose
from tests.inference.against import column
from tests.solvers.least_squares import exact

HARD = (61, 165, 177, 243, 261, 291, 327)  # of four hundred


def dense(seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, 700)) + 3.0, rng.normal(size=30) + 5.0


def scattered(seed: int = 0) -> tuple[Any, Array]:
    rng = np.random.default_rng(seed)
    X = sparse.random_array((60, 2000), density=0.01, random_state=rng, format="csr", data_sampler=rng.standard_normal)
    return X, rng.normal(size=60) + 5.0


def pseudo_inverse(X: Any, y: Array, fit_intercept: bool, weight: Array | None = None) -> tuple[Any, Array]:
    """Intercept and coefficients of minimum norm, intercept outside the norm."""
    x = X.toarray() if sparse.issparse(X) else X
    weight = np.ones(len(x)) if weight is None else weight
    mean, mean_t = (weight @ z / weight.sum() * fit_intercept for z in (x, y))
    root = np.sqrt(weight)
    w = np.linalg.pinv(root[:, None] * (x - mean), rcond=1e-12) @ (root * (y - mean_t).T).T
    return mean_t - mean @ w, w.T


NO_GRAM = 8 * 20**2  # a memory limit that neither Gram matrix fits in


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("make", "way"), [(dense, "dual"), (scattered, "dual"), (scattered, "LSMR")])
def test_the_solution_has_the_minimum_norm(
    make: Callable[[], Any], way: str, fit_intercept: bool, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = make()
    n = X.shape[0]
    Y = np.column_stack([y, np.sin(np.arange(n))])
    weight = np.random.default_rng(1).integers(0, 3, size=n).astype(float) if weighted else np.ones(n)
    if way == "LSMR":
        monkeypatch.setattr(choose, "GRAM_BYTES", NO_GRAM)
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, Y, sample_weight=weight)
    intercept, coef = pseudo_inverse(X, Y, fit_intercept, weight)
    assert model.certificate_.solver.startswith(way)
    np.testing.assert_allclose(model.coef_, coef, rtol=0, atol=1e-10 * np.abs(coef).max())
    np.testing.assert_allclose(np.broadcast_to(model.intercept_, 2), intercept, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(model.predict(X)[weight > 0], Y[weight > 0], rtol=1e-8, atol=1e-8)
    if way == "dual":
        assert model.rank_ == (weight > 0).sum() - fit_intercept
        assert model.certificate_.status is (Status.RANK_UNCERTAIN if weighted else Status.RANK_DEFICIENT)
        assert model.aliased_ is None


def test_many_columns_take_no_matrix_of_their_square() -> None:
    """20 000 columns: X'X alone would be 3.2 GB."""
    rng = np.random.default_rng(6)
    X = sparse.random_array((200, 20_000), density=0.005, random_state=rng, format="csr")
    y = rng.normal(size=200)
    tracemalloc.start()
    for system in (LinearRegression(), Ridge(penalty=1.0), Ridge()):
        assert np.isfinite(system.fit(X, y).coef_).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32e6


def test_lsmr_solves_tall_least_squares_in_any_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "GRAM_BYTES", NO_GRAM)
    rng = np.random.default_rng(3)
    units = 10.0 ** rng.uniform(-6, 6, size=40)
    X, y = sparse.random_array((400, 40), density=0.2, random_state=rng, format="csr"), rng.normal(size=400)
    model = LinearRegression().fit(sparse.csr_array(X * units), y)
    assert model.certificate_.solver.startswith("LSMR")
    plain = np.linalg.lstsq(np.column_stack([np.ones(400), X.toarray()]), y)[0]
    np.testing.assert_allclose(model.coef_ * units, plain[1:], rtol=1e-10)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("way", ["dual", "dual, sparse", "LSMR"])
def test_the_claim_is_honest(way: str, penalty: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the minimum-norm solution in rational arithmetic; some rows repeat with other targets.

    Sparse rows are not centred, so that a large mean costs digits.
    """
    if way == "LSMR":
        monkeypatch.setattr(choose, "GRAM_BYTES", 8 * 4**2)
    else:
        monkeypatch.setattr(choose, "MOST_NARROW_COLUMNS", 0)
    claims = []
    for seed in (*range(40), *HARD):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(5, 8)), int(rng.integers(8, 12))))
        X += rng.integers(3) * 10.0 ** rng.uniform(-1, 3)
        X[1] = X[0] if seed % 3 == 0 else X[1]
        if seed % 7 == 0:
            X *= 10.0 ** rng.uniform(-3, 3, size=X.shape[1])
        y, fit_intercept = rng.normal(size=len(X)), bool(seed % 2)
        model = Ridge(penalty=penalty, fit_intercept=fit_intercept)
        model.fit(X if way == "dual" else sparse.csr_array(X), y)
        assert model.certificate_.solver.startswith(way.partition(",")[0])
        answer = exact.solve(X, y, fit_intercept=fit_intercept, penalty=penalty)
        reached = exact.digits(exact.theta(model), answer, X)
        assert model.certificate_.digits <= reached + 1, f"seed {seed}: {model.certificate_}"
        claims.append(model.certificate_.digits)
    assert np.median(claims) >= 8


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", [3.0, "auto"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_ridge_is_the_same_in_the_dual_and_the_primal(
    penalty: Any, fit_intercept: bool, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 60)) * (rng.random((40, 60)) < 0.3) + 0.0
    Y = X[:, :2] + rng.normal(size=(40, 2))
    weight = np.ones(40) if penalty == "auto" else rng.integers(1, 4, size=40).astype(float)
    rows = sparse.csr_array(X) if storage == "sparse" else X
    system = Ridge(penalty=penalty, fit_intercept=fit_intercept)
    primal = system.fit(rows, Y, sample_weight=weight)
    assert "dual" not in primal.certificate_.solver
    coef, chosen, noise, proof = primal.coef_, primal.penalty_, primal.noise_variance_, primal.certificate_
    monkeypatch.setattr(choose, "MOST_NARROW_COLUMNS", 0)
    dual = system.fit(rows, Y, sample_weight=weight)
    assert dual.certificate_.solver.startswith("dual")
    np.testing.assert_allclose(dual.penalty_, chosen, rtol=1e-6)
    np.testing.assert_allclose(dual.coef_, coef, rtol=0, atol=1e-7 * np.abs(coef).max())
    np.testing.assert_allclose(dual.noise_variance_, noise, rtol=1e-6)
    assert dual.certificate_.objective == pytest.approx(proof.objective, rel=1e-6)


def test_ridge_by_lsmr_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = scattered()
    system = Ridge(penalty=0.5)
    dual = system.fit(X, y).coef_.copy()
    assert system.certificate_.solver.startswith("dual")
    monkeypatch.setattr(choose, "GRAM_BYTES", 8 * 20**2)
    lsmr = system.fit(X, y)
    assert lsmr.certificate_.solver.startswith("LSMR")
    np.testing.assert_allclose(lsmr.coef_, dual, rtol=0, atol=1e-11 * np.abs(dual).max())
    digits = lsmr.certificate_.digits
    assert system.fit(X, 2.0**40 * y).certificate_.digits == pytest.approx(digits, abs=0.1)


@pytest.mark.slow
def test_a_named_solver_is_taken_where_its_sums_fit_and_refused_where_not(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = dense()
    expected, named = LinearRegression().fit(X, y), LinearRegression(solver="svd").fit(X, y)
    assert "dual" in expected.certificate_.solver
    assert "SVD" in named.certificate_.solver
    np.testing.assert_allclose(named.coef_, expected.coef_, atol=1e-10)
    monkeypatch.setattr(choose, "GRAM_BYTES", 8 * 600**2)
    with pytest.raises(InvalidParameter, match="solver='gradient'"):
        LinearRegression(solver="gradient").fit(X, y)
    monkeypatch.setattr(choose, "GRAM_BYTES", NO_GRAM)
    with pytest.raises(InvalidParameter, match="30 x 700 dense: both X'X and XX' exceed the limit"):
        LinearRegression().fit(X, y)


def test_what_needs_sums_is_refused_after_a_wide_fit() -> None:
    X, y = dense()
    model = LinearRegression().fit(X, y)
    calls: dict[str, Callable[[], Any]] = {
        "cannot continue: .* wide data": lambda: model.partial_fit(X, y),
        "cannot forget: .* wide data": lambda: model.forget(X, y),
        "cannot merge: .* wide data": lambda: model.merge(LinearRegression().fit(X, y)),
        "no intervals": lambda: model.predict(X, interval="confidence"),
        "criterion='loo'": lambda: Ridge(criterion="loo").fit(X, y),
    }
    for message, call in calls.items():
        with pytest.raises(SumsMissing, match=message):
            call()
    found = model.summary().to_dict()
    assert np.isnan(column(found, "std_error")).all()
    assert len(found["coefficients"]) == 701
    assert any("no standard errors" in note for note in found["notes"])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("make", [dense, scattered])
def test_the_entry_that_is_not_finite_is_named(make: Callable[[], Any], value: float) -> None:
    X, y = make()
    X = X.tolil() if sparse.issparse(X) else X
    X[4, 600] = value
    with pytest.raises(ValueError, match=r"row 4, column 'x600'"):
        LinearRegression().fit(X.tocsr() if sparse.issparse(X) else X, y)
