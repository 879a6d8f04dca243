"""Slows down a service that sends events without end, or closes its stream again and again.

Refuses messages of so many parts that they would take a hundred times their size.

The SDK reads comments of a stream as fast as they come, and opens a stream again as soon as the
service says. Used by ``mcp_client.http_transport``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2

from jupyter_ai_shoulders.guard.network.origin_transport import BodyTooLarge
from jupyter_ai_shoulders.mcp_client.connection_events import MAX_PARTS

BURST_BYTES = 32 * 2**20
"""Of one stream, read as fast as they come."""
BYTES_PER_SECOND = 2**20
BURST_STREAMS = 5
STREAM_SECONDS = 1.0
"""Time for each further stream."""
_TOO_MANY = f"The answer has more than {MAX_PARTS:,} lists and objects."


class PacedTransport(httpx2.AsyncBaseTransport):
    """Another transport, with pauses."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner
        self._due = 0.0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; a stream of events that is opened too often waits."""
        if request.method == "GET" and "text/event-stream" in request.headers.get("accept", ""):
            await self._wait()
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "").strip().lower()
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        if kind.startswith("text/event-stream"):
            response.stream = _PacedStream(response.stream)
        else:
            response.stream = _CountedStream(response.stream)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _wait(self) -> None:
        now = asyncio.get_running_loop().time()
        self._due = max(self._due, now) + STREAM_SECONDS
        await asyncio.sleep(max(0.0, self._due - now - BURST_STREAMS * STREAM_SECONDS))


class _CountedStream(httpx2.AsyncByteStream):
    """Bytes of a response that is JSON of not too many parts."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        parts = 0
        async for piece in self._inner:
            parts += _parts(piece)
            if parts > MAX_PARTS:
                raise BodyTooLarge(_TOO_MANY)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


class _PacedStream(httpx2.AsyncByteStream):
    """Bytes of a stream of events, slower after many; no event has too many parts."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        due, parts = loop.time(), 0
        async for piece in self._inner:
            _, blank_line, begun = piece.replace(b"\r", b"").rpartition(b"\n\n")
            parts = _parts(begun) + (0 if blank_line else parts)
            if parts > MAX_PARTS:
                raise httpx2.SSEError(_TOO_MANY)
            yield piece
            now = loop.time()
            due = max(due, now) + len(piece) / BYTES_PER_SECOND
            await asyncio.sleep(max(0.0, due - now - BURST_BYTES / BYTES_PER_SECOND))

    async def aclose(self) -> None:
        await self._inner.aclose()


def _parts(piece: bytes) -> int:
    return piece.count(b"[") + piece.count(b"{")
