"""Announces changes of lists that a server of the protocol of 2026 sends on request.

Loads the SDK; used by ``mcp_client.connection``. Earlier versions send them unasked, see
``ClientCallbacks.notified``. ``notifications/resources/updated`` is not subscribed to: a message
keeps a resource as it was when it was attached, and each reading asks the server.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import mcp_types
from mcp.client import Client
from mcp.client.subscriptions import Subscription, SubscriptionLost
from mcp.shared.exceptions import MCPError

from jupyter_ai_shoulders.mcp_client.connection_events import (
    ConnectionEvents,
    ConnectionLimits,
    ListKind,
)
from jupyter_ai_shoulders.mcp_client.server_errors import leaves

LONGEST_PAUSE = 60.0
STEADY_SECONDS = 60.0
"""A stream that lasted this long counts as working."""
NOT_ANNOUNCED = "Changes of its lists are no longer announced. Restart it to read them again."


class ListChanges:
    """The stream of one connection; opened again, with pauses that double, when it ends."""

    def __init__(self, client: Client, events: ConnectionEvents, limits: ConnectionLimits) -> None:
        self._client = client
        self._events = events
        self._limits = limits
        self._kinds = _announced(client.server_capabilities)

    async def listen(self) -> None:
        """Announce changes until cancelled, or until the stream failed too often."""
        if not self._kinds or self._client.session.initialize_result is not None:
            return
        failures, reason = 0, ""
        while failures < self._limits.listen_attempts:
            if failures:
                pause = self._limits.listen_pause_s * 2 ** (failures - 1)
                await asyncio.sleep(min(pause, LONGEST_PAUSE))
            since = _now()
            try:
                await self._follow(is_first=not failures and not reason)
                reason = "The server ended the stream."
            except (SubscriptionLost, MCPError, OSError, TimeoutError, ExceptionGroup) as error:
                first = next(leaves(error))
                reason = str(first) or type(first).__name__
                if isinstance(first, MCPError) and first.code == mcp_types.METHOD_NOT_FOUND:
                    break
            failures = 1 if _now() - since >= STEADY_SECONDS else failures + 1
        self._events.log(f"{NOT_ANNOUNCED} {reason}"[:500])

    async def _follow(self, *, is_first: bool) -> None:
        """Announce changes until the stream ends. Raises when it breaks."""
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._limits.ping_s):
                changes = await stack.enter_async_context(self._open())
            if not is_first:  # nothing is sent again
                for kind in self._kinds:
                    self._events.changed(kind)
            async for _ in changes:
                pass  # each event also reaches ``ClientCallbacks.notified``

    def _open(self) -> AbstractAsyncContextManager[Subscription]:
        return self._client.listen(
            tools_list_changed="tools" in self._kinds,
            prompts_list_changed="prompts" in self._kinds,
            resources_list_changed="resources" in self._kinds,
        )


def _announced(offered: mcp_types.ServerCapabilities) -> tuple[ListKind, ...]:
    """Return the lists whose changes a server announces."""
    kinds: tuple[tuple[ListKind, bool | None], ...] = (
        ("tools", offered.tools and offered.tools.list_changed),
        ("resources", offered.resources and offered.resources.list_changed),
        ("prompts", offered.prompts and offered.prompts.list_changed),
    )
    return tuple(kind for kind, announces in kinds if announces)


def _now() -> float:
    return asyncio.get_running_loop().time()
