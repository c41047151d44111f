"""Logistic regression under l1 on sparse rows: a path of penalties, against celer and skglm."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

Array = np.ndarray[Any, Any]
Run = Callable[[float], Array]

OURS = "adaline"
POINTS, RATIO = 20, 1e-3
ENOUGH = 1e-6
TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)


@benchmark("sparse_l1")
def sparse_l1(settings: Settings) -> Section:
    """Everybody with the loosest tolerance that brings all points within `ENOUGH` of the minimum."""
    X, y = _data(settings)
    largest = 0.5 * float(np.abs(X.T @ y).max())
    penalties = np.geomspace(largest, largest * RATIO, POINTS)
    runs: dict[str, Run] = {OURS: _ours(X, y), "celer": _celer(X, y, penalties), "skglm": _skglm(X, y, penalties)}
    best = _objectives(X, y, penalties, runs[OURS](1e-14))
    tolerances = {name: _loosest(run, X, y, penalties, best) for name, run in runs.items()}
    timings = race(
        {name: (lambda run=run, tol=tolerances[name]: run(tol)) for name, run in runs.items()}, rounds=settings.rounds
    )
    lines = []
    for name, timing in timings.items():
        times = "-" if name == OURS else ratio(timing.seconds / timings[OURS].seconds)
        excess = float(_excess(X, y, penalties, timing.result, best))
        lines.append((name, seconds(timing.seconds), times, f"{tolerances[name]:g}", f"{excess:.1g}", str(timing.runs)))
    caption = f"{POINTS} penalties, {X.shape[0]} x {X.shape[1]}, {X.nnz} numbers"
    head = ("", "time", "ratio", "tolerance", "worst excess", "best of")
    return Section("Logistic regression under l1, sparse", _TEXT, [Table(caption, head, lines)])


def _data(settings: Settings) -> tuple[Any, Array]:
    """Return a9a where ADALINE_DATA names the folder that holds it, and otherwise rows made like it."""
    folder = os.environ.get("ADALINE_DATA")
    if folder:
        from sklearn.datasets import load_svmlight_file

        X, y = load_svmlight_file(str(Path(folder) / "sparse" / "a9a.svm.gz"))
        rows = settings.rows(X.shape[0])
        return X[:rows], y[:rows]
    rng = np.random.default_rng(0)
    rows, levels = settings.rows(32_561), [5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41]
    columns, first = [], 0
    for count in levels:
        columns.append(first + rng.choice(count, rows, p=rng.dirichlet(np.ones(count))))
        first += count
    indices = (np.repeat(np.arange(rows), len(levels)), np.array(columns).T.ravel())
    X = sparse.csr_matrix((np.ones(rows * len(levels)), indices), shape=(rows, first))
    z = X @ rng.standard_normal(first) - 2.0
    return X, np.where(z + rng.logistic(size=rows) > 0, 1.0, -1.0)


def _ours(X: Any, y: Array) -> Run:
    from adaline.losses import Logistic
    from adaline.penalties import no_penalty
    from adaline.solvers.smooth.problem import build_problem
    from adaline.solvers.smooth.proximal_newton import l1_points
    from adaline.sources.array import SparseSource

    t = (y[:, None] > 0).astype(np.float64)

    def run(tol: float) -> Array:
        problem = build_problem(SparseSource(X, t), Logistic(), 1, False, no_penalty(X.shape[1]))
        points = l1_points(problem, problem.view.scale, np.zeros(1), tol * X.shape[0] * np.log(2), POINTS, RATIO)
        return np.array([problem.to_raw(point.found.theta)[0, 1:] for point in points])

    return run


def _celer(X: Any, y: Array, penalties: Array) -> Run:
    from celer import celer_path

    columns = X.tocsc()
    return lambda tol: np.asarray(
        celer_path(columns, y, pb="logreg", alphas=penalties, tol=tol, max_iter=100, max_epochs=100_000)[1].T
    )


def _skglm(X: Any, y: Array, penalties: Array) -> Run:
    from skglm import SparseLogisticRegression

    columns = X.tocsc()

    def run(tol: float) -> Array:
        model = SparseLogisticRegression(tol=tol, fit_intercept=False, warm_start=True, max_iter=100)
        found = []
        for l1 in penalties:
            found.append(model.set_params(alpha=l1 / X.shape[0]).fit(columns, y).coef_.ravel().copy())
        return np.array(found)

    return run


def _objectives(X: Any, y: Array, penalties: Array, weights: Array) -> Array:
    loss = np.logaddexp(0.0, -y[:, None] * (X @ weights.T)).sum(axis=0)
    return np.asarray(loss + penalties * np.abs(weights).sum(axis=1))


def _excess(X: Any, y: Array, penalties: Array, weights: Array, best: Array) -> float:
    return float((_objectives(X, y, penalties, weights) / best - 1).max())


def _loosest(run: Run, X: Any, y: Array, penalties: Array, best: Array) -> float:
    return next(tol for tol in TOLERANCES if _excess(X, y, penalties, run(tol), best) <= ENOUGH)


_TEXT = """
A path of 20 penalties from the one that leaves no coefficient to a thousandth of it, without an intercept. Everybody
runs with the loosest tolerance, a power of ten, that brings the objective of every point within 1e-6 of its minimum;
ours bounds the proven gap as a share of the objective at zero. What peers compile or convert beforehand is not counted.
"""
