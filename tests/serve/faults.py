"""Kills a learner under load, over and over, and checks what is left.

Learners are forked children, so that nothing is imported again. Their clients say on a pipe what was acknowledged; what
was not is sent again under its key after the next start. After every kill a torn frame may be left at the end of the
log, as of a commit that never returned; at times the last snapshot is damaged too.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from adaline import LMS, Ridge, load, save
from adaline.serve import Journal, Learner
from adaline.serve import learner as module
from adaline.serve.learner import replayed

CLIENTS, COLUMNS, BLOCK = 4, 3, 256


def rows_of_batch(client: int, serial: int) -> list[list[float]]:
    """Return the rows that a client sends as its batch of this number; the first column tells them apart."""
    rng = np.random.default_rng([client, serial])
    x = rng.normal(size=(1 + serial % 7, COLUMNS - 1))
    names = client * 1e6 + serial + np.arange(len(x)) / 16
    t = x @ np.arange(1.0, COLUMNS) + 0.1 * rng.normal(size=len(x))
    return np.column_stack([1e-6 * names, x, t]).tolist()  # type: ignore[no-any-return]


def first_model(kind: str) -> Any:
    """Return the model that learning begins with."""
    rows = np.array([row for serial in range(20) for row in rows_of_batch(CLIENTS, serial)])
    return (LMS() if kind == "LMS" else Ridge(penalty=1.0)).fit(rows[:, :-1], rows[:, -1])


def serve(folder: Path, serials: list[int], out: int) -> NoReturn:
    """Learn what clients send without end; each line on the pipe is a batch that was acknowledged."""
    learner = Learner(load(folder / "first.adaline"), folder / "journal", snapshot_rows=500)

    def send(client: int) -> None:
        for serial in range(serials[client], 10**6):
            learner.submit(rows_of_batch(client, serial), key=f"{client} {serial}").result()
            os.write(out, f"{client} {serial}\n".encode())

    os.write(out, b"ready\n")
    threads = [threading.Thread(target=send, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(1)


def killed_once(folder: Path, serials: list[int], seconds: float, least: int) -> int:
    """Let a child learn and kill it so long after it has acknowledged some batches; count them into `serials`."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            serve(folder, serials, write)
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
        os._exit(1)
    os.close(write)
    said = b""
    while said.count(b"\n") <= least:
        part = os.read(read, 2**16)
        assert part, "the learner did not start"
        said += part
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(min(0.002, seconds))
    os.kill(child, signal.SIGKILL)
    while part := os.read(read, 2**16):
        said += part
    os.close(read)
    os.waitpid(child, 0)
    lines = said.split(b"\n")[1:-1]  # the last one is not whole
    for line in lines:
        client, serial = map(int, line.split())
        assert serial == serials[client], "acknowledged out of order"
        serials[client] = serial + 1
    return len(lines)


def tear(folder: Path, draw: random.Random) -> None:
    """Leave a torn frame at the end of the log, or damage the last snapshot."""
    tear_log(folder, draw)
    snapshots = sorted((folder / "journal" / "snapshots" / "champion").glob("*.adaline"))
    if len(snapshots) > 1 and draw.random() < 0.1:
        snapshots[-1].write_bytes(snapshots[-1].read_bytes()[:-1])


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


def check(folder: Path, serials: list[int]) -> None:
    """Check the rows of the journal, and the model, against what was acknowledged."""
    with Journal(folder / "journal") as journal:
        found = [row for batch in journal.since(0) for row in zip(*batch.rows.to_pydict().values(), strict=True)]
        first = load(folder / "first.adaline")
        offline = replayed(first, journal, 0)
    check_rows(found, serials)
    with Learner(first, folder / "journal") as learner:
        assert np.array_equal(learner.current.coef_, offline.coef_), "the model is not that of the rows"
        assert learner.current.intercept_ == offline.intercept_
    rows = np.array(found).reshape(-1, COLUMNS + 1)
    told = load(folder / "first.adaline")
    block = max(len(rows), 1) if isinstance(first, LMS) else BLOCK  # of sums, which are added block by block
    for k in range(0, len(rows), block):
        told.partial_fit(rows[k : k + block, :-1], rows[k : k + block, -1])
    assert np.array_equal(told.coef_, offline.coef_), "the model is not that of partial_fit"


def main(folder: Path, kills: int, seed: int) -> int:
    """Kill learners and check; return the number of batches acknowledged."""
    module.SCANNED = module.SUMMED = BLOCK
    draw = random.Random(seed)
    total = 0
    for kind in ("LMS", "Ridge"):
        home = folder / kind
        home.mkdir(parents=True)
        save(first_model(kind), home / "first.adaline")
        serials = [0] * CLIENTS
        count = max(kills - kills // 4 if kind == "LMS" else kills // 4, 1)
        for k in range(count):
            total += killed_once(home, serials, draw.expovariate(20.0), least=int(k == count - 1))
            tear(home, draw)
        child = os.fork()  # threads are not left behind for the next forks
        if child == 0:
            try:
                check(home, serials)
            except BaseException as error:
                os.write(2, f"{kind}, seed {seed}: {error!r}\n".encode())
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, "see above"
    return total
