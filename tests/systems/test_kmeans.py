"""K-means: known solutions, scikit-learn's on the same start, monotone error, empty clusters, scale."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans as Peer
from sklearn.datasets import load_iris

from adaline import KMeans, Status
from adaline.errors import InvalidParameter
from adaline.solvers.clusters.starts import k_means_plus_plus

Array = NDArray[Any]


def rows(n: int = 1000, d: int = 6, k: int = 5, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 3 * rng.normal(size=(k, d))[rng.integers(0, k, n)]


def test_iris_from_one_flower_of_each_species() -> None:
    """Computed outside, and printed in many places: 78.851441426146."""
    X = load_iris().data
    model = KMeans(n_clusters=3, init=X[[0, 50, 100]], tol=0).fit(X)
    centres = [
        [5.005999999999999, 3.428000000000001, 1.4620000000000002, 0.2459999999999999],
        [5.901612903225807, 2.748387096774194, 4.393548387096775, 1.4338709677419357],
        [6.8500000000000005, 3.073684210526315, 5.742105263157893, 2.0710526315789473],
    ]
    assert model.inertia_ == pytest.approx(78.85144142614601, rel=1e-13)
    np.testing.assert_allclose(model.cluster_centers_, centres, rtol=1e-13)
    assert np.bincount(model.labels_).tolist() == [50, 62, 38]
    assert model.n_iter_ == 4  # three moves, and one that moves nothing
    assert KMeans(n_clusters=3, n_init=5).fit(X).inertia_ == pytest.approx(78.851441426146, rel=1e-12)


@pytest.mark.parametrize("form", [np.float64, np.float32, sparse.csr_array], ids=["float64", "float32", "sparse"])
@pytest.mark.parametrize(("tol", "weighted"), [(0.0, False), (1e-4, True), (0.0, True)])
def test_the_same_start_ends_where_scikit_learn_does(form: Any, tol: float, weighted: bool) -> None:
    X = rows().astype(np.float32).astype(np.float64)
    given = form(np.where(X > 0.5, X, 0.0)) if form is sparse.csr_array else X.astype(form)
    X = given.toarray() if form is sparse.csr_array else X
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    ours = KMeans(n_clusters=7, init=X[:7], tol=tol).fit(given, sample_weight=weight)
    theirs = Peer(n_clusters=7, init=X[:7], tol=tol, n_init=1).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.predict(given), theirs.predict(X))
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9, atol=1e-12)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.transform(given), theirs.transform(X), rtol=1e-9)
    assert ours.score(given, sample_weight=weight) == pytest.approx(theirs.score(X, sample_weight=weight), rel=1e-12)
    assert ours.get_feature_names_out().tolist() == [f"kmeans{k}" for k in range(7)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_the_error_never_rises_and_it_ends(seed: int, init: str) -> None:
    X = rows(seed=seed)
    model = KMeans(n_clusters=20, init=init, n_init=1, tol=0, random_state=seed).fit(X)
    history = np.array(model.history_)
    assert (np.diff(history) <= 1e-13 * history[0]).all()
    assert history[-1] == pytest.approx(model.inertia_, rel=1e-12)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.objective == model.inertia_
    short = KMeans(n_clusters=20, init=init, n_init=1, tol=0, random_state=seed, max_iter=2).fit(X)
    assert short.certificate_.status is Status.NOT_CONVERGED
    assert short.n_iter_ == 2
    assert short.history_[-1] == short.inertia_ <= short.history_[0]


def test_centres_that_lose_their_rows_move_to_the_farthest_row() -> None:
    X = np.concatenate([rows(300, 2), [[50.0, 50.0], [60.0, -60.0]]])
    start = np.concatenate([X[:2], np.full((3, 2), 1e4)])  # three that no row is near to
    model = KMeans(n_clusters=5, init=start, tol=0).fit(X)
    assert len(np.unique(model.labels_)) == 5
    assert (np.diff(model.history_) <= 0).all()
    assert model.labels_[-1] != model.labels_[-2]
    few = KMeans(n_clusters=4).fit(np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0))
    assert few.inertia_ == 0
    assert len(np.unique(few.labels_)) == 2


def test_spread_out_starts_beat_random_ones_and_more_starts_are_never_worse() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 2)) + 30 * rng.normal(size=(30, 2))[rng.integers(0, 30, 900)]
    errors = {
        init: np.mean([KMeans(n_clusters=30, init=init, n_init=1, random_state=s).fit(X).inertia_ for s in range(6)])
        for init in ("k-means++", "random")
    }
    assert errors["k-means++"] < 0.5 * errors["random"]
    one, many = (KMeans(n_clusters=8, init="random", n_init=n).fit(X) for n in (1, 12))
    assert many.inertia_ <= one.inertia_
    assert "best of 12 starts" in many.certificate_.solver


def test_a_start_is_any_row_with_weight() -> None:
    rows, weight = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([1.0, 2.0, 1.0, 0.5])
    for seed in range(8):
        found = k_means_plus_plus(rows, weight, 2, np.random.default_rng(seed))
        assert sorted(found.ravel()) == [0.0, 1.0]


def test_far_from_zero() -> None:
    """Also groups that are tight and far apart keep their error."""
    X = rows(seed=2)
    plain, far = (KMeans(n_clusters=5, tol=0, init=x[:5]).fit(x) for x in (X, X + 2.0**30))
    np.testing.assert_array_equal(far.labels_, plain.labels_)
    assert far.inertia_ == pytest.approx(plain.inertia_, rel=1e-6)  # what is left of X after rounding
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 600)
    X = np.array([[0.0], [1e6], [-1e6]])[group] + 1e-4 * rng.normal(size=(600, 1))
    exact = sum(((X[group == k] - X[group == k].mean()) ** 2).sum() for k in range(3))
    assert KMeans(n_clusters=3).fit(X).inertia_ == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 2.5}, "n_clusters"),
        ({"init": "best"}, "init"),
        ({"init": [[1.0, 2.0]]}, "init"),
        ({"init": "random", "n_init": "many"}, "n_init"),
        ({"n_init": 0}, "n_init"),
        ({"tol": -1.0}, "tol"),
    ],
)
def test_arguments_that_mean_nothing(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidParameter, match=word):
        KMeans(**{"n_clusters": 2, **wrong}).fit(rows(50))


@pytest.mark.parametrize("exponent", [-900, -660, 660, 900])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_powers_of_two_scale_the_centres_and_nothing_else(kind: str, exponent: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + np.repeat([[0.0], [6.0], [12.0]], 30, axis=0)
    made: Any = sparse.csr_array if kind == "sparse" else np.asarray
    scale = 2.0**exponent
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain, scaled = KMeans(n_clusters=3).fit(made(X)), KMeans(n_clusters=3).fit(made(X * scale))
        np.testing.assert_allclose(scaled.cluster_centers_ / scale, plain.cluster_centers_, rtol=1e-14, atol=1e-14)
        np.testing.assert_array_equal(scaled.labels_, plain.labels_)
        np.testing.assert_array_equal(scaled.predict(made(X * scale)), plain.labels_)
        np.testing.assert_allclose(scaled.transform(made(X * scale)) / scale, plain.transform(made(X)), rtol=1e-13)
    assert scaled.certificate_.status is (Status.OUT_OF_RANGE if exponent > 0 else plain.certificate_.status)
    assert scaled.n_iter_ == plain.n_iter_
    assert scaled.inertia_ == (np.inf if exponent > 0 else 0.0)
    assert scaled.score(made(X * scale)) == -scaled.inertia_
