"""All events that are logged and sent to clients, one model per event type.

An event is made without ``seq``, ``session_id`` and ``at``; the event log stamps them on commit.
All state shown to a user is a reduction of these events. Import events from here; the models are
defined in ``wire.event_types`` by subject.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from jupyter_ai_shoulders.wire.event_types.agents import (
    ActivityContent,
    ActivityDiff,
    ActivityKind,
    ActivityStatus,
    ActivityTerminal,
    ActivityText,
    AgentActivity,
    AgentChoice,
    AgentOption,
    AgentSlashCommand,
    AgentState,
)
from jupyter_ai_shoulders.wire.event_types.base import Author, EventBase
from jupyter_ai_shoulders.wire.event_types.calls import (
    ArtifactShare,
    CallStatus,
    Risk,
    RunEnd,
    ToolCall,
    ToolProgress,
    ToolResult,
    ToolStart,
)
from jupyter_ai_shoulders.wire.event_types.context import ContextAdd, ContextRebase
from jupyter_ai_shoulders.wire.event_types.edits import (
    EditPending,
    EditResolve,
    ProposalAdd,
    ProposalResolve,
)
from jupyter_ai_shoulders.wire.event_types.questions import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalReason,
    ApprovalRequest,
    ApprovalScope,
    ClarifyAnswer,
    ClarifyRequest,
    CommandReach,
    EffectKind,
    StdinAnswer,
    StdinRequest,
)
from jupyter_ai_shoulders.wire.event_types.reply import (
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)
from jupyter_ai_shoulders.wire.event_types.restore import (
    CellOperation,
    CellsChange,
    Checkpoint,
    DocumentSnapshot,
    KernelDrift,
    Restore,
    RestoredDocument,
    RestorePart,
)
from jupyter_ai_shoulders.wire.event_types.sessions import (
    ForkOrigin,
    MessageAdd,
    MessageUpdate,
    Opener,
    Replaced,
    SessionCreate,
    SessionUpdate,
    UntrustedTextSource,
)
from jupyter_ai_shoulders.wire.event_types.todo import TodoItem, TodoUpdate
from jupyter_ai_shoulders.wire.event_types.turns import (
    ErrorEvent,
    Exit,
    Notice,
    RetryWait,
    StepStart,
    TurnEnd,
    TurnResume,
    TurnStart,
    UsageUpdate,
)

__all__ = [
    "ActivityContent",
    "ActivityDiff",
    "ActivityKind",
    "ActivityStatus",
    "ActivityTerminal",
    "ActivityText",
    "AgentActivity",
    "AgentChoice",
    "AgentOption",
    "AgentSlashCommand",
    "AgentState",
    "ApprovalAnswer",
    "ApprovalDecision",
    "ApprovalReason",
    "ApprovalRequest",
    "ApprovalScope",
    "ArtifactShare",
    "Author",
    "CallStatus",
    "CellOperation",
    "CellsChange",
    "Checkpoint",
    "ClarifyAnswer",
    "ClarifyRequest",
    "CommandReach",
    "ContextAdd",
    "ContextRebase",
    "DocumentSnapshot",
    "EditPending",
    "EditResolve",
    "EffectKind",
    "ErrorEvent",
    "Event",
    "EventBase",
    "Exit",
    "ForkOrigin",
    "KernelDrift",
    "MessageAdd",
    "MessageUpdate",
    "Notice",
    "Opener",
    "ProposalAdd",
    "ProposalResolve",
    "ReasoningDelta",
    "ReasoningEnd",
    "ReasoningStart",
    "Replaced",
    "Restore",
    "RestorePart",
    "RestoredDocument",
    "RetryWait",
    "Risk",
    "RunEnd",
    "SessionCreate",
    "SessionUpdate",
    "StdinAnswer",
    "StdinRequest",
    "StepStart",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "TodoItem",
    "TodoUpdate",
    "ToolCall",
    "ToolProgress",
    "ToolResult",
    "ToolStart",
    "TurnEnd",
    "TurnResume",
    "TurnStart",
    "UntrustedTextSource",
    "UsageUpdate",
    "event_adapter",
    "parse_event",
]

Event = Annotated[
    SessionCreate
    | SessionUpdate
    | MessageAdd
    | MessageUpdate
    | TurnStart
    | TurnResume
    | StepStart
    | TextStart
    | TextDelta
    | TextEnd
    | ReasoningStart
    | ReasoningDelta
    | ReasoningEnd
    | RetryWait
    | ToolCall
    | ApprovalRequest
    | ApprovalAnswer
    | ToolStart
    | ToolProgress
    | ToolResult
    | RunEnd
    | StdinRequest
    | StdinAnswer
    | ClarifyRequest
    | ClarifyAnswer
    | TodoUpdate
    | AgentActivity
    | AgentState
    | ArtifactShare
    | Notice
    | EditPending
    | EditResolve
    | ProposalAdd
    | ProposalResolve
    | Checkpoint
    | CellsChange
    | Restore
    | UsageUpdate
    | ContextRebase
    | ContextAdd
    | TurnEnd
    | ErrorEvent,
    Field(discriminator="type"),
]

_ADAPTERS: list[TypeAdapter[Event]] = []


def event_adapter() -> TypeAdapter[Event]:
    """Return the adapter that validates any event; built on first use, which takes 30 ms."""
    if not _ADAPTERS:
        _ADAPTERS.append(TypeAdapter(Event))
    return _ADAPTERS[0]


def parse_event(text: str | bytes) -> Event:
    """Parse one event from JSON. Raises ``pydantic.ValidationError``."""
    return event_adapter().validate_json(text)
