"""Every system of the registry learns the same from a table as from arrays, whatever the table is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import is_classifier

from adaline import open_table, set_threads
from adaline.errors import InvalidData, InvalidParameter, UnreadableTable
from adaline.sources.tables import source as table_module
from adaline.sources.tables.parts import BlockReader
from adaline.sources.threads import threads
from adaline.systems import SYSTEMS, LogisticRegression, OnlineSystem
from tests.opened import as_opened

NUMBERS = ("age", "income", "weight of it")

pytestmark = [
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLogisticRegression(LogisticRegression):
    """LogisticRegression(solver="online") as a class of its own."""

    solver: str = "online"


SCANNING = (OnlineSystem, OnlineLogisticRegression)
"""Systems that go over the rows in their order."""
EACH = pytest.mark.parametrize(
    "cls", [*SYSTEMS.values(), OnlineLogisticRegression], ids=[*SYSTEMS, "LogisticRegression-online"]
)


@pytest.fixture
def frame() -> pd.DataFrame:
    return drawn().copy()


@cache
def drawn() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 700
    out = pd.DataFrame(rng.normal(size=(n, 3)) * [1.0, 40.0, 1e-3] + [3.0, 900.0, 0.0], columns=list(NUMBERS))
    city = rng.choice(["Bern", "Oslo", "Rome"], size=n)
    out["city"] = city
    out["y"] = out["age"] + 0.02 * out["income"] + (city == "Oslo") + rng.normal(size=n)
    out["kind"] = np.where(out["y"] > out["y"].median(), "dear", "cheap")
    out["times"] = rng.integers(1, 4, size=n).astype(float)
    return out


def arrays(frame: pd.DataFrame, cls: type[Any]) -> tuple[np.ndarray[Any, Any], Any]:
    X = np.column_stack([frame[list(NUMBERS)], frame["city"] == "Oslo", frame["city"] == "Rome"]).astype(float)
    return X, frame[target_of(cls)].to_numpy()


def target_of(cls: type[Any]) -> str:
    return "kind" if is_classifier(cls()) else "y"


def as_parquet(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_parquet(folder / "t.parquet", row_group_size=150)
    return folder / "t.parquet"


def as_csv(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


def as_gz(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_csv(folder / "t.tsv.gz", index=False, sep="\t")
    return folder / "t.tsv.gz"


def as_glob(frame: pd.DataFrame, folder: Path) -> Any:
    frame[:300].to_parquet(folder / "part-0.parquet")
    frame[300:].to_parquet(folder / "part-1.parquet")
    return str(folder / "part-*.parquet")


def as_json(frame: pd.DataFrame, folder: Path) -> Any:
    frame.to_json(folder / "t.jsonl", orient="records", lines=True, double_precision=15)
    return folder / "t.jsonl"


def as_query(frame: pd.DataFrame, folder: Path) -> Any:
    return f"SELECT * FROM '{as_parquet(frame, folder)}'"


def as_duckdb(frame: pd.DataFrame, folder: Path) -> Any:
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return folder / "t.duckdb"


def as_sqlite(frame: pd.DataFrame, folder: Path) -> Any:
    with sqlite3.connect(folder / "t.sqlite") as connection:
        frame.to_sql("people", connection, index=False)
    return folder / "t.sqlite"


FORMS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "parquet": as_parquet,
    "csv": as_csv,
    "tsv.gz": as_gz,
    "glob": as_glob,
    "query": as_query,
    "duckdb": as_duckdb,
    "sqlite": as_sqlite,
    "json": as_json,
    "pandas": lambda frame, folder: frame,
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "arrow": lambda frame, folder: pa.Table.from_pandas(frame),
}


def as_grades(frame: pd.DataFrame, folder: Path) -> Any:
    """Write other rows: some columns of some of them look like numbers, or like truth values."""
    graded().to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def as_few_grades(frame: pd.DataFrame, folder: Path) -> Any:
    few_graded().to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def as_grades_of_one_kind(frame: pd.DataFrame, folder: Path) -> Any:
    few_graded()[few_graded()["kind"] == "F"].to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


@cache
def graded() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], 120), "grade": rng.choice(["1", "2", "A"], 120)})
    frame["x"] = rng.normal(size=120)
    frame["y"] = frame["x"] + (frame["sex"] == "M") + 0.1 * rng.normal(size=120)
    frame["kind"] = np.where(frame["y"] > 0.5, "T", "F")
    return frame


def few_graded() -> pd.DataFrame:
    frame = graded()
    return frame[(frame["sex"] == "F") & (frame["grade"] != "A")]


def with_gaps(frame: pd.DataFrame, folder: Path) -> Any:
    """Write row groups one of which is empty."""
    arrow = pa.Table.from_pandas(frame)
    with pq.ParquetWriter(folder / "gaps.parquet", arrow.schema) as writer:
        for part in (arrow[:300], arrow[:0], arrow[300:]):
            writer.write_table(part)
    return folder / "gaps.parquet"


PARTS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "first": lambda frame, folder: as_csv(frame[:500], folder),
    "second": lambda frame, folder: frame[500:].copy(),
    "some": lambda frame, folder: frame[frame["city"] != "Rome"][:40].reset_index(drop=True),
    "of Rome": lambda frame, folder: frame[frame["city"] == "Rome"][:5],
    "without income": lambda frame, folder: frame.drop(columns="income"),
    "without targets": lambda frame, folder: frame[[*NUMBERS, "city"]],
    "grades": as_grades,
    "few grades": as_few_grades,
    "grades of one kind": as_grades_of_one_kind,
    "gaps": with_gaps,
}


def made(cls: type[Any]) -> Any:
    """Return a system as it comes; those that go over the rows again and again do so five times."""
    return cls(epochs=5) if issubclass(cls, SCANNING) else cls()


def opened(data: Any, cls: type[Any], **more: Any) -> Any:
    return open_table(data, target=target_of(cls), features=[*NUMBERS, "city"], **more)


@pytest.fixture(scope="module")
def open_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Open tables as `opened` does, one for all systems that learn the same column; each gets a copy
    as it was opened.

    Tables are opened again where they are to be streamed, or read by another number of threads.
    """
    data = cache(lambda form: (FORMS | PARTS)[form](drawn().copy(), tmp_path_factory.mktemp("table")))

    @cache
    def source(form: str, kept: int, threads: int, **more: Any) -> Any:
        return open_table(data(form), **more)

    def open_once(form: str, cls: type[Any] | None = None, **more: Any) -> Any:
        usual = {} if cls is None else {"target": target_of(cls), "features": (*NUMBERS, "city")}
        return as_opened(source(form, table_module.KEPT, threads(), **{**usual, **more}))

    return open_once


@cache
def learned_from_arrays(cls: type[Any]) -> tuple[np.ndarray[Any, Any], float]:
    """Return the numbers and the score of a system that was fitted to arrays."""
    X, y = arrays(drawn(), cls)
    model = made(cls).fit(X, y)
    return numbers_of(model, X), model.score(X, y)


def numbers_of(model: Any, X: Any) -> np.ndarray[Any, Any]:
    """Return coefficients and decisions, or predictions, in one vector."""
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    coef = [np.ravel(model.intercept_), np.ravel(model.coef_)] if hasattr(model, "coef_") else []
    return np.concatenate([*coef, np.ravel(scores)])


def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be held in memory, and cut blocks small."""
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(table_module, "block_rows", lambda features: 128)


def assert_close(a: Any, b: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@EACH
@pytest.mark.parametrize("form", FORMS)
def test_the_same_from_every_kind_of_table(cls: type[Any], form: str, open_once: Callable[..., Any]) -> None:
    expected, score = learned_from_arrays(cls)
    source = open_once(form, cls)
    model = made(cls).fit(source)
    assert model.feature_names_in_.tolist() == [*NUMBERS, "city[T.Oslo]", "city[T.Rome]"]
    assert_close(numbers_of(model, source), expected, 1e-11)
    assert model.score(source) == pytest.approx(score, abs=1e-12)


@EACH
@pytest.mark.parametrize("form", ["parquet", "csv", "glob", "query"])
def test_streamed_tables_equal_those_in_memory(
    cls: type[Any], form: str, open_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if hasattr(cls, "draws_rows"):
        pytest.skip(cls.draws_rows)
    expected, _ = learned_from_arrays(cls)
    streaming(monkeypatch)
    source = open_once(form, cls)
    assert source.streamed
    model = made(cls).fit(source)
    assert_close(numbers_of(model, source), expected, 1e-10)


@pytest.mark.usefixtures("blas_threads")
@EACH
def test_threads_change_no_bit(cls: type[Any], open_once: Callable[..., Any], monkeypatch: Any) -> None:
    streaming(monkeypatch)
    for form in ("csv", "parquet"):
        found = []
        for number in (1, 2, 5):
            set_threads(number)
            source = open_once(form, cls)
            found.append(numbers_of(made(cls).fit(source), source))
        set_threads(None)
        assert all(np.array_equal(found[0], other) for other in found[1:])


@EACH
def test_weights_are_a_column(cls: type[Any], frame: pd.DataFrame, open_once: Callable[..., Any]) -> None:
    X, y = arrays(frame, cls)
    expected = made(cls).fit(X, y, sample_weight=frame["times"].to_numpy())
    source = open_once("csv", cls, weight="times")
    model = made(cls).fit(source)
    assert_close(numbers_of(model, source), numbers_of(expected, X), 1e-11)
    assert model.score(source) == pytest.approx(expected.score(X, y, frame["times"]), abs=1e-10)


@EACH
def test_frames_given_to_fit_are_coded_as_tables_are(
    cls: type[Any], frame: pd.DataFrame, open_once: Callable[..., Any]
) -> None:
    chosen = frame[[*NUMBERS, "city"]]
    y = frame[target_of(cls)]
    by_table = made(cls).fit(open_once("pandas", cls))
    for native in (chosen, pl.from_pandas(chosen), pa.Table.from_pandas(chosen)):
        model = made(cls).fit(native, y.to_numpy())
        assert model.coding_.columns == by_table.coding_.columns
        np.testing.assert_allclose(numbers_of(model, native), numbers_of(by_table, native), rtol=1e-11)
    shuffled = chosen[["city", *reversed(NUMBERS)]]
    np.testing.assert_array_equal(by_table.predict(shuffled), by_table.predict(chosen))


@EACH
def test_a_model_goes_on_with_another_table(cls: type[Any], frame: pd.DataFrame, open_once: Callable[..., Any]) -> None:
    if not hasattr(made(cls), "partial_fit"):
        pytest.skip("does not continue")
    X, y = arrays(frame, cls)
    model = made(cls).fit(open_once("first", cls)).partial_fit(open_once("second", target=target_of(cls)))
    if issubclass(cls, SCANNING):  # it goes on from where it was, which is not a fit of all rows
        expected = made(cls).fit(X[:500], y[:500]).partial_fit(X[500:], y[500:])
    else:
        expected = made(cls).fit(X, y)
    assert_close(numbers_of(model, X), numbers_of(expected, X), 1e-8)
    if hasattr(cls, "forget") and cls.__name__ != "WienerFilter":
        more = (
            made(cls).fit(open_once("pandas", cls)).partial_fit(open_once("some", cls)).forget(open_once("some", cls))
        )
        assert_close(numbers_of(more, X), numbers_of(made(cls).fit(X, y), X), 1e-8)


@EACH
def test_levels_are_remembered(cls: type[Any], frame: pd.DataFrame, open_once: Callable[..., Any]) -> None:
    model = made(cls).fit(open_once("pandas", cls))
    only = frame[frame["city"] == "Rome"][:5]
    X, _ = arrays(frame, cls)
    rows = np.flatnonzero(frame["city"] == "Rome")[:5]
    if cls.__name__ != "WienerFilter":
        assert_close(numbers_of(model, only), numbers_of(model, X[rows]))
        assert_close(numbers_of(model, open_once("of Rome")), numbers_of(model, X[rows]))
    strange = frame[:3].assign(city=["Rome", "Paris", "Rome"])
    with pytest.raises(InvalidData, match=r"column 'city' has the level 'Paris' at row 1.*Bern, Oslo, Rome"):
        model.predict(strange)
    other = made(cls).fit(open_once("pandas", cls, unseen="other"))
    assert np.isfinite(numbers_of(other, strange)).all()


@EACH
def test_missing_columns_are_named(cls: type[Any], frame: pd.DataFrame, open_once: Callable[..., Any]) -> None:
    model = made(cls).fit(open_once("pandas", cls))
    for data in (frame.drop(columns="income"), open_once("without income")):
        with pytest.raises(InvalidData, match="'income'"):
            model.predict(data)


@EACH
def test_an_interrupt_leaves_the_model_as_it_was(
    cls: type[Any], frame: pd.DataFrame, tmp_path: Path, open_once: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(cls).fit(open_once("pandas", cls))
    before = numbers_of(model, frame)
    streaming(monkeypatch)
    source = opened(as_csv(frame, tmp_path), cls)
    read, seen = BlockReader.block, [0]

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
    monkeypatch.undo()
    np.testing.assert_array_equal(numbers_of(model, frame), before)


@EACH
def test_a_file_that_changes_between_passes_is_noticed(
    cls: type[Any], frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streaming(monkeypatch)
    data = as_csv(frame, tmp_path)
    source = opened(data, cls)
    made(cls).fit(source)
    with open(data, "a", encoding="utf-8") as file:
        file.write(Path(data).read_text(encoding="utf-8").splitlines()[-1] + "\n")
    with pytest.raises(UnreadableTable, match="has changed since it was opened"):
        made(cls).fit(source)


@EACH
def test_targets_of_the_wrong_kind_are_refused(
    cls: type[Any], frame: pd.DataFrame, open_once: Callable[..., Any]
) -> None:
    if is_classifier(cls()):
        with pytest.raises(InvalidData, match="Unknown label type: the target 'y'"):
            made(cls).fit(open_once("pandas", target="y", features=NUMBERS))
    else:
        with pytest.raises(InvalidData, match=r"the target 'kind' holds texts, not numbers.*use a classifier"):
            made(cls).fit(open_once("pandas", target="kind", features=NUMBERS))
    with pytest.raises(InvalidData, match="target"):
        made(cls).fit(open_once("without targets"))
    with pytest.raises(InvalidParameter, match="brings its own targets"):
        made(cls).fit(open_once("pandas", cls), frame["y"])


@EACH
def test_a_file_is_read_as_the_model_knows_its_columns(cls: type[Any], open_once: Callable[..., Any]) -> None:
    more = {"target": target_of(cls), "features": ("sex", "grade", "x"), "categories": ("grade",), "unseen": "other"}
    model = cls().fit(open_once("grades", **more))
    if cls.__name__ not in ("WienerFilter", "AdaptiveFilter"):
        expected = numbers_of(model, few_graded())
        np.testing.assert_array_equal(numbers_of(model, open_once("few grades")), expected)
        np.testing.assert_array_equal(numbers_of(model, pa.Table.from_pandas(few_graded())), expected)
    if not hasattr(model, "partial_fit"):
        return
    model.partial_fit(open_once("grades of one kind"))  # its labels look like booleans, its grades like numbers
    if is_classifier(model):
        assert model.classes_.tolist() == ["F", "T"]


@EACH
def test_empty_row_groups_and_formulas(cls: type[Any], open_once: Callable[..., Any]) -> None:
    whole = open_once("gaps", formula=f"{target_of(cls)} ~ age + city")
    if not whole.coding.intercept or not cls().get_params().get("fit_intercept", True):
        pytest.skip("has no constant by default")
    model = cls().fit(whole)
    assert len(model.predict(open_once("gaps"))) == len(drawn())
    assert np.isfinite(model.score(whole))
    if hasattr(model, "partial_fit"):
        assert np.isfinite(numbers_of(model.partial_fit(whole), whole)).all()
