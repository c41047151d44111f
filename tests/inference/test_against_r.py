"""Robust errors, profile intervals and influence of every fit against R (sandwich, MASS, stats).

tests/data/inference/inference.R made the numbers.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, OrdinalRegression, anova
from adaline.losses import NegativeBinomial

HERE = Path(__file__).parents[1]
ROWS = 12  # of which R's measures of influence are kept


def table() -> dict[str, dict[str, Any]]:
    """Return R's numbers by case and by what they are."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    lines = (HERE / "data" / "inference" / "inference.csv").read_text().splitlines()
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        found[row["case"]][row["what"]].append(float(row["value"]))
    return {case: {what: np.array(values) for what, values in one.items()} for case, one in found.items()}


THEIRS = table()
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


def column(summary: Any, name: str) -> Any:
    return np.array([row[name] for row in summary.to_dict()["coefficients"]])


CASES = sorted(THEIRS)
ERRORS = [(case, what) for case in CASES for what in THEIRS[case] if what[:2] in ("HC", "cl", "HA")]


@pytest.mark.parametrize(("case", "what"), ERRORS)
def test_standard_errors_are_those_of_r(case: str, what: str) -> None:
    model, rows, groups = fitted(case)
    options: dict[str, Any] = {"errors": what} if what != "classical" else {}
    if what[:3] == "HAC":
        options = {"errors": "HAC", "lags": int(what[3:])}
    if what == "cluster":
        options["groups"] = groups
    mine = model.summary(**options, **(rows if options else {}))
    accuracy = 1e-5 if case == "ordinal" else 1e-9  # of R's optim
    assert column(mine, "std_error") == pytest.approx(THEIRS[case][what], rel=accuracy)


@pytest.mark.parametrize("case", [case for case in CASES if "profile" in THEIRS[case]])
def test_profile_intervals_are_those_of_r(case: str) -> None:
    model, rows, _ = fitted(case)
    mine = model.summary(interval="profile", **rows)
    ends = THEIRS[case]["profile"].reshape(2, -1)
    error = column(mine, "std_error")
    assert np.abs(column(mine, "lower") - ends[0]).max() < 1e-8 * error.max()
    assert np.abs((column(mine, "lower") - ends[0]) / error).max() < 1e-7
    assert np.abs((column(mine, "upper") - ends[1]) / error).max() < 1e-7


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
