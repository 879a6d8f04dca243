"""The conversation as shown to a reader, reduced from the log by ``wire.conversation.reducer``.

The page reduces the same events to the same form
(``labextension/src/model/reducer/conversation.ts``); exports and tests use this one.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import JsonObject, Timestamp, WireModel
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    ActivityContent,
    ActivityKind,
    ActivityStatus,
    AgentState,
    ApprovalDecision,
    ApprovalReason,
    ApprovalScope,
    Author,
    CallStatus,
    CommandReach,
    EffectKind,
    Exit,
    KernelDrift,
    RestoredDocument,
    RestorePart,
    Risk,
    TodoItem,
)
from jupyter_ai_shoulders.wire.ids import (
    BlobHash,
    CallId,
    CellId,
    EditId,
    MessageId,
    ModelId,
    PartId,
    ProviderId,
    RestoreId,
    TurnId,
)
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.parts import ResultContent
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Mode, Session

CallState = Literal["proposed", "waiting", "running"] | CallStatus
"""``proposed`` until it waits for the user or starts; a ``CallStatus`` once it has its result."""
TurnState = Literal["running", "waiting", "retrying", "interrupted", "ended"]


class TextView(WireModel):
    """Text of the model; ``open`` while more may follow."""

    type: Literal["text"] = "text"
    part_id: PartId
    text: str
    open: bool


class ReasoningView(WireModel):
    """Reasoning of the model."""

    type: Literal["reasoning"] = "reasoning"
    part_id: PartId
    text: str
    open: bool


class ApprovalView(WireModel):
    """The action to approve, from ``approval-request``."""

    arguments: JsonObject
    arguments_hash: str
    preview: str | None
    language: str | None
    reason: ApprovalReason
    scopes: tuple[ApprovalScope, ...]
    sandboxed: bool | None
    network: bool | None
    read_only: bool | None
    reach: CommandReach | None
    effects: tuple[EffectKind, ...] | None


class AnswerView(WireModel):
    """The decision on an approval."""

    decision: ApprovalDecision
    scope: ApprovalScope
    feedback: str | None
    by: Author


class ProgressView(WireModel):
    """Streamed output of one channel, with consecutive pieces joined."""

    channel: Literal["stdout", "stderr", "output", "status"]
    text: str


class CallView(WireModel):
    """A tool call with its approval, progress and result."""

    type: Literal["call"] = "call"
    call_id: CallId
    tool: str
    arguments: JsonObject | None
    raw: str | None
    invalid: str | None
    risk: Risk
    external: bool
    title: str
    target: str | None
    state: CallState
    approval: ApprovalView | None
    answer: AnswerView | None
    progress: tuple[ProgressView, ...]
    result: ToolEnvelope | None
    content: tuple[ResultContent, ...]
    duration_ms: int | None
    handle: BlobHash | None


class ActivityView(WireModel):
    """Something that an agent of another program does by itself."""

    type: Literal["activity"] = "activity"
    activity_id: str
    title: str
    kind: ActivityKind
    status: ActivityStatus
    locations: tuple[str, ...]
    content: tuple[ActivityContent, ...]
    input: JsonObject | None


class ClarifyView(WireModel):
    """A question to the user; ``answer`` is null until answered."""

    type: Literal["clarify"] = "clarify"
    call_id: CallId
    question: str
    options: tuple[str, ...]
    allow_multiple: bool
    answer: tuple[str, ...] | None


class StdinView(WireModel):
    """A cell's request for input; ``answered`` is null until answered."""

    type: Literal["stdin"] = "stdin"
    call_id: CallId
    prompt: str
    password: bool
    choices: tuple[str, ...] = ()
    answered: bool | None


class ProposalView(WireModel):
    """A proposed change in its current state."""

    type: Literal["proposal"] = "proposal"
    call_id: CallId | None
    proposal: Proposal


class ArtifactView(WireModel):
    """A shared file."""

    type: Literal["artifact"] = "artifact"
    call_id: CallId
    name: str
    media_type: str
    size: int
    description: str | None


class NoticeView(WireModel):
    """A notice of the engine."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    code: str
    text: str
    call_id: CallId | None
    details: JsonObject | None


class RestoreView(WireModel):
    """Documents or the conversation were restored."""

    type: Literal["restore"] = "restore"
    restore_id: RestoreId
    seq: int
    """Sequence number of the event, used to revert it."""
    what: tuple[RestorePart, ...]
    documents: tuple[RestoredDocument, ...]
    drift: tuple[KernelDrift, ...]
    undone: RestoreId | None
    """The restore that this one reverted."""
    undone_turn: TurnId | None
    """The turn whose changes alone were undone."""


class ErrorView(WireModel):
    """A failure that did not end the turn."""

    type: Literal["error"] = "error"
    error: ErrorInfo


class EndView(WireModel):
    """The end of the turn."""

    type: Literal["end"] = "end"
    turn_id: TurnId | None
    exit: Exit
    error: ErrorInfo | None
    summary: str | None


PartView = Annotated[
    TextView
    | ReasoningView
    | CallView
    | ActivityView
    | ClarifyView
    | StdinView
    | ProposalView
    | ArtifactView
    | NoticeView
    | RestoreView
    | ErrorView
    | EndView,
    Field(discriminator="type"),
]


class UserView(WireModel):
    """A user message that is part of the conversation."""

    role: Literal["user"] = "user"
    message_id: MessageId
    seq: int
    at: Timestamp
    text: str
    attachments: tuple[Attachment, ...]
    context: MessageContext | None


class AgentView(WireModel):
    """Everything the agent said and did between two user messages."""

    role: Literal["agent"] = "agent"
    turn_id: TurnId | None
    seq: int
    """Sequence number of its first event; a stable key."""
    at: Timestamp
    parts: tuple[PartView, ...]


MessageView = Annotated[UserView | AgentView, Field(discriminator="role")]


class QueuedView(WireModel):
    """A message that waits for the next step."""

    message_id: MessageId
    at: Timestamp
    text: str
    attachments: tuple[Attachment, ...]
    context: MessageContext | None


class RetryView(WireModel):
    """A pause before the next attempt."""

    attempt: int
    delay_ms: int
    reason: str
    at: Timestamp


class TurnView(WireModel):
    """The last turn."""

    turn_id: TurnId | None
    state: TurnState
    model: ModelId
    provider: ProviderId
    mode: Mode
    step: int
    """0 before the first model call."""
    step_limit: int
    started_at: Timestamp
    retry: RetryView | None
    exit: Exit | None


class UsageView(WireModel):
    """Total tokens and cost of the conversation; null cost means unknown, never free."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost_micro_usd: int | None
    month_micro_usd: int | None
    month_limit_micro_usd: int | None


class BranchView(WireModel):
    """Events after a message that were hidden by its edit or by a restore.

    A fork at ``last_seq`` continues this branch.
    """

    message_id: MessageId
    """The replaced message."""
    seq: int
    """Sequence number of the replacing message, or of the restore."""
    at: Timestamp
    first_seq: int
    last_seq: int


ChangeKind = Literal["made", "edited", "deleted", "moved", "cleared"]
"""The kind of change of a cell or file; ``cleared`` means its outputs."""


class ChangeView(WireModel):
    """A cell or file changed by a turn; a row of the change list at the turn's end."""

    turn_id: TurnId
    edit_id: EditId | None
    """The pending edit (``GET edits``); null for changes that only undoing the turn reverts."""
    document: str
    cell_id: CellId | None
    what: ChangeKind
    title: str
    """The first line of a cell; empty for files and when unknown."""
    origin: str | None
    """The former path of a moved file."""
    state: Literal["pending", "kept", "undone", "done"]
    """``done`` when there is nothing to decide. Edits with the same id share their state over all
    turns.
    """
    by: Author | None
    """Who decided."""


class Conversation(WireModel):
    """A session's log, reduced."""

    session: Session | None
    last_seq: int
    messages: tuple[MessageView, ...]
    branches: tuple[BranchView, ...]
    """Branches hidden by edited messages, oldest first."""
    queued: tuple[QueuedView, ...]
    turn: TurnView | None
    pending_call: CallId | None
    """The call that waits for the user: an approval, a question or input."""
    changes: tuple[ChangeView, ...]
    """Ordered by first change; one for each cell or file and turn."""
    todo: tuple[TodoItem, ...]
    agent: AgentState | None = None
    """What the agent of another program offers; null in conversations with our own."""
    context_tokens: int | None
    """Estimated tokens of the last request."""
    context_window: int | None
    usage: UsageView
