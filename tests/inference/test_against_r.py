"""Robust errors, profile intervals and influence of every fit against R (sandwich, MASS, stats).

tests/data/inference/inference.R and tests/data/glm/more.R made the numbers.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, OrdinalRegression, anova
from adaline.errors import InvalidData
from adaline.losses import NegativeBinomial
from tests.inference.against import column, table

HERE = Path(__file__).parents[1]
ROWS = 12  # of which R's measures of influence are kept


THEIRS, MORE = table("inference/inference.csv"), table("glm/more.csv")
BIRDS = pd.read_csv(HERE.parent / "src" / "adaline" / "datasets" / "penguins.csv").dropna()
COUNTS = pd.read_csv(HERE / "data" / "glm" / "rows.csv")
TWO = ["yes", "no"]
FAMILIES: dict[str, tuple[GeneralizedLinear, Any]] = {
    "poisson": (GeneralizedLinear(loss="poisson"), "count"),
    "poisson_sqrt": (GeneralizedLinear(loss="poisson", link="sqrt"), "count"),
    "quasipoisson": (GeneralizedLinear(loss="poisson", dispersion="pearson"), "count"),
    "gamma": (GeneralizedLinear(loss="gamma", link="log"), "amount"),
    "gamma_inverse": (GeneralizedLinear(loss="gamma", link="inverse"), "amount"),
    "inverse_gaussian": (GeneralizedLinear(loss="inverse_gaussian", link="log"), "amount"),
    "gaussian_log": (GeneralizedLinear(loss="gaussian", link="log"), "amount"),
    "binomial": (GeneralizedLinear(loss="binomial"), TWO),
    "probit": (GeneralizedLinear(loss="binomial", link="probit"), TWO),
    "negative_binomial": (GeneralizedLinear(loss=NegativeBinomial(2.5), dispersion="pearson"), "count"),
}


@cache
def fitted(case: str) -> tuple[Any, dict[str, Any], Any]:
    """Return the model of a case, the rows as keywords, and the groups of its clusters."""
    groups = (BIRDS.island + " " + BIRDS.year.astype(str)).to_numpy()
    if case == "linear":
        rows = {"X": BIRDS[["bill_length_mm", "flipper_length_mm"]], "y": BIRDS.body_mass_g}
        return LinearRegression().fit(**rows), rows, groups
    if case == "logistic":
        rows = {"X": BIRDS[["bill_length_mm", "body_mass_g"]], "y": BIRDS.sex}
        return LogisticRegression().fit(**rows), rows, groups
    if case == "ordinal":
        rows = {"X": COUNTS[["x1", "x2"]], "y": np.digitize(COUNTS["count"], [4.5, 8.5])}
        return OrdinalRegression().fit(**rows), rows, np.arange(len(COUNTS)) // 4
    model, target = FAMILIES[case]
    rows = {"X": COUNTS[["x1", "x2"]], "y": COUNTS[target]}
    if case in ("poisson", "binomial"):
        rows["offset"] = COUNTS.o
    return model.fit(**rows), rows, np.arange(len(COUNTS)) // 4


CASES = sorted(THEIRS)
ERRORS = [(case, what) for case in CASES for what in THEIRS[case] if what[:2] in ("HC", "cl", "HA")]


@pytest.mark.parametrize(("case", "what"), ERRORS)
def test_standard_errors_are_those_of_r(case: str, what: str) -> None:
    model, rows, groups = fitted(case)
    options: dict[str, Any] = {"errors": what, **rows}
    if what == "cluster":
        options |= {"errors": "CR1", "groups": groups}
    if what[:3] == "HAC":
        options |= {"errors": "HAC", "lags": int(what[3:])}
    mine = model.summary(**({} if what == "classical" else options))
    accuracy = 1e-5 if case == "ordinal" else 1e-9  # of R's optim
    assert column(mine, "std_error") == pytest.approx(THEIRS[case][what], rel=accuracy)


def check_profile(model: Any, rows: dict[str, Any], theirs: Any) -> None:
    """Ends of R's are roots over minima by nlminb, good to about 1e-8 standard errors; its steps are Newton's."""
    found = model.summary(interval="profile", **rows)
    for end, values in zip(("lower", "upper"), theirs.reshape(2, -1), strict=True):
        assert np.abs((column(found, end) - values) / column(found, "std_error")).max() < 1e-7


@pytest.mark.parametrize(("case", "rows"), pd.read_csv(HERE / "data/inference/firth_rows.csv").groupby("case"))
def test_firths_profiles_end_where_classes_are_separated(case: str, rows: pd.DataFrame) -> None:
    """By direct maximisation in R, as in logistf; likelihoods have no maximum there, or nearly none."""
    rows, theirs = rows.dropna(axis=1), table("inference/firth.csv")[case]
    X, y = rows.filter(like="x"), rows["y"]
    found = LogisticRegression(firth=True).fit(X, y).summary(interval="profile", X=X, y=y)
    np.testing.assert_allclose(column(found, "estimate"), theirs["estimate"], rtol=2e-7)
    for end in ("lower", "upper"):
        np.testing.assert_allclose(column(found, end), theirs[end], rtol=1e-9, err_msg=end)


@pytest.mark.parametrize("case", [case for case in CASES if "profile" in THEIRS[case]])
def test_profile_intervals_are_those_of_r(case: str) -> None:
    model, rows, _ = fitted(case)
    check_profile(model, rows, THEIRS[case]["profile"])


@pytest.mark.parametrize("case", [case for case in CASES if "leverage" in THEIRS[case]])
def test_influence_is_that_of_r(case: str) -> None:
    model, rows, _ = fitted(case)
    mine = model.influence(**rows, **({"dfbetas": True} if case == "linear" else {}))
    for what, theirs in THEIRS[case].items():
        if hasattr(mine, what):
            theirs = -theirs if (case, what) == ("gamma_inverse", "dfbetas") else theirs  # see influence.py
            assert getattr(mine, what)[:ROWS].ravel() == pytest.approx(theirs, rel=1e-8, abs=1e-12), what


@pytest.mark.parametrize("case", [case for case in CASES if "anova" in THEIRS[case]])
def test_analysis_of_deviance_is_that_of_r(case: str) -> None:
    large, rows, _ = fitted(case)
    small = clone(large).fit(**{**rows, "X": rows["X"][["x2"]]})
    table = anova(small, large)
    less, f, p = THEIRS[case]["anova"]
    assert table.deviance_more[1] == pytest.approx(less, rel=1e-9)
    assert table.p_value[1] == pytest.approx(p, rel=1e-8)
    if f >= 0:
        assert table.f_statistic[1] == pytest.approx(f, rel=1e-9)
    else:
        assert np.isnan(table.f_statistic[1])
        assert table.chi2[1] == table.deviance_more[1]
    assert f"{table.p_value[1]:.4f}" in str(table)


X = COUNTS[["x1", "x2"]]


def test_rows_without_trials_are_no_observations() -> None:
    y, theirs = COUNTS[TWO].copy(), MORE["no_trials"]
    y.iloc[[2, 16, 29]] = 0
    some = y.sum(axis=1).to_numpy() > 0
    model = GeneralizedLinear(loss="binomial", dispersion="pearson").fit(X, y)
    found, measures = model.summary().to_dict(), model.influence(X, y)
    for name in ("estimate", "std_error"):
        assert column(found, name) == pytest.approx(theirs[name], rel=1e-9)
    numbers = [found[name] for name in ("freedom", "null_freedom", "dispersion", "deviance", "null_deviance")]
    assert numbers == pytest.approx(theirs["fit"], rel=1e-9)
    for errors in ("HC1", "HC3"):
        assert column(model.summary(errors=errors, X=X, y=y), "std_error") == pytest.approx(theirs[errors], rel=1e-9)
    for what in ("cooks_distance", "studentized", "dfbetas"):
        ours = getattr(measures, what)
        assert ours[some].ravel() == pytest.approx(theirs[what], rel=1e-8, abs=1e-12)
        assert np.isnan(ours[~some]).all()
    found = GeneralizedLinear(loss="binomial").fit(X, y).summary().to_dict()
    assert [found["aic"], found["bic"]] == pytest.approx(theirs["criteria"], rel=1e-9)


def test_a_softmax_is_that_of_multinom() -> None:
    y, theirs = np.digitize(COUNTS["count"], [4.5, 8.5]), MORE["softmax"]
    model = LogisticRegression().fit(X, y)
    summary = model.summary()
    for name in ("estimate", "std_error"):
        assert column(summary, name) == pytest.approx(theirs[name], rel=1e-8), name
    assert anova(model, type=2, X=X, y=y).rows[1]["chi2"] == pytest.approx(theirs["ratio"][0], rel=1e-7)


def test_ratios_of_a_negative_binomial_are_those_of_glm_nb() -> None:
    """Each of the models has its own shape, that without columns too."""
    rows, theirs = {"X": COUNTS[["x1", "x2"]], "y": COUNTS["count"]}, MORE["shape"]
    model = GeneralizedLinear("negative_binomial").fit(**rows)
    found = model.summary().to_dict()
    assert [found["log_likelihood"], found["null_log_likelihood"]] == pytest.approx(theirs["log_likelihood"], rel=1e-9)
    last = anova(model, type=2, **rows).rows[1]["chi2"]
    assert [found["chi2"], last] == pytest.approx(theirs["ratio"], rel=1e-6)  # as far as glm.nb goes
    assert found["pseudo_r_squared"] == pytest.approx(theirs["mcfadden"][0], rel=1e-6)


@pytest.mark.parametrize("case", ["ordered_logit", "ordered_probit", "ordered_cloglog", "softmax"])
def test_profiles_and_influence_of_classes(case: str) -> None:
    y = np.digitize(COUNTS["count"], [4.5, 8.5])
    model = LogisticRegression() if case == "softmax" else OrdinalRegression(link=case.split("_")[1])
    check_profile(model.fit(X, y), {"X": X, "y": y}, MORE[case]["profile"])
    measures, probability = model.influence(X, y), model.predict_proba(X)
    for what in ("leverage", "cooks_distance", "dfbetas"):
        ours = getattr(measures, what)[:ROWS].ravel()
        assert ours == pytest.approx(MORE[case][what], rel=1e-8, abs=1e-11), what
    assert measures.residual == pytest.approx(np.eye(3)[y] - probability, abs=1e-12)
    likely = model.summary().quality.log_likelihood
    assert (measures.deviance**2).sum() == pytest.approx(-2 * likely, rel=1e-12)
    assert measures.pearson**2 * probability * (1 - probability) == pytest.approx(measures.residual**2)
    with pytest.raises(InvalidData, match="not the rows"):
        model.influence(X, np.roll(y, 1))
    twice = model.fit(X, y, np.full(len(y), 2.0)).influence(X, y, np.full(len(y), 2.0))
    again = model.fit(np.tile(X, (2, 1)), np.tile(y, 2)).influence(np.tile(X, (2, 1)), np.tile(y, 2))
    assert twice.dfbetas == pytest.approx(again.dfbetas[: len(y)], rel=1e-8, abs=1e-11)
