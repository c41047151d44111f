"""Profile intervals of components of variance: those of lme4, where a variance is zero or a correlation one too."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import AdditiveModel, open_table
from adaline.errors import AdalineError
from adaline.fits.additive.profile import Component, HeldProblem
from adaline.fits.additive.ratios import first_ratios
from tests.fits.additive.models import CASES, assemble

FOLDER = Path(__file__).parents[1] / "data" / "additive"
R = json.loads((FOLDER / "profile.json").read_text("utf-8"))
FAMILIES = {one["case"]: one for one in json.loads((FOLDER / "families.json").read_text("utf-8"))}


def fit(name: str, criterion: str) -> tuple[AdditiveModel, Any]:
    case = FAMILIES.get(name) or CASES[name]
    frame = pd.DataFrame(case["data"])
    table = open_table(frame, formula=case["formula"], weight="w" if "w" in frame else None)
    return AdditiveModel(**case.get("settings", {}) | {"criterion": criterion}).fit(table), table


def ends(table: Any) -> np.ndarray:
    return np.array([[row["lower"], row["upper"]] for row in table.to_dict()["variance_components"]])


@pytest.mark.every
@pytest.mark.parametrize("case", R, ids=lambda case: f"{case['case']}-{case['method']}")
def test_intervals_are_those_of_lme4(case: dict[str, Any]) -> None:
    """Those of its deviance, and of `confint` as near as that interpolates."""
    model, rows = fit(case["case"], case["method"])
    given = {"X": rows} if case["case"] in FAMILIES else {}
    found = ends(model.summary(interval="profile", **given))
    np.testing.assert_allclose(found, case["found"], rtol=1e-7 if given else 2e-8)
    if case["lme4"] is not None:
        np.testing.assert_allclose(found, case["lme4"], rtol=3e-3)


HELD = [
    Component("sd", 0),
    Component("residual", 3),
    Component("correlation", 0, 2),
]


@pytest.mark.parametrize("component", HELD, ids=lambda one: one.kind)
@pytest.mark.parametrize("known", [None, 0.3])
def test_derivatives_of_what_is_held_are_those_of_differences(component: Component, known: float | None) -> None:
    sums = assemble(CASES["sleepstudy"]).sums
    if known is not None and component.kind == "residual":
        return
    held = HeldProblem(sums, component, 0.4, known)
    whole = np.append(first_ratios(sums) + 0.3 * np.sin(np.arange(3) + 1), math.log(sums.square / sums.rows) - 0.3)
    theta, step = whole[held.free(4)], 1e-5
    gradient, hessian = held.at(theta).derivatives("reml")
    for i, unit in enumerate(step * np.eye(len(theta))):
        low, high = held.at(theta - unit), held.at(theta + unit)
        slope = (high.score("reml") - low.score("reml")) / (2 * step)
        assert gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-6)
        bend = (high.derivatives("reml")[0] - low.derivatives("reml")[0]) / (2 * step)
        np.testing.assert_allclose(hessian[i], bend, rtol=1e-6, atol=1e-6)


def groups(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    g, h, x = np.arange(n) % 12, rng.integers(0, 9, n), rng.normal(size=n)
    effect = rng.normal(size=(12, 2)) @ [[1.0, 0.4], [0.0, 0.6]]
    y = 2 + x + effect[g, 0] + effect[g, 1] * x + 0.7 * rng.normal(size=9)[h] + rng.normal(size=n)
    return pd.DataFrame({"y": y, "x": x, "g": [f"g{k}" for k in g], "h": [f"h{k}" for k in h]})


@pytest.mark.slow
def test_groups_that_are_eliminated_and_units_change_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, formula = groups(), "y ~ s(x, bs='cr', k=5) + (1 + x | g) + (1 | h)"
    plain = ends(AdditiveModel().fit(open_table(frame, formula=formula)).summary(interval="profile"))
    assert (plain[:, 0] < plain[:, 1]).all()
    scaled = frame.assign(y=8 * frame["y"], x=frame["x"] / 4)
    found = ends(AdditiveModel().fit(open_table(scaled, formula=formula)).summary(interval="profile"))
    np.testing.assert_array_equal(found, plain * np.array([8, 32, 1, 8, 8])[:, None])
    monkeypatch.setattr("adaline.fits.additive.design.APART", 20)
    monkeypatch.setattr("adaline.fits.additive.design.CROSSED", 5)
    apart = ends(AdditiveModel().fit(open_table(frame, formula=formula)).summary(interval="profile"))
    np.testing.assert_allclose(apart[[1, 2, 3, 0, 4]], plain, rtol=1e-7)  # the largest grouping comes last


def test_intervals_reach_zero_and_one() -> None:
    rng = np.random.default_rng(1)
    x, group, alone = rng.normal(size=60), np.arange(60) % 6, rng.integers(0, 5, 60)
    y = (1 + x) * rng.normal(size=6)[group] + 0.5 * rng.normal(size=60)
    X = np.column_stack([x, group, alone])
    table = AdditiveModel(terms=["(1 + x0 | x1)", "(1 | x2)"]).fit(X, y).summary(interval="profile")
    rows = table.to_dict()["variance_components"]
    assert rows[2]["correlation"] == pytest.approx(1.0, abs=0.02)
    assert rows[2]["lower"] < 0.95 < rows[2]["upper"] == 1.0
    assert rows[3]["lower"] == 0.0 < rows[3]["upper"] < 0.6
    assert "97.5%" in str(table).partition("effects of")[2]
    narrow = AdditiveModel(terms=["(1 | x1)"]).fit(X, y).summary(level=0.5, interval="profile")
    wide = AdditiveModel(terms=["(1 | x1)"]).fit(X, y).summary(level=0.9, interval="profile")
    assert (ends(wide)[:, 0] < ends(narrow)[:, 0]).all()
    assert (ends(wide)[:, 1] > ends(narrow)[:, 1]).all()


def test_what_has_no_profile_says_why() -> None:
    frame = groups(60)
    table = open_table(frame, formula="y ~ s(x, k=5)")
    with pytest.raises(AdalineError, match="criterion='reml'"):
        AdditiveModel(criterion="gcv").fit(table).summary(interval="profile")
    rows = AdditiveModel().fit(table).summary(interval="profile").to_dict()["variance_components"]
    assert [row["group"] for row in rows] == ["residual"]
    counts = frame.assign(y=np.exp(frame["y"] / 3).round())
    model = AdditiveModel(loss="poisson").fit(open_table(counts, formula="y ~ (1 | g)"))
    with pytest.raises(AdalineError, match="needs the rows"):
        model.summary(interval="profile")
    with pytest.raises(AdalineError, match="rows that were fitted"):
        model.summary(interval="profile", X=open_table(counts.assign(y=counts["y"] + 1), formula="y ~ (1 | g)"))
    amounts = AdditiveModel(loss="gamma").fit(open_table(frame.assign(y=np.exp(frame["y"])), formula="y ~ (1 | g)"))
    with pytest.raises(AdalineError, match=r"dispersion=\d"):
        amounts.summary(interval="profile")
    exact = AdditiveModel(terms=["(1 | x1)"]).fit(
        np.column_stack([np.arange(20.0), np.arange(20) % 4]), np.arange(20.0)
    )
    assert np.isnan(ends(exact.summary(interval="profile"))).all()
