"""Dependent and constant columns: the pseudo-inverse in raw units, the rank, and the names of what adds nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline import (
    FisherDiscriminant,
    GaussianClassifier,
    GeneralizedLinear,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RobustRegression,
    Status,
)
from adaline.arrays import Array
from adaline.input.basis import columns_of
from tests.cases import CASES as SYSTEMS
from tests.cases import Case, Given, cases, reading

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + RNG.normal(size=4)
Y = X @ RNG.normal(size=4) + 1.5 + 0.5 * RNG.normal(size=60)
DIRECT = ["auto", "normal", "qr", "svd"]
DEFICIENT: dict[str, tuple[Array, list[str], int]] = {
    "duplicate": (np.column_stack([X, X[:, 1]]), ["x4"], 4),
    "duplicate in other units": (np.column_stack([X[:, 0], 1024.0 * X[:, 0], X[:, 1:]]), ["x1"], 4),
    "sum": (np.column_stack([X[:, :2], X[:, 0] + X[:, 1], X[:, 2:]]), ["x2"], 4),
    "constant": (np.column_stack([X[:, :2], np.full(60, 7.0), X[:, 2:]]), ["x2"], 4),
    "zero": (np.column_stack([np.zeros(60), X]), ["x0"], 4),
    "dummy trap": (np.column_stack([X, np.eye(4)[np.arange(60) % 4]]), ["x7"], 7),
    "several": (np.column_stack([X, X[:, 0], np.ones(60), X[:, 2] - X[:, 3]]), ["x4", "x5", "x6"], 4),
    "all constant": (np.column_stack([np.full(60, 3.0), np.full(60, -1.0)]), ["x0", "x1"], 0),
    "more columns than rows": (np.random.default_rng(0).normal(size=(60, 80)), [f"x{j}" for j in range(59, 80)], 59),
}
"""Designs, the columns that depend on those before them, and the rank beside an intercept."""
CONSTANT = ["constant", "zero", "all constant"]
"""Designs whose only columns without information are constants: left out, and no rank is missing."""
ignoring = pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")


def spread(condition: float) -> Array:
    """Return centred columns of this condition number."""
    u, _, vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return np.asarray(u * np.geomspace(1, 1 / condition, 4) @ vt)


def pseudo_inverse(rows: Array, y: Array, fit_intercept: bool) -> tuple[Any, Array]:
    """NumPy's solution, intercept outside the norm."""
    mean, mean_t = rows.mean(axis=0) * fit_intercept, y.mean(axis=0) * fit_intercept
    w = np.linalg.pinv(rows - mean, rcond=1e-11) @ (y - mean_t)
    return mean_t - mean @ w, w


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("design", DEFICIENT)
@ignoring
def test_the_solution_is_the_pseudo_inverse(design: str, solver: str) -> None:
    rows, aliased, rank = DEFICIENT[design]
    for y in (Y, np.column_stack([Y, -Y, Y**2])):
        model = LinearRegression(solver=solver).fit(rows, y)
        intercept, coef = pseudo_inverse(rows, y, True)
        np.testing.assert_allclose(model.coef_, coef.T, rtol=1e-7, atol=1e-9 * np.abs(coef).max())
        np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-8)
        assert model.rank_ == model.certificate_.rank == rank
        assert list(model.aliased_) == aliased
        if design in CONSTANT:
            assert model.certificate_.status is Status.SOLVED
        else:
            uncertain = [] if solver == "auto" else [Status.RANK_UNCERTAIN]
            assert model.certificate_.status in (Status.RANK_DEFICIENT, *uncertain)
            assert "aliased_" in model.certificate_.advice
        assert solver != "auto" or model.certificate_.digits > 5


@pytest.mark.parametrize("solver", DIRECT)
@pytest.mark.parametrize("design", DEFICIENT)
@ignoring
def test_without_an_intercept_ones_are_a_column_like_any_other(design: str, solver: str) -> None:
    rows = DEFICIENT[design][0]
    model = LinearRegression(solver=solver, fit_intercept=False).fit(rows, Y)
    _, coef = pseudo_inverse(rows, Y, False)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-7, atol=1e-9 * np.abs(coef).max())
    assert model.rank_ == np.linalg.matrix_rank(rows, rtol=1e-11)
    assert len(model.aliased_) == rows.shape[1] - model.rank_
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("design", DEFICIENT)
@ignoring
def test_streams_find_the_same_rank(design: str) -> None:
    rows, aliased, rank = DEFICIENT[design]
    model = LinearRegression().partial_fit(rows[:20], Y[:20]).partial_fit(rows[20:], Y[20:])
    _, coef = pseudo_inverse(rows, Y, True)
    assert model.rank_ == rank
    assert list(model.aliased_) == aliased
    np.testing.assert_allclose(model.predict(rows), LinearRegression().fit(rows, Y).predict(rows), rtol=1e-7)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-5, atol=1e-6 * np.abs(coef).max())


@pytest.mark.parametrize("scale", [1e-3, 1e12, 1e17, 1e60, 1e-17, 1e-60])
@pytest.mark.parametrize("solver", ["auto", "svd", "normal"])
@ignoring
def test_dependent_columns_of_any_size_predict_the_same(scale: float, solver: str) -> None:
    """Also where several combinations have columns of very different size."""
    a, b, c = X[:, :3].T
    expected = LinearRegression().fit(X[:, :3], Y).predict(X[:, :3])
    for columns in (
        [(a + b) * scale, a, b, c],
        [a * scale, a, b, c, b + c],
        [a, b, c, a + b, c * scale, 3 * c * scale],
        [a, b * scale, c / scale, (a + b) * scale**0.5, 3 * c * scale, a - c],
    ):
        dependent = np.column_stack(columns)
        model = LinearRegression(solver=solver).fit(dependent, Y)
        np.testing.assert_allclose(model.predict(dependent), expected, rtol=0, atol=1e-12 * np.abs(Y).max())


def test_a_single_row_is_predicted_by_its_target() -> None:
    model = LinearRegression().fit([[1.0, 2.0]], [3.0])
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert (model.intercept_, model.rank_) == (3.0, 0)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
def test_solvers_agree_and_are_named(condition: float, fit_intercept: bool) -> None:
    rows = spread(condition)
    names = {"auto": "Cholesky", "normal": "Cholesky", "qr": "QR", "svd": "SVD"}
    plain = LinearRegression(fit_intercept=fit_intercept).fit(rows, Y)
    for solver, name in (names | ({"gradient": "gradient"} if condition == 1.0 else {})).items():
        model = LinearRegression(solver=solver, fit_intercept=fit_intercept).fit(rows, Y)
        assert model.certificate_.status is Status.SOLVED
        assert name in model.certificate_.solver or condition > 1e3
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7 if solver == "gradient" else 1e-13)
    assert "on sums" in LinearRegression().partial_fit(rows, Y).certificate_.solver


@ignoring
def test_the_condition_is_that_of_centred_columns_of_equal_length() -> None:
    rows = X * [1.0, 1e6, 1e-6, 1.0] + 100.0
    centred = rows - rows.mean(axis=0)
    expected = np.linalg.cond(centred / np.linalg.norm(centred, axis=0))
    assert LinearRegression().fit(rows, Y).certificate_.condition == pytest.approx(expected, rel=1e-6)
    near = LinearRegression().fit(np.column_stack([X, X[:, 0] + 1e-9 * np.sin(np.arange(60.0))]), Y)
    assert near.certificate_.status is Status.ILL_CONDITIONED
    assert near.rank_ == 5
    assert "Ridge" in near.certificate_.advice
    assert 1e8 < near.certificate_.condition < 1e11


SOME = np.r_[np.ones(3), np.zeros(27)]
WIDE = np.random.default_rng(0).normal(size=(20, 200))
LIKELIHOODS: dict[str, tuple[Array, Array | None]] = {
    "duplicate": (np.column_stack([X[:30], X[:30, 0]]), None),
    "more columns than rows": (RNG.normal(size=(6, 8)), None),
    "many more columns than rows": (WIDE, None),
    "few rows of any weight": (X[:30, :3], SOME),
    "one row of weight zero differs": (np.c_[X[:30], X[:30, 0] + (np.arange(30) == 29)], (np.arange(30) < 29) * 1.0),
}
"""Columns whose rank is not full, and weights."""


@pytest.mark.parametrize("design", LIKELIHOODS)
@ignoring
def test_likelihoods_have_the_rank_of_least_squares(design: str) -> None:
    rows, weight = LIKELIHOODS[design]
    t = np.random.default_rng(1).poisson(3.0, len(rows)) + 0.5
    squares = LinearRegression().fit(rows, t, sample_weight=weight)
    for loss in ("poisson", "gamma"):
        model = GeneralizedLinear(loss=loss).fit(rows, t, sample_weight=weight)
        proof = model.certificate_
        assert (proof.status, proof.rank) == (squares.certificate_.status, squares.certificate_.rank)
        assert model.summary().to_dict()["freedom"] == squares.summary().to_dict()["freedom"]
    classes = np.arange(len(rows)) % 2
    assert LogisticRegression().fit(rows, classes, sample_weight=weight).certificate_.rank == proof.rank


@ignoring
def test_the_shortest_weights_of_a_wide_likelihood_give_its_means() -> None:
    t = np.random.default_rng(1).poisson(3.0, 20) + 0.5
    model = GeneralizedLinear(loss="gamma").fit(WIDE, t)
    np.testing.assert_allclose(model.predict(WIDE), t, rtol=1e-4)
    shortest = LinearRegression().fit(WIDE, np.log(model.predict(WIDE)))
    np.testing.assert_allclose(model.coef_, shortest.coef_, atol=1e-8 * np.abs(shortest.coef_).max())


# -- constant columns: left out with a note, and nothing else changes --------------------------------------------------


@pytest.mark.parametrize("condition", [1.0, 1e5])
@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1e300])
@pytest.mark.parametrize("solver", DIRECT)
def test_a_constant_column_changes_no_digit_of_least_squares(solver: str, value: float, condition: float) -> None:
    plain = LinearRegression(solver=solver).fit(spread(condition), Y)
    for place in (0, 2, 4):
        model = LinearRegression(solver=solver).fit(np.insert(spread(condition), place, value, axis=1), Y)
        assert model.coef_[place] == 0.0
        np.testing.assert_allclose(np.delete(model.coef_, place), plain.coef_, rtol=1e-12)
        expected, found = (
            np.array([row["std_error"] for row in fit.summary().to_dict()["coefficients"]]) for fit in (plain, model)
        )
        np.testing.assert_allclose(np.delete(found, 1 + place), expected, rtol=1e-9)
        assert model.certificate_.digits > 12
        assert model.certificate_.passes <= plain.certificate_.passes + 2


def proven(case: Case) -> bool:
    """Whether a fit is solved and has an intercept, beside which a constant says nothing."""
    without = {"basis", "rate", "fit_intercept", "system", "init", "firth", "folds", "epochs"} & {*case.settings}
    averages = case.settings.get("covariance") in ("spherical", "identity") and "Gaussian" in case.name  # over columns
    unaware = "Pocket" in case.name or not case.keeps("a constant target")
    return not (case.targets == "none" or case.in_order or without or averages or unaware)


@cases(proven)
def test_a_constant_column_is_left_out(case: Case) -> None:
    given = case.rows(n=90)
    plain = case.fit(given)
    other = sparse.csr_array if case.name in SPARSE else np.asarray
    for value, place, form in ((7.0, 0, np.asarray), (0.1, 3, np.asarray), (0.0, 0, other), (-1e9, 3, other)):
        rows = form(np.insert(given.X, place, value, axis=1))
        model = case.fit(Given(rows, given.y))
        np.testing.assert_allclose(reading(model, rows), reading(plain, given.X), rtol=1e-7, atol=1e-7)
        ours, theirs = model.certificate_, plain.certificate_
        assert ours.status is theirs.status
        assert math.isnan(theirs.digits) or ours.digits > theirs.digits - 2
        assert f"column x{place} is constant and left out" in ours.advice
        assert "constant" not in theirs.advice
        if hasattr(model, "coef_"):
            assert not np.atleast_2d(model.coef_)[:, columns_of(model).index(f"x{place}")].any()


SPARSE = ["LinearRegression", "RobustRegression", "GeneralizedLinear", "LogisticRegression"]


@pytest.mark.parametrize("value", [7.0, 0.1, 0.0, -1e9])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["LMS", "Adaline", "SigmoidPerceptron"])
@pytest.mark.filterwarnings("ignore")
def test_online_systems_read_it_as_the_intercept(name: str, form: Any, value: float) -> None:
    case = SYSTEMS[name]
    given = case.rows(n=90, classes=2)
    rows = np.insert(given.X, 1, value, axis=1)
    plain, model = (case.make(rate="auto").fit(form(columns), given.y) for columns in (given.X, rows))
    assert not np.atleast_2d(model.coef_)[:, 1].any()
    expected = reading(plain, form(given.X))
    np.testing.assert_allclose(reading(model, form(rows)), expected, rtol=0, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("system", [LinearRegression, RobustRegression, GeneralizedLinear, Ridge])
def test_without_an_intercept_it_is_a_column_like_any_other(system: Any) -> None:
    settings = {"penalty": 0.0} if system is Ridge else {}
    model = system(fit_intercept=False, **settings).fit(np.insert(X, 1, 7.0, axis=1), Y + 5.0)
    np.testing.assert_allclose(7.0 * model.coef_[1], system(**settings).fit(X, Y + 5.0).intercept_, rtol=1e-6)
    assert "constant" not in model.certificate_.advice


@ignoring
def test_several_are_named_together() -> None:
    for system in (RobustRegression(), LinearRegression()):
        model = system.fit(np.column_stack([X[:, :3], np.ones((60, 12))]), Y)
        note = "columns x3, x4, x5, x6, x7, x8, x9, x10, and 4 more are constant and left out"
        assert model.certificate_.advice == note
        assert note in str(model.certificate_)
        assert model.summary().to_dict()["coefficients"][-1]["left_out"] == "constant"


@ignoring
def test_a_sparse_column_that_is_nearly_constant_is_none() -> None:
    """The rounding of sums of squares would hide it."""
    nearly = sparse.csr_array(np.column_stack([X, np.where(np.arange(60) == 3, 1.0 + 1e-4, 1.0)]))
    assert "constant" not in LogisticRegression().fit(nearly, Y > np.median(Y)).certificate_.advice


# -- columns that vary by the rounding of their numbers alone are constant ---------------------------------------------

A, G = RNG.normal(size=200), (RNG.random(200) < 0.5).astype(float)
T = A + G + 0.1 * RNG.normal(size=200)
LABELS = (A + G + RNG.normal(size=200) > 0.5).astype(int)
ROUNDED = {
    "0.1 + 0.2 and 0.3": np.where(G > 0, 0.1 + 0.2, 0.3),
    "sum of shares": RNG.dirichlet(np.ones(3), 200).sum(axis=1),
}


@pytest.mark.parametrize("column", ROUNDED.values(), ids=ROUNDED)
@pytest.mark.parametrize(
    ("system", "y"),
    [
        *((LinearRegression(solver=solver), T) for solver in ("auto", "qr", "svd")),
        *((one, T) for one in (Ridge(penalty=1.0), Ridge())),
        *((one, LABELS) for one in (LogisticRegression(), LeastSquaresClassifier())),
        *((one, LABELS) for one in (GaussianClassifier(), FisherDiscriminant())),
    ],
    ids=str,
)
@ignoring
def test_a_column_that_varies_by_rounding_is_constant(system: Any, y: Array, column: Array) -> None:
    assert column.std() > 0
    without = reading(system.fit(np.c_[A, G], y), np.c_[A, G])
    model = system.fit(np.c_[A, G, column], y)
    near = 1e-3 if isinstance(system, Ridge) and system.penalty == "auto" else 1e-7  # it counts what it may use
    np.testing.assert_allclose(reading(model, np.c_[A, G, column]), without, rtol=near, atol=near)
    assert y is LABELS or model.coef_[2] == 0
    if isinstance(model, LinearRegression):
        assert (model.rank_, list(model.aliased_)) == (2, ["x2"])


def test_a_mean_far_from_zero_is_not_rounding() -> None:
    model = LinearRegression().fit(np.c_[1e12 + np.round(A, 3), G], np.round(A, 3) + G)
    assert model.rank_ == 2
    np.testing.assert_allclose(model.coef_, [1.0, 1.0], rtol=1e-3)
