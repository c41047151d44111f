"""Connections: predictions that are answered as soon as a request is read, by the bytes of ASGI, and bounded heads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from uvicorn.server import ServerState

from adaline import LinearRegression, LogisticRegression, open_table
from adaline.serve import Limits, Tokens, app
from adaline.serve.requests import ARROW, CSV, JSON
from adaline.serve.server import (
    HEAD_SECONDS,
    LONGEST_LINE,
    MOST_HEAD,
    MOST_HEADERS,
    PATIENCE,
    ServiceProtocol,
    end_late,
    server_config,
)
from tests.serve.examples import as_arrow

rng = np.random.default_rng(5)
TABLE = pa.table({"a": rng.normal(size=40), "kind": ["low", "high"] * 20, "y": rng.normal(size=40)})
MODELS = {
    "line": LinearRegression().fit(open_table(TABLE, target="y")),
    "flat": LinearRegression().fit(open_table(TABLE.drop(["kind"]), target="y")),
    "sort": LogisticRegression(penalty=1.0).fit(open_table(TABLE, target="kind")),
}
ROWS = TABLE.select(["a", "kind"])
TOKEN = {"authorization": "Bearer correct-horse-battery"}


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
        self.protocol = ServiceProtocol(server_config(service), ServerState(), {}, loop)

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


@pytest.fixture(scope="module")
def services() -> Iterator[dict[str, Any]]:
    made = {
        "open": app(MODELS, local=True, limits=Limits(body=10_000, rows=100)),
        "tokens": app(MODELS, tokens=Tokens({b"correct-horse-battery": "read"})),
    }
    yield made
    for one in made.values():
        one.state.service.close()


Connect = Callable[..., Connection]


@pytest.fixture
def connect(services: dict[str, Any]) -> Iterator[Connect]:
    """Connect to a service, open or with tokens."""
    loop = asyncio.new_event_loop()
    yield lambda name="open", **options: Connection(loop, services[name], **options)
    loop.close()


def head(method: str, path: str, **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items() if text)]
    return "\r\n".join([*lines, "", ""]).encode()


def request(body: bytes, kind: str = JSON, model: str = "line", **headers: str) -> bytes:
    """Return a request for predictions, as it is sent."""
    given = {"host": "localhost", "content-type": kind, "content-length": str(len(body)), **headers}
    return head("POST", f"/models/{model}/predict", **given) + body


def get(path: str = "/healthz", **headers: str) -> bytes:
    return head("GET", path, host="localhost", **headers)


# -- answered at once ------------------------------------------------------------------------------------------------

LINE = b'{"rows": [{"a": 1.5, "kind": "low"}]}'
TWO = b'{"rows": [{"kind": "high", "a": -3}, {"a": 2.5e-3, "kind": "low"}]}'
CHUNKED = {"content-length": "", "transfer-encoding": "chunked"}
AT_ONCE = {
    "one": request(LINE),
    "two": request(TWO),
    "numbers": request(b'{"rows": [{"a": 1}, {"a": 18446744073709551617}, {"a": -0.0}]}', model="flat"),
    "lists": request(b'{"rows": [[1.5, "low"], [2.5, "high"]]}'),
    "labels": request(b'{"rows": [{"a": 1, "y": 2}], "probabilities": true}', model="sort"),
    "a name with an escape": request(rb'{"rows": [{"\u0061": 1.5, "kind": "low"}]}'),
    "csv": request(b"a,kind\n1.5,low\n", CSV),
    "arrow": request(as_arrow(ROWS), ARROW),
    "arrow in parts": request(as_arrow(pa.concat_tables([ROWS, ROWS])), ARROW),
    "arrow of numbers": request(as_arrow(ROWS.select(["a"])), ARROW, "flat"),
    "an overflow": request(b'{"rows": [{"a": 1e308}, {"a": 1}]}', model="flat"),
    "spaces before a colon": request(b'{"rows": [{"a" : 1}, {"a":1}]}', model="flat"),
    "chunked": request(b"25\r\n%s\r\n0\r\n\r\n" % LINE, **CHUNKED),
}
BY_ASGI = {
    "arrow with a gap": request(as_arrow(pa.table({"a": pa.array([1.0, None])})), ARROW, "flat"),
    "arrow with an infinity": request(as_arrow(pa.table({"a": [1.0, np.inf]})), ARROW, "flat"),
    "an interval": request(b'{"rows": [{"a": 1, "kind": "low"}], "interval": "confidence"}'),
    "a level": request(b'{"rows": [{"a": 1, "kind": "none"}]}'),
    "a text": request(b'{"rows": [{"a": "1", "kind": "low"}]}'),
    "a gap": request(b'{"rows": [{"a": null, "kind": "low"}]}'),
    "another column": request(b'{"rows": [{"a": 1, "kind": "low", "b": 1}]}'),
    "no column": request(b'{"rows": [{"kind": "low"}]}'),
    "too large": request(b'{"rows": [{"a": 1e999}, {"a": 1}]}', model="flat"),
    "another option": request(b'{"rows": [{"a": 1, "kind": "low"}], "option": 1}'),
    "a name twice": request(b'{"rows": [{"a": 1, "kind": "low", "a": 2}]}'),
    "a name twice in two ways": request(rb'{"rows": [{"a": 1, "\u0061": 2}]}', model="flat"),
    "rows twice": request(b'{"rows": [{"a": 1}], "rows": [{"a": 1}]}', model="flat"),
    "a quote and a colon in a text": request(rb'{"rows": [{"a": 1, "kind": "\":"}]}'),
    "no rows": request(b'{"rows": []}'),
    "many rows": request(b'{"rows": [%s]}' % b",".join([b'{"a": 1}'] * 101), model="flat"),
    "no JSON": request(b'{"rows": '),
    "no body": request(b""),
    "long": request(LINE + b" " * 20_000),
    "another host": request(LINE, host="example.org"),
    "no host": request(LINE, host=""),
    "no kind": request(LINE, **{"content-type": ""}),
    "a charset": request(LINE, "application/json; charset=utf-8"),
    "coded": request(LINE, **{"content-encoding": "gzip"}),
    "expected": request(LINE, expect="100-continue"),
    "the last": request(LINE, connection="close"),
    "of old": request(LINE).replace(b"HTTP/1.1", b"HTTP/1.0"),
    "a query": request(LINE).replace(b"predict", b"predict?level=0.5"),
    "another method": request(LINE).replace(b"POST", b"PUT"),
    "another model": request(LINE, model="none"),
}


@pytest.mark.every
@pytest.mark.parametrize("name", [*AT_ONCE, *BY_ASGI])
def test_either_way_has_the_same_bytes(name: str, connect: Connect) -> None:
    sent = {**AT_ONCE, **BY_ASGI}[name]
    short, long = connect(), connect(at_once=False)
    first = short.send(sent)
    second = b"" if short.wire.closed else short.send(sent)
    assert first == long.send(sent)
    assert second in (first, b"")
    assert b" 500 " not in first
    assert short.wire.closed == long.wire.closed
    assert short.by_asgi == (name in BY_ASGI) * (2 if second else 1)


def test_what_arrives_in_pieces_or_together_is_answered_in_order(connect: Connect) -> None:
    one, two, wrong = request(LINE), request(TWO), request(b'{"rows": 1}')
    first, second, third = (connect(at_once=False).send(sent) for sent in (one, two, wrong))
    connection = connect()
    for cut in range(0, len(one), 7):
        assert connection.send(one[:cut], one[cut:]) == first
    assert connection.send(one + two + wrong + one, two) == first + second + third + first + second
    assert connection.send(one + two[:-5], two[-5:] + one) == first + second + first
    assert b"400 Bad Request" in connection.send(one[:-5] + b"\0" * 3, b"\0\0no HTTP\r\n\r\n")
    assert connection.wire.closed


def test_what_is_slow_or_long_goes_the_way_of_asgi(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    one = request(LINE)
    expected = connect(at_once=False).send(one)
    for end in (False, True):  # while the rest is on its way, the service is told to end
        connection = connect()
        connection.send(one[:-5], wait=0.0 if end else 2 * PATIENCE)
        if end:
            connection.protocol.shutdown()
        assert not connection.wire.closed
        assert connection.send(one[-5:]).replace(b"connection: close\r\n", b"") == expected
        assert (connection.by_asgi, connection.wire.closed) == (1, end)
    gone = connect()
    gone.send(one[:-5], wait=0.0)
    gone.protocol.connection_lost(None)
    gone.send(wait=2 * PATIENCE)
    assert gone.by_asgi == 0
    monkeypatch.setattr("adaline.serve.server.LONGEST", 10)
    long = connect()
    assert (long.send(one[:-5], one[-5:]), long.by_asgi) == (expected, 1)


def test_every_request_is_counted_once_and_tokens_are_asked_for(connect: Connect, services: dict[str, Any]) -> None:
    connection, metrics = connect("tokens"), services["tokens"].state.service.metrics
    counts, rows = dict(metrics.counts), dict(metrics.rows)
    for sent, status in ((request(LINE, **TOKEN), 200), (request(LINE), 401), (request(b"{}", **TOKEN), 422)):
        assert connection.send(sent).startswith(b"HTTP/1.1 %d " % status)
        key = ("predict", "line", status)
        assert metrics.counts[key] == counts.get(key, 0) + 1
    assert connection.by_asgi == 2
    assert metrics.rows["predict", "line"] == rows.get(("predict", "line"), 0) + 1


# -- heads that are too long, or too late: refused before anything is asked of a model -------------------------------

HEADS = {
    "many": get(**{f"x{k}": "1" for k in range(MOST_HEADERS)}),
    "a long header": get(x="1" * LONGEST_LINE),
    "a long name": get(**{"x" * LONGEST_LINE: "1"}),
    "a long target": get("/" + "x" * LONGEST_LINE),
    "long in all": get(**{f"x{k}": "1" * 4000 for k in range(9)}),
    "a line without end": b"GET / HTTP/1.1\r\nx: " + b"1" * 2 * MOST_HEAD,
    "a target without end": b"GET /" + b"1" * 2 * MOST_HEAD,
    "lines without end": b"GET / HTTP/1.1\r\n" + b"x: 1\r\n" * MOST_HEAD,
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_is_too_long_is_refused(name: str, connect: Connect) -> None:
    whole = HEADS[name]
    for size in (len(whole), 1000):
        connection, taken, found = connect("tokens"), 0, b""
        while taken < len(whole) and not connection.wire.closed:
            found = connection.send(whole[taken : taken + size])
            taken += size
        assert found.startswith(b"HTTP/1.1 431 ")
        assert b"connection: close" in found
        assert (connection.wire.closed, connection.by_asgi) == (True, 0)
        assert taken <= MOST_HEAD + size


def test_heads_within_the_limits_are_taken(connect: Connect) -> None:
    connection = connect("tokens")
    for sent in (
        get(**{f"x{k}": "1" for k in range(MOST_HEADERS - 1)}),
        get(x="1" * (LONGEST_LINE - 1)),
        get(**{f"x{k}": "1" * 7000 for k in range(4)}),
    ):
        assert connection.send(sent).startswith(b"HTTP/1.1 200 ")
        assert connection.send(sent[:-5], sent[-5:]).startswith(b"HTTP/1.1 200 ")
    body = b'{"rows": [%s{"a": 1}]}' % (b'{"a": 1},' * 50_000)  # longer than any head
    assert b" 200 OK" in connection.send(request(body, model="flat", **TOKEN))


def test_the_end_of_a_body_in_chunks_is_bounded(connect: Connect) -> None:
    begun = request(b"25\r\n%s\r\n0\r\n" % LINE, **CHUNKED, **TOKEN)
    assert connect("tokens").send(begun + b"x: 1\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    for more in (b"x: " + b"1" * 3 * MOST_HEAD, b"x: 1\r\n" * MOST_HEAD):
        connection = connect("tokens")
        connection.send(begun, more, wait=0.05)
        assert connection.wire.closed


def test_silent_and_slow_connections_are_closed(connect: Connect) -> None:
    every = silent, slow, idle, dripping, late = [connect("tokens") for _ in range(5)]
    slow.send(get()[:-7])
    slow.send(get()[-7:-5])
    for one in (idle, dripping):
        assert one.send(get()).startswith(b"HTTP/1.1 200 ")
    dripping.send(b"\r\n")
    late.send(get()[:-2].replace(b"GET", b"POST") + b"content-length: 9\r\n\r\n")  # answered before its body is there
    late.send(b"1", wait=0.0)
    now = silent.loop.time()
    for seconds, closed in ((0, [False] * 5), (HEAD_SECONDS + 1, [True, True, False, True, True])):
        end_late([one.protocol for one in every], now + seconds)
        assert [one.wire.closed for one in every] == closed
    assert slow.send(wait=0.0).startswith(b"HTTP/1.1 408 ")
    assert silent.send(wait=0.0) == b""


@pytest.mark.parametrize("name", ["host", "authorization", "content-type", "content-length"])
def test_a_header_that_is_there_twice_is_refused(name: str, connect: Connect) -> None:
    sent = request(LINE, **TOKEN)
    line = next(one for one in sent.split(b"\r\n") if one.startswith(name.encode()))
    for more in (line, line.title() + b"1"):
        assert connect("tokens").send(sent.replace(line, line + b"\r\n" + more)).startswith(b"HTTP/1.1 400 ")
    assert connect("tokens").send(sent).startswith(b"HTTP/1.1 200 ")
