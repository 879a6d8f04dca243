"""Request bodies of the HTTP API."""

from __future__ import annotations

from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, FailFast, Field, model_validator
from pydantic_core import PydanticCustomError

from jupyter_ai_shoulders.wire.api.anchors import RequestAnchor
from jupyter_ai_shoulders.wire.base import CommandModel, JsonObject
from jupyter_ai_shoulders.wire.events import ApprovalDecision, ApprovalScope, RestorePart
from jupyter_ai_shoulders.wire.ids import (
    CellId,
    ClientId,
    EditId,
    MessageId,
    ModelId,
    RestoreId,
    TurnId,
    Version,
)
from jupyter_ai_shoulders.wire.messages import Attachment, ImageAttachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Mode, SessionKind, SessionSource, Toolset, ToolsMode

LONGEST_MESSAGE = 1_000_000
"""Maximum characters of a message with its attachments and context, without pictures.

That is about 250 000 tokens, more than most models accept; larger files are read in parts.
"""
MOST_ATTACHMENTS = 100
MESSAGE_TOO_LONG = "message_too_long"
"""The type of the validation error."""

RequestAttachments = Annotated[
    tuple[Attachment, ...], Field(max_length=MOST_ATTACHMENTS), FailFast()
]
"""The attachments of a message in a request; the first invalid one is reported."""


class MessageCommand(CommandModel):
    """Base of the requests that carry a message."""

    @model_validator(mode="after")
    def _refuse_long(self) -> Self:
        count = _characters(self)
        if count > LONGEST_MESSAGE:
            raise PydanticCustomError(
                MESSAGE_TOO_LONG,
                "The message has {count} characters; at most {most} are accepted",
                {"count": count, "most": LONGEST_MESSAGE},
            )
        return self


def _characters(value: object) -> int:
    """Return the total length of the strings of a message."""
    match value:
        case str():
            return len(value)
        case ImageAttachment():
            return 0
        case BaseModel():
            return sum(_characters(item) for _, item in value)
        case tuple():
            return sum(map(_characters, cast("tuple[object, ...]", value)))
        case _:
            return 0


class CreateSession(CommandModel):
    """``POST sessions``."""

    kind: SessionKind = "chat"
    title: str | None = None
    model: ModelId | None = None
    mode: Mode | None = None
    tools: ToolsMode | None = None
    toolset: Toolset | None = None
    anchor: RequestAnchor | None = None
    interactive: bool | None = None
    source: SessionSource | None = None
    """The session's origin, for display; defaults to that of its kind."""


class PatchSession(CommandModel):
    """``PATCH sessions/{id}``: absent and null fields stay unchanged."""

    title: str | None = None
    model: ModelId | None = None
    mode: Mode | None = None
    tools: ToolsMode | None = None
    status: Literal["resolved", "idle"] | None = None


class SendMessage(MessageCommand):
    """``POST sessions/{id}/messages``; the client's ``id`` makes it idempotent."""

    id: MessageId = Field(min_length=1, max_length=128)
    text: str
    attachments: RequestAttachments = ()
    context: MessageContext | None = None
    model: ModelId | None = None
    mode: Mode | None = None
    client_id: ClientId | None = Field(default=None, max_length=128)
    """The sending page: edits of documents open in several pages are made there."""
    replaces: MessageId | None = None
    """The earlier message that this message is an edited version of.

    The conversation continues from here. Events after the old message stay in the log
    (``branches``). Documents are not restored.
    """


class ForkSession(CommandModel):
    """``POST sessions/{id}/fork``."""

    seq: int | None = Field(default=None, ge=1)
    """The last event copied: a user message, or an event after which no turn is open.

    Defaults to the last settled event.
    """


class RestoreSession(CommandModel):
    """``POST sessions/{id}/restore``: restore the state before a user message.

    The client's ``id`` makes it idempotent; without it, repeating the restore does nothing unless
    something else has happened. Restoring the ``seq`` of a ``restore`` undoes that one.
    """

    seq: int = Field(ge=1)
    what: tuple[RestorePart, ...] = Field(min_length=1)
    id: RestoreId | None = Field(default=None, min_length=1, max_length=128)


class EditMessage(MessageCommand):
    """``PATCH sessions/{id}/messages/{message_id}``, queued messages only."""

    text: str = Field(min_length=1)


class AnswerApproval(CommandModel):
    """``POST sessions/{id}/approvals/{call_id}``."""

    decision: ApprovalDecision
    scope: ApprovalScope = "once"
    feedback: str | None = None


class ResumeTurn(CommandModel):
    """``POST sessions/{id}/resume``; a turn paused at a spending limit may get a higher one."""

    decision: Literal["resume", "discard"]
    limit_micro_usd: int | None = Field(default=None, gt=0)
    """The new limit of the turn or conversation that reached its limit."""


ANSWER_LIMIT = 20_000
"""Maximum characters of an answer."""
_AnswerText = Annotated[str, Field(min_length=1, max_length=ANSWER_LIMIT)]


class AnswerQuestion(CommandModel):
    """``POST sessions/{id}/clarifications/{call_id}``: free text, or the selected options."""

    answer: _AnswerText | Annotated[tuple[_AnswerText, ...], Field(min_length=1, max_length=6)]

    @property
    def picks(self) -> tuple[str, ...]:
        """The selected options."""
        return (self.answer,) if isinstance(self.answer, str) else self.answer


INPUT_LIMIT = 100_000
"""Maximum characters of input for a running cell."""


class AnswerInput(CommandModel):
    """``POST sessions/{id}/stdin/{call_id}``: input for a running cell; not stored."""

    text: str = Field(max_length=INPUT_LIMIT)


class SupplyResult(CommandModel):
    """``POST sessions/{id}/tool-results/{call_id}``, in ``parse_only`` mode."""

    content: str = Field(max_length=1_000_000)
    """Content for the model."""
    ok: bool = True


class StartRun(MessageCommand):
    """``POST runs``.

    The same ``external_key`` continues the same session with its original toolset and
    interactivity. The client's ``id`` makes the prompt idempotent; without it each prompt is a new
    one.
    """

    prompt: str
    model: ModelId | None = None
    mode: Mode | None = None
    toolset: Toolset | None = None
    attachments: RequestAttachments = ()
    interactive: bool | None = None
    external_key: str | None = Field(default=None, min_length=1, max_length=256)
    id: MessageId | None = Field(default=None, min_length=1, max_length=128)


class DecideProposal(CommandModel):
    """``POST proposals/{id}``: ``text`` applies another version instead.

    ``base`` is the document's text that the user saw beside it: ``text`` replaces it completely,
    and changes made since are merged. Without ``base``, ``text`` is a version of the proposed text,
    based on the proposal's ``old``.
    """

    decision: Literal["apply", "dismiss"]
    text: str | None = None
    base: str | None = None
    run: bool = False


class PutCellText(CommandModel):
    """``POST sessions/{id}/cell-text``: the answer of an edit in place becomes a pending edit.

    ``base`` is the cell's text that the model read, ``text`` the new text.
    """

    document: str
    cell_id: CellId
    base: str
    text: str


class DecideEdit(CommandModel):
    """``POST edits/{id}``: keep or undo all of a pending edit, or a part of it.

    ``hunks`` are indexes into the displayed list. A page that has applied the decision in its
    editor sends ``baseline`` instead: the differences between that text and the document's remain
    pending. ``current_version`` and ``baseline_version`` identify the texts the user saw; if they
    have changed, the answer is 409 and nothing is changed.
    """

    decision: Literal["keep", "undo"]
    hunks: tuple[int, ...] | None = None
    baseline: str | None = None
    current_version: Version | None = None
    baseline_version: Version | None = None


class EditChoice(CommandModel):
    """A pending edit as the user saw it."""

    id: EditId
    current_version: Version | None = None
    baseline_version: Version | None = None


class DecideEdits(CommandModel):
    """``POST edits``: keep or undo whole edits; those of one notebook are one undo step."""

    decision: Literal["keep", "undo"]
    edits: Annotated[tuple[EditChoice, ...], Field(min_length=1, max_length=5000), FailFast()]


class UndoTurn(CommandModel):
    """``POST sessions/{id}/undo``: undo a turn's changes of notebooks and files.

    The client's ``id`` makes it idempotent; without it, repeating the undo does nothing unless
    something else has happened. Restoring the resulting event reverts the undo.
    """

    turn_id: TurnId
    id: RestoreId | None = Field(default=None, min_length=1, max_length=128)


class SetKey(CommandModel):
    """``PUT providers/{id}/key``."""

    key: str = Field(min_length=1, max_length=4096)


class RuleExamples(CommandModel):
    """Targets that a rule must match and must not match; checked whenever the rule is read."""

    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


class RuleBody(CommandModel):
    """One permission rule."""

    action: Literal["allow", "ask", "deny"]
    tool: str
    match: JsonObject | None = None
    examples: RuleExamples | None = None


MOST_RULES = 2_000
MOST_DISABLED = 5_000


class PutPermissions(CommandModel):
    """``PUT tools/permissions``: the whole file.

    All parts are required, because a missing part would be removed.
    """

    version: Literal[1] = 1
    disabled: Annotated[tuple[str, ...], Field(max_length=MOST_DISABLED), FailFast()]
    rules: Annotated[tuple[RuleBody, ...], Field(max_length=MOST_RULES), FailFast()]
    disable_external: bool
    """Disables all tools that access other computers."""
    revision: str | None = None
    """Revision the change is based on; 409 ``stale`` if another is stored."""
