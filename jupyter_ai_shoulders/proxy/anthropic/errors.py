"""Errors in the form of Anthropic's API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.proxy.error_mapping import error_message, status_of
from jupyter_ai_shoulders.proxy.event_encoding import dump, sse
from jupyter_ai_shoulders.proxy.wire_format import ErrorResponse
from jupyter_ai_shoulders.wire.errors import ErrorInfo

_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
OVERLOADED = 529
"""The status that Anthropic uses instead of 503."""


def refused(info: ErrorInfo, request_id: str) -> ErrorResponse:
    """Return the error as a response."""
    status = status_of(info)
    body = {"type": "error", "error": _error(info), "request_id": request_id}
    return ErrorResponse(OVERLOADED if info.code == "overloaded" else status, dump(body))


def error_event(info: ErrorInfo) -> bytes:
    """Return the error as the last event of a stream."""
    return sse({"type": "error", "error": _error(info)}, "error")


def _error(info: ErrorInfo) -> dict[str, Any]:
    words = error_message(info)
    if info.code == "context_overflow":
        words = f"prompt is too long: {words}"  # the phrase that clients look for
    return {"type": _TYPES.get(status_of(info), "api_error"), "message": words}
