"""Firth's correction against its penalised likelihood maximised directly, and against what it is known to give."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import expit

from adaline import AdalineWarning, LogisticRegression
from adaline.losses import Logistic
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth.firth import firth, firth_ratios
from adaline.solvers.smooth.likelihood import raw_root
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.sources import ArraySource, SparseSource
from adaline.sums import FirthScore, Prior
from tests.inference.against import classes, column, design

Array = Any
SIXTY = classes(60)


def posed(X: Array, y: Array, weight: Array | None = None, intercept: bool = True) -> Problem:
    """Return the problem of rows whose targets are the places of their classes."""
    source = (SparseSource if sparse.issparse(X) else ArraySource)(X, np.asarray(y, dtype=np.float64)[:, None], weight)
    return build_problem(source, Logistic(), 1, intercept, RidgePenalty(0.0, np.ones(X.shape[1])))


def solved(X: Array, y: Array, weight: Array | None = None, **options: Any) -> tuple[Array, Array, float]:
    """Return coefficients and their errors in raw units, and minus the penalised log-likelihood."""
    problem = posed(X, y, weight, **options)
    found = firth(problem, np.zeros((1, 1 + X.shape[1])), 1e-10)
    assert found.converged
    assert found.curvature is not None
    assert np.isinf(found.gap)
    assert len(found.history) < 40
    errors = np.linalg.norm(raw_root(problem, found.curvature)[0], axis=1)
    return problem.to_raw(found.theta)[0], errors, found.evaluation.value


def penalised(theta: Array, rows: Array, y: Array) -> tuple[float, Array]:
    """Return minus the penalised log-likelihood and its gradient, row by row."""
    z = rows @ theta
    p = expit(z)
    information = rows.T @ (rows * (p * (1 - p))[:, None])
    h = p * (1 - p) * np.einsum("ni,ij,nj->n", rows, np.linalg.inv(information), rows)
    value = -(y * z - np.logaddexp(0, z)).sum() - 0.5 * np.linalg.slogdet(information)[1]
    return value, -rows.T @ (y - p + h * (0.5 - p))


def direct(rows: Array, y: Array, free: Array) -> Array:
    """Maximise the penalised likelihood over some coefficients from the outside; the others are zero."""

    def embedded(w: Array) -> tuple[float, Array]:
        theta = np.zeros(rows.shape[1])
        theta[free] = w
        value, gradient = penalised(theta, rows, y)
        return value, gradient[free]

    start = optimize.minimize(embedded, np.zeros(len(free)), jac=True, options={"gtol": 1e-6}).x
    theta = np.zeros(rows.shape[1])
    theta[free] = optimize.root(lambda w: embedded(w)[1], start, tol=1e-13).x
    return theta


@cache
def cases() -> dict[str, tuple[Array, Array]]:
    rng = np.random.default_rng(5)
    overlap, y = classes()
    separable = rng.normal(size=(30, 3))
    quasi = np.array([0.0] * 10 + [1.0] * 10)
    return {
        "overlap": (overlap / overlap.std(axis=0), y),
        "rare": (rng.normal(size=(100, 2)), np.arange(100) < 3),
        "separable": (separable, separable @ [1.0, -1, 0.5] > 0.1),
        "one column": (np.arange(10.0)[:, None], np.arange(10) > 4),
        "quasi": (np.column_stack([quasi, rng.normal(size=20)]), np.where(quasi > 0, True, np.arange(20) % 2 == 0)),
        "few rows": (rng.normal(size=(12, 4)), rng.random(12) > 0.5),
    }


@pytest.mark.parametrize("name", cases())
@pytest.mark.parametrize("intercept", [True, False])
def test_it_is_the_maximum_of_the_penalised_likelihood(name: str, intercept: bool) -> None:
    X, y = cases()[name]
    rows, t, first = design(X, intercept), y.astype(float), 1 - intercept
    theta, errors, value = solved(X, y, intercept=intercept)
    expected = direct(rows, t, np.arange(rows.shape[1]))
    np.testing.assert_allclose(theta[first:], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert value == pytest.approx(penalised(expected, rows, t)[0], rel=1e-9)
    p = expit(rows @ expected)
    covariance = np.linalg.inv(rows.T @ (rows * (p * (1 - p))[:, None]))
    np.testing.assert_allclose(errors[first:], np.sqrt(np.diag(covariance)), rtol=1e-7)
    if not intercept:
        return
    problem = posed(X, y)  # ratios hold coefficients at zero and keep their columns
    found, kept, places = (
        firth(problem, np.zeros((1, rows.shape[1])), 1e-10),
        np.ones(X.shape[1], dtype=bool),
        range(len(expected)),
    )
    free = [[0], *([k for k in places if k != j] for j in places[1:])]
    ratios = [2 * (penalised(direct(rows, t, np.array(some)), rows, t)[0] - value) for some in free]
    np.testing.assert_allclose(firth_ratios(problem, found, 1e-10, kept), ratios, rtol=1e-7, atol=1e-9)


def test_a_table_of_two_by_two_gets_half_a_row_in_each_cell() -> None:
    """With saturated tables Jeffreys' prior adds 1/2 to each count (Firth 1993, section 4)."""
    counts = np.array([[7.0, 0.0], [3.0, 9.0]])  # of y = 0, 1 for x = 0, then x = 1: quasi separated
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 1, 0, 1])
    theta, errors, _ = solved(X, y, counts.ravel())
    odds = np.log((counts[:, 1] + 0.5) / (counts[:, 0] + 0.5))
    np.testing.assert_allclose(theta, [odds[0], odds[1] - odds[0]], rtol=1e-10)
    p = expit(odds)
    variance = 1 / (counts.sum(axis=1) * p * (1 - p))
    np.testing.assert_allclose(errors, np.sqrt([variance[0], variance.sum()]), rtol=1e-10)
    alone, _, _ = solved(np.zeros((20, 0)), np.arange(20) < 0)
    np.testing.assert_allclose(alone, [np.log(0.5 / 20.5)], rtol=1e-12)


def test_weights_units_and_sparse_rows() -> None:
    X, y = SIXTY
    weight, units = np.random.default_rng(2).integers(0, 4, 60), np.array([1e-9, 1e9, 1.0])
    expected, plain = solved(np.repeat(X, weight, axis=0), np.repeat(y, weight)), solved(X, y)
    for rows in (X, sparse.csr_array(X)):
        for mine, theirs in zip(solved(rows, y, weight.astype(float)), expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    odd = solved(X * units, y)
    for mine, theirs in zip(odd[:2], plain[:2], strict=True):
        np.testing.assert_allclose(mine[1:] * units, theirs[1:], rtol=1e-8)
    assert odd[2] == pytest.approx(plain[2] - np.log(units).sum(), rel=1e-10)


def test_too_few_steps_are_no_convergence() -> None:
    found = firth(posed(*cases()["separable"]), np.zeros((1, 4)), 1e-10, max_steps=2)
    assert not found.converged
    assert len(found.history) == 2


def test_the_score_is_the_slope_of_the_penalised_likelihood() -> None:
    X, y = SIXTY
    problem, theta = posed(X, y), np.array([[0.2, -0.3, 0.5, 0.1]])
    rows = design(X * problem.view.scale + problem.view.offset)
    p = expit(rows @ theta[0])
    root = np.linalg.inv(np.linalg.cholesky(rows.T @ (rows * (p * (1 - p))[:, None]))).T
    mine = problem.source.sum(FirthScore, Prior(theta, problem.view, root)).gradient[0]
    np.testing.assert_allclose(mine, penalised(theta[0], rows, y.astype(float))[1], rtol=1e-9, atol=1e-10)


def test_dependent_and_constant_columns_change_nothing_but_their_own_rows() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 150))
    y = a - b + rng.logistic(size=150) > 1
    plain, X = LogisticRegression(firth=True).fit(np.column_stack([a, b]), y), np.column_stack([a, b, a + b])
    with pytest.warns(AdalineWarning, match=r"x2 = x0 \+ x1"):
        more = LogisticRegression(firth=True).fit(np.column_stack([X, np.full(150, 7.0)]), y)
    assert np.isfinite(more.certificate_.objective)
    np.testing.assert_allclose(column(more.summary(), "p_value")[:3], column(plain.summary(), "p_value"), rtol=1e-6)
    assert [row["left_out"] for row in more.summary().to_dict()["coefficients"][3:]] == ["x2 = x0 + x1", "constant"]
    np.testing.assert_allclose(
        more.predict_proba(np.column_stack([X, np.full(150, 7.0)])), plain.predict_proba(X[:, :2]), rtol=1e-7
    )
