"""Several processes that predict, and one that learns.

The owner has the learners, the journal and everything else of the service, listens on a socket of the file system, and
writes each changed model to a folder for predictions. Workers share the port: they predict with the models of that
folder, a fraction of a second after they were learned, and pass all other requests on to the owner.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route

from adaline import storage
from adaline.errors import ModelFileError
from adaline.serve.application import PUBLISH_SECONDS, Action, Endpoint, Incoming, Reply, Service, as_app
from adaline.serve.models import SUFFIX, ServedModel
from adaline.serve.requests import Limits, Refused
from adaline.serve.security import Tokens
from adaline.serve.server import Address, Server, serve, server_config

REPORT_SECONDS = 1.0  # seconds between the reports of a worker on its counts; doubling it makes metrics older
WATCH_SECONDS = 0.5  # seconds between checks that all workers run; doubling it restarts a crashed one later
LONGEST_HEAD = 2**16  # bytes of the head of a request between processes
HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"upgrade", b"expect", b"te", b"trailer"}
"""Headers that are about one connection."""


class Forward:
    """Passes requests on to the owner."""

    def __init__(self, service: Service, path: Path) -> None:
        self.service, self.path = service, path

    async def __call__(self, request: Incoming) -> Reply:
        """Return the answer of the owner."""
        scope = request.scope
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        body = await self.service.body(request)
        head = [b"%s %s HTTP/1.1" % (scope["method"].encode(), target)]
        head += [b"%s: %s" % one for one in scope["headers"] if one[0] not in HOP]
        head += [b"connection: close", b"content-length: %d" % len(body), b"", b""]
        try:
            reader, writer = await asyncio.open_unix_connection(self.path, limit=LONGEST_HEAD)
        except OSError:
            raise Refused(503, "the process that learns does not answer", {"retry-after": "1"}) from None
        try:
            writer.write(b"\r\n".join(head) + body)
            await writer.drain()
            return await _reply(reader, scope["method"] == "HEAD")
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            raise Refused(503, "the process that learns has ended", {"retry-after": "1"}) from None
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


async def _reply(reader: asyncio.StreamReader, empty: bool) -> Reply:
    """Return an answer, as HTTP has it."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = b"" if empty else await reader.readexactly(int(headers["content-length"]))
    kept = {name: value for name, value in headers.items() if name not in SENT and name.encode() not in HOP}
    return Reply(body, headers["content-type"], kept, int(first.split()[1]))


SENT = ("content-type", "x-content-type-options", "cache-control")  # headers that every answer has


class PublishedModels:
    """The models of a folder, reloaded when their files change."""

    def __init__(self, folder: Path) -> None:
        self.times = {path.stem: path.stat().st_mtime_ns for path in sorted(folder.glob(f"*{SUFFIX}"))}
        self.folder = folder
        self.models = {name: ServedModel(name, storage.load(folder / f"{name}{SUFFIX}")) for name in self.times}

    def refresh(self) -> None:
        """Load changed models."""
        for name, served in self.models.items():
            path = self.folder / f"{name}{SUFFIX}"
            with suppress(ModelFileError, OSError):  # while the service ends
                now = path.stat().st_mtime_ns
                if now != self.times[name]:
                    served.exchange(storage.load(path))
                    self.times[name] = now


def worker_app(folder: Path, limits: Limits, tokens: Tokens, local: bool) -> Starlette:
    """Return the application of a worker: predictions here, all else at the owner."""
    published = PublishedModels(folder)
    service = Service(published.models, limits, tokens, local)
    forward = Forward(service, folder / "owner")
    parent = os.getppid()

    async def predict(request: Incoming) -> Reply:
        """Predict here, but for older versions, which the owner has."""
        return await (forward(request) if b"version" in request.scope["query_string"] else service.predict(request))

    def refresh() -> None:
        published.refresh()
        if os.getppid() != parent:  # the owner is gone, and with it what this process is for
            os.kill(os.getpid(), signal.SIGTERM)

    here = Endpoint(service, {"POST": Action("predict", "read", predict)})
    others = {method: Action("", None, forward) for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")}
    routes = [Route("/models/{name}/predict", here), Route("/{path:path}", Endpoint(service, others))]
    return as_app(service, routes, {PUBLISH_SECONDS: refresh, REPORT_SECONDS: lambda: service.tell_metrics(folder)})


def run_worker(
    folder: Path, listening: socket.socket, address: Address, limits: Limits, tokens: Tokens, local: bool, ready: Any
) -> None:
    """Run a worker on the port of the service: what each process begins with; `ready` counts those that have begun."""
    service = worker_app(folder, limits, tokens, local)
    ready.release()
    serve(service, [listening], address)


class Owner(Server):
    """The server of the owner, which ends on request, after its workers."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the one who runs workers."""
        yield


def run_workers(
    service: Starlette, folder: Path, listening: socket.socket, address: Address, count: int, line: str
) -> None:
    """Run the owner in this process, and so many workers, until SIGINT or SIGTERM; those that end are begun again.

    The line is printed once all of them are ready.
    """
    state: Service = service.state.service
    context = multiprocessing.get_context("spawn")
    ready = context.Semaphore(0)
    arguments = (folder, listening, address, state.limits, state.tokens, state.local, ready)
    workers = [context.Process(target=run_worker, args=arguments) for _ in range(count)]
    ending = Event()
    inside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    inside.bind(os.fspath(folder / "owner"))
    inside.listen(2048)
    owner = Owner(server_config(service))

    def watch() -> None:
        told = 0
        while not ending.wait(0.2 if told < count else WATCH_SECONDS):
            if told < count and ready.acquire(block=False):
                told += 1
                if told == count:
                    print(line, flush=True)
            for k, one in enumerate(workers):
                if not one.is_alive():
                    workers[k] = context.Process(target=run_worker, args=arguments)
                    workers[k].start()
        for one in workers:
            one.terminate()
        for one in workers:
            one.join()
        owner.should_exit = True

    def end(number: int, frame: FrameType | None) -> None:
        ending.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    watching = Thread(target=watch, name="workers")
    try:
        for one in workers:
            one.start()
        watching.start()
        owner.run([inside])
    finally:
        ending.set()
        if watching.is_alive():
            watching.join()
        inside.close()
        for number, handler in before.items():
            signal.signal(number, handler)
