"""Nothing acknowledged is lost: processes that are killed, torn logs, damaged rows, full disks."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from adaline.errors import JournalError, JournalFull
from adaline.serve import Journal, Learner
from tests.serve.examples import FIRST, begun, send

MANY = os.environ.get("ADALINE_KILLS")
SEED = os.environ.get("ADALINE_SEED", "0")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, which this system cannot")
@pytest.mark.parametrize("kills", [int(MANY)] if MANY else [2, pytest.param(8, marks=pytest.mark.night)])
def test_killed_learners_and_servers_lose_nothing_that_they_acknowledged(tmp_path: Path, kills: int) -> None:
    command = [sys.executable, "-m", "tests.serve.processes", str(tmp_path), str(kills), SEED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240 + 10 * kills, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    assert [int(count) > 0 for count in re.findall(r"(\d+) batches", done.stdout)] == [True, True]
    for told in ("workers predicted by what another process learned", "terminated has learned what it read"):
        assert told in done.stdout


def test_a_log_that_is_cut_anywhere_holds_the_commits_before(tmp_path: Path) -> None:
    model, x, y = begun(count=60)
    with Learner(model, tmp_path / "whole") as learner:
        for k in range(0, 60, 5):
            send(learner, x[k : k + 5], y[k : k + 5])
        shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    log = tmp_path / "copy" / "journal.sqlite-wal"
    size, counts = log.stat().st_size, []
    for cut in np.linspace(size, 0, 8).astype(int):
        os.truncate(log, cut)
        folder = shutil.copytree(tmp_path / "copy", tmp_path / f"cut {cut}")
        lost = 0
        if cut < size:  # what was acknowledged is missing
            told = r"damaged, and (\d+) rows that had been acknowledged cannot be read"
            with pytest.raises(JournalError, match=told) as caught:
                Learner(model, folder)
            lost = int(re.findall(told, str(caught.value))[0])
            (folder / "journal.count").unlink()
        with Learner(model, folder) as learner:
            rows, found = learner.rows_seen - FIRST, learner.current
        assert rows + lost == 60
        counts.append(rows)
        told = begun(count=60)[0].partial_fit(x[:rows], y[:rows]) if rows else model
        assert np.array_equal(found.coef_, told.coef_)
    assert counts[0] == 60
    assert counts == sorted(counts, reverse=True)
    assert not any(rows % 5 for rows in counts)


def test_damaged_rows_are_named_and_not_learned(tmp_path: Path) -> None:
    model, x, y = begun(count=60)
    with Learner(model, tmp_path) as learner:
        for k in range(0, 60, 20):
            send(learner, x[k : k + 20], y[k : k + 20])
    base = sqlite3.connect(tmp_path / "journal.sqlite")
    base.execute("UPDATE batches SET payload = zeroblob(length(payload)) WHERE id = 2")
    base.commit()
    base.close()
    with pytest.raises(JournalError, match=r"batch 2 of the journal \(rows 20 to 39\) is damaged"):
        Learner(model, tmp_path)


@pytest.fixture(params=["pages", "tmpfs"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with little room: a file system of its own where one can be mounted, or a limit of the database."""
    if request.param == "pages":
        opened = Journal._open

        def limited(journal: Journal, file: Path, writes: bool) -> None:
            opened(journal, file, writes)
            journal._base.execute("PRAGMA max_page_count = 30")

        monkeypatch.setattr(Journal, "_open", limited)
        yield tmp_path
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(tmp_path)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_full_disk_loses_nothing_that_was_acknowledged(small_disk: Path) -> None:
    model, x, y = begun(count=5000)
    taken = 0
    with Learner(model, small_disk / "journal") as learner:
        with pytest.raises(JournalFull, match="no room"):  # noqa: PT012 - how many rows there is room for is not known
            for first in range(0, 5000, 50):
                send(learner, x[first : first + 50], y[first : first + 50])
                taken = first + 50
        assert learner.full
        assert learner.current.predict(x[:1]).shape == (1,)
        assert learner.rows_seen == FIRST + taken
    assert taken > 0
    with Journal(small_disk / "journal") as journal:
        assert journal.end == taken
        rows = np.array([list(row.values()) for batch in journal.since(0) for row in batch.rows.to_pylist()])
    assert np.array_equal(rows, np.column_stack([x, y])[:taken])
    assert np.array_equal(learner.latest().coef_, model.partial_fit(x[:taken], y[:taken]).coef_)
