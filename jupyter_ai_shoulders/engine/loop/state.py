"""The state of one session as values: what the log says, and the phase the loop is in.

Facts (turn, calls, queue, grants) change by events alone (``engine.loop.event_reducer``), so the
log can rebuild them; the phase changes by signals (``engine.loop.transition``). Nothing here
decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.engine.guardrails.progress_guard import ProgressGuard
from jupyter_ai_shoulders.tools.permissions.grants import Grant
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import ApprovalScope, CallStatus, Risk, RunEnd, ToolStart
from jupyter_ai_shoulders.wire.ids import (
    CallId,
    LongRunId,
    MessageId,
    ModelId,
    ProviderId,
    TurnId,
)
from jupyter_ai_shoulders.wire.sessions import Mode, SessionKind

SettledStatus = Literal["error", "denied", "skipped", "cancelled"]
StopReason = Literal["cancel", "shutdown", "time"]
PauseScope = Literal["turn", "session", "window"]
"""Whose limit of money was reached; the model's window, of tokens."""

ENDING_TOOLS = frozenset({"complete", "clarify"})
"""A batch with one of these runs serially and stops there (chapter 04)."""


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """What follows from the session's kind (chapter 04, policy values)."""

    stop_on_rejection: bool = True
    """A denial without a reason ends the turn; otherwise the model continues with it."""
    interactive: bool = True
    """Somebody can answer an approval, or a question."""
    time_limit_s: float | None = None
    """How long a turn may work; waiting for the user does not count."""
    nudges: bool = True
    """Whether the model is told when it reads twice, wanders or answers with nothing."""
    compaction: CompactionMode = "auto"
    """What happens when the conversation outgrows the model."""


def policy_for(
    kind: SessionKind,
    interactive: bool,
    time_limit_s: float | None = None,
    *,
    nudges: bool = True,
    compaction: CompactionMode = "auto",
) -> SessionPolicy:
    """Return the policy of a session of this kind."""
    return SessionPolicy(
        stop_on_rejection=kind in {"chat", "task", "kernel"},
        interactive=interactive,
        time_limit_s=time_limit_s,
        nudges=nudges,
        compaction=compaction,
    )


# calls and turns


@dataclass(frozen=True, slots=True)
class Confinement:
    """How a command is held; what is not known is None."""

    sandboxed: bool | None = None
    read_only: bool | None = None
    network: bool | None = None


NOT_CONFINED = Confinement()
"""Of calls that are not commands, and of commands in logs that do not say."""


@dataclass(frozen=True, slots=True)
class ShownCall:
    """What the user was shown of a call: it runs like this, or not at all."""

    confinement: Confinement
    preview: str | None = None
    """Of an approval without hashes, as logs of earlier versions have it."""
    hashes: Mapping[str, str] = field(default_factory=dict[str, str])
    """SHA-256 of the other facts, by name (``engine.calls.approval_integrity``)."""


@dataclass(frozen=True, slots=True)
class AllowCall:
    """The call may run, held as it was when this was decided."""

    confinement: Confinement = NOT_CONFINED


@dataclass(frozen=True, slots=True)
class RejectCall:
    """The call gets this result without running.

    ``ends_turn`` when the user denied it and did not say what to do instead.
    """

    status: SettledStatus
    error: ErrorInfo
    ends_turn: bool = False


@dataclass(frozen=True, slots=True)
class DeferToUser:
    """The user supplies the call's result (``parse_only``)."""


Verdict = AllowCall | RejectCall | DeferToUser


@dataclass(frozen=True, slots=True)
class CallState:
    """A tool call of the present step: proposed, judged, started, settled."""

    call_id: CallId
    tool: str
    arguments: JsonObject | None
    invalid: str | None
    risk: Risk
    title: str
    external: bool = False
    package: str | None = None
    """The installed package whose tool it is."""
    scopes: tuple[ApprovalScope, ...] = ()
    """Offered to the user, once the call was asked about."""
    shown: ShownCall | None = None
    """What the user was asked about; once allowed for longer, its code may change."""
    verdict: Verdict | None = None
    start: ToolStart | None = None
    """What was logged right before its effect; None when it has not begun."""
    question: bool = False
    """It asked the user, as ``clarify`` does."""
    input: bool = False
    """Its code waits for the user to type something."""
    reply: str | None = None
    """The message that answers it."""
    answer: tuple[str, ...] | None = None
    """The answer as logged."""
    status: CallStatus | None = None

    @property
    def started(self) -> bool:
        """Whether it may have had an effect."""
        return self.start is not None

    @property
    def asks(self) -> bool:
        """Whether its question waits for an answer."""
        return self.question and not self.settled and self.answer is None and self.reply is None

    @property
    def deferred(self) -> bool:
        """Whether it waits for a result that the user supplies."""
        return isinstance(self.verdict, DeferToUser) and not self.settled

    @property
    def untouched(self) -> bool:
        """Whether nobody has decided or done anything about it."""
        return not (self.settled or self.started or self.scopes or self.question)

    @property
    def settled(self) -> bool:
        """Whether the call has its one result."""
        return self.status is not None

    @property
    def changed(self) -> bool:
        """Whether the call succeeded in changing or running something."""
        return self.status == "ok" and self.risk != "read"

    @property
    def waits(self) -> bool:
        """Whether the user was asked and has not answered."""
        return bool(self.scopes) and self.verdict is None and not self.settled


@dataclass(frozen=True, slots=True)
class BackgroundRun:
    """What a call started that went on when it had its result.

    See ``engine.calls.background_tasks``.
    """

    run: LongRunId
    call_id: CallId
    tool: str
    title: str
    turn_id: TurnId | None
    start: ToolStart | None = None
    """What was logged right before its effect."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Why an open turn waits for the user's word."""

    scope: PauseScope
    text: str


@dataclass(frozen=True, slots=True)
class TurnState:
    """The open turn; ``calls`` are those of step ``step``."""

    turn_id: TurnId
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int
    is_stand_in: bool = False
    """Whether the model is only for now: the session does not keep it."""
    step: int = 0
    reply_complete: bool = False
    """Whether the model's reply of this step arrived whole (its usage was booked)."""
    suspended: bool = False
    """An interruption was noted; what comes later does not make the reply whole."""
    calls: tuple[CallState, ...] = ()
    done: tuple[str, ...] = ()
    """Titles of the changes and runs that succeeded in earlier steps."""
    summary: str | None = None
    """What ``complete`` was given; the turn ends after this step."""
    paused: Pause | None = None
    """It stopped at a limit, and goes on when the user says so."""
    woken: bool = False
    """The model is told of the end of a run in the next step."""
    may_compact: bool = False
    """The user was asked, and lets earlier messages be summarised."""

    def call(self, call_id: CallId) -> CallState | None:
        """Return the call of the present step with this id."""
        return next((call for call in self.calls if call.call_id == call_id), None)

    @property
    def question(self) -> CallId | None:
        """The call whose question waits for an answer; never more than one."""
        return next((call.call_id for call in self.calls if call.asks), None)


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A user message that waits for the next step boundary."""

    message_id: MessageId


# phases


@dataclass(frozen=True, slots=True)
class Idle:
    """No turn is open."""


@dataclass(frozen=True, slots=True)
class PreparingRequest:
    """The request of this step is being built."""

    step: int


@dataclass(frozen=True, slots=True)
class Streaming:
    """The model answers; ``attempt`` counts from 1."""

    step: int
    attempt: int


@dataclass(frozen=True, slots=True)
class WaitingToRetry:
    """The model call failed before anything was shown; it is tried again after a wait."""

    step: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Compacting:
    """Earlier messages are being summarised to make room for this step."""

    step: int


@dataclass(frozen=True, slots=True)
class CheckingPermission:
    """The rules are being asked about this call."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class AwaitingApproval:
    """The user is asked about this call."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class AwaitingAnswer:
    """The user is asked a question."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class AwaitingResults:
    """The user supplies results of calls (``parse_only``)."""


@dataclass(frozen=True, slots=True)
class AwaitingRuns:
    """The model has nothing else to do: the turn goes on when what it started has ended."""


@dataclass(frozen=True, slots=True)
class RunningTools:
    """Calls of the batch run."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """A cancel or shutdown was asked for, or time is up; what runs is being stopped."""

    reason: StopReason


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The turn is open and nothing runs: after a crash or a stop, or paused at a limit."""


Phase = (
    Idle
    | PreparingRequest
    | Streaming
    | WaitingToRetry
    | Compacting
    | CheckingPermission
    | AwaitingApproval
    | AwaitingAnswer
    | AwaitingResults
    | AwaitingRuns
    | RunningTools
    | Stopping
    | Interrupted
)


@dataclass(frozen=True, slots=True)
class SessionState:
    """One session, as far as the loop's decisions need it."""

    policy: SessionPolicy
    phase: Phase = Idle()
    turn: TurnState | None = None
    queue: tuple[QueuedMessage, ...] = ()
    grants: tuple[Grant, ...] = ()
    runs: tuple[BackgroundRun, ...] = ()
    """What goes on beside the steps."""
    ended: tuple[RunEnd, ...] = ()
    """Ends of runs that are logged at the next step: not known after a restart."""
    progress: ProgressGuard = field(default_factory=ProgressGuard)
    taint: tuple[TaintSource, ...] = ()
    """Where text of the conversation came from that may not be the user's."""
    document: str | None = None
    """The document in front of the person when they wrote last."""
    opened: frozenset[str] = frozenset()
    """That document, and the others they had open."""
    about: str | None = None
    """The document a thread is pinned to."""
