"""Are the classes separable? Ours with a proof, a linear program without one, and learners that only try."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Array
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

OURS = "adaline separability"
PATIENCE = 120.0  # seconds that the linear program gets


@benchmark("separability")
def separability(settings: Settings) -> Section:
    """A million rows that are separable by a margin of 1e-3, the same with one row wrong, and noise."""
    rng = np.random.default_rng(1)
    X, t = rows_apart(settings.rows(1_000_000), 20, 1e-3)
    one = t.copy()
    one[len(t) // 2] *= -1
    problems = {"margin 1e-3": t, "one row wrong": one, "noise": rng.choice([-1, 1], len(t))}
    tables = []
    for name, labels in problems.items():
        found = race(contenders(X, labels), rounds=settings.rounds)
        base = found[OURS].seconds
        lines = [[who, seconds(t.seconds), ratio(t.seconds / base), t.result] for who, t in found.items()]
        start = time.perf_counter()
        ours(X, labels).verify()
        lines.append(["adaline, decide and verify", seconds(time.perf_counter() - start), "", "verified"])
        tables.append(Table(f"{name}, {X.shape[0]} x {X.shape[1]}", ["", "time", "peer / ours", "answer"], lines))
    return Section("Separability", _TEXT, tables)


def rows_apart(n: int, d: int, margin: float) -> tuple[Array, Array]:
    """Gaussian rows, moved away from a plane so that none is closer than the margin."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    height = X @ w - 0.3
    t = np.where(height > 0, 1, -1)
    X += np.outer(t * np.maximum(margin - np.abs(height), 0), w)
    return X, t


def ours(X: Array, t: Array) -> Any:
    """Decide, with a proof."""
    from adaline.separation.separability import separability as decide

    return decide(X, t)


def contenders(X: Array, t: Array) -> dict[str, Callable[[], str]]:
    """Return who answers the question; learners that reach no error have answered yes, otherwise they know nothing."""
    from scipy.optimize import linprog
    from sklearn.linear_model import Perceptron
    from sklearn.svm import LinearSVC

    def program() -> str:
        rows = -t[:, None] * np.column_stack([np.ones(len(X)), X])
        found = linprog(
            np.zeros(rows.shape[1]),
            A_ub=rows,
            b_ub=np.full(len(rows), -1.0),
            bounds=(None, None),
            method="highs",
            options={"time_limit": PATIENCE},
        )
        return {0: "separable", 1: f"none within {PATIENCE:g} s", 2: "not separable"}.get(found.status, found.message)

    def learner(model: Any) -> str:
        return "separable" if (model.fit(X, t).predict(X) == t).all() else "does not know"

    return {
        OURS: lambda: ours(X, t).kind,
        "scipy linprog, HiGHS": program,
        "scikit-learn Perceptron, 50 epochs": lambda: learner(Perceptron(max_iter=50, tol=None)),
        "scikit-learn LinearSVC, C = 1e6": lambda: learner(LinearSVC(C=1e6, dual=False, max_iter=50)),
    }


_TEXT = """
Only ours comes with a proof: `verify()` checks it in exact arithmetic. The linear program decides in floats, to a
tolerance of 1e-7. The learners answer yes if they end without an error, and otherwise leave it open.
"""
