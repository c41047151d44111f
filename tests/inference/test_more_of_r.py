"""Rows without trials, and ordered classes by profile and without a row, against R (tests/data/glm/more.R)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear
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
