"""What an agent of another program does by itself, and what it offers (ACP).

Part of ``wire.events``. Names and values of the protocol are those of the Agent Client Protocol,
https://agentclientprotocol.com/protocol/schema.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import JsonObject, WireModel
from jupyter_ai_shoulders.wire.event_types.base import EventBase
from jupyter_ai_shoulders.wire.ids import CallId

ActivityKind = Literal[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
]
ActivityStatus = Literal["pending", "in_progress", "completed", "failed"]


class ActivityText(WireModel):
    """Text that an activity shows."""

    type: Literal["text"] = "text"
    text: str


class ActivityDiff(WireModel):
    """A change that the agent made or wants to make."""

    type: Literal["diff"] = "diff"
    path: str
    old: str | None
    """Null for a new file."""
    new: str


class ActivityTerminal(WireModel):
    """A command that runs here for the agent."""

    type: Literal["terminal"] = "terminal"
    call_id: CallId


ActivityContent = Annotated[
    ActivityText | ActivityDiff | ActivityTerminal, Field(discriminator="type")
]


class AgentActivity(EventBase):
    """The whole current state of something that the agent does by itself.

    A later event with the same ``activity_id`` replaces an earlier one.
    """

    type: Literal["agent-activity"] = "agent-activity"
    activity_id: str
    title: str
    kind: ActivityKind
    status: ActivityStatus
    locations: tuple[str, ...] = ()
    """Paths in the workspace."""
    content: tuple[ActivityContent, ...] = ()
    input: JsonObject | None = None
    """What the agent passed to its own tool, shortened."""


class AgentChoice(WireModel):
    """A value that can be chosen."""

    id: str
    name: str
    description: str | None = None


class AgentOption(WireModel):
    """A setting of the agent, such as its model or how much it thinks."""

    id: str
    name: str
    description: str | None = None
    category: str | None = None
    """``model``, ``thought_level`` and others; null when the agent does not say."""
    value: str
    choices: tuple[AgentChoice, ...]


class AgentSlashCommand(WireModel):
    """A command that the agent understands at the beginning of a message."""

    name: str
    """Without the slash."""
    description: str
    hint: str | None = None
    """What to type after it."""


class AgentState(EventBase):
    """What the agent of this conversation offers now; a later event replaces an earlier one."""

    type: Literal["agent-state"] = "agent-state"
    agent: str
    """Its name, as in the model id ``agent:<name>``."""
    agent_session: str | None = None
    """The agent's own id of the conversation, to continue it later."""
    can_resume: bool = False
    mode: str | None = None
    modes: tuple[AgentChoice, ...] = ()
    options: tuple[AgentOption, ...] = ()
    commands: tuple[AgentSlashCommand, ...] = ()
    context_used: int | None = None
    """Tokens in the agent's context, as it reports."""
    context_size: int | None = None
