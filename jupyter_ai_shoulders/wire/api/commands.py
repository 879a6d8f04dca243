"""Request bodies of the HTTP API (chapter 02)."""

from __future__ import annotations

from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, FailFast, Field, model_validator
from pydantic_core import PydanticCustomError

from jupyter_ai_shoulders.wire.api.anchors import GivenAnchor
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
"""Characters of a message with its attachments and context, pictures not counted.

That is some 250 000 tokens, more than most models take; a file may be larger and is read in parts.
"""
MOST_ATTACHMENTS = 100
MESSAGE_TOO_LONG = "message_too_long"
"""The type of the validation error."""

GivenAttachments = Annotated[tuple[Attachment, ...], Field(max_length=MOST_ATTACHMENTS), FailFast()]
"""The attachments of a message in a request; the first one that is wrong is reported."""


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
    """Return how many characters the strings of a message have."""
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
    anchor: GivenAnchor | None = None
    interactive: bool | None = None
    source: SessionSource | None = None
    """What began it, for display only; without it the kind's own."""


class PatchSession(CommandModel):
    """``PATCH sessions/{id}``: what is absent or null stays."""

    title: str | None = None
    model: ModelId | None = None
    mode: Mode | None = None
    tools: ToolsMode | None = None
    status: Literal["resolved", "idle"] | None = None


class SendMessage(MessageCommand):
    """``POST sessions/{id}/messages``; the client's ``id`` makes it idempotent."""

    id: MessageId = Field(min_length=1, max_length=128)
    text: str
    attachments: GivenAttachments = ()
    context: MessageContext | None = None
    model: ModelId | None = None
    mode: Mode | None = None
    client_id: ClientId | None = Field(default=None, max_length=128)
    """The page that sends it: edits of documents that several pages have open are made there."""
    replaces: MessageId | None = None
    """A message of the past that this one is the edited version of.

    The conversation goes on from here; what stood behind the old message stays in the log
    (``branches``). Documents are not put back.
    """


class ForkSession(CommandModel):
    """``POST sessions/{id}/fork``."""

    seq: int | None = Field(default=None, ge=1)
    """The last event copied: a message of the user, or one after which no turn is open.

    Without it as far as the conversation is settled.
    """


class RestoreSession(CommandModel):
    """``POST sessions/{id}/restore``: put back to before a message of the user.

    The client's ``id`` makes it idempotent; without it, the same restore again does nothing as
    long as nothing else has happened. The ``seq`` of a ``restore`` takes that one back.
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
    """``POST sessions/{id}/resume``; a turn paused at a limit of money may get a higher one."""

    decision: Literal["resume", "discard"]
    limit_micro_usd: int | None = Field(default=None, gt=0)
    """The new limit of the turn or conversation that reached its own."""


ANSWER_LIMIT = 20_000
"""Characters of an answer."""
_AnswerText = Annotated[str, Field(min_length=1, max_length=ANSWER_LIMIT)]


class AnswerQuestion(CommandModel):
    """``POST sessions/{id}/clarifications/{call_id}``: free text, or the options picked."""

    answer: _AnswerText | Annotated[tuple[_AnswerText, ...], Field(min_length=1, max_length=6)]

    @property
    def picks(self) -> tuple[str, ...]:
        """The answer as the options picked."""
        return (self.answer,) if isinstance(self.answer, str) else self.answer


INPUT_LIMIT = 100_000
"""Characters of what a user types for a running cell."""


class AnswerInput(CommandModel):
    """``POST sessions/{id}/stdin/{call_id}``: what the user types for a running cell; not kept."""

    text: str = Field(max_length=INPUT_LIMIT)


class SupplyResult(CommandModel):
    """``POST sessions/{id}/tool-results/{call_id}``, in ``parse_only`` mode."""

    content: str = Field(max_length=1_000_000)
    """What the model reads."""
    ok: bool = True


class StartRun(MessageCommand):
    """``POST runs``.

    The same ``external_key`` continues the same session, whose toolset and interactivity stay as
    they were made. The client's ``id`` makes the prompt idempotent; without it each is a new one.
    """

    prompt: str
    model: ModelId | None = None
    mode: Mode | None = None
    toolset: Toolset | None = None
    attachments: GivenAttachments = ()
    interactive: bool | None = None
    external_key: str | None = Field(default=None, min_length=1, max_length=256)
    id: MessageId | None = Field(default=None, min_length=1, max_length=128)


class DecideProposal(CommandModel):
    """``POST proposals/{id}``: ``text`` applies another version instead.

    ``base`` is the text of the document that the user saw beside it: ``text`` replaces that, lines
    and all, and what was changed since is merged. Without it ``text`` is a version of what is
    proposed, made for the proposal's ``old``.
    """

    decision: Literal["apply", "dismiss"]
    text: str | None = None
    base: str | None = None
    run: bool = False


class PutCellText(CommandModel):
    """``POST sessions/{id}/cell-text``: the answer of an edit in place becomes a pending edit.

    ``base`` is the text of the cell that the model read, ``text`` what it is to become.
    """

    document: str
    cell_id: CellId
    base: str
    text: str


class DecideEdit(CommandModel):
    """``POST edits/{id}``: keep or undo all of a pending edit, or a part of it.

    ``hunks`` are positions in the list that was shown. A page that has made the decision in its
    editor already gives ``baseline`` instead: what is left to look through is what stands between
    that text and the document's. ``current_version`` and ``baseline_version`` are of the texts the
    user saw; when they are others now, the answer is 409 and nothing is changed.
    """

    decision: Literal["keep", "undo"]
    hunks: tuple[int, ...] | None = None
    baseline: str | None = None
    current_version: Version | None = None
    baseline_version: Version | None = None


class EditChoice(CommandModel):
    """One pending edit, as the user saw it."""

    id: EditId
    current_version: Version | None = None
    baseline_version: Version | None = None


class DecideEdits(CommandModel):
    """``POST edits``: keep or undo whole edits, those of one notebook as one undo step."""

    decision: Literal["keep", "undo"]
    edits: Annotated[tuple[EditChoice, ...], Field(min_length=1, max_length=5000), FailFast()]


class UndoTurn(CommandModel):
    """``POST sessions/{id}/undo``: take back what a turn did to notebooks and files.

    The client's ``id`` makes it idempotent; without it, the same undo again does nothing as long
    as nothing else has happened. A restore of the event that answers takes the undo back.
    """

    turn_id: TurnId
    id: RestoreId | None = Field(default=None, min_length=1, max_length=128)


class SetKey(CommandModel):
    """``PUT providers/{id}/key``."""

    key: str = Field(min_length=1, max_length=4096)


class RuleExamples(CommandModel):
    """Targets a rule must match and must not; checked whenever the rule is read."""

    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


class RuleBody(CommandModel):
    """One permission rule (chapter 05)."""

    action: Literal["allow", "ask", "deny"]
    tool: str
    match: JsonObject | None = None
    examples: RuleExamples | None = None


MOST_RULES = 2_000
MOST_DISABLED = 5_000


class PutPermissions(CommandModel):
    """``PUT tools/permissions``: the whole file.

    Each part must be given: what is missing would be taken back.
    """

    version: Literal[1] = 1
    disabled: Annotated[tuple[str, ...], Field(max_length=MOST_DISABLED), FailFast()]
    rules: Annotated[tuple[RuleBody, ...], Field(max_length=MOST_RULES), FailFast()]
    disable_external: bool
    """One switch for all tools that reach out of this computer."""
    revision: str | None = None
    """Of the list this was made from: when another is stored by now, 409 ``stale``."""
