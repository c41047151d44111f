"""weights="precision" of families and elastic nets against R's glm (tests/data/glm/weights.R) and statsmodels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from adaline import ElasticNet, GeneralizedLinear, LinearRegression, anova, load, open_table, save
from adaline.errors import InvalidParameter
from adaline.losses import Tweedie
from tests.inference.against import column, table

DATA = Path(__file__).parents[1] / "data" / "glm"
ROWS, THEIRS = pd.read_csv(DATA / "rows.csv"), table("glm/weights.csv")
X, TRIALS, WEIGHT = ROWS[["x1", "x2"]], ["yes", "no"], THEIRS.pop("rows")["weight"]
CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "gaussian": ({"loss": "gaussian"}, "amount"),
    "gaussian_log": ({"loss": "gaussian", "link": "log"}, "amount"),
    "gamma": ({"loss": "gamma"}, "amount"),
    "gamma_inverse": ({"loss": "gamma", "link": "inverse"}, "amount"),
    "inverse_gaussian": ({"loss": "inverse_gaussian", "link": "log"}, "amount"),
    "poisson": ({"loss": "poisson"}, "count"),
    "poisson_offset": ({"loss": "poisson"}, "count"),
    "quasipoisson": ({"loss": "poisson", "dispersion": "pearson"}, "count"),
    "binomial": ({"loss": "binomial"}, TRIALS),
    "quasibinomial": ({"loss": "binomial", "link": "probit", "dispersion": "pearson"}, TRIALS),
}
ESTIMATED = [case for case in CASES if case not in ("poisson", "poisson_offset", "binomial")]


def fitted(case: str, unit: float = 1.0) -> tuple[GeneralizedLinear, dict[str, Any]]:
    """Return the model of a case, for weights in a unit, and its rows as keywords."""
    settings, target = CASES[case]
    rows = {"X": X, "y": ROWS[target], "sample_weight": WEIGHT * unit}
    rows |= {"offset": ROWS.o} if case == "poisson_offset" else {}
    return GeneralizedLinear(**settings, weights="precision").fit(**rows), rows


def figures(model: Any) -> list[float]:
    """Return the numbers of a fit that R's `fit` has."""
    found = model.summary().to_dict()
    return [found[name] for name in ("deviance", "null_deviance", "dispersion", "freedom", "null_freedom")]


@pytest.mark.every
@pytest.mark.parametrize("case", CASES)
def test_precisions_are_the_prior_weights_of_r(case: str) -> None:
    model, rows = fitted(case)
    theirs, summary = THEIRS[case], model.summary()
    for name in ("estimate", "std_error", "p_value"):
        assert column(summary, name) == pytest.approx(theirs[name], rel=2e-8), name
    assert figures(model) == pytest.approx(theirs["fit"], rel=1e-9)
    found = summary.to_dict()
    assert found["log_likelihood"] == pytest.approx(theirs["log_likelihood"][0], rel=1e-10, nan_ok=True)
    scaled = case in ESTIMATED and not case.startswith("quasi")
    assert found["aic"] == pytest.approx(2 * (3 + scaled) - 2 * found["log_likelihood"], nan_ok=True)
    assert found["bic"] == pytest.approx(np.log(36) * (3 + scaled) - 2 * found["log_likelihood"], nan_ok=True)
    for errors in ("HC0", "HC3"):
        assert column(model.summary(errors=errors, **rows), "std_error") == pytest.approx(theirs[errors], rel=2e-8)
    measures, some = model.influence(**rows), WEIGHT > 0
    for what in ("leverage", "cooks_distance", "studentized"):
        assert getattr(measures, what)[some][:12] == pytest.approx(theirs[what], rel=1e-7, abs=1e-12), what


def test_shares_with_trials_are_those_of_r() -> None:
    """Under both meanings of weights, which are numbers of trials."""
    share, trials, theirs = ROWS.yes / (ROWS.yes + ROWS.no), 4 * ROWS.w, THEIRS["shares"]
    for weights in ("frequency", "precision"):
        model = GeneralizedLinear(loss="binomial", weights=weights).fit(X, share, trials)
        assert column(model.summary(), "std_error") == pytest.approx(theirs["std_error"], rel=1e-8)
        assert figures(model) == pytest.approx(theirs["fit"], rel=1e-9)


def test_profile_ends_are_where_the_deviance_has_risen_by_f() -> None:
    model, rows = fitted("gamma")
    row = model.summary(interval="profile", **rows).to_dict()["coefficients"][1]
    assert [row["lower"], row["upper"]] == pytest.approx(THEIRS["gamma"]["profile"], rel=1e-6)


@pytest.mark.parametrize("case", ESTIMATED)
def test_the_unit_of_precisions_does_not_matter(case: str) -> None:
    (model, rows), (other, others) = fitted(case), fitted(case, 1e6)
    for options in ({}, {"errors": "HC3"}, {"errors": "cluster", "groups": np.arange(len(X)) // 4}):
        pair = [one.summary(**options, **(given if options else {})) for one, given in ((model, rows), (other, others))]
        for name in ("estimate", "std_error", "p_value", "lower"):
            assert column(pair[1], name) == pytest.approx(column(pair[0], name), rel=1e-8)
    ours, theirs = model.summary().to_dict(), other.summary().to_dict()
    assert theirs["dispersion"] == pytest.approx(1e6 * ours["dispersion"], rel=1e-9)
    for name in ("log_likelihood", "null_log_likelihood", "f_statistic", "bic"):
        assert theirs[name] == pytest.approx(ours[name], rel=1e-9, nan_ok=True)
    known = {"offset": 0.0} if "offset" in rows else {}
    bands = [one.predict(X, interval="confidence", **known) for one in (model, other)]
    np.testing.assert_allclose(bands[1], bands[0], rtol=1e-8)


@pytest.mark.parametrize("loss", ["gaussian", "gamma", "inverse_gaussian", Tweedie(1.6), "poisson", "binomial"])
def test_without_weights_both_meanings_are_one(loss: Any) -> None:
    y = ROWS[TRIALS if loss == "binomial" else "count" if loss == "poisson" else "amount"]
    first, second = (GeneralizedLinear(loss, link=None, weights=w).fit(X, y) for w in ("frequency", "precision"))
    ours, theirs = (one.summary().to_dict() for one in (first, second))
    for name in ("log_likelihood", "null_log_likelihood", "aic", "dispersion", "freedom"):
        assert ours[name] == pytest.approx(theirs[name], rel=1e-10), name


def test_tweedie_amounts_have_the_likelihood_of_statsmodels() -> None:
    model = GeneralizedLinear(Tweedie(1.6), weights="precision").fit(X, ROWS.zero, WEIGHT)
    some = WEIGHT > 0
    family = sm.families.Tweedie(var_power=1.6, link=sm.families.links.Log())
    each = family.loglike_obs(
        ROWS.zero[some], model.predict(X)[some], var_weights=WEIGHT[some], scale=model.deviance_ / some.sum()
    )
    assert model.summary().to_dict()["log_likelihood"] == pytest.approx(each.sum(), rel=1e-9)


def test_a_gaussian_family_is_weighted_least_squares(tmp_path: Path) -> None:
    model, rows = fitted("gaussian")
    linear = LinearRegression(weights="precision").fit(X, ROWS.amount, WEIGHT)
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        ours, theirs = one.summary().to_dict(), linear.summary().to_dict()
        for name in ("log_likelihood", "freedom", "f_statistic", "f_p_value"):
            assert ours[name] == pytest.approx(theirs[name], rel=1e-9), name
        for errors in ("classical", "HC3"):
            found = column(one.summary(errors=errors, **rows), "std_error")
            assert found == pytest.approx(column(linear.summary(errors=errors, **rows), "std_error"), rel=1e-9)


def test_models_of_other_weights_are_not_compared() -> None:
    small = GeneralizedLinear("gamma").fit(X[["x1"]], ROWS.amount, ROWS.w)
    large = GeneralizedLinear("gamma", weights="precision")
    with pytest.raises(InvalidParameter, match="weights of one model are frequencies"):
        anova(small, large.fit(X, ROWS.amount, ROWS.w))
    small.set_params(weights="precision").fit(X[["x1"]], ROWS.amount, ROWS.w)
    assert anova(small, large).f_statistic[1] == pytest.approx(large.test("x2").statistic, rel=0.2)


def test_absorbed_effects_count_rows_and_not_weights() -> None:
    """Of levels as columns; a row that is the only one of its level is left out, whatever its weight."""
    group = np.append(np.arange(39) // 4, 99)
    frame = ROWS.assign(g=group, p=0.5 + 3 * ROWS.w)
    table_of = open_table(frame, target="count", features=["x1", "x2"], weight="p", absorb=["g"])
    model = GeneralizedLinear("poisson", weights="precision", dispersion="pearson").fit(table_of)
    dummies = pd.get_dummies(group[:39]).to_numpy(float)[:, 1:]
    plain = GeneralizedLinear("poisson", weights="precision", dispersion="pearson")
    plain.fit(np.column_stack([X[:39], dummies]), ROWS["count"][:39], frame.p[:39])
    ours, theirs = (column(one.summary(), "std_error") for one in (model, plain))
    assert ours[-2:] == pytest.approx(theirs[1:3], rel=1e-6)


@pytest.mark.parametrize(
    "settings", [{"l1": 2.0}, {"l1": 1.0, "mix": 0.5}, {"l1": 1.0, "loss": "gamma"}, {"points": 9}]
)
def test_penalties_of_a_net_do_not_depend_on_the_unit_of_precisions(settings: dict[str, Any]) -> None:
    """They are those of weights of mean one, as in glmnet."""
    some = WEIGHT > 0
    wanted = ElasticNet(**settings).fit(X[some], ROWS.amount[some], WEIGHT[some] / WEIGHT[some].mean())
    for unit in (1.0, 1e5):
        net = ElasticNet(**settings, weights="precision").fit(X[some], ROWS.amount[some], WEIGHT[some] * unit)
        np.testing.assert_allclose(net.coef_, wanted.coef_, rtol=1e-6, atol=1e-9)
        assert net.l1_ == pytest.approx(wanted.l1_)
        assert net.certificate_.objective == pytest.approx(wanted.certificate_.objective)


@pytest.mark.parametrize(("loss", "target"), [("squared", "amount"), ("poisson", "count")])
def test_nets_of_precisions_are_those_of_glmnet(loss: Any, target: str) -> None:
    """Whose objective is a mean over the rows: those without weight count for nothing."""
    theirs, rows = THEIRS["net_gaussian" if loss == "squared" else "net_poisson"], (WEIGHT > 0).sum()
    for k, strength in enumerate((0.2, 0.05, 0.01), start=1):
        net = ElasticNet(loss=loss, l1=strength * rows, weights="precision").fit(X, ROWS[target], WEIGHT)
        np.testing.assert_allclose(np.append(net.intercept_, net.coef_), theirs[f"lambda{k}"], rtol=1e-6, atol=1e-8)


def test_weights_of_a_stream_and_of_trials_are_scaled_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ROWS.assign(p=WEIGHT).to_csv(tmp_path / "rows.csv", index=False)
    wanted = ElasticNet(l1=2.0, weights="precision").fit(X, ROWS.amount, WEIGHT)
    monkeypatch.setattr("adaline.sources.tables.source.KEPT", 10)
    rows = open_table(tmp_path / "rows.csv", target="amount", features=["x1", "x2"], weight="p")
    assert rows.streamed
    np.testing.assert_allclose(ElasticNet(l1=2.0, weights="precision").fit(rows).coef_, wanted.coef_, rtol=1e-10)
    counts = [ElasticNet(loss="binomial", l1=2.0, weights="precision").fit(X, ROWS[TRIALS], w * WEIGHT) for w in (1, 9)]
    np.testing.assert_allclose(counts[0].coef_, counts[1].coef_, rtol=1e-8)
