"""Robust regression: Huber's and Tukey's losses with a scale of their own, and the median as a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Array, estimator_theta
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

OURS = "adaline"


@benchmark("robust")
def robust(settings: Settings) -> Section:
    """M-estimates and quantiles, each at the same criterion."""
    import sklearn.linear_model
    import statsmodels.api as sm

    import adaline

    X, y = _problem(settings.rows(100_000), 20)
    design = np.column_stack([np.ones(len(y)), X])
    huber = race(
        {
            OURS: lambda: estimator_theta(adaline.RobustRegression().fit(X, y)),
            "statsmodels RLM": lambda: sm.RLM(y, design, M=sm.robust.norms.HuberT()).fit().params,
            "scikit-learn HuberRegressor (own scale)": lambda: estimator_theta(
                sklearn.linear_model.HuberRegressor(alpha=0.0, epsilon=1.345, max_iter=1000).fit(X, y)
            ),
        },
        rounds=settings.rounds,
    )
    tukey = race(
        {
            OURS: lambda: estimator_theta(adaline.RobustRegression(loss="tukey").fit(X, y)),
            "statsmodels RLM": lambda: sm.RLM(y, design, M=sm.robust.norms.TukeyBiweight()).fit().params,
        },
        rounds=settings.rounds,
    )
    tables = [
        _table(f"huber, {len(y)} x {X.shape[1]}", "distance from us", huber, lambda w: _apart(w, huber[OURS].result)),
        _table(f"tukey, {len(y)} x {X.shape[1]}", "distance from us", tukey, lambda w: _apart(w, tukey[OURS].result)),
    ]
    for rows in (settings.rows(10_000), settings.rows(200_000)):
        some, t = X[:rows], y[:rows]
        if rows > len(y):
            some, t = _problem(rows, 20)
        ones = np.column_stack([np.ones(rows), some])
        contenders = {
            OURS: lambda some=some, t=t: estimator_theta(adaline.RobustRegression(loss="absolute").fit(some, t)),
            "statsmodels QuantReg": lambda ones=ones, t=t: sm.QuantReg(t, ones).fit(q=0.5).params,
        }
        if rows <= 10_000:
            contenders["scikit-learn QuantileRegressor (HiGHS)"] = lambda some=some, t=t: estimator_theta(
                sklearn.linear_model.QuantileRegressor(quantile=0.5, alpha=0.0, solver="highs").fit(some, t)
            )
        median = race(contenders, rounds=settings.rounds)
        best = min(_absolute(timing.result, some, t) for timing in median.values())
        tables.append(
            _table(
                f"median, {rows} x {X.shape[1]}",
                "objective above the best",
                median,
                lambda w, some=some, t=t, best=best: f"{_absolute(w, some, t) / best - 1:.1e}",
            )
        )
    return Section("Robust regression", _TEXT, tables)


def _problem(rows: int, features: int) -> tuple[Array, Array]:
    """Unlike units, heavy tails, and one row in ten far above."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((rows, features)) * 10.0 ** rng.uniform(-1, 1, features)
    y = (X / X.std(axis=0)) @ rng.standard_normal(features) + 1.0 + rng.standard_t(3, rows)
    y[::10] += 10.0
    return X, y


def _apart(theta: Array, ours: Array) -> str:
    return f"{np.abs(theta - ours).max() / np.abs(ours).max():.1e}"


def _absolute(theta: Array, X: Array, y: Array) -> float:
    return float(np.abs(y - X @ theta[1:] - theta[0]).sum())


def _table(caption: str, reached: str, timings: dict[str, Any], show: Any) -> Table:
    lines = []
    for name, timing in timings.items():
        times = "-" if name == OURS else ratio(timing.seconds / timings[OURS].seconds)
        lines.append((name, seconds(timing.seconds), times, show(timing.result), str(timing.runs)))
    return Table(caption, ("", "time", "ratio", reached, "best of"), lines)


_TEXT = """
Columns in unlike units, heavy tails, one row in ten far above. Huber and Tukey: everybody at default tolerances, ours
to the last digits; HuberRegressor estimates its scale together with the weights, by another equation, and so answers
another question. The median is a linear program: ours and HiGHS solve it exactly, QuantReg approximates it.
"""
