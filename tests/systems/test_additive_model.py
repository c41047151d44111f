"""AdditiveModel against mgcv and lme4 through its public face, and what it does with groups, files and bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import adaline
from adaline import AdditiveModel, LinearRegression, datasets, open_table, regression_table
from adaline.errors import AdalineError, AdalineWarning, InvalidParameter
from adaline.inference.smooth_terms import tail_against_errors

FILE = Path(__file__).parents[1] / "data" / "additive" / "additive.json"
R = {one["case"]: one for one in json.loads(FILE.read_text("utf-8"))}
OWN_ORDER = ("rail", "orthodont", "oxboys", "ergo_stool", "oats")
"""Cases whose groups R has in an order of their own, not that of their names."""


def fit(name: str) -> tuple[dict[str, Any], pd.DataFrame, AdditiveModel]:
    case = R[name]
    frame, weight = pd.DataFrame(case["data"]), case["weights"]
    settings = {
        "criterion": case["method"],
        "select": case.get("select", False),
        "weights": "precision" if weight else "frequency",
    }
    return case, frame, AdditiveModel(**settings).fit(open_table(frame, formula=case["formula"], weight=weight))


@pytest.mark.every
@pytest.mark.parametrize("name", R)
def test_it_finds_what_r_finds(name: str) -> None:
    case, frame, model = fit(name)
    assert model.certificate_.objective == pytest.approx(case["score"], rel=1e-7)
    table = model.summary().to_dict()
    np.testing.assert_allclose([row["estimate"] for row in table["coefficients"]], case["coef"], rtol=1e-6)
    np.testing.assert_allclose(model.predict(frame)[case["row"]], case["fitted"], rtol=1e-6)
    if case["method"] != "ml":  # where mgcv divides by N - edf
        np.testing.assert_allclose([row["std_error"] for row in table["coefficients"]], case["error"], rtol=1e-5)
    if case["by"] == "mgcv":
        terms = model.terms_
        for ours, theirs in (("edf", "edf"), ("reference_df", "reference")):
            np.testing.assert_allclose([row[ours] for row in terms], case[theirs], rtol=1e-5)
        if case["method"] != "ml":
            np.testing.assert_allclose([row["statistic"] for row in terms], case["statistic"], rtol=1e-5)
            np.testing.assert_allclose([row["p_value"] for row in terms], case["p_value"], atol=2e-6)
            band = model.predict(frame, interval="confidence", level=0.68)
            half, error = (band.upper - band.prediction)[case["row"]], np.array(case["fitted_error"])
            np.testing.assert_allclose(half / half[0], error / error[0], rtol=1e-5)
        return
    sizes = [row["correlation"] if row["sd"] is None else row["sd"] for row in model.variance_components_]
    np.testing.assert_allclose(np.sort(sizes[:-1]), np.sort(case["sd"]), rtol=1e-5, atol=1e-5 * case["sigma"])
    assert sizes[-1] == pytest.approx(case["sigma"], rel=1e-5)
    effects = model.random_effects_[case["grouping"]]
    if name not in OWN_ORDER:
        assert effects["level"].astype(str).tolist() == case["level"]
        np.testing.assert_allclose(effects.iloc[:, 1], case["effect"], rtol=1e-5, atol=1e-6 * case["sigma"])


def test_terms_in_python_a_stream_and_a_file_give_the_same(tmp_path: Path) -> None:
    case, frame, model = fit("sleepstudy")
    X, y = frame[["Days", "Subject"]], frame["Reaction"]
    same = AdditiveModel(terms=["(1 + Days | Subject)"]).fit(X, y)
    np.testing.assert_array_equal(same.predict(X), model.predict(frame))
    numbers = np.column_stack([frame["Days"], pd.factorize(frame["Subject"], sort=True)[0]])
    plain = AdditiveModel(terms=["(1 + x0 | x1)"]).fit(numbers, y)
    np.testing.assert_allclose(plain.predict(numbers), model.predict(frame), rtol=1e-12)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    read = AdditiveModel().fit(open_table(tmp_path / "rows.csv", formula=case["formula"], categories=["Subject"]))
    np.testing.assert_allclose(read.predict(frame), model.predict(frame), rtol=1e-10)
    adaline.save(model, tmp_path / "model.adaline")
    loaded = adaline.load(tmp_path / "model.adaline")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert str(loaded.summary()) == str(model.summary())


def test_a_new_group_has_the_mean_of_all_and_a_wider_interval() -> None:
    _, _, model = fit("sleepstudy")
    rows = pd.DataFrame({"Days": [5.0, 5.0], "Subject": ["308", "somebody"]})
    band = model.predict(rows, interval="confidence")
    assert band.prediction[1] == pytest.approx(model.intercept_ + 5 * model.coef_[0])
    half = (band.upper - band.lower)[1] / 2
    by_name = {(row["name"], row["name2"]): row for row in model.variance_components_}
    a, b = by_name["intercept", None]["sd"], by_name["Days", None]["sd"]
    between = a**2 + 25 * b**2 + 10 * a * b * by_name["intercept", "Days"]["correlation"]
    errors = [row["std_error"] for row in model.summary().to_dict()["coefficients"]]
    known = model._variances(rows)[1, 0]
    assert 0 < known < errors[0] ** 2 + 25 * errors[1] ** 2
    # Satterthwaite: 18 subjects, whose share of effects that is left is edf / 2 / 17
    own = (model.terms_[0]["edf"] / 2) ** 2 / 17
    freedom = (between + known) ** 2 / (between**2 / own + known**2 / (180 - model.edf_))
    assert half == pytest.approx(scipy.stats.t.ppf(0.975, freedom) * np.sqrt(between + known), rel=1e-9)
    assert 10 < freedom < 20
    assert (band.upper - band.lower)[0] < (band.upper - band.lower)[1]


def test_weights_are_repetitions_and_units_change_nothing_but_themselves() -> None:
    rng = np.random.default_rng(3)
    x, group = rng.uniform(0, 5, 80).round(1), rng.integers(0, 8, 80)
    y, weight = np.cos(x) + 0.5 * rng.normal(size=8)[group] + 0.2 * rng.normal(size=80), rng.integers(1, 4, 80)
    X = np.column_stack([x, group, x**2])
    terms = ["s(x0, bs='ps', k=8)", "(1 + x2 | x1)"]
    model = AdditiveModel(terms=terms).fit(X, y, sample_weight=weight)
    repeated = AdditiveModel(terms=terms).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(model.predict(X), repeated.predict(X), rtol=1e-8)
    assert model.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-9)
    unit = np.array([2.0**20, 4.0, 2.0**-9])
    scaled = AdditiveModel(terms=terms).fit(X * unit, 8 * y, sample_weight=weight)
    np.testing.assert_array_equal(scaled.predict(X * unit), 8 * model.predict(X))
    sd = [row["sd"] for row in scaled.variance_components_][:2]
    mine = [row["sd"] for row in model.variance_components_][:2]
    np.testing.assert_allclose(sd, np.array(mine) * [8, 8 * 2.0**9], rtol=1e-12)


def test_without_terms_columns_of_many_values_are_curves() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 2, 200), np.ones(200)])
    y = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=200)
    with pytest.warns(AdalineWarning, match="x2"):
        model = AdditiveModel().fit(X, y)
    assert [row["term"] for row in model.terms_] == ["s(x0)"]
    assert model.coef_[0] == pytest.approx(1.0, abs=0.05)
    (curve,) = model.curves(points=5)
    np.testing.assert_allclose(curve.value - curve.value[2], curve.x[:, 0] ** 2 - curve.x[2, 0] ** 2, atol=0.3)
    assert model.score(X, y) > 0.99
    assert AdditiveModel().fit(X[:, :2], np.ones(200)).predict(X[:3, :2]).tolist() == [1.0, 1.0, 1.0]
    exact = AdditiveModel().fit(X[:, :2], 3 + 2 * X[:, 0])
    np.testing.assert_allclose(exact.predict(X[:, :2]), 3 + 2 * X[:, 0], rtol=1e-9)


def test_a_variance_of_zero_is_named() -> None:
    _, _, model = fit("dyestuff2")
    assert model.variance_components_[0]["sd"] == pytest.approx(0, abs=1e-3)
    assert "(1 | Batch) is zero" in model.certificate_.advice


BAD = {
    "uptake ~ conc + s(conc, k=5)": "'conc' is linear and has a curve",
    "uptake ~ s(conc, k=20)": "k=20, and column 'conc' has 7 distinct values: set k to at most 7",
    "uptake ~ s(conc, k=7) + s(conc, by=Type, k=5)": r"do not tell .*s\(conc\):Type\[Quebec\].* apart",
    "uptake ~ s(conc, k=7) + s(twice, k=7)": r"do not tell s\(conc\), s\(twice\) apart",
    "uptake ~ (1 | row)": "every group has one row",
    "uptake ~ (1 + conc | both)": "48 effects for 48 rows",
    "uptake ~ s(one)": "'one' of .* is constant",
    "uptake ~ (1 | only)": "has one level",
    "uptake ~ s(Type)": "is a category, and a number is needed",
    "uptake ~ (1 + Type | Plant)": "is a category, and a number is needed",
    "uptake ~ t2(conc, one)": "write te",
    "uptake ~ te(conc)": r"write s\(conc\)",
    "uptake ~ s(conc, bs='xx')": "none of the bases here: tp, cr, cc, ps",
    "uptake ~ s(conc, m=2)": "not among the options of a smooth",
    "uptake ~ s(conc, k=2)": "whole number of 3 to 1,000",
    "uptake ~ s(nope)": "no such column",
    "uptake ~ s(conc, k=5) + s(conc, k=6)": "twice",
    "uptake ~ (1 | Plant) + (1 + conc | Plant)": "both have the effects of 1 by Plant",
    "uptake ~ s(conc, k=5) | Plant": "beside absorbed effects",
    "uptake ~ (1 | Plant": "cannot read",
    "uptake ~ (0 | Plant)": "nothing that varies",
}


@pytest.mark.parametrize("formula", BAD)
def test_bad_formulas_are_named_with_a_remedy(formula: str) -> None:
    frame = pd.DataFrame(R["plants"]["data"]).head(48)
    row = np.arange(len(frame))
    more = {"row": row.astype(str), "both": (row // 2).astype(str), "one": 1.0, "only": "a"}
    frame = frame.assign(**more, twice=2 * frame["conc"])
    with pytest.raises(AdalineError, match=BAD[formula]):
        AdditiveModel().fit(open_table(frame, formula=formula))


def test_other_systems_name_the_one_that_has_smooths() -> None:
    table = open_table(pd.DataFrame(R["plants"]["data"]), formula="uptake ~ s(conc, k=5)")
    with pytest.raises(InvalidParameter, match=r"s\(conc, k=5\): use AdditiveModel"):
        LinearRegression().fit(table)


@pytest.mark.parametrize(("weights", "statistic", "left"), [([1.0, 1.0], 3.0, 10.0), ([2.0, 2.0, 2.0], 9.0, 200.0)])
def test_tails_of_quadratic_forms_are_those_of_f_where_weights_agree(
    weights: list[float], statistic: float, left: float
) -> None:
    from scipy.stats import f

    expected = f.sf(statistic / sum(weights), len(weights), left)
    assert tail_against_errors(np.array(weights), statistic, left) == pytest.approx(expected, rel=1e-6)
    assert math.isclose(tail_against_errors(np.array(weights), 0.0, left), 1.0)


def shops() -> tuple[pd.DataFrame, AdditiveModel]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.uniform(0, 6, 300), "body mass": rng.normal(size=300)})
    frame["kind"], frame["shop no"] = rng.choice(list("abc"), 300), rng.integers(0, 15, 300).astype(str)
    effect = rng.normal(size=15)[frame["shop no"].astype(int)]
    frame["y"] = np.sin(frame["x"]) + 0.5 * frame["body mass"] + effect + 0.3 * rng.normal(size=300)
    formula = "y ~ kind + `body mass` + s(x, k=8) + (1 | `shop no`)"
    return frame, AdditiveModel().fit(open_table(frame, formula=formula))


def test_effects_means_and_tests_are_those_of_the_population() -> None:
    frame, model = shops()
    table = {row["name"]: row for row in model.summary().to_dict()["coefficients"]}
    slopes = {(row["name"], row["contrast"]): row for row in adaline.effects(model, frame).rows}
    assert "shop no" not in {name for name, _ in slopes}
    for name, contrast, coefficient in (("body mass", "slope", "body mass"), ("kind", "b - a", "kind[T.b]")):
        for part in ("estimate", "std_error", "p_value"):
            assert slopes[name, contrast][part] == pytest.approx(table[coefficient][part], rel=1e-8)
    rows = pd.DataFrame({"x": frame["x"].mean(), "body mass": frame["body mass"].mean(), "kind": ["a", "b", "c"]})
    population = model.predict(rows.assign(**{"shop no": "new"}))
    found = adaline.means(model, frame, by="kind").to_dict()["means"]
    np.testing.assert_allclose([row["mean"] for row in found], population, rtol=1e-9)
    tests = {row["term"]: row for row in adaline.anova(model).to_dict()["terms"]}
    for row in model.terms_:
        assert tests[row["term"]]["F"] == row["statistic"]
        assert model.test(row["term"]).p_value == row["p_value"]
    assert tests["body mass"]["F"] == pytest.approx(table["body mass"]["statistic"] ** 2)
    with pytest.raises(InvalidParameter, match=r"drawn towards zero.*'s\(x\)' as a whole"):
        model.test("`s(x).1` = 0")
    with pytest.raises(InvalidParameter, match="'classical'"):
        model.summary(errors="HC3", X=frame, y=frame["y"])


def test_a_band_that_holds_everywhere_is_that_of_draws_of_the_posterior() -> None:
    _, model = shops()
    (curve,) = model.curves(points=50)
    place = next(at for at in model._penalised_terms() if at.label == "s(x)")
    block = slice(place.start, place.stop)
    columns = model.basis_.smooths_[0].values(curve.x)
    draws = np.linalg.cholesky(model._learned().inverse[block, block]) @ np.random.default_rng(0).normal(
        size=(place.stop - place.start, 20000)
    )
    root = np.sqrt(((columns @ model._learned().inverse[block, block]) * columns).sum(axis=1))
    largest = np.quantile(np.abs((columns @ draws) / root[:, None]).max(axis=0), 0.95)
    reach = (curve.all_upper - curve.value) / curve.std_error
    np.testing.assert_allclose(reach, largest, rtol=0.03)


@pytest.mark.parametrize(
    "term", ["s(`body mass`)", "te(x, `body mass`)", "s(log(`body mass` + 9))", "(1 + `body mass` | kind)"]
)
def test_names_in_backquotes_are_columns(term: str) -> None:
    frame, _ = shops()
    model = AdditiveModel().fit(open_table(frame, formula=f"y ~ {term}"))
    plain = frame.rename(columns={"body mass": "mass"})
    same = AdditiveModel().fit(open_table(plain, formula=f"y ~ {term}".replace("`body mass`", "mass")))
    assert [row["term"] for row in model.terms_] == [term.replace(", ", ",")]
    np.testing.assert_array_equal(model.predict(frame), same.predict(plain))


def test_a_curve_that_explains_nearly_all_is_found() -> None:
    x = np.linspace(0, 6, 200)
    model = AdditiveModel(terms=["s(x0)"]).fit(x[:, None], np.sin(x))
    assert str(model.certificate_.status) == "solved"
    assert model.certificate_.digits > 6
    exact = AdditiveModel(terms=["s(x0)"]).fit(x[:, None], 2 * x)
    assert exact.log_likelihood_ == np.inf
    assert math.isnan(exact.summary().to_dict()["coefficients"][0]["std_error"])


@pytest.mark.parametrize("apart", [500, 5])
def test_shares_of_variance_are_those_of_r(apart: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of lme4's sleepstudy, lmer(Reaction ~ Days + (1 + Days | Subject)).

    VF <- var(as.vector(model.matrix(m) %*% fixef(m))); S <- VarCorr(m)$Subject; Z <- model.matrix(m);
    VR <- mean(rowSums((Z %*% S) * Z)); E <- sigma(m)^2; c(VF, VF + VR) / (VF + VR + E); VR / (VR + E)
    """
    monkeypatch.setattr("adaline.fits.additive.design.APART", apart)
    _, _, model = fit("sleepstudy")
    table = model.summary().to_dict()
    found = [table[name] for name in ("marginal_r_squared", "conditional_r_squared", "icc")]
    np.testing.assert_allclose(found, [0.278652043, 0.799218897, 0.721658458], rtol=1e-5)


def test_curves_of_levels_are_tested_as_in_mgcv() -> None:
    """P values of `summary(gam(...))` of mgcv 1.8.41, of curves whose columns do not add up to zero."""
    birds = open_table(
        "penguins", formula="body_mass_g ~ sex + species + s(bill_length_mm, by=species)", missing="drop"
    )
    terms = AdditiveModel().fit(birds).terms_
    np.testing.assert_allclose([row["p_value"] for row in terms[:2]], [0.0276269, 0.5113153], rtol=1e-4)
    np.testing.assert_allclose([row["edf"] for row in terms[:2]], [1.345796, 2.780909], rtol=1e-5)


@pytest.mark.parametrize("apart", [False, True])
def test_rows_without_a_level_have_no_effect(apart: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if apart:
        monkeypatch.setattr("adaline.fits.additive.design.APART", 1)
    birds = pd.read_csv(datasets.path("penguins")).dropna(ignore_index=True)
    kept = birds.assign(island=birds["island"].where(birds.index > 5))
    table = open_table(kept, formula="body_mass_g ~ (1 | island)", missing="mean")
    model = AdditiveModel().fit(table)
    effects = model.random_effects_["island"]
    assert list(effects["level"]) == ["Biscoe", "Dream", "Torgersen"]
    predicted = model.predict(open_table(kept.head(8)))
    np.testing.assert_allclose(predicted[:6], model.intercept_, rtol=1e-12)
    np.testing.assert_allclose(predicted[6:], model.intercept_ + effects["intercept"].iloc[2], rtol=1e-12)
    codes = pd.get_dummies(kept["island"]).to_numpy(dtype=float)
    ratio = (model.variance_components_[-1]["sd"] / model.variance_components_[0]["sd"]) ** 2
    away = kept["body_mass_g"].to_numpy() - model.intercept_
    np.testing.assert_allclose(effects["intercept"], (codes.T @ away) / (codes.sum(axis=0) + ratio), rtol=1e-6)


def test_a_restricted_likelihood_stands_in_a_row_of_its_own() -> None:
    birds = open_table("penguins", formula="body_mass_g ~ s(flipper_length_mm)", missing="drop")
    fits = [AdditiveModel(criterion=criterion).fit(birds) for criterion in ("reml", "ml")]
    told = [model.summary().to_dict() for model in fits]
    assert [("log_likelihood" in one, "restricted_log_likelihood" in one) for one in told] == [
        (False, True),
        (True, False),
    ]
    assert "restricted log-likelihood" in str(regression_table(*fits))


@pytest.mark.parametrize("apart", [500, 1])
def test_a_correlation_of_one_is_found_as_in_lme4(apart: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of lmer(y ~ 1 + (1 + mass | kind)), a singular fit: the variance of slopes given intercepts is zero."""
    monkeypatch.setattr("adaline.fits.additive.design.APART", apart)
    frame, _ = shops()
    frame = frame.rename(columns={"body mass": "mass"})
    model = AdditiveModel().fit(open_table(frame, formula="y ~ (1 + mass | kind)"))
    assert str(model.certificate_.status) == "solved"
    sizes = [row["sd"] or row["correlation"] for row in model.variance_components_]
    np.testing.assert_allclose(sizes, [0.64509044, 0.59091119, 1.0, 1.24947633], rtol=1e-6)
    effects = model.random_effects_["kind"]
    np.testing.assert_allclose(effects["intercept"], [0.61236184, 0.84216434, 0.35780110], rtol=1e-6)
    np.testing.assert_allclose(effects["mass"], [0.56093137, 0.77143343, 0.32775044], rtol=1e-6)
    assert model.log_likelihood_ == pytest.approx(-499.139250065, rel=1e-9)
