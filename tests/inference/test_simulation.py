"""Draws of coefficients and simulated answers: their distributions, by SciPy's, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from adaline import (
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OrdinalRegression,
    RobustRegression,
    datasets,
    simulate,
)
from adaline.arrays import Array
from adaline.errors import InvalidParameter, SumsMissing
from adaline.losses import Tweedie

RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 2))
MEAN = np.exp(0.6 + X @ [0.4, -0.3])
TARGETS: dict[str, Array] = {
    "poisson": RNG.poisson(MEAN),
    "gamma": RNG.gamma(3.0, MEAN / 3.0),
    "inverse_gaussian": RNG.wald(MEAN, 4.0),
    "gaussian": X @ [1.0, 2.0] + RNG.normal(size=300),
    "binomial": (RNG.uniform(size=300) < 1 / (1 + np.exp(-X[:, 0]))).astype(float),
    "negative_binomial": RNG.negative_binomial(2.0, 2.0 / (2.0 + MEAN)),
    "tweedie": RNG.gamma(np.maximum(count := RNG.poisson(MEAN), 1), 0.5) * (count > 0),
}
ROWS = np.repeat(X[:1], 4000, axis=0)


def theirs(name: str, model: Any, mean: float) -> Any:
    """Return the distribution of an answer, by SciPy."""
    phi = model.summary().parts[0].dispersion if name != "negative_binomial" else 1.0
    match name:
        case "gaussian":
            return stats.norm(mean, np.sqrt(phi))
        case "gamma":
            return stats.gamma(1 / phi, scale=phi * mean)
        case "inverse_gaussian":
            return stats.invgauss(mean * phi, scale=1 / phi)
        case "poisson":
            return stats.poisson(mean)
        case "binomial":
            return stats.bernoulli(mean)
    return stats.nbinom(model.shape_, model.shape_ / (model.shape_ + mean))


@pytest.mark.parametrize("name", list(TARGETS))
def test_answers_have_the_distribution_of_the_family(name: str) -> None:
    model = GeneralizedLinear(Tweedie(1.5) if name == "tweedie" else name).fit(X, TARGETS[name])
    mean = float(model.predict(X[:1])[0])
    found = simulate(model, ROWS, draws=1, coefficients="fitted")[0]
    if name == "tweedie":
        phi = model.summary().parts[0].dispersion
        assert found.mean() == pytest.approx(mean, rel=0.05)
        assert found.var() == pytest.approx(phi * mean**1.5, rel=0.1)
        assert (found == 0).mean() == pytest.approx(np.exp(-(mean**0.5) / (phi * 0.5)), abs=0.03)
        return
    known = theirs(name, model, mean)
    if name in ("gaussian", "gamma", "inverse_gaussian"):
        assert stats.kstest(found, known.cdf).pvalue > 1e-3
    else:
        values, counts = np.unique(found, return_counts=True)
        np.testing.assert_allclose(counts / 4000, known.pmf(values), atol=0.03)


@pytest.mark.parametrize("errors", ["classical", "HC3"])
def test_draws_have_the_covariance_of_the_errors(errors: Any) -> None:
    model = GeneralizedLinear("gamma").fit(X, TARGETS["gamma"])
    view = model.with_errors(errors, X, TARGETS["gamma"])
    found, table = view.draws(20_000), view.summary().parts[0]
    np.testing.assert_allclose(found.mean(axis=0), table.estimate, atol=4e-2 * table.std_error.max())
    np.testing.assert_allclose(found.std(axis=0), table.std_error, rtol=0.03)
    np.testing.assert_array_equal(found, view.draws(20_000))
    assert (found[:5] != view.draws(5, random_state=1)).all()


def test_quantiles_of_draws_are_prediction_intervals() -> None:
    y = TARGETS["gaussian"]
    model = LinearRegression().fit(X, y)
    _, lower, upper = model.predict(X[:3], interval="prediction")
    found = np.quantile(simulate(model, X[:3], draws=40_000), [0.025, 0.975], axis=0)
    np.testing.assert_allclose(found, [lower, upper], atol=0.06)
    both = simulate(LinearRegression().fit(X, np.column_stack([y, 10.0 * y])), X[:3], draws=50)
    assert both.shape == (50, 3, 2)
    assert both[:, :, 1].std() > 5 * both[:, :, 0].std()


@pytest.mark.parametrize("kind", [LogisticRegression, OrdinalRegression], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("labels", [["no", "yes"], ["a few", "b some", "c many"]], ids=len)
def test_classes_are_drawn_by_their_probabilities(kind: Any, labels: list[str]) -> None:
    y = np.array(labels)[np.digitize(TARGETS["poisson"], [2, 4][: len(labels) - 1])]
    model = kind().fit(X, y)
    found = simulate(model, ROWS, draws=1, coefficients="fitted")[0]
    shares = [(found == label).mean() for label in model.classes_]
    np.testing.assert_allclose(shares, model.predict_proba(X[:1])[0], atol=0.03)
    spread = np.array([(row == model.classes_[-1]).mean() for row in simulate(model, ROWS[:300], draws=50)])
    assert spread.std() > (0.25 / 300) ** 0.5 * 0.5


def test_offsets_and_columns_of_frames_count() -> None:
    data = datasets.load("penguins", target="body_mass_g")
    y = TARGETS["poisson"]
    model = GeneralizedLinear("poisson").fit(X, y, exposure=np.full(300, 2.0))
    few, many = (simulate(model, X, draws=20, exposure=np.full(300, size)).mean() for size in (1.0, 10.0))
    assert many == pytest.approx(10 * few, rel=0.05)
    with pytest.raises(InvalidParameter, match="fitted with an offset"):
        simulate(model, X)
    assert simulate(LinearRegression().fit(data.X, data.y), data.X, draws=2).shape == (2, len(data.y))


def test_what_is_not_simulated() -> None:
    y = TARGETS["poisson"]
    robust = RobustRegression().fit(X, y)
    assert robust.with_errors().draws(10).shape == (10, 3)
    with pytest.raises(InvalidParameter, match="no distribution of its answers"):
        simulate(robust, X)
    with pytest.raises(InvalidParameter, match="dispersion is estimated have no distribution"):
        simulate(GeneralizedLinear("poisson", dispersion="pearson").fit(X, y), X)
    with pytest.raises(InvalidParameter, match="draws must be"):
        simulate(GeneralizedLinear("poisson").fit(X, y), X, draws=0)
    with pytest.raises(SumsMissing, match="no draws"):
        simulate(LinearRegression().fit(X, X[:, 0]), X)
    with pytest.raises(InvalidParameter, match="KMeans"):
        simulate(KMeans(2).fit(X), X)
