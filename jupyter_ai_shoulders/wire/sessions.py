"""Sessions: one conversation each, whatever surface it came from."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import CellId, ModelId, SessionId, Version

SessionKind = Literal["chat", "task", "run", "scheduled", "kernel"]
SessionSource = Literal["chat", "task", "http", "cli", "kernel", "schedule"]
SessionStatus = Literal["idle", "running", "waiting", "error", "resolved", "interrupted"]
Mode = Literal["ask", "auto_edit", "plan", "bypass"]
ToolsMode = Literal["enabled", "parse_only", "disabled"]
Certainty = Literal["exact", "approximate", "orphaned"]
Toolset = Literal["document", "notebook", "workspace", "full", "inline"]
"""``inline``: none; the conversation rewrites or writes one text where it stands (chapter 08)."""


class TextRange(WireModel):
    """A half-open range of UTF-16 offsets, as CodeMirror counts them."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    from_: int = Field(alias="from")
    to: int


class OutputPlace(WireModel):
    """Which output of its cell a thread is about, as it was when its text was quoted."""

    index: int = Field(ge=0)
    """Its place among the outputs of the cell, from 0."""
    nth: int = Field(ge=0)
    """Its place among those that are quoted by the same text, from 0; pictures have none."""
    alike: int = Field(ge=1)
    """How many of those there were."""


class Anchor(WireModel):
    """The place a task thread is pinned to (chapter 09)."""

    document: str
    cell_id: CellId | None
    target: Literal["source", "output", "cell"]
    range: TextRange | None
    quote: str
    prefix: str
    suffix: str
    version: Version | None = None
    """Of the cell's source or the file's text in which ``range`` is the place."""
    certainty: Certainty = "exact"
    """``approximate``: found again at the likeliest place; ``orphaned``: not found again."""
    output: OutputPlace | None = None
    """Of an output; which of several is meant is uncertain without it."""


class Session(WireModel):
    """One conversation as lists and headers show it."""

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
    message_count: int
    last_seq: int
    tokens_used: int
    window: int | None
    cost_micro_usd: int | None
    created_at: Timestamp
    updated_at: Timestamp
