"""What a server asks of and tells its client. Loads the SDK; used by ``mcp_client.connection``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import mcp_types
from mcp.client import ClientRequestContext, IncomingMessage

from jupyter_ai_shoulders.mcp_client.connection_events import ConnectionEvents, ListKind
from jupyter_ai_shoulders.mcp_client.ports import ServerRequests

_LOG_TEXT = 500
_CHANGES: Mapping[str, ListKind] = {
    "notifications/tools/list_changed": "tools",
    "notifications/resources/list_changed": "resources",
    "notifications/prompts/list_changed": "prompts",
}


class ClientCallbacks:
    """The callbacks of the SDK's client."""

    def __init__(
        self,
        server: str,
        requests: ServerRequests,
        events: ConnectionEvents,
        paused: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """``paused`` stops the time limits of the server's requests while it waits for the user."""
        self._server = server
        self._requests = requests
        self._events = events
        self._paused = paused

    async def elicit(
        self, context: ClientRequestContext, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        """Ask the user."""
        del context
        with self._paused():
            return await self._requests.elicit(self._server, params)

    async def sample(
        self, context: ClientRequestContext, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.ErrorData:
        """Ask a model."""
        del context
        with self._paused():
            return await self._requests.sample(self._server, params)

    async def roots(self, context: ClientRequestContext) -> mcp_types.ListRootsResult:
        """Return the folders that the server may work in."""
        del context
        roots = self._requests.roots(self._server)
        return mcp_types.ListRootsResult.model_validate(
            {"roots": [{"uri": root.uri, "name": root.name} for root in roots]}
        )

    async def notified(self, message: IncomingMessage) -> None:
        """Announce a change of a list."""
        if not isinstance(message, Exception):
            kind = _CHANGES.get(message.method)
            if kind is not None:
                self._events.changed(kind)

    async def logged(self, params: mcp_types.LoggingMessageNotificationParams) -> None:
        """Keep the beginning of a log message."""
        data: Any = params.data
        text = data if isinstance(data, str) else repr(data)[: 2 * _LOG_TEXT]
        self._events.log(f"{params.level}: {text[:_LOG_TEXT]}")
