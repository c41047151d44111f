"""AdditiveModel in parts: rows that are added, merged and forgotten, as if all had come in one go."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import adaline
from adaline import AdditiveModel, open_table
from adaline.errors import AdalineError, InvalidData, InvalidParameter, UnsafeForget
from adaline.results import Status

TERMS = ["s(x0, bs='ps', k=7)", "(1 + x1 | x2)", "(1 | x3)"]


@pytest.fixture(params=["columns", "groups"], autouse=True)
def apart(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Effects of groups have columns, or are eliminated and crossed."""
    if request.param == "groups":
        monkeypatch.setattr("adaline.fits.additive.design.APART", 10)
        monkeypatch.setattr("adaline.fits.additive.design.CROSSED", 2)


def rows(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of which the first 60 have every group, and the ends of x0."""
    rng = np.random.default_rng(5)
    g, h = np.arange(n) % 20, np.arange(n) % 6
    g[60:], h[60:] = rng.integers(0, 20, n - 60), rng.integers(0, 6, n - 60)
    x, z, weight = rng.uniform(0.1, 5.9, n), rng.normal(size=n), rng.integers(1, 4, n).astype(float)
    x[:2] = 0.0, 6.0
    y = np.sin(x) + rng.normal(size=20)[g] + (0.5 + 0.7 * rng.normal(size=20)[g]) * z + rng.normal(size=6)[h]
    return np.column_stack([x, z, g, h]), y + 0.5 * rng.normal(size=n), weight


def make(**settings: Any) -> AdditiveModel:
    return AdditiveModel(terms=TERMS, **settings)


def assert_equal(one: AdditiveModel, other: AdditiveModel, X: np.ndarray, rtol: float = 1e-8) -> None:
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=rtol, atol=rtol)
    bands = [np.subtract(*model.predict(X, interval="confidence")[1:]) for model in (one, other)]
    np.testing.assert_allclose(*bands, rtol=100 * rtol)
    same = one.basis_.same(other.basis_)  # the curve's mean is zero over the first rows, on which a constant depends
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_, rel=rtol if same else 1e-4)
    assert one.edf_ == pytest.approx(other.edf_, rel=10 * rtol)
    sizes = [[row["sd"] or row["correlation"] for row in model.variance_components_] for model in (one, other)]
    np.testing.assert_allclose(*sizes, rtol=100 * rtol)
    assert one.rows_seen_ == other.rows_seen_


@pytest.mark.every
@pytest.mark.parametrize("weights", ["frequency", "precision"])
def test_parts_are_the_whole_and_forgotten_rows_were_never_there(weights: Any) -> None:
    X, y, w = rows()
    whole, model = make(weights=weights).fit(X, y, w), make(weights=weights)
    for part in (slice(0, 60), slice(60, 61), slice(61, 300), slice(300, 400)):
        assert model.partial_fit(X[part], y[part], w[part]) is model
    assert_equal(model, whole, X)
    assert model.certificate_.passes == 1  # of the last part; the first rows are read twice, for knots too
    few = make(weights=weights).fit(X[:250], y[:250], w[:250])
    for cut in (slice(300, 400), slice(250, 300)):
        model.forget(X[cut], y[cut], w[cut])
    assert_equal(model, few, X)


def test_merging_in_any_order_is_one_fit() -> None:
    X, y, w = rows()
    first = make().fit(X[:60], y[:60], w[:60])

    def part(cut: slice) -> AdditiveModel:
        return copy.deepcopy(first).partial_fit(X[cut], y[cut], w[cut]).forget(X[:60], y[:60], w[:60])

    a, b = slice(60, 200), slice(200, 400)
    whole = make().fit(X, y, w)
    assert_equal(copy.deepcopy(first).merge(part(a)).merge(part(b)), whole, X)
    assert_equal(part(b).merge(copy.deepcopy(first).merge(part(a))), whole, X)


def test_a_stored_model_continues_with_a_table_and_weights_are_repetitions(tmp_path: Path) -> None:
    X, y, w = rows()
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"]).assign(y=y, w=w)
    frame.iloc[60:].to_parquet(tmp_path / "rows.parquet")
    frame[["x2", "x3"]] = np.char.add("g", np.char.zfill(X[:, 2:].astype(int).astype(str), 2))
    adaline.save(make().fit(X[:60], y[:60], w[:60]), tmp_path / "model")
    loaded = adaline.load(tmp_path / "model")
    loaded.partial_fit(open_table(tmp_path / "rows.parquet", target="y", weight="w"))
    repeated = make().fit(np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int)))
    np.testing.assert_allclose(loaded.predict(X), repeated.predict(X), rtol=1e-8)
    levels = open_table(frame.head(60), target="y", weight="w")
    coded = make().fit(levels).partial_fit(open_table(frame.iloc[60:], target="y", weight="w"))
    np.testing.assert_allclose(coded.predict(frame), loaded.predict(X), rtol=1e-8)


def test_units_change_no_bit_and_a_criterion_may_be_changed() -> None:
    X, y, _ = rows()
    unit = np.array([2.0**9, 2.0**-7, 1.0, 1.0])
    one, other = make().fit(X[:60], y[:60]), make().fit(X[:60] * unit, 4 * y[:60])
    one.partial_fit(X[60:], y[60:])
    other.partial_fit(X[60:] * unit, 4 * y[60:])
    np.testing.assert_array_equal(other.predict(X * unit), 4 * one.predict(X))
    one.set_params(criterion="ml").forget(X[390:], y[390:])
    assert_equal(one, make().fit(X[:60], y[:60]).set_params(criterion="ml").partial_fit(X[60:390], y[60:390]), X)


def test_groups_that_are_texts_and_did_not_occur_are_refused() -> None:
    table = pd.DataFrame({"g": np.repeat(list("abcd"), 5), "y": np.arange(20.0) ** 2})
    opened = [adaline.open_table(part, formula="y ~ (1 | g)") for part in (table[:15], table[15:])]
    with pytest.raises(InvalidData, match=r"5 rows of \(1 \| g\) are of groups that the first rows do not have"):
        AdditiveModel().fit(opened[0]).partial_fit(opened[1])


def test_what_does_not_add_up_is_refused_and_leaves_the_model() -> None:
    X, y, _ = rows()
    model = make().fit(X[:200], y[:200])
    before = model.predict(X)
    strange = X[200:].copy()
    strange[:3, 2] = 77
    with pytest.raises(InvalidData, match=r"3 rows of \(1 \+ x1 \| x2\) are of groups that the first rows do not have"):
        model.partial_fit(strange, y[200:])
    with pytest.raises(InvalidData, match="models whose knots or levels differ"):
        model.merge(make().fit(X[:150], y[:150]))
    with pytest.raises(UnsafeForget, match="model holds 200 rows"):
        model.forget(X, y)
    with pytest.raises(UnsafeForget):
        model.forget(X[:200], y[:200])
    strange[:] = X[0]  # of a group that has fewer rows
    with pytest.raises(UnsafeForget, match="no such rows of some groups"):
        model.forget(strange[:50], y[:50])
    for settings in ({"select": True}, {"terms": TERMS[:1]}, {"fit_intercept": False}, {"weights": "precision"}):
        changed = copy.deepcopy(model).set_params(**settings)
        with pytest.raises(InvalidParameter, match="was changed since the model was fitted"):
            changed.partial_fit(X[200:], y[200:])
    with pytest.raises(AdalineError):
        model.partial_fit(X[200:], np.where(np.arange(200) == 3, np.nan, y[200:]))
    np.testing.assert_array_equal(model.predict(X), before)
    assert not hasattr(AdditiveModel(loss="poisson"), "partial_fit")


def test_an_exact_fit_is_solved() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = AdditiveModel().fit(X, np.full(40, 3.0))
    assert model.certificate_.status is Status.SOLVED
