"""Laws of the classifiers that are solved from class moments, and what the lectures say of them."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import array_api_strict
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn import linear_model
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import adaline
from adaline import FisherDiscriminant, GaussianClassifier, LeastSquaresClassifier, LinearRegression, Ridge, datasets
from adaline.arrays import Array
from adaline.errors import AdalineError, InvalidData, InvalidParameter, SumsMissing, UnsafeForget
from adaline.results import Status
from adaline.sources import array
from adaline.sources.views import assign_folds, fold_of
from adaline.systems import SYSTEMS, ClosedFormClassifier

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "GaussianClassifier": [{"covariance": "full"}, {"covariance": "diag"}, {"shrinkage": 0.3}],
    "FisherDiscriminant": [{"threshold": "prior"}],
    "LeastSquaresClassifier": [{"coding": "signed"}, {"fit_intercept": False}],
}
EVERY = [
    pytest.param(lambda cls=cls, kw=kw: cls(**kw), id=f"{name}{kw or ''}")
    for name, cls in SYSTEMS.items()
    if issubclass(cls, ClosedFormClassifier)
    for kw in ({}, *SETTINGS.get(name, []))
]
LINEAR = [GaussianClassifier, FisherDiscriminant, LeastSquaresClassifier]


def data(classes: int = 3, n: int = 240, d: int = 4, seed: int = 0) -> tuple[Array, NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * rng.normal(size=(classes, d))[y]
    return X, y


def scores(model: Any, X: Any) -> Array:
    return np.asarray(model.decision_function(X))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", EVERY)
def test_pieces_and_parts_equal_one_fit(make: Any, classes: int) -> None:
    X, y = data(classes)
    expected = scores(make().fit(X, y), X)
    pieces = make()
    for part in np.array_split(np.arange(len(y)), 5):
        pieces.partial_fit(X[part], y[part], classes=np.arange(classes))
    np.testing.assert_allclose(scores(pieces, X), expected, rtol=1e-9, atol=1e-10)
    merged = make().fit(X[:80], y[:80]).merge(make().fit(X[80:], y[80:]))
    np.testing.assert_allclose(scores(merged, X), expected, rtol=1e-9, atol=1e-10)
    more = make().fit(X, y).partial_fit(3 * X[:30], y[:30]).forget(3 * X[:30], y[:30])
    np.testing.assert_allclose(scores(more, X), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.usefixtures("blas_threads")
@pytest.mark.parametrize("make", EVERY)
def test_weights_are_repetitions_and_threads_change_no_bit(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(n=150)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(scores(make().fit(X, y, weight), X), scores(repeated, X), rtol=1e-9, atol=1e-10)
    big, labels = np.tile(X, (20, 1)), np.tile(y, 20)
    monkeypatch.setattr(array, "block_rows", lambda features: 100)
    found = []
    for threads in (1, 2, 3, 8):
        adaline.set_threads(threads)
        found.append(scores(make().fit(big, labels), X))
    adaline.set_threads(None)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("make", EVERY)
def test_units_change_nothing(make: Any) -> None:
    X, y = data()
    plain = scores(make().fit(X, y), X)
    two = 2.0 ** np.array([-20, 3, 11, 40])
    by_two = scores(make().fit(X * two, y), X * two)
    if hasattr(make().fit(X, y), "coef_"):
        np.testing.assert_array_equal(by_two, plain)
    ten = 10.0 ** np.array([-12, 0, 5, 12])
    for found in (by_two, scores(make().fit(X * ten, y), X * ten)):  # densities have units, their ratios have none
        np.testing.assert_allclose(found - found[:, :1], plain - plain[:, :1], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("make", EVERY)
def test_other_containers_give_the_same(make: Any) -> None:
    X, y = data()
    expected = scores(make().fit(X, y), X)
    for rows in (np.asfortranarray(X), X[::-1][::-1], sparse.csr_array(X), sparse.coo_matrix(X)):
        np.testing.assert_allclose(scores(make().fit(rows, y), X), expected, rtol=1e-8, atol=1e-9)
    there = make().fit(array_api_strict.asarray(X), array_api_strict.asarray(y))
    np.testing.assert_allclose(scores(there, array_api_strict.asarray(X)), expected, rtol=1e-9, atol=1e-10)
    words = np.array(["ham", "spam", "eggs"])[y]
    model = make().fit(X, words)
    assert set(model.predict(X)) <= set(words)


def test_shared_covariance_is_scikit_learns_lda() -> None:
    X, y = data()
    ours = GaussianClassifier().fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.coef_ - ours.coef_[0], theirs.coef_ - theirs.coef_[0], rtol=1e-9, atol=1e-10)


def test_full_and_diagonal_are_the_densities_they_say() -> None:
    X, y = data()
    full = GaussianClassifier(covariance="full").fit(X, y)
    for k in range(3):
        rows = X[y == k]
        density = stats.multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
        np.testing.assert_allclose(full.log_likelihood(X)[:, k], density.logpdf(X), rtol=1e-9)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    assert np.mean(full.predict(X) == quadratic.predict(X)) > 0.98
    naive = GaussianNB(var_smoothing=0.0).fit(X, y)
    diagonal = GaussianClassifier(covariance="diag").fit(X, y)
    np.testing.assert_allclose(diagonal.predict_proba(X), naive.predict_proba(X), rtol=1e-8, atol=1e-12)


def test_the_logit_is_that_of_the_lecture() -> None:
    """(5.40) and (5.41), C1 being classes_[1]."""
    X, y = data(2)
    model = GaussianClassifier().fit(X, y)
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    inverse = np.linalg.inv(sum((X[y == k] - means[k]).T @ (X[y == k] - means[k]) for k in (0, 1)) / len(y))
    beta = inverse @ (means[1] - means[0])
    gamma = np.log(np.mean(y) / np.mean(y == 0)) + (means[0] @ inverse @ means[0] - means[1] @ inverse @ means[1]) / 2
    np.testing.assert_allclose(model.beta_, beta, rtol=1e-10)
    assert model.gamma_ == pytest.approx(gamma, rel=1e-10)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.gamma_ - X @ model.beta_)), rtol=1e-9
    )
    away = X - means[1]
    np.testing.assert_allclose(model.mahalanobis(X)[:, 1], np.einsum("nd,de,ne->n", away, inverse, away), rtol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_fisher_gaussian_and_least_squares_are_one_direction(shift: float) -> None:
    X, y = data(2)
    X = X * [1.0, 1e5, 1e-4, 3.0] + shift
    directions = [
        GaussianClassifier().fit(X, y).coef_[0],
        FisherDiscriminant().fit(X, y).coef_[0],
        LeastSquaresClassifier(coding="fisher").fit(X, y).coef_[0],
    ]
    units = X.std(axis=0)
    turned = [d * units / np.linalg.norm(d * units) for d in directions]
    for other in turned[1:]:
        np.testing.assert_allclose(other, turned[0], rtol=0, atol=1e-10 if shift == 0 else 1e-9)


def test_fisher_maximises_its_criterion_and_has_unit_spread() -> None:
    X, y = data(2)
    model = FisherDiscriminant().fit(X, y)

    def criterion(w: Array) -> float:
        z = X @ w
        low, high = z[y == 0], z[y == 1]
        return float(
            (high.mean() - low.mean()) ** 2 / (((low - low.mean()) ** 2).sum() + ((high - high.mean()) ** 2).sum())
        )

    w = model.coef_[0]
    assert model.criterion_ == pytest.approx(criterion(w), rel=1e-10)
    rng = np.random.default_rng(0)
    assert all(criterion(w + 0.1 * rng.normal(size=4) * np.abs(w)) <= model.criterion_ for _ in range(50))
    z = X @ w
    assert sum(((z[y == k] - z[y == k].mean()) ** 2).sum() for k in (0, 1)) / len(y) == pytest.approx(1.0)
    identity = FisherDiscriminant(covariance="identity").fit(X, y)
    assert identity.criterion_ < model.criterion_
    apart = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    np.testing.assert_allclose(identity.coef_[0], apart / np.linalg.norm(apart), rtol=1e-10)


def test_fisher_projections_of_many_classes_are_those_of_lda() -> None:
    X, y = data(4)
    model = FisherDiscriminant().fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).transform(X)
    for k in range(3):
        assert abs(np.corrcoef(model.transform(X)[:, k], theirs[:, k])[0, 1]) > 1 - 1e-10
    equal = GaussianClassifier(priors=np.full(4, 0.25)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), equal.predict(X))
    np.testing.assert_array_equal(
        FisherDiscriminant(threshold="prior").fit(X, y).predict(X), GaussianClassifier().fit(X, y).predict(X)
    )
    assert FisherDiscriminant(components=2).fit(X, y).transform(X).shape == (len(y), 2)


def test_least_squares_is_regression_on_the_codes() -> None:
    X, y = data()
    model = LeastSquaresClassifier().fit(X, y)
    regression = LinearRegression().fit(X, np.eye(3)[y])
    np.testing.assert_allclose(model.coef_, regression.coef_, rtol=1e-12)
    np.testing.assert_allclose(scores(model, X), regression.predict(X), rtol=1e-12, atol=1e-12)
    assert model.certificate_.digits > 14
    X, y = data(2)
    signed = LeastSquaresClassifier(coding="signed", threshold=0.2).fit(X, y)
    plain = LinearRegression().fit(X, 2.0 * y - 1)
    np.testing.assert_allclose(scores(signed, X), plain.predict(X) - 0.2, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(LeastSquaresClassifier().fit(X, y).predict(X), plain.predict(X) > 0)


def test_a_singular_scatter_is_said_and_survived() -> None:
    X, y = data(2)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(y))])
    for system in LINEAR:
        model = system().fit(X, y)
        assert model.certificate_.status in (Status.RANK_DEFICIENT, Status.RANK_UNCERTAIN)
        np.testing.assert_array_equal(model.predict(X), system().fit(X[:, :4], y).predict(X[:, :4]))
    wide = np.random.default_rng(0).normal(size=(30, 60))
    for system in LINEAR:
        assert np.isfinite(scores(system().fit(wide, np.arange(30) % 3), wide)).all()


def test_penguins_are_told_apart() -> None:
    data_ = datasets.load("penguins", target="species")
    for system in LINEAR:
        assert system().fit(data_.X, data_.y).score(data_.X, data_.y) > 0.95


@pytest.mark.parametrize("make", EVERY)
def test_bad_input(make: Any) -> None:
    X, y = data(2)
    with pytest.raises(InvalidData, match="one class"):
        make().fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(InvalidData, match="inconsistent numbers of samples"):
        make().fit(X, y[:-1])
    with pytest.raises(InvalidData, match="y"):
        make().fit(X, None)
    with pytest.raises(InvalidData, match="continuous"):
        make().fit(X, X[:, 0])
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(InvalidData, match="NaN: first at row 7, column 'x2'"):
        make().fit(bad, y)
    model = make().fit(X, y)
    with pytest.raises(InvalidData, match="NaN: first at row 7, column 'x2'"):
        model.predict(bad)
    before = scores(model, X)
    with pytest.raises(UnsafeForget):
        model.forget(np.tile(X, (3, 1)), np.tile(y, 3))
    with pytest.raises(InvalidData, match="not among the classes"):
        model.forget(X[:3], y[:3] + 5)
    np.testing.assert_array_equal(scores(model, X), before)
    with pytest.raises(InvalidParameter, match="cannot merge"):
        model.merge(LinearRegression().fit(X, X[:, 0]))
    with pytest.raises(InvalidData, match="columns"):
        model.merge(make().fit(X[:, :2], y))


@pytest.mark.parametrize(
    "system",
    [
        GaussianClassifier(covariance="toeplitz"),
        GaussianClassifier(shrinkage=2.0),
        GaussianClassifier(priors=[0.5, 0.6]),
        FisherDiscriminant(covariance="full"),
        FisherDiscriminant(threshold="high"),
        FisherDiscriminant(components=0),
        LeastSquaresClassifier(coding="binary"),
        LeastSquaresClassifier(threshold=np.nan),
    ],
    ids=repr,
)
def test_arguments_that_mean_nothing(system: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be"):
        system.fit(*data(2))


def test_two_classes_are_asked_for_where_needed() -> None:
    X, y = data(3)
    for system in (LeastSquaresClassifier(coding="fisher"), LeastSquaresClassifier(threshold=0.1)):
        with pytest.raises(InvalidData, match="two classes"):
            system.fit(X, y)
    with pytest.raises(InvalidParameter, match="two classes"):
        FisherDiscriminant(threshold=0.5).fit(X, y)


def test_new_classes_may_come_later() -> None:
    X, y = data(3)
    first, later = np.flatnonzero(y < 2), np.flatnonzero(y == 2)
    model = GaussianClassifier().fit(X[first], y[first]).partial_fit(X[later], y[later])
    np.testing.assert_allclose(scores(model, X), scores(GaussianClassifier().fit(X, y), X), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("make", EVERY)
def test_classes_may_be_named_before_they_have_rows(make: Any) -> None:
    X, y = data(3)
    only = np.flatnonzero(y == 1)
    model = make().partial_fit(X[only], y[only], classes=[0, 1, 2])
    assert set(model.predict(X)) == {1}
    two = np.flatnonzero(y != 1)
    model = make().partial_fit(X[two], y[two], classes=[0, 1, 2])
    np.testing.assert_array_equal(model.predict(X), make().fit(X[two], y[two]).predict(X))
    assert scores(model, X).shape == (len(y), 3)
    model.partial_fit(X[only], y[only])
    np.testing.assert_allclose(scores(model, X), scores(make().fit(X, y), X), rtol=1e-9, atol=1e-10)
    model.forget(X[only], y[only])
    np.testing.assert_array_equal(model.predict(X), make().fit(X[two], y[two]).predict(X))
    if hasattr(model, "predict_proba"):
        assert not model.predict_proba(X)[:, 1].any()


@pytest.mark.parametrize("make", EVERY)
def test_a_refusal_leaves_the_model_as_it_was(make: Any) -> None:
    X, y = data(3)
    model = make().fit(X, y)
    before, weights = scores(model, X), model._sums.weights.copy()
    bad = X.copy()
    bad[0, 0] = np.inf
    with pytest.raises(InvalidData, match="infinity"):
        model.partial_fit(bad, y)
    with pytest.raises(InvalidData, match="infinity"):
        model.fit(bad[:, :3], y)
    np.testing.assert_array_equal(scores(model, X), before)
    np.testing.assert_array_equal(model._sums.weights, weights)


def test_units_do_not_matter_to_singular_covariances() -> None:
    X, y = data(2)
    X[y == 1, 3] = 2 * X[y == 1, 2]
    model = GaussianClassifier(covariance="full")
    expected = model.fit(X, y).predict_proba(X)
    scale = [1.0, 1024.0, 1.0, 1.0]
    np.testing.assert_allclose(model.fit(X * scale, y).predict_proba(X * scale), expected, atol=1e-9)


def test_torch_tensors_give_the_same() -> None:
    torch = pytest.importorskip("torch")
    X, y = data(3)
    for system in (*LINEAR, lambda: GaussianClassifier(covariance="full")):
        expected = system().fit(X, y)
        found = system().fit(torch.asarray(X), torch.asarray(y))
        np.testing.assert_array_equal(found.predict(torch.asarray(X)), expected.predict(X))
    for regression in (LinearRegression(), adaline.Ridge()):
        t = X @ np.arange(4.0) + y
        expected = regression.fit(X, t).coef_
        found = regression.fit(torch.asarray(X), torch.asarray(t))
        assert isinstance(found.coef_, torch.Tensor)
        np.testing.assert_allclose(found.coef_.numpy(), expected, rtol=1e-10)


def test_other_namespaces_give_the_same_regressions() -> None:
    X, y = data(3)
    t = X @ np.arange(4.0) + y
    systems = (LinearRegression(), LinearRegression(solver="qr"), adaline.Ridge(), adaline.Ridge(criterion="loo"))
    for regression in systems:
        expected = regression.fit(X, t).coef_
        place = array_api_strict.Device("device1")
        found = regression.fit(*(array_api_strict.asarray(v, device=place) for v in (X, t)))
        assert found.coef_.device == place
        here = found.coef_.to_device(array_api_strict.Device("CPU_DEVICE"))
        np.testing.assert_allclose(np.asarray(here), expected, rtol=1e-8)
        assert found.predict(array_api_strict.asarray(X, device=place)).device == place


@pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if is_classifier(system())])
def test_amounts_and_bytes_are_no_labels(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 2))
    with pytest.raises(InvalidData, match=r"Unknown label type: continuous.*Use a regression"):
        SYSTEMS[name]().fit(X, rng.standard_normal(20))
    with pytest.raises(AdalineError, match="bytes"):
        SYSTEMS[name]().fit(X, np.where(X[:, 0] > 0, b"a", b"b"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert SYSTEMS[name]().fit(X, np.where(X[:, 0] > 0, 1.0, 0.0)).classes_.tolist() == [0.0, 1.0]


def test_fisher_of_equal_class_means_separates_nothing() -> None:
    X, y = [[1.0, 2.0], [3.0, 1.0]] * 2, [0, 0, 1, 1]
    for rows in (X, np.ones((4, 2))):
        model = FisherDiscriminant(threshold="prior").fit(rows, y)
        assert (model.criterion_, model.intercept_.tolist()) == (0.0, [0.0])


def test_the_penalty_of_least_squares_on_labels_is_that_of_ridge() -> None:
    table = datasets.load("penguins", target="species")
    X, y = np.asarray(table.X, dtype=float), np.asarray(table.y)
    T = (y[:, None] == np.unique(y)).astype(float)
    number = LeastSquaresClassifier(penalty=3.0).fit(X, y)
    np.testing.assert_allclose(number.coef_, Ridge(penalty=3.0).fit(X, T).coef_, rtol=1e-9)
    model = LeastSquaresClassifier(penalty="auto").fit(X, y)
    same = Ridge(penalty=model.penalty_, standardize=True).fit(X, T)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)
    each = [Ridge(penalty="auto").fit(X, t) for t in T.T]
    at = 10
    assert model.path_["values"][at] == pytest.approx(sum(one.path_["values"][at] for one in each), rel=1e-9)
    assert model.path_["values"].min() < model.path_["values"][[0, -1]].min()


CODES = {"signed": np.array([[-1.0], [1.0]]), "fisher": np.array([[-1.0], [1.0]]), "one-of-k": np.eye(3)}


@pytest.mark.parametrize(
    ("coding", "scoring"), [("signed", None), ("fisher", "accuracy"), ("one-of-k", None), ("one-of-k", "accuracy")]
)
def test_the_penalty_of_least_squares_by_folds_is_that_of_fits_without_each(coding: str, scoring: Any) -> None:
    """The values of the path are scores, or squared errors, of scikit-learn's ridge on coded targets without a fold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [1.0, 10.0, 0.1, 1.0]
    index = np.digitize(X[:, 0] + rng.normal(size=60), [0.0, 1.0] if coding == "one-of-k" else [0.0])
    y, weight = np.array(["a", "b", "c"])[index], rng.integers(1, 3, 60).astype(float)
    fold = fold_of(0, 60, 4) if scoring is None else assign_folds(60, 4, 0, index)
    system = LeastSquaresClassifier(penalty="auto", criterion="folds", folds=4, scoring=scoring, coding=coding)
    path = system.fit(X, y, weight).path_
    spread, mass = np.sqrt(np.cov(X.T, aweights=weight, ddof=0).diagonal()), np.bincount(index, weight)
    t = (CODES[coding] * (mass.sum() / mass[:, None] if coding == "fisher" else 1.0))[index]
    for i in (20, 50):
        errors = []
        for k in range(4):
            kept, out = fold != k, fold == k
            own = linear_model.Ridge(alpha=path["penalties"][i]).fit(X[kept] / spread, t[kept], weight[kept])
            z = own.predict(X[out] / spread).reshape(-1, t.shape[1])
            wrong = index[out] != (z.argmax(axis=1) if z.shape[1] > 1 else z[:, 0] > 0)
            loss = ((t[out] - z) ** 2).sum(axis=1) if scoring is None else wrong - 1.0
            errors.append((weight[out] @ loss, weight[out].sum()))
        total, share = np.array(errors).T
        expected = total.sum() / share.sum() if scoring is None else (total / share).mean()
        assert path["values"][i] == pytest.approx(expected, rel=1e-9)
    assert pickle.loads(pickle.dumps(system)).penalty_ == system.penalty_ > 0
    with pytest.raises(SumsMissing, match="needs the rows"):
        system.partial_fit(X, y)


def test_a_score_of_folds_has_every_class_or_is_refused() -> None:
    def fit(scoring: str, y: Array) -> LeastSquaresClassifier:
        return LeastSquaresClassifier(penalty="auto", criterion="folds", scoring=scoring).fit(X, y)

    X, row = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60)
    assert np.isfinite(fit("roc_auc", row < 5).path_["values"]).all()
    with pytest.warns(UserWarning, match="class"), pytest.raises(InvalidParameter, match="scoring is nan on fold 0: "):
        fit("roc_auc", row < 4)
    for scoring in ("roc_auc", "f1", "neg_log_loss"):
        with pytest.raises(InvalidParameter, match=f"scoring='{scoring}' cannot judge this model: "):
            fit(scoring, row % 3)


@pytest.mark.parametrize("covariance", ["full", "diag", "spherical"])
def test_a_class_of_one_row_does_not_win_every_row(covariance: str) -> None:
    X, y = data(5)
    X, y = np.append(X, X[:1] + 3.0, axis=0), np.append(y, y.max() + 1)
    model = GaussianClassifier(covariance=covariance).fit(X, y)
    assert (model.predict(X[:-1]) == y[-1]).mean() < 0.1
    assert model.predict(X[-1:]) == y[-1]
    assert model.certificate_.status is Status.RANK_DEFICIENT
    assert "1 class (1 row) is singular" in model.certificate_.advice
    parts = GaussianClassifier(covariance=covariance).partial_fit(X[:40], y[:40], classes=np.unique(y))
    parts.partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(parts.predict_proba(X), model.predict_proba(X), atol=1e-9)


def test_a_singular_class_gets_rows_of_the_pooled_covariance() -> None:
    X, y = data(5)
    X, y = np.append(X, X[:2] + 3.0, axis=0), np.append(y, [y.max() + 1] * 2)
    model = GaussianClassifier(covariance="full").fit(X, y)
    scatters = [(X[y == k] - X[y == k].mean(axis=0)).T @ (X[y == k] - X[y == k].mean(axis=0)) for k in model.classes_]
    expected = (scatters[-1] + 5 * sum(scatters) / len(y)) / (2 + 5)
    np.testing.assert_allclose(model.covariance_[-1], expected, rtol=1e-9)
    np.testing.assert_allclose(model.covariance_[0], scatters[0] / (y == model.classes_[0]).sum(), rtol=1e-9)
