"""Sessions: one conversation each, on any surface."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import CallId, CellId, ModelId, SessionId, TurnId, Version

SessionKind = Literal["chat", "task", "run", "scheduled", "kernel", "agent"]
"""``agent``: a program calls our tools (MCP)."""
SessionSource = Literal[
    "chat",
    "task",
    "http",
    "cli",
    "kernel",
    "schedule",
    "watcher",
    "delegate",
    "mcp",
    "acp",
]
"""``watcher``: files changed; ``delegate``: a sub-agent of another conversation; ``mcp``: a client
of our MCP server; ``acp``: an editor that runs our agent.
"""
SessionStatus = Literal["idle", "running", "waiting", "error", "resolved", "interrupted"]
Mode = Literal["ask", "auto_edit", "plan", "bypass"]
ToolsMode = Literal["enabled", "parse_only", "disabled"]
Certainty = Literal["exact", "approximate", "orphaned"]
Toolset = Literal["document", "notebook", "workspace", "full", "inline"]
"""``inline`` has no tools; the conversation rewrites or writes one text in place."""


class TextRange(WireModel):
    """A half-open range of UTF-16 offsets, as CodeMirror counts them."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    from_: int = Field(alias="from")
    to: int


class OutputLocation(WireModel):
    """Identifies an output of a cell when its text was quoted."""

    index: int = Field(ge=0)
    """Index among the outputs of the cell, from 0."""
    nth: int = Field(ge=0)
    """Index among outputs with the same quote, from 0; pictures have no quote."""
    alike: int = Field(ge=1)
    """Number of outputs with the same quote."""


class Anchor(WireModel):
    """The location a task thread is pinned to."""

    document: str
    cell_id: CellId | None
    target: Literal["source", "output", "cell"]
    range: TextRange | None
    quote: str
    prefix: str
    suffix: str
    version: Version | None = None
    """Version of the cell's source or file's text that ``range`` refers to."""
    certainty: Certainty = "exact"
    """``approximate``: found at the likeliest position; ``orphaned``: not found."""
    output: OutputLocation | None = None
    """For an output; without it, which of several outputs is meant is uncertain."""


class ParentCall(WireModel):
    """The call of another conversation that a sub-agent works for."""

    session_id: SessionId
    call_id: CallId
    turn_id: TurnId
    """The turn whose limits the sub-agent's spending counts for."""


class Session(WireModel):
    """One conversation as shown in lists and headers."""

    id: SessionId
    kind: SessionKind
    source: SessionSource
    title: str
    model: ModelId | None
    mode: Mode
    tools: ToolsMode
    toolset: Toolset
    interactive: bool
    status: SessionStatus
    anchor: Anchor | None
    owner: str | None
    parent: ParentCall | None = None
    """Set for the conversation of a sub-agent."""
    message_count: int
    last_seq: int
    tokens_used: int
    window: int | None
    cost_micro_usd: int | None
    created_at: Timestamp
    updated_at: Timestamp
