"""Closed-form classifiers, and robust standard errors: what second moments give."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Array
from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

OURS = "adaline"


@benchmark("classifiers")
def classifiers(settings: Settings) -> Section:
    """Gaussian classifiers with shared and with full covariances."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

    import adaline

    X, y = _problem(settings.rows(500_000), 50, 5)
    shared = race(
        {
            OURS: lambda: adaline.GaussianClassifier().fit(X, y),
            "scikit-learn LDA, lsqr": lambda: LinearDiscriminantAnalysis(solver="lsqr").fit(X, y),
            "scikit-learn LDA, svd": lambda: LinearDiscriminantAnalysis(solver="svd").fit(X, y),
        },
        rounds=settings.rounds,
    )
    full = race(
        {
            OURS: lambda: adaline.GaussianClassifier(covariance="full").fit(X, y),
            "scikit-learn QDA": lambda: QuadraticDiscriminantAnalysis().fit(X, y),
        },
        rounds=settings.rounds,
    )
    size = f"{X.shape[0]} x {X.shape[1]}, 5 classes"
    return Section(
        "Gaussian classifiers",
        "Accuracy is the share of the training rows that are classified right.",
        [_table(f"shared covariance, {size}", shared, X, y), _table(f"full covariances, {size}", full, X, y)],
    )


@benchmark("robust_errors")
def robust_errors(settings: Settings) -> Section:
    """HC3 standard errors, the fit included."""
    import statsmodels.api as sm

    import adaline

    rng = np.random.default_rng(3)
    X = rng.standard_normal((settings.rows(500_000), 50))
    y = X @ rng.standard_normal(50) + 1 + rng.standard_normal(len(X)) * (1 + X[:, 0] ** 2)
    ones = sm.add_constant(X)

    def ours() -> Array:
        rows = adaline.LinearRegression().fit(X, y).summary(errors="HC3", X=X, y=y).to_dict()["coefficients"]
        return np.array([row["std_error"] for row in rows])

    found = race(
        {OURS: ours, "statsmodels OLS, HC3": lambda: np.asarray(sm.OLS(y, ones).fit(cov_type="HC3").bse)},
        rounds=settings.rounds,
    )
    theirs = found["statsmodels OLS, HC3"].result
    rows = [
        [name, seconds(t.seconds), ratio(t.seconds / found[OURS].seconds), f"{np.abs(t.result / theirs - 1).max():.1e}"]
        for name, t in found.items()
    ]
    size = f"{X.shape[0]} x {X.shape[1]}"
    table = Table(f"fit and HC3 errors, {size}", ["", "time", "peer / ours", "difference from statsmodels"], rows)
    return Section("Robust standard errors", "Fit and standard errors together.", [table])


def _problem(rows: int, features: int, classes: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(2)
    y = rng.integers(0, classes, rows)
    return rng.standard_normal((rows, features)) + 0.3 * rng.standard_normal((classes, features))[y], y


def _table(caption: str, timings: dict[str, Any], X: Array, y: Array) -> Table:
    some = slice(0, 20_000)
    rows = [
        [
            name,
            seconds(timing.seconds),
            ratio(timing.seconds / timings[OURS].seconds),
            f"{np.mean(timing.result.predict(X[some]) == y[some]):.4f}",
        ]
        for name, timing in timings.items()
    ]
    return Table(caption, ["", "time", "peer / ours", "accuracy"], rows)
