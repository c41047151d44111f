"""Fits of likelihoods to rows, as a system would hand them over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.losses import Logistic, Softmax
from adaline.penalties import RidgePenalty
from adaline.results import Certificate, Solution, Status
from adaline.solvers.smooth.firth import firth, firth_ratios
from adaline.solvers.smooth.likelihood import LikelihoodFit, raw_root
from adaline.solvers.smooth.newton import newton
from adaline.solvers.smooth.problem import Problem, build_problem
from adaline.sources import ArraySource, SparseSource

Array = NDArray[Any]


def posed(
    X: Array, y: Array, weight: Array | None = None, *, classes: int = 2, intercept: bool = True, penalty: float = 0.0
) -> Problem:
    """Return the problem of rows whose targets are the places of their classes."""
    t, features = np.asarray(y, dtype=np.float64)[:, None], X.shape[1]
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    source = ArraySource(X, t, weight) if isinstance(X, np.ndarray) else SparseSource(X, t, weight)
    loss, outputs = (Logistic(), 1) if classes == 2 else (Softmax(), classes)
    return build_problem(source, loss, outputs, intercept, RidgePenalty(penalty, np.ones(features)))


def fitted(
    X: Array, y: Array, weight: Array | None = None, *, corrected: bool = False, ratios: bool = False, **options: Any
) -> LikelihoodFit:
    """Return the maximum of the likelihood, or Firth's."""
    problem = posed(X, y, weight, **options)
    start = np.zeros((problem.outputs, 1 + problem.features))
    found = (firth if corrected else newton)(problem, start, 1e-10)
    assert found.curvature is not None
    assert found.converged
    classes = options.get("classes", 2)
    unpenalised = Problem.evaluate(
        build_problem(problem.source, problem.loss, problem.outputs, problem.intercept, none(X)), found.theta
    )
    counts = np.bincount(np.asarray(y, dtype=np.intp), weight, classes)
    certificate = Certificate(
        *(found.evaluation.value, 0.0, found.gap, 15.0, found.curvature.condition, X.shape[1]),
        *(problem.source.total_reads(), 0.0, "Newton (IRLS)", Status.SOLVED, Status.SOLVED.advice),
    )
    return LikelihoodFit(
        solution=Solution(problem.to_raw(found.theta), certificate),
        root=raw_root(problem, found.curvature),
        log_likelihood=-unpenalised.value,
        null=float((counts * np.log(counts / counts.sum() if problem.intercept else 1 / classes)).sum()),
        rows=len(y),
        weight=float(counts.sum()),
        parameters=(classes - 1) * (X.shape[1] + problem.intercept),
        penalised=problem.penalised,
        coupled=problem.loss.coupled,
        dependence=problem.dependence(found.curvature.null),
        firth=corrected,
        ratios=firth_ratios(problem, found, 1e-10, np.ones(problem.features, dtype=bool)) if ratios else None,
    )


def none(X: Array) -> RidgePenalty:
    """Return no penalty."""
    return RidgePenalty(0.0, np.ones(X.shape[1]))


def generated(n: int = 200, features: int = 3, classes: int = 2, seed: int = 0) -> tuple[Array, Array]:
    """Return rows of unlike columns, and places of classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features)) * 10.0 ** rng.integers(-2, 3, features) + rng.normal(size=features)
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(features, classes)) + rng.gumbel(size=(n, classes))
    return X, z.argmax(axis=1)
