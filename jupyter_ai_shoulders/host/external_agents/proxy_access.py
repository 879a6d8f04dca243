"""Secrets by which agents in the panel reach our model proxy, one for each running agent.

Made by ``ProtocolServices``; issued by ``agent_models`` to agents whose entry has ``proxy``,
checked by ``server.proxy``. What is called with one is booked to the agent's conversation. Kept in
memory only, and revoked when the agent ends.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.wire.ids import SessionId

PREFIX = "shoulders-agent."
RANDOM_BYTES = 32


@dataclass(frozen=True, slots=True)
class ProxyGrant:
    """Who calls with a secret."""

    session_id: SessionId
    owner: str | None


class ProxyAccess:
    """The secrets of the running agents."""

    def __init__(self) -> None:
        self._grants: dict[str, ProxyGrant] = {}

    def issue(self, session_id: SessionId, owner: str | None) -> str:
        """Return a new secret for the agent of a conversation."""
        secret = f"{PREFIX}{secrets.token_urlsafe(RANDOM_BYTES)}"
        self._grants[_hash(secret)] = ProxyGrant(session_id, owner)
        return secret

    def find(self, secret: str) -> ProxyGrant | None:
        """Return who calls; None if the secret is unknown or its agent has ended."""
        return self._grants.get(_hash(secret))

    def revoke(self, secret: str) -> None:
        """Refuse the secret from now on."""
        self._grants.pop(_hash(secret), None)


@dataclass(frozen=True, slots=True)
class ModelProxy:
    """Points agents at our model proxy."""

    access: ProxyAccess
    url: Callable[[], str | None]
    """Returns its address on this machine, which ends in /; None where there is none."""

    def open(self, title: str, session_id: SessionId, owner: str | None) -> ProxyKey:
        """Make a secret for an agent. Raises ``ProviderError`` (there is no proxy)."""
        url = self.url()
        if url is None:
            raise ProviderError(
                f"{title} is to use the model proxy, which this server does not have.",
                code="disabled",
                hint="Remove `proxy` from its entry in acp_agents.",
                provider="acp",
            )
        return ProxyKey(self.access.issue(session_id, owner), url.rstrip("/"))


@dataclass(frozen=True, slots=True)
class ProxyKey:
    """The secret of one agent and the address that it opens."""

    secret: str
    url: str

    def variables(self) -> dict[str, str]:
        """Return the variables that point the SDKs of three vendors at the proxy."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": self.secret,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": self.secret,
            "CODEX_API_KEY": self.secret,
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": self.secret,
        }


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
