"""What ``advance`` is told beside events (signals), and what it asks for (effects).

Signals are not logged: commands of the user, and the ends of operations. Effects are performed
by ``engine.session.driver``, in order. At most one operation runs per session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.engine.loop.state import (
    NOT_CONFINED,
    Confinement,
    DeferToUser,
    RejectCall,
)
from jupyter_ai_shoulders.providers.base import StopReason as ReplyStop
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval, SendMessage
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    ApprovalScope,
    AskReason,
    CommandReach,
    ContextRebase,
    EffectKind,
    Event,
    Notice,
    Replaced,
    RunEnd,
    ToolResult,
    UsageUpdate,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId, TurnId
from jupyter_ai_shoulders.wire.sessions import Mode, SessionStatus


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


# commands of the user


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


# ends of operations


@dataclass(frozen=True, slots=True)
class RequestPrepared:
    """The request is ready; sizes in estimated tokens."""

    tokens: int
    window: int


@dataclass(frozen=True, slots=True)
class RequestOverflowed:
    """The request does not fit the model; sizes in estimated tokens."""

    tokens: int
    budget: int
    window: int
    compactable: bool = False
    """Whether it would fit with a summary in the place of earlier messages."""
    largest: tuple[tuple[str, int], ...] = ()
    """What takes most of it, by name."""
    told: ErrorInfo | None = None
    """What the provider said, where it was the provider that found it too long."""
    wanted: bool = False
    """Whether it fits, and the user wants a summary all the same."""


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """A summary was written; nothing is replaced before these are logged."""

    rebase: ContextRebase
    notice: Notice


@dataclass(frozen=True, slots=True)
class ModelFinished:
    """The reply is complete; its parts and calls are in the log."""

    stop: ReplyStop
    usage: UsageUpdate
    empty: bool = False
    """Nothing came, neither text nor calls."""


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The model call failed.

    ``retry_ms`` is the wait before another try, None when none makes sense or something was
    shown already. ``usage`` is what was reported before the failure.
    """

    error: ErrorInfo
    retry_ms: int | None
    usage: UsageUpdate | None = None


@dataclass(frozen=True, slots=True)
class RetryElapsed:
    """The wait is over."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run; ``because`` names the rule, None when the mode allows it anyway."""

    because: str | None = None
    confinement: Confinement = NOT_CONFINED


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """The user decides."""

    arguments: JsonObject
    arguments_hash: str
    preview: str | None
    language: str | None
    reason: AskReason
    scopes: tuple[ApprovalScope, ...]
    confinement: Confinement = NOT_CONFINED
    reach: CommandReach | None = None
    effects: tuple[EffectKind, ...] | None = None
    fact_hashes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class PermissionChecked:
    """The rules have been asked; ``DeferToUser`` leaves the call to the user."""

    call_id: CallId
    outcome: Allowed | NeedsApproval | RejectCall | DeferToUser


@dataclass(frozen=True, slots=True)
class CallsDone:
    """The calls have their results in the log; ``bug`` when one failed in a way tools must not."""

    bug: ErrorInfo | None = None


@dataclass(frozen=True, slots=True)
class OperationStopped:
    """The operation ended because it was told to."""

    usage: UsageUpdate | None = None


@dataclass(frozen=True, slots=True)
class OperationCrashed:
    """The operation failed in a way nobody foresaw."""

    error: ErrorInfo


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

OperationEnd = (
    RequestPrepared
    | RequestOverflowed
    | ContextCompacted
    | ModelFinished
    | ModelFailed
    | RetryElapsed
    | PermissionChecked
    | CallsDone
    | OperationStopped
    | OperationCrashed
)
Signal = Command | OperationEnd


# operations: they take time, and end with a signal


@dataclass(frozen=True, slots=True)
class PrepareRequest:
    """Build the request of a step; ``fresh`` when context may have changed since the last one."""

    step: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class CompactContext:
    """Summarise earlier messages to make room for a step.

    Ends with ``RequestOverflowed`` if there is none.

    ``told`` is what the provider said when it refused the step.
    """

    step: int
    told: ErrorInfo | None = None
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class CallModel:
    """Send the request and record the reply."""

    step: int
    attempt: int


@dataclass(frozen=True, slots=True)
class WaitRetry:
    """Wait."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class CheckPermission:
    """Ask the rules about a call."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Give these calls of the batch, all judged, their results; in model order."""

    call_ids: tuple[CallId, ...]


Operation = PrepareRequest | CompactContext | CallModel | WaitRetry | CheckPermission | RunCalls


# effects


@dataclass(frozen=True, slots=True)
class AppendEvent:
    """Append the event to the log."""

    event: Event


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Show the session so, with its totals."""

    status: SessionStatus


@dataclass(frozen=True, slots=True)
class StartOperation:
    """Start an operation."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class StopOperation:
    """Stop the operation that runs; it ends with ``OperationStopped``, or with its own end."""


@dataclass(frozen=True, slots=True)
class StopBackgroundRuns:
    """Stop what goes on beside the steps; each run tells of its end."""


@dataclass(frozen=True, slots=True)
class ContinueQueue:
    """The turn ended while messages wait: begin one from them."""


@dataclass(frozen=True, slots=True)
class SyncLog:
    """Bring the log to the disk."""


@dataclass(frozen=True, slots=True)
class RefuseCommand:
    """The signal makes no sense now; the state is unchanged."""

    code: ErrorCode
    message: str

    def error(self) -> Conflict:
        """Return what the caller is told."""
        return Conflict(self.message, code=self.code)


Effect = (
    AppendEvent
    | SetStatus
    | StartOperation
    | StopOperation
    | StopBackgroundRuns
    | ContinueQueue
    | SyncLog
    | RefuseCommand
)
