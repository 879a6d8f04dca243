"""MCP servers of this host: the pool that tools use, and what the settings page changes.

Made by ``host.external_agents.protocol_services`` on first use; used by
``server.handlers.mcp_servers`` and by the tools of MCP servers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.host.mcp_client.configuration import (
    Configuration,
    ConfigurationSources,
    ServerConfig,
)
from jupyter_ai_shoulders.host.mcp_client.server_requests import ServerRequestRouter
from jupyter_ai_shoulders.host.mcp_client.server_views import ServerViews, missing_extra
from jupyter_ai_shoulders.host.mcp_client.sign_ins import SignInAnswer, SignIns
from jupyter_ai_shoulders.host.mcp_client.user_servers import SHOWN
from jupyter_ai_shoulders.mcp_client.pool import ConnectionPool
from jupyter_ai_shoulders.mcp_client.ports import PoolListener, ServerConnection, ServerState
from jupyter_ai_shoulders.mcp_client.server_entries import NAME
from jupyter_ai_shoulders.tools.mcp.offers import ServerOffer
from jupyter_ai_shoulders.wire.api.mcp_servers import (
    McpProblem,
    McpServerList,
    McpServerTest,
    McpServerView,
    PutMcpServer,
)
from jupyter_ai_shoulders.wire.base import JsonObject

RELOAD_SECONDS = 1.0
"""How old the configuration may be when a server is used."""


class McpServers:
    """``ServerPool`` on the configuration of this host; ``aclose`` it."""

    def __init__(
        self,
        sources: ConfigurationSources,
        pool: ConnectionPool,
        sign_ins: SignIns,
        requests: ServerRequestRouter,
        *,
        redact: Callable[[str], str],
        clock: Clock,
    ) -> None:
        """``requests`` routes what servers ask; a part that answers calls ``requests.use``."""
        self._sources = sources
        self._pool = pool
        self.sign_ins = sign_ins
        self.requests = requests
        self._clock = clock
        self._configuration = Configuration()
        self._loaded_at: float | None = None
        self._loading = asyncio.Lock()
        self._views = ServerViews(sources, pool, sign_ins, redact)

    def show_offers(self, offer: Callable[[str], ServerOffer | None]) -> None:
        """Show in the views what ``offer`` returns for a server."""
        self._views.offer = offer

    def states(self) -> Sequence[ServerState]:
        """Return the states of all servers as of the last ``refresh``."""
        return self._pool.states()

    async def connection(self, name: str) -> ServerConnection:
        """Return the connection, and start the server if it is not running; see ``ServerPool``."""
        await self.refresh(RELOAD_SECONDS)
        return await self._pool.connection(name)

    def add_listener(self, listener: PoolListener) -> Callable[[], None]:
        """Notify a listener until the returned function is called."""
        return self._pool.add_listener(listener)

    def allows_sampling(self, name: str) -> bool:
        """Return whether a server's entry lets it ask for a model."""
        servers = self._configuration.servers
        return any(each.entry.name == name and each.entry.sampling for each in servers)

    async def refresh(self, max_age_s: float = 0.0) -> None:
        """Read the configuration again unless it was read within ``max_age_s``."""
        async with self._loading:
            now = self._clock.monotonic()
            if self._loaded_at is not None and now - self._loaded_at < max_age_s:
                return
            self._configuration = await asyncio.to_thread(self._sources.load)
            self._loaded_at = now
            self._pool.update([server.server for server in self._configuration.servers])

    def secrets(self) -> Sequence[str]:
        """Return the values in use that must not be shown; blocks."""
        return (*self._sources.secrets(self._configuration), *self.sign_ins.secrets())

    async def listing(self) -> McpServerList:
        """Return all servers and problems."""
        await self.refresh()
        return McpServerList(
            install=missing_extra(),
            lock_reason=self._lock_reason(),
            user_file=SHOWN,
            servers=tuple(
                await asyncio.gather(*map(self._views.view, self._configuration.servers))
            ),
            problems=tuple(
                McpProblem(
                    file=problem.file,
                    line=problem.line,
                    server=problem.server,
                    message=problem.message,
                )
                for problem in self._configuration.problems
            ),
        )

    async def put(self, name: str, command: PutMcpServer) -> McpServerView:
        """Add or change an entry of the user's file.

        Raises ``InvalidRequest``, ``PolicyRefusal`` (locked), ``Conflict``, ``StateUnavailable``.
        """
        self._check_unlocked()
        if not NAME.fullmatch(name):
            raise InvalidRequest(
                f"{name!r} cannot name a server.",
                hint="Use letters, digits, “_”, “-” and “.”, 64 at most.",
            )
        await asyncio.to_thread(self._sources.user.put, name, _fields(command))
        return await self._refreshed(name)

    async def remove(self, name: str) -> None:
        """Remove an entry of the user's file, with its sign-in.

        Raises ``NotFound``, ``PolicyRefusal``, ``Conflict``, ``StateUnavailable``.
        """
        self._check_unlocked()
        await asyncio.to_thread(self._sources.user.remove, name)
        await self.sign_ins.forget(name)
        await self.refresh()

    async def set_enabled(self, name: str, *, enabled: bool) -> McpServerView:
        """Switch a server on or off.

        Raises ``NotFound``, ``PolicyRefusal``, ``Conflict``, ``StateUnavailable``.
        """
        entry = (await self._current(name)).entry
        if entry.source == "administrator":
            raise PolicyRefusal("Your administrator has configured this server.", code="disabled")
        user = self._sources.user
        if entry.source == "user":
            await asyncio.to_thread(user.set_enabled, name, enabled=enabled)
        elif enabled and entry.disabled:
            raise PolicyRefusal(
                f"The folder's file switches {name} off.",
                code="disabled",
                hint=f"Remove “disabled” from {entry.file}.",
            )
        else:
            await asyncio.to_thread(user.set_disabled_name, name, disabled=not enabled)
        return await self._refreshed(name)

    async def set_value(self, name: str, variable: str, value: str | None) -> McpServerView:
        """Store a value that the entry names like a key, or remove it.

        Raises ``NotFound``, ``InvalidRequest``, ``Conflict`` (set in the environment),
        ``StateUnavailable``.
        """
        entry = (await self._current(name)).entry
        if variable not in entry.variables:
            raise NotFound(f"The MCP server {name} uses no value {variable!r}.")
        keys = self._sources.keys
        if value is None:
            await asyncio.to_thread(keys.remove, variable)
        else:
            await asyncio.to_thread(keys.set, variable, value)
        return await self._refreshed(name)

    async def stop(self, name: str) -> McpServerView:
        """Stop a server; its next use starts it. Raises ``NotFound``."""
        await self._current(name)
        await self._pool.stop(name)
        return await self._refreshed(name)

    async def restart(self, name: str) -> McpServerView:
        """Stop a server and start it at once. Raises ``NotFound``; the view has other errors."""
        await self.stop(name)
        with contextlib.suppress(ShouldersError):
            await self._pool.connection(name)
        return await self._refreshed(name)

    async def test(self, name: str) -> McpServerTest:
        """Start a server and list what it offers. Raises ``NotFound``."""
        await self._current(name)
        try:
            if self._pool.running(name) is None:
                await self._pool.stop(name)  # without the pause after a failure
            counts = await self._views.count(await self._pool.connection(name))
            message, hint = f"It answers: {counts}.", None
            ok = True
        except ShouldersError as error:
            ok, message, hint = False, error.info.message, error.info.hint
        view = await self._refreshed(name)
        return McpServerTest(ok=ok, message=self._views.redact(message), hint=hint, server=view)

    async def authorize(self, name: str, redirect_url: str) -> str:
        """Return the address where the user signs in.

        Raises ``NotFound``, ``InvalidRequest``, ``PolicyRefusal``, ``StateUnavailable``.
        """
        config = await self._current(name)
        if config.server.blocked is not None:
            raise config.server.blocked
        return await self.sign_ins.begin(config.server.entry, redirect_url)

    async def finish_authorization(self, given: SignInAnswer) -> str:
        """Complete a sign-in and return the server's name; see ``SignIns.finish``."""
        name = await self.sign_ins.finish(given)
        await self._pool.stop(name)
        return name

    async def sign_out(self, name: str) -> McpServerView:
        """Forget the tokens of a server. Raises ``NotFound``, ``StateUnavailable``."""
        await self._current(name)
        await self.sign_ins.forget(name)
        return await self.stop(name)

    async def aclose(self) -> None:
        """Stop all servers."""
        await self.sign_ins.aclose()
        await self._pool.aclose()

    async def _current(self, name: str) -> ServerConfig:
        await self.refresh()
        return self._configuration.of(name)

    async def _refreshed(self, name: str) -> McpServerView:
        return await self._views.view(await self._current(name))

    def _lock_reason(self) -> str | None:
        if not self._sources.locked:
            return None
        return "Your administrator decides which MCP servers exist (Shoulders.mcp_servers_locked)."

    def _check_unlocked(self) -> None:
        reason = self._lock_reason()
        if reason is not None:
            raise PolicyRefusal(reason, code="disabled")


def _fields(command: PutMcpServer) -> JsonObject:
    """Return the fields of an entry; null removes one.

    Variables and headers that the command leaves out stay, because pages do not know their values.
    """
    fields = _all_fields(command)
    pairs = "env" if command.transport == "stdio" else "headers"
    if pairs not in command.model_fields_set:
        del fields[pairs]
    if command.sampling is not None:
        fields["sampling"] = command.sampling or None
    return fields


def _all_fields(command: PutMcpServer) -> JsonObject:
    if command.transport == "stdio":
        return {
            "type": None,
            "transport": None,
            "command": command.command or "",
            "args": list(command.args),
            "env": dict(command.env) or None,
            "cwd": command.folder,
            "url": None,
            "headers": None,
        }
    return {
        "type": command.transport,
        "transport": None,
        "url": command.url or "",
        "headers": dict(command.headers) or None,
        "command": None,
        "args": None,
        "env": None,
        "cwd": None,
    }
