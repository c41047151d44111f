"""How often rows are read: `certificate_.passes` times, counted where a table opens its files; online fits read once.

An online fit of a table takes its rows as they come: the same bits as in memory, however they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import (
    LMS,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OnlineLogistic,
    SigmoidPerceptron,
    open_table,
    set_threads,
)
from adaline.block import Block, Shape
from adaline.errors import InvalidData, MissingValues
from adaline.estimator import RegressorMixin
from adaline.solvers.smooth import choose
from adaline.sources.tables import coded_table
from adaline.sources.tables import source as table_module
from adaline.sources.tables.relation import Relation
from adaline.sources.views import unlabelled
from adaline.sums import RowSample
from adaline.systems import SYSTEMS, UNSUPERVISED, OnlineSystem
from tests.opened import as_opened

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "LinearRegression": [{"weights": "precision"}, {"solver": "qr"}],
    "Ridge": [{"criterion": "loo"}],
    "RobustRegression": [{"loss": "quantile"}],
    "GeneralizedLinear": [{"loss": "huber"}, {"solver": "gradient"}, {"solver": "stochastic", "epochs": 3}],
    "LogisticRegression": [
        {"l1": 1.0},
        {"firth": True},
        {"class_weight": "balanced"},
        {"scheme": "one-vs-one"},
        {"solver": "lbfgs"},
    ],
    "Perceptron": [{"class_weight": "balanced"}],
    "OneVsRest": [{"system": LogisticRegression(penalty=1.0)}],
}
"""Arguments to be tested besides the defaults."""


class Reads:
    """How often tables were opened for a read: all rows in order, or a query over them."""

    def __init__(self) -> None:
        self.count = 0


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Count every read of a table; let none be held in memory."""
    found = Reads()
    runs, rows = Relation.runs, Relation.rows

    def counted_runs(self: Relation, *args: Any) -> Any:
        found.count += 1
        return runs(self, *args)

    def counted_rows(self: Relation, sql: str) -> Any:
        found.count += not sql.startswith("DESCRIBE")
        return rows(self, sql)

    monkeypatch.setattr(Relation, "runs", counted_runs)
    monkeypatch.setattr(Relation, "rows", counted_rows)
    monkeypatch.setattr(table_module, "KEPT", 0)
    return found


def written(folder: Path, kind: str, rows: int) -> str:
    """Write a table with numbers, labels as numbers and as texts, and weights; return its path."""
    path = folder / f"rows.{kind}"
    path.write_bytes(content(kind, rows))
    return str(path)


@cache
def content(kind: str, rows: int) -> bytes:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 3)) * [1.0, 5.0, 0.2] + [0.0, 3.0, 1.0]
    z = x @ [0.8, -0.2, 2.0] + rng.logistic(size=rows)
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    frame["amount"] = z
    frame["number"] = (z > z.mean()).astype(int)
    frame["text"] = np.where(z > z.mean(), "yes", "no")
    frame["three"] = np.digitize(z, np.quantile(z, [0.3, 0.7]))
    frame["times"] = rng.integers(1, 4, rows).astype(float)
    return frame.to_csv(index=False).encode() if kind == "csv" else frame.to_parquet(row_group_size=500)


def targets_of(cls: type[Any], settings: dict[str, Any]) -> list[str | None]:
    """Return columns to learn: numbers for a regression, labels of two kinds, and of three classes."""
    if cls.__name__ in UNSUPERVISED:
        return [None]
    if issubclass(cls, RegressorMixin):
        return ["amount"]
    return ["number", "text"] if settings else ["number", "text", "three"]


def cases() -> list[Any]:
    out = []
    for name, cls in (SYSTEMS | UNSUPERVISED).items():
        for settings in ({}, *SETTINGS.get(name, [])):
            for target in targets_of(cls, settings):
                shown = ", ".join(f"{key}={value}" for key, value in settings.items())
                out.append(pytest.param(cls, settings, target, id=f"{name}({shown})-{target}"))
    return out


def made(cls: type[Any], settings: dict[str, Any]) -> Any:
    return cls(**{"epochs": 3, **settings}) if issubclass(cls, OnlineSystem) else cls(**settings)


@pytest.fixture(scope="module")
def open_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Open a table once for all systems; each gets a copy of it as it was opened, which shares its connection alone."""

    @cache
    def source(kind: str, target: str | None, weight: str | None) -> Any:
        path = written(tmp_path_factory.mktemp("rows"), kind, 600)
        return open_table(path, target=target, features=["a", "b", "c"], weight=weight)

    def open_once(kind: str, target: str | None, weight: str | None) -> Any:
        return as_opened(source(kind, target, weight))

    return open_once


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("kind", "weight"), [("csv", "times"), ("parquet", None)])
@pytest.mark.parametrize(("cls", "settings", "target"), cases())
def test_passes_are_the_reads_of_the_file(
    cls: type[Any],
    settings: dict[str, Any],
    target: str | None,
    kind: str,
    weight: str | None,
    open_once: Callable[..., Any],
    reads: Reads,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 256)
    source = open_once(kind, target, weight)
    reads.count = 0
    model = made(cls, settings).fit(source)
    assert source.streamed
    assert model.certificate_.passes == reads.count


@pytest.mark.parametrize("cls", [LinearRegression, LogisticRegression, KMeans])
def test_what_an_earlier_fit_has_read_is_not_counted_again(cls: type[Any], tmp_path: Path, reads: Reads) -> None:
    source = open_table(written(tmp_path, "csv", 600), target="number", features=["a", "b", "c"])
    for _ in range(2):
        reads.count = 0
        assert cls().fit(source).certificate_.passes == reads.count > 0


def test_a_table_is_found_to_be_large_once(tmp_path: Path, reads: Reads, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(600)))
    monkeypatch.setattr(table_module, "KEPT", 400)
    source = open_table(str(path), target="y").keep()
    assert source.streamed
    reads.count = 0
    assert source.keep().streamed
    assert reads.count == 0


@pytest.mark.parametrize(("kind", "target", "weight"), [("csv", "text", None), ("parquet", "number", "times")])
def test_a_streamed_fit_of_two_classes_takes_few_reads(
    kind: str, target: str, weight: str | None, tmp_path: Path, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One opening read for labels, counts, spread and a sample, a few for gradients, one for the last matrix."""
    for small in (1e7, 0.0):  # matrices of all rows that take no time, and that do
        monkeypatch.setattr(choose, "CHEAP_MATRIX_WORK", small)
        source = open_table(written(tmp_path, kind, 30_000), target=target, features=["a", "b", "c"], weight=weight)
        reads.count = 0
        model = LogisticRegression().fit(source)
        assert source.streamed
        assert model.certificate_.passes == reads.count <= 6


def test_the_sample_of_a_stream_does_not_depend_on_how_it_is_cut(tmp_path: Path, reads: Reads) -> None:
    rng = np.random.default_rng(0)
    x, t, weight = rng.normal(size=(500, 2)), rng.normal(size=(500, 1)), rng.integers(0, 3, 500).astype(float)

    def part(first: int, last: int) -> RowSample:
        out = RowSample.zero(Shape(2, 1), most=40)
        out.add(Block(x[first:last], t[first:last], weight[first:last], first_row=first))
        return out

    whole = part(0, 500)
    assert len(whole.row) == 40
    assert (whole.weight > 0).all()
    np.testing.assert_array_equal(whole.x, x[whole.row])
    for cuts in ([0, 1, 37, 500], [0, 250, 251, 499, 500], [0, 500]):
        merged = RowSample.zero(Shape(2, 1), most=40)
        for first, last in reversed([*pairwise(cuts)]):
            merged.merge(part(first, last))
        for mine, theirs in zip(whole.__reduce__()[1], merged.__reduce__()[1], strict=True):
            np.testing.assert_array_equal(mine, theirs)


# -- online fits -------------------------------------------------------------------------------------------------------

ROWS = 600
ONLINE = OnlineLogistic()
BY_TARGET = {
    "number": (ONLINE, 1),
    "text": (OnlineLogistic(l1=0.1), 1),
    "three": (ONLINE, 1),
    "flag": (SigmoidPerceptron(mode="online", epochs=1, shuffle=False), 1),
    "late": (ONLINE, 3),  # up to a label that only the last rows have, for all labels, and the fit
    "amount": (LMS(epochs=1, shuffle=False), 1),
}
"""Systems by their target, and how often they read it."""


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    z = rng.normal(size=ROWS)
    frame = pd.DataFrame({"user": [f"u{v}" for v in rng.zipf(1.3, ROWS) % 97], "x": z, "amount": z + 1})
    frame["city"], frame["times"] = rng.choice(["a", "b", "c"], ROWS), rng.integers(1, 4, ROWS).astype(float)
    frame["number"] = (z + rng.logistic(size=ROWS) > 0).astype(int) * 2 - 1
    frame["text"] = np.where(frame["number"] > 0, "yes", "no")
    frame["flag"] = frame["number"] > 0
    frame["three"] = np.digitize(z, [-0.5, 0.5])
    frame["late"] = frame["text"].where(np.arange(ROWS) < ROWS - 5, "maybe")
    return frame


def opened(frame: pd.DataFrame, folder: Path, kind: str, target: str, **options: Any) -> Any:
    """Write a table, and open it with ids that are hashed; "memory" is no kind of file."""
    path = folder / f"rows.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path, row_group_size=150)
    data = frame if kind == "memory" else path
    return open_table(data, target=target, features=["user", "city", "x"], hashed={"user": 256, "city": 16}, **options)


def bits(model: Any) -> tuple[bytes, bytes, list[Any], list[float]]:
    classes = model.classes_.tolist() if hasattr(model, "classes_") else []
    return model.coef_.tobytes(), np.asarray(model.intercept_).tobytes(), classes, model.history_


@pytest.fixture
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 64)
    yield
    set_threads(None)


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("target", BY_TARGET)
def test_online_fits_read_once_and_give_the_bits_of_rows_in_memory(
    target: str, kind: str, tmp_path: Path, reads: Reads
) -> None:
    frame, (model, passes) = table(), BY_TARGET[target]
    memory = bits(model.fit(opened(frame, tmp_path, "memory", target)))
    for threads in (1, 3):
        set_threads(threads)
        source = opened(frame, tmp_path, kind, target)
        reads.count = 0
        assert bits(model.fit(source)) == memory
        assert source.streamed
        assert model.certificate_.passes == reads.count == passes


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("held", [2**26, 0])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_that_are_sorted_by_their_label_are_learned_too(
    kind: str, held: int, tmp_path: Path, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table().sort_values("number", kind="stable", ignore_index=True)
    memory = bits(ONLINE.fit(opened(frame, tmp_path, "memory", "number")))
    monkeypatch.setattr(coded_table, "LOOKED", held)
    assert bits(ONLINE.fit(opened(frame, tmp_path, kind, "number"))) == memory
    with pytest.raises(InvalidData, match="one class, '-1'"):
        ONLINE.fit(opened(frame[frame["number"] < 0], tmp_path, kind, "number"))


@pytest.mark.usefixtures("short_blocks")
@pytest.mark.parametrize("row", [0, ROWS - 1])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_labels_that_are_none_are_refused_wherever_they_are(kind: str, row: int, tmp_path: Path, reads: Reads) -> None:
    frame = table().astype({"number": float})
    frame.loc[row, "number"] = 0.5
    source = opened(frame, tmp_path, kind, "number")
    for _ in range(2):  # what was guessed is not taken for known the second time
        with pytest.raises(InvalidData, match="'number' has fractions"):
            ONLINE.fit(source)
    frame.loc[row, "number"] = np.nan
    with pytest.raises(MissingValues, match=r"missing values in column 'number' \(1\)"):
        ONLINE.fit(opened(frame, tmp_path, kind, "number"))
    model = ONLINE.fit(opened(frame, tmp_path, kind, "number", missing="drop"))
    assert (model.rows_seen_, model.classes_.tolist()) == (ROWS - 1, [-1, 1])


@pytest.mark.usefixtures("short_blocks")
def test_a_read_that_has_begun_is_of_its_own_columns(tmp_path: Path, reads: Reads, monkeypatch: Any) -> None:
    source = opened(table(), tmp_path, "parquet", "number", weight="times")
    assert source.find_labels(guess=True).tolist() == [-1, 1]
    assert unlabelled(source).count_rows() == len(source.read_column("x")) == ROWS
    encoded = source.encoded(np.array([-1, 1]))
    first = encoded.read_targets()
    assert len(first) == ROWS
    np.testing.assert_array_equal(first, encoded.read_targets())
    assert source.reads[0] <= reads.count
    monkeypatch.setattr(table_module, "KEPT", 2**23)  # small tables are read once when they are opened
    source = opened(table(), tmp_path, "parquet", "number")
    assert not source.streamed
    reads.count = 0
    ONLINE.fit(source)
    assert reads.count == 0
