"""A tool of an MCP server as a tool of the agent. Made by ``host.mcp_client.server_tools``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.mcp_client.ports import ServerConnection
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Progress,
    ServerCategory,
    Target,
    Tool,
    ToolOutput,
    toolsets_of,
)
from jupyter_ai_shoulders.tools.mcp.arguments import ServerArguments, arguments_model
from jupyter_ai_shoulders.tools.mcp.names import category_name
from jupyter_ai_shoulders.tools.mcp.offers import OfferedTool
from jupyter_ai_shoulders.tools.mcp.results import result_of
from jupyter_ai_shoulders.tools.mcp.running_calls import CallLimits, RunningCall, RunningCalls
from jupyter_ai_shoulders.tools.permissions.definitions import changed_parts
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.hidden_characters import escaped_json, visible
from jupyter_ai_shoulders.wire.sessions import Toolset

if TYPE_CHECKING:
    import mcp_types

MAX_PROGRESS = 200
"""Lines of progress of a call; further ones only extend its time."""
MAX_LINE = 300
MAX_PREVIEW = 20_000
GONE = "gone:now"
"""The definition of a tool that its server no longer has."""


@dataclass(frozen=True, slots=True)
class CallPorts:
    """What calls need; shared by all tools."""

    connect: Callable[[RunningCall], Awaitable[ServerConnection]]
    """Returns the server of a call; starts it, and reads what it offers if that is new."""
    running: RunningCalls
    definitions: Mapping[str, str]
    """What servers last said of their tools, by the tools' names, ahead of the registry."""
    limits: CallLimits


class ServerTool(Tool[ServerArguments]):
    """Calls a tool of a server. What the server says about it is shown, never believed."""

    name: ClassVar[str]
    category: ClassVar[Category]
    risk: ClassVar[Risk] = "execute"
    external: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]]
    arguments: type[ServerArguments]

    def __init__(self, offered: OfferedTool, ports: CallPorts) -> None:
        self.offered = offered
        self._ports = ports
        self.arguments = arguments_model(offered.parameters)

    async def subject(self, args: ServerArguments, context: CallContext) -> CallSubject:
        """Return how the call is shown: server, tool and the exact arguments."""
        offered = self.offered
        text = escaped_json(json.dumps(args.given, ensure_ascii=False, indent=2))
        if len(text) > MAX_PREVIEW:
            text = f"{text[:MAX_PREVIEW]}\n… ({len(text)} characters)"
        return CallSubject(
            title=f"{visible(offered.tool)[:80]} of the MCP server {offered.server}",
            target_label=offered.server,
            target=Target(definition=self._definition),
            preview=text,
            preview_is_complete=len(text) <= MAX_PREVIEW,
            notes=tuple(_hints(offered)),
        )

    @property
    def _definition(self) -> str:
        return self._ports.definitions.get(self.offered.name, GONE)

    async def run(self, args: ServerArguments, context: CallContext) -> AsyncIterator[ToolOutput]:
        """Call it, and pass on progress and questions. Raises ``ShouldersError``."""
        offered, ports, limits = self.offered, self._ports, self._ports.limits
        with ports.running.running(offered.server, context) as running:
            progress = _ProgressLines(running)
            calling = asyncio.create_task(self._call(running, args, progress, limits))
            calling.add_done_callback(lambda _: progress.end())
            try:
                async for output in _outputs(running, limits, progress):
                    yield output
                answer = await calling
            finally:
                if not calling.done():
                    calling.cancel()
                    await asyncio.gather(calling, return_exceptions=True)
        yield await result_of(offered.server, offered.tool, answer)

    async def _call(
        self,
        running: RunningCall,
        args: ServerArguments,
        progress: _ProgressLines,
        limits: CallLimits,
    ) -> mcp_types.CallToolResult:
        connection = await self._ports.connect(running)
        allowed = running.context.subject
        if allowed is not None and allowed.target.definition != self._definition:
            changed = changed_parts(allowed.target.definition or "", self._definition)
            raise Conflict(
                f"The MCP server {running.server} changed the {changed} of this tool after the "
                "call was allowed, so it was not called.",
                code="stale",
                hint="Load its tools again, and call it if it is still what you need.",
            )
        return await connection.call_tool(
            self.offered.tool, args.given, progress=progress.add, timeout_s=limits.whole
        )


def make_server_tool(offered: OfferedTool, ports: CallPorts) -> ServerTool:
    """Return the tool, of a class of its own that carries its name."""
    category = ServerCategory(category_name(offered.server))
    body = {"name": offered.name, "category": category, "toolsets": toolsets_of(category)}
    made = cast("type[ServerTool]", type("OneServerTool", (ServerTool,), body))
    return made(offered, ports)


async def _outputs(
    running: RunningCall, limits: CallLimits, progress: _ProgressLines
) -> AsyncIterator[ToolOutput]:
    """Yield what the call shows until it ends. Raises ``Conflict`` when it is silent too long."""
    while True:
        progress.has_come = False
        try:
            async with asyncio.timeout(limits.silent):
                output = await running.outputs.get()
        except TimeoutError:
            if progress.has_come or running.asking.locked():
                continue
            raise Conflict(
                f"The MCP server {running.server} did not answer within {limits.silent:g} s, "
                "so the call was ended.",
                code="timeout",
                hint="It may have done part of it. Check before you call it again.",
            ) from None
        if output is None:
            return
        yield output


class _ProgressLines:
    """Turns notifications of progress into lines."""

    def __init__(self, running: RunningCall) -> None:
        self.has_come = False
        self._running = running
        self._lines = 0

    async def add(self, done: float, total: float | None, message: str | None) -> None:
        self.has_come = True
        self._lines += 1
        if self._lines > MAX_PROGRESS:
            return
        share = f"{done:g}" if total is None else f"{done:g} of {total:g}"
        said = " ".join(visible(message[:MAX_LINE]).split()) if message else ""
        line = f"{said} ({share})" if said else share
        more = " (further progress is not shown)" if self._lines == MAX_PROGRESS else ""
        self._running.outputs.put_nowait(Progress("status", f"{line}{more}\n"))

    def end(self) -> None:
        self._running.outputs.put_nowait(None)


def _hints(offered: OfferedTool) -> list[str]:
    """Return what the server claims, as its claim."""
    hints: list[str] = []
    if offered.read_only is True:
        hints.append("Its server says that it only reads.")
    elif offered.destructive is True:
        hints.append("Its server says that it may destroy something.")
    return hints
