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
    """The settings of a turn; made by the driver, which knows the catalogue."""

    turn_id: TurnId
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int
    is_stand_in: bool = False
    """Whether the model only stands in: the session does not keep it."""
    notice: str = ""
    """Text shown to the user before the answer."""


@dataclass(frozen=True, slots=True)
class StartTurn:
    """Start a turn with a message; no turn is open."""

    message: SendMessage
    plan: TurnPlan
    replaced: Replaced | None = None
    """For an edited message: the messages it replaces, which the state no longer holds."""


@dataclass(frozen=True, slots=True)
class SteerTurn:
    """Queue a message while a turn runs."""

    message: SendMessage


@dataclass(frozen=True, slots=True)
class BeginTurn:
    """Start a turn from logged messages: queued ones, or one whose turn never started."""

    plan: TurnPlan
    orphan: MessageId | None = None


@dataclass(frozen=True, slots=True)
class ChangeQueued:
    """Change the text of a queued message; None removes it."""

    message_id: MessageId
    text: str | None


@dataclass(frozen=True, slots=True)
class CancelTurn:
    """Stop the turn."""


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Stop because the server stops."""


@dataclass(frozen=True, slots=True)
class ResumeInterrupted:
    """Resume the interrupted turn."""

    plan: TurnPlan


@dataclass(frozen=True, slots=True)
class DiscardInterrupted:
    """End the interrupted turn."""


@dataclass(frozen=True, slots=True)
class NoteInterruption:
    """Record that a session read from the log has an open turn."""

    found: tuple[ToolResult, ...] = ()
    """Outcomes of interrupted calls, as far as they can be determined."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """The user answers an approval."""

    call_id: CallId
    command: AnswerApproval


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """The user answers a question, possibly with a message."""

    call_id: CallId
    picks: tuple[str, ...]
    message: SendMessage | None = None


@dataclass(frozen=True, slots=True)
class ResultSupplied:
    """The user supplies the result of a call."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class CallOutcomesFound:
    """Outcomes of interrupted calls were determined."""

    results: tuple[ToolResult, ...]


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run that continued after its step has ended."""

    event: RunEnd


@dataclass(frozen=True, slots=True)
class TimeUp:
    """The turn has reached its time limit (``SessionPolicy.time_limit_s``)."""


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
