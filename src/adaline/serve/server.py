"""A service as a process: uvicorn on a socket until a signal ends it; waiting rows are learned before that."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from adaline.errors import InvalidParameter
from adaline.serve.application import PROBLEM
from adaline.serve.requests import Refused

IDLE_SECONDS = 75  # seconds that a connection may be idle; doubling it keeps more of them open
# new objects before the collector looks for cycles, in less than a millisecond; 10x larger delays requests longer
COLLECTED_OBJECTS = 5_000
LONGEST, PATIENCE = 2**19, 0.02  # bytes, and seconds to arrive, up to which a request is answered at once
SHUTDOWN_SECONDS = 30  # seconds that running requests have once the service is asked to stop
MOST_HEAD, MOST_HEADERS, LONGEST_LINE = 2**15, 100, 2**13
"""Bytes of the head of a request, number of its headers, and bytes of its target or of one header."""
TOO_LONG = (
    f"the head of a request has at most {MOST_HEAD:,} bytes, {MOST_HEADERS} headers, and {LONGEST_LINE:,} bytes in "
    "each header and in its target"
)
# seconds that a head may take to arrive, from the connection or its first byte on; doubling it helps slow attackers
HEAD_SECONDS = 15.0


@dataclass(frozen=True)
class Address:
    """Where a service listens: a host, a port (0 for any that is free), and a certificate with its key for TLS."""

    host: str = "127.0.0.1"
    port: int = 8000
    certificate: Path | None = None
    key: Path | None = None

    def bound(self) -> socket.socket:
        """Return a socket that listens there; refuse a certificate or a key that TLS cannot use."""
        self._check_certificate()
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        out = socket.socket(family, socket.SOCK_STREAM)
        out.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            out.bind((self.host.strip("[]"), self.port))
        except OSError as error:
            out.close()
            raise InvalidParameter(
                f"cannot listen on {self.host}, port {self.port}: {error.strerror or error}"
            ) from None
        out.listen(2048)
        out.set_inheritable(True)
        return out

    def _check_certificate(self) -> None:
        if self.certificate is None:
            if self.key is not None:
                raise InvalidParameter("a key of TLS is that of a certificate: give --tls-certificate FILE too")
            return
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(self.certificate, self.key)
        except OSError as error:  # that of ssl is one too
            files = " and ".join(str(one) for one in (self.certificate, self.key) if one is not None)
            raise InvalidParameter(
                f"{files}: no certificate with its key, both as PEM, can be read there ({error.strerror or error})"
            ) from None

    def url(self, port: int) -> str:
        """Return where a browser finds the service."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.certificate else ''}://{host}:{port}"


def serve(service: Any, sockets: list[socket.socket], address: Address, line: str | None = None) -> None:
    """Run an application on sockets until SIGINT or SIGTERM; requests that have begun are answered before it ends.

    A line is printed as soon as a signal ends the service in this way.
    """
    server = Server(server_config(service, address))

    def end(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    # uvicorn takes signals when it runs, and raises them again once it has ended: that is no more than is asked here
    before = {one: signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    if line is not None:
        print(line, flush=True)
    gc.collect()
    gc.freeze()  # what is there now stays: no request waits while it is looked through
    seldom = gc.get_threshold()  # of the command line, by which cycles that requests leave would take tens of MiB
    gc.set_threshold(COLLECTED_OBJECTS)
    try:
        server.run(sockets)
    finally:
        gc.set_threshold(*seldom)
        gc.unfreeze()
        for one, handler in before.items():
            signal.signal(one, handler)


class Server(uvicorn.Server):
    """Uvicorn, which once a second closes connections whose request does not arrive."""

    async def on_tick(self, counter: int) -> bool:
        """Run the checks that are due ten times a second."""
        if counter % 10 == 0:
            end_late(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)


def end_late(connections: Iterable[Any], now: float) -> None:
    """Close the connections that have waited too long for the head of a request."""
    for one in list(connections):
        if one.waits_since is not None and now - one.waits_since > HEAD_SECONDS:
            one.end_wait()


class JoinedWrites:
    """A transport that sends at once what is written to it in one turn of the event loop.

    Uvicorn writes the head of an answer and its body apart, which are two calls of the system and two packets.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send some bytes before the event loop turns to others."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)

    def write_at_once(self, data: bytes) -> None:
        """Send some bytes after all that was written."""
        self._send()
        self._transport.write(data)

    def close(self) -> None:
        """Close the connection after all that was written."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._parts:
            self._transport.writelines(self._parts)
            self._parts = []


class ServiceProtocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it by httptools, each answer in one piece, and some of them at once.

    A request for predictions that arrives whole, or nearly so, is answered as soon as it is read, where the application
    can (`Application.at_once`). All others go the way of ASGI: what is long or slow to arrive, is not kept alive, came
    together with another request, or waits for a client that does not read, and what the application leaves to it.

    Before anything is asked of the application, a head that is too long, has too many headers or takes too long to
    arrive is refused. Bytes are given to the parser in pieces, and counted since the last of a body: the parser would
    keep a line of any length, in a head as in the trailer of a body in chunks.
    """

    _parts: list[bytes] | None = None  # the body of a request that may be answered at once, as far as it was read
    _began = 0.0  # when its head was read
    _late: asyncio.TimerHandle | None = None  # when the rest of it is not waited for any longer
    waits_since: float | None = None  # when a head began to be waited for; None while there is a request
    _dry = 0  # bytes that arrived since the last of a body
    _refused: Refused | None = None  # why the connection ends
    _first = False  # whether none of what arrived was answered at once yet: other connections come before a second

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection."""
        self.waits_since = self.loop.time()
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Read what has arrived; pass requests that are long, or not soon complete, to ASGI."""
        self._first = True
        if self.waits_since is None and self._is_idle():
            self.waits_since = self.loop.time()
        for at in range(0, len(data), MOST_HEAD):
            piece = data if len(data) <= MOST_HEAD else data[at : at + MOST_HEAD]
            self._dry += len(piece)
            super().data_received(piece)
            if self._dry > MOST_HEAD and not self.transport.is_closing():
                self.refuse(Refused(431, TOO_LONG))
            if self.transport.is_closing():
                break
        if self._parts is None:
            return
        if self.transport.is_closing():  # it was no HTTP
            self._forget()
        elif sum(map(len, self._parts)) > LONGEST:
            self._pass_on()
        elif self._late is None:
            self._late = self.loop.call_later(PATIENCE, self._pass_on)

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._forget()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End the connection after the request that has begun."""
        if self._parts is not None:
            self._pass_on()
        super().shutdown()

    def on_headers_complete(self) -> None:
        """Decide which way a request goes; refuse one whose head is too long."""
        self.waits_since = None
        sizes = [len(name) + len(value) for name, value in self.headers]
        if len(sizes) > MOST_HEADERS or max(len(self.url), *sizes, 0) > LONGEST_LINE or sum(sizes) > MOST_HEAD:
            self._refused = Refused(431, TOO_LONG)
            raise self._refused
        if self.url in self.app.at_once and self._is_plain():
            self._parts, self._began = [], perf_counter()
        else:
            self._begin_task()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._dry = 0
        if self._parts is None:
            super().on_body(body)
        else:
            self._parts.append(body)

    def on_message_complete(self) -> None:
        """Answer a request, where that can be done at once."""
        self._dry = 0
        if self._parts is None:
            super().on_message_complete()
            return
        reply = self.app.at_once[self.url](self.headers, b"".join(self._parts), self._began)
        if reply is None:
            self._pass_on()
            super().on_message_complete()
            return
        self._forget()
        self._first = False
        self.transport.write_at_once(reply)  # type: ignore[attr-defined]
        self.on_response_complete()

    def refuse(self, refused: Refused) -> None:
        """End the connection, with an answer unless another one has begun."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = refused.body()
            head = f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}"
            kind = f"content-type: {PROBLEM}\r\ncontent-length: {len(body)}\r\nconnection: close"
            self.transport.write(f"{head}\r\n{kind}\r\n\r\n".encode() + body)
        self.waits_since = None
        self.transport.close()

    def end_wait(self) -> None:
        """Close a connection whose head is late; answer only if some of it arrived.

        A client that opens connections ahead would take an answer to no request for that to its first one.
        """
        if self._dry:
            self.refuse(Refused(408, f"the head of a request may take {HEAD_SECONDS:g} s to arrive"))
        else:
            self.waits_since = None
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, or was refused while it was read."""
        self.refuse(self._refused or Refused(400, msg))

    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self._parts is None and (self.cycle is None or self.cycle.response_complete)

    def _forget(self) -> None:
        """Discard the state of a request that was to be answered at once."""
        self._parts = None
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _is_plain(self) -> bool:
        """Whether nothing about a request, and nothing before it, asks for more than an answer."""
        parser = self.parser
        plain = self._is_idle() and self._first and not self.expect_100_continue and not self.flow.write_paused
        plain = plain and parser.get_method() == b"POST" and parser.get_http_version() == "1.1"
        return bool(plain and parser.should_keep_alive() and not parser.should_upgrade())

    def _pass_on(self) -> None:
        """Pass a request to ASGI, with the part of its body that was read."""
        parts = self._parts or []
        self._forget()
        self._begin_task()
        for part in parts:
            super().on_body(part)

    def _begin_task(self) -> None:
        """Let ASGI have a request; an answer before it may have set the clock of a connection without requests."""
        self._unset_keepalive_if_required()
        super().on_headers_complete()


def server_config(service: Any, address: Address | None = None) -> uvicorn.Config:
    """Return how an application is run; uvicorn uses uvloop if installed, which with httptools saves a third."""
    certificate, key = (None, None) if address is None else (address.certificate, address.key)
    return uvicorn.Config(
        service,
        http=ServiceProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # nothing depends on who asks, or by which scheme
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        lifespan="on",
        ws="none",
        ssl_certfile=certificate,
        ssl_keyfile=None if key is None else os.fspath(key),
    )
