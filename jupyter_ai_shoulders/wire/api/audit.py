"""The record of approvals: ``GET audit``, made from the event logs."""

from __future__ import annotations

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, Timestamp, WireModel
from jupyter_ai_shoulders.wire.events import ApprovalDecision, ApprovalReason, ApprovalScope, Author
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId


class AuditEntry(WireModel):
    """One decision about one call."""

    session_id: SessionId
    session_title: str
    owner: str | None
    """Owner of the conversation; null where all conversations are shared."""
    program: str | None
    """The agent or MCP client that leads the conversation; null for our own agent."""
    deleted: bool
    """Whether the conversation was deleted; it is kept for 30 days."""
    turn_id: TurnId | None
    call_id: CallId
    seq: int
    """Sequence number of the answer in the session's log."""
    at: Timestamp
    tool: str
    arguments_hash: str
    """SHA-256 of the canonical JSON of the exact arguments."""
    reason: ApprovalReason | None
    """Why approval was needed."""
    decision: ApprovalDecision
    scope: ApprovalScope
    feedback: str | None
    by: Author


class AuditPage(WireModel):
    """``GET audit``, the latest decision first."""

    entries: tuple[AuditEntry, ...]
    next_cursor: str | None


class AuditQuery(CommandModel):
    """Query arguments of ``GET audit``; ``from`` and ``to`` are times or days, UTC."""

    session: SessionId | None = None
    tool: str | None = None
    from_: str | None = Field(default=None, alias="from", pattern=r"^\d{4}-\d\d-\d\d([T ].*)?$")
    to: str | None = Field(default=None, pattern=r"^\d{4}-\d\d-\d\d([T ].*)?$")
    cursor: str | None = None
    limit: int = Field(default=100, ge=1, le=1000)
