"""Gaps in a comparison: which policy is chosen, what is filled inside the folds, and what another policy changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import GeneralizedLinear, Ridge, RobustRegression, compare, load, save
from adaline.comparison.compare import compare_table
from adaline.comparison.table import Table
from adaline.selection.cross_validation import ArrayRows

RNG = np.random.default_rng(0)
N = 80
A, B = RNG.normal(size=(2, N))
Y = 2 * A + B + 0.3 * RNG.normal(size=N)
KIND = np.where(Y + 0.5 * RNG.normal(size=N) > 0, "up", "down").astype(object)


def frame(share: float, **more: Any) -> pd.DataFrame:
    """Return columns a, b and y, where a share of b, in the first rows, is missing."""
    return pd.DataFrame({"a": A, "b": np.where(np.arange(N) < share * N, np.nan, B), "y": Y, **more})


def test_few_rows_with_gaps_are_left_out_and_what_filling_changes_is_found() -> None:
    found = compare(frame(0.05), "y", systems=["LinearRegression"])
    assert found.title.endswith("76 rows, 5 folds; 4 rows with gaps left out")
    assert found.notes == ("4 of 80 rows are left out for gaps in 'b' (4)",)
    (text,) = [one.text for one in found.findings if one.title == "Another policy for gaps"]
    assert text.startswith("On the 76 complete rows, held out, LinearRegression has RMSE 0.")
    assert "(missing='indicator')" in text


def test_many_rows_with_gaps_are_kept_and_what_leaving_them_out_changes_is_found(tmp_path: Path) -> None:
    data = frame(0.3, k=np.where(np.arange(N) % 10 == 3, None, KIND))
    found = compare(data, "y", systems=["Ridge"])
    assert found.title.endswith("(5 coded), 80 rows, 5 folds; gaps in 2 columns filled and marked")
    assert "missing='drop' would leave out the 29 rows with missing values (36%)" in found.notes[0]
    (text,) = [one.text for one in found.findings if one.title == "Another policy for gaps"]
    assert text.startswith("On the 51 complete rows, held out, Ridge has RMSE")
    assert "(missing='drop')" in text
    assert found.to_dict()["gaps"] == "gaps in 2 columns filled and marked"
    save(found.fit(), tmp_path / "m.adaline")
    assert np.isfinite(load(tmp_path / "m.adaline").predict(data.drop(columns="y"))).all()


def test_columns_that_are_missing_together_need_no_action() -> None:
    data = frame(0.3)
    data["c"] = np.where(data["b"].isna(), np.nan, RNG.normal(size=N))
    (found,) = [one for one in compare(data, "y", systems=["Ridge"]).findings if "c[missing]" in one.text]
    assert found.severity == "note"
    assert (
        found.text
        == "Exact linear combinations of earlier columns: c[missing] = b[missing]. Predictions are not affected."
    )


def test_a_policy_that_is_named_is_kept() -> None:
    dropped = compare(frame(0.3), "y", missing="drop", systems=["Ridge"])
    assert dropped.title.endswith("56 rows, 5 folds; 24 rows with gaps left out")
    filled = compare(frame(0.05), "y", missing="indicator", systems=["Ridge"])
    assert filled.title.endswith("80 rows, 5 folds; gaps in 1 column filled and marked")
    means = compare(frame(0.05), "y", missing="mean", systems=["Ridge"])
    (note,) = means.notes
    assert note == "missing values in 'b' (4) are replaced by the mean of their column"
    assert filled.notes == (f"{note} and marked in an added 0/1 column; in columns of text they become a level",)


@pytest.mark.parametrize(
    ("system", "target"),
    [("Ridge", Y), ("LinearRegression", Y), ("ElasticNet", Y), ("GaussianClassifier", KIND), ("Perceptron", KIND)],
)
def test_what_was_filled_in_over_all_rows_does_not_reach_held_out_rows(system: str, target: Any) -> None:
    """Means are those of the training rows, so that the value filled in before the cut into folds changes nothing."""
    gap = np.arange(N) % 4 == 0
    names, filled = ("a", "b", "b[missing]"), (("b", "b[missing]"),)
    each = (np.column_stack([A, np.where(gap, value, B), gap]) for value in (0.0, 50.0))
    tables = [Table(x, target, names, names, "y", filled=filled) for x in each]
    one, other = (compare_table(table, systems=[system]).results[0].predicted for table in tables)
    assert one.tolist() == other.tolist()


def test_gaps_are_filled_with_the_mean_of_the_training_rows() -> None:
    gap = np.arange(N) % 4 == 0
    x = np.column_stack([A, np.where(gap, 9.0, B), gap])
    rows = ArrayRows(x, Y, None, False, filled=[(1, 2)]).split(5, 0)
    model = rows.fitted(Ridge(penalty=1.0), 2)
    assert rows.x[gap, 1].tolist() == [9.0] * gap.sum()
    rest = rows.fold != 2
    x[gap, 1] = B[rest & ~gap].mean()
    assert model.coef_ == pytest.approx(Ridge(penalty=1.0).fit(x[rest], Y[rest]).coef_, rel=1e-9)
    assert rows.fit_folds(Ridge(penalty=1.0)) is None


@pytest.mark.parametrize("system", [RobustRegression(), GeneralizedLinear(loss="huber", penalty=1.0)])
def test_fits_near_that_of_all_rows_fill_gaps_as_others_do(system: Any) -> None:
    gap = np.arange(N) % 4 == 0
    x = np.column_stack([A, np.where(gap, 9.0, B), gap])
    rows = ArrayRows(x, Y, None, False, filled=[(1, 2)]).split(5, 0)
    fits = rows.fit_folds(system)
    assert fits is not None
    for k, near in enumerate(fits.without):
        assert near.coef_ == pytest.approx(rows.fitted(system, k).coef_, rel=1e-7)
