"""Messages to and from an MCP server over HTTP: streamable HTTP, and the older SSE.

The SDK follows redirects within the server's origin only; ``guard.network.origin_transport`` checks
every other address. Loads the SDK. Used by ``mcp_client.connection`` and
``mcp_client.authorization``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from jupyter_ai_shoulders.guard.network.origin_transport import MAX_BODY, OriginTransport
from jupyter_ai_shoulders.mcp_client.paced_transport import PacedTransport
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry

CONNECT_SECONDS = 15.0
READ_SECONDS = 300.0
"""Silence of a stream of events after which it is opened again."""


async def http_client(
    url: str, headers: Mapping[str, str], auth: httpx2.Auth | None
) -> httpx2.AsyncClient:
    """Return a client for one server; the caller closes it."""
    transport = await asyncio.to_thread(OriginTransport, url)  # loads certificates
    return httpx2.AsyncClient(
        headers=dict(headers),
        auth=auth,
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
        transport=PacedTransport(transport),
        trust_env=False,
    )


@asynccontextmanager
async def http_transport(entry: ServerEntry, auth: httpx2.Auth | None) -> AsyncGenerator[Any]:
    """Yield the streams of a server whose values are filled in."""
    client = await http_client(entry.url, dict(entry.headers), auth)
    if entry.transport == "sse":

        def same_client(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            del headers, timeout, auth
            return client

        streams: Any = sse_client(entry.url, httpx_client_factory=same_client)
        async with streams as opened:
            yield opened
        return
    async with (
        client,
        streamable_http_client(
            entry.url, http_client=client, max_sse_event_size=MAX_BODY
        ) as opened,
    ):
        yield opened
