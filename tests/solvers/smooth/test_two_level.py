"""Truncated Newton in a metric of two levels: the minimum that a matrix gives, with few products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from adaline.losses import LOSSES, Logistic, Loss
from adaline.penalties import RidgePenalty
from adaline.solvers.smooth import two_level
from adaline.solvers.smooth.newton import newton
from adaline.solvers.smooth.problem import Evaluation, Problem, build_problem
from adaline.solvers.smooth.truncated_newton import truncated_newton
from adaline.solvers.smooth.two_level import CoarseSpace, two_level_newton
from adaline.sources import held
from adaline.sources.array import SparseSource
from adaline.sources.held import hold_rows
from tests.sums.test_objective import targets

CONVEX = [
    name for name, kind in LOSSES.items() if (a := kind()).convex and math.isfinite(a.concordance) and not a.coupled
]


def rows_of_ids(n: int, seed: int = 0) -> Any:
    """Return CSR rows of three ids of many levels, each with a sign, and of a number far from zero."""
    rng = np.random.default_rng(seed)
    ids = np.minimum(rng.zipf(1.2, (n, 3)), 150) - 1 + 150 * np.arange(3)
    sign = np.where(np.arange(450) % 3 == 1, -1.0, 1.0)
    number = 20 + rng.normal(size=(n, 1))
    data, columns = np.hstack([sign[ids], number]), np.hstack([ids, np.full((n, 1), 450)])
    return sparse.csr_array((data.ravel(), columns.ravel(), np.arange(n + 1) * 4), shape=(n, 451))


def posed(loss: Loss, monkeypatch: pytest.MonkeyPatch, intercept: bool = True, apart: bool = False) -> Problem:
    """Return the objective over weighted rows of ids, with units apart from numbers or in one matrix."""
    x, rng = rows_of_ids(300), np.random.default_rng(1)
    source = SparseSource(x, targets(loss, rng, 300, 1), rng.integers(0, 3, 300).astype(float))
    if apart:
        monkeypatch.setattr(held, "LEAST_SPARSE_COLUMNS", 1)
        monkeypatch.setattr(held, "_mostly_empty", lambda x: True)
        found = hold_rows(source)
        assert found is not None
        source = found
    return build_problem(source, loss, 1, intercept, RidgePenalty(0.5, np.ones(source.shape.features)))


def strong_convexity(problem: Problem) -> Any:
    """Return the gap that a problem proves, intercept left out, as a function of its evaluations."""

    def gap(evaluation: Evaluation) -> float:
        g = evaluation.gradient[0]
        return float((g[1:] ** 2 / problem.ridge).sum()) / 2 + float(g[0] ** 2) / problem.weight

    return gap


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("name", CONVEX)
def test_products_and_diagonal_are_those_of_the_matrix(name: str, apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = posed(LOSSES[name](), monkeypatch, apart=apart)
    rng = np.random.default_rng(2)
    theta, direction = 0.1 * rng.normal(size=(2, 1, 1 + problem.features))
    times, diagonal = problem.second_derivatives(theta)
    matrix = problem.evaluate(theta, second=True).hessian
    assert matrix is not None
    np.testing.assert_allclose(times(direction), direction @ matrix, rtol=1e-9, atol=1e-9 * np.abs(matrix).max())
    np.testing.assert_allclose(diagonal[0], matrix.diagonal(), rtol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_with_all_columns_at_the_head_it_is_the_inverse(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = posed(Logistic(), monkeypatch, intercept)
    theta = 0.1 * np.random.default_rng(2).normal(size=(1, 1 + problem.features))
    theta[0, 0] *= intercept
    matrix = problem.evaluate(theta, second=True).hessian
    assert matrix is not None
    metric = CoarseSpace.of(problem).metric(problem, theta, problem.diagonal(theta))
    for g in np.random.default_rng(3).normal(size=(3, 1, 1 + problem.features)):
        g[0, 0] *= intercept
        np.testing.assert_allclose(metric(g @ matrix), g, rtol=1e-7, atol=1e-7)


def test_a_metric_of_some_columns_is_symmetric_and_definite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_level, "HEAD", 10)
    monkeypatch.setattr(two_level, "RANGES", 6)
    problem = posed(Logistic(), monkeypatch)
    theta = np.zeros((1, 1 + problem.features))
    metric = CoarseSpace.of(problem).metric(problem, theta, problem.diagonal(theta))
    rows = np.random.default_rng(3).normal(size=(20, 1 + problem.features)) / np.sqrt(problem.diagonal(theta)).clip(1)
    gram = np.stack([metric(g[None])[0] for g in rows]) @ rows.T
    np.testing.assert_allclose(gram, gram.T, atol=1e-12 * np.abs(gram).max())
    assert np.linalg.eigvalsh(gram).min() > 0


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", CONVEX)
def test_the_minimum_is_that_of_newton(
    name: str, intercept: bool, apart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(two_level, "HEAD", 10)
    monkeypatch.setattr(two_level, "RANGES", 6)
    problem = posed(LOSSES[name](), monkeypatch, intercept, apart)
    start = np.zeros((1, 1 + problem.features))
    found = two_level_newton(problem, start, strong_convexity(problem), 1e-12 * problem.weight)
    best = newton(problem, start, 1e-12)
    assert found.converged
    assert found.evaluation.value == pytest.approx(best.evaluation.value, rel=1e-10)
    np.testing.assert_allclose(found.theta, best.theta, atol=1e-5 * np.abs(best.theta).max())
    assert (np.diff(found.history) <= 1e-12 * abs(found.evaluation.value)).all()


def test_it_takes_fewer_passes_than_the_metric_of_the_diagonal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_level, "HEAD", 10)
    monkeypatch.setattr(two_level, "RANGES", 6)
    problem = posed(Logistic(), monkeypatch, apart=True)
    start, gap, enough = np.zeros((1, 1 + problem.features)), strong_convexity(problem), 1e-6
    passes = []
    for solve in (
        lambda: two_level_newton(problem, start, gap, enough),
        lambda: truncated_newton(
            problem, start, lambda theta: lambda g: g / problem.diagonal(theta), lambda e, _: gap(e) <= enough
        ),
    ):
        before = problem.source.reads[0]
        assert solve().converged
        passes.append(problem.source.reads[0] - before)
    assert 2 * passes[0] < passes[1]
