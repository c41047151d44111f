"""Laws of the classifiers that are solved from class moments, and what the lectures say of them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn import linear_model
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from adaline import FisherDiscriminant, GaussianClassifier, LeastSquaresClassifier, LinearRegression, Ridge, datasets
from adaline.arrays import Array
from adaline.errors import AdalineError, InvalidData, InvalidParameter, SumsMissing, UnsafeForget
from adaline.results import Status
from adaline.sources.views import assign_folds, fold_of
from adaline.systems import SYSTEMS, ClosedFormClassifier
from tests.cases import Case, assert_same, cases

EVERY = cases(lambda case: issubclass(case.system, ClosedFormClassifier) and case.settings.get("components") != 2)
LINEAR = [GaussianClassifier, FisherDiscriminant, LeastSquaresClassifier]


def data(classes: int = 3, n: int = 240, d: int = 4, seed: int = 0) -> tuple[Array, NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2 * rng.normal(size=(classes, d))[y]
    return X, y


def scores(model: Any, X: Any) -> Array:
    return np.asarray(model.decision_function(X))


def test_covariances_are_the_densities_they_say() -> None:
    """Those of scikit-learn's discriminant analysis, of its naive Bayes classifier, and of scipy's densities."""
    X, y = data()
    ours, theirs = GaussianClassifier().fit(X, y), LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.coef_ - ours.coef_[0], theirs.coef_ - theirs.coef_[0], rtol=1e-9, atol=1e-10)
    full = GaussianClassifier(covariance="full").fit(X, y)
    for k in range(3):
        rows = X[y == k]
        density = stats.multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
        np.testing.assert_allclose(full.log_likelihood(X)[:, k], density.logpdf(X), rtol=1e-9)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    assert np.mean(full.predict(X) == quadratic.predict(X)) > 0.98
    naive, diagonal = GaussianNB(var_smoothing=0.0).fit(X, y), GaussianClassifier(covariance="diag").fit(X, y)
    np.testing.assert_allclose(diagonal.predict_proba(X), naive.predict_proba(X), rtol=1e-8, atol=1e-12)
    within = X - np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    spherical = GaussianClassifier(covariance="identity").fit(X, y)
    assert spherical.covariance_ == pytest.approx((within**2).mean(), rel=1e-12)


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


@pytest.mark.parametrize("intercept", [True, False])
def test_the_objective_of_two_classes_is_that_of_both_targets(intercept: bool) -> None:
    X, y = data(2)
    model = LeastSquaresClassifier(fit_intercept=intercept, penalty=3.0).fit(X, y)
    both = Ridge(fit_intercept=intercept, penalty=3.0).fit(X, np.eye(2)[y])
    errors = ((both.predict(X) - np.eye(2)[y]) ** 2).sum()
    objective = 0.5 * errors + 1.5 * (both.coef_**2).sum()
    assert model.certificate_.objective == pytest.approx(objective, rel=1e-10)
    assert both.certificate_.objective == pytest.approx(objective, rel=1e-10)
    np.testing.assert_allclose(model.coef_[0], both.coef_[1] - both.coef_[0], rtol=1e-10, atol=1e-12)


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


@EVERY
def test_bad_input(case: Case) -> None:
    X, y = data(2)
    model, before = case.make().fit(X, y), case.make().fit(X, y).decision_function(X)
    refusals: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: case.make().fit(X, np.zeros(len(y), dtype=int)), InvalidData, "one class"),
        (lambda: case.make().fit(X, y[:-1]), InvalidData, "inconsistent numbers of samples"),
        (lambda: case.make().fit(X, None), InvalidData, "y"),
        (lambda: case.make().fit(X, X[:, 0]), InvalidData, "continuous"),
        (lambda: model.forget(np.tile(X, (3, 1)), np.tile(y, 3)), UnsafeForget, "forget"),
        (lambda: model.forget(X[:3], y[:3] + 5), InvalidData, "not among the classes"),
        (lambda: model.merge(LinearRegression().fit(X, X[:, 0])), InvalidParameter, "cannot merge"),
        (lambda: model.merge(case.make().fit(X[:, :2], y)), InvalidData, "columns"),
    ]
    for call, error, words in refusals:
        with pytest.raises(error, match=words):
            call()
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize(
    ("system", "error", "words"),
    [
        (GaussianClassifier(shrinkage=2.0), InvalidParameter, "must be"),
        (GaussianClassifier(priors=[0.5, 0.6]), InvalidParameter, "must be"),
        (FisherDiscriminant(covariance="full"), InvalidParameter, "must be"),
        (FisherDiscriminant(components=0), InvalidParameter, "must be"),
        (FisherDiscriminant(threshold=0.5), InvalidParameter, "two classes"),
        (LeastSquaresClassifier(coding="binary"), InvalidParameter, "must be"),
        (LeastSquaresClassifier(coding="fisher"), InvalidData, "two classes"),
        (LeastSquaresClassifier(threshold=0.1), InvalidData, "two classes"),
    ],
    ids=repr,
)
def test_arguments_that_mean_nothing(system: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        system.fit(*data(3 if "two" in words else 2))


@EVERY
def test_classes_may_be_named_before_they_have_rows(case: Case) -> None:
    X, y = data(3)
    only, two = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    model = case.make().partial_fit(X[only], y[only], classes=[0, 1, 2])
    assert set(model.predict(X)) == {1}
    model, apart = case.make().partial_fit(X[two], y[two], classes=[0, 1, 2]), case.make().fit(X[two], y[two])
    np.testing.assert_array_equal(model.predict(X), apart.predict(X))
    assert model.decision_function(X).shape == (len(y), 3)
    model.partial_fit(X[only], y[only])
    later = case.make().fit(X[two], y[two]).partial_fit(X[only], y[only])
    for one in (model, later):
        assert_same(one, case.make().fit(X, y), X, rtol=1e-9)
    model.forget(X[only], y[only])
    np.testing.assert_array_equal(model.predict(X), apart.predict(X))
    if hasattr(model, "predict_proba"):
        assert not model.predict_proba(X)[:, 1].any()


def test_units_do_not_matter_to_singular_covariances() -> None:
    X, y = data(2)
    X[y == 1, 3] = 2 * X[y == 1, 2]
    model = GaussianClassifier(covariance="full")
    expected = model.fit(X, y).predict_proba(X)
    scale = [1.0, 1024.0, 1.0, 1.0]
    np.testing.assert_allclose(model.fit(X * scale, y).predict_proba(X * scale), expected, atol=1e-9)


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


def classes(means: Array, units: Any) -> tuple[Array, NDArray[np.int64]]:
    """Return thirty rows about each mean, exactly: whole numbers, and each row with its mirror image."""
    away = np.random.default_rng(0).integers(-3, 4, size=(15, means.shape[1])).astype(float)
    X = np.concatenate([mean + np.concatenate([away, -away]) for mean in means])
    return X * units, np.repeat(np.arange(len(means)), 30)


LINE = np.outer([0.0, 1.0, 3.0], [16.0, -32.0, 64.0])
CORNERS = np.array([[0.0, 0.0, 0.0], [64.0, 0.0, 0.0], [0.0, 32.0, 0.0], [64.0, 32.0, 0.0], [16.0, 16.0, 0.0]])
FISHERS = pytest.mark.parametrize("covariance", ["within", "identity"])
THRESHOLDS = pytest.mark.parametrize("threshold", ["middle", "prior"])


@FISHERS
@THRESHOLDS
@pytest.mark.parametrize("units", [(1.0, 1.0, 1.0), (1e-6, 1.0, 1e9)], ids=["whole", "unlike"])
@pytest.mark.parametrize(
    ("means", "span"),
    [(LINE, 1), (CORNERS, 2), (np.vstack([np.zeros(3), 40.0 * np.eye(3)]), 3)],
    ids=["line", "plane", "space"],
)
def test_fishers_directions_are_those_along_which_means_differ(
    means: Array, span: int, units: tuple[float, ...], threshold: str, covariance: str
) -> None:
    X, y = classes(means, units)
    model = FisherDiscriminant(covariance=covariance, threshold=threshold).fit(X, y)
    assert model.directions_.shape == (span, 3)
    assert np.isfinite(model.directions_).all()
    assert np.isfinite(model.coef_).all()
    assert model.transform(X).shape == (len(X), span)
    assert len(model.criterion_) == len(model.get_feature_names_out()) == span
    if covariance == "within" or units[0] == 1.0:  # along raw differences, the unit of a column decides what is far
        assert model.score(X, y) == 1.0


@FISHERS
@THRESHOLDS
@pytest.mark.parametrize("shares", [[4, 4], [8, 4], [4, 4, 4]], ids=str)
@pytest.mark.parametrize("columns", [2, 6])
def test_equal_means_separate_nothing(covariance: str, threshold: str, shares: list[int], columns: int) -> None:
    """J(w) = 0 for every w; the certificate says so, and "prior" takes the more frequent class."""
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [2.0, 5.0], [6.0, 1.0]]) @ np.eye(2, columns)
    X = np.concatenate([np.tile(rows, (share // 4, 1)) for share in shares])
    y = np.repeat(np.arange(len(shares)), shares)
    model = FisherDiscriminant(covariance=covariance, threshold=threshold).fit(X, y)
    assert not np.any(model.criterion_)
    assert not model.coef_.any()
    if len(shares) > 2:
        assert model.transform(X).shape == (len(X), 0)
    assert "the means of the classes are equal" in model.certificate_.advice
    assert "shrinkage" not in model.certificate_.advice
    assert (model.predict(X) == 0).all()
    constant = FisherDiscriminant(covariance=covariance, threshold=threshold).fit(np.ones((4, 2)), [0, 0, 1, 1])
    assert (constant.criterion_, constant.intercept_.tolist()) == (0.0, [0.0])
