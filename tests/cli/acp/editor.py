"""An editor made of the SDK's client side, which runs ``jupyter shoulders acp``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, schema
from acp.client.connection import ClientSideConnection

from tests.cli.acp.buffers import Buffers

Choose = Callable[[list[schema.PermissionOption]], schema.PermissionOption | None]


def choose(option_id: str) -> Choose:
    return lambda options: next(each for each in options if each.option_id == option_id)


@dataclass
class FakeEditor:
    """Records updates and answers permission requests."""

    choose: Choose = field(default_factory=lambda: choose("once"))
    updates: list[Any] = field(default_factory=list[Any])
    asked: list[tuple[schema.ToolCallUpdate, list[schema.PermissionOption]]] = field(
        default_factory=list[Any]
    )
    seen: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a permission is requested."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by each update."""
    holds: bool = False
    """Whether permission requests wait for ever."""
    buffers: Buffers | None = None
    """The text buffers that it offers."""

    @property
    def capabilities(self) -> schema.ClientCapabilities:
        """What it offers."""
        offers = self.buffers is not None
        return schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=offers, write_text_file=offers)
        )

    async def read_text_file(
        self, session_id: str, path: str, **kwargs: Any
    ) -> schema.ReadTextFileResponse:
        del session_id, kwargs
        assert self.buffers is not None
        return schema.ReadTextFileResponse(content=await self.buffers.read(path))

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse:
        del session_id, kwargs
        assert self.buffers is not None
        await self.buffers.write(path, content)
        return schema.WriteTextFileResponse()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        del session_id, kwargs
        self.updates.append(update)
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for updates that make a condition true."""
        async with asyncio.timeout(30):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **kwargs: Any,
    ) -> schema.RequestPermissionResponse:
        del session_id, kwargs
        self.asked.append((tool_call, options))
        self.seen.set()
        if self.holds:
            await asyncio.Event().wait()
        picked = self.choose(options)
        if picked is None:
            outcome: Any = schema.DeniedOutcome(outcome="cancelled")
        else:
            outcome = schema.AllowedOutcome(outcome="selected", option_id=picked.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    def on_connect(self, conn: Any) -> None:
        pass

    @property
    def text(self) -> str:
        """What the agent said."""
        return "".join(
            each.content.text
            for each in self.updates
            if each.session_update == "agent_message_chunk"
        )

    def of(self, kind: str) -> list[Any]:
        """Return the updates of a kind."""
        return [each for each in self.updates if each.session_update == kind]


@dataclass
class Connected:
    """A running agent."""

    editor: FakeEditor
    agent: ClientSideConnection
    process: asyncio.subprocess.Process
    root: Path

    async def new(self, **kwargs: Any) -> schema.NewSessionResponse:
        """Create a conversation in the workspace."""
        return await self.agent.new_session(cwd=str(self.root), mcp_servers=[], **kwargs)

    async def prompt(self, session_id: str, text: str, *more: Any) -> str:
        """Send a prompt; return its stop reason."""
        block = schema.TextContentBlock(type="text", text=text)
        response = await self.agent.prompt(session_id=session_id, prompt=[block, *more])
        return response.stop_reason


@asynccontextmanager
async def connected(root: Path, editor: FakeEditor | None = None) -> AsyncGenerator[Connected]:
    """Run the agent, and close its input at the end; it must then exit by itself."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "jupyter_ai_shoulders.cli", "acp"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=root.parent,
        limit=64 * 2**20,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    made = editor or FakeEditor()
    agent = ClientSideConnection(made, process.stdin, process.stdout)  # type: ignore[arg-type] the fake offers what the agent may ask
    try:
        await agent.initialize(
            protocol_version=PROTOCOL_VERSION, client_capabilities=made.capabilities
        )
        yield Connected(made, agent, process, root)
    finally:
        process.stdin.close()
        await agent.close()
        async with asyncio.timeout(60):
            assert await process.wait() == 0
