"""Batch gradient descent: the textbook's rule over rows, rates, stopping rules, and what it says when it fails."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Status
from adaline.arrays import Array
from adaline.errors import ConvergenceWarning, InvalidParameter
from tests.solvers.least_squares import exact

D = 3
MATRIX = np.array([[4.0, 1.0, 0.0, 0.0], [1.0, 3.0, 0.5, 0.0], [0.0, 0.5, 2.0, 0.2], [0.0, 0.0, 0.2, 1.0]]) * 1e-3
RATES = {"number": 2e-3, "vector": np.array([4e-3, 1e-3, 2e-3, 3e-3]), "matrix": MATRIX}
STARTS = {"zero": None, "given": np.arange(8.0).reshape(2, 4) * [0.1, -0.3, 0.5, 0.1]}


def rows(seed: int = 0, n: int = 60) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) + 0.3
    return X, X @ [1.0, -2.0, 0.5] + 0.7 + 0.3 * rng.normal(size=n)


def textbook(X: Array, y: Array, steps: int, rate: Any, init: Array, weight: Array) -> tuple[list[Array], list[float]]:
    """Step 2.1 of S0 section 5.3, row by row: w += eta sum_n e(n) x(n), x0 first, and E = 1/2 sum e^2 on the way."""
    path, history, eta = [init], [], np.asarray(rate)
    for _ in range(steps + 1):
        pull, error = np.zeros_like(init), 0.0
        for x, t, g in zip(X, y, weight, strict=True):
            e = t - path[-1] @ x
            pull += g * e * x
            error += g * e * e / 2
        history.append(error)
        path.append(path[-1] + (eta @ pull if eta.ndim == 2 else eta * pull))
    return path, history


def descend(X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> LinearRegression:
    """A gradient fit; not to converge is no surprise here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearRegression(solver="gradient", **settings).fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("rate", RATES)
def test_it_is_the_textbook_rule(rate: str, start: str, fit_intercept: bool, weighted: bool) -> None:
    X, y = rows()
    Y, init = np.column_stack([y, y[::-1] + 1.0]), STARTS[start]
    weight = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float) if weighted else np.ones(len(y))
    ones = np.column_stack([np.full(len(y), float(fit_intercept)), X])
    first = np.zeros((2, 4)) if init is None else init * [fit_intercept, 1, 1, 1]
    known = [textbook(ones, Y[:, k], 50, RATES[rate], first[k], weight) for k in range(2)]
    settings: dict[str, Any] = {"rate": RATES[rate], "fit_intercept": fit_intercept, "tol": 0.0}
    best = LinearRegression(fit_intercept=fit_intercept).fit(X, Y, weight).certificate_.objective
    for steps in (1, 2, 10, 50):
        model = descend(X, Y, weight, epochs=steps, init=init, **settings)
        assert model.n_iter_ == steps
        for k, (path, history) in enumerate(known):
            np.testing.assert_allclose(model.coef_[k], path[steps][1:], rtol=1e-11, atol=1e-13)
            assert np.broadcast_to(model.intercept_, 2)[k] == pytest.approx(path[steps][0], rel=1e-11, abs=1e-13)
            np.testing.assert_allclose(model.history_[k], history[: steps + 1], rtol=1e-11)
        objective = sum(history[steps] for _, history in known)
        assert model.certificate_.objective == pytest.approx(objective, rel=1e-10)
        assert model.certificate_.gap == pytest.approx(objective - best, rel=1e-7)
    one = descend(X, y, weight, epochs=50, init=None if init is None else init[0], **settings)
    np.testing.assert_allclose(one.coef_, known[0][0][50][1:], rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(one.history_, known[0][1], rtol=1e-11)


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
    assert [issubclass(w.category, ConvergenceWarning) for w in caught] == [True]
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
    ("settings", "message"),
    [
        *(({"rate": rate}, "rate must be 'auto', a positive number") for rate in (0.0, -1.0, np.nan, np.inf)),
        *(({"rate": rate}, "a positive number, a vector or a matrix") for rate in ("fast", {})),
        ({"rate": None}, "rate must be"),
        ({"rate": [1.0, 1.0, 0.0, 1.0]}, "rate must be positive"),
        *(({"rate": rate}, "positive definite") for rate in (np.ones((4, 4)), np.triu(np.ones((4, 4))), -np.eye(4))),
        ({"rate": [1.0, 2.0]}, r"rate has shape \(2,\); with 4 coefficients"),
        ({"rate": np.eye(3)}, r"rate has shape \(3, 3\)"),
        ({"rate": np.ones((4, 4, 4))}, "a vector or a matrix, got array"),
        *(({"init": init}, "init") for init in (np.zeros(3), np.full(4, np.nan), np.zeros((2, 4)), "zero")),
    ],
    ids=str,
)
def test_rates_and_starts_that_mean_nothing_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        LinearRegression(solver="gradient", **settings).fit(*rows())


def test_dependent_columns_give_the_minimum_norm_solution_from_zero() -> None:
    X, y = rows()
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    direct = LinearRegression().fit(X, y)
    model = LinearRegression(solver="gradient").fit(X, y)
    assert model.certificate_.status in (Status.RANK_DEFICIENT, Status.RANK_UNCERTAIN)
    np.testing.assert_allclose(model.coef_, direct.coef_, rtol=0, atol=1e-8)
