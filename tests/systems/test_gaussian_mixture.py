"""Mixtures of Gaussians: results from outside, scikit-learn's on the same start, likelihood, units, classes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer

import adaline
from adaline import GaussianClassifier, GaussianMixture
from adaline.errors import InvalidData, InvalidParameter

Array = NDArray[Any]
KINDS = ("full", "tied", "diag", "spherical")
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def rows(n: int = 600, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(3, 3, 3))
    group = rng.integers(0, 3, n)
    return np.einsum("nij,nj->ni", mixed[group], rng.normal(size=(n, 3))) + 3 * rng.normal(size=(3, 3))[group]


def start(X: Array, kind: str, k: int = 3) -> dict[str, Any]:
    """Return parameters to start from, as both libraries take them."""
    shapes = {
        "full": np.stack([np.eye(X.shape[1])] * k),
        "tied": np.eye(X.shape[1]),
        "diag": np.ones((k, X.shape[1])),
        "spherical": np.ones(k),
    }
    first = {"weights_init": np.full(k, 1 / k), "means_init": X[:k], "precisions_init": shapes[kind] / X.var()}
    return {"n_components": k, "covariance_type": kind, **first}


IRIS = {  # from the M step of the species, no floor: log-likelihood, weights, means of the second component
    "full": (
        -180.18547713130343,
        [0.3333333333333333, 0.29919318773620984, 0.36747347893045684],
        [5.914969588219836, 2.777843646678207, 4.201553225699907, 1.2969668525668931],
    ),
    "tied": (
        -256.3540431255831,
        [0.33333333333392606, 0.32960757098964105, 0.33705909567643294],
        [5.942320944644369, 2.7607596673771497, 4.258687046612943, 1.3191950421335952],
    ),
    "diag": (
        -306.8604605062111,
        [0.3333333333326233, 0.3051483136585425, 0.3615183530088344],
        [5.834612311035751, 2.7001137118131013, 4.222487711300726, 1.3044157830102245],
    ),
}


@pytest.mark.parametrize("kind", IRIS)
def test_iris_from_its_species(kind: str) -> None:
    """Computed outside by EM to the fixed point; mclust prints the same likelihoods."""
    X, species = load_iris(return_X_y=True)
    means = np.stack([X[species == k].mean(axis=0) for k in range(3)])
    covariances = np.stack([np.cov(X[species == k].T, bias=True) for k in range(3)])
    if kind == "tied":
        precisions = np.linalg.inv(covariances.mean(axis=0))
    else:
        precisions = np.linalg.inv(covariances) if kind == "full" else 1 / np.diagonal(covariances, axis1=1, axis2=2)
    model = GaussianMixture(
        n_components=3,
        covariance_type=kind,
        reg_covar=0,
        tol=0,
        max_iter=2000,
        weights_init=np.full(3, 1 / 3),
        means_init=means,
        precisions_init=precisions,
    ).fit(X)
    value, weights, mean = IRIS[kind]
    assert model.converged_
    assert model.score(X) * 150 == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(model.weights_, weights, rtol=1e-9)
    np.testing.assert_allclose(model.means_[1], mean, rtol=1e-9)
    assert np.diff(model.history_).min() > -1e-13


@EVERY_KIND
@pytest.mark.parametrize("floor", [0.0, 1e-6, 0.1])
def test_the_same_start_ends_where_scikit_learn_does(kind: str, floor: float) -> None:
    X = rows()
    settings = {**start(X, kind), "reg_covar": floor, "tol": 1e-4, "max_iter": 500}
    ours, theirs = GaussianMixture(**settings).fit(X), Peer(**settings).fit(X)
    assert (ours.converged_, ours.n_iter_) == (theirs.converged_, theirs.n_iter_)
    names = ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "lower_bound_")
    for name in names:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10, err_msg=name)
    for name in ("predict", "predict_proba", "score_samples", "score", "bic", "aic"):
        np.testing.assert_allclose(getattr(ours, name)(X), getattr(theirs, name)(X), rtol=1e-7, atol=1e-9)


@EVERY_KIND
@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random_from_data", "random"])
def test_the_likelihood_never_falls(kind: str, how: str) -> None:
    X = rows(300)
    settings = {"covariance_type": kind, "init_params": how, "tol": 1e-9, "max_iter": 3000}
    model = GaussianMixture(n_components=4, **settings).fit(X)
    assert np.diff(model.history_).min() > -1e-12
    assert model.history_[-1] == model.lower_bound_
    assert model.score(X) >= model.lower_bound_ - 1e-9
    assert model.certificate_.objective == pytest.approx(-model.lower_bound_ * len(X))
    assert model.weights_.sum() == pytest.approx(1.0)


def test_a_floor_that_lowers_the_likelihood_ends_the_run() -> None:
    X = rows()
    sharp = GaussianMixture(n_components=3, reg_covar=0, tol=0, max_iter=2000).fit(X)
    start = {f"{name}_init": getattr(sharp, f"{name}_") for name in ("weights", "means", "precisions")}
    model = GaussianMixture(n_components=3, reg_covar=2.0, **start).fit(X)
    assert len(model.history_) == 1
    np.testing.assert_allclose(model.means_, sharp.means_)
    assert model.lower_bound_ == pytest.approx(sharp.lower_bound_)


@EVERY_KIND
def test_units_do_not_matter(kind: str) -> None:
    X = rows()
    unit, shift = (np.full(3, 2.0**40), 0.0) if kind == "spherical" else (np.array([2.0**40, 1.0, 2.0**-60]), 2.0**20)
    make = partial(GaussianMixture, n_components=3, covariance_type=kind, reg_covar=0, tol=1e-8, max_iter=1000)
    plain, other = (make().fit(x) for x in (X, X * unit + shift * unit))
    np.testing.assert_allclose(other.weights_, plain.weights_, rtol=1e-6)
    np.testing.assert_allclose(other.means_ / unit - shift, plain.means_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(other.predict(X * unit + shift * unit), plain.predict(X))
    assert other.lower_bound_ == pytest.approx(plain.lower_bound_ - np.log(unit).sum(), rel=1e-9)
    (X, y), unit = alternating(600), np.array([2.0**30, 2.0**-30])
    plain, other = (GaussianClassifier(components=2, covariance="full").fit(x, y) for x in (X, X * unit))
    np.testing.assert_allclose(other.predict_proba(X * unit), plain.predict_proba(X), rtol=1e-9, atol=1e-12)


@EVERY_KIND
def test_densities_are_those_of_scipy(kind: str) -> None:
    X = rows()
    model = GaussianMixture(n_components=3, covariance_type=kind).fit(X)
    c = model.covariances_
    every = {"full": c, "tied": [c] * 3, "diag": [np.diag(v) for v in c] if kind == "diag" else None}
    each = every[kind] if kind in every else [v * np.eye(3) for v in c]
    densities = [stats.multivariate_normal(model.means_[k], each[k]).pdf(X) for k in range(3)]
    parts = model.weights_[:, None] * np.stack(densities)
    density = np.sum(parts, axis=0)
    np.testing.assert_allclose(model.score_samples(X), np.log(density), rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), (parts / density).T, rtol=1e-8, atol=1e-12)
    factors = model.precisions_cholesky_
    product = factors @ np.swapaxes(factors, -1, -2) if kind in ("full", "tied") else factors**2
    np.testing.assert_allclose(product, model.precisions_, rtol=1e-10)


@EVERY_KIND
def test_samples_come_from_the_mixture(kind: str) -> None:
    make = partial(GaussianMixture, n_components=3, covariance_type=kind)
    model = make().fit(rows())
    drawn, labels = model.sample(20_000)
    again = make(means_init=model.means_, tol=1e-6, max_iter=500).fit(drawn)
    np.testing.assert_allclose(np.bincount(labels) / len(labels), model.weights_, atol=0.015)
    np.testing.assert_allclose(again.means_, model.means_, atol=0.2)
    np.testing.assert_allclose(again.covariances_, model.covariances_, atol=0.08 * np.abs(model.covariances_).max())


def test_bic_finds_the_number_of_components() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(450, 2)) + np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[rng.integers(0, 3, 450)]
    models = [GaussianMixture(n_components=k, n_init=2, max_iter=500).fit(X) for k in range(1, 5)]
    assert int(np.argmin([model.bic(X) for model in models])) + 1 == 3
    for name in ("bic", "aic"):
        criterion = getattr(models[2], name)
        assert criterion(X, sample_weight=np.full(len(X), 2.0)) == pytest.approx(criterion(np.concatenate([X, X])))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_warm_starts_go_on() -> None:
    X = rows()
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 steps"):
        model = GaussianMixture(n_components=3, warm_start=True, max_iter=2, tol=1e-9).fit(X)
    assert model.certificate_.status is adaline.Status.NOT_CONVERGED
    before = model.score(X)
    model.set_params(max_iter=1000).fit(X)
    assert model.history_[0] == pytest.approx(before, rel=1e-9)
    assert model.converged_
    whole, single = (GaussianMixture(n_components=3, tol=1e-4, **more) for more in ({}, {"warm_start": True}))
    single.set_params(max_iter=1)
    calls = next(calls for calls in range(1, 200) if single.fit(X).converged_)
    assert calls == whole.fit(X).n_iter_
    assert single.certificate_.status is whole.certificate_.status
    assert single.lower_bound_ == pytest.approx(whole.lower_bound_, rel=1e-9)


def test_a_component_without_rows_stays_and_weighs_nothing() -> None:
    X = rows()
    model = GaussianMixture(n_components=2, means_init=[[0.0] * 3, [1e6] * 3], max_iter=200).fit(X)
    assert np.isfinite(model.means_).all()
    assert model.weights_[1] == 0
    assert np.isfinite(model.score_samples(X)).all()
    assert (model.predict(X) == 0).all()


def test_singular_covariances_are_told() -> None:
    X = rows()
    X[:, 2] = X[:, 0] + X[:, 1]
    with pytest.raises(InvalidData, match=r"singular.*reg_covar"):
        GaussianMixture(n_components=2, reg_covar=0).fit(X)
    assert GaussianMixture(n_components=2, covariance_type="diag", reg_covar=0).fit(X).converged_
    constant = np.column_stack([rows(), np.full(600, 7.0)])
    assert GaussianMixture(n_components=3).fit(constant).covariances_[0, 3, 3] == pytest.approx(1e-6)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"n_components": 0}, "n_components"),
        ({"covariance_type": "round"}, "covariance_type"),
        ({"init_params": "best"}, "init_params"),
        ({"reg_covar": -1e-9}, "reg_covar"),
        ({"weights_init": [0.5, 0.6]}, "weights_init"),
        ({"means_init": [[1.0]]}, "means_init"),
        ({"precisions_init": np.zeros((2, 3, 3))}, "precisions_init"),
        ({"precisions_init": -np.stack([np.eye(3)] * 2)}, "precisions_init"),
        ({"tol": np.nan}, "tol"),
        ({"n_init": 0}, "n_init"),
    ],
)
def test_arguments_that_mean_nothing(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidParameter, match=word):
        GaussianMixture(**{"n_components": 2, **wrong}).fit(rows(50))


def alternating(n: int = 1500) -> tuple[Array, Array]:
    """Two classes, each in two places, one after the other along a line: no one normal density will do."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, n)
    X = np.array([[0.0, 0.0], [10.0, 10.0], [5.0, 5.0], [15.0, 15.0]])[group] + rng.normal(size=(n, 2))
    return X, np.where(group < 2, "even", "odd")


@pytest.mark.parametrize("covariance", ["shared", "tied", "full", "diag", "spherical", "identity"])
def test_bayes_decision_with_mixture_densities(covariance: str, tmp_path: Path) -> None:
    X, y = alternating(600)
    one, two = (GaussianClassifier(covariance=covariance, components=m).fit(X, y) for m in (1, 2))
    assert one.score(X, y) < 0.8
    assert two.score(X, y) > 0.97
    assert two.means_.shape == (2, 2, 2)
    np.testing.assert_allclose(two.weights_.sum(axis=1), 1.0)
    np.testing.assert_allclose(two.predict_proba(X).sum(axis=1), 1.0)
    kind = {"shared": "tied", "identity": "spherical"}.get(covariance, covariance)
    for k, label in enumerate(two.classes_):
        own = X[y == label]
        alone = GaussianMixture(n_components=2, covariance_type=kind, tol=1e-6).fit(own)
        assert two.log_likelihood(own)[:, k].mean() == pytest.approx(alone.score(own), rel=1e-4)


def test_mixtures_of_classes_need_all_rows() -> None:
    X, y = alternating(400)
    model = GaussianClassifier(components=2, covariance="full").fit(X, y)
    for call, words in (
        (lambda: model.partial_fit(X, y), "in one go"),
        (lambda: model.forget(X[:9], y[:9]), "in one go"),
        (lambda: model.merge(GaussianClassifier().fit(X, y)), "in one go"),
        (lambda: model.mahalanobis(X), "log_likelihood"),
        (lambda: GaussianClassifier(components=2, shrinkage=0.1).fit(X, y), "shrinkage"),
        (lambda: GaussianClassifier(components=0).fit(X, y), "components"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            call()
    back = model.set_params(components=1).fit(X, y)
    assert not hasattr(back, "weights_")
    assert back.mahalanobis(X).shape == (400, 2)


@pytest.mark.parametrize("components", [1, 2])
def test_rows_whose_densities_overflow_are_refused(components: int) -> None:
    x = rows(90)
    model = GaussianClassifier(covariance="full", components=components).fit(x, np.arange(90) % 2)
    for predict in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(InvalidData, match="row 1 overflows float64"):
            predict(x[:2] * np.array([[1.0], [1e200]]))
