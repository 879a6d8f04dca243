"""An HTTP transport that reaches one configured origin, and otherwise only public addresses.

For the servers of others that the user configured (MCP): the address of the entry may be private,
but what the server names (where to sign in) must be public, unless the entry itself is on this
machine. Names are resolved once, so a second answer of a name server changes nothing. Used by
``mcp_client.http_transport``; imports ``httpx2``, which comes with the extra ``mcp``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator

import httpx2

from jupyter_ai_shoulders.guard.network.addresses import is_public, literal_address
from jupyter_ai_shoulders.guard.network.fetch import Resolve, system_addresses

MAX_BODY = 16 * 2**20
"""Bytes of a response that is not a stream of events."""


class ForbiddenAddress(httpx2.TransportError):
    """The request would go to an address that is not public."""


class BodyTooLarge(httpx2.TransportError):
    """A response is larger than ``MAX_BODY``."""


class OriginTransport(httpx2.AsyncBaseTransport):
    """Sends requests to the origin of ``url``, and to public addresses."""

    def __init__(
        self,
        url: str,
        inner: httpx2.AsyncBaseTransport | None = None,
        resolve: Resolve = system_addresses,
    ) -> None:
        self._own = _origin(httpx2.URL(url))
        self._resolve = resolve
        self._inner = inner or httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises ``ForbiddenAddress`` and httpx2's errors."""
        if _origin(request.url) != self._own:
            request = await self._pinned(request)
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "text/event-stream":
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _LimitedStream(response.stream)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _pinned(self, request: httpx2.Request) -> httpx2.Request:
        """Return the request to an address of its host that was checked."""
        url = request.url
        if url.scheme not in {"http", "https"} or url.userinfo:
            raise ForbiddenAddress(f"{url.scheme}://{url.host} may not be called.")
        addresses = await self._addresses(url)
        if _is_loopback(self._own[1]) and all(address.is_loopback for address in addresses):
            return request
        if url.scheme != "https" or not all(map(is_public, addresses)):
            raise ForbiddenAddress(
                f"The server refers to {url.host}, which is not a public address with https."
            )
        return httpx2.Request(
            request.method,
            url.copy_with(host=str(addresses[0])),
            headers=request.headers,  # they name the host
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": url.host},
        )

    async def _addresses(
        self, url: httpx2.URL
    ) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
        literal = literal_address(url.host.removesuffix("."))
        if literal is not None:
            return [literal]
        try:
            found = await self._resolve(url.host, url.port or 443)
        except OSError as error:
            raise httpx2.ConnectError(f"The name {url.host} is not known.") from error
        if not found:
            raise httpx2.ConnectError(f"The name {url.host} has no address.")
        return [ipaddress.ip_address(text) for text in found]


class _LimitedStream(httpx2.AsyncByteStream):
    """Bytes of a response, up to ``MAX_BODY``."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._inner:
            count += len(piece)
            if count > MAX_BODY:
                raise BodyTooLarge(f"The answer is larger than {MAX_BODY >> 20} MB.")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _is_loopback(host: str) -> bool:
    address = literal_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)
