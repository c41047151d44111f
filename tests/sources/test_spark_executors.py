"""Executors of Spark are lost in mid-fit, processes and files: fits have the same bits."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adaline import LogisticRegression, open_table
from adaline.sources.engines import spark
from adaline.sources.tables import coded_table
from adaline.sources.tables import source as table_module
from tests.sources.test_cluster import FEATURES, files, state
from tests.sources.test_spark import grouped, held_of, started

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two executors, processes of their own, of one task each, which find the tests that a task is of."""
    java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": java}
    found = {"spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[2])}
    yield from started("local-cluster[2,1,512]", **settings, **found)


@pytest.fixture(autouse=True)
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be held by this process, and blocks be small."""
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(coded_table, "block_rows", lambda features: 64)


def executor() -> int:
    """Return the process of the executor that this worker is of: its parent's parent."""
    return int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])


def test_an_executor_is_killed_in_a_pass(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, passes, opened = files(tmp_path), tmp_path / "passes", spark._open_run

    def dying(owner: str, run: Any) -> Any:
        """Open a run; the second pass kills the executor of its second task, whose files are lost with it."""
        from pyspark import TaskContext

        task = TaskContext.get()
        (passes / str(task.stageId())).touch()
        if len(list(passes.iterdir())) == 2 and task.partitionId() == 1 and task.attemptNumber() == 0:
            for folder in spark._folders(owner):
                shutil.rmtree(folder, ignore_errors=True)
            os.kill(executor(), signal.SIGKILL)
        return opened(owner, run)

    frame = session.range(0, 400, 1, 4).selectExpr("rand(1) a", "rand(2) b", "rand(3) c", "int(3 * rand(4)) three")
    for data, written in ((names, names), (frame, grouped(frame, tmp_path / "groups.parquet"))):
        here = LogisticRegression(tol=1e-3).fit(open_table(written, target="three", features=FEATURES))
        cluster = session if data is names else None
        there = open_table(data, target="three", features=FEATURES, cluster=cluster)
        held = held_of(there)
        before = [file.path for file in held.files] if cluster is None else []
        shutil.rmtree(passes, ignore_errors=True)
        passes.mkdir()
        with monkeypatch.context() as patched:
            patched.setattr(spark, "_open_run", dying)
            assert state(LogisticRegression(tol=1e-3).fit(there)) == state(here)
        assert len(list(passes.iterdir())) > 2
        assert not before or any(not os.path.exists(path) for path in before)  # others were written
