"""Inference by least squares: figures against statsmodels and 60 digits, laws of all of them, what is refused."""

from __future__ import annotations

import json
import math
import warnings
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from statsmodels.stats.outliers_influence import variance_inflation_factor

import adaline
from adaline import AdalineWarning, GeneralizedLinear, LinearRegression, Ridge, RobustRegression, anova
from adaline.arrays import Array
from adaline.errors import InvalidData, InvalidParameter, SumsMissing
from adaline.inference.classical import EXACT_FIT
from adaline.inference.summary import STATISTICS
from adaline.sources import array
from tests.inference.against import (
    DATA,
    ROBUST,
    ROWS,
    WEIGHT,
    Rows,
    column,
    design,
    exact_sandwich,
    fitted,
    generated,
    given_again,
    longley,
)

ERRORS = ("classical", *ROBUST)
QUALITY = {
    "r_squared": "rsquared",
    "adjusted_r_squared": "rsquared_adj",
    "log_likelihood": "llf",
    "aic": "aic",
    "bic": "bic",
    "freedom": "df_resid",
    "model_freedom": "df_model",
}
MEASURES = ("leverage", "residual", "standardized", "studentized", "cooks_distance", "dffits")
NEW = generated(20, seed=11).X

NORMAL = {"CR1": {"distribution": "normal"}}  # by which statsmodels judges clusters

every_error = pytest.mark.parametrize("errors", ERRORS)
with_and_without = pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no-intercept"])


@pytest.mark.parametrize("weights", ["frequency", "precision"])
@with_and_without
@pytest.mark.parametrize("errors", ["classical", "HC0", "HC1", "HC2", "HC3", "CR1"])
@pytest.mark.parametrize("name", DATA)
def test_every_figure_is_that_of_statsmodels(name: str, errors: str, intercept: bool, weights: Any) -> None:
    """Precisions are weights of least squares, which statsmodels has; frequencies are repeated rows, see below."""
    rows, level = DATA[name], 0.95 if intercept else 0.5
    weight = WEIGHT[: len(rows.y)] if weights == "precision" else None
    theirs = fitted(rows, errors, intercept, weight)
    model = LinearRegression(fit_intercept=intercept, weights=weights).fit(rows.X, rows.y, weight)
    summary = model.summary(level=level, **given_again(rows, errors, weight), **NORMAL.get(errors, {}))
    found, ends = summary.to_dict(), theirs.conf_int(1 - level)
    expected = (theirs.params, theirs.bse, theirs.tvalues, theirs.pvalues, ends[:, 0], ends[:, 1])
    for statistic, values in zip(STATISTICS, expected, strict=True):
        rounding = 1e-10 * np.abs(theirs.params) if statistic in ("lower", "upper") else 1e-300
        assert (np.abs(column(found, statistic) - values) <= 1e-8 * np.abs(values) + rounding).all(), statistic
    for ours, their in QUALITY.items():
        assert found[ours] == pytest.approx(getattr(theirs, their), rel=1e-9), ours
    assert found["sigma"] == pytest.approx(theirs.scale**0.5, rel=1e-9)
    assert found["errors"] == errors
    told = f"weights are precisions: every row is one observation, {len(rows.y)} in all" in str(summary)
    assert told == (weights == "precision")
    if errors != "CR1" or len(np.unique(rows.groups)) > rows.X.shape[1] + 1:
        assert found["f_statistic"] == pytest.approx(theirs.fvalue, rel=1e-9)
        assert found["f_p_value"] == pytest.approx(theirs.f_pvalue, rel=1e-6, abs=1e-300)
    else:
        assert np.isnan(found["f_statistic"])
    rng, unit = np.random.default_rng(5), np.concatenate([np.ones(int(intercept)), rows.X.std(axis=0)])
    for q in (1, 2, 3):
        if errors == "CR1" and name == "penguins":
            break
        matrix = rng.normal(size=(q, len(unit))) * unit
        value = matrix @ theirs.params + 0.1 * rng.normal(size=q)
        test = model.test(matrix, value, **given_again(rows, errors, weight))
        f, wald = theirs.f_test((matrix, value)), theirs.wald_test((matrix, value), use_f=False, scalar=True)
        assert test.freedom == (q, f.df_denom)
        assert (test.statistic, test.p_value, test.chi2, test.chi2_p_value) == pytest.approx(
            (float(f.fvalue), float(f.pvalue), float(wald.statistic), float(wald.pvalue)), rel=1e-8
        )


@pytest.mark.parametrize("weights", ["frequency", "precision"])
@with_and_without
@pytest.mark.parametrize("name", DATA)
def test_influence_and_intervals_are_those_of_statsmodels(name: str, intercept: bool, weights: Any) -> None:
    rows = DATA[name]
    weight = WEIGHT[: len(rows.y)] if weights == "precision" else np.ones(len(rows.y))
    root = np.sqrt(weight)
    scaled = Rows(design(rows.X, intercept) * root[:, None], rows.y * root, rows.groups)
    model = LinearRegression(fit_intercept=intercept, weights=weights).fit(rows.X, rows.y, weight)
    found, theirs = model.influence(rows.X, rows.y, weight), fitted(scaled, intercept=False)
    other = theirs.get_influence()
    assert found._fields == MEASURES
    expected = (other.hat_matrix_diag, theirs.resid / root, other.resid_studentized_internal)
    expected += (other.resid_studentized_external, other.cooks_distance[0], other.dffits[0])
    for what, values in zip(MEASURES, expected, strict=True):
        size = np.sqrt(theirs.scale) if what == "residual" else 1.0
        np.testing.assert_allclose(getattr(found, what), values, rtol=1e-9, atol=1e-11 * size, err_msg=what)
    new = rows.X[:9] + rows.X.std(axis=0)
    for level in (0.95, 0.8):
        band = fitted(rows, intercept=intercept, weight=weight).get_prediction(design(new, intercept))
        frame = band.summary_frame(alpha=1 - level)
        for interval, prefix in (("confidence", "mean_ci"), ("prediction", "obs_ci")):
            mine = model.predict(new, interval=interval, level=level)
            for end, values in zip(mine, ("mean", f"{prefix}_lower", f"{prefix}_upper"), strict=True):
                np.testing.assert_allclose(end, frame[values], rtol=1e-8)


@pytest.mark.parametrize("name", DATA)
def test_inflation_is_that_of_statsmodels_and_without_an_intercept_about_zero(name: str) -> None:
    rows = DATA[name]
    full = design(rows.X)
    expected = [variance_inflation_factor(full, j) for j in range(1, full.shape[1])]
    for model in (LinearRegression(), Ridge(), Ridge(penalty=3.0), LinearRegression(solver="svd")):
        np.testing.assert_allclose(model.fit(rows.X, rows.y).variance_inflation(), expected, rtol=1e-9)
    about_zero = []
    for j, x in enumerate(rows.X.T):
        others = np.delete(rows.X, j, axis=1)
        rest = x - others @ np.linalg.lstsq(others, x)[0]
        about_zero.append(x @ x / (rest @ rest))
    found = LinearRegression(fit_intercept=False).fit(rows.X, rows.y).variance_inflation()
    np.testing.assert_allclose(found, about_zero, rtol=1e-9)


@every_error
def test_longley_in_sixty_digits(errors: str) -> None:
    rows = longley()
    model, (theta, covariance) = LinearRegression().fit(rows.X, rows.y), exact_sandwich(rows, errors)
    found = column(model.summary(**given_again(rows, errors)), "std_error")
    np.testing.assert_allclose(found, [float(covariance[j, j] ** 0.5) for j in range(7)], rtol=1e-11)
    with mp.workdps(60):
        c = mp.matrix(3, 7)
        c[0, 2] = c[1, 3] = c[2, 0] = 1
        c[1, 4], c[2, 6] = -2, 1955
        d = c * mp.matrix(theta) - mp.matrix([0, 0, 100000])
        expected = (d.T * (c * covariance * c.T) ** -1 * d)[0] / 3
    test = model.test("x1 = 0, x2 = 2*x3, intercept + 1955*x5 = 1e5", **given_again(rows, errors))
    assert test.statistic == pytest.approx(float(expected), rel=1e-10)


# Laws of all figures.


def figures(model: Any, rows: Rows, weight: Array | None = None, X: Any = None) -> dict[str, Any]:
    """Return all that inference tells of a fit to four columns, given these rows again, in the form X of their own."""
    X = rows.X if X is None else X
    influence = model.influence(X, rows.y, weight)
    found = {"inflation": model.variance_inflation(), **influence._asdict()}
    for errors in ERRORS:
        again = given_again(rows, errors, weight) | ({} if errors == "classical" else {"X": X})
        summary = model.summary(**again).to_dict()
        found |= {f"{errors} {name}": column(summary, name) for name in ("std_error", "p_value", "lower")}
        found |= {f"{errors} {name}": summary[name] for name in ("f_statistic", "f_p_value", "aic", "bic", "r_squared")}
        test = model.test([[0, 1, -2, 0, 0], [0, 0, 0, 1, 0]], [0.1, 0.3], **again)
        found[f"{errors} test"] = np.array([test.statistic, test.p_value, *test.freedom])
    for interval in ("confidence", "prediction"):
        found[interval] = np.array(model.predict(NEW, interval=interval))
    return found


def assert_equal(found: dict[str, Any], expected: dict[str, Any], rtol: float = 1e-8) -> None:
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=rtol, atol=1e-11 * np.nanmax(np.abs(values)), err_msg=name)


@cache
def plain() -> dict[str, Any]:
    return figures(LinearRegression().fit(ROWS.X, ROWS.y), ROWS)


def test_weights_are_repetitions() -> None:
    rows, weight = ROWS[:100], np.random.default_rng(0).integers(0, 4, 100)
    again = np.repeat(np.arange(100), weight)
    model = LinearRegression().fit(rows.X, rows.y, weight)
    found = figures(model, rows, weight)
    out = {what: found[what][weight == 0] for what in MEASURES}
    assert (out["leverage"] == 0).all()
    assert np.isfinite(out["residual"]).all()
    assert np.isnan([out[what] for what in MEASURES[2:]]).all()
    found |= {what: found[what][again] for what in MEASURES}
    repeated = figures(LinearRegression().fit(rows.X[again], rows.y[again]), rows[again])
    assert_equal(found, repeated)
    assert_equal(figures(model, rows[again]), repeated)
    summary = model.summary().to_dict()
    assert (summary["weight"], summary["rows"]) == (weight.sum(), 100)


@pytest.mark.parametrize("way", ["streamed", "merged", "other order"])
def test_streams_merged_models_and_any_order_are_one_fit(way: str) -> None:
    first, last = ROWS[:100], ROWS[100:]
    model, rows = LinearRegression().partial_fit(first.X, first.y), ROWS
    if way == "merged":
        model = model.merge(LinearRegression().fit(last.X, last.y))
    else:
        model.partial_fit(last.X, last.y)
    found, order = figures(model, rows), slice(None)
    if way == "other order":
        order = np.random.default_rng(0).permutation(400)
        found = figures(model, rows[order])
    assert_equal(found, plain() | {what: plain()[what][order] for what in MEASURES})


@pytest.mark.parametrize("layout", ["float32", "columns", "csr", "frame"])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_every_layout_of_rows(layout: str) -> None:
    rows = Rows(ROWS.X.astype(np.float32).astype(np.float64), ROWS.y, ROWS.groups)
    X = {
        "float32": lambda: rows.X.astype(np.float32),
        "columns": lambda: np.asfortranarray(rows.X),
        "csr": lambda: sparse.csr_array(rows.X),
        "frame": lambda: pd.DataFrame(rows.X, columns=list("abcd")),
    }[layout]()
    expected = figures(LinearRegression().fit(rows.X, rows.y), rows)
    assert_equal(figures(LinearRegression().fit(X, rows.y), rows, X=X), expected)


@pytest.mark.usefixtures("blas_threads")
def test_the_number_of_threads_changes_no_bit_and_blocks_few(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = plain()  # before the blocks are cut
    monkeypatch.setattr(array, "block_rows", lambda features: 50)
    found = []
    for threads in (1, 3):
        adaline.set_threads(threads)
        found.append(figures(LinearRegression().fit(ROWS.X, ROWS.y), ROWS))
    for name, values in found[0].items():
        np.testing.assert_array_equal(values, found[1][name], err_msg=name)
    assert_equal(found[0], expected)


@every_error
@pytest.mark.parametrize("power", [[0, 0, 0, 0, 60], [40, -40, 3, 0, 0], [900, -900, 1, 0, -100]], ids=str)
def test_units_change_nothing_but_the_units(errors: str, power: list[int]) -> None:
    far = Rows(np.ldexp(ROWS.X, power[:4]), np.ldexp(ROWS.y, power[4]), ROWS.groups)
    found = LinearRegression().fit(far.X, far.y).summary(**given_again(far, errors))
    unit = power[4] - np.array([0, *power[:4]])
    np.testing.assert_array_equal(column(found, "std_error"), np.ldexp(plain()[f"{errors} std_error"], unit))
    np.testing.assert_allclose(column(found, "p_value"), plain()[f"{errors} p_value"], rtol=1e-8)


def test_large_means_and_units_cost_no_digits() -> None:
    scale, shift = np.exp2([0.0, 30.0, -30.0, 0.0]), np.array([1e9, 0.0, 0.0, -1e6])
    far = Rows(ROWS.X * scale + shift, ROWS.y, ROWS.groups)
    model = LinearRegression().fit(far.X, far.y)
    np.testing.assert_allclose(model.variance_inflation(), plain()["inflation"], rtol=1e-9)
    for errors in ERRORS:
        summary = model.summary(**given_again(far, errors))
        found = column(summary, "std_error")[1:] * scale
        np.testing.assert_allclose(found, plain()[f"{errors} std_error"][1:], rtol=1e-8)
        assert summary.parts[0].f_statistic == pytest.approx(plain()[f"{errors} f_statistic"], rel=1e-8)
    measures = model.influence(far.X, far.y)
    for what in MEASURES:
        size = np.abs(plain()[what]).max()
        np.testing.assert_allclose(getattr(measures, what), plain()[what], rtol=1e-8, atol=1e-9 * size)
    near = LinearRegression().fit(ROWS.X, ROWS.y).test([1.0, *ROWS.X[7]], 2.5)
    assert model.test([1.0, *far.X[7]], 2.5).statistic == pytest.approx(near.statistic, rel=1e-8)


@every_error
@pytest.mark.parametrize("kind", [LinearRegression, Ridge])
def test_each_target_is_judged_by_itself(kind: Any, errors: str) -> None:
    targets = np.column_stack([ROWS.y, 1e-9 * ROWS.y**2, np.cos(np.arange(400.0))])
    both = kind().fit(ROWS.X, targets)
    again = given_again(ROWS, errors)
    summary = both.summary(**(again | ({} if errors == "classical" else {"y": targets})))
    told = summary.to_dict()
    assert [part["target"] for part in told["targets"]] == ["y0", "y1", "y2"]
    for k in range(3):
        one = Rows(ROWS.X, targets[:, k], ROWS.groups)
        alone = kind().fit(one.X, one.y)
        part = alone.summary(**given_again(one, errors)).parts[0]
        for name, values in vars(part).items():
            np.testing.assert_allclose(getattr(summary.parts[k], name), values, rtol=1e-8, atol=1e-300, err_msg=name)
        rows = [row["estimate"] for row in told["coefficients"] if row["target"] == f"y{k}"]
        assert rows == summary.parts[k].estimate.tolist()
        if kind is Ridge:
            continue
        test = both.test("x0 = x1", **(again | ({} if errors == "classical" else {"y": targets})))
        assert test.statistic.shape == test.p_value.shape == (3,)
        assert "target y1: F" in str(test)
        expected = alone.test("x0 = x1", **given_again(one, errors))
        assert (test.statistic[k], test.p_value[k]) == pytest.approx((expected.statistic, expected.p_value), rel=1e-8)
        if errors != "classical":
            continue
        for what, values in both.influence(ROWS.X, targets)._asdict().items():
            mine = values if what == "leverage" else values[:, k]
            np.testing.assert_allclose(mine, getattr(alone.influence(one.X, one.y), what), rtol=1e-8, atol=1e-20)
        for a, b in zip(both.predict(NEW, "prediction"), alone.predict(NEW, "prediction"), strict=True):
            np.testing.assert_allclose(a[:, k], b, rtol=1e-9)


@every_error
def test_dependent_columns_are_left_out(errors: str) -> None:
    X = np.column_stack([ROWS.X, ROWS.X[:, 0] + ROWS.X[:, 1], ROWS.X[:, 3], np.full(400, 7.0)])
    rows = Rows(X, ROWS.y, ROWS.groups)
    for solver in ("auto", "svd", "normal"):
        with pytest.warns(AdalineWarning, match=r"x4 = x0 \+ x1; x5 = x3"):
            model = LinearRegression(solver=solver).fit(X, ROWS.y)
        assert model.rank_ == 4
        summary = model.summary(**given_again(rows, errors))
        found = column(summary, "std_error")
        np.testing.assert_allclose(found[:5], plain()[f"{errors} std_error"], rtol=1e-8)
        assert np.isnan(found[5:]).all()
        reasons = [row["left_out"] for row in summary.to_dict()["coefficients"][5:]]
        assert reasons == ["x4 = x0 + x1", "x5 = x3", "constant"]
        assert any("x4 = x0 + x1; x5 = x3" in note for note in summary.notes)
        assert summary.parts[0].f_statistic == pytest.approx(plain()[f"{errors} f_statistic"], rel=1e-8)
    found = LinearRegression().fit(X, ROWS.y).variance_inflation()
    assert np.isinf(found[[0, 1, 3, 4, 5, 6]]).all()  # whoever takes part, not only the ones named in aliased_
    assert found[2] == pytest.approx(plain()["inflation"][2], rel=1e-9)
    constant = LinearRegression().fit(X[:, [0, 1, 6]], ROWS.y).variance_inflation()
    assert np.isinf(constant).tolist() == [False, False, True]


# Precisions.


def test_precisions_are_of_rows_whatever_their_unit() -> None:
    frequency, one, many = (
        LinearRegression(weights=weights).fit(ROWS.X, ROWS.y, c * WEIGHT)
        for weights, c in (("frequency", 1.0), ("precision", 1.0), ("precision", 64.0))
    )
    np.testing.assert_array_equal(frequency.coef_, one.coef_)
    assert frequency.certificate_.digits == one.certificate_.digits
    a, b = (model.summary().parts[0] for model in (one, many))
    np.testing.assert_allclose(a.std_error, b.std_error, rtol=1e-12)
    assert b.sigma == pytest.approx(8 * a.sigma)
    assert b.log_likelihood == pytest.approx(a.log_likelihood, rel=1e-12)
    equal = [LinearRegression(weights=w).fit(ROWS.X, ROWS.y).summary().to_dict() for w in ("frequency", "precision")]
    for key in ("coefficients", "freedom", "aic", "log_likelihood"):
        assert equal[0][key] == equal[1][key]


def test_rows_of_no_precision_are_not_observations_and_parts_add_up() -> None:
    weight, some = WEIGHT * (np.arange(400) % 3 > 0), np.arange(400) % 3 > 0
    system = LinearRegression(weights="precision")
    first, last, whole = slice(0, 150), slice(150, 400), slice(None)
    found, expected, a, b = (
        clone(system).fit(ROWS.X[part], ROWS.y[part], weight[part]) for part in (whole, some, first, last)
    )
    stream = clone(system).partial_fit(ROWS.X[first], ROWS.y[first], weight[first])
    stream.partial_fit(ROWS.X[last], ROWS.y[last], weight[last])
    more = np.vstack([ROWS.X, NEW]), np.append(ROWS.y, NEW[:, 0]), np.append(weight, WEIGHT[:20])
    forgetful = clone(system).fit(*more).forget(NEW, NEW[:, 0], WEIGHT[:20])
    known = figures(expected, ROWS[some], weight[some])
    for model in (found, a.merge(b), stream, forgetful):
        assert_equal(figures(model, ROWS[some], weight[some]), known)
    with pytest.raises(ValueError, match="forget"):  # which leaves the count as it was
        stream.forget(ROWS.X[:399], ROWS.y[:399], weight[:399])
    assert stream.summary().to_dict()["freedom"] == some.sum() - 5


def test_precisions_and_frequencies_do_not_mix() -> None:
    a, b = (LinearRegression(weights=w).fit(ROWS.X, ROWS.y, WEIGHT) for w in ("frequency", "precision"))
    with pytest.raises(InvalidParameter, match="do not add up"):
        a.merge(b)
    with pytest.raises(InvalidParameter, match="do not add up"):
        a.set_params(weights="precision").partial_fit(ROWS.X, ROWS.y)
    assert a.summary().to_dict()["freedom"] == pytest.approx(WEIGHT.sum() - 5)  # as fitted, until fitted again
    for model in (LinearRegression(weights="analytic"), Ridge(weights=None)):
        with pytest.raises(InvalidParameter, match="weights must be one of frequency, precision"):
            model.fit(ROWS.X, ROWS.y)
    twice = [np.concatenate([part, part]) for part in (ROWS.X, ROWS.y, WEIGHT / 2)]
    with pytest.raises(InvalidData, match="800 have a positive weight, the model holds 400"):
        b.summary(errors="HC0", X=twice[0], y=twice[1], sample_weight=twice[2])


# Ridge: the posterior under its prior; how many observations there are decides its penalty too.


def test_ridge_of_a_given_penalty() -> None:
    model = Ridge(penalty=5.0, weights="precision").fit(ROWS.X, ROWS.y, WEIGHT)
    part, a = model.summary().parts[0], design(ROWS.X)
    bread = np.linalg.inv(a.T @ (a * WEIGHT[:, None]) + np.diag([0.0, 5, 5, 5, 5]))
    hat, r = bread @ (a.T @ (a * WEIGHT[:, None])), ROWS.y - model.predict(ROWS.X)
    assert part.freedom == pytest.approx(400 - np.trace(hat), rel=1e-10)
    assert model.noise_variance_ == pytest.approx(WEIGHT @ r**2 / part.freedom, rel=1e-9)
    np.testing.assert_allclose(part.std_error, np.sqrt(model.noise_variance_ * np.diagonal(bread)), rtol=1e-9)


def test_robust_errors_of_a_penalised_fit_are_without_its_bias() -> None:
    model, a = Ridge(penalty=10.0).fit(ROWS.X, ROWS.y), design(ROWS.X)
    bread, r = np.linalg.inv(a.T @ a + np.diag([0.0, 10, 10, 10, 10])), ROWS.y - model.predict(ROWS.X)
    h = ((a @ bread) * a).sum(axis=1)
    for errors, share in (("HC0", np.ones(400)), ("HC2", 1 - h), ("HC3", (1 - h) ** 2)):
        expected = np.sqrt(np.diagonal(bread @ (a.T @ (a * (r**2 / share)[:, None])) @ bread))
        found = model.summary(**given_again(ROWS, errors))
        np.testing.assert_allclose(column(found, "std_error"), expected, rtol=1e-9)
        assert "without its bias" in str(found)
        assert np.isnan(found.parts[0].f_statistic)


@pytest.mark.parametrize("criterion", ["gcv", "evidence", "loo"])
def test_ridge_does_not_depend_on_a_factor_of_the_precisions(criterion: str) -> None:
    rows, weight = ROWS[:60], WEIGHT[:60]
    models = [Ridge(criterion=criterion, weights="precision").fit(rows.X, rows.y, c * weight) for c in (1.0, 100.0)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-5)


def test_ridge_leaves_whole_rows_out() -> None:
    rows, weight = ROWS[:40], WEIGHT[:40]
    path = Ridge(criterion="loo", weights="precision").fit(rows.X, rows.y, weight).path_
    X = rows.X / np.sqrt(np.cov(rows.X.T, aweights=weight, ddof=0).diagonal())
    for at in (20, 60):
        total = 0.0
        for i in range(40):
            left = np.arange(40) != i
            alone = Ridge(penalty=path["penalties"][at], standardize=False).fit(X[left], rows.y[left], weight[left])
            total += weight[i] * (rows.y[i] - alone.predict(X[i : i + 1])[0]) ** 2
        assert path["values"][at] * 40 == pytest.approx(total, rel=1e-8)


# Where figures do not exist.


@with_and_without
def test_no_degrees_of_freedom_leave_no_errors_and_a_note(intercept: bool) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3 + intercept, 3)), rng.normal(size=3 + intercept)
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    found = model.summary().to_dict()
    assert np.isfinite(column(found, "estimate")).all()
    assert len(found["coefficients"]) == 3 + intercept
    assert all(np.isnan(column(found, name)).all() for name in STATISTICS[1:])
    assert any("no standard errors: there are no more rows than parameters" in note for note in found["notes"])
    assert np.isnan([found["sigma"], found["f_p_value"], found["adjusted_r_squared"]]).all()
    assert found["r_squared"] == pytest.approx(1.0)
    band = model.predict(X, interval="confidence")
    assert np.isnan(band.lower).all()
    assert np.isfinite(band.prediction).all()
    assert "-" in str(model.summary())
    assert np.isnan(model.influence(X, y).standardized).all()
    with pytest.raises(InvalidData, match="leave no residuals"):
        model.summary(errors="HC0", X=X, y=y)
    with pytest.raises(InvalidData, match="no more rows than parameters"):
        model.test("x0 = 0")
    one_more = np.vstack([X, X[:1] + 1]), np.append(y, 2.0)
    found = LinearRegression(fit_intercept=intercept).fit(*one_more).influence(*one_more)
    assert np.isfinite(found.standardized).all()
    assert np.isnan(found.studentized).all()


@pytest.mark.parametrize("slopes", [(0.0, 0.0), (1.0, 2.0)])
def test_an_exact_fit_has_no_error_no_tests_and_no_complaint(slopes: tuple[float, float]) -> None:
    X = np.arange(12.0).reshape(6, 2) ** 2
    y = X @ slopes + 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearRegression().fit(X, y)
        found = model.summary().to_dict()
    assert column(found, "estimate") == pytest.approx([3.0, *slopes], abs=1e-12)
    assert (column(found, "std_error") < 1e-13).all()
    assert np.isnan([found[name] for name in ("f_statistic", "log_likelihood", "aic", "bic")]).all()
    assert np.isnan([column(found, "statistic"), column(found, "p_value")]).all()
    if any(slopes):
        assert found["r_squared"] == pytest.approx(1.0, abs=1e-14)
        assert "R² 1" in str(model.summary())
        assert found["notes"] == [EXACT_FIT]
        with pytest.raises(InvalidData, match="the fit is exact to rounding"):
            GeneralizedLinear(loss="gaussian").fit(X, y).test("x0 = 1")
    else:
        assert math.isnan(found["r_squared"])
        (note,) = found["notes"]
        assert note.startswith("the target has the same value in every row: there is nothing to explain, and tests")
    with pytest.raises(InvalidData, match="the fit is exact to rounding"):
        model.test("x0 = 1")
    with pytest.raises(InvalidData, match="the fit of the largest model is exact to rounding"):
        anova(LinearRegression().fit(X[:, :1], y), model)
    measures = model.influence(X, y)
    assert np.isfinite(measures.leverage).all()
    assert np.isnan([measures.cooks_distance, measures.studentized]).all()


@pytest.mark.filterwarnings("ignore:left out")
def test_columns_that_take_no_part_in_an_exact_fit_are_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)).round(3)
    y = 1e6 * X[:, 0] - 1e6 * X[:, 2] + 7.3
    for model in (LinearRegression(), GeneralizedLinear(loss="gaussian")):
        found = model.fit(X, y).summary().to_dict()
        assert found["notes"][0].startswith(EXACT_FIT)
        assert np.isnan(column(found, "p_value")).all()
    zero = f"{EXACT_FIT}; the coefficient of x1 is zero to rounding"
    assert LinearRegression().fit(X, y).summary().notes == [zero]
    dependent = LinearRegression(rank="drop").fit(np.column_stack([X, X[:, 0] - X[:, 1], np.ones(50)]), y).summary()
    assert dependent.notes[-1] == zero  # x3 and x4 are left out
    noisy = LinearRegression().fit(X, y + 1e-6 * rng.normal(size=50)).summary()
    assert noisy.notes == []  # 1e-12 of the target is more than rounding
    assert noisy.to_dict()["f_p_value"] < 1e-10
    one_of_two = LinearRegression().fit(X, np.column_stack([rng.normal(size=50), X @ [1.0, 2.0, 1.0]])).summary()
    assert one_of_two.notes == [EXACT_FIT.replace("the fit", "the fit of y1")]
    assert np.isfinite(one_of_two.parts[0].p_value).all()


@pytest.mark.parametrize(
    ("X", "y"), [([[1.0]], [2.0]), ([[1.0], [2.0]], [2.0, 5.0]), ([[0.0], [0.0], [0.0]], [0.0, 0.0, 0.0])], ids=str
)
def test_a_fit_without_residuals_has_no_likelihood(X: Any, y: Any) -> None:
    summary = LinearRegression().fit(X, y).summary()
    found = summary.to_dict()
    assert np.isnan([found["aic"], found["bic"], found["log_likelihood"]]).all()
    assert "AIC" not in str(summary)
    assert (", 1 row\n" in str(summary)) == (len(y) == 1)


def test_a_row_of_leverage_one() -> None:
    rows, others = ROWS[:50], np.arange(50) != 17
    X = np.column_stack([rows.X, ~others, rows.X[:, 0] - rows.X[:, 1]])
    model = LinearRegression().fit(X, rows.y)
    found = model.influence(X, rows.y)
    assert found.leverage[17] == pytest.approx(1.0)
    assert abs(found.residual[17]) < 1e-12
    for what in MEASURES[2:]:
        assert np.isnan(getattr(found, what)[17])
        assert np.isfinite(getattr(found, what)[others]).all()
    without = LinearRegression().fit(rows.X[others], rows.y[others]).influence(rows.X[others], rows.y[others])
    np.testing.assert_allclose(found.studentized[others], without.studentized, rtol=1e-8)
    for errors in ("HC2", "HC3"):
        with pytest.raises(InvalidData, match=f"row 17 has leverage 1.*{errors} divides by zero"):
            model.summary(errors=errors, X=X, y=rows.y)
    model.summary(errors="HC1", X=X, y=rows.y)


def test_an_unfinished_descent_has_the_residuals_of_its_own_predictions() -> None:
    with pytest.warns(UserWarning, match="not converged"):
        model = LinearRegression(solver="gradient", epochs=3).fit(ROWS.X, ROWS.y)
    np.testing.assert_allclose(model.influence(ROWS.X, ROWS.y).residual, ROWS.y - model.predict(ROWS.X), rtol=1e-9)


def test_groups_of_any_labels_and_of_one_row_each() -> None:
    model = LinearRegression().fit(ROWS.X, ROWS.y)
    again: dict[str, Any] = {"errors": "CR1", "X": ROWS.X, "y": ROWS.y}
    words = np.array([f"g{g}" for g in ROWS.groups])
    objects = np.empty(400, dtype=object)
    objects[:] = [g if g % 2 else (g, "tuple") for g in ROWS.groups.tolist()]
    for groups in (words, words.tolist(), ROWS.groups * 1e9, pd.Series(words, dtype="category"), objects):
        found = column(model.summary(**again, groups=groups), "std_error")
        np.testing.assert_allclose(found, plain()["CR1 std_error"], rtol=1e-12)
    own = column(model.summary(**again, groups=np.arange(400)[::-1]), "std_error")
    np.testing.assert_allclose(own, plain()["HC0 std_error"] * np.sqrt(400 / (400 - 5)), rtol=1e-11)


def test_the_normal_distribution_and_lags_on_request() -> None:
    X, y = ROWS.X[:8, :1], ROWS.y[:8]
    found = LinearRegression().fit(X, y).test("x0 = 0", distribution="normal")
    assert found.freedom == (1, np.inf)
    assert found.p_value == pytest.approx(stats.chi2.sf(found.chi2, 1), rel=1e-12)
    assert "chi²" in str(found)
    assert "F " not in str(found)
    model, rows = LinearRegression().fit(ROWS.X, ROWS.y), {"X": ROWS.X, "y": ROWS.y}
    white = model.summary(errors="HAC", lags=0, **rows)
    np.testing.assert_allclose(column(white, "std_error"), plain()["HC0 std_error"], rtol=1e-10)
    assert "HAC of 0 lags (Newey and West)" in str(white)
    for lags in (3, 5):
        theirs = fitted(ROWS).get_robustcov_results("HAC", maxlags=lags)
        summary = model.summary(errors="HAC", lags=lags, **rows)
        np.testing.assert_allclose(column(summary, "std_error"), theirs.bse, rtol=1e-9)
        test = model.test("x0 = x1", errors="HAC", lags=lags, **rows).statistic
        assert test == pytest.approx(float(theirs.f_test("x1 = x2").statistic), rel=1e-9)
    for weight in (WEIGHT, np.full(len(ROWS.y), 2.0)):
        with pytest.raises(InvalidParameter, match="each once"):
            LinearRegression().fit(**rows, sample_weight=weight).summary(errors="HAC", sample_weight=weight, **rows)


# What is refused.

OTHER = generated(seed=9)
HOLED = np.where(np.arange(1600).reshape(400, 4) == 13, np.nan, ROWS.X)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"errors": "HC5"}, InvalidParameter, "errors must be one of classical, HC0"),
        ({"level": 95}, InvalidParameter, "level must be between 0 and 1"),
        *(({"level": level}, ValueError, "level must be between 0 and 1") for level in (0.0, 1.0, -1.0, math.nan)),
        ({"errors": "cluster"}, InvalidParameter, "needs groups"),
        ({"errors": "HC1", "groups": ROWS.groups}, InvalidParameter, "groups are for errors='cluster'"),
        ({"errors": "cluster", "groups": ROWS.groups[:7]}, InvalidData, "one label for each of the 400 rows"),
        ({"errors": "cluster", "groups": np.zeros(400)}, InvalidData, "at least 2 groups"),
        ({"errors": "cluster", "groups": [*"ab"] * 2 + [None] * 396}, InvalidData, "groups has no label at row 4"),
        ({"errors": "cluster", "groups": HOLED[:, 1]}, InvalidData, "groups has no label at row 3"),
        ({"errors": "HC0", "X": HOLED}, InvalidData, "contains NaN: first at row 3, column 'x1'"),
        ({"errors": "HC0", "y": np.ones((400, 2))}, InvalidData, "4 columns and 1 targets, the rows 4 and 2"),
        ({"errors": "HC0", "X": ROWS.X[:, :3]}, ValueError, "3 features"),
        ({"errors": "HC0", "X": ROWS.X[1:], "y": ROWS.y[1:]}, InvalidData, "weight is 399, the model holds 400"),
        ({"errors": "HC0", "sample_weight": np.full(400, 2.0)}, InvalidData, "their weight is 800"),
        *(
            ({"errors": errors, **rows}, InvalidData, "not the rows that were fitted: their squared residuals")
            for errors in ("HC3", "HAC")
            for rows in ({"X": ROWS.X + 1e-2}, {"y": ROWS.y[::-1]}, {"X": OTHER.X})
        ),
        ({"errors": "cluster", "y": ROWS.y[::-1], "groups": ROWS.groups}, InvalidData, "not the rows that were"),
        *(
            ({"errors": errors, "X": None, "y": None}, SumsMissing, "keeps only sums; give X and y")
            for errors in ROBUST
        ),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else None,
)
def test_arguments_that_a_summary_refuses(options: dict[str, Any], error: type[Exception], message: str) -> None:
    model, given = LinearRegression().fit(ROWS.X, ROWS.y), {"X": ROWS.X, "y": ROWS.y, **options}
    with pytest.raises(error, match=message):
        model.summary(**given)
    if "level" not in options:
        with pytest.raises(error, match=message):
            model.test("x0 = 0", **given)
    else:
        with pytest.raises(error, match=message):
            model.predict(ROWS.X, interval="confidence", level=options["level"])


def test_models_and_rows_that_inference_refuses() -> None:
    X, y, rng = ROWS.X, ROWS.y, np.random.default_rng(0)
    model, wide = LinearRegression().fit(X, y), rng.normal(size=(20, 600))
    far = LinearRegression().fit(wide, y[:20])
    bare = LinearRegression(fit_intercept=False).fit(X, y)
    pair = {"errors": "cluster", "X": X, "y": y, "groups": np.arange(400) % 2}
    for call, error, message in (
        (
            lambda: Ridge().fit(X, y).influence(X, y),
            InvalidParameter,
            r"no influence for a penalised.*LinearRegression",
        ),
        (lambda: model.influence(X), InvalidData, "requires y"),
        (lambda: model.influence(X[1:], y[1:]), InvalidData, "their weight is 399"),
        (lambda: model.influence(X, y[::-1]), InvalidData, "not the rows that were fitted"),
        (lambda: far.influence(wide, y[:20]), SumsMissing, "wide data"),
        (lambda: far.variance_inflation(), SumsMissing, "wide data"),
        (lambda: far.summary(errors="HC0", X=wide, y=y[:20]), SumsMissing, "wide data keeps no D x D matrix"),
        (lambda: Ridge().fit(X, y).test("x0 = 0"), InvalidParameter, "no tests for a penalised fit"),
        (lambda: bare.test("intercept = 0"), InvalidParameter, "the model has none"),
        (lambda: model.test(["x0", "x1", "x2"], **pair), InvalidParameter, "fewer groups than hypotheses"),
    ):
        with pytest.raises(error, match=message):
            call()
    free = Ridge(penalty=0).fit(X, y).test("x0 = 0")
    assert free.p_value == pytest.approx(model.test("x0 = 0").p_value)


# How it is shown.


@pytest.mark.parametrize("system", [LinearRegression, Ridge])
def test_tables_show_names_numbers_and_certificate(system: type[Any]) -> None:
    X, y = ROWS.X[:50], ROWS.y[:50]
    found = system().fit(X, y).summary().to_dict()
    assert [list(row) for row in found["coefficients"]] == [["name", *STATISTICS]] * 5
    assert [row["name"] for row in found["coefficients"]] == ["intercept", "x0", "x1", "x2", "x3"]
    wanted = {*QUALITY, "f_statistic", "sigma", "rows", "weight", "level", "title", "notes", "certificate"}
    assert wanted <= set(found)
    assert found["title"] == system.__name__
    assert found["certificate"]["digits"] > 10
    assert json.loads(json.dumps(found)) == found
    bare = system(fit_intercept=False).fit(X, y).summary().to_dict()
    assert [row["name"] for row in bare["coefficients"]] == ["x0", "x1", "x2", "x3"]
    names = ["height", "age<5", "a & b", "mass"]
    model = system().fit(pd.DataFrame(X, columns=names), np.column_stack([y, y**2]))
    summary = model.summary(level=0.9)
    text, page = str(summary), summary._repr_html_()
    assert repr(summary) == text
    assert page.count("<tr>") == page.count("</tr>") == 1 + 2 * (1 + 5)
    shown = ("intercept", "target y0", "target y1", system.__name__, f"{model.coef_[0, 3]:.6g}", "50 rows", "5%", "95%")
    for part in (*shown, "R²", "certificate: "):
        assert part in text
        assert part in page
    assert all(name in text for name in names)
    assert all(name in page for name in ("height", "age&lt;5", "a &amp; b", "mass"))
    assert "age<5" not in page
    table = text.splitlines()[4:11]
    assert len({len(line) for line in table}) == 1
    assert set(table[1]) == {"-"}


def test_tables_say_which_errors_and_how_they_are_judged() -> None:
    model = LinearRegression().fit(ROWS.X, ROWS.y)
    text = str(model.summary(**given_again(ROWS, "HC3")))
    assert " z " in text
    assert "HC3 standard errors; z, p and intervals by the normal distribution" in text
    assert " t " in str(model.summary())
    test = str(LinearRegression().fit(ROWS.X[:50], ROWS.y[:50]).test("x0 - 2*x1 = 0.5, -x3 = 1"))
    assert test.splitlines()[:2] == ["hypothesis: x0 - 2*x1 = 0.5", "            -x3 = 1"]
    assert "on 2 and 45 degrees of freedom" in test
    assert "standard errors;" not in str(RobustRegression(penalty=1.0).fit(ROWS.X, ROWS.y).summary())
    quantile = RobustRegression(loss="quantile", quantile=0.9).fit(ROWS.X[:80], ROWS.y[:80])
    for errors in ("smoothed", "nid", "iid", "kernel"):
        shown = str(quantile.summary(errors=errors))
        assert shown.startswith("RobustRegression(loss='quantile', quantile=0.9), 80 rows")
        assert f"{errors} standard errors (" in shown
