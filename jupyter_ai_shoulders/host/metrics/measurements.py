"""What is measured about turns: values that metrics, spans and log lines are made from.

Made by ``host.metrics.turn_observer``. Times are seconds of the monotonic clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.events import (
    ApprovalDecision,
    Author,
    CallStatus,
    Exit,
    ToolCall,
    ToolResult,
    UsageUpdate,
)
from jupyter_ai_shoulders.wire.ids import CallId, LongRunId, ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import SessionKind, SessionSource

StepStop = Literal["next_step", "turn_end", "interrupted"]
ApprovalKind = Literal["mode", "rule", "taint", "protected", "run_policy", "loop", "sandbox"]


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """A turn, and the conversation it belongs to."""

    session_id: SessionId
    turn_id: TurnId
    model: ModelId | None
    """None for a turn that began in another process."""
    provider: ProviderId | None
    source: SessionSource | None
    """None if the conversation is deleted."""
    kind: SessionKind | None
    owner: str | None
    parent: TurnId | None = None
    """The turn that delegated this one."""
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """A turn started, or an interrupted one was resumed."""

    turn: TurnFacts
    at: float


@dataclass(frozen=True, slots=True)
class StepBegan:
    """A step of a turn started."""

    turn: TurnFacts
    step: int
    at: float


@dataclass(frozen=True, slots=True)
class ModelCallEnded:
    """A model answered, failed or was stopped."""

    turn: TurnFacts
    step: int
    attempt: int
    began: float
    """For a repeated attempt: when its wait was over."""
    first_output: float | None
    """When the first text, reasoning or tool call was committed."""
    ended: float
    usage: UsageUpdate | None
    error: ErrorCode | None = None
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class FirstOutput:
    """The first text, reasoning or tool call of a step was committed."""

    turn: TurnFacts
    seconds: float
    """Since the step began, waits for repeated attempts included."""


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """A model call is repeated after a wait."""

    turn: TurnFacts
    reason: ErrorCode | None
    delay: float


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool call has its final result."""

    turn: TurnFacts
    call_id: CallId
    tool: str
    status: CallStatus
    error: ErrorCode | None
    seconds: float
    ended: float
    run: LongRunId | None = None
    """The background run that ended; the call itself had ended with its step."""
    call: ToolCall | None = None
    result: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class ToolMovedToBackground:
    """A call continues after its step; it ends with ``ToolEnded``."""

    turn: TurnFacts
    call_id: CallId
    tool: str
    run: LongRunId


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A call waits for the user."""

    turn: TurnFacts
    tool: str
    kind: ApprovalKind


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """The user or a rule decided about a call."""

    turn: TurnFacts
    decision: ApprovalDecision
    by: Author
    waited: float | None
    """None when nobody was asked in this process."""


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A step is over, with all that happened in it."""

    turn: TurnFacts
    step: int
    began: float
    ended: float
    models: tuple[ModelCallEnded, ...]
    tools: tuple[ToolEnded, ...]
    stop: StepStop
    exit: Exit | None = None
    """The exit of the turn, if it ended with this step."""
    error: ErrorCode | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is over."""

    turn: TurnFacts
    began: float | None
    """None for a turn that began in another process."""
    ended: float
    steps: int
    retries: int
    exit: Exit
    error: ErrorCode | None


@dataclass(frozen=True, slots=True)
class TurnCost:
    """A model call of a turn was charged."""

    turn: TurnFacts
    micro_usd: int


Measurement = (
    TurnBegan
    | StepBegan
    | ModelCallEnded
    | FirstOutput
    | RetryScheduled
    | ToolEnded
    | ToolMovedToBackground
    | ApprovalRequested
    | ApprovalAnswered
    | StepEnded
    | TurnEnded
    | TurnCost
)


class MeasurementSink(Protocol):
    """Receives measurements in order; must not block."""

    def record(self, measured: Measurement) -> None:
        """Record a measurement."""
        ...
