"""Weights as precisions: statsmodels' WLS."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from adaline import LinearRegression, Ridge
from adaline.errors import InvalidData, InvalidParameter
from tests.inference.against import DATA, ROBUST, design, fitted, generated, given_again

WEIGHT = np.random.default_rng(7).uniform(0.1, 5.0, 400)


@pytest.mark.parametrize("name", ["generated", "penguins", "ill-scaled"])
@pytest.mark.parametrize("errors", ["classical", *ROBUST])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no-intercept"])
def test_summary_is_that_of_weighted_least_squares(name: str, errors: str, intercept: bool) -> None:
    rows, weight = DATA[name], WEIGHT[: len(DATA[name].y)]
    theirs = fitted(rows, errors, intercept, weight)
    model = LinearRegression(weights="precision", fit_intercept=intercept).fit(rows.X, rows.y, weight)
    again = given_again(rows, errors) | ({} if errors == "classical" else {"sample_weight": weight})
    found = model.summary(**again).to_dict()
    interval = theirs.conf_int()
    columns = {"estimate": theirs.params, "std_error": theirs.bse, "statistic": theirs.tvalues}
    columns |= {"p_value": theirs.pvalues, "lower": interval[:, 0], "upper": interval[:, 1]}
    for column, values in columns.items():
        np.testing.assert_allclose([row[column] for row in found["coefficients"]], values, rtol=1e-8, atol=1e-300)
    sought = {"r_squared": theirs.rsquared, "adjusted_r_squared": theirs.rsquared_adj, "aic": theirs.aic}
    sought |= {"bic": theirs.bic, "log_likelihood": theirs.llf, "freedom": theirs.df_resid, "sigma": theirs.scale**0.5}
    for key, value in sought.items():
        assert found[key] == pytest.approx(value, rel=1e-9)
    assert f"weights are precisions: every row is one observation, {len(rows.y)} in all" in str(model.summary(**again))


def test_the_coefficients_and_certificate_are_the_same() -> None:
    rows = generated()
    a, b = (LinearRegression(weights=w).fit(rows.X, rows.y, WEIGHT) for w in ("frequency", "precision"))
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.certificate_.digits == b.certificate_.digits


def test_prediction_intervals() -> None:
    rows = generated()
    theirs = fitted(rows, weight=WEIGHT)
    model = LinearRegression(weights="precision").fit(rows.X, rows.y, WEIGHT)
    new = generated(20, seed=11).X
    frame = theirs.get_prediction(design(new)).summary_frame(alpha=0.1)
    for kind, ends in (
        ("confidence", ("mean_ci_lower", "mean_ci_upper")),
        ("prediction", ("obs_ci_lower", "obs_ci_upper")),
    ):
        found = model.predict(new, interval=kind, level=0.9)
        np.testing.assert_allclose(found.lower, frame[ends[0]], rtol=1e-9)
        np.testing.assert_allclose(found.upper, frame[ends[1]], rtol=1e-9)


def test_scaling_all_weights_changes_nothing_but_sigma() -> None:
    rows = generated()
    a, b = (LinearRegression(weights="precision").fit(rows.X, rows.y, c * WEIGHT).summary() for c in (1.0, 64.0))
    np.testing.assert_allclose(a.parts[0].std_error, b.parts[0].std_error, rtol=1e-12)
    assert b.parts[0].sigma == pytest.approx(8 * a.parts[0].sigma)
    assert b.parts[0].log_likelihood == pytest.approx(a.parts[0].log_likelihood, rel=1e-12)
    counted = [LinearRegression().fit(rows.X, rows.y, c * WEIGHT).summary().parts[0].freedom for c in (1.0, 64.0)]
    assert counted[1] > 60 * counted[0]


def test_rows_of_weight_zero_are_not_observations() -> None:
    rows = generated()
    weight = WEIGHT * (np.arange(400) % 3 > 0)
    some = weight > 0
    found = LinearRegression(weights="precision").fit(rows.X, rows.y, weight)
    sought = LinearRegression(weights="precision").fit(rows.X[some], rows.y[some], weight[some])
    a, b = found.summary().to_dict(), sought.summary().to_dict()
    for key in ("freedom", "sigma", "log_likelihood", "aic", "f_p_value"):
        assert a[key] == pytest.approx(b[key], rel=1e-9)
    again = found.summary(errors="HC3", X=rows.X, y=rows.y, sample_weight=weight)
    np.testing.assert_allclose(
        again.parts[0].std_error,
        sought.summary(errors="HC3", X=rows.X[some], y=rows.y[some], sample_weight=weight[some]).parts[0].std_error,
        rtol=1e-9,
    )


def test_without_weights_nothing_changes() -> None:
    rows = generated()
    a, b = (LinearRegression(weights=w).fit(rows.X, rows.y).summary().to_dict() for w in ("frequency", "precision"))
    for key in ("coefficients", "freedom", "aic", "log_likelihood"):
        assert a[key] == b[key]


def test_streams_merge_and_forget() -> None:
    rows = generated()
    sought = LinearRegression(weights="precision").fit(rows.X, rows.y, WEIGHT).summary().to_dict()
    parts = [slice(0, 150), slice(150, 400)]
    stream = LinearRegression(weights="precision")
    for part in parts:
        stream.partial_fit(rows.X[part], rows.y[part], WEIGHT[part])
    a, b = (LinearRegression(weights="precision").fit(rows.X[p], rows.y[p], WEIGHT[p]) for p in parts)
    more = generated(50, seed=12)
    fuller = clone(stream).fit(np.vstack([rows.X, more.X]), np.append(rows.y, more.y), np.append(WEIGHT, WEIGHT[:50]))
    for model in (stream, a.merge(b), fuller.forget(more.X, more.y, WEIGHT[:50])):
        found = model.summary().to_dict()
        for key in ("freedom", "sigma", "log_likelihood", "aic", "bic", "f_statistic"):
            assert found[key] == pytest.approx(sought[key], rel=1e-9)
    # a refused forget leaves the count as it was
    with pytest.raises(ValueError, match="forget"):
        stream.forget(rows.X[:399], rows.y[:399], WEIGHT[:399])
    assert stream.summary().to_dict()["freedom"] == 395


def test_the_two_readings_do_not_mix() -> None:
    rows = generated()
    a, b = (LinearRegression(weights=w).fit(rows.X, rows.y, WEIGHT) for w in ("frequency", "precision"))
    with pytest.raises(InvalidParameter, match="do not add up"):
        a.merge(b)
    with pytest.raises(InvalidParameter, match="do not add up"):
        a.set_params(weights="precision").partial_fit(rows.X, rows.y)
    assert a.summary().to_dict()["freedom"] == pytest.approx(WEIGHT.sum() - 5)  # as fitted, until fitted again


def test_refused() -> None:
    rows = generated()
    for model in (LinearRegression(weights="analytic"), Ridge(weights=None)):
        with pytest.raises(InvalidParameter, match="weights must be one of frequency, precision"):
            model.fit(rows.X, rows.y)
    model = LinearRegression(weights="precision").fit(rows.X, rows.y, WEIGHT)
    twice = [np.concatenate([a, a]) for a in (rows.X, rows.y, WEIGHT / 2)]
    with pytest.raises(InvalidData, match="800 have a positive weight, the model holds 400"):
        model.summary(errors="HC0", X=twice[0], y=twice[1], sample_weight=twice[2])


# Ridge: how many observations there are decides its penalty too.


def test_ridge_of_a_given_penalty() -> None:
    rows = generated()
    model = Ridge(penalty=5.0, weights="precision").fit(rows.X, rows.y, WEIGHT)
    part = model.summary().parts[0]
    a = design(rows.X)
    hat = np.linalg.solve(a.T @ (a * WEIGHT[:, None]) + np.diag([0.0, 5, 5, 5, 5]), a.T @ (a * WEIGHT[:, None]))
    assert part.freedom == pytest.approx(400 - np.trace(hat), rel=1e-10)
    r = rows.y - model.predict(rows.X)
    assert model.noise_variance_ == pytest.approx(WEIGHT @ r**2 / part.freedom, rel=1e-9)


@pytest.mark.parametrize("criterion", ["gcv", "evidence", "loo"])
def test_ridge_does_not_depend_on_a_factor_of_the_weights(criterion: str) -> None:
    rows = generated(60)
    weight = WEIGHT[:60]
    models = [Ridge(criterion=criterion, weights="precision").fit(rows.X, rows.y, c * weight) for c in (1.0, 100.0)]
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-5)


def test_ridge_leaves_whole_rows_out() -> None:
    rows = generated(40)
    weight = WEIGHT[:40]
    model = Ridge(criterion="loo", weights="precision").fit(rows.X, rows.y, weight)
    mean = weight @ rows.X / weight.sum()
    spread = np.sqrt(weight @ (rows.X - mean) ** 2 / weight.sum())
    path = model.path_
    for at in (20, 40, 60):
        total = 0.0
        for i in range(40):
            left = np.arange(40) != i
            alone = Ridge(penalty=path["penalties"][at], standardize=False).fit(
                rows.X[left] / spread, rows.y[left], weight[left]
            )
            total += weight[i] * (rows.y[i] - alone.predict(rows.X[i : i + 1] / spread)[0]) ** 2
        assert path["values"][at] * 40 == pytest.approx(total, rel=1e-8)
