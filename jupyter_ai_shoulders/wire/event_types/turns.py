"""Events of a turn: its start, steps, costs and end.

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.event_types.base import EventBase
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId
from jupyter_ai_shoulders.wire.sessions import Mode
from jupyter_ai_shoulders.wire.usage import TokenUsage

Exit = Literal[
    "final_response",
    "step_cap",
    "tool_rejected",
    "cancelled",
    "ended_by_tool",
    "context_overflow",
    "budget_exhausted",
    "error",
    "interrupted",
]


class TurnStart(EventBase):
    """A turn started with a user message."""

    type: Literal["turn-start"] = "turn-start"
    message_id: MessageId
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int
    is_stand_in: bool = False
    """Whether the model was not chosen and is not kept by the session: the demo when nothing is set
    up, or another model in place of one that does not answer (a notice names it).
    """


class TurnResume(EventBase):
    """An interrupted turn continues under the same id."""

    type: Literal["turn-resume"] = "turn-resume"
    model: ModelId
    provider: ProviderId
    mode: Mode
    step_limit: int
    is_stand_in: bool = False
    """As in ``turn-start``."""


class StepStart(EventBase):
    """A model call is about to be made."""

    type: Literal["step-start"] = "step-start"
    step: int
    limit: int
    tokens_used: int
    """Estimated tokens of the request."""
    window: int | None


class RetryWait(EventBase):
    """The provider asked to wait, or failed in a way worth a retry."""

    type: Literal["retry-wait"] = "retry-wait"
    attempt: int
    delay_ms: int
    reason: str
    code: ErrorCode | None = None
    """The class of the failure; null in events of earlier versions."""


class UsageUpdate(EventBase):
    """Tokens and cost of one model call."""

    type: Literal["usage-update"] = "usage-update"
    model: ModelId
    usage: TokenUsage
    cost_micro_usd: int | None
    month_micro_usd: int | None
    month_limit_micro_usd: int | None


class Notice(EventBase):
    """A notice of the engine to the user."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    code: str
    text: str
    call_id: CallId | None = None
    details: JsonObject | None = None
    """For ``turn_limit`` and ``session_limit``: the details of the ``budget_exhausted`` error."""


class TurnEnd(EventBase):
    """The turn is over."""

    type: Literal["turn-end"] = "turn-end"
    exit: Exit
    error: ErrorInfo | None = None
    summary: str | None = None


class ErrorEvent(EventBase):
    """A failure that did not end the turn."""

    type: Literal["error"] = "error"
    error: ErrorInfo
