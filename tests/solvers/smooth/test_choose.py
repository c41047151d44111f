"""One minimum whatever the solver: with and without a matrix, an intercept, a penalty, weights, a start."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from adaline import GeneralizedLinear, LogisticRegression
from adaline.arrays import Array
from adaline.losses import Poisson
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth import choose
from adaline.solvers.smooth.duality_gap import Planes
from adaline.solvers.smooth.lbfgs import low_contrasts
from adaline.solvers.smooth.near_columns import nearly_dependent
from adaline.solvers.smooth.newton import newton
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.sources.array import ArraySource


def made(rows: int = 1200, columns: int = 4, classes: int = 3) -> tuple[Array, NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, columns)) * [1.0, 3.0, 0.5, 2.0] + [2.0, -1.0, 0.5, 1.0]
    z = x @ rng.normal(size=(columns, classes)) * 0.5
    return x, np.asarray((z + rng.gumbel(size=z.shape)).argmax(axis=1))


def theta(model: Any) -> Array:
    return np.column_stack([np.ravel(model.intercept_), np.atleast_2d(model.coef_)])


@pytest.fixture
def no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "MOST_MATRIX_SIDE", 0)
    monkeypatch.setattr(choose, "LEAST_SAMPLE_ROWS", 300)  # so that few rows are many


SETTINGS = ("as it is", "weights of classes", "a start", "rows of weight zero")


@cache
def by_newton(classes: int, intercept: bool, setting: str) -> tuple[Any, Any, Any, dict[str, Any], LogisticRegression]:
    """Return rows, targets and weights, arguments, and what Newton finds."""
    x, y = made(classes=classes)
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0) if setting == "rows of weight zero" else None
    common: dict[str, Any] = {"penalty": 2.0, "fit_intercept": intercept}
    if setting == "weights of classes":
        common["class_weight"] = {0: 3.0, 1: 0.5, 2: 1.0} if classes == 3 else {0: 3.0, 1: 0.5}
    if setting == "a start":
        common["init"] = np.full((1 if classes == 2 else classes, 5), 0.3) * [[intercept, 1, 1, 1, 1]]
    return x, y, weight, common, LogisticRegression(solver="newton", **common).fit(x, y, weight)


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("no_matrix")
@pytest.mark.parametrize("solver", ["auto", "newton-cg"])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_solver_finds_what_newton_finds(
    solver: str, classes: int, intercept: bool, setting: str, rows: Any
) -> None:
    x, y, weight, common, expected = by_newton(classes, intercept, setting)
    found = LogisticRegression(solver=solver, **common).fit(rows(x), y, weight)
    blocks = solver == "auto" and rows is np.asarray
    assert blocks == ("each machine" in found.certificate_.solver)
    np.testing.assert_allclose(theta(found), theta(expected), rtol=1e-3, atol=1e-4)
    best, proof = expected.certificate_.objective, found.certificate_
    null = len(y) * np.log(classes) * 3
    assert -1e-12 * best <= proof.objective - best <= min(proof.gap * (1 + 1e-6), 1e-10 * null) + 1e-12 * best
    assert proof.gap <= 1e-9 * null


@pytest.mark.usefixtures("no_matrix")
def test_groups_of_classes_take_few_passes() -> None:
    """Machines of classes that are taken for each other gain the same at little cost; each alone seems to curve."""
    rng = np.random.default_rng(0)
    centres = (3 * rng.normal(size=(3, 1, 10)) + 0.3 * rng.normal(size=(3, 4, 10))).reshape(12, 10)
    y = rng.integers(0, 12, 2000)
    proof = LogisticRegression(penalty=1.0, tol=1e-6).fit(centres[y] + rng.normal(size=(2000, 10)), y).certificate_
    assert "each machine" in proof.solver
    assert proof.passes <= 40
    assert proof.gap <= 1e-6 * len(y) * np.log(12)


@pytest.mark.filterwarnings("ignore::adaline.errors.AdalineWarning")
@pytest.mark.usefixtures("no_matrix")
def test_more_columns_than_rows_have_full_rank_under_a_penalty_alone() -> None:
    x = np.random.default_rng(0).normal(size=(10, 30))
    for penalty, rank in ((1.0, 30), (0.0, 9)):
        assert LogisticRegression(penalty=penalty).fit(x, np.arange(10) % 2).certificate_.rank == rank


@pytest.mark.usefixtures("no_matrix")
def test_matrices_of_contrasts_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made()
    for numbers, solver in ((5 * 5**2, "each machine"), (5 * 5**2 - 1, "diagonal")):  # of 3 machines and 2 contrasts
        monkeypatch.setattr(choose, "MOST_BLOCK_NUMBERS", numbers)
        assert solver in LogisticRegression(penalty=1.0, tol=1e-3).fit(x, y).certificate_.solver


def test_groups_of_machines_are_the_contrasts_that_curve_little() -> None:
    share = np.array([[3.0, 1.0, 0.001, 0.001], [1.0, 2.0, 0.001, 0.001], [0.001, 0.001, 1.0, 4.0]])
    between = np.vstack([share, [0.001, 0.001, 4.0, 1.0]]) * (1 - np.eye(4))
    found = low_contrasts(np.diag(between.sum(axis=0)) - between)
    assert found.shape == (1, 4)
    np.testing.assert_allclose(found * np.sign(found[0, 0]), [[0.5, 0.5, -0.5, -0.5]], atol=0.02)
    assert low_contrasts(np.zeros((3, 3))).shape == (0, 3)


@pytest.mark.parametrize("intercept", [True, False])
def test_bounds_of_errors_are_in_raw_units_what_errors_can_add_up_to(intercept: bool) -> None:
    x, _ = made(60)
    problem = build_problem(ArraySource(x, x[:, :1] ** 2), Poisson(), 1, intercept, RidgePenalty(0.0, np.ones(4)))
    error = np.random.default_rng(0).uniform(0.5, 1.0, (1, 5))
    each = np.abs([problem.to_raw(row[None]) for row in np.diag(error[0])])
    np.testing.assert_allclose(problem.errors_to_raw(error), each.sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize(("mean", "near"), [(0.0, True), (1e12, False)])
def test_what_rounding_leaves_of_a_column_far_out_is_no_column_of_its_own(mean: float, near: bool) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(200, 1))
    x = np.hstack([a, a + 1e-3 * rng.normal(size=(200, 1))]) + mean
    problem = build_problem(ArraySource(x, np.ones((200, 1))), Poisson(), 1, True, RidgePenalty(0.0, np.ones(2)))
    assert (nearly_dependent(problem) is not None) == near


@pytest.mark.parametrize(("penalty", "penalised"), [(0.0, False), (1e-9, True), (1.0, True)])
def test_any_penalty_of_all_coefficients_counts(penalty: float, penalised: bool) -> None:
    rows = ArraySource(np.eye(3), np.ones((3, 1)))
    assert build_problem(rows, Poisson(), 1, True, RidgePenalty(penalty, np.ones(3))).penalised == penalised
    assert not build_problem(rows, Poisson(), 1, True, RidgePenalty(1.0, np.array([1.0, 0.0, 1.0]))).penalised


def test_planes_that_overflow_prove_nothing_and_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    x, far = rng.normal(size=(50, 2)), np.array([[-10.0, 0.0, 0.0]])
    source = ArraySource(x, rng.poisson(3.0, (50, 1)).astype(float))
    problem = build_problem(source, Poisson(), 1, True, RidgePenalty(1.0, np.ones(2)))
    here = problem.evaluate(far)
    least = newton(problem, np.zeros((1, 3)), 1e-12).evaluation.value
    assert here.value - least <= Planes(problem, once=True).gap(far, here, np.zeros(2))


def test_the_last_step_is_taken_where_the_objective_is_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "CHEAP_MATRIX_WORK", 0)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60_000, 12))
    y = rng.poisson(1000 * np.exp(x @ rng.normal(size=12) * 0.05)).astype(float)
    expected = GeneralizedLinear(loss="poisson", solver="newton").fit(x, y)
    found = GeneralizedLinear(loss="poisson").fit(x, y)
    assert expected.certificate_.objective < 0
    assert "sample" in found.certificate_.solver
    np.testing.assert_allclose(theta(found), theta(expected), rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("no_matrix")
def test_a_sample_without_weight_is_no_sample() -> None:
    x, y = made(40_000)
    weight = np.zeros(len(y))
    weight[[17, 4711, 23_000, 39_999, 5, 31_000, 12_345, 777, 888, 999, 21_000, 22_000]] = 5.0
    expected = LogisticRegression(penalty=1.0, solver="newton").fit(x, y, weight)
    found = LogisticRegression(penalty=1.0).fit(x, y, weight)
    np.testing.assert_allclose(found.predict_proba(x), expected.predict_proba(x), atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_few_rows_of_large_matrices_keep_the_metric_of_one(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = made(3000, classes=classes)
    expected = LogisticRegression(solver="newton").fit(x, y)
    matrices = []
    evaluate = Problem.evaluate
    monkeypatch.setattr(
        Problem, "evaluate", lambda self, theta, second=False: matrices.append(second) or evaluate(self, theta, second)
    )
    monkeypatch.setattr(choose, "COSTLY_MATRIX_WORK", 0.0)
    found = LogisticRegression().fit(x, y)
    assert "in its metric" in found.certificate_.solver
    assert found.certificate_.gap <= 1e-10 * len(y)
    assert sum(matrices) <= 2 + choose.WHOLE_STEPS < expected.certificate_.passes
    np.testing.assert_allclose(theta(found), theta(expected), rtol=1e-8, atol=1e-10)


def test_newton_steps_that_converge_are_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "COSTLY_MATRIX_WORK", 0.0)
    monkeypatch.setattr(choose, "WHOLE_STEPS", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = LogisticRegression(penalty=1.0).fit(X, X[:, 0] + rng.normal(size=200) > 0)
    assert model.certificate_.solver == choose.NEWTON
