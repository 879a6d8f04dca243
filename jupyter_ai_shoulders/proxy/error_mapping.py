"""Maps error codes to HTTP statuses and messages; used by each format's ``errors``."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo

STATUS: Mapping[ErrorCode, int] = {
    "invalid_request": 400,
    "bad_request_upstream": 400,
    "context_overflow": 400,
    "content_filtered": 400,
    "unauthorized": 401,
    "authentication": 401,
    "billing": 402,
    "quota_exhausted": 402,
    "budget_exhausted": 402,
    "forbidden": 403,
    "permission": 403,
    "no_key": 403,
    "no_model": 403,
    "denied": 403,
    "not_found": 404,
    "unknown_route": 404,
    "unknown_model": 404,
    "model_not_found": 404,
    "too_large": 413,
    "rate_limited": 429,
    "provider_error": 502,
    "provider_unreachable": 502,
    "provider_protocol": 502,
    "stream_truncated": 502,
    "overloaded": 503,
    "state_unavailable": 503,
    "provider_timeout": 504,
}
"""Statuses of the codes a caller can meet; all others are 500."""


QUOTA_CODES: frozenset[ErrorCode] = frozenset({"billing", "quota_exhausted", "budget_exhausted"})
"""Errors that OpenAI and Google report as an exhausted quota, with status 429."""


def status_of(info: ErrorInfo) -> int:
    """Return the HTTP status of an error."""
    return STATUS.get(info.code, 500)


def quota_status_of(info: ErrorInfo) -> int:
    """Return the HTTP status of an error where an exhausted quota is 429."""
    return 429 if info.code in QUOTA_CODES else status_of(info)


def error_message(info: ErrorInfo) -> str:
    """Return the error's message and hint."""
    return f"{info.message} {info.hint}" if info.hint else info.message
