"""Kills a learner under load, over and over, and checks what is left.

Learners are forked children, so that nothing is imported again. Their clients say on a pipe what was acknowledged; what
was not is sent again under its key after the next start. After every kill a torn frame may be left at the end of the
log, as of a commit that never returned; at times the last snapshot is damaged too. Servers share these tools.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from adaline import LMS, Ridge, load, save
from adaline.serve import Journal, Learner, learning_model
from adaline.serve.replay import replayed

CLIENTS, COLUMNS, BLOCK = 4, 3, 64


def rows_of_batch(client: int, serial: int) -> list[list[float]]:
    """Return the rows that a client sends as its batch of this number; the first column tells them apart."""
    rng = np.random.default_rng([client, serial])
    x = rng.normal(size=(1 + serial % 7, COLUMNS - 1))
    names = client * 1e6 + serial + np.arange(len(x)) / 16
    t = x @ np.arange(1.0, COLUMNS) + 0.1 * rng.normal(size=len(x))
    return np.column_stack([1e-6 * names, x, t]).tolist()  # type: ignore[no-any-return]


def same(one: Any, two: Any) -> bool:
    """Whether two models have the same weights, to the bit."""
    return bool(one.coef_.tobytes() == two.coef_.tobytes() and one.intercept_ == two.intercept_)


def continued(model: Any, rows: Any) -> Any:
    """Return a model that has learned rows, (n, D + 1), as of a journal: one by one, or as sums of blocks."""
    model = deepcopy(model)
    size = BLOCK if isinstance(model, Ridge) else max(len(rows), 1)
    for block in (rows[first : first + size] for first in range(0, len(rows), size)):
        model.partial_fit(block[:, :-1], block[:, -1])
    return model


def forked(work: Callable[..., object], *given: Any) -> int:
    """Let a child do some work, and return its process; what it fails by is told."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(*given)
            code = 0
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
        finally:
            os._exit(code)
    return child


def tear_log(folder: Path, draw: random.Random) -> None:
    """Leave a torn frame at the end of the log, half of the times."""
    log = folder / "journal" / "journal.sqlite-wal"
    if log.exists() and draw.random() < 0.5:
        with log.open("ab") as file:
            file.write(draw.randbytes(draw.randrange(1, 4000)))


def check_rows(found: list[tuple[float, ...]], serials: list[int]) -> None:
    """Check that every row that was acknowledged is in the journal, and none twice."""
    there = set(found)
    assert len(there) == len(found), "a row is there twice"
    for client, end in enumerate(serials):
        for serial in range(end):
            assert all(tuple(row) in there for row in rows_of_batch(client, serial)), "an acknowledged row is lost"


def learn(folder: Path, serials: list[int], read: int, out: int) -> None:
    """Learn what clients send without end; each line on the pipe is a batch that was acknowledged."""
    os.close(read)
    learner = Learner(load(folder / "first.adaline"), folder / "journal", snapshot_rows=100)

    def send(client: int) -> None:
        for serial in range(serials[client], 10**6):
            learner.submit(rows_of_batch(client, serial), key=f"{client} {serial}").result()
            os.write(out, f"{client} {serial}\n".encode())

    os.write(out, b"ready\n")
    threads = [Thread(target=send, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def kill_once(folder: Path, serials: list[int], seconds: float, least: int) -> None:
    """Let a child learn, and kill it so long after it has acknowledged some batches; count all into `serials`."""
    read, write = os.pipe()
    child = forked(learn, folder, serials, read, write)
    os.close(write)
    said = b""
    while said.count(b"\n") <= least:
        part = os.read(read, 2**16)
        assert part, "the learner did not start"
        said += part
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    while part := os.read(read, 2**16):
        said += part
    os.close(read)
    os.waitpid(child, 0)
    for line in said.split(b"\n")[1:-1]:  # the last one is not whole
        client, serial = map(int, line.split())
        assert serial == serials[client], "acknowledged out of order"
        serials[client] = serial + 1


def check(folder: Path, serials: list[int]) -> None:
    """Check the rows of the journal, and the model, against what was acknowledged."""
    first = load(folder / "first.adaline")
    with Journal(folder / "journal") as journal:
        found = [row for batch in journal.since(0) for row in zip(*batch.rows.to_pydict().values(), strict=True)]
        offline = replayed(first, journal, 0)
    check_rows(found, serials)
    with Learner(first, folder / "journal") as learner:
        assert same(learner.current, offline), "the model is not that of the rows"
    rows = np.array(found).reshape(-1, COLUMNS + 1)
    assert same(continued(load(folder / "first.adaline"), rows), offline), "the model is not that of partial_fit"


def main(folder: Path, kills: int, seed: int) -> int:
    """Kill learners of scans and of sums, and check; return the number of batches acknowledged."""
    learning_model.SCANNED = learning_model.SUMMED = BLOCK
    draw, total = random.Random(seed), 0
    first = np.array([row for serial in range(20) for row in rows_of_batch(CLIENTS, serial)])
    for model, count in ((LMS(), kills - kills // 4), (Ridge(penalty=1.0), max(kills // 4, 1))):
        home = folder / type(model).__name__
        home.mkdir(parents=True)
        save(model.fit(first[:, :-1], first[:, -1]), home / "first.adaline")
        serials = [0] * CLIENTS
        for k in range(count):
            least = draw.choice((0, 1, 60)) or int(k == count - 1)
            kill_once(home, serials, draw.expovariate(20.0), least)
            tear_log(home, draw)
            snapshots = sorted((home / "journal" / "snapshots" / "champion").glob("*.adaline"))
            if len(snapshots) > 1 and draw.random() < 0.25:
                snapshots[-1].write_bytes(snapshots[-1].read_bytes()[:-1])
        child = forked(check, home, serials)  # threads are not left behind for the next forks
        assert os.waitpid(child, 0)[1] == 0, f"{type(model).__name__}, seed {seed}: see above"
        total += sum(serials)
    return total
