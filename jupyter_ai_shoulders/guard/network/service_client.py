"""Calls of the web services that tools use, at the addresses that the settings give them.

``FetchGuard`` fetches what a model names and must therefore refuse private addresses. The services
here are named by the product or the user, so their address may be private; but a request never
leaves the service's own origin: redirects elsewhere are refused. Used by ``web`` and
``references``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from jupyter_ai_shoulders.core.web_services import ServiceId
from jupyter_ai_shoulders.wire.base import Json


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """A request; ``path`` begins with a slash and is already quoted."""

    service: ServiceId
    path: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    json: Json = None
    """The body of a POST; None is a GET."""
    fresh: bool = False
    """Whether a stored answer is not good enough, as for a test of the service."""
    key_in: str | None = None
    """Where the service's key goes: ``header:x-api-key``, ``bearer``, ``query:api_key``."""


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """The answer of a service; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class ServiceClient(Protocol):
    """The port that ``web`` and ``references`` call services through.

    Keeps each service's rate limit, size and time limits, and answers of the last day.
    """

    async def send(self, request: ServiceRequest) -> ServiceReply:
        """Return the answer, whatever its status. A redirect of doi.org is returned, not followed.

        Raises ``InvalidRequest`` (no address or ``no_key``, with what to do), ``NotFound``
        (unreachable, retryable), ``Conflict`` (``timeout``, ``rate_limited``), ``TooLarge``,
        ``PolicyRefusal`` (external tools are switched off, a redirect to another origin).
        """
        ...
