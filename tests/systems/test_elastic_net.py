"""The elastic net against its conditions of optimality, glmnet, and scikit-learn; one path on every kind of rows."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, nnls
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LassoCV, QuantileRegressor
from sklearn.model_selection import PredefinedSplit

from adaline import ElasticNet, LogisticRegression, datasets, open_table
from adaline.arrays import Array
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter
from adaline.fits.elastic_net import memory, squared
from adaline.fits.elastic_net.quantile import QuantileNets
from adaline.fits.elastic_net.smooth import SmoothNets, raw_weights, smooth_net
from adaline.losses import Logistic, Quantile
from adaline.results import Status
from adaline.solvers.coordinates import lasso, newton_nets, quadratics
from adaline.solvers.coordinates.corners import Corners, GroupCorners
from adaline.solvers.coordinates.quantile_nets import QuantileLasso
from adaline.sources import ArraySource
from adaline.sources.tables import coded_table
from adaline.sources.tables import source as table_source
from adaline.sources.views import Fold, fold_of

REFERENCE = Path(__file__).parents[1] / "data" / "glmnet" / "glmnet.csv"


def made(n: int = 120, d: int = 8, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 5, d) + 3.0
    return X, X[:, :4] @ [1.0, 2.0, -1.0, 0.5] + 3 * rng.normal(size=n) + 7.0


def violation(X: Array, y: Array, model: Any, loss_slope: Any = lambda z, y: z - y, ridge: Any = 0.0) -> float:
    """Return how far a model in raw units is from the conditions of optimality, as a share of l1."""
    slope = loss_slope(X @ model.coef_.ravel() + model.intercept_, y)
    g = X.T @ slope + ridge * model.coef_.ravel()
    w = model.coef_.ravel()
    off = np.where(w != 0, np.abs(g + model.l1_ * np.sign(w)), np.maximum(np.abs(g) - model.l1_, 0.0))
    return float(max(off.max(), abs(slope.sum())) / model.l1_)


def glmnet() -> dict[str, Any]:
    """Return what glmnet found: by case, mix and l1, by name."""
    out: dict[str, Any] = defaultdict(dict)
    with REFERENCE.open() as file:
        for line in csv.DictReader(line for line in file if not line.startswith("#")):
            out[line["case"]].setdefault((float(line["mix"]), float(line["l1"])), {})[line["name"]] = float(
                line["value"]
            )
    return out


def abalone() -> tuple[Array, Array]:
    rows = np.loadtxt(Path(datasets.__file__).parent / "abalone.csv", delimiter=",", skiprows=1, usecols=range(1, 9))
    return rows[:600, :7], rows[:600, 7]


@pytest.mark.parametrize("case", ["squared", "logistic", "poisson", "logistic-positive", "poisson-positive"])
def test_coefficients_are_those_of_glmnet(case: str) -> None:
    X, rings = abalone()
    loss, _, positive = case.partition("-")
    y = rings > 10 if loss == "logistic" else rings
    for (mix, l1), expected in glmnet()[case].items():
        model = ElasticNet(loss=loss, l1=l1, mix=mix, positive=bool(positive)).fit(X, y)
        found = [float(np.ravel(model.intercept_)[0]), *np.ravel(model.coef_)]
        np.testing.assert_allclose(found, list(expected.values()), rtol=1e-8, atol=1e-9)
        assert model.certificate_.gap <= 1e-10 * abs(model.certificate_.objective)


@pytest.mark.parametrize(
    ("case", "settings"),
    [
        ("cv", {"points": 20}),
        ("cv", {"points": 20, "rule": "one-standard-error"}),
        ("cv-logistic", {"loss": "logistic", "points": 12, "ratio": 1e-2}),
    ],
    ids=str,
)
def test_the_path_is_cross_validated_as_by_glmnet(case: str, settings: dict[str, Any]) -> None:
    X, y = abalone()
    known = dict(sorted(((l1, found) for (_, l1), found in glmnet()[case].items()), reverse=True))
    model = ElasticNet(tol=1e-12, **settings).fit(X, y > 10 if "loss" in settings else y)
    np.testing.assert_allclose(model.path_["l1"], list(known), rtol=1e-9)
    np.testing.assert_allclose(2 * model.path_["values"], [one["mean"] for one in known.values()], rtol=1e-8)
    at = int(np.flatnonzero(model.path_["l1"] == model.l1_)[0])
    np.testing.assert_allclose(np.ravel(model.path_["coef"][at]), np.ravel(model.coef_), rtol=1e-9, atol=1e-9)
    if case == "cv":
        np.testing.assert_allclose(2 * model.path_["errors"], [one["error"] for one in known.values()], rtol=1e-6)
        assert model.rule in list(known.values())[at]


def test_quantiles_are_those_of_scikit_learn() -> None:
    """A linear program, whose vertex is found exactly; the median is half of the absolute error."""
    X, y = made()
    for level, l1 in ((0.5, 8.0), (0.9, 2.0), (0.2, 40.0), (0.5, 0.0)):
        model = ElasticNet(loss=Quantile(level=level), l1=l1).fit(X, y)
        theirs = QuantileRegressor(quantile=level, alpha=l1 / len(X), solver="highs").fit(X, y)
        np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-9, atol=1e-10)
        assert model.intercept_ == pytest.approx(theirs.intercept_, rel=1e-9)
        assert model.certificate_.gap <= 1e-10 * model.certificate_.objective
    model, other = (ElasticNet(loss=loss, points=8).fit(X, y * 1e3) for loss in ("quantile", "absolute"))
    assert (model.path_["gaps"] <= 1e-9 * model.certificate_.objective).all()
    assert not model.path_["coef"][0].any()
    assert other.l1_ == pytest.approx(2 * model.l1_)
    np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-9, atol=1e-9)


def test_it_is_scikit_learns_lasso_cv_in_any_units() -> None:
    X, y = made()
    units = 10.0 ** np.arange(-4, 4)
    model, other = ElasticNet(points=20).fit(X, y), ElasticNet(points=20).fit(X * units, y * 1e3)
    np.testing.assert_allclose(other.coef_ * units, model.coef_ * 1e3, rtol=1e-8, atol=1e-8)
    assert other.l1_ == pytest.approx(model.l1_ * 1e3, rel=1e-9)
    model, fold = ElasticNet(standardize=False, points=30).fit(X, y), PredefinedSplit(fold_of(0, len(X), 5))
    theirs = LassoCV(alphas=model.path_["l1"] / len(X), cv=fold, tol=1e-12, max_iter=10**6).fit(X, y)
    assert model.l1_ == pytest.approx(theirs.alpha_ * len(X))
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8, atol=1e-9)


SLOPES = {
    "squared": lambda z, y: z - y,
    "logistic": lambda z, y: 1 / (1 + np.exp(-z)) - y,
    "poisson": lambda z, y: np.exp(z) - y,
    "gamma": lambda z, y: 1 - y * np.exp(-z),
    "huber": lambda z, y: np.clip(z - y, -1.345, 1.345),
}


def targets(loss: str, y: Array) -> Array:
    """Return targets that a loss admits, made of numbers."""
    shown = np.exp((y - y.mean()) / 8)
    return {"logistic": (y > y.mean()).astype(float), "poisson": np.round(shown), "gamma": shown}.get(loss, y)


@pytest.mark.parametrize("loss", SLOPES)
def test_the_conditions_of_optimality_hold(loss: str) -> None:
    X, y = made(d=5)
    X, t = (X - X.mean(axis=0)) / X.std(axis=0), targets(loss, y)
    model = ElasticNet(loss=loss, points=8, folds=3).fit(X, t)
    assert violation(X, t, model, SLOPES[loss]) < 1e-8
    assert (model.path_["gaps"] >= 0).all()
    assert not model.path_["coef"][0].any()
    for settings in ({"penalty": np.arange(5.0)}, {"mix": 0.5}):
        model = ElasticNet(loss=loss, l1=4.0, **settings).fit(X, t)
        assert violation(X, t, model, SLOPES[loss], model.penalty_) < 1e-8

    def pull(model: Any) -> tuple[Array, Array]:
        return X.T @ SLOPES[loss](X @ model.coef_.ravel() + model.intercept_, t), model.coef_.ravel()

    groups = np.array(list("aabbb"))
    found = ElasticNet(loss=loss, groups=groups, points=6, folds=3).fit(X, t).l1_
    for l1 in (found, 0.1, 0.0):
        g, w = pull(ElasticNet(loss=loss, groups=groups, l1=l1).fit(X, t))
        for group in "ab":
            own, v = g[groups == group], w[groups == group]
            cost = l1 * np.sqrt(len(v))
            left = own + cost * v / np.linalg.norm(v) if v.any() else np.maximum(np.linalg.norm(own) - cost, 0.0)
            assert np.abs(left).max() < 1e-7
        model = ElasticNet(loss=loss, positive=True, l1=l1).fit(X, t)
        g, w = pull(model)
        assert np.abs(np.where(w > 0, g + l1, np.minimum(g + l1, 0.0))).max() < 1e-7
        assert model.certificate_.status is Status.SOLVED


def test_labels_make_it_a_classifier() -> None:
    X, y = made(d=5)
    for loss, labels in (("softmax", ["a", "b", "c"]), ("logistic", ["no", "yes"])):
        sums = X[:, 0] + X[:, 1]
        y = np.array(labels)[np.digitize(sums, np.quantile(sums, [0.4, 0.7][: len(labels) - 1]))]
        model = ElasticNet(loss=loss, points=6, ratio=0.05, folds=3).fit(X, y)
        assert is_classifier(model)
        assert model.score(X, y) > 0.9
        proba = model.predict_proba(X)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        same = LogisticRegression(l1=model.l1_, standardize=True, tol=1e-12).fit(X, y)
        np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-8, atol=1e-9)
    with pytest.raises(InvalidData, match="2 classes"):
        ElasticNet(loss="logistic").fit(X, np.zeros(len(X)))
    with pytest.raises(InvalidParameter, match="losses of one output, and 'softmax' has one for each class"):
        ElasticNet(loss="logistic", positive=True).fit(X, np.arange(len(X)) % 3)


def test_every_way_through_the_rows_gives_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Second moments, products of the columns that matter, proximal steps; dense, sparse and streamed rows."""
    X, y = made(d=6)
    X[np.abs(X) < 1] = 0.0
    settings: dict[str, Any] = {"points": 12, "mix": 0.7, "tol": 1e-10}
    table = tmp_path / "rows.csv"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,f,y", comments="", fmt="%.17g")
    plain = ElasticNet(**settings).fit(X, y)
    assert plain.certificate_.passes == 1
    with monkeypatch.context() as streaming:
        streaming.setattr(table_source, "KEPT", 0)
        streaming.setattr(coded_table, "block_rows", lambda features: 64)
        streamed = ElasticNet(**settings).fit(open_table(table, target="y"))
    assert streamed.certificate_.passes == 1
    found = [streamed, ElasticNet(**settings).fit(sparse.csr_array(X), y)]
    monkeypatch.setattr(squared, "MOST_SWEPT_COEFFICIENTS", 0)  # machines one by one
    found.append(ElasticNet(**settings).fit(X, y))
    monkeypatch.setattr(memory, "MOST_DENSE_COLUMNS", 0)
    monkeypatch.setattr(memory, "MOST_PRODUCT_COLUMNS", 0)
    found += [ElasticNet(**settings).fit(X, y), ElasticNet(**settings).fit(sparse.csr_array(X), y)]
    monkeypatch.setattr(memory, "MOST_COPIED_BYTES", 0)
    found.append(ElasticNet(**settings).fit(sparse.csr_array(X), y))
    assert "Newton" in found[-1].certificate_.solver
    for model in found:
        assert model.l1_ == pytest.approx(plain.l1_, rel=1e-9)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(model.path_["values"], plain.path_["values"], rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"positive": True}, {"groups": list("aabbcc")}, {"loss": "huber"}], ids=str)
def test_weights_are_repetitions(settings: dict[str, Any]) -> None:
    X, y = made(n=60, d=6)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighed = ElasticNet(l1=20.0, **settings).fit(X, y, weight)
    repeated = ElasticNet(l1=20.0, **settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighed.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    assert weighed.intercept_ == pytest.approx(repeated.intercept_, rel=1e-8)


def test_wide_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """More columns than rows, of which few are ever needed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 700))
    y = X[:, :5].sum(axis=1) + 0.1 * rng.normal(size=80)
    model = ElasticNet(points=20, ratio=0.02, standardize=False).fit(X, y)
    assert violation(X, y, model) < 1e-8
    assert (model.path_["gaps"] <= 1e-7 * 0.5 * ((y - y.mean()) ** 2).sum()).all()
    monkeypatch.setattr(quadratics, "MOST_PRODUCT_BYTES", 0)  # no memory: steps
    other = ElasticNet(points=20, ratio=0.02, standardize=False).fit(X, y)
    assert "Newton" in other.certificate_.solver
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-8)
    X = X[:, :200]
    for rows in (X, sparse.csr_array(X)):
        model = ElasticNet(loss="logistic", points=6, ratio=0.2, standardize=False, folds=3).fit(rows, y > 0)
        assert violation(X, (y > 0).astype(float), model, SLOPES["logistic"]) < 1e-8


def test_positive_is_nonnegative_least_squares() -> None:
    X, y = made()
    model = ElasticNet(l1=0.0, positive=True).fit(X, y)
    expected, _ = nnls(X - X.mean(axis=0), y - y.mean())
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-12)
    assert model.certificate_.gap < 1e-12
    found = ElasticNet(positive=True, points=10).fit(X, y)
    assert (found.path_["coef"] >= 0).all()
    w, g = found.coef_, (X - X.mean(axis=0)).T @ (X @ found.coef_ + found.intercept_ - y) / X.std(axis=0)
    assert np.abs(g + found.l1_)[w > 0].max() < 1e-8 * found.l1_
    assert (g + found.l1_)[w == 0].min() > -1e-8 * found.l1_
    single = ElasticNet(l1=9.0, groups=list(range(8))).fit(X, y)  # groups of one column are none
    np.testing.assert_allclose(single.coef_, ElasticNet(l1=9.0).fit(X, y).coef_, rtol=1e-9, atol=1e-9)


def test_constant_columns_are_in_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made(n=60, d=6)
    X[:, 2] = 0.0
    kept = [0, 1, 3, 4, 5]
    expected = ElasticNet(l1=9.0, groups=list("aaabb")).fit(X[:, kept], y).coef_
    monkeypatch.setattr(memory, "MOST_DENSE_COLUMNS", 5)
    for moments in (1500, 0):
        monkeypatch.setattr(memory, "MOST_PRODUCT_COLUMNS", moments)
        for rows in (X, sparse.csr_array(X)):
            model = ElasticNet(l1=9.0, groups=list("aazabb")).fit(rows, y)
            np.testing.assert_allclose(model.coef_[kept], expected, rtol=1e-8, atol=1e-10)
            joint = ElasticNet(l1=9.0, groups=list("aaaabb")).fit(rows, y)
            np.testing.assert_allclose(joint.coef_[kept], expected, rtol=1e-8, atol=1e-10)
    monkeypatch.setattr(memory, "MOST_COPIED_BYTES", 0)
    with pytest.raises(InvalidParameter, match="at most 0 columns, or rows in memory of at most 0 MiB"):
        ElasticNet(l1=9.0, groups=list("aaaabb")).fit(X, y)


def test_successes_and_failures_are_shares_weighted_by_their_trials() -> None:
    X, y = made(n=60, d=4)
    trials = np.random.default_rng(1).integers(1, 9, len(y))
    wins = np.random.default_rng(2).binomial(trials, 1 / (1 + np.exp(-(y - y.mean()) / 4)))
    for settings in ({"l1": 2.0}, {"points": 6, "folds": 3, "tol": 1e-10}):
        model = ElasticNet(loss="binomial", **settings).fit(X, np.column_stack([wins, trials - wins]))
        other = ElasticNet(loss="binomial", **settings).fit(X, wins / trials, trials)
        assert model.l1_ == pytest.approx(other.l1_, rel=1e-9)
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-8)
        found = model.score(X, np.column_stack([wins, trials - wins]))
        assert found == pytest.approx(other.score(X, wins / trials, trials), rel=1e-8)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "negative_binomial"}, "the shape of negative_binomial is not estimated along a path"),
        ({"loss": "tukey"}, "is not convex"),
        ({"loss": "quantile", "penalty": 1.0}, "a linear program, which has no ridge penalty"),
        ({"loss": "perceptron"}, "convex, but has corners"),
        ({"mix": 0.5, "penalty": 1.0}, "one of mix and penalty"),
        ({"mix": 0.0}, "mix must be None or a number"),
        ({"penalty": [1.0, 2.0]}, "penalty must be one number a column, got 2 for 8 columns"),
        ({"penalty": [-1.0] * 8}, "zero or more"),
        ({"groups": [0, 1]}, "groups must be one label a column, got 2 for 8 columns"),
        ({"groups": [0] * 8, "positive": True}, "one of positive"),
    ],
    ids=str,
)
def test_what_is_refused(settings: dict[str, Any], words: str) -> None:
    given = {"offset": np.ones(120)} if "offset" in settings else {}
    with pytest.raises(InvalidParameter, match=words):
        ElasticNet(**{name: value for name, value in settings.items() if name not in given}).fit(*made(), **given)


def test_folds_beside_a_given_l1_are_ignored_and_said() -> None:
    with pytest.warns(AdalineWarning, match="ElasticNet ignores folds=3"):
        ElasticNet(l1=1.0, folds=3).fit(*made())


def test_all_folds_take_one_read() -> None:
    data = datasets.load("abalone")
    source = open_table({"y": data.y, **dict(zip("abcdefgh", data.X.T, strict=False))}, target="y")
    fold = np.arange(len(data.y)) % 3
    for system in (ElasticNet(points=20), ElasticNet(l1=3.0)):
        before = source.reads[0]
        fits = system._fit_folds(source, None, None, fold, {})
        assert fits is not None
        assert source.reads[0] == before + 1
        for k, one in enumerate([fits.whole, *fits.without]):
            alone = (
                clone(system).fit(source) if k == 0 else clone(system).fit(Fold(source, k - 1, fold, held_out=False))
            )
            np.testing.assert_allclose(one.coef_, alone.coef_, rtol=1e-9, atol=1e-9)
    assert ElasticNet(loss="huber")._fit_folds(data.X, data.y, None, fold, {}) is None


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("mix", [1.0, 0.3])
def test_folds_of_few_rows_of_classes_are_those_of_fits_alone(classes: int, mix: float) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 1.0]
    z = X[:, 0] + 0.7 * rng.normal(size=60)
    y = np.digitize(z, np.quantile(z, np.arange(1, classes) / classes))
    y[0] = y[0] if classes == 2 else 9  # a class of one row: without its fold there is none
    fold, weight = np.arange(60) % 3, rng.integers(1, 3, 60) * (1.0 if mix == 1 else 2.0**-20)
    system = ElasticNet(loss="logistic", mix=mix, points=8)
    fits = system._fit_folds(X, y, weight, fold, {})
    assert fits is not None
    for kept, one in zip([fold >= 0, *(fold != k for k in range(3))], [fits.whole, *fits.without], strict=True):
        alone = clone(system).fit(X[kept], y[kept], weight[kept])
        np.testing.assert_array_equal(one.classes_, alone.classes_)
        assert one.l1_ == pytest.approx(alone.l1_)
        np.testing.assert_allclose(one.predict_proba(X), alone.predict_proba(X), atol=1e-6)
        np.testing.assert_allclose(one.path_["values"], alone.path_["values"], rtol=1e-5)
    assert (fits.whole.path_["gaps"] <= 1e-7 * weight.sum() * np.log(classes + 1)).all()


def test_a_class_of_one_row_takes_no_steps_to_infinity() -> None:
    x = np.random.default_rng(0).normal(size=(11, 3))
    model = ElasticNet(loss="logistic", points=20, folds=5).fit(x, np.arange(11) == 4)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.passes < 1000  # of 21 nets; without the row there is one class, whose loss falls to 0


def test_targets_that_are_all_zero() -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    for settings in ({"groups": [0, 0, 1]}, {}):
        model = ElasticNet(**settings).fit(X, np.zeros(12))
        assert (str(model.certificate_.status), model.l1_, model.intercept_, *model.coef_) == ("solved", *[0.0] * 5)
        assert model.path_["l1"].tolist() == [0.0]


def few_rows() -> tuple[Array, Array]:
    """Return fewer rows than columns, and targets with outliers, whose losses have slopes without curvature."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 80))
    return X, X[:, 0] + rng.standard_t(2, 40)


@pytest.mark.parametrize("settings", [{"l1": 1.0}, {"l1": 0.1, "positive": True}])
def test_rows_beyond_the_bend_of_a_loss_and_fewer_than_columns(settings: dict[str, Any]) -> None:
    X, y = few_rows()
    model = ElasticNet(loss="huber", **settings).fit(X, y)
    assert model.certificate_.status is Status.SOLVED
    slope = np.clip(X @ model.coef_ + model.intercept_ - y, -1.345, 1.345)
    g, w, l1 = X.T @ slope, model.coef_, model.l1_
    held = np.maximum((-g if model.positive else np.abs(g)) - l1, 0.0)
    off = np.where(w != 0, np.abs(g + l1 * np.sign(w)), held)
    assert max(off.max(), abs(slope.sum())) <= 1e-5 * l1
    assert (w >= 0).all() or not model.positive


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_gaps_of_quantiles_are_in_the_units_of_the_targets(unit: float) -> None:
    X, y = made(40, 4)
    options = ElasticNet(loss="quantile", l1=5.0)._options(4)
    nets = QuantileNets(ArraySource(X, y[:, None] * unit), Quantile(), options)
    corners, machine = options.corners(5.0 * nets.size, nets.scale > 0), nets.machines[0]
    nets.solve(corners, corners, np.zeros(4), 0.0)
    assert nets.proof(corners, np.zeros(4), 1e-7).status is Status.SOLVED
    source = ArraySource(X, y[:, None] * unit, np.full(40, 1e-12))
    light = QuantileNets(source, Quantile(), options).machines[0]
    assert not light._enough(light.objective(corners), light.objective(corners))
    e, machine.e = machine.e, machine.e + 1e-11  # no plane that is level in the intercept
    assert machine._gap(corners) >= 0.99e-11 * 40 * abs(machine.theta[0]) > 0
    machine.e, machine.theta = e, 1.01 * machine.theta
    machine.gap = machine._gap(corners)
    assert nets.gap() > 1e-3 * nets.null[0]
    assert nets.proof(corners, np.zeros(4), 1e-7).status is Status.NOT_CONVERGED


@pytest.mark.parametrize(("loss", "positive"), [("logistic", False), ("logistic", True), ("softmax", False)])
def test_classes_that_a_plane_separates_are_not_solved_without_penalties(loss: str, positive: bool) -> None:
    X = made(40, 4)[0]
    y = np.digitize(X[:, 0], [3.0] if loss == "logistic" else [2.0, 4.0])
    with pytest.warns(AdalineWarning, match="not converged" if positive else "separated: .* give l1 or penalty"):
        model = ElasticNet(loss=loss, l1=0.0, positive=positive).fit(X, y)
    assert model.certificate_.status is (Status.NOT_CONVERGED if positive else Status.SEPARATED)


@pytest.mark.parametrize("loss", ["huber", "logistic", "softmax"])
def test_a_penalty_near_zero_is_proven_by_second_derivatives(loss: str) -> None:
    X, y = made(60, 4)
    X = np.column_stack([X, X[:, 0]])  # of two equal columns, one is enough
    y = y if loss == "huber" else np.digitize(y, np.quantile(y, [0.5] if loss == "logistic" else [0.3, 0.6]))
    model = ElasticNet(loss=loss, l1=1e-12).fit(X, y)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.gap <= 1e-12 * model.certificate_.objective


@pytest.mark.parametrize("settings", [{}, {"groups": list("aabbc")}, {"positive": True}], ids=str)
@pytest.mark.parametrize("loss", SLOPES)
def test_next_to_no_l1_is_none_and_proven(loss: str, settings: dict[str, Any]) -> None:
    X, y = made(d=5)
    t = targets(loss, y)
    largest = np.abs((X - X.mean(axis=0)).T @ (t - t.mean())).max()
    for penalty, share in ((0.0, 1e-15), (3.0, 1e-15), (0.0, 1e-12)):
        model, none = (
            ElasticNet(loss=loss, l1=l1, penalty=penalty, **settings).fit(X, t) for l1 in (share * largest, 0.0)
        )
        assert model.certificate_.status is none.certificate_.status is Status.SOLVED
        assert model.certificate_.gap <= 1e-6 * abs(model.certificate_.objective)
        np.testing.assert_allclose(model.coef_, none.coef_, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(("rows", "columns", "walks"), [(30, 100, False), (30, 60, True), (100, 100, True)])
def test_a_small_l1_of_no_more_rows_than_columns_is_solved(rows: int, columns: int, walks: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(rows, columns)), np.sin(np.arange(rows))
    if walks:
        X, y = np.cumsum(X, axis=0), np.cumsum(rng.normal(size=rows))
    A = np.hstack([X, -X, np.ones((rows, 1)), -np.ones((rows, 1))])
    free = np.repeat([1.0, 0.0], [2 * columns, 2])
    for l1 in (1.0, 1e-2, 1e-4, 1e-8):
        proof = ElasticNet(l1=l1).fit(X, y).certificate_
        assert proof.status is Status.SOLVED
        assert proof.gap <= 1e-3 * proof.objective
        if not walks:  # weights that leave no residual
            assert proof.objective <= (1 + 1e-3) * l1 * linprog(free, A_eq=A, b_eq=y).fun


def test_a_gap_beside_a_tiny_objective_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squared, "PENALTY_STEP", 0.0)
    monkeypatch.setattr(lasso, "MOST_ROUNDS", 1)
    X, y = made(30, 60)
    with pytest.warns(AdalineWarning, match="of the objective"):
        proof = ElasticNet(l1=1e-8).fit(X, y).certificate_
    assert proof.status is Status.NOT_CONVERGED
    assert 1e-3 * proof.objective < proof.gap


def test_pairs_within_groups_are_found_group_by_group() -> None:
    groups = (np.array([0, 2]), np.array([1]), np.array([], np.intp), np.array([3, 4]))
    corners = GroupCorners(np.ones(5), groups)
    assert "_pairs" not in vars(corners.times(2.0))
    i, j = corners._pairs
    group = np.array([0, 0, 1, 2, 2])
    np.testing.assert_array_equal((i, j), np.nonzero(group[:, None] == group))


@pytest.mark.parametrize("away", [1e-6, 1e-3, 0.1])
def test_what_second_derivatives_prove_is_above_what_is_left(away: float) -> None:
    X, y = made(60, 4)
    options = replace(ElasticNet(l1=2.0)._options(4), standardize=True)
    source = ArraySource(X, np.array(y > np.median(y), dtype=float)[:, None])
    nets = SmoothNets(smooth_net(source, Logistic(), True, True), [source])
    corners, ridge = options.corners(2.0 * nets.size, nets.scale > 0), np.zeros(4)
    nets.finish(corners, corners, ridge)
    least, theta = nets.measure(corners, ridge)[0], nets.machines.theta[0]
    assert 0 < np.count_nonzero(theta[1:]) < 4
    assert nets.machines.curved_gap(corners, ridge) <= 1e-20
    nets.machines.put(theta + away * np.where(theta != 0, [1.0, -1.0, 1.0, -1.0, 1.0], 0.0))
    left = nets.measure(corners, ridge)[0] - least
    assert nets.machines.curved_gap(corners, ridge) >= left > 0


def test_groups_of_more_columns_than_rows_end(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = few_rows()
    sweeps = 0

    def counted(self: GroupCorners, matrix: Array, gradient: Array, v: Array, most: int, enough: float) -> None:
        nonlocal sweeps
        sweeps += most
        lower(self, matrix, gradient, v, 1, enough)  # slow sweeps, so that models are left open

    lower = GroupCorners.lower
    monkeypatch.setattr(GroupCorners, "lower", counted)
    monkeypatch.setattr(GroupCorners, "settle", lambda *_: None)
    monkeypatch.setattr(newton_nets, "OPEN", 4)
    model = ElasticNet(loss="huber", l1=1.0, groups=np.repeat(np.arange(40), 2).tolist()).fit(X, y)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert sweeps <= 10 * newton_nets.FEW * newton_nets.MODEL_SWEEPS
    assert model.certificate_.objective < ElasticNet(loss="huber", l1=1e3).fit(X, y).certificate_.objective


def test_what_all_classes_share_is_the_median() -> None:
    X, y = made(60, 4)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    free = LogisticRegression().fit(X, labels)
    model = ElasticNet(loss="softmax", l1=1e-15).fit(X, labels)
    np.testing.assert_array_equal(np.median(model.coef_, axis=0), 0.0)
    problem = SimpleNamespace(loss=SimpleNamespace(coupled=True), ridge=np.array([0.0, 1.0]), to_raw=np.array)
    found = raw_weights(problem, np.array([[3.0, 1.0, 1.0], [1.0, 4.0, 2.0], [2.0, 2.0, 4.0]]))
    np.testing.assert_array_equal(found, [[1.0, -1.0, 1.0], [-1.0, 2.0, 2.0], [0.0, 0.0, 4.0]])
    found = raw_weights(problem, np.array([[0.0, -1.0, 1.0], [0.0, 3.0, 1.0]]))
    np.testing.assert_array_equal(found, [[0.0, -1.0, 1.0], [0.0, 3.0, 1.0]])  # none of them is nearer to zero
    np.testing.assert_allclose(model.coef_ - model.coef_.mean(axis=0), free.coef_ - free.coef_.mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("loss", ["absolute", "quantile"])
@pytest.mark.parametrize("l1", [1e-9, 1e-12, 1e-15])
def test_next_to_no_l1_of_absolute_errors_is_proven(loss: str, l1: float) -> None:
    X, y = made(60, 4)
    model, none = (ElasticNet(loss=loss, l1=one).fit(X, y) for one in (l1, 0.0))
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.gap <= 1e-9 * model.certificate_.objective
    np.testing.assert_allclose(model.coef_, none.coef_, rtol=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "poisson", "huber"])
def test_few_rows_that_are_held_give_what_sums_over_them_do(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made(60, 4)
    t, weight = targets(loss, y), np.arange(60) % 3
    held = ElasticNet(loss=loss, points=10).fit(X, t, weight)
    monkeypatch.setattr(newton_nets.HeldRows, "of", lambda *_: None)
    sums = ElasticNet(loss=loss, points=10).fit(X, t, weight)
    assert held.certificate_.status is sums.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(held.path_["coef"], sums.path_["coef"], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(held.path_["values"], sums.path_["values"], rtol=1e-6)
    assert held.certificate_.passes == pytest.approx(sums.certificate_.passes, rel=0.2)
    np.testing.assert_allclose(held.coef_, sums.coef_, rtol=1e-9)


def test_a_dual_solution_that_is_not_feasible_proves_nothing() -> None:
    """Without a penalty any pull on a coefficient of zero was taken for rounding, and the gap for zero."""
    rows = QuantileLasso(
        np.array([[1.0], [2.0]]), np.array([1.0, 2.0]), np.ones(2), 0.5, False, np.zeros(2), np.full(2, 0.5)
    )
    assert rows._gap(Corners(np.zeros(1))) == rows.objective(Corners(np.zeros(1))) == 1.5


def test_absolute_errors_of_more_columns_than_rows_are_proven() -> None:
    """Any small l1 leaves the shortest plane through all rows, with a column fewer than rows."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 30))
    y = X[:, :3].sum(axis=1) + rng.standard_t(2, size=20)
    first, *others = (ElasticNet(loss="absolute", l1=l1).fit(X, y) for l1 in (1.0, 1e-3, 1e-8, 0.0))
    assert np.count_nonzero(first.coef_) == 19
    for model in (first, *others):
        assert model.certificate_.status is Status.SOLVED
        np.testing.assert_allclose(model.coef_, first.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
