"""The models of tests/data/terms/terms.R, and what R says of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adaline import GeneralizedLinear, LinearRegression, LogisticRegression, OrdinalRegression, open_table

HERE = Path(__file__).parents[1]


def read_rows() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the penguins and the rows of counts, with the columns that the script adds to them."""
    birds = pd.read_csv(HERE.parent / "src" / "adaline" / "datasets" / "penguins.csv").dropna().reset_index(drop=True)
    birds = birds.assign(male=(birds.sex == "male").astype(float), w=birds.year - 2005.0)
    rows = pd.read_csv(HERE / "data" / "glm" / "rows.csv")
    i = np.arange(1, len(rows) + 1)
    g, h = np.array(["a", "b", "c"])[i * 7 % 11 % 3], np.array(["u", "v"])[i * 5 % 7 % 2]
    return birds, rows.assign(g=g, h=h, level=np.digitize(rows["count"], [4.5, 8.5]))


BIRDS, ROWS = read_rows()
THEIRS: dict[tuple[str, str], dict[str, float]] = {
    keys: dict(zip(part["name"], part["value"], strict=True))
    for keys, part in pd.read_csv(HERE / "data" / "terms" / "terms.csv", comment="#").groupby(["case", "what"])
}
CASES: dict[str, tuple[Any, str]] = {
    "two": (LinearRegression(), "body_mass_g ~ species * sex"),
    "covariates": (LinearRegression(), "body_mass_g ~ species + island + sex + flipper_length_mm + bill_depth_mm"),
    "weighted": (LinearRegression(weights="precision"), "body_mass_g ~ species * sex + flipper_length_mm"),
    "curved": (LinearRegression(), "body_mass_g ~ sex * flipper_length_mm + poly(bill_length_mm, 2) + species"),
    "poisson": (GeneralizedLinear("poisson"), "count ~ g * x1 + h + offset(o)"),
    "binomial": (GeneralizedLinear("binomial"), "cbind(yes, no) ~ g + h * x1 + offset(o)"),
    "probit": (GeneralizedLinear("binomial", link="probit"), "cbind(yes, no) ~ g + h + x2"),
    "gamma": (GeneralizedLinear("gamma", link="log"), "amount ~ g * h + x2"),
    "quasipoisson": (GeneralizedLinear("poisson", dispersion="pearson"), "count ~ g * h + x1"),
    "logistic": (LogisticRegression(), "male ~ species * bill_length_mm + body_mass_g"),
    "ordered": (OrdinalRegression(), "level ~ g + h + x1"),
}


@cache
def fitted(case: str) -> tuple[Any, pd.DataFrame, Any]:
    """Return the model of a case, its rows as a frame, and a table of them as it was fitted to."""
    kind, formula = CASES[case]
    rows = BIRDS if set(formula.replace("`", " ").split()) & set(BIRDS.columns) else ROWS
    table = open_table(rows, formula=formula, weight="w" if case == "weighted" else None)
    return kind.fit(table), rows, table
