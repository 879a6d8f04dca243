"""The running MCP server: the SDK's session manager, started with the first request.

Made by ``ExtensionServices``; requests come from ``server.mcp.handlers``.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.host.mcp_server.request_identity import SCOPE_KEY, RequestIdentity
from jupyter_ai_shoulders.server.handlers.request_body import LONG_TEXT_BYTES
from jupyter_ai_shoulders.server.mcp.asgi_bridge import AsgiExchange

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

SDK = "mcp"
INSTALL = 'pip install "jupyter-ai-shoulders[mcp]"'
MOST_SESSIONS = 200
"""Protocol sessions that may be open at once; each costs a task and some memory."""
IDLE_SECONDS = 8 * 3600.0
"""A protocol session without a request for this long is ended; its client has to connect again."""
_MODULES = (
    "jupyter_ai_shoulders.host.mcp_server.server_factory",
    "mcp.server.streamable_http_manager",
)


class McpNotInstalled(ShouldersError):
    """The SDK is missing; the text says how to install it."""

    def __init__(self) -> None:
        super().__init__(
            "The MCP server needs the official MCP SDK, which is not installed here.",
            code="disabled",
            hint=f"Run {INSTALL} in the environment of the Jupyter server, and restart it.",
        )


class McpEndpoint:
    """The MCP server of one process; ``aclose`` it."""

    def __init__(self) -> None:
        """Import and start nothing until a request comes."""
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._lock = asyncio.Lock()

    async def serve(self, exchange: AsgiExchange, identity: RequestIdentity, host: Host) -> None:
        """Serve a request of this identity. Raises ``McpNotInstalled``."""
        manager = await self._started(host)
        user = _sdk_user(identity)
        await exchange.run(manager.handle_request, {SCOPE_KEY: identity, "user": user})

    async def aclose(self) -> None:
        """End all protocol sessions."""
        self._stopping.set()
        if self._running is not None:
            await asyncio.wait({self._running})

    async def _started(self, host: Host) -> StreamableHTTPSessionManager:
        async with self._lock:
            if self._manager is None:
                await _import_sdk()
                self._manager = _session_manager(host)
                ready = asyncio.Event()
                self._running = asyncio.create_task(self._run(self._manager, ready))
                await ready.wait()
            return self._manager

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._stopping.wait()


async def _import_sdk() -> None:
    try:
        for module in _MODULES:
            await asyncio.to_thread(import_module, module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {SDK, "mcp_types", "starlette"}:
            raise McpNotInstalled from error
        raise


def _session_manager(host: Host) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from jupyter_ai_shoulders.host.mcp_server.server_factory import mcp_protocol

    return StreamableHTTPSessionManager(
        mcp_protocol(host).server(),
        session_idle_timeout=IDLE_SECONDS,
        max_request_body_size=LONG_TEXT_BYTES,
        max_sessions=MOST_SESSIONS,
    )


def _sdk_user(identity: RequestIdentity) -> object:
    """Return the SDK's user: it refuses a session's requests with another credential."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    token = AccessToken(token="", client_id=identity.actor, scopes=sorted(identity.scopes))
    return AuthenticatedUser(token)
