"""`penalty="auto"`: the losses along the path are those of refits without each fold, in a few passes a penalty."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LogisticRegression
from adaline.arrays import Array
from adaline.sources.views import fold_of


def rows(n: int, classes: int) -> tuple[Array, Array, Array]:
    """Return columns of unit deviation, labels, and weights of mean one."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 12)) @ rng.normal(size=(12, 12))
    weight = rng.integers(1, 4, n).astype(float)
    weight /= weight.mean()
    x = (x - np.average(x, axis=0, weights=weight)) / np.sqrt(np.cov(x.T, aweights=weight, ddof=0).diagonal())
    z = x @ rng.normal(size=12) * 0.3 + 1.5 * rng.normal(size=n)
    return x, np.digitize(z, np.quantile(z, np.arange(1, classes) / classes)), weight


def loss(model: LogisticRegression, x: Array, y: Array, weight: Array) -> float:
    """Return minus the log-likelihood of rows."""
    return float(-(weight * model.predict_log_proba(x)[np.arange(len(y)), y]).sum())


@pytest.mark.parametrize("classes", [2, 3])
def test_losses_of_the_path_are_those_of_refits(classes: int) -> None:
    x, y, weight = rows(1200, classes)
    model = LogisticRegression(penalty="auto", folds=4).fit(x, y, weight)
    fold = fold_of(0, len(y), 4)
    for i in (0, 3, 6, len(model.path_["values"]) - 1):
        total = 0.0
        for k in range(4):
            own, others = fold == k, fold != k
            one = LogisticRegression(penalty=float(model.path_["penalties"][i])).fit(
                x[others], y[others], weight[others]
            )
            total += loss(one, x[own], y[own], weight[own])
        assert model.path_["values"][i] == pytest.approx(total / weight.sum(), rel=1e-6)


def test_a_path_over_many_rows_takes_a_few_passes_a_penalty() -> None:
    x, y, weight = rows(20_000, 2)
    model = LogisticRegression(penalty="auto").fit(x, y, weight)
    assert model.certificate_.passes <= 4 * len(model.path_["values"]) + 10
