"""Dependent columns: the pseudo-inverse in raw units, the rank, and the names of the columns that add nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, Status
from adaline.arrays import Array
from tests.systems.cases import data

DIRECT = ["auto", "normal", "qr", "svd"]


def dummies(n: int) -> Array:
    """One column for each of four groups: they add up to one."""
    return np.eye(4)[np.arange(n) % 4]


def deficient(case: str) -> tuple[Array, list[str], int]:
    """A design, the columns that depend on those before them, and the rank beside an intercept."""
    X, _ = data()
    match case:
        case "duplicate":
            return np.column_stack([X, X[:, 1]]), ["x4"], 4
        case "duplicate in other units":
            return np.column_stack([X[:, 0], 1024.0 * X[:, 0], X[:, 1:]]), ["x1"], 4
        case "sum":
            return np.column_stack([X[:, :2], X[:, 0] + X[:, 1], X[:, 2:]]), ["x2"], 4
        case "constant":
            return np.column_stack([X[:, :2], np.full(len(X), 7.0), X[:, 2:]]), ["x2"], 4
        case "zero":
            return np.column_stack([np.zeros(len(X)), X]), ["x0"], 4
        case "dummy trap":
            return np.column_stack([X, dummies(len(X))]), ["x7"], 7
        case "several":
            return np.column_stack([X, X[:, 0], np.ones(len(X)), X[:, 2] - X[:, 3]]), ["x4", "x5", "x6"], 4
        case "all constant":
            return np.column_stack([np.full(len(X), 3.0), np.full(len(X), -1.0)]), ["x0", "x1"], 0
        case "more columns than rows":
            return np.random.default_rng(0).normal(size=(60, 80)), [f"x{j}" for j in range(59, 80)], 59
    raise AssertionError(case)


CASES = [
    "duplicate",
    "duplicate in other units",
    "sum",
    "constant",
    "zero",
    "dummy trap",
    "several",
    "all constant",
    "more columns than rows",
]
CONSTANT = ["constant", "zero", "all constant"]
"""Cases whose only columns without information are constants: left out, and no rank is missing."""


def pseudo_inverse(X: Array, y: Array, fit_intercept: bool) -> tuple[Any, Array]:
    """NumPy's solution, intercept outside the norm."""
    mean, mean_t = X.mean(axis=0) * fit_intercept, y.mean(axis=0) * fit_intercept
    w = np.linalg.pinv(X - mean, rcond=1e-11) @ (y - mean_t)
    return mean_t - mean @ w, w


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("case", CASES)
def test_the_solution_is_the_pseudo_inverse(case: str, solver: str) -> None:
    X, aliased, rank = deficient(case)
    y = data()[1]
    model = LinearRegression(solver=solver).fit(X, y)
    intercept, coef = pseudo_inverse(X, y, True)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-7, atol=1e-9 * np.abs(coef).max())
    assert model.intercept_ == pytest.approx(intercept, rel=1e-8)
    assert model.rank_ == model.certificate_.rank == rank
    assert list(model.aliased_) == aliased
    if case in CONSTANT:
        assert model.certificate_.status is Status.SOLVED
    else:
        assert model.certificate_.status in (Status.RANK_DEFICIENT, Status.RANK_UNCERTAIN)
        assert "aliased_" in model.certificate_.advice


@pytest.mark.parametrize("case", CASES)
def test_auto_is_sure_of_the_rank(case: str) -> None:
    X, _, _ = deficient(case)
    model = LinearRegression().fit(X, data()[1])
    assert model.certificate_.status is (Status.SOLVED if case in CONSTANT else Status.RANK_DEFICIENT)
    assert model.certificate_.digits > 5


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("case", CASES)
def test_without_an_intercept_ones_are_a_column_like_any_other(case: str, solver: str) -> None:
    X, _, _ = deficient(case)
    y = data()[1]
    model = LinearRegression(solver=solver, fit_intercept=False).fit(X, y)
    _, coef = pseudo_inverse(X, y, False)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-7, atol=1e-9 * np.abs(coef).max())
    assert model.rank_ == np.linalg.matrix_rank(X, rtol=1e-11)
    assert len(model.aliased_) == X.shape[1] - model.rank_
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("case", CASES)
def test_streams_find_the_same_rank(case: str) -> None:
    X, aliased, rank = deficient(case)
    y = data()[1]
    model = LinearRegression().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    _, coef = pseudo_inverse(X, y, True)
    assert model.rank_ == rank
    assert list(model.aliased_) == aliased
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), rtol=1e-7)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-5, atol=1e-6 * np.abs(coef).max())


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1e6])
def test_units_move_the_solution_but_not_the_predictions(scale: float) -> None:
    """The minimum norm is taken in raw units: the one exception to the law of units."""
    X, _, _ = deficient("sum")
    y = data()[1]
    units = np.array([1.0, scale, 1.0, 1.0, 1.0])
    model, plain = LinearRegression().fit(X * units, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X * units), plain.predict(X), rtol=1e-8)
    assert model.rank_ == plain.rank_ == 4


@pytest.mark.parametrize("scale", [1e12, 1e17, 1e60, 1e-17, 1e-60])
@pytest.mark.parametrize("solver", ["auto", "svd", "normal"])
def test_dependent_columns_of_any_size_predict_the_same(scale: float, solver: str) -> None:
    """Also where several combinations have columns of very different size."""
    X, y = data(n=60, d=3)
    a, b, c = X.T
    expected = LinearRegression().fit(X, y).predict(X)
    for columns in (
        [(a + b) * scale, a, b, c],
        [a * scale, a, b, c, b + c],
        [a, b, c, a + b, c * scale, 3 * c * scale],
        [a, b * scale, c / scale, (a + b) * scale**0.5, 3 * c * scale, a - c],
    ):
        dependent = np.column_stack(columns)
        found = LinearRegression(solver=solver).fit(dependent, y).predict(dependent)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(y).max())


def test_several_targets_share_the_rank() -> None:
    X, aliased, rank = deficient("several")
    Y = data(targets=3)[1]
    model = LinearRegression().fit(X, Y)
    _, coef = pseudo_inverse(X, Y, True)
    np.testing.assert_allclose(model.coef_, coef.T, rtol=1e-7, atol=1e-10)
    assert model.rank_ == rank
    assert list(model.aliased_) == aliased


def test_a_single_row_is_predicted_by_its_target() -> None:
    model = LinearRegression().fit([[1.0, 2.0]], [3.0])
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ == 3.0
    assert model.rank_ == 0


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
def test_solvers_agree(condition: float, fit_intercept: bool) -> None:
    base, y = data()
    u, _, vt = np.linalg.svd(base - base.mean(axis=0), full_matrices=False)
    X = u * np.geomspace(1, 1 / condition, 4) @ vt
    models = {
        solver: LinearRegression(solver=solver, fit_intercept=fit_intercept).fit(X, y)
        for solver in ([*DIRECT, "gradient"] if condition == 1.0 else DIRECT)
    }
    for solver, model in models.items():
        assert model.certificate_.status is Status.SOLVED
        np.testing.assert_allclose(model.coef_, models["auto"].coef_, rtol=1e-7 if solver == "gradient" else 1e-13)
        np.testing.assert_allclose(model.predict(X), models["auto"].predict(X), rtol=1e-7)


def test_the_certificate_names_what_was_chosen() -> None:
    X, y = data()
    names = {solver: LinearRegression(solver=solver).fit(X, y).certificate_.solver for solver in (*DIRECT, "gradient")}
    assert "Cholesky" in names["auto"]
    assert "Cholesky" in names["normal"]
    assert "QR" in names["qr"]
    assert "SVD" in names["svd"]
    assert "gradient" in names["gradient"]
    assert "on sums" in LinearRegression().partial_fit(X, y).certificate_.solver


def test_nearly_dependent_columns_are_called_ill_conditioned() -> None:
    X, y = data()
    X = np.column_stack([X, X[:, 0] + 1e-9 * np.sin(np.arange(60.0))])
    model = LinearRegression().fit(X, y)
    assert model.certificate_.status is Status.ILL_CONDITIONED
    assert model.rank_ == 5
    assert "Ridge" in model.certificate_.advice
    assert 1e8 < model.certificate_.condition < 1e11


def test_the_condition_is_that_of_centred_columns_of_equal_length() -> None:
    X, y = data()
    X = X * [1.0, 1e6, 1e-6, 1.0] + 100.0
    Z = X - X.mean(axis=0)
    expected = np.linalg.cond(Z / np.linalg.norm(Z, axis=0))
    assert LinearRegression().fit(X, y).certificate_.condition == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("condition", [1.0, 1e5])
@pytest.mark.parametrize("value", [0.0, 7.0, 0.1])
@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("solver", DIRECT)
def test_a_constant_column_changes_nothing_else(solver: str, place: int, value: float, condition: float) -> None:
    base, y = data()
    u, _, vt = np.linalg.svd(base - base.mean(axis=0), full_matrices=False)
    X = u * np.geomspace(1, 1 / condition, 4) @ vt
    plain = LinearRegression(solver=solver).fit(X, y)
    model = LinearRegression(solver=solver).fit(np.insert(X, place, value, axis=1), y)
    assert model.coef_[place] == 0.0
    np.testing.assert_allclose(np.delete(model.coef_, place), plain.coef_, rtol=1e-12)
    expected, found = (
        np.array([row["std_error"] for row in fit.summary().to_dict()["coefficients"]]) for fit in (plain, model)
    )
    np.testing.assert_allclose(np.delete(found, 1 + place), expected, rtol=1e-9)
    assert model.certificate_.digits > 12
    assert model.certificate_.passes <= plain.certificate_.passes + 2


def likelihood_rows(case: str) -> tuple[Array, Array | None]:
    """Columns whose rank is not full, and weights."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))
    some = np.zeros(30)
    match case:
        case "duplicate":
            return np.column_stack([x, x[:, 0]]), None
        case "more columns than rows":
            return rng.normal(size=(6, 8)), None
        case "many more columns than rows":
            return rng.normal(size=(20, 600)), None
        case "few rows of any weight":
            some[:3] = 1.0
            return x, some
        case "one row of weight zero differs":
            same = np.column_stack([x, x[:, 0]])
            same[29, 3] += 1.0
            some[:29] = 1.0
            return same, some
    raise AssertionError(case)


@pytest.mark.parametrize(
    "case",
    [
        "duplicate",
        "more columns than rows",
        "many more columns than rows",
        "few rows of any weight",
        "one row of weight zero differs",
    ],
)
@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
def test_likelihoods_have_the_rank_of_least_squares(case: str) -> None:
    x, weight = likelihood_rows(case)
    t = np.random.default_rng(1).poisson(3.0, len(x)) + 0.5
    squares = LinearRegression().fit(x, t, sample_weight=weight)
    for loss in ("poisson", "gamma"):
        model = GeneralizedLinear(loss=loss).fit(x, t, sample_weight=weight)
        proof = model.certificate_
        assert (proof.status, proof.rank) == (squares.certificate_.status, squares.certificate_.rank)
        assert model.summary().to_dict()["freedom"] == squares.summary().to_dict()["freedom"]
    classes = np.arange(len(x)) % 2
    assert LogisticRegression().fit(x, classes, sample_weight=weight).certificate_.rank == squares.certificate_.rank


@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
def test_the_shortest_weights_of_a_wide_likelihood_give_its_means() -> None:
    x, _ = likelihood_rows("many more columns than rows")
    t = np.random.default_rng(1).poisson(3.0, len(x)) + 0.5
    model = GeneralizedLinear(loss="gamma").fit(x, t)
    np.testing.assert_allclose(model.predict(x), t, rtol=1e-4)
    shortest = LinearRegression().fit(x, np.log(model.predict(x)))
    np.testing.assert_allclose(model.coef_, shortest.coef_, atol=1e-8 * np.abs(shortest.coef_).max())
