"""Systems on coded tables: ids, words and absorbed effects, by one law each over all codings and learners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import is_classifier

from adaline import (
    LinearRegression,
    LogisticRegression,
    OnlineLogistic,
    SigmoidPerceptron,
    load,
    open_table,
    save,
    set_threads,
)
from adaline.errors import InvalidData
from adaline.sources.tables import source as source_module
from adaline.sources.tables.spec import TableSpec, WordOptions
from tests.codings import ABSORBED, CODINGS, LEARNED_FROM_ROWS, NO_LEVEL_IS_NEW, SPARSE, coded_frame, open_coded

ALL = "online, penalised and averaged"
LEARNERS: dict[str, Any] = {
    "exact": LogisticRegression(penalty=1.0),
    "online": OnlineLogistic(),
    ALL: OnlineLogistic(penalty=1.0, l1=0.5, average=True),
    "sigmoid": SigmoidPerceptron(mode="online", epochs=1),
}
"""Learners of sparse rows; a row counts by its weight as often as it is repeated in those of EXACT."""
ABSORBING: dict[str, Any] = {"least squares": LinearRegression()}
EXACT = ("exact", "least squares")
EACH = pytest.mark.parametrize(
    ("coding", "learner"),
    [
        *((coding, ALL) for coding in SPARSE),
        *(("hashed", learner) for learner in LEARNERS if learner != ALL),
        *((coding, learner) for coding in ABSORBED for learner in ABSORBING),
    ],
)
"""Every coding by the learner with all options, every learner by one coding."""


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return coded_frame()


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rows are sparse from 40 columns on."""
    monkeypatch.setattr("adaline.coding.coding.MANY", 40)
    yield
    set_threads(None)


def made(learner: str) -> Any:
    model = {**LEARNERS, **ABSORBING}[learner]
    return type(model)(**model.get_params())


def opened(data: Any, coding: str, learner: str, **more: Any) -> Any:
    return open_coded(data, CODINGS[coding], "kind" if is_classifier(made(learner)) else "y", **more)


def scores(model: Any, rows: Any) -> Any:
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


def test_every_option_that_codes_columns_is_registered() -> None:
    used = {name for options in CODINGS.values() for name in options}
    absorbing = any("|" in options.get("formula", "") for options in CODINGS.values())
    assert {"categories", "hashed", "words", "absorb", "formula"} <= used
    assert absorbing
    named = {one.name for one in fields(WordOptions)}
    words = [given for options in CODINGS.values() if isinstance(given := options.get("words"), dict)]
    assert named == {name for given in words for options in given.values() for name in options}
    assert used <= {one.name for one in fields(TableSpec)}


@EACH
def test_streams_are_memory_and_threads_change_no_bit(
    coding: str, learner: str, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=200)
    held = made(learner).fit(opened(frame, coding, learner))
    monkeypatch.setattr(source_module, "KEPT", 10)
    found = []
    for threads in (1, 3):
        set_threads(threads)
        found.append(made(learner).fit(opened(tmp_path / "t.parquet", coding, learner)))
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    np.testing.assert_array_equal(found[0].intercept_, found[1].intercept_)
    tolerance = 1e-6 if learner in EXACT else 0.0  # a scan takes the same steps to the bit
    np.testing.assert_allclose(found[0].coef_, held.coef_, rtol=0, atol=tolerance * np.abs(held.coef_).max())
    np.testing.assert_array_equal(scores(held, open_table(tmp_path / "t.parquet")), scores(held, frame))


@EACH
def test_model_files_predict_and_go_on(coding: str, learner: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    model = made(learner).fit(opened(frame[:400], coding, learner, unseen="other"))
    save(model, tmp_path / "m.adaline")
    again = load(tmp_path / "m.adaline")
    np.testing.assert_array_equal(scores(again, frame), scores(model, frame))
    assert repr(again.coding_) == repr(model.coding_)
    if coding in ABSORBED or not hasattr(model, "partial_fit"):
        return
    rest = open_coded(frame[400:], CODINGS[coding], "kind" if is_classifier(model) else "y", unseen="other")
    np.testing.assert_array_equal(scores(again.partial_fit(rest), frame), scores(model.partial_fit(rest), frame))


@EACH
def test_weights_are_a_column(coding: str, learner: str, frame: pd.DataFrame) -> None:
    source = opened(frame, coding, learner, weight="times")
    weighted = made(learner).fit(source)
    if learner not in EXACT:  # where a weight is the size of a step
        x = scipy.sparse.vstack([block.x for block in source.encoded(source.find_labels()).blocks()]).tocsr()
        array = made(learner).fit(x, frame["kind"], sample_weight=frame["times"])
        np.testing.assert_array_equal(weighted.coef_, array.coef_)
    elif coding not in LEARNED_FROM_ROWS:
        repeated = frame.loc[frame.index.repeat(frame["times"].astype(int))]
        expected = scores(made(learner).fit(opened(repeated, coding, learner)), frame)
        np.testing.assert_allclose(scores(weighted, frame), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@EACH
def test_levels_that_are_new(coding: str, learner: str, frame: pd.DataFrame) -> None:
    new = frame[:3].assign(user=["u1", "nobody", "u2"], number=[1, 10**6, 2], title=["unheard of", "red", "red red"])
    model = made(learner).fit(opened(frame, coding, learner))
    if coding in NO_LEVEL_IS_NEW:
        assert np.isfinite(scores(model, new)).all()
        return
    with pytest.raises(InvalidData, match=r"has the level '?(nobody|1000000)'? at row 1"):
        model.predict(new)
    other = made(learner).fit(opened(frame, coding, learner, unseen="other"))
    assert np.isfinite(scores(other, new)).all()
    np.testing.assert_array_equal(scores(other, new[::2]), scores(other, new)[::2])
