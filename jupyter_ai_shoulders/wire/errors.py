"""The error object and its codes, as used in HTTP bodies, events and results.

The exceptions are in ``core.errors``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import JsonObject, WireModel
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

ErrorCode = Literal[
    # the caller's request
    "invalid_request",
    "not_found",
    "unknown_route",
    "conflict",
    "already_answered",
    "turn_running",
    "stale",
    "too_large",
    "forbidden",
    "unauthorized",
    "quarantined",
    # policy and money
    "denied",
    "approval_required",
    "budget_exhausted",
    "disabled",
    # providers
    "no_model",
    "unknown_model",
    "no_key",
    "authentication",
    "billing",
    "permission",
    "model_not_found",
    "rate_limited",
    "quota_exhausted",
    "overloaded",
    "provider_error",
    "provider_unreachable",
    "provider_timeout",
    "provider_protocol",
    "stream_truncated",
    "context_overflow",
    "content_filtered",
    "bad_request_upstream",
    # the loop
    "loop_detected",
    # tools, notebooks, kernels
    "unknown_tool",
    "invalid_arguments",
    "outside_workspace",
    "invalid_notebook",
    "not_a_notebook",
    "cell_not_found",
    "not_read",
    "cell_protected",
    "ambiguous",
    "page_not_responding",
    "no_kernel",
    "kernel_died",
    "kernel_busy",
    "cell_error",
    "aborted",
    "command_failed",
    "timeout",
    # the machine
    "state_unavailable",
    "disk_full",
    "internal",
]


class ErrorInfo(WireModel):
    """An error with advice for the user."""

    code: ErrorCode
    message: str
    """What was tried and what happened, in one or two sentences."""
    hint: str | None = None
    """What to do about it: the setting, command or key."""
    retryable: bool = False
    details: JsonObject | None = None
    provider: ProviderId | None = None
    model: ModelId | None = None
    request_id: str | None = None


class ErrorBody(WireModel):
    """The body of every HTTP error answer."""

    error: ErrorInfo
