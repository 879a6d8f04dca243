"""Our MCP server as the agents in the panel reach it, each with a token of its own.

Used by ``agent_models``. The token is made when the agent starts, kept in memory only and revoked
when it ends. What the agent does with our notebook tools is a conversation of its own, with its
name in the audit.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from jupyter_ai_shoulders.acp_client.values import McpEndpoint
from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.host.mcp_server.access_tokens import AccessTokens
from jupyter_ai_shoulders.wire.api.access_tokens import PostAccessToken

SERVER_NAME = "jupyter"


@dataclass(frozen=True, slots=True)
class NotebookServerAccess:
    """An agent's way to the server; ``token_id`` is revoked with the agent."""

    endpoint: McpEndpoint
    token_id: str


@dataclass(frozen=True, slots=True)
class NotebookServer:
    """Opens and closes the server for agents."""

    tokens: AccessTokens
    url: Callable[[], str | None]
    """Returns its address on this machine; None where there is none."""

    def open(self, title: str, owner: str | None) -> NotebookServerAccess | None:
        """Make a token for an agent; None where there is no server for it."""
        url = self.url()
        if url is None:
            return None
        command = PostAccessToken(
            name=f"{title[:40]} {secrets.token_hex(4)}", scopes=("read", "edit", "run")
        )
        made = self.tokens.create_temporary(command, owner or "")
        headers = {"Authorization": f"Bearer {made.secret}"}
        return NotebookServerAccess(McpEndpoint(SERVER_NAME, url, headers), made.token.id)

    async def close(self, access: NotebookServerAccess) -> None:
        """Revoke the agent's token."""
        with suppress(NotFound, StateUnavailable):
            await self.tokens.revoke(access.token_id, None)
