"""HTTP client with bounded waits and bodies, named errors and no cookies.

The only user of aiohttp; loaded by ``http.Upstream`` at the first call. aiohttp without a layer
above it takes a third of the processor time of httpx for a streamed answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TypeVar, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import certifi
import yarl

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.http.loopback import AddressInfo, is_loopback, loopback_socket
from jupyter_ai_shoulders.providers.http.network_errors import NETWORK_ERRORS, network_error
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest, RawResponse, Transport

T = TypeVar("T")

MAX_ANSWER = 64 * 1024 * 1024
"""Decoded bytes of one response; limits compression bombs."""

MAX_BODY = 4 * 1024 * 1024
"""Bytes read of a response that is not a stream."""

SLICE = 64 * 1024
"""Bytes per chunk, so that decompression never stalls the event loop."""

MAX_CONNECTIONS = 512
KEEPALIVE_SECONDS = 30.0

_HEADERS = {"user-agent": "jupyter-ai-shoulders", "accept": "*/*", "accept-encoding": "identity"}
"""No compression: proxies that compress a stream delay it."""

_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})


def open_client(url: str, transport: Transport | None = None) -> HttpClient:
    """Return a client for addresses like ``url``; ``transport`` replaces the network in tests.

    Proxies and certificates come from the environment, but no passwords from ``~/.netrc``. A client
    for a loopback address connects to this machine only, and without a proxy.
    """
    if transport is not None:
        return HttpClient(transport)
    if is_loopback(url):
        return HttpClient(_Network(_tls_for(url), None, loopback_socket))
    proxy = environment_proxy(url)
    return HttpClient(_Network(_tls_for(url, proxy), proxy))


def _tls_for(*urls: str | None) -> ssl.SSLContext:
    """Return the environment's certificates; none where no address uses TLS.

    Reading the certificates takes some 30 ms of CPU.
    """
    if not any(urlsplit(url).scheme == "https" for url in urls if url):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or folder:
        return ssl.create_default_context(cafile=file or None, capath=folder or None)
    return ssl.create_default_context(cafile=certifi.where())


def environment_proxy(url: str) -> str | None:
    """Return the proxy that the environment or the system sets for this address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


class _Network:
    """Sends requests over the network; keeps connections, but no cookies."""

    def __init__(
        self,
        tls: ssl.SSLContext,
        proxy: str | None,
        make_socket: Callable[[AddressInfo], socket.socket] | None = None,
    ) -> None:
        self._tls = tls
        self._proxy = proxy
        self._make_socket = make_socket
        self._session: aiohttp.ClientSession | None = None

    async def send(self, call: HttpRequest) -> RawResponse:
        """Send a request; return the response when its head has arrived."""
        for value in call.headers.values():
            value.encode("ascii")  # aiohttp would send other characters as UTF-8
        connect = call.timeouts.connect
        url = yarl.URL(call.url)
        response = await self._opened().request(
            "GET" if call.body is None else "POST",
            url.with_query(call.query) if call.query else url,
            headers=call.headers,
            data=call.body,
            allow_redirects=False,
            proxy=self._proxy,
            # aiohttp's ``connect`` covers name resolution and waiting for the pool, too
            timeout=aiohttp.ClientTimeout(connect=connect * 2, sock_connect=connect),
        )

        async def close() -> None:
            response.release()
            await response.wait_for_close()

        return RawResponse(response.status, response.headers, response.content.readany, close)

    async def aclose(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                ssl=self._tls,
                limit=MAX_CONNECTIONS,
                keepalive_timeout=KEEPALIVE_SECONDS,
                socket_factory=self._make_socket,
            )
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), auto_decompress=False
            )
        return self._session


class HttpClient:
    """A pool of connections."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @contextlib.asynccontextmanager
    async def send(self, call: HttpRequest) -> AsyncGenerator[HttpResponse]:
        """Send the request; the response body is read inside the context.

        Raises ``ProviderError`` (provider_unreachable, provider_timeout).
        """
        named = replace(call, headers={**_HEADERS, **call.headers})
        with contextlib.closing(_Limits(call)) as limits:
            try:
                response = await limits.wait(self._transport.send(named))
            except NETWORK_ERRORS as error:
                raise network_error(error, call, answered=False) from error
            try:
                yield HttpResponse(response, limits, call)
            finally:
                await response.close()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


class HttpResponse:
    """A response whose head has arrived."""

    def __init__(self, response: RawResponse, limits: _Limits, call: HttpRequest) -> None:
        self.status = response.status
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
        decoder = self._decoder()
        size = 0
        while True:
            try:
                chunk = await self._limits.wait(self._response.read())
            except NETWORK_ERRORS as error:
                raise network_error(error, self._call, answered=True) from error
            if not chunk:
                return
            is_first = True
            for piece in decoder(chunk):
                size += len(piece)
                if size > MAX_ANSWER:
                    raise self._broken(f"the answer is longer than {MAX_ANSWER >> 20} MB")
                if not is_first:
                    await asyncio.sleep(0)
                is_first = False
                yield piece

    async def body(self) -> bytes:
        """Return the decoded body, truncated to ``MAX_BODY``."""
        pieces = bytearray()
        async with contextlib.aclosing(self.chunks()) as chunks:
            async for chunk in chunks:
                pieces += chunk
                if len(pieces) >= MAX_BODY:
                    break
        return bytes(pieces[:MAX_BODY])

    def _decoder(self) -> Callable[[bytes], Iterator[bytes]]:
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise self._broken(f"the answer has the unknown encoding {encoding!r}")
        return self._decompressed() if encoding in {"gzip", "deflate"} else _sliced

    def _decompressed(self) -> Callable[[bytes], Iterator[bytes]]:
        """Return a function that decompresses the chunks of a body, in slices."""
        decompressor = zlib.decompressobj(zlib.MAX_WBITS | 32)  # finds out whether gzip or zlib
        is_first = True

        def decompress(chunk: bytes) -> Iterator[bytes]:
            nonlocal decompressor, is_first
            if is_first and chunk[0] & 0x0F != 8 and chunk[:1] != b"\x1f":
                decompressor = zlib.decompressobj(-zlib.MAX_WBITS)  # "deflate" without a header
            is_first = False
            try:
                while chunk and not decompressor.eof:
                    piece = decompressor.decompress(chunk, SLICE)
                    chunk = decompressor.unconsumed_tail
                    if piece:
                        yield piece
                    if len(piece) < SLICE and not chunk:
                        return
            except zlib.error as error:
                raise self._broken("the compressed answer cannot be decoded") from error

        return decompress

    def _broken(self, what: str) -> ProviderError:
        return self._call.service.fail("provider_protocol", what, status=self.status)


def _sliced(chunk: bytes) -> Iterator[bytes]:
    if len(chunk) <= SLICE:
        yield chunk
        return
    for at in range(0, len(chunk), SLICE):
        yield chunk[at : at + SLICE]


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
