"""Sends signed JSON to the address that the person or the administrator gave for webhooks.

Used by ``host.automation.notifications``. The address is not a model's, so it may be on a private
network; addresses of the link and of cloud metadata are refused all the same. No redirect is
followed. See docs/design/watchers.md#webhook.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import ipaddress
import ssl
from collections.abc import Callable

import httpx

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.network.addresses import Address
from jupyter_ai_shoulders.guard.network.fetch import (
    FetchGuard,
    FetchLimits,
    OutgoingRequest,
    Resolve,
    system_addresses,
)

SIGNATURE_HEADER = "X-Shoulders-Signature"
EVENT_HEADER = "X-Shoulders-Event"
LIMITS = FetchLimits(size=64 << 10, seconds=10.0, connect_seconds=5.0)
_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in ("100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254")
)


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """Return the signature: ``t=<seconds since 1970>,v1=<hex HMAC-SHA256 of "t.body">``."""
    signed = b"%d.%s" % (timestamp, body)
    digest = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"


class SignedPosts:
    """Posts to one kind of receiver."""

    def __init__(
        self, *, resolve: Resolve = system_addresses, limits: FetchLimits = LIMITS
    ) -> None:
        trust: Callable[[], ssl.SSLContext] = functools.cache(httpx.create_ssl_context)
        self._guard = FetchGuard(resolve, limits=limits, allowed=_may_receive, trust=trust)

    async def send(
        self, url: str, body: bytes, *, secret: str, event_id: str, timestamp: int
    ) -> int:
        """Post a body and return the status. Raises what ``FetchGuard.send`` raises."""
        try:
            target = httpx.URL(url)
        except (httpx.InvalidURL, ValueError) as error:
            raise InvalidRequest("The address of the webhook is not a URL.") from error
        headers = {
            "User-Agent": "jupyter-ai-shoulders",
            "Content-Type": "application/json",
            EVENT_HEADER: event_id,
            SIGNATURE_HEADER: sign(secret, timestamp, body),
        }
        reply = await self._guard.send(target, OutgoingRequest("POST", headers, body))
        return reply.status


def _may_receive(address: Address) -> bool:
    mapped = getattr(address, "ipv4_mapped", None) or address
    return not (
        mapped.is_link_local or mapped.is_multicast or mapped.is_unspecified or mapped in _METADATA
    )
