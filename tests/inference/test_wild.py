"""The wild cluster bootstrap: each draw as R fits it, intervals by inversion, and what is refused.

tests/data/inference/wild.R made the numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adaline import GeneralizedLinear, InstrumentalVariables, LinearRegression, Ridge, open_table
from adaline.errors import InvalidParameter
from adaline.inference.covariance import coordinates
from adaline.inference.wild import OneDirection, all_signs
from tests.inference.test_against_r import BIRDS, table
from tests.inference.test_clusters import PLACE

R = table("inference/wild.csv")
X, MASS = BIRDS[["bill_length_mm", "bill_depth_mm"]], BIRDS.body_mass_g
ROWS: dict[str, Any] = {"X": X, "y": MASS}
WEIGHTED = ROWS | {"sample_weight": BIRDS.year - 2005.0}
TABLE = "body_mass_g ~ bill_length_mm + bill_depth_mm | place"


def webb() -> Any:
    """Return the factors that wild.R takes."""
    b, g = np.arange(50)[:, None], np.arange(1, 10)
    values = np.sqrt([0.5, 1.0, 1.5])
    return np.concatenate([values, -values])[(b * g + b // 3 + g * g) % 6]


def viewed(case: str) -> Any:
    if case == "absorbed":
        rows = open_table(BIRDS.assign(place=PLACE), formula=TABLE)
        return LinearRegression().fit(rows).with_errors("wild", rows, groups="place")
    rows = WEIGHTED if case == "weighted" else ROWS
    return LinearRegression(weights="precision").fit(**rows).with_errors("wild", **rows, groups=PLACE)


@pytest.mark.every
@pytest.mark.parametrize("case", ["linear", "weighted", "absorbed"])
def test_each_draw_is_that_of_r(case: str) -> None:
    (found,) = viewed(case).judged.robust
    theta = found.fit.solution.theta[0]
    for j in (1, 2):
        along = coordinates(found.fit, np.eye(3)[[j]])
        for kind, factors in (("signs", all_signs(9)), ("webb", webb())):
            wild = replace(found.wild, factors=factors)
            one, off = OneDirection(wild, along[0]), found._scaled(-theta[[j]])
            theirs = R[f"{case} {j + 1}"][kind]
            assert one.statistics(off[0] / one.error) == pytest.approx(theirs[1:], rel=1e-7)
            assert (off[0] / one.error) ** 2 == pytest.approx(theirs[0], rel=1e-8)
            assert wild._statistics(along, off)[0] == pytest.approx(theirs[1:], rel=1e-7)
    along = coordinates(found.fit, np.eye(3)[1:])
    draws, own = replace(found.wild, factors=webb())._statistics(along, found._scaled([0.0, 1.0] - theta[1:]))
    assert draws == pytest.approx(R[f"{case} both"]["webb"][1:], rel=1e-6)
    assert own == pytest.approx(R[f"{case} both"]["webb"][0], rel=1e-8)


def test_p_is_the_share_of_draws_and_the_interval_has_the_values_that_are_not_rejected() -> None:
    (found,) = viewed("linear").judged.robust
    wild = replace(found.wild, factors=all_signs(9), complete=True)
    judged = replace(found, wild=wild).by_draws(0.95)
    theirs = R["linear 2"]["signs"]
    assert judged["p_value"][1] == pytest.approx(np.mean(theirs[1:] >= theirs[0] * (1 - 1e-9)))
    assert [judged["lower"][1], judged["upper"][1]] == pytest.approx(R["linear 2"]["ends"], rel=1e-6)
    four = LinearRegression().fit(**ROWS).with_errors("wild", **ROWS, groups=np.arange(len(X)) % 4)
    few = replace(four.judged.robust[0].wild, factors=all_signs(4), complete=True)
    assert OneDirection(few, np.ones(3)).reach(0.95, 1.0) == np.inf  # 8 draws: p is never below 1 / 8


def test_tables_tests_and_terms_agree() -> None:
    view = viewed("linear")
    rows = view.summary().to_dict()["coefficients"]
    classical = LinearRegression().fit(**ROWS).summary(errors="CR1", **ROWS, groups=PLACE).to_dict()["coefficients"]
    assert [row["std_error"] for row in rows] == pytest.approx([row["std_error"] for row in classical])
    for row in rows[1:]:
        assert view.test(f"{row['name']} = 0").p_value == row["p_value"]
        for end in (row["lower"], row["upper"]):
            assert view.test(f"{row['name']} = {end:.15g}").p_value == pytest.approx(0.05, abs=2e-4)
    assert [row["p_value"] for row in view.anova().rows] == [row["p_value"] for row in rows[1:]]
    assert view.summary().to_dict()["f_p_value"] == view.test("bill_length_mm = 0, bill_depth_mm = 0").p_value
    assert any("wild bootstrap of 9 groups, 9,999 draws of Webb" in note for note in view.summary().notes)
    few = LinearRegression().fit(**ROWS).summary(errors="cluster", **ROWS, groups=PLACE)
    assert any("errors='wild'" in note for note in few.notes)


def test_neither_units_nor_weights_as_rows_nor_the_order_of_rows_matter() -> None:
    def ends(X: Any, y: Any, weight: Any, groups: Any) -> Any:
        found = LinearRegression().fit(X, y, weight)
        rows = found.summary(errors="wild", X=X, y=y, sample_weight=weight, groups=groups).to_dict()["coefficients"]
        return np.array([[row["p_value"], row["lower"], row["upper"]] for row in rows[1:]])

    x, y, weight = X.to_numpy(), MASS.to_numpy(float), np.arange(len(X)) % 3
    found = ends(x, y, weight, PLACE)
    scaled = ends(x * [2.0**500, 2.0**-500], y * 2.0**-200, weight, PLACE)
    assert scaled == pytest.approx(found * [[1.0, 2.0**-700, 2.0**-700], [1.0, 2.0**300, 2.0**300]], rel=1e-9)
    repeated = np.repeat(np.arange(len(x)), weight)
    order = np.random.default_rng(0).permutation(repeated)
    assert ends(x[order], y[order], None, PLACE[order]) == pytest.approx(found, rel=1e-8)
    rows = X.assign(y=y, w=weight, place=PLACE).iloc[np.random.default_rng(1).permutation(len(y))]
    coded = open_table(rows, formula="y ~ bill_length_mm + bill_depth_mm", weight="w")
    found_again = LinearRegression().fit(coded).summary(errors="wild", X=coded, groups="place").to_dict()
    assert [row["p_value"] for row in found_again["coefficients"][1:]] == pytest.approx(found[:, 0])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda view: view.effects(), "no effects"),
        (lambda view: view.predict(X), "no intervals of predictions"),
        (lambda view: view.draws(), "no effects, means or draws"),
    ],
)
def test_what_has_no_wild_bootstrap_is_refused(ask: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ask(viewed("linear"))


@pytest.mark.parametrize(
    ("model", "more", "message"),
    [
        (LinearRegression(), {"groups": [PLACE, BIRDS.sex]}, "groups by one column"),
        (LinearRegression(), {"groups": PLACE, "distribution": "t"}, "leave out distribution"),
        (Ridge(1.0), {"groups": PLACE}, "no tests of a penalised fit"),
        (GeneralizedLinear("gamma"), {"groups": PLACE}, "likelihoods"),
        (InstrumentalVariables(endogenous=0, instruments=1), {"groups": PLACE}, "endogenous"),
    ],
)
def test_models_and_groups_that_have_none_say_why(model: Any, more: Any, message: str) -> None:
    model.fit(**ROWS)
    with pytest.raises(InvalidParameter, match=message):
        model.summary(errors="wild", **ROWS, **more)


def test_absorbed_effects_across_groups_are_refused() -> None:
    rows = open_table(BIRDS.assign(place=PLACE), formula=TABLE.replace("place", "species"))
    with pytest.raises(InvalidParameter, match="within one group"):
        LinearRegression().fit(rows).summary(errors="wild", X=rows, groups=PLACE)
