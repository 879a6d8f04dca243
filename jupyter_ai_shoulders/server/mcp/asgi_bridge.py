"""Serves one tornado request with an ASGI application.

Used by ``server.mcp.handlers``. The body is read already, and bounded; answers are flushed piece by
piece, so that events arrive when they happen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

from tornado.http1connection import HTTP1Connection
from tornado.iostream import StreamClosedError
from tornado.web import RequestHandler

from jupyter_ai_shoulders.server.handlers.stream_writer import EVENT_STREAM, STREAM_HEADERS

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

HIDDEN_HEADERS = frozenset({"authorization", "cookie"})
"""Headers with secrets, which the application does not need."""
_TORNADOS = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})
"""Headers that tornado sets itself."""


class AsgiExchange:
    """One request and its answer."""

    def __init__(self, handler: RequestHandler, disconnected: asyncio.Event) -> None:
        """``disconnected`` is set when the client leaves."""
        self._handler = handler
        self._disconnected = disconnected
        self._received = False

    async def run(self, app: AsgiApp, state: MutableMapping[str, Any]) -> None:
        """Serve the request; ``state`` is added to the application's scope."""
        await app({**_scope(self._handler), **state}, self._receive, self._send)

    async def _receive(self) -> Message:
        if not self._received:
            self._received = True
            body = self._handler.request.body
            return {"type": "http.request", "body": body, "more_body": False}
        await self._disconnected.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self._disconnected.is_set():
            return
        if message["type"] == "http.response.start":
            self._start(message)
            return
        body = cast("bytes", message.get("body", b""))
        if body:
            self._handler.write(body)
        try:
            if message.get("more_body", False):
                await self._handler.flush()
            else:
                await self._handler.finish()
        except StreamClosedError:
            self._disconnected.set()  # many clients leave as soon as they have their result

    def _start(self, message: Message) -> None:
        handler = self._handler
        handler.set_status(message["status"])
        for raw_name, raw_value in cast("list[tuple[bytes, bytes]]", message.get("headers", [])):
            name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
            if name.lower() not in _TORNADOS:
                handler.set_header(name, value)
            if name.lower() == "content-type" and value.startswith(EVENT_STREAM):
                self._prepare_stream()

    def _prepare_stream(self) -> None:
        for name, value in STREAM_HEADERS.items():
            self._handler.set_header(name, value)
        connection = cast("HTTP1Connection", self._handler.request.connection)
        if connection.stream is not None:
            connection.stream.set_nodelay(True)  # else small writes wait 40 ms


def _scope(handler: RequestHandler) -> MutableMapping[str, Any]:
    request = handler.request
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.protocol,
        "path": request.path,
        "raw_path": request.path.encode("latin-1", "replace"),
        "query_string": b"",
        "root_path": "",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in request.headers.get_all()
            if name.lower() not in HIDDEN_HEADERS
        ],
        "client": None,
        "server": None,
    }
