"""Who sends a request to the MCP server; set by ``server.mcp``, read by ``protocol``."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from jupyter_ai_shoulders.wire.api.access_tokens import AccessScope

SCOPE_KEY = "shoulders.identity"
"""Key in the ASGI scope of a request."""


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """The sender of a request, and what it may do."""

    actor: str
    """Identifies the credential, not its secret: sessions are bound to it."""
    name: str | None
    """The token's name; None for the server's own token."""
    scopes: frozenset[AccessScope]
    owner: str | None
    """The owner of its conversations, where users are distinguished."""
    disconnected: asyncio.Event = field(default_factory=asyncio.Event, compare=False)
    """Set when the client closes the request before its answer."""
