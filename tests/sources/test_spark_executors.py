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
from adaline.sources.tables import source as table_module
from tests.sources.test_cluster import FEATURES, files, state
from tests.sources.test_spark import grouped, held_of, started

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two executors, processes of their own, of one task each."""
    few = {"spark.executor.memory": "512m", "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    yield from started("local-cluster[2,1,512]", **few)


@pytest.fixture(autouse=True)
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no table be held by this process, and blocks be small."""
    monkeypatch.setattr(table_module, "KEPT", 0)
    monkeypatch.setattr(table_module, "block_rows", lambda features: 64)


def executor() -> int:
    """Return the process of the executor that this worker is of: its parent's parent."""
    return int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])


def test_an_executor_is_killed_in_passes(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names, killed, opened = files(tmp_path), tmp_path / "killed", spark._open_run
    killed.mkdir()

    def dying(owner: str, run: Any) -> Any:
        """Open a run; the second task of every third job kills its executor when it is first tried."""
        from pyspark import TaskContext

        task = TaskContext.get()
        if task.stageId() % 3 == 0 and task.partitionId() == 1 and task.attemptNumber() == 0:
            (killed / str(task.stageId())).touch()
            os.kill(executor(), signal.SIGKILL)
        return opened(owner, run)

    for data, cluster in ((names, session), (session.read.parquet(*names).repartitionByRange(4, "a"), None)):
        name = names if cluster else grouped(data, tmp_path / "groups.parquet")
        here = LogisticRegression(tol=1e-3).fit(open_table(name, target="three", features=FEATURES))
        there = open_table(data, target="three", features=FEATURES, cluster=cluster)
        there.count_rows()
        with monkeypatch.context() as patched:
            patched.setattr(spark, "_open_run", dying)
            assert state(LogisticRegression(tol=1e-3).fit(there)) == state(here)
        assert list(killed.iterdir())
        shutil.rmtree(killed)
        killed.mkdir()
