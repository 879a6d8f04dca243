"""Fetches public pages: the only network access of tools.

A name is resolved once, all its addresses must be public, and the connection uses one of them, so a
name that resolves differently the second time (DNS rebinding) gains nothing. TLS is checked against
the name. Each redirect is checked like a new URL. Proxies of the environment are ignored, because
they would resolve names themselves. See docs/design/security.md#network-filter.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import httpx

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.guard.network.addresses import (
    Address,
    forbidden_host_reason,
    is_public,
    literal_address,
)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Return the addresses of a host as text. Raises ``OSError``."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WEB_PORTS = frozenset({80, 443})
_UNPRIVILEGED = 1024
"""Lower ports belong to other services, which a crafted URL could address."""
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_MESSAGE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of a fetch: decompressed bytes, seconds in total, redirects."""

    size: int = 5 << 20
    seconds: float = 30.0
    connect_seconds: float = 10.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The response of the URL after redirects; header names in lower case."""

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request beside its address; ``Host`` and ``Accept-Encoding`` are added."""

    method: str = "GET"
    headers: Mapping[str, str] = field(
        default_factory=lambda: {
            "User-Agent": "jupyter-ai-shoulders",
            "Accept": "text/html, text/plain;q=0.9, */*;q=0.5",
        }
    )
    content: bytes | None = None


async def system_addresses(host: str, port: int) -> Sequence[str]:
    """Return the addresses from the system's resolver. Raises ``OSError``."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class FetchGuard:
    """Fetches public pages; ``allowed`` checks each address before connecting."""

    def __init__(
        self,
        resolve: Resolve = system_addresses,
        *,
        limits: FetchLimits | None = None,
        allowed: Callable[[Address], bool] = is_public,
        trust: Callable[[], ssl.SSLContext] = httpx.create_ssl_context,
        proxy: str | None = None,
    ) -> None:
        """``proxy`` connects instead and resolves names; never used for what a model names."""
        self._proxy = proxy
        self._resolve = resolve
        self._limits = limits or FetchLimits()
        self._allowed = allowed
        self._trust = trust

    async def fetch(
        self, url: str, *, check_host: Callable[[str], None] = lambda _: None
    ) -> FetchResult:
        """Get a page. ``check_host`` is called for each host before connecting; it may raise.

        Raises ``InvalidRequest`` (not a web URL), ``PolicyRefusal`` (not public, credentials, an
        unsupported encoding), ``TooLarge``, ``NotFound`` (unreachable), ``Conflict`` (``timeout``).
        """
        return await self._limited(url, self._follow_redirects(url, check_host))

    async def send(self, url: httpx.URL, request: OutgoingRequest) -> FetchResult:
        """Send one request and return its answer; a redirect is an answer without content.

        The URL is the caller's own, so that only the addresses of its name are checked. Raises what
        ``fetch`` raises.
        """
        return await self._limited(str(url), self._send(url, request))

    async def _limited(self, url: str, fetched: Awaitable[FetchResult]) -> FetchResult:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await fetched
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Conflict(
                f"{_short(url)} took more than {self._limits.seconds:.0f} s.",
                code="timeout",
                hint="Try again later, or another page.",
                retryable=True,
            ) from error
        except httpx.HTTPError as error:
            raise _unreachable(url, str(error) or type(error).__name__) from error

    async def _send(self, url: httpx.URL, request: OutgoingRequest) -> FetchResult:
        trust = await asyncio.to_thread(self._trust)
        hosts = [url.host] if self._proxy else await self._addresses(url)
        fetched, _ = await self._fetch_once(url, hosts, trust, request)
        return fetched

    async def _follow_redirects(self, url: str, check_host: Callable[[str], None]) -> FetchResult:
        target = validate_url(url)
        trust = await asyncio.to_thread(self._trust)
        for _ in range(self._limits.redirects + 1):
            check_host(target.raw_host.decode("ascii"))
            addresses = await self._addresses(target)
            fetched, location = await self._fetch_once(target, addresses, trust, OutgoingRequest())
            if location is None:
                return fetched
            target = validate_url(_joined(target, location))
        raise PolicyRefusal(
            f"{_short(url)} redirects more than {self._limits.redirects} times.",
            code="forbidden",
            hint="Fetch the page it should redirect to.",
        )

    async def _addresses(self, target: httpx.URL) -> Sequence[Address]:
        """Return all addresses of the host, each of them allowed."""
        literal = literal_address(target.host.removesuffix("."))
        if literal is not None:
            found = [literal]
        else:
            try:
                texts = await self._resolve(target.raw_host.decode("ascii"), _port(target))
            except OSError as error:
                raise _unreachable(str(target), "its name is not known") from error
            found = [ipaddress.ip_address(text) for text in texts]
        if not found:
            raise _unreachable(str(target), "its name has no address")
        if not all(map(self._allowed, found)):
            raise _refusal(target, "its name leads to an address that is not public")
        return found

    async def _fetch_once(
        self,
        target: httpx.URL,
        hosts: Sequence[Address | str],
        trust: ssl.SSLContext,
        request: OutgoingRequest,
    ) -> tuple[FetchResult, str | None]:
        """Request the page from one of the hosts; return it and the redirect target."""
        async with httpx.AsyncHTTPTransport(
            verify=trust,
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),
            proxy=None if self._proxy is None else httpx.Proxy(self._proxy),
        ) as transport:
            response = await self._connect(
                transport, [self._request(target, str(host), request) for host in hosts]
            )
            try:
                location = response.headers.get("location")
                if response.status_code in _REDIRECTS and location is not None:
                    return _fetched(target, response, b""), location
                content = await self._content(target, response)
                return _fetched(target, response, content), None
            finally:
                await response.aclose()

    async def _connect(
        self, transport: httpx.AsyncHTTPTransport, requests: Sequence[httpx.Request]
    ) -> httpx.Response:
        """Return the response of the first reachable address."""
        failed: httpx.TransportError | None = None
        for request in requests:
            try:
                return await transport.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failed = error
        assert failed is not None, "a name has an address"
        raise failed

    def _request(self, target: httpx.URL, host: str, request: OutgoingRequest) -> httpx.Request:
        """Return a request to a host, in the name of the URL's."""
        seconds = self._limits.seconds
        timeout = httpx.Timeout(seconds, connect=self._limits.connect_seconds)
        return httpx.Request(
            request.method,
            target.copy_with(host=host, fragment=None),
            headers={
                **request.headers,
                "Host": target.netloc.decode("ascii"),
                "Accept-Encoding": "gzip, identity",
            },
            content=request.content,
            extensions={
                "timeout": timeout.as_dict(),
                "sni_hostname": target.raw_host.decode("ascii"),
            },
        )

    async def _content(self, target: httpx.URL, response: httpx.Response) -> bytes:
        """Return the decompressed body. Raises ``TooLarge``."""
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity", "gzip", "x-gzip"}:
            raise _refusal(target, f"it is packed as {_short(encoding)}, which is not unpacked")
        announced = response.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > self._limits.size:
            raise self._too_large(target)
        unpacked = _BodyReader(self._limits.size, packed="gzip" in encoding)
        try:
            async for chunk in response.aiter_raw():
                if not unpacked.add(chunk):
                    raise self._too_large(target)
        except zlib.error as error:
            raise _unreachable(str(target), "its packed text is damaged") from error
        return unpacked.content(target)

    def _too_large(self, target: httpx.URL) -> TooLarge:
        return TooLarge(
            f"{_short(str(target))} is larger than {self._limits.size >> 20} MiB.",
            hint="Fetch a smaller page.",
        )


class _BodyReader:
    """Collects a response body; never holds more than the limit, even when decompressing."""

    def __init__(self, limit: int, *, packed: bool) -> None:
        self._limit = limit
        self._gzip = zlib.decompressobj(16 + zlib.MAX_WBITS) if packed else None
        self._body = bytearray()

    def add(self, chunk: bytes) -> bool:
        """Add a chunk; return whether the body is within the limit. Raises ``zlib.error``."""
        room = self._limit + 1 - len(self._body)
        self._body += chunk[:room] if self._gzip is None else self._gzip.decompress(chunk, room)
        return len(self._body) <= self._limit

    def content(self, target: httpx.URL) -> bytes:
        """Return the whole body. Raises ``NotFound`` when its end is missing."""
        if self._gzip is not None and not self._gzip.eof and self._body:
            raise _unreachable(str(target), "its packed text breaks off")
        return bytes(self._body)


def validate_url(text: str) -> httpx.URL:
    """Return the URL if its text is acceptable.

    Raises ``InvalidRequest`` (not a web URL), ``PolicyRefusal``.
    """
    if _UNSAFE.search(text):
        raise InvalidRequest(
            f"{_short(text)!r} is not a URL: it has spaces, control characters or backslashes.",
            hint="Give the URL as a browser shows it.",
        )
    try:
        url = httpx.URL(text)
        host = url.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        raise InvalidRequest(f"{_short(text)!r} is not a URL: {error}.") from error
    if url.scheme not in {"http", "https"} or not host:
        raise InvalidRequest(
            f"{_short(text)!r} is not a web address.", hint="Give a URL with http:// or https://."
        )
    if url.userinfo or "@" in text.partition("://")[2].split("/", 1)[0].split("?")[0]:
        raise _refusal(url, "it holds a user name or a password")
    problem = forbidden_host_reason(host)
    port = _port(url)
    if problem is None and port not in _WEB_PORTS and not _UNPRIVILEGED <= port <= 65_535:
        problem = f"port {port} is not a web port"
    if problem is not None:
        raise _refusal(url, problem)
    return url


def _port(url: httpx.URL) -> int:
    return url.port if url.port is not None else {"http": 80, "https": 443}[url.scheme]


def _joined(target: httpx.URL, location: str) -> str:
    try:
        return str(target.join(location))
    except (httpx.InvalidURL, ValueError) as error:
        raise InvalidRequest(
            f"{target.host} redirects to {_short(location)!r}, which is not a URL."
        ) from error


def _fetched(target: httpx.URL, response: httpx.Response, content: bytes) -> FetchResult:
    return FetchResult(str(target), response.status_code, dict(response.headers), content)


def _refusal(url: httpx.URL, problem: str) -> PolicyRefusal:
    origin = f"{url.scheme}://{url.host}"  # the rest may contain a password
    return PolicyRefusal(
        f"{_short(origin)} is not fetched: {problem}.",
        code="forbidden",
        hint="Only public pages are fetched; ask the user for the text.",
    )


def _unreachable(url: str, reason: str) -> ShouldersError:
    return NotFound(
        f"{_short(url)} could not be fetched: {_short(reason)}.",
        hint="Check the address, or try again later.",
        retryable=True,
        reason=_short(reason),
    )


def _short(text: str) -> str:
    return text if len(text) <= _MESSAGE_LENGTH else f"{text[:_MESSAGE_LENGTH]}…"
