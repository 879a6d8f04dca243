"""MCP servers without processes: a pool whose connections answer from values."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.mcp_client.ports import (
    PoolListener,
    ProgressListener,
    ServerInfo,
    ServerState,
)
from jupyter_ai_shoulders.wire.base import Json

Answer = Callable[[Mapping[str, Json], ProgressListener | None], Awaitable[types.CallToolResult]]


def tool(name: str = "echo", description: str = "Says it again.", **more: Any) -> types.Tool:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    values: dict[str, Any] = {"name": name, "description": description, "input_schema": schema}
    return types.Tool(**{**values, **more})


def said(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], **more)


async def echo(arguments: Mapping[str, Json], _: ProgressListener | None) -> types.CallToolResult:
    return said(f"You said {arguments.get('text')}")


@dataclass(eq=False)
class FakeServer:
    """A running server."""

    name: str = "demo"
    tools: list[types.Tool] = field(default_factory=lambda: [tool()])
    answer: Answer = echo
    resources: list[types.Resource] = field(default_factory=list[types.Resource])
    prompts: list[types.Prompt] = field(default_factory=list[types.Prompt])
    calls: list[tuple[str, Mapping[str, Json]]] = field(
        default_factory=list[tuple[str, Mapping[str, Json]]]
    )
    cancelled: int = 0
    called: asyncio.Event = field(default_factory=asyncio.Event)
    unread_tools: str | None = None
    info: ServerInfo = field(
        default_factory=lambda: ServerInfo("demo", has_resources=True, has_prompts=True)
    )

    async def list_tools(self) -> Sequence[types.Tool]:
        return self.tools

    async def call_tool(
        self,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        progress: ProgressListener | None = None,
        timeout_s: float | None = None,
    ) -> types.CallToolResult:
        del timeout_s
        self.calls.append((tool, arguments))
        self.called.set()
        try:
            return await self.answer(arguments, progress)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def list_resources(self) -> Sequence[types.Resource]:
        return self.resources

    async def list_resource_templates(self) -> Sequence[types.ResourceTemplate]:
        return []

    async def read_resource(self, uri: str) -> types.ReadResourceResult:
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=f"content of {uri}")]
        )

    async def list_prompts(self) -> Sequence[types.Prompt]:
        return self.prompts

    async def get_prompt(self, prompt: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
        text = types.TextContent(text=f"{prompt} with {dict(arguments)}")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])


class FakePool:
    """``ConfiguredServers`` over fake servers."""

    def __init__(self, *servers: FakeServer) -> None:
        self.servers = {server.name: server for server in servers}
        self.blocked: dict[str, str] = {}
        self.started: list[str] = []
        self.listeners: list[PoolListener] = []

    def states(self) -> Sequence[ServerState]:
        return [
            ServerState(name, "user", "running", self.blocked.get(name), info=server.info)
            for name, server in sorted(self.servers.items())
        ]

    async def connection(self, name: str) -> FakeServer:
        if name not in self.servers:
            raise NotFound(f"There is no MCP server {name}.")
        self.started.append(name)
        return self.servers[name]

    def add_listener(self, listener: PoolListener) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    async def refresh(self, max_age_s: float = 0.0) -> None:
        del max_age_s
