"""What MCP servers may ask of this host; the answers come from a part that is added later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.mcp_client.ports import ServerRequests, ServerRoot

if TYPE_CHECKING:
    import mcp_types


class ServerRequestRouter:
    """``ServerRequests`` that offers the workspace as the root, and passes on the rest."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._handler: ServerRequests | None = None

    def use(self, handler: ServerRequests) -> None:
        """Let a handler answer from now on; connections that are open keep their offer."""
        self._handler = handler

    def allows_sampling(self, server: str) -> bool:
        return self._handler is not None and self._handler.allows_sampling(server)

    def allows_elicitation(self, server: str) -> bool:
        return self._handler is not None and self._handler.allows_elicitation(server)

    async def elicit(
        self, server: str, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        if self._handler is None:
            return _refused("No question can be asked.")
        return await self._handler.elicit(server, params)

    async def sample(
        self, server: str, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        if self._handler is None:
            return _refused("No model can be asked.")
        return await self._handler.sample(server, params)

    def roots(self, server: str) -> Sequence[ServerRoot]:
        if self._handler is not None:
            return self._handler.roots(server)
        return (ServerRoot(self._workspace.as_uri(), self._workspace.name),)


def _refused(message: str) -> mcp_types.ErrorData:
    import mcp_types as types

    return types.ErrorData(code=types.INVALID_REQUEST, message=message)
