"""The application: an ASGI app by Starlette whose endpoints predict, learn, and list models.

Predictions use the current model and never wait for learning. Rows to learn wait in the queue of the model's learner,
and are acknowledged once they are on disk. An invalid request is answered with a problem detail (RFC 9457), which names
the row and the column if there is one.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from math import ceil
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from adaline.errors import AdalineError, BadRows, Busy, JournalError, JournalFull
from adaline.fitted import AnyModel
from adaline.serve import metrics
from adaline.serve.answers import ENCODER, answer
from adaline.serve.models import LearnOptions, ServedModel, serve_models
from adaline.serve.openapi import description
from adaline.serve.requests import (
    ARROW,
    CSV,
    JSON,
    PROMOTE,
    ROLLBACK,
    Limits,
    PredictRequest,
    Refused,
    body_kind,
    decoded_json,
    most_rows,
    read_learn,
    read_predict,
)
from adaline.serve.rows import has_basis
from adaline.serve.security import ROLES, Tokens, is_local
from adaline.storage.container import replacing

log = logging.getLogger("adaline.serve")

MODEL_FILE = "application/octet-stream"
PROBLEM = "application/problem+json"
# bytes, some 10 ms, from which a body is read on another thread than the event loop's; doubling: others wait longer
HEAVY, HEAVY_ARROW = 2**20, 2**23
# rows of JSON, some 10 ms, from which a body is read on another thread; doubling it delays other requests longer
MANY_JSON_ROWS = 20_000
# rows x columns x classes, some ms, from which predictions are made on another thread, for the same reason
MANY_PRODUCTS = 2**20
# bodies of the largest size held at once; doubling it takes twice the memory before requests are refused
MOST_HELD_BODIES = 16
# seconds between points of the progressive error; doubling it halves the points of the page's curve
SAMPLE_SECONDS = 1.0
# seconds after which a model that has learned is written for predicting processes; doubling it lets them lag longer
PUBLISH_SECONDS = 0.2
METRICS = ".metrics"  # end of the names of files with what a process has counted
PAGES = {"/": "index.html", "/docs": "docs.html", "/static/page.js": "page.js", "/static/docs.js": "docs.js"}
PAGES |= {"/static/page.css": "page.css"}
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
SAFE = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
}

ONCE = (b"host", b"authorization", b"content-type", b"content-length", b"content-encoding")
"""Headers that a request has once."""
KINDS_OF_ROWS = {kind.encode(): kind for kind in (JSON, CSV, ARROW)}
ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]
"""Headers that every answer has."""
HEAD = b"\r\n".join(
    [b"HTTP/1.1 200 OK", b"content-type: %s", b"content-length: %d", *(b": ".join(one) for one in ALWAYS), b"", b""]
)
"""The head of an answer with rows, as `send_reply` has uvicorn write it."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Gone(Exception):
    """The client is gone: there is nobody to answer."""


@dataclass(frozen=True)
class Reply:
    """An answer: a body of a kind, and what more its head says."""

    body: bytes
    kind: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


@dataclass
class Incoming:
    """A request as it comes: its head, and the model that it names."""

    scope: Scope
    receive: Receive
    headers: dict[bytes, bytes]
    served: ServedModel | None = None
    size: int = 0  # bytes of its body that have arrived

    def header(self, name: bytes) -> str | None:
        """Return a header as text; None where it is not there."""
        found = self.headers.get(name)
        return None if found is None else found.decode("latin-1")

    @property
    def query(self) -> dict[str, str]:
        """The options after the question mark."""
        text = self.scope["query_string"]
        return dict(parse_qsl(text.decode("latin-1"), keep_blank_values=True)) if text else {}

    @property
    def model(self) -> ServedModel:
        """The model that the path names."""
        assert self.served is not None
        return self.served


Handler = Callable[[Incoming], Awaitable[Reply]]


@dataclass(frozen=True)
class Action:
    """A method of a path: its name in the metrics, the required role, and the function that answers."""

    route: str
    role: str | None
    answer: Handler


class Service:
    """The models of a service, its limits and tokens, and the endpoints that use them."""

    def __init__(
        self,
        models: dict[str, ServedModel],
        limits: Limits,
        tokens: Tokens,
        local: bool,
        folder: Path | None = None,
    ) -> None:
        self.models, self.limits, self.tokens, self.local, self.folder = models, limits, tokens, local, folder
        self.metrics = metrics.RequestMetrics()
        self.held = 0  # bytes of bodies that are being read or worked on
        self.arriving: dict[asyncio.Task[Any], float] = {}  # when the bodies that are being read must be there
        self.threads = ThreadPoolExecutor(4, thread_name_prefix="serve")
        self.waiters = ThreadPoolExecutor(4, thread_name_prefix="wait")  # for what waits until a learner has answered
        static = files("adaline.serve") / "static"
        self.pages = {path: (static / name).read_bytes() for path, name in PAGES.items()}

    def routes(self) -> list[Route]:
        """Return the paths of the service, those that are asked for most first."""
        one = "/models/{name}"
        resources: dict[str, dict[str, Action]] = {
            f"{one}/predict": {"POST": Action("predict", "read", self.predict)},
            f"{one}/learn": {"POST": Action("learn", "learn", self.learn)},
            one: {"GET": Action("model", "read", self.describe), "PUT": Action("replace", "admin", self.replace)},
            f"{one}/file": {"GET": Action("file", "read", self.file)},
            f"{one}/history": {"GET": Action("history", "read", self.history)},
            f"{one}/snapshots": {"GET": Action("snapshots", "read", self.snapshots)},
            f"{one}/rollback": {"POST": Action("rollback", "admin", self.rollback)},
            f"{one}/promote": {"POST": Action("promote", "admin", self.promote)},
            "/models": {"GET": Action("models", "read", self.list_models)},
            "/metrics": {"GET": Action("metrics", "read", self.show_metrics)},
            "/healthz": {"GET": Action("healthz", None, self.healthy)},
            "/readyz": {"GET": Action("readyz", None, self.ready)},
            "/openapi.json": {"GET": Action("openapi", None, self.openapi)},
            **{path: {"GET": Action("page", None, partial(self.page, path))} for path in PAGES},
        }
        return [Route(path, Endpoint(self, actions)) for path, actions in resources.items()]

    # -- predicting and learning ---------------------------------------------------------------------------------

    async def predict(self, request: Incoming) -> Reply:
        """Answer by predictions, in the kind of the rows."""
        kind = body_kind(request.header(b"content-type"), request.header(b"content-encoding"))
        query = request.query
        served = request.model
        model = served.version(query.get("version"))
        body = await self.body(request)
        read = partial(read_predict, model, served.layout(model).direct, kind, body, query, self.limits)
        long = is_long(kind, body)
        wanted = await self.apart(read) if long else read()
        work = partial(self._predicted, served, model, wanted)
        out, x = await self.apart(work) if long or is_slow(model, wanted) else work()
        self._count_predicted(served, x)
        return Reply(out, kind)

    def predict_at_once(
        self, served: ServedModel, headers: Sequence[tuple[bytes, bytes]], body: bytes, began: float
    ) -> bytes | None:
        """Return the whole answer to a request for predictions that began at a time, its head included.

        None where `predict` has to see it: where it is refused, or takes a while. A task, and what ASGI says about one
        request, would take longer than the predictions of a few rows.
        """
        given = dict(headers)
        kind = KINDS_OF_ROWS.get(given.get(b"content-type", b""))
        if kind is None or b"content-encoding" in given or len(body) > self.limits.body or is_long(kind, body):
            return None
        if len(given) < len(headers):  # a header twice
            return None
        if self.local and not is_local(given.get(b"host", b"").decode("latin-1")):
            return None
        token = given.get(b"authorization")
        if self.tokens and not self.tokens.allow(None if token is None else token.decode("latin-1"), "read"):
            return None
        try:
            model = served.current
            if has_basis(model):
                return None
            request = read_predict(model, served.layout(model).direct, kind, body, {}, self.limits)
            if is_slow(model, request):
                return None
            out, x = self._predicted(served, model, request)
        except Exception:  # is reported, and counted, by `predict`
            return None
        self._count_predicted(served, x)
        self.metrics.observe("predict", served.name, 200, perf_counter() - began)
        return HEAD % (given[b"content-type"], len(out)) + out

    def _count_predicted(self, served: ServedModel, x: Any) -> None:
        self.metrics.add_rows("predict", served.name, x.shape[0])
        drift = served.drift  # which may go while a new version comes
        if drift is not None:
            drift.observe(x)

    def _predicted(self, served: ServedModel, model: AnyModel, request: PredictRequest) -> tuple[bytes, Any]:
        """Return an answer as it is sent, and the rows as the model took them."""
        x = request.x
        if x is None:
            x = served.layout(model).read(request.rows, most_columns=self.limits.columns)
        return answer(model, x, request).written(request.kind), x

    async def learn(self, request: Incoming) -> Reply:
        """Learn from rows; answer once they are durable."""
        served = request.model
        if served.learner is None or not served.learns:
            raise Refused(403, f"{served.name} does not learn: start the service with --learn")
        kind = body_kind(request.header(b"content-type"), request.header(b"content-encoding"))
        query = request.query
        body = await self.body(request)
        work = partial(self._submitted, served, kind, body, query)
        receipt = await asyncio.wrap_future(await self.apart(work) if is_long(kind, body) else work())
        self.metrics.add_rows("learn", served.name, 0 if receipt.repeated else receipt.learned)
        out = {"learned": receipt.learned, "rows_seen": receipt.rows_seen}
        return Reply(ENCODER.encode({**out, "repeated": True} if receipt.repeated else out))

    def _submitted(self, served: ServedModel, kind: str, body: bytes, query: dict[str, str]) -> Any:
        assert served.learner is not None
        request = read_learn(served.current, kind, body, query, self.limits)
        return served.learner.submit(request.rows, request.key, most_columns=self.limits.columns)

    # -- models --------------------------------------------------------------------------------------------------

    async def list_models(self, request: Incoming) -> Reply:
        """Answer by the names of the models."""
        return _json({"models": list(self.models)})

    async def describe(self, request: Incoming) -> Reply:
        """Answer with the description of a model."""
        return _json(await self.apart(request.model.described))

    async def history(self, request: Incoming) -> Reply:
        """Answer by the progressive error as it went."""
        seen, mean, recent = zip(*request.model.history, strict=True) if request.model.history else ((), (), ())
        return _json({"rows_seen": seen, "mean": mean, "recent": recent})

    async def file(self, request: Incoming) -> Reply:
        """Answer with the current model file."""
        name = f'attachment; filename="{request.model.name}.adaline"'
        return Reply(await self.after_learning(request.model.file), MODEL_FILE, {"content-disposition": name})

    async def replace(self, request: Incoming) -> Reply:
        """Take a model file as the new version of a model."""
        body = await self.body(request)
        model = await self.after_learning(partial(request.model.replace, body))
        return _json({"name": request.model.name, "system": type(model).__name__})

    async def snapshots(self, request: Incoming) -> Reply:
        """Answer by the snapshots that there are."""
        found = await self.apart(request.model.snapshots)
        return _json({"snapshots": [{"snapshot": one.number, "rows": one.rows} for one in found]})

    async def rollback(self, request: Incoming) -> Reply:
        """Go back to a snapshot."""
        wanted = await self._read_json(request, ROLLBACK)
        await self.after_learning(partial(request.model.rollback, wanted.snapshot))
        return _json({"name": request.model.name, "snapshot": wanted.snapshot})

    async def promote(self, request: Incoming) -> Reply:
        """Let a challenger take the place of the model."""
        wanted = await self._read_json(request, PROMOTE)
        await self.after_learning(partial(request.model.promote, wanted.challenger))
        return _json({"name": request.model.name, "promoted": wanted.challenger})

    # -- the service itself --------------------------------------------------------------------------------------

    async def show_metrics(self, request: Incoming) -> Reply:
        """Answer with the metrics, in the text format of Prometheus."""
        told = [] if self.folder is None else await self.apart(partial(told_metrics, self.folder))
        counted = self.metrics.joined(one["requests"] for one in told)
        drifts = {
            name: served.drift.joined(one["drifts"][name] for one in told if name in one["drifts"])
            for name, served in self.models.items()
            if served.drift is not None
        }
        lines = [*counted.lines(), *metrics.model_lines(self.models, drifts)]
        return Reply("\n".join([*lines, ""]).encode(), metrics.CONTENT_TYPE)

    def tell_metrics(self, folder: Path) -> None:
        """Write what this process has counted to a folder, for the one that is asked for metrics."""
        drifts = {
            name: (served.drift.rows, served.drift.recent.tolist())
            for name, served in self.models.items()
            if served.drift is not None
        }
        with replacing(folder / f"{os.getpid()}{METRICS}") as path:
            Path(path).write_bytes(ENCODER.encode({"requests": self.metrics.plain(), "drifts": drifts}))

    async def healthy(self, request: Incoming) -> Reply:
        """Answer that the process runs."""
        return _json({"status": "ok"})

    async def ready(self, request: Incoming) -> Reply:
        """Answer whether all models predict, and learn where they should; models are named to known tokens alone."""
        learners = {name: one.learner for name, one in self.models.items() if one.learner is not None}
        broken = {
            name: str(error_reply(error)) for name, one in learners.items() if (error := one.trouble()) is not None
        }
        found: dict[str, Any] = {"status": "failed" if broken else "ready"}
        if self.tokens.allow(request.header(b"authorization"), ROLES[0]):
            found["models"] = broken or list(self.models)
        return Reply(ENCODER.encode(found), status=503 if broken else 200)

    async def openapi(self, request: Incoming) -> Reply:
        """Answer by the OpenAPI description of the service."""
        return _json(description(self.limits, bool(self.tokens), list(self.models)))

    async def page(self, path: str, request: Incoming) -> Reply:
        """Answer with a page for people, or one of its files."""
        return Reply(self.pages[path], KINDS[Path(PAGES[path]).suffix], SAFE)

    # -- what several share --------------------------------------------------------------------------------------

    async def apart(self, work: Callable[[], Any]) -> Any:
        """Do something that takes a while on another thread than that of the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    async def after_learning(self, work: Callable[[], Any]) -> Any:
        """Do something that waits for a learner on a thread that no prediction needs."""
        return await asyncio.get_running_loop().run_in_executor(self.waiters, work)

    async def _read_json(self, request: Incoming, decoder: Any) -> Any:
        if body_kind(request.header(b"content-type"), request.header(b"content-encoding")) != JSON:
            raise Refused(415, f"the Content-Type is {JSON}")
        return decoded_json(decoder, await self.body(request))

    async def body(self, request: Incoming) -> bytes:
        """Return the body of a request; refuse one that is too long, too slow, or one too many."""
        most = self.limits.body
        length = request.header(b"content-length")
        if length is not None and (not length.isdecimal() or len(length) > 18 or int(length) > most):
            raise Refused(413, f"a request may have at most {most:,} bytes")
        task = asyncio.current_task()
        assert task is not None
        self.arriving[task] = perf_counter() + self.limits.seconds
        chunks: list[bytes] = []
        try:
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                chunk = message.get("body", b"")
                chunks.append(chunk)
                request.size += len(chunk)
                self.held += len(chunk)
                if request.size > most:
                    raise Refused(413, f"a request may have at most {most:,} bytes")
                if self.held > MOST_HELD_BODIES * most:
                    raise Refused(429, "too many requests are being worked on: try again", {"retry-after": "1"})
                if not message.get("more_body", False):
                    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        except asyncio.CancelledError:
            if task in self.arriving:
                raise
            task.uncancel()
            raise Refused(408, f"the request took more than {self.limits.seconds:g} s to arrive") from None
        finally:
            self.arriving.pop(task, None)

    async def end_late(self) -> None:
        """End requests that take too long to arrive; one look at all of them costs less than a clock for each."""
        while True:
            await asyncio.sleep(min(self.limits.seconds / 4, 1.0))
            now = perf_counter()
            for task in [task for task, deadline in self.arriving.items() if deadline < now]:
                del self.arriving[task]
                task.cancel()

    def sample(self) -> None:
        """Keep points of the progressive errors."""
        for served in self.models.values():
            served.remember()

    def publish(self) -> None:
        """Write the models that have changed, where other processes predict by them."""
        if self.folder is not None:
            for served in self.models.values():
                served.publish(self.folder)

    def close(self) -> None:
        """Learn from all rows that wait, and end."""
        for served in self.models.values():
            served.close()
        self.waiters.shutdown(wait=True)
        self.threads.shutdown(wait=True)


def is_long(kind: str, body: bytes) -> bool:
    """Return whether a body takes longer to read than the event loop may wait."""
    if kind == JSON:
        return len(body) > HEAVY or (len(body) > MANY_JSON_ROWS and most_rows(body) > MANY_JSON_ROWS)
    return len(body) > (HEAVY_ARROW if kind == ARROW else HEAVY)


def is_slow(model: AnyModel, request: PredictRequest) -> bool:
    """Return whether predictions take longer than the event loop may wait: intervals, bases, many rows or columns."""
    if request.interval is not None or has_basis(model):
        return True
    classes = getattr(model, "classes_", None)
    width = getattr(model, "n_features_in_", MANY_PRODUCTS) * (1 if classes is None else len(classes))
    return bool(len(request.rows) * width > MANY_PRODUCTS)


def told_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return what other processes have counted, those that have ended too."""
    return [msgspec.json.decode(path.read_bytes()) for path in folder.glob(f"*{METRICS}")]


class Endpoint:
    """A path of the service, as an ASGI app: checks who asks for what, answers, and counts."""

    def __init__(self, service: Service, actions: Mapping[str, Action]) -> None:
        self.service, self.actions = service, dict(actions)
        if "GET" in actions:
            self.actions["HEAD"] = actions["GET"]
        self.allowed = ", ".join(self.actions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        began = perf_counter()
        action = self.actions.get(scope["method"])
        name = scope["path_params"].get("name", "")
        request = Incoming(scope, receive, dict(scope["headers"]))
        try:
            _refuse_repeated(scope["headers"], request.headers)
            reply = await self._reply(action, request, name)
        except Gone:
            return
        except Exception as error:
            refused = error_reply(error)
            reply = Reply(refused.body(), PROBLEM, refused.headers, refused.status)
        finally:
            self.service.held -= request.size
        await send_reply(send, reply)
        if action is not None and action.route:  # what is passed on is counted where it is answered
            known = name if name in self.service.models else ""
            self.service.metrics.observe(action.route, known, reply.status, perf_counter() - began)

    async def _reply(self, action: Action | None, request: Incoming, name: str) -> Reply:
        service = self.service
        if service.local and not is_local(request.header(b"host") or ""):
            raise Refused(421, "this service answers to localhost alone")
        if action is None:
            raise Refused(405, f"this path takes {self.allowed}", {"allow": self.allowed})
        token = request.header(b"authorization")
        if action.role is not None and not service.tokens.allow(token, action.role):
            if token is None:
                raise Refused(401, "a token is needed: Authorization: Bearer TOKEN", {"www-authenticate": "Bearer"})
            if not service.tokens.allow(token, ROLES[0]):  # which every known token may do
                unknown = {"www-authenticate": 'Bearer error="invalid_token"'}
                raise Refused(401, "this token is not known: send one that --token-file has", unknown)
            raise Refused(403, f"this needs a token of the role {action.role}")
        if name:
            request.served = service.models.get(name)
            if request.served is None:
                raise Refused(404, "there is no model of this name")
        return await action.answer(request)


def _refuse_repeated(given: Sequence[tuple[bytes, bytes]], headers: Mapping[bytes, bytes]) -> None:
    """Refuse two headers of a name of which one has to be meant: a proxy in front may take the other."""
    if len(headers) < len(given):
        names = [name for name, _ in given]
        for name in ONCE:
            if names.count(name) > 1:
                raise Refused(400, f"the request has more than one {name.decode()} header: send one")


async def send_reply(send: Send, reply: Reply) -> None:
    """Send an answer."""
    headers = [(b"content-type", reply.kind.encode()), (b"content-length", str(len(reply.body)).encode()), *ALWAYS]
    headers += [(name.encode(), value.encode("latin-1", "replace")) for name, value in reply.headers.items()]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def error_reply(error: Exception) -> Refused:
    """Return the answer to an error; internal errors are logged, and neither these nor paths are revealed."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, BadRows):
        return Refused(422, str(error), row=error.row, column=error.column)
    if isinstance(error, Busy):
        return Refused(429, str(error), {"retry-after": str(max(ceil(error.retry_after), 1))})
    if isinstance(error, JournalFull):
        log.error("%s", error)
        return Refused(507, "there is no room on the disk for more rows: nothing was learned")
    if isinstance(error, JournalError):
        log.error("%s", error)
        return Refused(503, "the learner cannot continue: see the log of the service")
    if isinstance(error, OSError):  # also of model files: what is wrong with one in a body is reported before
        log.error("%s", error)
        return Refused(507, "the service cannot write to its disk, and nothing has changed: see its log")
    if isinstance(error, AdalineError):
        return Refused(422, str(error))
    log.error("internal error", exc_info=error)
    return Refused(500, "internal error: see the log of the service")


def _json(value: Any) -> Reply:
    return Reply(ENCODER.encode(value))


def app(
    models: Any,
    *,
    learn: bool = False,
    journal: str | PathLike[str] | None = None,
    challengers: Mapping[str, Any] | None = None,
    tokens: Tokens | None = None,
    limits: Limits | None = None,
    local: bool = False,
    publish: Path | None = None,
) -> Starlette:
    """Return an ASGI application that predicts by models over HTTP, and keeps learning: what `adaline serve` runs.

    `POST /models/NAME/predict` takes `{"rows": [{"a": 1.5}]}`, CSV or an Arrow stream and answers in kind,
    `POST /models/NAME/learn` rows with their target; `/openapi.json` describes all of it, `/` is a page for a person.

    Parameters
    ----------
    models : a fitted system (then called "model"), the path of a model file (called by its stem) or of a folder of
        them, several such paths, or a mapping from names to systems or paths.
    learn : whether rows are learned. Rows are on disk before they are acknowledged, but those of a system that came
        from memory, without a journal.
    journal : the folder for the journal and the snapshots; without it, NAME.journal beside the model file.
    challengers : other fitted systems that learn the same rows, by name, to be compared.
    tokens : who may do what; without them everyone may do everything.
    limits : what a request may cost.
    local : whether to refuse requests that name another host than localhost.
    publish : a folder where the models for predictions are written as they change, for `adaline.serve.workers`.

    Examples
    --------
    >>> from adaline import LinearRegression
    >>> from adaline.serve import app
    >>> service = app({"line": LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])})
    >>> [route.path for route in service.routes][:2]
    ['/models/{name}/predict', '/models/{name}/learn']
    """
    limits = limits or Limits()
    options = LearnOptions(learn, None if journal is None else Path(journal), limits.waiting, challengers)
    service = Service(serve_models(models, options), limits, tokens or Tokens(), local, publish)
    service.publish()
    return as_app(service, service.routes(), {SAMPLE_SECONDS: service.sample, PUBLISH_SECONDS: service.publish})


def as_app(service: Service, routes: list[Route], tasks: Mapping[float, Callable[[], None]]) -> Starlette:
    """Return an application of some routes, which does tasks every so many seconds, and ends the service at its end."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        for served in service.models.values():
            service.threads.submit(served.warm_up)
        running = [asyncio.create_task(_repeated(service, work, seconds)) for seconds, work in tasks.items()]
        running.append(asyncio.create_task(service.end_late()))
        yield
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await asyncio.get_running_loop().run_in_executor(None, service.close)

    out = Application(routes=routes, lifespan=lifespan, exception_handlers={HTTPException: _unknown_path})
    out.router.redirect_slashes = False
    out.state.service = service
    for route in routes:
        if "{name}" in route.path:
            out.known |= {route.path.format(name=name): (route.endpoint, name) for name in service.models}
    out.at_once = {
        f"/models/{name}/predict".encode(): partial(service.predict_at_once, served)
        for name, served in service.models.items()
    }
    return out


class Application(Starlette):
    """Starlette, but the paths of the models that there are, which are found without trying one route after another.

    `known` has the endpoint and the name of the model of each; `at_once`, by the path as it is sent, what may return a
    whole answer to headers, a body and the time when these began to come (`adaline.serve.server` asks it first).
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.known: dict[str, tuple[Any, str]] = {}
        self.at_once: dict[bytes, Callable[[Sequence[tuple[bytes, bytes]], bytes, float], bytes | None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        found = self.known.get(scope["path"]) if scope["type"] == "http" else None
        if found is None:
            await super().__call__(scope, receive, send)
            return
        scope["path_params"] = {"name": found[1]}
        await found[0](scope, receive, send)


async def _unknown_path(request: Any, error: Any) -> Any:
    """Answer a path that is not there."""
    from starlette.responses import Response

    refused = Refused(error.status_code, "there is nothing at this path: see /openapi.json")
    return Response(refused.body(), refused.status, media_type=PROBLEM)


async def _repeated(service: Service, work: Callable[[], None], seconds: float) -> None:
    """Do something on another thread, again and again."""
    while True:
        try:
            await service.apart(work)
        except (AdalineError, OSError) as error:
            log.error("%s", error)
        await asyncio.sleep(seconds)
