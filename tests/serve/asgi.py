"""Requests to an application in this process, as a server would pass them on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JSON = "application/json"


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

    def close(self) -> None:
        """End the application: what waits is learned."""
        self.app.state.service.close()
        self.loop.close()

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
        return self.loop.run_until_complete(self._ask(method, path, content, kind, dict(headers or {}), chunks))

    async def _ask(
        self, method: str, path: str, body: bytes, kind: str | None, headers: dict[str, str], chunks: int
    ) -> Response:
        path, _, query = path.partition("?")
        sent = {"host": "localhost", **({} if kind is None else {"content-type": kind}), **headers}
        if self.token is not None:
            sent.setdefault("authorization", f"Bearer {self.token}")
        size = -(-len(body) // chunks) or 1
        parts = [body[i : i + size] for i in range(0, len(body), size)] or [b""]
        messages = [
            {"type": "http.request", "body": part, "more_body": i + 1 < len(parts)} for i, part in enumerate(parts)
        ]
        found: dict[str, Any] = {"body": b""}

        async def receive() -> Any:
            return messages.pop(0) if messages else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                found["status"], found["headers"] = message["status"], message["headers"]
            else:
                found["body"] += message.get("body", b"")

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        await self.app(scope, receive, send)
        head = {name.decode(): value.decode("latin-1") for name, value in found["headers"]}
        return Response(found["status"], head, found["body"])
