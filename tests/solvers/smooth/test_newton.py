"""Newton's steps: curvature that is not positive, gaps of classes, columns that nearly depend, against 50 digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp
from sklearn.base import clone

from adaline import GeneralizedLinear, LogisticRegression, Status
from adaline.arrays import Array
from adaline.block import Shape
from adaline.losses import Poisson
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth import refine
from adaline.solvers.smooth.newton import factor_hessian
from adaline.solvers.smooth.problem import build_problem
from adaline.sources import ArraySource
from adaline.sums import TwofoldObjective
from tests.inference.against import column


def test_negative_curvature_is_turned_round() -> None:
    turned, g = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0], np.array([[1.0, -2.0, 0.3]])
    for values in ([-2.0, 3.0, 0.5], [-2.0, -3.0, -0.5]):
        hessian = turned @ np.diag(values) @ turned.T
        assert (factor_hessian(hessian).solve(g) * g).sum() > 0
    np.testing.assert_allclose(factor_hessian(np.diag([-2.0, 4.0])).solve(np.array([2.0, 4.0])), [1.0, 1.0], rtol=1e-12)
    none = factor_hessian(np.zeros((2, 2)))
    assert none.rank == 0
    assert none.null.shape == (2, 2)
    np.testing.assert_array_equal(none.solve(np.array([1.0, 2.0])), [0.0, 0.0])
    assert none.unseen(np.array([[1.0, -2.0]])) == pytest.approx(5.0, rel=1e-12)


def test_where_curvature_is_rounding_it_is_that_of_the_penalty() -> None:
    ridges, g = np.array([0.0, 1e-15, 3e-15]), np.array([0.0, 1.0, 3.0])
    rows = np.array([[1.0, 0.6, 0.8], [0.6, 0.36, 0.48], [0.8, 0.48, 0.64]])  # of rank one
    found = factor_hessian(rows + np.diag(ridges), ridges)
    assert found.rank == 3
    across = np.array([0.0, 0.8, -0.6])  # the rows do not see it
    assert found.length(across) ** 2 >= 1 / (0.64e-15 + 3 * 0.36e-15)
    assert factor_hessian(rows, np.zeros(3)).null.shape == (3, 2)
    assert factor_hessian(rows, np.zeros(3)).length(g) < np.inf


@pytest.mark.parametrize("seed", [3, 5])
@pytest.mark.parametrize(("penalty", "unit"), [(1e-8, 1.0), (1.0, 1e4), (1e-11, 1.0)])
def test_the_gap_of_groups_of_classes_is_no_less_than_the_true_one(seed: int, penalty: float, unit: float) -> None:
    rng = np.random.default_rng(seed)
    centres = 2 * rng.standard_normal((6, 3))
    centres[3:] += 20.0
    y = rng.integers(0, 6, 250)
    X = unit * (centres[y] + 2 * rng.standard_normal((250, 3)))
    model = LogisticRegression(penalty=penalty).fit(X, y)
    other = LogisticRegression(penalty=penalty, solver="lbfgs", tol=1e-9).fit(X, y)
    ours, theirs = model.certificate_, other.certificate_
    assert ours.objective - theirs.objective <= ours.gap + 1e-12 * ours.objective
    if penalty > 1e-11:
        assert ours.gap <= 1e-9
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=1e-2 * np.abs(other.coef_).max())


@pytest.mark.parametrize("classes", [2, 3])
def test_columns_that_nearly_depend_leave_no_gap(classes: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    y = (x @ rng.standard_normal((2, classes)) + rng.gumbel(size=(300, classes))).argmax(axis=1)
    proof = LogisticRegression().fit(np.column_stack([x, x[:, 0] + 1e-6 * rng.standard_normal(300)]), y).certificate_
    assert str(proof.status) == "ill-conditioned"
    assert proof.gap <= 1e-12 * proof.objective
    assert proof.passes <= 20


def exact(X: Array, t: Array, loss: str) -> tuple[Array, Array]:
    """Return coefficients and their standard errors, intercept first, by Newton's steps with 50 digits."""
    with mp.workdps(50):
        A = mp.matrix(np.column_stack([np.ones(len(X)), X]).tolist())
        w, y = mp.matrix(A.cols, 1), [mp.mpf(float(one)) for one in t]
        for _ in range(40):
            mean = [mp.exp(z) if loss == "poisson" else 1 / (1 + mp.exp(-z)) for z in A * w]
            slope = mp.matrix([a - b for a, b in zip(mean, y, strict=True)])
            bend = mp.diag([m if loss == "poisson" else m * (1 - m) for m in mean])
            inverse = (A.T * bend * A) ** -1
            step = inverse * (A.T * slope)
            w -= step
            if mp.norm(step) < mp.mpf(10) ** -30 * mp.norm(w):
                break
        return np.array([float(one) for one in w]), np.array([float(mp.sqrt(inverse[i, i])) for i in range(A.cols)])


@pytest.mark.parametrize("apart", [1e-5, 1e-9, 1e-12])
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_coefficients_and_errors_are_those_of_exact_arithmetic(loss: str, apart: float) -> None:
    """The third column is a combination of the others and a constant but for a share of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + np.array([1.0, 2.0, 0.0])
    X[:, 2] = 0.5 * X[:, 0] - 1.5 * X[:, 1] + 3.0 + apart * X[:, 2]
    z = 0.7 * X[:, 0] - 0.4 * X[:, 1] + rng.normal(size=30)
    t = np.round(np.exp(z / 2)) if loss == "poisson" else (z > 0).astype(float)
    w, errors = exact(X, t, loss)
    model: Any = GeneralizedLinear(loss=loss) if loss == "poisson" else LogisticRegression()
    model.fit(X, t)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_.ravel()), w, rtol=1e-9)
    np.testing.assert_allclose(column(model.summary(), "std_error"), errors, rtol=1e-8)
    assert model.certificate_.status is (Status.ILL_CONDITIONED if apart < 1e-8 else Status.SOLVED)
    assert model.certificate_.digits >= 8
    assert model.certificate_.rank == 3
    assert model.certificate_.gap <= 1e-8 * model.certificate_.objective  # the rounding of large weights is counted


SYSTEMS = [LogisticRegression(), LogisticRegression(fit_intercept=False)]
SYSTEMS += [GeneralizedLinear(loss="negative_binomial"), GeneralizedLinear(loss="poisson", link="sqrt")]


@pytest.mark.parametrize("system", SYSTEMS, ids=str)
def test_columns_that_nearly_depend_are_fitted_as_what_they_add(system: Any) -> None:
    """Two columns nearly depend on others, one of them on the other; coefficients of what they add are known."""
    rng = np.random.default_rng(0)
    added = np.ldexp(rng.integers(-(2**20), 2**20, (120, 4)), -18)  # sums of these are exact
    X = added.copy()
    X[:, 1] = X[:, 0] + 2.0**-30 * added[:, 1]
    X[:, 3] = X[:, 1] - X[:, 2] + 2.0**-28 * added[:, 3]
    t = rng.negative_binomial(2, 0.4, 120) if isinstance(system, GeneralizedLinear) else np.arange(120) % 3
    near, apart = (clone(system).fit(rows, t) for rows in (X, added))
    w, v = np.atleast_2d(near.coef_), np.atleast_2d(apart.coef_)
    gained = np.column_stack([w[:, 0] + w[:, 1] + w[:, 3], 2.0**-30 * (w[:, 1] + w[:, 3]), w[:, 2] - w[:, 3]])
    np.testing.assert_allclose(2.0**-28 * w[:, 3], v[:, 3], rtol=1e-9)
    np.testing.assert_allclose(gained, v[:, :3], atol=1e-6)
    np.testing.assert_allclose(near.predict(X), apart.predict(added), rtol=1e-7)


@pytest.mark.parametrize(("apart", "known"), [(1e-3, True), (1e-14, False)])
def test_second_derivatives_that_are_singular_to_rounding_are_no_metric(apart: float, known: bool) -> None:
    x = np.random.default_rng(0).normal(size=(9, 1))
    problem = build_problem(ArraySource(x, x**2), Poisson(), 1, True, RidgePenalty(0.0, np.ones(1)))
    sums = TwofoldObjective.zero(Shape(1, 1), root="gram")
    sums.matrix[:] = [[1.0, 1.0 - apart], [1.0 - apart, 1.0], [1.0, 1.0]]
    assert (refine._metric(problem, sums, np.ones(2, dtype=bool)) is not None) == known
