"""Writes a stream to its client: batches data that arrives together, and bounds unsent data.

Bypasses ``RequestHandler.flush``, which costs as much per token as everything else together; see
docs/design/performance.md. Used by ``handlers``.
"""

from __future__ import annotations

import asyncio
from asyncio import Future
from typing import cast

from tornado.http1connection import HTTP1Connection
from tornado.iostream import StreamClosedError
from tornado.web import RequestHandler

EVENT_STREAM = "text/event-stream"
MAX_UNSENT = 1 << 20
"""Bytes queued for a slow client before reading from the provider pauses."""
STALLED_SECONDS = 60.0
"""A client that reads nothing for this long is disconnected; its provider call ends too."""


class StreamWriter:
    """The body of one streamed answer."""

    stalled_seconds = STALLED_SECONDS

    def __init__(self, handler: RequestHandler, content_type: str = EVENT_STREAM) -> None:
        self._handler = handler
        self._content_type = content_type
        self._connection = cast("HTTP1Connection", handler.request.connection)
        self._loop = asyncio.get_running_loop()
        self._pending: list[bytes] = []
        self._size = 0
        self._scheduled = False
        self._writing: Future[None] | None = None
        self._written = asyncio.Event()
        self.last = self._loop.time()

    @property
    def has_started(self) -> bool:
        """Whether anything was pushed."""
        return self._scheduled or self._writing is not None

    def push(self, data: bytes) -> None:
        """Send the data together with other data of this turn of the event loop."""
        self._pending.append(data)
        self._size += len(data)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    async def wait_for_capacity(self) -> None:
        """Wait until the client has read enough."""
        while self._size > MAX_UNSENT:
            await self._progress()

    async def drain(self) -> None:
        """Wait until everything is written."""
        while self._size or (self._writing is not None and not self._writing.done()):
            await self._progress()

    async def _progress(self) -> None:
        """Wait until the client has read the written data; disconnect a stalled client."""
        self._written.clear()
        try:
            async with asyncio.timeout(self.stalled_seconds):
                await self._written.wait()
        except TimeoutError as error:
            if self._connection.stream is not None:
                self._connection.stream.close()
            raise StreamClosedError from error

    def _flush(self) -> None:
        self._scheduled = False
        if self._writing is not None and not self._writing.done():
            return  # its completion calls us again
        data = b"".join(self._pending)
        self._pending.clear()
        self._size = 0
        if data:
            self._writing = self._write(data)
            self._writing.add_done_callback(self._after)
        self._written.set()

    def _after(self, _: Future[None]) -> None:
        self._written.set()
        if self._pending:
            self._flush()

    def _write(self, data: bytes) -> Future[None]:
        self.last = self._loop.time()
        if self._writing is not None:
            return self._connection.write(data)
        if self._connection.stream is not None:
            self._connection.stream.set_nodelay(True)  # else small writes wait 40 ms
        self._handler.set_header("Content-Type", f"{self._content_type}; charset=utf-8")
        for name, value in STREAM_HEADERS.items():
            self._handler.set_header(name, value)
        self._handler.write(data)
        return self._handler.flush()


STREAM_HEADERS = {
    "Content-Encoding": "identity",  # keeps a compressing server from holding events back
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}
