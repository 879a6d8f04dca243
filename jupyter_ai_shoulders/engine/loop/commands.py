"""Commands: what users and the driver ask the state machine to do. They are not logged.

Made by ``engine.engine``, ``engine.session`` and ``engine.calls.background_tasks``; decided by
``engine.loop.transition``.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, SendMessage
from jupyter_ai_shoulders.wire.events import (
    Replaced,
    RunEnd,
    ToolResult,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId, TurnId
from jupyter_ai_shoulders.wire.sessions import Mode


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What a turn starts or resumes with; made by the driver, which knows the catalogue."""

    turn_id: TurnId
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int
    is_stand_in: bool = False
    """Whether the model is only for now: the session does not keep it."""
    notice: str = ""
    """What the user reads before the answer."""


@dataclass(frozen=True, slots=True)
class StartTurn:
    """A message while no turn is open."""

    message: SendMessage
    plan: TurnPlan
    replaced: Replaced | None = None
    """Of an edited message: what it takes the place of, which the state does not hold any more."""


@dataclass(frozen=True, slots=True)
class SteerTurn:
    """A message while a turn runs."""

    message: SendMessage


@dataclass(frozen=True, slots=True)
class BeginTurn:
    """Start a turn from what is logged: queued messages, or one whose turn never began."""

    plan: TurnPlan
    orphan: MessageId | None = None


@dataclass(frozen=True, slots=True)
class ChangeQueued:
    """A queued message gets another text; None removes it."""

    message_id: MessageId
    text: str | None


@dataclass(frozen=True, slots=True)
class CancelTurn:
    """Stop the turn."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """The server stops."""


@dataclass(frozen=True, slots=True)
class ResumeInterrupted:
    """Go on with the interrupted turn."""

    plan: TurnPlan


@dataclass(frozen=True, slots=True)
class DiscardInterrupted:
    """End the interrupted turn."""


@dataclass(frozen=True, slots=True)
class NoteInterruption:
    """The session was read from the log and its turn was found open: say so."""

    found: tuple[ToolResult, ...] = ()
    """What became of calls that ran when it was interrupted, where it could be told."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """The user answers an approval."""

    call_id: CallId
    command: AnswerApproval


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The user answers a question, perhaps by a message."""

    call_id: CallId
    picks: tuple[str, ...]
    message: SendMessage | None = None


@dataclass(frozen=True, slots=True)
class ResultSupplied:
    """The user supplies the result of a call."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class CallOutcomesFound:
    """What became of calls that a crash interrupted, where it can be told."""

    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class RunEnded:
    """What a call started, and what went on after its step, has ended."""

    event: RunEnd


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The turn has worked as long as it may (``SessionPolicy.time_limit_s``)."""


UserDecision = (
    ResumeInterrupted
    | DiscardInterrupted
    | NoteInterruption
    | CallOutcomesFound
    | ApprovalAnswered
    | QuestionAnswered
    | ResultSupplied
)


Command = (
    StartTurn
    | SteerTurn
    | BeginTurn
    | ChangeQueued
    | CancelTurn
    | Shutdown
    | TimeUp
    | RunEnded
    | UserDecision
)
