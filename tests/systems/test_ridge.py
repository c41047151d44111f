"""Ridge: the closed form of (5.13), and a penalty found where brute force finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn import linear_model

from adaline import LinearRegression, Ridge, datasets
from adaline.arrays import Array
from adaline.errors import InvalidParameter, SumsMissing
from adaline.results import Status
from adaline.sources.views import fold_of
from tests.solvers.least_squares import exact

Criterion = Callable[[Array, Array, float], float]

CRITERIA = ("gcv", "loo", "evidence")


def collinear(seed: int = 0, n: int = 40, noise: float = 1.0) -> tuple[Array, Array]:
    """Columns that nearly repeat each other, in different units."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 2))
    X = common @ rng.normal(size=(2, 8)) + 0.05 * rng.normal(size=(n, 8))
    y = X.sum(axis=1) / 4 + noise * rng.normal(size=n) + 7.0
    return X * 10.0 ** np.arange(-4, 4) + 3.0, y


DATA: dict[str, tuple[Array, Array]] = {
    "longley": (datasets.load("longley").X, datasets.load("longley").y),
    "collinear": collinear(),
    "noisy": collinear(5, n=25, noise=4.0),
}


def standardise(X: Array, fit_intercept: bool) -> Array:
    """Columns of unit standard deviation about their means, or unit root mean square about zero."""
    Z = X - X.mean(axis=0) * fit_intercept
    return Z / np.sqrt((Z**2).mean(axis=0))


def hat(Z: Array, penalty: float, fit_intercept: bool) -> Array:
    """The matrix that turns targets into predictions."""
    ridge = Z @ np.linalg.solve(Z.T @ Z + penalty * np.eye(Z.shape[1]), Z.T)
    return ridge + fit_intercept / len(Z)


def gcv(X: Array, y: Array, penalty: float, fit_intercept: bool = True) -> float:
    """N RSS / (N - tr H)^2, by the hat matrix."""
    H = hat(standardise(X, fit_intercept), penalty, fit_intercept)
    return float(len(y) * ((y - H @ y) ** 2).sum() / (len(y) - np.trace(H)) ** 2)


def loo(X: Array, y: Array, penalty: float, fit_intercept: bool = True) -> float:
    """Mean squared error of each row's prediction by a fit to all the others."""
    Z = standardise(X, fit_intercept)
    total = 0.0
    for i in range(len(y)):
        x, t = np.delete(Z, i, axis=0), np.delete(y, i)
        mean, mean_t = x.mean(axis=0) * fit_intercept, t.mean() * fit_intercept
        gram = (x - mean).T @ (x - mean) + penalty * np.eye(x.shape[1])
        w = np.linalg.solve(gram, (x - mean).T @ (t - mean_t))
        total += (y[i] - mean_t - (Z[i] - mean) @ w) ** 2
    return total / len(y)


def evidence(X: Array, y: Array, penalty: float, fit_intercept: bool = True) -> float:
    """Minus twice the log density of y, w ~ N(0, s2/penalty) and noise N(0, s2) integrated out, at the best s2.

    With an intercept under a flat prior: the density of y's projection on what is orthogonal to the ones.
    """
    Z = standardise(X, fit_intercept)
    n = len(y)
    away = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, 1:]]))[0][:, 1:] if fit_intercept else np.eye(n)
    t, phi = away.T @ y, away.T @ Z
    spread = np.eye(len(t)) + phi @ phi.T / penalty
    s2 = float(t @ np.linalg.solve(spread, t)) / len(t)
    return -2.0 * float(stats.multivariate_normal(np.zeros(len(t)), s2 * spread).logpdf(t))


BRUTE_FORCE: dict[str, Criterion] = {"gcv": gcv, "loo": loo, "evidence": evidence}


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("standardized", [None, False, True])
@pytest.mark.parametrize("penalty", [0.0, 1e-3, 2.5, 1e4])
def test_a_number_gives_the_closed_form(penalty: float, standardized: bool | None, fit_intercept: bool) -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(12, 4)) + 1.0) * [1.0, 100.0, 0.01, 3.0]
    y = rng.normal(size=12) + 2.0
    model = Ridge(penalty=penalty, standardize=standardized, fit_intercept=fit_intercept).fit(X, y)
    unit = np.sqrt(((X - X.mean(axis=0) * fit_intercept) ** 2).mean(axis=0)) if standardized else np.ones(4)
    answer = exact.solve(X, y, fit_intercept=fit_intercept, penalty=penalty * unit**2)[0]
    found = exact.theta(model)[0]
    np.testing.assert_allclose(found, [float(v) for v in answer], rtol=1e-12)
    assert model.penalty_ == penalty


def test_no_penalty_is_least_squares_and_the_intercept_has_none() -> None:
    X, y = DATA["longley"]
    plain, ridge = LinearRegression().fit(X, y), Ridge(penalty=0).fit(X, y)
    np.testing.assert_array_equal(ridge.coef_, plain.coef_)
    assert ridge.prior_variance_ == np.inf
    assert ridge.noise_variance_ == pytest.approx(plain.summary().to_dict()["sigma"] ** 2, rel=1e-10)
    np.testing.assert_allclose(Ridge(penalty=1e30).fit(X, y).predict(X), y.mean(), rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_path_equals_brute_force(criterion: str, name: str, fit_intercept: bool) -> None:
    X, y = DATA[name]
    path = Ridge(criterion=criterion, fit_intercept=fit_intercept).fit(X, y).path_
    penalties, values = path["penalties"], path["values"]
    assert np.all(np.diff(penalties) >= 0)
    usual = (penalties > 1e-4) & (penalties < 1e4)
    some = np.flatnonzero(usual)[:: max(int(usual.sum()) // 12, 1)]
    brute = np.array([BRUTE_FORCE[criterion](X, y, penalties[i], fit_intercept) for i in some])
    if criterion == "evidence":  # known up to a constant
        np.testing.assert_allclose(values[some] - values[some[0]], brute - brute[0], rtol=0, atol=1e-6)
    else:
        np.testing.assert_allclose(values[some], brute, rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_penalty_is_where_brute_force_finds_it(criterion: str, name: str, fit_intercept: bool) -> None:
    X, y = DATA[name]
    model = Ridge(criterion=criterion, fit_intercept=fit_intercept).fit(X, y)
    assert model.noise_variance_ / model.prior_variance_ == pytest.approx(model.penalty_, rel=1e-12)

    def value(log_penalty: float) -> float:
        return BRUTE_FORCE[criterion](X, y, float(np.exp(log_penalty)), fit_intercept)

    low, high = np.log(1e-6), np.log(1e6)
    grid = np.linspace(low, high, 240 if criterion == "gcv" else 80)
    step, best = grid[1] - grid[0], grid[int(np.argmin([value(g) for g in grid]))]
    found = optimize.minimize_scalar(
        value, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-9}
    )
    inside = low + step < best < high - step
    assert value(float(np.log(model.penalty_))) <= found.fun + (1e-7 if inside else 1e-6) * abs(found.fun)
    if inside:
        assert np.log(model.penalty_) == pytest.approx(found.x, abs=1e-2)


@pytest.mark.parametrize("standardized", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_standardize_says_which_columns_the_automatic_penalty_acts_on(criterion: str, standardized: bool) -> None:
    """On columns that are standardised already it makes no difference, otherwise it does."""
    X, y = DATA["collinear"]
    Z = standardise(X, True)
    on_z, on_x = (Ridge(criterion=criterion, standardize=standardized).fit(rows, y) for rows in (Z, X))
    expected = Ridge(criterion=criterion).fit(Z, y).predict(Z)
    np.testing.assert_allclose(on_z.predict(Z), expected, rtol=1e-6)
    assert np.allclose(on_x.predict(X), expected, rtol=1e-5) == standardized


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_target_gets_its_own_penalty(criterion: str) -> None:
    X, y = DATA["collinear"]
    Y = np.column_stack([y, np.random.default_rng(4).normal(size=len(y)), X[:, 0]])
    for given in ("auto", [1.0, 20.0, 3.0]):
        model = Ridge(criterion=criterion, penalty=given).fit(X, Y)
        assert len(model.path_ if given == "auto" else model.penalty_) == 3
        for k in range(3):
            one = Ridge(criterion=criterion, penalty="auto" if given == "auto" else given[k]).fit(X, Y[:, k])
            # The last target is a column of X: what is left of it, the noise, is known to rounding of the target.
            rounding = 1e-15 * Y[:, k].var() / one.noise_variance_
            for name in ("penalty_", "noise_variance_", "prior_variance_", "intercept_", "coef_"):
                rtol = 1e-9 + (rounding if name.endswith("variance_") else 0.0)
                np.testing.assert_allclose(getattr(model, name)[k], getattr(one, name), rtol=rtol, err_msg=name)
        assert len({round(float(np.log(p)), 3) for p in model.penalty_}) > 1


def test_leave_one_out_on_sums_alone_is_refused_and_leaves_them_as_they_were() -> None:
    X, y = DATA["collinear"]
    with pytest.raises(SumsMissing, match=r"criterion='loo' needs the rows.*use 'gcv' or 'evidence'"):
        Ridge(criterion="loo").partial_fit(X, y)
    for call in (lambda model: model.partial_fit(X, y), lambda model: model.merge(Ridge(criterion="loo").fit(X, y))):
        model = Ridge(criterion="loo").fit(X, y)
        before = model.coef_.copy()
        with pytest.raises(SumsMissing, match="loo"):
            call(model)
        np.testing.assert_array_equal(model.coef_, before)
        model.set_params(criterion="gcv").partial_fit(X[:5], y[:5])
        assert model.summary().to_dict()["rows"] == len(y) + 5


@pytest.mark.parametrize("criterion", CRITERIA)
def test_targets_and_columns_at_the_edges(criterion: str) -> None:
    """A target that columns say nothing about, one that they give exactly; a constant column, and repeated ones."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 5))
    y = np.linalg.qr(np.column_stack([np.ones(60), X, rng.normal(size=60)]))[0][:, -1] + 4.0
    model = Ridge(criterion=criterion).fit(X, y)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)
    assert model.intercept_ == pytest.approx(y.mean())
    exact = Ridge(criterion=criterion).fit(X, X @ np.arange(5.0) + 1.0)
    np.testing.assert_allclose(exact.coef_, np.arange(5.0), atol=1e-6)
    X, y = DATA["collinear"]
    rows = (X, np.column_stack([X, np.full(len(y), 5.0)]), np.column_stack([X, X]))
    plain, constant, twice = (Ridge(criterion=criterion).fit(one, y).coef_ for one in rows)
    assert constant[-1] == 0.0
    np.testing.assert_allclose(constant[:-1], plain, rtol=1e-6)
    np.testing.assert_allclose(*np.split(twice, 2), rtol=1e-6)


def test_the_summary_says_what_its_numbers_mean() -> None:
    X, y = DATA["collinear"]
    text = str(Ridge().fit(X, y).summary())
    assert "chosen by gcv" in text
    assert "standardised columns" in text
    assert "posterior" in text
    assert "the columns' own units" in str(Ridge(penalty=3.0).fit(X, y).summary())


def test_certificate_and_standard_errors_are_those_of_the_posterior() -> None:
    X, y = DATA["collinear"]
    Z = standardise(X, True)
    model = Ridge(penalty=2.0).fit(Z, y)
    residual, table = y - model.predict(Z), model.summary().to_dict()
    expected = 0.5 * residual @ residual + 0.5 * 2.0 * model.coef_ @ model.coef_
    assert model.certificate_.objective == pytest.approx(expected, rel=1e-10)
    freedom = len(y) - np.trace(hat(Z, 2.0, True))
    assert table["freedom"] == pytest.approx(freedom, rel=1e-10)
    assert model.noise_variance_ == pytest.approx(residual @ residual / freedom, rel=1e-10)
    covariance = model.noise_variance_ * np.linalg.inv(Z.T @ Z + 2.0 * np.eye(Z.shape[1]))
    sought = np.sqrt(np.r_[model.noise_variance_ / len(y), covariance.diagonal()])
    np.testing.assert_allclose([row["std_error"] for row in table["coefficients"]], sought, rtol=1e-8)


PENALTY = "penalty must be 'auto' or a number of zero or more, got"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        *(({"penalty": penalty}, PENALTY) for penalty in (np.nan, [1.0, 2.0], None, "1.0", np.array([[1.0]]))),
        ({"penalty": [1.0, -2.0]}, "zero or more"),
        ({"criterion": "aic"}, "criterion must be one of gcv, loo, evidence, folds, got 'aic'"),
        ({"criterion": "folds", "scoring": "best"}, "scoring must be .*a name of scikit-learn"),
        (
            {"criterion": "folds", "scoring": lambda model, X, y: float("nan")},
            "scoring is nan on fold 0: use fewer folds",
        ),
    ],
)
def test_what_means_nothing_is_refused(settings: dict[str, Any], words: str) -> None:
    X, y = DATA["collinear"]
    with pytest.raises(InvalidParameter, match=words):
        Ridge(**settings).fit(X, np.column_stack([y, y]) if words == "zero or more" else y)
    with pytest.raises(InvalidParameter, match="got 2 numbers for 1 target"):
        Ridge(penalty=[1.0, 2.0]).fit(X, y[:, None])


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_the_penalty_by_folds_is_that_of_fits_without_each(scoring: Any) -> None:
    X, y = DATA["collinear"]
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = Ridge(criterion="folds", folds=4, scoring=scoring).fit(X, y, weight)
    fold, Z = fold_of(0, len(y), 4), X / np.sqrt(np.cov(X.T, aweights=weight, ddof=0).diagonal())
    for at in (20, 50):
        penalty, errors = model.path_["penalties"][at], []
        for k in range(4):
            train = linear_model.Ridge(alpha=penalty, solver="svd").fit(Z[fold != k], y[fold != k], weight[fold != k])
            r = np.abs(y - train.predict(Z))[fold == k]
            errors.append((weight[fold == k] @ (r**2 if scoring is None else r), weight[fold == k].sum()))
        total, mass = np.array(errors).T
        expected = total.sum() / mass.sum() if scoring is None else (total / mass).mean()
        assert model.path_["values"][at] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("n", "d"), [(10, 30), (10, 12), (40, 6)])
def test_coefficients_of_zero_or_more_are_proven_for_dependent_columns(n: int, d: int) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    X = np.hstack([X, -X[:, :2], X[:, :1]])
    proof = LinearRegression(positive=True).fit(X, y).certificate_
    _, least = optimize.nnls(X - X.mean(axis=0), y - y.mean())
    assert proof.status is Status.SOLVED
    assert proof.gap <= 1e-12 * (y @ y)
    assert proof.objective == pytest.approx(0.5 * least**2, abs=1e-12)
    assert proof.rank == np.linalg.matrix_rank(X - X.mean(axis=0))


@pytest.mark.parametrize("make", [lambda: LinearRegression(positive=True), lambda: Ridge(penalty=3.0, positive=True)])
def test_coefficients_of_zero_or_more(make: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) + 1.0
    Y = X @ rng.normal(size=(4, 2)) + rng.normal(size=(60, 2))
    model = make().fit(X, Y)
    penalty, w = getattr(model, "penalty", 0.0), model.coef_.T
    g = (X - X.mean(axis=0)).T @ (X @ w + model.intercept_ - Y) + penalty * w
    assert (w >= 0).all()
    assert (w == 0).any()
    np.testing.assert_allclose(g[w > 0], 0.0, atol=1e-9)
    steep = model.certificate_.gradient
    assert steep > 0
    assert make().fit(X, 2.0**30 * Y).certificate_.gradient == pytest.approx(2.0**30 * steep, rel=0.5)
    assert g[w == 0].min() > -1e-9
    assert model.certificate_.gap < 1e-20
    assert model.certificate_.status is Status.SOLVED
    halves = make().partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    np.testing.assert_allclose(halves.coef_, model.coef_, rtol=1e-9)
    with pytest.raises(InvalidParameter, match="no standard errors under positive=True"):
        model.summary()
    with pytest.raises(InvalidParameter, match="positive=True"):
        (LinearRegression(positive=True, solver="qr") if penalty == 0 else Ridge(positive=True)).fit(X, Y)
