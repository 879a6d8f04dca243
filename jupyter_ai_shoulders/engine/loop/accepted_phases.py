"""The phases in which each signal is accepted, and the refusals in all others.

Used by ``engine.loop.transition``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.engine.loop.commands import (
    ApprovalAnswered,
    BeginTurn,
    CallOutcomesFound,
    CancelTurn,
    ChangeQueued,
    DiscardInterrupted,
    NoteInterruption,
    QuestionAnswered,
    ResultSupplied,
    ResumeInterrupted,
    RunEnded,
    Shutdown,
    StartTurn,
    SteerTurn,
    TimeUp,
)
from jupyter_ai_shoulders.engine.loop.operations import (
    CallsDone,
    ContextCompacted,
    ModelFailed,
    ModelFinished,
    OperationCrashed,
    OperationStopped,
    PermissionChecked,
    RequestOverflowed,
    RequestPrepared,
    RetryElapsed,
    Signal,
)
from jupyter_ai_shoulders.engine.loop.state import (
    AwaitingAnswer,
    AwaitingApproval,
    AwaitingResults,
    AwaitingRuns,
    CheckingPermission,
    Compacting,
    Idle,
    Interrupted,
    Phase,
    PreparingRequest,
    RunningTools,
    Stopping,
    Streaming,
    WaitingToRetry,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode

WAITING: tuple[type[Phase], ...] = (
    AwaitingApproval,
    AwaitingAnswer,
    AwaitingResults,
    AwaitingRuns,
)

WORKING: tuple[type[Phase], ...] = (
    PreparingRequest,
    Streaming,
    WaitingToRetry,
    Compacting,
    CheckingPermission,
    RunningTools,
)
"""The phases with an operation that a cancel must stop."""

EVERY: tuple[type[Phase], ...] = (Idle, *WORKING, *WAITING, Stopping, Interrupted)

ACCEPTED_IN: dict[type[Signal], tuple[type[Phase], ...]] = {
    StartTurn: (Idle,),
    BeginTurn: (Idle,),
    SteerTurn: (*WORKING, *WAITING),
    ChangeQueued: EVERY,
    CancelTurn: (*WORKING, *WAITING),
    Shutdown: (*WORKING, *WAITING),
    ResumeInterrupted: (Interrupted,),
    DiscardInterrupted: (Interrupted,),
    NoteInterruption: (Interrupted,),
    ApprovalAnswered: (AwaitingApproval, Interrupted),
    QuestionAnswered: (AwaitingAnswer, RunningTools, Interrupted),
    ResultSupplied: (AwaitingResults, Interrupted),
    CallOutcomesFound: (Interrupted,),
    TimeUp: WORKING,
    RunEnded: EVERY,
    RequestPrepared: (PreparingRequest, Stopping),
    RequestOverflowed: (PreparingRequest, Compacting, Stopping),
    ContextCompacted: (Compacting, Stopping),
    ModelFinished: (Streaming, Stopping),
    ModelFailed: (Streaming, Stopping),
    RetryElapsed: (WaitingToRetry, Stopping),
    PermissionChecked: (CheckingPermission, Stopping),
    CallsDone: (RunningTools, Stopping),
    OperationStopped: (*WORKING, Stopping),
    OperationCrashed: (*WORKING, Stopping),
}
"""The phases that accept each signal; all others refuse it."""

REFUSALS: dict[type[Signal], tuple[ErrorCode, str]] = {
    StartTurn: ("turn_running", "A turn is open in this conversation."),
    BeginTurn: ("turn_running", "A turn is open in this conversation."),
    SteerTurn: ("conflict", "No turn is running for the message to join."),
    CancelTurn: ("conflict", "No turn is running."),
    Shutdown: ("conflict", "No turn is running."),
    ResumeInterrupted: ("conflict", "The conversation is not interrupted."),
    DiscardInterrupted: ("conflict", "The conversation is not interrupted."),
    NoteInterruption: ("conflict", "The conversation is not interrupted."),
    ApprovalAnswered: ("already_answered", "This call is no longer waiting for an answer."),
    QuestionAnswered: ("already_answered", "This question is no longer waiting for an answer."),
    ResultSupplied: ("already_answered", "This call is not waiting for a result."),
    CallOutcomesFound: ("conflict", "The conversation is not interrupted."),
}

UNEXPECTED: tuple[ErrorCode, str] = ("conflict", "An operation ended that was not running.")
