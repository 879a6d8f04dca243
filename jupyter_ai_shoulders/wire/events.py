"""Everything that is logged and sent to clients, one model per event type (chapter 02).

An event is made without ``seq``, ``session_id`` and ``at``; the event log stamps them when it
commits. All state shown to a user is a fold of these.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from jupyter_ai_shoulders.wire.base import Json, JsonObject, Timestamp, WireModel
from jupyter_ai_shoulders.wire.edits import Hunk, Proposal, ProposalState
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import (
    BlobHash,
    CallId,
    CellId,
    EditId,
    MessageId,
    ModelId,
    PartId,
    ProposalId,
    ProviderId,
    SessionId,
    TurnId,
    Version,
)
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.parts import ProviderState, ResultContent
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Mode, Session
from jupyter_ai_shoulders.wire.usage import TokenUsage

Risk = Literal["read", "write", "execute"]
Exit = Literal[
    "final_response",
    "step_cap",
    "tool_rejected",
    "cancelled",
    "ended_by_tool",
    "context_overflow",
    "budget_exhausted",
    "error",
    "interrupted",
]
ApprovalScope = Literal["once", "document", "session", "always"]
ApprovalDecision = Literal["allow", "deny"]
CallStatus = Literal["ok", "error", "denied", "skipped", "cancelled", "unknown"]
Author = Literal["user", "agent", "policy", "system"]


class EventBase(WireModel):
    """What every event carries."""

    seq: int = 0
    """Position in the session's log, from 1 without gaps; 0 before the log stamped it."""
    session_id: SessionId = SessionId("")
    turn_id: TurnId | None = None
    at: Timestamp = ""


class ForkOrigin(WireModel):
    """What a session was copied from. Its events up to ``seq`` have their numbers and times."""

    session_id: SessionId
    seq: int
    """The last event that is a copy; who was paid or allowed by one was so in the origin."""
    root: SessionId
    """The first session of the line; the prompt caches of providers go by it."""


class SessionCreate(EventBase):
    """The session began."""

    type: Literal["session-create"] = "session-create"
    session: Session
    origin: ForkOrigin | None = None


class SessionUpdate(EventBase):
    """Title, model, mode, status or totals changed."""

    type: Literal["session-update"] = "session-update"
    session: Session


class Replaced(WireModel):
    """What an edited message takes the place of. Nothing is erased: its events are hidden."""

    message_id: MessageId
    seq: int
    """The first event that is hidden; the last is the one before the edited message."""
    messages: int
    """How many messages of the user are hidden."""
    todo: tuple[TodoItem, ...]
    """The checklist as it was before them."""


class MessageAdd(EventBase):
    """A user message was accepted; ``queued`` while a turn runs, as steering."""

    type: Literal["message-add"] = "message-add"
    message_id: MessageId
    text: str
    attachments: tuple[Attachment, ...] = ()
    context: MessageContext | None = None
    queued: bool = False
    model: ModelId | None = None
    mode: Mode | None = None
    answers: CallId | None = None
    """The question (``clarify``) that waited when it was sent, and that it answers."""
    replaces: Replaced | None = None
    """Of a message that was edited and sent again: the conversation goes on from here."""


class MessageUpdate(EventBase):
    """A queued message was consumed, removed or edited."""

    type: Literal["message-update"] = "message-update"
    message_id: MessageId
    status: Literal["queued", "consumed", "removed"]
    text: str | None = None


class TurnStart(EventBase):
    """A turn began with a user message."""

    type: Literal["turn-start"] = "turn-start"
    message_id: MessageId
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int


class TurnResume(EventBase):
    """An interrupted turn goes on under the same id."""

    type: Literal["turn-resume"] = "turn-resume"
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int


class StepStart(EventBase):
    """One model call is about to be made."""

    type: Literal["step-start"] = "step-start"
    step: int
    limit: int
    tokens_used: int
    """Estimated tokens of the request."""
    window: int | None


class TextStart(EventBase):
    """The model began a text part."""

    type: Literal["text-start"] = "text-start"
    part_id: PartId


class TextDelta(EventBase):
    """More text of a part."""

    type: Literal["text-delta"] = "text-delta"
    part_id: PartId
    text: str


class TextEnd(EventBase):
    """A text part is complete."""

    type: Literal["text-end"] = "text-end"
    part_id: PartId
    state: ProviderState | None = None


class ReasoningStart(EventBase):
    """The model began to show reasoning."""

    type: Literal["reasoning-start"] = "reasoning-start"
    part_id: PartId


class ReasoningDelta(EventBase):
    """More reasoning text."""

    type: Literal["reasoning-delta"] = "reasoning-delta"
    part_id: PartId
    text: str


class ReasoningEnd(EventBase):
    """A reasoning part is complete; its signature rides in ``state``."""

    type: Literal["reasoning-end"] = "reasoning-end"
    part_id: PartId
    state: ProviderState | None = None


class RetryWait(EventBase):
    """The provider asked to wait, or failed in a way worth another try."""

    type: Literal["retry-wait"] = "retry-wait"
    attempt: int
    delay_ms: int
    reason: str


class ToolCall(EventBase):
    """The model asked for a tool; not yet approved."""

    type: Literal["tool-call"] = "tool-call"
    call_id: CallId
    tool: str
    arguments: JsonObject | None
    """Validated arguments, or null when they are invalid (see ``raw`` and ``invalid``)."""
    raw: str | None
    invalid: str | None
    """Why the arguments are invalid, in words for the model and the user."""
    risk: Risk
    external: bool
    title: str
    target: str | None
    """What it acts on, for the line in the conversation ("Cell 4 · analysis.ipynb")."""
    state: ProviderState | None = None
    via: Literal["call_tool"] | None = None
    """The tool the call was made through, which then has its arguments in ``raw``, as given."""


class AskReason(WireModel):
    """Why a call asks."""

    kind: Literal["mode", "rule", "taint", "protected", "run_policy", "loop"]
    text: str


class ApprovalRequest(EventBase):
    """A call waits for the user."""

    type: Literal["approval-request"] = "approval-request"
    call_id: CallId
    tool: str
    arguments: JsonObject
    arguments_hash: str
    """SHA-256 over the canonical JSON of the arguments; the answer is bound to it."""
    preview: str | None
    """The code, command or diff the call would act with, exact, for the card."""
    language: str | None
    reason: AskReason
    scopes: tuple[ApprovalScope, ...]


class ApprovalAnswer(EventBase):
    """The user, or a rule, decided."""

    type: Literal["approval-answer"] = "approval-answer"
    call_id: CallId
    decision: ApprovalDecision
    scope: ApprovalScope
    feedback: str | None
    by: Author


class ToolStart(EventBase):
    """A call is about to have its effect; committed and synced before it has."""

    type: Literal["tool-start"] = "tool-start"
    call_id: CallId
    pid: int | None = None
    process_start: str | None = None
    kernel_id: str | None = None
    before_version: Version | None = None
    """What the target was before; after a crash the same version means: not applied."""
    expected_version: Version | None = None
    """What the target will be; after a crash this version means: applied."""
    in_page: bool = False
    """The target is a document open in a page, whose unsaved text the file does not have."""


class ToolProgress(EventBase):
    """Output of a running call, streamed."""

    type: Literal["tool-progress"] = "tool-progress"
    call_id: CallId
    channel: Literal["stdout", "stderr", "output", "status"]
    text: str


class ToolResult(EventBase):
    """The one result of a call."""

    type: Literal["tool-result"] = "tool-result"
    call_id: CallId
    tool: str
    status: CallStatus
    result: ToolEnvelope
    content: tuple[ResultContent, ...]
    """What the model is sent, made once."""
    duration_ms: int
    handle: BlobHash | None = None
    """Blob with the whole output when ``content`` is a digest."""
    after_version: Version | None = None
    seen: tuple[SeenVersion, ...] = ()
    """Versions this conversation has read or written through this call."""


class StdinRequest(EventBase):
    """A running cell asks for input."""

    type: Literal["stdin-request"] = "stdin-request"
    call_id: CallId
    prompt: str
    password: bool


class StdinAnswer(EventBase):
    """The input was given; its text is not logged."""

    type: Literal["stdin-answer"] = "stdin-answer"
    call_id: CallId
    answered: bool


class ClarifyRequest(EventBase):
    """The agent asks the user a question."""

    type: Literal["clarify-request"] = "clarify-request"
    call_id: CallId
    question: str
    options: tuple[str, ...]
    allow_multiple: bool


class ClarifyAnswer(EventBase):
    """The user answered."""

    type: Literal["clarify-answer"] = "clarify-answer"
    call_id: CallId
    answer: tuple[str, ...]


class TodoItem(WireModel):
    """One line of the checklist."""

    text: str
    done: bool
    depth: int


class TodoUpdate(EventBase):
    """The whole checklist was replaced."""

    type: Literal["todo-update"] = "todo-update"
    items: tuple[TodoItem, ...]


class ArtifactShare(EventBase):
    """A file was shared into the conversation."""

    type: Literal["artifact-share"] = "artifact-share"
    call_id: CallId
    name: str
    media_type: str
    size: int
    description: str | None


class Notice(EventBase):
    """A remark of the engine to the user."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    code: str
    text: str
    call_id: CallId | None = None
    details: JsonObject | None = None
    """Of ``turn_limit`` and ``session_limit``: those of the ``budget_exhausted`` error."""


class EditPending(EventBase):
    """An applied change awaits keep or undo."""

    type: Literal["edit-pending"] = "edit-pending"
    edit_id: EditId
    call_id: CallId | None
    document: str
    cell_id: CellId | None
    before_version: Version | None
    after_version: Version | None
    hunks: tuple[Hunk, ...]


class EditResolve(EventBase):
    """A pending edit was kept or undone."""

    type: Literal["edit-resolve"] = "edit-resolve"
    edit_id: EditId
    decision: Literal["keep", "undo"]
    hunks: tuple[int, ...] | None
    by: Author


class ProposalAdd(EventBase):
    """A change is proposed and not applied."""

    type: Literal["proposal-add"] = "proposal-add"
    call_id: CallId | None
    proposal: Proposal


class ProposalResolve(EventBase):
    """A proposal was decided, or overtaken."""

    type: Literal["proposal-resolve"] = "proposal-resolve"
    proposal_id: ProposalId
    state: ProposalState
    by: Author


class DocumentSnapshot(WireModel):
    """A document's content at one moment, as a blob."""

    document: str
    blob: BlobHash


class Checkpoint(EventBase):
    """Documents were snapshotted before a turn's first change."""

    type: Literal["checkpoint"] = "checkpoint"
    documents: tuple[DocumentSnapshot, ...]


class UsageUpdate(EventBase):
    """Tokens and cost of one model call."""

    type: Literal["usage-update"] = "usage-update"
    model: ModelId
    usage: TokenUsage
    cost_micro_usd: int | None
    month_micro_usd: int | None
    month_limit_micro_usd: int | None


class ContextRebase(EventBase):
    """Bytes already sent will change from here on."""

    type: Literal["context-rebase"] = "context-rebase"
    reason: Literal["compaction", "instructions", "tools", "model", "egress", "attachment"]
    replaced: Json
    """What was replaced by what, by context source."""


class ContextAdd(EventBase):
    """Text that enters requests and that no other event holds."""

    type: Literal["context-add"] = "context-add"
    role: Literal["system", "instructions", "tools", "meta", "attachment", "skill"]
    source: str
    blob: BlobHash
    seen: tuple[SeenVersion, ...] = ()
    """Versions this conversation has read with it (attachments)."""


class TurnEnd(EventBase):
    """The turn is over."""

    type: Literal["turn-end"] = "turn-end"
    exit: Exit
    error: ErrorInfo | None = None
    summary: str | None = None


class ErrorEvent(EventBase):
    """Something failed without ending a turn."""

    type: Literal["error"] = "error"
    error: ErrorInfo


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
    | StdinRequest
    | StdinAnswer
    | ClarifyRequest
    | ClarifyAnswer
    | TodoUpdate
    | ArtifactShare
    | Notice
    | EditPending
    | EditResolve
    | ProposalAdd
    | ProposalResolve
    | Checkpoint
    | UsageUpdate
    | ContextRebase
    | ContextAdd
    | TurnEnd
    | ErrorEvent,
    Field(discriminator="type"),
]

_ADAPTERS: list[TypeAdapter[Event]] = []


def event_adapter() -> TypeAdapter[Event]:
    """Return the adapter that validates any event; built on first use (it costs 30 ms)."""
    if not _ADAPTERS:
        _ADAPTERS.append(TypeAdapter(Event))
    return _ADAPTERS[0]


def parse_event(text: str | bytes) -> Event:
    """Read one event from its JSON text. Raises ``pydantic.ValidationError``."""
    return event_adapter().validate_json(text)
