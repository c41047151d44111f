"""Every system learns the same from a table, held or streamed, as from arrays; levels and columns have their names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adaline import AdaptiveFilter, KMeans, LinearRegression, LogisticRegression, Perceptron, open_table, set_threads
from adaline.errors import InvalidData, InvalidParameter, UnreadableTable
from adaline.sources.tables import batches, coded_table
from adaline.sources.tables import source as table_module
from adaline.sources.tables.parts import BlockReader
from tests.cases import Case, Given, assert_same, cases, reading

NUMBERS = ["age", "income (k)", "ä"]
FEATURES = [*NUMBERS, "city"]

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore::UserWarning")


def drawn(case: Case, n: int = 150, seed: int = 0, classes: int = 3) -> tuple[pd.DataFrame, Given]:
    """Return a table of three numbers, a city, targets and weights; and its arrays."""
    given, rng = case.rows(n=n, seed=seed, classes=classes), np.random.default_rng(seed + 1)
    frame = pd.DataFrame(given.X[:, :3], columns=NUMBERS)
    frame["city"] = rng.choice(["Bern", "Oslo"], n)
    frame["w"] = rng.integers(1, 4, n).astype(float)
    if given.y is not None:
        frame["y"] = given.y
    X = np.column_stack([frame[NUMBERS], frame["city"] == "Oslo"]).astype(float)
    return frame, Given(X, given.y, frame["w"].to_numpy())


def opened(data: Any, case: Case, **more: Any) -> Any:
    """Open a table of rows that suit a case."""
    target = None if case.targets == "none" else "y"
    return open_table(data, **{"target": target, "features": FEATURES, **more})


def stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be held in memory, and cut blocks small."""
    monkeypatch.setattr(batches, "free_memory", lambda: 0.0)
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 64)


def written(frame: pd.DataFrame, folder: Path, kind: str) -> str:
    """Write a table, and return its path."""
    path = folder / f"t.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path, row_group_size=50)
    return str(path)


@pytest.mark.usefixtures("blas_threads")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@cases(law="tables")
def test_a_streamed_file_is_an_array(case: Case, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its weights, however many threads read it."""
    frame, given = drawn(case)
    path, expected = written(frame, tmp_path, kind), case.fit(given)
    models = [case.fit(Given(opened(path, case, weight="w")))]
    stream(monkeypatch)
    for threads in (1, 3):
        set_threads(threads)
        source = opened(path, case, weight="w")
        models.append(case.fit(Given(source)))
        assert source.streamed
    np.testing.assert_array_equal(reading(models[1], given.X), reading(models[2], given.X))
    for found in models:
        assert_same(found, expected, given.X)
        assert found.feature_names_in_.tolist() == [*NUMBERS, "city[T.Oslo]"]
        np.testing.assert_allclose(reading(found, source), reading(found, given.X), rtol=1e-9, atol=1e-9)
        assert found.score(source) == pytest.approx(expected.score(*given.arguments, given.weight), rel=1e-6)
    with pytest.raises(InvalidParameter, match=r"own (targets and )?weights"):
        case.make().fit(source, sample_weight=frame["w"])


@cases(lambda case: "Filter" not in case.name)
def test_levels_and_columns_of_frames_are_remembered(case: Case) -> None:
    frame, given = drawn(case)
    chosen, model = frame[FEATURES], case.fit(Given(opened(frame, case)))
    expected = reading(model, given.X)
    for native in (chosen, pl.from_pandas(chosen), pa.Table.from_pandas(chosen)):
        found = case.fit(Given(native, given.y))
        assert found.coding_.columns == model.coding_.columns
        np.testing.assert_allclose(reading(found, native), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(reading(model, chosen[FEATURES[::-1]]), reading(model, chosen))
    some = np.flatnonzero(frame["city"] == "Oslo")[:5]
    for rows in (frame.iloc[some], open_table(frame.iloc[some])):
        np.testing.assert_allclose(reading(model, rows), expected[some], rtol=1e-12, atol=1e-12)
    with pytest.raises(InvalidData, match="'ä'"):
        model.predict(frame.drop(columns="ä"))
    strange = chosen[:3].assign(city=["Oslo", "Paris", "Oslo"])
    with pytest.raises(InvalidData, match=r"column 'city' has the level 'Paris' at row 1.*Bern, Oslo"):
        model.predict(strange)
    other = case.fit(Given(opened(frame, case, unseen="other")))
    assert np.isfinite(reading(other, strange)).all()


@cases(lambda case: hasattr(case.make(), "partial_fit"), law="going on")
def test_a_model_goes_on_with_another_table(case: Case, tmp_path: Path) -> None:
    frame, given = drawn(case)
    more, others = drawn(case, n=90, seed=2)
    model = case.fit(Given(opened(frame, case))).partial_fit(opened(written(more, tmp_path, "csv"), case))
    expected = case.fit(Given(given.X, given.y)).partial_fit(others.X, others.y)
    assert_same(model, expected, given.X, rtol=1e-9)
    if case.adds and case.keeps("parts"):
        assert_same(model.forget(opened(more, case)), case.fit(Given(given.X, given.y)), given.X, rtol=1e-7)


@cases(law="tables")
def test_an_interrupt_leaves_the_model_as_it_was(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, given = drawn(case)
    model = case.fit(given)
    before, read, seen = reading(model, given.X), BlockReader.block, [0]
    stream(monkeypatch)
    source = opened(written(frame, tmp_path, "csv"), case)

    def interrupted(self: Any, frame: Any, first: int) -> Any:
        seen[0] += 1
        if seen[0] == 3:
            raise KeyboardInterrupt
        return read(self, frame, first)

    monkeypatch.setattr(BlockReader, "block", interrupted)
    for method in (name for name in ("fit", "partial_fit") if hasattr(model, name)):
        seen[0] = 0
        with pytest.raises(KeyboardInterrupt):
            getattr(model, method)(source)
    np.testing.assert_array_equal(reading(model, given.X), before)


@cases(law="tables")
def test_a_file_that_changes_between_passes_is_noticed(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream(monkeypatch)
    path = written(drawn(case)[0], tmp_path, "csv")
    source = opened(path, case)
    case.fit(Given(source))
    with open(path, "a", encoding="utf-8") as file:
        file.write(Path(path).read_text(encoding="utf-8").splitlines()[-1] + "\n")
    with pytest.raises(UnreadableTable, match="has changed since it was opened"):
        case.fit(Given(source))


@cases(lambda case: case.targets != "none")
def test_targets_of_the_wrong_kind_are_refused(case: Case) -> None:
    frame, _ = drawn(case)
    texts = "the target 'city' holds texts, not numbers.*use a classifier"
    wrong = "Unknown label type: the target 'age'" if case.classifies else texts
    with pytest.raises(InvalidData, match=wrong):
        case.make().fit(open_table(frame, target="age" if case.classifies else "city", features=NUMBERS[1:]))
    with pytest.raises(InvalidData, match="target"):
        case.make().fit(open_table(frame[FEATURES]))
    with pytest.raises(InvalidParameter, match="brings its own targets"):
        case.make().fit(opened(frame, case), frame["y"])


SOME: dict[str, Callable[[], Any]] = {
    "regression": LinearRegression,
    "classifier": lambda: LogisticRegression(penalty=1.0),
    "scan": lambda: Perceptron(epochs=5),
    "filter": AdaptiveFilter,
    "clusters": lambda: KMeans(n_clusters=2),
}


def graded() -> pd.DataFrame:
    """Return rows some of whose columns look like numbers or truth values if only some of them are seen."""
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], 120), "grade": rng.choice(["1", "2", "A"], 120)})
    frame["x"] = rng.normal(size=120)
    frame["y"] = frame["x"] + (frame["sex"] == "M") + 0.1 * rng.normal(size=120)
    frame["kind"] = np.where(frame["y"] > 0.5, "T", "F")
    return frame


@pytest.mark.parametrize("make", [SOME["regression"], SOME["classifier"], SOME["scan"]])
def test_a_file_is_read_as_the_model_knows_its_columns(make: Callable[[], Any], tmp_path: Path) -> None:
    frame, model = graded(), make()
    target = "y" if isinstance(model, LinearRegression) else "kind"
    more: dict[str, Any] = {"features": ("sex", "grade", "x"), "categories": ("grade",), "unseen": "other"}
    model.fit(open_table(written(frame, tmp_path, "csv"), target=target, **more))
    few = frame[(frame["sex"] == "F") & (frame["grade"] != "A")]
    for rows in (open_table(written(few, tmp_path, "csv")), pa.Table.from_pandas(few)):
        np.testing.assert_array_equal(reading(model, rows), reading(model, few))
    if hasattr(model, "partial_fit"):  # labels of these rows look like booleans, their grades like numbers
        model.partial_fit(open_table(written(few[few["kind"] == "F"], tmp_path, "csv"), target=target, **more))
        assert isinstance(model, LinearRegression) or model.classes_.tolist() == ["F", "T"]


@pytest.mark.parametrize("make", SOME.values(), ids=SOME)
def test_empty_row_groups(make: Callable[[], Any], tmp_path: Path) -> None:
    table = pa.Table.from_pandas(graded())
    with pq.ParquetWriter(tmp_path / "gaps.parquet", table.schema) as writer:
        for part in (table[:60], table[:0], table[60:]):
            writer.write_table(part)
    model = make()
    target = None if isinstance(model, KMeans) else "kind" if hasattr(model, "decision_function") else "y"
    for data in (tmp_path / "gaps.parquet", graded()):
        model.fit(open_table(data, target=target, features=["x", "sex"]))
        assert len(model.predict(open_table(tmp_path / "gaps.parquet"))) == 120


def test_a_target_that_is_not_asked_for_is_left_alone() -> None:
    frame = graded()
    plain, beside = (
        KMeans(n_clusters=2).fit(open_table(frame, features=["x", "y"], **more)) for more in ({}, {"target": "kind"})
    )
    np.testing.assert_array_equal(plain.labels_, beside.labels_)
