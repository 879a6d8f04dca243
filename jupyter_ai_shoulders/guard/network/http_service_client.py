"""Calls web services over HTTP: the implementation of ``ServiceClient``.

A request goes to its service's own address only. Where that is the product's default, it must be
public and is resolved once, as for fetched pages; an address that the user or the administrator
gave may be private. Where the environment sets a proxy, the proxy connects, as for models. All
requests only read, so answers with status 200 are kept for a day. Wired by ``host.web_services``.
"""

from __future__ import annotations

import asyncio
import functools
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.request import getproxies, proxy_bypass

import httpx

from jupyter_ai_shoulders.core.clock import Clock, Sleep, SystemClock
from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    TooLarge,
)
from jupyter_ai_shoulders.core.web_services import ServiceId, WebService, web_service
from jupyter_ai_shoulders.guard.network.addresses import is_public
from jupyter_ai_shoulders.guard.network.fetch import (
    FetchGuard,
    FetchLimits,
    FetchResult,
    OutgoingRequest,
    Resolve,
    system_addresses,
)
from jupyter_ai_shoulders.guard.network.reply_cache import ReplyCache
from jupyter_ai_shoulders.guard.network.request_pacing import (
    MOST_WAIT,
    RequestPacing,
    retry_after,
)
from jupyter_ai_shoulders.guard.network.service_client import ServiceReply, ServiceRequest

LIMITS = FetchLimits(size=5 << 20, seconds=20.0)
PRODUCT = "jupyter-ai-shoulders"
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Where a service is; ``configured`` if the user or the administrator said so."""

    base_url: str
    configured: bool = False


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """What a client asks for at each request, since settings may change."""

    address: Callable[[ServiceId], ServiceAddress]
    key: Callable[[str], str | None]
    """Returns the key of a variable; may read files, so it is called in a thread."""
    mailto: Callable[[], str | None] = lambda: None
    """Returns the address for the operators of polite pools."""
    check_allowed: Callable[[ServiceId], None] = lambda _: None
    """Raises ``PolicyRefusal`` where this service may not be called."""


class HttpServiceClient:
    """``ServiceClient`` over HTTP."""

    def __init__(
        self,
        settings: ServiceSettings,
        *,
        resolve: Resolve = system_addresses,
        limits: FetchLimits = LIMITS,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
        proxy: Callable[[str], str | None] | None = None,
    ) -> None:
        """``proxy`` returns the proxy for an address; by default that of the environment."""
        trust = functools.cache(httpx.create_ssl_context)
        self._settings = settings
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._limits = limits
        self._proxy = proxy or environment_proxy
        self._trust: Callable[[], ssl.SSLContext] = trust
        self._public = FetchGuard(resolve, limits=limits, allowed=is_public, trust=trust)
        self._configured = FetchGuard(resolve, limits=limits, allowed=lambda _: True, trust=trust)
        self._cache = ReplyCache(self._clock.monotonic)
        self._pacing: dict[ServiceId, RequestPacing] = {}

    async def send(self, request: ServiceRequest) -> ServiceReply:
        """Return the answer, whatever its status; see ``ServiceClient``."""
        service = web_service(request.service)
        self._settings.check_allowed(service.id)
        address = self._settings.address(service.id)
        if not address.base_url:
            raise InvalidRequest(
                f"The address of {service.title} is not set.",
                hint=f"Give the address of {service.title} in the AI settings, under Web services.",
            )
        cached_as = _cache_key(address.base_url, request)
        cached = None if request.fresh else self._cache.get(cached_as)
        if cached is not None:
            return cached
        url, outgoing = await self._prepare(service, address.base_url, request)
        reply = await self._send_in_turn(service, lambda: self._once(address, url, outgoing))
        if reply.status == HTTPStatus.OK and "library" not in service.kinds:  # a library changes
            self._cache.put(cached_as, reply)
        return reply

    async def _prepare(
        self, service: WebService, base_url: str, request: ServiceRequest
    ) -> tuple[httpx.URL, OutgoingRequest]:
        try:
            url = httpx.URL(base_url + request.path)
        except (httpx.InvalidURL, ValueError) as error:
            raise InvalidRequest(
                f"{base_url} is not an address of {service.title}: {error}.",
                hint="Correct it in the AI settings, under Web services.",
            ) from error
        mailto = self._settings.mailto()
        contact = f" (mailto:{mailto})" if mailto else ""
        headers = {
            "User-Agent": f"{PRODUCT}{contact}",
            "Accept": "application/json",
            **request.headers,
        }
        query = dict(request.params)
        if request.key_in is not None:
            _add_key(request.key_in, await self._key(service), headers, query)
        if query:
            url = url.copy_merge_params(query)
        if request.json is None:
            return url, OutgoingRequest("GET", headers)
        headers["Content-Type"] = "application/json"
        return url, OutgoingRequest("POST", headers, json.dumps(request.json).encode())

    async def _key(self, service: WebService) -> str | None:
        if service.key_variable is None:
            return None
        key = await asyncio.to_thread(self._settings.key, service.key_variable)
        if key is None and service.key_required:
            raise InvalidRequest(
                f"{service.title} needs a key, and none is set.",
                code="no_key",
                hint=f"Set {service.key_variable}, or add the key in the AI settings, under Web "
                "services.",
            )
        return key

    async def _send_in_turn(
        self, service: WebService, once: Callable[[], Awaitable[FetchResult]]
    ) -> ServiceReply:
        """Send at the service's pace; once again after a short pause that it asks for."""
        pacing = self._pacing.get(service.id)
        if pacing is None:
            pacing = RequestPacing(service.min_interval, self._clock.monotonic, self._sleep)
            self._pacing[service.id] = pacing
        fetched = await _paced(service, pacing, once)
        if self._pause(pacing, fetched) and pacing.pause_left <= MOST_WAIT:
            fetched = await _paced(service, pacing, once)
            self._pause(pacing, fetched)
        if fetched.status in {301, 302, 303, 307, 308}:
            _refuse_redirect(service)
        return ServiceReply(fetched.status, fetched.headers, fetched.content)

    def _pause(self, pacing: RequestPacing, fetched: FetchResult) -> bool:
        """Pause where the answer says so; return whether it does."""
        pause = retry_after(fetched.headers, self._clock.now())
        if fetched.status not in _BUSY or pause is None:
            return False
        pacing.pause(pause)
        return True

    async def _once(
        self, address: ServiceAddress, url: httpx.URL, outgoing: OutgoingRequest
    ) -> FetchResult:
        """Send one request, following redirects within the service's origin."""
        fetched = await self._through(address, url, outgoing)
        for _ in range(self._limits.redirects):
            target = _same_origin_target(url, fetched)
            if target is None or outgoing.content is not None:
                break
            url = target
            fetched = await self._through(address, url, outgoing)
        return fetched

    async def _through(
        self, address: ServiceAddress, url: httpx.URL, outgoing: OutgoingRequest
    ) -> FetchResult:
        proxy = self._proxy(str(url))
        if proxy is not None:
            return await self._by_proxy(proxy, url, outgoing)
        guard = self._configured if address.configured else self._public
        return await guard.send(url, outgoing)

    async def _by_proxy(self, proxy: str, url: httpx.URL, outgoing: OutgoingRequest) -> FetchResult:
        """Let a proxy connect; it resolves the name, which is one of ours or the user's."""
        guard = FetchGuard(limits=self._limits, trust=self._trust, proxy=proxy)
        return await guard.send(url, outgoing)


def environment_proxy(url: str) -> str | None:
    """Return the proxy that the environment or the system sets for this address."""
    parsed = httpx.URL(url)
    if proxy_bypass(parsed.host) or parsed.host in {"localhost", "127.0.0.1", "::1"}:
        return None
    proxies = getproxies()
    proxy = proxies.get(parsed.scheme) or proxies.get("all")
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _cache_key(base_url: str, request: ServiceRequest) -> object:
    return (
        request.service,
        base_url,
        request.path,
        tuple(sorted(request.params.items())),
        tuple(sorted(request.headers.items())),
        json.dumps(request.json, sort_keys=True),
    )


def _add_key(where: str, key: str | None, headers: dict[str, str], query: dict[str, str]) -> None:
    if key is None:
        return
    kind, _, name = where.partition(":")
    if kind == "bearer":
        headers["Authorization"] = f"Bearer {key}"
    elif kind == "header":
        headers[name] = key
    else:
        query[name] = key


def _refuse_long_pause(service: WebService, seconds: float) -> None:
    if seconds > MOST_WAIT:
        raise Conflict(
            f"{service.title} takes no more requests for {seconds:.0f} s.",
            code="rate_limited",
            hint="Try again later.",
            retryable=True,
        )


def _same_origin_target(url: httpx.URL, fetched: FetchResult) -> httpx.URL | None:
    location = fetched.headers.get("location")
    if fetched.status not in {301, 302, 303, 307, 308} or location is None:
        return None
    try:
        target = url.join(location)
    except (httpx.InvalidURL, ValueError):
        return None
    same = (target.scheme, target.host, target.port) == (url.scheme, url.host, url.port)
    return target if same and not target.userinfo else None


def _refuse_redirect(service: WebService) -> None:
    """Refuse what leads elsewhere, except for doi.org, whose answers are such addresses."""
    if service.id == "doi":
        return
    raise PolicyRefusal(
        f"{service.title} leads to another address, which is not followed.",
        code="forbidden",
        hint="Check the address of the service in the AI settings, under Web services.",
    )


async def _paced(
    service: WebService, pacing: RequestPacing, once: Callable[[], Awaitable[FetchResult]]
) -> FetchResult:
    _refuse_long_pause(service, pacing.pause_left)
    await pacing.wait_turn()
    return await _translated(service, once())


async def _translated(service: WebService, sent: Awaitable[FetchResult]) -> FetchResult:
    """Return the answer; errors name the service, not the address, which may hold the key."""
    try:
        return await sent
    except TooLarge as error:
        raise TooLarge(
            f"The answer of {service.title} is larger than {LIMITS.size >> 20} MiB.",
            hint="Ask for less.",
        ) from error
    except NotFound as error:
        reason = (error.info.details or {}).get("reason", "")
        raise NotFound(
            f"{service.title} cannot be reached: {reason}.",
            hint="Check the network and the address of the service, or try again later.",
            retryable=True,
        ) from error
    except Conflict as error:
        raise Conflict(
            f"{service.title} did not answer in {LIMITS.seconds:.0f} s.",
            code="timeout",
            hint="Try again later.",
            retryable=True,
        ) from error
    except ShouldersError as error:
        raise PolicyRefusal(
            f"{service.title} was not called: its address is not public or its answer is packed in "
            "an unknown way.",
            code="forbidden",
            hint="Check the address of the service in the AI settings, under Web services.",
        ) from error
