"""RobustRegression: against statsmodels and linear programs, by its laws, and at the edges."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import ndtri
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import QuantileRegressor

from adaline import LinearRegression, RobustRegression, datasets
from adaline.arrays import Array
from adaline.errors import AdalineWarning, InvalidParameter
from adaline.inference.quantile import QUANTILE_ERRORS, bandwidth
from adaline.results import Status
from adaline.solvers.robust import m_estimation
from adaline.solvers.robust import quantile as quantile_solver
from adaline.solvers.smooth.newton import factor_hessian

SETTINGS: list[dict[str, Any]] = [
    {},
    {"scale": "huber"},
    {"penalty": 2.0, "standardize": True},
    {"loss": "absolute"},
    {"loss": "quantile", "quantile": 0.8},
    {"loss": "tukey", "init": "least_squares"},
    {"fit_intercept": False},
    {"loss": "absolute", "fit_intercept": False},
]
EACH = pytest.mark.parametrize("settings", SETTINGS, ids=str)
SAMPLES = int(os.environ.get("ADALINE_SAMPLES", "500"))
"""Of which a share is known to 1 %; ADALINE_SAMPLES=2000 knows it to 0.5 %, in 4 minutes."""


def data(seed: int = 0, n: int = 120, d: int = 3, wild: float = 0.1) -> tuple[Array, Array]:
    """Columns in unlike units with means; heavy-tailed errors, and some rows far above."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, d) + 3.0
    y = (X / X.std(axis=0)) @ rng.normal(size=d) + 1.0 + 0.5 * rng.standard_t(3, size=n)
    y[: int(wild * n)] += 15.0
    return X, y


def theta(model: Any) -> Array:
    return np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)])


def check(r: Array, level: float) -> float:
    return float(np.where(r > 0, level * r, (level - 1) * r).sum())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scale", ["mad", "huber"])
@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_statsmodels_agrees(loss: str, scale: str, seed: int) -> None:
    X, y = data(seed, n=(25, 60, 120, 300)[seed])
    norm = {"huber": sm.robust.norms.HuberT(), "tukey": sm.robust.norms.TukeyBiweight()}[loss]
    model = RobustRegression(loss=loss, scale=scale, init="least_squares").fit(X, y)
    rlm = sm.RLM(y, sm.add_constant(X), M=norm)
    theirs = rlm.fit(scale_est="mad", conv="coefs", tol=1e-11, maxiter=300)
    if scale == "huber":  # whose iterations are many inside every one: it has to stay where we are
        known = sm.robust.scale.HuberScale(tol=1e-14, maxiter=3000)
        theirs = rlm.fit(scale_est=known, start_params=theta(model), conv="coefs", maxiter=4)
    np.testing.assert_allclose(model.predict(X), theirs.fittedvalues, atol=1e-6 * model.scale_)
    assert model.scale_ == pytest.approx(theirs.scale, rel=1e-6)
    rows = model.summary().to_dict()["coefficients"]
    np.testing.assert_allclose([row["std_error"] for row in rows], theirs.bse, rtol=1e-6)
    np.testing.assert_allclose([row["p_value"] for row in rows], theirs.pvalues, rtol=1e-5, atol=1e-12)
    assert model.certificate_.status is Status.SOLVED
    assert model.certificate_.digits > 9
    assert model.n_iter_ < 40


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("level", [0.5, 0.1, 0.95])
@pytest.mark.parametrize("kind", ["numbers", "ties", "two values", "repeated"])
def test_quantiles_solve_the_linear_program(kind: str, level: float) -> None:
    X, y = data(1, n=250)
    rng = np.random.default_rng(0)
    if kind in ("ties", "two values"):
        X = rng.integers(0, 3, size=(200, 3)).astype(float)
        y = rng.integers(0, 5 if kind == "ties" else 2, 200).astype(float)
    if kind == "repeated":
        X, y = np.repeat(X[:60], 4, axis=0), np.repeat(y[:60], 4)
    model = RobustRegression(loss="quantile", quantile=level).fit(X, y)
    theirs = QuantileRegressor(quantile=level, alpha=0, solver="highs").fit(X, y)
    ours, best = check(y - model.predict(X), level), check(y - theirs.predict(X), level)
    assert ours <= best * (1 + 1e-12)
    proof = model.certificate_
    assert proof.objective == pytest.approx(ours, rel=1e-11)
    assert 0 <= proof.gap <= 1e-11 * proof.objective
    assert proof.status in (Status.SOLVED, Status.NOT_UNIQUE)
    assert "RobustRegression" in str(model.summary())
    if kind == "numbers":
        assert proof.status is Status.SOLVED
        np.testing.assert_allclose(theta(model), np.r_[theirs.intercept_, theirs.coef_], rtol=1e-7)
        assert (np.abs(y - model.predict(X)) < 1e-12 * np.abs(y).max()).sum() == 4


def quantile_errors(model: RobustRegression, errors: str) -> Array:
    return np.array([row["std_error"] for row in model.summary(errors=errors).to_dict()["coefficients"]])


R_FIGURES = pd.read_csv(Path(__file__).parents[1] / "data" / "quantreg" / "quantreg.csv", comment="#")


@pytest.mark.parametrize("name", ["penguins", "abalone"])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_errors_of_quantiles_are_those_of_r(name: str, level: float) -> None:
    """Those of "nid" in the rows where planes do not nearly meet; R divides by noise in the others."""
    chosen = R_FIGURES[(R_FIGURES.data == name) & (R_FIGURES.level == level)]
    theirs = dict(list(chosen.groupby("errors")))
    columns = list(theirs["ker"].coefficient[1:])
    table = pd.read_csv(Path(datasets.__file__).parent / f"{name}.csv")
    y = table[{"penguins": "body_mass_g", "abalone": "rings"}[name]]
    model = RobustRegression(loss="quantile", quantile=level).fit(table[columns], y)
    np.testing.assert_allclose(theta(model), theirs["ker"].estimate, rtol=1e-8)
    for ours, name_there in {"kernel": "ker", "iid": "quotient", "smoothed": "smoothed"}.items():
        np.testing.assert_allclose(quantile_errors(model, ours), theirs[name_there].std_error, rtol=1e-6)
    notes = model.summary(errors="nid").notes
    if not notes:
        np.testing.assert_allclose(quantile_errors(model, "nid"), theirs["nid"].std_error, rtol=1e-6)
    elif name == "penguins":
        assert notes[0].startswith("1 of 333 rows")
        np.testing.assert_allclose(quantile_errors(model, "nid"), theirs["nid"].std_error, rtol=0.01)
    assert bool(notes) == ((name, level) != ("penguins", 0.5))


@pytest.mark.night
@pytest.mark.parametrize("level", [0.1, 0.5])
@pytest.mark.parametrize("spread", [(0.2, 1.0), (1.0, 0.0, 0.0, 0.0)])
def test_intervals_of_quantiles_cover(level: float, spread: tuple[float, ...]) -> None:
    """y = 1 + x + (0.2 + x) e, and three columns with errors of equal width."""
    rng, covered = np.random.default_rng(1), np.zeros(len(spread))
    truth = np.ones(len(spread)) + ndtri(level) * np.array(spread)
    for _ in range(SAMPLES):
        rows = np.column_stack([np.ones(300), rng.uniform(0.0, 1.0, (300, len(spread) - 1))])
        y = rows.sum(axis=1) + rows @ spread * rng.normal(size=300)
        part = RobustRegression(loss="quantile", quantile=level).fit(rows[:, 1:], y).summary(errors="nid").parts[0]
        covered += (part.lower <= truth) & (truth <= part.upper)
    assert (covered >= 0.93 * SAMPLES).all(), covered / SAMPLES
    assert (covered <= 0.97 * SAMPLES).all(), covered / SAMPLES


def test_quantiles_of_mirrored_targets_are_mirrored() -> None:
    """What intervals at 0.1 cover, those at 0.9 do."""
    X, y = data(1, n=300)
    one, other = (
        RobustRegression(loss="quantile", quantile=level).fit(X, target).summary().parts[0]
        for level, target in ((0.1, y), (0.9, -y))
    )
    np.testing.assert_allclose(one.estimate, -other.estimate, rtol=1e-9)
    np.testing.assert_allclose([one.lower, one.upper], [-other.upper, -other.lower], rtol=1e-9)


def test_quantiles_are_judged_by_the_rows_that_their_density_rests_on() -> None:
    X, y = data(2, n=400)
    model = RobustRegression(loss="quantile", quantile=0.1).fit(X, y)
    found, normal = model.summary(level=0.9, errors="nid"), model.summary(errors="iid")
    few = model.summary().parts[0].freedom
    assert f"standard errors 'smoothed', judged by t with {few:.3g} degrees of freedom" in str(model.summary())
    assert 10 < few < 30
    freedom = 400 * bandwidth(0.1, 400.0)
    part = found.parts[0]
    assert part.freedom == pytest.approx(freedom)
    np.testing.assert_allclose(part.upper - part.estimate, student.ppf(0.95, freedom) * part.std_error, rtol=1e-12)
    np.testing.assert_allclose(part.p_value, 2 * student.sf(np.abs(part.statistic), freedom), rtol=1e-9)
    assert f"quantile 0.1;  standard errors 'nid', judged by t with {freedom:.3g} degrees of freedom" in str(found)
    assert "quantile 0.1;  standard errors 'iid', judged by the normal distribution" in str(normal)
    assert found.to_dict()["quantile"] == 0.1


@pytest.mark.parametrize("errors", QUANTILE_ERRORS)
def test_few_rows_beyond_the_plane_are_noted(errors: str) -> None:
    """Five rows a coefficient: 20 for an intercept and three columns."""
    X, y = data(2, n=400)
    for level, noted in ((0.04, True), (0.96, True), (0.06, False), (0.5, False)):
        notes = RobustRegression(loss="quantile", quantile=level).fit(X, y).summary(errors=errors).notes
        assert any("beyond the plane, fewer than 5 for each of 4 coefficients" in one for one in notes) == noted


@pytest.mark.parametrize(("rows", "said"), [(200, True), (1000, False)])
def test_a_density_that_few_rows_tell_is_said(rows: int, said: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 2))
    summary = RobustRegression(loss="quantile").fit(X, X[:, 0] + rng.standard_t(2, rows)).summary()
    assert any(f"about {2 * summary.parts[0].freedom:.0f} rows near the plane" in one for one in summary.notes) == said


def test_no_standard_errors_without_a_note_that_says_why() -> None:
    X, y = data(0, n=40)
    exact = X @ [1.0, 2.0, -3.0] + 4.0
    for settings, rows, target, why in (
        ({"loss": "absolute"}, X, exact, "next to the plane are all the same"),
        ({"loss": "quantile", "quantile": 1e-9}, X, y, "less than one row is expected beyond"),
        ({"loss": "absolute"}, X[:4], y[:4], "no more rows than coefficients"),
        ({}, X, exact, "half of the rows lie on the plane"),
        ({}, X[:4], y[:4], "half of the rows lie on the plane"),
        ({"scale": 1e6, "threshold": 1e6}, X[:4], y[:4], "no more rows than coefficients"),
        ({"penalty": 1.0}, X, y, "under a penalty"),
    ):
        found = RobustRegression(**settings).fit(rows, target).summary()
        assert np.isnan(found.parts[0].std_error).all(), settings
        assert why in found.notes[0]
        assert f"note: {found.notes[0]}" in str(found)
    found = RobustRegression(loss="absolute").fit(X, exact).summary(errors="kernel")
    assert "half of the rows lie on the plane" in found.notes[0]
    assert "do not lie apart" in RobustRegression(loss="absolute").fit(X, exact).summary(errors="nid").notes[0]


def test_few_rows_have_standard_errors_as_in_r() -> None:
    """R's stackloss at 0.1: the bandwidth is halved until both quantiles exist; a note says where planes cross."""
    stackloss = sm.datasets.stackloss.load()
    model = RobustRegression(loss="quantile", quantile=0.1).fit(stackloss.exog, stackloss.endog)
    theirs = [10.6409383, 0.2579643, 0.5033480, 0.2095618]
    np.testing.assert_allclose(quantile_errors(model, "kernel"), theirs, rtol=1e-6)
    assert np.isfinite([quantile_errors(model, errors) for errors in QUANTILE_ERRORS]).all()
    assert "nearly meet" in model.summary(errors="nid").notes[0]
    for distribution, statistic in (("t", "t"), ("normal", "z")):
        shown = str(model.summary(distribution=distribution)).splitlines()
        assert next(line.split() for line in shown if "estimate" in line)[3] == statistic


def test_the_absolute_loss_is_twice_the_median() -> None:
    X, y = data()
    a, b = RobustRegression(loss="absolute").fit(X, y), RobustRegression(loss="quantile").fit(X, y)
    np.testing.assert_array_equal(theta(a), theta(b))
    assert a.certificate_.objective == pytest.approx(np.abs(y - a.predict(X)).sum())


def test_a_median_that_is_not_unique_says_so() -> None:
    X, y = np.repeat([0.0, 1.0], 4)[:, None], np.array([1.0, 2.0, 4.0, 5.0, 11.0, 12.0, 14.0, 15.0])
    model = RobustRegression(loss="absolute").fit(X, y)
    assert model.certificate_.status is Status.NOT_UNIQUE
    assert model.certificate_.objective == pytest.approx(12.0)
    assert 2.0 <= model.predict([[0.0]])[0] <= 4.0
    assert 12.0 <= model.predict([[1.0]])[0] <= 14.0
    assert "equally good" in str(model.certificate_)


def test_a_level_that_may_move_between_its_rows_is_not_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([np.repeat(np.eye(30)[:, 1:], 10, axis=0), rng.normal(size=300)])
    y = x[:, -1] + rng.normal(size=300)
    y[10:20] += np.where(np.arange(10) < 5, 1e4, -1e4)  # all rows of a level lie beyond the threshold
    model = RobustRegression().fit(x, y)
    assert model.certificate_.status is Status.NOT_UNIQUE
    assert np.isnan(model.certificate_.digits)
    nothing = m_estimation.StepMetric(factor_hessian(np.zeros((31, 31))))
    monkeypatch.setattr(m_estimation, "_completed", lambda *given: nothing)
    slowly = RobustRegression(epochs=2000).fit(x, y)  # by reweighting alone
    np.testing.assert_allclose(slowly.coef_[1:], model.coef_[1:], atol=1e-8)
    assert slowly.certificate_.passes > model.certificate_.passes


@pytest.mark.parametrize("level", [0.5, 0.05])
def test_most_rows_are_only_counted(level: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows far from the plane enter as two sums; the answer is that of all rows together."""
    X, y = data(3, n=6000)
    fits = []
    for name, value in (
        ("MOST_TOGETHER", 10**6),
        ("MOST_TOGETHER", 300),
        ("BAND_WIDTH", 0.05),
    ):  # at last too few: the sides are put right
        monkeypatch.setattr(quantile_solver, name, value)
        fits.append(RobustRegression(loss="quantile", quantile=level).fit(X, y))
        np.testing.assert_allclose(theta(fits[-1]), theta(fits[0]), rtol=1e-9)
        assert fits[-1].certificate_.gap <= 1e-11 * fits[-1].certificate_.objective
    assert fits[-1].n_iter_ > 1


@EACH
def test_errors_count_weights_and_scales_have_units(settings: dict[str, Any]) -> None:
    X, y = data(4)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    a = RobustRegression(**settings).fit(X, y, sample_weight=weight)
    b = RobustRegression(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(a.scale_, b.scale_, rtol=1e-8)
    for one, other in zip(*(m.summary().to_dict()["coefficients"] for m in (a, b)), strict=True):
        np.testing.assert_allclose(one["std_error"], other["std_error"], rtol=1e-6)
    plain, unit = RobustRegression(**settings).fit(X, y), 1e200
    two = RobustRegression(**settings).fit(X, np.column_stack([y * unit, -y * unit]))
    np.testing.assert_allclose(two.scale_, np.full(2, plain.scale_ * unit), rtol=1e-8)
    assert two.summary().to_dict()["coefficients"][-1]["target"] == "y1"
    assert "target y1" in str(two.summary())
    if plain.fit_intercept:
        far = RobustRegression(**settings).fit(X, y + 1e6)
        np.testing.assert_allclose(far.predict(X) - 1e6, plain.predict(X), atol=1e-6)


def test_a_few_wild_rows_move_least_squares_and_no_robust_criterion() -> None:
    """Lecture S1: one outlier pulls the squared error's line as far as it likes."""
    rng, truth = np.random.default_rng(0), [3.0, 1.0, -2.0]
    X = rng.normal(size=(100, 2))
    y = X @ truth[1:] + 3.0 + 0.1 * rng.normal(size=100)
    wild, wilder = (np.where(np.arange(100) < 5, value, y) for value in (y + 1000.0, 1e200))
    assert np.abs(theta(LinearRegression().fit(X, wild)) - truth).max() > 10
    for loss in ("huber", "tukey", "absolute"):
        found, other = (theta(RobustRegression(loss=loss).fit(X, target)) for target in (wild, wilder))
        np.testing.assert_allclose(found, truth, atol=0.1)
        np.testing.assert_allclose(other, found, atol=1e-6)


def test_wild_columns_need_a_start_that_sees_through_them() -> None:
    """A third of the rows with wild columns: least squares leads Tukey to another minimum, trimmed rows do not."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=150)
    X[:50] += 20.0
    robust, led = (RobustRegression(loss="tukey", init=init).fit(X, y) for init in ("robust", "least_squares"))
    np.testing.assert_allclose(robust.coef_, [1.0, -2.0], atol=0.05)
    assert np.abs(led.coef_ - [1.0, -2.0]).max() > 0.5
    given = RobustRegression(loss="tukey", init=[0.0, 1.0, -2.0]).fit(X, y)
    np.testing.assert_allclose(theta(given), theta(robust), atol=1e-9)
    assert "others" in robust.certificate_.solver
    assert np.isinf(robust.certificate_.gap)
    kept = robust.row_weights(X, y)
    assert kept[:50].max() == 0.0
    assert kept[50:].mean() > 0.8


@pytest.mark.parametrize("loss", ["huber", "tukey", "absolute"])
def test_more_than_half_of_the_rows_on_a_plane(loss: str) -> None:
    X, _ = data(8, n=50)
    y = X @ [1.0, 2.0, -3.0] + 4.0
    wild = 20 if loss == "tukey" else 8
    y[:wild] += np.random.default_rng(0).normal(size=wild) * 10
    model = RobustRegression(loss=loss).fit(X, y)
    np.testing.assert_allclose(theta(model), [4.0, 1.0, 2.0, -3.0], rtol=1e-9)
    assert model.certificate_.status is Status.SOLVED
    if loss != "absolute":
        assert model.scale_ == 0.0
        assert "lie on a plane" in model.certificate_.solver
        assert model.summary().to_dict()["beyond"] == wild
        np.testing.assert_array_equal(model.row_weights(X, y)[wild:], 1.0)
        assert model.row_weights(X, y)[:wild].max() == 0.0


@EACH
def test_dependent_columns_get_the_shortest_weights(settings: dict[str, Any]) -> None:
    X, y = data(10)
    X = X / X.std(axis=0)
    rows = np.column_stack([X, 5.0 * X[:, 0]])
    model = RobustRegression(**settings).fit(rows, y)
    if not settings.get("penalty"):
        assert model.coef_[3] == pytest.approx(5.0 * model.coef_[0], rel=1e-6)
        assert model.certificate_.status is Status.RANK_DEFICIENT
        assert model.rank_ == 3
        alone = RobustRegression(**settings).fit(X, y)
        np.testing.assert_allclose(model.predict(rows), alone.predict(X), rtol=1e-7, atol=1e-7)
    wide = RobustRegression(**settings).fit(X.T, [1.0, 2.0, 5.0])
    assert np.isfinite(wide.coef_).all()


def test_a_penalty_is_that_of_the_criterion() -> None:
    X, y = data(11)
    model = RobustRegression(penalty=3.0, scale=0.7).fit(X, y)
    assert model.scale_ == pytest.approx(0.7)
    pull = np.clip(y - model.predict(X), -1.345 * 0.7, 1.345 * 0.7)
    np.testing.assert_allclose(X.T @ pull, 3.0 * model.coef_, rtol=1e-8, atol=1e-8 * np.abs(X).sum())
    assert abs(pull.sum()) < 1e-9 * len(y)
    assert np.isnan(model.summary().to_dict()["coefficients"][1]["std_error"])
    assert "penalty" in model.summary().notes[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", [0.1, 0.5])
def test_codes_and_counts_are_solved_as_sparse_rows(
    level: float, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results of games: two columns of categories and counts that tie, whose median is proven from dense rows too."""
    rng = np.random.default_rng(5)
    home, away = rng.integers(0, 12, (2, 900))
    X = np.column_stack([home[:, None] == np.arange(1, 12), away[:, None] == np.arange(1, 12)]).astype(float)
    y = rng.poisson(np.exp(0.3 + 0.1 * np.sin(home) - 0.1 * np.cos(away))).astype(float)
    weight = rng.integers(1, 4, 900) if weighted else None
    found = []
    for share in (quantile_solver.SPARSE_SHARE, 0.0):
        monkeypatch.setattr(quantile_solver, "SPARSE_SHARE", share)
        model = RobustRegression(loss="quantile", quantile=level).fit(X, y, weight)
        assert model.certificate_.gap <= 1e-9 * model.certificate_.objective
        found.append(model.certificate_.objective)
    theirs = QuantileRegressor(quantile=level, alpha=0, solver="highs").fit(X, y, weight)
    r = y - theirs.predict(X)
    lost = np.average(np.where(r > 0, level * r, (level - 1) * r), weights=weight) * (
        900 if weight is None else weight.sum()
    )
    np.testing.assert_allclose(found, lost, rtol=1e-9)


@pytest.mark.slow
def test_quantiles_of_many_tied_counts_are_proven() -> None:
    """14,018 results of 53 teams: the rows on the plane determine one coefficient less than there are."""
    rng, games, teams = np.random.default_rng(0), 7009, 53
    one = rng.integers(teams, size=games)
    other = (one + rng.integers(1, teams, size=games)) % teams
    attack, defence, home = np.r_[one, other], np.r_[other, one], np.repeat([1.0, 0.0], games)
    strength, weakness = 0.35 * rng.normal(size=(2, teams))
    y = rng.poisson(np.exp(0.1 + 0.3 * home + strength[attack] - weakness[defence])).astype(float)
    codes = [side[:, None] == np.arange(1, teams) for side in (attack, defence)]
    model = RobustRegression(loss="quantile", quantile=0.75).fit(np.column_stack([home, *codes]), y)
    assert model.certificate_.status is Status.NOT_UNIQUE
    assert model.certificate_.gap <= 1e-12 * model.certificate_.objective


@pytest.mark.parametrize("settings", [{"epochs": 2}, {"epochs": 1, "loss": "quantile", "quantile": 1e-3}], ids=str)
def test_too_few_iterations_are_told(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20_000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(20_000) + rng.standard_cauchy(20_000)
    with pytest.warns(ConvergenceWarning, match=rf"did not converge in {settings['epochs']} "):
        model = RobustRegression(**settings).fit(X, y)
    assert model.certificate_.status is Status.NOT_CONVERGED
    assert np.isfinite(theta(model)).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": "squared"},
        {"threshold": 0},
        {"quantile": 1.0},
        {"quantile": 0},
        {"epochs": 0},
        {"init": [1.0, 2.0]},
        {"fit_intercept": 1},
        {"standardize": "yes"},
        {"penalty": 1.0, "loss": "absolute"},
        {"random_state": "no", "loss": "tukey"},
    ],
    ids=str,
)
def test_arguments_that_mean_nothing(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match="init must hold 4" if "init" in settings else next(iter(settings))):
        RobustRegression(**settings).fit(*data())


@pytest.mark.parametrize(
    ("loss", "ask", "words"),
    [
        ("absolute", lambda model: model.row_weights(*data()), "no row weights"),
        ("huber", lambda model: model.summary(level=95), "level"),
        (
            "huber",
            lambda model: model.summary(errors="nid"),
            "errors must be one of H1, HC0, .*, HAC for loss='huber', got 'nid'",
        ),
        (
            "absolute",
            lambda model: model.summary(errors="H1"),
            "errors must be one of smoothed, nid, iid, kernel for loss='absolute', got 'H1'",
        ),
    ],
    ids=["row weights", "level", "nid", "H1"],
)
def test_what_a_fit_cannot_tell(loss: str, ask: Any, words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        ask(RobustRegression(loss=loss).fit(*data()))


@EACH
def test_nothing_warns_on_plain_data_and_constant_targets(settings: dict[str, Any]) -> None:
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        str(RobustRegression(**settings).fit(X, y).summary())
    zero = RobustRegression(**settings).fit(X, np.zeros(len(X)))
    np.testing.assert_allclose(zero.predict(X), 0.0, atol=1e-12)
    str(zero.summary())


@pytest.mark.parametrize("level", [1e-12, 1e-9, 1 - 1e-9])
@pytest.mark.parametrize("n", [30, 300, 6000])
def test_levels_near_the_ends_give_the_lowest_and_the_highest_plane(n: int, level: float) -> None:
    X, y = data(n % 7, n)
    model = RobustRegression(loss="quantile", quantile=level).fit(X, y)
    A, sign = np.column_stack([np.ones(n), X]), 1.0 if level < 0.5 else -1.0
    limit = linprog(-sign * A.sum(axis=0), A_ub=sign * A, b_ub=sign * y, bounds=(None, None), method="highs").x
    np.testing.assert_allclose(theta(model), limit, rtol=1e-6, atol=1e-8)
    proof = model.certificate_
    assert proof.status is Status.SOLVED
    r = y - model.predict(X)
    assert proof.objective == pytest.approx(check(np.where(np.abs(r) < 1e-9, 0.0, r), level), rel=1e-6)
    assert proof.gap <= 1e-9 * proof.objective
    assert "RobustRegression" in str(model.summary())


@pytest.mark.parametrize("level", [0.001, 0.01, 0.99])
def test_many_heavy_tailed_rows_at_levels_far_from_the_middle(level: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20_000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(20_000) * rng.exponential(size=20_000)
    y += rng.standard_cauchy(20_000)
    assert RobustRegression(loss="quantile", quantile=level).fit(X, y).certificate_.status is Status.SOLVED


@pytest.mark.parametrize("wild", [0.0, 400.0])
def test_a_level_that_the_start_has_not_seen_is_fitted(wild: float) -> None:
    """Three rows of 20,000 have it, and lie far from the others, one of them perhaps further."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(20_000, 2)), np.zeros(20_000)])
    X[[50, 7000, 15_000], 2] = 1.0
    y = X @ [1.0, 2.0, 500.0] + 3 + rng.normal(size=20_000)
    y[7000] += wild
    model = RobustRegression(loss="tukey").fit(X, y)
    assert model.certificate_.status is Status.SOLVED
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 500.0], atol=3.0)


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_dependent_columns_of_levels_take_no_more_steps_dense_or_sparse(loss: str) -> None:
    rng = np.random.default_rng(0)
    level = rng.integers(30, size=300)
    whole = np.column_stack([np.eye(30)[level][:, 1:], rng.normal(size=300)])
    y = level + whole[:, -1] + rng.standard_t(2, 300)
    dependent = np.column_stack([whole, level < 4, whole[:, :-1]])
    alike = RobustRegression(loss=loss).fit(whole, y)
    with pytest.warns(AdalineWarning, match="combinations"):
        dense, other = (RobustRegression(loss=loss).fit(rows, y) for rows in (dependent, sparse.csr_array(dependent)))
    assert other.certificate_.status is dense.certificate_.status is Status.RANK_DEFICIENT
    assert dense.n_iter_ <= alike.n_iter_ + 3
    np.testing.assert_allclose(dense.predict(dependent), alike.predict(whole), rtol=1e-7)
    np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-7, atol=1e-7)


def test_columns_that_depend_on_others_leave_tukeys_estimate_where_it_is() -> None:
    rng = np.random.default_rng(0)
    gap = np.arange(120) % 2.0
    filled = [np.where(gap == 1, v[gap == 0].mean(), v) for v in rng.normal(size=(2, 120)) * [[1], [10]]]
    X = np.column_stack([rng.normal(size=120), *filled, gap])
    y = X[:, 0] + rng.normal(size=120)
    alone = RobustRegression(loss="tukey").fit(X, y)
    X = np.column_stack([X, gap, gap, 1 - gap, gap + 1])
    with pytest.warns(AdalineWarning):
        model = RobustRegression(loss="tukey").fit(X, y)
    np.testing.assert_allclose(model.predict(X), alone.predict(X[:, :4]), atol=1e-6)
    assert model.scale_ == pytest.approx(alone.scale_, rel=1e-6)


def test_tukeys_estimate_of_a_category_of_many_levels_has_no_larger_scale_than_from_least_squares() -> None:
    rng = np.random.default_rng(5)
    level = np.repeat(np.arange(40), 12)
    X = np.column_stack([level[:, None] == np.arange(1, 40), rng.normal(size=480)]).astype(float)
    y = rng.normal(size=40)[level] * 5 + X[:, -1] + rng.normal(size=480) * np.exp(1.5 * rng.normal(size=40))[level]
    found, other = (RobustRegression(loss="tukey", init=init).fit(X, y) for init in ("robust", "least_squares"))
    assert found.scale_ <= other.scale_ * (1 + 1e-6)


def test_an_exact_fit_to_many_levels_needs_no_simplex_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.solvers.robust.quantile._simplex", pytest.fail)
    group = np.repeat(np.arange(60), 12)
    X = (group[:, None] == np.arange(1, 60)).astype(float)
    y = 20 * np.random.default_rng(0).normal(size=60).round(2)[group]
    found = RobustRegression(loss="absolute").fit(X, y)
    np.testing.assert_allclose(found.predict(X), y, rtol=1e-13, atol=1e-13)
    assert found.certificate_.status == Status.SOLVED
    assert found.certificate_.gap < 1e-10


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_an_exact_fit_has_no_rows_off_its_plane(loss: str) -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)).round(3)
    model = RobustRegression(loss=loss).fit(X, X @ [2.0, -3.0, 0.0] + 1)
    assert model.summary().to_dict()["beyond"] == 0
    assert "all 50 rows lie on the plane: the fit is exact" in str(model.summary())
    assert model.coef_[2] == 0.0  # not the rounding of the rows, of which no digit is right
    assert model.certificate_.digits > 10


@pytest.mark.parametrize("errors", QUANTILE_ERRORS)
@pytest.mark.parametrize(("n", "shift", "unit"), [(1000, 3.0, 1e-3), (300, 1e4, 1.0), (40, 1 / 3, 1e6)])
def test_residuals_that_are_rounding_give_a_quantile_no_errors(n: int, shift: float, unit: float, errors: str) -> None:
    X = 10 * np.random.default_rng(0).normal(size=(n, 2))
    model = RobustRegression(loss="absolute").fit(X, X @ [1 / 3, 2 / 7] * unit + shift)
    assert np.isnan(model.summary(errors=errors).parts[0].std_error).all()


@pytest.mark.parametrize("seed", range(3))
def test_levels_whose_rows_all_lie_far_out_do_not_hold_tukeys_weights_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 27, 600)
    level[:6] = [27, 27, 28, 28, 29, 29]
    X = np.column_stack([rng.standard_normal((600, 3)), np.eye(30)[level][:, 1:]])
    X = np.column_stack([X, X[:, :3] @ rng.standard_normal(3), X[:, 3:] @ rng.standard_normal(29)])
    y = X[:, 0] + 0.1 * rng.standard_normal(600)
    y[:6] += 50 * rng.standard_exponential(6)
    with pytest.warns(AdalineWarning, match="linear combinations"):
        model = RobustRegression(loss="tukey").fit(X, y)
    assert model.certificate_.status is Status.RANK_DEFICIENT
    assert np.abs(model.coef_).max() < 10 * np.abs(y).max()
