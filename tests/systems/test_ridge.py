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
from tests.systems.cases import data

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


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", DATA)
def test_it_is_scikit_learns_ridge(name: str, fit_intercept: bool, weighted: bool) -> None:
    X, y = DATA[name]
    X = standardise(X, True) + 0.5  # theirs needs this; ours does not
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    for penalty in (0.1, 10.0):
        ours = Ridge(penalty=penalty, fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
        theirs = linear_model.Ridge(alpha=penalty, fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-8, abs=1e-8)


def test_no_penalty_is_least_squares() -> None:
    X, y = DATA["longley"]
    plain, ridge = LinearRegression().fit(X, y), Ridge(penalty=0).fit(X, y)
    np.testing.assert_array_equal(ridge.coef_, plain.coef_)
    assert ridge.prior_variance_ == np.inf
    assert ridge.noise_variance_ == pytest.approx(plain.summary().to_dict()["sigma"] ** 2, rel=1e-10)


def test_the_intercept_is_not_penalised() -> None:
    X, y = DATA["collinear"]
    model = Ridge(penalty=1e30).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)


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

    def value(log_penalty: float) -> float:
        return BRUTE_FORCE[criterion](X, y, float(np.exp(log_penalty)), fit_intercept)

    low, high = np.log(1e-6), np.log(1e6)
    grid = np.linspace(low, high, 240 if criterion == "gcv" else 80)
    step = grid[1] - grid[0]
    best = grid[int(np.argmin([value(g) for g in grid]))]
    found = optimize.minimize_scalar(
        value, bounds=(best - step, best + step), method="bounded", options={"xatol": 1e-9}
    )
    if low + step < best < high - step:
        assert value(float(np.log(model.penalty_))) <= found.fun + 1e-7 * abs(found.fun)
        assert np.log(model.penalty_) == pytest.approx(found.x, abs=1e-2)
    else:
        assert value(float(np.log(model.penalty_))) <= found.fun + 1e-6 * abs(found.fun)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_automatic_penalties_do_not_depend_on_units(criterion: str) -> None:
    X, y = DATA["collinear"]
    plain = Ridge(criterion=criterion).fit(X, y)
    units = 10.0 ** np.random.default_rng(2).uniform(-9, 9, size=X.shape[1])
    other = Ridge(criterion=criterion).fit(X * units, y)
    assert other.penalty_ == pytest.approx(plain.penalty_, rel=1e-5)
    np.testing.assert_allclose(other.predict(X * units), plain.predict(X), rtol=1e-6)
    scaled = Ridge(criterion=criterion).fit(X, 1e5 * y)
    assert scaled.penalty_ == pytest.approx(plain.penalty_, rel=1e-5)
    np.testing.assert_allclose(scaled.coef_, 1e5 * plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("standardized", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_standardize_says_which_columns_the_automatic_penalty_acts_on(criterion: str, standardized: bool) -> None:
    """On columns that are standardised already it makes no difference, otherwise it does."""
    X, y = DATA["collinear"]
    Z = standardise(X, True)
    on_z = Ridge(criterion=criterion, standardize=standardized).fit(Z, y)
    on_x = Ridge(criterion=criterion, standardize=standardized).fit(X, y)
    plain = Ridge(criterion=criterion).fit(Z, y)
    np.testing.assert_allclose(on_z.predict(Z), plain.predict(Z), rtol=1e-6)
    same = np.allclose(on_x.predict(X), plain.predict(Z), rtol=1e-5)
    assert same == standardized


@pytest.mark.parametrize("penalty", [0.5, "auto"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_penalty_is_noise_over_prior_variance(criterion: str, penalty: Any) -> None:
    X, y = DATA["collinear"]
    model = Ridge(penalty=penalty, criterion=criterion).fit(X, y)
    assert model.noise_variance_ / model.prior_variance_ == pytest.approx(model.penalty_, rel=1e-12)


@pytest.mark.slow
def test_the_evidence_finds_the_variances_that_made_the_data() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, 200))
    prior, noise = 0.25, 2.0
    y = X @ rng.normal(scale=np.sqrt(prior), size=200) + rng.normal(scale=np.sqrt(noise), size=4000)
    model = Ridge(criterion="evidence").fit(X, y)
    assert model.noise_variance_ == pytest.approx(noise, rel=0.1)
    assert model.prior_variance_ == pytest.approx(prior, rel=0.3)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_it_predicts_new_rows_better_than_no_penalty(criterion: str) -> None:
    """On ill-conditioned data, averaged over seeds."""
    ridge, plain = [], []
    for seed in range(12):
        X, y = collinear(seed, n=400, noise=2.0)
        train, test = slice(0, 20), slice(20, None)
        for errors, model in ((ridge, Ridge(criterion=criterion)), (plain, LinearRegression())):
            errors.append(((model.fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2).mean())
    assert np.mean(ridge) < 0.9 * np.mean(plain)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_each_target_gets_its_own_penalty(criterion: str) -> None:
    X, y = DATA["collinear"]
    Y = np.column_stack([y, np.random.default_rng(4).normal(size=len(y)), X[:, 0]])
    model = Ridge(criterion=criterion).fit(X, Y)
    assert len(model.path_) == 3
    for k in range(3):
        one = Ridge(criterion=criterion).fit(X, Y[:, k])
        assert model.penalty_[k] == pytest.approx(one.penalty_, rel=1e-9)
        assert model.noise_variance_[k] == pytest.approx(one.noise_variance_, rel=1e-9)
        assert model.prior_variance_[k] == pytest.approx(one.prior_variance_, rel=1e-9)
        np.testing.assert_allclose(model.coef_[k], one.coef_, rtol=1e-9)
        assert model.intercept_[k] == pytest.approx(one.intercept_, rel=1e-9)
    assert len({round(float(np.log(p)), 3) for p in model.penalty_}) > 1


@pytest.mark.parametrize("criterion", CRITERIA)
def test_whole_weights_are_repeated_rows(criterion: str) -> None:
    X, y = DATA["collinear"]
    weight = np.random.default_rng(5).integers(1, 4, size=len(y))
    weighted = Ridge(criterion=criterion).fit(X, y, sample_weight=weight)
    repeated = Ridge(criterion=criterion).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.penalty_ == pytest.approx(repeated.penalty_, rel=1e-6)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


@pytest.mark.parametrize("criterion", ["gcv", "evidence"])
def test_streams_choose_the_same_penalty(criterion: str) -> None:
    X, y = DATA["collinear"]
    whole = Ridge(criterion=criterion).fit(X, y)
    parts = Ridge(criterion=criterion)
    for rows in np.array_split(np.arange(len(y)), 5):
        parts.partial_fit(X[rows], y[rows])
    assert parts.penalty_ == pytest.approx(whole.penalty_, rel=1e-6)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-8)


def test_leave_one_out_on_sums_alone_is_refused() -> None:
    X, y = DATA["collinear"]
    with pytest.raises(SumsMissing, match=r"criterion='loo' needs the rows.*use 'gcv' or 'evidence'"):
        Ridge(criterion="loo").partial_fit(X, y)
    fitted = Ridge(criterion="loo").fit(X, y)
    before = fitted.coef_.copy()
    for call in (lambda: fitted.partial_fit(X, y), lambda: fitted.merge(Ridge(criterion="loo").fit(X, y))):
        with pytest.raises(SumsMissing, match="loo"):
            call()
        np.testing.assert_array_equal(fitted.coef_, before)


@pytest.mark.parametrize("verb", ["partial_fit", "merge"])
def test_a_refusal_leaves_the_sums_as_they_were(verb: str) -> None:
    X, y = DATA["collinear"]
    model = Ridge(criterion="loo").fit(X, y)
    with pytest.raises(SumsMissing):
        model.partial_fit(X, y) if verb == "partial_fit" else model.merge(Ridge(criterion="loo").fit(X, y))
    model.set_params(criterion="gcv").partial_fit(X[:5], y[:5])
    assert model.summary().to_dict()["rows"] == len(y) + 5


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_target_that_columns_say_nothing_about_is_shrunk_to_its_mean(criterion: str) -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 5))
    y = np.linalg.qr(np.column_stack([np.ones(60), X, rng.normal(size=60)]))[0][:, -1] + 4.0
    model = Ridge(criterion=criterion).fit(X, y)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)
    assert model.intercept_ == pytest.approx(y.mean())


@pytest.mark.parametrize("criterion", CRITERIA)
def test_an_exact_target_is_fitted_almost_exactly(criterion: str) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 5))
    model = Ridge(criterion=criterion).fit(X, X @ np.arange(5.0) + 1.0)
    np.testing.assert_allclose(model.coef_, np.arange(5.0), atol=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_constant_and_repeated_columns_do_no_harm(criterion: str) -> None:
    X, y = DATA["collinear"]
    plain = Ridge(criterion=criterion).fit(X, y)
    constant = Ridge(criterion=criterion).fit(np.column_stack([X, np.full(len(y), 5.0)]), y)
    assert constant.coef_[-1] == 0.0
    np.testing.assert_allclose(constant.coef_[:-1], plain.coef_, rtol=1e-6)
    twice = Ridge(criterion=criterion).fit(np.column_stack([X, X]), y)
    half = len(plain.coef_)
    np.testing.assert_allclose(twice.coef_[:half], twice.coef_[half:], rtol=1e-6)


def test_the_certificate_names_objective_and_trace_of_the_penalised_problem() -> None:
    X, y = DATA["collinear"]
    Z = standardise(X, True)
    model = Ridge(penalty=2.0).fit(Z, y)
    residual = y - model.predict(Z)
    expected = 0.5 * residual @ residual + 0.5 * 2.0 * model.coef_ @ model.coef_
    assert model.certificate_.objective == pytest.approx(expected, rel=1e-10)
    freedom = len(y) - np.trace(hat(Z, 2.0, True))
    assert model.summary().to_dict()["freedom"] == pytest.approx(freedom, rel=1e-10)
    assert model.noise_variance_ == pytest.approx(residual @ residual / freedom, rel=1e-10)


def test_the_summary_says_what_its_numbers_mean() -> None:
    X, y = DATA["collinear"]
    text = str(Ridge().fit(X, y).summary())
    assert "chosen by gcv" in text
    assert "standardised columns" in text
    assert "posterior" in text
    assert "the columns' own units" in str(Ridge(penalty=3.0).fit(X, y).summary())


def test_standard_errors_are_those_of_the_posterior() -> None:
    X, y = DATA["collinear"]
    Z = standardise(X, True)
    model = Ridge(penalty=2.0).fit(Z, y)
    covariance = model.noise_variance_ * np.linalg.inv(Z.T @ Z + 2.0 * np.eye(Z.shape[1]))
    found = [row["std_error"] for row in model.summary().to_dict()["coefficients"]]
    np.testing.assert_allclose(found[1:], np.sqrt(covariance.diagonal()), rtol=1e-8)
    assert found[0] == pytest.approx(np.sqrt(model.noise_variance_ / len(y)), rel=1e-8)


@pytest.mark.parametrize("penalty", [-1.0, np.nan, np.inf, "best", [1.0, 2.0], None, "1.0", np.array([[1.0]])], ids=str)
def test_penalties_that_mean_nothing_are_refused(penalty: Any) -> None:
    X, y = DATA["collinear"]
    with pytest.raises(InvalidParameter, match="penalty must be 'auto' or a number of zero or more, got"):
        Ridge(penalty=penalty).fit(X, y)


def test_unknown_criteria_are_refused() -> None:
    X, y = DATA["collinear"]
    with pytest.raises(InvalidParameter, match="criterion must be one of gcv, loo, evidence, folds, got 'aic'"):
        Ridge(criterion="aic").fit(X, y)


def test_a_penalty_for_each_target() -> None:
    X, Y = data(targets=2)
    model = Ridge(penalty=[1.0, 20.0]).fit(X, Y)
    for k, penalty in enumerate((1.0, 20.0)):
        one = Ridge(penalty=penalty).fit(X, Y[:, k])
        np.testing.assert_allclose(model.coef_[k], one.coef_, rtol=1e-13)
        assert model.noise_variance_[k] == pytest.approx(one.noise_variance_, rel=1e-12)
    assert model.penalty_.tolist() == [1.0, 20.0]
    with pytest.raises(InvalidParameter, match="got 2 numbers for 1 target"):
        Ridge(penalty=[1.0, 2.0]).fit(X, Y[:, 0])
    with pytest.raises(InvalidParameter, match="zero or more"):
        Ridge(penalty=[1.0, -2.0]).fit(X, Y)


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_the_penalty_by_folds_is_that_of_fits_without_each(scoring: Any) -> None:
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = Ridge(criterion="folds", folds=4, scoring=scoring).fit(X, y, weight)
    fold, spread = fold_of(0, len(y), 4), np.sqrt(np.cov(X.T, aweights=weight, ddof=0).diagonal())
    for at in (20, 50):
        penalty, errors = model.path_["penalties"][at], []
        for k in range(4):
            train = linear_model.Ridge(alpha=penalty).fit(X[fold != k] / spread, y[fold != k], weight[fold != k])
            r = np.abs(y - train.predict(X / spread))[fold == k]
            errors.append((weight[fold == k] @ (r**2 if scoring is None else r), weight[fold == k].sum()))
        total, mass = np.array(errors).T
        expected = total.sum() / mass.sum() if scoring is None else (total / mass).mean()
        assert model.path_["values"][at] == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InvalidParameter, match=r"scoring must be .*a name of scikit-learn"):
        Ridge(criterion="folds", scoring="best").fit(X, y)
    with pytest.raises(InvalidParameter, match=r"scoring is nan on fold 0: use fewer folds"):
        Ridge(criterion="folds", scoring=lambda model, X, y: float("nan")).fit(X, y)


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
    X, Y = data(targets=2)
    model = make().fit(X, Y)
    penalty = getattr(model, "penalty", 0.0)
    g = (X - X.mean(axis=0)).T @ (X @ model.coef_.T + model.intercept_ - Y) + penalty * model.coef_.T
    w = model.coef_.T
    assert (w >= 0).all()
    assert (w == 0).any()
    np.testing.assert_allclose(g[w > 0], 0.0, atol=1e-9)
    assert g[w == 0].min() > -1e-9
    assert model.certificate_.gap < 1e-20
    assert model.certificate_.status is Status.SOLVED
    halves = make().partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    np.testing.assert_allclose(halves.coef_, model.coef_, rtol=1e-9)
    with pytest.raises(InvalidParameter, match="no standard errors under positive=True"):
        model.summary()
    with pytest.raises(InvalidParameter, match="positive=True"):
        (LinearRegression(positive=True, solver="qr") if penalty == 0 else Ridge(positive=True)).fit(X, Y)
