"""Learners, servers and commands as processes: `python -m tests.serve.processes FOLDER KILLS SEED`.

Each is forked from this one, so that nothing is imported again: so many learners and so many servers are killed under
load, a service with two workers learns, predicts and drains, and `adaline learn -` is terminated. A line is printed of
each.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from adaline import LMS, load, save
from adaline.cli import main
from adaline.serve import app
from adaline.serve.server import Address
from adaline.serve.workers import run_workers
from tests.serve import faults, server_faults
from tests.serve.faults import same
from tests.serve.server_faults import ask

ROWS = np.random.default_rng(0).normal(size=(400, 3))


class Command:
    """A command of adaline, in a process and a folder of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        pipes = [os.pipe() for _ in range(3)]
        self.number = os.fork()
        if self.number == 0:
            self._run(folder, words, pipes)
        for mine in (pipes[0][0], pipes[1][1], pipes[2][1]):
            os.close(mine)
        self.stdin, self.stdout, self.stderr = pipes[0][1], os.fdopen(pipes[1][0]), os.fdopen(pipes[2][0])

    def _run(self, folder: Path, words: tuple[str, ...], pipes: list[tuple[int, int]]) -> None:
        code = 1
        try:
            for k, pipe in enumerate(pipes):
                os.dup2(pipe[0 if k == 0 else 1], k)
                for end in pipe:
                    os.close(end)
            os.chdir(folder)
            code = main(list(words))
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def end(self) -> int:
        """Terminate the process, and return its exit code."""
        os.kill(self.number, signal.SIGTERM)
        return os.waitstatus_to_exitcode(os.waitpid(self.number, 0)[1])


def learned(first: int, last: int) -> Any:
    """Return the model of the first ten rows, with others."""
    model = LMS().fit(ROWS[:10, :2], ROWS[:10, 2])
    return model.partial_fit(ROWS[first:last, :2], ROWS[first:last, 2]) if last > first else model


def named(first: int, last: int) -> list[dict[str, float]]:
    """Return rows as clients send them."""
    return [dict(zip(("x0", "x1", "y"), row, strict=True)) for row in ROWS[first:last].tolist()]


def serve_by_workers(folder: Path) -> str:
    """Let one process learn, and two others predict by what it has learned, until they are told to end."""
    save(learned(0, 0), folder / "m.adaline")
    listening = Address(port=0).bound()
    port, owner = listening.getsockname()[1], os.fork()
    if owner == 0:
        try:
            sys.modules["__main__"] = ModuleType("__main__")  # workers import what they need, and not this file
            (folder / "published").mkdir()
            service = app([folder / "m.adaline"], learn=True, publish=folder / "published")
            run_workers(service, folder / "published", listening, Address(), 2, "serving")
            os._exit(0)
        finally:
            os._exit(1)
    listening.close()

    def asked(path: str, body: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        status, said = ask(connection, "GET" if body is None else "POST", path, body)
        connection.close()
        return status if status != 200 else said if path == "/file" else json.loads(said)

    assert asked("/learn", {"rows": named(10, 20)}) == {"learned": 10, "rows_seen": 20}
    assert asked("/learn", {"rows": named(20, 40)})["rows_seen"] == 40
    (folder / "now.adaline").write_bytes(asked("/file"))
    expected, until = learned(10, 40).predict([[1.0, 2.0]]).tolist(), time.monotonic() + 60
    while asked("/predict", {"rows": [[1.0, 2.0]]})["predictions"] != expected:
        assert time.monotonic() < until, "workers do not see what was learned"
        time.sleep(0.05)
    until = time.monotonic() + 60
    while len(predicting := processes_that_predicted(folder / "published")) < 2:  # connections are theirs by chance
        assert time.monotonic() < until, "one process alone predicts"
        open_at_once = [HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(8)]
        for connection in open_at_once:
            connection.connect()
        for connection in open_at_once:
            assert ask(connection, "POST", "/predict", {"rows": [[1.0, 2.0]]})[0] == 200
            connection.close()
        time.sleep(0.1)
    assert owner not in predicting
    assert asked("")["rows_seen"] == 40
    assert asked("/nothing") == 404
    begun = [begin_to_predict(port) for _ in range(8)]
    time.sleep(0.3)  # until all of them have begun to read
    os.kill(owner, signal.SIGTERM)
    time.sleep(0.3)  # until all of them are told to end
    for connection in begun:
        connection.sendall(b'"rows": [[1.0, 2.0]]}')
        with connection.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        assert json.loads(body)["predictions"] == expected
        connection.close()
    assert os.waitpid(owner, 0)[1] == 0
    assert not [process for process in predicting if is_running(process)]
    assert same(load(folder / "now.adaline"), learned(10, 40))
    return "two workers predicted by what another process learned, and what had begun was answered at their end"


def processes_that_predicted(folder: Path) -> set[int]:
    """Return the processes that have told of predictions in a folder."""
    told = {int(path.stem): json.loads(path.read_bytes()) for path in folder.glob("*.metrics")}
    return {process for process, counted in told.items() if counted["requests"]["rows"]}


def begin_to_predict(port: int) -> socket.socket:
    """Return a connection with a request that has arrived in part."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(
        b"POST /models/m/predict HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"content-length: 22\r\n\r\n{"
    )
    return connection


def is_running(process: int) -> bool:
    """Whether there is a process of a number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def learn_until_terminated(folder: Path) -> str:
    """Terminate a command that learns from a pipe: what it has read is learned and saved."""
    save(learned(0, 0), folder / "pipe.adaline")
    command = Command(folder, "learn", "pipe.adaline", "-", "--every", "100", "--journal", "j")
    os.write(command.stdin, "".join(f"{json.dumps(row)}\n" for row in named(10, 355)).encode())
    said = ""
    while "300 rows" not in (line := command.stderr.readline()):  # the others were read with them
        assert line, f"it has ended: {said}"
        said += line
    assert command.end() == 143
    assert "terminated; what was learned until then is saved" in command.stderr.read()
    assert "saved: pipe.adaline" in command.stdout.read()
    model = load(folder / "pipe.adaline")
    assert model.rows_seen_ == 355
    assert same(model, learned(10, 355))
    return "a command that was terminated has learned what it read"


if __name__ == "__main__":
    folder, (kills, seed) = Path(sys.argv[1]), map(int, sys.argv[2:])
    print(learn_until_terminated(folder))
    print(serve_by_workers(folder), flush=True)
    began = time.monotonic()
    print(f"{kills} learners: {faults.main(folder, kills, seed)} batches, {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    known = server_faults.main(folder / "server", kills, seed)
    changes = ", ".join(f"{count} {kind}" for kind, count in sorted(known.changes.items()))
    print(f"{kills} servers: {sum(known.serials)} batches, {changes}, {time.monotonic() - began:.0f} s")
