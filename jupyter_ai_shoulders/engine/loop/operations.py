"""Operations the state machine starts, and the signals they end with. They are not logged.

``engine.session.effect_runner`` performs them, at most one at a time for each session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jupyter_ai_shoulders.engine.loop.commands import Command
from jupyter_ai_shoulders.engine.loop.state import (
    NOT_CONFINED,
    Confinement,
    DeferToUser,
    RejectCall,
)
from jupyter_ai_shoulders.providers.base import StopReason as ReplyStop
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    ApprovalReason,
    ApprovalScope,
    CommandReach,
    ContextRebase,
    EffectKind,
    Notice,
    UsageUpdate,
)
from jupyter_ai_shoulders.wire.ids import CallId

# operations


@dataclass(frozen=True, slots=True)
class PrepareRequest:
    """Build the request of a step; ``fresh`` when context may have changed since the last one."""

    step: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class CompactContext:
    """Summarise earlier messages to make room for a step.

    Ends with ``RequestOverflowed`` if there is nothing to summarise. ``provider_error`` is set when
    the provider refused the step.
    """

    step: int
    provider_error: ErrorInfo | None = None
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class CallModel:
    """Send the request and record the reply."""

    step: int
    attempt: int


@dataclass(frozen=True, slots=True)
class WaitRetry:
    """Wait before a retry."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class CheckPermission:
    """Check a call against the rules."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Run these judged calls of the batch, in model order."""

    call_ids: tuple[CallId, ...]


Operation = PrepareRequest | CompactContext | CallModel | WaitRetry | CheckPermission | RunCalls


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
    """Whether it would fit with a summary in place of earlier messages."""
    largest: tuple[tuple[str, int], ...] = ()
    """The largest parts of the request, by name."""
    provider_error: ErrorInfo | None = None
    """The provider's error, where the provider refused the request."""
    wanted: bool = False
    """Whether the request fits but the user wants a summary."""


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """A summary was written; messages are replaced when these events are logged."""

    rebase: ContextRebase
    notice: Notice


@dataclass(frozen=True, slots=True)
class ModelFinished:
    """The reply is complete; its parts and calls are in the log."""

    stop: ReplyStop
    usage: UsageUpdate
    empty: bool = False
    """Whether the reply has neither text nor calls."""


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """The model call failed.

    ``retry_ms`` is the wait before a retry, None when a retry makes no sense or output was already
    shown. ``usage`` is what the provider reported before the failure.
    """

    error: ErrorInfo
    retry_ms: int | None
    usage: UsageUpdate | None = None


@dataclass(frozen=True, slots=True)
class RetryElapsed:
    """The wait is over."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run; ``because`` names the rule, None when the mode allows it."""

    because: str | None = None
    confinement: Confinement = NOT_CONFINED


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """The user decides about the call."""

    arguments: JsonObject
    arguments_hash: str
    preview: str | None
    language: str | None
    reason: ApprovalReason
    scopes: tuple[ApprovalScope, ...]
    confinement: Confinement = NOT_CONFINED
    reach: CommandReach | None = None
    effects: tuple[EffectKind, ...] | None = None
    fact_hashes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class PermissionChecked:
    """A call was checked against the rules; ``DeferToUser`` leaves it to the user."""

    call_id: CallId
    outcome: Allowed | NeedsApproval | RejectCall | DeferToUser


@dataclass(frozen=True, slots=True)
class CallsDone:
    """The results of the calls are logged; ``bug`` is set when a tool failed by a bug."""

    bug: ErrorInfo | None = None


@dataclass(frozen=True, slots=True)
class OperationStopped:
    """The operation was stopped."""

    usage: UsageUpdate | None = None


@dataclass(frozen=True, slots=True)
class OperationCrashed:
    """The operation failed unexpectedly."""

    error: ErrorInfo


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
