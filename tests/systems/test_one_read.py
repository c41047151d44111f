"""An online fit of a table takes its rows once, as they come: the same bits as in memory, however they are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import LMS, LogisticRegression, Perceptron, SigmoidPerceptron, open_table, set_threads
from adaline.errors import InvalidData, MissingValues
from adaline.sources.tables import source as table_module
from tests.systems.test_reads import Reads, reads  # noqa: F401

ROWS = 600
SYSTEMS = {
    "number": LogisticRegression(solver="online"),
    "text": LogisticRegression(solver="online", l1=0.1),
    "three": LogisticRegression(solver="online"),
    "flag": SigmoidPerceptron(mode="online", epochs=1, shuffle=False),
    "late": Perceptron(epochs=1, shuffle=False),
    "amount": LMS(epochs=1, shuffle=False),
}
"""By their target."""


@pytest.fixture(autouse=True)
def _short_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(table_module, "block_rows", lambda features: 64)
    yield
    set_threads(None)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    z = rng.normal(size=ROWS)
    frame = pd.DataFrame({"user": [f"u{v}" for v in rng.zipf(1.3, ROWS) % 97], "x": z, "amount": z + 1})
    frame["city"] = rng.choice(["a", "b", "c"], ROWS)
    frame["times"] = rng.integers(1, 4, ROWS).astype(float)
    frame["number"] = (z + rng.logistic(size=ROWS) > 0).astype(int) * 2 - 1
    frame["text"] = np.where(frame["number"] > 0, "yes", "no")
    frame["flag"] = frame["number"] > 0
    frame["three"] = np.digitize(z, [-0.5, 0.5])
    frame["late"] = frame["text"].where(np.arange(ROWS) < ROWS - 5, "maybe")  # a class that only the last rows have
    return frame


def written(frame: pd.DataFrame, folder: Path, kind: str) -> str:
    path = folder / f"rows.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=150)
    return str(path)


def opened(data: Any, target: str, **options: Any) -> Any:
    return open_table(data, target=target, features=["user", "city", "x"], hashed={"user": 256, "city": 16}, **options)


def bits(model: Any) -> tuple[bytes, bytes, list[Any], list[float]]:
    classes = model.classes_.tolist() if hasattr(model, "classes_") else []
    return model.coef_.tobytes(), np.asarray(model.intercept_).tobytes(), classes, model.history_


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("target", SYSTEMS)
def test_streams_of_any_kind_and_threads_give_the_bits_of_rows_in_memory(
    target: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, model = table(), SYSTEMS[target]
    memory = bits(model.fit(opened(frame, target)))
    monkeypatch.setattr(table_module, "KEPT", 0)
    path = written(frame, tmp_path, kind)
    for threads in (1, 2, 3):
        set_threads(threads)
        source = opened(path, target)
        assert bits(model.fit(source)) == memory
        assert source.streamed


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("target", ["number", "text", "three", "flag", "amount"])
def test_the_rows_are_read_once(target: str, kind: str, tmp_path: Path, reads: Reads) -> None:  # noqa: F811
    source = opened(written(table(), tmp_path, kind), target)
    reads.count = 0
    model = SYSTEMS[target].fit(source)
    assert source.streamed
    assert model.certificate_.passes == reads.count == 1


def test_a_label_that_comes_late_begins_the_fit_anew(tmp_path: Path, reads: Reads) -> None:  # noqa: F811
    source = opened(written(table(), tmp_path, "parquet"), "late")
    reads.count = 0
    model = LogisticRegression(solver="online").fit(source)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert model.certificate_.passes == reads.count == 3  # up to that label, for all labels, and the fit


@pytest.mark.parametrize("held", [2**26, 0])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_that_are_sorted_by_their_label_are_learned_too(
    kind: str, held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table().sort_values("number", kind="stable", ignore_index=True)
    memory = bits(LogisticRegression(solver="online").fit(opened(frame, "number")))
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(table_module, "LOOKED", held)
    path = written(frame, tmp_path, kind)
    assert bits(LogisticRegression(solver="online").fit(opened(path, "number"))) == memory
    one = written(frame[frame["number"] < 0], tmp_path, kind)
    with pytest.raises(InvalidData, match="one class, '-1'"):
        LogisticRegression(solver="online").fit(opened(one, "number"))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_labels_that_are_none_are_refused_wherever_they_are(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "KEPT", 0)
    for row in (0, ROWS - 1):
        frame = table().astype({"number": float})
        frame.loc[row, "number"] = 0.5
        source = opened(written(frame, tmp_path, kind), "number")
        for _ in range(2):  # what was guessed is not taken for known the second time
            with pytest.raises(InvalidData, match="'number' has fractions"):
                LogisticRegression(solver="online").fit(source)
        frame.loc[row, "number"] = np.nan
        with pytest.raises(MissingValues, match=r"missing values in column 'number' \(1\)"):
            LogisticRegression(solver="online").fit(opened(written(frame, tmp_path, kind), "number"))
        model = LogisticRegression(solver="online").fit(
            opened(written(frame, tmp_path, kind), "number", missing="drop")
        )
        assert (model.rows_seen_, model.classes_.tolist()) == (ROWS - 1, [-1, 1])


def test_a_read_that_has_begun_is_of_its_own_columns(tmp_path: Path, reads: Reads) -> None:  # noqa: F811
    source = opened(written(table(), tmp_path, "parquet"), "number", weight="times")
    assert source.find_labels(guess=True).tolist() == [-1, 1]
    assert source.unlabelled().count_rows() == len(source.read_column("x")) == ROWS
    encoded = source.encoded(np.array([-1, 1]))
    first = encoded.read_targets()
    assert len(first) == ROWS
    np.testing.assert_array_equal(first, encoded.read_targets())
    assert source.total_reads() <= reads.count


def test_small_tables_are_read_once_when_they_are_opened(tmp_path: Path, reads: Reads, monkeypatch: Any) -> None:  # noqa: F811
    monkeypatch.setattr(table_module, "KEPT", 2**23)
    source = opened(written(table(), tmp_path, "parquet"), "number")
    assert not source.streamed
    reads.count = 0
    LogisticRegression(solver="online").fit(source)
    assert reads.count == 0
