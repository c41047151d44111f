"""Ridge regression: the penalty given, and the penalty found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import reference
from benchmarks.peers import Array, estimator_theta
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, digits, ratio, seconds
from benchmarks.timing import race

OURS = "adaline"
PENALTY = 10.0
PENALTIES = np.logspace(-2, 6, 20)


@benchmark("ridge")
def ridge(settings: Settings) -> Section:
    """A number as penalty, then the automatic choice."""
    import sklearn.linear_model
    import sklearnex.linear_model

    import adaline

    X, y, w = _problem(settings.rows(100_000), 50)
    fixed = race(
        {
            OURS: lambda: adaline.Ridge(penalty=PENALTY).fit(X, y),
            "scikit-learn-intelex Ridge": lambda: sklearnex.linear_model.Ridge(alpha=PENALTY).fit(X, y),
            "scikit-learn Ridge": lambda: sklearn.linear_model.Ridge(alpha=PENALTY).fit(X, y),
        },
        rounds=settings.rounds,
    )
    found = race(
        {
            OURS: lambda: adaline.Ridge(penalty="auto").fit(X, y),
            "scikit-learn RidgeCV, 20 penalties": lambda: sklearn.linear_model.RidgeCV(alphas=PENALTIES).fit(X, y),
            "adaline, no penalty": lambda: adaline.LinearRegression().fit(X, y),
        },
        rounds=settings.rounds,
    )
    exact = reference.solve(X, y, penalty=PENALTY)
    size = f"{X.shape[0]} x {X.shape[1]}"
    return Section(
        "Ridge",
        _TEXT,
        [
            _table(f"penalty={PENALTY:g}, {size}", "digits", fixed, lambda model: digits(_digits(model, exact))),
            _table(f'penalty="auto", {size}', "excess error", found, lambda model: f"{_excess(model, X, w):.3g}"),
        ],
    )


def _problem(rows: int, features: int) -> tuple[Array, Array, Array]:
    """Strongly correlated columns of equal spread and more noise than signal, so that the penalty matters."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, features))
    X *= 0.05
    X += rng.standard_normal((rows, 1))
    w = rng.standard_normal(features)
    y = X @ w + 2.0 + 30.0 * rng.standard_normal(rows)
    return X, y, w


def _digits(model: Any, exact: Array) -> float:
    return reference.digits(estimator_theta(model), exact)


def _excess(model: Any, X: Array, w: Array) -> float:
    """Mean squared distance between the predictions and the noiseless truth."""
    return float(np.mean((model.predict(X) - X @ w - 2.0) ** 2))


def _table(caption: str, reached: str, timings: dict[str, Any], show: Callable[[Any], str]) -> Table:
    lines = []
    for name, timing in timings.items():
        times = "-" if name == OURS else ratio(timing.seconds / timings[OURS].seconds)
        lines.append((name, seconds(timing.seconds), times, show(timing.result), str(timing.runs)))
    return Table(caption, ("", "time", "ratio", reached, "best of"), lines)


_TEXT = """
Strongly correlated columns and more noise than signal. With a number, everybody solves the same problem (digits
against a solution refined in extended precision). With "auto" we minimise the criterion over all penalties, RidgeCV
over 20 of them; the excess error is the mean squared distance of the predictions from the noiseless truth, smaller
is better.
"""
