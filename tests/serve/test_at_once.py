"""Predictions that are answered as soon as a request is read: by the same bytes as those that go the way of ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from uvicorn.server import ServerState

from adaline import LinearRegression, LogisticRegression, open_table
from adaline.serve import Limits, Tokens, app
from adaline.serve.requests import ARROW, CSV, JSON
from adaline.serve.server import PATIENCE, ServiceProtocol, configured
from tests.serve.examples import as_arrow

rng = np.random.default_rng(5)
TABLE = pa.table({"a": rng.normal(size=40), "kind": ["low", "high"] * 20, "y": rng.normal(size=40)})
MODELS = {
    "line": LinearRegression().fit(open_table(TABLE, target="y")),
    "flat": LinearRegression().fit(open_table(TABLE.drop(["kind"]), target="y")),
    "sort": LogisticRegression(penalty=1.0).fit(open_table(TABLE, target="kind")),
}
ROWS = TABLE.select(["a", "kind"])


class Wire(asyncio.Transport):
    """A connection whose other end is this test."""

    def __init__(self) -> None:
        super().__init__()
        self.sent, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.sent += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Connection:
    """A connection to a service; `by_asgi` are the requests that went that way."""

    def __init__(self, loop: asyncio.AbstractEventLoop, service: Any, at_once: bool = True) -> None:
        self.loop, self.by_asgi = loop, 0
        self.protocol = ServiceProtocol(configured(service), ServerState(), {}, loop)

        async def counted(*given: Any) -> None:
            self.by_asgi += 1
            await service(*given)

        counted.at_once = service.at_once if at_once else {}  # type: ignore[attr-defined]
        self.protocol.app = counted
        self.wire = Wire()
        self.protocol.connection_made(self.wire)

    def send(self, *parts: bytes, wait: float | None = None) -> bytes:
        """Let parts arrive one after the other, and return what is answered until then, or after some seconds."""

        async def turn() -> None:
            for part in parts:
                self.protocol.data_received(part)
                await asyncio.sleep(0)
            while wait is None and self.protocol.tasks:
                await asyncio.sleep(0.001)
            await asyncio.sleep(wait or 0)

        self.loop.run_until_complete(turn())
        sent, self.wire.sent = self.wire.sent, b""
        return sent


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    out = asyncio.new_event_loop()
    yield out
    out.close()


def request(body: bytes, kind: str = JSON, model: str = "line", **headers: str) -> bytes:
    """Return a request for predictions, as it is sent."""
    given = {"host": "localhost", "content-type": kind, "content-length": str(len(body)), **headers}
    lines = [f"POST /models/{model}/predict HTTP/1.1", *(f"{name}: {text}" for name, text in given.items() if text)]
    return "\r\n".join([*lines, "", ""]).encode() + body


LINE = b'{"rows": [{"a": 1.5, "kind": "low"}]}'
TWO = b'{"rows": [{"kind": "high", "a": -3}, {"a": 2.5e-3, "kind": "low"}]}'
CHUNKED = {"content-length": "", "transfer-encoding": "chunked"}
BODIES = {
    "one": (request(LINE), 0),
    "two": (request(TWO), 0),
    "numbers": (request(b'{"rows": [{"a": 1}, {"a": 18446744073709551617}, {"a": -0.0}]}', model="flat"), 0),
    "lists": (request(b'{"rows": [[1.5, "low"], [2.5, "high"]]}'), 0),
    "labels": (request(b'{"rows": [{"a": 1, "y": 2}], "probabilities": true}', model="sort"), 0),
    "a name with an escape": (request(rb'{"rows": [{"\u0061": 1.5, "kind": "low"}]}'), 0),
    "csv": (request(b"a,kind\n1.5,low\n", CSV), 0),
    "arrow": (request(as_arrow(ROWS), ARROW), 0),
    "arrow in parts": (request(as_arrow(pa.concat_tables([ROWS, ROWS])), ARROW), 0),
    "arrow of numbers": (request(as_arrow(ROWS.select(["a"])), ARROW, "flat"), 0),
    "arrow with a gap": (request(as_arrow(pa.table({"a": pa.array([1.0, None])})), ARROW, "flat"), 1),
    "arrow with an infinity": (request(as_arrow(pa.table({"a": [1.0, np.inf]})), ARROW, "flat"), 1),
    "an interval": (request(b'{"rows": [{"a": 1, "kind": "low"}], "interval": "confidence"}'), 1),
    "a level": (request(b'{"rows": [{"a": 1, "kind": "none"}]}'), 1),
    "a text": (request(b'{"rows": [{"a": "1", "kind": "low"}]}'), 1),
    "a gap": (request(b'{"rows": [{"a": null, "kind": "low"}]}'), 1),
    "another column": (request(b'{"rows": [{"a": 1, "kind": "low", "b": 1}]}'), 1),
    "no column": (request(b'{"rows": [{"kind": "low"}]}'), 1),
    "too large": (request(b'{"rows": [{"a": 1e999}, {"a": 1}]}', model="flat"), 1),
    "an overflow": (request(b'{"rows": [{"a": 1e308}, {"a": 1}]}', model="flat"), 0),
    "another option": (request(b'{"rows": [{"a": 1, "kind": "low"}], "option": 1}'), 1),
    "a name twice": (request(b'{"rows": [{"a": 1, "kind": "low", "a": 2}]}'), 1),
    "a name twice in two ways": (request(rb'{"rows": [{"a": 1, "\u0061": 2}]}', model="flat"), 1),
    "rows twice": (request(b'{"rows": [{"a": 1}], "rows": [{"a": 1}]}', model="flat"), 1),
    "spaces before a colon": (request(b'{"rows": [{"a" : 1}, {"a":1}]}', model="flat"), 0),
    "a quote and a colon in a text": (request(rb'{"rows": [{"a": 1, "kind": "\":"}]}'), 1),
    "no rows": (request(b'{"rows": []}'), 1),
    "many rows": (request(b'{"rows": [%s]}' % b",".join([b'{"a": 1}'] * 101), model="flat"), 1),
    "no JSON": (request(b'{"rows": '), 1),
    "no body": (request(b""), 1),
    "long": (request(LINE + b" " * 20_000), 1),
    "another host": (request(LINE, host="example.org"), 1),
    "no host": (request(LINE, host=""), 1),
    "no kind": (request(LINE, **{"content-type": ""}), 1),
    "a charset": (request(LINE, "application/json; charset=utf-8"), 1),
    "coded": (request(LINE, **{"content-encoding": "gzip"}), 1),
    "expected": (request(LINE, expect="100-continue"), 1),
    "the last": (request(LINE, connection="close"), 1),
    "of old": (request(LINE).replace(b"HTTP/1.1", b"HTTP/1.0"), 1),
    "chunked": (request(b"25\r\n%s\r\n0\r\n\r\n" % LINE, **CHUNKED), 0),
    "a query": (request(LINE).replace(b"predict", b"predict?level=0.5"), 1),
    "another method": (request(LINE).replace(b"POST", b"PUT"), 1),
    "another model": (request(LINE, model="none"), 1),
}


@pytest.fixture(scope="module")
def service() -> Iterator[Any]:
    out = app(MODELS, local=True, limits=Limits(body=10_000, rows=100))
    yield out
    out.state.service.close()


@pytest.mark.parametrize("name", BODIES)
def test_either_way_has_the_same_bytes(name: str, service: Any, loop: asyncio.AbstractEventLoop) -> None:
    sent, by_asgi = BODIES[name]
    short, long = Connection(loop, service), Connection(loop, service, at_once=False)
    first, second = short.send(sent), short.send(sent) if not short.wire.closed else b""
    assert first == long.send(sent)
    assert second in (first, b"")
    assert b" 500 " not in first
    assert short.wire.closed == long.wire.closed
    assert short.by_asgi == by_asgi * (2 if second else 1)


def test_what_arrives_in_pieces_or_together_is_answered_in_order(service: Any, loop: asyncio.AbstractEventLoop) -> None:
    one, two, wrong = request(LINE), request(TWO), request(b'{"rows": 1}')
    expected = [Connection(loop, service, at_once=False).send(sent) for sent in (one, two, wrong)]
    connection = Connection(loop, service)
    for cut in range(0, len(one), 7):
        assert connection.send(one[:cut], one[cut:]) == expected[0]
    together = connection.send(one + two + wrong + one, two)
    assert together == b"".join([*expected, expected[0], expected[1]])
    assert connection.send(one + two[:-5], two[-5:] + one) == b"".join([expected[0], expected[1], expected[0]])
    assert b"400 Bad Request" in connection.send(one[:-5] + b"\0" * 3, b"\0\0no HTTP\r\n\r\n")
    assert connection.wire.closed


def test_what_is_slow_or_long_goes_the_way_of_asgi(
    service: Any, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, expected = request(LINE), Connection(loop, service, at_once=False).send(request(LINE))
    for end in (False, True):  # while the rest is on its way, the service is told to end
        connection = Connection(loop, service)
        connection.send(one[:-5], wait=0.0 if end else 2 * PATIENCE)
        if end:
            connection.protocol.shutdown()
        assert not connection.wire.closed
        assert connection.send(one[-5:]).replace(b"connection: close\r\n", b"") == expected
        assert connection.by_asgi == 1
        assert connection.wire.closed == end
    gone = Connection(loop, service)
    gone.send(one[:-5], wait=0.0)
    gone.protocol.connection_lost(None)
    gone.send(wait=2 * PATIENCE)
    assert gone.by_asgi == 0
    monkeypatch.setattr("adaline.serve.server.LONGEST", 10)
    long = Connection(loop, service)
    assert long.send(one[:-5], one[-5:]) == expected
    assert long.by_asgi == 1


def test_every_request_is_counted_once_and_tokens_are_asked_for(loop: asyncio.AbstractEventLoop) -> None:
    service = app(MODELS, tokens=Tokens({b"correct-horse-battery": "read"}))
    connection = Connection(loop, service)
    token = {"authorization": "Bearer correct-horse-battery"}
    for sent, status in ((request(LINE, **token), 200), (request(LINE), 401), (request(b"{}", **token), 422)):
        assert connection.send(sent).startswith(b"HTTP/1.1 %d " % status)
    assert connection.by_asgi == 2
    metrics = service.state.service.metrics
    assert metrics.counts == {("predict", "line", status): 1 for status in (200, 401, 422)}
    assert metrics.rows == {("predict", "line"): 1}
    service.state.service.close()
