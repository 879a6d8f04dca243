"""HTTP client with bounded waits and bodies, named errors and no cookies.

The only user of httpx and aiohttp; loaded by ``http.Upstream`` at the first call. The transport is
httpx-aiohttp, which needs half the CPU of httpx's own for streams; it is built here because the
stock one stores cookies.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.loopback import AddressInfo, is_loopback, loopback_socket
from jupyter_ai_shoulders.providers.http.network_errors import NETWORK_ERRORS, network_error
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest

T = TypeVar("T")

MAX_ANSWER = 64 * 1024 * 1024
"""Decoded bytes of one response; limits compression bombs."""

MAX_BODY = 4 * 1024 * 1024
"""Bytes read of a response that is not a stream."""

SLICE = 64 * 1024
"""Bytes per chunk, so that decompression never stalls the event loop."""

MAX_CONNECTIONS = 512
KEEPALIVE_SECONDS = 30.0

_HEADERS = {"user-agent": "jupyter-ai-shoulders", "accept-encoding": "identity"}
"""No compression: proxies that compress a stream delay it."""

_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})


class _Transport(AiohttpTransport):
    """A transport without cookies."""

    socket_factory: Callable[[AddressInfo], socket.socket] | None = None

    def get_client(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            ssl=self.ssl_context,
            limit=MAX_CONNECTIONS,
            keepalive_timeout=KEEPALIVE_SECONDS,
            socket_factory=self.socket_factory,
        )
        return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


class _LoopbackTransport(_Transport):
    """A transport for this machine only; checks the address after name resolution."""

    socket_factory = staticmethod(loopback_socket)


def open_client(url: str, transport: httpx.AsyncBaseTransport | None = None) -> HttpClient:
    """Return a client for addresses like ``url``; ``transport`` replaces the network in tests.

    Proxies and certificates come from the environment, but no passwords from ``~/.netrc``. A client
    for a loopback address connects to this machine only, and without a proxy.
    """
    if transport is None and is_loopback(url):
        transport = _LoopbackTransport(verify=_tls_for(url))
    elif transport is None:
        proxy = environment_proxy(url)
        transport = _Transport(
            verify=_tls_for(url, proxy), proxy=None if proxy is None else httpx.Proxy(proxy)
        )
    refuse_all = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    return HttpClient(httpx.AsyncClient(transport=transport, cookies=refuse_all, trust_env=False))


def _tls_for(*urls: str | None) -> ssl.SSLContext | bool:
    """Return the environment's certificates; none where no address uses TLS.

    Reading the certificates takes some 30 ms of CPU.
    """
    if any(urlsplit(url).scheme == "https" for url in urls if url):
        return True
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def environment_proxy(url: str) -> str | None:
    """Return the proxy that the environment or the system sets for this address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


class HttpClient:
    """A pool of connections."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        """Take over ``client``."""
        self._client = client

    @contextlib.asynccontextmanager
    async def send(self, call: HttpRequest) -> AsyncGenerator[HttpResponse]:
        """Send the request; the response body is read inside the context.

        Raises ``ProviderError`` (provider_unreachable, provider_timeout).
        """
        limits = _Limits(call)
        with _named(call, answered=False):
            response = await limits.wait(self._send(call))
        try:
            yield HttpResponse(response, limits, call)
        finally:
            await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _send(self, call: HttpRequest) -> httpx.Response:
        connect = call.timeouts.connect
        request = self._client.build_request(
            "GET" if call.body is None else "POST",
            call.url,
            params=dict(call.query) or None,
            headers={**_HEADERS, **call.headers},
            content=call.body,
            # httpx's pool timeout covers name resolution and connection together
            timeout=httpx.Timeout(None, connect=connect, pool=connect * 2),
        )
        return await self._client.send(request, stream=True)


class HttpResponse:
    """A response whose head has arrived."""

    def __init__(self, response: httpx.Response, limits: _Limits, call: HttpRequest) -> None:
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self._response = response
        self._limits = limits
        self._call = call

    @property
    def content_type(self) -> str:
        """The media type without parameters, in lower case; empty when none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def chunks(self) -> AsyncGenerator[bytes]:
        """Yield the decoded body as it arrives.

        Raises ``ProviderError`` when it stalls, breaks off, is too long or cannot be decoded.
        """
        self._check_encoding()
        size = 0
        source = self._response.aiter_bytes()
        while True:
            with _named(self._call, answered=True):
                chunk = await self._limits.wait(anext(source, None))
            if chunk is None:
                return
            size += len(chunk)
            if size > MAX_ANSWER:
                raise self._broken(f"the answer is longer than {MAX_ANSWER >> 20} MB")
            for at in range(0, len(chunk), SLICE):
                if at:
                    await asyncio.sleep(0)
                yield chunk[at : at + SLICE]

    async def body(self) -> bytes:
        """Return the decoded body, truncated to ``MAX_BODY``."""
        pieces = bytearray()
        async with contextlib.aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                pieces += chunk
                if len(pieces) >= MAX_BODY:
                    break
        return bytes(pieces[:MAX_BODY])

    def _check_encoding(self) -> None:
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise self._broken(f"the answer has the unknown encoding {encoding!r}")

    def _broken(self, what: str) -> ProviderError:
        return self._call.service.fail("provider_protocol", what, status=self.status)


class _Limits:
    """Limits each wait of a call by its idle timeout and its remaining total time."""

    def __init__(self, call: HttpRequest) -> None:
        self._call = call
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + call.timeouts.total

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """Await within the limits. Raises ``ProviderError`` (provider_timeout)."""
        left = self._end - self._loop.time()
        idle = self._call.timeouts.idle
        try:
            async with asyncio.timeout(min(idle, left)):
                return await awaitable
        except TimeoutError as error:
            what = (
                f"the answer took longer than {self._call.timeouts.total:g} seconds"
                if left <= idle
                else f"nothing came for {idle:g} seconds"
            )
            raise self._call.service.fail("provider_timeout", what, retryable=True) from error


@contextlib.contextmanager
def _named(call: HttpRequest, *, answered: bool) -> Generator[None]:
    """Turn errors of httpx and aiohttp into a ``ProviderError``."""
    try:
        yield
    except NETWORK_ERRORS as error:
        raise network_error(error, call, answered=answered) from error
