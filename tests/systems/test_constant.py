"""A formula decides whether there is a constant, as in R: `y ~ a - 1` is `fit_intercept=False`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

import adaline
from adaline import LinearRegression, LogisticRegression, Ridge, open_table, select
from adaline.errors import InvalidParameter
from adaline.systems import SYSTEMS

RNG = np.random.default_rng(4)
ROWS = pd.DataFrame(RNG.normal(size=(60, 2)) + 1.0, columns=["a", "b"])
ROWS["kind"] = np.array(["low", "mid", "top"])[RNG.integers(0, 3, 60)]
ROWS["amount"] = np.exp(0.4 * ROWS.a - 0.2 * ROWS.b + 0.3 * RNG.normal(size=60))
ROWS["two"] = np.where(ROWS.a + RNG.normal(size=60) > 1.0, "yes", "no")
WITH = [name for name, system in SYSTEMS.items() if "fit_intercept" in system().get_params()]
WITHOUT = [name for name in SYSTEMS if name not in WITH and name not in ("KMeans", "GaussianMixture")]


def table(target: str, columns: str, rows: pd.DataFrame = ROWS) -> Any:
    return open_table(rows, formula=f"{target} ~ {columns}")


def target_of(name: str) -> str:
    return "two" if is_classifier(SYSTEMS[name]()) else "amount"


@pytest.mark.filterwarnings("ignore::adaline.AdalineWarning")
@pytest.mark.parametrize("name", WITH)
def test_a_formula_decides_whether_there_is_a_constant(name: str) -> None:
    target = target_of(name)
    found = SYSTEMS[name]().fit(table(target, "a + b - 1"))
    known = SYSTEMS[name](fit_intercept=False).fit(table(target, "a + b"))
    assert np.array_equal(np.asarray(found.coef_), np.asarray(known.coef_))
    assert not np.any(found.intercept_)
    assert np.array_equal(found.predict(ROWS), known.predict(ROWS))
    again = found.fit(table(target, "a + b"))  # the setting is as it was
    plain = SYSTEMS[name]().fit(table(target, "a + b"))
    assert np.array_equal(np.asarray(again.intercept_), np.asarray(plain.intercept_))


@pytest.mark.parametrize("name", WITHOUT)
def test_systems_without_a_choice_refuse_such_a_formula(name: str) -> None:
    with pytest.raises(InvalidParameter, match="take '0 \\+' or '- 1' out of the formula"):
        SYSTEMS[name]().fit(table(target_of(name), "0 + a + b"))


def test_what_goes_on_has_no_constant_either(tmp_path: Path) -> None:
    whole = LinearRegression(fit_intercept=False).fit(ROWS[["a", "b"]], ROWS.amount)
    first, last = ROWS[:30], ROWS[30:]
    model = LinearRegression().fit(table("amount", "a + b - 1", first))
    other = LinearRegression().fit(table("amount", "a + b - 1", last))
    adaline.save(model, tmp_path / "m.adaline")
    loaded = adaline.load(tmp_path / "m.adaline").partial_fit(table("amount", "a + b - 1", last))
    for one in (model.merge(other), loaded):
        assert one.coef_ == pytest.approx(whole.coef_, rel=1e-12)
        assert one.intercept_ == 0.0
        assert [row["name"] for row in one.summary().to_dict()["coefficients"]] == ["a", "b"]
    assert model.forget(table("amount", "a + b - 1", last)).coef_ == pytest.approx(
        LinearRegression(fit_intercept=False).fit(first[["a", "b"]], first.amount).coef_, rel=1e-10
    )


@pytest.mark.parametrize("system", [Ridge, LogisticRegression])
def test_selections_fit_none_either(system: Any) -> None:
    target = "two" if system is LogisticRegression else "amount"
    given = {"penalty": [0.1, 1.0], "folds": 3, "method": "folds"}
    found = select(system(), table(target, "a + b - 1"), **given)
    known = select(system(fit_intercept=False), table(target, "a + b"), **given)
    assert [row["error"] for row in found.table.rows] == pytest.approx([row["error"] for row in known.table.rows])
    assert np.array_equal(found.best.coef_, known.best.coef_)


def test_levels_are_coded_in_full_and_r_squared_is_about_zero() -> None:
    model = LinearRegression().fit(table("amount", "kind - 1"))
    means = ROWS.groupby("kind").amount.mean()
    assert model.coef_ == pytest.approx(means.to_numpy(), rel=1e-12)
    left = ROWS.amount - means[ROWS.kind].to_numpy()
    assert model.summary().to_dict()["r_squared"] == pytest.approx(1 - (left**2).sum() / (ROWS.amount**2).sum())
