"""Fits on Spark have the bits that one process reading the same files gives them, also where its workers end."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from adaline import (
    GaussianClassifier,
    GaussianMixture,
    GeneralizedLinear,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Ridge,
    open_table,
)
from adaline.basis import Polynomial
from adaline.errors import InvalidParameter, MissingValues, UnreadableTable
from adaline.sources.engines import spark
from adaline.sources.engines.base import merge_forests
from adaline.sources.tables import source as table_module
from adaline.sources.threads import Forest
from adaline.sums import Moments
from tests.sources.test_cluster import FEATURES, files, state

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two workers; a task may fail three times."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.sql.shuffle.partitions": "3",
    }
    found = sql.SparkSession.builder.master("local[2,4]").config(map=settings).getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()


@pytest.fixture(autouse=True)
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be held by this process, and blocks be small."""
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(table_module, "block_rows", lambda features: 64)


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "linear": (LinearRegression, {"target": "amount"}),
    "weights": (LinearRegression, {"target": "amount", "weight": "times"}),
    "two classes": (LogisticRegression, {"target": "text"}),
    "three classes": (LogisticRegression, {"target": "three"}),
    "poisson": (lambda: GeneralizedLinear(loss="poisson"), {"target": "three"}),
    "gaussian": (GaussianClassifier, {"target": "three"}),
    "k-means": (lambda: KMeans(n_clusters=3), {}),
    "mixture": (lambda: GaussianMixture(n_components=2), {}),
    "auto": (lambda: Ridge(penalty="auto"), {"target": "amount"}),
    "categories": (LinearRegression, {"formula": "amount ~ a + C(three) + scale(b)", "features": None}),
    "basis": (lambda: LogisticRegression(basis=Polynomial(degree=2)), {"target": "text", "weight": "times"}),
}


@pytest.mark.parametrize("case", CASES)
def test_fits_have_the_same_bits(case: str, session: Any, tmp_path: Path) -> None:
    make, options = CASES[case]
    names = files(tmp_path)
    here, there = (
        make().fit(open_table(names, **{"features": FEATURES, **options}, cluster=one)) for one in (None, session)
    )
    assert state(here) == state(there)


def test_files_of_text_and_predictions(session: Any, tmp_path: Path) -> None:
    names = files(tmp_path, "csv")
    here, there = (open_table(names, target="text", features=FEATURES, cluster=one) for one in (None, session))
    models = [LogisticRegression().fit(here), LogisticRegression().fit(there)]
    assert state(models[0]) == state(models[1])
    found = models[1].predict(there).orderBy("row").toPandas()
    assert found["row"].tolist() == list(range(700))
    np.testing.assert_array_equal(found["prediction"], models[0].predict(here))
    chances = models[1].predict_proba(there).orderBy("row").toPandas()
    np.testing.assert_array_equal(chances[["prediction_0", "prediction_1"]], models[0].predict_proba(here))
    assert models[1].score(there) == pytest.approx(models[0].score(here), rel=1e-12)


@pytest.mark.parametrize("partitions", [2, 9])
def test_data_frames(partitions: int, session: Any, tmp_path: Path) -> None:
    frame = pd.read_parquet(files(tmp_path))
    parts = session.createDataFrame(frame.to_dict("records")).repartitionByRange(partitions, "a")
    parts = parts.where("a < -0.2 or a > 0.2 or a = 0").cache()
    frame = parts.toPandas()
    table = open_table(parts, target="amount", features=FEATURES, weight="times")
    expected = LinearRegression().fit(frame[FEATURES], frame["amount"], sample_weight=frame["times"])
    model = LinearRegression().fit(table)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    found = model.predict(table).toPandas()
    assert found["row"].tolist() == list(range(len(frame)))
    np.testing.assert_allclose(found["prediction"], expected.predict(frame[FEATURES]), rtol=1e-12)
    three = LogisticRegression().fit(open_table(parts, target="three", features=FEATURES))
    np.testing.assert_allclose(
        three.coef_, LogisticRegression().fit(frame[FEATURES], frame["three"]).coef_, rtol=1e-6, atol=1e-9
    )


def test_missing_values_of_data_frames(session: Any) -> None:
    frame = session.range(0, 90, 1, 9).selectExpr("rand(1) a", "if(id = 70, null, rand(2)) b", "rand(3) y")
    with pytest.raises(MissingValues, match=r"missing values in column 'b' \(1\)"):
        LinearRegression().fit(open_table(frame, target="y"))
    assert open_table(frame, target="y", missing="drop").count_rows() == 89


def test_partitions_that_change_are_refused(session: Any, tmp_path: Path) -> None:
    marker = tmp_path / "again"

    def fewer(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch.slice(1) if marker.exists() else batch

    frame = session.range(0, 300, 1, 3).selectExpr("cast(id as double) a", "cast(id % 7 as double) b", "rand(1) y")
    table = open_table(frame.mapInArrow(fewer, frame.schema), target="y")
    LinearRegression().fit(table)
    marker.touch()
    for held in table.parts._held.values():
        held.written.unpersist(blocking=True)
    with pytest.raises(UnreadableTable, match="has 99 rows when it is computed again, where it had 100"):
        LinearRegression().fit(table)


def test_a_pass_sends_two_states_a_worker(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table(files(tmp_path), target="amount", features=FEATURES, cluster=session)
    frame = session.range(0, 900, 1, 9).selectExpr(*(f"rand({i}) {name}" for i, name in enumerate("abcy")))
    run, sent = spark.SparkEngine.run, []
    monkeypatch.setattr(spark.FrameHeld, "tables", None)  # its rows stay where they are

    def counted(self: Any, *args: Any) -> Any:
        found = run(self, *args)
        sent.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(spark.SparkEngine, "run", counted)
    for one in (table, open_table(frame, target="y")):
        one.count_rows()
        sent.clear()
        total = one.sum(Moments)
        assert len(sent) == 1
        assert sent[0] <= 2 * 2 * len(pickle.dumps(Forest.of({(0, 0): total})))


def test_workers_that_end_in_every_job(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, markers, opened = files(tmp_path), tmp_path / "attempts", spark._open_run
    here = LogisticRegression().fit(open_table(names, target="three", features=FEATURES))
    there = open_table(names, target="three", features=FEATURES, cluster=session)
    markers.mkdir()

    def ending(owner: str, run: Any) -> Any:
        from pyspark import TaskContext

        task = TaskContext.get()
        (markers / f"{task.stageId()}-{task.partitionId()}-{task.attemptNumber()}").touch()
        if task.attemptNumber() == 0 and task.partitionId() == 1:
            os._exit(1)
        return opened(owner, run)

    monkeypatch.setattr(spark, "_open_run", ending)
    assert state(LogisticRegression().fit(there)) == state(here)
    found = {tuple(map(int, one.name.split("-"))) for one in markers.iterdir()}
    stages = {stage for stage, _, _ in found}
    assert len(stages) >= 4
    assert all({(stage, 1, 0), (stage, 1, 1)} <= found for stage in stages)


def test_an_interrupt_cancels_the_work(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table(files(tmp_path), target="amount", features=FEATURES, cluster=session)
    opened = spark._open_run

    def waiting(owner: str, run: Any) -> Any:
        import time

        time.sleep(600.0)
        return opened(owner, run)

    def interrupt(*_: Any) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(spark, "_open_run", waiting)
    monkeypatch.setattr(spark.SparkEngine, "_share_done", interrupt)
    with pytest.raises(KeyboardInterrupt):
        LinearRegression().fit(table)
    monkeypatch.undo()
    assert session.sparkContext.parallelize(range(4), 2).sum() == 6  # both workers are free


def test_errors_of_workers(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = files(tmp_path)
    table = open_table(names, target="amount", features=FEATURES, cluster=session)
    pd.read_parquet(names[1]).assign(a=np.nan).to_parquet(names[1])
    with pytest.raises(UnreadableTable, match="has changed since it was opened"):
        LinearRegression().fit(table)
    with pytest.raises(MissingValues, match=r"missing values in column 'a' \(233\)"):
        LinearRegression().fit(open_table(names, target="amount", features=FEATURES, cluster=session))

    def failing(owner: str, run: Any) -> Any:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(spark, "_open_run", failing)
    with pytest.raises(UnreadableTable, match=r"^the cluster could not do its part: .*the disk is gone$"):
        LinearRegression().fit(open_table(names[:1], target="amount", features=FEATURES, cluster=session))
    monkeypatch.setattr("adaline.__version__", "0.0")
    with pytest.raises(InvalidParameter, match=r"and this process adaline 0\.0: install the same on all"):
        open_table(names, target="amount", cluster=session)


class Text:
    """What shows the order in which it was merged."""

    def __init__(self, i: int) -> None:
        self.shown = str(i)

    def merge(self, other: Text) -> None:
        self.shown = f"({self.shown} {other.shown})"


def test_states_that_are_sent() -> None:
    for workers in range(1, 20):
        for parts in range(1, 300, 7):
            runs = spark.aligned_runs(parts, workers)
            assert [i for run in runs for i in run] == list(range(parts))
            forests = [Forest.of({(0, i): Text(i) for i in run}) for run in runs]
            forests[-1].close()
            assert sum(len(one.nodes) for one in forests) <= 2 * workers
            whole = Forest.of({(0, i): Text(i) for i in range(parts)})
            assert merge_forests(forests).total().shown == whole.total().shown
            assert max(map(len, runs)) <= 2 * -(-parts // workers)
