"""Rows without trials, and ordered classes by profile and without a row, against R (tests/data/glm/more.R)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, LogisticRegression, OrdinalRegression
from adaline.errors import InvalidData
from tests.inference.test_against_r import column

DATA = Path(__file__).parents[1] / "data" / "glm"
ROWS = pd.read_csv(DATA / "rows.csv")
FOUND = pd.read_csv(DATA / "more.csv", comment="#").groupby(["case", "what"])["value"]
X = ROWS[["x1", "x2"]]


def theirs(case: str, what: str) -> Any:
    return FOUND.get_group((case, what)).to_numpy()


def test_rows_without_trials_are_no_observations() -> None:
    y = ROWS[["yes", "no"]].copy()
    y.iloc[[2, 16, 29]] = 0
    some = y.sum(axis=1).to_numpy() > 0
    model = GeneralizedLinear(loss="binomial", dispersion="pearson").fit(X, y)
    found = model.summary().to_dict()
    for name in ("estimate", "std_error"):
        assert column(model.summary(), name) == pytest.approx(theirs("no_trials", name), rel=1e-9)
    numbers = [found[name] for name in ("freedom", "null_freedom", "dispersion", "deviance", "null_deviance")]
    assert numbers == pytest.approx(theirs("no_trials", "fit"), rel=1e-9)
    for errors in ("HC1", "HC3"):
        robust = model.summary(errors=errors, X=X, y=y)
        assert column(robust, "std_error") == pytest.approx(theirs("no_trials", errors), rel=1e-9)
    measures = model.influence(X, y)
    for what in ("cooks_distance", "studentized", "dfbetas"):
        ours = getattr(measures, what)
        assert ours[some].ravel() == pytest.approx(theirs("no_trials", what), rel=1e-8, abs=1e-12)
        assert np.isnan(ours[~some]).all()
    found = GeneralizedLinear(loss="binomial").fit(X, y).summary().to_dict()
    assert [found["aic"], found["bic"]] == pytest.approx(theirs("no_trials", "criteria"), rel=1e-9)


@pytest.mark.parametrize("case", ["ordered_logit", "ordered_probit", "ordered_cloglog", "softmax"])
def test_profiles_and_influence_of_classes(case: str) -> None:
    """Ends of R's are roots over minima by nlminb, good to about 1e-8 standard errors; its steps are Newton's."""
    y = np.digitize(ROWS["count"], [4.5, 8.5])
    model = LogisticRegression() if case == "softmax" else OrdinalRegression(link=case.split("_")[1])
    found = model.fit(X, y).summary(interval="profile", X=X, y=y)
    error, ends = column(found, "std_error"), theirs(case, "profile").reshape(2, -1)
    assert np.abs((column(found, "lower") - ends[0]) / error).max() < 1e-7
    assert np.abs((column(found, "upper") - ends[1]) / error).max() < 1e-7
    measures = model.influence(X, y)
    for what in ("leverage", "cooks_distance", "dfbetas"):
        assert getattr(measures, what)[:12].ravel() == pytest.approx(theirs(case, what), rel=1e-8, abs=1e-11), what
    probability = model.predict_proba(X)
    own = np.eye(3)[y]
    assert measures.residual == pytest.approx(own - probability, abs=1e-12)
    assert (measures.deviance**2).sum() == pytest.approx(-2 * found.quality.log_likelihood, rel=1e-12)
    assert measures.pearson**2 * probability * (1 - probability) == pytest.approx(measures.residual**2)
    twice = model.fit(X, y, np.full(len(y), 2.0)).influence(X, y, np.full(len(y), 2.0))
    again = model.fit(np.tile(X, (2, 1)), np.tile(y, 2)).influence(np.tile(X, (2, 1)), np.tile(y, 2))
    assert twice.dfbetas == pytest.approx(again.dfbetas[: len(y)], rel=1e-8, abs=1e-11)
    with pytest.raises(InvalidData, match="not the rows"):
        model.influence(X, np.roll(y, 1))
