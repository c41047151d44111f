"""A table in parts: every sum, and every fit, has the bits that one process reading the same files gives it."""

from __future__ import annotations

import gzip
import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError

from adaline import (
    LMS,
    FisherDiscriminant,
    GaussianClassifier,
    GaussianMixture,
    GeneralizedLinear,
    KeslerPerceptron,
    KMeans,
    LinearRegression,
    LogisticRegression,
    OneVsRest,
    Perceptron,
    Pocket,
    Ridge,
    RobustRegression,
    open_table,
)
from adaline.basis import Custom, Polynomial
from adaline.cli import main
from adaline.coding import Coding
from adaline.errors import AdalineWarning, InvalidData, InvalidParameter, MissingValues, UnreadableTable
from adaline.sources import Source
from adaline.sources.engine import Held, HeldHere, Here, pack, run_work
from adaline.sources.engines import spark
from adaline.sources.tables import batches, coded_table
from adaline.sources.tables import source as table_module
from adaline.sums import JointSum, Moments, RowSample, Spread
from adaline.systems import SYSTEMS, AdaptiveFilter, OnlineSystem
from tests.systems.test_reads import cases, made, written

FEATURES = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be held by this process, and blocks be small."""
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 64)


def files(folder: Path, kind: str = "parquet", rows: int = 700) -> list[str]:
    """Write a table as several files, of 1 + 2 + ... row groups of different sizes; return their paths."""
    frame = pd.read_parquet(written(folder, "parquet", rows))
    out = []
    for i, part in enumerate(np.array_split(np.arange(rows), 3)):
        path = folder / f"part{i}.{kind}"
        some = frame.iloc[part]
        some.to_csv(path, index=False) if kind == "csv" else some.to_parquet(path, row_group_size=37 + 20 * i)
        out.append(str(path))
    return out


def state(given: Any, seen: tuple[int, ...] = ()) -> Any:
    """Return what an object consists of, numbers by their bits, so that it can be compared.

    Passes are not: on a cluster rows without gaps are counted as they are placed.
    """
    if isinstance(given, np.ndarray) and given.dtype.kind != "O":
        return given.shape, given.dtype.str, given.tobytes()
    if isinstance(given, float):
        return given.hex()
    if isinstance(given, Coding):
        return repr(given)
    if isinstance(given, dict):
        return {str(key): state(value, seen) for key, value in given.items()}
    if isinstance(given, list | tuple | np.ndarray):
        return [state(value, seen) for value in given]
    if isinstance(given, Source) or callable(given) or id(given) in seen or not hasattr(given, "__dict__"):
        return str(given) if isinstance(given, str | int | None) else type(given).__name__
    own = {name: value for name, value in vars(given).items() if name not in ("seconds", "passes", "_lock")}
    return type(given).__name__, state(own, (*seen, id(given)))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("few", [0, 100])
def test_sums_have_the_same_bits(kind: str, few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "FEW_GROUPS", few)
    monkeypatch.setattr(coded_table, "FEW_GROUPS", few)
    monkeypatch.setattr(batches, "ROW_GROUP_BYTES", 8 * 50 * 5)
    names, rows = files(tmp_path, kind), np.array([3, 300, 699])
    kinds = ((Moments, {}), (Spread, {}), (RowSample, {"most": 20}))
    found = []
    for cluster in (None, Here(1), Here(2), Here(3)):
        table = open_table(names, target="amount", features=FEATURES, weight="times", cluster=cluster)
        parts = table.sum(JointSum, kinds=kinds), table.count_rows(), table.read_targets(), table.rows_at(rows)
        found.append(state(parts))
    assert found[0][1] == "700"
    assert all(one == found[0] for one in found[1:])


def fitted(cls: type[Any], settings: dict[str, Any], names: list[str], cluster: Any, **options: Any) -> Any:
    return made(cls, settings).fit(open_table(names, features=FEATURES, cluster=cluster, **options))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("cls", "settings", "target"), {one.id.rpartition("-")[0]: one for one in cases()}.values())
def test_fits_have_the_same_bits(cls: type[Any], settings: dict[str, Any], target: str | None, tmp_path: Path) -> None:
    names = files(tmp_path, rows=240)
    if issubclass(cls, OnlineSystem | AdaptiveFilter) or settings.get("solver") == "stochastic":
        with pytest.raises(InvalidParameter, match="one after the other"):
            fitted(cls, settings, names, Here(2), target=target)
        return
    here, there = (fitted(cls, settings, names, one, target=target, weight="times") for one in (None, Here(3)))
    if hasattr(here, "_passes"):  # one machine finds labels in the read that goes on; a cluster has a pass for them
        assert there._passes - here._passes in (0, 1)
        there._passes = here._passes
    assert state(here) == state(there)


MIXED = [one for one in SYSTEMS.values() if "mixing" in one().get_params() and one is not LMS]
ONLINE = {cls: {"mode": "online"} if "mode" in cls().get_params() else {} for cls in MIXED}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("cls", "settings", "target"),
    [
        *((cls, {**ONLINE[cls], "rate": 0.01}, target) for cls in MIXED for target in ("text", "three")),
        (LMS, {}, "amount"),
        (LMS, {"rate": 0.01, "schedule": "power", "fit_intercept": False}, "amount"),
    ],
)
def test_scans_are_mixed_over_parts(cls: type[Any], settings: dict[str, Any], target: str, tmp_path: Path) -> None:
    names, mixed = files(tmp_path), {**settings, "mixing": 3}
    here, there = (fitted(cls, mixed, names, one, target=target, weight="times") for one in (None, Here(3)))
    assert state(here) == state(there)
    proof = there.certificate_
    assert "mixed over 16 parts, 3 rounds, not the rule in order" in proof.solver
    assert 0.0 < proof.gap <= proof.objective < np.inf
    if cls is LMS:
        assert proof.passes == 5  # a look at the first row, three rounds, and the gap
        rows = open_table(names, target="amount", features=FEATURES, weight="times")
        least = LinearRegression(fit_intercept=there.fit_intercept).fit(rows).certificate_.objective
        assert proof.objective - proof.gap == pytest.approx(least, rel=1e-9)
    alone = pd.read_parquet(names[0]).iloc[:40]
    one, other = (cls(**settings, **own).fit(alone[FEATURES], alone[target]) for own in ({"epochs": 1}, {"mixing": 1}))
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-12)


def test_mixed_perceptrons_separate_classes_that_can_be(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 9.0, size=(400, 1))
    x = x[np.abs(x % 3.0 - 1.5)[:, 0] < 1.0]  # b lies between a and c: one against the rest cannot do
    z = rng.normal(size=(400, 2))
    z = z[np.abs(z.sum(axis=1)) > 0.5]
    for system, rows, labels in (
        (Perceptron(mixing=50), z, z.sum(axis=1) > 0),
        (KeslerPerceptron(mixing=500, standardize=True), x, np.array(list("abc"))[(x[:, 0] // 3.0).astype(int)]),
    ):
        frame = pd.DataFrame(rows, columns=["a", "b"][: rows.shape[1]])
        frame.assign(y=labels).to_parquet(tmp_path / "t.parquet", row_group_size=40)
        table = open_table(tmp_path / "t.parquet", target="y", cluster=Here(2))
        model = system.fit(table)
        assert model.certificate_.status.name == "SOLVED"
        assert model.certificate_.gap == 0.0 == model.history_[-1]
        assert (model.predict(frame) == labels).all()
        assert 0 < model.mistakes_
    assert KeslerPerceptron(mixing=1).fit(table).certificate_.gap > 0.0
    with pytest.raises(InvalidParameter, match=r"rows one after the other.*Perceptron\(mixing=10\)"):
        Pocket().fit(table)


VIEWS: dict[str, tuple[Any, dict[str, Any]]] = {
    "weights": (LinearRegression, {"target": "amount", "weight": "times"}),
    "classes": (LogisticRegression, {"target": "three"}),
    "gaussian": (GaussianClassifier, {"target": "three"}),
    "k-means": (lambda: KMeans(n_clusters=3), {}),
    "mixture": (lambda: GaussianMixture(n_components=2), {}),
    "chosen penalty": (lambda: Ridge(penalty="auto"), {"target": "amount"}),
    "basis": (lambda: LinearRegression(basis=Polynomial(degree=2)), {"target": "amount"}),
    "penalty": (lambda: LogisticRegression(penalty="auto", folds=3), {"target": "text"}),
    "balanced": (lambda: LogisticRegression(class_weight="balanced", basis=Polynomial(degree=2)), {"target": "text"}),
    "categories": (LinearRegression, {"formula": "amount ~ a + C(three) + scale(b)"}),
    "splines": (LinearRegression, {"formula": "amount ~ poly(b, 2) + ns(a, df=3)"}),
    "gaps": (LinearRegression, {"target": "amount", "features": ["gap", "a"], "missing": "drop"}),
    "filled": (LinearRegression, {"target": "amount", "features": ["gap", "a"], "missing": "indicator"}),
    "hashed": (lambda: Ridge(penalty=1.0), {"target": "amount", "features": ["a", "id"], "hashed": {"id": 2**12}}),
    "hashed texts": (lambda: LogisticRegression(penalty=1.0), {"target": "three", "hashed": {"note": 2**8}}),
    "words": (lambda: Ridge(penalty=1.0), {"target": "amount", "features": ["a", "note"], "words": {"note": "tfidf"}}),
    "absorbed": (LinearRegression, {"target": "amount", "weight": "times", "absorb": ["three", "shop"]}),
    "absorbed counts": (lambda: GeneralizedLinear(loss="poisson"), {"target": "number", "absorb": "shop"}),
}


LONG = dict.fromkeys(("mixture", "penalty", "chosen penalty"), pytest.mark.night)
"""Fits of many passes."""


def coded_files(folder: Path, rows: int = 700) -> list[str]:
    """Write a table with gaps, whole numbers that floats do not tell apart, words and shops, as several files."""
    names, first = files(folder, rows=rows), 0
    for name in names:
        frame = pd.read_parquet(name)
        rows = np.arange(first, first + len(frame))
        frame["gap"] = frame["b"].where(frame["c"] > 1.0)
        frame["id"] = 2**60 + rows % 100
        frame["note"] = [f"note {i % 7} of {i % 11}" for i in rows]
        frame["shop"] = [f"shop {i % 13}" for i in rows]
        frame.to_parquet(name, row_group_size=41)
        first += len(frame)
    return names


def options_of(case: str) -> tuple[Any, dict[str, Any]]:
    """Return what makes the system of a case, and how its table is opened."""
    make, options = VIEWS[case]
    hashed = [*options.get("hashed", ())]
    return make, options if {"formula", "features"} & {*options} else {"features": [*FEATURES, *hashed], **options}


@pytest.fixture(scope="module")
def client(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A cluster of two workers: processes by night, else threads of this process that send each other bytes.

    Processes take as long to start as all tests of this file with threads.
    """
    distributed = pytest.importorskip("distributed")
    kind = {"processes": "night" in request.config.getoption("markexpr"), "protocol": "tcp"}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, **kind) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.fixture(params=["here", "dask"])
def engine(request: pytest.FixtureRequest) -> Any:
    return Here(2) if request.param == "here" else request.getfixturevalue("client")


def gathered(found: Any, engine: Any) -> Any:
    """Return predictions as an array; those of a cluster are its own data frames."""
    kind = type(found).__module__.partition(".")[0]
    assert kind == ("numpy" if isinstance(engine, Here) else type(engine).__module__.partition(".")[0].replace(*SAME))
    if kind == "pyspark":
        return found.orderBy("row").toPandas()["prediction"].to_numpy()
    return found if kind == "numpy" else found.compute().to_numpy()


SAME = ("distributed", "dask")


def check_view(case: str, engine: Any, folder: Path) -> None:
    """Assert that a case of VIEWS has the same bits on an engine, and predicts the same."""
    names, (make, options) = coded_files(folder, rows=240), options_of(case)
    here, there = (open_table(names, **options, cluster=one) for one in (None, engine))
    models = [make().fit(here), make().fit(there)]
    assert state(models[0]) == state(models[1])
    if hasattr(models[0], "score"):
        assert models[0].score(here) == pytest.approx(models[1].score(there), rel=1e-12)
    np.testing.assert_array_equal(gathered(models[1].predict(there), engine), models[0].predict(here))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [pytest.param(case, marks=LONG.get(case, ())) for case in VIEWS])
def test_views_travel(case: str, engine: Any, tmp_path: Path) -> None:
    check_view(case, engine, tmp_path)


APART = """
import pickle, sys
from adaline.sources.engine import run_work
with open(sys.argv[1], "rb") as file, open(sys.argv[2], "wb") as out:
    pickle.dump([run_work(*task) for task in pickle.load(file)], out)
"""


@pytest.mark.filterwarnings("ignore")
def test_tasks_run_in_a_process_that_knows_nothing_of_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, found, sent, back = list[Any](), list[Any](), tmp_path / "sent", tmp_path / "back"

    def recording(*task: Any) -> Any:
        tasks.append(task)
        found.append(pickle.loads(pickle.dumps(out := run_work(*task))))
        return out

    names = coded_files(tmp_path, rows=240)
    monkeypatch.setattr("adaline.sources.engine.run_work", recording)
    for case in ("categories", "splines", "hashed texts", "classes", "basis", "absorbed"):
        make, options = options_of(case)
        make().fit(open_table(names, **options, cluster=Here(2)))
    sent.write_bytes(pickle.dumps(tasks))
    subprocess.run([sys.executable, "-c", APART, str(sent), str(back)], check=True)
    there = pickle.loads(back.read_bytes())
    assert len(there) == len(found) > 20
    same = state(there) == state(found)  # without the difference, which takes minutes to show
    assert same


def test_effects_of_more_rows_than_a_cluster_sends_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, options = coded_files(tmp_path), {"target": "amount", "features": FEATURES, "absorb": "shop"}
    here, table = (open_table(names, **options, cluster=one) for one in (None, Here(2)))
    passes = [LinearRegression().fit(one).certificate_.passes for one in (here, table)]
    assert passes[0] == passes[1]
    monkeypatch.setattr("adaline.sources.tables.effects.SENT", 3000)
    with pytest.raises(InvalidData, match=r"at most 3,000 numbers, not 700 rows of 5: .* without cluster="):
        LinearRegression().fit(table)


def test_outputs_of_a_task_of_spark_have_the_numbers_of_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def outputs(work: bytes, numbers: Any, tables: Any, threads: int) -> Any:
        return np.array([table["x"].to_numpy() for table in tables]).ravel() + 0.5

    monkeypatch.setattr(spark, "run_work", outputs)
    tables = [pa.table({"x": [1.0, 2.0]}), pa.table({"x": [4.0, 3.0]})]
    found = spark._column_table(b"", 1, [(0, 7), (1, 9)], tables)
    assert found.to_pydict() == {"row": [7, 8, 9, 10], "prediction": [1.5, 2.5, 4.5, 3.5]}
    assert spark._schema(b"", 1, ([None, (1, 9)], tables)) == found.schema  # type: ignore[arg-type]
    assert spark._schema(b"", 1, ([None, None], tables)) is None  # type: ignore[arg-type]


def test_files_of_executors_on_one_machine() -> None:
    for hosts, alone in (("aa", True), ("ab", False), ("a-", True), ("--", True)):
        files = [SimpleNamespace(host=host, rows=int(host != "-")) for host in hosts]
        assert spark.FrameHeld.one_machine.fget(SimpleNamespace(files=files)) == alone  # type: ignore[attr-defined]


def test_rows_that_cannot_be_used_are_named_as_without_a_cluster(tmp_path: Path) -> None:
    names = files(tmp_path)
    tables = [open_table(names, target="amount", features=FEATURES, cluster=one) for one in (None, Here(2))]
    model, frame = LinearRegression().fit(tables[0]), pd.read_parquet(names[1])
    row = len(pd.read_parquet(names[0])) + 100
    frame.assign(a=np.nan).to_parquet(names[1])
    with pytest.raises(UnreadableTable, match="has changed since it was opened"):
        LinearRegression().fit(tables[1])
    for cluster in (None, Here(2)):
        with pytest.raises(MissingValues, match=r"missing values in column 'a' \(233\)"):
            LinearRegression().fit(open_table(names, target="amount", features=FEATURES, cluster=cluster))
    frame.loc[frame.index[100], "b"] = np.inf
    frame.to_parquet(names[1], row_group_size=57)
    raw = bytearray(gzip.compress(Path(files(tmp_path, "csv", 12_000)[0]).read_bytes()))
    raw[-6] ^= 1  # of the checksum
    (tmp_path / "t.csv.gz").write_bytes(raw)
    for cluster in (None, Here(2)):
        table = open_table(names, target="amount", features=FEATURES, cluster=cluster)
        for call in (LinearRegression().fit, model.predict):
            with pytest.raises(InvalidData, match=f"row {row}, column 'b'"):
                call(table)
        with pytest.raises(UnreadableTable, match="damaged"):
            LinearRegression().fit(open_table(tmp_path / "t.csv.gz", target="amount", features=["a"], cluster=cluster))


def test_methods_of_rows_by_position_and_by_name(tmp_path: Path) -> None:
    names = files(tmp_path, rows=240)
    for system, method in ((FisherDiscriminant(), "transform"), (OneVsRest(LogisticRegression()), "predict_proba")):
        here, there = (open_table(names, target="three", features=FEATURES, cluster=one) for one in (None, Here(2)))
        call = getattr(system.fit(here), method)
        np.testing.assert_array_equal(call(there), call(here))
        np.testing.assert_array_equal(call(X=there), call(here))


@pytest.mark.parametrize("loss", ["poisson", "gaussian"])
def test_methods_of_rows_with_an_offset(loss: str, tmp_path: Path) -> None:
    names, options = files(tmp_path, rows=240), {"target": "three", "features": FEATURES, "offset": "log(times + 1)"}
    here, there = (open_table(names, **options, cluster=one) for one in (None, Here(2)))
    model = GeneralizedLinear(loss=loss).fit(here)
    for method in ("predict", "decision_function", "score"):
        if hasattr(model, method):
            expected = getattr(model, method)(here)
            np.testing.assert_array_equal(getattr(model, method)(there), expected)
            np.testing.assert_array_equal(getattr(model, method)(there, offset=None), expected)


class KeepsColumns(Here):
    """An engine that returns values of rows as an object that is no array, as Spark returns a data frame."""

    def hold(self, parts: Any, rows: Any = None) -> Held:
        return HeldWithColumns([pickle.loads(pack(part))() for part in parts], self.workers)


class HeldWithColumns(HeldHere):
    def column(self, work: bytes, numbers: Any) -> Any:
        return object()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kept", [0, 2**23])
def test_scores_of_rows_whose_predictions_stay_on_the_engine(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_module, "KEPT", kept)
    names = coded_files(tmp_path, rows=240)
    for system, options in (
        (LinearRegression(), {"target": "amount"}),
        (LogisticRegression(), {"target": "three"}),
        (GeneralizedLinear(loss="poisson"), {"target": "number"}),
        (GeneralizedLinear(loss="poisson"), {"target": "number", "absorb": "shop"}),
        (GeneralizedLinear(loss="poisson"), {"target": "number", "offset": "log(times + 1)"}),
        (GeneralizedLinear(loss="softmax"), {"target": "three"}),
    ):
        here, there = (open_table(names, features=FEATURES, cluster=one, **options) for one in (None, KeepsColumns(2)))
        model = system.fit(here)
        assert type(model.predict(there)) is object
        assert model.score(there) == pytest.approx(model.score(here), rel=1e-12)
    frame = pd.concat([pd.read_parquet(name) for name in names])
    given = np.log(frame["times"] + 1)
    model = GeneralizedLinear(loss="poisson").fit(frame[FEATURES], frame["number"], offset=given)
    expected = model.score(frame[FEATURES], frame["number"], offset=given)
    there = open_table(names, target="number", features=FEATURES, offset="log(times + 1)", cluster=KeepsColumns(2))
    model = GeneralizedLinear(loss="poisson").fit(there)
    assert model.score(there) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("target", ["text", "three"])
def test_passes_are_counted_and_labels_take_none_of_their_own(target: str, tmp_path: Path) -> None:
    names = coded_files(tmp_path)
    tables = [open_table(names, formula="amount ~ a + C(three) + scale(b)", cluster=one) for one in (None, Here(2))]
    assert [table.reads[0] for table in tables] == [2, 2]
    passes = [LinearRegression().fit(table).certificate_.passes for table in tables]
    assert passes[0] == passes[1]
    tables = [open_table(names, target=target, features=[*FEATURES, "shop"], cluster=one) for one in (None, Here(3))]
    models = [LogisticRegression(tol=1e-4).fit(table) for table in tables]
    assert state(models[0]) == state(models[1])
    assert models[0].certificate_.passes == models[1].certificate_.passes


@pytest.mark.filterwarnings("ignore")
def test_columns_of_a_table_are_offsets_by_their_names(engine: Any, tmp_path: Path) -> None:
    names = files(tmp_path)
    frame = pd.concat([pd.read_parquet(name) for name in names], ignore_index=True)
    model = GeneralizedLinear(loss="poisson").fit(frame[FEATURES], frame["three"])
    expected = model.predict(frame[FEATURES], offset=frame["a"], exposure=frame["times"])
    table = open_table(names, cluster=engine)
    np.testing.assert_allclose(gathered(model.predict(table, "a", exposure="times"), engine), expected, rtol=1e-12)
    with pytest.raises(InvalidParameter, match="has no column 'tims'"):
        model.predict(table, exposure="tims")
    here, table = (
        open_table(names, target="three", features=FEATURES, offset="log(times + 1)", cluster=one)
        for one in (None, engine)
    )
    model = GeneralizedLinear(loss="poisson").fit(here)
    expected = model.predict(here)
    np.testing.assert_allclose(gathered(model.predict(table), engine), expected, rtol=1e-12)
    np.testing.assert_allclose(gathered(model.decision_function(X=table), engine), np.log(expected), atol=1e-12)


def test_what_needs_a_number_a_row_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.sources.totals.MOST_ROWS", 500)
    table = open_table(files(tmp_path), target="amount", features=FEATURES, cluster=Here(2))
    with pytest.raises(InvalidData, match=r"'absolute' is a linear program.* limited to 500 rows"):
        RobustRegression(loss="absolute").fit(table)
    assert RobustRegression(loss="huber").fit(table).coef_.shape == (3,)


def test_placements_within_a_new_one_are_dropped(tmp_path: Path) -> None:
    parts = open_table(files(tmp_path), target="amount", features=FEATURES, cluster=Here(2)).runner
    assert parts is not None
    parts.held(["a"], "TRUE", ())
    parts.held(["a", "b", "c", "amount", "times"], "TRUE", ())
    assert list(parts._held) == [("TRUE", frozenset(["a", "b", "c", "amount", "times"]), frozenset())]
    parts.held(["b", "c"], "TRUE", (), ["b"])  # b as it is, which the first one does not hold so
    parts.held(["a", "c"], "TRUE", ())
    assert len(parts._held) == 2


@pytest.mark.filterwarnings("ignore")
def test_values_of_rows_are_columns_of_dask_whatever_their_number(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    monkeypatch.setattr(table_module, "KEPT", 2**23)
    names = files(tmp_path, rows=240)
    frame = pd.concat([pd.read_parquet(name) for name in names], ignore_index=True)
    X, y = frame[FEATURES], frame["text"].to_numpy().astype(str)
    array = da.from_array(X.to_numpy(), chunks=(70, 2))
    linear, logistic = LinearRegression().fit(X, frame["amount"]), LogisticRegression().fit(X, y)
    for data, cluster in ((names, client), (dd.from_pandas(frame, npartitions=3), None)):
        table = open_table(data, target="amount", features=FEATURES, cluster=cluster)
        assert not table.runner.apart  # held here, too
        found = linear.predict(table)
        assert isinstance(found, dd.Series)
        np.testing.assert_allclose(found.compute(), linear.predict(X), rtol=1e-12)
        band = linear.predict(table, interval="confidence")
        assert list(band.columns) == ["prediction", "lower", "upper"]
        np.testing.assert_allclose(band.compute(), np.column_stack(linear.predict(X, interval="confidence")), rtol=1e-9)
        shares = logistic.predict_proba(table)
        assert isinstance(shares, dd.DataFrame)
        np.testing.assert_allclose(shares.compute(), logistic.predict_proba(X), rtol=1e-9)
        assert logistic.predict(table).compute().tolist() == logistic.predict(X).tolist()
    for labels in (y, frame["number"].to_numpy() > 0, frame["three"].to_numpy()):
        table = open_table(array, target=da.from_array(labels, chunks=100))
        model = LogisticRegression().fit(table)
        assert model.classes_.dtype.kind == labels.dtype.kind
        found = model.predict(table)
        assert isinstance(found, da.Array)
        assert (found.shape, found.dtype.kind) == (labels.shape, labels.dtype.kind)
        assert set(found.compute()) <= set(labels)
        assert model.predict_proba(table).shape == (240, len(model.classes_))
        assert model.score(table) > 0.5
    plain = X.to_numpy()
    counts = GeneralizedLinear(loss="poisson").fit(plain, frame["three"].to_numpy())
    given = da.from_array(frame["times"].to_numpy(), chunks=100)
    found = counts.predict(open_table(array), exposure=given)
    np.testing.assert_allclose(found.compute(), counts.predict(plain, exposure=frame["times"].to_numpy()), rtol=1e-12)
    parts = dd.from_pandas(frame.rename(columns=dict(zip(FEATURES, ["x0", "x1", "x2"], strict=True))), npartitions=3)
    found = counts.predict(open_table(parts, features=["x0", "x1", "x2"]), offset=parts["times"])
    np.testing.assert_allclose(found.compute(), counts.predict(plain, offset=frame["times"].to_numpy()), rtol=1e-12)
    with pytest.raises(InvalidParameter, match="offset of rows on a cluster is the name of a column"):
        counts.predict(open_table(array), offset=np.ones(240))
    bad = frame.assign(b=frame["b"].where(frame.index != 200, np.inf))
    with pytest.raises(InvalidData, match=r"row 40 of its partition \(index 200\), column 'b'"):
        linear.predict(open_table(dd.from_pandas(bad, npartitions=3), features=FEATURES)).compute()


def test_a_pass_brings_one_state_to_the_driver(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    from adaline.sources.engines.dask import DaskHeld

    submit, result, totals = distributed.Client.submit, distributed.Future.result, DaskHeld.totals
    tasks, brought, states = list[str](), list[int](), list[int]()

    def submitting(self: Any, *args: Any, **kwargs: Any) -> Any:
        tasks.append(str(kwargs["key"]).rpartition("-")[0])
        return submit(self, *args, **kwargs)

    def counting(self: Any, *args: Any) -> Any:
        out = result(self, *args)
        brought.append(len(pickle.dumps(out)))
        return out

    def summing(*args: Any) -> Any:
        out = totals(*args)
        states.append(len(pickle.dumps(out.total())))
        return out

    table = open_table(files(tmp_path), target="three", features=FEATURES, cluster=client)
    table.count_rows()
    monkeypatch.setattr(distributed.Client, "submit", submitting)
    monkeypatch.setattr(distributed.Future, "result", counting)
    monkeypatch.setattr(DaskHeld, "totals", summing)
    passes = LogisticRegression().fit(table).certificate_.passes
    assert len(states) == passes
    assert sum(brought) <= 2 * 2 * sum(states)  # workers x 2
    assert len(brought) == passes
    assert tasks.count("adaline-pass") == 2 * passes  # a task a worker
    assert len(tasks) == 3 * passes


def test_a_cluster_without_workers_is_waited_for_and_then_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("adaline.sources.engines.dask.WAIT", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        pytest.warns(AdalineWarning, match=r"no workers: waiting 0\.1 seconds"),
        pytest.raises(UnreadableTable, match="start some, as by `dask worker"),
    ):
        open_table("penguins", target="body_mass_g", cluster=client)


@pytest.mark.filterwarnings("ignore")
def test_the_command_line_takes_a_cluster(
    client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows").mkdir()
    names = files(tmp_path / "rows")
    Path(tmp_path, "rows", "rows.parquet").unlink()
    frame = pd.read_parquet(names[1])
    frame.loc[frame.index[3], "amount"] = np.nan
    frame.loc[frame.index[5], "a"] = np.nan
    frame.to_parquet(names[1], row_group_size=50)
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> Any:
        """Return what is printed with the cluster and without it, but for times and names of files."""
        out = []
        for place in ([], ["--cluster", client.scheduler.address]):
            capsys.readouterr()
            with monkeypatch.context() as patched:
                if place:  # then no column is read here
                    patched.setattr("adaline.comparison.table._query", None)
                assert main([*words, *place, "--json"]) == 0, capsys.readouterr().err
            text = re.sub(r'("(seconds|command|passes|saved)": )("[^"]*"|[0-9.e-]+)', r"\1 0", capsys.readouterr().out)
            out.append(text)
        return out

    here, there = told("fit", "rows", "-t", "amount", "--missing", "drop", "-o", "amount.adaline")
    assert here == there
    here, there = told(
        "compare", "rows", "-t", "number", "--features", "a,b", "--missing", "mean", "--systems", "Ridge"
    )
    assert here == there
    words = ["predict", "amount.adaline", "rows", "--json", "-o"]
    assert main([*words, "here.parquet"]) == 0
    assert main([*words, "there", "--cluster", client.scheduler.address]) == 0
    pd.testing.assert_frame_equal(
        pd.read_parquet("here.parquet"), pd.read_parquet("there").sort_index(ignore_index=True)
    )
    assert main(["compare", "rows", "-t", "amount", "--cluster", "region"]) == 2
    assert "or an address such as 'tcp://host:8786' or 'spark://host:7077', not 'region'" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_frames_and_arrays_of_dask(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    frame = pd.read_parquet(files(tmp_path))
    frame.index = frame.index + 1000
    frame["place"] = [f"place {i // 70}" for i in range(len(frame))]  # of which the first rows have few
    monkeypatch.setattr("adaline.sources.engines.dask.FIRST", 20)
    parts = dd.from_pandas(frame, npartitions=4)
    expected = LinearRegression().fit(frame[FEATURES], frame["amount"])
    table = open_table(parts, target="amount", features=FEATURES)
    model = LinearRegression().fit(table)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    pd.testing.assert_series_equal(
        model.predict(table).compute(), pd.Series(expected.predict(frame[FEATURES]), frame.index)
    )
    known = expected.summary(errors="cluster", X=frame[FEATURES], y=frame["amount"], groups=frame["place"])
    found = model.summary(errors="cluster", X=table, groups="place")
    for mine, theirs in zip(found.to_dict()["coefficients"], known.to_dict()["coefficients"], strict=True):
        assert mine["std_error"] == pytest.approx(theirs["std_error"], rel=1e-9)
    X = da.from_array(frame[FEATURES].to_numpy(), chunks=(100, 2))
    table = open_table(X, target=da.from_array(frame["amount"].to_numpy(), chunks=150))
    np.testing.assert_allclose(LinearRegression().fit(table).coef_, expected.coef_, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ["hashed", "words", "absorbed", "offset"])
def test_codings_of_frames_of_dask(case: str, client: Any, tmp_path: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    names = coded_files(tmp_path)
    poisson = {"target": "three", "features": FEATURES, "offset": "log(times + 1)"}
    make, options = options_of(case) if case != "offset" else (lambda: GeneralizedLinear(loss="poisson"), poisson)
    parts = dd.from_pandas(pd.concat([pd.read_parquet(name) for name in names], ignore_index=True), npartitions=4)
    here, there = open_table(names, **options), open_table(parts, **options)
    model, expected = make().fit(there), make().fit(here)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict(there).compute(), expected.predict(here), rtol=1e-9, atol=1e-12)


def test_functions_of_a_script_travel(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main_module: dict[str, Any] = vars(sys.modules["__main__"])
    exec("def phi(x):\n    return x[:, :1] ** 2", script := {"__name__": "__main__"})
    monkeypatch.setitem(main_module, "phi", script["phi"])
    sent = pack(script["phi"])
    with monkeypatch.context() as elsewhere:  # in a process whose __main__ is another module
        elsewhere.delitem(main_module, "phi")
        assert pickle.loads(sent)(np.full((2, 3), 2.0)).tolist() == [[4.0], [4.0]]
    table = open_table(files(tmp_path), target="amount", features=FEATURES, cluster=client)
    assert LinearRegression(basis=Custom(script["phi"])).fit(table).coef_.shape == (1,)


@pytest.mark.filterwarnings("error:Insufficient elements")
def test_what_frames_and_arrays_of_dask_may_hold() -> None:
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({0: rng.normal(size=40), "g": ["u", "v"] * 19 + ["w", "u"], "y": rng.normal(size=40)})
    parts = dd.from_pandas(frame, npartitions=10).astype({"g": "category"})
    model = LinearRegression().fit(open_table(parts, target="y"))
    assert model.feature_names_in_.tolist() == ["0", "g[T.v]", "g[T.w]"]
    centres = KMeans(n_clusters=2, random_state=0).fit(frame[["y"]])
    rows = open_table(parts[["y"]])
    assert type(centres.predict(rows)) is type(centres.predict(X=rows))
    x = da.from_array(frame[["y"]].to_numpy(), chunks=(10, 1))
    for data, target, message in (
        (x, x.repeat(2, axis=1), "one dimension"),
        (x, x[:, 0][x[:, 0] > 0], "compute_chunk_sizes"),
        (x, x[:20, 0], "40 rows and the target 20"),
    ):
        with pytest.raises(InvalidData, match=message):
            open_table(data, target=target)


def test_data_of_dask_are_predicted_as_tables_of_them_are() -> None:
    dd, da = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "g": rng.choice(["u", "v", "w"], 60), "y": rng.normal(size=60)})
    parts, x = dd.from_pandas(frame, npartitions=3), frame[["x", "y"]].to_numpy()
    for options in ({}, {"absorb": "g"}):
        model = LinearRegression().fit(open_table(frame, target="y", **options))
        for rows in (parts, open_table(parts)):
            found = model.predict(rows)
            assert isinstance(found, dd.Series)
            np.testing.assert_allclose(found.compute(), model.predict(frame), rtol=1e-12, atol=1e-12)
    centres = KMeans(n_clusters=2, random_state=0).fit(x)
    found = centres.predict(da.from_array(x, chunks=(20, 2)))
    assert isinstance(found, da.Array)
    assert np.array_equal(found.compute(), centres.predict(x))
    with pytest.raises(NotFittedError):
        LinearRegression().predict(parts)


def test_an_interrupt_cancels_the_work(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adaline.sources.engines.dask import DaskHeld

    def interrupt(*_: Any) -> int:
        raise KeyboardInterrupt

    table = open_table(files(tmp_path), target="amount", features=FEATURES, cluster=client)
    monkeypatch.setattr(DaskHeld, "_rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        LinearRegression().fit(table)
    assert not [key for key in client.futures if str(key).startswith("adaline-pass")]


@pytest.mark.night
@pytest.mark.filterwarnings("ignore")
def test_a_worker_is_killed_in_each_pass_and_one_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    from adaline.sources.engines import dask as engine

    names, killed, run, tasks = files(tmp_path), tmp_path / "killed", engine._run, engine.DaskHeld._tasks
    killed.mkdir()

    def dying(work: bytes, *rest: Any) -> Any:
        """Run a task; the first one of each pass kills its worker."""
        try:
            os.close(os.open(killed / blake2b(work).hexdigest(), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return run(work, *rest)
        os.kill(os.getpid(), signal.SIGKILL)

    def scaling(self: Any, *args: Any) -> Any:
        if len(list(killed.iterdir())) == 2:
            cluster.scale(3)
        return tasks(self, *args)

    here = LogisticRegression(tol=1e-3).fit(open_table(names, target="three", features=FEATURES))
    with (
        distributed.LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        table = open_table(names, target="three", features=FEATURES, cluster=client)
        table.count_rows()
        monkeypatch.setattr(engine, "_run", dying)
        monkeypatch.setattr(engine.DaskHeld, "_tasks", scaling)
        there = LogisticRegression(tol=1e-3).fit(table)
        assert len(cluster.worker_spec) == 3
    assert len(list(killed.iterdir())) == there.certificate_.passes >= 4
    assert state(here) == state(there)


@pytest.mark.night
def test_workers_with_another_version_are_refused(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adaline.__version__", "0.0")
    with pytest.raises(InvalidParameter, match=r"and this process adaline 0\.0: install the same on all"):
        open_table(files(tmp_path), target="amount", cluster=client)
