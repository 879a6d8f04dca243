"""A connection to one MCP server, over the SDK's client.

A task of its own holds transport and session from start to end, because the SDK's task groups must
be left by the task that entered them; requests run in the tasks of their callers. Loads the SDK;
``mcp_client.pool`` imports it on the first use of a server.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import httpx2
import mcp_types
from mcp.client import Client, Transport
from mcp.shared.dispatcher import ProgressFnT

from jupyter_ai_shoulders.core.errors import ShouldersError, StateUnavailable
from jupyter_ai_shoulders.mcp_client.client_callbacks import ClientCallbacks
from jupyter_ai_shoulders.mcp_client.connection_events import (
    ConnectionEnvironment,
    ConnectionEvents,
)
from jupyter_ai_shoulders.mcp_client.list_changes import ListChanges
from jupyter_ai_shoulders.mcp_client.list_pages import (
    ItemT,
    ListedItems,
    ReadPage,
    read_pages,
)
from jupyter_ai_shoulders.mcp_client.message_limits import MessageReports, limited
from jupyter_ai_shoulders.mcp_client.ports import ProgressListener, ServerInfo
from jupyter_ai_shoulders.mcp_client.sdk_logging import limit_sdk_logs
from jupyter_ai_shoulders.mcp_client.server_entries import ServerEntry
from jupyter_ai_shoulders.mcp_client.server_errors import (
    is_lost,
    leaves,
    lost_error,
    server_error,
    time_limit_error,
)
from jupyter_ai_shoulders.mcp_client.server_programs import ServerProgram
from jupyter_ai_shoulders.mcp_client.time_limits import PausableLimits
from jupyter_ai_shoulders.wire.base import Json

_log = logging.getLogger(__name__)
T = TypeVar("T")


class ServerSignIn(Protocol):
    """The user's sign-in at a server (``mcp_client.authorization``)."""

    auth: httpx2.Auth
    needed: ShouldersError | None
    """Set when the server wants the user to sign in."""


class SdkConnection:
    """A running server; made by ``open_server``."""

    def __init__(
        self,
        entry: ServerEntry,
        environment: ConnectionEnvironment,
        events: ConnectionEvents,
        sign_in: ServerSignIn | None = None,
    ) -> None:
        self._entry = entry
        self._requests = environment.requests
        self._limits = environment.limits
        self._events = events
        self._sign_in = sign_in
        self._program = ServerProgram(entry, environment)
        self._times = PausableLimits()
        self._callbacks = ClientCallbacks(
            entry.name, environment.requests, events, self._times.paused
        )
        self._client: Client | None = None
        self._info = ServerInfo(entry.name)
        self._unread_tools: str | None = None
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._end: str | None = None
        """Why it ended; empty when its owner closed it."""
        self._running = 0
        self._used = 0.0
        self._owner: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self._entry.name

    @property
    def info(self) -> ServerInfo:
        return self._info

    @property
    def busy(self) -> bool:
        return self._running > 0

    @property
    def process_lines(self) -> tuple[str, ...]:
        return self._program.error_lines()

    async def start(self) -> None:
        """Start and initialize the server. Raises ``ShouldersError``."""
        self._owner = asyncio.create_task(self._hold())
        try:
            async with self._times.limit(self._limits.start_s):
                await asyncio.shield(self._ready)
        except TimeoutError as error:
            await self.aclose()
            raise time_limit_error(self.name, "its start", self._limits.start_s) from error
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """End the server, in bounded time."""
        self._end = self._end or ""
        self._closing.set()
        owner = self._owner
        if owner is None or owner is asyncio.current_task():
            return
        if not self._ready.done():
            owner.cancel()
        done, _ = await asyncio.wait({owner}, timeout=self._limits.close_s)
        if not done:
            owner.cancel()
            await asyncio.wait({owner}, timeout=self._limits.close_s)
        if not self._ready.cancel() and not self._ready.cancelled():
            self._ready.exception()  # nobody waits for it

    async def check(self) -> None:
        """Ask an idle server whether it answers. Raises ``ShouldersError``."""
        now = asyncio.get_running_loop().time()
        client = self._opened()
        if self._running or now - self._used < self._limits.ping_after_s:
            return
        if client.session.initialize_result is None:
            return  # the protocol of 2026 has no ping

        async def ping() -> object:
            return await client.session.send_ping()

        await self._request("a check", self._limits.ping_s, ping)

    @property
    def unread_tools(self) -> str | None:
        return self._unread_tools

    async def list_tools(self) -> Sequence[mcp_types.Tool]:
        if not self._info.has_tools:
            return ()

        async def page(cursor: str | None) -> tuple[Sequence[mcp_types.Tool], str | None]:
            result = await self._opened().list_tools(cursor=cursor)
            return result.tools, result.next_cursor

        listed = await self._all("the list of its tools", page)
        self._unread_tools = listed.unread
        return listed.items

    async def list_resources(self) -> Sequence[mcp_types.Resource]:
        if not self._info.has_resources:
            return ()

        async def page(cursor: str | None) -> tuple[Sequence[mcp_types.Resource], str | None]:
            result = await self._opened().list_resources(cursor=cursor)
            return result.resources, result.next_cursor

        return (await self._all("the list of its resources", page)).items

    async def list_resource_templates(self) -> Sequence[mcp_types.ResourceTemplate]:
        if not self._info.has_resources:
            return ()

        async def page(
            cursor: str | None,
        ) -> tuple[Sequence[mcp_types.ResourceTemplate], str | None]:
            result = await self._opened().list_resource_templates(cursor=cursor)
            return result.resource_templates, result.next_cursor

        return (await self._all("the list of its resource templates", page)).items

    async def list_prompts(self) -> Sequence[mcp_types.Prompt]:
        if not self._info.has_prompts:
            return ()

        async def page(cursor: str | None) -> tuple[Sequence[mcp_types.Prompt], str | None]:
            result = await self._opened().list_prompts(cursor=cursor)
            return result.prompts, result.next_cursor

        return (await self._all("the list of its prompts", page)).items

    async def call_tool(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        progress: ProgressListener | None = None,
        timeout_s: float | None = None,
    ) -> mcp_types.CallToolResult:
        client = self._opened()
        return await self._request(
            f"the tool {tool[:64]}",
            self._limits.call_s if timeout_s is None else timeout_s,
            lambda: client.call_tool(
                tool, dict(arguments), progress_callback=progress and _reporter(progress)
            ),
        )

    async def read_resource(self, uri: str) -> mcp_types.ReadResourceResult:
        client = self._opened()
        return await self._request(
            "a resource", self._limits.list_s, lambda: client.read_resource(uri)
        )

    async def get_prompt(
        self, prompt: str, arguments: Mapping[str, str]
    ) -> mcp_types.GetPromptResult:
        client = self._opened()
        return await self._request(
            f"the prompt {prompt[:64]}",
            self._limits.list_s,
            lambda: client.get_prompt(prompt, dict(arguments)),
        )

    async def _all(self, action: str, page: ReadPage[ItemT]) -> ListedItems[ItemT]:
        listed = await self._request(
            action, self._limits.list_s, lambda: read_pages(page, self._limits)
        )
        if listed.unread is not None:
            self._events.log(f"Of {action}: {listed.unread}")
        return listed

    async def _request(self, action: str, seconds: float, send: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        self._running += 1
        try:
            async with self._times.limit(seconds):
                return await send()
        except TimeoutError as error:
            raise time_limit_error(self.name, action, seconds) from error
        except Exception as error:
            if self._sign_in is not None and self._sign_in.needed is not None:
                self._lost(self._sign_in.needed.info.message)
                raise self._sign_in.needed from error
            if is_lost(error):
                self._lost(str(error) or type(error).__name__)
                raise lost_error(self.name, action, self._end or str(error)) from error
            raise server_error(self.name, action, error) from error
        finally:
            self._running -= 1
            self._used = loop.time()

    def _opened(self) -> Client:
        if self._client is None or self._closing.is_set():
            raise StateUnavailable(
                f"The MCP server {self.name} has ended.", hint="Try again.", retryable=True
            )
        return self._client

    def _lost(self, reason: str) -> None:
        """End the connection, because the server has ended or does not answer."""
        if self._end is None:
            self._end = reason
            if self._ready.done():
                self._events.ending(reason)
        self._closing.set()

    async def _hold(self) -> None:
        """Hold transport and session until the connection ends."""
        try:
            async with self._new_client() as client:
                self._client = client
                self._info = _info(self.name, client)
                self._used = asyncio.get_running_loop().time()
                if not self._ready.done():
                    self._ready.set_result(None)
                listening = asyncio.create_task(
                    ListChanges(client, self._events, self._limits).listen()
                )
                try:
                    await self._closing.wait()
                finally:
                    listening.cancel()
                    await asyncio.wait({listening})
        except Exception as error:  # noqa: BLE001 - the SDK raises groups of anything
            self._fail(error)
        finally:
            self._client = None
            self._closing.set()
            if self._ready.done() and not self._ready.cancelled() and self._end:
                self._events.ended()

    def _fail(self, error: Exception) -> None:
        if self._ready.done():
            first = next(leaves(error))
            _log.info("The MCP server %s ended badly: %r", self.name, first)
            self._lost(f"The connection was lost: {str(first) or type(first).__name__}")
            return
        if self._sign_in is not None and self._sign_in.needed is not None:
            self._ready.set_exception(self._sign_in.needed)
        elif self._end:  # the program has ended
            self._ready.set_exception(self._program.not_started(self._end))
        else:
            self._ready.set_exception(server_error(self.name, "its start", error))

    def _new_client(self) -> Client:
        callbacks, requests = self._callbacks, self._requests
        return Client(
            self._transport(),
            cache=None,
            client_info=mcp_types.Implementation(name="jupyter-ai-shoulders", version="1"),
            elicitation_callback=(
                callbacks.elicit if requests.allows_elicitation(self.name) else None
            ),
            sampling_callback=callbacks.sample if requests.allows_sampling(self.name) else None,
            list_roots_callback=callbacks.roots,
            logging_callback=callbacks.logged,
            log_level="info",
            message_handler=callbacks.notified,
        )

    def _transport(self) -> Transport:
        reports = MessageReports(self._events.log, self._lost)
        if self._entry.transport == "stdio":
            return limited(self._program.transport(self._lost), self._limits, reports)
        from jupyter_ai_shoulders.mcp_client.http_transport import http_transport

        streams = http_transport(self._entry, self._sign_in.auth if self._sign_in else None)
        return limited(streams, self._limits, reports)


def _reporter(listener: ProgressListener) -> ProgressFnT:
    async def report(progress: float, total: float | None, message: str | None) -> None:
        await listener(progress, total, message)

    return report


async def open_server(
    entry: ServerEntry,
    environment: ConnectionEnvironment,
    events: ConnectionEvents,
    sign_in: ServerSignIn | None = None,
) -> SdkConnection:
    """Start a server whose values are filled in. Raises ``ShouldersError``."""
    limit_sdk_logs()
    connection = SdkConnection(entry, environment, events, sign_in)
    await connection.start()
    return connection


def _info(name: str, client: Client) -> ServerInfo:
    offered = client.server_capabilities
    said = client.server_info
    return ServerInfo(
        name=said.name[:200] if said else name,
        version=said.version[:100] if said else "",
        title=said.title[:200] if said and said.title else None,
        instructions=client.instructions,
        protocol_version=client.protocol_version,
        has_tools=offered.tools is not None,
        has_resources=offered.resources is not None,
        has_prompts=offered.prompts is not None,
    )
