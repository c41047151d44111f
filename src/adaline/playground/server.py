"""The server of the playground: the page, the scenes, and one WebSocket a page, on this machine alone.

    GET /               the page, and its files under /page/
    GET /scenes.json    the guided scenes
    GET /board.json     the board that the page opens with, where it was started on a table; else null
    /ws                 messages (see `messages`)

A page requests its next frame when it has the last one, so that a slow page skips frames. Of fits, frames and charts
that wait in one slot, only the newest is computed; the others are answered as skipped. A page with more than
MOST_WAITING_MESSAGES unanswered messages is not read until it has taken an answer. When its socket closes, the session
ends, and a running fit ends at its next moment. Pages of other sites are refused by their origin.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from adaline.playground.messages import BadMessage, message_object
from adaline.playground.scenes import PAGE, scenes
from adaline.playground.session import Session

HERE = ["127.0.0.1", "localhost", "[::1]"]
# messages of a page that are not answered yet; doubling it takes more memory before a page is slowed down
MOST_WAITING_MESSAGES = 64
REPLACED = ("fit", "frame", "instrument")  # kinds of messages that are skipped if a newer one of the kind is waiting
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self' ws://127.0.0.1:* ws://localhost:*; object-src 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".json": "application/json"}


def application(board: dict[str, Any] | None = None) -> Starlette:
    """Return the ASGI application; `board` is what its page opens with, as `board_of_table` makes it.

    Examples
    --------
    >>> from adaline.playground.server import application
    >>> [route.path for route in application().routes]
    ['/', '/page/{name}', '/scenes.json', '/board.json', '/ws']
    """

    async def first_board(request: Request) -> Response:
        return JSONResponse(board, headers=HEADERS)

    made = Starlette(
        routes=[
            Route("/", front),
            Route("/page/{name}", page_file),
            Route("/scenes.json", all_scenes),
            Route("/board.json", first_board),
            WebSocketRoute("/ws", talk),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HERE)],
    )
    # The interpreter waits for these threads at its end: a fit of a page that has gone may still be in a kernel.
    made.state.pool = ThreadPoolExecutor(thread_name_prefix="adaline-play")
    return made


async def front(request: Request) -> Response:
    """Answer with the page."""
    return _file("index.html")


async def page_file(request: Request) -> Response:
    """Answer with a file of the page."""
    name = request.path_params["name"]
    known = {one.name for one in PAGE.iterdir() if one.is_file()}
    return _file(name) if name in known else Response("there is no such file", status_code=404)


async def all_scenes(request: Request) -> Response:
    """Answer with the guided scenes."""
    return JSONResponse(scenes(), headers=HEADERS)


def _file(name: str) -> Response:
    end = name[name.rfind(".") :]
    kind = TYPES.get(end) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return Response((PAGE / name).read_bytes(), media_type=kind, headers=HEADERS)


async def talk(socket: WebSocket) -> None:
    """Answer the messages of a page, in order, until it goes away."""
    if not _same_origin(socket):
        await socket.close(code=1008)
        return
    await socket.accept()
    session, pool = Session(), socket.app.state.pool
    waiting: asyncio.Queue[dict[str, Any] | BadMessage | None] = asyncio.Queue(MOST_WAITING_MESSAGES)
    newest: dict[Any, Any] = {}

    def wanted(given: dict[str, Any]) -> Callable[[], bool]:
        return lambda: newest.get(_place(given)) is given

    async def answer() -> None:
        while (given := await waiting.get()) is not None:
            if isinstance(given, BadMessage):
                found: dict[str, Any] = {"id": None, "type": "error", "message": str(given), "bad": True}
            elif given.get("type") in REPLACED and not wanted(given)():
                found = {"id": _identity(given), "type": "skipped"}
            else:
                found = await asyncio.get_running_loop().run_in_executor(pool, session.answer, given, wanted(given))
            await socket.send_text(_written(found))

    answering = asyncio.create_task(answer())
    try:
        while not answering.done():
            text = await socket.receive()
            if text["type"] == "websocket.disconnect":
                break
            given = _read(text.get("text") or text.get("bytes") or "")
            if isinstance(given, dict):
                newest[_place(given)] = given
            await waiting.put(given)
    except (WebSocketDisconnect, RuntimeError):  # it is gone
        pass
    finally:
        newest.clear()  # nothing is wanted any more
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


def _read(text: str | bytes) -> dict[str, Any] | BadMessage:
    try:
        return message_object(text)
    except BadMessage as error:
        return error


def _written(found: dict[str, Any]) -> str:
    """Return an answer as JSON; one that JSON cannot hold is answered by an error, and the page is heard on."""
    try:
        return json.dumps(found, allow_nan=False, separators=(",", ":"))
    except ValueError:
        told = "this could not be computed: a result is not finite"
        return json.dumps({"id": found["id"], "type": "error", "message": told, "bad": False})


def _place(given: dict[str, Any]) -> tuple[str, str]:
    """Return the key of the messages that a message replaces: its kind and slot."""
    return str(given.get("type")), str(given.get("slot", 0))


def _identity(given: dict[str, Any]) -> Any:
    return given["id"] if isinstance(given.get("id"), int | str) else None


def _same_origin(socket: WebSocket) -> bool:
    """Whether a socket was opened by our own page, or by a program, which sends no origin."""
    origin = socket.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == socket.headers.get("host")
