"""Requests to an application in this process, as a server would pass them on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JSON = "application/json"
SCOPE = {
    "type": "http",
    "asgi": {"version": "3.0"},
    "http_version": "1.1",
    "scheme": "http",
    "root_path": "",
    "client": ("127.0.0.1", 1),
    "server": ("127.0.0.1", 80),
}


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Client:
    """Asks an application; `close` ends it as a server does."""

    def __init__(self, app: Any, token: str | None = None) -> None:
        self.app, self.token = app, token
        self.loop = asyncio.new_event_loop()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def service(self) -> Any:
        """The service behind the application."""
        return self.app.state.service

    def close(self) -> None:
        """End the application: what waits is learned."""
        if hasattr(self.app, "state"):
            self.service.close()
        self.loop.close()

    def get(self, path: str, **more: Any) -> Response:
        """Return the answer to GET."""
        return self.ask("GET", path, **more)

    def post(self, path: str, body: Any, kind: str | None = JSON, **more: Any) -> Response:
        """Return the answer to POST at a path of the models."""
        return self.ask("POST", f"/models/{path}", body, kind, **more)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = b"",
        kind: str | None = JSON,
        headers: Mapping[str, str] | None = None,
        chunks: int = 1,
    ) -> Response:
        """Return the answer to a request; a body that is no bytes is sent as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"host": "localhost", **({} if kind is None else {"content-type": kind}), **(headers or {})}
        if self.token is not None:
            sent.setdefault("authorization", f"Bearer {self.token}")
        path, _, query = path.partition("?")
        head = [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()]
        more = {"path": path, "raw_path": path.encode(), "query_string": query.encode(), "headers": head}
        return self.loop.run_until_complete(self._ask({**SCOPE, "method": method, **more}, content, chunks))

    async def _ask(self, scope: dict[str, Any], body: bytes, chunks: int) -> Response:
        size = -(-len(body) // chunks) or 1
        parts = [body[i : i + size] for i in range(0, len(body), size)] or [b""]
        last = len(parts) - 1
        messages = [{"type": "http.request", "body": part, "more_body": i < last} for i, part in enumerate(parts)]
        sent: list[Any] = []

        async def receive() -> Any:
            return messages.pop(0) if messages else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        head = {name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return Response(sent[0]["status"], head, b"".join(one.get("body", b"") for one in sent[1:]))
