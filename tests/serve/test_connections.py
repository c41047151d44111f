"""Connections that send too much of a head, or too little for too long: refused before anything is asked of a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from adaline.serve import Tokens, app
from adaline.serve.server import HEAD_SECONDS, LONGEST_LINE, MOST_HEAD, MOST_HEADERS, end_late
from tests.serve.test_at_once import CHUNKED, LINE, MODELS, Connection, request


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    out = asyncio.new_event_loop()
    yield out
    out.close()


@pytest.fixture(scope="module")
def service() -> Iterator[Any]:
    out = app(MODELS, tokens=Tokens({b"correct-horse-battery": "read"}))
    yield out
    out.state.service.close()


def get(path: str = "/healthz", **headers: str) -> bytes:
    lines = ["host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode()


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
def test_a_head_that_is_too_long_is_refused(name: str, service: Any, loop: asyncio.AbstractEventLoop) -> None:
    for size in (len(HEADS[name]), 1000):
        connection = Connection(loop, service)
        parts = [HEADS[name][at : at + size] for at in range(0, len(HEADS[name]), size)]
        taken = 0
        for part in parts:
            if connection.wire.closed:
                break
            taken += len(part)
            found = connection.send(part)
        assert found.startswith(b"HTTP/1.1 431 ")
        assert b"connection: close" in found
        assert connection.wire.closed
        assert connection.by_asgi == 0
        assert taken <= MOST_HEAD + size


def test_heads_within_the_limits_are_taken(service: Any, loop: asyncio.AbstractEventLoop) -> None:
    connection = Connection(loop, service)
    for head in (
        get(**{f"x{k}": "1" for k in range(MOST_HEADERS - 1)}),
        get(x="1" * (LONGEST_LINE - 1)),
        get(**{f"x{k}": "1" * 7000 for k in range(4)}),
    ):
        assert connection.send(head).startswith(b"HTTP/1.1 200 ")
        assert connection.send(head[:-5], head[-5:]).startswith(b"HTTP/1.1 200 ")
    body = b'{"rows": [%s{"a": 1}]}' % (b'{"a": 1},' * 50_000)  # longer than any head
    assert b" 200 OK" in connection.send(
        request(body, model="flat", authorization="Bearer correct-horse-battery"), wait=None
    )


def test_the_end_of_a_body_in_chunks_is_bounded(service: Any, loop: asyncio.AbstractEventLoop) -> None:
    token = {"authorization": "Bearer correct-horse-battery"}
    begun = request(b"25\r\n%s\r\n0\r\n" % LINE, **CHUNKED, **token)
    assert Connection(loop, service).send(begun + b"x: 1\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    for more in (b"x: " + b"1" * 3 * MOST_HEAD, b"x: 1\r\n" * MOST_HEAD):
        connection = Connection(loop, service)
        connection.send(begun, more, wait=0.05)
        assert connection.wire.closed


def test_silent_and_slow_connections_are_closed(service: Any, loop: asyncio.AbstractEventLoop) -> None:
    silent, slow, idle, dripping, late = (Connection(loop, service) for _ in range(5))
    slow.send(get()[:-7])
    slow.send(get()[-7:-5])
    for one in (idle, dripping):
        assert one.send(get()).startswith(b"HTTP/1.1 200 ")
    dripping.send(b"\r\n")
    late.send(get()[:-2].replace(b"GET", b"POST") + b"content-length: 9\r\n\r\n")  # answered before its body is there
    late.send(b"1", wait=0.0)
    every = [silent, slow, idle, dripping, late]
    now = loop.time()
    end_late([one.protocol for one in every], now)
    assert not any(one.wire.closed for one in every)
    end_late([one.protocol for one in every], now + HEAD_SECONDS + 1)
    assert [one.wire.closed for one in every] == [True, True, False, True, True]
    assert slow.send(wait=0.0).startswith(b"HTTP/1.1 408 ")
    assert silent.send(wait=0.0) == b""


@pytest.mark.parametrize("name", ["host", "authorization", "content-type", "content-length"])
def test_a_header_that_is_there_twice_is_refused(name: str, service: Any, loop: asyncio.AbstractEventLoop) -> None:
    sent = request(LINE, authorization="Bearer correct-horse-battery")
    line = next(one for one in sent.split(b"\r\n") if one.startswith(name.encode()))
    for more in (line, line.title() + b"1"):
        found = Connection(loop, service).send(sent.replace(line, line + b"\r\n" + more))
        assert found.startswith(b"HTTP/1.1 400 ")
    assert Connection(loop, service).send(sent).startswith(b"HTTP/1.1 200 ")
