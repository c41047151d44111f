"""The bootstrap: replicates equal to refits under the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaline import LinearRegression, Ridge
from adaline.block import Block
from adaline.estimator import clone
from adaline.inference.bootstrap import replicate_regression
from adaline.sums.replicates import Replicates

RNG = np.random.default_rng(0)
N, B = 120, 30
X = RNG.normal(size=(N, 3)) * [1.0, 1e3, 1e-3] + [0.0, 1e5, 3.0]
Y = X @ [1.0, 2e-3, 500.0] + RNG.standard_t(4, size=N)
BOTH = np.column_stack([Y, RNG.normal(size=N)])
COUNTS, PRECISIONS = RNG.integers(0, 4, N).astype(float), RNG.uniform(0.5, 2, N)


def theta(model: Any) -> Any:
    """Return the coefficients of all targets, one after the other."""
    return np.column_stack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_)]).ravel()


@pytest.mark.every
@pytest.mark.parametrize(
    ("model", "y", "weight"),
    [
        (LinearRegression(), Y, None),
        (LinearRegression(), BOTH, COUNTS),
        (LinearRegression(weights="precision"), Y, PRECISIONS),
        (LinearRegression(fit_intercept=False), Y, None),
        (Ridge(3.0), Y, COUNTS),
        (Ridge(0.1, fit_intercept=False), BOTH, None),
    ],
)
def test_replicates_equal_refits_under_the_same_weights(model: Any, y: Any, weight: Any) -> None:
    model = clone(model).fit(X, y, sample_weight=weight)
    source, sample = model._sources(X, y, weight)[0], model._sample()
    drawn = Replicates(0, B, seed=7, precision=sample.precision)
    found = replicate_regression(model._fits[0], source, sample, drawn).replicates
    each = drawn.weights(Block(X, Y[:, None], weight))[:, 1:]
    refits = np.array([theta(clone(model).fit(X, y, sample_weight=own)) for own in each.T])
    size = np.abs(refits).max(axis=0)
    np.testing.assert_allclose(found / np.where(size, size, 1), refits / np.where(size, size, 1), atol=1e-10)


def test_wild_replicates_equal_fits_to_residuals_with_other_signs() -> None:
    model = LinearRegression().fit(X, Y)
    source, drawn = model._sources(X, Y, None)[0], Replicates(0, B, seed=7)
    found = replicate_regression(model._fits[0], source, model._sample(), drawn, wild=True).replicates
    rows = model.influence(X, Y)
    residual = rows.residual / (1 - rows.leverage)
    signs = drawn.signs_of(np.arange(N, dtype=np.uint64))
    refits = [theta(LinearRegression().fit(X, model.predict(X) + own * residual)) for own in signs.T]
    np.testing.assert_allclose(found, refits, rtol=1e-9, atol=1e-9)


def test_a_replicate_without_the_only_row_of_a_level_is_left_out() -> None:
    level = np.column_stack([X[:, 0], np.arange(N) == 5])
    model = LinearRegression().fit(level, Y)
    drawn = Replicates(0, B, seed=7)
    source = model._sources(level, Y, None)[0]
    found = replicate_regression(model._fits[0], source, model._sample(), drawn).replicates
    weight = drawn.weights(Block(level, Y[:, None]))[5, 1:]
    assert (np.isnan(found).any(axis=1) == (weight == 0)).all()
    assert 0 < (weight == 0).sum() < B
