"""Errors in the form of OpenAI's API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.proxy.error_mapping import QUOTA_CODES, error_message, quota_status_of
from jupyter_ai_shoulders.proxy.event_encoding import dump, sse
from jupyter_ai_shoulders.proxy.wire_format import ErrorResponse
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo

_CODES: Mapping[ErrorCode, str] = {
    "unknown_model": "model_not_found",
    "model_not_found": "model_not_found",
    "context_overflow": "context_length_exceeded",
    "content_filtered": "content_policy_violation",
    "rate_limited": "rate_limit_exceeded",
    "unauthorized": "invalid_api_key",
    "authentication": "invalid_api_key",
    **dict.fromkeys(QUOTA_CODES, "insufficient_quota"),
}
_TYPES: Mapping[int, str] = {429: "rate_limit_error", 403: "permission_error"}


def refused(info: ErrorInfo, request_id: str) -> ErrorResponse:
    """Return the error as a response; this format has the request id in a header."""
    del request_id
    return ErrorResponse(quota_status_of(info), dump({"error": error_body(info)}))


def error_event(info: ErrorInfo) -> bytes:
    """Return the error as the last event of a stream."""
    return sse({"error": error_body(info)})


def error_body(info: ErrorInfo) -> dict[str, Any]:
    """Return the error object of both OpenAI formats."""
    status = quota_status_of(info)
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {
        "message": error_message(info),
        "type": "insufficient_quota" if info.code in QUOTA_CODES else kind,
        "param": (info.details or {}).get("param"),
        "code": _CODES.get(info.code),
    }
