"""All configured servers: started on first use, restarted with pauses, stopped when idle.

Made by ``host.mcp_client``. Loads the SDK when a server is first used.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.mcp_client.connection_events import (
    ConnectionEnvironment,
    ConnectionEvents,
    ListKind,
    OpenConnection,
    OpenServer,
)
from jupyter_ai_shoulders.mcp_client.ports import (
    ConnectionStatus,
    PoolListener,
    ServerConnection,
    ServerInfo,
    ServerState,
)
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry
from jupyter_ai_shoulders.wire.hidden_characters import visible

INSTALL = 'pip install "jupyter-ai-shoulders[mcp]"'
IDLE_SECONDS = 600.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
STEADY_SECONDS = 60.0
"""A server that ran this long is restarted without a pause."""
NOTICE_SECONDS = 0.1
"""Changes of a list within this time are announced once."""
LOG_LINES = 50

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """A server as it would be started now."""

    entry: ServerEntry
    """With its values filled in."""
    blocked: ShouldersError | None = None
    """Why it cannot be started."""


@dataclass(eq=False)
class _Slot:
    """The state of one server."""

    server: ConfiguredServer
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: OpenConnection | None = None
    opening: asyncio.Task[OpenConnection] | None = None
    info: ServerInfo | None = None
    error: ShouldersError | None = None
    failures: int = 0
    started_at: float = 0.0
    retry_at: float = 0.0
    idle: asyncio.TimerHandle | None = None
    log: deque[str] = field(default_factory=lambda: deque[str](maxlen=LOG_LINES))
    process_lines: tuple[str, ...] = ()
    noticed: set[ListKind] = field(default_factory=set[ListKind])


class ConnectionPool:
    """``ServerPool`` over a list of servers that ``update`` replaces; ``aclose`` it."""

    def __init__(
        self,
        environment: ConnectionEnvironment,
        open_server: OpenServer | None = None,
        *,
        idle_s: float = IDLE_SECONDS,
    ) -> None:
        self._environment = environment
        self._open_server = open_server
        self._idle_s = idle_s
        self._slots: dict[str, _Slot] = {}
        self._listeners: list[PoolListener] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def add_listener(self, listener: PoolListener) -> Callable[[], None]:
        """Notify a listener until the returned function is called."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    def update(self, servers: Sequence[ConfiguredServer]) -> None:
        """Replace the list; servers that were removed, changed or blocked are stopped."""
        named = {server.entry.name: server for server in servers}
        for name in self._slots.keys() - named.keys():
            self._retire(self._slots.pop(name))
            self._announce(name)
        for name, server in named.items():
            slot = self._slots.get(name)
            if slot is None:
                self._slots[name] = _Slot(server)
                self._announce(name)
                continue
            before, slot.server = slot.server, server
            changed = before.entry != server.entry
            if changed or (server.blocked is not None and slot.connection is not None):
                self._retire(slot)
                if changed:
                    self._slots[name] = _Slot(server)
            if changed or _reason(before) != _reason(server):
                self._announce(name)

    def states(self) -> Sequence[ServerState]:
        """Return the states of all servers, in the order of their names."""
        return [self._state(slot) for _, slot in sorted(self._slots.items())]

    def state(self, name: str) -> ServerState:
        """Return the state of a server. Raises ``NotFound``."""
        return self._state(self._slot(name))

    def log_lines(self, name: str) -> Sequence[str]:
        """Return the last lines of a server's standard error, then of its log messages.

        Hidden characters are replaced by codes.
        """
        slot = self._slots.get(name)
        if slot is None:
            return ()
        running = slot.connection
        lines = running.process_lines if running is not None else slot.process_lines
        return tuple(visible(line) for line in (*lines, *slot.log)[-LOG_LINES:])

    def running(self, name: str) -> ServerConnection | None:
        """Return the connection of a running server, without starting it."""
        slot = self._slots.get(name)
        return None if slot is None else slot.connection

    async def connection(self, name: str) -> ServerConnection:
        """Return the connection, and start the server if it is not running; see ``ServerPool``."""
        slot = self._slot(name)
        async with slot.lock:
            if slot.connection is not None:
                try:
                    await slot.connection.check()
                except ShouldersError as error:
                    _log.info("The MCP server %s is started again: %s", name, error)
                    await self._stop(slot)
            if slot.connection is None:
                await self._start(name, slot)
            assert slot.connection is not None
            self._postpone_idle_stop(name, slot)
            return slot.connection

    async def stop(self, name: str) -> None:
        """Stop a server; its next use starts it. Raises ``NotFound``."""
        slot = self._slot(name)
        if slot.opening is not None:
            slot.opening.cancel()
        async with slot.lock:
            slot.failures, slot.retry_at, slot.error = 0, 0.0, None
            await self._stop(slot)
        self._announce(name)

    async def aclose(self) -> None:
        """Stop all servers at once, in bounded time."""
        self._closed = True
        slots = list(self._slots.values())
        self._slots.clear()
        for slot in slots:
            self._retire(slot)
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _slot(self, name: str) -> _Slot:
        slot = self._slots.get(name)
        if slot is None or self._closed:
            raise NotFound(
                f"There is no MCP server {name!r}.", hint="See the settings under MCP servers."
            )
        return slot

    def _state(self, slot: _Slot) -> ServerState:
        entry = slot.server.entry
        return ServerState(
            name=entry.name,
            source=entry.source,
            status=self._status(slot),
            blocked=_reason(slot.server),
            error=None if slot.error is None else slot.error.info.message,
            info=slot.info,
        )

    def _status(self, slot: _Slot) -> ConnectionStatus:
        if slot.opening is not None:
            return "starting"
        if slot.connection is not None and slot.error is None:
            return "running"
        if slot.error is None:
            return "stopped"
        return "waiting" if slot.retry_at > _now() else "failed"

    async def _start(self, name: str, slot: _Slot) -> None:
        if slot.server.blocked is not None:
            raise slot.server.blocked
        wait = slot.retry_at - _now()
        if wait > 0 and slot.error is not None:
            raise StateUnavailable(
                f"The MCP server {name} failed and can be started again in {wait:.0f} s. "
                f"{slot.error.info.message}",
                hint="Restart it at once in the settings under MCP servers.",
                retryable=True,
            )
        slot.error, slot.started_at = None, _now()
        slot.opening = asyncio.create_task(self._opened(name, slot))
        self._announce(name)
        try:
            slot.connection = await slot.opening
        except ShouldersError as error:
            self._failed(slot, error)
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise StateUnavailable(f"The MCP server {name} was stopped.") from None
        finally:
            slot.opening = None
            self._announce(name)
        slot.started_at, slot.info = _now(), slot.connection.info
        for listener in tuple(self._listeners):
            listener.tools_changed(name)
        self._announce(name)

    async def _opened(self, name: str, slot: _Slot) -> OpenConnection:
        events = ConnectionEvents(
            changed=partial(self._changed, name, slot),
            log=slot.log.append,
            ending=partial(self._ending, name, slot),
            ended=partial(self._ended, name, slot),
        )
        loaded = await asyncio.to_thread(_sdk_opener)
        open_server = self._open_server or loaded
        return await open_server(slot.server.entry, self._environment, events)

    def _ending(self, name: str, slot: _Slot, reason: str) -> None:
        """Note why a server ends, before it is closed."""
        slot.log.append(reason)
        if slot.connection is None and slot.opening is None:
            return
        if _now() - slot.started_at >= STEADY_SECONDS:
            slot.failures = 0
        self._failed(slot, _end_error(name, reason))
        if slot.failures == 1:
            slot.retry_at = 0.0  # the first restart needs no pause
        self._announce(name)

    def _ended(self, name: str, slot: _Slot) -> None:
        """Forget a connection that ended by itself."""
        if slot.connection is not None:
            slot.process_lines = slot.connection.process_lines
            slot.connection = None
            self._announce(name)

    def _failed(self, slot: _Slot, error: ShouldersError) -> None:
        slot.error = error
        slot.failures += 1
        pause = min(FIRST_PAUSE * 2 ** (slot.failures - 1), LONGEST_PAUSE)
        slot.retry_at = _now() + pause

    async def _stop(self, slot: _Slot) -> None:
        connection, slot.connection = slot.connection, None
        if slot.idle is not None:
            slot.idle.cancel()
        if connection is not None:
            slot.process_lines = connection.process_lines
            await connection.aclose()

    def _retire(self, slot: _Slot) -> None:
        """Stop a server in the background, also while it starts."""
        if slot.opening is not None:
            slot.opening.cancel()

        async def stop() -> None:
            async with slot.lock:
                await self._stop(slot)

        task = asyncio.get_running_loop().create_task(stop())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _postpone_idle_stop(self, name: str, slot: _Slot) -> None:
        if slot.idle is not None:
            slot.idle.cancel()
        loop = asyncio.get_running_loop()
        slot.idle = loop.call_later(self._idle_s, self._stop_idle, name, slot)

    def _stop_idle(self, name: str, slot: _Slot) -> None:
        if slot.connection is not None and slot.connection.busy:
            self._postpone_idle_stop(name, slot)
            return
        self._retire(slot)
        self._announce(name)

    def _changed(self, name: str, slot: _Slot, kind: ListKind) -> None:
        """Announce a change of a list soon, and many changes once."""
        if kind not in slot.noticed:
            slot.noticed.add(kind)
            asyncio.get_running_loop().call_later(
                NOTICE_SECONDS, self._announce_list, name, slot, kind
            )

    def _announce_list(self, name: str, slot: _Slot, kind: ListKind) -> None:
        slot.noticed.discard(kind)
        if self._slots.get(name) is not slot:
            return
        for listener in tuple(self._listeners):
            match kind:
                case "tools":
                    listener.tools_changed(name)
                case "resources":
                    listener.resources_changed(name)
                case "prompts":
                    listener.prompts_changed(name)

    def _announce(self, name: str) -> None:
        if not self._closed:
            for listener in tuple(self._listeners):
                listener.state_changed(name)


def _end_error(name: str, reason: str) -> ShouldersError:
    return StateUnavailable(
        f"The MCP server {name} has ended. {visible(reason[:500])}", retryable=True
    )


def _reason(server: ConfiguredServer) -> str | None:
    return None if server.blocked is None else server.blocked.info.message


def _now() -> float:
    return asyncio.get_running_loop().time()


def _sdk_opener() -> OpenServer:
    try:
        from jupyter_ai_shoulders.mcp_client.connection import open_server
    except ModuleNotFoundError as error:
        raise InvalidRequest(
            "MCP servers need packages that are not installed.",
            code="disabled",
            hint=f"Install them with: {INSTALL}",
        ) from error
    return open_server
