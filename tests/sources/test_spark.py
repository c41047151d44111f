"""Fits on Spark have the bits that one process reading the same files gives them, also where its workers end."""

from __future__ import annotations

import gc
import os
import pickle
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from adaline import (
    GeneralizedLinear,
    LinearRegression,
    LogisticRegression,
    open_table,
)
from adaline.cli import main
from adaline.errors import InvalidParameter, MissingValues, UnreadableTable
from adaline.sources.engine import merge_forests
from adaline.sources.engines import spark
from adaline.sources.tables import coded_table
from adaline.sources.tables import source as table_module
from adaline.sources.tables.parts import FileParts
from adaline.sources.threads import Forest
from adaline.sums import Moments
from tests.groups.test_fit_groups import check_cluster, grouped_rows
from tests.sources.test_cluster import FEATURES, VIEWS, check_view, coded_files, files, options_of, state

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


def started(master: str, **settings: str) -> Iterator[Any]:
    """Start Spark for small tables, whose code is not worth compiling; stop it at the end."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    few = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "3",
    }
    found = sql.SparkSession.builder.master(master).config(map={**few, **settings}).getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two workers; a task may fail three times."""
    yield from started("local[2,4]")


@pytest.fixture(autouse=True)
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be held by this process, and blocks be small."""
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 64)


@pytest.mark.every
@pytest.mark.parametrize("case", VIEWS)
def test_views_travel(case: str, session: Any, tmp_path: Path) -> None:
    check_view(case, session, tmp_path)


@pytest.mark.parametrize("case", ["hashed", "words", "absorbed"])
def test_ids_words_and_effects_of_data_frames(case: str, session: Any, tmp_path: Path) -> None:
    names, (make, options) = coded_files(tmp_path), options_of(case)
    frame = session.read.parquet(*names).repartitionByRange(5, "a")
    name = grouped(frame, tmp_path / "groups.parquet")
    here, there = open_table(name, **options), open_table(frame, **options)
    models = [make().fit(here), make().fit(there)]
    assert state(models[0]) == state(models[1])
    found = models[1].predict(there).orderBy("row").toPandas()["prediction"]
    np.testing.assert_array_equal(found, models[0].predict(here))


def test_a_data_frame_that_has_read_files_is_these_files(session: Any, tmp_path: Path) -> None:
    names = files(tmp_path)
    frame = session.read.parquet(*names)
    here, there = (open_table(one, target="text", features=FEATURES) for one in (names, frame))
    assert isinstance(there.runner, FileParts)
    models = [LogisticRegression().fit(here), LogisticRegression().fit(there)]
    assert state(models[0]) == state(models[1])
    found = models[1].predict(there).orderBy("row").toPandas()["prediction"]
    np.testing.assert_array_equal(found, models[0].predict(here))


@pytest.mark.parametrize("case", ["rows", "columns", "types", "folders", "text"])
def test_a_data_frame_that_is_more_than_files_is_computed(case: str, session: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [0.5, 1.5, 2.5, 4.0], "b": [1, 2, 1, 2], "y": [1.0, 2.0, 3.5, 4.0]})
    folder = str(tmp_path / "rows")
    session.createDataFrame(frame).write.parquet(folder, partitionBy=["b"] if case == "folders" else None)
    read = session.read.parquet(folder)
    given = {
        "rows": lambda: read.where("a > 1"),
        "columns": lambda: read.withColumn("a", read.a * 2.0),
        "types": lambda: session.read.schema("a double, b double, y double").parquet(written_again(folder, frame)),
        "folders": lambda: read,
        "text": lambda: session.read.csv(written_as_text(tmp_path, frame), header=True, inferSchema=True),
    }[case]()
    assert spark.parquet_files(given) == []
    assert spark.parquet_files(session.read.parquet(written_again(folder, frame)))


def written_again(folder: str, frame: pd.DataFrame) -> str:
    """Write a frame as a Parquet file beside a folder; return its name."""
    name = f"{folder} again.parquet"
    frame.to_parquet(name)
    return name


def written_as_text(folder: Path, frame: pd.DataFrame) -> str:
    """Write a frame as a CSV file; return its name."""
    frame.to_csv(folder / "rows.csv", index=False)
    return str(folder / "rows.csv")


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


def grouped(frame: Any, path: Path) -> str:
    """Write a data frame as a Parquet file with a row group for each partition; return its path."""
    from pyspark.sql.functions import spark_partition_id

    rows = pa.Table.from_pandas(frame.withColumn("partition", spark_partition_id()).toPandas())
    with parquet.ParquetWriter(path, rows.schema) as out:
        for partition in sorted(set(rows["partition"].to_pylist())):
            out.write_table(rows.filter(pa.compute.equal(rows["partition"], partition)))
    return str(path)


def held_of(table: Any) -> Any:
    """Return what holds a table, once its partitions are written and before they are mapped."""
    table.count_rows()
    return next(iter(table.runner._held.values()))


@pytest.mark.parametrize("partitions", [3, 9])
def test_data_frames_have_the_bits_of_files(partitions: int, session: Any, tmp_path: Path) -> None:
    given = pd.read_parquet(files(tmp_path)).to_dict("records")
    frame = session.createDataFrame(given).repartitionByRange(partitions, "a").where("a < -0.2 or a > 0.2 or a = 0")
    name = grouped(frame, tmp_path / "groups.parquet")
    for case in ("weights", "classes"):
        make, options = options_of(case)
        here, there = (open_table(one, **options) for one in (name, frame))
        models = [make().fit(here), make().fit(there)]
        assert state(models[0]) == state(models[1])
        found = models[1].predict(there).coalesce(1).toPandas()
        assert found["row"].tolist() == list(range(len(found)))
        np.testing.assert_array_equal(found["prediction"], models[0].predict(here))


def test_missing_values_of_data_frames(session: Any) -> None:
    frame = session.range(0, 90, 1, 9).selectExpr("rand(1) a", "if(id = 70, null, rand(2)) b", "rand(3) y")
    with pytest.raises(MissingValues, match=r"missing values in column 'b' \(1\)"):
        LinearRegression().fit(open_table(frame, target="y"))
    assert open_table(frame, target="y", missing="drop").count_rows() == 89


@pytest.fixture
def counted(session: Any, tmp_path: Path) -> tuple[Any, Path]:
    """Five partitions of 100 rows, and a folder with a file for each time that one is computed.

    With a file `fewer` in it they have a row less, with a file `others` other values.
    """
    folder = tmp_path / "computed"
    folder.mkdir()

    def computed(batches: Iterator[Any]) -> Iterator[Any]:
        from uuid import uuid4

        for batch in batches:
            (folder / uuid4().hex).touch()
            batch = batch.slice(1) if (folder / "fewer").exists() else batch
            if (folder / "others").exists():
                batch = pa.record_batch([batch[1], batch[0], batch[2]], names=batch.schema.names)
            yield batch

    frame = session.range(0, 500, 1, 5).selectExpr("rand(1) a", "rand(2) b", "rand(3) y")
    return frame.mapInArrow(computed, frame.schema), folder


def test_a_data_frame_is_computed_once(counted: tuple[Any, Path]) -> None:
    frame, computed = counted
    table = open_table(frame, target="y")
    first = len(list(computed.iterdir()))
    models = [GeneralizedLinear(loss="poisson").fit(table) for _ in range(2)]
    assert models[0].certificate_.passes > 2
    assert len(list(computed.iterdir())) == first
    held, here = held_of(table), state(models[0])
    folders = {os.path.dirname(file.path) for file in held.files}
    assert all(map(os.path.isdir, folders))
    held.take([replace(file, host=str(i)) for i, file in enumerate(held.files)])  # as if on several machines
    assert state(GeneralizedLinear(loss="poisson").fit(table)) == here
    assert len(list(computed.iterdir())) == first
    del table, models, held
    gc.collect()
    open_table(frame, target="y")
    assert not any(map(os.path.isdir, folders))


def test_lost_files_are_written_again(counted: tuple[Any, Path]) -> None:
    frame, computed = counted
    tables = [open_table(frame, target="y") for _ in range(4)]
    here = state(LinearRegression().fit(tables[0]))
    for table in tables[1:]:
        for file in held_of(table).files[3:5]:
            os.remove(file.path)
    assert state(LinearRegression().fit(tables[1])) == here
    assert all(os.path.exists(file.path) for file in held_of(tables[1]).files)
    for table, change, told in zip(tables[2:], ("fewer", "others"), ("99 rows", "other values"), strict=True):
        (computed / change).touch()
        with pytest.raises(UnreadableTable, match=f"has {told} when it is computed again, where it had 100 rows"):
            LinearRegression().fit(table)
        (computed / change).unlink()


def test_a_pass_sends_two_states_a_worker(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table(files(tmp_path), target="amount", features=FEATURES, cluster=session)
    frame = session.range(0, 900, 1, 9).selectExpr(*(f"rand({i}) {name}" for i, name in enumerate("abcy")))
    run, sent = spark.SparkEngine.run, []
    frames = [open_table(frame, target="y") for _ in range(2)]
    held = held_of(frames[1])
    held.take([replace(file, host=str(i)) for i, file in enumerate(held.files)])
    monkeypatch.setattr(spark.FrameHeld, "tables", None)  # its rows stay where they are

    def counted(self: Any, *args: Any) -> Any:
        found = run(self, *args)
        sent.append(len(pickle.dumps(found)))
        return found

    monkeypatch.setattr(spark.SparkEngine, "run", counted)
    for one in (table, *frames):
        one.count_rows()
        sent.clear()
        total = one.sum(Moments)
        assert len(sent) == 1
        assert sent[0] <= 2 * 2 * len(pickle.dumps(Forest.of({(0, 0): total})))


def test_the_results_of_the_tasks_of_a_fit_as_spark_counts_them(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table(session.range(0, 900, 1, 9).selectExpr(*(f"rand({i}) x{i}" for i in range(40))), target="x0")
    table.count_rows()
    collect, totals = spark.SparkEngine._collect, spark.FrameHeld.totals
    groups, states = list[str](), list[int]()

    def collecting(self: Any, group: str, *args: Any) -> Any:
        groups.append(group)
        return collect(self, group, *args)

    def summing(*args: Any) -> Any:
        found = totals(*args)
        states.append(len(pickle.dumps(found.total())))
        return found

    monkeypatch.setattr(spark.SparkEngine, "_collect", collecting)
    monkeypatch.setattr(spark.FrameHeld, "totals", summing)
    passes = GeneralizedLinear(loss="poisson").fit(table).certificate_.passes
    assert len(groups) == len(states) == passes > 2
    context, tracker = session.sparkContext._jsc.sc(), session.sparkContext.statusTracker()
    context.listenerBus().waitUntilEmpty()
    jobs = [tracker.getJobInfo(job) for group in groups for job in tracker.getJobIdsForGroup(group)]
    sizes = [context.statusStore().lastStageAttempt(stage).resultSize() for job in jobs for stage in job.stageIds]
    assert 0 < sum(sizes) <= 2 * 2 * sum(states)  # workers x 2


def test_workers_that_are_killed_in_every_job(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, markers, opened = files(tmp_path), tmp_path / "attempts", spark._open_run
    here = LogisticRegression().fit(open_table(names, target="three", features=FEATURES))
    there = open_table(names, target="three", features=FEATURES, cluster=session)
    markers.mkdir()

    def ending(owner: str, run: Any) -> Any:
        from pyspark import TaskContext

        task = TaskContext.get()
        (markers / f"{task.stageId()}-{task.partitionId()}-{task.attemptNumber()}").touch()
        if task.attemptNumber() == 0 and task.partitionId() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
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


def test_the_command_line_takes_a_session(
    session: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows").mkdir()
    files(tmp_path / "rows")
    Path(tmp_path, "rows", "rows.parquet").unlink()
    monkeypatch.chdir(tmp_path)

    def told(*words: str) -> list[str]:
        """Return what is printed without a cluster and with it, but for times and names of files."""
        out = []
        for place in ([], ["--cluster", "local[2]"]):
            assert main([*words, *place, "--json"]) == 0, capsys.readouterr().err
            shown = capsys.readouterr().out
            out.append(re.sub(r'("(seconds|command|passes|saved)": )("[^"]*"|[0-9.e-]+)', r"\1 0", shown))
        return out

    here, there = told("fit", "rows", "-t", "amount", "--features", "a,b,c", "-o", "amount.adaline")
    assert here == there
    here, there = told("compare", "rows", "-t", "number", "--features", "a,b", "--systems", "Ridge")
    assert here == there
    words = ["predict", "amount.adaline", "rows", "--json", "-o"]
    assert main([*words, "here.parquet"]) == 0
    monkeypatch.setattr("adaline.cli.predict.write_predictions", None)  # workers do it
    assert main([*words, "there", "--cluster", "local[2]"]) == 0
    pd.testing.assert_frame_equal(
        pd.read_parquet("here.parquet"), pd.read_parquet("there").sort_index(ignore_index=True)
    )


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


def test_groups_of_a_data_frame_are_fitted_by_its_workers(session: Any) -> None:
    frame = grouped_rows()
    check_cluster(frame, session.createDataFrame(frame))
