"""Negative binomial regression whose shape is estimated, at the most likely shape and weights."""

from __future__ import annotations

import numpy as np

from benchmarks.registry import Settings, benchmark
from benchmarks.report import Section, Table, ratio, seconds
from benchmarks.timing import race

OURS = "adaline"


@benchmark("counts")
def counts(settings: Settings) -> Section:
    """Weights and shape together."""
    import statsmodels.api as sm

    import adaline

    rng, rows, features = np.random.default_rng(0), settings.rows(50_000), 30
    X = rng.standard_normal((rows, features))
    mean = np.exp(0.5 + X @ (0.1 * rng.standard_normal(features)))
    y = rng.negative_binomial(2, 2 / (2 + mean)).astype(float)
    design = sm.add_constant(X)
    found = race(
        {
            OURS: lambda: adaline.GeneralizedLinear(loss="negative_binomial").fit(X, y).coef_,
            "statsmodels, BFGS": lambda: sm.NegativeBinomial(y, design).fit(disp=0).params[1:-1],
            "statsmodels, Newton": lambda: sm.NegativeBinomial(y, design).fit(disp=0, method="newton").params[1:-1],
        },
        rounds=min(settings.rounds, 3),
    )
    ours = found[OURS]
    lines = [
        (name, seconds(t.seconds), ratio(t.seconds / ours.seconds), f"{np.abs(t.result - ours.result).max():.1e}")
        for name, t in found.items()
    ]
    table = Table(f"{rows} x {features}", ("", "time", "peer / ours", "distance from us"), lines)
    return Section("Negative binomial regression", "Everybody at default tolerances, ours to the last digits.", [table])
