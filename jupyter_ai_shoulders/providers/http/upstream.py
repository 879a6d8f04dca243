"""The connections to one provider, opened at the first call.

One ``Upstream`` per configured provider. Importing aiohttp and ``client`` takes a tenth of a
second, so that happens in a thread at the first call, neither at start nor on the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from jupyter_ai_shoulders.providers.http.error_mapping import CalledService

if TYPE_CHECKING:
    from jupyter_ai_shoulders.providers.http.client import HttpClient, HttpResponse


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: to connect, without a byte, and for a whole call."""

    connect: float = 5.0
    idle: float = 120.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; ``body`` is JSON to post, None makes it a GET."""

    url: str
    service: CalledService
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    timeouts: Timeouts = Timeouts()


@dataclass(frozen=True, slots=True)
class RawResponse:
    """A response whose head has arrived; ``read`` returns the next bytes of the body, none at its
    end.
    """

    status: int
    headers: Mapping[str, str]
    read: Callable[[], Awaitable[bytes]]
    close: Callable[[], Awaitable[None]]


class Transport(Protocol):
    """Sends requests: over the network, or in tests to a function."""

    async def send(self, call: HttpRequest) -> RawResponse:
        """Send a request; return the response when its head has arrived."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


class Upstream:
    """A pool of connections to one host; safe for concurrent calls on one event loop."""

    def __init__(self, transport: Transport | None = None) -> None:
        """``transport`` replaces the network in tests."""
        self._transport = transport
        self._client: HttpClient | None = None
        self._opening = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def send(self, call: HttpRequest) -> AsyncGenerator[HttpResponse]:
        """Send the request; the response body is read inside the context.

        Raises ``ProviderError`` (provider_unreachable, provider_timeout).
        """
        client = self._client or await self._open(call.url)
        async with client.send(call) as answer:
            yield answer

    async def aclose(self) -> None:
        """Close all connections; a later call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _open(self, url: str) -> HttpClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_load, url, self._transport)
            return self._client


def _load(url: str, transport: Transport | None) -> HttpClient:
    from jupyter_ai_shoulders.providers.http.client import open_client

    return open_client(url, transport)
