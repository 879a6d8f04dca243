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
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TypeVar, cast
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

_UNENCODED = frozenset({"", "identity"})
_ENCODINGS = _UNENCODED | {"gzip", "deflate"}


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
        with contextlib.closing(_Limits(call)) as limits:
            try:
                response = await limits.wait(self._send(call))
            except NETWORK_ERRORS as error:
                raise network_error(error, call, answered=False) from error
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
        size = 0
        source = self._source()
        while True:
            try:
                chunk = await self._limits.wait(anext(source, None))
            except NETWORK_ERRORS as error:
                raise network_error(error, self._call, answered=True) from error
            if chunk is None:
                return
            size += len(chunk)
            if size > MAX_ANSWER:
                raise self._broken(f"the answer is longer than {MAX_ANSWER >> 20} MB")
            if len(chunk) <= SLICE:
                yield chunk
                continue
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

    def _source(self) -> AsyncIterator[bytes]:
        """Return the decoded body; without the layers of httpx for a body that is not encoded."""
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise self._broken(f"the answer has the unknown encoding {encoding!r}")
        if encoding in _UNENCODED:
            return aiter(cast("httpx.AsyncByteStream", self._response.stream))
        return self._response.aiter_bytes()

    def _broken(self, what: str) -> ProviderError:
        return self._call.service.fail("provider_protocol", what, status=self.status)


class _Limits:
    """Limits each wait of a call by its idle timeout and its remaining total time.

    One timer per call, armed again only when it fires: ``asyncio.timeout`` for each chunk takes a
    sixth of the processor time of a stream.
    """

    def __init__(self, call: HttpRequest) -> None:
        self._call = call
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + call.timeouts.total
        self._task: asyncio.Task[object] | None = None
        """The task that waits now."""
        self._deadline = 0.0
        """When the present wait is over."""
        self._timer: asyncio.TimerHandle | None = None
        self._expired = False

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """Await within the limits. Raises ``ProviderError`` (provider_timeout)."""
        task = cast("asyncio.Task[object]", asyncio.current_task())
        cancelling = task.cancelling()
        self._deadline = self._next_deadline()
        if self._timer is None:
            self._timer = self._loop.call_at(self._deadline, self._check)
        self._task = task
        try:
            return await awaitable
        except asyncio.CancelledError as error:
            if self._expired and task.cancelling() - 1 <= cancelling:
                raise self._timeout() from error
            raise
        finally:
            self._task = None
            if self._expired:
                self._expired = False
                task.uncancel()

    def close(self) -> None:
        """Stop the timer; no more waits follow."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _next_deadline(self) -> float:
        return min(self._loop.time() + self._call.timeouts.idle, self._end)

    def _check(self) -> None:
        """End a wait whose time is over; otherwise look again when that can next be."""
        self._timer = None
        if self._task is None:
            self._timer = self._loop.call_at(self._next_deadline(), self._check)
        elif self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._check)
        else:
            self._expired = True
            self._task.cancel()

    def _timeout(self) -> ProviderError:
        what = (
            f"the answer took longer than {self._call.timeouts.total:g} seconds"
            if self._deadline >= self._end
            else f"nothing came for {self._call.timeouts.idle:g} seconds"
        )
        return self._call.service.fail("provider_timeout", what, retryable=True)
