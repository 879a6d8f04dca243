"""Errors as Google's API words them (reference §4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.proxy.error_mapping import error_message, status_of
from jupyter_ai_shoulders.proxy.event_encoding import dump
from jupyter_ai_shoulders.proxy.wire_format import ErrorResponse
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo

_RPC = "type.googleapis.com/google.rpc"
_QUOTA: frozenset[ErrorCode] = frozenset({"billing", "quota_exhausted", "budget_exhausted"})
_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_TOO_LONG = "The input token count exceeds the maximum number of tokens allowed"
"""What clients look for."""


def refused(info: ErrorInfo, request_id: str) -> ErrorResponse:
    """Return the error as an answer; the id is in a header in this format."""
    del request_id
    return ErrorResponse(_status(info), dump(error_body(info)))


def error_body(info: ErrorInfo) -> dict[str, Any]:
    """Return the error, alone or as a chunk of a stream."""
    status = _status(info)
    words = error_message(info)
    if info.code == "context_overflow":
        words = f"{_TOO_LONG}: {words}"
    return {
        "error": {
            "code": status,
            "message": words,
            "status": _STATUSES.get(status, "UNKNOWN"),
            "details": _details(info),
        }
    }


def _status(info: ErrorInfo) -> int:
    return 429 if info.code in _QUOTA else status_of(info)


def _details(info: ErrorInfo) -> list[dict[str, Any]]:
    """Return the code of ours, and what the format has a type for."""
    reason = {"reason": info.code.upper(), "domain": "shoulders"}
    details: list[dict[str, Any]] = [{"@type": f"{_RPC}.ErrorInfo", **reason}]
    param = (info.details or {}).get("param")
    if param:
        violation = {"field": param, "description": info.message}
        details.append({"@type": f"{_RPC}.BadRequest", "fieldViolations": [violation]})
    if info.code in _QUOTA:
        # programs wait and try again unless a quota is one of the day
        quota = {"quotaId": "BudgetPerDay", "subject": info.code}
        details.append({"@type": f"{_RPC}.QuotaFailure", "violations": [quota]})
    return details
