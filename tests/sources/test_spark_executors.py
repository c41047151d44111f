"""Data frames on executors that are processes: one that is lost takes its files with it, and the fit is the same."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adaline import LogisticRegression, open_table
from adaline.sources.tables import source as table_module
from tests.sources.test_cluster import state
from tests.sources.test_spark import held_of, started

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Two executors of one core each."""
    path = os.pathsep.join(filter(None, sys.path))
    settings = {"spark.executor.memory": "512m", "spark.executorEnv.PYTHONPATH": path}
    yield from started("local-cluster[2,1,512]", **settings)


def executor(_: int) -> tuple[int, str]:
    """Return the process of the executor of a task, and its local folders."""
    parent = Path(f"/proc/{os.getppid()}/stat").read_text("ascii")
    return int(parent.rpartition(")")[2].split()[1]), os.environ["SPARK_LOCAL_DIRS"]


def test_an_executor_that_is_lost(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_module, "KEPT", 0)
    frame = session.range(0, 900, 1, 9).selectExpr("rand(1) a", "rand(2) b", "if(rand(3) < 0.3, 'yes', 'no') y")
    for machines in (1, 2):
        here = state(LogisticRegression().fit(open_table(frame, target="y")))
        table = open_table(frame, target="y")
        held = held_of(table)
        found = set(session.sparkContext.parallelize(range(8), 8).map(executor).collect())
        process, folders = max(found, key=lambda one: sum(file.path.startswith(one[1]) for file in held.files))
        lost = [file for file in held.files if file.path.startswith(folders)]
        assert lost
        if machines == 2:
            held.take([replace(file, host=str(file in lost)) for file in held.files])
        os.kill(process, signal.SIGKILL)
        shutil.rmtree(folders)
        assert state(LogisticRegression().fit(table)) == here
        if machines == 1:
            kept = [file for file in held.files if file not in lost]
            assert len(kept) == 9
            assert all(os.path.exists(file.path) for file in held.files)
