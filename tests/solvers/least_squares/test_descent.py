"""Batch gradient descent: the textbook's rule over rows, rates, stopping rules, and what it says when it fails."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Status, datasets
from adaline.arrays import Array
from adaline.errors import ConvergenceWarning, InvalidParameter
from tests.solvers.least_squares import exact

D = 3
MATRIX = np.array([[4.0, 1.0, 0.0, 0.0], [1.0, 3.0, 0.5, 0.0], [0.0, 0.5, 2.0, 0.2], [0.0, 0.0, 0.2, 1.0]]) * 1e-3
RATES = {"number": 2e-3, "vector": np.array([4e-3, 1e-3, 2e-3, 3e-3]), "matrix": MATRIX}
STARTS = {"zero": None, "given": np.array([0.3, -1.0, 2.0, 0.5])}


def rows(seed: int = 0, n: int = 60) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) + 0.3
    return X, X @ [1.0, -2.0, 0.5] + 0.7 + 0.3 * rng.normal(size=n)


def textbook(
    X: Array, y: Array, steps: int, rate: Any, init: Array | None, fit_intercept: bool, weight: Array | None = None
) -> tuple[Array, list[float]]:
    """Step 2.1 of S0 section 5.3, row by row: w += eta sum_n e(n) x(n), with x0 = 1, and E = 1/2 sum e^2 on the way."""
    w = np.zeros(1 + X.shape[1]) if init is None else init.copy()
    eta = np.asarray(rate)
    history = []
    for step in range(steps + 1):
        pull, error = np.zeros_like(w), 0.0
        for n in range(len(X)):
            x = np.concatenate([[float(fit_intercept)], X[n]])
            e = y[n] - w @ x
            g = 1.0 if weight is None else weight[n]
            pull += g * e * x
            error += g * e * e / 2
        history.append(error)
        if step < steps:
            w = w + (eta @ pull if eta.ndim == 2 else eta * pull)
    return w, history


def descend(X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> LinearRegression:
    """A gradient fit; not to converge is no surprise here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearRegression(solver="gradient", **settings).fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("rate", RATES)
def test_it_is_the_textbook_rule(rate: str, start: str, fit_intercept: bool) -> None:
    X, y = rows()
    init = STARTS[start]
    if not fit_intercept and init is not None:
        init = init * [0.0, 1.0, 1.0, 1.0]
    settings: dict[str, Any] = {"rate": RATES[rate], "init": init, "fit_intercept": fit_intercept, "tol": 0.0}
    _, history = textbook(X, y, 50, RATES[rate], init, fit_intercept)
    for steps in (1, 2, 10, 50):
        w, _ = textbook(X, y, steps, RATES[rate], init, fit_intercept)
        model = descend(X, y, epochs=steps, **settings)
        assert model.n_iter_ == steps
        np.testing.assert_allclose(model.coef_, w[1:], rtol=1e-11, atol=1e-13)
        assert model.intercept_ == pytest.approx(w[0], rel=1e-11, abs=1e-13)
    np.testing.assert_allclose(model.history_, history, rtol=1e-11)


def test_rows_count_by_their_weights() -> None:
    X, y = rows()
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    w, history = textbook(X, y, 20, 1e-3, None, True, weight)
    model = descend(X, y, weight, rate=1e-3, epochs=20, tol=0.0)
    np.testing.assert_allclose(model.coef_, w[1:], rtol=1e-11)
    np.testing.assert_allclose(model.history_, history, rtol=1e-11)


def test_each_target_goes_its_own_way() -> None:
    X, y = rows()
    Y = np.column_stack([y, y[::-1]])
    init = np.arange(8.0).reshape(2, 4)
    model = descend(X, Y, rate=1e-3, epochs=20, tol=0.0, init=init)
    for k in range(2):
        one = descend(X, Y[:, k], rate=1e-3, epochs=20, tol=0.0, init=init[k])
        np.testing.assert_allclose(model.coef_[k], one.coef_, rtol=1e-12)
        np.testing.assert_allclose(model.history_[k], one.history_, rtol=1e-12)


@pytest.mark.parametrize("units", [np.ones(D), np.array([1e-8, 1.0, 1e6]), np.array([1e9, 1e-9, 1.0])], ids=str)
@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_automatic_rate_reaches_the_direct_solution_in_any_units(
    units: Array, shift: float, fit_intercept: bool
) -> None:
    X, y = rows()
    X = (X + shift * fit_intercept) * units
    direct = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    model = LinearRegression(solver="gradient", fit_intercept=fit_intercept).fit(X, y)
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.coef_, direct.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), direct.predict(X), rtol=0, atol=1e-8)
    assert np.all(np.diff(model.history_) <= 1e-13 * model.history_[0])


def test_history_falls_and_ends_at_the_objective() -> None:
    X, y = rows()
    model = LinearRegression(solver="gradient", rate=2e-3).fit(X, y)
    assert np.all(np.diff(model.history_) <= 1e-12 * model.history_[0])
    assert len(model.history_) == model.n_iter_ + 1
    assert model.history_[0] == pytest.approx(0.5 * y @ y)
    residual = y - model.predict(X)
    assert model.history_[-1] == pytest.approx(0.5 * residual @ residual)
    assert model.certificate_.objective == pytest.approx(model.history_[-1])


@pytest.mark.parametrize("rate", ["auto", 1e-3])
def test_it_stops_at_the_error_asked_for(rate: Any) -> None:
    X, y = rows()
    full = LinearRegression(solver="gradient", rate=rate).fit(X, y).history_
    wanted = 2 * full[-1]
    model = LinearRegression(solver="gradient", rate=rate, stop_error=wanted).fit(X, y)
    assert model.history_[-1] <= wanted < model.history_[-2]
    assert model.n_iter_ == next(i for i, error in enumerate(full) if error <= wanted)
    assert model.certificate_.status is Status.SOLVED


def test_a_smaller_tolerance_takes_more_steps_and_ends_closer() -> None:
    X, y = rows()
    models = [LinearRegression(solver="gradient", rate=1e-3, tol=tol).fit(X, y) for tol in (1e-2, 1e-5, 1e-8)]
    steps = [model.n_iter_ for model in models]
    gaps = [model.certificate_.gap for model in models]
    assert steps == sorted(set(steps))
    assert gaps == sorted(gaps, reverse=True)


def test_the_gap_is_the_distance_to_the_least_error() -> None:
    X, y = rows()
    model = descend(X, y, rate=1e-3, epochs=15)
    least = LinearRegression().fit(X, y).certificate_.objective
    residual = y - model.predict(X)
    assert model.certificate_.gap == pytest.approx(0.5 * residual @ residual - least, rel=1e-8)


def test_the_claim_of_digits_is_honest() -> None:
    X, y = (part[:12] for part in rows(3))
    answer = exact.solve(X, y)
    for epochs in (1, 10, 100, 100_000):
        for rate in ("auto", 5e-3):
            model = descend(X, y, rate=rate, epochs=epochs)
            assert model.certificate_.digits <= exact.digits(exact.theta(model), answer, X) + 1
    assert descend(X, y).certificate_.digits >= 8


def test_too_few_epochs_are_said_to_be_too_few() -> None:
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="not converged after 3 steps: raise epochs"):
        model = LinearRegression(solver="gradient", epochs=3, rate=1e-4).fit(X, y)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert model.n_iter_ == 3


def largest_rate(X: Array) -> float:
    """2 / the largest eigenvalue of X'X with the ones."""
    ones = np.column_stack([np.ones(len(X)), X])
    return float(2.0 / np.linalg.eigvalsh(ones.T @ ones)[-1])


@pytest.mark.parametrize("rate", [1.0, 0.04, np.full(4, 10.0), np.eye(4), 1e300], ids=str)
def test_a_rate_too_large_diverges_with_a_warning_and_finite_weights(rate: Any) -> None:
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="diverged") as caught:
        model = LinearRegression(solver="gradient", rate=rate, epochs=500).fit(X, y)
    assert [w.category for w in caught] == [ConvergenceWarning]
    assert f"below {largest_rate(X):.3g}" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert model.certificate_.status is Status.DIVERGED
    assert "rate" in model.certificate_.advice
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_)
    assert np.isfinite(model.history_).all()
    residual = y - model.predict(X)
    assert 0.5 * residual @ residual <= model.history_[0] * (1 + 1e-12)


@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_the_bound_in_the_warning_divides_convergence_from_divergence(factor: float) -> None:
    X, y = rows()
    model = descend(X, y, rate=factor * largest_rate(X), epochs=20_000)
    assert (model.certificate_.status is Status.SOLVED) == (factor < 1)


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (0.0, "rate must be 'auto', a positive number"),
        (-1.0, "rate must be 'auto', a positive number"),
        (np.nan, "rate must be 'auto', a positive number"),
        (np.inf, "rate must be 'auto', a positive number"),
        ([1.0, 1.0, 0.0, 1.0], "rate must be positive"),
        (np.ones((4, 4)), "positive definite"),
        (np.triu(np.ones((4, 4))), "positive definite"),
        (-np.eye(4), "positive definite"),
        ([1.0, 2.0], r"rate has shape \(2,\); with 4 coefficients"),
        (np.eye(3), r"rate has shape \(3, 3\)"),
        (np.ones((4, 4, 4)), "a vector or a matrix, got array"),
        ("fast", "rate must be 'auto', a positive number, a vector or a matrix"),
        (None, "rate must be"),
        ({}, "rate must be 'auto', a positive number, a vector or a matrix"),
    ],
    ids=str,
)
def test_rates_that_mean_nothing_are_refused(rate: Any, message: str) -> None:
    X, y = rows()
    with pytest.raises(InvalidParameter, match=message):
        LinearRegression(solver="gradient", rate=rate).fit(X, y)


@pytest.mark.parametrize("init", [np.zeros(3), np.full(4, np.nan), np.zeros((2, 4)), "zero"], ids=str)
def test_starts_that_do_not_fit_are_refused(init: Any) -> None:
    X, y = rows()
    with pytest.raises(InvalidParameter, match="init"):
        LinearRegression(solver="gradient", init=init).fit(X, y)


def test_dependent_columns_give_the_minimum_norm_solution_from_zero() -> None:
    X, y = rows()
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    direct = LinearRegression().fit(X, y)
    model = LinearRegression(solver="gradient").fit(X, y)
    assert model.certificate_.status in (Status.RANK_DEFICIENT, Status.RANK_UNCERTAIN)
    np.testing.assert_allclose(model.coef_, direct.coef_, rtol=0, atol=1e-8)


def test_real_data_converge() -> None:
    data = datasets.load("penguins", target="body_mass_g")
    direct = LinearRegression().fit(data.X, data.y)
    model = LinearRegression(solver="gradient").fit(data.X, data.y)
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.coef_, direct.coef_, rtol=1e-7)
