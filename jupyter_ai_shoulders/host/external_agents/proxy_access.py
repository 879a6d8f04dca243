"""Secrets by which agents in the panel reach our model proxy, one for each running agent.

Made by ``ProtocolServices``; issued by ``agent_models`` to agents whose entry has ``proxy``,
checked by ``server.proxy``. What is called with one is booked to the agent's conversation. Kept in
memory only, and revoked when the agent ends.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

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


def proxy_variables(url: str, secret: str) -> dict[str, str]:
    """Return the variables that point the SDKs of three vendors at the proxy; ``url`` ends in /."""
    root = url.rstrip("/")
    return {
        "ANTHROPIC_BASE_URL": root,
        "ANTHROPIC_API_KEY": secret,
        "OPENAI_BASE_URL": f"{root}/v1",
        "OPENAI_API_KEY": secret,
        "CODEX_API_KEY": secret,
        "GOOGLE_GEMINI_BASE_URL": root,
        "GEMINI_API_KEY": secret,
    }


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
