"""What an agent asks of us, and what we hand it; independent of the SDK.

Used by ``acp_client.connection`` and implemented by ``host.external_agents``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.event_types.agents import AgentChoice
from jupyter_ai_shoulders.wire.events import (
    ActivityDiff,
    ActivityKind,
    AgentActivity,
    AgentOption,
    AgentSlashCommand,
    TodoUpdate,
)


@dataclass(frozen=True, slots=True)
class PromptText:
    """Text of the user's message."""

    text: str


@dataclass(frozen=True, slots=True)
class PromptImage:
    """An image of the user's message, base64."""

    media_type: str
    data: str


PromptBlock = PromptText | PromptImage


@dataclass(frozen=True, slots=True)
class McpEndpoint:
    """Our MCP server as an agent reaches it over HTTP."""

    name: str
    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PermissionChoice:
    """An answer that the agent offers."""

    id: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """What the agent wants to do by itself."""

    activity_id: str
    title: str
    kind: ActivityKind
    path: str | None = None
    """In the workspace, or absolute."""
    command: str | None = None
    url: str | None = None
    preview: str | None = None
    language: str | None = None
    edit: ActivityDiff | None = None
    """The change, when it is that of one whole file."""


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """A command that the agent wants to run here (an ACP terminal)."""

    command: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str | None = None
    output_limit: int | None = None


@dataclass(frozen=True, slots=True)
class CommandOutputSoFar:
    """The output of a command, and whether it has ended."""

    text: str
    truncated: bool
    ended: bool
    exit_code: int | None


@dataclass(slots=True)
class AgentFacts:
    """What the agent offers in this conversation; changed by its updates."""

    program: str = ""
    """The name that it gives itself."""
    session: str = ""
    can_load: bool = False
    can_resume: bool = False
    images: bool = False
    mode: str | None = None
    modes: tuple[AgentChoice, ...] = ()
    options: tuple[AgentOption, ...] = ()
    commands: tuple[AgentSlashCommand, ...] = ()
    context_used: int | None = None
    context_size: int | None = None


class RequestRefused(Exception):
    """We do not do what the agent asked for; the text is the answer to the agent."""


class ResourceMissing(RequestRefused):
    """There is no file at the path."""


class AgentListener(Protocol):
    """Receives what the agent says, and carries out what it asks for."""

    def on_text(self, kind: Literal["text", "reasoning"], text: str) -> None:
        """Handle more text of the answer or of the agent's thoughts."""
        ...

    def on_event(self, event: AgentActivity | TodoUpdate) -> None:
        """Handle the new state of an activity or of the plan."""
        ...

    def on_not_allowed_once(self, question: str) -> None:
        """Handle a question that the user allowed, but that has no answer for once."""
        ...

    def on_facts(self) -> None:
        """Handle a change of ``AgentFacts``."""
        ...

    async def read_file(self, path: str, line: int | None, limit: int | None) -> str:
        """Return a text. Raises ``ResourceMissing``, and ``RequestRefused`` as do all below."""
        ...

    async def write_file(self, path: str, content: str) -> None:
        """Write a text."""
        ...

    async def ask_permission(self, question: PermissionQuestion) -> bool | None:
        """Return whether the agent may do it; None if the turn was cancelled."""
        ...

    async def run_command(self, request: CommandRequest) -> str:
        """Start a command and return its id."""
        ...

    def command_output(self, command_id: str) -> CommandOutputSoFar:
        """Return the output of a command so far."""
        ...

    async def wait_for_command(self, command_id: str) -> int | None:
        """Return the exit code of a command when it has ended."""
        ...

    def stop_command(self, command_id: str, *, forget: bool) -> None:
        """End a command if it still runs; ``forget``: the agent will not ask for it again."""
        ...
