"""GeneralizedLinear for every family and link against R (tests/data/glm), its offsets, and what it refuses."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, LogisticRegression, load, save
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter
from adaline.links import Power
from adaline.losses import NegativeBinomial, Tweedie
from adaline.results import Status

DATA = Path(__file__).parents[1] / "data" / "glm"
ROWS = pd.read_csv(DATA / "rows.csv")
R = pd.read_csv(DATA / "glm.csv", comment="#")
X, OFFSET, WEIGHT = ROWS[["x1", "x2"]].to_numpy(), ROWS["o"].to_numpy(), ROWS["w"].to_numpy()


def target(family: str) -> Any:
    columns = {"poisson": "count", "quasipoisson": "count", "negative_binomial": "count", "tweedie": "zero"}
    return ROWS[["yes", "no"] if family == "binomial" else columns.get(family, "amount")].to_numpy(dtype=float)


def machine(row: Any) -> GeneralizedLinear:
    family = {"tweedie": Tweedie(1.6), "negative_binomial": NegativeBinomial(2.5)}.get(row.family, row.family)
    link = Power(1 / 3) if row.link == "power" else row.link
    if row.family == "quasipoisson":
        return GeneralizedLinear(loss="poisson", link=link, dispersion="pearson")
    return GeneralizedLinear(loss=family, link=link)


@pytest.mark.parametrize("row", list(R.itertuples()), ids=lambda row: f"{row.family}-{row.link}-{row.offset:g}")
def test_every_family_and_link_is_that_of_r(row: Any) -> None:
    offset = OFFSET * row.offset if row.offset else None
    model = machine(row).fit(X, target(row.family), sample_weight=WEIGHT, offset=offset)
    found = model.summary().to_dict()
    assert model.certificate_.status is Status.SOLVED
    ours = [one[name] for name in ("estimate", "std_error") for one in found["coefficients"]]
    np.testing.assert_allclose(ours, [row.w0, row.w1, row.w2, row.e0, row.e1, row.e2], rtol=1e-8, atol=1e-9)
    numbers = {name: getattr(row, name) for name in ("deviance", "null_deviance", "dispersion")}
    if row.family != "negative_binomial" and not np.isnan(row.log_likelihood):  # MASS leaves out a constant there
        numbers |= {"aic": row.aic, "log_likelihood": row.log_likelihood}
    for name, theirs in numbers.items():
        np.testing.assert_allclose(found[name], theirs, rtol=1e-8, err_msg=name)
    assert model.deviance_ == found["deviance"]
    assert model.dispersion_ == found["dispersion"]


def test_the_shape_of_a_negative_binomial_is_that_of_mass() -> None:
    theta, error, *rest = np.loadtxt(DATA / "glm_nb.csv").tolist()
    model = GeneralizedLinear(loss=NegativeBinomial("auto")).fit(X, ROWS["count"], WEIGHT, OFFSET)
    found = model.summary().to_dict()
    ours = [one[name] for name in ("estimate", "std_error") for one in found["coefficients"]]
    ours += [found["deviance"], found["aic"], found["log_likelihood"]]
    np.testing.assert_allclose([model.shape_, found["shape_error"], *ours], [theta, error, *rest], rtol=1e-8)
