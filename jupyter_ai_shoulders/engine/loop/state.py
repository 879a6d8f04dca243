"""The state of one session as values: facts from the log, and the phase of the loop.

Facts (turn, calls, queue, grants) change by events alone (``engine.loop.event_reducer``), so the
log can rebuild them; the phase changes by signals (``engine.loop.transition``). This module makes
no decisions.
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
"""The scope of a reached spending limit; ``window`` is the model's token window."""

ENDING_TOOLS = frozenset({"complete", "clarify"})
"""A batch with one of these tools runs serially and stops there."""


@dataclass(frozen=True, slots=True)
class SessionPolicy:
    """The policy that follows from the session's kind."""

    stop_on_rejection: bool = True
    """Whether a denial without a reason ends the turn; otherwise the model continues with it."""
    interactive: bool = True
    """Whether somebody can answer approvals and questions."""
    time_limit_s: float | None = None
    """Working time of a turn; waiting for the user does not count."""
    nudges: bool = True
    """Whether the model is warned when it repeats reads, strays or returns empty replies."""
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
    """How a command is confined; unknown facts are None."""

    sandboxed: bool | None = None
    read_only: bool | None = None
    network: bool | None = None


NOT_CONFINED = Confinement()
"""For calls that are not commands, and commands in logs without this fact."""


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call as the user saw it when approving; it runs only unchanged."""

    confinement: Confinement
    preview: str | None = None
    """For approvals without hashes, in logs of earlier versions."""
    hashes: Mapping[str, str] = field(default_factory=dict[str, str])
    """SHA-256 of the other facts, by name (``engine.calls.approval_integrity``)."""


@dataclass(frozen=True, slots=True)
class AllowCall:
    """The call may run, confined as at the time of the decision."""

    confinement: Confinement = NOT_CONFINED


@dataclass(frozen=True, slots=True)
class RejectCall:
    """The call gets this result without running.

    ``ends_turn`` when the user denied it without saying what to do instead.
    """

    status: SettledStatus
    error: ErrorInfo
    ends_turn: bool = False


@dataclass(frozen=True, slots=True)
class DeferToUser:
    """The user supplies the call's result (``parse_only``)."""


Verdict = AllowCall | RejectCall | DeferToUser


@dataclass(frozen=True)
class CallState:
    """A tool call of the current step: proposed, judged, started, settled."""

    call_id: CallId
    tool: str
    arguments: JsonObject | None
    invalid: str | None
    risk: Risk
    title: str
    external: bool = False
    package: str | None = None
    """The installed package that provides the tool."""
    scopes: tuple[ApprovalScope, ...] = ()
    """The scopes offered to the user when the call was asked about."""
    shown: ShownCall | None = None
    """The call as the user saw it; after a lasting approval its code may change."""
    verdict: Verdict | None = None
    start: ToolStart | None = None
    """The event logged right before its effect; None before it starts."""
    question: bool = False
    """Whether it asked the user a question, as ``clarify`` does."""
    input: bool = False
    """Whether its code waits for input of the user."""
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
        """Whether nothing has been decided or done about it."""
        return not (self.settled or self.started or self.scopes or self.question)

    @property
    def settled(self) -> bool:
        """Whether the call has its result."""
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
    """A run that continues after its call got a result.

    See ``engine.calls.background_tasks``.
    """

    run: LongRunId
    call_id: CallId
    tool: str
    title: str
    turn_id: TurnId | None
    start: ToolStart | None = None
    """The event logged right before its effect."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Why an open turn waits for the user's decision."""

    scope: PauseScope
    text: str


@dataclass(frozen=True)
class TurnState:
    """The open turn; ``calls`` are those of step ``step``."""

    turn_id: TurnId
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int
    is_stand_in: bool = False
    """Whether the model only stands in: the session does not keep it."""
    step: int = 0
    reply_complete: bool = False
    """Whether the model's reply of this step arrived completely (its usage was recorded)."""
    suspended: bool = False
    """Whether an interruption was recorded; later events do not complete the reply."""
    calls: tuple[CallState, ...] = ()
    done: tuple[str, ...] = ()
    """Titles of the successful changes and runs of earlier steps."""
    summary: str | None = None
    """The summary given to ``complete``; the turn ends after this step."""
    paused: Pause | None = None
    """The limit at which it stopped until the user decides."""
    woken: bool = False
    """Whether the next step tells the model of the end of a run."""
    may_compact: bool = False
    """Whether the user permitted a summary of earlier messages."""

    def call(self, call_id: CallId) -> CallState | None:
        """Return the call of the current step with this id."""
        return next((call for call in self.calls if call.call_id == call_id), None)

    @property
    def question(self) -> CallId | None:
        """The call whose question waits for an answer; at most one."""
        return next((call.call_id for call in self.calls if call.asks), None)


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A user message that waits for the next step."""

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
    """The model call failed before output was shown; a retry follows."""

    step: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Compacting:
    """Earlier messages are being summarised to make room for this step."""

    step: int


@dataclass(frozen=True, slots=True)
class CheckingPermission:
    """The call is being checked against the rules."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class AwaitingApproval:
    """The user is asked to approve this call."""

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
    """The model has nothing to do until a background run ends."""


@dataclass(frozen=True, slots=True)
class RunningTools:
    """Calls of the batch run."""


@dataclass(frozen=True, slots=True)
class Stopping:
    """The operation is being stopped: a cancel, a shutdown, or the time limit."""

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


@dataclass(frozen=True)
class SessionState:
    """The facts and the phase of one session, as far as decisions need them."""

    policy: SessionPolicy
    phase: Phase = Idle()
    turn: TurnState | None = None
    queue: tuple[QueuedMessage, ...] = ()
    grants: tuple[Grant, ...] = ()
    runs: tuple[BackgroundRun, ...] = ()
    """The runs in the background."""
    ended: tuple[RunEnd, ...] = ()
    """Ends of runs to log at the next step; lost in a restart."""
    progress: ProgressGuard = field(default_factory=ProgressGuard)
    taint: tuple[TaintSource, ...] = ()
    """Sources of text in the conversation that the user may not have written."""
    document: str | None = None
    """The active document when the user last wrote."""
    opened: frozenset[str] = frozenset()
    """The active document and the other open ones."""
    about: str | None = None
    """The document a thread is pinned to."""
    addresses: frozenset[str] = frozenset()
    """Keys of the web addresses that the user wrote or a search found."""
    prompted_by_agent: bool = False
    """Whether the next message is the prompt of an agent that opened this thread."""
