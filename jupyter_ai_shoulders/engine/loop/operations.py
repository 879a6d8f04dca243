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
    ApprovalScope,
    AskReason,
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


# their ends


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
