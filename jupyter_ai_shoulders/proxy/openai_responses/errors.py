"""The error of a response that failed after it began (reference §2.2); used by ``stream``.

Before it began, errors are those of Chat Completions (§2.6).
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.proxy.error_mapping import error_message, status_of
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo

_CODES: Mapping[ErrorCode, str] = {
    "rate_limited": "rate_limit_exceeded",
    "quota_exhausted": "rate_limit_exceeded",
    "billing": "rate_limit_exceeded",
    "budget_exhausted": "rate_limit_exceeded",
}


def response_error(info: ErrorInfo) -> dict[str, str]:
    """Return what a failed response says; the format has a closed set of codes for it."""
    other = "server_error" if status_of(info) >= 500 else "invalid_prompt"
    return {"code": _CODES.get(info.code, other), "message": error_message(info)}
