"""Second derivatives that are not positive: turned round, or left out where they are zero."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LogisticRegression
from adaline.solvers.smooth.newton import factor_hessian


def test_negative_curvature_is_turned_round() -> None:
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for values in ([-2.0, 3.0, 0.5], [-2.0, -3.0, -0.5]):
        hessian = turned @ np.diag(values) @ turned.T
        g = np.array([[1.0, -2.0, 0.3]])
        assert (factor_hessian(hessian).solve(g) * g).sum() > 0
    np.testing.assert_allclose(factor_hessian(np.diag([-2.0, 4.0])).solve(np.array([2.0, 4.0])), [1.0, 1.0], rtol=1e-12)


def test_no_curvature_at_all_gives_no_step() -> None:
    found = factor_hessian(np.zeros((2, 2)))
    assert found.rank == 0
    assert found.null.shape == (2, 2)
    np.testing.assert_array_equal(found.solve(np.array([1.0, 2.0])), [0.0, 0.0])


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
