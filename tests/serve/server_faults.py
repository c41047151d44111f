"""Kills a server under learning and changes of its model, over and over, and checks what is left.

Servers are forked children, so that nothing is imported again; clients are threads of this process, and speak HTTP. One
of them changes the model, by new versions, rollbacks and promotions, the others learn. A change that was acknowledged
is there after the kill, one that was under way is there whole or not at all; and the model is that of `partial_fit` on
the rows of the journal since the change. Models learn row by row, or by sums, which are added block by block.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from adaline import LMS, Ridge, load, save
from adaline.errors import JournalError, ModelFileError
from adaline.serve import Journal, Learner, app, learning_model
from adaline.serve import models as models_module
from adaline.serve.learning_model import CHAMPION
from adaline.serve.replay import replayed
from adaline.serve.server import Address, serve
from adaline.serve.snapshots import PREPARED, Snapshot, SnapshotFolder
from tests.serve.faults import BLOCK, check_rows, continued, forked, rows_of_batch, same, tear_log

CLIENTS, RIVAL = 3, "rival"
SNAPSHOT_ROWS = 300


def version(number: int) -> Any:
    """Return a version of the model: its weights tell it apart."""
    rows = np.array(rows_of_batch(CLIENTS, 6 + 7 * number))
    made = LMS(rate=0.001 * (1 + number % 5)) if number % 3 else Ridge(penalty=1.0 + number)
    return made.fit(rows[:, :-1], rows[:, -1])


class Begun(NamedTuple):
    """A model that took its place after so many rows of the journal, as the snapshot of this number."""

    model: Any
    rows: int = 0
    number: int = 0

    def after(self, rows: Any) -> Any:
        """Return the model with the rows of the journal, (n, D + 1), since then."""
        return continued(self.model, rows[self.rows :])


@dataclass
class Known:
    """What clients know: the models in their places, the rows of the journal, what is acknowledged, or under way."""

    folder: Path
    champion: Begun
    rival: Begun
    serials: list[int] = field(default_factory=lambda: [0] * CLIENTS)
    rows: Any = field(default_factory=lambda: np.empty((0, 4)))
    changes: Counter[str] = field(default_factory=Counter)
    under_way: tuple[str, Any] | None = None

    def read(self) -> Journal | None:
        """Read rows that are new in the journal, and return it; None where there is none yet."""
        try:
            journal = Journal(self.folder / "journal")
        except JournalError:
            return None
        new = [batch.rows.to_tensor().to_numpy() for batch in journal.since(len(self.rows))]
        self.rows = np.concatenate([self.rows, *new])
        return journal

    def settle(self) -> None:
        """Find out whether what was under way is done; it is what was asked for, or nothing has changed."""
        change, self.under_way = self.under_way, None
        journal = self.read()
        if journal is None:
            return
        with journal:
            begun, rivals = journal.begun(CHAMPION), journal.begun(RIVAL)
        if begun == self.champion.number:
            return
        assert change is not None, "a model has changed that nobody changed"
        kind, model = change
        stored = self.snapshot(begun)
        before = self.rows[: stored.rows]
        if kind == "promote":
            model, mine = self.rival.after(before), self.champion.after(before)
            self.rival = Begun(mine, stored.rows, rivals)
        assert same(stored.load(), model), f"what was stored is not what was asked for: {kind}"
        self.champion = Begun(model, stored.rows, begun)

    def snapshot(self, number: int) -> Snapshot:
        """Return a snapshot of the champion, also one that has no name of its own yet."""
        folder = SnapshotFolder(self.folder / "journal" / "snapshots" / CHAMPION)
        return next(one for one in (*folder.list(), *folder.list(PREPARED)) if one.number == number)


def serving(folder: Path) -> tuple[int, int]:
    """Begin a server; return its process and its port."""
    listening = Address(port=0).bound()
    port, child = listening.getsockname()[1], forked(run, folder, listening)
    listening.close()
    return child, port


def run(folder: Path, listening: Any) -> None:
    """Serve until the end."""
    models_module.Learner = partial(Learner, snapshot_rows=SNAPSHOT_ROWS)  # type: ignore[misc, assignment]
    rivals = {RIVAL: load(folder / "rival.adaline")}
    service = app([folder / "m.adaline"], learn=True, journal=folder / "journal", challengers=rivals)
    serve(service, [listening], Address())


def ask(connection: HTTPConnection, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    """Return the status of an answer, and what it says."""
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection.request(method, f"/models/m{path}", content, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def learn(port: int, known: Known, client: int) -> None:
    """Learn batch after batch until the server is gone."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        while True:
            serial = known.serials[client]
            body = {"rows": rows_of_batch(client, serial), "key": f"{client} {serial}"}
            status, said = ask(connection, "POST", "/learn", body)
            if status == 503:  # it ends
                return
            assert status == 200, said
            known.serials[client] += 1
    except (OSError, HTTPException):
        connection.close()


def change(port: int, known: Known, draw: random.Random) -> None:
    """Change the model again and again until the server is gone."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    folder, file = SnapshotFolder(known.folder / "journal" / "snapshots" / CHAMPION), known.folder / "sent.adaline"
    try:
        while True:
            time.sleep(draw.expovariate(100.0))
            kind = draw.choice(["put", "rollback", "promote"])
            if kind == "put":
                known.under_way = kind, version(draw.randrange(1000))
                save(known.under_way[1], file)
                status, said = ask(connection, "PUT", "", file.read_bytes())
            elif kind == "promote":
                known.under_way = kind, None
                status, said = ask(connection, "POST", "/promote", {"challenger": RIVAL})
            else:
                wanted = draw.choice(folder.list())
                try:
                    known.under_way = kind, wanted.load()
                except ModelFileError:  # it was the oldest, and is gone
                    continue
                status, said = ask(connection, "POST", "/rollback", {"snapshot": wanted.number})
                if status in (404, 422):
                    known.under_way = None
                    continue
            assert status == 200, said
            before = known.champion.number
            known.settle()
            assert known.champion.number > before, f"{kind} was acknowledged, and nothing has changed"
            known.changes[kind] += 1
    except (OSError, HTTPException):
        connection.close()


def ended_once(known: Known, draw: random.Random, number: int = signal.SIGKILL) -> int:
    """Let a server work for a while, end it by a signal, and return its status.

    Before that, the model is checked that it began with.
    """
    child, port = serving(known.folder)
    if number == signal.SIGKILL and draw.random() < 0.1:  # while it begins
        time.sleep(draw.expovariate(50.0))
        os.kill(child, number)
        return os.waitpid(child, 0)[1]
    status, said = ask(HTTPConnection("127.0.0.1", port, timeout=60), "GET", "/file")
    assert status == 200, said
    (known.folder / "now.adaline").write_bytes(said)
    journal = known.read()
    assert journal is not None
    journal.close()
    now = load(known.folder / "now.adaline")
    assert same(now, known.champion.after(known.rows)), "the model is not that of its rows"
    failed: list[BaseException] = []

    def guarded(work: Any, *given: Any) -> None:
        try:
            work(port, known, *given)
        except BaseException as error:
            failed.append(error)

    threads = [Thread(target=guarded, args=(learn, client)) for client in range(CLIENTS)]
    threads.append(Thread(target=guarded, args=(change, draw)))
    for thread in threads:
        thread.start()
    began, until = sum(known.serials), time.monotonic() + 60
    time.sleep(0.005 + random.Random(draw.random()).expovariate(15.0))
    while number == signal.SIGTERM and sum(known.serials) == began and time.monotonic() < until:
        time.sleep(0.01)  # that one has something to end with
    os.kill(child, number)
    ended = os.waitpid(child, 0)[1]
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    known.settle()
    return ended


def main(folder: Path, kills: int, seed: int) -> Known:
    """Kill servers and check; return what was acknowledged."""
    learning_model.SCANNED = learning_model.SUMMED = BLOCK
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    known = Known(folder, Begun(version(0)), Begun(version(1)))
    save(known.champion.model, folder / "m.adaline")
    save(known.rival.model, folder / "rival.adaline")
    for _ in range(kills):
        ended_once(known, draw)
        tear_log(folder, draw)
    assert ended_once(known, draw, signal.SIGTERM) == 0, "a server that was told to end did not end well"
    check_rows([tuple(row) for row in known.rows.tolist()], known.serials)
    rivals = {RIVAL: known.rival.model}
    with Learner(known.champion.model, folder / "journal", challengers=rivals) as learner:
        known.read()
        assert same(learner.current, known.champion.after(known.rows))
        assert same(learner.challenger(RIVAL), known.rival.after(known.rows))
    with Journal(folder / "journal") as journal:
        offline = replayed(known.champion.model, journal, known.champion.rows)
    assert same(offline, known.champion.after(known.rows))
    return known
