"""The bootstrap: replicates equal to refits under the same weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, Ridge, datasets
from adaline.block import Block
from adaline.estimator import clone
from adaline.inference.bootstrap import likelihood_rows, regression_rows
from adaline.inference.bootstrap_intervals import bca_ends, percentile_ends, studentised_ends
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
    found = regression_rows(model._fits[0], source, sample).replicate(drawn).values
    each = drawn.weights(Block(X, Y[:, None], weight))[:, 1:]
    refits = np.array([theta(clone(model).fit(X, y, sample_weight=own)) for own in each.T])
    size = np.fmax(abs(refits).max(axis=0), 1e-300)
    np.testing.assert_allclose(found / size, refits / size, atol=1e-10)


ETA = (X - X.mean(axis=0)) @ [0.5, 5e-4, 200.0]
LABELS, THREE = (RNG.uniform(size=N) < 1 / (1 + np.exp(-ETA))).astype(int), RNG.integers(0, 3, N)
EVENTS, AMOUNTS = RNG.poisson(np.exp(ETA / 3)), RNG.gamma(3, np.exp(ETA / 3))
Family = GeneralizedLinear


@pytest.mark.every
@pytest.mark.parametrize(
    ("model", "y", "weight", "offset"),
    [
        (LogisticRegression(), LABELS, None, None),
        (LogisticRegression(fit_intercept=False, penalty=2.0), LABELS, COUNTS, None),
        (LogisticRegression(), THREE, COUNTS, None),
        (LogisticRegression(penalty=1.0), THREE, None, None),
        (Family("poisson"), EVENTS, None, X[:, 0]),
        (Family("poisson", fit_intercept=False), np.column_stack([EVENTS, EVENTS[::-1]]), COUNTS, None),
        (Family("gamma", link="log", weights="precision"), AMOUNTS, PRECISIONS, None),
        (Family("gamma", link="log", penalty=5.0), AMOUNTS, None, None),
        (Family("binomial", link="probit"), np.column_stack([EVENTS, EVENTS[::-1] + 1]), None, None),
    ],
)
def test_replicates_of_likelihoods_equal_refits(model: Any, y: Any, weight: Any, offset: Any) -> None:
    more = {} if offset is None else {"offset": offset}
    model = clone(model).fit(X, y, sample_weight=weight, **more)
    if isinstance(model, LogisticRegression):
        parts = [(model._fits[0], model._loss(), model._same_rows(X, y, weight)[0])]
    else:
        parts = list(zip(model._fits, model._row_losses(), model._same_rows(X, y, weight, offset, None), strict=True))
    drawn = Replicates(0, 10, seed=7, precision=getattr(model, "weights", "") == "precision")
    found = np.hstack([likelihood_rows(*part).replicate(drawn).values for part in parts])
    each = drawn.weights(Block(X, Y[:, None], weight))[:, 1:]
    refits = np.array([theta(clone(model).fit(X, y, sample_weight=own, **more)) for own in each.T])
    size = np.fmax(abs(refits).max(axis=0), 1e-300)
    np.testing.assert_allclose(found / size, refits / size, atol=1e-10)


def test_a_replicate_without_a_maximum_is_left_out() -> None:
    x = np.linspace(-2, 2, 20)[:, None]
    labels = (x[:, 0] > 0).astype(int)
    labels[5] = 1  # the only row that keeps a plane from separating the classes
    model = LogisticRegression().fit(x, labels)
    drawn = Replicates(0, B, seed=7)
    found = likelihood_rows(model._fits[0], model._loss(), model._same_rows(x, labels, None)[0]).replicate(drawn)
    weight = drawn.weights(Block(x, labels[:, None]))[:, 1:]
    overlap = [x[(labels == 1) & (own > 0)].min() < x[(labels == 0) & (own > 0)].max() for own in weight.T]
    assert (~np.isnan(found.values).any(axis=1) == overlap).all()
    assert 0 < sum(overlap) < B


def test_wild_replicates_equal_fits_to_residuals_with_other_signs() -> None:
    model = LinearRegression().fit(X, Y)
    source, drawn = model._sources(X, Y, None)[0], Replicates(0, B, seed=7)
    found = regression_rows(model._fits[0], source, model._sample()).replicate(drawn, wild=True).values
    rows = model.influence(X, Y)
    residual = rows.residual / (1 - rows.leverage)
    signs = drawn.signs(Block(X, Y[:, None]))
    refits = [theta(LinearRegression().fit(X, model.predict(X) + own * residual)) for own in signs.T]
    np.testing.assert_allclose(found, refits, rtol=1e-9, atol=1e-9)


def test_a_replicate_without_the_only_row_of_a_level_is_left_out() -> None:
    level = np.column_stack([X[:, 0], np.arange(N) == 5])
    model = LinearRegression().fit(level, Y)
    drawn = Replicates(0, B, seed=7)
    source = model._sources(level, Y, None)[0]
    found = regression_rows(model._fits[0], source, model._sample()).replicate(drawn).values
    weight = drawn.weights(Block(level, Y[:, None]))[5, 1:]
    assert (np.isnan(found).any(axis=1) == (weight == 0)).all()
    assert 0 < (weight == 0).sum() < B


class Given(Replicates):
    """Replicates with weights that are given, for one block of rows."""

    given: Any

    def weights(self, block: Block) -> Any:
        return np.column_stack([np.ones(block.rows), self.given.T])


def test_intervals_equal_those_of_r() -> None:
    """R's boot, of the same replicates, the jackknife of the rows, and their HC0 errors."""
    known = json.loads((Path(__file__).parents[1] / "data/bootstrap/bootstrap.json").read_text())
    data = datasets.load("penguins", target="body_mass_g")
    x, y = data.X[:40, [0, 2]], data.y[:40]
    model = LinearRegression().fit(x, y)
    rows = regression_rows(model._fits[0], model._sources(x, y, None)[0], model._sample())
    drawn = Given(0, len(known["weights"]), 0)
    Given.given = np.array([list(map(int, own)) for own in known["weights"]])
    found = rows.replicate(drawn)
    errors = rows.errors(drawn, found)
    acceleration = rows.acceleration()
    np.testing.assert_allclose(acceleration, known["acceleration"], rtol=1e-9)
    np.testing.assert_allclose(errors[[0, -1]], [known["errors"], known["last_errors"]], rtol=1e-9)
    ends = {
        "percentile": percentile_ends(found.values, 0.9),
        "bca": bca_ends(found.values, found.estimate, acceleration, 0.9),
        "studentised": studentised_ends(found.values, errors[1:], found.estimate, errors[0], 0.9),
    }
    for name, own in ends.items():
        np.testing.assert_allclose(own.T, known[name], rtol=1e-8, err_msg=name)
