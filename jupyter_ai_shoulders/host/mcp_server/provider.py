"""A client of the MCP server as a model: it "answers" with the calls that the client makes.

Resolved by ``host.mcp_server.clients``; the engine streams from it like from any model.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable

from jupyter_ai_shoulders.host.mcp_server.conversation import ClientConversation
from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    ProviderEvent,
    Stop,
    ToolCallReady,
    UsageReport,
)
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.usage import TokenUsage


class ClientProvider:
    """The calls of all connected clients, by session; implements ``Provider``."""

    def __init__(self, find: Callable[[SessionId], ClientConversation | None]) -> None:
        """``find`` returns the conversation of a connected client."""
        self._find = find

    async def stream(self, request: ModelRequest) -> AsyncIterator[ProviderEvent]:
        """Yield the client's next calls; end the turn when there are none for a while."""
        yield UsageReport(TokenUsage())
        session_id = request.account.session_id if request.account else None
        conversation = self._find(SessionId(session_id)) if session_id else None
        calls = await conversation.take() if conversation is not None else None
        for call in calls or ():
            raw = json.dumps(call.arguments, ensure_ascii=False)
            yield ToolCallReady(call.call_id, call.tool, call.arguments, raw)
        yield Stop("end_turn" if calls is None else "tool_use")

    async def list_models(self) -> list[ListedModel]:
        """Return none: clients connect by themselves."""
        return []

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return 0: nothing is sent to a model."""
        del request
        return 0

    async def aclose(self) -> None:
        """Do nothing: the conversations are closed by ``McpClients``."""
