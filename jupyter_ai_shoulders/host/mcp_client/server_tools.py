"""Keeps the tools of MCP servers in the registry of a host.

What a server offered is kept in the state directory, so that its tools are known, and permissions
hold, before it starts again. What it says changes at once what asks; the registry, and so the
model's list, changes between turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Protocol

from pydantic import ValidationError

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.mcp_client.ports import ServerConnection, ServerPool
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.tools.base import ServerCategory
from jupyter_ai_shoulders.tools.mcp.names import category_name
from jupyter_ai_shoulders.tools.mcp.offers import ServerOffer, offer_of
from jupyter_ai_shoulders.tools.mcp.running_calls import CallLimits, RunningCall, RunningCalls
from jupyter_ai_shoulders.tools.mcp.server_tool import CallPorts, make_server_tool
from jupyter_ai_shoulders.tools.permissions.store import PermissionsFile
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import WireModel
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.parts import ToolDefinition

VERSION = 1
MOST_STORED = 4_000_000
"""Characters of all offers that are kept."""
_log = logging.getLogger(__name__)


class KeptOffers(WireModel):
    """The file of offers."""

    version: int = VERSION
    offers: tuple[ServerOffer, ...] = ()


class ConfiguredServers(ServerPool, Protocol):
    """The servers with their configuration (``host.mcp_client.service.McpServers``)."""

    async def refresh(self, max_age_s: float = 0.0) -> None:
        """Read the configuration again."""
        ...


class MissingValues(Protocol):
    """Asks the user for values that a server needs."""

    async def supply(self, call: RunningCall) -> bool:
        """Return whether all values that were missing are there now."""
        ...


class ServerTools:
    """The tools of all servers: a ``PoolListener``, and an ``EventListener`` for turns."""

    def __init__(
        self,
        servers: ConfiguredServers,
        registry: ToolRegistry,
        file: PermissionsFile,
        *,
        changed: Callable[[], None],
        admitted: Callable[[ServerOffer], None] = lambda _: None,
        limits: CallLimits,
    ) -> None:
        """``changed`` is called when the registry changed, ``admitted`` with what is new in it."""
        self._servers = servers
        self._registry = registry
        self._file = file
        self._changed = changed
        self._on_admitted = admitted
        self.running = RunningCalls()
        self.values: MissingValues | None = None
        self._definitions: dict[str, str] = {}
        self._ports = CallPorts(self.connect, self.running, self._definitions, limits)
        self._offers: dict[str, ServerOffer] = {}
        """What servers last said, also before the registry follows."""
        self._admitted: dict[str, ServerOffer] = {}
        self._listed: dict[str, ServerConnection] = {}
        """Connections whose tools were read."""
        self._listing: dict[str, asyncio.Lock] = {}
        self._turns: set[SessionId] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._started = False

    async def start(self) -> None:
        """Offer what the servers offered last, without starting any; once."""
        if self._started:
            return
        try:
            await self._servers.refresh()
        except ShouldersError as error:  # everything else works without servers
            _log.warning("The MCP servers could not be read: %s", error)
        self._offers = await asyncio.to_thread(self._stored)
        self._started = True
        self._servers.add_listener(self)
        self._apply()

    def offers(self) -> Sequence[ServerOffer]:
        """Return what is offered, by server."""
        return [self._admitted[name] for name in sorted(self._admitted)]

    def offer(self, server: str) -> ServerOffer | None:
        """Return what a server last offered; None until it was read."""
        return self._offers.get(server)

    async def connect(self, call: RunningCall) -> ServerConnection:
        """Return a call's server; see ``CallPorts.connect``."""
        try:
            return await self._connected(call.server)
        except InvalidRequest:
            if self.values is None or not await self.values.supply(call):
                raise
            return await self._connected(call.server)

    async def load(self, server: str) -> None:
        """Start a server and admit its tools. Raises what ``ServerPool.connection`` raises."""
        await self._connected(server)
        self._apply([server])

    # PoolListener

    def tools_changed(self, server: str) -> None:
        """Read the tools again."""
        self.forget(server)
        self._later(self._read_again(server))

    def resources_changed(self, server: str) -> None:
        """Do nothing: resources are listed when they are asked for."""

    def prompts_changed(self, server: str) -> None:
        """Do nothing: prompts are listed when they are asked for."""

    def state_changed(self, server: str) -> None:
        """Offer or withdraw the server's tools."""
        del server
        if not self._turns:
            self._apply()

    # EventListener

    def on_event(self, logged: LoggedEvent) -> None:
        """Follow the turns; between them the registry follows the servers."""
        event = logged.event
        if isinstance(event, ev.TurnStart):
            self._turns.add(event.session_id)
        elif isinstance(event, ev.TurnEnd):
            self._turns.discard(event.session_id)
            if self._started and not self._turns:
                self._apply()

    def forget(self, server: str) -> None:
        """Read the tools of a server again at its next use."""
        self._listed.pop(server, None)

    async def settled(self) -> None:
        """Wait until what changed so far was read."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def aclose(self) -> None:
        """Stop reading."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read_again(self, server: str) -> None:
        with contextlib.suppress(ShouldersError):
            await self._connected(server)
        if not self._turns:
            self._apply()

    async def _connected(self, server: str) -> ServerConnection:
        connection = await self._servers.connection(server)
        async with self._listing.setdefault(server, asyncio.Lock()):
            if self._listed.get(server) is not connection:
                listed = await connection.list_tools()
                offer = await asyncio.to_thread(offer_of, server, listed, connection.unread_tools)
                self._listed[server] = connection
                if offer != self._offers.get(server):
                    self._offers[server] = offer
                    self._note(offer)
                    await asyncio.to_thread(self._store)
        return connection

    def _note(self, offer: ServerOffer) -> None:
        """Let what the server says now decide what asks, before the registry follows."""
        admitted = self._admitted.get(offer.server)
        for tool in admitted.tools if admitted else ():
            self._definitions.pop(tool.name, None)
        for tool in offer.tools:
            self._definitions[tool.name] = tool.definition

    def _apply(self, only: Sequence[str] | None = None) -> None:
        """Bring the registry up to date with the configuration and the offers."""
        usable = {state.name for state in self._servers.states() if _is_usable(state.blocked)}
        changed = False
        for server in {*usable, *self._admitted} if only is None else only:
            if server not in usable:
                changed |= self._withdraw(server)
                self._registry.retract(ServerCategory(category_name(server)))
                continue
            category = ServerCategory(category_name(server))
            self._registry.announce(category, partial(self.load, server))
            offer = self._offers.get(server)
            if offer is not None and offer != self._admitted.get(server):
                self._withdraw(server)
                self._admit(offer)
                changed = True
        if changed:
            self._changed()

    def _withdraw(self, server: str) -> bool:
        offer = self._admitted.pop(server, None)
        for tool in offer.tools if offer else ():
            self._registry.withdraw(tool.name)
            self._definitions.pop(tool.name, None)
        return offer is not None

    def _admit(self, offer: ServerOffer) -> None:
        self._admitted[offer.server] = offer
        self._note(offer)
        self._registry.admit_all(
            [
                (
                    make_server_tool(tool, self._ports),
                    ToolDefinition(
                        name=tool.name, description=tool.description, parameters=tool.parameters
                    ),
                )
                for tool in offer.tools
            ],
            package=f"MCP server {offer.server}",
            brief={tool.name for tool in offer.tools if tool.brief},
        )
        self._on_admitted(offer)

    def _stored(self) -> dict[str, ServerOffer]:
        try:
            text = self._file.read()
            kept = KeptOffers.model_validate_json(text) if text else KeptOffers()
        except (ShouldersError, ValidationError) as error:
            _log.warning("What MCP servers offered could not be read: %s", error)
            return {}
        return {offer.server: offer for offer in kept.offers} if kept.version == VERSION else {}

    def _store(self) -> None:
        text = KeptOffers(offers=tuple(self._offers.values())).model_dump_json()
        if len(text) > MOST_STORED:
            return  # they are read again when their servers start
        try:
            self._file.write(text)
        except ShouldersError as error:
            _log.warning("What MCP servers offer could not be kept: %s", error)


def _is_usable(blocked: str | None) -> bool:
    return blocked is None
